//! NDP against the clauses of its paper.

use super::receiver::PULL;
use super::*;
use crate::test_sender::{MSS, TestSender};
use fanin_core::ids::{FlowId, NodeId};
use fanin_core::roles::{Arrival, Delivery, ReceiverAction, ReceiverCx};
use fanin_core::units::{Rate, Time};

const RATE: Rate = Rate::from_bps(10_000_000_000);
/// Of a packet of 1,500 bytes.
const PACKET_TIME: Time = Time::from_ns(1_200);

/// A sender of ten packets whose first window is three.
fn sender() -> TestSender<Sender> {
    let mut cc = Sender { first: 3, ..Sender::default() };
    cc.on_transfer(&TransferFacts { first: 1, bytes: Some(10 * MSS as u64), deadline: None });
    TestSender::new(cc, 1.0)
}

/// The segments, from 0, that it sends again when it hears this.
fn hears(bench: &mut TestSender<Sender>, kind: u8, field: u64) -> Vec<u64> {
    let packet = ControlPacket { kind, field, ..ControlPacket::default() };
    bench.call(|cc, cx| cc.on_control(cx, &packet));
    std::iter::from_fn(|| bench.cc.resends()).map(|seq| (seq - 1) / MSS as u64).collect()
}

#[test]
fn a_transfer_begins_with_a_first_window_and_each_pull_brings_a_packet() {
    let mut bench = sender();
    assert_eq!(bench.segments(), 3.0);
    assert_eq!(bench.packet.field, 1 + 10 * MSS as u64, "packets say where the transfer ends");
    bench.send(3);
    bench.ack(false);
    assert_eq!(bench.segments(), 2.0, "acknowledgements bring none");
    assert!(hears(&mut bench, PULL, 1).is_empty());
    assert_eq!(bench.segments(), 3.0);
}

#[test]
fn a_pull_that_is_lost_is_made_up_for_by_the_next() {
    let mut bench = sender();
    hears(&mut bench, PULL, 1);
    hears(&mut bench, PULL, 4);
    assert_eq!(bench.segments(), 7.0);
    hears(&mut bench, PULL, 3);
    assert_eq!(bench.segments(), 7.0, "one that is late says nothing new");
}

#[test]
fn what_was_trimmed_goes_before_new_data_and_waits_for_its_pull() {
    let mut bench = sender();
    bench.send(3);
    assert!(hears(&mut bench, NACK, 1 + MSS as u64).is_empty());
    assert!(hears(&mut bench, NACK, 1).is_empty());
    assert_eq!(hears(&mut bench, PULL, 1), [1]);
    assert_eq!(bench.segments(), 3.0);
    assert_eq!(hears(&mut bench, PULL, 3), [0]);
    assert_eq!(bench.segments(), 4.0);
}

#[test]
fn pulls_beyond_the_end_bring_nothing() {
    let mut bench = sender();
    hears(&mut bench, PULL, 30);
    assert_eq!(bench.segments(), 10.0);
}

#[test]
fn a_timeout_sends_again_what_has_no_nack() {
    let mut bench = sender();
    bench.send(3);
    let times_out = |bench: &mut TestSender<Sender>, times| {
        bench.call(|cc, cx| cc.on_timeout(cx, times));
        std::iter::from_fn(|| bench.cc.resends()).count()
    };
    assert_eq!(times_out(&mut bench, 1), 1);
    hears(&mut bench, NACK, 1);
    assert_eq!([1, 2, 3].map(|times| times_out(&mut bench, times)), [0, 0, 1]);
}

#[test]
fn after_a_timeout_each_pull_brings_the_next_segment_that_was_lost_before_new_ones() {
    let mut bench = sender();
    bench.send(3);
    bench.call(|cc, cx| cc.on_timeout(cx, 1));
    assert_eq!(bench.cc.resends(), Some(1));
    assert!(hears(&mut bench, PULL, 1).is_empty(), "the first is on its way again");
    assert_eq!(bench.segments(), 4.0);
    bench.ack(false);
    assert_eq!(hears(&mut bench, PULL, 2), [1]);
    // Not what was sent since.
    bench.una = 1 + 3 * MSS as u64;
    assert!(hears(&mut bench, PULL, 3).is_empty());
    assert_eq!(bench.segments(), 2.0);
}

/// A receiving host around its pulls.
struct Host {
    receiver: Receiver,
    now: Time,
    actions: Vec<ReceiverAction>,
}

impl Host {
    fn new() -> Self {
        let facts = NodeFacts { node: NodeId::new(0), rate: RATE, base_rtt: Time::ZERO, mss: 1460, packet: 1500 };
        Self { receiver: Receiver::new(&facts, 64), now: Time::from_us(100), actions: Vec::new() }
    }
    fn tell(&mut self, tell: impl FnOnce(&mut Receiver, &mut ReceiverCx<'_>)) {
        let mut cx = ReceiverCx { now: self.now, mss: 1460, rate: RATE, most: 1 << 20, actions: &mut self.actions };
        tell(&mut self.receiver, &mut cx);
    }
    /// A segment of a transfer of `packets` arrives.
    fn data(&mut self, flow: usize, packets: u64) {
        let delivery = Delivery { new_data: 1460, ..Delivery::default() };
        let (field, seq) = (1 + 1460 * packets, 1);
        let arrival = Arrival { seq, payload: 1460, ce: false, fin: false, field, delivery, next: seq + 1460 };
        self.tell(|receiver, cx| receiver.on_data(cx, FlowId::new(flow), &arrival));
    }
    fn header(&mut self, flow: usize, packets: u64) {
        self.tell(|receiver, cx| receiver.on_trimmed(cx, FlowId::new(flow), 7, 1 + 1460 * packets));
    }
    /// The control packets so far, by time, flow, kind and field, with those that timers bring.
    fn sent(&mut self) -> Vec<(Time, usize, u8, u64)> {
        let mut sent = Vec::new();
        loop {
            let mut timer = None;
            for action in self.actions.drain(..) {
                match action {
                    ReceiverAction::Control { flow, packet } => {
                        sent.push((self.now, flow.index(), packet.kind, packet.field));
                    }
                    ReceiverAction::Timer { at, .. } => timer = Some(at),
                    other => panic!("{other:?}"),
                }
            }
            let Some(at) = timer else { return sent };
            self.now = at;
            self.tell(|receiver, cx| receiver.on_timer(cx, 0));
        }
    }
}

#[test]
fn pulls_are_paced_by_the_link_and_flows_take_turns() {
    let mut host = Host::new();
    let start = host.now;
    // Three of the first come before those of the second.
    for flow in [0, 0, 0, 1, 1] {
        host.data(flow, 100);
    }
    let sent = host.sent();
    let turns: Vec<(usize, u64)> = sent.iter().map(|(_, flow, _, pulls)| (*flow, *pulls)).collect();
    assert_eq!(turns, [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3)]);
    for (n, (at, _, kind, _)) in (0..).zip(sent) {
        assert_eq!((at, kind), (start + PACKET_TIME * n, PULL));
    }
}

#[test]
fn a_header_brings_a_nack_at_once_and_a_pull() {
    let mut host = Host::new();
    host.data(0, 100);
    host.header(0, 100);
    let sent = host.sent();
    assert_eq!(
        sent.iter().map(|(_, _, kind, field)| (*kind, *field)).collect::<Vec<_>>(),
        [(NACK, 7), (PULL, 1), (PULL, 2)]
    );
    assert_eq!(sent[0].0, sent[1].0, "a NACK does not wait");
}

#[test]
fn no_more_pulls_wait_than_packets_are_missing() {
    let mut host = Host::new();
    (0..3).for_each(|_| host.data(0, 4));
    // One of four is missing.
    assert_eq!(host.sent().len(), 1);
    host.data(0, 4);
    assert!(host.sent().is_empty() && !host.receiver.knows(FlowId::new(0)));
}

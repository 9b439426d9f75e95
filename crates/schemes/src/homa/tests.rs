//! Homa against the clauses of its paper.

use super::receiver::RESEND;
use super::*;
use crate::test_sender::{MSS, TestSender};
use fanin_core::ids::FlowId;
use fanin_core::roles::{AckDecision, Arrival, Delivery, ReceiverAction, ReceiverCx};
use fanin_core::units::{Rate, Time};

const INTERVAL: Time = Time::from_ms(5);

fn levels(workload: &str) -> Levels {
    Levels::new(8, Values::defaults(&[PARAMS]).with("workload", workload).sizes("workload"), 10_000)
}

/// A sender of ten packets, three of them unasked.
fn sender() -> TestSender<Sender> {
    let mut cc = Sender::new(2_500, Arc::new(levels("1KB 60%, 3KB 20%, 20KB 20%")));
    cc.on_transfer(&TransferFacts { first: 1, bytes: Some(10 * MSS as u64), deadline: None });
    TestSender::new(cc, 1.0)
}

/// The segments, from 0, that it sends again when it hears this.
fn hears(bench: &mut TestSender<Sender>, kind: u8, number: u64, low: u64) -> Vec<u64> {
    let packet = ControlPacket { kind, field: number << 8 | low, ..ControlPacket::default() };
    bench.call(|cc, cx| cc.on_control(cx, &packet));
    again(bench)
}

fn again(bench: &mut TestSender<Sender>) -> Vec<u64> {
    std::iter::from_fn(|| bench.cc.resends()).map(|seq| (seq - 1) / MSS as u64).collect()
}

/// The number at which this packet, from 0, begins.
fn at(packet: u64) -> u64 {
    1 + packet * MSS as u64
}

#[test]
fn a_message_begins_with_rtt_bytes_in_whole_packets_and_grants_bring_the_rest() {
    let mut bench = sender();
    assert_eq!(bench.segments(), 3.0);
    assert_eq!(bench.packet.field, at(10), "packets say where the message ends");
    bench.send(3);
    bench.ack(false);
    assert_eq!(bench.segments(), 2.0, "acknowledgements bring none");
    hears(&mut bench, GRANT, at(5), 7);
    assert_eq!(bench.segments(), 4.0);
    hears(&mut bench, GRANT, at(4), 7);
    assert_eq!(bench.segments(), 4.0, "one that is late says nothing new");
    hears(&mut bench, GRANT, at(50), 7);
    assert_eq!(bench.segments(), 9.0, "nothing is beyond the end");
}

#[test]
fn the_next_message_on_the_connection_begins_unasked_too() {
    let mut bench = sender();
    hears(&mut bench, GRANT, at(10), 6);
    bench.send(10);
    (0..10).for_each(|_| bench.ack(false));
    bench.cc.on_transfer(&TransferFacts { first: at(10), bytes: Some(500), deadline: None });
    bench.call(Sender::on_later_transfer);
    assert_eq!((bench.window.cwnd, bench.packet.field, bench.packet.priority), (500.0, at(10) + 500, 0));
}

#[test]
fn unscheduled_packets_have_a_priority_by_the_size_and_scheduled_ones_that_of_their_grant() {
    let mut bench = sender();
    let long = bench.cc.levels.unscheduled(10_000);
    assert_eq!(bench.packet.priority, long);
    assert!(long > bench.cc.levels.unscheduled(2_000));
    hears(&mut bench, GRANT, at(5), 6);
    assert_eq!(bench.packet.priority, 6);
    assert_eq!(bench.packet.resend_priority, Some(0), "what is sent again has the highest");
}

#[test]
fn a_resend_names_what_is_sent_again_and_grants_what_was_not_sent() {
    let mut bench = sender();
    bench.send(3);
    assert_eq!(hears(&mut bench, RESEND, at(1), 1), [1]);
    assert_eq!(bench.segments(), 3.0);
    assert_eq!(hears(&mut bench, RESEND, at(2), 3), [2]);
    assert_eq!(bench.segments(), 5.0);
    bench.ack(false);
    assert_eq!(hears(&mut bench, RESEND, at(0), 2), [1], "not what is acknowledged");
    assert_eq!(hears(&mut bench, RESEND, at(8), 9), [0; 0]);
    assert_eq!(bench.segments(), 9.0, "and not what is beyond the end");
}

#[test]
fn a_timeout_sends_again_only_where_the_receiver_may_not_know_of_the_message() {
    let times_out = |bench: &mut TestSender<Sender>, times| {
        bench.call(|cc, cx| cc.on_timeout(cx, times));
        again(bench)
    };
    let mut bench = sender();
    bench.send(3);
    assert_eq!(times_out(&mut bench, 1), [0]);
    bench.ack(false);
    assert_eq!(times_out(&mut bench, 1), [0; 0]);
    assert_eq!(times_out(&mut bench, 2), [1]);
    let mut bench = sender();
    hears(&mut bench, GRANT, at(4), 7);
    assert_eq!(times_out(&mut bench, 1), [0; 0]);
}

#[test]
fn unscheduled_packets_have_the_part_of_the_priorities_that_they_have_of_the_bytes() {
    // HomaSimulation leaves one of eight to scheduled packets for the shortest messages, and one to the others for the longest.
    assert_eq!(levels("5KB").scheduled(), 1);
    assert_eq!(levels("web-search").scheduled(), 7);
    // Each message has 10 KB of its 20 KB unasked.
    assert_eq!(levels("20KB").scheduled(), 4);
}

#[test]
fn the_levels_of_unscheduled_packets_have_equal_parts_of_their_bytes() {
    // Unasked are 0.6, 0.6 and 2 KB a message, 62 % of all bytes: five levels of 0.64 KB each.
    let levels = levels("1KB 60%, 3KB 20%, 20KB 20%");
    assert_eq!((levels.scheduled(), levels.all()), (3, 8));
    assert_eq!([500, 1_000, 3_000, 3_001, 20_000, 90_000].map(|bytes| levels.unscheduled(bytes)), [0, 0, 0, 1, 1, 4]);
}

#[test]
fn few_active_messages_take_the_lowest_priorities_and_too_many_share_them() {
    let levels = levels("20KB");
    let all = |active| (0..active).map(|rank| levels.of(rank, active)).collect::<Vec<_>>();
    assert_eq!((all(1), all(2)), (vec![7], vec![6, 7]));
    assert_eq!((all(4), all(6)), (vec![4, 5, 6, 7], vec![4, 5, 6, 7, 7, 7]));
}

/// A receiving host with segments of 1000 bytes, two packets for each message, and two messages at once.
struct Host {
    receiver: Receiver,
    now: Time,
    actions: Vec<ReceiverAction>,
    timer: Time,
}

impl Host {
    fn new() -> Self {
        let rules = Rules { ahead: 2_000, overcommitment: 2, interval: INTERVAL, outstanding: 2, size: 64 };
        let receiver = Receiver::new(rules, Arc::new(levels("20KB")));
        Self { receiver, now: Time::from_us(100), actions: Vec::new(), timer: Time::NEVER }
    }
    fn tell<R>(&mut self, tell: impl FnOnce(&mut Receiver, &mut ReceiverCx<'_>) -> R) -> R {
        let rate = Rate::from_bps(10_000_000_000);
        let mut cx = ReceiverCx { now: self.now, mss: 1_000, rate, most: 1 << 20, actions: &mut self.actions };
        tell(&mut self.receiver, &mut cx)
    }
    /// A packet, from 0, of a message of so many packets that begins at the packet `first` arrives, where `next` is expected.
    fn packet(&mut self, flow: usize, [first, packets, packet, next]: [u64; 4]) -> Vec<(usize, u8, u64, u64)> {
        let delivery = Delivery { new_data: 1_000, out_of_order: packet >= next, ..Delivery::default() };
        let (field, seq, next) = (at(first + packets), at(packet), at(next));
        let arrival = Arrival { seq, payload: 1_000, ce: false, fin: false, field, delivery, next };
        self.tell(|receiver, cx| receiver.on_data(cx, FlowId::new(flow), &arrival));
        self.sent()
    }
    /// The same in order, of the first message.
    fn data(&mut self, flow: usize, packets: u64, packet: u64) -> Vec<(usize, u8, u64, u64)> {
        self.packet(flow, [0, packets, packet, packet + 1])
    }
    fn asks(&mut self, flow: usize) -> Vec<ReceiverAction> {
        let decision = self.tell(|receiver, cx| receiver.on_request(cx, FlowId::new(flow)));
        assert_eq!(decision, AckDecision::Send);
        let timer = |action: &ReceiverAction| matches!(action, ReceiverAction::Timer { .. });
        self.actions.drain(..).filter(|action| !timer(action)).collect()
    }
    /// The control packets so far: flow, kind, packets up to the number, and the low byte.
    fn sent(&mut self) -> Vec<(usize, u8, u64, u64)> {
        let mut sent = Vec::new();
        for action in self.actions.drain(..) {
            match action {
                ReceiverAction::Control { flow, packet } => {
                    assert_eq!((packet.priority, packet.size), (0, 64), "control packets have the highest priority");
                    sent.push((flow.index(), packet.kind, ((packet.field >> 8) - 1) / 1_000, packet.field & 0xff));
                }
                ReceiverAction::Timer { at, .. } => self.timer = at,
                _ => {}
            }
        }
        sent
    }
    /// What its timer brings up to this time.
    fn until(&mut self, at: Time) -> Vec<(usize, u8, u64, u64)> {
        let mut sent = Vec::new();
        while self.timer <= at {
            self.now = std::mem::replace(&mut self.timer, Time::NEVER);
            self.tell(|receiver, cx| receiver.on_timer(cx, 0));
            sent.extend(self.sent());
        }
        self.now = at;
        sent
    }
}

#[test]
fn each_packet_brings_a_grant_that_keeps_rtt_bytes_on_the_way() {
    let mut host = Host::new();
    assert_eq!(host.data(0, 5, 0), [(0, GRANT, 3, 7)]);
    assert_eq!(host.data(0, 5, 1), [(0, GRANT, 4, 7)]);
    assert_eq!(host.data(0, 5, 2), [(0, GRANT, 5, 7)]);
    assert_eq!(host.data(0, 5, 3), [], "all is granted");
    assert!(host.receiver.knows(FlowId::new(0)));
    assert_eq!(host.data(0, 5, 4), []);
    assert!(!host.receiver.knows(FlowId::new(0)));
}

#[test]
fn a_message_of_rtt_bytes_needs_no_grant() {
    let mut host = Host::new();
    assert_eq!((host.data(0, 2, 0), host.data(0, 2, 1)), (vec![], vec![]));
    host.until(host.now + INTERVAL);
    assert!(host.timer.is_never(), "nor does a timer run on");
}

#[test]
fn grants_go_to_the_messages_with_the_fewest_bytes_left_at_the_higher_priorities() {
    let mut host = Host::new();
    assert_eq!(host.data(0, 30, 0), [(0, GRANT, 3, 7)]);
    assert_eq!(host.data(1, 20, 0), [(1, GRANT, 3, 6)]);
    // A third and shorter one comes, and the next bytes that may be on the way are its own.
    assert_eq!(host.data(2, 10, 0), []);
    assert_eq!(host.data(0, 30, 1), []);
    assert_eq!(host.data(1, 20, 1), [(2, GRANT, 3, 6)]);
    assert_eq!(host.data(1, 20, 2), [(1, GRANT, 5, 7)]);
}

#[test]
fn a_message_that_is_granted_to_its_end_makes_room() {
    let mut host = Host::new();
    host.data(1, 4, 0);
    host.data(2, 4, 0);
    assert_eq!([host.data(0, 30, 0), host.data(1, 4, 1)], [[], []]);
    // The last grants of both, then of the third.
    assert_eq!(host.data(2, 4, 1), [(1, GRANT, 4, 6)]);
    assert_eq!(host.data(1, 4, 2), [(2, GRANT, 4, 6)]);
    assert_eq!(host.data(2, 4, 2), [(0, GRANT, 3, 7)]);
}

#[test]
fn what_is_granted_to_its_end_takes_no_priority_from_others() {
    let mut host = Host::new();
    for (flow, packets) in [(1, 4), (2, 4), (0, 30), (3, 40)] {
        host.data(flow, packets, 0);
    }
    assert_eq!([host.data(1, 4, 1), host.data(2, 4, 1)], [[], []]);
    assert_eq!(host.data(3, 40, 1), [(1, GRANT, 4, 6)]);
    assert_eq!(host.data(1, 4, 2), [(2, GRANT, 4, 6)]);
    assert_eq!(host.data(0, 30, 1), [(0, GRANT, 4, 6)]);
}

#[test]
fn no_more_is_on_the_way_than_rtt_bytes_for_each_of_the_overcommitment() {
    let mut host = Host::new();
    // Four unscheduled packets of others are on their way.
    let others: Vec<_> = (1..5).flat_map(|flow| host.data(flow, 2, 0)).collect();
    assert_eq!(others, []);
    assert_eq!(host.data(0, 9, 0), []);
    assert_eq!(host.data(1, 2, 1), []);
    assert_eq!(host.data(2, 2, 1), [(0, GRANT, 3, 7)]);
}

#[test]
fn what_is_granted_and_does_not_come_is_asked_for_again() {
    let mut host = Host::new();
    let start = host.now;
    host.data(0, 9, 0);
    // The second packet is lost, and one after it.
    host.packet(0, [0, 9, 2, 1]);
    host.packet(0, [0, 9, 4, 1]);
    assert_eq!(host.until(start + INTERVAL - Time::from_ps(1)), []);
    assert_eq!(host.until(start + INTERVAL), [(0, RESEND, 1, 1)]);
    assert_eq!(host.until(start + INTERVAL * 2), [(0, RESEND, 1, 1)], "again and again");
    host.packet(0, [0, 9, 1, 3]);
    assert_eq!(host.until(host.now + INTERVAL), [(0, RESEND, 3, 1)], "the next range");
}

#[test]
fn each_message_has_an_interval_of_its_own() {
    let mut host = Host::new();
    host.data(0, 9, 0);
    host.now += Time::from_ms(2);
    host.data(1, 9, 0);
    assert_eq!(host.until(Time::from_us(100) + INTERVAL), [(0, RESEND, 1, 2)]);
    assert_eq!(host.until(Time::from_us(2_100) + INTERVAL), [(1, RESEND, 1, 2)]);
}

/// The acknowledgement that opened its window may be what was lost.
#[test]
fn a_resend_for_a_response_comes_with_an_acknowledgement() {
    let mut host = Host::new();
    host.asks(0);
    host.data(0, 9, 0);
    host.now += INTERVAL;
    host.tell(|receiver, cx| receiver.on_timer(cx, 0));
    assert!(host.actions.contains(&ReceiverAction::Release { flow: FlowId::new(0), push: false }));
}

#[test]
fn what_is_not_granted_is_not_asked_for() {
    let mut host = Host::new();
    for flow in [1, 2] {
        host.data(flow, 4, 0);
    }
    host.data(0, 9, 0);
    host.data(0, 9, 1);
    let asked = host.until(host.now + INTERVAL * 3);
    assert_eq!(asked.len(), 6);
    assert!(asked.iter().all(|(flow, ..)| *flow > 0), "{asked:?}");
}

#[test]
fn a_response_of_which_nothing_comes_is_asked_for() {
    let mut host = Host::new();
    let start = host.now;
    host.asks(0);
    host.sent();
    host.timer = start + INTERVAL;
    assert_eq!(host.until(start + INTERVAL), [(0, RESEND, 0, 2)]);
    // The next response on the connection begins where this one ends.
    host.data(0, 1, 0);
    assert_eq!(host.until(host.now + INTERVAL * 2), []);
    host.asks(0);
    host.timer = host.now + INTERVAL;
    assert_eq!(host.until(host.now + INTERVAL), [(0, RESEND, 1, 2)]);
}

#[test]
fn in_an_incast_a_response_has_one_packet_unasked_and_then_waits_for_a_grant() {
    use ReceiverAction::{Release, Window};
    let flow = FlowId::new;
    let mut host = Host::new();
    for id in [0, 1] {
        assert_eq!(host.asks(id), [Window { flow: flow(id), bytes: 1 << 20 }]);
    }
    assert_eq!(host.asks(2), [Window { flow: flow(2), bytes: 1_000 }]);
    // The first two are on their way, so there is no room.
    host.data(0, 4, 0);
    host.data(1, 4, 0);
    let acts = |host: &mut Host, id, packet| {
        let delivery = Delivery { new_data: 1_000, ..Delivery::default() };
        let (seq, field, next) = (at(packet), at(4), at(packet + 1));
        let arrival = Arrival { seq, payload: 1_000, ce: false, fin: false, field, delivery, next };
        host.tell(|receiver, cx| receiver.on_data(cx, flow(id), &arrival));
        let grant = |action: &ReceiverAction| matches!(action, ReceiverAction::Control { .. });
        host.actions.drain(..).map(|action| (!grant(&action)).then_some(action)).collect::<Vec<_>>()
    };
    assert_eq!(acts(&mut host, 2, 0), [Some(Window { flow: flow(2), bytes: 0 })]);
    assert_eq!(acts(&mut host, 0, 1), [None], "its own last grant");
    let opens = [Window { flow: flow(2), bytes: 1 << 20 }, Release { flow: flow(2), push: false }].map(Some);
    assert_eq!(acts(&mut host, 0, 2), [&[None], &opens[..]].concat());
    // The window of a complete response is closed, so that the next request decides.
    assert_eq!(acts(&mut host, 0, 3)[0], Some(Window { flow: flow(0), bytes: 0 }));
    // Two are outstanding, so the first again is too many, and not once one more is complete.
    assert_eq!(host.asks(0), [Window { flow: flow(0), bytes: 1_000 }]);
    (1..4).for_each(|packet| drop(acts(&mut host, 1, packet)));
    assert_eq!(host.asks(1), [Window { flow: flow(1), bytes: 1_000 }]);
    (1..4).for_each(|packet| drop(acts(&mut host, 2, packet)));
    host.packet(0, [4, 1, 4, 5]);
    assert_eq!(host.asks(0), [Window { flow: flow(0), bytes: 1 << 20 }]);
}

#[test]
fn what_repeats_an_earlier_message_begins_nothing() {
    let mut host = Host::new();
    host.data(0, 1, 0);
    host.asks(0);
    let arrival = Arrival {
        seq: 1,
        payload: 1_000,
        ce: false,
        fin: false,
        field: at(1),
        delivery: Delivery { duplicate: true, ..Delivery::default() },
        next: at(1),
    };
    for flow in [0, 7] {
        host.tell(|receiver, cx| receiver.on_data(cx, FlowId::new(flow), &arrival));
    }
    assert!(host.receiver.knows(FlowId::new(0)) && !host.receiver.knows(FlowId::new(7)));
}

//! Random openings, data, headers, acknowledgements and timers at every scheme's receiving host.

use super::{MSS, RATE, field, for_every_scheme, node_facts, skewed};
use fanin_engine::ids::FlowId;
use fanin_engine::rng::Stream;
use fanin_engine::roles::Delivery;
use fanin_engine::roles::{AckDecision, AckKind, Announcement, Arrival, ReceiverAction, ReceiverCx, WindowControl};
use fanin_engine::units::Time;
use std::collections::{BTreeMap, BTreeSet};

const FLOWS: u64 = 12;
/// Timers that may follow each other without any other event between them: two of each flow, every 100 us for a second.
const MOST_TIMERS: usize = 20_000 * FLOWS as usize;
/// Timers in a second after a second of silence.
const MOST_AT_REST: usize = 20_000;

/// A receiving host around a scheduler.
#[derive(Default)]
struct Host {
    now: Time,
    actions: Vec<ReceiverAction>,
    timers: BTreeSet<(Time, u64)>,
    /// The next number expected, of flows that were opened.
    open: BTreeMap<usize, u64>,
}

impl Host {
    fn tell<R>(
        &mut self,
        window: &mut dyn WindowControl,
        call: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>) -> R,
    ) -> R {
        let mut cx = ReceiverCx { now: self.now, mss: MSS, rate: RATE, most: 1 << 20, actions: &mut self.actions };
        let result = call(window, &mut cx);
        assert!(self.actions.len() <= 1000, "{} actions at once", self.actions.len());
        for action in self.actions.drain(..) {
            match action {
                ReceiverAction::Window { flow, .. }
                | ReceiverAction::Release { flow, .. }
                | ReceiverAction::Acks { flow, .. }
                | ReceiverAction::Control { flow, .. } => {
                    assert!(self.open.contains_key(&flow.index()), "it acts on {flow}, which never opened");
                }
                ReceiverAction::Timer { at, token } => {
                    self.timers.insert((at.max(self.now), token));
                }
            }
        }
        result
    }

    /// Lets time pass, with the timers that are due in it.
    fn wait(&mut self, window: &mut dyn WindowControl, until: Time, most: usize) {
        for fired in 0.. {
            let Some((at, token)) = self.timers.first().copied().filter(|(at, _)| *at <= until) else { break };
            assert!(fired < most, "{most} timers and no end");
            self.timers.remove(&(at, token));
            self.now = at;
            self.tell(window, |window, cx| window.on_timer(cx, token));
        }
        self.now = until;
    }

    fn open(&mut self, window: &mut dyn WindowControl, flow: usize, stream: &mut Stream) {
        self.open.entry(flow).or_insert(1);
        let announced = Announcement {
            bytes: (stream.below(3) > 0).then(|| 1 + skewed(stream, 1 << 40)),
            deadline: (stream.below(4) == 0).then(|| self.now + Time::from_ms(stream.below(50))),
        };
        self.tell(window, |window, cx| window.on_open(cx, FlowId::new(flow), &announced));
        self.tell(window, |window, cx| window.on_ack(cx, FlowId::new(flow), AckKind::SynAck));
    }

    /// What a port has left of a segment.
    fn header(&mut self, window: &mut dyn WindowControl, flow: usize, stream: &mut Stream) {
        let Some(next) = self.open.get(&flow) else { return };
        let (seq, field) = (*next + stream.below(4) * MSS, field(stream));
        self.tell(window, |window, cx| window.on_trimmed(cx, FlowId::new(flow), seq, field));
    }

    fn data(&mut self, window: &mut dyn WindowControl, flow: usize, stream: &mut Stream) {
        let Some(next) = self.open.get_mut(&flow) else { return };
        let (duplicate, payload) = (stream.below(10) == 0, 1 + stream.below(MSS));
        let out_of_order = !duplicate && stream.below(10) == 0;
        let seq = if duplicate { 1 } else { *next + if out_of_order { MSS } else { 0 } };
        let new_in_order = if duplicate || out_of_order { 0 } else { payload + stream.below(2) * MSS };
        *next += new_in_order;
        let finished = stream.below(100) == 0;
        let delivery =
            Delivery { new_in_order, new_data: if duplicate { 0 } else { payload }, out_of_order, duplicate, finished };
        let (ce, fin) = (stream.below(3) == 0, stream.below(100) == 0);
        let arrival = Arrival { seq, payload, ce, fin, field: field(stream), delivery, next: *next };
        let id = FlowId::new(flow);
        self.tell(window, |window, cx| window.on_data(cx, id, &arrival));
        let kind = if duplicate || out_of_order { AckKind::Duplicate } else { AckKind::Data };
        let _: AckDecision = self.tell(window, |window, cx| window.on_ack(cx, id, kind));
    }
}

#[test]
fn schedulers_act_on_open_flows_only_and_come_to_rest() {
    for_every_scheme("receiver", 8, |scheme, stream| {
        let Some(mut window) = scheme.window_control(&node_facts(1)) else { return };
        let mut host = Host::default();
        for _ in 0..2000 {
            let flow = stream.below(FLOWS) as usize;
            let until = host.now + Time::from_ps(skewed(stream, 1_000_000_000));
            host.wait(&mut *window, until, MOST_TIMERS);
            if stream.below(30) == 0 || !host.open.contains_key(&flow) {
                host.open(&mut *window, flow, stream);
            } else if stream.below(20) == 0 {
                host.header(&mut *window, flow, stream);
            } else {
                host.data(&mut *window, flow, stream);
            }
        }
        for most in [MOST_TIMERS, MOST_AT_REST] {
            let until = host.now + Time::from_secs(1);
            host.wait(&mut *window, until, most);
        }
    });
}

//! All flows that end at one interface: slots, quota and fairness.

use super::config::Config;
use super::window::{FlowWindow, Quota};
use crate::NodeFacts;
use fanin_core::ids::FlowId;
use fanin_core::roles::{AckDecision, AckKind, Announcement, Arrival, ReceiverAction, ReceiverCx, WindowControl};
use fanin_core::units::Time;
use fanin_tcp::FIRST_DATA;
use std::collections::BTreeMap;

/// Token of the timer of half slots; a flow's own timer has its index.
const HALF_SLOT: u64 = u64::MAX;
/// Bits of a Mbit in the code of RCC's authors.
const RDTCP_MBIT: f64 = 1_048_576.0;
/// Time from a flow's SYN to the first adjustment of its window, in the code of RCC's authors.
const RDTCP_FIRST_LOOK: Time = Time::from_us(200);
/// Their round-trip time as long as none is measured.
const RDTCP_FIRST_RTT: Time = Time::from_ms(10);
/// With two timers: a flow that is silent for so long is not adjusted until data arrives.
const SILENT: Time = Time::from_secs(1);
/// Added to a flow's index in the token of the timer that closes it if the last segment does not come.
const CLOSE: u64 = 1 << 62;

/// Their timers run for whole microseconds.
fn whole_us(time: Time) -> Time {
    Time::from_us(time.us())
}

/// The receiving side of one interface.
#[derive(Debug)]
pub(super) struct Interface {
    config: Config,
    /// Bytes per second.
    capacity: f64,
    /// Bytes of headers of each packet.
    header: u64,
    flows: BTreeMap<FlowId, FlowWindow>,
    /// Length of the current half of a slot.
    half: Time,
    /// Bytes on the wire in this half.
    arrived: u64,
    quota: Quota,
    ticking: bool,
    /// The flow whose connection keeps the clock of the slots, where one does.
    keeper: Option<FlowId>,
    /// The clock was started.
    started: bool,
}

impl Interface {
    pub(super) fn new(config: Config, host: &NodeFacts) -> Self {
        let unit = if config.rdtcp { RDTCP_MBIT / 1e6 } else { 1.0 };
        Self {
            config,
            capacity: host.rate.bps() as f64 / 8.0 * unit,
            header: host.packet - host.mss,
            flows: BTreeMap::new(),
            half: config.min_slot,
            arrived: 0,
            quota: Quota { left: 0.0, open: false },
            ticking: false,
            keeper: None,
            started: false,
        }
    }

    /// Time until the next adjustment of a flow's window.
    fn interval(config: &Config, flow: &FlowWindow) -> Time {
        flow.rtt.map_or(Time::ZERO, Time::from_secs_f64).max(config.min_slot)
    }

    /// The end of a half of a slot: Wu et al. 2010, section 4.2.
    fn turn(&mut self, cx: &mut ReceiverCx<'_>) {
        let measuring = self.quota.open == self.config.rdtcp;
        if measuring {
            let incoming = self.arrived as f64 / self.half.secs();
            self.quota.left = (self.config.alpha * self.capacity - incoming).max(0.0);
            if self.quota.left < self.config.fair_share * self.capacity {
                self.level(cx);
            }
        }
        self.quota.open = !self.quota.open;
        self.arrived = 0;
        self.half = self.mean_rtt().max(self.config.min_slot);
        if !self.config.mortal_clock {
            self.flows.values_mut().for_each(|flow| flow.slot_bytes = 0);
        }
    }

    /// The handshake of a flow is complete.
    fn establish(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId) {
        let Some(flow) = self.flows.get_mut(&id).filter(|flow| !flow.established) else { return };
        flow.established = true;
        if self.config.two_timers {
            // READING: I6
            flow.cancelled = flow.restarted;
            flow.pace = flow.rtt.map_or(RDTCP_FIRST_RTT, Time::from_secs_f64);
            let at = cx.now + whole_us(flow.pace);
            cx.actions.push(ReceiverAction::Timer { at, token: id.index() as u64 });
        }
        if self.config.mortal_clock && !self.started {
            self.started = true;
            self.keeper = Some(id);
            self.turn(cx);
            cx.actions.push(ReceiverAction::Timer { at: cx.now + self.half, token: HALF_SLOT });
        }
    }

    fn close(&mut self, id: FlowId) {
        self.flows.remove(&id);
        if self.keeper == Some(id) {
            self.keeper = None;
        }
    }

    /// One of the two timers that adjust a flow's window expired.
    fn adjust_with_two_timers(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        if flow.cancelled == Some(cx.now) {
            flow.cancelled = None;
            return;
        }
        if cx.now - flow.last_data() > SILENT {
            flow.idle = true;
            return;
        }
        flow.adjust_window(cx.now, cx.mss as f64, &self.config, &mut self.quota);
        flow.advertise(id, cx.actions);
        flow.pace = Self::interval(&self.config, flow);
        let at = cx.now + whole_us(flow.pace);
        if !flow.established {
            flow.restarted = Some(at);
        }
        cx.actions.push(ReceiverAction::Timer { at, token: id.index() as u64 });
    }

    /// A half of a slot ends.
    fn tick(&mut self, cx: &mut ReceiverCx<'_>) {
        if self.config.mortal_clock && self.keeper.is_none() {
            return;
        }
        self.turn(cx);
        self.ticking = self.keeper.is_some() || self.flows.values().any(|flow| !flow.idle);
        if self.ticking {
            cx.actions.push(ReceiverAction::Timer { at: cx.now + self.half, token: HALF_SLOT });
        }
    }

    /// Mean round-trip time, each flow weighted by its traffic; as before if nothing came.
    fn mean_rtt(&self) -> Time {
        let total: u64 = self.flows.values().map(|flow| flow.slot_bytes).sum();
        if total == 0 {
            return self.half;
        }
        let weighted = |flow: &FlowWindow| flow.rtt.unwrap_or(0.0) * flow.slot_bytes as f64;
        Time::from_secs_f64(self.flows.values().map(weighted).sum::<f64>() / total as f64)
    }

    /// Fairness: windows above the mean shrink by one segment (section 4.4).
    fn level(&mut self, cx: &mut ReceiverCx<'_>) {
        let windows: Vec<f64> = self.flows.values().filter(|flow| !flow.idle).map(|flow| flow.window).collect();
        let mean = windows.iter().sum::<f64>() / windows.len().max(1) as f64;
        for (id, flow) in self.flows.iter_mut().filter(|(_, flow)| !flow.idle) {
            if flow.window > mean {
                flow.decrease(cx.now, cx.mss as f64, &self.config);
                flow.advertise(*id, cx.actions);
            }
        }
    }

    /// The first adjustment of a flow that is new, or was idle for long, is due; the slots run while there are such.
    fn watch(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId) {
        let fresh = self.config.two_timers && !self.flows[&id].established;
        let wait = if fresh { RDTCP_FIRST_LOOK } else { Self::interval(&self.config, &self.flows[&id]) };
        cx.actions.push(ReceiverAction::Timer { at: cx.now + wait, token: id.index() as u64 });
        if !self.ticking && !self.config.mortal_clock {
            self.ticking = true;
            cx.actions.push(ReceiverAction::Timer { at: cx.now + self.half, token: HALF_SLOT });
        }
    }
}

impl WindowControl for Interface {
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, _announced: &Announcement) {
        if !self.flows.contains_key(&flow) {
            let mut fresh = FlowWindow::new(self.config.min_window.bytes(cx.mss) as f64, cx.now);
            fresh.advertise(flow, cx.actions);
            self.flows.insert(flow, fresh);
            self.watch(cx, flow);
        }
    }

    fn on_bare_ack(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        if flow.closing {
            return self.close(id);
        }
        if self.config.two_timers && !flow.established {
            flow.time(FIRST_DATA, true, cx.now);
        }
        self.establish(cx, id);
    }

    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId, arrival: &Arrival) {
        self.establish(cx, id);
        self.arrived += arrival.payload + self.header;
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let was_idle = std::mem::take(&mut flow.idle);
        if was_idle && !self.config.two_timers {
            flow.begin(cx.now);
        }
        flow.on_data(arrival.seq, arrival.delivery.new_data, arrival.next, cx.now);
        flow.advertise(id, cx.actions);
        if arrival.delivery.finished && self.config.mortal_clock {
            flow.closing = true;
            cx.actions.push(ReceiverAction::Timer { at: cx.now + RDTCP_FIRST_RTT, token: CLOSE | id.index() as u64 });
        } else if arrival.delivery.finished {
            self.flows.remove(&id);
        } else if was_idle {
            self.watch(cx, id);
        }
    }

    /// A request has a window too, which is the first that the server of a connection hears of that was open before.
    fn on_request(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId) -> AckDecision {
        let window = self.config.min_window.bytes(cx.mss) as f64;
        let flow = self.flows.entry(id).or_insert_with(|| FlowWindow::resting(window, cx.now));
        flow.on_request();
        flow.advertise(id, cx.actions);
        AckDecision::Send
    }

    fn on_ack(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, kind: AckKind) -> AckDecision {
        if let Some(flow) = self.flows.get_mut(&flow) {
            if self.config.two_timers && kind == AckKind::SynAck {
                flow.on_syn_ack(cx.now);
            } else {
                flow.on_ack(cx.now, cx.mss);
            }
        }
        AckDecision::Send
    }

    fn knows(&self, flow: FlowId) -> bool {
        self.flows.contains_key(&flow)
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, token: u64) {
        if token == HALF_SLOT {
            return self.tick(cx);
        }
        let id = FlowId::new((token & !CLOSE) as usize);
        if token & CLOSE != 0 {
            return self.close(id);
        }
        if self.config.two_timers {
            return self.adjust_with_two_timers(cx, id);
        }
        let Some(flow) = self.flows.get_mut(&id) else { return };
        if flow.rest_if_idle(cx.now, &self.config, cx.mss) {
            return flow.advertise(id, cx.actions);
        }
        flow.adjust_window(cx.now, cx.mss as f64, &self.config, &mut self.quota);
        flow.advertise(id, cx.actions);
        let next = cx.now + Self::interval(&self.config, flow);
        cx.actions.push(ReceiverAction::Timer { at: next, token });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::ids::NodeId;
    use fanin_core::roles::Delivery;
    use fanin_core::units::Rate;
    use fanin_param::Values;

    const MS: Time = Time::from_ms(1);

    struct Bench {
        interface: Interface,
        now: Time,
    }

    impl Bench {
        fn new(flavour: &str) -> Self {
            Self::with(&[("flavour", flavour), ("min-slot", "1ms")])
        }

        fn with(set: &[(&str, &str)]) -> Self {
            let defaults = Values::defaults(&[super::super::PARAMS]);
            let params = set.iter().fold(defaults, |params, (key, value)| params.with(key, value));
            let rate = Rate::from_bps(1_000_000_000);
            let host = NodeFacts { node: NodeId::new(0), rate, base_rtt: MS, mss: 1000, packet: 1000 };
            Self { interface: Interface::new(Config::new(&params), &host), now: MS }
        }

        fn call(&mut self, f: impl FnOnce(&mut Interface, &mut ReceiverCx<'_>)) -> Vec<ReceiverAction> {
            let mut actions = Vec::new();
            let rate = Rate::from_bps(1_000_000_000);
            f(
                &mut self.interface,
                &mut ReceiverCx { now: self.now, mss: 1000, most: 1 << 20, rate, actions: &mut actions },
            );
            actions
        }

        fn open(&mut self, windows: &[f64]) {
            for (i, window) in windows.iter().enumerate() {
                self.call(|host, cx| host.on_open(cx, FlowId::new(i), &Announcement::default()));
                self.interface.flows.get_mut(&FlowId::new(i)).expect("open").window = *window;
            }
        }

        /// `bytes` arrive on flow 0, then a half of a slot ends.
        fn half(&mut self, bytes: u64) {
            let delivery = Delivery { new_in_order: bytes, new_data: bytes, ..Delivery::default() };
            let arrival =
                Arrival { seq: 1, payload: bytes, ce: false, fin: false, field: 0, delivery, next: 1 + bytes };
            self.call(|host, cx| host.on_data(cx, FlowId::new(0), &arrival));
            self.now += MS;
            self.call(|host, cx| host.on_timer(cx, HALF_SLOT));
        }

        fn windows(&self) -> Vec<f64> {
            self.interface.flows.values().map(|flow| flow.window).collect()
        }
    }

    /// A pause that counted would leave a rate near zero, and so end slow start.
    #[test]
    fn the_first_look_after_a_pause_begins_with_the_data() {
        let mut bench = Bench::new("paper");
        let id = FlowId::new(0);
        bench.open(&[2000.0]);
        bench.now = MS * 100;
        bench.call(|host, cx| host.on_timer(cx, 0));
        assert!(bench.interface.flows[&id].idle);
        bench.now = MS * 200;
        let delivery = Delivery { new_in_order: 1000, new_data: 1000, ..Delivery::default() };
        let arrival = Arrival { seq: 1, payload: 1000, ce: false, fin: false, field: 0, delivery, next: 1001 };
        let actions = bench.call(|host, cx| host.on_data(cx, id, &arrival));
        assert!(actions.contains(&ReceiverAction::Timer { at: bench.now + MS, token: 0 }), "{actions:?}");
        bench.now += MS;
        bench.call(|host, cx| host.on_timer(cx, 0));
        assert!((bench.interface.flows[&id].measured() - 1e6).abs() < 1.0);
    }

    /// The server rests, as it does after a pause: its first data begin the first look.
    #[test]
    fn a_request_tells_a_server_that_has_not_sent_yet_its_window() {
        let mut bench = Bench::new("paper");
        let id = FlowId::new(0);
        let actions = bench.call(|host, cx| {
            host.on_request(cx, id);
        });
        assert_eq!(actions, [ReceiverAction::Window { flow: id, bytes: 2000 }]);
        let flow = &bench.interface.flows[&id];
        assert!(flow.idle && flow.granted() == 2000);
    }

    #[test]
    fn the_time_from_an_acknowledgement_to_data_asked_for_later_is_no_round_trip() {
        for (asked, rtt) in [(false, Some(0.1)), (true, None)] {
            let mut bench = Bench::new("paper");
            let id = FlowId::new(0);
            bench.open(&[1000.0]);
            bench.call(|host, cx| {
                host.on_ack(cx, id, AckKind::Data);
            });
            bench.now += MS * 100;
            if asked {
                bench.call(|host, cx| assert_eq!(host.on_request(cx, id), AckDecision::Send));
            }
            let delivery = Delivery { new_in_order: 1000, new_data: 1000, ..Delivery::default() };
            let arrival = Arrival { seq: 1, payload: 1000, ce: false, fin: false, field: 0, delivery, next: 1001 };
            bench.call(|host, cx| host.on_data(cx, id, &arrival));
            assert_eq!(bench.interface.flows[&id].rtt, rtt);
        }
    }

    #[test]
    fn the_first_half_measures_what_the_second_may_use() {
        let mut bench = Bench::new("paper");
        bench.open(&[2000.0]);
        bench.half(50_000); // 50 MB/s of 125 MB/s
        let quota = bench.interface.quota;
        assert!(quota.open && (quota.left - (0.9 * 125e6 - 50e6)).abs() < 1.0, "{quota:?}");
        bench.half(125_000);
        assert!(!bench.interface.quota.open);
        bench.half(125_000);
        assert_eq!(bench.interface.quota.left, 0.0, "never negative");
    }

    #[test]
    fn the_code_of_rccs_authors_measures_in_the_second_half_with_large_mbits() {
        let mut bench = Bench::with(&[("flavour", "rdtcp"), ("min-slot", "1ms"), ("slot-clock", "host")]);
        bench.open(&[2000.0]);
        bench.half(125_000);
        let before = bench.interface.quota;
        assert!(before.open && before.left == 0.0);
        bench.half(50_000);
        let quota = bench.interface.quota;
        assert!(!quota.open && (quota.left - (0.9 * 125e6 * 1.048_576 - 50e6)).abs() < 1.0, "{quota:?}");
    }

    /// The last `bytes` of a flow arrive.
    fn last(bytes: u64) -> Arrival {
        let delivery = Delivery { new_in_order: bytes, new_data: bytes, finished: true, ..Delivery::default() };
        Arrival { seq: 1, payload: bytes, ce: false, fin: true, field: 0, delivery, next: 2 + bytes }
    }

    #[test]
    fn the_clock_of_rccs_authors_starts_with_the_first_handshake_and_stops_for_good_with_that_connection() {
        let mut bench = Bench::with(&[("flavour", "rdtcp"), ("looks", "one")]);
        let (first, second) = (FlowId::new(0), FlowId::new(1));
        bench.open(&[2000.0, 2000.0]);
        assert!(!bench.interface.quota.open);
        let actions = bench.call(|host, cx| host.on_bare_ack(cx, first));
        let tick = ReceiverAction::Timer { at: bench.now + Time::from_us(160), token: HALF_SLOT };
        assert!(bench.interface.quota.open && actions == [tick]);
        assert_eq!(bench.call(|host, cx| host.on_bare_ack(cx, second)), [], "it runs already");
        bench.call(|host, cx| host.on_data(cx, first, &last(1000)));
        bench.call(|host, cx| host.on_timer(cx, HALF_SLOT));
        assert!(!bench.interface.quota.open, "the connection is not closed yet");
        bench.call(|host, cx| host.on_bare_ack(cx, first));
        assert!(!bench.interface.knows(first) && bench.interface.knows(second));
        assert_eq!(bench.call(|host, cx| host.on_timer(cx, HALF_SLOT)), []);
        bench.open(&[2000.0]);
        assert_eq!(bench.call(|host, cx| host.on_bare_ack(cx, first)), [], "nobody starts it again");
        assert!(!bench.interface.quota.open);
    }

    #[test]
    fn a_connection_whose_last_segment_is_lost_is_forgotten_after_ten_milliseconds() {
        let mut bench = Bench::new("rdtcp");
        bench.open(&[2000.0]);
        let actions = bench.call(|host, cx| host.on_data(cx, FlowId::new(0), &last(1000)));
        let close = ReceiverAction::Timer { at: bench.now + Time::from_ms(10), token: CLOSE };
        assert!(actions.contains(&close), "{actions:?}");
        bench.call(|host, cx| host.on_timer(cx, CLOSE));
        assert!(!bench.interface.knows(FlowId::new(0)));
    }

    #[test]
    fn the_code_of_rccs_authors_weighs_round_trips_by_all_traffic_since_a_flow_began() {
        for (clock, bytes) in [("host", 0), ("first-flow", 4000)] {
            let mut bench = Bench::with(&[("flavour", "rdtcp"), ("slot-clock", clock)]);
            bench.open(&[2000.0]);
            bench.half(4000);
            assert_eq!(bench.interface.flows[&FlowId::new(0)].slot_bytes, bytes);
        }
    }

    #[test]
    fn two_timers_adjust_a_flow_unless_the_handshake_comes_after_the_first_adjustment() {
        let id = FlowId::new(0);
        let timer = |at| ReceiverAction::Timer { at, token: 0 };
        for (adjusted_before, timers) in [(false, 2), (true, 1)] {
            let mut bench = Bench::with(&[("flavour", "rdtcp"), ("slot-clock", "host")]);
            let opened = bench.now;
            let actions = bench.call(|host, cx| host.on_open(cx, id, &Announcement::default()));
            assert!(actions.contains(&timer(opened + Time::from_us(200))), "{actions:?}");
            bench.call(|host, cx| assert_eq!(host.on_ack(cx, id, AckKind::SynAck), AckDecision::Send));
            let mut pending = vec![opened + Time::from_us(200)];
            let step = |bench: &mut Bench, at: Time, pending: &mut Vec<Time>| {
                bench.now = at;
                pending.retain(|due| *due != at);
                let actions = bench.call(|host, cx| host.on_timer(cx, 0));
                pending.extend(actions.iter().filter_map(|action| match action {
                    ReceiverAction::Timer { at, .. } => Some(*at),
                    _ => None,
                }));
            };
            if adjusted_before {
                step(&mut bench, opened + Time::from_us(200), &mut pending);
            }
            bench.now = opened + Time::from_us(if adjusted_before { 240 } else { 180 });
            for action in bench.call(|host, cx| host.on_bare_ack(cx, id)) {
                let ReceiverAction::Timer { at, .. } = action else { continue };
                pending.push(at);
            }
            assert_eq!(pending.len(), 2);
            // Whatever is pending comes once; a timer that counts starts itself again.
            for at in pending.clone() {
                step(&mut bench, at, &mut pending);
            }
            assert_eq!(pending.len(), timers, "{pending:?}");
            let rtt = bench.interface.flows[&id].rtt.expect("the handshake is timed");
            assert!((rtt - if adjusted_before { 240e-6 } else { 180e-6 }).abs() < 1e-12);
        }
    }

    #[test]
    fn both_timers_take_the_bytes_since_either_for_those_of_a_round_trip() {
        let mut bench = Bench::with(&[("flavour", "rdtcp"), ("slot-clock", "host")]);
        let id = FlowId::new(0);
        bench.open(&[2000.0]);
        let flow = bench.interface.flows.get_mut(&id).expect("open");
        (flow.pace, flow.rtt) = (Time::from_us(400), Some(400e-6));
        let delivery = Delivery { new_in_order: 1000, new_data: 1000, ..Delivery::default() };
        let arrival = Arrival { seq: 1, payload: 1000, ce: false, fin: false, field: 0, delivery, next: 1001 };
        bench.interface.flows.get_mut(&id).expect("open").established = true;
        bench.call(|host, cx| host.on_data(cx, id, &arrival));
        bench.now += Time::from_us(100);
        bench.call(|host, cx| host.on_timer(cx, 0));
        assert!((bench.interface.flows[&id].measured() - 1000.0 / 400e-6).abs() < 1.0, "and not 1000 B in 100 us");
        bench.now += Time::from_us(100);
        bench.call(|host, cx| host.on_timer(cx, 0));
        assert!((bench.interface.flows[&id].measured() - 1000.0 / 400e-6).abs() < 1.0, "nothing is left to the other");
    }

    #[test]
    fn short_of_bandwidth_windows_above_the_mean_lose_a_segment() {
        let mut bench = Bench::new("paper");
        bench.open(&[2000.0, 3000.0, 10_000.0]);
        bench.half(80_000); // leaves 32.5 MB/s, more than 0.2 of 125
        assert_eq!(bench.windows(), [2000.0, 3000.0, 10_000.0]);
        bench.half(0);
        bench.half(100_000);
        assert_eq!(bench.windows(), [2000.0, 3000.0, 9000.0]);
    }

    #[test]
    fn a_half_lasts_as_long_as_the_flows_round_trips_weighted_by_their_traffic() {
        let mut bench = Bench::new("paper");
        bench.open(&[2000.0, 2000.0]);
        for (flow, (rtt, bytes)) in bench.interface.flows.values_mut().zip([(0.002, 3000), (0.006, 1000)]) {
            (flow.rtt, flow.slot_bytes) = (Some(rtt), bytes);
        }
        bench.half(0);
        assert_eq!(bench.interface.half, Time::from_ms(3));
    }

    #[test]
    fn a_new_flow_gets_two_segments_and_a_finished_one_is_forgotten() {
        let mut bench = Bench::new("paper");
        let flow = FlowId::new(7);
        let actions = bench.call(|host, cx| host.on_open(cx, flow, &Announcement::default()));
        assert_eq!(actions[0], ReceiverAction::Window { flow, bytes: 2000 });
        let delivery = Delivery { new_in_order: 10, new_data: 10, finished: true, ..Delivery::default() };
        let arrival = Arrival { seq: 1, payload: 10, ce: false, fin: true, field: 0, delivery, next: 12 };
        bench.call(|host, cx| host.on_data(cx, flow, &arrival));
        assert!(bench.interface.flows.is_empty());
        let actions = bench.call(|host, cx| host.on_timer(cx, HALF_SLOT));
        assert_eq!(actions, [], "no flows, no slots");
    }
}

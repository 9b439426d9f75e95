//! All flows that end on one interface: the slots, the quota and fairness.

use super::config::Config;
use super::window::{FlowWindow, Quota};
use crate::ids::FlowId;
use crate::roles::{AckKind, AckVerdict, Announcement, Arrival, ReceiverAction, ReceiverCx, WindowControl};
use crate::schemes::NodeFacts;
use crate::units::Time;
use std::collections::BTreeMap;

/// Token of the timer of half slots; a flow's own timer has its index.
const HALF_SLOT: u64 = u64::MAX;
/// Bits of a Mbit in the code of RCC's authors.
const RDTCP_MBIT: f64 = 1_048_576.0;

/// The receiving side of one interface.
#[derive(Debug)]
pub(super) struct Interface {
    config: Config,
    /// Bytes per second.
    capacity: f64,
    /// Bytes of headers of each packet.
    header: u64,
    flows: BTreeMap<FlowId, FlowWindow>,
    /// Length of the present half of a slot.
    half: Time,
    /// Bytes on the wire in this half.
    arrived: u64,
    quota: Quota,
    ticking: bool,
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
        }
    }

    /// How long until the next look at a flow.
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
        self.flows.values_mut().for_each(|flow| flow.slot_bytes = 0);
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
                flow.tell(*id, cx.actions);
            }
        }
    }

    /// The first look at a flow that is new, or was idle for long, is due; the slots run while there are such.
    fn watch(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId) {
        let first = cx.now + Self::interval(&self.config, &self.flows[&id]);
        cx.actions.push(ReceiverAction::Timer { at: first, token: id.index() as u64 });
        if !self.ticking {
            self.ticking = true;
            cx.actions.push(ReceiverAction::Timer { at: cx.now + self.half, token: HALF_SLOT });
        }
    }
}

impl WindowControl for Interface {
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, _announced: &Announcement) {
        if !self.flows.contains_key(&flow) {
            let mut fresh = FlowWindow::new(self.config.min_window.bytes(cx.mss) as f64, cx.now);
            fresh.tell(flow, cx.actions);
            self.flows.insert(flow, fresh);
            self.watch(cx, flow);
        }
    }

    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId, arrival: &Arrival) {
        self.arrived += arrival.payload + self.header;
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let was_idle = std::mem::take(&mut flow.idle);
        flow.on_data(arrival.seq, arrival.delivery.new_data, arrival.next, cx.now);
        flow.tell(id, cx.actions);
        if arrival.delivery.finished {
            self.flows.remove(&id);
        } else if was_idle {
            self.watch(cx, id);
        }
    }

    fn on_ack(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, _kind: AckKind) -> AckVerdict {
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.on_ack(cx.now, cx.mss);
        }
        AckVerdict::Send
    }

    fn knows(&self, flow: FlowId) -> bool {
        self.flows.contains_key(&flow)
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, token: u64) {
        if token == HALF_SLOT {
            self.turn(cx);
            self.ticking = self.flows.values().any(|flow| !flow.idle);
            if self.ticking {
                cx.actions.push(ReceiverAction::Timer { at: cx.now + self.half, token });
            }
            return;
        }
        let id = FlowId::new(token as usize);
        let Some(flow) = self.flows.get_mut(&id) else { return };
        if flow.rest_if_idle(cx.now, &self.config, cx.mss) {
            return flow.tell(id, cx.actions);
        }
        flow.look(cx.now, cx.mss as f64, &self.config, &mut self.quota);
        flow.tell(id, cx.actions);
        let next = cx.now + Self::interval(&self.config, flow);
        cx.actions.push(ReceiverAction::Timer { at: next, token });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::spec::Params;
    use crate::tcp::receiver::Delivery;
    use crate::units::Rate;

    const MS: Time = Time::from_ms(1);

    struct Bench {
        interface: Interface,
        now: Time,
    }

    impl Bench {
        fn new(flavour: &str) -> Self {
            let params = Params::defaults(&[super::super::PARAMS]).with("flavour", flavour).with("min-slot", "1ms");
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
        let mut bench = Bench::new("rdtcp");
        bench.open(&[2000.0]);
        bench.half(125_000);
        let before = bench.interface.quota;
        assert!(before.open && before.left == 0.0);
        bench.half(50_000);
        let quota = bench.interface.quota;
        assert!(!quota.open && (quota.left - (0.9 * 125e6 * 1.048_576 - 50e6)).abs() < 1.0, "{quota:?}");
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

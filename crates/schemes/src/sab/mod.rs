//! SAB: Sharing by Allocating switch Buffer (Zhang, Ren, Shu, IEEE JSAC 2014), as SDTCP describes and runs it.
//!
//! The original paper was not available; everything beyond section 2 of SDTCP's paper is marked as our reading.

mod readings;

use super::{Effort, FlowFacts, NodeFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_core::ids::FlowId;
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{AckEvent, CongestionControl, Cut, Pass, Passage, SenderCx, SwitchAgent, SwitchCx};
use fanin_core::units::Time;
use fanin_param::{Kind, Param, Values};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "sab",
    summary: "SAB: switches divide the path's capacity and the buffer among the flows that they count (JSAC 2014).",
    params: &[
        Param::new(
            "epsilon",
            Kind::Number,
            "0.5",
            "Share of each port's buffer that is allocated in addition to the bandwidth-delay product.",
            "SDTCP section 5.1: epsilon = 0.5",
        )
        .at_most(1.0)
        .reading("B1"),
        Param::new(
            "rtt0",
            Kind::Time,
            "0s",
            "Round-trip time without queues, for the bandwidth-delay product; 0: that of the network.",
            "the definition of RTT0",
        ),
        Param::new(
            "sub-mss",
            Kind::Choice(&["min1", "shrink", "pace"]),
            "min1",
            "How a sender uses a share below one segment: as one segment, or with smaller segments. Or with one \
             segment at a time, paced at the rate of the share.",
            "SDTCP section 5.1: the segment size is fixed",
        )
        .reading("B2"),
        Param::new(
            "first-share",
            Kind::Choice(&["data", "syn"]),
            "data",
            "The first share that a sender uses: that of its first data, sent in the initial window, or that of its \
             SYN.",
            "our choice: of N SYNs the k-th would get 1/k, together more than the capacity",
        )
        .reading("B4"),
        Param::new(
            "forget",
            Kind::Bool,
            "true",
            "Whether a FIN removes its flow from the count.",
            "SDTCP section 2: active flows are counted by SYN and FIN",
        ),
    ],
    // READING: B4 a flow without a share sends one segment instead of TCP's initial window: N flows must fit in the
    // buffer.
    transport: &[Wish::Needs("initial-window", "1mss")],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Switch,
    needs: "a switch that counts flows and writes windows",
    reacts_to: &[Signal::Window],
    colour: "#44AA99",
    marker: "p",
    build: |params| Box::new(Bundle::new(params)),
};

/// How a sender uses a share below one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubMss {
    Min1,
    Shrink,
    Pace,
}

struct Bundle {
    epsilon: f64,
    rtt0: Time,
    sub_mss: SubMss,
    from_syn: bool,
    forget: bool,
}

impl Bundle {
    fn new(params: &Values) -> Self {
        Self {
            epsilon: params.number("epsilon"),
            rtt0: params.time("rtt0"),
            sub_mss: params
                .choose("sub-mss", &[("min1", SubMss::Min1), ("shrink", SubMss::Shrink), ("pace", SubMss::Pace)]),
            from_syn: params.is("first-share", "syn"),
            forget: params.flag("forget"),
        }
    }
}

impl Scheme for Bundle {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Sender { share: None, sub_mss: self.sub_mss, from_syn: self.from_syn })
    }
    fn switch_agent(&self, switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        let rtt0 = if self.rtt0 == Time::ZERO { switch.base_rtt } else { self.rtt0 };
        Some(Box::new(Allocator { epsilon: self.epsilon, rtt0, forget: self.forget, ports: Vec::new() }))
    }
}

/// The switch: the active flows of each egress port.
struct Allocator {
    epsilon: f64,
    rtt0: Time,
    forget: bool,
    /// By number of the egress link.
    ports: Vec<Port>,
}

/// The active flows of a port.
#[derive(Default)]
struct Port {
    /// By flow.
    seen: Vec<Seen>,
    active: u32,
}

/// The state of a flow at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Seen {
    #[default]
    Nothing,
    Active,
    Ended,
}

impl Port {
    /// Processes a packet of a flow; `opens` if it starts a connection.
    ///
    /// READING: B3 a connection opened before the run counts from its first packet.
    fn pass(&mut self, flow: FlowId, opens: bool) {
        let index = flow.index();
        if self.seen.len() <= index {
            self.seen.resize(index + 1, Seen::Nothing);
        }
        // A retransmission after the FIN does not make the flow active again.
        if self.seen[index] == Seen::Nothing || (opens && self.seen[index] == Seen::Ended) {
            self.seen[index] = Seen::Active;
            self.active += 1;
        }
    }
    fn end(&mut self, flow: FlowId) {
        if std::mem::replace(&mut self.seen[flow.index()], Seen::Ended) == Seen::Active {
            self.active -= 1;
        }
    }
}

impl SwitchAgent for Allocator {
    fn needs_backlog(&self) -> bool {
        false
    }
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        // Acknowledgements carry a share back to its sender; the bandwidth that they use is not allocated.
        if packet.is_ack() {
            return Pass::Forward;
        }
        let index = passage.to.index();
        if self.ports.len() <= index {
            self.ports.resize_with(index + 1, Port::default);
        }
        let port = &mut self.ports[index];
        port.pass(packet.flow, packet.flags.has(Flags::SYN));
        let pipe = passage.rate.bytes_in(self.rtt0) + self.epsilon * passage.buffer as f64;
        // A flow that retransmits after its FIN is not counted; if it is alone, it gets the full share.
        let share = (pipe / f64::from(port.active.max(1))) as u64;
        // 0: no switch has written a share yet.
        packet.field = if packet.field == 0 { share } else { packet.field.min(share) }.max(1);
        if self.forget && packet.flags.has(Flags::FIN) {
            port.end(packet.flow);
        }
        Pass::Forward
    }
}

/// The smallest segment in bytes: with smaller ones, headers would take most of the link.
const SMALLEST_SEGMENT: u64 = 64;

/// The sender, whose window is the share that the network grants.
#[derive(Clone, Copy, Debug)]
struct Sender {
    /// Latest share in bytes.
    share: Option<u64>,
    sub_mss: SubMss,
    /// Whether the share of its SYN counts.
    from_syn: bool,
}

impl Sender {
    /// The window that corresponds to the share.
    fn window(&self, mss: f64) -> Option<f64> {
        self.share.map(|share| match self.sub_mss {
            SubMss::Shrink => (share.max(SMALLEST_SEGMENT)) as f64,
            SubMss::Min1 | SubMss::Pace => (share as f64).max(mss),
        })
    }

    /// Applies a share, if there is one, and adapts packets to one below a segment.
    fn take(&mut self, cx: &mut SenderCx<'_>, share: u64) {
        if share == 0 {
            return;
        }
        self.share = Some(share);
        let small = (share as f64) < cx.mss;
        match self.sub_mss {
            SubMss::Min1 => {}
            SubMss::Shrink => cx.packet.segment = if small { share.max(SMALLEST_SEGMENT) as u32 } else { 0 },
            SubMss::Pace => {
                let round = cx.srtt.unwrap_or(Time::ZERO).ps() as f64;
                let gap = if small { round * cx.mss / share as f64 } else { 0.0 };
                cx.packet.gap = Time::from_ps(gap as u64);
            }
        }
    }
}

impl CongestionControl for Sender {
    // READING: B4
    fn on_syn_ack(&mut self, cx: &mut SenderCx<'_>, field: u64) {
        if !self.from_syn {
            return;
        }
        self.take(cx, field);
        if let Some(window) = self.window(cx.mss) {
            cx.window.cwnd = window;
        }
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.take(cx, ack.field);
        // Recovery inflates and deflates the window by its own rules, and ends with the share.
        if ack.acked > 0
            && !ack.in_recovery
            && let Some(window) = self.window(cx.mss)
        {
            cx.window.cwnd = window;
        }
    }
    fn on_ecn_echo(&mut self, _cx: &mut SenderCx<'_>) {}
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        Cut::to(self.window(cx.mss).unwrap_or(cx.window.cwnd))
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        self.on_loss(cx)
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("share", self.share.map_or(f64::NAN, |share| share as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::ids::{LinkId, NodeId};
    use fanin_core::roles::{Backlog, ByteCounting, CongestionWindow, PacketFacts, SwitchAction};
    use fanin_core::units::Rate;

    /// 1 Gbps and 200 us are 25,000 bytes; half of 150,000 bytes of buffer comes on top.
    const PIPE: u64 = 25_000 + 75_000;
    const MSS: f64 = 1460.0;

    fn allocator(forget: bool) -> Allocator {
        Allocator { epsilon: 0.5, rtt0: Time::from_us(200), forget, ports: Vec::new() }
    }

    fn pass(agent: &mut Allocator, flow: usize, to: usize, flags: Flags, field: u64) -> u64 {
        let mut packet = Packet { field, flow: FlowId::new(flow), size: 1500, flags, ..Packet::default() };
        let passage = Passage {
            from: LinkId::new(9),
            to: LinkId::new(to),
            backlog: Backlog::default(),
            buffer: 150_000,
            rate: Rate::from_bps(1_000_000_000),
        };
        let mut actions: Vec<SwitchAction> = Vec::new();
        let mut cx =
            SwitchCx { now: Time::ZERO, switch: NodeId::new(0), node: &mut (), book: &(), actions: &mut actions };
        assert_eq!(agent.on_packet(&mut cx, &mut packet, &passage), Pass::Forward);
        packet.field
    }

    #[test]
    fn each_port_shares_pipe_and_buffer_among_the_flows_it_counts() {
        let mut agent = allocator(true);
        assert_eq!(pass(&mut agent, 0, 1, Flags::SYN, 0), PIPE);
        assert_eq!(pass(&mut agent, 1, 1, Flags::SYN, 0), PIPE / 2);
        assert_eq!(pass(&mut agent, 0, 1, Flags::NONE, 0), PIPE / 2);
        assert_eq!(pass(&mut agent, 2, 5, Flags::SYN, 0), PIPE, "another port counts for itself");
    }

    #[test]
    fn a_connection_that_was_open_before_counts_from_its_first_packet() {
        let mut agent = allocator(true);
        pass(&mut agent, 0, 1, Flags::NONE, 0);
        assert_eq!(pass(&mut agent, 1, 1, Flags::NONE, 0), PIPE / 2);
        assert_eq!(pass(&mut agent, 0, 1, Flags::FIN, 0), PIPE / 2);
        assert_eq!(pass(&mut agent, 0, 1, Flags::NONE, 0), PIPE, "a retransmission after the FIN is not counted");
        assert_eq!(pass(&mut agent, 0, 1, Flags::SYN, 0), PIPE / 2);
    }

    #[test]
    fn a_flow_counts_once_however_often_its_syn_comes() {
        let mut agent = allocator(true);
        pass(&mut agent, 0, 1, Flags::SYN, 0);
        assert_eq!(pass(&mut agent, 0, 1, Flags::SYN, 0), PIPE);
    }

    #[test]
    fn a_fin_takes_its_flow_off_the_count_once() {
        let mut agent = allocator(true);
        for flow in 0..3 {
            pass(&mut agent, flow, 1, Flags::SYN, 0);
        }
        assert_eq!(pass(&mut agent, 0, 1, Flags::FIN, 0), PIPE / 3, "the packet with the FIN itself still counts");
        pass(&mut agent, 0, 1, Flags::FIN, 0);
        assert_eq!(pass(&mut agent, 1, 1, Flags::NONE, 0), PIPE / 2);
        let mut agent = allocator(false);
        for flow in 0..2 {
            pass(&mut agent, flow, 1, Flags::SYN, 0);
        }
        pass(&mut agent, 0, 1, Flags::FIN, 0);
        assert_eq!(pass(&mut agent, 1, 1, Flags::NONE, 0), PIPE / 2, "without forgetting");
    }

    #[test]
    fn the_smallest_share_on_the_path_stays() {
        let mut agent = allocator(true);
        pass(&mut agent, 0, 1, Flags::SYN, 0);
        assert_eq!(pass(&mut agent, 0, 1, Flags::NONE, 7000), 7000);
        assert_eq!(pass(&mut agent, 0, 1, Flags::NONE, 1_000_000), PIPE);
    }

    #[test]
    fn acknowledgements_pass_untouched() {
        let mut agent = allocator(true);
        assert_eq!(pass(&mut agent, 0, 1, Flags::ACK, 7_000_000), 7_000_000);
        assert_eq!(pass(&mut agent, 0, 1, Flags::SYN.with(Flags::ACK), 0), 0);
    }

    /// Window and packets after an acknowledgement with a share.
    fn sender(sub_mss: SubMss, share: u64, in_recovery: bool) -> (f64, PacketFacts, f64) {
        let mut cc = Sender { share: None, sub_mss, from_syn: false };
        let mut window = CongestionWindow { cwnd: 3.0 * MSS, ssthresh: 1e9 };
        let mut packet = PacketFacts::default();
        let mut cx = SenderCx {
            now: Time::ZERO,
            mss: MSS,
            in_flight: 30_000,
            una: 1,
            nxt: 30_001,
            max_sent: 30_001,
            srtt: Some(Time::from_us(200)),
            window: &mut window,
            packet: &mut packet,
            wake: &mut Time::NEVER.clone(),
            counting: ByteCounting::Off,
        };
        let ack = AckEvent {
            acked: 1460,
            ece: false,
            in_recovery,
            in_loss: false,
            cwr: None,
            window_limited: true,
            ends_window: false,
            rtt: None,
            field: share,
        };
        cc.on_ack(&mut cx, &ack);
        let threshold = cc.on_loss(&mut cx).ssthresh;
        (window.cwnd, packet, threshold)
    }

    #[test]
    fn the_window_is_the_share_at_once_and_a_loss_does_not_reduce_it() {
        let (cwnd, packet, threshold) = sender(SubMss::Min1, 20_000, false);
        assert_eq!((cwnd, packet, threshold), (20_000.0, PacketFacts::default(), 20_000.0));
        assert_eq!(sender(SubMss::Min1, 20_000, true).0, 3.0 * MSS, "recovery has its own window");
    }

    #[test]
    fn the_share_of_a_syn_counts_if_told_so() {
        for (from_syn, cwnd) in [(false, 10.0 * MSS), (true, 20_000.0)] {
            let mut cc = Sender { share: None, sub_mss: SubMss::Min1, from_syn };
            let mut window = CongestionWindow { cwnd: 10.0 * MSS, ssthresh: 1e9 };
            let mut cx = SenderCx {
                now: Time::ZERO,
                mss: MSS,
                in_flight: 0,
                una: 1,
                nxt: 1,
                max_sent: 1,
                srtt: None,
                window: &mut window,
                packet: &mut PacketFacts::default(),
                wake: &mut Time::NEVER.clone(),
                counting: ByteCounting::Off,
            };
            cc.on_syn_ack(&mut cx, 20_000);
            assert_eq!(window.cwnd, cwnd);
        }
    }

    #[test]
    fn a_share_below_one_segment_is_kept_shrunk_or_paced() {
        let (cwnd, packet, _) = sender(SubMss::Min1, 730, false);
        assert_eq!((cwnd, packet), (MSS, PacketFacts::default()));
        let (cwnd, packet, _) = sender(SubMss::Shrink, 730, false);
        assert_eq!((cwnd, packet.segment), (730.0, 730));
        let (cwnd, packet, _) = sender(SubMss::Pace, 730, false);
        // Half a segment per round trip: one segment in two of them.
        assert_eq!((cwnd, packet.gap), (MSS, Time::from_us(400)));
    }
}

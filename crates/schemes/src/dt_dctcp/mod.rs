//! DT-DCTCP (Chen et al., "Ease the Queue Oscillation", ICDCS 2013): DCTCP behind a port with two thresholds.

mod readings;

use super::{DctcpSender, Effort, FlowFacts, NodeFacts, Scheme, SchemeRow, Signal};
use fanin_core::roles::{CongestionControl, QueueDiscipline};
use fanin_network::queue::DoubleThreshold;

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "dt-dctcp",
    summary: "DT-DCTCP: DCTCP with one marking threshold for a rising queue and one for a falling queue.",
    params: &[
        DoubleThreshold::start("30pkt", "Chen et al. 2013: K1 = 30 packets, beside K = 40").reading("DT1"),
        DoubleThreshold::stop("50pkt", "Chen et al. 2013: K2 = 50 packets, beside K = 40").reading("DT1"),
        DctcpSender::G,
        DctcpSender::ALPHA0,
        DctcpSender::MIN_WINDOW,
    ],
    transport: &[],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Switch,
    needs: "a switch that marks by two thresholds, and DCTCP on the hosts",
    reacts_to: &[Signal::Marks],
    colour: "#AA4499",
    marker: "d",
    build: |values| Box::new(Bundle { marking: DoubleThreshold::new(values), sender: DctcpSender::new(values) }),
};

struct Bundle {
    marking: DoubleThreshold,
    sender: DctcpSender,
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(self.sender.build(flow.mss))
    }
    fn shares_nothing(&self) -> bool {
        true
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(self.marking))
    }
}

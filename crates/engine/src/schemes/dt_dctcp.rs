//! DT-DCTCP (Chen et al., "Ease the Queue Oscillation", ICDCS 2013): DCTCP behind a port with two thresholds.
//!
//! **Switch**: marking starts when the rising queue reaches one threshold and ends when the falling queue drops below
//! another (`queue::DoubleThreshold`). **Receiver and sender** are those of DCTCP.

use super::{DctcpSender, FlowFacts, NodeFacts, Reading, Scheme, SchemeRow};
use crate::queue::DoubleThreshold;
use crate::roles::{CongestionControl, QueueDiscipline};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "dt-dctcp",
    summary: "DT-DCTCP: DCTCP with one marking threshold on the way up and one on the way down.",
    params: &[
        DoubleThreshold::start("30pkt", "Chen et al. 2013: K1 = 30 packets, beside K = 40").reading("DT1"),
        DoubleThreshold::stop("50pkt", "Chen et al. 2013: K2 = 50 packets, beside K = 40").reading("DT1"),
        DctcpSender::G,
        DctcpSender::ALPHA0,
        DctcpSender::MIN_WINDOW,
    ],
    transport: &[],
    manual: "# DT-DCTCP\n\nChen, Cheng, Ren, Shu and Lin, \"Ease the queue oscillation: analysis and enhancement of DCTCP\", ICDCS \
             2013.\n\n* **Switch**: marking starts when the rising queue reaches `start` and ends when the falling queue drops below \
             `stop`; the crossing that came last decides. At or above both thresholds every ECN-capable packet is marked, \
             below both none is. With `start < stop` marks begin and end earlier than with one threshold between the two; with \
             `start > stop` they begin and end later.\n* **Receiver** and **sender**: as DCTCP.\n",
    readings: &[
        Reading {
            id: "DT1",
            text: "Crossings alone do not say what a queue beyond both thresholds does when it starts there: it is marked above \
                   both and not marked below both. 30 and 50 packets stand for DCTCP's 40; equal values give DCTCP.",
            params: &["scheme.dt-dctcp.start", "scheme.dt-dctcp.stop"],
        },
        Reading {
            id: "DT2",
            text: "The queue is what an arriving packet finds, as in DCTCP here, so that equal thresholds are exactly one.",
            params: &[],
        },
    ],
    totals: &[],
    build: |params| Box::new(Bundle { marking: DoubleThreshold::new(params), sender: DctcpSender::new(params) }),
};

struct Bundle {
    marking: DoubleThreshold,
    sender: DctcpSender,
}

impl Scheme for Bundle {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(self.sender.build(flow.mss))
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(self.marking))
    }
}

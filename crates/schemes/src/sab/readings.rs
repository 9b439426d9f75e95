//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "B1",
        text: "The share of the buffer that is divided among flows is open. SDTCP's experiments use epsilon = 0.5. The \
               usual short form (C RTT0 + B) / N has epsilon = 1.",
        params: &["scheme.sab.epsilon"],
    },
    Reading {
        id: "B2",
        text: "If a share is below one segment, the original sends smaller segments, which is why it rarely loses \
               packets. SDTCP's experiments fix the segment size, so a sender keeps one segment in flight.",
        params: &["scheme.sab.sub-mss"],
    },
    Reading {
        id: "B3",
        text: "Counts can be stale: a flow whose FIN was lost on the way to the switch counts until the FIN is \
               retransmitted. An open connection counts while it is idle. A connection that was open before the run \
               counts from its first packet. A RST would end a flow as a FIN does, but no host here sends one.",
        params: &[],
    },
    Reading {
        id: "B4",
        text: "A new flow first uses its share on the ACK of its first data. Then a burst sends N SYNs, and after them \
               N initial windows of one segment each. In the other reading a flow first uses its share with its \
               SYN-ACK.",
        params: &["scheme.sab.first-share", "transport.initial-window"],
    },
];

//! Where the paper leaves something open: what we take, and which parameters give the other readings.

use crate::schemes::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "B1",
        text: "Which part of the buffer is allocated: SDTCP runs epsilon = 0.5, the usual short form (C RTT0 + B) / N is 1.",
        params: &["scheme.sab.epsilon"],
    },
    Reading {
        id: "B2",
        text: "A share below one segment: the original shrinks segments, which is why it rarely loses; SDTCP fixes \
                   the segment size, so a sender keeps one segment.",
        params: &["scheme.sab.sub-mss"],
    },
    Reading {
        id: "B3",
        text: "Stale counts: a flow whose FIN was lost before the switch counts until the FIN is sent again, and an \
                   idle open connection counts as long as it is open, one that was open before from its first packet. A RST would take a flow off as a FIN does; nothing here \
                   sends one.",
        params: &[],
    },
    Reading {
        id: "B4",
        text: "When a new flow first obeys: with the acknowledgement of its first data, so that a burst sends N SYNs and \
                   then N initial windows, which are one segment each; or already with its SYN-ACK.",
        params: &["scheme.sab.first-share", "transport.initial-window"],
    },
];

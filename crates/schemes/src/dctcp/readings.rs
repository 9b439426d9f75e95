//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "DCTCP1",
        text: "Papers compare themselves with different DCTCPs. We take RFC 8257. RCC's code reduces the window by a \
               timer, and allows a window of one segment. That code starts alpha at 0, and does not decay alpha \
               without marks.",
        params: &["scheme.dctcp.flavour"],
    },
    Reading {
        id: "DCTCP2",
        text: "The RFC leaves open the initial estimate and the minimum window. We take 1 and two segments, as in \
               Linux. An estimate that starts at 0 barely reduces the window at the first marks. A window of one \
               segment relies on the retransmission timer.",
        params: &["scheme.dctcp.alpha0", "scheme.dctcp.min-window"],
    },
];

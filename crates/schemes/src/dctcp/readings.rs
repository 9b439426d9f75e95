//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "DCTCP1",
        text: "Papers compare themselves with different DCTCPs; we take RFC 8257. RCC's code reduces the window by a \
               timer, starts alpha at 0, does not decay it without marks and allows a window of one segment.",
        params: &["scheme.dctcp.flavour"],
    },
    Reading {
        id: "DCTCP2",
        text: "The RFC leaves open the initial estimate and the minimum window: we take 1 and two segments, as in \
               Linux. An estimate that starts at 0 barely reduces the window at the first marks; a window of one \
               segment relies on the retransmission timer.",
        params: &["scheme.dctcp.alpha0", "scheme.dctcp.min-window"],
    },
];

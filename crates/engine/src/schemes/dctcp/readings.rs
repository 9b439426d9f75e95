//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::schemes::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "DCTCP1",
        text: "Papers compare themselves with different DCTCPs; RFC 8257 is taken. RCC's code cuts by a timer, starts alpha at \
                   0, does not let it decay without marks and allows one segment.",
        params: &["scheme.dctcp.flavour"],
    },
    Reading {
        id: "DCTCP2",
        text: "The RFC leaves open the first estimate and the smallest window: 1 and two segments as in Linux. An estimate \
                   that starts at 0 barely cuts at the first marks; a window of one segment relies on the retransmission timer.",
        params: &["scheme.dctcp.alpha0", "scheme.dctcp.min-window"],
    },
];

//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "L2DCT1",
        text: "The ns-2 implementation divides integers, so that the weight stays at its maximum up to heavy-from and then \
                   jumps; published curves may show that. We use the paper's line.",
        params: &["scheme.l2dct.integer-division"],
    },
    Reading {
        id: "L2DCT2",
        text: "Where the weight starts and stops falling: 200 KB and 1 MB (ns-2), or 200 and 1000 segments (ns-3), which the same \
                   keys take as 200mss and 1000mss.",
        params: &["scheme.l2dct.light-up-to", "scheme.l2dct.heavy-from"],
    },
    Reading {
        id: "L2DCT3",
        text: "The smallest window after a reduction: two segments, as in DCTCP and the ns-3 implementation; the ns-2 one allows one.",
        params: &["scheme.l2dct.min-window"],
    },
    Reading {
        id: "L2DCT4",
        text: "Both implementations count the bytes sent on a connection, which carries one flow in each. On a connection with \
                   several transfers, we take each transfer as a flow.",
        params: &["scheme.l2dct.count"],
    },
];

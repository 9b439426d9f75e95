//! Where the paper leaves something open: what we take, and which parameters give the other readings.

use crate::schemes::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "L2DCT1",
        text: "The ns-2 implementation divides whole numbers, so that the weight stays at its maximum up to heavy-from and then \
                   jumps; published curves may carry that. The line of the paper is taken.",
        params: &["scheme.l2dct.integer-division"],
    },
    Reading {
        id: "L2DCT2",
        text: "Where the weight begins and ends to fall: 200 KB and 1 MB (ns-2), or 200 and 1000 segments (ns-3), which the same \
                   keys take as 200mss and 1000mss.",
        params: &["scheme.l2dct.light-up-to", "scheme.l2dct.heavy-from"],
    },
    Reading {
        id: "L2DCT3",
        text: "The smallest window after a reduction: two segments, as DCTCP and the ns-3 implementation; the ns-2 one allows one.",
        params: &["scheme.l2dct.min-window"],
    },
    Reading {
        id: "L2DCT4",
        text: "Both implementations count what a connection has sent, as each carries one flow. On a connection that carries one \
                   transfer after the other, a flow is taken to be one transfer.",
        params: &["scheme.l2dct.count"],
    },
];

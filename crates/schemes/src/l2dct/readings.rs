//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "L2DCT1",
        text: "The ns-2 implementation divides integers, so the weight stays at its maximum up to heavy-from and then \
               jumps. Published curves may show that jump. We use the paper's line.",
        params: &["scheme.l2dct.integer-division"],
    },
    Reading {
        id: "L2DCT2",
        text: "In ns-2 the weight starts falling at 200 KB and stops at 1 MB. In ns-3 the weight starts falling at 200 \
               segments and stops at 1000. The same keys take these segments as 200mss and 1000mss.",
        params: &["scheme.l2dct.light-up-to", "scheme.l2dct.heavy-from"],
    },
    Reading {
        id: "L2DCT3",
        text: "The smallest window after a reduction is two segments, as in DCTCP and the ns-3 implementation. The \
               ns-2 implementation allows one segment.",
        params: &["scheme.l2dct.min-window"],
    },
    Reading {
        id: "L2DCT4",
        text: "Both implementations count the bytes sent on a connection, which carries one flow in each. On a \
               connection with several transfers, we take each transfer as a flow.",
        params: &["scheme.l2dct.count"],
    },
];

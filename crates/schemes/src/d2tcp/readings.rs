//! Where the paper leaves something open: what we take, and which parameters give the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "D2TCP1",
        text: "A flow whose deadline has passed gives way (urgency-min) in the public ns-3 implementation, which we \
               take. It may also use urgency-max, or behave as DCTCP.",
        params: &["scheme.d2tcp.late"],
    },
    Reading {
        id: "D2TCP2",
        text: "The mean window of a sawtooth that halves is three quarters of its peak. We take the current window for \
               the peak. With small cuts a value near 1 is closer.",
        params: &["scheme.d2tcp.sawtooth"],
    },
    Reading {
        id: "D2TCP3",
        text: "The bounds of the urgency, 0.5 and 2, keep one flow from starving the others. Both at 1 give DCTCP.",
        params: &["scheme.d2tcp.urgency-min", "scheme.d2tcp.urgency-max"],
    },
];

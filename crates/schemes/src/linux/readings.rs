//! Where the paper leaves something open: what we take, and which parameters give the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "T3a",
        text: "RFC 9438 section 4.4 grows the window by (target - cwnd)/cwnd for each acknowledgement. Delayed \
               acknowledgements would halve that growth. We count the segments that an acknowledgement covers, as \
               Linux does. Section 4.3 does the same for the Reno-friendly window.",
        params: &["scheme.linux.growth"],
    },
    Reading {
        id: "T3b",
        text: "RFC 9438 section 4.6 reduces what is in flight, Linux the window. With the kernel's flavour we take the \
               window. With the RFC's flavour we take what is in flight but no more than the window. So segments sent \
               on the first SACK reports do not count. The two flavours differ only if the window is not fully used.",
        params: &["scheme.linux.flavour"],
    },
];

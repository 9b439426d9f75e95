//! Where the paper leaves something open: what we take, and which parameters give the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "T3a",
        text: "RFC 9438 section 4.4 grows the window by (target - cwnd)/cwnd for each acknowledgement, which delayed \
               acknowledgements would halve; we count the segments that it covers, as Linux does and as section 4.3 \
               does for the Reno-friendly window.",
        params: &["scheme.linux.growth"],
    },
    Reading {
        id: "T3b",
        text: "RFC 9438 section 4.6 reduces what is in flight, Linux the window; with the kernel's flavour we take the \
               window, with that of the RFC what is in flight but no more than the window, so that segments sent on \
               the first SACK reports do not count. The two differ only if the window is not fully used.",
        params: &["scheme.linux.flavour"],
    },
];

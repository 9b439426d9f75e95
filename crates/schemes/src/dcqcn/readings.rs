//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "DQ1",
        text: "The receiver sends a notification packet (CNP) at once for the first mark, and at most one per interval. Whether marks \
               within an interval are reported at its end or by the next mark is open. They are reported at its end.",
        params: &["scheme.dcqcn.cnp-interval"],
    },
    Reading {
        id: "DQ2",
        text: "Whether F is reached before or after a counter's F-th expiry is open. The first F expiries of either are fast recovery, \
               as in QCN, which has five cycles of it. The byte counter is looked at when an acknowledgement arrives.",
        params: &["scheme.dcqcn.recovery"],
    },
    Reading {
        id: "DQ3",
        text: "The paper refers to QCN for hyper increase. Each step of it adds the same, and begins when both counters have expired \
               more often than F.",
        params: &["scheme.dcqcn.hyper-increase"],
    },
    Reading {
        id: "DQ4",
        text: "The paper has no lowest rate. Without one, many flows would need minutes to recover.",
        params: &["scheme.dcqcn.min-rate"],
    },
    Reading {
        id: "DQ5",
        text: "DCQCN has no window, and a real host stops a flow while its port is paused. Here what pacing releases then waits in the \
               host, and leaves at the rate of the link. So the bytes in flight have a limit, which a flow at a fair rate does not reach.",
        params: &["scheme.dcqcn.in-flight"],
    },
];

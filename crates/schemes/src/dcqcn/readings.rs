//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "DQ1",
        text: "The receiver of the paper sends a notification packet (CNP) at once, and at most one per interval. Here each \
               acknowledgement echoes the mark of its segment, and the sender applies the limit. The first echo counts at once, and \
               those of an interval together at its end. Both are the same if acknowledgements take equally long.",
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

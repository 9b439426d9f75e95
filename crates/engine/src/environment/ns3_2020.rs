//! ns-3 as released in 2020.

use super::{EnvironmentRow, set};

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "ns3-2020",
    summary: "ns-3.31 with its defaults: minimum timeout 1 s, SACK, delayed acknowledgements, RED that drops (PFDCT).",
    manual: "\
The attributes of ns-3.31 (June 2020) that a script has if it sets nothing, as they stand in `tcp-socket.cc`,
`tcp-socket-base.cc`, `rtt-estimator.cc` and `red-queue-disc.cc` of its source. A script almost always sets the segment size.

**Why PFDCT.** Its text calls its queues by ns-3's names, its enqueueing algorithm is that of `PrioQueueDisc`, and its rate,
delay and thresholds are those of the example `dctcp-example`. It does not name the simulator's version; ns-3.31 is the
release before the paper.

**Inferred.** The order of events at one instant: ns-3 executes them in the order in which they were scheduled, for which
`waiting-first` stands, as it does in the comparison with RCC's authors' code on ns-3.18.

**Left out.** ns-3 recovers by proportional rate reduction, gives up a connection at the seventh timeout in a row, and puts FQ-CoDel
in front of every device that has an address and no queue of its own. The link layer's 2 bytes are not counted.",
    stack: &[
        set("mss", "536B", "ns-3.31, tcp-socket.cc: SegmentSize 536"),
        set("header", "52B", "ns-3.31, tcp-socket-base.cc: Timestamp true, 12 bytes beside 40 of IPv4 and TCP"),
        set("initial-window", "10mss", "ns-3.31, tcp-socket.cc: InitialCwnd 10"),
        set("receive-buffer", "131072B", "ns-3.31, tcp-socket.cc: RcvBufSize 131072"),
        set("ack-every", "2", "ns-3.31, tcp-socket.cc: DelAckCount 2"),
        set("ack-delay", "200ms", "ns-3.31, tcp-socket.cc: DelAckTimeout 0.2 s"),
        set("quickack", "0", "ns-3.31 knows none"),
        set("duplicate-ack-threshold", "3", "ns-3.31, tcp-socket-base.cc: ReTxThreshold 3"),
        set("sack", "true", "ns-3.31, tcp-socket-base.cc: Sack true"),
        set("loss-detection", "dup-ack", "ns-3.31 has no RACK"),
        set("limited-transmit", "true", "ns-3.31, tcp-socket-base.cc: LimitedTransmit true"),
        set("rto-min", "1s", "ns-3.31, tcp-socket-base.cc: MinRto 1 s"),
        set("rto-initial", "1s", "ns-3.31, rtt-estimator.cc: InitialEstimation 1 s"),
        set("rto-granularity", "1ms", "ns-3.31, tcp-socket-base.cc: ClockGranularity 1 ms"),
        set(
            "rto-backoff-reset",
            "new-ack",
            "ns-3.31, tcp-socket-base.cc: every acknowledgement of new data computes the timeout anew",
        ),
        set("syn-timeout", "3s", "ns-3.31, tcp-socket.cc: ConnTimeout 3 s"),
        set("syn-retries", "6", "ns-3.31, tcp-socket.cc: ConnCount 6"),
    ],
    switch: &[
        set(
            "network.buffer-counts",
            "waiting",
            "ns-3.31, point-to-point-net-device.cc: a packet leaves the queue before it is transmitted",
        ),
        set("network.ties", "waiting-first", "inferred: events at one instant in the order of their scheduling"),
        set(
            "network.non-ect",
            "drop",
            "ns-3.31, red-queue-disc.cc: with UseEcn, what is due a mark and cannot be marked is dropped",
        ),
    ],
};

//! ns-3 as released in 2020.

use super::{EnvironmentRow, set};

const EVERY_PACKET: &str = "ns-3.31, tcp-socket-base.cc, AddSocketTags: in DCTCP's mode every packet is ECN-capable";

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "ns3-2020",
    summary: "ns-3.31 with its defaults: minimum timeout 1 s, SACK, delayed acknowledgements, RED that drops (PFDCT).",
    manual: "\
The attributes of ns-3.31 (June 2020) that a script has if it sets nothing, as they stand in `tcp-socket.cc`,
`tcp-socket-base.cc`, `rtt-estimator.cc` and `red-queue-disc.cc` of its source. A script almost always sets the segment size.

**Why PFDCT.** Its text calls its queues by ns-3's names, its enqueueing algorithm is that of `PrioQueueDisc`, and its rate,
delay and thresholds are those of the example `dctcp-example`. It does not name the simulator's version; ns-3.31 is the
release before the paper.

**The timeout.** `MinRto` is not all of it. Round trips are timed by time stamps in whole milliseconds, and one that shows none is no
sample (`TcpSocketBase::EstimateRtt`; from 3.34 on it counts as 1 us). Until a millisecond has passed between a segment and its
acknowledgement, a connection therefore waits `InitialEstimation`, 1 s, for its first timeout, whatever `MinRto` a script sets.

**Events at one instant** are executed in the order in which they were scheduled. The end of a transmission is scheduled when it
begins, and an acknowledgement's arrival when the last switch begins to send it (`PointToPointNetDevice`, `PointToPointChannel`). With
1500 bytes at 1 Gbit/s, which take 12 us, and links of 10 us, a packet that waited for another of its host comes first; with
links of 25 us, one that an acknowledgement has just released.

**ECN.** A connection of DCTCP has every packet ECN-capable, also its SYN, its pure acknowledgements and what it sends again.

**Left out.** ns-3 gives up a connection at the seventh timeout in a row, and puts FQ-CoDel in front of every device that has an
address and no queue of its own. The link layer's 2 bytes are not counted. Windows and losses are as the RFCs have them; what
ns-3 3.44 does otherwise is in `docs/validation/ns3.md` and was not looked up in 3.31.",
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
        set("rtt-clock", "1ms", "ns-3.31, tcp-option-ts.cc: milliseconds; tcp-socket-base.cc, EstimateRtt: zero is no sample"),
        set("rtt-of", "oldest", "ns-3.31, tcp-socket-base.cc, EstimateRtt: the front of the history, unless it was sent again"),
        set("rto-min", "1s", "ns-3.31, tcp-socket-base.cc: MinRto 1 s"),
        set("rto-initial", "1s", "ns-3.31, rtt-estimator.cc: InitialEstimation 1 s"),
        set("rto-granularity", "1ms", "ns-3.31, tcp-socket-base.cc: ClockGranularity 1 ms"),
        set(
            "rto-backoff-reset",
            "new-ack",
            "ns-3.31, tcp-socket-base.cc: every acknowledgement of new data computes the timeout anew",
        ),
        set(
            "rto-after-syn-timeout",
            "1s",
            "ns-3.31, tcp-socket-base.cc, SendEmptyPacket: the handshake's last packet computes the timeout anew",
        ),
        set("syn-timeout", "3s", "ns-3.31, tcp-socket.cc: ConnTimeout 3 s"),
        set("syn-retries", "6", "ns-3.31, tcp-socket.cc: ConnCount 6"),
        set("ecn-syn", "true", EVERY_PACKET),
        set("ecn-retransmit", "true", EVERY_PACKET),
        set("ecn-ack", "true", EVERY_PACKET),
    ],
    switch: &[
        set(
            "network.buffer-counts",
            "waiting",
            "ns-3.31, point-to-point-net-device.cc: a packet leaves the queue before it is transmitted",
        ),
        set(
            "network.ties",
            "scheduled",
            "ns-3.31, map-scheduler.cc: events at one instant in the order in which they were scheduled",
        ),
        set(
            "network.non-ect",
            "drop",
            "ns-3.31, red-queue-disc.cc: with UseEcn, what is due a mark and cannot be marked is dropped",
        ),
    ],
};

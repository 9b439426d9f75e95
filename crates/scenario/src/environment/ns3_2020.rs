//! ns-3 as released in 2020.

use super::{EnvironmentRow, set};

const EVERY_PACKET: &str = "ns-3.31, tcp-socket-base.cc, AddSocketTags: in DCTCP mode every packet is ECT";

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "ns3-2020",
    summary: "ns-3.31 with its defaults: minimum timeout 1 s, SACK, delayed acknowledgements, RED that drops (PFDCT).",
    manual: "\
The default attributes of ns-3.31 (June 2020), from `tcp-socket.cc`, `tcp-socket-base.cc`, `rtt-estimator.cc` and
`red-queue-disc.cc` of its source. Scripts almost always set the segment size.

**Why PFDCT.** The paper uses ns-3's names for its queues, and its enqueueing algorithm is that of `PrioQueueDisc`. Its rate, delay and
thresholds are those of the example `dctcp-example`, which ns-3.31 is the first release to have. The paper does not name the simulator's
version. It was submitted on 9 March 2023, when 3.32 to 3.37 were out too.

Those from 3.34 on are the environment `ns3-2022`.

**The timeout** depends on more than `MinRto`. RTTs are measured with millisecond timestamps; an RTT measured as 0 ms is discarded
(`TcpSocketBase::EstimateRtt`). Until an RTT of a millisecond or more has been measured, the RTO of a connection is therefore
`InitialEstimation`, 1 s. The `MinRto` that a script sets has no effect until then.

**Simultaneous events** are executed in the order in which they were scheduled. The end of a transmission is scheduled when it begins. The
arrival of an ACK is scheduled when the last switch begins to send it (`PointToPointNetDevice`, `PointToPointChannel`). A packet of 1500
bytes takes 12 us at 1 Gbit/s. With links of 10 us, a packet that waited for another one of its host comes first. With links of 25 us, a
packet that an ACK has just released does.

**ECN.** With DCTCP every packet is ECT, including SYNs, pure ACKs and retransmissions.

**The device.** Below its queue disc every port has the queue of its device, 100 packets by default, which scripts seldom
change. The disc sees a packet only while that is full: what a script gives as the buffer, and RED's thresholds, begin there.

**Loss recovery** is that of `transport.like = \"ns3.31\"`: the rules of `docs/validation/ns3.md` as this release has them. The ACK
that repairs a timeout does not grow the window, so that a sender with one segment a window and delayed ACKs stays there. An echo
reduces the window with the next new segment. ns-3's own DCTCP is `scheme.dctcp.flavour = \"ns-3.31\"`, which a file must choose.

**Left out.** ns-3 aborts a connection at its seventh consecutive timeout, and installs FQ-CoDel on every device that has an address
and no queue discipline. The link layer's 2 bytes are not counted. The rules of this release were read in its source, and
not compared with runs of it.",
    stack: &[
        set("mss", "536B", "ns-3.31, tcp-socket.cc: SegmentSize 536"),
        set("header", "52B", "ns-3.31, tcp-socket-base.cc: Timestamp true, 12 bytes besides 40 of IPv4 and TCP"),
        set("initial-window", "10mss", "ns-3.31, tcp-socket.cc: InitialCwnd 10"),
        set("receive-buffer", "131072B", "ns-3.31, tcp-socket.cc: RcvBufSize 131072"),
        set("ack-every", "2", "ns-3.31, tcp-socket.cc: DelAckCount 2"),
        set("ack-delay", "200ms", "ns-3.31, tcp-socket.cc: DelAckTimeout 0.2 s"),
        set("quickack", "1", "ns-3.31, tcp-socket-base.cc: the handshake leaves the count of delayed acknowledgements full"),
        set("duplicate-ack-threshold", "3", "ns-3.31, tcp-socket-base.cc: ReTxThreshold 3"),
        set("sack", "true", "ns-3.31, tcp-socket-base.cc: Sack true"),
        set("loss-detection", "dup-ack", "ns-3.31 has no RACK"),
        set("limited-transmit", "true", "ns-3.31, tcp-socket-base.cc: LimitedTransmit true"),
        set("rtt-clock", "1ms", "ns-3.31, tcp-option-ts.cc: milliseconds; tcp-socket-base.cc, EstimateRtt: 0 ms is discarded"),
        set("like", "ns3.31", "ns-3.31, tcp-socket-base.cc and tcp-tx-buffer.cc"),
        set("window-validation", "false", "ns-3.31, tcp-socket-base.cc, ProcessAck: windows that are not used grow"),
        set("rto-min", "1s", "ns-3.31, tcp-socket-base.cc: MinRto 1 s"),
        set("rto-initial", "1s", "ns-3.31, rtt-estimator.cc: InitialEstimation 1 s"),
        set("rto-granularity", "1ms", "ns-3.31, tcp-socket-base.cc: ClockGranularity 1 ms"),
        set(
            "rto-backoff-reset",
            "new-ack",
            "ns-3.31, tcp-socket-base.cc: every ACK of new data recomputes the RTO",
        ),
        set(
            "rto-after-syn-timeout",
            "1s",
            "ns-3.31, tcp-socket-base.cc, SendEmptyPacket: the last packet of the handshake recomputes the RTO",
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
            "ns-3.31, point-to-point-net-device.cc: a packet leaves the queue before its transmission",
        ),
        set("network.device-queue", "100pkt", "ns-3.31, drop-tail-queue.h: MaxSize 100p, of PointToPointNetDevice"),
        set(
            "network.ties",
            "scheduled",
            "ns-3.31, map-scheduler.cc: simultaneous events in the order in which they were scheduled",
        ),
        set(
            "network.non-ect",
            "drop",
            "ns-3.31, red-queue-disc.cc: with UseEcn, packets that should be marked but are not ECT are dropped",
        ),
        set("queue.red-weight", "0.002", "ns-3.31, red-queue-disc.cc: QW 0.002"),
        set("queue.red-max-p", "0.02", "ns-3.31, red-queue-disc.cc: LInterm 50, the inverse of the probability"),
        set("queue.red-gentle", "true", "ns-3.31, red-queue-disc.cc: Gentle true"),
        set("queue.red-wait", "true", "ns-3.31, red-queue-disc.cc: Wait true"),
        set("queue.red-hard-drop", "true", "ns-3.31, red-queue-disc.cc: UseHardDrop true; its dctcp-example sets false"),
    ],
};

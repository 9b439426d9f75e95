//! ns-3 as released in 2020, and in 2021 and 2022.

use super::{EnvironmentRow, set};

/// A setting of a release, with where its source has it.
macro_rules! of {
    ($release:literal, $key:literal, $value:expr, $($source:expr),+) => {
        set($key, $value, concat!("ns-", $release $(, $source)+))
    };
}

/// The stack of a release: what `transport.like` calls it, what it makes of a round trip of 0 ms, and what it has besides.
macro_rules! stack {
    ($release:literal, $like:literal, $zero:literal $(, $more:expr)*) => {
        &[
            of!($release, "mss", "536B", ", tcp-socket.cc: SegmentSize 536"),
            of!($release, "header", "52B", ", tcp-socket-base.cc: Timestamp true, 12 bytes besides 40 of IPv4 and TCP"),
            of!($release, "initial-window", "10mss", ", tcp-socket.cc: InitialCwnd 10"),
            of!($release, "receive-buffer", "131072B", ", tcp-socket.cc: RcvBufSize 131072"),
            of!($release, "ack-every", "2", ", tcp-socket.cc: DelAckCount 2"),
            of!($release, "ack-delay", "200ms", ", tcp-socket.cc: DelAckTimeout 0.2 s"),
            of!($release, "quickack", "1", ", tcp-socket-base.cc: the handshake leaves the count of delayed acknowledgements full"),
            of!($release, "duplicate-ack-threshold", "3", ", tcp-socket-base.cc: ReTxThreshold 3"),
            of!($release, "sack", "true", ", tcp-socket-base.cc: Sack true"),
            of!($release, "loss-detection", "dup-ack", " has no RACK"),
            of!($release, "limited-transmit", "true", ", tcp-socket-base.cc: LimitedTransmit true"),
            of!($release, "rtt-clock", "1ms", ", tcp-option-ts.cc: milliseconds; tcp-socket-base.cc, EstimateRtt: 0 ms ", $zero),
            of!($release, "like", $like, ", tcp-socket-base.cc and tcp-tx-buffer.cc"),
            of!($release, "window-validation", "false", ", tcp-socket-base.cc, ProcessAck: windows that are not used grow"),
            of!($release, "rto-min", "1s", ", tcp-socket-base.cc: MinRto 1 s"),
            of!($release, "rto-initial", "1s", ", rtt-estimator.cc: InitialEstimation 1 s"),
            of!($release, "rto-granularity", "1ms", ", tcp-socket-base.cc: ClockGranularity 1 ms"),
            of!($release, "rto-backoff-reset", "new-ack", ", tcp-socket-base.cc: every ACK of new data recomputes the RTO"),
            of!($release, "rto-after-syn-timeout", "1s", ", tcp-socket-base.cc, SendEmptyPacket: the last packet of the handshake recomputes the RTO"),
            of!($release, "syn-timeout", "3s", ", tcp-socket.cc: ConnTimeout 3 s"),
            of!($release, "syn-retries", "6", ", tcp-socket.cc: ConnCount 6"),
            of!($release, "ecn-syn", "true", ", tcp-socket-base.cc, AddSocketTags: in DCTCP mode every packet is ECT"),
            of!($release, "ecn-retransmit", "true", ", tcp-socket-base.cc, AddSocketTags: in DCTCP mode every packet is ECT"),
            of!($release, "ecn-ack", "true", ", tcp-socket-base.cc, AddSocketTags: in DCTCP mode every packet is ECT"),
            $($more,)*
        ]
    };
}

/// The switch of a release.
macro_rules! switch {
    ($release:literal) => {
        &[
            of!(
                $release,
                "network.buffer-counts",
                "waiting",
                ", point-to-point-net-device.cc: a packet leaves the queue before its transmission"
            ),
            of!(
                $release,
                "network.device-queue",
                "100pkt",
                ", drop-tail-queue.h: MaxSize 100p, of PointToPointNetDevice"
            ),
            of!(
                $release,
                "network.ties",
                "scheduled",
                ", map-scheduler.cc: simultaneous events in the order in which they were scheduled"
            ),
            of!(
                $release,
                "network.non-ect",
                "drop",
                ", red-queue-disc.cc: with UseEcn, packets that should be marked but are not ECT are dropped"
            ),
            of!($release, "queue.red-weight", "0.002", ", red-queue-disc.cc: QW 0.002"),
            of!($release, "queue.red-max-p", "0.02", ", red-queue-disc.cc: LInterm 50, the inverse of the probability"),
            of!($release, "queue.red-gentle", "true", ", red-queue-disc.cc: Gentle true"),
            of!($release, "queue.red-wait", "true", ", red-queue-disc.cc: Wait true"),
            of!(
                $release,
                "queue.red-hard-drop",
                "true",
                ", red-queue-disc.cc: UseHardDrop true; its dctcp-example sets false"
            ),
        ]
    };
}

pub(super) const NS3_2020: EnvironmentRow = EnvironmentRow {
    key: "ns3-2020",
    summary: "ns-3.31 with its defaults: minimum timeout 1 s, SACK, delayed acknowledgements, RED that drops (PFDCT).",
    manual: "\
The default attributes of ns-3.31 (June 2020), from `tcp-socket.cc`, `tcp-socket-base.cc`, `rtt-estimator.cc` and
`red-queue-disc.cc` of its source. Scripts almost always set the segment size.

**Why PFDCT.** The paper uses ns-3's names for its queues, and its enqueueing algorithm is that of `PrioQueueDisc`. Its rate, delay and
thresholds are those of the example `dctcp-example`, which first came with ns-3.31. The paper does not name the version. It was
submitted on 9 March 2023, when the versions up to 3.37 were out. Those from 3.34 on are the environment `ns3-2022`.

**The timeout** depends on more than `MinRto`. RTTs are measured with millisecond timestamps; an RTT measured as 0 ms is discarded
(`TcpSocketBase::EstimateRtt`). Until a connection has measured an RTT of a millisecond or more, its timeout is
`InitialEstimation`, 1 s. The `MinRto` of a script does not change that.

**Simultaneous events** are executed in the order in which they were scheduled. The end of a transmission is scheduled when it
begins. The arrival of an ACK is scheduled when the last switch begins to send it (`PointToPointNetDevice`, `PointToPointChannel`).
With packets of 1500 bytes at 1 Gbit/s this order depends on the delay of the links:

| delay of a link | this packet comes first |
|---|---|
| 10 us | one that waited for another packet of its host |
| 25 us | one that an ACK has just released |

**ECN.** With DCTCP every packet is ECT, including SYNs, pure ACKs and retransmissions.

**The device.** Below its queue disc every port has the queue of its device, 100 packets by default, which scripts seldom
change. The disc sees a packet only while that queue is full. So what a script gives as the buffer, and RED's thresholds, begin there.

**Loss recovery** is that of `transport.like = \"ns3.31\"`: the rules of `docs/validation/ns3.md` as this release has them. The ACK
that repairs a timeout does not grow the window. So a sender with one segment a window and delayed ACKs stays there. An echo
reduces the window with the next new segment. ns-3's own DCTCP is `scheme.dctcp.flavour = \"ns-3.31\"`, which a file must choose.

**Left out.** ns-3 aborts a connection at its seventh consecutive timeout. It installs FQ-CoDel on every device that has an address
and no queue discipline. The link layer's 2 bytes are not counted. The rules of this release were read in its source, and
not compared with runs of it.",
    stack: stack!("3.31", "ns3.31", "is discarded"),
    switch: switch!("3.31"),
};

pub(super) const NS3_2022: EnvironmentRow = EnvironmentRow {
    key: "ns3-2022",
    summary: "ns-3.34 to 3.37 with their defaults: as ns3-2020, but round trips of 0 ms count and echoes end recovery (PFDCT).",
    manual: "\
The default attributes of ns-3.36 (April 2022), from the same files as `ns3-2020`. The versions from 3.34 (July 2021) to 3.37 (November
2022) do not differ from it in what is modelled here.

| since | rule that `ns3-2020` does not have |
|---|---|
| 3.32 | The ACK that ends recovery grows the window. |
| 3.33 | An echo of congestion puts the sender into state CWR. That ends loss recovery and reduces the window at once. The window grows again only when all that was outstanding is acknowledged. |
| 3.33 | ns-3's own DCTCP (`scheme.dctcp.flavour = \"ns-3.36\"`) reduces the window by its estimate without a least window, also on loss. A window below one segment lets nothing through until the timer expires. |
| 3.34 | An RTT measured as 0 ms counts as 1 us, so that `MinRto` applies from the first RTT on. |

**Rate reduction.** Since 3.32 the default of `TcpL4Protocol::RecoveryType` is proportional rate reduction, in recovery and in state CWR.
`transport.like = \"ns3.36\"` has it, and needs SACK.

**Left out.** Since 3.34 the default of `SocketType` is CUBIC; here the file chooses the scheme. All else is left out as in `ns3-2020`. The
rules were read in the source of 3.36, and PFDCT's star was compared with runs of it (`docs/validation/ns3.md`).",
    stack: stack!("3.36", "ns3.36", "counts as 1 us", of!("3.36", "growth-after-echo", "false", ", tcp-socket-base.cc, ProcessAck: no growth in state CWR")),
    switch: switch!("3.36"),
};

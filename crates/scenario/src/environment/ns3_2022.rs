//! ns-3 as released in 2021 and 2022.

use super::{EnvironmentRow, set};

const EVERY_PACKET: &str = "ns-3.36, tcp-socket-base.cc, AddSocketTags: in DCTCP mode every packet is ECT";

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
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
    stack: &[
        set("mss", "536B", "ns-3.36, tcp-socket.cc: SegmentSize 536"),
        set("header", "52B", "ns-3.36, tcp-socket-base.cc: Timestamp true, 12 bytes besides 40 of IPv4 and TCP"),
        set("initial-window", "10mss", "ns-3.36, tcp-socket.cc: InitialCwnd 10"),
        set("receive-buffer", "131072B", "ns-3.36, tcp-socket.cc: RcvBufSize 131072"),
        set("ack-every", "2", "ns-3.36, tcp-socket.cc: DelAckCount 2"),
        set("ack-delay", "200ms", "ns-3.36, tcp-socket.cc: DelAckTimeout 0.2 s"),
        set("quickack", "1", "ns-3.36, tcp-socket-base.cc: the handshake leaves the count of delayed acknowledgements full"),
        set("duplicate-ack-threshold", "3", "ns-3.36, tcp-socket-base.cc: ReTxThreshold 3"),
        set("sack", "true", "ns-3.36, tcp-socket-base.cc: Sack true"),
        set("loss-detection", "dup-ack", "ns-3.36 has no RACK"),
        set("limited-transmit", "true", "ns-3.36, tcp-socket-base.cc: LimitedTransmit true"),
        set("rtt-clock", "1ms", "ns-3.36, tcp-option-ts.cc: milliseconds; tcp-socket-base.cc, EstimateRtt: 0 ms counts as 1 us"),
        set("like", "ns3.36", "ns-3.36, tcp-socket-base.cc and tcp-tx-buffer.cc"),
        set("window-validation", "false", "ns-3.36, tcp-socket-base.cc, ProcessAck: windows that are not used grow"),
        set("rto-min", "1s", "ns-3.36, tcp-socket-base.cc: MinRto 1 s"),
        set("rto-initial", "1s", "ns-3.36, rtt-estimator.cc: InitialEstimation 1 s"),
        set("rto-granularity", "1ms", "ns-3.36, tcp-socket-base.cc: ClockGranularity 1 ms"),
        set(
            "rto-backoff-reset",
            "new-ack",
            "ns-3.36, tcp-socket-base.cc: every ACK of new data recomputes the RTO",
        ),
        set(
            "rto-after-syn-timeout",
            "1s",
            "ns-3.36, tcp-socket-base.cc, SendEmptyPacket: the last packet of the handshake recomputes the RTO",
        ),
        set("syn-timeout", "3s", "ns-3.36, tcp-socket.cc: ConnTimeout 3 s"),
        set("syn-retries", "6", "ns-3.36, tcp-socket.cc: ConnCount 6"),
        set("growth-after-echo", "false", "ns-3.36, tcp-socket-base.cc, ProcessAck: no growth in state CWR"),
        set("ecn-syn", "true", EVERY_PACKET),
        set("ecn-retransmit", "true", EVERY_PACKET),
        set("ecn-ack", "true", EVERY_PACKET),
    ],
    switch: &[
        set(
            "network.buffer-counts",
            "waiting",
            "ns-3.36, point-to-point-net-device.cc: a packet leaves the queue before its transmission",
        ),
        set("network.device-queue", "100pkt", "ns-3.36, drop-tail-queue.h: MaxSize 100p, of PointToPointNetDevice"),
        set(
            "network.ties",
            "scheduled",
            "ns-3.36, map-scheduler.cc: simultaneous events in the order in which they were scheduled",
        ),
        set(
            "network.non-ect",
            "drop",
            "ns-3.36, red-queue-disc.cc: with UseEcn, packets that should be marked but are not ECT are dropped",
        ),
        set("queue.red-weight", "0.002", "ns-3.36, red-queue-disc.cc: QW 0.002"),
        set("queue.red-max-p", "0.02", "ns-3.36, red-queue-disc.cc: LInterm 50, the inverse of the probability"),
        set("queue.red-gentle", "true", "ns-3.36, red-queue-disc.cc: Gentle true"),
        set("queue.red-wait", "true", "ns-3.36, red-queue-disc.cc: Wait true"),
        set("queue.red-hard-drop", "true", "ns-3.36, red-queue-disc.cc: UseHardDrop true; its dctcp-example sets false"),
    ],
};

//! The code of RCC's authors, on ns-3.18.

use super::{EnvironmentRow, set};

const SCRIPTS: &str = "rdtcp, set by every script";

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "ns3.18-rdtcp",
    summary: "The published code of RCC's authors on ns-3.18: timeouts of 10 ms, initial window 1, ports of 120,000 bytes (RCC, RCCE).",
    manual: "\
The repository `thuxl/rdtcp` (commit 83bff6e): ns-3.18.1 with the sockets, the queue and the scripts of RCC's authors. All systems of their
figures share one socket class. The values are read from that code, and the program was run for comparison; the results are in
`docs/validation/rcc.md`.

**Loss recovery** departs from RFC 6582 in these rules, which `transport.like` turns on together.

- Any three duplicate ACKs start a fast retransmit, also after a recovery or a timeout (`tcp-newreno.cc`).
- A loss halves what is outstanding up to the highest sequence number sent (`tcp-socket-base.cc`, `BytesInFlight`).
- The third duplicate ACK lets out the retransmission alone.
- On a partial ACK new data goes before the next hole, and every partial ACK restarts the timer.
- The window is an unsigned whole number: a partial ACK of more than the window wraps it to nearly 4 GiB.
- After recovery the window is one segment more than was outstanding before, at most, and the full ACK grows it.
- A further timeout of the same segment halves the threshold again.
- An RTT sample is that of the last of the segments at the front of an ACK that were sent once (`rtt-estimator.cc`).

**Left out.** Its estimator truncates both terms of the RTO to whole milliseconds; with RTTs below one millisecond the RTO is therefore
exactly `rto-min`. Its ports mark packets whether they are ECT or not; here the schemes' own `mark-requires-ect` and queues decide this.",
    stack: &[
        set("mss", "1446B", "rdtcp: 1500 bytes with 20 of IP, 32 of TCP and 2 of PPP"),
        set("header", "54B", "rdtcp: 20 bytes of IP, 32 of TCP with three added words, 2 of PPP"),
        set("initial-window", "1mss", "ns-3.18, tcp-socket-base.cc: InitialCwnd 1"),
        set("initial-ssthresh", "65535B", "ns-3.18, tcp-socket-base.cc: SlowStartThreshold 65535"),
        set("receive-buffer", "128KiB", "ns-3.18, tcp-socket-base.cc: RcvBufSize 131072"),
        set("window-scale", "0", "ns-3.18 has no window scaling"),
        set("window-validation", "false", "ns-3.18 grows the window even if it does not limit the sender"),
        set("ack-every", "1", "rdtcp: acknowledgements are not delayed"),
        set("sack", "false", "ns-3.18 has no SACK"),
        set("limited-transmit", "false", "ns-3.18, tcp-newreno.cc: LimitedTransmit false"),
        set("duplicate-ack-window", "any", "ns-3.18, tcp-socket-base.cc: a duplicate ACK is recognised by its ACK number alone"),
        set("like", "ns3.18-rdtcp", "ns-3.18, tcp-newreno.cc and tcp-socket-base.cc; rdtcp, rtt-estimator.cc"),
        set("rto-backoff-reset", "sample", "rdtcp, rtt-estimator.cc, AckSeq: only a sample resets the multiplier"),
        set("ecn-retransmit", "true", "rdtcp: its ports mark any packet"),
        set("rto-min", "10ms", SCRIPTS),
        set("rto-initial", "10ms", SCRIPTS),
        set("rto-after-syn-timeout", "10ms", SCRIPTS),
        set("syn-timeout", "10ms", SCRIPTS),
    ],
    switch: &[
        set("network.buffer", "120000B", "rdtcp: 80 packets of 1500 bytes, counted in bytes"),
        set("network.buffer-full", "reached", "rdtcp: a packet is dropped only if the queue already holds that many bytes"),
        set("network.buffer-counts", "waiting", "ns-3.18, point-to-point-net-device.cc: a packet leaves the queue before its transmission"),
        set("network.ties", "waiting-first", "the order in which ns-3.18 schedules events with rdtcp's hosts"),
    ],
};

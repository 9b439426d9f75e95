//! Mininet 2.2 on Linux 3.16.

use super::{EnvironmentRow, set};

const RED: &str = "Mininet 2.2, link.py, enable_ecn: min 30000, max 35000, avpkt 1500, burst 20, probability 1";

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "mininet-2.2",
    summary: "Mininet 2.2 on Linux 3.16: Linux's TCP, and RED that drops packets which are not ECT instead of marking them (SDTCP).",
    manual: "\
Hosts are network namespaces of one Linux kernel, so their TCP is that kernel's. A link with a rate is an HTB class, with
`enable_ecn` a RED queue below it, and netem with `max_queue_size` below that (`mininet/link.py`, `TCIntf`). Values of Linux are
those of `include/net/tcp.h`, `net/ipv4/` and `net/sched/sch_red.c` of version 3.16.

**Inferred.** The clock's granularity: Ubuntu's kernels tick 250 times a second. Hosts are late by up to 10 us, as they share the
processors of one computer.

**RED.** `tc` converts a burst of 20 packets and a minimum of as many into the weight `0.5`. These keys apply if a scenario has
`queue.kind = \"red\"`.

**Left out.**

- Receive buffer autotuning (`tcp_moderate_rcvbuf`): buffers start at 87380 bytes and can grow to 6 MB.
  After a second alone, a flow's window is twice this sum: what small queues let wait, and the path's bandwidth-delay
  product. That is some 300 KB. Set `receive-buffer` to it to approximate it.
- Segmentation offload and GRO: packets between namespaces can be larger than a frame until netem divides them.
- Jiffies to which timeouts are rounded up, and the steps in which a window falls in a recovery (PRR).
- DCTCP: it came with Linux 3.18, so a paper that ran it on 3.16 patched its kernel.",
    stack: &[
        set("mss", "1448B", "Ethernet's 1500 bytes less 40 of headers and 12 of timestamps (tcp_timestamps 1)"),
        set("header", "52B", "tcp_timestamps 1: 12 bytes besides 40 of IPv4 and TCP"),
        set("initial-window", "10mss", "Linux 3.16: TCP_INIT_CWND 10"),
        set("receive-buffer", "87380B", "Linux 3.16: the middle value of tcp_rmem, where autotuning starts"),
        set("ack-every", "2", "Linux 3.16, __tcp_ack_snd_check: more than one full segment"),
        set("ack-delay", "40ms", "Linux 3.16: TCP_DELACK_MIN, HZ/25"),
        set("quickack", "16", "Linux 3.16: TCP_MAX_QUICKACKS 16"),
        set("sack", "true", "Linux 3.16: tcp_sack 1"),
        set(
            "loss-detection",
            "linux-3.16",
            "Linux 3.16: tcp_fack 1, tcp_early_retrans 3 (early retransmit and tail loss probes); RACK came with 4.4",
        ),
        set("limited-transmit", "true", "Linux 3.16: RFC 3042 is part of its recovery"),
        set("rto-min", "200ms", "Linux 3.16: TCP_RTO_MIN, HZ/5"),
        set("rto-initial", "1s", "Linux 3.16: TCP_TIMEOUT_INIT"),
        set("rto-max", "120s", "Linux 3.16: TCP_RTO_MAX"),
        set("rto-granularity", "4ms", "inferred: one tick of a kernel with HZ = 250, as Ubuntu builds it"),
        set("rto-backoff-limit", "15", "Linux 3.16: tcp_retries2 15"),
        set(
            "rto-backoff-reset",
            "new-ack",
            "Linux 3.16: with timestamps, the ACK of a retransmission is an RTT sample too",
        ),
        set("syn-timeout", "1s", "Linux 3.16: TCP_TIMEOUT_INIT"),
        set("syn-retries", "6", "Linux 3.16: TCP_SYN_RETRIES 6"),
        set("window-validation", "true", "Linux 3.16: tcp_is_cwnd_limited"),
        set("growth-after-echo", "false", "Linux 3.16, tcp_may_raise_cwnd: not while the window is being reduced (state CWR)"),
        set("byte-counting", "slow-start", "Linux 3.16, tcp_slow_start by acked, tcp_cong_avoid_ai by one for each ACK"),
        set("small-queue", "128KiB", "Linux 3.16: tcp_limit_output_bytes 131072"),
        set("idle-restart", "true", "Linux 3.16: tcp_slow_start_after_idle 1"),
    ],
    switch: &[
        set("network.buffer-counts", "waiting", "inferred: netem's limit counts packets not yet passed to the link"),
        set("network.host-jitter", "10us", "inferred: all hosts share the processors of one computer"),
        set(
            "network.non-ect",
            "drop",
            "Linux 3.16, sch_red.c: packets that should be marked but are not ECT are dropped; tc-red(8)",
        ),
        set("queue.red-min", "20", RED),
        set("queue.red-max", "23.333333", RED),
        set("queue.red-weight", "0.5", "iproute2, tc_red.c: the weight that fits a burst of 20 packets to that minimum"),
        set("queue.red-max-p", "1", RED),
        set("queue.red-drop", "true", "Linux 3.16, sch_red.c; tc-red(8): only ECN-capable packets are marked"),
    ],
};

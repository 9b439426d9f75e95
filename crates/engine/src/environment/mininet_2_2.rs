//! Mininet 2.2 on Linux 3.16.

use super::{EnvironmentRow, set};

const RED: &str = "Mininet 2.2, link.py, enable_ecn: min 30000, max 35000, avpkt 1500, burst 20, probability 1";

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "mininet-2.2",
    summary: "Mininet 2.2 on Linux 3.16: Linux's TCP, and RED that drops what it cannot mark (SDTCP).",
    manual: "\
Hosts are network namespaces of one Linux kernel, so their TCP is that kernel's. A link with a rate is an HTB class, with
`enable_ecn` a RED queue below it, and netem with `max_queue_size` below that (`mininet/link.py`, `TCIntf`). Values of Linux are
those of `include/net/tcp.h`, `net/ipv4/` and `net/sched/sch_red.c` of version 3.16.

**Inferred.** The clock's granularity: kernels of Ubuntu tick 250 times a second.

**RED.** `tc` turns a burst of 20 packets and a minimum of 20 into a weight of 1/2. These keys act where a scenario has
`queue.kind = \"red\"`.

**Left out.** The growth of receive buffers with the traffic (`tcp_moderate_rcvbuf`), which begin at 87380 bytes and may reach 6 MB;
TCP small queues, which hold back what a host's interface has not sent: 131072 bytes, or what the paced rate sends in about a
millisecond. A flow that has run alone for a second has a window of about twice that and its path, some 300 KB, which can be written as
`receive-buffer`. Also tail loss probes, which are here with RACK alone and came to Linux before it. Linux 3.16 has
no DCTCP: it came with 3.18, and a paper that ran it patched its kernel.",
    stack: &[
        set("mss", "1448B", "Ethernet's 1500 bytes less 40 of headers and 12 of time stamps (tcp_timestamps 1)"),
        set("header", "52B", "tcp_timestamps 1: 12 bytes beside 40 of IPv4 and TCP"),
        set("initial-window", "10mss", "Linux 3.16: TCP_INIT_CWND 10"),
        set("receive-buffer", "87380B", "Linux 3.16: the middle value of tcp_rmem, where automatic tuning begins"),
        set("ack-every", "2", "Linux 3.16, __tcp_ack_snd_check: more than one full segment"),
        set("ack-delay", "40ms", "Linux 3.16: TCP_DELACK_MIN, HZ/25"),
        set("quickack", "16", "Linux 3.16: TCP_MAX_QUICKACKS 16"),
        set("sack", "true", "Linux 3.16: tcp_sack 1"),
        set("loss-detection", "dup-ack", "Linux 3.16: RACK came with 4.4"),
        set("limited-transmit", "true", "Linux 3.16: RFC 3042 is part of its recovery"),
        set("rto-min", "200ms", "Linux 3.16: TCP_RTO_MIN, HZ/5"),
        set("rto-initial", "1s", "Linux 3.16: TCP_TIMEOUT_INIT"),
        set("rto-max", "120s", "Linux 3.16: TCP_RTO_MAX"),
        set("rto-granularity", "4ms", "inferred: one tick of a kernel with HZ = 250, as Ubuntu builds it"),
        set("rto-backoff-limit", "15", "Linux 3.16: tcp_retries2 15"),
        set(
            "rto-backoff-reset",
            "new-ack",
            "Linux 3.16: with time stamps the acknowledgement of a retransmission is a sample as well",
        ),
        set("syn-timeout", "1s", "Linux 3.16: TCP_TIMEOUT_INIT"),
        set("syn-retries", "6", "Linux 3.16: TCP_SYN_RETRIES 6"),
        set("window-validation", "true", "Linux 3.16: tcp_is_cwnd_limited"),
        set("idle-restart", "true", "Linux 3.16: tcp_slow_start_after_idle 1"),
    ],
    switch: &[
        set("network.buffer-counts", "waiting", "inferred: netem's limit counts what has not been given to the link"),
        set(
            "network.non-ect",
            "drop",
            "Linux 3.16, sch_red.c: what is due a mark and is not ECN-capable is dropped; tc-red(8)",
        ),
        set("queue.red-min", "20", RED),
        set("queue.red-max", "23.333333", RED),
        set("queue.red-weight", "0.5", "iproute2, tc_red.c: the weight that fits a burst of 20 packets to that minimum"),
        set("queue.red-max-p", "1", RED),
        set("queue.red-drop", "true", "Linux 3.16, sch_red.c; tc-red(8): only ECN-capable packets are marked"),
    ],
};

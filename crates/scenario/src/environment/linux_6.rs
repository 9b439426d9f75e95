//! Linux 6.

use super::{EnvironmentRow, set};

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "linux-6",
    summary: "What is below congestion control in Linux 6: RACK, tail loss probes, delayed ACKs, offloads, small queues.",
    manual: "\
The parts of Linux 6's TCP that do not depend on the congestion control, so that DCTCP or Reno can run on it as well as CUBIC. The
schemes `linux`, `linux-reno` and `linux-dctcp` use it unless a scenario names another stack. Values are those of `include/net/tcp.h`,
`net/ipv4/` and `net/core/`. It has no switch: ports are as in `rfc`.

**The wire.** Frames are Ethernet's: each packet takes 38 bytes more on every link, so 1,448 bytes of data take 1,538. `mtu = \"9000B\"`
gives jumbo frames, and `frame-overhead = \"0B\"` in `[network]` leaves the frames out.

**The host.** Interfaces interrupt at most every 8 us (adaptive moderation may choose 1 to 256 us: try others), GRO merges what an
interrupt hands over, TSO sends bursts of up to 64 KB, TCP small queues limit a flow's bytes in its host, and the host's queue is
that of the kernel's default. `gro = \"0B\"`, `tso = \"0B\"`, `small-queue = \"0B\"`, `host-queue = 0` and `interrupt-interval = \"0s\"` take each away.

**Timers.** The timeout is SRTT + max(`rto-min`, 4 RTTVAR), and it and the wait for a probe are whole ticks, 1 ms in a kernel with
`HZ = 1000`, as `rto-min` is: with `rto-min = \"1ms\"` a timeout takes 2 ms. Kernels with `HZ = 250` need `rto-granularity = \"4ms\"`: 8 ms. The timer wheel,
which may expire a tick later, is left out. A connection that is open before the run, or that the peer has opened, has measured the idle
path (`open-rtt`).

**Pacing** is off. Linux paces a flow only below the queueing discipline `fq`, or if its congestion control asks for it (BBR). The kernel's
default discipline is `pfifo_fast`; systemd, and with it most distributions, sets `fq_codel`, which does not pace. With
`net.core.default_qdisc = fq` write `pacing = \"fq\"`.

**Acknowledgements** are those of Linux's receiver (`ack-policy`): quick ones at first, then one for more than a segment; the delay
adapts and ends with a tick; a host that answers data soon lets its answer carry the acknowledgement, as the next request carries that of
the last answer's tail; SACKs are held back after three duplicates; duplicates are reported (DSACK). The window begins with 64 KB and grows with what
arrives, up to `receive-buffer`. Programs read at once.

**Left out.** Interrupts after a number of packets, and the adaptation of their interval; NAPI's budget of 64
packets and the time that a processor takes; the delay controller of `fq_codel` and its fair queues;
moderated completions of sent packets, for which small queues wait. The
estimator is that of RFC 6298: Linux's takes the largest variation of a round trip, and lowers it slowly.",
    stack: &[
        set("mss", "1448B", "Linux 6: Ethernet's 1500 bytes less 40 of headers and 12 of time stamps (tcp_timestamps 1)"),
        set("header", "52B", "Linux 6: tcp_timestamps 1, 12 bytes besides 40 of IPv4 and TCP"),
        set("initial-window", "10mss", "Linux 6: TCP_INIT_CWND 10"),
        set(
            "receive-buffer",
            "3MiB",
            "Linux 6, tcp_init: tcp_rmem grows to 6 MiB, half of it a window (tcp_adv_win_scale 1; since 6.6 as packets fill memory)",
        ),
        set("window-scale", "7", "Linux 6, tcp_select_initial_window: what 6 MiB of tcp_rmem need"),
        set("ack-policy", "linux", "Linux 6.12: __tcp_ack_snd_check, tcp_event_data_recv, tcp_send_delayed_ack"),
        set("ack-every", "2", "Linux 6, __tcp_ack_snd_check: more than one full segment"),
        set("ack-delay", "40ms", "Linux 6: TCP_DELACK_MIN, HZ/25"),
        set("quickack", "16", "Linux 6: TCP_MAX_QUICKACKS 16"),
        set("sack", "true", "Linux 6: tcp_sack 1"),
        set("loss-detection", "rack", "Linux 6: tcp_recovery 1"),
        set("tail-loss-probe", "true", "Linux 6: tcp_early_retrans 3"),
        set("probe-ack-delay", "rto-min", "Linux 6, tcp_schedule_loss_probe: tcp_rto_min, as a route may set it"),
        set("probe-margin", "2ms", "Linux 6, tcp_schedule_loss_probe: TCP_TIMEOUT_MIN_US"),
        set("rate-reduction", "proportional", "Linux 6, tcp_cwnd_reduction: proportional rate reduction"),
        set("limited-transmit", "true", "Linux 6: RFC 3042 is part of its recovery"),
        set("rto-min", "200ms", "Linux 6: TCP_RTO_MIN, HZ/5"),
        set("rto-min-bounds", "variation", "Linux 6, tcp_rtt_estimator and __tcp_set_rto: SRTT + max(tcp_rto_min, 4 RTTVAR)"),
        set("rto-granularity", "1ms", "Linux 6, usecs_to_jiffies: HZ 1000, as Fedora and Ubuntu since 24.10 build it; Debian 4ms"),
        set("rto-initial", "1s", "Linux 6: TCP_TIMEOUT_INIT"),
        set("rto-max", "120s", "Linux 6: TCP_RTO_MAX"),
        set("rto-backoff-limit", "15", "Linux 6: tcp_retries2 15"),
        set(
            "rto-backoff-reset",
            "new-ack",
            "Linux 6: with timestamps, the ACK of a retransmission is an RTT sample too",
        ),
        set("open-rtt", "idle-path", "Linux 6, tcp_rtt_estimator, tcp_update_rtt_min: an open connection has measured its path"),
        set("syn-timeout", "1s", "Linux 6: TCP_TIMEOUT_INIT"),
        set("window-validation", "true", "Linux 6: tcp_is_cwnd_limited"),
        set(
            "interrupt-interval",
            "8us",
            "Linux 6, lib/dim/net_dim.c: where adaptive interrupt moderation starts (NET_DIM_DEF_PROFILE_EQE)",
        ),
        set("gro", "64KiB", "Linux 6, netdevice.h: GRO_LEGACY_MAX_SIZE 65536, on by default"),
        set("tso", "64KiB", "Linux 6, netdevice.h: GSO_LEGACY_MAX_SIZE 65536, on by default"),
        set("pacing", "off", "Linux 6, sch_generic.c: pfifo_fast; systemd: fq_codel; neither paces"),
        set("small-queue", "1MiB", "Linux 6, tcp_ipv4.c: tcp_limit_output_bytes 16 * 65536 (4 MiB since 6.16)"),
        set("host-queue", "1000", "Linux 6, net/ethernet/eth.c, ether_setup: DEFAULT_TX_QUEUE_LEN 1000"),
        set("growth-after-echo", "false", "Linux 6, tcp_cong_control: not while the window is being reduced (state CWR)"),
        set(
            "network.frame-overhead",
            "38B",
            "IEEE 802.3: preamble 7, start delimiter 1, header 14, check sequence 4, gap of 12 bytes",
        ),
    ],
    switch: &[],
};

//! Linux 6.12.

use super::{EnvironmentRow, set};

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "linux-6.12",
    summary: "What is below congestion control in Linux 6.12: loss recovery, timers, delayed ACKs, offloads, small queues.",
    manual: "\
The parts of Linux 6.12's TCP that do not depend on the congestion control: CUBIC, DCTCP and Reno can all run on it. The
schemes `linux`, `linux-reno` and `linux-dctcp` use it unless a scenario names another stack. Values are those of `include/net/tcp.h`,
`net/ipv4/` and `net/core/`. It has no switch: ports are as in `rfc`. [Comparison with Linux](../validation/linux.md) shows the same runs in
the kernel itself.

**The wire.** Frames are Ethernet's: each packet takes 38 bytes more on every link. `mtu = \"9000B\"` gives jumbo frames, and
`frame-overhead = \"0B\"` in `[network]` leaves the frames out.

**The host.** Each part can be taken away:

| part | what it does | without it |
|---|---|---|
| interrupts | come at most every 8 us; adaptive moderation may choose 1 to 256 us, so try others | `interrupt-interval = \"0s\"` |
| GRO | merges what an interrupt hands over | `gro = \"0B\"` |
| TSO | sends bursts of up to 64 KB | `tso = \"0B\"` |
| TCP small queues | limit a flow's bytes in its host | `small-queue = \"0B\"` |
| the host's queue | is that of the kernel's default | `host-queue = 0` |

**Loss recovery** is the kernel's (`loss-detection = \"linux\"`). It finds losses by time (RACK) and sends tail loss probes. It reduces a
window in proportion to what is delivered (PRR). It takes a reduction back when time stamps, DSACKs or new data show that nothing was
lost (F-RTO).

**Timers.** A sender has one timer, for probe, search for losses and retransmission in turn. The timeout is SRTT + max(`rto-min`,
variation). Times are whole ticks, 1 ms in a kernel with `HZ = 1000`, and end with a slot of the timer wheel. So a timeout takes
2 to 3 ms with `rto-min = \"1ms\"`. With `rto-min = \"200ms\"` it takes up to 208 ms. Kernels with `HZ = 250` need `rto-granularity = \"4ms\"`.
A connection has measured its handshake (`open-rtt`).

Ticks begin with the run, on all hosts alike, as in the kernel of the comparison. So timers of many hosts send at one instant. In a rack,
hosts have clocks of their own: `ticks = \"apart\"` spreads the timers over a tick.

**Pacing** is off. Linux paces a flow only below the queueing discipline `fq`, or if its congestion control asks for it (BBR). The kernel's
default discipline is `pfifo_fast`; systemd, and with it most distributions, sets `fq_codel`, which does not pace. With
`net.core.default_qdisc = fq` write `pacing = \"fq\"`.

**Acknowledgements** are those of Linux's receiver (`ack-policy`):

- Quick acknowledgements come first, then one for more than a segment. The delay adapts, and ends with a tick.
- A host that answers data soon lets its answer carry the acknowledgement. The next request carries that of the last answer's tail.
- SACKs are held back after three duplicates. Duplicates are reported (DSACK).
- The window begins with 64 KB and grows with what arrives, up to `receive-buffer`. Programs read at once.

**Left out**, each with the size of its effect. `8x32KB` are 8 servers that answer with 32 KB each. The port has 10 Gbit/s and 100
packets. Times are medians over 20 rounds and 5 seeds.

| left out | effect |
|---|---|
| the adaptation of the interrupts' interval, and interrupts after a number of packets | the next table |
| NAPI's budget of 64 packets | none below 100 Gbit/s, where 65 full packets come within 8 us |
| the time that a processor takes, which is zero in the kernel of the comparison as well | if each packet takes up to 2 us more in its sender (`host-jitter`): `8x32KB` takes 0.250 ms in place of 0.247 ms, and `32x32KB` 8.97 ms in both cases |
| the delay controller of `fq_codel`, and its fair queues | not measured. Its target of 5 ms is seldom reached: small queues leave about a millisecond of a connection at its pacing rate in the host's queue, at most 1 MiB |
| moderated completions of sent packets, for which small queues wait | none: even without small queues the times are the same, 0.247 ms for `8x32KB`, 9.0 ms for `32x32KB` and 8.1 ms for `16x256KB` |
| a socket's send buffer: it is full early in a long write, and what had room leaves as one short segment, which breaks a rhythm | two long flows of Reno at 1 Gbit/s into 65 packets send 22.8 and 21.4 MB in 400 ms in the kernel, and 1.5 and 42.6 MB here; without TSO both are as here |
| a server's timer for its SYN-ACK, and the window of one segment after one was lost | none: the client's SYN comes again after as long, so that a lost SYN-ACK costs 1.04 s in both |
| SACK on acknowledgements that data carry, and acknowledgements older than the last | none while requests are short. With requests of 32 KB and hosts without offloads, `32x32KB` takes 7.00 ms in the kernel and 5.21 ms here, with 2,900 and 1,760 retransmissions a run. It is not proven that this is the cause |

| interval of interrupts | `8x32KB` [ms] | `32x32KB`, which loses packets [ms] |
|---:|---:|---:|
| 0 | 0.240 | 10.0 |
| 8 us | 0.247 | 9.0 |
| 64 us | 0.279 | 8.2 |
| 256 us | 0.791 | 9.5 |",
    stack: &[
        set("mss", "1448B", "Linux 6.12: Ethernet's 1500 bytes less 40 of headers and 12 of time stamps (tcp_timestamps 1)"),
        set("header", "52B", "Linux 6.12: tcp_timestamps 1, 12 bytes besides 40 of IPv4 and TCP"),
        set("initial-window", "10mss", "Linux 6.12: TCP_INIT_CWND 10"),
        set(
            "receive-buffer",
            "3MiB",
            "Linux 6.12, tcp_init: tcp_rmem grows to 6 MiB, half of it a window (tcp_adv_win_scale 1; since 6.6 as packets fill memory)",
        ),
        set("window-scale", "7", "Linux 6.12, tcp_select_initial_window: what 6 MiB of tcp_rmem need"),
        set("ack-policy", "linux", "Linux 6.12: __tcp_ack_snd_check, tcp_event_data_recv, tcp_send_delayed_ack"),
        set("ack-every", "2", "Linux 6.12, __tcp_ack_snd_check: more than one full segment"),
        set("ack-delay", "40ms", "Linux 6.12: TCP_DELACK_MIN, HZ/25"),
        set("quickack", "16", "Linux 6.12: TCP_MAX_QUICKACKS 16"),
        set("sack", "true", "Linux 6.12: tcp_sack 1"),
        set("loss-detection", "linux", "Linux 6.12: tcp_recovery 1, tcp_frto 2, tcp_dsack 1"),
        set("tail-loss-probe", "true", "Linux 6.12: tcp_early_retrans 3"),
        set("rto-min", "200ms", "Linux 6.12: TCP_RTO_MIN, HZ/5"),
        set("rto-granularity", "1ms", "Linux 6.12, usecs_to_jiffies: HZ 1000, as Fedora and Ubuntu since 24.10 build it; Debian 4ms"),
        set("rto-initial", "1s", "Linux 6.12: TCP_TIMEOUT_INIT"),
        set("rto-max", "120s", "Linux 6.12: TCP_RTO_MAX"),
        set("open-rtt", "idle-path", "Linux 6.12, tcp_rtt_estimator, tcp_update_rtt_min: an open connection has measured its path"),
        set("syn-timeout", "1s", "Linux 6.12: TCP_TIMEOUT_INIT"),
        set("syn-retries", "10", "Linux 6.12, tcp_write_timeout: tcp_syn_retries 6, and tcp_syn_linear_timeouts 4"),
        set("window-validation", "true", "Linux 6.12: tcp_is_cwnd_limited"),
        set("byte-counting", "on", "Linux 6.12, tcp_slow_start, tcp_cong_avoid_ai: both by acknowledged segments"),
        set(
            "interrupt-interval",
            "8us",
            "Linux 6.12, lib/dim/net_dim.c: where adaptive interrupt moderation starts (NET_DIM_DEF_PROFILE_EQE)",
        ),
        set("gro", "64KiB", "Linux 6.12, netdevice.h: GRO_LEGACY_MAX_SIZE 65536, on by default"),
        set("tso", "64KiB", "Linux 6.12, netdevice.h: GSO_LEGACY_MAX_SIZE 65536, on by default"),
        set("pacing", "off", "Linux 6.12, sch_generic.c: pfifo_fast; systemd: fq_codel; neither paces"),
        set("small-queue", "1MiB", "Linux 6.12, tcp_ipv4.c: tcp_limit_output_bytes 16 * 65536 (4 MiB since 6.16)"),
        set("host-queue", "1000", "Linux 6.12, net/ethernet/eth.c, ether_setup: DEFAULT_TX_QUEUE_LEN 1000"),
        set(
            "network.frame-overhead",
            "38B",
            "IEEE 802.3: preamble 7, start delimiter 1, header 14, check sequence 4, gap of 12 bytes",
        ),
    ],
    switch: &[],
};

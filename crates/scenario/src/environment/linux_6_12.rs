//! Linux 6.12.

use super::{EnvironmentRow, set};

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "linux-6.12",
    summary: "What is below congestion control in Linux 6.12: loss recovery, timers, delayed ACKs, offloads, small queues.",
    manual: "\
The parts of Linux 6.12's TCP that do not depend on the congestion control. DCTCP or Reno can run on it as well as CUBIC. The schemes
`linux`, `linux-reno` and `linux-dctcp` use it unless a scenario names another stack. Values are those of `include/net/tcp.h`, `net/ipv4/`
and `net/core/`. It has no switch: ports are as in `rfc`. [Comparison with Linux](../validation/linux.md) says how it does beside the kernel
itself.

**The wire.** Frames are Ethernet's: each packet takes 38 bytes more on every link, so 1,448 bytes of data take 1,538. `mtu = \"9000B\"`
gives jumbo frames, and `frame-overhead = \"0B\"` in `[network]` leaves the frames out.

**The host.** Interfaces interrupt at most every 8 us. Adaptive moderation may choose 1 to 256 us: try other values. GRO merges what an
interrupt hands over, and TSO sends bursts of up to 64 KB. TCP small queues limit a flow's bytes in its host, and the host's queue is that
of the kernel's default. `gro = \"0B\"`, `tso = \"0B\"`, `small-queue = \"0B\"`, `host-queue = 0` and `interrupt-interval = \"0s\"` take
each away.

**Loss recovery** is the kernel's (`loss-detection = \"linux\"`): losses found by time (RACK), a window reduced in proportion to what is
delivered (PRR), and tail loss probes. A reduction is taken back when time stamps, DSACKs or new data show that nothing was lost (F-RTO).

**Timers.** A sender has one timer, for probe, search for losses and retransmission in turn. The timeout is SRTT + max(`rto-min`,
variation). All are whole ticks, 1 ms in a kernel with `HZ = 1000`. They expire at the end of a slot of the timer wheel. With
`rto-min = \"1ms\"` a timeout takes 2 to 3 ms, and with 200 ms up to 208 ms. Kernels with `HZ = 250` need `rto-granularity = \"4ms\"`. Ticks
begin with the run, on all hosts alike, as in the kernel of the comparison: timers of many hosts send at one instant. `ticks = \"apart\"`
spreads them over a tick, as in a rack, whose hosts have clocks of their own. A connection has measured its handshake (`open-rtt`).

**Pacing** is off. Linux paces a flow only below the queueing discipline `fq`, or if its congestion control asks for it (BBR). The kernel's
default discipline is `pfifo_fast`; systemd, and with it most distributions, sets `fq_codel`, which does not pace. With
`net.core.default_qdisc = fq` write `pacing = \"fq\"`.

**Acknowledgements** are those of Linux's receiver (`ack-policy`): quick ones at first, then one for more than a segment. The delay adapts
and ends with a tick. A host that answers data soon lets its answer carry the acknowledgement. The next request carries the acknowledgement
of the last answer's tail. SACKs are held back after three duplicates, and duplicates are reported (DSACK). The window begins with 64 KB and
grows with what arrives, up to `receive-buffer`. Programs read at once.

**Left out**, each with the size of its effect. `8x32KB` means 8 servers that answer with 32 KB each, at 10 Gbit/s into 100 packets, on the
hosts of this page. Times are medians of 100 queries (20 rounds, 5 seeds).

- The adaptation of the interrupts' interval, and interrupts after a number of packets. With intervals of 0, 8, 64 and 256 us `8x32KB` takes
  0.240, 0.247, 0.279 and 0.791 ms. `32x32KB`, which loses packets, takes 10.0, 9.0, 8.2 and 9.5 ms.
- NAPI's budget of 64 packets: none below 100 Gbit/s, where 65 full packets come within 8 us.
- The time that a processor takes, which is zero in the kernel of the comparison as well. If each packet takes up to 2 us more in its sender
  (`host-jitter`), `8x32KB` takes 0.250 ms instead of 0.247 ms. `32x32KB` takes 8.97 ms in both cases.
- The delay controller of `fq_codel` and its fair queues. Its target is 5 ms. Small queues leave about a millisecond of a connection, at its
  pacing rate, in the host's queue, and 1 MiB at most. So the target is seldom reached. Not measured.
- Moderated completions of sent packets, for which small queues wait. Even without small queues `8x32KB` and `32x32KB` take the same time
  (0.247 and 9.0 ms), and so do queries of `16x256KB` (8.1 ms).
- A socket's send buffer. It is full early in a long write, and what had room leaves as one short segment, which breaks a rhythm. Take two
  long flows of Reno at 1 Gbit/s into 65 packets. In 400 ms they send 22.8 and 21.4 MB in the kernel, and 1.5 and 42.6 MB here. Without TSO
  both are as here.
- A receive window beyond 1.3 MB. In the kernel it grows to 2.1 MB. It counts in long flows alone.
- A server's timer for its SYN-ACK, and the window of one segment after one was lost. The client's SYN comes again after as long, so that
  a lost SYN-ACK costs 1.04 s in both.
- SACK on acknowledgements that data carry, and acknowledgements older than the last. Nothing is lost by that while requests are short. If
  they have 32 KB as well, `32x32KB` on hosts without offloads takes 7.00 ms in the kernel and 5.21 ms here. Retransmissions are 2,900 and
  1,760 a run. It is not proven that this is the cause.",
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

//! Linux 6.

use super::{EnvironmentRow, set};

pub(super) const ROW: EnvironmentRow = EnvironmentRow {
    key: "linux-6",
    summary: "TCP below the congestion control as Linux 6 runs it: RACK, tail loss probes, delayed acknowledgements.",
    manual: "\
The parts of Linux 6's TCP that do not depend on the congestion control, so that DCTCP or Reno can run on it as well as CUBIC. The
scheme `linux` uses it unless a scenario names another stack. Values are those of `include/net/tcp.h` and `net/ipv4/`.

It has no switch: ports are as in `rfc`.

**Left out.** Receive buffer autotuning, TCP small queues, offloads and pacing (except in schemes that pace themselves, as
BBR does) are not simulated. Linux adapts the delayed-ACK timeout; here it is fixed at the minimum.",
    stack: &[
        set("initial-window", "10mss", "Linux 6: TCP_INIT_CWND 10"),
        set("ack-every", "2", "Linux 6, __tcp_ack_snd_check: more than one full segment"),
        set("ack-delay", "40ms", "Linux 6: TCP_DELACK_MIN, HZ/25"),
        set("quickack", "16", "Linux 6: TCP_MAX_QUICKACKS 16"),
        set("sack", "true", "Linux 6: tcp_sack 1"),
        set("loss-detection", "rack", "Linux 6: tcp_recovery 1"),
        set("tail-loss-probe", "true", "Linux 6: tcp_early_retrans 3"),
        set("probe-ack-delay", "200ms", "Linux 6, tcp_schedule_loss_probe: the minimum retransmission timeout"),
        set("probe-margin", "2ms", "Linux 6: TCP_TIMEOUT_MIN, two ticks of a millisecond"),
        set("rate-reduction", "proportional", "Linux 6, tcp_cwnd_reduction: proportional rate reduction"),
        set("limited-transmit", "true", "Linux 6: RFC 3042 is part of its recovery"),
        set("rto-min", "200ms", "Linux 6: TCP_RTO_MIN, HZ/5"),
        set("rto-initial", "1s", "Linux 6: TCP_TIMEOUT_INIT"),
        set("rto-max", "120s", "Linux 6: TCP_RTO_MAX"),
        set("rto-backoff-limit", "15", "Linux 6: tcp_retries2 15"),
        set(
            "rto-backoff-reset",
            "new-ack",
            "Linux 6: with timestamps, the ACK of a retransmission is an RTT sample too",
        ),
        set("syn-timeout", "1s", "Linux 6: TCP_TIMEOUT_INIT"),
        set("window-validation", "true", "Linux 6: tcp_is_cwnd_limited"),
        set("growth-after-echo", "false", "Linux 6, tcp_cong_control: not while the window is being reduced (state CWR)"),
    ],
    switch: &[],
};

//! The sender of Linux 6.12 below congestion control: `net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_recovery.c` and
//! `tcp_timer.c`, whose functions are named here. It replaces RFC 6582 and RFC 6675 where `transport.loss-detection` is `linux`.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | its state |
//! | `acks.rs` | what an acknowledgement says of segments, `tcp_ack` |
//! | `alert.rs` | what follows from it: the states of `tcp_fastretrans_alert` |
//! | `reduction.rs` | reductions of the window (PRR), and their undoing |
//! | `scoreboard.rs` | the segments in flight |
//! | `rtt.rs` | round-trip times |
//! | `timers.rs` | the one timer: reordering, tail loss probe, retransmission |
//! | `output.rs` | what is sent, and whether the window limits it |
//!
//! Windows and counts are in segments, as in the kernel; times in whole microseconds, time stamps in milliseconds.
//! Simpler than Linux: each segment is one of its own where Linux keeps what one burst sent together; receivers keep what they
//! have reported; an ACK older than the last is ignored.

mod acks;
mod alert;
mod output;
mod reduction;
mod rtt;
mod scoreboard;
mod timers;

use super::{Env, Sender, SenderConfig};
use fanin_core::units::{Time, real};
use rtt::Rtt;
use scoreboard::Scoreboard;
pub(super) use timers::SYN_LINEAR_TIMEOUTS;

/// `icsk_ca_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CaState {
    #[default]
    Open,
    /// Something was reported beyond a hole, or sent again.
    Disorder,
    /// The window is being reduced for an echo.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// For what the one timer runs: `icsk_pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Reordering,
    Probe,
    Retransmission,
}

/// Why the window is to be reduced, which congestion control is asked once it has seen the acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduction {
    Echo,
    Loss,
}

/// What may leave after an acknowledgement, besides new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resend {
    Nothing,
    /// `REXMIT_LOST`
    Lost,
    /// `REXMIT_NEW`: new data first, to find out whether a timeout was spurious.
    NewFirst,
}

/// `struct tcp_rack`.
#[derive(Clone, Copy, Debug)]
struct Rack {
    /// `mstamp` and `end_seq`: the segment sent last among those delivered.
    newest: (u64, u64),
    /// `rtt_us`
    rtt: u64,
    /// Something was delivered since the last search.
    advanced: bool,
    /// `reo_wnd_steps`
    steps: u64,
    /// `reo_wnd_persist`
    persist: u32,
    dsack_seen: bool,
    last_delivered: u32,
}

/// Of `struct tcp_sock` what only this sender needs.
#[derive(Debug)]
pub(super) struct Linux {
    board: Scoreboard,
    rtt: Rtt,
    rack: Rack,
    state: CaState,
    pending: Option<Pending>,
    armed_at: Time,
    /// When the timer comes, needed or not, and never before it is set: one that is stopped stays on the wheel
    /// (`inet_csk_clear_xmit_timer`).
    on_wheel: Time,
    /// How long before the run the tick began that runs at its start.
    tick_begun: Time,
    high_seq: u64,
    /// Segments delivered so far, lost so far, and retransmitted so far.
    delivered: u32,
    lost: u32,
    total_retrans: u32,
    /// `icsk_retransmits`: timeouts since something new was acknowledged.
    retransmits: u32,
    frto: bool,
    /// `tlp_high_seq` and `tlp_retrans` of the probe in flight.
    probe: Option<(u64, bool)>,
    reordering: u32,
    reordering_seen: bool,
    dsack_dups: u32,
    /// `prior_ssthresh` in bytes, `prior_cwnd`: for undoing.
    prior_ssthresh: Option<f64>,
    prior_cwnd: u64,
    undo_marker: Option<u64>,
    /// `undo_retrans`; none is the kernel's -1.
    undo_retrans: Option<u32>,
    /// `retrans_stamp`: of the first retransmission of an episode, in ms.
    retrans_stamp: Option<u64>,
    prr_delivered: u64,
    prr_out: u64,
    reduction: Option<Reduction>,
    /// The time stamp that the present acknowledgement echoes, in ms.
    echo: Option<u64>,
    /// `is_cwnd_limited`, `max_packets_out`, `cwnd_usage_seq`.
    limited: bool,
    max_packets_out: u32,
    usage_end: u64,
    /// `snd_cwnd_used` and `snd_cwnd_stamp`; `lsndtime`. Both times in ticks.
    used: u32,
    window_stamp: u64,
    last_sent: u64,
    /// `sk_pacing_rate`, once there was an acknowledgement.
    pacing_rate: Option<f64>,
    /// Room for the segments that an acknowledgement reports.
    news: Vec<usize>,
}

/// `sysctl_tcp_max_reordering`.
const MAX_REORDERING: u32 = 300;
/// `TCP_RACK_RECOVERY_THRESH`: recoveries for which a widened reordering window stays.
const PERSIST: u32 = 16;

/// `tcp_time_stamp_ms`: what a time stamp says of a time in us.
const fn stamp(us: u64) -> u64 {
    us / 1000
}

/// The kernel's clock, in ticks.
fn tick<I>(env: &Env<'_, I>) -> u64 {
    env.cfg.rto.ticks().at(env.now)
}

impl Linux {
    pub(super) fn new(cfg: &SenderConfig) -> Self {
        Self {
            board: Scoreboard::default(),
            rtt: Rtt::default(),
            rack: Rack {
                newest: (0, 0),
                rtt: 0,
                advanced: false,
                steps: 1,
                persist: 0,
                dsack_seen: false,
                last_delivered: 0,
            },
            state: CaState::Open,
            pending: None,
            armed_at: Time::ZERO,
            on_wheel: Time::NEVER,
            tick_begun: Time::ZERO,
            high_seq: 0,
            delivered: 0,
            lost: 0,
            total_retrans: 0,
            retransmits: 0,
            frto: false,
            probe: None,
            reordering: cfg.duplicate_ack_threshold,
            reordering_seen: false,
            dsack_dups: 0,
            prior_ssthresh: None,
            prior_cwnd: 0,
            undo_marker: None,
            undo_retrans: None,
            retrans_stamp: None,
            prr_delivered: 0,
            prr_out: 0,
            reduction: None,
            echo: None,
            limited: false,
            max_packets_out: 0,
            usage_end: 0,
            used: 0,
            window_stamp: 0,
            last_sent: 0,
            pacing_rate: None,
            news: Vec::new(),
        }
    }

    pub(super) fn state(&self) -> CaState {
        self.state
    }
    /// `icsk_rto`
    pub(super) fn timeout(&self, cfg: &SenderConfig) -> Time {
        cfg.rto.ticks().0 * self.rtt.timeout(&cfg.rto)
    }
    /// `sk_pacing_rate` in bytes per second, once there was an acknowledgement.
    pub(super) fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }
    /// The least round-trip time, once there was one.
    pub(super) fn least_rtt(&self) -> Option<Time> {
        (self.rtt.least > 0).then(|| Time::from_us(self.rtt.least))
    }
    /// How long the timer runs that is pending, once it expires at `deadline`.
    pub(super) fn runs(&self, deadline: Time) -> Time {
        deadline.saturating_sub(self.armed_at)
    }
    pub(super) fn begin_tick_before(&mut self, begun: Time) {
        self.tick_begun = begun;
    }
    /// `inet_csk_clear_xmit_timer`
    pub(super) fn clear_timer(&mut self) {
        self.pending = None;
    }
    /// When the timer was set that is pending.
    pub(super) fn armed_at(&self) -> Option<Time> {
        self.pending.map(|_| self.armed_at)
    }
    /// Whether the window is being reduced: `tcp_in_cwnd_reduction`.
    fn reduces(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }
}

impl Sender {
    fn linux(&mut self) -> &mut Linux {
        self.linux.as_mut().expect("only senders as in Linux come here")
    }

    /// `snd_cwnd`.
    fn segments(&self, cfg: &SenderConfig) -> u64 {
        (self.window.cwnd / real(cfg.mss)) as u64
    }

    fn set_segments(&mut self, segments: u64, cfg: &SenderConfig) {
        self.window.cwnd = real(segments * cfg.mss);
    }

    /// `tcp_current_ssthresh`, in bytes.
    fn current_threshold(&self, cfg: &SenderConfig) -> f64 {
        let reduces = self.linux.as_ref().is_some_and(|linux| linux.reduces());
        let cwnd = self.segments(cfg);
        let most = real(((cwnd >> 1) + (cwnd >> 2)) * cfg.mss);
        if reduces { self.window.ssthresh } else { self.window.ssthresh.max(most) }
    }

    /// A first round-trip time, of the handshake.
    pub(super) fn take_linux_handshake<I>(&mut self, rtt: Time, env: &Env<'_, I>) {
        let (una, nxt, us) = (self.una, self.nxt, rtt.us());
        self.take_rtt(us, us, una, nxt, env.cfg);
    }

    /// A sample: `tcp_ack_update_rtt` from where both times are known.
    fn take_rtt(&mut self, us: u64, newest: u64, una: u64, nxt: u64, cfg: &SenderConfig) {
        let linux = self.linux();
        linux.rtt.on_least(newest, &cfg.rto);
        linux.rtt.on_sample(us, una, nxt, &cfg.rto);
        let smoothed = linux.rtt.eightfold().map(|eightfold| Time::from_us(eightfold >> 3));
        self.estimator.show(smoothed);
    }
}

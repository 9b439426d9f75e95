//! The sending half of one flow: handshake, sliding window, NewReno loss recovery, retransmission timer.
//!
//! A sans-I/O state machine after RFC 9293 (connection, window), 5681 (congestion control), 6582 (NewReno),
//! 3042 (limited transmit), 6298 (timer) and 3168 (ECN); the SACK-based recovery of RFC 6675 is in
//! `sack_recovery.rs`, the time-based one of RFC 8985 in `rack_recovery.rs`. How the window moves is the business of a [`CongestionControl`].
//!
//! Sequence numbers are 64 bits wide and count bytes: the SYN is 0, the first data byte 1, and the FIN takes the
//! number after the last byte. Left out, on purpose: URG, Nagle's algorithm (an application that writes whole
//! answers never waits for it), the retransmission of the receiver's own FIN (see `sim::endpoints`), and the pause of
//! RFC 3168 section 6.1.2 for an echo at a window of one segment (deployed stacks keep sending that segment).

use crate::packet::Flags;
use crate::roles::{AckEvent, CongestionControl, CongestionWindow, PacketFacts, SenderCx, TransferFacts};
use crate::tcp::rack_recovery::{RackConfig, Timed};
use crate::tcp::rto::{RtoConfig, RtoEstimator};
use crate::tcp::sack::{SackBlocks, SackConfig, Scoreboard};
use crate::tcp::{EcnMode, FIRST_DATA};
use crate::units::Time;

/// What all senders of one traffic group have in common.
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Initial window in bytes (RFC 6928).
    pub initial_window: u64,
    /// Initial slow-start threshold in bytes (RFC 5681 section 3.1).
    pub initial_ssthresh: u64,
    /// Duplicate acknowledgements that signal a loss (RFC 5681 section 3.2).
    pub duplicate_ack_threshold: u32,
    /// Without SACK an acknowledgement that repeats the number is a duplicate whatever window it has; else the window
    /// must be the same (RFC 5681 section 2 (e)).
    pub any_window_is_duplicate: bool,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Losses told by time (RFC 8985), which needs SACK; none tells them by duplicates.
    pub rack: Option<RackConfig>,
    /// New segments on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Only the first partial acknowledgement of a recovery restarts the timer (RFC 6582 section 4, "impatient").
    pub impatient: bool,
    /// A partial acknowledgement lets new data out before the next hole is sent again, as ns-3.18 does.
    pub new_data_first: bool,
    /// The window after a full acknowledgement is bound by what was outstanding before it, and grows with it, as in
    /// ns-3.18.
    pub full_ack_grows: bool,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Any acknowledgement of new data ends the timer's backoff, not only one that gives a round-trip sample.
    pub backoff_ends_on_new_ack: bool,
    /// Timer value after a handshake in which the SYN timed out (RFC 6298 section 5.7).
    pub rto_after_syn_timeout: Time,
    /// First SYN timeout; doubles with each try.
    pub syn_timeout: Time,
    /// SYN retransmissions before the sender gives up.
    pub syn_retries: u32,
    /// A window unused for longer than the timer value falls back to the initial one (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// A window that is not used does not grow (RFC 7661 section 4.3).
    pub window_validation: bool,
    /// SYN and SYN-ACK are sent ECN-capable (RFC 5562, and what DCTCP deployments do).
    pub ecn_syn: bool,
    /// Retransmissions are sent ECN-capable.
    pub ecn_retransmit: bool,
}

/// A segment that leaves the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutSegment {
    /// First sequence number.
    pub seq: u64,
    /// Payload in bytes.
    pub len: u64,
    /// SYN, FIN, CWR, ECT and the retransmission mark.
    pub flags: Flags,
}

/// What a sender needs from the world around it.
pub trait SenderIo {
    /// Every new deadline becomes a timer event, and those of earlier ones come too. The naive way, for the tests;
    /// otherwise there is one event for the earliest, which moves on when it comes.
    const EAGER_TIMERS: bool = false;
    /// Put a segment into the host's network interface; `facts` go into the packet.
    fn transmit(&mut self, segment: OutSegment, facts: &PacketFacts);
    /// Call [`Sender::on_timer`] at `at`.
    fn retransmission_timer(&mut self, at: Time);
    /// Call [`Sender::on_pace`] at `at`.
    fn pacing_timer(&mut self, at: Time);
    /// Call [`Sender::on_wake`] at `at`.
    fn wake_timer(&mut self, at: Time);
}

/// An acknowledgement as it comes from the wire, unwrapped and unscaled.
#[derive(Clone, Copy, Debug)]
pub struct InAck<'a> {
    /// Acknowledgement number.
    pub ack: u64,
    /// Advertised window in bytes.
    pub window: u64,
    /// SYN (of the SYN-ACK), ECE and PSH.
    pub flags: Flags,
    /// Round-trip time of the segment that caused it, unless that was a retransmission.
    pub rtt: Option<Time>,
    /// SACK blocks, if any.
    pub sack: Option<&'a SackBlocks>,
    /// Echoed in-band field.
    pub field: u64,
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing sent yet.
    Closed,
    /// SYN sent.
    SynSent,
    /// Open.
    Established,
    /// The FIN was acknowledged.
    Finished,
    /// The SYN was repeated too often.
    Failed,
}

/// What an expired timer meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerOutcome {
    /// It had been moved or stopped; nothing happened.
    Idle,
    /// The SYN was sent again.
    SynTimeout,
    /// The handshake was given up.
    Failed,
    /// A retransmission timeout.
    Timeout,
    /// The peer's window was closed; a probe was sent (RFC 9293 section 3.8.6.1).
    WindowProbe,
    /// No acknowledgement came for two round trips; a probe was sent (RFC 8985 section 7.3).
    LossProbe,
    /// What may have been out of order only was looked at again (RFC 8985 section 6.2 step 5).
    Reordering,
}

/// Loss recovery in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// None.
    Open,
    /// RFC 6582 step 3; `partial` once a partial acknowledgement was seen.
    NewReno { partial: bool },
    /// RFC 6675 section 5.
    Sack,
    /// RFC 8985: whether there is recovery is known to [`Timed`].
    Rack,
}

/// The sending half of one flow. What every acknowledgement needs comes first, in four cache lines.
#[repr(C)]
pub struct Sender {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// One past the highest sequence number ever sent.
    pub(crate) max_sent: u64,
    /// One past the last byte that the application has given; `u64::MAX / 2` for endless data.
    pub(crate) data_end: u64,
    /// One past the last byte that the peer's window allows.
    pub(crate) peer_edge: u64,
    pub(crate) window: CongestionWindow,
    /// When the timer expires; never, if stopped.
    pub(crate) deadline: Time,

    /// The earliest timer event that is pending: deadlines move without touching the event queue.
    timer_at: Time,
    /// The most that was outstanding since `round_end` was set to what had been sent then.
    most_in_flight: u64,
    round_end: u64,
    last_sent: Time,
    wake_at: Time,
    wake_armed: Time,
    pub(crate) cc: Box<dyn CongestionControl>,

    pub(crate) estimator: RtoEstimator,
    pub(crate) packet: PacketFacts,
    /// Segments and SYNs sent.
    pub segments_sent: u64,
    /// Segments sent that had been sent before.
    pub retransmissions: u64,

    pub(crate) scoreboard: Option<Box<Scoreboard>>,
    /// Loss detection by time, where it is on.
    pub(super) timed: Option<Box<Timed>>,
    /// Bytes sent by limited transmit, which do not count as outstanding when loss is detected.
    pub(crate) limited_bytes: u64,
    /// The window was reduced for data up to this; one reduction per round trip (RFC 3168 section 6.1.2).
    pub(super) cwr_end: u64,
    pub(crate) dup_acks: u32,
    syn_timeouts: u32,
    /// Probes of a closed window since it last let something through.
    pub(super) probes: u32,
    pub(crate) recovery: Recovery,
    pub(crate) state: State,
    /// The stream ends with a FIN after `data_end`.
    fin: bool,
    pub(super) ecn: EcnMode,
    /// Set CWR on the next new data segment (RFC 3168 section 6.1.2).
    pub(super) cwr_pending: bool,
    pub(super) pace_armed: bool,
    /// [`CongestionControl::obeys_peer`].
    pub(crate) obeys_peer: bool,
    /// [`CongestionControl::push_is_only_a_request`].
    pub(super) push_is_only_a_request: bool,
    pace_next: Time,

    /// RFC 6582 `recover`: one past the highest sequence number sent when loss was last detected.
    pub(crate) recover: u64,
    /// `una` at the last timeout, 0 before: which segment it was that timed out.
    timed_out: u64,
    pub(crate) high_rxt: u64,
    pub(crate) rescue_rxt: Option<u64>,
}

const _: () = assert!(std::mem::offset_of!(Sender, recover) <= 256);

/// The end of an endless stream.
const ENDLESS: u64 = u64::MAX / 2;

impl Sender {
    /// A closed sender without data.
    pub fn new(cfg: &SenderConfig, cc: Box<dyn CongestionControl>, ecn: EcnMode) -> Self {
        Self {
            una: 0,
            nxt: 0,
            max_sent: 0,
            data_end: FIRST_DATA,
            window: CongestionWindow { cwnd: cfg.initial_window as f64, ssthresh: cfg.initial_ssthresh as f64 },
            peer_edge: FIRST_DATA,
            packet: PacketFacts { ect: ecn != EcnMode::Off, ..PacketFacts::default() },
            obeys_peer: cc.obeys_peer(),
            push_is_only_a_request: cc.push_is_only_a_request(),
            cc,
            estimator: RtoEstimator::new(),
            deadline: Time::NEVER,
            timer_at: Time::NEVER,
            recover: 0,
            most_in_flight: 0,
            round_end: 0,
            dup_acks: 0,
            recovery: if cfg.rack.is_some() { Recovery::Rack } else { Recovery::Open },
            state: State::Closed,
            fin: false,
            ecn,
            cwr_pending: false,
            cwr_end: 0,
            limited_bytes: 0,
            last_sent: Time::ZERO,
            pace_next: Time::ZERO,
            pace_armed: false,
            wake_at: Time::NEVER,
            wake_armed: Time::NEVER,
            syn_timeouts: 0,
            timed_out: 0,
            probes: 0,
            scoreboard: (cfg.sack && cfg.rack.is_none()).then(Box::default),
            high_rxt: 0,
            rescue_rxt: None,
            timed: cfg.rack.is_some().then(Box::default),
            retransmissions: 0,
            segments_sent: 0,
        }
    }

    /// The application gives `bytes` more (none: endless data), and closes the stream after them if `fin`.
    pub fn push_data(&mut self, bytes: Option<u64>, fin: bool) {
        self.data_end = bytes.map_or(ENDLESS, |bytes| self.data_end + bytes);
        self.fin = fin;
    }

    /// The application closes an endless stream: it ends with the next full segment.
    pub fn close<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        // Something is left to send, so that what has arrived is not the end yet.
        self.data_end = self.max_sent.max(FIRST_DATA) + cfg.mss;
        self.on_data_ready(now, cfg, io);
    }

    /// Tells congestion control of the transfer whose data come with the next [`Sender::push_data`].
    pub fn announce(&mut self, bytes: Option<u64>, deadline: Option<Time>) {
        self.cc.on_transfer(&TransferFacts { first: self.data_end, bytes, deadline });
    }

    /// One past the last sequence number of the stream so far, its FIN included.
    #[inline(always)]
    pub fn stream_end(&self) -> u64 {
        self.data_end + u64::from(self.fin)
    }
    /// One past the last byte that the application has given.
    pub fn data_end(&self) -> u64 {
        self.data_end
    }
    /// Whether a FIN follows the data.
    pub(super) fn closing(&self) -> bool {
        self.fin
    }
    /// First unacknowledged sequence number.
    pub fn una(&self) -> u64 {
        self.una
    }
    /// Next sequence number to send.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }
    /// One past the highest sequence number ever sent.
    pub fn max_sent(&self) -> u64 {
        self.max_sent
    }
    /// Bytes sent and not acknowledged.
    #[inline(always)]
    pub fn in_flight(&self) -> u64 {
        self.nxt - self.una
    }
    /// The most bytes that were outstanding in the present round trip, as of its last acknowledgement.
    pub fn most_in_flight(&self) -> u64 {
        self.most_in_flight
    }
    /// The congestion window.
    pub fn window(&self) -> CongestionWindow {
        self.window
    }
    /// A window that no algorithm has set.
    #[cfg(test)]
    pub(crate) fn forge_window(&mut self, cwnd: f64) {
        self.window.cwnd = cwnd;
    }
    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }
    /// Whether nothing comes of this sender any more unless it is given data: all that it sent is acknowledged, and no
    /// timer that means something is pending.
    pub fn is_quiet(&self) -> bool {
        let no_timer = self.deadline.is_never();
        match self.state {
            State::Finished => no_timer,
            State::Established => {
                let done = self.una == self.max_sent && self.una == self.stream_end();
                done && no_timer && self.wake_at.is_never() && !self.pace_armed
            }
            State::Closed | State::SynSent | State::Failed => false,
        }
    }
    /// Whether loss recovery is in progress.
    pub fn in_recovery(&self) -> bool {
        match self.recovery {
            Recovery::Open => false,
            Recovery::NewReno { .. } | Recovery::Sack => true,
            Recovery::Rack => self.timed.as_ref().is_some_and(|timed| timed.in_recovery()),
        }
    }
    /// Duplicate acknowledgements since the last new one.
    pub fn duplicate_acks(&self) -> u32 {
        self.dup_acks
    }
    /// The congestion control algorithm.
    pub fn congestion_control(&self) -> &dyn CongestionControl {
        &*self.cc
    }
    /// Smoothed round-trip time, once measured.
    pub fn srtt(&self) -> Option<Time> {
        self.estimator.srtt()
    }
    /// The timer value in force.
    pub fn rto(&self, cfg: &SenderConfig) -> Time {
        if self.syn_timeouts > 0 && self.estimator.srtt().is_none() {
            // RFC 6298 s5.7: after a timeout of the SYN, data starts with a longer timer.
            let initial = cfg.rto.initial.max(cfg.rto_after_syn_timeout);
            return self.estimator.rto(&RtoConfig { initial, ..cfg.rto });
        }
        self.estimator.rto(&cfg.rto)
    }

    /// Starts the three-way handshake.
    pub fn connect<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        debug_assert_eq!(self.state, State::Closed);
        self.state = State::SynSent;
        self.send_syn(now, cfg, io);
    }

    /// Takes up a connection that is already open, with the peer's window in bytes.
    pub fn adopt<I: SenderIo>(&mut self, peer_window: u64, now: Time, cfg: &SenderConfig, io: &mut I) {
        self.nxt = FIRST_DATA;
        self.max_sent = FIRST_DATA;
        // Nothing was advertised yet on a connection that nobody saw being opened. A sender with no window of its own
        // takes the initial one for that.
        let peer_window = if self.obeys_peer { peer_window.min(cfg.initial_window) } else { peer_window };
        self.establish(peer_window, now, cfg, io);
        self.send(now, cfg, io);
    }

    /// New data may be there, on an open connection.
    pub fn on_data_ready<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        if self.state != State::Established {
            return;
        }
        // RFC 5681 s4.1: after an idle period longer than the timer value the window is at most the initial one.
        if cfg.idle_restart && self.in_flight() == 0 && self.max_sent > FIRST_DATA {
            let idle = now.saturating_sub(self.last_sent);
            if idle > self.rto(cfg) {
                self.window.cwnd = self.window.cwnd.min(cfg.initial_window as f64);
            }
        }
        self.send(now, cfg, io);
    }

    fn send_syn<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        // RFC 3168 s6.1.1: an ECN-setup SYN carries ECE and CWR; ECT on it only by RFC 5562 or the like.
        let negotiates = self.ecn != EcnMode::Off;
        let flags = Flags::SYN
            .with_if(Flags::ECE.with(Flags::CWR), negotiates)
            .with_if(Flags::ECT, negotiates && cfg.ecn_syn)
            .with_if(Flags::RETRANSMITTED, self.syn_timeouts > 0);
        self.nxt = FIRST_DATA;
        self.max_sent = FIRST_DATA;
        self.segments_sent += 1;
        io.transmit(OutSegment { seq: 0, len: 0, flags }, &self.packet);
        let wait = Time::from_ps(cfg.syn_timeout.ps().saturating_mul(1 << self.syn_timeouts.min(63)));
        self.arm(now.saturating_add(wait), io);
    }

    fn establish<I: SenderIo>(&mut self, peer_window: u64, now: Time, cfg: &SenderConfig, io: &mut I) {
        self.una = FIRST_DATA;
        self.peer_edge = FIRST_DATA + peer_window;
        self.state = State::Established;
        self.deadline = Time::NEVER;
        self.last_sent = now;
        self.with_cc(now, cfg, |cc, cx| cc.on_start(cx));
        self.arm_wake(io);
    }

    /// An acknowledgement arrived.
    #[inline]
    pub fn on_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, now: Time, cfg: &SenderConfig, io: &mut I) {
        if self.state == State::Established {
            // RFC 9293 s3.10.7.4: numbers never sent are ignored, and so are old ones.
            if ack.ack > self.max_sent || ack.ack < self.una || ack.flags.has(Flags::SYN) {
                return;
            }
            if self.recovery == Recovery::Rack {
                return self.on_rack_ack(ack, now, cfg, io);
            }
            let request = self.push_is_only_a_request && ack.flags.has(Flags::PSH);
            if request {
                self.peer_edge = self.una + ack.window;
            } else if ack.ack > self.una {
                self.on_new_ack(ack, now, cfg, io);
            } else {
                self.on_old_ack(ack, now, cfg, io);
            }
            if ack.flags.has(Flags::PSH) && ack.ack < self.nxt {
                self.on_push(now, cfg, io);
            }
            if self.state == State::Established {
                self.send(now, cfg, io);
            }
        } else if self.state == State::SynSent && ack.flags.has(Flags::SYN) && ack.ack == FIRST_DATA {
            self.on_syn_ack(ack, now, cfg, io);
        }
    }

    fn on_syn_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, now: Time, cfg: &SenderConfig, io: &mut I) {
        if let Some(rtt) = ack.rtt.filter(|_| self.syn_timeouts == 0) {
            self.estimator.on_sample(rtt);
            if let Some(timed) = &mut self.timed {
                timed.on_handshake(rtt);
            }
        }
        if self.ecn != EcnMode::Off && !ack.flags.has(Flags::ECE) {
            // RFC 3168 s6.1.1: the peer did not agree to ECN.
            self.ecn = EcnMode::Off;
        }
        if self.syn_timeouts > 0 {
            // RFC 5681 s3.1: a lost SYN or SYN-ACK limits the initial window to one segment.
            self.window.cwnd = cfg.mss as f64;
        }
        // The last packet of the handshake is a segment of its own, as in deployed stacks.
        self.segments_sent += 1;
        io.transmit(OutSegment { seq: FIRST_DATA, len: 0, flags: Flags::NONE }, &self.packet);
        self.establish(ack.window, now, cfg, io);
        self.with_cc(now, cfg, |cc, cx| cc.on_syn_ack(cx, ack.field));
        self.arm_wake(io);
        self.send(now, cfg, io);
    }

    #[inline(always)]
    fn on_new_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, now: Time, cfg: &SenderConfig, io: &mut I) {
        let acked = ack.ack - self.una;
        self.una = ack.ack;
        // After going back, the acknowledgement may cover what was sent before the timeout.
        self.nxt = self.nxt.max(self.una);
        self.peer_edge = ack.ack + ack.window;
        match ack.rtt {
            Some(rtt) => self.estimator.on_sample(rtt),
            None if cfg.backoff_ends_on_new_ack => self.estimator.reset_backoff(),
            None => self.estimator.on_new_ack_without_sample(),
        }
        let news = self.scoreboard.as_mut().is_some_and(|board| board.update(ack.sack, self.una) > 0);
        let mut was_in_recovery = self.in_recovery();
        if was_in_recovery && cfg.full_ack_grows {
            was_in_recovery = !self.leave_with_growth(acked, cfg);
        }
        self.tell_ack(acked, ack, was_in_recovery, now, cfg, io);
        let restart = match self.recovery {
            Recovery::Open => {
                self.dup_acks = 0;
                self.limited_bytes = 0;
                // RFC 6675 s2: blocks with news make a duplicate, even of an acknowledgement that moves on.
                if news {
                    self.on_duplicate(now, cfg, io);
                }
                true
            }
            Recovery::NewReno { partial } => self.on_recovery_ack(acked, partial, now, cfg, io),
            Recovery::Sack | Recovery::Rack => self.on_sack_recovery_ack(),
        };
        self.react_to_echo(ack, now, cfg, io);
        if self.una == self.max_sent {
            // RFC 6298 s5.2: all outstanding data acknowledged, timer off.
            self.deadline = Time::NEVER;
            if self.fin && self.una == self.stream_end() {
                self.finish(io);
            }
        } else if restart {
            // RFC 6298 s5.3: restart when an acknowledgement brings news.
            self.restart_timer(now, cfg, io);
        }
    }

    /// The FIN is acknowledged; the last packet of the connection acknowledges the receiver's own FIN.
    pub(super) fn finish<I: SenderIo>(&mut self, io: &mut I) {
        self.state = State::Finished;
        self.segments_sent += 1;
        io.transmit(OutSegment { seq: self.nxt, len: 0, flags: Flags::NONE }, &self.packet);
    }

    #[inline]
    pub(super) fn restart_timer<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        let at = now.saturating_add(self.rto(cfg));
        self.arm(at, io);
    }

    /// RFC 6582 section 3.2 step 3. Returns whether the timer restarts.
    fn on_recovery_ack<I: SenderIo>(
        &mut self,
        acked: u64,
        partial: bool,
        now: Time,
        cfg: &SenderConfig,
        io: &mut I,
    ) -> bool {
        let mss = cfg.mss as f64;
        if self.una >= self.recover {
            // Full acknowledgement, option 1: no burst beyond what is outstanding.
            let flight = self.in_flight() as f64;
            self.window.cwnd = self.window.ssthresh.min(flight.max(mss) + mss);
            self.leave_recovery();
            return true;
        }
        // Partial acknowledgement: the next segment was lost as well.
        if !cfg.new_data_first {
            self.retransmit_first(now, cfg, io);
        }
        // Deflate by what was acknowledged, and add one segment back if that was at least one.
        self.window.cwnd -= acked as f64;
        if acked >= cfg.mss {
            self.window.cwnd += mss;
        }
        self.window.cwnd = self.window.cwnd.max(mss);
        self.recovery = Recovery::NewReno { partial: true };
        if cfg.new_data_first {
            self.send(now, cfg, io);
            self.retransmit_first(now, cfg, io);
        }
        !(cfg.impatient && partial)
    }

    /// [`SenderConfig::full_ack_grows`]: ends recovery before congestion control hears of a full acknowledgement, so
    /// that it grows the window. Returns whether it was one.
    #[cold]
    fn leave_with_growth(&mut self, acked: u64, cfg: &SenderConfig) -> bool {
        let full = matches!(self.recovery, Recovery::NewReno { .. }) && self.una >= self.recover;
        if full {
            let before = (self.max_sent - (self.una - acked)) as f64;
            self.window.cwnd = self.window.ssthresh.min(before + cfg.mss as f64);
            self.leave_recovery();
        }
        full
    }

    pub(crate) fn leave_recovery(&mut self) {
        self.recovery = Recovery::Open;
        self.dup_acks = 0;
        self.limited_bytes = 0;
    }

    /// An acknowledgement of nothing new: a duplicate, a window update, or RCC's request.
    fn on_old_ack<I: SenderIo>(&mut self, ack: &InAck<'_>, now: Time, cfg: &SenderConfig, io: &mut I) {
        let edge = ack.ack + ack.window;
        // RFC 6675 s2: with SACK a duplicate is what reports news. RFC 5681 s2 (e): else what repeats the window too, as
        // an update of it says nothing of segments. Receivers that move it with each segment need the other rule.
        let duplicate = match &mut self.scoreboard {
            Some(board) => board.update(ack.sack, self.una) > 0,
            None => edge == self.peer_edge || cfg.any_window_is_duplicate,
        };
        self.peer_edge = edge;
        // RFC 5681 s2 (a): without data outstanding there are no duplicates. A request is dealt with elsewhere.
        if self.nxt == self.una || ack.flags.has(Flags::PSH) {
            return;
        }
        if duplicate {
            self.tell_ack(0, ack, self.in_recovery(), now, cfg, io);
        }
        self.react_to_echo(ack, now, cfg, io);
        match self.recovery {
            _ if !duplicate => {}
            Recovery::Open => self.on_duplicate(now, cfg, io),
            // RFC 5681 s3.2 step 4: one more segment has left the network.
            Recovery::NewReno { .. } => self.window.cwnd += cfg.mss as f64,
            // The pipe has shrunk: `send` looks at it.
            Recovery::Sack | Recovery::Rack => {}
        }
    }

    /// RCC section 1.3 with its correction: as three duplicates at once, or one more in recovery.
    fn on_push<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        match self.recovery {
            Recovery::Open => self.enter_recovery(now, cfg, io),
            Recovery::NewReno { .. } => self.window.cwnd += cfg.mss as f64,
            Recovery::Sack | Recovery::Rack => {}
        }
    }

    fn on_duplicate<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        self.dup_acks += 1;
        let (fresh, lost) = match &self.scoreboard {
            // RFC 6675 s5.1: no new recovery before everything sent at the last timeout is acknowledged.
            Some(board) => {
                let sack = SackConfig { mss: cfg.mss, dup_thresh: cfg.duplicate_ack_threshold };
                (self.una >= self.recover, board.is_lost(self.una, &sack))
            }
            // RFC 6582 s3.2 step 2: the acknowledgement must cover more than `recover`.
            None => (self.una > self.recover, false),
        };
        if fresh && (self.dup_acks >= cfg.duplicate_ack_threshold || lost) {
            self.enter_recovery(now, cfg, io);
        } else if cfg.limited_transmit && self.dup_acks <= 2 {
            self.limited_transmit(now, cfg, io);
        }
    }

    /// RFC 3042: one new segment if the peer's window allows it and no more than two beyond the own window.
    fn limited_transmit<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        let len = cfg.mss.min(self.data_end.saturating_sub(self.nxt));
        let room = self.window.cwnd as u64 + 2 * cfg.mss;
        if self.nxt == self.max_sent && len > 0 && self.nxt + len <= self.peer_edge && self.in_flight() + len <= room {
            self.transmit_next(len, now, cfg, io);
            self.limited_bytes += len;
        }
    }

    fn enter_recovery<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        // RFC 5681 s3.2 step 2: what limited transmit sent does not count as outstanding.
        let excess = std::mem::take(&mut self.limited_bytes);
        let flight = self.in_flight() - excess;
        self.window.ssthresh = self.with_cc_flight(flight, now, cfg, |cc, cx| cc.on_loss(cx));
        self.recover = self.max_sent;
        // A window reduced for a loss is not reduced again for marks of the same round trip (RFC 3168 s6.1.2).
        self.cwr_end = self.max_sent;
        self.cwr_pending = self.ecn != EcnMode::Off;
        if self.scoreboard.is_some() {
            self.enter_sack_recovery(now, cfg, io);
        } else {
            self.retransmit_first(now, cfg, io);
            self.window.cwnd = self.window.ssthresh + f64::from(cfg.duplicate_ack_threshold) * cfg.mss as f64;
            self.recovery = Recovery::NewReno { partial: false };
        }
        self.arm_wake(io);
    }

    #[inline(always)]
    pub(super) fn tell_ack<I: SenderIo>(
        &mut self,
        acked: u64,
        ack: &InAck<'_>,
        in_recovery: bool,
        now: Time,
        cfg: &SenderConfig,
        io: &mut I,
    ) {
        let ece = ack.flags.has(Flags::ECE) && self.ecn != EcnMode::Off;
        let window_limited = self.is_window_limited(acked, cfg) || !cfg.window_validation;
        let event = AckEvent { acked, ece, in_recovery, window_limited, rtt: ack.rtt, field: ack.field };
        self.with_cc(now, cfg, |cc, cx| cc.on_ack(cx, &event));
        self.arm_wake(io);
    }

    /// Whether the congestion window is in use: in slow start half of it, as it doubles in a round trip, and in
    /// congestion avoidance all of it but less than a segment. What counts is the most that was outstanding in the
    /// present round trip, because the last segments of a transfer leave nothing to send behind them.
    #[inline(always)]
    fn is_window_limited(&mut self, acked: u64, cfg: &SenderConfig) -> bool {
        let flight = self.in_flight() + acked;
        if self.una > self.round_end {
            self.round_end = self.max_sent;
            self.most_in_flight = flight;
        }
        self.most_in_flight = self.most_in_flight.max(flight);
        let (used, CongestionWindow { cwnd, ssthresh }) = (self.most_in_flight as f64, self.window);
        if cwnd < ssthresh { cwnd < 2.0 * used } else { cwnd < used + cfg.mss as f64 }
    }

    /// RFC 3168 section 6.1.2: at most one reduction per round trip.
    ///
    /// The acknowledgement that ends the round trip is still part of it: the receiver sent it before it can have
    /// seen the CWR, which comes with the next segment. A loss sets this end as well, so recovery has no echoes.
    #[inline(always)]
    pub(super) fn react_to_echo<I: SenderIo>(&mut self, ack: &InAck<'_>, now: Time, cfg: &SenderConfig, io: &mut I) {
        if ack.flags.has(Flags::ECE) && self.una > self.cwr_end && self.ecn != EcnMode::Off {
            self.reduce_for_echo(now, cfg, io);
        }
    }

    #[inline(never)]
    fn reduce_for_echo<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        self.with_cc(now, cfg, |cc, cx| cc.on_ecn_echo(cx));
        self.arm_wake(io);
        self.cwr_end = self.max_sent;
        self.cwr_pending = true;
    }

    /// Sends what the windows allow.
    #[inline(always)]
    pub(crate) fn send<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        if matches!(self.recovery, Recovery::Sack | Recovery::Rack) {
            return self.send_in_recovery(now, cfg, io);
        }
        let segment = self.packet.segment_of(cfg.mss);
        let edge = self.edge(segment);
        let end = self.stream_end();
        let before = self.nxt;
        while self.nxt < end {
            let len = segment.min(self.data_end.saturating_sub(self.nxt));
            // Only full segments, or the last one (RFC 9293 s3.8.6.2.1). A FIN needs no window of its own.
            if self.nxt + len > edge {
                break;
            }
            if self.packet.gap > Time::ZERO && !self.may_pace(now, io) {
                break;
            }
            self.transmit_next(len, now, cfg, io);
        }
        if self.nxt > before {
            self.probes = 0;
            // RFC 6298 s5.1. A deadline with nothing in flight was that of window probes.
            if self.deadline.is_never() || before == self.una {
                self.restart_timer(now, cfg, io);
            }
        } else if self.nxt < end && self.nxt == self.una && !self.pace_armed && self.deadline.is_never() {
            self.start_persist_timer(now, cfg, io);
        }
    }

    /// One past the last number that the windows let go.
    #[inline(always)]
    fn edge(&self, segment: u64) -> u64 {
        if self.obeys_peer {
            return self.peer_edge;
        }
        // A congestion window below one segment would never let anything through: pacing is for that.
        self.peer_edge.min(self.una + (self.window.cwnd as u64).max(segment))
    }

    #[inline(never)]
    fn send_in_recovery<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        match self.recovery {
            Recovery::Rack => self.rack_transmit(now, cfg, io),
            _ => self.sack_transmit(now, cfg, io),
        }
    }

    /// The peer's window is closed, and the update that opens it may get lost (RFC 9293 section 3.8.6.1).
    pub(super) fn start_persist_timer<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        // Its own backoff: answers to probes, round-trip samples as they are, do not end it.
        let mut estimator = self.estimator;
        (0..self.probes).for_each(|_| estimator.on_timeout(&cfg.rto));
        self.arm(now.saturating_add(estimator.rto(&cfg.rto)), io);
    }

    pub(super) fn may_pace<I: SenderIo>(&mut self, now: Time, io: &mut I) -> bool {
        if now >= self.pace_next {
            self.pace_next = now + self.packet.gap;
            return true;
        }
        if !self.pace_armed {
            self.pace_armed = true;
            io.pacing_timer(self.pace_next);
        }
        false
    }

    /// Sends the segment at `nxt`, new or again after a timeout.
    #[inline(always)]
    pub(crate) fn transmit_next<I: SenderIo>(&mut self, len: u64, now: Time, cfg: &SenderConfig, io: &mut I) {
        let seq = self.nxt;
        let fin = self.fin && seq + len == self.data_end;
        self.nxt = seq + len + u64::from(fin);
        self.emit(seq, len, fin, now, cfg, io);
    }

    /// Sends the first unacknowledged segment again.
    pub(crate) fn retransmit_first<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        self.retransmit(self.una, self.packet.segment_of(cfg.mss), now, cfg, io);
    }

    /// Sends up to `len` bytes at `seq` again; returns the number after them.
    pub(crate) fn retransmit<I: SenderIo>(
        &mut self,
        seq: u64,
        len: u64,
        now: Time,
        cfg: &SenderConfig,
        io: &mut I,
    ) -> u64 {
        let len = len.min(self.data_end.saturating_sub(seq)).min(self.max_sent - seq);
        let fin = self.fin && seq + len == self.data_end && self.max_sent > self.data_end;
        self.emit(seq, len, fin, now, cfg, io);
        seq + len + u64::from(fin)
    }

    #[inline(always)]
    fn emit<I: SenderIo>(&mut self, seq: u64, len: u64, fin: bool, now: Time, cfg: &SenderConfig, io: &mut I) {
        let again = seq < self.max_sent;
        // RFC 3168 s6.1.5: no ECT on retransmissions, unless the scheme wants it.
        let ect = self.packet.ect && self.ecn != EcnMode::Off && (!again || cfg.ecn_retransmit);
        let cwr = self.cwr_pending && !again;
        if cwr {
            self.cwr_pending = false;
        }
        let flags = Flags::NONE
            .with_if(Flags::FIN, fin)
            .with_if(Flags::ECT, ect)
            .with_if(Flags::CWR, cwr)
            .with_if(Flags::RETRANSMITTED, again);
        self.retransmissions += u64::from(again);
        self.segments_sent += 1;
        self.max_sent = self.max_sent.max(seq + len + u64::from(fin));
        self.last_sent = now;
        io.transmit(OutSegment { seq, len, flags }, &self.packet);
    }

    /// A timer event came. Deadlines move lazily, so most events find theirs moved.
    pub fn on_timer<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) -> TimerOutcome {
        if self.timer_at == now {
            self.timer_at = Time::NEVER;
            if self.deadline > now && !self.deadline.is_never() {
                self.arm(self.deadline, io);
            }
        }
        if self.deadline != now {
            return TimerOutcome::Idle;
        }
        self.deadline = Time::NEVER;
        match self.state {
            State::SynSent => self.on_syn_timeout(now, cfg, io),
            State::Established if self.nxt == self.una && !self.in_recovery() => self.on_persist(now, cfg, io),
            State::Established if self.recovery == Recovery::Rack => self.on_rack_timer(now, cfg, io),
            State::Established => self.on_retransmission_timeout(now, cfg, io),
            State::Closed | State::Finished | State::Failed => TimerOutcome::Idle,
        }
    }

    fn on_syn_timeout<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) -> TimerOutcome {
        if self.syn_timeouts == cfg.syn_retries {
            self.state = State::Failed;
            return TimerOutcome::Failed;
        }
        self.syn_timeouts += 1;
        self.retransmissions += 1;
        self.send_syn(now, cfg, io);
        TimerOutcome::SynTimeout
    }

    /// RFC 9293 section 3.8.6.1: a closed window is probed, with what fits or else one byte.
    ///
    /// `nxt` stays where it is: the receiver may refuse the probe, which says nothing about congestion.
    fn on_persist<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) -> TimerOutcome {
        if self.nxt >= self.stream_end() || self.pace_armed {
            return TimerOutcome::Idle;
        }
        let room = self.peer_edge.saturating_sub(self.nxt).max(1);
        let len = cfg.mss.min(self.data_end.saturating_sub(self.nxt)).min(room);
        // RFC 3168 s6.1.6: no ECT and no CWR on window probes.
        let (ect, cwr) = (std::mem::take(&mut self.packet.ect), std::mem::take(&mut self.cwr_pending));
        self.emit(self.nxt, len, self.fin && self.nxt + len == self.data_end, now, cfg, io);
        (self.packet.ect, self.cwr_pending) = (ect, cwr);
        self.probes += 1;
        self.start_persist_timer(now, cfg, io);
        TimerOutcome::WindowProbe
    }

    /// What a timeout means for the windows.
    pub(super) fn reduce_for_timeout<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        // RFC 5681 s3.1: the threshold is held when the same segment times out again.
        if self.timed_out != self.una {
            self.timed_out = self.una;
            self.window.ssthresh = self.with_cc(now, cfg, |cc, cx| cc.on_timeout(cx));
            self.arm_wake(io);
        }
        self.window.cwnd = cfg.mss as f64;
        // RFC 3168 s6.1.2: one reduction a round trip, and CWR after any reduction.
        self.cwr_end = self.max_sent;
        self.cwr_pending = self.ecn != EcnMode::Off;
    }

    fn on_retransmission_timeout<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) -> TimerOutcome {
        self.reduce_for_timeout(now, cfg, io);
        // RFC 6582 s4.3: duplicates of what was sent before the timeout must not start a fast retransmit.
        self.recover = self.max_sent;
        self.leave_recovery();
        if let Some(board) = &mut self.scoreboard {
            // RFC 2018 s8: the receiver may have discarded what it reported.
            board.clear();
        }
        // RFC 6298 s5.4-5.6: back off, send the earliest segment again, restart; go back to it for the rest.
        self.estimator.on_timeout(&cfg.rto);
        self.nxt = self.una;
        self.restart_timer(now, cfg, io);
        let len = cfg.mss.min(self.data_end.saturating_sub(self.nxt));
        self.transmit_next(len, now, cfg, io);
        TimerOutcome::Timeout
    }

    /// The pacing timer expired.
    pub fn on_pace<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        self.pace_armed = false;
        if self.state == State::Established {
            self.send(now, cfg, io);
        }
    }

    /// The congestion control's own timer expired.
    pub fn on_wake<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        if self.wake_at != now || self.state != State::Established {
            return;
        }
        self.wake_at = Time::NEVER;
        self.with_cc(now, cfg, |cc, cx| cc.on_wake(cx));
        self.arm_wake(io);
        self.send(now, cfg, io);
    }

    /// Passes a changed wake-up time on to the event queue; events of earlier wishes are ignored when they come.
    #[inline]
    pub(super) fn arm_wake<I: SenderIo>(&mut self, io: &mut I) {
        if self.wake_at != self.wake_armed {
            self.wake_armed = self.wake_at;
            if !self.wake_at.is_never() {
                io.wake_timer(self.wake_at);
            }
        }
    }

    /// Sets the deadline; the event queue hears of it only if no earlier event is pending.
    #[inline]
    pub(super) fn arm<I: SenderIo>(&mut self, at: Time, io: &mut I) {
        self.deadline = at;
        if I::EAGER_TIMERS || at < self.timer_at {
            self.timer_at = at;
            io.retransmission_timer(at);
        }
    }

    #[inline(always)]
    fn with_cc<R>(
        &mut self,
        now: Time,
        cfg: &SenderConfig,
        call: impl FnOnce(&mut dyn CongestionControl, &mut SenderCx<'_>) -> R,
    ) -> R {
        let in_flight = self.in_flight();
        self.with_cc_flight(in_flight, now, cfg, call)
    }

    #[inline(always)]
    pub(super) fn with_cc_flight<R>(
        &mut self,
        in_flight: u64,
        now: Time,
        cfg: &SenderConfig,
        call: impl FnOnce(&mut dyn CongestionControl, &mut SenderCx<'_>) -> R,
    ) -> R {
        let mut cx = SenderCx {
            now,
            mss: cfg.mss as f64,
            in_flight,
            una: self.una,
            nxt: self.nxt,
            max_sent: self.max_sent,
            srtt: self.estimator.srtt(),
            window: &mut self.window,
            packet: &mut self.packet,
            wake: &mut self.wake_at,
        };
        call(&mut *self.cc, &mut cx)
    }
}

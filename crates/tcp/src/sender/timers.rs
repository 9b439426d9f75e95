//! A sender's timers: retransmission (RFC 6298), probes of a closed window (RFC 9293), and congestion control's own.
//!
//! Deadlines move with every acknowledgement, and the event queue hears of few of them: one event is pending for the
//! earliest, and finds out what has become of it when it comes.

use super::{Env, Recovery, Sender, SenderConfig, SenderIo, State, Tail, TimerOutcome};
use crate::rto::RtoConfig;
use fanin_core::roles::{CongestionControl, ControlPacket, SenderCx};
use fanin_core::units::Time;

impl Sender {
    /// The timer value in force.
    #[inline(always)]
    pub fn rto(&self, cfg: &SenderConfig) -> Time {
        if let Some(linux) = &self.linux {
            return linux.timeout(cfg);
        }
        if self.estimator.srtt().is_none() && self.syn_timeouts > 0 {
            // RFC 6298 s5.7: after a timeout of the SYN, data starts with a longer timer.
            let initial = cfg.rto.initial.max(cfg.rto_after_syn_timeout);
            return self.estimator.rto(&RtoConfig { initial, ..cfg.rto });
        }
        self.estimator.rto(&cfg.rto)
    }

    /// Gives the estimator the round-trip time of an acknowledgement of `acked` bytes, as the sender's clock shows it. If
    /// new data gives no sample, the backoff stays unless the stack ends it. Returns whether there was a sample.
    #[inline(always)]
    pub(super) fn sample<I: SenderIo>(&mut self, rtt: Option<Time>, acked: u64, env: &Env<'_, I>) -> bool {
        let measured = rtt.and_then(|rtt| env.cfg.rto.measured(rtt, env.now));
        match measured {
            Some(rtt) => self.estimator.on_sample(rtt),
            None if acked > 0 && env.cfg.backoff_ends_on_new_ack => self.estimator.reset_backoff(),
            None => {}
        }
        measured.is_some()
    }

    /// How long the timer has run that expires now; before [`on_timer`](Self::on_timer) acts on it.
    pub fn expired(&self, cfg: &SenderConfig) -> Time {
        match (self.state, &self.linux) {
            (State::SynSent, _) => self.syn_timer(cfg),
            (_, Some(linux)) => linux.runs(self.deadline),
            _ => self.rto(cfg),
        }
    }

    /// Since when a timer runs for what is outstanding: the last time that new data was acknowledged or a timer expired.
    pub fn waits_since(&self, cfg: &SenderConfig) -> Option<Time> {
        let value = match self.state {
            State::SynSent => self.syn_timer(cfg),
            State::Established if self.nxt > self.una => match &self.linux {
                Some(linux) => return linux.armed_at(),
                None => self.rto(cfg),
            },
            _ => return None,
        };
        let deadline =
            self.tail.as_ref().filter(|_| self.state == State::Established).map_or(self.deadline, Tail::timeout_at);
        (!self.deadline.is_never()).then(|| deadline.saturating_sub(value))
    }

    /// A timer event came. Deadlines move lazily, so most events find theirs moved.
    pub fn on_timer<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        if self.timer_at == env.now {
            self.timer_at = Time::NEVER;
            if self.deadline > env.now && !self.deadline.is_never() {
                self.arm(self.deadline, env);
            }
        }
        if self.deadline != env.now {
            return TimerOutcome::Idle;
        }
        self.deadline = Time::NEVER;
        match self.state {
            State::SynSent => self.on_syn_timeout(env),
            State::Established if self.is_silent(env.cfg) => self.on_retransmission_timeout(env),
            State::Established if self.nxt == self.una && !self.in_recovery() => self.on_persist(env),
            State::Established if self.recovery == Recovery::Linux => self.on_linux_timer(env),
            State::Established => match self.on_timer_before_rack(env) {
                Some(outcome) => outcome,
                None => self.on_retransmission_timeout(env),
            },
            State::Closed | State::Finished | State::Failed => TimerOutcome::Idle,
        }
    }

    #[inline(always)]
    pub(super) fn restart_timer<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let at = env.now.saturating_add(self.rto(env.cfg));
        if let Some(tail) = &mut self.tail {
            tail.restart(at);
        }
        self.arm(at, env);
    }

    /// Sets the deadline; the event queue hears of it only if no earlier event is pending.
    #[inline]
    pub(super) fn arm<I: SenderIo>(&mut self, at: Time, env: &mut Env<'_, I>) {
        self.deadline = at;
        if I::EAGER_TIMERS || at < self.timer_at {
            self.timer_at = at;
            env.io.retransmission_timer(at);
        }
    }

    /// The peer's window is closed, and the update that opens it may get lost (RFC 9293 section 3.8.6.1).
    pub(super) fn start_persist_timer<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        // Its own backoff: answers to probes, round-trip samples as they are, do not end it.
        let mut estimator = self.estimator;
        (0..self.probes).for_each(|_| estimator.on_timeout(&env.cfg.rto));
        self.arm(env.now.saturating_add(estimator.rto(&env.cfg.rto)), env);
    }

    /// RFC 9293 section 3.8.6.1: a closed window is probed, with what fits or else one byte.
    ///
    /// `nxt` stays where it is: the receiver may refuse the probe, which says nothing about congestion.
    pub(super) fn on_persist<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        if self.nxt >= self.stream_end() || !self.resumes.is_never() {
            return TimerOutcome::Idle;
        }
        let room = self.peer_edge.saturating_sub(self.nxt).max(1);
        let len = env.cfg.mss.min(self.data_end.saturating_sub(self.nxt)).min(room);
        // RFC 3168 s6.1.6: no ECT and no CWR on window probes.
        let (ect, cwr) = (std::mem::take(&mut self.packet.ect), std::mem::take(&mut self.cwr_pending));
        self.emit(self.nxt, len, self.fin && self.nxt + len == self.data_end, env);
        (self.packet.ect, self.cwr_pending) = (ect, cwr);
        self.probes += 1;
        self.start_persist_timer(env);
        TimerOutcome::WindowProbe
    }

    /// The congestion control's own timer expired.
    pub fn on_wake<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if self.wake_at != env.now || self.state != State::Established {
            return;
        }
        self.wake_at = Time::NEVER;
        self.prompt(env, |cc, cx| cc.on_wake(cx));
    }

    /// A packet of the scheme's own arrived.
    pub fn on_control<I: SenderIo>(&mut self, packet: &ControlPacket, env: &mut Env<'_, I>) {
        if self.state == State::Established {
            self.prompt(env, |cc, cx| cc.on_control(cx, packet));
        }
    }

    /// Calls congestion control, and sends what it then allows.
    fn prompt<I: SenderIo>(
        &mut self,
        env: &mut Env<'_, I>,
        call: impl FnOnce(&mut dyn CongestionControl, &mut SenderCx<'_>),
    ) {
        self.with_cc(env, call);
        self.cut_fractions(env.cfg);
        self.arm_wake(env);
        if self.resend_named(env) {
            self.restart_timer(env);
        }
        self.send(env);
        self.after_sending(env);
    }

    /// Passes a changed wake-up time on to the event queue; events of earlier wishes are ignored when they come.
    #[inline]
    pub(super) fn arm_wake<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if self.wake_at != self.wake_armed {
            self.wake_armed = self.wake_at;
            if !self.wake_at.is_never() {
                env.io.wake_timer(self.wake_at);
            }
        }
    }
}

//! The timers of a sender that detects losses by time: retransmission (RFC 6298), tail loss probe and reordering (RFC
//! 8985). They share one deadline, the earliest of them (RFC 8985 section 8).

use super::timed::Phase;
use super::{Env, Sender, SenderConfig, SenderIo, TimerOutcome};
use crate::tlp::Probe;
use fanin_core::units::Time;

impl Sender {
    pub(super) fn restart_rack_timeout<I: SenderIo>(&mut self, env: &Env<'_, I>) {
        let at = env.now.saturating_add(self.rto(env.cfg));
        self.timed().timeout_at = Some(at);
    }

    /// RFC 8985 section 7.2: after new data, and after an acknowledgement that moves on.
    pub(super) fn schedule_probe<I: SenderIo>(&mut self, env: &Env<'_, I>) {
        let srtt = self.srtt();
        let timed = self.timed();
        timed.probe_at = None;
        let Some(probe) = env.cfg.rack.and_then(|rack| rack.probe) else { return };
        if timed.phase != Phase::Open || timed.rack.has_reports() || timed.rack.is_empty() || !timed.probe.may_send() {
            return;
        }
        let at = env.now.saturating_add(Probe::timeout(&probe, srtt, timed.rack.len()));
        timed.probe_at = timed.timeout_at.map(|timeout| timeout.min(at));
    }

    /// When the retransmission timer expires.
    pub(super) fn timeout_at(&self) -> Time {
        self.timed.as_ref().and_then(|timed| timed.timeout_at).unwrap_or(self.deadline)
    }

    /// How long the probe timer has run, if it is due.
    pub(super) fn probe_due(&self, cfg: &SenderConfig) -> Option<Time> {
        let timed = self.timed.as_ref().filter(|timed| timed.probe_at.is_some_and(|at| at <= self.deadline))?;
        let probe = cfg.rack.and_then(|rack| rack.probe)?;
        Some(Probe::timeout(&probe, self.srtt(), timed.rack.len()).min(self.rto(cfg)))
    }

    /// The deadline is the earliest of the timers; while nothing is outstanding it is that of window probes.
    pub(super) fn arm_rack_timers<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let timed = self.timed();
        let earliest = [timed.timeout_at, timed.probe_at, timed.search_at].into_iter().flatten().min();
        match earliest {
            Some(at) => self.arm(at, env),
            None if self.nxt < self.stream_end() && !self.pace_armed && self.deadline.is_never() => {
                self.start_persist_timer(env);
            }
            None => {}
        }
    }

    /// The deadline has come with data outstanding.
    pub(super) fn on_rack_timer<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> TimerOutcome {
        let timed = self.timed();
        if timed.search_at.take_if(|at| *at <= env.now).is_some() {
            self.on_search_timer(env);
            return TimerOutcome::Reordering;
        }
        // A probe scheduled for the moment of the timeout goes in its place (RFC 8985 section 7.2).
        if timed.probe_at.take_if(|at| *at <= env.now).is_some() {
            self.send_probe(env);
            return TimerOutcome::LossProbe;
        }
        self.on_rack_timeout(env);
        TimerOutcome::Timeout
    }

    /// Segments that might only have been reordered are now overdue.
    fn on_search_timer<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let outstanding = self.in_flight() - self.timed().rack.reported();
        self.search_losses(false, outstanding, env);
        self.pace_recovery(0, false, env.cfg);
        self.rack_transmit(env);
    }

    /// RFC 8985 section 7.3: new data if there is some, whatever the congestion window, else the last segment again.
    fn send_probe<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let len = self.packet.segment_of(env.cfg.mss).min(self.data_end.saturating_sub(self.nxt));
        let fresh = self.nxt < self.stream_end() && self.nxt + len <= self.peer_edge;
        if fresh {
            self.send_new(len, env);
        } else if let Some(last) = self.timed().rack.last() {
            self.send_again(&last, env);
        }
        let end = self.nxt;
        self.timed().probe.on_sent(end, !fresh);
        // The retransmission timer, and not another probe, is what follows a probe.
        self.restart_rack_timeout(env);
        self.arm_rack_timers(env);
    }

    /// RFC 8985 section 6.3 with RFC 6298 section 5: overdue segments are lost, the others are still in flight.
    fn on_rack_timeout<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.reduce_for_timeout(env);
        self.recover = self.nxt;
        self.estimator.on_timeout(&env.cfg.rto);
        let by = self.reordering(env.cfg);
        let timed = self.timed();
        timed.rack.on_timeout(&by, env.now);
        timed.phase = Phase::Timeout;
        timed.force = true;
        timed.probe.forget();
        timed.stop_timers();
        self.restart_rack_timeout(env);
        self.rack_transmit(env);
    }
}

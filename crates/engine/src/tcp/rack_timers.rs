//! The timers of a sender that tells losses by time: retransmission (RFC 6298), tail loss probe and reordering
//! (RFC 8985). They share one deadline, the earliest of them (RFC 8985 section 8).

use super::rack_recovery::Phase;
use super::sender::{Sender, SenderConfig, SenderIo, TimerOutcome};
use super::tlp::Probe;
use crate::units::Time;

impl Sender {
    pub(super) fn restart_rack_timeout(&mut self, now: Time, cfg: &SenderConfig) {
        let at = now.saturating_add(self.rto(cfg));
        self.timed().timeout_at = Some(at);
    }

    /// RFC 8985 section 7.2: after new data, and after an acknowledgement that moves on.
    pub(super) fn schedule_probe(&mut self, now: Time, cfg: &SenderConfig) {
        let srtt = self.srtt();
        let timed = self.timed();
        timed.probe_at = None;
        let Some(probe) = cfg.rack.and_then(|rack| rack.probe) else { return };
        if timed.phase != Phase::Open || timed.rack.has_reports() || timed.rack.is_empty() || !timed.probe.may_send() {
            return;
        }
        let at = now.saturating_add(Probe::timeout(&probe, srtt, timed.rack.len()));
        timed.probe_at = timed.timeout_at.map(|timeout| timeout.min(at));
    }

    /// The deadline is the earliest of the timers; while nothing is outstanding it is that of window probes.
    pub(super) fn arm_rack_timers<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        let timed = self.timed();
        let earliest = [timed.timeout_at, timed.probe_at, timed.search_at].into_iter().flatten().min();
        match earliest {
            Some(at) => self.arm(at, io),
            None if self.nxt < self.stream_end() && !self.pace_armed && self.deadline.is_never() => {
                self.start_persist_timer(now, cfg, io);
            }
            None => {}
        }
    }

    /// The deadline has come with data outstanding.
    pub(super) fn on_rack_timer<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) -> TimerOutcome {
        let timed = self.timed();
        if timed.search_at.take_if(|at| *at <= now).is_some() {
            self.on_search_timer(now, cfg, io);
            return TimerOutcome::Reordering;
        }
        // A probe scheduled for the moment of the timeout goes in its place (RFC 8985 section 7.2).
        if timed.probe_at.take_if(|at| *at <= now).is_some() {
            self.send_probe(now, cfg, io);
            return TimerOutcome::LossProbe;
        }
        self.on_rack_timeout(now, cfg, io);
        TimerOutcome::Timeout
    }

    /// What may have been out of order only is overdue by now.
    fn on_search_timer<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        let outstanding = self.in_flight() - self.timed().rack.reported();
        self.search_losses(false, outstanding, now, cfg, io);
        self.pace_recovery(0, false, cfg);
        self.rack_transmit(now, cfg, io);
    }

    /// RFC 8985 section 7.3: new data if there is some, whatever the congestion window, else the last segment again.
    fn send_probe<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        let len = self.packet.segment_of(cfg.mss).min(self.data_end.saturating_sub(self.nxt));
        let fresh = self.nxt < self.stream_end() && self.nxt + len <= self.peer_edge;
        if fresh {
            self.send_new(len, now, cfg, io);
        } else if let Some(last) = self.timed().rack.last() {
            self.send_again(&last, now, cfg, io);
        }
        let end = self.nxt;
        self.timed().probe.on_sent(end, !fresh);
        // The retransmission timer, and not another probe, is what follows a probe.
        self.restart_rack_timeout(now, cfg);
        self.arm_rack_timers(now, cfg, io);
    }

    /// RFC 8985 section 6.3 with RFC 6298 section 5: what is overdue is lost, the rest is still on its way.
    fn on_rack_timeout<I: SenderIo>(&mut self, now: Time, cfg: &SenderConfig, io: &mut I) {
        self.reduce_for_timeout(now, cfg, io);
        self.recover = self.nxt;
        self.estimator.on_timeout(&cfg.rto);
        let by = self.reordering(cfg);
        let timed = self.timed();
        timed.rack.on_timeout(&by, now);
        timed.phase = Phase::Timeout;
        timed.force = true;
        timed.probe.forget();
        timed.stop_timers();
        self.restart_rack_timeout(now, cfg);
        self.rack_transmit(now, cfg, io);
    }
}

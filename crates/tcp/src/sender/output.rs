//! The output of a sender: new data and retransmissions, as far as the windows and pacing allow.

use super::quirks::LossRecovery;
use super::{Env, Limit, OutSegment, Recovery, Sender, SenderConfig, SenderIo, State};
use fanin_core::packet::Flags;
use fanin_core::roles::EcnMode;
use fanin_core::units::Time;

impl Sender {
    /// Sends what the windows allow.
    #[inline(always)]
    pub(super) fn send<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if matches!(self.recovery, Recovery::Sack | Recovery::Linux) {
            return self.send_in_recovery(env);
        }
        if self.tail.is_some() && self.una < self.recover {
            return self.send_after_timeout_before_rack(env);
        }
        let mut left = 0;
        if env.cfg.quirks.recovery != LossRecovery::Rfc {
            let Some(bytes) = self.prepare_sending(env) else { return };
            left = bytes;
        }
        let segment = self.packet.segment_of(env.cfg.mss);
        let edge = self.edge(env.cfg.quirks.least_window(segment), left);
        let end = self.stream_end();
        let before = self.nxt;
        while self.nxt < end {
            let len = segment.min(self.data_end.saturating_sub(self.nxt));
            // Only full segments, or the last one (RFC 9293 s3.8.6.2.1). A FIN needs no window of its own.
            if self.nxt + len > edge {
                break;
            }
            if self.is_shaped() && !self.may_leave(len, Some(edge - self.nxt), env) {
                break;
            }
            self.transmit_next(len, env);
        }
        self.end_sending(before, env);
    }

    /// The timer, where `before` was next to be sent before something may have been sent.
    #[inline(always)]
    pub(super) fn end_sending<I: SenderIo>(&mut self, before: u64, env: &mut Env<'_, I>) {
        if self.nxt > before {
            self.probes = 0;
            // RFC 6298 s5.1. A deadline with nothing in flight was that of window probes.
            if self.deadline.is_never() || before == self.una {
                self.restart_timer(env);
            }
        } else if self.nxt < self.stream_end()
            && self.nxt == self.una
            && self.resumes.is_never()
            && self.deadline.is_never()
            && !self.asks.waits
        {
            self.start_persist_timer(env);
        }
    }

    /// Whether the congestion window lets nothing through, and nothing is outstanding: only the timer helps.
    pub(super) fn is_silent(&self, cfg: &SenderConfig) -> bool {
        let below = cfg.quirks.ns3.silent_below_segment && self.window.cwnd < cfg.mss as f64;
        below && self.nxt == self.una && self.nxt < self.stream_end()
    }

    /// One past the last number that the windows let go, where `left` bytes are thought to have left the network. A
    /// congestion window counts as `least` bytes at least.
    #[inline(always)]
    pub(super) fn edge(&self, least: u64, left: u64) -> u64 {
        if self.limit != Limit::Windows {
            return self.other_edge();
        }
        // A congestion window below one segment would never let anything through: pacing is for that.
        // Windows are positive, and signed integers are faster.
        self.peer_edge.min(self.una + left + (self.window.cwnd as i64).max(least as i64) as u64)
    }

    #[inline(never)]
    fn other_edge(&self) -> u64 {
        let own = if self.limit == Limit::Peer { u64::MAX } else { self.una + self.window.cwnd as u64 };
        self.peer_edge.min(own)
    }

    #[inline(never)]
    pub(super) fn send_in_recovery<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        match self.recovery {
            Recovery::Linux => self.linux_output(env),
            _ if self.marks.is_some() => self.transmit_marked(env),
            _ => self.sack_transmit(env),
        }
    }

    /// Whether more than the windows decide what leaves when.
    #[inline(always)]
    pub(super) fn is_shaped(&self) -> bool {
        self.packet.gap > Time::ZERO || self.interface.is_some()
    }

    /// Whether a segment of `len` bytes may leave now, as far as pacing and the host go: a new one if `room` says what the
    /// windows let go from there on, else a retransmission.
    pub(super) fn may_leave<I: SenderIo>(&mut self, len: u64, room: Option<u64>, env: &mut Env<'_, I>) -> bool {
        if room.is_some() && self.resend_waits {
            self.wait_until(self.paced_until(), env);
            return false;
        }
        if self.interface.is_some() {
            return self.passes_interface(len, room, env);
        }
        let until = self.paced_until();
        if env.now >= until {
            self.start_gap(env.now);
            return true;
        }
        self.wait_until(until, env);
        false
    }

    /// When the next paced packet may leave: a gap that has become shorter holds at once, if congestion control asks for that.
    pub(super) fn paced_until(&self) -> Time {
        let sooner = if self.asks.paces { self.paced_at.saturating_add(self.packet.gap) } else { Time::NEVER };
        self.pace_next.min(sooner)
    }

    /// A packet that congestion control paces leaves.
    pub(super) fn start_gap(&mut self, now: Time) {
        (self.paced_at, self.pace_next) = (now, now.saturating_add(self.packet.gap));
    }

    /// Whether a retransmission has to wait for its pace, if congestion control asks for that: then the sender tries again.
    #[inline(never)]
    pub(super) fn paces_resend<I: SenderIo>(&mut self, len: u64, env: &mut Env<'_, I>) -> bool {
        self.asks.paces && self.packet.gap > Time::ZERO && !self.may_leave(len, None, env)
    }

    /// Tries again to send at `at`, unless it does so anyway.
    pub(super) fn wait_until<I: SenderIo>(&mut self, at: Time, env: &mut Env<'_, I>) {
        if self.resumes.is_never() || (self.asks.paces && at < self.resumes) {
            self.resumes = at;
            env.io.pacing_timer(at);
        }
    }

    /// The pacing timer expired.
    pub fn on_pace<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        if self.interface.is_some() && !self.release(env) {
            return;
        }
        if env.now < self.resumes {
            return; // It has gone on earlier.
        }
        self.resumes = Time::NEVER;
        if self.state == State::Established && std::mem::take(&mut self.resend_waits) {
            self.retransmit_first(env);
        }
        if self.state != State::Established {
        } else if self.recovery == Recovery::Linux {
            self.linux_resume(env);
        } else {
            self.send(env);
            self.after_sending(env);
        }
    }

    /// Sends the segment at `nxt`, which is new, or a retransmission after a timeout.
    #[inline(always)]
    pub(super) fn transmit_next<I: SenderIo>(&mut self, len: u64, env: &mut Env<'_, I>) {
        let seq = self.nxt;
        let fin = self.fin && seq + len == self.data_end;
        self.nxt = seq + len + u64::from(fin);
        self.note_sent(self.nxt);
        self.emit(seq, len, fin, env);
    }

    /// Retransmits the first unacknowledged segment, at its pace.
    pub(super) fn retransmit_first<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.resend_waits = self.paces_resend(env.cfg.mss, env);
        if self.resend_waits {
            return;
        }
        self.retransmit(self.una, self.packet.segment_of(env.cfg.mss), env);
    }

    /// Sends again what congestion control names, if it repairs losses itself. Returns whether that was anything.
    pub(super) fn resend_named<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        let mut any = false;
        while let Some(seq) = if self.asks.repairs { self.cc.resends() } else { None } {
            if (self.una..self.max_sent).contains(&seq) {
                self.retransmit(seq, self.packet.segment_of(env.cfg.mss), env);
                any = true;
            }
        }
        any
    }

    /// Retransmits up to `len` bytes at `seq`; returns the number after them.
    pub(super) fn retransmit<I: SenderIo>(&mut self, seq: u64, len: u64, env: &mut Env<'_, I>) -> u64 {
        let len = len.min(self.data_end.saturating_sub(seq)).min(self.max_sent - seq);
        let fin = self.fin && seq + len == self.data_end && self.max_sent > self.data_end;
        self.emit(seq, len, fin, env);
        seq + len + u64::from(fin)
    }

    #[inline(always)]
    pub(super) fn emit<I: SenderIo>(&mut self, seq: u64, len: u64, fin: bool, env: &mut Env<'_, I>) {
        let again = seq < self.max_sent;
        // RFC 3168 s6.1.5: no ECT on retransmissions, unless the scheme wants it.
        let ect = self.packet.ect && self.ecn != EcnMode::Off && (!again || env.cfg.ecn_retransmit);
        let cwr = self.cwr_pending && !again;
        if cwr {
            self.cwr_pending = false;
        }
        let pushes = self.interface.as_mut().is_some_and(|interface| std::mem::take(&mut interface.pushes));
        let flags = Flags::NONE
            .with_if(Flags::FIN, fin)
            .with_if(Flags::ECT, ect)
            .with_if(Flags::CWR, cwr)
            .with_if(Flags::PSH, pushes)
            .with_if(Flags::RETRANSMITTED, again)
            .with(self.marks_segments);
        self.retransmissions += u64::from(again);
        self.segments_sent += 1;
        let (end, departs) = (seq + len + u64::from(fin), self.departure(env.now));
        if let Some(history) = &mut self.history {
            history.on_send(seq, end, departs, again);
            self.note_rate(len);
        }
        self.max_sent = self.max_sent.max(end);
        self.last_sent = env.now;
        let segment = OutSegment { seq, len, flags };
        if self.is_held(departs, env.now) {
            self.hold(departs, segment, env);
        } else {
            env.io.transmit(segment, &self.packet, env.now);
        }
    }
}

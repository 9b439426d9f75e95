//! What a sender sends: `tcp_write_xmit`, `tcp_xmit_retransmit_queue`, and whether the window limits it.

use super::scoreboard::Segment;
use super::{CaState, Pending, Resend, stamp, tick};
use crate::FIRST_DATA;
use crate::sender::{Env, Sender, SenderConfig, SenderIo};
use fanin_core::units::real;

impl Sender {
    /// Sends new data as far as the windows let it go: `tcp_data_snd_check`.
    pub(in crate::sender) fn linux_output<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.output_before(self.stream_end(), env);
    }

    fn output_before<I: SenderIo>(&mut self, end: u64, env: &mut Env<'_, I>) {
        let sent = self.send_new(end, false, env);
        let waits = self.nxt < self.stream_end() && self.nxt == self.una;
        if sent == 0 && waits && self.resumes.is_never() && self.deadline.is_never() {
            self.start_persist_timer(env);
        }
    }

    /// The application has written: `tcp_sendmsg_locked`. What does not fill a buffer waits until the first packet of those
    /// before it has left the host (`tcp_should_autocork`), or an acknowledgement comes.
    pub(in crate::sender) fn linux_write<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let segment = self.packet.segment_of(env.cfg.mss);
        let buffer = self.largest_buffer(env.cfg);
        let written = self.data_end.saturating_sub(self.nxt);
        if written <= buffer || written.is_multiple_of(buffer) {
            return self.linux_output(env);
        }
        let (corked, first_leaves) = (self.data_end - written % buffer, env.io.leaves(segment, 1));
        self.output_before(corked, env);
        if self.nxt == corked {
            self.wait_until(first_leaves, env);
        }
    }

    /// The pacing timer, or the host's queue, lets a sender go on.
    pub(in crate::sender) fn linux_resume<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        self.resend_lost(env);
        self.linux_output(env);
    }

    /// `tcp_write_xmit` of what is before `end`, or a probe of new data. Returns how many segments left.
    pub(super) fn send_new<I: SenderIo>(&mut self, end: u64, probe: bool, env: &mut Env<'_, I>) -> u64 {
        let segment = self.packet.segment_of(env.cfg.mss);
        let mut sent = 0;
        while self.nxt < end {
            let room = self.room(env.cfg);
            let len = segment.min(self.data_end.saturating_sub(self.nxt));
            if (room == 0 && !probe) || self.nxt + len > self.peer_edge {
                break;
            }
            let bytes = (self.peer_edge - self.nxt).min(room.saturating_mul(segment)).max(len);
            if self.is_shaped() && !self.may_leave(len, Some(bytes), env) {
                break;
            }
            self.send_next(len, env);
            sent += 1;
            if probe {
                break;
            }
        }
        let lacked = self.interface.as_mut().is_some_and(|interface| std::mem::take(&mut interface.lacks_window));
        let limited = lacked || self.room(env.cfg) == 0;
        if sent > 0 || limited {
            self.validate_window(limited, env);
        }
        if sent > 0 {
            self.probes = 0;
            let linux = self.linux();
            linux.prr_out += if linux.reduces() { sent } else { 0 };
            if !probe {
                self.schedule_probe(false, env);
            }
        }
        sent
    }

    /// `tcp_cwnd_test`: segments that the window lets go.
    fn room(&self, cfg: &SenderConfig) -> u64 {
        if self.obeys_peer() {
            return u64::MAX;
        }
        let Some(linux) = &self.linux else { return 0 };
        // A window below one segment would never let anything through: pacing is for that.
        let window = if linux.reduces() { self.segments(cfg) } else { self.segments(cfg).max(1) };
        window.saturating_sub(u64::from(linux.board.in_flight()))
    }

    /// `tcp_transmit_skb` and `tcp_event_new_data_sent`
    fn send_next<I: SenderIo>(&mut self, len: u64, env: &mut Env<'_, I>) {
        let (start, now, ticks) = (self.nxt, self.departure(env.now).us(), tick(env));
        let (ends_burst, pushed) =
            self.interface.as_ref().map_or((true, false), |below| (below.left == 0, below.pushes));
        self.transmit_next(len, env);
        let end = self.nxt;
        let linux = self.linux();
        let idle = linux.board.packets_out() == 0;
        linux.last_sent = ticks;
        linux.board.push(Segment {
            start,
            end,
            len,
            sent: now,
            delivered: linux.delivered,
            sacked: false,
            lost: false,
            resent: false,
            ever_resent: false,
            ends_burst,
            pushed,
        });
        if idle || linux.pending == Some(Pending::Probe) {
            self.rearm_retransmission(env);
        }
    }

    /// `tcp_retransmit_skb`; `counted` as a retransmission in flight, which a probe is not.
    pub(super) fn send_again<I: SenderIo>(&mut self, segment: &Segment, counted: bool, env: &mut Env<'_, I>) {
        let (now, ticks) = (self.departure(env.now).us(), tick(env));
        if let Some(interface) = &mut self.interface {
            interface.pushes = segment.pushed;
        }
        self.emit(segment.start, segment.len, segment.end > segment.start + segment.len, env);
        let linux = self.linux();
        let delivered = linux.delivered;
        linux.board.on_resent(segment.end, now, delivered, counted);
        linux.total_retrans += 1;
        if segment.len > 0 {
            linux.last_sent = ticks;
        }
        if counted {
            linux.retrans_stamp = linux.retrans_stamp.or(Some(stamp(now)));
            linux.undo_retrans = Some(linux.undo_retrans.unwrap_or(0) + 1);
        }
    }

    /// `tcp_xmit_recovery`
    pub(super) fn resend_after_ack<I: SenderIo>(&mut self, resend: Resend, env: &mut Env<'_, I>) {
        match resend {
            Resend::Nothing => return,
            Resend::Lost => {}
            Resend::NewFirst => {
                self.send_new(self.stream_end(), false, env);
                let nxt = self.nxt;
                if nxt > self.linux().high_seq {
                    return;
                }
                self.linux().frto = false;
            }
        }
        self.resend_lost(env);
    }

    /// `tcp_xmit_retransmit_queue`
    pub(super) fn resend_lost<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let una = self.una;
        let (mut first, mut together, mut several) = (false, 0, false);
        while self.room(env.cfg) > 0 {
            let Some(segment) = self.linux().board.next_to_resend() else { break };
            if self.is_shaped() && !self.may_leave(segment.len, None, env) {
                break;
            }
            if together == 0 {
                let most = self.room(env.cfg).min(self.largest_burst_segments(env.cfg));
                together = self.linux().board.resent_together(segment.start, most);
                several = together > 1;
            }
            together -= 1;
            self.send_again(&Segment { pushed: segment.pushed || (several && together == 0), ..segment }, true, env);
            let linux = self.linux();
            linux.prr_out += u64::from(linux.reduces());
            first |= segment.start <= una && linux.pending != Some(Pending::Reordering);
        }
        if first {
            self.restart_retransmission(env);
        }
    }

    /// `tcp_cwnd_validate`
    fn validate_window<I: SenderIo>(&mut self, limited: bool, env: &Env<'_, I>) {
        let (una, nxt, now) = (self.una, self.nxt, tick(env));
        let linux = self.linux();
        let packets = linux.board.packets_out();
        if una >= linux.usage_end || limited || (!linux.limited && packets > linux.max_packets_out) {
            linux.limited = limited;
            linux.max_packets_out = packets;
            linux.usage_end = nxt;
        }
        if self.is_window_limited(env.cfg) {
            let linux = self.linux();
            (linux.used, linux.window_stamp) = (0, now);
            return;
        }
        let linux = self.linux();
        linux.used = linux.used.max(packets);
        if env.cfg.idle_restart && now - linux.window_stamp >= linux.rtt.timeout(&env.cfg.rto) {
            self.use_less(now, env.cfg);
        }
    }

    /// `tcp_cwnd_application_limited`: a window that was not used for a timeout shrinks towards what was.
    fn use_less(&mut self, now: u64, cfg: &SenderConfig) {
        let cwnd = self.segments(cfg);
        let threshold = self.current_threshold(cfg);
        let linux = self.linux();
        linux.window_stamp = now;
        if linux.state != CaState::Open {
            return;
        }
        let used = u64::from(std::mem::take(&mut linux.used)).max(cfg.initial_window / cfg.mss);
        if used < cwnd {
            self.window.ssthresh = threshold;
            self.set_segments((cwnd + used) >> 1, cfg);
        }
    }

    /// `tcp_is_cwnd_limited`
    pub(super) fn is_window_limited(&mut self, cfg: &SenderConfig) -> bool {
        let slow_start = self.window.cwnd < self.window.ssthresh;
        let cwnd = self.segments(cfg);
        let linux = self.linux();
        !cfg.window_validation || linux.limited || slow_start && cwnd < 2 * u64::from(linux.max_packets_out)
    }

    /// `tcp_slow_start_after_idle_check` and `tcp_cwnd_restart`: a window halves for each timeout that nothing was sent.
    pub(in crate::sender) fn restart_after_idle<I>(&mut self, env: &Env<'_, I>) {
        if !env.cfg.idle_restart || self.max_sent <= FIRST_DATA || self.nxt > self.una {
            return;
        }
        let (now, mut cwnd) = (tick(env), self.segments(env.cfg));
        let threshold = self.current_threshold(env.cfg);
        let linux = self.linux();
        let timeout = linux.rtt.timeout(&env.cfg.rto);
        let mut idle = now - linux.last_sent;
        if idle <= timeout {
            return;
        }
        let least = (env.cfg.initial_window / env.cfg.mss).min(cwnd);
        while idle > timeout && cwnd > least {
            idle -= timeout;
            cwnd >>= 1;
        }
        (linux.window_stamp, linux.used) = (now, 0);
        self.window.ssthresh = threshold;
        self.window.cwnd = real(cwnd.max(least) * env.cfg.mss);
    }
}

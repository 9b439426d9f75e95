//! Quick, delayed and compressed acknowledgements.

use super::{Act, Linux};
use crate::receiver::{AckList, AckOut, Segment};
use fanin_core::units::Time;

/// `tcp_comp_sack_nr`, `tcp_comp_sack_delay_ns` and `tcp_comp_sack_slack_ns`: the timer comes at the end of its slack,
/// unless nothing else is due before.
const COMPRESSED_MOST: u32 = 44;
const COMPRESSED_DELAY: Time = Time::from_ms(1);
const COMPRESSED_SLACK: Time = Time::from_us(100);
/// `TCP_FASTRETRANS_THRESH`: duplicate acknowledgements that are sent before any are held back.
const DUPLICATES_FIRST: u8 = 3;

impl Linux {
    /// When one of the timers comes.
    pub(super) fn due(&self) -> Time {
        let delack = if self.timed { self.delack_at } else { Time::NEVER };
        let compressed = if self.compressed > 0 { self.compress_at } else { Time::NEVER };
        delack.min(compressed)
    }

    /// `inet_csk_in_pingpong_mode`, with `tcp_pingpong_thresh` of 1.
    pub(super) const fn is_interactive(&self) -> bool {
        self.pingpong >= 1
    }
}

impl Act<'_> {
    fn jiffies(&self) -> u64 {
        self.linux.ticks.at(self.now)
    }

    /// Jiffies since the last data, or the handshake.
    fn since_data(&self) -> Option<u64> {
        self.state.last_data.map(|at| self.jiffies().saturating_sub(self.linux.ticks.at(at)))
    }

    /// `tcp_incr_quickack`.
    fn incr_quickack(&mut self, most: u32) {
        let half_window = self.state.window.advertised / (2 * u64::from(self.state.rcv_mss));
        let quick = if half_window == 0 { 2 } else { half_window.min(u64::from(u32::MAX)) as u32 };
        self.state.quick = self.state.quick.max(quick.min(most));
    }

    /// `tcp_enter_quickack_mode`.
    pub(super) fn enter_quickack_mode(&mut self, most: u32) {
        self.incr_quickack(most);
        self.state.pingpong = 0;
        self.state.ato = self.linux.ato_min;
    }

    /// `tcp_in_quickack_mode`.
    const fn is_quick(&self) -> bool {
        self.linux.quick_route || (self.state.quick > 0 && !self.state.is_interactive())
    }

    /// `tcp_measure_rcv_mss`: what a full segment is, and whether the peer has pushed.
    pub(super) fn measure_rcv_mss(&mut self, seg: &Segment) {
        /// `TCP_MSS_DEFAULT` with a header without options; and the least size of a segment without push that may be
        /// full.
        const DEFAULT_SEGMENT: u32 = 536 + 20;
        const LEAST_SEGMENT: u32 = 88 + 20;
        /// A header with time stamps.
        const HEADER: u32 = 32;
        let last = std::mem::take(&mut self.state.last_seg_size);
        // The first part of a merged segment is a full one.
        let len = if seg.parts > 1 { self.linux.advmss } else { seg.len as u32 };
        if len >= self.state.rcv_mss {
            if len > self.state.rcv_mss {
                self.state.window.measure(seg);
            }
            self.state.rcv_mss = len.min(self.linux.advmss);
            self.state.pushed |= seg.push;
            return;
        }
        let whole = len + HEADER;
        if whole >= DEFAULT_SEGMENT || (whole >= LEAST_SEGMENT && !seg.push && !seg.fin) {
            self.state.last_seg_size = len;
            if len == last {
                self.state.rcv_mss = len;
                return;
            }
        }
        self.state.pushed_again |= self.state.pushed;
        self.state.pushed = true;
    }

    /// `tcp_rcv_rtt_measure`: how long a window takes is a round trip or more.
    pub(super) fn rcv_rtt_measure(&mut self) {
        let next = self.receiver.next;
        if let Some(since) = self.state.rcv_rtt_since {
            if next < self.state.rcv_rtt_seq {
                return;
            }
            let us = self.now.us().saturating_sub(since.us()).max(1);
            let sample = us << 3;
            if self.state.rcv_rtt == 0 || sample < self.state.rcv_rtt {
                self.state.rcv_rtt = sample;
            }
        }
        self.state.rcv_rtt_seq = next + self.state.window.advertised;
        self.state.rcv_rtt_since = Some(self.now);
    }

    /// `tcp_rcv_rtt_measure_ts`: the age of an echoed stamp, which counts if a millisecond has begun since. The echo is
    /// that of what reached the peer when it sent the segment, over an idle path.
    pub(super) fn rcv_rtt_measure_ts(&mut self, seg: &Segment) {
        let Some(idle) = self.state.idle_rtt else { return };
        let ms = |at: Time| at.ps() / 1_000_000_000;
        let sent = self.now.saturating_sub(seg.stamp.until(self.now));
        let tsecr = ms(sent.saturating_sub(Time::from_ps(idle.ps() / 2)));
        if tsecr == self.state.last_tsecr {
            return;
        }
        self.state.last_tsecr = tsecr;
        let delta = ms(self.now).saturating_sub(tsecr);
        if delta == 0 || seg.len + u64::from(seg.fin) < u64::from(self.state.rcv_mss) {
            return;
        }
        let (sample, old) = (1000 * delta, self.state.rcv_rtt);
        self.state.rcv_rtt = if old == 0 || sample << 3 < old { sample << 3 } else { old - (old >> 3) + sample };
    }

    /// The middle of `tcp_event_data_recv`: the timeout follows the time between arrivals.
    pub(super) fn adapt_ato(&mut self) {
        let least = self.linux.ato_min;
        let gap = self.since_data().unwrap_or(u64::MAX).min(u64::from(u32::MAX)) as u32;
        if self.state.ato == 0 {
            self.incr_quickack(self.linux.max_quickacks);
            self.state.ato = least;
        } else if gap <= least / 2 {
            self.state.ato = self.state.ato / 2 + least / 2;
        } else if gap < self.state.ato {
            self.state.ato = (self.state.ato / 2 + gap).min(self.linux.rto).min(5 * least);
        } else if gap > self.linux.rto {
            self.incr_quickack(self.linux.max_quickacks);
        }
        self.state.last_data = Some(self.now);
    }

    /// `tcp_event_data_sent`: data that answer data soon make the session interactive.
    pub(super) fn event_data_sent(&mut self) {
        let ato = u64::from(self.state.ato);
        if self.since_data().is_some_and(|gap| gap < ato) {
            self.state.pingpong = self.state.pingpong.saturating_add(1);
        }
    }

    /// `tcp_event_ack_sent`.
    pub(super) fn event_ack_sent(&mut self) {
        self.select_window();
        let state = &mut *self.state;
        state.compressed = 0;
        // `tcp_dec_quickack_mode`
        if state.quick > 0 {
            let owed = u32::from(state.scheduled);
            state.quick = state.quick.saturating_sub(owed);
            if state.quick == 0 {
                state.ato = self.linux.ato_min;
            }
        }
        (state.scheduled, state.timed, state.now) = (false, false, false);
        (state.pushed, state.pushed_again) = (false, false);
    }

    /// `tcp_send_ack`.
    fn send_ack(&mut self) -> AckOut {
        let ack = self.receiver.ack_with(self.cfg.tells_more || (self.cfg.sack && !self.state.sacks.is_empty()));
        self.receiver.last_ack = self.receiver.next;
        self.event_ack_sent();
        ack
    }

    /// `tcp_send_dupack`: all of this was acknowledged before.
    pub(super) fn send_dupack(&mut self, start: u64, end: u64, out: &mut AckList) {
        self.enter_quickack_mode(self.linux.max_quickacks);
        self.dsack_set(start, end);
        out.push(self.send_ack());
    }

    /// `tcp_sack_compress_send_ack`, before the blocks change.
    pub(super) fn flush_compressed(&mut self, out: &mut AckList) {
        if self.state.compressed > 0 {
            let blocks = self.state.sacks.blocks();
            let ack = self.send_ack();
            // A duplicate is told of once. What has just arrived is not: the kernel takes its acknowledgement for sent.
            self.state.sacks.dsack = None;
            out.push_earlier(ack, blocks);
        }
    }

    /// `__tcp_ack_snd_check`. Where what is not read yet would shrink the window, the application acknowledges.
    pub(super) fn ack_snd_check(&mut self, out: &mut AckList) {
        let next = self.receiver.next;
        let unacknowledged = next - self.receiver.last_ack;
        let many = unacknowledged > u64::from(self.state.rcv_mss);
        if (many && !self.shrinks()) || self.is_quick() || self.state.now {
            return out.push(self.send_ack());
        }
        if self.receiver.store.is_empty() {
            return self.send_delayed_ack();
        }
        if !self.cfg.sack || self.state.compressed >= COMPRESSED_MOST {
            return out.push(self.send_ack());
        }
        if self.state.compressed_next != next {
            (self.state.compressed_next, self.state.dup_acks) = (next, 0);
        }
        if self.state.dup_acks < DUPLICATES_FIRST {
            self.state.dup_acks += 1;
            return out.push(self.send_ack());
        }
        self.state.compressed += 1;
        if self.state.compressed == 1 {
            self.state.compress_at = self.now + self.compression_delay() + COMPRESSED_SLACK;
        }
    }

    /// A twentieth of the lesser round trip that is known.
    fn compression_delay(&self) -> Time {
        let own = Time::from_ns(self.state.rcv_rtt * 125);
        let rtt = self.state.srtt.map_or(own, |srtt| srtt.min(own));
        Time::from_ps(rtt.ps() / 20).min(COMPRESSED_DELAY)
    }

    /// `tcp_send_delayed_ack`. Round trips are taken to be below `TCP_DELACK_MIN`, which then bounds the delay. The
    /// timer does not run yet: a second segment does not wait where the application reads at once.
    fn send_delayed_ack(&mut self) {
        let ato = self.state.ato.min(self.linux.ato_min).min(self.linux.delack_max);
        self.state.timed = true;
        self.state.delack_at = self.linux.ticks.wheel(self.jiffies() + u64::from(ato), self.now, self.state.delack_at);
    }

    /// `tcp_cleanup_rbuf`: the application has read everything.
    pub(super) fn cleanup_rbuf(&mut self, out: &mut AckList) {
        let state = &*self.state;
        if !state.scheduled {
            return;
        }
        let unacknowledged = self.receiver.next - self.receiver.last_ack;
        let pushed = state.pushed_again || (state.pushed && !state.is_interactive());
        if unacknowledged > u64::from(state.rcv_mss) || (pushed && self.receiver.store.is_empty()) {
            out.push(self.send_ack());
        }
    }

    /// `tcp_compressed_ack_kick` and `tcp_delack_timer_handler`.
    pub(super) fn on_timer(&mut self) -> Option<AckOut> {
        if self.state.compressed > 0 && self.now >= self.state.compress_at {
            return Some(self.send_ack());
        }
        if !(self.state.timed && self.now >= self.state.delack_at) {
            return None;
        }
        self.state.timed = false;
        if self.state.compressed == 0 {
            if !self.state.scheduled {
                return None;
            }
            if self.state.is_interactive() {
                (self.state.pingpong, self.state.ato) = (0, self.linux.ato_min);
            } else {
                self.state.ato = (2 * self.state.ato).min(self.linux.rto).min(5 * self.linux.ato_min);
            }
        }
        Some(self.send_ack())
    }
}

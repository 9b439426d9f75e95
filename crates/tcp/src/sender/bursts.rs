//! What lies between a sender's windows and its host's queue: segmentation offload (TSO), pacing, and small queues (TSQ).
//!
//! After Linux 6, `net/ipv4/tcp_output.c` and `tcp_input.c` (`tcp_update_pacing_rate`); its names are in the comments. A
//! burst is what Linux calls an skb: the segments that TCP hands to the interface at once. What the windows let go is
//! divided into bursts here; the segments of each leave one behind another at the rate of the link.
//!
//! TCP does not wait for its paced rate: each burst departs at a time of its own, until which `net/sched/sch_fq.c` keeps it.
//! The timer of `fq` comes late by its slack.
//!
//! Simpler than Linux: an application has written all that a sender has, in buffers as large as a burst; each
//! retransmission is a burst of its own; and a burst counts with its payload, not with the memory it takes. `fq` keeps any
//! number of bursts of a flow, and only a later one of that flow makes it look at them before its timer comes.

use super::interface::Interface;
use super::linux::CaState;
use super::{Env, InterfaceConfig, OutSegment, Sender, SenderConfig, SenderIo};
use fanin_core::roles::CongestionWindow;
use fanin_core::units::{Time, real};

/// `sysctl_tcp_min_tso_segs`: segments of the smallest burst.
const LEAST_SEGMENTS: u64 = 2;
/// `sysctl_tcp_tso_rtt_log`: the round trip of 2^9 us by which the part of a burst's size that is for near peers halves.
const HALVING: Time = Time::from_us(512);
/// `sysctl_tcp_tso_win_divisor`: a sender does not wait that can send this share of its window.
const WINDOW_SHARE: u64 = 3;
/// A sender does not wait for an acknowledgement that is further away, or if it last sent longer ago.
const PATIENCE: Time = Time::from_ms(1);
/// `sk_pacing_shift`: a burst, and a small queue, is what a flow sends in 2^-10 s.
const RATE_SHARE: f64 = 1024.0;
/// `sysctl_tcp_pacing_ss_ratio` and `sysctl_tcp_pacing_ca_ratio`.
const SLOW_START_RATIO: f64 = 2.0;
const AVOIDANCE_RATIO: f64 = 1.2;
/// `timer_slack` of `fq`: its timer comes that much late.
const SLACK: Time = Time::from_us(10);
/// The first segments of a connection are not paced, as with the initial quantum of `fq`.
const UNPACED: u64 = 10;

/// `tcp_update_pacing_rate`: bytes that a flow may send in a second; none before the first round-trip time.
pub fn pacing_rate(window: CongestionWindow, in_flight: u64, srtt: Option<Time>) -> Option<f64> {
    let srtt = srtt.filter(|srtt| *srtt > Time::ZERO)?;
    let ratio = if window.cwnd < window.ssthresh / 2.0 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
    Some(ratio * window.cwnd.max(real(in_flight)) / srtt.secs())
}

impl Interface {
    /// `fq_dequeue`, as often as something is due; then its timer is for the rest.
    fn depart<I: SenderIo>(&mut self, env: &mut Env<'_, I>) {
        let kept = self.held.len();
        while let Some(&(at, segment, facts)) = self.held.front()
            && at <= env.now
        {
            self.held.pop_front();
            env.io.transmit(segment, &facts, env.now);
        }
        if let Some(&(at, ..)) = self.held.front()
            && self.held.len() < kept
        {
            env.io.pacing_timer(at + SLACK);
        }
    }
}

impl Sender {
    /// [`Sender::may_leave`] of a sender with something below it.
    #[cold]
    pub(super) fn passes_interface<I: SenderIo>(&mut self, len: u64, room: Option<u64>, env: &mut Env<'_, I>) -> bool {
        let (Some(cfg), Some(mut interface)) = (env.cfg.interface, self.interface.take()) else { return true };
        let leaves = self.begins_burst(&cfg, &mut interface, len, room, env);
        self.interface = Some(interface);
        leaves
    }

    /// Whether a segment of `len` bytes continues the present burst or may begin one: `tcp_write_xmit`.
    fn begins_burst<I: SenderIo>(
        &mut self,
        cfg: &InterfaceConfig,
        interface: &mut Interface,
        len: u64,
        room: Option<u64>,
        env: &mut Env<'_, I>,
    ) -> bool {
        if room.is_some() && interface.begun == env.now && interface.left >= len {
            interface.left -= len;
            interface.pushes = interface.left == 0;
            return true;
        }
        interface.pushes = false;
        let self_paced = self.packet.gap > Time::ZERO;
        let until = self.paced_until();
        if self_paced && env.now < until {
            self.wait_until(until, env);
            return false;
        }
        interface.settle(self.una, self.nxt, env.now);
        let segment = self.packet.segment_of(env.cfg.mss);
        let most = self.largest_burst(cfg, segment);
        let size = match room {
            Some(room) if self.defers(cfg, interface, room, most, env) => {
                // `is_cwnd_limited`: what is left of the window is in use, as it is saved for the next burst.
                interface.lacks_window |= !self.obeys_peer() && self.una + (self.window.cwnd as u64) < self.peer_edge;
                return false;
            }
            Some(room) => self.burst(room, most, segment).max(len),
            None => len,
        };
        let limit = self.queue_limit(cfg, size) << u32::from(room.is_none());
        if cfg.small_queue > 0 && interface.queued_bytes > limit && interface.sent.len() > 1 {
            let (leaves, _) = interface.queued[0];
            self.wait_until(leaves, env);
            return false;
        }
        let segments = size.div_ceil(segment);
        let departs = if cfg.paced { self.pace_next.max(env.now) } else { env.now };
        interface.left = size - len;
        interface.begun = env.now;
        interface.departs = departs;
        interface.segments += segments;
        if room.is_some() {
            interface.sent.push_back((self.nxt + size, departs));
        }
        if cfg.small_queue > 0 {
            let leaves = env.io.leaves(size, segments) + Self::delay(departs, env.now);
            interface.queued.push_back((leaves, size));
            interface.queued_bytes += size;
        }
        if self_paced {
            self.start_gap(env.now);
        } else if cfg.paced {
            self.pace(cfg, if interface.segments < UNPACED { 0 } else { size }, env.now);
        }
        true
    }

    /// When a segment that TCP sends now departs. `fq` keeps it until then: TCP does not wait for it, and counts it as sent
    /// at that time (`skb_set_delivery_time`).
    #[inline(always)]
    pub(super) fn departure(&self, now: Time) -> Time {
        self.interface.as_ref().map_or(now, |interface| interface.departs.max(now))
    }

    /// Whether a segment stays in `fq` until `at`, behind those of its flow that are there.
    #[inline(always)]
    pub(super) fn is_held(&self, at: Time, now: Time) -> bool {
        self.interface.as_ref().is_some_and(|interface| at > now || !interface.held.is_empty())
    }

    /// `fq_enqueue`, and `fq_dequeue` of what is due, though its timer has not come yet.
    #[cold]
    pub(super) fn hold<I: SenderIo>(&mut self, at: Time, segment: OutSegment, env: &mut Env<'_, I>) {
        let facts = self.packet;
        let Some(interface) = &mut self.interface else { return };
        let was_empty = interface.held.is_empty();
        interface.held.push_back((at, segment, facts));
        if was_empty {
            env.io.pacing_timer(at + SLACK);
        } else {
            interface.depart(env);
        }
    }

    /// The timer of `fq`, if it is for that: what is due departs. Returns whether TCP waits for this moment too.
    #[cold]
    pub(super) fn release<I: SenderIo>(&mut self, env: &mut Env<'_, I>) -> bool {
        let Some(interface) = &mut self.interface else { return true };
        if interface.held.front().is_some_and(|(at, ..)| *at + SLACK <= env.now) {
            interface.depart(env);
        }
        env.now >= self.resumes
    }

    /// How long `fq` keeps what departs at `at`.
    fn delay(at: Time, now: Time) -> Time {
        if at > now { at.saturating_sub(now) + SLACK } else { Time::ZERO }
    }

    /// How many segments that TCP has sent are still in `fq`.
    pub fn segments_held(&self) -> u64 {
        self.interface.as_ref().map_or(0, |interface| interface.held.len() as u64)
    }

    /// Whether segments are in `fq`.
    pub(super) fn holds(&self) -> bool {
        self.interface.as_ref().is_some_and(|interface| !interface.held.is_empty())
    }

    /// `sk_pacing_rate`: bytes that the flow may send in a second. What is paced goes by the last acknowledgement.
    fn pacing_rate(&self, cfg: &InterfaceConfig) -> Option<f64> {
        let told = self.linux.as_ref().filter(|_| cfg.paced).and_then(|linux| linux.pacing_rate());
        told.or_else(|| pacing_rate(self.window, self.in_flight(), self.srtt()))
    }

    /// `tcp_update_skb_after_send`: the next burst follows after the time that this one takes at the paced rate, less by
    /// up to half where this one was late.
    fn pace(&mut self, cfg: &InterfaceConfig, bytes: u64, now: Time) {
        let due = self.pace_next;
        self.pace_next = due.max(now);
        if let Some(rate) = self.pacing_rate(cfg) {
            let takes = Time::from_ps((real(bytes) / rate * 1e12) as u64);
            self.pace_next += takes - now.saturating_sub(due).min(Time::from_ps(takes.ps() / 2));
        }
    }

    /// `tcp_tso_autosize`, in bytes. A congestion control that paces itself means single segments.
    fn largest_burst(&self, cfg: &InterfaceConfig, segment: u64) -> u64 {
        if cfg.burst == 0 || self.packet.gap > Time::ZERO {
            return segment;
        }
        let share = self.pacing_rate(cfg).map_or(u64::MAX, |rate| (rate / RATE_SHARE) as u64);
        let min_rtt = self.linux.as_ref().and_then(|linux| linux.least_rtt()).or(self.srtt());
        let halvings = min_rtt.map_or(0, |rtt| rtt.ps() / HALVING.ps());
        let near = if halvings < 32 { cfg.burst >> halvings } else { 0 };
        (share.saturating_add(near).min(cfg.burst) / segment).max(LEAST_SEGMENTS) * segment
    }

    /// The same in segments.
    pub(super) fn largest_burst_segments(&self, cfg: &SenderConfig) -> u64 {
        let segment = self.packet.segment_of(cfg.mss);
        cfg.interface.map_or(1, |interface| self.largest_burst(&interface, segment) / segment)
    }

    /// Bytes of the next burst: whole segments, unless it ends with the data (`tcp_mss_split_point`). At least two bursts
    /// fit a window (`tcp_cwnd_test`).
    fn burst(&self, room: u64, most: u64, segment: u64) -> u64 {
        let half = if self.obeys_peer() { u64::MAX } else { self.window.cwnd as u64 / segment / 2 * segment };
        let allowed = room.min(most).min(half.max(segment));
        let rest = self.data_end.saturating_sub(self.nxt);
        if rest <= allowed { rest } else { allowed / segment * segment }
    }

    /// `tcp_tso_should_defer`: whether new data waits until the windows, which let `room` bytes go, allow a larger burst.
    fn defers<I: SenderIo>(
        &self,
        cfg: &InterfaceConfig,
        interface: &Interface,
        room: u64,
        most: u64,
        env: &Env<'_, I>,
    ) -> bool {
        let rest = self.data_end.saturating_sub(self.nxt);
        let repairs = self.in_recovery() || self.linux.as_ref().is_some_and(|linux| linux.state() >= CaState::Recovery);
        if cfg.burst == 0 || rest <= self.packet.segment_of(env.cfg.mss) || repairs {
            return false;
        }
        // What stands in front of other data is not waited for if it may leave as a whole.
        let buffer = self.largest_buffer(env.cfg);
        let ends = match self.nxt.checked_sub(interface.buffered_from) {
            Some(into) => self.nxt + buffer - into % buffer,
            // Data of earlier buffers, sent again after a timeout.
            None => interface.buffered_from,
        };
        if ends < self.data_end && room >= ends - self.nxt {
            return false;
        }
        let peer = self.peer_edge.saturating_sub(self.una);
        let window = if self.obeys_peer() { peer } else { peer.min(self.window.cwnd as u64) };
        // What is paced was last sent where the next burst may depart.
        let last = if cfg.paced { self.pace_next } else { self.last_sent };
        if room >= most || room >= window / WINDOW_SHARE || env.now.saturating_sub(last) > PATIENCE {
            return false;
        }
        let (Some((_, sent)), Some(srtt)) = (interface.sent.front(), self.srtt()) else { return false };
        let patience = Time::from_ps(srtt.ps() / 2).min(PATIENCE);
        if *sent + srtt > env.now + patience {
            return false;
        }
        // What fits as a whole does not get more data behind its end, but the application may add some before that.
        let buffered = rest.min(most);
        room <= buffered || !(self.closing() && rest == buffered)
    }

    /// `tcp_xmit_size_goal`: bytes of data that Linux puts into one buffer.
    pub(super) fn largest_buffer(&self, cfg: &SenderConfig) -> u64 {
        let segment = self.packet.segment_of(cfg.mss);
        cfg.interface.map_or(segment, |interface| (interface.burst / segment).max(1) * segment)
    }

    /// `tcp_small_queue_check`: bytes in the host's queue beyond which a burst of `size` waits.
    fn queue_limit(&self, cfg: &InterfaceConfig, size: u64) -> u64 {
        let share = self.pacing_rate(cfg).map_or(u64::MAX, |rate| (rate / RATE_SHARE) as u64);
        let limit = share.max(2 * size);
        // Paced flows are limited by their rate only.
        if cfg.paced { limit } else { limit.min(cfg.small_queue) }
    }
}

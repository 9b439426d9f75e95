//! The receiver of Linux 6.12: when it acknowledges, and what its acknowledgements say (`net/ipv4/tcp_input.c`,
//! `tcp_output.c` and `tcp_timer.c`).
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | its state, and the arrival of a segment: `tcp_data_queue` |
//! | `delack.rs` | quick, delayed and compressed acknowledgements |
//! | `sacks.rs` | SACK blocks and DSACK |
//! | `window.rs` | the receive window, and its growth |
//!
//! The application reads what has arrived in order at the same instant, as a program does that waits for it. Names are
//! those of the kernel where it has one. Left out: urgent data and memory pressure.

mod delack;
mod sacks;
mod window;

use super::{AckList, AckOut, NO_FIN, Receiver, ReceiverConfig, Segment};
use crate::Ticks;
use fanin_core::roles::{Delivery, EcnMode};
use fanin_core::units::Time;
use sacks::Sacks;
use window::Window;

/// What the receivers of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxReceiver {
    /// The kernel's tick.
    pub ticks: Ticks,
    /// `TCP_ATO_MIN` and `TCP_DELACK_MIN`, in ticks.
    pub ato_min: u32,
    /// `tcp_delack_max`, in ticks: a delayed acknowledgement comes before the least timeout of a peer with the same
    /// route.
    pub delack_max: u32,
    /// `icsk_rto` in ticks on a path whose round trip is far below the least timeout.
    pub rto: u32,
    /// `TCP_MAX_QUICKACKS`.
    pub max_quickacks: u32,
    /// The route has `quickack`.
    pub quick_route: bool,
    /// `advmss`: payload bytes of the largest segment.
    pub advmss: u32,
    /// `tcp_rmem`, its largest value: bytes of memory of a receive buffer.
    pub rmem_max: u64,
    /// Shift of the advertised window.
    pub scale: u8,
}

/// A receiver's state besides reassembly. `RCV.WUP` is [`Receiver::last_ack`].
#[derive(Clone, Debug)]
pub(super) struct Linux {
    /// `ICSK_ACK_SCHED`: an acknowledgement is owed.
    scheduled: bool,
    /// `ICSK_ACK_TIMER`: the timer runs for it.
    timed: bool,
    /// `ICSK_ACK_NOW`.
    now: bool,
    /// `ICSK_ACK_PUSHED` and `ICSK_ACK_PUSHED2`: small or pushed segments since the last acknowledgement.
    pushed: bool,
    pushed_again: bool,
    /// Acknowledgements that are still sent quickly.
    quick: u32,
    /// How often the host has answered data with data: from 1 on the session is interactive.
    pingpong: u8,
    /// Timeout of a delayed acknowledgement in ticks; zero before the first data.
    ato: u32,
    /// When the last data arrived, or the connection was opened; none if that was long before the run.
    last_data: Option<Time>,
    /// When the timer of delayed acknowledgements comes.
    delack_at: Time,
    /// Guess of the peer's segment size, and the size of the last small segment.
    rcv_mss: u32,
    last_seg_size: u32,
    /// Acknowledgements held back beyond a hole, when they are sent, and what was expected at the last one of a series.
    compressed: u32,
    compress_at: Time,
    compressed_next: u64,
    dup_acks: u8,
    /// The receiver's estimate of the round trip, in microseconds times eight; zero if unknown.
    rcv_rtt: u64,
    rcv_rtt_seq: u64,
    rcv_rtt_since: Option<Time>,
    /// `rcv_rtt_last_tsecr`: the last stamp of the host that was echoed, in milliseconds.
    last_tsecr: u64,
    /// The round trip of the idle path, if the host knows it.
    idle_rtt: Option<Time>,
    /// The sender's, of the same host.
    srtt: Option<Time>,
    /// A segment was ECN-capable.
    ect_seen: bool,
    /// DCTCP: the mark of the last segment, and what was expected then.
    ce_state: bool,
    prior_next: u64,
    window: Window,
    sacks: Sacks,
}

impl Linux {
    pub(super) fn new(cfg: &LinuxReceiver, srtt: Option<Time>, opener: bool) -> Self {
        /// `TCP_MSS_DEFAULT`: what a peer sends at least.
        const MSS_DEFAULT: u32 = 536;
        Self {
            scheduled: false,
            timed: false,
            now: false,
            pushed: false,
            pushed_again: false,
            quick: 0,
            pingpong: 0,
            ato: 0,
            last_data: None,
            delack_at: Time::NEVER,
            rcv_mss: cfg.advmss.min(MSS_DEFAULT),
            last_seg_size: 0,
            compressed: 0,
            compress_at: Time::NEVER,
            compressed_next: 0,
            dup_acks: 0,
            rcv_rtt: 0,
            rcv_rtt_seq: 0,
            rcv_rtt_since: None,
            last_tsecr: 0,
            idle_rtt: srtt,
            srtt,
            ect_seen: false,
            ce_state: false,
            prior_next: crate::FIRST_DATA,
            window: Window::new(cfg, opener),
            sacks: Sacks::default(),
        }
    }
}

/// A receiver of Linux while an event is processed.
struct Act<'a> {
    state: &'a mut Linux,
    receiver: &'a mut Receiver,
    cfg: &'a ReceiverConfig,
    linux: &'a LinuxReceiver,
    now: Time,
    /// Memory of what has arrived in order and has not been read yet.
    unread: u64,
}

impl Receiver {
    /// Calls Linux's receiver, if this is one.
    fn as_linux<R>(&mut self, now: Time, cfg: &ReceiverConfig, act: impl FnOnce(Act<'_>) -> R) -> Option<R> {
        let linux = cfg.linux.as_ref()?;
        let mut state = self.linux.take()?;
        let result = act(Act { state: &mut state, receiver: self, cfg, linux, now, unread: 0 });
        self.deadline = state.due();
        self.linux = Some(state);
        Some(result)
    }

    /// As [`on_segment`](Self::on_segment).
    #[inline(never)]
    pub(super) fn on_linux_segment(
        &mut self,
        seg: Segment,
        now: Time,
        cfg: &ReceiverConfig,
        out: &mut AckList,
    ) -> Delivery {
        self.as_linux(now, cfg, |mut act| act.on_segment(&seg, out)).unwrap_or_default()
    }

    /// As [`on_ack_timer`](Self::on_ack_timer).
    #[inline(never)]
    pub(super) fn on_linux_timer(&mut self, now: Time, cfg: &ReceiverConfig) -> Option<AckOut> {
        self.as_linux(now, cfg, |mut act| act.on_timer()).flatten()
    }

    /// An acknowledgement leaves: `tcp_event_ack_sent`.
    #[inline(never)]
    pub(super) fn on_linux_ack_sent(&mut self, cfg: &ReceiverConfig) {
        self.as_linux(Time::ZERO, cfg, |mut act| act.event_ack_sent());
    }

    /// The host sends data on the connection, which carry the acknowledgement that is returned.
    pub fn ride(&mut self, now: Time, payload: bool, cfg: &ReceiverConfig) -> AckOut {
        let ack = self.take_ack(cfg);
        if payload {
            self.as_linux(now, cfg, |mut act| act.event_data_sent());
        }
        ack
    }

    /// The window that a receiver of Linux has advertised last, or that of its handshake, in bytes.
    pub fn linux_window(&self) -> Option<u64> {
        self.linux.as_ref().map(|linux| linux.window.advertised)
    }

    /// The round-trip time of the handshake, whose SYN-ACK this host has sent (`tcp_synack_rtt_meas`).
    /// It ends now.
    pub fn know_handshake(&mut self, rtt: Time, now: Time) {
        if let Some(linux) = &mut self.linux {
            linux.last_data = Some(now);
            linux.idle_rtt.get_or_insert(rtt);
            linux.srtt.get_or_insert(rtt);
        }
    }

    /// The smoothed round-trip time that the sender of the same host has measured on the connection.
    pub fn know_srtt(&mut self, srtt: Time) {
        if let Some(linux) = &mut self.linux {
            linux.srtt = Some(srtt);
        }
    }
}

impl Act<'_> {
    /// `tcp_rcv_established`, from the acceptability of the segment to the acknowledgement.
    fn on_segment(&mut self, seg: &Segment, out: &mut AckList) -> Delivery {
        let (before, end) = (self.receiver.next, seg.seq + seg.len + u64::from(seg.fin));
        if end == seg.seq {
            return Delivery { duplicate: true, ..Delivery::default() };
        }
        if end < self.receiver.last_ack {
            self.send_dupack(seg.seq, end, out);
            return Delivery { duplicate: true, ..Delivery::default() };
        }
        self.replace_ts_recent(seg);
        if seg.cwr {
            // `tcp_ecn_accept_cwr`: the peer's window may be a single segment now.
            self.receiver.ce = false;
            self.state.now = true;
        }
        self.rcv_rtt_measure_ts(seg);
        let new_numbers = self.data_queue(seg, end, out);
        let new_fin = seg.fin && self.receiver.fin == NO_FIN;
        if new_fin {
            self.receiver.fin = end - 1;
        }
        let (next, finished) = (self.receiver.next, before <= self.receiver.fin && self.receiver.finished());
        if finished {
            // The application has closed after its last byte, so the state is FIN-WAIT: `tcp_fin` acknowledges at once.
            self.state.scheduled = true;
            self.state.now = true;
        }
        if self.state.scheduled {
            self.ack_snd_check(out);
        }
        if next > before {
            self.unread = 0;
            self.adjust_space();
            self.cleanup_rbuf(out);
        }
        Delivery {
            new_in_order: next - before - u64::from(finished),
            new_data: new_numbers.saturating_sub(u64::from(new_fin)),
            out_of_order: seg.seq > before,
            duplicate: new_numbers == 0,
            finished,
        }
    }

    /// `tcp_replace_ts_recent`: only what begins where the last acknowledgement ended, or below, is echoed.
    fn replace_ts_recent(&mut self, seg: &Segment) {
        let older = seg.stamp.until(self.now) > self.receiver.echo.until(self.now);
        if seg.seq <= self.receiver.last_ack && !older {
            self.receiver.record_stamp(seg);
        }
    }

    /// `tcp_data_queue`: returns how many numbers are new.
    fn data_queue(&mut self, seg: &Segment, end: u64, out: &mut AckList) -> u64 {
        let before = self.receiver.next;
        self.state.sacks.dsack = None;
        if end <= before {
            self.dsack_set(seg.seq, end);
            self.enter_quickack_mode(self.linux.max_quickacks);
            self.state.scheduled = true;
            return 0;
        }
        if seg.seq > before {
            return self.data_queue_ofo(seg, end, out);
        }
        if seg.seq < before {
            self.dsack_set(seg.seq, before);
        }
        self.receiver.next = end;
        self.unread = window::memory(seg);
        if seg.len > 0 {
            self.event_data_recv(seg, out);
        }
        if seg.fin {
            self.state.scheduled = true;
        }
        let mut stored = 0;
        if !self.receiver.store.is_empty() {
            if let Some((start, overlap)) = self.receiver.store.first_within(before, end) {
                self.dsack_extend(start, overlap);
            }
            (self.receiver.next, stored) = self.receiver.store.take_contiguous(end);
            self.unread += stored;
            if self.receiver.store.is_empty() {
                self.state.now = true; // RFC 5681 s4.2: the hole is filled.
            }
        }
        let holes = !self.receiver.store.is_empty();
        self.state.sacks.remove(self.receiver.next, holes);
        self.receiver.next - before - stored
    }

    /// `tcp_event_data_recv`, with the segment already in the queue.
    fn event_data_recv(&mut self, seg: &Segment, out: &mut AckList) {
        self.state.scheduled = true;
        self.measure_rcv_mss(seg);
        self.rcv_rtt_measure();
        self.adapt_ato();
        self.ecn_check_ce(seg, out);
        self.grow_window(seg, true);
    }

    /// `tcp_data_queue_ofo`: data beyond a hole.
    fn data_queue_ofo(&mut self, seg: &Segment, end: u64, out: &mut AckList) -> u64 {
        self.ecn_check_ce(seg, out);
        self.measure_rcv_mss(seg);
        self.state.scheduled = true;
        if let Some((start, overlap)) = self.receiver.store.first_within(seg.seq, end) {
            self.dsack_set(start, overlap);
        }
        if self.state.sacks.reaches_far(seg.seq, end) {
            self.flush_compressed(out);
        }
        self.state.sacks.insert(seg.seq, end);
        let follows = self.receiver.store.as_slice().iter().any(|range| range.end == seg.seq);
        self.grow_window(seg, follows);
        self.receiver.arrivals += 1;
        self.receiver.store.insert(seg.seq, end, u64::from(self.receiver.arrivals))
    }

    /// `tcp_ecn_check_ce`.
    fn ecn_check_ce(&mut self, seg: &Segment, out: &mut AckList) {
        if self.cfg.ecn == EcnMode::Off {
            return;
        }
        if !seg.ect && !seg.ce {
            if self.state.ect_seen {
                // Probably a retransmission.
                self.enter_quickack_mode(2);
            }
            return;
        }
        self.state.ect_seen = true;
        if self.cfg.ecn == EcnMode::Accurate {
            self.dctcp_ece_ack_update(seg.ce, out);
        }
        if seg.ce && !self.receiver.ce {
            self.enter_quickack_mode(2);
            self.receiver.ce = true;
        }
    }

    /// `dctcp_ece_ack_update`: a change of marks is acknowledged at once, after what waits, with the old mark.
    fn dctcp_ece_ack_update(&mut self, ce: bool, out: &mut AckList) {
        if self.state.ce_state != ce {
            if self.state.timed {
                self.receiver.ce = self.state.ce_state;
                let ack = AckOut { ack: self.state.prior_next, ..self.receiver.current_ack(self.cfg) };
                self.receiver.last_ack = self.receiver.next;
                self.select_window();
                out.push_earlier(ack, self.state.sacks.blocks());
            }
            self.state.now = true;
        }
        self.state.prior_next = self.receiver.next;
        self.state.ce_state = ce;
        self.receiver.ce = ce;
    }
}

#[cfg(test)]
mod tests;

//! The receiving half of one flow: reassembly and acknowledgements.

mod acks;
mod linux;
mod ns3;

pub use acks::{AckList, AckOut};
pub use linux::LinuxReceiver;

use super::FIRST_DATA;
use super::ranges::RangeSet;
use super::sack::SackBlocks;
use fanin_core::packet::{Stamp, unwrap_seq};
use fanin_core::roles::{Delivery, EcnMode};
use fanin_core::units::Time;
use linux::Linux;

/// How a receiver acknowledges. Shared by the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// In-order segments that one ACK may cover: 1 acknowledges each, 2 is the limit of RFC 5681 section 4.2.
    pub ack_every: u32,
    /// Longest time that an ACK waits for the next segment.
    pub ack_delay: Time,
    /// In-order segments at the beginning that are acknowledged at once.
    pub quick_acks: u32,
    /// Whether ACKs carry SACK blocks.
    pub sack: bool,
    /// How congestion marks are echoed.
    pub ecn: EcnMode,
    /// Pure ACKs are sent ECN-capable.
    pub ecn_ack: bool,
    /// A change of marks sends the ACK before the one that waits, as in ns-3; see `ns3.rs`.
    pub late_change: bool,
    /// ACKs carry more than SACK blocks: how long the host has kept what they acknowledge, and its telemetry.
    pub tells_more: bool,
    /// When Linux acknowledges; then the first three values do not count.
    pub linux: Option<LinuxReceiver>,
}

/// An arriving segment of the flow, unwrapped by [`Receiver::unwrap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of its first byte.
    pub seq: u64,
    /// Bytes of payload.
    pub len: u64,
    /// Segments on the wire of which it is merged; 1 if none were.
    pub parts: u32,
    /// It carries a FIN, which takes the number after the payload.
    pub fin: bool,
    /// It is ECN-capable.
    pub ect: bool,
    /// It carries a congestion mark (CE).
    pub ce: bool,
    /// The sender has reduced its window.
    pub cwr: bool,
    /// When it was sent.
    pub stamp: Stamp,
    /// It is a retransmission.
    pub retransmitted: bool,
    /// It ends what the application has written (PSH).
    pub push: bool,
}

impl Default for Segment {
    fn default() -> Self {
        Self {
            seq: 0,
            len: 0,
            parts: 1,
            fin: false,
            ect: false,
            ce: false,
            cwr: false,
            stamp: Stamp::default(),
            retransmitted: false,
            push: false,
        }
    }
}

/// Number of a FIN that has not been seen.
const NO_FIN: u64 = u64::MAX;

/// State of the receiving half after the handshake. Fields needed for every segment come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// `RCV.NXT`: everything below has arrived.
    next: u64,
    /// Number of the last ACK.
    last_ack: u64,
    /// When a delayed ACK must be sent; [`Time::NEVER`] if none is delayed.
    deadline: Time,
    /// Segments in order since the last ACK, fewer than an ACK covers.
    waiting: u16,
    /// For [`ReceiverConfig::late_change`]: what arrived last in order was to wait, as far as ns-3 knows.
    reserved: bool,
    /// For [`ReceiverConfig::late_change`]: the lower half of `RCV.NXT` before the last ECN-capable segment; 0 if there was
    /// none.
    next_before: u32,
    /// TS.Recent of RFC 7323 section 4.3, and whether it came in a retransmission.
    echo: Stamp,
    echo_retransmitted: bool,
    /// DCTCP.CE of RFC 8257 section 3.2, or the latch of RFC 3168 section 6.1.3: ACKs carry ECE.
    ce: bool,
    /// Segments in order that might have waited and were acknowledged at once, at the beginning.
    quick: u8,
    fin: u64,
    /// What lies beyond a hole; ranges are tagged with the arrival that reached them last. While an ACK waits
    /// this is empty, because arrivals around a hole are acknowledged at once.
    store: RangeSet,
    /// Arrivals beyond a hole so far.
    arrivals: u32,
    /// For [`ReceiverConfig::late_change`]: the lower half of the number of the last mark that counted.
    marked_at: u32,
    /// The rest of Linux's state, where it acknowledges.
    linux: Option<Box<Linux>>,
}

impl Default for Receiver {
    fn default() -> Self {
        Self::new()
    }
}

impl Receiver {
    /// A receiver that has seen the SYN.
    pub const fn new() -> Self {
        Self {
            next: FIRST_DATA,
            last_ack: FIRST_DATA,
            deadline: Time::NEVER,
            waiting: 0,
            next_before: 0,
            echo: Stamp::from_bits(0),
            echo_retransmitted: false,
            reserved: false,
            ce: false,
            quick: 0,
            fin: NO_FIN,
            store: RangeSet::new(),
            arrivals: 0,
            marked_at: 0,
            linux: None,
        }
    }

    /// As [`new`](Self::new), for these values; `srtt` is the round-trip time if the host knows it, and
    /// `opener` says that it has begun the handshake.
    pub fn of(cfg: &ReceiverConfig, srtt: Option<Time>, opener: bool) -> Self {
        Self { linux: cfg.linux.as_ref().map(|linux| Box::new(Linux::new(linux, srtt, opener))), ..Self::new() }
    }

    /// The next number expected.
    #[inline(always)]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// When [`on_ack_timer`](Self::on_ack_timer) is due; [`Time::NEVER`] if no ACK waits.
    #[inline(always)]
    pub const fn ack_deadline(&self) -> Time {
        self.deadline
    }

    /// Whether something has arrived beyond a hole.
    #[cfg(test)]
    pub(crate) const fn has_hole(&self) -> bool {
        !self.store.is_empty()
    }

    /// The stamp that an ACK echoes now.
    pub const fn echo(&self) -> Stamp {
        self.echo
    }

    /// Whether everything up to the FIN has arrived.
    #[inline(always)]
    pub const fn finished(&self) -> bool {
        self.next > self.fin
    }

    /// The 64-bit number of a segment of this flow.
    #[inline(always)]
    pub const fn unwrap(&self, wire: u32) -> u64 {
        unwrap_seq(wire, self.next)
    }

    /// Processes a segment; the ACKs to send now replace the content of `out`.
    #[inline(always)]
    pub fn on_segment(&mut self, seg: &Segment, now: Time, cfg: &ReceiverConfig, out: &mut AckList) -> Delivery {
        out.clear();
        if cfg.linux.is_some() {
            return self.on_linux_segment(*seg, now, cfg, out);
        }
        let end = seg.seq + seg.len + u64::from(seg.fin);
        if seg.seq != self.next || end == seg.seq || !self.store.is_empty() {
            return self.on_irregular(*seg, end, cfg, out);
        }
        if cfg.ecn != EcnMode::Off {
            self.observe_marks(seg, seg.ce, cfg, out);
        }
        self.next = end;
        if seg.fin {
            self.fin = end - 1;
        }
        // RFC 5681 s4.2: an ACK for every `ack_every` segments; a FIN is acknowledged at once.
        let wait = u32::from(self.waiting) + seg.parts < cfg.ack_every && !seg.fin && !self.is_quick(cfg);
        if self.waiting == 0 {
            self.record_stamp(seg);
            if wait {
                self.deadline = now.saturating_add(cfg.ack_delay);
            }
        }
        self.reserved = wait;
        if wait {
            self.waiting += seg.parts as u16;
        } else {
            out.push(self.take_ack(cfg));
        }
        Delivery { new_in_order: seg.len, new_data: seg.len, finished: seg.fin, ..Delivery::default() }
    }

    /// A segment that is not the next of a stream without holes. All of these are acknowledged at once
    /// (RFC 5681 section 4.2): out of order, filling a hole, duplicate.
    ///
    /// The segment is passed by value, so that in the common case it need not be stored in memory.
    #[inline(never)]
    fn on_irregular(&mut self, seg: Segment, end: u64, cfg: &ReceiverConfig, out: &mut AckList) -> Delivery {
        let before = self.next;
        let out_of_order = seg.seq > before && end > seg.seq;
        let old = end <= before;
        if cfg.late_change && end < before && end > seg.seq {
            return self.refuse_as_ns3(cfg, out);
        }
        if cfg.ecn != EcnMode::Off {
            // RFC 3168 s6.1.5: the ECN field of data outside the window is ignored. Its CWR is not.
            let ce = if old { self.ce && cfg.ecn == EcnMode::Accurate } else { seg.ce };
            self.observe_marks(&seg, ce, cfg, out);
        }
        // RFC 7323 s4.3 (2): only a segment that begins at or below the last ACK number is echoed, and the
        // first of several. So beyond a hole the last segment in order is, and in the end the one that fills it.
        if seg.seq <= before && self.waiting == 0 {
            self.record_stamp(&seg);
        }
        let new_numbers = if old || end == seg.seq {
            0
        } else if out_of_order {
            self.arrivals += 1;
            self.store.insert(seg.seq, end, u64::from(self.arrivals))
        } else {
            let (next, stored) = self.store.take_contiguous(end);
            self.next = next;
            next - before - stored
        };
        let new_fin = seg.fin && self.fin == NO_FIN;
        if new_fin {
            self.fin = end - 1;
        }
        let finished = before <= self.fin && self.finished();
        // What is not new leaves it as it is.
        self.reserved &= new_numbers == 0;
        // It is one of those that are acknowledged at once.
        self.is_quick(cfg);
        out.push(self.take_ack(cfg));
        Delivery {
            new_in_order: self.next - before - u64::from(finished),
            // A switch that follows a connection may see a FIN whose number data has taken.
            new_data: new_numbers.saturating_sub(u64::from(new_fin)),
            out_of_order,
            duplicate: new_numbers == 0,
            finished,
        }
    }

    /// The effect of a segment's CE and CWR on ACKs, first on a delayed one. `ce` is what counts of its CE.
    #[inline]
    fn observe_marks(&mut self, seg: &Segment, ce: bool, cfg: &ReceiverConfig, out: &mut AckList) {
        match cfg.ecn {
            EcnMode::Off => {}
            // RFC 3168 s6.1.3: ECE from a mark until CWR; a segment with both starts anew.
            EcnMode::Classic => self.ce = ce || (self.ce && !seg.cwr),
            EcnMode::Accurate if cfg.late_change => self.observe_marks_as_ns3(seg, cfg, out),
            EcnMode::Accurate => {
                // RFC 8257 s3.2: a change of marks first acknowledges what arrived before, with the old state.
                if ce != self.ce && self.waiting > 0 {
                    out.push(self.take_ack(cfg));
                }
                self.ce = ce;
            }
        }
    }
}

/// Acknowledgements.
impl Receiver {
    /// Whether the connection is so young that no ACK is delayed, in order not to slow down slow start.
    #[inline]
    const fn is_quick(&mut self, cfg: &ReceiverConfig) -> bool {
        let quick = (self.quick as u32) < cfg.quick_acks;
        self.quick = self.quick.saturating_add(quick as u8);
        quick
    }

    /// The timer of a delayed ACK has expired.
    pub fn on_ack_timer(&mut self, now: Time, cfg: &ReceiverConfig) -> Option<AckOut> {
        if cfg.linux.is_some() {
            return self.on_linux_timer(now, cfg);
        }
        let expires = self.waiting > 0 && now >= self.deadline;
        self.reserved |= expires;
        expires.then(|| self.take_ack(cfg))
    }

    /// The ACK for the current state, for a window update or for a held ACK. A delayed ACK stays delayed, unlike with
    /// [`take_ack`](Self::take_ack).
    pub(crate) fn current_ack(&self, cfg: &ReceiverConfig) -> AckOut {
        self.ack_with(cfg.tells_more || (cfg.sack && !self.store.is_empty()))
    }

    /// The ACK for the current state, with an option or without.
    const fn ack_with(&self, option: bool) -> AckOut {
        AckOut {
            ack: self.next,
            ece: self.ce,
            stamp: self.echo,
            retransmitted_echo: self.echo_retransmitted,
            option,
            duplicate: self.next == self.last_ack,
        }
    }

    /// `current_ack`, which also clears a delayed ACK.
    #[inline]
    pub fn take_ack(&mut self, cfg: &ReceiverConfig) -> AckOut {
        let ack = self.current_ack(cfg);
        self.last_ack = self.next;
        self.waiting = 0;
        self.deadline = Time::NEVER;
        if cfg.linux.is_some() {
            self.on_linux_ack_sent(cfg);
        }
        ack
    }

    #[inline(always)]
    const fn record_stamp(&mut self, seg: &Segment) {
        self.echo = seg.stamp;
        self.echo_retransmitted = seg.retransmitted;
    }

    /// RFC 2018 section 4: the block that the latest arrival beyond a hole belongs to, then those of earlier ones.
    pub fn sack_blocks(&self) -> SackBlocks {
        if let Some(blocks) = self.linux_blocks() {
            return blocks;
        }
        let mut blocks = SackBlocks::new();
        let mut bound = u64::MAX;
        // Tags are unique, so each round finds the next older range. Three rounds over few ranges.
        while let Some(range) =
            self.store.as_slice().iter().filter(|range| range.touched < bound).max_by_key(|range| range.touched)
        {
            if !blocks.push(range.start, range.end) {
                break;
            }
            bound = range.touched;
        }
        blocks
    }
}

#[cfg(test)]
mod tests;

//! The receive window, which grows with what arrives (`tcp_grow_window`) and with the buffer that autotuning gives it
//! (`tcp_rcv_space_adjust`).

use super::{Act, LinuxReceiver};
use crate::FIRST_DATA;
use crate::receiver::Segment;
use fanin_core::units::Time;

/// `tcp_rmem`, its default: the buffer of a new connection.
const RMEM_DEFAULT: u64 = 131_072;
/// `TCP_RMEM_TO_WIN_SCALE`, and the ratio of a window to its memory before any segment was measured.
const RATIO_SHIFT: u32 = 8;
const DEFAULT_RATIO: u64 = 1 << (RATIO_SHIFT - 1);
/// `TCP_INIT_CWND`.
const INIT_CWND: u64 = 10;
/// Bytes of memory that a segment takes beside its payload: what Linux 6.12 has for one whose headers have been
/// removed.
const OVERHEAD: u64 = 968;
/// Least payload that lets the window grow.
const GROWS_FROM: u64 = 128;

/// The window and the memory that it stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// `sk_rcvbuf` in bytes of memory, and `scaling_ratio`.
    rcvbuf: u64,
    ratio: u64,
    /// `window_clamp` and `rcv_ssthresh`: bounds of the window, of which the second grows slowly.
    clamp: u64,
    ssthresh: u64,
    /// `rcv_wnd`, the window that was last advertised, and where it ends.
    pub(super) advertised: u64,
    edge: u64,
    /// `rcvq_space`: bytes that the application has read in a round trip, and since when it has read how many more.
    read: u64,
    read_from: u64,
    read_since: Time,
}

impl Window {
    /// The window after a handshake, at the end that has begun it or at the other: `tcp_select_initial_window` and
    /// `tcp_init_buffer_space`.
    pub(super) fn new(cfg: &LinuxReceiver, opener: bool) -> Self {
        /// Bytes of time stamps in each header, which a host does not know of when it opens a connection.
        const STAMPS: u64 = 12;
        let mss = u64::from(cfg.advmss);
        let unit = if opener { mss + STAMPS } else { mss };
        let rcvbuf = cfg.rmem_max.min(RMEM_DEFAULT);
        let full = (rcvbuf * DEFAULT_RATIO) >> RATIO_SHIFT;
        let offered = if full > unit { full / unit * unit } else { full };
        // One segment is reserved.
        let clamp = (full - full.min(mss)).max(2 * mss);
        let ssthresh = offered.min(clamp);
        // The last packet of the handshake rounds the window of its opener.
        let advertised = if opener { offered.next_multiple_of(1 << cfg.scale) } else { offered };
        Self {
            rcvbuf,
            ratio: DEFAULT_RATIO,
            clamp,
            ssthresh,
            advertised,
            edge: FIRST_DATA + advertised,
            read: ssthresh.min(INIT_CWND * mss),
            read_from: FIRST_DATA,
            read_since: Time::ZERO,
        }
    }

    /// Ends the growth within the buffer.
    #[cfg(test)]
    pub(super) const fn stop(&mut self) {
        self.ssthresh = self.clamp;
    }

    /// `tcp_win_from_space`.
    const fn of_memory(&self, bytes: u64) -> u64 {
        (bytes * self.ratio) >> RATIO_SHIFT
    }

    /// `tcp_space`, with this much memory in use.
    const fn free(&self, used: u64) -> u64 {
        self.of_memory(self.rcvbuf.saturating_sub(used))
    }

    /// A segment of another size: what share of its memory is payload.
    pub(super) fn measure(&mut self, seg: &Segment) {
        let ratio = ((seg.len << RATIO_SHIFT) / memory(seg)).max(1);
        if ratio != self.ratio {
            self.ratio = ratio;
            self.clamp = self.of_memory(self.rcvbuf);
            self.read = self.read.min(self.clamp);
        }
    }

    /// `tcp_grow_window`, by two segments of `mss`, with this much memory in use: returns whether it grows.
    fn grows(&mut self, len: u64, used: u64, mss: u64) -> bool {
        let room = self.clamp.min(self.free(used)).saturating_sub(self.ssthresh);
        self.ssthresh += room.min(2 * mss.max(len));
        room > 0
    }

    /// `__tcp_select_window`, with this much memory in use.
    fn possible(&self, used: u64, scale: u8) -> u64 {
        self.free(used).min(self.ssthresh).next_multiple_of(1 << scale)
    }

    /// `tcp_select_window`: it never shrinks. Returns whether memory is scarce.
    fn select(&mut self, next: u64, used: u64, scale: u8) -> bool {
        let current = self.edge.saturating_sub(next).next_multiple_of(1 << scale);
        self.advertised = self.possible(used, scale).max(current);
        self.edge = next + self.advertised;
        self.free(used) < self.clamp.min(self.of_memory(self.rcvbuf)) / 2
    }

    /// `tcp_rcv_space_adjust`: everything below `next` has been read, and `rtt` is known.
    fn adjust(&mut self, next: u64, rtt: Time, now: Time, cfg: &LinuxReceiver) {
        if now.saturating_sub(self.read_since) < rtt {
            return;
        }
        let copied = next - self.read_from;
        if copied > self.read {
            let steady = 2 * copied + 16 * u64::from(cfg.advmss);
            let more = (u128::from(steady) * u128::from(copied - self.read) / u128::from(self.read.max(1))) as u64;
            let window = steady.saturating_add(2 * more).min(u64::MAX >> (RATIO_SHIFT + 1));
            let rcvbuf = ((window << RATIO_SHIFT) / self.ratio).min(cfg.rmem_max);
            if rcvbuf > self.rcvbuf {
                self.rcvbuf = rcvbuf;
                self.clamp = self.of_memory(rcvbuf);
            }
            self.read = copied;
        }
        (self.read_from, self.read_since) = (next, now);
    }
}

/// Bytes of memory that a segment takes; a merged one has one header.
pub(super) const fn memory(seg: &Segment) -> u64 {
    seg.len + OVERHEAD
}

impl Act<'_> {
    /// Memory of what is not read yet, also beyond a hole, where neighbours are stored together.
    fn used(&self) -> u64 {
        let stored: u64 = self.receiver.store.as_slice().iter().map(|range| range.len() + OVERHEAD).sum();
        stored + self.unread
    }

    /// Whether an acknowledgement would offer less now than the last one did.
    pub(super) fn shrinks(&self) -> bool {
        self.state.window.possible(self.used(), self.linux.scale) < self.state.window.advertised
    }

    /// `tcp_grow_window`. A segment that is stored by itself is measured with all of its memory.
    pub(super) fn grow_window(&mut self, seg: &Segment, joins: bool) {
        if seg.len < GROWS_FROM {
            return;
        }
        let used = self.used();
        let fits = joins || self.state.window.of_memory(memory(seg)) <= seg.len;
        let mss = if fits { self.linux.advmss } else { self.state.rcv_mss };
        if self.state.window.grows(seg.len, used, u64::from(mss)) {
            self.state.quick |= 1;
        }
    }

    /// The window of an acknowledgement that leaves now.
    pub(super) fn select_window(&mut self) {
        let used = self.used();
        if self.state.window.select(self.receiver.next, used, self.linux.scale) {
            self.state.quick = 0;
        }
    }

    /// The application has read everything.
    pub(super) fn adjust_space(&mut self) {
        if self.state.rcv_rtt > 0 {
            let rtt = Time::from_us(self.state.rcv_rtt >> 3);
            self.state.window.adjust(self.receiver.next, rtt, self.now, self.linux);
        }
    }
}

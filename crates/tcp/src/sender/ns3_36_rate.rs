//! Proportional rate reduction of ns-3 as released with 3.32 to 3.37, `tcp-prr-recovery.cc`, with SACK.
//!
//! In loss recovery, and in state CWR after an echo of congestion, the window is what is in flight and what the rule lets
//! out; when either ends, it is the threshold. The rule is RFC 6937's with slow start as the bound, but:
//!
//! - What is in flight when it begins is all that is not acknowledged (`UnAckDataCount`).
//! - Below the threshold an acknowledgement lets out what it delivers. Only one that covers a retransmission makes good what
//!   was not sent before, and a segment more.
//! - Numbers are unsigned and 32 bits wide: what was sent beyond what was delivered is a huge one, which wraps around when
//!   the segment is added, and so is the product of a long recovery.
//! - An acknowledgement that moves on counts twice if it reports news in recovery, or if its echo begins state CWR.

use super::{Recovery, Sender, SenderConfig};

/// A reduction that is under way, or the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RateReduction {
    /// It is under way.
    reduces: bool,
    /// Bytes not acknowledged when it began.
    flight: u32,
    /// Bytes delivered since.
    delivered: u32,
    /// Bytes sent since.
    sent: u32,
}

impl RateReduction {
    /// What may be sent: `delivered` bytes were just now, `pipe` are in flight, and a retransmission may be `repaired`.
    fn room(&mut self, delivered: u32, pipe: u32, threshold: u32, repaired: bool, segment: u32) -> i64 {
        self.delivered = self.delivered.wrapping_add(delivered);
        let room = if pipe > threshold && self.flight == 0 {
            // Of an infinite share a signed number of 32 bits makes the least one.
            i64::from(i32::MIN)
        } else if pipe > threshold {
            let share = f64::from(self.delivered.wrapping_mul(threshold)) / f64::from(self.flight);
            share.ceil() as i64 - i64::from(self.sent)
        } else {
            let limit = if repaired {
                self.delivered.wrapping_sub(self.sent).max(delivered).wrapping_add(segment)
            } else {
                delivered
            };
            i64::from(limit.cast_signed()).min(i64::from(threshold - pipe))
        };
        // The first retransmission goes whatever the room.
        room.max(if self.sent > 0 { 0 } else { i64::from(segment) })
    }
}

impl Sender {
    /// The window has just been reduced to the threshold; what follows comes down to it.
    pub(super) fn begin_rate_reduction(&mut self, cfg: &SenderConfig) {
        let flight = self.max_sent - self.una;
        if let Some(reduction) = &mut self.reduction {
            **reduction = RateReduction { reduces: true, flight: flight as u32, ..RateReduction::default() };
            self.follow_delivery(false, cfg);
        }
    }

    /// An echo begins state CWR. The acknowledgement that carries it counts again as the first one of that state.
    #[cold]
    pub(super) fn begin_cwr(&mut self, cfg: &SenderConfig) {
        self.window.ssthresh = self.window.cwnd;
        self.begin_rate_reduction(cfg);
        if self.delivered() >= cfg.mss {
            self.follow_delivery(false, cfg);
        }
    }

    /// Whether a reduction has to know that some of the last `acked` bytes were sent again in recovery, and they were.
    pub(super) fn covers_resent(&self, acked: u64) -> bool {
        let marks = self.marks.as_ref().filter(|_| self.reduction.is_some() && self.recovery == Recovery::Sack);
        marks.is_some_and(|marks| marks.has_resent(self.una - acked, self.una))
    }

    /// New data is acknowledged, some of it `repaired`. In state CWR that may end it, and leaves the threshold.
    pub(super) fn follow_new_ack(&mut self, acked: u64, news: bool, repaired: bool, cfg: &SenderConfig) {
        let repairs = self.recovery == Recovery::Sack;
        if !repairs && self.reduces() && self.una > self.cwr_end {
            self.end_rate_reduction();
            self.window.cwnd = self.window.ssthresh;
        }
        if self.reduction.is_none() || !repairs || self.una >= self.recover {
            return;
        }
        if news {
            self.follow_delivery(repaired, cfg);
        }
        if acked >= cfg.mss {
            self.follow_delivery(repaired, cfg);
        }
    }

    /// An acknowledgement delivers bytes while the rate is reduced, and covers what was sent again if `repaired`.
    pub(super) fn follow_delivery(&mut self, repaired: bool, cfg: &SenderConfig) {
        let delivered = self.delivered();
        let Some(pipe) = self.marked_pipe() else { return };
        if let Some(reduction) = self.reduction.as_mut().filter(|reduction| reduction.reduces) {
            let threshold = self.window.ssthresh as u32;
            let room = reduction.room(delivered as u32, pipe as u32, threshold, repaired, cfg.mss as u32);
            // Of nothing in flight and no room ns-3 makes 0; a byte lets as little through.
            self.window.cwnd = (pipe as i64 + room).max(1) as f64;
        }
    }

    /// New data is acknowledged in state CWR, and congestion control knows of it.
    #[cold]
    pub(super) fn follow_in_cwr(&mut self, acked: u64, cfg: &SenderConfig) {
        if self.recovery == Recovery::Open && acked >= cfg.mss {
            self.follow_delivery(false, cfg);
        }
    }

    /// Whether a reduction is under way.
    fn reduces(&self) -> bool {
        self.reduction.as_ref().is_some_and(|reduction| reduction.reduces)
    }

    /// The reduction is over.
    pub(super) fn end_rate_reduction(&mut self) {
        if let Some(reduction) = &mut self.reduction {
            reduction.reduces = false;
        }
    }

    /// `len` bytes are sent.
    pub(super) fn note_rate(&mut self, len: u64) {
        if let Some(reduction) = self.reduction.as_mut().filter(|reduction| reduction.reduces) {
            reduction.sent = reduction.sent.wrapping_add(len as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unsigned_and_32_bits_wide() {
        let mut more_sent = RateReduction { sent: 300, delivered: 100, ..RateReduction::default() };
        assert_eq!(more_sent.room(100, 100, 1000, true, 100), 0, "200 - 300 wraps around, and back with a segment");
        assert_eq!(more_sent.room(100, 100, 1000, false, 100), 100);
        let mut long = RateReduction { flight: 1_000_000, delivered: 3_000_000, sent: 1, ..RateReduction::default() };
        assert_eq!(long.room(0, 3000, 2000, false, 100), 1705, "6e9 wraps around to 1.7e9");
        let mut nothing = RateReduction { sent: 1, ..RateReduction::default() };
        assert_eq!(nothing.room(100, 300, 200, false, 100), 0, "none was outstanding");
    }
}

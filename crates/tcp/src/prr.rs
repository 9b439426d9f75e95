//! Proportional rate reduction (RFC 9937, formerly RFC 6937): in loss recovery the window falls to the threshold over a
//! round trip, paced by arrivals, and grows back to it if losses have emptied the pipe.

/// The variables of RFC 9937 section 5, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ProportionalReduction {
    /// `RecoverFS`: what was in flight when recovery began.
    recover_flight: u64,
    delivered: u64,
    sent: u64,
}

impl ProportionalReduction {
    /// Recovery begins with `flight` bytes out.
    pub(super) const fn new(flight: u64) -> Self {
        Self { recover_flight: flight, delivered: 0, sent: 0 }
    }
    /// Sent in recovery, new data or old.
    pub(super) const fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// How much may be sent on an acknowledgement of `delivered` bytes, with `pipe` in flight after it. `safe` says
    /// that it advanced and reported no further loss.
    pub(super) fn allowance(&mut self, delivered: u64, pipe: u64, ssthresh: f64, safe: bool, mss: u64) -> u64 {
        self.delivered += delivered;
        let threshold = ssthresh as u64;
        if pipe > threshold {
            // Proportional part: for each ssthresh bytes sent, RecoverFS bytes arrive.
            let share = self.delivered as f64 * ssthresh / self.recover_flight.max(1) as f64;
            return (libm::ceil(share) as u64).saturating_sub(self.sent);
        }
        // Slow-start reduction bound, or the conservative one.
        let arrived = self.delivered.saturating_sub(self.sent).max(delivered);
        (arrived + if safe { mss } else { 0 }).min(threshold - pipe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9937_s5_a_full_pipe_shrinks_in_proportion_to_what_arrives() {
        // Twenty segments in flight, one lost; the threshold is half of them. One segment leaves for two that arrive.
        let mut prr = ProportionalReduction::new(2000);
        let mut pipe = 1900;
        let mut sent = Vec::new();
        for _ in 0..8 {
            pipe -= 100;
            let allowed = prr.allowance(100, pipe, 1000.0, false, 100);
            let segments = allowed / 100;
            prr.on_sent(segments * 100);
            pipe += segments * 100;
            sent.push(segments);
        }
        assert_eq!(sent, [0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn rfc9937_s5_below_the_threshold_what_arrives_is_replaced() {
        // Fifteen of twenty were lost: conservation, and slow start if recovery makes progress.
        let mut prr = ProportionalReduction::new(2000);
        assert_eq!(prr.allowance(100, 400, 1000.0, false, 100), 100);
        prr.on_sent(100);
        assert_eq!(prr.allowance(100, 400, 1000.0, true, 100), 200);
    }

    #[test]
    fn rfc9937_s5_the_pipe_is_not_filled_beyond_the_threshold() {
        let mut prr = ProportionalReduction::new(2000);
        assert_eq!(prr.allowance(800, 950, 1000.0, true, 100), 50);
    }
}

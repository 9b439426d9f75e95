//! The congestion window that the receiver keeps for a flow, by TCP's rules.

use fanin_core::roles::Delivery;

/// Number of out-of-order segments that signals a loss (RFC 5681 section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

/// What the window has to know about an accepted segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    /// The result of reassembly.
    pub(crate) delivery: Delivery,
    /// It was marked, and each mark acts on threshold and growth ([`super::rules::MarkAction::Code`]).
    pub(crate) marked: bool,
}

/// Window, slow-start threshold and recovery of one flow, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowMachine {
    mss: u64,
    window: u64,
    threshold: u64,
    in_recovery: bool,
    /// Number of out-of-order segments towards the next recovery.
    duplicates: u32,
    /// Bytes beyond the first hole in the reassembly buffer.
    beyond: u64,
    /// Duplicates of a hole that is filled before the third one also count for the next hole.
    keeps_duplicates: bool,
}

impl WindowMachine {
    /// A window of one segment, in slow start up to `threshold`.
    pub(crate) fn new(mss: u64, threshold: u64, keeps_duplicates: bool) -> Self {
        Self { mss, window: mss, threshold, in_recovery: false, duplicates: 0, beyond: 0, keeps_duplicates }
    }
    /// The window.
    pub(crate) fn bytes(&self) -> u64 {
        self.window
    }
    /// Whether a loss is being repaired.
    pub(crate) fn in_recovery(&self) -> bool {
        self.in_recovery
    }
    /// The slow-start threshold.
    #[cfg(test)]
    pub(crate) fn threshold(&self) -> u64 {
        self.threshold
    }

    fn halve_threshold(&mut self) {
        self.threshold = (self.window / 2).max(2 * self.mss);
    }

    /// Limits the window to `bytes`.
    pub(crate) fn cap(&mut self, bytes: u64) {
        self.window = self.window.min(bytes);
    }

    /// Multiplies the window by `factor`, rounded, to at least one segment.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.window = ((self.window as f64 * factor + 0.5) as u64).max(self.mss);
    }

    /// Ends slow start at the current window.
    pub(crate) fn end_slow_start(&mut self) {
        self.threshold = self.window.max(2 * self.mss);
    }

    /// The receiver's timer expired: the window becomes one segment, as after a sender's timeout.
    pub(crate) fn on_timeout(&mut self) {
        self.in_recovery = false;
        self.duplicates = 0;
        self.halve_threshold();
        self.window = self.mss;
    }

    /// A segment with new data was accepted.
    pub(crate) fn on_accepted(&mut self, accepted: &Accepted) {
        let Accepted { delivery, marked } = *accepted;
        let available = delivery.new_in_order;
        self.beyond = (self.beyond + delivery.new_data).saturating_sub(available);
        if marked {
            self.halve_threshold();
        }
        if delivery.out_of_order {
            return self.on_out_of_order(marked);
        }
        if self.in_recovery && self.beyond > 0 {
            // A partial fill: deflate by it, and add one segment for the one that left the network (RFC 6582 section
            // 3.2).
            self.window = self.window.saturating_sub(available);
            if !(marked && self.window >= self.mss) {
                self.window += self.mss;
            }
            return;
        }
        if self.in_recovery {
            self.in_recovery = false;
            self.duplicates = 0;
            self.window = self.threshold.min(available + self.mss);
        } else if self.beyond == 0 && !self.keeps_duplicates {
            self.duplicates = 0;
        }
        if !marked {
            self.grow();
        }
    }

    fn on_out_of_order(&mut self, marked: bool) {
        if self.in_recovery {
            if !marked {
                self.window += self.mss;
            }
            return;
        }
        self.duplicates += 1;
        if self.duplicates == DUPLICATE_THRESHOLD {
            self.in_recovery = true;
            self.halve_threshold();
            self.window = self.threshold + u64::from(DUPLICATE_THRESHOLD) * self.mss;
        }
    }

    /// By a segment in slow start, by a segment per window in congestion avoidance (RFC 5681 section 3.1).
    fn grow(&mut self) {
        self.window +=
            if self.window < self.threshold { self.mss } else { (self.mss * self.mss / self.window.max(1)).max(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    struct Bench(WindowMachine);

    impl Bench {
        fn new() -> Self {
            Self(WindowMachine::new(MSS, 65_535, false))
        }
        fn at(window: u64) -> Self {
            let mut bench = Self::new();
            bench.0.window = window;
            bench
        }
        fn take(&mut self, available: u64, new: u64, out_of_order: bool, marked: bool) -> u64 {
            let delivery = Delivery { new_in_order: available, new_data: new, out_of_order, ..Delivery::default() };
            self.0.on_accepted(&Accepted { delivery, marked });
            self.0.bytes()
        }
        fn in_order(&mut self) -> u64 {
            self.take(MSS, MSS, false, false)
        }
        fn beyond(&mut self) -> u64 {
            self.take(0, MSS, true, false)
        }
        fn all_beyond(&mut self, segments: u64) {
            for _ in 0..segments {
                self.beyond();
            }
        }
    }

    #[test]
    fn it_starts_with_one_segment_and_doubles_each_round() {
        let mut bench = Bench::new();
        assert_eq!(bench.0.bytes(), MSS);
        assert_eq!([bench.in_order(), bench.in_order(), bench.in_order()], [2000, 3000, 4000]);
    }

    #[test]
    fn beyond_the_threshold_it_grows_by_a_segment_a_window() {
        let mut bench = Bench::at(66_000);
        assert_eq!(bench.in_order(), 66_000 + 15);
        let mut huge = Bench::at(2_000_000);
        assert_eq!(huge.in_order(), 2_000_001, "a byte at least");
    }

    #[test]
    fn a_mark_lowers_the_threshold_and_stops_growth() {
        let mut bench = Bench::at(10_000);
        assert_eq!(bench.take(MSS, MSS, false, true), 10_000);
        assert_eq!(bench.0.threshold(), 5000);
        assert_eq!(bench.in_order(), 10_100, "and the next growth is congestion avoidance");
        let mut small = Bench::new();
        small.take(MSS, MSS, false, true);
        assert_eq!(small.0.threshold(), 2 * MSS, "two segments at least");
    }

    #[test]
    fn three_segments_out_of_order_start_recovery() {
        let mut bench = Bench::at(20_000);
        assert_eq!([bench.beyond(), bench.beyond()], [20_000; 2]);
        assert_eq!(bench.beyond(), 10_000 + 3 * MSS);
        assert!(bench.0.in_recovery());
        assert_eq!(bench.beyond(), 14_000, "each further one permits one more");
        assert_eq!(bench.take(0, MSS, true, true), 14_000, "but not a marked one");
    }

    #[test]
    fn filling_a_part_of_the_hole_deflates() {
        let mut bench = Bench::at(20_000);
        bench.all_beyond(3);
        assert_eq!(bench.take(2 * MSS, MSS, false, false), 13_000 - 2000 + 1000);
        assert_eq!(bench.take(MSS, MSS, false, true), 11_000, "a marked one adds nothing");
        bench.0.window = 500;
        assert_eq!(bench.take(MSS, MSS, false, true), MSS, "unless less than a segment is left");
        assert!(bench.0.in_recovery());
    }

    #[test]
    fn filling_the_hole_ends_recovery_at_the_threshold_or_what_arrived() {
        let mut bench = Bench::at(20_000);
        bench.all_beyond(3);
        // Four segments are in order now: a window of five, and the growth of slow start.
        assert_eq!(bench.take(4 * MSS, MSS, false, false), 6000);
        assert!(!bench.0.in_recovery());
        let mut low = Bench::at(4000);
        low.all_beyond(3);
        assert_eq!(low.take(4 * MSS, MSS, false, false), 2000 + 500, "at the threshold it grows by a part");
    }

    #[test]
    fn reordering_that_mends_itself_is_forgotten_unless_kept() {
        for (keeps, recovers) in [(false, false), (true, true)] {
            let mut bench = Bench(WindowMachine::new(MSS, 65_535, keeps));
            bench.all_beyond(2);
            bench.take(3 * MSS, MSS, false, false);
            bench.beyond();
            assert_eq!(bench.0.in_recovery(), recovers);
        }
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_half_the_threshold() {
        let mut bench = Bench::at(20_000);
        bench.all_beyond(3);
        bench.0.on_timeout();
        assert_eq!((bench.0.bytes(), bench.0.threshold(), bench.0.in_recovery()), (MSS, 6500, false));
    }

    #[test]
    fn slow_start_may_end_at_the_window() {
        let mut bench = Bench::at(10_000);
        bench.0.scale(0.9);
        assert_eq!(bench.in_order(), 10_000, "by itself a reduction leaves slow start on");
        bench.0.end_slow_start();
        assert_eq!((bench.0.threshold(), bench.in_order()), (10_000, 10_100));
        let mut small = Bench::new();
        small.0.end_slow_start();
        assert_eq!(small.0.threshold(), 2 * MSS, "two segments at least");
    }

    #[test]
    fn scaling_rounds_and_leaves_a_segment() {
        let mut bench = Bench::at(20_001);
        bench.0.scale(0.5);
        assert_eq!(bench.0.bytes(), 10_001);
        bench.0.scale(0.01);
        assert_eq!(bench.0.bytes(), MSS);
    }
}

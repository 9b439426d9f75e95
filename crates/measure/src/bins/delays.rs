//! Delay percentiles per time bin, with only two bins in memory.

use crate::histogram::Histogram;

/// The percentiles computed for each bin.
pub(super) const PERCENTILES: [f64; 3] = [0.50, 0.95, 0.99];

/// Delays of one group in the current bin and in the last earlier bin that had any. Calls come in time order.
#[derive(Clone, Debug, Default)]
pub(super) struct BinDelays {
    bin: usize,
    delays: Histogram,
    bin_before: usize,
    before: Histogram,
}

/// The percentiles of a bin, in picoseconds.
pub(super) type Percentiles = Option<[u64; PERCENTILES.len()]>;

impl BinDelays {
    /// Counts a delay. The first delay of a new bin returns the bin that it completes, with that bin's percentiles.
    #[inline]
    pub(super) fn record(&mut self, bin: usize, ps: u64) -> Option<(usize, Percentiles)> {
        let complete = (bin != self.bin).then(|| self.turn_to(bin));
        self.delays.record(ps);
        complete
    }

    #[cold]
    fn turn_to(&mut self, bin: usize) -> (usize, Percentiles) {
        let complete = (self.bin, percentiles(&self.delays));
        std::mem::swap(&mut self.delays, &mut self.before);
        self.bin_before = self.bin;
        self.delays.clear();
        self.bin = bin;
        complete
    }

    /// The last bin with delays, if the run has `bins` bins: delays beyond the last bin count as part of it.
    pub(super) fn close(mut self, bins: usize) -> (usize, Percentiles) {
        let bin = self.bin.min(bins - 1);
        if bin < self.bin && bin == self.bin_before {
            self.delays.merge(&self.before);
        }
        (bin, percentiles(&self.delays))
    }
}

fn percentiles(delays: &Histogram) -> Percentiles {
    let mut found = [0; PERCENTILES.len()];
    for (value, q) in found.iter_mut().zip(PERCENTILES) {
        *value = delays.percentile(q)?;
    }
    Some(found)
}

//! A histogram of 64-bit numbers in fixed memory, with percentiles accurate to 1/64.

use super::stats::nearest_rank;

/// Sub-buckets per power of two, as a power of two: the relative width of a bucket is 2^-6.
const SUB_BITS: u32 = 6;
/// Values below 2 * 64 have a bucket each; each of the 57 powers of two above has 64 buckets.
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) << SUB_BITS;

/// Counts of values in buckets whose width grows with the value: exact below 128, then at most 1/64 of the value wide.
/// It takes 30 KiB, allocated once.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    buckets: Box<[u64; BUCKETS]>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        // Through a vector, so that the array is not built on the stack.
        let buckets = vec![0; BUCKETS].try_into().expect("the vector has the array's length");
        Self { buckets, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        self.buckets[bucket_of(value)] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds everything that `other` has counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Clears everything but keeps the memory.
    pub(crate) fn clear(&mut self) {
        if self.count > 0 {
            self.buckets[bucket_of(self.min)..=bucket_of(self.max)].fill(0);
        }
        (self.count, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    /// The number of values.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of all values.
    pub(crate) const fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact mean; `None` if empty.
    pub(crate) fn mean(&self) -> Option<f64> {
        if self.count == 0 { None } else { Some(self.sum as f64 / self.count as f64) }
    }

    /// The exact minimum; `None` if empty.
    pub(crate) fn min(&self) -> Option<u64> {
        if self.count == 0 { None } else { Some(self.min) }
    }

    /// Nearest-rank percentile, `q` in `[0, 1]`, as the largest value of its bucket: never below the true value and
    /// less than 1/64 above it. The first and the last rank are exact. `None` if empty.
    pub(crate) fn percentile(&self, q: f64) -> Option<u64> {
        let rank = nearest_rank(q, self.count);
        if rank <= 1 {
            // An empty histogram has rank 0 and no minimum.
            return self.min();
        }
        let mut below = 0;
        let first = bucket_of(self.min);
        let bucket = self.buckets[first..].iter().position(|count| {
            below += count;
            below >= rank
        })?;
        Some(upper_bound(first + bucket).min(self.max))
    }
}

/// The bucket of a value: its power of two and the six bits after the leading one, as one number. Values below 64 have
/// too few bits for that and share the shift of the lowest power, whose buckets are one value wide.
#[inline]
const fn bucket_of(value: u64) -> usize {
    let shift = (value | 1 << SUB_BITS).ilog2() - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// The largest value of a bucket.
const fn upper_bound(bucket: usize) -> u64 {
    let shift = (bucket >> SUB_BITS).saturating_sub(1);
    let leading = (bucket - (shift << SUB_BITS)) as u64;
    (leading << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    #[test]
    fn buckets_cover_all_numbers_in_order() {
        assert_eq!(bucket_of(0), 0);
        assert_eq!(bucket_of(127), 127);
        assert_eq!(bucket_of(128), bucket_of(129));
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert_eq!(upper_bound(BUCKETS - 1), u64::MAX);
        for bucket in 0..BUCKETS - 1 {
            assert_eq!(bucket_of(upper_bound(bucket)), bucket);
            assert_eq!(bucket_of(upper_bound(bucket) + 1), bucket + 1);
        }
    }

    #[test]
    fn small_values_and_ends_are_exact() {
        let mut histogram = of(&(1..=100).collect::<Vec<_>>());
        for percent in 1..=100 {
            assert_eq!(histogram.percentile(f64::from(percent) / 100.0), Some(percent as u64));
        }
        histogram.record(1_000_001);
        assert_eq!((histogram.min(), histogram.max), (Some(1), 1_000_001));
        assert_eq!((histogram.percentile(0.0), histogram.percentile(1.0)), (Some(1), Some(1_000_001)));
        assert_eq!((histogram.count(), histogram.sum()), (101, 1_005_051));
    }

    #[test]
    fn nothing_has_no_statistics() {
        let mut histogram = of(&[7]);
        histogram.clear();
        assert_eq!((histogram.min(), histogram.percentile(0.5)), (None, None));
        assert!(histogram.mean().is_none());
    }

    #[test]
    fn the_mean_is_exact_where_a_64_bit_sum_would_wrap() {
        let histogram = of(&[u64::MAX, u64::MAX - 2]);
        assert_eq!(histogram.sum(), 2 * u128::from(u64::MAX - 1));
    }

    proptest! {
        #[test]
        fn percentiles_are_within_a_64th(mut values in prop::collection::vec(0_u64..1 << 50, 1..200), q in 0.0..=1.0) {
            let histogram = of(&values);
            values.sort_unstable();
            let exact = values[nearest_rank(q, values.len() as u64) as usize - 1];
            let found = histogram.percentile(q).unwrap();
            prop_assert!(found >= exact && found - exact <= exact / 64, "{found} for {exact}");
        }

        #[test]
        fn a_merge_counts_what_both_count(left: Vec<u64>, right: Vec<u64>) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let both = of(&[left, right].concat());
            prop_assert_eq!(&merged.buckets, &both.buckets);
            prop_assert_eq!(
                (merged.count(), merged.sum(), merged.min(), merged.max),
                (both.count(), both.sum(), both.min(), both.max)
            );
        }
    }
}

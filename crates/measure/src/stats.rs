//! Statistics of small samples, each with its definition. The collectors compute those of per-packet streams.

/// Arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// Nearest-rank percentile of values in ascending order, `q` in `[0, 1]`: the smallest value such that at least the
/// share `q` of all values do not exceed it. It is always one of the values, never interpolated; `q = 0` gives the
/// minimum. `None` without values.
pub fn percentile_nearest_rank(sorted: &[f64], q: f64) -> Option<f64> {
    debug_assert!(sorted.is_sorted(), "percentiles need ascending values");
    let rank = nearest_rank(q, sorted.len() as u64);
    sorted.get((rank as usize).checked_sub(1)?).copied()
}

/// Jain's fairness index `(sum x)^2 / (n sum x^2)`: 1 if all get the same, `1/n` if one gets everything. `None` without
/// values, and if all values are zero.
///
/// Source: Jain, Chiu, Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in
/// Shared Computer Systems", DEC-TR-301, 1984.
pub fn jain(values: &[f64]) -> Option<f64> {
    // Scaled by the largest value, so that the squares of very large or very small rates stay within the range of f64.
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return None;
    }
    let sum: f64 = values.iter().map(|value| value / largest).sum();
    let squares: f64 = values.iter().map(|value| (value / largest) * (value / largest)).sum();
    Some(sum * sum / (values.len() as f64 * squares))
}

/// The nearest rank of `q` among `n` items, counted from 1: `q n` rounded up, at least 1. Zero if `n` is zero.
///
/// Decimal fractions are inexact in binary: 0.07 times 100 comes out a little above 7. The product is therefore lowered
/// by its rounding error before it is rounded up.
pub(crate) fn nearest_rank(q: f64, n: u64) -> u64 {
    let product = q.clamp(0.0, 1.0) * n as f64 * (1.0 - 2.0 * f64::EPSILON);
    (product.ceil() as u64).max(1).min(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_ranks_follow_the_textbook() {
        let values = [15.0, 20.0, 35.0, 40.0, 50.0];
        let expected = [(0.0, 15.0), (0.05, 15.0), (0.3, 20.0), (0.4, 20.0), (0.5, 35.0), (0.81, 50.0), (1.0, 50.0)];
        for (q, value) in expected {
            assert_eq!(percentile_nearest_rank(&values, q), Some(value), "q = {q}");
        }
        assert_eq!(percentile_nearest_rank(&[], 0.5), None);
    }

    #[test]
    fn every_hundredth_of_every_size_has_the_exact_rank() {
        for n in 1..=500_u64 {
            for percent in 0..=100_u64 {
                let exact = (percent * n).div_ceil(100).max(1);
                assert_eq!(nearest_rank(percent as f64 / 100.0, n), exact, "{percent} % of {n}");
            }
        }
        assert_eq!(nearest_rank(0.5, 0), 0);
    }

    #[test]
    fn jain_spans_one_over_n_to_one() {
        assert_eq!(jain(&[3.0; 7]), Some(1.0));
        assert_eq!(jain(&[0.0, 0.0, 5.0, 0.0]), Some(0.25));
        // If some get equal parts and the others nothing, the index is the share of those who get a part.
        assert_eq!(jain(&[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Some(0.2));
        assert_eq!(jain(&[1e200, 1e200]), Some(1.0));
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(jain(&[]), None);
    }

    #[test]
    fn the_mean_of_nothing_is_none() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(mean(&[]), None);
    }
}

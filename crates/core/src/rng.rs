//! Named random streams.
//!
//! Every component draws from its own stream, keyed by the run's seed and the component's *name*. Adding a
//! host, or changing the scheme, does not change the draws of any other component, so schemes are
//! compared on common random numbers.

use crate::units::Time;
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64;
use sha2::{Digest as _, Sha256};

/// A stream of random numbers: PCG XSL RR 128/64 (O'Neill 2014), the same on every machine.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream of component `name` under `seed`.
    pub fn named(seed: u64, name: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(name.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        Self(Pcg64::from_seed(digest))
    }
    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// A real number in [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
    /// A uniform integer in `0..n`; `n` must not be zero. (Lemire's multiplication without the rejection step:
    /// its bias is below n / 2^64.)
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }
    /// A uniform time in `[0, span)`, or zero where the span is empty.
    pub fn uniform_time(&mut self, span: Time) -> Time {
        if span == Time::ZERO { Time::ZERO } else { Time::from_ps(self.below(span.ps())) }
    }
    /// Puts `items` in a random order, every order as likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
    /// An exponentially distributed time with the given mean.
    pub fn exponential_time(&mut self, mean: Time) -> Time {
        // 1 - unit() lies in (0, 1], so the logarithm is finite.
        Time::from_ps((-libm::log(1.0 - self.unit()) * mean.ps() as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let draw = |seed, name: &str| Stream::named(seed, name).bits();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn first_draws_are_pinned() {
        // Changing these values changes every result that depends on random numbers.
        let mut stream = Stream::named(1, "traffic/incast");
        let first = [stream.bits(), stream.bits()];
        let mut again = Stream::named(1, "traffic/incast");
        assert_eq!(first, [again.bits(), again.bits()]);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut stream = Stream::named(5, "test");
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            stream.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert!(counts.len() == 24 && counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn means_are_right() {
        let mut stream = Stream::named(7, "test");
        let n = 100_000;
        let mean = Time::from_ms(15);
        let total: f64 = (0..n).map(|_| stream.exponential_time(mean).secs()).sum();
        assert!((total / f64::from(n) / mean.secs() - 1.0).abs() < 0.02);
        let total: f64 = (0..n).map(|_| stream.uniform_time(mean).secs()).sum();
        assert!((total / f64::from(n) / mean.secs() - 0.5).abs() < 0.01);
    }
}

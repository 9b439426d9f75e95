//! Transfer sizes: one size, a mixture of sizes, a distribution given by points, or a published one by name.

use fanin_core::rng::Stream;
use fanin_core::units::Bytes;
use std::fmt;

/// Sizes to draw from.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    shape: Shape,
    /// Their name, if they are a published workload.
    name: Option<&'static str>,
    /// Size in bytes, and the percentage of transfers of that size, or up to that size in a cumulative distribution.
    points: Vec<(u64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// All the same: `"64KB"`.
    Each,
    /// A share for each size: `"1MB 50%, 4MB 50%"`.
    Mixed,
    /// Points of the cumulative distribution, joined by straight lines: `"cdf 2KB 0%, 10KB 80%, 98KB 100%"`.
    Cumulative,
}

/// Prefix of a cumulative distribution.
const CUMULATIVE: &str = "cdf ";
/// Shares add up to 100 within the rounding error of decimal fractions.
const NEAR: f64 = 1e-9;

impl Sizes {
    /// A single size of `bytes`.
    pub(crate) fn each(bytes: u64) -> Self {
        Self { shape: Shape::Each, name: None, points: vec![(bytes, 100.0)] }
    }

    /// A published distribution, with points joined by straight lines.
    pub(crate) fn workload(name: &'static str, points: Vec<(u64, f64)>) -> Result<Self, String> {
        let sizes = Self { shape: Shape::Cumulative, name: Some(name), points };
        sizes.check().map(|()| sizes)
    }

    /// Sizes in bytes, each with the percentage of transfers of that size, or up to that size in a cumulative
    /// distribution.
    pub(crate) fn points(&self) -> &[(u64, f64)] {
        &self.points
    }

    /// Reads a mixture or a distribution; `size` reads one size.
    pub(crate) fn read<E: From<String>>(text: &str, size: impl Fn(&str) -> Result<u64, E>) -> Result<Self, E> {
        let cumulative = text.strip_prefix(CUMULATIVE);
        let listed = cumulative.unwrap_or(text);
        if cumulative.is_none() && !listed.contains(['%', ',']) {
            return Ok(Self::each(size(listed.trim())?));
        }
        let point = |item: &str| {
            let item = item.trim();
            let (bytes, share) = item.rsplit_once(' ').unwrap_or((item, ""));
            let per_cent =
                share.strip_suffix('%').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
            let per_cent = per_cent.and_then(|digits| digits.parse::<f64>().ok());
            let per_cent = per_cent.ok_or_else(|| format!("{item:?} has no share: write it as in \"1MB 50%\""))?;
            Ok((size(bytes.trim())?, per_cent))
        };
        let points = listed.split(',').map(point).collect::<Result<Vec<_>, E>>()?;
        let shape = if cumulative.is_some() { Shape::Cumulative } else { Shape::Mixed };
        let sizes = Self { shape, name: None, points };
        sizes.check().map_err(E::from)?;
        Ok(sizes)
    }

    fn check(&self) -> Result<(), String> {
        match self.shape {
            Shape::Each => Ok(()),
            Shape::Mixed => {
                let sum: f64 = self.points.iter().map(|(_, share)| share).sum();
                if (sum - 100.0).abs() < NEAR {
                    Ok(())
                } else {
                    Err(format!("the shares add up to {sum}%, not to 100%"))
                }
            }
            Shape::Cumulative => {
                let rises = |pair: &[(u64, f64)]| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1;
                if let Some(at) = self.points.windows(2).position(|pair| !rises(pair)) {
                    let (bytes, share) = self.points[at + 1];
                    return Err(format!("the point \"{} {share}%\" is below the previous one", Bytes::new(bytes)));
                }
                let last = self.points[self.points.len() - 1].1;
                if (last - 100.0).abs() < NEAR {
                    Ok(())
                } else {
                    Err(format!("the last point must be at 100%, not {last}%"))
                }
            }
        }
    }

    /// Draws a size. A single size draws nothing from the stream.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        if self.shape == Shape::Each {
            return self.points[0].0;
        }
        self.quantile(stream.unit())
    }

    /// The size that this share of transfers does not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let at = share * 100.0;
        let (mut bytes, mut below) = (self.points[0].0, 0.0);
        for (next, share) in &self.points {
            let upto = if self.shape == Shape::Mixed { below + share } else { *share };
            if at < upto {
                let part = if self.shape == Shape::Cumulative { (at - below) / (upto - below) } else { 1.0 };
                return bytes + ((*next as f64 - bytes as f64) * part) as u64;
            }
            (bytes, below) = (*next, upto);
        }
        bytes
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        let (mut sum, mut bytes, mut below) = (0.0, self.points[0].0, 0.0);
        for (next, share) in &self.points {
            match self.shape {
                Shape::Each | Shape::Mixed => sum += *next as f64 * share,
                Shape::Cumulative => sum += (bytes + next) as f64 / 2.0 * (share - below),
            }
            (bytes, below) = (*next, *share);
        }
        sum / 100.0
    }

    /// The smallest size.
    pub fn least(&self) -> u64 {
        self.points.iter().map(|(bytes, _)| *bytes).min().unwrap_or(0)
    }
    /// The largest size.
    pub fn most(&self) -> u64 {
        self.points.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0)
    }
}

impl fmt::Display for Sizes {
    /// Prints the sizes as in a scenario file, without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.name {
            return f.write_str(name);
        }
        if self.shape == Shape::Each {
            return Bytes::new(self.points[0].0).fmt(f);
        }
        if self.shape == Shape::Cumulative {
            f.write_str(CUMULATIVE)?;
        }
        for (i, (bytes, share)) in self.points.iter().enumerate() {
            write!(f, "{}{} {share}%", if i > 0 { ", " } else { "" }, Bytes::new(*bytes))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Result<Sizes, String> {
        let size = |text: &str| {
            let (digits, unit) = match (text.strip_suffix("KB"), text.strip_suffix('B')) {
                (Some(digits), _) => (digits, 1000),
                (None, Some(digits)) => (digits, 1),
                (None, None) => return Err(format!("{text:?} is no size")),
            };
            digits.parse::<u64>().map(|n| n * unit).map_err(|error| error.to_string())
        };
        Sizes::read(text, size)
    }

    /// Mean, least and largest of many draws.
    fn drawn(text: &str) -> [f64; 3] {
        let (sizes, mut stream) = (sizes(text).expect(text), Stream::named(3, text));
        let draws: Vec<f64> = (0..200_000).map(|_| sizes.draw(&mut stream) as f64).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean / sizes.mean() - 1.0).abs() < 0.01, "{text}: {mean} drawn, {} expected", sizes.mean());
        let of = |pick: fn(f64, f64) -> f64| draws.iter().copied().reduce(pick).unwrap_or(f64::NAN);
        [mean, of(f64::min), of(f64::max)]
    }

    #[test]
    fn one_size_is_that_size_and_draws_nothing() {
        assert_eq!(drawn("64KB"), [64e3; 3]);
        let (mut drawing, mut other) = (Stream::named(1, "s"), Stream::named(1, "s"));
        sizes("64KB").expect("a size").draw(&mut drawing);
        assert_eq!(drawing.bits(), other.bits());
    }

    #[test]
    fn a_mixture_has_its_shares() {
        let mixed = "1000KB 50%, 4000KB 50%";
        assert_eq!(drawn(mixed)[1..], [1e6, 4e6]);
        let (sizes, mut stream) = (sizes("1KB 10%, 2KB 20.5%, 3KB 69.5%").expect("shares"), Stream::named(1, "s"));
        let mut counts = [0_u32; 3];
        (0..100_000).for_each(|_| counts[sizes.draw(&mut stream) as usize / 1000 - 1] += 1);
        for (count, share) in counts.into_iter().zip([0.1, 0.205, 0.695]) {
            assert!((f64::from(count) / 1e5 - share).abs() < 0.005, "{count} for {share}");
        }
    }

    #[test]
    fn points_are_joined_by_straight_lines() {
        let [mean, least, most] = drawn("cdf 2KB 0%, 98KB 100%");
        assert!((mean - 50e3).abs() < 200.0 && least >= 2e3 && most < 98e3, "{mean} {least} {most}");
        // Half of them have the first size, the others lie between the two points.
        let text = "cdf 10KB 50%, 20KB 100%";
        let (sizes, mut stream) = (sizes(text).expect(text), Stream::named(1, "s"));
        let first = (0..100_000).filter(|_| sizes.draw(&mut stream) == 10_000).count();
        assert!((49_000..51_000).contains(&first), "{first}");
        assert!((sizes.mean() - 12_500.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_printed_reads_the_same() {
        for text in ["64000B", "1B 33.3%, 4B 66.7%", "cdf 2B 0%, 3B 12.5%, 98B 100%"] {
            assert_eq!(sizes(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn mistakes_are_told() {
        let says = |text: &str| sizes(text).expect_err(text);
        assert_eq!(says("1KB 50%, 4KB 40%"), "the shares add up to 90%, not to 100%");
        assert_eq!(says("1KB, 4KB 40%"), "\"1KB\" has no share: write it as in \"1MB 50%\"");
        assert_eq!(says("1KB -5%, 4KB 105%"), "\"1KB -5%\" has no share: write it as in \"1MB 50%\"");
        assert_eq!(says("cdf 1KB 10%, 4KB 90%"), "the last point must be at 100%, not 90%");
        assert_eq!(says("cdf 4KB 10%, 1KB 100%"), "the point \"1000B 100%\" is below the previous one");
        assert_eq!(says("1pkt 50%, 4KB 50%"), "\"1pkt\" is no size");
    }
}

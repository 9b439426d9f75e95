//! Sizes of the responses to a query: one per response, or a total that they share.

use fanin_core::rng::Stream;
use fanin_param::{Kind, Param, Sizes, SpecError, Values};

pub(super) const BYTES_EACH: Param = Param::new(
    "bytes-each",
    Kind::Sizes,
    "0B",
    "Size of each response: one size, or sizes to draw from; 0B if bytes-total says it.",
    "give this or bytes-total",
);

pub(super) const BYTES_TOTAL: Param = Param::new(
    "bytes-total",
    Kind::Bytes,
    "0B",
    "Size of all responses together, split evenly (the first responses take the remainder).",
    "give this or bytes-each",
);

/// The sizes of a query's responses.
pub(super) enum Responses {
    /// The size of each response.
    Each(Sizes),
    /// The total of all responses in bytes.
    Total(u64),
}

impl Responses {
    /// From the values of both keys, for `senders` responses.
    pub(super) fn of(values: &Values, senders: usize) -> Result<Self, SpecError> {
        let (each, total) = (values.sizes("bytes-each"), values.bytes("bytes-total").get());
        if each.least() == 0 && each.most() > 0 {
            return Err(values.fail("bytes-each", "a response has at least 1B"));
        }
        match (each.most(), total) {
            (0, 0) => Err(values.fail("bytes-each", "give bytes-each or bytes-total, 1B at least")),
            (_, 0) => Ok(Self::Each(each.clone())),
            (0, total) if total < senders as u64 => {
                Err(values.fail("bytes-total", format!("{total} bytes cannot be split over {senders} senders")))
            }
            (0, total) => Ok(Self::Total(total)),
            _ => Err(values.fail("bytes-total", "give bytes-each or bytes-total, not both")),
        }
    }

    /// Size of response `i` of `senders` in bytes.
    pub(super) fn bytes(&self, i: usize, senders: usize, stream: &mut Stream) -> u64 {
        match self {
            Self::Each(sizes) => sizes.draw(stream),
            Self::Total(total) => {
                let senders = senders as u64;
                total / senders + u64::from((i as u64) < total % senders)
            }
        }
    }

    /// Mean total of a query's responses in bytes.
    pub(super) fn mean(&self, senders: usize) -> f64 {
        match self {
            Self::Each(sizes) => sizes.mean() * senders as f64,
            Self::Total(total) => *total as f64,
        }
    }
}

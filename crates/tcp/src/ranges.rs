//! A set of sequence numbers as sorted, disjoint, non-adjacent ranges.
//!
//! Both ends of a flow keep one: the receiver of data that arrived out of order, the sender of data reported as such.
//! Losses leave few holes, so a sorted vector is faster than a tree; most changes are at its end.

/// The numbers `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Tag of the latest insertion that reached this range.
    pub(super) touched: u64,
}

impl Range {
    pub(super) const fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// The set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RangeSet(Vec<Range>);

impl RangeSet {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    #[inline(always)]
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges in ascending order.
    pub(super) fn as_slice(&self) -> &[Range] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds `start..end`, which must not be empty, and returns how many of these numbers are new. The range
    /// that holds them afterwards is tagged `touched`.
    pub(super) fn insert(&mut self, start: u64, end: u64, touched: u64) -> u64 {
        debug_assert!(start < end);
        match self.0.last_mut() {
            Some(last) if start >= last.start && start <= last.end => {
                let grown = end.saturating_sub(last.end);
                last.end += grown;
                last.touched = touched;
                grown
            }
            Some(last) if start < last.start => self.merge(start, end, touched),
            _ => {
                self.0.push(Range { start, end, touched });
                end - start
            }
        }
    }

    /// [`insert`](Self::insert) anywhere.
    fn merge(&mut self, start: u64, end: u64, touched: u64) -> u64 {
        let from = self.0.partition_point(|range| range.end < start);
        let to = from + self.0[from..].partition_point(|range| range.start <= end);
        let Some((first, last)) = self.0[from..to].first().zip(self.0[from..to].last()) else {
            self.0.insert(from, Range { start, end, touched });
            return end - start;
        };
        let merged = Range { start: start.min(first.start), end: end.max(last.end), touched };
        let before: u64 = self.0[from..to].iter().map(Range::len).sum();
        self.0[from] = merged;
        self.0.drain(from + 1..to);
        merged.len() - before
    }

    /// Takes out every range that `..next` reaches, where `next` grows to the end of each; returns the final
    /// `next` and the numbers taken out. No range may begin below the `next` of an earlier call.
    pub(super) fn take_contiguous(&mut self, mut next: u64) -> (u64, u64) {
        let mut taken = 0;
        let mut ranges = 0;
        while let Some(range) = self.0.get(ranges).filter(|range| range.start <= next) {
            next = next.max(range.end);
            taken += range.len();
            ranges += 1;
        }
        self.0.drain(..ranges);
        (next, taken)
    }

    /// Removes all numbers below `bound`.
    pub(super) fn drop_below(&mut self, bound: u64) {
        if self.0.first().is_none_or(|first| first.start >= bound) {
            return;
        }
        let gone = self.0.partition_point(|range| range.end <= bound);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.start = first.start.max(bound);
        }
    }

    /// The first range that ends above `number`: the one that holds it, or else the next.
    pub(super) fn range_at_or_above(&self, number: u64) -> Option<&Range> {
        self.0.get(self.0.partition_point(|range| range.end <= number))
    }

    /// The parts of `from..to` that are not in the set, in ascending order.
    pub(super) fn gaps_within(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let first = self.0.partition_point(|range| range.end <= from);
        let inside = self.0[first..].iter().take_while(move |range| range.start < to);
        let edges = inside.map(|range| (range.start, range.end)).chain(std::iter::once((to, to)));
        let gaps = edges.scan(from, |next, (start, end)| {
            let gap = (*next, start);
            *next = end;
            Some(gap)
        });
        gaps.filter(|(start, end)| start < end)
    }

    /// The first part of `from..to` that is in the set.
    pub(super) fn first_within(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let range = self.range_at_or_above(from).filter(|range| range.start < to)?;
        Some((range.start.max(from), range.end.min(to)))
    }

    /// How many numbers of `from..to` are in the set.
    pub(super) fn count_within(&self, from: u64, to: u64) -> u64 {
        let first = self.0.partition_point(|range| range.end <= from);
        let inside = self.0[first..].iter().take_while(|range| range.start < to);
        inside.map(|range| range.end.min(to) - range.start.max(from)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_range_set_is_a_set_of_numbers(
            operations in prop::collection::vec((0_u64..60, 1_u64..12, 0_u8..8), 1..40),
        ) {
            let mut ranges = RangeSet::new();
            let mut model = BTreeSet::new();
            for (tag, &(start, len, kind)) in operations.iter().enumerate() {
                if kind == 0 {
                    ranges.drop_below(start);
                    model.retain(|&number| number >= start);
                } else {
                    let before = model.len();
                    model.extend(start..start + len);
                    prop_assert_eq!(ranges.insert(start, start + len, tag as u64), (model.len() - before) as u64);
                    prop_assert_eq!(ranges.range_at_or_above(start).map(|range| range.touched), Some(tag as u64));
                }
                prop_assert!(ranges.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start));
                prop_assert!(ranges.as_slice().iter().all(|range| range.start < range.end));
                let numbers = ranges.as_slice().iter().flat_map(|range| range.start..range.end);
                prop_assert!(numbers.eq(model.iter().copied()));
                let within = model.range(start..start + len).count() as u64;
                prop_assert_eq!(ranges.count_within(start, start + len), within);
                let missing = (start..start + len).filter(|number| !model.contains(number));
                prop_assert!(ranges.gaps_within(start, start + len).flat_map(|(from, to)| from..to).eq(missing));
            }
        }
    }

    #[test]
    fn contiguous_ranges_are_taken_out_in_one_go() {
        let mut ranges = RangeSet::new();
        for (start, end) in [(10, 20), (30, 40), (50, 60)] {
            ranges.insert(start, end, 0);
        }
        assert_eq!(ranges.take_contiguous(9), (9, 0));
        assert_eq!(ranges.take_contiguous(30), (40, 20));
        assert_eq!(ranges.as_slice(), [Range { start: 50, end: 60, touched: 0 }]);
    }
}

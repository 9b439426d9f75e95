//! Window assignment: RCC's division of `queue_max` segments among the flows of a host.

/// A flow with data outstanding at the sender, and its share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Remaining bytes; none if the sender did not announce a size.
    pub(crate) remaining: Option<u64>,
    /// The result: its window in segments. Zero before [`assign`].
    pub(crate) window: u64,
}

/// What the window of a flow is proportional to (Eq. 1 of RCCE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// All flows alike.
    Equal,
    /// One over the remaining bytes.
    Inverse,
    /// The remaining bytes.
    Size,
}

/// Sets the window of every flow in `shares`, which are in the order of acceptance.
///
/// A flow's weight is one over its remaining bytes, or these bytes, or the same for all. Each gets its share of
/// `queue_max` in whole segments, at least one and no more than it needs. The segments that rounding leaves over are
/// handed out one by one in rounds, in each to the flow with the fewest remaining bytes first.
///
/// With `equal_only` and equal weights, every flow gets the same number of whole segments; segments that a flow
/// does not need or that rounding leaves over stay unused.
pub(crate) fn assign(shares: &mut [Share], queue_max: u64, mss: u64, weights: Weight, equal_only: bool) {
    // READING: E1 the weight is one over the remaining size, or the size itself. R7 a flow of unknown size has weight zero and gets one
    // segment.
    // READING: E19 as printed, lines 5 and 11 of RCCE's Algorithm 1 apply only if priorities are on.
    let priority = weights != Weight::Equal;
    let by_need = priority || !equal_only;
    let flows = shares.len() as f64;
    let weight = |share: &Share| match (weights, share.remaining) {
        (Weight::Equal, _) => 1.0 / flows,
        (Weight::Inverse, Some(bytes)) => 1.0 / bytes.max(1) as f64,
        (Weight::Size, Some(bytes)) => bytes.max(1) as f64,
        (_, None) => 0.0,
    };
    let total: f64 = if priority { shares.iter().map(weight).sum() } else { 1.0 };
    let mut granted = 0;
    for share in shares.iter_mut() {
        let part = if total > 0.0 { weight(share) / total * queue_max as f64 } else { 0.0 };
        let need = share.remaining.filter(|_| by_need).map_or(u64::MAX, |bytes| bytes.div_ceil(mss));
        share.window = (part as u64).max(1).min(need);
        granted += share.window;
    }
    if by_need && granted < queue_max {
        hand_out(shares, queue_max - granted, mss, priority);
    }
}

/// Gives `left` segments to flows that can use more: fewest remaining bytes first, then the one accepted first.
fn hand_out(shares: &mut [Share], mut left: u64, mss: u64, priority: bool) {
    let mut order: Vec<usize> = (0..shares.len()).collect();
    if priority {
        order.sort_by_key(|at| shares[*at].remaining.unwrap_or(u64::MAX));
    }
    loop {
        let before = left;
        for at in &order {
            if left == 0 {
                return;
            }
            // READING: R7 a flow of unknown size stays at one segment, unless priorities are off.
            let wants = shares[*at].remaining.map_or(!priority, |bytes| shares[*at].window * mss < bytes);
            if wants {
                shares[*at].window += 1;
                left -= 1;
            }
        }
        if left == before {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1446;
    const KIB: u64 = 1024;

    fn weights(priority: bool) -> Weight {
        if priority { Weight::Inverse } else { Weight::Equal }
    }

    fn windows(sizes: &[u64], priority: bool) -> Vec<u64> {
        let mut shares: Vec<_> = sizes.iter().map(|size| Share { remaining: Some(*size), window: 0 }).collect();
        assign(&mut shares, 40, MSS, weights(priority), false);
        shares.iter().map(|share| share.window).collect()
    }

    #[test]
    fn equal_flows_share_equally_and_the_first_accepted_get_what_is_left() {
        assert_eq!(windows(&[32 * KIB; 10], true), [4; 10]);
        let thirty = windows(&[32 * KIB; 30], true);
        assert_eq!((&thirty[..10], &thirty[10..]), (&[2; 10][..], &[1; 20][..]));
        assert_eq!(windows(&[32 * KIB; 50], true), [1; 50], "one segment each, even if that is more than queue_max");
    }

    #[test]
    fn small_flows_weigh_more_but_get_no_more_than_they_need() {
        assert_eq!(windows(&[30 << 20, 2 * KIB], true), [38, 2]);
        assert_eq!(windows(&[1500; 10], true), [2; 10], "all covered: the rest of queue_max stays unused");
        assert_eq!(windows(&[16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB], true), [12, 14, 9, 5]);
    }

    #[test]
    fn one_large_flow_among_many_small_ones() {
        let sizes: Vec<u64> = std::iter::once(30 << 20).chain([50 * KIB; 60]).collect();
        assert_eq!(windows(&sizes, true), [1; 61]);
    }

    #[test]
    fn without_priority_size_does_not_weigh() {
        assert_eq!(windows(&[16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB], false), [10; 4]);
        assert_eq!(windows(&[100 * KIB, 1500, 64 * KIB], false), [19, 2, 19], "the first accepted first");
    }

    #[test]
    fn as_printed_need_and_rests_count_under_priority_only() {
        let printed = |sizes: &[u64], priority: bool| {
            let mut shares: Vec<_> = sizes.iter().map(|size| Share { remaining: Some(*size), window: 0 }).collect();
            assign(&mut shares, 40, MSS, weights(priority), true);
            shares.iter().map(|share| share.window).collect::<Vec<_>>()
        };
        assert_eq!(printed(&[100 * KIB, 1500, 64 * KIB], false), [13; 3], "lines 5 and 11 do not act");
        assert_eq!(printed(&[32 * KIB; 30], false), [1; 30]);
        assert_eq!(printed(&[32 * KIB; 50], false), [1; 50], "line 4 does");
        for sizes in [&[32 * KIB; 30][..], &[100 * KIB, 1500, 64 * KIB], &[30 << 20, 2 * KIB]] {
            assert_eq!(printed(sizes, true), windows(sizes, true));
        }
    }

    #[test]
    fn a_flow_of_unknown_size_gets_one_segment() {
        let mut shares = [Some(64 * KIB), None, None].map(|remaining| Share { remaining, window: 0 });
        assign(&mut shares, 40, MSS, Weight::Inverse, false);
        assert_eq!(shares.map(|share| share.window), [40, 1, 1], "at least one, beyond queue_max if need be");
        let mut alone = [Share { remaining: None, window: 0 }];
        assign(&mut alone, 40, MSS, Weight::Inverse, false);
        assert_eq!(alone[0].window, 1);
    }

    /// Eq. 1 of RCCE, if the priority is the size: "flow size is used as priority" (its section VI).
    #[test]
    fn by_size_large_flows_weigh_more() {
        let mut shares = [16, 32, 64, 128].map(|kib| Share { remaining: Some(kib * KIB), window: 0 });
        assign(&mut shares, 40, MSS, Weight::Size, false);
        assert_eq!(shares.map(|share| share.window), [3, 6, 10, 21], "40 in proportion, and two left for the smallest");
    }

    #[test]
    fn nothing_is_assigned_to_nobody() {
        assign(&mut [], 40, MSS, Weight::Inverse, false);
    }
}

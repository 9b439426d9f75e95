//! The division of priorities, 0 the highest: first those of unscheduled packets, by the size of the message, then those that
//! receivers grant.

use fanin_param::Sizes;

/// Sizes of a workload that are looked at.
const SAMPLES: u32 = 10_000;

/// The priorities of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Levels {
    all: u8,
    /// The largest message of each unscheduled level but the last.
    cutoffs: Vec<u64>,
}

impl Levels {
    /// Unscheduled packets have the part of the levels that they have of all bytes, and each of these levels the same part of
    /// their bytes.
    pub(super) fn new(all: u64, workload: &Sizes, ahead: u64) -> Self {
        // READING: HO2
        let sizes = (0..SAMPLES).map(|i| workload.quantile((f64::from(i) + 0.5) / f64::from(SAMPLES)));
        let sizes: Vec<u64> = sizes.collect();
        let unscheduled: u64 = sizes.iter().map(|size| ahead.min(*size)).sum();
        let share = unscheduled as f64 / sizes.iter().sum::<u64>().max(1) as f64;
        let levels = ((share * all as f64).round() as u64).clamp(1, all - 1);
        let (mut cutoffs, mut below) = (Vec::new(), 0);
        for size in sizes {
            below += ahead.min(size);
            while cutoffs.len() as u64 + 1 < levels && below * levels >= unscheduled * (cutoffs.len() as u64 + 1) {
                cutoffs.push(size);
            }
        }
        Self { all: all as u8, cutoffs }
    }

    pub(super) fn all(&self) -> u8 {
        self.all
    }

    /// The highest level of scheduled packets.
    fn first(&self) -> u8 {
        self.cutoffs.len() as u8 + 1
    }

    /// The number of levels of scheduled packets.
    pub(super) fn scheduled(&self) -> u8 {
        self.all - self.first()
    }

    /// The level of the unscheduled packets of a message of so many bytes.
    pub(super) fn unscheduled(&self, bytes: u64) -> u8 {
        self.cutoffs.partition_point(|cutoff| *cutoff < bytes) as u8
    }

    /// The level of the scheduled packets of the message at `rank`, from 0, of `active` ones. Few take the lowest levels, so that a
    /// shorter message finds a higher one free; and what finds no level of its own has the lowest.
    pub(super) fn of(&self, rank: usize, active: usize) -> u8 {
        let first = usize::from(self.all).saturating_sub(active).max(usize::from(self.first()));
        (first + rank).min(usize::from(self.all) - 1) as u8
    }
}

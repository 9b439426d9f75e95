//! How fairly transfers shared each time bin.

use fanin_core::ids::{GroupId, TransferId};

/// Sums of the squared bytes of each transfer, per bin and group. Calls come in time order.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    groups: usize,
    transfers: Vec<Share>,
    /// One entry per bin and group, bin by bin.
    squares: Vec<u128>,
    /// In the same order: transfers whose first bin this is, and transfers whose last bin is the one before.
    begins: Vec<u32>,
    ends: Vec<u32>,
}

/// Bytes of one transfer in its latest bin with any (`bytes`), and in the bin before that (`before`).
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    group: GroupId,
    bin: usize,
    bytes: u64,
    before: u64,
}

impl Shares {
    pub(super) fn new(groups: usize) -> Self {
        Self { groups, transfers: Vec::new(), squares: Vec::new(), begins: Vec::new(), ends: Vec::new() }
    }

    /// Adds `bytes` that a transfer received in `bin`.
    #[inline]
    pub(super) fn add(&mut self, transfer: TransferId, group: GroupId, bin: usize, bytes: u64) {
        if transfer.index() >= self.transfers.len() {
            self.transfers.resize(transfer.index() + 1, Share::default());
        }
        let share = &mut self.transfers[transfer.index()];
        if share.bin != bin {
            let before = if share.bin + 1 == bin { share.bytes } else { 0 };
            *share = Share { group, bin, bytes: 0, before };
        }
        share.group = group;
        let growth = square(share.bytes + bytes) - square(share.bytes);
        share.bytes += bytes;
        let row = bin * self.groups + group.index();
        *at(&mut self.squares, row) += growth;
    }

    /// Records that a transfer was in progress from bin `first` to bin `last`.
    pub(super) fn open(&mut self, group: GroupId, first: usize, last: usize) {
        *at(&mut self.begins, first * self.groups + group.index()) += 1;
        *at(&mut self.ends, (last + 1) * self.groups + group.index()) += 1;
    }

    /// Jain's index of each bin and group, from the bytes of each group; none for a group without bytes. Bytes beyond
    /// the last bin count as part of it.
    pub(super) fn close(mut self, bins: usize, sums: impl Iterator<Item = u64>) -> Vec<Option<f64>> {
        let rows = bins * self.groups;
        self.squares.resize(rows, 0);
        self.begins.resize(rows, 0);
        self.ends.resize(rows, 0);
        for share in self.transfers.iter().filter(|share| share.bin == bins && share.bytes > 0) {
            let row = (bins - 1) * self.groups + share.group.index();
            self.squares[row] += square(share.before + share.bytes) - square(share.before);
        }
        let mut open = vec![0_u32; self.groups];
        let index = |(row, sum): (usize, u64)| {
            let open = &mut open[row % self.groups];
            *open = *open + self.begins[row] - self.ends[row];
            let squares = f64::from(*open) * self.squares[row] as f64;
            (squares > 0.0).then(|| sum as f64 * sum as f64 / squares)
        };
        sums.enumerate().map(index).collect()
    }
}

fn square(bytes: u64) -> u128 {
    u128::from(bytes) * u128::from(bytes)
}

fn at<T: Clone + Default>(values: &mut Vec<T>, i: usize) -> &mut T {
    if i >= values.len() {
        values.resize(i + 1, T::default());
    }
    &mut values[i]
}

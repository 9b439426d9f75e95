//! What happened when: counts per time bin and traffic group.

use super::table::{Column, Data, Table};
use crate::ids::GroupId;
use crate::units::{Bytes, Time};

/// Accumulators per time bin and traffic group. Bin `i` covers `[i width, (i + 1) width)`.
#[derive(Clone, Debug)]
pub struct Bins {
    width: u64,
    groups: usize,
    /// The bin that was used last and its start. Time moves on slowly, so most events find their bin here
    /// without a division.
    bin: usize,
    start: u64,
    /// Bin by bin, one cell per group.
    cells: Vec<Cell>,
    /// Per bin, packets times picoseconds of the watched queue.
    queue: Vec<u128>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    delivered: u64,
    drops: u64,
    marks: u64,
    retransmissions: u64,
    timeouts: u64,
    delays: Mean,
    differences: Mean,
    completions: Mean,
}

impl Cell {
    fn add(&mut self, other: &Self) {
        self.delivered += other.delivered;
        self.drops += other.drops;
        self.marks += other.marks;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.delays.merge(other.delays);
        self.differences.merge(other.differences);
        self.completions.merge(other.completions);
    }
}

/// A mean of times in the making.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: u128,
    count: u64,
}

impl Mean {
    fn add(&mut self, ps: u64) {
        self.sum += u128::from(ps);
        self.count += 1;
    }
    fn merge(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
    fn secs(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 * 1e-12)
    }
}

impl Bins {
    /// Bins of a width that is not zero, for a number of groups.
    pub fn new(width: Time, groups: usize) -> Self {
        assert!(width > Time::ZERO, "a bin has a width");
        Self { width: width.ps(), groups, bin: 0, start: 0, cells: vec![Cell::default(); groups], queue: vec![0] }
    }

    /// Counts new bytes that reached the application.
    #[inline]
    pub fn add_delivered(&mut self, group: GroupId, now: Time, bytes: Bytes) {
        self.cell(group, now).delivered += bytes.get();
    }

    /// Counts a dropped packet.
    pub fn add_drop(&mut self, group: GroupId, now: Time) {
        self.cell(group, now).drops += 1;
    }

    /// Counts a packet marked with congestion experienced.
    pub fn add_mark(&mut self, group: GroupId, now: Time) {
        self.cell(group, now).marks += 1;
    }

    /// Counts a retransmitted segment.
    pub fn add_retransmission(&mut self, group: GroupId, now: Time) {
        self.cell(group, now).retransmissions += 1;
    }

    /// Counts an expiry of a retransmission timer.
    pub fn add_timeout(&mut self, group: GroupId, now: Time) {
        self.cell(group, now).timeouts += 1;
    }

    /// Counts the one-way delay of a packet received at `now`, with that of the packet received before it on the
    /// same flow, if any.
    #[inline]
    pub fn add_delay(&mut self, group: GroupId, now: Time, delay: Time, previous: Option<Time>) {
        let cell = self.cell(group, now);
        cell.delays.add(delay.ps());
        if let Some(previous) = previous {
            cell.differences.add(delay.ps().abs_diff(previous.ps()));
        }
    }

    /// Counts a transfer that completed at `now` after `fct`.
    pub fn add_completion(&mut self, group: GroupId, now: Time, fct: Time) {
        self.cell(group, now).completions.add(fct.ps());
    }

    /// Accounts a backlog of `packets` from `from` to `to` to the bins that this interval touches.
    #[inline]
    pub fn add_queue(&mut self, from: Time, to: Time, packets: u32) {
        debug_assert!(from <= to, "time runs forward");
        // An empty queue adds nothing, however long it lasts.
        if packets == 0 || from == to {
            return;
        }
        let (mut from, to, packets) = (from.ps(), to.ps(), u128::from(packets));
        while from < to {
            self.seek(from);
            let piece = (to - from).min(self.width - (from - self.start));
            self.queue[self.bin] += packets * u128::from(piece);
            from += piece;
        }
    }

    #[inline]
    fn cell(&mut self, group: GroupId, now: Time) -> &mut Cell {
        self.seek(now.ps());
        debug_assert!(group.index() < self.groups);
        &mut self.cells[self.bin * self.groups + group.index()]
    }

    /// Makes the bin of `ps` the present one.
    #[inline]
    fn seek(&mut self, ps: u64) {
        if ps.wrapping_sub(self.start) >= self.width {
            self.turn_to(ps / self.width);
        }
    }

    #[cold]
    fn turn_to(&mut self, bin: u64) {
        self.bin = bin as usize;
        self.start = bin * self.width;
        if self.bin >= self.queue.len() {
            self.queue.resize(self.bin + 1, 0);
            self.cells.resize((self.bin + 1) * self.groups, Cell::default());
        }
    }

    /// The bins of a run that ended at `end` as a table, one row per bin and group, in that order.
    ///
    /// Bins reach to the end, whether or not anything happened in them. The last one is cut there, and its rates
    /// and means refer to what is left of it. What happened at the end itself, or after it, counts as part of
    /// the last bin, so that the columns add up to the totals of the run. A run of no length has no bins.
    pub fn into_table(mut self, group_names: Vec<String>, end: Time) -> Table {
        assert_eq!(group_names.len(), self.groups, "one name per group");
        let bins = self.close(end.ps());
        let (width, groups) = (self.width, self.groups);
        let starts = (0..bins as u64).map(|bin| bin * width);
        let spans: Vec<f64> = starts.clone().map(|start| width.min(end.ps() - start) as f64 * 1e-12).collect();
        let queue = self.queue.iter().zip(&spans).map(|(sum, span)| *sum as f64 * 1e-12 / span);
        // A value of each bin, repeated on the rows of all its groups.
        let spread = |values: &mut dyn Iterator<Item = f64>| {
            Data::F64(values.flat_map(|value| std::iter::repeat_n(value, groups)).collect())
        };
        let goodput =
            self.cells.iter().enumerate().map(|(row, cell)| cell.delivered as f64 * 8.0 / spans[row / groups]);
        let codes = (0..bins).flat_map(|_| 0..groups as u32).collect();
        let mut columns = vec![
            Column::new("time_s", "s", "Start of the bin", spread(&mut starts.map(|ps| Time::from_ps(ps).secs()))),
            Column::new("group", "", "Traffic group", Data::Label { codes, names: group_names }),
            Column::new("goodput_bps", "bit/s", GOODPUT, Data::F64(goodput.collect())),
        ];
        columns.extend(cell_columns(&self.cells));
        columns.push(Column::new("queue_mean_packets", "pkt", QUEUE, spread(&mut queue.into_iter())));
        Table { name: "bins", description: "What happened in each time bin to each traffic group", columns }
    }

    /// Brings the bins to the number that reaches to the end, folding what lies beyond into the last; returns it.
    fn close(&mut self, end: u64) -> usize {
        let bins = end.div_ceil(self.width) as usize;
        if let Some(last) = bins.checked_sub(1) {
            for row in bins * self.groups..self.cells.len() {
                let beyond = self.cells[row];
                self.cells[last * self.groups + row % self.groups].add(&beyond);
            }
            for bin in bins..self.queue.len() {
                self.queue[last] += self.queue[bin];
            }
        }
        self.cells.resize(bins * self.groups, Cell::default());
        self.queue.resize(bins, 0);
        bins
    }
}

const GOODPUT: &str = "Delivered bits over the length of the bin";
const QUEUE: &str = "Time-weighted mean backlog of the watched port over the bin, of all groups together";
const JITTER: &str = "Mean absolute difference between the one-way delays of consecutive packets of a flow";

/// The columns that are fields of the cells.
fn cell_columns(cells: &[Cell]) -> [Column; 9] {
    let count = |name, unit, description, value: fn(&Cell) -> u64| {
        Column::new(name, unit, description, Data::U64(cells.iter().map(value).collect()))
    };
    let mean = |name, description, value: fn(&Cell) -> Mean| {
        let values = cells.iter().map(|cell| value(cell).secs()).collect();
        Column::new(name, "s", description, Data::OptF64(values))
    };
    [
        count("delivered_bytes", "B", "New bytes that reached the application, in order", |cell| cell.delivered),
        count("drops", "pkt", "Packets dropped by a queue", |cell| cell.drops),
        count("marks", "pkt", "Packets marked with congestion experienced", |cell| cell.marks),
        count("retransmissions", "pkt", "Segments sent again", |cell| cell.retransmissions),
        count("timeouts", "1", "Expiries of a retransmission timer", |cell| cell.timeouts),
        mean("delay_mean_s", "Mean one-way delay of the packets received in the bin", |cell| cell.delays),
        mean("delay_jitter_s", JITTER, |cell| cell.differences),
        count("completions", "1", "Transfers completed in the bin", |cell| cell.completions.count),
        mean("fct_mean_s", "Mean completion time of these transfers", |cell| cell.completions),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Time = Time::from_ms(1);
    const A: GroupId = GroupId::new(0);
    const B: GroupId = GroupId::new(1);

    fn at(us: u64) -> Time {
        Time::from_us(us)
    }

    fn table(bins: Bins, end: Time) -> Table {
        let names = ["a", "b"][..bins.groups].iter().map(ToString::to_string).collect();
        let table = bins.into_table(names, end);
        assert_eq!(table.check(), Ok(()));
        table
    }

    fn counts(table: &Table, name: &str) -> Vec<u64> {
        let Data::U64(values) = &table.column(name).unwrap().data else { panic!("{name} has another type") };
        values.clone()
    }

    /// The values of a real column, with -1 where there is none.
    fn reals(table: &Table, name: &str) -> Vec<f64> {
        match &table.column(name).unwrap().data {
            Data::F64(values) => values.clone(),
            Data::OptF64(values) => values.iter().map(|value| value.unwrap_or(-1.0)).collect(),
            _ => panic!("{name} has another type"),
        }
    }

    #[track_caller]
    fn assert_near(found: &[f64], expected: &[f64]) {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} not {expected:?}");
    }

    #[test]
    fn events_land_in_their_bin_and_group() {
        let mut bins = Bins::new(MS, 2);
        bins.add_delivered(A, at(999), Bytes::new(1000));
        bins.add_delivered(B, at(1000), Bytes::new(250));
        bins.add_drop(B, at(2100));
        // Out of order, into a bin that time has left.
        bins.add_mark(A, at(10));
        bins.add_retransmission(A, at(1500));
        bins.add_timeout(B, at(2999));
        let table = table(bins, at(3000));
        assert_eq!(table.rows(), 6);
        assert_near(&reals(&table, "time_s"), &[0.0, 0.0, 1e-3, 1e-3, 2e-3, 2e-3]);
        assert_eq!(counts(&table, "delivered_bytes"), [1000, 0, 0, 250, 0, 0]);
        assert_near(&reals(&table, "goodput_bps"), &[8e6, 0.0, 0.0, 2e6, 0.0, 0.0]);
        assert_eq!(counts(&table, "drops"), [0, 0, 0, 0, 0, 1]);
        assert_eq!(counts(&table, "marks"), [1, 0, 0, 0, 0, 0]);
        assert_eq!(counts(&table, "retransmissions"), [0, 0, 1, 0, 0, 0]);
        assert_eq!(counts(&table, "timeouts"), [0, 0, 0, 0, 0, 1]);
        let group = &table.column("group").unwrap().data;
        assert_eq!(*group, Data::Label { codes: vec![0, 1, 0, 1, 0, 1], names: vec!["a".into(), "b".into()] });
    }

    #[test]
    fn means_are_of_the_bin_and_absent_without_events() {
        let mut bins = Bins::new(MS, 1);
        bins.add_delay(A, at(100), at(40), None);
        bins.add_delay(A, at(200), at(60), Some(at(40)));
        bins.add_delay(A, at(1100), at(50), Some(at(60)));
        bins.add_completion(A, at(1200), at(700));
        bins.add_completion(A, at(1300), at(900));
        let table = table(bins, at(3000));
        assert_near(&reals(&table, "delay_mean_s"), &[50e-6, 50e-6, -1.0]);
        assert_near(&reals(&table, "delay_jitter_s"), &[20e-6, 10e-6, -1.0]);
        assert_eq!(counts(&table, "completions"), [0, 2, 0]);
        assert_near(&reals(&table, "fct_mean_s"), &[-1.0, 800e-6, -1.0]);
    }

    #[test]
    fn a_backlog_is_split_over_the_bins_it_spans() {
        let mut bins = Bins::new(MS, 2);
        bins.add_queue(Time::ZERO, at(500), 0);
        bins.add_queue(at(500), at(3250), 8);
        bins.add_queue(at(3250), at(3250), 1000);
        let table = table(bins, at(4000));
        assert_near(&reals(&table, "queue_mean_packets"), &[4.0, 4.0, 8.0, 8.0, 8.0, 8.0, 2.0, 2.0]);
    }

    #[test]
    fn the_last_bin_is_cut_and_takes_what_happens_at_the_end() {
        let mut bins = Bins::new(MS, 2);
        bins.add_delivered(B, at(1100), Bytes::new(100));
        bins.add_queue(at(1000), at(1500), 3);
        let cut = table(bins.clone(), at(1500));
        assert_near(&reals(&cut, "goodput_bps"), &[0.0, 0.0, 0.0, 1.6e6]);
        assert_near(&reals(&cut, "queue_mean_packets"), &[0.0, 0.0, 3.0, 3.0]);
        bins.add_delivered(B, at(2000), Bytes::new(25));
        let whole = table(bins, at(2000));
        assert_eq!(counts(&whole, "delivered_bytes"), [0, 0, 0, 125]);
        assert_near(&reals(&whole, "queue_mean_packets"), &[0.0, 0.0, 1.5, 1.5]);
    }

    #[test]
    fn quiet_runs_have_their_bins_and_empty_runs_have_none() {
        assert_eq!(table(Bins::new(MS, 2), at(2500)).rows(), 6);
        assert_eq!(table(Bins::new(MS, 2), Time::ZERO).rows(), 0);
        let mut nobody = Bins::new(MS, 0);
        nobody.add_queue(Time::ZERO, at(1500), 1);
        assert_eq!(table(nobody, at(2500)).rows(), 0);
    }
}

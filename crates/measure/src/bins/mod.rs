//! Counts per time bin, for each traffic group and each observed port.

mod delays;
mod ports;
mod shares;

pub use ports::BinnedPort;

use super::table::{Column, Data, Table};
use super::timeouts::TimeoutCause;
use super::total::Heading;
use delays::{BinDelays, Percentiles};
use fanin_core::ids::{GroupId, TransferId};
use fanin_core::units::{Bytes, Time};
use ports::PortCell;
use shares::Shares;

/// Accumulators per time bin, for each traffic group and each observed port. Bin `i` covers `[i width, (i + 1) width)`.
#[derive(Clone, Debug)]
pub struct Bins {
    width: u64,
    groups: usize,
    /// Number of observed ports.
    ports: usize,
    /// The bin used last, and its start. Successive events are close in time, so most find their bin here without a
    /// division.
    bin: usize,
    start: u64,
    /// One cell per bin and group, bin by bin.
    cells: Vec<Cell>,
    /// One cell per bin and observed port, bin by bin.
    queues: Vec<PortCell>,
    /// By group.
    delays: Vec<BinDelays>,
    shares: Shares,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    delivered: u64,
    drops: u64,
    marks: u64,
    retransmissions: u64,
    timeouts: [u32; TimeoutCause::ALL.len()],
    delays: Mean,
    differences: Mean,
    percentiles: Percentiles,
    completions: Mean,
}

impl Cell {
    fn add(&mut self, other: &Self) {
        self.delivered += other.delivered;
        self.drops += other.drops;
        self.marks += other.marks;
        self.retransmissions += other.retransmissions;
        for (count, more) in self.timeouts.iter_mut().zip(other.timeouts) {
            *count += more;
        }
        self.delays.merge(other.delays);
        self.differences.merge(other.differences);
        self.completions.merge(other.completions);
    }
}

/// A running mean of times.
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
    /// Bins of a non-zero width for so many groups and observed ports.
    pub fn new(width: Time, groups: usize, ports: usize) -> Self {
        assert!(width > Time::ZERO, "a bin has a width");
        Self {
            width: width.ps(),
            groups,
            ports,
            bin: 0,
            start: 0,
            cells: vec![Cell::default(); groups],
            queues: vec![PortCell::default(); ports],
            delays: vec![BinDelays::default(); groups],
            shares: Shares::new(groups),
        }
    }

    /// Counts new bytes of a transfer delivered to the application. Calls come in time order.
    #[inline]
    pub fn add_delivered(&mut self, group: GroupId, transfer: TransferId, now: Time, bytes: Bytes) {
        self.cell(group, now).delivered += bytes.get();
        if bytes > Bytes::ZERO {
            self.shares.add(transfer, group, self.bin, bytes.get());
        }
    }

    /// Records that a transfer was in progress from `from` to `to`, which is the end of the run if it did not complete.
    pub fn add_transfer(&mut self, group: GroupId, from: Time, to: Time) {
        self.shares.open(group, (from.ps() / self.width) as usize, (to.ps() / self.width) as usize);
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

    /// Counts a retransmission timeout.
    pub fn add_timeout(&mut self, group: GroupId, now: Time, cause: TimeoutCause) {
        self.cell(group, now).timeouts[cause as usize] += 1;
    }

    /// Counts the one-way delay of a packet received at `now`. `previous` is the delay of the packet received before it
    /// on the same flow, if any. Calls come in time order.
    #[inline]
    pub fn add_delay(&mut self, group: GroupId, now: Time, delay: Time, previous: Option<Time>) {
        let cell = self.cell(group, now);
        cell.delays.add(delay.ps());
        if let Some(previous) = previous {
            cell.differences.add(delay.ps().abs_diff(previous.ps()));
        }
        if let Some((bin, percentiles)) = self.delays[group.index()].record(self.bin, delay.ps()) {
            self.cells[bin * self.groups + group.index()].percentiles = percentiles;
        }
    }

    /// Counts a transfer that completed at `now` after `fct`.
    pub fn add_completion(&mut self, group: GroupId, now: Time, fct: Time) {
        self.cell(group, now).completions.add(fct.ps());
    }

    /// Adds a backlog of `packets` in an observed port from `from` to `to` to the bins that this interval overlaps.
    #[inline]
    pub fn add_queue(&mut self, port: usize, from: Time, to: Time, packets: u32) {
        debug_assert!(from <= to, "time runs forward");
        // An empty queue adds nothing, however long it lasts.
        if packets == 0 || from == to {
            return;
        }
        self.spread(port, from, to, |cell, piece| cell.packet_time += u128::from(packets) * u128::from(piece));
    }

    /// Adds a packet that an observed port transmitted from `from` to `to` to the bins that this interval overlaps. At
    /// the link's nominal rate the transmission would have taken `as_built`.
    #[inline]
    pub fn add_sent(&mut self, port: usize, from: Time, to: Time, as_built: Time) {
        debug_assert!(from < to, "transmissions last");
        let (took, as_built) = ((to - from).ps(), as_built.ps());
        self.spread(port, from, to, |cell, piece| {
            let changed = || (u128::from(piece) * u128::from(as_built) / u128::from(took)) as u64;
            cell.sent += if took == as_built { piece } else { changed() };
        });
    }

    /// Calls `add` for each bin that an interval overlaps, with the length of the overlap in picoseconds.
    #[inline]
    fn spread(&mut self, port: usize, from: Time, to: Time, add: impl Fn(&mut PortCell, u64)) {
        let (mut from, to) = (from.ps(), to.ps());
        while from < to {
            self.seek(from);
            let piece = (to - from).min(self.width - (from - self.start));
            add(&mut self.queues[self.bin * self.ports + port], piece);
            from += piece;
        }
    }

    #[inline]
    fn cell(&mut self, group: GroupId, now: Time) -> &mut Cell {
        self.seek(now.ps());
        debug_assert!(group.index() < self.groups);
        &mut self.cells[self.bin * self.groups + group.index()]
    }

    /// Makes the bin of `ps` the current one.
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
        let bins = self.bin + 1;
        if bins * self.groups > self.cells.len() {
            self.cells.resize(bins * self.groups, Cell::default());
        }
        if bins * self.ports > self.queues.len() {
            self.queues.resize(bins * self.ports, PortCell::default());
        }
    }

    /// The bins of a run that ended at `end` as two tables: one row per bin and group, and one per bin and observed
    /// port. The backlog of the port `watched`, if it is observed, is also a column of the table of groups.
    ///
    /// Bins cover the whole run, including bins without events. The last bin is cut at the end of the run, and its
    /// rates and means refer to the shortened bin. Events at or after the end count as part of the last bin. Columns
    /// add up to the totals of the run, except retransmissions and timeouts: bins also count those after the last byte
    /// of a transfer (a lost FIN). A run of zero length has no bins.
    pub fn into_tables(
        mut self,
        group_names: Vec<String>,
        ports: &[BinnedPort],
        watched: Option<usize>,
        end: Time,
    ) -> [Table; 2] {
        assert_eq!((group_names.len(), ports.len()), (self.groups, self.ports), "one name for each");
        let bins = self.close(end.ps());
        let (width, groups) = (self.width, self.groups);
        let starts: Vec<f64> = (0..bins as u64).map(|bin| Time::from_ps(bin * width).secs()).collect();
        let spans: Vec<f64> = (0..bins as u64).map(|bin| width.min(end.ps() - bin * width) as f64 * 1e-12).collect();
        // One value per bin, repeated on the row of each group.
        let spread = |value: &dyn Fn(usize) -> f64| {
            Data::F64((0..bins).flat_map(|bin| std::iter::repeat_n(value(bin), groups)).collect())
        };
        let goodput =
            self.cells.iter().enumerate().map(|(row, cell)| cell.delivered as f64 * 8.0 / spans[row / groups]);
        let codes = (0..bins).flat_map(|_| 0..groups as u32).collect();
        let backlog = |bin: usize| watched.map_or(0.0, |port| self.queues[bin * self.ports + port].mean(spans[bin]));
        let mut columns = vec![
            Column::new("time_s", "s", "Start of the bin", spread(&|bin| starts[bin])).headed(Heading::TIME),
            Column::new("group", "", "Traffic group", Data::Label { codes, names: group_names }).headed(Heading::GROUP),
            Column::new("goodput_bps", "bit/s", GOODPUT, Data::F64(goodput.collect())).headed(RATE),
        ];
        columns.extend(cell_columns(&self.cells));
        columns.push(Column::new("queue_mean_packets", "pkt", QUEUE, spread(&backlog)).headed(BACKLOG));
        let jain = self.shares.close(bins, self.cells.iter().map(|cell| cell.delivered));
        columns.push(Column::new("jain", "1", JAIN, Data::OptF64(jain)).headed(FAIRNESS));
        let groups =
            Table { name: "bins", description: "What happened in each time bin to each traffic group", columns };
        [groups, ports::table(ports, &self.queues, &starts, &spans)]
    }

    /// Extends or cuts the bins to those that cover the run, folding later ones into the last; returns their number.
    fn close(&mut self, end: u64) -> usize {
        let bins = end.div_ceil(self.width) as usize;
        if let Some(last) = bins.checked_sub(1) {
            for row in bins * self.groups..self.cells.len() {
                let beyond = self.cells[row];
                self.cells[last * self.groups + row % self.groups].add(&beyond);
            }
            for row in bins * self.ports..self.queues.len() {
                let beyond = self.queues[row];
                self.queues[last * self.ports + row % self.ports].add(beyond);
            }
        }
        self.cells.resize(bins * self.groups, Cell::default());
        self.queues.resize(bins * self.ports, PortCell::default());
        if bins > 0 {
            for (group, delays) in std::mem::take(&mut self.delays).into_iter().enumerate() {
                let (bin, percentiles) = delays.close(bins);
                self.cells[bin * self.groups + group].percentiles = percentiles;
            }
        }
        bins
    }
}

const RATE: Heading = Heading::new("Goodput").told_by("payload in order, per bin and traffic group").more();
const BACKLOG: Heading = Heading::new("Queue").told_by("time-weighted mean of a bin, transmitted one included").less();
const FAIRNESS: Heading =
    Heading::new("Jain's fairness index").told_by("over the payload of every transfer in progress in a bin").more();
const DELAY_MEAN: Heading = Heading::new("One-way delay of a packet, mean").less();
const DELAY_PERCENTILES: [Heading; 3] = [
    Heading::new("One-way delay of a packet, median").less(),
    Heading::new("One-way delay of a packet, 95th percentile").less(),
    Heading::new("One-way delay of a packet, 99th percentile").less(),
];
const COMPLETION: Heading =
    Heading::new("Flow completion time").told_by("mean of the flows that complete in a bin").less();

const GOODPUT: &str = "Delivered bits divided by the length of the bin";
const QUEUE: &str = "Time-weighted mean backlog of the bottleneck port over the bin, all groups together";
const JITTER: &str = "Mean absolute difference between the one-way delays of consecutive packets of a flow";

const JAIN: &str =
    "Jain's index over the new bytes of each transfer that was in progress in the bin, including those that got none";

/// The columns taken from the cells.
fn cell_columns(cells: &[Cell]) -> Vec<Column> {
    let count = |name, unit, description, value: &dyn Fn(&Cell) -> u64| {
        Column::new(name, unit, description, Data::U64(cells.iter().map(value).collect()))
    };
    let percentile = |name, description, i: usize| {
        let value = |cell: &Cell| cell.percentiles.map(|found| Time::from_ps(found[i]).secs());
        Column::new(name, "s", description, Data::OptF64(cells.iter().map(value).collect()))
            .headed(DELAY_PERCENTILES[i])
    };
    let mean = |name, description, value: fn(&Cell) -> Mean| {
        let values = cells.iter().map(|cell| value(cell).secs()).collect();
        Column::new(name, "s", description, Data::OptF64(values))
    };
    let timeouts = |cell: &Cell| cell.timeouts.iter().map(|count| u64::from(*count)).sum();
    let mut columns = vec![
        count("delivered_bytes", "B", "New bytes that reached the application, in order", &|cell| cell.delivered)
            .headed(Heading::new("Payload delivered in order").more()),
        count("drops", "pkt", "Packets dropped, for any reason", &|cell| cell.drops),
        count("marks", "pkt", "Packets marked with congestion experienced", &|cell| cell.marks),
        count("retransmissions", "pkt", "Segments retransmitted", &|cell| cell.retransmissions),
        count("timeouts", "1", "Retransmission timeouts", &timeouts),
    ];
    for cause in TimeoutCause::ALL {
        let of_cause = |cell: &Cell| u64::from(cell.timeouts[cause as usize]);
        columns.push(count(cause.column(), "1", cause.description(), &of_cause));
    }
    columns.extend([
        mean("delay_mean_s", "Mean one-way delay of the packets received in the bin", |cell| cell.delays)
            .headed(DELAY_MEAN),
        percentile("delay_p50_s", "Median of these delays, within 1/64", 0),
        percentile("delay_p95_s", "95th percentile of these delays, within 1/64", 1),
        percentile("delay_p99_s", "99th percentile of these delays, within 1/64", 2),
        mean("delay_jitter_s", JITTER, |cell| cell.differences),
        count("completions", "1", "Transfers completed in the bin", &|cell| cell.completions.count),
        mean("fct_mean_s", "Mean completion time of these transfers", |cell| cell.completions).headed(COMPLETION),
    ]);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::units::Rate;

    const MS: Time = Time::from_ms(1);
    const A: GroupId = GroupId::new(0);
    const B: GroupId = GroupId::new(1);
    const T: TransferId = TransferId::new(0);
    const U: TransferId = TransferId::new(1);
    const V: TransferId = TransferId::new(2);

    fn at(us: u64) -> Time {
        Time::from_us(us)
    }

    fn table(bins: Bins, end: Time) -> Table {
        tables(bins, end)[0].clone()
    }

    fn tables(bins: Bins, end: Time) -> [Table; 2] {
        let names = ["a", "b"][..bins.groups].iter().map(ToString::to_string).collect();
        let port = |link: &&str| BinnedPort { link: (*link).to_owned(), rate: Rate::from_bps(1_000_000_000) };
        let ports: Vec<BinnedPort> = ["x", "y"][..bins.ports].iter().map(port).collect();
        let tables = bins.into_tables(names, &ports, Some(0), end);
        for table in &tables {
            assert_eq!(table.check(), Ok(()));
        }
        tables
    }

    fn counts(table: &Table, name: &str) -> Vec<u64> {
        let Data::U64(values) = &table.column(name).unwrap().data else { panic!("{name} has another type") };
        values.clone()
    }

    /// The values of a column of reals, -1 for a missing one.
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
        let mut bins = Bins::new(MS, 2, 1);
        bins.add_delivered(A, T, at(999), Bytes::new(1000));
        bins.add_delivered(B, U, at(1000), Bytes::new(250));
        bins.add_drop(B, at(2100));
        // An event out of order, in an earlier bin.
        bins.add_mark(A, at(10));
        bins.add_retransmission(A, at(1500));
        bins.add_timeout(B, at(2999), TimeoutCause::Syn);
        bins.add_timeout(B, at(2999), TimeoutCause::Spurious);
        let table = table(bins, at(3000));
        assert_eq!(table.rows(), 6);
        assert_near(&reals(&table, "time_s"), &[0.0, 0.0, 1e-3, 1e-3, 2e-3, 2e-3]);
        assert_eq!(counts(&table, "delivered_bytes"), [1000, 0, 0, 250, 0, 0]);
        assert_near(&reals(&table, "goodput_bps"), &[8e6, 0.0, 0.0, 2e6, 0.0, 0.0]);
        assert_eq!(counts(&table, "drops"), [0, 0, 0, 0, 0, 1]);
        assert_eq!(counts(&table, "marks"), [1, 0, 0, 0, 0, 0]);
        assert_eq!(counts(&table, "retransmissions"), [0, 0, 1, 0, 0, 0]);
        assert_eq!(counts(&table, "timeouts"), [0, 0, 0, 0, 0, 2]);
        assert_eq!(counts(&table, "timeouts_syn"), [0, 0, 0, 0, 0, 1]);
        assert_eq!(counts(&table, "timeouts_full_window"), [0; 6]);
        assert_eq!(counts(&table, "timeouts_spurious"), [0, 0, 0, 0, 0, 1]);
        let group = &table.column("group").unwrap().data;
        assert_eq!(*group, Data::Label { codes: vec![0, 1, 0, 1, 0, 1], names: vec!["a".into(), "b".into()] });
    }

    #[test]
    fn means_are_of_the_bin_and_absent_without_events() {
        let mut bins = Bins::new(MS, 1, 1);
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
        let mut bins = Bins::new(MS, 2, 1);
        bins.add_queue(0, Time::ZERO, at(500), 0);
        bins.add_queue(0, at(500), at(3250), 8);
        bins.add_queue(0, at(3250), at(3250), 1000);
        let table = table(bins, at(4000));
        assert_near(&reals(&table, "queue_mean_packets"), &[4.0, 4.0, 8.0, 8.0, 8.0, 8.0, 2.0, 2.0]);
    }

    #[test]
    fn the_last_bin_is_cut_and_takes_what_happens_at_the_end() {
        let mut bins = Bins::new(MS, 2, 1);
        bins.add_delivered(B, U, at(1100), Bytes::new(100));
        bins.add_queue(0, at(1000), at(1500), 3);
        let cut = table(bins.clone(), at(1500));
        assert_near(&reals(&cut, "goodput_bps"), &[0.0, 0.0, 0.0, 1.6e6]);
        assert_near(&reals(&cut, "queue_mean_packets"), &[0.0, 0.0, 3.0, 3.0]);
        bins.add_delivered(B, U, at(2000), Bytes::new(25));
        let whole = table(bins, at(2000));
        assert_eq!(counts(&whole, "delivered_bytes"), [0, 0, 0, 125]);
        assert_near(&reals(&whole, "queue_mean_packets"), &[0.0, 0.0, 1.5, 1.5]);
    }

    #[test]
    fn quiet_runs_have_their_bins_and_empty_runs_have_none() {
        assert_eq!(table(Bins::new(MS, 2, 1), at(2500)).rows(), 6);
        assert_eq!(table(Bins::new(MS, 2, 1), Time::ZERO).rows(), 0);
        let mut nobody = Bins::new(MS, 0, 1);
        nobody.add_queue(0, Time::ZERO, at(1500), 1);
        assert_eq!(table(nobody, at(2500)).rows(), 0);
    }

    #[test]
    fn percentiles_are_of_the_bin_and_the_last_takes_what_arrives_at_the_end() {
        let mut bins = Bins::new(MS, 2, 1);
        for us in 1..=100 {
            bins.add_delay(A, at(us), Time::from_ps(us), None);
        }
        bins.add_delay(B, at(150), Time::from_ps(7), None);
        for us in 1..=99 {
            bins.add_delay(A, at(3000 + us), Time::from_ps(20), None);
        }
        bins.add_delay(A, at(4000), Time::from_ps(90), None);
        let table = table(bins, at(4000));
        let of =
            |name| reals(&table, name).iter().map(|s| if *s < 0.0 { -1 } else { (s * 1e12).round() as i64 }).collect();
        let (p50, p95, p99): (Vec<i64>, Vec<i64>, Vec<i64>) = (of("delay_p50_s"), of("delay_p95_s"), of("delay_p99_s"));
        assert_eq!(p50, [50, 7, -1, -1, -1, -1, 20, -1]);
        assert_eq!(p95, [95, 7, -1, -1, -1, -1, 20, -1]);
        assert_eq!(p99, [99, 7, -1, -1, -1, -1, 20, -1]);
    }

    #[test]
    fn a_lone_delay_at_the_end_is_the_last_bins() {
        let mut bins = Bins::new(MS, 1, 0);
        bins.add_delay(A, at(100), Time::from_ps(5), None);
        bins.add_delay(A, at(3000), Time::from_ps(9), None);
        let [table, _] = tables_without_port(bins, at(3000));
        assert_near(&reals(&table, "delay_p99_s"), &[5e-12, -1.0, 9e-12]);
    }

    fn tables_without_port(bins: Bins, end: Time) -> [Table; 2] {
        bins.into_tables(vec!["a".into()], &[], None, end)
    }

    #[test]
    fn fairness_counts_who_was_in_progress_and_got_nothing() {
        let mut bins = Bins::new(MS, 2, 1);
        for (group, transfer, us, bytes) in [
            (A, T, 100, 600),
            (A, U, 300, 200),
            (B, V, 400, 50),
            (A, T, 500, 200),
            (A, T, 1200, 300),
            (A, U, 2500, 100),
            (A, T, 2900, 300),
            // At the end of the run, which is part of the last bin.
            (A, U, 3000, 200),
        ] {
            bins.add_delivered(group, transfer, at(us), Bytes::new(bytes));
        }
        bins.add_transfer(A, at(0), at(3000));
        bins.add_transfer(A, at(10), at(3000));
        bins.add_transfer(B, at(10), at(400));
        let table = table(bins, at(3000));
        let first = 1000.0 * 1000.0 / (2.0 * (800.0 * 800.0 + 200.0 * 200.0));
        assert_near(&reals(&table, "jain"), &[first, 1.0, 0.5, -1.0, 1.0, -1.0]);
    }

    #[test]
    fn what_a_port_sends_is_split_over_the_bins_of_its_transmission() {
        let mut bins = Bins::new(MS, 1, 2);
        bins.add_queue(1, at(500), at(1250), 3);
        // On one port a packet that waited, on the other a transmission that spans two bins.
        bins.add_queue(0, at(200), at(1500), 1);
        bins.add_sent(0, at(1000), at(1500), at(500));
        bins.add_sent(1, at(750), at(1250), at(500));
        let [groups, links] = tables(bins, at(2000));
        assert_near(&reals(&groups, "queue_mean_packets"), &[0.8, 0.5]);
        assert_near(&reals(&links, "time_s"), &[0.0, 0.0, 1e-3, 1e-3]);
        assert_near(&reals(&links, "utilisation"), &[0.0, 0.25, 0.5, 0.25]);
        assert_near(&reals(&links, "throughput_bps"), &[0.0, 2.5e8, 5e8, 2.5e8]);
        assert_near(&reals(&links, "queue_mean_packets"), &[0.8, 1.5, 0.5, 0.75]);
    }

    #[test]
    fn a_slowed_link_carries_less() {
        let mut bins = Bins::new(MS, 1, 1);
        // 12500 bytes at a tenth of 1 Gbit/s: a quarter of them in the first bin, three quarters in the second.
        bins.add_sent(0, at(750), at(1750), at(100));
        let [_, links] = tables(bins, at(2000));
        assert_near(&reals(&links, "throughput_bps"), &[25e6, 75e6]);
        assert_near(&reals(&links, "utilisation"), &[0.025, 0.075]);
    }
}

//! The table of flows: one row per transfer, built in batches because there may be millions.

use fanin_core::units::Time;
use fanin_measure::fingerprint::Fingerprint;
use fanin_measure::rows::{Row, Rows};
use fanin_measure::table::{Column, Data, Table, digest_head, digest_name};
use fanin_measure::timeouts::TimeoutCause;
use fanin_measure::total::Heading;
use fanin_work::group::Group;
use std::io;

/// How a column reads a row.
#[derive(Clone, Copy)]
enum Read {
    /// The number of the row.
    Number,
    Count(fn(&Row) -> u64),
    MayCount(fn(&Row) -> Option<u64>),
    Real(fn(&Row) -> f64),
    MayReal(fn(&Row) -> Option<f64>),
    Flag(fn(&Row) -> bool),
    Group,
    Class,
    Cause(TimeoutCause),
}

/// A column: name, unit, definition, values and heading.
#[derive(Clone, Copy)]
struct FlowColumn(&'static str, &'static str, &'static str, Read, Heading);

/// A column without a heading of its own.
const fn plain(name: &'static str, unit: &'static str, description: &'static str, read: Read) -> FlowColumn {
    FlowColumn(name, unit, description, read, Heading::NONE)
}

/// Identity of a transfer.
const IDENTITY: &[FlowColumn] = &[
    plain("flow", "", "Number of the transfer, in the order in which transfers are created.", Read::Number),
    FlowColumn("group", "", "Traffic group.", Read::Group, Heading::GROUP),
    plain("class", "", "Class from a list of flows, else the traffic group.", Read::Class),
    plain("src", "", "Sending host.", Read::Count(|row| row.from.index() as u64)),
    plain("dst", "", "Receiving host.", Read::Count(|row| row.to.index() as u64)),
    plain(
        "connection",
        "",
        "Flow handle of its connection, once it has started.",
        Read::MayCount(|row| row.flow.map(|flow| flow.index() as u64)),
    ),
    plain("query", "", "Query to which it belongs, if any.", Read::MayCount(|row| row.query.map(u64::from))),
    FlowColumn("bytes", "B", "Size; null for endless data.", Read::MayCount(|row| row.bytes), Heading::new("Size")),
];

/// When a transfer ran, and how fast.
const TIMING: &[FlowColumn] = &[
    FlowColumn(
        "delivered_bytes",
        "B",
        "Payload that arrived in order by the end of the run.",
        Read::Count(|row| row.delivered),
        Heading::new("Payload delivered in order").more(),
    ),
    FlowColumn(
        "start_s",
        "s",
        "When its SYN, request or first byte left.",
        Read::Real(|row| row.start.secs()),
        Heading::new("Start of the flow").shown_in("s"),
    ),
    FlowColumn(
        "completion_s",
        "s",
        "When its last byte arrived in order.",
        Read::MayReal(|row| row.completion.map(Time::secs)),
        Heading::new("Completion of the flow").shown_in("s").less(),
    ),
    FlowColumn(
        "deadline_s",
        "s",
        "When its last byte should have arrived; null without a deadline.",
        Read::MayReal(|row| row.deadline.map(Time::secs)),
        Heading::new("Deadline of the flow").shown_in("s"),
    ),
    FlowColumn(
        "fct_s",
        "s",
        "Flow completion time: completion minus start; null for endless data, even if it was stopped.",
        Read::MayReal(Row::fct),
        Heading::new("Flow completion time").less(),
    ),
    plain(
        "ideal_s",
        "s",
        "Completion time of the transfer alone in the network with an unlimited window.",
        Read::MayReal(|row| row.ideal.map(Time::secs)),
    ),
    plain(
        "ideal_hpcc_s",
        "s",
        "Base round-trip time plus bytes on the wire divided by the path's lowest rate: the denominator of HPCC's slowdown.",
        Read::MayReal(|row| row.standalone.map(Time::secs)),
    ),
    FlowColumn(
        "slowdown",
        "1",
        "fct_s divided by ideal_s.",
        Read::MayReal(|row| Some(row.fct()? / row.ideal.map(Time::secs)?)),
        Heading::new("Slowdown").told_by("completion time divided by the ideal one").less(),
    ),
    FlowColumn(
        "goodput_bps",
        "bit/s",
        "Payload divided by completion time; without a completion time, by the transfer's part of the goodput window.",
        Read::MayReal(|row| Some(row.rate? * 8.0)),
        Heading::new("Goodput of the flow").told_by("payload divided by completion time").more(),
    ),
];

/// Losses and marks of a transfer; the causes of timeouts are declared with `TimeoutCause`.
const TROUBLE: [&[FlowColumn]; 2] = [
    &[
        plain(
            "retransmissions",
            "1",
            "Segments and SYNs retransmitted, those of its request included.",
            Read::Count(|row| row.counters.retransmissions),
        ),
        plain(
            "timeouts",
            "1",
            "Retransmission timeouts, those of SYNs and of its request included.",
            Read::Count(|row| row.counters.timeout_count()),
        ),
    ],
    &[
        plain("loss_probes", "1", "Tail loss probes sent (RFC 8985).", Read::Count(|row| row.counters.loss_probes)),
        plain("marks", "1", "Segments of the transfer that were marked.", Read::Count(|row| row.counters.marks)),
        plain("drops", "1", "Segments of the transfer that were dropped.", Read::Count(|row| row.counters.drops)),
        plain("failed", "", "Whether the handshake was aborted.", Read::Flag(|row| row.failed)),
    ],
];

/// How long a transfer waited for timers. Not hashed, so that hashes can be compared with those of engines without these.
const WAITS: &[FlowColumn] = &[
    plain(
        "timer_wait_s",
        "s",
        "How long the timers of its timeouts ran: each from when new data was last acknowledged, or it last expired.",
        Read::Real(|row| row.counters.timer_wait.secs()),
    ),
    plain(
        "probe_wait_s",
        "s",
        "How long the timers of its tail loss probes ran.",
        Read::Real(|row| row.counters.probe_wait.secs()),
    ),
    plain(
        "waiting_s",
        "s",
        "For how long its retransmission timer had run when the run ended; null if it had completed, or nothing was \
         outstanding.",
        Read::MayReal(|row| row.waiting.map(Time::secs)),
    ),
];

/// The columns that a hash covers.
fn hashed() -> impl Iterator<Item = FlowColumn> {
    let causes = TimeoutCause::ALL.map(|cause| plain(cause.column(), "1", cause.description(), Read::Cause(cause)));
    let [counts, rest] = TROUBLE;
    let before = [IDENTITY, TIMING, counts].into_iter().flatten().copied();
    before.chain(causes).chain(rest.iter().copied())
}

fn columns() -> impl Iterator<Item = FlowColumn> {
    hashed().chain(WAITS.iter().copied())
}

/// The table of flows of a finished run.
#[derive(Debug)]
pub struct FlowTable {
    rows: Rows,
    count: usize,
    labels: Labels,
}

/// Names of groups and classes.
#[derive(Debug)]
struct Labels {
    groups: Vec<String>,
    /// Names of groups and of their classes, each once.
    classes: Vec<String>,
    /// Index into `classes`, by group and by class within the group.
    places: Vec<Vec<u32>>,
}

impl Labels {
    fn of(groups: &[Group]) -> Self {
        let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
        let (mut classes, mut places) = (names.clone(), Vec::new());
        for group in groups {
            // Classes of the same name in different groups are one class, and so are a class and a group of the same
            // name.
            let known = classes.len();
            let mut place = |class: &String| {
                classes[..known].iter().position(|name| name == class).unwrap_or_else(|| {
                    classes.push(class.clone());
                    classes.len() - 1
                }) as u32
            };
            places.push(group.traffic.classes().iter().map(&mut place).collect());
        }
        Self { groups: names, classes, places }
    }

    fn class(&self, row: &Row) -> u32 {
        let group = row.group.index();
        row.class.map_or(group as u32, |class| self.places[group][class as usize])
    }
}

pub(crate) const NAME: &str = "flows";
const DESCRIPTION: &str = "One row per transfer.";

/// Rows per batch, where the table is not made at once.
const BATCH: usize = 1 << 16;

impl FlowTable {
    pub(crate) fn new(rows: Rows, count: usize, groups: &[Group]) -> Self {
        Self { rows, count, labels: Labels::of(groups) }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.count
    }

    /// Passes the table in parts, in order, each with the same columns.
    ///
    /// # Errors
    /// Spilled rows cannot be read back, or `take` fails.
    pub fn parts(&self, mut take: impl FnMut(&Table) -> io::Result<()>) -> io::Result<()> {
        let mut waiting = Part::new(&self.labels, columns());
        let mut result = Ok(());
        self.rows.for_each(|first, rows| {
            waiting.add(first, rows);
            if waiting.rows >= BATCH && result.is_ok() {
                result = take(&std::mem::replace(&mut waiting, Part::new(&self.labels, columns())).into_table());
            }
        })?;
        result?;
        if waiting.rows > 0 || self.count == 0 { take(&waiting.into_table()) } else { Ok(()) }
    }

    /// The whole table in memory.
    ///
    /// # Errors
    /// Spilled rows cannot be read back.
    pub fn whole(&self) -> io::Result<Table> {
        let mut part = Part::new(&self.labels, columns());
        self.rows.for_each(|first, rows| part.add(first, rows))?;
        Ok(part.into_table())
    }

    /// Feeds the hashed columns to a hash as [`Table::digest`] does, one by one, without holding the whole table.
    pub(crate) fn digest(&self, hasher: &mut Fingerprint) -> io::Result<()> {
        digest_name(hasher, NAME, hashed().count());
        for column in hashed() {
            let mut part = Part::new(&self.labels, std::iter::once(column));
            digest_head(hasher, &part.columns[0], self.count);
            self.rows.for_each(|first, rows| {
                part.add(first, rows);
                part.columns[0].data.digest_values(hasher);
                part.clear();
            })?;
        }
        Ok(())
    }

    /// Calls `take` for every row.
    pub(crate) fn for_each(&self, mut take: impl FnMut(&Row)) -> io::Result<()> {
        self.rows.for_each(|_, rows| rows.iter().for_each(&mut take))
    }
}

/// Columns of some rows.
struct Part<'a> {
    labels: &'a Labels,
    reads: Vec<Read>,
    columns: Vec<Column>,
    rows: usize,
}

impl<'a> Part<'a> {
    fn new(labels: &'a Labels, wanted: impl Iterator<Item = FlowColumn>) -> Self {
        let (mut reads, mut columns) = (Vec::new(), Vec::new());
        for FlowColumn(name, unit, description, read, heading) in wanted {
            reads.push(read);
            columns.push(Column::new(name, unit, description, empty(read, labels)).headed(heading));
        }
        Self { labels, reads, columns, rows: 0 }
    }

    fn add(&mut self, first: usize, rows: &[Row]) {
        for (read, column) in self.reads.iter().zip(&mut self.columns) {
            match (*read, &mut column.data) {
                (Read::Number, Data::U64(values)) => values.extend((first..first + rows.len()).map(|row| row as u64)),
                (Read::Count(read), Data::U64(values)) => values.extend(rows.iter().map(read)),
                (Read::Cause(cause), Data::U64(values)) => {
                    values.extend(rows.iter().map(|row| u64::from(row.counters.timeouts[cause as usize])));
                }
                (Read::MayCount(read), Data::OptU64(values)) => values.extend(rows.iter().map(read)),
                (Read::Real(read), Data::F64(values)) => values.extend(rows.iter().map(read)),
                (Read::MayReal(read), Data::OptF64(values)) => values.extend(rows.iter().map(read)),
                (Read::Flag(read), Data::Bool(values)) => values.extend(rows.iter().map(read)),
                (Read::Group, Data::Label { codes, .. }) => {
                    codes.extend(rows.iter().map(|row| row.group.index() as u32));
                }
                (Read::Class, Data::Label { codes, .. }) => codes.extend(rows.iter().map(|row| self.labels.class(row))),
                _ => unreachable!("a column's data match its kind"),
            }
        }
        self.rows += rows.len();
    }

    /// Removes all rows.
    fn clear(&mut self) {
        for (read, column) in self.reads.iter().zip(&mut self.columns) {
            match &mut column.data {
                Data::Label { codes, .. } => codes.clear(),
                data => *data = empty(*read, self.labels),
            }
        }
        self.rows = 0;
    }

    fn into_table(self) -> Table {
        Table { name: NAME, description: DESCRIPTION, columns: self.columns }
    }
}

/// A column without rows.
fn empty(read: Read, labels: &Labels) -> Data {
    let label = |names: &[String]| Data::Label { codes: Vec::new(), names: names.to_vec() };
    match read {
        Read::Number | Read::Count(_) | Read::Cause(_) => Data::U64(Vec::new()),
        Read::MayCount(_) => Data::OptU64(Vec::new()),
        Read::Real(_) => Data::F64(Vec::new()),
        Read::MayReal(_) => Data::OptF64(Vec::new()),
        Read::Flag(_) => Data::Bool(Vec::new()),
        Read::Group => label(&labels.groups),
        Read::Class => label(&labels.classes),
    }
}

//! Rows of the flow table, one for each finished transfer, in memory or on the caller's disk.

use crate::counters::Counters;
use crate::timeouts::TimeoutCause;
use fanin_core::ids::{FlowId, GroupId, NodeId};
use fanin_core::units::Time;
use std::io;

/// Storage for finished rows until the end of a run, so that they take no memory: a file of the caller.
pub trait Spill: Send + Sync {
    /// Appends bytes.
    ///
    /// # Errors
    /// The bytes cannot be written, for instance because the disk is full.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Fills `bytes` with the bytes written at `offset`.
    ///
    /// # Errors
    /// The bytes cannot be read.
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
}

/// The record of a transfer, taken at its end or at the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// Its traffic group.
    pub group: GroupId,
    /// The host that sends the data.
    pub from: NodeId,
    /// The host that receives it.
    pub to: NodeId,
    /// Index of its class in its traffic group's list of classes.
    pub class: Option<u32>,
    /// Its flow, once it has started.
    pub flow: Option<FlowId>,
    /// The query that it answers.
    pub query: Option<u32>,
    /// Its size; none for endless data.
    pub bytes: Option<u64>,
    /// Payload that arrived in order.
    pub delivered: u64,
    /// When it began.
    pub start: Time,
    /// When it completed, if it did.
    pub completion: Option<Time>,
    /// When it should be complete, if that was asked.
    pub deadline: Option<Time>,
    /// How long it would take alone, with an unlimited window.
    pub ideal: Option<Time>,
    /// Standalone completion time by HPCC's definition.
    pub standalone: Option<Time>,
    /// Payload per second over the completion time. For a transfer without one, from its start within the goodput
    /// window until it was stopped or the run ended. None for a transfer that never started or whose handshake was
    /// aborted.
    pub rate: Option<f64>,
    /// What was counted on its flow while it lasted.
    pub counters: Counters,
    /// For how long a timer has run when the run ends, for a transfer that has not completed.
    pub waiting: Option<Time>,
    /// Whether its connection was aborted.
    pub failed: bool,
}

impl Row {
    /// Completion time in seconds; none for endless data, even if it was stopped.
    pub fn fct(&self) -> Option<f64> {
        self.bytes?;
        Some((self.completion? - self.start).secs())
    }

    /// Whether it missed its deadline, or has not completed at `now` after its deadline.
    pub fn missed_deadline(&self, now: Time) -> bool {
        self.deadline.is_some_and(|deadline| self.failed || self.completion.unwrap_or(now) > deadline)
    }

    /// Size of a spilled row in bytes.
    const BYTES: usize = 187;

    fn write(&self, out: &mut Vec<u8>) {
        let put = |out: &mut Vec<u8>, value: u64| out.extend(value.to_le_bytes());
        let half = |out: &mut Vec<u8>, value: u32| out.extend(value.to_le_bytes());
        let or_none = |out: &mut Vec<u8>, value: Option<u64>| {
            out.push(u8::from(value.is_some()));
            put(out, value.unwrap_or(0));
        };
        for handle in [self.group.index(), self.from.index(), self.to.index()] {
            half(out, handle as u32);
        }
        or_none(out, self.class.map(u64::from));
        or_none(out, self.flow.map(|flow| flow.index() as u64));
        or_none(out, self.query.map(u64::from));
        or_none(out, self.bytes);
        put(out, self.delivered);
        put(out, self.start.ps());
        for time in [self.completion, self.deadline, self.ideal, self.standalone, self.waiting] {
            or_none(out, time.map(Time::ps));
        }
        or_none(out, self.rate.map(f64::to_bits));
        let Counters { retransmissions, loss_probes, timeouts, timer_wait, probe_wait, drops, marks } = self.counters;
        for count in [retransmissions, loss_probes, timer_wait.ps(), probe_wait.ps(), drops, marks] {
            put(out, count);
        }
        for count in timeouts {
            half(out, count);
        }
        out.push(u8::from(self.failed));
    }

    fn read(bytes: &[u8]) -> Self {
        let mut input = Input(bytes);
        let [group, from, to] = [input.half(), input.half(), input.half()].map(|handle| handle as usize);
        Self {
            group: GroupId::new(group),
            from: NodeId::new(from),
            to: NodeId::new(to),
            class: input.or_none().map(|class| class as u32),
            flow: input.or_none().map(|flow| FlowId::new(flow as usize)),
            query: input.or_none().map(|query| query as u32),
            bytes: input.or_none(),
            delivered: input.whole(),
            start: Time::from_ps(input.whole()),
            completion: input.or_none().map(Time::from_ps),
            deadline: input.or_none().map(Time::from_ps),
            ideal: input.or_none().map(Time::from_ps),
            standalone: input.or_none().map(Time::from_ps),
            waiting: input.or_none().map(Time::from_ps),
            rate: input.or_none().map(f64::from_bits),
            counters: Counters {
                retransmissions: input.whole(),
                loss_probes: input.whole(),
                timer_wait: Time::from_ps(input.whole()),
                probe_wait: Time::from_ps(input.whole()),
                drops: input.whole(),
                marks: input.whole(),
                timeouts: [(); TimeoutCause::ALL.len()].map(|()| input.half()),
            },
            failed: input.take::<1>() != [0],
        }
    }
}

/// The unread rest of a spilled row.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_first_chunk().expect("a row is whole");
        self.0 = rest;
        *head
    }
    fn half(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
    fn whole(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
    fn or_none(&mut self) -> Option<u64> {
        let there = self.take::<1>() != [0];
        let value = self.whole();
        there.then_some(value)
    }
}

/// Number of rows in a page; pages are kept and spilled as a whole.
pub const PAGE: usize = 256;

/// [`PAGE`] rows with consecutive numbers.
#[derive(Debug)]
enum Page {
    Here {
        /// By number within the page; a default row for a transfer that has not ended.
        rows: Vec<Row>,
        known: usize,
    },
    /// The page is spilled, from this byte on.
    Spilled(u64),
}

impl Page {
    const EMPTY: Self = Self::Here { rows: Vec::new(), known: 0 };
}

/// The rows of a run, by transfer number.
#[derive(Default)]
pub struct Rows {
    pages: Vec<Page>,
    spill: Option<Box<dyn Spill>>,
    spilled: u64,
}

impl Rows {
    /// No rows yet; complete pages go to `spill`, if there is one.
    pub fn new(spill: Option<Box<dyn Spill>>) -> Self {
        Self { spill, ..Self::default() }
    }

    /// Sets the row of a transfer, once.
    ///
    /// # Errors
    /// The rows cannot be spilled.
    pub fn set(&mut self, number: usize, row: Row) -> io::Result<()> {
        let place = number / PAGE;
        while self.pages.len() <= place {
            self.pages.push(Page::EMPTY);
        }
        let Page::Here { rows, known } = &mut self.pages[place] else { return Ok(()) };
        let within = number % PAGE;
        if rows.len() <= within {
            rows.resize(within + 1, Row::default());
        }
        rows[within] = row;
        *known += 1;
        if let (Some(spill), PAGE) = (&mut self.spill, *known) {
            let mut bytes = Vec::with_capacity(PAGE * Row::BYTES);
            for row in &*rows {
                row.write(&mut bytes);
            }
            debug_assert_eq!(bytes.len(), PAGE * Row::BYTES);
            spill.append(&bytes)?;
            self.pages[place] = Page::Spilled(self.spilled);
            self.spilled += bytes.len() as u64;
        }
        Ok(())
    }

    /// Passes the rows in order, a page at a time, once all are set.
    ///
    /// # Errors
    /// Spilled rows cannot be read back.
    pub fn for_each(&self, mut take: impl FnMut(usize, &[Row])) -> io::Result<()> {
        let (mut bytes, mut read) = (Vec::new(), Vec::new());
        for (place, page) in self.pages.iter().enumerate() {
            let rows = match page {
                Page::Here { rows, .. } => rows,
                Page::Spilled(offset) => {
                    bytes.resize(PAGE * Row::BYTES, 0);
                    self.spill.as_ref().map_or(Ok(()), |spill| spill.read(*offset, &mut bytes))?;
                    read.clear();
                    read.extend(bytes.chunks_exact(Row::BYTES).map(Row::read));
                    &read
                }
            };
            take(place * PAGE, rows);
        }
        Ok(())
    }

    /// The number of rows that are in memory.
    #[cfg(any(test, feature = "testing"))]
    pub fn in_memory(&self) -> usize {
        let here = |page: &Page| if let Page::Here { rows, .. } = page { rows.len() } else { 0 };
        self.pages.iter().map(here).sum()
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rows({} pages, {} bytes spilled)", self.pages.len(), self.spilled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u64) -> Row {
        let (some, time) = (!number.is_multiple_of(3), |plus: u64| Time::from_us(number + plus));
        Row {
            group: GroupId::new(1),
            from: NodeId::new(number as usize),
            to: NodeId::new(7),
            class: some.then_some(number as u32),
            flow: some.then(|| FlowId::new(number as usize)),
            query: (!some).then_some(3),
            bytes: some.then_some(u64::MAX),
            delivered: number << 40,
            start: time(0),
            completion: some.then(|| time(5)),
            deadline: (!some).then_some(Time::NEVER),
            ideal: Some(time(1)),
            standalone: some.then(|| time(2)),
            waiting: (!some).then(|| time(3)),
            rate: Some(number as f64 / 3.0),
            counters: Counters {
                retransmissions: 1 << 33,
                loss_probes: 2,
                timeouts: [1, 2, 3, 4, u32::MAX],
                timer_wait: time(7),
                probe_wait: time(8),
                drops: number,
                marks: 9,
            },
            failed: !some,
        }
    }

    struct Memory(Vec<u8>);

    impl Spill for Memory {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.extend(bytes);
            Ok(())
        }
        fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
            bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]);
            Ok(())
        }
    }

    #[test]
    fn rows_come_back_as_they_were_and_in_order() {
        let numbers = 3 * PAGE + 17;
        // Later transfers end first.
        for spill in [None, Some(Memory(Vec::new()))] {
            let spills = spill.is_some();
            let mut rows = Rows::new(spill.map(|memory| Box::new(memory) as Box<dyn Spill>));
            for number in (0..numbers).rev() {
                rows.set(number, row(number as u64)).expect("there is room");
            }
            assert_eq!(rows.in_memory(), if spills { 17 } else { numbers });
            let mut seen = 0;
            rows.for_each(|first, some| {
                assert_eq!(first, seen);
                some.iter().enumerate().for_each(|(i, found)| assert_eq!(*found, row((first + i) as u64)));
                seen += some.len();
            })
            .expect("they are there");
            assert_eq!(seen, numbers);
        }
    }

    #[test]
    fn a_page_waits_for_its_last_row() {
        let mut rows = Rows::new(Some(Box::new(Memory(Vec::new()))));
        (1..2 * PAGE).for_each(|number| rows.set(number, row(number as u64)).expect("there is room"));
        assert_eq!(rows.in_memory(), PAGE);
        rows.set(0, row(0)).expect("there is room");
        assert_eq!(rows.in_memory(), 0);
    }
}

//! The backlog of one port over time.
//!
//! "Mean queue length" has several definitions, whose values may differ several times: over time or over packets, with
//! or without idle time. A summary holds each under its own name.

use super::stats::nearest_rank;
use super::table::{Column, Data, Table};
use super::total::Heading;
use fanin_core::units::{Bytes, Time};

/// Statistics of a backlog, updated at every change. The backlog is empty at time zero.
#[derive(Clone, Debug)]
pub struct QueueStats {
    start: Time,
    /// When the backlog last changed.
    since: Time,
    packets: u32,
    bytes: u64,
    /// Picoseconds spent at each number of packets. The vector ends at the largest number seen, so one comparison
    /// serves for growth and for the maximum.
    time_at: Vec<u64>,
    byte_time: u128,
    max_bytes: u64,
    changes: u64,
    packets_sum: u64,
    bytes_sum: u64,
    /// Sum of the waiting bytes after each change; see [`Self::waiting`].
    waiting_sum: u64,
    /// Changes from empty (`begun`) and to empty (`ended`).
    begun: u64,
    ended: u64,
}

impl Default for QueueStats {
    fn default() -> Self {
        Self::new()
    }
}

impl QueueStats {
    /// An empty queue, with a window that starts at time zero.
    pub fn new() -> Self {
        Self {
            start: Time::ZERO,
            since: Time::ZERO,
            packets: 0,
            bytes: 0,
            time_at: vec![0],
            byte_time: 0,
            max_bytes: 0,
            changes: 0,
            packets_sum: 0,
            bytes_sum: 0,
            waiting_sum: 0,
            begun: 0,
            ended: 0,
        }
    }

    /// Records the backlog after an enqueue or a dequeue at `now`. `in_service` is the size of the packet in
    /// transmission, zero if there is none. Calls come in time order.
    #[inline]
    pub fn on_change(&mut self, now: Time, packets: u32, bytes: Bytes, in_service: Bytes) {
        self.pass(now);
        let begins = u64::from(self.packets == 0);
        self.begun += begins;
        self.ended += u64::from(packets == 0);
        self.packets = packets;
        self.bytes = bytes.get();
        if packets as usize >= self.time_at.len() {
            self.grow(packets);
        }
        self.max_bytes = self.max_bytes.max(self.bytes);
        self.changes += 1;
        self.packets_sum += u64::from(packets);
        self.bytes_sum += self.bytes;
        // The first packet of a busy period waits for zero time, which is a sample too.
        self.waiting_sum += self.bytes - in_service.get() + begins * self.bytes;
    }

    /// Restarts the window at `now`, the end of the warm-up, with the current backlog.
    pub fn reset(&mut self, now: Time) {
        debug_assert!(now >= self.since, "time runs forward");
        let (packets, bytes) = (self.packets, self.bytes);
        let mut time_at = std::mem::take(&mut self.time_at);
        time_at.clear();
        time_at.resize(packets as usize + 1, 0);
        *self = Self { start: now, since: now, packets, bytes, time_at, max_bytes: bytes, ..Self::new() };
    }

    /// The statistics of the window that ends at `now`. Changes may follow, and a later call includes them.
    pub fn finish(&mut self, now: Time) -> QueueSummary {
        self.pass(now);
        let window = now - self.start;
        let busy = window.ps() - self.time_at[0];
        let packet_time = self.time_at.iter().zip(0_u128..).map(|(time, level)| u128::from(*time) * level).sum();
        let mean_of_changes = |sum: u64| (self.changes > 0).then(|| sum as f64 / self.changes as f64);
        QueueSummary {
            window,
            busy: Time::from_ps(busy),
            changes: self.changes,
            packets: Level {
                mean_time_weighted: ratio(packet_time, window.ps()).unwrap_or(f64::from(self.packets)),
                mean_while_busy: ratio(packet_time, busy),
                mean_of_changes: mean_of_changes(self.packets_sum),
                max: self.time_at.len() as u64 - 1,
            },
            bytes: Level {
                mean_time_weighted: ratio(self.byte_time, window.ps()).unwrap_or(self.bytes as f64),
                mean_while_busy: ratio(self.byte_time, busy),
                mean_of_changes: mean_of_changes(self.bytes_sum),
                max: self.max_bytes,
            },
            waiting: self.waiting(),
            p5: self.percentile(window, 0.05),
            p50: self.percentile(window, 0.50),
            p95: self.percentile(window, 0.95),
            p99: self.percentile(window, 0.99),
        }
    }

    /// The backlog without the packet in transmission, as in a queue from which a device takes a packet before it
    /// transmits it: a packet that finds the device idle enters and leaves at once, which makes two changes.
    fn waiting(&self) -> Waiting {
        let levels = self.time_at.iter().zip(0_u128..).skip(2);
        let (time, integral) = levels.fold((0, 0), |(time, integral), (spent, level)| {
            (time + spent, integral + u128::from(*spent) * (level - 1))
        });
        // Each change gives a sample of one packet less than the port holds, except that the first packet of a busy
        // period gives 1 and 0 instead of 0, and the end of a busy period gives none.
        let sum = self.packets_sum + self.begun + self.ended - self.changes;
        let samples = self.changes + self.begun - self.ended;
        let mean_of_changes = |sum: u64| (samples > 0).then(|| sum as f64 / samples as f64);
        Waiting {
            mean_while_any: ratio(integral, time),
            mean_of_changes: mean_of_changes(sum),
            mean_of_changes_bytes: mean_of_changes(self.waiting_sum),
        }
    }

    /// Adds the time since the last change to the current backlog's level.
    #[inline]
    fn pass(&mut self, now: Time) {
        debug_assert!(now >= self.since, "time runs forward");
        let span = now.ps() - self.since.ps();
        self.time_at[self.packets as usize] += span;
        self.byte_time += u128::from(self.bytes) * u128::from(span);
        self.since = now;
    }

    #[cold]
    fn grow(&mut self, packets: u32) {
        self.time_at.resize(packets as usize + 1, 0);
    }

    fn percentile(&self, window: Time, q: f64) -> u64 {
        if window == Time::ZERO {
            return u64::from(self.packets);
        }
        let rank = nearest_rank(q, window.ps());
        let mut below = 0;
        let level = self.time_at.iter().position(|time| {
            below += time;
            below >= rank
        });
        level.expect("the times at all levels add up to the window") as u64
    }
}

fn ratio(integral: u128, span: u64) -> Option<f64> {
    (span > 0).then(|| integral as f64 / span as f64)
}

/// The backlog of a port over a window. A window of zero length has the backlog of that instant.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSummary {
    /// Length of the window.
    pub(crate) window: Time,
    /// Time within it during which the queue was not empty.
    pub(crate) busy: Time,
    /// Enqueues and dequeues within it.
    pub(crate) changes: u64,
    /// The backlog in packets.
    pub packets: Level,
    /// The backlog in bytes.
    pub bytes: Level,
    /// The backlog without the packet in transmission.
    pub waiting: Waiting,
    /// The smallest backlog in packets that was not exceeded for at least 5 % of the window.
    pub p5: u64,
    /// The same for half of the window: the time-weighted median.
    pub p50: u64,
    /// The same for 95 % of the window.
    pub p95: u64,
    /// The same for 99 % of the window.
    pub p99: u64,
}

/// Means and maximum of a backlog, in packets or in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Integral over the window divided by its length, idle time included.
    pub mean_time_weighted: f64,
    /// The same integral divided by the time during which the queue was not empty; `None` if it was always empty.
    pub mean_while_busy: Option<f64>,
    /// Unweighted mean of the values right after every enqueue and dequeue: the average of a trace of queue changes
    /// that ignores the time between them. `None` without changes.
    pub mean_of_changes: Option<f64>,
    /// Largest value in the window, even if it lasted for no time.
    pub max: u64,
}

/// Means of what waits in a port, the packet in transmission left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// Mean number of waiting packets over the time during which any waited; `None` if none ever did.
    pub mean_while_any: Option<f64>,
    /// Unweighted mean number of waiting packets, sampled after every packet that joins and every packet that is taken
    /// out for transmission; `None` without samples.
    pub mean_of_changes: Option<f64>,
    /// The same in bytes.
    pub mean_of_changes_bytes: Option<f64>,
}

/// A trace of every change of a backlog, 24 bytes per change.
#[derive(Clone, Debug, Default)]
pub struct Trace(Vec<Change>);

#[derive(Clone, Copy, Debug)]
struct Change {
    time: Time,
    bytes: u64,
    packets: u32,
}

impl Trace {
    /// A trace without changes.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Records the backlog after an enqueue or a dequeue at `now`.
    #[inline]
    pub fn on_change(&mut self, now: Time, packets: u32, bytes: Bytes) {
        self.0.push(Change { time: now, bytes: bytes.get(), packets });
    }

    /// The trace as a table, one row per change.
    pub fn into_table(self) -> Table {
        let column = Column::new;
        let backlog = Heading::new("Queue of the observed port").told_by("transmitted one included").less();
        let counts = |value: fn(&Change) -> u64| Data::U64(self.0.iter().map(value).collect());
        let times = Data::F64(self.0.iter().map(|change| change.time.secs()).collect());
        Table {
            name: "queue-trace",
            description: "Backlog of a port after every enqueue and dequeue",
            columns: vec![
                column("time_s", "s", "Simulated time of the change", times).headed(Heading::TIME),
                column(
                    "packets",
                    "pkt",
                    "Packets in the queue after the change",
                    counts(|change| u64::from(change.packets)),
                )
                .headed(backlog),
                column("bytes", "B", "Bytes on the wire of these packets", counts(|change| change.bytes))
                    .headed(backlog),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
    }

    /// Feeds changes, each as (time in ns, number of packets of 1500 B).
    fn feed(stats: &mut QueueStats, changes: &[(u64, u32)]) {
        for (ns, packets) in changes {
            let [all, in_service] = [*packets, (*packets).min(1)].map(|n| Bytes::new(u64::from(n) * 1500));
            stats.on_change(Time::from_ns(*ns), *packets, all, in_service);
        }
    }

    #[test]
    fn each_mean_has_its_own_definition() {
        // Empty for 60 ns, 1 packet for 30 ns, 2 packets for 10 ns: 50 packet-ns in 100 ns.
        let mut stats = QueueStats::new();
        feed(&mut stats, &[(60, 1), (80, 2), (90, 1)]);
        let summary = stats.finish(Time::from_ns(100));
        assert_eq!((summary.window, summary.busy, summary.changes), (Time::from_ns(100), Time::from_ns(40), 3));
        let expected =
            |unit: f64| [Some(0.5), Some(1.25), Some(4.0 / 3.0)].map(|mean: Option<f64>| mean.map(|m| m * unit));
        for (level, unit) in [(&summary.packets, 1.0), (&summary.bytes, 1500.0)] {
            let found = [Some(level.mean_time_weighted), level.mean_while_busy, level.mean_of_changes];
            assert!(found.iter().zip(expected(unit)).all(|(a, b)| near(a.unwrap(), b.unwrap())), "{found:?}");
        }
        assert_eq!((summary.packets.max, summary.bytes.max), (2, 3000));
        assert_eq!((summary.p5, summary.p50, summary.p95, summary.p99), (0, 0, 2, 2));
        assert_eq!(stats.time_at, [60_000, 30_000, 10_000]);
    }

    #[test]
    fn what_waits_leaves_out_the_packet_in_transmission() {
        // The queue above a device sees 1, 0 (at once), 1, 2, then 1 and 0 as packets are taken: 5 over 6 changes. One
        // packet waits for 20 + 30 ns, two for 10 ns.
        let mut stats = QueueStats::new();
        feed(&mut stats, &[(10, 1), (20, 2), (40, 3), (50, 2), (80, 1), (90, 0)]);
        let waiting = stats.finish(Time::from_ns(100)).waiting;
        assert!(
            near(waiting.mean_while_any.unwrap(), 70.0 / 60.0) && near(waiting.mean_of_changes.unwrap(), 5.0 / 6.0)
        );
        let lone = &mut QueueStats::new();
        feed(lone, &[(10, 1), (20, 0)]);
        let waiting = lone.finish(Time::from_ns(30)).waiting;
        assert_eq!((waiting.mean_while_any, waiting.mean_of_changes), (None, Some(0.5)));
        assert_eq!(waiting.mean_of_changes_bytes, Some(750.0));
    }

    #[test]
    fn bytes_that_wait_are_those_of_the_packets_that_wait() {
        // 1500 B are sent while 40 B, then 1500 B more join: the queue above a device sees 1500, 0 (at once), 40, 1540
        // B, then 1500 and 0 B as packets are taken. In packets it is 1, 0, 1, 2, 1, 0.
        let mut stats = QueueStats::new();
        for (ns, packets, bytes, in_service) in
            [(10, 1, 1500, 1500), (20, 2, 1540, 1500), (40, 3, 3040, 1500), (50, 2, 1540, 40), (80, 1, 1500, 1500)]
        {
            stats.on_change(Time::from_ns(ns), packets, Bytes::new(bytes), Bytes::new(in_service));
        }
        stats.on_change(Time::from_ns(90), 0, Bytes::new(0), Bytes::new(0));
        let waiting = stats.finish(Time::from_ns(100)).waiting;
        assert!(near(waiting.mean_of_changes.unwrap(), 5.0 / 6.0));
        assert!(near(waiting.mean_of_changes_bytes.unwrap(), 4580.0 / 6.0), "{waiting:?}");
    }

    #[test]
    fn percentiles_weigh_by_time_with_exact_borders() {
        let mut stats = QueueStats::new();
        // Level 0 for exactly 5 %, 1 for up to exactly 50 %, 2 for up to 95 %, 3 for the rest.
        feed(&mut stats, &[(5, 1), (50, 2), (95, 3)]);
        let summary = stats.finish(Time::from_ns(100));
        assert_eq!((summary.p5, summary.p50, summary.p95, summary.p99), (0, 1, 2, 3));
    }

    #[test]
    fn a_peak_without_duration_is_the_maximum_and_has_no_weight() {
        let mut stats = QueueStats::new();
        feed(&mut stats, &[(10, 9), (10, 0)]);
        let summary = stats.finish(Time::from_ns(20));
        assert_eq!((summary.packets.max, summary.bytes.max), (9, 13_500));
        assert!(near(summary.packets.mean_time_weighted, 0.0) && summary.packets.mean_while_busy.is_none());
        assert_eq!(summary.packets.mean_of_changes, Some(4.5));
    }

    #[test]
    fn a_reset_keeps_the_backlog_and_nothing_else() {
        let mut stats = QueueStats::new();
        feed(&mut stats, &[(0, 40), (10, 3)]);
        stats.reset(Time::from_ns(50));
        let instant = stats.finish(Time::from_ns(50));
        assert_eq!((instant.window, instant.p5, instant.p99, instant.packets.max), (Time::ZERO, 3, 3, 3));
        assert!(near(instant.packets.mean_time_weighted, 3.0) && near(instant.bytes.mean_time_weighted, 4500.0));
        assert!(instant.packets.mean_of_changes.is_none());
        feed(&mut stats, &[(60, 1)]);
        let summary = stats.finish(Time::from_ns(70));
        assert!(near(summary.packets.mean_time_weighted, 2.0));
        assert_eq!((summary.packets.max, summary.bytes.max, summary.changes), (3, 4500, 1));
    }

    #[test]
    fn finishing_twice_changes_nothing() {
        let mut stats = QueueStats::new();
        feed(&mut stats, &[(1, 2), (5, 1)]);
        let summary = stats.finish(Time::from_ns(9));
        assert_eq!(stats.finish(Time::from_ns(9)), summary);
    }

    #[test]
    fn a_trace_keeps_every_change() {
        let mut trace = Trace::new();
        assert!(trace.0.is_empty());
        trace.on_change(Time::from_us(1), 2, Bytes::new(3000));
        trace.on_change(Time::from_us(1), 1, Bytes::new(1500));
        assert_eq!(trace.0.len(), 2);
        let table = trace.into_table();
        assert_eq!(table.check(), Ok(()));
        assert_eq!(table.column("bytes").unwrap().data, Data::U64(vec![3000, 1500]));
        assert_eq!(table.column("time_s").unwrap().data, Data::F64(vec![1e-6, 1e-6]));
    }

    proptest! {
        /// Compares with a direct implementation of the definitions: the level in every unit of time, sorted.
        #[test]
        fn summaries_agree_with_the_definitions(steps in prop::collection::vec((0_u64..20, 0_u32..30), 1..60)) {
            let mut stats = QueueStats::new();
            let (mut now, mut level, mut levels) = (0, 0, Vec::new());
            for (span, next) in &steps {
                levels.extend(std::iter::repeat_n(level, *span as usize));
                now += span;
                level = *next;
                let bytes = |packets: u32| Bytes::new(u64::from(packets) * 64);
                stats.on_change(Time::from_ps(now), level, bytes(level), bytes(level.min(1)));
            }
            levels.push(level);
            now += 1;
            let summary = stats.finish(Time::from_ps(now));
            levels.sort_unstable();
            let sum: u32 = levels.iter().sum();
            let mean = f64::from(sum) / levels.len() as f64;
            prop_assert!(near(summary.packets.mean_time_weighted, mean));
            prop_assert!(near(summary.bytes.mean_time_weighted, mean * 64.0));
            let at = |percent: usize| u64::from(levels[(percent * levels.len()).div_ceil(100).max(1) - 1]);
            prop_assert_eq!((summary.p5, summary.p50, summary.p95, summary.p99), (at(5), at(50), at(95), at(99)));
        }
    }
}

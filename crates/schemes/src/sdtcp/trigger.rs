//! Step 1, the network congestion trigger of one egress port (section 3.2, Algorithm 1).

use fanin_core::roles::Backlog;
use fanin_core::units::{Rate, Size, Time};

/// The state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// State 0: not congested, or recovered.
    None,
    /// State 1: from threshold L on.
    Low,
    /// State 2: from threshold M on.
    Modest,
    /// State 3: from threshold H on.
    High,
}

impl Level {
    const ALL: [Self; 4] = [Self::None, Self::Low, Self::Modest, Self::High];
    /// The state with this number.
    pub(crate) fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// How the state rises when the queue has already reached more than the next threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jump {
    /// One state after the other, as Algorithm 1 is written.
    Sequential,
    /// To the highest state at once, with its notification only.
    Highest,
}

/// Configuration common to all triggers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriggerConfig {
    /// L, M and H, in packets of any size or in bytes.
    pub(crate) thresholds: [Size; 3],
    /// Time below L after which the port has recovered.
    pub(crate) recovery: Time,
    pub(crate) jump: Jump,
    /// The state also falls when the queue stays below the state's own threshold.
    pub(crate) step_down: bool,
    /// Size of a full packet in bytes.
    pub(crate) packet: u64,
}

impl TriggerConfig {
    /// Whether a queue has reached the threshold of a level above none.
    fn reached(&self, level: Level, queue: Backlog) -> bool {
        match self.thresholds[level as usize - 1] {
            Size::Packets(packets) => u64::from(queue.packets) >= packets,
            Size::Bytes(bytes) => queue.bytes >= bytes,
        }
    }

    /// Upper bound of the bytes above the threshold of a level.
    fn excess(&self, level: Level, queue: Backlog) -> u64 {
        match self.thresholds[level as usize - 1] {
            Size::Packets(packets) => (u64::from(queue.packets) + 1).saturating_sub(packets) * self.packet,
            Size::Bytes(bytes) => (queue.bytes + 1).saturating_sub(bytes),
        }
    }

    /// READING: S14 the queue in bytes for the formulas. If thresholds count packets, each counts as a full one.
    pub(crate) fn bytes(&self, queue: Backlog) -> u64 {
        match self.thresholds[0] {
            Size::Packets(_) => u64::from(queue.packets) * self.packet,
            Size::Bytes(_) => queue.bytes,
        }
    }
}

/// The trigger of one port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trigger {
    level: Level,
    /// The queue at the last packet, which is included.
    queue: Backlog,
    /// Until this time the queue is certainly not below the threshold that keeps the state.
    above_until: Time,
    /// When the recovery timer expires, or never.
    timer: Time,
}

impl Trigger {
    pub(crate) fn new() -> Self {
        Self { level: Level::None, queue: Backlog::default(), above_until: Time::ZERO, timer: Time::NEVER }
    }
    /// The state.
    pub(crate) fn level(&self) -> Level {
        self.level
    }
    /// The queue at the last packet in a congested state.
    pub(crate) fn queue(&self) -> Backlog {
        self.queue
    }

    /// A packet arrives; `queue` includes it. Returns the level to notify the controller of, if any.
    #[inline]
    pub(crate) fn on_arrival(&mut self, queue: Backlog, rate: Rate, now: Time, cfg: &TriggerConfig) -> Option<Level> {
        // READING: S3 the test for q < L belongs to the congested states, because in state 0 there is nothing to
        // recover from.
        if self.level == Level::None && !cfg.reached(Level::Low, queue) {
            return None;
        }
        self.on_congested_arrival(queue, rate, now, cfg)
    }

    fn on_congested_arrival(&mut self, queue: Backlog, rate: Rate, now: Time, cfg: &TriggerConfig) -> Option<Level> {
        self.queue = queue;
        let reached = |level: &&Level| **level > self.level && cfg.reached(**level, queue);
        let next = match cfg.jump {
            // READING: S1 lines 2 to 12 as printed: one step per packet, and from state 1 only while q is below H.
            Jump::Sequential => Level::of(self.level as u8 + 1).filter(|level| {
                cfg.reached(*level, queue) && (*level != Level::Modest || !cfg.reached(Level::High, queue))
            }),
            Jump::Highest => Level::ALL[1..].iter().rfind(reached).copied(),
        };
        self.level = next.unwrap_or(self.level);
        let held_by = self.held_by(cfg);
        if cfg.reached(held_by, queue) {
            // Line 22 stops the timer. The queue falls below the threshold when the excess has been sent, even if no
            // packet arrives then.
            let drained = f64::from(u32::try_from(cfg.excess(held_by, queue)).unwrap_or(u32::MAX)) * 8e12;
            self.above_until = now + Time::from_ps((drained / rate.bps() as f64) as u64);
        }
        next
    }

    /// The level whose threshold the queue must stay below for the state to fall.
    fn held_by(&self, cfg: &TriggerConfig) -> Level {
        // READING: S2 the state falls only by full recovery, unless `step-down` is set.
        if cfg.step_down { self.level } else { Level::Low }
    }

    /// When to call [`Self::on_timer`], if no such call is outstanding.
    pub(crate) fn arm(&mut self, cfg: &TriggerConfig) -> Option<Time> {
        if self.level == Level::None || !self.timer.is_never() {
            return None;
        }
        // READING: S3 a real timer: Algorithm 1 checks its timer only when a packet arrives, so a port without traffic
        // would never recover.
        self.timer = self.above_until.saturating_add(cfg.recovery);
        Some(self.timer)
    }

    /// The timer expired. Returns the new state if the queue has been low for long enough.
    pub(crate) fn on_timer(&mut self, now: Time, cfg: &TriggerConfig) -> Option<Level> {
        if now < self.timer {
            return None;
        }
        self.timer = Time::NEVER;
        if self.level == Level::None || now < self.above_until.saturating_add(cfg.recovery) {
            return None;
        }
        self.level = if cfg.step_down { Level::ALL[self.level as usize - 1] } else { Level::None };
        self.above_until = now;
        Some(self.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GBPS: Rate = Rate::from_bps(1_000_000_000);

    fn cfg() -> TriggerConfig {
        TriggerConfig {
            thresholds: [30, 60, 85].map(Size::Packets),
            recovery: Time::from_secs(1),
            jump: Jump::Sequential,
            step_down: false,
            packet: 1500,
        }
    }

    fn packets(packets: u32) -> Backlog {
        Backlog { packets, bytes: u64::from(packets) * 1500 }
    }

    struct Bench(Trigger, TriggerConfig);

    impl Bench {
        fn new(change: impl FnOnce(&mut TriggerConfig)) -> Self {
            let mut cfg = cfg();
            change(&mut cfg);
            Self(Trigger::new(), cfg)
        }
        fn at(&mut self, now: Time, queue: u32) -> Option<Level> {
            self.0.on_arrival(packets(queue), GBPS, now, &self.1)
        }
        /// The levels notified for these queue lengths, a microsecond apart.
        fn run(&mut self, queues: impl IntoIterator<Item = u32>) -> Vec<Level> {
            queues.into_iter().enumerate().filter_map(|(i, q)| self.at(Time::from_us(i as u64), q)).collect()
        }
        /// Runs the timer until it stops. Returns when the state fell, and to which level.
        fn recover(&mut self) -> Vec<(Time, Level)> {
            let mut fallen = Vec::new();
            while let Some(at) = self.0.arm(&self.1) {
                fallen.extend(self.0.on_timer(at, &self.1).map(|level| (at, level)));
            }
            fallen
        }
    }

    #[test]
    fn a_rising_queue_notifies_low_modest_and_high_once_each() {
        let mut bench = Bench::new(|_| {});
        assert_eq!(bench.run(1..30), []);
        assert_eq!(bench.at(Time::from_us(30), 30), Some(Level::Low), "L itself is congested");
        assert_eq!(bench.run(31..60), []);
        assert_eq!(bench.run(60..85), [Level::Modest]);
        assert_eq!(bench.run(85..101), [Level::High]);
        assert_eq!(bench.run((0..101).chain(0..101)), [], "in state 3 nothing more is sent");
    }

    #[test]
    fn the_state_does_not_fall_with_the_queue() {
        let mut bench = Bench::new(|_| {});
        bench.run(1..70);
        assert_eq!(bench.run((1..60).rev().chain(1..84)), []);
        assert_eq!(bench.0.level(), Level::Modest);
    }

    #[test]
    fn sequential_steps_need_each_band_while_highest_jumps() {
        let mut bench = Bench::new(|_| {});
        assert_eq!(bench.run([90, 90, 90]), [Level::Low], "from state 1 only between M and H, as lines 7 to 9 say");
        assert_eq!(bench.run([84, 84, 85]), [Level::Modest, Level::High]);
        let mut bench = Bench::new(|cfg| cfg.jump = Jump::Highest);
        assert_eq!(bench.run([90, 90, 20, 95]), [Level::High]);
        let mut bench = Bench::new(|cfg| cfg.jump = Jump::Highest);
        assert_eq!(bench.run([61, 84, 100]), [Level::Modest, Level::High]);
    }

    #[test]
    fn recovery_comes_a_second_after_the_queue_fell_below_l_though_no_packet_arrives() {
        let mut bench = Bench::new(|_| {});
        bench.run(1..=40);
        let last = Time::from_us(39);
        // Eleven packets must leave for the queue to be 29.
        let low = last + Time::from_us(12 * 11);
        assert_eq!(bench.recover(), [(low + Time::from_secs(1), Level::None)]);
        assert_eq!(bench.at(Time::from_secs(2), 30), Some(Level::Low), "and congestion begins anew");
    }

    #[test]
    fn a_queue_that_reaches_l_again_puts_recovery_off() {
        let mut bench = Bench::new(|_| {});
        bench.run(1..=30);
        let first = bench.0.arm(&bench.1).expect("a timer runs in congested states");
        assert_eq!(bench.0.arm(&bench.1), None, "one timer at a time");
        bench.at(Time::from_ms(900), 29);
        bench.at(Time::from_ms(901), 30);
        assert_eq!(bench.0.on_timer(first, &bench.1), None);
        let second = bench.recover();
        assert_eq!(second, [(Time::from_ms(1901) + Time::from_us(12), Level::None)]);
    }

    #[test]
    fn with_steps_down_the_state_falls_one_by_one() {
        let mut bench = Bench::new(|cfg| cfg.step_down = true);
        bench.run(1..=90);
        let fallen: Vec<Level> = bench.recover().into_iter().map(|(_, level)| level).collect();
        assert_eq!(fallen, [Level::Modest, Level::Low, Level::None]);
    }

    #[test]
    fn thresholds_may_count_bytes() {
        let mut bench = Bench::new(|cfg| cfg.thresholds = [45_000, 90_000, 127_500].map(Size::Bytes));
        assert_eq!(bench.run(1..=100), [Level::Low, Level::Modest, Level::High]);
        let acks = Backlog { packets: 50, bytes: 2000 };
        assert_eq!(Trigger::new().on_arrival(acks, GBPS, Time::ZERO, &bench.1), None);
        assert_eq!((bench.1.bytes(acks), cfg().bytes(acks)), (2000, 75_000));
    }
}

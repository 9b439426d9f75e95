//! Random early detection (Floyd and Jacobson, 1993).
//!
//! Marking depends on the moving average of the queue. Below `min` no packet is marked. Between `min` and `max` a
//! packet is marked with a probability that rises with the average and with the number of packets since the last mark,
//! which spreads marks evenly: about twice as many packets are marked as the probability alone would mark. `wred.rs`
//! draws each packet independently, as the ECN profiles of switches do. From `max` on every packet is marked, or with the *gentle* variant the probability
//! continues to rise, to 1 at twice `max`. While the port is idle, the average falls as if packets had arrived at an
//! empty queue.

use super::QueueRow;
use fanin_core::packet::Packet;
use fanin_core::rng::Stream;
use fanin_core::roles::{Admission, QueueCx, QueueDiscipline};
use fanin_core::units::Time;
use fanin_param::{Kind, Param, Values};

pub(super) const ROW: QueueRow = QueueRow {
    key: "red",
    summary: "FIFO with random early detection: evenly spaced marks, or drops, by the average queue; a switch's profile is wred.",
    params: &[
        Param::new(
            "red-min",
            Kind::Number,
            "5",
            "Average queue in packets above which some packets are marked.",
            "Floyd 1997, \"Discussions of Setting Parameters\": 5",
        )
        .per_tier(),
        Param::new(
            "red-max",
            Kind::Number,
            "15",
            "Average queue in packets above which all packets are marked.",
            "Floyd 1997: three times the minimum",
        )
        .per_tier(),
        Param::new(
            "red-weight",
            Kind::Fraction,
            "0.002",
            "Weight in the average of the queue that a packet finds.",
            "Floyd and Jacobson 1993, section 6: 0.002",
        )
        .at_most(1.0),
        Param::new(
            "red-max-p",
            Kind::Fraction,
            "0.1",
            "Probability p as the average reaches its upper threshold; marks are 1 to 1/p packets apart, so about 2p of \
             the packets are marked.",
            "Floyd 1997: 0.1; Floyd and Jacobson 1993, section 7",
        )
        .at_most(1.0)
        .per_tier(),
        RedConfig::GENTLE,
        RedConfig::WAIT,
        Param::new(
            "red-drop",
            Kind::Bool,
            "true",
            "Drop packets that should be marked but are not ECT; otherwise only when the buffer is full.",
            "RFC 7567 section 4.2.1: drop packets that cannot be marked",
        ),
        RedConfig::HARD_DROP,
    ],
    build: |params| {
        Box::new(RedQueue {
            red: Red::new(RedConfig::from(params)),
            drop: params.flag("red-drop"),
            hard_drop: params.flag("red-hard-drop"),
        })
    },
};

/// The parameters of random early detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Average queue in packets from which on packets may be marked.
    pub min: f64,
    /// Average queue in packets from which on all are marked, or, if gentle, from which on the probability rises to 1.
    pub max: f64,
    /// Weight of the latest queue in the average.
    pub weight: f64,
    /// Probability of a mark as the average reaches `max`.
    pub max_p: f64,
    /// Above `max` the probability continues to rise, to 1 at twice `max`.
    pub gentle: bool,
    /// Marks are at least 1/p packets apart.
    pub wait: bool,
}

impl RedConfig {
    /// The key of the gentle variant.
    pub const GENTLE: Param = Param::new(
        "red-gentle",
        Kind::Bool,
        "false",
        "Above red-max the probability rises from red-max-p to 1 at twice red-max; off: it is 1 at once.",
        "Floyd and Jacobson 1993; Floyd 2000 recommends the gentle variant, which ns-3 uses by default",
    );
    /// The key of the least distance between marks.
    pub const WAIT: Param = Param::new(
        "red-wait",
        Kind::Bool,
        "false",
        "Between the thresholds, the next mark is possible only 1/p packets after the last one.",
        "Floyd and Jacobson 1993, section 7: gaps of 1 to 1/p packets; ns-3 waits by default",
    );
    /// The key of forced drops.
    pub const HARD_DROP: Param = Param::new(
        "red-hard-drop",
        Kind::Bool,
        "false",
        "Drop ECT packets too, once the average is so high that every packet would be marked.",
        "off: marks replace drops; ns-3's UseHardDrop is on by default, and off in its DCTCP example",
    );
}

impl From<&Values> for RedConfig {
    fn from(params: &Values) -> Self {
        Self {
            min: params.number("red-min"),
            max: params.number("red-max"),
            weight: params.number("red-weight"),
            max_p: params.number("red-max-p"),
            gentle: params.flag("red-gentle"),
            wait: params.flag("red-wait"),
        }
    }
}

/// The decision on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// No mark.
    None,
    /// A mark drawn at random.
    Early,
    /// A mark for every packet, because the average is too high.
    Forced,
}

/// The state of random early detection in one queue.
#[derive(Clone, Copy, Debug)]
pub struct Red {
    /// May change between packets.
    pub config: RedConfig,
    average: f64,
    /// Packets since the last mark, while the average is above the lower threshold.
    since_mark: Option<u32>,
    /// Since when the queue has been empty.
    idle_since: Option<Time>,
    /// The same when the last packet arrived.
    was_idle_since: Option<Time>,
}

impl Red {
    /// An empty queue.
    pub fn new(config: RedConfig) -> Self {
        Self { config, average: 0.0, since_mark: None, idle_since: Some(Time::ZERO), was_idle_since: None }
    }

    /// A packet arrives and finds `queue` packets; the transmission of one takes `transmission`.
    pub fn on_arrival(&mut self, now: Time, queue: u32, transmission: Time, random: &mut Stream) -> Notice {
        let RedConfig { min, max, weight, gentle, .. } = self.config;
        self.was_idle_since = self.idle_since.take();
        match self.was_idle_since {
            // As if so many packets had arrived at an empty queue (section 4, "m").
            Some(since) => {
                let packets = now.saturating_sub(since).ps() as f64 / transmission.ps().max(1) as f64;
                self.average *= libm::pow(1.0 - weight, packets);
            }
            None => self.average += weight * (f64::from(queue) - self.average),
        }
        if self.average < min {
            self.since_mark = None;
            return Notice::None;
        }
        let count = self.since_mark.map_or(0, |count| count + 1);
        let notice = if self.average >= if gentle { 2.0 * max } else { max } {
            Notice::Forced
        } else if self.is_drawn(count, random) {
            Notice::Early
        } else {
            Notice::None
        };
        self.since_mark = Some(if notice == Notice::None { count } else { 0 });
        notice
    }

    /// Whether the packet after `count` unmarked ones is marked.
    fn is_drawn(&self, count: u32, random: &mut Stream) -> bool {
        let RedConfig { min, max, max_p, wait, .. } = self.config;
        let share = if self.average < max {
            max_p * (self.average - min) / (max - min)
        } else {
            // Floyd 2000: from max_p at the upper threshold to 1 at twice that.
            max_p + (1.0 - max_p) * (self.average - max) / max
        };
        // One draw per packet between the thresholds, regardless of the probability.
        let drawn = random.unit();
        let spread = if wait { 2.0 } else { 1.0 } - f64::from(count) * share;
        if wait && spread > 1.0 {
            return false;
        }
        spread <= 0.0 || drawn < share / spread
    }

    /// The packet that just arrived was dropped, so a queue that was empty still is.
    ///
    /// Otherwise its average would fall with arrivals and not with time, and so many would be dropped as it takes. Linux
    /// begins the idle time anew when its next dequeue finds no packet (`sch_red.c`).
    pub fn on_drop(&mut self, now: Time) {
        self.idle_since = self.was_idle_since.map(|since| since.max(now));
    }

    /// The queue has been empty since `at`, unless it was empty before.
    pub fn on_empty(&mut self, at: Time) {
        self.idle_since.get_or_insert(at);
    }
}

/// A FIFO with random early detection.
struct RedQueue {
    red: Red,
    /// Drop packets that cannot be marked.
    drop: bool,
    /// Drop all packets when every one would be marked.
    hard_drop: bool,
}

impl QueueDiscipline for RedQueue {
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        let transmission = transmission(cx, packet);
        let admission = match self.red.on_arrival(cx.now, cx.backlog.packets, transmission, cx.random) {
            Notice::None => Admission::Enqueue(0),
            Notice::Forced if self.hard_drop => Admission::Drop,
            Notice::Early | Notice::Forced if cx.mark(packet, false) || !self.drop => Admission::Enqueue(0),
            Notice::Early | Notice::Forced => Admission::Drop,
        };
        if admission == Admission::Drop {
            self.red.on_drop(cx.now);
        }
        admission
    }
    fn acts_on_dequeue(&self) -> bool {
        true
    }
    fn on_dequeue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        if cx.backlog.packets == 0 {
            self.red.on_empty(cx.now + transmission(cx, packet));
        }
    }
    fn needs_bytes(&self) -> bool {
        false
    }
}

/// Transmission time of this packet at the port.
pub fn transmission(cx: &QueueCx<'_>, packet: &Packet) -> Time {
    Time::from_ps(u64::from(packet.size) * u64::from(cx.rate.ps_per_byte().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::packet::Flags;
    use fanin_core::roles::Backlog;
    use fanin_core::units::Rate;

    const SLOT: Time = Time::from_us(12);

    const CONFIG: RedConfig = RedConfig { min: 5.0, max: 15.0, weight: 1.0, max_p: 0.1, gentle: false, wait: false };

    fn red(weight: f64) -> Red {
        Red::new(RedConfig { weight, ..CONFIG })
    }

    fn dice() -> Stream {
        Stream::named(1, "test")
    }

    /// The decisions on so many packets that each find `queue` packets, in a port that has never been idle.
    fn notices(config: RedConfig, queue: u32, packets: usize) -> Vec<Notice> {
        let (mut red, mut dice) = (Red::new(config), dice());
        red.on_arrival(Time::ZERO, 0, SLOT, &mut dice);
        (0..packets).map(|_| red.on_arrival(Time::ZERO, queue, SLOT, &mut dice)).collect()
    }

    /// The distances between marks: shortest, mean and longest.
    fn gaps(notices: &[Notice]) -> (usize, f64, usize) {
        let at: Vec<usize> = (0..notices.len()).filter(|i| notices[*i] != Notice::None).collect();
        let gaps: Vec<usize> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        (*gaps.iter().min().unwrap(), mean, *gaps.iter().max().unwrap())
    }

    #[test]
    fn the_average_moves_by_its_weight() {
        let mut red = red(0.25);
        red.on_arrival(Time::ZERO, 0, SLOT, &mut dice());
        red.on_arrival(Time::ZERO, 8, SLOT, &mut dice());
        assert_eq!(red.average, 2.0);
        red.on_arrival(Time::ZERO, 8, SLOT, &mut dice());
        assert_eq!(red.average, 3.5);
    }

    #[test]
    fn nothing_is_marked_below_the_lower_threshold_and_all_from_the_upper_one_on() {
        assert!(notices(CONFIG, 4, 1000).iter().all(|notice| *notice == Notice::None));
        assert!(notices(CONFIG, 15, 1000).iter().all(|notice| *notice == Notice::Forced));
    }

    #[test]
    fn between_the_thresholds_marks_come_evenly_at_twice_the_probability_at_most() {
        // Halfway: p_b = 0.05, and gaps are uniform up to 20 packets (section 7 of the paper).
        let (_, mean, longest) = gaps(&notices(CONFIG, 10, 20_000));
        assert!(longest <= 20, "{longest}");
        assert!((9.5..11.0).contains(&mean), "{mean}");
    }

    #[test]
    fn with_wait_a_mark_is_at_least_the_inverse_of_the_probability_after_the_last() {
        let (shortest, mean, longest) = gaps(&notices(RedConfig { wait: true, ..CONFIG }, 10, 20_000));
        assert!(shortest >= 20, "{shortest}");
        assert!((29.0..32.0).contains(&mean), "{mean}");
        assert!(longest <= 41, "{longest}");
    }

    #[test]
    fn gentle_the_probability_rises_from_the_upper_threshold_to_twice_that() {
        let gentle = RedConfig { gentle: true, ..CONFIG };
        let marked = |queue| gaps(&notices(gentle, queue, 20_000)).1;
        // Gaps are uniform from 1 to below 1 / p: p is 0.1 at 15, 0.28 at 18, 1 at 30.
        assert!((4.7..5.3).contains(&marked(15)), "{}", marked(15));
        assert!((1.75..1.95).contains(&marked(18)), "{}", marked(18));
        assert!(notices(gentle, 29, 1000).iter().all(|notice| *notice != Notice::Forced));
        assert!(notices(gentle, 30, 1000).iter().all(|notice| *notice == Notice::Forced));
    }

    #[test]
    fn an_idle_port_forgets() {
        let mut red = red(0.25);
        for _ in 0..100 {
            red.on_arrival(Time::ZERO, 10, SLOT, &mut dice());
        }
        let before = red.average;
        red.on_empty(Time::ZERO);
        red.on_arrival(Time::from_us(24), 0, SLOT, &mut dice());
        assert!((red.average / before - 0.75 * 0.75).abs() < 1e-12, "as if two packets had met an empty queue");
    }

    /// What becomes of a packet that finds so many of 1500 B in a port of 1 Gbps.
    fn arrive(queue: &mut RedQueue, now: Time, packets: u32, packet: &mut Packet, random: &mut Stream) -> Admission {
        let mut cx = QueueCx {
            now,
            backlog: Backlog { packets, bytes: 1500 * u64::from(packets) },
            bands: &[],
            rate: Rate::from_bps(1_000_000_000),
            buffer: None,
            random,
            node: &mut (),
            would_mark: false,
        };
        queue.on_enqueue(&mut cx, packet)
    }

    /// How many of ten packets that find twenty in the port are dropped, and how many are marked.
    fn fate(config: RedConfig, drop: bool, hard_drop: bool, flags: Flags) -> (usize, usize) {
        let mut queue = RedQueue { red: Red::new(config), drop, hard_drop };
        queue.red.on_arrival(Time::ZERO, 0, SLOT, &mut dice());
        let mut random = dice();
        let (mut dropped, mut marked) = (0, 0);
        for _ in 0..10 {
            let mut packet = Packet { size: 1500, flags, ..Packet::default() };
            let admission = arrive(&mut queue, Time::ZERO, 20, &mut packet, &mut random);
            dropped += usize::from(admission == Admission::Drop);
            marked += usize::from(packet.flags.has(Flags::CE));
        }
        (dropped, marked)
    }

    #[test]
    fn a_drop_leaves_an_empty_queue_idle() {
        let mut queue = RedQueue { red: red(0.25), drop: true, hard_drop: false };
        for _ in 0..100 {
            queue.red.on_arrival(Time::ZERO, 100, SLOT, &mut dice());
        }
        queue.red.on_empty(Time::from_us(12));
        let mut random = dice();
        let mut admission = |us| {
            let mut packet = Packet { size: 1500, ..Packet::default() };
            arrive(&mut queue, Time::from_us(us), 0, &mut packet, &mut random)
        };
        assert_eq!(admission(0), Admission::Drop, "the last packet is still on its way");
        assert_eq!(admission(24), Admission::Drop, "one packet later");
        assert_eq!(admission(24 + 20 * 12), Admission::Enqueue(0), "0.75 to the power of 20 is 0.003");
    }

    #[test]
    fn what_cannot_be_marked_is_dropped_or_let_in() {
        assert_eq!(fate(CONFIG, true, false, Flags::ECT), (0, 10));
        assert_eq!(fate(CONFIG, true, false, Flags::NONE), (10, 0));
        assert_eq!(fate(CONFIG, false, false, Flags::NONE), (0, 0));
    }

    #[test]
    fn hard_drops_hit_ecn_capable_packets_where_every_one_is_due_a_mark() {
        assert_eq!(fate(CONFIG, true, true, Flags::ECT), (10, 0));
        let gentle = RedConfig { gentle: true, max_p: 1.0, ..CONFIG };
        assert_eq!(fate(gentle, true, true, Flags::ECT), (0, 10), "20 is below twice the upper threshold");
    }
}

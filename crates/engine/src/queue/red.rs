//! Random early detection (Floyd and Jacobson, 1993).
//!
//! A moving average of the queue decides: below `min` nothing happens, from `max` on every packet is marked, and
//! between the two with a probability that rises with the average and with the packets since the last mark, so that
//! marks come evenly. While the port is idle the average falls as if small packets had passed an empty queue. Without
//! the "gentle" slope above `max`.

use super::QueueRow;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::roles::{Admission, QueueCx, QueueDiscipline};
use crate::spec::{Kind, Param};
use crate::units::Time;

pub(super) const ROW: QueueRow = QueueRow {
    key: "red",
    summary: "FIFO with random early detection: marks, or drops, by the average queue.",
    params: &[
        Param::new(
            "red-min",
            Kind::Number,
            "5",
            "Average queue, in packets, from which on some packets are marked.",
            "Floyd 1997, \"Discussions of Setting Parameters\": 5",
        ),
        Param::new(
            "red-max",
            Kind::Number,
            "15",
            "Average queue, in packets, from which on all packets are marked.",
            "Floyd 1997: three times the minimum",
        ),
        Param::new(
            "red-weight",
            Kind::Fraction,
            "0.002",
            "Weight of the queue that a packet finds in the average.",
            "Floyd and Jacobson 1993, section 6: 0.002",
        )
        .at_most(1.0),
        Param::new(
            "red-max-p",
            Kind::Fraction,
            "0.1",
            "Probability of a mark as the average reaches its upper threshold.",
            "Floyd 1997: 0.1",
        )
        .at_most(1.0),
        Param::new(
            "red-drop",
            Kind::Bool,
            "true",
            "Drop packets of transports without ECN where others are marked; else only when the buffer is full.",
            "RFC 7567 section 4.2.1: drop what cannot be marked",
        ),
    ],
    build: |params| {
        let red = Red::new(RedConfig {
            min: params.number("red-min"),
            max: params.number("red-max"),
            weight: params.number("red-weight"),
            max_p: params.number("red-max-p"),
        });
        Box::new(RedQueue { red, drop: params.flag("red-drop") })
    },
};

/// The four numbers of random early detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Average queue in packets from which on packets may be marked.
    pub min: f64,
    /// Average queue in packets from which on all are.
    pub max: f64,
    /// Weight of the newest queue in the average.
    pub weight: f64,
    /// Probability of a mark at `max`.
    pub max_p: f64,
}

/// The estimator and its dice.
#[derive(Clone, Copy, Debug)]
pub struct Red {
    /// The thresholds; they may move.
    pub config: RedConfig,
    average: f64,
    /// Packets since the last mark while the average was between the thresholds; none since it was below.
    since_mark: Option<u32>,
    /// The queue has been empty since.
    idle_since: Option<Time>,
}

impl Red {
    /// An empty queue.
    pub fn new(config: RedConfig) -> Self {
        Self { config, average: 0.0, since_mark: None, idle_since: Some(Time::ZERO) }
    }
    /// The average queue in packets.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// A packet arrives and finds `queue` packets; one takes `transmission` to send. Returns whether to mark it.
    pub fn on_arrival(&mut self, now: Time, queue: u32, transmission: Time, random: &mut Stream) -> bool {
        let RedConfig { min, max, weight, max_p } = self.config;
        match self.idle_since.take() {
            // As if that many packets had met an empty queue (section 4, "m").
            Some(since) => {
                let packets = now.saturating_sub(since).ps() as f64 / transmission.ps().max(1) as f64;
                self.average *= libm::pow(1.0 - weight, packets);
            }
            None => self.average += weight * (f64::from(queue) - self.average),
        }
        if self.average < min {
            self.since_mark = None;
            return false;
        }
        let count = self.since_mark.map_or(0, |count| count + 1);
        let marked = self.average >= max || {
            let share = max_p * (self.average - min) / (max - min);
            let spread = 1.0 - f64::from(count) * share;
            // Drawn for each packet between the thresholds, whatever its probability.
            let drawn = random.unit();
            spread <= 0.0 || drawn < share / spread
        };
        self.since_mark = Some(if marked { 0 } else { count });
        marked
    }

    /// The queue has been empty since `at`, unless it already was.
    pub fn on_empty(&mut self, at: Time) {
        self.idle_since.get_or_insert(at);
    }
}

/// A FIFO under random early detection.
struct RedQueue {
    red: Red,
    drop: bool,
}

impl QueueDiscipline for RedQueue {
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        let transmission = transmission(cx, packet);
        if self.red.on_arrival(cx.now, cx.backlog.packets, transmission, cx.random) {
            let marked = cx.mark(packet, false);
            if !marked && self.drop {
                return Admission::Drop;
            }
        }
        Admission::Enqueue(0)
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

/// How long the port sends this packet.
pub fn transmission(cx: &QueueCx<'_>, packet: &Packet) -> Time {
    Time::from_ps(u64::from(packet.size) * u64::from(cx.rate.ps_per_byte().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Time = Time::from_us(12);

    fn red(weight: f64) -> Red {
        Red::new(RedConfig { min: 5.0, max: 15.0, weight, max_p: 0.1 })
    }

    fn dice() -> Stream {
        Stream::named(1, "test")
    }

    #[test]
    fn the_average_moves_by_its_weight() {
        let mut red = red(0.25);
        red.on_arrival(Time::ZERO, 0, SLOT, &mut dice());
        red.on_arrival(Time::ZERO, 8, SLOT, &mut dice());
        assert_eq!(red.average(), 2.0);
        red.on_arrival(Time::ZERO, 8, SLOT, &mut dice());
        assert_eq!(red.average(), 3.5);
    }

    #[test]
    fn nothing_is_marked_below_the_lower_threshold_and_all_from_the_upper_one_on() {
        let (mut low, mut high, mut dice) = (red(1.0), red(1.0), dice());
        low.on_arrival(Time::ZERO, 0, SLOT, &mut dice);
        high.on_arrival(Time::ZERO, 0, SLOT, &mut dice);
        assert!((0..1000).all(|_| !low.on_arrival(Time::ZERO, 4, SLOT, &mut dice)));
        assert!((0..1000).all(|_| high.on_arrival(Time::ZERO, 15, SLOT, &mut dice)));
    }

    #[test]
    fn between_the_thresholds_marks_come_evenly_at_twice_the_probability_at_most() {
        let (mut red, mut dice) = (red(1.0), dice());
        red.on_arrival(Time::ZERO, 0, SLOT, &mut dice);
        // Half way: p_b = 0.05, and gaps are uniform up to 20 packets (section 7 of the paper).
        let marks: Vec<bool> = (0..20_000).map(|_| red.on_arrival(Time::ZERO, 10, SLOT, &mut dice)).collect();
        let at: Vec<usize> = (0..marks.len()).filter(|i| marks[*i]).collect();
        let longest = at.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(longest <= 20, "{longest}");
        let mean = marks.len() as f64 / at.len() as f64;
        assert!((9.5..11.0).contains(&mean), "{mean}");
    }

    #[test]
    fn an_idle_port_forgets() {
        let mut red = red(0.25);
        for _ in 0..100 {
            red.on_arrival(Time::ZERO, 10, SLOT, &mut dice());
        }
        let before = red.average();
        red.on_empty(Time::ZERO);
        red.on_arrival(Time::from_us(24), 0, SLOT, &mut dice());
        assert!((red.average() / before - 0.75 * 0.75).abs() < 1e-12, "as if two packets had met an empty queue");
    }
}

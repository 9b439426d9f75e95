//! The ECN profile of a switch, which vendors call WRED: a minimum, a maximum and a probability.
//!
//! Marking depends on the queue that an arriving packet finds, not on an average. Up to `min` no packet is marked.
//! From there the probability rises in proportion, to `max-p` at `max`, and above `max` every packet is marked. Each
//! packet is drawn independently, so the share of marks is the probability; `red.rs` spaces its marks instead.

use super::QueueRow;
use fanin_core::packet::Packet;
use fanin_core::roles::{Admission, Backlog, QueueCx, QueueDiscipline};
use fanin_core::units::Size;
use fanin_param::{Kind, Param, Rule, SpecError, Values};

/// The key of the lower threshold.
const MIN: &str = "wred-min";
/// The key of the upper threshold.
const MAX: &str = "wred-max";

pub(super) const ROW: QueueRow = QueueRow {
    key: "wred",
    summary: "FIFO with a switch's ECN profile: marks, or drops, each packet with a probability that rises with the queue.",
    params: &[
        Param::new(
            MIN,
            Kind::Size,
            "5pkt",
            "Queue above which some packets are marked, by the queue that a packet finds (Kmin).",
            "Li et al. 2019 (HPCC), section 5.1: 100 KB at 25 Gbps; at 1 Gbps RED's 5 packets",
        )
        .by(Rule::Packets { least: 5, per_10g: 27 })
        .per_tier(),
        Param::new(
            MAX,
            Kind::Size,
            "15pkt",
            "Queue above which every packet is marked (Kmax).",
            "Li et al. 2019 (HPCC), section 5.1: 400 KB at 25 Gbps; at 1 Gbps RED's 15 packets",
        )
        .by(Rule::Packets { least: 15, per_10g: 107 })
        .per_tier(),
        Param::new(
            "wred-max-p",
            Kind::Fraction,
            "0.2",
            "Share of packets that are marked when the queue is at wred-max (Pmax); it rises linearly from 0 at wred-min.",
            "PMAX_MAP in the published code of HPCC: 0.2",
        )
        .at_most(1.0)
        .per_tier(),
        Param::new(
            "wred-drop",
            Kind::Bool,
            "true",
            "Drop packets that should be marked but are not ECT; otherwise only when the buffer is full.",
            "RFC 7567 section 4.2.1: drop packets that cannot be marked",
        ),
    ],
    build: |params| {
        Box::new(Wred {
            min: params.size(MIN),
            max: params.size(MAX),
            max_p: params.number("wred-max-p"),
            drop: params.flag("wred-drop"),
        })
    },
};

/// Refuses thresholds that cannot be compared, or that are in the wrong order.
pub(super) fn check(values: &Values) -> Result<(), SpecError> {
    let (min, max) = (values.size(MIN), values.size(MAX));
    match (min, max) {
        (Size::Packets(low), Size::Packets(high)) | (Size::Bytes(low), Size::Bytes(high)) if low > high => {
            Err(values.fail(MAX, format!("must be at least {MIN}, which is {min}")))
        }
        (Size::Packets(_), Size::Packets(_)) | (Size::Bytes(_), Size::Bytes(_)) => Ok(()),
        _ => Err(values.fail(MAX, format!("is {max}, and {MIN} is {min}: give both in bytes, or both in packets"))),
    }
}

/// A port with this profile, which lets packets in that it cannot mark.
pub fn profile(min: Size, max: Size, max_p: f64) -> Box<dyn QueueDiscipline> {
    Box::new(Wred { min, max, max_p, drop: false })
}

/// A FIFO whose marks are drawn by the queue that each packet finds.
struct Wred {
    min: Size,
    max: Size,
    max_p: f64,
    /// Drop packets that cannot be marked.
    drop: bool,
}

impl Wred {
    /// The probability of a mark for a packet that finds this queue.
    fn probability(&self, backlog: Backlog) -> f64 {
        let (queue, min, max) = match (self.min, self.max) {
            (Size::Packets(min), Size::Packets(max)) => (u64::from(backlog.packets), min, max),
            (Size::Bytes(min), Size::Bytes(max)) => (backlog.bytes, min, max),
            _ => unreachable!("checked when the scenario was read"),
        };
        if queue > max {
            1.0
        } else if queue > min {
            self.max_p * (queue - min) as f64 / (max - min) as f64
        } else {
            0.0
        }
    }
}

impl QueueDiscipline for Wred {
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        let probability = self.probability(cx.backlog);
        let is_drawn = probability > 0.0 && (probability >= 1.0 || cx.random.unit() < probability);
        if is_drawn && !cx.mark(packet, false) && self.drop { Admission::Drop } else { Admission::Enqueue(0) }
    }
    fn idle_below(&self) -> u32 {
        match self.min {
            Size::Packets(min) => u32::try_from(min).map_or(u32::MAX, |min| min.saturating_add(1)),
            Size::Bytes(_) => 0,
        }
    }
    fn needs_bytes(&self) -> bool {
        matches!(self.min, Size::Bytes(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::packet::Flags;
    use fanin_core::rng::Stream;
    use fanin_core::units::{Rate, Time};

    const PROFILE: Wred = Wred { min: Size::Packets(20), max: Size::Packets(100), max_p: 0.5, drop: true };

    /// For each of so many packets that find this queue: whether it was marked, and whether it was dropped.
    fn fates(queue: &mut Wred, packets: u32, flags: Flags, count: usize) -> Vec<(bool, bool)> {
        let mut random = Stream::named(1, "test");
        let mut fate = || {
            let mut packet = Packet { size: 1500, flags, ..Packet::default() };
            let mut cx = QueueCx {
                now: Time::ZERO,
                backlog: Backlog { packets, bytes: 1500 * u64::from(packets) },
                bands: &[],
                rate: Rate::from_bps(1_000_000_000),
                buffer: None,
                random: &mut random,
                node: &mut (),
                would_mark: false,
            };
            let admission = queue.on_enqueue(&mut cx, &mut packet);
            (packet.flags.has(Flags::CE), admission == Admission::Drop)
        };
        (0..count).map(|_| fate()).collect()
    }

    fn marks(mut queue: Wred, packets: u32, count: usize) -> Vec<bool> {
        fates(&mut queue, packets, Flags::ECT, count).into_iter().map(|(marked, _)| marked).collect()
    }

    fn share(queue: Wred, packets: u32) -> f64 {
        marks(queue, packets, 40_000).into_iter().filter(|marked| *marked).count() as f64 / 40_000.0
    }

    #[test]
    fn no_packet_is_marked_up_to_the_minimum_and_every_one_above_the_maximum() {
        assert_eq!([share(PROFILE, 0), share(PROFILE, 20), share(PROFILE, 101)], [0.0, 0.0, 1.0]);
        assert_eq!(PROFILE.idle_below(), 21, "the port need not ask at the minimum");
    }

    #[test]
    fn the_share_of_marks_is_the_probability_which_rises_in_proportion() {
        // Four standard deviations of 40,000 draws are at most 0.01.
        for (queue, wanted) in [(40, 0.125), (60, 0.25), (80, 0.375), (100, 0.5)] {
            let found = share(PROFILE, queue);
            assert!((found - wanted).abs() < 0.01, "{found} at {queue}");
        }
    }

    #[test]
    fn bytes_count_as_packets_do() {
        let bytes = Wred { min: Size::Bytes(30_000), max: Size::Bytes(150_000), ..PROFILE };
        assert!(bytes.needs_bytes() && bytes.idle_below() == 0 && !PROFILE.needs_bytes());
        assert_eq!(marks(bytes, 60, 1000), marks(PROFILE, 60, 1000));
    }

    #[test]
    fn draws_are_independent_of_each_other() {
        // As many marks follow a mark as follow any packet: one in four. RED's never would.
        let marks = marks(PROFILE, 60, 40_000);
        let after: Vec<bool> = marks.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
        let again = after.iter().filter(|marked| **marked).count() as f64 / after.len() as f64;
        assert!((again - 0.25).abs() < 0.02, "{again}");
    }

    #[test]
    fn equal_thresholds_are_one_step() {
        let step = || Wred { min: Size::Packets(20), max: Size::Packets(20), ..PROFILE };
        assert_eq!([share(step(), 20), share(step(), 21)], [0.0, 1.0]);
    }

    #[test]
    fn what_cannot_be_marked_is_dropped_or_let_in() {
        let all = |drop, flags| {
            let found = fates(&mut Wred { drop, ..PROFILE }, 101, flags, 10);
            let count = |which: fn(&(bool, bool)) -> bool| found.iter().filter(|fate| which(fate)).count();
            (count(|fate| fate.0), count(|fate| fate.1))
        };
        assert_eq!(all(true, Flags::ECT), (10, 0));
        assert_eq!(all(true, Flags::NONE), (0, 10));
        assert_eq!(all(false, Flags::NONE), (0, 0));
    }
}

//! Threshold marking on the instantaneous queue (RFC 8257 section 3.1).
//!
//! A packet is marked if the queue that it finds, the packet in transmission included, has reached the threshold; the
//! buffer limit still drops. Marking at dequeue uses the queue that the packet leaves behind, so the sender learns of
//! it sooner.

use super::{QueueRow, REQUIRES_ECT};
use fanin_core::packet::Packet;
use fanin_core::roles::{Admission, Backlog, Markable, QueueCx, QueueDiscipline, Step};
use fanin_core::units::Size;
use fanin_param::{Kind, Param, Rule, Values};

pub(super) const ROW: QueueRow = QueueRow {
    key: "ecn-threshold",
    summary: "FIFO that marks ECN-capable packets at or above a threshold.",
    params: &[
        Param::new(
            "threshold",
            Kind::Size,
            "20pkt",
            "Marking threshold K: packets that arrive at a queue of at least this size are marked.",
            MARKING_SOURCE,
        )
        .by(MARKING_RULE)
        .per_tier(),
        MarkAt::PARAM,
        Param::new(
            "compare",
            Kind::Choice(&["at-least", "above"]),
            "at-least",
            "Whether a queue equal to the threshold marks.",
            "marked if the queue before the packet is added reaches the threshold",
        ),
        REQUIRES_ECT,
    ],
    build: |values| {
        let at = MarkAt::chosen(values);
        Box::new(Threshold {
            above: values.is("compare", "above"),
            requires_ect: values.flag("requires-ect"),
            ..Threshold::at(values.size("threshold"), at)
        })
    },
};

/// The default of a threshold for senders with DCTCP's reaction.
pub const MARKING_RULE: Rule = Rule::Packets { least: 20, per_10g: 65 };
/// Its source.
pub const MARKING_SOURCE: &str = "Alizadeh et al. 2010, section 4.4: 20 packets at 1 Gbps, 65 at 10 Gbps; our choice: in proportion between and above";

/// When a packet's mark is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAt {
    /// On arrival, by the queue that it finds.
    Enqueue,
    /// At the start of its transmission, by the queue that it leaves behind.
    Dequeue,
}

impl MarkAt {
    /// The key by which queues and schemes let a scenario choose.
    pub const PARAM: Param = Param::new(
        "mark-at",
        Kind::Choice(&["enqueue", "dequeue"]),
        "enqueue",
        "Whether a packet is marked by the queue that it finds on arrival or by the queue that it leaves behind.",
        "RFC 8257 section 3.1: on arrival",
    );

    /// The choice of `mark-at` in a table.
    pub fn chosen(values: &Values) -> Self {
        values.choose("mark-at", &[("enqueue", Self::Enqueue), ("dequeue", Self::Dequeue)])
    }
}

/// A FIFO with one marking threshold.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    /// The threshold; without one nothing is marked.
    pub threshold: Option<Size>,
    /// When the mark is decided.
    pub at: MarkAt,
    /// Strictly above instead of at or above.
    pub above: bool,
    /// Mark ECN-capable packets only.
    pub requires_ect: bool,
    /// Mark at all; otherwise only count.
    pub mark: bool,
}

impl Threshold {
    /// Marking from `threshold` on.
    pub fn at(threshold: Size, at: MarkAt) -> Self {
        Self { threshold: Some(threshold), at, above: false, requires_ect: true, mark: true }
    }
    /// No marking: drop-tail.
    pub fn never() -> Self {
        Self { threshold: None, at: MarkAt::Enqueue, above: false, requires_ect: true, mark: false }
    }

    fn reached(&self, backlog: Backlog) -> bool {
        let (queue, threshold) = match self.threshold {
            None => return false,
            Some(Size::Packets(packets)) => (u64::from(backlog.packets), packets),
            Some(Size::Bytes(bytes)) => (backlog.bytes, bytes),
        };
        queue > threshold || (queue == threshold && !self.above)
    }

    fn decide(&self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        if self.reached(cx.backlog) {
            if self.mark {
                cx.mark(packet, !self.requires_ect);
            } else {
                cx.would_mark = true;
            }
        }
    }
}

impl QueueDiscipline for Threshold {
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        if self.at == MarkAt::Enqueue {
            self.decide(cx, packet);
        }
        Admission::Enqueue(0)
    }
    fn step(&self) -> Option<Step> {
        let from = match self.threshold {
            None => None,
            Some(Size::Packets(packets)) if self.at == MarkAt::Enqueue => {
                Some(u32::try_from(packets + u64::from(self.above)).unwrap_or(u32::MAX))
            }
            Some(_) => return None,
        };
        let marks = match (self.mark, self.requires_ect) {
            (false, _) => Markable::Nothing,
            (true, true) => Markable::Capable,
            (true, false) => Markable::Everything,
        };
        Some(Step { from, marks })
    }
    fn acts_on_dequeue(&self) -> bool {
        self.at == MarkAt::Dequeue && self.threshold.is_some()
    }
    fn on_dequeue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        self.decide(cx, packet);
    }
    fn idle_below(&self) -> u32 {
        match self.threshold {
            None => u32::MAX,
            Some(Size::Packets(packets)) => u32::try_from(packets).unwrap_or(u32::MAX),
            Some(Size::Bytes(_)) => 0,
        }
    }
    fn marks(&self) -> bool {
        self.mark
    }
    fn needs_bytes(&self) -> bool {
        matches!(self.threshold, Some(Size::Bytes(_)))
    }
    fn keeps_nothing(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::packet::Flags;
    use fanin_core::rng::Stream;
    use fanin_core::units::{Rate, Time};

    /// Whether a packet that finds `packets` in the port gets a mark, and whether one was due.
    fn asked(mut queue: Threshold, packets: u32, flags: Flags) -> (bool, bool) {
        let mut packet = Packet { flags, ..Packet::default() };
        let mut cx = QueueCx {
            now: Time::ZERO,
            backlog: Backlog { packets, bytes: u64::from(packets) * 1500 },
            bands: &[],
            rate: Rate::from_bps(1_000_000_000),
            buffer: None,
            random: &mut Stream::named(0, "port"),
            node: &mut (),
            would_mark: false,
        };
        assert_eq!(queue.on_enqueue(&mut cx, &mut packet), Admission::Enqueue(0));
        (packet.flags.has(Flags::CE), cx.would_mark)
    }

    #[test]
    fn a_port_that_does_not_ask_decides_alike() {
        let thresholds = [None, Some(Size::Packets(20)), Some(Size::Packets(1 << 40)), Some(Size::Bytes(30_000))];
        let mut compared = 0;
        for bits in 0..64_usize {
            let flag = |bit: usize| bits >> bit & 1 == 1;
            let queue = Threshold {
                threshold: thresholds[bits >> 4],
                at: if flag(0) { MarkAt::Dequeue } else { MarkAt::Enqueue },
                above: flag(1),
                requires_ect: flag(2),
                mark: flag(3),
            };
            let counts_packets = matches!(queue.threshold, Some(Size::Packets(_))) && queue.at == MarkAt::Enqueue;
            assert_eq!(queue.step().is_some(), counts_packets || queue.threshold.is_none(), "{queue:?}");
            let Some(step) = queue.step() else { continue };
            for (packets, flags) in (18..23).flat_map(|packets| [(packets, Flags::NONE), (packets, Flags::ECT)]) {
                let due = step.from.is_some_and(|from| packets >= from);
                let marked = due && step.marks.includes(&Packet { flags, ..Packet::default() });
                assert_eq!(asked(queue, packets, flags), (marked, due), "{queue:?}, {packets} packets");
                compared += 1;
            }
        }
        assert_eq!(compared, 320);
    }
}

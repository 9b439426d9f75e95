//! Marking between two thresholds (Chen et al., "Ease the Queue Oscillation", ICDCS 2013).
//!
//! Marking starts when the rising queue reaches `start` and ends when the falling queue drops below `stop`; the last
//! crossing decides. At or above both thresholds every packet is marked, below both none is. With `start` below `stop`
//! marking starts and ends early (a phase lead); with `start` above `stop` the two form a Schmitt trigger; equal, they
//! are a single threshold. The queue is the one that an arriving packet finds, the packet in transmission included.

use super::{QueueRow, REQUIRES_ECT};
use fanin_core::packet::Packet;
use fanin_core::roles::{Admission, Backlog, QueueCx, QueueDiscipline};
use fanin_core::units::Size;
use fanin_param::{Kind, Param, Values};

pub(super) const ROW: QueueRow = QueueRow {
    key: "double-threshold",
    summary: "FIFO that marks ECT packets from one threshold while the queue rises until another while it falls.",
    params: &[
        DoubleThreshold::start("30pkt", "Chen et al. 2013: K1 = 30 packets"),
        DoubleThreshold::stop("50pkt", "Chen et al. 2013: K2 = 50 packets"),
        REQUIRES_ECT,
    ],
    build: |values| {
        Box::new(DoubleThreshold { requires_ect: values.flag("requires-ect"), ..DoubleThreshold::new(values) })
    },
};

/// A FIFO with one marking threshold for a rising queue and one for a falling queue.
#[derive(Clone, Copy, Debug)]
pub struct DoubleThreshold {
    start: Size,
    stop: Size,
    requires_ect: bool,
    /// Whether the last crossing was one that starts marking.
    marking: bool,
    /// Whether the queue was at or above `start` and `stop` after the last arrival.
    above: (bool, bool),
}

impl DoubleThreshold {
    /// The key of the threshold of a rising queue.
    pub const fn start(default: &'static str, source: &'static str) -> Param {
        Param::new("start", Kind::Size, default, "Queue at which marking starts when it rises.", source)
            .at_least(1.0)
            .per_tier()
    }
    /// The key of the threshold of a falling queue.
    pub const fn stop(default: &'static str, source: &'static str) -> Param {
        Param::new("stop", Kind::Size, default, "Queue below which marking ends when it falls.", source)
            .at_least(1.0)
            .per_tier()
    }
    /// The discipline with the values of these two keys.
    pub fn new(values: &Values) -> Self {
        Self::between(values.size("start"), values.size("stop"))
    }
    /// Marking that starts at `start` and ends below `stop`.
    pub(crate) const fn between(start: Size, stop: Size) -> Self {
        Self { start, stop, requires_ect: true, marking: false, above: (false, false) }
    }

    /// Whether a queue is at or above `start`, and at or above `stop`.
    fn place(&self, backlog: Backlog) -> (bool, bool) {
        let reached = |threshold| match threshold {
            Size::Packets(packets) => u64::from(backlog.packets) >= packets,
            Size::Bytes(bytes) => backlog.bytes >= bytes,
        };
        (reached(self.start), reached(self.stop))
    }
}

impl QueueDiscipline for DoubleThreshold {
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        // Since the last arrival the queue can only have fallen.
        let found = self.place(cx.backlog);
        if (self.above.1 && !found.1) || found == (false, false) {
            self.marking = false;
        }
        if self.marking {
            cx.mark(packet, !self.requires_ect);
        }
        let Backlog { packets, bytes } = cx.backlog;
        self.above = self.place(Backlog { packets: packets + 1, bytes: bytes + u64::from(packet.size) });
        if (!found.0 && self.above.0) || self.above == (true, true) {
            self.marking = true;
        }
        Admission::Enqueue(0)
    }
    fn idle_below(&self) -> u32 {
        // The packet that lifts the queue to the lower threshold must be seen. Below it none need be: a queue below
        // both thresholds is not marked, whatever its state before.
        match (self.start, self.stop) {
            (Size::Packets(start), Size::Packets(stop)) => {
                u32::try_from(start.min(stop).saturating_sub(1)).unwrap_or(u32::MAX)
            }
            _ => 0,
        }
    }
    fn needs_bytes(&self) -> bool {
        matches!(self.start, Size::Bytes(_)) || matches!(self.stop, Size::Bytes(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::packet::Flags;
    use fanin_core::rng::Stream;
    use fanin_core::units::{Rate, Time};

    /// Moves the queue from length to length by arrivals and departures, and returns the lengths that the marked
    /// arrivals found.
    fn marked(queue: &mut DoubleThreshold, lengths: &[u32], size: u16) -> Vec<u32> {
        let (mut now, mut marked) = (0, Vec::new());
        for &length in lengths {
            while now < length {
                let backlog = Backlog { packets: now, bytes: u64::from(now) * u64::from(size) };
                let mut packet = Packet { size, flags: Flags::ECT, ..Packet::default() };
                let mut cx = QueueCx {
                    now: Time::ZERO,
                    backlog,
                    bands: &[],
                    rate: Rate::from_bps(1),
                    buffer: None,
                    random: &mut Stream::named(1, "test"),
                    node: &mut (),
                    would_mark: false,
                };
                if now >= queue.idle_below() {
                    queue.on_enqueue(&mut cx, &mut packet);
                }
                assert_eq!(cx.would_mark, packet.flags.has(Flags::CE));
                if cx.would_mark {
                    marked.push(now);
                }
                now += 1;
            }
            now = length;
        }
        marked
    }

    fn both_units(start: u64, stop: u64, lengths: &[u32]) -> Vec<u32> {
        let packets = marked(&mut DoubleThreshold::between(Size::Packets(start), Size::Packets(stop)), lengths, 1500);
        let bytes = DoubleThreshold::between(Size::Bytes(start * 1500), Size::Bytes(stop * 1500));
        assert!(bytes.needs_bytes() && bytes.idle_below() == 0);
        assert_eq!(marked(&mut { bytes }, lengths, 1500), packets, "packets and bytes agree");
        packets
    }

    #[test]
    fn a_lower_start_leads_marks_begin_early_and_end_early() {
        // Rising to 8 through start = 3: marked from 3 on. Falling to 5, below stop = 6, ends marking: 5 is not marked
        // again, although it is above start; 6, not below either, is.
        assert_eq!(both_units(3, 6, &[8, 5, 8]), [3, 4, 5, 6, 7, 6, 7]);
        // A queue that turns below stop is still marked, until it falls below start.
        assert_eq!(both_units(3, 6, &[5, 3, 5, 0, 4]), [3, 4, 3, 4, 3]);
        // A fall below stop ends marking for all lengths below stop, until start is crossed again.
        assert_eq!(both_units(3, 6, &[7, 4, 6, 2, 4]), [3, 4, 5, 6, 3]);
    }

    #[test]
    fn a_higher_start_lags_as_a_schmitt_trigger() {
        // Rising: from 6. Falling to 4, above stop = 3: still marked. Falling to 2: not marked before 6 again.
        assert_eq!(both_units(6, 3, &[8, 4, 5, 2, 7]), [6, 7, 4, 6]);
    }

    #[test]
    fn equal_thresholds_are_one_threshold() {
        assert_eq!(both_units(4, 4, &[6, 2, 5, 3, 6]), [4, 5, 4, 4, 5]);
    }

    #[test]
    fn thresholds_in_different_units_work_together() {
        let mut queue = DoubleThreshold::between(Size::Packets(3), Size::Bytes(9000));
        assert_eq!(marked(&mut queue, &[8, 5, 8], 1500), [3, 4, 5, 6, 7, 6, 7]);
    }

    #[test]
    fn only_ecn_capable_packets_are_marked_unless_told_otherwise() {
        let mut queue = DoubleThreshold::between(Size::Packets(1), Size::Packets(1));
        let see = |queue: &mut DoubleThreshold| {
            let mut packet = Packet { size: 1500, ..Packet::default() };
            let mut cx = QueueCx {
                now: Time::ZERO,
                backlog: Backlog { packets: 5, bytes: 7500 },
                bands: &[],
                rate: Rate::from_bps(1),
                buffer: None,
                random: &mut Stream::named(1, "test"),
                node: &mut (),
                would_mark: false,
            };
            queue.on_enqueue(&mut cx, &mut packet);
            (cx.would_mark, packet.flags.has(Flags::CE))
        };
        see(&mut queue);
        assert_eq!(see(&mut queue), (true, false));
        queue.requires_ect = false;
        assert_eq!(see(&mut queue), (true, true));
    }
}

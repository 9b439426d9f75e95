//! Strict priority bands: a packet waits while any packet waits in a higher band.
//!
//! The band is the packet's priority, as set by the sender; the last band takes all lower priorities. Packets may be
//! marked at a threshold, per band or for the whole port.

use super::{MarkAt, QueueRow, Threshold};
use fanin_core::packet::Packet;
use fanin_core::roles::{Admission, QueueCx, QueueDiscipline};
use fanin_core::units::Size;
use fanin_param::{Kind, Param, Values};

pub(super) const BANDS: Param =
    Param::new("bands", Kind::Integer, "3", "Number of bands.", "PFDCT section 3.2: three").at_least(1.0).at_most(8.0);
pub(super) const THRESHOLD: Param =
    Param::new("threshold", Kind::Size, "0pkt", "Marking threshold; 0 marks none.", "off").per_tier();
pub(super) const SCOPE: Param = Param::new(
    "scope",
    Kind::Choice(&["port", "band"]),
    "port",
    "Whether the threshold applies to the queue of the port or of the packet's band.",
    "one egress queue, as drop-tail",
);

pub(super) const ROW: QueueRow = QueueRow {
    key: "strict-priority",
    summary: "Strict priority bands by the packet's priority, with an optional marking threshold.",
    params: &[BANDS, THRESHOLD, MarkAt::PARAM, SCOPE],
    build: |values| Box::new(built(values)),
};

/// The discipline of these values.
pub(super) fn built(values: &Values) -> StrictPriority {
    let at = MarkAt::chosen(values);
    let marking = match values.size("threshold") {
        Size::Packets(0) | Size::Bytes(0) => Threshold::never(),
        threshold => Threshold::at(threshold, at),
    };
    StrictPriority::new(values.integer("bands") as u8, marking, values.is("scope", "band"))
}

/// Strict priority with a marking threshold.
#[derive(Clone, Copy, Debug)]
pub struct StrictPriority {
    bands: u8,
    marking: Threshold,
    per_band: bool,
}

impl StrictPriority {
    /// `bands` bands; `marking` applies to the packet's own band if `per_band`, else to the whole port.
    pub fn new(bands: u8, marking: Threshold, per_band: bool) -> Self {
        Self { bands, marking, per_band }
    }

    fn narrow(self, cx: &mut QueueCx<'_>, packet: &Packet) {
        if self.per_band {
            cx.backlog = cx.bands[usize::from(self.band(packet))];
        }
    }

    fn band(self, packet: &Packet) -> u8 {
        packet.priority.min(self.bands - 1)
    }
}

impl QueueDiscipline for StrictPriority {
    fn bands(&self) -> u8 {
        // One band would be a FIFO whose departures are fixed on arrival; with two the port stays scheduled.
        self.bands.max(2)
    }
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        self.narrow(cx, packet);
        self.marking.on_enqueue(cx, packet);
        Admission::Enqueue(self.band(packet))
    }
    fn acts_on_dequeue(&self) -> bool {
        self.marking.acts_on_dequeue()
    }
    fn marks(&self) -> bool {
        self.marking.marks()
    }
    fn idle_below(&self) -> u32 {
        self.marking.idle_below()
    }
    fn keeps_nothing(&self) -> bool {
        true
    }
    fn on_dequeue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        if self.marking.acts_on_dequeue() {
            self.narrow(cx, packet);
            self.marking.on_dequeue(cx, packet);
        }
    }
}

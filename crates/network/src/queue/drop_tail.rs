//! First in, first out; packets that do not fit in the buffer are dropped.
//!
//! The buffer limit is the port's own (`network.buffer`). `would-mark` counts the packets that a threshold would have
//! marked, because some papers plot "marks" of transports without ECN.

use super::{MarkAt, QueueRow, Threshold};
use fanin_core::units::Size;
use fanin_param::{Kind, Param};

pub(super) const ROW: QueueRow = QueueRow {
    key: "drop-tail",
    summary: "First in, first out; arrivals beyond the buffer are dropped.",
    params: &[Param::new(
        "would-mark",
        Kind::Size,
        "0pkt",
        "Count arrivals that find at least this queue as packets above the marking threshold; 0: none.",
        "off: only some papers plot it",
    )
    .per_tier()],
    build: |values| match values.size("would-mark") {
        Size::Packets(0) | Size::Bytes(0) => super::drop_tail(),
        threshold => Box::new(Threshold { mark: false, ..Threshold::at(threshold, MarkAt::Enqueue) }),
    },
};

//! How a receiver of ns-3 echoes marks to DCTCP (`tcp-socket-base.cc`, `ForwardUp`, and `tcp-dctcp.cc`).
//!
//! By RFC 8257 section 3.2 a change of marks first acknowledges what waits. ns-3 notes the number for that ACK with every
//! ECN-capable segment before it takes it, and so sends the number before the segment that waits, which then waits for the
//! next one. Before the first such segment there is nothing to send, as with PFDCT's short flows, which are not ECN-capable.
//! It takes a segment for one that waits until another one is acknowledged for its number or for a gap. An ACK for old data, or
//! one by a timer or a change of marks, does not end that: the next change sends an ACK more.
//! A mark counts only beyond the last one that did, also on a retransmission. Any other ECN-capable segment counts as one
//! without a mark, also the last one before the next number. What ends below that does not count.

use super::{AckList, AckOut, Delivery, Receiver, ReceiverConfig, Segment};

impl Receiver {
    /// A segment that ends below the next number: its marks are not looked at, and its ACK has no echo.
    #[cold]
    pub(super) fn refuse_as_ns3(&mut self, cfg: &ReceiverConfig, out: &mut AckList) -> Delivery {
        let ack = self.take_ack(cfg);
        out.push(AckOut { ece: false, ..ack });
        Delivery { duplicate: true, ..Delivery::default() }
    }

    /// The effect of a segment's CE on ACKs, before the segment is taken.
    #[cold]
    pub(super) fn observe_marks_as_ns3(&mut self, seg: &Segment, cfg: &ReceiverConfig, out: &mut AckList) {
        if !seg.ect {
            return;
        }
        let number = seg.seq as u32;
        let ce = seg.ce && number.wrapping_sub(self.marked_at).cast_signed() > 0;
        if ce {
            self.marked_at = number;
        }
        if ce != self.ce && self.reserved && self.next_before != 0 {
            let before = self.next - u64::from((self.next as u32).wrapping_sub(self.next_before));
            let last = self.last_ack;
            let ack = self.take_ack(cfg);
            self.last_ack = before;
            out.push(AckOut { ack: before, duplicate: before == last, ..ack });
        }
        (self.ce, self.next_before) = (ce, self.next as u32);
    }
}

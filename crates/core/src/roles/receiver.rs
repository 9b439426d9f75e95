//! Receiver: what a receiving host knows of the flows that end there, and how it may control their windows and
//! acknowledgements.

use crate::ids::FlowId;
use crate::units::{Rate, Time};

/// The result of processing a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Payload bytes that are now in order: of this segment, and of earlier ones behind the hole it filled.
    pub new_in_order: u64,
    /// Payload bytes of this segment that had not arrived before.
    pub new_data: u64,
    /// It began beyond the next number expected.
    pub out_of_order: bool,
    /// It contained nothing new.
    pub duplicate: bool,
    /// It completed the stream, FIN included.
    pub finished: bool,
}

/// What a sender announces about a transfer at its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    /// Its size in bytes; none if it is endless or not announced.
    pub bytes: Option<u64>,
    /// When its data should have arrived, if it has a deadline.
    pub deadline: Option<Time>,
}

/// Bits of a size in [`Announcement::field`].
const SIZE_BITS: u32 = 40;
/// Unit of a deadline there.
const DEADLINE_UNIT: Time = Time::from_us(100);

impl Announcement {
    /// The announcement as the in-band field of a SYN; never zero. Sizes are capped at 1 TiB and deadlines at 28
    /// minutes. A deadline is rounded up to 100 us.
    pub fn field(&self) -> u64 {
        let most = (1 << SIZE_BITS) - 1;
        // 1 stands for an unknown size, and sizes begin at 2.
        let size = self.bytes.map_or(1, |bytes| bytes.saturating_add(2).min(most));
        let latest = u64::MAX >> SIZE_BITS;
        size | self.deadline.map_or(0, |at| at.ps().div_ceil(DEADLINE_UNIT.ps()).clamp(1, latest)) << SIZE_BITS
    }
    /// The announcement in a field.
    pub fn of(field: u64) -> Self {
        let (size, deadline) = (field & ((1 << SIZE_BITS) - 1), field >> SIZE_BITS);
        Self { bytes: size.checked_sub(2), deadline: (deadline > 0).then(|| DEADLINE_UNIT * deadline) }
    }
}

/// A data segment that a receiving host accepted.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// First sequence number.
    pub seq: u64,
    /// Payload in bytes.
    pub payload: u64,
    /// Congestion experienced.
    pub ce: bool,
    /// The segment carries a FIN.
    pub fin: bool,
    /// In-band field as it arrived.
    pub field: u64,
    /// The result of reassembly.
    pub delivery: Delivery,
    /// Next sequence number expected, after this segment.
    pub next: u64,
}

/// The kind of an acknowledgement that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// Answer to a SYN.
    SynAck,
    /// Acknowledges new data.
    Data,
    /// Repeats the last acknowledgement number.
    Duplicate,
}

/// Whether an acknowledgement is sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckDecision {
    /// It leaves now.
    Send,
    /// It waits. At most one waits per flow, and a newer one replaces it. Its number and window are those at the time
    /// of release.
    Hold,
}

/// A packet of the scheme, to the sender of a flow's data: neither a segment nor an acknowledgement. From the receiver it
/// takes the way of acknowledgements, from a switch a shortest path. It may be lost as any packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlPacket {
    /// What it is, as its scheme numbers them.
    pub kind: u8,
    /// Priority, 0 the highest.
    pub priority: u8,
    /// Bytes on the wire, headers included.
    pub size: u16,
    /// What it says.
    pub field: u64,
}

/// An action of a receiving host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverAction {
    /// Advertise at most `bytes` to the sender of `flow` from now on.
    Window {
        /// The flow.
        flow: FlowId,
        /// Its window in bytes.
        bytes: u64,
    },
    /// Send the acknowledgement of `flow` now: the held one, or else a new one. If the request to which `flow` responds
    /// is held, send that instead.
    Release {
        /// The flow.
        flow: FlowId,
        /// Set PSH: ask the sender to retransmit its first unacknowledged segment (RCC).
        push: bool,
    },
    /// Send a packet of the scheme's own to the sender of `flow`, which hears of it through
    /// [`CongestionControl::on_control`](super::CongestionControl::on_control). Without effect once the flow has finished.
    Control {
        /// The flow.
        flow: FlowId,
        /// The packet.
        packet: ControlPacket,
    },
    /// Write into the acknowledgements of `flow` what it says to its sender, as a count of marked bytes. The sender finds the
    /// field in [`AckEvent::field`](super::AckEvent::field).
    Acks {
        /// The flow.
        flow: FlowId,
        /// In-band field in place of the last segment's, until the next segment arrives.
        field: u64,
        /// Their priority from now on, 0 the highest.
        priority: u8,
    },
    /// Call back at `at` with `token`.
    Timer {
        /// When.
        at: Time,
        /// Passed back to the callback.
        token: u64,
    },
}

/// What a receiving host knows, and where it puts its actions.
#[derive(Debug)]
pub struct ReceiverCx<'a> {
    /// The clock.
    pub now: Time,
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Rate of the host's link.
    pub rate: Rate,
    /// The largest window that an acknowledgement can carry: the receive buffer, or less if 16 bits and the window
    /// scale hold less.
    pub most: u64,
    /// The actions, in order.
    pub actions: &'a mut Vec<ReceiverAction>,
}

/// Receiving host: one instance, which sees all flows that end there.
pub trait WindowControl: Send {
    /// A SYN arrived, or the first data of a transfer on an open connection. A retransmitted SYN calls this again.
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, announced: &Announcement);
    /// The host is about to send a request on a connection, after the last packet of the handshake if it has just
    /// opened it. The request triggers the response, which arrives as `flow`. If held, the packets leave with
    /// [`ReceiverAction::Release`]. Called only with `Scheme::follows_requests`.
    fn on_request(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId) -> AckDecision {
        AckDecision::Send
    }
    /// A data segment was accepted.
    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival);
    /// A segment of `flow` that begins at `seq` arrived, but a port has cut its payload. `field` is its in-band field.
    fn on_trimmed(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _seq: u64, _field: u64) {}
    /// A segment without data arrived: the last one of the handshake or of the connection.
    fn on_bare_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId) {}
    /// An acknowledgement is due.
    fn on_ack(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, kind: AckKind) -> AckDecision;
    /// A timer set earlier expired.
    fn on_timer(&mut self, _cx: &mut ReceiverCx<'_>, _token: u64) {}
    /// Whether it may still act on a flow. Until then a finished flow is kept.
    fn knows(&self, _flow: FlowId) -> bool {
        true
    }
    /// Names and values of the host's internal state, for probes.
    fn probes(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
    /// The same for one flow that ends there; the names must not depend on whether the flow is known.
    fn flow_probes(&self, _flow: FlowId, _show: &mut dyn FnMut(&'static str, f64)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_are_read_as_they_were_written() {
        for bytes in [None, Some(0), Some(1), Some(32 << 10), Some((1 << 40) - 4)] {
            for deadline in [None, Some(Time::from_us(100)), Some(Time::from_ms(20))] {
                let told = Announcement { bytes, deadline };
                assert_eq!(Announcement::of(told.field()), told);
                assert!(told.field() > 0);
            }
        }
        let beyond = Announcement { bytes: Some(u64::MAX), deadline: Some(Time::from_us(101)) };
        let read = Announcement { bytes: Some((1 << 40) - 3), deadline: Some(Time::from_us(200)) };
        assert_eq!(Announcement::of(beyond.field()), read);
        assert_eq!(Announcement::of(0), Announcement::default());
    }
}

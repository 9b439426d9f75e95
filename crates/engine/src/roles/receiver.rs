//! Receiver: what a receiving host sees of the flows that end there, and what it may do to their windows and
//! acknowledgements.

use crate::ids::FlowId;
use crate::tcp::receiver::Delivery;
use crate::units::{Rate, Time};

/// What a sender tells of a transfer when it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    /// Its size in bytes; none if it is endless or not announced.
    pub bytes: Option<u64>,
    /// When its data should have arrived, if it is in a hurry.
    pub deadline: Option<Time>,
}

/// Bits of a size in [`Announcement::field`].
const SIZE_BITS: u32 = 40;
/// Unit of a deadline there.
const DEADLINE_UNIT: Time = Time::from_us(100);

impl Announcement {
    /// As it travels in the field of a SYN; never zero. Sizes end at 1 TiB and deadlines after 28 minutes: what is beyond
    /// travels as the largest and the latest. A deadline is rounded up to 100 us.
    pub fn field(&self) -> u64 {
        let most = (1 << SIZE_BITS) - 1;
        // 1 stands for an unknown size, and sizes begin at 2.
        let size = self.bytes.map_or(1, |bytes| bytes.saturating_add(2).min(most));
        let latest = u64::MAX >> SIZE_BITS;
        size | self.deadline.map_or(0, |at| at.ps().div_ceil(DEADLINE_UNIT.ps()).clamp(1, latest)) << SIZE_BITS
    }
    /// What a field says.
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
    /// The stream ends with this segment.
    pub fin: bool,
    /// In-band field as it arrived.
    pub field: u64,
    /// What reassembly made of it.
    pub delivery: Delivery,
    /// Next sequence number expected, after this segment.
    pub next: u64,
}

/// Which acknowledgement wants to leave.
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
    /// It waits; at most one waits per flow, and a newer one takes its place. Number and window are those of
    /// the moment of release.
    Hold,
}

/// What a receiving host is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverAction {
    /// Advertise at most `bytes` to the sender of `flow` from now on.
    Window {
        /// The flow.
        flow: FlowId,
        /// Its window in bytes.
        bytes: u64,
    },
    /// Send the acknowledgement of `flow` now: the held one, or else a fresh one. Or the request that `flow` answers, if
    /// that is held.
    Release {
        /// The flow.
        flow: FlowId,
        /// Set PSH: ask the sender to retransmit its first unacknowledged segment (RCC).
        push: bool,
    },
    /// Call back at `at` with `token`.
    Timer {
        /// When.
        at: Time,
        /// Handed back.
        token: u64,
    },
}

/// Facts and levers of one receiving host.
#[derive(Debug)]
pub struct ReceiverCx<'a> {
    /// The clock.
    pub now: Time,
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Rate of the host's link.
    pub rate: Rate,
    /// The largest window that an acknowledgement can carry: the receive buffer, or what 16 bits and the scale hold.
    pub most: u64,
    /// What to do, in order.
    pub actions: &'a mut Vec<ReceiverAction>,
}

/// Receiving host: one instance, which sees all flows that end there.
pub trait WindowControl: Send {
    /// A SYN came, or the first data of a transfer on an open connection. A SYN that is sent again comes here again.
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, announced: &Announcement);
    /// The host has opened a connection, or has an open one, to ask for data on it: the last packet of the handshake and
    /// the request want to leave. They let out the first segment of the answer, which comes as `flow`. Those that are
    /// held leave with [`ReceiverAction::Release`]. Asked only if [`Scheme::follows_requests`](crate::schemes::Scheme).
    fn on_request(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId) -> AckDecision {
        AckDecision::Send
    }
    /// A data segment was accepted.
    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, arrival: &Arrival);
    /// A segment without data came: the last one of the handshake, or of the connection.
    fn on_bare_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId) {}
    /// An acknowledgement wants to leave.
    fn on_ack(&mut self, cx: &mut ReceiverCx<'_>, flow: FlowId, kind: AckKind) -> AckDecision;
    /// A timer set earlier expired.
    fn on_timer(&mut self, _cx: &mut ReceiverCx<'_>, _token: u64) {}
    /// Whether it may still act on a flow. One that is over is kept for as long.
    fn knows(&self, _flow: FlowId) -> bool {
        true
    }
    /// Names and values of the host's internal state worth plotting.
    fn probes(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
    /// The same of one flow that ends there; of one that it does not know, the same names.
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

//! A receiving interface: interrupts that hand over the packets of a while at once (`transport.interrupt-interval`), and
//! generic receive offload, which merges segments among them (`transport.gro`).
//!
//! The interval runs from interrupt to interrupt, as with the completion queues of current interfaces: after a pause a packet
//! is handed over when it arrives. All packets of an interrupt are processed at the same instant in the order in which they
//! arrived; acknowledgements are not merged, and the sender reacts to one after the other.
//!
//! Segments are merged as in Linux 6, `tcp_gro_receive` and `inet_gro_receive`: data of one flow without a gap, with the same
//! options and ECN field, equally long but for the last, and none behind one with CWR, FIN or PSH. What TCP sees then is one
//! segment with the stamp of the first. Simpler than Linux: stamps are not options that keep segments apart, as those of
//! Linux have a resolution of a millisecond.

use fanin_core::ids::NodeId;
use fanin_core::packet::{Flags, Packet};
use fanin_core::units::Time;

/// The interface of one host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interface {
    /// When the last interrupt was.
    last: Option<Time>,
    /// Packets that wait for the next one.
    waiting: Vec<Packet>,
}

/// The interfaces of all hosts, by node.
#[derive(Debug)]
pub struct Interfaces {
    nodes: Vec<Interface>,
}

/// What becomes of a packet that has reached a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// It interrupts the host at once.
    Interrupts,
    /// It waits for an interrupt: one that is pending, or else one at this time.
    Waits(Option<Time>),
}

impl Interfaces {
    /// Interfaces of so many nodes, without packets.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { nodes: vec![Interface::default(); nodes] }
    }

    /// A packet reaches a node, whose interrupts are at least `interval` apart.
    pub(crate) fn on_arrival(&mut self, node: NodeId, packet: &Packet, interval: Time, now: Time) -> Arrived {
        let interface = &mut self.nodes[node.index()];
        let next = interface.last.map_or(now, |last| last.saturating_add(interval).max(now));
        let pending = !interface.waiting.is_empty();
        if next == now && !pending {
            interface.last = Some(now);
            return Arrived::Interrupts;
        }
        interface.waiting.push(*packet);
        Arrived::Waits((!pending).then_some(next))
    }

    /// The packets for which a node is interrupted now.
    pub(crate) fn on_interrupt(&mut self, node: NodeId, now: Time) -> Vec<Packet> {
        let interface = &mut self.nodes[node.index()];
        interface.last = Some(now);
        std::mem::take(&mut interface.waiting)
    }

    /// The packets that wait, with their nodes.
    pub fn waiting(&self) -> impl Iterator<Item = (NodeId, &Packet)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.flat_map(|(node, interface)| interface.waiting.iter().map(move |packet| (NodeId::new(node), packet)))
    }
}

/// What an interrupt hands to TCP as one packet: one, or several segments merged.
pub struct Handed {
    /// As TCP sees it.
    pub packet: Packet,
    /// The packets that were merged, the first included; none if there is only that.
    pub parts: Vec<Packet>,
}

/// Bytes of a segment's payload.
fn payload(packet: &Packet, header: u16) -> u64 {
    u64::from(packet.size - header)
}

/// The bits that end a merged segment.
const LAST: Flags = Flags::FIN.with(Flags::PSH);

/// The bits that must be equal: all but the end of the stream or of a burst, CWR, which the first may have, and the mark of
/// retransmissions, which is not in the header.
fn compared(flags: Flags) -> Flags {
    flags.without(LAST.with(Flags::CWR).with(Flags::RETRANSMITTED))
}

impl Handed {
    pub(crate) fn one(packet: Packet) -> Self {
        Self { packet, parts: Vec::new() }
    }

    /// Merges `next` into this one, if it may follow; `most` bytes at most, headers included.
    pub(crate) fn merges(&mut self, next: &Packet, header: u16, most: u64) -> bool {
        let first = self.parts.first().unwrap_or(&self.packet);
        let full = payload(first, header);
        let size = u64::from(self.packet.size) + payload(next, header);
        let last = self.parts.last().unwrap_or(&self.packet);
        let follows = next.seq == self.packet.seq.wrapping_add(u32::from(self.packet.size - header));
        let same = compared(first.flags) == compared(next.flags)
            && (first.field, first.priority) == (next.field, next.priority);
        let lengths = payload(last, header) == full && (1..=full).contains(&payload(next, header));
        let ends = last.flags.has(LAST) || next.flags.has(Flags::CWR.with(Flags::SYN).with(Flags::ACK));
        if !(follows && same && lengths && !ends && size < most) {
            return false;
        }
        if self.parts.is_empty() {
            self.parts.push(self.packet);
        }
        self.parts.push(*next);
        self.packet.size = size as u16;
        self.packet.flags = self.packet.flags.with_if(Flags::FIN, next.flags.has(Flags::FIN));
        self.packet.flags = self.packet.flags.with_if(Flags::PSH, next.flags.has(Flags::PSH));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gro_merges_up_to_a_push() {
        let data = |n: u32, flags| Packet { seq: 1 + 100 * n, size: 140, flags, ..Packet::default() };
        let mut handed = Handed::one(data(0, Flags::NONE));
        assert!(handed.merges(&data(1, Flags::PSH), 40, 1000));
        assert!(handed.packet.flags.has(Flags::PSH), "which TCP sees");
        assert!(!handed.merges(&data(2, Flags::NONE), 40, 1000));
    }
}

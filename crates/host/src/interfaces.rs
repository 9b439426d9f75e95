//! A receiving interface: interrupts that hand over the packets of a while at once (`transport.interrupt-interval`), and
//! generic receive offload, which merges segments among them (`transport.gro`).
//!
//! The interval runs from interrupt to interrupt, as with the completion queues of current interfaces: after a pause a packet
//! is handed over when it arrives. All packets of an interrupt are processed at the same instant in the order in which they
//! arrived; acknowledgements are not merged, and the sender reacts to one after the other.
//!
//! Segments are merged as in Linux 6, `tcp_gro_receive` and `inet_gro_receive`: data of one flow without a gap, with the same
//! options and ECN field, equally long but for the last, and none behind one with CWR, FIN or PSH. What TCP sees then is one
//! segment with the stamp of the first. It reaches TCP when it is complete, before segments that wait for more of their flow
//! until the end of the interrupt (`napi_gro_flush`). Simpler than Linux: stamps are not options that keep segments apart, as
//! those of Linux have a resolution of a millisecond; and flows whose segments wait follow by their first one, not by a hash.

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
    fn one(packet: Packet) -> Self {
        Self { packet, parts: Vec::new() }
    }

    /// Whether nothing may follow: its last segment is pushed or ends the stream, or is shorter than the first.
    fn ends(&self, header: u16) -> bool {
        let first = self.parts.first().unwrap_or(&self.packet);
        let last = self.parts.last().unwrap_or(&self.packet);
        last.flags.has(LAST) || payload(last, header) < payload(first, header)
    }

    /// Merges `next` into this one, which does not end yet, if it may follow; `most` bytes at most, headers included.
    fn merges(&mut self, next: &Packet, header: u16, most: u64) -> bool {
        let first = self.parts.first().unwrap_or(&self.packet);
        let full = payload(first, header);
        let size = u64::from(self.packet.size) + payload(next, header);
        let follows = next.seq == self.packet.seq.wrapping_add(u32::from(self.packet.size - header));
        let same = compared(first.flags) == compared(next.flags)
            && (first.field, first.priority) == (next.field, next.priority);
        let fits = (1..=full).contains(&payload(next, header)) && size < most;
        let starts = next.flags.has(Flags::CWR.with(Flags::SYN).with(Flags::ACK));
        if !(follows && same && fits && !starts) {
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

/// What one interrupt has handed to GRO: `dev_gro_receive`.
pub(crate) struct Gro {
    /// In the order in which TCP sees it.
    complete: Vec<Handed>,
    /// At most one a flow, which the next segment may continue.
    waiting: Vec<Handed>,
    header: u16,
}

impl Gro {
    /// Before the first of so many packets.
    pub(crate) fn new(packets: usize, header: u16) -> Self {
        Self { complete: Vec::with_capacity(packets), waiting: Vec::new(), header }
    }

    /// Takes the next packet, which may be merged with others up to `most` bytes.
    pub(crate) fn receive(&mut self, packet: Packet, most: Option<u64>) {
        let Some(most) = most else { return self.complete.push(Handed::one(packet)) };
        if let Some(at) = self.waiting.iter().position(|waiting| waiting.packet.flow == packet.flow) {
            let waiting = &mut self.waiting[at];
            let merged = waiting.merges(&packet, self.header, most);
            if merged && !waiting.ends(self.header) {
                return;
            }
            self.complete.push(self.waiting.remove(at));
            if merged {
                return;
            }
        }
        let to = if packet.flags.has(LAST) { &mut self.complete } else { &mut self.waiting };
        to.push(Handed::one(packet));
    }

    /// The end of the interrupt: everything in the order in which TCP sees it.
    pub(crate) fn complete(mut self) -> Vec<Handed> {
        self.complete.append(&mut self.waiting);
        self.complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_core::ids::FlowId;

    const HEADER: u16 = 40;

    fn data(flow: usize, n: u32, flags: Flags) -> Packet {
        Packet { flow: FlowId::new(flow), seq: 1 + 100 * n, size: HEADER + 100, flags, ..Packet::default() }
    }

    /// Flow and payload of what TCP sees.
    fn seen(packets: &[Packet]) -> Vec<(FlowId, u64)> {
        let mut gro = Gro::new(packets.len(), HEADER);
        for packet in packets {
            gro.receive(*packet, Some(1000));
        }
        gro.complete().iter().map(|handed| (handed.packet.flow, payload(&handed.packet, HEADER))).collect()
    }

    #[test]
    fn gro_merges_up_to_a_push() {
        let burst = [data(0, 0, Flags::NONE), data(0, 1, Flags::PSH), data(0, 2, Flags::NONE)];
        assert_eq!(seen(&burst), [(FlowId::new(0), 200), (FlowId::new(0), 100)]);
        let mut gro = Gro::new(2, HEADER);
        for packet in &burst[..2] {
            gro.receive(*packet, Some(1000));
        }
        assert!(gro.complete()[0].packet.flags.has(Flags::PSH), "which TCP sees");
    }

    #[test]
    fn a_complete_burst_reaches_tcp_before_one_that_waits_for_more() {
        let packets =
            [data(0, 0, Flags::NONE), data(1, 0, Flags::NONE), data(1, 1, Flags::PSH), data(0, 1, Flags::NONE)];
        assert_eq!(seen(&packets), [(FlowId::new(1), 200), (FlowId::new(0), 200)]);
    }

    #[test]
    fn a_gap_ends_what_waits() {
        let packets = [data(0, 0, Flags::NONE), data(0, 2, Flags::NONE), data(0, 3, Flags::NONE)];
        assert_eq!(seen(&packets), [(FlowId::new(0), 100), (FlowId::new(0), 200)]);
    }
}

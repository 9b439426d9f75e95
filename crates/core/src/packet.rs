//! The packet: a plain value of 48 bytes that is copied from hop to hop.

use crate::ids::{FlowId, LinkId, NodeId};
use crate::roles::ControlPacket;
use crate::units::Time;

/// Header bits. The low byte is the TCP flag byte of RFC 9293 section 3.1; the ECN field of the IP header
/// (RFC 3168 section 5) and the simulator's own bits follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// No bit set: a data segment of a sender without ECN.
    pub const NONE: Self = Self(0);
    /// Last segment of the sequence space.
    pub const FIN: Self = Self(0x01);
    /// First segment of the sequence space.
    pub const SYN: Self = Self(0x02);
    /// Reset. No simulated host sends one; a switch that follows connections treats it as their end.
    pub const RST: Self = Self(0x04);
    /// Push; on a pure ACK, RCC's request to retransmit the first unacknowledged segment.
    pub const PSH: Self = Self(0x08);
    /// The sequence field is an acknowledgement number.
    pub const ACK: Self = Self(0x10);
    /// A [control packet](crate::roles::ControlPacket) of the scheme, with ACK, which says that it travels to the sender of
    /// the data. It is the bit of URG, which no host sets.
    pub const CONTROL: Self = Self(0x20);
    /// Without ACK the same bit: a port has cut the segment's payload, and a FIN with it. Its sequence number is left.
    pub const TRIMMED: Self = Self::CONTROL;
    /// ECN echo.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// ECN-capable transport.
    pub const ECT: Self = Self(0x100);
    /// Congestion experienced.
    pub const CE: Self = Self(0x200);
    /// The segment is a retransmission. Not a header bit: switches must not read it (they have to recognise
    /// retransmissions themselves); the sender's and the measures' bookkeeping does.
    pub const RETRANSMITTED: Self = Self(0x400);
    /// Of an ACK, the timestamp field is a handle of what travels with it besides: SACK blocks, the time in the remote host,
    /// telemetry. Of a segment, ports write telemetry into it, of which the in-band field becomes the handle.
    pub const OPTION: Self = Self(0x800);
    /// Position of the window scale; four bits are enough, as its maximum is 14.
    const SCALE: u32 = 12;

    /// Whether any bit of `other` is set.
    #[inline(always)]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// Both sets of bits.
    #[inline(always)]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// These bits without those of `other`.
    #[inline(always)]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// `other` if `condition` holds, else these bits alone.
    #[inline(always)]
    #[must_use]
    pub const fn with_if(self, other: Self, condition: bool) -> Self {
        if condition { self.with(other) } else { self }
    }
    /// With the window scale that a SYN or SYN-ACK announces, at most 14 (RFC 7323 section 2.2).
    #[inline(always)]
    #[must_use]
    pub const fn with_window_scale(self, shift: u8) -> Self {
        debug_assert!(shift <= 14 && self.window_scale() == 0);
        Self(self.0 | (shift as u16) << Self::SCALE)
    }
    /// The window scale that a SYN or SYN-ACK announces; zero elsewhere.
    #[inline(always)]
    pub const fn window_scale(self) -> u8 {
        (self.0 >> Self::SCALE) as u8
    }
    /// The bits of a TCP flag byte as it stands on the wire.
    pub const fn of_tcp_byte(byte: u8) -> Self {
        Self(byte as u16)
    }
    /// The TCP flag byte as it stands on the wire.
    pub const fn tcp_byte(self) -> u8 {
        self.0 as u8
    }
    /// The two-bit ECN field of the IP header: 00 not capable, 10 ECT(0), 11 congestion experienced.
    pub const fn ecn_field(self) -> u8 {
        if self.has(Self::CE) {
            0b11
        } else if self.has(Self::ECT) {
            0b10
        } else {
            0b00
        }
    }
}

/// A sender's clock reading in units of 1.024 ns, modulo 2^40 (1,126 s): what a packet carries to measure delay.
///
/// A packet in the lowest of strict bands may wait for as long as the others are busy, so seconds are not enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// Packed, so that it takes only five bytes of a packet.
#[repr(C, packed)]
pub struct Stamp {
    low: u32,
    high: u8,
}

impl Stamp {
    const SHIFT: u32 = 10;
    const MASK: u64 = (1 << 40) - 1;
    /// An older packet aborts the run, because its age would soon wrap around. Ages grow in steps that are much
    /// smaller than the remaining distance to 1,126 s.
    pub const OLDEST: Time = Time::from_secs(1_000);
    /// The stamp of an instant.
    #[inline(always)]
    pub const fn of(now: Time) -> Self {
        let units = now.ps() >> Self::SHIFT;
        Self { low: units as u32, high: (units >> 32) as u8 }
    }
    /// Time from this stamp to `now`; correct if less than 1,126 s have passed.
    #[inline(always)]
    pub const fn until(self, now: Time) -> Time {
        let sent = (self.high as u64) << 32 | self.low as u64;
        Time::from_ps(((now.ps() >> Self::SHIFT).wrapping_sub(sent) & Self::MASK) << Self::SHIFT)
    }
    /// Raw bits, which carry a handle where [`Flags::OPTION`] is set.
    pub const fn bits(self) -> u32 {
        self.low
    }
    /// A stamp field with these raw bits.
    pub const fn from_bits(bits: u32) -> Self {
        Self { low: bits, high: 0 }
    }
}

/// Marks the end of a path in the table of paths.
pub const END: u32 = u32::MAX;

/// The rest of a packet's path. The next link is read when the packet is sent, so that its arrival does not wait for the
/// table of paths, which is rarely in the cache where thousands of flows use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Onward {
    /// Index of the next link in the table.
    pub index: u32,
    /// That link, or [`END`].
    pub link: u32,
}

impl Onward {
    /// The next link, or none at the end of the path.
    #[inline(always)]
    pub fn link(self) -> Option<LinkId> {
        (self.link != END).then(|| LinkId::new(self.link as usize))
    }
}

/// One packet, as it stands in a port or on a link.
///
/// Sequence numbers are those of the wire: 32 bits, modulo 2^32, counting bytes; the SYN has number 0 and the
/// first data byte 1. End points unwrap them. A packet is either a segment of its flow (SYN, data, FIN:
/// `seq` is its first byte) or a pure acknowledgement for it (flag ACK: `seq` is the acknowledgement number).
/// A SYN with ACK is the receiver's reply in the handshake. A [control packet](crate::roles::ControlPacket) is neither:
/// `seq` is its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Packet {
    /// When it arrives at the far end of the link it is on, in picoseconds, or has arrived at its host. In a lossless switch, the
    /// link over which it came, [`Self::MADE_HERE`] if over none; meaningless in any other.
    pub arrival: u64,
    /// In-band field of the scheme in use (PFDCT's threshold, SAB's allocation, RCCE's tree label),
    /// or the handle of its telemetry, counted from 1.
    pub field: u64,
    /// The flow whose segment or acknowledgement this is.
    pub flow: FlowId,
    /// Sequence or acknowledgement number.
    pub seq: u32,
    /// The rest of its path.
    pub onward: Onward,
    /// When the segment was sent; on an ACK, the echo of the segment that caused it.
    pub stamp: Stamp,
    /// Priority, 0 the highest, as a code point in the IP header would carry it.
    pub priority: u8,
    /// The 16-bit window field; in a SYN unscaled, else to be shifted by the receiver's scale (RFC 7323 section 2.2).
    pub window: u16,
    /// Bytes on the wire, headers included.
    pub size: u16,
    /// Header bits.
    pub flags: Flags,
}

const _: () = assert!(std::mem::size_of::<Packet>() == 48);

impl Packet {
    /// In place of the link over which a packet came to a switch: the switch has made it.
    pub const MADE_HERE: u64 = u64::MAX;
    /// A packet of the scheme's own to the sender of `flow`, without its path.
    pub fn control(flow: FlowId, control: &ControlPacket, now: Time) -> Self {
        Self {
            arrival: Self::MADE_HERE,
            field: control.field,
            flow,
            seq: u32::from(control.kind),
            stamp: Stamp::of(now),
            size: control.size,
            flags: Flags::ACK.with(Flags::CONTROL),
            priority: control.priority,
            ..Self::default()
        }
    }
    /// In a lossless switch, the link over which it came.
    #[inline(always)]
    pub const fn came_over(&self) -> LinkId {
        LinkId::new(self.arrival as usize)
    }
    /// Whether this is a pure acknowledgement, a SYN-ACK or a control packet, travelling from the receiver of the data.
    #[inline(always)]
    pub const fn is_ack(&self) -> bool {
        self.flags.has(Flags::ACK)
    }
    /// Whether this is a control packet, of which [`Self::is_ack`] holds too.
    #[inline(always)]
    pub const fn is_control(&self) -> bool {
        self.flags.has(Flags::CONTROL) && self.is_ack()
    }
    /// Whether this is what is left of a segment.
    #[inline(always)]
    pub const fn is_trimmed(&self) -> bool {
        self.flags.has(Flags::TRIMMED) && !self.is_ack()
    }
}

/// What an edge writes into the in-band field of a flowcell's packets: the path, and the number of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTag {
    /// Label of the path, assigned by the controller.
    pub label: u32,
    /// Number of the flowcell in its flow, from 0.
    pub cell: u32,
}

impl CellTag {
    /// The field that carries it; never zero.
    pub const fn field(self) -> u64 {
        (self.label as u64) << 32 | (self.cell as u64 + 1)
    }
    /// The tag in a field; none if the packet was not tagged.
    pub const fn of(field: u64) -> Option<Self> {
        match (field as u32).checked_sub(1) {
            Some(cell) => Some(Self { label: (field >> 32) as u32, cell }),
            None => None,
        }
    }
}

/// Addresses and ports of a connection, as in its data segments; acknowledgements carry them reversed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses {
    /// IPv4 address of the sender of the data.
    pub src: [u8; 4],
    /// IPv4 address of its receiver.
    pub dst: [u8; 4],
    /// TCP port of the sender.
    pub src_port: u16,
    /// TCP port of the receiver.
    pub dst_port: u16,
}

impl Addresses {
    /// Those of the opposite direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { src: self.dst, dst: self.src, src_port: self.dst_port, dst_port: self.src_port }
    }
}

/// 10.0.0.0, where the addresses of nodes begin.
const NETWORK: u32 = 0x0a00_0000;

/// Address of a node: 10.0.0.0/8 plus its number.
pub fn address(node: NodeId) -> [u8; 4] {
    (NETWORK + node.index() as u32).to_be_bytes()
}

/// The node with an address.
pub fn node_at(address: [u8; 4]) -> NodeId {
    NodeId::new((u32::from_be_bytes(address) - NETWORK) as usize)
}

/// Extends a 32-bit wire sequence number to 64 bits: the value nearest to `near` that equals `wire` modulo 2^32.
#[inline(always)]
pub const fn unwrap_seq(wire: u32, near: u64) -> u64 {
    let delta = wire.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(delta as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_unwrap_to_the_nearest() {
        assert_eq!(unwrap_seq(5, 0), 5);
        assert_eq!(unwrap_seq(5, (1 << 32) - 10), (1 << 32) + 5);
        assert_eq!(unwrap_seq(u32::MAX, 1 << 32), (1 << 32) - 1);
    }

    #[test]
    fn tags_are_read_as_they_were_written() {
        let tag = CellTag { label: 7, cell: 0 };
        assert_eq!(CellTag::of(tag.field()), Some(tag));
        assert_eq!(CellTag::of(0), None);
    }

    #[test]
    fn stamps_measure_across_their_wrap() {
        // At the wrap-around of the lower 32 bits, and at that of all 64.
        for wrap in [1 << 42, 1 << 50] {
            let sent = Time::from_ps(wrap - 1024);
            for age in [Time::from_us(200), Time::from_secs(5), Stamp::OLDEST] {
                let measured = Stamp::of(sent).until(sent + age);
                let grain = Time::from_ps(1024);
                assert!(age >= measured.saturating_sub(grain) && measured <= age + grain, "{age}: {measured}");
            }
        }
    }
}

//! In-band network telemetry (INT): what the ports on the way of a packet write into it, and its receiver sends back.

use crate::ids::NodeId;
use crate::units::{Rate, Time};

/// What one port says as it begins to send the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// When.
    pub at: Time,
    /// Bytes of the packets before it that the port has sent since the beginning.
    pub sent: u64,
    /// Bytes that wait behind it.
    pub queued: u64,
    /// Rate of the link.
    pub rate: Rate,
}

/// The stack in one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Telemetry {
    hops: [Hop; Self::HOPS],
    len: u8,
    path: u16,
}

impl Telemetry {
    /// Ports for which packets have room; those beyond write nothing.
    pub const HOPS: usize = 5;
    /// Bytes that it takes in every packet: eight for each hop, and two for their number and the path.
    pub const BYTES: u64 = 8 * Self::HOPS as u64 + 2;

    /// A port of `switch` adds what it says, if there is room.
    pub fn push(&mut self, switch: NodeId, hop: Hop) {
        if let Some(room) = self.hops.get_mut(usize::from(self.len)) {
            *room = hop;
            self.len += 1;
            self.path ^= switch.index() as u16 & 0xfff;
        }
    }

    /// The hops in the order of the path.
    pub fn hops(&self) -> &[Hop] {
        &self.hops[..usize::from(self.len)]
    }

    /// What distinguishes the path from others: the numbers of its switches, added without carry in 12 bits.
    pub const fn path(&self) -> u16 {
        self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_holds_five_hops_in_42_bytes() {
        let mut stack = Telemetry::default();
        for switch in 1..=6 {
            stack.push(NodeId::new(switch), Hop { sent: switch as u64, ..Hop::default() });
        }
        let sent: Vec<u64> = stack.hops().iter().map(|hop| hop.sent).collect();
        assert_eq!((sent, Telemetry::BYTES), (vec![1, 2, 3, 4, 5], 42));
        assert_eq!(stack.path(), (1..=5).fold(0, |path, switch| path ^ switch), "the sixth switch has no room");
    }
}

//! Interrupts of hosts: what waits for one, and what one hands over.

use crate::hosts::Hosts;
use crate::interfaces::{Arrived, Handed};
use fanin_core::ids::NodeId;
use fanin_core::packet::Packet;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_net::network::Network;

impl Hosts {
    /// Whether a packet that has arrived at its end waits for an interrupt there.
    #[inline(never)]
    pub fn waits_for_interrupt<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) -> bool {
        let (Some(interfaces), Some(flow)) = (&mut self.interfaces, self.flows.get(packet.flow)) else { return false };
        let interval = self.endpoints[flow.wire.endpoint as usize].interrupts;
        if interval == Time::ZERO {
            return false;
        }
        let node = if packet.is_ack() { flow.wire.from } else { flow.wire.to };
        let arrived = interfaces.on_arrival(node, packet, interval, net.now());
        if let Arrived::Waits(Some(at)) = arrived {
            net.core.schedule(at, Class::Interrupt, node.index());
        }
        arrived != Arrived::Interrupts
    }

    /// An interrupt of a node: what it hands over, in order.
    pub fn on_interrupt(&mut self, node: NodeId, now: Time, header: u16) -> Vec<Handed> {
        let packets = self.interfaces.as_mut().map_or_else(Vec::new, |interfaces| interfaces.on_interrupt(node, now));
        let mut handed: Vec<Handed> = Vec::with_capacity(packets.len());
        for packet in packets {
            if !self.merges_into(&mut handed, &packet, header) {
                handed.push(Handed::one(packet));
            }
        }
        handed
    }

    /// Merges a segment into the last one of its flow, if it may.
    fn merges_into(&self, handed: &mut [Handed], packet: &Packet, header: u16) -> bool {
        // Flowcells are put in order before anything is merged.
        let Some(flow) = self.flows.get(packet.flow).filter(|_| !self.resequences && !packet.is_ack()) else {
            return false;
        };
        let most = self.endpoints[flow.wire.endpoint as usize].gro;
        let last = handed.iter_mut().rev().find(|handed| handed.packet.flow == packet.flow);
        most > 0 && last.is_some_and(|last| last.merges(packet, header, most))
    }
}

//! Interrupts of hosts: what waits for one, and what one hands over.

use crate::hosts::Hosts;
use crate::interfaces::{Arrived, Gro, Handed};
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
        let mut gro = Gro::new(packets.len(), header);
        for packet in packets {
            gro.receive(packet, self.largest_merged(&packet));
        }
        gro.complete()
    }

    /// Bytes that segments are merged up to, headers included; none if they are not.
    fn largest_merged(&self, packet: &Packet) -> Option<u64> {
        // Flowcells are put in order before anything is merged.
        let flow = self.flows.get(packet.flow).filter(|_| !self.resequences && !packet.is_ack())?;
        let most = self.endpoints[flow.wire.endpoint as usize].gro;
        (most > 0).then_some(most)
    }
}

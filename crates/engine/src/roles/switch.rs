//! Switch: what an agent sees of the packets that pass, and what it may do to them.

use super::{Announcement, Backlog};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::packet::{Addresses, Packet};
use crate::units::{Rate, Time};
use std::any::Any;

/// Where a packet passes a switch.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Link on which it came.
    pub from: LinkId,
    /// Link on which it is about to leave.
    pub to: LinkId,
    /// What is in the port of `to`; nothing, if the agent does not look ([`SwitchAgent::needs_backlog`]).
    pub backlog: Backlog,
    /// Bytes that the port may hold: its own buffer, or all of a memory that ports share.
    pub buffer: u64,
    /// Rate of `to`.
    pub rate: Rate,
}

/// What a switch does with a packet after its agent saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// On to the egress port.
    Forward,
    /// Out of another port, and on by a shortest path to its host.
    Reroute(LinkId),
    /// Lost.
    Drop,
    /// Kept by the agent, which may send it on later through [`SwitchAction::Inject`].
    Keep,
}

/// What a switch is told to do.
#[derive(Clone, Debug)]
pub enum SwitchAction {
    /// Send a message to the controller.
    Report(Vec<u8>),
    /// Put a packet kept earlier into the port of `to`, by way of [`SwitchAgent::on_inject`].
    Inject {
        /// The packet, as it was kept.
        packet: Packet,
        /// Egress.
        to: LinkId,
    },
    /// Lose a packet kept earlier.
    Discard {
        /// The packet, as it was kept.
        packet: Packet,
        /// Egress that it was kept from.
        to: LinkId,
    },
    /// Call back at `at` with `token`.
    Timer {
        /// When.
        at: Time,
        /// Handed back.
        token: u64,
    },
}

/// One port of a switch: both directions of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchPort {
    /// Link on which packets come in.
    pub from: LinkId,
    /// Link on which they leave.
    pub to: LinkId,
    /// Rate of `to`.
    pub rate: Rate,
    /// An end host is at the other end, as the configuration of an edge port tells (IEEE 802.1Q, adminEdge).
    pub host: bool,
    /// What is at the other end, as neighbour discovery tells (IEEE 802.1AB).
    pub peer: NodeId,
}

/// What a switch reads of a packet's headers beyond [`Packet`]: addresses and ports, which the handle stands for.
pub trait AddressBook {
    /// Addresses and ports of a flow, in the direction of its data.
    fn addresses(&self, flow: FlowId) -> Addresses;
    /// The flow that answers the request which `flow` carries: the other direction of its connection, with the same
    /// addresses the other way round. Told for schemes that follow requests
    /// ([`Scheme::follows_requests`](crate::schemes::Scheme)).
    fn answer(&self, _flow: FlowId) -> Option<FlowId> {
        None
    }
    /// What the transport header of a flow's data says of the transfer that it carries, as RCC writes it into every header.
    fn announced(&self, _flow: FlowId) -> Announcement {
        Announcement::default()
    }
    /// The flow whose handshake opened this one's connection, in the other direction, if it has none of its own: that of
    /// the request which it answers.
    fn asked_on(&self, _flow: FlowId) -> Option<FlowId> {
        None
    }
    /// Addresses and ports of a flow's connection, in the direction of the SYN.
    fn opener(&self, flow: FlowId) -> Addresses {
        self.addresses(flow)
    }
}

/// Nobody's: for tests of agents that do not ask.
#[cfg(test)]
impl AddressBook for () {
    fn addresses(&self, _flow: FlowId) -> Addresses {
        Addresses::default()
    }
}

/// Facts and levers of one switch.
pub struct SwitchCx<'a> {
    /// The clock.
    pub now: Time,
    /// The switch.
    pub switch: NodeId,
    /// State that the roles of one scheme share on this switch.
    pub node: &'a mut dyn Any,
    /// The headers of the packets that pass.
    pub book: &'a dyn AddressBook,
    /// What to do, in order.
    pub actions: &'a mut Vec<SwitchAction>,
}

/// Switch: one instance, which sees every packet that passes, in both directions.
pub trait SwitchAgent: Send {
    /// Whether [`Passage::backlog`] is looked at; a switch whose agent does not is followed less closely, and faster.
    fn needs_backlog(&self) -> bool {
        true
    }
    /// The run begins, on a switch with these ports.
    fn on_start(&mut self, _cx: &mut SwitchCx<'_>, _ports: &[SwitchPort]) {}
    /// A packet is about to enter an egress port. May rewrite its window, priority, ECN bits and field.
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass;
    /// A packet of [`SwitchAction::Inject`] is about to enter the port of `to`, which holds `backlog` and is of `rate`.
    fn on_inject(&mut self, _cx: &mut SwitchCx<'_>, _packet: &Packet, _to: LinkId, _backlog: Backlog, _rate: Rate) {}
    /// A port can send no more, or can again: its cable failed, or was repaired.
    fn on_port(&mut self, _cx: &mut SwitchCx<'_>, _to: LinkId, _up: bool) {}
    /// A message from the controller arrived.
    fn on_message(&mut self, _cx: &mut SwitchCx<'_>, _message: &[u8]) {}
    /// A timer set earlier expired.
    fn on_timer(&mut self, _cx: &mut SwitchCx<'_>, _token: u64) {}
    /// Names and values of internal state worth plotting.
    fn probes(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

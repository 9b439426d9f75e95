//! Switch: what an agent sees of passing packets, and what it may do with them.

use super::{Announcement, Backlog, ControlPacket};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::packet::{Addresses, Packet};
use crate::units::{Rate, Time};
use std::any::Any;

/// The passage of a packet through a switch.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Link on which it arrived.
    pub from: LinkId,
    /// Link on which it is about to leave.
    pub to: LinkId,
    /// Backlog of the port of `to`; zero if the agent does not need it ([`SwitchAgent::needs_backlog`]).
    pub backlog: Backlog,
    /// Bytes that the port may hold: its own buffer, or all of the shared memory.
    pub buffer: u64,
    /// Rate of `to`.
    pub rate: Rate,
}

/// What a switch does with a packet that its agent has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Forward it to the egress port.
    Forward,
    /// Send it out of another port, and on to its host by a shortest path.
    Reroute(LinkId),
    /// Drop it.
    Drop,
    /// The agent holds it, and may send it later through [`SwitchAction::Inject`].
    Keep,
}

/// An action of a switch.
#[derive(Clone, Debug)]
pub enum SwitchAction {
    /// Send a message to the controller.
    Report(Vec<u8>),
    /// Send a held packet to the port of `to`, after [`SwitchAgent::on_inject`].
    Inject {
        /// The packet, as it was held.
        packet: Packet,
        /// Egress.
        to: LinkId,
    },
    /// Drop a held packet.
    Discard {
        /// The packet, as it was held.
        packet: Packet,
        /// Egress link for which it was held.
        to: LinkId,
    },
    /// Send a packet of the scheme's own to the sender of `flow` by a shortest path, as
    /// [`ReceiverAction::Control`](super::ReceiverAction::Control) does from the receiver. The agent does not see it leave.
    /// Without effect once the flow has finished.
    Control {
        /// The flow.
        flow: FlowId,
        /// The packet.
        packet: ControlPacket,
    },
    /// Call back at `at` with `token`.
    Timer {
        /// When.
        at: Time,
        /// Passed back to the callback.
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
    /// Whether an end host is at the other end, as configured for an edge port (IEEE 802.1Q, adminEdge).
    pub host: bool,
    /// The node at the other end, as found by neighbour discovery (IEEE 802.1AB).
    pub peer: NodeId,
}

/// Header fields of a packet that [`Packet`] lacks: addresses and ports, by flow handle.
pub trait AddressBook {
    /// Addresses and ports of a flow, in the direction of its data.
    fn addresses(&self, flow: FlowId) -> Addresses;
    /// The flow of the response to the request that `flow` carries: the other direction of its connection, with
    /// addresses and ports swapped. Known for schemes that follow requests
    /// (`Scheme::follows_requests`).
    fn response(&self, _flow: FlowId) -> Option<FlowId> {
        None
    }
    /// The announcement in the transport header of a flow's data, as RCC writes it into every header.
    fn announced(&self, _flow: FlowId) -> Announcement {
        Announcement::default()
    }
    /// The flow of the request to which `flow` responds, in the other direction, if the request's handshake opened the
    /// connection.
    fn asked_on(&self, _flow: FlowId) -> Option<FlowId> {
        None
    }
    /// Addresses and ports of a flow's connection, in the direction of the SYN.
    fn opener(&self, flow: FlowId) -> Addresses {
        self.addresses(flow)
    }
}

/// Without addresses, for tests of agents that do not read them.
#[cfg(feature = "testing")]
impl AddressBook for () {
    fn addresses(&self, _flow: FlowId) -> Addresses {
        Addresses::default()
    }
}

/// What a switch agent knows, and where it puts its actions.
pub struct SwitchCx<'a> {
    /// The clock.
    pub now: Time,
    /// The switch.
    pub switch: NodeId,
    /// State that the roles of one scheme share on this switch.
    pub node: &'a mut dyn Any,
    /// The headers of passing packets.
    pub book: &'a dyn AddressBook,
    /// The actions, in order.
    pub actions: &'a mut Vec<SwitchAction>,
}

/// Switch: one instance, which sees every packet that passes, in both directions.
pub trait SwitchAgent: Send {
    /// Whether the agent reads [`Passage::backlog`]; a switch whose agent does not is simulated faster.
    fn needs_backlog(&self) -> bool {
        true
    }
    /// The run begins, on a switch with these ports.
    fn on_start(&mut self, _cx: &mut SwitchCx<'_>, _ports: &[SwitchPort]) {}
    /// A packet is about to enter an egress port. May rewrite its window, priority, ECN bits and field.
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass;
    /// A packet of [`SwitchAction::Inject`] is about to enter the port of `to`, which holds `backlog` and has the rate
    /// `rate`.
    fn on_inject(&mut self, _cx: &mut SwitchCx<'_>, _packet: &Packet, _to: LinkId, _backlog: Backlog, _rate: Rate) {}
    /// A port went down or came up again: its cable failed or was repaired.
    fn on_port(&mut self, _cx: &mut SwitchCx<'_>, _to: LinkId, _up: bool) {}
    /// A message from the controller arrived.
    fn on_message(&mut self, _cx: &mut SwitchCx<'_>, _message: &[u8]) {}
    /// A timer set earlier expired.
    fn on_timer(&mut self, _cx: &mut SwitchCx<'_>, _token: u64) {}
    /// Names and values of internal state worth plotting.
    fn probes(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

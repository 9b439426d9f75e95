//! The receiving host's scheduler: the events that it sees, its decisions on acknowledgements, and its actions.

use crate::flow::{Flow, Grant, HeldAck, HeldRequest};
use crate::hosts::Hosts;
use fanin_core::ids::{FlowId, NodeId};
use fanin_core::packet::Packet;
use fanin_core::roles::{AckDecision, AckKind, Announcement, Arrival, ReceiverAction, ReceiverCx, WindowControl};
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_net::network::Network;
use fanin_tcp::receiver::AckOut;

impl Hosts {
    /// Whether schedulers control the flows that end at a host.
    #[inline(always)]
    pub(super) fn has_scheduler(&self, host: NodeId) -> bool {
        self.has_schedulers && self.by_node[host.index()].as_ref().is_some_and(|host| !host.windows.is_empty())
    }

    /// Whether the scheduler of the host `to` controls a flow that ends there. The server's scheduler ignores a request
    /// that the client's scheduler may hold: otherwise each could wait for the other.
    #[inline(always)]
    fn is_scheduled(&self, id: FlowId, to: NodeId) -> bool {
        self.has_scheduler(to) && self.flows[id].dialogue.response.is_none()
    }

    /// The host whose scheduler acts for `host`: itself, unless the hosts at a switch share one.
    #[inline(always)]
    fn keeper(&self, host: NodeId, scheme: usize) -> NodeId {
        let keepers = self.by_node[host.index()].as_ref().map(|host| &host.keepers[..]);
        keepers.and_then(|keepers| keepers.get(scheme).copied()).unwrap_or(host)
    }

    /// Whether the scheduler of the host where a flow ends may still control it.
    pub(super) fn is_known(&self, flow: FlowId) -> bool {
        let scheme = self.endpoint(flow).scheme;
        let host = self.by_node[self.keeper(self.flows[flow].wire.to, scheme).index()].as_ref();
        let window = host.and_then(|host| host.windows.get(scheme)?.as_ref());
        window.is_some_and(|window| window.knows(flow))
    }

    /// Tells a host's scheduler of a segment, after the transfer that it begins, if it begins one.
    fn tell_scheduler<C: EventCore>(
        &mut self,
        id: FlowId,
        to: NodeId,
        net: &mut Network<C>,
        tell: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>),
    ) {
        let flow = &mut self.flows[id];
        if std::mem::take(&mut flow.receiver.unannounced) {
            let announced = flow.announced();
            self.ask(to, id, net, |window, cx| window.on_open(cx, id, &announced));
        }
        self.ask(to, id, net, tell);
    }

    /// Shows what is left of a segment to its host's scheduler. To TCP it is lost.
    #[inline(never)]
    pub(super) fn on_trimmed<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) {
        let (id, field, flow) = (packet.flow, packet.field, &self.flows[packet.flow]);
        let (to, seq) = (flow.wire.to, flow.receiver.state.unwrap(packet.seq));
        if self.is_scheduled(id, to) {
            self.tell_scheduler(id, to, net, |window, cx| window.on_trimmed(cx, id, seq, field));
        }
    }

    /// Shows the last segment of a handshake or of a connection to its host's scheduler.
    #[inline(never)]
    pub(super) fn on_bare_ack<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) {
        let flow = &mut self.flows[id];
        flow.time_handshake(net.now());
        let to = flow.wire.to;
        if self.has_scheduler(to) {
            self.ask(to, id, net, |window, cx| window.on_bare_ack(cx, id));
        }
    }

    /// Answers a SYN with a SYN-ACK, unless the host's scheduler holds it.
    pub(super) fn answer_syn<C: EventCore>(
        &mut self,
        id: FlowId,
        to: NodeId,
        announced: &Announcement,
        net: &mut Network<C>,
    ) {
        if !self.is_scheduled(id, to) {
            return self.send_syn_ack(id, net);
        }
        self.ask(to, id, net, |window, cx| window.on_open(cx, id, announced));
        if self.ack_decision(to, id, AckKind::SynAck, net) == AckDecision::Hold {
            // RFC 9293 s3.10.7.4: a SYN on an open connection is answered with an acknowledgement. A held one of data
            // serves for that, and still echoes its marks.
            self.flows[id].receiver.held.get_or_insert(HeldAck { syn: true, ece: false });
        } else {
            self.send_syn_ack(id, net);
        }
        self.run_actions(to, self.endpoint(id).scheme, net);
    }

    /// Sends an acknowledgement, or holds it if the host's scheduler decides so.
    pub(super) fn acknowledge<C: EventCore>(&mut self, id: FlowId, ack: AckOut, net: &mut Network<C>) {
        let to = self.flows[id].wire.to;
        if !self.is_scheduled(id, to) {
            return self.send_ack(id, ack, false, net);
        }
        let kind = if ack.duplicate { AckKind::Duplicate } else { AckKind::Data };
        let decision = self.ack_decision(to, id, kind, net);
        let held = &mut self.flows[id].receiver.held;
        if decision == AckDecision::Hold {
            // One acknowledgement replaces all held ones and echoes their marks.
            let ece = ack.ece || held.is_some_and(|held| held.ece);
            *held = Some(HeldAck { syn: false, ece });
        } else {
            // A newer acknowledgement replaces a held one.
            *held = None;
            self.write_into_acks();
            self.send_ack(id, ack, false, net);
        }
        self.run_actions(to, self.endpoint(id).scheme, net);
    }

    /// Lets the scheduler of a client decide on its request. What it holds is kept until it is released.
    pub(super) fn turn_of<C: EventCore>(
        &mut self,
        request: FlowId,
        response: FlowId,
        held: HeldRequest,
        net: &mut Network<C>,
    ) -> bool {
        let (client, scheme) = (self.flows[request].wire.from, self.endpoint(request).scheme);
        let asked = self.call(client, scheme, Some(response), net, |window, cx| window.on_request(cx, response));
        let holds = asked == Some(AckDecision::Hold);
        if holds {
            self.flows[request].dialogue.held = Some(held);
        }
        self.run_actions(client, scheme, net);
        holds
    }

    /// Shows a segment to the scheduler of its host, if that acts on the flow, and acknowledges it.
    pub(super) fn show_and_acknowledge<C: EventCore>(
        &mut self,
        id: FlowId,
        to: NodeId,
        arrival: &Arrival,
        net: &mut Network<C>,
    ) {
        if self.is_scheduled(id, to) {
            self.tell_scheduler(id, to, net, |window, cx| window.on_data(cx, id, arrival));
        }
        for i in 0..self.acks.as_slice().len() {
            self.acknowledge(id, self.acks.as_slice()[i], net);
        }
    }

    fn ask<C: EventCore>(
        &mut self,
        node: NodeId,
        flow: FlowId,
        net: &mut Network<C>,
        ask: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>),
    ) {
        let scheme = self.endpoint(flow).scheme;
        self.call(node, scheme, Some(flow), net, |window, cx| ask(window, cx));
        self.run_actions(node, scheme, net);
    }

    fn ack_decision<C: EventCore>(&mut self, node: NodeId, id: FlowId, kind: AckKind, net: &Network<C>) -> AckDecision {
        let ask = |window: &mut dyn WindowControl, cx: &mut ReceiverCx<'_>| window.on_ack(cx, id, kind);
        self.call(node, self.endpoint(id).scheme, Some(id), net, ask).unwrap_or(AckDecision::Send)
    }

    /// Calls a host's scheduler because of a flow or a timer.
    fn call<C: EventCore, R>(
        &mut self,
        node: NodeId,
        scheme: usize,
        flow: Option<FlowId>,
        net: &Network<C>,
        call: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>) -> R,
    ) -> Option<R> {
        let node = self.keeper(node, scheme);
        let host = self.by_node[node.index()].as_mut()?;
        let window = host.windows.get_mut(scheme)?.as_mut()?;
        // Buffer, scale and segment size are those of `[transport]`, the same for all groups.
        let endpoint = &self.endpoints[0];
        let now = net.now();
        let mut cx = ReceiverCx {
            now,
            mss: endpoint.sender.mss,
            rate: net.rates[host.uplink.index()],
            most: endpoint.buffer.min(u64::from(u16::MAX) << endpoint.scale),
            actions: &mut self.actions,
        };
        let result = call(&mut **window, &mut cx);
        if self.probes.of_hosts() {
            let probed = flow.filter(|flow| self.flows[*flow].probed);
            self.probes.record_host(node, probed, now, &**window);
        }
        Some(result)
    }

    fn run_actions<C: EventCore>(&mut self, node: NodeId, scheme: usize, net: &mut Network<C>) {
        if self.actions.is_empty() {
            return;
        }
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                ReceiverAction::Window { flow, bytes } => self.grant(flow, bytes),
                ReceiverAction::Release { flow, push } => self.send_held(flow, push, net),
                ReceiverAction::Acks { flow, field, priority } => self.write(flow, field, priority),
                ReceiverAction::Control { flow, packet } => self.send_control(flow, packet, net),
                ReceiverAction::Timer { at, token } => {
                    let slot = self.timers.put((node, scheme, token));
                    net.core.schedule(at.max(net.now()), Class::Host, slot);
                }
            }
        }
        self.actions = actions;
    }

    /// Writes what a scheduler has asked for into the acknowledgement on which it has just decided.
    fn write_into_acks(&mut self) {
        for at in 0..self.actions.len() {
            if let ReceiverAction::Acks { flow, field, priority } = self.actions[at] {
                self.write(flow, field, priority);
            }
        }
    }

    /// Writes into the acknowledgements of a flow. The flow may have finished; then it has no effect.
    fn write(&mut self, flow: FlowId, field: u64, priority: u8) {
        if let Some(Flow { receiver, .. }) = self.flows.get_mut(flow) {
            (receiver.field, receiver.priority) = (field, priority);
        }
    }

    /// Sets the window that a flow's receiver advertises. The flow may have finished; then it has no effect.
    fn grant(&mut self, flow: FlowId, bytes: u64) {
        if let Some(flow) = self.flows.get_mut(flow) {
            let buffer = self.endpoints[flow.wire.endpoint as usize].buffer;
            flow.receiver.granted = Grant::of(bytes, buffer, flow.wire.scale);
        }
    }

    /// Sends the held acknowledgement of a flow, or a new one, with the current acknowledgement number and window.
    fn send_held<C: EventCore>(&mut self, id: FlowId, push: bool, net: &mut Network<C>) {
        let flow = &self.flows[id];
        if let Some(request) = flow.dialogue.request
            && let Some(held) = self.flows.get_mut(request).and_then(|request| request.dialogue.held.take())
        {
            return self.send_request(request, held, net);
        }
        let flow = &mut self.flows[id];
        let held = flow.receiver.held.take();
        if held.is_some_and(|held| held.syn) {
            return self.send_syn_ack(id, net);
        }
        let cfg = &self.endpoints[flow.wire.endpoint as usize].receiver;
        let mut ack = flow.receiver.state.take_ack(cfg);
        ack.ece |= held.is_some_and(|held| held.ece);
        self.send_ack(id, ack, push, net);
    }

    pub fn on_host_timer<C: EventCore>(&mut self, slot: usize, net: &mut Network<C>) {
        if let Some((node, scheme, token)) = self.timers.take(slot) {
            self.call(node, scheme, None, net, |window, cx| window.on_timer(cx, token));
            self.run_actions(node, scheme, net);
        }
    }
}

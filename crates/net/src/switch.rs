//! Switch agents: each packet that passes a switch is shown to its agent, whose actions are then carried out.

use crate::control::Control;
use crate::network::Network;
use fanin_core::ids::{FlowId, LinkId, NodeId};
use fanin_core::packet::{Flags, Packet, node_at};
use fanin_core::roles::{
    AddressBook, Backlog, ControlPacket, DropReason, Pass, Passage, SwitchAction, SwitchAgent, SwitchCx,
};
use fanin_event::EventCore;
use fanin_measure::probes::Recorder;

/// The switches' agents, and the control plane that they report to.
pub struct Switches {
    /// By node.
    agents: Vec<Option<Box<dyn SwitchAgent>>>,
    /// Whether any switch has an agent, or is lossless.
    pub any: bool,
    /// The scheme of the agents, by index among the schemes in use.
    pub scheme: usize,
    /// The controller and its channel.
    pub control: Control,
    /// Probes: values that agents report, if requested.
    pub probes: Option<Recorder>,
    /// Packets that an agent changed.
    pub rewritten: u64,
    /// Scratch space for the actions caused by one packet.
    actions: Vec<SwitchAction>,
}

impl Switches {
    /// Switches with these agents, by node; `lossless` if they have flow control.
    pub fn new(
        agents: Vec<Option<Box<dyn SwitchAgent>>>,
        scheme: usize,
        control: Control,
        probes: Option<Recorder>,
        lossless: bool,
    ) -> Self {
        let any = lossless || agents.iter().any(Option::is_some);
        Self { agents, any, scheme, control, probes, rewritten: 0, actions: Vec::new() }
    }

    /// Switches start before the controller, in node order.
    pub fn start<C: EventCore>(&mut self, net: &mut Network<C>, book: &dyn AddressBook) {
        for switch in (0..self.agents.len()).map(NodeId::new) {
            if self.agents[switch.index()].is_some() {
                let ports = net.topology.ports(switch);
                self.ask(switch, net, book, |agent, cx| agent.on_start(cx, &ports));
            }
        }
        self.control.start(net);
    }

    /// A packet is about to leave a switch on link `to`.
    pub fn forward<C: EventCore>(
        &mut self,
        [from, to]: [LinkId; 2],
        mut packet: Packet,
        net: &mut Network<C>,
        book: &dyn AddressBook,
    ) {
        let switch = net.topology.links[to.index()].from;
        packet.arrival = from.index() as u64;
        let Some(agent) = self.agents[switch.index()].as_mut() else { return net.core.send(to, &packet) };
        let (now, rate) = (net.now(), net.rates[to.index()]);
        let backlog = if agent.needs_backlog() { net.core.backlog(to) } else { Backlog::default() };
        let passage = Passage { from, to, backlog, buffer: net.buffers[to.index()], rate };
        let mut cx = SwitchCx { now, switch, node: net.core.node(switch), book, actions: &mut self.actions };
        let arrived = packet;
        let pass = agent.on_packet(&mut cx, &mut packet, &passage);
        self.rewritten += u64::from(packet != arrived);
        let marked = |packet: &Packet| packet.flags.has(Flags::CE);
        if pass != Pass::Drop && marked(&packet) && !marked(&arrived) {
            net.core.books().on_mark(to, &packet, now);
        }
        if let Some(probes) = &mut self.probes {
            probes.note(switch.index(), now, |show| agent.probes(show));
        }
        match pass {
            Pass::Forward => net.core.send(to, &packet),
            Pass::Reroute(link) => {
                packet.onward = net.paths.detour(packet.onward, link, &net.topology);
                net.core.send(link, &packet);
            }
            Pass::Drop => net.core.discard(to, &packet, DropReason::Agent),
            Pass::Keep => net.core.books().on_keep(switch, &packet),
        }
        self.run_actions(switch, net, book);
    }

    /// Ports of switches failed or were repaired.
    pub fn on_ports<C: EventCore>(&mut self, ports: &[(LinkId, bool)], net: &mut Network<C>, book: &dyn AddressBook) {
        for (to, up) in ports {
            let switch = net.topology.links[to.index()].from;
            self.ask(switch, net, book, |agent, cx| agent.on_port(cx, *to, *up));
        }
    }

    /// A switch's timer expires.
    pub fn on_timer<C: EventCore>(&mut self, slot: usize, net: &mut Network<C>, book: &dyn AddressBook) {
        if let Some((switch, token)) = self.control.take_timer(slot) {
            self.ask(switch, net, book, |agent, cx| agent.on_timer(cx, token));
        }
    }

    /// A message on the control channel has reached the end of a leg.
    pub fn on_message<C: EventCore>(&mut self, number: usize, net: &mut Network<C>, book: &dyn AddressBook) {
        if let Some((switch, order)) = self.control.on_message(number, net) {
            self.ask(switch, net, book, |agent, cx| agent.on_message(cx, &order));
        }
    }

    fn ask<C: EventCore>(
        &mut self,
        switch: NodeId,
        net: &mut Network<C>,
        book: &dyn AddressBook,
        ask: impl FnOnce(&mut dyn SwitchAgent, &mut SwitchCx<'_>),
    ) {
        let Some(agent) = self.agents[switch.index()].as_mut() else { return };
        let now = net.now();
        let mut cx = SwitchCx { now, switch, node: net.core.node(switch), book, actions: &mut self.actions };
        ask(&mut **agent, &mut cx);
        if let Some(probes) = &mut self.probes {
            probes.note(switch.index(), now, |show| agent.probes(show));
        }
        self.run_actions(switch, net, book);
    }

    fn run_actions<C: EventCore>(&mut self, switch: NodeId, net: &mut Network<C>, book: &dyn AddressBook) {
        if self.actions.is_empty() {
            return;
        }
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                SwitchAction::Report(message) => self.control.report(switch, message, net),
                SwitchAction::Inject { packet, to } => {
                    let (backlog, rate) = (net.core.backlog(to), net.rates[to.index()]);
                    self.ask(switch, net, book, |agent, cx| agent.on_inject(cx, &packet, to, backlog, rate));
                    net.core.books().on_let_go(switch, &packet);
                    net.core.send(to, &packet);
                }
                SwitchAction::Discard { packet, to } => {
                    net.core.books().on_let_go(switch, &packet);
                    net.core.discard(to, &packet, DropReason::Agent);
                }
                SwitchAction::Control { flow, packet } => send_control(switch, flow, packet, net, book),
                SwitchAction::Timer { at, token } => self.control.wake_switch(switch, at, token, net),
            }
        }
        self.actions = actions;
    }
}

/// A switch sends a packet of the scheme's own to the sender of a flow, which may have finished.
fn send_control<C: EventCore>(
    switch: NodeId,
    flow: FlowId,
    control: ControlPacket,
    net: &mut Network<C>,
    book: &dyn AddressBook,
) {
    if net.core.books().flows.get(flow).is_none() {
        return;
    }
    let to = node_at(book.addresses(flow).src);
    let (link, onward) = net.paths.begin_at(flow, switch, to, &net.topology);
    let packet = Packet { onward, ..Packet::control(flow, &control, net.now()) };
    net.core.books().on_make(switch, &packet);
    net.core.send(link, &packet);
}

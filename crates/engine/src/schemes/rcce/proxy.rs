//! RCCE's scheduler in the last switch: the agent holds acknowledgements and sets windows for the hosts behind it.
//!
//! It sees packets only: sizes in SYNs, marks in data and those that its own ports set. It cannot make an acknowledgement
//! that the host has not sent, so it asks for nothing again.

use super::edge::{Edge, EdgeState, RETRY};
use crate::ids::{FlowId, LinkId};
use crate::packet::{Flags, Packet};
use crate::roles::{
    AckKind, AckVerdict, Announcement, Arrival, Pass, Passage, ReceiverAction, ReceiverCx, SwitchAction, SwitchAgent,
    SwitchCx, SwitchPort, WindowControl,
};
use crate::schemes::NodeFacts;
use crate::tcp::EcnMode;
use crate::tcp::receiver::{AckList, Receiver, ReceiverConfig, Segment};
use crate::units::{Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// How reassembly goes here; nothing is acknowledged.
const REASSEMBLY: ReceiverConfig =
    ReceiverConfig { ack_every: 1, ack_delay: Time::ZERO, sack: false, ecn: EcnMode::Off, quick_acks: 0 };

/// Makes the scheduler of a host.
type Make = Box<dyn Fn(&NodeFacts) -> Box<dyn WindowControl> + Send>;

/// A port with a host behind it.
struct Line {
    rate: Rate,
    window: Box<dyn WindowControl>,
    /// Data in the port, in the order in which it leaves.
    leaving: VecDeque<Packet>,
}

/// A connection to a host behind the switch.
struct Connection {
    /// The port of its host.
    line: LinkId,
    state: Receiver,
    /// Window that the scheduler grants, in bytes.
    granted: u64,
    /// Shift of its windows, from the SYN-ACK.
    scale: u8,
    /// The acknowledgement that waits, and where it goes.
    held: Option<(Packet, LinkId)>,
}

/// Bits of a timer's token that name the port; what is above is 0 for a packet that leaves, else one more than the
/// scheduler's own token.
const LINK_BITS: u32 = 24;

/// The agent of a switch.
pub(super) struct Proxy {
    edge: Option<Edge>,
    facts: NodeFacts,
    /// Packets count when they come rather than when they leave.
    on_arrival: bool,
    make: Make,
    /// By the link to the host.
    lines: BTreeMap<LinkId, Line>,
    /// The link to the host by that from it.
    hosts: BTreeMap<LinkId, LinkId>,
    flows: BTreeMap<FlowId, Connection>,
}

impl Proxy {
    /// An agent that runs one of the schedulers that `make` makes for each host, and `edge` besides.
    pub(super) fn new(
        facts: &NodeFacts,
        edge: Option<Edge>,
        on_arrival: bool,
        make: impl Fn(&NodeFacts) -> Box<dyn WindowControl> + Send + 'static,
    ) -> Self {
        let (lines, hosts, flows) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { edge, facts: *facts, on_arrival, make: Box::new(make), lines, hosts, flows }
    }

    /// Lets a host's scheduler act.
    fn ask<R>(
        &mut self,
        cx: &mut SwitchCx<'_>,
        link: LinkId,
        ask: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>) -> R,
    ) -> Option<(R, Vec<ReceiverAction>)> {
        let line = self.lines.get_mut(&link)?;
        let mut actions = Vec::new();
        let (mss, most) = (self.facts.mss, u64::from(u16::MAX) << 14);
        let mut receiver = ReceiverCx { now: cx.now, mss, rate: line.rate, most, actions: &mut actions };
        Some((ask(&mut *line.window, &mut receiver), actions))
    }

    fn act(&mut self, cx: &mut SwitchCx<'_>, line: LinkId, actions: Vec<ReceiverAction>) {
        for action in actions {
            match action {
                ReceiverAction::Window { flow, bytes } => {
                    if let Some(connection) = self.flows.get_mut(&flow) {
                        connection.granted = bytes;
                    }
                }
                ReceiverAction::Release { flow, .. } => {
                    let Some(connection) = self.flows.get_mut(&flow) else { continue };
                    if let Some((mut packet, to)) = connection.held.take() {
                        connection.limit(&mut packet);
                        cx.actions.push(SwitchAction::Inject { packet, to });
                    }
                }
                ReceiverAction::Timer { at, token } => {
                    let token = (token + 1) << LINK_BITS | line.index() as u64;
                    cx.actions.push(SwitchAction::Timer { at, token });
                }
            }
        }
    }

    /// A SYN or data on its way to a host.
    fn on_segment(&mut self, cx: &mut SwitchCx<'_>, packet: &Packet, passage: &Passage) {
        let (id, line) = (packet.flow, passage.to);
        if packet.flags.has(Flags::SYN) {
            let new = || Connection { line, state: Receiver::new(), granted: u64::MAX, scale: 0, held: None };
            self.flows.entry(id).or_insert_with(new);
            let told = Announcement::of(packet.field);
            // A segment that counts when it comes is marked after that.
            if let Some(state) = cx.node.downcast_mut::<EdgeState>().filter(|_| !self.on_arrival) {
                state.marked.entry(id).or_default();
            }
            if let Some(((), actions)) = self.ask(cx, line, |window, cx| window.on_open(cx, id, &told)) {
                self.act(cx, line, actions);
            }
        } else if passage.backlog.bytes + u64::from(packet.size) <= passage.buffer {
            if self.on_arrival {
                return self.count(cx, packet);
            }
            let Some(port) = self.lines.get_mut(&line) else { return };
            port.leaving.push_back(*packet);
            let before = passage.backlog.bytes + u64::from(packet.size);
            let takes = Time::from_ps(before * u64::from(passage.rate.ps_per_byte().unwrap_or(0)));
            cx.actions.push(SwitchAction::Timer { at: cx.now + takes, token: line.index() as u64 });
        }
    }

    /// A segment has left for its host.
    fn count(&mut self, cx: &mut SwitchCx<'_>, packet: &Packet) {
        let id = packet.flow;
        let Some(connection) = self.flows.get_mut(&id) else { return };
        let payload = (u64::from(packet.size) + self.facts.mss).saturating_sub(self.facts.packet);
        let fin = packet.flags.has(Flags::FIN);
        if payload == 0 && !fin {
            return;
        }
        let seq = connection.state.unwrap(packet.seq);
        let segment = Segment { seq, len: payload, fin, ..Segment::default() };
        let delivery = connection.state.on_segment(&segment, cx.now, &REASSEMBLY, &mut AckList::new());
        let (next, line) = (connection.state.next(), connection.line);
        let noted = cx.node.downcast_mut::<EdgeState>().and_then(|state| state.marked.get_mut(&id));
        let ce = noted.is_some_and(|marked| marked.remove(&packet.seq)) || packet.flags.has(Flags::CE);
        let arrival = Arrival { seq, payload, ce, fin, field: packet.field, delivery, next };
        if let Some(((), actions)) = self.ask(cx, line, |window, cx| window.on_data(cx, id, &arrival)) {
            self.act(cx, line, actions);
        }
    }

    /// An acknowledgement on its way from a host.
    fn on_ack(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        let id = packet.flow;
        let Some(connection) = self.flows.get_mut(&id) else { return Pass::Forward };
        let kind = if packet.flags.has(Flags::SYN) {
            connection.scale = packet.flags.window_scale();
            AckKind::SynAck
        } else {
            AckKind::Data
        };
        let line = connection.line;
        let Some((verdict, actions)) = self.ask(cx, line, |window, cx| window.on_ack(cx, id, kind)) else {
            return Pass::Forward;
        };
        let pass = match self.flows.get_mut(&id) {
            Some(connection) if verdict == AckVerdict::Hold => {
                if let Some((packet, to)) = connection.held.replace((*packet, passage.to)) {
                    // The newer one says all that it said.
                    cx.actions.push(SwitchAction::Discard { packet, to });
                }
                Pass::Keep
            }
            Some(connection) => {
                if let Some((packet, to)) = connection.held.take() {
                    cx.actions.push(SwitchAction::Discard { packet, to });
                }
                connection.limit(packet);
                Pass::Forward
            }
            None => Pass::Forward,
        };
        self.act(cx, line, actions);
        if packet.flags.has(Flags::FIN) && pass == Pass::Forward {
            self.flows.remove(&id);
            if let Some(state) = cx.node.downcast_mut::<EdgeState>() {
                state.marked.remove(&id);
            }
        }
        pass
    }
}

impl Connection {
    /// Writes the granted window into an acknowledgement that allows more.
    fn limit(&self, packet: &mut Packet) {
        // RFC 7323 s2.2: the window of a SYN is never scaled. Rounded up, so that whole segments stay whole.
        let shift = if packet.flags.has(Flags::SYN) { 0 } else { self.scale };
        let window = self.granted.div_ceil(1 << shift).min(u64::from(packet.window));
        packet.window = window as u16;
    }
}

impl SwitchAgent for Proxy {
    fn on_start(&mut self, cx: &mut SwitchCx<'_>, ports: &[SwitchPort]) {
        for port in ports.iter().filter(|port| port.host) {
            let window = (self.make)(&NodeFacts { rate: port.rate, ..self.facts });
            self.lines.insert(port.to, Line { rate: port.rate, window, leaving: VecDeque::new() });
            self.hosts.insert(port.from, port.to);
        }
        if let Some(edge) = &mut self.edge {
            edge.on_start(cx, ports);
        }
    }

    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if let Some(edge) = &mut self.edge {
            edge.on_packet(cx, packet, passage);
        }
        if packet.is_ack() {
            let from_host = self.hosts.contains_key(&passage.from);
            return if from_host { self.on_ack(cx, packet, passage) } else { Pass::Forward };
        }
        if self.lines.contains_key(&passage.to) {
            self.on_segment(cx, packet, passage);
        }
        Pass::Forward
    }

    fn on_message(&mut self, cx: &mut SwitchCx<'_>, message: &[u8]) {
        if let Some(edge) = &mut self.edge {
            edge.on_message(cx, message);
        }
    }

    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, token: u64) {
        if token == RETRY {
            if let Some(edge) = &mut self.edge {
                edge.on_timer(cx, token);
            }
            return;
        }
        let line = LinkId::new((token & ((1 << LINK_BITS) - 1)) as usize);
        if let Some(token) = (token >> LINK_BITS).checked_sub(1) {
            if let Some(((), actions)) = self.ask(cx, line, |window, cx| window.on_timer(cx, token)) {
                self.act(cx, line, actions);
            }
            return;
        }
        let left = self.lines.get_mut(&line).and_then(|line| line.leaving.pop_front());
        if let Some(packet) = left {
            self.count(cx, &packet);
        }
    }

    /// What the schedulers show, summed over the hosts behind the switch.
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let mut sums: Vec<(&'static str, f64)> = Vec::new();
        // A scheduler of no host has the names, if there is none to ask.
        (self.make)(&self.facts).probes(&mut |name, value| sums.push((name, value)));
        for line in self.lines.values() {
            let mut at = 0;
            line.window.probes(&mut |_, value| {
                sums[at].1 += value;
                at += 1;
            });
        }
        for (name, value) in sums {
            show(name, value);
        }
    }
}

//! RCCE's scheduler in the last switch: the agent holds acknowledgements and requests, and sets windows, for the hosts
//! behind the switch.
//!
//! It knows only what packets show: sizes from SYNs or from the header of a response's data, marks on data, and the
//! marks that its own ports set. It cannot create acknowledgements, so it requests no retransmissions.

use super::asked::Asked;
use super::edge::{Edge, RETRY};
use super::lines::{Connection, Line, REASSEMBLY, Scheduler, incoming};
use super::state::EdgeState;
use crate::NodeFacts;
use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{
    AckDecision, AckKind, Announcement, Arrival, Pass, Passage, ReceiverAction, ReceiverCx, SwitchAction, SwitchAgent,
    SwitchCx, SwitchPort, WindowControl,
};
use fanin_core::units::Time;
use fanin_tcp::receiver::{AckList, Segment};
use std::collections::{BTreeMap, VecDeque};

/// Creates a scheduler.
type Make = Box<dyn Fn(&NodeFacts) -> Box<dyn WindowControl> + Send>;

/// Number of low bits of a timer's token that hold the link or the scheduler. The bits above are 0 for a departing
/// packet, otherwise the scheduler's own token plus one.
const LINK_BITS: u32 = 24;

/// The agent of a switch.
pub(super) struct Proxy {
    edge: Option<Edge>,
    facts: NodeFacts,
    /// Segments count as received on arrival at the switch rather than on departure.
    on_arrival: bool,
    /// One scheduler serves all hosts.
    central: bool,
    make: Make,
    schedulers: Vec<Scheduler>,
    /// The ports to hosts, by link.
    lines: BTreeMap<LinkId, Line>,
    /// The link to each host, by the link from it.
    hosts: BTreeMap<LinkId, LinkId>,
    flows: BTreeMap<FlowId, Connection>,
}

/// How a proxy's schedulers work.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProxyRules {
    /// Segments count as received on arrival at the switch, before its queue.
    pub(super) on_arrival: bool,
    /// One scheduler serves all hosts behind the switch.
    pub(super) central: bool,
}

impl Proxy {
    /// An agent with schedulers from `make`, and with `edge`, if any.
    pub(super) fn new(
        facts: &NodeFacts,
        edge: Option<Edge>,
        rules: ProxyRules,
        make: impl Fn(&NodeFacts) -> Box<dyn WindowControl> + Send + 'static,
    ) -> Self {
        let ProxyRules { on_arrival, central } = rules;
        let (lines, hosts, flows) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (make, schedulers) = (Box::new(make), Vec::new());
        Self { edge, facts: *facts, on_arrival, central, make, schedulers, lines, hosts, flows }
    }

    /// Calls the scheduler of a host.
    fn ask<R>(
        &mut self,
        cx: &mut SwitchCx<'_>,
        line: LinkId,
        ask: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>) -> R,
    ) -> Option<R> {
        let scheduler = self.lines.get(&line)?.scheduler;
        Some(self.ask_scheduler(cx, scheduler, ask))
    }

    fn ask_scheduler<R>(
        &mut self,
        cx: &mut SwitchCx<'_>,
        number: usize,
        ask: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>) -> R,
    ) -> R {
        let mut actions = Vec::new();
        let (mss, most) = (self.facts.mss, u64::from(u16::MAX) << 14);
        let scheduler = &mut self.schedulers[number];
        let mut receiver = ReceiverCx { now: cx.now, mss, rate: scheduler.rate, most, actions: &mut actions };
        let result = ask(&mut *scheduler.window, &mut receiver);
        self.act(cx, number, actions);
        result
    }

    fn act(&mut self, cx: &mut SwitchCx<'_>, scheduler: usize, actions: Vec<ReceiverAction>) {
        for action in actions {
            match action {
                ReceiverAction::Window { flow, bytes } => {
                    if let Some(connection) = self.flows.get_mut(&flow) {
                        connection.granted = bytes;
                    }
                }
                ReceiverAction::Release { flow, .. } => {
                    let Some(connection) = self.flows.get_mut(&flow) else { continue };
                    if let Some(asked) = &mut connection.asked {
                        let waiting = asked.release().into_iter();
                        cx.actions.extend(waiting.map(|(packet, to)| SwitchAction::Inject { packet, to }));
                    }
                    if let Some((mut packet, to)) = connection.held.take() {
                        connection.limit(&mut packet);
                        cx.actions.push(SwitchAction::Inject { packet, to });
                    }
                }
                // RCC's scheduler has none.
                ReceiverAction::Acks { .. } | ReceiverAction::Control { .. } => {}
                ReceiverAction::Timer { at, token } => {
                    let token = (token + 1) << LINK_BITS | scheduler as u64;
                    cx.actions.push(SwitchAction::Timer { at, token });
                }
            }
        }
    }

    /// A packet of a request from a host behind the switch. It is held until the scheduler admits the response.
    fn on_request(&mut self, cx: &mut SwitchCx<'_>, response: FlowId, packet: &Packet, passage: &Passage) -> Pass {
        let Some(line) = self.hosts.get(&passage.from).copied() else { return Pass::Forward };
        let connection = self.flows.entry(response).or_insert_with(|| Connection::new(line));
        if packet.flags.has(Flags::SYN) {
            connection.scale = packet.flags.window_scale();
            connection.asked.get_or_insert_with(Asked::default);
            if let Some(state) = cx.node.downcast_mut::<EdgeState>().filter(|_| !self.on_arrival) {
                state.marked.entry(response).or_default();
            }
            return Pass::Forward;
        }
        let Some(asked) = &mut connection.asked else { return Pass::Forward };
        let first = !std::mem::replace(&mut asked.asked, true);
        if first {
            asked.waiting = Some(Vec::new());
        }
        let pass = asked.keep(*packet, passage.to);
        if first
            && let Some(AckDecision::Send) = self.ask(cx, line, |window, cx| window.on_request(cx, response))
            && let Some(asked) = self.flows.get_mut(&response).and_then(|connection| connection.asked.as_mut())
        {
            // It need not wait, and only this packet was held.
            asked.waiting = None;
            return Pass::Forward;
        }
        pass
    }

    /// A SYN or data to a host. Requests are not counted, because the switch of their client may hold them.
    fn on_segment(&mut self, cx: &mut SwitchCx<'_>, packet: &Packet, passage: &Passage) {
        let (id, to) = (packet.flow, passage.to);
        if packet.flags.has(Flags::SYN) {
            self.flows.entry(id).or_insert_with(|| Connection::new(to));
            let told = Announcement::of(packet.field);
            // A segment that counts on arrival is marked only later.
            if let Some(state) = cx.node.downcast_mut::<EdgeState>().filter(|_| !self.on_arrival) {
                state.marked.entry(id).or_default();
            }
            self.ask(cx, to, |window, cx| window.on_open(cx, id, &told));
            return;
        }
        let Some(line) = self.lines.get_mut(&to) else { return };
        let before = passage.backlog.bytes + u64::from(packet.size);
        if before > passage.buffer {
            return;
        }
        if self.on_arrival {
            return self.count(cx, packet);
        }
        line.leaving.push_back(*packet);
        let takes = Time::from_ps(before * u64::from(passage.rate.ps_per_byte().unwrap_or(0)));
        cx.actions.push(SwitchAction::Timer { at: cx.now + takes, token: to.index() as u64 });
    }

    /// A segment has left the switch for its host.
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
        let begins = connection.asked.take().is_some();
        let noted = cx.node.downcast_mut::<EdgeState>().and_then(|state| state.marked.get_mut(&id));
        let ce = noted.is_some_and(|marked| marked.remove(&packet.seq)) || packet.flags.has(Flags::CE);
        let arrival = Arrival { seq, payload, ce, fin, field: packet.field, delivery, next };
        let told = cx.book.announced(id);
        self.ask(cx, line, |window, cx| {
            if begins {
                window.on_open(cx, id, &told);
            }
            window.on_data(cx, id, &arrival);
        });
    }

    /// An acknowledgement from a host.
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
        let mut actions = Vec::new();
        let Some(decision) = self.decision(cx, line, id, kind, &mut actions) else { return Pass::Forward };
        let pass = match self.flows.get_mut(&id) {
            Some(connection) if decision == AckDecision::Hold => {
                if let Some((packet, to)) = connection.held.replace((*packet, passage.to)) {
                    // The newer acknowledgement supersedes it.
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
        let scheduler = self.lines[&line].scheduler;
        self.act(cx, scheduler, actions);
        if packet.flags.has(Flags::FIN) && pass == Pass::Forward {
            self.flows.remove(&id);
            if let Some(state) = cx.node.downcast_mut::<EdgeState>() {
                state.marked.remove(&id);
            }
        }
        pass
    }

    /// The scheduler's decision on an acknowledgement, and the actions that follow after it.
    fn decision(
        &mut self,
        cx: &SwitchCx<'_>,
        line: LinkId,
        id: FlowId,
        kind: AckKind,
        actions: &mut Vec<ReceiverAction>,
    ) -> Option<AckDecision> {
        let (mss, most) = (self.facts.mss, u64::from(u16::MAX) << 14);
        let scheduler = &mut self.schedulers[self.lines.get(&line)?.scheduler];
        let mut receiver = ReceiverCx { now: cx.now, mss, rate: scheduler.rate, most, actions };
        Some(scheduler.window.on_ack(&mut receiver, id, kind))
    }
}

impl SwitchAgent for Proxy {
    fn on_start(&mut self, cx: &mut SwitchCx<'_>, ports: &[SwitchPort]) {
        let make = |rate| Scheduler { rate, window: (self.make)(&NodeFacts { rate, ..self.facts }) };
        if self.central && ports.iter().any(|port| port.host) {
            self.schedulers.push(make(incoming(ports)));
        }
        for port in ports.iter().filter(|port| port.host) {
            if !self.central {
                self.schedulers.push(make(port.rate));
            }
            let scheduler = self.schedulers.len() - 1;
            self.lines.insert(port.to, Line { scheduler, leaving: VecDeque::new() });
            self.hosts.insert(port.from, port.to);
        }
        if let Some(edge) = &mut self.edge {
            edge.on_start(cx, ports);
        }
    }

    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        let by_tree = self.edge.as_mut().map_or(Pass::Forward, |edge| edge.on_packet(cx, packet, passage));
        if packet.is_ack() {
            let from_host = self.hosts.contains_key(&passage.from);
            return if from_host { self.on_ack(cx, packet, passage) } else { Pass::Forward };
        }
        let mut pass = Pass::Forward;
        if let Some(response) = cx.book.response(packet.flow) {
            pass = self.on_request(cx, response, packet, passage);
        } else if self.lines.contains_key(&passage.to) {
            self.on_segment(cx, packet, passage);
        }
        // Held packets leave on the ECMP path.
        if pass == Pass::Forward { by_tree } else { pass }
    }

    fn on_port(&mut self, cx: &mut SwitchCx<'_>, to: LinkId, up: bool) {
        if let Some(edge) = &mut self.edge {
            edge.on_port(cx, to, up);
        }
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
        let number = (token & ((1 << LINK_BITS) - 1)) as usize;
        if let Some(token) = (token >> LINK_BITS).checked_sub(1) {
            return self.ask_scheduler(cx, number, |window, cx| window.on_timer(cx, token));
        }
        let left = self.lines.get_mut(&LinkId::new(number)).and_then(|line| line.leaving.pop_front());
        if let Some(packet) = left {
            self.count(cx, &packet);
        }
    }

    /// The sum of the schedulers' probes.
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let mut sums: Vec<(&'static str, f64)> = Vec::new();
        // Without a scheduler, a new one provides the names.
        (self.make)(&self.facts).probes(&mut |name, value| sums.push((name, value)));
        for scheduler in &self.schedulers {
            let mut at = 0;
            scheduler.window.probes(&mut |_, value| {
                sums[at].1 += value;
                at += 1;
            });
        }
        for (name, value) in sums {
            show(name, value);
        }
    }
}

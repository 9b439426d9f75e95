//! RCCE's edge: an agent on every switch, and the choice of ways for the hosts behind it.

use super::Spreading;
use super::message::{Label, Message, Port};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::packet::{Flags, Packet};
use crate::roles::{
    Ecmp, Pass, Passage, PathCx, PathRequest, PathSelector, SwitchAction, SwitchAgent, SwitchCx, SwitchPort,
};
use crate::units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// What the controller has told a switch.
#[derive(Debug, Default)]
pub(super) struct EdgeState {
    labels: Vec<Label>,
    /// How often labels came.
    version: u32,
    /// Links to hosts with too many connections.
    crowded: BTreeSet<LinkId>,
    /// Data of watched connections that ports here have marked, by sequence number.
    pub(super) marked: BTreeMap<FlowId, BTreeSet<u32>>,
}

/// The agent of a switch: tells its ports, counts connections, and keeps what the controller says.
pub(super) struct Edge {
    /// Flows on a link above which it is crowded; none does not count.
    above: Option<u64>,
    /// How long to wait for the controller's answer at first, and now.
    retry: Time,
    wait: Time,
    /// A timer is on its way.
    timed: bool,
    /// The report of the ports.
    ports: Vec<u8>,
    /// Connections on each link to a host.
    flows: BTreeMap<LinkId, BTreeSet<FlowId>>,
}

/// The token of [`Edge`]'s timer; those of [`super::proxy::Proxy`] are other numbers.
pub(super) const RETRY: u64 = u64::MAX;

impl Edge {
    pub(super) fn new(above: Option<u64>, retry: Time) -> Self {
        Self { above, retry, wait: retry, timed: false, ports: Vec::new(), flows: BTreeMap::new() }
    }

    fn is_crowded(&self, link: LinkId) -> bool {
        self.flows.get(&link).is_some_and(|flows| self.above.is_some_and(|above| flows.len() as u64 > above))
    }

    /// Reports, and looks later whether the controller has heard it.
    fn report(&mut self, cx: &mut SwitchCx<'_>, message: Vec<u8>) {
        cx.actions.push(SwitchAction::Report(message));
        if !std::mem::replace(&mut self.timed, true) {
            cx.actions.push(SwitchAction::Timer { at: cx.now.saturating_add(self.wait), token: RETRY });
        }
    }
}

impl SwitchAgent for Edge {
    fn needs_backlog(&self) -> bool {
        false
    }

    fn on_start(&mut self, cx: &mut SwitchCx<'_>, ports: &[SwitchPort]) {
        for port in ports.iter().filter(|port| port.host) {
            self.flows.insert(port.to, BTreeSet::new());
        }
        let ports = ports.iter().map(|port| Port { cable: [port.from, port.to], host: port.host }).collect();
        self.ports = Message::Ports(ports).encode();
        self.report(cx, self.ports.clone());
    }

    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if self.above.is_none() || packet.is_ack() || !packet.flags.has(Flags::SYN.with(Flags::FIN)) {
            return Pass::Forward;
        }
        let (link, was) = (passage.to, self.is_crowded(passage.to));
        let Some(flows) = self.flows.get_mut(&link) else { return Pass::Forward };
        if packet.flags.has(Flags::FIN) {
            flows.remove(&packet.flow);
        } else {
            flows.insert(packet.flow);
        }
        let crowded = self.is_crowded(link);
        if crowded != was {
            self.wait = self.retry;
            self.report(cx, Message::Crowd { link, crowded }.encode());
        }
        Pass::Forward
    }

    /// What the controller has not answered may be lost: it is said again, more and more seldom.
    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, _token: u64) {
        self.timed = false;
        let Some(state) = cx.node.downcast_mut::<EdgeState>() else { return };
        let unheard = |link: &LinkId| self.is_crowded(*link) != state.crowded.contains(link);
        let news: Vec<LinkId> = self.flows.keys().copied().filter(unheard).collect();
        let unanswered = state.version == 0;
        self.wait = self.wait.saturating_add(self.wait);
        if unanswered {
            self.report(cx, self.ports.clone());
        }
        for link in news {
            let crowded = self.is_crowded(link);
            self.report(cx, Message::Crowd { link, crowded }.encode());
        }
    }

    fn on_message(&mut self, cx: &mut SwitchCx<'_>, message: &[u8]) {
        let Some(state) = cx.node.downcast_mut::<EdgeState>() else { return };
        match Message::decode(message) {
            Some(Message::Labels(labels)) => {
                state.labels = labels;
                state.version += 1;
            }
            Some(Message::Crowd { link, crowded: true }) => {
                state.crowded.insert(link);
            }
            Some(Message::Crowd { link, crowded: false }) => {
                state.crowded.remove(&link);
            }
            _ => {}
        }
    }
}

/// The labelled ways to one host.
#[derive(Debug, Default)]
struct Ways {
    /// The labels that they were made from.
    version: u32,
    /// Number of the path, and its label; tree by tree.
    choices: Vec<(usize, u32)>,
    /// The link into the host.
    last: Option<LinkId>,
    /// Flowcells sent to it.
    cells: usize,
}

impl Ways {
    /// Finds the offered paths that lie in trees.
    fn learn(&mut self, state: &EdgeState, cx: &PathCx<'_>, paths: usize) {
        let offered: Vec<Vec<LinkId>> = (0..paths).map(|path| cx.routes.links(path)).collect();
        self.version = state.version;
        self.last = offered.first().and_then(|links| links.last().copied());
        self.choices.clear();
        for Label { label, links } in &state.labels {
            let same = |path: &Vec<LinkId>| path.len() > 2 && path[1..path.len() - 1] == links[..];
            self.choices.extend(offered.iter().position(same).map(|path| (path, *label)));
        }
    }
}

/// A host's choice: its flowcells take the trees in turn.
pub(super) struct OverTrees {
    spreading: Spreading,
    /// Moves the tree that the first flowcell takes: hosts that begin together must not take the same, nor a host to all
    /// others.
    first: usize,
    ways: BTreeMap<NodeId, Ways>,
    others: Ecmp,
}

impl OverTrees {
    pub(super) fn new(spreading: Spreading, host: NodeId) -> Self {
        Self { spreading, first: host.index(), ways: BTreeMap::new(), others: Ecmp }
    }
}

impl PathSelector for OverTrees {
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        if let Some(state) = cx.node.downcast_ref::<EdgeState>() {
            let ways = self.ways.entry(request.to).or_default();
            if ways.version != state.version {
                ways.learn(state, cx, request.paths);
            }
            // READING: E7 balancing complements the scheduler where connections are too many for it.
            let wanted = self.spreading.above.is_none() || ways.last.is_some_and(|last| state.crowded.contains(&last));
            if wanted && !ways.choices.is_empty() {
                let turn = self.first + request.to.index() + ways.cells;
                let (path, label) = ways.choices[turn % ways.choices.len()];
                ways.cells += 1;
                cx.label = Some(label);
                return path;
            }
        }
        self.others.choose(cx, request)
    }
    fn cell(&self) -> Option<u64> {
        Some(self.spreading.cell)
    }
    fn patience(&self) -> Option<Time> {
        (self.spreading.patience > Time::ZERO).then_some(self.spreading.patience)
    }
}

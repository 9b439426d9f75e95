//! RCCE's edge: an agent on every switch, and the choice of ways for the hosts behind it.

use super::Spreading;
use super::message::{Label, Message};
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
}

/// The agent of a switch: tells its ports, counts connections, and keeps what the controller says.
pub(super) struct Edge {
    /// Flows on a link above which it is crowded; none does not count.
    above: Option<u64>,
    flows: BTreeMap<LinkId, BTreeSet<FlowId>>,
}

impl Edge {
    pub(super) fn new(above: Option<u64>) -> Self {
        Self { above, flows: BTreeMap::new() }
    }
}

impl SwitchAgent for Edge {
    fn on_start(&mut self, cx: &mut SwitchCx<'_>, ports: &[SwitchPort]) {
        let ports = ports.iter().map(|port| [port.from, port.to]).collect();
        cx.actions.push(SwitchAction::Report(Message::Ports(ports).encode()));
    }

    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        let Some(above) = self.above else { return Pass::Forward };
        if packet.is_ack() || !packet.flags.has(Flags::SYN.with(Flags::FIN)) {
            return Pass::Forward;
        }
        let (link, flows) = (passage.to, self.flows.entry(passage.to).or_default());
        let was = flows.len() as u64 > above;
        if packet.flags.has(Flags::FIN) {
            flows.remove(&packet.flow);
        } else {
            flows.insert(packet.flow);
        }
        let crowded = flows.len() as u64 > above;
        if crowded != was {
            cx.actions.push(SwitchAction::Report(Message::Crowd { link, crowded }.encode()));
        }
        Pass::Forward
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

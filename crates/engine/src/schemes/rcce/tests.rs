//! The controller's trees and labels, and what edges do with them.

use super::controller::Controller;
use super::edge::{Edge, EdgeState, OverTrees};
use super::message::{Label, Message};
use super::trees::Network;
use super::{ROW, Spreading};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::packet::{Flags, Packet};
use crate::roles::{
    Backlog, Controller as _, ControllerAction, ControllerCx, Pass, Passage, PathCx, PathRequest, PathSelector, Routes,
    SwitchAction, SwitchAgent, SwitchCx, SwitchPort,
};
use crate::schemes::{NetworkFacts, NodeFacts, Scheme};
use crate::spec::Params;
use crate::units::{Rate, Time};
use std::collections::BTreeSet;

/// A network as its switches see it.
#[derive(Default)]
struct Cables {
    ports: Vec<Vec<[LinkId; 2]>>,
    links: usize,
}

impl Cables {
    /// So many switches without cables, numbered from 0.
    fn of(switches: usize) -> Self {
        Self { ports: vec![Vec::new(); switches], links: 0 }
    }
    fn link(&mut self) -> LinkId {
        self.links += 1;
        LinkId::new(self.links - 1)
    }
    fn join(&mut self, one: usize, other: usize) {
        let (forth, back) = (self.link(), self.link());
        self.ports[one].push([back, forth]);
        self.ports[other].push([forth, back]);
    }
    fn host(&mut self, switch: usize) -> LinkId {
        let (up, down) = (self.link(), self.link());
        self.ports[switch].push([up, down]);
        down
    }
    /// Leaves with a host each, then spines.
    fn clos(leaves: usize, spines: usize, parallel: usize) -> Self {
        let mut cables = Self::of(leaves + spines);
        for leaf in 0..leaves {
            cables.host(leaf);
            for spine in leaves..leaves + spines {
                (0..parallel).for_each(|_| cables.join(leaf, spine));
            }
        }
        cables
    }
    fn network(&self) -> Network {
        let mut network = Network::default();
        for (switch, ports) in self.ports.iter().enumerate() {
            network.add(NodeId::new(switch), ports.clone());
        }
        network
    }
    /// Where a link begins and ends.
    fn ends(&self, link: LinkId) -> [usize; 2] {
        let at = |side: usize| self.ports.iter().position(|ports| ports.iter().any(|port| port[side] == link));
        [at(1).expect("begins"), at(0).expect("ends")]
    }
}

/// All labels by edge.
fn labels(network: &Network) -> Vec<(NodeId, Vec<Label>)> {
    let trees = network.trees();
    network.edges().into_iter().map(|edge| (edge, network.labels(&trees, edge))).collect()
}

#[test]
fn a_clos_has_a_tree_for_every_spine_and_parallel_cable() {
    for (leaves, spines, parallel) in [(4, 4, 1), (2, 3, 1), (3, 2, 2), (4, 1, 3)] {
        assert_eq!(Cables::clos(leaves, spines, parallel).network().trees().len(), spines * parallel);
    }
}

#[test]
fn ways_lead_from_edge_to_edge_and_trees_share_no_link() {
    let cables = Cables::clos(4, 2, 2);
    let mut seen = BTreeSet::new();
    let mut used = vec![BTreeSet::new(); 4];
    for (from, labels) in labels(&cables.network()) {
        assert_eq!(labels.len(), 4 * 3, "four trees, three other edges");
        for Label { label, links } in labels {
            let (tree, to) = (label as usize / 4, label as usize % 4);
            assert_eq!(links.len(), 2);
            assert_eq!((cables.ends(links[0])[0], cables.ends(links[1])[1]), (from.index(), to));
            assert_eq!(cables.ends(links[0])[1], cables.ends(links[1])[0], "over one spine");
            assert!(seen.insert((from, label)), "one way for each tree and edge");
            used[tree].extend(links);
        }
    }
    assert_eq!(used.iter().map(BTreeSet::len).sum::<usize>(), used.iter().flatten().collect::<BTreeSet<_>>().len());
}

#[test]
fn with_cores_there_are_as_many_trees_as_an_edge_has_cables_upwards() {
    // Two pods of two leaves (0 to 3) and two spines (4 to 7), and two cores for each of the two groups of spines.
    let mut cables = Cables::of(12);
    for pod in 0..2 {
        for leaf in 2 * pod..2 * pod + 2 {
            cables.host(leaf);
            (0..2).for_each(|spine| cables.join(leaf, 4 + 2 * pod + spine));
        }
        (0..4).for_each(|core| cables.join(4 + 2 * pod + core / 2, 8 + core));
    }
    let network = cables.network();
    assert_eq!(network.trees().len(), 2);
    let far = labels(&network)[0].1.iter().filter(|label| label.links.len() == 4).count();
    let near = labels(&network)[0].1.iter().filter(|label| label.links.len() == 2).count();
    assert_eq!((near, far), (2, 4), "a neighbour in the pod is reached without a core");
}

#[test]
fn one_switch_has_no_trees() {
    let mut cables = Cables::of(1);
    cables.host(0);
    assert!(cables.network().trees().is_empty());
    assert!(Network::default().trees().is_empty());
}

/// What the controller does on a message.
fn tell(controller: &mut Controller, from: usize, message: &Message) -> Vec<ControllerAction> {
    let mut actions = Vec::new();
    let mut cx = ControllerCx { now: Time::from_us(5), actions: &mut actions };
    controller.on_message(&mut cx, NodeId::new(from), &message.encode());
    actions
}

fn controller() -> Controller {
    Controller::new(Time::from_us(10))
}

fn tick_at(controller: &mut Controller, now: u64) -> Vec<(NodeId, Option<Message>)> {
    let mut actions = Vec::new();
    controller.on_timer(&mut ControllerCx { now: Time::from_us(now), actions: &mut actions }, 0);
    orders(actions)
}

fn tick(controller: &mut Controller) -> Vec<(NodeId, Option<Message>)> {
    tick_at(controller, 15)
}

fn orders(actions: Vec<ControllerAction>) -> Vec<(NodeId, Option<Message>)> {
    let order = |action| match action {
        ControllerAction::Order { to, message } => (to, Message::decode(&message)),
        ControllerAction::Timer { .. } => panic!("a timer"),
    };
    actions.into_iter().map(order).collect()
}

#[test]
fn the_controller_learns_the_network_and_labels_its_edges() {
    let cables = Cables::clos(2, 2, 1);
    let mut controller = controller();
    for switch in 0..4 {
        let [ControllerAction::Timer { at, .. }] =
            tell(&mut controller, switch, &Message::Ports(cables.ports[switch].clone()))[..]
        else {
            panic!("no timer")
        };
        assert_eq!(at, Time::from_us(15));
    }
    assert!(tick_at(&mut controller, 12).is_empty(), "not before the last report is so old");
    let orders = tick(&mut controller);
    let expected: Vec<_> =
        labels(&cables.network()).into_iter().map(|(edge, labels)| (edge, Some(Message::Labels(labels)))).collect();
    assert_eq!(orders, expected, "edges only, and each its own labels");
    assert!(tick(&mut controller).is_empty(), "labels that have not changed are not sent again");
}

#[test]
fn the_controller_tells_edges_of_crowded_hosts_once() {
    let mut cables = Cables::clos(2, 1, 1);
    let last = cables.host(1);
    let mut controller = controller();
    for switch in 0..3 {
        tell(&mut controller, switch, &Message::Ports(cables.ports[switch].clone()));
    }
    tick(&mut controller);
    let crowd = |link, crowded| Message::Crowd { link, crowded };
    let told = orders(tell(&mut controller, 1, &crowd(last, true)));
    assert_eq!(told, [0, 1].map(|edge| (NodeId::new(edge), Some(crowd(last, true)))));
    assert!(tell(&mut controller, 1, &crowd(last, true)).is_empty());
    assert_eq!(orders(tell(&mut controller, 1, &crowd(last, false))).len(), 2);
    let inner = cables.ports[0][1][1];
    assert!(tell(&mut controller, 0, &crowd(inner, true)).is_empty(), "a link between switches is no host's");
}

/// What an agent does with a segment of a flow on its way to `link`.
fn pass(edge: &mut Edge, flow: usize, link: usize, flags: Flags) -> Vec<Option<Message>> {
    let mut actions = Vec::new();
    let (mut node, book) = (EdgeState::default(), ());
    let mut cx =
        SwitchCx { now: Time::ZERO, switch: NodeId::new(0), node: &mut node, book: &book, actions: &mut actions };
    let passage = Passage {
        from: LinkId::new(0),
        to: LinkId::new(link),
        backlog: Backlog::default(),
        buffer: 0,
        rate: Rate::from_bps(1),
    };
    let mut packet = Packet { flow: FlowId::new(flow), flags, ..Packet::default() };
    assert_eq!(edge.on_packet(&mut cx, &mut packet, &passage), Pass::Forward);
    let message = |action| match action {
        SwitchAction::Report(message) => Message::decode(&message),
        _ => panic!("no report"),
    };
    actions.into_iter().map(message).collect()
}

#[test]
fn an_edge_reports_when_connections_become_too_many_and_when_not() {
    let mut edge = Edge::new(Some(2));
    let crowd = |crowded| vec![Some(Message::Crowd { link: LinkId::new(7), crowded })];
    assert_eq!(pass(&mut edge, 0, 7, Flags::SYN), []);
    assert_eq!(pass(&mut edge, 1, 7, Flags::SYN), []);
    assert_eq!(pass(&mut edge, 1, 7, Flags::SYN), [], "the same again");
    assert_eq!(pass(&mut edge, 2, 8, Flags::SYN), [], "to another host");
    assert_eq!(pass(&mut edge, 3, 7, Flags::SYN.with(Flags::ACK)), [], "an answer");
    assert_eq!(pass(&mut edge, 4, 7, Flags::SYN), crowd(true));
    assert_eq!(pass(&mut edge, 4, 7, Flags::NONE), []);
    assert_eq!(pass(&mut edge, 0, 7, Flags::FIN), crowd(false));
    assert_eq!(pass(&mut Edge::new(None), 0, 7, Flags::SYN), [], "one that spreads all flows does not count");
}

/// Three paths from link 10 to link 20, over one of the links 1, 2 and 3 each.
struct Three;

impl Routes for Three {
    fn links(&self, path: usize) -> Vec<LinkId> {
        [10, path + 1, path + 11, 20].map(LinkId::new).to_vec()
    }
}

/// The paths that cells take in turn, and their labels.
fn cells(selector: &mut OverTrees, state: &mut EdgeState, count: u64) -> Vec<(usize, Option<u32>)> {
    let mut choose = |cell| {
        let mut cx = PathCx { node: state, routes: &Three, label: None };
        let request = PathRequest { flow: FlowId::new(1), from: NodeId::new(4), to: NodeId::new(5), paths: 3, cell };
        (selector.choose(&mut cx, &request), cx.label)
    };
    (0..count).map(&mut choose).collect()
}

fn hear(state: &mut EdgeState, message: &Message) {
    let (mut actions, book) = (Vec::new(), ());
    let mut cx = SwitchCx { now: Time::ZERO, switch: NodeId::new(0), node: state, book: &book, actions: &mut actions };
    Edge::new(None).on_message(&mut cx, &message.encode());
}

/// Ways over the third path and the first.
fn two_ways() -> Message {
    let way = |label, path: usize| Label { label, links: [path + 1, path + 11].map(LinkId::new).to_vec() };
    Message::Labels(vec![way(6, 2), way(9, 0), Label { label: 12, links: vec![LinkId::new(99)] }])
}

fn selector(above: Option<u64>, host: usize) -> OverTrees {
    OverTrees::new(Spreading { cell: 1000, patience: Time::from_ms(1), above, settle: Time::ZERO }, NodeId::new(host))
}

#[test]
fn flowcells_take_the_trees_in_turn_once_labels_have_come() {
    let (mut selector, mut state) = (selector(None, 4), EdgeState::default());
    let before = cells(&mut selector, &mut state, 3);
    assert!(before.iter().all(|choice| *choice == (before[0].0, None)), "until then one path, as ECMP chose it");
    hear(&mut state, &two_ways());
    assert_eq!(cells(&mut selector, &mut state, 3), [(0, Some(9)), (2, Some(6)), (0, Some(9))]);
    assert_eq!(cells(&mut self::selector(None, 5), &mut state, 1), [(2, Some(6))], "another host begins elsewhere");
}

#[test]
fn only_flows_to_crowded_hosts_leave_their_path() {
    let (mut selector, mut state) = (selector(Some(40), 4), EdgeState::default());
    hear(&mut state, &two_ways());
    let crowd = |link, crowded| Message::Crowd { link: LinkId::new(link), crowded };
    hear(&mut state, &crowd(21, true));
    assert!(cells(&mut selector, &mut state, 2).iter().all(|(_, label)| label.is_none()), "another host's crowd");
    hear(&mut state, &crowd(20, true));
    assert!(cells(&mut selector, &mut state, 2).iter().all(|(_, label)| label.is_some()));
    hear(&mut state, &crowd(20, false));
    assert!(cells(&mut selector, &mut state, 2).iter().all(|(_, label)| label.is_none()));
}

#[test]
fn a_switch_tells_its_ports_when_it_starts() {
    let (mut actions, mut node, book) = (Vec::new(), EdgeState::default(), ());
    let mut cx =
        SwitchCx { now: Time::ZERO, switch: NodeId::new(0), node: &mut node, book: &book, actions: &mut actions };
    let port = SwitchPort { from: LinkId::new(3), to: LinkId::new(2), rate: Rate::from_bps(1), host: false };
    Edge::new(None).on_start(&mut cx, &[port]);
    let SwitchAction::Report(message) = &actions[0] else { panic!("no report") };
    assert_eq!(Message::decode(message), Some(Message::Ports(vec![[LinkId::new(3), LinkId::new(2)]])));
}

#[test]
fn without_trees_it_has_neither_agents_nor_a_controller() {
    let node = NodeFacts {
        node: NodeId::new(0),
        rate: Rate::from_bps(1_000_000_000),
        base_rtt: Time::from_us(160),
        mss: 1446,
        packet: 1500,
    };
    let network = NetworkFacts { base_rtt: Time::from_us(160) };
    let parts = |scheme: &dyn Scheme| {
        let selector = scheme.path_selector(&node);
        (
            scheme.switch_agent(&node).is_some(),
            scheme.controller(&network).is_some(),
            selector.cell(),
            selector.patience(),
        )
    };
    let scheme = (ROW.build)(&Params::defaults(&[ROW.params]));
    assert_eq!(parts(&*scheme), (false, false, None, None));
    assert!(scheme.window_control(&node).is_some() && scheme.queue(&node).is_some());
}

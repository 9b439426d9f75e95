//! The controller's trees and labels, and what edges do with them.

use super::controller::Controller;
use super::edge::{Edge, EdgeState, OverTrees};
use super::message::{Label, Message, Port};
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

/// How long switches wait for the controller here.
const RETRY: Time = Time::from_us(100);

/// A network as its switches see it.
#[derive(Default)]
struct Cables {
    ports: Vec<Vec<Port>>,
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
        self.ports[one].push(Port { cable: [back, forth], host: false });
        self.ports[other].push(Port { cable: [forth, back], host: false });
    }
    fn host(&mut self, switch: usize) -> LinkId {
        let (up, down) = (self.link(), self.link());
        self.ports[switch].push(Port { cable: [up, down], host: true });
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
        let at = |side: usize| self.ports.iter().position(|ports| ports.iter().any(|port| port.cable[side] == link));
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
    let mut expected: Vec<_> =
        labels(&cables.network()).into_iter().map(|(edge, labels)| (edge, Some(Message::Labels(labels)))).collect();
    expected.extend([2, 3].map(|spine| (NodeId::new(spine), Some(Message::Labels(Vec::new())))));
    assert_eq!(orders, expected, "each edge its own labels, and the others an answer");
    assert!(tick(&mut controller).is_empty(), "labels that have not changed are not sent again");
    tell(&mut controller, 1, &Message::Ports(cables.ports[1].clone()));
    assert_eq!(tick(&mut controller), expected[1..2], "but to one that reports again: it has not heard them");
}

#[test]
fn a_switch_that_does_not_report_is_missing_in_the_trees_and_others_are_not() {
    let cables = Cables::clos(4, 4, 1);
    for (missing, trees, edges) in [(0, 4, 3), (4, 3, 4)] {
        let mut network = Network::default();
        for switch in (0..8).filter(|switch| *switch != missing) {
            assert!(network.add(NodeId::new(switch), cables.ports[switch].clone()));
        }
        assert!(!network.add(NodeId::new(7), cables.ports[7].clone()), "it is known");
        assert_eq!((network.trees().len(), network.edges().len()), (trees, edges), "without switch {missing}");
    }
}

#[test]
fn the_controller_tells_edges_of_crowded_hosts() {
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
    assert_eq!(orders(tell(&mut controller, 1, &crowd(last, true))), told, "again, if the switch has not heard it");
    assert_eq!(orders(tell(&mut controller, 1, &crowd(last, false))).len(), 2);
    let inner = cables.ports[0][1].cable[1];
    assert!(tell(&mut controller, 0, &crowd(inner, true)).is_empty(), "a link between switches is no host's");
}

/// A switch with two hosts, behind the links 7 and 8, and another switch, behind link 5.
struct Switch {
    edge: Edge,
    node: EdgeState,
    now: Time,
    timers: Vec<Time>,
}

impl Switch {
    fn new(above: Option<u64>) -> Self {
        let (edge, node) = (Edge::new(above, RETRY), EdgeState::default());
        let mut switch = Self { edge, node, now: Time::ZERO, timers: Vec::new() };
        let port = |to: usize, host| SwitchPort {
            from: LinkId::new(to + 10),
            to: LinkId::new(to),
            rate: Rate::from_bps(1),
            host,
        };
        let ports = [port(5, false), port(7, true), port(8, true)];
        let reported = switch.act(|edge, cx| edge.on_start(cx, &ports));
        assert_eq!(reported, [Some(Self::ports())]);
        switch
    }
    fn ports() -> Message {
        let port = |to: usize, host| Port { cable: [LinkId::new(to + 10), LinkId::new(to)], host };
        Message::Ports(vec![port(5, false), port(7, true), port(8, true)])
    }
    fn act(&mut self, act: impl FnOnce(&mut Edge, &mut SwitchCx<'_>)) -> Vec<Option<Message>> {
        let (mut actions, book) = (Vec::new(), ());
        let switch = NodeId::new(0);
        act(
            &mut self.edge,
            &mut SwitchCx { now: self.now, switch, node: &mut self.node, book: &book, actions: &mut actions },
        );
        let mut messages = Vec::new();
        for action in actions {
            match action {
                SwitchAction::Report(message) => messages.push(Message::decode(&message)),
                SwitchAction::Timer { at, .. } => self.timers.push(at),
                _ => panic!("a packet"),
            }
        }
        messages
    }
    /// What it reports when a segment of a flow is on its way to `link`.
    fn pass(&mut self, flow: usize, link: usize, flags: Flags) -> Vec<Option<Message>> {
        let passage = Passage {
            from: LinkId::new(0),
            to: LinkId::new(link),
            backlog: Backlog::default(),
            buffer: 0,
            rate: Rate::from_bps(1),
        };
        let mut packet = Packet { flow: FlowId::new(flow), flags, ..Packet::default() };
        self.act(|edge, cx| assert_eq!(edge.on_packet(cx, &mut packet, &passage), Pass::Forward))
    }
    /// When its next timer ends, in us, and what it reports then.
    fn tick(&mut self) -> Option<(u64, Vec<Option<Message>>)> {
        self.now = self.timers.pop()?;
        assert!(self.timers.is_empty(), "one at a time");
        let reports = self.act(|edge, cx| edge.on_timer(cx, 0));
        Some((self.now.ps() / 1_000_000, reports))
    }
    fn hear(&mut self, message: &Message) {
        self.act(|edge, cx| edge.on_message(cx, &message.encode()));
    }
}

fn crowd(link: usize, crowded: bool) -> Message {
    Message::Crowd { link: LinkId::new(link), crowded }
}

#[test]
fn an_edge_reports_when_connections_become_too_many_and_when_not() {
    let mut edge = Switch::new(Some(2));
    assert_eq!(edge.pass(0, 7, Flags::SYN), []);
    assert_eq!(edge.pass(1, 7, Flags::SYN), []);
    assert_eq!(edge.pass(1, 7, Flags::SYN), [], "the same again");
    assert_eq!(edge.pass(2, 8, Flags::SYN), [], "to another host");
    assert_eq!(edge.pass(3, 7, Flags::SYN.with(Flags::ACK)), [], "an answer");
    assert_eq!(edge.pass(4, 7, Flags::SYN), [Some(crowd(7, true))]);
    assert_eq!(edge.pass(4, 7, Flags::NONE), []);
    assert_eq!(edge.pass(0, 7, Flags::FIN), [Some(crowd(7, false))]);
    for flow in 0..9 {
        assert_eq!(edge.pass(flow, 5, Flags::SYN), [], "on to another switch");
        assert_eq!(Switch::new(None).pass(flow, 7, Flags::SYN), [], "one that spreads all flows does not count");
    }
    assert!(!edge.edge.needs_backlog(), "it does not look at queues");
}

#[test]
fn a_switch_reports_its_ports_until_it_is_answered() {
    let mut edge = Switch::new(None);
    let again = || vec![Some(Switch::ports())];
    assert_eq!(edge.tick(), Some((100, again())));
    assert_eq!(edge.tick(), Some((300, again())), "twice as long");
    edge.hear(&Message::Labels(Vec::new()));
    assert_eq!(edge.tick(), Some((700, vec![])));
    assert_eq!(edge.tick(), None, "then it is quiet");
}

#[test]
fn a_switch_says_again_that_a_host_is_crowded_until_the_controller_has_passed_it_on() {
    let mut edge = Switch::new(Some(0));
    edge.hear(&Message::Labels(Vec::new()));
    edge.tick();
    assert_eq!(edge.pass(0, 7, Flags::SYN), [Some(crowd(7, true))]);
    assert_eq!(edge.tick(), Some((200, vec![Some(crowd(7, true))])));
    edge.hear(&crowd(7, true));
    assert_eq!((edge.tick(), edge.tick()), (Some((400, vec![])), None));
    assert_eq!(edge.pass(0, 7, Flags::FIN), [Some(crowd(7, false))]);
    assert_eq!(edge.tick(), Some((500, vec![Some(crowd(7, false))])), "soon again for other news");
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
    Edge::new(None, RETRY).on_message(&mut cx, &message.encode());
}

/// Ways over the third path and the first.
fn two_ways() -> Message {
    let way = |label, path: usize| Label { label, links: [path + 1, path + 11].map(LinkId::new).to_vec() };
    Message::Labels(vec![way(6, 2), way(9, 0), Label { label: 12, links: vec![LinkId::new(99)] }])
}

fn selector(above: Option<u64>, host: usize) -> OverTrees {
    OverTrees::new(
        Spreading { cell: 1000, patience: Time::from_ms(1), above, settle: Time::ZERO, retry: RETRY },
        NodeId::new(host),
    )
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

#[test]
fn the_defaults_are_those_of_the_paper() {
    let facts = NodeFacts {
        node: NodeId::default(),
        rate: Rate::from_bps(1_000_000_000),
        base_rtt: Time::from_us(160),
        mss: 1446,
        packet: 1500,
    };
    // C RTO_r / 2 with 83333 packets a second and 10 ms; the plain share; no bonus; Algorithm 1 as printed.
    let rcc = super::Rcc::new(&Params::defaults(&[ROW.params]));
    let rules = rcc.rules();
    assert_eq!((rules.cap(false, &facts), rules.cap(true, &facts), rules.push_bonus), (416, 416, 0));
    assert_eq!(format!("{:?} {:?}", rules.marks.alpha, rules.timer.arm), "Ratio OnQueue");
    assert!(rules.equal_only);
    assert_eq!((rules.queue_max, rules.timer.minimum, rules.release_at_most), (40, Time::from_ms(10), false));
}

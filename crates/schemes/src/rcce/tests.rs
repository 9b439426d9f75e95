//! Tests of the controller's trees and labels, and of the edge that uses them.

mod proxy;

use super::controller::Controller;
use super::edge::Edge;
use super::message::{Attachment, Message, Port, Table, Way};
use super::state::EdgeState;
use super::trees::Network;
use super::{ROW, Spreading};
use crate::{NetworkFacts, NodeFacts, Scheme};
use fanin_core::ids::{FlowId, LinkId, NodeId};
use fanin_core::packet::{Addresses, CellTag, Flags, Packet, address};
use fanin_core::roles::{
    AddressBook, Backlog, Controller as _, ControllerAction, ControllerCx, Pass, Passage, SwitchAction, SwitchAgent,
    SwitchCx, SwitchPort,
};
use fanin_core::units::{Rate, Time};
use fanin_param::Values;
use std::collections::{BTreeMap, BTreeSet};

/// Time that switches wait for the controller in these tests.
const RETRY: Time = Time::from_us(100);

/// A network as its switches see it.
#[derive(Default)]
struct Cables {
    ports: Vec<Vec<Port>>,
    links: usize,
}

impl Cables {
    /// Switches without cables, numbered from 0.
    fn of(switches: usize) -> Self {
        Self { ports: vec![Vec::new(); switches], links: 0 }
    }
    fn link(&mut self) -> LinkId {
        self.links += 1;
        LinkId::new(self.links - 1)
    }
    fn join(&mut self, one: usize, other: usize) {
        let (forth, back) = (self.link(), self.link());
        self.ports[one].push(Port { cable: [back, forth], host: None });
        self.ports[other].push(Port { cable: [forth, back], host: None });
    }
    fn host(&mut self, switch: usize) -> LinkId {
        let (up, down) = (self.link(), self.link());
        self.ports[switch].push(Port { cable: [up, down], host: Some(host_at(down)) });
        down
    }
    /// Leaves with a host each, followed by spines.
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
    /// The switches at both ends of a link.
    fn ends(&self, link: LinkId) -> [usize; 2] {
        let at = |side: usize| self.ports.iter().position(|ports| ports.iter().any(|port| port.cable[side] == link));
        [at(1).expect("begins"), at(0).expect("ends")]
    }
}

/// The host at the end of a link.
fn host_at(link: LinkId) -> NodeId {
    NodeId::new(1000 + link.index())
}

/// The links that a packet with a label takes from a switch, by the tables of the switches.
fn walk(cables: &Cables, tables: &BTreeMap<NodeId, Table>, from: NodeId, label: u32) -> Vec<LinkId> {
    let (mut at, mut links) = (from, Vec::new());
    while let Some(way) = tables[&at].ways.iter().find(|way| way.label == label) {
        links.push(way.out);
        at = NodeId::new(cables.ends(way.out)[1]);
        assert!(links.len() < 9, "a circle");
        if at == way.edge {
            return links;
        }
    }
    panic!("label {label} is not known at {at}");
}

/// For all entries of the edge switches: the switch, the entry and the links of its path.
fn ways(cables: &Cables, network: &mut Network) -> Vec<(NodeId, Way, Vec<LinkId>)> {
    let tables: BTreeMap<NodeId, Table> = network.tables().into_iter().collect();
    let mut found = Vec::new();
    for edge in network.edges() {
        found.extend(tables[&edge].ways.iter().map(|way| (edge, *way, walk(cables, &tables, edge, way.label))));
    }
    found
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
    let ways = ways(&cables, &mut cables.network());
    assert_eq!(ways.len(), 4 * 4 * 3, "from each edge in four trees to three others");
    for (from, way, links) in ways {
        let (tree, to) = (way.label as usize / 4, way.label as usize % 4);
        assert_eq!((links.len(), way.edge.index()), (2, to));
        assert_eq!((cables.ends(links[0])[0], cables.ends(links[1])[1]), (from.index(), to));
        assert_eq!(cables.ends(links[0])[1], cables.ends(links[1])[0], "over one spine");
        assert!(seen.insert((from, way.label)), "one way for each tree and edge");
        used[tree].extend(links);
    }
    assert_eq!(used.iter().map(BTreeSet::len).sum::<usize>(), used.iter().flatten().collect::<BTreeSet<_>>().len());
}

#[test]
fn edges_are_told_where_hosts_are_and_other_switches_are_not() {
    let cables = Cables::clos(2, 1, 1);
    let tables = cables.network().tables();
    let attachment = |edge: usize| {
        let link = cables.ports[edge][0].cable[1];
        Attachment { host: host_at(link), edge: NodeId::new(edge), link }
    };
    assert_eq!(tables[0].1.attachments, [attachment(0), attachment(1)]);
    assert_eq!(tables[1].1.attachments, tables[0].1.attachments);
    assert!(tables[2].1.attachments.is_empty());
}

#[test]
fn a_tree_without_one_of_its_cables_serves_the_other_edges_and_keeps_its_labels() {
    let cables = Cables::clos(3, 2, 1);
    let mut network = cables.network();
    let before = ways(&cables, &mut network);
    // Leaf 0 and its first spine, which is switch 3, no longer see each other.
    let without = |switch: usize, peer: usize| -> Vec<Port> {
        let other = |port: &&Port| port.host.is_some() || cables.ends(port.cable[1])[1] != peer;
        cables.ports[switch].iter().filter(other).copied().collect()
    };
    network.add(NodeId::new(0), without(0, 3));
    network.add(NodeId::new(3), without(3, 0));
    let after = ways(&cables, &mut network);
    assert_eq!(network.trees().len(), 2);
    let broken =
        |way: &&(NodeId, Way, Vec<LinkId>)| way.2.iter().any(|link| cables.ends(*link).iter().sum::<usize>() == 3);
    assert_eq!(before.iter().filter(broken).count(), 4, "two ways of leaf 0, and two to it");
    let kept: Vec<_> = before.iter().filter(|way| !broken(way)).cloned().collect();
    assert_eq!(after, kept, "and nothing else has changed");
    network.add(NodeId::new(0), cables.ports[0].clone());
    network.add(NodeId::new(3), cables.ports[3].clone());
    assert_eq!(ways(&cables, &mut network), before, "until the cable is back");
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
    let mut network = cables.network();
    assert_eq!(network.trees().len(), 2);
    let ways = ways(&cables, &mut network);
    let of_first = |links| ways.iter().filter(|way| way.0 == NodeId::new(0) && way.2.len() == links).count();
    let (near, far) = (of_first(2), of_first(4));
    assert_eq!((near, far), (2, 4), "a neighbour in the pod is reached without a core");
}

#[test]
fn one_switch_has_no_trees() {
    let mut cables = Cables::of(1);
    cables.host(0);
    assert!(cables.network().trees().is_empty());
    assert!(Network::default().trees().is_empty());
}

/// The controller's actions on a message.
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
    let tables = cables.network().tables();
    let expected: Vec<_> = tables.into_iter().map(|(switch, table)| (switch, Some(Message::Labels(table)))).collect();
    assert_eq!(orders, expected, "each switch its own");
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
    let crowd = |link, crowded| Message::Crowd { links: vec![link], crowded };
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
        Self::with(above, false)
    }
    fn with(above: Option<u64>, central: bool) -> Self {
        let (edge, node) = (Edge::new(spreading(above), central), EdgeState::default());
        let mut switch = Self { edge, node, now: Time::ZERO, timers: Vec::new() };
        let port = |to: usize, host| SwitchPort {
            from: LinkId::new(to + 10),
            to: LinkId::new(to),
            rate: Rate::from_bps(1),
            host,
            peer: host_at(LinkId::new(to)),
        };
        let ports = [port(5, false), port(7, true), port(8, true)];
        let reported = switch.act(|edge, cx| edge.on_start(cx, &ports));
        assert_eq!(reported, [Some(Self::ports())]);
        switch
    }
    fn ports() -> Message {
        let port = |to: usize, host: bool| {
            let link = LinkId::new(to);
            Port { cable: [LinkId::new(to + 10), link], host: host.then_some(host_at(link)) }
        };
        Message::Ports(vec![port(5, false), port(7, true), port(8, true)])
    }
    fn act(&mut self, act: impl FnOnce(&mut Edge, &mut SwitchCx<'_>)) -> Vec<Option<Message>> {
        self.act_with(&(), act)
    }
    fn act_with(
        &mut self,
        book: &dyn AddressBook,
        act: impl FnOnce(&mut Edge, &mut SwitchCx<'_>),
    ) -> Vec<Option<Message>> {
        let (mut actions, switch) = (Vec::new(), NodeId::new(0));
        act(&mut self.edge, &mut SwitchCx { now: self.now, switch, node: &mut self.node, book, actions: &mut actions });
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
    /// Its reports when a segment of a flow is about to leave on `link`.
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
    /// When its next timer expires, in us, and its reports then.
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
    Message::Crowd { links: vec![LinkId::new(link)], crowded }
}

#[test]
fn an_edge_reports_when_connections_become_too_many_and_when_not() {
    let mut edge = Switch::new(Some(2));
    assert_eq!(edge.pass(0, 7, Flags::SYN), []);
    assert_eq!(edge.pass(1, 7, Flags::SYN), []);
    assert_eq!(edge.pass(1, 7, Flags::SYN), [], "the same again");
    assert_eq!(edge.pass(2, 8, Flags::SYN), [], "to another host");
    assert_eq!(edge.pass(3, 7, Flags::SYN.with(Flags::ACK)), [], "a SYN-ACK");
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
fn a_central_edge_counts_the_connections_of_all_its_hosts() {
    let mut edge = Switch::with(Some(2), true);
    assert_eq!([edge.pass(0, 7, Flags::SYN), edge.pass(1, 8, Flags::SYN)], [vec![], vec![]]);
    let both = |crowded| Some(Message::Crowd { links: [7, 8].map(LinkId::new).to_vec(), crowded });
    assert_eq!(edge.pass(2, 8, Flags::SYN), [both(true)], "no host has more than two");
    assert_eq!(edge.pass(3, 8, Flags::SYN), [], "known");
    assert_eq!([edge.pass(0, 7, Flags::FIN), edge.pass(1, 8, Flags::FIN)], [vec![], vec![both(false)]]);
}

/// Each flow is the request to which the next one is the response.
struct Asking;

impl AddressBook for Asking {
    fn addresses(&self, _flow: FlowId) -> Addresses {
        Addresses::default()
    }
    fn response(&self, flow: FlowId) -> Option<FlowId> {
        (flow.index() < 10).then(|| FlowId::new(flow.index() + 100))
    }
}

#[test]
fn a_connection_that_the_client_opens_counts_where_its_response_ends() {
    let mut edge = Switch::new(Some(0));
    let pass = |edge: &mut Switch, flow, [from, to]: [usize; 2], flags| {
        let passage = Passage {
            from: LinkId::new(from),
            to: LinkId::new(to),
            backlog: Backlog::default(),
            buffer: 0,
            rate: Rate::from_bps(1),
        };
        let mut packet = Packet { flow: FlowId::new(flow), flags, ..Packet::default() };
        edge.act_with(&Asking, |edge, cx| assert_eq!(edge.on_packet(cx, &mut packet, &passage), Pass::Forward))
    };
    assert_eq!(pass(&mut edge, 1, [5, 7], Flags::SYN), [], "a request to host 7");
    assert_eq!(pass(&mut edge, 2, [18, 5], Flags::SYN), [Some(crowd(8, true))], "one of host 8");
    assert_eq!(pass(&mut edge, 102, [5, 8], Flags::FIN), [Some(crowd(8, false))], "its response ends");
}

#[test]
fn a_switch_reports_its_ports_until_it_is_answered() {
    let mut edge = Switch::new(None);
    let again = || vec![Some(Switch::ports())];
    assert_eq!(edge.tick(), Some((100, again())));
    assert_eq!(edge.tick(), Some((300, again())), "twice as long");
    edge.hear(&Message::Labels(Table::default()));
    assert_eq!(edge.tick(), Some((700, vec![])));
    assert_eq!(edge.tick(), None, "then it is quiet");
}

#[test]
fn a_switch_says_again_that_a_host_is_crowded_until_the_controller_has_passed_it_on() {
    let mut edge = Switch::new(Some(0));
    edge.hear(&Message::Labels(Table::default()));
    edge.tick();
    assert_eq!(edge.pass(0, 7, Flags::SYN), [Some(crowd(7, true))]);
    assert_eq!(edge.tick(), Some((200, vec![Some(crowd(7, true))])));
    edge.hear(&crowd(7, true));
    assert_eq!((edge.tick(), edge.tick()), (Some((400, vec![])), None));
    assert_eq!(edge.pass(0, 7, Flags::FIN), [Some(crowd(7, false))]);
    assert_eq!(edge.tick(), Some((500, vec![Some(crowd(7, false))])), "soon again for other news");
}

fn spreading(above: Option<u64>) -> Spreading {
    Spreading { cell: 1000, patience: Time::from_ms(1), above, settle: Time::ZERO, retry: RETRY }
}

/// A switch with links 1, 2 and 3 to other switches and 7 and 8 to hosts. It has entries for a host behind another
/// switch: over the trees with labels 6 and 9, which begin with links 3 and 1.
fn knowing(above: Option<u64>) -> Switch {
    let mut switch = Switch::with(above, false);
    let far = NodeId::new(50);
    let way = |label, out| Way { label, edge: far, out: LinkId::new(out) };
    let attachment =
        |host, edge, link| Attachment { host: NodeId::new(host), edge: NodeId::new(edge), link: LinkId::new(link) };
    let attachments = vec![attachment(FAR, 50, 20), attachment(1007, 0, 7)];
    switch.hear(&Message::Labels(Table { ways: vec![way(6, 3), way(9, 1)], attachments }));
    switch
}

/// A host behind another switch.
const FAR: usize = 60;

/// All flows go from a host at this switch to that host.
struct Outward;

impl AddressBook for Outward {
    fn addresses(&self, _flow: FlowId) -> Addresses {
        Addresses { src: address(NodeId::new(1007)), dst: address(NodeId::new(FAR)), src_port: 1, dst_port: 2 }
    }
}

impl Switch {
    /// The egress and the tag of a packet of flow 1 that arrived on `from` and whose path is over link 2.
    fn route(&mut self, from: usize, mut packet: Packet) -> (Pass, Option<CellTag>) {
        packet.flow = FlowId::new(1);
        let passage = Passage {
            from: LinkId::new(from),
            to: LinkId::new(2),
            backlog: Backlog::default(),
            buffer: 0,
            rate: Rate::from_bps(1),
        };
        let mut pass = Pass::Drop;
        self.act_with(&Outward, |edge, cx| pass = edge.on_packet(cx, &mut packet, &passage));
        (pass, CellTag::of(packet.field))
    }
    /// The same for a segment that begins with byte `at` of its stream.
    fn segment(&mut self, at: u32) -> (Pass, Option<CellTag>) {
        self.route(17, Packet { seq: 1 + at, ..Packet::default() })
    }
    fn port(&mut self, link: usize, up: bool) -> Vec<Option<Message>> {
        self.act(|edge, cx| edge.on_port(cx, LinkId::new(link), up))
    }
}

fn over(link: usize, label: u32, cell: u32) -> (Pass, Option<CellTag>) {
    (Pass::Reroute(LinkId::new(link)), Some(CellTag { label, cell }))
}

#[test]
fn the_hosts_switch_sends_flowcells_over_the_trees_in_turn() {
    // Section IV.A: the switches split traffic among the spanning trees.
    let mut bare = Switch::new(None);
    assert_eq!(bare.segment(0), (Pass::Forward, None), "until labels have come");
    let mut switch = knowing(None);
    let first = switch.segment(0);
    let (one, other) = if first == over(3, 6, 0) { ((3, 6), (1, 9)) } else { ((1, 9), (3, 6)) };
    assert_eq!(first, over(one.0, one.1, 0));
    assert_eq!(switch.segment(999), over(one.0, one.1, 0), "the same cell");
    assert_eq!(switch.segment(1000), over(other.0, other.1, 1));
    assert_eq!(
        switch.segment(500),
        over(other.0, other.1, 0),
        "sent again: the way of the present cell, its own number"
    );
    assert_eq!(switch.segment(2000), over(one.0, one.1, 2));
}

#[test]
fn other_switches_forward_by_label() {
    let mut switch = knowing(None);
    let tagged = |label| Packet { field: CellTag { label, cell: 4 }.field(), ..Packet::default() };
    assert_eq!(switch.route(12, tagged(6)), over(3, 6, 4));
    assert_eq!(switch.route(12, tagged(7)).0, Pass::Forward, "a label that it does not know");
    let acknowledges = Packet { flags: Flags::ACK, ..tagged(6) };
    assert_eq!(switch.route(12, acknowledges).0, Pass::Forward, "an echo of the tag");
}

#[test]
fn only_flows_to_crowded_hosts_leave_their_path() {
    let mut switch = knowing(Some(40));
    // Link 2 of the path is in a tree here, so the test depends on the crowd only.
    let way = Way { label: 12, edge: NodeId::new(50), out: LinkId::new(2) };
    switch.node.ways.push(way);
    let crowd = |link, crowded| Message::Crowd { links: vec![LinkId::new(link)], crowded };
    switch.hear(&crowd(21, true));
    assert_eq!(switch.segment(0), (Pass::Forward, None), "another host's crowd");
    switch.hear(&crowd(20, true));
    assert_eq!(switch.segment(500), (Pass::Forward, None), "from the next cell on");
    assert!(switch.segment(1000).1.is_some());
    switch.hear(&crowd(20, false));
    assert_eq!(switch.segment(2000), (Pass::Forward, None));
}

#[test]
fn a_cable_that_fails_is_left_at_once_and_reported() {
    let mut switch = knowing(None);
    let (Pass::Reroute(out), _) = switch.segment(0) else { panic!("a tree") };
    let left = if out.index() == 3 { (1, 9) } else { (3, 6) };
    // The ports that it reported have neither of these links; only the report matters here.
    assert_eq!(switch.port(out.index(), false), [Some(Switch::ports())]);
    assert_eq!(switch.port(out.index(), false), [], "known");
    assert_eq!(switch.segment(10), over(left.0, left.1, 0), "in the middle of a cell");
    assert_eq!([switch.segment(1000).0, switch.segment(2000).0], [Pass::Reroute(LinkId::new(left.0)); 2]);
    // A cable of the other tree fails elsewhere, and the controller updates the table.
    switch.node.ways.retain(|way| way.label != left.1);
    assert_eq!(switch.segment(2500).1, None, "no tree is left");
    assert_eq!(
        switch.port(5, false),
        [Some(Message::Ports(match Switch::ports() {
            Message::Ports(ports) => ports[1..].to_vec(),
            _ => Vec::new(),
        }))]
    );
    assert_eq!(switch.port(5, true), [Some(Switch::ports())], "repaired");
}

#[test]
fn a_packet_whose_path_has_no_tree_to_its_host_any_more_takes_another() {
    // Packets without a label too: the tree over the cable of their ECMP path is gone.
    let mut switch = knowing(Some(40));
    let syn = Packet { flags: Flags::SYN, ..Packet::default() };
    assert_eq!(switch.route(17, syn).0, Pass::Reroute(LinkId::new(1)), "flow 1 of two ways");
    assert_eq!(switch.segment(0).0, Pass::Reroute(LinkId::new(1)), "nobody is crowded");
    assert_eq!(switch.route(12, syn).0, Pass::Forward, "from another switch");
    switch.node.ways.clear();
    assert_eq!(switch.route(17, syn).0, Pass::Forward, "nothing is known");
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
    let network = NetworkFacts { base_rtt: Time::from_us(160), mss: 1446 };
    let parts = |scheme: &dyn Scheme| {
        let selector = scheme.path_selector(&node);
        (
            scheme.switch_agent(&node).is_some(),
            scheme.controller(&network).is_some(),
            selector.cell(),
            selector.patience(),
        )
    };
    let scheme = (ROW.build)(&Values::defaults(&[ROW.params]));
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
    // C RTO_r / 2 with 83333 packets per second and 10 ms; the plain share; no bonus; Algorithm 1 as printed.
    let rcc = super::Rcc::new(&Values::defaults(&[ROW.params]));
    let rules = rcc.rules();
    assert_eq!((rules.cap(false, &facts), rules.cap(true, &facts), rules.push_bonus), (416, 416, 0));
    assert_eq!(format!("{:?} {:?}", rules.marks.alpha, rules.timer.arm), "Ratio OnQueue");
    assert!(rules.equal_only && rules.requests_wait);
    assert_eq!(format!("{:?}", rules.marks.action), "Avoidance");
    assert_eq!((rules.queue_max, rules.timer.minimum, rules.release_at_most), (40, Time::from_ms(10), true));
}

//! RCCE's edge: an agent on every switch, which forwards by label, reports its ports and counts the connections of its
//! hosts.

use super::Spreading;
use super::cells::Cells;
use super::message::{Message, Port, Table};
use super::state::EdgeState;
use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::{Addresses, CellTag, Flags, Packet, address};
use fanin_core::roles::{
    Ecmp, Pass, Passage, PathCx, PathRequest, PathSelector, SwitchAction, SwitchAgent, SwitchCx, SwitchPort,
};
use fanin_core::units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// The agent of a switch: reports its ports, counts connections, and forwards by the controller's table.
pub(super) struct Edge {
    /// A host with more flows than this is crowded; none does not count flows.
    above: Option<u64>,
    /// Time to wait for the reply of the controller: initially, and currently.
    retry: Time,
    wait: Time,
    /// A timer is pending.
    timed: bool,
    /// Its ports, and whether the controller has answered the last report of them.
    ports: Vec<Port>,
    answered: bool,
    /// The flowcells of its hosts.
    cells: Cells,
    /// Connections whose data goes to each host, by the link to it.
    flows: BTreeMap<LinkId, BTreeSet<FlowId>>,
    /// The link to each host, by the link from it.
    hosts: BTreeMap<LinkId, LinkId>,
    /// Connections of all hosts are counted together.
    central: bool,
}

/// The token of [`Edge`]'s timer, distinct from those of [`super::proxy::Proxy`].
pub(super) const RETRY: u64 = u64::MAX;

impl Edge {
    pub(super) fn new(spreading: Spreading, central: bool) -> Self {
        let Spreading { above, retry, cell, .. } = spreading;
        let (flows, hosts) = (BTreeMap::new(), BTreeMap::new());
        let cells = Cells::new(cell, above.is_some());
        let (ports, wait) = (Vec::new(), retry);
        Self { above, retry, wait, timed: false, ports, answered: false, cells, flows, hosts, central }
    }

    /// Reports the ports whose cables have not failed.
    fn report_ports(&mut self, cx: &mut SwitchCx<'_>) {
        let Some(state) = cx.node.downcast_ref::<EdgeState>() else { return };
        let up = self.ports.iter().filter(|port| !state.down.contains(&port.cable[1]));
        let message = Message::Ports(up.copied().collect()).encode();
        self.answered = false;
        self.report(cx, message);
    }

    /// Chooses a packet's egress. Data is forwarded by its label, which the switch of its host writes; other packets
    /// stay on their path.
    fn forward(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if packet.is_ack() && packet.flags.has(Flags::FIN) {
            self.cells.forget(packet.flow);
        }
        let Some(state) = cx.node.downcast_ref::<EdgeState>() else { return Pass::Forward };
        let data = !packet.flags.has(Flags::ACK.with(Flags::SYN));
        let out = if self.hosts.contains_key(&passage.from) {
            let Addresses { src, dst, .. } = cx.book.addresses(packet.flow);
            let attachment = state.attachments.get(if packet.is_ack() { &src } else { &dst });
            let attachment = attachment.filter(|attachment| !self.flows.contains_key(&attachment.link));
            let spread = attachment.filter(|_| data).and_then(|to| self.cells.choose(state, packet, passage.from, to));
            spread.or_else(|| attachment.and_then(|to| state.detour(passage.to, to, packet.flow)))
        } else {
            CellTag::of(packet.field).filter(|_| data).and_then(|tag| state.out(tag.label))
        };
        match out {
            Some(out) if out != passage.to => Pass::Reroute(out),
            _ => Pass::Forward,
        }
    }

    /// The links to hosts with too many connections, counted per host or for the whole switch.
    fn crowded(&self) -> BTreeSet<LinkId> {
        let Some(above) = self.above else { return BTreeSet::new() };
        let many = |flows: usize| flows as u64 > above;
        let all = self.central && many(self.flows.values().map(BTreeSet::len).sum());
        let is = |(_, flows): &(&LinkId, &BTreeSet<FlowId>)| all || !self.central && many(flows.len());
        self.flows.iter().filter(is).map(|(link, _)| *link).collect()
    }

    /// If the packet opens or ends a connection: the link to the host that receives its data, and the flow of the data.
    fn concerns(&self, cx: &SwitchCx<'_>, packet: &Packet, passage: &Passage) -> Option<(LinkId, FlowId)> {
        if packet.is_ack() || !packet.flags.has(Flags::SYN.with(Flags::FIN)) {
            return None;
        }
        // The client opens the connection for its request; the data flows in the other direction.
        match cx.book.response(packet.flow) {
            Some(response) => self.hosts.get(&passage.from).map(|link| (*link, response)),
            None => Some((passage.to, packet.flow)),
        }
    }

    /// Counts connections as they open and end.
    fn follow(&mut self, cx: &mut SwitchCx<'_>, packet: &Packet, passage: &Passage) {
        let Some((link, flow)) = self.concerns(cx, packet, passage) else { return };
        let before = self.crowded();
        let Some(flows) = self.flows.get_mut(&link) else { return };
        if packet.flags.has(Flags::FIN) {
            flows.remove(&flow);
        } else {
            flows.insert(flow);
        }
        if self.crowded() != before {
            self.wait = self.retry;
            self.report_crowds(cx, &before);
        }
    }

    /// Reports hosts that have become crowded, and those that no longer are.
    fn report_crowds(&mut self, cx: &mut SwitchCx<'_>, before: &BTreeSet<LinkId>) {
        let now = self.crowded();
        for (one, other, crowded) in [(&now, before, true), (before, &now, false)] {
            let links: Vec<LinkId> = one.difference(other).copied().collect();
            if !links.is_empty() {
                self.report(cx, Message::Crowd { links, crowded }.encode());
            }
        }
    }

    /// Sends a report, and checks later whether the controller has answered.
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
            self.hosts.insert(port.from, port.to);
        }
        let host = |port: &SwitchPort| port.host.then_some(port.peer);
        self.ports = ports.iter().map(|port| Port { cable: [port.from, port.to], host: host(port) }).collect();
        self.report_ports(cx);
    }

    /// The controller computes the trees again without a failed cable, or with a repaired one.
    fn on_port(&mut self, cx: &mut SwitchCx<'_>, to: LinkId, up: bool) {
        let Some(state) = cx.node.downcast_mut::<EdgeState>() else { return };
        let news = if up { state.down.remove(&to) } else { state.down.insert(to) };
        if news {
            self.wait = self.retry;
            self.report_ports(cx);
        }
    }

    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if self.above.is_some() {
            self.follow(cx, packet, passage);
        }
        self.forward(cx, packet, passage)
    }

    /// A report without a reply may be lost: it is repeated with exponential backoff.
    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, _token: u64) {
        self.timed = false;
        let Some(state) = cx.node.downcast_mut::<EdgeState>() else { return };
        let heard: BTreeSet<LinkId> =
            state.crowded.iter().filter(|link| self.flows.contains_key(link)).copied().collect();
        self.wait = self.wait.saturating_add(self.wait);
        if !self.answered {
            self.report_ports(cx);
        }
        self.report_crowds(cx, &heard);
    }

    fn on_message(&mut self, cx: &mut SwitchCx<'_>, message: &[u8]) {
        let Some(state) = cx.node.downcast_mut::<EdgeState>() else { return };
        match Message::decode(message) {
            Some(Message::Labels(Table { ways, attachments })) => {
                state.ways = ways;
                state.attachments =
                    attachments.into_iter().map(|attachment| (address(attachment.host), attachment)).collect();
                self.answered = true;
            }
            Some(Message::Crowd { links, crowded: true }) => state.crowded.extend(links),
            Some(Message::Crowd { links, crowded: false }) => {
                state.crowded.retain(|link| !links.contains(link));
            }
            _ => {}
        }
    }
}

/// The sending host's role: its data takes the ECMP path unless its switch chooses another one per flowcell.
pub(super) struct OverTrees(pub(super) Spreading);

impl PathSelector for OverTrees {
    fn choose(&mut self, cx: &mut PathCx<'_>, request: &PathRequest) -> usize {
        Ecmp.choose(cx, request)
    }
    fn cell(&self) -> Option<u64> {
        Some(self.0.cell)
    }
    fn patience(&self) -> Option<Time> {
        (self.0.patience > Time::ZERO).then_some(self.0.patience)
    }
}

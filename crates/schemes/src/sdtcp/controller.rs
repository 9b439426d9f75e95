//! The controller: it knows every connection, and distinguishes background flows from burst flows (Step 2).

use super::fair_share::Congestion;
use super::flows::{ClassConfig, EgressPort, GlobalFlow};
use super::lists::Lists;
use super::table::priority;
use super::trigger::Level;
use super::wire::{
    Action, Body, Failure, FlowMod, FlowStats, FlowStatsRequest, Frame, Match, Message, NO_BUFFER, PacketIn, PacketOut,
    command, cookie, reason,
};
use fanin_core::ids::NodeId;
use fanin_core::packet::{Addresses, Flags};
use fanin_core::roles::{Controller as Role, ControllerAction, ControllerCx};
use fanin_core::units::{Rate, Time};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// When the controller recomputes the windows of a congested port, other than on notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reevaluate {
    Never,
    OnFlowChange,
    Periodic,
}

/// Configuration of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControllerConfig {
    pub(crate) classes: ClassConfig,
    /// Whether it acts on low, modest and high congestion.
    pub(crate) acts: [bool; 3],
    /// Factors of the windows at low and modest congestion.
    pub(crate) factors: [f64; 2],
    pub(crate) rtt: Time,
    /// The round-trip time includes the queueing delay, which then counts twice.
    pub(crate) loaded: bool,
    pub(crate) poll: Time,
    pub(crate) reevaluate: Reevaluate,
    /// A congested port regulates all flows of its switch; otherwise those whose data leave by it.
    pub(crate) whole_switch: bool,
    /// Switches hold packets without a buffer: the controller sends them back.
    pub(crate) returns: bool,
    /// Both directions of a connection may carry data; otherwise only that of its SYN.
    pub(crate) both_ways: bool,
    /// A connection is removed at its first FIN; otherwise at its second.
    pub(crate) first_fin: bool,
    /// Seconds after which switches remove entries: those of idle flows, and those that limit windows.
    pub(crate) idle: u16,
    pub(crate) hard: u16,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Controller {
    pub(super) cfg: ControllerConfig,
    /// Rates of the ports of every known switch.
    pub(super) switches: BTreeMap<NodeId, BTreeMap<u32, Rate>>,
    /// GVT: every flow, by its addresses in the direction of its data.
    pub(super) flows: BTreeMap<Addresses, GlobalFlow>,
    /// For each port: the BGT, and the flows whose windows it limits.
    pub(super) lists: Lists,
    pub(super) congested: BTreeMap<EgressPort, Congestion>,
    polling: bool,
    next_xid: u32,
}

impl Controller {
    pub(crate) fn new(cfg: ControllerConfig) -> Self {
        Self {
            cfg,
            switches: BTreeMap::new(),
            flows: BTreeMap::new(),
            lists: Lists::default(),
            congested: BTreeMap::new(),
            polling: false,
            next_xid: 0,
        }
    }

    pub(super) fn send(&mut self, cx: &mut ControllerCx<'_>, to: NodeId, body: Body) {
        self.next_xid = self.next_xid.wrapping_add(1);
        let message = Message { xid: self.next_xid, body }.encode();
        cx.actions.push(ControllerAction::Order { to, message });
    }

    /// Greets a new switch, and requests its ports.
    fn meet(&mut self, cx: &mut ControllerCx<'_>, from: NodeId) {
        if let Entry::Vacant(new) = self.switches.entry(from) {
            new.insert(BTreeMap::new());
            self.send(cx, from, Body::Hello);
            self.send(cx, from, Body::FeaturesRequest);
            self.send(cx, from, Body::PortsRequest);
        }
    }

    fn on_packet_in(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, packet: &PacketIn) {
        let about = &packet.about;
        if let Some(level) = packet.reason.checked_sub(reason::CONGESTION).and_then(Level::of) {
            if let (Some(port), Some(queue)) = (about.in_port, about.buffer_len) {
                self.on_notification(cx, (from, port), level, queue);
            }
            return;
        }
        let (Some(port), Some(in_port), Ok(frame)) = (about.out_port, about.in_port, Frame::read(&packet.data)) else {
            return;
        };
        let released = if frame.has(Flags::FIN) || frame.has(Flags::RST) {
            self.on_end(cx, &frame);
            false
        } else if frame.has(Flags::SYN) {
            self.on_syn(cx, (from, port), &frame, packet.buffer)
        } else {
            false
        };
        let unbuffered = packet.buffer == NO_BUFFER;
        if released || (unbuffered && !self.cfg.returns) {
            return;
        }
        let data = if unbuffered { packet.data.clone() } else { Vec::new() };
        if unbuffered && frame.has(Flags::SYN) {
            // Without it a switch may send the packet before it has the entry (section 6.2).
            self.send(cx, from, Body::BarrierRequest);
        }
        let actions = vec![Action::Output(port)];
        self.send(cx, from, Body::PacketOut(PacketOut { buffer: packet.buffer, in_port, actions, data }));
    }

    fn answer(cx: &mut ControllerCx<'_>, to: NodeId, xid: u32, body: Body) {
        cx.actions.push(ControllerAction::Order { to, message: Message::reply(xid, body) });
    }

    /// Fig. 5: a SYN or SYN-ACK adds to the GVT, and the switch gets an entry. Returns whether that releases the
    /// packet.
    fn on_syn(&mut self, cx: &mut ControllerCx<'_>, at: EgressPort, frame: &Frame, buffer: u32) -> bool {
        let (acks, named) = (frame.has(Flags::ACK), frame.addresses);
        let name = if acks { named.reversed() } else { named };
        let mss = frame.mss.map_or(536, u32::from); // RFC 9293 section 3.7.1: the default
        if !acks {
            self.flows.entry(name).or_insert_with(|| GlobalFlow::new(mss, true));
        }
        let Some(flow) = self.flows.get_mut(&name) else { return false };
        let known = flow.pass(at, acks);
        let joined = if !acks {
            self.join(at, name, known)
        } else if self.cfg.both_ways {
            // READING: S24 a client may have opened the connection, so the data may flow against its SYN.
            let forth = flow.path.clone();
            let back = self.flows.entry(named).or_insert_with(|| GlobalFlow::new(mss, false));
            back.acks = forth;
            let known = back.pass(at, false);
            self.join(at, named, known)
        } else {
            false
        };
        let matching = Match { connection: Some(named), ..Match::default() };
        let change = FlowMod {
            cookie: if acks { cookie::ACKS } else { cookie::DATA },
            command: command::ADD,
            idle: if acks { 0 } else { self.cfg.idle },
            hard: 0,
            priority: priority::FLOW,
            buffer,
            tell: !acks && self.cfg.idle > 0,
            matching,
            actions: vec![Action::Output(at.1)],
        };
        self.send(cx, at.0, Body::FlowMod(change));
        if !self.polling {
            self.polling = true;
            cx.actions.push(ControllerAction::Timer { at: cx.now + self.cfg.poll, token: 0 });
        }
        if joined {
            self.on_change(cx, &[at]);
        }
        buffer != NO_BUFFER
    }

    /// The data of a flow now leave by this port, and no longer by another one of the same switch. Returns whether that
    /// is a change.
    fn join(&mut self, at: EgressPort, name: Addresses, (new, before): (bool, Option<EgressPort>)) -> bool {
        let Some(flow) = self.flows.get(&name).filter(|flow| new && flow.counts) else { return false };
        if let Some(before) = before {
            self.lists.leave(before, &name, flow);
        }
        self.lists.join(at, name, flow);
        true
    }

    /// Fig. 6: a FIN removes the connection from the GVT and from the switches.
    fn on_end(&mut self, cx: &mut ControllerCx<'_>, frame: &Frame) {
        let (forth, back) = (frame.addresses, frame.addresses.reversed());
        let opened = self.flows.get(&forth).is_some_and(|flow| flow.opener);
        let (name, from_receiver) = if opened { (forth, false) } else { (back, true) };
        let Some(flow) = self.flows.get_mut(&name) else { return };
        let fins = flow.on_fin(from_receiver);
        // READING: S20 at the first of the two FINs, because Fig. 6 shows one; a RST ends both directions at once. A
        // FIN of an unknown connection (retransmitted, or the second one) is forwarded and changes nothing.
        if self.cfg.first_fin || fins == 2 || frame.has(Flags::RST) {
            self.remove(cx, &name);
        }
    }

    /// Removes a connection, named by the flow in the direction of its SYN.
    fn remove(&mut self, cx: &mut ControllerCx<'_>, name: &Addresses) {
        let Some(flow) = self.take(name) else { return };
        let back = self.take(&name.reversed());
        let mut delete = |switch, cookie, connection| {
            let matching = Match { connection: Some(connection), ..Match::default() };
            let change = FlowMod::new(command::DELETE, cookie, priority::FLOW, matching, Vec::new());
            self.send(cx, switch, Body::FlowMod(change));
        };
        let limiting = back.iter().flat_map(GlobalFlow::limiting);
        for switch in flow.path.iter().map(|port| port.0).chain(limiting).collect::<BTreeSet<_>>() {
            delete(switch, cookie::DATA, *name);
        }
        // READING: S20 the entry of acknowledgements has a different match than that of data, so it needs its own
        // message. That also covers the entry that limits their windows, whose match is narrower (section 6.4: DELETE
        // is not strict).
        for switch in flow.acks.iter().map(|port| port.0).chain(flow.limiting()).collect::<BTreeSet<_>>() {
            delete(switch, cookie::ACKS, name.reversed());
        }
        for flow in [Some(flow), back].into_iter().flatten().filter(|flow| flow.counts) {
            self.on_change(cx, &flow.path);
        }
    }

    /// Removes a flow from the tables.
    fn take(&mut self, name: &Addresses) -> Option<GlobalFlow> {
        let flow = self.flows.remove(name)?;
        for port in flow.path.iter().filter(|_| flow.counts) {
            self.lists.leave(*port, name, &flow);
        }
        for port in flow.limits.keys() {
            self.lists.limit(*port, name, false);
        }
        Some(flow)
    }

    /// The number of flows at these ports has changed.
    fn on_change(&mut self, cx: &mut ControllerCx<'_>, ports: &[EgressPort]) {
        // READING: S2 there are no notifications in state 3, but each flow is to have its fair window.
        if self.cfg.reevaluate != Reevaluate::OnFlowChange {
            return;
        }
        for port in ports {
            let shares = self.congested.keys().filter(|at| self.cfg.whole_switch && at.0 == port.0).copied();
            let shares: Vec<EgressPort> = if self.cfg.whole_switch { shares.collect() } else { vec![*port] };
            for port in shares {
                self.regulate(cx, port);
            }
        }
    }

    /// Classifies a flow by statistics from one of its switches (Step 2).
    fn on_stats(&mut self, stats: &FlowStats) {
        let Some(name) = stats.matching.connection else { return };
        let Some(flow) = self.flows.get_mut(&name) else { return };
        let before = flow.class;
        flow.on_stats(&stats.counters, &self.cfg.classes);
        if flow.class != before && flow.counts {
            for port in &flow.path {
                self.lists.leave(*port, &name, flow);
                self.lists.join(*port, name, flow);
            }
        }
        self.recount(&name);
        self.recount(&name.reversed());
    }

    /// READING: S24 a direction is not a flow if it carries only acknowledgements and the other direction carries data.
    /// Until one of them has carried data, both count.
    fn recount(&mut self, name: &Addresses) {
        let opposite_has_data = self.flows.get(&name.reversed()).is_some_and(GlobalFlow::carries_data);
        let Some(flow) = self.flows.get_mut(name) else { return };
        let counts = flow.carries_data() || !opposite_has_data;
        if counts != flow.counts {
            flow.counts = counts;
            for port in &flow.path {
                if counts {
                    self.lists.join(*port, *name, flow);
                } else {
                    self.lists.leave(*port, name, flow);
                }
            }
        }
    }
}

impl Role for Controller {
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, message: &[u8]) {
        let Message { xid, body } = match Message::decode(message) {
            Ok(message) => message,
            Err(why) => {
                if let Some((xid, failure)) = Failure::of(message, why) {
                    Self::answer(cx, from, xid, Body::Error(failure));
                }
                return;
            }
        };
        self.meet(cx, from);
        match body {
            Body::EchoRequest(data) => Self::answer(cx, from, xid, Body::EchoReply(data)),
            Body::PacketIn(packet) => self.on_packet_in(cx, from, &packet),
            Body::Ports { ports, .. } => {
                let known = self.switches.entry(from).or_default();
                known.extend(ports.iter().map(|port| (port.port, Rate::from_bps(u64::from(port.kbps) * 1000))));
            }
            Body::FlowStats { flows, .. } => flows.iter().for_each(|stats| self.on_stats(stats)),
            Body::FlowRemoved(removed) => {
                if let Some(name) = removed.matching.connection {
                    self.remove(cx, &name);
                }
            }
            _ => {}
        }
    }

    /// Polls the flow statistics of every switch.
    fn on_timer(&mut self, cx: &mut ControllerCx<'_>, _token: u64) {
        // Without flows there is nothing to poll.
        self.polling = !self.flows.is_empty();
        if !self.polling {
            return;
        }
        let used: BTreeSet<NodeId> = self.flows.values().flat_map(|flow| flow.path.iter().map(|port| port.0)).collect();
        for switch in used {
            if self.switches.get(&switch).is_none_or(BTreeMap::is_empty) {
                self.send(cx, switch, Body::PortsRequest); // The first request or its reply was lost.
            }
            self.send(cx, switch, Body::FlowStatsRequest(FlowStatsRequest { cookie: cookie::DATA }));
            if self.cfg.both_ways {
                self.send(cx, switch, Body::FlowStatsRequest(FlowStatsRequest { cookie: cookie::ACKS }));
            }
        }
        if self.cfg.reevaluate == Reevaluate::Periodic {
            let ports: Vec<EgressPort> = self.congested.keys().copied().collect();
            for port in ports {
                self.regulate(cx, port);
            }
        }
        cx.actions.push(ControllerAction::Timer { at: cx.now + self.cfg.poll, token: 0 });
    }
}

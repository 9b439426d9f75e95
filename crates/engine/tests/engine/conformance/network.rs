//! Random packets, messages and timers at every scheme's queue, switch agent and controller, which share one switch.

use super::{RATE, field, for_every_scheme, node_facts, skewed};
use fanin_engine::ids::{FlowId, LinkId, NodeId};
use fanin_engine::packet::{Addresses, Flags, Packet, Stamp};
use fanin_engine::rng::Stream;
use fanin_engine::roles::{
    AddressBook, Admission, Backlog, Controller, ControllerAction, ControllerCx, Pass, Passage, QueueCx,
    QueueDiscipline, SwitchAction, SwitchAgent, SwitchCx, SwitchPort,
};
use fanin_engine::schemes::{NetworkFacts, Scheme};
use fanin_engine::units::{Size, Time};
use std::any::Any;
use std::collections::{BTreeSet, VecDeque};

const PORTS: usize = 4;
const FLOWS: u64 = 40;
/// Most packets of a port.
const BUFFER: u32 = 50;
const SWITCH: usize = 0;

/// Addresses that follow from the flow's number.
struct Book;

impl AddressBook for Book {
    fn addresses(&self, flow: FlowId) -> Addresses {
        let [high, low] = (flow.index() as u16).to_be_bytes();
        Addresses { src: [10, 0, high, low], dst: [10, 1, 0, 0], src_port: 10_000 + flow.index() as u16, dst_port: 80 }
    }
}

struct Port {
    discipline: Box<dyn QueueDiscipline>,
    bands: Vec<VecDeque<Packet>>,
}

impl Port {
    fn backlogs(&self) -> Vec<Backlog> {
        let of = |band: &VecDeque<Packet>| Backlog {
            packets: band.len() as u32,
            bytes: band.iter().map(|packet| u64::from(packet.size)).sum(),
        };
        self.bands.iter().map(of).collect()
    }
}

fn sum(bands: &[Backlog]) -> Backlog {
    let add =
        |sum: Backlog, band: &Backlog| Backlog { packets: sum.packets + band.packets, bytes: sum.bytes + band.bytes };
    bands.iter().fold(Backlog::default(), add)
}

/// One switch with its ports, and the controller.
struct Network {
    now: Time,
    ports: Vec<Port>,
    node: Box<dyn Any + Send>,
    random: Stream,
    agent: Option<Box<dyn SwitchAgent>>,
    controller: Option<Box<dyn Controller>>,
    switch_actions: Vec<SwitchAction>,
    controller_actions: Vec<ControllerAction>,
    switch_timers: BTreeSet<(Time, u64)>,
    controller_timers: BTreeSet<(Time, u64)>,
    reports: Vec<Vec<u8>>,
    orders: Vec<Vec<u8>>,
    kept: i64,
}

impl Network {
    fn new(scheme: &dyn Scheme) -> Self {
        let facts = node_facts(SWITCH);
        let port = || {
            let discipline = scheme.queue(&facts).unwrap_or_else(fanin_engine::queue::drop_tail);
            let bands = (0..discipline.bands()).map(|_| VecDeque::new()).collect();
            Port { discipline, bands }
        };
        Self {
            now: Time::ZERO,
            ports: (0..PORTS).map(|_| port()).collect(),
            node: scheme.node_state(&facts),
            random: Stream::named(1, "port"),
            agent: scheme.switch_agent(&facts),
            controller: scheme.controller(&NetworkFacts { base_rtt: facts.base_rtt, mss: facts.mss }),
            switch_actions: Vec::new(),
            controller_actions: Vec::new(),
            switch_timers: BTreeSet::new(),
            controller_timers: BTreeSet::new(),
            reports: Vec::new(),
            orders: Vec::new(),
            kept: 0,
        }
    }

    fn tell_agent(&mut self, call: impl FnOnce(&mut dyn SwitchAgent, &mut SwitchCx<'_>) -> Option<Pass>) {
        let Some(agent) = &mut self.agent else { return };
        let mut cx = SwitchCx {
            now: self.now,
            switch: NodeId::new(SWITCH),
            node: &mut *self.node,
            book: &Book,
            actions: &mut self.switch_actions,
        };
        let pass = call(&mut **agent, &mut cx);
        self.kept += i64::from(pass == Some(Pass::Keep));
        assert!(self.switch_actions.len() <= 10_000, "{} actions at once", self.switch_actions.len());
        for action in std::mem::take(&mut self.switch_actions) {
            match action {
                SwitchAction::Report(bytes) => self.reports.push(bytes),
                SwitchAction::Inject { packet, to } => {
                    self.kept -= 1;
                    self.enqueue(to.index() / 2 % PORTS, packet);
                }
                SwitchAction::Discard { .. } => self.kept -= 1,
                SwitchAction::Control { .. } => {}
                SwitchAction::Timer { at, token } => {
                    self.switch_timers.insert((at.max(self.now), token));
                }
            }
            assert!(self.kept >= 0, "it sends a packet that it did not keep");
        }
    }

    fn tell_controller(&mut self, call: impl FnOnce(&mut dyn Controller, &mut ControllerCx<'_>)) {
        let Some(controller) = &mut self.controller else { return };
        call(&mut **controller, &mut ControllerCx { now: self.now, actions: &mut self.controller_actions });
        assert!(self.controller_actions.len() <= 10_000, "{} actions at once", self.controller_actions.len());
        for action in self.controller_actions.drain(..) {
            match action {
                ControllerAction::Order { message, .. } => self.orders.push(message),
                ControllerAction::Timer { at, token } => {
                    self.controller_timers.insert((at.max(self.now), token));
                }
            }
        }
    }

    fn pass(&mut self, stream: &mut Stream) {
        let (from, to) = (stream.below(PORTS as u64) as usize, stream.below(PORTS as u64) as usize);
        let mut packet = any_packet(stream, self.now);
        let sent = packet;
        let backlog = sum(&self.ports[to].backlogs());
        let passage = Passage {
            from: LinkId::new(2 * from),
            to: LinkId::new(2 * to + 1),
            backlog,
            buffer: u64::from(BUFFER) * 1500,
            rate: RATE,
        };
        let mut fate = Pass::Forward;
        self.tell_agent(|agent, cx| {
            fate = agent.on_packet(cx, &mut packet, &passage);
            Some(fate)
        });
        assert_eq!((packet.flow, packet.seq, packet.size), (sent.flow, sent.seq, sent.size), "another packet");
        if fate == Pass::Forward {
            self.enqueue(to, packet);
        }
    }

    fn enqueue(&mut self, to: usize, mut packet: Packet) {
        let port = &mut self.ports[to];
        loop {
            let bands = port.backlogs();
            let shown = if bands.len() > 1 { &bands[..] } else { &[] };
            let mut cx = QueueCx {
                now: self.now,
                backlog: sum(&bands),
                bands: shown,
                rate: RATE,
                buffer: Some(Size::Packets(u64::from(BUFFER))),
                random: &mut self.random,
                node: &mut *self.node,
                would_mark: false,
            };
            if cx.backlog.packets < BUFFER {
                if let Admission::Enqueue(band) = port.discipline.on_enqueue(&mut cx, &mut packet) {
                    let last = port.bands.len() - 1;
                    port.bands[usize::from(band).min(last)].push_back(packet);
                }
                return;
            }
            let Some(victim) = port.discipline.on_full(&mut cx, &packet) else { return };
            if port.bands.get_mut(usize::from(victim)).and_then(VecDeque::pop_back).is_none() {
                return;
            }
        }
    }

    fn dequeue(&mut self, from: usize) {
        let port = &mut self.ports[from];
        let Some(mut packet) = port.bands.iter_mut().find_map(VecDeque::pop_front) else { return };
        let bands = port.backlogs();
        if port.discipline.acts_on_dequeue() {
            let mut cx = QueueCx {
                now: self.now,
                backlog: sum(&bands),
                bands: &bands,
                rate: RATE,
                buffer: Some(Size::Packets(u64::from(BUFFER))),
                random: &mut self.random,
                node: &mut *self.node,
                would_mark: false,
            };
            port.discipline.on_dequeue(&mut cx, &mut packet);
        }
    }

    /// Lets time pass, with a few of the timers that are due in it.
    fn wait(&mut self, until: Time) {
        for _ in 0..50 {
            let first = |timers: &BTreeSet<(Time, u64)>| timers.first().copied().filter(|(at, _)| *at <= until);
            if let Some(timer) = first(&self.switch_timers) {
                self.switch_timers.remove(&timer);
                self.now = self.now.max(timer.0);
                self.tell_agent(|agent, cx| {
                    agent.on_timer(cx, timer.1);
                    None
                });
            }
            if let Some(timer) = first(&self.controller_timers) {
                self.controller_timers.remove(&timer);
                self.now = self.now.max(timer.0);
                self.tell_controller(|controller, cx| controller.on_timer(cx, timer.1));
            }
        }
        self.now = self.now.max(until);
    }

    /// A report reaches the controller: one of the agent's, or anything.
    fn report(&mut self, stream: &mut Stream) {
        let message = any_message(stream, &mut self.reports);
        let from = NodeId::new(stream.below(3) as usize);
        self.tell_controller(|controller, cx| controller.on_message(cx, from, &message));
    }

    /// An order reaches the agent: one of the controller's, or anything.
    fn order(&mut self, stream: &mut Stream) {
        let message = any_message(stream, &mut self.orders);
        self.tell_agent(|agent, cx| {
            agent.on_message(cx, &message);
            None
        });
    }
}

/// One of the real messages as it is, shortened or with a byte changed; or random bytes.
fn any_message(stream: &mut Stream, real: &mut Vec<Vec<u8>>) -> Vec<u8> {
    if real.is_empty() || stream.below(4) == 0 {
        return (0..skewed(stream, 200)).map(|_| stream.bits() as u8).collect();
    }
    let mut message = real.swap_remove(stream.below(real.len() as u64) as usize);
    match stream.below(4) {
        0 => message.truncate(stream.below(message.len() as u64 + 1) as usize),
        1 if !message.is_empty() => {
            let at = stream.below(message.len() as u64) as usize;
            message[at] = stream.bits() as u8;
        }
        _ => {}
    }
    message
}

/// A SYN, SYN-ACK, acknowledgement, data or FIN of any flow, in any order.
fn any_packet(stream: &mut Stream, now: Time) -> Packet {
    let kinds = [Flags::SYN, Flags::SYN.with(Flags::ACK), Flags::ACK, Flags::NONE, Flags::NONE, Flags::FIN];
    let flags = kinds[stream.below(kinds.len() as u64) as usize];
    // Fields draw in the order in which they stand here.
    Packet {
        flow: FlowId::new(stream.below(FLOWS) as usize),
        seq: if flags.has(Flags::SYN) { 0 } else { 1 + skewed(stream, 1 << 32) as u32 },
        size: if flags == Flags::NONE { 41 + stream.below(1460) as u16 } else { 40 },
        flags: flags
            .with_if(Flags::ECT, stream.below(2) == 0)
            .with_if(Flags::ECE, stream.below(4) == 0)
            .with_if(Flags::RETRANSMITTED, stream.below(5) == 0)
            .with_window_scale(if flags.has(Flags::SYN) { stream.below(15) as u8 } else { 0 }),
        field: field(stream),
        stamp: Stamp::of(now),
        window: stream.bits() as u16,
        priority: stream.below(9) as u8,
        ..Packet::default()
    }
}

#[test]
fn packets_messages_and_timers_in_any_order_are_survived() {
    for_every_scheme("network", 8, |scheme, stream| {
        let mut network = Network::new(scheme);
        let ports: Vec<SwitchPort> = (0..PORTS)
            .map(|port| SwitchPort {
                from: LinkId::new(2 * port),
                to: LinkId::new(2 * port + 1),
                rate: RATE,
                host: true,
                peer: NodeId::new(100 + port),
            })
            .collect();
        network.tell_agent(|agent, cx| {
            agent.on_start(cx, &ports);
            None
        });
        network.tell_controller(|controller, cx| controller.on_start(cx));
        for _ in 0..3000 {
            let until = network.now + Time::from_ps(skewed(stream, 1_000_000_000));
            network.wait(until);
            match stream.below(20) {
                0..=9 => network.pass(stream),
                10..=16 => network.dequeue(stream.below(PORTS as u64) as usize),
                17..=18 => network.report(stream),
                _ => network.order(stream),
            }
        }
        for port in 0..PORTS {
            while network.ports[port].bands.iter().any(|band| !band.is_empty()) {
                network.dequeue(port);
            }
        }
    });
}

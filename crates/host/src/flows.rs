//! Opening flows, reading their counters, and releasing finished flows.

use crate::finished::balances;
use crate::flow::{ArrivalTimes, Dialogue, Flow, Grant, Purpose, ReceiverSide, Wire};
use crate::hosts::{Endpoint, Hosts};
use fanin_core::ids::{FlowId, GroupId, NodeId, TransferId};
use fanin_core::packet::Stamp;
use fanin_core::roles::{Announcement, PathRequest};
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_measure::counters::Counters;
use fanin_measure::timeouts::TimeoutCause;
use fanin_net::network::Network;
use fanin_net::paths::{Offers, choose};
use fanin_port::spec::drop_stack;
use fanin_schemes::FlowFacts;
use fanin_tcp::FIRST_DATA;
use fanin_tcp::receiver::Receiver;
use fanin_tcp::sender::Sender;

/// A flow that is about to open.
pub struct Opening {
    pub group: GroupId,
    pub from: NodeId,
    pub to: NodeId,
    /// Size of its first data in bytes; none if they are endless.
    pub bytes: Option<u64>,
    /// The transfer whose data or request it carries first.
    pub transfer: TransferId,
    /// Its end points, by traffic group.
    pub endpoint: usize,
    /// Its sender says how much it will send.
    pub announces_size: bool,
    /// The flow of the request to which it responds on the same connection.
    pub asked_on: Option<FlowId>,
    /// Time until a segment is acknowledged in an otherwise idle network, if these end points ask for it.
    pub idle_rtt: Option<Time>,
}

/// The choice among the equal-cost paths of a flow.
struct Chosen {
    number: usize,
    /// Tag of the packets that take the path.
    tag: u64,
    /// Where the first flowcell ends, as [`Wire`] has it, and the number of paths, if the flow may take another one.
    cells: Option<(u64, usize)>,
}

/// The receiving side of a flow whose host knows the round trip, or began the handshake.
fn receiving(endpoint: &Endpoint, rtt: Option<Time>, opener: bool) -> ReceiverSide {
    let state = Receiver::of(&endpoint.receiver, rtt, opener);
    let &Endpoint { buffer, scale, .. } = endpoint;
    // A window that grows bounds the SYN-ACK too.
    let first = state.linux_window().unwrap_or(buffer);
    let granted = Grant { unscaled: Grant::of(first, buffer, 0).unscaled, ..Grant::of(buffer, buffer, scale) };
    ReceiverSide {
        state,
        order: None,
        granted,
        held: None,
        priority: 0,
        timer_at: Time::NEVER,
        syn_stamp: Stamp::default(),
        syn_again: false,
        ecn_agreed: false,
        field: 0,
        boundary: u64::MAX,
        unannounced: false,
        last_delay: None,
        segments: 0,
        acks_sent: 0,
        ack_bytes_sent: 0,
    }
}

/// How long before the run a host's tick began, of hosts that are spread over a tick: multiples of the golden ratio are.
fn begun(host: NodeId, tick: Time) -> Time {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let share = (host.index() as u64).wrapping_mul(GOLDEN);
    Time::from_ps(((u128::from(tick.ps()) * u128::from(share)) >> 64) as u64)
}

/// The propagation delay of a path, and its number of links.
fn propagation<C>(path: u32, net: &Network<C>) -> (Time, u32) {
    net.paths.links(path).fold((Time::ZERO, 0), |(delay, links), link| {
        (delay.saturating_add(net.topology.links[link.index()].delay), links + 1)
    })
}

impl Hosts {
    /// Of how much payload these end points ask for the round-trip time in an idle network: their scheme of a full
    /// segment; if the connection is `open` already, their stack of the handshake, which has none.
    pub fn asks_idle_rtt(&self, endpoint: usize, open: bool) -> Option<u64> {
        let Endpoint { scheme, sender, .. } = &self.endpoints[endpoint];
        let handshake = (open && sender.knows_open_path).then_some(0);
        if self.schemes[*scheme].wants_idle_rtt() { Some(sender.mss) } else { handshake }
    }

    /// Whether the scheme of these end points follows requests.
    pub fn follows_requests(&self, endpoint: usize) -> bool {
        self.schemes[self.endpoints[endpoint].scheme].follows_requests()
    }

    /// Adds a flow. Nothing is sent yet.
    pub fn open_flow<C: EventCore>(&mut self, opening: &Opening, net: &mut Network<C>) -> FlowId {
        let id = FlowId::new(self.flows.count());
        let &Opening { group, from, transfer, announces_size, asked_on, idle_rtt, .. } = opening;
        let wire = self.wire(id, opening, net);
        let endpoint = &self.endpoints[opening.endpoint];
        let cc = self.schemes[endpoint.scheme].congestion_control(&self.facts(opening, &wire, net));
        let mut sender = Sender::new(&endpoint.sender, cc, endpoint.receiver.ecn);
        // The host that was asked has measured the handshake (`tcp_synack_rtt_meas`), others the idle path.
        let handshake = asked_on.and_then(|request| self.flows.get(request)?.handshake);
        let open_path = handshake.or(idle_rtt).filter(|_| endpoint.sender.knows_open_path);
        if let Some(rtt) = open_path {
            sender.know_open_path(rtt);
        }
        if endpoint.sender.linux.is_some_and(|linux| linux.ticks_apart) {
            sender.begin_tick_before(begun(from, endpoint.sender.rto.tick()));
        }
        let mut receiver = receiving(endpoint, open_path.or(idle_rtt), asked_on.is_some());
        if let Some(rtt) = handshake {
            receiver.state.know_handshake(rtt, net.now());
        }
        self.flows.push(Flow {
            sender,
            receiver,
            wire,
            purpose: Purpose::Data,
            transfer,
            dialogue: Dialogue::default(),
            carried: Announcement::default(),
            closing: false,
            announces_size,
            timeouts: [0; TimeoutCause::ALL.len()],
            timer_wait: Time::ZERO,
            probe_wait: Time::ZERO,
            asked_on,
            syn_answered: Time::NEVER,
            handshake: None,
            window_probes: 0,
            loss_probes: 0,
            arrived: 0,
            acks_arrived: 0,
            arrived_bytes: 0,
            ack_bytes_arrived: 0,
            probed: false,
            riding: None,
            arrivals: ArrivalTimes::default(),
            stack: 0,
        });
        net.core.books().add_flow(group);
        id
    }

    /// What its scheme knows of a flow that opens on these paths.
    fn facts<C>(&self, opening: &Opening, wire: &Wire, net: &Network<C>) -> FlowFacts {
        let Endpoint { scheme, sender, .. } = &self.endpoints[opening.endpoint];
        let host = self.by_node[wire.from.index()].as_ref().expect("flows begin at hosts");
        let [forth, back] = [wire.forward, wire.reverse].map(|path| propagation(path, net));
        FlowFacts {
            flow: wire.id,
            bytes: opening.bytes,
            mss: sender.mss,
            packet: sender.mss + u64::from(net.header),
            rate: net.topology.links[host.uplink.index()].rate,
            hops: forth.1 - 1,
            base_rtt: forth.0 + back.0,
            idle_rtt: opening.idle_rtt.filter(|_| self.schemes[*scheme].wants_idle_rtt()),
            paced: sender.interface.is_some_and(|interface| interface.paced),
        }
    }

    fn wire<C: EventCore>(&mut self, id: FlowId, opening: &Opening, net: &mut Network<C>) -> Wire {
        let &Opening { group, from, to, endpoint, .. } = opening;
        let Chosen { number, tag, cells } = self.choose_path(id, from, to, net);
        let back = self.choose_path(id, to, from, net).number;
        let mut take = |from, to, number| net.paths.take(from, to, number, &net.topology);
        let reverse = take(to, from, back);
        let cell_paths: Box<[u32]> = match cells {
            Some((_, paths)) => (0..paths).map(|number| take(from, to, number)).collect(),
            None => Box::default(),
        };
        let forward = cell_paths.get(number).copied().unwrap_or_else(|| take(from, to, number));
        Wire {
            id,
            forward,
            reverse,
            from,
            to,
            group,
            endpoint: endpoint as u32,
            header: net.header,
            ecn_ack: self.endpoints[endpoint].receiver.ecn_ack,
            scale: self.endpoints[endpoint].scale,
            cell_end: cells.map_or(u64::MAX, |(end, _)| end),
            sent_at: Time::NEVER,
            cell_paths,
            tag,
            announcement: 0,
            sent_bytes: 0,
        }
    }

    /// Chooses among the equal-cost paths of a flow.
    fn choose_path<C: EventCore>(&mut self, flow: FlowId, from: NodeId, to: NodeId, net: &mut Network<C>) -> Chosen {
        let paths = net.paths.count(from, to, &net.topology);
        if paths == 1 {
            return Chosen { number: 0, tag: 0, cells: None };
        }
        let host = self.by_node[from.index()].as_mut().expect("flows join hosts");
        let hash = net.paths.hash(flow);
        let request = PathRequest { flow, from, to, paths, hash, cell: 0, current: None, seq: 0, idle: Time::ZERO };
        let (now, offers) = (net.core.now(), Offers::of(&mut net.paths, from, to, &net.topology));
        let (number, tag) = choose(&offers, &mut *host.selector, net.core.node(host.edge), now, &request);
        let cell = host.selector.cell().filter(|cell| *cell > 0).map(|cell| cell + FIRST_DATA);
        let end = if host.selector.asks_anew() { Some(0) } else { cell };
        Chosen { number, tag, cells: end.map(|end| (end, paths)) }
    }

    /// The counters of a flow up to now. A port applies marks at dequeue only when it is read, so the ports on the
    /// flow's paths are read first.
    pub fn counters<C: EventCore>(&self, flow: FlowId, net: &mut Network<C>) -> Counters {
        let state = &self.flows[flow];
        if net.marks_late {
            for path in std::iter::once(&state.wire.forward).chain(&state.wire.cell_paths[..]) {
                for link in net.paths.links(*path) {
                    net.core.backlog(link);
                }
            }
        }
        let book = &net.core.books().flows[flow];
        Counters {
            retransmissions: book.retransmissions,
            loss_probes: u64::from(state.loss_probes),
            timeouts: state.timeouts,
            timer_wait: state.timer_wait,
            probe_wait: state.probe_wait,
            drops: book.drops,
            marks: book.marks,
        }
    }

    /// A flow carries no more data. It is released later, when it has finished.
    pub fn close_flow<C: EventCore>(&mut self, flow: FlowId, net: &mut Network<C>) {
        self.finished.closing.push(flow);
        if self.finished.is_due() {
            let mut closing = std::mem::take(&mut self.finished.closing);
            closing.retain(|flow| !self.let_go(*flow, net));
            self.finished.keep(closing);
        }
    }

    /// Releases a flow if it has finished.
    fn let_go<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) -> bool {
        let (flow, book) = (&self.flows[id], &net.core.books().flows[id]);
        if !flow.is_done() || !balances(flow, book) || self.is_known(id) {
            return false;
        }
        let Some(flow) = self.flows.take(id) else { return true };
        net.core.books().close_flow(id);
        drop_stack(flow.stack, net.core.stacks());
        self.finished.add(&flow);
        let Wire { forward, reverse, cell_paths, .. } = &flow.wire;
        let forth = if cell_paths.is_empty() { std::slice::from_ref(forward) } else { cell_paths };
        forth.iter().chain([reverse]).for_each(|path| net.paths.give_back(*path));
        true
    }
}

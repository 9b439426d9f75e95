//! Tests of the scheduler in the last switch where it serves two hosts: one division of queue-max, and one list in which
//! the packets of requests wait with acknowledgements.

use crate::NodeFacts;
use crate::rcce::ROW;
use crate::rcce::lines::incoming;
use crate::rcce::state::EdgeState;
use fanin_core::ids::{FlowId, LinkId, NodeId};
use fanin_core::packet::{Addresses, Flags, Packet};
use fanin_core::roles::{
    AddressBook, Announcement, Backlog, Pass, Passage, SwitchAction, SwitchAgent, SwitchCx, SwitchPort,
};
use fanin_core::units::{Rate, Time};
use fanin_param::Values;

const MSS: u64 = 1446;
const HEADER: u16 = 54;
const RATE: Rate = Rate::from_bps(1_000_000_000);
/// The link to the rest of the network. The link from a neighbour has its number plus ten.
const UP: usize = 5;
/// Links to the hosts.
const HOSTS: [usize; 2] = [7, 8];
/// Bytes of buffer at every port.
const BUFFER: u64 = 120_000;
/// The flow of the response to a request is that of the request plus this.
const RESPONSE: usize = 100;
/// Segments of a response.
const SEGMENTS: u64 = 2;

/// Flows below [`RESPONSE`] are requests.
struct Book;

impl AddressBook for Book {
    fn addresses(&self, _flow: FlowId) -> Addresses {
        Addresses::default()
    }
    fn response(&self, flow: FlowId) -> Option<FlowId> {
        (flow.index() < RESPONSE).then(|| FlowId::new(flow.index() + RESPONSE))
    }
    fn announced(&self, _flow: FlowId) -> Announcement {
        Announcement { bytes: Some(SEGMENTS * MSS), deadline: None }
    }
}

/// A port of the switch.
fn port(to: usize, rate: Rate) -> SwitchPort {
    SwitchPort { from: LinkId::new(to + 10), to: LinkId::new(to), rate, host: to != UP, peer: NodeId::new(to) }
}

/// A switch with the scheduler and two hosts.
struct Rack {
    agent: Box<dyn SwitchAgent>,
    node: EdgeState,
    timers: Vec<(Time, u64)>,
    now: Time,
    /// Bytes that a packet finds in its port.
    backlog: u64,
    /// Packets that have left towards the rest of the network.
    left: Vec<Packet>,
}

impl Rack {
    fn new(values: &[(&str, &str)]) -> Self {
        Self::behind(RATE, values)
    }

    /// As `new`, with another rate of the link to the rest of the network.
    fn behind(up: Rate, values: &[(&str, &str)]) -> Self {
        let params = Values::defaults(&[ROW.params]).with("edge-mode", "tor-proxy");
        let params = values.iter().fold(params, |params, (key, value)| params.with(key, value));
        let facts =
            NodeFacts { node: NodeId::new(0), rate: RATE, base_rtt: Time::from_us(160), mss: MSS, packet: 1500 };
        let agent = (ROW.build)(&params).switch_agent(&facts).expect("the scheduler is in the switch");
        let (node, timers, left) = (EdgeState::default(), Vec::new(), Vec::new());
        let mut rack = Self { agent, node, timers, now: Time::ZERO, backlog: 0, left };
        let ports = [port(UP, up), port(HOSTS[0], RATE), port(HOSTS[1], RATE)];
        rack.act(|agent, cx| agent.on_start(cx, &ports));
        rack
    }

    fn act<R>(&mut self, act: impl FnOnce(&mut dyn SwitchAgent, &mut SwitchCx<'_>) -> R) -> R {
        let mut actions = Vec::new();
        let (now, switch, node) = (self.now, NodeId::new(0), &mut self.node);
        let result = act(&mut *self.agent, &mut SwitchCx { now, switch, node, book: &Book, actions: &mut actions });
        for action in actions {
            match action {
                SwitchAction::Inject { packet, to } => {
                    assert_eq!(to, LinkId::new(UP));
                    self.left.push(packet);
                }
                SwitchAction::Timer { at, token } => self.timers.push((at, token)),
                other => panic!("{other:?}: nothing is discarded, and there are no trees"),
            }
        }
        result
    }

    /// A packet comes from one neighbour for another.
    fn pass(&mut self, [from, to]: [usize; 2], flow: usize, packet: Packet) {
        let mut packet = Packet { flow: FlowId::new(flow), ..packet };
        let passage = Passage {
            from: LinkId::new(from + 10),
            to: LinkId::new(to),
            backlog: Backlog { bytes: self.backlog, ..Backlog::default() },
            buffer: BUFFER,
            rate: RATE,
        };
        let pass = self.act(|agent, cx| agent.on_packet(cx, &mut packet, &passage));
        assert_ne!(pass, Pass::Drop);
        if pass == Pass::Forward && to == UP {
            self.left.push(packet);
        }
    }

    /// A host opens a connection and asks on it.
    fn ask(&mut self, request: usize, host: usize) {
        let way = [HOSTS[host], UP];
        self.pass(way, request, Packet { flags: Flags::SYN, size: HEADER, ..Packet::default() });
        self.pass([UP, HOSTS[host]], request, Packet { flags: Flags::SYN.with(Flags::ACK), ..Packet::default() });
        self.pass(way, request, Packet { seq: 1, size: HEADER, ..Packet::default() });
        self.pass(way, request, Packet { seq: 1, size: HEADER + 200, ..Packet::default() });
    }

    /// A connection to a host opens, which announces more bytes than the tests send.
    fn open(&mut self, flow: usize, host: usize) {
        let field = Announcement { bytes: Some(1000 * MSS), deadline: None }.field();
        self.pass([UP, HOSTS[host]], flow, Packet { flags: Flags::SYN, field, ..Packet::default() });
        let syn_ack = Packet { flags: Flags::SYN.with(Flags::ACK), window: u16::MAX, ..Packet::default() };
        self.pass([HOSTS[host], UP], flow, syn_ack);
    }

    /// Until all timers have fired.
    fn wait(&mut self) {
        for (at, token) in std::mem::take(&mut self.timers) {
            self.now = at;
            self.act(|agent, cx| agent.on_timer(cx, token));
        }
    }

    /// The flows of the packets that have left since the last call.
    fn flows(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.left).iter().map(|packet| packet.flow.index()).collect()
    }

    /// A segment comes for a host, leaves the switch, and the host acknowledges it.
    fn segment(&mut self, flow: usize, host: usize, number: u64, fin: Flags) {
        let seq = (1 + number * MSS) as u32;
        self.pass([UP, HOSTS[host]], flow, Packet { seq, size: 1500, flags: fin, ..Packet::default() });
        self.wait();
        let ack = Packet { seq: seq + MSS as u32, window: u16::MAX, ..Packet::default() };
        self.pass([HOSTS[host], UP], flow, Packet { flags: Flags::ACK.with(fin), size: HEADER, ..ack });
    }

    /// What has left since the last call: flow and size of each packet, without SYNs.
    fn sent(&mut self) -> Vec<(usize, u16)> {
        let left = std::mem::take(&mut self.left).into_iter().filter(|packet| !packet.flags.has(Flags::SYN));
        left.map(|packet| (packet.flow.index(), packet.size)).collect()
    }
}

/// The packets of these requests, each with the one that ends its handshake.
fn whole(requests: &[usize]) -> Vec<(usize, u16)> {
    requests.iter().flat_map(|request| [(*request, HEADER), (*request, HEADER + 200)]).collect()
}

#[test]
fn windows_of_connections_to_two_hosts_are_one_division_of_queue_max() {
    // Section IV: the centralized scheduler at the edge has the window assignment for all the flows.
    let windows = |scheduler: &str| {
        let mut rack = Rack::new(&[("queue-max", "12"), ("edge-scheduler", scheduler)]);
        let ends = [(200, 0), (201, 0), (202, 1), (203, 1)];
        for (flow, host) in ends {
            rack.open(flow, host);
        }
        for number in 0..20 {
            for (flow, host) in ends {
                rack.segment(flow, host, number, Flags::NONE);
            }
        }
        ends.map(|(flow, _)| {
            let mut acks = rack.left.iter().rev().filter(|packet| packet.flow.index() == flow);
            u64::from(acks.next().expect("it was acknowledged").window) / MSS
        })
    };
    assert_eq!(windows("central"), [3; 4], "12 segments for both hosts");
    assert_eq!(windows("per-host"), [6; 4], "12 for each");
}

#[test]
fn requests_of_two_hosts_wait_in_one_list_with_the_last_packets_of_their_handshakes() {
    // Three segments may be in flight (Algorithm 2, line 6). The hosts ask in turn.
    let mut rack = Rack::new(&[("queue-max", "2")]);
    (0..6).for_each(|request| rack.ask(request, request % 2));
    assert_eq!(rack.sent(), whole(&[0, 1, 2]), "three, whichever host asks");
    // The acknowledgement of a response that has begun goes before requests, whose responses have no size yet (E24).
    rack.segment(RESPONSE, 0, 0, Flags::NONE);
    assert_eq!(rack.sent(), [(RESPONSE, HEADER)]);
    // The place of a response to host 0 that is complete goes to the oldest request, which is one of host 1.
    rack.segment(RESPONSE, 0, 1, Flags::FIN);
    assert_eq!(rack.sent(), [&whole(&[3])[..], &[(RESPONSE, HEADER)]].concat());
    // And the other way round.
    rack.segment(RESPONSE + 1, 1, 0, Flags::NONE);
    rack.segment(RESPONSE + 1, 1, 1, Flags::FIN);
    assert_eq!(rack.sent(), [&[(RESPONSE + 1, HEADER)][..], &whole(&[4]), &[(RESPONSE + 1, HEADER)]].concat());
    for (request, host) in [(2, 0), (3, 1), (4, 0), (5, 1)] {
        rack.segment(RESPONSE + request, host, 0, Flags::NONE);
        rack.segment(RESPONSE + request, host, 1, Flags::FIN);
    }
    let ends = |request| [(RESPONSE + request, HEADER), (RESPONSE + request, HEADER)];
    let rest = [&ends(2)[..1], &whole(&[5]), &ends(2)[1..], &ends(3), &ends(4), &ends(5)].concat();
    assert_eq!(rack.sent(), rest, "every packet has left once");
}

#[test]
fn an_acknowledgement_is_overtaken_as_often_as_the_link_from_other_switches_allows() {
    // E25: half the packets that this link, and not those to the hosts, carries in 50 us.
    for (mbps, times) in [(500, 1), (1000, 2), (2000, 4)] {
        let rules = [("queue-max", "1"), ("release", "below"), ("rto-r", "off"), ("rto-r-min", "50us")];
        let mut rack = Rack::behind(Rate::from_bps(mbps * 1_000_000), &rules);
        rack.open(200, 0);
        rack.open(201, 1);
        assert_eq!(rack.flows(), [200], "one segment may be in flight");
        for number in 0..times {
            rack.segment(200, 0, number, Flags::NONE);
            assert_eq!(rack.flows(), [200], "{mbps} Mbit/s, segment {number}: fewer bytes remain of 200");
        }
        rack.segment(200, 0, times, Flags::NONE);
        assert_eq!(rack.flows(), [201], "{mbps} Mbit/s");
    }
}

#[test]
fn data_can_arrive_at_the_rate_of_all_links_from_other_switches_or_else_of_the_fastest_host() {
    let gbps = |rate: u64| Rate::from_bps(rate * 1_000_000_000);
    let hosts = [port(HOSTS[0], gbps(10)), port(HOSTS[1], gbps(25))];
    assert_eq!(incoming(&[hosts[0], port(UP, gbps(1)), hosts[1], port(UP, gbps(2))]), gbps(3));
    assert_eq!(incoming(&hosts), gbps(25), "one switch");
}

#[test]
fn a_segment_that_a_full_port_drops_has_not_arrived() {
    for counts in ["departures", "arrivals"] {
        for (backlog, arrives) in [(BUFFER - 1500, true), (BUFFER - 1499, false)] {
            let rules = [("queue-max", "1"), ("release", "below"), ("rto-r", "off"), ("proxy-counts", counts)];
            let mut rack = Rack::new(&rules);
            rack.open(200, 0);
            assert_eq!(rack.flows(), [200]);
            rack.backlog = backlog;
            rack.pass([UP, HOSTS[0]], 200, Packet { seq: 1, size: 1500, ..Packet::default() });
            rack.wait();
            rack.backlog = 0;
            // The place in flight is free only if the segment has arrived.
            rack.open(201, 1);
            assert_eq!(rack.flows(), if arrives { vec![201] } else { vec![] }, "{counts}, {backlog} bytes");
        }
    }
}

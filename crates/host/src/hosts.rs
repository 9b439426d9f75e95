//! All hosts: their flows, their roles, and the settings of their end points.

use crate::finished::Finished;
use crate::flow::Flows;
use crate::interfaces::Interfaces;
use fanin_core::ids::{FlowId, GroupId, LinkId, NodeId};
use fanin_core::roles::{PathSelector, ReceiverAction, WindowControl};
use fanin_core::telemetry::Telemetry;
use fanin_core::units::Time;
use fanin_measure::delay::DelayStats;
use fanin_measure::probes::HostProbes;
use fanin_port::slots::Slots;
use fanin_schemes::Scheme;
use fanin_tcp::receiver::{AckList, ReceiverConfig};
use fanin_tcp::sender::SenderConfig;

/// The common settings of the end points of a traffic group.
pub struct Endpoint {
    pub sender: SenderConfig,
    pub receiver: ReceiverConfig,
    /// Receive buffer in bytes: the largest advertised window.
    pub buffer: u64,
    /// Window scale (RFC 7323 section 2.2).
    pub scale: u8,
    /// Scheme of the end points, by index.
    pub scheme: usize,
    /// Least time between two interrupts of a receiving interface; zero hands over each packet when it arrives.
    pub interrupts: Time,
    /// Bytes of the largest segment that a receiving host merges, headers included; zero if it merges none.
    pub gro: u64,
    /// Packets that a sending host's queue holds, if that is limited.
    pub host_queue: Option<usize>,
}

/// One host's roles.
pub struct Host {
    /// By scheme, the scheduler of the flows that end here; empty if no scheme has one.
    pub windows: Vec<Option<Box<dyn WindowControl>>>,
    /// By scheme, the host whose scheduler acts for this one; empty if each host has its own.
    pub keepers: Vec<NodeId>,
    pub selector: Box<dyn PathSelector>,
    /// The host's link into the network.
    pub uplink: LinkId,
    /// The switch at the end of the uplink.
    pub edge: NodeId,
}

/// The data of a traffic group that have arrived.
pub struct Arrivals {
    pub delays: DelayStats,
    /// Payload bytes that arrived in order.
    pub delivered: u64,
}

/// Timers of receiving hosts: host, scheme and token.
pub(crate) type HostTimers = Slots<(NodeId, usize, u64)>;

/// The hosts of a network, with all flows that have not finished.
pub struct Hosts {
    pub flows: Flows,
    pub finished: Finished,
    /// By node.
    pub by_node: Vec<Option<Host>>,
    /// The schemes in use.
    pub schemes: Vec<Box<dyn Scheme>>,
    /// By traffic group.
    pub endpoints: Vec<Endpoint>,
    /// By traffic group.
    pub arrivals: Vec<Arrivals>,
    pub probes: HostProbes,
    /// The interfaces of receiving hosts, if some hand over packets by interrupts.
    pub interfaces: Option<Box<Interfaces>>,
    /// Whether some host puts flowcells back in order.
    pub resequences: bool,
    /// Whether some receiving host has a scheduler.
    pub has_schedulers: bool,
    pub(super) timers: HostTimers,
    /// Timer events without effect because their deadline had moved. Their number depends on the event core.
    pub stale_timers: u64,
    /// Scratch space for the effects of one segment: a new list for each would cost more than the segment itself.
    pub(super) acks: AckList,
    pub(super) actions: Vec<ReceiverAction>,
    /// The telemetry that an acknowledgement brought last.
    pub(super) stack: Option<Box<Telemetry>>,
}

impl Hosts {
    /// Hosts without flows.
    pub fn new(
        hosts: Vec<Option<Host>>,
        schemes: Vec<Box<dyn Scheme>>,
        endpoints: Vec<Endpoint>,
        probes: HostProbes,
    ) -> Self {
        let moderated = endpoints.iter().any(|endpoint| endpoint.interrupts > Time::ZERO);
        Self {
            flows: Flows::default(),
            interfaces: moderated.then(|| Box::new(Interfaces::new(hosts.len()))),
            finished: Finished::new(hosts.len()),
            resequences: hosts.iter().flatten().any(|host| host.selector.patience().is_some()),
            has_schedulers: hosts.iter().flatten().any(|host| !host.windows.is_empty()),
            by_node: hosts,
            schemes,
            arrivals: endpoints.iter().map(|_| Arrivals { delays: DelayStats::new(), delivered: 0 }).collect(),
            endpoints,
            probes,
            timers: Slots::default(),
            stale_timers: 0,
            acks: AckList::new(),
            actions: Vec::new(),
            stack: None,
        }
    }

    /// The end points of a flow.
    #[inline(always)]
    pub fn endpoint(&self, flow: FlowId) -> &Endpoint {
        &self.endpoints[self.flows[flow].wire.endpoint as usize]
    }

    /// Payload bytes of a traffic group that arrived in order.
    pub fn delivered(&self, group: GroupId) -> u64 {
        self.arrivals[group.index()].delivered
    }
}

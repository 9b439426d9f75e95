//! All hosts: their flows, their roles, and the settings of their end points.

use crate::event::slots::Slots;
use crate::flow_map::FlowMap;
use crate::host::finished::Finished;
use crate::host::flow::Flow;
use crate::host::interfaces::Interfaces;
use crate::ids::{FlowId, GroupId, LinkId, NodeId};
use crate::measure::delay::DelayStats;
use crate::measure::probes::HostProbes;
use crate::roles::{PathSelector, ReceiverAction, WindowControl};
use crate::schemes::Scheme;
use crate::tcp::receiver::{AckList, ReceiverConfig};
use crate::tcp::sender::SenderConfig;
use crate::units::Time;

/// The common settings of the end points of a traffic group.
pub(crate) struct Endpoint {
    pub(crate) sender: SenderConfig,
    pub(crate) receiver: ReceiverConfig,
    /// Receive buffer in bytes: the largest advertised window.
    pub(crate) buffer: u64,
    /// Window scale (RFC 7323 section 2.2).
    pub(crate) scale: u8,
    /// Scheme of the end points, by index.
    pub(crate) scheme: usize,
    /// Least time between two interrupts of a receiving interface; zero hands over each packet when it arrives.
    pub(crate) interrupts: Time,
    /// Bytes of the largest segment that a receiving host merges, headers included; zero if it merges none.
    pub(crate) gro: u64,
    /// Packets that a sending host's queue holds, if that is limited.
    pub(crate) host_queue: Option<usize>,
}

/// One host's roles.
pub(crate) struct Host {
    /// By scheme, the scheduler of the flows that end here; empty if no scheme has one.
    pub(crate) windows: Vec<Option<Box<dyn WindowControl>>>,
    /// By scheme, the host whose scheduler acts for this one; empty if each host has its own.
    pub(crate) keepers: Vec<NodeId>,
    pub(crate) selector: Box<dyn PathSelector>,
    /// The host's link into the network.
    pub(crate) uplink: LinkId,
    /// The switch at the end of the uplink.
    pub(crate) edge: NodeId,
}

/// The data of a traffic group that have arrived.
pub(crate) struct Arrivals {
    pub(crate) delays: DelayStats,
    /// Payload bytes that arrived in order.
    pub(crate) delivered: u64,
}

/// Timers of receiving hosts: host, scheme and token.
pub(crate) type HostTimers = Slots<(NodeId, usize, u64)>;

/// The hosts of a network, with all flows that have not finished.
pub(crate) struct Hosts {
    pub(crate) flows: FlowMap<Flow>,
    pub(crate) finished: Finished,
    /// By node.
    pub(crate) by_node: Vec<Option<Host>>,
    /// The schemes in use.
    pub(crate) schemes: Vec<Box<dyn Scheme>>,
    /// By traffic group.
    pub(crate) endpoints: Vec<Endpoint>,
    /// By traffic group.
    pub(crate) arrivals: Vec<Arrivals>,
    pub(crate) probes: HostProbes,
    /// The interfaces of receiving hosts, if some hand over packets by interrupts.
    pub(crate) interfaces: Option<Box<Interfaces>>,
    /// Whether some host puts flowcells back in order.
    pub(crate) resequences: bool,
    /// Whether some receiving host has a scheduler.
    pub(crate) has_schedulers: bool,
    pub(super) timers: HostTimers,
    /// Timer events without effect because their deadline had moved. Their number depends on the event core.
    pub(crate) stale_timers: u64,
    /// Scratch space for the effects of one segment: a new list for each would cost more than the segment itself.
    pub(super) acks: AckList,
    pub(super) actions: Vec<ReceiverAction>,
}

impl Hosts {
    /// Hosts without flows.
    pub(crate) fn new(
        hosts: Vec<Option<Host>>,
        schemes: Vec<Box<dyn Scheme>>,
        endpoints: Vec<Endpoint>,
        probes: HostProbes,
    ) -> Self {
        let moderated = endpoints.iter().any(|endpoint| endpoint.interrupts > Time::ZERO);
        Self {
            flows: FlowMap::default(),
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
        }
    }

    /// The end points of a flow.
    #[inline(always)]
    pub(crate) fn endpoint(&self, flow: FlowId) -> &Endpoint {
        &self.endpoints[self.flows[flow].wire.endpoint as usize]
    }

    /// Payload bytes of a traffic group that arrived in order.
    pub(crate) fn delivered(&self, group: GroupId) -> u64 {
        self.arrivals[group.index()].delivered
    }
}

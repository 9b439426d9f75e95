//! Step 2, flow selection: one row of the controller's global-view flow table (GVT, section 3.3 and Fig. 7).

use super::wire::Counters;
use fanin_core::ids::NodeId;
use fanin_core::units::Time;
use std::collections::BTreeMap;

/// An egress port in the network: the switch and the number of the port.
pub(crate) type EgressPort = (NodeId, u32);

/// The class of a flow, which selects a table besides the GVT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// In the BGT: large, and not urgent.
    Background,
    /// In the BRT: short, and urgent.
    Burst,
}

/// Which flows are background flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassRule {
    /// Large and old ones.
    Both,
    /// Large ones.
    VolumeOnly,
    /// Large or old ones.
    Either,
}

/// How flows are classified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassConfig {
    pub(crate) rule: ClassRule,
    /// A flow with more bytes than this is large.
    pub(crate) bytes: u64,
    /// A flow that has lasted longer than this is old.
    pub(crate) age: Time,
}

impl ClassConfig {
    /// READING: S5 the paper does not classify flows that are large or old but not both. They are burst flows, so that
    /// young flows are protected.
    pub(crate) fn class(&self, counters: &Counters) -> Class {
        let (large, old) = (counters.bytes > self.bytes, counters.age > self.age);
        let background = match self.rule {
            ClassRule::Both => large && old,
            ClassRule::VolumeOnly => large,
            ClassRule::Either => large || old,
        };
        if background { Class::Background } else { Class::Burst }
    }
}

/// Largest size of an acknowledgement in bytes: headers with three SACK blocks.
const BARE: u64 = 80;

/// One direction of a connection.
#[derive(Clone, Debug)]
pub(crate) struct GlobalFlow {
    /// It is in the direction of the SYN.
    pub(crate) opener: bool,
    /// It counts as a flow: it carries data, or may carry data as far as is known (S24).
    pub(crate) counts: bool,
    /// Age, packets and bytes, from the latest statistics.
    pub(crate) counters: Counters,
    /// Its class.
    pub(crate) class: Class,
    /// Maximum segment size, from the SYN.
    pub(crate) mss: u32,
    /// Egress ports of its data and of its acknowledgements, in the order in which the handshake passed them.
    pub(crate) path: Vec<EgressPort>,
    pub(crate) acks: Vec<EgressPort>,
    /// Window limits in bytes, by congested port, each with the switch that rewrites its acknowledgements.
    pub(crate) limits: BTreeMap<EgressPort, (NodeId, u32)>,
    /// Whether the sender and the receiver of this flow have sent a FIN.
    fins: [bool; 2],
}

impl GlobalFlow {
    pub(crate) fn new(mss: u32, opener: bool) -> Self {
        Self {
            opener,
            counts: true,
            counters: Counters::default(),
            class: Class::Burst,
            mss,
            path: Vec::new(),
            acks: Vec::new(),
            limits: BTreeMap::new(),
            fins: [false; 2],
        }
    }

    /// A packet of the handshake is about to leave a switch by this port. Returns whether that is a change, and the
    /// port of this switch that was recorded before.
    pub(crate) fn pass(&mut self, at: EgressPort, acks: bool) -> (bool, Option<EgressPort>) {
        let ports = if acks { &mut self.acks } else { &mut self.path };
        // A retransmission may take another path, but each switch has one port.
        if let Some(known) = ports.iter_mut().find(|port| port.0 == at.0) {
            let before = std::mem::replace(known, at);
            return (before != at, Some(before));
        }
        ports.push(at);
        (true, None)
    }

    /// Memory of its lists in bytes.
    pub(crate) fn list_bytes(&self) -> usize {
        let limits = self.limits.len() * size_of::<(EgressPort, (NodeId, u32))>();
        (self.path.capacity() + self.acks.capacity()) * size_of::<EgressPort>() + limits
    }

    /// A FIN of one side. Returns how many sides have sent one.
    pub(crate) fn on_fin(&mut self, from_receiver: bool) -> usize {
        self.fins[usize::from(from_receiver)] = true;
        self.fins.iter().filter(|fin| **fin).count()
    }

    /// Statistics of one switch. Switches upstream of a loss count more, so the maximum is kept.
    pub(crate) fn on_stats(&mut self, counters: &Counters, classes: &ClassConfig) {
        self.counters = Counters {
            age: self.counters.age.max(counters.age),
            packets: self.counters.packets.max(counters.packets),
            bytes: self.counters.bytes.max(counters.bytes),
        };
        self.class = classes.class(&self.counters);
    }

    /// Whether statistics show that it carries data: its packets are larger on average than acknowledgements.
    pub(crate) fn carries_data(&self) -> bool {
        self.counters.bytes > BARE * self.counters.packets
    }

    /// The switch that rewrites acknowledgements for a congested one: the congested switch if they pass it, otherwise
    /// the first one on their path.
    pub(crate) fn rewriter(&self, congested: NodeId) -> NodeId {
        let passed = self.acks.iter().any(|port| port.0 == congested);
        self.acks.first().filter(|_| !passed).map_or(congested, |port| port.0)
    }

    /// The switches that limit the windows of its acknowledgements.
    pub(crate) fn limiting(&self) -> impl Iterator<Item = NodeId> {
        self.limits.values().map(|(switch, _)| *switch)
    }
}

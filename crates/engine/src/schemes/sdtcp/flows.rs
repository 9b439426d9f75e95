//! Step 2, flow selection: one row of the controller's global-view flow table (GVT, section 3.3 and Fig. 7).

use super::wire::Counters;
use crate::ids::NodeId;
use crate::units::Time;
use std::collections::BTreeMap;

/// A port of the network: the switch and the number of the port.
pub(crate) type Place = (NodeId, u32);

/// Which table a flow is in besides the GVT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// BGT: large, and not urgent.
    Background,
    /// BRT: short, and urgent.
    Burst,
}

/// When a flow is in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassRule {
    /// It is large and old.
    Both,
    /// It is large.
    VolumeOnly,
    /// It is large or old.
    Either,
}

/// How flows are classified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassConfig {
    pub(crate) rule: ClassRule,
    /// Above this many bytes a flow is large.
    pub(crate) bytes: u64,
    /// Above this age it is old.
    pub(crate) age: Time,
}

impl ClassConfig {
    /// READING: S5 the paper does not say what a flow is that is large or old but not both; it is a burst flow, so that
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

/// Packets of this many bytes are acknowledgements: headers with three SACK blocks.
const BARE: u64 = 80;

/// One direction of a connection.
#[derive(Clone, Debug)]
pub(crate) struct GlobalFlow {
    /// The direction of the SYN.
    pub(crate) opener: bool,
    /// It counts as a flow: it carries data, or may do so, as far as is known.
    pub(crate) counts: bool,
    /// Lifetime and received packets and bytes, as far as statistics tell.
    pub(crate) counters: Counters,
    /// Membership.
    pub(crate) class: Class,
    /// Most payload of a segment, from the SYN.
    pub(crate) mss: u32,
    /// Egress ports of its data, and of its acknowledgements: those that the handshake passed, in its order.
    pub(crate) path: Vec<Place>,
    pub(crate) acks: Vec<Place>,
    /// Windows in bytes to which congested ports limit it, each with the switch that rewrites its acknowledgements.
    pub(crate) limits: BTreeMap<Place, (NodeId, u32)>,
    /// Which side of the connection has ended: the sender of this flow, its receiver.
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

    /// The handshake passes a switch and is to leave by this port. Whether that was not known, and the port of this switch
    /// by which it left before.
    pub(crate) fn pass(&mut self, at: Place, acks: bool) -> (bool, Option<Place>) {
        let places = if acks { &mut self.acks } else { &mut self.path };
        // Sent again it may take another way: one port per switch.
        if let Some(known) = places.iter_mut().find(|place| place.0 == at.0) {
            let before = std::mem::replace(known, at);
            return (before != at, Some(before));
        }
        places.push(at);
        (true, None)
    }

    /// Bytes of the lists that it owns.
    pub(crate) fn list_bytes(&self) -> usize {
        let limits = self.limits.len() * size_of::<(Place, (NodeId, u32))>();
        (self.path.capacity() + self.acks.capacity()) * size_of::<Place>() + limits
    }

    /// A side ends. Returns how many have.
    pub(crate) fn on_fin(&mut self, from_receiver: bool) -> usize {
        self.fins[usize::from(from_receiver)] = true;
        self.fins.iter().filter(|fin| **fin).count()
    }

    /// Statistics of one switch. Switches upstream of a loss count more, so the largest counts are kept.
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

    /// The switch that rewrites acknowledgements for a congested one: that one if they pass it, else their first.
    pub(crate) fn rewriter(&self, congested: NodeId) -> NodeId {
        let passed = self.acks.iter().any(|place| place.0 == congested);
        self.acks.first().filter(|_| !passed).map_or(congested, |place| place.0)
    }

    /// The switches that limit the windows of its acknowledgements.
    pub(crate) fn limiting(&self) -> impl Iterator<Item = NodeId> {
        self.limits.values().map(|(switch, _)| *switch)
    }
}

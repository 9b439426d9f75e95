//! The flows of the GVT by port, with the background flows table (BGT, section 3.3). At low and modest congestion the
//! controller's work is proportional to the number of background flows, O(a) (section 4.1), independent of the number
//! of burst flows.

use super::flows::{Class, EgressPort, GlobalFlow};
use fanin_core::packet::Addresses;
use std::collections::{BTreeMap, BTreeSet};

/// The flows of a port.
#[derive(Debug, Default)]
pub(super) struct PortFlows {
    /// N: the number of flows whose data leave by it.
    pub(super) flows: usize,
    /// BGT: its background flows.
    pub(super) background: BTreeSet<Addresses>,
    /// Sum of their maximum segment sizes, in bytes.
    pub(super) reserved: u64,
    /// The flows whose windows it limits.
    pub(super) limited: BTreeSet<Addresses>,
}

/// The flows of each port that has any.
#[derive(Debug, Default)]
pub(super) struct Lists(BTreeMap<EgressPort, PortFlows>);

impl Lists {
    pub(super) fn of(&self, port: EgressPort) -> Option<&PortFlows> {
        self.0.get(&port)
    }

    /// The flows that share the capacity of a port (S6): its own, or those of all ports of its switch.
    pub(super) fn sharing(&self, port: EgressPort, whole_switch: bool) -> Vec<&PortFlows> {
        if whole_switch {
            return self.0.range((port.0, 0)..=(port.0, u32::MAX)).map(|(_, list)| list).collect();
        }
        self.of(port).into_iter().collect()
    }

    /// The data of a flow now leave by this port.
    pub(super) fn join(&mut self, port: EgressPort, name: Addresses, flow: &GlobalFlow) {
        let list = self.0.entry(port).or_default();
        list.flows += 1;
        if flow.class == Class::Background && list.background.insert(name) {
            list.reserved += u64::from(flow.mss);
        }
    }

    /// The data of a flow no longer leave by this port.
    pub(super) fn leave(&mut self, port: EgressPort, name: &Addresses, flow: &GlobalFlow) {
        if let Some(list) = self.0.get_mut(&port) {
            list.flows -= 1;
            if list.background.remove(name) {
                list.reserved -= u64::from(flow.mss);
            }
        }
        self.tidy(port);
    }

    /// The port limits a flow's window from now on, or no longer.
    pub(super) fn limit(&mut self, port: EgressPort, name: &Addresses, limited: bool) {
        if limited {
            self.0.entry(port).or_default().limited.insert(*name);
        } else if let Some(list) = self.0.get_mut(&port) {
            list.limited.remove(name);
            self.tidy(port);
        }
    }

    fn tidy(&mut self, port: EgressPort) {
        if self.0.get(&port).is_some_and(|list| list.flows == 0 && list.limited.is_empty()) {
            self.0.remove(&port);
        }
    }

    /// Memory of the flows' names in bytes.
    pub(super) fn bytes(&self) -> usize {
        let names: usize = self.0.values().map(|list| list.background.len() + list.limited.len()).sum();
        names * size_of::<Addresses>()
    }
}

//! The flows of the GVT by port, with the background flows table (BGT, section 3.3): at low and modest congestion the
//! controller's work grows with the number of background flows, O(a) (section 4.1), and not with that of bursts.

use super::flows::{Class, GlobalFlow, Place};
use crate::packet::Addresses;
use std::collections::{BTreeMap, BTreeSet};

/// The flows of a port.
#[derive(Debug, Default)]
pub(super) struct PortFlows {
    /// N: flows whose data leave by it.
    pub(super) flows: usize,
    /// BGT: those of them in the background.
    pub(super) background: BTreeSet<Addresses>,
    /// One segment for each of these, in bytes.
    pub(super) reserved: u64,
    /// Flows whose windows it limits.
    pub(super) limited: BTreeSet<Addresses>,
}

/// The flows of every port that has any.
#[derive(Debug, Default)]
pub(super) struct Lists(BTreeMap<Place, PortFlows>);

impl Lists {
    pub(super) fn of(&self, port: Place) -> Option<&PortFlows> {
        self.0.get(&port)
    }

    /// The data of a flow leave by this port from now on.
    pub(super) fn join(&mut self, port: Place, name: Addresses, flow: &GlobalFlow) {
        let list = self.0.entry(port).or_default();
        list.flows += 1;
        if flow.class == Class::Background && list.background.insert(name) {
            list.reserved += u64::from(flow.mss);
        }
    }

    /// The data of a flow leave by this port no longer.
    pub(super) fn leave(&mut self, port: Place, name: &Addresses, flow: &GlobalFlow) {
        if let Some(list) = self.0.get_mut(&port) {
            list.flows -= 1;
            if list.background.remove(name) {
                list.reserved -= u64::from(flow.mss);
            }
        }
        self.tidy(port);
    }

    /// The port limits a flow's window, or does so no longer.
    pub(super) fn limit(&mut self, port: Place, name: &Addresses, limited: bool) {
        if limited {
            self.0.entry(port).or_default().limited.insert(*name);
        } else if let Some(list) = self.0.get_mut(&port) {
            list.limited.remove(name);
            self.tidy(port);
        }
    }

    fn tidy(&mut self, port: Place) {
        if self.0.get(&port).is_some_and(|list| list.flows == 0 && list.limited.is_empty()) {
            self.0.remove(&port);
        }
    }

    /// Bytes of the names in them.
    pub(super) fn bytes(&self) -> usize {
        let names: usize = self.0.values().map(|list| list.background.len() + list.limited.len()).sum();
        names * size_of::<Addresses>()
    }
}

//! State that senders and switches share if a parameter is `oracle`, which no real network has.

use super::field::sixteenths;
use fanin_core::ids::FlowId;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
struct State {
    /// By flow's index, in sixteenths of a packet.
    thresholds: Vec<Option<u32>>,
    latest: Option<u32>,
    long_flows: u32,
}

/// The thresholds of all senders, and the number of long flows with data outstanding.
#[derive(Debug, Default)]
pub(super) struct Oracle(Mutex<State>);

impl Oracle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A sender sets its threshold.
    pub(super) fn tell(&self, flow: FlowId, packets: f64) {
        let mut state = self.state();
        let wanted = state.thresholds.len().max(flow.index() + 1);
        state.thresholds.resize(wanted, None);
        state.latest = Some(sixteenths(packets));
        state.thresholds[flow.index()] = state.latest;
    }
    /// A sender's current threshold.
    pub(super) fn threshold(&self, flow: FlowId) -> Option<u32> {
        self.state().thresholds.get(flow.index()).copied().flatten()
    }
    /// The threshold that was set last by any sender.
    pub(super) fn latest(&self) -> Option<u32> {
        self.state().latest
    }
    /// A long flow starts or stops having data outstanding.
    pub(super) fn count(&self, begins: bool) {
        let mut state = self.state();
        state.long_flows = if begins { state.long_flows + 1 } else { state.long_flows.saturating_sub(1) };
    }
    /// Number of long flows with data outstanding in the whole network.
    pub(super) fn long_flows(&self) -> u32 {
        self.state().long_flows
    }
}

//! Counters of a flow, and of each transfer on it.

use crate::measure::timeouts::TimeoutCause;
use crate::units::Time;

/// Counters of a flow. Their differences are those of the single transfers of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) retransmissions: u64,
    pub(crate) loss_probes: u64,
    /// By cause; counted in `host/send.rs` (`on_retransmission_timer`, with `timeout_cause`).
    pub(crate) timeouts: [u32; TimeoutCause::ALL.len()],
    /// How long the timers of these timeouts ran, and those of the probes.
    pub(crate) timer_wait: Time,
    pub(crate) probe_wait: Time,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
}

impl Counters {
    /// What was counted after `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut timeouts = self.timeouts;
        for (count, before) in timeouts.iter_mut().zip(&earlier.timeouts) {
            *count -= before;
        }
        Self {
            retransmissions: self.retransmissions - earlier.retransmissions,
            loss_probes: self.loss_probes - earlier.loss_probes,
            timeouts,
            timer_wait: self.timer_wait.saturating_sub(earlier.timer_wait),
            probe_wait: self.probe_wait.saturating_sub(earlier.probe_wait),
            drops: self.drops - earlier.drops,
            marks: self.marks - earlier.marks,
        }
    }
    /// The sum of both.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut timeouts = self.timeouts;
        for (count, more) in timeouts.iter_mut().zip(&other.timeouts) {
            *count += more;
        }
        Self {
            retransmissions: self.retransmissions + other.retransmissions,
            loss_probes: self.loss_probes + other.loss_probes,
            timeouts,
            timer_wait: self.timer_wait.saturating_add(other.timer_wait),
            probe_wait: self.probe_wait.saturating_add(other.probe_wait),
            drops: self.drops + other.drops,
            marks: self.marks + other.marks,
        }
    }
    pub(crate) fn timeout_count(&self) -> u64 {
        self.timeouts.iter().map(|count| u64::from(*count)).sum()
    }
}

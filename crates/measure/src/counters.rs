//! Counters of a flow, and of each transfer on it.

use crate::timeouts::TimeoutCause;
use fanin_core::units::Time;

/// Counters of a flow. Their differences are those of the single transfers of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Segments that probed for a loss at the end of the data.
    pub loss_probes: u64,
    /// By cause; counted in `host/send.rs` (`on_retransmission_timer`, with `timeout_cause`).
    pub timeouts: [u32; TimeoutCause::ALL.len()],
    /// How long the timers of these timeouts ran, and those of the probes.
    pub timer_wait: Time,
    /// How long the timers of the loss probes ran.
    pub probe_wait: Time,
    /// Packets that were dropped.
    pub drops: u64,
    /// Packets that were marked.
    pub marks: u64,
}

impl Counters {
    /// What was counted after `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
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
    pub fn plus(&self, other: &Self) -> Self {
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
    /// Timeouts of all causes.
    pub fn timeout_count(&self) -> u64 {
        self.timeouts.iter().map(|count| u64::from(*count)).sum()
    }
}

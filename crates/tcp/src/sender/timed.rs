//! State of a sender that detects losses by time (RACK, RFC 8985).

use crate::prr::ProportionalReduction;
use crate::rack::Rack;
use crate::tlp::Probe;
use fanin_core::units::Time;

/// Where recovery stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout: slow start.
    Timeout,
}

/// What such a sender keeps.
#[derive(Debug, Default)]
pub(super) struct Timed {
    pub(super) rack: Rack,
    pub(super) probe: Probe,
    pub(super) prr: ProportionalReduction,
    pub(super) phase: Phase,
    /// The first lost segment goes whatever the window.
    pub(super) force: bool,
    /// The timers of which the earliest is the deadline; [`Time::NEVER`] while they are off.
    pub(super) timeout_at: Option<Time>,
    pub(super) probe_at: Option<Time>,
    pub(super) search_at: Option<Time>,
}

impl Timed {
    pub(super) fn in_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }
    pub(super) fn on_handshake(&mut self, rtt: Time) {
        self.rack.on_handshake(rtt);
    }
    pub(super) fn stop_timers(&mut self) {
        (self.timeout_at, self.probe_at, self.search_at) = (None, None, None);
    }
}

//! The receiving host's state of one flow.

use super::flight::Grant;
use super::marks::MarkedShare;
use super::rules::Rules;
use super::timing::{Alarm, Patience, RoundTrip};
use super::window::WindowMachine;
use fanin_core::ids::FlowId;
use fanin_core::units::Time;
use fanin_tcp::FIRST_DATA;

/// A flow whose data this host receives.
pub(super) struct Flow {
    pub(super) id: FlowId,
    /// Remaining bytes of the current transfer; none if the sender did not announce a size.
    pub(super) remaining: Option<u64>,
    /// The current transfer is not complete.
    pub(super) active: bool,
    /// Data of the current transfer has arrived.
    pub(super) heard: bool,
    /// It was requested, and its response has not begun.
    pub(super) asked: bool,
    /// How often its acknowledgement may be overtaken.
    pub(super) cap: u32,
    /// Assigned window in segments.
    pub(super) share: u64,
    pub(super) window: WindowMachine,
    /// The window that was last set, in bytes.
    pub(super) advertised: u64,
    pub(super) grant: Grant,
    pub(super) marks: MarkedShare,
    pub(super) rtt: RoundTrip,
    pub(super) patience: Patience,
    pub(super) alarm: Alarm,
    /// When to request a retransmission, if the timer has expired and the request is delayed
    /// ([`super::rules::TimerRules::waits`]).
    pub(super) ask_at: Time,
    /// Next sequence number expected.
    pub(super) next: u64,
    /// Its acknowledgement is in the list.
    pub(super) listed: bool,
    /// The last segment was a duplicate.
    pub(super) repeats: bool,
}

impl Flow {
    /// A flow from which nothing has arrived.
    pub(super) fn new(id: FlowId, rules: &Rules, mss: u64, now: Time) -> Self {
        Self {
            id,
            remaining: None,
            active: false,
            heard: false,
            asked: false,
            cap: 0,
            share: 1,
            window: WindowMachine::new(mss, rules.initial_threshold, rules.keeps_duplicates),
            advertised: 0,
            grant: Grant::new(FIRST_DATA),
            marks: MarkedShare::new(rules.marks.alpha, rules.marks.g, rules.marks.periods, now),
            rtt: RoundTrip::new(rules.marks.periods.unmeasured),
            patience: Patience::new(),
            alarm: Alarm::new(),
            ask_at: Time::NEVER,
            next: FIRST_DATA,
            listed: false,
            repeats: false,
        }
    }
}

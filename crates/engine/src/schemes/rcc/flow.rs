//! What the receiver knows of one flow.

use super::flight::Grant;
use super::marks::MarkedShare;
use super::rules::Rules;
use super::timing::{Alarm, Patience, RoundTrip};
use super::window::WindowMachine;
use crate::ids::FlowId;
use crate::tcp::FIRST_DATA;
use crate::units::Time;

/// One flow that ends at the host.
pub(super) struct Flow {
    pub(super) id: FlowId,
    /// Bytes of the present transfer still to come; none if the sender did not tell.
    pub(super) remaining: Option<u64>,
    /// Something is still to come.
    pub(super) active: bool,
    /// Something of the present transfer came.
    pub(super) heard: bool,
    /// It was asked for, and has not begun.
    pub(super) asked: bool,
    /// How often its acknowledgement may be put off.
    pub(super) cap: u32,
    /// Assigned window in segments.
    pub(super) share: u64,
    pub(super) window: WindowMachine,
    /// The window that was set last.
    pub(super) advertised: u64,
    pub(super) grant: Grant,
    pub(super) marks: MarkedShare,
    pub(super) rtt: RoundTrip,
    pub(super) patience: Patience,
    pub(super) alarm: Alarm,
    /// When to ask for a retransmission, if the timer has expired and that is put off.
    pub(super) ask_at: Time,
    /// Next number expected.
    pub(super) next: u64,
    /// An acknowledgement waits.
    pub(super) listed: bool,
    /// What came last brought nothing new.
    pub(super) repeats: bool,
}

impl Flow {
    /// A flow of which nothing has come.
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

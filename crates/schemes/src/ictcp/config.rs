//! The parameters of ICTCP as its rules use them.

use fanin_core::units::Time;
use fanin_param::{Values, Window};

/// The rules in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    /// The rules of RCC's authors instead of the paper's.
    pub(super) rdtcp: bool,
    /// The first connection keeps the clock of the slots, which stops forever when it closes.
    pub(super) mortal_clock: bool,
    /// Two timers adjust the window of each flow.
    pub(super) two_timers: bool,
    pub(super) alpha: f64,
    /// Increases are limited to the spare capacity.
    pub(super) quota: bool,
    /// Windows may also grow in the first half of a slot.
    pub(super) any_half: bool,
    /// Round-trip times between a change and an increase.
    pub(super) spacing: f64,
    pub(super) slow_start: bool,
    pub(super) beta: f64,
    pub(super) gamma1: f64,
    pub(super) gamma2: f64,
    pub(super) fair_share: f64,
    pub(super) min_window: Window,
    pub(super) min_slot: Time,
    pub(super) idle: Time,
}

impl Config {
    pub(super) fn new(params: &Values) -> Self {
        let rdtcp = params.is("flavour", "rdtcp");
        let chosen = |key, other| params.is(key, other) || (rdtcp && params.is(key, "auto"));
        Self {
            rdtcp,
            mortal_clock: chosen("slot-clock", "first-flow"),
            two_timers: chosen("looks", "two"),
            alpha: params.number("alpha"),
            quota: params.flag("quota"),
            any_half: params.is("increase", "any"),
            spacing: params.number("spacing"),
            slow_start: params.flag("slow-start"),
            beta: params.number("beta"),
            gamma1: params.number("gamma1"),
            gamma2: params.number("gamma2"),
            fair_share: params.number("fair-share"),
            min_window: params.window("min-window"),
            min_slot: params.time("min-slot"),
            idle: params.time("idle"),
        }
    }
}

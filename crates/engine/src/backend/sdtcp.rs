//! SDTCP in Linux: its switches are Open vSwitch, with what that lacks beside it, and its controller is the simulator's.

use crate::sim::build;
use fanin_core::roles::Controller;
use fanin_core::units::{Size, Time};
use fanin_param::{SpecError, Values};
use fanin_scenario::Scenario;
pub use fanin_schemes::sdtcp_extension::{Deed, Extension, Keeping};

/// Keys of the scheme; the controller or the switches follow them all.
pub(super) const FOLLOWED: &[&str] = &[
    "low",
    "modest",
    "high",
    "queue-counts",
    "recovery",
    "jump",
    "step-down",
    "reevaluate",
    "select",
    "cn-low",
    "cn-modest",
    "cn-high",
    "factor-low",
    "factor-modest",
    "class",
    "background-bytes",
    "background-age",
    "poll",
    "rtt",
    "rtt-queue",
    "window-scale",
    "setup-delay",
    "buffers",
    "buffer-timeout",
    "data-from",
    "remove-at",
    "idle-timeout",
    "rule-timeout",
];

/// Switches that speak OpenFlow, and the way to their controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenFlow {
    /// The trigger of each port.
    pub trigger: Trigger,
    /// What switches hold for the controller.
    pub keeping: Keeping,
    /// How long a message takes between a switch and the controller.
    pub delay: Time,
    /// Below this, each message takes longer by a random time.
    pub jitter: Time,
    /// How long the controller takes for a message.
    pub service: Time,
    /// Whether the session is captured.
    pub captured: bool,
}

/// When ports report congestion, and how their switch writes windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The three thresholds.
    pub thresholds: [Size; 3],
    /// Time below a threshold after which the level falls.
    pub recovery: Time,
    /// Whether a level rises to the highest at once.
    pub jumps: bool,
    /// Whether it falls by one, below its own threshold.
    pub steps_down: bool,
    /// Whether limits are written without the scale of the handshake.
    pub unscaled: bool,
    /// Bytes of a full packet on the wire.
    pub packet: u64,
}

impl OpenFlow {
    /// Those of a scenario, if its network runs SDTCP.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        if scenario.scheme_key() != "sdtcp" {
            return None;
        }
        let (values, control) = (scenario.scheme("sdtcp"), &scenario.control);
        let bytes = |values: &Values, key: &str| values.bytes(key).get();
        let packet = ["mss", "header"].iter().map(|key| bytes(&scenario.transport, key)).sum::<u64>()
            + bytes(&scenario.network.values, "frame-overhead");
        let counts_bytes = values.is("queue-counts", "bytes");
        let threshold = |key: &str| match values.size(key) {
            Size::Packets(packets) if counts_bytes => Size::Bytes(packets.saturating_mul(packet)),
            size => size,
        };
        Some(Self {
            trigger: Trigger {
                thresholds: ["low", "modest", "high"].map(threshold),
                recovery: values.time("recovery"),
                jumps: values.is("jump", "highest"),
                steps_down: values.flag("step-down"),
                unscaled: values.is("window-scale", "ignored"),
                packet,
            },
            keeping: Keeping {
                holds: values.flag("setup-delay"),
                buffers: values.flag("buffers"),
                patience: values.time("buffer-timeout"),
            },
            delay: control.time("delay"),
            jitter: control.time("jitter"),
            service: control.time("service-time"),
            captured: scenario.measure.flag("capture-control"),
        })
    }
}

/// The controller of a scenario's network.
///
/// # Errors
///
/// The scenario has an error.
pub fn controller(scenario: &Scenario) -> Result<Option<Box<dyn Controller>>, SpecError> {
    build::controller(scenario)
}

/// An error at what a real session or switch cannot do.
pub(super) fn refuse(scenario: &Scenario) -> Result<(), SpecError> {
    let values = scenario.scheme("sdtcp");
    let is_set = |values: &Values, key: &str| values.iter().any(|(name, _, _, origin)| name == key && origin.is_some());
    if is_set(&scenario.control, "loss") && scenario.control.number("loss") > 0.0 {
        return Err(scenario.control.fail("loss", "OpenFlow runs over TCP here, which loses no message: leave it out"));
    }
    if is_set(values, "buffer-timeout") && !values.flag("buffers") {
        return Err(values.fail("buffer-timeout", "no switch holds packets without buffers here: leave it out"));
    }
    Ok(())
}

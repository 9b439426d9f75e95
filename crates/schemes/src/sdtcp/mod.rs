//! SDTCP (Lu, Ling, Zhu and Tang, "SDTCP: Towards Datacenter TCP Congestion Control with SDN for IoT Applications",
//! Sensors 2017, 17(1), 109).
//!
//! **Switch**: notifies the controller of congestion ([`trigger`]) and rewrites acknowledgements ([`table`],
//! [`switch`]). **Controller** ([`controller`]): knows the flows ([`flows`], [`lists`]) and computes their windows
//! ([`window_control`], [`fair_share`]). They exchange OpenFlow 1.3 messages with additions ([`wire`]). [`stress`] runs the
//! controller alone, to measure its load.
//!
//! | paper | code |
//! |---|---|
//! | section 3.2, Algorithm 1 | `switch.rs`: `trigger`; `trigger.rs`: `on_arrival`, `on_timer` |
//! | section 3.3, global-view flow table (GVT) | `controller.rs`: `on_syn`, `on_end`; `flows.rs` |
//! | section 3.3, background flow table (BGT) | `lists.rs`; `flows.rs`: `class` |
//! | section 3.4, Eqs. 2 to 8 | `fair_share.rs`: `limit`; `window_control.rs`: `regulate` |
//! | section 3.5, rules in switches, Eq. 9 | `table.rs`: `change`, `pass` |
//! | messages (OpenFlow 1.3) | `wire` |
//! | the same with an ordinary switch beside a real port (Linux) | `extension.rs` |
//! | section 5.2.5, load of the controller | `stress.rs` |

mod controller;
pub mod extension;
mod fair_share;
mod flows;
mod lists;
mod params;
mod readings;
pub mod stress;
mod switch;
mod table;
#[cfg(test)]
mod tests;
mod trigger;
mod window_control;
mod wire;

use super::{Effort, NetworkFacts, NodeFacts, Scheme, SchemeRow, Signal};
use controller::{Controller, ControllerConfig, Reevaluate};
use fanin_core::roles::{Controller as ControllerRole, SwitchAgent};
use fanin_core::units::{Size, Time};
use fanin_param::Values;
use flows::{ClassConfig, ClassRule};
use switch::{Switch, SwitchConfig};
use table::{Scaling, priority};
use trigger::{Jump, TriggerConfig};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "sdtcp",
    summary: "SDTCP: a controller reduces the windows of background flows when a switch reports congestion (Sensors \
              2017).",
    params: params::PARAMS,
    transport: &[],
    manual: include_str!("manual.md"),
    readings: readings::READINGS,
    totals: &[],
    effort: Effort::Controller,
    needs: "OpenFlow switches with an extension that rewrites windows, and a controller",
    reacts_to: &[Signal::Window],
    colour: "#000000",
    marker: "*",
    build: |params| Box::new(Bundle::new(params)),
};

struct Bundle {
    thresholds: [Size; 3],
    /// Thresholds in packets are converted to bytes of full packets.
    count_bytes: bool,
    recovery: Time,
    jump: Jump,
    step_down: bool,
    scaling: Scaling,
    hold: bool,
    buffers: bool,
    patience: Time,
    /// Round-trip time of the formulas; zero for that of the network.
    rtt: Time,
    controller: ControllerConfig,
}

impl Bundle {
    fn new(params: &Values) -> Self {
        let seconds =
            |key: &str| u16::try_from(params.time(key).ps().div_ceil(Time::from_secs(1).ps())).unwrap_or(u16::MAX);
        Self {
            thresholds: ["low", "modest", "high"].map(|key| params.size(key)),
            count_bytes: params.is("queue-counts", "bytes"),
            recovery: params.time("recovery"),
            jump: if params.is("jump", "highest") { Jump::Highest } else { Jump::Sequential },
            step_down: params.flag("step-down"),
            scaling: if params.is("window-scale", "ignored") { Scaling::Ignored } else { Scaling::Learned },
            hold: params.flag("setup-delay"),
            buffers: params.flag("buffers"),
            patience: params.time("buffer-timeout"),
            rtt: params.time("rtt"),
            controller: ControllerConfig {
                classes: ClassConfig {
                    rule: params.choose(
                        "class",
                        &[
                            ("both", ClassRule::Both),
                            ("volume-only", ClassRule::VolumeOnly),
                            ("either", ClassRule::Either),
                        ],
                    ),
                    bytes: params.bytes("background-bytes").get(),
                    age: params.time("background-age"),
                },
                acts: ["cn-low", "cn-modest", "cn-high"].map(|key| params.flag(key)),
                factors: ["factor-low", "factor-modest"].map(|key| params.number(key)),
                rtt: params.time("rtt"),
                loaded: params.is("rtt-queue", "included"),
                poll: params.time("poll"),
                reevaluate: params.choose(
                    "reevaluate",
                    &[
                        ("none", Reevaluate::Never),
                        ("on-flow-change", Reevaluate::OnFlowChange),
                        ("periodic", Reevaluate::Periodic),
                    ],
                ),
                whole_switch: params.is("select", "switch"),
                returns: params.flag("setup-delay") && !params.flag("buffers"),
                both_ways: params.is("data-from", "either"),
                first_fin: params.is("remove-at", "first-fin"),
                idle: seconds("idle-timeout"),
                hard: seconds("rule-timeout"),
            },
        }
    }
}

impl Scheme for Bundle {
    fn switch_agent(&self, switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        // READING: S4 line 1 of Algorithm 1 adds size(P), so thresholds are in bytes.
        let threshold = |size| match size {
            Size::Packets(packets) if self.count_bytes => Size::Bytes(packets.saturating_mul(switch.packet)),
            _ => size,
        };
        let trigger = TriggerConfig {
            thresholds: self.thresholds.map(threshold),
            recovery: self.recovery,
            jump: self.jump,
            step_down: self.step_down,
            packet: switch.packet,
        };
        Some(Box::new(Switch::new(SwitchConfig {
            trigger,
            scaling: self.scaling,
            hold: self.hold,
            buffers: self.buffers,
            patience: self.patience,
            mss: u16::try_from(switch.mss).unwrap_or(u16::MAX),
        })))
    }
    fn controller(&self, network: &NetworkFacts) -> Option<Box<dyn ControllerRole>> {
        let rtt = if self.rtt == Time::ZERO { network.base_rtt } else { self.rtt };
        Some(Box::new(Controller::new(ControllerConfig { rtt, ..self.controller })))
    }
}

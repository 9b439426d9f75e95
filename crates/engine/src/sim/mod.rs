//! The simulation: from a scenario to an outcome.

pub(crate) mod build;
mod limits;
mod loads;
mod map;
mod memory;
mod preview;
mod steps;
#[cfg(test)]
mod tests;

pub use crate::outcome::flow_table::FlowTable;
pub use crate::outcome::totals::{Outcome, offered_json};
pub use build::probe_names;
pub use fanin_measure::rows::Spill;
pub use fanin_measure::timeouts::TimeoutCause;
pub use fanin_work::error::RunError;
pub use fanin_world::Progress;
pub(crate) use limits::base_rtt;
pub use loads::{FanInPort, Loads, TierLoad};
pub use map::{MapLink, MapNode, NetworkMap};
pub use memory::Memory;
pub use preview::{GroupPreview, Preview};
pub use steps::{Observation, Simulation};

use crate::backend::Site;
use crate::outcome::totals;
use fanin_event::EventCore;
use fanin_event::core::Core;
#[cfg(any(test, feature = "reference-core"))]
use fanin_event::reference_core::ReferenceCore;
use fanin_measure::rows::Rows;
use fanin_param::SpecError;
use fanin_scenario::Scenario;
use fanin_schemes as schemes;
use fanin_world::{World, laws};
use thiserror::Error;

/// Why there is no outcome.
#[derive(Debug, Error)]
pub enum Failure {
    /// The scenario has an error that only shows when its network is built.
    #[error(transparent)]
    Scenario(#[from] SpecError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Runs a scenario. The same scenario gives the same outcome on every machine.
///
/// `progress` receives the share of simulated time that has passed and returns whether to continue.
///
/// # Errors
///
/// The scenario has an error, the caller stopped the run, or an invariant of the simulation was violated.
pub fn run(scenario: &Scenario, progress: Option<Progress<'_>>) -> Result<Outcome, Failure> {
    run_with(scenario, build::Substitutes::default(), progress)
}

/// As [`run`], but rows of finished transfers are stored by `spill`, so that a run of millions of transfers needs
/// memory only for those in progress.
///
/// # Errors
///
/// As [`run`], or the rows cannot be stored.
pub fn run_spilling(
    scenario: &Scenario,
    spill: Box<dyn Spill>,
    progress: Option<Progress<'_>>,
) -> Result<Outcome, Failure> {
    simulate::<Core>(scenario, build::Substitutes::default(), Some(spill), progress)
}

/// Checks what can only be checked by building the network, and returns a preview of the run; simulates nothing.
///
/// # Errors
///
/// The scenario has an error.
pub fn check(scenario: &Scenario) -> Result<Preview, SpecError> {
    let site = if scenario.run.is("backend", "linux") {
        Some(Site::of(scenario)?)
    } else {
        check_backend(scenario)?;
        None
    };
    let mut world: World<Core> = build::build(scenario, build::Substitutes::default())?;
    let preview = Preview::of(scenario, &mut world);
    let site = site.as_ref();
    Ok(Preview {
        kernel_s: site.map(|site| site.seconds(scenario, &preview)),
        kernel_mib: site.map(|site| site.mebibytes(&preview)),
        ..preview
    })
}

/// How much memory a run will need, as far as its preview tells.
pub fn memory(scenario: &Scenario, preview: &Preview) -> Memory {
    Memory::of(scenario, preview)
}

/// What the traffic can put on the ports of the switches; simulates nothing.
///
/// # Errors
///
/// The scenario has an error.
pub fn loads(scenario: &Scenario) -> Result<Loads, SpecError> {
    let mut world: World<Core> = build::build(scenario, build::Substitutes::default())?;
    Ok(Loads::of(scenario, &mut world))
}

/// The network of a scenario; simulates nothing.
///
/// # Errors
///
/// The scenario has an error.
pub fn network(scenario: &Scenario) -> Result<NetworkMap, SpecError> {
    let world: World<Core> = build::build(scenario, build::Substitutes::default())?;
    Ok(NetworkMap::of(&world))
}

fn run_with(
    scenario: &Scenario,
    substitutes: build::Substitutes,
    progress: Option<Progress<'_>>,
) -> Result<Outcome, Failure> {
    simulate::<Core>(scenario, substitutes, None, progress)
}

/// An error if something else than the simulator shall carry the transfers.
fn check_backend(scenario: &Scenario) -> Result<(), SpecError> {
    if scenario.run.is("backend", "simulator") {
        let only_linux = scenario.transports().find(|(key, _)| schemes::KERNEL.iter().any(|row| row.key == *key));
        return only_linux.map_or(Ok(()), |(key, transport)| {
            let message = format!("the simulator has no model of {key}: run it in the kernel, with --backend linux");
            Err(transport.fail("scheme", message))
        });
    }
    Err(scenario.run.fail("backend", "this program has only the simulator"))
}

fn simulate<C: EventCore>(
    scenario: &Scenario,
    substitutes: build::Substitutes,
    spill: Option<Box<dyn Spill>>,
    progress: Option<Progress<'_>>,
) -> Result<Outcome, Failure> {
    check_backend(scenario)?;
    let mut world: World<C> = build::build(scenario, substitutes)?;
    world.work.transfers.rows = Rows::new(spill);
    world.run(progress)?;
    laws::check(&mut world)?;
    Ok(totals::collect(world)?)
}

/// Runs a scenario on the reference event core.
///
/// # Errors
///
/// As [`run`].
#[cfg(any(test, feature = "reference-core"))]
pub fn run_reference(scenario: &Scenario) -> Result<Outcome, Failure> {
    run_reference_with(scenario, build::Substitutes::default())
}

#[cfg(any(test, feature = "reference-core"))]
fn run_reference_with(scenario: &Scenario, substitutes: build::Substitutes) -> Result<Outcome, Failure> {
    simulate::<ReferenceCore>(scenario, substitutes, None, None)
}

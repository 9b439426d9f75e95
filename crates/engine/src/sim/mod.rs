//! The simulation: from a scenario to an outcome.

mod build;
pub(crate) mod error;
mod laws;
mod limits;
mod loads;
mod map;
mod memory;
mod preview;
#[cfg(test)]
mod tests;
mod windows;
pub(crate) mod world;

pub use crate::measure::flow_table::FlowTable;
pub use crate::measure::rows::Spill;
pub use crate::measure::timeouts::TimeoutCause;
pub use crate::measure::totals::{Outcome, offered_json};
pub use build::probe_names;
pub use error::RunError;
pub use loads::{FanInPort, Loads, TierLoad};
pub use map::{MapLink, MapNode, NetworkMap};
pub use memory::Memory;
pub use preview::{GroupPreview, Preview};
pub use world::Progress;

use crate::event::EventCore;
use crate::event::core::Core;
#[cfg(any(test, feature = "reference-core"))]
use crate::event::reference_core::ReferenceCore;
use crate::measure::rows::Rows;
use crate::measure::totals;
use crate::sim::world::World;
use crate::spec::{Scenario, SpecError};
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
    let mut world: World<Core> = build::build(scenario, build::Substitutes::default())?;
    Ok(Preview::of(scenario, &mut world))
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

fn simulate<C: EventCore>(
    scenario: &Scenario,
    substitutes: build::Substitutes,
    spill: Option<Box<dyn Spill>>,
    progress: Option<Progress<'_>>,
) -> Result<Outcome, Failure> {
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

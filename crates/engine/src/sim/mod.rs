//! The simulation: from a scenario to an outcome.

mod build;
mod laws;
#[cfg(test)]
mod tests;
pub(crate) mod world;

pub use crate::measure::flow_table::FlowTable;
pub use crate::measure::rows::Spill;
pub use crate::measure::timeouts::TimeoutCause;
pub use crate::measure::totals::Outcome;
pub use world::{Progress, RunError};

use crate::event::core::Core;
#[cfg(any(test, feature = "oracle"))]
use crate::event::oracle::Oracle;
use crate::measure::rows::Rows;
use crate::measure::totals;
use crate::spec::{Scenario, SpecError};
use crate::traffic::Offered;
use serde_json::{Value, json};
use thiserror::Error;

/// Why there is no outcome.
#[derive(Debug, Error)]
pub enum Failure {
    /// The scenario does not make sense, which shows only when it is laid out.
    #[error(transparent)]
    Scenario(#[from] SpecError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Runs a scenario. The same scenario gives the same outcome on every machine, but for the wall time.
///
/// `progress` is told the share of simulated time that has passed and says whether to go on.
///
/// # Errors
///
/// The scenario does not make sense, the caller stopped the run, or a law of the simulation was broken.
pub fn run(scenario: &Scenario, progress: Option<Progress<'_>>) -> Result<Outcome, Failure> {
    run_with(scenario, build::Substitutes::default(), progress)
}

/// As [`run`], and rows of finished transfers wait where `spill` puts them, so that a run of millions takes no more memory
/// than what it has under way.
///
/// # Errors
///
/// As [`run`], or the rows cannot be kept there.
pub fn run_spilling(
    scenario: &Scenario,
    spill: Box<dyn Spill>,
    progress: Option<Progress<'_>>,
) -> Result<Outcome, Failure> {
    simulate(scenario, build::Substitutes::default(), Some(spill), progress)
}

/// Checks what can only be checked by laying the scenario out; simulates nothing. Tells what the groups offer whose
/// traffic is at a load: objects as in the total `offered` of a run.
///
/// # Errors
///
/// What does not make sense.
pub fn check(scenario: &Scenario) -> Result<Vec<Value>, SpecError> {
    let (world, _) = build::build(scenario, build::Substitutes::default())?;
    let offered = world.groups.iter().filter_map(|group| Some((group, group.traffic.offered()?)));
    Ok(offered.map(|(group, offered)| offered_json(&group.name, &offered)).collect())
}

/// What a group offers, with all that its load was computed from.
pub(crate) fn offered_json(group: &str, offered: &Offered) -> Value {
    json!({
        "group": group,
        "mean_bytes": offered.mean,
        "interval_s": offered.interval.secs(),
        "offered_bps": offered.bps(),
        "load": offered.load(),
        "load_of": offered.of,
        "capacity_bps": offered.capacity,
    })
}

fn run_with(
    scenario: &Scenario,
    substitutes: build::Substitutes,
    progress: Option<Progress<'_>>,
) -> Result<Outcome, Failure> {
    simulate(scenario, substitutes, None, progress)
}

fn simulate(
    scenario: &Scenario,
    substitutes: build::Substitutes,
    spill: Option<Box<dyn Spill>>,
    progress: Option<Progress<'_>>,
) -> Result<Outcome, Failure> {
    let (mut world, parts) = build::build(scenario, substitutes)?;
    world.transfers.rows = Rows::new(spill);
    let mut core = Core::new(parts.ports, parts.nodes, parts.books, parts.ties);
    world.run(&mut core, progress)?;
    Ok(totals::collect(world, core)?)
}

/// Runs a scenario on the naive event core.
///
/// # Errors
///
/// As [`run`].
#[cfg(any(test, feature = "oracle"))]
pub fn run_oracle(scenario: &Scenario) -> Result<Outcome, Failure> {
    run_oracle_with(scenario, build::Substitutes::default())
}

#[cfg(any(test, feature = "oracle"))]
fn run_oracle_with(scenario: &Scenario, substitutes: build::Substitutes) -> Result<Outcome, Failure> {
    let (mut world, parts) = build::build(scenario, substitutes)?;
    let mut core = Oracle::new(parts.ports, parts.nodes, parts.books, parts.ties);
    world.run(&mut core, None)?;
    Ok(totals::collect(world, core)?)
}

//! Runs scenarios in the Linux kernel: a program that `make linux` builds, in virtual time.
//!
//! A run starts one kernel, whose root is a folder with the scenario and the guest. The guest builds the network and carries
//! the transfers ([`fanin_engine::backend`]), and what it wrote down becomes the outcome. The kernel needs no rights of its
//! own, and nothing of it is left when the run is over.

mod built;
mod machine;

pub use built::{Built, NotBuilt, OtherSources, builds, folder};

use fanin_engine::backend::{Playback, Site, drive};
use fanin_engine::param::SpecError;
use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, Failure, Outcome, Progress, RunError};
use fanin_engine::units::Time;
use machine::Machine;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use thiserror::Error;

/// A scenario as the guest reads it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The text of its file.
    pub text: &'a str,
    /// The name of its file. Files that it names are in that one's folder.
    pub file: &'a str,
    /// Values that are replaced: dotted paths and values.
    pub changes: &'a [(String, String)],
    /// Whether the queues on the way of an incast are measured
    /// ([`with_queues_on_the_way`](Scenario::with_queues_on_the_way)).
    pub on_the_way: bool,
}

/// Why there is no outcome.
#[derive(Debug, Error)]
pub enum Error {
    /// The kernel is not there.
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    /// The kernel is of other sources.
    #[error(transparent)]
    OtherSources(#[from] OtherSources),
    /// The kernel or the guest failed.
    #[error("Linux: {0}")]
    Machine(String),
    /// The folder of the run cannot be used.
    #[error("Linux: {what}: {error}")]
    Folder {
        /// What was to be done.
        what: String,
        /// Why it could not.
        error: std::io::Error,
    },
    /// The scenario asks for something that Linux does not follow, or the run failed or was stopped.
    #[error(transparent)]
    Run(Box<Failure>),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Run(Box::new(failure))
    }
}

impl From<SpecError> for Error {
    fn from(error: SpecError) -> Self {
        Failure::from(error).into()
    }
}

/// Runs a scenario in the kernel.
///
/// `progress` receives the share of the duration that has passed and returns whether to continue. It is also asked while
/// nothing happens.
///
/// # Errors
///
/// The kernel is not built, the scenario asks for something that it does not follow, or the run fails.
pub fn run(scenario: &Scenario, source: &Source<'_>, progress: Option<Progress<'_>>) -> Result<Outcome, Error> {
    let site = Site::of(scenario)?;
    let built = Built::with(site.stack.hz)?;
    built.check_sources()?;
    let machine = Machine::new(source, &site, &built)?;
    machine.run(site.mebibytes(&sim::check(scenario)?), progress)?;
    replay(scenario, machine.root(), site.links.len())
}

/// The outcome that a guest has written down.
fn replay(scenario: &Scenario, root: &Path, links: usize) -> Result<Outcome, Error> {
    let read = |name: &str| {
        std::fs::read(root.join(name)).map_err(|error| Error::Folder { what: format!("reading {name}"), error })
    };
    let record = String::from_utf8(read("record")?).map_err(|_| Error::Machine("the record is no text".to_owned()))?;
    let log = File::open(root.join("log")).map_err(|error| Error::Folder { what: "reading log".to_owned(), error })?;
    let mut playback = Playback::new(&record, BufReader::new(log), links);
    Ok(drive(scenario, &mut playback, None)?)
}

/// The error for a run that its caller stopped.
fn stopped() -> Error {
    Failure::Run(RunError::Stopped { at: Time::ZERO }).into()
}

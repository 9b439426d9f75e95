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
    /// A program that the guest runs is not on the host.
    #[error("the switch of SDTCP in Linux is Open vSwitch, which has no {0} here: apt-get install openvswitch-switch")]
    NoOpenVswitch(&'static str),
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
    if site.open_flow.is_some() {
        let missing = missing_of_open_vswitch(&["/usr/sbin", "/usr/bin"].map(Path::new));
        missing.map_or(Ok(()), |program| Err(Error::NoOpenVswitch(program)))?;
    }
    let machine = Machine::new(source, &site, &built)?;
    machine.run(site.mebibytes(&sim::check(scenario)?), progress)?;
    let mut outcome = replay(scenario, machine.root(), site.links.len())?;
    if site.open_flow.is_some_and(|open_flow| open_flow.captured) {
        outcome.capture = Some(read(machine.root(), "control.pcapng")?);
    }
    Ok(outcome)
}

/// The first program that the guest runs as the host's and that is in none of these folders.
fn missing_of_open_vswitch(folders: &[&Path]) -> Option<&'static str> {
    const PROGRAMS: [&str; 5] = ["ovsdb-tool", "ovsdb-server", "ovs-vsctl", "ovs-vswitchd", "ovs-ofctl"];
    PROGRAMS.into_iter().find(|program| !folders.iter().any(|folder| folder.join(program).exists()))
}

/// A file that the guest has written.
fn read(root: &Path, name: &str) -> Result<Vec<u8>, Error> {
    std::fs::read(root.join(name)).map_err(|error| Error::Folder { what: format!("reading {name}"), error })
}

/// The outcome that a guest has written down.
fn replay(scenario: &Scenario, root: &Path, links: usize) -> Result<Outcome, Error> {
    let record =
        String::from_utf8(read(root, "record")?).map_err(|_| Error::Machine("the record is no text".to_owned()))?;
    let log = File::open(root.join("log")).map_err(|error| Error::Folder { what: "reading log".to_owned(), error })?;
    let mut playback = Playback::new(&record, BufReader::new(log), links);
    Ok(drive(scenario, &mut playback, None)?)
}

/// The error for a run that its caller stopped.
fn stopped() -> Error {
    Failure::Run(RunError::Stopped { at: Time::ZERO }).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_what_installs_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let folders = [Path::new("/nowhere"), folder.path()];
        for program in ["ovsdb-tool", "ovsdb-server", "ovs-vsctl", "ovs-ofctl"] {
            std::fs::write(folder.path().join(program), "").unwrap();
        }
        let missing = missing_of_open_vswitch(&folders).unwrap();
        let error = Error::NoOpenVswitch(missing).to_string();
        assert!(error.contains("no ovs-vswitchd") && error.contains("apt-get install openvswitch-switch"), "{error}");
        std::fs::write(folder.path().join("ovs-vswitchd"), "").unwrap();
        assert_eq!(missing_of_open_vswitch(&folders), None);
    }
}

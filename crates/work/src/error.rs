//! Why a run has no result.

use fanin_core::units::Time;
use thiserror::Error;

/// Why a run has no result.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RunError {
    /// The caller asked to stop.
    #[error("stopped at {at} of simulated time")]
    Stopped {
        /// When.
        at: Time,
    },
    /// An invariant of the simulation was violated: a defect of the engine or of a scheme.
    #[error(
        "seed {seed}, {at} of simulated time: {what}; this is a defect of the engine or of a scheme; please report it with the scenario"
    )]
    Broken {
        /// The run's seed.
        seed: u64,
        /// When it was noticed.
        at: Time,
        /// The invariant, with the numbers.
        what: String,
    },
    /// A file that the run reads has changed since the scenario was checked.
    #[error("{at} of simulated time: {what}")]
    Input {
        /// When.
        at: Time,
        /// The file and line, and what is wrong there.
        what: String,
    },
    /// The system that carries the transfers cannot go on.
    #[error("{at} of simulated time: {what}")]
    Carrier {
        /// When.
        at: Time,
        /// What it says.
        what: String,
    },
    /// The rows of finished transfers cannot be written to or read from the caller's storage.
    #[error("rows of the table of flows: {what}")]
    Spill {
        /// The operating system's error number, if there is one.
        code: Option<i32>,
        /// Its message.
        what: String,
    },
    /// No event is left although a transfer is not complete.
    #[error("seed {seed}, {at} of simulated time: transfer {transfer} of group \"{group}\" is stuck: {why}")]
    Stuck {
        /// The run's seed.
        seed: u64,
        /// When the last event happened.
        at: Time,
        /// The transfer's row in the flow table.
        transfer: usize,
        /// Its traffic group.
        group: String,
        /// What its sender waits for.
        why: String,
    },
}

impl RunError {
    /// The error for rows that cannot be stored.
    pub fn spill(error: &std::io::Error) -> Self {
        Self::Spill { code: error.raw_os_error(), what: error.to_string() }
    }
}

//! Environments: the defaults of the tools in which papers were run.
//!
//! What a paper leaves out, its simulator or its operating system decided: delayed acknowledgements, the minimum timeout,
//! what a marking port does to packets that it cannot mark. Those defaults belong together and hold for every system of a
//! figure. An environment is a row of data with two parts that can also be named alone: a host's *stack*, on which any
//! congestion control runs, and a *switch*. Each setting has a public source, or says that it is inferred. To add one: a
//! file here and a row in [`REGISTRY`].

mod linux_6;
mod mininet_2_2;
mod ns3_18_rdtcp;
mod ns3_2020;
mod qualnet;
mod rfc;

/// An environment that a scenario can name.
pub struct EnvironmentRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// What it stands for, what is inferred and what is left out, in Markdown.
    pub manual: &'static str,
    /// Defaults of `[transport]`, by bare keys.
    pub stack: &'static [Setting],
    /// Defaults of `network.KEY` and `queue.KEY`; the latter for the kinds of queue, and the queues of schemes, that have
    /// the key.
    pub switch: &'static [Setting],
}

/// One default of an environment.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// Its value, as a scenario would write it.
    pub value: &'static str,
    /// Where that is documented or was read, or why it is assumed.
    pub source: &'static str,
}

/// The environment of a scenario that names none.
pub const DEFAULT: &str = rfc::ROW.key;

/// Every environment.
pub const REGISTRY: &[EnvironmentRow] =
    &[rfc::ROW, qualnet::ROW, ns3_2020::ROW, ns3_18_rdtcp::ROW, mininet_2_2::ROW, linux_6::ROW];

/// The environment called `key`.
///
/// # Panics
/// If there is none.
pub fn find(key: &str) -> &'static EnvironmentRow {
    REGISTRY.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("no environment {key:?}"))
}

const fn set(key: &'static str, value: &'static str, source: &'static str) -> Setting {
    Setting { key, value, source }
}

//! Environments: the defaults of the tools that papers used.
//!
//! Settings that a paper does not state were those of its simulator or operating system: delayed acknowledgements, the
//! minimum timeout, or what a marking port does to packets that are not ECN-capable. These defaults belong together and
//! apply to every system of a figure. An environment is a row of data in two parts, which can also be selected
//! separately: a host's *stack*, on which any congestion control runs, and a *switch*. Each setting has a public
//! source, or says that it is inferred. To add one: a file here and a row in [`REGISTRY`].

mod linux_6_12;
mod mininet_2_2;
mod ns3;
mod ns3_18_rdtcp;
mod qualnet;
mod rfc;

/// An environment that scenarios can name.
pub struct EnvironmentRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// What it models, what is inferred and what is left out, in Markdown.
    pub manual: &'static str,
    /// Defaults of `[transport]`, by key without prefix, and `network.frame-overhead`: frames are those of the hosts.
    pub stack: &'static [Setting],
    /// Defaults of `network.KEY` and `queue.KEY`. The latter apply to the kinds of queue, and to the queues of schemes,
    /// that have the key.
    pub switch: &'static [Setting],
}

/// A default of an environment.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// Its value, as a scenario would write it.
    pub value: &'static str,
    /// The source: where it is documented or found in code, or why it is assumed.
    pub source: &'static str,
}

/// The default environment.
pub(crate) const DEFAULT: &str = rfc::ROW.key;

/// Every environment.
pub static REGISTRY: &[EnvironmentRow] =
    &[rfc::ROW, qualnet::ROW, ns3::NS3_2020, ns3::NS3_2022, ns3_18_rdtcp::ROW, mininet_2_2::ROW, linux_6_12::ROW];

/// Short names, each with that of its environment: files may have them, and results have the long ones.
pub static SHORT_NAMES: &[(&str, &str)] = &[("linux-6", linux_6_12::ROW.key)];

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

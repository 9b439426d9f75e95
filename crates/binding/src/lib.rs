//! What the bindings of the fanin engine say of it and of a scenario, as JSON.
//!
//! Python and the browser ask the same questions; this crate answers them once.

mod measures;
mod registry;
mod scenario;

pub use measures::WALL;
pub use registry::registry;
pub use scenario::{check, hosts, loads, memory, network, resolved};

/// The engine's version and a hash of its source.
pub const fn version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), "+", env!("FANIN_ENGINE_SOURCE"))
}

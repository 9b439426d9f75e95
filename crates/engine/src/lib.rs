//! Deterministic packet-level simulator of TCP incast and its remedies.

pub mod ids;
pub mod measure;
pub mod packet;
pub mod queue;
pub mod rng;
pub mod roles;
pub mod schemes;
pub mod sim;
pub mod spec;
pub mod tcp;
pub mod topology;
pub mod traffic;
pub mod units;

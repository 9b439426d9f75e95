//! What all crates of the fanin engine build on: units, packets, random streams, and the six roles of an incast fix.

pub mod ids;
pub mod packet;
pub mod pcapng;
pub mod rng;
pub mod roles;
pub mod telemetry;
pub mod units;

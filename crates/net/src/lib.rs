//! The network: paths, faults, switch agents, the control channel, and the queues of sending hosts.
#![allow(clippy::missing_errors_doc, reason = "a room of the engine, not for others")]

pub mod control;
pub mod faults;
pub mod host_queue;
pub mod looks;
pub mod network;
pub mod paths;
pub mod switch;

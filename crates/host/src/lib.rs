//! The hosts: the flows between them, the schedulers of receiving hosts, and their interfaces.
#![allow(missing_docs, reason = "a room of the engine, not for others: names say what documentation would repeat")]

pub mod acknowledge;
pub mod finished;
pub mod flow;
pub mod flows;
pub mod hosts;
pub mod interfaces;
pub mod interrupts;
pub mod receive;
pub mod resequencing;
mod riding;
pub mod scheduler;
pub mod send;

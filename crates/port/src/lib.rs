//! Ports as they are built, and the books: counts of what happened to packets.
#![allow(
    clippy::return_self_not_must_use,
    missing_docs,
    reason = "a room of the engine, not for others: names say what documentation would repeat"
)]

pub mod books;
pub mod flow_map;
pub mod ledger;
pub mod pfc;
pub mod slots;
pub mod spec;

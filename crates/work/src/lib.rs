//! The work of the hosts: traffic groups, their transfers and queries.
#![allow(
    clippy::missing_errors_doc,
    missing_docs,
    reason = "a room of the engine, not for others: names say what documentation would repeat"
)]

pub mod cast;
pub mod course;
pub mod error;
pub mod goodput;
pub mod group;
pub mod ideal;
pub mod plan;
pub mod settling;
pub mod transfer;
mod waiting;

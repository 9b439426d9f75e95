//! The work of the hosts: traffic groups, their transfers and queries.

pub(crate) mod cast;
pub(crate) mod course;
pub(crate) mod goodput;
pub(crate) mod group;
pub(crate) mod ideal;
pub(crate) mod plan;
pub(crate) mod settling;
pub(crate) mod transfer;
mod waiting;

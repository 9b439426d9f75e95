//! The work that hosts are given: traffic groups, their transfers and queries.

pub(crate) mod cast;
pub(crate) mod ideal;
pub(crate) mod transfer;

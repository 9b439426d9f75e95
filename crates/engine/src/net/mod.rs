//! The network: ports and links, paths, faults, switch agents, the control channel, and the books.

pub(crate) mod books;
pub(crate) mod control;
pub(crate) mod faults;
pub(crate) mod ledger;
pub(crate) mod network;
pub(crate) mod paths;
pub(crate) mod port;
pub(crate) mod switch;

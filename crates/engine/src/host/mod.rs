//! The hosts: the flows between them, and the schedulers of receiving hosts.

pub(crate) mod acknowledge;
pub(crate) mod finished;
pub(crate) mod flow;
pub(crate) mod flows;
pub(crate) mod hosts;
pub(crate) mod receive;
pub(crate) mod resequencing;
pub(crate) mod scheduler;
pub(crate) mod send;

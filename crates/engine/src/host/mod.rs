//! The hosts: the flows that begin and end there, and the schedulers of receiving hosts.

pub(crate) mod acknowledge;
pub(crate) mod finished;
pub(crate) mod flow;
pub(crate) mod flows;
pub(crate) mod hosts;
pub(crate) mod receive;
pub(crate) mod resequencing;
pub(crate) mod scheduler;
pub(crate) mod send;

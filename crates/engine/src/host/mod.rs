//! The hosts: the flows between them, the schedulers of receiving hosts, and their interfaces.

pub(crate) mod acknowledge;
pub(crate) mod finished;
pub(crate) mod flow;
pub(crate) mod flows;
pub(crate) mod hosts;
pub(crate) mod interfaces;
pub(crate) mod interrupts;
pub(crate) mod queue;
pub(crate) mod receive;
pub(crate) mod resequencing;
pub(crate) mod scheduler;
pub(crate) mod send;

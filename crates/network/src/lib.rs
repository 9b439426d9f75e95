//! What a network is made of: its topology, the queues of its ports, the traffic on it, and its faults.

pub mod fault;
pub mod queue;
pub mod topology;
pub mod traffic;

//! Deterministic packet-level simulator of TCP incast and its remedies.
//!
//! In TCP incast many servers respond to one client at the same time. The switch port in front of the client overflows,
//! whole windows are lost, and the client waits for retransmission timeouts. This crate simulates incast packet by
//! packet, together with the published remedies. It has no I/O, no wall clock and no global state: the same scenario
//! and seed give the same bytes on any machine.
//!
//! # Map
//!
//! | module | what |
//! |---|---|
//! | [`spec`] | the scenario file: parsing, checking, schema |
//! | [`sim`] | building the world, the event loop (in `windows` node by node), and the invariants that every run must satisfy |
//! | `event` | the event queue, the order of simultaneous events, windows of one node at a time, and the reference core that tests compare with |
//! | `net` | ports, paths, faults, switches, the control channel, the books (counts of what happened to packets), and a ledger for them |
//! | `host` | flows, their senders and receivers, the receiving host's scheduler, interrupts and host queues |
//! | `work` | traffic groups, transfers and queries, and how long a transfer would take alone |
//! | [`roles`] | the six places where a remedy can act |
//! | [`schemes`] | the remedies, one module each |
//! | [`tcp`] | sender, receiver, timer and scoreboard as state machines without I/O |
//! | [`environment`] | the defaults of the tools in which papers were run |
//! | [`queue`], [`topology`], [`traffic`], [`fault`] | the other registries |
//! | [`measure`] | the results of a run: statistics, tables, totals, captures |
//! | [`units`], [`ids`], [`packet`], [`rng`], `flow_map` | basic types |
//!
//! # The life of a packet
//!
//! A sender's window allows a segment (`tcp::sender`). It becomes a [`packet::Packet`] of 48 bytes and enters the port
//! of the host's link (`event::core`). If the port is quiet its departure is known at once: the packet is written into
//! the link's ring with its arrival time. If it is the first packet there, the link's leaf in the queue of links is
//! set. When that arrival is the earliest event, the packet leaves the ring, the link after its next one is read from
//! the table of paths, and the packet enters the next port. There it may be marked, dropped, queued in a priority band,
//! or passed to a switch agent. At the end of its path a segment goes to `tcp::receiver`. The host's scheduler may hold
//! the acknowledgement before it travels back in the same way.

pub mod environment;
mod event;
pub mod fault;
mod flow_map;
mod host;
pub mod ids;
pub mod measure;
mod net;
pub mod packet;
pub mod queue;
pub mod rng;
pub mod roles;
pub mod schemes;
pub mod sim;
pub mod spec;
pub mod tcp;
pub mod topology;
pub mod traffic;
pub mod units;
mod work;

//! Deterministic packet-level simulator of TCP incast and its remedies.
//!
//! Many servers answer one client at once, the switch port in front of it overflows, whole windows are lost, and the
//! client waits for retransmission timeouts. This crate simulates that, packet by packet, together with the remedies
//! that have been published. It is pure: no I/O, no clock, no globals. The same scenario and seed give the same bytes
//! on any machine.
//!
//! # Map
//!
//! | module | what |
//! |---|---|
//! | [`spec`] | the scenario file: parsing, checking, schema |
//! | [`sim`] | a scenario laid out as a world, the only loop, and the laws that every run is held to |
//! | `event` | the queue of events, the order at one instant, and the naive core that the tests compare with |
//! | `net` | ports, paths, faults, switches, the control channel, and the books of what became of packets |
//! | `host` | flows and their two ends: what is sent, what is received, and the receiving host's scheduler |
//! | `work` | what hosts are given to do: traffic groups, transfers, queries, and how long they take alone |
//! | [`roles`] | the six places where a remedy may act |
//! | [`schemes`] | the remedies, one room each |
//! | [`tcp`] | sender, receiver, timer and scoreboard as state machines without I/O |
//! | [`queue`], [`topology`], [`traffic`], [`fault`] | the other registries |
//! | [`measure`] | what a run leaves behind: statistics, tables, totals, captures |
//! | [`units`], [`ids`], [`packet`], [`rng`], `flow_map` | the vocabulary |
//!
//! # The life of a packet
//!
//! A sender's window allows a segment (`tcp::sender`). It becomes a [`packet::Packet`] of 40 bytes and enters the port of
//! the host's link (`event::core`). If the port is quiet its departure is known at once: the packet is written into the
//! link's ring with its arrival time, and if it is the first there, the link's leaf in the queue of links is set. When
//! that arrival is the earliest event, the packet is taken off, the next link is read from the table of paths, and it
//! enters the next port, where it may be marked, dropped, reordered into a band, or shown to a switch agent. At the end of
//! its path a segment goes to `tcp::receiver`, whose acknowledgement may be held by the host's scheduler before it starts
//! the same journey back.

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

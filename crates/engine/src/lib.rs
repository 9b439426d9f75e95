//! Deterministic packet-level simulator of TCP incast and its fixes.
//!
//! In TCP incast many servers respond to one client at the same time. The switch port in front of the client overflows,
//! whole windows are lost, and the client waits for retransmission timeouts. This crate simulates incast packet by
//! packet, together with the published fixes. It has no I/O, no wall clock and no global state but the schemes that a program
//! adds ([`schemes::add`]): the same scenario and seed give the same bytes on any machine.
//!
//! # Map
//!
//! The engine is made of rooms. Each is a crate, or a module of this one, and uses only those below it; a crate cannot do
//! otherwise. From the top:
//!
//! | room | what |
//! |---|---|
//! | [`sim`] | from a scenario to an outcome: building the world, its limits, previews |
//! | [`backend`] | the same scenario and the same tables for another system that carries the transfers, such as Linux |
//! | [`outcome`] | what a run tells: totals, and the tables that are read from the world after it |
//! | `fanin-world` | everything that is simulated, the event loop (in `windows` node by node), and the invariants that every run must satisfy |
//! | `fanin-work` | traffic groups, transfers and queries, and how long a transfer would take alone |
//! | `fanin-host` | flows, their senders and receivers, the receiving host's scheduler, and interrupts |
//! | `fanin-net` | paths, faults, switches, the control channel, and the queues of sending hosts |
//! | `fanin-event` | the event queue, the order of simultaneous events, windows of one node at a time, and the reference core that tests compare with |
//! | `fanin-port` | ports as they are built, the books (counts of what happened to packets), and a ledger for them |
//! | [`measure`] | what a run records: collectors, statistics, tables of columns |
//! | [`scenario`] | the scenario file: reading, checking, schema, and the defaults of the tools in which papers were run |
//! | [`schemes`] | the fixes, one module each |
//! | [`tcp`] | sender, receiver, timer and scoreboard as state machines without I/O |
//! | [`queue`], [`traffic`], [`topology`], [`fault`] | the other registries: `fanin-network` |
//! | [`param`] | the declaration of a key, and the values that are read for it |
//! | [`roles`], [`packet`], [`rng`], [`units`], [`ids`], [`pcapng`] | the six places where a fix can act, and basic types: `fanin-core` |
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

pub mod backend;
pub mod outcome;
pub mod sim;

pub use fanin_core::{ids, packet, pcapng, rng, roles, telemetry, units};
pub use fanin_network::{fault, queue, topology, traffic};
pub use {
    fanin_measure as measure, fanin_param as param, fanin_scenario as scenario, fanin_schemes as schemes,
    fanin_tcp as tcp,
};

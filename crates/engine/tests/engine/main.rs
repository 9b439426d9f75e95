//! What the engine promises, checked from outside: closed forms, measures, determinism, bad input, captures.
#![allow(clippy::float_cmp, reason = "the values compared are exact")]

mod bad_input;
mod closed_forms;
mod conformance;
mod declared;
mod determinism;
mod host;
mod knobs;
mod measures;
mod outcome;
mod schemes;
mod snapshots;
mod steady;
mod theory;
mod tiers;
mod wireshark;
mod workloads;

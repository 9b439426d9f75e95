//! Tests of the whole simulator that bring parts of their own: schemes, disciplines, a network with two paths.
#![allow(clippy::float_cmp, reason = "the values compared are exact")]

mod asked;
mod bench;
mod congestion_control;
mod constructed;
mod control_packets;
mod controller;
mod crossings;
mod cubic_law;
mod drawn;
mod faults;
mod finished;
mod grid;
mod laws;
mod loads;
mod path_selector;
mod pfc;
mod queue_discipline;
mod random;
mod retransmissions;
mod steps;
mod switch_agent;
mod telemetry;
mod trimming;
mod window_control;
mod windows;

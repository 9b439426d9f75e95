//! The row of a scheme in the registry: everything about it that is not behaviour.

use super::{Scheme, SwitchTotal};
use fanin_param::{Param, Values};

/// A scheme that a scenario can name.
pub struct SchemeRow {
    /// Name in scenario files.
    pub key: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Keys of its `[scheme.<key>]` table.
    pub params: &'static [Param],
    /// What it wants of `[transport]`.
    pub transport: &'static [Wish],
    /// Body of its manual page in Markdown: what it is, who acts, what is left out. The room's `manual.md`.
    pub manual: &'static str,
    /// Where its paper leaves something open: what we take, and which parameters give the other readings.
    pub readings: &'static [Reading],
    /// What it counts in its switches ([`Scheme::node_totals`]).
    pub totals: &'static [SwitchTotal],
    /// The least that it takes to deploy.
    pub effort: Effort,
    /// What it takes to deploy, in words.
    pub needs: &'static str,
    /// What slows its senders down besides losses; empty if nothing does.
    pub reacts_to: &'static [Signal],
    /// The colour of its lines, as `#RRGGBB`. The first schemes have Okabe and Ito's, which people with any common colour
    /// blindness can distinguish.
    pub colour: &'static str,
    /// The marker of its points, by Matplotlib's letter.
    pub marker: &'static str,
    /// Makes the scheme from its parameters.
    pub build: fn(&Values) -> Box<dyn Scheme>,
}

/// What a scheme wants of `[transport]`: a key, and its value as a scenario would write it.
#[derive(Clone, Copy, Debug)]
pub enum Wish {
    /// What it would not be itself without: wins over the stack.
    Needs(&'static str, &'static str),
    /// What its paper is silent about and we take: a stack that names the key wins.
    Prefers(&'static str, &'static str),
    /// The stack that it runs on unless the scenario names one.
    Stack(&'static str),
}

impl SchemeRow {
    /// The stack that it brings.
    pub fn stack(&self) -> Option<&'static str> {
        self.transport.iter().find_map(|wish| match wish {
            Wish::Stack(key) => Some(*key),
            Wish::Needs(..) | Wish::Prefers(..) => None,
        })
    }
}

/// What it takes to deploy a scheme, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Settings of hosts as they are sold.
    Hosts,
    /// Settings of switches as they are sold, and perhaps of hosts.
    SwitchSetting,
    /// Other code in the hosts' kernels.
    Kernel,
    /// A switch that nobody sells.
    Switch,
    /// A controller of the network.
    Controller,
}

impl Effort {
    /// Its name in the registry that other programs read.
    pub fn key(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::SwitchSetting => "switch-setting",
            Self::Kernel => "kernel",
            Self::Switch => "switch",
            Self::Controller => "controller",
        }
    }
}

/// What slows senders down before a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Marked packets, so that it needs queues that mark.
    Marks,
    /// Longer round trips.
    Delay,
    /// Windows that a receiver or a switch writes.
    Window,
    /// Receivers that decide when each segment is acknowledged, and so how many are in flight.
    Schedule,
    /// What switches write into packets.
    Telemetry,
}

impl Signal {
    /// Its name in the registry that other programs read.
    pub fn key(self) -> &'static str {
        match self {
            Self::Marks => "marks",
            Self::Delay => "delay",
            Self::Window => "window",
            Self::Schedule => "schedule",
            Self::Telemetry => "telemetry",
        }
    }
}

/// How we read a place where a paper is ambiguous, incomplete or contradicts itself.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Short name, by which code and experiments refer to it (`P6`, `D4`).
    pub id: &'static str,
    /// What is open, what we take, and why; one or two sentences.
    pub text: &'static str,
    /// The parameters that select the other readings, as paths in a scenario file; empty where there is no other
    /// sensible one.
    pub params: &'static [&'static str],
}

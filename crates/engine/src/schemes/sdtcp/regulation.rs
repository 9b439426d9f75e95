//! Step 3, flow rate control: the windows that a congested port leaves its flows (section 3.4).

use super::controller::Controller;
use super::flows::{Class, Place};
use super::table::{ACK_NOT_SYN, priority};
use super::trigger::Level;
use super::wire::{Action, Body, FlowMod, Match, NO_BUFFER, command, cookie};
use crate::packet::Addresses;
use crate::roles::ControllerCx;

/// What a port is known to suffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Congestion {
    level: Level,
    /// Queue in bytes, of the last notification.
    queue: f64,
}

impl Controller {
    /// CN-L, CN-M, CN-H or CR.
    pub(super) fn on_notification(&mut self, cx: &mut ControllerCx<'_>, port: Place, level: Level, queue: u32) {
        if level == Level::None {
            // READING: S9 recovery deletes the rules of that port, and the receivers' own windows count again.
            self.congested.remove(&port);
            let limited = self.lists.of(port).map(|list| list.limited.clone()).unwrap_or_default();
            for name in &limited {
                self.set_limit(cx, name, port, None);
            }
            return;
        }
        self.congested.insert(port, Congestion { level, queue: f64::from(queue) });
        self.regulate(cx, port);
    }

    /// Step 3: sets the windows of the flows through a congested port.
    pub(super) fn regulate(&mut self, cx: &mut ControllerCx<'_>, port: Place) {
        let Some(Congestion { level, queue }) = self.congested.get(&port).copied() else { return };
        let Some(rate) = self.switches.get(&port.0).and_then(|ports| ports.get(&port.1)).copied() else { return };
        if !self.cfg.acts[level as usize - 1] {
            return;
        }
        let Some(list) = self.lists.of(port) else { return };
        // READING: S7 the round trip without its queue, which Q adds; one that was measured has it already.
        let pipe = rate.bytes_in(self.cfg.rtt) + if self.cfg.loaded { queue } else { 0.0 };
        // READING: S6 N counts the flows whose data leave by that port.
        let (flows, reserved) = (list.flows, list.reserved as f64);
        let shares = Shares { total: pipe + queue, flows, reserved, bursts: flows - list.background.len() };
        let names: Vec<Addresses> = match level {
            Level::High => self.flows.keys().copied().collect(),
            // Step 3 selects from the BGT alone. A burst flow has a window here if the news of a recovery was lost.
            Level::None | Level::Low | Level::Modest => list.background.union(&list.limited).copied().collect(),
        };
        for name in names {
            let Some(flow) = self.flows.get(&name).filter(|flow| flow.path.contains(&port)) else { continue };
            let limit = shares.limit(level, flow.class, f64::from(flow.mss), self.cfg.factors);
            self.set_limit(cx, &name, port, limit);
        }
    }

    /// Sets or lifts the window that a port leaves a flow, and tells the switch that rewrites it.
    fn set_limit(&mut self, cx: &mut ControllerCx<'_>, name: &Addresses, port: Place, limit: Option<u32>) {
        let Some(flow) = self.flows.get_mut(name) else { return };
        let had = flow.limits.remove(&port);
        if limit.is_none() && had.is_none() {
            return;
        }
        let switch = had.map_or_else(|| flow.rewriter(port.0), |(switch, _)| switch);
        flow.limits.extend(limit.map(|bytes| (port, (switch, bytes))));
        if had.is_some() != limit.is_some() {
            self.lists.limit(port, name, limit.is_some());
        }
        // READING: S10 of several limits at one switch the least counts; those of several switches meet in the packet.
        let least = flow.limits.values().filter(|(at, _)| *at == switch).map(|(_, bytes)| *bytes).min();
        let matching = Match { connection: Some(name.reversed()), tcp_flags: Some(ACK_NOT_SYN), ..Match::default() };
        let change = match least {
            Some(bytes) => {
                let out = flow.acks.iter().find(|place| place.0 == switch).map(|place| Action::Output(place.1));
                let actions = [Action::LimitWindow(bytes)].into_iter().chain(out).collect();
                let hard = self.cfg.hard;
                FlowMod { hard, ..change(command::ADD, cookie::WINDOW, priority::WINDOW, matching, actions) }
            }
            None => change(command::DELETE_STRICT, cookie::WINDOW, priority::WINDOW, matching, Vec::new()),
        };
        self.send(cx, switch, Body::FlowMod(change));
    }
}

/// What the flows of a port share out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// `C x RTT + Q`, Eq. 2, in bytes.
    pub(crate) total: f64,
    /// N.
    pub(crate) flows: usize,
    /// `a x MSS`: one segment for each background flow, in bytes.
    pub(crate) reserved: f64,
    /// b.
    pub(crate) bursts: usize,
}

impl Shares {
    /// The window of a flow, in bytes, if its class is limited at this level.
    ///
    /// READING: S11 a class without flows is passed over: nobody asks for its window.
    pub(crate) fn limit(&self, level: Level, class: Class, mss: f64, factors: [f64; 2]) -> Option<u32> {
        let fair = self.total / self.flows as f64; // Eq. 3
        let bytes = match (level, class) {
            (Level::Low, Class::Background) => factors[0] * fair, // Eqs. 4, 5
            (Level::Modest, Class::Background) => factors[1] * fair, // Eqs. 4, 6
            (Level::High, Class::Background) => mss,              // Eq. 7
            (Level::High, Class::Burst) => (self.total - self.reserved) / self.bursts as f64, // Eq. 8
            (Level::Low | Level::Modest, Class::Burst) | (Level::None, _) => return None,
        };
        Some(bytes.max(mss) as u32)
    }
}

/// A change of the flow table without timeouts and buffer.
pub(super) fn change(command: u8, cookie: u64, priority: u16, matching: Match, actions: Vec<Action>) -> FlowMod {
    FlowMod { cookie, command, idle: 0, hard: 0, priority, buffer: NO_BUFFER, tell: false, matching, actions }
}

//! Step 3, flow rate control: the windows to which a congested port limits its flows (section 3.4).

use super::controller::Controller;
use super::flows::Place;
use super::shares::{Congestion, Shares};
use super::table::{ACK_NOT_SYN, priority};
use super::trigger::Level;
use super::wire::{Action, Body, FlowMod, Match, command, cookie};
use crate::packet::Addresses;
use crate::roles::ControllerCx;

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
            let Some(flow) = self.flows.get(&name).filter(|flow| flow.counts && flow.path.contains(&port)) else {
                continue;
            };
            let limit = shares.limit(level, flow.class, f64::from(flow.mss), self.cfg.factors);
            self.set_limit(cx, &name, port, limit);
        }
    }

    /// Sets or lifts a port's limit on a flow's window, and tells the switch that rewrites it.
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
                FlowMod { hard, ..FlowMod::new(command::ADD, cookie::WINDOW, priority::WINDOW, matching, actions) }
            }
            None => FlowMod::new(command::DELETE_STRICT, cookie::WINDOW, priority::WINDOW, matching, Vec::new()),
        };
        self.send(cx, switch, Body::FlowMod(change));
    }
}

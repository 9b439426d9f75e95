//! Step 3, flow rate control: sets and removes the windows to which a congested port limits its flows (section 3.4).

use super::controller::Controller;
use super::fair_share::{Congestion, Shares};
use super::flows::EgressPort;
use super::table::{ACK_NOT_SYN, priority};
use super::trigger::Level;
use super::wire::{Action, Body, FlowMod, Match, command, cookie};
use fanin_core::packet::Addresses;
use fanin_core::roles::ControllerCx;
use std::collections::BTreeSet;

impl Controller {
    /// A notification: CN-L, CN-M, CN-H or CR.
    pub(super) fn on_notification(&mut self, cx: &mut ControllerCx<'_>, port: EgressPort, level: Level, queue: u32) {
        if level == Level::None {
            // READING: S9 on recovery the port's limits are removed, and the receivers' own windows apply again.
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
    pub(super) fn regulate(&mut self, cx: &mut ControllerCx<'_>, port: EgressPort) {
        let Some(Congestion { level, queue }) = self.congested.get(&port).copied() else { return };
        let Some(rate) = self.switches.get(&port.0).and_then(|ports| ports.get(&port.1)).copied() else { return };
        if !self.cfg.acts[level as usize - 1] {
            return;
        }
        let lists = self.lists.sharing(port, self.cfg.whole_switch);
        if lists.is_empty() {
            return;
        }
        // READING: S7 the round-trip time without queueing, because Q is added; a measured one would include it.
        let pipe = rate.bytes_in(self.cfg.rtt) + if self.cfg.loaded { queue } else { 0.0 };
        // READING: S6 N is the number of flows whose data leave by that port, or pass its switch.
        let flows: usize = lists.iter().map(|list| list.flows).sum();
        let background: usize = lists.iter().map(|list| list.background.len()).sum();
        let reserved = lists.iter().map(|list| list.reserved as f64).sum();
        let shares = Shares { total: pipe + queue, flows, reserved, bursts: flows - background };
        let names: Vec<Addresses> = match level {
            Level::High => self.flows.keys().copied().collect(),
            // Step 3 takes flows of the BGT only. A burst flow is limited here if the notification of a recovery was
            // lost.
            Level::None | Level::Low | Level::Modest => {
                let limited = self.lists.of(port).into_iter().flat_map(|list| &list.limited);
                let names: BTreeSet<&Addresses> =
                    lists.iter().flat_map(|list| &list.background).chain(limited).collect();
                names.into_iter().copied().collect()
            }
        };
        for name in names {
            let shares_port = |at: &EgressPort| *at == port || (self.cfg.whole_switch && at.0 == port.0);
            let Some(flow) = self.flows.get(&name).filter(|flow| flow.counts && flow.path.iter().any(shares_port))
            else {
                continue;
            };
            let limit = shares.limit(level, flow.class, f64::from(flow.mss), self.cfg.factors);
            self.set_limit(cx, &name, port, limit);
        }
    }

    /// Sets or removes a port's limit on a flow's window, and updates the switch that rewrites it.
    fn set_limit(&mut self, cx: &mut ControllerCx<'_>, name: &Addresses, port: EgressPort, limit: Option<u32>) {
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
        // READING: S10 the smallest limit applies. Among limits at one switch it is selected here; limits at several
        // switches act on the packet one after the other.
        let least = flow.limits.values().filter(|(at, _)| *at == switch).map(|(_, bytes)| *bytes).min();
        let matching = Match { connection: Some(name.reversed()), tcp_flags: Some(ACK_NOT_SYN), ..Match::default() };
        let change = match least {
            Some(bytes) => {
                let out = flow.acks.iter().find(|port| port.0 == switch).map(|port| Action::Output(port.1));
                let actions = [Action::LimitWindow(bytes)].into_iter().chain(out).collect();
                let hard = self.cfg.hard;
                FlowMod { hard, ..FlowMod::new(command::ADD, cookie::WINDOW, priority::WINDOW, matching, actions) }
            }
            None => FlowMod::new(command::DELETE_STRICT, cookie::WINDOW, priority::WINDOW, matching, Vec::new()),
        };
        self.send(cx, switch, Body::FlowMod(change));
    }
}

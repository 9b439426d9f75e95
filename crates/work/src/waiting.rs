//! Traffic that waits for what runs before to be steady, and notice of what began before that.

use crate::plan::Plan;
use crate::settling::{LOOK, Settling};
use crate::transfer::Transfer;
use fanin_core::ids::{GroupId, TransferId};
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_host::hosts::Hosts;
use fanin_net::network::Network;

impl Plan {
    /// Whether traffic waits for what runs before to be steady.
    pub fn waits(&self) -> bool {
        self.groups.iter().any(|group| group.waits)
    }

    /// The first look at long flows, if there are any, or if traffic waits.
    pub(super) fn plan_looks<C: EventCore>(&mut self, net: &mut Network<C>) {
        if self.transfers.open().any(|(_, transfer)| transfer.bytes.is_none()) || self.waits() {
            net.core.schedule(LOOK, Class::Look, 0);
        } else {
            self.settling = None;
        }
    }

    /// Looks at what runs before other traffic; returns whether what has waited for it begins now.
    pub fn on_look<C: EventCore>(&mut self, hosts: &Hosts, net: &mut Network<C>) -> bool {
        let now = net.now();
        let Some(mut settling) = self.settling.take() else { return false };
        let found = settling.release;
        if self.waits() && (found.is_some() || now >= settling.limit) {
            self.settled.rising = self.rising(&settling, now);
            self.settled.steady = found;
            return true;
        }
        settling.span.looks += 1;
        for (id, transfer) in self.transfers.open() {
            settling.look(id, transfer, hosts, net);
        }
        let mut next = settling.release.unwrap_or(now + LOOK);
        if self.waits() {
            if now - settling.span.begin >= settling.shortest && self.span_is_over(&settling, hosts) {
                settling.end_span(now, self.delivered(hosts).sum());
                settling.flows.retain(|id, _| self.transfers.get(*id).is_some());
            }
            next = settling.release.unwrap_or(now + LOOK).min(settling.limit);
        }
        net.core.schedule(next, Class::Look, 0);
        self.settling = Some(settling);
        false
    }

    /// Whether every flow has met its limit in the present span, and there is something to tell of it; or nothing runs any more.
    fn span_is_over(&self, settling: &Settling, hosts: &Hosts) -> bool {
        let has_more = self.groups.iter().any(|group| !group.waits && group.has_more());
        if !has_more && self.transfers.open().next().is_none() {
            return true;
        }
        let mut met = self.transfers.open().map(|(id, transfer)| settling.has_met(id, transfer));
        met.all(|met| met) && settling.has_evidence(&self.delivered(hosts).collect::<Vec<_>>())
    }

    /// What has arrived of each group that does not wait, in bytes.
    fn delivered(&self, hosts: &Hosts) -> impl Iterator<Item = u64> {
        let groups = self.groups.iter().enumerate().filter(|(_, group)| !group.waits);
        groups.map(|(group, _)| hosts.delivered(GroupId::new(group)))
    }

    /// Finite traffic begins: what runs before is looked at no longer, unless other traffic waits for it.
    pub(super) fn see_whether_settled(&mut self, now: Time) {
        if !self.waits()
            && let Some(settling) = self.settling.take()
        {
            self.settled.rising = self.rising(&settling, now);
        }
    }

    /// Endless flows that have begun and not met a limit.
    fn rising(&self, settling: &Settling, now: Time) -> Option<usize> {
        let long = |transfer: &Transfer| transfer.bytes.is_none() && transfer.start <= now && transfer.is_under_way();
        let long: Vec<TransferId> = self.transfers.open().filter(|(_, t)| long(t)).map(|(id, _)| id).collect();
        let rises = |id: &&TransferId| !settling.flows.get(*id).is_some_and(|seen| seen.ever);
        (!long.is_empty()).then(|| long.iter().filter(rises).count())
    }

    /// The traffic that has waited begins. Its clock begins with it.
    pub fn release<C: EventCore>(&mut self, net: &mut Network<C>) {
        for group in 0..self.groups.len() {
            if std::mem::take(&mut self.groups[group].waits) {
                self.groups[group].origin = net.now();
                self.ask_traffic(group, net, |traffic, cx| traffic.on_start(cx));
            }
        }
        self.see_whether_finished();
    }
}

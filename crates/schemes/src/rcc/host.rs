//! The receiving host: window, marks, timer and acknowledgement of each of its flows.

use super::ack_list::AckList;
use super::assignment::{Share, assign};
use super::flight::{Flight, Grant};
use super::flow::Flow;
use super::rules::{MarkAction, Rules};
use super::timers::{ALARM, ASK, PERIOD, TIMERS, call};
use super::window::Accepted;
use crate::NodeFacts;
use fanin_core::ids::FlowId;
use fanin_core::roles::{AckDecision, AckKind, Announcement, Arrival, ReceiverAction, ReceiverCx, WindowControl};
use fanin_core::units::Time;
use std::collections::BTreeMap;

/// The scheduler of a receiving host.
pub(crate) struct Host {
    pub(super) rules: Rules,
    pub(super) facts: NodeFacts,
    pub(super) flows: Vec<Flow>,
    pub(super) free: Vec<u32>,
    pub(super) slots: BTreeMap<FlowId, u32>,
    /// The last lookup. An acknowledgement usually belongs to the flow whose segment was processed just before.
    found: Option<(FlowId, u32)>,
    /// Flows with an incomplete transfer, in the order of acceptance.
    pub(super) active: Vec<u32>,
    /// The set of active flows has changed since windows were last assigned.
    pub(super) unassigned: bool,
    pub(super) shares: Vec<Share>,
    pub(super) list: AckList,
    pub(super) flight: Flight,
}

impl Host {
    /// A host without flows.
    pub(crate) fn new(rules: Rules, facts: &NodeFacts) -> Self {
        Self {
            rules,
            facts: *facts,
            flows: Vec::new(),
            free: Vec::new(),
            slots: BTreeMap::new(),
            found: None,
            active: Vec::new(),
            unassigned: false,
            shares: Vec::new(),
            list: AckList::default(),
            flight: Flight::new(facts.mss, rules.exact_flight),
        }
    }
    /// Segments that were granted to the host's flows and have not arrived.
    pub(crate) fn in_flight(&self) -> u64 {
        self.flight.segments()
    }
    /// Number of waiting acknowledgements.
    pub(crate) fn waiting(&self) -> usize {
        self.list.len()
    }

    /// The index of a flow in `flows`, if the host knows it.
    fn slot(&mut self, id: FlowId) -> Option<u32> {
        if let Some((last, slot)) = self.found
            && last == id
        {
            return Some(slot);
        }
        let slot = self.slots.get(&id).copied()?;
        self.found = Some((id, slot));
        Some(slot)
    }

    fn add(&mut self, flow: Flow) -> u32 {
        let id = flow.id;
        let slot = if let Some(slot) = self.free.pop() {
            self.flows[slot as usize] = flow;
            slot
        } else {
            self.flows.push(flow);
            self.flows.len() as u32 - 1
        };
        self.slots.insert(id, slot);
        slot
    }

    /// A transfer is complete: its share goes to other flows. `gone` if its connection is closed too.
    fn close(&mut self, cx: &mut ReceiverCx<'_>, slot: u32, gone: bool) {
        let flow = &mut self.flows[slot as usize];
        if flow.active {
            flow.active = false;
            self.active.retain(|active| *active != slot);
            self.unassigned = true;
        }
        self.unlist(slot);
        let flow = &mut self.flows[slot as usize];
        flow.alarm.stop();
        flow.ask_at = Time::NEVER;
        // The next transfer on an open connection begins with one segment, as on a new one.
        flow.grant = Grant::new(flow.next);
        flow.window.cap(self.facts.mss);
        if gone {
            self.found = None;
            self.slots.remove(&flow.id);
            self.free.push(slot);
        } else {
            self.set_window(cx, slot);
        }
    }

    /// RCC assigns windows when a SYN is accepted and when a FIN arrives in order. A window matters only when the next
    /// segment arrives, so a burst of SYNs needs one assignment only.
    fn assign(&mut self) {
        self.unassigned = false;
        self.shares.clear();
        let remaining = self.active.iter().map(|slot| self.flows[*slot as usize].remaining);
        self.shares.extend(remaining.map(|remaining| Share { remaining, window: 0 }));
        let Rules { queue_max, weights, equal_only, .. } = self.rules;
        assign(&mut self.shares, queue_max, self.facts.mss, weights, equal_only);
        for (slot, share) in self.active.iter().zip(&self.shares) {
            self.flows[*slot as usize].share = share.window;
        }
    }

    /// Advertises a changed window with the next acknowledgement.
    pub(super) fn set_window(&mut self, cx: &mut ReceiverCx<'_>, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        if flow.window.bytes() != flow.advertised {
            flow.advertised = flow.window.bytes();
            cx.actions.push(ReceiverAction::Window { flow: flow.id, bytes: flow.advertised });
        }
    }

    /// Removes the flow's waiting acknowledgement. Returns how often it was overtaken.
    pub(super) fn unlist(&mut self, slot: u32) -> u32 {
        if !std::mem::take(&mut self.flows[slot as usize].listed) {
            return 0;
        }
        self.list.remove(slot).unwrap_or(0)
    }
}

impl WindowControl for Host {
    fn on_open(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId, announced: &Announcement) {
        let slot = match self.slot(id) {
            Some(slot) => slot,
            None => self.add(Flow::new(id, &self.rules, self.facts.mss, cx.now)),
        };
        let cap = self.rules.cap(announced.deadline.is_some(), &self.facts);
        let flow = &mut self.flows[slot as usize];
        let asked = std::mem::take(&mut flow.asked);
        if flow.active && !flow.heard && !asked {
            flow.repeats = true; // A repeated SYN.
            return;
        }
        let before = flow.remaining.filter(|_| flow.active).unwrap_or(0);
        flow.remaining = announced.bytes.map(|bytes| before + bytes);
        flow.cap = cap;
        (flow.heard, flow.repeats) = (false, false);
        if !std::mem::replace(&mut flow.active, true) {
            self.active.push(slot);
        }
        self.unassigned = true;
        self.set_window(cx, slot);
    }

    fn on_request(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId) -> AckDecision {
        if !self.rules.scheduler || !self.rules.requests_wait {
            return AckDecision::Send;
        }
        let slot = match self.slot(id) {
            Some(slot) => slot,
            None => self.add(Flow::new(id, &self.rules, self.facts.mss, cx.now)),
        };
        let cap = self.rules.cap(false, &self.facts);
        let flow = &mut self.flows[slot as usize];
        if flow.active {
            return AckDecision::Send; // A repeated request, or more data of it.
        }
        // READING: E24 the size of the response is unknown, so it has the lowest priority, first come, first served.
        (flow.remaining, flow.cap) = (None, cap);
        (flow.active, flow.asked, flow.heard, flow.repeats) = (true, true, false, false);
        self.active.push(slot);
        self.unassigned = true;
        if self.signal(cx, slot, false) { AckDecision::Send } else { AckDecision::Hold }
    }

    fn on_data(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId, arrival: &Arrival) {
        let Some(slot) = self.slot(id) else { return };
        if self.unassigned {
            self.assign();
        }
        let Rules { marks, scheduler, .. } = self.rules;
        let flow = &mut self.flows[slot as usize];
        flow.alarm.stop();
        if flow.rtt.on_segment(arrival.seq, cx.now) {
            flow.patience.reset();
        }
        let marked = marks.on && arrival.ce && (marks.on_fin || !arrival.fin);
        if marks.on
            && let Some(end) = flow.marks.on_segment(marked, flow.rtt.mean(), cx.now)
        {
            call(cx, slot, PERIOD, end);
        }
        (flow.heard, flow.repeats) = (true, arrival.delivery.duplicate);
        if arrival.delivery.duplicate {
            return;
        }
        flow.next = arrival.next;
        flow.remaining = flow.remaining.map(|bytes| bytes.saturating_sub(arrival.delivery.new_data));
        let last = arrival.delivery.finished || flow.remaining == Some(0);
        self.flight.on_arrived(&mut flow.grant, arrival.seq, arrival.payload, last);
        let marked = marked && marks.action == MarkAction::Code;
        flow.window.on_accepted(&Accepted { delivery: arrival.delivery, marked });
        if scheduler {
            flow.window.cap(flow.share * self.facts.mss);
        }
        self.set_window(cx, slot);
        if last {
            self.close(cx, slot, arrival.delivery.finished);
        }
    }

    fn on_ack(&mut self, cx: &mut ReceiverCx<'_>, id: FlowId, _kind: AckKind) -> AckDecision {
        let slot = self.slot(id).filter(|slot| self.flows[*slot as usize].active);
        let Some(slot) = slot else {
            // The transfer is complete, so this acknowledgement grants nothing. Others may be released.
            self.release(cx);
            return AckDecision::Send;
        };
        if self.signal(cx, slot, false) { AckDecision::Send } else { AckDecision::Hold }
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_>, token: u64) {
        let slot = (token / TIMERS) as u32;
        match token % TIMERS {
            ALARM => self.on_alarm(cx, slot),
            PERIOD => self.on_period(cx, slot),
            ASK if self.flows[slot as usize].ask_at == cx.now => self.ask(cx, slot),
            _ => {}
        }
    }

    fn knows(&self, id: FlowId) -> bool {
        self.slots.contains_key(&id)
    }

    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("acks-waiting", self.waiting() as f64);
        show("granted-segments", self.in_flight() as f64);
        show("granted-bytes", (self.in_flight() * self.facts.mss) as f64);
    }

    fn flow_probes(&self, id: FlowId, show: &mut dyn FnMut(&'static str, f64)) {
        let flow = self.slots.get(&id).map(|slot| &self.flows[*slot as usize]);
        let assigned = flow.filter(|_| self.rules.scheduler).map_or(0, |flow| flow.share * self.facts.mss);
        show("assigned-window", assigned as f64);
        show("receiver-window", flow.map_or(0, |flow| flow.window.bytes()) as f64);
        show("marked-share", flow.map_or(0.0, |flow| flow.marks.alpha()));
    }
}

//! Switch agents and the controller: what passes a switch, and the channel between the two.
//!
//! A message takes the channel's delay, plus jitter, unless it is lost; at the controller it waits for a FIFO server
//! with a fixed service time. Orders travel back in the same way and act when they arrive. Each switch has a connection
//! to the controller: messages of one direction never overtake each other.

use crate::event::EventCore;
use crate::event::order::{Class, MAX_INDEX};
use crate::ids::{LinkId, NodeId};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::roles::{
    Backlog, Controller, ControllerAction, ControllerCx, DropReason, Pass, Passage, SwitchAction, SwitchAgent, SwitchCx,
};
use crate::sim::world::World;
use crate::units::Time;
use std::collections::BTreeMap;

/// Where a message is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leg {
    /// From a switch, about to reach the controller's queue.
    Up,
    /// In the controller's queue, about to be served.
    Served,
    /// From the controller, about to reach a switch.
    Down,
}

/// A message on the control channel.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    leg: Leg,
    switch: NodeId,
    bytes: Vec<u8>,
}

/// Messages on their way, by running number: those of one instant arrive in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    items: BTreeMap<usize, Message>,
    next: usize,
}

impl Mail {
    fn put(&mut self, message: Message) -> usize {
        let number = self.next;
        self.next = (number + 1) % MAX_INDEX;
        self.items.insert(number, message);
        number
    }
}

/// The channel between switches and controller.
#[derive(Debug)]
pub(crate) struct ControlChannel {
    pub(crate) delay: Time,
    pub(crate) jitter: Time,
    pub(crate) loss: f64,
    pub(crate) service: Time,
    pub(crate) stream: Stream,
    /// When the controller's server is free again.
    pub(crate) free_at: Time,
    /// By node, when the last message to the controller and from it arrives.
    pub(crate) last: Vec<[Time; 2]>,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) lost: u64,
}

impl ControlChannel {
    /// When a message sent at `now` arrives, or never. Every message draws the same numbers, so that changing one
    /// parameter leaves the other draws as they were.
    fn arrival(&mut self, switch: NodeId, leg: Leg, now: Time, bytes: usize) -> Option<Time> {
        self.messages += 1;
        self.bytes += bytes as u64;
        let (lost, jitter) = (self.stream.unit() < self.loss, self.stream.unit());
        if lost {
            self.lost += 1;
            return None;
        }
        let at = now + self.delay + Time::from_ps((jitter * self.jitter.ps() as f64) as u64);
        let last = &mut self.last[switch.index()][usize::from(leg == Leg::Down)];
        *last = at.max(*last);
        Some(*last)
    }
}

impl World {
    /// A packet is about to leave a switch on link `to`.
    pub(crate) fn through_switch<C: EventCore>(
        &mut self,
        from: LinkId,
        to: LinkId,
        mut packet: Packet,
        now: Time,
        core: &mut C,
    ) {
        let switch = self.topology.links[to.index()].from;
        let Some(agent) = self.switches[switch.index()].as_mut() else { return core.send(to, &packet, now) };
        let rate = self.rates[to.index()];
        let backlog = if agent.needs_backlog() { core.backlog(to, now) } else { Backlog::default() };
        let passage = Passage { from, to, backlog, buffer: self.buffers[to.index()], rate };
        let mut cx = SwitchCx {
            now,
            switch,
            node: core.node(switch, now),
            book: &self.flows,
            actions: &mut self.switch_actions,
        };
        let arrived = packet;
        let pass = agent.on_packet(&mut cx, &mut packet, &passage);
        self.rewritten += u64::from(packet != arrived);
        if self.probes.of_switches() {
            self.probes.record_switch(switch, now, &**agent);
        }
        match pass {
            Pass::Forward => core.send(to, &packet, now),
            Pass::Drop => core.books().on_drop(to, &packet, DropReason::Agent, now),
            Pass::Keep => core.books().on_keep(switch, &packet),
        }
        self.run_switch_actions(switch, now, core);
    }

    fn ask_switch<C: EventCore>(
        &mut self,
        switch: NodeId,
        now: Time,
        core: &mut C,
        ask: impl FnOnce(&mut dyn SwitchAgent, &mut SwitchCx<'_>),
    ) {
        let Some(agent) = self.switches[switch.index()].as_mut() else { return };
        let mut cx = SwitchCx {
            now,
            switch,
            node: core.node(switch, now),
            book: &self.flows,
            actions: &mut self.switch_actions,
        };
        ask(&mut **agent, &mut cx);
        if self.probes.of_switches() {
            self.probes.record_switch(switch, now, &**agent);
        }
        self.run_switch_actions(switch, now, core);
    }

    fn run_switch_actions<C: EventCore>(&mut self, switch: NodeId, now: Time, core: &mut C) {
        if self.switch_actions.is_empty() {
            return;
        }
        let mut actions = std::mem::take(&mut self.switch_actions);
        for action in actions.drain(..) {
            match action {
                SwitchAction::Report(bytes) => self.post(Leg::Up, switch, bytes, now, core),
                SwitchAction::Inject { packet, to } => {
                    let (backlog, rate) = (core.backlog(to, now), self.rates[to.index()]);
                    self.ask_switch(switch, now, core, |agent, cx| agent.on_inject(cx, &packet, to, backlog, rate));
                    core.books().on_let_go(switch, &packet);
                    core.send(to, &packet, now);
                }
                SwitchAction::Discard { packet, to } => {
                    core.books().on_let_go(switch, &packet);
                    core.books().on_drop(to, &packet, DropReason::Agent, now);
                }
                SwitchAction::Timer { at, token } => {
                    let slot = self.tokens.put((switch, token));
                    core.schedule(at.max(now), Class::Switch, slot);
                }
            }
        }
        self.switch_actions = actions;
    }

    fn post<C: EventCore>(&mut self, leg: Leg, switch: NodeId, bytes: Vec<u8>, now: Time, core: &mut C) {
        if let Some(capture) = &mut self.capture {
            capture.record_message(switch, leg == Leg::Up, &bytes, now);
        }
        if let Some(at) = self.channel.arrival(switch, leg, now, bytes.len()) {
            let slot = self.mail.put(Message { leg, switch, bytes });
            core.schedule(at, Class::Message, slot);
        }
    }

    pub(crate) fn on_message<C: EventCore>(&mut self, slot: usize, now: Time, core: &mut C) {
        let Some(message) = self.mail.items.remove(&slot) else { return };
        let Message { leg, switch, bytes } = message;
        if leg != Leg::Down && self.faults.controller_is_out() {
            self.channel.lost += 1;
            return;
        }
        match leg {
            Leg::Up => {
                let served = self.channel.free_at.max(now) + self.channel.service;
                self.channel.free_at = served;
                let slot = self.mail.put(Message { leg: Leg::Served, switch, bytes });
                core.schedule(served, Class::Message, slot);
            }
            Leg::Served => self.ask_controller(now, core, |controller, cx| controller.on_message(cx, switch, &bytes)),
            Leg::Down => self.ask_switch(switch, now, core, |agent, cx| agent.on_message(cx, &bytes)),
        }
    }

    pub(crate) fn on_switch_timer<C: EventCore>(&mut self, slot: usize, now: Time, core: &mut C) {
        if let Some((switch, token)) = self.tokens.take(slot) {
            self.ask_switch(switch, now, core, |agent, cx| agent.on_timer(cx, token));
        }
    }

    /// Switches begin before the controller, in the order of their nodes.
    pub(crate) fn start_switches<C: EventCore>(&mut self, core: &mut C) {
        for node in 0..self.switches.len() {
            if self.switches[node].is_some() {
                let ports = self.topology.ports(NodeId::new(node));
                self.ask_switch(NodeId::new(node), Time::ZERO, core, |agent, cx| agent.on_start(cx, &ports));
            }
        }
    }

    pub(crate) fn start_controller<C: EventCore>(&mut self, core: &mut C) {
        self.ask_controller(Time::ZERO, core, |controller, cx| controller.on_start(cx));
    }

    pub(crate) fn on_controller_timer<C: EventCore>(&mut self, slot: usize, now: Time, core: &mut C) {
        if self.defer_controller_timer(slot) {
            return;
        }
        if let Some((_, token)) = self.tokens.take(slot) {
            self.ask_controller(now, core, |controller, cx| controller.on_timer(cx, token));
        }
    }

    fn ask_controller<C: EventCore>(
        &mut self,
        now: Time,
        core: &mut C,
        ask: impl FnOnce(&mut dyn Controller, &mut ControllerCx<'_>),
    ) {
        let Some(controller) = self.controller.as_mut() else { return };
        let mut actions = Vec::new();
        ask(&mut **controller, &mut ControllerCx { now, actions: &mut actions });
        for action in actions {
            match action {
                ControllerAction::Order { to, message } => self.post(Leg::Down, to, message, now, core),
                ControllerAction::Timer { at, token } => {
                    let slot = self.tokens.put((NodeId::default(), token));
                    core.schedule(at.max(now), Class::Controller, slot);
                }
            }
        }
    }
}

//! The controller, and the channel between it and the switches.
//!
//! A message arrives after the channel's delay plus jitter, unless it is lost. The controller serves messages in FIFO
//! order with a fixed service time. Orders travel back in the same way and take effect on arrival. Each switch has its
//! own connection to the controller, on which messages of one direction never overtake each other.

use crate::network::Network;
use fanin_core::ids::NodeId;
use fanin_core::rng::Stream;
use fanin_core::roles::{Controller, ControllerAction, ControllerCx};
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::order::{Class, MAX_INDEX};
use fanin_param::Values;
use fanin_port::slots::Slots;
use std::collections::BTreeMap;

/// The leg of a message's path that it is on.
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
struct Message {
    leg: Leg,
    switch: NodeId,
    bytes: Vec<u8>,
}

/// Messages in transit, by running number: those due at the same instant arrive in the order in which they were sent.
#[derive(Debug, Default)]
struct Mail {
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
pub struct ControlChannel {
    delay: Time,
    jitter: Time,
    loss: f64,
    service: Time,
    stream: Stream,
    /// When the controller's server is free again.
    free_at: Time,
    /// By node, when the last message to and from the controller arrives.
    last: Vec<[Time; 2]>,
    /// Messages that were sent.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those of them that were lost.
    pub lost: u64,
}

impl ControlChannel {
    /// The channel described by the scenario's `[control]`, for a network with this number of nodes.
    pub fn new(control: &Values, nodes: usize, seed: u64) -> Self {
        Self {
            delay: control.time("delay"),
            jitter: control.time("jitter"),
            loss: control.number("loss"),
            service: control.time("service-time"),
            stream: Stream::named(seed, "control-channel"),
            free_at: Time::ZERO,
            last: vec![[Time::ZERO; 2]; nodes],
            messages: 0,
            bytes: 0,
            lost: 0,
        }
    }

    /// When a message sent at `now` arrives; `None` if it is lost. Every message takes the same number of draws, so
    /// that a change of one parameter leaves the other draws as they were.
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

/// The controller of the network, if it has one, with its channel and all timers of the control plane.
pub struct Control {
    controller: Option<Box<dyn Controller>>,
    /// The channel between it and the switches.
    pub channel: ControlChannel,
    mail: Mail,
    /// Timers of switches and of the controller: node and token.
    timers: Slots<(NodeId, u64)>,
}

impl Control {
    /// A control plane; without a controller it carries nothing.
    pub fn new(controller: Option<Box<dyn Controller>>, channel: ControlChannel) -> Self {
        Self { controller, channel, mail: Mail::default(), timers: Slots::default() }
    }

    pub(crate) fn start<C: EventCore>(&mut self, net: &mut Network<C>) {
        self.ask(net, |controller, cx| controller.on_start(cx));
    }

    /// A switch reports to the controller.
    pub(crate) fn report<C: EventCore>(&mut self, switch: NodeId, message: Vec<u8>, net: &mut Network<C>) {
        self.post(Leg::Up, switch, message, net);
    }

    /// A switch sets a timer.
    pub(crate) fn wake_switch<C: EventCore>(&mut self, switch: NodeId, at: Time, token: u64, net: &mut Network<C>) {
        let slot = self.timers.put((switch, token));
        net.core.schedule(at.max(net.now()), Class::Switch, slot);
    }

    /// The switch that set this timer, and its token.
    pub(crate) fn take_timer(&mut self, slot: usize) -> Option<(NodeId, u64)> {
        self.timers.take(slot)
    }

    /// A timer of the controller expires, now or once it is online again.
    pub fn on_timer<C: EventCore>(&mut self, slot: usize, net: &mut Network<C>) {
        if net.faults.defer_controller_timer(slot) {
            return;
        }
        if let Some((_, token)) = self.timers.take(slot) {
            self.ask(net, |controller, cx| controller.on_timer(cx, token));
        }
    }

    /// A message has reached the end of a leg. Returns the order and its switch if it has arrived there.
    pub(crate) fn on_message<C: EventCore>(
        &mut self,
        number: usize,
        net: &mut Network<C>,
    ) -> Option<(NodeId, Vec<u8>)> {
        let Message { leg, switch, bytes } = self.mail.items.remove(&number)?;
        if leg != Leg::Down && net.faults.controller_is_out() {
            self.channel.lost += 1;
            return None;
        }
        match leg {
            Leg::Up => {
                let served = self.channel.free_at.max(net.now()) + self.channel.service;
                self.channel.free_at = served;
                let number = self.mail.put(Message { leg: Leg::Served, switch, bytes });
                net.core.schedule(served, Class::Message, number);
            }
            Leg::Served => self.ask(net, |controller, cx| controller.on_message(cx, switch, &bytes)),
            Leg::Down => return Some((switch, bytes)),
        }
        None
    }

    fn post<C: EventCore>(&mut self, leg: Leg, switch: NodeId, bytes: Vec<u8>, net: &mut Network<C>) {
        let now = net.now();
        if let Some(capture) = &mut net.capture {
            capture.record_message(switch, leg == Leg::Up, &bytes, now);
        }
        if let Some(at) = self.channel.arrival(switch, leg, now, bytes.len()) {
            let number = self.mail.put(Message { leg, switch, bytes });
            net.core.schedule(at, Class::Message, number);
        }
    }

    fn ask<C: EventCore>(
        &mut self,
        net: &mut Network<C>,
        ask: impl FnOnce(&mut dyn Controller, &mut ControllerCx<'_>),
    ) {
        let Some(controller) = self.controller.as_mut() else { return };
        let (now, mut actions) = (net.now(), Vec::new());
        ask(&mut **controller, &mut ControllerCx { now, actions: &mut actions });
        for action in actions {
            match action {
                ControllerAction::Order { to, message } => self.post(Leg::Down, to, message, net),
                ControllerAction::Timer { at, token } => {
                    let slot = self.timers.put((NodeId::default(), token));
                    net.core.schedule(at.max(now), Class::Controller, slot);
                }
            }
        }
    }
}

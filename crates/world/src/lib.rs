//! The simulated world, and its event loop in the order of time.
#![allow(clippy::missing_errors_doc, reason = "a room of the engine, not for others")]

pub mod laws;
mod windows;

use fanin_core::ids::{FlowId, LinkId, NodeId, TransferId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::Backlog;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::order::{Class, Event, MiscKey};
use fanin_host::hosts::Hosts;
use fanin_host::interfaces::Handed;
use fanin_net::looks::Looks;
use fanin_net::network::Network;
use fanin_net::switch::Switches;
use fanin_work::error::RunError;
use fanin_work::plan::Plan;

/// Everything that is simulated.
///
/// Each event calls a method of one part, which takes the parts that it acts on as arguments: switches and hosts act on
/// the network, and work acts on hosts.
pub struct World<C> {
    /// The seed of all random streams.
    pub seed: u64,
    /// How long it lasts, from when traffic that waits has begun.
    pub duration: Time,
    /// When it ends, at the latest.
    pub end: Time,
    /// Links and what crosses them.
    pub net: Network<C>,
    /// The agents in switches, and the controller.
    pub switches: Switches,
    /// Flows and their ends.
    pub hosts: Hosts,
    /// What is to be sent.
    pub work: Plan,
    /// What is told of the queues.
    pub watch: Watch,
    /// What ports held at each look.
    pub looks: Looks,
    /// Windows of one node at a time, if they are used.
    pub windows: Windows,
    /// Packets that have crossed a link.
    pub hops: u64,
    /// Events that have happened.
    pub events: u64,
}

/// What is told of the queues.
#[derive(Debug, Default)]
pub struct Watch {
    /// Sampling interval; zero for no samples.
    pub every: Time,
    /// Backlogs of observed ports.
    pub samples: Vec<(Time, LinkId, Backlog)>,
    /// Whether the table of queues has the ports of all switches, or only the observed one.
    pub of_switches: bool,
    /// By link, the bytes that another system has sent on it, if that carries the transfers.
    pub carried: Option<Vec<u64>>,
    /// Counters of the hosts' own TCP, by name, if they have any.
    pub counters: Option<Vec<(String, u64)>>,
}

/// When and how windows are used.
#[derive(Debug, Default)]
pub struct Windows {
    /// Length of a window: the least delay of a link. None if results depend on the order of nodes.
    pub(crate) span: Option<Time>,
    /// By node, the links that lead to it; then all links.
    pub(crate) inbound: Vec<Vec<LinkId>>,
    pub(crate) all: Vec<LinkId>,
    /// The number of packet-hops at which windows are tried.
    pub(crate) next: u64,
    /// Packets on all links when they were last counted, less those that hosts had sent by then.
    pub(crate) inside: u64,
    /// A transfer with data that had not been sent when it was last looked at.
    pub(crate) witness: TransferId,
    /// Rare events of the window, and their nodes.
    pub(crate) rare: Vec<(NodeId, Time, MiscKey)>,
    /// Windows so far.
    pub count: u64,
    /// For tests: windows are tried after so many events, however few links there are.
    pub first_look: Option<u32>,
}

/// Called at intervals with the share of simulated time that has passed; returns whether to continue.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> bool;

/// Events of any kind from one call to the next, some milliseconds: timers alone can be seconds apart while long flows send.
pub(crate) const EVENTS_PER_LOOK: u32 = 1 << 14;

impl<C: EventCore> World<C> {
    /// Runs until all finite transfers are complete or the duration has passed.
    pub fn run(&mut self, mut progress: Option<Progress<'_>>) -> Result<(), RunError> {
        self.start();
        let mut last = self.net.now();
        let mut until_look = self.windows.first_look.unwrap_or(EVENTS_PER_LOOK);
        while !self.work.over {
            let Some(event) = self.net.core.next() else { break };
            last = self.happen(event, last)?;
            until_look -= 1;
            if until_look == 0 {
                until_look = self.windows.first_look.unwrap_or(EVENTS_PER_LOOK);
                self.look(last, &mut progress)?;
                last = self.run_windows(&mut progress)?.unwrap_or(last);
            }
        }
        self.finish()
    }

    /// Runs until `until`, after [`Self::start`]: all events up to then have happened, and the clock shows it. The same as
    /// [`Self::run`] in pieces, in the order of time.
    pub fn run_until(&mut self, until: Time, mut progress: Option<Progress<'_>>) -> Result<(), RunError> {
        let mut last = self.net.now();
        let mut until_look = EVENTS_PER_LOOK;
        while !self.work.over && self.net.core.is_due(until) {
            let Some(event) = self.net.core.next() else { break };
            last = self.happen(event, last)?;
            until_look -= 1;
            if until_look == 0 {
                until_look = EVENTS_PER_LOOK;
                self.look(last, &mut progress)?;
            }
        }
        Ok(())
    }

    /// Brings all counts to the end, after the last event.
    pub fn finish(&mut self) -> Result<(), RunError> {
        if let Some(failure) = self.work.failure.take() {
            return Err(failure);
        }
        self.events += self.hops;
        self.events -= self.hosts.stale_timers;
        self.net.core.settle();
        Ok(())
    }

    /// Does what the next event says, unless it is before the `last` one. Returns its time.
    #[inline(always)]
    fn happen(&mut self, event: Event, last: Time) -> Result<Time, RunError> {
        let now = self.net.now();
        if now < last {
            return Err(self.out_of_order(last, now));
        }
        match event {
            Event::Arrival(link) => self.on_arrival(link),
            Event::Misc { class, index } => {
                self.events += 1;
                self.on_misc(class, index as usize);
            }
        }
        Ok(now)
    }

    /// A fault of the scenario begins or ends now, whatever was planned.
    pub fn switch_fault(&mut self, fault: usize, on: bool) {
        self.on_misc(Class::Fault, 2 * fault + usize::from(!on));
    }

    /// Asks whether to continue, and whether what must never happen has happened.
    #[cold]
    #[inline(never)]
    pub(crate) fn look(&mut self, now: Time, progress: &mut Option<Progress<'_>>) -> Result<(), RunError> {
        self.check_breach()?;
        let go_on = progress.as_mut().is_none_or(|progress| progress(now.secs() / self.end.secs()));
        if go_on { Ok(()) } else { Err(RunError::Stopped { at: now }) }
    }

    #[cold]
    fn out_of_order(&self, last: Time, now: Time) -> RunError {
        let what = format!("an event of {now} comes after one of {last}");
        RunError::Broken { seed: self.seed, at: last, what }
    }

    /// Checks the invariants that are monitored during the run: no queue exceeds its buffer, and every window is above
    /// zero.
    pub(crate) fn check_breach(&mut self) -> Result<(), RunError> {
        match self.net.core.books().breach.clone() {
            None => Ok(()),
            Some(breach) => Err(RunError::Broken { seed: self.seed, at: breach.at, what: breach.what }),
        }
    }

    /// Everything before the first event.
    pub fn start(&mut self) {
        self.work.start(&mut self.net);
        if !self.work.waits() {
            self.begin();
        }
        if self.watch.every > Time::ZERO {
            self.net.core.schedule(self.watch.every, Class::Sample, 0);
        }
        self.switches.start(&mut self.net, &self.hosts.flows);
        self.work.see_whether_finished();
        self.plan_windows();
    }

    /// The times of the scenario count from now: all traffic that waited begins.
    fn begin(&mut self) {
        let now = self.net.now();
        self.end = now + self.duration;
        self.net.core.schedule(self.end, Class::Stop, 0);
        self.net.plan_faults(now, self.duration);
        if self.work.window.warmup > Time::ZERO {
            self.net.core.schedule(now + self.work.window.warmup, Class::WarmupEnd, 0);
        }
    }

    fn on_look(&mut self) {
        // How often flows are looked at is no part of what happens.
        self.events -= 1;
        if self.work.on_look(&self.hosts, &mut self.net) {
            self.begin();
            self.work.release(&mut self.net);
        }
    }

    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, link: LinkId) {
        let mut packet = self.net.core.take(link);
        if self.net.watched && !self.net.arrives(link, &mut packet, &self.hosts.flows) {
            return;
        }
        self.pass_on(link, packet);
    }

    /// A packet has arrived at the far end of a link.
    #[inline(always)]
    fn pass_on(&mut self, link: LinkId, mut packet: Packet) {
        self.hops += 1;
        if self.hops == self.looks.next {
            self.looks.look(self.hops, &mut self.net);
        }
        if let Some(next) = packet.onward.link() {
            packet.onward = self.net.paths.after(packet.onward);
            if self.switches.any {
                return self.switches.forward([link, next], packet, &mut self.net, &self.hosts.flows);
            }
            return self.net.core.send(next, &packet);
        }
        if self.hosts.interfaces.is_some() && self.hosts.waits_for_interrupt(&packet, &mut self.net) {
            return;
        }
        self.hand_over(&packet);
    }

    /// A packet has reached the end of its path, and TCP may see it.
    #[inline(always)]
    pub(crate) fn hand_over(&mut self, packet: &Packet) {
        if packet.flags.has(Flags::ACK) {
            self.hosts.on_ack(packet, &mut self.net);
        } else {
            self.on_segment(packet);
        }
    }

    /// A host's interface hands over what has arrived since the last time.
    #[inline(never)]
    fn on_interrupt(&mut self, node: NodeId) {
        for Handed { packet, parts } in self.hosts.on_interrupt(node, self.net.now(), self.net.header) {
            if parts.is_empty() {
                self.hand_over(&packet);
                continue;
            }
            self.hosts.book_parts(&parts, &mut self.net);
            self.accept(&packet, parts.len() as u32);
        }
    }

    /// A segment reached its receiver.
    #[inline(always)]
    fn on_segment(&mut self, packet: &Packet) {
        if self.hosts.resequences || packet.flags.has(Flags::SYN) {
            return self.on_unusual_segment(packet);
        }
        if self.hosts.accept(packet, true, 1, &mut self.net) {
            self.work.on_transfer_arrived(packet.flow, &mut self.hosts, &mut self.net);
        }
    }

    /// The first segment of a connection, or one that may have overtaken others.
    fn on_unusual_segment(&mut self, packet: &Packet) {
        if packet.flags.has(Flags::SYN) {
            self.hosts.on_syn(packet, &mut self.net);
        } else if self.hosts.is_in_turn(packet, &mut self.net) {
            self.accept(packet, 1);
            while let Some(packet) = self.hosts.next_in_turn(packet.flow) {
                self.accept(&packet, 1);
            }
        }
    }

    /// Some segments of a flow may have waited for the full time for a flowcell that they overtook.
    fn on_resequencing_timer(&mut self, flow: FlowId) {
        if self.hosts.is_overdue(flow, &self.net) {
            while let Some(packet) = self.hosts.next_overdue(flow, &self.net) {
                self.accept(&packet, 1);
            }
        }
        self.hosts.wait_on(flow, &mut self.net);
    }

    /// Passes a segment to TCP that has waited since its arrival, or is merged of several `parts`.
    fn accept(&mut self, packet: &Packet, parts: u32) {
        if self.hosts.accept(packet, false, parts, &mut self.net) {
            self.work.on_transfer_arrived(packet.flow, &mut self.hosts, &mut self.net);
        }
    }

    pub(crate) fn on_misc(&mut self, class: Class, index: usize) {
        let Self { net, switches, hosts, work, .. } = self;
        match class {
            Class::Fault => {
                let ports = net.on_fault(index);
                switches.on_ports(&ports, net, &hosts.flows);
            }
            Class::Pause => net.core.on_frame(LinkId::new(index)),
            Class::Departure => {
                // A core without such events has no part in what happens.
                self.events -= 1;
                self.net.core.on_departure(LinkId::new(index));
            }
            Class::Held => {
                let (link, packet) = net.release(index, &hosts.flows);
                self.pass_on(link, packet);
            }
            Class::Interrupt => self.on_interrupt(NodeId::new(index)),
            Class::TransferStart => work.start_transfer(TransferId::new(index), hosts, net),
            Class::TransferStop => work.stop_transfer(TransferId::new(index), hosts, net),
            Class::Traffic => work.on_wake(index, net),
            Class::Retransmission => {
                if hosts.on_retransmission_timer(FlowId::new(index), net) {
                    work.on_flow_failed(FlowId::new(index), hosts, net);
                }
            }
            Class::Pacing | Class::Wake => hosts.on_sender_timer(FlowId::new(index), class, net),
            Class::Resequencing => self.on_resequencing_timer(FlowId::new(index)),
            Class::DelayedAck => hosts.on_delayed_ack(FlowId::new(index), net),
            Class::Host => hosts.on_host_timer(index, net),
            Class::Switch => switches.on_timer(index, net, &hosts.flows),
            Class::Message => switches.on_message(index, net, &hosts.flows),
            Class::Controller => switches.control.on_timer(index, net),
            Class::Sample => {
                self.take_sample();
                self.net.core.schedule(self.net.now() + self.watch.every, Class::Sample, 0);
            }
            Class::Look => self.on_look(),
            Class::WarmupEnd => work.open_window(hosts, net),
            Class::Stop => work.over = true,
        }
    }

    fn take_sample(&mut self) {
        let now = self.net.now();
        let net = &mut self.net;
        for link in (0..net.topology.links.len()).map(LinkId::new) {
            if net.core.books().queues[link.index()].is_some() {
                self.watch.samples.push((now, link, net.core.backlog(link)));
            }
        }
    }
}

//! The simulated world: hosts, switches, traffic and measures around an event core, and the only loop.

use crate::event::EventCore;
use crate::event::order::{Class, Event};
use crate::event::slots::Slots;
use crate::flow_map::FlowMap;
use crate::host::flow::Flow;
use crate::host::flows::Over;
use crate::ids::{FlowId, LinkId, NodeId, TransferId};
use crate::measure::capture::Capture;
use crate::measure::delay::DelayStats;
use crate::measure::probes::Probes;
use crate::measure::tables::delivered;
use crate::net::faults::Faults;
use crate::net::paths::Paths;
use crate::net::switch::{ControlChannel, Mail};
use crate::packet::{Flags, Packet};
use crate::rng::Stream;
use crate::roles::{Backlog, Controller, PathSelector, ReceiverAction, SwitchAction, SwitchAgent, WindowControl};
use crate::schemes::Scheme;
use crate::tcp::receiver::{AckList, ReceiverConfig};
use crate::tcp::sender::SenderConfig;
use crate::topology::Topology;
use crate::units::{Rate, Time};
use crate::work::transfer::{Group, Query, Transfers};
use thiserror::Error;

/// Why a run has no result.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RunError {
    /// The caller asked to stop.
    #[error("stopped at {at} of simulated time")]
    Stopped {
        /// When.
        at: Time,
    },
    /// A law of the simulation was broken: a defect of the engine or of a scheme.
    #[error("seed {seed}, {at} of simulated time: {what}; this is a defect, please report it with the scenario")]
    Broken {
        /// The run's seed.
        seed: u64,
        /// When it was noticed.
        at: Time,
        /// Which law, with the numbers.
        what: String,
    },
    /// What the run reads has changed since the scenario was laid out.
    #[error("{at} of simulated time: {what}")]
    Input {
        /// When.
        at: Time,
        /// Which file and line, and what is wrong there.
        what: String,
    },
    /// The rows of finished transfers cannot be kept where the caller wants them.
    #[error("rows of the table of flows: {what}")]
    Spill {
        /// The operating system's number of the error, if it has one.
        code: Option<i32>,
        /// What it says.
        what: String,
    },
    /// Nothing can happen any more although a transfer is not complete.
    #[error("seed {seed}, {at} of simulated time: transfer {transfer} of group \"{group}\" is stuck: {why}")]
    Stuck {
        /// The run's seed.
        seed: u64,
        /// When the last event happened.
        at: Time,
        /// The transfer's row in the flow table.
        transfer: usize,
        /// Its traffic group.
        group: String,
        /// What its sender waits for.
        why: String,
    },
}

impl RunError {
    pub(crate) fn spill(error: &std::io::Error) -> Self {
        Self::Spill { code: error.raw_os_error(), what: error.to_string() }
    }
}

/// What the end points of one traffic group have in common.
pub(crate) struct Endpoint {
    pub(crate) sender: SenderConfig,
    pub(crate) receiver: ReceiverConfig,
    /// Receive buffer in bytes: the window that is advertised at most.
    pub(crate) buffer: u64,
    /// Window scale (RFC 7323 section 2.2).
    pub(crate) scale: u8,
    /// Scheme of the end points, by index.
    pub(crate) scheme: usize,
}

/// One host's roles.
pub(crate) struct Host {
    /// By scheme, the scheduler of the flows that end here; empty where no scheme has one.
    pub(crate) windows: Vec<Option<Box<dyn WindowControl>>>,
    pub(crate) selector: Box<dyn PathSelector>,
    /// First link of the host, the one into the network.
    pub(crate) uplink: LinkId,
    /// The switch at its end.
    pub(crate) edge: NodeId,
}

/// Everything around the event core.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) duration: Time,
    pub(crate) topology: Topology,
    /// The rate of each link as it is now.
    pub(crate) rates: Vec<Rate>,
    pub(crate) faults: Faults,
    /// Some link loses packets at random, or packets are captured.
    pub(crate) watched: bool,
    pub(crate) schemes: Vec<Box<dyn Scheme>>,
    /// Which of them the network has.
    pub(crate) network_scheme: usize,
    pub(crate) endpoints: Vec<Endpoint>,
    /// Bytes of headers in every packet, link layer included.
    pub(crate) header: u16,
    pub(crate) paths: Paths,
    pub(crate) hosts: Vec<Option<Host>>,
    pub(crate) switches: Vec<Option<Box<dyn SwitchAgent>>>,
    pub(crate) has_agents: bool,
    /// Bytes that each port may hold.
    pub(crate) buffers: Vec<u64>,
    /// Some host puts flowcells back in order.
    pub(crate) resequences: bool,
    /// Some receiving host has a scheduler.
    pub(crate) has_schedulers: bool,
    pub(crate) controller: Option<Box<dyn Controller>>,
    pub(crate) channel: ControlChannel,
    /// Packets that a switch agent changed.
    pub(crate) rewritten: u64,
    pub(crate) flows: FlowMap<Flow>,
    pub(crate) over_flows: Over,
    pub(crate) transfers: Transfers,
    pub(crate) queries: Vec<Query>,
    pub(crate) groups: Vec<Group>,
    /// Timers of receiving hosts: host, scheme and token.
    pub(crate) host_tokens: Slots<(NodeId, usize, u64)>,
    /// Switch and controller timers: whose, and the token.
    pub(crate) tokens: Slots<(NodeId, u64)>,
    pub(crate) mail: Mail,
    pub(crate) probes: Probes,
    pub(crate) capture: Option<Capture>,
    pub(crate) delays: Vec<DelayStats>,
    pub(crate) sample: Time,
    /// Sampled backlogs of observed ports.
    pub(crate) samples: Vec<(Time, LinkId, Backlog)>,
    pub(crate) warmup: Time,
    /// Finite transfers that are not complete.
    pub(crate) open: usize,
    /// The window of goodput and queue statistics.
    pub(crate) window_start: Option<Time>,
    /// The last completion of a finite transfer.
    pub(crate) last_completion: Option<Time>,
    /// Bytes of finite transfers that were delivered before it.
    pub(crate) finite_before: u64,
    pub(crate) now: Time,
    /// All finite transfers are complete.
    pub(crate) finished: bool,
    /// Why the run cannot go on.
    pub(crate) failure: Option<RunError>,
    /// That, or the duration is over.
    pub(crate) over: bool,
    pub(crate) hops: u64,
    pub(crate) events: u64,
    /// Timer events whose deadline had moved: how many there are is the event core's affair.
    pub(crate) stale_timers: u64,
    /// Scratch space: what one segment causes. Making it anew for each costs more than the segment itself.
    pub(crate) acks: AckList,
    pub(crate) receiver_actions: Vec<ReceiverAction>,
    pub(crate) switch_actions: Vec<SwitchAction>,
}

/// Asked every so many rare events whether to go on, with the share of simulated time that has passed.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> bool;

const PROGRESS_EVERY: u64 = 1 << 10;

impl World {
    /// Runs to the end: all finite transfers complete, or the duration over.
    pub(crate) fn run<C: EventCore>(
        &mut self,
        core: &mut C,
        mut progress: Option<Progress<'_>>,
    ) -> Result<(), RunError> {
        self.plan_faults(core);
        self.start(core);
        while !self.over {
            let Some((now, event)) = core.next() else { break };
            if now < self.now {
                return Err(self.broken(format!("an event of {now} comes after one of {}", self.now)));
            }
            self.now = now;
            match event {
                Event::Arrival(link) => self.on_arrival(link, now, core),
                Event::Misc { class, index } => {
                    self.events += 1;
                    self.on_misc(class, index as usize, now, core);
                    // Rare events are frequent enough to stop soon: every flow with data has its timer.
                    if self.events.is_multiple_of(PROGRESS_EVERY) {
                        self.check_breach(core)?;
                        if let Some(progress) = &mut progress
                            && !progress(now.secs() / self.duration.secs())
                        {
                            return Err(RunError::Stopped { at: now });
                        }
                    }
                }
            }
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.events += self.hops;
        self.events -= self.stale_timers;
        core.settle(self.now);
        self.check(core)
    }

    /// The run cannot go on; the first reason counts.
    pub(crate) fn fail(&mut self, why: RunError) {
        self.failure.get_or_insert(why);
        self.over = true;
    }

    fn start<C: EventCore>(&mut self, core: &mut C) {
        for group in 0..self.groups.len() {
            self.ask_traffic(group, Time::ZERO, core, |traffic, cx| traffic.on_start(cx));
        }
        if self.sample > Time::ZERO {
            core.schedule(self.sample, Class::Sample, 0);
        }
        if self.warmup > Time::ZERO {
            core.schedule(self.warmup, Class::WarmupEnd, 0);
        }
        core.schedule(self.duration, Class::Stop, 0);
        self.start_switches(core);
        self.start_controller(core);
        self.see_whether_finished();
    }

    /// The run is over when no finite transfer is open or to come, unless there are endless ones only.
    pub(crate) fn see_whether_finished(&mut self) {
        let more = self.groups.iter().any(|group| group.traffic.has_more() || group.wakes > 0);
        self.finished = self.transfers.any_finite && self.open == 0 && !more;
        self.over |= self.finished;
    }

    #[inline(always)]
    fn on_arrival<C: EventCore>(&mut self, link: LinkId, now: Time, core: &mut C) {
        let mut packet = core.take(link, now);
        if self.watched && self.is_lost_or_seen(link, &packet, now, core) {
            return;
        }
        self.hops += 1;
        let next = self.paths.next(packet.hop);
        if let Some(next) = next {
            packet.hop += 1;
            if self.has_agents {
                return self.through_switch(link, next, packet, now, core);
            }
            return core.send(next, &packet, now);
        }
        if packet.flags.has(Flags::ACK) {
            self.on_ack(&packet, now, core);
        } else {
            self.on_segment(&packet, now, core);
        }
    }

    /// Whether a link has lost a packet; if not, the capture sees it.
    #[cold]
    fn is_lost_or_seen<C: EventCore>(&mut self, link: LinkId, packet: &Packet, now: Time, core: &mut C) -> bool {
        if self.lost_on_link(link, packet, now, core) {
            return true;
        }
        if let Some(capture) = &mut self.capture {
            capture.record(link, packet, now, &self.flows, core);
        }
        false
    }

    fn on_misc<C: EventCore>(&mut self, class: Class, index: usize, now: Time, core: &mut C) {
        match class {
            Class::Fault => self.on_fault(index, now, core),
            Class::TransferStart => self.start_transfer(TransferId::new(index), now, core),
            Class::TransferStop => self.stop_transfer(TransferId::new(index), now, core),
            Class::Traffic => {
                self.groups[index].wakes -= 1;
                self.ask_traffic(index, now, core, |traffic, cx| traffic.on_wake(cx));
                self.see_whether_finished();
            }
            Class::Retransmission => self.on_retransmission_timer(FlowId::new(index), now, core),
            Class::Pacing | Class::Wake => self.on_sender_timer(FlowId::new(index), class, now, core),
            Class::Resequencing => self.on_resequencing_timer(FlowId::new(index), now, core),
            Class::DelayedAck => self.on_delayed_ack(FlowId::new(index), now, core),
            Class::Host => self.on_host_timer(index, now, core),
            Class::Switch => self.on_switch_timer(index, now, core),
            Class::Message => self.on_message(index, now, core),
            Class::Controller => self.on_controller_timer(index, now, core),
            Class::Sample => {
                self.take_sample(now, core);
                core.schedule(now + self.sample, Class::Sample, 0);
            }
            Class::WarmupEnd => self.open_window(now, core),
            Class::Stop => {
                self.over = true;
            }
        }
    }

    /// A timer of a sender that is none for retransmissions.
    fn on_sender_timer<C: EventCore>(&mut self, flow: FlowId, class: Class, now: Time, core: &mut C) {
        if self.flows.get(flow).is_some() {
            self.with_sender(flow, now, core, |sender, env| match class {
                Class::Pacing => sender.on_pace(env),
                _ => sender.on_wake(env),
            });
        }
    }

    fn take_sample<C: EventCore>(&mut self, now: Time, core: &mut C) {
        for i in 0..self.topology.links.len() {
            let link = LinkId::new(i);
            if core.books().queues[i].is_some() {
                self.samples.push((now, link, core.backlog(link, now)));
            }
        }
    }

    /// Statistics of queues and goodput begin now.
    pub(crate) fn open_window<C: EventCore>(&mut self, now: Time, core: &mut C) {
        core.settle(now);
        for monitor in core.books().queues.iter_mut().flatten() {
            monitor.stats.reset(now);
        }
        for group in &mut self.groups {
            group.delivered_before = group.delivered;
        }
        let mut transfers = std::mem::take(&mut self.transfers);
        transfers.open_mut().for_each(|(_, transfer)| transfer.delivered_before = delivered(self, transfer));
        self.transfers = transfers;
        self.finite_before = self.finite_delivered();
        self.window_start = Some(now);
    }
}

/// Draws from a component's own stream.
pub(crate) fn stream(seed: u64, component: &str) -> Stream {
    Stream::named(seed, component)
}

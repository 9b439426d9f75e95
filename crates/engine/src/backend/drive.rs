//! Drives a carrier: asks the traffic patterns for transfers, and enters what happens to them in the books of a world.

use super::{Act, Carrier, Fate, Happening, Line, Seen, State, What, Window};
use crate::outcome::totals;
use crate::sim::{Failure, Outcome, Progress, RunError, build};
use fanin_core::ids::{FlowId, GroupId, NodeId, TransferId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{Backlog, DropReason};
use fanin_core::units::Time;
use fanin_event::core::Core;
use fanin_event::order::{Class, Event};
use fanin_event::{EventCore, NodeByNode};
use fanin_measure::counters::Counters;
use fanin_measure::timeouts::TimeoutCause;
use fanin_network::traffic::{Connection, OpenConnection};
use fanin_scenario::Scenario;
use fanin_work::group::Group;
use fanin_work::transfer::{Carried, Transfer};
use fanin_world::World;
use std::collections::{BTreeMap, VecDeque};

/// How often the senders are looked at that are probed: a short round trip.
const LOOK_EVERY: Time = Time::from_us(20);

/// Runs a scenario on a carrier.
///
/// `progress` receives the share of the duration that has passed and returns whether to continue.
///
/// # Errors
///
/// The scenario has an error, the caller stopped the run, or the carrier cannot go on.
pub fn drive(
    scenario: &Scenario,
    carrier: &mut dyn Carrier,
    progress: Option<Progress<'_>>,
) -> Result<Outcome, Failure> {
    let world: World<Core> = build::build(scenario, build::Substitutes::default())?;
    let links = world.net.topology.links.len();
    let mut driver = Driver {
        world,
        carrier,
        lines: Vec::new(),
        flows: 0,
        open: BTreeMap::new(),
        under_way: BTreeMap::new(),
        by_port: BTreeMap::new(),
        queues: vec![VecDeque::new(); links],
        any_probed: false,
        look_at: Time::ZERO,
    };
    driver.run(progress)?;
    Ok(totals::collect(driver.world)?)
}

/// A connection, and what is counted of it.
struct Known {
    line: Line,
    /// Whether the client sends the data.
    data_by_client: bool,
    data: FlowId,
    request: FlowId,
    /// Whether the sender of the data is looked at.
    probed: bool,
    /// The first sequence numbers of the client and of the server.
    first: [u32; 2],
    /// The highest sequence number, from the first, that each has sent.
    highest: [u32; 2],
}

/// A transfer that has started.
struct UnderWay {
    line: usize,
    /// What the books said of its flows when it started.
    drops: u64,
    marks: u64,
    /// What was counted of its request.
    asked: State,
    /// What was counted of it when somebody last asked.
    delivered: u64,
}

struct Driver<'a> {
    world: World<Core>,
    carrier: &'a mut dyn Carrier,
    lines: Vec<Known>,
    /// Flows so far.
    flows: usize,
    /// Connections that stay open.
    open: BTreeMap<(GroupId, u32), usize>,
    under_way: BTreeMap<TransferId, UnderWay>,
    /// The latest connection of a client's port.
    by_port: BTreeMap<(NodeId, u16), usize>,
    /// By link, the sizes of the packets in its port.
    queues: Vec<VecDeque<u16>>,
    /// Whether a connection's sender is probed.
    any_probed: bool,
    /// When the probed senders are looked at again, if one of them has something to send.
    look_at: Time,
}

/// The carrier cannot go on.
fn halt(at: Time, what: String) -> Failure {
    Failure::Run(RunError::Carrier { at, what })
}

impl Driver<'_> {
    fn now(&self) -> Time {
        self.world.net.now()
    }

    fn run(&mut self, mut progress: Option<Progress<'_>>) -> Result<(), Failure> {
        let end = self.world.duration;
        self.world.end = end;
        self.world.work.start(&mut self.world.net);
        self.open_before()?;
        self.world.net.core.schedule(end, Class::Stop, 0);
        if self.world.work.window.warmup > Time::ZERO {
            let warmup = self.world.work.window.warmup;
            self.world.net.core.schedule(warmup, Class::WarmupEnd, 0);
        }
        self.world.work.see_whether_finished();
        while !self.world.work.over {
            let upcoming = self.upcoming();
            let look = self.next_look().filter(|at| *at < upcoming);
            let until = look.unwrap_or(upcoming);
            let happening = self.carrier.wait(until).map_err(|what| halt(self.now(), what))?;
            let now = happening.map_or(until, |happening| happening.at);
            self.book_packets(now)?;
            if let Some(happening) = happening {
                self.on_happening(happening)?;
            } else if look.is_some() {
                self.look_at_windows(now)?;
            } else {
                let Some(Event::Misc { class, index }) = self.world.net.core.next() else { break };
                self.on_time(class, index as usize)?;
            }
            let share = now.secs() / end.secs();
            if progress.as_mut().is_some_and(|progress| !progress(share)) {
                return Err(Failure::Run(RunError::Stopped { at: now }));
            }
        }
        self.finish()
    }

    fn upcoming(&mut self) -> Time {
        self.world.net.core.windows().and_then(|core| core.upcoming()).unwrap_or(self.world.end)
    }

    /// The probed senders that have something to send.
    fn probed(&self) -> impl Iterator<Item = &Known> {
        self.under_way.values().map(|transfer| &self.lines[transfer.line]).filter(|known| known.probed)
    }

    fn next_look(&self) -> Option<Time> {
        // Asked before each thing that happens, mostly in runs without probes.
        let looks = self.any_probed && self.probed().next().is_some();
        looks.then(|| self.look_at.max(self.now()))
    }

    fn look_at_windows(&mut self, now: Time) -> Result<(), Failure> {
        self.look_at = now + LOOK_EVERY;
        let looked: BTreeMap<FlowId, (usize, bool)> =
            self.probed().map(|known| (known.data, (known.line.number, known.data_by_client))).collect();
        let senders: Vec<(usize, bool)> = looked.values().copied().collect();
        let windows = self.carrier.windows(&senders).map_err(|what| halt(now, what))?;
        for (flow, window) in looked.into_keys().zip(windows).filter(|(_, window)| window.cwnd > 0) {
            let Window { cwnd, ssthresh, in_flight, srtt, rto, allowed } = window;
            let values = [
                ("cwnd", cwnd as f64),
                ("ssthresh", if ssthresh == u64::MAX { f64::INFINITY } else { ssthresh as f64 }),
                ("in-flight", in_flight as f64),
                ("srtt", if srtt == Time::ZERO { f64::NAN } else { srtt.secs() }),
                ("rto", rto.secs()),
                ("share", allowed as f64),
            ];
            self.world.hosts.probes.record_values(flow, now, &values);
        }
        Ok(())
    }

    /// Opens the connections that are open before the run.
    fn open_before(&mut self) -> Result<(), Failure> {
        let mut lines = Vec::new();
        for group in 0..self.world.work.groups.len() {
            let Group { traffic, senders, receivers, .. } = &self.world.work.groups[group];
            for connection in traffic.open_connections(senders, receivers) {
                let OpenConnection { number, from, to, asked } = connection;
                let line = self.add_line(GroupId::new(group), [from, to], Connection::Persistent(number), asked);
                lines.push(self.lines[line].line);
            }
        }
        self.carrier.begin(&lines).map_err(|what| halt(Time::ZERO, what))?;
        Ok(())
    }

    /// Adds a connection, with the host that sends data on it and the one that gets them; returns its number.
    fn add_line(&mut self, group: GroupId, [from, to]: [NodeId; 2], connection: Connection, asked: bool) -> usize {
        let number = self.lines.len();
        let (client, server) = if asked { (to, from) } else { (from, to) };
        let line = Line { number, group, client, server, fresh: connection == Connection::Fresh };
        let mut flow = || {
            self.world.net.core.books().add_flow(group);
            self.flows += 1;
            FlowId::new(self.flows - 1)
        };
        // Flows have numbers in the order in which they are opened, as in the simulator.
        let request = asked.then(&mut flow);
        let data = flow();
        let probed = self.world.hosts.probes.choose();
        self.any_probed |= probed;
        self.lines.push(Known {
            line,
            data_by_client: request.is_none(),
            data,
            request: request.unwrap_or(data),
            probed,
            first: [0; 2],
            highest: [0; 2],
        });
        self.by_port.insert((client, line.port()), number);
        if let Connection::Persistent(name) = connection {
            self.open.insert((group, name), number);
        }
        number
    }

    fn act(&mut self, act: Act) -> Result<(), Failure> {
        self.carrier.act(act).map_err(|what| halt(self.now(), what))
    }

    /// The connection of a transfer, which is opened if need be.
    fn line_of(&mut self, id: TransferId) -> Result<usize, Failure> {
        let Transfer { group, from, to, connection, request, .. } = self.world.work.transfers[id];
        let known = match connection {
            Connection::Persistent(number) => self.open.get(&(group, number)).copied(),
            Connection::Fresh => self.under_way.get(&id).map(|transfer| transfer.line),
        };
        if let Some(line) = known {
            return Ok(line);
        }
        let line = self.add_line(group, [from, to], connection, request.is_some());
        self.act(Act::Open(self.lines[line].line))?;
        Ok(line)
    }

    fn on_time(&mut self, class: Class, index: usize) -> Result<(), Failure> {
        let World { net, work, .. } = &mut self.world;
        match class {
            Class::TransferStart => return self.start_transfer(TransferId::new(index)),
            Class::TransferStop => {
                let id = TransferId::new(index);
                if self.under_way.contains_key(&id) {
                    self.act(Act::Stop(id))?;
                }
            }
            Class::Traffic => work.on_wake(index, net),
            Class::WarmupEnd => return self.open_window(),
            Class::Stop => work.over = true,
            // Whether long flows have settled is not looked at.
            _ => {}
        }
        Ok(())
    }

    fn start_transfer(&mut self, id: TransferId) -> Result<(), Failure> {
        if std::mem::take(&mut self.world.work.transfers[id].opens) {
            self.line_of(id)?;
            let start = self.world.work.transfers[id].start;
            self.world.net.core.schedule(start, Class::TransferStart, id.index());
            return Ok(());
        }
        if self.world.work.transfers[id].bytes.is_some() && self.world.work.opens_with_transfer() {
            self.open_window()?;
        }
        let line = self.line_of(id)?;
        self.begin_counting(id, line);
        let transfer = &mut self.world.work.transfers[id];
        match transfer.request {
            Some(request) if !transfer.asked => {
                transfer.asked = true;
                self.act(Act::Ask(id, line, request.bytes))
            }
            _ => {
                let by_client = transfer.request.is_none();
                let (bytes, deadline) = (transfer.bytes, transfer.deadline);
                self.act(Act::Send { transfer: id, line, bytes, by_client, deadline })
            }
        }
    }

    fn begin_counting(&mut self, id: TransferId, line: usize) {
        let [drops, marks] = self.losses(line);
        let Known { data, .. } = self.lines[line];
        self.world.work.transfers[id].flow = Some(data);
        self.world.work.transfers[id].carried = Some(Box::default());
        let begun = UnderWay { line, drops, marks, asked: State::default(), delivered: 0 };
        self.under_way.entry(id).or_insert(begun);
    }

    /// Segments of a connection that were dropped and marked so far.
    fn losses(&mut self, line: usize) -> [u64; 2] {
        let Known { data, request, .. } = self.lines[line];
        let books = self.world.net.core.books();
        let of = |flow: FlowId| [books.flows[flow].drops, books.flows[flow].marks];
        let ([drops, marks], asking) = (of(data), if request == data { [0; 2] } else { of(request) });
        [drops + asking[0], marks + asking[1]]
    }

    fn on_happening(&mut self, Happening { at, transfer: id, what }: Happening) -> Result<(), Failure> {
        self.world.net.core.windows().expect("this core has a clock").set_clock(at);
        match what {
            What::Asked(state) => {
                if let Some(under_way) = self.under_way.get_mut(&id) {
                    under_way.asked = state;
                }
                // The server responds after its think time.
                let think = self.world.work.transfers[id].request.map_or(Time::ZERO, |request| request.think);
                self.world.net.core.schedule(at + think, Class::TransferStart, id.index());
            }
            What::Completed(state) => {
                let others = self.world.work.transfers.unfinished > 1 || self.world.work.has_more();
                if !others {
                    self.look(Some(id))?;
                }
                self.count(id, &state);
                if self.world.work.transfers[id].bytes.is_none() {
                    self.world.work.transfers[id].stopped_at = Some(state.delivered);
                }
                let World { net, hosts, work, .. } = &mut self.world;
                work.on_carried(id, hosts, net);
                if let Some(UnderWay { line, .. }) = self.under_way.remove(&id) {
                    let data = self.lines[line].data;
                    self.world.net.core.books().flows[data].lost.clear();
                }
            }
            What::Failed(state) => {
                self.count(id, &state);
                self.under_way.remove(&id);
                let World { net, work, .. } = &mut self.world;
                work.fail_transfer(id, net);
            }
        }
        Ok(())
    }

    /// Enters what is known of a transfer.
    fn count(&mut self, id: TransferId, state: &State) {
        let Some(begun) = self.under_way.get_mut(&id) else { return };
        let (line, asked) = (begun.line, begun.asked);
        let more = state.delivered - begun.delivered;
        begun.delivered = state.delivered;
        let before = [begun.drops, begun.marks];
        let ([drops, marks], cause, now) = (self.losses(line), self.cause(line), self.now());
        let transfer = &mut self.world.work.transfers[id];
        self.world.hosts.arrivals[transfer.group.index()].delivered += more;
        let mut counters = Counters {
            retransmissions: state.retransmissions + asked.retransmissions,
            loss_probes: state.loss_probes + asked.loss_probes,
            timer_wait: state.timer_wait + asked.timer_wait,
            drops: drops - before[0],
            marks: marks - before[1],
            ..Counters::default()
        };
        if counters.loss_probes > 0 && transfer.bytes.is_some() {
            // Linux does not report how long its probes waited: at most as long as the transfer took.
            counters.probe_wait = now.saturating_sub(transfer.start).saturating_sub(counters.timer_wait);
        }
        counters.timeouts[cause as usize] = state.timeouts + asked.timeouts;
        transfer.carried = Some(Box::new(Carried { delivered: state.delivered, counters }));
    }

    /// The cause of the timeouts of a connection's transfer, as far as its losses tell: a sender does not say which of its
    /// segments a timer was about.
    fn cause(&mut self, line: usize) -> TimeoutCause {
        let Known { data, data_by_client, highest, .. } = self.lines[line];
        let lost = &self.world.net.core.books().flows[data].lost;
        let Some(first) = lost.iter().map(|lost| lost.seq).min() else { return TimeoutCause::Spurious };
        let after_first = highest[usize::from(!data_by_client)].saturating_sub(first);
        let mss = self.world.hosts.endpoints[self.lines[line].line.group.index()].sender.mss;
        if lost.iter().any(|lost| lost.retransmitted) {
            TimeoutCause::LostRetransmission
        } else if u64::from(after_first).div_ceil(mss) <= lost.len() as u64 {
            TimeoutCause::FullWindow
        } else {
            TimeoutCause::FewDuplicates
        }
    }

    /// Looks at all transfers under way, but for one.
    fn look(&mut self, but: Option<TransferId>) -> Result<(), Failure> {
        let ids: Vec<TransferId> = self.under_way.keys().copied().filter(|id| Some(*id) != but).collect();
        let states = self.carrier.states(&ids).map_err(|what| halt(self.now(), what))?;
        ids.into_iter().zip(states).for_each(|(id, state)| self.count(id, &state));
        Ok(())
    }

    /// Statistics of queues and goodput begin now.
    fn open_window(&mut self) -> Result<(), Failure> {
        self.look(None)?;
        let World { net, hosts, work, .. } = &mut self.world;
        work.open_window(hosts, net);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.look(None)?;
        let ending = self.carrier.end().map_err(|what| halt(self.now(), what))?;
        self.world.hosts.finished.segments = ending.segments;
        self.world.hops = ending.links.iter().map(|(packets, _)| packets).sum();
        self.world.events = self.world.hops;
        self.world.watch.counters = Some(ending.counters);
        self.world.watch.carried = Some(ending.links.into_iter().map(|(_, bytes)| bytes).collect());
        Ok(())
    }

    fn book_packets(&mut self, until: Time) -> Result<(), Failure> {
        for seen in self.carrier.packets(until).map_err(|what| halt(self.now(), what))? {
            self.book(&seen);
        }
        Ok(())
    }

    fn book(&mut self, seen: &Seen) {
        let by_client = seen.ports[1] < Line::FIRST_PORT;
        let client = if by_client { (seen.from, seen.ports[0]) } else { (seen.to, seen.ports[1]) };
        let Some(line) = self.by_port.get(&client).copied() else { return };
        if seen.fate == Fate::Opened {
            self.lines[line].first[usize::from(!by_client)] = seen.seq;
            return;
        }
        let packet = self.packet(seen, line, by_client);
        let books = self.world.net.core.books();
        let queue = &mut self.queues[seen.link.index()];
        match seen.fate {
            Fate::Dropped => return books.on_drop(seen.link, &packet, DropReason::BufferFull, seen.at),
            Fate::Refused => {
                books.ports[seen.link.index()].would_mark += 1;
                return books.on_drop(seen.link, &packet, DropReason::Discipline, seen.at);
            }
            Fate::Lost => {
                books.ports[seen.link.index()].lost_on_link += u64::from(seen.size);
                return books.on_drop(seen.link, &packet, DropReason::Chosen, seen.at);
            }
            Fate::Marked => {
                books.ports[seen.link.index()].would_mark += 1;
                return books.on_mark(seen.link, &packet, seen.at);
            }
            Fate::Queued => queue.push_back(seen.size),
            Fate::Sent => drop(queue.pop_front()),
            Fate::Opened => return,
        }
        let bytes = queue.iter().map(|size| u64::from(*size)).sum();
        let backlog = Backlog { packets: queue.len() as u32, bytes };
        books.on_queue(seen.link, seen.at, backlog, queue.front().copied().unwrap_or(0));
    }

    /// A packet of a connection as the simulator has it.
    fn packet(&mut self, seen: &Seen, line: usize, by_client: bool) -> Packet {
        let known = &mut self.lines[line];
        let payload = u32::from(seen.size.saturating_sub(self.world.net.header));
        let numbers = payload + u32::from(seen.flags.has(Flags::SYN.with(Flags::FIN)));
        let end = usize::from(!by_client);
        let seq = seen.seq.wrapping_sub(known.first[end]);
        let is_data = payload > 0 || seen.flags.has(Flags::FIN) || (by_client && seen.flags.has(Flags::SYN));
        let flow = if known.data_by_client == (by_client == is_data) { known.data } else { known.request };
        let mut flags = seen.flags.without(Flags::ACK);
        if !is_data {
            flags = flags.with(Flags::ACK);
        } else if numbers > 0 {
            flags = flags.with_if(Flags::RETRANSMITTED, seq.wrapping_add(numbers) <= known.highest[end]);
            known.highest[end] = known.highest[end].max(seq.wrapping_add(numbers));
        }
        Packet { flow, seq, size: seen.size, flags, ..Packet::default() }
    }
}

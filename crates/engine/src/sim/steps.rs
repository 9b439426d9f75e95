//! A run in steps: somebody else says how far it goes, looks at it in between, and changes it.

use crate::outcome::totals;
use crate::sim::{Failure, Outcome, Progress, RunError, build, check_backend, laws};
use fanin_core::ids::{GroupId, LinkId, TransferId};
use fanin_core::roles::QueueDiscipline;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::core::Core;
use fanin_host::hosts::Hosts;
use fanin_measure::table::Data;
use fanin_network::queue;
use fanin_network::topology::Topology;
use fanin_network::traffic::TrafficGroup;
use fanin_param::{Param, SpecError};
use fanin_scenario::Scenario;
use fanin_schemes::{self as schemes, Scheme};
use fanin_tcp::sender::SenderConfig;
use fanin_world::World;
use std::collections::BTreeMap;

/// Keys of a discipline's table that may change during a run, if it keeps nothing.
const MARKING: [&str; 2] = ["threshold", "mark-threshold"];

/// Keys of `[transport]` that may change during a run: senders read them when they need them.
const SENDING: [&str; 2] = ["initial-window", "rto-min"];

/// Where paths of faults begin.
const FAULT: &str = "fault.";

/// A run that has begun.
pub struct Simulation<C = Core> {
    world: World<C>,
    scenario: Scenario,
    /// The paths of what can change.
    settable: Vec<String>,
    before: Counts,
}

/// What had been counted at the last observation.
#[derive(Default)]
struct Counts {
    at: Time,
    /// By port: bytes sent, marks and drops.
    ports: Vec<[u64; 3]>,
    /// By traffic group, the payload delivered.
    groups: Vec<u64>,
    /// The payload of each transfer under way.
    transfers: BTreeMap<TransferId, u64>,
}

/// The state of a run at an instant, and what has happened since the observation before.
#[derive(Debug)]
pub struct Observation {
    /// The instant, and that of the observation before, or the beginning.
    pub at: Time,
    /// That of the observation before, or the beginning.
    pub since: Time,
    /// Columns by name: first those with a row for each port in the order of the table of links, then those with a row for
    /// each transfer under way by number, then those with a row for each traffic group.
    pub columns: Vec<(&'static str, Data)>,
}

impl<C: EventCore> Simulation<C> {
    /// Builds the world of a scenario and begins.
    ///
    /// # Errors
    ///
    /// The scenario has an error, or does not run in the simulator.
    pub fn start(scenario: &Scenario) -> Result<Self, SpecError> {
        if !scenario.run.is("backend", "simulator") {
            return Err(scenario.run.fail("backend", "only the simulator runs in steps"));
        }
        check_backend(scenario)?;
        let mut world: World<C> = build::build(scenario, build::Substitutes::default())?;
        world.start();
        let mut settable = settable(scenario, &world.net.topology);
        for (key, scheme) in senders(scenario, &world.hosts) {
            settable.extend(scheme.settable().iter().map(|param| format!("scheme.{key}.{param}")));
        }
        Ok(Self { world, scenario: scenario.clone(), settable, before: Counts::default() })
    }

    /// The clock.
    pub fn now(&self) -> Time {
        self.world.net.now()
    }

    /// Whether nothing more will happen.
    pub fn is_done(&self) -> bool {
        self.world.work.over
    }

    /// Whether all finite transfers are complete, and no more will start.
    pub fn is_finished(&self) -> bool {
        self.world.work.finished
    }

    /// The names of all ports, in the order of the table of links.
    pub fn ports(&self) -> Vec<String> {
        self.world.net.topology.link_names()
    }

    /// The index of the port where incast is expected.
    pub fn bottleneck(&self) -> usize {
        self.world.net.topology.bottleneck.index()
    }

    /// The names of the traffic groups.
    pub fn groups(&self) -> Vec<String> {
        self.world.work.groups.iter().map(|group| group.name.clone()).collect()
    }

    /// Goes on until `until`, or to the end.
    ///
    /// # Errors
    ///
    /// An invariant was violated, or `progress` stopped it; in that case it can go on later.
    pub fn advance(&mut self, until: Time, progress: Option<Progress<'_>>) -> Result<(), RunError> {
        self.world.run_until(until, progress)
    }

    /// Goes on to the end and tells the outcome.
    ///
    /// # Errors
    ///
    /// As [`run`](crate::sim::run).
    pub fn end(mut self, progress: Option<Progress<'_>>) -> Result<Outcome, Failure> {
        self.advance(Time::NEVER, progress)?;
        self.world.finish()?;
        laws::check(&mut self.world)?;
        Ok(totals::collect(self.world)?)
    }

    /// What there is to see now.
    pub fn observe(&mut self) -> Observation {
        let mut seen = Counts { at: self.now(), ..Counts::default() };
        let mut columns = self.see_ports(&mut seen);
        columns.extend(self.see_transfers(&mut seen));
        let World { hosts, work, .. } = &self.world;
        seen.groups = (0..work.groups.len()).map(|group| hosts.delivered(GroupId::new(group))).collect();
        let earlier = |i: usize| self.before.groups.get(i).copied().unwrap_or_default();
        let delivered = seen.groups.iter().enumerate().map(|(i, now)| (now - earlier(i)) as f64);
        columns.push(("delivered_bytes", Data::F64(delivered.collect())));
        let since = std::mem::replace(&mut self.before, seen).at;
        Observation { at: self.now(), since, columns }
    }

    fn see_ports(&mut self, seen: &mut Counts) -> Vec<(&'static str, Data)> {
        let audits = self.world.net.core.audit();
        let books = self.world.net.core.books();
        let counts = audits.iter().zip(&books.ports).map(|(port, book)| [port.departed(), book.marks, book.drops]);
        seen.ports = counts.collect();
        let before = &self.before.ports;
        let since = |which: usize| {
            let earlier = |i: usize| before.get(i).map_or(0, |counts| counts[which]);
            Data::F64(seen.ports.iter().enumerate().map(|(i, counts)| (counts[which] - earlier(i)) as f64).collect())
        };
        vec![
            ("queue_packets", Data::F64(audits.iter().map(|port| f64::from(port.held.packets)).collect())),
            ("queue_bytes", Data::F64(audits.iter().map(|port| port.held.bytes as f64).collect())),
            ("sent_bytes", since(0)),
            ("marks", since(1)),
            ("drops", since(2)),
        ]
    }

    fn see_transfers(&self, seen: &mut Counts) -> Vec<(&'static str, Data)> {
        let World { hosts, work, .. } = &self.world;
        let (mut ids, mut group, mut cwnd, mut flight) = (vec![], vec![], vec![], vec![]);
        let (mut srtt, mut delivered) = (vec![], vec![]);
        for (id, transfer) in work.transfers.open().filter(|(_, transfer)| transfer.is_under_way()) {
            let Some(flow) = transfer.flow.and_then(|flow| hosts.flows.get(flow)) else { continue };
            let now = transfer.delivered(hosts);
            seen.transfers.insert(id, now);
            ids.push(id.index() as u64);
            group.push(transfer.group.index() as u64);
            cwnd.push(flow.sender.window().cwnd);
            flight.push(flow.sender.in_flight() as f64);
            srtt.push(flow.sender.srtt().map_or(f64::NAN, Time::secs));
            delivered.push((now - self.before.transfers.get(&id).copied().unwrap_or_default()) as f64);
        }
        vec![
            ("flow", Data::U64(ids)),
            ("flow_group", Data::U64(group)),
            ("cwnd_bytes", Data::F64(cwnd)),
            ("in_flight_bytes", Data::F64(flight)),
            ("srtt_s", Data::F64(srtt)),
            ("flow_delivered_bytes", Data::F64(delivered)),
        ]
    }

    /// The paths that [`Self::set`] and [`Self::switch_fault`] know here.
    pub fn settable(&self) -> &[String] {
        &self.settable
    }

    /// Takes the value at `path` from `changed`, the same scenario but for that.
    ///
    /// # Errors
    ///
    /// The path cannot change during a run, or not to that value.
    pub fn set(&mut self, path: &str, changed: &Scenario) -> Result<(), SpecError> {
        self.check_settable(path)?;
        if path.starts_with("transport.") {
            for (group, endpoint) in self.scenario.traffic.iter().zip(&mut self.world.hosts.endpoints) {
                let scheme = group.scheme.unwrap_or(self.scenario.scheme_key());
                endpoint.sender = SenderConfig::from(changed.transport_of(scheme));
            }
            return Ok(());
        }
        for (key, scheme) in senders(&self.scenario, &self.world.hosts) {
            if scheme.settable().iter().any(|param| path == format!("scheme.{key}.{param}")) {
                scheme.set(changed.scheme(key));
                return Ok(());
            }
        }
        let topology = &self.world.net.topology;
        let (old, new) = (build::disciplines(&self.scenario, topology), build::disciplines(changed, topology));
        let form = |queue: &Option<Box<dyn QueueDiscipline>>| {
            queue.as_ref().map(|queue| (queue.bands(), queue.acts_on_dequeue(), queue.marks()))
        };
        if !old.iter().map(form).eq(new.iter().map(form)) {
            return Err(refused(path, "a queue that marks nothing cannot begin to, nor can one stop".to_owned()));
        }
        for (i, discipline) in new.into_iter().enumerate() {
            if let Some(discipline) = discipline {
                self.world.net.core.set_discipline(LinkId::new(i), discipline);
            }
        }
        Ok(())
    }

    /// A fault of the scenario begins or ends now.
    ///
    /// # Errors
    ///
    /// There is no fault of that name, which is the end of its path.
    pub fn switch_fault(&mut self, path: &str, on: bool) -> Result<(), SpecError> {
        let name = path.strip_prefix(FAULT);
        match self.scenario.faults.iter().position(|fault| Some(&*fault.name) == name) {
            Some(fault) => self.world.switch_fault(fault, on),
            None => self.check_settable(path)?,
        }
        Ok(())
    }

    fn check_settable(&self, path: &str) -> Result<(), SpecError> {
        if self.settable.iter().any(|each| each == path) {
            return Ok(());
        }
        Err(refused(path, format!("cannot change during a run; these can: {}", self.settable.join(", "))))
    }
}

/// The paths of what can change during a run of a scenario.
fn settable(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut paths: Vec<String> = SENDING.iter().map(|key| format!("transport.{key}")).collect();
    if build::disciplines(scenario, topology).iter().flatten().any(|discipline| discipline.keeps_nothing()) {
        let (table, params) = marking(scenario);
        let tiers: Vec<_> = topology.links.iter().filter_map(|link| link.tier).collect();
        for param in params.iter().filter(|param| MARKING.contains(&param.key)) {
            paths.push(format!("{table}.{}", param.key));
            let own = param.tier_keys().filter(|(tier, _)| tiers.contains(tier));
            paths.extend(own.map(|(_, key)| format!("{table}.{key}")));
        }
    }
    paths.extend(scenario.faults.iter().map(|fault| format!("{FAULT}{}", fault.name)));
    paths
}

/// The schemes of all senders by key.
fn senders<'a>(scenario: &Scenario, hosts: &'a Hosts) -> BTreeMap<&'static str, &'a dyn Scheme> {
    let groups = scenario.traffic.iter().zip(&hosts.endpoints);
    let of = |group: &TrafficGroup| group.scheme.unwrap_or(scenario.scheme_key());
    groups.map(|(group, endpoint)| (of(group), &*hosts.schemes[endpoint.scheme])).collect()
}

/// The table that decides on marks, and its keys.
fn marking(scenario: &Scenario) -> (String, &'static [Param]) {
    if let Some(row) = queue::REGISTRY.iter().find(|row| row.key == scenario.queue.kind) {
        return ("queue".to_owned(), row.params);
    }
    let key = scenario.scheme_key();
    (format!("scheme.{key}"), schemes::find(key).params)
}

fn refused(path: &str, message: String) -> SpecError {
    let (file, key) = ("--set".to_owned(), path.to_owned());
    SpecError { file, line: None, key, message, suggestion: None, more: Box::default() }
}

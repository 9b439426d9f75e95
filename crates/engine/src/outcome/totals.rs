//! The result of a run: totals, tables and a hash over both.

use crate::outcome::declared;
use crate::outcome::flow_table::{self, FlowTable};
use crate::outcome::tables::{
    Queues, bin_tables, counter_table, delay_table, drop_table, link_table, pause_table, request_table, trace_table,
};
use fanin_core::ids::{GroupId, NodeId, TransferId};
use fanin_core::roles::DropReason;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_measure::capture::Capture;
use fanin_measure::counters::Counters;
use fanin_measure::fingerprint::Fingerprint;
use fanin_measure::probes::Recorder;
use fanin_measure::queue::QueueSummary;
use fanin_measure::rows::Row;
use fanin_measure::stats::{jain, mean, percentile_nearest_rank};
use fanin_measure::table::Table;
use fanin_measure::timeouts::TimeoutCause;
use fanin_network::topology::{LinkSpec, NodeKind};
use fanin_network::traffic::Offered;
use fanin_work::error::RunError;
use fanin_work::group::Group;
use fanin_world::World;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::OnceLock;

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Totals by name. `result_hash` covers every table and total, but not how long transfers waited.
    pub summary: Map<String, Value>,
    /// The table of flows.
    pub flows: FlowTable,
    /// The whole table of flows, once it has been requested.
    whole_flows: OnceLock<Option<Table>>,
    /// The other tables, that of queues first.
    pub tables: Vec<Table>,
    /// The queues that were measured.
    queues: Queues,
    /// A pcapng file, if the scenario asks for a capture.
    pub capture: Option<Vec<u8>>,
}

impl Outcome {
    /// The names of all tables, `flows` first.
    pub fn table_names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(flow_table::NAME).chain(self.tables.iter().map(|table| table.name))
    }
    /// The table called `name`. For `flows` this holds all rows in memory; [`FlowTable::parts`] does not.
    pub fn table(&self, name: &str) -> Option<&Table> {
        if name == flow_table::NAME {
            return self.whole_flows.get_or_init(|| self.flows.whole().ok()).as_ref();
        }
        self.tables.iter().find(|table| table.name == name)
    }
    /// A total as a number; NaN if there is none.
    pub fn number(&self, name: &str) -> f64 {
        self.summary.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }
    /// Makes this the outcome of the same scenario with another port in `measure.bottleneck`; returns whether it can, as it
    /// can of more ports after [`Scenario::with_queues_on_the_way`](fanin_scenario::Scenario::with_queues_on_the_way).
    ///
    /// # Errors
    ///
    /// Rows of finished flows cannot be read.
    pub fn observe(&mut self, port: &str) -> io::Result<bool> {
        if !self.queues.observe(port) {
            return Ok(false);
        }
        self.tables[0] = self.queues.table();
        let mut totals = Totals(std::mem::take(&mut self.summary));
        totals.queue(self.queues.observed());
        self.summary = totals.0;
        let hashed = self.summary.iter().skip(1).take_while(|(name, _)| *name != declared::QUERIES.name);
        let hashed = hashed.map(|(name, value)| (name.clone(), value.clone())).collect();
        self.summary.insert(HASH.to_owned(), json!(hash(&self.flows, &self.tables, &hashed)?));
        Ok(true)
    }
    /// The hash over every table and total.
    pub fn hash(&self) -> &str {
        self.summary.get(HASH).and_then(Value::as_str).unwrap_or("")
    }
}

/// Turns a world at its end into tables and totals.
pub(crate) fn collect<C: EventCore>(mut world: World<C>) -> Result<Outcome, RunError> {
    let World { net, hosts, work, .. } = &mut world;
    let open: Vec<TransferId> = work.transfers.open().map(|(id, _)| id).collect();
    for id in open {
        work.close_transfer(id, hosts, net);
    }
    if let Some(failure) = work.failure.take() {
        return Err(failure);
    }
    let rows = std::mem::take(&mut work.transfers.rows);
    let flows = FlowTable::new(rows, work.transfers.count(), &work.groups);
    let outcome = tabulate(&mut world, flows).map_err(|error| RunError::spill(&error))?;
    Ok(Outcome { capture: world.net.capture.map(Capture::into_bytes), ..outcome })
}

fn tabulate<C: EventCore>(world: &mut World<C>, flows: FlowTable) -> io::Result<Outcome> {
    let tallies = Tallies::of(world, &flows)?;
    // Built once, because an incast loses thousands of packets at one port.
    let links = world.net.topology.link_names();
    let queues = Queues::of(&mut world.net, &links, world.watch.of_switches);
    let now = world.net.now();
    world.net.core.books().close(now);
    let mut totals = Totals(Map::new());
    totals.goodput(world);
    totals.completion(world, &tallies);
    totals.retransmission(world, &tallies);
    totals.network(world);
    totals.queue(queues.observed());
    totals.run(world);
    totals.nodes(world);
    totals.groups(world, &tallies);
    let mut summary = totals.0;
    let names: Vec<String> = world.work.groups.iter().map(|group| group.name.clone()).collect();
    let bottleneck = world.looks.bottleneck(&mut world.net).map(|link| links[link.index()].clone());
    let (flow_probes, host_probes) = std::mem::take(&mut world.hosts.probes).into_tables();
    let switch_probes = world.switches.probes.take().map(Recorder::into_switch_table);
    let net = &mut world.net;
    let crossings = net.crossings.take().map(|crossings| crossings.into_table(links.clone()));
    let bins = bin_tables(net, &flows, names.clone(), &links)?;
    let pauses = pause_table(net, &links);
    let mut tables = vec![
        queues.table(),
        link_table(net, &world.watch, &links),
        request_table(&world.work.queries, &names),
        delay_table(&world.hosts.arrivals, &names),
        drop_table(&std::mem::take(&mut net.core.books().drop_log), links, net.core.is_lossless()),
        flow_probes,
        trace_table(net, &world.watch),
    ];
    tables.extend(switch_probes);
    tables.extend(crossings);
    tables.extend(host_probes);
    tables.extend(world.watch.counters.take().map(|counters| counter_table(&counters)));
    tables.extend(pauses);
    tables.extend(bins.into_iter().flatten());
    let hash = hash(&flows, &tables, &summary)?;
    summary.shift_insert(0, HASH.to_owned(), json!(hash));
    // Not hashed: these follow from the scenario, from the tables, or from how a run is looked at.
    summary.insert(declared::QUERIES.name.to_owned(), json!(tallies.waited.len()));
    let waited = tallies.waited.iter().filter(|waited| **waited).count();
    summary.insert(declared::QUERIES_WAITED.name.to_owned(), json!(waited));
    let settled = world.work.settled;
    let before = [json!(settled.steady.map(Time::secs)), json!(settled.rising)];
    summary.extend(declared::BEFORE.iter().zip(before).map(|(total, value)| (total.name.to_owned(), value)));
    summary.insert(declared::FOUND.name.to_owned(), json!(bottleneck));
    summary.insert(declared::CAPACITY.name.to_owned(), json!(capacity(world, &tallies)));
    Ok(Outcome { summary, flows, whole_flows: OnceLock::new(), tables, queues, capture: None })
}

const HASH: &str = "result_hash";

fn hash(flows: &FlowTable, tables: &[Table], totals: &Map<String, Value>) -> io::Result<String> {
    let mut hasher = Fingerprint::new();
    flows.digest(&mut hasher)?;
    for table in tables {
        debug_assert_eq!(table.check(), Ok(()));
        table.digest(&mut hasher);
    }
    hasher.add(&serde_json::to_vec(totals).unwrap_or_default());
    let digest = hasher.finish();
    let (high, _) = digest.split_first_chunk::<16>().expect("a digest is longer");
    Ok(format!("{:032x}", u128::from_be_bytes(*high)))
}

/// The goodput window.
struct Window {
    /// Whether it ends with the last completion. After that a finished run can only have waited for failing handshakes.
    to_last_completion: bool,
    seconds: f64,
}

impl Window {
    fn of<C: EventCore>(world: &World<C>) -> Self {
        let last = world.work.window.last_completion.filter(|_| world.work.finished);
        let start = world.work.window.start.unwrap_or(Time::ZERO);
        let seconds = last.unwrap_or(world.net.now()).saturating_sub(start).secs();
        Self { to_last_completion: last.is_some(), seconds }
    }
    /// Bytes of a group within the window, if `delivered` have arrived by the end of the run.
    fn delivered(&self, group: &Group, delivered: u64) -> u64 {
        let end = if self.to_last_completion { group.delivered_by_completion } else { delivered };
        end - group.delivered_before
    }
    fn rate(&self, bytes: u64) -> Value {
        if self.seconds > 0.0 { json!(bytes as f64 * 8.0 / self.seconds) } else { Value::Null }
    }
}

/// Totals over all flows or over those of a traffic group.
struct FlowTotals {
    /// Completion times in seconds, shortest first.
    fcts: Vec<f64>,
    /// Jain's index of their rates.
    jain: Option<f64>,
    flows: usize,
    incomplete: usize,
    failed: usize,
    /// None if no flow has a deadline.
    deadlines_missed: Option<usize>,
    counters: Counters,
    /// Share of the flows that had a timeout.
    timeout_ratio: Option<f64>,
}

/// Counters from which [`FlowTotals`] are made.
#[derive(Default)]
struct FlowCounts {
    fcts: Vec<f64>,
    rates: Vec<f64>,
    flows: usize,
    finite: usize,
    hit: usize,
    failed: usize,
    hurried: bool,
    missed: usize,
    counters: Counters,
}

impl FlowCounts {
    fn add(&mut self, row: &Row, now: Time) {
        self.flows += 1;
        self.finite += usize::from(row.bytes.is_some());
        self.fcts.extend(row.fct());
        self.rates.extend(row.rate);
        self.hit += usize::from(row.counters.timeout_count() > 0);
        self.failed += usize::from(row.failed);
        self.hurried |= row.deadline.is_some();
        self.missed += usize::from(row.missed_deadline(now));
        self.counters = self.counters.plus(&row.counters);
    }

    fn totals(mut self) -> FlowTotals {
        self.fcts.sort_by(f64::total_cmp);
        FlowTotals {
            jain: jain(&self.rates),
            flows: self.flows,
            incomplete: self.finite - self.fcts.len(),
            failed: self.failed,
            deadlines_missed: self.hurried.then_some(self.missed),
            counters: self.counters,
            timeout_ratio: (self.flows > 0).then(|| self.hit as f64 / self.flows as f64),
            fcts: self.fcts,
        }
    }
}

/// Totals over all flows, and over those of each group.
struct Tallies {
    all: FlowTotals,
    groups: Vec<FlowTotals>,
    /// By node, whether a transfer ends there.
    receives: Vec<bool>,
    /// By query, whether one of its transfers had a timeout.
    waited: Vec<bool>,
}

impl Tallies {
    fn of<C: EventCore>(world: &World<C>, flows: &FlowTable) -> io::Result<Self> {
        let mut all = FlowCounts::default();
        let mut groups: Vec<_> = world.work.groups.iter().map(|_| FlowCounts::default()).collect();
        let mut receives = vec![false; world.net.topology.nodes.len()];
        let mut waited = vec![false; world.work.queries.len()];
        flows.for_each(|row| {
            receives[row.to.index()] = true;
            if let Some(query) = row.query.filter(|_| row.counters.timeout_count() > 0) {
                waited[query as usize] = true;
            }
            all.add(row, world.net.now());
            groups[row.group.index()].add(row, world.net.now());
        })?;
        Ok(Self { all: all.totals(), groups: groups.into_iter().map(FlowCounts::totals).collect(), receives, waited })
    }
}

/// What the links into all hosts at which transfers end carry together, in bit/s.
fn capacity<C>(world: &World<C>, tallies: &Tallies) -> u64 {
    let topology = &world.net.topology;
    let into = |link: &&LinkSpec| tallies.receives[link.to.index()];
    topology.links.iter().filter(into).map(|link| link.rate.bps()).sum()
}

/// Totals by name, in display order.
struct Totals(Map<String, Value>);

impl Totals {
    fn put(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// Goodput over the window that starts with the first finite transfer or at the end of the warm-up.
    fn goodput<C: EventCore>(&mut self, world: &World<C>) {
        let window = Window::of(world);
        let groups = world.work.groups.iter().zip(&world.hosts.arrivals);
        let delivered = groups.map(|(group, arrivals)| window.delivered(group, arrivals.delivered)).sum();
        self.put("goodput_bps", window.rate(delivered));
        self.put(
            "goodput_finite_bps",
            window.rate(world.work.finite_delivered(&world.hosts) - world.work.window.finite_before),
        );
    }

    /// Completion of transfers and queries, and Jain's index.
    fn completion<C>(&mut self, world: &World<C>, tallies: &Tallies) {
        let FlowTotals { fcts, jain, flows, incomplete, failed, deadlines_missed, .. } = &tallies.all;
        self.put("fct_mean_s", json!(mean(fcts)));
        for (name, q) in [("fct_p50_s", 0.5), ("fct_p95_s", 0.95), ("fct_p99_s", 0.99), ("fct_max_s", 1.0)] {
            self.put(name, json!(percentile_nearest_rank(fcts, q)));
        }
        let mut query: Vec<f64> =
            world.work.queries.iter().filter_map(|q| Some((q.completion? - q.start).secs())).collect();
        query.sort_by(f64::total_cmp);
        self.put("query_mean_s", json!(mean(&query)));
        self.put("query_p99_s", json!(percentile_nearest_rank(&query, 0.99)));
        self.put("jain", json!(jain));
        self.put("flows", json!(flows));
        self.put("completed", json!(fcts.len()));
        self.put("failed", json!(failed));
        self.put("incomplete", json!(incomplete));
        self.put("deadlines_missed", json!(deadlines_missed));
    }

    /// The totals of each traffic group; counts add up to those of the run.
    fn groups<C: EventCore>(&mut self, world: &mut World<C>, tallies: &Tallies) {
        let window = Window::of(world);
        let hosts = &world.hosts;
        let books = world.net.core.books();
        let group = |(i, group): (usize, &Group)| {
            let totals = &tallies.groups[i];
            let book = books.of_group(GroupId::new(i));
            json!({
                "group": group.name,
                "goodput_bps": window.rate(window.delivered(group, hosts.delivered(GroupId::new(i)))),
                "fct_mean_s": mean(&totals.fcts),
                "fct_p99_s": percentile_nearest_rank(&totals.fcts, 0.99),
                "jain": totals.jain,
                "flows": totals.flows,
                "completed": totals.fcts.len(),
                "incomplete": totals.incomplete,
                "retransmissions": totals.counters.retransmissions,
                "timeouts": totals.counters.timeout_count(),
                "timeout_ratio": totals.timeout_ratio,
                "drops": book.drops,
                "marks": book.marks,
            })
        };
        let groups: Vec<Value> = world.work.groups.iter().enumerate().map(group).collect();
        self.put("groups", Value::Array(groups));
        let offered = world.work.groups.iter().filter_map(|group| Some((group, group.traffic.offered()?)));
        self.put("offered", offered.map(|(group, offered)| offered_json(&group.name, &offered)).collect());
    }

    fn retransmission<C>(&mut self, world: &World<C>, tallies: &Tallies) {
        let FlowTotals { counters, timeout_ratio, .. } = &tallies.all;
        self.put("retransmissions", json!(counters.retransmissions));
        self.put("timeouts", json!(counters.timeout_count()));
        for cause in TimeoutCause::ALL {
            self.put(cause.column(), json!(counters.timeouts[cause as usize]));
        }
        self.put("loss_probes", json!(counters.loss_probes));
        let segments = world.hosts.flows.iter().map(|(_, flow)| flow.receiver.segments).sum::<u64>()
            + world.hosts.finished.segments;
        self.put("segments_received", json!(segments));
        self.put("timeout_ratio", json!(timeout_ratio));
    }

    /// Drops and marks.
    fn network<C: EventCore>(&mut self, world: &mut World<C>) {
        let lossless = world.net.core.is_lossless();
        let books = world.net.core.books();
        self.put("drops", json!(books.drops.iter().sum::<u64>()));
        let limited = world.net.host_queues.as_ref().is_some_and(|queues| queues.limited());
        let counts = |reason: &DropReason| match reason {
            DropReason::HostQueueFull => limited,
            DropReason::Chosen => world.net.faults.any_drop(),
            DropReason::HeadroomFull => lossless,
            _ => true,
        };
        for reason in DropReason::ALL.into_iter().filter(counts) {
            self.put(reason.total(), json!(books.drops[reason as usize]));
        }
        self.put("loss_run_longest", json!(books.longest_loss_run()));
        self.put("marks", json!(books.marks()));
        self.put("would_mark", json!(books.would_mark()));
        if lossless {
            let pauses = || books.ports.iter().map(|port| port.pauses);
            self.put(declared::PAUSES[0].name, json!(pauses().map(|port| port.count).sum::<u64>()));
            self.put(declared::PAUSES[1].name, json!(pauses().map(|port| port.lasted).sum::<Time>().secs()));
        }
    }

    /// The queue of the observed port.
    fn queue(&mut self, queue: Option<&QueueSummary>) {
        if let Some(queue) = queue {
            self.put("queue_mean_packets", json!(queue.packets.mean_time_weighted));
            self.put("queue_mean_busy_packets", json!(queue.packets.mean_while_busy));
            self.put("queue_mean_changes_packets", json!(queue.packets.mean_of_changes));
            self.put("queue_waiting_mean_packets", json!(queue.waiting.mean_while_any));
            self.put("queue_waiting_mean_changes_packets", json!(queue.waiting.mean_of_changes));
            self.put("queue_waiting_mean_changes_bytes", json!(queue.waiting.mean_of_changes_bytes));
            self.put("queue_p50_packets", json!(queue.p50));
            self.put("queue_p95_packets", json!(queue.p95));
            self.put("queue_p99_packets", json!(queue.p99));
            self.put("queue_max_packets", json!(queue.packets.max));
        } else {
            for total in declared::BOTTLENECK {
                self.put(total.name, Value::Null);
            }
        }
    }

    /// The totals that a scheme counts in the state shared by its roles on a switch, summed over all switches.
    fn nodes<C: EventCore>(&mut self, world: &mut World<C>) {
        let mut sums = BTreeMap::new();
        for (i, kind) in world.net.topology.nodes.iter().enumerate() {
            if *kind == NodeKind::Switch {
                let node = world.net.core.node(NodeId::new(i));
                world.hosts.schemes[world.switches.scheme]
                    .node_totals(node, &mut |total, value| *sums.entry(total.name).or_insert(0) += value);
            }
        }
        for (name, sum) in sums {
            self.put(name, json!(sum));
        }
    }

    fn run<C: EventCore>(&mut self, world: &World<C>) {
        self.put("rewritten", json!(world.switches.rewritten));
        self.put("control_messages", json!(world.switches.control.channel.messages));
        self.put("control_bytes", json!(world.switches.control.channel.bytes));
        self.put("control_lost", json!(world.switches.control.channel.lost));
        self.put("window_start_s", json!(world.work.window.start.unwrap_or(Time::ZERO).secs()));
        self.put("simulated_s", json!(world.net.now().secs()));
        self.put("packet_hops", json!(world.hops));
        self.put("events", json!(world.events));
    }
}

/// The offered load of a group, with everything from which it was computed.
pub fn offered_json(group: &str, offered: &Offered) -> Value {
    json!({
        "group": group,
        "mean_bytes": offered.mean,
        "interval_s": offered.interval.secs(),
        "offered_bps": offered.bps(),
        "load": offered.load(),
        "load_of": offered.of,
        "capacity_bps": offered.capacity,
    })
}

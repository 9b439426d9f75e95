//! What a run leaves behind: totals, tables, and the proof that nothing went missing.

use crate::ids::{LinkId, NodeId, TransferId};
use crate::measure::bins::Bins;
use crate::measure::queue::QueueSummary;
use crate::measure::stats::{jain, mean, percentile_nearest_rank};
use crate::measure::table::{Column, Data, Table};
use crate::roles::DropReason;
use crate::sim::event::EventCore;
use crate::sim::transfers::{Counters, TimeoutCause, Transfer};
use crate::sim::world::{RunError, World};
use crate::tcp::sender::State;
use crate::traffic::Connection;
use crate::units::Time;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Totals by name. `result_hash` covers every table and total.
    pub summary: Map<String, Value>,
    /// Tables, each with unit and definition of its columns.
    pub tables: Vec<Table>,
    /// A pcapng file, if the scenario asked for a capture.
    pub capture: Option<Vec<u8>>,
}

impl Outcome {
    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
    /// A total as a number; NaN where there is none.
    pub fn number(&self, name: &str) -> f64 {
        self.summary.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }
    /// The hash over everything that the run has measured.
    pub fn hash(&self) -> &str {
        self.summary.get("result_hash").and_then(Value::as_str).unwrap_or("")
    }
}

impl World {
    /// Conservation and sanity: every packet that was sent arrived, was dropped, is kept by an agent or is still in
    /// the network; windows are real; queues stayed within their buffers.
    pub(crate) fn check<C: EventCore>(&self, core: &mut C) -> Result<(), RunError> {
        let mut inside = vec![0_u64; self.flows.len()];
        core.in_network(&mut |packet| inside[packet.flow.index()] += 1);
        for (i, flow) in self.flows.iter().enumerate() {
            let book = &core.ledger().flows[i];
            let sent = flow.sender.segments_sent + flow.receiver.acks_sent;
            let gone = flow.arrived + flow.acks_arrived + book.drops + book.acks_dropped + book.kept + inside[i];
            if sent != gone {
                let what = format!(
                    "flow {i} sent {sent} packets, but {} arrived, {} were dropped, {} are kept by a switch and {} are \
                     in the network",
                    flow.arrived + flow.acks_arrived,
                    book.drops + book.acks_dropped,
                    book.kept,
                    inside[i]
                );
                return Err(self.broken(what));
            }
            let window = flow.sender.window();
            if !(window.cwnd.is_finite() && window.cwnd > 0.0 && window.ssthresh > 0.0) {
                return Err(self.broken(format!("flow {i} has the window {window:?}")));
            }
            if flow.sender.una() > flow.receiver.state.next() && flow.sender.state() != State::Closed {
                return Err(self.broken(format!("flow {i} was acknowledged beyond what arrived")));
            }
        }
        self.check_stuck(core)
    }

    fn broken(&self, what: String) -> RunError {
        RunError::Broken { seed: self.seed, at: self.now, what }
    }

    /// With an open transfer and no event left, nothing will ever happen again.
    fn check_stuck<C: EventCore>(&self, core: &mut C) -> Result<(), RunError> {
        if self.finished || self.open == 0 || !core.is_idle() {
            return Ok(());
        }
        let stuck =
            |transfer: &&Transfer| transfer.bytes.is_some() && transfer.completion.is_none() && !transfer.failed;
        let Some(transfer) = self.transfers.iter().find(stuck) else { return Ok(()) };
        let why = transfer.flow.map_or_else(
            || "its request was not answered".to_owned(),
            |flow| {
                let flow = &self.flows[flow.index()];
                format!(
                    "its sender is {:?} with {} bytes in flight and a window of {:.0} bytes, its acknowledgement is {}",
                    flow.sender.state(),
                    flow.sender.in_flight(),
                    flow.sender.window().cwnd,
                    if flow.receiver.held.is_some() { "held" } else { "not held" }
                )
            },
        );
        Err(RunError::Stuck {
            seed: self.seed,
            at: self.now,
            transfer: self.transfers.iter().position(|other| std::ptr::eq(other, transfer)).unwrap_or(0),
            group: self.groups[transfer.group.index()].name.clone(),
            why,
        })
    }
}

/// Turns a world at its end into tables and totals.
pub(crate) fn collect<C: EventCore>(mut world: World, mut core: C) -> Outcome {
    let rows = Rows::of(&mut world, &mut core);
    let queues = queue_summaries(&world, &mut core);
    core.ledger().close(world.now);
    let mut summary = totals(&world, &mut core, &rows, &queues);
    let links = link_names(&world);
    let names: Vec<String> = world.groups.iter().map(|group| group.name.clone()).collect();
    let mut tables = vec![
        rows.table(&world, &names),
        queue_table(&world, &mut core, &queues, &links),
        link_table(&world, &mut core, links.clone()),
        request_table(&world, &names),
        delay_table(&world, &names),
        drop_table(&mut core, &links),
        std::mem::take(&mut world.probes).into_table(),
        trace_table(&world, &mut core),
    ];
    let end = world.now;
    tables.extend(core.ledger().bins.take().map(|bins: Bins| bins.into_table(names, end)));
    let mut hasher = Sha256::new();
    for table in &tables {
        debug_assert_eq!(table.check(), Ok(()));
        table.digest(&mut hasher);
    }
    hasher.update(serde_json::to_vec(&summary).unwrap_or_default());
    let digest: [u8; 32] = hasher.finalize().into();
    let (high, _) = digest.split_first_chunk::<16>().expect("a digest is longer");
    summary.shift_insert(0, "result_hash".to_owned(), json!(format!("{:032x}", u128::from_be_bytes(*high))));
    Outcome { summary, tables, capture: world.capture.map(super::capture::Capture::into_bytes) }
}

/// What is derived per transfer.
struct Row {
    counters: Counters,
    delivered: u64,
    fct: Option<f64>,
    ideal: Option<f64>,
}

struct Rows(Vec<Row>);

impl Rows {
    fn of<C: EventCore>(world: &mut World, core: &mut C) -> Self {
        let mut rows = Vec::with_capacity(world.transfers.len());
        for i in 0..world.transfers.len() {
            world.close_request(TransferId::new(i), core);
            let transfer = world.transfers[i].clone();
            let ideal = transfer.bytes.map(|bytes| ideal(world, &transfer, bytes).secs());
            let counters = transfer.flow.map_or_else(Counters::default, |flow| {
                let after = transfer.after.unwrap_or_else(|| world.counters(flow, core));
                after.since(&transfer.before)
            });
            let counters = counters.plus(&transfer.request_counters);
            let delivered = delivered(world, &transfer);
            let fct = transfer.completion.map(|end| (end - transfer.start).secs());
            rows.push(Row { counters, delivered, fct, ideal });
        }
        Self(rows)
    }

    fn table(&self, world: &World, groups: &[String]) -> Table {
        let transfers = &world.transfers;
        let per = |f: &dyn Fn(&Row) -> u64| Data::U64(self.0.iter().map(f).collect());
        let opt = |f: &dyn Fn(&Row) -> Option<f64>| Data::OptF64(self.0.iter().map(f).collect());
        let node = |f: &dyn Fn(&Transfer) -> NodeId| Data::U64(transfers.iter().map(|t| f(t).index() as u64).collect());
        let column = Column::new;
        let mut columns = vec![
            column(
                "flow",
                "",
                "Number of the transfer, in the order of planning.",
                Data::U64((0..self.0.len() as u64).collect()),
            ),
            column("group", "", "Traffic group.", label(transfers.iter().map(|t| t.group.index()), groups)),
            column("src", "", "Sending host.", node(&|t| t.from)),
            column("dst", "", "Receiving host.", node(&|t| t.to)),
            column(
                "query",
                "",
                "Query that it belongs to, if any.",
                Data::OptU64(transfers.iter().map(|t| t.query.map(|q| q as u64)).collect()),
            ),
            column(
                "bytes",
                "B",
                "Size; none for endless data.",
                Data::OptU64(transfers.iter().map(|t| t.bytes).collect()),
            ),
            column(
                "delivered_bytes",
                "B",
                "Payload that arrived in order by the end of the run.",
                per(&|row| row.delivered),
            ),
            column(
                "start_s",
                "s",
                "When its SYN, request or first byte left.",
                Data::F64(transfers.iter().map(|t| t.start.secs()).collect()),
            ),
            column(
                "completion_s",
                "s",
                "When its last byte arrived in order.",
                Data::OptF64(transfers.iter().map(|t| t.completion.map(Time::secs)).collect()),
            ),
            column("fct_s", "s", "Flow completion time: completion minus start.", opt(&|row| row.fct)),
            column(
                "ideal_s",
                "s",
                "Completion time alone in the network and with an unlimited window.",
                opt(&|row| row.ideal),
            ),
            column("slowdown", "1", "fct_s over ideal_s.", opt(&|row| Some(row.fct? / row.ideal?))),
            column(
                "goodput_bps",
                "bit/s",
                "Payload over completion time.",
                opt(&|row| Some(row.delivered as f64 * 8.0 / row.fct?)),
            ),
            column(
                "retransmissions",
                "1",
                "Segments and SYNs sent again, those of its request included.",
                per(&|row| row.counters.retransmissions),
            ),
            column(
                "timeouts",
                "1",
                "Expired retransmission timers, those of SYNs and of its request included.",
                per(&|row| row.counters.timeout_count()),
            ),
        ];
        for cause in TimeoutCause::ALL {
            let data = per(&|row| u64::from(row.counters.timeouts[cause as usize]));
            columns.push(column(cause.column(), "1", cause.description(), data));
        }
        columns.extend([
            column("marks", "1", "Its segments that were marked.", per(&|row| row.counters.marks)),
            column("drops", "1", "Its segments that were dropped.", per(&|row| row.counters.drops)),
            column(
                "failed",
                "",
                "The handshake was given up.",
                Data::Bool(transfers.iter().map(|t| t.failed).collect()),
            ),
        ]);
        Table { name: "flows", description: "One row per transfer.", columns }
    }
}

fn label(codes: impl Iterator<Item = usize>, names: &[String]) -> Data {
    Data::Label { codes: codes.map(|code| code as u32).collect(), names: names.to_vec() }
}

impl World {
    /// Payload of all finite transfers that has arrived in order.
    pub(crate) fn finite_delivered(&self) -> u64 {
        self.transfers
            .iter()
            .filter(|transfer| transfer.bytes.is_some())
            .map(|transfer| delivered(self, transfer))
            .sum()
    }
}

/// Bytes of a transfer that have arrived in order.
fn delivered(world: &World, transfer: &Transfer) -> u64 {
    if transfer.completion.is_some() {
        return transfer.bytes.unwrap_or(0);
    }
    let Some(flow) = transfer.flow.map(|flow| &world.flows[flow.index()]) else { return 0 };
    let arrived = flow.receiver.state.next() - crate::tcp::FIRST_DATA;
    let earlier = transfer.bytes.map_or(0, |bytes| flow.sender.data_end() - crate::tcp::FIRST_DATA - bytes);
    arrived.saturating_sub(earlier)
}

/// Completion time of a transfer that is alone and whose window is no limit: handshake, or request and think time,
/// then its segments back to back through every link of its path.
fn ideal(world: &mut World, transfer: &Transfer, bytes: u64) -> Time {
    let mss = world.endpoints[world.groups[transfer.group.index()].endpoint].sender.mss;
    let header = u64::from(world.header);
    let fresh = transfer.connection == Connection::Fresh;
    let (from, to) = (transfer.from, transfer.to);
    let mut before = Time::ZERO;
    if fresh {
        before += last_arrival(world, from, to, &[(header, 1)]) + last_arrival(world, to, from, &[(header, 1)]);
    }
    // The last packet of the handshake goes first.
    let handshake = (header, u64::from(fresh));
    let [full, rest] = segments(bytes, mss, header);
    let Some(request) = transfer.request else {
        return before.saturating_add(last_arrival(world, from, to, &[handshake, full, rest]));
    };
    let [ask, ask_rest] = segments(request.bytes, mss, header);
    let asked = last_arrival(world, to, from, &[handshake, ask, ask_rest]);
    let answered = last_arrival(world, from, to, &[full, rest]);
    (before + asked + request.think).saturating_add(answered)
}

/// Packets of equal size, one after the other: bytes on the wire, and how many.
type Train = (u64, u64);

fn segments(bytes: u64, mss: u64, header: u64) -> [Train; 2] {
    let (full, rest) = (bytes / mss, bytes % mss);
    [(mss + header, full), (rest + header, u64::from(rest > 0))]
}

/// When the last of these packets arrives if all are ready at time zero and nobody else sends.
///
/// Each link passes on each packet after the one before it and after the link before: the last arrival is the
/// heaviest way through this grid of packets by links, on which a train of equal packets takes its slowest link
/// for all but one of them. So the cost does not depend on the number of packets.
fn last_arrival(world: &mut World, from: NodeId, to: NodeId, trains: &[Train]) -> Time {
    let offset = world.paths.between(from, to, &world.topology)[0];
    let links: Vec<_> = world.paths.links(offset).map(|link| world.topology.links[link.index()]).collect();
    let ps: Vec<u64> = links.iter().map(|link| u64::from(link.rate.ps_per_byte().unwrap_or(0))).collect();
    // Heaviest way so far that ends at each link.
    let mut heaviest: Vec<Option<u64>> = vec![None; links.len()];
    heaviest[0] = Some(0);
    for &(size, count) in trains.iter().filter(|(_, count)| *count > 0) {
        let mut through = vec![None; links.len()];
        for (first, reached) in heaviest.iter().enumerate().filter_map(|(i, reached)| Some((i, (*reached)?))) {
            let (mut sum, mut slowest) = (0, 0);
            for last in first..links.len() {
                sum += ps[last];
                slowest = slowest.max(ps[last]);
                // Saturates where a time has no room for it, after 213 days.
                let rest = (count - 1).saturating_mul(slowest).saturating_add(sum);
                through[last] = through[last].max(Some(size.saturating_mul(rest).saturating_add(reached)));
            }
        }
        heaviest = through;
    }
    Time::from_ps(heaviest[links.len() - 1].unwrap_or(0)).saturating_add(links.iter().map(|link| link.delay).sum())
}

/// The queue statistics of every observed port.
fn queue_summaries<C: EventCore>(world: &World, core: &mut C) -> Vec<(LinkId, QueueSummary)> {
    let now = world.now;
    let queues = core.ledger().queues.iter_mut().enumerate();
    queues.filter_map(|(i, queue)| Some((LinkId::new(i), queue.as_mut()?.stats.finish(now)))).collect()
}

fn totals<C: EventCore>(
    world: &World,
    core: &mut C,
    rows: &Rows,
    queues: &[(LinkId, QueueSummary)],
) -> Map<String, Value> {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| drop(out.insert(name.to_owned(), value));
    let start = world.window_start.unwrap_or(Time::ZERO);
    let window = (world.now.saturating_sub(start)).secs();
    let rate = |bytes: u64| if window > 0.0 { json!(bytes as f64 * 8.0 / window) } else { Value::Null };
    let all: u64 = world.groups.iter().map(|group| group.delivered - group.delivered_before).sum();
    put("goodput_bps", rate(all));
    put("goodput_finite_bps", rate(world.finite_delivered() - world.finite_before));
    let mut fcts: Vec<f64> = rows.0.iter().filter_map(|row| row.fct).collect();
    fcts.sort_by(f64::total_cmp);
    put("fct_mean_s", json!(mean(&fcts)));
    for (name, q) in [("fct_p50_s", 0.5), ("fct_p95_s", 0.95), ("fct_p99_s", 0.99), ("fct_max_s", 1.0)] {
        put(name, json!(percentile_nearest_rank(&fcts, q)));
    }
    let mut query: Vec<f64> = world.queries.iter().filter_map(|q| Some((q.completion? - q.start).secs())).collect();
    query.sort_by(f64::total_cmp);
    put("query_mean_s", json!(mean(&query)));
    put("query_p99_s", json!(percentile_nearest_rank(&query, 0.99)));
    let goodputs: Vec<f64> = rows.0.iter().filter_map(|row| Some(row.delivered as f64 / row.fct?)).collect();
    put("jain", json!(jain(&goodputs)));
    put("flows", json!(world.transfers.len()));
    put("completed", json!(fcts.len()));
    let failed = world.transfers.iter().filter(|t| t.failed).count();
    put("failed", json!(failed));
    let finite_flows = world.transfers.iter().filter(|t| t.bytes.is_some()).count();
    put("incomplete", json!(finite_flows - fcts.len()));
    let count = |f: &dyn Fn(&Counters) -> u64| rows.0.iter().map(|row| f(&row.counters)).sum::<u64>();
    put("retransmissions", json!(count(&|c| c.retransmissions)));
    put("timeouts", json!(count(&Counters::timeout_count)));
    for cause in TimeoutCause::ALL {
        put(cause.column(), json!(count(&|c| u64::from(c.timeouts[cause as usize]))));
    }
    put("segments_received", json!(world.flows.iter().map(|flow| flow.receiver.segments).sum::<u64>()));
    let hit = rows.0.iter().filter(|row| row.counters.timeout_count() > 0).count();
    put("timeout_ratio", if rows.0.is_empty() { Value::Null } else { json!(hit as f64 / rows.0.len() as f64) });
    let ledger = core.ledger();
    put("drops", json!(ledger.drops.iter().sum::<u64>()));
    for reason in DropReason::ALL {
        put(&format!("drops_{}", reason.name().replace('-', "_")), json!(ledger.drops[reason as usize]));
    }
    put("marks", json!(ledger.marks()));
    put("would_mark", json!(ledger.would_mark()));
    if let Some((_, queue)) = queues.iter().find(|(link, _)| *link == world.topology.bottleneck) {
        put("queue_mean_packets", json!(queue.packets.mean_time_weighted));
        put("queue_mean_busy_packets", json!(queue.packets.mean_while_busy));
        put("queue_mean_changes_packets", json!(queue.packets.mean_of_changes));
        put("queue_p50_packets", json!(queue.p50));
        put("queue_p95_packets", json!(queue.p95));
        put("queue_p99_packets", json!(queue.p99));
        put("queue_max_packets", json!(queue.packets.max));
    } else {
        put("queue_mean_packets", Value::Null);
        put("queue_max_packets", Value::Null);
    }
    put("control_messages", json!(world.channel.messages));
    put("control_bytes", json!(world.channel.bytes));
    put("window_start_s", json!(start.secs()));
    put("simulated_s", json!(world.now.secs()));
    put("packet_hops", json!(world.hops));
    put("events", json!(world.events));
    out
}

/// Readable names of all links. Made once: an incast loses thousands of packets at one port.
fn link_names(world: &World) -> Vec<String> {
    world.topology.links.iter().map(|spec| format!("{}->{}", spec.from, spec.to)).collect()
}

fn queue_table<C: EventCore>(
    world: &World,
    core: &mut C,
    queues: &[(LinkId, QueueSummary)],
    links: &[String],
) -> Table {
    let column = Column::new;
    let real = |f: &dyn Fn(&QueueSummary) -> f64| Data::F64(queues.iter().map(|(_, q)| f(q)).collect());
    let opt = |f: &dyn Fn(&QueueSummary) -> Option<f64>| Data::OptF64(queues.iter().map(|(_, q)| f(q)).collect());
    let int = |f: &dyn Fn(&QueueSummary) -> u64| Data::U64(queues.iter().map(|(_, q)| f(q)).collect());
    let book = |f: &dyn Fn(&super::ledger::PortBook) -> u64, core: &mut C| {
        Data::U64(queues.iter().map(|(link, _)| f(&core.ledger().ports[link.index()])).collect())
    };
    let names = queues.iter().map(|(link, _)| links[link.index()].clone()).collect();
    let bottleneck = queues.iter().map(|(link, _)| *link == world.topology.bottleneck).collect();
    Table {
        name: "queues",
        description: "Backlog of observed ports, the packet in transmission included, from the first finite start (or the end of the warm-up) on.",
        columns: vec![
            column("port", "", "Switch and next node.", Data::Text(names)),
            column("bottleneck", "", "The port where incast is expected.", Data::Bool(bottleneck)),
            column(
                "mean_packets",
                "pkt",
                "Time-weighted mean over the whole window.",
                real(&|q| q.packets.mean_time_weighted),
            ),
            column(
                "mean_busy_packets",
                "pkt",
                "Time-weighted mean while not empty.",
                opt(&|q| q.packets.mean_while_busy),
            ),
            column(
                "mean_changes_packets",
                "pkt",
                "Unweighted mean of the values after every enqueue and dequeue.",
                opt(&|q| q.packets.mean_of_changes),
            ),
            column("p5_packets", "pkt", "5th percentile over time, nearest rank.", int(&|q| q.p5)),
            column("p50_packets", "pkt", "Median over time.", int(&|q| q.p50)),
            column("p95_packets", "pkt", "95th percentile over time.", int(&|q| q.p95)),
            column("p99_packets", "pkt", "99th percentile over time.", int(&|q| q.p99)),
            column("max_packets", "pkt", "Maximum.", int(&|q| q.packets.max)),
            column(
                "mean_bytes",
                "B",
                "Time-weighted mean over the whole window.",
                real(&|q| q.bytes.mean_time_weighted),
            ),
            column("max_bytes", "B", "Maximum.", int(&|q| q.bytes.max)),
            column("drops", "1", "Packets dropped, over the whole run.", book(&|b| b.drops, core)),
            column("marks", "1", "Packets marked, over the whole run.", book(&|b| b.marks, core)),
            column(
                "would_mark",
                "1",
                "Packets that met the marking threshold, ECN-capable or not.",
                book(&|b| b.would_mark, core),
            ),
        ],
    }
}

fn link_table<C: EventCore>(world: &World, core: &mut C, link_names: Vec<String>) -> Table {
    let links = 0..world.topology.links.len();
    let spans = world.now.secs();
    let bytes: Vec<u64> = links.clone().map(|i| core.bytes_out(LinkId::new(i), world.now)).collect();
    let rate = |i: usize| world.topology.links[i].rate.bps();
    let used = |i: usize| if spans > 0.0 { bytes[i] as f64 * 8.0 / spans / rate(i) as f64 } else { 0.0 };
    let column = Column::new;
    Table {
        name: "links",
        description: "Load of every link over the whole run.",
        columns: vec![
            column("link", "", "From and to.", Data::Text(link_names)),
            column("rate_bps", "bit/s", "Rate.", Data::U64(links.clone().map(rate).collect())),
            column(
                "utilisation",
                "1",
                "Share of the rate over the whole run.",
                Data::F64(links.clone().map(used).collect()),
            ),
            column(
                "drops",
                "1",
                "Packets dropped at its port.",
                Data::U64(links.map(|i| core.ledger().ports[i].drops).collect()),
            ),
            column("bytes", "B", "Bytes sent, headers included.", Data::U64(bytes)),
        ],
    }
}

fn request_table(world: &World, groups: &[String]) -> Table {
    let queries = &world.queries;
    let column = Column::new;
    let int = |f: &dyn Fn(&super::transfers::Query) -> u64| Data::U64(queries.iter().map(f).collect());
    Table {
        name: "requests",
        description: "One row per query: transfers that are asked for together.",
        columns: vec![
            column("query", "", "Number.", Data::U64((0..queries.len() as u64).collect())),
            column("group", "", "Traffic group.", label(queries.iter().map(|q| q.group.index()), groups)),
            column("fan_in", "1", "Transfers in it.", int(&|q| q.fan_in)),
            column("bytes", "B", "Their bytes together.", int(&|q| q.bytes)),
            column(
                "start_s",
                "s",
                "Start of the first transfer.",
                Data::F64(queries.iter().map(|q| q.start.secs()).collect()),
            ),
            column(
                "completion_s",
                "s",
                "Completion of the last transfer.",
                Data::OptF64(queries.iter().map(|q| q.completion.map(Time::secs)).collect()),
            ),
            column(
                "qct_s",
                "s",
                "Query completion time.",
                Data::OptF64(queries.iter().map(|q| Some((q.completion? - q.start).secs())).collect()),
            ),
            column(
                "slowest_flow",
                "",
                "The transfer that completed last.",
                Data::OptU64(queries.iter().map(|q| q.slowest.map(|t| t.index() as u64)).collect()),
            ),
        ],
    }
}

fn delay_table(world: &World, groups: &[String]) -> Table {
    let rows: Vec<_> = world.delays.iter().enumerate().filter_map(|(i, delay)| Some((i, delay.summary()?))).collect();
    let column = Column::new;
    let real =
        |f: &dyn Fn(&crate::measure::delay::DelaySummary) -> f64| Data::F64(rows.iter().map(|(_, d)| f(d)).collect());
    Table {
        name: "delays",
        description: "One-way delay of data packets, from the sender's interface to the receiver, by traffic group.",
        columns: vec![
            column("group", "", "Traffic group.", label(rows.iter().map(|(i, _)| *i), groups)),
            column(
                "packets",
                "1",
                "Data packets that arrived.",
                Data::U64(rows.iter().map(|(_, d)| d.packets).collect()),
            ),
            column("mean_s", "s", "Mean.", real(&|d| d.mean_s)),
            column("p50_s", "s", "Median, within 1/64.", real(&|d| d.p50.secs())),
            column("p95_s", "s", "95th percentile, within 1/64.", real(&|d| d.p95.secs())),
            column("p99_s", "s", "99th percentile, within 1/64.", real(&|d| d.p99.secs())),
            column("max_s", "s", "Maximum.", real(&|d| d.max.secs())),
            column("std_s", "s", "Standard deviation.", real(&|d| d.standard_deviation_s)),
            column(
                "jitter_s",
                "s",
                "Mean absolute difference between consecutive packets of a flow.",
                Data::OptF64(rows.iter().map(|(_, d)| d.mean_absolute_difference_s).collect()),
            ),
        ],
    }
}

fn drop_table<C: EventCore>(core: &mut C, links: &[String]) -> Table {
    let log = std::mem::take(&mut core.ledger().drop_log);
    let reasons: Vec<String> = DropReason::ALL.iter().map(|reason| reason.name().to_owned()).collect();
    let column = Column::new;
    Table {
        name: "drops",
        description: "Lost packets, the first 100,000 of them; totals count all.",
        columns: vec![
            column("time_s", "s", "When.", Data::F64(log.iter().map(|row| row.at.secs()).collect())),
            column("port", "", "Where.", Data::Text(log.iter().map(|row| links[row.link.index()].clone()).collect())),
            column(
                "connection",
                "",
                "Flow handle of the packet's connection.",
                Data::U64(log.iter().map(|row| row.flow.index() as u64).collect()),
            ),
            column("reason", "", "Why.", label(log.iter().map(|row| row.reason as usize), &reasons)),
            column(
                "seq",
                "B",
                "Sequence or acknowledgement number, modulo 2^32.",
                Data::U64(log.iter().map(|row| u64::from(row.seq)).collect()),
            ),
            column("ack", "", "It was an acknowledgement.", Data::Bool(log.iter().map(|row| row.ack).collect())),
            column(
                "retransmitted",
                "",
                "It had been sent before.",
                Data::Bool(log.iter().map(|row| row.retransmitted).collect()),
            ),
        ],
    }
}

fn trace_table<C: EventCore>(world: &World, core: &mut C) -> Table {
    let bottleneck = world.topology.bottleneck;
    let trace = core.ledger().queues[bottleneck.index()].as_mut().and_then(|monitor| monitor.trace.take());
    let mut table = trace.unwrap_or_default().into_table();
    table.name = "queue-trace";
    if !world.samples.is_empty() {
        let samples: Vec<_> = world.samples.iter().filter(|(_, link, _)| *link == bottleneck).collect();
        let mut trace = crate::measure::queue::Trace::new();
        for (at, _, backlog) in samples {
            trace.on_change(*at, backlog.packets, crate::units::Bytes::new(backlog.bytes));
        }
        table = Table { name: "queue-trace", ..trace.into_table() };
    }
    table
}

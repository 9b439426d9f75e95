//! The tables of a run: a row per transfer, port, link, query, group and loss.

use crate::ids::{LinkId, NodeId, TransferId};
use crate::measure::bins::BinnedPort;
use crate::measure::queue::QueueSummary;
use crate::measure::table::{Column, Data, Table};
use crate::roles::DropReason;
use crate::sim::event::{EventCore, PortAudit};
use crate::sim::ideal::{ideal, standalone};
use crate::sim::transfers::{Counters, TimeoutCause, Transfer};
use crate::sim::world::World;
use crate::units::Time;

/// What is derived per transfer.
pub(crate) struct Row {
    pub(crate) counters: Counters,
    pub(crate) delivered: u64,
    pub(crate) fct: Option<f64>,
    pub(crate) ideal: Option<f64>,
    /// The yardstick of HPCC.
    pub(crate) standalone: Option<f64>,
    /// Payload per second: over the completion time, or for a transfer that is not complete over its part of the
    /// window of goodput.
    pub(crate) rate: Option<f64>,
}

pub(crate) struct Rows(pub(crate) Vec<Row>);

impl Rows {
    pub(crate) fn of<C: EventCore>(world: &mut World, core: &mut C) -> Self {
        let mut rows = Vec::with_capacity(world.transfers.len());
        for i in 0..world.transfers.len() {
            world.close_request(TransferId::new(i), core);
            let transfer = world.transfers[i].clone();
            let ideal = transfer.bytes.map(|bytes| ideal(world, &transfer, bytes).secs());
            let standalone = transfer.bytes.map(|bytes| standalone(world, &transfer, bytes).secs());
            let counters = transfer.flow.map_or_else(Counters::default, |flow| {
                let after = transfer.after.unwrap_or_else(|| world.counters(flow, core));
                after.since(&transfer.before)
            });
            let counters = counters.plus(&transfer.request_counters);
            let delivered = delivered(world, &transfer);
            let finite = transfer.completion.filter(|_| transfer.bytes.is_some());
            let fct = finite.map(|end| (end - transfer.start).secs());
            let rate =
                fct.map_or_else(|| unfinished_rate(world, &transfer, delivered), |fct| Some(delivered as f64 / fct));
            rows.push(Row { counters, delivered, fct, ideal, standalone, rate });
        }
        Self(rows)
    }

    /// What each transfer is.
    fn identity(&self, world: &World, groups: &[String]) -> Vec<Column> {
        let transfers = &world.transfers;
        let node = |f: &dyn Fn(&Transfer) -> NodeId| Data::U64(transfers.iter().map(|t| f(t).index() as u64).collect());
        let column = Column::new;
        vec![
            column(
                "flow",
                "",
                "Number of the transfer, in the order of planning.",
                Data::U64((0..self.0.len() as u64).collect()),
            ),
            column("group", "", "Traffic group.", label(transfers.iter().map(|t| t.group.index()), groups)),
            column(
                "class",
                "",
                "Its class, if a list of flows gives it one, else the traffic group.",
                class(world, groups),
            ),
            column("src", "", "Sending host.", node(&|t| t.from)),
            column("dst", "", "Receiving host.", node(&|t| t.to)),
            column(
                "connection",
                "",
                "Flow handle of its connection, once it has begun.",
                Data::OptU64(transfers.iter().map(|t| t.flow.map(|flow| flow.index() as u64)).collect()),
            ),
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
        ]
    }

    /// When it came, and how fast.
    fn timing(&self, world: &World) -> Vec<Column> {
        let transfers = &world.transfers;
        let per = |f: &dyn Fn(&Row) -> u64| Data::U64(self.0.iter().map(f).collect());
        let opt = |f: &dyn Fn(&Row) -> Option<f64>| Data::OptF64(self.0.iter().map(f).collect());
        let column = Column::new;
        vec![
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
            column(
                "deadline_s",
                "s",
                "When its last byte should have arrived; none if it is in no hurry.",
                Data::OptF64(transfers.iter().map(|t| t.deadline.map(Time::secs)).collect()),
            ),
            column(
                "fct_s",
                "s",
                "Flow completion time: completion minus start; none for endless data, even if it was stopped.",
                opt(&|row| row.fct),
            ),
            column(
                "ideal_s",
                "s",
                "Completion time alone in the network and with an unlimited window.",
                opt(&|row| row.ideal),
            ),
            column(
                "ideal_hpcc_s",
                "s",
                "Base round trip plus wire bytes over the path's lowest rate: what HPCC divides by.",
                opt(&|row| row.standalone),
            ),
            column("slowdown", "1", "fct_s over ideal_s.", opt(&|row| Some(row.fct? / row.ideal?))),
            column(
                "goodput_bps",
                "bit/s",
                "Payload over completion time; of a transfer without one, over its part of the window of goodput.",
                opt(&|row| Some(row.rate? * 8.0)),
            ),
        ]
    }

    /// What was lost and marked.
    fn trouble(&self, world: &World) -> Vec<Column> {
        let transfers = &world.transfers;
        let per = |f: &dyn Fn(&Row) -> u64| Data::U64(self.0.iter().map(f).collect());
        let column = Column::new;
        let mut columns = vec![
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
            column("loss_probes", "1", "Tail loss probes sent (RFC 8985).", per(&|row| row.counters.loss_probes)),
            column("marks", "1", "Its segments that were marked.", per(&|row| row.counters.marks)),
            column("drops", "1", "Its segments that were dropped.", per(&|row| row.counters.drops)),
            column(
                "failed",
                "",
                "The handshake was given up.",
                Data::Bool(transfers.iter().map(|t| t.failed).collect()),
            ),
        ]);
        columns
    }

    /// The table of flows.
    pub(crate) fn table(&self, world: &World, groups: &[String]) -> Table {
        let parts = [self.identity(world, groups), self.timing(world), self.trouble(world)];
        let columns = parts.into_iter().flatten().collect();
        Table { name: "flows", description: "One row per transfer.", columns }
    }
}

fn label(codes: impl Iterator<Item = usize>, names: &[String]) -> Data {
    Data::Label { codes: codes.map(|code| code as u32).collect(), names: names.to_vec() }
}

/// The class of each transfer; groups of one name as a class share it.
fn class(world: &World, groups: &[String]) -> Data {
    let mut names = groups.to_vec();
    let mut offsets = Vec::new();
    for group in &world.groups {
        let classes = group.traffic.classes();
        let known = |class: &String| names.iter().position(|name| name == class);
        let places: Vec<Option<usize>> = classes.iter().map(known).collect();
        offsets.push(
            places
                .into_iter()
                .zip(classes)
                .map(|(place, class)| {
                    place.unwrap_or_else(|| {
                        names.push(class.clone());
                        names.len() - 1
                    })
                })
                .collect::<Vec<usize>>(),
        );
    }
    let code = |transfer: &Transfer| {
        let group = transfer.group.index();
        transfer.class.map_or(group, |class| offsets[group][class as usize])
    };
    label(world.transfers.iter().map(code), &names)
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

/// Payload per second of a transfer without completion time, from the opening of the window of goodput on.
fn unfinished_rate(world: &World, transfer: &Transfer, delivered: u64) -> Option<f64> {
    let from = transfer.start.max(world.window_start.unwrap_or(Time::ZERO));
    let span = transfer.completion.unwrap_or(world.now).saturating_sub(from).secs();
    (span > 0.0 && !transfer.failed).then(|| (delivered - transfer.delivered_before) as f64 / span)
}

/// Bytes of a transfer that have arrived in order.
pub(crate) fn delivered(world: &World, transfer: &Transfer) -> u64 {
    if transfer.completion.is_some() {
        return transfer.bytes.or(transfer.stopped_at).unwrap_or(0);
    }
    let Some(flow) = transfer.flow.map(|flow| &world.flows[flow.index()]) else { return 0 };
    let arrived = flow.receiver.state.next() - crate::tcp::FIRST_DATA;
    let earlier = transfer.bytes.map_or(0, |bytes| flow.sender.data_end() - crate::tcp::FIRST_DATA - bytes);
    arrived.saturating_sub(earlier)
}

/// The queue statistics of every observed port.
pub(crate) fn queue_summaries<C: EventCore>(world: &World, core: &mut C) -> Vec<(LinkId, QueueSummary)> {
    let now = world.now;
    let queues = core.ledger().queues.iter_mut().enumerate();
    queues.filter_map(|(i, queue)| Some((LinkId::new(i), queue.as_mut()?.stats.finish(now)))).collect()
}

/// Readable names of all links. Made once: an incast loses thousands of packets at one port.
pub(crate) fn link_names(world: &World) -> Vec<String> {
    world.topology.link_names()
}

pub(crate) fn queue_table<C: EventCore>(
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

pub(crate) fn link_table<C: EventCore>(world: &World, core: &mut C, link_names: Vec<String>) -> Table {
    let links = 0..world.topology.links.len();
    let spans = world.now.secs();
    let bytes: Vec<u64> = core.audit(world.now).iter().map(PortAudit::departed).collect();
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

/// What happened in each time bin, to groups and at observed ports, if that was asked for.
pub(crate) fn bin_tables<C: EventCore>(
    world: &World,
    core: &mut C,
    groups: Vec<String>,
    links: &[String],
) -> Option<[Table; 2]> {
    let mut bins = core.ledger().bins.take()?;
    for transfer in world.transfers.iter().filter(|transfer| !transfer.failed && transfer.start <= world.now) {
        bins.add_transfer(transfer.group, transfer.start, transfer.completion.unwrap_or(world.now));
    }
    let port =
        |link: LinkId| BinnedPort { link: links[link.index()].clone(), rate: world.topology.links[link.index()].rate };
    let ports: Vec<BinnedPort> = core.ledger().observed().map(port).collect();
    let watched = core.ledger().observed().position(|link| link == world.topology.bottleneck);
    Some(bins.into_tables(groups, &ports, watched, world.now))
}

pub(crate) fn request_table(world: &World, groups: &[String]) -> Table {
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

pub(crate) fn delay_table(world: &World, groups: &[String]) -> Table {
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

pub(crate) fn drop_table<C: EventCore>(core: &mut C, links: &[String]) -> Table {
    let log = std::mem::take(&mut core.ledger().drop_log);
    let reasons: Vec<String> = DropReason::ALL.iter().map(|reason| reason.name().to_owned()).collect();
    let column = Column::new;
    Table {
        name: "drops",
        description: "Lost packets, the first 100,000 of them; totals count all.",
        columns: vec![
            column("time_s", "s", "When.", Data::F64(log.iter().map(|row| row.at.secs()).collect())),
            column("port", "", "Where.", label(log.iter().map(|row| row.link.index()), links)),
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

pub(crate) fn trace_table<C: EventCore>(world: &World, core: &mut C) -> Table {
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

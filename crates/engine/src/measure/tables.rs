//! The tables of a run: a row per transfer, port, link, query, group and loss.

use crate::event::{EventCore, PortAudit};
use crate::ids::LinkId;
use crate::measure::bins::{BinnedPort, Bins};
use crate::measure::delay::{DelayStats, DelaySummary};
use crate::measure::flow_table::FlowTable;
use crate::measure::probes::Probes;
use crate::measure::queue::{QueueSummary, Trace};
use crate::measure::rows::{Row, Rows};
use crate::measure::table::{Column, Data, Table};
use crate::measure::total::Heading;
use crate::net::books::{DropRecord, PortBook};
use crate::roles::DropReason;
use crate::sim::world::World;
use crate::units::Time;
use crate::work::ideal::Alone;
use crate::work::transfer::{Counters, Query, Transfer};
use std::io;

/// Every table that a run may have, without rows: their columns are declared by what makes them.
pub(crate) fn empty_tables() -> Vec<Table> {
    let flows = FlowTable::new(Rows::default(), 0, &[]).whole();
    let (probes, more_probes) = Probes::new(Vec::new(), 0, true, true).into_tables();
    let bins = Bins::new(Time::from_ns(1), 0, 0).into_tables(Vec::new(), &[], None, Time::ZERO);
    flows
        .into_iter()
        .chain([
            table_of_queues(&[]),
            table_of_links(&[]),
            request_table(&[], &[]),
            delay_table(&[], &[]),
            drop_table(&[], &[]),
            probes,
            Trace::new().into_table(),
        ])
        .chain(more_probes)
        .chain(bins)
        .collect()
}

/// What remains of a transfer: all of it, if it is over, else what it is now.
pub(crate) fn row<C: EventCore>(world: &mut World, transfer: &Transfer, core: &mut C) -> Row {
    let counters = transfer.flow.map_or_else(Counters::default, |flow| {
        let after = transfer.after.unwrap_or_else(|| world.counters(flow, core));
        after.since(&transfer.before)
    });
    let delivered = delivered(world, transfer);
    let alone = Alone::between(world, transfer.from, transfer.to);
    let row = Row {
        group: transfer.group,
        from: transfer.from,
        to: transfer.to,
        class: transfer.class,
        flow: transfer.flow,
        query: transfer.query.map(|query| query as u32),
        bytes: transfer.bytes,
        delivered,
        start: transfer.start,
        completion: transfer.completion,
        deadline: transfer.deadline,
        ideal: transfer.bytes.map(|bytes| alone.ideal(transfer, bytes)),
        standalone: transfer.bytes.map(|bytes| alone.standalone(transfer, bytes)),
        rate: None,
        counters: counters.plus(&transfer.request_counters),
        failed: transfer.failed,
    };
    let unfinished = || unfinished_rate(world, transfer, delivered);
    Row { rate: row.fct().map_or_else(unfinished, |fct| Some(delivered as f64 / fct)), ..row }
}

fn label(codes: impl Iterator<Item = usize>, names: &[String]) -> Data {
    Data::Label { codes: codes.map(|code| code as u32).collect(), names: names.to_vec() }
}

impl World {
    /// Payload of all finite transfers that has arrived in order.
    pub(crate) fn finite_delivered(&self) -> u64 {
        let finite = self.transfers.open().filter(|(_, transfer)| transfer.bytes.is_some());
        self.transfers.finite_over + finite.map(|(_, transfer)| delivered(self, transfer)).sum::<u64>()
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
    let Some(flow) = transfer.flow.map(|flow| &world.flows[flow]) else { return 0 };
    let arrived = flow.receiver.state.next() - crate::tcp::FIRST_DATA;
    let earlier = transfer.bytes.map_or(0, |bytes| flow.sender.data_end() - crate::tcp::FIRST_DATA - bytes);
    arrived.saturating_sub(earlier)
}

/// The queue statistics of every observed port.
pub(crate) fn queue_summaries<C: EventCore>(world: &World, core: &mut C) -> Vec<(LinkId, QueueSummary)> {
    let now = world.now;
    let queues = core.books().queues.iter_mut().enumerate();
    queues.filter_map(|(i, queue)| Some((LinkId::new(i), queue.as_mut()?.stats.finish(now)))).collect()
}

/// Readable names of all links. Made once: an incast loses thousands of packets at one port.
pub(crate) fn link_names(world: &World) -> Vec<String> {
    world.topology.link_names()
}

/// A port that was observed, and what became of the packets there.
struct Observed<'a> {
    name: String,
    bottleneck: bool,
    queue: &'a QueueSummary,
    book: &'a PortBook,
}

pub(crate) fn queue_table<C: EventCore>(
    world: &World,
    core: &mut C,
    queues: &[(LinkId, QueueSummary)],
    links: &[String],
) -> Table {
    let ports = &core.books().ports;
    let rows: Vec<_> = queues
        .iter()
        .map(|(link, queue)| Observed {
            name: links[link.index()].clone(),
            bottleneck: *link == world.topology.bottleneck,
            queue,
            book: &ports[link.index()],
        })
        .collect();
    table_of_queues(&rows)
}

fn table_of_queues(rows: &[Observed<'_>]) -> Table {
    let column = Column::new;
    let real = |f: &dyn Fn(&QueueSummary) -> f64| Data::F64(rows.iter().map(|row| f(row.queue)).collect());
    let opt = |f: &dyn Fn(&QueueSummary) -> Option<f64>| Data::OptF64(rows.iter().map(|row| f(row.queue)).collect());
    let int = |f: &dyn Fn(&QueueSummary) -> u64| Data::U64(rows.iter().map(|row| f(row.queue)).collect());
    let book = |f: &dyn Fn(&PortBook) -> u64| Data::U64(rows.iter().map(|row| f(row.book)).collect());
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let bottleneck = rows.iter().map(|row| row.bottleneck).collect();
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
            column("drops", "1", "Packets dropped, over the whole run.", book(&|b| b.drops)),
            column("marks", "1", "Packets marked, over the whole run.", book(&|b| b.marks)),
            column(
                "would_mark",
                "1",
                "Packets that met the marking threshold, ECN-capable or not.",
                book(&|b| b.would_mark),
            ),
        ],
    }
}

/// A link and what it carried.
struct Load {
    name: String,
    rate: u64,
    used: f64,
    drops: u64,
    bytes: u64,
}

pub(crate) fn link_table<C: EventCore>(world: &World, core: &mut C, link_names: Vec<String>) -> Table {
    let spans = world.now.secs();
    let bytes: Vec<u64> = core.audit(world.now).iter().map(PortAudit::departed).collect();
    let load = |(i, name): (usize, String)| {
        let rate = world.topology.links[i].rate.bps();
        let used = if spans > 0.0 { bytes[i] as f64 * 8.0 / spans / rate as f64 } else { 0.0 };
        Load { name, rate, used, drops: core.books().ports[i].drops, bytes: bytes[i] }
    };
    table_of_links(&link_names.into_iter().enumerate().map(load).collect::<Vec<_>>())
}

fn table_of_links(rows: &[Load]) -> Table {
    let column = Column::new;
    let int = |f: &dyn Fn(&Load) -> u64| Data::U64(rows.iter().map(f).collect());
    Table {
        name: "links",
        description: "Load of every link over the whole run.",
        columns: vec![
            column("link", "", "From and to.", Data::Text(rows.iter().map(|row| row.name.clone()).collect())),
            column("rate_bps", "bit/s", "Rate.", int(&|row| row.rate)).headed(Heading::new("Rate of the link")),
            column(
                "utilisation",
                "1",
                "Share of the rate over the whole run.",
                Data::F64(rows.iter().map(|row| row.used).collect()),
            )
            .headed(Heading::new("Utilisation of the link").shown_in("%").more()),
            column("drops", "1", "Packets dropped at its port.", int(&|row| row.drops)),
            column("bytes", "B", "Bytes sent, headers included.", int(&|row| row.bytes)),
        ],
    }
}

/// What happened in each time bin, to groups and at observed ports, if that was asked for.
pub(crate) fn bin_tables<C: EventCore>(
    world: &World,
    core: &mut C,
    flows: &FlowTable,
    groups: Vec<String>,
    links: &[String],
) -> io::Result<Option<[Table; 2]>> {
    let Some(mut bins) = core.books().bins.take() else { return Ok(None) };
    flows.for_each(|row| {
        if !row.failed && row.start <= world.now {
            bins.add_transfer(row.group, row.start, row.completion.unwrap_or(world.now));
        }
    })?;
    let port =
        |link: LinkId| BinnedPort { link: links[link.index()].clone(), rate: world.topology.links[link.index()].rate };
    let ports: Vec<BinnedPort> = core.books().observed().map(port).collect();
    let watched = core.books().observed().position(|link| link == world.topology.bottleneck);
    Ok(Some(bins.into_tables(groups, &ports, watched, world.now)))
}

pub(crate) fn request_table(queries: &[Query], groups: &[String]) -> Table {
    let column = Column::new;
    let int = |f: &dyn Fn(&Query) -> u64| Data::U64(queries.iter().map(f).collect());
    Table {
        name: "requests",
        description: "One row per query: transfers that are asked for together.",
        columns: vec![
            column("query", "", "Number.", Data::U64((0..queries.len() as u64).collect())),
            column("group", "", "Traffic group.", label(queries.iter().map(|q| q.group.index()), groups))
                .headed(Heading::GROUP),
            column("fan_in", "1", "Transfers in it.", int(&|q| q.fan_in)),
            column("bytes", "B", "Their bytes together.", int(&|q| q.bytes)).headed(Heading::new("Size")),
            column(
                "start_s",
                "s",
                "Start of the first transfer.",
                Data::F64(queries.iter().map(|q| q.start.secs()).collect()),
            )
            .headed(Heading::new("Start of the query").shown_in("s")),
            column(
                "completion_s",
                "s",
                "Completion of the last transfer.",
                Data::OptF64(queries.iter().map(|q| q.completion.map(Time::secs)).collect()),
            )
            .headed(Heading::new("Completion of the query").shown_in("s").less()),
            column(
                "qct_s",
                "s",
                "Query completion time.",
                Data::OptF64(queries.iter().map(|q| Some((q.completion? - q.start).secs())).collect()),
            )
            .headed(Heading::new("Query completion time").less()),
            column(
                "slowest_flow",
                "",
                "The transfer that completed last.",
                Data::OptU64(queries.iter().map(|q| q.slowest.map(|t| t.index() as u64)).collect()),
            ),
        ],
    }
}

pub(crate) fn delay_table(delays: &[DelayStats], groups: &[String]) -> Table {
    let rows: Vec<_> = delays.iter().enumerate().filter_map(|(i, delay)| Some((i, delay.summary()?))).collect();
    let column = Column::new;
    let real = |f: &dyn Fn(&DelaySummary) -> f64| Data::F64(rows.iter().map(|(_, d)| f(d)).collect());
    Table {
        name: "delays",
        description: "One-way delay of data packets, from the sender's interface to the receiver, by traffic group.",
        columns: vec![
            column("group", "", "Traffic group.", label(rows.iter().map(|(i, _)| *i), groups)).headed(Heading::GROUP),
            column(
                "packets",
                "1",
                "Data packets that arrived.",
                Data::U64(rows.iter().map(|(_, d)| d.packets).collect()),
            ),
            column("mean_s", "s", "Mean.", real(&|d| d.mean_s))
                .headed(Heading::new("One-way delay of a packet, mean").less()),
            column("p50_s", "s", "Median, within 1/64.", real(&|d| d.p50.secs()))
                .headed(Heading::new("One-way delay of a packet, median").less()),
            column("p95_s", "s", "95th percentile, within 1/64.", real(&|d| d.p95.secs()))
                .headed(Heading::new("One-way delay of a packet, 95th percentile").less()),
            column("p99_s", "s", "99th percentile, within 1/64.", real(&|d| d.p99.secs()))
                .headed(Heading::new("One-way delay of a packet, 99th percentile").less()),
            column("max_s", "s", "Maximum.", real(&|d| d.max.secs()))
                .headed(Heading::new("One-way delay of a packet, largest").less()),
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

pub(crate) fn drop_table(log: &[DropRecord], links: &[String]) -> Table {
    let reasons: Vec<String> = DropReason::ALL.iter().map(|reason| reason.name().to_owned()).collect();
    let column = Column::new;
    Table {
        name: "drops",
        description: "Lost packets, the first 100,000 of them; totals count all.",
        columns: vec![
            column("time_s", "s", "When.", Data::F64(log.iter().map(|row| row.at.secs()).collect()))
                .headed(Heading::TIME),
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
    let trace = core.books().queues[bottleneck.index()].as_mut().and_then(|monitor| monitor.trace.take());
    let mut table = trace.unwrap_or_default().into_table();
    if !world.samples.is_empty() {
        let samples: Vec<_> = world.samples.iter().filter(|(_, link, _)| *link == bottleneck).collect();
        let mut trace = Trace::new();
        for (at, _, backlog) in samples {
            trace.on_change(*at, backlog.packets, crate::units::Bytes::new(backlog.bytes));
        }
        table = trace.into_table();
    }
    table
}

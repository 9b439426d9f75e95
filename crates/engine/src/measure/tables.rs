//! The tables of a run: a row per transfer, port, link, query, group and loss.

use crate::event::{EventCore, PortAudit};
use crate::ids::LinkId;
use crate::measure::bins::BinnedPort;
use crate::measure::flow_table::FlowTable;
use crate::measure::queue::QueueSummary;
use crate::measure::rows::Row;
use crate::measure::table::{Column, Data, Table};
use crate::roles::DropReason;
use crate::sim::world::World;
use crate::units::Time;
use crate::work::ideal::Alone;
use crate::work::transfer::{Counters, Transfer};
use std::io;

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
    let book = |f: &dyn Fn(&crate::net::books::PortBook) -> u64, core: &mut C| {
        Data::U64(queues.iter().map(|(link, _)| f(&core.books().ports[link.index()])).collect())
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
                Data::U64(links.map(|i| core.books().ports[i].drops).collect()),
            ),
            column("bytes", "B", "Bytes sent, headers included.", Data::U64(bytes)),
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

pub(crate) fn request_table(world: &World, groups: &[String]) -> Table {
    let queries = &world.queries;
    let column = Column::new;
    let int = |f: &dyn Fn(&crate::work::transfer::Query) -> u64| Data::U64(queries.iter().map(f).collect());
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
    let log = std::mem::take(&mut core.books().drop_log);
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
    let trace = core.books().queues[bottleneck.index()].as_mut().and_then(|monitor| monitor.trace.take());
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

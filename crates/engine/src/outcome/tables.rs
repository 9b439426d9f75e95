//! The tables of a run: one row per transfer, port, link, query, group or loss.

use crate::outcome::flow_table::FlowTable;
use fanin_core::ids::LinkId;
use fanin_core::roles::DropReason;
use fanin_core::units::{Bytes, Time};
use fanin_event::{EventCore, PortAudit};
use fanin_host::hosts::Arrivals;
use fanin_measure::bins::{BinnedPort, Bins};
use fanin_measure::crossings::Crossings;
use fanin_measure::delay::DelaySummary;
use fanin_measure::probes::{HostProbes, Recorder};
use fanin_measure::queue::{QueueSummary, Trace};
use fanin_measure::rows::Rows;
use fanin_measure::table::{Column, Data, Table};
use fanin_measure::total::Heading;
use fanin_net::network::Network;
use fanin_port::books::{Books, DropRecord, Pauses, PortBook, QueueMonitor};
use fanin_work::transfer::Query;
use fanin_world::Watch;
use std::io;

/// Every table that a run may have, without rows. The code that fills a table declares its columns.
pub(crate) fn empty_tables() -> Vec<Table> {
    let flows = FlowTable::new(Rows::default(), 0, &[]).whole();
    let (probes, host_probes) = HostProbes::new(&[], 0, true).into_tables();
    let switch_probes = Recorder::new(Vec::new()).into_switch_table();
    let bins = Bins::new(Time::from_ns(1), 0, 0).into_tables(Vec::new(), &[], None, Time::ZERO);
    flows
        .into_iter()
        .chain([
            Queues::default().table(),
            table_of_links(Vec::new()),
            request_table(&[], &[]),
            delay_table(&[], &[]),
            drop_table(&[], Vec::new(), true),
            probes,
            Trace::new().into_table(),
        ])
        .chain([switch_probes, Crossings::default().into_table(Vec::new())])
        .chain(host_probes)
        .chain([counter_table(&[]), table_of_pauses(&[])])
        .chain(bins)
        .collect()
}

/// The counters of Linux.
pub(crate) fn counter_table(counters: &[(String, u64)]) -> Table {
    let names = counters.iter().map(|(name, _)| name.clone()).collect();
    Table {
        name: "counters",
        description: "Counters of Linux's TCP from its boot to the end of the run, summed over all hosts. They are \
                      the counters of TcpExt in /proc/net/netstat that are not zero. Only with run.backend = \
                      \"linux\".",
        columns: vec![
            Column::new("name", "", "Its name in Linux.", label(0..counters.len(), names)),
            Column::new("value", "1", "Its value.", Data::U64(counters.iter().map(|(_, value)| *value).collect())),
        ],
    }
}

fn label(codes: impl Iterator<Item = usize>, names: Vec<String>) -> Data {
    Data::Label { codes: codes.map(|code| code as u32).collect(), names }
}

/// The queues that a run measured, and which of them it tells.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    ports: Vec<PortQueue>,
    /// Whether it tells of all of them, or only of the observed one.
    all: bool,
}

/// The queue of a port, and its counters.
#[derive(Debug)]
struct PortQueue {
    name: String,
    observed: bool,
    queue: QueueSummary,
    book: PortBook,
}

impl Queues {
    pub(crate) fn of<C: EventCore>(net: &mut Network<C>, links: &[String], all: bool) -> Self {
        let (now, observed) = (net.now(), net.topology.bottleneck.index());
        let Books { queues, ports, .. } = net.core.books();
        let measured = queues.iter_mut().enumerate().filter_map(|(i, monitor)| Some((i, monitor.as_mut()?)));
        let port = |(i, monitor): (usize, &mut QueueMonitor)| PortQueue {
            name: links[i].clone(),
            observed: i == observed,
            queue: monitor.stats.finish(now),
            book: ports[i].clone(),
        };
        Self { ports: measured.map(port).collect(), all }
    }

    /// Makes the port of that name the observed one; returns whether its queue was measured.
    pub(crate) fn observe(&mut self, name: &str) -> bool {
        let is_measured = self.ports.iter().any(|port| port.name == name);
        if is_measured {
            self.ports.iter_mut().for_each(|port| port.observed = port.name == name);
        }
        is_measured
    }

    /// The queue of the observed port, if it was measured.
    pub(crate) fn observed(&self) -> Option<&QueueSummary> {
        self.ports.iter().find(|port| port.observed).map(|port| &port.queue)
    }

    pub(crate) fn table(&self) -> Table {
        table_of_queues(&self.ports.iter().filter(|port| self.all || port.observed).collect::<Vec<_>>())
    }
}

fn table_of_queues(rows: &[&PortQueue]) -> Table {
    let column = Column::new;
    let real = |f: &dyn Fn(&QueueSummary) -> f64| Data::F64(rows.iter().map(|row| f(&row.queue)).collect());
    let opt = |f: &dyn Fn(&QueueSummary) -> Option<f64>| Data::OptF64(rows.iter().map(|row| f(&row.queue)).collect());
    let int = |f: &dyn Fn(&QueueSummary) -> u64| Data::U64(rows.iter().map(|row| f(&row.queue)).collect());
    let book = |f: &dyn Fn(&PortBook) -> u64| Data::U64(rows.iter().map(|row| f(&row.book)).collect());
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let bottleneck = rows.iter().map(|row| row.observed).collect();
    Table {
        name: "queues",
        description: "Backlog of observed ports, the packet in transmission included, from the start of the first finite transfer (or the end of the warm-up) on.",
        columns: vec![
            column("port", "", "Switch and next node.", Data::Text(names)),
            column(
                "bottleneck",
                "",
                "Whether this is the port observed as the bottleneck (`measure.bottleneck`).",
                Data::Bool(bottleneck),
            ),
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
                "Packets that reached the marking threshold, ECN-capable or not.",
                book(&|b| b.would_mark),
            ),
        ],
    }
}

/// The load of a link.
struct Load {
    name: String,
    rate: u64,
    used: f64,
    drops: u64,
    bytes: u64,
}

pub(crate) fn link_table<C: EventCore>(net: &mut Network<C>, watch: &Watch, link_names: &[String]) -> Table {
    let spans = net.now().secs();
    let bytes = watch.carried.clone();
    let bytes = bytes.unwrap_or_else(|| net.core.audit().iter().map(PortAudit::departed).collect());
    let load = |(i, name): (usize, &String)| {
        let rate = net.topology.links[i].rate.bps();
        let used = if spans > 0.0 { bytes[i] as f64 * 8.0 / spans / rate as f64 } else { 0.0 };
        Load { name: name.clone(), rate, used, drops: net.core.books().ports[i].drops, bytes: bytes[i] }
    };
    table_of_links(link_names.iter().enumerate().map(load).collect())
}

fn table_of_links(mut rows: Vec<Load>) -> Table {
    let column = Column::new;
    let names = rows.iter_mut().map(|row| std::mem::take(&mut row.name)).collect();
    let int = |f: &dyn Fn(&Load) -> u64| Data::U64(rows.iter().map(f).collect());
    Table {
        name: "links",
        description: "Load of every link over the whole run.",
        columns: vec![
            column("link", "", "From and to.", Data::Text(names)),
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

/// The ports that flow control can pause.
pub(crate) fn pause_table<C: EventCore>(net: &mut Network<C>, links: &[String]) -> Option<Table> {
    let rows =
        |ports: &[PortBook]| -> Vec<_> { links.iter().cloned().zip(ports.iter().map(|port| port.pauses)).collect() };
    net.core.is_lossless().then(|| table_of_pauses(&rows(&net.core.books().ports)))
}

fn table_of_pauses(rows: &[(String, Pauses)]) -> Table {
    let names = rows.iter().map(|(name, _)| name.clone()).collect();
    let counts = rows.iter().map(|(_, pauses)| pauses.count).collect();
    let lasted = rows.iter().map(|(_, pauses)| pauses.lasted.secs()).collect();
    Table {
        name: "pauses",
        description: "Every port that flow control can pause. Only with network.pfc.",
        columns: vec![
            Column::new("port", "", "Node and next node.", Data::Text(names)),
            Column::new("pauses", "1", "How often it was paused.", Data::U64(counts)),
            Column::new("paused_s", "s", "How long it was paused, over the whole run.", Data::F64(lasted)),
        ],
    }
}

/// The tables of time bins, of groups and of observed ports, if the scenario asks for them.
pub(crate) fn bin_tables<C: EventCore>(
    net: &mut Network<C>,
    flows: &FlowTable,
    groups: Vec<String>,
    links: &[String],
) -> io::Result<Option<[Table; 2]>> {
    let Some(mut bins) = net.core.books().bins.take() else { return Ok(None) };
    let now = net.now();
    flows.for_each(|row| {
        if !row.failed && row.start <= now {
            bins.add_transfer(row.group, row.start, row.completion.unwrap_or(now));
        }
    })?;
    let (topology, books) = (&net.topology, net.core.books());
    let port = |link: LinkId| BinnedPort { link: links[link.index()].clone(), rate: topology.links[link.index()].rate };
    let ports: Vec<BinnedPort> = books.observed().map(port).collect();
    let watched = books.observed().position(|link| link == topology.bottleneck);
    Ok(Some(bins.into_tables(groups, &ports, watched, now)))
}

pub(crate) fn request_table(queries: &[Query], groups: &[String]) -> Table {
    let column = Column::new;
    let int = |f: &dyn Fn(&Query) -> u64| Data::U64(queries.iter().map(f).collect());
    Table {
        name: "requests",
        description: "One row per query, a set of transfers that are requested together.",
        columns: vec![
            column("query", "", "Number.", Data::U64((0..queries.len() as u64).collect())),
            column("group", "", "Traffic group.", label(queries.iter().map(|q| q.group.index()), groups.to_vec()))
                .headed(Heading::GROUP),
            column("fan_in", "1", "Transfers in it.", int(&|q| q.fan_in)),
            column("bytes", "B", "Bytes of all its transfers.", int(&|q| q.bytes)).headed(Heading::new("Size")),
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

pub(crate) fn delay_table(arrivals: &[Arrivals], groups: &[String]) -> Table {
    let summaries = arrivals.iter().enumerate().filter_map(|(i, group)| Some((i, group.delays.summary()?)));
    let rows: Vec<_> = summaries.collect();
    let column = Column::new;
    let real = |f: &dyn Fn(&DelaySummary) -> f64| Data::F64(rows.iter().map(|(_, d)| f(d)).collect());
    Table {
        name: "delays",
        description: "One-way delay of data packets, from the sender's interface to the receiver, by traffic group.",
        columns: vec![
            column("group", "", "Traffic group.", label(rows.iter().map(|(i, _)| *i), groups.to_vec()))
                .headed(Heading::GROUP),
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

pub(crate) fn drop_table(log: &[DropRecord], links: Vec<String>, lossless: bool) -> Table {
    let reasons = DropReason::ALL.iter().filter(|reason| lossless || **reason != DropReason::HeadroomFull);
    let reasons: Vec<String> = reasons.map(|reason| reason.name().to_owned()).collect();
    let column = Column::new;
    Table {
        name: "drops",
        description: "Lost packets, the first 100,000 of them; totals count all.",
        columns: vec![
            column("time_s", "s", "Time of the loss.", Data::F64(log.iter().map(|row| row.at.secs()).collect()))
                .headed(Heading::TIME),
            column("port", "", "Port or link of the loss.", label(log.iter().map(|row| row.link.index()), links)),
            column(
                "connection",
                "",
                "Flow handle of the packet's connection.",
                Data::U64(log.iter().map(|row| row.flow.index() as u64).collect()),
            ),
            column("reason", "", "Cause of the loss.", label(log.iter().map(|row| row.reason as usize), reasons)),
            column(
                "seq",
                "B",
                "Sequence or acknowledgement number, modulo 2^32.",
                Data::U64(log.iter().map(|row| u64::from(row.seq)).collect()),
            ),
            column(
                "ack",
                "",
                "Whether it was an acknowledgement.",
                Data::Bool(log.iter().map(|row| row.ack).collect()),
            ),
            column(
                "retransmitted",
                "",
                "Whether it was a retransmission.",
                Data::Bool(log.iter().map(|row| row.retransmitted).collect()),
            ),
        ],
    }
}

/// The backlog of the bottleneck at every change, or at the sample times, if there are any.
pub(crate) fn trace_table<C: EventCore>(net: &mut Network<C>, watch: &Watch) -> Table {
    let bottleneck = net.topology.bottleneck;
    if watch.samples.is_empty() {
        let monitor = net.core.books().queues[bottleneck.index()].as_mut();
        return monitor.and_then(|monitor| monitor.trace.take()).unwrap_or_default().into_table();
    }
    let mut trace = Trace::new();
    for (at, _, backlog) in watch.samples.iter().filter(|(_, link, _)| *link == bottleneck) {
        trace.on_change(*at, backlog.packets, Bytes::new(backlog.bytes));
    }
    trace.into_table()
}

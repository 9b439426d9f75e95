//! Every total of a run, declared once.
//!
//! Labels, units, which direction is better, and the reference page are all taken from here. Totals that count events
//! by cause are declared together with their causes ([`TimeoutCause`], [`DropReason`], the totals of a scheme);
//! [`totals`] lists all of them in display order. The columns of a table are declared by the module that fills the
//! table.

use crate::outcome::tables;
use fanin_core::roles::DropReason;
use fanin_measure::table::Table;
use fanin_measure::timeouts::TimeoutCause;
use fanin_measure::total::Better::{Less, More};
use fanin_measure::total::{Heading, Topic, Total};
use fanin_schemes as schemes;

const GOODPUT: Total = Total::of(Topic::Goodput);
const COMPLETION: Total = Total::of(Topic::Completion);
const LOSSES: Total = Total::of(Topic::Losses);
const QUEUE: Total = Total::of(Topic::Queue);
const RUN: Total = Total::of(Topic::Run);
const GROUPS: Total = Total { unit: "", ..Total::of(Topic::Groups) };

/// A completion time.
const TIME: Total = Total { unit: "s", better: Less, ..COMPLETION };
/// A level of the bottleneck's queue.
const LEVEL: Total = Total { unit: "pkt", better: Less, ..QUEUE };

const HOW_MUCH: &[Total] = &[
    Total {
        name: "goodput_bps",
        unit: "bit/s",
        label: "Goodput of all flows",
        definition: "payload in order, first start to last completion of finite flows or end of the run",
        short: "goodput",
        goal: "goodput",
        doc: "payload of all flows, endless ones included, that arrived in order, divided by the length of the \
              goodput window. The window begins with the first start of a finite transfer, or with the end of \
              `measure.warmup`. It ends with the last completion of such a transfer, or with the run if some are \
              incomplete or all are endless",
        better: More,
        of_groups: true,
        ..GOODPUT
    },
    Total {
        name: "goodput_finite_bps",
        unit: "bit/s",
        label: "Goodput of the finite flows",
        definition: "payload in order, over the same time as for all flows",
        doc: "goodput of the finite transfers only, over the same window as `goodput_bps`",
        better: More,
        ..GOODPUT
    },
    Total {
        name: "jain",
        label: "Jain's fairness index",
        definition: "over the goodputs of all transfers",
        short: "Jain",
        goal: "fairness",
        doc: "Jain, Chiu and Hawe's fairness index over the goodputs of transfers: 1 if all are equal, 1/n if one of \
              n transfers gets everything. The goodput of a completed transfer is taken over its completion time. \
              For any other transfer it is taken until the transfer was stopped or the run ended. It begins with the \
              transfer's start, or with the goodput window if that begins later. Transfers that never started or \
              whose handshake was aborted are excluded; `incomplete` and `failed` count them",
        better: More,
        of_groups: true,
        ..GOODPUT
    },
    Total {
        name: "window_start_s",
        unit: "s",
        shown: "s",
        label: "Start of the goodput window",
        doc: "start of the goodput window, over which `goodput_bps` is measured",
        ..GOODPUT
    },
    Total {
        name: "segments_received",
        label: "Data segments received, duplicates included",
        doc: "data segments that arrived, duplicates included",
        ..GOODPUT
    },
];

const HOW_LONG: &[Total] = &[
    Total {
        name: "fct_mean_s",
        label: "Flow completion time, mean",
        definition: "finite flows, from SYN, request or first byte to last byte in order",
        short: "mean FCT",
        goal: "mean-fct",
        doc: "mean completion time of the finite transfers that completed: from the SYN, request or first byte to the \
              last byte in order",
        of_groups: true,
        ..TIME
    },
    Total {
        name: "fct_p50_s",
        label: "Flow completion time, median",
        definition: "nearest rank over the finite flows of a run",
        doc: "median completion time of the finite transfers that completed, by nearest rank",
        ..TIME
    },
    Total {
        name: "fct_p95_s",
        label: "Flow completion time, 95th percentile",
        definition: "nearest rank over the finite flows of a run",
        doc: "95th percentile of the completion times of finite transfers, by nearest rank",
        ..TIME
    },
    Total {
        name: "fct_p99_s",
        label: "Flow completion time, 99th percentile",
        definition: "nearest rank over the finite flows of a run",
        short: "p99 FCT",
        goal: "p99-fct",
        doc: "99th percentile of the completion times of finite transfers, by nearest rank",
        of_groups: true,
        ..TIME
    },
    Total {
        name: "fct_max_s",
        label: "Flow completion time, largest",
        definition: "of the finite flows of a run",
        doc: "largest completion time of a finite transfer",
        ..TIME
    },
    Total {
        name: "query_mean_s",
        label: "Query completion time, mean",
        definition: "first request to the last byte of the last response",
        short: "query",
        goal: "query-mean",
        doc: "mean completion time of the queries that completed, from the first request to the last byte of the last \
              response. A query is a set of transfers that are requested together",
        ..TIME
    },
    Total {
        name: "query_p99_s",
        label: "Query completion time, 99th percentile",
        definition: "nearest rank over the queries of a run",
        short: "query p99",
        goal: "query-p99",
        doc: "99th percentile of the query completion times, by nearest rank",
        ..TIME
    },
    Total { name: "flows", label: "Flows", doc: "number of transfers", of_groups: true, ..COMPLETION },
    Total {
        name: "completed",
        label: "Flows completed",
        doc: "finite transfers that completed",
        better: More,
        of_groups: true,
        ..COMPLETION
    },
    Total {
        name: "incomplete",
        label: "Finite flows not completed",
        doc: "finite transfers that did not complete",
        better: Less,
        of_groups: true,
        ..COMPLETION
    },
    Total {
        name: "deadlines_missed",
        label: "Flows that missed their deadline",
        doc: "transfers with a deadline (`deadline_s` in `flows.parquet`) that did not complete in time. The last \
              byte arrived after the deadline, or had not arrived when the run ended after the deadline, or the \
              handshake was aborted. `null` if no transfer has a deadline",
        better: Less,
        ..COMPLETION
    },
    Total {
        name: "failed",
        label: "Flows whose handshake was aborted",
        doc: "transfers whose handshake was aborted after all SYN retransmissions",
        better: Less,
        ..COMPLETION
    },
];

const DROPS: Total = Total {
    name: "drops",
    label: "Packets dropped",
    goal: "drops",
    doc: "packets lost anywhere",
    better: Less,
    of_groups: true,
    ..LOSSES
};

const TIMEOUTS: Total = Total {
    name: "timeouts",
    label: "Retransmission timeouts",
    goal: "timeouts",
    doc: "retransmission timeouts (RTOs), including SYN timeouts, up to the last byte of each transfer's data",
    better: Less,
    of_groups: true,
    ..LOSSES
};

const BETWEEN: &[Total] = &[
    Total {
        name: "loss_run_longest",
        label: "Most segments of a flow dropped in a row",
        doc: "length of the longest loss run: segments of one flow with consecutive sequence numbers, dropped one \
              after the other. A port black-out causes long loss runs at an input port that carries a single flow",
        better: Less,
        ..LOSSES
    },
    Total {
        name: "retransmissions",
        label: "Retransmissions",
        doc: "segments and SYNs retransmitted, up to the last byte of each transfer's data. A FIN that is retransmitted \
              after that does not count here, but does in `bins`",
        better: Less,
        of_groups: true,
        ..LOSSES
    },
];

const MORE_LOSSES: &[Total] = &[
    Total {
        name: "loss_probes",
        label: "Tail loss probes",
        doc: "tail loss probes sent (RFC 8985)",
        better: Less,
        ..LOSSES
    },
    Total {
        name: "timeout_ratio",
        shown: "%",
        label: "Share of flows with a timeout",
        definition: "of all flows, endless ones included",
        short: "with a timeout",
        goal: "timeout-ratio",
        doc: "share of all transfers that had at least one retransmission timeout; a wait for a tail loss probe is none",
        better: Less,
        of_groups: true,
        ..LOSSES
    },
];

const MARKS: &[Total] = &[
    Total { name: "marks", label: "Packets marked", doc: "packets marked", of_groups: true, ..QUEUE },
    Total {
        name: "would_mark",
        label: "Packets above the marking threshold, ECN-capable or not",
        doc: "packets for which the marking threshold was reached, ECT or not",
        ..QUEUE
    },
];

/// What flow control did, in runs that have it.
pub(super) const PAUSES: &[Total] = &[
    Total {
        name: "pauses",
        label: "Pauses of ports",
        doc: "frames of flow control that paused a port. Each is followed by one that resumes it. Only with `network.pfc`",
        better: Less,
        ..QUEUE
    },
    Total {
        name: "paused_s",
        unit: "s",
        label: "Time that ports were paused",
        doc: "time that flow control kept ports from sending, summed over all ports. Only with `network.pfc`",
        better: Less,
        ..QUEUE
    },
];

/// The number of queries. It is not part of the result hash, as it follows from the table of queries.
pub(super) const QUERIES: Total =
    Total { name: "queries", label: "Queries", doc: "number of queries that began", ..COMPLETION };

/// Not part of the result hash either, as it follows from the table of flows.
pub(super) const QUERIES_WAITED: Total = Total {
    name: "queries_with_timeout",
    label: "Queries with a timeout",
    doc: "queries of which at least one transfer had a retransmission timeout; a wait for a tail loss probe is none",
    better: Less,
    ..LOSSES
};

/// How long flows fared before other traffic began. It is not part of the result hash, as it follows from how flows are
/// looked at.
pub(super) const BEFORE: &[Total] = &[
    Total {
        name: "steady_s",
        unit: "s",
        shown: "s",
        label: "Start of the traffic that waited for the steady state",
        doc: "when traffic with `start = \"steady\"` began, as what ran before it was steady; `null` if none waits, or if \
              it was not steady within `run.steady-limit`",
        ..RUN
    },
    Total {
        name: "long_flows_rising",
        label: "Long flows that still grew when other traffic began",
        doc: "endless flows which had begun when the first finite transfer did, and had met no limit yet. They had \
              no loss or mark, no full receive window, and no end of their growth. `null` if there are no such flows",
        better: Less,
        ..RUN
    },
];

/// The limit of all goodputs. It is not part of the result hash, as it follows from the scenario.
pub(super) const CAPACITY: Total = Total {
    name: "capacity_bps",
    unit: "bit/s",
    label: "Capacity of the receivers",
    definition: "what the links into them carry together, headers included",
    doc: "what the links into all hosts at which transfers end carry together, headers included: no goodput is above it",
    ..GOODPUT
};

/// The port that turned out to limit the run. It is not part of the result hash, as it follows from how ports are looked
/// at, not from what is simulated.
pub(super) const FOUND: Total = Total {
    name: "bottleneck",
    unit: "",
    label: "Bottleneck",
    definition: "the port with the most lost bytes, or else the most waiting ones",
    doc: "name of the port that lost the most bytes for lack of room. If none did, it is the port that held the most \
          bytes, the packet in transmission included, over looks at all ports at intervals of packet-hops. `null` if \
          no packet was sent. The other totals of the bottleneck (`queue_*`) are of the observed port: \
          `measure.bottleneck`, by default the port where incast is expected",
    ..QUEUE
};

/// The totals of the bottleneck's queue. A run in which that queue is not measured has them as `null`.
pub(super) const BOTTLENECK: &[Total] = &[
    Total {
        name: "queue_mean_packets",
        label: "Bottleneck queue, mean",
        definition: "time-weighted, transmitted one included",
        short: "queue, mean",
        goal: "queue",
        doc: "time-weighted mean of the bottleneck port's backlog, including the packet in transmission, from the \
              start of the goodput window to the end of the run. The run ends later than the window if handshakes are \
              aborted after the last completion. All `queue_*` totals cover this time",
        ..LEVEL
    },
    Total {
        name: "queue_mean_busy_packets",
        label: "Bottleneck queue, mean while not empty",
        definition: "time-weighted, transmitted one included",
        doc: "time-weighted mean of the bottleneck port's backlog while it is not empty",
        ..LEVEL
    },
    Total {
        name: "queue_mean_changes_packets",
        label: "Bottleneck queue, mean per sample",
        definition: "unweighted, after every enqueue and dequeue",
        doc: "unweighted mean of the bottleneck port's backlog, sampled after every enqueue and dequeue",
        ..LEVEL
    },
    Total {
        name: "queue_waiting_mean_packets",
        label: "Waiting packets, mean",
        definition: "time-weighted while any waits, transmitted one left out",
        doc: "time-weighted mean of the packets that wait at the bottleneck port, without the one in transmission, \
              while any packet waits. This is what ns-3's device queues report",
        ..LEVEL
    },
    Total {
        name: "queue_waiting_mean_changes_packets",
        label: "Waiting packets, mean per sample",
        definition: "unweighted, transmitted one left out",
        doc: "unweighted mean of the packets that wait at the bottleneck port, without the one in transmission. A \
              sample is taken whenever a packet joins or is taken out for transmission. A packet that finds the port \
              idle gives the samples 1 and 0",
        ..LEVEL
    },
    Total {
        name: "queue_waiting_mean_changes_bytes",
        unit: "B",
        label: "Waiting bytes, mean per sample",
        definition: "unweighted, transmitted packet left out",
        doc: "as `queue_waiting_mean_changes_packets`, but in bytes on the wire",
        ..LEVEL
    },
    Total {
        name: "queue_p50_packets",
        label: "Bottleneck queue, median",
        definition: "over time, transmitted one included",
        doc: "median of the bottleneck port's backlog over time, idle time included, by nearest rank",
        ..LEVEL
    },
    Total {
        name: "queue_p95_packets",
        label: "Bottleneck queue, 95th percentile",
        definition: "over time, transmitted one included",
        doc: "95th percentile of the bottleneck port's backlog over time, idle time included, by nearest rank",
        ..LEVEL
    },
    Total {
        name: "queue_p99_packets",
        label: "Bottleneck queue, 99th percentile",
        definition: "over time, transmitted one included",
        short: "queue, p99",
        goal: "queue-p99",
        doc: "99th percentile of the bottleneck port's backlog over time, idle time included, by nearest rank",
        ..LEVEL
    },
    Total {
        name: "queue_max_packets",
        label: "Bottleneck queue, largest",
        definition: "transmitted one included",
        doc: "largest backlog of the bottleneck port",
        ..LEVEL
    },
];

const AT_SWITCHES: &[Total] = &[
    Total {
        name: "rewritten",
        label: "Packets rewritten by switches",
        doc: "packets that a scheme's switch agent rewrote",
        hidden_at_zero: true,
        ..QUEUE
    },
    Total {
        name: "control_messages",
        label: "Messages between switches and controller",
        doc: "messages sent on the channel between switches and controller",
        hidden_at_zero: true,
        ..QUEUE
    },
    Total {
        name: "control_bytes",
        unit: "B",
        label: "Bytes between switches and controller",
        doc: "bytes of the messages between switches and controller",
        hidden_at_zero: true,
        ..QUEUE
    },
    Total {
        name: "control_lost",
        label: "Messages between switches and controller that were lost",
        doc: "messages lost between switches and controller, or at a controller that was offline",
        better: Less,
        hidden_at_zero: true,
        ..QUEUE
    },
];

const THE_RUN: &[Total] = &[
    Total {
        name: "result_hash",
        unit: "",
        label: "Result hash",
        doc: "hash over every table, and over every total but `bottleneck`, `capacity_bps`, `queries` and \
              `queries_with_timeout`; equal for equal scenarios on any machine",
        ..RUN
    },
    Total { name: "packet_hops", label: "Packet hops simulated", doc: "packets delivered over links", ..RUN },
    Total {
        name: "events",
        label: "Events simulated",
        doc: "packet hops and all other events that had an effect",
        ..RUN
    },
    Total { name: "simulated_s", unit: "s", shown: "s", label: "Simulated time", doc: "end of the run", ..RUN },
];

const LISTS: &[Total] = &[
    Total {
        name: "groups",
        label: "Totals of each traffic group",
        doc: "an array with one object per traffic group, in the order of the file: `group` (its name) and, for that \
              group alone, every total with *yes* under *groups*. Rates use the run's goodput window, and counts add \
              up to those of the run. In the table of a sweep, each of them is a column `groups.NAME.KEY`",
        ..GROUPS
    },
    Total {
        name: "offered",
        label: "Offered load",
        doc: "an array with one object per traffic group that has a load (`poisson`, `requests`). Its keys are \
              `group`, `mean_bytes` (of a transfer, or of all responses of a query), `interval_s` (mean time between \
              arrivals), `offered_bps` (payload) and `load`. The load is a share of a capacity: `load_of` names it, \
              and `capacity_bps` is its rate",
        ..GROUPS
    },
];

/// Every total that each run has, in display order.
pub fn totals() -> impl Iterator<Item = Total> {
    let drops = DropReason::ALL.into_iter().filter(|reason| reason.is_everywhere()).map(drops_by);
    let timeouts = TimeoutCause::ALL.into_iter().map(|cause| Total {
        name: cause.column(),
        definition: cause.definition(),
        doc: cause.description(),
        goal: "",
        of_groups: false,
        hidden_at_zero: true,
        ..TIMEOUTS
    });
    let list = |totals: &'static [Total]| totals.iter().copied();
    let losses = std::iter::once(DROPS).chain(drops).chain(list(BETWEEN));
    let losses = losses.chain(std::iter::once(TIMEOUTS)).chain(timeouts).chain(list(MORE_LOSSES));
    [HOW_MUCH, &[CAPACITY], HOW_LONG, &[QUERIES]]
        .into_iter()
        .flat_map(list)
        .chain(losses)
        .chain([QUERIES_WAITED])
        .chain([MARKS, &[FOUND], BOTTLENECK, AT_SWITCHES, THE_RUN, BEFORE, LISTS].into_iter().flat_map(list))
}

/// The drops for one reason.
fn drops_by(reason: DropReason) -> Total {
    Total {
        name: reason.total(),
        definition: reason.definition(),
        doc: "",
        goal: "",
        of_groups: false,
        hidden_at_zero: true,
        ..DROPS
    }
}

/// Totals that only some runs have: drops for reasons that need a key (`transport.host-queue`), pauses, and what schemes count
/// in the state shared by their roles on a switch, of which a run has those of its network's scheme.
pub fn totals_of_some() -> Vec<Total> {
    let rare = DropReason::ALL.into_iter().filter(|reason| !reason.is_everywhere());
    let mut found: Vec<Total> = rare.map(drops_by).chain(PAUSES.iter().copied()).collect();
    for count in schemes::simulated().flat_map(|row| row.totals) {
        let total = Total { name: count.name, label: count.label, doc: count.doc, better: Less, ..QUEUE };
        if !found.contains(&total) {
            found.push(total);
        }
    }
    found
}

/// Every table that a run may have, without rows. A column that counts the same thing as a total, but per flow, bin or
/// port, has the name of that total.
pub fn tables() -> Vec<Table> {
    let mut tables = tables::empty_tables();
    for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
        if column.heading == Heading::NONE
            && let Some(total) = totals().find(|total| total.name == column.name)
        {
            // The column is displayed like the total; a total without a display unit uses its own unit.
            let shown = if total.shown.is_empty() { total.unit } else { total.shown };
            column.heading = Heading { shown, ..total.heading() };
        }
    }
    tables
}

"""The columns of a run's summary: what each means and how people read it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Column:
    """How a column is shown, and which of several definitions it is."""

    label: str
    definition: str = ""
    """What tells it from other measures of the same name; empty where there is one only."""
    unit: str = ""
    """Unit of the stored value."""
    shown_as: str = ""
    """Unit that people read."""
    scale: float = 1.0
    """Shown value divided by stored value."""

    @property
    def full(self) -> str:
        """Label and definition."""
        return f"{self.label}: {self.definition}" if self.definition else self.label

    def axis(self, label: str | None = None) -> str:
        """The name of an axis: label (another one, if given) and unit, and the definition on a line of its own."""
        first = f"{label or self.label} ({self.shown_as})" if self.shown_as else label or self.label
        return f"{first}\n{self.definition}" if self.definition else first


_SUFFIXES = {
    "_bps": ("bit/s", "Mbit/s", 1e-6),
    "_per_s": ("1/s", "1/s", 1.0),
    "_s": ("s", "ms", 1e3),
    "_packets": ("packets", "packets", 1.0),
    "_bytes": ("B", "B", 1.0),
    "_ratio": ("1", "%", 100.0),
    "_utilisation": ("1", "%", 100.0),
}
"""End of a column's name -> its unit, the unit that people read, and the factor between them."""

_IN_SECONDS = ("window_start_s", "simulated_s", "time_s", "start_s", "completion_s")
"""Times that people read in seconds."""

_GROUPS = {
    "goodput": {
        "goodput_bps": "Goodput of all flows: payload in order, first burst start to last burst completion",
        "goodput_finite_bps": "Goodput of the finite flows: payload in order, first start to last completion of them",
        "jain": "Jain's fairness index: over the goodputs of all transfers",
        "window_start_s": "Start of the time that goodput counts",
        "segments_received": "Data segments received, duplicates included",
    },
    "completion": {
        "fct_mean_s": "Flow completion time, mean: finite flows, from SYN, request or first byte to last byte in order",
        "fct_p50_s": "Flow completion time, median: nearest rank over the finite flows of a run",
        "fct_p95_s": "Flow completion time, 95th percentile: nearest rank over the finite flows of a run",
        "fct_p99_s": "Flow completion time, 99th percentile: nearest rank over the finite flows of a run",
        "fct_max_s": "Flow completion time, largest: of the finite flows of a run",
        "query_mean_s": "Query completion time, mean: first request to the last byte of the last answer",
        "query_p99_s": "Query completion time, 99th percentile: nearest rank over the queries of a run",
        "flows": "Flows",
        "completed": "Flows completed",
        "incomplete": "Finite flows not completed",
        "deadlines_missed": "Flows that missed their deadline",
        "failed": "Flows that gave up their handshake",
    },
    "losses": {
        "drops": "Packets dropped",
        "drops_buffer_full": "Packets dropped: the port's buffer was full",
        "drops_shared_buffer_full": "Packets dropped: over the threshold of the shared memory",
        "drops_discipline": "Packets dropped: by the queue's discipline",
        "drops_pushed_out": "Packets dropped: pushed out by another",
        "drops_agent": "Packets dropped: by the scheme's part in the switch",
        "drops_link_down": "Packets dropped: their link was down",
        "drops_random_loss": "Packets dropped: lost at random by a fault",
        "loss_run_longest": "Most segments of a flow dropped in a row",
        "retransmissions": "Retransmissions",
        "timeouts": "Retransmission timeouts",
        "timeouts_syn": "Retransmission timeouts: of a SYN",
        "timeouts_full_window": "Retransmission timeouts: a whole window was lost",
        "timeouts_few_duplicates": "Retransmission timeouts: too few duplicate acknowledgements",
        "timeouts_lost_retransmission": "Retransmission timeouts: a retransmission was lost",
        "timeouts_spurious": "Retransmission timeouts: nothing was lost",
        "loss_probes": "Tail loss probes",
        "timeout_ratio": "Share of flows with a timeout: of all flows, endless ones included",
    },
    "queue": {
        "marks": "Packets marked",
        "would_mark": "Packets above the marking threshold, ECN-capable or not",
        "queue_mean_packets": "Bottleneck queue, mean: time-weighted, transmitted one included",
        "queue_mean_busy_packets": "Bottleneck queue, mean while not empty: time-weighted, transmitted one included",
        "queue_mean_changes_packets": "Bottleneck queue, mean per sample: unweighted, after every enqueue and dequeue",
        "queue_waiting_mean_packets": "Waiting packets, mean: time-weighted while any waits, transmitted one left out",
        "queue_waiting_mean_changes_packets": "Waiting packets, mean per sample: unweighted, transmitted one left out",
        "queue_waiting_mean_changes_bytes": "Waiting bytes, mean per sample: unweighted, transmitted packet left out",
        "queue_p50_packets": "Bottleneck queue, median: over time, transmitted one included",
        "queue_p95_packets": "Bottleneck queue, 95th percentile: over time, transmitted one included",
        "queue_p99_packets": "Bottleneck queue, 99th percentile: over time, transmitted one included",
        "queue_max_packets": "Bottleneck queue, largest: transmitted one included",
        "rewritten": "Packets rewritten by switches",
        "control_messages": "Messages between switches and controller",
        "control_bytes": "Bytes between switches and controller",
        "control_lost": "Messages between switches and controller that were lost",
    },
    "run": {
        "seed": "Seed",
        "run_id": "Name of the run",
        "result_hash": "Result hash",
        "packet_hops": "Packet hops simulated",
        "events": "Events simulated",
        "simulated_s": "Simulated time",
        "wall_s": "Wall-clock time",
    },
}
"""What people look for -> the columns about it, in the order of reading: label and, after a colon, the definition."""

GROUP_COLUMNS = (
    "goodput_bps",
    "fct_mean_s",
    "fct_p99_s",
    "jain",
    "flows",
    "completed",
    "incomplete",
    "retransmissions",
    "timeouts",
    "timeout_ratio",
    "drops",
    "marks",
)
"""Totals of each traffic group; ``groups.NAME.COLUMN`` is the column of a sweep's table."""

_TABLES = {
    "time_s": "Time",
    "start_s": "Start of the flow",
    "completion_s": "Completion of the flow",
    "fct_s": "Flow completion time",
    "qct_s": "Query completion time",
    "slowdown": "Slowdown: completion time over the best possible one",
    "packets": "Queue of the observed port: transmitted one included",
    "bytes": "Size",
    "throughput_bps": "Throughput of the link",
    "utilisation": "Utilisation of the link",
    "delay_mean_s": "One-way delay of a packet, mean",
    "delay_p50_s": "One-way delay of a packet, median",
    "delay_p95_s": "One-way delay of a packet, 95th percentile",
    "delay_p99_s": "One-way delay of a packet, 99th percentile",
    "delivered_bytes": "Payload delivered in order",
    "value": "Value",
}
"""Columns that only result tables have."""

_BINS = {
    "goodput_bps": "Goodput: payload in order, per interval and traffic group",
    "fct_mean_s": "Flow completion time: mean of the flows that complete in an interval",
    "jain": "Jain's fairness index: over the payload of every transfer in progress in an interval",
    "queue_mean_packets": "Queue: time-weighted mean of an interval, transmitted one included",
}
"""Columns of ``bins`` and ``link-bins`` that mean something else than in a run's summary."""

_ENTRIES = {name: entry for entries in _GROUPS.values() for name, entry in entries.items()}
_LABELS = {name: entry.partition(": ")[0] for name, entry in _ENTRIES.items()}

_CAUSES = ("drops_", "timeouts_", "control_", "rewritten")
"""Beginnings of the columns that the table of a run leaves out when they are zero."""

_OF_GROUPS = {"groups": "Totals of each traffic group", "group": "Traffic group", "offered": "Offered load"}

COLUMNS = tuple(_LABELS)
"""Every column of a sweep's table but its variables."""


def column(name: str, entry: str | None = None) -> Column:
    """How to show a column; one that this module does not know is shown under its own name.

    Args:
        name: A column of a sweep's table, or ``table.column`` of a result table; its end tells the unit.
        entry: Label and, after a colon, definition of a column that an experiment declares.

    """
    own = name.rpartition(".")[2]
    label, _, definition = (entry or _entry(name)).partition(": ")
    if own in _IN_SECONDS:
        return Column(label, definition, "s", "s")
    for suffix, units in _SUFFIXES.items():
        if f"_{own}".endswith(suffix):
            return Column(label, definition, *units)
    counts = own in _LABELS and own not in ("result_hash", "run_id")
    return Column(label, definition, "1" if counts else "")


def _entry(name: str) -> str:
    table, _, own = name.rpartition(".")
    if table in ("bins", "link-bins") and own in _BINS:
        return _BINS[own]
    if table.startswith("groups."):
        label, _, definition = _ENTRIES.get(own, own).partition(": ")
        return f"{label}, {table.removeprefix('groups.')} alone: {definition}"
    if table in ("", "flows", "requests", "bins", "link-bins", "delays", "queue-trace") or table.endswith("probes"):
        return _ENTRIES.get(own) or _TABLES.get(own) or _OF_GROUPS.get(own, name)
    return name


def rows(summary: dict[str, Any]) -> list[tuple[str, str, str]]:
    """A run's totals as people read them: group, label and value; causes that did not occur are left out."""
    groups = [(group, name) for group, labels in _GROUPS.items() for name in labels if name in summary]
    groups += [("other", name) for name in summary if name not in _LABELS and name not in _OF_GROUPS]
    shown = [(group, name) for group, name in groups if not (name.startswith(_CAUSES) and summary[name] == 0)]
    return [(group, column(name).full, format_value(name, summary[name])) for group, name in shown]


def totals(summary: dict[str, Any]) -> dict[str, Any]:
    """The totals of a run as a row of a sweep's table, with those of each traffic group under dotted names."""
    whole = {name: value for name, value in summary.items() if name not in _OF_GROUPS}
    for group in summary.get("groups") or []:
        whole |= {f"groups.{group['group']}.{name}": value for name, value in group.items() if name != "group"}
    return whole


def group_rows(summary: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The totals of the traffic groups as people read them: header and one row per group; empty for a lone group."""
    groups = summary.get("groups") or []
    if len(groups) < 2:
        return [], []
    names = list(groups[0])
    header = [_GROUP_HEADERS.get(name, name) for name in names]
    return header, [[format_value(name, group[name]) for name in names] for group in groups]


OFFERED_HEADER = ["group", "mean size", "one every", "offered", "load", "of"]


def offered_rows(offered: list[dict[str, Any]]) -> list[list[str]]:
    """What the groups at a load offer, as people read it: a row per group, with the mean that was used."""
    return [
        [
            each["group"],
            f"{each['mean_bytes']:,.0f} B",
            format_value("interval_s", each["interval_s"]),
            format_value("offered_bps", each["offered_bps"]),
            "-" if each["load"] is None else f"{100 * each['load']:.4g} %",
            f"{each['load_of']}, {format_value('capacity_bps', each['capacity_bps'])}",
        ]
        for each in offered
    ]


_GROUP_HEADERS = {
    "goodput_bps": "goodput",
    "fct_mean_s": "completion, mean",
    "fct_p99_s": "completion, p99",
    "timeout_ratio": "with a timeout",
}
"""Total of a group -> the head of its column, where that is not its name."""


def format_value(name: str, value: object) -> str:
    """The value as people read it, with its unit."""
    if value is None:
        return "-"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    how = column(name)
    shown = value if how.scale == 1.0 else value * how.scale
    return f"{format_number(shown)} {how.shown_as}".rstrip()


def format_interval(name: str, mean: float, half: float) -> str:
    """A mean and half of its interval in the unit that people read, without it; the mean alone if there is no half."""
    scale = column(name).scale
    spread = "" if math.isnan(half) else f" ± {format_number(half * scale, 2)}"
    return f"{format_number(mean * scale)}{spread}"


def format_quantity(name: str, value: float) -> str:
    """A place on the axis of a column or a sweep variable: "10 flows", "48 senders"."""
    if column(name).shown_as:
        return format_value(name, value)
    noun = _LABELS[name].lower() if name in _LABELS else name.rsplit(".", 1)[-1]
    return f"{format_number(value)} {noun}"


def format_number(value: float, digits: int = 4) -> str:
    """The number with that many significant digits, or more where its whole part has more."""
    if isinstance(value, int) or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"

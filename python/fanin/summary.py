"""The columns of a run's summary: what each means and how people read it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """How a summary column is shown."""

    label: str
    unit: str = ""
    """Unit of the stored value."""
    shown_as: str = ""
    """Unit that people read."""
    scale: float = 1.0
    """Shown value divided by stored value."""

    @property
    def axis(self) -> str:
        """Label with the unit that is shown."""
        return f"{self.label} ({self.shown_as})" if self.shown_as else self.label


_SUFFIXES = {
    "_bps": ("bit/s", "Mbit/s", 1e-6),
    "_s": ("s", "ms", 1e3),
    "_packets": ("packets", "packets", 1.0),
    "_ratio": ("1", "%", 100.0),
}
"""End of a column's name -> its unit, the unit that people read, and the factor between them."""

_LABELS = {
    "result_hash": "Result hash",
    "goodput_bps": "Goodput, every flow, first burst start to last burst completion",
    "goodput_finite_bps": "Goodput of the finite flows alone, same time",
    "fct_mean_s": "Flow completion time, mean",
    "fct_p50_s": "Flow completion time, median",
    "fct_p95_s": "Flow completion time, 95th percentile",
    "fct_p99_s": "Flow completion time, 99th percentile",
    "fct_max_s": "Flow completion time, largest",
    "query_mean_s": "Query completion time, mean",
    "query_p99_s": "Query completion time, 99th percentile",
    "jain": "Jain's fairness index",
    "flows": "Flows",
    "completed": "Flows completed",
    "incomplete": "Finite flows not completed",
    "failed": "Flows that gave up their handshake",
    "retransmissions": "Retransmissions",
    "timeouts": "Retransmission timeouts",
    "timeout_ratio": "Share of flows with a timeout",
    "drops": "Packets dropped",
    "marks": "Packets marked",
    "would_mark": "Packets above the marking threshold, ECN-capable or not",
    "queue_mean_packets": "Bottleneck queue, mean",
    "queue_max_packets": "Bottleneck queue, largest",
    "packet_hops": "Packet hops simulated",
    "events": "Events simulated",
    "simulated_s": "Simulated time",
    "wall_s": "Wall-clock time",
}


def column(name: str) -> Column:
    """How to show a column; one that this module does not know is shown under its own name."""
    label = _LABELS.get(name, name)
    for suffix, units in _SUFFIXES.items():
        if name.endswith(suffix):
            return Column(label, *units)
    return Column(label)


def format_value(name: str, value: object) -> str:
    """The value as people read it, with its unit."""
    if value is None:
        return "-"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    how = column(name)
    shown = value if how.scale == 1.0 else value * how.scale
    return f"{format_number(shown)} {how.shown_as}".rstrip()


def format_number(value: float, digits: int = 4) -> str:
    """The number with that many significant digits, or more where its whole part has more."""
    if isinstance(value, int) or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"

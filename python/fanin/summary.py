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


def _rate(label: str) -> Column:
    return Column(label, "bit/s", "Mbit/s", 1e-6)


def _time(label: str) -> Column:
    return Column(label, "s", "ms", 1e3)


def _packets(label: str) -> Column:
    return Column(label, "packets", "packets")


COLUMNS: dict[str, Column] = {
    "goodput_bps": _rate("Goodput, every flow, first burst start to last burst completion"),
    "goodput_finite_bps": _rate("Goodput of the finite flows alone, same interval"),
    "goodput_all_bps": _rate("Goodput of every flow"),
    "fct_mean_s": _time("Flow completion time, mean"),
    "fct_p99_s": _time("Flow completion time, 99th percentile"),
    "timeouts": Column("Retransmission timeouts"),
    "timeout_ratio": Column("Share of flows with a timeout", "1", "%", 100.0),
    "drops": _packets("Dropped"),
    "marks": _packets("Marked"),
    "would_mark": _packets("Above the marking threshold but not ECN-capable"),
    "queue_mean_packets": _packets("Bottleneck queue, mean"),
    "queue_max_packets": _packets("Bottleneck queue, largest"),
    "jain": Column("Jain's fairness index"),
    "flows": Column("Flows"),
    "completed": Column("Flows completed"),
    "incomplete": Column("Flows not completed"),
    "packet_hops": Column("Packet hops simulated"),
    "events": Column("Events simulated"),
    "wall_s": Column("Wall-clock time", "s", "s"),
    "result_hash": Column("Result hash"),
}


def column(name: str) -> Column:
    """How to show the column; an unknown one is shown under its own name."""
    return COLUMNS.get(name, Column(name))


def format_value(name: str, value: object) -> str:
    """The value as people read it, with its unit."""
    if value is None:
        return "-"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    how = column(name)
    shown = value * how.scale
    number = f"{shown:,}" if isinstance(shown, int) else f"{shown:,.4g}"
    return f"{number} {how.shown_as}".rstrip()

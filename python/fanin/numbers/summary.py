"""The columns of a run's summary: their definitions and display."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from fanin.numbers.stats import Spread
from fanin.numbers.units import rate_text
from fanin.registry import registry


@dataclass(frozen=True)
class ColumnInfo:
    """Label, definition and units of a column."""

    label: str
    definition: str = ""
    """What distinguishes it from other measures of the same name; empty if there is only one."""
    unit: str = ""
    """Unit of the stored value."""
    shown_as: str = ""
    """Display unit."""
    scale: float = 1.0
    """Shown value divided by stored value."""
    better: str = "neither"
    """Which direction is better: more, less or neither."""

    def in_unit(self, unit: str) -> ColumnInfo:
        """The same label and definition for values in a unit."""
        shown_as, scale = _shown(unit, "%" if unit == "1" else "")
        return ColumnInfo(self.label, self.definition, unit, shown_as, scale)

    @property
    def full(self) -> str:
        """Label and definition."""
        return f"{self.label}: {self.definition}" if self.definition else self.label

    def axis(self, label: str | None = None) -> str:
        """The name of an axis: label (or another one) and [unit], and the definition on a separate line."""
        first = f"{label or self.label} [{self.shown_as}]" if self.shown_as else label or self.label
        return f"{first}\n{self.definition}" if self.definition else first


_DISPLAY_UNITS = {
    ("bit/s", ""): ("Mbit/s", 1e-6),
    ("s", ""): ("ms", 1e3),
    ("pkt", ""): ("packets", 1.0),
    ("1", ""): ("", 1.0),
    ("1", "%"): ("%", 100.0),
}
"""Unit and requested display unit -> display unit, and the factor between unit and display unit."""


def _shown(unit: str, asked: str) -> tuple[str, float]:
    """The display unit, and shown value divided by stored value."""
    return _DISPLAY_UNITS.get((unit, asked), ("" if asked == "1" else asked or unit, 1.0))


_UNITS_OF_SUFFIXES = {
    "_bps": ("bit/s", ""),
    "_per_s": ("1/s", ""),
    "_s": ("s", ""),
    "_packets": ("pkt", ""),
    "_bytes": ("B", ""),
    "_ratio": ("1", "%"),
    "_utilisation": ("1", "%"),
}
"""Suffix of a column that an experiment declares -> its unit, and its requested display unit."""

GROUPS = "groups"
"""Topic of the totals that are lists, with an entry for each traffic group."""


@dataclass(frozen=True)
class Measured:
    """The declaration of a total or of a column of a result table, by the engine or by this package."""

    name: str
    label: str
    definition: str = ""
    """What distinguishes it from others of that label."""
    unit: str = ""
    shown: str = ""
    """Display unit, if it is not the usual one."""
    short: str = ""
    """Name for a narrow column."""
    goal: str = ""
    """Name as a goal or a bound, if it has one besides its own."""
    doc: str = ""
    """The full definition, in Markdown."""
    topic: str = ""
    better: str = "neither"
    """Which direction is better: more, less or neither."""
    of_groups: bool = False
    """Whether each traffic group has that total too."""
    hidden_at_zero: bool = False
    always: bool = True
    """Whether every run has that total, not only runs of a certain scheme."""


_OF_A_SWEEP = (
    Measured("seed", "Seed", unit="1", topic="run"),
    Measured("run_id", "Name of the run", topic="run"),
)
"""Columns of a sweep's table besides the totals of its runs."""


@cache
def measured() -> dict[str, Measured]:
    """Every total of a run by its name, in display order."""
    return {row["name"]: Measured(**row) for row in registry()["totals"]}


@cache
def _columns() -> dict[str, dict[str, Measured]]:
    """The columns of every result table that have a label."""
    return {
        table["name"]: {
            row["name"]: Measured(**{key: value for key, value in row.items() if key != "description"})
            for row in table["columns"]
        }
        for table in registry()["tables"]
    }


BACKGROUND = "background"
"""The goal that is not a total: goodput of all groups of that kind together."""


def goals() -> dict[str, str]:
    """Name of a goal -> its total; :data:`BACKGROUND` maps to itself."""
    return {each.goal: each.name for each in measured().values() if each.goal} | {BACKGROUND: BACKGROUND}


def table_names() -> tuple[str, ...]:
    """Names of the result tables in the store."""
    return tuple(_columns())


def columns_of(table: str) -> list[str]:
    """The columns of a result table."""
    return list(_columns()[table])


@cache
def meanings(table: str) -> dict[str, dict[str, str]]:
    """Unit and description of each column of a result table."""
    found = next(each for each in registry()["tables"] if each["name"] == table)
    return {each["name"]: {key: each[key] for key in ("unit", "description")} for each in found["columns"]}


def unit_of(table: str, name: str) -> str:
    """The unit of a result table's column; empty if it is a name, a number of something or a truth value."""
    return _columns()[table][name].unit


def names() -> list[str]:
    """Every column of any sweep's table except its variables."""
    return [each.name for each in _in_order() if each.topic != GROUPS and each.always]


def group_names() -> list[str]:
    """Totals of each traffic group; ``groups.NAME.COLUMN`` is the column of a sweep's table."""
    return [each.name for each in measured().values() if each.of_groups]


def _in_order() -> list[Measured]:
    """Totals and the other columns of a sweep's table, in display order."""
    totals = list(measured().values())
    first = next(place for place, each in enumerate(totals) if each.topic == "run")
    return [*totals[:first], *_OF_A_SWEEP, *totals[first:]]


def _known(name: str) -> Measured | None:
    """The declaration of a column of a sweep's table or, as ``table.column``, of a result table, if there is one."""
    table, _, own = name.rpartition(".")
    if table in _columns():
        return _columns()[table].get(own)
    if table and not table.startswith("groups."):
        return None
    of_a_sweep = {each.name: each for each in _OF_A_SWEEP}
    # A plot of a table uses the plain names of its columns.
    bare = (columns[own] for columns in _columns().values() if own in columns and columns[own].label)
    return measured().get(own) or of_a_sweep.get(own) or next(bare, None)


def column(name: str, entry: str | None = None) -> ColumnInfo:
    """How to display a column; an undeclared one is shown under its name.

    Args:
        name: A column of a sweep's table, or ``table.column`` of a result table.
        entry: Label and, after a colon, definition of a column that an experiment declares; the suffix of its name
            gives the unit.

    """
    known = _known(name)
    if known is not None:
        unit, asked = known.unit, known.shown
    else:
        ends = (units for end, units in _UNITS_OF_SUFFIXES.items() if f"_{name.rpartition('.')[2]}".endswith(end))
        unit, asked = next(ends, ("", ""))
    shown_as, scale = _shown(unit, asked)
    better = known.better if known else "neither"
    if entry is not None:
        label, _, definition = entry.partition(": ")
    elif known is None or not known.label:
        label, definition = name, ""
    elif name.startswith("groups."):
        group = name.rpartition(".")[0].removeprefix("groups.")
        label, definition = f"{known.label.removesuffix(' of all flows')}, {group} alone", known.definition
    else:
        label, definition = known.label, known.definition
    return ColumnInfo(label, definition, unit, shown_as, scale, better)


CAPACITY = "capacity_bps"
"""The total that no goodput of its run is above."""


def is_within_capacity(name: str) -> bool:
    """Whether a total is a goodput, of all traffic or of a group."""
    known = measured().get(name.rpartition(".")[2] if name.startswith("groups.") else name)
    return known is not None and known.name != CAPACITY and (known.topic, known.unit) == ("goodput", "bit/s")


def most(name: str) -> float:
    """What no value of a column can be above, whatever the scenario: shares are at most one."""
    known = column(name)
    return 1.0 if known.shown_as == "%" or name.rpartition(".")[2] == "jain" else math.inf


def is_text(name: str) -> bool:
    """Whether a column of a sweep's table is a text, such as the name of a port: it has neither a unit nor a mean."""
    known = _known(name)
    return known is not None and not known.unit


def is_completion_time(name: str) -> bool:
    """Whether a total is a completion time, which unfinished flows lack."""
    known = measured().get(name.rpartition(".")[2])
    return known is not None and known.topic == "completion" and known.unit == "s"


def short(name: str) -> str:
    """The name of a total for a narrow column."""
    known = measured().get(name)
    return (known.short if known else "") or name


def heading(name: str) -> str:
    """The name of a total and its unit, for a narrow column."""
    unit = column(name).shown_as
    return f"{short(name)} [{unit}]" if unit else short(name)


def rows(summary: dict[str, Any], queue: dict[str, Any] | None = None) -> list[tuple[str, str, str]]:
    """A run's totals as text: topic, label and value; causes that did not occur are left out.

    Args:
        summary: The totals.
        queue: The row of the bottleneck in the table of queues, for bytes beside packets.

    """
    known = {each.name: each for each in sorted(_in_order(), key=lambda each: _topics().index(each.topic))}
    shown = [
        (each.topic, name)
        for name, each in known.items()
        if name in summary and each.topic != GROUPS and not (each.hidden_at_zero and summary[name] == 0)
    ]
    shown += [("other", name) for name in summary if name not in known]
    return [(topic, column(name).full, _with_bytes(name, summary[name], queue)) for topic, name in shown]


_BYTES = {"queue_mean_packets": "mean_bytes", "queue_max_packets": "max_bytes"}
"""A total of the bottleneck's queue in packets -> the column of the table of queues that has it in bytes."""


def _with_bytes(name: str, value: object, queue: dict[str, Any] | None) -> str:
    also = None if queue is None else queue.get(_BYTES.get(name, ""))
    return format_value(name, value) + ("" if also is None else f" ({also:,.0f} B)")


def _topics() -> list[str]:
    return list(dict.fromkeys(each.topic for each in measured().values()))


def totals(summary: dict[str, Any]) -> dict[str, Any]:
    """The totals of a run as a row of a sweep's table, with those of each traffic group under dotted names."""
    lists = {each.name for each in measured().values() if each.topic == GROUPS}
    whole = {name: value for name, value in summary.items() if name not in lists}
    for group in summary.get("groups") or []:
        whole |= {f"groups.{group['group']}.{name}": value for name, value in group.items() if name != "group"}
    return whole


def group_rows(summary: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The totals of the traffic groups as text: header and one row per group; empty for a single group."""
    groups = summary.get("groups") or []
    if len(groups) < 2:
        return [], []
    names = list(groups[0])
    header = [short(name) for name in names]
    return header, [[format_value(name, group[name]) for name in names] for group in groups]


OFFERED_HEADER = ["group", "mean size", "one every", "offered", "load", "of"]


def offered_rows(offered: list[dict[str, Any]]) -> list[list[str]]:
    """The offered load as text: a row per group at a load, with the mean size that was used."""
    return [
        [
            each["group"],
            f"{each['mean_bytes']:,.0f} B",
            format_value("interval_s", each["interval_s"]),
            rate_text(each["offered_bps"]),
            "-" if each["load"] is None else f"{100 * each['load']:.4g} %",
            f"{each['load_of']}, {rate_text(each['capacity_bps'])}",
        ]
        for each in offered
    ]


def format_value(name: str, value: object) -> str:
    """The value as text, with its unit."""
    if value is None:
        return "-"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    shown = column_unit(name, abs(value))
    return f"{format_number(value if shown.scale == 1.0 else value * shown.scale)} {shown.shown_as}".rstrip()


def format_plain(name: str, value: float) -> str:
    """The value as text, without its unit."""
    scale = column(name).scale
    return format_number(value if scale == 1.0 else value * scale)


def column_unit(name: str, largest: float) -> ColumnInfo:
    """How to display values of a column of a table that has one unit: rates are in Gbit/s if any is 1 Gbit/s."""
    known = column(name)
    is_fast = known.shown_as == "Mbit/s" and largest >= _GBIT
    return replace(known, shown_as="Gbit/s", scale=1 / _GBIT) if is_fast else known


_GBIT = 1e9


def _info(name: str | ColumnInfo) -> ColumnInfo:
    return name if isinstance(name, ColumnInfo) else column(name)


def format_interval(name: str | ColumnInfo, mean: float, half: float, digits: int = 4) -> str:
    """A mean and half of its interval in the display unit, which is not printed; the mean alone without an interval."""
    scale = _info(name).scale
    least = _ROUNDING_SHARE * max(abs(mean * scale), 1.0)
    shown = [0.0 if abs(each * scale) < least else each * scale for each in (mean, half)]
    spread = "" if math.isnan(half) else f" ± {format_number(shown[1], 2)}"
    return f"{format_number(shown[0], digits)}{spread}"


_ROUNDING_SHARE = 1e-12
"""Share of a value, or of the display unit, below which a difference is one of rounding."""


def format_spread(name: str | ColumnInfo, found: Spread, digits: int = 4) -> str:
    """As :func:`format_interval`, or with the quantiles of the seeds where an interval would mislead."""
    text, scale = format_interval(name, found.mean, found.half, digits), _info(name).scale
    ends = f" ({format_number(found.low * scale, 2)}..{format_number(found.high * scale, 2)})"
    return f"{text}{ends if found.quantiles else ''}"


def format_quantity(name: str, value: float) -> str:
    """A value of a column or a sweep variable on an axis: "10 flows", "48 senders"."""
    if column(name).shown_as:
        return format_value(name, value)
    known = _known(name) if "." not in name else None
    noun = known.label.lower() if known and known.label else name.rsplit(".", 1)[-1]
    return f"{format_number(value)} {noun}"


def format_number(value: float, digits: int = 4) -> str:
    """The number with that many significant digits, or more if its integer part has more."""
    if isinstance(value, int) or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def time_text(seconds: float | None) -> str:
    """A time in three digits."""
    if seconds is None:
        return "-"
    unit, factor = ("us", 1e6) if abs(seconds) < 1e-3 else ("ms", 1e3) if abs(seconds) < 1 else ("s", 1.0)
    return f"{format_number(seconds * factor, 3)} {unit}"


def bytes_text(number: float) -> str:
    """A size in three digits."""
    unit, factor = ("B", 1.0) if number < 1e3 else ("KB", 1e-3) if number < 1e6 else ("MB", 1e-6)
    return f"{format_number(number * factor, 3)} {unit}"


def share_text(share: float) -> str:
    """A share as a percentage in three digits."""
    return f"{format_number(100 * share, 3)} %"

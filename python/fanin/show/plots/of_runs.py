"""What ``fanin plot`` draws of runs: queue, goodput, windows and transfers over time, and distributions."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fanin.errors import FaninError, ResultsError, ScenarioError
from fanin.later import pl
from fanin.numbers.summary import ColumnInfo, column, columns_of
from fanin.numbers.units import number, quantity, seconds
from fanin.results.stored_runs import Shown, ShownRuns
from fanin.run.observed import bottleneck, is_chosen, observed
from fanin.scenario import remarks
from fanin.scenario.checks import ASKED_FOR
from fanin.scenario.engine_rows import Link, Network
from fanin.scenario.format.plot import GRIDS, Plot
from fanin.scenario.handle import opened
from fanin.scenario.run_id import simulated
from fanin.scenario.sections import nearest
from fanin.scenario.settings import Settings
from fanin.scenario.thresholds import packet_bytes, share_of_memory
from fanin.scenario.toml_text import to_toml
from fanin.show.plots.by_size import slowdown_by_size
from fanin.show.plots.series import Bound, Series, readable, series_of
from fanin.show.plots.windows import SENDER, by_sender

MOST_LINES = 12
"""More lines cannot be told apart."""


@dataclass(frozen=True)
class Kind:
    """One of the things that can be drawn."""

    says: str
    plot: Callable[[list[str], Asked], Plot]


@dataclass(frozen=True)
class Asked:
    """What the user wants to see of it."""

    of: str | None = None
    """The column."""
    senders: int | None = None
    """How many senders' windows are drawn; by default some."""
    log: bool = False
    title: str = ""
    span: tuple[float, float] | None = None
    """The part of the time that is drawn, in seconds."""


def _queue(by: list[str], asked: Asked) -> Plot:
    name = asked.of or "packets"
    return _plot({"kind": "time", "y": f"queue-trace.{name}", "by": by}, "y", asked)


def _goodput(by: list[str], asked: Asked) -> Plot:
    return _plot({"kind": "time", "y": "bins.goodput_bps", "by": by, "total": True}, "y", asked)


def _windows(by: list[str], asked: Asked) -> Plot:
    rows = {"name": [asked.of or "cwnd"]}
    return _plot({"kind": "time", "y": "probes.value", "by": [*by, SENDER], "rows": rows}, "y", asked)


def _flows(by: list[str], asked: Asked) -> Plot:
    return _plot({"kind": "lanes", "id": "flows", "by": by}, "x", asked)


def _cdf(by: list[str], asked: Asked) -> Plot:
    return _plot({"kind": "cdf", "x": distributed(asked.of), "by": by}, "x", asked)


def _slowdown(by: list[str], asked: Asked) -> Plot:
    scales = {"x-scale": "log", "x-label": "Flow size, up to"}
    return _plot({"kind": "line", "id": "slowdown", "x": "bytes", "y": "slowdown", "by": by} | scales, "y", asked)


def _plot(about: dict[str, Any], axis: str, asked: Asked) -> Plot:
    about |= {"title": asked.title, f"{axis}-scale": "log" if asked.log else "linear"}
    return Plot.model_validate(about).model_copy(update={"x_range": asked.span})


KINDS = {
    "queue": Kind("the queue of the bottleneck over time", _queue),
    "goodput": Kind("the goodput of all traffic over time", _goodput),
    "windows": Kind("congestion windows of some senders over time", _windows),
    "flows": Kind("each transfer from its start to its end, one above the other", _flows),
    "slowdown": Kind("the slowdown of flows by their size", _slowdown),
    "cdf": Kind("the distribution of a column of a result table, by default of completion times", _cdf),
}
"""Name -> what is drawn."""

_SHORT = {"fct": "flows.fct_s", "slowdown": "flows.slowdown", "goodput": "flows.goodput_bps", "query": "requests.qct_s"}
"""Short names of columns whose distribution is drawn."""


def distributed(of: str | None) -> str:
    """The column whose distribution is drawn, as ``table.column``; a name without a table is one of ``flows``.

    Raises:
        FaninError: there is none of that name.

    """
    name = _SHORT.get(of or "fct", of or "")
    name = name if "." in name else f"flows.{name}"
    table, _, own = name.partition(".")
    try:
        known = columns_of(table)
    except KeyError:
        raise FaninError(f"--of {of}: there is no table {table}") from None
    if own not in known:
        close = nearest(own, [*known, *_SHORT])
        hint = f' (did you mean "{close}"?)' if close else ""
        raise FaninError(f"--of {of}: the table {table} has no column {own}{hint}; it has {', '.join(known)}")
    return name


def table_of(what: str, asked: Asked) -> str:
    """The result table that is drawn."""
    table = "flows" if what == "slowdown" else KINDS[what].plot([], asked).table
    assert table is not None
    return table


def tables_of(what: str, asked: Asked) -> list[str]:
    """The result tables that it takes to draw it."""
    return [table_of(what, asked), *(["flows"] if what == "windows" else [])]


def of_a_queue(table: str) -> bool:
    """Whether a result table is of the queues of observed ports alone."""
    return table in ("queues", "queue-trace")


def port_of(run: Shown) -> str | None:
    """The port whose queue a run measured as that of its bottleneck; ``None`` if its tables do not say."""
    try:
        return observed(run)
    except ResultsError:
        named = str(run.scenario["measure"]["bottleneck"])
        return None if named == "auto" else named


def measured_elsewhere(what: str, runs: ShownRuns, asked: Asked) -> str | None:
    """A remark on recorded queues that are not those of the bottlenecks, if queues are drawn.

    Args:
        what: Name of one of :data:`KINDS`.
        runs: Which runs.
        asked: What the user wants to see.

    """
    if not of_a_queue(table_of(what, asked)):
        return None
    open_ = [each for each in runs.runs if not is_chosen(each.scenario)]
    return remarks.unmeasured([(port, _bottleneck(each)) for each in open_ if (port := port_of(each))])


def _bottleneck(run: Shown) -> str | None:
    """The port that limited a run, as far as it kept what tells it."""
    try:
        return bottleneck(run, lambda: _network(run))
    except (ResultsError, ScenarioError):
        return run.summary.get("bottleneck")


def _network(run: Shown) -> Network:
    """The network of a run.

    Raises:
        ScenarioError: it is not known, as the list of flows of the run is not there.

    """
    return opened(to_toml(simulated(run.scenario)), run.place).network()


def _link(run: Shown) -> Link | None:
    """The link of the port whose queue a run measured; ``None`` if that or its network is not known."""
    port = port_of(run)
    with contextlib.suppress(ScenarioError):
        return next((link for link in _network(run)["links"] if link["name"] == port), None)
    return None


def needs(what: str, asked: Asked, measure: dict[str, Any], lengths: Sequence[float] = ()) -> Settings:
    """The settings that make a scenario record what is drawn, unless it does so in a way of its own.

    Args:
        what: Name of one of :data:`KINDS`.
        asked: What the user wants to see.
        measure: The ``[measure]`` of the scenario with every default filled in.
        lengths: Seconds that the runs take, if they are known.

    """
    if what == "windows":
        return [("measure.probes", asked.of or "cwnd"), ("measure.probe-flows", str(_MOST_PROBED))]
    key, off = ASKED_FOR.get(table_of(what, asked), ("", ""))
    if key not in _RECORDED or measure[key] != off:
        return []
    return [(f"measure.{key}", _bin(lengths) if lengths and key == "bin" else _RECORDED[key])]


_RECORDED = {"queue-trace": "on-change", "bin": "1ms"}
"""Key of [measure] -> how it is recorded if the scenario does not say it."""

_MOST_PROBED = 10_000
"""Flows, among which senders are chosen."""


def depends_on_length(what: str, measure: dict[str, Any]) -> bool:
    """Whether what is to be recorded depends on how long the runs take: the width of bins, and room for probes."""
    return what == "windows" or (what == "goodput" and measure["bin"] == ASKED_FOR["bins"][1])


def until(lengths: Sequence[float], duration: str) -> Settings:
    """The setting that ends runs where all of them have ended before: room for what they record is reserved for it."""
    if not lengths:
        return []
    end = math.ceil(1.01e6 * max(lengths)) + 1
    return [("run.duration", f"{end}us")] if end < 1e6 * seconds(duration) else []


def _bin(lengths: Sequence[float]) -> str:
    """A width of 1, 2 or 5 times a power of ten: a hundred bins in the longest run, ten in the shortest, or more."""
    wanted = min(max(lengths) / _BINS, max(min(lengths) / _FEWEST_BINS, max(lengths) / _MOST_BINS))
    nanoseconds = max(wanted * 1e9, 1.0)
    power = 10 ** math.floor(math.log10(nanoseconds))
    return f"{max(digit * power for digit in (1, 2, 5) if digit * power <= nanoseconds)}ns"


_BINS, _FEWEST_BINS, _MOST_BINS = 100, 10, 1000


def drawn(what: str, runs: ShownRuns, asked: Asked) -> tuple[Plot, Series]:
    """What is drawn of some runs.

    Args:
        what: Name of one of :data:`KINDS`.
        runs: Which runs; each combination of what distinguishes them is a line.
        asked: What the user wants to see.

    Raises:
        FaninError: there is no such column.
        ResultsError: a run has not recorded it, or there would be too many lines.

    """
    kind = KINDS[what]
    for run in runs.runs:
        _refuse_unrecorded(run, what, asked)
    ports: set[str | None] = {None}
    if of_a_queue(table_of(what, asked)):
        ports = {port_of(run) for run in runs.runs}
        if len(ports) > 1:
            of_port = [replace(run, row={"port": port_of(run)} | run.row) for run in runs.runs]
            runs = replace(runs, runs=of_port)
    # A distribution is over the seeds together.
    by = [key for key in runs.varying if key != "seed" or what not in ("cdf", "slowdown")]
    if what == "slowdown":
        plot, series = slowdown_by_size(kind.plot(by, asked), runs, asked.of or "homa")
        _refuse_too_many_lines(series, by)
        return plot, series
    if what == "queue" and asked.of is None and all(_limit(each)[1] == "bytes" for each in runs.runs):
        asked = replace(asked, of="bytes")
    plot = kind.plot(by, asked)
    assert plot.table is not None
    try:
        plot, series = (
            _of_senders(plot, runs, asked) if what == "windows" else (plot, series_of(plot, runs, pl.DataFrame()))
        )
    except pl.exceptions.PolarsError as error:
        named = f"{runs.runs[0].place} or another of these runs" if len(runs.runs) > 1 else runs.runs[0].place
        raise ResultsError(f"{named}: its table {plot.table} is none of fanin ({type(error).__name__})") from None
    if plot.kind == "lanes":
        # What has not ended goes on until the run does.
        end = max(run.summary["simulated_s"] for run in runs.runs)
        series = replace(series, data=series.data.with_columns(end=pl.when("ended").then("end").otherwise(end)))
    series = _placed(plot, series)
    if series.data.is_empty():
        of = plot.drawn or "flows.start_s and flows.completion_s"
        raise ResultsError(f"{runs.runs[0].place}: there is no value of {of} to draw")
    _refuse_too_many_lines(series, by)
    if len(ports) == 1 and (port := next(iter(ports))) is not None:
        series = replace(series, x=_of_port(series.x, port), y=_of_port(series.y, port))
    last = series.data["end" if plot.kind == "lanes" else "x"].max()
    if asked.span is not None and isinstance(last, float):
        plot, series = _within(asked.span, last, plot, series)
        last = plot.x_range[1] if plot.x_range else last
    if plot.table in GRIDS:
        plot = plot.model_copy(update={"note": _of_bins(runs.runs)})
    if plot.kind != "cdf" and isinstance(last, float) and last < 1:
        series = replace(series, x=replace(series.x, shown_as="ms", scale=1e3))
    return plot, replace(series, bounds=_bounds(what, plot, runs.runs))


def _refuse_too_many_lines(series: Series, by: list[str]) -> None:
    if len(series.lines) > MOST_LINES:
        keys = ", ".join(by)
        raise ResultsError(
            f"{len(series.lines)} lines cannot be told apart, {MOST_LINES} can: choose some with --where, by {keys}"
        )


def _placed(plot: Plot, series: Series) -> Series:
    """The same series without what is nowhere on an axis, as it is infinite or no number."""
    places = {"lanes": ["x", "end"], "time": ["x", "mean"], "cdf": ["x"]}[plot.kind]
    # Truth values count as numbers.
    data = series.data.with_columns(pl.col(places).cast(pl.Float64))
    return replace(series, data=data.filter(pl.all_horizontal(pl.col(places).is_finite())))


def _of_senders(plot: Plot, runs: ShownRuns, asked: Asked) -> tuple[Plot, Series]:
    """Values of some senders' connections, such as windows."""
    runs, told = by_sender(runs, asked.senders)
    plot = plot.model_copy(update={"note": told})
    series = series_of(plot, runs, pl.DataFrame())
    name = str(plot.rows["name"][0])
    unit = "B" if name in ("cwnd", "ssthresh", "in-flight") else ""
    label = {"cwnd": "Congestion window", "ssthresh": "Slow-start threshold"}.get(name, name)
    return plot, readable(replace(series, y=ColumnInfo(label, "", unit, unit)))


def _within(span: tuple[float, float], last: float, plot: Plot, series: Series) -> tuple[Plot, Series]:
    """The part of the time that is drawn; without an end of its own it ends with ``last``.

    Raises:
        ResultsError: nothing happened in it.

    """
    begin, end = span[0], last if math.isinf(span[1]) else span[1]
    if begin >= last:
        raise ResultsError(f"nothing was recorded after {last:g} s, so nothing from {begin:g} s on can be drawn")
    # Of a trace, _shown has left what leads into the part.
    reaches = pl.col("end") >= begin if plot.kind == "lanes" else (pl.col("x") >= begin) | (plot.table not in GRIDS)
    within = (pl.col("x") <= end) | (plot.table not in GRIDS and plot.kind != "lanes")
    shown = series.data.filter(reaches & within)
    return plot.model_copy(update={"x_range": (begin, end)}), replace(series, data=shown)


def _of_bins(runs: Sequence[Shown]) -> str:
    """Over how long each value is a mean: what is shorter does not show."""
    widths = sorted({seconds(run.scenario["measure"]["bin"]) for run in runs})
    shortest = f"{1e3 * widths[0]:g} ms"
    over = shortest if len(widths) == 1 else f"{shortest} to {1e3 * widths[-1]:g} ms"
    return f"Each point is the mean over {over}."


def _of_port(axis: ColumnInfo, port: str) -> ColumnInfo:
    """The axis with the name of the port in place of what it is."""
    return replace(axis, label=axis.label.replace("the observed port", port))


def _refuse_unrecorded(run: Shown, what: str, asked: Asked) -> None:
    """Says which setting records what a run has not recorded."""
    off = dict(ASKED_FOR.values())
    settings = " ".join(f"--set {path}={value}" for path, value in needs(what, asked, off))
    again = f"fanin plot {what} SCENARIO records it" + (f", and so does fanin run SCENARIO {settings}" * bool(settings))
    tables = tables_of(what, asked)
    try:
        empty = any(run.table(table).is_empty() for table in tables)
    except ResultsError as error:
        raise ResultsError(f"{error}; {again}; a sweep keeps it with --tables {','.join(tables)}") from None
    if empty:
        raise ResultsError(f"{run.place}: it has not recorded {KINDS[what].says}; {again}")


def _limit(run: Shown) -> tuple[float, str]:
    """What the port whose queue is drawn can hold, in the unit in which the scenario has it: bytes or packets."""
    network, link = run.scenario["network"], _link(run)
    if network["admission"] != "static":
        alpha = float(network["dt-alpha"])
        size, unit = quantity(network["shared-buffer"]) or (0.0, "")
        held = size * packet_bytes(run.scenario) if unit == "pkt" else size
        return held * share_of_memory(alpha), "bytes"
    # Of a tier that has none of its own, ports have the common one.
    own = network["buffer" if link is None else link["buffer_key"]]
    size, unit = quantity(own if number(own) else network["buffer"]) or (0.0, "")
    return size, "packets" if unit == "pkt" else "bytes"


def _bounds(what: str, plot: Plot, runs: list[Shown]) -> tuple[Bound, ...]:
    """The buffers of a queue and the capacities of a goodput, if there are only a few of them."""
    drawn_of = plot.drawn.partition(".")[2]
    if what == "queue":
        # No buffer of a switch limits the queue of a host.
        limits = [_limit(each) for each in runs if (link := _link(each)) is None or link["buffer_bytes"] is not None]
        found = dict.fromkeys(limit for limit, unit in limits if unit == drawn_of)
        named = [Bound("buffer", limit) for limit in found]
    elif column(drawn_of).unit == "bit/s":
        rates = dict.fromkeys(each.summary.get("capacity_bps") for each in runs)
        axis: Literal["x", "y"] = "x" if what == "cdf" else "y"
        named = [Bound("link rate", rate, axis) for rate in rates if rate]
    else:
        named = []
    return tuple(named) if len(named) <= _MOST_BOUNDS else ()


_MOST_BOUNDS = 3

"""Windows over time by sender: some senders, each with all of its connections one after the other.

A round of an incast may open a new connection from each server, and one of them says little about the whole run.
"""

from __future__ import annotations

from dataclasses import replace

from fanin.errors import ResultsError
from fanin.later import pl
from fanin.results.columns import Table
from fanin.results.stored_runs import Shown, ShownRuns

SENDER = "sender"
"""The column with a sender's name."""

_Sender = tuple[str, int]
"""Traffic group and host."""


SHOWN = 4
"""So many senders, or all if there are fewer, unless a number of them is asked for."""


def by_sender(runs: ShownRuns, count: int | None) -> tuple[ShownRuns, str]:
    """The runs with the probes of some senders, and what a reader has to know of them.

    Args:
        runs: Runs with probes.
        count: How many senders; by default :data:`SHOWN`.

    Raises:
        ResultsError: there are fewer senders than are asked for.

    """
    connections = [_connections(run) for run in runs.runs]
    every = pl.concat([found.select("group", "src", "timeouts", "probed") for found in connections])
    known = every.filter(pl.col("probed") > 0)
    senders = _chosen(known, SHOWN if count is None else count)
    if count is not None and len(senders) < count:
        raise ResultsError(f"--senders {count}: there are windows of {len(senders)} senders, so 1 to {len(senders)}")
    shown = [
        replace(run, table=_table(run, _probes(run, of, senders)))
        for run, of in zip(runs.runs, connections, strict=True)
    ]
    number = every.select("group", "src").n_unique()
    told = [f"{len(senders)} of {number} senders" if number > len(senders) else ""]
    if number > len(senders):
        told.append("of each traffic group the one with the most timeouts, then the first")
    if (probed := int((every["probed"] > 0).sum())) < every.height:
        told.append(f"{probed} of {every.height} connections were probed (measure.probe-flows)")
    # A window is never zero.
    told.append("0: the sender has no connection")
    return ShownRuns(shown, runs.labels), "; ".join(filter(None, told)) + "."


def _connections(run: Shown) -> pl.DataFrame:
    """``group src connection timeouts start end probed``, a row each in order of start; ``probed``: how many rows."""
    end = float(run.summary["simulated_s"])
    flows = run.table("flows").with_columns(pl.col("group").cast(pl.String))
    each = flows.group_by("group", "src", "connection", maintain_order=True).agg(
        pl.col("timeouts").sum(),
        pl.col("start_s").min().alias("start"),
        pl.col("completion_s").fill_null(end).max().alias("end"),
    )
    probed = run.table("probes").group_by("connection").len("probed")
    return each.join(probed, on="connection", how="left").with_columns(pl.col("probed").fill_null(0)).sort("start")


def _chosen(connections: pl.DataFrame, count: int) -> dict[_Sender, str]:
    """Senders of each traffic group in turn: first the one with the most timeouts, then the others in order of host."""
    found = connections.group_by("group", "src").agg(pl.col("timeouts").sum()).sort("group", "src")
    order = list(dict.fromkeys(connections["group"]))
    waiting = {}
    for group in order:
        rows = found.filter(group=group)
        first = rows["timeouts"].arg_max() or 0
        hosts = rows["src"].to_list()
        waiting[group] = [hosts.pop(first), *hosts]
    chosen: list[_Sender] = []
    while len(chosen) < count and any(waiting.values()):
        chosen += [(group, hosts.pop(0)) for group, hosts in waiting.items() if hosts]
    chosen = sorted(chosen[:count], key=lambda sender: (order.index(sender[0]), sender[1]))
    return {(group, host): f"{group}, host {host}" for group, host in chosen}


def _probes(run: Shown, connections: pl.DataFrame, senders: dict[_Sender, str]) -> pl.DataFrame:
    """The run's probes of some senders; each value holds to the next, and is zero between connections."""
    run_end = float(run.summary["simulated_s"])
    probes = run.table("probes").with_columns(pl.col("name").cast(pl.String))
    parts = [probes.clear().with_columns(pl.lit("").alias(SENDER))]
    for (group, host), name in senders.items():
        free = -1.0
        for each in connections.filter((pl.col("probed") > 0), group=group, src=host).iter_rows(named=True):
            # Connections of servers that share a host overlap: then one at a time is followed.
            if each["start"] < free:
                continue
            free = each["end"]
            rows = probes.filter(pl.col("connection") == each["connection"], pl.col("time_s") <= free)
            parts.append(_to_its_end(rows, free, run_end).with_columns(pl.lit(name).alias(SENDER)))
    return pl.concat(parts)


def _to_its_end(rows: pl.DataFrame, end: float, run_end: float) -> pl.DataFrame:
    """The rows of a connection and the end of each of its values: it lasts to the end of the run, or is zero then."""
    last = rows.group_by("name", maintain_order=True).last().select(rows.columns).with_columns(time_s=pl.lit(end))
    return pl.concat([rows, last if end >= run_end else last.with_columns(value=pl.lit(0.0))])


def _table(run: Shown, probes: pl.DataFrame) -> Table:
    return lambda name: probes if name == "probes" else run.table(name)

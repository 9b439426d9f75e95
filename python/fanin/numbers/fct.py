"""Flow completion times and slowdown by flow size, in the two forms that papers use.

The two are not comparable: they divide by different ideal times and use different bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from fanin.errors import ResultsError
from fanin.later import np, pl
from fanin.numbers.kinds import of_texts
from fanin.numbers.stats import Floats, percentile
from fanin.numbers.summary import format_number, format_value

PERCENTILES = (50.0, 95.0, 99.0, 99.9)


@dataclass(frozen=True)
class Definition:
    """A published definition of slowdown."""

    key: str
    ideal: str
    """Column of the flow table by which completion times are divided."""
    bins: int
    """Number of bins with equally many flows, by size."""
    least: float | None
    """Lower bound of the slowdown."""
    says: str


DEFINITIONS = {
    "homa": Definition(
        "homa",
        "ideal_s",
        10,
        None,
        "completion time over the ideal one, alone in the network with an unlimited window; tenths of the "
        "flows by size (Montazeri et al. 2018)",
    ),
    "hpcc": Definition(
        "hpcc",
        "ideal_hpcc_s",
        20,
        1.0,
        "completion time over base round trip plus wire bytes at the path's lowest rate, at least 1; twentieths of "
        "flows by size (Li et al. 2019)",
    ),
}
"""Name -> definition.

Homa's ideal includes store and forward, handshake, request and think time exactly, but not the window: a lone flow
whose initial window does not fill its path is slower by the round trips in which the window grows.
"""


NUMBERS = ("flow", "bytes", "fct_s", *(each.ideal for each in DEFINITIONS.values()))
"""The columns that are numbers."""


def complete(flows: pl.DataFrame) -> pl.DataFrame:
    """The finite flows that completed, smallest first.

    Raises:
        ResultsError: the table was written by an engine that did not record a needed column, or is none of flows.

    """
    if missing := [name for name in (*NUMBERS, "group", "class") if name not in flows.columns]:
        raise ResultsError(f"the flow table has no column {missing[0]}: run the scenario again with this engine")
    for name in ("group", "class"):
        if not of_texts(flows.schema[name]) or flows[name].null_count():
            raise ResultsError(f"not a flows table: not every {name} is a text")
    done = flows.filter(pl.col("fct_s").is_not_null(), pl.col("bytes").is_not_null())
    return done.sort("bytes", "flow").with_columns(pl.col("class", "group").cast(pl.String))


def by_size(flows: pl.DataFrame, definition: Definition, bins: int | None = None) -> list[dict[str, Any]]:
    """A row per bin of equally many flows: sizes, number, completion times and slowdown.

    Bins with the same edges are one: flows of one size may fill several.

    Args:
        flows: The result of :func:`complete`.
        definition: Definition of slowdown.
        bins: Number of bins, if not that of the definition.

    """
    count = min(bins or definition.bins, flows.height)
    edges = [flows.height * place // count for place in range(count + 1)] if count else []
    sizes = flows["bytes"]
    merged = [list(alike) for _, alike in groupby(pairwise(edges), lambda edge: (sizes[edge[0]], sizes[edge[1] - 1]))]
    return [_row(flows[alike[0][0] : alike[-1][1]], definition) for alike in merged]


def by_class(flows: pl.DataFrame, definition: Definition) -> list[dict[str, Any]]:
    """A row per class, and one for all flows if there are several; flows without a class have their group's name."""
    names = flows["class"].unique().sort().to_list()
    rows = [{"class": name, **_row(flows.filter(pl.col("class") == name), definition)} for name in names]
    return rows if len(rows) < 2 else [*rows, {"class": "all", **_row(flows, definition)}]


def cdf(flows: pl.DataFrame, definition: Definition) -> pl.DataFrame:
    """The cumulative distributions of completion time and slowdown, by class and for all flows.

    There is a row per flow; of equal rows the last one, with the largest share.
    """
    parts = [flows.with_columns(pl.lit("all").alias("class"))] if flows["class"].n_unique() > 1 else []
    # Without flows it is an empty table.
    parts += [part for _, part in flows.group_by("class", maintain_order=True)] or [flows]
    share = (pl.int_range(1, pl.len() + 1) / pl.len()).alias("share")
    slowdowns = [part.with_columns(_slowdown(definition).alias("slowdown")) for part in parts]
    return pl.concat(
        part.select("class", share, pl.col("fct_s").sort(), pl.col("slowdown").sort()).unique(
            ["fct_s", "slowdown"], keep="last", maintain_order=True
        )
        for part in slowdowns
    )


def _slowdown(definition: Definition) -> pl.Expr:
    ratio = pl.col("fct_s") / pl.col(definition.ideal)
    return ratio if definition.least is None else ratio.clip(lower_bound=definition.least)


def _row(flows: pl.DataFrame, definition: Definition) -> dict[str, Any]:
    slowdown: Floats = np.asarray(flows.select(_slowdown(definition)).to_series().sort())
    fct: Floats = np.asarray(flows["fct_s"].sort())
    row: dict[str, Any] = {
        "flows": flows.height,
        "bytes_from": flows["bytes"].min(),
        "bytes_to": flows["bytes"].max(),
        "fct_mean_s": float(fct.mean()),
    }
    row |= {f"fct_p{percent:g}_s": percentile(fct, percent) for percent in PERCENTILES}
    row["slowdown_mean"] = float(slowdown.mean())
    return row | {f"slowdown_p{percent:g}": percentile(slowdown, percent) for percent in PERCENTILES}


HEADER = ["flows", "from", "to", "completion p50", "p99", "slowdown mean", "p50", "p95", "p99", "p99.9"]


def shown(row: dict[str, Any]) -> list[str]:
    """A row as text, under ``HEADER``."""
    times = [format_value(name, row[name]) for name in ("fct_p50_s", "fct_p99_s")]
    names = ("slowdown_mean", "slowdown_p50", "slowdown_p95", "slowdown_p99", "slowdown_p99.9")
    sizes = [f"{row[name]:,} B" for name in ("bytes_from", "bytes_to")]
    return [f"{row['flows']:,}", *sizes, *times, *(format_number(row[name], 3) for name in names)]

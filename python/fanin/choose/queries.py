"""How long the queries of a run took, and how long they need with the link to themselves.

The goodput of a link does not tell: other traffic fills it while queries wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fanin.later import pl

_MANY = 4
"""So many senders to one receiver are many."""


@dataclass(frozen=True)
class Queries:
    """The queries of traffic from many senders to one."""

    count: int
    median_s: float
    p99_s: float
    alone_s: float
    """How long a query needs with the link to itself; the median."""
    times: float
    """How many times longer they took, all together."""
    p99_times: float
    """The same at the 99th percentile."""
    by_timers: float
    """Share of what they took longer that queries that waited for a timer took longer than the others."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))


def queries(
    flows: pl.DataFrame, jitter: Mapping[str, float], wire: pl.Expr, rate_bps: float, least_s: float, end_s: float
) -> Queries | None:
    """The queries of a run; ``None`` if it has none.

    Args:
        flows: The run's table of flows, with how long each waits when the run ends.
        jitter: Groups of traffic from many senders to one, with how far apart the scenario lets answers begin.
        wire: Bytes of a transfer with its headers.
        rate_bps: Rate of the slowest link.
        least_s: What the round trips of one answer take without queues.
        end_s: When the run ended, for queries that have not.

    """
    if not jitter:
        return None
    own = pl.col("group").cast(pl.String).is_in(list(jitter)) & pl.col("bytes").is_not_null()
    expired = (pl.col("timeouts") > 0) | (pl.col("loss_probes") > 0) | pl.col("waiting_s").is_not_null()
    found = (
        flows.filter(own & pl.col("start_s").is_not_null() & pl.col("query").is_not_null())
        .group_by("group", "query", maintain_order=True)
        .agg(
            took=pl.col("completion_s").fill_null(end_s).max() - pl.col("start_s").min(),
            begun=pl.col("start_s").max() - pl.col("start_s").min(),
            sent=8 * wire.sum() / rate_bps,
            expired=expired.any(),
        )
        # Answers that are asked for only when others are complete begin later without need.
        .with_columns(most=pl.col("group").cast(pl.String).replace_strict(dict(jitter), return_dtype=pl.Float64))
        .with_columns(alone=pl.min_horizontal("begun", "most") + pl.max_horizontal("sent", pl.lit(least_s)))
    )
    if found.is_empty():
        return None
    took, alone = found["took"], found["alone"]
    calm = found.filter(~pl.col("expired"))["took"].median()
    usual = pl.max_horizontal("alone", pl.lit(calm, dtype=pl.Float64))
    timers_s = found.filter("expired").select((pl.col("took") - usual).clip(lower_bound=0.0).sum()).item()
    later_s = found.select((pl.col("took") - pl.col("alone")).clip(lower_bound=0.0).sum()).item()
    return Queries(
        count=found.height,
        median_s=_percentile(took, 50),
        p99_s=_percentile(took, 99),
        alone_s=_percentile(alone, 50),
        times=float(took.sum()) / float(alone.sum()),
        p99_times=_percentile(took / alone, 99),
        by_timers=timers_s / later_s if later_s else 0.0,
    )


def in_bursts(flows: pl.DataFrame, groups: list[str], loaded_s: float) -> pl.DataFrame:
    """The transfers that many senders begin to one receiver within a round trip; each such burst is a query.

    Groups in which they are the fewer are left out: in those, senders meet by chance.

    Args:
        flows: The run's table of flows.
        groups: Groups of traffic whose transfers belong to no query.
        loaded_s: A round trip with the queue's wait.

    """
    by, size = ["group", "dst", "trip"], pl.col("bytes").is_not_null()
    found = (
        flows.filter(pl.col("group").cast(pl.String).is_in(groups) & pl.col("start_s").is_not_null() & size)
        .with_columns(trip=(pl.col("start_s") / loaded_s).floor())
        .with_columns(query=pl.struct(by).rank("dense").cast(pl.UInt64), senders=pl.col("src").n_unique().over(by))
    )
    return found.filter((pl.col("senders") >= _MANY).mean().over("group") >= 0.5, pl.col("senders") >= _MANY)


def _percentile(values: pl.Series, percent: int) -> float:
    """As :func:`fanin.numbers.stats.percentile`, without NumPy, which `fanin run` would read for this alone."""
    return float(values.sort()[math.ceil(percent * len(values) / 100) - 1])

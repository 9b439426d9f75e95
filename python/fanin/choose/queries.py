"""How long the queries of a run took, and how long they need with the link to themselves.

The goodput of a link does not tell: other traffic fills it while queries wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fanin.later import pl

_MANY = 4
"""So many senders to one receiver are many."""


_MOST = 0.5
"""Waits are the most of what a query took longer from this share on."""


class Alone(NamedTuple):
    """What an answer takes without queues, but for sending it."""

    first_s: float
    """Until its first packet arrives: what comes before, and the way."""
    last_s: float
    """Until its last one does, with round trips in which its window grows."""


@dataclass(frozen=True)
class Queries:
    """The queries of traffic from many senders to one."""

    count: int
    median_s: float
    p99_s: float
    alone_s: float
    """How long a query needs with the link to itself; the median."""
    apart_s: float
    """How much of that is that the scenario has its answers begin apart; the median."""
    times: float
    """How many times longer they took, all together."""
    p99_times: float
    """The same at the 99th percentile."""
    unfinished: int
    """How many had not ended when the run did, whose times are what they have taken so far."""
    by_timers: float
    """Share of what they took longer that is waits for timers."""
    waited: float
    """Share of the queries that took longer by waits for timers, for the most part."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))


def queries(
    flows: pl.DataFrame,
    jitter: Mapping[str, float],
    wire: pl.Expr,
    rate_bps: float,
    alone: Alone,
    end_s: float,
) -> Queries | None:
    """The queries of a run; ``None`` if it has none.

    Args:
        flows: The run's table of flows, with which of them wait when the run ends.
        jitter: Groups of traffic from many senders to one, with how far apart the scenario lets answers begin.
        wire: Bytes of a transfer with its headers.
        rate_bps: Rate of the slowest link.
        alone: What an answer takes without queues.
        end_s: When the run ended, for queries that have not.

    """
    if not jitter:
        return None
    own = pl.col("group").cast(pl.String).is_in(list(jitter)) & pl.col("bytes").is_not_null()
    waited = pl.col("timer_wait_s") + pl.col("probe_wait_s") + pl.col("waiting_s").fill_null(0.0)
    found = (
        flows.filter(own & pl.col("start_s").is_not_null() & pl.col("query").is_not_null())
        .group_by("group", "query", maintain_order=True)
        .agg(
            took=pl.col("completion_s").fill_null(end_s).max() - pl.col("start_s").min(),
            begun=pl.col("start_s").max() - pl.col("start_s").min(),
            sent=8 * wire.sum() / rate_bps,
            open=pl.col("completion_s").is_null().any(),
            # Answers wait at the same time.
            waited=waited.max(),
        )
        # Answers that are asked for only when others are complete begin later without need.
        .with_columns(most=pl.col("group").cast(pl.String).replace_strict(dict(jitter), return_dtype=pl.Float64))
        # While one answer waits for acknowledgements, the link sends others.
        .with_columns(longest=pl.max_horizontal(alone.first_s + pl.col("sent"), pl.lit(alone.last_s)))
        .with_columns(apart=pl.min_horizontal("begun", "most"))
        .with_columns(alone=pl.col("apart") + pl.col("longest"))
        .with_columns(later=(pl.col("took") - pl.col("alone")).clip(lower_bound=0.0))
        .with_columns(waited=pl.min_horizontal("waited", "later"))
    )
    if found.is_empty():
        return None
    took, needed, later_s = found["took"], found["alone"], float(found["later"].sum())
    by_waits = found.filter((pl.col("waited") > 0) & (pl.col("waited") >= _MOST * pl.col("later")))
    return Queries(
        count=found.height,
        median_s=_percentile(took, 50),
        p99_s=_percentile(took, 99),
        alone_s=_percentile(needed, 50),
        apart_s=_percentile(found["apart"], 50),
        times=float(took.sum()) / float(needed.sum()),
        p99_times=_percentile(took / needed, 99),
        unfinished=int(found["open"].sum()),
        by_timers=float(found["waited"].sum()) / later_s if later_s else 0.0,
        waited=by_waits.height / found.height,
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

"""How long the queries of a run took, and how long they need with the link to themselves.

The goodput of a link does not tell: other traffic fills it while queries wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fanin.later import pl

_MIN_SENDERS_OF_INCAST = 4
"""So many senders to one receiver are many."""


_DECISIVE_WAIT_SHARE = 0.5
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

    groups: list[str]
    """The groups of traffic that they are of."""
    count: int
    median_s: float
    p99_s: float
    alone_s: float
    """How long a query needs with the link to itself; the median."""
    apart_s: float
    """How much of that is that the scenario has its answers begin apart; the median."""
    begun_s: float
    """Between the first and the last of them that begin so; the median."""
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


class Spread(NamedTuple):
    """How far apart the scenario lets the answers of a group begin, and through what they pass together."""

    begin_s: float
    """Between the first and the last of them, by jitter of those who ask or send at once."""
    think_s: float
    """Jitter of the time until they are sent, of which the starts of transfers tell nothing."""
    rate_bps: float
    """What all of a query's answers pass together."""


def queries(
    flows: pl.DataFrame, spreads: Mapping[str, Spread], wire: pl.Expr, alone: Alone, end_s: float
) -> Queries | None:
    """The queries of a run; ``None`` if it has none.

    Args:
        flows: The run's table of flows, with which of them wait when the run ends.
        spreads: Groups of traffic from many senders to one.
        wire: Bytes of a transfer with its headers.
        alone: What an answer takes without queues.
        end_s: When the run ended, for queries that have not.

    """
    if not spreads:
        return None
    own = pl.col("group").cast(pl.String).is_in(list(spreads)) & pl.col("bytes").is_not_null()
    waited = pl.col("timer_wait_s") + pl.col("probe_wait_s") + pl.col("waiting_s").fill_null(0.0)

    def of_group(value: Callable[[Spread], float]) -> pl.Expr:
        values = {name: value(spread) for name, spread in spreads.items()}
        return pl.col("group").cast(pl.String).replace_strict(values, return_dtype=pl.Float64)

    query = ["group", "query"]
    found = (
        flows.filter(own & pl.col("start_s").is_not_null() & pl.col("query").is_not_null())
        .with_columns(sent=8 * wire / of_group(lambda spread: spread.rate_bps))
        .sort("start_s", maintain_order=True)
        # Answers that are asked for only when others are complete begin later without need.
        .with_columns(
            begun=pl.min_horizontal(
                pl.col("start_s") - pl.col("start_s").min().over(query), of_group(lambda spread: spread.begin_s)
            ),
            left=pl.col("sent").cum_sum(reverse=True).over(query),
        )
        .group_by(query, maintain_order=True)
        .agg(
            took=pl.col("completion_s").fill_null(end_s).max() - pl.col("start_s").min(),
            together=pl.col("sent").sum(),
            begun=pl.col("begun").max(),
            # The link sends while answers begin.
            spread=(pl.col("begun") + pl.col("left")).max(),
            last=of_group(lambda spread: spread.think_s).first() + pl.col("sent").max(),
            open=pl.col("completion_s").is_null().any(),
            # Answers wait at the same time.
            waited=waited.max(),
        )
        .with_columns(pl.max_horizontal("spread", "last").alias("spread"))
        # While one answer waits for acknowledgements, the link sends others.
        .with_columns(
            alone=pl.max_horizontal(alone.first_s + pl.col("spread"), pl.lit(alone.last_s)),
            apart=pl.col("spread") - pl.col("together"),
        )
        .with_columns(later=(pl.col("took") - pl.col("alone")).clip(lower_bound=0.0))
        .with_columns(waited=pl.min_horizontal("waited", "later"))
    )
    if found.is_empty():
        return None
    took, needed, later_s = found["took"], found["alone"], float(found["later"].sum())
    by_waits = found.filter((pl.col("waited") > 0) & (pl.col("waited") >= _DECISIVE_WAIT_SHARE * pl.col("later")))
    return Queries(
        groups=list(spreads),
        count=found.height,
        median_s=_percentile(took, 50),
        p99_s=_percentile(took, 99),
        alone_s=_percentile(needed, 50),
        apart_s=_percentile(found["apart"], 50),
        begun_s=_percentile(found["begun"], 50),
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
    return found.filter(
        (pl.col("senders") >= _MIN_SENDERS_OF_INCAST).mean().over("group") >= 0.5,
        pl.col("senders") >= _MIN_SENDERS_OF_INCAST,
    )


def _percentile(values: pl.Series, percent: int) -> float:
    """As :func:`fanin.numbers.stats.percentile`, without NumPy, which `fanin run` would read for this alone."""
    return float(values.sort()[math.ceil(percent * len(values) / 100) - 1])

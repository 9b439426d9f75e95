"""Which timers the transfers of a run waited for, as far as its table of flows tells.

The table counts the timers of a transfer and has its times, but not which timer ran for how long. The rest is inferred
from how much later a transfer ended than others of its group that waited for none. That a timer ran when the run ended
is inferred from losses that were not repaired.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fanin.later import pl
from fanin.numbers.units import seconds

_SOME = 5
"""A tail loss probe that costs more than so many round trips, the queue's wait included, is a wait."""

_NEARLY = 0.9
"""A transfer that ended later by so much of a timer may have waited for that."""

_HALF = 0.5
"""It has, if waits for the minimum of the timer explain less than this share of what it ended later by."""

_MOST_DOUBLINGS = 30


@dataclass(frozen=True)
class Waits:
    """How many transfers waited for which timer."""

    timed: int
    """Transfers with a retransmission timeout, of data or of a SYN."""
    timed_in_fan_in: int
    """Those of them in traffic from many senders to one."""
    probed: int
    """Transfers without one that waited for a tail loss probe for longer than some round trips."""
    probed_in_fan_in: int
    timed_initially: int
    """Transfers with a timeout of data whose timer was the initial one, as no round trip had been measured."""
    timed_measured: int
    """The others with a timeout of data: their timer was one of measured round trips, for which its minimum holds."""
    probed_initially: int
    """Those of the transfers that waited for a probe which waited for it for the initial timer."""
    probed_least: int
    """The others of them that waited for as long as the minimum of the timer: Linux adds that if one segment is out."""
    longest_probed_s: float
    """How much later than others ended the transfer that waited longest for a probe."""
    probing_s: float
    """For how long at least one transfer waited for a probe, at most."""
    probed_is_slowest: bool
    """Whether the slowest transfer is one that waited for a probe."""
    slowest_waited: bool
    """Whether the slowest transfer of known size is one that waited, for whatever timer."""
    waiting: int
    """Transfers that waited for their first timer when the run ended, for longer than some round trips."""
    waiting_in_fan_in: int
    waiting_least: int
    """Those of them of which a part had arrived, so that their timer is one of measured round trips."""
    longest_waiting_s: float
    """How long before that the last packet was lost of the transfer that waited longest."""
    longest_s: float
    """How much later than in an empty network ended the slowest transfer."""

    @property
    def initially(self) -> int:
        """Transfers that waited for the initial timer, whatever it did when it expired."""
        return self.timed_initially + self.probed_initially

    @property
    def least(self) -> int:
        """Transfers that waited for a timer of measured round trips, of which most is its minimum."""
        return self.timed_measured + self.probed_least + self.waiting_least


def waits(
    flows: pl.DataFrame, transport: dict[str, Any], fan_in: Collection[str], loaded_s: float, end_s: float
) -> Waits:
    """How many transfers waited for which timer.

    Args:
        flows: The run's table of flows, with how long each waits when the run ends (:func:`with_waiting`).
        transport: That section of the scenario, with every default filled in.
        fan_in: Groups of traffic from many senders to one.
        loaded_s: A round trip with the queue's wait.
        end_s: When the run ended, for transfers that have not.

    """
    in_fan_in = pl.col("group").cast(pl.String).is_in(list(fan_in))
    initial_s, least_s = seconds(transport["rto-initial"]), seconds(transport["rto-min"])
    took = pl.col("fct_s").fill_null(end_s - pl.col("start_s"))
    calm = (pl.col("timeouts") == 0) & (pl.col("loss_probes") == 0)
    usual = pl.max_horizontal(pl.col("fct_s").filter(calm).median().over("group"), "ideal_s").fill_null(0.0)
    expired = pl.col("timeouts") - pl.col("timeouts_syn")
    explained = _doubling(expired.clip(1), max(least_s, loaded_s))
    # What a SYN waited for is over when data are sent.
    syn_s = _doubling(pl.col("timeouts_syn"), seconds(transport["syn-timeout"]))
    rows = (
        flows.filter(pl.col("bytes").is_not_null() & pl.col("start_s").is_not_null())
        .with_columns(took=took)
        .with_columns(later=pl.col("took") - usual, own=in_fan_in)
        .with_columns(
            probed=(pl.col("timeouts") == 0) & (pl.col("loss_probes") > 0) & (pl.col("later") > _SOME * loaded_s),
            initially=(initial_s > least_s)
            & (pl.col("later") - syn_s >= _NEARLY * initial_s)
            & (explained < _HALF * (pl.col("later") - syn_s)),
        )
    )
    waiting = flows.filter(pl.col("waiting_s").is_not_null())
    probed, initially = rows.filter("probed"), rows.filter((expired > 0) & pl.col("initially")).height
    # Endless transfers have no completion time, but they count as waiting too.
    timed = flows.filter(pl.col("timeouts") > 0)
    end = pl.col("start_s") + pl.col("took")
    return Waits(
        timed=timed.height,
        timed_in_fan_in=timed.filter(in_fan_in).height,
        probed=probed.height,
        probed_in_fan_in=probed.filter("own").height,
        timed_initially=initially,
        timed_measured=timed.filter(expired > 0).height - initially,
        probed_initially=probed.filter("initially").height,
        probed_least=probed.filter(~pl.col("initially") & (pl.col("later") >= _NEARLY * least_s)).height,
        longest_probed_s=_most(probed, pl.col("later")),
        probing_s=covered(probed.select((end - pl.col("later")).alias("start_s"), end.alias("end_s")), 0.0),
        probed_is_slowest=0 < _most(rows, pl.col("took")) == _most(probed, pl.col("took")),
        slowest_waited=_most(rows, pl.col("took")) == _most(rows.filter(~calm), pl.col("took")),
        waiting=waiting.height,
        waiting_in_fan_in=waiting.filter(in_fan_in).height,
        waiting_least=waiting.filter(pl.col("delivered_bytes") > 0).height,
        longest_waiting_s=_most(waiting, pl.col("waiting_s")),
        longest_s=_most(rows, pl.col("took") - pl.col("ideal_s").fill_null(0.0)),
    )


def with_waiting(flows: pl.DataFrame, drops: pl.DataFrame, loaded_s: float, end_s: float) -> pl.DataFrame:
    """The table of flows with ``waiting_s``: for how long a transfer waits for its first timer when the run ends.

    It is null for those that do not: whose losses were all repaired, or the last of which is a few round trips old.

    Args:
        flows: The run's table of flows.
        drops: Its table of drops.
        loaded_s: A round trip with the queue's wait.
        end_s: When the run ended.

    """
    last = drops.filter(~pl.col("ack")).group_by("connection").agg(since=end_s - pl.col("time_s").max())
    first = (pl.col("timeouts") == 0) & (pl.col("loss_probes") == 0)
    lost = pl.col("completion_s").is_null() & (pl.col("drops") > pl.col("retransmissions"))
    waiting = pl.when(first & lost & (pl.col("since") > _SOME * loaded_s)).then("since")
    return flows.join(last, on="connection", how="left", maintain_order="left").with_columns(waiting_s=waiting)


def _doubling(timeouts: pl.Expr, first_s: float) -> pl.Expr:
    """How long so many timeouts of a transfer take: each doubles the timer."""
    return (2.0 ** timeouts.clip(0, _MOST_DOUBLINGS) - 1) * first_s


def covered(spans: pl.DataFrame, begin: float) -> float:
    """How long at least one of some spans (``start_s end_s``) lasts, from ``begin`` on."""
    ordered = spans.with_columns(pl.col("start_s").clip(lower_bound=begin)).sort("start_s")
    reached = pl.col("end_s").cum_max().shift(1).fill_null(begin)
    new = pl.col("end_s") - pl.max_horizontal("start_s", reached)
    return float(ordered.select(new.clip(lower_bound=0.0).sum()).item())


def _most(rows: pl.DataFrame, what: pl.Expr) -> float:
    return float(rows.select(what.max().fill_null(0.0)).item())

"""Which timers the transfers of a run waited for, as its table of flows tells.

The table has how long the timers of a transfer ran, and how many expired, but not each by itself: whether one was the
initial timer follows from how long they ran.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fanin.later import pl

_MIN_PROBE_RTTS = 5
"""A tail loss probe that costs more than so many round trips, the queue's wait included, is a wait."""

_TIMER_SHARE = 0.9
"""A timer that ran for so much of a value may be that one: probes are due in a round trip or two less."""

_MAIN_SHARE = 0.5
"""Waits decide how long a transfer took if they are so much of what it took longer than in an empty network; and timers
were not those of measured round trips if these explain less than so much of how long they ran."""

_MAX_DOUBLINGS = 30


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
    """For how long the transfer waited that waited longest for probes."""
    probing_s: float
    """For how long at least one transfer waited for a probe, at most."""
    probed_is_slowest: bool
    """Whether probes decided how long the slowest transfer took."""
    slowest_waited: bool
    """Whether timers, of whatever kind, decided how long the slowest transfer of known size took."""
    waiting: int
    """Transfers that waited for their first timeout when the run ended, for longer than some round trips."""
    waiting_in_fan_in: int
    waiting_least: int
    """Those of them whose timer is one of measured round trips."""
    waiting_syn: int
    """Those of them whose SYN was lost."""
    waiting_initially: int
    """Those of them whose first window was lost, so that their timer is the initial one."""
    longest_waiting_s: float
    """For how long its timer had run then, of the one that waited longest."""
    longest_s: float
    """How much later than in an empty network ended the slowest transfer."""

    @property
    def initially(self) -> int:
        """Transfers that waited for the initial timer, whatever it did when it expired."""
        return self.timed_initially + self.probed_initially + self.waiting_initially

    @property
    def least(self) -> int:
        """Transfers that waited for a timer of measured round trips, of which most is its minimum."""
        return self.timed_measured + self.probed_least + self.waiting_least


def waits(
    flows: pl.DataFrame,
    transport: dict[str, Any],
    fan_in: Collection[str],
    loaded_s: float,
    end_s: float,
    handshake_s: float,
) -> Waits:
    """How many transfers waited for which timer.

    Args:
        flows: The run's table of flows, with which of them wait when the run ends (:func:`with_waiting`).
        transport: That section of the scenario, with every default filled in.
        fan_in: Groups of traffic from many senders to one.
        loaded_s: A round trip with the queue's wait.
        end_s: When the run ended, for transfers that have not.
        handshake_s: How long the handshake of a transfer takes; 0 for connections that are open before.

    """
    in_fan_in = pl.col("group").cast(pl.String).is_in(list(fan_in))
    initial_s, least_s = transport["rto-initial"].number, transport["rto-min"].number
    expired = pl.col("timeouts") - pl.col("timeouts_syn")
    measured_s = _doubling(expired.clip(1), max(least_s, loaded_s))
    ran_s = pl.col("timer_wait_s") - _doubling(pl.col("timeouts_syn"), transport["syn-timeout"].number)
    is_late = pl.col("probe_wait_s") > _MIN_PROBE_RTTS * loaded_s
    is_probed = (pl.col("timeouts") == 0) & pl.col("waiting_s").is_null() & is_late
    timed = flows.filter(pl.col("timeouts") > 0)
    initially = timed.filter(
        (expired > 0) & (initial_s > least_s) & (ran_s >= _TIMER_SHARE * initial_s) & (measured_s < _MAIN_SHARE * ran_s)
    ).height
    probed = flows.filter(is_probed)
    probed_initially = (pl.col("probe_wait_s") >= _TIMER_SHARE * initial_s) & (initial_s > least_s)
    # Of transfers with a timeout, that is told.
    waiting = flows.filter(pl.col("waiting_s").is_not_null() & (pl.col("timeouts") == 0))
    empty = waiting.filter(pl.col("delivered_bytes") == 0)
    # The timer of a SYN runs from the start on.
    is_syn = end_s - pl.col("start_s") - pl.col("waiting_s") < handshake_s / 2
    of_syn = empty.filter(is_syn).height if handshake_s else 0
    # A handshake measures a round trip, and so may what else the host knows of the path.
    is_first = (pl.col("waiting_s") > least_s + loaded_s) & (initial_s > least_s)
    first = 0 if handshake_s else empty.filter(is_first).height
    took_s = pl.col("fct_s").fill_null(end_s - pl.col("start_s"))
    finite = flows.filter(pl.col("bytes").is_not_null() & pl.col("start_s").is_not_null()).with_columns(
        took_s=took_s, later_s=took_s - pl.col("ideal_s").fill_null(0.0), is_probed=is_probed
    )
    slowest = finite.sort("took_s", descending=True, maintain_order=True).head(1)
    decided = pl.col("timer_wait_s") + pl.col("waiting_s").fill_null(0.0)
    probes = pl.when(is_late).then("probe_wait_s").otherwise(0.0)
    end = pl.col("start_s") + pl.col("took_s")
    spans = finite.filter("is_probed").select((end - pl.col("probe_wait_s")).alias("start_s"), end.alias("end_s"))
    return Waits(
        timed=timed.height,
        timed_in_fan_in=timed.filter(in_fan_in).height,
        probed=probed.height,
        probed_in_fan_in=probed.filter(in_fan_in).height,
        timed_initially=initially,
        timed_measured=timed.filter(expired > 0).height - initially,
        probed_initially=probed.filter(probed_initially).height,
        probed_least=probed.filter(~probed_initially & (pl.col("probe_wait_s") >= _TIMER_SHARE * least_s)).height,
        longest_probed_s=_largest(probed, pl.col("probe_wait_s")),
        probing_s=covered(spans, 0.0),
        probed_is_slowest=_holds(slowest, pl.col("is_probed") & (probes >= _MAIN_SHARE * pl.col("later_s"))),
        slowest_waited=_holds(slowest, (decided + probes > 0) & (decided + probes >= _MAIN_SHARE * pl.col("later_s"))),
        waiting=waiting.height,
        waiting_in_fan_in=waiting.filter(in_fan_in).height,
        waiting_least=waiting.height - of_syn - first,
        waiting_syn=of_syn,
        waiting_initially=first,
        longest_waiting_s=_largest(waiting, pl.col("waiting_s")),
        longest_s=_largest(finite, pl.col("later_s")),
    )


def with_waiting(flows: pl.DataFrame, loaded_s: float) -> pl.DataFrame:
    """The table of flows with ``waiting_s`` only of those that wait for a timer when the run ends.

    A timer runs for whatever is outstanding: it is a wait if it ran for some round trips, and a loss was not repaired,
    nothing has arrived yet (an acknowledgement may be lost), or it had expired before.

    Args:
        flows: The run's table of flows.
        loaded_s: A round trip with the queue's wait.

    """
    unrepaired = (pl.col("drops") > pl.col("retransmissions")) | (pl.col("delivered_bytes") == 0)
    lost = (pl.col("timeouts") > 0) | unrepaired
    waiting = pl.when(lost & (pl.col("waiting_s") > _MIN_PROBE_RTTS * loaded_s)).then("waiting_s")
    return flows.with_columns(waiting_s=waiting)


def _doubling(timeouts: pl.Expr, first_s: float) -> pl.Expr:
    """How long so many timeouts of a transfer take: each doubles the timer."""
    return (2.0 ** timeouts.clip(0, _MAX_DOUBLINGS) - 1) * first_s


def covered(spans: pl.DataFrame, begin: float) -> float:
    """How long at least one of some spans (``start_s end_s``) lasts, from ``begin`` on."""
    ordered = spans.with_columns(pl.col("start_s").clip(lower_bound=begin)).sort("start_s")
    reached = pl.col("end_s").cum_max().shift(1).fill_null(begin)
    new = pl.col("end_s") - pl.max_horizontal("start_s", reached)
    return float(ordered.select(new.clip(lower_bound=0.0).sum()).item())


def _largest(rows: pl.DataFrame, what: pl.Expr) -> float:
    return float(rows.select(what.max().fill_null(0.0)).item())


def _holds(rows: pl.DataFrame, what: pl.Expr) -> bool:
    """Whether it holds for any of the rows."""
    return bool(rows.select(what.any()).item())

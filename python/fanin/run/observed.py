"""Which port's queue a run measured, and which port turned out to be its bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Protocol

from fanin.later import pl
from fanin.results.columns import Table
from fanin.results.dataset import Row
from fanin.results.runs import Run
from fanin.scenario import remarks
from fanin.scenario.engine_rows import Network, between, of_hosts
from fanin.scenario.file import ScenarioFile
from fanin.scenario.settings import Settings
from fanin.scenario.traffic import as_run

BOTTLENECK = "measure.bottleneck"
"""The setting that names the observed port."""


class _Measured(Protocol):
    """A run with its totals and result tables."""

    @property
    def summary(self) -> dict[str, Any]:
        """Its totals."""

    @property
    def table(self) -> Table:
        """A result table by name."""


def observed(run: _Measured) -> str | None:
    """The port whose queue a run measured as that of its bottleneck; ``None`` if it measured none.

    Raises:
        ResultsError: the table of queues was not kept.

    """
    ports: list[str] = run.table("queues").filter(pl.col("bottleneck"))["port"].to_list()
    return ports[0] if ports else None


def bottleneck(run: _Measured, network: Callable[[], Network], faults: Iterable[dict[str, Any]] = ()) -> str | None:
    """The port that limited a run: its total of that name, or the busiest one if no queue lost a packet.

    Where nothing is lost, the bytes that wait tell little: a host holds what another link is too slow for, or what it
    sends at once. Of ports about as busy, it is the one where most waited, but a switch's rather than a host's. It is
    ``None`` if nothing was sent.

    Args:
        run: The run.
        network: Returns its network.
        faults: Those of its resolved scenario, which may have lowered the rate of a link.

    Raises:
        ResultsError: the table of links was not kept.

    """
    found: str | None = run.summary.get("bottleneck")
    if run.summary["drops"] > lost_to_faults(run.summary):
        return found
    links, end = run.table("links"), run.summary["simulated_s"]
    rows, own = links.select("link", "bytes", "rate_bps").iter_rows(), observed(run)
    # What sent nothing was not busy.
    known = network()
    changes = faults_of_rates(faults, own, known)
    busy = {link: sent / mean_rate(link, rate, changes, (0.0, end)) for link, sent, rate in rows if sent and rate}
    most = max(busy.values(), default=0)
    if most <= 0:
        return None
    near: list[str] = [link for link, share in busy.items() if share >= _ABOUT * most]
    leaving = of_hosts(known)
    shared = [link for link in near if link not in leaving]
    return next((port for port in (found, own) if port in shared), (shared or near)[0])


Changes = list[tuple[set[str], dict[str, Any]]]
"""Faults that change the rates of links, each with these links."""


def faults_of_rates(faults: Iterable[dict[str, Any]], observed: str | None, network: Network) -> Changes:
    """The faults that change the rates of links, each with the links.

    Args:
        faults: The faults of a resolved scenario.
        observed: The port that the scenario calls its bottleneck.
        network: Its network.

    """
    found: Changes = []
    # Others may have no link.
    for fault in (each for each in faults if each["kind"] == "rate"):
        link = observed if fault["link"] == "bottleneck" else str(fault["link"])
        if link is not None:
            found.append((between(network, link, both_ways=fault["direction"] == "both"), fault))
    return found


def mean_rate(link: str, rate: float, changes: Changes, within: tuple[float, float]) -> float:
    """The rate of a link in the mean over some time, in which faults may have changed it.

    Args:
        link: Its name.
        rate: Its rate without faults, in bit/s.
        changes: The faults that change rates.
        within: The time, from when to when in seconds.

    """
    begin, end = within
    spans = [(fault["rate"].number, *_span(fault, within)) for links, fault in changes if link in links]
    turns = sorted({begin, end, *(at for _, *ends in spans for at in ends)})
    sent = 0.0
    for at, until in pairwise(turns):
        # Of several that last, the engine takes the last in the file.
        lowered = [changed for changed, first, last in spans if first <= at < last]
        sent += (until - at) * (lowered or [rate])[-1]
    return sent / (end - begin) if end > begin else rate


OF_FAULTS = ("random-loss", "link-down", "chosen")
"""Causes of drops that have nothing to do with the load, and not with queues."""


def lost_to_faults(summary: dict[str, Any]) -> int:
    """Packets that a run lost whatever the load: at random, by a list, on links that were down; not in queues."""
    # Only runs with a list have the total of its losses.
    return sum(int(summary.get(f"drops_{reason.replace('-', '_')}", 0)) for reason in OF_FAULTS)


def faulty_s(faults: Iterable[dict[str, Any]], within: tuple[float, float]) -> float:
    """For how long of some time a link was down or had another rate by a fault, the longest of these."""
    spans = [_span(fault, within) for fault in faults if fault["kind"] in ("link-down", "rate")]
    return max((last - first for first, last in spans), default=0.0)


def _span(fault: dict[str, Any], within: tuple[float, float]) -> tuple[float, float]:
    """From when to when a fault lasts, of some time."""
    begin, end = within
    at, lasts = fault["at"].number, fault["for"].number
    first = min(max(at, begin), end)
    return first, max(first, min(at + lasts if lasts else end, end))


_ABOUT = 0.95
"""A link that sent for so much of the time that the busiest one did is about as busy."""


def find_moved_bottleneck(run: Run, resolved: dict[str, Any], network: Callable[[], Network]) -> tuple[str, str] | None:
    """The observed port and the one that turned out to be the bottleneck, if these differ.

    ``None`` also if the scenario says which port to observe, or if a fault is at that port, which would move as well.

    Args:
        run: The run.
        resolved: Its scenario with every default filled in.
        network: Returns its network.

    """
    here, resolved = observed(run), as_run(resolved, run.summary)
    if here is None or is_chosen(resolved) or any(fault.get("link") == "bottleneck" for fault in resolved["fault"]):
        return None
    found = bottleneck(run, network, resolved["fault"])
    return None if found in (None, here) else (here, found)


def is_chosen(resolved: dict[str, Any]) -> bool:
    """Whether the scenario names the port to observe."""
    return bool(resolved["measure"]["bottleneck"] != "auto")


def unmeasured(experiment: ScenarioFile, runs: Iterable[tuple[Settings, Row]], shown: Iterable[str]) -> list[str]:
    """A warning if totals of a queue are shown that are not those of the port that turned out to be the bottleneck.

    For commands with many runs, which are not made again: differences between them would be those between ports.

    Args:
        experiment: The scenario.
        runs: The settings of each run, and its row of a table of runs.
        shown: The columns that are shown or decide.

    """
    if not any(name.startswith("queue_") for name in shown):
        return []
    known: dict[tuple[tuple[str, str], ...], Network | None] = {}
    ports = []
    for given, row in runs:
        if row.get("bottleneck") is None or row.get("queue_mean_packets") is None:
            continue
        of_network = tuple(setting for setting in given if setting[0].startswith(_DECIDE))
        if of_network not in known:
            known[of_network] = None if is_chosen(experiment.resolved(given)) else experiment.network(given)
        # A host holds what it sends at once; the table of links, which would tell if its own is busy, is not kept.
        if (network := known[of_network]) is not None and row["bottleneck"] not in of_hosts(network):
            own = next(link["name"] for link in network["links"] if link["bottleneck"])
            ports.append((own, row["bottleneck"]))
    return [remark] if (remark := remarks.unmeasured(ports)) else []


_DECIDE = ("environment", "network.", "traffic.", "measure.")
"""Beginnings of the keys that decide which port is observed."""

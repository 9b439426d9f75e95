"""Which port's queue a run measured, and which port turned out to be its bottleneck."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from fanin.later import pl
from fanin.results.columns import Table
from fanin.results.dataset import Row
from fanin.results.runs import Run
from fanin.scenario import remarks
from fanin.scenario.file import ScenarioFile
from fanin.scenario.settings import Settings

BOTTLENECK = "measure.bottleneck"
"""The setting that names the observed port."""


class _Measured(Protocol):
    """A run with its result tables."""

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


def elsewhere(run: Run, resolved: dict[str, Any]) -> tuple[str, str] | None:
    """The observed port and the one that turned out to be the bottleneck, if these differ.

    ``None`` also if the scenario says which port to observe, or if a fault is at that port: it would move as well, and
    the run would be another.

    Args:
        run: The run.
        resolved: Its scenario with every default filled in.

    """
    found, here = run.summary["bottleneck"], observed(run)
    if found is None or here in (None, found) or is_chosen(resolved):
        return None
    if any(fault.get("link") == "bottleneck" for fault in resolved["fault"]):
        return None
    return here, found


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
    known: dict[tuple[tuple[str, str], ...], str | None] = {}
    ports = []
    for given, row in runs:
        if row.get("bottleneck") is None or row.get("queue_mean_packets") is None:
            continue
        of_network = tuple(setting for setting in given if setting[0].startswith(_DECIDE))
        if of_network not in known:
            known[of_network] = None if is_chosen(experiment.resolved(given)) else _port(experiment, given)
        if (port := known[of_network]) is not None:
            ports.append((port, row["bottleneck"]))
    return [remark] if (remark := remarks.unmeasured(ports)) else []


_DECIDE = ("environment", "network.", "traffic.", "measure.")
"""Beginnings of the keys that decide which port is observed."""


def _port(experiment: ScenarioFile, given: Settings) -> str:
    return str(experiment.links(given).filter(pl.col("bottleneck"))["link"].item())

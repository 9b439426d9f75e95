"""Runs of a grid of scenario values: ``fanin sweep``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fanin.ask.common import warn
from fanin.choose import cautions
from fanin.choose.comparison import METRICS
from fanin.run.job import Progress, Watch, Workers
from fanin.run.scenario import Scenario
from fanin.run.sweep import Runs, sweep_all, whole


def sweep(
    scenario: Scenario,
    *,
    seeds: Sequence[int] | None = None,
    jobs: int | None = None,
    memory: float | None = None,
    workers: Workers | None = None,
    out: Path | str | None = "results",
    quick: bool = False,
    tables: Iterable[str] = ("flows", "queues"),
    trust: bool = False,
    progress: Watch = lambda _: None,
) -> Runs:
    """Runs every point of a scenario's sweep, or of :meth:`Scenario.vary`, as ``fanin sweep`` does.

    Finished points that are found in the store are not run again.

    Results do not depend on ``jobs`` or on the order in which runs end. On Ctrl-C the runs that have finished stay
    in the store. What :meth:`Scenario.warnings` says of the points is raised as :class:`fanin.ScenarioWarning`, and
    what :func:`fanin.compare` would warn of as well.

    Args:
        scenario: The scenario.
        seeds: Seeds that replace the file's.
        jobs: Threads; by default one per core. The engine releases Python's lock while it simulates.
        memory: Bytes that all runs together may take; by default most of the free memory.
        workers: Where to run the simulations, if not on threads.
        out: Results folder; ``None`` keeps everything in memory.
        quick: Whether to run fewer points, for a preview.
        tables: Result tables to keep, in addition to those that the experiment itself reads.
        trust: Whether a ``benchmark`` of a file that the package does not ship may start its program.
        progress: Called as runs begin and finish. ``False`` lets no more begin: those that have finished are returned,
            and the others are among :attr:`Runs.missing`.

    Raises:
        ScenarioError: a point is invalid, or a file that is not trusted starts a program.
        RunError: a run violated an invariant.
        WorkerError: runs were aborted because of the machine; all others are in the store.
        ResultsError: results cannot be written.

    """
    if scenario.needs_network and not scenario.has_runs:
        # Nothing varies but the seed.
        scenario = scenario.vary({})
    scenario.warn(swept=True)
    warn(cautions.of_sweep(scenario))
    goes_on = True

    def advance(now: Progress) -> None:
        nonlocal goes_on
        goes_on &= progress(now) is not False

    where: dict[str, Any] = {"jobs": jobs, "memory": memory, "workers": workers, "out": out}
    how: dict[str, Any] = {"seeds": seeds and list(seeds), "quick": quick, "tables": tables, "trust": trust}
    (done,) = sweep_all([scenario], **where, **how, advance=advance, go_on=lambda: goes_on)
    if scenario.needs_network:
        warn(cautions.of_data(scenario, done.data, [point.overrides for point, _ in done], METRICS))
    return whole(done) if goes_on else done

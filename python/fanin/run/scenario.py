"""A scenario that can be run: read it, change it, check it, run it."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin._engine import RunOutput
from fanin.command import worded
from fanin.errors import ScenarioWarning
from fanin.results.files import writing
from fanin.results.runs import Run, html_table
from fanin.results.store import Finished, Store, kept_in
from fanin.run.observed import BOTTLENECK, find_moved_bottleneck
from fanin.run.steps import Change, Simulation
from fanin.scenario import checks, loads, own, remarks
from fanin.scenario.file import Files, ScenarioFile
from fanin.scenario.format.bounds import matches
from fanin.scenario.points import points
from fanin.scenario.run_id import run_id
from fanin.scenario.settings import Overrides, Settings, settings, without_seed


def _warn_of_moved(observed: str, found: str) -> None:
    warnings.warn(remarks.moved(observed, found), ScenarioWarning, stacklevel=3)


class Scenario(ScenarioFile):
    """A scenario: a network, its traffic, and what varies in a sweep."""

    @functools.cached_property
    def _warned(self) -> set[object]:
        """Warnings that were raised, and values that were looked at for them."""
        return set()

    def check(self, overrides: Overrides | None = None) -> None:
        """Checks the scenario, each value set by the sweep and the variants, and every named column.

        Raises:
            ScenarioError: the scenario is invalid; the message names file, line, key and the closest valid name.

        """
        checks.check(self, settings(overrides))

    def warnings(self, overrides: Overrides | None = None, *, swept: bool = False) -> list[str]:
        """Warnings about settings that are valid but probably unintended; :meth:`run` raises those of its run.

        Args:
            overrides: Scenario values to replace.
            swept: Whether they are about each value of each sweep variable and each variant, as :func:`fanin.sweep`
                raises them. How many packets fit where is then left out if anything varies: a sweep may be about that.

        """
        if not self.needs_network:
            return []
        given = settings(overrides)
        changes = checks.changes(self) if swept else []
        values = [given + change.settings for change in [checks.NO_CHANGE, *changes]]
        each = [self.resolved(replaced) for replaced in values]
        found = [remarks.unmarked(resolved) for resolved in each]
        found += [remark for resolved in each for remark in remarks.unasked(resolved)]
        found += [remark for resolved in each for remark in remarks.uncounted(resolved)]
        table = self.resolved_table(given)
        found += remarks.impossible(table)
        found += remarks.overloaded(self.offered(given), each[0])
        found += remarks.unused(self._unused(given))
        found += remarks.unequal(self.variants if swept else [], self.sweep.variables)
        # Runs of a sweep have the schemes that it gives them.
        if not any(path == "transport.scheme" for change in changes for path, _ in change.settings):
            found.append(remarks.not_linuxs_own(table))
            found += remarks.overruled(table)
        # Who sets the duration wants the run to be cut there.
        if any(row["is_default"] for row in table if row["path"] == "run.duration"):
            found += remarks.endless(each[0], self.preview(given))
        found += loads.never_marked(self, values[1:]) if changes else loads.remarks(self, given)
        return list(dict.fromkeys(worded(remark) for remark in found if remark))

    def warn(self, overrides: Overrides | None = None, *, swept: bool = False) -> None:
        """Raises those warnings in whoever called the caller of this, each once for an experiment."""
        values = (swept, *(pair for pair in settings(overrides) if pair[0] != "run.seed"))
        # To look takes longer than a small run.
        found = [] if values in self._warned else self.warnings(overrides, swept=swept)
        new = [remark for remark in found if remark not in self._warned]
        self._warned |= {values, *new}
        for remark in new:
            warnings.warn(remark, ScenarioWarning, stacklevel=3)

    def unshown(self) -> list[str]:
        """Warnings about variants of this file that no plot of it shows, if it has plots of runs."""
        shown = [plot.where for plot in self.document.plot if not plot.is_diagram]
        if not shown:
            return []
        read = [
            where
            for case in self.document.cases
            for where in (case.where, case.over, case.minus, *case.rivals)
            if where is not None
        ]
        rows = [point.row for point in points(self, self.seeds[:1])]
        found: dict[str, list[tuple[str, bool]]] = {}
        for variant in self.document.variant:
            own = [row for row in rows if row[variant.axis] == variant.label]
            if not any(matches(row, where) for row in own for where in shown):
                judged = any(matches(row, where) for row in own for where in read)
                found.setdefault(variant.axis, []).append((variant.label, judged))
        return [remarks.unshown(axis, labels) for axis, labels in found.items()]

    def _unused(self, given: Settings) -> list[remarks.Unused]:
        """Values without effect in the scenario and in its sweep: of other schemes, or made ineffective by a key.

        A file with ``runs-of`` has no scenario of its own; the experiment that has it is checked for that.
        """
        if self.document.runs_of is not None:
            return []

        def found(values: Settings) -> list[remarks.Unused]:
            return self._handle(values).unused()

        replaced = self.overrides + given
        own = found(replaced)
        decisive = {beside[0] for _, beside in own if beside is not None}

        def chooses(path: str) -> bool:
            return path in decisive or path.endswith(".scheme")

        choices = [
            replaced + change.settings
            for change in checks.changes(self)
            if any(chooses(path) for path, _ in change.settings)
        ]
        # What the file says for its own choice is no mistake when the user makes another.
        if any(chooses(path) for path, _ in replaced):
            choices.append([(path, value) for path, value in replaced if not chooses(path)])
        elsewhere = [{path for path, _ in found(values)} for values in choices]
        return [value for value in own if all(value[0] in paths for paths in elsewhere)]

    def run(
        self,
        seed: int | None = None,
        *,
        out: Store | Path | str | None = None,
        progress: Callable[[float], bool] | None = None,
        moved: Callable[[str, str], None] | None = _warn_of_moved,
    ) -> Run:
        """Simulates the scenario once, as ``fanin run`` does.

        What :meth:`warnings` says of it is raised as :class:`fanin.ScenarioWarning`, and what its totals say as well.
        The queue is that of the port that turned out to be the bottleneck, unless the scenario names one.

        Args:
            seed: Seed of the run; by default the scenario's own.
            out: Results folder to keep it in; by default nothing is written.
            progress: Called with the share of the duration simulated so far; returns whether to continue. A run that
                is stopped has no result.
            moved: Called with the port where incast is expected and with the bottleneck, if another port is; by
                default this is a warning. ``None`` measures the queue of the former in any case.

        Raises:
            ScenarioError: the scenario is not valid.
            RunError: an invariant was violated, or ``progress`` stopped the run.
            ResultsError: the result cannot be written.

        >>> fanin.Scenario("sdtcp/fig9").set({"transport.scheme": "dctcp", "traffic.bursts.senders": 20}).run(seed=3)

        """
        self.warn()
        given: Settings = [] if seed is None else [("run.seed", str(seed))]
        with kept_in(out) as store:
            resolved = self.resolved(given)
            output = self.simulate(given, progress, store, self.files(resolved), on_the_way=moved is not None)
            ports = None if moved is None else self._moved(output, given, resolved)
            if moved is not None and ports is not None:
                moved(*ports)
                given.append((BOTTLENECK, ports[1]))
                resolved = self.resolved(given)
            name, summary = run_id(resolved), json.loads(output.summary)
            self.resolve_unchanged(name, self.files(resolved), given)
            stored = None
            if store is not None:
                finished = Finished(name, resolved["run"]["seed"], output, output.table_names)
                (stored,) = store.keep([finished], resolved, self.name)
        for remark in remarks.of_totals(summary, resolved):
            warnings.warn(remark, ScenarioWarning, stacklevel=2)
        return Run(name, summary, stored, output, resolved)

    def _moved(self, output: RunOutput, given: Settings, resolved: dict[str, Any]) -> tuple[str, str] | None:
        """The port where incast is expected and the bottleneck, if the output now has the queue of that."""
        made, network = Run("", json.loads(output.summary), None, output), self.handle(given).network
        ports = find_moved_bottleneck(made, resolved, network)
        # A run that records more of the observed port than totals keeps it.
        return ports if ports is not None and output.observe(ports[1]) else None

    def start(self, seed: int | None = None) -> Simulation:
        """Begins a run that goes on step by step, is observed, and can be changed on the way.

        Args:
            seed: Seed of the run; by default the scenario's own.

        Raises:
            ScenarioError: the scenario is not valid, or runs in the Linux kernel.

        >>> simulation = fanin.Scenario("tour/rack").start(seed=1)
        >>> simulation.step("100us")
        >>> simulation.observe().queue_packets

        """
        self.warn()
        given: Settings = [] if seed is None else [("run.seed", str(seed))]
        resolved = self.resolved(given)
        handle = self.handle([], self.files(resolved))

        def finish(output: RunOutput, changes: list[Change]) -> Run:
            found = resolved
            if ports := self._moved(output, given, resolved):
                warnings.warn(remarks.moved(*ports), ScenarioWarning, stacklevel=3)
                found = self.resolved([*given, (BOTTLENECK, ports[1])])
            # A run that was changed on the way is none of the scenario's own.
            found |= {"set": [list(change) for change in changes]} if changes else {}
            summary = json.loads(output.summary)
            for remark in remarks.of_totals(summary, found):
                warnings.warn(remark, ScenarioWarning, stacklevel=3)
            return Run(run_id(found), summary, None, output, found)

        seed = resolved["run"]["seed"]
        with own.seeded(seed):
            return Simulation(_engine.Simulation(handle, seed, True), self.handle, finish, seed)

    def simulate(
        self,
        overrides: Overrides,
        progress: Callable[[float], bool] | None = None,
        store: Store | None = None,
        files: Files | None = None,
        *,
        on_the_way: bool = False,
    ) -> RunOutput:
        """Runs the engine, with the interpreter released.

        Args:
            overrides: Scenario values to replace.
            progress: Called with the share of the duration simulated so far; returns whether to continue.
            store: Where rows of finished flows are kept during the run; by default in memory.
            files: The lists of flows with the fingerprints that they must have; by default any.
            on_the_way: Whether any port on the way to the client of an incast may be observed after the run.

        Raises:
            RunError: an invariant was violated, or ``progress`` stopped the run.
            ResultsError: the rows cannot be written.

        """
        given, seed = without_seed(settings(overrides))
        handle = self.handle(given, files)
        with own.seeded(self.resolved(given)["run"]["seed"] if seed is None and own.is_used() else seed or 0):
            if store is None:
                return handle.run(seed, progress, None, on_the_way)
            with writing(store.root):
                return handle.run(seed, progress, store.spill(), on_the_way)

    def simulate_seeds(
        self,
        overrides: Overrides,
        seeds: list[int],
        seconds: float,
        progress: Callable[[float], bool] | None = None,
        store: Store | None = None,
        files: Files | None = None,
    ) -> list[RunOutput]:
        """Runs the engine with one seed after the other, in one call with the interpreter released.

        Args:
            overrides: Scenario values to replace, except for the seed.
            seeds: The seeds.
            seconds: No run starts later than so long after the first, so that there may be fewer outputs than seeds.
            progress: As for :meth:`simulate`, but called less often.
            store: As for :meth:`simulate`.
            files: As for :meth:`simulate`.

        Raises:
            RunError: a run violated an invariant.
            ResultsError: the rows cannot be written.

        """
        handle = self.handle(overrides, files)
        # The generators of a scheme in Python are seeded here, for one run at a time.
        seeds = seeds[:1] if own.is_used() and own.is_own(self.resolved(overrides)) else seeds
        with own.seeded(seeds[0]):
            if store is None:
                return handle.run_seeds(seeds, seconds, progress)
            with writing(store.root):
                return handle.run_seeds(seeds, seconds, progress, store.spill())

    def _repr_html_(self) -> str:
        rows = [("file", str(self.path)), ("paper", f"{self.document.paper} {self.document.figure}".strip())]
        rows += [(path, ", ".join(map(str, values))) for path, values in self.sweep.variables.items()]
        rows += [(variant.axis, variant.label) for variant in self.variants]
        rows.append(("seeds", ", ".join(map(str, self.seeds))))
        return html_table(self.document.title or self.name, ("", "value"), rows)

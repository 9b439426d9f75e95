"""A scenario file as an object: load it, run it, look at its tables."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fanin import _engine, library, scenario
from fanin.errors import ResultsError, ScenarioError
from fanin.scenario import Document, Scalar
from fanin.store import Store, StoredRun, run_id
from fanin.summary import column, format_value
from fanin.toml_lines import line_of

Overrides = list[tuple[str, str]]
"""Dotted paths and the values they take, as ``--set`` gives them."""


@dataclass(frozen=True)
class Run:
    """One finished run, in memory or in the store."""

    run_id: str
    summary: dict[str, Any]
    stored: StoredRun | None = None
    output: _engine.RunOutput | None = None

    def table(self, name: str) -> pl.DataFrame:
        """A result table by name.

        Raises:
            ResultsError: the run has no such table, or the stored file is damaged.

        """
        if self.output is None:
            assert self.stored is not None
            return self.stored.table(name)
        if name not in self.output.table_names:
            raise ResultsError(f"no table {name}; this run has {', '.join(self.output.table_names)}")
        return pl.DataFrame(self.output.table(name))

    def flows(self) -> pl.DataFrame:
        """One row per flow: size, start, completion, losses and timeouts."""
        return self.table("flows")

    def queues(self) -> pl.DataFrame:
        """One row per queue: backlog, drops and marks."""
        return self.table("queues")

    def links(self) -> pl.DataFrame:
        """One row per link: packets, bytes and utilisation."""
        return self.table("links")

    def probes(self) -> pl.DataFrame:
        """State of the senders whenever it changed."""
        return self.table("probes")

    def requests(self) -> pl.DataFrame:
        """One row per request: fan-in, start and completion."""
        return self.table("requests")

    def __repr__(self) -> str:
        goodput = format_value("goodput_bps", self.summary.get("goodput_bps"))
        return f"<Run {self.run_id}: {self.summary.get('flows')} flows, goodput {goodput}>"

    def _repr_html_(self) -> str:
        rows = ((column(name).label, format_value(name, value)) for name, value in self.summary.items())
        return html_table(f"Run {self.run_id}", ("", "value"), rows)


class Experiment:
    """A scenario file, read and checked. Make one with :func:`load`."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.text = scenario.read_text(path)
        self.document: Document = scenario.parse(self.text, str(path))
        self.runs_name, self._runs_path, self._runs_text = name, path, self.text
        sweep = self.document.sweep
        if (origin := self.document.runs_of) is not None:
            self.runs_name, self._runs_path = library.find(origin)
            self._runs_text = scenario.read_text(self._runs_path)
            sweep = scenario.parse(self._runs_text, str(self._runs_path)).sweep
        self.variables = sweep.variables
        self.seeds = sweep.seeds

    def resolved(self, overrides: Overrides | None = None) -> dict[str, Any]:
        """The scenario with every default filled in.

        Raises:
            ScenarioError: naming file, line, key and the nearest valid name.

        """
        text = _engine.resolve(self._runs_text, str(self._runs_path), overrides or [])
        resolved: dict[str, Any] = json.loads(text)
        return resolved

    def resolved_table(self, overrides: Overrides | None = None) -> list[dict[str, Any]]:
        """Every value of the scenario with where it comes from: ``path value is_default source doc``."""
        text = _engine.resolved_table(self._runs_text, str(self._runs_path), overrides or [])
        rows: list[dict[str, Any]] = json.loads(text)
        return rows

    def check(self, overrides: Overrides | None = None) -> None:
        """Checks the scenario, and each value of each sweep variable.

        Raises:
            ScenarioError: naming file, line, key and the nearest valid name.

        """
        settings = list(overrides or [])
        changes = [[], *([(path, override(value))] for path, values in self.variables.items() for value in values)]
        for change in changes:
            _engine.check(self._runs_text, str(self._runs_path), settings + change)
        known = {*self.variables, "seed"}
        for index, plot in enumerate(self.document.plot):
            if plot.by is not None and plot.by not in known:
                line = line_of(self.text, ("plot", index, "by"))
                raise ScenarioError(str(self.path), line, f"plot.{index}.by", f"{plot.by} is not swept")

    def run(
        self,
        seed: int | None = None,
        overrides: Overrides | None = None,
        *,
        store: Store | None = None,
        progress: Callable[[float], bool] | None = None,
    ) -> Run:
        """Simulates the scenario once.

        Args:
            seed: Seed of the run; the scenario's own if left out.
            overrides: Scenario values to replace.
            store: Where to keep the result; nothing is written if left out.
            progress: Called with the share of the duration simulated so far; returns whether to go on.

        Raises:
            ScenarioError: the scenario is not valid.
            RunError: an invariant broke, or ``progress`` said to stop.
            ResultsError: the result cannot be written.

        """
        settings = list(overrides or [])
        if seed is not None:
            settings.append(("run.seed", str(seed)))
        resolved = self.resolved(settings)
        output = self.simulate(settings, progress)
        name = run_id(resolved)
        stored = None if store is None else store.save(name, output, output.table_names, resolved)
        return Run(name, json.loads(output.summary), stored, output)

    def simulate(self, overrides: Overrides, progress: Callable[[float], bool] | None = None) -> _engine.RunOutput:
        """Runs the engine, with the interpreter released."""
        return _engine.run(self._runs_text, str(self._runs_path), overrides, progress)

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.document.title or self.path}>"

    def _repr_html_(self) -> str:
        rows = [("file", str(self.path)), ("paper", f"{self.document.paper} {self.document.figure}".strip())]
        rows += [(path, ", ".join(map(str, values))) for path, values in self.variables.items()]
        rows.append(("seeds", ", ".join(map(str, self.seeds))))
        return html_table(self.document.title or self.name, ("", "value"), rows)


def load(name: str | Path) -> Experiment:
    """Reads a scenario file, or an experiment by its name such as ``sdtcp/fig9``.

    Raises:
        NotFoundError: there is neither a file nor an experiment of that name.
        ScenarioError: the sections that Python owns are not valid.

    """
    return Experiment(*library.find(name))


def override(value: Scalar) -> str:
    """A sweep value as the engine takes it on its override list."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def html_table(caption: str, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A small HTML table for notebooks."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><tr>{head}</tr>{body}</table>"

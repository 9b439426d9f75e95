"""A scenario file as an object: load it, run it, look at its tables."""

from __future__ import annotations

import difflib
import html
import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from fanin import _engine, library, remarks, scenario
from fanin.errors import ResultsError, ScenarioError
from fanin.scenario import Document, Scalar
from fanin.store import Store, StoredRun, run_id
from fanin.summary import COLUMNS, format_value, group_rows, rows
from fanin.toml_lines import line_of

Overrides = Mapping[str, Scalar] | Sequence[tuple[str, Scalar]]
"""Dotted paths and the values they take: a dictionary or pairs."""

Settings = list[tuple[str, str]]
"""The same as the engine takes it."""


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
        header, groups = group_rows(self.summary)
        shown = html_table(f"Run {self.run_id}", ("", "", "value"), rows(self.summary))
        return shown + (html_table("Traffic groups", header, groups) if groups else "")


class Experiment:
    """A scenario file, read and checked. Make one with :func:`load`."""

    def __init__(self, name: str, path: Path, overrides: Overrides | None = None) -> None:
        self.name = name
        self.overrides = settings(overrides)
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

    @property
    def texts(self) -> list[str]:
        """The files that say what is run and shown: its own and, with ``runs-of``, that of the runs."""
        return list(dict.fromkeys((self.text, self._runs_text)))

    def resolved(self, overrides: Overrides | None = None) -> dict[str, Any]:
        """The scenario with every default filled in.

        Raises:
            ScenarioError: naming file, line, key and the nearest valid name.

        """
        text = _engine.resolve(self._runs_text, str(self._runs_path), self.overrides + settings(overrides))
        resolved: dict[str, Any] = json.loads(text)
        return resolved

    def resolved_table(self, overrides: Overrides | None = None) -> list[dict[str, Any]]:
        """Every value of the scenario: ``path value is_default from source doc``.

        ``from`` is ``file:line``, ``--set`` for an override, or ``default``; ``source`` is where the default is from.
        """
        given = self.overrides + settings(overrides)
        rows: list[dict[str, Any]] = json.loads(_engine.resolved_table(self._runs_text, str(self._runs_path), given))
        replaced = {path for path, _ in given}
        for row in rows:
            if row["path"] in replaced:
                row["from"] = "--set"
            elif row["is_default"]:
                row["from"] = "default"
            else:
                row["from"] = f"{self._runs_path}:{self._line(row['path'])}"
        return rows

    def _line(self, path: str) -> int | None:
        """Line of a scenario value; traffic groups and faults go by their names."""
        parts: list[str | int] = list(path.split("."))
        if parts[0] in {"traffic", "fault"}:
            groups = tomllib.loads(self._runs_text).get(parts[0], [])
            names = [group.get("name", group.get("kind")) for group in groups]
            if parts[1] in names:
                parts[1] = names.index(parts[1])
        return line_of(self._runs_text, tuple(parts))

    def check(self, overrides: Overrides | None = None) -> None:
        """Checks the scenario, each value of each sweep variable, and the columns of the plots and claims.

        Raises:
            ScenarioError: naming file, line, key and the nearest valid name.

        """
        given = self.overrides + settings(overrides)
        _engine.check(self._runs_text, str(self._runs_path), given)
        for path, value in self._swept():
            try:
                _engine.check(self._runs_text, str(self._runs_path), [*given, (path, value)])
            except ScenarioError as error:
                if error.file != "--set":
                    raise
                # Written quoted, or as dotted keys; where a spelling is not found, its line is the table's.
                spellings = (("sweep", path), ("sweep", *path.split(".")))
                line = max(line_of(self._runs_text, spelling) or 0 for spelling in spellings)
                message, near = error.message, error.suggestion
                raise ScenarioError(str(self._runs_path), line or None, f"sweep.{path}", message, near) from None
        self._check_columns()

    def _swept(self) -> Settings:
        return [(path, override(value)) for path, values in self.variables.items() for value in values]

    def _check_columns(self) -> None:
        swept = [*self.variables, "seed"]
        for index, plot in enumerate(self.document.plot):
            for key in ("x", "y"):
                self._check_column(("plot", index, key), getattr(plot, key), [*swept, *COLUMNS])
            if plot.by is not None and plot.by not in swept:
                self._complain(("plot", index, "by"), f"{plot.by} is not swept", plot.by, swept)
        for index, claim in enumerate(self.document.claim):
            for key in ("x", "y"):
                self._check_column(("claim", index, key), getattr(claim, key), [*swept, *COLUMNS])
            for key in ("where", "over"):
                for name in getattr(claim, key) or {}:
                    self._check_column(("claim", index, key), name, [*swept, *COLUMNS])

    def _check_column(self, place: tuple[str | int, ...], name: str, known: list[str]) -> None:
        if name not in known:
            self._complain(place, f"{name} is neither a summary column nor swept", name, known)

    def _complain(self, place: tuple[str | int, ...], message: str, name: str, known: list[str]) -> NoReturn:
        close = next(iter(difflib.get_close_matches(name, known, n=1)), None)
        key = ".".join(map(str, place))
        raise ScenarioError(str(self.path), line_of(self.text, place), key, message, close)

    def warnings(self, overrides: Overrides | None = None, *, swept: bool = False) -> list[str]:
        """What is valid but hardly meant.

        Args:
            overrides: Scenario values to replace.
            swept: Whether to look at each value of each sweep variable too.

        """
        changes: list[Settings] = [[], *([change] for change in self._swept() if swept)]
        found = [remarks.unmarked(self.resolved(settings(overrides) + change)) for change in changes]
        found.append(remarks.unused(self._unused(settings(overrides))))
        return list(dict.fromkeys(remark for remark in found if remark))

    def _unused(self, given: Settings) -> list[str]:
        """Values of schemes that neither the scenario nor its sweep uses."""
        schemes: list[Settings] = [[setting] for setting in self._swept() if setting[0].endswith(".scheme")]
        every = [
            _engine.unused(self._runs_text, str(self._runs_path), self.overrides + given + change)
            for change in [[], *schemes]
        ]
        return [path for path in every[0] if all(path in unused for unused in every)]

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
            overrides: Scenario values to replace, a dictionary or pairs.
            store: Where to keep the result; nothing is written if left out.
            progress: Called with the share of the duration simulated so far; returns whether to go on.

        Raises:
            ScenarioError: the scenario is not valid.
            RunError: an invariant broke, or ``progress`` said to stop.
            ResultsError: the result cannot be written.

        >>> fanin.load("sdtcp/fig9").run(seed=3, overrides={"transport.scheme": "dctcp", "traffic.bursts.senders": 20})

        """
        given = settings(overrides)
        if seed is not None:
            given.append(("run.seed", str(seed)))
        resolved = self.resolved(given)
        output = self.simulate(given, progress)
        name = run_id(resolved)
        stored = None if store is None else store.save(name, output, output.table_names, resolved)
        return Run(name, json.loads(output.summary), stored, output)

    def simulate(self, overrides: Overrides, progress: Callable[[float], bool] | None = None) -> _engine.RunOutput:
        """Runs the engine, with the interpreter released."""
        given = self.overrides + settings(overrides)
        return _engine.run(self._runs_text, str(self._runs_path), given, progress)

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.document.title or self.path}>"

    def _repr_html_(self) -> str:
        rows = [("file", str(self.path)), ("paper", f"{self.document.paper} {self.document.figure}".strip())]
        rows += [(path, ", ".join(map(str, values))) for path, values in self.variables.items()]
        rows.append(("seeds", ", ".join(map(str, self.seeds))))
        return html_table(self.document.title or self.name, ("", "value"), rows)


def load(name: str | Path, overrides: Overrides | None = None) -> Experiment:
    """Reads a scenario file, or an experiment by its name such as ``sdtcp/fig9``.

    Args:
        name: File or experiment.
        overrides: Scenario values to replace in every run, a dictionary or pairs.

    Raises:
        NotFoundError: there is neither a file nor an experiment of that name.
        ScenarioError: the sections that Python owns are not valid.

    >>> fanin.load("sdtcp/fig9", {"transport.rto-min": "10ms"})

    """
    return Experiment(*library.find(name), overrides)


def settings(overrides: Overrides | None) -> Settings:
    """Overrides as the engine takes them."""
    pairs = overrides.items() if isinstance(overrides, Mapping) else overrides or []
    return [(path, override(value)) for path, value in pairs]


def override(value: Scalar) -> str:
    """One value as the engine takes it on its override list."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A small HTML table for notebooks."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><tr>{head}</tr>{body}</table>"

"""A scenario file as an object: load it, check it, run it."""

from __future__ import annotations

import copy
import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from fanin import _engine
from fanin.errors import ResultsError, ScenarioError
from fanin.results.files import writing
from fanin.results.runs import Run, html_table
from fanin.results.store import Store, run_id, simulated
from fanin.scenario import checks, library, remarks, sections
from fanin.scenario.format.column import Column
from fanin.scenario.format.sweep import Quick, Sweep, Variant
from fanin.scenario.format.values import Scalar
from fanin.scenario.sections import Document, nearest
from fanin.scenario.toml_lines import line_of, without

Overrides = Mapping[str, Scalar] | Sequence[tuple[str, Scalar]]
"""Dotted paths and the values they take: a dictionary or pairs."""

Settings = list[tuple[str, str]]
"""The same as the engine takes it."""

Files = Mapping[str, str | None]
"""Files and the fingerprints of what they hold; ``None`` for one that cannot be read."""


class Experiment:
    """A scenario file, read and checked. Make one with :func:`load`."""

    def __init__(self, name: str, path: Path, overrides: Overrides | None = None) -> None:
        self.name = name
        self.overrides = settings(overrides)
        self.path = path
        self.text = sections.read_text(path)
        self.document: Document = sections.parse(self.text, str(path))
        base, self.scenario_path, self._text = self.document, path, self.text
        if (origin := self.document.runs_of) is not None:
            _, self.scenario_path = library.find(origin)
            self._text = sections.read_text(self.scenario_path)
            base = sections.parse(self._text, str(self.scenario_path))
            if base.runs_of is not None:
                line = line_of(self.text, ("runs-of",))
                raise ScenarioError(str(path), line, "runs-of", f"{origin} has none of its own", base.runs_of)
        self._engine_text = without(self._text, sections.OWNED)
        mine = self.document
        self.sweep: Sweep = mine.sweep or base.sweep or Sweep()
        self.variants: list[Variant] = mine.variant or base.variant
        self.quick: Quick = mine.quick or base.quick or Quick()
        self.columns: list[Column] = list({each.id: each for each in [*base.column, *mine.column]}.values())
        self.seeds = self.sweep.seeds
        self.given: frozenset[str] | None = None
        """Sweep variables that :meth:`vary` set, not the file; ``None`` if it was not asked."""

    @property
    def labels(self) -> dict[str, list[str]]:
        """The labels of the variants, by axis."""
        found: dict[str, list[str]] = {}
        for variant in self.variants:
            found.setdefault(variant.axis, []).append(variant.label)
        return found

    def vary(
        self, variables: Mapping[str, list[Scalar]], together: Sequence[list[str]] = (), *, bare: bool = False
    ) -> Experiment:
        """The same scenario with these variables in its sweep, and without its plots and claims.

        A variable takes the place of the file's own one; those that the file has beside it stay.

        Args:
            variables: Dotted path -> the values that it takes.
            together: Lists of variables that change together, first value with first value.
            bare: Leave out the file's own ``[sweep]`` and ``[[variant]]``, so that nothing but ``variables`` varies.

        Raises:
            ScenarioError: a variant sets one of the variables, or one that is to change together does not vary.

        """
        varied = copy.copy(self)
        for cached in ("swept", "groups", "_nothing"):
            varied.__dict__.pop(cached, None)
        varied.given = (self.given or frozenset()) | frozenset(variables)
        varied.document = self.document.model_copy(update={"plot": [], "claim": []})
        varied.variants = [] if bare else self.variants
        for variant in varied.variants:
            if clash := sorted(varied.given & set(variant.set_)):
                message = f"the variant {variant.label!r} of the file sets it; --bare leaves the file's variants out"
                raise ScenarioError("--set", None, clash[0], message)
        paths = ({} if bare else self.sweep.variables) | {path: list(values) for path, values in variables.items()}
        zips = [*([] if bare else self.sweep.zip_), *together]
        for name in (name for names in together for name in names):
            if name not in paths:
                raise ScenarioError("--zip", None, name, "does not vary", nearest(name, list(paths)))
        varied.sweep = self.sweep.model_copy(update={"variables": paths, "zip_": zips})
        return varied

    def folder_name(self, *asked: object) -> str:
        """A name for what was asked of the scenario: its own, and a hash of what is simulated and asked for."""
        text = json.dumps([simulated(self.resolved()), *asked], sort_keys=True)
        return f"{self.name.replace('/', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @cached_property
    def swept(self) -> list[str]:
        """Columns that tell the runs apart: axes of variants, and scenario values that vary."""
        axes = [variant.axis for variant in self.variants]
        paths = [*self.sweep.variables, *(path for variant in self.variants for path in variant.set_)]
        return list(dict.fromkeys([*axes, *paths]))

    @property
    def has_runs(self) -> bool:
        """Whether there is anything to reproduce that runs are needed for."""
        document = self.document
        drawn = any(not plot.is_diagram for plot in document.plot)
        asked = document.sweep or document.variant or document.column or document.claim
        return bool(asked) or self.given is not None or drawn

    @property
    def texts(self) -> list[str]:
        """The files that say what is run and shown: its own and, with ``runs-of``, that of the runs."""
        return list(dict.fromkeys((self.text, self._text)))

    @property
    def needs_network(self) -> bool:
        """Whether the file has, or refers to, a scenario: message formats alone need none."""
        if self.document.benchmark is not None:
            return False
        return self.has_runs or not self.document.plot or any(plot.kind != "format" for plot in self.document.plot)

    @property
    def origin(self) -> tuple[str, str]:
        """Text and name of the file that the scenario is from."""
        return self._text, str(self.scenario_path)

    @cached_property
    def groups(self) -> list[str]:
        """Names of the traffic groups."""
        return [group["name"] for group in self.resolved()["traffic"]]

    def resolved(self, overrides: Overrides | None = None) -> dict[str, Any]:
        """The scenario with every default filled in.

        Raises:
            ScenarioError: naming file, line, key and the nearest valid name.

        """
        text = _engine.resolve(self._engine_text, str(self.scenario_path), self.overrides + settings(overrides))
        resolved: dict[str, Any] = json.loads(text)
        for group in resolved["traffic"]:
            if group["kind"] == "flows":
                # What is simulated is what the file holds, whatever it is called.
                group["file-sha256"], group["file-lines"] = _digest(self.scenario_path.parent / group["file"])
        return resolved

    def files(self, resolved: Mapping[str, Any]) -> Files:
        """The files that the resolved scenario names, each with its fingerprint."""
        groups = [group for group in resolved["traffic"] if "file-sha256" in group]
        return {str(self.scenario_path.parent / group["file"]): group["file-sha256"] for group in groups}

    def still(self, name: str, files: Files, overrides: Overrides) -> dict[str, Any]:
        """The scenario with every default filled in, which has to be what it was when the run was named.

        Args:
            name: Id of the run.
            files: What :meth:`files` told then.
            overrides: Scenario values to replace.

        Raises:
            ResultsError: a file that it names has changed since.

        """
        resolved = self.resolved(overrides)
        if run_id(resolved) != name:
            refuse_changed(files)
            raise ResultsError(_CHANGED.format(f"{self.scenario_path}: a file that it names"))
        return resolved

    def resolved_table(self, overrides: Overrides | None = None) -> list[dict[str, Any]]:
        """Every value of the scenario: ``path value is_default from source doc``.

        ``from`` is ``file:line``, ``--set`` for an override, or ``default``; ``source`` is where the default is from.
        """
        given = self.overrides + settings(overrides)
        rows: list[dict[str, Any]] = json.loads(
            _engine.resolved_table(self._engine_text, str(self.scenario_path), given)
        )
        replaced = {path for path, _ in given}
        for row in rows:
            if row["path"] in replaced:
                row["from"] = "--set"
            elif row["is_default"]:
                row["from"] = "default"
            else:
                row["from"] = f"{self.scenario_path}:{self._line(row['path'])}"
        return rows

    def _line(self, path: str) -> int | None:
        """Line of a scenario value; traffic groups and faults go by their names."""
        parts: list[str | int] = list(path.split("."))
        if parts[0] in {"traffic", "fault"}:
            groups = tomllib.loads(self._text).get(parts[0], [])
            names = [group.get("name", group.get("kind")) for group in groups]
            if parts[1] in names:
                parts[1] = names.index(parts[1])
        return line_of(self._text, tuple(parts))

    def check(self, overrides: Overrides | None = None) -> None:
        """Checks the scenario, each value that the sweep and the variants set, and every column that is named.

        Raises:
            ScenarioError: naming file, line, key and the nearest valid name.

        """
        checks.check(self, settings(overrides))

    def check_settings(self, given: Settings) -> None:
        """Checks the scenario with these values.

        Raises:
            ScenarioError: naming file, line, key and the nearest valid name; the file is ``--set`` for a value given.

        """
        _engine.check(self._engine_text, str(self.scenario_path), self.overrides + given)

    def offered(self, overrides: Overrides | None = None) -> list[dict[str, Any]]:
        """What each traffic group at a load offers, and what that was computed from.

        Each has ``group mean_bytes interval_s offered_bps load load_of capacity_bps``, as in the summary of a run.

        Raises:
            ScenarioError: naming file, line, key and the nearest valid name.

        """
        given = self.overrides + settings(overrides)
        found: list[dict[str, Any]] = json.loads(_engine.check(self._engine_text, str(self.scenario_path), given))
        return found

    def warnings(self, overrides: Overrides | None = None, *, swept: bool = False) -> list[str]:
        """What is valid but hardly meant.

        Args:
            overrides: Scenario values to replace.
            swept: Whether to look at each value of each sweep variable too.

        """
        if not self.needs_network:
            return []
        given = settings(overrides)
        changes = checks.changes(self) if swept else []
        each = [self.resolved(given + change.settings) for change in [checks.NO_CHANGE, *changes]]
        found = [remarks.unmarked(resolved) for resolved in each]
        found += remarks.overloaded(self.offered(given))
        found += remarks.unused(self._unused(given), each[0]["network"]["admission"])
        return list(dict.fromkeys(remark for remark in found if remark))

    def _unused(self, given: Settings) -> list[str]:
        """Values that do nothing in the scenario nor in its sweep: of other schemes, or beside another admission."""
        chosen = (".scheme", "network.admission")
        choices = [
            change.settings
            for change in checks.changes(self)
            if any(path.endswith(chosen) for path, _ in change.settings)
        ]
        every = [
            _engine.unused(self._engine_text, str(self.scenario_path), self.overrides + given + change)
            for change in [[], *choices]
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
        output = self.simulate(given, progress, store)
        name = run_id(resolved)
        self.still(name, self.files(resolved), given)
        stored = None if store is None else store.save(name, output, output.table_names, resolved, self.name)
        return Run(name, json.loads(output.summary), stored, output)

    def simulate(
        self,
        overrides: Overrides,
        progress: Callable[[float], bool] | None = None,
        store: Store | None = None,
    ) -> _engine.RunOutput:
        """Runs the engine, with the interpreter released.

        Args:
            overrides: Scenario values to replace.
            progress: Called with the share of the duration simulated so far; returns whether to go on.
            store: Where rows of finished flows wait for the end of the run; in memory if left out.

        Raises:
            RunError: an invariant broke, or ``progress`` said to stop.
            ResultsError: the rows cannot be written.

        """
        if store is None:
            return _engine.run(*self.engine_input(overrides), progress)
        with writing(store.folder):
            return _engine.run(*self.engine_input(overrides), progress, store.spill())

    def engine_input(self, overrides: Overrides) -> tuple[str, str, Settings]:
        """What the engine is given: the text that it reads of the file, the file's name, and the values to replace."""
        return self._engine_text, str(self.scenario_path), self.overrides + settings(overrides)

    def empty_table(self, name: str) -> pl.DataFrame:
        """A result table of no time at all: its columns."""
        return self._nothing.table(name)

    @cached_property
    def _nothing(self) -> Run:
        asked = self.resolved()["measure"]["probes"]
        probes = "cwnd" if asked == "off" else asked
        every = [("measure.bin", "1ns"), ("measure.probes", probes), ("measure.queue-trace", "on-change")]
        return self.run(overrides=[("run.duration", "1ns"), ("measure.warmup", "0s"), *every])

    def __getstate__(self) -> dict[str, Any]:
        # The engine's output stays in the process that it was made in.
        return {name: value for name, value in self.__dict__.items() if name != "_nothing"}

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.document.title or self.path}>"

    def _repr_html_(self) -> str:
        rows = [("file", str(self.path)), ("paper", f"{self.document.paper} {self.document.figure}".strip())]
        rows += [(path, ", ".join(map(str, values))) for path, values in self.sweep.variables.items()]
        rows += [(variant.axis, variant.label) for variant in self.variants]
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


def _digest(path: Path) -> tuple[str | None, int]:
    """Fingerprint and lines of a file; none if it cannot be read, which the engine tells, with the line naming it."""
    digest, lines, last = hashlib.sha256(), 0, b"\n"
    try:
        with path.open("rb") as stream:
            while part := stream.read(_PART):
                digest.update(part)
                lines += part.count(b"\n")
                last = part[-1:]
    except OSError:
        return None, 0
    return digest.hexdigest(), lines + (last != b"\n")


_PART = 2**20
"""Bytes of a file at a time."""


def changed(files: Files) -> str | None:
    """Which of some files holds something else now, with both fingerprints; nothing if none does."""
    for path, then in files.items():
        now, _ = _digest(Path(path))
        if now != then:
            return f"{path} (SHA-256 {_short(now)}, not {_short(then)})"
    return None


_CHANGED = "{} has changed since its runs were named; run the same command again"


def refuse_changed(files: Files) -> None:
    """Refuses files that hold something else than when runs were named by them.

    Raises:
        ResultsError: naming the first of them.

    """
    if (what := changed(files)) is not None:
        raise ResultsError(_CHANGED.format(what))


def _short(fingerprint: str | None) -> str:
    return "none, as it cannot be read" if fingerprint is None else f"{fingerprint[:12]}..."


def settings(overrides: Overrides | None) -> Settings:
    """Overrides as the engine takes them."""
    pairs = overrides.items() if isinstance(overrides, Mapping) else overrides or []
    return [(path, override(value)) for path, value in pairs]


def override(value: Scalar) -> str:
    """One value as the engine takes it on its override list."""
    return str(value).lower() if isinstance(value, bool) else str(value)

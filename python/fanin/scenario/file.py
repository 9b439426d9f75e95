"""A scenario file as an object; the engine fills in every default."""

from __future__ import annotations

import collections
import contextlib
import copy
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from fanin._engine import Scenario
from fanin.errors import ResultsError, ScenarioError
from fanin.numbers.units import number, quantity
from fanin.scenario import library, sections
from fanin.scenario.engine_rows import Loads, Network, Preview, ValueRow
from fanin.scenario.format.column import Column
from fanin.scenario.format.open import Choice
from fanin.scenario.format.sweep import Quick, Sweep, Variant
from fanin.scenario.format.values import Scalar, expand_all
from fanin.scenario.handle import line_of, tables_of, with_changes
from fanin.scenario.own import refuse_replaced
from fanin.scenario.run_id import run_id, simulated
from fanin.scenario.sections import Document, nearest
from fanin.scenario.settings import Overrides, Settings, Value, plain, settings, without_seed
from fanin.scenario.source import Source, read
from fanin.scenario.traffic import is_fan_in

Files = Mapping[str, str | None]
"""Files and the fingerprints of their content; ``None`` for one that cannot be read."""

_DIGEST = "file-sha256"
"""The key of the fingerprint of a list of flows, and its value where none is given."""

_ANY = "any"


class ScenarioFile:
    """A scenario file as read: what is simulated, what varies, and what is shown."""

    def __init__(self, source: Source | None = None, /, **tables: Any) -> None:  # noqa: ANN401 - as in a file
        """Reads a scenario.

        Args:
            source: A file, the name of a shipped experiment, a text in TOML, or its tables as a dictionary.
            tables: In place of ``source``: the tables of the scenario, such as ``network={"topology": "star"}``.

        Raises:
            NotFoundError: there is neither a file nor an experiment of that name.
            ScenarioError: the sections that Python reads are invalid; :meth:`check` looks at the others.

        >>> fanin.Scenario("sdtcp/fig9")
        >>> fanin.Scenario(
        ...     network={"topology": "star", "rate": "10Gbps"},
        ...     traffic=[{"name": "reads", "kind": "incast", "senders": 40, "bytes-each": "20KB"}],
        ... )

        """
        self._read(*read(source, tables))

    @classmethod
    def named(cls, name: str, path: Path) -> Self:
        """That of a file whose name as an experiment is known, which is not searched for."""
        found = cls.__new__(cls)
        found._read(name, path, sections.read_text(path))
        return found

    def _read(self, name: str, path: Path, text: str) -> None:
        self.name = name
        self.overrides: Settings = []
        self.path = path
        self.text = text
        self.document: Document = sections.parse(self.text, str(path))
        base, self.scenario_path, self._text = self.document, path, text
        if (origin := self.document.runs_of) is not None:
            _, self.scenario_path = library.find(origin)
            self._text = sections.read_text(self.scenario_path)
            base = sections.parse(self._text, str(self.scenario_path))
            if base.runs_of is not None:
                line = line_of(self.text, str(self.path), ("runs-of",))
                raise ScenarioError(str(path), line, "runs-of", f"{origin} has none of its own", base.runs_of)
        mine = self.document
        self.sweep: Sweep = mine.sweep or base.sweep or Sweep()
        variants_from = (self.text, str(path)) if mine.variant else self.origin
        self.variants: list[Variant] = mine.variant or base.variant
        self._variants_from = dict.fromkeys(map(_place, self.variants), variants_from)
        self._other_sources: dict[str, str] = {}
        self.quick: Quick = mine.quick or base.quick or Quick()
        if mine.variant and not mine.quick:
            self.quick = self.quick.model_copy(update={"variant": {}})
        self.open: list[Choice] = self._open(mine.open_ if mine.open_ is not None else base.open_)
        self.columns: list[Column] = list({each.id: each for each in [*base.column, *mine.column]}.values())
        if mine.variants_of is not None:
            self._add_variants(mine.variants_of)
        self._refuse_unknown_in_quick()
        self.seeds = self.sweep.seeds
        self.given: frozenset[str] | None = None
        """Sweep variables set by :meth:`vary` instead of the file; ``None`` if it was not called."""

    def _add_variants(self, name: str) -> None:
        """The variants and columns of another experiment, before its own; its own replace those of the same name."""
        other = ScenarioFile(name)
        if other.document.variants_of is not None:
            line = line_of(self.text, str(self.path), ("variants-of",))
            raise ScenarioError(str(self.path), line, "variants-of", f"{name} has it too; name the one that it names")
        self._other_sources = other.sources
        self._variants_from = other._variants_from | self._variants_from
        self.variants = list({_place(each): each for each in [*other.variants, *self.variants]}.values())
        self.columns = list({each.id: each for each in [*other.columns, *self.columns]}.values())

    def _refuse_unknown_in_quick(self) -> None:
        """Refuses axes of ``[quick]`` and labels that the variants do not have."""
        text, path = (self.text, str(self.path)) if self.document.quick else self.origin
        for axis, labels in self.quick.variant.items():
            known = self.labels.get(axis)
            wrong = axis if known is None else next((label for label in labels if label not in known), None)
            if wrong is not None:
                message = "no variant has this axis" if known is None else f'no variant is "{wrong}"'
                hint = nearest(wrong, known or list(self.labels))
                raise ScenarioError(
                    path, line_of(text, path, ("quick", "variant")), f"quick.variant.{axis}", message, hint
                )

    def _open(self, declared: list[Choice] | str | None) -> list[Choice]:
        """The open parameters, possibly declared by another experiment."""
        if not isinstance(declared, str):
            return declared or []
        _, path = library.find(declared)
        found = sections.parse(sections.read_text(path), str(path)).open_
        if not isinstance(found, list):
            raise ScenarioError(
                str(self.path), line_of(self.text, str(self.path), ("open",)), "open", f"{declared} has no [open]"
            )
        return found

    @property
    def axes(self) -> dict[str, list[Variant]]:
        """The variants, by axis."""
        found: dict[str, list[Variant]] = {}
        for variant in self.variants:
            found.setdefault(variant.axis, []).append(variant)
        return found

    @property
    def labels(self) -> dict[str, list[str]]:
        """The labels of the variants, by axis."""
        return {axis: [variant.label for variant in variants] for axis, variants in self.axes.items()}

    def set(self, path: str | Overrides, value: Value | None = None) -> Self:
        """The same scenario with other values, in every run.

        Args:
            path: Dotted path of a value, such as ``network.buffer`` or ``traffic.reads.senders``; or several values, as
                a dictionary.
            value: The value, as a file has it.

        >>> fanin.Scenario("tour/rack").set("transport.scheme", "dctcp").set({"network.buffer": "1MB"})

        """
        if isinstance(path, str):
            if value is None:
                raise TypeError(f"{path}: a value is needed")
            path = {path: value}
        given = settings(path)
        replaced = {path for path, _ in given}
        changed = self._copy()
        changed.overrides = [*(each for each in self.overrides if each[0] not in replaced), *given]
        return changed

    def _copy(self) -> Self:
        """A copy, of which nothing is worked out yet."""
        found = copy.copy(self)
        for name in [*vars(self)]:
            if isinstance(getattr(type(self), name, None), cached_property):
                delattr(found, name)
        return found

    def vary(self, variables: Mapping[str, object], together: Sequence[list[str]] = (), *, bare: bool = False) -> Self:
        """The same scenario with these variables in its sweep, without its plots and claims.

        A variable replaces the file's variable of the same path; the file's other variables stay.

        Args:
            variables: Dotted path -> its values: a list, a range of numbers, or a text such as ``"10..200:10"``.
            together: Lists of variables that change together, first value with first value.
            bare: Leave out the file's own ``[sweep]`` and ``[[variant]]``, so that only ``variables`` vary.

        Raises:
            ScenarioError: a variant sets one of the variables, or one of ``together`` does not vary.

        """
        values = {path: _values(path, each) for path, each in variables.items()}
        varied = self._copy()
        varied.given = (self.given or frozenset()) | frozenset(variables)
        varied.document = self.document.model_copy(update={"plot": [], "claim": []})
        varied.variants = [] if bare else self.variants
        for variant in varied.variants:
            if clash := sorted(varied.given & set(variant.set_)):
                message = f"the variant {variant.label!r} of the file sets it; --bare leaves the file's variants out"
                raise ScenarioError("--set", None, clash[0], message)
        paths = ({} if bare else self.sweep.variables) | values
        zips = [*([] if bare else self.sweep.zip_), *together]
        for name in (name for names in together for name in names):
            if name not in paths:
                raise ScenarioError("--zip", None, name, "does not vary", nearest(name, list(paths)))
        varied.sweep = self.sweep.model_copy(update={"variables": paths, "zip_": zips})
        return varied

    def folder_name(self, *asked: object) -> str:
        """A folder name for a question about the scenario: its name, and a hash of what is simulated and asked."""
        text = json.dumps([simulated(self.resolved()), *asked], sort_keys=True)
        return f"{self.name.replace('/', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @cached_property
    def swept(self) -> list[str]:
        """Columns that distinguish the runs: axes of variants, and scenario values that vary."""
        axes = [variant.axis for variant in self.variants]
        paths = [*self.sweep.variables, *(path for variant in self.variants for path in variant.set_)]
        return list(dict.fromkeys([*axes, *paths]))

    @property
    def is_own(self) -> bool:
        """Whether it is the user's own, and about no paper."""
        return not (library.is_shipped(self.path) or self.document.paper)

    @property
    def has_runs(self) -> bool:
        """Whether there is anything to reproduce that needs runs."""
        document = self.document
        drawn = any(not plot.is_diagram for plot in document.plot)
        asked = document.sweep or document.variant or document.column or document.claim
        return bool(asked) or self.given is not None or drawn

    @property
    def sources(self) -> dict[str, str]:
        """The files that define what is run and shown, with their texts: its own, and those that it refers to."""
        return {str(self.path): self.text, str(self.scenario_path): self._text} | self._other_sources

    @property
    def fingerprints(self) -> dict[str, str | None]:
        """The same files, with the fingerprints of their contents."""
        return {path: hashlib.sha256(text.encode()).hexdigest() for path, text in self.sources.items()}

    def variant_source(self, variant: Variant) -> tuple[str, str]:
        """Text and name of the file with a variant."""
        return self._variants_from[_place(variant)]

    @property
    def needs_network(self) -> bool:
        """Whether the file has a scenario or refers to one; message formats alone need none."""
        if self.document.benchmark is not None:
            return False
        return self.has_runs or not self.document.plot or any(plot.kind != "format" for plot in self.document.plot)

    @property
    def origin(self) -> tuple[str, str]:
        """Text and name of the file with the scenario."""
        return self._text, str(self.scenario_path)

    @cached_property
    def environment(self) -> str:
        """The environment of the scenario; empty if it names none."""
        return dict(self.overrides).get("environment", "") or self._own_environment

    @cached_property
    def _own_environment(self) -> str:
        return str(tables_of(*self.origin).get("environment", ""))

    @property
    def changes(self) -> str:
        """The overrides in words, without an environment that is the file's own anyway."""
        own = ("environment", self._own_environment)
        return ", ".join(f"{path} = {value}" for path, value in self.overrides if (path, value) != own)

    @cached_property
    def groups(self) -> list[str]:
        """Names of the traffic groups."""
        return [group["name"] for group in self.resolved()["traffic"]]

    def handle(self, overrides: Overrides | None = None, files: Files | None = None) -> Scenario:
        """The scenario as the engine has it.

        Args:
            overrides: Scenario values to replace.
            files: Lists of flows with the fingerprints that they must have, where the scenario gives none.

        Raises:
            ScenarioError: the message names file, line, key and the nearest valid name.
            NotFoundError: a list of flows is a pipe or a device, from which the engine could read forever.

        """
        found = self._handle(self.overrides + settings(overrides))
        lists = self._lists_of_flows(found)
        wanted = [(name, (files or {}).get(str(path))) for name, path, digest in lists if digest == _ANY]
        digests = [(f"traffic.{name}.{_DIGEST}", digest) for name, digest in wanted if digest is not None]
        return found.with_changes(digests) if digests else found

    def _handle(self, given: Settings) -> Scenario:
        refuse_replaced(value for _, value in given)
        return with_changes(*self.origin, tuple(given))

    def resolved(self, overrides: Overrides | None = None) -> dict[str, Any]:
        """The scenario with every default filled in; values with a unit know their number.

        Raises:
            ScenarioError: the message names file, line, key and the nearest valid name.

        """
        given, seed = without_seed(self.overrides + settings(overrides))
        handle = self._handle(given)
        resolved = handle.values()
        if seed is not None:
            resolved["run"]["seed"] = seed
        groups = {group["name"]: group for group in resolved["traffic"]}
        for name, path, _ in self._lists_of_flows(handle):
            # The content of the file is simulated, whatever its name.
            groups[name][_DIGEST], groups[name]["file-lines"] = _digest(path)
        return resolved

    def _lists_of_flows(self, handle: Scenario) -> list[tuple[str, Path, str]]:
        """The traffic groups that read a list of flows, each with its file and the fingerprint that it must have.

        Raises:
            NotFoundError: a list is a pipe or a device, from which the engine could read forever.

        """
        found = [(name, self.scenario_path.parent / file, digest) for name, file, digest in handle.files()]
        for _, path, _ in found:
            sections.refuse_special(path)
        return found

    def files(self, resolved: Mapping[str, Any]) -> Files:
        """The files named by the resolved scenario, each with its fingerprint."""
        groups = [group for group in resolved["traffic"] if _DIGEST in group]
        return {str(self.scenario_path.parent / group["file"]): group[_DIGEST] for group in groups}

    def resolve_unchanged(self, name: str, files: Files, overrides: Overrides) -> dict[str, Any]:
        """The scenario with every default filled in, which must be the same as when the run's id was computed.

        Args:
            name: Id of the run.
            files: The result of :meth:`files` at that time.
            overrides: Scenario values to replace.

        Raises:
            ResultsError: a file that it names has changed since.

        """
        resolved = self.resolved(overrides)
        if run_id(resolved) != name:
            refuse_changed(files)
            raise ResultsError(_CHANGED.format(f"{self.scenario_path}: a file that it names"))
        return resolved

    def of_fan_in(self, overrides: Overrides | None = None) -> dict[str, Any]:
        """The same with all of ``[transport]``: of keys in which schemes differ, the value of the fan-in's scheme.

        Without a fan-in it is that of the first traffic group. A list of flows has ``has-queries``, and
        ``starts-within``: the seconds from its first start to its last.

        Raises:
            ScenarioError: the message names file, line, key and the nearest valid name.

        """
        given, _ = without_seed(self.overrides + settings(overrides))
        resolved, handle = self.resolved(overrides), self._handle(given)
        groups = {group["name"]: group for group in resolved["traffic"]}
        chosen = next(filter(is_fan_in, groups.values()), resolved["traffic"][0])
        resolved["transport"] = handle.values(chosen["scheme"])["transport"]
        for name, path, _ in self._lists_of_flows(handle):
            groups[name]["has-queries"], groups[name]["starts-within"] = _listed(path)
        return resolved

    def resolved_table(self, overrides: Overrides | None = None) -> list[ValueRow]:
        """Every value of the scenario with its source, as :meth:`fanin._engine.Scenario.resolved` has it."""
        return self.handle(overrides).resolved()

    def check_settings(self, given: Settings) -> None:
        """Checks the scenario with these values.

        Raises:
            ScenarioError: the message names file (``--set`` for a given value), line, key and the nearest valid name.

        """
        self.handle(given).check()

    def offered(self, overrides: Overrides | None = None) -> list[dict[str, Any]]:
        """The offered load of each traffic group at a load, and the values from which it was computed.

        Each has ``group mean_bytes interval_s offered_bps load load_of capacity_bps``, as in the summary of a run.

        Raises:
            ScenarioError: the message names file, line, key and the nearest valid name.

        """
        groups = self.preview(overrides)["groups"]
        return [group["offered"] for group in groups if group["offered"] is not None]

    def preview(self, overrides: Overrides | None = None) -> Preview:
        """A preview of a run.

        Raises:
            ScenarioError: the message names file, line, key and the nearest valid name.

        """
        return self.handle(overrides).check()

    def kernel_seconds(self, overrides: Overrides | None = None) -> float:
        """About how many seconds of one core a run takes in the Linux kernel; zero in the simulator.

        Raises:
            ScenarioError: the message names file, line, key and the nearest valid name.

        """
        # A preview takes milliseconds, and most runs are in the simulator.
        in_kernel = self.resolved(overrides)["run"]["backend"] == "linux"
        return (self.preview(overrides)["kernel_s"] or 0.0) if in_kernel else 0.0

    def loads(self, overrides: Overrides | None = None) -> Loads:
        """What the traffic can put on the ports of the switches.

        Raises:
            ScenarioError: the message names file, line, key and the nearest valid name.

        """
        return self.handle(overrides).loads()

    def network(self, overrides: Overrides | None = None) -> Network:
        """The nodes and links of the network.

        Raises:
            ScenarioError: the message names file, line, key and the nearest valid name.

        """
        return self.handle(overrides).network()

    def buffers(self) -> str:
        """What the ports of switches can hold, in words."""
        network = self.resolved()["network"]
        if network["admission"] != "static":
            alpha = float(network["dt-alpha"])
            return f"a switch's ports share {_size(network['shared-buffer'])} (dynamic threshold {alpha:g})"
        tiers = [key for key in network if key.endswith("-buffer") and key != "shared-buffer"]
        # Of a tier that has none of its own, ports have the common one.
        own = [f"{key.removesuffix('-buffer')} {text}" for key in tiers if (text := _size(network[key]))]
        return ", ".join([f"buffer of a switch's port: {_size(network['buffer'])}", *own])

    def __repr__(self) -> str:
        return f"<Scenario {self.name}: {self.document.title or self.path}>"


def _values(path: str, values: object) -> list[Scalar]:
    """The values that a variable takes.

    Raises:
        ScenarioError: one is no value of a scenario.

    """
    several = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    known = [plain(each) for each in several]
    refuse_replaced(known)
    try:
        return expand_all(known)
    except ValueError as error:
        raise ScenarioError("vary", None, path, str(error)) from None


def _size(text: str) -> str:
    """A size of the scenario in words; empty if it is zero."""
    value, unit = quantity(text) or (0.0, "")
    if not value or unit != "B":
        return f"{value:g} packets" if value else ""
    return f"{value / 1e6:g} MB" if value >= 1e6 else f"{value / 1e3:g} KB"


def _place(variant: Variant) -> tuple[str, str]:
    """Axis and label of a variant."""
    return variant.axis, variant.label


def _digest(path: Path) -> tuple[str | None, int]:
    """Fingerprint and number of lines of a file; no fingerprint if it cannot be read, which the engine reports."""
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


def _listed(path: Path) -> tuple[bool, float]:
    """Whether a list of flows names queries, and the seconds from its first start to its last; the engine checks it."""
    with contextlib.suppress(OSError, ValueError), path.open() as stream:
        lines = (line for line in stream if not line.isspace() and not line.lstrip().startswith("#"))
        names, first = ([field.strip() for field in next(lines, "").split(",")] for _ in range(2))
        last = next(iter(collections.deque(lines, maxlen=1)), ",".join(first)).split(",")
        starts = [
            number(f"{value.strip()}{name.partition('_')[2] or 's'}")
            for row in (first, last)
            for name, value in zip(names, row, strict=True)
            if name.partition("_")[0] == "start"
        ]
        return "query" in names, max(starts, default=math.inf) - min(starts, default=0.0)
    return False, math.inf


_PART = 2**20
"""Bytes of a file to read at a time."""


def changed(files: Files) -> str | None:
    """The first of some files whose content has changed, with both fingerprints; ``None`` if there is none."""
    for path, then in files.items():
        now, _ = _digest(Path(path))
        if now != then:
            return f"{path} (SHA-256 {_short(now)}, not {_short(then)})"
    return None


_CHANGED = "{} has changed since its runs were named; run the same command again"


def refuse_changed(files: Files) -> None:
    """Refuses files whose content has changed since the ids of runs were computed.

    Raises:
        ResultsError: a file has changed; the message names the first.

    """
    if (what := changed(files)) is not None:
        raise ResultsError(_CHANGED.format(what))


def _short(fingerprint: str | None) -> str:
    return "none, as it cannot be read" if fingerprint is None else f"{fingerprint[:12]}..."

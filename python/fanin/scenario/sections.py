"""The sections of a scenario file that define what is done with runs.

The engine owns what is simulated (``environment``, ``[network] [transport] [queue] [control] [scheme.*] [[traffic]]
[[fault]] [measure] [run]``). Python owns the rest: the titles, ``runs-of``, ``variants-of``, ``held-out``,
``benchmark``, ``[sweep]``, ``[open]``, ``[[variant]]``, ``[quick]``, ``[[column]]``, ``[plots]``, ``[[plot]]``,
``[claims]`` and ``[[claim]]``, which this module reads and checks.
"""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, Field, ValidationError, model_validator

from fanin import _engine
from fanin.errors import NotFoundError, ScenarioError
from fanin.scenario.format.base import FileNameOrNone, Section
from fanin.scenario.format.claim import Case, Claim, Claims, Measure, cases, check_half
from fanin.scenario.format.column import Column
from fanin.scenario.format.open import Open
from fanin.scenario.format.plot import DIAGRAMS, Plot
from fanin.scenario.format.sweep import Quick, Sweep, Variants
from fanin.scenario.handle import line_of, tables_of


class Document(Section):
    """Everything in a scenario file that the engine does not read."""

    title: str = ""
    paper: FileNameOrNone = ""
    figure: str = ""
    description: str = ""
    runs_of: str | None = Field(
        default=None, description="Experiment whose scenario this one takes, and whose sweep unless it has its own."
    )
    variants_of: str | None = Field(
        default=None, description="Experiment whose variants and columns this one has too, unless it has its own."
    )
    benchmark: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Command that prints each point's row as JSON, in place of a simulation.",
    )
    held_out: bool = Field(default=False, description="Kept out of searches over readings, and judged by them once.")
    open_: Open | str | None = Field(
        default=None,
        description="What the paper leaves open: PATH -> VALUE -> why; or an experiment that says it.",
    )
    sweep: Sweep | None = None
    variant: Variants = Field(default=[], description="Named cases.")
    quick: Quick | None = None
    column: list[Column] = Field(default=[], description="Numbers of each run.")
    plots: dict[str, Any] = Field(default={}, description="What plots of runs share: keys that a plot lacks.")
    plot: list[Plot] = Field(default=[], description="Figures.")
    claims: Claims = Field(default=Claims(), description="What the claims share, and readings of the paper.")
    claim: list[Claim] = Field(default=[], description="Sentences of the paper.")

    @model_validator(mode="before")
    @classmethod
    def _shared_by_plots(cls, tables: dict[str, Any]) -> dict[str, Any]:
        """Plots with the keys that they inherit from ``[plots]``; diagrams inherit none."""
        shared, plots = tables.get("plots"), tables.get("plot")
        if not isinstance(shared, dict) or not isinstance(plots, list):
            return tables
        full = [
            {**shared, **plot} if isinstance(plot, dict) and plot.get("kind") not in DIAGRAMS else plot
            for plot in plots
        ]
        return {**tables, "plot": full}

    @property
    def cases(self) -> tuple[Case, ...]:
        """Each claim under each of its readings."""
        of, found = self._derived
        # A copy with other claims has those of the original.
        if of[0] is self.claim and of[1] is self.claims:
            return found
        del self.__dict__["_derived"]
        return self._derived[1]

    @functools.cached_property
    def _derived(self) -> tuple[tuple[list[Claim], Claims], tuple[Case, ...]]:
        """The claims and their cases, which each point of a sweep asks for."""
        found = (case for index in range(len(self.claim)) for case in cases(index, self.claim, self.claims))
        return (self.claim, self.claims), tuple(found)


OWNED = frozenset(field.alias or name for name, field in Document.model_fields.items())
"""Top-level keys that Python reads; the engine reports those that it reads."""


def refuse_special(path: Path) -> None:
    """Refuses pipes, devices, sockets and files that the kernel makes up: one could wait forever, or read forever.

    Raises:
        NotFoundError: the path is one, or cannot be asked.

    """
    if not path.exists() or path.is_dir():
        return
    if not path.is_file():
        raise NotFoundError(f"{path}: not a regular file")
    # A file of /proc or /sys calls itself regular, whatever reading it does. Neither it nor its file system has blocks.
    try:
        stored = path.stat().st_blocks > 0 or os.statvfs(path).f_blocks > 0
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror or error}") from None
    if not stored:
        raise NotFoundError(f"{path}: not a regular file, as its file system stores none")


def read_text(path: Path) -> str:
    """The file as text, without a byte order mark.

    Raises:
        NotFoundError: there is no such file, or it cannot be read.
        ScenarioError: it is not UTF-8.

    """
    refuse_special(path)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ScenarioError(str(path), line, "", "the file is not UTF-8 text") from None
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror or error}") from None


# A file is read for its own sake, as what others run, and for the report; documents cannot be changed.
@functools.lru_cache(maxsize=256)
def parse(text: str, file: str) -> Document:
    """Reads the sections that Python owns.

    Raises:
        ScenarioError: naming file, line, key and, for an unknown key, the nearest valid one.

    """
    tables = tables_of(text, file)
    known = [*_engine.keys(), *OWNED]
    if unknown := [key for key in tables if key not in known]:
        raise _unknown(tables, text, file, unknown, known)
    for key in ("traffic", "fault"):
        if isinstance(tables.get(key), list) and len(tables[key]) > _MOST_TABLES:
            message = (
                f'{len(tables[key]):,} of them; at most {_MOST_TABLES:,}, and one of kind = "flows" has any number'
            )
            raise ScenarioError(file, line_of(text, file, (key, _MOST_TABLES)), key, message)
    if misplaced := list(_misplaced(tables)):
        message = "this key belongs at the top of the file, before the first [table]"
        first, *others = [
            ScenarioError(file, line_of(text, file, place), ".".join(map(str, place)), message) for place in misplaced
        ]
        raise ScenarioError(first.file, first.line, first.key, first.message, None, [str(other) for other in others])
    try:
        document = Document.model_validate({key: value for key, value in tables.items() if key in OWNED})
    except ValidationError as error:
        found = [{**each, "loc": _written(tables, each["loc"])} for each in error.errors()]
        raise _scenario_error(text, file, found) from None
    _check_cases(document, text, file)
    _check_names(document, text, file)
    return document


_MOST_TABLES = 10_000
"""Traffic groups, or faults: each is compared with all others."""

_FIRST = {"environment", "title", "paper", "figure", "description", "runs-of", "variants-of", "held-out", "benchmark"}
"""Keys of the file itself. TOML reads one that follows a table as a key of that table."""

_NAMED = {"where", "runs", "rows", "over", "minus", "rivals", "explanations"}
"""Tables whose keys are names of columns or readings."""


def _misplaced(table: Mapping[str, Any], place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of keys of the file itself that are in one of its tables."""
    for key, value in table.items():
        several = value if isinstance(value, list) and key not in _FIRST else [value]
        for index, inner in enumerate(several):
            if not isinstance(inner, dict):
                continue
            inside = (*place, key, index) if isinstance(value, list) else (*place, key)
            # A variant sets scenario values, among which the environment may be.
            if key not in _NAMED and not (place[:1] == ("variant",) and len(place) == 2):
                yield from _misplaced(inner, inside)
        # A sweep varies the environment by a list.
        varied = place in (("sweep",), ("quick",)) and isinstance(value, list)
        if place and key in _FIRST and not isinstance(value, dict) and not varied and key not in _known_at(place):
            yield (*place, key)


def _known_at(place: tuple[str | int, ...]) -> list[str]:
    return _keys_at(place) if place[0] in OWNED else []


def _written(tables: Mapping[str, Any], location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The place as written: a variant may be in the table of its axis, a plot's key in ``[plots]``."""
    match location:
        case ("variant", int(index), "set" | "why" as part, *rest) if isinstance(tables["variant"], dict):
            labels = [(axis, label) for axis, cases in tables["variant"].items() for label in cases]
            return ("variant", *labels[index], *(["why"] if part == "why" else []), *rest)
        case ("plot", int(index), str(key), *_) if key not in tables["plot"][index] and key in tables.get("plots", {}):
            return ("plots", *location[2:])
    return location


def _check_cases(document: Document, text: str, file: str) -> None:
    """Checks that every claim is complete under each of its readings."""
    for index in range(len(document.claim)):
        location = ("claim", index)
        try:
            cases(index, document.claim, document.claims)
            check_half(index, document.claim, document.claims)
        except ValidationError as error:
            found = [{**each, "loc": (*location, *each["loc"])} for each in error.errors()]
            raise _scenario_error(text, file, found) from None
        except ValueError as error:
            raise ScenarioError(file, line_of(text, file, location), f"claim.{index}", str(error)) from None


def _unknown(tables: Mapping[str, Any], text: str, file: str, keys: list[str], known: list[str]) -> ScenarioError:
    """The error for top-level keys that neither Python nor the engine reads: the first, with the others attached."""
    location: dict[str, tuple[str | int, ...]] = {
        key: (key, 0) if isinstance(tables[key], list) else (key,) for key in keys
    }
    first, *others = [
        ScenarioError(file, line_of(text, file, location[key]), key, "unknown key", nearest(key, known)) for key in keys
    ]
    more = [str(other) for other in others]
    return ScenarioError(first.file, first.line, first.key, first.message, first.suggestion, more)


def _check_names(document: Document, text: str, file: str) -> None:
    """Checks that the names of variants of an axis, of columns, of plots and of claims are unique."""
    named: dict[str, list[str]] = {
        "variant": [f"{each.axis} {each.label}" for each in document.variant],
        "column": [each.id for each in document.column],
        "plot": [each.name for each in document.plot],
        "claim": [each.id for each in document.claim],
        "reading": [each.id for each in document.claims.reading],
        "case": [each.id for each in document.cases],
    }
    for section, names in named.items():
        for index, name in enumerate(names):
            if name in names[:index]:
                key = f"{section}.{index}"
                raise ScenarioError(
                    file, line_of(text, file, (section, index)), key, f"there is a {section} {name!r} already"
                )


def _scenario_error(text: str, file: str, complaints: Sequence[Mapping[str, Any]]) -> ScenarioError:
    """One of pydantic's complaints, in the engine's wording and with its place in the file.

    An unknown key comes first: it is often why another one is missing.
    """
    first = min(complaints, key=lambda complaint: complaint["type"] != "extra_forbidden")
    path = tuple(part for part in first["loc"] if part not in ("variables", "float", "str"))
    suggestion = None
    if first["type"] == "extra_forbidden":
        message = "unknown key"
        suggestion = nearest(path[-1], _keys_at(path[:-1]))
    elif first["type"] == "missing":
        words = get_args(Measure) if path[-1] == "measure" else ()
        message = f"required key is missing{': one of ' if words else ''}{', '.join(words)}"
    else:
        if first["type"] == "literal_error":
            expected = first["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            suggestion = nearest(first["input"], expected)
        message = first["msg"].removeprefix("Value error, ")
    key = ".".join(str(part) for part in path)
    return ScenarioError(file, line_of(text, file, path), key, message, suggestion)


def nearest(name: object, known: list[str]) -> str | None:
    """The known name that a mistyped one probably stands for."""
    return next(iter(difflib.get_close_matches(str(name), known, n=1)), None)


def _keys_at(path: tuple[str | int, ...]) -> list[str]:
    """The keys of the section at a path such as ``("plot", 0, "published", 1)``."""
    section: type[BaseModel] = Document
    for part in path:
        field = section.model_fields.get(part.replace("-", "_")) if isinstance(part, str) else None
        if field is not None:
            inside = get_args(field.annotation) or (field.annotation,)
            found = [each for each in inside if isinstance(each, type) and issubclass(each, BaseModel)]
            section = found[0] if found else section
    return [field.alias or name for name, field in section.model_fields.items()]

"""What TAB offers: names of schemes, experiments, parameters and papers, and values of parameters.

The shell runs fanin with ``_FANIN_COMPLETE`` set. Only what a completion needs is imported here.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def join_at_equals() -> None:
    """Joins ``PATH = VALUE`` into one word again, because bash splits words at every equals sign."""
    words, place = os.environ.get("COMP_WORDS", ""), os.environ.get("COMP_CWORD", "")
    if "=" not in words or not place.isdecimal():
        return
    parts = words.split()
    cursor = min(int(place), len(parts))
    # A word without any letters yet is not in the list.
    parts += [""] if cursor == len(parts) else []
    joined: list[str] = []
    for index, part in enumerate(parts):
        glued = bool(joined) and (part == "=" or joined[-1].endswith("=")) and not joined[-1].startswith("--")
        if glued:
            joined[-1] += part
        else:
            joined.append(part)
        if index == cursor:
            os.environ["COMP_CWORD"] = str(len(joined) - 1)
            os.environ[_CUT] = "1" if "=" in joined[-1] and glued else ""
    os.environ["COMP_WORDS"] = " ".join(joined)


@contextlib.contextmanager
def as_bash_wants() -> Iterator[None]:
    """Removes the part up to the equals sign from printed completions."""
    if not os.environ.get(_CUT):
        yield
        return
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            yield
    finally:
        for line in printed.getvalue().splitlines():
            sys.stdout.write(f"{line.rpartition('=')[2]}\n")


_CUT = "_FANIN_COMPLETE_AFTER_EQUALS"
"""Set while bash completes the part after an equals sign, which it expects alone."""


def scenarios(incomplete: str) -> list[str]:
    """Experiments, scenario files and folders."""
    return _matching([*_experiments(), *_paths(incomplete)], incomplete)


def experiments(incomplete: str) -> list[str]:
    """Experiments, then papers."""
    return _matching([*_papers(), *scenarios(incomplete)], incomplete)


def papers(incomplete: str) -> list[str]:
    """Papers, then experiments."""
    return _matching([*_papers(), *_experiments()], incomplete)


def keys(incomplete: str) -> list[str]:
    """Everything that ``fanin explain`` explains."""
    from fanin.scenario import catalogue

    return _matching([*catalogue.names(), *_experiments()], incomplete)


def schemes(incomplete: str) -> list[str]:
    """Schemes, as the last item of a list separated by commas."""
    given, comma, last = incomplete.rpartition(",")
    known = _schemes() if comma else [*_schemes(), "all"]
    used = given.split(",")
    return [f"{given}{comma}{each}" for each in _matching(known, last) if each not in used]


def scheme(incomplete: str) -> list[str]:
    """One scheme."""
    return _matching(_schemes(), incomplete)


def kinds(incomplete: str) -> list[str]:
    """What ``fanin list`` lists."""
    from fanin.scenario import catalogue

    return _matching([*catalogue.KINDS, "experiments"], incomplete)


def environments(incomplete: str) -> list[str]:
    """Environments."""
    from fanin.registry import registry

    return _matching([row["key"] for row in registry()["environments"]], incomplete)


def settings(ctx: Any, incomplete: str) -> list[str]:  # noqa: ANN401 - the parser's context
    """``PATH=``, and after the equals sign the values of a parameter with few values."""
    path, equals, value = incomplete.partition("=")
    if not equals:
        return _matching([f"{each}=" for each in _parameters(_scenario(ctx))], incomplete)
    given, comma, last = value.rpartition(",")
    return [f"{path}={given}{comma}{each}" for each in _matching(_values(path, ctx), last)]


def goal(incomplete: str) -> list[str]:
    """Measures, as the last item of a list separated by commas."""
    from fanin.numbers.summary import goals

    given, comma, last = incomplete.rpartition(",")
    return [f"{given}{comma}{each}" for each in _matching(goals(), last)]


def bounds(incomplete: str) -> list[str]:
    """``MEASURE=``."""
    from fanin.numbers.summary import goals

    return _matching([f"{each}=" for each in goals()], incomplete)


def verdicts(incomplete: str) -> list[str]:
    """Verdicts on sentences."""
    from fanin.claims.verdicts import VERDICTS

    return _matching([each.slug for each in VERDICTS], incomplete)


def _matching(known: Iterable[str], incomplete: str) -> list[str]:
    return [each for each in known if each.startswith(incomplete)]


def _experiments() -> list[str]:
    from fanin.scenario import library

    return list(library.experiments())


def _papers() -> list[str]:
    return list(dict.fromkeys(name.partition("/")[0] for name in _experiments() if "/" in name))


def _schemes() -> list[str]:
    from fanin.registry import registry

    return [row["key"] for row in registry()["schemes"]]


def _paths(incomplete: str) -> list[str]:
    """Scenario files and folders whose names begin with ``incomplete``."""
    folder, slash, _ = incomplete.rpartition("/")
    try:
        found = sorted(Path(folder + slash or ".").iterdir())
    except OSError:
        return []
    names = [f"{path.name}/" for path in found if path.is_dir() and not path.name.startswith(".")]
    return [f"{folder}{slash}{name}" for name in [*names, *(path.name for path in found if path.suffix == ".toml")]]


def _scenario(ctx: Any) -> str | None:  # noqa: ANN401
    """The scenario of the command; the parser has none while the value of the last option is missing."""
    if (parsed := ctx.params.get("scenario")) is not None:
        return str(parsed)
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    known = _experiments()
    return next((word for word in line.split()[2:] if word in known or Path(word).is_file()), None)


def _parameters(scenario: object) -> list[str]:
    """Paths for ``--set``: those of the sections, and of the scenario's traffic groups and faults."""
    from fanin.scenario import catalogue

    known = catalogue.parameters()
    plain = [path for path in known if not path.startswith(("traffic.", "fault."))]
    return plain + [f"{section}.{name}.{key}" for section, name, key, _ in _of_groups(scenario, list(known))]


def _of_groups(scenario: object, known: list[str]) -> list[tuple[str, str, str, str]]:
    """Section, name, key and declared path of every parameter of a scenario's traffic groups and faults."""
    from fanin.scenario import library
    from fanin.scenario.handle import tables_of

    try:
        _, path = library.find(str(scenario))
        tables = tables_of(path.read_text(encoding="utf-8-sig"), str(path))
    except Exception:
        # Completion does not report errors in the scenario.
        return []
    found: list[tuple[str, str, str, str]] = []
    for section in ("traffic", "fault"):
        for group in tables.get(section, []):
            kind = str(group.get("kind"))
            for path_ in known:
                parts = path_.split(".")
                if parts[0] == section and (len(parts) == 2 or parts[1] == kind):
                    found.append((section, str(group.get("name", kind)), parts[-1], path_))
    return found


def _values(path: str, ctx: Any) -> list[str]:  # noqa: ANN401
    from fanin.scenario import catalogue

    known = catalogue.parameters()
    own = {f"{section}.{name}.{key}": at for section, name, key, at in _of_groups(_scenario(ctx), list(known))}
    words: list[str] = known.get(own.get(path, path), {}).get("words", [])
    return words

"""Finding scenario and experiment files.

An experiment is named ``<paper>/<figure>``. A folder ``experiments`` in the current directory is searched first, so
that the user's own files take precedence over those that the package ships.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

from fanin.errors import NotFoundError, ScenarioError
from fanin.names import checked_path

_ROOTS = (Path(__file__).parents[1] / "experiments", Path("experiments"))


def experiments() -> dict[str, Path]:
    """Every experiment, sorted by name."""
    found: dict[str, Path] = {}
    for root in _ROOTS:
        # Every command that names an experiment calls this, and those that read all of them for each: names are cut
        # from texts, as with methods of Path this takes two to three times as long.
        for folder, _, files in os.walk(root):
            inside = folder[len(str(root)) + 1 :].replace(os.sep, "/")
            before = f"{inside}/" if inside else ""
            found |= {f"{before}{name[:-5]}": Path(folder, name) for name in files if name.endswith(".toml")}
    return dict(sorted(found.items()))


def chosen(names: list[str], every: bool) -> list[str]:
    """The experiments of these names; the name of a paper selects all of its experiments.

    Args:
        names: Experiments, papers or files.
        every: Whether to add all experiments of all papers.

    Raises:
        NotFoundError: nothing was chosen.

    """
    known = experiments()
    papers = [name for name, path in known.items() if _of_paper(path)] if every else []
    found = [[each for each in known if each.startswith(f"{name}/")] or [name] for name in names]
    every_one = list(dict.fromkeys([*(each for part in found for each in part), *papers]))
    if not every_one:
        raise NotFoundError("name experiments, papers or files, or say --all; see 'fanin list experiments'")
    return every_one


def _of_paper(path: Path) -> bool:
    return bool(_head(path).get("paper"))


def find(name: str | Path) -> tuple[str, Path]:
    """Experiment name and file of a path or of an experiment's name.

    Raises:
        NotFoundError: there is neither a file nor an experiment of that name.
        ScenarioError: the file's name would lead out of a results folder.

    """
    found, path = _found(name)
    try:
        # The folder of its results has this name.
        checked_path(found)
    except ValueError as error:
        raise ScenarioError(ascii(str(path))[1:-1], None, "", f"{error}: rename the file") from None
    return found, path


def _found(name: str | Path) -> tuple[str, Path]:
    path = Path(name)
    known = experiments()
    if path.suffix != ".toml" and str(name) in known:
        return str(name), known[str(name)]
    if path.is_file():
        same = (key for key, file in known.items() if file.resolve() == path.resolve())
        return next(same, path.stem), path
    if path.is_dir():
        some = sorted(each.name for each in path.glob("*.toml"))[:3]
        inside = f", such as {path / some[0]}" if some else ""
        raise NotFoundError(f"{name}: a folder, not a scenario: name a file{inside}")
    papers = list(dict.fromkeys(key.partition("/")[0] for key in known if "/" in key))
    if (paper := str(name)) in papers:
        first = next(key for key in known if key.startswith(f"{paper}/"))
        raise NotFoundError(f"{name}: a paper, of which this takes one experiment, such as {first}; see 'fanin list'")
    # The scheme's name may have dashes that the paper's name lacks.
    same_letters = [paper for paper in papers if paper.replace("-", "") == str(name).replace("-", "").lower()]
    close = same_letters or difflib.get_close_matches(str(name), [*papers, *known], n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    raise NotFoundError(f"{name}: no such file or experiment{hint}; see 'fanin list experiments'")


def is_shipped(path: Path) -> bool:
    """Whether a file is one of the package's own experiments."""
    return path.resolve().is_relative_to(_ROOTS[0].resolve())


def title(path: Path) -> str:
    """The title in an experiment file; empty if the file cannot be read."""
    return str(_head(path).get("title", ""))


def _head(path: Path) -> dict[str, Any]:
    """The file's tables; none if it cannot be read."""
    from fanin.scenario.handle import tables_of

    try:
        return tables_of(path.read_text(encoding="utf-8-sig"), str(path))
    except (OSError, ValueError, ScenarioError):
        return {}

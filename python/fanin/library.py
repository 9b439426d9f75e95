"""Finding scenario and experiment files.

An experiment is named ``<paper>/<figure>``. A folder ``experiments`` in the current directory comes first, so that
one's own files are the ones that run; then those that the package ships.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path

from fanin.errors import NotFoundError

_ROOTS = (Path(__file__).parent / "experiments", Path("experiments"))


def experiments() -> dict[str, Path]:
    """Every experiment by its name, in order of name."""
    found: dict[str, Path] = {}
    for root in _ROOTS:
        for path in root.glob("**/*.toml"):
            found[path.relative_to(root).with_suffix("").as_posix()] = path
    return dict(sorted(found.items()))


def find(name: str | Path) -> tuple[str, Path]:
    """Experiment name and file of a path or of an experiment's name.

    Raises:
        NotFoundError: there is neither a file nor an experiment of that name.

    """
    path = Path(name)
    known = experiments()
    if path.suffix != ".toml" and str(name) in known:
        return str(name), known[str(name)]
    if path.is_file():
        same = (key for key, file in known.items() if file.resolve() == path.resolve())
        return next(same, path.stem), path
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    raise NotFoundError(f"{name}: no such file or experiment{hint}; see 'fanin list experiments'")


def title(path: Path) -> str:
    """The title that an experiment file gives itself; empty if the file cannot be read."""
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
    except (OSError, ValueError):
        return ""

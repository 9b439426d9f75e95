"""The built front end, which is not committed: the files of the page, and the two files of a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fanin.errors import NotFoundError

_PACKAGED = Path(__file__).parents[1] / "page"
_BUILT = Path(__file__).parents[3] / "web" / "dist"
"""In a checkout; an installed package has no such folder."""

INDEX = "index.html"

NOT_BUILT = "the page is not built: install Node (https://nodejs.org), then run `make page` in a checkout of fanin"
"""What a user without the page is to do, in a line."""


def found() -> Path | None:
    """The folder of the page: in a checkout that of the last build, otherwise that of the package."""
    return next((folder for folder in (_BUILT, _PACKAGED) if (folder / INDEX).is_file()), None)


@dataclass(frozen=True)
class OfReport:
    """What a report consists of besides its data."""

    style: str
    script: str


def has_report() -> bool:
    """Whether the front end of reports is built."""
    return all(path.is_file() for path in _of_report())


def of_report() -> OfReport:
    """The files of a report.

    Raises:
        NotFoundError: the front end is not built.

    """
    if not has_report():
        raise NotFoundError(f"no report: {NOT_BUILT}")
    return OfReport(*(path.read_text(encoding="utf-8") for path in _of_report()))


def _of_report() -> list[Path]:
    folder = found() or _PACKAGED
    return [folder / "report" / f"report.{end}" for end in ("css", "js")]

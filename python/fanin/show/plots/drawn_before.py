"""Figures that are kept: one is drawn only if its data, its description or the code that draws it has changed.

An SVG names in its metadata the digest of all of these.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import fanin
from fanin.scenario.format.plot import Plot
from fanin.show.plots.series import Series

_HEAD = 4000
"""Bytes of an SVG that hold its metadata."""


def fingerprint(plot: Plot, drawn: Series | None, network: str = "") -> str:
    """The digest of everything that a figure shows.

    Args:
        plot: Its description.
        drawn: Its lines; a diagram has none.
        network: The network that it shows. The fields of a message are in the description.

    """
    hashed = hashlib.sha256(f"{_code()}{network}".encode())
    hashed.update(plot.model_dump_json().encode())
    if drawn is not None:
        hashed.update(json.dumps([asdict(drawn.x), asdict(drawn.y), *map(asdict, drawn.bounds)]).encode())
        hashed.update(f"{drawn.sample}\n{drawn.data.write_csv()}".encode())
    return hashed.hexdigest()


@functools.cache
def _code() -> str:
    """What draws: this package's modules, and matplotlib."""
    from importlib.metadata import version

    hashed = hashlib.sha256(f"{fanin.__version__} {version('matplotlib')}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()


def keep(earlier: Path, folder: Path, name: str, print_: str, ends: Iterable[str]) -> list[Path]:
    """Copies a figure that would be drawn the same into a new folder; returns its files, none if it must be drawn.

    The picture is the last of its files that is put in its place, so that the others are of the same drawing.

    Args:
        earlier: The folder with the figures that were drawn before.
        folder: The new folder.
        name: The figure's name.
        print_: Its digest now.
        ends: The kinds of files that are needed, such as ``svg`` and ``csv``.

    """
    found = [f"{name}.{end}" for end in ends]
    with contextlib.suppress(OSError):
        if print_.encode() in (earlier / f"{name}.svg").read_bytes()[:_HEAD]:
            return [Path(shutil.copyfile(earlier / each, folder / each)) for each in found]
    return []

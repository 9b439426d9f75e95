"""Names of what a results folder holds."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

RUNS = "runs"
"""Folder of the runs: each has one of its own, named by its id."""

MANIFEST = "manifest.json"
"""What a run was, in its folder."""

CLAIMS = "claims.json"
"""The judgements on an experiment's claims, in the experiment's folder."""

FITS = "fits"
"""Folder of the searches over what papers leave open: each has one of its own."""

FIT = "fit.json"
"""What a search found, in its folder."""

CHANGED = "changed"
"""Folder of experiments that were run with other values than their files have: a folder for each set of values."""

_LONGEST = 80
"""Characters of a folder's name."""


def apart(out: Path, settings: list[tuple[str, str]]) -> Path:
    """The results folder of experiments that are run with other values, in the results folder of those without."""
    if not settings:
        return out
    said = ",".join(f"{path}={value}" for path, value in settings)
    name = re.sub(r"[^\w.,=%-]+", "-", said)
    if name != said or len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 9]}-{hashlib.sha256(said.encode()).hexdigest()[:8]}"
    return out / CHANGED / name


def together(out: Path) -> Path:
    """The results folder that a folder of :func:`apart` is in; any other is its own."""
    return out.parents[1] if len(out.parts) > 1 and out.parts[-2] == CHANGED else out

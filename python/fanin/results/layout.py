"""Names of the contents of a results folder."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Literal

SWEEPS = "sweeps"
"""Folder of the data sets of sweeps; each has its own folder."""

CAPACITIES = "capacity"
"""Folder of the results of ``fanin capacity``; each has its own folder."""

ADVICE = "advice"
"""Folder of the results of ``fanin advise``; each has its own folder."""

REPORT = "report"
"""Folder of the HTML report."""

CLAIMS = "claims.json"
"""The judgements on an experiment's claims, in the experiment's folder."""

FORMAT: Literal[1] = 1
"""That of these; increased whenever a field changes its meaning: a record of another format is stale."""

HEAD = "sweep.json"
"""The description of a sweep, in its folder."""

ROWS = "runs.parquet"
"""A sweep's runs, one per row, in its folder."""

FAILED = "failed.json"
"""A sweep's failed runs, in its folder."""

FITS = "fits"
"""Folder of the searches over what papers leave open; each has its own folder."""

FIT = "fit.json"
"""The result of a search, in its folder."""

CAPACITY = "capacity.json"
"""The result of a capacity search, in its folder."""

TUNE = "tune.json"
"""The result of a study, in its folder."""

ADVISED = "advice.json"
"""The result of ``fanin advise``, in its folder."""

PAGE = "index.html"
"""The page of the HTML report."""

GENERATOR = "fanin report"
"""What that says to have made it."""

STUDIES = "studies"
"""Folder of the studies of ``fanin tune``; each has its own folder."""

HELD_OUT = "held-out.json"
"""What held-out experiments judged, in the folder of all searches."""

CHANGED = "changed"
"""Folder of experiments run with values that differ from their files; one folder per set of values."""

TAKEN = frozenset((SWEEPS, CAPACITIES, ADVICE, REPORT, FITS, STUDIES, CHANGED))
"""Folders of a results folder that are no experiment's."""

_LONGEST = 80
"""Number of characters of a folder's name."""


def apart(out: Path, settings: list[tuple[str, str]]) -> Path:
    """The results folder of experiments run with other values, inside the normal results folder."""
    if not settings:
        return out
    said = ",".join(f"{path}={value}" for path, value in settings)
    name = re.sub(r"[^\w.,=%-]+", "-", said)
    if name != said or len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 9]}-{hashlib.sha256(said.encode()).hexdigest()[:8]}"
    return out / CHANGED / name


def together(out: Path) -> Path:
    """The normal results folder of a folder of :func:`apart`; any other folder is returned as it is."""
    return out.parents[1] if len(out.parts) > 1 and out.parts[-2] == CHANGED else out

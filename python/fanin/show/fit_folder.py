"""Writes what a search found: ``fit.json``, which the claims ledger reads, and every setting as ``settings.csv``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin.choose.fit.answer import Confirmed, Fitted
from fanin.choose.fit.bench import Found, Tried
from fanin.choose.fit.held_out import Judgement
from fanin.choose.fit.search import SENSITIVITY
from fanin.choose.fit.space import Space, words
from fanin.claims.record import digest
from fanin.results.dataset import as_json
from fanin.results.files import write_files
from fanin.results.layout import FIT, FITS
from fanin.results.runs import frame_of
from fanin.run.scenario import Scenario

SETTINGS = "settings.csv"


def folder_of(experiments: Sequence[Scenario], space: Space, seeds: Sequence[int], out: Path | str) -> Path:
    """The folder of a search; its name includes a hash of the files, the open parameters, the seeds and the engine."""
    asked = [digests(experiments), _open(space), list(seeds), _engine.version()]
    text = json.dumps(asked, sort_keys=True, default=str)
    papers = dict.fromkeys(each.name.partition("/")[0] for each in experiments)
    return Path(out) / FITS / f"{'-'.join(papers)}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def digests(experiments: Sequence[Scenario]) -> dict[str, str]:
    """Fingerprint of each experiment's file."""
    return {each.name: digest(each) for each in experiments}


def _open(space: Space) -> list[dict[str, Any]]:
    return [
        {
            "parameter": each.path,
            "experiments": list(each.of),
            "values": [{"value": value, "why": why} for value, why in zip(each.values, each.why, strict=True)],
        }
        for each in space.parameters
    ]


def as_dict(fitted: Fitted, experiments: Sequence[Scenario], held: Sequence[Judgement]) -> dict[str, Any]:
    """The result as JSON."""
    winner = fitted.winner
    return {
        "experiments": [each.name for each in experiments],
        "digests": digests(experiments),
        "engine_version": _engine.version(),
        "open": _open(fitted.space),
        "seeds": fitted.seeds,
        "fresh": fitted.fresh,
        "settings_tried": len(fitted.tried),
        "settings": fitted.space.size,
        "exhaustive": fitted.exhaustive,
        "failed": [error for each in fitted.tried for error in each.errors],
        "winner": winner.values,
        "front": [{"values": each.values, "holds": sorted(each.holding)} for each in fitted.front],
        "ablation": [vars(each) for each in fitted.ablation],
        "not_found": {name: _closest(*pair) for name, pair in fitted.not_found.items()},
        "apart": [list(pair) for pair in fitted.apart],
        "pairs": [
            {
                "sentences": [pair.one, pair.other],
                "settings": pair.settings,
                "best": None if pair.best is None else pair.best.values,
            }
            for pair in fitted.pairs
        ],
        "impossible": fitted.declared,
        "confirmed": [_confirmed(each) for each in fitted.confirmed],
        "held_out": [vars(each) for each in held],
        "sentences": {name: _sentence(fitted, name, experiments) for name in fitted.sentences},
    }


def _closest(tried: Tried, found: Found) -> dict[str, Any]:
    return {"values": tried.values, **vars(found)}


def _confirmed(each: Confirmed) -> dict[str, Any]:
    found = {name: dict(vars(one)) for name, one in each.tried.found.items()}
    return {
        "label": each.label,
        "values": each.tried.values,
        "holds": sorted(each.tried.holding),
        "sentences": found,
        "errors": each.tried.errors,
    }


def _sentence(fitted: Fitted, name: str, experiments: Sequence[Scenario]) -> dict[str, Any]:
    """What the ledger says of a sentence: the settings tried, and those that were confirmed or came closest."""
    environment = next(each.environment for each in experiments if each.name == name.rpartition("/")[0])
    settings = [
        _setting(fitted, each.tried, each.tried.found[name], name, environment)
        for each in fitted.confirmed
        if each.tried.values and not each.label.startswith(SENSITIVITY) and name in each.tried.found
    ]
    if name in fitted.not_found:
        settings.append(_setting(fitted, *fitted.not_found[name], name, environment))
    return {"tried": sum(name in each.found for each in fitted.tried), "settings": settings}


def _setting(fitted: Fitted, tried: Tried, found: Found, name: str, environment: str) -> dict[str, Any]:
    said = words(fitted.space.restrict(name.rpartition("/")[0], tried.values))
    carried = fitted.carried_by(name) if tried.values == fitted.winner.values and found.holds else []
    if carried:
        said += f" (carried by {' and '.join(carried)})"
    return {
        "setting": said,
        "outcome": found.outcome,
        "distance": found.distance,
        "environment": environment,
        "shown": {"published": found.published, "value": found.shown, "interval": "-", "accept": found.accept},
    }


def write(fitted: Fitted, experiments: Sequence[Scenario], held: Sequence[Judgement], folder: Path) -> list[Path]:
    """Writes the files of a search.

    Raises:
        ResultsError: the folder cannot be written.

    """
    rows = [
        {
            **{path: str(value) for path, value in each.values.items()},
            "sentences": len(each.holding),
            **{name: found.outcome for name, found in each.found.items()},
        }
        for each in fitted.tried
    ]
    files = {
        FIT: as_json(as_dict(fitted, experiments, held)),
        SETTINGS: frame_of(rows).write_csv().encode(),
    }
    return write_files(folder, files)

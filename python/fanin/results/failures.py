"""Runs that failed: what was simulated, and why it did not end.

``results/failures/<run-id>.json`` is one file per run, written whole or not at all. A run fails the same way every
time, so a sweep does not try it again until ``--failed`` asks for it; another engine version gives it another id.
A run that was aborted because of the machine it ran on is not recorded: the next command retries it.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin.errors import RunError, ScenarioError
from fanin.results.files import write_whole, writing
from fanin.results.store import now
from fanin.scenario.settings import Settings

FAILURES = "failures"


@dataclass(frozen=True)
class Failure:
    """A run that did not end."""

    run_id: str
    experiment: str
    seed: int
    settings: Settings
    """What it was given beside the scenario file."""
    error: str
    scenario: dict[str, Any]
    """The scenario with every default filled in."""
    engine_version: str = ""
    failed: str = ""
    """When."""


class BrokenOff(Failure):
    """One that is not the run's own, and never recorded."""


def is_of_run(error: BaseException) -> bool:
    """Whether an error is the run's own, so that other runs can go on; the disk's, say, is not."""
    return isinstance(error, RunError | ScenarioError) or is_panic(error)


def is_panic(error: BaseException) -> bool:
    """Whether the engine broke off in the middle: a mistake in it, which spoils nothing but this run."""
    # The type of the binding's panics cannot be imported.
    return type(error).__name__ == "PanicException"


def describe(error: BaseException) -> str:
    """The error as people read it."""
    return f"the engine broke off: {error}" if is_panic(error) else str(error)


class Failures:
    """The folder of all failed runs."""

    def __init__(self, root: Path | str) -> None:
        self.folder = Path(root) / FAILURES

    def find(self, name: str) -> Failure | None:
        """The record of a run that failed; ``None`` if there is none, or none that can be read."""
        with contextlib.suppress(OSError, ValueError, TypeError):
            content = json.loads(self._path(name).read_bytes())
            return Failure(**{**content, "settings": [(path, value) for path, value in content["settings"]]})
        return None

    def save(self, failure: Failure) -> None:
        """Keeps a record.

        Raises:
            ResultsError: the folder cannot be written.

        """
        content = asdict(failure) | {"engine_version": _engine.version(), "failed": now()}
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(failure.run_id), (json.dumps(content, indent=1) + "\n").encode())

    def forget(self, name: str) -> None:
        """Drops the record of a run, if there is one: it is to be tried again, or it has ended after all."""
        with writing(self.folder):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

"""Failed runs: what was simulated, and why it failed.

``results/failures/<run-id>.json`` is one file per run, written atomically. A run fails the same way every
time, so a sweep does not retry it without ``--failed``; another engine version gives it another id.
A run that was aborted because of the machine it ran on is not recorded: the next command retries it.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fanin import _engine
from fanin.errors import RunError, ScenarioError
from fanin.results import sums
from fanin.results.files import write_whole, writing
from fanin.results.layout import FAILURES
from fanin.results.store import now
from fanin.scenario.settings import Settings


@dataclass(frozen=True)
class Failure:
    """A run that failed."""

    run_id: str
    experiment: str
    seed: int
    settings: Settings
    """Values given in addition to the scenario file."""
    error: str
    scenario: dict[str, Any]
    """The scenario with every default filled in."""
    engine_version: str = ""
    failed: str = ""
    """When."""


class BrokenOff(Failure):
    """A failure that was not caused by the run itself; it is never recorded."""


class NotBegun(BrokenOff):
    """A run that did not begin, as whoever asked for it has no time left."""


def is_of_run(error: BaseException) -> bool:
    """Whether an error was caused by the run itself, so that other runs can continue; a full disk, say, was not."""
    return isinstance(error, RunError | ScenarioError) or is_panic(error)


def is_panic(error: BaseException) -> bool:
    """Whether the engine panicked: a defect of the engine that affects only this run."""
    # The type of the binding's panics cannot be imported.
    return type(error).__name__ == "PanicException"


def text_of(content: object) -> bytes:
    """The content of a record's file."""
    return (json.dumps(content, indent=1) + "\n").encode()


def describe(error: BaseException) -> str:
    """The error as text."""
    return f"the engine crashed: {error}" if is_panic(error) else str(error)


class Failures:
    """The folder of all failed runs."""

    def __init__(self, root: Path | str) -> None:
        self.folder = Path(root) / FAILURES

    def find(self, name: str) -> Failure | None:
        """The record of a failed run; ``None`` if there is none; a damaged one is reported as a warning."""
        path = self._path(name)
        try:
            content = sums.unsealed(json.loads(path.read_bytes()))
            if content["run_id"] != name:
                raise ValueError(f"it is that of {content['run_id']}")
            return Failure(**{**content, "settings": [(path, value) for path, value in content["settings"]]})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            warnings.warn(f"{path}: damaged ({error}); the run is repeated", stacklevel=2)
            return None

    def save(self, failure: Failure) -> None:
        """Writes a record.

        Raises:
            ResultsError: the folder cannot be written.

        """
        content = sums.sealed(asdict(failure) | {"engine_version": _engine.version(), "failed": now()})
        with writing(self.folder.parent):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(failure.run_id), text_of(content))

    def forget(self, name: str) -> None:
        """Deletes the record of a run, if there is one: the run is retried, or has succeeded."""
        with writing(self.folder.parent):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

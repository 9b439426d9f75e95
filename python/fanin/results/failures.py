"""Failed runs: what was simulated, and why it failed.

A run fails the same way every time, so a sweep does not retry it without ``--failed``; another engine version gives it
another id. A run that was aborted because of the machine it ran on is not recorded: the next command retries it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fanin.errors import RunError, ScenarioError
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


def describe(error: BaseException) -> str:
    """The error as text."""
    return f"the engine crashed: {error}" if is_panic(error) else str(error)

"""The errors and warnings of fanin, each with a message that tells the user what to do.

The command line prints these as one line and never as a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence

from fanin.command import worded

_MAX_CHARACTERS = 1000
"""Characters of a message; it may quote a value or list names of any length."""


def _short(message: str) -> str:
    half = _MAX_CHARACTERS // 2
    return message if len(message) <= _MAX_CHARACTERS else f"{message[:half]} … {message[-half:]}"


class FaninError(Exception):
    """Base of all errors that fanin raises deliberately."""

    def __init__(self, message: str) -> None:
        super().__init__(_short(worded(message)))


class ScenarioError(FaninError):
    """A scenario or experiment file is invalid.

    Raised by the engine, for what is simulated, and by Python, for what is done with the runs. ``more`` holds further
    mistakes in the file, as printed: each on its own line.
    """

    def __init__(
        self,
        file: str,
        line: int | None,
        key: str,
        message: str,
        suggestion: str | None = None,
        more: Sequence[str] = (),
    ) -> None:
        self.file = file
        self.line = line
        self.key = key
        self.message = message
        self.suggestion = suggestion
        self.more = tuple(more)
        where = worded(file) if line is None else f"{file}:{line}"
        subject = f"{key}: " if key else ""
        hint = f' (did you mean "{suggestion}"?)' if suggestion else ""
        Exception.__init__(self, "\n".join((f"{where}: {subject}{_short(worded(message))}{hint}", *self.more)))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[object, ...]]:
        # For transfer between processes: by default an exception is rebuilt from its text alone.
        return type(self), (self.file, self.line, self.key, self.message, self.suggestion, self.more)


class RunError(FaninError):
    """A run violated an invariant, or was stopped."""


class SchemeError(FaninError):
    """A method of a scheme in Python raised an exception, which is the cause of this one."""

    def __init__(self, method: str, error: Exception, flow: int | None, switch: int | None, at_s: float | None) -> None:
        self.flow = flow
        """The number of the flow, as in the table of flows; ``None`` if it was about none."""
        self.switch = switch
        """The number of the switch; ``None`` if it was about none."""
        self.at_s = at_s
        """The simulated time in seconds; ``None`` before the run."""
        about = (("switch {}", switch), ("flow {}", flow), ("at {:.9g} s", at_s))
        where = ", ".join(text.format(value) for text, value in about if value is not None)
        super().__init__(f"{method}{where and f' ({where})'}: {type(error).__name__}: {error}")


class WorkerError(FaninError):
    """A run was aborted because its worker died or memory ran out; nothing is recorded."""


class ResultsError(FaninError):
    """A results folder cannot be written, or a stored file cannot be read."""


class ClusterError(FaninError):
    """A cluster cannot be reached or used."""


class LeftOutError(FaninError):
    """A worker that joined in the meantime is unsuitable, so another one has to make its runs."""


class NotFoundError(FaninError):
    """A name or file that the user gave does not exist."""


class ScenarioWarning(UserWarning):
    """A setting of a scenario is valid but probably unintended."""

    def __init__(self, message: str) -> None:
        super().__init__(worded(message))

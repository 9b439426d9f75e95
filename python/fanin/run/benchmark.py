"""Experiments that measure a program instead of a network: a command produces the row of each point.

It is the only way in which a file can start a program, so a file from elsewhere needs the user's consent.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fanin.errors import RunError, ScenarioError
from fanin.run.scenario import Scenario
from fanin.scenario import library
from fanin.scenario.format.values import Scalar
from fanin.scenario.points import points


def asks_for_trust(experiment: Scenario) -> str:
    """The commands that the file wants to start, if the file is not one of the package's own; else nothing.

    What the user agrees to is what is started: all texts for placeholders are in their places, those of a quick look
    too; only numbers are left out. What could look like something else is escaped.
    """
    command = experiment.document.benchmark
    if command is None or library.is_shipped(experiment.path):
        return ""
    rows = [point.row for quick in (False, True) for point in points(experiment, quick=quick)]
    texts = [{name: value for name, value in row.items() if isinstance(value, str)} for row in rows] or [{}]
    found = dict.fromkeys(shlex.join(_started(command, each)) for each in texts)
    said = "; or: ".join(map(_escaped, found))
    if len(said) < _A_FEW_LINES:
        return said
    # On a screen, the end of it may be all that is seen.
    return f"{said} ({len(found)} commands, {len(said)} characters: read them all)"


_A_FEW_LINES = 300
"""Characters."""


def _started(command: list[str], values: Mapping[str, Scalar]) -> list[str]:
    """The words of a command with values in place of their names; a value is not looked at for further names."""
    # A name with braces could take a part of another's.
    names = {f"{{{name}}}": str(value) for name, value in values.items() if not set(name) & set("{}")}
    if not names:
        return command
    either = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    return [either.sub(lambda found: names[found[0]], word) for word in command]


def _escaped(text: str) -> str:
    """A text of which every character is seen: many spaces would push it off the screen."""
    plain = "".join(
        each if " " <= each <= "~" and each != "\\" else each.encode("unicode_escape").decode() for each in text
    )
    return re.sub(" {9,}", lambda found: f" ({len(found[0])} spaces) ", plain)


def refuse_untrusted(experiments: list[Scenario]) -> None:
    """Refuses files that would start a program.

    Raises:
        ScenarioError: there is one.

    """
    for experiment in experiments:
        if command := asks_for_trust(experiment):
            allow = "if you trust the file, allow it with --trust (in Python: trust=True)"
            raise ScenarioError(str(experiment.path), None, "benchmark", f"starts a program: {command}; {allow}")


def measure(command: list[str], row: Mapping[str, Scalar]) -> dict[str, Any]:
    """Runs the command for one point and reads the JSON object in its last line of output.

    Args:
        command: Program and arguments; ``{name}`` becomes a value of the point, ``{python}`` this interpreter.
        row: The point.

    Raises:
        RunError: the command fails, or does not print a JSON object of numbers, or one with what the point has.

    """
    words = _started(command, {"python": sys.executable, **row})
    try:
        output = _output(words)
    except (OSError, ValueError) as error:
        raise RunError(f"benchmark {words[0]}: {getattr(error, 'strerror', None) or error}") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or f"exit code {error.returncode}").rpartition("\n")[2]
        raise RunError(f"benchmark {words[0]}: {last}") from None
    found = _numbers(output.strip().rpartition("\n")[2])
    if found is None:
        raise RunError(f"benchmark {words[0]}: its last line is not a JSON object of finite numbers")
    if taken := [name for name in found if name in row or name in _TAKEN]:
        raise RunError(f"benchmark {words[0]}: its last line has {', '.join(taken)}, which is not its to say")
    return found


_TAKEN = ("seed", "run_id", "result_hash", "groups", "offered", "incomplete", "completed", "simulated_s")
"""What a row says of a run besides what was measured."""


@contextlib.contextmanager
def _signals_held() -> Iterator[Callable[[], None]]:
    """Holds signals that end this process until the function that it gives is called.

    A program that starts runs before :class:`subprocess.Popen` returns, and nobody could end it yet.
    """
    came: list[int] = []
    held = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if number not in held and signal.getsignal(number) is not None:
                held[number] = signal.signal(number, lambda number, _: came.append(number))

    def release() -> None:
        while held:
            signal.signal(*held.popitem())
        while came:
            signal.raise_signal(came.pop())

    try:
        yield release
    finally:
        release()


def _output(words: list[str]) -> str:
    """What a program prints. It ends with this process, with all that it has started.

    Raises:
        OSError: it cannot be started.
        ValueError: its name or an argument is none.
        CalledProcessError: it fails.

    """
    none, pipe = subprocess.DEVNULL, subprocess.PIPE
    with _signals_held() as release:
        program = subprocess.Popen(
            words, stdin=none, stdout=pipe, stderr=pipe, start_new_session=True, encoding="utf-8", errors="replace"
        )
        with program:
            try:
                release()
                output, said = program.communicate()
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)
                raise
    if program.returncode:
        raise subprocess.CalledProcessError(program.returncode, words, output, said)
    return output


def _numbers(line: str) -> dict[str, Any] | None:
    """A JSON object of finite numbers; ``None`` if it is none."""
    try:
        found = json.loads(line)
        is_one = isinstance(found, dict) and all(_is_number(value) for value in found.values())
    except (ValueError, RecursionError, OverflowError):
        return None
    if not is_one or not all(name.isprintable() for name in found):
        return None
    # Tables have whole numbers of 64 bits.
    return {name: value if abs(value) < 2**53 else float(value) for name, value in found.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

"""Experiments that measure a program instead of a network: a command produces the row of each point.

It is the only way in which a file can start a program, so a file from elsewhere needs the user's consent.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from fanin.errors import RunError, ScenarioError
from fanin.run.experiment import Experiment
from fanin.scenario import library
from fanin.scenario.format.values import Scalar


def asks_for_trust(experiment: Experiment) -> str:
    """The command that the file wants to start, if the file is not one of the package's own; else nothing."""
    command = experiment.document.benchmark
    return "" if command is None or library.is_shipped(experiment.path) else shlex.join(command)


def refuse_untrusted(experiments: list[Experiment]) -> None:
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
        RunError: the command fails, or does not print a JSON object.

    """
    values = {"{python}": sys.executable, **{f"{{{name}}}": str(value) for name, value in row.items()}}
    words = []
    for word in command:
        for name, value in values.items():
            word = word.replace(name, value)
        words.append(word)
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout.strip().rpartition("\n")[2])
    except OSError as error:
        raise RunError(f"benchmark {words[0]}: {error.strerror or error}") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or f"exit code {error.returncode}").rpartition("\n")[2]
        raise RunError(f"benchmark {words[0]}: {last}") from None
    except ValueError:
        raise RunError(f"benchmark {words[0]}: its last line is not a JSON object") from None
    if not isinstance(found, dict):
        raise RunError(f"benchmark {words[0]}: its last line is not a JSON object")
    return found

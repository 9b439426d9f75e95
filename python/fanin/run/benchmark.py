"""Experiments that measure a program instead of a network: a command produces the row of each point."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from fanin.errors import RunError
from fanin.scenario.format.values import Scalar


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

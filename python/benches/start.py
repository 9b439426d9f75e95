"""Prints the CPU seconds of commands that do little: the median of several starts, beside that of Python alone.

``python python/benches/start.py [RESULTS]``: with a results folder, the commands that read it look at that one, and at
its runs alone, as if nothing had been judged.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from fanin.results.database import FILE

ROUNDS = 5

TAB = {"COMP_WORDS": "fanin explain dct", "COMP_CWORD": "2", "_FANIN_COMPLETE": "complete_bash"}


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """CPU time of one start, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(results: str) -> None:
    """Measures all commands in turn, so that a busy moment of the machine is shared by all."""
    fanin = [sys.executable, "-m", "fanin"]
    commands: dict[str, tuple[list[str], dict[str, str]]] = {
        "python -c pass": ([sys.executable, "-c", "pass"], {}),
        "fanin --version": ([*fanin, "--version"], {}),
        "one TAB": (fanin, TAB),
    }
    for words in ("--help", "explain dctcp", "list schemes", "run tour/collapse --no-store"):
        commands[f"fanin {words}"] = ([*fanin, *words.split()], {})
    # Beside the results, as hard links do not leave a file system.
    runs = Path(tempfile.mkdtemp(dir=Path(results).absolute().parent))
    if Path(results, FILE).is_file():
        os.link(Path(results, FILE), runs / FILE)
    for words in ("list experiments", "claims"):
        commands[f"fanin {words}"] = ([*fanin, *words.split(), "--out", results], {})
        commands[f"fanin {words}, of runs without records"] = ([*fanin, *words.split(), "--out", str(runs)], {})
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, (command, environment) in commands.items():
            taken[name].append(seconds(command, environment))
    for name, times in taken.items():
        sys.stdout.write(f"{statistics.median(times):6.2f} s  {name}\n")
    shutil.rmtree(runs)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "results")

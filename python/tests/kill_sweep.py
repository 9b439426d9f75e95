"""Kills sweeps at random places between their file operations and transactions, and compares what they leave.

Run by test_sweep.py in a process of its own: it forks, which is safe only while there is one thread. A place is the
n-th statement that a connection to the store is given, or the n-th time that Python opens, makes, renames or removes
something in the data set, so that no clock is involved. Then it kills it before each rename that puts a data set in
the place of an earlier one.
"""

import contextlib
import itertools
import os
import random
import shutil
import signal
import sqlite3
import sys
from pathlib import Path

from patches import stored

from fanin.cli import main
from fanin.results.database import Database
from fanin.results.files import whole_folder

COMMAND = ("sweep", "small.toml", "--seeds", "1..2", "--tables", "flows", "--columns", "goodput_bps", "--jobs", "2")
EARLIER = ("sweep", "small.toml", "--seeds", "1..2", "--columns", "fct_p99_s", "--jobs", "1")
"""The same points: other plots, and runs without the table."""
KILLS = 20
OPERATIONS = frozenset({"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"})

PARTS = ("store", "sweeps")


def attempt(
    out: str, part: str, kill_at: int, command: tuple[str, ...] = COMMAND, operations: frozenset[str] = OPERATIONS
) -> bool:
    """Runs the sweep in a child that kills itself at that operation in that part; whether it got to the end."""
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        counts = {each: itertools.count(1) for each in PARTS}

        def pass_by(here: str) -> None:
            if next(counts[here]) == kill_at and part == here:
                os.kill(os.getpid(), signal.SIGKILL)

        def watch(event: str, arguments: tuple) -> None:
            if event in operations and f"{out}/sweeps" in str(arguments[0]):
                pass_by("sweeps")

        sys.addaudithook(watch)
        connect = Database._connect

        def connected(self: Database, mode: str) -> None:
            connect(self, mode)
            connection: sqlite3.Connection | None = self._connection
            if connection is not None:
                connection.set_trace_callback(lambda _: pass_by("store"))

        Database._connect = connected
        code = 0
        try:
            main([*command, "--out", out])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        Path(f"{out}.operations").write_text(" ".join(str(next(count)) for count in counts.values()))
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(status) == 0
    return True


def left(out: str) -> dict[str, bytes]:
    """The data set."""
    whole = [path for path in Path(out, "sweeps").glob("*/*") if not path.parent.name.startswith(".tmp-")]
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(whole)}


def run(command: tuple[str, ...]) -> None:
    """Kills it in both parts."""
    assert attempt("whole", "", 0, command)
    undisturbed = left("whole")
    assert len(undisturbed) == 6, sorted(undisturbed)
    operations = dict(zip(PARTS, map(int, Path("whole.operations").read_text().split()), strict=True))
    assert operations["store"] > 50
    assert operations["sweeps"] > 5
    draw = random.Random(5)
    kills = completions = 0
    before: dict[str, object] = {}
    while kills < KILLS or completions == 0:
        part = draw.choice(PARTS)
        # Not the last ones in the store, as most attempts have some of the runs already.
        last = operations[part] - 1 if part == "sweeps" else operations[part] // 2
        killed = not attempt("killed", part, draw.randint(1, last) if kills < KILLS else 0, command)
        after: dict[str, object] = dict(stored("killed"))
        assert before.items() <= after.items(), "a finished run was lost or made again"
        before = after
        if killed:
            kills += 1
            assert left("killed") in ({}, undisturbed)
            continue
        completions += 1
        assert after.keys() == stored("whole").keys()
        assert left("killed") == undisturbed
        shutil.rmtree("killed")
        before = {}
    print(f"{kills} kills, {completions} completions")


def replace() -> None:
    """The same where a data set takes the place of another, before each rename: one of both is there."""
    assert attempt("earlier", "", 0, EARLIER)
    before, undisturbed = left("earlier"), left("whole")
    assert before.keys() != undisturbed.keys()
    renames = 0
    for kill_at in (1, 2, 3):
        shutil.rmtree("killed", ignore_errors=True)
        shutil.copytree("earlier", "killed")
        assert not attempt("killed", "sweeps", kill_at, operations=frozenset({"os.rename"}))
        renames += 1
        assert stored("killed").keys() == stored("earlier").keys(), "a finished run was lost"
        with contextlib.suppress(KeyError), whole_folder(Path("killed", "sweeps", "another")):
            raise KeyError
        assert left("killed") in (before, undisturbed), "a finished data set was lost"
        assert attempt("killed", "", 0)
        assert left("killed") == undisturbed
    kept = stamps("killed")
    assert attempt("killed", "sweeps", 1, operations=frozenset({"os.rename"})), "an equal data set was replaced"
    assert stamps("killed") == kept
    print(f"{renames} kills at renames")


def stamps(out: str) -> dict[str, int]:
    """When each file of the data set was written."""
    return {str(path): path.stat().st_mtime_ns for path in Path(out, "sweeps").glob("*/*")}


run(COMMAND)
replace()

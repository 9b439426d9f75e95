"""A run in a process of its own: if memory runs out, the run is lost and the sweep goes on.

The engine cannot continue after an allocation that failed, and the kernel kills the process that has most. So that it
is not the process of the sweep, large runs get one each, as Dask's workers do: the task goes in, packages come out.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from fanin.command import line
from fanin.errors import RunError, WorkerError
from fanin.run.remote import Package, Task, simulated

_ASK_EVERY_S = 0.1

_TASK, _ANSWER = "task", "answer"
"""Files through which the processes speak."""


def simulate(task: Task, folder: Path, is_stopped: Callable[[], bool]) -> list[Package]:
    """Runs the engine in a new process.

    Args:
        task: The runs.
        folder: An empty folder for temporary files.
        is_stopped: Asked several times a second; once it is true, the process is killed.

    Raises:
        RunError: a run failed, or was stopped.
        WorkerError: memory ran out, or the process died for another reason.
        OSError: temporary files cannot be written.

    """
    said = folder / "said"
    (folder / _TASK).write_bytes(pickle.dumps(task))
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONPATH": paths, "TMPDIR": str(folder.absolute())}
    # Without the working folder in the search path; and Ctrl-C of a terminal reaches only this process.
    command = [sys.executable, "-P", "-m", "fanin.run.alone", str(folder.absolute())]
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=stderr, stderr=stderr, env=environment, start_new_session=True
        )
        # Its stdin stays open as long as this process lives, which it watches.
        with process:
            _wait(process, is_stopped)
    if process.returncode:
        raise WorkerError(_why(process.returncode, said.read_text(encoding="utf-8", errors="replace")))
    found: list[Package] | BaseException = pickle.loads((folder / _ANSWER).read_bytes())
    if isinstance(found, BaseException):
        raise found
    return found


def _wait(process: subprocess.Popen[bytes], is_stopped: Callable[[], bool]) -> None:
    while process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_ASK_EVERY_S)
        if process.returncode is None and is_stopped():
            process.kill()
            process.wait()
            raise RunError("stopped")


def _why(code: int, said: str) -> str:
    """Why a process died, from its exit code and what it printed."""
    lines = said.strip().splitlines()
    # Rust's words and Python's.
    of_memory = [line for line in lines if "memory allocation of" in line or "MemoryError" in line]
    # The kernel kills when memory runs out, and leaves no word.
    what = "out of memory" if of_memory or code == -signal.SIGKILL else "the process of the run died"
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    shown = (of_memory or lines)[-1:]
    return f"{what} ({': '.join([how, *shown])}); the next command retries it"


def _answer(folder: Path) -> None:
    """The other side: reads a task, runs it, and writes packages or an error."""
    with contextlib.suppress(OSError):
        # If the kernel has to kill a process, this is the one: Linux, and no right is needed for it.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    threading.Thread(target=_end_with_parent, daemon=True).start()
    found: list[Package] | BaseException
    try:
        # Who reads its errors gets the words of the process that asked.
        with line():
            found = simulated(pickle.loads((folder / _TASK).read_bytes()))
    except MemoryError:
        found = WorkerError("out of memory; the next command retries it")
    except Exception as error:
        found = error
    with (folder / _ANSWER).open("wb") as file:
        pickle.dump(found, file)


def _end_with_parent() -> None:
    # Not sys.stdin, whose lock could not be taken when the interpreter ends.
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    _answer(Path(sys.argv[1]))

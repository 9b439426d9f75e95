"""The command line: one module per command, which is imported when the command is used.

Data goes to stdout, progress and messages to stderr. :data:`fanin.cli.commands.EXIT_CODES` defines the exit codes.
"""

from __future__ import annotations

import errno
import signal
import sys
import warnings
from typing import NoReturn

from fanin.cli.terminal import interrupted, note, say, version
from fanin.command import line
from fanin.errors import FaninError, RunError, ScenarioError, ScenarioWarning
from fanin.extension import own_engine
from fanin.later import LEAST, room

UNREAD = 128 + signal.SIGPIPE
"""The exit code where nobody reads the output."""


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line. Users' errors are printed as one line, never as a traceback.

    The process is left as it was found: what belongs to a process of its own is in :mod:`fanin.__main__`.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if strange := [word for word in words if not _is_text(word)]:
        note(f"error: {strange[0]}: not valid UTF-8, which names of files and folders must be here")
        sys.exit(2)
    if words == ["--version"]:
        # Answered without the parser, which takes longer to import than everything else.
        try:
            say(version())
        except OSError as error:
            _refuse_output(error)
        return
    with warnings.catch_warnings(), line():
        warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
        warnings.simplefilter("always", ScenarioWarning)
        _run(arguments)


def _refuse_output(error: OSError) -> NoReturn:
    if isinstance(error, BrokenPipeError) and error.filename is None:
        sys.exit(UNREAD)
    unnamed = "the current folder" if error.errno == errno.ENOENT else "output"
    note(f"error: {error.filename or unnamed}: {error.strerror or error}")
    sys.exit(3)


def _is_text(word: str) -> bool:
    """Whether an argument came as UTF-8; Polars opens no file whose name did not."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _run(arguments: list[str] | None) -> None:
    try:
        from fanin.cli import commands

        try:
            commands.app(arguments, prog_name="fanin")
        except SystemExit:
            # That nobody reads it would not be noticed before the interpreter ends.
            sys.stdout.flush()
            raise
    except RunError as error:
        note(f"error: the run failed: {error}")
        sys.exit(1)
    except FaninError as error:
        note(f"error: {error}")
        if isinstance(error, ScenarioError) and error.key.endswith("scheme") and "must be one of" in error.message:
            note(f"FANIN_ENGINE is {own_engine() or 'not set'}: a scheme of your own needs the engine that has it")
        sys.exit(3)
    except OSError as error:
        _refuse_output(error)
    except SystemExit as ended:
        # The parser makes of it that something failed.
        if isinstance(ended.__context__, BrokenPipeError):
            # Without a word, as programs do of which whoever reads them, such as ``head``, wants no more.
            sys.exit(UNREAD)
        if (code := interrupted(ended.code)) is None:
            raise
        sys.exit(code)
    except BaseException as error:  # also the engine's panics and Ctrl-C outside of a command, which are no Exception
        if (code := interrupted(None, error)) is not None:
            note("interrupted")
            sys.exit(code)
        if _is_of_memory(error):
            note("error: not enough memory; give this process more (ulimit -v, a job's limit), or ask for less")
            sys.exit(3)
        from fanin.cli import crash

        what = " ".join(f"{type(error).__name__}: {error}".split())
        note(
            f"error: internal error ({what[:200]}){crash.of_own_engine()}; please report it with {crash.report(error)}"
        )
        sys.exit(70)


def _is_of_memory(error: BaseException) -> bool:
    """Whether memory ran out; libraries that find too little of it when they are imported say something else."""
    return isinstance(error, MemoryError) or room() < 2 * LEAST

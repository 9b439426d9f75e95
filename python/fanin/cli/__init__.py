"""The command line: one module per command, which is imported when the command is used.

Data goes to stdout, progress and messages to stderr. :data:`fanin.cli.commands.EXIT_CODES` defines the exit codes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import warnings
from typing import NoReturn

from fanin import command
from fanin.cli.terminal import accept_any_text, ignore_no_width, interrupt_on_signals, interrupted, note, say, version
from fanin.errors import FaninError, RunError
from fanin.garbage import collect_seldom
from fanin.later import LEAST, room


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line. Users' errors are printed as one line, never as a traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    accept_any_text()
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
    # Otherwise pydantic, which the parser uses, searches all installed packages for plugins at each start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    # Matplotlib refuses to be imported with a value that it does not know; what is drawn here is never a window.
    os.environ["MPLBACKEND"] = "agg"
    if "_FANIN_COMPLETE" in os.environ:
        from fanin.cli import tab_completion

        tab_completion.join_at_equals()
        with tab_completion.as_bash_wants():
            _run(arguments)
        return
    _run(arguments)


def _refuse_output(error: OSError) -> NoReturn:
    if isinstance(error, BrokenPipeError) and error.filename is None:
        _end_unread()
    unnamed = "the current folder" if error.errno == errno.ENOENT else "output"
    note(f"error: {error.filename or unnamed}: {error.strerror or error}")
    sys.exit(3)


def _end_unread() -> NoReturn:
    """Ends without a word, as programs do of which whoever reads them, such as ``head``, wants no more."""
    # What is still to be written would be written, and fail, once more at the end.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(128 + signal.SIGPIPE)


def _is_text(word: str) -> bool:
    """Whether an argument came as UTF-8; Polars opens no file whose name did not."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _run(arguments: list[str] | None) -> None:
    command.interrupt()
    interrupt_on_signals()
    ignore_no_width()
    collect_seldom()
    warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
    try:
        from fanin import _engine
        from fanin.cli import commands

        _engine.keep_panics()
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
        sys.exit(3)
    except OSError as error:
        _refuse_output(error)
    except SystemExit as ended:
        # The parser makes of it that something failed.
        if isinstance(ended.__context__, BrokenPipeError):
            _end_unread()
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
        note(f"error: internal error ({what[:200]}); please report it with {crash.report(error)}")
        sys.exit(70)


def _is_of_memory(error: BaseException) -> bool:
    """Whether memory ran out; libraries that find too little of it when they are imported say something else."""
    return isinstance(error, MemoryError) or room() < 2 * LEAST

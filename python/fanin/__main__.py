"""The process of the command line: ``fanin``, and ``python -m fanin``.

What a whole process has only once is set here and nowhere else: streams, environment, signals, garbage collection, and
what Rust says of a panic. :func:`fanin.cli.main` leaves a process as it found it.
"""

import contextlib
import os
import sys

from fanin import _engine, cli, command
from fanin.cli.terminal import accept_any_text, ignore_no_width, interrupt_on_signals
from fanin.garbage import collect_seldom


def main() -> None:
    """Runs the command line with the arguments of this process."""
    accept_any_text()
    ignore_no_width()
    # Otherwise pydantic, which the parser uses, searches all installed packages for plugins at each start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    # Matplotlib refuses to be imported with a value that it does not know; what is drawn here is never a window.
    os.environ["MPLBACKEND"] = "agg"
    command.interrupt()
    interrupt_on_signals()
    collect_seldom()
    _engine.keep_panics()
    try:
        with _completing():
            cli.main()
    except SystemExit as ended:
        if ended.code == cli.UNREAD:
            _discard_output()
        raise


def _completing() -> contextlib.AbstractContextManager[None]:
    """What the shell needs where it asks for what a word can become."""
    if "_FANIN_COMPLETE" not in os.environ:
        return contextlib.nullcontext()
    from fanin.cli import tab_completion

    tab_completion.join_at_equals()
    return tab_completion.as_bash_wants()


def _discard_output() -> None:
    """What is still to be written would be written, and fail, once more at the end."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()

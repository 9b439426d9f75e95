"""Whether this process is the command line, which is known before anything else is imported."""

from __future__ import annotations

import signal
import sys


def is_command() -> bool:
    """Whether ``fanin`` or ``python -m fanin`` was started, and not a program that uses the package."""
    name = sys.argv[0].rpartition("/")[2]
    # That is how -m calls itself until it has found the module.
    return name == "fanin" or (name == "-m" and "fanin" in sys.orig_argv)


def end_without_a_word() -> None:
    """Makes Ctrl-C end the command as it ends other programs, until the command line has its own words for that."""
    # What a shell started in the background may ignore it.
    if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _changed.append(signal.SIGINT)


def interrupt() -> None:
    """Makes Ctrl-C a KeyboardInterrupt again."""
    # By now -m has another name for itself.
    while _changed:
        signal.signal(_changed.pop(), signal.default_int_handler)


_changed: list[signal.Signals] = []

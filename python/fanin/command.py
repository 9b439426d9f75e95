"""Whether this process is the command line, which is known before anything else, and how messages name its options."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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

_typed = 0
"""How many commands run in this process."""


@contextmanager
def line() -> Iterator[None]:
    """Messages are meanwhile for who types commands."""
    global _typed
    _typed += 1
    try:
        yield
    finally:
        _typed -= 1


_FLAGS = ("again", "bare", "confirm", "quick", "trust")

_SAME = tuple("file goal jobs keep memory of out schemes seeds senders tables trials where within".split())

_OTHER = {
    "--zip": "together",
    "--param": "params",
    "--json": "beside_scheme",
    "--backend linux": 'set("run.backend", "linux")',
    "--over PATH=FIRST..LAST": 'over=("PATH", FIRST, LAST)',
}
"""Options and values, and what Python has in their place."""

_VALUE = r"(?: (?P<value>[\w.-]+=(?:'[^']*'|[^\s';,)]*[^\s';,.)])|\d(?:[^\s;:,)]*[^\s;:,.)])?|\S+(?=:)))?"

_OPTION = re.compile(
    rf"(?<![\w/-])(?:(?:{'|'.join(map(re.escape, _OTHER))})(?![\w-])"
    rf"|--(?P<name>{'|'.join(('set', *_FLAGS, *_SAME))})(?![\w-]){_VALUE})"
)


def worded(message: str) -> str:
    """A message that names options of commands, as its reader gives them: in Python as arguments."""
    return message if _typed else _OPTION.sub(_argument, message)


def _argument(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if name is None:
        return _OTHER[found[0]]
    if name == "set":
        path, _, text = (value or "").partition("=")
        unquoted = text.strip("'")
        return f'set("{path}", "{unquoted}")' if path else "set"
    if name in _FLAGS:
        return f"{name}=True"
    if value is None:
        return f"{name}="
    if name == "seeds" and (ends := value.split(".."))[1:]:
        return f"seeds=range({ends[0]}, {int(ends[1]) + 1})"
    return f"{name}={value}" if value.isdigit() else f'{name}="{value}"'

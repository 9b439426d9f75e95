"""Output of the commands: data on stdout, everything else on stderr.

On a terminal tables are drawn; elsewhere their columns are aligned, or separated by tabs with ``--tsv``. ``NO_COLOR``
is respected.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import fanin
from fanin.harmless import harmless

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress

    from fanin.numbers.stats import Spread
    from fanin.run.job import Progress as PoolProgress

_PLAIN_INTERVAL_S = 5.0

_SHORT_S = 10.0
"""Runs in the kernel that take longer are announced."""

_LABEL_WIDTH = 10
"""Of the labels of rows."""


def ignore_no_width() -> None:
    """Forgets a width of the terminal of which no text can be."""
    with contextlib.suppress(ValueError):
        if int(os.environ.get("COLUMNS", "1")) < 1:
            del os.environ["COLUMNS"]


def terminal(stream: TextIO) -> Console | None:
    """A console for the stream if it is a terminal; otherwise rich is not imported."""
    if not (stream.isatty() or os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE")):
        return None
    from rich.console import Console

    # A path such as scenario.toml:100: is no emoji.
    console = Console(file=stream, emoji=False)
    return console if console.is_terminal else None


def note(message: str) -> None:
    """Prints a message that is not data, on stderr, wrapped with a hanging indent.

    What stderr does not take is no reason to fail.
    """
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{_wrapped(harmless(message), sys.stderr, indent='    ')}\n")


def _wrapped(text: str, stream: TextIO, *, indent: str = "") -> str:
    """A paragraph as the stream shows it: on a terminal no wider than that and than is easy to read, else in one line.

    Args:
        text: What it says. Lines are left as they are, and words such as paths stay whole.
        stream: Where it is written.
        indent: What begins every line but the first.

    """
    import textwrap

    console = terminal(stream)
    if console is None or "\n" in text:
        return text
    width = min(console.width, _READABLE)
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


_READABLE = 100
"""Characters of a line."""


def agrees(question: str) -> bool:
    """Asks on the terminal, and whether the answer is yes.

    Raises:
        KeyboardInterrupt: a signal came instead, which does not end the reading of a line where Polars is loaded.

    """
    sys.stderr.write(f"{harmless(question)} [y/N]: ")
    sys.stderr.flush()
    # A signal that comes just before a wait is seen only after it, so waits are short.
    while not select.select([sys.stdin], [], [], 0.2)[0]:
        pass
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def note_moved(observed: str, found: str) -> None:
    """Says that the queue of a run is that of the port that turned out to be the bottleneck."""
    from fanin.scenario.remarks import moved

    note(moved(observed, found))


def accept_any_text() -> None:
    """Lets every text be printed; where a stream is closed (``>&-``), nowhere.

    A character that the terminal does not have becomes a question mark; the bytes of a file name that is not UTF-8 are
    printed as they are.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: PTH123, SIM115 - for the whole process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape" if stream.encoding.lower() == "utf-8" else "replace")


class Terminated(KeyboardInterrupt):
    """SIGTERM came, which batch systems send where a person presses Ctrl-C; or SIGHUP, as the terminal closed."""

    def __init__(self, came: signal.Signals) -> None:
        super().__init__()
        self.code = 128 + came


_came: list[signal.Signals] = []


def interrupted(code: object, error: BaseException | None = None) -> int | None:
    """The exit code if a signal ended the command, although something else says that it ended; ``None`` otherwise.

    Args:
        code: The exit code so far. The parser makes that of Ctrl-C of any interrupt.
        error: What ended it. A library that was interrupted inside may tell of its own failure.

    """
    inside = isinstance(error, KeyboardInterrupt) or (
        error is not None and any(each in str(error) for each in (KeyboardInterrupt.__name__, Terminated.__name__))
    )
    if code != _INTERRUPTED and not inside:
        return None
    return 128 + _came[0] if _came else _INTERRUPTED


_INTERRUPTED = 128 + signal.SIGINT


def interrupt_on_signals() -> None:
    """Makes SIGTERM and SIGHUP interrupt as Ctrl-C does, except in processes that are forked later: those just end."""
    here = os.getpid()

    def interrupt(number: int, _: object) -> None:
        if os.getpid() != here:
            os._exit(128 + number)
        came = signal.Signals(number)
        _came.append(came)
        raise Terminated(came)

    if threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGTERM, interrupt)
    # Under nohup it is ignored.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, interrupt)


def version() -> str:
    """The output of ``--version``."""
    return f"fanin {fanin.__version__} (engine {fanin.engine_version()})"


def say(line: str = "") -> None:
    """Prints a line of data."""
    sys.stdout.write(f"{harmless(line)}\n")


def say_wrapped(text: str) -> None:
    """Prints a paragraph of data, wrapped."""
    say(_wrapped(text, sys.stdout))


def say_rows(rows: Sequence[tuple[str, str]], *, lines: int | None = None) -> int:
    """Prints labelled rows.

    Args:
        rows: A label and a text each, the most important first.
        lines: How many lines they may take together; ``None`` for any number.

    Returns:
        How many rows were left out.

    """
    said = [
        _wrapped(f"  {label:<{_LABEL_WIDTH}}{text}", sys.stdout, indent=" " * (_LABEL_WIDTH + 2))
        for label, text in rows
    ]
    ends = itertools.accumulate(each.count("\n") + 1 for each in said)
    shown = sum(lines is None or end <= lines for end in ends)
    for each in said[:shown]:
        say(each)
    return len(said) - shown


def say_trials(trials: Iterable[tuple[str, str]]) -> None:
    """Commands to try, each with what it shows."""
    say("Try:")
    for command, why in trials:
        say(f"  {command}")
        say(f"      {why}")


def explain_intervals(seeds: int, spreads: Iterable[Spread], more: str = "") -> None:
    """What stands around the means of a table over so many seeds."""
    from fanin.numbers.stats import FEWEST, NO_SPREAD, QUANTILES

    if seeds < FEWEST:
        say_wrapped(f"no intervals: {seeds} seed{'s' if seeds != 1 else ''}, at least {FEWEST} needed")
        return
    every = list(spreads)
    say_wrapped(f"± half the 95 % interval over {seeds} seeds{more}")
    if any(each.has_no_width for each in every):
        say_wrapped(NO_SPREAD)
    if any(each.quantiles for each in every):
        say_wrapped(QUANTILES)


def print_json(value: object) -> None:
    """Prints one JSON value."""
    say(json.dumps(value, indent=2, ensure_ascii=False, default=str))


_with_tabs = False


def separate_with_tabs(wanted: bool) -> None:
    """Whether tables are printed as tab-separated values, whatever stdout is."""
    global _with_tabs
    _with_tabs = wanted


def print_table(
    title: str,
    header: list[str],
    body: Iterable[list[str]],
    *,
    keys: int = 1,
    spare: Sequence[str] = (),
    tables: int = 1,
) -> list[str]:
    """Prints a table; its cells are of one line and without tabs.

    Args:
        title: What it is.
        header: The headings of its columns.
        body: Its rows.
        keys: How many columns name the rows, from the first on: each of the tables below each other begins with them.
        spare: Headings of columns that a narrow terminal does not show, the least important first: those without which
            there are only so many tables below each other.
        tables: How many tables below each other are not too many.

    Returns:
        The headings that were left out.

    """
    title, header = " ".join(harmless(title).split("\n")), _cells(header)
    body = map(_cells, body)
    console = None if _with_tabs else terminal(sys.stdout)
    if console is None:
        lines = [header, *body]
        say(f"# {title}")
        for line in map("\t".join, lines) if _with_tabs else _aligned(lines):
            say(line)
        return []
    from rich.table import Table

    console.print(_wrapped(title, sys.stdout), style="bold", markup=False, highlight=False, soft_wrap=True)
    lines = [header, *body]
    left_out: list[str] = []
    while len(left_out) < len(spare) and len(_blocks(lines, console.width, keys)) > tables:
        place = lines[0].index(spare[len(left_out)])
        lines = [[*row[:place], *row[place + 1 :]] for row in lines]
        left_out.append(spare[len(left_out)])
    for columns, widths in _blocks(lines, console.width, keys):
        table = Table(header_style="bold")
        for place, width in zip(columns, widths, strict=True):
            table.add_column(lines[0][place], overflow="fold", width=width)
        for row in lines[1:]:
            table.add_row(*(row[place] for place in columns))
        console.print(table, markup=False)
    return left_out


def _cells(row: list[str]) -> list[str]:
    return [re.sub(r"[\t\n]", " ", harmless(cell)) for cell in row]


def _aligned(lines: list[list[str]]) -> Iterator[str]:
    """The rows of a table with two spaces between its columns; numbers end together."""
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, cells)) for cells in columns]
    are_numbers = [all(not cell or cell[0].isdigit() or cell[0] in "+-" for cell in cells[1:]) for cells in columns]
    for row in lines:
        cells = (
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(row, widths, are_numbers, strict=True)
        )
        yield "  ".join(cells).rstrip()


_FRAME = 3
"""Characters of a table's frame for each column, and one more at the end."""

_WHOLE = 18
"""A cell up to this length, such as a mean with its interval, stays in one line."""


def _blocks(lines: list[list[str]], width: int, keys: int) -> list[tuple[list[int], list[int]]]:
    """The columns of a table, in as many tables as it takes to break no word and no number, with their widths.

    Those that name the rows begin each of the tables, or the first of them if they need most of the width.
    """
    cells = list(zip(*lines, strict=True))
    # A heading may wrap between its words.
    least = [max(_longest_word(of[0]), *map(_least, of[1:]), 1) for of in cells]
    full = [max(1, *map(len, of)) for of in cells]
    if 2 * sum(each + _FRAME for each in least[:keys]) > width:
        keys = 1
    names = list(range(keys))
    blocks: list[list[int]] = [names]
    for place in range(keys, len(cells)):
        wanted = [*blocks[-1], place]
        if len(blocks[-1]) > keys and sum(least[each] + _FRAME for each in wanted) + 1 > width:
            blocks.append([*names, place])
        else:
            blocks[-1] = wanted
    return [(block, _widths([least[i] for i in block], [full[i] for i in block], width)) for block in blocks]


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _least(text: str) -> int:
    return len(text) if len(text) <= _WHOLE else _longest_word(text)


def _widths(least: list[int], full: list[int], width: int) -> list[int]:
    """The width of each column: what it needs, and a share of what is left in proportion to what it would like."""
    room = width - _FRAME * len(least) - 1
    wish = sum(full) - sum(least)
    if sum(full) <= room:
        return full
    spare = max(0, room - sum(least))
    return [low + (high - low) * spare // wish for low, high in zip(least, full, strict=True)] if wish else least


def summary_rows(summary: dict[str, Any], queue: dict[str, Any] | None = None) -> list[list[str]]:
    """A run's totals for a table, as :func:`fanin.numbers.summary.rows` has them; the first of each group names it."""
    from fanin.numbers.summary import rows

    shown: list[list[str]] = []
    last = ""
    for group, label, value in rows(summary, queue):
        shown.append(["" if group == last else group, label, value])
        last = group
    return shown


class Counter:
    """Counts finished things, on a bar or in lines."""

    def __init__(self, what: str, after_s: float = 0.0) -> None:
        self._what = what
        self._first_line = time.monotonic() + after_s
        self._begun: float | None = None
        """When the first simulation started: stored runs do not count towards the rate."""
        self._said = time.monotonic()
        self._bar: tuple[Progress, Any] | None = None

    def attach(self, bar: Progress) -> None:
        """Shows the count on a progress bar from now on."""
        self._bar = (bar, bar.add_task(self._what, total=None, left="starting"))

    def advance(self, progress: PoolProgress) -> None:
        """Shows the progress so far."""
        now = time.monotonic()
        begins = self._begun is None and progress.running > 0
        if begins:
            self._begun = now
        shown = _shown(progress, 0.0 if self._begun is None else now - self._begun)
        if self._bar is not None:
            bar, task = self._bar
            # A search asks for more when these are done: unless that is known, there is no end to fill the bar to.
            total = None if _goes_on(progress) else progress.total
            bar.update(task, completed=progress.done, total=total, left=", ".join(shown))
        elif now < self._first_line:
            return
        elif begins or now - self._said >= _PLAIN_INTERVAL_S or progress.done == progress.total:
            self._said = now
            about = "about " if progress.is_whole else ""
            count = f"{progress.done} done" if _goes_on(progress) else f"{progress.done} of {about}{progress.total}"
            note(", ".join((f"{self._what}: {count}", *shown)))


def _goes_on(progress: PoolProgress) -> bool:
    """Whether more will be asked for, and nobody knows how much."""
    return bool(progress.what) and not progress.is_whole


def _shown(progress: PoolProgress, seconds: float) -> list[str]:
    """Details next to the count: stored runs, rate, remaining time, failures."""
    from fanin.numbers.summary import format_number

    shown = [f"{progress.found} found in the store"] if progress.found else []
    finished = progress.done - progress.found
    if progress.simulated and seconds > 1:
        rate = finished / seconds
        shown.append(f"{format_number(rate, 2)}/s" if rate >= 0.1 else f"{format_number(60 * rate, 2)}/min")
    if progress.left is not None and progress.done < progress.total:
        shown.append(f"about {duration(progress.left)} left{' of this' * _goes_on(progress)}")
    if progress.failed:
        shown.append(f"{progress.failed} failed")
    return [*shown, progress.what] if progress.what else shown


def reading(what: str) -> Callable[[int, int], None]:
    """What to call with the number of things that have been read, and of all: it says so in lines on stderr."""
    said = time.monotonic()

    def advance(done: int, of: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= _PLAIN_INTERVAL_S:
            said = now
            note(f"{what}: {done} of {of}")

    return advance


def duration(seconds: float) -> str:
    """A time to wait, in words."""
    return f"{max(seconds, 1):.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def note_kernel_time(seconds: float, cores: int | None = None) -> None:
    """Says about how long runs take in the kernel, where one has to wait for them."""
    if seconds > _SHORT_S:
        of_many = f" on {cores} core{'s' if cores > 1 else ''}" if cores else ""
        note(f"at most about {duration(seconds)} in the kernel{of_many}; less if the transfers end early")


@contextmanager
def keeping(what: str | None, *, continues: bool = True) -> Iterator[None]:
    """On Ctrl-C, SIGTERM and SIGHUP, says what was kept, and that the same command continues if it does."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        further = "; the same command continues from there" if continues and what else ""
        note(f"interrupted: {what or 'nothing was kept'}{further}")
        import typer

        raise typer.Exit(interrupt.code if isinstance(interrupt, Terminated) else _INTERRUPTED) from None


PATIENCE_S = 2.0
"""A run that takes longer shows its progress."""


class Pace:
    """How fast a run proceeds, by the later half of the time that it has taken so far.

    What came before says little: nothing costs time before the load starts, and more in flight costs more.
    """

    def __init__(self) -> None:
        self._marks = deque([(0.0, 0.0)])

    def left(self, seconds: float, share: float, end: float) -> float | None:
        """Seconds until the share ``end`` is simulated, if ``share`` is after so many; ``None`` if not known."""
        marks = self._marks
        # A mark per cent of the time: few, however long the run is.
        if seconds > 1.01 * marks[-1][0]:
            marks.append((seconds, share))
        while len(marks) > 2 and marks[1][0] <= seconds / 2:
            marks.popleft()
        since, before = marks[0]
        return (seconds - since) * (end - share) / (share - before) if before < share < end else None


@contextmanager
def watching(what: str, *, end: float | None) -> Iterator[Callable[[float], bool]]:
    """What to call with the share of a run's duration that is simulated: beyond two seconds it shows that, on stderr.

    Args:
        what: What is shown first in the line.
        end: The share of its duration at which the run probably ends. If that is not known, only the time that the
            run has taken is shown.

    """
    begun = said = time.monotonic()
    console = terminal(sys.stderr)
    shown: Progress | None = None
    pace = Pace()

    def show(share: float) -> bool:
        nonlocal said, shown
        now = time.monotonic()
        seconds = pace.left(now - begun, share, end or 0.0)
        if now - begun < PATIENCE_S:
            return True
        left = "" if seconds is None else f"about {duration(seconds)} left"
        if end is not None and share >= end:
            left = "the last transfers"
        if console is None:
            if now - said >= _PLAIN_INTERVAL_S:
                said = now
                done = f"{now - begun:.0f} s so far" if end is None else f"{min(100 * share / end, 100):.0f} %"
                note(", ".join(part for part in (f"{what}: {done}", left) if part))
            return True
        if shown is None:
            shown = _bar(console)
            shown.start()
            shown.add_task(what, total=end, left="")
        shown.update(shown.task_ids[0], completed=share, left=left)
        return True

    try:
        yield show
    finally:
        if shown is not None:
            shown.stop()


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    return Progress(*columns, TextColumn("{task.fields[left]}"), console=console, transient=True)


@contextmanager
def counting(what: str, after_s: float = 0.0) -> Iterator[Counter]:
    """A counter with the remaining time, on stderr.

    Args:
        what: What is counted.
        after_s: In a log, nothing is said of what takes less.

    """
    counter = Counter(what, after_s)
    console = terminal(sys.stderr)
    if console is None:
        yield counter
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Told(Progress):
        """A bar with its details below, where there is room for them."""

        def get_renderables(self) -> Iterator[RenderableType]:
            yield self.make_tasks_table(self.tasks)
            yield from (Text(task.fields["left"]) for task in self.tasks if task.fields["left"])

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Told(*columns, console=console, transient=True) as bar:
        counter.attach(bar)
        yield counter

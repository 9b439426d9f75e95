"""A small scenario and a way to call the command line."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from shapes import unstated

import fanin
from fanin.cli import main
from fanin.cli.commands import COMMANDS
from fanin.cli.terminal import separate_with_tabs
from fanin.garbage import collect_seldom
from fanin.run import laboratory
from fanin.scenario import own
from fanin.show import front_end

SCENARIO = """\
title = "A small incast"

[network]
topology = "two-switch"
rate = "1Gbps"
delay = "33us"
buffer = "20pkt"

[transport]
rto-min = "10ms"
initial-window = "2mss"

[[traffic]]
name = "background"
kind = "background"
flows = 1

[[traffic]]
name = "bursts"
kind = "incast"
senders = 3
bytes-each = "64KB"
start = "5ms"
jitter = "100us"

[run]
duration = "200ms"

[sweep]
"transport.scheme" = ["newreno", "dctcp"]
"traffic.bursts.senders" = [2, 8, 24]
seeds = "1..3"

[[plot]]
x = "flows"
y = "goodput_bps"
by = "transport.scheme"
published = [{ x = 10, label = "a paper" }, { x = 10, y = 5e8, label = "a point" }, { y = 9e8, label = "a level" }]

[[claim]]
id = "some-goodput"
says = "Something arrives."
measure = "max"
x = "flows"
y = "goodput_bps"
where = { "transport.scheme" = "dctcp" }
published = 9e8
accept = [1.0, 1e9]
why = "more than nothing, and no more than the link carries"
"""


LISTED = """\
[network]
topology = "leaf-spine"
rate = "10Gbps"
delay = "1us"
[[traffic]]
kind = "flows"
file = "list.csv"
from = "all"
to = "all"
"""


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of the tests' own, in place of the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FANIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _garbage() -> None:
    """As in the program, whose commands many tests call."""
    collect_seldom()


class Result(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory with the small scenario in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A scenario of the flows that ``list.csv`` beside it holds."""
    path = tmp_path / "flows.toml"
    path.write_text(LISTED, encoding="utf-8")
    return path


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Calls ``fanin`` with these arguments; what it prints with ``--json`` must be what its help says."""

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        try:
            main(list(arguments))
            code = 0
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        # Each command is a process of its own otherwise.
        separate_with_tabs(False)
        captured = capsys.readouterr()
        if "--json" in arguments and captured.out and arguments[0] in COMMANDS:
            assert unstated(arguments[0], json.loads(captured.out)) == [], "the help does not name these keys"
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def tabs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets functions that print tables separate their cells with tabs, as commands do with ``--tsv``."""
    monkeypatch.setattr("fanin.cli.terminal._with_tabs", True)


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets Ctrl-C come at the n-th batch of runs that is asked for; batches after it are run."""

    def at(batch: int) -> None:
        real, batches = laboratory.outcomes, itertools.count(1)

        def interrupted(*rest: object, **named: object) -> object:
            if next(batches) == batch:
                raise KeyboardInterrupt
            return real(*rest, **named)

        monkeypatch.setattr(laboratory, "outcomes", interrupted)

    return at


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Path:
    """A front end that is built, though it does nothing."""
    folder = tmp_path_factory.mktemp("dist")
    (folder / "report").mkdir()
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "report/report.css").write_text("body { margin: 0 }")
    (folder / "report/report.js").write_text("document.title = document.title;")
    return folder


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    """A scheme in Python ends with its test."""
    yield
    for name in own.registered():
        fanin.unregister(name)


@pytest.fixture(autouse=True)
def _built(built, monkeypatch) -> None:
    """Most machines that test have no Node; what the front end shows is tested in ``web/tests``."""
    monkeypatch.setattr(front_end, "_BUILT", built)

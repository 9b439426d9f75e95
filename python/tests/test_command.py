"""Messages name the options of commands as their reader gives them: in Python as arguments."""

import ast
import re
import warnings
from pathlib import Path

import pytest
from conftest import SCENARIO

import fanin
from fanin.command import line, worded


@pytest.mark.parametrize(
    ("typed", "python"),
    [
        ("run it with --set network.buffer=1MB.", 'run it with set("network.buffer", "1MB").'),
        ("--set measure.bottleneck='s1 -> h0' measures", 'set("measure.bottleneck", "s1 -> h0") measures'),
        ("choose another with --out", "choose another with out="),
        ("--keep goodput=90% counts them, too", 'keep="goodput=90%" counts them, too'),
        ("about 9 would decide (--seeds 1..9)", "about 9 would decide (seeds=range(1, 10))"),
        ("search with --over PATH=FIRST..LAST", 'search with over=("PATH", FIRST, LAST)'),
        ("--of fast: slowdown is", 'of="fast": slowdown is'),
        ("--senders 3: there are", "senders=3: there are"),
        ("--bare leaves them out", "bare=True leaves them out"),
        ("; --json lists the differences", "; beside_scheme lists the differences"),
        ("in the kernel, with --backend linux", 'in the kernel, with set("run.backend", "linux")'),
        (
            "results/--out/of--keep --settle docker run --shm-size=9m",
            "results/--out/of--keep --settle docker run --shm-size=9m",
        ),
    ],
)
def test_an_option_is_an_argument_in_python(typed, python):
    assert worded(typed) == python
    with line():
        assert worded(typed) == typed
    assert worded(typed) == python


ROOT = Path(fanin.__file__).parent


def messages():
    """What errors and warnings say outside of commands, by file, with the values that they quote left out."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise | ast.Return | ast.Assign | ast.AnnAssign | ast.AugAssign):
                for each in ast.walk(node):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield path.relative_to(ROOT).as_posix(), each.value


OF_COMMANDS = (
    "cli/",
    "imports/",
    "show/",
    "claims/",
    "serve/",
    "choose/fit/",
    "choose/reference.py",
    "scenario/catalogue.py",
    "scenario/library.py",
)
"""What is not reached by functions of the API, and pages, whose readers type commands."""


def test_every_option_that_a_message_names_has_an_argument():
    left = {
        (where, option)
        for where, text in messages()
        if not where.startswith((*OF_COMMANDS, "command.py"))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", worded(text))
    }
    assert left == set()


def test_what_the_api_says_names_no_option(work):
    scenario = fanin.Scenario(SCENARIO)
    tables = scenario.set("transport.scheme", "dctcp")
    with pytest.raises(fanin.ScenarioError, match=r"^set: network.bufer: unknown key"):
        tables.set("network.bufer", "1MB").check()
    with pytest.raises(fanin.ScenarioError, match=r"^together: network.buffer: does not vary"):
        scenario.vary({"transport.sack": [True, False]}, [["network.buffer"]])
    with pytest.raises(ValueError, match=r'; set\("transport.scheme", "swift"\) does'):
        fanin.tune(tables, {"scheme.swift.beta": [0.5, 0.8]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = fanin.compare(
            scenario.set("transport.rto-min", "10ms"), ["newreno", "linux-dctcp"], seeds=[1], out=None
        )
    said = [*answer.warnings, *(str(each.message) for each in caught)]
    (apart,) = {each for each in said if each.startswith("the systems differ in more")}
    assert apart.endswith(
        '; set("transport.stack", "linux-6.12") gives all the same stack; beside_scheme lists the differences'
    )
    assert answer.beside_scheme
    assert [each for each in said if "--" in each] == []

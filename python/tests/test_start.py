"""Nothing is imported before it is needed: modules are counted, as time is another each time."""

import json
import os
import subprocess
import sys

import pytest

from fanin.cli.commands import COMMANDS, load

HEAVY = ("numpy", "polars", "matplotlib", "distributed", "optuna", "jinja2")

COUNT = """\
import sys, contextlib, io, json
from fanin.__main__ import main
sys.argv = ["fanin", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
sys.__stdout__.write("\\n" + json.dumps(sorted(sys.modules)))
"""


def loaded(cwd, *arguments, **environment):
    """The modules that a command has imported when it ends."""
    command = [sys.executable, "-c", COUNT, *arguments]
    result = subprocess.run(
        command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(result.stdout.rpartition("\n")[2])


@pytest.mark.parametrize(
    ("arguments", "most", "absent", "needed"),
    [
        (["--version"], 120, ("typer", "pydantic", "rich"), ()),
        (["--help"], 250, ("pydantic", "rich", "fanin.run", "fanin.results", "fanin.scenario"), ()),
        (["explain", "dctcp"], 330, ("rich", "fanin.run", "fanin.scenario.sections"), ()),
        (["list", "schemes"], 330, ("rich", "fanin.run", "fanin.claims.ledger"), ()),
        (
            ["run", "small.toml", "--no-store", "--no-try"],
            900,
            ("rich", "fanin.run.pool", "fanin.show.plots"),
            ("polars",),
        ),
        (["list", "experiments"], 600, ("rich", "fanin.show"), ()),
        (["claims", "small"], 600, ("rich",), ()),
    ],
)
def test_a_command_imports_what_it_needs(work, arguments, most, absent, needed):
    found = loaded(work, *arguments)
    heavy = [
        name
        for name in found
        if name.startswith((*HEAVY, *absent)) and name.partition(".")[0] in {*HEAVY, "fanin", *absent} - {*needed}
    ]
    assert heavy == []
    assert len(found) <= most


@pytest.mark.parametrize(
    "line",
    [
        "fanin ra",
        "fanin sweep --se",
        "fanin explain dct",
        "fanin run small.toml --set transport.sch",
        "fanin compare small.toml --schemes newreno,dc",
        "fanin reproduce sdt",
    ],
)
def test_tab_imports_what_it_needs(work, line):
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1), "_FANIN_COMPLETE": "complete_bash"}
    found = loaded(work, **asked)
    absent = {*HEAVY, "pydantic", "rich"}
    assert [name for name in found if name.partition(".")[0] in absent or name.startswith("fanin.show")] == []
    assert len(found) <= 250


def test_the_overview_has_each_command_with_its_whole_help(cli):
    page = " ".join(cli("--help").out.split())
    for name, command in COMMANDS.items():
        assert f" {name} {command.help} " in page, name


def test_without_a_command_the_overview_is_shown(cli):
    result = cli()
    assert result.code == 2
    assert result.out == cli("--help").out


@pytest.mark.parametrize("arguments", [["list", "experiments"], ["claims"]])
def test_what_is_kept_is_not_worked_out_again(work, arguments):
    """The files' own models stay away; pydantic itself comes with some versions of the parser."""
    cold, warm = loaded(work, *arguments), loaded(work, *arguments)
    slow = (
        "fanin.run",
        "fanin.scenario.sections",
        "fanin.scenario.format.base",
        "fanin.claims.record",
        "fanin.claims.judge",
    )
    assert [name for name in slow if name in cold]
    assert [name for name in warm if name.startswith((*HEAVY, *slow, "rich"))] == []
    assert len(warm) <= 400


def test_the_list_of_commands_says_what_each_says_of_itself():
    for name, command in COMMANDS.items():
        first = load(name).help.split("\n\n")[0]
        assert " ".join(first.split()) == command.help, name

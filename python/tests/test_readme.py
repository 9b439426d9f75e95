"""The snippets of the README in their order, as a user pastes them in one folder."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_examples import README, parse, paste, scenario, snippets

import fanin

MAKEFILE = README.with_name("Makefile")

pytestmark = pytest.mark.skipif(not README.is_file(), reason="an installed package has no README")

ELSEWHERE = {"advise", "capacity", "claims", "compare", "merge", "report", "reproduce", "sweep", "tune", "verify"}
"""Verbs that are only parsed here: they take long, and examples of their help texts are run, with fewer seeds."""

PARSED = {
    "fanin list experiments": "reads every experiment; run as an example of its help text",
    "fanin fit dtcwa/fig6 dtcwa/fig7 --held-out": "takes hours",
}
"""Other commands that are only parsed, and why."""


def commands(block: str) -> list[str]:
    """The commands of a snippet, without the comments behind them."""
    return [line.partition("  #")[0].strip() for line in block.splitlines() if line.startswith("fanin ")]


def written(block: str) -> list[str]:
    """The commands of a snippet that write a file."""
    return re.findall(r"(?m)^cat (?:.*\n)+?END$", block)


def runs(command: str) -> bool:
    """Whether a command is run here; one that reads a file of the snippets always is."""
    return "--reference" in command or (command.split()[1] not in ELSEWHERE and command not in PARSED)


def test_snippets_run_in_order(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    seen = set()
    for block in snippets():
        if block.startswith("# scenario.toml\n"):
            Path("scenario.toml").write_text(block, encoding="utf-8")
        elif block.startswith("import fanin\n"):
            exec(compile(block, str(README), "exec"), {})
        for text in written(block):
            subprocess.run(["sh", "-c", text], check=True)
        for command in commands(block):
            seen.add(command)
            parse(command)
            if runs(command):
                paste(command, cli)
    assert set(PARSED) <= seen
    assert {path.name for path in Path().iterdir()} > {"sweep.toml", "measured.csv", "trace.txt", "trace.csv", "flows.csv"}


def test_tables_of_snippets_belong_to_a_scenario(tmp_path):
    first, second = (block for block in snippets() if block.startswith("["))
    network, fault = first.split("\n\n")
    traffic = second.partition("\n\n")[0]
    larger = re.sub(r"(?s)\[network\]\ntopology = .*?\n", network + "\n", scenario())
    for content in (f"{larger}\n{fault}", f"{scenario()}\n{traffic}\n"):
        path = tmp_path / "scenario.toml"
        path.write_text(content, encoding="utf-8")
        fanin.load(path).check()


def test_targets_of_make_exist():
    text = README.read_text(encoding="utf-8")
    targets = set(re.findall(r"^    make ([a-z]+)", text, re.MULTILINE)) | set(re.findall(r"`make ([a-z]+)`", text))
    assert {"demo", "test"} <= targets
    declared = re.findall(r"^([a-z]+):.*## \S", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE)
    assert targets <= set(declared)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_help_lists_the_targets():
    # A make that runs the tests hands its level down, at which this one would say which folder it enters.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
    done = subprocess.run(["make", "help"], cwd=MAKEFILE.parent, env=alone, check=True, capture_output=True, text=True)
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert listed == re.findall(r"^([a-z]+):.*## \S", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE)

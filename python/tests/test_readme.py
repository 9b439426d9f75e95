"""The README: its size, its outputs and its targets; and the snippets of the page of tasks, pasted in one folder."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from test_examples import README, TASKS, parse, paste, scenario, snippets
from test_guides import script

import fanin
from fanin import extras

MAKEFILE = README.with_name("Makefile")

pytestmark = pytest.mark.skipif(not README.is_file(), reason="an installed package has no README")

SMALLER = {
    "fanin advise scenario.toml": "fanin advise scenario.toml --seeds 1 --capacities 1",
    "fanin compare scenario.toml --goal query-p99 --seeds 1..10": (
        "fanin compare scenario.toml --goal query-p99 --seeds 1"
    ),
    "fanin compare scenario.toml --schemes newreno,dctcp --goal p99-fct --set traffic.servers.senders=100": (
        "fanin compare scenario.toml --schemes newreno,dctcp --goal p99-fct --set traffic.servers.senders=100 --seeds 1"
    ),
    "fanin capacity scenario.toml --scheme newreno,dctcp --keep goodput=90% --keep timeout-ratio=1%": (
        "fanin capacity scenario.toml --scheme newreno,dctcp --keep goodput=90% --keep timeout-ratio=1% --seeds 1..3"
    ),
    "fanin capacity scenario.toml --scheme dctcp --vary network.buffer=50KB..800KB": (
        "fanin capacity scenario.toml --scheme dctcp --vary network.buffer=50KB..800KB --seeds 1..3"
    ),
    "fanin tune scenario.toml --set scheme.dctcp.mark-threshold=65pkt "
    "--param scheme.dctcp.mark-threshold=5pkt..80pkt --goal query-p99": (
        "fanin tune scenario.toml --set scheme.dctcp.mark-threshold=65pkt "
        "--param scheme.dctcp.mark-threshold=5pkt..80pkt --goal query-p99 --trials 3 --seeds 1 --fresh 3"
    ),
    "fanin reproduce dtcwa": "fanin reproduce dtcwa/fig4 --quick",
    "fanin reproduce rcc/fig2a rcce/fig5c": "fanin reproduce rcc/fig2a rcce/fig5c --quick",
    "fanin sweep scenario.toml --set transport.scheme=dctcp,rcc --set traffic.servers.senders=10..200:10 "
    "--seeds 1..10": (
        "fanin sweep scenario.toml --set transport.scheme=dctcp,rcc --set traffic.servers.senders=10..30:10 --seeds 1"
    ),
}
"""Commands that would take long -> what is run in their place."""

PARSED = {
    "fanin fit dtcwa/fig6 dtcwa/fig7 --held-out": "takes hours",
    "fanin reproduce --all --quick": "takes a minute on two cores",
    "fanin reproduce --all": "takes some 20 minutes",
    "fanin sweep scenario.toml --seeds 1..100 --cluster tcp://host:8786": "needs a cluster",
    "fanin run scenario.toml --backend linux --set transport.scheme=linux-dctcp": "needs a kernel",
    "fanin advise scenario.toml --confirm": "needs a kernel",
}
"""Commands that are only parsed, and why."""


def commands(block: str) -> list[str]:
    """The commands of a snippet, without the comments behind them."""
    return [line.partition("  #")[0].strip() for line in block.splitlines() if line.startswith("fanin ")]


def written(block: str) -> list[str]:
    """The commands of a snippet that write a file."""
    return re.findall(r"(?m)^cat (?:.*\n)+?END$", block)


def rack(folder: Path) -> Path:
    """Writes the README's scenario."""
    (found,) = (content for kind, content in script().BLOCK.findall(README.read_text()) if kind == "toml")
    path = folder / "rack.toml"
    path.write_text(found, encoding="utf-8")
    return path


def shown(verb: str) -> tuple[str, list[str]]:
    """The README's command of that verb without what cuts its output, and the lines below it."""
    for kind, content in script().BLOCK.findall(README.read_text()):
        if kind == "console" and content.startswith(f"$ fanin {verb} "):
            first, *lines = content.splitlines()
            return first.removeprefix("$ ").partition(" 2>")[0], lines
    raise AssertionError(verb)


def test_it_is_read_in_two_minutes():
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 110
    assert len(text.encode()) <= 8192


def test_its_run_prints_what_stands_below_it(tmp_path, monkeypatch, cli):
    rack(tmp_path)
    monkeypatch.chdir(tmp_path)
    command, lines = shown("run")
    assert lines
    assert paste(command, cli).out.splitlines()[: len(lines)] == lines


def test_its_advice_has_the_simulated_times_and_a_command_that_gives_them(tmp_path, monkeypatch, cli):
    """The kernel's column is as the command printed it; one that has the kernel makes it anew with `make guide`."""
    rack(tmp_path)
    monkeypatch.chdir(tmp_path)
    command, lines = shown("advise")
    parse(command)
    tried = next(line for line in lines if line.startswith("Try it: ")).removeprefix("Try it: ")
    title, header, as_it_is, first = lines[2:6]
    assert "with seeds 1, 2 and 3, simulated and in Linux" in title
    assert (as_it_is[:8], first.split("  ")[0] in lines[0]) == ("as it is", True)
    assert header.split()[:2] == ["fix", "simulated"]
    for run, line in (("fanin run rack.toml", as_it_is), (tried, first)):
        found = [json.loads(paste(f"{run} --seed {seed} --json --no-store", cli).out) for seed in (1, 2, 3)]
        mean = sum(each["query_p99_s"] for each in found) / len(found)
        assert float(re.findall(r"([\d.]+) ±", line)[0]) == pytest.approx(mean * 1e3, rel=1e-3)


def test_every_snippet_of_a_task_runs_in_its_order(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    seen = set()
    for block in snippets():
        if block.startswith("# scenario.toml\n"):
            Path("scenario.toml").write_text(block, encoding="utf-8")
        elif block.startswith("import fanin\n"):
            exec(compile(block, str(TASKS), "exec"), {})
        for text in written(block):
            subprocess.run(["sh", "-c", text], check=True)
        for command in commands(block):
            seen.add(command)
            parse(command)
            if command not in PARSED:
                done = paste(SMALLER.get(command, command), cli)
                # An example that finds nothing shows nothing.
                assert not command.startswith("fanin tune") or "keep yours" not in done.out
    assert {*PARSED, *SMALLER} <= seen
    files = {"sweep.toml", "measured.csv", "trace.txt", "trace.csv", "flows.csv"}
    assert {path.name for path in Path().iterdir()} > files
    # The page's table has what the figure of a paper consists of.
    table = re.search(r"It writes to `results/figure/`:\n((?:\n?\|.*)+)", TASKS.read_text(encoding="utf-8"))
    shown = {name for row in re.findall(r"^\| (`.*?) \|", table.group(1), re.MULTILINE) for name in row.split()}
    assert {path.name for path in Path("results/figure").iterdir()} == {name.strip("`") for name in shown}


def test_tables_of_snippets_belong_to_a_scenario(tmp_path):
    first, second = (block for block in snippets() if block.startswith("["))
    network, fault = first.split("\n\n")
    traffic = second.partition("\n\n")[0]
    larger = re.sub(r"(?s)\[network\]\ntopology = .*?\n", network + "\n", scenario())
    for content in (f"{larger}\n{fault}", f"{scenario()}\n{traffic}\n"):
        path = tmp_path / "scenario.toml"
        path.write_text(content, encoding="utf-8")
        fanin.Scenario(path).check()


def test_targets_of_make_exist():
    text = README.read_text(encoding="utf-8")
    targets = set(re.findall(r"^    make ([a-z]+)", text, re.MULTILINE)) | set(re.findall(r"`make ([a-z]+)`", text))
    assert {"demo", "test", "docs"} <= targets
    declared = re.findall(r"^([a-z]+):.*## \S", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE)
    assert targets <= set(declared)


def test_nothing_is_installed_by_a_name_that_no_index_has():
    root = README.parent
    pages = [README, *(root / "docs").rglob("*.md"), *(root / "python/fanin").rglob("*.py")]
    named = [str(page) for page in pages if re.search(r"pip install '?fanin\b", page.read_text(encoding="utf-8"))]
    assert named == []
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for extra, packages in declared.items():
        if extra != "dev":
            told = [each.partition(">")[0] for each in packages]
            assert shlex.split(extras.how_to_install(extra)) == [sys.executable, "-m", "pip", "install", *told]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_help_lists_the_targets():
    # A make that runs the tests hands its level down, at which this one would say which folder it enters.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
    done = subprocess.run(["make", "help"], cwd=MAKEFILE.parent, env=alone, check=True, capture_output=True, text=True)
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert listed == re.findall(r"^([a-z]+):.*## \S", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE)

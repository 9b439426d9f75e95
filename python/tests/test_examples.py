"""The examples of every command's help, run as a user pastes them.

Each runs in a folder of its own that has what such commands are given: the scenario of the page of tasks, a sweep,
records, files of other tools and results.
"""

import inspect
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import typer
from patches import stored

import fanin
from fanin.cli.commands import COMMANDS, load

README = Path(__file__).parents[2] / "README.md"
TASKS = README.with_name("docs") / "how-to/tasks.md"

pytestmark = pytest.mark.skipif(not README.is_file(), reason="an installed package has no README")

RUN_ID = "0123456789abcdef"
"""What help texts write for the id of a run."""

NOT_RUN = {
    "fanin check scenario.toml --cluster tcp://host:8786": "needs a cluster",
    "fanin sweep scenario.toml --seeds 1..100 --cluster tcp://host:8786": "needs a cluster",
    "fanin serve": "serves until it is ended",
    "fanin serve --out /data/results --port 8765": "serves until it is ended",
    "fanin serve --no-browser": "serves until it is ended",
    "fanin ranking": "needs the results of cross, which take minutes",
    "fanin ranking cross/rack-10g --json": "needs the results of cross, which take minutes",
    "fanin ranking --page docs/papers/ranking.md": "needs the results of cross, which take minutes",
    "fanin reproduce --all": "takes some 20 minutes",
    "fanin reproduce dtcwa --environment rfc --seeds 1..3": "takes minutes",
    "fanin reproduce pfdct --quick --jobs 2": "takes a minute",
    "fanin reproduce sdtcp/fig9 sdtcp/fig10": "takes two minutes",
    "fanin fit dtcwa --trials 200 --held-out": "takes hours",
    "fanin fit dtcwa/fig6 dtcwa/fig7": "takes hours",
    "fanin fit dtcwa/fig6 --open scheme.dt-cwa.eq1 --open transport.initial-window=2mss,4mss": "takes minutes",
    "fanin fit rcce/fig3a --sensitivity transport.rto-min=13ms": "takes minutes",
}
"""Commands that are only parsed, and why."""

SMALLER = {
    r"(fanin reproduce dtcwa/fig6 .*)": r"\1 --quick",
    r"(fanin reproduce my-sweep.toml) --seeds 1..20 (.*)": r"\1 --seeds 1..3 \2",
    r"(fanin sweep .*)senders=10..200:10 --seeds 1..10": r"\1senders=10..30:10 --seeds 1..2",
    r"(fanin sweep sdtcp/fig9 .*)": r"\1 --seeds 1",
    r"(fanin sweep .*)--seeds 1..100(.*)": r"\1--seeds 1..8\2",
    r"(fanin tune .*)": r"\1 --trials 3 --seeds 1 --fresh 3",
    r"(fanin capacity .*--scheme) all (.*)": r"\1 newreno,dctcp \2 --seeds 1..3",
    r"(fanin capacity (?!.*--seeds).*)": r"\1 --seeds 1..3",
    r"(fanin capacity .*)--seeds 1..20(.*)": r"\1--seeds 1..3\2",
    r"(fanin compare sdtcp/fig9 .*)": r"\1 --schemes newreno,dctcp --seeds 1..3",
    r"(fanin compare .*)--seeds 1..10(.*)": r"\1--seeds 1..3\2",
}
"""Smaller settings where an example takes long."""


def smaller(command: str) -> str:
    for pattern, replacement in SMALLER.items():
        if re.fullmatch(pattern, command):
            return re.sub(pattern, replacement, command)
    return command


def examples() -> list[str]:
    """Every example of every command's help."""
    found = []
    for verb in COMMANDS:
        text = inspect.cleandoc(load(verb).help or "").partition("**Examples**")[2]
        own = [" ".join(code.split()) for code in re.findall(r"`(fanin [^`]+)`", text)]
        assert own, f"fanin {verb} --help has no examples"
        found += own
    return list(dict.fromkeys(found))


def snippets() -> list[str]:
    """The indented blocks of the page of tasks."""
    blocks = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", TASKS.read_text(encoding="utf-8"), re.MULTILINE)
    return [textwrap.dedent(block) for block in blocks]


def scenario() -> str:
    (found,) = (text for text in snippets() if text.startswith("# scenario.toml\n"))
    return found


def parse(command: str) -> None:
    """Refuses what the command line would refuse."""
    words = shlex.split(command.partition(" > ")[0], comments=True)
    try:
        load(words[1]).make_context(words[1], words[2:])
    except typer.Exit as exit_:
        assert exit_.exit_code == 0


def paste(command: str, cli):
    """Does in the current folder what a shell would do with the command, and returns what came of it."""
    words = shlex.split(command, comments=True)
    target = None
    if words[-2] == ">":
        words, target = words[:-2], Path(words[-1])
    # A word that matches nothing stays as it is.
    given = [
        name for word in words[1:] for name in sorted(map(str, Path().glob(word)) if "*" in word else []) or [word]
    ]
    result = cli(*given)
    assert result.code == 0, f"{command}\n{result.err}"
    if target is not None:
        target.write_text(result.out, encoding="utf-8")
    return result


def shell(folder: Path, command: str) -> None:
    subprocess.run([sys.executable, "-m", *shlex.split(command)], cwd=folder, check=True, capture_output=True)


def given(folder: Path) -> None:
    """Writes what a user of these commands has: a sweep, measurements of it, and files of other tools."""
    sweep = scenario() + '\n[sweep]\n"traffic.servers.senders" = [8, 16]\nseeds = "1..3"\n'
    for name in ("sweep.toml", "my-sweep.toml"):
        (folder / name).write_text(sweep, encoding="utf-8")
    (folder / "s.toml").write_text(scenario(), encoding="utf-8")
    (folder / "scenario.toml").write_text(scenario(), encoding="utf-8")
    experiment = fanin.Scenario(folder / "scenario.toml")
    rows = ["traffic.servers.senders,mbps\n"]
    for senders in (8, 16):
        for seed in (1, 2, 3):
            run = experiment.set({"traffic.servers.senders": str(senders)}).run(seed=seed)
            rows.append(f"{senders},{run.summary['goodput_bps'] / 1e6}\n")
    (folder / "ns3.csv").write_text("".join(rows), encoding="utf-8")
    tier = "Downlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 1000\n"
    core = "Downlink_speed_Gbps 100\nRadix_Down 8\nDownlink_Latency_ns 1000\n"
    files = {
        "traffic.txt": "2\n4 5 3 100 1500 2.000000123\n1 0 3 100 99 2.0\n",
        "FB2010-1Hr-150-0.txt": "3 1\n1 0 2 1 2 1 0:1.0\n",
        "perm.cm": "Nodes 4\nConnections 1\n0->1 id 1 start 1000000 size 1500\n",
        "nfdump.csv": "ts,sa,da,ibyt\n1.5,a,b,1500\n1.0,b,c,99\n",
        "WebSearch_distribution.txt": "0 0\n10000 15\n30000 100\n",
        "DCTCP_MsgSizeDist.txt": "1 0\n10 0.5\n20 1\n",
        "fat_tree_1024.topo": f"Nodes 128\nTiers 3\nPodsize 16\nTier 0\n{tier}Tier 1\n{tier}Tier 2\n{core}",
        "conn.log": "#separator \\x09\n#fields\tts\tid.orig_h\tid.resp_h\tresp_bytes\n1.5\ta\tb\t1500\n1.0\tc\tb\t99\n",
    }
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the examples read, and results of earlier commands."""
    folder = tmp_path_factory.mktemp("world")
    given(folder)
    shell(folder, "fanin run scenario.toml --set measure.queue-trace=on-change --pcap")
    shell(folder, "fanin sweep sweep.toml --seeds 1")
    shell(folder, "fanin reproduce tour/collapse --quick")
    for copy in ("data", "tmp"):
        shutil.copytree(folder / "results", folder / copy / "results")
    (folder / "docs" / "papers").mkdir(parents=True)
    return folder


@pytest.mark.parametrize("example", [example for example in examples() if example not in NOT_RUN])
def test_examples_of_help_texts_run(example, world, tmp_path, monkeypatch, cli):
    folder = tmp_path / "folder"
    shutil.copytree(world, folder)
    monkeypatch.chdir(folder)
    (run,) = [name for name, each in stored(folder / "results").items() if "capture" in each.sizes]
    parse(example)
    # The folders of the examples are this one's.
    paste(re.sub(r"(?<= )/(?=(data|tmp)/)", "", smaller(example).replace(RUN_ID, run)), cli)


def test_commands_that_are_not_run_are_parsed_and_still_there():
    assert set(NOT_RUN) <= set(examples())
    for command in NOT_RUN:
        parse(command)
    for page in (README, TASKS):
        assert set(re.findall(r"`fanin ([a-z]+)", page.read_text(encoding="utf-8"))) <= set(COMMANDS)

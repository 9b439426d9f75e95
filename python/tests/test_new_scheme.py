"""A scheme is one folder and two lines: a sender that nobody knows is added to a copy of the engine, and every command
takes it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fanin
from fanin.cli.commands import COMMANDS

PACKAGE = Path(fanin.__file__).parent
ROOT = PACKAGE.parents[1]
ROOM = Path(__file__).parent / "gentle"

pytestmark = [
    pytest.mark.skipif(not (ROOT / "crates").is_dir(), reason="an installed package has no source of its engine"),
    pytest.mark.skipif(shutil.which("cargo") is None, reason="without cargo no engine can be built"),
]

SCENARIO = """\
[network]
topology = "star"
rate = "1Gbps"
buffer = "20pkt"

[transport]
scheme = "gentle"
rto-min = "10ms"

[[traffic]]
name = "queries"
kind = "incast"
senders = 12
bytes-each = "16KB"
jitter = "50us"

[run]
duration = "200ms"
"""

EXPERIMENT = """
[sweep]
"traffic.queries.senders" = [2, 12]
seeds = "1..3"

[variant.system]
TCP = { transport.scheme = "newreno" }
Gentle = { transport.scheme = "gentle" }

[[plot]]
id = "goodput"
x = "traffic.queries.senders"
y = "goodput_bps"
by = ["system"]

[[claim]]
id = "some-goodput"
says = "Something arrives."
measure = "max"
x = "traffic.queries.senders"
y = "goodput_bps"
where = { system = "Gentle" }
published = 9e8
accept = [1.0, 1e9]
why = "more than nothing, and no more than the link carries"

[open.scheme.gentle.target]
"100us" = "short"
"200us" = "its default"
"""

TYPED = """\
list schemes
explain gentle
check scenario.toml --resolved
run scenario.toml
describe results/latest
export results/latest --out flows.csv
describe results/latest --slowdown homa
plot queue scenario.toml --set transport.scheme=gentle,newreno --file queue.svg
import hpcc traffic.txt --out imported.csv
sweep scenario.toml --seeds 1..2
compare scenario.toml --schemes gentle,newreno --seeds 1..2
capacity scenario.toml --scheme gentle --keep goodput=1% --over traffic.queries.senders=2..4 --seeds 1..3
tune scenario.toml --param scheme.gentle.target=100us,400us --trials 2 --seeds 1 --fresh 3
advise scenario.toml --set transport.scheme=newreno --seeds 1 --capacities 0 --json
reproduce cross/gentle
claims cross/gentle
ranking cross/gentle
fit cross/gentle --seeds 1
verify
report
""".splitlines()
"""Commands in the order in which one needs what another wrote."""

NOT_TYPED = {"serve": "serves until it is ended", "linux": "names no scheme"}


def with_the_room(workspace: Path) -> None:
    """A copy of the engine's source with the room and its two lines, as old as what it is made of, as cargo sees."""
    shutil.rmtree(workspace, ignore_errors=True)
    shutil.copytree(ROOT / "crates", workspace / "crates")
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy2(ROOT / name, workspace / name)
    shutil.copytree(ROOM, workspace / "crates/schemes/src/gentle")
    registry = workspace / "crates/schemes/src/lib.rs"
    made = max(path.stat().st_mtime_ns for path in (registry, Path(__file__)))
    text = registry.read_text()
    for before, line in (("mod ictcp;\n", "mod gentle;\n"), ("    ictcp::ROW,\n", "    gentle::ROW,\n")):
        assert text.count(before) == 1
        text = text.replace(before, line + before)
    registry.write_text(text)
    os.utime(registry, ns=(made, made))


def engine(target: Path) -> Path:
    """The engine of that source, built in the least time: it runs little."""
    command = ["cargo", "build", "--quiet", "--locked", "--package", "fanin-python", "--profile", "quick"]
    done = subprocess.run(
        [*command, "--target-dir", str(target)], cwd=target / "source", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (found,) = (path for name in ("lib_engine.so", "lib_engine.dylib") for path in (target / "quick").glob(name))
    return found


@pytest.fixture(scope="module")
def typed(built, tmp_path_factory):
    """Does what a user types, with a package that has the scheme; returns what it prints, and notes."""
    target = ROOT / "target" / "new-scheme"
    with_the_room(target / "source")
    work = tmp_path_factory.mktemp("new-scheme")
    left_out = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "page")
    shutil.copytree(PACKAGE, work / "python/fanin", ignore=left_out)
    shutil.copytree(built, work / "python/fanin/page")
    shutil.copy2(engine(target), work / "python/fanin/_engine.abi3.so")
    (work / "scenario.toml").write_text(SCENARIO)
    (work / "traffic.txt").write_text("1\n4 5 3 100 1500 2.0\n")
    (work / "experiments/cross").mkdir(parents=True)
    (work / "experiments/cross/gentle.toml").write_text(SCENARIO + EXPERIMENT)
    environment = {**os.environ, "PYTHONPATH": str(work / "python")}

    def call(line):
        command = [sys.executable, "-m", "fanin", *line.split()]
        done = subprocess.run(command, capture_output=True, text=True, cwd=work, env=environment)
        assert done.returncode == 0, f"fanin {line}\n{done.stdout}\n{done.stderr}"
        return " ".join((done.stdout + done.stderr).split())

    return call


def test_every_command_takes_a_scheme_that_nobody_knows(typed):
    assert {line.split()[0] for line in TYPED} | set(NOT_TYPED) == COMMANDS.keys()
    said = {line.split()[0]: typed(line) for line in TYPED}
    assert "gentle" in said["list"]
    assert "a gentle kernel module on the senders" in said["advise"]


def test_figures_have_the_colour_of_the_row(typed, tmp_path):
    picture = tmp_path / "queue.svg"
    typed(f"plot queue scenario.toml --set transport.scheme=gentle,newreno --file {picture}")
    assert "#7b3f00" in picture.read_text()


def test_a_stack_that_overrules_what_the_scheme_prefers_is_warned_of(typed):
    linux = "check scenario.toml --set transport.stack=linux-6"
    assert "transport.ack-every is 2 (stack linux-6.12), but Gentle prefers 1" in typed(linux)
    assert "prefers" not in typed(f"{linux} --set transport.ack-every=2")
    assert "prefers" not in typed("check scenario.toml")

"""A scheme may be a crate outside the repository: the tutorial's is built elsewhere, and every command takes it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_guides import FIRST_SCHEME, script

import fanin
from fanin.cli.commands import COMMANDS

ROOT = Path(fanin.__file__).parents[2]

pytestmark = [
    pytest.mark.skipif(not (ROOT / "crates").is_dir(), reason="an installed package has no source of its engine"),
    pytest.mark.skipif(shutil.which("cargo") is None, reason="without cargo no engine can be built"),
]

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

NOT_TYPED = {"serve": "serves until it is ended", "linux": "names no scheme", "deploy": "prints what Linux can do"}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def engine(home):
    """What the page has its reader build."""
    return script().own_engine(FIRST_SCHEME.read_text(), home)


@pytest.fixture(scope="module")
def typed(built, engine, tmp_path_factory):
    """Does what a user types, with a package that has the scheme; returns what it prints, and notes."""
    work = tmp_path_factory.mktemp("new-scheme")
    # It needs no other engine.
    left_out = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "page")
    shutil.copytree(ROOT / "python/fanin", work / "python/fanin", ignore=left_out)
    shutil.copytree(built, work / "python/fanin/page")
    (scenario,) = re.findall(r"```toml\n(# scenario.toml\n.*?)```", FIRST_SCHEME.read_text(), re.DOTALL)
    (work / "scenario.toml").write_text(scenario)
    (work / "traffic.txt").write_text("1\n4 5 3 100 1500 2.0\n")
    (work / "experiments/cross").mkdir(parents=True)
    (work / "experiments/cross/gentle.toml").write_text(scenario + EXPERIMENT)
    environment = {**os.environ, "PYTHONPATH": str(work / "python"), "FANIN_ENGINE": engine}

    def call(line):
        command = [sys.executable, "-m", "fanin", *line.split()]
        done = subprocess.run(command, capture_output=True, text=True, cwd=work, env=environment)
        assert done.returncode == 0, f"fanin {line}\n{done.stdout}\n{done.stderr}"
        return " ".join((done.stdout + done.stderr).split())

    return call


def test_the_tutorial_shows_what_its_commands_print(tmp_path):
    page = tmp_path / "tutorials" / FIRST_SCHEME.name
    page.parent.mkdir()
    shutil.copy2(FIRST_SCHEME, page)
    assert script().regenerate(page) == FIRST_SCHEME.read_text()


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


@pytest.mark.parametrize(
    ("written", "wrong", "why"),
    [
        ('key: "gentle"', 'key: "dctcp"', 'there is a scheme "dctcp" already: give yours another key'),
        ('"200us"', '"200 uss"', 'scheme "gentle": default of target: unknown unit "uss"'),
    ],
)
def test_an_engine_with_a_row_that_cannot_be_is_refused(engine, home, tmp_path, written, wrong, why):
    crate = shutil.copytree(home / "gentle", tmp_path / "gentle")
    # Another file than the engine of the other tests, in the folder of what is compiled already.
    for path, old, new in [("src/lib.rs", written, wrong), ("Cargo.toml", "[lib]", '[lib]\nname = "refused"')]:
        text = (crate / path).read_text()
        assert text.count(old) == 1
        (crate / path).write_text(text.replace(old, new))
    built = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target/own-scheme")}
    subprocess.run(["cargo", "build", "--quiet"], cwd=crate, env=built, check=True)
    loaded = {**os.environ, "FANIN_ENGINE": engine.replace("libgentle", "librefused")}
    result = subprocess.run([sys.executable, "-m", "fanin"], capture_output=True, text=True, env=loaded)
    assert (result.returncode, len(result.stderr.splitlines())) == (3, 1)
    assert f"is refused: {why}" in result.stderr

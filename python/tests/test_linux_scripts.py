"""The simulator against Linux where listed packets are lost; some scripts run in a kernel, if one is built."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation" / "linux"))

import cells  # noqa: E402
import compare  # noqa: E402
import scripts  # noqa: E402
from cells import Entry  # noqa: E402
from scripts import NOTED, SCRIPTS, Outcome, Played  # noqa: E402

COMMAND = "python validation/linux/compare.py"


@pytest.fixture(scope="module")
def kernel() -> dict[str, Entry[Played]]:
    return scripts.kept()


@pytest.fixture(scope="module")
def outcomes(kernel: dict[str, Entry[Played]]) -> list[Outcome]:
    return scripts.outcomes(kernel)


def test_what_is_stored_is_of_todays_scripts(kernel: dict[str, Entry[Played]]) -> None:
    assert len({script.name for script in SCRIPTS}) == len(SCRIPTS) >= 40
    assert {name: entry.settings for name, entry in kernel.items()} == {each.name: each.digest for each in SCRIPTS}, (
        f"measure them again: {COMMAND}"
    )


def test_every_script_of_losses_has_lost_something_in_the_kernel(kernel: dict[str, Entry[Played]]) -> None:
    drops = {script.name for script in SCRIPTS if any(fault["kind"] == "drop" for fault in script.faults)}
    assert drops == {name for name, entry in kernel.items() if entry.found.lost}


def test_scripts_that_were_as_in_the_kernel_still_are(outcomes: list[Outcome]) -> None:
    equal = {outcome.script.name for outcome in outcomes if not outcome.beyond}
    assert set(scripts.as_before()) >= equal, COMMAND
    assert scripts.as_before() and not scripts.strayed(outcomes)


def test_scripts_before_rack_agree_but_for_rules_that_one_of_both_lacks(outcomes: list[Outcome]) -> None:
    before = [outcome for outcome in outcomes if outcome.script.is_before_rack]
    named = {outcome.script.name for outcome in before if outcome.script.why}
    assert named == {outcome.script.name for outcome in before if outcome.beyond}
    assert len(before) - len(named) >= 20


def test_modules_agree_with_the_simulator_but_for_rules_that_have_a_name(outcomes: list[Outcome]) -> None:
    own = [outcome for outcome in outcomes if outcome.script.own.get("scheme") in (*scripts.MODULES, "dt-dctcp")]
    named = {outcome.script.name for outcome in own if outcome.script.why}
    assert named == {outcome.script.name for outcome in own if outcome.beyond}
    assert len(own) - len(named) >= 40


def test_the_page_shows_what_the_simulator_does_today(outcomes: list[Outcome]) -> None:
    assert scripts.section(outcomes) in compare.PAGE.read_text(), f"{COMMAND} writes it"


@pytest.mark.parametrize(
    ("theirs", "ours", "beyond"),
    [
        (100_000, 102_000, False),
        (100_000, 102_001, True),
        (100_000, 97_999, True),
        (10_000_000, 10_002_001, True),
    ],
)
def test_a_time_may_differ_by_two_microseconds(theirs: int, ours: int, beyond: bool) -> None:
    counts = dict.fromkeys(NOTED, 1)
    played = [Played((50_000, time), counts, 1) for time in (theirs, ours)]
    assert Outcome(SCRIPTS[0], *played).beyond == ["time"] * beyond


@pytest.mark.parametrize("name", NOTED)
def test_counts_are_equal(name: str) -> None:
    theirs = Played((50_000,), dict.fromkeys(NOTED, 1), 1)
    ours = dataclasses.replace(theirs, counts={**theirs.counts, name: 2})
    assert Outcome(SCRIPTS[0], theirs, ours).beyond == [name]


def test_the_kernel_does_again_what_is_stored_of_it(kernel: dict[str, Entry[Played]]) -> None:
    built = cells.kernels().get(1000)
    if built is None:
        pytest.skip('there is no kernel with HZ=1000: "make linux" builds it')
    releases = {entry.release for entry in kernel.values()}
    if {built} != releases:
        pytest.skip(f"the kernel here is {built}, and what is stored is of {', '.join(releases)}")
    # Where a module follows another rule, the simulator is no measure.
    own = [script for script in SCRIPTS if script.why and script.own.get("scheme") in scripts.MODULES]
    for script in {*SCRIPTS[::5], *own}:
        assert scripts.play(script, "linux") == kernel[script.name].found, script.name

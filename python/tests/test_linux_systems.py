"""The papers' systems in the simulator against stored numbers of the Linux kernel."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation" / "linux"))

import systems

COMMAND = "python validation/linux/systems.py"


@pytest.fixture(scope="module")
def pairs() -> list[systems.Pair]:
    return systems.pairs(2)


def test_the_stored_numbers_are_of_todays_cells() -> None:
    kernel = systems.kernel_digest()
    today = {cell.name: (cell.digest, kernel) for cell in systems.CELLS}
    stale = {name for name, row in systems.stored().items() if today.get(name) != (row["settings"], row["kernel"])}
    assert not stale, f"measure them again: {COMMAND}"
    assert len(systems.stored()) >= 99


def test_the_page_shows_what_the_simulator_does_today(pairs: list[systems.Pair]) -> None:
    shown = set(systems.PAGE.read_text().splitlines())
    assert {pair.row for pair in pairs} <= shown, f"{COMMAND} writes the page"


def test_what_differs_has_a_cause_and_nothing_else(pairs: list[systems.Pair]) -> None:
    assert systems.unexplained(pairs) == []

"""The papers' systems in the simulator against stored numbers of the Linux kernel."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation" / "linux"))

import cells
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
    assert len(systems.stored()) >= 103


@pytest.mark.parametrize("system", ["sab", "sdtcp"])
def test_a_header_of_one_system_makes_the_numbers_of_no_other_old(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [(cell.digest, systems.kernel_digest()) for cell in systems.CELLS]
    folder = shutil.copytree(cells.ROOT / "linux" / "modules", tmp_path / "modules")
    monkeypatch.setattr(cells, "_MODULES", folder)
    (folder / f"{system}.h").write_text("/* another one */")
    after = [(cell.digest, systems.kernel_digest()) for cell in systems.CELLS]
    changed = {cell.system for cell, one, other in zip(systems.CELLS, before, after, strict=True) if one != other}
    assert changed == {system}


def test_the_page_shows_what_the_simulator_does_today(pairs: list[systems.Pair]) -> None:
    shown = set(systems.PAGE.read_text().splitlines())
    assert {pair.row for pair in pairs} <= shown, f"{COMMAND} writes the page"


def test_what_differs_has_a_cause_and_nothing_else(pairs: list[systems.Pair]) -> None:
    assert systems.unexplained(pairs) == []

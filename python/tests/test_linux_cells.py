"""The simulator against stored numbers of the Linux kernel; one cell also runs in a kernel, where one is built."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation" / "linux"))

import cells  # noqa: E402
import compare  # noqa: E402
from cells import CELLS, STORED, Entry, Measured  # noqa: E402
from compare import Verdict  # noqa: E402

COMMAND = "python validation/linux/compare.py"
LIVE = "cubic/8x32KB"
"""A cell with losses and timeouts that a kernel runs in a second."""


@pytest.fixture(scope="module")
def kernel() -> dict[str, Entry[Measured]]:
    return cells.stored()


@pytest.fixture(scope="module")
def verdicts(kernel: dict[str, Entry[Measured]]) -> list[Verdict]:
    measured = [cell for cell in CELLS if cell.name in kernel]
    return compare.judge(kernel, compare.simulate(measured, 2, lambda _: None))


def test_the_stored_numbers_are_of_todays_cells(kernel: dict[str, Entry[Measured]]) -> None:
    assert len({cell.name for cell in CELLS}) == len(CELLS)
    today = {cell.name: cell.digest for cell in CELLS}
    stale = {name for name, entry in kernel.items() if today.get(name) != entry.settings}
    assert not stale, f"measure them again: {COMMAND}"
    assert len(kernel) >= 60
    assert STORED.stat().st_size < 500_000


def test_cells_that_agreed_with_the_kernel_still_do(verdicts: list[Verdict]) -> None:
    assert set(compare.within()) >= {verdict.cell.name for verdict in verdicts if verdict.word == "within"}, COMMAND
    assert compare.within() and not compare.left(verdicts)


def test_the_page_shows_what_the_simulator_does_today(verdicts: list[Verdict]) -> None:
    shown = set(compare.PAGE.read_text().splitlines())
    assert {verdict.row for verdict in verdicts} <= shown, f"{COMMAND} writes the page"


@pytest.mark.parametrize(
    ("factor", "beyond"),
    [
        (1.0, set()),
        (1.04, set()),
        (1.06, {"median", "distribution"}),
        (1.2, {"median", "mean", "p95", "distribution"}),
    ],
)
def test_times_are_judged_by_their_tolerances(factor: float, beyond: set[str]) -> None:
    # Times are the same in all runs, so chance explains nothing.
    queries = tuple(tuple(1_000_000 + 100 * query for query in range(20)) for _ in cells.SEEDS)
    numbers = {name: (1_000_000,) * len(cells.SEEDS) for name in (*cells.PERCENTILES, *cells.COUNTS)}
    theirs = Measured(queries, numbers)
    slower = {name: tuple(round(factor * ns) for ns in numbers[name]) for name in cells.PERCENTILES}
    ours = Measured(tuple(tuple(round(factor * ns) for ns in run) for run in queries), numbers | slower)
    assert Verdict(CELLS[0], theirs, ours).beyond == dict.fromkeys(beyond, False)


def test_counts_may_differ_by_a_share_or_by_three_a_run() -> None:
    runs = len(cells.SEEDS)
    numbers = dict.fromkeys((*cells.PERCENTILES, *cells.COUNTS), (0,) * runs)
    theirs = Measured(((1,),) * runs, numbers | {"timeouts": (10,) * runs, "marks": (1000,) * runs})
    near = numbers | {"timeouts": (13,) * runs, "marks": (1150,) * runs}
    assert Verdict(CELLS[0], theirs, dataclasses.replace(theirs, numbers=near)).word == "within"
    far = numbers | {"timeouts": (14,) * runs, "marks": (1151,) * runs}
    beyond = Verdict(CELLS[0], theirs, dataclasses.replace(theirs, numbers=far)).beyond
    assert beyond == {"timeouts": False, "marks": False}


def test_the_kernel_does_again_what_is_stored_of_it(kernel: dict[str, Entry[Measured]]) -> None:
    built, stored = cells.kernels().get(1000), kernel[LIVE]
    if built is None:
        pytest.skip('there is no kernel with HZ=1000: "make linux" builds it')
    if built != stored.release:
        pytest.skip(f"the kernel here is {built}, and the numbers are of {stored.release}")
    (cell,) = (cell for cell in CELLS if cell.name == LIVE)
    again = cells.run(cell, "linux", cells.SEEDS[:1])
    assert again.queries == stored.found.queries[:1]
    assert again.numbers == {name: runs[:1] for name, runs in stored.found.numbers.items()}


def test_the_page_names_the_orders_of_the_runs_with_ticks_apart() -> None:
    # compare_cells() runs both columns without ORDERED.
    ours = "simulator, drawn orders, ticks"
    head = f"| cell | kernel [ms] | {ours} together [ms] | {ours} apart [ms] |"
    assert head in compare.PAGE.read_text().splitlines()
    assert head in (cells.HERE / "page.md.j2").read_text().splitlines()

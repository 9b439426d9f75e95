#!/usr/bin/env python3
"""Compares the simulator with the Linux kernel, cell by cell, and writes docs/validation/linux.md.

    ./compare.py                # measures in the kernel what is not stored, then compares and writes the page
    ./compare.py --again        # measures all cells with all seeds (forty minutes on two cores), and all scripts
    ./compare.py --check        # writes nothing: only says what it would find
    ./compare.py --drop         # takes what left its tolerances off the lists of what was within

A cell that is not measured yet needs a kernel ("make linux"); the comparison itself does not.

Exits with 1 where a cell that was within its tolerances has left them, and chance cannot be why.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import jinja2
import numpy as np
from cells import (
    CELLS,
    COUNTS,
    GROUPS,
    HERE,
    ORDERED,
    ROOT,
    SEEDS,
    TOLERANCE,
    Cell,
    Entry,
    Measured,
    interruptible,
    lacking,
    measure,
    run,
    run_all,
    stored,
)
from scripts import Outcome, agree, kept, outcomes, record, section, strayed

PAGE = ROOT / "docs" / "validation" / "linux.md"
PICTURE = ROOT / "docs" / "pictures" / "linux-cells.svg"
WITHIN = HERE / "within.txt"

WORDS = ("within", "perhaps", "no")
"""Verdicts: all measures are within their tolerances; chance may be why some are not; at least one is not."""

RESAMPLES = 1000
"""How often runs are drawn anew for an interval."""

MEASURES: dict[str, str] = {
    "median": "median query",
    "mean": "mean query",
    "p95": "95th percentile of transfers",
    **{name: name for name in COUNTS},
    "distribution": "distribution of queries",
}
"""What is judged, and how the page calls it."""


def values(cell: Measured, drawn: np.ndarray) -> dict[str, np.ndarray]:
    """What is judged, of samples of runs: each row of ``drawn`` is one. Times in ms, counts a run."""
    queries = np.array(cell.queries)[drawn].reshape(len(drawn), -1) / 1e6
    found = {"median": np.median(queries, axis=1), "mean": queries.mean(axis=1)}
    found["p95"] = np.array(cell.numbers["p95"])[drawn].mean(axis=1) / 1e6
    return found | {name: np.array(cell.numbers[name])[drawn].mean(axis=1) for name in COUNTS}


def allowed(measure: str, kernel: np.ndarray) -> np.ndarray:
    """How far the simulator may be from the kernel's value."""
    if measure in COUNTS:
        return np.maximum(TOLERANCE["count"] * kernel, TOLERANCE["count-least"])
    return TOLERANCE[measure] * kernel


def distance(kernel: np.ndarray, ours: np.ndarray, slack: float) -> float:
    """The largest share of queries by which two distributions differ, if times may be wrong by the share ``slack``."""
    points = np.concatenate([kernel, ours * (1 - slack), ours * (1 + slack)])

    def below(times: np.ndarray) -> np.ndarray:
        return np.searchsorted(np.sort(times), points, side="right") / len(times)

    too_early = below(kernel) - below(ours * (1 - slack))
    too_late = below(ours * (1 + slack)) - below(kernel)
    return float(max(too_early.max(), too_late.max(), 0))


def critical(kernel: int, ours: int) -> float:
    """The distance that chance exceeds with the probability ``level`` (Kolmogorov and Smirnov, two samples)."""
    return math.sqrt(-math.log(TOLERANCE["level"] / 2) / 2 * (kernel + ours) / (kernel * ours))


@dataclass(frozen=True)
class Verdict:
    """A cell in the kernel and in the simulator."""

    cell: Cell
    kernel: Measured
    ours: Measured

    @cached_property
    def numbers(self) -> dict[str, tuple[float, float]]:
        """By measure, the kernel's value and ours; the distance, and what chance allows, of the distribution."""
        whole = np.arange(len(SEEDS))[None, :]
        theirs, ours = values(self.kernel, whole), values(self.ours, whole)
        found = {name: (float(theirs[name][0]), float(ours[name][0])) for name in theirs}
        queries = [np.concatenate([np.array(run) for run in each.queries]) for each in (self.kernel, self.ours)]
        far = distance(queries[0], queries[1], TOLERANCE["median"])
        return found | {"distribution": (critical(*map(len, queries)), far)}

    @cached_property
    def beyond(self) -> dict[str, bool]:
        """The measures that are not within their tolerance, and whether chance may be why.

        Chance may be why if part of the 95 % interval of the difference is within: runs are drawn with replacement.
        """
        out = []
        for name, (theirs, ours) in self.numbers.items():
            most = theirs if name == "distribution" else theirs + float(allowed(name, np.array(theirs)))
            least = 0 if name == "distribution" else 2 * theirs - most
            if not least <= ours <= most:
                out.append(name)
        by_chance = self._possible_by_chance(out)
        return {name: name in by_chance for name in out}

    def _possible_by_chance(self, names: Sequence[str]) -> set[str]:
        """The measures whose difference may be chance; the distribution's test has chance in it."""
        names = [name for name in names if name != "distribution"]
        if not names:
            return set()
        random = np.random.default_rng(1)
        size = (RESAMPLES, len(SEEDS))
        theirs, ours = (values(each, random.integers(0, len(SEEDS), size)) for each in (self.kernel, self.ours))
        found = set()
        for name in names:
            low, high = np.percentile((ours[name] - theirs[name]) / allowed(name, theirs[name]), [2.5, 97.5])
            if low <= 1 and high >= -1:
                found.add(name)
        return found

    @property
    def factor(self) -> float:
        """Ours by the kernel's, of the mean query."""
        theirs, ours = self.numbers["mean"]
        return ours / theirs

    def shown(self, measure: str) -> str:
        """Both values: bold where they differ by more than the tolerance, in italics where chance may be why."""
        theirs, ours = self.numbers[measure]
        if measure == "distribution":
            text = f"{ours:.2f}"
        elif measure in COUNTS:
            text = f"{theirs:.0f} / {ours:.0f}"
        else:
            text = f"{theirs:.4g} / {ours:.4g}"
        if measure not in self.beyond:
            return text
        return f"*{text}*" if self.beyond[measure] else f"**{text}**"

    @property
    def row(self) -> str:
        """Of the table of cells."""
        name = self.cell.name.removeprefix(f"{self.cell.group}/")
        return "| " + " | ".join([name, *map(self.shown, MEASURES), self.word]) + " |"

    @property
    def failing(self) -> str:
        """The measures that are beyond their tolerances for certain, the kernel's value and ours."""
        beyond = [name for name, by_chance in self.beyond.items() if not by_chance]
        return ", ".join(f"{MEASURES[name]} {self.shown(name).strip('*')}" for name in beyond)

    @property
    def word(self) -> str:
        """The verdict on the cell: one of WORDS."""
        if not self.beyond:
            return "within"
        return "perhaps" if all(self.beyond.values()) else "no"


def among(verdicts: Iterable[Verdict], word: str) -> int:
    """How many cells have a verdict."""
    return sum(verdict.word == word for verdict in verdicts)


def judge(entries: Mapping[str, Entry[Measured]], ours: Mapping[str, Measured]) -> list[Verdict]:
    """A verdict on each cell that was measured in the kernel."""
    return [Verdict(cell, entries[cell.name].found, ours[cell.name]) for cell in CELLS if cell.name in entries]


def simulate(
    cells: Sequence[Cell],
    jobs: int,
    say: Callable[[str], None],
    first: int = SEEDS[0],
    changes: Mapping[str, str] = ORDERED,
) -> dict[str, Measured]:
    """The cells in the simulator, with as many seeds as the kernel had, from ``first`` on."""
    found: dict[str, Measured] = {}

    def keep(cell: Cell, measured: Measured) -> None:
        found[cell.name] = measured
        say(f"simulator, seeds from {first}, {changes}: {len(found)} of {len(cells)} cells")

    seeds = range(first, first + len(SEEDS))
    run_all(cells, lambda cell, go_on: run(cell, "simulator", seeds, go_on, changes), jobs, keep)
    return found


def within() -> list[str]:
    """The cells that have been within their tolerances."""
    return WITHIN.read_text().splitlines() if WITHIN.exists() else []


def left(verdicts: Iterable[Verdict]) -> dict[str, list[str]]:
    """The cells of these that are no longer so, and not by chance, and their measures."""
    found = {verdict.cell.name: list(verdict.beyond) for verdict in verdicts if verdict.word == "no"}
    return {name: found[name] for name in within() if name in found}


def page(
    entries: Mapping[str, Entry[Measured]],
    verdicts: Sequence[Verdict],
    chance: Sequence[Verdict],
    drawn: Sequence[Verdict],
    apart: Sequence[Verdict],
    played: Sequence[Outcome],
) -> str:
    """The page: verdicts, those of the simulator against itself and of drawn orders, ticks apart, and the scripts."""
    groups = []
    for name, title in GROUPS.items():
        own, itself = ([each for each in some if each.cell.group == name] for some in (verdicts, chance))
        groups.append({"name": name, "title": title, "verdicts": own, "chance": itself})
    template = jinja2.Environment(keep_trailing_newline=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    return template.from_string((HERE / "page.md.j2").read_text()).render(
        groups=groups,
        verdicts=verdicts,
        measures=MEASURES,
        tolerance=TOLERANCE,
        seeds=SEEDS,
        missing=[cell for cell in CELLS if cell.name not in entries],
        releases=sorted({entries[verdict.cell.name].release for verdict in verdicts}),
        digests=sorted({entries[verdict.cell.name].kernel for verdict in verdicts}),
        bound=critical(200, 200),
        chance=chance,
        drawn=drawn,
        apart=moved(drawn, apart),
        among=among,
        tally=lambda verdicts: [among(verdicts, word) for word in WORDS],
        largest=sorted(verdicts, key=lambda verdict: -abs(math.log(verdict.factor)))[:10],
        counts=list(COUNTS),
        scripts=section(played),
    )


def moved(drawn: Sequence[Verdict], apart: Sequence[Verdict]) -> list[tuple[Verdict, Verdict]]:
    """The cells whose mean query changes by half or more where ticks are apart."""
    both = zip(drawn, apart, strict=True)
    return [(one, other) for one, other in both if abs(math.log(other.factor / one.factor)) >= math.log(1.5)]


def draw(verdicts: Sequence[Verdict]) -> None:
    """The mean queries of all cells, the kernel's against ours."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "fanin", "svg.fonttype": "none"}
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 4.6), layout="constrained")
    ends = np.array([0.1, 1000])
    axes.fill_between(ends, ends * (1 - TOLERANCE["mean"]), ends * (1 + TOLERANCE["mean"]), color="0.88", lw=0)
    for word, marker in zip(WORDS, "o^x", strict=True):
        points = np.array([v.numbers["mean"] for v in verdicts if v.word == word]).reshape(-1, 2)
        axes.plot(points[:, 0], points[:, 1], marker, ms=4.5, alpha=0.8, label=f"{word}: {len(points)} cells")
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    axes.set(xlabel="mean query in the kernel [ms]", ylabel="mean query in the simulator [ms]")
    axes.minorticks_off()
    axes.legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})


def progress(text: str) -> None:
    """Says where the work is, on the standard error."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--again", action="store_true", help="measure all cells in the kernel again")
    options.add_argument("--check", action="store_true", help="run no kernel and write nothing")
    options.add_argument("--drop", action="store_true", help="drop cells from the list that left their tolerances")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="kernels and simulations at a time")
    chosen = options.parse_args()
    if not chosen.check:
        record(chosen.again, chosen.jobs, progress)
    played = outcomes(kept())
    print(f"{len(played)} scripts: {sum(not each.beyond for each in played)} as in the kernel")
    lost = strayed(played) | compare_cells(chosen, played)
    if not chosen.check:
        agree(played, chosen.drop)
    for name, measures in lost.items():
        print(f"no longer within: {name} ({', '.join(measures)})")
    sys.exit(1 if lost and not chosen.drop else 0)


def compare_cells(chosen: argparse.Namespace, played: Sequence[Outcome]) -> dict[str, list[str]]:
    """Compares the cells, and writes the page unless only asked to check; returns those that left."""
    if not chosen.check:
        measure(CELLS if chosen.again else lacking(stored()), chosen.jobs, progress)
    entries = stored()
    cells = [cell for cell in CELLS if cell.name in entries]
    ours = simulate(cells, chosen.jobs, progress)
    verdicts = judge(entries, ours)
    print(f"{len(verdicts)} cells: " + ", ".join(f"{word} {among(verdicts, word)}" for word in WORDS))
    lost = left(verdicts)
    if not chosen.check:
        others = simulate(cells, chosen.jobs, progress, SEEDS[-1] + 1)
        chance = [Verdict(cell, ours[cell.name], others[cell.name]) for cell in cells]
        drawn = judge(entries, simulate(cells, chosen.jobs, progress, changes={}))
        apart = judge(entries, simulate(cells, chosen.jobs, progress, changes={"transport.ticks": "apart"}))
        PAGE.write_text(page(entries, verdicts, chance, drawn, apart, played))
        draw(verdicts)
        now = {verdict.cell.name for verdict in verdicts if verdict.word == "within"}
        kept_within = now.union(within()) - (lost.keys() if chosen.drop else set())
        WITHIN.write_text("".join(f"{cell.name}\n" for cell in CELLS if cell.name in kept_within))
    return lost


if __name__ == "__main__":
    interruptible(main)

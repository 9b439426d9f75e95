#!/usr/bin/env python3
"""Runs the papers' systems in the Linux kernel and in the simulator, and writes docs/validation/systems-on-linux.md.

    ./systems.py                # measures in the kernel what is not stored (an hour on two cores), then compares
    ./systems.py --check        # writes nothing: only says what it would find

A cell that is not measured yet needs a kernel ("make linux"); the comparison itself does not.

Exits with 1 where kernel and simulator differ beyond the tolerance and systems.toml names no cause, or names one where
they do not differ.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jinja2
import numpy as np
from cells import (
    HERE,
    MODULES,
    ORDERED,
    PATHS,
    ROOT,
    digest,
    interruptible,
    kernel_digest,
    kernels,
    read_rows,
    run_all,
    sources,
    write_rows,
)
from compare import progress

import fanin
from fanin.results.frames import decode

PAGE = ROOT / "docs" / "validation" / "systems-on-linux.md"
PICTURE = ROOT / "docs" / "pictures" / "systems-on-linux.svg"
STORED = HERE / "systems.jsonl"

_DOCUMENT = tomllib.loads((HERE / "systems.toml").read_text())
SEEDS: list[int] = _DOCUMENT["seeds"]
NAMES: dict[str, str] = _DOCUMENT["names"]
RESAMPLES = 1000
"""How often runs are drawn anew for an interval."""

TIMES = {"goodput": "goodput [Mbit/s]", "median": "median query [ms]", "p95": "95th percentile [ms]"}
COUNTS = ("drops", "marks", "timeouts")
MEASURES = TIMES | {name: name for name in COUNTS}
"""What is measured in a run, and how the page calls it."""


@dataclass(frozen=True)
class Cell:
    """A system in a rack with a number of servers."""

    rack: Mapping[str, Any] = field(hash=False)
    system: str
    servers: int

    @property
    def name(self) -> str:
        """Such as ``rcc/ictcp/32``."""
        return f"{self.rack['name']}/{self.system}/{self.servers}"

    @property
    def place(self) -> tuple[str, str]:
        """Its rack and its system."""
        return self.rack["name"], self.system

    @property
    def settings(self) -> dict[str, Any]:
        """Dotted paths of a scenario, and their values. Those of other schemes have no effect, and so are left out."""
        values = self.rack["set"] | {"scheme": self.system, "senders": self.servers}
        # PFDCT-ST has PFDCT's keys under its own name.
        theirs, own = f"scheme.{self.system.removesuffix('-st')}.", f"scheme.{self.system}."
        found = {PATHS.get(key, key).replace(theirs, own): value for key, value in values.items()}
        return {path: value for path, value in found.items() if not path.startswith("scheme.") or path.startswith(own)}

    @property
    def base(self) -> str:
        """The file of the scenario that it starts from."""
        return self.rack.get("base", "incast.toml")

    @property
    def digest(self) -> str:
        """Of everything that it runs."""
        files = sources(MODULES[self.system]) if self.system in MODULES else []
        return digest([self.base, *files], json.dumps([self.settings, SEEDS], sort_keys=True))

    def run(self, backend: str, go_on: Callable[[float], bool] | None = None) -> dict[str, list[float]]:
        """Runs it in the kernel (``linux``) or in the simulator: by measure, the value of each seed."""
        settings = self.settings | (ORDERED if backend == "simulator" else {})
        experiment = fanin.Scenario(HERE / self.base).set(settings | {"run.backend": backend})
        outputs = experiment.simulate_seeds({}, SEEDS, math.inf, go_on)
        totals = [json.loads(output.summary) for output in outputs]
        queries = [decode(output.columns("requests"))["qct_s"].to_numpy() * 1e3 for output in outputs]
        found = {
            "goodput": [each["goodput_finite_bps"] / 1e6 for each in totals],
            "median": [float(np.median(times)) for times in queries],
            "p95": [float(np.percentile(times, 95)) for times in queries],
        }
        found |= {name: [float(each[name]) for each in totals] for name in COUNTS}
        return {name: [float(f"{value:.7g}") for value in values] for name, values in found.items()}


CELLS = tuple(
    Cell(rack, system, servers)
    for rack in _DOCUMENT["rack"]
    for system in rack["systems"]
    for servers in _DOCUMENT["servers"]
)


@dataclass(frozen=True)
class Pair:
    """A cell in the kernel and in the simulator."""

    cell: Cell
    kernel: Mapping[str, Sequence[float]] = field(hash=False)
    ours: Mapping[str, Sequence[float]] = field(hash=False)

    def means(self, measure: str) -> tuple[float, float]:
        """Of the seeds."""
        return float(np.mean(self.kernel[measure])), float(np.mean(self.ours[measure]))

    @cached_property
    def beyond(self) -> set[str]:
        """The measures that differ by more than the tolerance, whatever runs chance had drawn (95 %)."""
        drawn = np.random.default_rng(1).integers(0, len(SEEDS), (RESAMPLES, len(SEEDS)))
        found = set()
        for measure in MEASURES:
            theirs, ours = (np.array(each[measure])[drawn].mean(axis=1) for each in (self.kernel, self.ours))
            least = _DOCUMENT["count-least"] if measure in COUNTS else 0
            far = (ours - theirs) / np.maximum(_DOCUMENT["tolerance"] * theirs, least)
            low, high = np.percentile(far, [2.5, 97.5])
            if low > 1 or high < -1:
                found.add(measure)
        return found

    @property
    def row(self) -> str:
        """Of the rack's table: the kernel's and the simulator's means; what differs is bold."""
        shown = []
        for measure in MEASURES:
            theirs, ours = self.means(measure)
            digits = ".0f" if measure in COUNTS or measure == "goodput" else ".3g"
            text = f"{theirs:{digits}} / {ours:{digits}}"
            shown.append(f"**{text}**" if measure in self.beyond else text)
        return "| " + " | ".join([NAMES[self.cell.system], str(self.cell.servers), *shown]) + " |"


def stored() -> dict[str, dict[str, Any]]:
    """What the kernel did, by name of the cell."""
    return {row["cell"]: row for row in read_rows(STORED)}


def measure(jobs: int) -> None:
    """Runs in the kernel what is not stored, and stores each cell as it ends."""
    rows, kernel, release = stored(), kernel_digest(), kernels().get(1000)
    made = {name: (row["settings"], row["kernel"]) for name, row in rows.items()}
    wanted = [cell for cell in CELLS if made.get(cell.name) != (cell.digest, kernel)]
    if wanted and release is None:
        progress(f"{len(wanted)} cells are skipped, since the kernel with HZ=1000 is not built")
        return
    ended = 0

    def keep(cell: Cell, found: dict[str, list[float]]) -> None:
        nonlocal ended
        ended += 1
        head = {"cell": cell.name, "release": release, "kernel": kernel, "settings": cell.digest}
        rows[cell.name] = head | found
        write_rows(STORED, [rows[each.name] for each in CELLS if each.name in rows])
        progress(f"kernel: {ended} of {len(wanted)} cells: {cell.name}")

    run_all(wanted, lambda cell, go_on: cell.run("linux", go_on), jobs, keep)


def pairs(jobs: int) -> list[Pair]:
    """The cells that ran in the kernel, in the simulator too."""
    rows = stored()
    cells = [cell for cell in CELLS if cell.name in rows]
    ours: dict[Cell, dict[str, list[float]]] = {}
    run_all(cells, lambda cell, go_on: cell.run("simulator", go_on), jobs, ours.__setitem__)
    return [Pair(cell, rows[cell.name], ours[cell]) for cell in cells]


def unexplained(found: Iterable[Pair]) -> list[str]:
    """Systems that differ and have no cause, or have one and do not differ."""
    differ = {(pair.cell.rack["name"], pair.cell.system) for pair in found if pair.beyond}
    named = {(rack["name"], system) for rack in _DOCUMENT["rack"] for system in rack.get("causes", {})}
    lacks = [f"{rack}: {NAMES[system]} differs, and no cause is named" for rack, system in sorted(differ - named)]
    return lacks + [
        f"{rack}: a cause is named for {NAMES[system]}, which agrees" for rack, system in sorted(named - differ)
    ]


def page(found: Sequence[Pair]) -> str:
    """The page, of the pairs by rack."""
    racks = [
        {**rack, "pairs": [pair for pair in found if pair.cell.rack is rack]}
        for rack in _DOCUMENT["rack"]
        if any(pair.cell.rack is rack for pair in found)
    ]
    template = jinja2.Environment(keep_trailing_newline=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    return template.from_string((HERE / "systems.md.j2").read_text()).render(
        racks=racks,
        names=NAMES,
        measures=MEASURES,
        counts=COUNTS,
        seeds=SEEDS,
        pairs=found,
        agree=[pair for pair in found if not pair.beyond],
        tolerance=round(100 * _DOCUMENT["tolerance"]),
        least=_DOCUMENT["count-least"],
        release=sorted({stored()[pair.cell.name]["release"] for pair in found}),
        missing=[cell for cell in CELLS if cell.name not in stored()],
    )


def draw(found: Sequence[Pair]) -> None:
    """Median queries against the number of servers, a panel a rack: lines are the kernel, points the simulator."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "fanin", "svg.fonttype": "none"}
    from matplotlib import pyplot, ticker

    racks = [rack for rack in _DOCUMENT["rack"] if any(pair.cell.rack is rack for pair in found)]
    figure, panels = pyplot.subplots(2, 3, figsize=(9, 5.6), layout="constrained")
    for panel, rack in zip(panels.flat, racks, strict=False):
        for system in rack["systems"]:
            own = [pair for pair in found if pair.cell.rack is rack and pair.cell.system == system]
            if own:
                servers = [pair.cell.servers for pair in own]
                (line,) = panel.plot(servers, [pair.means("median")[0] for pair in own], label=NAMES[system])
                panel.plot(servers, [pair.means("median")[1] for pair in own], "o", ms=4, color=line.get_color())
        panel.set(yscale="log", xticks=_DOCUMENT["servers"], xlabel="servers", ylabel="median query [ms]")
        panel.set_title(rack["title"], fontsize=9)
        panel.yaxis.set_major_locator(ticker.LogLocator(subs=[1, 2, 5]))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        panel.legend(frameon=False, fontsize=7)
    for panel in panels.flat[len(racks) :]:
        panel.set_axis_off()
        panel.text(0, 0.5, "lines: the kernel\npoints: the simulator")
    figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})


def main() -> None:
    """Command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="run no kernel and write nothing")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="kernels and simulations at a time")
    chosen = options.parse_args()
    if not chosen.check:
        measure(chosen.jobs)
    found = pairs(chosen.jobs)
    print(f"{len(found)} of {len(CELLS)} cells are measured; {sum(not pair.beyond for pair in found)} agree")
    if not chosen.check:
        PAGE.write_text(page(found))
        draw(found)
    open_ends = unexplained(found)
    for line in open_ends:
        print(line)
    sys.exit(1 if open_ends else 0)


if __name__ == "__main__":
    interruptible(main)

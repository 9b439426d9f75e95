#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs every cell of the comparison in ns-3 and stores the results in reference.csv.

    ./build.sh && ./run_reference.py            # about half an hour of one core
    ./run_reference.py --rerun                  # replaces what is stored
    ./run_reference.py --add                    # runs the cells that the file lacks
    ./run_reference.py --check 3                # reruns every cell's first 3 seeds and compares with what is stored
    ./run_reference.py --shift 20 --output more.csv      # seeds 21 to 40, to see what chance alone does

The file holds no time or host, so the same ns-3 gives the same bytes. It needs the standard library only.
"""

from __future__ import annotations

import argparse
import csv
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cells import CELLS, COUNTS, DRIVER, FABRIC, HERE, MEASURES, OLD_DRIVER, OTHERS, REFERENCE, Cell, flow_list

COLUMNS = ("ns3", "family", "senders", "seed", *MEASURES, *OTHERS)


def ns3_version() -> str:
    """Of the wheel in this folder's virtual environment."""
    for site in (HERE / ".venv" / "lib").glob("python*/site-packages"):
        for found in importlib.metadata.distributions(name="ns3", path=[str(site)]):
            return found.version
    sys.exit("ns-3 is not installed here: run ./build.sh first")


def run(cell: Cell, seed: int, *extra: str) -> dict[str, float]:
    """One run of ns-3."""
    if cell.family.flows:
        with tempfile.TemporaryDirectory() as folder:
            flows = Path(folder) / "flows.csv"
            flows.write_text(flow_list(cell, seed))
            command = [str(FABRIC), f"--flows={flows}"]
            return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    driver = OLD_DRIVER if cell.family.old else DRIVER
    command = [str(driver), *cell.family.driver, f"--senders={cell.senders}", f"--seed={seed}", *extra]
    with tempfile.TemporaryDirectory() as folder:
        if cell.family.old:
            starts = Path(folder) / "starts"
            starts.write_text("".join(f"{offset}\n" for offset in drawn_starts(cell, seed, Path(folder))))
            command.append(f"--starts={starts}")
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def drawn_starts(cell: Cell, seed: int, folder: Path) -> list[int]:
    """When fanin's flows start in a run, after the first possible instant [ns]."""
    scenario = str(HERE / cell.family.scenario)
    values = (f"traffic.bursts.senders={cell.senders}", "run.duration=101ms")
    sets = [part for value in values for part in ("--set", value)]
    command = ["fanin", "run", scenario, *sets, "--seed", str(seed), "--no-try", "--json", "--out", str(folder)]
    # Flows that do not end are no failure here.
    ran = json.loads(subprocess.run(command, check=False, capture_output=True, text=True).stdout)
    command = ["fanin", "export", ran["stored"], "--table", "flows", "--to", "csv"]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = csv.DictReader(line for line in table if not line.startswith("#"))
    return [round((float(row["start_s"]) - 0.1) * 1e9) for row in rows]


def row(version: str, cell: Cell, seed: int) -> dict[str, str]:
    """One line of the file."""
    result = run(cell, seed)
    head = {
        "ns3": "3.36" if cell.family.old else version,
        "family": cell.family.name,
        "senders": str(cell.senders),
        "seed": str(seed),
    }
    return head | {m: str(result[m]) if m in COUNTS else f"{result[m]:.6f}" for m in (*MEASURES, *OTHERS)}


def stored(path: Path = REFERENCE) -> list[dict[str, str]]:
    """The lines of the file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def check(seeds: int) -> None:
    """Reruns the first seeds of every cell; exits with 1 where a line differs from the stored one."""
    version = ns3_version()
    old = {(r["family"], r["senders"], r["seed"]): r for r in stored()}
    wrong = 0
    for cell in CELLS:
        for seed in cell.seeds[:seeds]:
            new = row(version, cell, seed)
            same = new == old.get((cell.family.name, str(cell.senders), str(seed)))
            wrong += not same
            print(f"{cell.name:20} seed {seed:2}  {'same' if same else 'DIFFERENT'}", flush=True)
    sys.exit(1 if wrong else 0)


def main() -> None:
    """Command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rerun", action="store_true", help="replace the stored results")
    options.add_argument("--add", action="store_true", help="run the cells of which nothing is stored")
    options.add_argument("--check", type=int, metavar="SEEDS", help="compare a few reruns with the stored results")
    options.add_argument("--shift", type=int, default=0, metavar="N", help="add to every seed")
    options.add_argument("--output", type=Path, default=REFERENCE, help="where to store")
    chosen = options.parse_args()
    if chosen.check:
        check(chosen.check)
    if chosen.output.exists() and not (chosen.rerun or chosen.add):
        sys.exit(f"{chosen.output.name} exists; --rerun replaces it")
    version = ns3_version()
    rows = stored(chosen.output) if chosen.add else []
    there = {(r["family"], r["senders"]) for r in rows}
    for cell in CELLS:
        if (cell.family.name, str(cell.senders)) in there:
            continue
        begin = time.monotonic()
        rows += [row(version, cell, seed + chosen.shift) for seed in cell.seeds]
        print(f"{cell.name:20} {len(cell.seeds):2} runs  {time.monotonic() - begin:6.1f} s", flush=True)
    partial = chosen.output.with_suffix(".part")
    with partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(chosen.output)


if __name__ == "__main__":
    main()

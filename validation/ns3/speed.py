#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""CPU time per packet-hop of ns-3 and of fanin on one scenario: NewReno incast of 100 senders, drop-tail.

    ./build.sh && ./speed.py                    # prints both and their ratio; exits with 1 where that is below 150

The two take turns, so that a busy machine slows both, and the median of five rounds counts. Of ns-3 it is the driver's
simulation alone, with nothing measured; of fanin a process that does 20 runs, each from laying out the network to the
totals and tables.
It builds fanin's example `run` with cargo, and needs the standard library only.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys

from cells import CELLS, DRIVER, HERE
from run_reference import run

ROUNDS, RUNS = 5, 20
# At least so many times faster, on any machine (DESIGN section 5); the aim is twice that.
LEAST = 150


def child_cpu() -> float:
    """CPU seconds of the child processes so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build() -> str:
    """Fanin's runner."""
    command = ["cargo", "build", "--quiet", "--profile", "wheel", "--package", "fanin-engine", "--example", "run"]
    built = subprocess.run([*command, "--message-format=json"], cwd=HERE, check=True, capture_output=True, text=True)
    found = [json.loads(line).get("executable") for line in built.stdout.splitlines()]
    return next(path for path in found if path)


def main() -> None:
    """Command line."""
    if not DRIVER.exists():
        sys.exit("ns-3 is not built here: validation/ns3/build.sh fetches and builds it")
    cell = next(cell for cell in CELLS if cell.name == "newreno/100")
    command = [
        build(),
        str(HERE / cell.family.scenario),
        *cell.family.rules,
        f"traffic.bursts.senders={cell.senders}",
        "run.seed=1",
    ]
    command.append(f"--again={RUNS - 1}")
    ns3_hops = run(cell, 1)["packet_hops"]
    theirs, ours = [], []
    for _ in range(ROUNDS):
        theirs.append(run(cell, 1, "--measure=false")["cpu_s"] / ns3_hops)
        before = child_cpu()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        ours.append((child_cpu() - before) / RUNS / json.loads(done.stdout)["packet_hops"])
    ns3, fanin = statistics.median(theirs) * 1e9, statistics.median(ours) * 1e9
    print(f"ns-3 {ns3:.0f} ns of CPU per packet-hop, fanin {fanin:.1f} ns at {cell.name}: {ns3 / fanin:.0f} times")
    sys.exit(0 if ns3 / fanin >= LEAST else 1)


if __name__ == "__main__":
    main()

"""Prints the runs per second of a sweep of tiny runs, and what ``fanin reproduce --all --quick`` spends its time on.

``python python/benches/sweeps.py [EXPERIMENT ...]``: instead of all, only these experiments are reproduced. CPU time is
user and system time of this process, its threads and the processes that it starts.
"""

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fanin
from fanin.ask.sweep import sweep
from fanin.garbage import collect_seldom
from fanin.results.database import FILE
from fanin.run.sweep import sweep_all
from fanin.scenario import library
from fanin.show import html_report
from fanin.show.reproduction import judge_and_draw_all

RUNS = 4000

TINY = """
[network]
topology = "two-switch"
rate = "1Gbps"
delay = "33us"
buffer = "20pkt"
[[traffic]]
name = "bursts"
kind = "incast"
senders = 2
bytes-each = "3KB"
jitter = "100us"
[run]
duration = "100ms"
"""


@contextmanager
def timed(say: Callable[[float, float], str]) -> Iterator[None]:
    """Prints a line about elapsed seconds and CPU seconds."""
    wall, cpu = time.monotonic(), _cpu()
    yield
    sys.stdout.write(f"{say(time.monotonic() - wall, _cpu() - cpu)}\n")


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def tiny(folder: Path) -> None:
    """Sweeps of tiny runs: new ones, with ten and with all seeds at a point, and the same found again."""
    (folder / "tiny.toml").write_text(TINY)
    for seeds in (10, RUNS):
        delays = {"network.delay": [f"{33000 + number}ns" for number in range(RUNS // seeds)]}
        points = fanin.Scenario(folder / "tiny.toml").vary(delays)
        for what in ("simulated", "found again"):
            with timed(
                lambda wall, cpu, what=what, seeds=seeds: (
                    f"{RUNS / wall:7.0f} tiny runs/s {what}, {seeds} seeds a point, {1e3 * cpu / RUNS:.2f} ms CPU each"
                )
            ):
                sweep(points, seeds=list(range(1, seeds + 1)), out=folder / f"tiny-{seeds}", tables=())
        size = (folder / f"tiny-{seeds}" / FILE).stat().st_size
        sys.stdout.write(f"{size / RUNS / 1000:7.1f} KB per run in the store\n")


def quick(names: list[str], folder: Path) -> None:
    """The phases of a quick look at all experiments."""

    def phase(name: str) -> Callable[[float, float], str]:
        return lambda wall, cpu: f"{wall:7.1f} s, {cpu:6.1f} s CPU: {name}"

    with timed(phase("load and check")):
        loaded = [fanin.Scenario(name) for name in library.chosen(names, not names)]
        for each in loaded:
            each.check()
    with timed(phase("runs")):
        swept = sweep_all(loaded, out=folder / "quick", quick=True)
    with timed(phase("judge and draw")):
        judge_and_draw_all(swept, folder / "quick", quick=True)
    with timed(phase("report")):
        html_report.write(folder / "quick")


if __name__ == "__main__":
    collect_seldom()  # as the command line does
    with tempfile.TemporaryDirectory() as temporary:
        sys.stdout.write(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
        tiny(Path(temporary))
        quick(sys.argv[1:], Path(temporary))

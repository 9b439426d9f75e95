"""One point of SDTCP's Figure 16: ``python -m fanin.run.controller_stress ENTRIES`` measures the controller's own code.

The last line of output is a JSON object, as required of an experiment's ``benchmark``. It does not affect simulations,
whose control delay is a scenario value.
"""

from __future__ import annotations

import sys

from fanin import _engine

BACKGROUND = 0.01
"""Share of background flows (section 5.2.5: one percent)."""

_WORK = 100_000
"""Entries that the timed decisions visit in total: few decisions are enough if each takes long."""


def measure(entries: int) -> str:
    """Fills a controller with so many flows, lets it decide, and empties it; returns the times as JSON."""
    return _engine.controller_benchmark(entries, BACKGROUND, max(3, min(50, _WORK // entries)))


if __name__ == "__main__":
    sys.stdout.write(measure(int(sys.argv[1])) + "\n")

"""One point of SDTCP's Figure 16: ``python -m fanin.run.controller_stress ENTRIES`` measures the controller's own code.

The last line of output is a JSON object, as an experiment's ``benchmark`` wants it. Nothing of it enters a simulation,
whose control delay is a value of the scenario.
"""

from __future__ import annotations

import sys

from fanin import _engine

BACKGROUND = 0.01
"""Share of the flows that are in the background (section 5.2.5: one percent)."""

_WORK = 100_000
"""Entries that the timed decisions pass over in all: few decisions suffice where each takes long."""


def measure(entries: int) -> str:
    """A controller is filled with so many flows, decides, and is emptied again; JSON with what that took."""
    return _engine.controller_benchmark(entries, BACKGROUND, max(3, min(50, _WORK // entries)))


if __name__ == "__main__":
    sys.stdout.write(measure(int(sys.argv[1])) + "\n")

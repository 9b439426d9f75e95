"""Runs the modules in a kernel that reports faults of memory and of locks, and fails if it reports one.

DEBUG=1 linux/build.sh                # once: that kernel, whose options are in linux/debug.config
python validation/linux/sanitize.py   # a quarter of an hour on two cores
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from cells import MODULES, ROOT
from scripts import SCRIPTS, play

from fanin import _engine

FOLDER = _engine.linux_folder() / "debug"
SAID = FOLDER / "hz1000" / "said"
"""What the kernels have said since this began."""
REPORT = re.compile(r"BUG: |WARNING: |UBSAN: |ODEBUG: |KASAN: |list_(add|del) corruption|INFO: trying to register")
SCHEMES = [*(scheme for scheme in MODULES if scheme != "sdtcp"), "dt-dctcp"]
"""Without SDTCP, whose Open vSwitch is slow there; one of the tests runs it."""
TESTS = ["test_linux_peer.py", "test_linux_pfdct.py", "test_linux_sab.py", "test_linux_rcce.py", "test_linux_sdtcp.py"]


def incast(scheme: str, connections: str) -> Callable[[], object]:
    """An incast that loses packets, with merged segments and interrupts."""
    changes: dict[str, str | float] = {
        "transport.scheme": scheme,
        "traffic.answers.senders": 32,
        "traffic.answers.rounds": 5,
        "traffic.answers.connections": connections,
        "transport.gro": "65536B",
        "transport.tso": "65536B",
        "transport.interrupt-interval": "8us",
        "run.backend": "linux",
    }
    text = (ROOT / "validation" / "linux" / "incast.toml").read_text()
    return lambda: _engine.Scenario(text, "incast.toml", list(changes.items())).run()


def main() -> None:
    """Runs everything, and shows the first report."""
    if not (FOLDER / "hz1000" / "built").exists():
        sys.exit("there is no such kernel: DEBUG=1 linux/build.sh")
    os.environ["FANIN_LINUX"] = str(FOLDER)
    SAID.unlink(missing_ok=True)
    runs = [incast(scheme, connections) for scheme in SCHEMES for connections in ("persistent", "fresh")]
    runs += [lambda script=script: play(script, "linux") for script in SCRIPTS]  # type: ignore[misc]
    with ThreadPoolExecutor() as pool:
        for done, _ in enumerate(pool.map(lambda run: run(), runs), 1):
            print(f"\r{done} of {len(runs)} runs", end="", flush=True)
    tests = [str(ROOT / "python" / "tests" / name) for name in TESTS]
    failed = subprocess.run([sys.executable, "-m", "pytest", "--quiet", *tests], check=False).returncode
    said = SAID.read_text(errors="replace").splitlines()
    reports = [number for number, line in enumerate(said) if REPORT.search(line)]
    print(f"{len(reports)} reports in {SAID}")
    if reports:
        print("\n".join(said[reports[0] : reports[0] + 60]))
    sys.exit(bool(failed or reports))


if __name__ == "__main__":
    main()

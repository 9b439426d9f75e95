"""What the modules of papers do with single packets, in the Linux kernel where one is built (``make linux``)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import linux_peer
import pytest
from linux_kernel import KERNELS, built


@built
@pytest.mark.parametrize("case", linux_peer.CASES)
def test_a_module_does_with_packets_what_its_paper_and_tcp_say(case: str, tmp_path: Path) -> None:
    program = Path(sys.executable).resolve()
    command = [
        str(KERNELS[1000]),
        *("mem=512M", "rootfstype=hostfs", "rootflags=/", "ro", f"init={program}", "time-travel=inf-cpu"),
        *(
            "time-travel-start=0",
            "con=null",
            "con0=fd:0,fd:1",
            "quiet",
            "panic=-1",
            f"uml_dir={tmp_path}/",
            "umid=kernel",
        ),
        *(f"CASE={case}", f"MODULES={KERNELS[1000].parent}", "--", "-u", linux_peer.__file__),
    ]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=100)
    assert "passed" in ran.stdout.decode().splitlines(), ran.stdout.decode()

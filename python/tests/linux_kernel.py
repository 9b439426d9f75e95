"""What tests in the Linux kernel share: where they run, and hosts without offloads, interrupts and queues."""

from __future__ import annotations

import pytest

from fanin import _engine

KERNELS = {hz: kernel for hz, _, kernel, *_ in _engine.linux_kernels()}
"""The programs of the kernels that are built, by ticks a second."""

built = pytest.mark.skipif(1000 not in KERNELS, reason='there is no kernel with HZ=1000: "make linux" builds it')

IDEAL_HOSTS = """\
stack = "linux-6"
interrupt-interval = "0s"
gro = "0B"
tso = "0B"
small-queue = "0B"
host-queue = 0
"""
"""Keys of ``[transport]``."""

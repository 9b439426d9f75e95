"""``fanin linux``: the kernels that run scenarios."""

from __future__ import annotations

from typing import Annotated

import typer

from fanin import _engine
from fanin.cli.options import JsonOption
from fanin.cli.terminal import print_json, print_table, say_wrapped


def linux(
    status: Annotated[bool, typer.Option("--status", help="Say what is there, as without it.")] = True,
    json: JsonOption = False,
) -> None:
    """List the Linux kernels that can run scenarios here, and say how to build one.

    With --backend linux, or run.backend = "linux" in the file, a scenario runs in the Linux kernel itself: a program in
    virtual time, without root. The traffic, the tables and the store are those of the simulator.

    --json prints one object: {folder, kernels}, where kernels is an array of {hz, release, kernel, config, current}.
    A kernel with current = false was built from other sources than this fanin, which refuses it.

    **Examples**

    - `fanin linux`
    - `fanin linux --json`
    """
    kernels = _engine.linux_kernels()
    folder = _engine.linux_folder()
    if json:
        listed = [
            {"hz": hz, "release": release, "kernel": str(kernel), "config": str(config), "current": current}
            for hz, release, kernel, config, current in kernels
        ]
        print_json({"folder": str(folder), "kernels": listed})
    elif kernels:
        rows = [
            [release, str(hz), "yes" if current else "no", str(kernel)] for hz, release, kernel, _, current in kernels
        ]
        print_table("Kernels that run scenarios", ["Linux", "HZ", "of these sources", "program"], rows)
        if not all(current for *_, current in kernels):
            say_wrapped(
                'A kernel was built from other sources than this fanin, which refuses it: run "make linux" again, in '
                "the checkout that this fanin is from."
            )
    else:
        say_wrapped(
            f'There is no kernel in {folder}. Build it with "make linux" in a checkout of fanin: ten minutes on two '
            "cores, 2 GB of disk, no root. FANIN_LINUX names another folder."
        )

"""``fanin report``: the HTML report of the results folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fanin.cli.options import JsonOption, OutOption
from fanin.cli.terminal import print_json, reading, say


def report(
    out: OutOption = Path("results"),
    to: Annotated[Path | None, typer.Option("--to", help="Folder of the report; by default OUT/report.")] = None,
    json: JsonOption = False,
) -> None:
    """Write the HTML report: every figure, every claim with its verdict, and the commands to reproduce them.

    Reads the results of `fanin reproduce` in OUT and simulates nothing; `fanin reproduce` also writes this report. The
    folder is self-contained and opens from disk, without a server or a network. The report needs the built page, which
    an installed package has. In a checkout, run `make page`, which needs Node.

    --json prints one object: {page}, the file to open.

    **Examples**

    - `fanin report`
    - `fanin report --out /tmp/results --to public`
    """
    from fanin.show import html_report

    page = html_report.write(out, to, advance=reading("experiments read"))
    if json:
        print_json({"page": str(page)})
    else:
        say(str(page))

"""``fanin serve``: the page with the results of a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fanin.cli.options import JsonOption, OutOption
from fanin.cli.terminal import Terminated, note, print_json, say
from fanin.errors import FaninError
from fanin.extras import how_to_install

if TYPE_CHECKING:
    from fanin.serve.server import Served


def serve(
    out: OutOption = Path("results"),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 is any that is free.")] = 0,
    host: Annotated[str, typer.Option("--host", help="Address at which to listen; by default only this machine.")] = (
        "127.0.0.1"
    ),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    json: JsonOption = False,
) -> None:
    """Serve the page with the results in OUT, on this machine, until Ctrl-C.

    Needs Starlette and Uvicorn (pip install starlette uvicorn). The page is the same as the static one. Here it also
    shows the stored runs with their tables, exports and captures. It opens any run with traces in its other views.
    Nothing is written, and nothing is simulated by the server.

    The printed address has a token, which every request for results needs. The token is new each time. With --port, the
    addresses of runs are the same next time. docs/reference/serve.md describes the API and what protects it.

    --json prints one object: {address, host, port, token, folder, page}, where page is null if the page is not built.

    **Examples**

    - `fanin serve`
    - `fanin serve --out /data/results --port 8765`
    - `fanin serve --no-browser`, and on your own machine `ssh -L 8765:127.0.0.1:PORT host`
    """
    try:
        from fanin.serve.page import MISSING
        from fanin.serve.server import serve as start
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise FaninError(f"fanin serve needs Starlette and Uvicorn: {how_to_install('serve')}") from None

    def ready(served: Served) -> None:
        if served.page is None:
            note(f"warning: {MISSING}")
        if not served.is_local:
            note(f"warning: {host} can be reached from other machines, and what is sent there is not encrypted")
        if json:
            about = {"address": served.address, "host": host, "port": served.port, "token": served.token}
            print_json({**about, "folder": str(out), "page": None if served.page is None else str(served.page)})
        else:
            say(served.address)
            note("Ctrl-C ends it")
        sys.stdout.flush()

    try:
        start(out, host, port, browser=not no_browser, ready=ready)
    except KeyboardInterrupt as interrupt:
        note("ended")
        raise typer.Exit(interrupt.code if isinstance(interrupt, Terminated) else 130) from None

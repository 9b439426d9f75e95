"""Opens the port, makes the token, and serves until it is interrupted."""

from __future__ import annotations

import html
import os
import secrets
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from fanin.errors import ResultsError
from fanin.serve import api, page
from fanin.serve.guard import Guard, is_loopback
from fanin.serve.results import Results
from fanin.show import front_end

_TOKEN_BYTES = 32


@dataclass(frozen=True)
class Served:
    """A server that is about to start."""

    host: str
    port: int
    token: str
    page: Path | None
    """The folder of the page, if it is built."""

    @property
    def address(self) -> str:
        """What to open: the token is in the fragment, which a browser sends to nobody."""
        name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        shown = f"[{name}]" if ":" in name else name
        return f"http://{shown}:{self.port}/#token={self.token}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


def serve(out: Path, host: str, port: int, *, browser: bool, ready: Callable[[Served], None]) -> None:
    """Serves a results folder until the process is interrupted.

    Args:
        out: Results folder.
        host: Address at which to listen.
        port: Port; 0 for any that is free.
        browser: Whether to open the page in a browser, if there is a screen.
        ready: Called when the port is open.

    Raises:
        ResultsError: there is no such folder, or the port cannot be opened.
        KeyboardInterrupt: it was interrupted.

    """
    folder = front_end.found()
    files = page.files(folder)
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    with _listening(host, port) as listening:
        results = Results(out)
        served = Served(host, listening.getsockname()[1], token, folder)
        guarded = Guard(api.application(results, files), host, token, {"/", *files})
        config = uvicorn.Config(
            guarded,
            # Nothing of a request is written anywhere.
            access_log=False,
            log_level="warning",
            lifespan="off",
            http="h11",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        ready(served)
        with _opened(served.address, wanted=browser and folder is not None):
            uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ResultsError(f"{host}:{port}: cannot be opened: {why}; choose others with --host and --port") from None
    with listening:
        yield listening


@contextmanager
def _opened(address: str, *, wanted: bool) -> Iterator[None]:
    """Opens the page by a file that only this user can read: the words of a browser's command are seen by everybody."""
    if not wanted or not _has_screen():
        yield
        return
    with tempfile.TemporaryDirectory(prefix="fanin-serve-") as folder:
        path = Path(folder) / "open.html"
        shown = html.escape(address)
        path.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={shown}">', encoding="utf-8")
        webbrowser.open(path.as_uri())
        yield


def _has_screen() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))

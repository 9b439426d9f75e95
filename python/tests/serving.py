"""Asks ``fanin serve`` without a network: requests go straight to the application."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin.serve import api
from fanin.serve.guard import Guard
from fanin.serve.page import File
from fanin.serve.results import Results

TOKEN = "a-token"
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Got:
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0]


class Site:
    """A results folder that is served."""

    def __init__(self, out: Path, files: dict[str, File] | None = None, host: str = HOST) -> None:
        self.results = Results(out)
        self.app = Guard(api.application(self.results, files or {}), host, TOKEN, {"/", *(files or {})})

    def get(self, path: str, query: str = "", *, method: str = "GET", **headers: str | None) -> Got:
        """Asks with the token; a header that is None is left out, and underscores in names stand for dashes."""
        usual = {"host": f"{HOST}:8000", "authorization": f"Bearer {TOKEN}"}
        wanted = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        return asyncio.run(self._asked(method, path, query, {k: v for k, v in wanted.items() if v is not None}))

    async def _asked(self, method: str, path: str, query: str, headers: dict[str, str]) -> Got:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            # As Uvicorn has it after the percent signs were read.
            "path": path.encode(errors="replace").decode(),
            "raw_path": path.encode(errors="replace"),
            "query_string": query.encode(errors="surrogatepass"),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            "server": (HOST, 8000),
            "client": (HOST, 50000),
        }
        sent: list[Any] = []

        requests = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            # After the request there is only the end of the connection, which does not come.
            return requests.pop() if requests else await asyncio.Future()

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start, *rest = sent
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
        return Got(start["status"], headers, b"".join(part.get("body", b"") for part in rest))

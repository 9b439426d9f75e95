"""The files of the page, read at the start: a request is looked up among them and opens no file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from fanin.show.front_end import INDEX, NOT_BUILT

MISSING = f"{NOT_BUILT}; the API works without it"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/vnd.microsoft.icon",
    ".webmanifest": "application/manifest+json",
    ".txt": "text/plain; charset=utf-8",
    ".toml": "text/plain; charset=utf-8",
}
"""Types of files that are served; other files are not."""


@dataclass(frozen=True)
class File:
    """A file of the page."""

    content: bytes
    media_type: str
    tag: str


def files(folder: Path | None) -> dict[str, File]:
    """The files of the page by the path of a request."""
    known: dict[str, File] = {}
    for path in [] if folder is None else sorted(folder.rglob("*")):
        kind = _TYPES.get(path.suffix)
        name = path.relative_to(folder).as_posix() if folder else ""
        if kind is None or not path.is_file() or path.is_symlink() or any(part[0] == "." for part in name.split("/")):
            continue
        content = path.read_bytes()
        known[f"/{name}"] = File(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    if f"/{INDEX}" in known:
        known["/"] = known[f"/{INDEX}"]
    return known


def answer(known: dict[str, File], request: Request) -> Response:
    """A file of the page."""
    file = known.get(request.scope["path"])
    if file is None:
        return PlainTextResponse(f"{MISSING}\n", 404)
    headers = {"ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.media_type)

"""Answers of the API: JSON, downloads, and problems as RFC 9457 describes them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from starlette.responses import Response, StreamingResponse


class ProblemError(Exception):
    """A request that cannot be answered."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        self.status, self.title, self.detail = status, title, detail
        super().__init__(detail)


def text_of(value: object) -> bytes:
    """A value as JSON; what is no number, such as infinity, is null.

    Raises:
        RecursionError: it is nested too deeply.

    """
    try:
        return json.dumps(value, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False).encode()


def _finite(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(value: object) -> Response:
    """A value."""
    return Response(text_of(value), media_type="application/json")


def problem(status: int, title: str, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Why a request is not answered."""
    content = text_of({"type": "about:blank", "title": title, "status": status, "detail": detail})
    return Response(content, status, headers, media_type="application/problem+json")


def download(content: bytes, name: str, media_type: str) -> Response:
    """A file to save, which browsers do not show; its name is made of ids and checked names only."""
    return Response(content, headers=_saved(name), media_type=media_type)


def parts(content: Iterator[bytes], name: str, media_type: str) -> Response:
    """As :func:`download`, of a file that is sent as it is made."""
    return StreamingResponse(content, headers=_saved(name), media_type=media_type)


def _saved(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}

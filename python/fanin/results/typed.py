"""Values from JSON whose types are checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

Kind = TypeVar("Kind")

_EXACT = ConfigDict(extra="forbid", strict=True)


def typed(kind: type[Kind], values: Sequence[object]) -> list[Kind]:
    """Objects of a data class from JSON objects that have exactly its keys, with values of its types.

    Raises:
        ValueError: another key or type, or a text that no file can hold (half of a surrogate pair).

    """
    adapter: TypeAdapter[list[Kind]] = TypeAdapter(list[kind], config=_EXACT)  # type: ignore[valid-type]
    try:
        return adapter.validate_json(json.dumps(values))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None

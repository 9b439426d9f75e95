"""A resolved scenario as TOML, so that it can be read and run again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def to_toml(table: Mapping[str, Any]) -> str:
    """A resolved scenario as TOML."""
    lines: list[str] = []
    _append(lines, table, ())
    return "\n".join(lines).strip() + "\n"


def _append(lines: list[str], table: Mapping[str, Any], path: tuple[str, ...]) -> None:
    inner: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) or (isinstance(value, list) and value and isinstance(value[0], Mapping)):
            inner[key] = value
        elif value is not None and value != []:
            lines.append(f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}")
    for key, value in inner.items():
        place = (*path, _key(key))
        for each in value if isinstance(value, list) else [value]:
            # A table that contains only tables needs no header of its own.
            if isinstance(value, list) or not each or any(not isinstance(part, Mapping) for part in each.values()):
                name = ".".join(place)
                lines += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]"]
            _append(lines, each, place)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)

"""Digests of values."""

from __future__ import annotations

import hashlib
import json


def digest(value: object) -> str:
    """A short hash of a value, independent of its JSON layout."""
    return whole_digest(value)[:16]


def whole_digest(value: object) -> str:
    """The full hash of a value, independent of its JSON layout."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()

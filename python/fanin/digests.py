"""Digests of values."""

from __future__ import annotations

import hashlib
import json

LENGTH = 16
"""Digits of a short hash."""


def digest(value: object) -> str:
    """A short hash of a value, independent of its JSON layout."""
    return whole_digest(value)[:LENGTH]


def whole_digest(value: object) -> str:
    """The full hash of a value, independent of its JSON layout."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def canonical(value: object) -> str:
    """A value as JSON, always in the same layout."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))

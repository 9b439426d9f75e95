"""JSON objects that carry the digest of their other keys, so that a change of the file is noticed when it is read."""

from __future__ import annotations

from typing import Any

from fanin.digests import whole_digest

OWN = "sha256"
"""The key of a JSON object with the digest of all other keys."""


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """A JSON object with the digest of its other keys."""
    bare = {key: value for key, value in content.items() if key != OWN}
    return {**bare, OWN: whole_digest(bare)}


def unsealed(content: object) -> dict[str, Any]:
    """A JSON object without its digest, after that was compared.

    Raises:
        ValueError: it is no object, has no digest, or differs from what was written.

    """
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    bare = {key: value for key, value in content.items() if key != OWN}
    if content.get(OWN) != whole_digest(bare):
        raise ValueError("its content differs from what was written")
    return bare

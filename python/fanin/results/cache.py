"""Values that are slow to compute and depend only on files, cached in the user's cache folder between commands.

A value is reused only while everything it was made from is unchanged: the files by their content, the program by its
source. The cache may be deleted at any time; a damaged or unwritable cache is treated as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import fanin
from fanin import _engine
from fanin.results.files import tidy, write_whole

Sources = Mapping[str, str | None]
"""The files from which a value was made, with the SHA-256 of their content; ``None`` for a missing file."""

Made: TypeAlias = "tuple[Any, Sources | None]"
"""A JSON value and its sources; a value without sources is not cached."""

_UNREADABLE = ""
"""Replaces the hash of a file whose content does not matter."""

_OLD_SECONDS = 30 * 86400.0
"""A cache not written for so long may belong to a deleted folder."""


class Cache:
    """Values by name, in one file. It holds only the values used last, so that it does not grow."""

    def __init__(self, *place: object, made_by: object = None) -> None:
        """Opens the cache.

        Args:
            place: Its purpose; each has its own file.
            made_by: What all its values depend on besides the program.

        """
        root = folder()
        self._path = None if root is None else root / f"{_hash(place)}.json"
        self._made_by = _hash([fanin.__version__, fanin.engine_version(), _built(), _source(), made_by])
        self._old: dict[str, Any] = {} if self._path is None else _read(self._path, self._made_by)
        self._new: dict[str, Any] = {}
        self._hashes: dict[str, str | None] = {}

    def value(self, name: str, given: list[Any], make: Callable[[], Made]) -> Any:  # noqa: ANN401 - whatever is made
        """The value of that name: the cached one if its sources are unchanged, otherwise a new one.

        Args:
            name: Its name.
            given: What it is made from besides files, as JSON.
            make: Makes it.

        """
        kept = self._old.get(name)
        if (
            kept is None
            or kept["given"] != given
            or any(self.fingerprint(path) != then for path, then in kept["sources"].items())
        ):
            value, sources = make()
            if sources is None or _UNREADABLE in sources.values():
                return value
            kept = {"given": given, "sources": dict(sources), "value": value}
        self._new[name] = kept
        return kept["value"]

    def fingerprint(self, path: Path | str) -> str | None:
        """SHA-256 of a file, which is read only once; ``None`` if there is none."""
        name = str(path)
        if name not in self._hashes:
            self._hashes[name] = _fingerprint(name)
        return self._hashes[name]

    def write(self) -> None:
        """Writes the values used, if they differ from the file's."""
        if self._path is None or (self._new.keys() == self._old.keys() and self._unchanged()):
            return
        text = json.dumps({"made_by": self._made_by, "values": self._new})
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._path, f"{_sha256(text)}\n{text}".encode())
            tidy(self._path.parent)
            for other in self._path.parent.glob("*.json"):
                if time.time() - other.stat().st_mtime > _OLD_SECONDS:
                    other.unlink()

    def _unchanged(self) -> bool:
        return all(self._new[name] is self._old[name] for name in self._new)


def folder() -> Path | None:
    """The folder of caches: ``FANIN_CACHE``, or ``fanin`` in the user's cache folder; ``None`` without either."""
    if own := os.environ.get("FANIN_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG Base Directory Specification says to ignore a relative path.
    if Path(base).is_absolute():
        return Path(base) / "fanin"
    try:
        return Path.home() / ".cache" / "fanin"
    except RuntimeError:
        return None


def _read(path: Path, made_by: str) -> dict[str, Any]:
    """The values in a file; none if it is damaged or was made by another program."""
    try:
        head, _, text = path.read_bytes().decode().partition("\n")
    except (OSError, ValueError):
        return {}
    if head != _sha256(text):
        return {}
    content = json.loads(text)
    values: dict[str, Any] = content["values"] if content["made_by"] == made_by else {}
    return values


def _fingerprint(path: str) -> str | None:
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _UNREADABLE


def _built() -> list[int]:
    """Size and time of the compiled engine: its version does not cover the Python binding."""
    about = Path(str(_engine.__file__)).stat()
    return [about.st_size, about.st_mtime_ns]


def _source() -> str:
    """Hash of the package's Python files, which may change between releases."""
    digest = hashlib.sha256()
    for inside, folders, files in os.walk(Path(fanin.__file__).parent):
        folders.sort()
        for name in sorted(name for name in files if name.endswith(".py")):
            digest.update(f"{inside}/{name} {_fingerprint(f'{inside}/{name}')}\n".encode())
    return digest.hexdigest()


def _hash(value: object) -> str:
    return _sha256(json.dumps(value, sort_keys=True, default=str))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

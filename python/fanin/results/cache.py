"""What takes long to work out and hangs on files alone, kept in the user's cache folder from one command to the next.

A value is used again only while all that it was made from is the same: the files by their content, the program by its
source. The cache may be deleted at any time; one that is damaged or cannot be written is as good as none.
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
"""Files that a value was made from, and the SHA-256 of what they held; ``None`` for one that was not there."""

Made: TypeAlias = "tuple[Any, Sources | None]"
"""A value that JSON can hold, and its sources; without them it is not kept."""

_UNREADABLE = ""
"""Instead of a hash, of a file that may hold anything."""

_OLD_SECONDS = 30 * 86400.0
"""A cache that was not written for so long may be of a folder that is no more."""


class Cache:
    """Values by name, in one file: only what was asked for last is in it, so that it does not grow."""

    def __init__(self, *place: object, made_by: object = None) -> None:
        """Opens the cache.

        Args:
            place: What it is for; each has a file of its own.
            made_by: What all its values depend on, besides the program.

        """
        root = folder()
        self._path = None if root is None else root / f"{_hash(place)}.json"
        self._made_by = _hash([fanin.__version__, fanin.engine_version(), _built(), _source(), made_by])
        self._old: dict[str, Any] = {} if self._path is None else _read(self._path, self._made_by)
        self._new: dict[str, Any] = {}
        self._hashes: dict[str, str | None] = {}

    def value(self, name: str, given: list[Any], make: Callable[[], Made]) -> Any:  # noqa: ANN401 - whatever is made
        """The value of that name: the one that was kept, if it was made from the same, or else a new one.

        Args:
            name: Its name.
            given: What it is made from besides files; JSON.
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
        """SHA-256 of a file, ``None`` if there is none; it is read once."""
        name = str(path)
        if name not in self._hashes:
            self._hashes[name] = _fingerprint(name)
        return self._hashes[name]

    def write(self) -> None:
        """Keeps what was asked for, if it differs from what was there."""
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
    """Where caches are: ``FANIN_CACHE``, or ``fanin`` in the user's cache folder; ``None`` for a user without one."""
    if own := os.environ.get("FANIN_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path there is to be ignored, says the XDG Base Directory Specification.
    if Path(base).is_absolute():
        return Path(base) / "fanin"
    try:
        return Path.home() / ".cache" / "fanin"
    except RuntimeError:
        return None


def _read(path: Path, made_by: str) -> dict[str, Any]:
    """The values in a file; none if it is damaged, or made by another program."""
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
    """Size and time of the compiled engine: its version does not change with the code that binds it to Python."""
    about = Path(str(_engine.__file__)).stat()
    return [about.st_size, about.st_mtime_ns]


def _source() -> str:
    """Hash of the package's Python files, which may change between two releases."""
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

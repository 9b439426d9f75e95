"""Digests of what fanin writes, compared before any of it is read.

A folder has a file ``SHA256SUMS`` in the format of ``sha256sum``, written last. Its first line is a comment with the
digest of the rest; a second comment may name the command that made the folder. A JSON file outside such a folder, and
each line of a log, carries the digest of its own value, as the manifest of a run does.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin.digests import whole_digest
from fanin.errors import ResultsError
from fanin.names import checked_path
from fanin.results import confined
from fanin.results.layout import ADVISED, CAPACITY, CLAIMS, FIT, GENERATOR, HEAD, PAGE, TUNE

SUMS = "SHA256SUMS"

OWN = "sha256"
"""The key of a JSON object with the digest of all other keys."""

_MADE_BY = "# made by: "
_LINE = re.compile(r"([0-9a-f]{64})  ([^\n]+)")
_FOREIGN = re.compile(r"([0-9a-f]{64}) [ *]([^\n]+)")
"""A line of such a file that somebody else wrote: our first one is a comment."""


class DamagedError(ResultsError):
    """A file is not what was written."""


@dataclass(frozen=True)
class Sums:
    """The digests of a folder's files."""

    files: dict[str, str]
    command: str
    """The command that made the folder; empty if that is not known."""
    ours: bool = True
    """Whether fanin wrote them. Somebody else's need not list all files."""


def text_of(folder: Path, names: Iterable[str], command: str = "") -> bytes:
    """The content of ``SHA256SUMS`` for some files of a folder.

    Args:
        folder: The folder.
        names: The files in it, by their relative paths.
        command: The command that makes them, if known.

    """
    lines = [f"{_MADE_BY}{command}"] if command and "\n" not in command else []
    lines += [f"{_of_file(folder / name)}  {name}" for name in sorted(names)]
    body = "".join(f"{line}\n" for line in lines).encode()
    return f"# {hashlib.sha256(body).hexdigest()}\n".encode() + body


def read_sums(folder: Path) -> Sums | None:
    """The digests of a folder; ``None`` if it has none, and fanin did not make it.

    Raises:
        DamagedError: the file with the digests is damaged or lost.

    """
    path = folder / SUMS
    try:
        content = confined.read(path, confined.MOST_JSON)
    except (FileNotFoundError, NotADirectoryError):
        if _has_sums(folder):
            raise DamagedError(f"{path}: damaged (missing); {_HINT}") from None
        return None
    except OSError as error:
        raise DamagedError(f"{path}: cannot be read: {error.strerror or error}") from None
    head, _, body = content.partition(b"\n")
    if _FOREIGN.fullmatch(head.decode(errors="replace")) and not _has_sums(folder):
        return Sums(_listed(content, _FOREIGN), "", ours=False)
    if head != f"# {hashlib.sha256(body).hexdigest()}".encode():
        raise DamagedError(f"{path}: damaged (its content differs from what was written); {_HINT}")
    try:
        files = {checked_path(name): digest for name, digest in _listed(body, _LINE).items()}
    except ValueError as error:
        raise DamagedError(f"{path}: damaged ({error}); {_HINT}") from None
    lines = body.decode(errors="replace").split("\n")
    command = next((line.removeprefix(_MADE_BY) for line in lines if line.startswith(_MADE_BY)), "")
    return Sums(files, command)


def _listed(content: bytes, line: re.Pattern[str]) -> dict[str, str]:
    found = (line.fullmatch(each) for each in content.decode(errors="replace").split("\n"))
    return {each[2]: each[1] for each in found if each}


_MARKS = {
    CLAIMS: "experiment",
    HEAD: "engine_version",
    FIT: "engine_version",
    CAPACITY: "cases",
    TUNE: "trials",
    ADVISED: "remedies",
}
"""The file of a folder with digests that says what it is of -> a key of it: other programs have files of such names."""


def _has_sums(folder: Path) -> bool:
    """Whether a folder was written with digests, by a file in it."""
    for name, key in _MARKS.items():
        with contextlib.suppress(OSError, ValueError):
            content = loaded(confined.read(folder / name, confined.MOST_JSON))
            if isinstance(content, dict) and key in content:
                return True
    return is_report(folder)


def is_report(folder: Path) -> bool:
    """Whether this is the folder of an HTML report."""
    with contextlib.suppress(OSError), confined.opened(folder / PAGE) as stream:
        return f'content="{GENERATOR}"'.encode() in stream.read(_HEAD)
    return False


_HEAD = 2000
"""Bytes of a page in which it says what made it."""


_HINT = "run the command that wrote it again, its runs are kept ('fanin verify' names it)"


def read_bytes(path: Path, most: confined.Most = confined.MOST_TABLE) -> bytes:
    """A file's content, after its digest was compared if its folder has digests.

    Args:
        path: The file.
        most: Bytes that it may have.

    Raises:
        DamagedError: it is not what was written.
        OSError: it cannot be read.

    """
    content = confined.read(path, most)
    sums = read_sums(path.parent)
    if sums is None or not (sums.ours or path.name in sums.files):
        return content
    if sums.files.get(path.name) != hashlib.sha256(content).hexdigest():
        raise DamagedError(f"{path}: damaged, or an interrupted command (it differs from {SUMS}); {_HINT}")
    return content


def _of_file(path: Path) -> str:
    with confined.opened(path, confined.MOST_LOG) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_file(path: Path) -> str | None:
    """The digest of a file; ``None`` if it cannot be read."""
    try:
        return _of_file(path)
    except OSError:
        return None


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
    try:
        digest = whole_digest(bare)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if content.get(OWN) != digest:
        raise ValueError("its content differs from what was written")
    return bare


def loaded(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """JSON as it was written, without a key that occurs twice or half of a character.

    Raises:
        ValueError: it is not JSON.

    """
    try:
        found = json.loads(content, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    # Half of a pair of UTF-16: only an escape can say it, and nothing can write it as UTF-8.
    if _HALF.search(content) and not _is_text(found):
        raise ValueError("half of a character")
    return found


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def _is_text(value: object) -> bool:
    """Whether all texts in some JSON can be written."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found

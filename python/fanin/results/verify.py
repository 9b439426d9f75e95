"""Compares everything in a results folder with the digests that were written with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fanin.errors import ResultsError
from fanin.names import is_run_id
from fanin.results import failures, records, search_log, shards, sums
from fanin.results.dataset import as_json
from fanin.results.files import is_leftover
from fanin.results.layout import CLAIMS, FITS, HELD_OUT, MANIFEST, RUNS, SEARCH_LOG, STUDIES
from fanin.results.store import manifest_text, read_manifest

RUN, EXPERIMENT, FOLDER, FILE = "run", "experiment", "folder", "file"
KINDS = (RUN, EXPERIMENT, FOLDER, FILE)


@dataclass(frozen=True)
class Damage:
    """A file that is not what was written."""

    path: Path
    why: str
    kind: str
    """Part of a run, of an experiment's folder, of another folder with digests, or a file with a digest of its own."""
    folder: Path
    """What is made again as a whole: the folder, or the log of runs; for a file of its own the folder it is in."""

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return {"file": str(self.path), "why": self.why, "kind": self.kind}


@dataclass
class Verified:
    """What was found in a results folder."""

    files: int = 0
    """Files whose digest was compared."""
    damaged: list[Damage] = field(default_factory=list)
    leftovers: list[Path] = field(default_factory=list)
    """Temporary files and folders of commands that were killed, or that are still writing."""
    unchecked: list[Path] = field(default_factory=list)
    """Files without a digest: of an earlier version, or not written by fanin."""


def verify(out: Path, advance: Callable[[int, int], None] = lambda *_: None) -> Verified:
    """Compares all files of a results folder with their digests.

    Args:
        out: Results folder.
        advance: Called with the bytes compared so far and those of all files.

    Raises:
        ResultsError: it is not a folder.

    """
    if not out.is_dir():
        raise ResultsError(f"{out}: no such folder")
    found = Verified()
    folders = list(_folders(out, found))
    sizes = [sum(map(_size, (folder / name for name in names))) for folder, names in folders]
    done, total = 0, sum(sizes)
    covered: set[Path] = set()
    for (folder, names), size in zip(folders, sizes, strict=True):
        if MANIFEST in names or (is_run_id(folder.name) and folder.parent.name == RUNS):
            covered |= _run(folder, found)
        elif sums.SUMS in names:
            covered |= _summed(folder, names, found)
        for name in names:
            if records.is_log(folder / name):
                _log_of_runs(folder / name, found, partial(_advanced, advance, done, total))
                size -= (whole := _size(folder / name))
                done += whole
            elif folder / name not in covered:
                _alone(folder / name, found)
        advance(done := done + size, total)
    return found


def _advanced(advance: Callable[[int, int], None], before: int, total: int, more: int) -> None:
    advance(before + more, total)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _folders(out: Path, found: Verified) -> Iterator[tuple[Path, list[str]]]:
    """Every folder with the names of its files, from above to below; leftovers are noted and left out."""
    for place, inner, names in os.walk(out):
        folder = Path(place)
        found.leftovers += [folder / name for name in sorted([*inner, *names]) if is_leftover(name)]
        inner[:] = sorted(name for name in inner if not is_leftover(name))
        yield folder, sorted(name for name in names if not is_leftover(name))


def _run(folder: Path, found: Verified) -> set[Path]:
    """Compares a run with its manifest."""
    manifest = folder / MANIFEST

    def damaged(path: Path, why: str) -> None:
        found.damaged.append(Damage(path, why, RUN, folder))

    found.files += 1
    try:
        run = read_manifest(folder)
        # The digest is of the values. Only the bytes show a change that leaves these as they are.
        if manifest.read_bytes() != manifest_text(run.manifest):
            raise ResultsError("(its content differs from what was written)")
    except ResultsError as error:
        why = str(error).partition("(")[2].rpartition(")")[0] if manifest.is_file() else "missing"
        damaged(manifest, why)
        # Nothing says what its other files should be.
        return {path for path in folder.iterdir() if path.is_file()}
    for name in run.manifest["files"]:
        found.files += 1
        try:
            run.check(name)
        except ResultsError as error:
            damaged(folder / name, str(error).partition("(")[2].rpartition(")")[0])
    return {manifest, *(folder / name for name in run.manifest["files"])}


def _log_of_runs(path: Path, found: Verified, advance: Callable[[int], None]) -> None:
    """Compares the lines of a log of runs; a last one without an end was being written when its command was killed."""
    found.files += 1
    try:
        damaged = []
        for line, text in records.lines(path):
            damaged += [] if records.is_whole(text) else [line]
            advance(line.end)
    except OSError as error:
        found.damaged.append(Damage(path, error.strerror or str(error), RUN, path))
        return
    for line in damaged:
        found.damaged.append(Damage(path, records.damaged(line).partition("(")[2].rpartition(")")[0], RUN, path))


def _summed(folder: Path, names: list[str], found: Verified) -> set[Path]:
    """Compares a folder with its ``SHA256SUMS``."""
    kind = EXPERIMENT if CLAIMS in names else FOLDER
    own = folder / sums.SUMS
    found.files += 1
    try:
        listed = sums.read_sums(folder)
    except ResultsError:
        found.damaged.append(Damage(own, "its content differs from what was written", kind, folder))
        return {folder / name for name in names}
    if listed is None:
        return {own}
    kind = EXPERIMENT if CLAIMS in listed.files else FOLDER
    for name, digest in listed.files.items():
        found.files += 1
        if (now := sums.of_file(folder / name)) != digest:
            why = "missing or unreadable" if now is None else f"differs from {sums.SUMS}"
            found.damaged.append(Damage(folder / name, why, kind, folder))
    return {own, *(folder / name for name in listed.files)}


def _alone(path: Path, found: Verified) -> None:
    """Compares a file that carries its own digest; notes any other as unchecked."""
    check = _check_of(path)
    if check is None:
        found.unchecked.append(path)
        return
    try:
        if check(path.read_bytes()):
            found.files += 1
        else:
            found.unchecked.append(path)
    except (OSError, ValueError) as error:
        found.files += 1
        found.damaged.append(Damage(path, str(error), FILE, path.parent))


def _check_of(path: Path) -> Callable[[bytes], bool] | None:
    """What compares a file with the digest in it; it returns whether there is one."""
    above = path.parent.name
    if above == failures.FAILURES and path.suffix == ".json":
        return lambda content: _json(content, failures.text_of)
    if path.parent.parent.name == shards.SHARDS and path.suffix == ".json":
        return lambda content: _json(content, as_json)
    if above == FITS and path.name == HELD_OUT:
        return lambda content: _json(content, as_json)
    if path.parent.parent.name in (FITS, STUDIES) and path.name == SEARCH_LOG:
        return lambda content: search_log.check(content, path.parent.name)
    return None


def _json(content: bytes, text_of: Callable[[object], bytes]) -> bool:
    value = sums.loaded(content)
    if isinstance(value, list):
        return False
    sums.unsealed(value)
    if text_of(value) != content:
        raise ValueError("its content differs from what was written")
    return True

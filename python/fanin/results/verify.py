"""Compares everything in a results folder with the digests that were written with it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fanin.errors import ResultsError
from fanin.names import is_run_id
from fanin.results import failures, judgements, records, search_log, sums
from fanin.results.confined import read
from fanin.results.dataset import as_json, read_head
from fanin.results.files import is_leftover
from fanin.results.layout import (
    CLAIMS,
    ELSEWHERE,
    FAILURES,
    FITS,
    HEAD,
    HELD_OUT,
    MANIFEST,
    ROWS,
    RUNS,
    SEARCH_LOG,
    STUDIES,
)
from fanin.results.store import manifest_text, read_manifest, read_table
from fanin.results.walk import walk

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
    stored: dict[Path, set[str]] = field(default_factory=dict)
    """Folder of runs -> the ids of those that are there, whole or damaged."""


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
    found.stored = {folder: set() for folder, _ in folders if folder.name == RUNS}
    for (folder, names), size in zip(folders, sizes, strict=True):
        if MANIFEST in names or (is_run_id(folder.name) and folder.parent.name == RUNS):
            covered |= _run(folder, found)
        elif names:
            covered |= _summed(folder, names, found)
        for name in names:
            if records.is_log(folder / name):
                _log_of_runs(folder / name, found, partial(_advanced, advance, done, total))
                size -= (whole := _size(folder / name))
                done += whole
            elif folder / name not in covered:
                _alone(folder / name, found)
        advance(done := done + size, total)
        if folder.name == FITS:
            _of_held_out(folder, found)
    for folder, names in folders:
        if CLAIMS in names or HEAD in names:
            _of_its_place(folder, EXPERIMENT if CLAIMS in names else FOLDER, found)
    return found


def _of_its_place(folder: Path, kind: str, found: Verified) -> None:
    """Notes what is whole but is another folder's, and runs that are gone; damaged ones are named as such already."""
    what_it_is = {folder / name for name in (sums.SUMS, CLAIMS, HEAD, ROWS)}
    if any(each.path in what_it_is for each in found.damaged):
        return
    try:
        depth, runs = _of_experiment(folder) if kind == EXPERIMENT else _of_sweep(folder)
    except ResultsError as error:
        found.damaged.append(Damage(folder / (CLAIMS if kind == EXPERIMENT else HEAD), _why(error), kind, folder))
        return
    store = folder.parents[depth] / RUNS if depth < len(folder.parents) else folder
    if store not in found.stored:
        return
    if gone := sorted({str(name) for name in runs if is_run_id(name)} - found.stored[store]):
        more = f" and {len(gone) - 1:,} others" if len(gone) > 1 else ""
        found.damaged.append(Damage(store / gone[0], f"missing{more}, of which {folder} was made", kind, folder))


def _of_held_out(fits: Path, found: Verified) -> None:
    """Notes judgements by held-out experiments that are gone."""
    path = fits / HELD_OUT
    # What is damaged or cannot be read is named as that.
    with contextlib.suppress(ValueError, ResultsError):
        if (told := judgements.forgotten(fits, judgements.recorded(fits))) is not None:
            found.damaged.append(Damage(path, f"it lacks a judgement that {told} has", FILE, fits))


def _of_experiment(folder: Path) -> tuple[int, Iterable[object]]:
    """How far below the results folder an experiment's folder is, and the ids of its runs.

    Raises:
        ResultsError: it is that of another experiment.

    """
    path = folder / CLAIMS
    try:
        content = sums.loaded(sums.read_bytes(path))
        name, runs = str(content["experiment"]), list(content["work"]["each"])
    except (OSError, ValueError, KeyError, TypeError):
        # Of an early version, or a stranger's: what reads it says so.
        return 0, []
    if not folder.absolute().as_posix().endswith(f"/{name}"):
        raise ResultsError(f"{path}: damaged (it is that of {name})")
    return name.count("/"), runs


def _of_sweep(folder: Path) -> tuple[int, Iterable[object]]:
    """As :func:`_of_experiment`, of a sweep."""
    read_head(folder)
    frame = read_table(folder / ROWS)
    return 1, frame["run_id"] if "run_id" in frame.columns else []


def _advanced(advance: Callable[[int, int], None], before: int, total: int, more: int) -> None:
    advance(before + more, total)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _folders(out: Path, found: Verified) -> Iterator[tuple[Path, list[str]]]:
    """Every folder with the names of its files, from above to below; leftovers are noted and left out."""
    for folder, inner, others in walk(out):
        found.leftovers += sorted(Path(each.path) for each in (*inner, *others) if is_leftover(each.name))
        inner[:] = sorted((each for each in inner if not is_leftover(each.name)), key=lambda each: each.name)
        yield folder, sorted(each.name for each in others if not is_leftover(each.name))


def _run(folder: Path, found: Verified) -> set[Path]:
    """Compares a run with its manifest."""
    manifest = folder / MANIFEST

    def damaged(path: Path, why: str) -> None:
        found.damaged.append(Damage(path, why, RUN, folder))

    found.files += 1
    found.stored.setdefault(folder.parent, set()).add(folder.name)
    try:
        run = read_manifest(folder)
        # The digest is of the values. Only the bytes show a change that leaves these as they are.
        if read(manifest) != manifest_text(run.manifest):
            raise ResultsError("(its content differs from what was written)")
    except ResultsError as error:
        damaged(manifest, _why(error) if manifest.exists() else "missing")
        # Nothing says what its other files should be.
        return {path for path in folder.iterdir() if path.is_file()}
    for name in run.manifest["files"]:
        found.files += 1
        try:
            run.check(name)
        except ResultsError as error:
            damaged(folder / name, _why(error))
    return {manifest, *(folder / name for name in run.manifest["files"])}


def _why(message: object) -> str:
    """What a message about a damaged file has in parentheses."""
    text = str(message)
    return text.partition("(")[2].partition("); ")[0].removesuffix(")") or text.partition(": ")[2]


def _log_of_runs(path: Path, found: Verified, advance: Callable[[int], None]) -> None:
    """Compares the lines of a log of runs; a last one without an end was being written when its command was killed."""
    found.files += 1
    try:
        damaged = []
        stored = found.stored.setdefault(path.parent, set())
        for line, text in records.lines(path):
            if records.is_whole(text):
                stored.update(records.ids_of(text))
            else:
                damaged.append(line)
                stored.update(records.ids_in(text))
            advance(line.end)
    except OSError as error:
        found.damaged.append(Damage(path, error.strerror or str(error), RUN, path))
        return
    for line in damaged:
        found.damaged.append(Damage(path, _why(records.damaged(line)), RUN, path))


def _summed(folder: Path, names: list[str], found: Verified) -> set[Path]:
    """Compares a folder with its ``SHA256SUMS``."""
    kind = EXPERIMENT if CLAIMS in names else FOLDER
    own = folder / sums.SUMS
    try:
        listed = sums.read_sums(folder)
    except ResultsError as error:
        found.files += 1
        found.damaged.append(Damage(own, _why(error), kind, folder))
        return {folder / name for name in names}
    if listed is None:
        return set()
    found.files += 1
    kind = EXPERIMENT if CLAIMS in listed.files else FOLDER
    digests = listed.files if listed.ours else {name: listed.files[name] for name in names if name in listed.files}
    for name, digest in digests.items():
        found.files += 1
        if (now := sums.of_file(folder / name)) != digest:
            why = "missing or unreadable" if now is None else f"differs from {sums.SUMS}"
            found.damaged.append(Damage(folder / name, why, kind, folder))
    if _is_of_search(folder) and SEARCH_LOG not in names:
        found.damaged.append(Damage(folder / SEARCH_LOG, "missing", FILE, folder))
    return {own, *(folder / name for name in digests)}


def _is_of_search(folder: Path) -> bool:
    """Whether this is the folder of one search; its log grows with each batch, so the folder's digests leave it out."""
    return folder.parent.name in (FITS, STUDIES)


def _alone(path: Path, found: Verified) -> None:
    """Compares a file that carries its own digest; notes any other as unchecked."""
    check = _check_of(path)
    if check is None:
        found.unchecked.append(path)
        return
    try:
        if check(read(path)):
            found.files += 1
        else:
            found.unchecked.append(path)
    except (OSError, ValueError) as error:
        found.files += 1
        why = getattr(error, "strerror", None) or str(error)
        found.damaged.append(Damage(path, why, FILE, path.parent))


def _check_of(path: Path) -> Callable[[bytes], bool] | None:
    """What compares a file with the digest in it; it returns whether there is one."""
    above = path.parent.name
    if above == FAILURES and path.suffix == ".json":
        return lambda content: _json(content, failures.text_of, lambda value: path.stem == value["run_id"])
    if above == FITS and path.name == HELD_OUT:
        return lambda content: _json(content, as_json, lambda _: True)
    if _is_of_search(path.parent) and path.name == SEARCH_LOG:
        return lambda content: search_log.check(content, path.parent.name)
    return None


def _json(content: bytes, text_of: Callable[[object], bytes], is_here: Callable[[dict[str, Any]], bool]) -> bool:
    value = sums.loaded(content)
    if isinstance(value, list):
        return False
    sums.unsealed(value)
    if text_of(value) != content:
        raise ValueError("its content differs from what was written")
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        if is_here(value):
            return True
    raise ValueError(ELSEWHERE)

"""Files and folders that are written atomically, and that are on disk before anything relies on them.

Unfinished files and folders have a temporary name in the same folder and are renamed when complete. A folder to be
replaced is renamed for that moment, and is restored by the next process if the replacement never came.
"""

from __future__ import annotations

import contextlib
import errno
import filecmp
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from fanin.errors import ResultsError

_TEMPORARY = ".tmp-"
_ASIDE = "-instead-of-"
"""Part of the name of a folder that is being replaced, before its former name."""
_STALE_SECONDS = 3600.0


_OF_THE_PROCESS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Errors that another place would not fix."""


@contextmanager
def writing(place: Path, option: str = "--out") -> Iterator[None]:
    """Turns a failure to write into an error that names the path and the option for another one."""
    try:
        yield
    except OSError as error:
        named = str(error.filename or "")
        # On a full disk no file is to blame.
        where = Path(named) if named and _TEMPORARY not in named and error.errno != errno.ENOSPC else place
        if error.errno in _OF_THE_PROCESS or not _are_together(where, place):
            raise ResultsError(f"{where}: {error.strerror or error}") from None
        other = f"choose another place with {option}"
        hint = f"free some space, or {other}" if error.errno == errno.ENOSPC else other
        raise ResultsError(f"{where}: cannot write results: {error.strerror or error}; {hint}") from None


def _are_together(one: Path, other: Path) -> bool:
    """Whether a path is inside the other, however these lead there."""
    real, place = Path(os.path.realpath(one)), Path(os.path.realpath(other))
    return real.is_relative_to(place) or place.is_relative_to(real)


def sync(path: Path) -> None:
    """Flushes a file, or the names in a folder, to disk before anything relies on it: machines lose power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def beside(path: Path) -> Path:
    """A unique name in the same folder, which tells its process."""
    return path.with_name(f"{_TEMPORARY}{_machine()}.{os.getpid()}.{_begun(os.getpid())}.{uuid.uuid4().hex}")


@cache
def _machine() -> str:
    """What process ids are unique within until it is started again: this machine, or this container."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return hashlib.sha256(f"{boot} {Path('/proc/self/ns/pid').readlink()}".encode()).hexdigest()[:12]
    return "unknown"


def _begun(process: int) -> str:
    """When a process began, in ticks since the machine was started; empty if there is no such process."""
    with contextlib.suppress(OSError):
        # The name of the program, in parentheses, may contain anything.
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    return ""


def _is_abandoned(leftover: Path) -> bool:
    """Whether no process can still be writing it: its process has ended, or, if that is unknown, it is old."""
    match leftover.name.removeprefix(_TEMPORARY).split("."):
        case [machine, process, begun, _] if machine == _machine() != "unknown" and process.isdigit():
            return _begun(int(process)) != begun
    return time.time() - leftover.stat().st_mtime > _STALE_SECONDS


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file under a temporary name and renames it: a killed writer leaves the old file or the new one."""
    with _replacing_file(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file to write and close, which then replaces ``path``; on an error the old file stays.

    Links stay links. Devices and pipes are written directly, as the user has named them.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    with _replacing_file(path) as temporary:
        yield temporary


@contextmanager
def _replacing_file(path: Path) -> Iterator[Path]:
    real = Path(os.path.realpath(path))
    # A link to a device is replaced itself.
    path = real if real.is_file() or not real.exists() else path
    temporary = beside(path)
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing(final: Path) -> Iterator[Path]:
    """A folder to write into, which replaces ``final`` once it is complete; on an error the old folder stays.

    A file that already has the same bytes is left untouched.
    """
    temporary = beside(final)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        if not _equal(temporary, final):
            for path in (*temporary.rglob("*"), temporary):
                sync(path)
            _replace_folder(temporary, final)
            sync(final.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def whole_folder(final: Path, option: str = "--out") -> Iterator[Path]:
    """As :func:`replacing`, but first cleans up after killed writers.

    Args:
        final: The folder.
        option: The option for another path.

    Raises:
        ResultsError: the folder cannot be written.

    """
    with writing(final, option), replacing(final) as temporary:
        tidy(final.parent)
        yield temporary


@contextmanager
def filling(final: Path, earlier: Iterable[str] = ()) -> Iterator[Path]:
    """A folder to write files into, which then replace those in ``final``; its other files and folders stay.

    The files are renamed one by one in the order of their names.

    Args:
        final: The folder.
        earlier: Files that an earlier command may have written, which are removed if this one does not write them.

    """
    final.mkdir(parents=True, exist_ok=True)
    tidy(final)
    temporary = beside(final / "new")
    try:
        temporary.mkdir()
        yield temporary
        names = sorted(path.name for path in temporary.iterdir())
        # Not synchronised one by one: the same command makes again what a power failure takes.
        for name in names:
            (temporary / name).replace(final / name)
        for name in set(earlier) - set(names):
            (final / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Writes files into a folder as :func:`filling` does, and returns their paths.

    Raises:
        ResultsError: the folder cannot be written.

    """
    with writing(folder), filling(folder) as temporary:
        for name, content in files.items():
            (temporary / name).write_bytes(content)
    return [folder / name for name in files]


def tidy(folder: Path) -> None:
    """Restores the folders that killed writers were replacing, and removes their other leftovers."""
    for leftover in folder.glob(f"{_TEMPORARY}*"):
        name = leftover.name.partition(_ASIDE)[2]
        # Another process may be cleaning up at the same time.
        with contextlib.suppress(OSError):
            if name and not (folder / name).exists():
                leftover.rename(folder / name)
            elif _is_abandoned(leftover):
                if leftover.is_dir():
                    _discard(leftover)
                else:
                    leftover.unlink()


def _discard(folder: Path) -> None:
    """Removes a folder, if there is one, under another name, so that a partial folder is never restored."""
    doomed = beside(folder)
    with contextlib.suppress(FileNotFoundError):
        folder.rename(doomed)
    if doomed.is_symlink():
        doomed.unlink()
    shutil.rmtree(doomed, ignore_errors=True)


def _equal(folder: Path, other: Path) -> bool:
    """Whether two folders have the same files with the same content."""
    names = [set(_names(each)) for each in (folder, other)]
    files = [name for name in names[0] if (folder / name).is_file()]
    if not files or names[0] != names[1]:
        return False
    # Another process may move it at any moment.
    with contextlib.suppress(FileNotFoundError):
        return all(filecmp.cmp(folder / name, other / name, shallow=False) for name in files)
    return False


def _names(folder: Path) -> Iterator[Path]:
    """What is in a folder, by relative paths."""
    yield from (path.relative_to(folder) for path in folder.rglob("*"))


def _replace_folder(temporary: Path, final: Path) -> None:
    """Renames a folder to ``final``; an old folder of that name is renamed first."""
    aside = temporary.with_name(f"{temporary.name}{_ASIDE}{final.name}")
    while True:
        # Another process may create or move it at any moment.
        with contextlib.suppress(FileNotFoundError):
            final.rename(aside)
        try:
            temporary.rename(final)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                _discard(aside)
                continue
            with contextlib.suppress(FileNotFoundError):
                aside.rename(final)
            raise
        _discard(aside)
        return

"""Which files of a results folder are opened: regular ones of a bounded size that are really inside it.

A folder from somebody else may have links to other places, pipes and devices that never end, and files as large as
the disk. Whatever is read from a results folder is opened by :func:`opened`. For a server, :class:`Folder` also refuses
links that lead out; other commands refuse a folder with such links (:func:`fanin.results.files.refuse_links_out`).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from io import BufferedReader, FileIO
from pathlib import Path

from fanin.errors import ResultsError
from fanin.names import is_run_id
from fanin.results.layout import RUNS
from fanin.results.walk import walk

MOST_JSON = 64 << 20
"""Bytes of a manifest or of another record that is read as a whole."""

MOST_TABLE = 1 << 30
"""Bytes of a table or of captured packets."""

MOST_LOG = 64 << 30
"""Bytes of a log of runs, which is read line by line."""

_BUFFER = 1 << 20
"""Lines of many seeds have hundreds of kilobytes."""


Most = int | Callable[[], float]
"""Bytes that a file may have; a function is asked only about a large one."""


def opened(path: Path, most: Most = MOST_TABLE, *, links: bool = True) -> BufferedReader:
    """A file of a results folder.

    Args:
        path: The file.
        most: Bytes that it may have.
        links: Whether it may be a link.

    Raises:
        OSError: it is missing, no regular file, or too large.

    """
    # A pipe without a writer would wait for one.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW))
    try:
        _refuse(os.fstat(descriptor), path, most)
        return BufferedReader(FileIO(descriptor, "rb"), _BUFFER)
    except BaseException:
        os.close(descriptor)
        raise


def read(path: Path, most: Most = MOST_TABLE) -> bytes:
    """The content of a file of a results folder.

    Raises:
        OSError: as for :func:`opened`.

    """
    with opened(path, most) as stream:
        return stream.read()


def _refuse(found: os.stat_result, path: Path, most: Most) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not opened, as it is not a regular file", str(path))
    if found.st_size > MOST_JSON and found.st_size > (limit := most() if callable(most) else most):
        why = f"not opened, as it has {found.st_size:,} bytes; {limit:,.0f} are read at most"
        raise OSError(errno.EFBIG, why, str(path))


class Folder:
    """A results folder."""

    def __init__(self, root: Path) -> None:
        """Opens it.

        Raises:
            ResultsError: it is not a folder.

        """
        if not root.is_dir():
            raise ResultsError(f"{root}: no such folder; run something first, or choose another with --out")
        self.root = Path(os.path.realpath(root))
        self.runs = self.root / RUNS

    def file(self, path: Path, most: int) -> Path:
        """The path, if it may be opened.

        Raises:
            ResultsError: it is missing, leads out of the folder, is no regular file, or is too large.

        """
        try:
            _refuse(self._inside(path), path, most)
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror}") from None
        return path

    def folder(self, path: Path) -> Path:
        """The path, if it is a folder inside this one.

        Raises:
            ResultsError: it is not.

        """
        if not stat.S_ISDIR(self._inside(path).st_mode):
            raise ResultsError(f"{path}: not a folder")
        return path

    def _inside(self, path: Path) -> os.stat_result:
        # A loop of links and a name that is too long are errors of the system.
        try:
            real = Path(os.path.realpath(path, strict=True))
            if not real.is_relative_to(self.root):
                raise ResultsError(f"{path}: not opened, as it leads out of the results folder")
            return real.stat()
        except (OSError, ValueError) as error:
            raise ResultsError(f"{path}: {getattr(error, 'strerror', None) or 'cannot be opened'}") from None

    def strange(self) -> Iterator[str]:
        """What is wrong with files outside the folders of runs; nothing if all of them may be opened.

        The ledger reads many of these files, so it is asked for all of them at once.
        """
        for here, inner, others in walk(self.root):
            for each in inner:
                if each.is_symlink():
                    yield from self._wrong(Path(each.path), is_folder=True)
            inner[:] = [each for each in inner if not (here == self.runs and is_run_id(each.name))]
            for each in others:
                yield from self._wrong(Path(each.path), is_folder=False)

    def _wrong(self, path: Path, *, is_folder: bool) -> Iterator[str]:
        try:
            if is_folder:
                self.folder(path)
            else:
                self.file(path, MOST_LOG if path.parent == self.runs else MOST_TABLE)
        except ResultsError as error:
            yield str(error)

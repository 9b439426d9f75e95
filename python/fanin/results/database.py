"""The SQLite file of a results folder: its tables, its connection, and what its errors mean.

Threads of a command share the connection of a :class:`Database`, one at a time. Another process opens its own.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fanin.errors import ResultsError
from fanin.results.files import writing

FILE = "fanin.db"

_PATIENCE_S = 60.0
"""For so long a command waits for the transaction of another one."""

_VERSION = 1
"""That of the tables; increased whenever they change."""

_SCHEMA = """
CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    experiment TEXT NOT NULL,
    scheme TEXT, topology TEXT, traffic TEXT, senders INTEGER, bytes_each TEXT, rate TEXT, buffer TEXT,
    seed,
    finished TEXT NOT NULL,
    engine TEXT NOT NULL,
    scenario TEXT,
    totals TEXT NOT NULL,
    measured TEXT,
    made TEXT NOT NULL,
    sha256 TEXT NOT NULL
);
CREATE TABLE tables (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (run, name)
);
CREATE TABLE failures (
    id TEXT NOT NULL PRIMARY KEY,
    experiment TEXT NOT NULL,
    seed NOT NULL,
    settings TEXT NOT NULL,
    error TEXT NOT NULL,
    scenario TEXT NOT NULL,
    engine TEXT NOT NULL,
    failed TEXT NOT NULL
);
"""

LISTED = (
    "goodput_bps", "fct_p50_s", "fct_p99_s", "query_p99_s", "flows", "completed", "incomplete", "drops", "timeouts",
    "marks",
)  # fmt: skip
"""Totals that the view has as columns."""

_TEXTS = ("scheme", "topology", "traffic", "bytes_each", "rate", "buffer")
"""Columns of text that a measurement lacks."""

_VIEW = (
    # A seed that SQLite has as text is none of its numbers.
    "CREATE VIEW list AS SELECT id AS run_id, experiment, senders, iif(typeof(seed) = 'integer', seed, NULL) AS seed, "
    + "".join(f"ifnull({name}, '') AS {name}, " for name in _TEXTS)
    + "".join(f"json_extract(totals, '$.{name}') AS {name}, " for name in LISTED)
    + "finished FROM runs"
)


class Database:
    """The SQLite file of a results folder. It is opened on first use, and created when something is first written."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._place: tuple[int, int] | None = None
        """The file's device and inode, since something was written to it."""

    def __del__(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._disconnect()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """The connection, for nobody else meanwhile; none if there is no file.

        Raises:
            ResultsError: it cannot be read.

        """
        with self._lock, self._explaining_errors():
            if self._connection is not None or not self.path.exists():
                yield self._connection
            elif os.access(self.path.parent, os.W_OK):
                self._connect("rw")
                yield self._connection
            else:
                yield from self._read_only()

    def _read_only(self) -> Iterator[sqlite3.Connection | None]:
        """The connection where this process can write nothing, for one reading: others may begin to write after it."""
        # At rest the log is gone, and SQLite opens the file only if it need not make one. While others write, the log
        # has what is new.
        self._connect("ro" if self.path.with_name(f"{FILE}-wal").exists() else "ro&immutable=1")
        try:
            yield self._connection
        finally:
            self._disconnect()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection, in a transaction: all of it is there in the end, or nothing.

        Raises:
            ResultsError: it cannot be written.

        """
        with self._lock, writing(self.path.parent), self._explaining_errors():
            if self._connection is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._connect("rwc")
            assert self._connection is not None
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # Some errors, such as a full disk, have ended the transaction.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            if self._place is None:
                self._place = self._found()

    def close(self) -> None:
        """Disconnects, with all that was written on the disk; the next use connects again.

        Raises:
            ResultsError: somebody has removed the file meanwhile.

        """
        with self._lock, self._explaining_errors():
            self._disconnect()
            written, self._place = self._place, None
            if written is not None and written != self._found():
                raise ResultsError(f"{self.path}: removed while it was written; run the same command again")

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _found(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            about = self.path.stat()
            return about.st_dev, about.st_ino
        return None

    def _connect(self, mode: str) -> None:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        found: sqlite3.Connection | None = sqlite3.connect(
            address, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False, uri=True
        )
        assert found is not None
        try:
            if mode == "rwc":
                _prepare(found, self.path)
            version = found.execute("PRAGMA user_version").fetchone()[0]
            if version == _VERSION:
                found.execute("PRAGMA foreign_keys = ON")
                # A power failure may take the last transactions, but never a part of one.
                found.execute("PRAGMA synchronous = NORMAL")
                found.row_factory = sqlite3.Row
                self._connection, found = found, None
            elif version:
                raise ResultsError(f"{self.path}: written by another version of fanin; {_ELSEWHERE}")
        finally:
            # Without a version, another command is just making it.
            if found is not None:
                found.close()

    @contextmanager
    def _explaining_errors(self) -> Iterator[None]:
        """Turns errors of SQLite into one that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise ResultsError(f"{self.path}: {_meaning(error, self.path)}") from None


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Makes the tables of a new file, unless another command is just doing so."""
    _use_wal(connection, path)
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        for statement in (*_SCHEMA.split(";\n"), _VIEW, f"PRAGMA user_version = {_VERSION}"):
            connection.execute(statement)
    connection.execute("COMMIT")


def _use_wal(connection: sqlite3.Connection, path: Path) -> None:
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            # For this alone SQLite does not wait itself.
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_S)
            continue
        if mode != "wal":
            raise ResultsError(f"{path}: {_NO_LOCKS}")
        return


_AGAIN_S = 0.01

_ELSEWHERE = "choose another place with --out"
_NO_LOCKS = f"this file system lacks the locks that the store needs; {_ELSEWHERE}"


def _meaning(error: sqlite3.Error, path: Path) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_BUSY"):
        return "another command has been writing for a minute; run the same command again"
    if name.startswith(("SQLITE_IOERR_LOCK", "SQLITE_IOERR_SHM", "SQLITE_PROTOCOL")):
        return _NO_LOCKS
    if name == "SQLITE_FULL":
        return f"cannot write results: no space is left; free some space, or {_ELSEWHERE}"
    if name == "SQLITE_TOOBIG":
        return "a table has more than 1 GB, which is not stored; record less"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return f"damaged ({error}); delete it and run the same commands again, or try sqlite3 {path} .recover"
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR")):
        return f"cannot write results: {error}; {_ELSEWHERE}"
    return str(error)

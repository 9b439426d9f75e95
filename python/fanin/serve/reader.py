"""Tables are read in a process of their own, whose memory and time are bounded.

A table from somebody else may be made so that its few bytes become more than the machine has. That process is started
with the first table and answers one request after another; if it dies or takes too long, only that request fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import resource
import selectors
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanin.errors import FaninError, ResultsError
from fanin.later import LEAST, pl
from fanin.numbers.summary import column, table_names
from fanin.registry import registry
from fanin.results import sums, tables
from fanin.results.free_memory import SHARE, available
from fanin.results.store import StoredRun, read_table

MEMORY = 4 << 30
"""Bytes of address space of the process."""

SECONDS = 60.0
"""For one request."""

PATIENCE = 300.0
"""Seconds for a table that a command was asked to read."""

_ANSWER = 2 << 30
"""Bytes of an answer."""

_LOOK_S = 0.1
"""Seconds after which the end looks again for a process to end."""

MOST_ROWS = 1_000_000
"""Rows of a table as JSON."""


@dataclass(frozen=True)
class Request:
    """Tables of a run, or of a folder of an experiment or a sweep."""

    source: StoredRun | Path
    """The run, or the folder."""
    files: tuple[str, ...]
    """Files of the tables."""
    csv: bool = False
    """Whether the answer is CSV, of one table; otherwise it is an array in JSON."""
    offset: int = 0
    limit: int = MOST_ROWS


class Reader:
    """The process that reads tables."""

    def __init__(self, memory: int = MEMORY, seconds: float = SECONDS) -> None:
        self._memory, self._seconds = memory, seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._folder = tempfile.TemporaryDirectory(prefix="fanin-serve-", ignore_cleanup_errors=True)

    def read(self, request: Request) -> Path:
        """A file with the answer, which the caller removes.

        Raises:
            ResultsError: a table is damaged, or takes too much memory or time.

        """
        descriptor, name = tempfile.mkstemp(dir=self._folder.name)
        os.close(descriptor)
        answer = Path(name)
        try:
            with self._lock:
                error = self._asked(request, answer)
        except BaseException:
            answer.unlink(missing_ok=True)
            raise
        if error is not None:
            answer.unlink(missing_ok=True)
            raise ResultsError(error)
        return answer

    def close(self) -> None:
        """Ends the process; requests in progress fail at once."""
        self._closed = True
        while not self._lock.acquire(timeout=_LOOK_S):
            if (process := self._process) is not None:
                process.kill()
        try:
            self._end()
        finally:
            self._lock.release()
        self._folder.cleanup()

    def _asked(self, request: Request, answer: Path) -> str | None:
        """Sends a request; returns what went wrong, if anything."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((request, answer), process.stdin)
            process.stdin.flush()
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                if not selector.select(self._seconds):
                    self._end()
                    return f"the table was not read within {self._seconds:.0f} s"
            # JSON, as what has read a stranger's table is not trusted with more.
            said: str | None = json.loads(process.stdout.readline())
        except (OSError, ValueError):
            self._end()
            return f"the table cannot be read within {self._memory >> 20:,} MiB of memory"
        return said

    def _started(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise ResultsError("the server has ended")
        if self._process is None or self._process.poll() is not None:
            paths = os.pathsep.join(path for path in sys.path if path)
            # Each thread of Polars has memory of its own.
            environment = os.environ | {"PYTHONPATH": paths, "TMPDIR": self._folder.name, "POLARS_MAX_THREADS": "1"}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "fanin.serve.reader", str(self._memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                # Ctrl-C of a terminal reaches only the server.
                start_new_session=True,
            )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def refuse_large(files: Iterable[Path]) -> None:
    """Reads tables once in that process, before a command reads them in its own.

    Raises:
        ResultsError: one is damaged, does not fit in the free memory, or takes too long.

    """
    with closing(Reader(int(max(LEAST, SHARE * available())), PATIENCE)) as reader:
        for file in files:
            try:
                reader.read(Request(file.parent, (file.name,), limit=0)).unlink()
            except ResultsError as error:
                said = str(error)
                raise ResultsError(said if said.startswith(str(file)) else f"{file}: {said}") from None


def _answer_all(memory: int) -> None:
    """The other side: answers requests until stdin is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_ANSWER, _ANSWER))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies, sys.stdout = sys.stdout, sys.stderr
    while True:
        try:
            request, answer = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        error = _answered(request, answer)
        replies.write(json.dumps(error) + "\n")
        replies.flush()


def _answered(request: Request, answer: Path) -> str | None:
    try:
        with answer.open("wb") as out:
            if request.csv:
                out.writelines(part.encode(errors="replace") for part in _csv(request))
            else:
                out.write(json.dumps([_columns(request, file) for file in request.files], allow_nan=False).encode())
    except FaninError as error:
        return str(error)
    except MemoryError:
        return "the table does not fit into the memory that reading it may take"
    except Exception as error:  # whatever a stranger's table makes Polars say
        return f"{request.files[0]}: not a table of fanin ({type(error).__name__})"
    return None


def _read(request: Request, file: str) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """A table, and what its columns are."""
    source = request.source
    if not isinstance(source, StoredRun):
        path = source / file
        if path.suffix == ".csv":
            frame = pl.read_csv(sums.read_bytes(path), infer_schema_length=None)
            return frame, [{"name": name, "unit": "", "description": ""} for name in frame.columns]
        return read_table(path), tables.describe(path)["columns"]
    frame = source.table(file.removesuffix(".parquet"))
    if source.line is None:
        return frame, tables.describe(source.folder / file)["columns"]
    with tempfile.NamedTemporaryFile(suffix=".parquet") as copy:
        copy.write(source.content(file))
        copy.flush()
        return frame, tables.describe(Path(copy.name))["columns"]


def _csv(request: Request) -> Iterator[str]:
    frame, described = _read(request, request.files[0])
    return tables.csv_parts(frame, [each["unit"] for each in described])


def _columns(request: Request, file: str) -> dict[str, Any]:
    """A table as the page has it: numbers with null where there is none, and texts as places in a list of names."""
    frame, described = _read(request, file)
    name = Path(file).stem
    shown = frame.slice(request.offset, request.limit)
    about = {each["name"]: each for each in described}
    columns = [
        {
            "name": each.name,
            "unit": about.get(each.name, {}).get("unit", ""),
            "description": about.get(each.name, {}).get("description", ""),
            "label": _label(name, each.name),
            **_values(each),
        }
        for each in shown.iter_columns()
    ]
    told = {each["name"]: each["description"] for each in registry()["tables"]}.get(name, "")
    counts = {"rows": shown.height, "of": frame.height, "offset": request.offset}
    return {"name": name, "description": told, **counts, "columns": columns}


def _label(table: str, name: str) -> str:
    return column(f"{table}.{name}" if table in table_names() else name).label


def _values(series: pl.Series) -> dict[str, Any]:
    if series.dtype == pl.Boolean:
        return {"kind": "bool", "values": series.cast(pl.UInt8).to_list(), "names": []}
    if series.dtype.is_numeric():
        numbers = series.cast(pl.Float64)
        finite = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
        return {"kind": "number", "values": finite.to_list(), "names": []}
    texts = series.cast(pl.String)
    names = texts.drop_nulls().unique(maintain_order=True)
    places = {text: place for place, text in enumerate(names)}
    return {"kind": "label", "values": [places.get(text) for text in texts], "names": names.to_list()}


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        _answer_all(int(sys.argv[1]))

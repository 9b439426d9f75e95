"""What the API tells of a results folder; only names from its own lists are looked up."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fanin.claims import ledger, record
from fanin.claims.record import Record
from fanin.claims.standing import Standing
from fanin.errors import ResultsError
from fanin.numbers import summary
from fanin.results.dataset import Head, read_head
from fanin.results.layout import FAILED, HEAD, ROWS, SWEEPS
from fanin.results.store import CAPTURE, Store, StoredRun
from fanin.results.tables import Table
from fanin.scenario.toml_text import to_toml
from fanin.serve.answers import ProblemError
from fanin.serve.listing import COLUMNS, listed


class Results:
    """A results folder."""

    def __init__(self, root: Path) -> None:
        """Opens it.

        Raises:
            ResultsError: it is not a folder.

        """
        if not root.is_dir():
            raise ResultsError(f"{root}: no such folder; run something first, or choose another with --out")
        self.root = root.resolve()
        self.store = Store(self.root)
        self._lock = threading.Lock()

    def runs(self, search: str, sort: str, *, descending: bool, offset: int, limit: int) -> dict[str, Any]:
        """A part of the list of runs."""
        total, found, rows = listed(self.store, search, sort, descending=descending, offset=offset, limit=limit)
        columns = [_column(name) for name in COLUMNS]
        return {"total": total, "found": found, "offset": offset, "columns": columns, "runs": rows}

    def stored(self, name: str) -> StoredRun:
        """A run."""
        if not self.store.rows("SELECT 1 FROM runs WHERE id = ?", name):
            raise _missing("run", name)
        return self.store.read(name)

    def run(self, name: str) -> dict[str, Any]:
        """What is known of a run."""
        run = self.stored(name)
        totals = [{"topic": topic, "label": label, "value": value} for topic, label, value in summary.rows(run.summary)]
        known = {"run_id": name, "manifest": run.manifest, "totals": totals, "tables": run.tables}
        return {**known, "capture": CAPTURE in run.sizes}

    def scenario(self, name: str) -> str:
        """The resolved scenario of a run, as TOML; that of a program that was measured does not exist."""
        scenario = self.stored(name).scenario
        if not scenario:
            raise _missing("scenario", name)
        return to_toml(scenario)

    def of_run(self, name: str, table: str) -> Table:
        """A table of a run."""
        run = self.stored(name)
        if table not in run.tables:
            raise _missing("table", table)
        return Table(table, run)

    def capture(self, name: str) -> bytes:
        """The captured packets of a run."""
        run = self.stored(name)
        if CAPTURE not in run.sizes:
            raise _missing("captured packets of run", name)
        return run.content(CAPTURE)

    def sweeps(self) -> dict[str, Any]:
        """All sweeps."""
        found: list[dict[str, Any]] = []
        damaged: dict[str, str] = {}
        for name in self._names_of_sweeps():
            try:
                found.append(asdict(self._head(name)))
            except ResultsError as error:
                damaged[name] = str(error)
        return {"sweeps": found, "damaged": _damaged(damaged)}

    def sweep(self, name: str) -> dict[str, Any]:
        """A sweep with its failed runs."""
        head = self._head(self._sweep(name))
        failed = self.root / SWEEPS / name / FAILED
        return {
            **asdict(head),
            "tables": ["runs", "summary"],
            "failed": json.loads(failed.read_bytes()) if failed.exists() else [],
        }

    def of_sweep(self, name: str, table: str) -> Table:
        """A table of a sweep."""
        folder = self.root / SWEEPS / self._sweep(name)
        if table not in ("runs", "summary"):
            raise _missing("table", table)
        return Table(table, path=folder / f"{table}.parquet")

    def _names_of_sweeps(self) -> list[str]:
        return sorted(path.parent.name for path in (self.root / SWEEPS).glob(f"[!.]*/{HEAD}"))

    def _sweep(self, name: str) -> str:
        if name not in self._names_of_sweeps():
            raise _missing("sweep", name)
        return name

    def _head(self, name: str) -> Head:
        return read_head(self.root / SWEEPS / name)

    def experiments(self) -> list[dict[str, Any]]:
        """The state of every experiment, and whether its data are here."""
        return [each.as_dict() | {"recorded": each.judged} for each in self._standings()]

    def experiment(self, name: str) -> dict[str, Any]:
        """The record of an experiment."""
        found = self._record(name)
        tables = ["runs", *(plot.name for plot in found.plots if f"{plot.name}.csv" in plot.files)]
        return {**found.model_dump(mode="json"), "tables": tables}

    def of_experiment(self, name: str, table: str) -> Table:
        """A table of an experiment: that of its runs, or the data of a plot."""
        plots = [plot.name for plot in self._record(name).plots if f"{plot.name}.csv" in plot.files]
        if table == "runs":
            return Table(table, path=self.root / name / ROWS)
        if table not in plots:
            raise _missing("table", table)
        return Table(table, path=self.root / name / f"{table}.csv")

    def _record(self, name: str) -> Record:
        found = record.read(self.root / name) if name in ledger.recorded(self.root) else None
        if found is None:
            raise _missing("experiment with results", name)
        return found

    def claims(self, paper: str | None, verdict: str | None, search: str, offset: int, limit: int) -> dict[str, Any]:
        """A part of the ledger."""
        every = [claim for each in ledger.chosen(self._standings(), paper) for claim in each.claims]
        words = search.lower().split()
        found = [
            claim
            for claim in every
            if verdict in (None, claim.verdict)
            and all(word in f"{claim.id} {claim.says} {claim.verdict}".lower() for word in words)
        ]
        shown = [claim.as_dict() for claim in found[offset : offset + limit]]
        return {"total": len(every), "found": len(found), "offset": offset, "claims": shown}

    def _standings(self) -> list[Standing]:
        with self._lock:
            return ledger.standings(self.root)


def _missing(what: str, name: str) -> ProblemError:
    return ProblemError(404, "Not found", f"there is no {what} {name[:100]}")


def _column(name: str) -> dict[str, str]:
    info = summary.column(name)
    label = info.label if info.label != name else name.replace("_", " ").capitalize()
    unit = "1" if name == "senders" else info.unit
    return {"name": name, "label": label, "definition": info.definition, "unit": unit}


def _damaged(found: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "why": why} for name, why in found.items()]

"""One finished run, and tables of runs."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fanin import _engine
from fanin.errors import ResultsError
from fanin.later import pl
from fanin.numbers.summary import format_value, group_rows, rows
from fanin.results.frames import decode
from fanin.results.store import StoredRun
from fanin.scenario.settings import override


@dataclass(frozen=True)
class Run:
    """One finished run, in memory or in the store."""

    run_id: str
    """The name of the run, the same wherever it is made."""
    summary: dict[str, Any]
    """Its totals, as ``fanin run --json`` prints them."""
    stored: StoredRun | None = None
    output: _engine.RunOutput | None = None
    # The scenario of a run that is not stored.
    resolved: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def table(self, name: str) -> pl.DataFrame:
        """A result table by name.

        Raises:
            ResultsError: the run has no such table, did not record it, or the stored file is damaged.

        """
        from fanin.scenario.checks import ASKED_FOR

        key, off = ASKED_FOR.get(name, ("", ""))
        if key and self.scenario.get("measure", {}).get(key) == off:
            raise ResultsError(
                f"the run did not record {name}: it needs measure.{key}, which is {off} (fanin explain measure.{key})"
            )
        if self.output is None:
            assert self.stored is not None
            return self.stored.table(name)
        if name not in self.output.table_names:
            raise ResultsError(f"no table {name}; this run has {', '.join(self.output.table_names)}")
        return decode(self.output.columns(name))

    @property
    def scenario(self) -> Mapping[str, Any]:
        """Its scenario with every default filled in."""
        return self.resolved if self.stored is None else self.stored.scenario

    def flows(self) -> pl.DataFrame:
        """One row per flow: size, start, completion, losses and timeouts."""
        return self.table("flows")

    def queues(self) -> pl.DataFrame:
        """One row per queue: backlog, drops and marks."""
        return self.table("queues")

    def links(self) -> pl.DataFrame:
        """One row per link: packets, bytes and utilisation."""
        return self.table("links")

    def probes(self) -> pl.DataFrame:
        """State of the senders, one row per change."""
        return self.table("probes")

    def requests(self) -> pl.DataFrame:
        """One row per query: fan-in, start and completion."""
        return self.table("requests")

    def __repr__(self) -> str:
        goodput = format_value("goodput_bps", self.summary.get("goodput_bps"))
        return f"<Run {self.run_id}: {self.summary.get('flows')} flows, goodput {goodput}>"

    def _repr_html_(self) -> str:
        header, groups = group_rows(self.summary)
        shown = html_table(f"Run {self.run_id}", ("", "", "value"), rows(self.summary))
        return shown + (html_table("Traffic groups", header, groups) if groups else "")


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A small HTML table for notebooks."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def frame_of(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """A table of rows; missing values are null, and a column of several types is text."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    data = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values if value is not None} - {int}
        mixed = len(kinds) > 1 or (kinds and kinds <= {str, bool} and any(type(value) is int for value in values))
        data[name] = [None if value is None else override(value) for value in values] if mixed else values
    return pl.DataFrame(data, infer_schema_length=None, strict=False)

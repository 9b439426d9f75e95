"""The list of stored runs, which SQL searches and sorts."""

from __future__ import annotations

from typing import Any

from fanin.results.database import LISTED
from fanin.results.store import CAPTURE, Store

_TEXTS = ("run_id", "experiment", "scheme", "topology", "traffic", "bytes_each", "rate", "buffer", "finished")
"""Columns of text, which a search looks through."""

COLUMNS = (
    "run_id", "experiment", "scheme", "topology", "traffic", "senders", "bytes_each", "rate", "buffer", "seed", *LISTED,
    "finished",
)  # fmt: skip
"""Columns in the order of the list, by each of which it can be sorted."""

Row = dict[str, Any]


def listed(
    store: Store, search: str, sort: str, *, descending: bool, offset: int, limit: int
) -> tuple[int, int, list[Row]]:
    """A part of the runs that have every word of a search.

    Args:
        store: The runs.
        search: Words, separated by spaces.
        sort: One of :data:`COLUMNS`; runs without a value come last.
        descending: Whether the largest comes first.
        offset: How many of those found are left out.
        limit: How many are returned at most.

    Returns:
        The number of all runs, of those found, and the part.

    """
    assert sort in COLUMNS
    words = search.lower().split()
    text = " || ' ' || ".join(f"coalesce({name}, '')" for name in _TEXTS)
    where = " AND ".join(["1", *[f"instr(lower({text}), ?)"] * len(words)])
    order = f"ifnull({sort}, '') = '', {sort} {'DESC' if descending else 'ASC'}, run_id"
    rows = store.rows(f"SELECT * FROM list WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?", *words, limit, offset)
    return (
        _count(store.rows("SELECT count(*) FROM runs")),
        _count(store.rows(f"SELECT count(*) FROM list WHERE {where}", *words)),
        [_shown(store, dict(row)) for row in rows],
    )


def _count(rows: list[Any]) -> int:
    return int(rows[0][0]) if rows else 0


def _shown(store: Store, row: Row) -> Row:
    kept = [name for (name,) in store.rows("SELECT name FROM tables WHERE run = ? ORDER BY rowid", row["run_id"])]
    return {**row, "tables": [name for name in kept if name != CAPTURE], "capture": CAPTURE in kept}

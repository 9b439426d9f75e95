"""What the columns of a table are of: numbers, texts, or what no table of fanin has."""

from __future__ import annotations

from fanin.later import pl


def of_numbers(kind: pl.DataType) -> bool:
    """Whether a column of that type has numbers, truth values, which count as 0 and 1, or nothing."""
    return kind.is_numeric() or kind in (pl.Boolean, pl.Null)


def of_texts(kind: pl.DataType) -> bool:
    """Whether a column of that type has texts."""
    return kind in (pl.String, pl.Categorical, pl.Enum)

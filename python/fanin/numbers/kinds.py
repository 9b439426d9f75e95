"""What the columns of a table are of: numbers, texts, or what no table of fanin has."""

from __future__ import annotations

from fanin.later import pl


def of_numbers(kind: pl.DataType) -> bool:
    """Whether a column of that type has numbers, truth values, which count as 0 and 1, or nothing."""
    return kind.is_numeric() or kind in (pl.Boolean, pl.Null)


MOST = 1e200
"""No number of a table is as large, but in a stranger's; what is drawn of larger ones overflows."""


def has_too_large(values: pl.Series) -> bool:
    """Whether a column of numbers has a finite one of :data:`MOST` or more."""
    sizes = values.cast(pl.Float64).abs()
    return bool(((sizes >= MOST) & sizes.is_finite()).any())


def of_texts(kind: pl.DataType) -> bool:
    """Whether a column of that type has texts."""
    return kind in (pl.String, pl.Categorical, pl.Enum)

"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fanin.experiment import Settings
from fanin.format.base import expand_seeds

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout instead of text.")]

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Replace a scenario value; may be given several times."),
]

OutOption = Annotated[Path, typer.Option("--out", help="Results folder.")]


def overrides(settings: list[str] | None) -> Settings:
    """The ``--set`` options as pairs of path and value."""
    pairs = []
    for setting in settings or []:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            raise typer.BadParameter(f"{setting!r} is not PATH=VALUE", param_hint="--set")
        pairs.append((path.strip(), value.strip()))
    return pairs


def seeds(text: str | None) -> list[int] | None:
    """The ``--seeds`` option as a list."""
    if text is None:
        return None
    try:
        return expand_seeds([int(part) if part.isdecimal() else part for part in text.split(",")])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--seeds") from None

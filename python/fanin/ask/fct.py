"""Completion times and slowdown of flows: ``fanin describe --slowdown``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fanin.errors import ResultsError, ScenarioWarning
from fanin.later import pl
from fanin.numbers import fct as analysis
from fanin.numbers.fct import DEFINITIONS, Definition
from fanin.results import tables
from fanin.results.runs import Run, frame_of, html_table
from fanin.run.sweep import Runs


@dataclass(frozen=True)
class Slowdowns:
    """Completion times and slowdown of finished flows."""

    definition: Definition
    flows: pl.DataFrame = field(repr=False)
    """The flows, smallest first."""
    of_sizes: list[dict[str, Any]] = field(repr=False)
    of_classes: list[dict[str, Any]] = field(repr=False)

    @property
    def sizes(self) -> pl.DataFrame:
        """A row for each bin of equally many flows, by size."""
        return frame_of(self.of_sizes)

    @property
    def classes(self) -> pl.DataFrame:
        """A row for each class, and one for all flows if there are several."""
        return frame_of(self.of_classes)

    @property
    def cdf(self) -> pl.DataFrame:
        """The distributions of completion time and slowdown, by class and for all flows."""
        return analysis.cdf(self.flows, self.definition)

    def as_dict(self) -> dict[str, Any]:
        """What ``fanin describe --slowdown --json`` prints."""
        about = {"slowdown": self.definition.key, "definition": self.definition.says, "flows": self.flows.height}
        return {**about, "sizes": self.of_sizes, "classes": self.of_classes}

    def _repr_html_(self) -> str:
        title = f"{self.flows.height:,} flows by size: {self.definition.says}"
        return html_table(title, analysis.HEADER, map(analysis.shown, self.of_sizes))


def fct(
    runs: Runs | Run | Path | str | Sequence[Path | str],
    slowdown: Literal["homa", "hpcc"] = "homa",
    *,
    bins: int | None = None,
) -> Slowdowns:
    """Completion times and slowdown by size and by class, as ``fanin describe --slowdown`` shows them.

    Args:
        runs: Runs; or names of runs, sweeps, experiments or tables in a results folder.
        slowdown: Definition of slowdown.
        bins: Number of bins; by default the definition's.

    Raises:
        ValueError: there is no such definition.
        ResultsError: there are no flows, or they are damaged.

    >>> fanin.fct(fanin.Scenario("tour/rack").run(), "hpcc").sizes

    """
    if slowdown not in DEFINITIONS:
        raise ValueError(f"there is no slowdown {slowdown!r}: {', '.join(DEFINITIONS)}")
    definition = DEFINITIONS[slowdown]
    if isinstance(runs, Runs | Run):
        flows, place = runs.flows(), repr(runs)
    else:
        several = [runs] if isinstance(runs, str | Path) else list(runs)
        flows, place = _stored([Path(each) for each in several]), str(several[0])
    try:
        complete = analysis.complete(flows)
    except ResultsError as error:
        raise ResultsError(f"{place}: {error}") from None
    sizes, classes = analysis.by_size(complete, definition, bins), analysis.by_class(complete, definition)
    return Slowdowns(definition, complete, sizes, classes)


def _stored(paths: list[Path]) -> pl.DataFrame:
    found = [(path, tables.find(path, "flows")) for path in paths]
    without = [path for path, flows in found if not flows]
    if len(without) == len(found):
        raise ResultsError(f"{without[0]}: no table flows is stored; 'fanin run' stores it")
    every = [table for _, flows in found for table in flows]
    said = [f"{len(without)} of {len(found)} runs have no table flows and are left out"] * bool(without)
    for remark in [*said, *tables.word_differences(every)]:
        warnings.warn(remark, ScenarioWarning, stacklevel=3)
    return tables.together(every)

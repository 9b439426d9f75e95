"""Slowdown of flows against their size, as papers on transports in data centres draw it."""

from __future__ import annotations

from dataclasses import replace

from fanin.errors import FaninError
from fanin.later import pl
from fanin.numbers import fct
from fanin.numbers.summary import ColumnInfo, column
from fanin.registry import scheme_title
from fanin.results.stored_runs import ShownRuns
from fanin.scenario.format.plot import Plot
from fanin.show.plots.series import Series, named_lines, readable

_SCHEME = "transport.scheme"

_PERCENTILES = (50, 95, 99)


def slowdown_by_size(plot: Plot, runs: ShownRuns, definition: str) -> tuple[Plot, Series]:
    """The median and two tails of the slowdown of the flows of each bin by size, all seeds together.

    Args:
        plot: Which keys make the lines, title and scale.
        runs: Which runs.
        definition: Name of one of :data:`fanin.numbers.fct.DEFINITIONS`, whose bins these are.

    Raises:
        FaninError: there is no such definition.
        ResultsError: the tables are none of flows.

    """
    if definition not in fct.DEFINITIONS:
        raise FaninError(f"--of {definition}: slowdown is that of {' or '.join(fct.DEFINITIONS)}")
    by = fct.DEFINITIONS[definition]
    flows = runs.rows("flows")
    if _SCHEME in plot.by:
        titles = {key: scheme_title(key) for key in flows[_SCHEME].unique().to_list()}
        flows = flows.with_columns(pl.col(_SCHEME).replace(titles))
    flows = flows.with_columns(named_lines(flows, plot.by).alias("line"))
    rows = [
        {
            "by": ", ".join(filter(None, [str(line), f"p{percent}"])),
            "x": float(each["bytes_to"]),
            "mean": each[f"slowdown_p{percent}"],
            "half": None,
            "runs": each["flows"],
        }
        for (line,), group in flows.group_by("line", maintain_order=True)
        for percent in _PERCENTILES
        for each in fct.by_size(fct.complete(group), by)
    ]
    schema = {"by": pl.String, "x": pl.Float64, "mean": pl.Float64, "half": pl.Float64, "runs": pl.Int64}
    size = column("flows.bytes")
    says = f"{by.says[0].upper()}{by.says[1:]}."
    drawn = readable(Series(pl.DataFrame(rows, schema=schema), size, ColumnInfo("Slowdown")))
    if drawn.x.shown_as == "MB":
        # Most flows are smaller than one.
        drawn = replace(drawn, x=replace(drawn.x, shown_as="KB", scale=1e-3))
    return plot.model_copy(update={"note": says}), drawn

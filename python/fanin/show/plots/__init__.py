"""Plots of an experiment's runs: PNG, SVG and the CSV of what is drawn.

The same runs give the same bytes: no dates, no random identifiers.
"""

from fanin.show.plots.diagram import draw_format
from fanin.show.plots.drawing import draw
from fanin.show.plots.pareto import draw_pareto
from fanin.show.plots.series import Drawn, means, readable, series
from fanin.show.plots.topology import draw_topology

__all__ = ["Drawn", "draw", "draw_format", "draw_pareto", "draw_topology", "means", "readable", "series"]

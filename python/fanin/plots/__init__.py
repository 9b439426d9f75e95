"""Plots of an experiment's runs: PNG, SVG and the CSV of what is drawn.

The same runs give the same bytes: no dates, no random identifiers.
"""

from fanin.plots.diagram import draw_format
from fanin.plots.drawing import draw
from fanin.plots.pareto import draw_pareto
from fanin.plots.series import Drawn, means, readable, series
from fanin.plots.topology import draw_topology

__all__ = ["Drawn", "draw", "draw_format", "draw_pareto", "draw_topology", "means", "readable", "series"]

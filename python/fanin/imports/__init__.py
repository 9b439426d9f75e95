"""Converts other tools' lists of flows, size distributions and topologies for use in a scenario.

Every error names file and line, and every assumption is reported.
"""

from fanin.imports.coflows import coflows
from fanin.imports.flows import Flows, hpcc, htsim
from fanin.imports.records import records
from fanin.imports.sizes import Points, SizeUnit, sizes
from fanin.imports.source import Unit
from fanin.imports.topology import topology

LISTS = {"hpcc": hpcc, "htsim": htsim, "coflows": coflows}
"""Lists of flows whose columns are known."""

__all__ = ["LISTS", "Flows", "Points", "SizeUnit", "Unit", "coflows", "hpcc", "htsim", "records", "sizes", "topology"]

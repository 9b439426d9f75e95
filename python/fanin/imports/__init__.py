"""Converts other tools' lists of flows, size distributions and topologies for use in a scenario.

Every error names file and line, and every assumption is reported.
"""

from fanin.imports.flows import LISTS, Flows, hpcc, htsim
from fanin.imports.records import records
from fanin.imports.sizes import Points, SizeUnit, sizes
from fanin.imports.source import Unit
from fanin.imports.topology import topology

__all__ = ["LISTS", "Flows", "Points", "SizeUnit", "Unit", "hpcc", "htsim", "records", "sizes", "topology"]

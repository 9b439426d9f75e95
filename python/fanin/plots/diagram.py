"""Diagrams: the network as the engine builds it, and the fields of a message."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fanin.format.plot import Plot
from fanin.plots.drawing import STYLE, save
from fanin.store import writing
from fanin.summary import format_value

_ROW_BITS = 32


def draw_topology(plot: Plot, links: pl.DataFrame, folder: Path) -> list[Path]:
    """Draws a network from the table of its links: switches by their distance from the hosts, alike hosts as one node.

    Raises:
        ResultsError: the folder cannot be written.

    """
    ends = [(*name.split("->", 1), rate) for name, rate in links.select("link", "rate_bps").iter_rows()]
    neighbours: dict[str, list[str]] = {}
    for a, b, _ in ends:
        neighbours.setdefault(a, []).append(b)
    hosts = {name for name, near in neighbours.items() if len(near) == 1}
    names = {name: _group(name, neighbours[name][0]) if name in hosts else name for name in neighbours}
    counts = Counter(names.values())
    levels = _levels(neighbours, hosts)
    rows: dict[int, list[str]] = {}
    for name, shown in names.items():
        row = rows.setdefault(levels[name], [])
        if shown not in row:
            row.append(shown)
    place = {shown: ((i + 0.5) / len(row), float(level)) for level, row in rows.items() for i, shown in enumerate(row)}
    edges = (
        pl.DataFrame(
            {
                "from": [names[a] for a, _, _ in ends],
                "to": [names[b] for _, b, _ in ends],
                "rate_bps": [r for *_, r in ends],
            }
        )
        .group_by("from", "to", "rate_bps", maintain_order=True)
        .len("links")
    )
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        axes.axis("off")
        for a, b, rate, _ in edges.iter_rows():
            (ax, ay), (bx, by) = place[a], place[b]
            axes.plot([ax, bx], [ay, by], color="#999999", linewidth=0.5 + rate / edges["rate_bps"].max(), zorder=1)
        for shown, (x, y) in place.items():
            count = f"\n\N{MULTIPLICATION SIGN} {counts[shown]}" if counts[shown] > 1 else ""
            box = {"boxstyle": "round" if y else "square", "fc": "white" if y else "#dddddd", "ec": "black", "lw": 0.8}
            axes.text(x, y, f"{shown.partition('@')[0]}{count}", ha="center", va="center", fontsize=7, bbox=box)
        rates = ", ".join(format_value("rate_bps", rate) for rate in sorted(edges["rate_bps"].unique()))
        axes.set_title(f"{plot.title}\nlinks: {rates}".strip(), fontsize=10)
        return _write(plot, figure, edges, folder)


def _group(host: str, switch: str) -> str:
    """Hosts of one kind at one switch are drawn as one."""
    return f"{host.rstrip('0123456789-')}@{switch}"


def _levels(neighbours: dict[str, list[str]], hosts: set[str]) -> dict[str, int]:
    """Links between a node and the nearest host, and one more for the root of a tree."""
    levels = dict.fromkeys(hosts, 0)
    edge = list(hosts)
    while edge:
        edge = list(dict.fromkeys(near for name in edge for near in neighbours[name] if near not in levels))
        levels |= dict.fromkeys(edge, max(levels.values(), default=0) + 1)
    # A root that has hosts of its own stands above the switches that it joins, not between them.
    beside = {name: [near for near in neighbours[name] if levels.get(near) == levels.get(name)] for name in neighbours}
    roots = [name for name, near in beside.items() if len(near) > 1 and all(len(beside[other]) == 1 for other in near)]
    return {name: levels.get(name, 0) + (name in roots) for name in neighbours}


def draw_format(plot: Plot, folder: Path) -> list[Path]:
    """Draws a message as rows of 32 bits.

    Raises:
        ResultsError: the folder cannot be written.

    """
    table = pl.DataFrame([{"field": field.name, "bits": field.bits} for field in plot.fields])
    rows = -(-int(table["bits"].sum()) // _ROW_BITS)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 0.8 + 0.4 * rows), layout="constrained")
        axes = figure.add_subplot()
        axes.axis("off")
        axes.set_xlim(-0.5, _ROW_BITS + 0.5)
        axes.set_ylim(rows + 0.1, -0.6)
        for bit in range(0, _ROW_BITS, 8):
            axes.text(bit, -0.15, str(bit), fontsize=7, ha="center")
        start = 0
        for field in plot.fields:
            _draw_field(axes, field.name, start, field.bits)
            start += field.bits
        axes.set_title(plot.title, fontsize=10)
        return _write(plot, figure, table, folder)


def _draw_field(axes: mpl.axes.Axes, name: str, start: int, bits: int) -> None:
    """A field's boxes, one for each row that it reaches into; the name stands in the widest."""
    parts = []
    while bits > 0:
        row, column = divmod(start, _ROW_BITS)
        width = min(bits, _ROW_BITS - column)
        parts.append((width, column, row))
        axes.add_patch(Rectangle((column, row), width, 1, fill=False, linewidth=0.8))
        start, bits = start + width, bits - width
    width, column, row = max(parts, key=lambda part: part[0])
    axes.text(column + width / 2, row + 0.5, name, ha="center", va="center", fontsize=7)


def _write(plot: Plot, figure: Figure, table: pl.DataFrame, folder: Path) -> list[Path]:
    paths = [folder / f"{plot.name}.{suffix}" for suffix in ("png", "svg", "csv")]
    save(figure, paths[0], paths[1])
    with writing(folder):
        table.write_csv(paths[2])
    return paths

"""A diagram of the network as the engine builds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fanin.later import pl
from fanin.numbers.units import rate_text
from fanin.scenario.engine_rows import Network
from fanin.scenario.format.plot import Plot
from fanin.show.plots import layout
from fanin.show.plots.drawing import ALSO, STYLE, save

_WIDTHS = (6.4, 10.0)
"""Width of the figure in inches; it grows with the widest row. In a wider network all nodes of a kind are one box."""

_LEVEL = 0.75
"""Height of a level in inches."""

_LETTER = 0.062
"""Width in inches of one character of a box's label, and of the padding on both sides together."""

_PADDING = 0.16


@dataclass(frozen=True)
class _Network:
    """Which node is linked to which, hosts of one kind at one switch being one node."""

    links: pl.DataFrame
    """``from to rate_bps links bottleneck``, both directions."""
    counts: Counter[str]
    """Node -> number of nodes that it represents."""
    rows: dict[int, list[str]]
    """Level -> nodes from left to right."""
    places: dict[str, float]
    """Node -> its position in its row, from 0 to 1."""
    bottleneck: str
    """Name of the link that is observed as such; empty if there is none."""
    folded: bool = False
    """Whether all hosts are one node, and all switches of a name and level another."""


@dataclass(frozen=True)
class _Row:
    """A row as it is drawn."""

    labels: dict[str, str]
    """Node -> label of its box."""
    name: str
    """The row's name beside it; empty if the boxes' labels are enough."""
    width: float
    """Width that the row needs, in inches."""


def draw_topology(
    plot: Plot, described: Network, buffers: str, folder: Path, *, also: Sequence[str] = ALSO, identifier: str = ""
) -> list[Path]:
    """Draws a network: switches by distance from the hosts, identical hosts as one node.

    Args:
        plot: Its title and name.
        described: Its nodes and links.
        buffers: What the ports of switches can hold, in words.
        folder: Where to.
        also: As for :func:`~fanin.show.plots.drawing.save`.
        identifier: As there.

    Raises:
        ResultsError: the folder cannot be written.

    """
    network = _network(described)
    if max(_row(network, row).width for row in network.rows.values()) > _WIDTHS[1]:
        network = _network(described, folded=True)
    rows = {level: _row(network, row) for level, row in network.rows.items()}
    width = min(max(_WIDTHS[0], *(row.width for row in rows.values())), _WIDTHS[1])
    with mpl.rc_context(STYLE):
        height = 1.1 + _LEVEL * len(network.rows)
        figure = Figure(figsize=(width, height))
        # The title has two lines, and the legend below the network one.
        side = max((layout.text_width(row.name, 7) for row in rows.values()), default=0.0) + 0.1
        axes = figure.add_axes((side / width, 0.55 / height, 1 - (side + 0.1) / width, _LEVEL * len(rows) / height))
        axes.axis("off")
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.5, max(network.rows) + 0.5)
        samples = _draw_links(axes, network)
        for level, row in rows.items():
            _draw_row(axes, network, level, row, width)
        several = network.links["rate_bps"].n_unique() > 1
        title = plot.title if several else f"{plot.title}\nall links: {rate_text(network.links['rate_bps'][0])}"
        title = layout.wrapped(title.strip(), 10, width - 0.3)
        figure.text(0.5, 1 - 0.08 / height, title, va="top", ha="center", fontsize=10)
        if samples:
            below = (0.5, 0.2 / height)
            figure.legend(handles=samples, loc="lower center", bbox_to_anchor=below, ncols=len(samples), fontsize=8)
        figure.text(0.5, 0.08 / height, buffers, va="bottom", ha="center", fontsize=7)
        return save(figure, network.links, folder, plot.name, also=also, identifier=identifier)


def _network(described: Network, *, folded: bool = False) -> _Network:
    """The network; ``folded``, all hosts are one node and all switches of a name and level another."""
    ends = [(link["from"], link["to"], link["rate_bps"], link["bottleneck"]) for link in described["links"]]
    neighbours: dict[str, list[str]] = {}
    for a, b, *_ in ends:
        neighbours.setdefault(a, []).append(b)
    hosts = {node["name"] for node in described["nodes"] if node["kind"] == "host"}
    names = {name: _group(name, neighbours[name][0]) if name in hosts else name for name in neighbours}
    level_of = levels(neighbours, {node["name"]: node["tier"] for node in described["nodes"]})
    if folded:
        kinds = {name: name.rstrip("0123456789-") for name in neighbours}
        names = {name: f"{kind}@{level_of[name]}" for name, kind in kinds.items()}
    rows: dict[int, list[str]] = {}
    for name, shown in sorted(names.items(), key=lambda each: -level_of[each[0]]):
        row = rows.setdefault(level_of[name], [])
        if shown not in row:
            row.append(shown)
    shown_near = {names[name]: [names[near] for near in each] for name, each in neighbours.items()}
    edges = (
        pl.DataFrame(
            {
                "from": [names[a] for a, *_ in ends],
                "to": [names[b] for _, b, *_ in ends],
                "rate_bps": [rate for *_, rate, _ in ends],
                "bottleneck": [narrow for *_, narrow in ends],
            }
        )
        .group_by("from", "to", "rate_bps", maintain_order=True)
        .agg(pl.len().alias("links"), pl.col("bottleneck").any())
    )
    rows, places = arranged(rows, shown_near)
    observed = next((link["name"] for link in described["links"] if link["bottleneck"]), "")
    return _Network(edges, Counter(names.values()), rows, places, observed, folded)


def _group(host: str, switch: str) -> str:
    """Merges the hosts of one kind at one switch into one node."""
    return f"{host.rstrip('0123456789-')}@{switch}"


def levels(neighbours: dict[str, list[str]], tiers: dict[str, int]) -> dict[str, int]:
    """How high nodes are drawn: their tiers, and one more for the root of a tree."""
    # A root that has hosts of its own is drawn above the switches that it joins, not between them.
    beside = {name: [near for near in neighbours[name] if tiers[near] == tiers[name]] for name in neighbours}
    roots = [name for name, near in beside.items() if len(near) > 1 and all(len(beside[other]) == 1 for other in near)]
    return {name: tiers[name] + (name in roots) for name in neighbours}


def arranged(rows: dict[int, list[str]], near: dict[str, list[str]]) -> tuple[dict[int, list[str]], dict[str, float]]:
    """Nodes from left to right so that few links cross, and their places from 0 to 1.

    Hosts are drawn below their switch, those of the root beside all others; the lowest switches are above the middle of
    their hosts, and all higher ones in equal distances, in the order of what they join.
    """
    order = {switch: index for index, switch in enumerate(rows.get(1, []))}
    hosts = sorted(rows[0], key=lambda host: order.get(near[host][0], len(order)))
    arranged_rows = {0: hosts}
    places = {host: (index + 0.5) / len(hosts) for index, host in enumerate(hosts)}

    def middle(node: str) -> float:
        below = [places[other] for other in dict.fromkeys(near[node]) if other in places]
        return sum(below) / len(below) if below else 0.5

    for level in sorted(set(rows) - {0}):
        row = rows[level]
        # To the precision of a slot, so that nodes that join the same keep their order.
        middles = {node: round(middle(node), 6) for node in row}
        row = sorted(row, key=lambda node: middles[node])
        arranged_rows[level] = row
        places |= middles if level == 1 else {node: (index + 0.5) / len(row) for index, node in enumerate(row)}
    return arranged_rows, places


def _draw_links(axes: Axes, network: _Network) -> list[Line2D]:
    """Draws the links, faster ones thicker, and the bottleneck as an arrow; returns samples for the legend."""
    level_of = {node: float(level) for level, row in network.rows.items() for node in row}
    rates = sorted(network.links["rate_bps"].unique())
    widths = {rate: 0.8 + 1.2 * index for index, rate in enumerate(rates)}
    drawn = set()
    bottleneck = None
    for a, b, rate, number, narrow in network.links.iter_rows():
        ends = [network.places[a], network.places[b]], [level_of[a], level_of[b]]
        if narrow:
            axes.annotate(
                "", (ends[0][1], ends[1][1]), (ends[0][0], ends[1][0]), zorder=1.5,
                arrowprops={"arrowstyle": "-|>", "color": _NARROW, "linewidth": widths[rate] + 1, "shrinkB": 12},
            )  # fmt: skip
            bottleneck = Line2D([], [], color=_NARROW, linewidth=2, label=f"bottleneck: {network.bottleneck}")
        if (b, a, rate) in drawn:
            continue
        drawn.add((a, b, rate))
        axes.plot(*ends, color="#888888", linewidth=widths[rate], zorder=1)
        if network.folded:
            x, y = (sum(each) / 2 for each in ends)
            axes.text(x + 0.01, y, f"{number} links", va="center", fontsize=7)
    samples = [Line2D([], [], color="#888888", linewidth=widths[rate], label=rate_text(rate)) for rate in rates]
    return [*(samples if len(rates) > 1 else []), *([bottleneck] if bottleneck else [])]


_NARROW = "#CC3311"
"""The colour of the bottleneck."""


def _draw_row(axes: Axes, network: _Network, level: int, row: _Row, width: float) -> None:
    """The boxes of a row, and the row's name at the side; smaller where even the widest picture is too narrow."""
    size = 7 * min(1.0, width / row.width)
    axes.text(-0.01, level, row.name, ha="right", va="center", fontsize=7)
    shape, colour = ("round", "white") if level else ("square", "#dddddd")
    box = {"boxstyle": shape, "fc": colour, "ec": "black", "lw": 0.8}
    for node, label in row.labels.items():
        axes.text(network.places[node], level, label, ha="center", va="center", fontsize=size, bbox=box)


def _row(network: _Network, nodes: list[str]) -> _Row:
    """Labels of a row's boxes; if names are too long, only their numbers, with the name beside the row."""
    names = [node.partition("@")[0] for node in nodes]
    stem = names[0].rstrip("0123456789")
    alike = stem.endswith("-") and all(name.startswith(stem) for name in names)
    if not alike or _needed(names) <= _WIDTHS[0]:
        stem = ""
    counts = [f"\N{MULTIPLICATION SIGN} {network.counts[node]}" for node in nodes]
    labels = {
        node: f"{name.removeprefix(stem)}\n{count}" if network.counts[node] > 1 else name.removeprefix(stem)
        for node, name, count in zip(nodes, names, counts, strict=True)
    }
    return _Row(labels, stem.removesuffix("-"), _needed(labels.values()))


def _needed(labels: Iterable[str]) -> float:
    """Width in inches of boxes with these labels side by side."""
    widths = [_PADDING + _LETTER * max(map(len, label.splitlines())) for label in labels]
    return max(widths) * (len(widths) + 1)

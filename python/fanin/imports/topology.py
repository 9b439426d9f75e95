"""htsim's topologies of two or three tiers, and HPCC's lists of cables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from fanin.imports.source import Source, Stated

_Table = dict[str, Stated]

_READ = (
    "radix_down",
    "radix_up",
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "switch_latency_ns",
    "bundle",
    "oversubscribed",
)

_COUNTED = ("nodes", "switches", "cables")
_FIELDS = 5


def topology(path: Path) -> tuple[str, list[str]]:
    """The ``[network]`` table of a topology of htsim or HPCC, and what was ignored.

    Raises:
        ScenarioError: the file is invalid; the message names file and line.

    """
    source = Source(path)
    whole: _Table = {}
    tiers: list[_Table] = []
    lines = (text.split() for text in source.lines())
    for key, *values in lines:
        if not tiers and len(values) == 2 and all(each.isdigit() for each in (key, *values)):
            return _listed(source, [key, *values], lines)
        value = source.stated(" ".join(values), key)
        if key == "Tier":
            if value.number != len(tiers):
                source.fail(f"tier {value.number} is out of order")
            tiers.append({})
        else:
            (tiers[-1] if tiers else whole)[key.lower()] = value
    if len(tiers) not in (2, 3):
        source.fail("the topology must have two or three tiers, each with its table")
    shape, hosts = _two_tiers(source, whole, tiers) if len(tiers) == 2 else _three_tiers(source, whole, tiers)
    source.compare(whole.get("tiers"), len(tiers))
    source.compare(whole.get("nodes"), hosts)
    cables, said = _cables(source, tiers)
    return "\n".join(["[network]", *shape, *cables]) + "\n", [*said, f"hosts: {hosts:,}"]


def _listed(source: Source, counted: list[str], lines: Iterator[list[str]]) -> tuple[str, list[str]]:
    """HPCC's list: numbers of nodes, switches and cables; the switches; and a cable a line."""
    nodes, switches, links = (source.stated(each, what) for each, what in zip(counted, _COUNTED, strict=True))
    named = {source.whole(each, "switch") for each in next(lines, [])}
    source.compare(switches, len(named))
    homes: dict[int, str] = {}
    trunks: list[str] = []
    losses = found = 0
    for fields in lines:
        found += 1
        if len(fields) != _FIELDS:
            source.fail(f"a cable has two nodes, rate, delay and loss rate: {_FIELDS} fields, not {len(fields)}")
        ends = sorted((source.whole(each, "node") for each in fields[:2]), key=named.__contains__)
        losses += float(source.number(fields[4], "loss rate")) > 0
        low, high = ends
        if high not in named or low in homes or high >= nodes.number:
            source.fail(f"node {low} is no switch: a host has one cable, to a switch")
        if low in named:
            trunks.append(f"switch-{low} - switch-{high} {fields[2]} {fields[3]}")
        else:
            homes[low] = f"switch-{high} {fields[2]} {fields[3]}"
    source.compare(links, found)
    source.compare(nodes, len(named) + len(homes))
    racks = [(cable, len(list(hosts))) for cable, hosts in groupby(homes[host] for host in sorted(homes))]
    cables = [f"{count} host{'s' * (count > 1)} - {cable}" for cable, count in racks] + trunks
    said = [f"hosts: {len(homes):,}, in the order of their numbers, from 0 on"]
    switches_in_turn = [switch for switch, _ in groupby(cable.split()[0] for cable, _ in racks)]
    if len(set(switches_in_turn)) < len(switches_in_turn):
        said = [f"hosts: {len(homes):,}, counted switch by switch and not as in the file"]
    said += [f"loss rates are ignored, of so many cables: {losses}. Add faults of the kind loss"] if losses else []
    return "\n".join(["[network]", 'topology = "custom"', 'cables = """', *cables, '"""']) + "\n", said


def _get(source: Source, tier: _Table, key: str) -> int:
    if key not in tier:
        source.fail(f"a tier lacks {key}")
    if key.startswith("radix") and tier[key].number == 0:
        source.line = tier[key].line
        source.fail(f"{key} is 0")
    return tier[key].number


def _any(tiers: list[_Table], key: str, above: int = 0) -> list[int]:
    """The values of a key, if one is above the usual one."""
    values = [tier[key].number for tier in tiers if key in tier]
    return values if max(values, default=0) > above else []


def _cables(source: Source, tiers: list[_Table]) -> tuple[list[str], list[str]]:
    names = [("rate", "delay"), ("uplink-rate", "uplink-delay"), ("core-rate", "core-delay")]
    lines = []
    for tier, (rate, delay) in zip(tiers, names, strict=False):
        lines.append(f'{rate} = "{_get(source, tier, "downlink_speed_gbps")}Gbps"')
        lines.append(f'{delay} = "{_get(source, tier, "downlink_latency_ns")}ns"')
    slow = _any(tiers, "switch_latency_ns")
    others = dict.fromkeys(key for tier in tiers for key in tier if key not in _READ)
    said = [f"{', '.join(others)} of the tiers are ignored: set network.buffer for queues"] if others else []
    said += [f"switch latencies of {slow} ns are ignored: add them to the delays"] if slow else []
    said += ["link bundles are ignored"] if _any(tiers, "bundle", 1) else []
    return lines, said


def _tier(source: Source, tier: _Table) -> tuple[int, int]:
    """Links down and up of a switch of a tier below the highest."""
    down, up = _get(source, tier, "radix_down"), _get(source, tier, "radix_up")
    source.compare(tier.get("oversubscribed"), down // up)
    return down, up


def _two_tiers(source: Source, whole: _Table, tiers: list[_Table]) -> tuple[list[str], int]:
    hosts, spines = _tier(source, tiers[0])
    leaves = _get(source, tiers[1], "radix_down")
    source.compare(whole.get("podsize"), hosts * leaves)
    shape = ['topology = "leaf-spine"', f"leaves = {leaves}", f"spines = {spines}", f"hosts-per-leaf = {hosts}"]
    return shape, hosts * leaves


def _three_tiers(source: Source, whole: _Table, tiers: list[_Table]) -> tuple[list[str], int]:
    (hosts, up), (edges, cores_up) = (_tier(source, tier) for tier in tiers[:2])
    source.compare(whole.get("podsize"), hosts * edges)
    pods = _get(source, whole, "nodes") // (hosts * edges)
    bundle = tiers[2]["bundle"].number if "bundle" in tiers[2] else 1
    source.compare(tiers[2].get("radix_down"), pods * bundle)
    shape = [
        'topology = "fat-tree"',
        f"pods = {pods}",
        f"edges-per-pod = {edges}",
        f"aggregations-per-pod = {up}",
        f"hosts-per-edge = {hosts}",
        f"cores = {up * cores_up}",
    ]
    return shape, pods * hosts * edges

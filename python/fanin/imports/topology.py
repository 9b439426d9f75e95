"""htsim's topologies of two or three tiers."""

from __future__ import annotations

from pathlib import Path

from fanin.imports.source import Source


def topology(path: Path) -> tuple[str, list[str]]:
    """The ``[network]`` table of an htsim topology of two or three tiers, and what was ignored.

    Raises:
        ScenarioError: the file is invalid; the message names file and line.

    """
    source = Source(path)
    whole: dict[str, int] = {}
    tiers: list[dict[str, int]] = []
    for text in source.lines():
        key, value = [*text.split(), ""][:2]
        if key == "Tier":
            if source.whole(value, "tier") != len(tiers):
                source.fail(f"tier {value} is out of order")
            tiers.append({})
        else:
            (tiers[-1] if tiers else whole)[key.lower()] = source.whole(value, key)
    if whole.get("tiers") != len(tiers) or len(tiers) not in (2, 3):
        source.fail("the topology must have two or three tiers, each with its table")
    return _two_tiers(source, tiers) if len(tiers) == 2 else _three_tiers(source, whole, tiers)


def _get(source: Source, tier: dict[str, int], key: str) -> int:
    if key not in tier:
        source.fail(f"a tier lacks {key}")
    if key.startswith("radix") and tier[key] == 0:
        source.fail(f"{key} is 0")
    return tier[key]


def _cables(source: Source, tiers: list[dict[str, int]]) -> tuple[list[str], list[str]]:
    names = [("rate", "delay"), ("uplink-rate", "uplink-delay"), ("core-rate", "core-delay")]
    lines = []
    for tier, (rate, delay) in zip(tiers, names, strict=False):
        lines.append(f'{rate} = "{_get(source, tier, "downlink_speed_gbps")}Gbps"')
        lines.append(f'{delay} = "{_get(source, tier, "downlink_latency_ns")}ns"')
    slow = [tier.get("switch_latency_ns", 0) for tier in tiers]
    said = [f"switch latencies of {slow} ns are ignored: add them to the delays"] if any(slow) else []
    said += ["link bundles are ignored"] if any(tier.get("bundle", 1) > 1 for tier in tiers) else []
    return lines, said


def _two_tiers(source: Source, tiers: list[dict[str, int]]) -> tuple[str, list[str]]:
    hosts, spines = _get(source, tiers[0], "radix_down"), _get(source, tiers[0], "radix_up")
    leaves = _get(source, tiers[1], "radix_down")
    cables, said = _cables(source, tiers)
    shape = [f"leaves = {leaves}", f"spines = {spines}", f"hosts-per-leaf = {hosts}"]
    return "\n".join(["[network]", 'topology = "leaf-spine"', *shape, *cables]) + "\n", said


def _three_tiers(source: Source, whole: dict[str, int], tiers: list[dict[str, int]]) -> tuple[str, list[str]]:
    hosts, up = _get(source, tiers[0], "radix_down"), _get(source, tiers[0], "radix_up")
    edges, cores_up = (_get(source, tiers[1], key) for key in ("radix_down", "radix_up"))
    pods = _get(source, whole, "nodes") // (hosts * edges)
    cables, said = _cables(source, tiers)
    shape = [
        f"pods = {pods}",
        f"edges-per-pod = {edges}",
        f"aggregations-per-pod = {up}",
        f"hosts-per-edge = {hosts}",
        f"cores = {up * cores_up}",
    ]
    return "\n".join(["[network]", 'topology = "fat-tree"', *shape, *cables]) + "\n", said

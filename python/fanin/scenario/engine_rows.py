"""What the engine says of a scenario before anything runs: its values, its network, and what traffic does to that."""

from __future__ import annotations

from typing import Any, TypedDict


class ValueRow(TypedDict):
    """A value in effect."""

    path: str
    scheme: str | None
    """Whose end points have it, if another scheme of the scenario has another value of the key."""
    value: str
    """As in a scenario file, without quotes."""
    number: float | None
    """The same in the unit of results; ``None`` of words."""
    unit: str | None
    """``s``, ``bit/s``, ``B``, ``pkt`` or nothing; ``None`` of words."""
    set_at: str | None
    """``file:line``, or ``--set``; ``None`` for a default."""
    is_default: bool
    source: str
    """Where the default comes from."""
    ignored_with: str | None
    """What takes its effect away."""
    doc: str


def set_by(row: ValueRow) -> str:
    """Who sets a default, such as a stack: the source begins with that."""
    return row["source"].partition(":")[0]


class GroupPreview(TypedDict):
    """What a group of traffic will do at most."""

    name: str
    flows: float
    at_once: float
    mean_bytes: float
    """0 for endless data."""
    offered: dict[str, Any] | None
    """Its load: ``group mean_bytes interval_s offered_bps load load_of capacity_bps``, as in the summary of a run."""


class Preview(TypedDict):
    """The size of a network and its traffic."""

    hosts: int
    switches: int
    ports: int
    """Those of the switches."""
    buffered: int
    """Full packets that the switches can hold."""
    groups: list[GroupPreview]
    kernel_s: float | None
    """About how long it takes in the Linux kernel; ``None`` if it does not run there."""


class TierLoad(TypedDict):
    """A tier of cables between switches."""

    tier: str
    below_bps: float
    """What the hosts below one of its parts, a rack or a pod, can send together."""
    out_bps: float
    """What its cables out of that part carry together."""
    oversubscription: float
    load: float | None
    """The largest load of its ports from arrivals that do not wait for completions; ``None`` without such traffic."""
    port: str
    """The port with that load."""


class FanInPort(TypedDict):
    """A port that the senders of a fan-in can fill; equal-cost paths carry equal parts."""

    group: str
    port: str
    tier: str | None
    """``None`` for a port towards a receiver."""
    cables: str | None
    """The tier as the keys of its cables begin, such as "uplink"."""
    responses: float
    """Number of responses that cross it at once."""
    arriving_bps: float
    """What their hosts can send through it together."""
    rate_bps: float
    first_packets: float
    """Packets of the first windows of these responses."""
    buffer_bytes: int
    """What it can hold while the other ports of its switch are empty."""
    buffer_packets: int
    """The same in full packets."""
    packet_bytes: int
    path_packets: float
    """C x RTT in packets."""
    rtt_s: float
    """Round trip of a full packet and its acknowledgement, without queues."""


class Loads(TypedDict):
    """What traffic can put on the ports of the switches."""

    tiers: list[TierLoad]
    """From the hosts up."""
    fan_in: list[FanInPort]
    """The ports that a fan-in can fill."""
    observed: list[FanInPort]
    """The port whose queue is measured, with the shortest and the longest round trip across it; empty of a host."""


class HostPort(TypedDict):
    """A port of a switch of Linux."""

    name: str
    rate_bps: int
    observed: bool
    limit: tuple[int, str] | None
    """Packets (pkt) or bytes on the wire (B); ``None`` for no limit."""
    marking: dict[str, Any] | None
    """``kind`` is threshold, between, bands or red; the rest are its values."""


class Hosts(TypedDict):
    """What hosts and switches of Linux are set to."""

    congestion: str
    modules: list[tuple[str, str]]
    """Those that Linux lacks: names and parameters."""
    receiver: str | None
    """The queue of receiving hosts, if it sets windows."""
    sysctls: list[tuple[str, str]]
    """Keys of ``net.ipv4``."""
    rto_min_ms: int
    initial_window: int
    """Segments."""
    quick_ack: bool
    gro: bool
    tso: bool
    fq: bool
    queue: int
    """Packets of the queue of a host; 0 for no limit."""
    mtu: int
    hz: int
    """Ticks a second."""
    overhead: int
    """Bytes of a frame on the wire beside the IP packet."""
    rate_bps: int
    """The lowest rate of a host's interface."""
    ports: list[HostPort]


class Node(TypedDict):
    """A host or a switch."""

    name: str
    kind: str
    """``host`` or ``switch``."""
    role: str | None
    """``sender`` or ``receiver``; ``None`` for a switch, and for hosts that are numbered."""
    tier: int
    """How many links it is away from the nearest host."""


Link = TypedDict(
    "Link",
    {
        "name": str,
        "from": str,
        "to": str,
        "rate_bps": float,
        "delay_s": float,
        "buffer_bytes": int | None,
        "buffer_key": str,
        "cables": str | None,
        "bottleneck": bool,
    },
)
"""One direction of a cable, and the port that sends on it: see :meth:`fanin._engine.Scenario.network`."""


class Network(TypedDict):
    """Nodes, and links in the order of the result table of that name."""

    nodes: list[Node]
    links: list[Link]


class Memory(TypedDict):
    """What a run takes at most."""

    flows: float
    at_once: float
    bytes_per_flow: float
    """Of each flow at once."""
    bytes_per_finished: float
    """Of each other one."""
    bytes_besides: float


def of_hosts(network: Network, role: str | None = None) -> set[str]:
    """The links that lead out of hosts, or of those with a role."""
    hosts = {node["name"] for node in network["nodes"] if node["kind"] == "host" and role in (None, node["role"])}
    return {link["name"] for link in network["links"] if link["from"] in hosts}


def between(network: Network, ends: str, *, both_ways: bool) -> set[str]:
    """The links that a fault names: one, or all parallel ones between two ends, perhaps with their other directions."""
    links = network["links"]
    found = [at for at, link in enumerate(links) if ends in (link["name"], f"{link['from']}->{link['to']}")]
    # Both directions of a cable are side by side.
    return {links[at]["name"] for at in (*found, *(at ^ 1 for at in found if both_ways))}

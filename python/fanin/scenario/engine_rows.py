"""What the engine says of a scenario before anything runs: loads of tiers, ports of a fan-in, ports of the network."""

from __future__ import annotations

from typing import TypedDict


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
    packet_bytes: int
    rtt_s: float
    """Round trip of a full packet and its acknowledgement, without queues."""


class Loads(TypedDict):
    """The tiers from the hosts up, and the ports that a fan-in can fill."""

    tiers: list[TierLoad]
    fan_in: list[FanInPort]


class Port(TypedDict):
    """A port of a host or a switch."""

    name: str
    rate_bps: float
    delay_s: float
    buffer_bytes: int | None
    """If the ports of a switch share memory, all of it; ``None`` for a host."""
    cables: str | None
    """The tier as the keys of its cables begin, such as "uplink"; ``None`` for a cable of a host."""
    bottleneck: bool
    """Whether it is the one that is likely to fill first."""


def packets(port: FanInPort) -> int:
    """Full packets that a port can hold."""
    return port["buffer_bytes"] // port["packet_bytes"]


def of_path(port: FanInPort) -> float:
    """C x RTT in packets."""
    return port["rate_bps"] * port["rtt_s"] / 8 / port["packet_bytes"]

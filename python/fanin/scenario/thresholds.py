"""Marking thresholds: which one a scenario has, and whether it suits the ports that traffic can fill."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fanin.numbers.units import number, quantity, rate_text
from fanin.registry import registry, scheme_rows
from fanin.scenario.engine_rows import FanInPort, Link, Loads


class Marking(NamedTuple):
    """From where on queues mark."""

    path: str
    threshold: str
    is_like_dctcp: bool
    """Whether senders react to the marks as DCTCP's do, and every packet from there on is marked."""
    tiers: tuple[tuple[str, str], ...] = ()
    """Tiers of cables whose ports have a threshold of their own, with that."""

    def at(self, tier: str | None) -> Marking:
        """From where on the ports of a tier mark, or those of hosts' cables."""
        if (own := dict(self.tiers).get(tier or "")) is None:
            return self
        return self._replace(path=self.path_at(str(tier)), threshold=own)

    def path_at(self, tier: str) -> str:
        """The value of the ports of a tier."""
        table, _, key = self.path.rpartition(".")
        return f"{table}.{tier}-{key}"


MARK_THRESHOLD = "mark-threshold"
"""The key of a scheme's marking threshold, if it marks by one."""

THRESHOLD_OF_THE_QUEUE = "queue.threshold"

_LEAST_MARKED = {"wred": "queue.wred-min"}
"""Kinds of queue whose thresholds are another key -> that from which on some packets are marked."""


def threshold_path(scheme: str) -> str:
    """The value that is a scheme's marking threshold."""
    return f"scheme.{scheme}.{MARK_THRESHOLD}"


def never_marks(queue: dict[str, Any]) -> bool:
    """Whether a queue has no threshold to mark at."""
    kind, thresholds = queue["kind"], [value for key, value in queue.items() if key.endswith("threshold")]
    return kind == "drop-tail" or (kind in ("strict-priority", "drr") and not any(map(number, thresholds)))


def marking_of(resolved: dict[str, Any]) -> Marking | None:
    """The threshold at which queues mark; ``None`` if there is none, or more than one."""
    if never_marks(resolved["queue"]):
        return None
    kind, scheme = resolved["queue"]["kind"], resolved["transport"]["scheme"]
    path = threshold_path(scheme) if kind == "auto" else _LEAST_MARKED.get(kind, THRESHOLD_OF_THE_QUEUE)
    table, key = resolved["scheme"][scheme] if kind == "auto" else resolved["queue"], path.rpartition(".")[2]
    if (value := table.get(key)) is None:
        return None
    tiers = ((tier, table[own]) for own, tier in tiers_of(path).items() if own in table)
    return Marking(path, value, scheme in like_dctcp() and kind not in _LEAST_MARKED, tuple(tiers))


def tiers_of(path: str) -> dict[str, str]:
    """The keys by which the ports of a tier have their own value of a threshold -> the tier."""
    table, _, key = path.rpartition(".")
    rows = registry()["queues"] if table == "queue" else scheme_rows()
    params = (param for row in rows if table in ("queue", f"scheme.{row['key']}") for param in row["params"])
    keys: list[str] = next((param["tiers"] for param in params if param["key"] == key), [])
    return {own: own.removesuffix(f"-{key}") for own in keys}


def like_dctcp() -> set[str]:
    """Schemes with DCTCP's threshold: its default follows the rate."""
    return {
        row["key"]
        for row in scheme_rows()
        for param in row["params"]
        if param["key"] == MARK_THRESHOLD and param["follows"]
    }


def threshold_remarks(ports: list[FanInPort], resolved: dict[str, Any], *, is_default: bool = False) -> list[str]:
    """Remarks on a marking threshold that is too low for the link to stay busy, or higher than is of use.

    Args:
        ports: The ports that a fan-in can fill.
        resolved: The scenario with every default filled in.
        is_default: Whether nobody gave the threshold, so that what to set is said first.

    """
    if not ports or (marking := marking_of(resolved)) is None:
        return []
    # A queue of a faster link with the same threshold has that for the slowest.
    slowest: dict[str, float] = {}
    own = [(port, marking.at(port["cables"])) for port in ports]
    for port, mine in own:
        slowest[mine.path] = min(port["rate_bps"], slowest.get(mine.path, math.inf))
    found = [(port, mine, _wrong(port, resolved, mine)) for port, mine in own if port["rate_bps"] == slowest[mine.path]]
    return [
        _about(mine, port, bound, is_default=is_default and mine is marking)
        for port, mine, bound in found
        if bound is not None
    ]


def remarks_beside_fan_ins(loads: Loads, resolved: dict[str, Any], *, is_default: bool) -> list[str]:
    """As :func:`threshold_remarks`, at the observed port where no fan-in fills it."""
    own = {each["port"] for each in loads["fan_in"]}
    if not loads["observed"] or loads["observed"][0]["port"] in own or (marking := marking_of(resolved)) is None:
        return []
    near, far = loads["observed"]
    is_default, marking = is_default and near["cables"] not in dict(marking.tiers), marking.at(near["cables"])
    # Of paths of different lengths, the shortest needs the lowest threshold.
    low, high = _wrong(near, resolved, marking), _wrong(far, resolved, marking)
    if low is not None and low.or_ == "more":
        return [_about(marking, near, low, is_default=is_default)]
    if high is not None and high.or_ == "less":
        return [_about(marking, far, high, is_default=is_default)]
    return []


def _wrong(port: FanInPort, resolved: dict[str, Any], marking: Marking) -> _Bound | None:
    """What is wrong with a threshold at a port, if anything is."""
    mark = in_packets(marking, port["packet_bytes"])
    at = f"at {port['port']} ({rate_text(port['rate_bps'])}, {1e6 * port['rtt_s']:.0f} us)"
    buffer = port["buffer_packets"]
    if mark >= buffer:
        return _not_below(buffer, at)
    if not marking.is_like_dctcp:
        return None
    if (wrong := _too_low_or_high(mark, port, burst(resolved, port["rate_bps"], port["packet_bytes"]))) is not None:
        return wrong._replace(why=f"{wrong.why}, {at}, {wrong.so}")
    if mark > most_marked(buffer):
        left = buffer - mark
        why = f"above half of the buffer, {buffer:,} packets {at}, so bursts have room for {left:,.0f} only"
        return _Bound(why, "", most_marked(buffer), "less")
    return None


class _Bound(NamedTuple):
    """What is wrong with a threshold, and the packets that are right, ``"more"`` or ``"less"``."""

    why: str
    so: str
    packets: int
    or_: str


def _not_below(buffer: int, at: str) -> _Bound:
    why = f"not below the buffer, {buffer:,} packets {at}, so packets are lost before any is marked"
    return _Bound(why, "", most_marked(buffer), "less")


def _about(marking: Marking, port: FanInPort, bound: _Bound, *, is_default: bool) -> str:
    """The remark on a threshold: what is wrong with a given one, or what to set in place of the default."""
    return _remark(
        marking, in_packets(marking, port["packet_bytes"]), bound, port["buffer_packets"], is_default=is_default
    )


def _remark(marking: Marking, mark: float, bound: _Bound, buffer: int, *, is_default: bool) -> str:
    if not is_default:
        return f"{marking.path} = {marking.threshold}: {bound.why}"
    if bound.or_ == "less":
        room = f", or give the buffer room for {2 * mark:,.0f} packets" if most_marked(buffer) < mark else ""
    elif bound.packets > most_marked(buffer):
        room = f", and give the buffer room for {2 * bound.packets:,} packets"
    else:
        room = ""
    return (
        f'set {marking.path} = "{bound.packets}pkt" or {bound.or_}{room}: the default, {marking.threshold}, is '
        f"{bound.why}"
    )


def at_any_port(ports: list[Link], resolved: dict[str, Any], marking: Marking, *, is_default: bool) -> list[str]:
    """A remark on a marking threshold that is not below the smallest buffer, whatever traffic fills it."""
    packet = packet_bytes(resolved)
    buffers = [(bytes_ // packet, port) for port in ports if (bytes_ := port["buffer_bytes"]) is not None]
    small = [(buffer, port) for buffer, port in buffers if in_packets(marking.at(port["cables"]), packet) >= buffer]
    if not small:
        return []
    buffer, port = min(small, key=lambda each: (each[0], not each[1]["bottleneck"]))
    bound, own = _not_below(buffer, f"at {port['name']} ({rate_text(port['rate_bps'])})"), marking.at(port["cables"])
    return [_remark(own, in_packets(own, packet), bound, buffer, is_default=is_default and own is marking)]


def share_of_memory(alpha: float) -> float:
    """What share of the memory that ports of a switch share one may take while the others are empty."""
    # Choudhury and Hahne 1998: a queue may have alpha times what is left.
    return alpha / (1 + alpha)


def packet_bytes(resolved: dict[str, Any]) -> int:
    """A full packet with all that it takes on a link."""
    return int(number(resolved["transport"]["mss"])) + header_bytes(resolved)


def header_bytes(resolved: dict[str, Any]) -> int:
    """What a packet without data takes on a link."""
    return int(number(resolved["transport"]["header"]) + number(resolved["network"]["frame-overhead"]))


def in_packets(marking: Marking, packet: int) -> float:
    """A threshold in packets of so many bytes."""
    size, unit = quantity(marking.threshold) or (0.0, "")
    return size if unit == "pkt" else size / packet


def usual_threshold(rate_bps: float) -> int:
    """The threshold of DCTCP's authors in packets, scaled to the rate of a link: the default of schemes like it."""
    # Whole packets, as the engine rounds.
    return max(USUAL_LEAST, math.floor(USUAL_PER_10G * rate_bps / 1e10 + 0.5))


def most_marked(buffer: int) -> int:
    """The highest threshold that leaves a buffer room for bursts, both in packets."""
    return math.ceil(buffer / 2)


def _too_low_or_high(mark: float, port: FanInPort, sent_at_once: float) -> _Bound | None:
    """What is wrong with a threshold in packets for DCTCP's reaction to marks, and what comes of it, if anything is.

    Alizadeh et al. 2010: by Eq. 13, 20 packets would do at 10 Gbit/s, but more than 60 were needed for the full rate,
    in line with bursts of 30 to 40 packets. So what hosts send at once is added, up to the paper's own threshold; and
    no more is of use than keeps the link busy while a round trip's packets and a burst are missing. Larger packets than
    the paper's need fewer.
    """
    in_flight = port["path_packets"]
    usual = usual_threshold(port["rate_bps"]) * min(1.0, _USUAL_BYTES / port["packet_bytes"])
    least, with_bursts = in_flight / 7, keeping_busy(in_flight, sent_at_once, port["rate_bps"])
    if mark < with_bursts:
        # Rounded up: a threshold that is just too low must not be said to be below itself.
        needed = math.ceil(with_bursts)
        if sent_at_once == 0 or with_bursts == least:
            why = f"below C x RTT / 7, which takes {needed:,} packets"
        else:
            why = f"below C x RTT / 7 and a burst of {sent_at_once:,.0f} packets, which take {needed:,} packets"
        return _Bound(why, "so a long flow leaves the link idle at times", needed, "more")
    most = max(in_flight + sent_at_once, usual)
    if mark > most:
        longer = f"so long flows add {math.ceil(mark - most):,} packets of queue for nothing"
        return _Bound(f"above {math.floor(most):,} packets, which keep the link busy", longer, math.floor(most), "less")
    return None


def keeping_busy(in_flight: float, burst: float, rate_bps: float) -> float:
    """The least threshold in packets with which a link with DCTCP's senders stays busy.

    Args:
        in_flight: Packets of a round trip (C x RTT).
        burst: Packets that a host sends at once.
        rate_bps: Rate of the link.

    """
    # The paper's threshold at 1 Gbit/s is for hosts with such bursts, but with windows that hold none as large.
    return max(in_flight / 7, min(in_flight / 7 + burst, usual_threshold(rate_bps)))


_USUAL_BYTES = 1538
"""The largest packet of usual Ethernet, with its frame."""

USUAL_LEAST, USUAL_PER_10G = 20, 65
"""The default of these thresholds in packets: the least, and for each 10 Gbit/s."""


def burst(resolved: dict[str, Any], rate_bps: float, packet_bytes: float) -> float:
    """Packets that a host sends at once: a frame for segmentation offload, or what an interrupt lets it send."""
    # A key in which the schemes differ is not among those of all.
    frame, interval = (number(resolved["transport"].get(key, 0)) for key in ("tso", "interrupt-interval"))
    return max(frame, interval * rate_bps / 8) / packet_bytes

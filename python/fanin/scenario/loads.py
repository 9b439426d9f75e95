"""What the traffic of a scenario can put on the ports of its switches, and what does not fit there."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fanin.numbers.units import number, quantity
from fanin.registry import registry
from fanin.scenario.engine_rows import FanInPort, Port, TierLoad
from fanin.scenario.file import ScenarioFile
from fanin.scenario.settings import Overrides


def remarks(scenario: ScenarioFile, overrides: Overrides | None = None) -> list[str]:
    """Warnings about what does not fit: a buffer, a marking threshold, or the load of a tier."""
    loads, resolved = scenario.loads(overrides), scenario.resolved(overrides)
    found = _fan_in_remarks(loads["fan_in"], resolved)
    ports = scenario.ports(overrides)
    if (marking := marking_of(resolved)) is not None:
        rows = scenario.resolved_table(overrides)
        is_default = any(row["is_default"] for row in rows if row["path"] == marking.path)
        found += threshold_remarks(loads["fan_in"], resolved, is_default=is_default) or _at_any_port(
            ports, resolved, marking, is_default=is_default
        )
    found += [_overloaded(tier) for tier in loads["tiers"]]
    found.append(_too_few_hosts(ports, scenario.offered(overrides), resolved))
    return list(dict.fromkeys(remark for remark in found if remark))


def _fan_in_remarks(ports: list[FanInPort], resolved: dict[str, Any]) -> list[str | None]:
    """Remarks on the responses of each group, and on those of groups that fit alone but begin together."""
    tightest: dict[str, FanInPort] = {}
    for port in ports:
        other = tightest.setdefault(port["group"], port)
        if packets(port) / port["responses"] < packets(other) / other["responses"]:
            tightest[port["group"]] = port
    groups = {group["name"]: group for group in resolved["traffic"]}
    alone = {
        name: _no_room(port, _spread(groups[name]), _standing(port, groups[name], resolved))
        or _too_many(port, groups[name], resolved["transport"])
        for name, port in tightest.items()
    }
    # Groups of several clients seldom meet at one of them.
    fit = [port for port in ports if alone[port["group"]] is None and "receiver" in groups[port["group"]]]
    together: dict[str, str | None] = {}
    for port, spread in _crowds(fit, groups):
        together[port["group"]] = together.get(port["group"]) or _no_room(port, spread)
    return [*alone.values(), *together.values()]


def _crowds(ports: list[FanInPort], groups: dict[str, dict[str, Any]]) -> list[tuple[FanInPort, float]]:
    """Ports where groups begin before the first windows of others have passed: all of them as one, and their spread."""
    crowds: dict[str, list[list[FanInPort]]] = {}
    passed: dict[str, float] = {}
    for port in sorted(ports, key=lambda port: _start(groups[port["group"]])):
        name, group = port["port"], groups[port["group"]]
        if _start(group) > passed.get(name, -1):
            crowds.setdefault(name, []).append([])
        crowds[name][-1].append(port)
        sent = 8 * port["first_packets"] * port["packet_bytes"] / port["rate_bps"]
        passed[name] = max(passed.get(name, 0), _start(group) + _spread(group) + sent)
    every = [crowd for of_port in crowds.values() for crowd in of_port if len(crowd) > 1]
    return [(_as_one(crowd), _spread(*(groups[port["group"]] for port in crowd))) for crowd in every]


def _as_one(crowd: list[FanInPort]) -> FanInPort:
    """Fan-ins of several groups that cross a port, as one."""
    return {
        **crowd[0],
        "group": ", traffic.".join(port["group"] for port in crowd),
        "responses": sum(port["responses"] for port in crowd),
        "arriving_bps": sum(port["arriving_bps"] for port in crowd),
        "first_packets": sum(port["first_packets"] for port in crowd),
    }


def _start(group: dict[str, Any]) -> float:
    return number(group.get("start", "0s"))


def _spread(*groups: dict[str, Any]) -> float:
    """Seconds from the first response that begins to the last."""
    return max(map(_last, groups)) - min(map(_start, groups))


def _last(group: dict[str, Any]) -> float:
    """When the last response begins, as a rule: of exponential delays, the mean counts."""
    delays = [] if group.get("together") else ["jitter", "exponential"]
    # Without a request there is nothing to think about.
    delays += ["think-jitter"] if number(group.get("request", "0B")) else []
    return _start(group) + sum(number(group.get(key, "0s")) for key in delays)


def packets(port: FanInPort) -> int:
    """Full packets that a port can hold."""
    return port["buffer_bytes"] // port["packet_bytes"]


class _Standing(NamedTuple):
    """Packets that long flows have in a queue at any time, and the groups of these flows."""

    packets: float
    groups: str


_NOTHING = _Standing(0, "")


def _standing(port: FanInPort, group: dict[str, Any], resolved: dict[str, Any]) -> _Standing:
    """What responses find in the queue of the receiver's port from endless flows that began before them."""
    if port["tier"] is not None or "receiver" not in group:
        return _NOTHING
    begins_again = int(group["rounds"]) > 1
    long = [
        each
        for each in resolved["traffic"]
        if each["kind"] == "background"
        and (each["to"], each["receiver"]) == (group["to"], group["receiver"])
        and quantity(each["bytes-each"]) == (0, "B")
        and (begins_again or _start(each) < _start(group))
    ]
    # A single flow sends no faster than its own link.
    if sum(int(each["flows"]) for each in long) < 2:
        return _NOTHING
    marking = marking_of(resolved)
    schemes = {each["scheme"] for each in long}
    if marking is not None and marking.is_like_dctcp and schemes <= _like_dctcp():
        standing = _in_packets(marking, port["packet_bytes"])
    elif schemes <= set(LOSS_BASED) and resolved["transport"].get("ecn", "auto") != "on":
        # When the queue is full, a loss halves the windows (RFC 5681, Eq. 4), if it does so of all flows at once.
        standing = max(0, packets(port) - _of_path(port)) / 2
    else:
        return _NOTHING
    return _Standing(standing, ", ".join(f"traffic.{each['name']}" for each in long))


def _of_path(port: FanInPort) -> float:
    """C x RTT in packets."""
    return port["rate_bps"] * port["rtt_s"] / 8 / port["packet_bytes"]


def _no_room(port: FanInPort, spread: float, standing: _Standing = _NOTHING) -> str | None:
    """A remark on a buffer with less room than a packet for each response, or than their first windows take.

    Args:
        port: The port.
        spread: Seconds from the first response that begins to the last.
        standing: What is in the queue before.

    """
    start = f"traffic.{port['group']}: {port['responses']:.0f} responses at once cross {port['port']}, which holds "
    free = packets(port) - standing.packets
    room = free + _sent(port, spread)
    holds = f"{packets(port)} packets"
    if standing.packets:
        holds += f", {free:.0f} beside the queue of the long flows of {standing.groups}"
    if room < port["responses"]:
        return f"{start}{holds}: less than one for each, so packets are lost if all begin together"
    # It sends while they arrive.
    waiting = port["first_packets"] * (1 - port["rate_bps"] / port["arriving_bps"])
    if waiting > room:
        return (
            f"{start}{holds}: less than the {waiting:.0f} of their first windows "
            f"({port['first_packets']:.0f}) that it cannot send at once, so packets are lost if all begin together"
        )
    return None


def _sent(port: FanInPort, spread: float) -> float:
    """Packets that a port sends while responses begin one after another."""
    return port["rate_bps"] * spread / 8 / port["packet_bytes"]


def _too_many(port: FanInPort, group: dict[str, Any], transport: dict[str, Any]) -> str | None:
    """A remark on a fan-in whose windows grow beyond what the path to the receiver holds, as only a loss ends that.

    Few long flows do that, too, but have enough packets on the path to repair their losses without a timer.
    """
    size = response_bytes(group)
    if not size or group["scheme"] not in LOSS_BASED or transport.get("ecn", "auto") == "on":
        return None
    mss, receive_buffer = number(transport.get("mss", "1460B")), number(transport.get("receive-buffer", "1MiB"))
    at_once, length = port["responses"], math.ceil(size / mss)
    of_path = _of_path(port)
    share = (packets(port) + of_path + _sent(port, _spread(group))) / at_once
    first = port["first_packets"] / at_once
    # Each window is twice the last, until the last one has what is left.
    whole = math.floor(math.log2(length / first + 1))
    largest = min(max(first * 2 ** (whole - 1), length - first * (2**whole - 1)), receive_buffer / mss)
    if share >= _ENOUGH or largest <= share:
        return None
    trips = max(1, math.ceil(math.log2(share / first)))
    return (
        f"traffic.{port['group']}: {at_once:.0f} responses of {length} packets ({at_once * length:,.0f} together) "
        f"cross {port['port']}, where {packets(port):,} packets fit in the buffer and {of_path:.0f} on the way "
        f"(C x RTT): windows outgrow that after {trips} round trip{'s' if trips > 1 else ''}, so packets are lost, and "
        f"with {share:.1f} packets each often too few follow for three duplicate ACKs"
    )


LOSS_BASED = ("newreno", "linux", "linux-reno")
"""Schemes whose senders only a loss slows down: neither a mark nor a window that somebody else gives."""

_ENOUGH = 8
"""Packets of a window that a loss halves (RFC 5681, Eq. 4) to four: if the first of them is lost, the others are three
duplicate ACKs (section 3.2)."""


def comes_by_a_clock(group: dict[str, Any]) -> bool:
    """Whether transfers of a traffic group start at times that do not depend on when others end."""
    return bool({"load", "interval"} & group.keys())


def without_jitter(scenario: dict[str, Any]) -> list[str]:
    """The jitters to set in a resolved scenario in which traffic starts at once and nothing else is random, if any."""
    # What has a load arrives at random.
    starts_vary = any("load" in group or _spread(group) > 0 for group in scenario["traffic"])
    if starts_vary or any(fault["kind"] == "loss" for fault in scenario["fault"]):
        return []
    groups = [group for group in scenario["traffic"] if "jitter" in group]
    return [f"traffic.{group['name']}.jitter" for group in groups]


SOME_JITTER = "20us"
"""A jitter to try first: longer than the usual time between two interrupts, which hand over together what came in."""


def response_bytes(group: dict[str, Any]) -> float:
    """The size of a response of a fan-in; 0 if the scenario does not say it."""
    senders = {row["key"]: row["fan_in"] for row in registry()["traffic"]}[group["kind"]]
    return number(group.get("bytes-each", "")) or number(group.get("bytes-total", "")) / int(group[senders])


def _overloaded(tier: TierLoad) -> str | None:
    """A remark on a tier whose ports get more than they can carry: their queues grow during the whole run."""
    if tier["load"] is None or tier["load"] <= 1:
        return None
    return f"the tier {tier['tier']} does not carry the load: {tier['port']} is offered {100 * tier['load']:.0f} %"


def _too_few_hosts(ports: list[Port], offered: list[dict[str, Any]], resolved: dict[str, Any]) -> str | None:
    """A remark on a load that the links of the senders do not carry, as where few hosts send for many servers."""
    by_part = {group["name"] for group in resolved["traffic"] if group["from"] == "by-part"}
    loads = {load["group"]: load["offered_bps"] for load in offered if load["group"] in by_part}
    # Hosts that only send are named so.
    rates = [port["rate_bps"] for port in ports if port["name"].startswith("sender-")]
    if not rates or sum(loads.values()) <= sum(rates):
        return None
    groups, hosts = ", ".join(f"traffic.{name}" for name in loads), "host sends" if len(rates) == 1 else "hosts send"
    return (
        f"{groups}: {_gbps(sum(loads.values()))} are offered, but {len(rates)} {hosts} at most {_gbps(sum(rates))}, so "
        "transfers wait in the senders; let more hosts send, or lower the load"
    )


def threshold_remarks(ports: list[FanInPort], resolved: dict[str, Any], *, is_default: bool = False) -> list[str]:
    """Remarks on a marking threshold that is too low for the link to stay busy, or higher than is of use.

    Args:
        ports: The ports that a fan-in can fill.
        resolved: The scenario with every default filled in.
        is_default: Whether nobody gave the threshold, so that what to set is said first.

    """
    if not ports or (marking := marking_of(resolved)) is None:
        return []
    found = []
    # A queue of a faster link has the same threshold, which is for the slowest.
    slowest = min(port["rate_bps"] for port in ports)
    for port in (port for port in ports if port["rate_bps"] == slowest):
        mark = _in_packets(marking, port["packet_bytes"])
        at = f"at {port['port']} ({_gbps(port['rate_bps'])}, {1e6 * port['rtt_s']:.0f} us)"
        if mark >= packets(port):
            bound = _not_below(packets(port), at)
        elif not marking.is_like_dctcp:
            continue
        elif (wrong := _too_low_or_high(mark, port, _burst(port, resolved))) is not None:
            bound = wrong._replace(why=f"{wrong.why}, {at}, {wrong.so}")
        elif mark > most_marked(packets(port)):
            left = packets(port) - mark
            why = f"above half of the buffer, {packets(port)} packets {at}, so bursts have room for {left:.0f} only"
            bound = _Bound(why, "", most_marked(packets(port)), "less")
        else:
            continue
        found.append(_about(marking, mark, bound, packets(port), is_default=is_default))
    return found


class _Bound(NamedTuple):
    """What is wrong with a threshold, and the packets that are right, ``"more"`` or ``"less"``."""

    why: str
    so: str
    packets: int
    or_: str


def _not_below(buffer: int, at: str) -> _Bound:
    why = f"not below the buffer, {buffer} packets {at}, so packets are lost before any is marked"
    return _Bound(why, "", most_marked(buffer), "less")


def _about(marking: Marking, mark: float, bound: _Bound, buffer: int, *, is_default: bool) -> str:
    """The remark on a threshold: what is wrong with a given one, or what to set in place of the default."""
    if not is_default:
        return f"{marking.path} = {marking.threshold}: {bound.why}"
    if bound.or_ == "less":
        room = f", or give the buffer room for {2 * mark:.0f} packets"
    elif bound.packets > most_marked(buffer):
        room = f", and give the buffer room for {2 * bound.packets} packets"
    else:
        room = ""
    return (
        f'set {marking.path} = "{bound.packets}pkt" or {bound.or_}{room}: the default, {marking.threshold}, is '
        f"{bound.why}"
    )


def _at_any_port(ports: list[Port], resolved: dict[str, Any], marking: Marking, *, is_default: bool) -> list[str]:
    """A remark on a marking threshold that is not below the smallest buffer, whatever traffic fills it."""
    transport, network = resolved["transport"], resolved["network"]
    parts = (transport["mss"], transport["header"], network["frame-overhead"])
    packet = int(sum(number(part) for part in parts))
    mark = _in_packets(marking, packet)
    buffers = [(bytes_ // packet, port) for port in ports if (bytes_ := port["buffer_bytes"]) is not None]
    small = [(buffer, port) for buffer, port in buffers if mark >= buffer]
    if not small:
        return []
    buffer, port = min(small, key=lambda each: (each[0], not each[1]["bottleneck"]))
    bound = _not_below(buffer, f"at {port['name']} ({_gbps(port['rate_bps'])})")
    return [_about(marking, mark, bound, buffer, is_default=is_default)]


def _in_packets(marking: Marking, packet: int) -> float:
    size, unit = quantity(marking.threshold) or (0.0, "")
    return size if unit == "pkt" else size / packet


def most_marked(buffer: int) -> int:
    """The highest threshold that leaves a buffer room for bursts, both in packets."""
    return math.ceil(buffer / 2)


def _too_low_or_high(mark: float, port: FanInPort, burst: float) -> _Bound | None:
    """What is wrong with a threshold in packets for DCTCP's reaction to marks, and what comes of it, if anything is.

    Alizadeh et al. 2010: by Eq. 13, 20 packets would do at 10 Gbit/s, but more than 60 were needed for the full rate,
    in line with bursts of 30 to 40 packets. So what hosts send at once is added, up to the paper's own threshold; and
    no more is of use than keeps the link busy while a round trip's packets and a burst are missing.
    """
    in_flight = _of_path(port)
    # Whole packets, as the engine rounds.
    usual = max(USUAL_LEAST, math.floor(USUAL_PER_10G * port["rate_bps"] / 1e10 + 0.5))
    least = in_flight / 7
    # The paper's threshold at 1 Gbit/s is for hosts with such bursts, but with windows that hold none as large.
    with_bursts = max(least, min(least + burst, usual))
    if mark < with_bursts:
        # Rounded up: a threshold that is just too low must not be said to be below itself.
        needed = math.ceil(with_bursts)
        if burst == 0 or with_bursts == least:
            why = f"below C x RTT / 7, which takes {needed} packets"
        else:
            why = f"below C x RTT / 7 and a burst of {burst:.0f} packets, for which {needed} packets are enough"
        return _Bound(why, "so a long flow leaves the link idle at times", needed, "more")
    most = max(in_flight + burst, usual)
    if mark > most:
        longer = f"so {math.ceil(mark - most)} packets more than of use wait in the queues of long flows"
        return _Bound(f"above {math.floor(most)} packets, which keep the link busy", longer, math.floor(most), "less")
    return None


USUAL_LEAST, USUAL_PER_10G = 20, 65
"""The default of these thresholds in packets: the least, and for each 10 Gbit/s."""


def _burst(port: FanInPort, resolved: dict[str, Any]) -> float:
    """Packets that a host sends at once: a frame for segmentation offload, or what an interrupt lets it send."""
    # A key in which the schemes differ is not among those of all.
    frame, interval = (number(resolved["transport"].get(key, "0B")) for key in ("tso", "interrupt-interval"))
    return max(frame, interval * port["rate_bps"] / 8) / port["packet_bytes"]


class Marking(NamedTuple):
    """From where on queues mark."""

    path: str
    threshold: str
    is_like_dctcp: bool
    """Whether senders react to the marks as DCTCP's do."""


MARK_THRESHOLD = "mark-threshold"
"""The key of a scheme's marking threshold, if it marks by one."""

THRESHOLD_OF_THE_QUEUE = "queue.threshold"


def threshold_path(scheme: str) -> str:
    """The value that is a scheme's marking threshold."""
    return f"scheme.{scheme}.{MARK_THRESHOLD}"


def never_marks(queue: dict[str, Any]) -> bool:
    """Whether a queue has no threshold to mark at."""
    return queue["kind"] == "drop-tail" or (queue["kind"] == "strict-priority" and not number(queue["threshold"]))


def marking_of(resolved: dict[str, Any]) -> Marking | None:
    """The threshold at which queues mark; ``None`` if there is none, or more than one."""
    if never_marks(resolved["queue"]):
        return None
    kind, scheme = resolved["queue"]["kind"], resolved["transport"]["scheme"]
    path = threshold_path(scheme) if kind == "auto" else THRESHOLD_OF_THE_QUEUE
    table = resolved["scheme"][scheme] if kind == "auto" else resolved["queue"]
    if (value := table.get(path.rpartition(".")[2])) is None:
        return None
    return Marking(path, value, scheme in _like_dctcp())


def _like_dctcp() -> set[str]:
    """Schemes with DCTCP's threshold: its default follows the rate."""
    return {
        row["key"]
        for row in registry()["schemes"]
        for param in row["params"]
        if param["key"] == MARK_THRESHOLD and param["follows"]
    }


def _gbps(rate: float) -> str:
    return f"{rate / 1e9:g} Gbit/s"

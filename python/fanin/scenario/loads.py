"""What the traffic of a scenario can put on the ports of its switches, and what does not fit there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from fanin._engine import Scenario
from fanin.numbers.units import number, rate_text
from fanin.registry import is_scheduled, reacts_to_losses_alone
from fanin.scenario.engine_rows import FanInPort, Link, Loads, Network, TierLoad, of_hosts
from fanin.scenario.file import ScenarioFile
from fanin.scenario.settings import Overrides, Settings
from fanin.scenario.thresholds import (
    at_any_port,
    in_packets,
    like_dctcp,
    marking_of,
    remarks_beside_fan_ins,
    threshold_remarks,
)
from fanin.scenario.traffic import has_requests, is_endless, waits


def remarks(scenario: ScenarioFile, overrides: Overrides | None = None) -> list[str]:
    """Warnings about what does not fit: a buffer, a marking threshold, or the load of a tier."""
    handle, resolved = scenario.handle(overrides), scenario.of_fan_in(overrides)
    loads, network = handle.loads(), handle.network()
    links = network["links"]
    found = _fan_in_remarks(loads["fan_in"], resolved)
    found += _marking_remarks(handle, loads, links, resolved)
    found.append(_unshared(links, resolved["network"]))
    found += [_overloaded(tier) for tier in loads["tiers"]]
    found += [_answered_by_few(group, links) for group in resolved["traffic"] if group["kind"] == "requests"]
    found.append(_too_few_hosts(network, scenario.offered(overrides), resolved))
    return list(dict.fromkeys(remark for remark in found if remark))


def never_marked(scenario: ScenarioFile, each: Iterable[Settings]) -> list[str]:
    """Warnings about marking thresholds that no queue reaches, with each of some values in the scenario's place."""
    found: list[str] = []
    seen = set()
    for given in each:
        quick = scenario.resolved(given)
        marking = marking_of(quick)
        # How many hosts there are changes no buffer.
        case = (marking, json.dumps([quick["network"], quick["transport"].get("mss")]))
        if marking is None or case in seen:
            continue
        seen.add(case)
        handle, resolved = scenario.handle(given), scenario.of_fan_in(given)
        links = handle.network()["links"]
        if at_any_port(links, resolved, marking, is_default=False):
            found += _marking_remarks(handle, handle.loads(), links, resolved)
    return found


def _marking_remarks(handle: Scenario, loads: Loads, links: list[Link], resolved: dict[str, Any]) -> list[str]:
    """Remarks on a marking threshold."""
    if (marking := marking_of(resolved)) is None:
        return []
    is_default = any(row["is_default"] for row in handle.resolved() if row["path"] == marking.path)
    own = threshold_remarks(loads["fan_in"], resolved, is_default=is_default)
    # A port of the fan-in that drops before it marks is told with more.
    marked = ((port, in_packets(marking.at(port["cables"]), port["packet_bytes"])) for port in loads["fan_in"])
    is_told = any(packets >= port["buffer_packets"] for port, packets in marked)
    others = [] if is_told else at_any_port(links, resolved, marking, is_default=is_default)
    # A single transfer sends no faster than its own link.
    if others or own or sum(group["at_once"] for group in handle.check()["groups"]) < 2:
        return [*others, *own]
    return remarks_beside_fan_ins(loads, resolved, is_default=is_default)


def _fan_in_remarks(ports: list[FanInPort], resolved: dict[str, Any]) -> list[str | None]:
    """Remarks on the responses of each group, and on those of groups that fit alone but begin together."""
    tightest: dict[str, FanInPort] = {}
    for port in ports:
        other = tightest.setdefault(port["group"], port)
        if port["buffer_packets"] / port["responses"] < other["buffer_packets"] / other["responses"]:
            tightest[port["group"]] = port
    groups = {group["name"]: group for group in resolved["traffic"]}
    alone = {
        name: _no_room(port, _spread(groups[name]), _standing(port, groups[name], resolved))
        for name, port in tightest.items()
        if not is_scheduled(groups[name]["scheme"])
    }
    # Groups of several clients seldom meet at one of them.
    fit = [port for port in ports if alone.get(port["group"]) is None and "receiver" in groups[port["group"]]]
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
    return _LATEST_S if waits(group) else number(group.get("start", 0))


_LATEST_S = 1e6
"""The longest time of a scenario: what waits begins after all traffic that does not."""


def _spread(*groups: dict[str, Any]) -> float:
    """Seconds from the first response that begins to the last."""
    return max(map(_last, groups)) - min(map(_start, groups))


def _last(group: dict[str, Any]) -> float:
    """When the last response begins, as a rule: of exponential delays, the mean counts."""
    delays = [] if group.get("together") else ["jitter", "exponential"]
    delays += ["think-jitter"] if has_requests(group) else []
    return _start(group) + sum(number(group.get(key, 0)) for key in delays)


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
        if is_endless(each)
        and (each["to"], each["receiver"]) == (group["to"], group["receiver"])
        and (begins_again or _start(each) < _start(group))
    ]
    # A single flow sends no faster than its own link.
    if sum(int(each["flows"]) for each in long) < 2:
        return _NOTHING
    marking = marking_of(resolved)
    schemes = {each["scheme"] for each in long}
    if marking is not None and marking.is_like_dctcp and schemes <= like_dctcp():
        standing = in_packets(marking.at(port["cables"]), port["packet_bytes"])
    elif all(map(reacts_to_losses_alone, schemes)) and resolved["transport"].get("ecn", "auto") != "on":
        # When the queue is full, a loss halves the windows (RFC 5681, Eq. 4), if it does so of all flows at once.
        standing = max(0, port["buffer_packets"] - port["path_packets"]) / 2
    else:
        return _NOTHING
    return _Standing(standing, ", ".join(f"traffic.{each['name']}" for each in long))


def _no_room(port: FanInPort, spread: float, standing: _Standing = _NOTHING) -> str | None:
    """A remark on a buffer with less room than a packet for each response, or than their first windows take.

    Args:
        port: The port.
        spread: Seconds from the first response that begins to the last.
        standing: What is in the queue before.

    """
    start = f"traffic.{port['group']}: {port['responses']:,.0f} responses at once cross {port['port']}, which holds "
    free = max(0, port["buffer_packets"] - standing.packets)
    room = free + _sent(port, spread)
    holds = f"{port['buffer_packets']:,} packets"
    if standing.packets:
        holds += f", {free:,.0f} beside the queue of the long flows of {standing.groups}"
    if room < port["responses"]:
        return f"{start}{holds}: less than one for each, so packets are lost if all begin together"
    # It sends while they arrive.
    waiting = port["first_packets"] * (1 - port["rate_bps"] / port["arriving_bps"])
    if waiting > room:
        return (
            f"{start}{holds}. Of their first windows ({port['first_packets']:,.0f} packets), {waiting:,.0f} have to "
            "wait there, so packets are lost if all begin together"
        )
    return None


def _sent(port: FanInPort, spread: float) -> float:
    """Packets that a port sends while responses begin one after another."""
    return port["rate_bps"] * spread / 8 / port["packet_bytes"]


def without_jitter(scenario: dict[str, Any]) -> list[str]:
    """The jitters to set in a resolved scenario in which traffic starts at once and nothing else is random, if any."""
    # What has a load arrives at random.
    starts_vary = any(
        ("load" in group and group.get("arrivals") != "periodic") or _spread(group) > 0 for group in scenario["traffic"]
    )
    packets_vary = number(scenario["network"].get("host-jitter", 0)) > 0
    if starts_vary or packets_vary or any(fault["kind"] == "loss" for fault in scenario["fault"]):
        return []
    groups = [group for group in scenario["traffic"] if "jitter" in group]
    return [f"traffic.{group['name']}.jitter" for group in groups]


SOME_JITTER = "20us"
"""A jitter to try first: longer than the usual time between two interrupts, which hand over together what came in."""


def _unshared(ports: list[Link], network: dict[str, Any]) -> str | None:
    """A remark on a port with memory of its own that is more than all ports of a shallow switch have together."""
    port = max(ports, key=lambda port: port["buffer_bytes"] or 0)
    own = port["buffer_bytes"] or 0
    if network["admission"] != "static" or own <= _WHOLE_SWITCH_BYTES:
        return None
    return (
        f"{port['name']} has {own / 1e6:,.4g} MB of its own, more than all ports of a Trident II+ share "
        f"({_WHOLE_SWITCH_BYTES / 1e6:g} MB). If the ports of your switch share memory, set network.shared-buffer to "
        "all of it instead of network.buffer"
    )


_WHOLE_SWITCH_BYTES = 16_000_000
"""The memory of a Trident II+, which usually has 48 ports of 10 Gbit/s and four to six faster ones (ipSpace.net, June
2019, "Switch Buffer Sizes and Fermi Estimates")."""


def _overloaded(tier: TierLoad) -> str | None:
    """A remark on a tier whose ports get more than they can carry: their queues grow during the whole run."""
    if tier["load"] is None or tier["load"] <= 1:
        return None
    return f"the tier {tier['tier']} does not carry the load: {tier['port']} is offered {100 * tier['load']:.0f} %"


def _answered_by_few(group: dict[str, Any], ports: list[Link]) -> str | None:
    """A remark on queries with more responses than hosts that send them: the link of a host keeps its own apart."""
    # Who has servers share hosts means that.
    if group["from"] not in ("by-part", "all") or group["placement"] != "own-host":
        return None
    name, fan_in = group["name"], int(group["fan-in"])
    if group["from"] == "all":
        # Nobody asks itself.
        hosts = sum(port["buffer_bytes"] is None for port in ports) - (group["to"] == "all")
        fix = f"set traffic.{name}.fan-in = {hosts}, or have more hosts"
    else:
        hosts, fix = int(group["senders"]), f"set traffic.{name}.senders = {fan_in}"
    if hosts >= fan_in:
        return None
    links = "host, whose link sends" if hosts == 1 else "hosts, each of whose links sends"
    return f"{fan_in:,} responses of traffic.{name} come from {hosts:,} {links} them one after another; {fix}"


def _too_few_hosts(network: Network, offered: list[dict[str, Any]], resolved: dict[str, Any]) -> str | None:
    """A remark on a load that the links of the senders do not carry, as where few hosts send for many servers."""
    by_part = {group["name"] for group in resolved["traffic"] if group["from"] == "by-part"}
    loads = {load["group"]: load["offered_bps"] for load in offered if load["group"] in by_part}
    senders = of_hosts(network, "sender")
    rates = [link["rate_bps"] for link in network["links"] if link["name"] in senders]
    if not rates or sum(loads.values()) <= sum(rates):
        return None
    groups, hosts = ", ".join(f"traffic.{name}" for name in loads), "host sends" if len(rates) == 1 else "hosts send"
    return (
        f"{groups}: {rate_text(sum(loads.values()))} are offered, but {len(rates)} {hosts} at most "
        f"{rate_text(sum(rates))}, so transfers wait in the senders; let more hosts send, or lower the load"
    )

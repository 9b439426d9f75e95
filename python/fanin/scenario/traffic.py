"""What the traffic groups of a resolved scenario are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from fanin.numbers.units import FRAME_BYTES, Quantity, number, quantity
from fanin.registry import registry


@cache
def fan_in_keys() -> dict[str, str]:
    """Each kind of traffic from many senders to one, and its key for their number."""
    return {row["key"]: row["fan_in"] for row in registry()["traffic"] if row["fan_in"]}


def is_fan_in(group: dict[str, Any]) -> bool:
    """Whether many senders send to one receiver."""
    return group["kind"] in fan_in_keys()


def response_bytes(group: dict[str, Any]) -> float:
    """The size of a response of a fan-in; 0 if the scenario does not say it."""
    senders = fan_in_keys()[group["kind"]]
    return number(group.get("bytes-each", 0)) or number(group.get("bytes-total", 0)) / int(group[senders])


def has_requests(group: dict[str, Any]) -> bool:
    """Whether responses are asked for: without a request there is nothing to think about."""
    return number(group.get("request", 0)) > 0


def is_endless(group: dict[str, Any]) -> bool:
    """Whether transfers have no end, as long flows beside queries."""
    return group["kind"] == "background" and quantity(group["bytes-each"]) == (0, "B")


STEADY = "steady"
"""The start of traffic that waits until what runs before it is steady."""


def waits(group: dict[str, Any]) -> bool:
    """Whether traffic begins once what runs before it is steady."""
    return bool(group.get("start") == STEADY)


def as_run(resolved: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
    """A resolved scenario with the times that a run gave it: what counts from when waiting traffic began is moved.

    Args:
        resolved: The scenario with every default filled in.
        summary: The totals of the run.

    """
    if not any(waits(group) for group in resolved["traffic"]):
        return resolved
    later = _later(resolved, summary)
    warmup = resolved["measure"]["warmup"]
    return {
        **resolved,
        "traffic": [{**group, "start": later(0.0)} if waits(group) else group for group in resolved["traffic"]],
        "fault": [{**fault, "at": later(fault["at"].number)} for fault in resolved["fault"]],
        "measure": {**resolved["measure"], "warmup": later(warmup.number) if warmup.number else warmup},
    }


def _later(resolved: dict[str, Any], summary: dict[str, Any]) -> Callable[[float], Quantity]:
    """A time that counts from when the traffic that waited began."""
    found = summary["steady_s"]
    began = resolved["run"]["steady-limit"].number if found is None else float(found)

    def later(time: float) -> Quantity:
        text = f"{began + time:.12f}"
        return Quantity(f"{text}s", float(text), "s")

    return later


def without_waiting(resolved: dict[str, Any], summary: dict[str, Any]) -> dict[str, str]:
    """The settings with which traffic that waited in a run begins at the same time without waiting; arguments as above.

    A backend that cannot wait has the same run then.
    """
    waiting = [group for group in resolved["traffic"] if waits(group)]
    if not waiting:
        return {}
    moved, later = as_run(resolved, summary), _later(resolved, summary)
    warmup = moved["measure"]["warmup"]
    return {
        **{f"traffic.{group['name']}.start": later(0.0) for group in waiting},
        **{f"traffic.{group['name']}.stop": later(stop) for group in waiting if (stop := number(group.get("stop", 0)))},
        **{f"fault.{fault['name']}.at": fault["at"] for fault in moved["fault"]},
        **({"measure.warmup": warmup} if warmup.number else {}),
        "run.duration": later(resolved["run"]["duration"].number),
    }


def comes_by_a_clock(group: dict[str, Any]) -> bool:
    """Whether transfers start at times that do not depend on when others end."""
    return bool({"load", "interval"} & group.keys())


def begin_together(scenario: dict[str, Any]) -> bool:
    """Whether all transfers of known size begin within a round trip with a full buffer: their last one is waited for.

    Args:
        scenario: The scenario as :meth:`fanin.scenario.file.ScenarioFile.of_fan_in` gives it.

    """
    finite = [group for group in scenario["traffic"] if not is_endless(group)]
    if not finite or any(group["kind"] not in ("flows", "background") for group in finite):
        return False
    begins = [number(group["start"]) for group in finite]
    ends = [begin + _apart(group) for begin, group in zip(begins, finite, strict=True)]
    network = scenario["network"]
    size, unit = quantity(network["buffer" if network["admission"] == "static" else "shared-buffer"]) or (0.0, "")
    wait = 8 * size * (FRAME_BYTES if unit == "pkt" else 1.0) / number(network["rate"])
    return max(ends) - min(begins) <= 4 * number(network["delay"]) + wait


def _apart(group: dict[str, Any]) -> float:
    """Between the first and the last start of a group, in seconds."""
    if group["kind"] == "flows":
        return float(group["starts-within"])
    # Ten times the mean of an exponential distribution is more than one of 20,000 exceeds.
    apart = (int(group["flows"]) - 1) * number(group["interval"])
    return apart + number(group["jitter"]) + 10 * number(group["exponential"])


def at_once(group: dict[str, Any]) -> int:
    """How many responses of a fan-in begin at once; of a relay tree, the client gets the answers of the relays."""
    given = (int(group[key]) for key in (fan_in_keys()[group["kind"]], "concurrent", "edge-count") if group.get(key))
    return min(given, default=0)


class Together(NamedTuple):
    """The load of groups that share what they send to."""

    groups: list[str]
    load_of: str
    load: float
    """Share of what that can carry."""


def loads_together(offered: Iterable[dict[str, Any]], traffic: list[dict[str, Any]]) -> list[Together]:
    """The loads of a scenario, those of groups with the same receivers added up.

    Args:
        offered: The load of each group, as the engine says it.
        traffic: The groups of the resolved scenario.

    """
    ends = {group["name"]: tuple(group.get(key) for key in ("to", "receivers", "receiver")) for group in traffic}
    found: dict[tuple[Any, ...], Together] = {}
    for each in offered:
        if each["load"]:
            key = (each["load_of"], *ends.get(each["group"], ()))
            before = found.get(key, Together([], each["load_of"], 0.0))
            found[key] = Together([*before.groups, each["group"]], before.load_of, before.load + each["load"])
    return list(found.values())

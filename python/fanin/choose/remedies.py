"""Remedies against incast for a scenario: what to change, what that takes, and how much of an effort it is.

Sizes follow from the scenario's own numbers: thresholds from the rate, the number of answers at once from the buffer,
the jitter from the time that the link needs for all answers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from fanin import _engine
from fanin.choose.comparison import SCHEME
from fanin.choose.diagnosis import Facts
from fanin.errors import ScenarioError
from fanin.numbers.units import quantity, seconds
from fanin.registry import registry
from fanin.scenario.format.values import Scalar


class Effort(IntEnum):
    """What a remedy needs, the least effort first."""

    NOTHING = 0
    HOSTS = 1
    APPLICATION = 2
    SWITCH_SETTING = 3
    KERNEL = 4
    SWITCH = 5
    CONTROLLER = 6

    @property
    def is_deployable(self) -> bool:
        """Whether it takes only what can be bought and set today."""
        return self <= Effort.SWITCH_SETTING


@dataclass(frozen=True)
class Remedy:
    """A change of the scenario."""

    name: str
    settings: dict[str, Scalar]
    effort: Effort
    needs: str
    """What it takes to deploy, in words."""

    @property
    def command(self) -> str:
        """The options that set it."""
        return " ".join(f"--set {path}={value}" for path, value in self.settings.items())


AS_IT_IS = "as it is"

SYSTEMS: dict[str, tuple[Effort, str]] = {
    "newreno": (Effort.HOSTS, "hosts without SACK (RFC 6582): no remedy, for comparison"),
    "linux": (Effort.HOSTS, "Linux hosts with their default, CUBIC"),
    "linux-reno": (Effort.HOSTS, "Linux hosts with net.ipv4.tcp_congestion_control=reno"),
    "linux-dctcp": (
        Effort.SWITCH_SETTING,
        "an ECN threshold in the switch, and Linux hosts with net.ipv4.tcp_congestion_control=dctcp",
    ),
    "dctcp": (Effort.SWITCH_SETTING, "an ECN threshold in the switch, and net.ipv4.tcp_congestion_control=dctcp"),
    "l2dct": (Effort.KERNEL, "a kernel module on the senders, and an ECN threshold in the switch"),
    "d2tcp": (Effort.KERNEL, "a kernel module on the senders, deadlines of applications, and an ECN threshold"),
    "dt-dctcp": (Effort.SWITCH, "a switch that marks by two thresholds, and DCTCP on the hosts"),
    "ictcp": (Effort.KERNEL, "a driver or kernel module on the receivers"),
    "sab": (Effort.SWITCH, "a switch that counts flows and writes windows"),
    "pfdct": (Effort.SWITCH, "a switch that tells short flows from long ones, and a kernel module on the senders"),
    "pfdct-st": (Effort.SWITCH, "a switch that tells short flows from long ones, and DCTCP on the hosts"),
    "dt-cwa": (Effort.SWITCH, "a switch that marks by two thresholds, and a kernel module on the senders"),
    "rcc": (Effort.KERNEL, "a kernel module on the receivers, and ECN marks in the switch"),
    "rcce": (Effort.KERNEL, "a kernel module at the receivers' edge, and for flowcells a controller of the paths"),
    "sdtcp": (Effort.CONTROLLER, "OpenFlow switches with an extension that rewrites windows, and a controller"),
}
"""Scheme -> what it needs beyond hosts and switches as they are sold."""

_SHORT = "1ms"
"""A minimum of the timer that is many round trips of a data centre and far below the default of 200 ms."""

_ANY_TRAFFIC = '[[traffic]]\nkind = "incast"\nsenders = 1\nbytes-each = "1KB"\n'
"""A default of the network's rates needs some traffic, whichever."""


def remedies(facts: Facts, is_valid: Callable[[dict[str, Scalar]], None]) -> tuple[list[Remedy], list[str]]:
    """The remedies to try, the scenario as it is first; and why others cannot be tried on this scenario.

    Args:
        facts: What a run of the scenario says about it.
        is_valid: Raises a :class:`ScenarioError` if the scenario is not valid with these values.

    """
    own = Remedy(AS_IT_IS, {}, Effort.NOTHING, "nothing")
    found, refused = [own], []
    for each in (*_of_hosts(facts), *_of_applications(facts), *_of_switches(facts), *_systems(facts)):
        try:
            is_valid(each.settings)
        except ScenarioError as error:
            refused.append(f"{each.name}: {error}")
            continue
        if each.settings not in [other.settings for other in found]:
            found.append(each)
    return found, refused


def _of_hosts(facts: Facts) -> Iterator[Remedy]:
    transport = facts.scenario["transport"]
    if seconds(transport["rto-min"]) > seconds(_SHORT):
        yield Remedy(
            f"timer of {_SHORT}",
            {"transport.rto-min": _SHORT},
            Effort.HOSTS,
            f"rto_min {_SHORT} in the senders' routes (ip route ... rto_min)",
        )
    if facts.size(transport["initial-window"]) > 2 * facts.segment:
        window = "a window of 2 segments at first"
        yield Remedy(window, {"transport.initial-window": "2mss"}, Effort.HOSTS, "initcwnd 2 in the senders' routes")
    if transport["scheme"] != "linux" and transport["stack"] != _LINUX:
        yield Remedy(
            f"{transport['scheme']} on Linux's TCP",
            {"transport.stack": _LINUX},
            Effort.HOSTS,
            "Linux hosts (SACK, RACK, tail loss probes)",
        )


_LINUX = "linux-6"


def _of_applications(facts: Facts) -> Iterator[Remedy]:
    group = facts.fan_in
    if group is None:
        return
    at_once, _ = facts.first_windows
    few = facts.answers_that_fit
    if "concurrent" in group and few < at_once:
        yield Remedy(
            f"at most {few} answers at once",
            {f"traffic.{group['name']}.concurrent": few},
            Effort.APPLICATION,
            "a client that asks for so many answers at a time",
        )
    answer = quantity(group.get("bytes-each", ""))
    if "jitter" in group and answer is not None and at_once:
        all_s = at_once * answer[0] * 8 / facts.port.rate_bps
        spread = f"{max(1, round(1.25 * all_s * 1e6))}us"
        if seconds(group["jitter"]) < seconds(spread):
            yield Remedy(
                f"starts spread over {spread}",
                {f"traffic.{group['name']}.jitter": spread},
                Effort.APPLICATION,
                "servers that wait for a random time before they answer",
            )


def _of_switches(facts: Facts) -> Iterator[Remedy]:
    network = facts.scenario["network"]
    if network["admission"] == "static":
        ports = facts.port.beside
        memory = round(ports * facts.buffer)
        yield Remedy(
            "ports share the switch's memory",
            {"network.admission": "dynamic-threshold", "network.shared-buffer": f"{memory}B", "network.dt-alpha": 8},
            Effort.SWITCH_SETTING,
            f"a dynamic threshold of 8 over {ports} ports' buffers together: one port may take eight ninths of "
            "them, as long as the others' queues are short",
        )
    elif float(network["dt-alpha"]) < 8:
        yield Remedy("dynamic threshold of 8", {"network.dt-alpha": 8}, Effort.SWITCH_SETTING, "alpha 8 in the switch")
    marks: dict[str, Scalar] = {SCHEME: "linux-dctcp", "transport.stack": _LINUX, "queue.kind": "auto"}
    needs = SYSTEMS["linux-dctcp"][1]
    for packets in thresholds(facts):
        mark = {**marks, "scheme.linux-dctcp.mark-threshold": f"{packets}pkt"}
        yield Remedy(f"Linux DCTCP, marks from {packets} packets", mark, Effort.SWITCH_SETTING, needs)
        timed = {**mark, "transport.rto-min": _SHORT}
        also = f"{needs}; rto_min {_SHORT} in the senders' routes"
        yield Remedy(f"Linux DCTCP, {packets} packets, timer of {_SHORT}", timed, Effort.SWITCH_SETTING, also)


def thresholds(facts: Facts) -> list[int]:
    """ECN thresholds in packets: what DCTCP's authors take at this rate, and a third of it; less than the buffer."""
    network = facts.scenario["network"]
    rates = [
        (f"network.{key}", str(value)) for key, value in network.items() if key == "topology" or key.endswith("rate")
    ]
    # The default, also where the scenario has a value of its own.
    resolved = json.loads(_engine.resolve(_ANY_TRAFFIC, "", [*rates, (SCHEME, "linux-dctcp")]))
    default = quantity(resolved["scheme"]["linux-dctcp"]["mark-threshold"])
    assert default is not None
    usual = int(default[0])
    most = max(1, math.floor(0.8 * facts.buffer / facts.segment))
    return list(dict.fromkeys([min(usual, most), min(max(1, usual // 3), most)]))


def _systems(facts: Facts) -> Iterator[Remedy]:
    """The schemes that fanin has, each as its paper describes it."""
    for row in registry()["schemes"]:
        key = row["key"]
        effort, needs = SYSTEMS[key]
        if key not in (facts.scenario["transport"]["scheme"], "linux-dctcp", "dctcp", "newreno"):
            yield Remedy(key, {SCHEME: key, "queue.kind": "auto"}, effort, needs)

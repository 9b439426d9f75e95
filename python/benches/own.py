"""Prints what a scheme in Python costs: the CPU time of an empty ``on_ack`` and ``on_packet``, and ratios to a hop.

The windows of the receivers limit the senders, so that a window that does not grow changes nothing. The run is that of
NewReno, which is the other half of each pair.
"""

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import fanin

PAIRS = 15


class Empty(fanin.CongestionControl):
    """Does nothing on an acknowledgement."""

    def on_ack(self, cx: fanin.SenderCx, ack: fanin.AckEvent) -> None:
        """Leaves the window alone."""


class EmptyAgent(fanin.SwitchAgent):
    """Forwards each packet."""

    def on_packet(self, cx: fanin.SwitchCx, packet: fanin.Packet, passage: fanin.Passage) -> None:
        """Leaves the packet alone."""


def at_switches(agent: type[Any]) -> type[fanin.CongestionControl]:
    """A scheme with NewReno's senders and these agents."""
    return type("Switched", (fanin.CongestionControl,), {"switch": agent})


def scenario(scheme: str | type[fanin.CongestionControl]) -> fanin.Scenario:
    """An incast whose windows are constant."""
    return fanin.Scenario(
        network={"topology": "star", "rate": "10Gbps", "delay": "5us", "buffer": "1MB"},
        transport={"scheme": scheme, "initial-window": "20mss", "receive-buffer": "28KB"},
        traffic=[{"name": "reads", "kind": "incast", "senders": 8, "bytes-each": "2MB", "rounds": 20}],
    )


def calls_of(method: str, role: type, scheme: Callable[[type[Any]], type[fanin.CongestionControl]]) -> int:
    """How often a run calls the method."""
    counted = itertools.count()
    counting = type("Counting", (role,), {method: lambda *_: [next(counted)].clear()})
    scenario(scheme(counting)).run(moved=None)
    return next(counted)


def measure(method: str, role: type, scheme: Callable[[type[Any]], type[fanin.CongestionControl]]) -> str:
    """What a call of the empty method of a role costs."""
    schemes: list[str | type[fanin.CongestionControl]] = ["newreno", scheme(role)]
    handles = [scenario(each).handle() for each in schemes]
    (plain, own) = (scenario(each).run(moved=None).summary for each in schemes)
    if plain["result_hash"] != own["result_hash"]:
        sys.exit("both should be the same run")
    pairs = []
    for _ in range(PAIRS):
        spent = []
        for handle in handles:
            begun = time.thread_time()
            handle.run(1)
            spent.append(time.thread_time() - begun)
        pairs.append(spent)
    call = statistics.median(own - plain for plain, own in pairs) / calls_of(method, role, scheme)
    hop = statistics.median(plain for plain, _ in pairs) / plain["packet_hops"]
    return (
        f"{1e9 * call:.0f} ns a call of an empty {method}, {call / hop:.1f} times a packet-hop of {1e9 * hop:.0f} ns; "
        f"the run takes {statistics.median(own / plain for plain, own in pairs):.2f} times as long\n"
    )


def main() -> None:
    """Measures and prints."""
    sys.stdout.write(measure("on_ack", Empty, lambda role: role))
    sys.stdout.write(measure("on_packet", EmptyAgent, at_switches))


if __name__ == "__main__":
    main()

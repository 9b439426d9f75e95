"""Prints what a scheme in Python costs: the CPU time of a call of an empty ``on_ack``, and its ratio to a packet-hop.

The windows of the receivers limit the senders, so that a window that does not grow changes nothing. The run is that of
NewReno, which is the other half of each pair.
"""

import statistics
import sys
import time

import fanin

PAIRS = 15


class Empty(fanin.CongestionControl):
    """Does nothing on an acknowledgement."""

    def on_ack(self, cx: fanin.SenderCx, ack: fanin.AckEvent) -> None:
        """Leaves the window alone."""


class Counting(fanin.CongestionControl):
    """Counts its calls."""

    calls = 0

    def on_ack(self, cx: fanin.SenderCx, ack: fanin.AckEvent) -> None:
        """Counts this call."""
        Counting.calls += 1


def scenario(scheme: str | type[fanin.CongestionControl]) -> fanin.Scenario:
    """An incast whose windows are constant."""
    return fanin.Scenario(
        network={"topology": "star", "rate": "10Gbps", "delay": "5us", "buffer": "1MB"},
        transport={"scheme": scheme, "initial-window": "20mss", "receive-buffer": "28KB"},
        traffic=[{"name": "reads", "kind": "incast", "senders": 8, "bytes-each": "2MB", "rounds": 20}],
    )


def main() -> None:
    """Measures and prints."""
    schemes: list[str | type[fanin.CongestionControl]] = ["newreno", Empty]
    handles = [scenario(scheme).handle() for scheme in schemes]
    (plain, own) = (scenario(scheme).run(moved=None).summary for scheme in schemes)
    if plain["result_hash"] != own["result_hash"]:
        sys.exit("both should be the same run")
    scenario(Counting).run(moved=None)
    pairs = []
    for _ in range(PAIRS):
        spent = []
        for handle in handles:
            begun = time.thread_time()
            handle.run(1)
            spent.append(time.thread_time() - begun)
        pairs.append(spent)
    call = statistics.median(own - plain for plain, own in pairs) / Counting.calls
    hop = statistics.median(plain for plain, _ in pairs) / plain["packet_hops"]
    sys.stdout.write(
        f"{1e9 * call:.0f} ns a call of an empty on_ack, {call / hop:.1f} times a packet-hop of {1e9 * hop:.0f} ns; "
        f"the run takes {statistics.median(own / plain for plain, own in pairs):.2f} times as long\n"
    )


if __name__ == "__main__":
    main()

"""What happened in a run: whether it collapsed, and why.

The port is found, not assumed: it lost most bytes, or else it was the busiest (:func:`fanin.run.observed.bottleneck`).
What its link lay idle counts only while a transfer was under way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from fanin._engine import Scenario
from fanin.choose.goals import usual_goal
from fanin.choose.outcomes import Outcome, Whom
from fanin.choose.queries import Alone, Queries, Spread, in_bursts, queries
from fanin.choose.waits import Waits, covered, waits, with_waiting
from fanin.later import pl
from fanin.numbers.units import Quantity, number
from fanin.results.runs import Run
from fanin.run.observed import OF_FAULTS, bottleneck, faults_of_rates, faulty_s, lost_to_faults, mean_rate
from fanin.scenario.engine_rows import FanInPort, Network, between, of_hosts
from fanin.scenario.loads import without_jitter
from fanin.scenario.thresholds import header_bytes, packet_bytes, share_of_memory
from fanin.scenario.traffic import (
    Together,
    as_run,
    at_once,
    begin_together,
    comes_by_a_clock,
    fan_in_keys,
    has_requests,
    is_endless,
    is_fan_in,
    loads_together,
    response_bytes,
)

_MIN_IDLE_OF_COLLAPSE = 0.5
"""From this share of idle time on, timers and not the link decide how long the transfers took."""

_MIN_DECISIVE_SHARE = 0.5
"""Waits for tail loss probes are the cause if they last for at least this share of the idle time."""

SLOW = 1 / (1 - _MIN_IDLE_OF_COLLAPSE)
"""Queries that take so many times longer than alone do not use the link for as large a share of their time."""

_MIN_WAIT_ROUND_TRIPS = 10
"""A transfer that takes so many round trips longer than in an empty network waits for something else."""

_MIN_DELAY_SHARE = 0.9
"""It may be a delayed acknowledgement, if it takes longer by so much of its delay."""

_MIN_SEGMENTS_OF_DELAY = 2
"""A receiver that acknowledges fewer segments than that delays no acknowledgement."""

_MIN_SHARE_OF_P99 = 0.01
"""What fewer wait for than that moves no 99th percentile."""

_MIN_IDLE_TO_TELL = 0.01
"""A link that lies idle for less than this share of the time is busy."""

_MIN_PART_APART = 0.1
"""From this share of what queries need on, it is told that their answers begin apart."""

_MIN_BUSY_SHARE = 0.8
"""From this share on a link counts as full: the rest is a round trip at the start and at the end."""

MAX_EVENTS_TO_TRY = 5_000_000
"""A run of more events takes more than about half a second, and nobody waits for a dozen of these unasked."""

_MAX_GROWTH_OF_EVENTS = 6
"""A change may make a run so much longer."""

_MIN_CROSSING_SHARE = 0.7
"""All payload crosses a port if so much of what it sent arrived as new payload; the rest is headers and repetitions."""

_FIELDS_OF_RECORD = (
    *("outcome", "whom", "goal", "observed", "transfers", "unfinished", "timeouts", "lost_to_faults", "lossiest"),
    *("round_trip_s", "loaded_s", "warmup_s", "under_way_s", "busy_s", "idle_s", "idle_share", "idle_tells"),
    *("faulty_s", "gaps_s", "is_incast", "apart"),
)
"""What the record has as it is."""

_CAUSES_OF_TIMEOUTS = ("syn", "full_window", "few_duplicates", "lost_retransmission", "spurious")
"""Causes of timeouts, as the totals name them."""


@dataclass(frozen=True)
class Port:
    """The port that decided the run."""

    name: str
    rate_bps: float
    """Its rate in the mean over the run: faults change it."""
    is_slowed: bool
    """Whether a fault lowered it."""
    sent_bytes: float
    drops: int
    reason: str | None
    """The most frequent cause of its drops, as the table of drops names it."""
    for_other_reasons: int
    """How many of them had another one, as far as the table goes."""
    first_drop_s: float | None
    last_drop_s: float | None
    largest_bytes: float | None
    """The longest queue, if the run measured that port."""
    into_bps: float
    """What the hosts of its switch can send together."""
    out_bps: float
    """What all ports of its switch towards other switches carry together."""
    cables: str | None
    """The tier of its cable, as keys of the scenario begin with it; ``None`` for a cable of a host."""
    between_switches: bool
    beside: int
    """Number of ports of its switch."""

    @property
    def oversubscribed(self) -> float:
        """What the hosts behind it can send, over what its switch can pass on; 0 for a port towards a host."""
        return self.into_bps / self.out_bps if self.between_switches and self.out_bps else 0.0


@dataclass(frozen=True)
class Diagnosis:
    """What a run's totals and tables say about its course."""

    scenario: dict[str, Any] = field(repr=False)
    """The scenario with every default filled in."""
    summary: dict[str, Any] = field(repr=False)
    port: Port
    buffer: float
    """What that port can hold, in bytes, while the others of its switch are empty."""
    under_way_s: float
    """For how long at least one transfer was under way."""
    window_s: float
    """Over how long the goodput is measured."""
    busy_s: float
    """For how long the port sent during that time, at most."""
    faulty_s: float
    """For how long of the same a link was down or had another rate by a fault."""
    transfers: int
    delivered_bytes: float
    waits: Waits
    """The timers that they waited for."""
    queries: Queries | None
    """How long the queries of a fan-in took, that with the slowest for what they need; ``None`` if there are none."""
    bursts: Queries | None
    """The same of transfers of a file that many senders begin at one time; ``None`` if there are none."""
    round_trip_s: float
    """A round trip between hosts of the topology, without queues."""
    loaded_s: float
    """The same with the wait in the longest queue, or in a full buffer if that was not measured."""
    typical_bytes: float
    """Median size of the transfers; 0 if all are endless."""
    waited_for_faults: bool
    """Whether most transfers that waited for a timer had lost packets to faults, or met what was down."""
    observed: str | None
    """The port whose queue the run measured as that of its bottleneck."""
    lossiest: str
    """The link that lost most packets, for whatever reason."""
    all_cross: bool
    """Whether all payload crosses the port, so that the goodput of the run is that of its link."""
    at_senders: bool
    """Whether a fault is at the link of a sender, which is not there if there are fewer."""

    @property
    def warmup_s(self) -> float:
        """How much of the beginning is left out of the time over which the goodput is measured; 0 without a warm-up."""
        warmup = self.scenario["measure"]["warmup"].number
        return warmup if warmup < self.summary["simulated_s"] else 0.0

    @property
    def gaps_s(self) -> float:
        """For how long of the time over which the goodput is measured no transfer was under way."""
        return max(0.0, self.window_s - self.under_way_s)

    @property
    def idle_s(self) -> float:
        """For how long the port had nothing to send although transfers were under way, at least."""
        return max(0.0, self.under_way_s - self.busy_s)

    @property
    def idle_share(self) -> float:
        """The same as a share."""
        return self.idle_s / self.under_way_s if self.under_way_s > 0 else 1.0

    @property
    def idle_tells(self) -> bool:
        """Whether the idle time is a matter of what transfers waited for, and not of traffic that asks for no more."""
        match self.outcome:
            case Outcome.CROWDED | Outcome.FULL:
                return False
            case Outcome.COLLAPSE | Outcome.TIMEOUTS | Outcome.HELD_UP:
                asked = self.outcome == Outcome.TIMEOUTS and self.summary.get("offered") and self.excess is None
                return self.idle_share >= _MIN_IDLE_TO_TELL and not self.starved and not asked
            case _:
                return True

    @property
    def may_stall(self) -> bool:
        """Whether windows of one segment wait for acknowledgements that are delayed."""
        transport = self.scenario["transport"]
        window = min(self.size(transport["initial-window"]), self.receive_window)
        is_short = window < _MIN_SEGMENTS_OF_DELAY * self.size(transport["mss"])
        return is_short and int(transport["ack-every"]) >= _MIN_SEGMENTS_OF_DELAY and transport["ack-delay"].number > 0

    @property
    def delays_acknowledgements(self) -> bool:
        """Whether receivers delay acknowledgements for many round trips, if windows fall to one segment."""
        transport = self.scenario["transport"]
        delay_s = number(transport["ack-delay"])
        return (
            int(transport["ack-every"]) >= _MIN_SEGMENTS_OF_DELAY
            and delay_s >= _MIN_WAIT_ROUND_TRIPS * self.round_trip_s
        )

    @property
    def stalled(self) -> bool:
        """Whether such windows made some transfer longer by delayed acknowledgements than by round trips."""
        transport = self.scenario["transport"]
        delay_s = number(transport["ack-delay"])
        if not self.may_stall or self.idle_share < _MIN_IDLE_OF_COLLAPSE:
            return False
        if not self.typical_bytes:
            # How long each of their windows took is not known, but that the receiver never lets a second segment go.
            return bool(self.endless) and self.receive_window < _MIN_SEGMENTS_OF_DELAY * self.size(transport["mss"])
        return bool(self.waits.longest_s >= max(_MIN_DELAY_SHARE * delay_s, _MIN_WAIT_ROUND_TRIPS * self.loaded_s))

    @property
    def receive_window(self) -> float:
        """Bytes of payload that a receiver lets a sender have in flight, which sends whole segments."""
        return _receive_window(self.scenario)

    @property
    def at_once(self) -> int:
        """How many transfers share the link: those of the fan-in, or else the endless ones; at least one."""
        endless = [int(group["flows"]) for group in self.scenario["traffic"] if is_endless(group)]
        return max(1, self.first_windows[0] or sum(endless))

    @property
    def interrupts_s(self) -> float:
        """What hosts add to a round trip at most, until they are told of a segment and of its acknowledgement."""
        return 2 * number(self.scenario["transport"]["interrupt-interval"])

    @property
    def limited_bps(self) -> float | None:
        """What the receivers' windows let a fan-in, endless flows or one transfer send; ``None`` if about its rate."""
        if self.typical_bytes <= self.receive_window and not (self.endless and not self.typical_bytes):
            return None
        rate = self.at_once * 8 * self.receive_window / (self.round_trip_s + self.interrupts_s)
        return rate if rate < _MIN_BUSY_SHARE * self.port.rate_bps else None

    @property
    def filling_window(self) -> int:
        """The window of a receiver, in KB, with which the fan-in, or one transfer, fills the link and the buffer."""
        in_flight = self.port.rate_bps * (self.round_trip_s + self.interrupts_s) / 8
        return math.ceil((in_flight + self.buffer) / self.at_once / 1e3)

    @property
    def lost_to_faults(self) -> int:
        """Packets that were lost by faults, random or of links that were down, and not by queues."""
        return lost_to_faults(self.summary)

    @property
    def faulty(self) -> bool:
        """Whether these are most of the packets that were lost."""
        return self.lost_to_faults > int(self.summary["drops"]) - self.lost_to_faults

    @property
    def held_up(self) -> bool:
        """Whether a fault held transfers up for most of the time: timers expired, but without a loss."""
        lasted = self.faulty_s >= _MIN_DECISIVE_SHARE * self.under_way_s > 0
        return lasted and (self.is_spurious or not self.timeouts or not self.summary["drops"])

    @property
    def is_spurious(self) -> bool:
        """Whether most timers that expired did so although what they waited for was not lost."""
        return 2 * self.timeouts.get("spurious", 0) >= sum(self.timeouts.values()) > 0

    @property
    def collapsed(self) -> bool:
        """Whether timers after losses of queues, and not the link, decided how long it took what is waited for.

        That is the last transfer where all begin together, and the queries of a fan-in. Where these come by a clock,
        the link lies idle between them, too: it is how long the median took that tells.
        """
        if self.faulty or self.held_up or self.waited_for_faults:
            return False
        queries = self.queries or self.bursts
        if self.is_barrier:
            by_timers = self.waits.slowest_waited
        else:
            slow = self.is_closed_loop or queries is None or _are_slow_by_timers(queries)
            by_timers = slow and not self.is_spurious
        if not by_timers:
            return False
        timed = self.waits.timed_in_fan_in or self.waits.waiting_in_fan_in
        if self.starved and self.queries is not None and self.queries.by_timers >= _MIN_DECISIVE_SHARE:
            return bool(timed or self.waits.probed_in_fan_in)
        probes = self.waits.probed_in_fan_in and self.waits.probing_s >= _MIN_DECISIVE_SHARE * self.idle_s
        return self.idle_share >= _MIN_IDLE_OF_COLLAPSE and bool(timed or probes)

    @property
    def is_barrier(self) -> bool:
        """Whether several transfers begin together, once, as those of a shuffle: the last of them is waited for."""
        return self.transfers > 1 and begin_together(self.scenario)

    @property
    def others(self) -> list[str]:
        """The groups of traffic that are no fan-in, beside one."""
        return [group["name"] for group in self.scenario["traffic"] if not is_fan_in(group)]

    @property
    def starved(self) -> bool:
        """Whether the link was for the most part of the queries' time not theirs, but that of other traffic."""
        slow = self.queries is not None and self.queries.times >= SLOW
        rates = {group["group"]: group["goodput_bps"] or 0.0 for group in self.summary["groups"]}
        is_theirs = sum(rates[name] for name in self.others) >= _MIN_IDLE_OF_COLLAPSE * sum(rates.values()) > 0
        return slow and self.idle_share < _MIN_IDLE_OF_COLLAPSE and is_theirs

    @property
    def goal(self) -> str:
        """By what this run is compared with others, unless the user says so."""
        usual = usual_goal(self.scenario)
        none_ended = usual != "query-p99" and self.summary["fct_p99_s"] is None
        return "goodput" if none_ended else usual

    @property
    def is_of_few(self) -> bool:
        """Whether timers decided so few that no 99th percentile tells of them, but only the slowest does."""
        if self._outcome != Outcome.TIMEOUTS or not self.typical_bytes:
            return False
        if self.queries is not None:
            return self.queries.waited < _MIN_SHARE_OF_P99
        return self.waits.timed + self.waits.waiting < _MIN_SHARE_OF_P99 * self.transfers

    @property
    def is_fast(self) -> bool:
        """Whether nobody waited for timers, and queries took about as long as alone; without any, the link was busy.

        It may have been idle if traffic at a load asked for no more, but not because of windows or marks.
        """
        is_open = self._outcome not in (Outcome.LOSSES, Outcome.FULL, Outcome.IDLE)
        if is_open or self.limited_bps is not None or self.is_left_idle:
            return False
        if self.queries is not None:
            return self.queries.p99_times < SLOW
        return self._outcome == Outcome.FULL or bool(self.summary.get("offered") and not self.endless)

    @property
    def is_to_mend(self) -> bool:
        """Whether there is a reason to try changes."""
        is_well = self.is_fast and self.jitter_to_set is None and self.excess is None
        return self.outcome != Outcome.CUT_SHORT and not is_well

    @property
    def is_short(self) -> bool:
        """Whether the run is short enough to be made a dozen times unasked."""
        return (
            self.summary["events"] <= MAX_EVENTS_TO_TRY
            and self.most_events <= _MAX_GROWTH_OF_EVENTS * MAX_EVENTS_TO_TRY
        )

    @property
    def most_events(self) -> float:
        """How many events it might have with a change, about: what has not ended goes on while the link is busy."""
        events = float(self.summary["events"])
        if not self.endless and not self.unfinished:
            return events
        busy = events / max(1 - self.idle_share, 1e-9)
        if self.endless or self.fan_in is None or "rounds" not in self.fan_in:
            return busy
        asked = float(self.fan_in["rounds"]) * int(self.fan_in[self.fan_in["key"]]) * self.response_bytes
        return min(busy, events * max(1.0, asked / max(self.delivered_bytes, 1.0)))

    @property
    def excess(self) -> Together | None:
        """The largest load, if it is more than what it is of can carry."""
        loads = loads_together(self.summary.get("offered") or [], self.scenario["traffic"])
        return max((each for each in loads if each.load > 1), key=lambda each: each.load, default=None)

    @property
    def jitter_to_set(self) -> str | None:
        """The jitter of the fan-in, if it has none and a queue lost packets of a scenario in which nothing is random.

        All answers begin at the same instant then, as on no real hosts.
        """
        if self.fan_in is None or not self.port.drops or self.faulty or self.held_up:
            return None
        path = f"traffic.{self.fan_in['name']}.jitter"
        if self.fan_in.get("together"):
            # That they begin together is what the user asked for.
            return None
        return path if path in without_jitter(self.scenario) else None

    @property
    def endless(self) -> list[str]:
        """The groups of endless flows."""
        return [group["name"] for group in self.scenario["traffic"] if is_endless(group)]

    @property
    def is_left_idle(self) -> bool:
        """Whether endless flows, which could send all the time, left the link idle."""
        return bool(self.endless) and self.idle_share > 1 - _MIN_BUSY_SHARE

    @property
    def unfinished(self) -> int:
        """How many transfers of known size were not complete when the run ended."""
        return self.summary["incomplete"] or 0

    @property
    def timeouts(self) -> dict[str, int]:
        """Number of timeouts by cause, the most frequent first; causes that did not occur are left out."""
        found = {name: self.summary[f"timeouts_{name}"] for name in _CAUSES_OF_TIMEOUTS}
        return dict(sorted(((name, count) for name, count in found.items() if count), key=lambda each: -each[1]))

    @property
    def outcome(self) -> Outcome:
        """What the run came to."""
        found = self._outcome
        if self.held_up and found in (Outcome.TIMEOUTS, Outcome.IDLE):
            return Outcome.HELD_UP
        # Without queries, a busy link or losses may be what the run is about: transfers that last longer than it.
        open_ = (Outcome.LOSSES, Outcome.FULL) if self.queries is not None else ()
        none_ended = self.unfinished and not self.summary["completed"] and not self.held_up
        return Outcome.CUT_SHORT if none_ended and found in (*open_, Outcome.IDLE) else found

    @property
    def _outcome(self) -> Outcome:
        """The same of what the run had time for, whatever faults did."""
        if self.collapsed:
            return Outcome.COLLAPSE
        if self.waits.timed or self.waits.waiting or self.waits.probed_is_slowest:
            return Outcome.TIMEOUTS
        if self.stalled:
            return Outcome.STALLS
        if self.starved:
            return Outcome.CROWDED
        if self.idle_share <= 1 - _MIN_BUSY_SHARE:
            return Outcome.FULL
        return Outcome.LOSSES if self.summary["drops"] else Outcome.IDLE

    @property
    def whom(self) -> Whom | None:
        """Which transfers waited for timers; ``None`` if none did."""
        waited = self.waits.timed + self.waits.waiting
        if not waited and not self.waits.probed_is_slowest:
            return None
        if not self.typical_bytes:
            return Whom.ENDLESS
        # What still waits for a timer has no time.
        if self.summary["fct_max_s"] is not None and not self.unfinished and not self.waits.slowest_waited:
            return Whom.OTHERS
        if self.queries is not None and self.queries.waited >= _MIN_DECISIVE_SHARE:
            return Whom.QUERIES
        return Whom.MOST if waited >= _MIN_DECISIVE_SHARE * self.transfers else Whom.SLOWEST

    @cached_property
    def fan_in(self) -> dict[str, Any] | None:
        """The traffic group with the most senders to one receiver, and its key for their number as ``key``."""
        found = [{**each, "key": fan_in_keys()[each["kind"]]} for each in self.scenario["traffic"] if is_fan_in(each)]
        return max(found, key=lambda group: int(group[group["key"]]), default=None)

    @property
    def is_incast(self) -> bool:
        """Whether many senders have one receiver; where each has one sender, only timers are common with that."""
        return self.fan_in is not None or self.bursts is not None

    def late(self, *keys: str) -> dict[str, float]:
        """Those of these keys of the fan-in that have its answers begin late, in seconds."""
        group = self.fan_in or {}
        return {f"traffic.{group['name']}.{key}": lasts for key in keys if (lasts := number(group.get(key, 0)))}

    @property
    def apart(self) -> dict[str, float]:
        """What has answers begin apart, in seconds, if that is a good part of what queries need."""
        if self.queries is None or self.queries.apart_s < _MIN_PART_APART * self.queries.alone_s:
            return {}
        return self.late("jitter", "think-jitter", "exponential")

    @property
    def is_closed_loop(self) -> bool:
        """Whether how many queries a run has in some time depends on how long they take: none comes by a clock."""
        return self.fan_in is not None and not comes_by_a_clock(self.fan_in)

    def alone(self, scenario: dict[str, Any]) -> float:
        """How many times longer a query takes alone if the hosts are those of another scenario.

        Interrupts and handshakes take their time in every round trip, which is no fault of what is deployed; and a
        handshake that is saved is no fix of what is measured.
        """
        if not self.typical_bytes:
            return 1.0
        here, there = (
            _alone(each, self.typical_bytes, self.round_trip_s, each["transport"]["interrupt-interval"].number).last_s
            for each in (self.scenario, scenario)
        )
        alone = here + 8 * self.typical_bytes / self.port.rate_bps if self.queries is None else self.queries.alone_s
        return 1 + (there - here) / alone

    @property
    def segment(self) -> float:
        """Bytes of a full packet."""
        return packet_bytes(self.scenario)

    def size(self, size: Quantity) -> float:
        """A size of the scenario in bytes."""
        return _size(self.scenario, size)

    @property
    def first_windows(self) -> tuple[int, float]:
        """How many responses begin at once, and how many bytes each sends before the first acknowledgement."""
        group = self.fan_in
        if group is None:
            return 0, 0.0
        window = self.size(self.scenario["transport"]["initial-window"])
        return at_once(group), min(window, self.response_bytes or window)

    @property
    def response_bytes(self) -> float:
        """The size of a response of the fan-in; 0 if the scenario does not say it."""
        return response_bytes(self.fan_in) if self.fan_in is not None else 0.0

    @property
    def is_fresh(self) -> bool:
        """Whether each transfer has a new connection, with a handshake."""
        return _is_fresh(self.scenario)

    @property
    def windows(self) -> int:
        """How many windows a typical transfer takes whose packets all arrive."""
        return _windows(self.scenario, self.typical_bytes)

    @property
    def answers_that_fit(self) -> int:
        """How many whole responses the buffer holds together, at least one: windows grow until a response has ended."""
        each = self.response_bytes
        mss = self.size(self.scenario["transport"]["mss"])
        packets = math.ceil(each / mss) if each else self.first_windows[1] / self.segment
        return max(1, int(self.buffer // (packets * self.segment)))

    @property
    def waits_for_syn(self) -> int:
        """How often a lost SYN was waited for, whether its timer expired or not."""
        return self.timeouts.get("syn", 0) + self.waits.waiting_syn

    @property
    def timers(self) -> list[str]:
        """Keys of ``[transport]`` that set the timers that were waited for, the longest waits first.

        How long transfers waited is taken as that of so many first timeouts.
        """
        counts = {
            "syn-timeout": self.waits_for_syn,
            "rto-initial": self.waits.initially,
            "rto-min": self.waits.least,
        }
        waited_s = {key: count * self.scenario["transport"][key].number for key, count in counts.items() if count}
        return sorted(waited_s, key=waited_s.__getitem__, reverse=True)

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON has it, without its notes."""
        transport = self.scenario["transport"]
        own = {name: getattr(self, name) for name in _FIELDS_OF_RECORD}
        return {
            **own,
            "port": {
                **vars(self.port),
                "buffer_bytes": self.buffer,
                "oversubscribed": self.port.oversubscribed or None,
            },
            "waits": vars(self.waits),
            "timers": {key: transport[key].number for key in self.timers},
            "queries": None if self.queries is None else vars(self.queries),
            "bursts": None if self.bursts is None else vars(self.bursts),
            "drops": self.summary["drops"],
        }


def _are_slow_by_timers(queries: Queries) -> bool:
    """Whether timers decide how long queries take in the median."""
    return queries.median_s >= SLOW * queries.alone_s and queries.waited >= _MIN_DECISIVE_SHARE


def _receive_window(scenario: dict[str, Any]) -> float:
    transport = scenario["transport"]
    mss = _size(scenario, transport["mss"])
    return mss * max(1, _size(scenario, transport["receive-buffer"]) // mss)


def buffer_bytes(scenario: dict[str, Any], network: Network, port: str) -> float:
    """What a port of a switch can hold, in bytes, while the others are empty; that of any for a port of a host."""
    own, is_static = scenario["network"], scenario["network"]["admission"] == "static"
    found = next(link["buffer_bytes"] for link in network["links"] if link["name"] == port)
    held = _size(scenario, own["buffer" if is_static else "shared-buffer"]) if found is None else float(found)
    return held if is_static else held * share_of_memory(float(own["dt-alpha"]))


def _size(scenario: dict[str, Any], size: Quantity) -> float:
    """A size of the scenario in bytes."""
    return float(size.number * packet_bytes(scenario) if size.unit == "pkt" else size.number)


def diagnose(run: Run, scenario: dict[str, Any], handle: Scenario) -> Diagnosis:
    """What a run's totals and tables say.

    Args:
        run: The run, with its tables.
        scenario: Its scenario with every default filled in.
        handle: The same as the engine has it.

    """
    ports, network = handle.loads()["fan_in"], handle.network()
    summary, queues, drops = run.summary, run.queues(), run.table("drops")
    scenario = as_run(scenario, summary)
    observed = next(iter(queues.filter(pl.col("bottleneck"))["port"]), None)
    flows = run.flows()
    name = _name(run, scenario, ports, network) or observed or run.links()["link"][0]
    port = _port(run, name, network, queues, drops)
    flows = flows.filter(pl.col("start_s").is_null() | (pl.col("start_s") < summary["simulated_s"]))
    times = _times(flows, summary)
    changes = faults_of_rates(scenario["fault"], observed, network)
    rate = mean_rate(port.name, port.rate_bps, changes, (times.begin_s, times.end_s))
    port = replace(port, rate_bps=rate, is_slowed=rate < port.rate_bps)
    delivered = float(flows["delivered_bytes"].sum())
    share = delivered / port.sent_bytes if port.sent_bytes else 1.0
    fan_in = [group for group in scenario["traffic"] if is_fan_in(group)]
    lowest = float(run.links()["rate_bps"].min())  # type: ignore[arg-type]
    size = float(flows["bytes"].median() or 0.0)  # type: ignore[arg-type]
    round_trip = _round_trip(flows, scenario, lowest)
    alone = _alone(scenario, size, round_trip)
    own = next((each["buffer_bytes"] for each in ports if each["port"] == port.name), None)
    holds = buffer_bytes(scenario, network, port.name) if own is None else float(own)
    loaded = round_trip + 8 * (holds if port.largest_bytes is None else port.largest_bytes) / port.rate_bps
    flows = with_waiting(flows, loaded)
    bursts = in_bursts(flows, [group["name"] for group in scenario["traffic"] if group["kind"] == "flows"], loaded)
    in_bursts_of = bursts["group"].cast(pl.String).unique()

    def of(flows: pl.DataFrame, spreads: dict[str, Spread]) -> Queries | None:
        return queries(flows, spreads, _wire(scenario), alone, summary["simulated_s"])

    access = scenario["network"]["rate"].number
    each = [of(flows, _spreads(group, ports, access)) for group in fan_in if "jitter" in group]
    handshake = round_trip if _is_fresh(scenario) else 0.0
    many, end_s = [*(group["name"] for group in fan_in), *in_bursts_of], summary["simulated_s"]
    if begin_together(scenario):
        many = [group["name"] for group in scenario["traffic"] if not is_endless(group)]
    return Diagnosis(
        scenario=scenario,
        summary=summary,
        port=port,
        buffer=holds,
        waited_for_faults=_waited_for_faults(flows, drops, scenario["fault"], summary["simulated_s"]),
        observed=observed,
        lossiest=str(run.links().sort("drops", descending=True, maintain_order=True)["link"][0]),
        under_way_s=times.under_way_s,
        window_s=times.end_s - times.begin_s,
        busy_s=min(_busy(port, summary, delivered, times), times.under_way_s),
        faulty_s=faulty_s(scenario["fault"], (times.begin_s, times.end_s)),
        transfers=flows.height,
        delivered_bytes=delivered,
        waits=waits(flows, scenario["transport"], many, loaded, end_s, handshake),
        queries=max(filter(None, each), key=lambda found: found.p99_times, default=None),
        bursts=of(bursts, dict.fromkeys(in_bursts_of, Spread(loaded, 0.0, lowest))),
        round_trip_s=round_trip,
        typical_bytes=size,
        loaded_s=loaded,
        # What a relay tree delivers, it delivers more than once.
        all_cross=_MIN_CROSSING_SHARE <= share <= 1
        and all(group["kind"] != "relay-tree" for group in scenario["traffic"]),
        at_senders=any(_at(fault, network) & of_hosts(network, "sender") for fault in scenario["fault"]),
    )


def _at(fault: dict[str, Any], network: Network) -> set[str]:
    """The links that a fault names, with their other directions; those at the bottleneck are not named."""
    return between(network, fault["link"], both_ways=True) if "link" in fault else set()


def _waited_for_faults(flows: pl.DataFrame, drops: pl.DataFrame, faults: list[dict[str, Any]], end_s: float) -> bool:
    """Whether most transfers that waited for a timer had to do with faults, as far as the table of drops goes."""
    waited = flows.filter((pl.col("timeouts") > 0) | pl.col("waiting_s").is_not_null())
    lost = drops.filter(pl.col("reason").cast(pl.String).is_in(OF_FAULTS))["connection"].unique()
    of_faults = pl.col("connection").is_in(lost.implode())
    for fault in faults:
        if fault["kind"] in ("link-down", "controller-outage"):
            begin_s = fault["at"].number
            until_s = begin_s + (fault["for"].number or math.inf)
            of_faults |= (pl.col("start_s") < until_s) & (pl.col("completion_s").fill_null(end_s) > begin_s)
    return 2 * waited.filter(of_faults).height > waited.height


class _Times(NamedTuple):
    """Over which time goodput is measured, and for how much of it a transfer was under way."""

    begin_s: float
    end_s: float
    under_way_s: float


def _times(flows: pl.DataFrame, summary: dict[str, Any]) -> _Times:
    begin, end = summary["window_start_s"], summary["simulated_s"]
    # Endless transfers are under way, too.
    spans = flows.filter(pl.col("start_s").is_not_null()).select(
        "start_s", pl.col("completion_s").fill_null(end).alias("end_s")
    )
    # The goodput is measured until the last of known size is complete, or until the run ends.
    has_sizes = flows["bytes"].is_not_null().any()
    last = float(spans["end_s"].max()) if has_sizes and spans.height else end  # type: ignore[arg-type]
    return _Times(begin, last, covered(spans, begin))


def _busy(port: Port, summary: dict[str, Any], delivered: float, times: _Times) -> float:
    """For how long a port sent."""
    busy = 8 * port.sent_bytes / port.rate_bps
    if summary["goodput_bps"] is None or not delivered:
        return busy
    # What the port sent before the window is taken to be as much of it as of the payload.
    return min(busy, busy * float(summary["goodput_bps"]) * (times.end_s - times.begin_s) / (8 * delivered))


def _round_trip(flows: pl.DataFrame, scenario: dict[str, Any], lowest_bps: float) -> float:
    """A round trip between hosts without queues: the median over the paths of the transfers.

    The ideal of HPCC is that and the time for all packets at the lowest rate of the path.
    """
    ideal = pl.col("ideal_hpcc_s") - 8 * _wire(scenario) / lowest_bps
    found = flows.filter(pl.col("bytes").is_not_null()).select(ideal.median()).item()
    # Endless transfers have no ideal; hosts of one switch are two links apart.
    return float(found) if found is not None and found > 0 else 4 * scenario["network"]["delay"].number


def _spreads(group: dict[str, Any], ports: list[FanInPort], access_bps: float) -> dict[str, Spread]:
    """How far apart answers of a group may begin, and what rate they share, at the port that takes longest for all."""
    # Ten times the mean of an exponential distribution is more than one of 20,000 exceeds.
    begin = sum(most * number(group.get(key, 0)) for key, most in (("jitter", 1.0), ("exponential", 10.0)))
    think = number(group.get("think-jitter", 0)) if has_requests(group) else 0.0
    own = [port for port in ports if port["group"] == group["name"] and port["responses"]]
    # All cross the receiver's link, and some of them other ports.
    rate = min([access_bps, *(port["rate_bps"] * at_once(group) / port["responses"] for port in own)])
    return {group["name"]: Spread(begin, think, rate)}


def _wire(scenario: dict[str, Any]) -> pl.Expr:
    """Bytes of a transfer with all that its packets take on a link."""
    size, mss = pl.col("bytes"), _size(scenario, scenario["transport"]["mss"])
    return size + (size / mss).ceil() * header_bytes(scenario)


def _windows(scenario: dict[str, Any], size: float) -> int:
    """Over how many round trips a transfer of that size is spread, if its window doubles up to that of its receiver."""
    transport = scenario["transport"]
    most = _receive_window(scenario)
    window, count = min(_size(scenario, transport["initial-window"]), most), 0
    while size > 0 and window < most:
        size, window, count = size - window, min(2 * window, most), count + 1
    return max(1, count + math.ceil(max(0.0, size) / most))


def _alone(scenario: dict[str, Any], size: float, round_trip_s: float, interrupt_s: float = 0.0) -> Alone:
    """What a transfer takes without queues: handshake, request and the way; with an interrupt where each arrives.

    A packet waits for an interrupt only if one has just been, so that the least is without.
    """
    asked = [group for group in scenario["traffic"] if has_requests(group)]
    think_s = max((group["think"].number for group in asked if "think" in group), default=0.0)
    ways = 2 if asked else 1
    first = _is_fresh(scenario) * (round_trip_s + interrupt_s) + ways * (round_trip_s / 2 + interrupt_s) + think_s
    return Alone(first, first + (_windows(scenario, size) - 1) * (round_trip_s + interrupt_s))


def _is_fresh(scenario: dict[str, Any]) -> bool:
    """Whether each transfer of a fan-in, or else any transfer, has a new connection, with a handshake."""
    groups = [group for group in scenario["traffic"] if is_fan_in(group)] or scenario["traffic"]
    return any(group.get("connections", "fresh") == "fresh" for group in groups)


def _name(run: Run, scenario: dict[str, Any], ports: list[FanInPort], network: Network) -> str | None:
    """The port that was found to be the bottleneck, or of a fan-in's that lost packets if none crosses that."""
    found, links = bottleneck(run, lambda: network, scenario["fault"]), run.links()
    crossed = [each["port"] for each in ports]
    hosts = {node["name"] for node in network["nodes"] if node["kind"] == "host"}
    is_receivers = any(link["to"] in hosts for link in network["links"] if link["name"] == found)
    # Other hosts get answers as well: the aggregators of a relay tree, and several clients.
    others = any(
        group["kind"] != "incast" and group.get("receivers") != 1 for group in scenario["traffic"] if is_fan_in(group)
    )
    if found in crossed or not is_receivers or others:
        return found
    own = links.filter(pl.col("link").is_in(crossed) & (pl.col("drops") > 0)).sort("drops", descending=True)
    return str(own["link"][0]) if own.height else found


def _port(run: Run, name: str, network: Network, queues: pl.DataFrame, drops: pl.DataFrame) -> Port:
    """A port."""
    nodes = {node["name"]: node for node in network["nodes"]}
    ends = [(nodes[link["from"]], nodes[link["to"]]) for link in network["links"]]
    links = run.links().with_columns(
        pl.Series("from", [begin["name"] for begin, _ in ends]),
        pl.Series("to", [end["name"] for _, end in ends]),
    )
    found = links.row(by_predicate=pl.col("link") == name, named=True)
    own = drops.filter(pl.col("port").cast(pl.String) == found["link"])
    reasons = own["reason"].cast(pl.String).value_counts(sort=True)
    measured = queues.filter(pl.col("port") == found["link"])
    here, there = nodes[found["from"]], nodes[found["to"]]
    hosts = [node["name"] for node in network["nodes"] if node["kind"] == "host"]
    into = links.filter((pl.col("to") == here["name"]) & pl.col("from").is_in(hosts))
    out = links.filter((pl.col("from") == here["name"]) & ~pl.col("to").is_in(hosts))
    switch = there if here["kind"] == "host" else here
    return Port(
        name=found["link"],
        rate_bps=float(found["rate_bps"]),
        is_slowed=False,
        sent_bytes=float(found["bytes"]),
        drops=int(found["drops"]),
        reason=reasons["reason"][0] if reasons.height else None,
        for_other_reasons=int(reasons["count"][1:].sum()),
        first_drop_s=own["time_s"].min() if own.height else None,  # type: ignore[arg-type]
        # The table ends early if there are very many.
        last_drop_s=own["time_s"].max() if own.height == found["drops"] else None,  # type: ignore[arg-type]
        largest_bytes=float(measured["max_bytes"][0]) if measured.height else None,
        into_bps=float(into["rate_bps"].sum()),
        out_bps=float(out["rate_bps"].sum()),
        cables=next(link["cables"] for link in network["links"] if link["name"] == name),
        between_switches="host" not in (here["kind"], there["kind"]),
        beside=links.filter(pl.col("from") == switch["name"]).height,
    )

"""What else is to be noted of a run: why its link lay idle, what no timer explains, and what was not measured."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, NamedTuple

from fanin.choose.diagnosis import Diagnosis
from fanin.choose.outcomes import Outcome
from fanin.numbers.summary import bytes_text, format_number, share_text, time_text
from fanin.numbers.units import rate_text
from fanin.scenario.loads import SOME_JITTER
from fanin.scenario.traffic import has_requests

NOTES = {
    "overload": "the traffic asks for {load_share} of what the {of} can carry: queues grow as long as it comes",
    "same-instant": f"all answers begin at one instant, as on no real hosts; set {{jitter}}, such as {SOME_JITTER}",
    "other-traffic": "much of the link is for {groups}; {own_share} of its goodput is the queries'",
    "faults": "waits for a fault are part of this: {faults}",
    "lost-to-faults": "faults took {lost} of {drops} lost packets; the lossiest link is {link}",
    "delayed-acks": "windows of one segment wait for delayed acknowledgements ({ack_delay_s})",
    "receive-windows": "the receivers' windows ({window_bytes}) limit {transfers} at once to {most_bps}",
    "unfilled": "the endless flows of {groups} did not fill the link ({marks} packets were marked)",
    "apart": "answers begin late or apart by {apart_s} ({settings})",
    "first-windows": "the first windows alone ({at_once} of {each_bytes}) are {times} times the buffer",
    "oversubscribed": "hosts send {into_bps} into uplinks of {out_bps} (oversubscribed {times} to 1)",
    "shared-memory": "overflowed at {largest_bytes} of {limit_bytes}: other ports filled the shared memory",
    "round-trips": "{size_bytes} take {round_trips} round trips of {round_trip_s}; sending takes {sending_s}",
    "other-port": "the measured queue is that of {observed}; --set measure.bottleneck={port} measures this one",
}
"""What is to be noted of a run, the most important first; values of that names stand in braces."""

_MIN_IDLE_PART = 0.2
"""A link that lies idle for less than this share of the time is full."""

_MIN_DECISIVE_PART = 0.5
"""From this share on, a part decides the whole."""

_MIN_ALONE = 0.95
"""A queue that grew to so much of what it may hold had the memory to itself."""

_FAULTS_OF_TIME = {"link-down": "was down", "rate": "had another rate", "controller-outage": "was out of reach"}
"""Kinds of faults that lose few packets, but hold up many, and what they are called."""

_Values = dict[str, Any]


class Note(NamedTuple):
    """Something to be noted of a run."""

    kind: str
    values: _Values
    """Its numbers and names; the ends of their names say the unit."""

    @property
    def text(self) -> str:
        """The note in words."""
        return NOTES[self.kind].format_map({name: _word(name, value) for name, value in self.values.items()})


def find_notes(diagnosis: Diagnosis) -> list[Note]:
    """What is to be noted of a run, the most important first."""
    port, summary, jitter, excess = diagnosis.port, diagnosis.summary, diagnosis.jitter_to_set, diagnosis.excess
    shows_port = diagnosis.outcome != Outcome.IDLE
    found: dict[str, _Values | None] = {
        "overload": excess and {"load_share": excess.load, "of": excess.load_of},
        "same-instant": {"jitter": jitter} if jitter else None,
        "other-traffic": _find_other_traffic(diagnosis),
        "faults": _find_faults(diagnosis),
        **_find_reasons(diagnosis),
        "first-windows": _find_first_windows(diagnosis),
    }
    if diagnosis.lost_to_faults or diagnosis.waited_for_faults:
        link, waited = diagnosis.lossiest, diagnosis.waited_for_faults
        lost = {"lost": diagnosis.lost_to_faults, "drops": summary["drops"]}
        found["lost-to-faults"] = {**lost, "link": link, "waited_for_faults": waited}
    if diagnosis.outcome == Outcome.STALLS:
        found["delayed-acks"] = {"ack_delay_s": diagnosis.scenario["transport"]["ack-delay"].number}
    if shows_port and port.oversubscribed > 1:
        times = port.oversubscribed
        found["oversubscribed"] = {"into_bps": port.into_bps, "out_bps": port.out_bps, "times": times}
    is_short = port.largest_bytes is None or port.largest_bytes < _MIN_ALONE * diagnosis.buffer
    if port.reason == "shared-buffer-full" and is_short:
        found["shared-memory"] = {"largest_bytes": port.largest_bytes, "limit_bytes": diagnosis.buffer}
    if shows_port and diagnosis.observed not in (None, port.name):
        found["other-port"] = {"observed": diagnosis.observed, "port": port.name}
    return [Note(kind, values) for kind in NOTES if (values := found.get(kind))]


def as_record(diagnosis: Diagnosis) -> _Values:
    """A diagnosis with its notes, as JSON has it."""
    return {**diagnosis.as_dict(), "notes": [{"kind": note.kind, **note.values} for note in find_notes(diagnosis)]}


def _find_other_traffic(diagnosis: Diagnosis) -> _Values | None:
    if not diagnosis.starved or diagnosis.outcome not in (Outcome.COLLAPSE, Outcome.CROWDED):
        return None
    own, all_ = diagnosis.summary["goodput_finite_bps"], diagnosis.summary["goodput_bps"]
    # Transfers of known size may be other traffic, too.
    is_known = own and all_ and diagnosis.all_cross and all(group in diagnosis.endless for group in diagnosis.others)
    return {"groups": diagnosis.others, "own_share": own / all_ if is_known else None}


def _find_faults(diagnosis: Diagnosis) -> _Values | None:
    found = [
        {"kind": each["kind"], "link": each.get("link"), "at_s": each["at"].number, "for_s": each["for"].number or None}
        for each in diagnosis.scenario["fault"]
        if each["kind"] in _FAULTS_OF_TIME and each["at"].number < diagnosis.summary["simulated_s"]
    ]
    return {"faults": found} if found else None


def _find_reasons(diagnosis: Diagnosis) -> dict[str, _Values]:
    """Why the link lay idle although nobody waited for a timer."""
    outcome, trips = diagnosis.outcome, _find_round_trips(diagnosis)
    if outcome == Outcome.CUT_SHORT:
        return trips if diagnosis.idle_share > _MIN_IDLE_PART else {}
    if outcome not in (Outcome.LOSSES, Outcome.IDLE):
        return {}
    is_lost, faults = diagnosis.port.drops or diagnosis.faulty, _find_faults(diagnosis)
    limited = _find_limited(diagnosis)
    # What the link would have sent without faults is not known.
    if diagnosis.is_left_idle and (is_lost or not faults):
        groups = [f"traffic.{name}" for name in diagnosis.endless]
        return limited or {"unfilled": {"groups": groups, "marks": diagnosis.summary["marks"]}}
    if faults or (is_lost and diagnosis.idle_share <= _MIN_DECISIVE_PART):
        return {}
    # Traffic at a load asks for no more; queries that begin when others end do, as soon as they can.
    if is_lost or (diagnosis.summary.get("offered") and not diagnosis.is_closed_loop):
        return trips
    return _find_apart(diagnosis) or {**limited, **trips}


def _find_limited(diagnosis: Diagnosis) -> dict[str, _Values]:
    """The rate to which windows limit transfers; interrupts make a round trip longer, or not."""
    if diagnosis.limited_bps is None:
        return {}
    values = {
        "window_bytes": diagnosis.receive_window,
        "transfers": diagnosis.at_once,
        "least_bps": diagnosis.limited_bps,
        "most_bps": diagnosis.at_once * 8 * diagnosis.receive_window / diagnosis.round_trip_s,
    }
    return {"receive-windows": values}


def _find_apart(diagnosis: Diagnosis) -> dict[str, _Values]:
    """That answers begin so late or so far apart that this is most of what queries take."""
    group, queries = diagnosis.fan_in, diagnosis.queries
    if group is None or queries is None:
        return {}
    asked = diagnosis.late("think", "think-jitter") if has_requests(group) else {}
    # How far apart answers begin by chance is known from those that did.
    apart_s = queries.apart_s + sum(asked.values())
    if apart_s < _MIN_DECISIVE_PART * queries.median_s:
        return {}
    return {"apart": {"settings": {**diagnosis.late("jitter", "exponential"), **asked}, "apart_s": apart_s}}


def _find_first_windows(diagnosis: Diagnosis) -> _Values | None:
    at_once, each = diagnosis.first_windows
    total, port = at_once * each, diagnosis.port
    # What the port sends while answers begin, one after the other, makes room for the next.
    begun_s = diagnosis.queries.begun_s if diagnosis.queries is not None else 0.0
    fit = total <= diagnosis.buffer + begun_s * port.rate_bps / 8
    # What a lost SYN stands for never began.
    syns = 2 * diagnosis.waits_for_syn > sum(diagnosis.timeouts.values())
    waited = diagnosis.outcome in (Outcome.COLLAPSE, Outcome.TIMEOUTS)
    # They do not all cross one of several ports between switches.
    if fit or syns or not waited or not port.drops or port.between_switches:
        return None
    return {"at_once": at_once, "each_bytes": each, "times": total / diagnosis.buffer}


def _find_round_trips(diagnosis: Diagnosis) -> dict[str, _Values]:
    """How many round trips a transfer takes whose packets all arrive."""
    size = diagnosis.typical_bytes
    values = {
        "size_bytes": size,
        "round_trips": diagnosis.windows + diagnosis.is_fresh,
        "round_trip_s": diagnosis.round_trip_s,
        "sending_s": 8 * size / diagnosis.port.rate_bps,
    }
    return {"round-trips": values} if size else {}


def _word(name: str, value: Any) -> str:  # noqa: ANN401
    """A value of a note in its unit."""
    match value:
        case None:
            return "an unknown part"
        case dict():
            return listed([f"{key} = {time_text(each)}" for key, each in value.items()])
        case list():
            return listed([_word_fault(each) if name == "faults" else each for each in value])
        case str():
            # A name of a port is part of a command.
            return shlex.quote(value) if name == "port" else value
        case int() if name.rpartition("_")[2] not in _UNITS:
            return f"{value:,}"
    word = _UNITS.get(name.rpartition("_")[2])
    return format_number(value, 2) if word is None else word(value)


def _word_fault(fault: _Values) -> str:
    until = f" for {time_text(fault['for_s'])}" if fault["for_s"] else ""
    what = f"{fault['link'] or 'the controller'} {_FAULTS_OF_TIME[fault['kind']]}"
    return f"{what} from {time_text(fault['at_s'])} on{until}"


def listed(names: list[str]) -> str:
    """Names as part of a sentence."""
    return "".join(names) if len(names) <= 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_UNITS: dict[str, Callable[[float], str]] = {"s": time_text, "bytes": bytes_text, "bps": rate_text, "share": share_text}
"""How numbers are shown, by the end of their name."""

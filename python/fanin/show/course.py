"""What happened in a run, in words: whether it collapsed, why, and which commands show what would change it."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fanin.choose.diagnosis import Facts, cause_of_drops, cause_of_timeouts, is_fresh
from fanin.choose.queries import Queries
from fanin.numbers.summary import format_number
from fanin.numbers.units import number, rate_text
from fanin.scenario.loads import SOME_JITTER
from fanin.scenario.settings import Settings, as_options, with_options
from fanin.scenario.traffic import has_requests, is_fan_in

if TYPE_CHECKING:
    from fanin.choose.trials import Trials
    from fanin.scenario.format.values import Scalar


class Command(NamedTuple):
    """A command to try, and what it shows."""

    command: str
    why: str


@dataclass(frozen=True)
class Course:
    """The course of a run in words."""

    what: str
    """Whether it collapsed."""
    why: str


def course(facts: Facts) -> Course:
    """The course of a run in words.

    Args:
        facts: What its totals and tables say.

    """
    parts = (_overload, _why, _at_one_instant, _where, _windows, _faults, _controller, _elsewhere)
    why = " ".join(said for part in parts if (said := part(facts)))
    return Course(_too_early(facts) if facts.cut_short else f"{_what(facts)}{_took(facts)}", why)


def tried(facts: Facts, found: Trials | None) -> str:
    """How many changes were tried on a run, and how many helped, as a sentence; or that it is too long for that."""
    if found is None and facts.is_to_mend and not facts.is_short:
        events = f"{facts.most_events / 1e6:.2g} million events"
        would = "would have" if facts.most_events > facts.summary["events"] else "has"
        more = " if its link were busy" if would == "would have" else ""
        return f"No changes were tried, as the run {would} about {events}{more}: `fanin advise` tries them."
    if found is None or not found.tried:
        return ""
    others = sorted({each.decides.name for each in found.told if each.decides is not each.changed[0]})
    goal = f"{found.goal}, or the {' or '.join(others)} where not all ended," if others else found.goal
    better = f"{goal} better by a tenth or more"
    if found.tried == 1:
        made = "made" if found.helped else "did not make"
        return f"With this seed, one change was tried: it {made} {better}."
    helped = f"{found.helped} of them" if found.helped else "none of them"
    return f"With this seed, {found.tried} changes were tried: {helped} made {better}."


def commands(facts: Facts, found: Trials | None, scenario: str, given: Settings) -> list[Command]:
    """The commands to try next: changes that made the run better, and what looks further.

    Args:
        facts: What the run says.
        found: What was tried on it.
        scenario: The scenario as the user named it.
        given: The values that the user replaced.

    """

    def run(new: dict[str, Scalar]) -> str:
        # The last of two values for a path counts; one that is replaced would only confuse.
        kept = with_options(scenario, [(path, value) for path, value in given if path not in new])
        return f"fanin run {kept} {as_options(new)}"

    if facts.cut_short:
        longer = max(_LONG_S, 10 * facts.scenario["run"]["duration"].number)
        return [Command(run({"run.duration": f"{longer:g}s"}), "a longer run: it ends when all transfers have")]
    said = [
        Command(run(each.change.settings), f"{each.change.name}: {', '.join(changed.text for changed in each.changed)}")
        for each in (found.told if found is not None else [])
    ]
    where = with_options(scenario, given)
    if facts.fan_in is not None and facts.is_fast and not facts.at_senders:
        said.append(Command(f"fanin capacity {where}", "how many senders it carries"))
    advise = "which of all remedies to deploy, what it needs, and how far it carries"
    return [*said, Command(f"fanin advise {where}", advise)]


_LONG_S = 30.0
"""So long is a run at most, if its scenario does not say it."""


def _too_early(facts: Facts) -> str:
    """That the run does not tell how long transfers take."""
    none = f"none of {facts.unfinished:,} transfers was" if facts.unfinished > 1 else "the transfer was not"
    after = f"after {_time(facts.summary['simulated_s'])}"
    return f"The run ended too early to tell: {after}, {none} complete; {_goodput(facts)}."


def _what(facts: Facts) -> str:
    """Whether it collapsed, and what it came to."""
    summary, port = facts.summary, facts.port
    unfinished = facts.unfinished
    verb = "was" if unfinished == 1 else "were"
    ended = f", and {unfinished:,} of the transfers {verb} not complete when the run ended" if unfinished else ""
    goodput = _goodput(facts)
    after = f" after the warm-up of {_time(facts.warmup_s)}" if facts.warmup_s else ""
    span = f"{_time(facts.under_way_s)}{after}"
    if facts.held_up and facts.outcome in ("timeouts", "idle"):
        return (
            f"No collapse, but a fault held transfers up for {_time(facts.faulty_s)} of the {span} that they "
            f"took{ended}: {goodput}."
        )
    match facts.outcome:
        case "collapse" if facts.starved:
            return f"Incast collapse beside other traffic: {_beside(facts)}{ended}."
        case "crowded":
            return f"No collapse, but the queries wait for other traffic: {_beside(facts)}{ended}."
        case "collapse":
            # Where each has one sender, timers are all that it has in common with one.
            what = "Incast collapse" if facts.fan_in is not None or facts.bursts is not None else "Collapse"
            return (
                f"{what}{_by_probes(facts)}: {goodput}; the transfers took {span}, of which the link "
                f"{port.name} sent for {_time(facts.busy_s)}{ended}."
            )
        case "stalls":
            return (
                f"Stalled without a loss that a timer had to repair: {goodput}; the transfers took {span}, of which "
                f"the link {port.name} sent for {_time(facts.busy_s)}{ended}."
            )
        case "timeouts":
            slow, usual = _time(summary["fct_max_s"]), _time(summary["fct_p50_s"])
            # What still waits for a timer has no time.
            known = summary["fct_max_s"] is not None and not facts.unfinished
            times = f" ({slow}; the median is {usual})" if known else ""
            faults = ", after losses that no queue made" if facts.faulty else ""
            faults = faults or ", mostly of those that a fault met" * facts.waited_for_faults
            if not facts.typical_bytes:
                return f"No collapse, but some of the endless flows waited for timers{faults}{ended}: {goodput}."
            if known and not facts.waits.slowest_waited:
                # Large transfers take long without any wait.
                return f"No collapse, but some transfers waited for timers{faults}, not the slowest{ended}: {goodput}."
            return f"No collapse, but timers decide {_whom(facts)}{faults}{times}{ended}: {goodput}."
        case "losses":
            return f"No collapse: packets were lost, and retransmitted without waiting for a timer{ended}: {goodput}."
        case "full":
            share = _share(1 - facts.idle_share)
            return f"No collapse: the link {port.name} sent for {share} of the {span} that the transfers took{ended}."
        case _:
            return f"No collapse: no packet was lost, and no retransmission timer expired{ended}; {goodput}."


def _whom(facts: Facts) -> str:
    """Which transfers timers decide."""
    if facts.queries is not None and facts.queries.waited >= _MOSTLY:
        return "most queries"
    waited = facts.waits.timed + facts.waits.waiting
    return "most transfers" if waited >= _MOSTLY * facts.transfers else "the slowest transfers"


def _overload(facts: Facts) -> str:
    """That more is offered than the receivers' links carry, for which neither timers nor marks help."""
    if (most := facts.excess) is None:
        return ""
    asked = f"{_share(most.load)} of what the {most.load_of} can carry"
    return f"The traffic asks for {asked}: queues grow for as long as it comes."


def _at_one_instant(facts: Facts) -> str:
    """That losses of answers which begin at the same instant do not tell."""
    if (jitter := facts.jitter_to_set) is None:
        return ""
    return (
        "All answers begin at the same instant, as on no real hosts, and nothing random in the scenario changes "
        f"that: set {jitter}, such as {SOME_JITTER}, to see what stays of this."
    )


def _by_probes(facts: Facts) -> str:
    """That a fan-in collapsed without a timeout of its own, if that is so: other transfers may have had one."""
    waits = facts.waits
    if waits.timed_in_fan_in or waits.waiting_in_fan_in:
        return ""
    whose = " of the fan-in, which other transfers had" if waits.timed or waits.waiting else ""
    return f" without a retransmission timeout{whose}, by waits for tail loss probes"


def _beside(facts: Facts) -> str:
    """How little of a busy link is the queries'."""
    own, all_ = facts.summary["goodput_finite_bps"], facts.summary["goodput_bps"]
    share = "" if not own or not all_ else f", and {_share(own / all_)} of its goodput is the queries'"
    # Transfers of known size may be other traffic, too.
    theirs = share if facts.all_cross and all(group in facts.endless for group in facts.others) else ""
    busy = f"the link {facts.port.name} sent for {_share(1 - facts.idle_share)} of the time"
    return f"{busy}, much of it for {listed(facts.others)}{theirs}"


def _took(facts: Facts) -> str:
    """How long the queries took, and how long they need alone: a busy link tells nothing of that."""
    found = facts.queries
    if found is None:
        return ""
    times, alone = f"{format_number(found.p99_times, 3)} times", _time(found.alone_s)
    if found.unfinished:
        # What has not ended takes longer than so far.
        times = f"more than {times}"
    several = sum(is_fan_in(group) for group in facts.scenario["traffic"]) > 1
    whose = f" of {listed([f'traffic.{name}' for name in found.groups])}" if several else ""
    if found.count == found.unfinished == 1 and found.p99_times < 1:
        return f" The query{whose} had not ended after {_time(found.p99_s)}; it needs {alone} with the link to itself."
    if found.count == found.unfinished == 1:
        return (
            f" The query{whose} had not ended after {_time(found.p99_s)}, {times} the {alone} that it needs with the "
            "link to itself."
        )
    apart = _apart(facts, found)
    if found.count == 1:
        needed = "what" if found.p99_times < _AS_LONG else f"{times} the {alone} that"
        return f" The query{whose} took {_time(found.p99_s)}, {needed} it needs with the link to itself{apart}."
    still = f"; {found.unfinished:,} of them had not ended when the run did" if found.unfinished else ""
    took = f" Queries{whose} took {_time(found.median_s)} in the median and {_time(found.p99_s)} at the 99th percentile"
    if found.p99_times < _AS_LONG:
        return f"{took}, what they need with the link to themselves{apart}{still}."
    if math.isclose(found.p99_s, found.p99_times * found.alone_s, rel_tol=_ROUNDED):
        return f"{took}, {times} the {alone} that they need with the link to themselves{apart}{still}."
    # Not all need the same, and the slowest is not the one that took longest for its size.
    return f"{took}; the 99th percentile of what each took is {times} what it needs with the link to itself{still}."


def _apart(facts: Facts, found: Queries) -> str:
    """How much of what queries need is that the scenario has their answers begin apart, as the end of a sentence."""
    if facts.fan_in is None or found.apart_s < _WORTH * found.alone_s:
        return ""
    name = facts.fan_in["name"]
    keys = [key for key in ("jitter", "think-jitter", "exponential") if number(facts.fan_in.get(key, 0))]
    by = listed([f"traffic.{name}.{key}" for key in keys])
    return f", of which {_time(found.apart_s)} is that answers begin apart ({by})"


_WORTH = 0.1
"""From this share on, a part of a time is worth a word."""

_ROUNDED = 0.01
"""What differs by less is the same in three digits, but for the last."""

_AS_LONG = 1.1
"""What takes fewer times longer takes as long as it needs."""


def _why(facts: Facts) -> str:
    """What was lost where and when, who waited for which timer, and how long the link lay idle."""
    lost = _lost(facts)
    idle = f"the link lay idle for {_time(facts.idle_s)}, {_share(facts.idle_share)} of the time"
    if facts.outcome in ("collapse", "timeouts"):
        waited = _waited(facts)
        # Where traffic asks for no more, a link is idle without any wait.
        asked = facts.outcome == "timeouts" and facts.summary.get("offered") and facts.excess is None
        idle = f", while {idle}" if facts.idle_share >= _HARDLY and not facts.starved and not asked else ""
        return f"{lost}; {waited}{idle}." if lost else f"{waited[0].upper()}{waited[1:]}{idle}."
    if facts.outcome in ("crowded", "full"):
        return f"{lost}.{_standing(facts)}" if lost else _standing(facts).lstrip()
    if facts.outcome == "stalls":
        stall = (
            f"Windows of one segment wait for delayed acknowledgements ({_setting(facts, 'ack-delay')}): the receiver "
            "expects a second segment, which the sender may not send."
        )
        return f"{lost}; {idle}. {stall}" if lost else f"{idle[0].upper()}{idle[1:]}. {stall}"
    if lost:
        # Nobody waited for a timer: what is left are round trips.
        if facts.is_left_idle:
            return f"{lost}; {idle}. {_left_idle(facts)}."
        is_idle = facts.idle_share > _MOSTLY and not _faults(facts)
        return f"{lost}; {idle}.{_round_trips(facts) if is_idle else ''}"
    return _too_little(facts)


def _lost(facts: Facts) -> str:
    """What was lost where and when, if anything was."""
    port, drops = facts.port, facts.summary["drops"]
    if facts.faulty and not port.drops:
        most = "from" if drops == 1 else "most of them from"
        return f"Faults took {drops:,} packet{'s' if drops != 1 else ''}, {most} {facts.lossiest}"
    if not port.drops:
        return ""
    first, last = _time(port.first_drop_s), _time(port.last_drop_s)
    end = "and later" if port.last_drop_s is None else f"to {last}"
    when = f"at {first}" if first == last else f"from {first} {end}"
    how = _overflowed(facts) if port.reason in _FULL else f"dropped packets ({_reason(facts)})"
    packets = f"{port.drops:,} packet{'s' if port.drops != 1 else ''}"
    packets += f", {port.for_other_reasons:,} of them for other reasons" if port.for_other_reasons else ""
    beside = [f"all ports together {drops:,}"] if drops > port.drops else []
    beside += [f"{facts.lost_to_faults:,} of them to faults"] if facts.lost_to_faults and not facts.faulty else []
    more = f" ({', '.join(beside)})" if beside else ""
    return f"The port {port.name} {how} {when} and lost {packets}{more}"


_FULL = ("buffer-full", "shared-buffer-full")
"""Causes of drops that are those of a full buffer."""


def _overflowed(facts: Facts) -> str:
    """That the port's buffer was full, and at what, if others share its memory."""
    largest, alone = facts.port.largest_bytes, facts.buffer
    if facts.port.reason != "shared-buffer-full":
        return f"overflowed ({_bytes(alone)})"
    if largest is None:
        return f"overflowed (at {_bytes(alone)} at most, which it may hold alone)"
    if largest >= _ALONE * alone:
        return f"overflowed ({_bytes(alone)})"
    return (
        f"overflowed (at {_bytes(largest)} of the {_bytes(alone)} that it may hold alone, as other ports of its switch "
        "filled the shared memory)"
    )


_ALONE = 0.95
"""A queue that grew to so much of what it may hold had the memory to itself."""


def _waited(facts: Facts) -> str:
    """Who waited for which timer."""
    waits, found = facts.waits, []
    if waits.timed:
        causes = ", ".join(f"{count:,} {_timeout(name)}" for name, count in facts.timeouts.items())
        if (expired := sum(facts.timeouts.values())) != waits.timed:
            causes = f"it expired {expired:,} times, {causes}"
        found.append((waits.timed, f"for a timer of at least {_timers(facts)} ({causes})"))
    if waits.probed:
        trip = "a round trip with the longest queue" if facts.port.largest_bytes else "a round trip with a full queue"
        longest = f"the longest for {_time(waits.longest_probed_s)} ({trip} takes {_time(facts.loaded_s)})"
        found.append((waits.probed, f"for a tail loss probe, {longest}"))
    if waits.waiting:
        longest = f"the longest for {_time(waits.longest_waiting_s)}"
        syn = f" ({waits.waiting_syn:,} of a SYN, {_setting(facts, 'syn-timeout')})" if waits.waiting_syn else ""
        found.append((waits.waiting, f"for a timer that had not expired when the run ended{syn}, {longest}"))
    (count, first), *others = found
    also = "".join(f", and {number:,} {what}" for number, what in others)
    return f"{count:,} of {facts.transfers:,} transfers waited {first}{also}{_first_timer(facts)}"


def _first_timer(facts: Facts) -> str:
    """How many waits were for the initial timer, which no minimum shortens."""
    if not facts.waits.initially:
        return ""
    return (
        f"; {facts.waits.initially:,} of them for the initial timer of {_setting(facts, 'rto-initial')}, as no round "
        "trip had been measured"
    )


def _standing(facts: Facts) -> str:
    """How long a packet waited in the longest queue."""
    port = facts.port
    if not port.largest_bytes:
        return ""
    wait = _time(8 * port.largest_bytes / port.rate_bps)
    return f" The queue grew to {_bytes(port.largest_bytes)}, in which a packet waits for {wait}."


def _too_little(facts: Facts) -> str:
    """Why the link lay idle although nothing was lost."""
    offered = facts.summary.get("offered") or []
    busy = f"the busiest link, {facts.port.name}, sent for {_share(1 - facts.idle_share)} of the time"
    if facts.cut_short:
        return f"{busy[0].upper()}{busy[1:]}.{_round_trips(facts)}"
    if _faults(facts):
        # What the link would have sent without them is not known.
        return f"{busy[0].upper()}{busy[1:]}."
    if facts.is_left_idle:
        return f"{_left_idle(facts)}: {busy}."
    # Queries that begin when others end ask for more as soon as they can.
    if offered and not facts.is_closed_loop:
        loads = ", ".join(f"{each['group']} {_share(each['load'])}" for each in offered if each["load"] is not None)
        return f"The traffic asks for no more ({loads or 'few transfers'}): {busy}.{_round_trips(facts)}"
    if (begin := _begin(facts)) is not None:
        return f"{begin}: {busy}."
    if facts.limited_bps is not None:
        return f"{_by_windows(facts)}: {busy}.{_round_trips(facts)}"
    return f"No link was busy all the time: {busy}.{_round_trips(facts)}"


def _by_windows(facts: Facts) -> str:
    """That the receivers' windows limit what is sent, and to how much: interrupts make a round trip longer, or not."""
    many = f"{facts.at_once} transfers together" if facts.at_once > 1 else "a transfer"
    most = facts.at_once * 8 * facts.receive_window / facts.round_trip_s
    rate, trip = rate_text(most), f"a round trip of {_time(facts.round_trip_s)}"
    if facts.interrupts_s >= _WORTH * facts.round_trip_s:
        trip += f", and up to {_time(facts.interrupts_s)} until hosts are told of packets,"
        rate = f"between {rate_text(facts.limited_bps or 0.0)} and {rate}"
    return (
        f"The receivers' windows of {_bytes(facts.receive_window)} (whole segments of transport.receive-buffer, "
        f"{_bytes(facts.size(facts.scenario['transport']['receive-buffer']))}) in {trip} limit {many} to {rate}"
    )


def _begin(facts: Facts) -> str | None:
    """That the scenario lets answers begin so late or so far apart that this is most of what queries take, if it is."""
    group, queries = facts.fan_in, facts.queries
    if group is None or queries is None:
        return None
    apart, asked = ("jitter", "exponential"), ("think", "think-jitter") if has_requests(group) else ()
    late = {key: group[key].number for key in (*apart, *asked) if key in group and group[key].number > 0}
    # How far apart answers begin by chance is known from those that did.
    thinking = sum(late.get(key, 0.0) for key in asked)
    if thinking + queries.apart_s < _MOSTLY_LATE * queries.median_s:
        return None
    said = listed([f"traffic.{group['name']}.{key} = {_time(late_s)}" for key, late_s in late.items()])
    return f"Answers begin late or apart, as {said}"


_MOSTLY_LATE = 0.5
"""From this share of a query on, it is when answers begin that decides how long it takes."""


def _left_idle(facts: Facts) -> str:
    """That endless flows did not fill the link, and whether windows of receivers are too small for that."""
    if facts.limited_bps is not None:
        return _by_windows(facts)
    marks = facts.summary["marks"]
    marked = f" ({marks:,} packets were marked)" if marks else ""
    return f"The endless flows of {listed([f'traffic.{name}' for name in facts.endless])} did not fill the link{marked}"


def _round_trips(facts: Facts) -> str:
    """How many round trips a transfer takes whose packets all arrive."""
    size, transport = facts.typical_bytes, facts.scenario["transport"]
    if not size:
        return ""
    window, windows = facts.size(transport["initial-window"]), facts.windows
    fresh = is_fresh(facts.scenario)
    trips = windows + fresh
    first, most = _bytes(min(window, facts.receive_window)), f", up to {_bytes(facts.receive_window)}"
    bounded = most if size > facts.receive_window else ""
    parts = f"{windows} for windows that begin with {first} and at most double{bounded}"
    hosts = transport["interrupt-interval"].number
    interrupts = f", and hosts wait for up to {_time(hosts)} until they are told of a packet" if hosts else ""
    return (
        f" A transfer of {_bytes(size)} takes about {trips:,} round trip{'s' if trips != 1 else ''} of "
        f"{_time(facts.round_trip_s)} ({'1 for the handshake, ' if fresh else ''}{parts}){interrupts}; sending it "
        f"takes {_time(8 * size / facts.port.rate_bps)}."
    )


def _where(facts: Facts) -> str:
    """That the port is not a receiver's."""
    port = facts.port
    if facts.outcome == "idle":
        return ""
    if _is_uneven(facts):
        return (
            f"This is no receiver's port, but one of {port.paths} paths from its switch, and it carried "
            f"{_share(port.path_share)} of what they did: flows share it by chance while others lie idle "
            f"(network.path-selector = {facts.scenario['network']['path-selector']})."
        )
    if port.oversubscribed <= 1:
        return ""
    return (
        f"This is no receiver's port: the hosts of its switch can send {rate_text(port.into_bps)} into uplinks of "
        f"{rate_text(port.out_bps)} "
        f"(oversubscribed {format_number(port.oversubscribed, 2)} to 1)."
    )


def _is_uneven(facts: Facts) -> bool:
    return facts.port.path_share * facts.port.paths >= _UNEVEN


_UNEVEN = 1.5
"""A path that carries so many times its part is crowded by chance, and not by the rate."""


def _windows(facts: Facts) -> str:
    """That the first windows alone are more than the buffer holds."""
    at_once, each = facts.first_windows
    total, port = at_once * each, facts.port
    # What the port sends while answers begin, one after the other, makes room for the next.
    begun_s = facts.queries.begun_s if facts.queries is not None else 0.0
    fit = total <= facts.buffer + begun_s * port.rate_bps / 8
    # What a lost SYN stands for never began.
    syns = 2 * facts.waits_for_syn > sum(facts.timeouts.values())
    if facts.outcome not in ("collapse", "timeouts") or fit or syns or not port.drops:
        return ""
    # They do not all cross one of several ports between switches.
    if port.between_switches:
        return ""
    times = format_number(total / facts.buffer, 2)
    return (
        f"The first windows alone ({at_once} of {_bytes(each)}) are {times} times the buffer: what is lost of them is "
        "lost before a mark or a loss can slow a sender down."
    )


def _faults(facts: Facts) -> str:
    """What faults of the scenario were under way: nothing tells waits for them from others."""
    found = []
    for fault in facts.scenario["fault"]:
        begin, lasts = fault["at"].number, fault["for"].number
        if fault["kind"] in _CHANGES and begin < facts.summary["simulated_s"]:
            until = f" for {_time(lasts)}" if lasts else ""
            what = fault.get("link", "the controller")
            found.append(f"{what} {_CHANGES[fault['kind']]} from {_time(begin)} on{until}")
    return f"By a fault {listed(found)}: what waited for that is part of this." if found else ""


_CHANGES = {"link-down": "was down", "rate": "had another rate", "controller-outage": "was out of reach"}
"""Kinds of faults that lose few packets, but hold up many."""


def _controller(facts: Facts) -> str:
    messages, rewritten = facts.summary.get("control_messages"), facts.summary.get("rewritten")
    if not messages:
        return ""
    lost = facts.summary.get("control_lost") or 0
    gone = f", of which {lost:,} were lost" if lost else ""
    return (
        f"Switches and the controller exchanged {messages:,} messages{gone}, and {rewritten:,} packets were rewritten."
    )


def _elsewhere(facts: Facts) -> str:
    """That the totals of the queue are of another port than the one that decided the run."""
    if facts.observed in (None, facts.port.name) or facts.outcome == "idle":
        return ""
    return (
        f"The queue that was measured is that of {facts.observed}: "
        f"--set measure.bottleneck={shlex.quote(facts.port.name)} measures this one."
    )


def _timers(facts: Facts) -> str:
    """The timers that expired: what a timer of measured round trips has as its minimum, the initial one, and SYN's."""
    waits = facts.waits
    used = {"rto-min": waits.timed_measured, "rto-initial": waits.timed_initially}
    found = [_setting(facts, key) for key, count in used.items() if count]
    if facts.timeouts.get("syn"):
        found.append(f"{_setting(facts, 'syn-timeout')} (SYN)")
    return " or ".join(found)


def _setting(facts: Facts, key: str) -> str:
    """A time of the scenario's transport as in the other sentences."""
    return _time(facts.scenario["transport"][key].number)


def _timeout(name: str) -> str:
    # The others of its window may have been.
    said = {"syn": "of a SYN", "spurious": "although the first outstanding segment was not lost"}
    return said.get(name, f"because {cause_of_timeouts(name)}")


def _reason(facts: Facts) -> str:
    return cause_of_drops(facts.port.reason) if facts.port.reason else "cause unknown"


def _goodput(facts: Facts) -> str:
    """The goodput; if all of it crosses the port, beside the rate of its link."""
    goodput = facts.summary["goodput_bps"]
    if goodput is None:
        return "no goodput"
    gaps = f", counting gaps of {_time(facts.gaps_s)} without a transfer" if _has_gaps(facts) else ""
    of = f" of {rate_text(facts.port.rate_bps)}" if facts.all_cross else ""
    return f"goodput {rate_text(goodput)}{of}{gaps}"


def _has_gaps(facts: Facts) -> bool:
    """Whether pauses between transfers, such as those between rounds, make the goodput smaller than it looks."""
    return facts.gaps_s >= _GAPS * facts.window_s > 0


_HARDLY = 0.01
"""A link that lies idle for less than this share of the time is busy."""

_MOSTLY = 0.5
"""A link that lies idle for more than this share of the time needs a reason."""

_GAPS = 0.05
"""From this share of the time on, gaps are worth a word."""


def listed(names: list[str]) -> str:
    """Names as part of a sentence."""
    return "".join(names) if len(names) <= 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    unit, factor = ("us", 1e6) if abs(seconds) < 1e-3 else ("ms", 1e3) if abs(seconds) < 1 else ("s", 1.0)
    return f"{format_number(seconds * factor, 3)} {unit}"


def _bytes(number: float) -> str:
    unit, factor = ("B", 1.0) if number < 1e3 else ("KB", 1e-3) if number < 1e6 else ("MB", 1e-6)
    return f"{format_number(number * factor, 3)} {unit}"


def _about(count: int) -> str:
    """A number of which two digits are known."""
    digits = max(0, len(str(count)) - 2)
    return f"{round(count, -digits):,}"


def _share(share: float) -> str:
    return f"{format_number(100 * share, 3)} %"

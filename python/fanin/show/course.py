"""What happened in a run: a sentence, rows of facts, and which commands show what would change it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from fanin.choose.diagnosis import Diagnosis
from fanin.choose.notes import find_notes, listed
from fanin.choose.outcomes import Outcome, Whom
from fanin.choose.queries import Queries
from fanin.numbers.summary import bytes_text, column, format_number, share_text, time_text
from fanin.numbers.units import rate_text, seconds
from fanin.registry import registry
from fanin.scenario.settings import Settings, as_options, with_options
from fanin.scenario.traffic import is_fan_in

if TYPE_CHECKING:
    from fanin.choose.trials import Trials
    from fanin.scenario.format.values import Scalar

_MAX_CHANGES = 2
"""So many changes are among the commands to try."""

MAX_ROWS = 7
"""So many rows are shown, beside what is assumed, unless all are asked for."""

_LONG_S = 30.0
"""So long is a run at most, if its scenario does not say it."""

_MAX_TIMES_ALONE = 1.1
"""What takes fewer times longer takes as long as it needs."""

_MIN_GAPS = 0.05
"""From this share of the time on, that without a transfer is told."""

_ROUNDED = 0.01
"""What differs by less is the same in three digits, but for the last."""

_BESIDE = (
    "{collapse}: {delay} of the queries' delay was waits for timers, while other traffic kept the link {port} busy."
)
"""The headline of a collapse that the link does not show, as long flows fill it."""

_HEADLINES = {
    Outcome.COLLAPSE: "{collapse}: the link {port} sent for {busy} of the {span} that the transfers took.",
    Outcome.STALLS: (
        "Stalled without a loss that a timer had to repair: the link {port} sent for {busy} of the {span} that the "
        "transfers took."
    ),
    Outcome.TIMEOUTS: "No collapse, but timers held up {whom}.",
    Outcome.HELD_UP: "No collapse, but a fault held transfers up for {faulty} of the {span} that they took.",
    Outcome.CROWDED: "No collapse, but queries wait for other traffic: the link {port} sent for {share} of the time.",
    Outcome.LOSSES: "No collapse: packets were lost, and retransmitted without waiting for a timer.",
    Outcome.FULL: "No collapse: the link {port} sent for {share} of the {span} that the transfers took.",
    Outcome.IDLE: "No collapse: no packet was lost, and no timer expired; {port} sent for {share} of the time.",
    Outcome.CUT_SHORT: "The run ended too early: after {end}, no transfer was complete.",
}


class Command(NamedTuple):
    """A command to try, and what it shows."""

    command: str
    why: str


class Course(NamedTuple):
    """The course of a run in words."""

    headline: str
    """Whether it collapsed."""
    rows: list[tuple[str, str]]
    """A label and what it says, the most important first."""
    assumed: tuple[str, str]
    """A label, and the values that decide most and that a file seldom has."""


def describe_course(diagnosis: Diagnosis) -> Course:
    """The course of a run in words."""
    rows = [
        *((label, said) for label, say in _ROWS.items() if (said := say(diagnosis))),
        *(("note", note.text) for note in find_notes(diagnosis)),
    ]
    return Course(_word_headline(diagnosis), rows, ("assumes", _word_assumed(diagnosis.scenario)))


def _word_assumed(scenario: dict[str, Any]) -> str:
    """What the result rests on: connections, packets, the switch's share, the timer and the hosts."""
    network, transport = scenario["network"], scenario["transport"]
    kinds = dict.fromkeys(group["connections"] for group in scenario["traffic"] if "connections" in group)
    interval = transport["interrupt-interval"].number
    interrupts = f"at most every {time_text(interval)}" if interval else "for every packet"
    return ", ".join(
        [
            *([f"{listed([*kinds])} connections"] if kinds else []),
            f"MTU {transport['mss'].number + transport['header'].number:,.0f} B",
            *([f"alpha {network['dt-alpha']}"] if "dt-alpha" in network else []),
            f"rto_min {time_text(transport['rto-min'].number)}",
            f"an interrupt {interrupts}",
        ]
    )


def word_trials(diagnosis: Diagnosis, found: Trials | None) -> str:
    """How many changes were tried on a run, and how many helped; or that it is too long for that."""
    if found is None and diagnosis.is_to_mend and not diagnosis.is_short:
        return "No changes were tried, as the run is long: `fanin advise` tries them."
    if found is None or not found.tried:
        return ""
    goals = " or ".join(dict.fromkeys([found.goal, *(each.decides.name for each in found.told)]))
    helped = f"{found.helped} of {found.tried} changes that were tried"
    return f"With this seed, {helped} made {goals} better by a tenth or more."


def word_apart(found: Trials | None) -> str:
    """What a run comes to whose answers begin apart, as on real hosts, if that is worse."""
    if found is None or found.worse_apart is None:
        return ""
    (jitter,), worst = found.worse_apart.change.settings.values(), found.worse_apart.decides
    begun = f"With answers {time_text(seconds(jitter))} apart at random"
    return f"{begun}, {worst.name} is {worst.word_after()}: begin them apart to see what a rack does."


def choose_commands(diagnosis: Diagnosis, found: Trials | None, scenario: str, given: Settings) -> list[Command]:
    """The commands to try next: changes that made the run better, and what looks further.

    Args:
        diagnosis: What the run says.
        found: What was tried on it.
        scenario: The scenario as the user named it.
        given: The values that the user replaced.

    """

    def run(new: dict[str, Scalar]) -> str:
        # The last of two values for a path counts; one that is replaced would only confuse.
        kept = with_options(scenario, [(path, value) for path, value in given if path not in new])
        return f"fanin run {kept} {as_options(new)}"

    if diagnosis.outcome == Outcome.CUT_SHORT:
        longer = max(_LONG_S, 10 * diagnosis.scenario["run"]["duration"].number)
        return [Command(run({"run.duration": f"{longer:g}s"}), "a longer run: it ends when all transfers have")]
    said = [
        Command(run(each.change.settings), f"{each.change.name}: {', '.join(changed.text for changed in each.changed)}")
        for each in (found.told[:_MAX_CHANGES] if found is not None else [])
    ]
    where = with_options(scenario, given)
    if diagnosis.fan_in is not None and diagnosis.is_fast and not diagnosis.at_senders:
        said.append(Command(f"fanin capacity {where}", "how many senders it carries"))
    advise = "tries all fixes: which to deploy, what it needs, and how many senders it carries"
    if diagnosis.scenario["run"]["backend"] == "linux" and not _only_in_kernel(diagnosis.scenario):
        # All fixes in the kernel would take hundreds of times as long.
        rest = [(path, value) for path, value in given if path != "run.backend"]
        # The file names the kernel if nothing that was given does.
        named = [("run.backend", "simulator")] * (rest == given)
        where = f"{with_options(scenario, [*rest, *named])} --confirm"
        advise = "simulates all fixes, and runs the best in Linux too"
    return [*said, Command(f"fanin advise {where}", advise)]


def _only_in_kernel(scenario: dict[str, Any]) -> bool:
    """Whether the simulator has no model of a scheme."""
    schemes = {scenario["transport"]["scheme"], *(group.get("scheme") for group in scenario["traffic"])}
    return any(row["key"] in schemes for row in registry()["kernel_schemes"])


def _word_headline(diagnosis: Diagnosis) -> str:
    is_hidden = diagnosis.outcome == Outcome.COLLAPSE and diagnosis.starved
    queries = diagnosis.queries
    return (_BESIDE if is_hidden else _HEADLINES[diagnosis.outcome]).format(
        delay=share_text(queries.by_timers) if queries is not None else "",
        collapse="Incast collapse" if diagnosis.is_incast else "Collapse",
        port=diagnosis.port.name,
        busy=time_text(diagnosis.busy_s),
        share=share_text(1 - diagnosis.idle_share),
        span=_word_span(diagnosis),
        faulty=time_text(diagnosis.faulty_s),
        end=time_text(diagnosis.summary["simulated_s"]),
        whom=diagnosis.whom,
    )


def _word_span(diagnosis: Diagnosis) -> str:
    """How long transfers were under way while the goodput is measured."""
    after = f" after the warm-up of {time_text(diagnosis.warmup_s)}" if diagnosis.warmup_s else ""
    return f"{time_text(diagnosis.under_way_s)}{after}"


def _word_goodput(diagnosis: Diagnosis) -> str:
    """The goodput; if all of it crosses the port, beside the rate of its link."""
    goodput = diagnosis.summary["goodput_bps"]
    of = f" of {rate_text(diagnosis.port.rate_bps)}" if diagnosis.all_cross else ""
    is_told = diagnosis.gaps_s >= _MIN_GAPS * diagnosis.window_s > 0
    gaps = f", with {time_text(diagnosis.gaps_s)} without a transfer" if is_told else ""
    return "none" if goodput is None else f"{rate_text(goodput)}{of}{gaps}"


def _word_queries(diagnosis: Diagnosis) -> str:
    """How long the queries took, and how long they need alone: a busy link tells nothing of that."""
    found = diagnosis.queries
    # Of a run that ended too early, nobody is to take what queries have taken so far for what they take.
    if found is None or diagnosis.outcome == Outcome.CUT_SHORT:
        return ""
    several = sum(is_fan_in(group) for group in diagnosis.scenario["traffic"]) > 1
    whose = f" ({listed([f'traffic.{name}' for name in found.groups])})" if several else ""
    took = f"{time_text(found.median_s)} median, {time_text(found.p99_s)} 99th percentile"
    took = time_text(found.p99_s) if found.count == 1 else took
    open_ = f"; {found.unfinished:,} of {found.count:,} not ended" if found.unfinished else ""
    apart = f"; {time_text(found.apart_s)} of it as they begin apart ({listed([*diagnosis.apart])})"
    return f"{took}, {_word_times(found)}{apart if diagnosis.apart else ''}{open_}{whose}"


def _word_times(found: Queries) -> str:
    """How many times longer they took than alone."""
    # What has not ended takes longer than so far.
    more, alone = "more than " if found.unfinished else "", f"alone ({time_text(found.alone_s)})"
    if found.p99_times < _MAX_TIMES_ALONE:
        return f"needs {time_text(found.alone_s)}" if found.unfinished else f"as long as {alone}"
    times = f"{more}{format_number(found.p99_times, 3)} times"
    if math.isclose(found.p99_s, found.p99_times * found.alone_s, rel_tol=_ROUNDED):
        return f"{times} {alone}"
    # Not all need the same, and the slowest is not the one that took longest for its size.
    return f"{times} what each takes alone at the 99th percentile"


def _word_transfers(diagnosis: Diagnosis) -> str:
    summary = diagnosis.summary
    if diagnosis.unfinished:
        end = time_text(summary["simulated_s"])
        return f"{diagnosis.unfinished:,} of {diagnosis.transfers:,} not complete at the end ({end})"
    by_timers = diagnosis.outcome == Outcome.TIMEOUTS and diagnosis.whom != Whom.OTHERS
    if summary["fct_max_s"] is None or not (by_timers or diagnosis.queries is None):
        return ""
    median, slowest = (time_text(summary[name]) for name in ("fct_p50_s", "fct_max_s"))
    return f"{diagnosis.transfers:,}: {median} median, {slowest} slowest"


def _word_lost(diagnosis: Diagnosis) -> str:
    """What was lost where, when and why, if anything was."""
    port, drops = diagnosis.port, diagnosis.summary["drops"]
    if not port.drops:
        return f"{drops:,} packets at other ports than {port.name}" if drops else ""
    first, last = time_text(port.first_drop_s), time_text(port.last_drop_s)
    end = " and later" if port.last_drop_s is None else f" to {last}" if first != last else ""
    why = "cause unknown" if port.reason is None else column(f"drops_{port.reason.replace('-', '_')}").definition
    other = f", {port.for_other_reasons:,} for other reasons" if port.for_other_reasons else ""
    all_ = f"; {drops:,} at all ports" if drops > port.drops else ""
    packets = f"{port.drops:,} packet{'s' if port.drops != 1 else ''}"
    holds = f" ({bytes_text(diagnosis.buffer)})" if "full" in (port.reason or "") else ""
    return f"{packets} at {port.name}, {why}{holds}, {first}{end}{other}{all_}"


def _word_timers(diagnosis: Diagnosis) -> str:
    """Who waited for which timer that expired."""
    waits, transport = diagnosis.waits, diagnosis.scenario["transport"]
    if not waits.timed:
        return ""
    used = {"rto-min": waits.timed_measured, "rto-initial": waits.timed_initially}
    used["syn-timeout"] = diagnosis.timeouts.get("syn", 0)
    timers = " or ".join(f"{key} {time_text(transport[key].number)}" for key, count in used.items() if count)
    causes = ", ".join(f"{count:,} {_word_cause(name)}" for name, count in diagnosis.timeouts.items())
    expired = sum(diagnosis.timeouts.values())
    times = f"{expired:,} times: " if expired != waits.timed else ""
    return f"{waits.timed:,} of {diagnosis.transfers:,} transfers waited for {timers} ({times}{causes})"


def _word_cause(name: str) -> str:
    # The others of its window may have been.
    own = {"syn": "of a SYN", "spurious": "the first outstanding segment was not lost"}
    return own.get(name, column(f"timeouts_{name}").definition)


def _word_idle(diagnosis: Diagnosis) -> str:
    idle = f"{time_text(diagnosis.idle_s)} of {_word_span(diagnosis)} ({share_text(diagnosis.idle_share)})"
    return idle if diagnosis.idle_tells else ""


def _word_probes(diagnosis: Diagnosis) -> str:
    waits = diagnosis.waits
    longest = f"the longest {time_text(waits.longest_probed_s)}"
    return f"{waits.probed:,} transfers waited for tail loss probes, {longest}" if waits.probed else ""


def _word_waiting(diagnosis: Diagnosis) -> str:
    waits = diagnosis.waits
    syn = f", {waits.waiting_syn:,} of a SYN" if waits.waiting_syn else ""
    longest = f"the longest {time_text(waits.longest_waiting_s)}"
    return f"{waits.waiting:,} transfers for a timer when the run ended{syn}, {longest}" if waits.waiting else ""


_ROWS: dict[str, Callable[[Diagnosis], str]] = {
    "goodput": _word_goodput,
    "queries": _word_queries,
    "transfers": _word_transfers,
    "lost": _word_lost,
    "timers": _word_timers,
    "waiting": _word_waiting,
    "probes": _word_probes,
    "idle": _word_idle,
}

"""Fixes against incast for a scenario: what to change, what that takes, and how much of an effort it is.

Sizes follow from the scenario's own numbers: thresholds from the rate, the number of answers at once from the buffer,
the jitter from the time that the link needs for all answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, NamedTuple

from fanin.choose.cautions import by_what_is_said, merged_before
from fanin.choose.comparison import SCHEME, STACK, in_its_frames
from fanin.choose.diagnosis import Diagnosis
from fanin.choose.threshold import (
    carried_threshold,
    carried_tiers,
    given_threshold,
    given_tiers,
    marks_by_one_threshold,
)
from fanin.errors import ScenarioError
from fanin.numbers.summary import format_number
from fanin.numbers.units import Quantity, rate_text
from fanin.registry import reacts_to_losses_alone, reacts_to_marks, registry, scheme_row, scheme_title
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.settings import as_options
from fanin.scenario.thresholds import (
    THRESHOLD_OF_THE_QUEUE,
    Marking,
    marking_of,
    most_marked,
    share_of_memory,
    threshold_path,
    threshold_remarks,
    usual_threshold,
)

AS_IT_IS = "as it is"

_SHORT_TIMERS = (Quantity("10ms", 10e-3, "s"), Quantity("1ms", 1e-3, "s"))
"""Minima of the timer that are many round trips of a data centre and far below the default of 200 ms."""

_SHORTEST_TIMER = _SHORT_TIMERS[-1]

_INITIAL_TIMER = _SHORT_TIMERS[0]
"""An initial timer for connections of a data centre that have measured no round trip."""

_SMALL_FIRST_WINDOW = Quantity("2mss", 2.0, "pkt")
"""A small first window."""

_USUAL_ALPHA = 8
"""A dynamic threshold of usual switches with which one port may take most of a memory that the others do not use."""

_START_SPREAD_FACTOR = 1.25
"""Starts are spread over so many times what the link needs for all answers, as random starts come in clusters."""

_MILLISECONDS_FROM_US = 10_000
"""From so many microseconds on, a time is in milliseconds."""

_LINUX = "linux-6.12"


class Effort(IntEnum):
    """What a fix needs, the least effort first."""

    NOTHING = 0
    HOSTS = 1
    APPLICATION = 2
    SWITCH_SETTING = 3
    SWITCH_MEMORY = 4
    """A setting of switches that have memory which the user's may lack."""
    KERNEL = 5
    SWITCH = 6
    CONTROLLER = 7

    @classmethod
    def from_row(cls, scheme: dict[str, Any]) -> Effort:
        """What a scheme needs, by its row of the registry."""
        return cls[scheme["effort"].upper().replace("-", "_")]

    @property
    def is_deployable(self) -> bool:
        """Whether it takes only what can be bought and set today."""
        return self <= Effort.SWITCH_MEMORY


@dataclass(frozen=True)
class Marks:
    """From where on a switch marks for a fix."""

    threshold: str
    why: str
    """What speaks for it, in words."""
    is_first: bool = False
    """Whether it is the one to take unless another is better: the switch's own, or the usual one."""


def in_packets(threshold: str) -> str:
    """A threshold as the text has it."""
    return f"{threshold.removesuffix('pkt')} packets" if threshold.endswith("pkt") else threshold


@dataclass(frozen=True)
class Fix:
    """A change of the scenario."""

    name: str
    settings: dict[str, Scalar]
    effort: Effort
    needs: str
    """What it takes to deploy, in words."""
    unmarked: tuple[str, ...] = ()
    """If it needs marks: the traffic groups whose packets no switch can mark."""
    marks: Marks | None = None
    """Its marks, if it chooses from where on there are any."""
    marking: Marking | None = None
    """From where on the switch marks with it, whether it chooses that or the scenario does."""
    cautions: tuple[str, ...] = ()
    """What `fanin check` says against that threshold."""
    is_combined: bool = False
    """Whether it adds to another fix."""
    alone: float = 1.0
    """What share of its time a query alone takes with it, at most one: connections that are open save a handshake."""

    @property
    def command(self) -> str:
        """The options that set it."""
        return as_options(self.settings)


def _initcwnd(segments: int) -> str:
    """The command that sets a first window."""
    return f"ip route change ROUTE initcwnd {segments} on the senders"


def _rto_min(timer: Quantity) -> str:
    """The command that sets a minimum of the timer."""
    micro = round(timer.number * 1e6)
    return (
        f"ip route change ROUTE rto_min {timer} on the senders, or from Linux 6.11 on sysctl "
        f"net.ipv4.tcp_rto_min_us={micro}"
    )


class Tried(NamedTuple):
    """What can be tried on a scenario."""

    fixes: list[Fix]
    """The scenario as it is first."""
    refused: list[str]
    """What cannot be tried on it, and why."""


def fixes(diagnosis: Diagnosis, experiment: Scenario, *, systems: bool = True) -> Tried:
    """The fixes to try on a scenario; one that changes none of its values is none.

    Args:
        diagnosis: What a run of the scenario says about it.
        experiment: The scenario.
        systems: Whether the systems of the papers are among them.

    """
    own = Fix(AS_IT_IS, {}, Effort.NOTHING, "nothing")
    found, scenarios = [_known(own, diagnosis.scenario, experiment)], [diagnosis.scenario]
    refused: list[tuple[str, str]] = []
    given, tiers = given_threshold(experiment), given_tiers(experiment)
    others = _systems(diagnosis, experiment, given) if systems else ()
    for each in (*_of_hosts(diagnosis), *_of_applications(diagnosis), *_of_switches(diagnosis, given), *others):
        try:
            scenario = resolved(experiment, each.settings)
            settings = {**in_its_frames(experiment, each.settings), **carried_tiers(tiers, scenario)}
            if settings != each.settings:
                each = replace(each, settings=settings)
                scenario = resolved(experiment, settings)
        except ScenarioError as error:
            refused.append((each.name, str(error)))
            continue
        if why := merged_before(scenario):
            refused.append((each.name, why))
        elif scenario not in scenarios:
            found.append(_known(each, scenario, experiment))
            scenarios.append(scenario)
    return Tried(found, by_what_is_said(refused))


def _known(each: Fix, scenario: dict[str, Any], experiment: Scenario) -> Fix:
    """A fix with what the scenario that it makes says about its marks."""
    marking = marking_of(scenario)
    said = [] if marking is None else threshold_remarks(experiment.loads(each.settings)["fan_in"], scenario)
    return replace(each, unmarked=_unmarked(scenario), marking=marking, cautions=tuple(said))


def resolved(experiment: Scenario, settings: dict[str, Scalar]) -> dict[str, Any]:
    """The scenario with these values and every default filled in.

    Raises:
        ScenarioError: it is not valid with them.

    """
    experiment.check(settings)
    return experiment.of_fan_in(settings)


def _unmarked(scenario: dict[str, Any]) -> tuple[str, ...]:
    """If any traffic reacts to marks: the groups that are not ECN-capable."""
    groups = {group["name"]: reacts_to_marks(group["scheme"]) for group in scenario["traffic"]}
    # With ECN switched on, every scheme is ECN-capable, and with ECN switched off none is.
    if scenario["transport"]["ecn"] != "auto" or not any(groups.values()):
        return ()
    return tuple(name for name, does in groups.items() if not does)


def _of_hosts(diagnosis: Diagnosis) -> Iterator[Fix]:
    transport = diagnosis.scenario["transport"]
    for timer in _SHORT_TIMERS:
        if transport["rto-min"].number > timer.number:
            yield Fix(f"timer of {timer}", {"transport.rto-min": timer}, Effort.HOSTS, _rto_min(timer))
    # One hook sets what a connection waits for before it has measured a round trip: for its SYN, and for its data.
    asked = [
        path
        for path, waited in (("rto-initial", diagnosis.waits.initially), ("syn-timeout", diagnosis.waits_for_syn))
        if waited and transport[path].number > _INITIAL_TIMER.number
    ]
    if asked:
        yield Fix(
            f"first timer of {_INITIAL_TIMER}",
            {f"transport.{path}": _INITIAL_TIMER for path in ("rto-initial", "syn-timeout")},
            Effort.HOSTS,
            "a BPF program on the hosts that open connections (BPF_SOCK_OPS_TIMEOUT_INIT)",
        )
    if diagnosis.limited_bps is not None:
        window = diagnosis.filling_window
        yield Fix(
            f"receivers' windows of {window} KB",
            {"transport.receive-buffer": f"{window}KB"},
            Effort.HOSTS,
            f"a maximum of {2000 * window} in net.ipv4.tcp_rmem on the receivers and net.ipv4.tcp_wmem on the senders, "
            "about half of which is window",
        )
    if diagnosis.delays_acknowledgements:
        at_once = "ip route change ROUTE quickack 1 on the receivers"
        yield Fix("every segment acknowledged", {"transport.ack-every": 1}, Effort.HOSTS, at_once)
    if diagnosis.may_stall:
        yield Fix(
            "a window of 10 segments at first", {"transport.initial-window": "10mss"}, Effort.HOSTS, _initcwnd(10)
        )
    if _has_large_window(diagnosis):
        yield Fix(
            "a window of 2 segments at first",
            {"transport.initial-window": _SMALL_FIRST_WINDOW},
            Effort.HOSTS,
            _initcwnd(2),
        )
    if transport["scheme"] != "linux" and transport["stack"] != _LINUX:
        yield Fix(
            f"{scheme_title(transport['scheme'])} on Linux's TCP",
            {STACK: _LINUX},
            Effort.HOSTS,
            "Linux hosts (SACK, RACK, tail loss probes)",
        )


def _has_large_window(diagnosis: Diagnosis) -> bool:
    return diagnosis.size(diagnosis.scenario["transport"]["initial-window"]) > diagnosis.size(_SMALL_FIRST_WINDOW)


def _of_applications(diagnosis: Diagnosis) -> Iterator[Fix]:
    group = diagnosis.fan_in
    if group is None:
        return
    at_once, _ = diagnosis.first_windows
    few = diagnosis.answers_that_fit
    if "concurrent" in group and few < at_once:
        yield Fix(
            f"at most {few} answers at once" if few > 1 else "one answer at a time",
            {f"traffic.{group['name']}.concurrent": few},
            Effort.APPLICATION,
            "a client that asks for so many answers at a time",
        )
    if group.get("connections") == "fresh":
        yield Fix(
            "connections that stay open",
            {f"traffic.{group['name']}.connections": "persistent"},
            Effort.APPLICATION,
            "an application that keeps its connections open from query to query",
            alone=min(1.0, diagnosis.alone(diagnosis.scenario | {"traffic": [group | {"connections": "persistent"}]})),
        )
    answer = group.get("bytes-each")
    if "jitter" in group and isinstance(answer, Quantity) and at_once:
        all_s = at_once * answer.number * 8 / diagnosis.port.rate_bps
        micro = max(1, round(_START_SPREAD_FACTOR * all_s * 1e6))
        spread = Quantity(f"{micro}us", micro / 1e6, "s")
        if micro >= _MILLISECONDS_FROM_US:
            spread = Quantity(f"{round(micro / 1e3)}ms", round(micro / 1e3) / 1e3, "s")
        if group["jitter"].number < spread.number:
            yield Fix(
                f"starts spread over {spread}",
                {f"traffic.{group['name']}.jitter": spread},
                Effort.APPLICATION,
                "servers that wait for a random time before they answer",
            )


def _of_switches(diagnosis: Diagnosis, given: tuple[str, str] | None) -> Iterator[Fix]:
    network = diagnosis.scenario["network"]
    one_port = f"one port may take {100 * share_of_memory(_USUAL_ALPHA):.0f} % of"
    if network["admission"] == "static":
        ports = diagnosis.port.beside
        memory = round(ports * diagnosis.buffer)
        yield Fix(
            "ports share the switch's memory",
            {
                "network.admission": "dynamic-threshold",
                "network.shared-buffer": f"{memory}B",
                "network.dt-alpha": _USUAL_ALPHA,
            },
            Effort.SWITCH_MEMORY,
            f"a switch that has the memory of {ports} ports in one pool, {format_number(memory / 1e6, 3)} MB (ask its "
            f"data sheet), and a dynamic threshold of {_USUAL_ALPHA}: {one_port} it, as long as the others' queues are "
            "short",
        )
    elif float(network["dt-alpha"]) < _USUAL_ALPHA:
        yield Fix(
            f"dynamic threshold of {_USUAL_ALPHA}",
            {"network.dt-alpha": _USUAL_ALPHA},
            Effort.SWITCH_SETTING,
            f"alpha {_USUAL_ALPHA} in the switch: {one_port} its memory, which leaves less to incasts of other ports "
            "at the same time",
        )
    if diagnosis.scenario["queue"]["kind"] in ("red", "wred"):
        yield Fix(
            "queues without RED",
            {"queue.kind": "drop-tail"},
            Effort.SWITCH_SETTING,
            "ports of the switch that drop what does not fit, and nothing before (no RED or WRED)",
        )
    yield from _marks_of_losses(diagnosis, given)
    # A comparison of schemes is one on the same stack; that of Linux is another fix.
    if diagnosis.scenario["transport"]["stack"] != _LINUX:
        yield from _marks(diagnosis, "dctcp", diagnosis.scenario["transport"]["stack"], given)
    yield from _marks(diagnosis, "linux-dctcp", _LINUX, given)


def _marks_of_losses(diagnosis: Diagnosis, given: tuple[str, str] | None) -> Iterator[Fix]:
    """Marks that senders take for losses, as they have been since RFC 3168, where only losses slow these down."""
    transport = diagnosis.scenario["transport"]
    if not reacts_to_losses_alone(transport["scheme"]) or transport["ecn"] == "on":
        return
    hosts = "net.ipv4.tcp_ecn=1" if transport["stack"] == _LINUX else "ECN (RFC 3168)"
    for marks in _thresholds_to_try(diagnosis, given):
        yield Fix(
            f"ECN (RFC 3168), marks from {in_packets(marks.threshold)}",
            {"transport.ecn": "on", **_of_queue(diagnosis, marks)},
            Effort.SWITCH_SETTING,
            f"an ECN threshold in the switch, and {hosts} on the hosts at both ends",
            marks=marks,
        )


def _has_threshold(diagnosis: Diagnosis) -> bool:
    """Whether the scenario gives its queues a threshold of their own, which is that of the switch for any scheme."""
    queue = diagnosis.scenario["queue"]
    return THRESHOLD_OF_THE_QUEUE.partition(".")[2] in queue or queue["kind"] == "wred"


def _of_queue(diagnosis: Diagnosis, marks: Marks) -> dict[str, Scalar]:
    """The settings by which the queues mark from there on; a profile that does so stays as it is."""
    queue = diagnosis.scenario["queue"]
    if queue["kind"] == "wred":
        # With equal thresholds a profile is a step.
        step: dict[str, Scalar] = {"queue.wred-min": marks.threshold, "queue.wred-max": marks.threshold}
        return {} if marks.threshold == queue["wred-min"] else step
    kind = {} if _has_threshold(diagnosis) else {"queue.kind": "ecn-threshold"}
    return {**kind, THRESHOLD_OF_THE_QUEUE: marks.threshold}


def _marks(diagnosis: Diagnosis, scheme: str, stack: str, given: tuple[str, str] | None) -> Iterator[Fix]:
    """DCTCP with its thresholds, and together with what else helps against losses."""
    row = scheme_row(scheme)
    effort, needs = Effort.from_row(row), row["needs"]
    transport = diagnosis.scenario["transport"]
    is_long = stack != transport["stack"] or transport["rto-min"].number > _SHORTEST_TIMER.number
    timer = Fix(
        f"timer of {_SHORTEST_TIMER}", {"transport.rto-min": _SHORTEST_TIMER}, Effort.HOSTS, _rto_min(_SHORTEST_TIMER)
    )
    window = Fix("window of 2", {"transport.initial-window": _SMALL_FIRST_WINDOW}, Effort.HOSTS, _initcwnd(2))
    for index, marks in enumerate(_thresholds_to_try(diagnosis, given)):
        settings: dict[str, Scalar] = {
            SCHEME: scheme,
            STACK: stack,
            **(
                _of_queue(diagnosis, marks)
                if _has_threshold(diagnosis)
                else {"queue.kind": "auto", threshold_path(scheme): marks.threshold}
            ),
        }
        alone = Fix(
            f"{scheme_title(scheme)}, marks from {in_packets(marks.threshold)}", settings, effort, needs, marks=marks
        )
        yield alone
        added = replace(alone, name=f"{scheme_title(scheme)}, {in_packets(marks.threshold)}")
        if is_long:
            yield _combine(added, timer)
        # The other threshold alone tells what thresholds do.
        if index == 0 and _has_large_window(diagnosis):
            yield _combine(added, window)
            if is_long:
                yield _combine(_combine(added, window), timer)


def _combine(one: Fix, other: Fix) -> Fix:
    """A fix with what another one adds to it."""
    return replace(
        one,
        name=f"{one.name}, {other.name}",
        settings=one.settings | other.settings,
        effort=max(one.effort, other.effort),
        needs=f"{one.needs}; {other.needs}",
        is_combined=True,
    )


def _thresholds_to_try(diagnosis: Diagnosis, given: tuple[str, str] | None) -> list[Marks]:
    """Two thresholds: that of the switch if the scenario sets one, that of DCTCP's authors, and a third of that."""
    usual, third = (f"{packets}pkt" for packets in thresholds(diagnosis))
    slowest = _slowest_bps(diagnosis)
    rate = rate_text(slowest)
    # They give thresholds for two rates; the default is in proportion to these.
    known = slowest in (1e9, 10e9)
    authors = f"what DCTCP's authors take at {rate if known else f'10 Gbit/s, scaled to {rate}'}"
    half = "half of the buffer, as bursts need the rest, and less than " if _is_shallow(diagnosis) else ""
    found = [Marks(usual, f"{half}{authors}"), Marks(third, f"a third of {authors}, for a shorter queue")]
    if given is not None:
        found.insert(0, Marks(given[1], f"those of your switch ({given[0]})"))
    first, *others = found
    other = [each for each in others if each.threshold != first.threshold]
    return [replace(first, is_first=True), *other[:1]]


def thresholds(diagnosis: Diagnosis) -> tuple[int, int]:
    """ECN thresholds in packets: what DCTCP's authors take at this rate, and a third of it; at most half the buffer."""
    usual, most = _default_threshold(diagnosis), _most_marked(diagnosis)
    return min(usual, most), min(max(1, usual // 3), most)


def _is_shallow(diagnosis: Diagnosis) -> bool:
    """Whether the buffer is too small for DCTCP's own threshold."""
    return _default_threshold(diagnosis) > _most_marked(diagnosis)


def _most_marked(diagnosis: Diagnosis) -> int:
    """The highest threshold in packets for the buffer."""
    return max(1, most_marked(int(diagnosis.buffer // diagnosis.segment)))


def _default_threshold(diagnosis: Diagnosis) -> int:
    """DCTCP's own threshold in packets; queues of faster links have the same."""
    return usual_threshold(_slowest_bps(diagnosis))


def _slowest_bps(diagnosis: Diagnosis) -> float:
    """The rate of the slowest links."""
    network = diagnosis.scenario["network"].items()
    return min(rate for key, value in network if key.endswith("rate") and (rate := float(value.number)))


def _systems(diagnosis: Diagnosis, experiment: Scenario, given: tuple[str, str] | None) -> Iterator[Fix]:
    """The schemes that fanin has, each as its paper describes it, but on the stack of the scenario.

    Schemes of Linux have theirs. What others bring of their own besides is for :func:`beside_scheme` to say.
    """
    transport = diagnosis.scenario["transport"]
    for row in registry()["schemes"]:
        key = row["key"]
        if key not in (transport["scheme"], "linux-dctcp", "dctcp", "newreno"):
            settings: dict[str, Scalar] = {SCHEME: key, STACK: row["stack"] or transport["stack"]}
            # A switch that has queues for it leaves them as they are, and so does what changes only hosts.
            if not (_has_threshold(diagnosis) and marks_by_one_threshold(key)):
                if reacts_to_marks(key) or Effort.from_row(row) >= Effort.SWITCH:
                    settings["queue.kind"] = "auto"
                settings |= carried_threshold(experiment, key, given)
            yield Fix(scheme_title(key), settings, Effort.from_row(row), row["needs"])

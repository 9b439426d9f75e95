"""Finds advice for a scenario: runs every fix on the same seeds, ranks them, and searches how far the best carry.

It has no statistics and no search of its own: :mod:`fanin.choose.comparison` ranks and :mod:`fanin.choose.capacity`
searches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fanin.choose.advice import PRECISION, Advice, Advised, senders, without_useless_settings
from fanin.choose.capacity.find import fan_in_path, find_in, largest_valid
from fanin.choose.cautions import same_with_all_seeds, with_schemes_of_their_own
from fanin.choose.comparison import (
    SCHEME,
    STACK,
    beside_scheme,
    unequal,
)
from fanin.choose.diagnosis import Diagnosis
from fanin.choose.fixes import AS_IT_IS, Fix, Tried
from fanin.choose.goals import Measure, few_samples
from fanin.choose.outlook import Outlook
from fanin.choose.plan import MIN_FAN_IN, Ahead, Plan, furthest
from fanin.choose.robust import Varied, variations, varied
from fanin.choose.rounds import Asked, Rounds
from fanin.choose.threshold import given_threshold, marks_by_one_threshold
from fanin.errors import NotFoundError
from fanin.numbers.stats import FEWEST
from fanin.registry import reacts_to_marks, scheme_title
from fanin.run.job import Advance, Workers
from fanin.run.laboratory import Laboratory
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.remarks import unsteady

_MIN_CAPACITY_SEARCHES = 2
"""So many are searched in any case for how far they carry, or none: one capacity alone compares with nothing."""

_MAX_FURTHER_SEARCHES = 2
"""So often another fix is searched for how far it carries, as the best does not carry the scenario's senders."""


def advise(
    experiment: Scenario,
    diagnosis: Diagnosis,
    to_try: Tried,
    asked: Asked,
    plan: Plan,
    background: Measure | None,
    *,
    out: Path | str | None = "results",
    workers: Workers | None = None,
    again: bool = False,
    advance: Advance = lambda _: None,
    so_far: Callable[[Advice], None] = lambda _: None,
    planned: Callable[[Plan, float], None] = lambda *_: None,
) -> Advice:
    """Runs the fixes on the scenario, ranks them, and searches how far the best of them carry.

    Args:
        experiment: The scenario; its sweep is ignored.
        diagnosis: What one run of it says.
        to_try: What :func:`fanin.choose.fixes.fixes` says of these.
        asked: The question.
        plan: How thoroughly to look.
        background: The goodput of the background traffic, if there is any.
        out: Results folder; ``None`` keeps everything in memory.
        workers: Where to run the simulations, if not on threads.
        again: Whether runs that are recorded as failed are retried.
        advance: Called after every simulation.
        so_far: Called with what is known, whenever that is more than before.
        planned: Called with the plan, and with how long everything takes, once the first seed says how long runs of the
            fixes take.

    Raises:
        ResultsError: results cannot be written.
        RunError: the scenario as it is fails with the first seed.

    """
    tried, refused = to_try
    outlook = Outlook(plan, advance)
    how: dict[str, Any] = {"workers": workers, "again": again, "advance": outlook.advance}
    laboratory = Laboratory(experiment, out, go_on=lambda: outlook.has_time, **how)
    warnings = _find_warnings(experiment, diagnosis, tried, asked)
    over = fan_in_of(experiment)
    unknown = Advice(
        diagnosis, asked.goal, asked.keeps, plan.seeds, [], over, refused, [], warnings, is_provisional=True
    )
    rounds = Rounds(laboratory, tried, asked, outlook, planned)
    for _ in rounds.run():
        answer = _ranked(rounds, asked, background, replace(unknown, within=asked.within), laboratory.experiment)
        so_far(answer)

    def that_fit(some: list[Advised]) -> list[Advised]:
        return some[: outlook.plan.searches([each.work for each in some], outlook.begun_s)]

    def carried(some: list[Advised], others: list[Advised]) -> Advice:
        """With how far some carry, after which others are searched."""
        plan, nothing = outlook.plan, Ahead()
        now, then = (sum((plan.search(each.work) for each in group), nothing) for group in (some, others))
        until_s = math.inf if plan.are_searches_asked else outlook.ranked_until_s
        with outlook.searching(now, then + plan.varied(), until_s):
            return _carried(laboratory, answer, some)

    wanted = _worth_searching(answer, plan.capacities) if plan.capacities else []
    first = wanted if plan.are_searches_asked else that_fit(wanted[:_MIN_CAPACITY_SEARCHES])
    searched = first if len(first) >= _MIN_CAPACITY_SEARCHES else []
    if searched:
        answer = carried(searched, that_fit(wanted)[len(searched) :])
        # No other is begun that would take longer than there is time for, as far as these tell.
        if further := that_fit(wanted[len(searched) :]):
            answer = carried(further, [])
            searched = [*searched, *further]
        # What was best may not carry its own senders, and then another may be, or is told beside it.
        for _ in range(_MAX_FURTHER_SEARCHES):
            unknown_yet = [each for each in (answer.best, answer.keeping) if each is not None and each.found is None]
            if not (again_ := that_fit(unknown_yet[:1])):
                break
            answer = carried(again_, [])
    on_other_hosts = partial(_on_other_hosts, laboratory, outlook, asked)
    answer = replace(answer, unsearched=[each.fix.name for each in wanted if answer.find(each.fix.name).found is None])
    so_far(answer)

    # Which fix is recommended depends on how far they carry, and which of about the same result on other hosts.
    finalists = answer.finalists or [each for each in [answer.rival] if each is not None and answer.is_comparable]
    for place, each in enumerate(finalists, start=1):
        others = len(finalists) - place + (answer.ideal is not None)
        answer = replace(answer, hosts=answer.hosts | on_other_hosts(answer, each, others))
        so_far(answer)
    if searched and answer.best is not None and answer.best.found is None and (last := that_fit([answer.best])):
        answer = carried(last, [])
    if (ideal := answer.ideal) is not None:
        answer = replace(answer, hosts=answer.hosts | on_other_hosts(answer, ideal, 0))
    return replace(answer, is_provisional=False)


def _find_warnings(experiment: Scenario, diagnosis: Diagnosis, tried: list[Fix], asked: Asked) -> list[str]:
    """What is to be known of the answer before anything runs."""
    return [
        *unequal(beside_scheme(experiment, _systems(tried))),
        *_unmarkable(diagnosis, tried),
        *_unlike(experiment, tried),
        *with_schemes_of_their_own(experiment),
        *few_samples(asked.goal.measures, [diagnosis.summary]),
        *filter(None, [unsteady([diagnosis.summary], experiment.resolved())]),
    ]


def _ranked(rounds: Rounds, asked: Asked, background: Measure | None, unknown: Advice, own: Scenario) -> Advice:
    """What is known after a round."""
    compared = rounds.compared
    same = same_with_all_seeds(asked.goal.measures, {each.scheme: each.rows for each in compared}, own)
    return replace(
        unknown,
        every=rounds.advised(background),
        failed=[f"{each.scheme}: {each.error}" for each in compared if each.error],
        warnings=[*unknown.warnings, *same],
        dropped=rounds.dropped,
        untried=rounds.untried,
    )


def _on_other_hosts(
    laboratory: Laboratory, outlook: Outlook, asked: Asked, answer: Advice, each: Advised, others: int
) -> dict[str, list[Varied]]:
    """A fix on other hosts, with the scenario as it is there, before so many others; nothing if no time is left."""
    chosen = variations(answer.diagnosis, each.fix, laboratory.experiment)
    until_s = math.inf if outlook.plan.is_asked else outlook.plan.within_s
    for seeds in (answer.seeds, answer.seeds[:FEWEST]):
        # The scenario as it is was tried there with the first of them.
        now = outlook.plan.varied(1 if answer.hosts else 2, len(seeds))
        if outlook.begun_s + now.seconds <= until_s:
            break
    else:
        return {}
    with outlook.running(now, outlook.plan.varied(others), until_s):
        found = varied(laboratory, chosen, each.fix, asked.goal, seeds, asked.margin)
    # The few seeds for which there is time may not even tell on the hosts as given what is known of these.
    is_told = found and found[0].effect == each.effect(answer.goal)
    if (len(seeds) < len(answer.seeds) and not is_told) or not (found or outlook.has_time):
        return {}
    # Nothing to tell if there is nothing that may differ.
    return {each.fix.name: found if len(found) > 1 else []}


def _carried(laboratory: Laboratory, answer: Advice, searched: list[Advised]) -> Advice:
    """With how far some fixes carry."""
    assert answer.over is not None
    found = find_in(
        laboratory,
        [dict(each.fix.settings) for each in searched],
        answer.keeps,
        over=answer.over,
        first=MIN_FAN_IN,
        last=furthest(answer.fan_in),
        seeds=answer.seeds,
        precision=PRECISION,
        own=answer.fan_in,
    )
    carried = {each.fix.name: far for each, far in zip(searched, found, strict=True)}
    return replace(answer, every=[replace(each, found=carried.get(each.fix.name, each.found)) for each in answer.every])


def _systems(tried: list[Fix]) -> dict[str, dict[str, Scalar]]:
    """The scenario as it is, and each scheme that fixes bring with its stack."""
    found: dict[str, dict[str, Scalar]] = {AS_IT_IS: {}}
    for each in tried:
        if SCHEME in each.settings:
            values = {path: each.settings[path] for path in (SCHEME, STACK)}
            found.setdefault(scheme_title(str(values[SCHEME])), values)
    return found


def _unlike(experiment: Scenario, tried: list[Fix]) -> list[str]:
    """Warns that some systems are tried with another threshold than that of the scenario's switch."""
    given = given_threshold(experiment)
    if given is None:
        return []
    schemes = dict.fromkeys(str(each.settings[SCHEME]) for each in tried if SCHEME in each.settings)
    unlike = [scheme_title(key) for key in schemes if reacts_to_marks(key) and not marks_by_one_threshold(key)]
    beside = f"; {', '.join(unlike)} are tried with a switch that marks in another way" if unlike else ""
    own = f"the switch marks from {given[1]} on ({given[0]})"
    return [f"{own}, and so it does for the other schemes with one threshold{beside}"]


def _unmarkable(diagnosis: Diagnosis, tried: list[Fix]) -> list[str]:
    """Warns of fixes that need marks which not all traffic can have."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for each in tried:
        # What sets no scheme has that of the scenario.
        if each.unmarked and (each.name == AS_IT_IS or SCHEME in each.settings):
            name = scheme_title(str(each.settings[SCHEME])) if each.settings else each.name
            found.setdefault(each.unmarked, {})[name] = None
    forwards = diagnosis.scenario["network"]["non-ect"] != "drop"
    does, other = ("forwards", "drop") if forwards else ("drops", "by-queue")
    how = "drop it above the threshold, as WRED does" if forwards else "forward it"
    return [
        f"not all traffic is ECN-capable ({', '.join(groups)}) with {', '.join(names)}. The switch here {does} what it "
        f"cannot mark, other switches {how}. Try --set network.non-ect={other}, which can reverse the result"
        for groups, names in found.items()
    ]


def fan_in_of(experiment: Scenario) -> str | None:
    """The scenario value that is the fan-in; ``None`` if there is none, or several."""
    try:
        return fan_in_path(experiment)
    except NotFoundError:
        return None


def reach(experiment: Scenario, diagnosis: Diagnosis) -> tuple[int, int]:
    """How many senders a scenario has, and up to how many it is searched how far it carries; zeros if it is not."""
    over, here = fan_in_of(experiment), senders(diagnosis)
    if over is None or not here:
        return 0, 0
    return here, largest_valid(experiment.vary({}, bare=True), over, MIN_FAN_IN, furthest(here), {})


def _worth_searching(answer: Advice, most: int) -> list[Advised]:
    """The scenario as it is, the fix to deploy, and the next best: first those that can be deployed.

    If none is better at this fan-in, those that can be deployed and tie may still carry further.
    """
    wanted = [each for each in (answer.own, answer.best, answer.ideal) if each is not None]
    better = [each for each in answer.every if each.effect(answer.goal) == "better"]
    wanted += sorted(better, key=lambda each: (not each.fix.effort.is_deployable, not each.keeps))
    unique = without_useless_settings(list({each.fix.name: each for each in wanted}.values()))[: most + 1]
    return unique if answer.best is not None else [*unique, *_plainest(answer)]


def _plainest(answer: Advice) -> list[Advised]:
    """Those that can be deployed and do not differ, without those that only add a setting to another of them."""
    tied = [
        each
        for each in answer.every
        if each.fix.effort.is_deployable and each.effect(answer.goal) in ("undecided", "no difference that counts")
    ]
    # What has no effect here may have one with more senders, but is the first to be left out. Marks help however many
    # send, and as long as windows grow.
    tied.sort(key=lambda each: (each.is_same, each.fix.marks is None or not each.fix.marks.is_first))
    sets = [set(each.fix.settings.items()) for each in tied]
    return [each for each, own in zip(tied, sets, strict=True) if not any(other < own for other in sets)]

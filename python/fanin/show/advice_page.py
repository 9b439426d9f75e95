"""Advice as sentences, as tables, and as a Markdown page in ``results/advice/<id>/``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fanin.choose.advice import MUCH, PRECISION, Advice, Advised
from fanin.choose.capacity.find import fan_ins
from fanin.choose.capacity.judge import in_words
from fanin.choose.comparison import BY_FAR, FEWEST_AGREEING, SCHEME, Estimate
from fanin.choose.remedies import AS_IT_IS, TIMERS_ARE_BOUND, in_packets
from fanin.choose.robust import Outcome, Varied, times
from fanin.numbers.stats import FEWEST, NO_SPREAD, QUANTILES, Spread
from fanin.numbers.summary import format_number, format_value
from fanin.registry import reacts_to_marks, scheme_title
from fanin.results.dataset import as_json
from fanin.results.files import whole_folder
from fanin.results.layout import ADVICE, ADVISED
from fanin.results.never_ended import MOST as NOT_ENDED
from fanin.results.never_ended import going_on
from fanin.run.experiment import Experiment
from fanin.show import pages
from fanin.show.course import Course, listed

PAGE = "advice.md"

NEEDS_HEADER = ["remedy", "needs", "settings"]


def folder_of(experiment: Experiment, asked: dict[str, Any], out: Path | str) -> Path:
    """The folder of an answer; its name includes a hash of the scenario and the question."""
    return Path(out) / ADVICE / experiment.folder_name(asked)


def sentences(advice: Advice) -> list[str]:
    """What to do, in words."""
    if advice.is_provisional:
        return [_provisional(advice)]
    said = _as_it_is(advice) if advice.best is None else _take(advice, advice.best)
    said[1:1] = _not_needed(advice)
    said += [_passed_over(advice), _open(advice), _threshold(advice), *_robustness(advice), _beside_the_switch(advice)]
    said += [_with_memory(advice), _ideal(advice)]
    return [sentence for sentence in said if sentence]


def _provisional(advice: Advice) -> str:
    """What is known when not all has run."""
    others = (each for each in advice.every if each.remedy.name != AS_IT_IS and each.remedy.effort.is_deployable)
    first = next(others, None)
    lead = ""
    own = _result(advice.own, advice)
    if first is not None and first.effect(advice.goal) == "no difference that counts":
        lead = f" None of those that can be deployed is better so far ({advice.goal.name} {own})."
    elif first is not None:
        lead = (
            f" Of those that can be deployed, {_quoted(first)} leads: {advice.goal.name} {_result(first, advice)}, and "
            f"{own} as it is{_at_cost(first)}."
        )
    return (
        f"Provisional, by {advice.own.place.seeds} of {len(advice.seeds)} seeds: {len(advice.every)} remedies have "
        f"run.{lead}"
    )


def _take(advice: Advice, best: Advised) -> list[str]:
    own = advice.own
    # That of the scenario as it is is none.
    tried, untried = len(advice.every) - 1, len(advice.untried)
    take = f"There was time for {tried} of {tried + untried} remedies. Of these, take" if untried else "Take"
    said = [
        f"{take} {_quoted(best)}: {advice.goal.name} {_result(best, advice)} instead of {_result(own, advice)}"
        f"{_at_cost(best)}{_at_bounds(best)}.{_by_far(best.change, best.margin)} It needs {best.remedy.needs}."
    ]
    if best.found is not None:
        # The bounds are those of the sentence before.
        before = _carries_in_words(own, advice, "As it is,", bounded=False)
        said.append(f"{_carries_in_words(best, advice)} {before}".strip())
        if not advice.suffices(best):
            said.append(f"You have {advice.fan_in}, so the bounds do not hold with it either.")
    other = advice.keeping
    # Its runs alone do not tell of bounds that are shares.
    if other is not None and (best.found is None or other.found is not None):
        how = f"{_result(other, advice)}{_at_cost(other)}{_at_cautions(other)}"
        said.append(f"{_quoted(other)} keeps the bounds: {advice.goal.name} {how}.")
    return said


def _by_far(change: Estimate | None, margin: float) -> str:
    """How sure a difference is that all seeds have, and by far, but too few of them for 95 % confidence."""
    if change is None or change.is_sure(margin) or not change.differs(margin):
        return ""
    seeds = f"{len(change.sizes)} seeds; --seeds 1..{FEWEST_AGREEING} for 95 % confidence"
    return f" It is better with every seed, by {format_number(change.factor, 2)} times or more ({seeds})."


def _at_cost(each: Advised) -> str:
    """What the background traffic pays, as the end of a sentence: nobody is to read of a remedy without it."""
    if each.cost is None:
        return ""
    return f", {'at a large cost: ' if each.is_costly else 'and '}the background traffic changes by {_cost(each)}"


def _at_bounds(each: Advised) -> str:
    """Which bounds it breaks, as the end of a sentence."""
    return f", but {' and '.join(each.broken)}" if each.broken else ""


def _passed_over(advice: Advice) -> str:
    """What is better than the advice, by how much, and what speaks against it."""
    each, best = advice.passed_over, advice.best
    if each is None or best is None:
        return ""
    carries = "" if each.found is None else f", carries {_carried(each)}"
    against = ["`fanin check` warns of its threshold"] * bool(each.remedy.cautions and not best.remedy.cautions)
    cautions = "" if against else _at_cautions(each)
    how = f"{_result(each, advice)}{carries}{_at_cost(each)}{_at_bounds(each)}{cautions}"
    if advice.suffices(best) and not advice.suffices(each) and each.keeps:
        against.append(f"it does not keep {in_words(advice.keeps)} with your {advice.fan_in}")
    if advice.gives_up(each) and not advice.gives_up(best):
        against.append("it carries fewer than yours as it is")
    tried = advice.hosts.get(each.remedy.name)
    if tried and advice.steady(best) and not advice.steady(each):
        against.append(f"on other hosts, it {_fate(tried)}")
    if each.remedy.needs != best.remedy.needs:
        against.append(f"it needs {each.remedy.needs}")
    # Only some of those that are about as good are tried there.
    if not against and not tried and advice.steady(best):
        against.append("it was not tried on other hosts")
    by = format_number(100 * advice.gain_passed_over, 2)
    return f"{_quoted(each)} is {by} % better ({how}){', but ' * bool(against)}{', and '.join(against)}."


def _open(advice: Advice) -> str:
    """What may be better than the advice, if seeds do not tell."""
    each = advice.may_be_better
    if each is None:
        return ""
    how = f"{_result(each, advice)}{_at_cost(each)}{_at_bounds(each)}"
    return f"{_quoted(each)} may be better ({how}): about {each.seeds_to_decide} seeds would tell."


def _threshold(advice: Advice) -> str:
    """From where on the switch marks, why from there, and how another threshold compares."""
    each = advice.advised
    if advice.best is None and each.remedy.marks is None:
        # What is for more senders alone leaves the threshold as it is.
        each = advice.own
    remedy, marking = each.remedy, each.remedy.marking
    if marking is None:
        return ""
    if remedy.marks is not None:
        said = f"Set one threshold: marks from {in_packets(marking.threshold)} are {remedy.marks.why}"
    else:
        scheme = advice.facts.scenario["transport"]["scheme"]
        if SCHEME in remedy.settings or not reacts_to_marks(scheme):
            return ""
        said = f"Your {scheme_title(scheme)} stays, with marks from {in_packets(marking.threshold)} ({marking.path})"
    other = advice.compared_thresholds(each)
    if other is not None and other.remedy.marking is not None:
        is_worse, is_better = advice.is_better(each, other), advice.is_better(other, each)
        verdict = "worse" if is_worse else "better" if is_better else "no different"
        said += f"; from {in_packets(other.remedy.marking.threshold)} on it is {verdict}"
        # What is better and passed over has a sentence of its own, with its numbers.
        if other is not advice.passed_over:
            how = f"{_result(other, advice)}{_at_cost(other)}{_at_cautions(other)}"
            carries = "" if each.found is None or other.found is None else f", and carries {_carried(other)}"
            said += f" ({how}){carries}"
    warns = [f" `fanin check` warns: {caution}." for caution in remedy.cautions]
    return f"{said}.{''.join(warns)}"


def _at_cautions(each: Advised) -> str:
    """Whether something speaks against its threshold, as the end of a sentence."""
    return ", with a threshold that `fanin check` warns of" if each.remedy.cautions else ""


def _beside_the_switch(advice: Advice) -> str:
    """What is left to somebody who may not change the switch."""
    each = advice.beside_the_switch
    if each is None or each in (advice.keeping, advice.passed_over):
        return ""
    how = f"{_result(each, advice)}{_at_cost(each)}{_at_bounds(each)}{_at_cautions(each)}"
    return f"If the switch stays as it is: {_quoted(each)} ({how}) needs {each.remedy.needs}."


def _with_memory(advice: Advice) -> str:
    each = advice.with_memory
    if each is None:
        return ""
    carries = "" if each.found is None else f", carries {_carried(each)}"
    how = f"{_result(each, advice)}{carries}{_at_cost(each)}{_at_cautions(each)}"
    return f"If the switch has memory for it: {_quoted(each)} ({how}) needs {each.remedy.needs}."


def _ideal(advice: Advice) -> str:
    """What would be best of all, with all that speaks against it."""
    each = advice.ideal
    if each is None:
        return ""
    carries = "" if each.found is None else f", carries {_carried(each)}"
    fate = f"on other hosts, it {_fate(advice.ideal_varied)}" if advice.ideal_varied else "not tried on other hosts"
    return (
        f"Best of all is {_quoted(each)} ({_result(each, advice)}{carries}{_at_cost(each)}; {fate}), but "
        f"it needs {each.remedy.needs}."
    )


def _not_needed(advice: Advice) -> list[str]:
    """With which hosts a remedy that is to be taken is not needed: whoever has these reads no further."""
    named = _named(advice.varied[1:], "not needed") if advice.best is not None else ""
    return [f"You do not need it with {named}."] * bool(named)


def _robustness(advice: Advice) -> list[str]:
    """What becomes of the advice on other hosts."""
    others, rival = advice.varied[1:], advice.rival
    if advice.best is not None:
        # Where it is not needed stands first.
        fate = _fate([*advice.varied[:1], *(each for each in advice.varied[1:] if each.outcome != "not needed")])
        find = "" if advice.holds else ": find out what yours are"
        said = [f"On other hosts, it {fate}{find}."] if fate else []
        other = advice.unsteady
        if other is not None and other is not advice.passed_over:
            fate = _fate(advice.hosts[other.remedy.name])
            said.append(
                f"{_quoted(other)} is about as good here ({_result(other, advice)}), but on other hosts, it {fate}."
            )
        return said
    # Where bounds break, more is needed, and it is of use to know where there is some.
    if not others or rival is None:
        return []
    if not _is_kept(advice) or advice.room == "too little" or not advice.own.keeps:
        better = listed([each.variation.name for each in others if each.effect == "better"])
        return [f"{_quoted(rival)} is better with {better}: find out what yours are."] if better else []
    kept, open_, broken = (_named(others, outcome) for outcome in ("holds", "undecided", "does not hold"))
    parts = [f"holds with {kept}"] * bool(kept) + [f"is undecided with {open_}"] * bool(open_)
    parts += [f"does not hold with {broken}: find out what yours are"] * bool(broken)
    return [f"That nothing better is needed {'; it '.join(parts)}."]


def _fate(varied: list[Varied]) -> str:
    """What becomes of a remedy with each variation, as the end of a sentence."""
    verbs: dict[Outcome, str] = {
        "holds": "holds with",
        "not needed": "is not needed with",
        "helps less": "helps less with",
        "undecided": "is undecided with",
        "does not hold": "does not help with",
    }
    parts = [f"{verb} {named}" for outcome, verb in verbs.items() if (named := _named(varied[1:], outcome))]
    return "; it ".join(parts)


def _named(varied: list[Varied], outcome: Outcome) -> str:
    """The variations with that outcome."""
    return listed([each.variation.name for each in varied if each.outcome == outcome])


def varied_header(advice: Advice) -> list[str]:
    """The header of the table of variations."""
    rival = "" if advice.rival is None else advice.rival.remedy.name
    return ["with", f"as it is, {advice.goal.heading}", f"{rival}, {advice.goal.heading}", "so it is", "advice"]


def varied_rows(advice: Advice) -> list[list[str]]:
    """The scenario as it is and the recommended remedy on other hosts, a row per variation."""
    return [
        [
            each.variation.name,
            _shown(each.own, advice),
            _shown(each.remedy, advice),
            _by_times(each.effect, each.times, advice),
            each.outcome,
        ]
        for each in advice.varied
    ]


def _as_it_is(advice: Advice) -> list[str]:
    """What to say if nothing is better than the scenario as it is: that depends on how much room it leaves."""
    own, further = advice.own, advice.further
    carries = _carries_in_words(own, advice, "As it is,")
    what = (advice.over or "").rpartition(".")[2]
    verdict, keep = _verdict(advice), _is_kept(advice)
    if advice.room == "enough":
        said = [f"Keep yours: {verdict}" if keep else verdict, carries]
    elif advice.room == "hardly any":
        breaks = f"Your {advice.fan_in} {what} leave hardly any room: with {own.found.breaks_at}" if own.found else ""
        said = [
            f"Keep yours as long as there are no more {what}: {verdict}" if keep else verdict,
            f"{carries} {breaks} the bounds break.",
        ]
    else:
        said = [f"{verdict[0].upper()}{verdict[1:]}", f"{carries} You have {advice.fan_in}, so the bounds do not hold."]
    if further is not None:
        aim = "For more" if advice.room != "too little" else "To keep the bounds"
        aim += ", of those that there was time to search" if advice.unsearched else ""
        carries = _carries_in_words(further, advice)
        said.append(f"{aim}, take {_quoted(further)}{_at_cost(further)}. {carries} It needs {further.remedy.needs}.")
    return [sentence for sentence in said if sentence]


def _is_kept(advice: Advice) -> bool:
    """Whether it is known that nothing is better than the scenario as it is."""
    return advice.is_comparable and advice.undecided is None and not advice.has_few_seeds


def _verdict(advice: Advice) -> str:
    """That nothing is better, or what may be, and how many seeds would tell."""
    each, own = advice.undecided, _result(advice.own, advice)
    if not advice.is_comparable:
        return _nothing_finished(advice)
    if each is None and advice.has_few_seeds:
        few = "1 seed tells" if advice.own.place.seeds == 1 else f"{advice.own.place.seeds} seeds tell"
        return (
            f"Undecided: {few} nothing about differences ({advice.goal.name} {own}), and about {FEWEST_AGREEING} would "
            f"decide (--seeds 1..{FEWEST_AGREEING})."
        )
    if each is None:
        saving = advice.saving
        saved = f", beyond the handshake that {_quoted(saving)} saves ({_result(saving, advice)})" if saving else ""
        return (
            f"no remedy that takes only settings of hosts, applications and switches improves {advice.goal.name} by "
            f"what counts ({own}){saved}."
        )
    # Seeds that have run are stored, so more of them continue from there.
    return (
        f"Undecided: {_quoted(each)} may be better ({advice.goal.name} {_result(each, advice)} instead of {own}"
        f"{_at_cost(each)}), and about {each.seeds_to_decide} seeds would decide (--seeds 1..{each.seeds_to_decide})."
    )


def _nothing_finished(advice: Advice) -> str:
    """Why there is nothing to compare, and what to set so that there is."""
    scenario = advice.facts.scenario
    groups = list(going_on(scenario))
    duration = f"run.duration ({scenario['run']['duration']})"
    goes_on = f", as {listed(groups)} {'goes' if len(groups) == 1 else 'go'} on until then" if groups else ""
    stops = listed([f"traffic.{name}.stop" for name in groups])
    return (
        f"Nothing can be compared by {advice.goal.name}: as it is, and with every remedy that takes only settings, "
        f"more than {100 * NOT_ENDED:g} % of the transfers of some seed had not ended when the run did{goes_on}. Set "
        f"{f'{stops} well before {duration}' if stops else f'a longer {duration}'}."
    )


def _quoted(each: Advised) -> str:
    return f'"{each.remedy.name}"'


def _carries_in_words(each: Advised, advice: Advice, begin: str = "It", *, bounded: bool = True) -> str:
    """How far a remedy carries, and within which bounds unless that was said."""
    if each.found is None:
        return ""
    what = (advice.over or "").rpartition(".")[2]
    bounds = f" ({in_words(advice.keeps)})" if bounded else ""
    verb = "it carries" if begin != "It" else "carries"
    if each.found.capacity is None:
        return f"{begin} {verb} no number of {what}{bounds}."
    more = "at least " if each.found.breaks_at is None else ""
    return f"{begin} {verb} {more}{each.found.capacity} {what}{bounds}."


def _result(each: Advised, advice: Advice) -> str:
    """The goal with its unit."""
    if math.isinf(each.place.value.mean):
        return "unfinished"
    unit = "" if len(advice.goal.parts) > 1 else format_value(advice.goal.parts[0][0].shown_as, 0.0).partition(" ")[2]
    return f"{_shown(each.place.value, advice)} {unit}".rstrip()


def _shown(found: Spread, advice: Advice) -> str:
    return advice.goal.shown(found.without_zero_width)


def _cost(each: Advised) -> str:
    return "" if each.cost is None else f"{100 * each.cost:+.3g} %"


PUBLISHED = "Published systems that take a kernel module, a new switch or a controller"
"""What is in the second table."""

MOST_PUBLISHED = 5
"""So many of these are shown unless all are asked for."""


def deployable(advice: Advice) -> list[Advised]:
    """The scenario as it is, and all remedies that take only settings: what anybody can do stands first."""
    return [each for each in advice.every if each.is_listed and each.remedy.effort.is_deployable]


def published(advice: Advice) -> list[Advised]:
    """The systems that cannot be deployed today."""
    return [each for each in advice.every if each.is_listed and not each.remedy.effort.is_deployable]


def header(advice: Advice) -> list[str]:
    """The header of a table of remedies."""
    return ["rank", "remedy", advice.goal.heading, "against yours", "background", "carries"]


def rows(advice: Advice, chosen: Sequence[Advised]) -> list[list[str]]:
    """Some of the ranking as text, a row per remedy."""
    found = []
    for each in chosen:
        background = "-" if each.background is None else f"{_cost(each) or 'same'}{' !' if each.is_costly else ''}"
        found.append(
            [
                _rank(each, advice),
                each.remedy.name,
                _shown(each.place.value, advice),
                _against(each, advice),
                background,
                _carried(each),
            ]
        )
    return found


def _rank(each: Advised, advice: Advice) -> str:
    """Its place, with a sign if others share it; none beside another place of what it does not differ from."""
    rank, own = each.place.rank, advice.own.place.rank
    is_open = each.effect(advice.goal) in ("undecided", "no difference that counts")
    is_last = rank == 1 and math.isinf(each.place.value.mean)
    if rank is None or advice.has_few_seeds or (is_open and rank != own) or is_last:
        return "-"
    tied = sum(other.place.rank == rank for other in advice.every) > 1
    return f"{rank}{'=' if tied else ''}"


def _against(each: Advised, advice: Advice) -> str:
    """How often as good or as bad it is as the scenario as it is."""
    if each.change is None:
        return each.effect(advice.goal)
    own, effect = each.change.mean - each.change.difference, each.effect(advice.goal)
    factor = times(own, each.change.mean)
    if math.isnan(each.change.difference_half) and each.change.difference and each.remedy.name != AS_IT_IS:
        if factor < 1 + each.margin:
            return "no difference so far"
        is_better = (each.change.difference > 0) == advice.goal.more
        return f"{_by_times('better' if is_better else 'worse', factor, advice)} so far"
    if effect == "undecided":
        return f"undecided: about {each.seeds_to_decide} seeds"
    return _by_times(effect, factor, advice)


def _by_times(effect: str, factor: float, advice: Advice) -> str:
    if effect not in ("better", "worse") or math.isnan(factor) or len(advice.goal.parts) > 1:
        return effect
    return f"{effect}: {format_number(factor, 3)} times"


def _carried(each: Advised) -> str:
    if each.found is None:
        return ""
    if each.found.capacity is None:
        return "none"
    return f"{each.found.capacity}{' or more' if each.found.breaks_at is None else ''}"


def remarks(advice: Advice) -> list[str]:
    """What the table would mislead without, a sentence each."""
    said = []
    if advice.own.background is not None:
        much = f"; ! marks those that cost it {100 * MUCH:g} % or more" if any(map(_is_costly, advice.every)) else ""
        said.append(f'"background" is the change of the goodput of the background flows{much}.')
        if advice.facts.is_closed_loop:
            said.append(
                "Faster queries end sooner. The change is over equal times: once the queries are done, the background "
                "has the whole link."
            )
    unlisted = [each.remedy.name for each in advice.every if not each.is_listed]
    if unlisted:
        said.append(f"No effect at all: {', '.join(unlisted)}.")
    if advice.over is None:
        said.append(_unsearchable(advice))
    if dropped := [f"{name} ({why})" for name, why in advice.dropped.items() if name not in unlisted]:
        said.append(f"Given up early, compared with the best: {', '.join(dropped)}.")
    if left_out := _left_out(advice):
        said += [*left_out, "Use a larger --within; the runs so far are kept."]
    return said


def _left_out(advice: Advice) -> list[str]:
    """What there was no time for, a sentence each."""
    fewer = [each for each in advice.every if each.is_listed and each.remedy.name not in advice.dropped]
    fewer = [each for each in fewer if each.place.seeds < len(advice.seeds) and not advice.failed]
    untold = advice.rival is not None and advice.is_comparable and advice.rival.remedy.name not in advice.hosts
    named = {
        "Not tried": advice.untried,
        f"Fewer than {len(advice.seeds)} seeds": [f"{each.remedy.name} ({each.place.seeds})" for each in fewer],
        "Capacity not computed": advice.unsearched,
    }
    said = [f"{what} within {advice.within}: {', '.join(names)}." for what, names in named.items() if names]
    return [*said, *[f"Other hosts not tried within {advice.within}."] * untold] if not advice.is_provisional else []


def _unsearchable(advice: Advice) -> str:
    """Why nothing says how far remedies carry."""
    if found := fan_ins(advice.facts.scenario):
        why = f"there are several fan-ins ({listed(found)}; `fanin capacity --over PATH=FIRST..LAST` searches one)"
    else:
        why = "no traffic goes from a number of senders to one receiver"
    return f"It is not told how many senders the remedies carry, as {why}."


def _is_costly(each: Advised) -> bool:
    return each.is_costly


def legend(advice: Advice) -> list[str]:
    """What the columns of the table mean, a sentence each."""
    said = [
        "Every remedy ran with the same seeds. A difference counts if its 95 % interval over pairs of runs excludes "
        f"zero, or all have one sign and {FEWEST_AGREEING} or more count by themselves, or {FEWEST} or more all by a "
        f"factor of {BY_FAR:g}. It is also at least {100 * advice.own.margin:g} % of the value. What does not differ "
        "in that sense ties. A rank is one more than the number of remedies that are better by a difference that "
        "counts, so ranks may be left out. What does not differ from yours has no rank but yours.",
        *remarks(advice),
    ]
    if any("transport.rto-min" in each.remedy.settings for each in advice.every):
        said.append(TIMERS_ARE_BOUND)
    spreads = _spreads(advice)
    if any(each.quantiles for each in spreads):
        said.append(f"{QUANTILES}.")
    if any(each.has_no_width for each in spreads):
        said.append(f"{NO_SPREAD}.")
    if advice.over is not None and any(each.found for each in advice.every):
        said.append(
            f'"carries" is the largest {advice.over} that keeps {in_words(advice.keeps)}, to within '
            f"{100 * PRECISION:g} %; it was searched for the scenario as it is and the best remedies (--capacities has "
            "their number), or for all that can be deployed and do not differ, if none is better. `fanin capacity` "
            "searches more narrowly and with more seeds, so its answer may differ by as much."
        )
        if any(each.relative for each in advice.keeps):
            said.append(
                f"A share is one of the remedy's own best at any smaller or equal {advice.over}, not of the link, and "
                "not of another remedy's best."
            )
    return said


def _spreads(advice: Advice) -> list[Spread]:
    """All results that the tables show."""
    return [
        *(each.place.value for each in advice.every),
        *(side for each in advice.varied for side in (each.own, each.remedy)),
    ]


def needs(advice: Advice) -> list[list[str]]:
    """What each remedy takes, and how to set it here."""
    chosen = [*deployable(advice), *published(advice)]
    return [[each.remedy.name, each.remedy.needs, each.remedy.command or "-"] for each in chosen]


def write(advice: Advice, told: Course, title: str, command: str, asked: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the page and ``advice.json``.

    Args:
        advice: The answer.
        told: What happens in the scenario as it is.
        title: Of the scenario.
        command: The command that gives this page.
        asked: The question.
        folder: The folder to write.

    Raises:
        ResultsError: the folder cannot be written; its earlier contents are kept.

    """
    values = {
        "advice": advice,
        "told": told,
        "title": title,
        "command": command,
        "sentences": sentences(advice),
        "header": header(advice),
        "rows": rows(advice, deployable(advice)),
        "published": PUBLISHED,
        "others": rows(advice, published(advice)),
        "legend": legend(advice),
        "needs_header": NEEDS_HEADER,
        "needs": needs(advice),
        "varied_header": varied_header(advice),
        "varied": varied_rows(advice),
    }
    with whole_folder(folder) as temporary:
        pages.write_markdown(temporary / PAGE, f"{PAGE}.j2", **values)
        (temporary / ADVISED).write_bytes(as_json({**asked, **advice.as_dict()}))
    return [folder / PAGE, folder / ADVISED]

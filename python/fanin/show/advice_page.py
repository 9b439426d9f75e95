"""Advice as rows, as tables, and as a Markdown page in ``results/advice/<id>/``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from fanin.choose.advice import MUCH, Advice, Advised
from fanin.choose.capacity.judge import in_words
from fanin.choose.comparison import FEWEST_AGREEING
from fanin.choose.confirmation import MAX_SEEDS, Confirmed
from fanin.choose.fixes import AS_IT_IS, in_packets
from fanin.choose.notes import listed
from fanin.choose.outcomes import Verdict
from fanin.choose.robust import Outcome, Varied, times
from fanin.numbers.stats import NO_SPREAD, QUANTILES, Spread
from fanin.numbers.summary import format_number
from fanin.results.dataset import as_json
from fanin.results.files import whole_folder
from fanin.results.layout import ADVICE, ADVISED
from fanin.results.never_ended import MAX_SHARE_OPEN
from fanin.run.scenario import Scenario
from fanin.show import pages
from fanin.show.course import Course

PAGE = "advice.md"

Rows: TypeAlias = "tuple[list[str], list[list[str]]]"
"""Header and rows."""

Table: TypeAlias = "tuple[str, list[str], list[list[str]]]"
"""Title, header and rows."""

_HEADLINES = {
    Verdict.TAKE: 'Take "{name}": {goal} {result} instead of {own}.',
    Verdict.KEEP: "Keep yours: no fix that takes only settings improves {goal} enough to count ({own}).",
    Verdict.KEEP_FOR_NOW: (
        "Keep yours as long as there are no more {what}: no fix that takes only settings improves {goal} enough to "
        "count ({own})."
    ),
    Verdict.TOO_LITTLE: (
        "No fix that takes only settings improves {goal} enough to count ({own}), but the bounds do not hold."
    ),
    Verdict.UNDECIDED: (
        'Undecided: "{name}" may be better ({goal} {result} instead of {own}); about {needed} seeds would decide '
        "(--seeds 1..{needed})."
    ),
    Verdict.FEW_SEEDS: (
        "Undecided: {seeds} too few to compare ({goal} {own}); about {needed} would decide (--seeds 1..{needed})."
    ),
    Verdict.NOT_COMPARABLE: (
        "Nothing can be compared by {goal}. With every fix that takes only settings, more than {share} of the "
        "transfers of some seed had not ended when the run did."
    ),
    Verdict.PROVISIONAL: "Provisional, by {run} of {all} seeds: {every} fixes have run.",
}

NEEDS_HEADER = ["fix", "needs", "settings"]


def folder_of(experiment: Scenario, asked: dict[str, Any], out: Path | str) -> Path:
    """The folder of an answer; its name includes a hash of the scenario and the question."""
    return Path(out) / ADVICE / experiment.folder_name(asked)


def headline(advice: Advice) -> str:
    """What to do, in a sentence."""
    each = advice.best or advice.undecided or advice.own
    seeds = advice.own.place.seeds
    needed = advice.undecided.seeds_to_decide if advice.undecided is not None else FEWEST_AGREEING
    return _HEADLINES[advice.verdict].format(
        name=each.fix.name,
        goal=advice.goal.name,
        result=_result(each, advice),
        own=_result(advice.own, advice),
        what=_fan_in_word(advice),
        seeds=f"{seeds} seed is" if seeds == 1 else f"{seeds} seeds are",
        run=seeds,
        all=len(advice.seeds),
        every=len(advice.every),
        needed=needed,
        share=f"{100 * MAX_SHARE_OPEN:g} %",
    )


def word_rows(advice: Advice) -> list[tuple[str, str]]:
    """What else is to be known of the answer, the most important first: a label and what it says."""
    if advice.verdict == Verdict.PROVISIONAL:
        return [("leads", said)] if (said := _word_leader(advice)) else []

    def named(each: Advised | None, fate: str = "") -> str:
        """What it comes to, what it needs, and how it does on other hosts."""
        more = f"; other hosts: {fate}" if fate else ""
        return "" if each is None else f"{_word_fix(each, advice)} needs {each.fix.needs}{more}"

    best, beside, unsteady, open_ = advice.best, advice.beside_the_switch, advice.unsteady, advice.may_be_better
    costing = best or advice.undecided
    is_told = beside in (advice.keeping, advice.passed_over)
    is_near = best is not None and unsteady not in (None, advice.passed_over)
    left_out = _left_out(advice)
    counts = ", ".join(f"{len(names)} {what}" for what, names in left_out.items())
    near = _word_fate(advice.hosts.get(unsteady.fix.name, [])) if is_near and unsteady is not None else ""
    rows = {
        # What speaks against it is not to be among the rows that are left out.
        "costs": "" if costing is None or costing.cost is None else _word_cost(costing),
        "bounds": _word_bounds(advice),
        "sure": _word_sureness(advice),
        "left out": f"{counts} within {advice.within}; run it again with a larger --within, which keeps these runs"
        if counts
        else "",
        "set": _word_setting(advice),
        "needs": best.fix.needs if best is not None else "",
        "carries": _word_carries(advice),
        "more": _word_further(advice),
        "hosts": _word_hosts(advice),
        "threshold": _word_threshold(advice),
        "better": _word_passed_over(advice),
        "open": f"about {open_.seeds_to_decide} seeds would decide: {named(open_)}" if open_ is not None else "",
        "switch": "" if is_told else named(beside),
        "memory": named(advice.with_memory),
        "ideal": named(advice.ideal, _word_fate(advice.ideal_varied) or "not tried"),
        "near": named(unsteady, near) if near else "",
        "saves": named(advice.saving) if best is None else "",
        **{what: ", ".join(names) for what, names in left_out.items()},
    }
    return [(label, text) for label, text in rows.items() if text]


def _word_leader(advice: Advice) -> str:
    """What is known when not all has run."""
    others = (each for each in advice.every if each.fix.name != AS_IT_IS and each.fix.effort.is_deployable)
    own = f"{advice.goal.name} {_result(advice.own, advice)} as it is"
    return "".join(f"{_word_fix(each, advice)}; {own}" for each in [*others][:1])


def _word_fix(each: Advised, advice: Advice) -> str:
    return f'"{each.fix.name}" ({_word_details(each, advice)})'


def _word_details(each: Advised, advice: Advice) -> str:
    """Its result and all that speaks against it: nobody is to read of a fix without what it costs."""
    carries = [f"carries {_carried(each)}"] if each.found is not None else []
    costs = [_word_cost(each)] if each.cost is not None else []
    cautions = ["with a threshold that `fanin check` warns of"] if each.fix.cautions else []
    return ", ".join([_result(each, advice), *carries, *costs, *each.broken, *cautions])


def _word_cost(each: Advised) -> str:
    return f"background {_cost(each)}{', a large cost' if each.is_costly else ''}"


def _word_setting(advice: Advice) -> str:
    """What to set so that there is something to compare."""
    how = "longer than" if advice.to_set == ["run.duration"] else "well before run.duration,"
    duration = advice.diagnosis.scenario["run"]["duration"] if advice.to_set else ""
    return f"{listed(advice.to_set)}: {how} {duration}" if advice.to_set else ""


def _word_sureness(advice: Advice) -> str:
    """How sure a difference is that all seeds have, and by far, but too few of them for 95 % confidence."""
    change = None if advice.best is None else advice.best.change
    if change is None or advice.is_sure:
        return ""
    by = f"{format_number(change.factor, 2)} times or more"
    return f"better with every seed, by {by} ({len(change.sizes)} seeds; --seeds 1..{FEWEST_AGREEING} for 95 %)"


def _word_carries(advice: Advice) -> str:
    """How far the fix to take and the scenario as it is carry, and within which bounds."""
    if advice.unsearchable is not None:
        if not advice.unsearchable:
            return "not searched, as no traffic goes from a number of senders to one receiver"
        one = f"({listed(advice.unsearchable)}; `fanin capacity --over PATH=FIRST..LAST` searches one)"
        return f"not searched, as there are several fan-ins {one}"
    parts = [f"{_carried(advice.best)} {_fan_in_word(advice)}"] if advice.best and advice.best.found else []
    if advice.own.found is not None:
        parts.append(f"as it is {_carried(advice.own)}{'' if parts else f' {_fan_in_word(advice)}'}")
    if advice.own.found is not None and advice.verdict == Verdict.KEEP_FOR_NOW:
        parts.append(f"with {advice.own.found.breaks_at} the bounds break")
    return f"{', '.join(parts)}; you have {advice.fan_in} ({in_words(advice.keeps)})" if parts else ""


def _word_bounds(advice: Advice) -> str:
    """Which bounds the fix to take breaks, and what keeps them."""
    if advice.best is None:
        return ""
    broken = " and ".join(advice.best.broken)
    if not advice.suffices(advice.best) and not broken:
        broken = f"they do not hold with your {advice.fan_in}"
    other = advice.keeping
    # Its runs alone do not tell of bounds that are shares.
    if other is not None and (advice.best.found is None or other.found is not None):
        return f"{broken}; {_word_fix(other, advice)} keeps them"
    return broken


def _word_further(advice: Advice) -> str:
    each = advice.further
    if each is None or advice.best is not None:
        return ""
    some = ", of the fixes that were searched" if advice.unsearched else ""
    return f"for more {_fan_in_word(advice)}{some}: {_word_fix(each, advice)} needs {each.fix.needs}"


def _word_passed_over(advice: Advice) -> str:
    """What is better than the advice, by how much, and what speaks against it."""
    each = advice.passed_over
    if each is None:
        return ""
    words = {
        "threshold": "`fanin check` warns of its threshold",
        "bounds": f"does not keep {in_words(advice.keeps)} with your {advice.fan_in}",
        "fewer": "carries fewer than yours as it is",
        "other-hosts": _word_fate(advice.hosts.get(each.fix.name, [])),
        "needs": f"needs {each.fix.needs}",
        "untried": "was not tried on other hosts",
    }
    by = format_number(100 * advice.gain_passed_over, 2)
    against = "".join(f"; {words[reason]}" for reason in advice.against)
    return f"by {by} %: {_word_fix(each, advice)}{against}"


def _word_threshold(advice: Advice) -> str:
    found = advice.thresholds
    if found is None:
        return ""
    why = f": {found['why']}" if found["why"] else f", yours ({found['path']})"
    other = ""
    if found["other"]:
        result = _result(advice.find(found["other"]), advice)
        other = f"; from {in_packets(found['other_from'])} {found['other_is']} ({result})"
    warns = "".join(f"; `fanin check` warns: {caution}" for caution in found["cautions"])
    return f"marks from {in_packets(found['from'])}{why}{other}{warns}"


def _word_hosts(advice: Advice) -> str:
    """What becomes of the advice on other hosts; where bounds break or seeds do not tell, nothing does."""
    if advice.lacks_hosts:
        return f"not tried within {advice.within}"
    fate = _word_fate(advice.varied)
    is_kept = advice.verdict in (Verdict.KEEP, Verdict.KEEP_FOR_NOW) and advice.own.keeps
    return fate if advice.best is not None or not fate else f"that nothing better is needed {fate}" * is_kept


def _word_fate(varied: list[Varied]) -> str:
    """What becomes of a fix with each variation but the first, the hosts as given."""
    verbs: dict[Outcome, str] = {
        "not needed": "is not needed with",
        "holds": "holds with",
        "helps less": "helps less with",
        "undecided": "is undecided with",
        "does not hold": "does not hold with",
    }
    named = {outcome: [each.variation.name for each in varied[1:] if each.outcome == outcome] for outcome in verbs}
    return "; ".join(f"{verbs[outcome]} {listed(names)}" for outcome, names in named.items() if names)


def _left_out(advice: Advice) -> dict[str, list[str]]:
    """What there was no time for, by how far it came; what is provisional has not run for another reason."""
    fewer = [each for each in advice.every if each.is_listed and each.fix.name not in advice.dropped]
    fewer = [each for each in fewer if each.place.seeds < len(advice.seeds) and not advice.failed]
    found = {
        "untried": advice.untried,
        "few seeds": [f"{each.fix.name} ({each.place.seeds})" for each in fewer],
        "not searched": advice.unsearched,
        "given up": [f"{name} ({why})" for name, why in advice.dropped.items()],
    }
    return {what: names for what, names in found.items() if names}


def _fan_in_word(advice: Advice) -> str:
    return (advice.over or "senders").rpartition(".")[2]


def varied_header(advice: Advice) -> list[str]:
    """The header of the table of variations."""
    rival = "" if advice.rival is None else advice.rival.fix.name
    return ["with", f"as it is, {advice.goal.heading}", f"{rival}, {advice.goal.heading}", "so it is", "advice"]


def varied_rows(advice: Advice) -> list[list[str]]:
    """The scenario as it is and the recommended fix on other hosts, a row per variation."""
    return [
        [
            each.variation.name,
            _shown(each.own, advice),
            _shown(each.fix, advice),
            _by_times(each.effect, each.times, advice),
            each.outcome,
        ]
        for each in advice.varied
    ]


def _result(each: Advised, advice: Advice) -> str:
    """The goal with its unit."""
    if math.isinf(each.place.value.mean):
        return "unfinished"
    unit = "" if len(advice.goal.parts) > 1 else advice.goal.measures[0].unit
    return f"{_shown(each.place.value, advice)} {unit}".rstrip()


def _shown(found: Spread, advice: Advice) -> str:
    return advice.goal.shown(found.without_zero_width)


def _cost(each: Advised) -> str:
    return "" if each.cost is None else f"{100 * each.cost:+.3g} %"


PUBLISHED = "Published systems that take a kernel module, a new switch or a controller"
"""What is in the second table."""


def deployable(advice: Advice) -> list[Advised]:
    """The scenario as it is, and all fixes that take only settings: what anybody can do stands first."""
    return [each for each in advice.every if each.is_listed and each.fix.effort.is_deployable]


def published(advice: Advice) -> list[Advised]:
    """The systems that cannot be deployed today."""
    return [each for each in advice.every if each.is_listed and not each.fix.effort.is_deployable]


BESIDES = "* breaks a bound, or has a threshold that `fanin check` warns of"
"""What a star behind a fix means in the table of the best."""


def best_rows(advice: Advice, most: int) -> Rows:
    """The header and the rows of the best that can be deployed, for 80 columns."""
    chosen = deployable(advice)[:most]
    columns = {
        "fix": [f"{each.fix.name}{' *' * bool(each.broken or each.fix.cautions)}" for each in chosen],
        advice.goal.heading: [_shown(each.place.value, advice) for each in chosen],
        "than yours": [_against(each, advice) for each in chosen],
        "background": [_cost(each) for each in chosen],
        "carries": [_carried(each) for each in chosen],
    }
    told = {name: cells for name, cells in columns.items() if any(cells)}
    return [*told], [list(row) for row in zip(*told.values(), strict=True)]


def header(advice: Advice) -> list[str]:
    """The header of a table of fixes."""
    return ["rank", "fix", advice.goal.heading, "against yours", "background", "carries"]


def rows(advice: Advice, chosen: Sequence[Advised]) -> list[list[str]]:
    """Some of the ranking as text, a row per fix."""
    found = []
    for each in chosen:
        background = "-" if each.background is None else f"{_cost(each) or 'same'}{' !' if each.is_costly else ''}"
        found.append(
            [
                _rank(each, advice),
                each.fix.name,
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
    if math.isnan(each.change.difference_half) and each.change.difference and each.fix.name != AS_IT_IS:
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
    return f"{format_number(factor, 3)}x {effect}"


def _carried(each: Advised) -> str:
    if each.found is None:
        return ""
    if each.found.capacity is None:
        return "none"
    return f"{each.found.capacity}{' or more' if each.found.breaks_at is None else ''}"


def legend(advice: Advice) -> list[str]:
    """What signs in the tables mean, and which fixes are not in them."""
    spreads = [each.place.value for each in advice.every]
    spreads += [side for each in advice.varied for side in (each.own, each.fix)]
    unlisted = [each.fix.name for each in advice.every if not each.is_listed]
    said = {
        f"! costs the background {100 * MUCH:g} % or more": any(each.is_costly for each in advice.every),
        QUANTILES: any(each.quantiles for each in spreads),
        NO_SPREAD: any(each.has_no_width for each in spreads),
        f"no effect at all: {', '.join(unlisted)}": bool(unlisted),
    }
    return [text for text, is_said in said.items() if is_said]


def needs(advice: Advice) -> list[list[str]]:
    """What each fix takes, and how to set it here."""
    chosen = [*deployable(advice), *published(advice)]
    return [[each.fix.name, each.fix.needs, each.fix.command or "-"] for each in chosen]


def word_confirmed(confirmed: Sequence[Confirmed], seeds: list[int], linux: str) -> list[Table]:
    """The table of what ran in a kernel of this name too, with some of the seeds; none if nothing did."""
    if not confirmed:
        return []
    some = listed([str(seed) for seed in seeds[:MAX_SEEDS]])
    title = f"{confirmed[0].measure.name} with seeds {some}, simulated and in {linux}"
    if any(each.waited for each in confirmed):
        title += '. What starts "steady" begins in Linux when it did in the simulator'
    return [(title, ["fix", "simulated", linux.partition(" (")[0]], [each.row() for each in confirmed])]


def write(
    advice: Advice,
    told: Course,
    title: str,
    command: str,
    asked: dict[str, Any],
    folder: Path,
    confirmed: Sequence[Table] = (),
) -> list[Path]:
    """Writes the page and ``advice.json``.

    Args:
        advice: The answer.
        told: What happens in the scenario as it is.
        title: Of the scenario.
        command: The command that gives this page.
        asked: The question.
        folder: The folder to write.
        confirmed: What :func:`word_confirmed` says.

    Raises:
        ResultsError: the folder cannot be written; its earlier contents are kept.

    """
    values = {
        "advice": advice,
        "told": told,
        "title": title,
        "command": command,
        "headline": headline(advice),
        "answer": word_rows(advice),
        "header": header(advice),
        "rows": rows(advice, deployable(advice)),
        "published": PUBLISHED,
        "others": rows(advice, published(advice)),
        "legend": legend(advice),
        "needs_header": NEEDS_HEADER,
        "needs": needs(advice),
        "varied_header": varied_header(advice),
        "varied": varied_rows(advice),
        "confirmed": confirmed,
    }
    with whole_folder(folder) as temporary:
        pages.write_markdown(temporary / PAGE, f"{PAGE}.j2", **values)
        (temporary / ADVISED).write_bytes(as_json({**asked, **advice.as_dict()}))
    return [folder / PAGE, folder / ADVISED]

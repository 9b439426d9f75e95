"""Advice as sentences, as tables, and as a Markdown page in ``results/advice/<id>/``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from fanin.choose.advice import PRECISION, Advice, Advised
from fanin.choose.remedies import TIMERS_ARE_BOUND
from fanin.choose.robust import times
from fanin.numbers.stats import QUANTILES
from fanin.numbers.summary import format_number, format_value
from fanin.results.dataset import as_json
from fanin.results.files import whole_folder
from fanin.run.experiment import Experiment
from fanin.show import pages
from fanin.show.course import Course, listed

ADVICE = "advice"

PAGE = "advice.md"

HEADER = ["rank", "remedy", "result", "against yours", "background", "carries"]

NEEDS_HEADER = ["remedy", "needs", "settings"]


def folder_of(experiment: Experiment, asked: dict[str, Any], out: Path | str) -> Path:
    """The folder of an answer; its name includes a hash of the scenario and the question."""
    return Path(out) / ADVICE / experiment.folder_name(asked)


def sentences(advice: Advice) -> list[str]:
    """What to do, in words."""
    own, best, first = advice.own, advice.best, advice.best_of_all
    said = []
    if best is None:
        said += _as_it_is(advice)
    else:
        said.append(
            f"Take {_quoted(best)}: {advice.goal.name} {_result(best, advice)} instead of {_result(own, advice)}. "
            f"It needs {best.remedy.needs}."
        )
        if cost := _cost(best):
            said.append(f"The background traffic changes by {cost}.")
        if best.found is not None:
            said.append(f"{_carries_in_words(best, advice)} {_carries_in_words(own, advice, 'As it is,')}".strip())
    if first is not best and not first.remedy.effort.is_deployable and first.effect(advice.goal) == "better":
        said.append(f"Best of all is {_quoted(first)} ({_result(first, advice)}), but it needs {first.remedy.needs}.")
    return [*said, *_robustness(advice)]


def _robustness(advice: Advice) -> list[str]:
    """Whether the advice holds on other hosts."""
    if not advice.varied:
        return []
    others = advice.varied[1:]
    broken = listed([each.variation.name for each in others if not each.holds])
    kept = listed([each.variation.name for each in others if each.holds])
    if advice.best is None:
        what, found = "That nothing better is needed", ""
    else:
        little = listed([each.variation.name for each in others if each.holds and each.times < _LITTLE])
        what, found = "That", f" It gains little with {little}: there, yours hardly needs it." if little else ""
    if not broken:
        return [f"{what} holds with {kept} as well.{found}"]
    also = f", but does with {kept}" if kept else ""
    return [f"{what} does not hold with {broken}{also}: find out what yours are.{found}"]


_LITTLE = 1.1
"""What is better by a smaller factor is hardly worth a change of hosts and switches."""


def varied_header(advice: Advice) -> list[str]:
    """The header of the table of variations."""
    return ["with", f"as it is, {advice.goal.heading}", f"{advice.rival}, {advice.goal.heading}", "so it is", "advice"]


def varied_rows(advice: Advice) -> list[list[str]]:
    """The scenario as it is and the recommended remedy on other hosts, a row per variation."""
    shown = advice.goal.shown
    return [
        [
            each.variation.name,
            shown(each.own),
            shown(each.remedy),
            _by_times(each.effect, each.times, advice),
            "holds" if each.holds else "does not hold",
        ]
        for each in advice.varied
    ]


def _as_it_is(advice: Advice) -> list[str]:
    """What to say if nothing is better than the scenario as it is: that depends on how much room it leaves."""
    own, further = advice.own, advice.further
    improves = (
        f"o remedy that takes only settings of hosts, applications and switches improves {advice.goal.name} by what "
        f"counts ({_result(own, advice)})"
    )
    carries = _carries_in_words(own, advice, "As it is,")
    what = (advice.over or "").rpartition(".")[2]
    if advice.room == "enough":
        said = [f"Keep yours: n{improves}.", carries]
    elif advice.room == "hardly any":
        breaks = f"Your {advice.fan_in} {what} leave hardly any room: with {own.found.breaks_at}" if own.found else ""
        said = [
            f"Keep yours as long as there are no more {what}: n{improves}.",
            f"{carries} {breaks} the bounds break.",
        ]
    else:
        said = [f"N{improves}.", f"{carries} You have {advice.fan_in}, so the bounds do not hold."]
    if further is not None:
        aim = "For more" if advice.room != "too little" else "To keep the bounds"
        carries = _carries_in_words(further, advice)
        said.append(f"{aim}, take {_quoted(further)}. {carries} It needs {further.remedy.needs}.")
    return [sentence for sentence in said if sentence]


def _quoted(each: Advised) -> str:
    return f'"{each.remedy.name}"'


def _carries_in_words(each: Advised, advice: Advice, begin: str = "It") -> str:
    if each.found is None:
        return ""
    what = (advice.over or "").rpartition(".")[2]
    bounds = " and ".join(keep.text for keep in advice.keeps)
    verb = "it carries" if begin != "It" else "carries"
    if each.found.capacity is None:
        return f"{begin} {verb} no number of {what} that keeps {bounds}."
    more = "at least " if each.found.breaks_at is None else ""
    return f"{begin} {verb} {more}{each.found.capacity} {what} ({bounds})."


def _result(each: Advised, advice: Advice) -> str:
    """The goal with its unit."""
    if math.isinf(each.place.value.mean):
        return "unfinished"
    unit = "" if len(advice.goal.parts) > 1 else format_value(advice.goal.parts[0][0].shown_as, 0.0).partition(" ")[2]
    return f"{advice.goal.shown(each.place.value)} {unit}".rstrip()


def _cost(each: Advised) -> str:
    return "" if each.cost is None else f"{100 * each.cost:+.3g} %"


def rows(advice: Advice) -> list[list[str]]:
    """The ranking as text, a row per remedy."""
    found = []
    for each in filter(lambda each: each.is_listed, advice.every):
        tied = sum(other.place.rank == each.place.rank for other in advice.every) > 1
        rank = "-" if each.place.rank is None else f"{each.place.rank}{'=' if tied else ''}"
        background = "-" if each.background is None else _cost(each) or "same"
        found.append(
            [
                rank,
                each.remedy.name,
                advice.goal.shown(each.place.value),
                _against(each, advice),
                background,
                _carried(each),
            ]
        )
    return found


def _against(each: Advised, advice: Advice) -> str:
    """How often as good or as bad it is as the scenario as it is."""
    if each.change is None:
        return each.effect(advice.goal)
    own = each.change.mean - each.change.difference
    return _by_times(each.effect(advice.goal), times(own, each.change.mean), advice)


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


def legend(advice: Advice) -> list[str]:
    """What the columns of the table mean, a sentence each."""
    said = [
        "Every remedy ran with the same seeds. A difference counts if its 95 % interval over pairs of runs excludes "
        f"zero and it is at least {100 * advice.own.margin:g} % of the value; what does not differ in that sense ties. "
        "A rank is one more than the number of remedies that are better by a difference that counts, so ranks may be "
        "left out.",
        '"background" is the change of the goodput of the background flows.',
    ]
    if unlisted := [each.remedy.name for each in advice.every if not each.is_listed]:
        said.append(f"Not listed, as its runs are those of the scenario as it is: {', '.join(unlisted)}.")
    if any("transport.rto-min" in each.remedy.settings for each in advice.every):
        said.append(TIMERS_ARE_BOUND)
    if _has_quantiles(advice):
        said.append(f"{QUANTILES}.")
    if advice.over is not None and any(each.found for each in advice.every):
        bounds = " and ".join(keep.text for keep in advice.keeps)
        said.append(
            f'"carries" is the largest {advice.over} that keeps {bounds}, to within {100 * PRECISION:g} %; it was '
            "searched for the scenario as it is and the best remedies (--capacities says for how many), or for all "
            "that can be deployed and do not differ, if none is better. `fanin capacity` searches more narrowly and "
            "with more seeds, so its answer may differ by as much."
        )
    return said


def _has_quantiles(advice: Advice) -> bool:
    spreads = [each.place.value for each in advice.every]
    return any(
        each.quantiles for each in [*spreads, *(side for each in advice.varied for side in (each.own, each.remedy))]
    )


def needs(advice: Advice) -> list[list[str]]:
    """What each remedy takes, and how to set it here."""
    listed = (each.remedy for each in advice.every if each.is_listed)
    return [[each.name, each.needs, each.command or "-"] for each in listed]


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
        "header": [*HEADER[:2], advice.goal.heading, *HEADER[3:]],
        "rows": rows(advice),
        "legend": legend(advice),
        "needs_header": NEEDS_HEADER,
        "needs": needs(advice),
        "varied_header": varied_header(advice),
        "varied": varied_rows(advice),
    }
    with whole_folder(folder) as temporary:
        pages.write_markdown(temporary / PAGE, f"{PAGE}.j2", **values)
        (temporary / "advice.json").write_bytes(as_json({**asked, **advice.as_dict()}))
    return [folder / PAGE, folder / "advice.json"]

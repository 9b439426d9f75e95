"""``fanin advise``: which remedy to deploy on a scenario, what it takes, and how far it carries."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fanin
from fanin.cli import tab_completion
from fanin.cli.options import (
    ClusterOption,
    FailedOption,
    JobsOption,
    JsonOption,
    KeepOption,
    MarginOption,
    MemoryOption,
    OutOption,
    ScenarioArgument,
    SetOption,
    goal_of,
    keeps_of,
    margin_of,
    overrides,
    seeds,
    workers,
)
from fanin.cli.terminal import counting, keeping, note, print_json, print_table, say, say_wrapped

if TYPE_CHECKING:
    from fanin.choose.advice import Advice
    from fanin.choose.diagnosis import Facts
    from fanin.choose.goals import Measure
    from fanin.run.experiment import Experiment


def advise(
    scenario: ScenarioArgument,
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal",
            autocompletion=tab_completion.goal,
            help="Criterion, such as query-p99; by default that if there are queries, otherwise p99-fct or goodput.",
        ),
    ] = None,
    keep: KeepOption = None,
    seeds_: Annotated[str | None, typer.Option("--seeds", help="Seeds such as 1..10; by default 1..5.")] = None,
    capacities: Annotated[
        int, typer.Option("--capacities", min=0, help="For how many of the best remedies to search how far they carry.")
    ] = 3,
    margin: MarginOption = "1%",
    set_: SetOption = None,
    failed: FailedOption = False,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Advise which remedy to deploy: ranks all on the scenario, with what each needs and how far it carries.

    Tried are the remedies that can be deployed (shorter timers, a smaller first window, fewer answers at once, starts
    spread in time, a shared buffer, ECN thresholds with DCTCP, alone and together with a timer and a window), and the
    systems of the papers, those of senders on the stack of the scenario. Their sizes follow from the scenario:
    thresholds from the rate, the number of answers at once from the buffer, the spread from the time that the link
    needs. All run with the same seeds, and are ranked as by `fanin compare`. Recommended is, of
    the best that take only settings of hosts, applications and switches, the one with the least effort, if it is better
    than the scenario as it is by a difference that counts.

    For the best remedies, it is searched how far they carry: the largest fan-in that keeps all --keep bounds, by
    default goodput=90% and timeout-ratio=1%, as by `fanin capacity` with fewer seeds and wider steps. If the scenario
    needs no remedy, the one that carries furthest is named for more senders.

    OUT/advice/NAME-HASH/ gets the page advice.md and advice.json. Runs are stored, so the same command continues an
    interrupted one. Exit code 1 means that a run failed; its remedy is ranked by its other seeds.

    Whether the advice depends on the hosts is told by running the scenario as it is and the recommended remedy with
    other interrupts (on linux-6), with connections that are open or new, and, if the remedy needs marks, with a switch
    that drops what it cannot mark.

    --json prints one object: {scenario, goal, keep, seeds, margin, over, recommended, further, sentences, diagnosis:
    {outcome, sentences}, remedies: [{remedy, rank, mean, half, low, high, difference, difference_half, comparison,
    seeds_to_decide, measures, settings, needs, deployable, unmarked, effect, same_runs, change, change_half,
    background_change, capacity: {case, capacity, sure, breaks_at, why, monotone, remarks, runs, error, tried}}], holds,
    rival, variations: [{variation, settings, own: {mean, half, low, high}, remedy, effect, holds}], refused, failed,
    warnings, paths}. rival is the remedy of the variations: the recommended one, or else the best other that can be
    deployed.

    **Examples**

    - `fanin advise scenario.toml`
    - `fanin advise scenario.toml --goal p99-fct --keep timeout-ratio=0.1%`
    - `fanin advise scenario.toml --set traffic.servers.senders=100 --json`
    """
    from fanin.choose import advice as advising
    from fanin.choose.capacity.find import KEEP
    from fanin.choose.diagnosis import facts
    from fanin.run.observed import unmeasured
    from fanin.show import advice_page
    from fanin.show.course import course

    given = overrides(set_)
    experiment = fanin.load(scenario, given)
    experiment.check()
    chosen, least = seeds(seeds_) or advising.SEEDS, margin_of(margin)
    with keeping(None):
        run = experiment.run(chosen[0])
    happened = facts(run, experiment.resolved())
    wanted = goal_of(goal or _usual_goal(happened), experiment)
    asked = advising.Asked(wanted, keeps_of(list(keep or KEEP), experiment), chosen, least, capacities)
    measures = [*wanted.measures, *(each.measure for each in asked.keeps)]
    for remark in unmeasured(experiment, [([], run.summary)], (name for each in measures for name in each.columns)):
        note(f"warning: {remark}")
    with (
        keeping(f"finished runs are kept in {out}"),
        workers(cluster, jobs, memory) as pool,
        counting("runs") as counter,
    ):
        found = advising.advise(
            experiment,
            happened,
            asked,
            _background(experiment),
            out=out,
            workers=pool,
            again=failed,
            advance=counter.advance,
        )
    told = course(happened, scenario, given)
    question: dict[str, Any] = {"scenario": experiment.name, "margin": least}
    folder = advice_page.folder_of(experiment, {**question, "goal": wanted.name, "keep": keep, "seeds": chosen}, out)
    title = experiment.document.title or experiment.name
    options = "".join(f" --set {shlex.quote(f'{path}={value}')}" for path, value in given)
    paths = advice_page.write(found, told, title, f"fanin advise {scenario}{options}", question, folder)
    if json:
        words = {"sentences": advice_page.sentences(found)}
        words["diagnosis"] = {"outcome": happened.outcome, "sentences": [told.what, told.why]}  # type: ignore[assignment]
        print_json({**question, **found.as_dict(), **words, "paths": [str(path) for path in paths]})
    else:
        say_wrapped(f"As it is: {told.what}")
        _print(title, found)
        for path in paths:
            say(str(path))
    _tell(found)


def _usual_goal(happened: Facts) -> str:
    summary = happened.summary
    if summary["query_p99_s"] is not None or happened.fan_in is not None:
        return "query-p99"
    return "p99-fct" if summary["flows"] and summary["fct_p99_s"] is not None else "goodput"


def _background(experiment: Experiment) -> Measure | None:
    from fanin.choose.goals import measure
    from fanin.numbers.summary import BACKGROUND

    if any(group["kind"] == "background" for group in experiment.resolved()["traffic"]):
        return measure(BACKGROUND, experiment)
    return None


def _print(title: str, found: Advice) -> None:
    from fanin.show import advice_page

    for sentence in advice_page.sentences(found):
        say_wrapped(sentence)
    say()
    header = [*advice_page.HEADER[:2], found.goal.heading, *advice_page.HEADER[3:]]
    rows = advice_page.rows(found)
    if all(row[4] == "-" for row in rows):
        header, rows = header[:4] + header[5:], [row[:4] + row[5:] for row in rows]
    print_table(f"{title}: remedies by {found.goal.name}", header, rows)
    for sentence in advice_page.legend(found):
        say_wrapped(sentence)
    if found.varied:
        say()
        print_table("On other hosts", advice_page.varied_header(found), advice_page.varied_rows(found))
    say()
    print_table("What they need", advice_page.NEEDS_HEADER, advice_page.needs(found))


def _tell(found: Advice) -> None:
    """Prints what could not be tried, remarks and failures."""
    for warning in found.warnings:
        note(f"warning: {warning}")
    for each in found.refused:
        note(f"warning: not tried: {each}")
    for remedy in found.every:
        for remark in remedy.found.remarks if remedy.found else []:
            note(f"warning: {remedy.remedy.name}: {remark}")
    errors = [*found.failed, *(each.found.error for each in found.every if each.found and each.found.error)]
    for error in errors:
        note(f"error: {error}")
    if errors:
        raise typer.Exit(1)

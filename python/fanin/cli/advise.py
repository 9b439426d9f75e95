"""``fanin advise``: which remedy to deploy on a scenario, what it takes, and how far it carries."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fanin
from fanin.cli.options import (
    ClusterOption,
    FailedOption,
    GoalOption,
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
from fanin.cli.terminal import (
    counting,
    duration,
    keeping,
    note,
    print_json,
    print_table,
    say,
    say_wrapped,
    watching,
)

if TYPE_CHECKING:
    from fanin.choose.advice import Advice, Advised
    from fanin.choose.diagnosis import Facts
    from fanin.choose.goals import Measure
    from fanin.choose.plan import Plan
    from fanin.results.runs import Run
    from fanin.run.experiment import Experiment


def advise(
    scenario: ScenarioArgument,
    goal: GoalOption = None,
    keep: KeepOption = None,
    seeds_: Annotated[str | None, typer.Option("--seeds", help="Seeds such as 1..10; by default 1..6.")] = None,
    capacities: Annotated[
        int | None,
        typer.Option(
            "--capacities", min=0, help="For how many of the best remedies to search how far they carry; by default 3."
        ),
    ] = None,
    within: Annotated[
        str,
        typer.Option("--within", metavar="TIME", help="About how long it may take, such as 30s, 5min or 2h."),
    ] = "5min",
    margin: MarginOption = "1%",
    set_: SetOption = None,
    failed: FailedOption = False,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    all_: Annotated[bool, typer.Option("--all", help="Show all remedies, what each needs, and all tables.")] = False,
    json: JsonOption = False,
) -> None:
    """Advise which remedy to deploy: ranks all on the scenario, with what each needs and how far it carries.

    Tried are the remedies that can be deployed (shorter timers, a smaller first window, connections that stay open,
    fewer answers at once, starts spread in time, a shared buffer, ECN thresholds with DCTCP, alone and together with a
    timer and a window), and the systems of the papers, those of senders on the stack of the scenario. Their sizes
    follow from the scenario: thresholds from the rate, the number of answers at once from the buffer, the spread from
    the time that the link needs. All run with the same seeds, and are ranked as by `fanin compare`. Recommended is the
    best by the goal of those that take only settings of hosts, applications and switches, if it is better than the
    scenario as it is by a difference that counts; where up to 30 seeds would decide, the answer is how many, and with
    fewer than three seeds nothing is decided. Of those within a tenth of it, one is preferred that keeps the --keep
    bounds, then one without a marking threshold of its own that `fanin check` warns of, then one that holds on other
    hosts, then the least effort, and of the same effort the better one; what is better than the advice is named with
    what it needs, and so is a bound that the advice breaks, and what `fanin check` says against its marking threshold.
    What needs memory that the switch may lack comes after all others, and no remedy is named without what it costs the
    background traffic.

    The answer comes first: what to take, how to try it, with which hosts it is not needed, which threshold, how far it
    carries, and whether it holds on other hosts. Then come all remedies that can be deployed, and the best five of the
    others. --all shows all of these, and what each needs.

    It ends by --within, as fast as this machine turns out to be: no run begins later, and one that has begun ends. If
    there is no time for all, what takes only settings comes first. What is hopeless with the first seed is given up,
    then what is worst, so that the best have six seeds, which can decide. Then come other hosts, and how far the best
    carry. What was not done is said. On Ctrl-C it prints what is known so far, marked as provisional. --seeds and
    --capacities, if they are given, stay, however long that takes.

    For the best remedies, it is searched how far they carry: the largest fan-in that keeps all --keep bounds, by
    default those of `fanin capacity` (goodput=90% and timeout-ratio=1%, or these of the fan-in beside other traffic),
    with fewer seeds and wider steps; a share is one of the remedy's own best. If the scenario needs no remedy, the one
    that carries furthest is named for more senders.

    OUT/advice/NAME-HASH/ gets the page advice.md and advice.json. Runs are stored, so the same command continues an
    interrupted one. Exit code 1 means that a run failed; its remedy is ranked by its other seeds.

    Whether the advice depends on the hosts is told by running the scenario as it is and the recommended remedy with
    other interrupts (on linux-6), with connections that are open or new, and, if the remedy needs marks, with a switch
    that drops what it cannot mark.

    --json prints one object: {scenario, goal, keep, seeds, margin, over, comparable, recommended, undecided, further,
    ideal, passed_over, gain_passed_over, provisional, sentences, diagnosis: {outcome, sentences}, remedies: [{remedy,
    rank, mean, half, low, high, difference, difference_half, comparison, seeds_to_decide, measures, seeds, settings,
    needs, deployable, unmarked, threshold, cautions, effect, same_runs, change, change_half, broken, background_change,
    costly, capacity: {case, capacity, sure, breaks_at, why, monotone, remarks, runs, error, tried}}], holds, rival,
    unsteady, variations: [{variation, settings, own: {mean, half, low, high}, remedy, effect, outcome}],
    ideal_variations, dropped, untried, unsearched, refused, failed, warnings, paths}. rival is the remedy of the
    variations: the recommended one, or else the best other that can be deployed. comparable is false if none of these,
    and not the scenario as it is, finished. undecided may be better, as seeds do not tell; broken names the bounds that
    a remedy breaks. threshold is that from which the switch marks with a remedy, and cautions what `fanin check` says
    against it. passed_over is what is better than the advice by the share gain_passed_over of the goal, but takes more.
    unsteady is what is about as good, but does not hold on other hosts. ideal is what is better but cannot be deployed,
    with variations of its own; costly says that the background traffic loses a fifth or more; dropped names what was
    given up after the first seed; untried what there was no time for; and unsearched those without a capacity.

    **Examples**

    - `fanin advise scenario.toml`
    - `fanin advise scenario.toml --goal p99-fct --keep timeout-ratio=0.1%`
    - `fanin advise scenario.toml --set traffic.servers.senders=100 --json`
    """
    from fanin.choose import advising
    from fanin.choose import plan as planning
    from fanin.choose.capacity.find import default_bounds
    from fanin.choose.comparison import FEW_SEEDS
    from fanin.choose.remedies import remedies
    from fanin.choose.robust import variations
    from fanin.choose.rounds import Asked
    from fanin.scenario.settings import with_options
    from fanin.show import advice_page
    from fanin.show.course import course

    given = overrides(set_)
    experiment = fanin.load(scenario, given)
    experiment.check()
    least, within_s, some = margin_of(margin), _seconds(within), seeds(seeds_)
    run, run_s, happened = _first(experiment, (some or FEW_SEEDS)[0])
    wanted = goal_of(goal, experiment, happened.goal)
    asked = Asked(wanted, keeps_of(list(keep or default_bounds(experiment)), experiment), least, within)
    _warn_of_queues(experiment, run, [*wanted.measures, *(each.measure for each in asked.keeps)])
    to_try = remedies(happened, experiment)
    told, title = course(happened), experiment.document.title or experiment.name
    question: dict[str, Any] = {"scenario": experiment.name, "margin": least}

    def show(found: Advice, paths: Sequence[Path] = ()) -> None:
        if json:
            diagnosis = {"outcome": happened.outcome, "sentences": [told.what, told.why]}
            words = {"sentences": advice_page.sentences(found), "diagnosis": diagnosis}
            print_json({**question, **found.as_dict(), **words, "paths": [str(path) for path in paths]})
            return
        # What a remedy sets takes the place of what was given.
        kept = [(path, value) for path, value in given if path not in found.advised.remedy.settings]
        _print(title, found, f"fanin run {with_options(scenario, kept)}", told.what, all_=all_)
        for path in paths:
            say(str(path))

    with (
        keeping(f"finished runs are kept in {out}"),
        _showing_what_is_known(show) as so_far,
        workers(cluster, jobs, memory) as pool,
    ):
        plan = planning.planned(
            len(to_try.remedies),
            some,
            capacities,
            hosts=len(variations(happened, to_try.remedies[0], experiment)) - 1,
            reach=(0, 0) if capacities == 0 else _reach(experiment, happened),
            run_s=run_s,
            slots=pool.slots,
            within_s=max(0.0, within_s - run_s),  # That run has taken some of it.
        )
        note(_said(plan, run_s, within))
        how: dict[str, Any] = {"out": out, "workers": pool, "again": failed, "so_far": so_far, "planned": _say_again}
        with counting("runs") as counter:
            how["advance"] = counter.advance
            found = advising.advise(experiment, happened, to_try, asked, plan, _background(experiment), **how)
    # The plan depends on the machine; the same question has the same folder.
    folder = advice_page.folder_of(experiment, {**question, "goal": wanted.name, "keep": keep, "seeds": some}, out)
    paths = advice_page.write(found, told, title, f"fanin advise {with_options(scenario, given)}", question, folder)
    show(found, paths)
    _tell(found)


def _warn_of_queues(experiment: Experiment, run: Run, measures: Sequence[Measure]) -> None:
    from fanin.run.observed import unmeasured

    for remark in unmeasured(experiment, [([], run.summary)], (name for each in measures for name in each.columns)):
        note(f"warning: {remark}")


def _first(experiment: Experiment, seed: int) -> tuple[Run, float, Facts]:
    """A run of the scenario as it is, how long it took, and what it says."""
    from fanin.choose.diagnosis import facts

    begun = time.monotonic()
    with (
        keeping(None),
        watching("the scenario as it is", end=None) as progress,
        # `fanin check` and `fanin run` show them.
        warnings.catch_warnings(action="ignore", category=fanin.ScenarioWarning),
    ):
        run = experiment.run(seed, progress=progress)
    return run, time.monotonic() - begun, facts(run, experiment.of_fan_in(), experiment.handle())


@contextmanager
def _showing_what_is_known(show: Callable[[Advice], None]) -> Iterator[Callable[[Advice], None]]:
    """What to call with what is known so far, which is shown on Ctrl-C and SIGTERM."""
    known: list[Advice] = []
    try:
        yield known.append
    except KeyboardInterrupt:
        for found in known[-1:]:
            show(found)
        raise


def _reach(experiment: Experiment, happened: Facts) -> tuple[int, int]:
    """How many senders there are, and up to how many it can be searched how far they carry; zeros if it cannot be."""
    from fanin.choose import advising
    from fanin.errors import ScenarioError

    try:
        return advising.reach(experiment, happened)
    except ScenarioError as error:
        note(f"warning: it is not searched how many senders the remedies carry: {error}")
        return 0, 0


def _background(experiment: Experiment) -> Measure | None:
    from fanin.choose.goals import measure
    from fanin.numbers.summary import BACKGROUND

    if any(group["kind"] == "background" for group in experiment.resolved()["traffic"]):
        return measure(BACKGROUND, experiment)
    return None


def _seconds(within: str) -> float:
    """The option ``--within`` in seconds."""
    from fanin.numbers.units import quantity

    for unit, factor in _UNITS.items():
        if within.endswith(unit) and within.removesuffix(unit).strip().isdecimal():
            return factor * float(within.removesuffix(unit))
    found = quantity(within)
    if found is None or found[1] != "s":
        raise typer.BadParameter(f"{within!r} is not a time such as 30s, 5min or 2h", param_hint="--within")
    return found[0]


_UNITS = {"min": 60.0, "h": 3600.0}
"""Units of time that no scenario has."""


def _said(plan: Plan, run_s: float, within: str) -> str:
    """How much is going to run, and what is left out."""
    whole = plan.whole
    what = f"about {whole.runs:.0f} runs with {len(plan.seeds)} seeds"
    if plan.capacities:
        what += ", some to search how far the best carry"
    what += (
        f", {duration(whole.seconds)} in all if none is stored and the remedies' runs take as long as yours, which the "
        "first seed tells"
    )
    if not plan.is_tight:
        return what
    return (
        f"{what}. One run takes {duration(run_s)}, so --within {within} has no room for all: what takes only settings "
        "comes first, and what is hopeless with the first seed runs with no other"
    )


def _say_again(plan: Plan, whole_s: float) -> None:
    """How long it takes, by the work of each remedy."""
    note(f"by the first seed: {len(plan.seeds)} seeds, {duration(whole_s)} in all if no other run is stored")


def _print(title: str, found: Advice, command: str, as_it_is: str, *, all_: bool) -> None:
    """The answer first, then the ranking; what explains it on demand."""
    from fanin.show import advice_page

    said = advice_page.sentences(found)
    # What is only for more senders is no first thing to try.
    first = 1 if found.best else len(said)
    for sentence in said[:first]:
        say_wrapped(sentence)
    if found.advised is not found.own:
        # It is in one piece, to be copied.
        say(f"Try it: {command} {found.advised.remedy.command}")
    for sentence in said[first:]:
        say_wrapped(sentence)
    say_wrapped(f"As it is (seed {found.seeds[0]}): {as_it_is}")
    say()
    most = None if all_ else advice_page.MOST_PUBLISHED
    published = advice_page.published(found)
    _print_remedies(f"{title}: remedies by {found.goal.name}", found, advice_page.deployable(found))
    if published:
        say()
        _print_remedies(advice_page.PUBLISHED, found, published[:most])
    for sentence in advice_page.legend(found) if all_ else advice_page.remarks(found):
        say_wrapped(sentence)
    if not all_:
        hidden = len(published[most:])
        others = f"{hidden} more of the published systems, " if hidden else ""
        say_wrapped(f"--all shows {others}what each needs, how it does on other hosts and what the columns mean.")
        return
    if found.varied:
        say()
        print_table("On other hosts", advice_page.varied_header(found), advice_page.varied_rows(found))
    say()
    print_table("What they need", advice_page.NEEDS_HEADER, advice_page.needs(found))


def _print_remedies(title: str, found: Advice, chosen: Sequence[Advised]) -> None:
    from fanin.show import advice_page

    lines = [advice_page.header(found), *advice_page.rows(found, chosen)]
    # Without background traffic, or without a search, a column would be empty.
    told = [place for place, of in enumerate(zip(*lines[1:], strict=True)) if {*of} - {"-", ""} or place == 1]
    header, *rows = [[line[place] for place in told] for line in lines]
    print_table(title, header, rows, keys=header.index("remedy") + 1)


def _tell(found: Advice) -> None:
    """Prints what could not be tried, remarks and failures."""
    from fanin.choose.cautions import by_what_is_said

    for warning in found.warnings:
        note(f"warning: {warning}")
    for each in found.refused:
        note(f"warning: not tried: {each}")
    remarks = [(f'"{each.remedy.name}"', said) for each in found.every if each.found for said in each.found.remarks]
    for remark in by_what_is_said(remarks):
        note(f"warning: {remark}")
    errors = [*found.failed, *(each.found.error for each in found.every if each.found and each.found.error)]
    for error in errors:
        note(f"error: {error}")
    if errors:
        raise typer.Exit(1)

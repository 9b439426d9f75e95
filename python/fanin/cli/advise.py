"""``fanin advise``: which fix to deploy on a scenario, what it takes, and how far it carries."""

from __future__ import annotations

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
    refusing,
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
    say_rows,
    say_wrapped,
    watching,
)

_MAX_LINES_OF_ROWS = 11
"""With the sentence, the command, the best fixes and two paths, an answer fits a screen of 80 columns."""

_MAX_BEST = 10
"""So many fixes are shown unless all are asked for."""

if TYPE_CHECKING:
    from fanin.ask.advice import First, Recommendation
    from fanin.choose.advice import Advice, Advised
    from fanin.choose.confirmation import Confirmed
    from fanin.choose.plan import Plan
    from fanin.run.scenario import Scenario
    from fanin.scenario.settings import Settings


def advise(
    scenario: ScenarioArgument,
    goal: GoalOption = None,
    keep: KeepOption = None,
    seeds_: Annotated[str | None, typer.Option("--seeds", help="Seeds such as 1..10; by default 1..6.")] = None,
    capacities: Annotated[
        int | None,
        typer.Option(
            "--capacities", min=0, help="For how many of the best fixes to search how far they carry; by default 3."
        ),
    ] = None,
    within_: Annotated[
        str | None,
        typer.Option(
            "--within", metavar="TIME", help="About how long the command may take, such as 2h; by default 5min."
        ),
    ] = None,
    margin: MarginOption = "1%",
    set_: SetOption = None,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm", help="Run the scenario and the best fixes in the Linux kernel too, and show both results."
        ),
    ] = False,
    failed: FailedOption = False,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    all_: Annotated[bool, typer.Option("--all", help="Show all fixes, what each needs, and all tables.")] = False,
    json: JsonOption = False,
) -> None:
    """Advise which fix to deploy: rank all fixes on the scenario, and say what each needs.

    All fixes run with the same seeds: those that can be deployed, alone and together, and the systems of the papers.
    Only fixes that are settings of hosts, applications and switches can be recommended. The best of them by the goal
    is, if it is better by a difference that counts. Among fixes within a tenth of the best, four rules decide in turn.
    Preferred is a fix that keeps the --keep bounds, then a marking threshold of which `fanin check` does not warn. Then
    comes a fix that holds on other hosts, then the least effort. The page `docs/reference/choosing.md` has every fix
    and rule.

    The answer comes first: which fix to take, how to try it, and what it needs and costs. It also says how many senders
    the fix carries, and with which hosts it holds. Then follow the ten best fixes that can be deployed. With --all the
    command shows all fixes, and what each needs.

    The command ends by --within: no run begins later. Fixes that can be deployed run first, and the command says what
    was not done. On Ctrl-C it prints what is known so far, marked as provisional. If --seeds or --capacities are given
    without --within, all of them run, however long that takes.

    With --confirm, the scenario as it is and the three best fixes run in the Linux kernel too, with up to three seeds.
    `fanin linux` says whether there is such a kernel. These runs come after --within. If run.backend is linux in the
    file, all fixes run in the kernel, and --confirm simulates the best.

    OUT/advice/NAME-HASH/ gets the page advice.md and advice.json. Runs are stored, so the same command continues an
    interrupted one. Exit code 1 means that a run failed; its fix is ranked by its other seeds.

    --json prints one object: {scenario, verdict, headline, recommended, fixes, confirmed, paths, ...}. The page
    `docs/reference/output.md` defines each key.

    **Examples**

    - `fanin advise scenario.toml`
    - `fanin advise scenario.toml --goal p99-fct --keep timeout-ratio=0.1%`
    - `fanin advise scenario.toml --set traffic.servers.senders=100 --json`
    """
    from fanin.ask.advice import WITHIN
    from fanin.ask.advice import advise as ask
    from fanin.choose import confirmation
    from fanin.choose.capacity.find import default_bounds
    from fanin.choose.comparison import FEW_SEEDS
    from fanin.scenario.settings import with_options

    given, within = overrides(set_), within_ or WITHIN
    experiment = fanin.Scenario(scenario).set(given)
    experiment.check()
    _note_kernel(experiment)
    if confirm:
        confirmation.kernel(experiment)
    least, some = margin_of(margin), seeds(seeds_)
    _refuse_no_time(within)
    first = _first(experiment, (some or FEW_SEEDS)[0])
    wanted = goal_of(goal, experiment, first.diagnosis.goal)
    bounds = keeps_of(list(keep or default_bounds(experiment)), experiment)

    def show(found: Recommendation, paths: Sequence[Path] = ()) -> None:
        if json:
            print_json({**found.as_dict(), "paths": [str(path) for path in paths]})
        else:
            _print(found, scenario, given, paths, all_=all_)

    def say_plan(plan: Plan) -> None:
        note(_word_plan(plan, first.seconds, within))

    asked: dict[str, Any] = {"goal": wanted, "keep": bounds if keep else (), "seeds": some, "capacities": capacities}
    with (
        keeping(f"finished runs are kept in {out}"),
        _showing_what_is_known(show) as so_far,
        workers(cluster, jobs, memory) as pool,
        counting("runs") as counter,
    ):
        how: dict[str, Any] = {"out": out, "workers": pool, "again": failed, "progress": counter.advance}
        told: dict[str, Any] = {"so_far": so_far, "ready": say_plan, "planned": _note_time}
        found = ask(experiment, **asked, within=within_, margin=least, confirm=confirm, as_it_is=first, **how, **told)
    paths = found.write(out, f"fanin advise {with_options(scenario, given)}{' --confirm' * confirm}")
    show(found, paths)
    _note_failures(found.advice)


def _print(found: Recommendation, scenario: str, given: Settings, paths: Sequence[Path], *, all_: bool) -> None:
    """The answer, and the fixes by the goal."""
    from fanin.show.course import describe_course

    advice, title = found.advice, found.scenario.document.title or found.scenario.name
    as_it_is = describe_course(advice.diagnosis).headline
    _print_answer(advice, _run_of(scenario, given, advice), as_it_is, all_=all_)
    _print_confirmed(found.confirmed, advice.seeds, found.linux)
    _print_ranking(title, advice, all_=all_)
    for path in paths:
        say(str(path))


def _note_kernel(experiment: Scenario) -> None:
    """Says that all runs take place in the kernel, where the scenario asks for that."""
    if experiment.resolved()["run"]["backend"] == "linux":
        note(
            "warning: run.backend is linux: every fix runs in the Linux kernel, which takes hundreds of times as long. "
            "--set run.backend=simulator --confirm simulates all fixes, and runs the best in the kernel too"
        )


def _first(experiment: Scenario, seed: int) -> First:
    """A run of the scenario as it is, how long it took, and what it says."""
    from fanin.ask.advice import first

    with keeping(None), watching("the scenario as it is", end=None) as progress:
        return first(experiment, seed, progress)


@contextmanager
def _showing_what_is_known(show: Callable[[Recommendation], None]) -> Iterator[Callable[[Recommendation], None]]:
    """What to call with what is known so far, which is shown on Ctrl-C and SIGTERM."""
    known: list[Recommendation] = []
    try:
        yield known.append
    except KeyboardInterrupt:
        for found in known[-1:]:
            show(found)
        raise


def _refuse_no_time(within: str) -> None:
    from fanin.ask.advice import seconds

    with refusing("--within"):
        seconds(within)


def _word_plan(plan: Plan, run_s: float, within: str) -> str:
    """How much is going to run, and what is left out."""
    whole = plan.whole
    search = ", some to search how far the best carry" if plan.capacities else ""
    what = f"about {whole.runs:.0f} runs with {len(plan.seeds)} seeds{search}, {duration(whole.seconds)} in all"
    if not plan.is_tight or plan.are_seeds_asked:
        return what
    return f"{what}. One run takes {duration(run_s)}, so --within {within} has no room for all"


def _note_time(plan: Plan, whole_s: float) -> None:
    """How long it takes, by the work of each fix."""
    note(f"by the first seed: {len(plan.seeds)} seeds, {duration(whole_s)} in all if no other run is stored")


def _run_of(scenario: str, given: Settings, found: Advice) -> str:
    """The command that runs the scenario, to which the settings of the advice are added."""
    from fanin.scenario.settings import with_options

    # What a fix sets takes the place of what was given.
    return f"fanin run {with_options(scenario, [each for each in given if each[0] not in found.advised.fix.settings])}"


def _print_answer(found: Advice, command: str, as_it_is: str, *, all_: bool) -> None:
    """The answer, the command, and what else is to be known."""
    from fanin.show import advice_page

    say_wrapped(advice_page.headline(found))
    # It is in one piece, to be copied; what is only for more senders is no first thing to try.
    try_ = [f"Try it: {command} {found.advised.fix.command}"] * (found.advised is not found.own)
    for line in try_ if found.best else []:
        say(line)
    rows = [("as it is", as_it_is), *advice_page.word_rows(found)]
    if hidden := say_rows(rows, lines=None if all_ else _MAX_LINES_OF_ROWS):
        say(f"  --all shows {hidden} more row{'s' if hidden != 1 else ''}.")
    for line in [] if found.best else try_:
        say(line)


def _print_ranking(title: str, found: Advice, *, all_: bool) -> None:
    """The fixes by the goal: all tables, or the best."""
    if all_:
        _print_tables(title, found)
    else:
        _print_best(title, found)


def _print_best(title: str, found: Advice) -> None:
    """The best that can be deployed; all else on demand."""
    from fanin.show import advice_page

    header, rows = advice_page.best_rows(found, _MAX_BEST)
    print_table(f"{title}: the best of {len(advice_page.deployable(found))} that you can deploy", header, rows)
    if any(row[0].endswith(" *") for row in rows):
        say(advice_page.BESIDES)
    say("--all shows all fixes, what each needs, and other hosts.")


def _print_confirmed(confirmed: Sequence[Confirmed], seeds: list[int], linux: str) -> None:
    from fanin.show import advice_page

    for title, header, rows in advice_page.word_confirmed(confirmed, seeds, linux):
        print_table(title, header, rows)
    for each in confirmed:
        if each.error is not None:
            note(f'warning: "{each.fix.name}" failed in Linux: {each.error}')


def _print_tables(title: str, found: Advice) -> None:
    from fanin.show import advice_page

    say()
    _print_fixes(f"{title}: fixes by {found.goal.name}", found, advice_page.deployable(found))
    if published := advice_page.published(found):
        say()
        _print_fixes(advice_page.PUBLISHED, found, published)
    for sentence in advice_page.legend(found):
        say_wrapped(sentence)
    if found.varied:
        say()
        print_table("On other hosts", advice_page.varied_header(found), advice_page.varied_rows(found))
    say()
    print_table("What they need", advice_page.NEEDS_HEADER, advice_page.needs(found))


def _print_fixes(title: str, found: Advice, chosen: Sequence[Advised]) -> None:
    from fanin.show import advice_page

    lines = [advice_page.header(found), *advice_page.rows(found, chosen)]
    # Without background traffic, or without a search, a column would be empty.
    told = [place for place, of in enumerate(zip(*lines[1:], strict=True)) if {*of} - {"-", ""} or place == 1]
    header, *rows = [[line[place] for place in told] for line in lines]
    print_table(title, header, rows, keys=header.index("fix") + 1)


def _note_failures(found: Advice) -> None:
    """Prints what could not be tried, remarks and failures."""
    from fanin.choose.cautions import by_what_is_said

    for warning in found.warnings:
        note(f"warning: {warning}")
    for each in found.refused:
        note(f"warning: not tried: {each}")
    remarks = [(f'"{each.fix.name}"', said) for each in found.every if each.found for said in each.found.remarks]
    for remark in by_what_is_said(remarks):
        note(f"warning: {remark}")
    errors = [*found.failed, *(each.found.error for each in found.every if each.found and each.found.error)]
    for error in errors:
        note(f"error: {error}")
    if errors:
        raise typer.Exit(1)

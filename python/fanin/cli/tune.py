"""``fanin tune``: the best values of a scenario's parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fanin
from fanin.cli import tab_completion
from fanin.cli.options import (
    ClusterOption,
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
    told_later,
    workers,
)
from fanin.cli.terminal import counting, explain_intervals, keeping, note, print_json, print_table, say, say_wrapped
from fanin.numbers.stats import FEWEST, QUANTILES_OF_DIFFERENCES
from fanin.scenario.format.values import MOST_VALUES

if TYPE_CHECKING:
    from fanin.choose.goals import Goal, Keep
    from fanin.choose.tuning.answer import Checked, Tuned
    from fanin.choose.tuning.space import Param
    from fanin.run.scenario import Scenario


def tune(
    scenario: ScenarioArgument,
    param_: Annotated[
        list[str],
        typer.Option(
            "--param",
            metavar="PATH=FIRST..LAST",
            autocompletion=tab_completion.settings,
            help="What to tune: a range, or a list of values; may be repeated.",
        ),
    ],
    goal: Annotated[
        list[str] | None,
        typer.Option(
            "--goal",
            help="Goal, such as p99-fct or query-p99:2,goodput; several give a Pareto front. By default as compare.",
        ),
    ] = None,
    keep: KeepOption = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Trials of the whole study.")] = 40,
    seeds_: Annotated[str, typer.Option("--seeds", help="Seeds of every trial.")] = "1..3",
    fresh: Annotated[
        int,
        typer.Option(
            "--fresh", min=FEWEST, max=MOST_VALUES, help="Number of seeds for the check, which no trial has used."
        ),
    ] = 10,
    margin: MarginOption = "1%",
    set_: SetOption = None,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Find the best values of parameters, and check whether they are better than the scenario's own.

    Optuna chooses what to try (pip install optuna). Every trial runs with the same seeds. A trial counts only if its
    means keep all bounds, where a share such as goodput=95% is relative to the scenario's own values. The best of many
    trials is partly a matter of luck. It therefore runs again with fresh seeds, and the answer is its paired difference
    from the scenario's own values there, with 95 % intervals. The values are recommended, as a scenario fragment, if
    that difference counts and the bounds hold there too. Otherwise keep yours. A difference counts if it is at least
    --margin, and is no chance. It is no chance if its interval excludes zero. Without such an interval all seeds must
    differ with one sign, and six or more of them by --margin. Three seeds are enough if all differ by a factor of 3.
    Keep yours, too, if a bound on the background compares runs that last differently long.

    OUT/studies/NAME-HASH/ has tune.json, trials.csv, best.toml and, for several goals, the Pareto front as PNG and
    SVG. The same command continues an interrupted study, and more --trials extend it: it finds the runs in OUT. Exit
    code 1 means that no trial keeps the bounds, or that runs of trials failed.

    --json prints one object: {scenario, params, goals, keep, seeds, margin, fresh, study, trials, failed, default,
    best: [{values, goals, keep, broken, incomparable, recommended, snippet}], warnings, paths}.

    **Examples**

    - `fanin tune scenario.toml --param scheme.dctcp.mark-threshold=5pkt..80pkt --goal p99-fct --keep goodput=95%`
    - `fanin tune s.toml --set transport.scheme=dctcp --param scheme.dctcp.mark-threshold=5pkt..80pkt --param
      scheme.dctcp.g=1/64..1/4`
    - `fanin tune scenario.toml --param transport.initial-window=2mss,4mss,10mss --goal query-p99 --goal goodput`
    """
    from fanin.ask.tuning import tune as ask

    experiment = fanin.Scenario(scenario).set(overrides(set_))
    experiment.check()
    params = _params(param_, experiment)
    goals = [goal_of(text, experiment) for text in goal] if goal else [goal_of(None, experiment)]
    keeps = keeps_of(keep or [], experiment)
    how: dict[str, Any] = {"trials": trials, "seeds": seeds(seeds_) or [], "fresh": fresh, "margin": margin_of(margin)}
    with (
        keeping(f"finished runs are kept in {out}"),
        workers(cluster, jobs, memory) as pool,
        counting("runs") as counter,
        told_later(),
    ):
        found = ask(experiment, params, goal=goals, keep=keeps, **how, out=out, workers=pool, progress=counter.advance)
    paths = [str(path) for path in found.write(out)]
    if json:
        print_json({**found.as_dict(), "paths": paths})
    else:
        title = experiment.document.title or experiment.name
        _print(title, found.tuned, goals, keeps, found.defaults, found.margin)
        for path in paths:
            say(path)
    _tell(found.tuned, found.warnings)


def _params(texts: list[str], experiment: Scenario) -> list[Param]:
    from fanin.ask.tuning import params_of
    from fanin.choose.tuning.space import param

    with refusing("--param"):
        params = [param(text, experiment) for text in texts]
        paths = [each.path for each in params]
        if twice := [path for index, path in enumerate(paths) if path in paths[:index]]:
            raise ValueError(f"{twice[0]} is given twice")
        return params_of(params, experiment)


def _print(
    title: str, tuned: Tuned, goals: list[Goal], keeps: list[Keep], defaults: dict[str, str], margin: float
) -> None:
    from fanin.choose.tuning.answer import snippet

    names = [path.rpartition(".")[2] for path in defaults]
    header = ["", *names]
    for goal in goals:
        header += [goal.heading, "change", ""]
    header += [keep.measure.heading for keep in keeps]
    rows = [_row("default", tuned.default, list(defaults.values()), goals, keeps, None)]
    for number, each in enumerate(tuned.best, start=1):
        name = "found" if len(tuned.best) == 1 else f"front {number}"
        rows.append(_row(name, each, [str(value) for value in (each.values or {}).values()], goals, keeps, margin))
    print_table(f"{title}: tuned for {' and '.join(goal.name for goal in goals)}, on fresh seeds", header, rows)
    kept = sum(each.kept for each in tuned.trials)
    every = [value for each in (tuned.default, *tuned.best) for value in (*each.goals, *each.keeps)]
    explain_intervals(len(tuned.default.rows), every, f"; {len(tuned.trials)} trials, of which {kept} keep all bounds")
    if any(away and away.quantiles for each in tuned.best for away in each.differences):
        say_wrapped(QUANTILES_OF_DIFFERENCES)
    if len(goals) == 1 and tuned.best:
        say()
        advised = tuned.best[0].is_advice(goals, margin)
        if advised:
            say(snippet(tuned.best[0].values or {}))
        else:
            say_wrapped(_keep_yours(tuned.best[0], goals[0], margin))


def _keep_yours(found: Checked, goal: Goal, margin: float) -> str:
    if found.incomparable and not found.broken:
        return (
            f"keep yours: {' and '.join(found.incomparable)} compares runs that last differently long, so the bound "
            "decides nothing; 'fanin advise' compares over equal times"
        )
    why = f"breaks {' and '.join(found.broken)}" if found.broken else found.comparison(0, goal, margin)
    return f"keep yours: on fresh seeds, the best values that were found are not better enough to count ({why})"


def _row(
    name: str, each: Checked, values: list[str], goals: list[Goal], keeps: list[Keep], margin: float | None
) -> list[str]:
    cells = [name, *values]
    for index, goal in enumerate(goals):
        away = each.differences[index]
        shown = goal.shown(away.away.without_zero_width) if margin is not None and away else ""
        how = "" if margin is None else each.comparison(index, goal, margin)
        cells += [goal.shown(each.goals[index].without_zero_width), shown, how]
    return cells + [keep.measure.shown(value.without_zero_width) for keep, value in zip(keeps, each.keeps, strict=True)]


def _tell(tuned: Tuned, warnings: list[str]) -> None:
    """Prints warnings about the answer, and failures."""
    for warning in warnings:
        note(f"warning: {warning}")
    for each in tuned.best:
        values = ", ".join(f"{path} = {value}" for path, value in (each.values or {}).items())
        for bound in each.broken:
            note(f"warning: on fresh seeds {values} does not keep {bound}")
    for name in tuned.default.unscored:
        note(f"warning: with its own values, the scenario has no mean for some measure of {name}")
        note("warning: scores are meaningful only relative to each other")
    for error in tuned.failed:
        note(f"error: a trial failed: {error}")
    if not tuned.best:
        kept = any(each.kept for each in tuned.trials)
        note(f"error: no trial {'that keeps the bounds finishes' if kept else 'keeps the bounds'}")
    if tuned.failed or not tuned.best:
        raise typer.Exit(1)

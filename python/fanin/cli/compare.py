"""``fanin compare``: all schemes, or some, on one scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import fanin
from fanin import remarks
from fanin.cli.options import (
    GoalOption,
    JobsOption,
    JsonOption,
    OutOption,
    SetOption,
    goal_of,
    overrides,
    schemes_of,
    seeds,
)
from fanin.cli.terminal import counting, note, print_json, print_table, say
from fanin.comparison import FEW_SEEDS, METRICS, Compared, Placed, placed
from fanin.comparison import compare as run_all
from fanin.goals import Goal
from fanin.stats import FEWEST
from fanin.summary import column


def compare(
    scenario: Annotated[str, typer.Argument(help="Scenario file, or an experiment such as sdtcp/fig9.")],
    schemes: Annotated[str, typer.Option("--schemes", help="Schemes such as newreno,dctcp; or all.")] = "all",
    seeds_: Annotated[
        str | None,
        typer.Option("--seeds", help="Seeds such as 1..10; those of the sweep, or 1..5, if left out."),
    ] = None,
    set_: SetOption = None,
    goal: GoalOption = "goodput",
    against: Annotated[
        str | None, typer.Option("--against", help="Scheme that differences are taken to; the first if left out.")
    ] = None,
    jobs: JobsOption = None,
    out: OutOption = Path("results"),
    store: Annotated[bool, typer.Option("--store/--no-store", help="Keep the results.")] = True,
    json: JsonOption = False,
) -> None:
    """Compare schemes on one scenario.

    Every scheme runs with the same seeds. The first table has a row for each: means over seeds with half of their 95 %
    intervals, the best by --goal first; a star says that the interval of the seed-by-seed differences to the scheme of
    --against leaves out zero. The second table ranks by the goal: how much worse than the best, seed by seed, or that
    there is no significant difference; a rank is one more than the number of schemes that are significantly better.
    Traffic groups that name a scheme of their own keep it. A scheme whose run fails is named, the others go on, and
    the exit code is 1. Finished runs are kept and found again.

    Goals: query-p99, query-mean, p99-fct, mean-fct, goodput, background, timeout-ratio, timeouts, drops, queue,
    queue-p99, fairness, or any column of the totals. Several with weights, as in query-p99:2,background:1, are ranked
    by a score: how many times better than --against, as a weighted geometric mean. With more than 1 % of the flows
    unfinished at the end of a run there is no completion time, and the scheme comes last.

    --json prints one object: {scenario, seeds, against, by, goal, ranking: [{scheme, rank, mean, half, difference,
    difference_half, verdict, measures}], schemes: [{scheme, runs, error, metrics: {goodput_bps: {mean, half,
    difference, difference_half}, ...}}], warnings}, in the order of the tables.

    **Examples**

    - `fanin compare scenario.toml`
    - `fanin compare scenario.toml --schemes all --goal query-p99 --seeds 1..10`
    - `fanin compare scenario.toml --schemes newreno,dctcp,rcc --goal query-p99:2,background:1`
    - `fanin compare sdtcp/fig9 --set traffic.bursts.senders=40 --against dctcp --json`
    """
    experiment = fanin.load(scenario, overrides(set_))
    names = schemes_of(schemes, "--schemes")
    if against is not None and against not in names:
        raise typer.BadParameter(f"{against} is not among the schemes: {', '.join(names)}", param_hint="--against")
    wanted = goal_of(goal, experiment)
    chosen = seeds(seeds_) or (experiment.seeds if experiment.document.sweep else FEW_SEEDS)
    try:
        with counting("runs") as counter:
            compared = run_all(
                experiment,
                names,
                chosen,
                against=against,
                jobs=jobs,
                out=out if store else None,
                advance=counter.advance,
            )
    except KeyboardInterrupt:
        note(f"interrupted: finished runs are kept in {out}" if store else "interrupted")
        raise typer.Exit(130) from None
    ranking = placed(compared, wanted, against or names[0])
    order = [each.scheme for each in ranking]
    compared.sort(key=lambda each: order.index(each.scheme) if each.scheme in order else len(order))
    warnings = [remark for each in compared if (remark := _warning(each))]
    for warning in warnings:
        note(f"warning: {warning}")
    if json:
        print_json(
            {
                "scenario": experiment.name,
                "seeds": chosen,
                "against": against or names[0],
                "by": wanted.measures[0].column if len(wanted.parts) == 1 else wanted.name,
                "goal": wanted.name,
                "ranking": [each.as_dict() for each in ranking],
                "schemes": [each.as_dict() for each in compared],
                "warnings": warnings,
            }
        )
    else:
        _print(experiment.document.title or experiment.name, compared, chosen, against or names[0])
        _print_ranking(wanted, ranking)
    for each in compared:
        if each.error is not None:
            note(f"error: {each.scheme}: {each.error}")
    if any(each.error is not None for each in compared):
        raise typer.Exit(1)


def _warning(each: Compared) -> str | None:
    remark = remarks.incomplete_in(each.summaries)
    return remark and f"{each.scheme}: {remark}"


def _print(title: str, compared: list[Compared], seeds: list[int], against: str) -> None:
    shown = [metric for metric in METRICS if any(metric in each.estimates for each in compared)]
    header = ["scheme", *(_heading(metric) for metric in shown)]
    rows = (
        [each.scheme, *(each.estimates[metric].shown(metric) if metric in each.estimates else "-" for metric in shown)]
        for each in compared
    )
    print_table(title, header, rows)
    if len(seeds) < FEWEST:
        say(f"{len(seeds)} of the {FEWEST} seeds that an interval needs at least")
        return
    say(f"± half the 95 % interval over {len(seeds)} seeds; * differs from {against}, seed by seed")


def _print_ranking(goal: Goal, ranking: list[Placed]) -> None:
    weighted = len(goal.parts) > 1
    header = ["rank", "scheme", goal.heading, "worse than the best by", ""]
    header += [each.heading for each in goal.measures] if weighted else []
    body = []
    for each in ranking:
        away = each.behind
        behind = "" if away is None else goal.format(abs(away.difference), away.difference_half)
        cells = [str(each.rank), each.scheme, goal.format(*each.value), behind, each.verdict]
        if weighted:
            values = zip(goal.measures, each.measures.values(), strict=True)
            cells += [Goal(((part, 1.0),)).format(*value) for part, value in values]
        body.append(cells)
    if ranking:
        print_table(f"Ranking by {goal.name}, {'more' if goal.more else 'less'} is better", header, body)


def _heading(metric: str) -> str:
    unit = column(metric).shown_as
    return f"{METRICS[metric]} [{unit}]" if unit else METRICS[metric]

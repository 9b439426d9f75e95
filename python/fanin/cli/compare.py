"""``fanin compare``: all schemes, or some, on one scenario."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fanin
from fanin.cli import tab_completion
from fanin.cli.options import (
    BackendOption,
    ClusterOption,
    FailedOption,
    GoalOption,
    JobsOption,
    JsonOption,
    MarginOption,
    MemoryOption,
    OutOption,
    ScenarioArgument,
    SetOption,
    goal_of,
    margin_of,
    number,
    overrides,
    refusing,
    schemes_of,
    seeds,
    workers,
)
from fanin.cli.reference import Asked, Making
from fanin.cli.reference import compare as compare_with_records
from fanin.cli.terminal import counting, explain_intervals, keeping, note, print_json, print_table, say, say_wrapped
from fanin.numbers.stats import QUANTILES_OF_DIFFERENCES
from fanin.numbers.summary import column_unit, format_spread, short
from fanin.registry import scheme_title

if TYPE_CHECKING:
    from fanin.ask.comparison import Comparison
    from fanin.choose.comparison import Compared, Placed
    from fanin.choose.goals import Goal
    from fanin.scenario.format.values import Scalar


def compare(
    scenario: ScenarioArgument,
    schemes: Annotated[
        str,
        typer.Option(
            "--schemes",
            autocompletion=tab_completion.schemes,
            help="Schemes such as newreno,dctcp; or all.",
        ),
    ] = "all",
    seeds_: Annotated[
        str | None,
        typer.Option("--seeds", help="Seeds such as 1..10; by default those of the sweep, or 1..6."),
    ] = None,
    set_: SetOption = None,
    backend: BackendOption = None,
    goal: GoalOption = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            autocompletion=tab_completion.scheme,
            help="Scheme with which the others are compared; by default the first.",
        ),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option("--reference", metavar="FILE", help="Compare the runs with this data, CSV or Parquet."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="COLUMNS",
            help="With --reference: columns that identify a cell; by default the columns that vary.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="OURS=THEIRS",
            help="With --reference: a column of ours and its name there, such as goodput_bps=mbps*1e6.",
        ),
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            "--tolerance",
            metavar="COLUMN=LIMIT",
            help="With --reference: allowed difference of means, such as goodput_bps=5% or timeouts=2.",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", help="With --reference: compare the rows of this result table, such as flows."),
    ] = None,
    level: Annotated[
        float,
        typer.Option(
            "--level", min=0, max=1, callback=number, help="With --reference: level of the test of distributions."
        ),
    ] = 0.01,
    margin: MarginOption = "1%",
    shown: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Columns beside the goal, such as fct_p99_s,queue_mean_packets, or all. By default the columns that "
            "explain the goal. With all, the timeouts have a table of their own.",
        ),
    ] = None,
    failed: FailedOption = False,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    store: Annotated[bool, typer.Option("--store/--no-store", help="Keep the results.")] = True,
    json: JsonOption = False,
) -> None:
    """Compare schemes on one scenario.

    Every scheme runs with the same seeds. The table ranks the schemes by --goal, the best first. It has means over
    seeds with half of their 95 % intervals, the difference from the best, and columns that explain the difference.
    Schemes in one place share a rank, such as `1=`. A star marks schemes whose difference from --against counts. The
    page `docs/reference/choosing.md` has the rules.

    A difference counts if it is at least --margin of the scheme's own value, and is no chance. It is taken seed by
    seed. It is no chance if its interval excludes zero. Without such an interval all seeds must differ with one sign,
    and six or more of them by --margin. Three seeds are enough if all differ by a factor of 3. Traffic groups that name
    a scheme of their own keep it. A run that fails is recorded and does not stop the others. The exit code is then 1.
    Finished runs are reused.

    Goals: query-p99, query-mean, p99-fct, mean-fct, goodput, background, timeout-ratio, timeouts, drops, queue,
    queue-p99, fairness, or any column of the totals. Several goals with weights, as in query-p99:2,background:1, are
    ranked by a score: the weighted geometric mean of the improvements over --against. If more than 1 % of a run's flows
    are unfinished at its end, it has no completion time. Its scheme then comes last. If --against has not finished,
    scores are relative to the first scheme that has. The order is the same.

    --json prints one object: {scenario, seeds, against, by, goal, scored_against, margin, ranking: [{scheme, rank,
    mean, half, low, high, difference, difference_half, comparison, seeds_to_decide, measures}], schemes: [{scheme,
    runs, error, timeouts: {of, count, with_timeout, rate, low, high, loss_probes}, metrics: {goodput_bps: {mean, half,
    low, high, difference, difference_half}, ...}}], beside_scheme, warnings}. Arrays are in the order of the tables,
    and an open rank is null. `beside_scheme` has the other keys of [transport] in which systems differ: {key: {scheme:
    value}}. `timeouts` counts queries of all seeds, or transfers if there are no queries. `rate` is how many of a
    thousand had a timeout, with its 95 % interval.

    With --reference, the scenario's sweep runs and is compared with other data. Rows are matched on the columns of
    --key. Rows with the same key are samples of one cell. Their means have to be within --tolerance. A
    Kolmogorov-Smirnov test compares their distributions, if there are enough values to reject anything (pip install
    scipy). Its --level applies to all tests together. A column with neither is not tested. The exit code is 1 if
    anything differs or is not tested. --schemes other than all varies the scheme.

    --json with --reference prints one object: {scenario, reference, level, key, cells: [{key, column, ours, theirs,
    difference, values, within, p, status}], ours_only, theirs_only, agrees}.

    **Examples**

    - `fanin compare scenario.toml`
    - `fanin compare scenario.toml --schemes all --goal query-p99 --seeds 1..10`
    - `fanin compare scenario.toml --schemes newreno,dctcp,rcc --goal query-p99:2,goodput:1`
    - `fanin compare sdtcp/fig9 --set traffic.bursts.senders=40 --against dctcp --json`
    - `fanin compare sweep.toml --reference ns3.csv --column goodput_bps=mbps*1e6 --tolerance goodput_bps=5%`
    """
    from fanin.ask.comparison import compare as ask
    from fanin.ask.comparison import reference_of

    experiment = fanin.Scenario(scenario).set(overrides(set_, backend))
    if records is not None:
        asked = Asked(records, key, columns or [], tolerance or [], table, level)
        varied: dict[str, list[Scalar]] = {}
        if schemes != "all":
            varied["transport.scheme"] = [*schemes_of(schemes, "--schemes")]
        compare_with_records(
            experiment.vary(varied),
            asked,
            Making(seeds(seeds_), out if store else None, jobs, memory, cluster, failed),
            json=json,
        )
        return
    names = schemes_of(schemes, "--schemes")
    with refusing("--against"):
        reference = reference_of(against, names)
    wanted, least = goal_of(goal, experiment), margin_of(margin)
    kept: dict[str, Any] = {"out": out if store else None, "again": failed}
    with (
        keeping(f"finished runs are kept in {out}" if store else None),
        workers(cluster, jobs, memory) as pool,
        counting("runs") as counter,
    ):
        found = ask(
            experiment,
            names,
            goal=wanted,
            against=reference,
            seeds=seeds(seeds_),
            margin=least,
            **kept,
            workers=pool,
            progress=counter.advance,
        )
    if json:
        print_json(found.as_dict())
    else:
        _print(found, shown)
    _report_failures(found.schemes, recorded=store)


def _print(found: Comparison, shown: str | None) -> None:
    """The ranking, what stands in it, and the timeouts if all columns are asked for."""
    compared, title = found.schemes, found.scenario.document.title or found.scenario.name
    metrics = _metrics(shown, found.goal, compared)
    _print_ranking(title, found.goal, found.ranking, compared, metrics, found.margin)
    _explain(compared, metrics, found.seeds, found.against, found.margin)
    if shown == _ALL:
        _print_timeouts(compared, len(found.seeds))
    elif shown is None:
        say("--columns all shows all measures, and how many queries had a timeout.")


def _report_failures(compared: list[Compared], *, recorded: bool) -> None:
    errors = [f"{each.scheme}: {each.error}" for each in compared if each.error is not None]
    for error in errors:
        note(f"error: {error}")
    if errors and recorded:
        note("error: --failed retries the failed runs")
    if errors:
        raise typer.Exit(1)


_ALL = "all"

_EXPLAINING = ("goodput_bps", "timeouts", "drops")
"""What explains most goals, unless other columns are asked for."""


def _metrics(asked: str | None, goal: Goal, compared: list[Compared]) -> list[str]:
    """The measures of the table beside the goal, of those that the schemes have.

    Raises:
        typer.BadParameter: there is no such measure.

    """
    from fanin.choose.comparison import METRICS

    known = [metric for metric in METRICS if any(metric in each.estimates for each in compared)]
    if asked == _ALL:
        return known
    if asked is None:
        of_goal = [each.column for each in goal.measures]
        return [metric for metric in _EXPLAINING if metric in known and metric not in of_goal]
    names = [name.strip() for name in asked.split(",")]
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else ""
            choices = ", ".join((*known, _ALL))
            raise typer.BadParameter(f"there is no {name!r}{hint}; choose from {choices}", param_hint="--columns")
    return names


def _column_of(metric: str, schemes: list[Compared], margin: float) -> list[str]:
    """The heading of a measure and its cells, all in the unit of the largest; a star where the difference counts."""
    found = [each.spread(metric) for each in schemes]
    unit = column_unit(metric, max((each.mean for each in found if each is not None), default=0.0))
    cells = [
        "-"
        if spread is None
        else f"{format_spread(unit, spread.without_zero_width)}{'*' * each.estimates[metric].matters(margin)}"
        for each, spread in zip(schemes, found, strict=True)
    ]
    return [f"{short(metric)} [{unit.shown_as}]" if unit.shown_as else short(metric), *cells]


def _print_ranking(
    title: str, goal: Goal, ranking: list[Placed], compared: list[Compared], metrics: list[str], margin: float
) -> None:
    """The schemes by the goal, and what explains it; the measures of a weighted goal have columns of their own."""
    places = {each.scheme: (each, rank) for each, rank in zip(ranking, _ranks(ranking), strict=True)}
    others = goal.measures if len(goal.parts) > 1 else []
    columns = [["rank"], ["scheme"], [goal.heading], *([each.heading] for each in others), [_BEHIND]]
    for each in compared:
        # That of which all runs failed has no place.
        placed, rank = places.get(each.scheme, (None, "-"))
        cells = [rank, scheme_title(each.scheme)]
        if placed is None:
            cells += ["-"] * (len(columns) - len(cells))
        else:
            cells.append(goal.shown(placed.value.without_zero_width))
            cells += [part.shown(placed.measures[part.name].without_zero_width) for part in others]
            cells.append(_word_behind(placed, goal))
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
    columns += [_column_of(metric, compared, margin) for metric in metrics]
    header, *body = ([*row] for row in zip(*columns, strict=True))
    ordered = f"{title}: by {goal.name}, {'more' if goal.more else 'less'} is better"
    spare = [*(column[0] for column in columns[len(columns) - len(metrics) :][::-1]), _BEHIND]
    _say_left_out(left_out := print_table(ordered, header, body, keys=2, spare=spare))
    ranks = [rank for _, rank in places.values()]
    if signs := [meaning for sign, meaning in _SIGNS.items() if any(rank.endswith(sign) for rank in ranks)]:
        say_wrapped("; ".join(signs))
    needed = [each.seeds_to_decide for each in ranking if each.seeds_to_decide is not None]
    if needed and "-" in ranks:
        say_wrapped(f"open places: {_more_seeds(max(needed))} (--seeds 1..{max(needed)})")
    if _BEHIND not in left_out and any(each.behind and each.behind.quantiles for each in ranking):
        say_wrapped(QUANTILES_OF_DIFFERENCES)


def _word_behind(placed: Placed, goal: Goal) -> str:
    if placed.behind is not None:
        return goal.shown(placed.behind.away.without_zero_width)
    return "" if placed.is_best else placed.comparison


def _explain(compared: list[Compared], metrics: list[str], seeds: list[int], against: str, margin: float) -> None:
    """What stands around the means, and what a star means."""
    every = [found for each in compared for metric in metrics if (found := each.spread(metric))]
    star = f"; * differs from {scheme_title(against)}, seed by seed, by at least {100 * margin:g} %"
    explain_intervals(len(seeds), every, star * bool(metrics))


_BEHIND = "behind the best"


def _say_left_out(headings: list[str]) -> None:
    if headings:
        say_wrapped(f"too narrow for {', '.join(headings)}: --json has all")


_SIGNS = {
    "=": "=: shared, as no difference counts; the next rank is as many places further",
    "-": "-: the seeds leave the place open",
}
"""What signs in the column of ranks mean."""


def _ranks(ranking: list[Placed]) -> list[str]:
    """The ranks as text: shared ones with a sign, and none if seeds are too few to tell any difference."""
    ranks = [each.rank for each in ranking]
    if any(each.comparison == "too few seeds" for each in ranking):
        return ["-"] * len(ranks)
    return ["-" if rank is None else f"{rank}{'=' if ranks.count(rank) > 1 else ''}" for rank in ranks]


def _print_timeouts(compared: list[Compared], seeds: int) -> None:
    """How many queries of a thousand had a timeout, if any scheme had one or sent a tail loss probe."""
    from fanin.choose.comparison import some_of

    found = [(scheme_title(each.scheme), each.timeouts) for each in compared if each.timeouts is not None]
    if not any(timeouts.events or timeouts.probes for _, timeouts in found):
        return
    what = "queries" if all(timeouts.queries for _, timeouts in found) else "transfers"
    header = ["scheme", what, "with a timeout", "of a thousand", "tail loss probes"]
    rows = [
        [scheme, f"{each.of:,}", f"{each.events:,}", each.shown, f"{each.probes:,}"]
        for scheme, each in found
        if each.events or each.probes
    ]
    print_table(f"Retransmission timeouts of {what}, all seeds together", header, rows)
    if none := {scheme: each for scheme, each in found if not (each.events or each.probes)}:
        most = max(none.values(), key=lambda each: each.per_thousand[2])
        say_wrapped(f"no timeout and no probe: {', '.join(none)}, which is {most.shown} of a thousand")
    say_wrapped(f"(..): 95 % interval (Clopper and Pearson), as if {what} were independent; probes are no timeouts")
    fewest, least = min(found, key=lambda each: each[1].per_thousand)
    needed = {scheme: more for scheme, each in found if (more := each.seeds_to_decide(least, seeds))}
    if needed:
        open_ = f"open: more than {fewest} with {some_of(list(needed))}"
        say_wrapped(f"{open_}; {_more_seeds(max(needed.values()))}")


def _more_seeds(needed: int) -> str:
    return f"about {needed} seeds would decide"

"""``fanin sweep``: a grid of runs, its data set and its summary."""

from __future__ import annotations

import json as json_
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fanin
from fanin.cli.options import (
    BackendOption,
    ClusterOption,
    FailedOption,
    GridOption,
    JobsOption,
    JsonOption,
    MemoryOption,
    OutOption,
    ScenarioArgument,
    ZipOption,
    grid,
    seeds,
    workers,
    zipped,
)
from fanin.cli.terminal import (
    counting,
    explain_intervals,
    keeping,
    note,
    note_kernel_time,
    print_json,
    print_table,
    say,
    say_wrapped,
)
from fanin.errors import ScenarioError
from fanin.numbers.stats import FEWEST, Spread
from fanin.numbers.summary import format_spread, heading, is_text, table_names

if TYPE_CHECKING:
    from fanin.results.dataset import DataSet, Row
    from fanin.run.job import Job
    from fanin.run.scenario import Scenario

_MOST_ROWS = 40
"""Tables with more rows are cut short."""

_MOST_ERRORS = 5
"""How many failed runs are listed individually."""


def sweep(
    scenario: ScenarioArgument,
    set_: GridOption = None,
    backend: BackendOption = None,
    zip_: ZipOption = None,
    seeds_: Annotated[
        str | None,
        typer.Option("--seeds", help="Seeds of every point, such as 1..20; by default the file's own, or 1..10."),
    ] = None,
    bare: Annotated[
        bool, typer.Option("--bare", help="Ignore the file's own [sweep] and [[variant]]: only --set varies.")
    ] = False,
    columns_: Annotated[
        str | None,
        typer.Option("--columns", help="Columns to tabulate and to plot, such as goodput_bps,fct_p99_s."),
    ] = None,
    tables: Annotated[
        str | None, typer.Option("--tables", help="Result tables to keep for every run, such as flows,queues.")
    ] = None,
    failed: FailedOption = False,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Run a grid of scenario values with several seeds, and write one data set.

    Every combination of the values runs with the same seeds, so points differ only in their values. The file's own
    [sweep] and [[variant]] are part of the grid. Finished runs are kept. After an interruption of any kind, the same
    command continues where it stopped, and the data set is identical byte for byte. A run that fails is recorded and
    does not stop the others. A run that was aborted because of the machine it ran on (its workers died, or memory ran
    out) is retried by the same command.

    OUT/sweeps/NAME-HASH/ gets runs.parquet, with one row per run: the values, seed, run_id and every total. It also
    gets summary.parquet (means with 95 % intervals over the seeds), plots as PNG, SVG and CSV, and failed.json with the
    runs that failed. Exit code 1 means that runs failed.

    --json prints one object: {sweep, title, keys, seeds, runs, failed, summary, paths, query}.

    **Examples**

    - `fanin sweep scenario.toml --set transport.scheme=dctcp,rcc --set traffic.servers.senders=10..200:10 --seeds
      1..10`
    - `fanin sweep s.toml --set network.rate=1Gbps,10Gbps --set network.buffer=1MB,9MB --zip
      network.rate,network.buffer`
    - `fanin sweep sdtcp/fig9 --bare --set scheme.dctcp.mark-threshold=5pkt..80pkt:5pkt --columns fct_p99_s`
    - `fanin sweep scenario.toml --seeds 1..100 --cluster tcp://host:8786`
    """
    from fanin.choose import cautions
    from fanin.choose.comparison import METRICS
    from fanin.results import columns
    from fanin.results.dataset import DataSet, failure_of, head, row_of
    from fanin.results.failures import Failure
    from fanin.run.job import Job
    from fanin.run.pool import outcomes
    from fanin.scenario.points import points

    experiment = fanin.Scenario(scenario).vary(grid(set_, backend), zipped(zip_), bare=bare)
    if experiment.document.benchmark is not None:
        raise ScenarioError(str(experiment.path), None, "benchmark", "a benchmark is reproduced, not swept")
    experiment.check()
    wanted = _columns(experiment, columns_)
    kept = _tables(tables)
    for remark in [*experiment.warnings(swept=True), *cautions.of_sweep(experiment)]:
        note(f"warning: {remark}")
    every = points(experiment, seeds(seeds_))
    todo = [Job(experiment, point.overrides, columns.tables(experiment, point.row) | kept) for point in every]
    with keeping(f"finished runs are kept in {out}"), workers(cluster, jobs, memory) as pool:
        note_kernel_time(*_kernel_time(todo, pool.slots))
        with counting("runs") as counter:
            found = outcomes(todo, out, workers=pool, again=failed, advance=counter.advance)
    rows: list[Row] = []
    broken: list[Row] = []
    given = []
    for point, outcome in zip(every, found, strict=True):
        if isinstance(outcome, Failure):
            broken.append(failure_of(point, outcome))
        else:
            rows.append(row_of(experiment, point, outcome))
            given.append(point.overrides)
    data = DataSet(head(experiment, every, wanted), rows, broken)
    for remark in cautions.of_data(experiment, data, given, wanted or METRICS):
        note(f"warning: {remark}")
    with keeping(f"all runs are kept in {out}"):
        shown = _show(data, out, silent=json)
    if json:
        print_json(shown)
    if broken:
        raise typer.Exit(1)


def _kernel_time(jobs: list[Job], slots: int) -> tuple[float, int]:
    """About how many seconds so many slots take for the runs in the kernel, and how many there are."""
    seconds: dict[object, float] = {}
    for job in jobs:
        if job.kind not in seconds:
            seconds[job.kind] = job.experiment.kernel_seconds(job.point)
    each, cores = [seconds[job.kind] for job in jobs], max(slots, 1)
    return max(sum(each) / cores, *each), cores


def _show(data: DataSet, out: Path, *, silent: bool) -> dict[str, Any]:
    """Writes a data set and prints its summary unless ``silent``; returns what ``--json`` prints."""
    from fanin.show.sweep_folder import MOST_LINES, plots_of, write

    if plots := len(plots_of(data)):
        note(f"all runs are done; drawing {plots} figure{'s' if plots > 1 else ''} and writing the data set")
    paths = write(data, out)
    folder = paths[0].parent
    query = _query(data, folder / "runs.parquet")
    if data.rows and data.varying() and not plots_of(data):
        note(f"no plots: no total has a value, or a plot would have more than {MOST_LINES} lines")
        note("to choose the plots, write them as [[plot]] and use fanin reproduce")
    if not silent:
        _print(data)
        for path in paths:
            say(str(path))
        for command in query.values():
            say(command)
    _report_failures(data.failed, folder / "failed.json", len(data.rows))
    about = {"sweep": data.head.id, "title": data.head.title, "keys": data.head.keys, "seeds": data.head.seeds}
    found = {"runs": len(data.rows), "failed": data.failed, "summary": data.summary.to_dicts()}
    return {**about, **found, "paths": [str(path) for path in paths], "query": query}


def _columns(experiment: Scenario, text: str | None) -> list[str] | None:
    from fanin.scenario import checks

    if text is None:
        return None
    names = _known(text, checks.columns(experiment), "--columns")
    for name in names:
        if name in experiment.swept:
            raise typer.BadParameter(f"{name} varies, so it is in every table anyway", param_hint="--columns")
        if is_text(name) and name not in {each.id for each in experiment.columns}:
            why = "is a text, which has no mean; runs.parquet has that of each run"
            raise typer.BadParameter(f"{name} {why}", param_hint="--columns")
    return names


def _tables(text: str | None) -> frozenset[str]:
    return frozenset() if text is None else frozenset(_known(text, list(table_names()), "--tables"))


def _known(text: str, known: list[str], option: str) -> list[str]:
    from fanin.scenario.sections import nearest

    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in known:
            close = nearest(name, known)
            hint = f' (did you mean "{close}"?)' if close else ""
            raise typer.BadParameter(f"there is no {name!r}{hint}", param_hint=option)
    return names


def _print(data: DataSet) -> None:
    """A row per point and a column per measure, as means over the seeds."""
    from fanin.choose.comparison import METRICS

    summary = data.summary
    keys = data.varying()
    has = set(summary["column"])
    measures = [name for name in data.head.wanted or METRICS if name in has]
    points: dict[tuple[str, ...], dict[str, str]] = {}
    waited = _timeouts(data, keys)
    for row in summary.iter_rows(named=True):
        point = tuple(str(row[key]) for key in keys)
        points.setdefault(point, {})[row["column"]] = _shown(row)
    body = [
        [*point, *(cells.get(name, "-") for name in measures), *([waited[point]] if waited else [])]
        for point, cells in points.items()
    ]
    names = [key.rpartition(".")[2] for key in keys]
    header = [name if names.count(name) == 1 else key for name, key in zip(names, keys, strict=True)]
    titles = [*header, *map(heading, measures), *([_PER_THOUSAND] if waited else [])]
    print_table(data.head.title, titles, body[:_MOST_ROWS], keys=max(1, len(keys)))
    if len(body) > _MOST_ROWS:
        say_wrapped(f"... and {len(body) - _MOST_ROWS} more points: see summary.parquet")
    shown = [_spread(row) for row in summary.iter_rows(named=True) if row["column"] in measures]
    explain_intervals(len(data.head.seeds), shown, f"; none where fewer than {FEWEST} runs have a value")
    if waited:
        of = "of queries, or else transfers; 95 % interval (Clopper and Pearson)"
        has_probes = any(row.get("loss_probes") for row in data.rows)
        also = "; waits for tail loss probes are no timeouts (column loss_probes)" if has_probes else ""
        say_wrapped(f"{_PER_THOUSAND}: {of}{also}")


_PER_THOUSAND = "with a timeout, of 1000"


def _timeouts(data: DataSet, keys: list[str]) -> dict[tuple[str, ...], str]:
    """How many queries of a thousand had a timeout at each point, if any had one."""
    from fanin.results.dataset import timeouts_of

    runs: dict[tuple[str, ...], list[Row]] = {}
    for row in data.frame.iter_rows(named=True):
        runs.setdefault(tuple(str(row[key]) for key in keys), []).append(row)
    found = {point: timeouts_of(rows) for point, rows in runs.items()}
    if not any(each is not None and each.events for each in found.values()):
        return {}
    return {point: "-" if each is None else each.shown for point, each in found.items()}


def _shown(row: dict[str, Any]) -> str:
    """A mean with half of its interval, or with the quantiles of the seeds."""
    return format_spread(row["column"], _spread(row).without_zero_width)


def _spread(row: dict[str, Any]) -> Spread:
    half, low, high = (math.nan if row[end] is None else row[end] for end in ("half", "low", "high"))
    return Spread(row["mean"], half, low, high, quantiles=row["half"] is None and row["low"] is not None)


def _query(data: DataSet, path: Path) -> dict[str, str]:
    """Sample queries of the data set: one for DuckDB, one for polars."""
    keys = data.varying()
    names = [f'"{key}"' for key in keys]
    wanted = ", ".join([*names, "avg(goodput_bps)", "count(*)"])
    sql = f'SELECT {wanted} FROM "{path}"{" GROUP BY ALL ORDER BY ALL" if keys else ""}'
    # As JSON, so that it contains no single quotes, which enclose it in the shell.
    by = ", ".join(json_.dumps(key) for key in keys)
    grouped = f".group_by({by}, maintain_order=True).agg" if keys else ".select"
    means = f'pl.read_parquet("{path}"){grouped}(pl.mean("goodput_bps"), pl.len())'
    code = f"import polars as pl; print({means})"
    return {"duckdb": shlex.join(["duckdb", "-c", sql]), "polars": shlex.join(["python", "-c", code])}


def _report_failures(failed: list[Row], path: Path, finished: int) -> None:
    if not failed:
        return
    for row in failed[:_MOST_ERRORS]:
        point = ", ".join(
            f"{name} {value}" for name, value in row.items() if name not in ("run_id", "error", "scenario")
        )
        note(f"error: {point}: {row['error']}")
    some = f"{len(failed)} of {len(failed) + finished} runs failed"
    note(f"error: {some}: {path} has them with their scenarios; --failed tries them again")

"""``fanin list``: everything that a scenario or a command can name."""

from __future__ import annotations

import difflib
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fanin.cli import tab_completion
from fanin.cli.options import JsonOption, OutOption
from fanin.cli.terminal import note, print_json, print_table, reading

if TYPE_CHECKING:
    from fanin.claims.standing import Standing


class Kind(StrEnum):
    """What can be listed."""

    SCHEMES = "schemes"
    TOPOLOGIES = "topologies"
    QUEUES = "queues"
    TRAFFIC = "traffic"
    FAULTS = "faults"
    WORKLOADS = "workloads"
    ENVIRONMENTS = "environments"
    EXPERIMENTS = "experiments"


def _kind(name: str) -> Kind:
    if name in tuple(Kind):
        return Kind(name)
    close = difflib.get_close_matches(name.lower(), tuple(Kind), n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    raise typer.BadParameter(f"{name!r} is not one of {', '.join(Kind)}{hint}")


def list_(
    kind: Annotated[
        Kind | None,
        typer.Argument(
            parser=_kind,
            autocompletion=tab_completion.kinds,
            metavar=f"[{'|'.join(Kind)}]",
            help="What to list; everything if left out.",
        ),
    ] = None,
    paper: Annotated[
        str | None,
        typer.Argument(
            autocompletion=tab_completion.papers,
            help="With experiments: only those of this paper, such as rcc; all if left out.",
        ),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of scenario files.")] = False,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """List schemes, topologies, queues, traffic, faults, workloads (flow sizes), environments or experiments.

    Experiments are listed by paper. Each has a state: never run, the number of finished runs, quick only, complete or
    stale. Stale results are from another version of the engine or of the file. Beside the state are the age of the last
    run and how many claims are reproduced. A claim is reproduced as printed, with the tool's defaults or under a
    condition. A claim that repeats a sentence of another experiment is counted there only.

    --json prints an array of {key, summary}. If everything is listed, each entry also has {kind}. Experiments also have
    {paper, figure, state, note, runs, of, finished, claims, command}, where claims has the total and the count of each
    verdict.

    --schema prints the JSON Schema of scenario files, which lets editors complete and check them.

    **Examples**

    - `fanin list schemes`
    - `fanin list environments`
    - `fanin list experiments rcc`
    - `fanin list experiments --json`
    - `fanin list --schema > scenario.schema.json`
    """
    from fanin.scenario import catalogue

    if schema:
        print_json(catalogue.json_schema())
        return
    if kind is Kind.EXPERIMENTS:
        from fanin.claims import ledger

        found = ledger.standings(out, advance=reading("experiments read"))
        _experiments(ledger.chosen(found, paper), json)
        return
    if paper is not None:
        raise typer.BadParameter("only experiments are listed by paper", param_hint=paper)
    if kind is not None:
        entries = catalogue.entries(kind.value)
        if json:
            print_json(entries)
        else:
            print_table(kind.value, ["key", "summary"], ([entry["key"], entry["summary"]] for entry in entries))
        return
    everything = [{"kind": each.value, **entry} for each in Kind for entry in catalogue.entries(each.value)]
    if json:
        print_json(everything)
    else:
        print_table("everything in fanin", ["kind", "key", "summary"], ([*entry.values()] for entry in everything))


def _experiments(standings: list[Standing], json: bool) -> None:
    if json:
        print_json([each.as_dict() for each in standings])
        return
    from fanin.claims.standing import known_as

    header = ["key", "figure", "state", "last run", "claims reproduced", "summary"]
    for paper, group in groupby(standings, key=lambda each: each.paper):
        rows = ([each.key, each.figure, each.says, _age(each), _reproduced(each), each.title] for each in group)
        print_table(f"experiments: {known_as(paper) or 'of no paper'}", header, rows)
    for each in standings:
        if each.state in ("stale", "invalid"):
            note(f"{each.says}: {each.key}: {each.note}")


def _age(standing: Standing) -> str:
    from fanin.claims.standing import age

    return "-" if standing.finished is None else f"{age(standing.finished)} ago"


def _reproduced(standing: Standing) -> str:
    # What is impossible is known without a run, and another experiment may have judged a sentence.
    judged = standing.state != "never run" and standing.size - standing.count("not run")
    return f"{standing.reproduced} of {standing.size}" if judged else "-"

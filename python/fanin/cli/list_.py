"""``fanin list``: what there is to name."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from fanin import catalogue
from fanin.cli.options import JsonOption
from fanin.cli.terminal import print_json, print_table


class Kind(StrEnum):
    """What can be listed."""

    SCHEMES = "schemes"
    TOPOLOGIES = "topologies"
    QUEUES = "queues"
    TRAFFIC = "traffic"
    FAULTS = "faults"
    EXPERIMENTS = "experiments"


def list_(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; everything if left out.")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of scenario files.")] = False,
    json: JsonOption = False,
) -> None:
    """List schemes, topologies, queues, traffic patterns, faults or experiments.

    --json prints an array of {key, summary}, with a field kind in each when everything is listed. --schema prints
    the JSON Schema of scenario files, which editors use to complete and check them.

    **Examples**

    - `fanin list schemes`
    - `fanin list experiments --json`
    - `fanin list --schema > scenario.schema.json`
    """
    if schema:
        print_json(catalogue.json_schema())
        return
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
        print_table("fanin knows", ["kind", "key", "summary"], ([*entry.values()] for entry in everything))

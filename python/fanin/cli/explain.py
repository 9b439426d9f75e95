"""``fanin explain``: the meaning of a name or a parameter."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from fanin.cli import tab_completion
from fanin.cli.options import JsonOption
from fanin.cli.terminal import print_json, print_table, say, terminal


def explain(
    key: Annotated[
        str,
        typer.Argument(
            autocompletion=tab_completion.keys,
            help="A scheme, topology, queue, traffic pattern, fault, workload, environment, section, parameter or "
            "experiment.",
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Explain a scheme, topology, queue, traffic pattern, fault, workload, environment, parameter or experiment.

    Shows a description, and a table of the parameters. For each parameter the table has its type or choices, default
    and meaning. It also has the source of the default and the reading of the paper that the parameter selects. A
    parameter that topologies or queues have in different ways is shown for each of them.

    --json prints one object: {kind, key, summary, manual, params: [{key, of, takes, words, default, follows, doc,
    source, reading, tiers}]}, in which `words` are the values if they are listed. `follows` is the key of the network,
    or the whole network, from which the default is computed. `default` then states the rule. `tiers` are the keys for
    single tiers. Only parameters of the same name have `of`: the topology or queue to which the parameter belongs, or
    nothing. A scheme also has {transport, prefers, stack, effort, needs, reacts_to, colour, marker, readings: [{id,
    scheme, text, params}]}, a traffic pattern {fan_in}. An environment also has {short, stack: [{path, value, source}],
    switch}, with its short name. A workload also has {title, citation, source, precision, interpolation, points,
    mean_bytes, stated_mean_bytes, mean_from, mean_tolerance}. For the id of a reading, readings are those of every
    scheme. For one parameter it is {kind, key, takes, words, default, follows, doc, source, reading, tiers}.

    **Examples**

    - `fanin explain dctcp`
    - `fanin explain transport.rto-min`
    - `fanin explain dctcp.mark-threshold`, the end of a path
    - `fanin explain traffic.jitter`, of every traffic pattern that has it
    - `fanin explain incast --json`
    - `fanin explain B1`, the id of a reading, with every parameter that selects it
    - `fanin explain web-search`
    - `fanin explain qualnet`, an environment with the source of every value
    - `fanin explain sdtcp/fig9`
    """
    from fanin.scenario import catalogue

    found = catalogue.explain(key)
    if json:
        print_json(found)
    elif found["kind"] == "parameter":
        _print_parameter(found)
    else:
        _print_entry(found)


def _print_parameter(param: dict[str, Any]) -> None:
    say(f"{param['key']}: {param['doc']}")
    say(f"  takes    {param['takes']}")
    say(f"  default  {param['default'] or '(required)'}")
    say(f"  source   {param['source']}")
    if param["reading"]:
        say(f"  reading  {param['reading']}")


def _print_entry(entry: dict[str, Any]) -> None:
    summary = entry.get("summary", "")
    say(f"{entry['key']} ({entry['kind']}){': ' if summary else ''}{summary}")
    if manual := entry.get("manual"):
        say()
        if (console := terminal(sys.stdout)) is not None:
            from rich.markdown import Markdown

            console.print(Markdown(manual))
        else:
            say(manual)
    if entry["params"]:
        say()
        header = ["parameter", "takes", "default", "meaning", "source", "reading"]
        keys = ["key", "takes", "default", "doc", "source", "reading"]
        if any(param.get("of") for param in entry["params"]):
            header.insert(1, "of")
            keys.insert(1, "of")
        print_table("Parameters", header, ([param[key] for key in keys] for param in entry["params"]))
    if readings := entry.get("readings"):
        say()
        # The readings on a page share either the scheme or the id.
        first = "scheme" if entry["kind"] == "reading" else "id"
        rows = ([reading[first], reading["text"], ", ".join(reading["params"])] for reading in readings)
        print_table("Readings", [first, "open question, and our choice", "parameters of the other readings"], rows)
    if entry["kind"] == "environment":
        for part in ("stack", "switch"):
            say()
            rows = ([each["path"], each["value"], each["source"]] for each in entry[part])
            print_table(f"Defaults of the {part}", ["key", "default", "source"], rows)
        return
    if transport := entry.get("transport"):
        say()
        print_table(
            "Defaults of [transport] changed by this scheme",
            ["key", "default"],
            ([*pair] for pair in transport.items()),
        )

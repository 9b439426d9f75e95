"""``fanin deploy``: the commands that deploy a scheme on hosts and switches of Linux."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

import fanin
from fanin.cli import tab_completion
from fanin.cli.options import SetOption, overrides
from fanin.cli.terminal import note, say

_RACK = """
[network]
topology = "star"
rate = "10Gbps"
[[traffic]]
name = "servers"
kind = "incast"
senders = 10
bytes-each = "64KB"
"""
_STACK = "transport.stack"


def deploy(
    scheme: Annotated[str, typer.Argument(autocompletion=tab_completion.scheme, help="Scheme, such as linux-dctcp.")],
    scenario: Annotated[
        str | None,
        typer.Argument(
            autocompletion=tab_completion.scenarios,
            help="Scenario file or experiment with the values; by default those of a rack at 10 Gbit/s.",
        ),
    ] = None,
    set_: SetOption = None,
    port: Annotated[
        str | None,
        typer.Option("--port", metavar="NAME", help="Port of a switch; by default the one whose queue is measured."),
    ] = None,
) -> None:
    """Print the commands that deploy a scheme on hosts and switches of Linux.

    The output is a shell script, and nothing is run. It has a part for sending hosts, one for receiving hosts and one
    for a switch of Linux. Each part builds and loads what Linux lacks, sets the scenario's values, checks that they are
    active, and takes all of it back.

    The values are those with which the scheme runs in the Linux kernel (`--backend linux`). Where a scheme has another
    stack, hosts have that of Linux. A scheme whose hosts or switches Linux cannot be is refused, with the reason.

    The page `docs/how-to/testbed.md` uses it on one machine.

    **Examples**

    - `fanin deploy linux-dctcp`
    - `fanin deploy linux-dctcp scenario.toml > dctcp.sh`
    - `fanin deploy l2dct scenario.toml --set scheme.l2dct.mark-threshold=30pkt`
    """
    from fanin.errors import NotFoundError, ScenarioError
    from fanin.scenario import catalogue
    from fanin.scenario.handle import opened
    from fanin.show.deployment import script

    catalogue.refuse_unknown_scheme(scheme, "SCHEME")
    given = opened(_RACK, "rack.toml") if scenario is None else fanin.Scenario(scenario).handle()
    settings = [("transport.scheme", scheme), ("run.backend", "linux"), *overrides(set_)]
    handle = given.with_changes(settings)
    if any(row["path"] == _STACK and row["is_default"] for row in handle.resolved()):
        handle = handle.with_changes({_STACK: "linux-6"})
    try:
        hosts = handle.hosts()
    except ScenarioError as error:
        if error.key != "transport.scheme":
            raise
        needs = catalogue.explain(scheme)["needs"]
        raise NotFoundError(f"{scheme} cannot be deployed on Linux: it needs {needs}. {error.message}") from None
    ports = [each for each in hosts["ports"] if (each["name"] == port if port else each["observed"])]
    if not ports:
        names = ", ".join(each["name"] for each in hosts["ports"][:4])
        raise NotFoundError(f"--port: {port or 'no port of a switch is measured'}: there are {names}, ...")
    words = ["fanin", "deploy", scheme, *([scenario] if scenario else [])]
    words += [word for setting in set_ or [] for word in ("--set", setting)] + (["--port", port] if port else [])
    say(script(hosts, ports[0], scheme, shlex.join(words)).rstrip())
    note("a shell script for hosts and switches; nothing was changed here")

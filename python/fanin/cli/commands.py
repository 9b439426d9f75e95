"""The commands with their help lines. The module of a command is imported when the command is used."""

from __future__ import annotations

import difflib
import importlib
import re
from dataclasses import dataclass
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from fanin.cli.terminal import say, separate_with_tabs, version


@dataclass(frozen=True)
class Command:
    """The module of a command, and its help in one line."""

    module: str
    """Name of the module in this package; its function has the same name or that of the command."""
    help: str


EXIT_CODES = {
    0: "success",
    1: "a run or a check failed",
    2: "wrong usage",
    3: "bad scenario, input or results folder",
    70: "an internal error",
    130: "interrupted",
    141: "nobody reads the output",
    143: "terminated",
}
"""The exit codes of all commands, and what each means."""

COMMANDS = {
    "run": Command("run", "Run a scenario once and say what happened."),
    "sweep": Command("sweep", "Run a grid of scenario values with several seeds, and write one data set."),
    "reproduce": Command(
        "reproduce", "Reproduce figures of papers: run their sweeps, plot the results, and judge each published claim."
    ),
    "claims": Command(
        "claims", "Show the claims ledger: the papers' claims, our numbers, and the verdict on each claim."
    ),
    "ranking": Command("ranking", "Rank all systems on the same traffic, one regime after the other."),
    "report": Command(
        "report",
        "Write the HTML report: every figure, every claim with its verdict, and the commands to reproduce them.",
    ),
    "serve": Command("serve", "Serve the page with the results in OUT, on this machine, until Ctrl-C."),
    "verify": Command(
        "verify",
        "Compare every stored run with its digest, and name the damaged runs.",
    ),
    "advise": Command(
        "advise",
        "Advise which fix to deploy: rank all fixes on the scenario, and say what each needs.",
    ),
    "compare": Command("compare", "Compare schemes on one scenario."),
    "capacity": Command(
        "capacity",
        "Find the largest fan-in at which given bounds hold, typically with fewer than 50 runs.",
    ),
    "tune": Command(
        "tune", "Find the best values of parameters, and check whether they are better than the scenario's own."
    ),
    "fit": Command(
        "fit",
        "Search parameters that papers do not specify for the settings under which most sentences hold.",
    ),
    "linux": Command("linux", "List the Linux kernels that can run scenarios here, and say how to build one."),
    "deploy": Command("deploy", "Print the commands that deploy a scheme on hosts and switches of Linux."),
    "list": Command(
        "list_",
        "List schemes, topologies, queues, traffic, faults, workloads (flow sizes), environments or experiments.",
    ),
    "explain": Command(
        "explain",
        "Explain a scheme, topology, queue, traffic pattern, fault, workload, environment, parameter or experiment.",
    ),
    "check": Command("check", "Check a scenario, or the cluster that will run it, without running anything."),
    "plot": Command(
        "plot", "Draw the queue, the goodput, windows, transfers or a distribution of any run or sweep: PNG, SVG, PDF."
    ),
    "describe": Command(
        "describe",
        "Describe results: a run's summary, the tables with types and units, or the slowdown of flows by size.",
    ),
    "export": Command(
        "export",
        "Write a table of stored runs as CSV, Parquet or HPCC's fct.txt, or the captured packets of a run as pcapng.",
    ),
    "import": Command(
        "import_",
        "Convert flow lists, size distributions and topologies of other tools for use in a scenario.",
    ),
}

_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


class _WordsAsTyped:
    """Leaves the words before the completed one unconverted: to convert them, typer imports pydantic."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - types of the parser
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters if ctx.resilient_parsing else ():
            parameter.process_value = lambda _, value: value
        return parameters


class _Leaf(_WordsAsTyped, typer.core.TyperCommand):
    """A command that names the choice that was probably meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = _with_the_nearest(error.message)
            raise


def _with_the_nearest(message: str) -> str:
    """The parser's message about a word that is no choice, with the one that was probably meant."""
    message = message.removeprefix("Value error, ")
    found = re.match("'(.*?)' is not one of (.*)", message)
    close = difflib.get_close_matches(found[1], re.findall("'(.*?)'", found[2]), n=1) if found else []
    return f'{message} Did you mean "{close[0]}"?' if close else message


class _Commands(_WordsAsTyped, typer.core.TyperGroup):
    """The commands by name; until it is used, a command is only a name and a line of help."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - the parser's own
        super().__init__(**settings)
        for name, command in COMMANDS.items():
            self.commands[name] = typer.core.TyperCommand(name, help=command.help)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        if not args and not ctx.resilient_parsing:
            say(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        if (name := args[0]) in COMMANDS:
            self.commands[name] = load(name)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """The overview in plain text: typer would draw it with rich, which is slow to import."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES.items()])
        self.format_epilog(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Each command with its full help, which typer would cut to one line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.help) for name, each in COMMANDS.items()])


def load(name: str) -> Any:  # noqa: ANN401 - the parser's own type
    """A command with its arguments and options."""
    where = COMMANDS[name]
    module = importlib.import_module(f"fanin.cli.{where.module}")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")
    function = getattr(module, where.module)
    alone.command(name, cls=_Leaf, context_settings=dict(_SETTINGS))(function)
    command = typer.main.get_command(alone)
    names = [param.name for param in command.params]
    if "json" in names:
        # What prints tables has them in two forms for programs.
        command.params.insert(names.index("json"), _tsv_option())
    return command


def _tsv_option() -> Any:  # noqa: ANN401 - the parser's own type
    """The option of all commands that print tables."""

    def holder(
        tsv: Annotated[
            bool,
            typer.Option(
                "--tsv",
                callback=separate_with_tabs,
                expose_value=False,
                help="Print tables as tab-separated values instead of aligned columns.",
            ),
        ] = False,
    ) -> None:
        pass

    alone = typer.Typer(add_completion=False)
    alone.command()(holder)
    return typer.main.get_command(alone).params[0]


app = typer.Typer(
    name="fanin",
    cls=_Commands,
    help="A simulator of TCP incast: test fixes on your own network, and reproduce the figures of published ones. "
    "It is for TCP whose switches drop, mark or trim packets. It is not for RDMA (RoCE), BBR "
    "or QUIC: `fanin explain NAME` names the tool that has one of these.",
    epilog="Data goes to stdout, progress and messages to stderr.",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={**_SETTINGS, "max_content_width": 120},
)


def _version(wanted: bool) -> None:
    if wanted:
        say(version())
        raise typer.Exit


@app.callback()
def _global(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass

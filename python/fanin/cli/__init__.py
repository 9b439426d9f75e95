"""The command line: one module per verb.

Data goes to stdout, progress and messages to stderr. Exit codes: 0 success, 1 a run or a check failed, 2 wrong
usage, 3 bad scenario, input or results folder, 130 interrupted.
"""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import typer

import fanin
from fanin.cli import (
    capacity,
    check,
    claims,
    cluster,
    compare,
    describe,
    explain,
    export,
    fct,
    import_,
    list_,
    merge,
    ranking,
    report,
    reproduce,
    run,
    sweep,
    tune,
)
from fanin.cli.terminal import note, say
from fanin.errors import FaninError, RunError

app = typer.Typer(
    name="fanin",
    help="A laboratory for TCP incast: run published remedies, reproduce their figures, get your own numbers.",
    epilog="Exit codes: 0 success, 1 a run or a check failed, 2 wrong usage, 3 bad scenario, input or results "
    "folder, 130 interrupted. Data goes to stdout, progress and messages to stderr.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("run")(run.run)
app.command("sweep")(sweep.sweep)
app.command("merge")(merge.merge)
app.command("cluster")(cluster.cluster)
app.command("reproduce")(reproduce.reproduce)
app.command("claims")(claims.claims)
app.command("verdict")(ranking.verdict)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("capacity")(capacity.capacity)
app.command("tune")(tune.tune)
app.command("list")(list_.list_)
app.command("explain")(explain.explain)
app.command("check")(check.check)
app.command("describe")(describe.describe)
app.command("export")(export.export)
app.command("import")(import_.import_)
app.command("fct")(fct.fct)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"fanin {fanin.__version__} (engine {fanin.engine_version()})")
        raise typer.Exit


@app.callback()
def _global(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line; every error of the user's is one line, never a traceback."""
    warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
    try:
        app(arguments)
    except RunError as error:
        note(f"error: the run failed: {error}")
        sys.exit(1)
    except FaninError as error:
        note(f"error: {error}")
        sys.exit(3)
    except OSError as error:
        note(f"error: {error.filename or 'output'}: {error.strerror or error}")
        sys.exit(3)

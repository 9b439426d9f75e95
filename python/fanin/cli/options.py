"""Options that several commands share."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fanin.cli import tab_completion
from fanin.cli.terminal import note
from fanin.errors import ScenarioWarning

if TYPE_CHECKING:
    from fanin.choose.goals import Goal, Keep
    from fanin.run.job import Workers
    from fanin.run.scenario import Scenario
    from fanin.scenario.format.values import Scalar
    from fanin.scenario.settings import Settings

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        autocompletion=tab_completion.scenarios,
        help="Scenario file, or an experiment such as sdtcp/fig9.",
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout instead of text.")]

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        autocompletion=tab_completion.settings,
        help="Replace a scenario value; may be given several times.",
    ),
]

BackendOption = Annotated[
    Literal["simulator", "linux"] | None,
    typer.Option(
        "--backend",
        help="What carries the transfers: the simulator, or the Linux kernel itself in virtual time (fanin linux); "
        "short for --set run.backend=linux.",
    ),
]

GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUES",
        autocompletion=tab_completion.settings,
        help="Values of a scenario key: one, a list such as dctcp,rcc, or a range such as 5pkt..80pkt:5pkt, ends "
        "included. May be given several times: every combination is run.",
    ),
]

ZipOption = Annotated[
    list[str] | None,
    typer.Option("--zip", metavar="PATH,PATH", help="Keys that change together: first value with first value."),
]

JobsOption = Annotated[int | None, typer.Option("--jobs", min=1, help="Threads; by default one per core.")]

MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="BYTES",
        help="Memory that all runs together may take, such as 20GB (on a cluster: each run); by default most of what "
        "is free. A run whose estimate is larger is reported as failed; estimates are upper bounds.",
    ),
]

ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler, such as tcp://host:8786."
    ),
]

FailedOption = Annotated[bool, typer.Option("--failed", help="Retry runs that failed before.")]

GoalOption = Annotated[
    str | None,
    typer.Option(
        "--goal",
        "--by",
        autocompletion=tab_completion.goal,
        help="Criterion: a measure such as query-p99, or several with weights: query-p99:2,goodput. By default "
        "query-p99, without queries fct_max_s if all transfers begin together, otherwise p99-fct or goodput.",
    ),
]

KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="MEASURE=BOUND",
        autocompletion=tab_completion.bounds,
        help="A bound that must hold, such as timeout-ratio=1%; may be repeated.",
    ),
]

MarginOption = Annotated[
    str,
    typer.Option(
        "--margin",
        metavar="SHARE",
        help="Smallest difference that counts, as a share of the value: one that is smaller, or whose interval "
        "contains zero, is a tie.",
    ),
]


@contextmanager
def refusing(option: str) -> Iterator[None]:
    """Says which option has the value that is refused."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def told_later() -> contextlib.AbstractContextManager[object]:
    """Leaves warnings about an answer to whoever prints it."""
    return warnings.catch_warnings(action="ignore", category=ScenarioWarning)


def number(value: float) -> float:
    """An option's value, which its bounds do not hold if it is not a number."""
    if math.isnan(value):
        raise typer.BadParameter("nan is not a number")
    return value


OutOption = Annotated[Path, typer.Option("--out", help="Results folder.")]


def overrides(settings: list[str] | None, backend: str | None = None) -> Settings:
    """The ``--set`` and ``--backend`` options as pairs of path and value."""
    pairs = [] if backend is None else [("run.backend", backend)]
    for setting in settings or []:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            raise typer.BadParameter(f"{setting!r} is not PATH=VALUE", param_hint="--set")
        pairs.append((path.strip(), value.strip()))
    return pairs


def grid(settings: list[str] | None, backend: str | None = None) -> dict[str, list[Scalar]]:
    """The ``--set`` and ``--backend`` options of a sweep: each path with the values that it takes."""
    from fanin.scenario.format.values import parse_all_values

    found: dict[str, list[Scalar]] = {}
    for path, values in overrides(settings, backend):
        if path in found:
            raise typer.BadParameter(f"{path} is given twice: write its values in one list", param_hint="--set")
        try:
            found[path] = parse_all_values(values)
        except ValueError as error:
            raise typer.BadParameter(f"{path}: {error}", param_hint="--set") from None
    return found


def zipped(options: list[str] | None) -> list[list[str]]:
    """The ``--zip`` options: lists of paths that change together."""
    return [[name.strip() for name in option.split(",")] for option in options or []]


def memory_of(text: str | None) -> float | None:
    """The ``--memory`` option in bytes."""
    from fanin.numbers.units import quantity

    if text is None:
        return None
    found = quantity(text)
    if found is None or found[1] != "B" or not found[0] > 0:
        raise typer.BadParameter(f"{text!r} is not a number of bytes such as 20GB or 512MiB", param_hint="--memory")
    return found[0]


@contextmanager
def workers(cluster: str | None, jobs: int | None, memory: str | None) -> Iterator[Workers]:
    """The workers given by ``--cluster``, ``--jobs`` and ``--memory``, for the duration of a command."""
    from fanin.run.cluster import Cluster
    from fanin.run.threads import Threads

    room = memory_of(memory)
    if cluster is None:
        with closing(Threads(jobs, room)) as threads:
            yield threads
        return
    if jobs is not None:
        raise typer.BadParameter("the workers of a cluster determine the number of threads", param_hint="--jobs")
    with closing(Cluster(cluster, memory=room)) as found:
        if not found.threads():
            note(f"{cluster} has no workers yet: runs start when one joins")
        yield found


def goal_of(text: str | None, experiment: Scenario, usual: str | None = None) -> Goal:
    """The ``--goal`` option as a goal; by default the usual one of the scenario, or of a run of it, and it is said."""
    from fanin.choose.goals import USUAL, goal, usual_goal

    if text is None:
        text = usual or usual_goal(experiment.of_fan_in())
        note(f"the goal is {text}, as {USUAL[text]}; --goal takes another")
    with refusing("--goal"):
        return goal(text, experiment)


def keeps_of(texts: list[str], experiment: Scenario) -> list[Keep]:
    """The ``--keep`` options as bounds."""
    from fanin.choose.goals import keep

    with refusing("--keep"):
        return [keep(text, experiment) for text in texts]


def margin_of(text: str) -> float:
    """The ``--margin`` option as a share."""
    from fanin.numbers.units import quantity

    found = quantity(text)
    if found is None or found[1] not in ("", "1") or not 0 <= found[0] < 1:
        raise typer.BadParameter(f"{text!r} is not a share such as 1%", param_hint="--margin")
    return found[0]


def schemes_of(schemes: str, option: str) -> list[str]:
    """The schemes of a list such as ``newreno,dctcp``, or of ``all``."""
    from fanin.scenario import catalogue

    if schemes.strip() == "all":
        return [entry["key"] for entry in catalogue.entries("schemes")]
    names = list(dict.fromkeys(name.strip() for name in schemes.split(",") if name.strip()))
    if not names:
        raise typer.BadParameter("name schemes, such as newreno,dctcp, or all", param_hint=option)
    for name in names:
        catalogue.refuse_unknown_scheme(name, option)
    return names


def one_seed(text: str) -> int:
    """The ``--seed`` option of a command that makes one run."""
    from fanin.scenario.format.values import parse_seeds

    try:
        found = parse_seeds(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number from zero on", param_hint="--seed") from None
    if len(found) != 1:
        message = f"{text!r} are {len(found)} seeds, and this is one run: sweep, compare and plot take --seeds {text}"
        raise typer.BadParameter(message, param_hint="--seed")
    return found[0]


def seeds(text: str | None) -> list[int] | None:
    """The ``--seeds`` option as a list."""
    if text is None:
        return None
    from fanin.scenario.format.values import parse_seeds

    try:
        return parse_seeds(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--seeds") from None

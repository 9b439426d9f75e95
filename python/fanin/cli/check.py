"""``fanin check``: checks a scenario and shows its values."""

from __future__ import annotations

from typing import Annotated

import typer

import fanin
from fanin.cli.options import JsonOption, ScenarioArgument, SetOption, overrides
from fanin.cli.terminal import note, print_json, print_table
from fanin.numbers.summary import OFFERED_HEADER, offered_rows


def check(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    resolved: Annotated[bool, typer.Option("--resolved", help="List every value in effect and its source.")] = False,
    json: JsonOption = False,
) -> None:
    """Check a scenario without running it.

    Checks the scenario, each value of each sweep variable, and the plots and claims, and shows the offered load, with
    the mean size from which it was computed. It warns about values without effect, and about variants that no plot
    shows.

    --json prints one object: {file, experiment, runs, offered, values}. offered is an array of {group, mean_bytes,
    interval_s, offered_bps, load, load_of, capacity_bps}. values is present only with --resolved; it is an array of
    {path, value, is_default, from, source, doc}, where from is file:line, --set or default, and source is the source of
    the default.

    **Examples**

    - `fanin check scenario.toml`
    - `fanin check sdtcp/fig9 --resolved`
    - `fanin check scenario.toml --set transport.rto-min=1ms --json`
    """
    from fanin.run.benchmark import asks_for_trust
    from fanin.scenario.points import points

    experiment = fanin.load(scenario)
    settings = overrides(set_)
    experiment.check(settings)
    for remark in [*experiment.warnings(settings, swept=True), *experiment.unshown()]:
        note(f"warning: {remark}")
    if command := asks_for_trust(experiment):
        note(f"warning: benchmark: `fanin reproduce` would start a program: {command}")
    rows = experiment.resolved_table(settings) if resolved else []
    offered = experiment.offered(settings) if experiment.needs_network else []
    runs = len(points(experiment))
    if json:
        values = {"values": rows} if resolved else {}
        print_json(
            {"file": str(experiment.path), "experiment": experiment.name, "runs": runs, "offered": offered, **values}
        )
        return
    if resolved:
        print_table(
            f"{experiment.path}: every value in effect",
            ["path", "value", "from", "source of the default"],
            # Beside a value that replaces the default, the default's source would read as the value's.
            ([row["path"], str(row["value"]), row["from"], row["source"] if row["is_default"] else ""] for row in rows),
        )
    if offered:
        print_table("Offered load", OFFERED_HEADER, offered_rows(offered))
    swept = f"its sweep has {runs} run{'s' if runs > 1 else ''}" if runs else "one run"
    if not runs and experiment.document.plot:
        swept = "its plots need no run"
    note(f"{experiment.path}: valid; {swept}")

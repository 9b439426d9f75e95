"""``fanin run``: one run of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fanin
from fanin.cli.options import JsonOption, OutOption, ScenarioArgument, SetOption, overrides
from fanin.cli.terminal import keeping, note, print_json, print_table, summary_rows
from fanin.numbers import fct
from fanin.numbers.summary import OFFERED_HEADER, group_rows, offered_rows

if TYPE_CHECKING:
    from fanin.scenario.settings import Settings


def run(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed; by default the scenario's own.")] = None,
    out: OutOption = Path("results"),
    store: Annotated[bool, typer.Option("--store/--no-store", help="Keep the results.")] = True,
    pcap: Annotated[
        bool,
        typer.Option(
            "--pcap",
            help="Also capture the packets that crossed the bottleneck; --set measure.capture=senders captures the "
            "senders' access links, where each transmission appears exactly once.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run a scenario once and show its summary.

    Results go to OUT/runs/RUN-ID/: manifest.json, one Parquet file per table and, with --pcap, trace.pcapng.

    --json prints one object: the totals of the run and {run_id, paths}. paths has those of the folder, the manifest and
    each table; with --no-store it is empty.

    **Examples**

    - `fanin run scenario.toml`
    - `fanin run scenario.toml --set transport.scheme=dctcp --set traffic.bursts.senders=40 --seed 7`
    - `fanin run sdtcp/fig9 --json --no-store`
    """
    from fanin.results.store import Store
    from fanin.scenario import remarks

    if pcap and not store:
        raise typer.BadParameter("captures need the results folder: leave --no-store out", param_hint="--pcap")
    experiment = fanin.load(scenario)
    settings = overrides(set_)
    if pcap:
        settings.append(("measure.capture", "bottleneck"))
    place = Store(out) if store else None
    if place is not None:
        place.prepare()
    with keeping(None):
        finished = experiment.run(seed, settings, store=place)
    _introduce(scenario, experiment, settings, seed)
    if remark := remarks.incomplete(finished.summary):
        note(f"warning: {remark}")
    paths = _paths(finished)
    if json:
        print_json({**finished.summary, "run_id": finished.run_id, "paths": paths})
        return
    title = f"{experiment.document.title or experiment.name} (run {finished.run_id})"
    print_table(title, ["", "", "value"], summary_rows(finished.summary))
    header, groups = group_rows(finished.summary)
    if groups:
        print_table("Traffic groups", header, groups)
    if offered := finished.summary.get("offered"):
        print_table("Offered load", OFFERED_HEADER, offered_rows(offered))
    _slowdown(finished)
    for path in paths.values():
        note(path)


def _introduce(scenario: str, experiment: fanin.Experiment, settings: Settings, seed: int | None) -> None:
    """Notes which of many runs this is, and which settings are probably mistakes."""
    if experiment.swept:
        resolved = experiment.resolved(settings)
        chosen = resolved["run"]["seed"] if seed is None else seed
        scheme = resolved["transport"]["scheme"]
        note(f"one run of the base scenario ({scheme}, seed {chosen}); `fanin reproduce {scenario}` runs the sweep")
    for remark in experiment.warnings(settings):
        note(f"warning: {remark}")


def _slowdown(finished: fanin.Run) -> None:
    """Slowdown by size, for a run with flows of different sizes."""
    if finished.summary["completed"] < _FEW:
        return
    flows = fct.complete(finished.table("flows"))
    if flows["bytes"].n_unique() > 1:
        definition = fct.DEFINITIONS["homa"]
        title = f"Slowdown by size ({definition.key}; `fanin fct` has more)"
        print_table(title, fct.HEADER, map(fct.shown, fct.by_size(flows, definition)))


_FEW = 100
"""With fewer flows, a tenth of them is too few for percentiles."""


def _paths(finished: fanin.Run) -> dict[str, Any]:
    from fanin.results.layout import MANIFEST
    from fanin.results.store import CAPTURE

    if finished.stored is None:
        return {}
    folder = finished.stored.folder
    files = {name.removesuffix(".parquet"): str(folder / name) for name in finished.stored.manifest["files"]}
    if CAPTURE in files:
        files["capture"] = files.pop(CAPTURE)
    return {"folder": str(folder), "manifest": str(folder / MANIFEST), **files}

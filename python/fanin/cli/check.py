"""``fanin check``: checks a scenario and shows its values."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any

import typer

import fanin
from fanin.cli.options import BackendOption, JsonOption, ScenarioArgument, SetOption, overrides
from fanin.cli.terminal import note, print_json, print_table
from fanin.numbers.summary import OFFERED_HEADER, offered_rows
from fanin.numbers.units import rate_text
from fanin.scenario.engine_rows import Loads, ValueRow


def check(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    backend: BackendOption = None,
    resolved: Annotated[bool, typer.Option("--resolved", help="List every value in effect and its source.")] = False,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="Check this Dask cluster too: workers, threads, versions."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check a scenario, or the cluster that will run it, without running anything.

    Checks the scenario, each value of each sweep variable, the plots and the claims. It shows the offered load, with
    the mean size from which the load was computed. It warns about values without effect, and about variants that no
    plot shows.

    For the scenario without its sweep it shows the tiers between switches and the ports that a fan-in can fill. It
    warns about buffers with less room than first windows take, and loads that tiers or senders do not carry. It also
    warns about rates that no port has, and marking thresholds that are too low or too high. The page
    `docs/reference/networks.md` has the rules.

    --json prints one object: {file, experiment, runs, warnings, offered, tiers, fan_in, observed, values, workers}.
    `offered` is an array of {group, mean_bytes, interval_s, offered_bps, load, load_of, capacity_bps}. `tiers` is an
    array of {tier, below_bps, out_bps, oversubscription, load, port}, in which `load` is the largest load of a port of
    the tier, and `port` that port. `fan_in` is an array of {group, port, tier, cables, responses, arriving_bps,
    rate_bps, first_packets, buffer_bytes, buffer_packets, packet_bytes, path_packets, rtt_s}. Its `tier` is null for a
    port towards a receiver, and `cables` is the tier as keys of its cables begin. `path_packets` is C x RTT, and
    `rtt_s` is without queues. `observed` is the port whose queue is measured, with the shortest and the longest `rtt_s`
    of traffic that crosses it. `values` is present only with --resolved. It is an array of {path, scheme, value,
    number, unit, set_at, is_default, source, doc}. There, `scheme` is null unless schemes of the scenario differ in the
    key. `number` and `unit` are those of results, and null if the value is a word. `set_at` is file:line or --set, and
    null for a default. `source` is the source of the default, or the rule from which it was computed. `workers` is
    present only with --cluster. It is an array of {worker, threads, fanin, engine}.

    **Examples**

    - `fanin check scenario.toml`
    - `fanin check sdtcp/fig9 --resolved`
    - `fanin check scenario.toml --set transport.rto-min=1ms --json`
    - `fanin check scenario.toml --cluster tcp://host:8786`
    """
    from fanin.choose import cautions
    from fanin.run.benchmark import asks_for_trust
    from fanin.scenario.loads import remarks
    from fanin.scenario.points import points

    experiment = fanin.Scenario(scenario)
    settings = overrides(set_, backend)
    experiment.check(settings)
    workers = [] if cluster is None else _workers(cluster)
    loads: Loads = {"tiers": [], "fan_in": [], "observed": []}
    if experiment.needs_network:
        loads = experiment.loads(settings)
    of_sweep = [
        *experiment.warnings(settings, swept=True),
        *cautions.of_sweep(experiment, settings),
        *experiment.unshown(),
    ]
    # Also where a sweep varies what fits, the tables below are those of the scenario without it.
    of_ports = remarks(experiment, settings) if experiment.needs_network else []
    warnings = list(dict.fromkeys([*of_sweep, *of_ports]))
    for remark in warnings:
        note(f"warning: {remark}")
    if command := asks_for_trust(experiment):
        note(f"warning: benchmark: `fanin reproduce` would start a program: {command}")
    rows = _in_effect(experiment.resolved_table(settings)) if resolved else []
    offered = experiment.offered(settings) if experiment.needs_network else []
    runs = len(points(experiment))
    if json:
        values = {"values": rows} if resolved else {}
        head = {"file": str(experiment.path), "experiment": experiment.name, "runs": runs, "warnings": warnings}
        of_cluster = {} if cluster is None else {"workers": workers}
        print_json({**head, "offered": offered, **loads, **values, **of_cluster})
        return
    if resolved:
        print_table(
            f"{experiment.path}: every value in effect",
            ["path", "value", "from", "source of the default"],
            # Beside a value that replaces the default, the default's source would read as the value's.
            map(_shown, rows),
        )
    if offered:
        print_table("Offered load", OFFERED_HEADER, offered_rows(offered))
    _print_loads(loads)
    if cluster is not None:
        _print_workers(cluster, workers)
    swept = f"its sweep has {runs} run{'s' if runs > 1 else ''}" if runs else "one run"
    if not runs and experiment.document.plot:
        swept = "its plots need no run"
    note(f"{experiment.path}: valid; {swept}")


def _workers(address: str) -> list[dict[str, Any]]:
    """The workers of a cluster, each with its threads and versions."""
    from fanin.run.cluster import Cluster

    with contextlib.closing(Cluster(address)) as found:
        threads = found.threads()
        return [
            {"worker": name, "threads": threads.get(name, 0), **vars(each)} for name, each in found.workers().items()
        ]


def _print_workers(address: str, workers: list[dict[str, Any]]) -> None:
    threads = sum(each["threads"] for each in workers)
    rows = [[str(value) for value in each.values()] for each in workers]
    print_table(f"{address}: {threads} runs at once", ["worker", "threads", "fanin", "engine"], rows)
    if not workers:
        note("no workers yet: start one with dask worker ADDRESS")


def _in_effect(rows: list[ValueRow]) -> list[dict[str, Any]]:
    """The values of a scenario without those that another one takes the effect of, such as the way of admission."""
    every = ({**row} for row in rows if row["ignored_with"] is None)
    return [{key: value for key, value in row.items() if key != "ignored_with"} for row in every]


def _shown(row: dict[str, Any]) -> list[str]:
    path = f"{row['path']} of {row['scheme']}" if row["scheme"] else row["path"]
    return [path, row["value"], row["set_at"] or "default", row["source"] if row["is_default"] else ""]


def _print_loads(loads: Loads) -> None:
    """The tiers between switches, and the ports that a fan-in can fill."""
    if loads["tiers"]:
        print_table(
            "Tiers between switches",
            ["tier", "hosts below can send", "cables carry", "oversubscription", "largest load"],
            (
                [
                    each["tier"],
                    rate_text(each["below_bps"]),
                    rate_text(each["out_bps"]),
                    f"{each['oversubscription']:.3g} to 1",
                    "-" if each["load"] is None else f"{100 * each['load']:.3g} % of {each['port']}",
                ]
                for each in loads["tiers"]
            ),
        )
    if loads["fan_in"]:
        print_table(
            "Ports that a fan-in can fill",
            ["group", "port", "responses at once", "arriving", "rate", "first windows", "buffer"],
            (
                [
                    each["group"],
                    each["port"],
                    f"{each['responses']:.4g}",
                    rate_text(each["arriving_bps"]),
                    rate_text(each["rate_bps"]),
                    f"{each['first_packets']:.4g} packets",
                    f"{each['buffer_packets']:,} packets, {each['buffer_bytes'] / 1e6:.4g} MB",
                ]
                for each in loads["fan_in"]
            ),
        )

"""``fanin run``: one run of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import fanin
from fanin.cli.options import (
    BackendOption,
    JsonOption,
    MemoryOption,
    OutOption,
    ScenarioArgument,
    SetOption,
    memory_of,
    one_seed,
    overrides,
    workers,
)
from fanin.cli.terminal import (
    PATIENCE_S,
    counting,
    keeping,
    note,
    note_kernel_time,
    note_moved,
    print_json,
    print_table,
    say,
    say_rows,
    say_trials,
    say_wrapped,
    summary_rows,
    watching,
)
from fanin.errors import FaninError
from fanin.later import pl
from fanin.numbers.summary import OFFERED_HEADER, group_rows, offered_rows
from fanin.scenario.traffic import waits

if TYPE_CHECKING:
    from fanin.choose.diagnosis import Diagnosis
    from fanin.choose.trials import Trials
    from fanin.scenario.settings import Settings
    from fanin.show.course import Course


def run(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    backend: BackendOption = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="INTEGER", parser=one_seed, help="Seed; by default the scenario's own."),
    ] = None,
    out: OutOption = Path("results"),
    store: Annotated[bool, typer.Option("--store/--no-store", help="Keep the results.")] = True,
    pcap: Annotated[
        bool,
        typer.Option(
            "--pcap",
            help="Also capture the packets of the observed port, or of measure.capture if that is set. With "
            "measure.capture=senders, each transmission appears once, on the access link of its sender.",
        ),
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Show every total, row and file, not only the main ones.")
    ] = False,
    try_: Annotated[
        bool,
        typer.Option("--try/--no-try", help="Try changes on a run that was slow, and say which made it faster."),
    ] = True,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Run a scenario once and say what happened.

    The first sentence says whether it collapsed. At most eight rows say why, the most important first, and what the
    result assumes. --all shows all rows and all totals.

    If the run was slow, changes are tried, each once with the same seed. They are the fixes of `fanin advise` that can
    be deployed, and twice the rate if the bottleneck is a link between switches. Up to three commands to try follow.
    Two are the best changes that make the goal better by a tenth or more, and the third looks further. The goal is
    query-p99. Without queries it is p99-fct or goodput. If all transfers begin together, or timers decided few, the
    slowest transfer takes the place of p99-fct. Nothing is tried with --no-try, or on runs of more than 5 million
    events. Nor on runs that may have more than 30 million events if their link does not lie idle.

    Results go to OUT/fanin.db. `fanin describe OUT/RUN-ID` shows them, and `fanin export` writes tables and captured
    packets as files.

    --json prints one object: the totals of the run and {diagnosis: {...}, run_id, stored}. The page
    `docs/reference/output.md` defines each key of the diagnosis. `stored` is what other commands take, OUT/RUN-ID. With
    --no-store it is empty.

    **Examples**

    - `fanin run scenario.toml`
    - `fanin run scenario.toml --all`
    - `fanin run scenario.toml --set transport.scheme=dctcp --set traffic.servers.senders=40 --seed 7`
    - `fanin run sdtcp/fig9 --json --no-store`
    """
    from fanin.choose.diagnosis import diagnose
    from fanin.choose.notes import as_record
    from fanin.results.free_memory import available
    from fanin.results.store import Store
    from fanin.run.memory import estimate, refuse_oversized
    from fanin.show.course import choose_commands, describe_course, word_apart, word_trials

    if pcap and not store:
        raise typer.BadParameter("captures need the results folder: leave --no-store out", param_hint="--pcap")
    wanted, of_seed = overrides(set_, backend), [] if seed is None else [("run.seed", str(seed))]
    experiment = fanin.Scenario(scenario).set(wanted)
    if pcap:
        experiment = _capturing(experiment, wanted)
    room = memory_of(memory)
    refuse_oversized(estimate(experiment.handle(of_seed)).bytes(), available() if room is None else room)
    note_kernel_time(experiment.kernel_seconds(of_seed))
    place = Store(out) if store else None
    if place is not None:
        place.prepare()
    with keeping(None), watching("run", end=_end(experiment)) as progress:
        finished = experiment.run(seed, out=place, progress=progress, moved=note_moved)
        if place is not None:
            place.close()
    _introduce(scenario, experiment, seed)
    resolved = experiment.of_fan_in()
    happened = diagnose(finished, resolved, experiment.handle())
    _warn_of_few(experiment, happened)
    told, known_as = describe_course(happened), "" if finished.stored is None else finished.stored.place
    is_tried = try_ and happened.is_to_mend and happened.is_short
    # What is known is not lost if nobody waits for what is tried, but where that can take back the headline.
    waits_for_trials = is_tried and happened.jitter_to_set is not None
    if not json and not waits_for_trials:
        _say_course(told, None, all_=all_)
    found = None
    if is_tried:
        of_run = resolved["run"]["seed"] if seed is None else seed
        found = _tried(scenario, wanted, happened, of_run, memory, known_as)
    if not json and waits_for_trials:
        _say_course(told, found, all_=all_)
    # Other commands to try need no capture.
    next_ = choose_commands(happened, found, scenario, [*wanted, *of_seed])
    if json:
        words = {
            "headline": " ".join(filter(None, [told.headline, word_apart(found)])),
            "tried": 0 if found is None else found.tried,
            "try": [each._asdict() for each in next_],
        }
        diagnosis = {**as_record(happened), **words}
        print_json({**finished.summary, "diagnosis": diagnosis, "run_id": finished.run_id, "stored": known_as})
        return
    if try_ and (said := word_trials(happened, found)):
        say_wrapped(said)
    say_trials(next_)
    _print_totals(f"{experiment.document.title or experiment.name} (run {finished.run_id})", finished, all_=all_)
    if known_as:
        note(known_as)


def _warn_of_few(experiment: fanin.Scenario, happened: Diagnosis) -> None:
    """Says that the goal is a percentile of few values."""
    from fanin.choose.goals import few_samples, measure

    # Of one query no percentile is shown.
    if happened.queries is not None and happened.queries.count == 1:
        return
    for remark in few_samples([measure(happened.goal, experiment)], [happened.summary]):
        note(f"warning: {remark}")


def _say_course(told: Course, found: Trials | None, *, all_: bool) -> None:
    """Prints what happened; where answers that begin apart fare worse, no headline stands without that."""
    from fanin.show.course import MAX_ROWS, word_apart

    say_wrapped(told.headline)
    if said := word_apart(found):
        say_wrapped(said)
    say_rows([*(told.rows if all_ else told.rows[:MAX_ROWS]), told.assumed])


def _tried(
    scenario: str, wanted: Settings, happened: Diagnosis, seed: int, memory: str | None, known_as: str
) -> Trials | None:
    """What changes make of the run, which is known as such if it is stored."""
    from fanin.choose.trials import trials

    kept = f"the run is kept as {known_as}" if known_as else None
    with (
        keeping(kept, continues=False),
        workers(None, None, memory) as pool,
        counting("trying changes", PATIENCE_S) as counter,
    ):
        try:
            return trials(fanin.Scenario(scenario).set(wanted), happened, seed, workers=pool, advance=counter.advance)
        except FaninError as error:
            # The run itself is made, and told.
            note(f"warning: no changes were tried: {error}")
            return None


def _capturing(experiment: fanin.Scenario, wanted: Settings) -> fanin.Scenario:
    """The scenario with a capture: of the links that the file or ``--set`` names, else of the bottleneck."""
    if experiment.resolved()["measure"]["capture"] != "off":
        return experiment
    if any(path == "measure.capture" for path, _ in wanted):
        raise typer.BadParameter("--set measure.capture=off says the opposite", param_hint="--pcap")
    return experiment.set("measure.capture", "bottleneck")


def _end(experiment: fanin.Scenario) -> float | None:
    """The share of its duration at which a run probably ends; ``None`` if that depends on how its transfers fare.

    It lasts for its whole duration if no transfer of known size ends it, and if all such transfers arrive at a load,
    until they have arrived.
    """
    if not experiment.needs_network:
        return None
    resolved, last = experiment.resolved(), 0.0
    for group, seen in zip(resolved["traffic"], experiment.preview()["groups"], strict=True):
        if seen["mean_bytes"] == 0:
            # Endless data.
            continue
        if seen["offered"] is None or "count" not in group or waits(group):
            return None
        last = max(last, group["start"].number + group["count"] * seen["offered"]["interval_s"])
    return min(last / resolved["run"]["duration"].number, 1.0) if last else 1.0


def _print_totals(title: str, finished: fanin.Run, *, all_: bool) -> None:
    """All totals of a run, of its groups of traffic, and their load; or how to ask for them."""
    if not all_:
        say("--all shows all rows and totals.")
        return
    say()
    summary = finished.summary
    queues = finished.queues().filter(pl.col("bottleneck"))
    queue = queues.row(0, named=True) if queues.height == 1 else None
    print_table(title, ["", "", "value"], summary_rows(summary, queue))
    header, groups = group_rows(summary)
    if groups:
        print_table("Traffic groups", header, groups)
    if offered := summary.get("offered"):
        print_table("Offered load", OFFERED_HEADER, offered_rows(offered))


def _introduce(scenario: str, experiment: fanin.Scenario, seed: int | None) -> None:
    """Notes which of many runs this is."""
    if experiment.swept:
        resolved = experiment.resolved()
        chosen = resolved["run"]["seed"] if seed is None else seed
        scheme = resolved["transport"]["scheme"]
        note(f"one run of the base scenario ({scheme}, seed {chosen}); `fanin reproduce {scenario}` runs the sweep")

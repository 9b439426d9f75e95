"""``fanin fit``: searches the parameters that papers do not specify for the settings that fit their sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import fanin
from fanin.cli import tab_completion
from fanin.cli.options import ClusterOption, JobsOption, JsonOption, MemoryOption, OutOption, overrides, seeds, workers
from fanin.cli.terminal import counting, keeping, note, print_json, print_table, say
from fanin.numbers.stats import FEWEST
from fanin.scenario.format.values import MOST_VALUES

if TYPE_CHECKING:
    from fanin.choose.fit.answer import Confirmed, Fitted
    from fanin.choose.fit.held_out import Judgement
    from fanin.choose.fit.space import Space, Values
    from fanin.run.laboratory import Batches
    from fanin.run.scenario import Scenario
    from fanin.scenario.format.values import Scalar

_MAX_SHOWN = 8
"""Settings of the Pareto front that are printed; fit.json has all of them."""


def fit(
    experiments: Annotated[
        list[str],
        typer.Argument(
            autocompletion=tab_completion.experiments,
            help="Experiments such as dtcwa/fig6, papers, or files; a paper means all its experiments not held out.",
        ),
    ],
    open_: Annotated[
        list[str] | None,
        typer.Option(
            "--open",
            metavar="PATH[=VALUES]",
            help="Search only this open parameter, or only these of its values; may be repeated. By default all.",
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="Settings to try; all of them if there are no more.")
    ] = 64,
    seeds_: Annotated[str, typer.Option("--seeds", help="Seeds of every setting.")] = "1..3",
    fresh: Annotated[
        int,
        typer.Option(
            "--fresh", min=FEWEST, max=MOST_VALUES, help="Number of seeds for the confirmation, new to all settings."
        ),
    ] = 10,
    sensitivity: Annotated[
        list[str] | None,
        typer.Option(
            "--sensitivity",
            metavar="PATH=VALUE",
            help="Show the best setting with a value that is not admissible; may be repeated.",
        ),
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Judge the best setting by the papers' held-out experiments, once.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Judge by held-out experiments again; the record says so."),
    ] = False,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Search parameters that papers do not specify for the settings under which most sentences hold.

    Experiment files declare open parameters in [open], with the admissible values and a reason for each. A setting
    gives each of them one value, for all systems and all experiments that declare it. Its score is the number of
    distinct sentences inside their accepted ranges, and then how close the others are. All settings are tried if there
    are no more than --trials. Otherwise Optuna proposes settings (pip install optuna), and the neighbours of the best
    are tried last. A sentence that its file declares as impossible does not count.

    The command prints how many settings were tried. It prints the best setting and what it takes to hold the other
    sentences, with fresh seeds and beside the file's own values. An ablation says which sentence depends on which
    value. Sentences that hold under no setting are listed with the closest setting. The file fit.json also has the
    pairs of sentences that hold together under no setting. For the other pairs it has the number of settings under
    which they do. For pairs of one figure it has the best of these settings. The search may have passed over that
    setting for one with more sentences. These numbers are those of the search's seeds.

    Experiments with held-out = true take no part in a search. --held-out judges the best setting by those of the same
    papers. OUT/fits/held-out.json records when and with which setting, and a second judgement needs --again. A value
    outside [open] is not admissible. With --sensitivity such a value is shown, and labelled.

    OUT/fits/PAPERS-HASH/ has fit.json, which `fanin claims` reads, and settings.csv. The same command continues an
    interrupted search: it finds the runs in OUT. Exit code 1 means that runs failed.

    --json prints one object, the content of fit.json and paths: {experiments, digests, engine_version, open, seeds,
    fresh, settings_tried, settings, exhaustive, failed, winner, front, ablation, not_found, apart, pairs, impossible,
    confirmed, held_out, sentences, paths}.

    **Examples**

    - `fanin fit dtcwa/fig6 dtcwa/fig7`
    - `fanin fit dtcwa/fig6 --open scheme.dt-cwa.eq1 --open transport.initial-window=2mss,4mss`
    - `fanin fit dtcwa --trials 200 --held-out`
    - `fanin fit rcce/fig3a --sensitivity transport.rto-min=13ms`
    """
    from fanin.choose.fit import held_out as guard
    from fanin.choose.fit.bench import Bench
    from fanin.choose.fit.search import fit as search
    from fanin.choose.fit.space import space
    from fanin.run.laboratory import Batches
    from fanin.scenario.settings import settings
    from fanin.show import fit_folder

    loaded = _loaded(experiments)
    guard.refuse_held_out(loaded)
    found = space(loaded, _open(open_ or []))
    sensitivities = {text: _values(text) for text in sensitivity or []}
    for values in sensitivities.values():
        _refuse_admissible(values, found)
        for each in loaded:
            each.check_settings(settings(values))
    chosen = seeds(seeds_) or []
    folder = fit_folder.folder_of(loaded, found, chosen, out)
    judges = _judges(loaded, found, folder.name, out, again=again) if held_out else []
    note(f"{found.size} admissible settings of {len(found.parameters)} open parameters")
    with (
        keeping(f"finished runs are kept in {out}"),
        workers(cluster, jobs, memory) as pool,
        counting("runs") as counter,
    ):
        batches = Batches(out, workers=pool, advance=counter.advance)
        bench = Bench(loaded, found, batches)
        fitted = search(bench, found, trials=trials, seeds=chosen, fresh=fresh, sensitivities=sensitivities)
        held = _judged(judges, found, fitted, batches, folder.name, out) if judges else []
        paths = fit_folder.write(fitted, loaded, held, folder)
    if json:
        print_json({**fit_folder.as_dict(fitted, loaded, held), "paths": [str(path) for path in paths]})
    else:
        _print(fitted, held)
        for path in paths:
            say(str(path))
    failed = [error for each in fitted.tried for error in each.errors]
    for error in dict.fromkeys(failed):
        note(f"error: {error}")
    if failed:
        raise typer.Exit(1)


def _loaded(names: list[str]) -> list[Scenario]:
    """The experiments; of a paper those that can be searched, with a note on the others."""
    from fanin.scenario import library

    found = []
    for name in names:
        several = library.chosen([name], every=False)
        loaded = [fanin.Scenario(each) for each in several]
        if len(several) > 1:
            left_out = [each.name for each in loaded if each.document.held_out]
            if left_out:
                note(f"held out: {', '.join(left_out)}")
            loaded = [each for each in loaded if not each.document.held_out and each.open and each.document.claim]
        found += loaded
    unique = list({each.name: each for each in found}.values())
    for each in unique:
        each.check()
    return unique


def _open(texts: list[str]) -> dict[str, list[Scalar]]:
    from fanin.scenario.format.values import parse_values

    found: dict[str, list[Scalar]] = {}
    for text in texts:
        path, equals, values = text.partition("=")
        try:
            found[path.strip()] = parse_values(values) if equals else []
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--open") from None
    return found


def _values(text: str) -> Values:
    from fanin.scenario.format.values import values_of

    ((path, value),) = overrides([text])
    try:
        found = values_of(value)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--sensitivity") from None
    if len(found) != 1:
        raise typer.BadParameter(f"{text}: one value at a time; repeat the option", param_hint="--sensitivity")
    return {path: found[0]}


def _refuse_admissible(values: Values, found: Space) -> None:
    """Refuses an admissible value: it is part of the search, not a sensitivity."""
    for path, value in values.items():
        if any(each.path == path and value in each.values for each in found.parameters):
            raise typer.BadParameter(f"{path} = {value} is admissible; --open searches it", param_hint="--sensitivity")


def _judges(loaded: list[Scenario], found: Space, search: str, out: Path, *, again: bool) -> list[Scenario]:
    """The held-out experiments for the judgement; refused before the search if they were already used for one."""
    from fanin.choose.fit import held_out as guard

    judges, constant = guard.of_papers(loaded, found)
    if constant:
        note(f"held out, but with no parameter of this search in [open]: {', '.join(constant)}")
    if not judges:
        raise guard.HeldOutError("no held-out experiment of these papers declares a parameter of this search as open")
    guard.refuse_second(judges, search, out, again=again)
    for each in judges:
        each.check()
    return judges


def _judged(
    judges: list[Scenario], found: Space, fitted: Fitted, batches: Batches, search: str, out: Path
) -> list[Judgement]:
    from fanin.choose.fit import held_out as guard
    from fanin.choose.fit.bench import Bench

    bench = Bench(judges, guard.extended(found, judges), batches)
    setting, own = bench.judge(
        [fitted.winner.values, {}], fitted.fresh, "the best setting in held-out figures, the last step"
    )
    return guard.judged(judges, setting, own, search, fitted.fresh, out)


def _print(fitted: Fitted, held: list[Judgement]) -> None:
    from fanin.choose.fit.space import shown, words

    of = f"all {fitted.space.size}" if fitted.exhaustive else f"{len(fitted.tried)} of {fitted.space.size}"
    say(f"{of} admissible settings tried; {len(fitted.sentences)} sentences")
    paths = [each.path for each in fitted.space.parameters]
    rows = [
        [str(len(each.holding)), *(shown(each.values[path]) for path in paths)] for each in fitted.front[:_MAX_SHOWN]
    ]
    print_table("Settings that hold most sentences, on the seeds of the search", ["sentences", *paths], rows)
    if len(fitted.front) > _MAX_SHOWN:
        say(f"{len(fitted.front) - _MAX_SHOWN} more settings hold sentences that these do not; fit.json lists them")
    for each in fitted.confirmed:
        say(f"{each.label}: {words(each.tried.values)}" if each.tried.values else each.label)
    header = ["sentence", "published", "accepted", *(each.label for each in fitted.confirmed)]
    confirmed = (_row(name, fitted.confirmed) for name in fitted.sentences)
    print_table(f"Confirmed with {len(fitted.fresh)} fresh seeds; * inside the accepted range", header, confirmed)
    changes = [
        [each.path, shown(fitted.winner.values[each.path]), shown(each.value), _listed(each.lost), _listed(each.gained)]
        for each in fitted.ablation
    ]
    print_table("Ablation of the winner", ["parameter", "winner", "instead", "lost", "gained"], changes)
    if missed := fitted.not_found:
        nearest = [[name, each.shown, each.accept, words(tried.values)] for name, (tried, each) in missed.items()]
        print_table("Hold under no setting that was tried", ["sentence", "closest", "accepted", "with"], nearest)
    for name, why in fitted.declared.items():
        say(f"impossible: {name}: {why}")
    for judgement in held:
        say(_held(judgement))


def _row(name: str, confirmed: list[Confirmed]) -> list[str]:
    each = [one.tried.found.get(name) for one in confirmed]
    known = next((one for one in each if one is not None), None)
    about = ["-", "-"] if known is None else [known.published, known.accept]
    return [name, *about, *("failed" if one is None else f"{one.shown}{' *' if one.holds else ''}" for one in each)]


def _listed(sentences: list[str]) -> str:
    return ", ".join(sentences) or "-"


def _held(judgement: Judgement) -> str:
    of = len(judgement.holds) + len(judgement.fails)
    own = f"{len(judgement.own)} with the file's own values"
    again = "; not the first judgement" if judgement.again else ""
    return f"held out: {judgement.experiment}: {len(judgement.holds)} of {of} sentences hold, {own}{again}"

"""Makes damaged results again: runs from their scenarios, experiments and the report from runs, sweeps from their rows.

A run's id is a hash of its scenario, so a scenario from a damaged manifest is used only if the id follows from it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from fanin.claims import record
from fanin.errors import FaninError, ResultsError, ScenarioError
from fanin.names import is_run_id
from fanin.results import records, sums
from fanin.results.confined import read
from fanin.results.dataset import DataSet, read_head
from fanin.results.files import refuse_links_out, tidy, writing
from fanin.results.layout import (
    ADVICE,
    CAPACITIES,
    CLAIMS,
    FAILED,
    FAILURES,
    FITS,
    HEAD,
    HELD_OUT,
    MANIFEST,
    REPORT,
    ROWS,
    SEARCH_LOG,
    STUDIES,
    SWEEPS,
    apart,
    together,
)
from fanin.results.store import Finished, Store, read_manifest, read_table
from fanin.results.verify import EXPERIMENT, FILE, FOLDER, KINDS, RUN, Damage, Verified
from fanin.results.walk import walk
from fanin.run.experiment import Experiment, load
from fanin.run.sweep import sweep_all, whole
from fanin.scenario.run_id import run_id
from fanin.scenario.toml_text import to_toml
from fanin.show import html_report, sweep_folder
from fanin.show.reproduction import judge_and_draw

_MADE_BY = {
    SWEEPS: "run the same 'fanin sweep' again; its runs are kept",
    CAPACITIES: "run the same 'fanin capacity' again; its runs are kept",
    STUDIES: "run the same 'fanin tune' again; its runs are kept",
    FITS: "run the same 'fanin fit' again; its runs are kept",
    ADVICE: "run the same 'fanin advise' again; its runs are kept",
}
"""Folder of other folders -> what makes them."""


def remedy(damage: Damage, out: Path) -> str:
    """What makes a damaged file again."""
    folder = damage.folder
    if damage.kind == RUN:
        return _of_run(folder, out)
    if damage.kind == EXPERIMENT:
        return "run its 'fanin reproduce' again; its runs are kept" + _said(command_of(folder))
    if damage.kind == FILE:
        return _of_file(damage.path)
    if folder == out / REPORT:
        return "fanin report"
    if _is_of_data_set(damage):
        try:
            _data_set(folder)
        except FaninError as error:
            return str(error)
        return "fanin verify --repair makes it again"
    return _MADE_BY.get(folder.parent.name, "run the command that made it again; its runs are kept")


def _of_run(place: Path, out: Path) -> str:
    try:
        for name, scenario in _scenarios(place):
            with _experiment_of(name, scenario):
                pass
    except (FaninError, _OtherRunError, *_UNUSABLE):
        for folder in _with_runs(_runs_of(place), out):
            with contextlib.suppress(FaninError):
                _experiment_and_command(folder)
                return "fanin verify --repair makes it again with its experiment"
        return _by_hand(place)
    return "fanin verify --repair simulates it again"


def _by_hand(place: Path) -> str:
    """What makes a run again that does not say what it was."""
    if place.suffix == records.SUFFIX:
        return "run the command that made its runs again and then --repair, or delete the damaged lines"
    return "run the command that made it again, which replaces it, or delete its folder"


def _of_file(path: Path) -> str:
    if path.parent.name == FAILURES:
        return "delete it: the next command tries the run again"
    if path.name == SEARCH_LOG:
        command = "fit" if path.parent.parent.name == FITS else "tune"
        how = "it continues before the damaged line" if path.exists() else "it begins anew, and its runs are kept"
        return f"run the same 'fanin {command}' again: {how}"
    assert path.name == HELD_OUT
    return "restore it from a copy: judgements by held-out experiments cannot be made again"


def _said(command: str) -> str:
    """The command that a folder names: data of the folder, which may be a stranger's, and no advice."""
    with contextlib.suppress(ValueError):
        record.read_command(command)
        return f" (the folder says that it was made by {json.dumps(command)})"
    return ""


def command_of(folder: Path) -> str:
    """The command that makes an experiment's files; empty if it is not known."""
    with contextlib.suppress(ResultsError):
        listed = sums.read_sums(folder)
        if listed is not None:
            return listed.command
    # Its digests are damaged, which makes it likely that the record is not.
    with contextlib.suppress(OSError, ValueError):
        content = sums.loaded(read(folder / CLAIMS))
        if isinstance(content, dict) and isinstance(content.get("command"), str):
            return str(content["command"])
    return ""


def repair(found: Verified, out: Path, say: Callable[[str], None] = lambda _: None) -> dict[Path, str]:
    """Makes again what can be made again: runs first, then experiments, sweeps and the report.

    Args:
        found: What is damaged.
        out: Results folder.
        say: Called with what was done and with what could not be.

    Returns:
        The folders that could not be made again, and why.

    Raises:
        ResultsError: the folder has links that lead out of it.

    """
    refuse_links_out(out)
    left: dict[Path, str] = {}

    def attempt(path: Path, step: Callable[[], object]) -> None:
        try:
            step()
        except FaninError as error:
            left[path] = str(error)
            say(f"{path}: not repaired: {error}")
            return
        left.pop(path, None)
        say(f"{path}: {'made again' if path.exists() or path in runs else 'removed'}")

    folders = {kind: list(dict.fromkeys(each.folder for each in found.damaged if each.kind == kind)) for kind in KINDS}
    runs = {place: _runs_of(place) for place in folders[RUN]}
    for place in runs:
        again = _line_again if place.suffix == records.SUFFIX else _run_again
        attempt(place, functools.partial(again, place))
    lost = {name for place in left for name in runs[place]}
    for folder in dict.fromkeys([*folders[EXPERIMENT], *_with_runs(lost, out)]):
        attempt(folder, functools.partial(_experiment_again, folder))
    for place, names in runs.items():
        with contextlib.suppress(ResultsError):
            store = Store(place.parent.parent)
            _ = [store.read(name) for name in names]
            if place.suffix == records.SUFFIX and names:
                _drop_damaged(place)
            left.pop(place, None)
    for folder in dict.fromkeys(each.folder for each in found.damaged if _is_of_data_set(each)):
        attempt(folder, functools.partial(_sweep_again, folder))
    page = out / REPORT
    if page in folders[FOLDER]:
        attempt(page, functools.partial(html_report.write, out))
    for damage in found.damaged:
        if damage.kind == FILE and damage.path.parent.name == FAILURES:
            attempt(damage.path, damage.path.unlink)
    for folder in dict.fromkeys(path.parent for path in found.leftovers):
        tidy(folder)
    return left


def _is_of_data_set(damage: Damage) -> bool:
    """Whether it is a file of a sweep's folder, and none of its runs."""
    return damage.kind == FOLDER and damage.folder.parent.name == SWEEPS and damage.path.parent == damage.folder


def _data_set(folder: Path) -> DataSet:
    """What a sweep's folder is made of: its rows.

    Raises:
        FaninError: they are damaged.

    """
    with contextlib.suppress(ResultsError, OSError, ValueError):
        listed = sums.read_sums(folder)
        if listed is not None:
            failed = sums.loaded(sums.read_bytes(folder / FAILED)) if FAILED in listed.files else []
            return DataSet(read_head(folder), read_table(folder / ROWS).to_dicts(), failed)
    # A run has a scenario, but neither the label of its variant nor the file's own columns.
    raise ResultsError(f"its runs do not say all that {ROWS} and {HEAD} do; {_MADE_BY[SWEEPS]}")


def _sweep_again(folder: Path) -> None:
    """Makes the folder of a sweep again from its rows.

    Raises:
        FaninError: they are damaged.

    """
    sweep_folder.write(_data_set(folder), folder.parents[1])


def _with_runs(runs: set[str], out: Path) -> list[Path]:
    """The folders of experiments that have any of these runs."""
    found = []
    for folder in sorted(place for place, _, _ in walk(out)) if runs else []:
        with contextlib.suppress(ResultsError):
            known = record.read(folder)
            if known is not None and runs & known.work.each.keys():
                found.append(folder)
    return found


def _run_again(folder: Path) -> None:
    """Simulates a run again, which replaces it.

    Raises:
        FaninError: its scenario is damaged, or belongs to another engine, or the run fails.

    """
    manifest, whole = _manifest(folder)
    name = manifest.get("experiment")
    if "measured" in manifest:
        made = f"'fanin reproduce {name}' makes it again" if whole else _by_hand(folder)
        raise ResultsError(f"it is the measurement of a program; {made}")
    tables = {path.stem for path in folder.glob("*.parquet")} | _tables(manifest)
    made_for = name if isinstance(name, str) else ""
    try:
        _simulate(Store(folder.parent.parent), folder.name, manifest["scenario"], tables, made_for)
    except _OtherRunError:
        other = "its scenario is that of another run with this engine, or without the files that it reads"
        raise ResultsError(f"{other if whole else 'its scenario is damaged'}; {_by_hand(folder)}") from None
    except _UNUSABLE:
        raise ResultsError(f"its manifest has no scenario that can be used; {_by_hand(folder)}") from None


def _line_again(log: Path) -> None:
    """Simulates the runs of a log's damaged lines again.

    Raises:
        FaninError: some of them cannot be simulated.

    """
    with closing(Store(log.parent.parent)) as store:
        for text in _damaged_lines(log):
            _runs_again(text, store, log)


def _drop_damaged(log: Path) -> None:
    with writing(log.parent):
        if not records.drop_damaged(log):
            raise ResultsError("a command is still writing it")


def _runs_again(text: bytes, store: Store, log: Path) -> None:
    try:
        content = sums.loaded(text)
        for (name, scenario), each in zip(_of_line(content), content["each"], strict=True):
            _simulate(store, name, scenario, set(each["tables"]), content["experiment"])
    except (_OtherRunError, *_UNUSABLE):
        raise ResultsError(f"its line does not say what its runs were; {_by_hand(log)}") from None


def _scenarios(place: Path) -> Iterator[tuple[str, Any]]:
    """The id and the scenario of each damaged run in a folder or log, as they are there.

    Raises:
        ResultsError: it is the measurement of a program.

    """
    if place.suffix == records.SUFFIX:
        for text in _damaged_lines(place):
            yield from _of_line(sums.loaded(text))
        return
    manifest, _ = _manifest(place)
    if "measured" in manifest:
        raise ResultsError(f"{place}: the measurement of a program")
    yield place.name, manifest["scenario"]


def _of_line(content: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON
    for name, seed in zip(content["runs"], content["seeds"], strict=True):
        yield name, records.with_seed(content["scenario"], seed)


def _damaged_lines(log: Path) -> list[bytes]:
    with contextlib.suppress(OSError):
        return [text for _, text in records.lines(log) if not records.is_whole(text)]
    return []


def _runs_of(place: Path) -> set[str]:
    """The ids of the damaged runs in a folder or log, as far as they can be read."""
    if place.suffix != records.SUFFIX:
        return {place.name}
    return {name for text in _damaged_lines(place) for name in records.ids_of(text) if is_run_id(name)}


class _OtherRunError(Exception):
    """A scenario is not the one of a run."""


_UNUSABLE = (ScenarioError, KeyError, TypeError, AttributeError, ValueError)
"""What a damaged scenario raises."""


def _simulate(store: Store, name: str, scenario: Any, tables: set[str], made_for: str) -> None:  # noqa: ANN401 - JSON
    """Simulates the run of an id from its scenario, which replaces it.

    Raises:
        _OtherRunError: the id does not follow from the scenario.

    """
    with _experiment_of(name, scenario) as experiment:
        resolved = experiment.resolved()
        output = experiment.simulate([], store=store)
    store.keep([Finished(name, resolved["run"]["seed"], output, tables, folder=False)], resolved, made_for)


@contextlib.contextmanager
def _experiment_of(name: str, scenario: Any) -> Iterator[Experiment]:  # noqa: ANN401 - JSON
    """The experiment whose run has an id, while its file is there.

    Raises:
        _OtherRunError: the id does not follow from the scenario.
        ResultsError: it reads a list of flows that is not found without the folder of its file.

    """
    # Not a key of a scenario, but what was counted in its list of flows.
    traffic = [{key: value for key, value in group.items() if key != "file-lines"} for group in scenario["traffic"]]
    scenario = {**scenario, "traffic": traffic}
    for group in traffic:
        if group["kind"] == "flows" and not Path(group["file"]).is_absolute():
            why = f"it reads the list of flows {group['file']}, relative to the folder of a scenario that is not kept"
            raise ResultsError(f"{why}; run the command that made it again")
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "scenario.toml"
        file.write_text(to_toml(scenario), encoding="utf-8")
        experiment = load(file)
        if run_id(experiment.resolved()) != name:
            raise _OtherRunError
        yield experiment


def _manifest(folder: Path) -> tuple[dict[str, Any], bool]:
    """A run's manifest, and whether it is what was written."""
    with contextlib.suppress(ResultsError):
        return read_manifest(folder).manifest, True
    with contextlib.suppress(OSError, ValueError):
        content = sums.loaded(read(folder / MANIFEST))
        if isinstance(content, dict):
            return content, False
    return {}, False


def _tables(manifest: dict[str, Any]) -> set[str]:
    files = manifest.get("files")
    names = files if isinstance(files, dict) else {}
    return {name.removesuffix(".parquet") for name in names if name.endswith(".parquet")}


def _experiment_again(folder: Path) -> None:
    """Makes an experiment's files again with its command, from its runs as far as they are there.

    Raises:
        FaninError: the command is not known, or not one that may be repeated without asking.

    """
    experiment, said, out = _experiment_and_command(folder)
    (runs,) = sweep_all([experiment], seeds=said.seeds, out=out, quick=said.quick)
    judge_and_draw(whole(runs), out, quick=said.quick, png=said.png)


def _experiment_and_command(folder: Path) -> tuple[Experiment, record.Repeated, Path]:
    """The experiment of a folder, the command that makes it again, and the results folder.

    Raises:
        FaninError: the command is not known, or not one that may be repeated without asking.

    """
    command = command_of(folder)
    try:
        said = record.read_command(command)
    except ValueError:
        raise ResultsError("the command that made it is not known; run its 'fanin reproduce' again") from None
    experiment = load(said.name, said.changes)
    depth = len(Path(experiment.name).parts)
    out = folder.parents[depth - 1]
    # A stranger's changes are not simulated in the place of the experiment as it is.
    is_here = apart(together(out), list(said.changes)) == out
    if not is_here or (out / experiment.name).resolve() != folder.resolve():
        raise ResultsError("the command that it names makes another folder")
    if experiment.document.benchmark is not None:
        raise ResultsError("it measures a program, which is not started again without a question")
    return experiment, said, out

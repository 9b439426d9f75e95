"""``fanin verify``: whether results are what was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fanin.cli.options import JsonOption
from fanin.cli.terminal import counting, keeping, note, print_json, print_table, say
from fanin.errors import ResultsError

if TYPE_CHECKING:
    from fanin.results.verify import Verified

_MOST = 5
"""How many files without a digest are listed individually."""

_MEGA = 10**6


def verify(
    out: Annotated[Path, typer.Argument(help="Results folder.")] = Path("results"),
    repair: Annotated[
        bool, typer.Option("--repair", help="Simulate damaged runs again, and make again what can be made of them.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Compare every file of a results folder with the digest that was written with it, and name what is damaged.

    Runs have their digests in manifest.json, other folders in SHA256SUMS (`sha256sum -c` reads it, too);
    records of failed runs and logs of searches carry their own. Other commands compare a file when they read it.

    With --repair, damaged runs are simulated again from their scenarios, the files of an experiment are made again with
    the command that made them, and so is the report. The folder of a sweep is made again from its runs.parquet,
    sweep.json and failed.json; a run does not say all that its row does.
    For the rest, the output names what makes it again. Leftovers of
    killed commands are removed once they are an hour old.

    Exit code 1 means that something is damaged and was not repaired, and 3 that there was nothing to compare.

    --json prints one object: {folder, files, damaged: [{file, why, kind, remedy, repaired}], leftovers, unchecked}.
    kind is run, experiment, folder or file; unchecked lists files without a digest, which fanin did
    not write.

    **Examples**

    - `fanin verify`
    - `fanin verify /data/results --json`
    - `fanin verify --repair`
    """
    from fanin.results import verify as check
    from fanin.show import repair as again

    found = _checked(out)
    if not (found.files or found.damaged or found.leftovers):
        raise ResultsError(f"{out}: nothing was compared, as no file in it has a digest that fanin wrote")
    left = found
    remedies = {damage.path: again.remedy(damage, out) for damage in found.damaged}
    if repair and (found.damaged or found.leftovers):
        with keeping("what was repaired is kept"):
            failed = again.repair(found, out, note)
        left = check.verify(out)
        for damage in left.damaged:
            remedies[damage.path] = failed.get(damage.folder) or again.remedy(damage, out)
    damaged = {damage.path for damage in left.damaged}
    if json:
        rows = [
            {**damage.as_dict(), "remedy": remedies[damage.path], "repaired": damage.path not in damaged}
            for damage in found.damaged
        ]
        others = {name: [str(path) for path in getattr(left, name)] for name in ("leftovers", "unchecked")}
        print_json({"folder": str(out), "files": found.files, "damaged": rows, **others})
    else:
        _print(found, left, remedies)
    if damaged:
        raise typer.Exit(1)


def _checked(out: Path) -> Verified:
    from fanin.results.verify import verify as check
    from fanin.run.job import Progress

    told = -1
    with counting("megabytes compared") as counter:

        def advance(done: int, total: int) -> None:
            nonlocal told
            whole = -(-total // _MEGA)
            done = whole if done == total else done // _MEGA
            if done > told:
                told = done
                counter.advance(Progress(done, whole))

        return check(out, advance)


def _print(found: Verified, left: Verified, remedies: dict[Path, str]) -> None:
    damaged = {damage.path for damage in left.damaged}
    if found.damaged:
        rows = [
            [str(each.path), each.why, remedies[each.path] if each.path in damaged else "repaired"]
            for each in found.damaged
        ]
        print_table("Damaged files", ["file", "why", "what makes it again"], rows)
    for path in left.leftovers:
        note(f"leftover of a command that was killed, or that is still writing: {path}")
    for path in left.unchecked[:_MOST]:
        note(f"without a digest: {path}")
    if len(left.unchecked) > _MOST:
        note(f"without a digest: {len(left.unchecked) - _MOST} more")
    repaired = len(found.damaged) - sum(each.path in damaged for each in found.damaged)
    some = f", {repaired} of them repaired" if repaired else ""
    say(f"{found.files} files compared, {len(found.damaged)} damaged{some}")

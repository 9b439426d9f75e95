"""``fanin claims``: the ledger of published claims and their verdicts."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fanin.cli import completion
from fanin.cli.options import JsonOption, OutOption
from fanin.cli.terminal import note, print_json, print_table, say

if TYPE_CHECKING:
    from fanin.claims.ledger import Entry, Standing


def claims(
    paper: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completion.papers,
            help="A paper such as sdtcp, or an experiment such as sdtcp/fig9; all if left out.",
        ),
    ] = None,
    verdict: Annotated[
        list[str] | None,
        typer.Option(
            "--verdict",
            autocompletion=completion.verdicts,
            help="Only these: reproduced, direction-only, not-reproduced or not-run.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", help="Write the ledger as pages of documentation (Markdown): this one, and one per paper."
        ),
    ] = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Show the claims ledger: what the papers say, what came out here, and the verdict on each claim.

    Reads what `fanin reproduce` left in OUT and simulates nothing; a claim that was not judged yet is "not run", with
    the command that runs it. Verdicts of another engine, or of another version of the experiment's file, are marked
    stale. --json prints an array of {id, says, published, ours, interval, verdict, reason, paper, figure, experiment,
    reading, note, added, number, state, command}: numbers in SI units, null where there is none or it is infinite;
    number says what is compared, such as a mean, Kendall's tau, or whose mean divides; added what had been seen when
    the claim was written, nothing if its range was fixed before the first run; verdict is "reproduced", "direction
    only", "not reproduced" or "not run"; state is that of the experiment, as in `fanin list experiments`.

    **Examples**

    - `fanin claims`
    - `fanin claims sdtcp --verdict not-reproduced --verdict not-run`
    - `fanin claims sdtcp/fig9 --json`
    - `fanin claims --page docs/papers/claims.md`
    """
    from fanin.claims import ledger

    wanted = _verdicts(verdict or [])
    standings = ledger.chosen(ledger.standings(out), paper)
    for each in standings:
        if each.state == "invalid":
            note(f"warning: {each.key}: {each.note}")
    entries = [entry for each in standings for entry in each.entries if not wanted or entry.verdict in wanted]
    if page is not None:
        from fanin.show import claims_page

        for path in claims_page.write(page, standings, wanted):
            note(str(path))
        note(f"{len(entries)} claims")
    if json:
        print_json([entry.as_dict() for entry in entries])
    elif page is None:
        _print(entries, standings)


def _verdicts(names: list[str]) -> set[str]:
    from fanin.claims.ledger import STATUSES

    wanted = {name.replace("-", " ") for name in names}
    if unknown := wanted - set(STATUSES):
        choices = ", ".join(status.replace(" ", "-") for status in STATUSES)
        raise typer.BadParameter(f"{', '.join(sorted(unknown))}: not one of {choices}", param_hint="--verdict")
    return wanted


def _print(entries: list[Entry], standings: list[Standing]) -> None:
    from fanin.claims.ledger import STATUSES

    for paper, group in groupby(entries, key=lambda entry: entry.paper):
        of_paper = list(group)
        header = ["claim", "says", "number", "published", "ours", "95 % interval", "verdict"]
        print_table(f"Claims of {paper or 'other experiments'}", header, (_row(entry) for entry in of_paper))
        for entry in of_paper:
            say(f"{entry.verdict}: {entry.id}: {entry.reason}")
        say()
    counts = ", ".join(f"{sum(entry.verdict == status for entry in entries)} {status}" for status in STATUSES)
    say(f"claims: {counts}")
    doubtful = {state: [each for each in standings if each.state == state and each.entries] for state in _DOUBTS}
    for state, experiments in doubtful.items():
        if experiments:
            note(f"{_DOUBTS[state]}: {', '.join(each.key for each in experiments)}")


_DOUBTS = {
    "stale": "stale, run them again",
    "quick": "judged on a quick look, provisional",
    "partial": "judged on some of the runs, or not yet",
}
"""State of an experiment -> what to know about its verdicts."""


def _row(entry: Entry) -> list[str]:
    shown = entry.shown
    return [entry.id, entry.says, shown.quantity, shown.published, shown.value, shown.interval, entry.marked]

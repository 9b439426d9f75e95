"""``fanin claims``: the ledger of published claims and their verdicts."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fanin.claims import sentences
from fanin.claims.verdicts import EDGE, VERDICTS, explained
from fanin.cli import tab_completion
from fanin.cli.options import JsonOption, OutOption
from fanin.cli.terminal import note, print_json, print_table, reading, say, say_wrapped
from fanin.errors import NotFoundError

if TYPE_CHECKING:
    from fanin.claims.sentences import Sentence
    from fanin.claims.standing import Standing


def claims(
    paper: Annotated[
        str | None,
        typer.Argument(
            autocompletion=tab_completion.papers,
            help="A paper such as sdtcp, an experiment such as sdtcp/fig9, or its file; all if left out.",
        ),
    ] = None,
    verdict: Annotated[
        list[str] | None,
        typer.Option(
            "--verdict",
            autocompletion=tab_completion.verdicts,
            help=f"Show only this verdict: {', '.join(word.slug for word in VERDICTS)}; may be repeated.",
        ),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Print all cases of each claim.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            help="Write the sentences with their verdicts to this file, as Markdown.",
        ),
    ] = None,
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Show the claims ledger: the papers' claims, our numbers, and the verdict on each claim.

    A claim is one sentence of a paper. Each claim has a line: the sentence, the verdict, the printed number and ours.
    The line ends with the condition under which the sentence holds, or in short why it does not. The words of the
    verdicts are explained below the table. The summary counts sentences.

    --details prints all cases of each claim, with intervals and reasons. There is a case for each setting under which
    the claim was judged, such as a reading of the paper.

    This command reads the results of `fanin reproduce` in OUT and simulates nothing. A claim that has not been judged
    is "not run", and --details names the command that runs it. Verdicts from another version of the engine or of the
    experiment's file are marked stale.

    --json prints an array of {id, says, verdict, condition, rests_on, settings_tried, published, ours, interval,
    outcome, basis, environment, distance, at_edge, reason, paper, figure, experiment, reading, note, added, number,
    state, command, same_as, half_of, impossible, cases, repeats}. The page `docs/reference/output.md` defines each key.

    **Examples**

    - `fanin claims`
    - `fanin claims sdtcp --verdict not-found --verdict impossible`
    - `fanin claims --details sdtcp/fig9`
    - `fanin claims sdtcp/fig9 --json`
    - `fanin claims --page claims.md`
    """
    from fanin.claims import ledger

    wanted = _verdicts(verdict or [])
    every = ledger.standings(out, advance=reading("experiments read"))
    standings = _of_file(paper, every) if paper and paper.endswith(".toml") else ledger.chosen(every, paper)
    for each in standings:
        if each.state == "invalid":
            note(f"warning: {each.key}: {each.note}")
    found = [claim for each in standings for claim in each.claims if not wanted or claim.verdict in wanted]
    for claim in found:
        if claim.contradiction:
            note(f"warning: {claim.contradiction}")
    if page is not None:
        from fanin.show import claims_page, page_data

        index = page_data.index(standings, [], ranked=False)
        command = f"fanin claims --page {page.as_posix()}"
        claims_page.write(page, index, command, wanted)
        note(str(page))
        note(_tally(found))
    if json:
        print_json([claim.as_dict() for claim in found])
    elif page is None:
        _print(found, standings, details=details)


def _of_file(file: str, every: list[Standing]) -> list[Standing]:
    """The experiment of a file.

    Raises:
        NotFoundError: there is no such file, or it has no results.

    """
    from fanin.scenario import library

    key, _ = library.find(file)
    found = [each for each in every if each.key == key]
    if not found:
        raise NotFoundError(f"{file}: no results; run fanin reproduce {file}")
    return found


def _verdicts(names: list[str]) -> set[str]:
    known = {word.slug: word.name for word in VERDICTS}
    if unknown := set(names) - set(known):
        message = f"{', '.join(sorted(unknown))}: not one of {', '.join(known)}"
        raise typer.BadParameter(message, param_hint="--verdict")
    return {known[name] for name in names}


def _print(found: list[Sentence], standings: list[Standing], *, details: bool) -> None:
    from fanin.claims.standing import known_as

    left_out: list[str] = []
    for paper, group in groupby(found, key=lambda claim: claim.paper):
        title = f"Claims of {known_as(paper) or 'other experiments'}"
        if details:
            _print_cases(title, list(group))
        else:
            header = _HEADER if paper else ["expected" if each == "printed" else each for each in _HEADER]
            left_out = print_table(title, header, (_line(claim) for claim in group), spare=_HEADER[-1:])
        say()
    if left_out:
        note("the condition of each verdict needs a wider terminal, or --details")
    for name, what in explained([claim.marked + claim.late_mark for claim in found]):
        say_wrapped(f"{name}: {what}")
    say(_tally(found))
    doubtful = {state: [each for each in standings if each.state == state and each.claims] for state in _DOUBTS}
    for state, experiments in doubtful.items():
        if experiments:
            note(f"{_DOUBTS[state]}: {', '.join(each.key for each in experiments)}")


_HEADER = ["sentence", "verdict", "printed", "ours", "condition"]


def _line(claim: Sentence) -> list[str]:
    printed, ours = claim.shown.published, claim.shown.value
    return [claim.quote, f"{claim.marked}{claim.late_mark}", printed, ours, claim.condition]


def _print_cases(title: str, claims: list[Sentence]) -> None:
    header = ["claim", "says", "number", "published", "ours", "95 % interval", "verdict", "cases reproduced"]
    print_table(title, header, (_row(claim) for claim in claims))
    for claim in claims:
        say(f"{claim.said}: {claim.id}{f': {claim.rests_on}' if claim.rests_on else ''}")
        for case in claim.cases:
            edge = EDGE if case.at_edge else ""
            say(f"    {case.outcome}{edge}: {case.name}: {case.reason}")


def _tally(found: list[Sentence]) -> str:
    return sentences.tally([(claim, claim.verdict) for claim in found])


_DOUBTS = {
    "stale": "stale, run again",
    "quick": "provisional, judged on a quick look",
    "partial": "incomplete, judged on some of the runs or not yet",
}
"""State of an experiment -> warning about its verdicts."""


def _row(claim: Sentence) -> list[str]:
    shown = claim.cases[claim.decides].shown
    numbers = [shown.quantity, shown.published, shown.value, shown.interval]
    reproduced = sum(case.outcome == "reproduced" for case in claim.cases)
    return [claim.id, claim.says, *numbers, claim.marked, f"{reproduced} of {len(claim.cases)}"]

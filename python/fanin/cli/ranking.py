"""``fanin ranking``: all systems on the same traffic, ranked regime by regime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fanin.cli import tab_completion
from fanin.cli.options import JsonOption, MarginOption, OutOption, margin_of
from fanin.cli.terminal import note, print_json, print_table

if TYPE_CHECKING:
    from fanin.choose.ranking import Ranking


def ranking(
    name: Annotated[
        str,
        typer.Argument(
            autocompletion=tab_completion.papers, help="A folder of experiments such as cross, or one experiment."
        ),
    ] = "cross",
    page: Annotated[Path | None, typer.Option("--page", help="Write the ranking to this file, as Markdown.")] = None,
    margin: MarginOption = "1%",
    out: OutOption = Path("results"),
    json: JsonOption = False,
) -> None:
    """Rank all systems on the same traffic, one regime after the other.

    Reads the results of `fanin reproduce` in OUT and simulates nothing. Systems are ranked by the goodput of their
    queries. Two systems tie if the interval of their difference contains zero, or the difference is less than --margin.

    --json prints an array of {experiment, state, axes, criterion, regimes: [{regime, places: [{system, rank,
    share_of_best, unfinished, seeds, measures: {column: {mean, half, low, high}}}]}]}. Places are in order, the best
    first; an undecided rank is null, and half is half of the 95 % interval of a mean.

    **Examples**

    - `fanin ranking`
    - `fanin ranking cross/rack-10g --json`
    - `fanin ranking --page docs/papers/ranking.md`
    """
    from fanin.choose import ranking as rank

    rankings, missing = rank.read(out, name, margin_of(margin), any_engine=page is not None)
    for each in [*(ranking.standing for ranking in rankings), *missing]:
        if each.state != "complete":
            note(f"warning: {each.key}: {each.says}: {each.note}".rstrip(": "))
    if page is not None:
        from fanin.show import ranking_page

        ranking_page.write(page, rankings, name, missing)
        note(str(page))
    if json:
        print_json([_as_dict(ranking) for ranking in rankings])
    elif page is None:
        for ranking in rankings:
            _print(ranking)


def _as_dict(ranking: Ranking) -> dict[str, object]:
    from fanin.choose.ranking import CRITERION

    return {
        "experiment": ranking.standing.key,
        "state": ranking.standing.state,
        "axes": ranking.axes,
        "criterion": CRITERION,
        "regimes": [regime.as_dict() for regime in ranking.regimes],
    }


def _print(ranking: Ranking) -> None:
    from fanin.choose import ranking as rank
    from fanin.choose.ranking import CRITERION

    header = [*map(rank.axis_name, ranking.axes), "best", rank.heading(CRITERION), "ties with it"]
    rows = (
        [
            *map(str, regime.where.values()),
            regime.best[0].system,
            rank.shown(CRITERION, regime.best[0].values[CRITERION]),
            ", ".join(place.system for place in regime.best[1:]) or "-",
        ]
        for regime in ranking.regimes
    )
    print_table(ranking.standing.title or ranking.standing.key, header, rows)

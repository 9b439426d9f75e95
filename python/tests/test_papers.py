"""A quick look at a sample of each paper's figures: the ledger's shape, and what physics or a definition demands.

Published numbers are judged by the ledger, and by no test: a test would turn them into targets.
"""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from patches import stored

from fanin.claims import ledger
from fanin.claims.standing import Standing
from fanin.claims.verdicts import OUTCOMES, names
from fanin.cli import main
from fanin.numbers.units import quantity
from fanin.registry import scheme_row
from fanin.results.frames import read_table
from fanin.run.scenario import Scenario
from fanin.scenario import library
from fanin.scenario.format.claim import cases

SAMPLE = {
    "dtcwa": ["dtcwa/fig4"],
    "pfdct": ["pfdct/eq5", "pfdct/table2"],
    "rcc": ["rcc/abs"],
    "rcc-code": ["rcc/code-incast"],
    "rcce": ["rcce/fig4b"],
    "sdtcp": ["sdtcp/capacity", "sdtcp/fig13"],
}


class Quick(NamedTuple):
    """What the commands left and said."""

    out: Path
    standings: list[Standing]
    entries: list[dict]

    def runs(self, experiment: str) -> pl.DataFrame:
        return read_table(self.out / experiment / "runs.parquet")


@pytest.fixture(scope="module")
def quick(tmp_path_factory) -> Quick:
    """The sample, run once for all tests."""
    out = tmp_path_factory.mktemp("papers") / "results"
    chosen = [key for keys in SAMPLE.values() for key in keys]
    try:
        main(["reproduce", *chosen, "--quick", "--out", str(out)])
    except SystemExit as exit_:
        assert not exit_.code
    standings = [each for each in ledger.standings(out) if each.record is not None]
    assert sorted(each.key for each in standings) == sorted(chosen)
    return Quick(
        out, standings, [case for each in standings for claim in each.claims for case in claim.cases_as_dicts()]
    )


def test_every_paper_is_in_the_sample():
    experiments = library.experiments()
    papers = {Scenario.named(key, experiments[key]).document.paper for key in library.chosen([], every=True)}
    assert set(SAMPLE) == papers


def test_every_claim_has_what_the_ledger_promises(quick):
    assert {entry["paper"] for entry in quick.entries} == set(SAMPLE)
    assert len({entry["id"] for entry in quick.entries}) == len(quick.entries)
    for entry in quick.entries:
        assert {"id", "says", "published", "ours", "interval", "outcome", "reason"} <= set(entry)
        assert entry["id"].startswith(f"{entry['experiment']}/")
        assert entry["says"].strip()
        assert entry["published"] is None or isinstance(entry["published"], float | int | str)
        assert entry["ours"] is None or math.isfinite(entry["ours"])
        assert entry["interval"] is None or len(entry["interval"]) == 2
        assert entry["outcome"] in names(OUTCOMES)
        assert entry["outcome"] == "reproduced" or entry["reason"].strip()
    json.dumps(quick.entries, allow_nan=False)


def test_outcomes_are_those_of_the_accepted_ranges(quick):
    for standing in quick.standings:
        for judged in standing.record.cases:
            low, high = judged.accept
            if judged.value is not None and judged.outcome != "not judged":
                inside = (low is None or low <= judged.value) and (high is None or judged.value <= high)
                assert inside == (judged.outcome == "reproduced"), judged.id


def test_no_goodput_exceeds_the_link(quick):
    """Each of these networks has one receiver, or one link to all of them."""
    runs = [run for run in stored(quick.out).values() if run.measured is None]
    assert len(runs) > 100
    for run in runs:
        rate, _ = quantity(run.scenario["network"]["rate"])
        assert run.summary["goodput_bps"] <= rate, run.run_id


def test_rcc_loses_nothing_up_to_100_senders(quick):
    """Its window and its scheduler keep less in the queue than the buffer holds."""
    runs = quick.runs("rcc/code-incast").filter(system="RCC")
    assert runs["traffic.incast.senders"].max() == 100
    assert runs["drops"].sum() == 0


@pytest.mark.parametrize(("port", "lost"), [("120000B", 0), ("80pkt", 19)])
def test_rcc_does_not_hold_syns_back(port, lost, tmp_path, capsys):
    """All of them meet at the port, which is full of them if it counts packets."""
    chosen = {"transport.scheme": "rcc", "traffic.incast.senders": 100, "network.buffer": port}
    with contextlib.suppress(SystemExit):
        main(
            [
                "run",
                "rcc/abs",
                *(f"--set={key}={value}" for key, value in chosen.items()),
                "--json",
                f"--out={tmp_path}",
            ]
        )
    summary = json.loads(capsys.readouterr().out)
    assert (summary["drops"], summary["timeouts_syn"]) == (lost, lost)
    assert summary["queue_max_packets"] == (81 if lost else 100)


def test_dctcp_loses_less_than_tcp_of_20_senders(quick):
    together = quick.runs("rcc/code-incast").filter(starts="together").filter(pl.col("traffic.incast.senders") == 20)
    drops = dict(together.group_by("system").agg(pl.col("drops").mean()).iter_rows())
    assert drops["DCTCP"] < drops["TCP"]


def test_buffer_and_path_hold_116_packets_of_sdtcps_flows(quick):
    """SDTCP 5.2.1: N* = B + C RTT, so that 116 flows of one segment lose nothing, and enough more lose some.

    How many more depends on the seed, as not every flow has its segment on the way at every moment.
    """
    runs = quick.runs("sdtcp/capacity")
    holds = 100 + 1e9 * 198e-6 / (8 * 1500)
    lost = dict(runs.group_by("flows").agg(pl.col("late_drops").sum()).iter_rows())
    assert min(lost) < holds < max(lost)
    assert not any(drops for flows, drops in lost.items() if flows <= holds)
    assert lost[130] > 0


@pytest.mark.parametrize("paper", ["dtcwa", "pfdct", "rcc", "rcce", "sdtcp"])
def test_a_papers_page_answers_whether_to_use_it_and_can_be_read_to_its_end(paper):
    page = (Path(__file__).parents[2] / f"docs/papers/{paper}.md").read_text(encoding="utf-8")
    first, *sections = page.split("\n## ")
    assert first.startswith("# ")
    assert first.splitlines()[0].endswith(": should you use it?")
    answer, table = first.split("\n| they say | you get | if |\n")
    assert "\n**" in answer
    assert 6 <= table.split("\n\n")[0].count("\n| ") <= 9
    assert "\n![" in table
    headings = [each.splitlines()[0] for each in sections]
    wanted = ["What carries the effect", "What is impossible", "What we doubt", "How it was tested", "Every sentence"]
    assert headings[-len(wanted) :] == wanted
    assert len(page.splitlines()) <= _LONGEST_PAGE


_LONGEST_PAGE = 150
"""Lines of the page of a paper, half of them a line for each of its sentences."""


def test_what_fanin_explains_of_pfdct_does_not_contradict_its_page():
    page = (Path(__file__).parents[2] / "docs/papers/pfdct.md").read_text(encoding="utf-8")
    manual = " ".join(scheme_row("pfdct")["manual"].split())
    assert "- **The bands, since 3.34 only.**" in page
    assert "- **Not the moving threshold.**" in page
    assert "the moving threshold does not carry what PFDCT gains. The bands do only in ns-3 since 3.34" in manual


def test_table_2_of_pfdct_is_the_script_of_ns3s_example_within_a_tenth():
    document = Scenario.named("pfdct/table2", library.experiments()["pfdct/table2"]).document
    fct = next(plot for plot in document.plot if plot.id == "fct")
    for printed in fct.published:
        for flows, seconds in zip(printed.x, printed.y, strict=True):
            begun = min(flows, sum(0.105 * i < 5 for i in range(100)))
            assert 0.9 <= seconds / (5 - 0.105 * (begun - 1) / 2) < 1


def test_words_of_pfdct_that_its_own_tables_refute_are_not_judged_by_runs():
    """Each bound of such a word excludes what the table prints, and a claim of the printed size is there."""

    def claim(name):
        file, _, wanted = name.partition("#")
        document = Scenario.named(f"pfdct/{file}", library.experiments()[f"pfdct/{file}"]).document
        index, found = next((at, each) for at, each in enumerate(document.claim) if each.id == wanted)
        return found, cases(index, document.claim, document.claims)

    fct, throughput = 2.781 / 2.834, 998.89 / 972.69  # PFDCT and DCTCP, the best of the others: Tables 2 and 3
    sizes = {
        "abs1#fct": (fct, "table2#average-over-dctcp"),
        "fig7a#much-better": (fct, "table2#average-over-dctcp"),
        "abs1#throughput": (throughput, "fig10#over-dctcp"),
    }
    for word, (printed, size) in sizes.items():
        sentence, judged = claim(word)
        assert sentence.impossible.startswith("its own table contradicts the word")
        assert {case.basis for case in judged} == {"sensitivity"}
        assert not any(case.accept[0] <= printed <= case.accept[1] for case in judged)
        counted = [case for case in claim(size)[1] if case.basis != "sensitivity"]
        assert counted
        assert all(case.accept[0] <= printed <= case.accept[1] for case in counted)


def test_the_demo_explains_every_entry_of_its_legend():
    plots = Scenario.named("sdtcp/fig9", library.experiments()["sdtcp/fig9"]).document.plot
    assert plots
    for plot in plots:
        for label in plot.where["system"]:
            assert f"{label}: " in plot.note

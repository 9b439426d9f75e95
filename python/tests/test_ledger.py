import base64
import hashlib
import html
import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fanin.claims import assessment, ledger, record, sentences, standing
from fanin.errors import ResultsError
from fanin.results import cache
from fanin.scenario import library, toml_text
from fanin.show import front_end, html_report, page_figures

KEYS = {"id", "says", "published", "ours", "interval", "verdict", "outcome", "basis", "rests_on", "reason"}


@pytest.fixture
def figures(work, monkeypatch):
    """Two papers of one's own: one figure of each, and a second one that shows the runs of the first.

    Of the shipped experiments there is one: to list all takes seconds, and other tests do.
    """
    shipped = work / "shipped/sdtcp"
    shipped.mkdir(parents=True)
    shutil.copy(library.experiments()["sdtcp/fig9"], shipped)
    monkeypatch.setattr(library, "_ROOTS", (work / "shipped", Path("experiments")))
    text = (work / "small.toml").read_text()
    (work / "small.toml").unlink()
    for paper, figure in (("alpha", "fig2"), ("beta", "fig1")):
        path = work / "experiments" / paper / f"{figure}.toml"
        path.parent.mkdir(parents=True)
        path.write_text(f'paper = "{paper}"\nfigure = "Fig. {figure[3:]}"\n' + text.replace("1..3", "1..2"))
    more = text[text.index("[[plot]]") :].replace("some-goodput", "more-goodput")
    (work / "experiments/alpha/fig10.toml").write_text(f'paper = "alpha"\nruns-of = "alpha/fig2"\n{more}')
    return work


def rows(cli, *arguments):
    result = cli("claims", *arguments, "--json")
    assert result.code == 0, result.err
    return {entry["id"]: entry for entry in json.loads(result.out)}


def states(cli):
    return {entry["key"]: entry for entry in json.loads(cli("list", "experiments", "--json").out)}


def test_a_claim_that_was_not_run_says_what_runs_it(cli, figures):
    entry = rows(cli)["alpha/fig2/some-goodput"]
    assert set(entry) > KEYS
    assert (entry["verdict"], entry["ours"], entry["interval"]) == ("not run", None, None)
    assert entry["published"] == 9e8
    assert entry["number"] == "largest: Goodput of all flows"
    assert "fanin reproduce alpha/fig2" in entry["reason"]
    assert states(cli)["alpha/fig2"]["state"] == "never run"


def test_every_shipped_claim_is_in_the_ledger(cli, work):
    documents = {key: record.Scenario.named(key, path).document for key, path in library.experiments().items()}
    found = rows(cli)
    assert set(found) == {f"{key}/{claim.id}" for key, each in documents.items() for claim in each.claim}
    assert len({*found}) == len(json.loads(cli("claims", "--json").out))
    cases = [case["id"] for entry in found.values() for case in entry["cases"]]
    assert sorted(cases) == sorted(f"{key}/{case.id}" for key, each in documents.items() for case in each.cases)


def test_a_sentence_that_counts_elsewhere_is_there(cli, work):
    found = rows(cli)
    again = {entry["same_as"].replace("#", "/") for entry in found.values() if entry["same_as"]}
    assert again
    assert again <= set(found)
    repeating = sum(bool(entry["same_as"]) for entry in found.values())
    halves = sum(bool(entry["half_of"]) for entry in found.values())
    counted = len(found) - repeating - halves
    forbidden = sum(entry["verdict"] == "impossible" and not entry["same_as"] for entry in found.values())
    verdicts = f"{forbidden} impossible; {counted - forbidden} not run"
    tally = f"{counted} sentences: {verdicts} ({repeating} more repeat a sentence"
    assert cli("claims").out.splitlines()[-1].startswith(tally)
    assert cli("claims", "--page", "page.md").err.splitlines()[-1].startswith(tally)
    listed = json.loads(cli("list", "experiments", "--json").out)
    assert sum(each["claims"]["total"] for each in listed) == counted


def test_the_ledger_says_what_reproduce_said(cli, figures):
    said = json.loads(cli("reproduce", "alpha/fig2", "--json").out)["experiments"][0]["claims"][0]
    entry = rows(cli)["alpha/fig2/some-goodput"]
    assert {key: entry[key] for key in ("verdict", "outcome", "reason", "published", "interval")} == {
        key: said[key] for key in ("verdict", "outcome", "reason", "published", "interval")
    }
    assert entry["ours"] == said["value"]
    assert entry["state"] == "complete"
    assert "920" not in entry["says"]
    assert "reproduced: alpha/fig2/some-goodput" in cli("claims", "alpha", "--details").out


def test_a_sentence_has_a_line_and_all_cases_in_detail(cli, figures):
    cli("reproduce", "alpha/fig2", "--quick")
    lines = cli("claims", "alpha/fig2", "--tsv").out.splitlines()
    assert lines[1].split("\t") == ["sentence", "verdict", "printed", "ours", "condition"]
    (said,) = [line for line in lines if "Something arrives." in line]
    quote, verdict, printed, ours, condition = said.split("\t")
    assert quote.endswith(": Something arrives.")
    assert (verdict, printed) == ("under a condition (quick)", "900 Mbit/s")
    assert ours.endswith("Mbit/s")
    assert condition.startswith("if ")
    assert "under a condition: it holds if a choice that the paper leaves open is made as the condition says." in lines
    assert not any(line.startswith("not found: ") for line in lines)
    (entry,) = rows(cli, "alpha/fig2").values()
    assert entry["condition"] == condition
    details = cli("claims", "alpha/fig2", "--details", "--tsv").out
    assert all(f"    {case['outcome']}: {case['id']}: " in details for case in entry["cases"])


def test_papers_figures_and_verdicts_are_filters(cli, figures):
    cli("reproduce", "alpha/fig2", "--quick")
    assert set(rows(cli, "alpha")) == {"alpha/fig2/some-goodput", "alpha/fig10/more-goodput"}
    assert set(rows(cli, "alpha/fig10")) == {"alpha/fig10/more-goodput"}
    assert set(rows(cli, "alpha", "--verdict", "under-a-condition")) == {"alpha/fig2/some-goodput"}
    assert set(rows(cli, "alpha", "--verdict", "not-run")) == {"alpha/fig10/more-goodput"}
    assert len(rows(cli, "alpha", "--verdict", "not-run", "--verdict", "under-a-condition")) == 2
    assert cli("claims", "--verdict", "perhaps").code == 2
    unknown = cli("claims", "alhpa")
    assert unknown.code == 3
    assert 'did you mean "alpha"' in unknown.err


def test_a_program_is_shown_by_its_name(cli, work):
    for command in (["claims", "rcc-code"], ["list", "experiments", "rcc-code"]):
        assert "the program of RCC's authors (rcc-code)" in " ".join(cli(*command).out.split())


def test_the_list_of_experiments_knows_how_far_they_are(cli, figures):
    assert [key for key in states(cli) if key.startswith("alpha")] == ["alpha/fig2", "alpha/fig10"]
    cli("reproduce", "alpha/fig2", "--quick")
    assert states(cli)["alpha/fig2"]["state"] == "quick"
    # Its runs are those of the other figure, but nobody has judged them.
    other = states(cli)["alpha/fig10"]
    assert (other["state"], other["runs"], other["of"]) == ("never run", 6, 12)
    assert "never run; other experiments have 6 of its 12 runs" in cli("list", "experiments", "alpha").out
    assert "alpha/fig10" not in cli("claims").err
    cli("reproduce", "alpha/fig2", "--seeds", "1")
    assert (states(cli)["alpha/fig2"]["state"], states(cli)["alpha/fig2"]["runs"]) == ("partial", 6)
    cli("reproduce", "alpha/fig2")
    found = states(cli)["alpha/fig2"]
    assert found["state"] == "complete"
    assert "beta" not in cli("list", "experiments", "alpha").out
    assert cli("list", "schemes", "alpha").code == 2
    never = next(line for line in cli("list", "experiments").out.splitlines() if line.startswith("beta/fig1"))
    assert "0 of" not in never
    assert {name: count for name, count in found["claims"].items() if count} == {"total": 1, "under_a_condition": 1}
    text = cli("list", "experiments").out
    assert "complete" in text
    assert "1 of 1" in text
    assert "ago" in text


def test_a_quick_look_leaves_a_full_run_as_it_is(cli, figures):
    cli("reproduce", "alpha/fig2")
    before = {path: path.read_bytes() for path in (figures / "results/alpha/fig2").iterdir()}
    quick = cli("reproduce", "alpha/fig2", "beta/fig1", "--quick", "--json")
    assert "alpha/fig2: already has a full run (12 runs, " in quick.err
    assert "--quick skips it" in quick.err
    found = json.loads(quick.out)
    assert ([each["experiment"] for each in found["experiments"]], found["kept"]) == (["beta/fig1"], ["alpha/fig2"])
    assert {path: path.read_bytes() for path in (figures / "results/alpha/fig2").iterdir()} == before
    assert (states(cli)["alpha/fig2"]["state"], states(cli)["beta/fig1"]["state"]) == ("complete", "quick")
    # Of another file, there is no full run.
    file = figures / "experiments/alpha/fig2.toml"
    file.write_text(file.read_text().replace("[2, 8, 24]", "[2, 8]"))
    assert json.loads(cli("reproduce", "alpha/fig2", "--quick", "--json").out)["kept"] == []
    assert states(cli)["alpha/fig2"]["state"] == "quick"


def test_an_interrupted_sweep_is_partly_there(cli, figures):
    cli("reproduce", "beta/fig1", "--seeds", "1")
    (figures / "results/beta/fig1/claims.json").unlink()
    found = states(cli)["beta/fig1"]
    assert (found["state"], found["runs"], found["of"]) == ("partial", 6, 12)
    assert "6 of 12 runs, not judged" in cli("list", "experiments").out


def test_verdicts_of_another_file_or_engine_are_stale(cli, figures):
    cli("reproduce", "alpha/fig2", "--quick")
    file, path = figures / "experiments/alpha/fig2.toml", figures / "results/alpha/fig2/claims.json"
    file.write_text("# A comment changes nothing.\n" + file.read_text())
    assert states(cli)["alpha/fig2"]["state"] == "quick"
    file.write_text(file.read_text().replace("[2, 8, 24]", "[2, 8]"))
    stale = rows(cli)["alpha/fig2/some-goodput"]
    assert (stale["state"], stale["outcome"]) == ("stale", "reproduced")
    assert "rerun: fanin reproduce alpha/fig2" in stale["reason"]
    file.write_text(file.read_text().replace("[2, 8]", "[2, 8, 24]"))
    assert states(cli)["alpha/fig2"]["state"] == "quick"
    content = json.loads(path.read_text())
    content["work"]["engine_version"] = "0.0.9+00000000"
    path.write_text(json.dumps(content))
    assert states(cli)["alpha/fig2"]["note"].startswith("made by engine 0.0.9+00000000")


def test_records_of_old_versions_are_stale_and_claims_not_run(cli, figures):
    cli("reproduce", "alpha/fig2", "--quick")
    path = figures / "results/alpha/fig2/claims.json"
    for old in ("{}", '{"format": 0}', '{"format": 99, "claims": []}'):
        path.write_text(old)
        entry = rows(cli)["alpha/fig2/some-goodput"]
        assert (entry["state"], entry["verdict"]) == ("stale", "not run")
        assert "another version of fanin" in entry["reason"]
        report = cli("report")
        assert report.code == 3
        assert "its results were written by another version of fanin; run 'fanin reproduce' first" in report.err


@pytest.mark.parametrize("content", ["", "{", f'{{"format": {record.FORMAT}}}', "null", '"x"', "\x00\xff"])
def test_a_damaged_record_is_one_clear_error(cli, figures, content):
    cli("reproduce", "alpha/fig2", "--quick")
    path = figures / "results/alpha/fig2/claims.json"
    path.write_text(content)
    for verb in (["claims"], ["claims", "--json"], ["list", "experiments"], ["report"]):
        result = cli(*verb)
        assert result.code == 3, verb
        assert len(result.err.strip().splitlines()) == 1
        assert "results/alpha/fig2/claims.json: damaged" in result.err
        assert result.out == ""
    # Others go on, and running it again fixes it.
    result = cli("reproduce", "beta/fig1", "--quick")
    assert result.code == 0
    assert "warning: no report" in result.err
    assert cli("reproduce", "alpha/fig2", "--quick").code == 0
    assert cli("claims").code == 0


def test_a_results_folder_that_is_none_is_an_error(cli, figures):
    (figures / "file").write_text("")
    for verb in (["claims"], ["list", "experiments"], ["report"]):
        result = cli(*verb, "--out", "file")
        assert (result.code, "file: not a folder" in result.err) == (3, True), verb
    assert cli("claims", "--page", "file/page.md").code == 3


def test_a_broken_experiment_file_hides_no_other(cli, figures):
    (figures / "experiments/alpha/bad.toml").write_text("title = 3")
    found = states(cli)["alpha/bad"]
    assert found["state"] == "invalid"
    assert "bad.toml" in found["note"]
    result = cli("claims")
    assert result.code == 0
    assert "bad.toml" in result.err


def test_experiments_outside_the_library_are_in_the_ledger(cli, work):
    cli("reproduce", "small.toml", "--quick")
    entry = rows(cli)["small/some-goodput"]
    assert entry["state"] == "quick"
    assert entry["command"] == "fanin reproduce small.toml --quick"
    (work / "small.toml").unlink()
    assert rows(cli)["small/some-goodput"]["outcome"] == "reproduced"


class TestKept:
    """What is worked out once, and again when anything that it was made from has changed."""

    @pytest.fixture
    def asked(self, monkeypatch):
        """The experiments that were worked out since it was last emptied."""
        found = set()

        def counted(real):
            def call(key, *rest, **named):
                found.add(key)
                return real(key, *rest, **named)

            return call

        for name in ("of_library", "of_results", "run_ids"):
            monkeypatch.setattr(assessment, name, counted(getattr(assessment, name)))
        return found

    def again(self, asked):
        """All standings, and the experiments that were worked out for them."""
        asked.clear()
        return {each.key: each for each in ledger.standings("results")}, set(asked)

    def test_a_second_look_works_nothing_out(self, cli, figures, asked):
        (figures / "own.toml").write_text((figures / "experiments/beta/fig1.toml").read_text())
        cli("reproduce", "alpha/fig2", "own.toml", "--quick")
        first, none = self.again(asked)
        assert none == set()  # The report that reproduce wrote has asked for the same.
        cache.Cache("standings", Path.cwd(), "results")._path.unlink()
        cold, every = self.again(asked)
        assert every == {"alpha/fig2", "alpha/fig10", "beta/fig1", "own", "sdtcp/fig9"}
        warm, none = self.again(asked)
        assert none == set()
        assert first == cold == warm
        assert warm["own"].record == record.read(figures / "results/own")

    def test_a_change_of_a_file_counts(self, cli, figures, asked):
        cli("reproduce", "alpha/fig2", "--quick")
        before, _ = self.again(asked)
        own = figures / "experiments/beta/fig1.toml"
        own.write_text(own.read_text().replace("A small incast", "Another"))
        after, changed = self.again(asked)
        assert changed == {"beta/fig1"}
        assert after["beta/fig1"].title == "Another"
        # Of the file that another one shows the runs of, too.
        shared = figures / "experiments/alpha/fig2.toml"
        shared.write_text(shared.read_text().replace("[2, 8, 24]", "[2, 8]"))
        after, changed = self.again(asked)
        assert changed == {"alpha/fig2", "alpha/fig10"}
        assert (before["alpha/fig10"].of, after["alpha/fig10"].of, after["alpha/fig10"].runs) == (12, 8, 4)
        assert after["alpha/fig2"].state == "stale"
        own.write_text("title = 3")
        assert [self.again(asked)[0]["beta/fig1"].state for _ in range(2)] == ["invalid", "invalid"]

    def test_a_file_in_place_of_a_shipped_one_counts(self, figures, asked):
        self.again(asked)
        own = figures / "experiments/sdtcp/fig9.toml"
        own.parent.mkdir()
        own.write_text('title = "My own"\n' + (figures / "experiments/beta/fig1.toml").read_text().partition("\n\n")[2])
        assert self.again(asked)[0]["sdtcp/fig9"].title == "My own"

    def test_a_change_of_the_flows_counts(self, cli, figures, listed, asked):
        folder = figures / "experiments/gamma"
        folder.mkdir()
        sweep = '[sweep]\nseeds = "1..2"\n[run]\nduration = "1s"\n'
        (folder / "flows.toml").write_text(listed.read_text() + sweep)
        flows = "start_us,src,dst,bytes\n0,0,20,1000\n"
        (folder / "list.csv").write_text(flows)
        result = cli("reproduce", "gamma/flows")
        assert result.code == 0, result.err
        (figures / "results/gamma/flows/claims.json").unlink()
        for text, runs in ((flows, 2), (flows + "5,2,3,1000\n", 0), (flows, 2)):
            (folder / "list.csv").write_text(text)
            found, changed = self.again(asked)
            assert (found["gamma/flows"].runs, changed) == (runs, {"gamma/flows"})
            assert self.again(asked) == (found, set())

    @pytest.mark.parametrize("what", [("fanin.engine_version", "9.9.9+0"), ("fanin.results.cache._source", "other")])
    def test_another_engine_or_program_works_it_all_out(self, figures, asked, monkeypatch, what):
        self.again(asked)
        monkeypatch.setattr(what[0], lambda: what[1])
        assert len(self.again(asked)[1]) == 4
        assert self.again(asked)[1] == set()


def test_the_page_is_written_from_the_runs(cli, figures):
    cli("reproduce", "alpha/fig2", "--quick", "--seeds", "1..2")
    path = figures / "docs/papers/claims.md"

    def written():
        assert cli("claims", "--page", "docs/papers/claims.md").code == 0
        return path.read_text()

    text = written()
    for expected in (
        "a condition (quick)",
        "| Seeds | 1..2 |",
        "900 Mbit/s",
        ": Something arrives. |",
        "not run",
        "\n## SDTCP\n",
    ):
        assert expected in text
    assert record.read(figures / "results/alpha/fig2").work.engine_version in text
    assert written() == text
    # Nothing of a claim means anything to Markdown.
    file = figures / "experiments/alpha/fig2.toml"
    file.write_text(file.read_text().replace("Something arrives.", "a | b <i> `c` [d](e)"))
    cli("reproduce", "alpha/fig2", "--quick")
    assert r"a \| b \<i\> \`c\` \[d\](e)" in written()


def test_commands_and_ranges_are_what_one_types(figures):
    experiment = record.Scenario.named("alpha/fig2", figures / "experiments/alpha/fig2.toml")
    assert record.command(experiment, seeds=[1, 2]) == "fanin reproduce alpha/fig2"
    assert record.command(experiment, seeds=[1, 2, 3, 7], out="a b") == (
        "fanin reproduce alpha/fig2 --seeds 1..3,7 --out 'a b'"
    )
    assert record.ranges([]) == ""


def test_ages_are_short():
    now = datetime(2026, 1, 2, tzinfo=UTC)
    ages = {30: "30 s", 120: "2 min", 7200: "2 h", 3 * 86400: "3 d", -5: "0 s"}
    for seconds, expected in ages.items():
        assert standing.age((now - timedelta(seconds=seconds)).isoformat(), now) == expected


class Page(HTMLParser):
    """What a browser would fetch, and the data in the page."""

    def __init__(self, text):
        super().__init__()
        self.fetched, self.tags, self.open, self.data = [], [], [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        if tag not in ("meta", "img", "br", "hr", "link"):
            self.open.append(tag)
        self.fetched += [found[key] for key in ("src", "data", "poster") if key in found]
        self.fetched += [found["href"]] if tag == "link" else []
        self.file = found.get("data-file") if tag == "script" else None

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data):
        if self.open[-1:] == ["script"] and self.file is not None:
            assert "<" not in data
            self.data[self.file] = json.loads(data)


def test_experiments_that_ran_with_other_values_count_for_no_paper(cli, figures):
    cli("reproduce", "alpha/fig2", "--quick", "--set", "network.buffer=30pkt")
    (folder,) = (figures / "results/changed").iterdir()
    assert (folder / "alpha/fig2/claims.json").is_file()
    assert (folder / "report/index.html").is_file()
    assert not [each.key for each in ledger.standings("results") if each.record is not None]
    assert "changed/" not in cli("list", "experiments").out
    assert [each.key for each in ledger.standings(folder) if each.record is not None] == ["alpha/fig2"]


class TestReport:
    """The HTML report. What its data look like in a browser is tested in ``web/tests/report.test.ts``."""

    def page(self, work, folder="results/report"):
        return Page((work / folder / "index.html").read_text())

    def test_reproduce_makes_it(self, cli, figures):
        result = cli("reproduce", "alpha/fig2", "alpha/fig10", "--quick")
        assert "report: results/report/index.html" in result.err
        page = self.page(figures)
        assert page.open == []
        index = page.data["papers.json"]
        (brief,) = [each for each in index["sentences"] if each["id"] == "alpha/fig2/some-goodput"]
        assert (brief["verdict"], brief["mark"], brief["says"]) == (
            "under a condition",
            " (quick)",
            "Something arrives.",
        )
        found = page.data["experiments/alpha/fig2.json"]
        assert found["command"] == "fanin reproduce alpha/fig2 --quick"
        facts = dict(found["facts"])
        assert "packet-hops" in facts["Simulated"]
        assert "; last run 20" in facts["State"]
        # What was never run is listed, with what runs it.
        missing = {each["key"]: each["command"] for each in index["experiments"] if not each["run"]}
        assert missing["sdtcp/fig9"] == "fanin reproduce sdtcp/fig9"
        assert "experiments/sdtcp/fig9.json" not in page.data
        assert not index["ranked"]

    def test_its_list_of_sentences_has_those_that_the_summary_counts(self, cli, figures):
        cli("reproduce", "alpha/fig2", "--quick")
        index = self.page(figures).data["papers.json"]
        counted = [each for each in index["sentences"] if not each["same_as"] and not each["half_of"]]
        for paper in index["papers"]:
            own = [each["verdict"] for each in counted if each["paper"] == paper["key"]]
            assert {name: own.count(name) for name in paper["counts"]} == paper["counts"]
        assert len(counted) == sum(paper["sentences"] for paper in index["papers"]) > 1
        assert dict(index["facts"])["Runs"].endswith("in 1 experiment; a run shared by several figures is counted once")

    def test_a_sentence_has_a_scenario_to_run(self, cli, figures):
        cli("reproduce", "alpha/fig2", "--quick")
        found = self.page(figures).data["experiments/alpha/fig2.json"]
        (scenario,) = found["scenarios"]
        assert scenario["compare"] == ["dctcp"]
        (figures / "downloaded.toml").write_text(scenario["toml"])
        assert cli("run", "downloaded.toml", "--no-store").code == 0

    def test_it_needs_nothing_from_elsewhere(self, cli, figures):
        cli("reproduce", "alpha/fig2", "--quick")
        folder, moved = figures / "results/report", figures / "elsewhere"
        shutil.copytree(folder, moved)
        page = Page((moved / "index.html").read_text())
        assert page.fetched == ["data:,"]
        assert page.tags.count("script") == len(page.data) + 1
        found = page.data["experiments/alpha/fig2.json"]
        for name in (found["file"], found["figures"][0]["data"]):
            assert (moved / name).is_file()
        assert "viewport" in (moved / "index.html").read_text()

    def test_its_policy_allows_its_own_style_script_and_pictures_that_it_makes_only(self, cli, figures):
        cli("reproduce", "alpha/fig2", "--quick")
        text = (figures / "results/report/index.html").read_text()
        policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', text).group(1))
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
        assert rules.pop("img-src") == "data: blob:"
        for tag in ("style", "script"):
            content = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL).group(1)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert rules.pop(f"{tag}-src") == f"'sha256-{digest}'"
        assert not rules
        assert " style=" not in text

    def test_the_same_results_give_the_same_bytes(self, cli, figures):
        cli("reproduce", "alpha/fig2", "--quick")
        before = (figures / "results/report/index.html").read_bytes()
        assert cli("report").out.strip() == "results/report/index.html"
        assert (figures / "results/report/index.html").read_bytes() == before
        assert json.loads(cli("report", "--to", "public", "--json").out) == {"page": "public/index.html"}
        assert (figures / "public/index.html").read_bytes() == before

    def test_no_text_is_anything_but_text(self, cli, figures):
        file = figures / "experiments/alpha/fig2.toml"
        bad = "</script><script>alert(1)</script> & <b> <!--"
        text = file.read_text().replace("Something arrives.", bad).replace("A small incast", bad)
        text = text.replace('y = "goodput_bps"\nby', f'title = "{bad}"\nx-label = "{bad}"\ny = "goodput_bps"\nby')
        file.write_text(f'description = """{bad}"""\n{text}')
        assert cli("reproduce", "alpha/fig2", "--quick").code == 0
        page = self.page(figures)
        assert page.tags.count("script") == len(page.data) + 1
        assert "b" not in page.tags
        found = page.data["experiments/alpha/fig2.json"]
        assert (found["title"], found["figures"][0]["title"]) == (bad, bad)
        assert found["description"] == [["p", [bad]]]

    def test_figures_without_lines_have_their_rows(self, cli, figures):
        file = figures / "experiments/alpha/fig2.toml"
        file.write_text(file.read_text() + '\n[[plot]]\nkind = "topology"\nid = "network"\ntitle = "N"\n')
        cli("reproduce", "alpha/fig2", "--quick")
        lines, network = self.page(figures).data["experiments/alpha/fig2.json"]["figures"]
        assert [line["label"] for line in lines["lines"]] == ["newreno", "dctcp"]
        assert network["lines"] == []
        assert "from" in network["rows"]["header"]
        assert len(network["rows"]["first"]) == network["rows"]["of"] > 1

    def test_lost_data_are_said(self, cli, figures):
        cli("reproduce", "alpha/fig2", "--quick")
        (figures / "results/alpha/fig2/goodput-bps.csv").unlink()
        assert cli("report").code == 0
        (figure,) = self.page(figures).data["experiments/alpha/fig2.json"]["figures"]
        assert (figure["data"], figure["lines"], figure["rows"]["of"]) == ("", [], 0)

    def test_it_replaces_nothing_but_a_report(self, cli, figures):
        cli("reproduce", "alpha/fig2", "--quick")
        (figures / "mine").mkdir()
        (figures / "mine/thesis.txt").write_text("years of work")
        result = cli("report", "--to", "mine")
        assert result.code == 3
        assert "not a report" in result.err
        assert (figures / "mine/thesis.txt").read_text() == "years of work"
        (figures / "empty").mkdir()
        assert cli("report", "--to", "empty").code == 0
        assert [path.name for path in figures.iterdir() if path.name.startswith(".tmp")] == []

    def test_without_results_there_is_none(self, cli, figures):
        result = cli("report")
        assert result.code == 3
        assert "fanin reproduce" in result.err
        assert not (figures / "results").exists()
        with pytest.raises(ResultsError):
            html_report.write(figures / "results")

    def test_where_the_front_end_is_not_built_all_else_works(self, cli, figures, monkeypatch):
        for place in ("_BUILT", "_PACKAGED"):
            monkeypatch.setattr(front_end, place, figures / "nowhere")
        done = cli("reproduce", "alpha/fig2", "--quick")
        assert (done.code, done.err.count("make page")) == (0, 1)
        assert (figures / "results/alpha/fig2/claims.json").is_file()
        assert not (figures / "results/report").exists()
        refused = cli("report")
        assert refused.code == 3
        assert "no report: the page is not built" in refused.err


def test_a_scenario_is_written_as_toml_that_reads_back():
    import tomllib

    table = {
        "network": {"rate": '1"Gbps', "n": 3, "on": True, "share": 0.5},
        "scheme": {"rcc": {}, "x y": {"a": "1pkt"}},
        "traffic": [{"name": "a"}, {"name": "b", "deep": {"k": 1}}],
        "fault": [],
    }
    read = tomllib.loads(toml_text.to_toml(table))
    assert read == {key: value for key, value in table.items() if key != "fault"}


def test_what_a_quick_look_cannot_judge_is_not_run():
    shown = sentences.Shown(published="-", value="-", interval="-", accept="-", quantity="")
    told = {"published": "about ten", "reading": "15 KB", "note": "n", "added": "later", "reason": "r"}
    kept = sentences.Judgement(id="c", outcome="not judged", shown=shown, **told)
    found = assessment._as_it_stands("sdtcp/fig9", kept, "", "quick", "fanin reproduce sdtcp/fig9 --quick")
    assert (found.name, found.outcome) == ("sdtcp/fig9/c", "not run")
    assert {key: getattr(found, key) for key in told} == told


def drawn(**fields):
    labels = {"x_label": "N", "y_label": "Goodput (Mbit/s)", "x_scale": 1.0, "y_scale": 1e-6}
    return record.PlotRecord(**{"name": "p", "title": "P", "files": [], "lines": []} | labels | fields)


def shown(folder, text, **fields):
    (folder / "p.csv").write_text(text)
    return page_figures.figure(drawn(files=["p.csv"], **fields), [], folder)["lines"]


def test_lines_are_in_the_units_of_the_axes(tmp_path):
    text = "by,x,mean,half,runs\na,9,1e6,2e5,3\na,10,2e6,1e5,3\n,9,3e6,,1\nb,9,,,0\nb,10,inf,,1\n"
    assert shown(tmp_path, text, lines=["a", ""]) == [
        {"label": "a", "x": [9, 10], "y": [1, 2], "low": [0.8, 1.9], "high": [1.2, 2.1]},
        {"label": "", "x": [9], "y": [3]},
    ]


def test_words_keep_their_order_and_whiskers_their_ends(tmp_path):
    text = "by,x,mean,half,low,high,runs\n,TCP,2e6,,1e6,4e6,1\n,DCTCP,1e6,,5e5,2e6,1\n"
    (line,) = shown(tmp_path, text, kind="bars", lines=[""])
    assert line == {"label": "", "x": ["TCP", "DCTCP"], "y": [2, 1], "low": [1, 0.5], "high": [4, 2]}


def test_of_a_long_distribution_the_quantiles_stay(tmp_path):
    text = "by,x,share\n" + "".join(f"a,{i / 1e4},{i / 1e4}\n" for i in range(1, 10_001))
    (line,) = shown(tmp_path, text, kind="cdf", x_scale=1e3, y_scale=100.0, lines=["a"])
    assert len(line["x"]) < 200
    for share in (5, 25, 50, 75, 95, 99, 100):
        at = next(index for index, y in enumerate(line["y"]) if y >= share)
        assert line["x"][at] == pytest.approx(10 * share)


def test_any_other_table_is_shown_as_it_is(tmp_path):
    def kept(name, _):
        return name

    for text, rows in (
        ("name,bits\n<b>,3\n", {"header": ["name", "bits"], "first": [["<b>", "3"]], "of": 1}),
        ("", {"header": [], "first": [], "of": 0}),
    ):
        (tmp_path / "p.csv").write_text(text)
        found = page_figures.figure(drawn(files=["p.csv"], kind="format"), [], tmp_path, kept)
        assert (found["lines"], found["rows"], found["data"]) == ([], rows, "p.csv")


def test_the_ledger_looks_into_no_folder_that_is_being_written(cli, figures):
    folder = figures / "results/alpha/fig2/.tmp-1"
    folder.mkdir(parents=True)
    (folder / "claims.json").write_text("damaged")
    assert cli("claims").code == 0


def test_what_impossible_written_names_another_way(cli, figures):
    cli("reproduce", "alpha/fig2", "--quick")
    (figures / "file").write_text("")
    result = cli("claims", "--page", "file/page.md")
    assert result.code == 3
    assert "choose another place with --page" in result.err
    result = cli("report", "--to", "file/report")
    assert result.code == 3
    assert len(result.err.splitlines()) == 1

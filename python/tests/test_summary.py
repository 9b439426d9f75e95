"""Every total of a run has a label, a unit and a line in the reference."""

import json
import math
import runpy
from pathlib import Path

import numpy as np
import pytest

import fanin
from fanin.cli.commands import EXIT_CODES
from fanin.numbers import stats
from fanin.numbers.summary import column, format_interval, measured, rows
from fanin.numbers.units import rate_text
from fanin.registry import registry
from fanin.results.dataset import timeouts_of

MARKED = ("--set", "scheme.dctcp.mark-threshold=10pkt")
"""A threshold below the buffer of small.toml, of which nothing warns."""

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


@pytest.fixture
def summary(work):
    return fanin.Scenario("small.toml").run().summary


def test_every_key_of_a_run_is_declared_and_in_the_reference(summary):
    declared = measured()
    assert set(summary) == {name for name, total in declared.items() if total.always}
    page = (REFERENCE / "output.md").read_text()
    for name in declared:
        assert column(name).label != name
        assert f"| `{name}` |" in page


WRITTEN = runpy.run_path(str(REFERENCE / "regenerate.py"))


def test_documents_are_what_the_code_declares():
    pages = WRITTEN["pages"]()
    assert {path.name for path in pages} == {
        "environments.md", "glossary.md", "networks.md", "output.md", "palette.json", "python.md", "schemes.md"
    }  # fmt: skip
    for path, page in pages.items():
        assert path.read_text() == page, f"{path} is out of date: run docs/reference/regenerate.py"


@pytest.mark.parametrize(
    ("page", "rows"),
    [
        ("schemes.md", ["NewReno, ", " RCC, "]),
        ("networks.md", ["| `leaf-spine` |", "| `incast` |", "| `link-down` |", '| `"web-search"` |', "`spine-0`"]),
        ("output.md", ["| `goodput_bps` |", "| `sweep` |"]),
        ("environments.md", ["## qualnet"]),
        ("palette.json", ['"tcp": ["#0072B2", "o"]', '"dctcp": ["#D55E00", "s"]']),
    ],
)
def test_generated_parts_are_not_empty(page, rows):
    (text,) = (text for path, text in WRITTEN["pages"]().items() if path.name == page)
    assert [row for row in rows if row not in text] == []


def test_the_reference_has_the_exit_codes_of_the_help(cli):
    page, overview = (REFERENCE / "output.md").read_text(), " ".join(cli("--help").out.split())
    for code, meaning in EXIT_CODES.items():
        assert f"\n| {code} | {meaning} |\n" in page
        assert f" {code} {meaning} " in f"{overview} "


def test_columns_of_tables_are_those_that_are_declared(work):
    run = fanin.Scenario("small.toml").set({"measure.bin": "1ms", "measure.queue-trace": "on-change"}).run()
    declared = {table["name"]: [each["name"] for each in table["columns"]] for table in registry()["tables"]}
    for name in ("flows", "requests", "queues", "links", "delays", "drops", "bins", "link-bins", "queue-trace"):
        assert run.table(name).columns == declared[name]


@pytest.mark.parametrize(
    ("name", "full", "unit", "better"),
    [
        ("groups.a.jain", "Jain's fairness index, a alone: over the goodputs of all transfers", "", "more"),
        ("bins.jain", "over the payload of every transfer in progress in a bin", "", "more"),
        ("flows.timeouts_syn", "Retransmission timeouts: of a SYN", "", "less"),
        ("link-bins.utilisation", "Utilisation of the link", "%", "more"),
        ("flows.completion_s", "Completion of the flow", "s", "less"),
        ("queue-trace.packets", "Queue of the observed port", "packets", "less"),
        ("timeout_ratio", "Share of flows with a timeout: of all flows, endless ones included", "%", "less"),
        ("seed", "Seed", "", "neither"),
        ("traffic.bursts.senders", "traffic.bursts.senders", "", "neither"),
        ("background_end_s", "background_end_s", "ms", "neither"),
    ],
)
def test_a_column_is_shown_as_it_is_declared(name, full, unit, better):
    how = column(name)
    assert full in how.full
    assert (how.shown_as, how.better) == (unit, better)


def test_times_that_are_no_delays_are_shown_in_seconds():
    assert rows({"window_start_s": 1.5}) == [("goodput", "Start of the goodput window", "1.5 s")]


def test_causes_that_did_not_occur_are_left_out(summary):
    names = {label for _, label, _ in rows({**summary, "drops_agent": 0, "timeouts_syn": 2})}
    assert column("drops_agent").full not in names
    assert column("timeouts_syn").full in names
    assert column("drops").label in names


def test_a_run_says_when_flows_are_missing_or_marks_impossible(cli, work):
    result = cli("run", "small.toml", "--no-store", "--set", "run.duration=6ms", "--set", "transport.scheme=dctcp")
    assert "3 of 3 finite flows were not complete at the end of the run" in result.err
    assert "one run of the base scenario (dctcp, seed 1); `fanin reproduce small.toml` runs the sweep" in result.err
    for verb in ("run", "check"):
        settings = ["--set", "queue.kind=drop-tail", "--set", "transport.scheme=dctcp"]
        assert "dctcp relies on marks" in cli(verb, "small.toml", *settings).err
        steady = ["--set", "traffic.bursts.start=steady", *MARKED]
        assert "warning" not in cli(verb, "small.toml", *steady).err


def test_a_number_of_hosts_beside_a_selection_of_hosts_is_said_to_be_without_effect(cli, work):
    path = work / "all.toml"
    text = (
        '[network]\ntopology = "star"\nrate = "1Gbps"\nbuffer = "100KB"\n[[traffic]]\nname = "mix"\nkind = "poisson"\n'
        'senders = 4\nfrom = "all"\nto = "all"\nbytes-each = "10KB"\nload = "20%"\ncount = 5\n'
    )
    path.write_text(text)
    said = (
        'warning: traffic.mix.senders = 4: without effect with from = "all"; leave it out, and set '
        "network.sender-hosts to the number of hosts"
    )
    for verb in ("check", "run"):
        assert said in cli(verb, "all.toml").err
    path.write_text(text.replace("senders = 4", "").replace("[network]", "[network]\nsender-hosts = 4"))
    assert "without effect" not in cli("check", "all.toml").err
    assert "without effect" not in cli("check", "small.toml").err


def test_check_sees_the_swept_scheme(cli, work):
    assert "dctcp relies on marks" in cli("check", "small.toml", "--set", "queue.kind=drop-tail").err


def test_a_time_to_think_about_nothing_is_said_to_be_without_effect(cli, work):
    own = ["--set", "traffic.bursts.think=2ms"]
    said = "traffic.bursts.think = 2ms: without effect, as nothing is asked for; set traffic.bursts.request"
    assert said in cli("check", "small.toml", *own).err
    assert "warning" not in cli("check", "small.toml", *own, "--set", "traffic.bursts.request=100B", *MARKED).err


def test_what_begins_when_the_run_is_over_is_said_to_be_without_effect(cli, work):
    late = ["--set", "run.duration=2s", "--set", "traffic.background.start=1900ms", "--set", "measure.warmup=1800ms"]
    said = cli("run", "small.toml", "--no-store", *late).err
    assert "warning: traffic.background: without effect, as the run was over at " in said
    assert " s, before 1900ms" in said
    assert "warning: measure.warmup: without effect, as the run was over at " in said
    assert "without effect" not in cli("run", "small.toml", "--no-store").err


def test_a_group_that_relies_on_marks_which_no_queue_makes_is_warned_of(cli, work):
    own = ["--set", "traffic.bursts.scheme=dctcp", "--set", "transport.scheme=newreno"]
    said = (
        'warning: dctcp relies on marks, but the queue of transport.scheme = "newreno" (queue.kind = "auto") never '
        "marks; set queue.kind and queue.threshold"
    )
    assert said in cli("run", "small.toml", "--no-store", *own).err
    marking = ["--set", "queue.kind=ecn-threshold", "--set", "queue.threshold=5pkt"]
    assert "relies on marks" not in cli("run", "small.toml", "--no-store", *own, *marking).err


def test_who_counts_would_be_marks_is_not_warned(cli, work):
    settings = ["--set", "queue.kind=drop-tail", "--set", "queue.would-mark=5pkt"]
    assert "relies on marks" not in cli("check", "small.toml", *settings).err
    assert "newreno relies on marks" in cli("check", "small.toml", *settings[:2], "--set", "transport.ecn=on").err


def test_a_sweeps_table_has_meanings_and_units(cli, work):
    cli("reproduce", "small.toml", "--seeds", "1")
    described = json.loads(cli("describe", "results/small/runs.parquet", "--json").out)["files"][0]["columns"]
    assert all(entry["description"] for entry in described)
    assert {entry["name"] for entry in described if not entry["unit"]} == {
        "transport.scheme",
        "traffic.bursts.senders",
        "run_id",
        "bottleneck",
        "result_hash",
    }


def test_several_files_are_described_and_exported(cli, work):
    runs = [json.loads(cli("run", "small.toml", "--json", "--seed", seed).out)["stored"] for seed in "12"]
    lines = cli("export", *runs, "--to", "csv").out.splitlines()
    assert len(lines) == 2 + 4 + 4
    assert lines[0].startswith("run_id,flow,")
    assert {line.partition(",")[0] for line in lines[2:]} == {Path(run).name for run in runs}
    assert cli("export", runs[0]).out.startswith("flow,")
    files = ["flows.parquet", "queues.parquet"]
    for name in files:
        assert cli("export", runs[0], "--table", Path(name).stem, "--to", "parquet", "--out", name).code == 0
    assert len(json.loads(cli("describe", *files, "--json").out)["files"]) == 2
    assert sum(line.startswith("#") for line in lines) == 1
    mixed = cli("export", *files, "--to", "csv")
    assert mixed.code == 3
    assert "not the columns of" in mixed.err


def test_overrides_are_a_dictionary_or_pairs(work):
    changes = {"transport.scheme": "dctcp", "traffic.bursts.senders": 2, "transport.sack": True}
    small = fanin.Scenario("small.toml")
    ids = {
        small.set(changes).run().run_id,
        small.set(list(changes.items())).run().run_id,
        fanin.Scenario("small.toml").set(changes).run().run_id,
    }
    assert len(ids) == 1
    assert ids != {small.run().run_id}


def test_a_capture_needs_the_store(cli, work):
    assert cli("run", "small.toml", "--pcap", "--no-store").code == 2


def test_groups_have_totals_of_their_own(cli, work):
    found = json.loads(cli("run", "small.toml", "--json", "--no-store").out)
    assert [group["group"] for group in found["groups"]] == ["background", "bursts"]
    assert sum(group["flows"] for group in found["groups"]) == found["flows"]
    assert sum(group["goodput_bps"] for group in found["groups"]) == pytest.approx(found["goodput_bps"])
    shown = cli("run", "small.toml", "--no-store", "--all", "--tsv").out
    assert "# Traffic groups" in shown
    assert "\nbursts\t" in shown
    text = Path("small.toml").read_text()
    first, second = (text.index(mark) for mark in ('[[traffic]]\nname = "background"', '[[traffic]]\nname = "bursts"'))
    Path("lone.toml").write_text(text[:first] + text[second:])
    assert "# Traffic groups" not in cli("run", "lone.toml", "--no-store", "--all").out


def test_values_of_schemes_out_of_use_are_named(cli, work):
    setting = ["--set", "scheme.dctcp.g=1/8"]
    # The sweep uses DCTCP.
    assert "warning" not in cli("check", "small.toml", *setting, *MARKED).err
    text = Path("small.toml").read_text()
    Path("plain.toml").write_text(text[: text.index("[sweep]")])
    for verb in (["check"], ["run", "--no-store"]):
        assert (
            "warning: scheme.dctcp.g: no network or traffic group uses this scheme"
            in cli(*verb, "plain.toml", *setting).err
        )
        assert "uses this scheme" not in cli(*verb, "plain.toml", *setting, "--set", "transport.scheme=dctcp").err


def test_an_interval_that_impossible_is_replaced_by_quantiles_of_the_seeds():
    steady = np.array([9.0, 9.1, 8.9, 9.0, 9.05])
    mean, half = stats.mean_interval(steady)
    assert stats.spread(steady, 10.0) == stats.Spread(mean, half, mean - half, mean + half)
    # Two of five seeds collapse: Student's interval reaches above the link's rate and below zero.
    split = np.array([9.0, 9.1, 0.2, 9.0, 0.1])
    mean, half = stats.mean_interval(split)
    assert mean + half > 10
    found = stats.spread(split, 10.0)
    assert (found.mean, found.low, found.high, found.quantiles) == (mean, 0.1, 9.1, True)
    assert math.isnan(found.half)
    assert stats.spread(np.array([0.0, 0.0, 1.0])).low == 0.0
    # Where values are negative, an interval may be too.
    assert not stats.spread(np.array([-1.0, 0.0, 1.0])).quantiles
    assert not stats.spread(np.array([1.0, 2.0])).quantiles


def test_seeds_that_fall_into_two_groups_have_quantiles_and_no_interval():
    # Four of five seeds wait for a timer of 200 ms. The interval is possible, 161 ± 110, but no seed is near its mean.
    split = np.array([201.0, 201.0, 201.0, 4.6, 201.0])
    mean, half = stats.mean_interval(split)
    assert mean - half > 0
    found = stats.spread(split)
    assert (found.mean, found.low, found.high, found.quantiles) == (mean, 4.6, 201.0, True)
    assert math.isnan(found.half)
    for values in (
        [4.6, 4.7, 4.4, 4.5, 5.1],  # One group.
        [1.0, 2.0, 3.0, 5.0, 4.0],  # Wide, but without a gap.
        [1.0001, 1.0, 1.0, 1.01, 1.0],  # Two groups that nobody would tell apart.
        [1.0, 2.0, 1.0, 2.0, 2.0],  # Neighbouring counts.
    ):
        assert not stats.spread(np.array(values)).quantiles
    assert not stats.has_two_modes(np.array([1.0, math.inf, 1.0]))


def test_the_interval_of_a_rare_event_is_clopper_and_pearsons():
    low, high = stats.share_interval(0, 1000)
    assert (low, high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 1000), rel=1e-4))
    # The quantiles of the beta distribution, by its definition as an order statistic of uniform numbers.
    low, high = stats.share_interval(3, 10)
    at_least = sum(math.comb(10, k) * low**k * (1 - low) ** (10 - k) for k in range(3, 11))
    at_most = sum(math.comb(10, k) * high**k * (1 - high) ** (10 - k) for k in range(4))
    assert (at_least, at_most) == (pytest.approx(0.025, rel=1e-4), pytest.approx(0.025, rel=1e-4))
    assert stats.share_interval(10, 10)[1] == 1.0


def test_timeouts_are_counted_by_query_or_else_by_transfer():
    row = {"queries": 20, "queries_with_timeout": 1, "timeout_ratio": 0.25, "flows": 400, "loss_probes": 3}
    found = timeouts_of([row, row])
    assert (found.events, found.of, found.queries, found.probes) == (2, 40, True, 6)
    assert found.per_thousand[0] == 50
    assert timeouts_of([row | {"queries": 0}]).events == 100
    assert timeouts_of([]) is None


def test_what_is_left_of_rounding_is_shown_as_zero():
    assert format_interval("jain", 0.9999999999999998, 2.7e-16) == "1 ± 0"
    assert format_interval("jain", -2.2e-16, 2.7e-16) == "0 ± 0"
    assert format_interval("fct_p99_s", 2e-6, 3e-9) == "0.002 ± 3e-06"


@pytest.mark.parametrize(
    ("bps", "text"),
    [
        (0, "0 Mbit/s"),
        (515.4e6, "515 Mbit/s"),
        (999.4e6, "999 Mbit/s"),
        (1e9, "1 Gbit/s"),
        (38.89e9, "38.9 Gbit/s"),
        (3_144_157e6, "3.14 Tbit/s"),
    ],
)
def test_a_rate_in_words_has_three_digits_and_the_unit_that_fits(bps, text):
    assert rate_text(bps) == text


def test_variants_of_other_hosts_are_warned_of_as_a_comparison_does(cli, work):
    text = (work / "small.toml").read_text()
    head = text[: text.index("[sweep]")] + '[sweep]\nseeds = "1..2"\n'
    claim = '[[plot]]\nid = "a"\nkind = "bars"\nx = "host"\ny = "fct_mean_s"\n'
    lines = {"DCTCP": 'transport.scheme = "dctcp"', "CUBIC": 'transport.scheme = "linux"'}

    def said(lines, *commands):
        variants = "".join(f"{name} = {{ {values} }}\n" for name, values in lines.items())
        (work / "own.toml").write_text(f"{head}\n[variant.host]\n{variants}\n{claim}")
        found = [cli(*command, "own.toml") for command in commands or [("check",)]]
        assert [each.code for each in found] == [0] * len(found), found[0].err
        return [each.err for each in found]

    for err in said(lines, ("check",), ("reproduce",)):
        assert "variant.host: the systems differ in more than their scheme: " in err
        assert "; --set transport.stack=linux-6.12 gives all the same stack\n" in err
        assert "variant.host: marking thresholds are the defaults (DCTCP 20pkt)" in err
    (err,) = said({**lines, "DCTCP": f'{lines["DCTCP"]}, scheme.dctcp.mark-threshold = "5pkt"'})
    assert "marking thresholds" not in err
    alike = {name: f'{values}, transport.stack = "linux-6.12"' for name, values in lines.items()}
    assert "gives all the same stack" not in said(alike)[0]
    reasons = {name: f'{values}, why = "as deployed"' for name, values in lines.items()}
    assert "variant.host" not in said(reasons)[0]
    # Files of papers choose the hosts of their systems on purpose.
    assert "more than their scheme" not in cli("check", "rcc/fig2a").err

import gc
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest
from patches import stored

import fanin
from fanin.choose.comparison import BY_FAR, FEWEST_AGREEING
from fanin.cli import crash
from fanin.numbers.stats import FEWEST
from fanin.results.store import Store
from fanin.scenario import catalogue, not_modelled

VERBS = ["run", "reproduce", "claims", "report", "compare", "list", "explain", "check", "describe", "export"]


def test_version_and_help_name_everything(cli):
    assert cli("--version").out.startswith(f"fanin {fanin.__version__} (engine ")
    overview = cli("--help")
    assert overview.code == 0
    for verb in VERBS:
        assert verb in overview.out
        page = cli(verb, "--help")
        assert page.code == 0
        assert "Examples" in page.out
        assert "--json" in page.out


@pytest.mark.parametrize("verb", ["compare", "tune"])
def test_help_has_the_whole_rule_of_what_differs(cli, verb):
    page = " ".join(cli(verb, "--help").out.split())
    assert "It is no chance if its interval excludes zero." in page
    assert "all seeds must differ with one sign, and six or more of them by --margin." in page
    assert "Three seeds are enough if all differ by a factor of 3." in page
    assert (FEWEST_AGREEING, FEWEST, BY_FAR) == (6, 3, 3.0)


def test_wrong_usage_exits_with_2(cli):
    assert cli("runn").code == 2
    assert cli("run").code == 2
    assert cli("run", "x.toml", "--nonsense").code == 2


def test_run_prints_one_object_with_what_is_promised(cli, work):
    result = cli("run", "small.toml", "--json", "--set", "transport.scheme=dctcp", "--seed", "7")
    assert result.code == 0, result.err
    summary = json.loads(result.out)
    assert {"result_hash", "goodput_bps", "run_id", "stored"} <= set(summary)
    manifest = json.loads(cli("describe", summary["stored"], "--json").out)["manifest"]
    assert manifest["scenario"]["run"]["seed"] == 7
    assert manifest["scenario"]["transport"]["scheme"] == "dctcp"
    assert manifest["summary"]["result_hash"] == summary["result_hash"]
    assert {"engine_version", "git_commit", "host", "cpus"} <= set(manifest)


def test_run_without_store_writes_nothing(cli, work):
    result = cli("run", "small.toml", "--json", "--no-store")
    assert json.loads(result.out)["stored"] == ""
    assert [path.name for path in work.iterdir()] == ["small.toml"]


def test_run_draws_a_plain_table_when_not_on_a_terminal(cli, work):
    result = cli("run", "small.toml", "--no-store", "--all")
    assert "A small incast" in result.out
    assert "\x1b[" not in result.out
    assert "│" not in result.out
    assert "Mbit/s" in result.out


def test_run_captures_packets(cli, work):
    summary = json.loads(cli("run", "small.toml", "--json", "--pcap").out)
    assert cli("export", summary["stored"], "--to", "pcapng", "--out", "trace.pcapng").code == 0
    assert (work / "trace.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


def test_a_capture_is_of_the_links_that_the_file_or_an_override_names(cli, work):
    def captured(file, *options):
        return json.loads(cli("run", file, "--json", *options).out)["run_id"]

    named = Path("small.toml").read_text() + '\n[measure]\ncapture = "senders"\n'
    Path("named.toml").write_text(named)
    senders = captured("small.toml", "--set", "measure.capture=senders")
    assert captured("small.toml", "--pcap", "--set", "measure.capture=senders") == senders
    assert captured("named.toml", "--pcap") == senders
    assert captured("small.toml", "--pcap") == captured("small.toml", "--set", "measure.capture=bottleneck") != senders
    wrong = cli("run", "small.toml", "--pcap", "--set", "measure.capture=../../x")
    assert (wrong.code, "measure.capture: must be one of off, bottleneck" in wrong.err) == (3, True)
    assert cli("run", "small.toml", "--pcap", "--set", "measure.capture=off").code == 2


@pytest.mark.parametrize(
    "kind", ["schemes", "topologies", "queues", "traffic", "faults", "environments", "experiments"]
)
def test_list_prints_keys_and_summaries(cli, kind):
    entries = json.loads(cli("list", kind, "--json").out)
    shown = cli("list", kind).out
    assert entries
    for entry in entries:
        assert set(entry) == {"key", "summary"} if kind != "experiments" else set(entry) > {"key", "summary"}
        assert entry["summary"]
        assert entry["key"] in shown


def test_a_kind_that_is_none_names_the_nearest(cli):
    for name, meant in (("scheme", "schemes"), ("environment", "environments"), ("Queue", "queues")):
        result = cli("list", name)
        shown = " ".join(result.err.replace("│", "").split())
        assert (result.code, f'did you mean "{meant}"?' in shown) == (2, True)


def test_a_variant_that_no_plot_shows_is_pointed_out(cli, work):
    path = work / "small.toml"
    own = """
[variant.system]
A = { transport.scheme = "newreno" }
B = { transport.scheme = "dctcp" }
C = { transport.scheme = "dctcp", network.buffer = "9pkt" }
"""
    text = path.read_text().replace('"transport.scheme" = ["newreno", "dctcp"]\n', "") + own
    text = text.replace('by = "transport.scheme"', 'by = "system"\nwhere = { system = ["A"] }')
    text = text.replace('where = { "transport.scheme" = "dctcp" }', 'where = { system = ["A", "B"] }')
    path.write_text(text)
    warning = 'variant.system: no plot of this file shows "B", "C" (nor does a claim read it)'
    result = cli("check", "small.toml")
    assert (result.code, warning in result.err) == (0, True), result.err
    path.write_text(text.replace('system = ["A"]', 'system = ["A", "B", "C"]'))
    assert "no plot of this file" not in cli("check", "small.toml").err


def test_list_everything_says_of_what_kind(cli):
    entries = json.loads(cli("list", "--json").out)
    assert {"kind": "schemes", "key": "dctcp"}.items() <= next(e for e in entries if e["key"] == "dctcp").items()


def test_list_schema_covers_both_halves_of_the_file(cli):
    schema = json.loads(cli("list", "--schema").out)
    assert {"network", "traffic", "run", "sweep", "plot", "claim", "runs-of"} <= set(schema["properties"])


def test_explain_everything_there_is(cli):
    for kind in ("schemes", "topologies", "queues", "traffic"):
        for entry in json.loads(cli("list", kind, "--json").out):
            page = cli("explain", entry["key"])
            assert page.code == 0
            assert entry["summary"] in page.out
            found = json.loads(cli("explain", entry["key"], "--json").out)
            for param in found["params"]:
                assert {"key", "takes", "words", "default", "follows", "doc", "source", "reading", "tiers"} == set(
                    param
                )


def test_explain_a_parameter(cli):
    page = cli("explain", "transport.rto-min")
    assert "200ms" in page.out
    assert json.loads(cli("explain", "scheme.dctcp.mark-threshold", "--json").out)["takes"]
    params = json.loads(cli("explain", "leaf-spine", "--json").out)["params"]
    assert ("10 times rate", "network.rate") in [(param["default"], param["follows"]) for param in params]


def test_explain_offers_the_nearest_name(cli):
    result = cli("explain", "dctpc")
    assert result.code == 3
    assert 'did you mean "dctcp"' in result.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rto-minn", "rto-min"),
        ("delayy", "delay"),
        ("thershold", "threshold"),
        ("dctcp.mark-treshold", "dctcp.mark-threshold"),
    ],
)
def test_explain_offers_the_ends_of_paths(cli, typed, meant):
    assert f'did you mean "{meant}"' in cli("explain", typed).err
    assert cli("explain", meant).code == 0


def test_explain_offers_nothing_that_is_hardly_alike(cli):
    assert "did you mean" not in cli("explain", "querry").err


def test_explain_has_the_default_of_each_topology(cli):
    for name in ("network.uplink-rate", "uplink-rate"):
        every = cli("explain", name, "--tsv").out
        assert "\nnetwork.uplink-rate\tleaf-spine\t" in every
        params = json.loads(cli("explain", name, "--json").out)["params"]
        assert {param["of"]: param["default"] for param in params} == {
            "tree": "that of rate",
            "leaf-spine": "10 times rate",
            "clos": "that of rate",
            "fat-tree": "that of rate",
        }
    # All topologies that have it agree, and so there is one.
    assert "of" not in json.loads(cli("explain", "receiver-placement", "--json").out)


SHUFFLE = """\
[network]
topology = "leaf-spine"
leaves = 2
hosts-per-leaf = 2
uplink-rate = "10Gbps"
[transport]
scheme = "dctcp"
[[traffic]]
kind = "requests"
from = "all"
to = "all"
fan-in = 3
bytes-each = "2KB"
interval = "1ms"
count = 20
"""


def test_explain_says_how_to_have_a_shuffle(cli, work):
    (work / "shuffle.toml").write_text(SHUFFLE)
    for word in ("shuffle", "all-to-all"):
        said = cli("explain", word).err
        assert 'kind "requests" with from = "all", to = "all"' in said
        assert "a fan-in of one less than there are hosts" in said
    run = fanin.Scenario("shuffle.toml").run()
    # Whoever asks is answered by all others.
    asked = run.flows().group_by("query", "dst").agg(pl.col("src").n_unique())
    assert asked["src"].to_list() == [3] * 20
    assert asked["dst"].n_unique() == 4


def test_explain_says_what_something_is_called_here(cli):
    assert "fanin explain linux" in cli("explain", "cubic").err
    assert "fanin explain linux" in cli("explain", "CUBIC").err
    assert "question 12" in cli("explain", "all-reduce").err
    # A typing mistake is not searched for in texts.
    assert 'did you mean "dctcp"' in cli("explain", "dctpc").err


def test_explain_knows_jumbo_frames_a_switchs_profile_and_the_thresholds_of_tiers(cli):
    assert 'transport.mtu = "9000B"' in cli("explain", "jumbo").err
    assert cli("explain", "mtu").out.startswith("transport.mtu: Largest IP packet")
    assert "wred-max-p" in cli("explain", "wred").out
    assert "about 2p of the packets are marked" in cli("explain", "red-max-p").out
    found = cli("explain", "dctcp.uplink-mark-threshold").out
    assert found.startswith("scheme.dctcp.uplink-mark-threshold: Marking threshold K")
    assert "At the ports of uplink-rate." in found
    assert "that of mark-threshold" in found


def test_explain_names_the_tool_that_has_what_is_not_modelled(cli):
    """And no name that is only spelled alike, such as pfdct for PFC."""
    for name, tool in (
        ("RoCEv2", "High-Precision-Congestion-Control"),
        ("powertcp", "ns3-datacenter"),
        ("eqds", "csg-htsim"),
        ("uec", "uet-htsim"),
        ("bbr", "TcpBbr"),
        ("quic", "ns-3"),
    ):
        result = cli("explain", name)
        assert (result.code, result.out) == (3, "")
        assert result.err.startswith(f"error: {name}: not modelled. fanin is for TCP")
        assert tool in result.err
        assert "did you mean" not in result.err
    assert "network.path-selector" in cli("explain", "spraying").err
    assert "flowlet-gap" in cli("explain", "LetFlow").err
    assert "Priority flow control" in cli("explain", "pfc").out


def test_nothing_that_is_modelled_is_said_not_to_be():
    for name, (_, *others) in not_modelled.ELSEWHERE.items():
        for each in (name, *others):
            with pytest.raises(fanin.NotFoundError, match="not modelled"):
                catalogue.explain(each)


def test_the_help_says_what_fanin_is_not_for(cli):
    page = " ".join(cli("--help").out.split())
    assert f"It is for {not_modelled.SCOPE}. It is not for RDMA" in page
    named = re.search(r"not for (.*?): `fanin explain", page)[1]
    for each in re.split(r", | or | \(|\)", named):
        assert not each or not_modelled.name_other_tool(each), each


def test_explain_takes_ends_groups_and_experiments(cli):
    assert cli("explain", "dctcp.mark-threshold").out.startswith("scheme.dctcp.mark-threshold: ")
    every = cli("explain", "mark-threshold", "--tsv").out
    assert "6 parameters have this name" in every
    assert all(
        f"\nscheme.{scheme}.mark-threshold\t" in every
        for scheme in ("dctcp", "linux-dctcp", "l2dct", "d2tcp", "rcc", "rcce")
    )
    for only in ("traffic.connections", "traffic.bursts.connections"):
        assert cli("explain", only).out.startswith("traffic.incast.connections: ")
    assert cli("explain", "traffic.bursts.scheme").out.startswith("traffic.scheme: ")
    for several in ("traffic.jitter", "traffic.bursts.jitter"):
        every = cli("explain", several, "--tsv").out
        assert "4 parameters have this name" in every
        kinds = ("incast", "background", "sessions", "requests")
        assert all(f"\ntraffic.{kind}.jitter\t" in every for kind in kinds)
    assert cli("explain", "traffic.incast.interval").code == 3
    assert "Fig. 9" in cli("explain", "sdtcp/fig10").out


def test_ctrl_c_while_figures_are_drawn_says_what_is_kept(cli, work, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fanin.show.reproduction.judge_and_draw_all", interrupt)
    result = cli("reproduce", "small.toml", "--quick")
    assert result.code == 130
    assert "drawing 1 figure" in result.err
    assert "interrupted: all runs are kept in results; the same command continues from there" in result.err


def test_ctrl_c_outside_of_a_command_shows_no_traceback(cli, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fanin.cli.commands.app", interrupt)
    assert cli("list", "schemes") == (130, "", "interrupted\n")


def test_a_schemes_name_finds_its_paper(cli):
    assert 'did you mean "dtcwa"' in cli("reproduce", "dt-cwa").err


def test_check_counts_runs_and_resolves_values(cli, work):
    assert "18 runs" in cli("check", "small.toml").err
    text = (work / "small.toml").read_text()
    (work / "plain.toml").write_text(text[: text.index("[sweep]")])
    assert cli("check", "plain.toml").err.strip() == "plain.toml: valid; one run"
    checked = json.loads(cli("check", "small.toml", "--resolved", "--json").out)
    values = {row["path"]: row for row in checked["values"]}
    assert values["network.delay"]["is_default"] is False
    assert values["transport.mss"]["is_default"] is True
    assert values["transport.mss"]["source"]
    assert values["network.delay"]["set_at"] == "small.toml:6"
    assert values["traffic.bursts.senders"]["set_at"] == "small.toml:21"
    assert values["transport.mss"]["set_at"] is None
    assert (values["transport.mss"]["number"], values["transport.mss"]["unit"]) == (1460.0, "B")
    table = cli("check", "small.toml", "--resolved", "--tsv", "--set", "transport.mss=1KB").out
    assert "from\tsource of the default" in table
    # The source of a default that is replaced would read as that of the value.
    assert "transport.mss\t1000B\t--set\t\n" in table
    assert "transport.mss\t1460B\tdefault\t\n" not in cli("check", "small.toml", "--resolved", "--tsv").out


def test_check_tries_every_value_of_the_sweep(cli, work):
    result = cli("check", "small.toml", "--set", "transport.rto-min=0.2")
    assert result.code == 3
    text = (work / "small.toml").read_text().replace('"newreno", "dctcp"', '"newreno", "dctpc"')
    (work / "wrong.toml").write_text(text)
    result = cli("check", "wrong.toml")
    assert result.code == 3
    assert "dctcp" in result.err


def test_reproduce_leaves_what_it_says(cli, work):
    result = cli("reproduce", "small.toml", "--seeds", "1,2", "--json")
    assert result.code == 0, result.err
    report = json.loads(result.out)["experiments"][0]
    assert report["runs"] == 12
    assert report["claims"][0]["outcome"] == "reproduced"
    for path in report["paths"]:
        assert (work / path).stat().st_size > 0
    assert pl.read_parquet(work / "results/small/runs.parquet").height == 12


def test_reproduce_ends_with_the_verdicts_where_the_files_are_and_what_to_do_next(cli, work):
    lines = cli("reproduce", "small.toml", "--seeds", "1,2", "--tsv").out.splitlines()
    assert lines[:5] == [
        "small: A small incast",
        "- under a condition: Something arrives.",
        "",
        "# Expected, and measured here",
        "claim\tnumber\texpected\tours\tverdict",
    ]
    claim, number, published, ours, verdict = lines[5].split("\t")
    assert (claim, published, verdict) == ("some-goodput", "900 Mbit/s", "under a condition")
    assert number.startswith("largest")
    assert ours.endswith(" Mbit/s")
    assert lines[7:9] == [
        "1 sentence: 1 under a condition",
        "(under a condition: it holds if a choice that the paper leaves open is made as the condition says.)",
    ]
    figures, data = lines[9:11]
    assert figures.startswith("Figures in results/small: goodput-bps.svg")
    assert data.startswith("Data in results/small: runs.parquet (a row for each run), claims.json")
    assert [line for line in lines[11:] if line.startswith("  fanin")] == [
        "  fanin reproduce small.toml --seeds 1,2 --details",
        "  fanin reproduce small.toml",
        "  fanin claims small",
    ]
    # What is suggested works, and says the same of the same runs.
    again = cli("reproduce", "small.toml", "--seeds", "1,2", "--details")
    assert "12 found in the store" in again.err
    assert {lines[7], figures, data} <= set(again.out.splitlines())
    assert cli("claims", "small").code == 0
    elsewhere = cli("reproduce", "small.toml", "--quick", "--set", "transport.rto-min=20ms", "--out", "other").out
    again = "fanin reproduce small.toml --set transport.rto-min=20ms"
    assert f"  {again} --quick --out other --details" in elsewhere.splitlines()
    assert f"  {again} --out other" in elsewhere.splitlines()


def test_a_claim_of_ones_own_is_expected_and_no_papers(cli, work):
    own = work / "own.toml"
    nothing = cli("claims", "own.toml")
    assert (nothing.code, "own.toml: no such file" in nothing.err) == (3, True)
    own.write_text((work / "small.toml").read_text().replace("accept = [", "accept = [8e12, 9e12] #"))
    nothing = cli("claims", "own.toml")
    assert (nothing.code, "own.toml: no results; run fanin reproduce own.toml" in nothing.err) == (3, True)
    result = cli("reproduce", "own.toml", "--quick", "--details")
    assert "not reproduced: some-goodput" in result.out
    assert "expected" in result.out
    assert "published" not in result.out
    found = cli("claims", "own.toml")
    assert found.code == 0
    assert "expected" in found.out
    assert found.out == cli("claims", "own").out
    # A file that names a paper reports on that.
    own.write_text(f'paper = "sdtcp"\n{own.read_text()}')
    result = cli("reproduce", "own.toml", "--quick", "--details")
    assert "published" in result.out


def test_reproduce_prints_tables_and_cases_on_demand(cli, work):
    result = cli("reproduce", "small.toml", "--details")
    lines = result.out.splitlines()
    assert any(line == "    reproduced: some-goodput" for line in lines)
    assert "±: half of the 95 % interval over seeds; bands in plots: the whole interval" in lines
    assert any(line.count("±") > 1 for line in lines)
    assert "--details" not in result.out
    assert "±" not in cli("reproduce", "small.toml", "--quick", "--details").out
    assert "±" not in cli("reproduce", "small.toml").out


def test_reproduce_needs_something_to_reproduce(cli, work):
    text = (work / "small.toml").read_text()
    (work / "plain.toml").write_text(text[: text.index("[sweep]")])
    result = cli("reproduce", "plain.toml")
    assert result.code == 3
    assert "add [sweep], [[plot]] or [[claim]], or use 'fanin run'" in result.err


def test_a_sweep_says_that_flows_are_missing(cli, work):
    text = (work / "small.toml").read_text().replace('"2s"', '"8ms"')
    (work / "short.toml").write_text(text)
    result = cli("reproduce", "short.toml", "--seeds", "1", "--json")
    assert "were not complete at the end of the run" in result.err
    assert json.loads(result.out)["experiments"][0]["warnings"]


def test_strict_turns_a_verdict_into_an_exit_code(cli, work):
    text = (work / "small.toml").read_text().replace("accept = [1.0, 1e9]", "accept = [1e12, 2e12]")
    (work / "small.toml").write_text(text)
    assert cli("reproduce", "small.toml", "--quick").code == 0
    assert cli("reproduce", "small.toml", "--quick", "--strict").code == 1
    # Where there is no claim, none is reproduced.
    (work / "small.toml").write_text(text.partition("[[claim]]")[0])
    assert cli("reproduce", "small.toml", "--quick").code == 0
    assert cli("reproduce", "small.toml", "--quick", "--strict").code == 1


def test_describe_and_export_a_run(cli, work):
    folder = json.loads(cli("run", "small.toml", "--json").out)["stored"]
    described = json.loads(cli("describe", folder, "--json").out)
    columns = {c["name"]: c for file in described["files"] if "flows" in file["file"] for c in file["columns"]}
    assert columns["bytes"]["unit"] == "B"
    assert columns["bytes"]["type"] == "uint64"
    assert all(c["description"] for c in columns.values())
    assert "finished" in cli("describe", folder).out

    names, units, first = cli("export", folder, "--to", "csv").out.splitlines()[:3]
    assert units.startswith("# ")
    assert len(names.split(",")) == len(units.split(",")) == len(first.split(","))

    assert cli("export", folder, "--to", "fct", "--out", "fct.txt").code == 0
    rows = [line.split() for line in (work / "fct.txt").read_text().splitlines()]
    assert len(rows) == 3
    assert all(len(row) == 8 and int(row[6]) >= int(row[7]) > 0 for row in rows)


def test_a_sweeps_table_is_described_from_what_fanin_knows(cli, work):
    cli("reproduce", "small.toml", "--quick")
    described = json.loads(cli("describe", "results/small/runs.parquet", "--json").out)
    columns = {c["name"]: c for c in described["files"][0]["columns"]}
    assert columns["goodput_bps"]["unit"] == "bit/s"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_program_itself_interrupts_cleanly(work, number, code):
    scenario = (work / "small.toml").read_text().replace("2s", "30s").replace('"1..3"', '"1..400"')
    (work / "long.toml").write_text(scenario.replace("[2, 8, 24]", "[0]"))
    program = subprocess.Popen(
        [sys.executable, "-m", "fanin", "reproduce", "long.toml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    while program.poll() is None and not Store("results").made_for():
        pass
    program.send_signal(number)
    _, err = program.communicate(timeout=60)
    assert program.returncode == code
    assert "Traceback" not in err
    assert "interrupted" in err
    assert 0 < len(stored()) < 400


@pytest.mark.parametrize(
    "words", [["list", "schemes"], ["sweep", "small.toml", "--seeds", "1", "--bare", "--set", "run.duration=10ms"]]
)
def test_in_another_process_a_command_leaves_the_process_as_it_was(cli, work, monkeypatch, words):
    """What a process has once is the program's own: SIGTERM ends whoever calls a command, such as these tests."""

    def state():
        return {
            "signals": [signal.getsignal(each) for each in signal.valid_signals()],
            "garbage": gc.get_threshold(),
            "warnings": (warnings.showwarning, list(warnings.filters)),
            "environment": dict(os.environ),
            "streams": [(each, each.errors) for each in (sys.stdin, sys.stdout, sys.stderr)],
            "folder": Path.cwd(),
        }

    monkeypatch.setenv("COLUMNS", "0")
    thresholds, handler = gc.get_threshold(), signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.set_threshold(701, 11, 11)
    try:
        before = state()
        assert cli(*words).code == 0
        assert state() == before
    finally:
        gc.set_threshold(*thresholds)
        signal.signal(signal.SIGTERM, handler)


def test_the_program_has_what_belongs_to_its_process():
    """Its own signals, few looks for garbage, and whatever text it is given."""
    code = (
        "import sys; sys.argv[1:] = ['--version']; import gc, os, signal; from fanin.__main__ import main; main()\n"
        "print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, gc.get_threshold()[0] > 10_000, sys.stdout.errors)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1:] == ["False True surrogateescape"]


def test_readings_are_looked_up_by_their_ids(cli):
    schemes = json.loads(cli("list", "schemes", "--json").out)
    pages = [json.loads(cli("explain", scheme["key"], "--json").out) for scheme in schemes]
    ids = {reading["id"] for page in pages for reading in page["readings"]}
    ids |= {param["reading"] for page in pages for param in page["params"] if param["reading"]}
    assert ids
    for name in ids:
        found = json.loads(cli("explain", name, "--json").out)
        assert (found["kind"], found["key"]) == ("reading", name)
        assert found["params"] or found["readings"]
        assert name in cli("explain", name).out


@pytest.mark.parametrize("nothing", ["", " "])
def test_explain_of_an_empty_name_is_an_error(cli, nothing):
    result = cli("explain", nothing)
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("error: an empty name: fanin list ")


def test_explain_an_environment_names_every_default_and_its_source(cli):
    page = cli("explain", "qualnet", "--tsv").out
    assert "transport.mss\t512B\tTCP-MSS 512" in page
    assert "network.buffer\t150000B\t" in page
    found = json.loads(cli("explain", "qualnet", "--json").out)
    assert {"path": "transport.ack-every", "value": "2"}.items() <= found["stack"][3].items()
    assert all(each["source"] for each in [*found["stack"], *found["switch"]])
    assert "qualnet" in cli("explain", "environment").out
    linux = json.loads(cli("explain", "linux", "--json").out)
    assert (linux["stack"], linux["transport"]["loss-detection"]) == ("linux-6.12", "linux")
    assert cli("explain", "linux-6").out == cli("explain", "linux-6.12").out


def test_check_shows_what_the_environment_brings(cli, work):
    text = (work / "small.toml").read_text()
    (work / "small.toml").write_text(f'environment = "qualnet"\n{text}')
    rows = json.loads(cli("check", "small.toml", "--resolved", "--json").out)["values"]
    values = {row["path"]: row for row in rows}
    assert (values["environment"]["value"], values["environment"]["set_at"]) == ("qualnet", "small.toml:1")
    assert values["transport.mss"]["source"].startswith("environment qualnet: TCP-MSS 512")
    assert (values["transport.mss"]["value"], values["transport.mss"]["set_at"]) == ("512B", None)
    assert values["transport.initial-window"]["value"] == "2mss"
    assert (values["transport.stack"]["value"], values["network.switch"]["value"]) == ("qualnet", "qualnet")


SYSTEMS = """
[variant.system]
TCP = { transport.scheme = "newreno" }
DCTCP = { transport.scheme = "dctcp", transport.ack-every = 2 }
"""


def test_check_warns_of_a_key_of_all_systems_that_only_some_set(cli, work):
    text = (work / "small.toml").read_text().replace('"transport.scheme" = ["newreno", "dctcp"]\n', "")
    text = text[: text.index("[[plot]]")]
    (work / "small.toml").write_text(text + SYSTEMS)
    warned = cli("check", "small.toml").err
    assert (
        "transport.ack-every concerns every system, but the variants give it different values (here: DCTCP)" in warned
    )
    (work / "small.toml").write_text(text + SYSTEMS.replace("ack-every = 2", 'ack-every = 2, why = "its receiver"'))
    assert "every system" not in cli("check", "small.toml").err
    both = SYSTEMS.replace('"newreno"', '"newreno", transport.ack-every = 2')
    (work / "small.toml").write_text(text + both)
    assert "every system" not in cli("check", "small.toml").err
    (work / "small.toml").write_text(text + SYSTEMS.replace("ack-every = 2", "ack-every = 2, why = 1"))
    assert "variant.system.DCTCP.why" in cli("check", "small.toml").err


def test_check_warns_of_traffic_that_only_some_systems_have_unless_the_sweep_varies_it(cli, work):
    text = (work / "small.toml").read_text().replace('"transport.scheme" = ["newreno", "dctcp"]\n', "")
    text = text[: text.index("[[plot]]")]
    assert '"traffic.bursts.senders" =' in text
    for key, warns in [("rounds = 2", True), ("senders = 6", False), ('scheme = "dctcp"', False)]:
        (work / "small.toml").write_text(text + SYSTEMS.replace("transport.ack-every = 2", f"traffic.bursts.{key}"))
        said = "variant.system: traffic.bursts.rounds concerns every system" in cli("check", "small.toml").err
        assert said == warns, key


class Panic(BaseException):
    """Not an Exception, as the panics of the engine are not."""


@pytest.mark.parametrize("defect", [RuntimeError("a\nb"), RecursionError("too deep"), Panic("index out of bounds")])
def test_a_defect_ends_in_one_line_and_a_report(cli, work, monkeypatch, tmp_path, defect):
    def fail(*_, **__):
        raise defect

    monkeypatch.setattr("fanin.Scenario", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = cli("check", "small.toml")
    assert result.code == 70
    line, end = result.err.split("\n", 1)
    assert (end, type(defect).__name__ in line, "internal error" in line) == ("", True, True)
    report = Path(line.rpartition(" ")[2])
    assert report.parent == tmp_path
    assert all(part in report.read_text() for part in ("Traceback", "engine 0.", "arguments: ", str(defect)))


def test_what_rust_says_of_a_panic_is_in_the_report_only(work, tmp_path):
    # More decisions than any vector has room for, which the benchmark of the controller does not expect.
    panic = "fanin.Scenario = lambda *_: fanin._engine.controller_benchmark(1, decisions=2**62)"
    command = f"import fanin; from fanin.__main__ import main; {panic}; main()"
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", command, "check", "small.toml"],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": paths},
        check=False,
    )
    assert (done.returncode, done.stdout) == (70, "")
    assert re.fullmatch(
        r"error: internal error \(PanicException: capacity overflow\); please report it with .*\n", done.stderr
    )
    report = Path(done.stderr.split()[-1]).read_text()
    assert re.search(r"panicked at \S+\.rs:\d+", report)


def test_a_panic_in_an_engine_of_its_user_is_placed_because_it_may_be_the_scheme(monkeypatch):
    monkeypatch.setattr(
        fanin._engine, "panics", lambda: ["panicked at /home/me/mine/src/lib.rs:106:9:\nindex out of bounds"]
    )
    assert crash.of_own_engine() == ""
    monkeypatch.setenv("FANIN_ENGINE", "mine.so")
    assert crash.of_own_engine() == " at /home/me/mine/src/lib.rs:106; if that is your scheme, mend it there"


def test_who_names_an_unknown_scheme_learns_that_engines_have_schemes(cli, work, monkeypatch):
    said = cli("run", "small.toml", "--set", "transport.scheme=mine").err
    assert said.endswith("\nFANIN_ENGINE is not set: a scheme of your own needs the engine that has it\n")
    monkeypatch.setenv("FANIN_ENGINE", "/other.so")
    assert "FANIN_ENGINE is /other.so" in cli("run", "small.toml", "--set", "transport.scheme=mine").err
    assert "FANIN_ENGINE" not in cli("run", "small.toml", "--set", "queue.kind=mine").err


def test_a_defect_without_room_for_a_report_is_reported_on_stderr(cli, work, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fanin.Scenario", fail)
    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    result = cli("check", "small.toml")
    assert (result.code, "report it with the text above" in result.err, "Traceback" in result.err) == (70, True, True)


def _program(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "fanin", *arguments], capture_output=True, env={**os.environ, **environment}, check=False
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_no_defect(work, closed):
    command = f"{sys.executable} -m fanin check small.toml {closed}"
    done = subprocess.run(
        ["sh", "-c", command], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=False
    )
    assert done.returncode == 0


def test_a_terminal_without_a_letter_shows_a_question_mark(work):
    text = (work / "small.toml").read_text().replace("Something arrives.", "Etwas kommt \u00fcberall an.")
    (work / "small.toml").write_text(text.replace("A small incast", "Kleiner Stau \u2014 f\u00fcr alle"))
    done = _program("reproduce", "small.toml", "--quick", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    assert b"Etwas kommt ?berall an." in done.stdout


def test_a_name_that_is_not_utf_8_is_refused(work):
    done = _program("reproduce", "small.toml", "--quick", "--out", os.fsdecode(b"r\xe9sultats"))
    assert done.returncode == 2
    assert done.stderr == b"error: r\xe9sultats: not valid UTF-8, which names of files and folders must be here\n"
    assert not (work / os.fsdecode(b"r\xe9sultats")).exists()


def test_a_fault_that_begins_after_the_last_transfer_is_told(cli, work):
    fault = '[[fault]]\nkind = "loss"\nlink = "bottleneck"\nrate = "10%"\nat = "{}"\n'
    scenario = (work / "small.toml").read_text().partition("[sweep]")[0]
    (work / "late.toml").write_text(scenario + fault.format("1.9s"))
    assert "warning: fault.loss: without effect, as the run was over at" in cli("run", "late.toml").err
    (work / "late.toml").write_text(scenario + fault.format("0s"))
    assert "without effect" not in cli("run", "late.toml").err


def test_commands_to_try_capture_nothing(cli, work):
    told = json.loads(cli("run", "small.toml", "--pcap", "--seed", "2", "--json").out)["diagnosis"]["try"]
    assert told
    assert all("run.seed=2" in each["command"] and "capture" not in each["command"] for each in told)

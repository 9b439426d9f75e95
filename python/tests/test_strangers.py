"""A results folder from somebody else: what is in it is shown or refused, and does nothing."""

import io
import json
import os
import random
import shutil
from http import HTTPStatus
from pathlib import Path

import polars as pl
import pytest
from serving import Site
from test_fuzzed import damaged

import fanin
from fanin.errors import ResultsError
from fanin.results import store, sums
from fanin.results.confined import MOST_JSON, MOST_LOG, MOST_TABLE
from fanin.results.files import write_whole
from fanin.results.records import Packed, text_of
from fanin.results.store import Store, manifest_text
from fanin.serve import reader
from fanin.serve.reader import Reader, Request

SCRIPT = "<img src=x onerror=alert(1)><script>alert(1)</script>\x1b[2J\u202e\ud800"
SECRET = "what only this user may read"


@pytest.fixture
def folder(work):
    """A results folder with a run that has tables."""
    (work / "secret").mkdir()
    settings = {"run.duration": "20ms", "measure.capture": "bottleneck"}
    fanin.load("small.toml").run(overrides=settings, store=Store(work / "results"))
    (run,) = (path for path in (work / "results" / "runs").iterdir() if path.is_dir())
    shutil.copytree(run, work / "secret" / "run")
    (work / "secret" / "text").write_text(SECRET)
    pl.DataFrame({"flow": [SECRET]}).write_parquet(work / "secret" / "flows.parquet")
    return work / "results"


def run_in(folder):
    return next(path for path in sorted((folder / "runs").iterdir()) if len(path.name) == 16)


def rewritten(run, **changes):
    """Changes a manifest, with a digest that matches."""
    manifest = json.loads((run / "manifest.json").read_bytes())
    manifest |= changes
    write_whole(run / "manifest.json", manifest_text(sums.sealed(manifest)))
    return manifest


def refilled(run, name, content):
    """Replaces a file, with a manifest that matches."""
    import hashlib

    manifest = json.loads((run / "manifest.json").read_bytes())
    files = manifest["files"] | {name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}}
    (run / name).unlink(missing_ok=True)
    (run / name).write_bytes(content)
    rewritten(run, files=files)


def asked(folder, run_id):
    """The answers to everything that the page asks of a folder with a run."""
    site = Site(folder)
    of_run = [f"/api/runs/{run_id}{rest}" for rest in ("", "/scenario", "/outcome", "/capture")]
    tables = [f"/api/runs/{run_id}/tables/flows{rest}" for rest in ("", "/csv", "/parquet")]
    others = ["/api/runs", "/api/sweeps", "/api/sweeps/s", "/api/sweeps/s/tables/runs", "/api/sweeps/s/tables/runs/csv"]
    found = {path: site.get(path) for path in [*of_run, *tables, *others]}
    for query in ("name=mine", "name=mine&table=runs"):
        for path in ("/api/experiment", "/api/experiment/table", "/api/experiment/csv", "/api/experiment/parquet"):
            found[f"{path}?{query}"] = site.get(path, query)
    return found


def harmless(found):
    """No answer is a failure, none is a page, and none has what is outside of the folder."""
    for path, got in found.items():
        assert got.status < 500, (path, got.body)
        assert got.type in ("application/json", "application/problem+json") or path.startswith("/api/runs/"), path
        assert got.type not in ("text/html", "image/svg+xml"), path
        assert got.headers["x-content-type-options"] == "nosniff"
        assert SECRET.encode() not in got.body, path
        assert b"root:" not in got.body, path


def linked(place, target):
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def piped(place):
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)


def large(place, size):
    """A file that is large and takes no room."""
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as stream:
        stream.truncate(size)


TRAPS = {
    "the runs are elsewhere": lambda out, run, secret: linked(out / "runs", secret),
    "the run is elsewhere": lambda out, run, secret: linked(run, secret / "run"),
    "a table is elsewhere": lambda out, run, secret: linked(run / "flows.parquet", secret / "flows.parquet"),
    "the packets are elsewhere": lambda out, run, secret: linked(run / "trace.pcapng", secret / "text"),
    "the manifest is elsewhere": lambda out, run, secret: linked(run / "manifest.json", "/etc/passwd"),
    "a loop": lambda out, run, secret: linked(run / "flows.parquet", run / "flows.parquet"),
    "endless": lambda out, run, secret: linked(run / "flows.parquet", "/dev/zero"),
    "an endless log": lambda out, run, secret: linked(out / "runs" / "a.jsonl", "/dev/zero"),
    "a log elsewhere": lambda out, run, secret: linked(out / "runs" / "a.jsonl", secret / "text"),
    "a sweep elsewhere": lambda out, run, secret: linked(out / "sweeps" / "s", secret),
    "all sweeps elsewhere": lambda out, run, secret: linked(out / "sweeps", secret),
    "a record elsewhere": lambda out, run, secret: linked(out / "mine" / "claims.json", secret / "text"),
    "an experiment elsewhere": lambda out, run, secret: linked(out / "mine", secret),
    "a pipe as manifest": lambda out, run, secret: piped(run / "manifest.json"),
    "a pipe as table": lambda out, run, secret: piped(run / "flows.parquet"),
    "a pipe as log": lambda out, run, secret: piped(out / "runs" / "a.jsonl"),
    "a pipe as sweep": lambda out, run, secret: piped(out / "sweeps" / "s" / "sweep.json"),
    "a pipe as record": lambda out, run, secret: piped(out / "mine" / "claims.json"),
    "a pipe as digests": lambda out, run, secret: piped(out / "sweeps" / "s" / "SHA256SUMS"),
    "a large table": lambda out, run, secret: large(run / "flows.parquet", MOST_TABLE + 1),
    "a large manifest": lambda out, run, secret: large(run / "manifest.json", MOST_JSON + 1),
    "a large log": lambda out, run, secret: large(out / "runs" / "a.jsonl", MOST_LOG + 1),
    "a large record": lambda out, run, secret: large(out / "mine" / "claims.json", MOST_TABLE + 1),
    "a run that is a file": lambda out, run, secret: (out / "runs" / ("0" * 16)).write_text(SCRIPT[:50]),
    "runs that are a file": lambda out, run, secret: (shutil.rmtree(out / "runs"), (out / "runs").write_text("x")),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_what_leads_elsewhere_or_never_ends_is_not_opened(folder, trap):
    run = run_in(folder)
    TRAPS[trap](folder, run, folder.parent / "secret")
    harmless(found := asked(folder, run.name))
    damaged_runs = found["/api/runs"].json["damaged"]
    refused = [path for path, got in found.items() if got.status == HTTPStatus.UNPROCESSABLE_ENTITY]
    assert damaged_runs or refused, "somewhere it is said what was not opened"


def test_a_link_inside_the_folder_is_followed(folder):
    run = run_in(folder)
    (folder / "kept").mkdir()
    (run / "flows.parquet").rename(folder / "kept" / "flows.parquet")
    (run / "flows.parquet").symlink_to(folder / "kept" / "flows.parquet")
    assert asked(folder, run.name)[f"/api/runs/{run.name}/tables/flows"].status == HTTPStatus.OK


STRANGE = {
    "script": {"experiment": SCRIPT, "finished": SCRIPT, "host": SCRIPT},
    "numbers": {"summary": {"result_hash": 1, "goodput_bps": float("nan"), "drops": 10**400, "marks": -(10**30)}},
    "kinds": {"summary": {"result_hash": [], "goodput_bps": SCRIPT, "groups": 3, SCRIPT: {}}, "experiment": {}},
    "no scenario": {"scenario": None},
    "a scenario of text": {"scenario": SCRIPT, "finished": 3},
    "a scenario of lists": {
        "scenario": {"traffic": [[1], {"kind": [SCRIPT]}], "network": [], "transport": {"scheme": 1}}
    },
    "keys": {"scenario": {SCRIPT: {SCRIPT: SCRIPT}, "run": {"seed": float("inf")}}},
}


@pytest.mark.parametrize("what", STRANGE)
@pytest.mark.parametrize("logged", [False, True])
def test_anything_may_be_in_a_manifest(folder, what, logged):
    run = run_in(folder)
    manifest = rewritten(run, **STRANGE[what])
    if logged:
        about = {key: manifest[key] for key in ("experiment", "scenario", "finished")}
        about["scenario"] = about["scenario"] if isinstance(about["scenario"], dict) else {}
        about["scenario"].setdefault("run", {"seed": 1})
        line = text_of([Packed(run.name, 1, manifest["summary"], {})], about)
        shutil.rmtree(run)
        (folder / "runs" / "a.jsonl").write_bytes(line)
    harmless(found := asked(folder, run.name))
    if damaged_runs := found["/api/runs"].json["damaged"]:
        # A manifest of its own is refused as a whole.
        assert not logged
        assert "not a manifest" in damaged_runs[0]["why"]
        return
    (row,) = found["/api/runs"].json["runs"]
    assert row["run_id"] == run.name
    assert {type(row[name]) for name in ("experiment", "scheme", "finished", "traffic")} == {str}
    for path in ("/api/runs?sort=" + name for name in ("drops", "experiment", "seed")):
        assert Site(folder).get(*path.split("?")).status == HTTPStatus.OK


LINES = [
    {"runs": 1},
    {"runs": ["0" * 16], "seeds": [1], "each": [1], "scenario": {"run": {}}},
    {"runs": ["0" * 16], "seeds": [], "each": []},
    {"runs": ["../../../etc/passwd"], "seeds": [1], "each": [{"summary": {}, "tables": {}}], "scenario": {"run": {}}},
    {"runs": ["0" * 16], "seeds": [1], "each": [{"summary": {}, "tables": {"../x": "?", "flows": "?"}}],
     "scenario": {"run": {}}},
]  # fmt: skip


@pytest.mark.parametrize("content", LINES)
def test_anything_may_be_in_a_line_of_a_log(folder, content):
    import hashlib

    run = run_in(folder)
    rest = json.dumps(content).encode()[1:]
    digest = hashlib.sha256(rest).hexdigest().encode()
    (folder / "runs" / "a.jsonl").write_bytes(b'{"sha256": "' + digest + b'", ' + rest + b"\n" + b"x" * 99 + b"\n")
    harmless(asked(folder, run.name))
    harmless(asked(folder, "0" * 16))
    found = asked(folder, run.name)
    assert found["/api/runs"].json["damaged"], "it is said that a line is not one of runs"
    assert found[f"/api/runs/{run.name}"].status == HTTPStatus.OK


def test_nested_too_deeply(folder):
    run = run_in(folder)
    (run / "manifest.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
    harmless(found := asked(folder, run.name))
    assert found["/api/runs"].json["runs"] == []


def test_damaged_tables_are_read_or_refused(folder):
    """With manifests that match, so that only the reading itself stands between."""
    run, random_ = run_in(folder), random.Random(5)
    whole = (run / "flows.parquet").read_bytes()
    site, refused = Site(folder), 0
    for _ in range(60):
        refilled(run, "flows.parquet", damaged(whole, random_))
        for rest in ("", "/csv"):
            got = site.get(f"/api/runs/{run.name}/tables/flows{rest}")
            assert got.status in (HTTPStatus.OK, HTTPStatus.UNPROCESSABLE_ENTITY), got.body
            refused += got.status != HTTPStatus.OK
    assert refused > 30
    refilled(run, "flows.parquet", whole)
    assert site.get(f"/api/runs/{run.name}/tables/flows").status == HTTPStatus.OK


def test_tables_of_any_type_are_shown_or_refused(folder):
    run = run_in(folder)
    site = Site(folder)
    frames = [
        {"a": [[1, 2], []], "b": [{"x": 1}, {"x": 2}], "c": [b"\xff", b""]},
        {"<script>": [SCRIPT[:40], None], "d": [True, None], "e": [float("nan"), float("-inf")], "f": [2**63, 1]},
        {},
        {"a" * 5000: []},
    ]
    for frame in frames:
        pl.DataFrame(frame, strict=False).write_parquet(run / "x.parquet")
        refilled(run, "flows.parquet", (run / "x.parquet").read_bytes())
        for rest in ("", "/csv", "/parquet"):
            got = site.get(f"/api/runs/{run.name}/tables/flows{rest}")
            assert got.status in (HTTPStatus.OK, HTTPStatus.UNPROCESSABLE_ENTITY), (frame, got.body)
            if got.type == "application/json":
                json.loads(got.body, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


def test_a_table_that_grows_beyond_the_memory_costs_only_its_answer(tmp_path):
    column = pl.repeat(7, 4_000_000, dtype=pl.UInt64, eager=True)
    pl.DataFrame({f"c{place}": column for place in range(36)}).write_parquet(tmp_path / "bomb.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "small.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 1 << 20
    reader = Reader(memory=1 << 30)
    with pytest.raises(ResultsError, match="memory"):
        reader.read(Request(tmp_path, ("bomb.parquet",), limit=1))
    answer = reader.read(Request(tmp_path, ("small.parquet",)))
    assert json.loads(answer.read_bytes())[0]["rows"] == 1
    reader.close()
    assert not answer.parent.exists()


@pytest.mark.parametrize("value", [8, 0])
def test_no_command_reads_a_table_that_does_not_fit(cli, work, monkeypatch, value):
    """By what the file says of itself, and, if that is not true, by reading it where memory is bounded."""
    column = pl.repeat(7, 4_000_000, dtype=pl.UInt64, eager=True)
    pl.DataFrame({f"c{place}": column for place in range(36)}).write_parquet("bomb.parquet")
    for module in (reader, store):
        monkeypatch.setattr(module, "available", lambda: 1.1e9)
    monkeypatch.setattr(store, "_VALUE", value)
    for words in (
        ("export", "bomb.parquet", "--out", "bomb.csv"),
        ("export", "bomb.parquet", "--to", "fct"),
        ("fct", "bomb.parquet"),
        ("compare", "small.toml", "--reference", "bomb.parquet"),
    ):
        result = cli(*words)
        assert (result.code, result.out) == (3, ""), result.err
        assert "bomb.parquet: the table" in result.err
        assert "memory" in result.err
    assert not (work / "bomb.csv").exists()


def test_a_long_text_in_many_rows_is_not_written(cli, work):
    pl.DataFrame({"a": pl.repeat("x" * 100_000, 20_000, eager=True)}).write_parquet("texts.parquet")
    result = cli("export", "texts.parquet")
    assert (result.code, result.out) == (3, "")
    assert "2,000,000,000 bytes of text" in result.err


FLOWS = {
    "flow": [0, 1], "group": ["g", "g"], "class": ["a", "b"], "src": [1, 2], "dst": [3, 4], "bytes": [10, 20],
    "start_s": [0.0, 1.0], "fct_s": [1.0, 2.0], "ideal_s": [0.5, 0.5], "ideal_hpcc_s": [0.5, 0.5],
}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("flow", ["x", "y"]),
        ("bytes", [[1], [2]]),
        ("fct_s", [float("inf"), 1.0]),
        ("fct_s", [1e308, 1e308]),
        ("ideal_s", [float("nan"), 1.0]),
        ("class", [None, None]),
        ("group", [b"\xff", b"\xff"]),
        ("class", [[b"a"], [b"b"]]),
    ],
)
def test_a_flows_table_of_a_stranger_is_refused(cli, work, column, values):
    pl.DataFrame(FLOWS).write_parquet("flows.parquet")
    assert cli("fct", "flows.parquet").code == cli("export", "flows.parquet", "--to", "fct").code == 0
    pl.DataFrame(FLOWS | {column: values}, strict=False).write_parquet("flows.parquet")
    refused = [
        cli("fct", "flows.parquet"),
        cli("export", "flows.parquet", "--to", "fct"),
        cli("export", "flows.parquet"),
    ]
    assert refused[0].code == 3
    assert "not a flows table" in refused[0].err
    assert {each.code for each in refused} <= {0, 3}
    assert not [each for each in refused if each.code == 3 and len(each.err.splitlines()) != 1]


@pytest.mark.parametrize("column", ["fct_s", "start_s", "flow", "bytes"])
def test_numbers_of_any_type_are_exported(cli, work, column):
    pl.DataFrame(FLOWS).write_parquet("flows.parquet")
    usual = cli("export", "flows.parquet", "--to", "fct").out
    pl.DataFrame(FLOWS).with_columns(pl.col(column).cast(pl.Decimal(10, 2))).write_parquet("flows.parquet")
    assert cli("export", "flows.parquet", "--to", "fct").out == usual
    pl.DataFrame(FLOWS | {"bytes": [1e100, 1.0]}).write_parquet("flows.parquet")
    result = cli("export", "flows.parquet", "--to", "fct")
    assert (result.code, "flows.parquet: not a flows table" in result.err) == (3, True)


def test_a_refused_flows_table_is_named(cli, work):
    for other, message in (
        (pl.DataFrame({"a": [1]}), "flows.parquet: the flow table has no column flow"),
        (pl.DataFrame(FLOWS | {"class": [1, 2]}), "flows.parquet: not a flows table: not every class is a text"),
    ):
        other.write_parquet("flows.parquet")
        result = cli("fct", "flows.parquet")
        assert (result.code, message in result.err) == (3, True), result.err


DRAWN = pl.col("fct_s")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (DRAWN.alias("fct"), "its table flows has no column fct_s"),
        (DRAWN.implode(), "flows.fct_s is of List(Float64), not of numbers"),
        (DRAWN.cast(pl.String).cast(pl.Binary), "flows.fct_s is of Binary, not of numbers"),
        (DRAWN.cast(pl.String), "flows.fct_s is of String, not of numbers"),
        (pl.lit(None, pl.Float64).alias("fct_s"), "there is no value of flows.fct_s to draw"),
    ],
)
def test_what_cannot_be_drawn_is_refused(cli, folder, column, message):
    run = run_in(folder)
    flows = pl.read_parquet(run / "flows.parquet")
    flows.drop("fct_s").head(1).with_columns(flows.select(column)[:1]).write_parquet(run / "x.parquet")
    refilled(run, "flows.parquet", (run / "x.parquet").read_bytes())
    result = cli("plot", "cdf", str(run))
    assert (result.code, f"{run.name}: {message}" in result.err) == (3, True), result.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda runs: runs.clear(), "no run of the sweep has finished"),
        (
            lambda runs: runs.with_columns(pl.concat_list("traffic.bursts.senders").alias("traffic.bursts.senders")),
            "damaged (the column traffic.bursts.senders is of List(Int64))",
        ),
    ],
)
def test_a_sweep_that_cannot_be_drawn_is_refused(cli, work, change, message):
    arguments = ("--set", "traffic.bursts.senders=2,4", "--set", "run.duration=20ms", "--tables", "flows")
    assert cli("sweep", "small.toml", "--bare", *arguments).code == 0
    (sweep,) = (work / "results" / "sweeps").iterdir()
    change(pl.read_parquet(sweep / "runs.parquet")).write_parquet(sweep / "runs.parquet")
    found = sums.read_sums(sweep)
    (sweep / sums.SUMS).write_bytes(b"")
    (sweep / sums.SUMS).write_bytes(sums.text_of(sweep, list(found.files), found.command))
    result = cli("plot", "cdf", str(sweep))
    assert (result.code, f"runs.parquet: {message}" in result.err) == (3, True), result.err


def test_a_table_that_takes_too_long_is_given_up(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "small.parquet")
    reader = Reader(seconds=0)
    with pytest.raises(ResultsError, match="within 0 s"):
        reader.read(Request(tmp_path, ("small.parquet",)))
    assert reader._process is None
    reader.close()


def test_nothing_is_written_into_the_folder(folder):
    def contents():
        return {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}

    before = contents()
    found = asked(folder, run_in(folder).name)
    assert found[f"/api/runs/{run_in(folder).name}/outcome"].status == HTTPStatus.OK
    assert contents() == before


def test_a_record_may_say_anything(folder):
    (folder / "mine").mkdir()
    for content in ([], {"format": 4}, {"format": 4, "title": SCRIPT[:40], "file": "/etc/passwd"}, "x", None):
        (folder / "mine" / "claims.json").write_text(json.dumps(content))
        harmless(asked(folder, run_in(folder).name))
    (folder / "sweeps" / "s").mkdir(parents=True)
    for content in ([], {}, {"id": "s"}, {"id": "../../x"}, 3):
        (folder / "sweeps" / "s" / "sweep.json").write_text(json.dumps(content))
        harmless(asked(folder, run_in(folder).name))


def test_the_served_folder_is_where_it_was_asked_for(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "real")
    site = Site(tmp_path / "results")
    assert site.get("/api/runs").json["total"] == 0
    assert Path(site.get("/api/ping").json["folder"]) == tmp_path / "real"


def put_in(name, kind):
    """Replaces the columns of a table by a value of their own each: those of numbers, or all."""
    chosen = (lambda of: of.is_float()) if kind == "floats" else (lambda of: of.is_numeric())
    return lambda frame: frame.with_columns(pl.lit(name).alias(key) for key, of in frame.schema.items() if chosen(of))


FORGED = {
    "texts": lambda frame: frame.with_columns(pl.all().cast(pl.String)),
    "lists": lambda frame: frame.with_columns(pl.concat_list(pl.col(name)).alias(name) for name in frame.columns),
    "truth values": lambda frame: frame.with_columns(pl.lit(True).alias(name) for name in frame.columns),
    "dates": lambda frame: frame.with_columns(pl.lit(0).cast(pl.Date).alias(name) for name in frame.columns),
    "nothing": lambda frame: frame.with_columns(pl.lit(None).cast(of).alias(name) for name, of in frame.schema.items()),
    "no rows": lambda frame: frame.clear(),
    "NaN": put_in(float("nan"), "floats"),
    "infinite": put_in(float("inf"), "floats"),
    "largest": put_in(1.7e308, "floats"),
    "least": put_in(-1e300, "floats"),
    "large": put_in(9e199, "floats"),
    "tiny": put_in(1e-320, "floats"),
    "zero": put_in(0, "numbers"),
    "first column missing": lambda frame: frame.drop(frame.columns[0]),
    "second column missing": lambda frame: frame.drop(frame.columns[1]),
    "last column missing": lambda frame: frame.drop(frame.columns[-1]),
}
"""What a stranger makes of a table of another run."""

DRAWN_OF = {
    "queues": [("queue",), ("cdf", "--of", "queues.mean_bytes")],
    "links": [("queue",), ("cdf", "--of", "queues.mean_bytes")],
    "queue-trace": [("queue",), ("queue", "--from", "1us")],
    "flows": [("flows",), ("flows", "--from", "1us"), ("cdf",), ("windows",)],
    "bins": [("goodput",)],
    "probes": [("windows",)],
}
"""Result table -> the pictures that read it."""


@pytest.fixture
def recorded(work):
    """A run in a folder that has everything that is drawn."""
    settings = {"run.duration": "20ms", "measure.capture": "bottleneck", "measure.queue-trace": "on-change"}
    settings |= {"measure.bin": "1ms", "measure.probes": "cwnd", "measure.probe-flows": "1"}
    fanin.load("small.toml").run(overrides=settings, store=Store(work / "results"))
    return run_in(work / "results")


@pytest.mark.parametrize("table", DRAWN_OF)
def test_a_table_of_other_values_is_drawn_or_refused(cli, recorded, table):
    path = recorded / f"{table}.parquet"
    whole = path.read_bytes()
    for told, forge in FORGED.items():
        content = io.BytesIO()
        forge(pl.read_parquet(whole)).write_parquet(content)
        refilled(recorded, path.name, content.getvalue())
        for what, *more in DRAWN_OF[table]:
            done = cli("plot", what, str(recorded), *more, "--file", "drawn.svg")
            assert done.code in (0, 3), (told, what, done.err)
            assert "Traceback" not in done.err
            assert "overflow" not in done.err, (told, what, done.err)


@pytest.mark.parametrize(
    ("place", "odd", "told"),
    [
        ("summary.simulated_s", None, "its total simulated_s is no number"),
        ("summary.simulated_s", 1.7e308, "its total simulated_s is no number"),
        ("summary.drops", None, "its total drops is no number"),
        ("scenario.measure", [], "its scenario is none of fanin"),
        ("scenario.measure.bin", {}, "its scenario is none of fanin"),
        ("scenario.network", {}, "its scenario is none of fanin"),
        ("scenario.network.buffer", "", "its scenario is none of fanin"),
        ("scenario.run.seed", 10**400, "there is no value of"),
    ],
)
def test_a_run_of_other_totals_or_another_scenario_is_drawn_or_refused(cli, recorded, place, odd, told):
    manifest = json.loads((recorded / "manifest.json").read_bytes())
    *path, key = place.split(".")
    section = manifest
    for each in path:
        section = section[each]
    section[key] = odd
    rewritten(recorded, **manifest)
    pictures = [("queue",), ("flows",), ("windows",), ("goodput",), ("cdf", "--of", "queues.mean_bytes")]
    done = [cli("plot", what, str(recorded), *more, "--file", "drawn.svg") for what, *more in pictures]
    assert {each.code for each in done} <= {0, 3}, [each.err for each in done]
    assert any(told in each.err for each in done), [each.err for each in done]

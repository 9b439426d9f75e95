"""The store: whole transactions, several commands at once, and one line for what SQLite says."""

import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from patches import altered, stored

import fanin
from fanin.results import database
from fanin.results.database import Database
from fanin.results.store import Store

SWEEP = ("sweep", "small.toml", "--set", "run.duration=20ms", "--columns", "goodput_bps", "--tables", "flows")


def test_four_commands_write_at_once(work):
    """Two pairs, each of which makes the same runs."""
    seeds = ["1..6", "1..6", "4..9", "4..9"]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    commands = [
        subprocess.Popen(
            [sys.executable, "-m", "fanin", *SWEEP, "--bare", "--seeds", each, "--jobs", "1"],
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in seeds
    ]
    said = [command.communicate(timeout=300)[1] for command in commands]
    assert [command.returncode for command in commands] == [0] * 4, said
    assert Store("results").verify() == (9, [])
    small = fanin.Scenario("small.toml")
    for seed, run in zip(
        range(1, 10), sorted(stored().values(), key=lambda each: each.scenario["run"]["seed"]), strict=True
    ):
        alone = small.set({"run.duration": "20ms"}).run(seed=seed)
        assert (run.run_id, run.summary["result_hash"]) == (alone.run_id, alone.summary["result_hash"])
        assert run.table("flows").equals(alone.flows())


def test_who_cannot_write_reads_what_others_are_writing(tmp_path, monkeypatch):
    monkeypatch.setattr(database.os, "access", lambda *_: False)
    reader, counts = Store(tmp_path), []
    for point in (1, 2):
        writer = Store(tmp_path)
        writer.save_measured(["bench"], {"point": point}, {"drops": 0}, "some")
        counts.append(len(reader.rows("SELECT id FROM runs")))
        # Now the log is gone.
        writer.close()
        counts.append(len(reader.rows("SELECT id FROM runs")))
    assert counts == [1, 1, 2, 2]


def test_other_programs_read_it(cli, work):
    cli(*SWEEP, "--seeds", "1..2")
    query = "SELECT scheme, senders, avg(goodput_bps) FROM list GROUP BY scheme, senders ORDER BY scheme, senders"
    with sqlite3.connect("results/fanin.db") as connection:
        found = connection.execute(query).fetchall()
        name, content = connection.execute("SELECT run, content FROM tables WHERE name = 'flows'").fetchone()
    keys = ["transport.scheme", "traffic.bursts.senders"]
    runs = pl.read_parquet(next(Path("results/sweeps").glob("*/runs.parquet")))
    means = runs.group_by(keys).agg(pl.mean("goodput_bps")).sort(keys).rows()
    assert found == [(scheme, senders, pytest.approx(mean)) for scheme, senders, mean in means]
    assert pl.read_parquet(content).equals(stored()[name].table("flows"))


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE runs SET totals = replace(totals, '\"drops\":', '\"drops\":1') WHERE id = ?", "is damaged"),
        ("UPDATE runs SET scenario = replace(scenario, '20pkt', '21pkt') WHERE id = ?", "is damaged"),
        ("UPDATE tables SET content = substr(content, 2) WHERE run = ? AND name = 'flows'", "flows of run"),
    ],
)
def test_a_damaged_run_is_named_and_the_same_command_makes_it_again(cli, work, sql, said):
    cli(*SWEEP, "--seeds", "1")
    whole = stored()
    name = random.Random(3).choice(sorted(whole))
    altered("results", sql, name)
    result = cli("export", f"results/{name}")
    assert (result.code, said in result.err, len(result.err.splitlines())) == (3, True, 1), result.err
    result = cli("verify", "--json")
    assert (result.code, json.loads(result.out)["runs"]) == (1, len(whole) - 1)
    result = cli(*SWEEP, "--seeds", "1")
    assert (result.code, "the run is repeated and replaced" in result.err) == (0, True), result.err
    assert cli("verify").out == f"{len(whole)} runs are whole, 0 damaged\n"
    assert {each: run.summary["result_hash"] for each, run in stored().items()} == {
        each: run.summary["result_hash"] for each, run in whole.items()
    }


def test_a_folder_without_runs_is_not_whole(cli, tmp_path):
    result = cli("verify", str(tmp_path))
    assert (result.code, "no run is stored here" in result.err) == (3, True)


def test_a_full_disk_loses_nothing_that_was_there(cli, work, monkeypatch):
    assert cli("run", "small.toml").code == 0
    before, connect = stored(), Database._connect

    def small(self, mode):
        connect(self, mode)
        if self._connection is not None:
            self._connection.execute("PRAGMA max_page_count = 1")

    monkeypatch.setattr(Database, "_connect", small)
    result = cli("run", "small.toml", "--seed", "9")
    assert (result.code, "no space is left; free some space, or choose" in result.err) == (3, True), result.err
    assert stored() == before


def failing_with(monkeypatch, name):
    """Connections are refused by SQLite with that error."""

    def refused(*_, **__):
        error = sqlite3.OperationalError("it said so")
        error.sqlite_errorname = name
        raise error

    monkeypatch.setattr(database.sqlite3, "connect", refused)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SQLITE_IOERR_LOCK", "this file system lacks the locks that the store needs; choose another place with --out"),
        ("SQLITE_PROTOCOL", "this file system lacks the locks"),
        ("SQLITE_CANTOPEN", "cannot write results: it said so; choose another place with --out"),
        ("SQLITE_CORRUPT", "damaged (it said so); delete it and run the same commands again"),
    ],
)
def test_what_sqlite_cannot_do_is_said_in_a_line(cli, work, monkeypatch, name, said):
    failing_with(monkeypatch, name)
    result = cli("run", "small.toml")
    assert (result.code, f"results/fanin.db: {said}" in result.err, len(result.err.splitlines())) == (3, True, 1)


def test_a_file_that_is_none_of_sqlite_is_named(cli, work):
    Path("results").mkdir()
    Path("results/fanin.db").write_text("something else, and quite a lot of it: " * 100)
    for words in (("run", "small.toml"), ("describe", f"results/{'0' * 16}"), ("claims",)):
        result = cli(*words)
        assert (result.code, "results/fanin.db: damaged (file is not a database)" in result.err) == (3, True), words


def test_who_waits_too_long_for_another_command_says_so(cli, work, monkeypatch):
    assert cli("run", "small.toml").code == 0
    monkeypatch.setattr(database, "_PATIENCE_S", 0.01)
    with Store("results").database.transaction():
        result = cli("run", "small.toml", "--seed", "9")
    assert (result.code, "another command has been writing for a minute" in result.err) == (3, True), result.err


def test_a_folder_that_impossible_written_is_read_and_stays_as_it_is(cli, work, monkeypatch):
    assert cli("run", "small.toml").code == 0
    monkeypatch.setattr(database.os, "access", lambda *_: False)
    (run,) = stored().values()
    assert run.table("flows").height == 4
    assert [path.name for path in Path("results").iterdir()] == ["fanin.db"]


def test_another_version_of_the_file_is_refused(cli, work):
    assert cli("run", "small.toml").code == 0
    with sqlite3.connect("results/fanin.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    result = cli("run", "small.toml")
    assert (result.code, "written by another version of fanin" in result.err) == (3, True), result.err


def test_one_run_is_exported_as_what_it_was_and_several_with_their_ids(cli, work):
    ids = [json.loads(cli("run", "small.toml", "--json", "--seed", seed).out)["run_id"] for seed in "12"]
    assert cli("export", ids[0], "--to", "parquet", "--out", "one.parquet").code == 0
    assert Path("one.parquet").read_bytes() == stored()[ids[0]].content("flows")
    assert json.loads(cli("export", *ids, "--to", "parquet", "--out", "two.parquet", "--json").out)["rows"] == 8
    assert set(pl.read_parquet("two.parquet")["run_id"]) == set(ids)
    result = cli("export", ids[0], "--to", "pcapng", "--out", "trace.pcapng")
    assert (result.code, "no packets were captured" in result.err) == (3, True), result.err


def test_a_sweep_stands_for_all_of_its_runs(cli, work):
    assert cli(*SWEEP, "--seeds", "1").code == 0
    (folder,) = Path("results/sweeps").iterdir()
    assert len(json.loads(cli("describe", str(folder), "--json").out)["files"]) == 6
    lines = cli("export", str(folder)).out.splitlines()
    assert len({line.partition(",")[0] for line in lines[2:]}) == 6
    assert json.loads(cli("describe", str(folder), "--slowdown", "homa", "--json").out)["flows"] > 0


def test_the_latest_run_is_the_last_with_tables(cli, work):
    assert "no run with tables is stored here" in cli("describe", "results/latest").err
    told = json.loads(cli("run", "small.toml", "--seed", "5", "--json").out)
    assert cli("sweep", "small.toml", "--seeds", "1").code == 0
    described = json.loads(cli("describe", "results/latest", "--json").out)
    assert described["manifest"]["run_id"] == told["run_id"]

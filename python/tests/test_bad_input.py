"""Every mistake gives one line that names the place, exit code 3, and nothing half-written."""

import errno
import io
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import fanin
from fanin import later
from fanin.cli.terminal import print_table
from fanin.errors import ScenarioError
from fanin.imports.source import Source
from fanin.results import frames
from fanin.results.files import whole_file, write_whole, writing
from fanin.results.store import Store
from fanin.scenario import library
from fanin.show import prose

MARKED = '\n[scheme.dctcp]\nmark-threshold = "10pkt"\n'
"""A threshold below the buffer of small.toml, of which nothing warns."""


def complaint(result, *expected):
    assert result.code == 3, (result.code, result.out, result.err)
    assert "Traceback" not in result.err
    assert len(result.err.strip().splitlines()) == 1, result.err
    for text in expected:
        assert text in result.err
    assert result.out == ""


def _ranged(lines):
    """What gives the plot these lines, too."""
    return 'by = "transport.scheme"', f'by = "transport.scheme"\n{lines}'


def _own(name):
    """The beginning of a column."""
    return f"[[column]]\nid = '{name}'\nlabel = 'x'\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('buffer = "20pkt"', 'bufer = "20pkt"', ["bad.toml:7", "bufer", 'did you mean "buffer"']),
        ('rate = "1Gbps"', 'rate = "1gbps"', ["bad.toml:5", "rate"]),
        ('rate = "1Gbps"', "rate = 1", ["bad.toml:5", "rate"]),
        ('"64KB"', '"-64KB"', ["bad.toml", "bytes-each"]),
        ('"64KB"', '"0B"', ["bad.toml", "bytes-each"]),
        ("senders = 3", "senders = 100000000", ["bad.toml", "senders"]),
        ("[network]", "[network", ["bad.toml:3"]),
        (
            'rate = "1Gbps"',
            'rate = "1Gbps"\nrate = "2Gbps"',
            ["bad.toml:6: network.rate: is given twice: it is in line 5 already"],
        ),
        ("[transport]", "[network]", ["bad.toml:9: network: is given twice: it is in line 3 already"]),
        (
            "[transport]",
            "[control]\n[x]\ny = { z = 1, z = 2 }\n[transport]",
            ["bad.toml:11: x.y.z: is given twice: it is in line 11 already"],
        ),
        ("[network]", "network.rate = 1\n[network]", ["bad.toml:4: network: is given twice: it is in line 3 already"]),
        ("accept = [1.0, 1e9]", "acept = [1.0, 1e9]", ["bad.toml:48", "claim.0.acept", 'did you mean "accept"']),
        ("accept = [1.0, 1e9]", "accept = [2.0, 1.0]", ["bad.toml:40", "low <= high"]),
        ('measure = "max"', 'measure = "maximum"', ["bad.toml:43", "claim.0.measure"]),
        ('x = "flows"', 'xx = "flows"', ["bad.toml", "plot.0.xx"]),
        ('seeds = "1..3"', 'seeds = "3..1"', ["bad.toml:32", "empty range"]),
        ("[2, 8, 24]", "[]", ["bad.toml:31", "at least one value"]),
        ('by = "transport.scheme"', 'by = "transport.mss"', ["bad.toml:37", "not swept"]),
        ('y = "goodput_bps"', 'y = "goodput_bsp"', ["bad.toml:36", "plot.0.y", 'did you mean "goodput_bps"']),
        ('measure = "max"', 'measure = "maxx"', ["bad.toml:43", 'did you mean "max"']),
        ('where = { "transport.scheme"', 'where = { "transport.schem"', ["bad.toml:46", 'mean "transport.scheme"']),
        ('"traffic.bursts.senders" =', '"traffic.bursts.sendrs" =', ["bad.toml:31", 'did you mean "senders"']),
        ('"traffic.bursts.senders" =', "traffic.bursts.sendrs =", ["bad.toml:31", 'did you mean "senders"']),
        ('seeds = "1..3"', "seeds = 1979-05-27", ["bad.toml:32", "sweep.seeds", "not the date 1979-05-27"]),
        ('seeds = "1..3"', "seeds = 07:32:00", ["bad.toml:32", "sweep.seeds", "not the time 07:32:00"]),
        ('seeds = "1..3"', "seeds = [[1]]", ["bad.toml:32", "sweep.seeds", "not a list in a list"]),
        ('seeds = "1..3"', "seeds = [{ a = 1 }]", ["bad.toml:32", "sweep.seeds", "not a table"]),
        ('seeds = "1..3"', f"seeds = {2**64}", ["bad.toml:32", "sweep.seeds", "too large"]),
        ('seeds = "1..3"', f'seeds = "{2**64 - 1}..{2**64}"', ["bad.toml:32", "sweep.seeds", "too large"]),
        ('seeds = "1..3"', "seeds = -1", ["bad.toml:32", "sweep.seeds", "whole numbers"]),
        ('seeds = "1..3"', "seeds = 1.5", ["bad.toml:32", "sweep.seeds", "whole numbers"]),
        ('seeds = "1..3"', 'seeds = "1..10000000000"', ["bad.toml:32", "sweep.seeds", "10,000,000,000 values"]),
        ('seeds = "1..3"', 'seeds = "1/0..3"', ["bad.toml:32", "sweep.seeds", "1/0 is not a number"]),
        ("[2, 8, 24]", f"[{10**400}]", ["bad.toml:31", "too large"]),
        ("[2, 8, 24]", "[2, inf]", ["bad.toml:31", "finite"]),
        ("published = 9e8", "published = nan", ["bad.toml:47", "claim.0.published", "finite"]),
        ("published = 9e8", "published = -inf", ["bad.toml:47", "claim.0.published", "finite"]),
        ("y = 5e8", "y = nan", ["bad.toml:38", "plot.0.published.1.y", "finite"]),
        ("accept = [1.0, 1e9]", "accept = [nan, 1e9]", ["bad.toml:48", "claim.0.accept", "not a number"]),
        ("accept = [1.0, 1e9]", "accept = [1, 1e9]\nat = inf", ["bad.toml:49", "claim.0.at", "finite"]),
        ("accept = [1.0, 1e9]", "accept = [1, 1e9]\nbetween = [0, nan]", ["bad.toml:49", "claim.0.between"]),
        ("accept = [1.0, 1e9]", "accept = [1, 1e9]\nlevel = nan", ["bad.toml:49", "claim.0.level", "finite"]),
        ('by = "transport.scheme"', 'by = "transport.scheme"\ny-range = [0, inf]', ["bad.toml:38", "plot.0.y-range"]),
        ("y = 5e8", "y = 1e308", ["bad.toml:38", "plot.0.published.1.y", "1e+308 is too large to be drawn"]),
        (*_ranged("x-range = [-1e308, 1e308]"), ["bad.toml:38", "plot.0.x-range", "-1e+308 is too large to be drawn"]),
        (*_ranged("x-range = [0, 0]"), ["bad.toml:38", "plot.0.x-range", "from a lower end to a higher one"]),
        (*_ranged("x-range = [0, 1e-320]"), ["bad.toml:38", "plot.0.x-range", "from a lower end to a higher one"]),
        (*_ranged("y-range = [1, 0]"), ["bad.toml:38", "plot.0.y-range", "from a lower end to a higher one"]),
        (*_ranged('y-range = [0, 1]\ny-scale = "log"'), ["bad.toml:38", "plot.0.y-range", "begins above zero"]),
        (*_ranged('x-range = [-2, 1]\nx-scale = "log"'), ["bad.toml:38", "plot.0.x-range", "begins above zero"]),
        ("[[claim]]", '[[column]]\nid = "a"\nlabel = "a"\nformula = "1e999"\n[[claim]]', ["bad.toml:43", "too large"]),
        (
            "[[claim]]",
            f"{_own('a')}formula = '0/0'\n[[claim]]",
            ["bad.toml:43", "column.0.formula", "division by zero"],
        ),
        ("[[claim]]", f"{_own('a')}formula = '{{drops}} # 2'\n[[claim]]", ["bad.toml:43", "no comment"]),
        ("[[claim]]", f"{_own('a')}formula = '{{a}} + 1'\n[[claim]]", ["bad.toml:43", "a is this column itself"]),
        (
            "[[claim]]",
            f"{_own('a')}formula = '{{b}}'\n{_own('b')}formula = '1'\n[[claim]]",
            ["bad.toml:43", "b is computed later"],
        ),
        ("[[claim]]", f"{_own('a')}formula = '{{run_id}} + 1'\n[[claim]]", ["bad.toml:43", "run_id has texts"]),
        (
            "[[claim]]",
            f"{_own('a')}formula = '1 / {{transport.scheme}}'\n[[claim]]",
            ["bad.toml:43", "column.0.formula", "transport.scheme has texts"],
        ),
        (
            "[[claim]]",
            f"{_own('a')}formula = '{{of}}'\n"
            '[[variant]]\nlabel = "x"\naxis = "of"\nset = { "network.rate" = "2Gbps" }\n[[claim]]',
            ["bad.toml:43", "of has texts"],
        ),
    ],
)
def test_a_wrong_scenario(cli, work, old, new, expected):
    text = (work / "small.toml").read_text()
    assert old in text
    (work / "bad.toml").write_text(text.replace(old, new, 1))
    complaint(cli("check", "bad.toml"), *expected)
    complaint(cli("reproduce", "bad.toml"), *expected)
    assert not (work / "results").exists() or not any(path.is_file() for path in (work / "results").rglob("*"))


@pytest.mark.parametrize(
    "name",
    [
        "goodput_bps",
        "run_id",
        "seed",
        "wall_s",
        "table_evictions",
        "transport.scheme",
        "groups.bursts.fct_p99_s",
    ],
)
def test_a_column_does_not_replace_one_of_the_runs(cli, work, name):
    text = (work / "small.toml").read_text()
    (work / "bad.toml").write_text(f"{text}\n{_own(name)}formula = '1'\n")
    line = len((work / "bad.toml").read_text().splitlines()) - 2
    complaint(cli("check", "bad.toml"), f"bad.toml:{line}: column.0.id: the runs have a column {name} already")


@pytest.mark.parametrize(
    "words",
    [
        (
            "capacity",
            "small.toml",
            "--keep",
            "goodput=1%",
            "--over",
            "traffic.bursts.senders=1..4",
            "--precision",
            "nan",
        ),
        ("compare", "small.toml", "--reference", "x.csv", "--level", "nan"),
        ("compare", "small.toml", "--margin", "nan"),
    ],
)
def test_an_option_that_is_no_number(cli, work, words):
    result = cli(*words)
    assert (result.code, result.out) == (2, "")
    assert words[-2] in result.err


@pytest.mark.parametrize("words", [("tune", "small.toml", "--param", "network.buffer=10pkt..20pkt"), ("fit", "small")])
def test_no_number_of_fresh_seeds_fills_the_memory(cli, work, words):
    result = cli(*words, "--fresh", "1000001")
    assert (result.code, "less than or equal to 1000000" in result.err) == (2, True), result.err


def test_a_wrong_override(cli, work):
    complaint(cli("run", "small.toml", "--set", "network.bufer=3pkt"), "network.bufer", 'did you mean "')
    assert cli("run", "small.toml", "--set", "nonsense").code == 2


def test_not_text_and_not_there(cli, work):
    (work / "binary.toml").write_bytes(b'title = "x"\n\xff\xfe')
    complaint(cli("run", "binary.toml"), "binary.toml:2", "UTF-8")
    complaint(cli("run", "smal.toml"), "smal.toml", "no such file")
    complaint(cli("reproduce", "sdtcp/fig99"), "sdtcp/fig99")
    (work / "folder.toml").mkdir()
    complaint(cli("run", "folder.toml"), "folder.toml")


def test_a_results_folder_that_impossible_written(cli, work):
    (work / "occupied").write_text("a file")
    complaint(cli("run", "small.toml", "--out", "occupied"), "occupied", "--out")
    complaint(cli("reproduce", "small.toml", "--out", "occupied"), "occupied", "--out")


def test_a_full_disk_leaves_nothing_behind(cli, work, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    result = cli("reproduce", "small.toml", "--quick")
    assert (result.code, "results/small: cannot write results: No space left" in result.err) == (3, True), result.err
    assert [path.name for path in (work / "results" / "small").iterdir()] == []


def test_a_disk_that_is_full_when_the_table_of_runs_is_written(cli, work, monkeypatch):
    written = Path.write_bytes

    def full(path, content):
        if path.name == "runs.parquet":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return written(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    result = cli("reproduce", "small.toml", "--quick", "--set", "run.duration=20ms")
    assert result.code == 3
    assert "No space left on device; free some space, or choose another place with --out" in result.err
    assert not (work / "results/small/runs.parquet").exists()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('seeds = "1..3"', 'seeds = "1..200000"', "it has 1,200,000 runs or more; 1,000,000 can be planned"),
        ("[2, 8, 24]", '"1..20000"', "20,002 values of its variables and variants; at most 10,000 are checked"),
        (
            "[sweep]",
            "".join(f"[variant.a{i}]\nx{i} = {{}}\ny{i} = {{}}\nz{i} = {{}}\n" for i in range(15)) + "[sweep]",
            "it has 14,348,907 runs or more",
        ),
        ("[run]", '[[traffic]]\nkind = "incast"\n' * 10_000 + "[run]", "traffic: 10,002 of them; at most 10,000"),
    ],
)
def test_what_is_too_large_to_plan_is_refused_before_anything_runs(cli, work, old, new, says):
    text = (work / "small.toml").read_text().replace(old, new, 1)
    (work / "large.toml").write_text(text + MARKED)
    for verb in ("check", "sweep", "reproduce"):
        complaint(cli(verb, "large.toml"), "large.toml:", says)


def test_an_export_that_fails_leaves_what_was_there(cli, work, monkeypatch):
    run = json.loads(cli("run", "small.toml", "--json").out)["stored"]
    (work / "out").mkdir()
    out = work / "out" / "x.csv"
    out.write_text("earlier")
    fanin.Scenario("small.toml").run().queues().write_parquet("queues.parquet")
    complaint(cli("export", "queues.parquet", run, "--out", str(out)), f"{run}/flows", "not the columns of")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        complaint(cli("export", run, "--out", str(out)), "out/x.csv", "free some space")
    complaint(cli("export", run, "--out", "nowhere/x.csv"), "nowhere/x.csv: cannot write")
    assert [(path.name, path.read_text()) for path in out.parent.iterdir()] == [("x.csv", "earlier")]
    assert cli("export", run, "--out", str(out)).code == 0
    assert [path.name for path in out.parent.iterdir()] == ["x.csv"]
    assert out.read_text() == cli("export", run).out


def test_a_whole_file_replaces_neither_pipes_nor_links(work):
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(Path("pipe")) as file:
            file.write_bytes(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    Path("file").write_text("earlier")
    Path("link").symlink_to("file")
    write_whole(Path("link"), b"later")
    assert (Path("pipe").is_fifo(), Path("link").is_symlink(), Path("file").read_text()) == (True, True, "later")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_the_version_reports_a_full_disk():
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "fanin", "--version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (found.returncode, found.stderr) == (3, "error: output: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_messages_that_stderr_does_not_take_change_no_exit_code(work):
    with Path("/dev/full").open("w") as full:
        for words, code in ((["check", "small.toml"], 0), (["check", "none.toml"], 3)):
            command = [sys.executable, "-m", "fanin", *words]
            assert subprocess.run(command, stdout=subprocess.PIPE, stderr=full, check=False).returncode == code


@pytest.mark.parametrize("command", [["list", "schemes"], ["explain", "dctcp", "--json"], ["--help"], ["--version"]])
def test_output_that_nobody_reads_ends_the_command_in_silence(command):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        found = subprocess.run(
            [sys.executable, "-m", "fanin", *command], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writer)
    assert (found.returncode, found.stderr) == (141, "")


def test_a_file_that_is_no_table_is_named(cli, work):
    loose = work / "loose.parquet"
    loose.write_bytes(b"PAR1 this is not a table PAR1")
    complaint(cli("describe", str(loose)), "loose.parquet", "damaged, or no Parquet file")
    complaint(cli("export", str(loose), "--to", "csv"), "loose.parquet", "damaged, or no Parquet file")
    complaint(cli("describe", "small.toml"), "a scenario, of which 'fanin run' makes results")
    complaint(cli("describe", "results/0123456789abcdef"), "results: there is no run 0123456789abcdef")


def test_what_a_program_measured_is_read_back_as_it_was_written(work):
    written = Store("results").save_measured(["program"], {"entries": 2, "rate": 0.1}, {"seconds": 1e-9}, "paper/fig")
    found = Store("results").find(written.run_id)
    assert (found, found.manifest) == (written, written.manifest)


def test_fct_needs_a_flows_table(cli, work):
    run = json.loads(cli("run", "small.toml", "--json").out)["stored"]
    complaint(cli("export", run, "--to", "fct", "--table", "queues"), "not a flows table")
    complaint(cli("export", run, "--to", "csv", "--table", "nonsense"), "nonsense", "flows")


def test_every_unknown_key_is_reported_at_once(cli, work):
    text = Path("small.toml").read_text()
    Path("wrong.toml").write_text(text.replace("buffer =", "bufer =").replace("duration =", "duraton ="))
    result = cli("check", "wrong.toml")
    assert result.code == 3
    lines = result.err.splitlines()
    assert len(lines) == 2
    assert 'network.bufer: unknown key (did you mean "buffer"?)' in lines[0]
    assert 'run.duraton: unknown key (did you mean "duration"?)' in lines[1]


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("", "claim.0"),
        ("[run]\nduration = '1s'", "run"),
        ("[sweep]\nseeds = [1]", "sweep"),
        ("[quick]\nseeds = [1]", "quick"),
        ("[plots]\nx = 'flows'", "plots"),
        ("[claims]\nmeasure = 'mean'", "claims"),
        ("[[column]]\nid = 'a'\nlabel = 'b'\nformula = '{drops}'", "column.0"),
        ("[variant.system]\na = { network.buffer = '9pkt' }", "variant.system"),
        ("[open.transport.ack-every]\n1 = 'x'", "open.transport.ack-every"),
    ],
)
def test_a_key_of_the_file_after_a_table_gets_a_hint(cli, work, table, key):
    text = (work / "small.toml").read_text()
    name = table.partition("]")[0].strip("[")
    if f"[{name}]" in text and "[[" not in table:
        text = re.sub(rf"\[{name}\]\n.*?\n\n", "", text, flags=re.DOTALL)
    (work / "bad.toml").write_text(f'{text}\n{table}\nenvironment = "linux-6"\n')
    line = len((work / "bad.toml").read_text().splitlines())
    expected = f"bad.toml:{line}: {key}.environment: ", "belongs at the top of the file, before the first [table]"
    complaint(cli("check", "bad.toml"), *expected)


def test_names_of_columns_and_settings_of_variants_are_no_keys_of_the_file(cli, work):
    text = (work / "small.toml").read_text().replace("[sweep]", '[sweep]\nenvironment = ["rfc", "linux-6"]')
    text = text.replace('where = { "transport.scheme"', 'where = { environment = "rfc", "transport.scheme"')
    (work / "good.toml").write_text(text)
    assert cli("check", "good.toml").code == 0
    own = '[variant.system]\na = { environment = "rfc" }\nb = { environment = "linux-6" }\n'
    (work / "good.toml").write_text((work / "small.toml").read_text() + own)
    assert cli("check", "good.toml").code == 0


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        (["check"], "pipe: no such file"),
        (["run"], "pipe: no such file"),
        (["import", "htsim"], "pipe: not a regular file"),
        (["import", "sizes"], "pipe: not a regular file"),
    ],
)
def test_no_command_waits_for_a_pipe(cli, work, verb, says):
    os.mkfifo("pipe")
    complaint(cli(*verb, "pipe"), says)


_REFERENCE = ["compare", "small.toml", "--reference"]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc here")
@pytest.mark.parametrize("verb", [["check"], ["run"], ["import", "records"], ["import", "sizes"], _REFERENCE])
@pytest.mark.parametrize("path", ["/proc/self/mem", "/proc/cpuinfo"])
def test_no_command_reads_what_the_kernel_makes_up(cli, work, verb, path):
    complaint(cli(*verb, path), f"{path}: not a regular file, as its file system stores none")


def test_a_file_that_impossible_read_to_its_end_is_named(cli, work, monkeypatch):
    class Broken(io.StringIO):
        def __next__(self):
            raise OSError(errno.EIO, "Input/output error")

    Path("list.cm").write_text("Nodes 2\n")
    monkeypatch.setattr(Source, "_opened", lambda _: Broken())
    complaint(cli("import", "htsim", "list.cm"), "list.cm: Input/output error")


@pytest.mark.parametrize("verb", ["check", "run", "sweep"])
def test_no_command_waits_for_a_list_of_flows_that_is_a_pipe(cli, work, verb):
    os.mkfifo("pipe")
    listed = '[[traffic]]\nkind = "flows"\nfile = "pipe"\nsenders = 2\n'
    Path("listed.toml").write_text(f'[network]\ntopology = "star"\n{listed}')
    complaint(cli(verb, "listed.toml"), "pipe: not a regular file")


def test_the_engine_opens_no_device_that_an_override_names(work):
    listed = '[[traffic]]\nkind = "flows"\nname = "a"\nfile = "x.csv"\nsenders = 2\n'
    Path("listed.toml").write_text(f'[network]\ntopology = "star"\n{listed}')
    experiment = fanin.Scenario("listed.toml").set({"traffic.a.file": "/dev/zero"})
    for read in (experiment.preview, experiment.network, experiment.resolved, experiment.run):
        with pytest.raises(fanin.errors.FaninError, match="/dev/zero: not a regular file"):
            read()


def test_a_number_of_thousands_of_digits_is_named(cli, work):
    (work / "small.toml").write_text(f"[run]\nseed = {'9' * 5000}\n")
    complaint(cli("check", "small.toml"), "small.toml: a number has too many digits")
    assert cli("list", "experiments").code == 0


def test_a_line_number_is_no_emoji(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_table("scenario.toml:100:", ["place"], [["scenario.toml:100:"]])
    assert capsys.readouterr().out.count("scenario.toml:100:") == 2


def test_a_description_loads_no_image_and_has_no_html():
    text = "![x](https://example.com/x.png) and <img src=y> `<i>`"
    picture = ["a", ["x"], "https://example.com/x.png"]
    assert prose.tree(text) == [["p", ["!", picture, " and <img src=y> ", ["code", ["<i>"]]]]]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//a.example", "x"]
)
def test_links_of_a_description_lead_to_pages_of_the_web_only(address):
    assert prose.tree(f"[*a*]({address})") in ([["p", [["em", ["a"]]]]], [["p", ["[", ["em", ["a"]], f"]({address})"]]])


def test_a_description_keeps_its_form():
    text = "# A\n\n- b\n- c\n\n| d |\n|---|\n| e |\n\n```\nf\n```\n"
    table = ["table", [["thead", [["tr", [["th", ["d"]]]]]], ["tbody", [["tr", [["td", ["e"]]]]]]]]
    assert prose.tree(text) == [["h4", ["A"]], ["ul", [["li", ["b"]], ["li", ["c"]]]], table, ["pre", ["f\n"]]]


@pytest.mark.parametrize(
    ("written", "meant"), [("rto-min = 5us", 'rto-min = "5us"'), ("scheme = dctcp  # it", 'scheme = "dctcp"')]
)
def test_a_value_without_its_quotes_is_shown_with_them(cli, work, written, meant):
    Path("bare.toml").write_text(f"[transport]\n{written}\n")
    complaint(cli("check", "bare.toml"), "bare.toml:2", "written in quotes", meant)
    Path("other.toml").write_text("[transport\nack-every = 2\n")
    assert "written in quotes" not in cli("check", "other.toml").err


@pytest.mark.parametrize(
    "text",
    [
        "title = " + "[" * 50_000 + "]" * 50_000,
        "title = " + "{ a = " * 50_000 + "1" + " }" * 50_000,
        "[" + "a." * 50_000 + "a]",
        "a." * 50_000 + "a = 1",
        "title = { " + """ "a\\"" . """ * 50_000 + "a = 1 }",
    ],
)
def test_what_is_nested_too_deeply_is_named(cli, work, text):
    (work / "small.toml").write_text(f"{text}\n")
    complaint(cli("check", "small.toml"), "small.toml:1: its values or keys are nested too deeply")
    assert cli("reproduce", "small.toml").code == 3
    assert cli("list", "experiments").code == 0


def test_what_is_of_another_kind_than_the_command_takes_says_so(cli, work):
    (work / "folder").mkdir()
    (work / "folder" / "a.toml").write_text("")
    (work / "notes.md").write_text("# Notes")
    assert "folder: a folder, not a scenario: name a file, such as folder/a.toml" in cli("run", "folder").err
    assert "sdtcp: a paper, of which this takes one experiment, such as sdtcp/" in cli("run", "sdtcp").err
    assert "small.toml: a scenario, of which 'fanin run' makes results" in cli("export", "small.toml").err
    assert "notes.md: no Parquet file: name a run or a table" in cli("describe", "notes.md").err


def test_a_mistyped_choice_gets_the_nearest_and_several_seeds_the_commands_that_take_them(cli, work):
    def said(*arguments):
        found = cli(*arguments)
        assert found.code == 2
        return " ".join(found.err.replace("│", " ").split())

    assert 'Did you mean "windows"?' in said("plot", "windws", "small.toml")
    assert "Value error" not in said("plot", "windws", "small.toml")
    assert "'1..3' are 3 seeds, and this is one run: sweep, compare and plot take --seeds 1..3" in said(
        "run", "small.toml", "--seed", "1..3"
    )
    for wrong in ("x", "-1", "1.5"):
        assert f"'{wrong}' is not a whole number from zero on" in said("run", "small.toml", "--seed", wrong)


def test_a_message_about_a_long_value_does_not_repeat_all_of_it(cli, work):
    formula = "+".join(["goodput_bps"] * 20_000)
    with (work / "small.toml").open("a") as file:
        file.write(f'\n[[plot]]\nid = "p"\nx = "seed"\ny = "{formula}"\n')
    result = cli("check", "small.toml")
    complaint(result, "plot.", "goodput_bps+goodput_bps")
    assert len(result.err) < 1_200


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES])
def test_another_place_is_advised_only_where_it_helps(tmp_path, number):
    def said(name: Path) -> str:
        with pytest.raises(fanin.ResultsError) as caught, writing(tmp_path / "out"):
            raise OSError(number, "no", str(name))
        return str(caught.value)

    assert ("choose another place" in said(tmp_path / "out/x")) == (number == errno.EACCES)
    assert said(tmp_path / "elsewhere") == f"{tmp_path / 'elsewhere'}: no"


@pytest.mark.parametrize(("error", "room"), [(MemoryError(), math.inf), (ImportError("no"), 1 << 30)])
def test_too_little_memory_is_said_to_be_that(cli, work, monkeypatch, error, room):
    def raise_() -> None:
        raise error

    monkeypatch.setattr(library, "experiments", raise_)
    monkeypatch.setattr("fanin.cli.room", lambda: room)
    result = cli("list", "experiments")
    assert (result.code, "not enough memory" in result.err) == (3, True), result.err


def test_what_would_end_the_process_for_lack_of_memory_is_not_imported(monkeypatch):
    monkeypatch.setattr(later, "room", lambda: later.LEAST - 1)
    with pytest.raises(MemoryError):
        _ = later._Later("polars").DataFrame


def test_a_page_has_no_characters_that_control(cli, work):
    scenario = work / "small.toml"
    scenario.write_text(scenario.read_text().replace('title = "', 'title = "\\u001b[2J\\u202e', 1))
    assert cli("reproduce", "small.toml", "--quick").code == 0
    assert cli("claims", "--page", "page.md").code == 0
    text = "".join(path.read_text() for path in work.glob("page*.md"))
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("words", [("export",), ("export", "--to", "fct"), ("describe", "--slowdown", "homa")])
def test_no_command_reads_a_table_that_does_not_fit(cli, work, monkeypatch, words):
    pl.DataFrame({"a": range(1000)}).write_parquet("table.parquet")
    monkeypatch.setattr(frames, "available", lambda: 1000.0)
    complaint(cli(*words, "table.parquet"), "table.parquet: the table does not fit in memory")


def test_a_table_that_is_none_of_flows_is_named(cli, work):
    pl.DataFrame({"a": [1]}).write_parquet("table.parquet")
    complaint(
        cli("describe", "table.parquet", "--slowdown", "homa"), "table.parquet: the flow table has no column flow"
    )
    complaint(cli("export", "table.parquet", "--to", "fct"), "table.parquet: not a flows table: it has no flow")


def test_a_claim_without_a_measure_lists_those_that_there_are(cli, work):
    path = work / "small.toml"
    path.write_text(re.sub(r'(?m)^measure = ".*"\n', "", path.read_text()))
    assert re.search(
        r"claim.0.measure: required key is missing: one of mean, mean-ratio, .*, farthest",
        (cli("check", "small.toml").err),
    )


def test_the_page_of_experiments_shows_which_keys_a_claim_needs(work):
    page = Path(__file__).parents[2] / "docs/reference/experiments.md"
    if not page.is_file():
        pytest.skip("an installed package has no pages")
    (shown,) = re.findall(r"(?s)needs the keys of this example.*?```toml\n(.*?)\n\n", page.read_text())
    claim = shown.replace("traffic.reads.senders", "traffic.bursts.senders").replace("query_p99_s", "fct_p99_s")
    head = (work / "small.toml").read_text().partition("[[claim]]")[0]
    for key in ("", "id", "says", "measure", "x", "y", "accept", "why"):
        (work / "own.toml").write_text(head + (re.sub(rf"(?m)^{key} = .*$", "", claim) if key else claim))
        if not key:
            fanin.Scenario("own.toml").check()
            continue
        with pytest.raises(ScenarioError, match=r"required key is missing|needs x, the axis"):
            fanin.Scenario("own.toml").check()

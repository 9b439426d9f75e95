"""Tables on terminals: words and numbers stay whole."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

import fanin
from fanin.cli import terminal
from fanin.cli.run import _end
from fanin.cli.terminal import Pace, note, print_json, print_table, say, watching

PRINT = """\
from fanin.cli.terminal import print_table
print_table("Title", {header!r}, {rows!r})
"""


def on_terminal(program, width):
    """What a program prints on a terminal of this width, and its notes."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"FORCE_COLOR": "1", "COLUMNS": str(width), "PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text) for text in (done.stdout, done.stderr)]


def drawn(header, rows, width):
    """A table as a terminal of this width shows it."""
    return on_terminal(PRINT.format(header=header, rows=rows), width)[0]


HEADER = ["scheme", "goodput [Mbit/s]", "p99 FCT [ms]", "query [ms]", "timeouts", "drops", "queue, mean [packets]"]
ROWS = [["newreno", "25.57 ± 0.004", "600.8 ± 0.094", "600.8 ± 0.094*", "73.25 ± 6.9", "661.8 ± 11", "0.1369 ± 0.0095"]]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_word_and_no_number_is_broken(width):
    text = drawn(HEADER, ROWS, width)
    assert max(map(len, text.splitlines())) <= width
    for cell in ROWS[0]:
        assert cell in text
    for word in " ".join(HEADER).split():
        assert word in text


def test_what_is_too_wide_continues_below_with_the_names_of_its_rows():
    assert drawn(HEADER, ROWS, 60).count("newreno") == 2
    assert drawn(HEADER, ROWS, 200).count("newreno") == 1


def test_what_a_narrow_terminal_leaves_out_is_what_can_be_spared_and_takes_a_table_more(monkeypatch, capsys):
    def shown(width, *spare):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(width))
        left_out = print_table("Title", HEADER, ROWS, spare=spare)
        return left_out, capsys.readouterr().out.count("newreno")

    assert shown(200, "drops", "query [ms]") == ([], 1)
    assert shown(80) == ([], 2)
    assert shown(80, "drops", "query [ms]", "timeouts") == (["drops", "query [ms]"], 1)
    assert shown(60, "drops") == (["drops"], 2)
    monkeypatch.undo()
    assert print_table("Title", HEADER, ROWS, spare=["drops"]) == []
    assert "drops" in capsys.readouterr().out


def test_all_columns_that_name_the_rows_are_repeated_below_unless_they_take_most_of_the_width(monkeypatch, capsys):
    def repeated(width, keys):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(width))
        print_table("Title", ["senders", *HEADER], [["17", *row] for row in ROWS], keys=keys)
        out = capsys.readouterr().out
        return out.count("17 "), out.count("newreno")

    assert repeated(80, 2) == (2, 2)
    assert repeated(80, 1) == (2, 1)
    assert repeated(30, 2)[1] == 1


def test_prose_wraps_between_words():
    text = drawn(
        ["key", "meaning"], [["mss", "Maximum segment size: payload bytes of every full segment that is sent"]], 40
    )
    assert max(map(len, text.splitlines())) <= 40
    assert "segment" in text


def test_titles_and_notes_of_tables_wrap_between_words(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    title = "rack: largest traffic.servers.senders that keeps goodput=90% of its own best and timeout-ratio=1%"
    print_table(title, ["a"], [["1"]])
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(lines[:2]) == title


COUNT = """\
from fanin.cli.terminal import counting
from fanin.run.job import Progress
with counting("runs") as counter:
    counter.advance(Progress(123, 456, 77.0, 100, 4, 12, 2, {what!r}))
"""


def test_progress_fits_80_columns_and_no_word_of_it_is_cut():
    what = "trying traffic.servers.senders = 128, 136 and 144, until the largest is known"
    _, shown = on_terminal(COUNT.format(what=what), 80)
    lines = re.split(r"[\r\n]+", shown)
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("runs ") and "123/?" in line and "0:00:00" in line for line in lines)
    told = " ".join(line.strip() for line in lines)
    assert f"12 found in the store, about 77 s left of this, 4 failed, {what}" in told


SAY = """\
from fanin.cli.terminal import note, say_wrapped
note({text!r})
say_wrapped({text!r})
"""


@pytest.mark.parametrize("width", [40, 80, 200])
def test_messages_wrap_on_a_terminal_to_lines_that_are_easy_to_read(width):
    text = "warning: " + "several first-windows fit " * 9 + "/a/path/that-is-longer-than-the-lines-of-a-narrow-terminal"
    data, told = (printed.splitlines() for printed in on_terminal(SAY.format(text=text), width))
    for lines in (data, told):
        assert max(len(line) for line in lines if "/path" not in line) <= min(width, 100)
        assert " ".join(line.strip() for line in lines) == text
    assert told[0].startswith("warning: several")
    assert all(re.match(r" {4}\S", line) for line in told[1:])
    assert not any(line.startswith(" ") for line in data)


def test_messages_elsewhere_are_one_line_and_lines_stay_lines(capsys, monkeypatch):
    text = "warning: " + "several first windows fit " * 20
    note(text)
    assert capsys.readouterr().err == f"{text}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    note(f"a table\n  of {'several ' * 20}")
    assert capsys.readouterr().err == f"a table\n  of {'several ' * 20}\n"


def test_a_short_run_shows_no_progress(capsys):
    with watching("run", end=1.0) as show:
        assert show(0.5)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (1.0, "run: 25 %, about 30 s left"),
        (0.5, "run: 50 %, about 10 s left"),
        (0.2, "run: 100 %, the last transfers"),
        (None, "run: 10 s so far"),
    ],
)
def test_a_long_run_says_what_is_left_if_that_is_known(monkeypatch, capsys, end, said):
    now = iter([0.0, 10.0])
    monkeypatch.setattr("fanin.cli.terminal.time.monotonic", lambda: next(now))
    with watching("run", end=end) as show:
        assert show(0.25)
    assert capsys.readouterr().err.strip() == said


@pytest.mark.parametrize("begins", [0.0, 0.5, 0.9])
def test_the_pace_of_a_run_is_that_of_its_later_half(begins):
    """Until the load begins, at this share of its duration, a run costs next to no time."""
    pace, whole = Pace(), 60.0
    for tick in range(1, 6000):
        seconds = tick / 100
        share = begins + (1 - begins) * seconds / whole
        left = pace.left(seconds, share, 1.0)
        if seconds >= 0.1 * whole:
            assert left is not None
            assert (whole - seconds) / 2 <= left <= 2 * (whole - seconds)
    assert len(pace._marks) < 100
    assert Pace().left(1.0, 0.0, 1.0) is None


@pytest.mark.parametrize(
    ("traffic", "expected"),
    [
        ('kind = "background"\nflows = 2', 1.0),
        ('kind = "background"\nflows = 2\nbytes-each = "1MB"', None),
        ('kind = "incast"\nsenders = 2\nbytes-each = "1MB"', None),
        # 1,000 transfers of 1 MB at half of the 1 Gbit/s: 16 s, from the second on.
        (
            'kind = "poisson"\nfrom = "all"\nto = "receiver-0"\nbytes-each = "1MB"\nload = "50%"\ncount = 1000\n'
            'start = "1s"',
            0.17,
        ),
    ],
)
def test_when_a_run_probably_ends(tmp_path, traffic, expected):
    path = tmp_path / "s.toml"
    path.write_text(f'[network]\ntopology = "star"\n[run]\nduration = "100s"\n[[traffic]]\n{traffic}\n')
    assert _end(fanin.Scenario(path)) == (expected and pytest.approx(expected))


def test_no_text_controls_the_terminal(capsys, monkeypatch, tabs):
    """Titles and messages may be a stranger's."""
    text = "\x1b]0;title\x07 \x9b31m \x7f \u202e a\tb\r\nc"
    for force in ("", "1"):
        monkeypatch.setenv("FORCE_COLOR", force)
        say(text)
        note(text)
        print_json({"text": text})
        print_table(text, ["a", text], [[text, "1"]])
        found = capsys.readouterr()
        # What rich draws with begins with an escape of its own.
        drawn = re.sub(r"\x1b\[[0-9;]*m", "", found.out) + found.err
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", drawn)
        assert r"\u001b]0;title\u0007" in drawn
    monkeypatch.delenv("FORCE_COLOR")
    print_json({"text": text})
    assert json.loads(capsys.readouterr().out) == {"text": text}
    print_table(text, ["a", text], [[text, "1"]])
    assert [line.count("\t") for line in capsys.readouterr().out.splitlines()[1:]] == [1, 1]


def test_a_library_that_is_interrupted_inside_and_the_parser_end_as_the_signal_says(monkeypatch):
    panic = RuntimeError("Failed to access NumPy array API capsule: PyErr { type: <class 'KeyboardInterrupt'> }")
    monkeypatch.setattr(terminal, "_came", [])
    assert terminal.interrupted(None, panic) == terminal.interrupted(130) == 130
    assert terminal.interrupted(1) is None
    assert terminal.interrupted(None, RuntimeError("something else")) is None
    monkeypatch.setattr(terminal, "_came", [signal.SIGTERM])
    assert terminal.interrupted(None, panic) == terminal.interrupted(130) == 143


@pytest.mark.parametrize("width", ["0", "-3", "1"])
def test_a_terminal_of_no_width_ends_no_command(width):
    """Where nothing fits, text is as wide as elsewhere; where hardly anything does, it breaks."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": width}
    for command in (["list", "schemes"], ["run", "none.toml"]):
        result = subprocess.run(
            [sys.executable, "-m", "fanin", *command], capture_output=True, text=True, check=False, env=environment
        )
        assert result.returncode in (0, 3)
        assert "Traceback" not in result.stderr

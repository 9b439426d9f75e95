"""What is read of a results folder, which may be a stranger's: regular files in it, and nothing that never ends."""

import asyncio
import contextlib
import errno
import json
import math
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fanin import later
from fanin.choose.fit import held_out
from fanin.errors import ResultsError
from fanin.numbers.summary import checked_totals
from fanin.results import confined, sums
from fanin.results.files import refuse_links_out, replacing, write_whole, writing
from fanin.results.store import Store, manifest_text, read_manifest
from fanin.scenario import library, sections
from fanin.serve.aside import aside
from fanin.serve.reader import Reader


def piped(path: Path) -> None:
    """A pipe in the place of a file. Who opens it to wait for data gets their end instead, so that a test can fail."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    threading.Thread(target=lambda: path.open("wb").close(), daemon=True).start()


def device(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(os.devnull)


def folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def large(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(confined.MOST_TABLE + 1)


TRAPS = (piped, device, folder, large)


@pytest.mark.parametrize("trap", TRAPS)
def test_only_regular_files_of_a_bounded_size_are_opened(tmp_path, trap):
    trap(tmp_path / "x")
    with pytest.raises(OSError, match=r"not opened, as it (is not a regular file|has 1,073,741,825 bytes)"):
        confined.read(tmp_path / "x")


def test_a_limit_is_computed_only_for_a_large_file(tmp_path):
    (tmp_path / "x").write_bytes(b"x")
    assert confined.read(tmp_path / "x", lambda: pytest.fail("asked")) == b"x"
    large(tmp_path / "x")
    with pytest.raises(OSError, match="7 are read at most"):
        confined.read(tmp_path / "x", lambda: 7.0)


@pytest.mark.parametrize("trap", TRAPS[:3])
@pytest.mark.parametrize(
    "place", ["small/claims.json", "small/SHA256SUMS", "small/runs.parquet", "small/goodput-bps.csv", "runs/a.jsonl"]
)
def test_every_command_ends_on_a_trap(cli, work, trap, place):
    assert cli("reproduce", "small.toml", "--quick").code == 0
    path = work / "results" / place
    assert path.exists() or place == "runs/a.jsonl"
    trap(path)
    for command in (("claims",), ("list", "experiments"), ("report",), ("verify", "results")):
        assert cli(*command).code in (0, 1, 3), command
    assert cli("verify", "results").code == (0 if (trap, place) == (folder, "runs/a.jsonl") else 1)


def test_a_record_through_a_link_that_leads_out_is_not_read(cli, work):
    assert cli("reproduce", "small.toml", "--quick").code == 0
    path = work / "results/small/claims.json"
    path.rename(work / "claims.json")
    path.symlink_to(work / "claims.json")
    for verb in (("claims",), ("list", "experiments"), ("ranking",), ("report",)):
        result = cli(*verb)
        assert (result.code, "a link that leads out of results" in result.err) == (3, True), result.err


@pytest.mark.parametrize("trap", TRAPS)
def test_a_record_of_what_was_held_out_is_no_trap(tmp_path, trap):
    place = tmp_path / "fits/held-out.json"
    place.parent.mkdir()
    trap(place)
    with pytest.raises(ResultsError, match=r"held-out\.json: cannot be read: not opened"):
        held_out.read(tmp_path)
    (tmp_path / "empty").mkdir()
    assert held_out.read(tmp_path / "empty") == []


def test_links_in_a_circle_hide_no_link_that_leads_out(tmp_path):
    out = tmp_path / "results"
    for place in ("a", "b/c", "runs"):
        (out / place).mkdir(parents=True)
        (out / place / "0").symlink_to("0")
        (out / place / "1").symlink_to(out)
    refuse_links_out(out)
    # In the place of a run, where it is replaced.
    (out / "runs" / RUN).symlink_to(tmp_path)
    refuse_links_out(out)
    for place in ("a/x", "b/c/x", f"b/{RUN}"):
        (out / place).symlink_to(tmp_path / "nowhere")
        with pytest.raises(ResultsError, match=rf"{place}: a link that leads out"):
            refuse_links_out(out)
        (out / place).unlink()


DEEP = 1200
"""More than the levels of Python's stack, and no longer path than the system opens."""


def test_no_depth_of_folders_is_a_defect(cli, work):
    assert cli("reproduce", "small.toml", "--quick").code == 0
    try:
        for place in ("small", "report", "elsewhere"):
            (work / "results" / place).mkdir(exist_ok=True)
            with contextlib.chdir(work / "results" / place):
                for _ in range(DEEP):
                    Path("d").mkdir()
                    os.chdir("d")
        for command in (("claims",), ("list", "experiments"), ("report",), ("verify", "results", "--repair")):
            assert cli(*command).code == 0, command
    finally:
        # Python 3.11 cannot remove it.
        subprocess.run(["rm", "-rf", work / "results"], check=True)


def test_nothing_is_left_of_a_link_in_the_place_of_a_run(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x").write_text("x")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / RUN).symlink_to(tmp_path / "elsewhere")
    with replacing(tmp_path / "runs" / RUN) as temporary:
        (temporary / "y").write_text("y")
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted(["elsewhere", "x", "runs", RUN, "y"])


def reseal(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes a record as somebody does who knows the format."""
    content = json.loads((place / "claims.json").read_bytes())
    change(content)
    (place / "claims.json").write_text(json.dumps(content))
    names = [path.name for path in place.iterdir() if path.name != sums.SUMS]
    (place / sums.SUMS).write_bytes(sums.text_of(place, names))


@pytest.mark.parametrize("time", ["", "\0", "-1", "2026-01-01", "2026-01-01T00:00:00", "9999-99-99T99:99:99Z"])
def test_what_is_no_time_is_damage(cli, work, time):
    assert cli("reproduce", "small.toml", "--quick").code == 0
    reseal(work / "results/small", lambda content: content["work"].update(last=time))
    result = cli("list", "experiments")
    assert (result.code, "claims.json: damaged (work.last" in result.err) == (3, True), result.err
    with pytest.raises(ResultsError, match="not a manifest"):
        read_manifest(stored(work / "a", finished=time))


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "", "huge.toml", "/proc/self/mem", "/dev/zero", "results"])
def test_the_file_that_a_record_names_is_a_regular_one_or_not_read(cli, work, name, monkeypatch):
    assert cli("reproduce", "small.toml", "--quick").code == 0
    reseal(work / "results/small", lambda content: content.update(file=name))
    with (work / "huge.toml").open("wb") as stream:
        stream.truncate(confined.MOST_JSON + 1)
    monkeypatch.setattr(library, "_ROOTS", (Path("experiments"),))
    monkeypatch.setattr(sections, "read_text", lambda path: pytest.fail(f"{path} is read"))
    for verb in (("list", "experiments"), ("claims",), ("claims",)):
        result = cli(*verb)
        assert result.code == (3 if "\0" in name else 0), result.err
        assert ("claims.json: damaged (file" in result.err) == ("\0" in name)


def test_a_pipe_in_the_place_of_a_file_is_replaced(tmp_path):
    os.mkfifo(tmp_path / "x")
    write_whole(tmp_path / "x", b"x")
    assert (tmp_path / "x").read_bytes() == b"x"
    (tmp_path / "y").symlink_to(os.devnull)
    write_whole(tmp_path / "y", b"y")
    assert (tmp_path / "y").read_bytes() == b"y"
    assert not Path(os.devnull).is_file()


RUN = "0123456789abcdef"


def stored(root: Path, **more: object) -> Path:
    """A run with a file, in a store."""
    place = root / "runs" / RUN
    place.mkdir(parents=True)
    (place / "flows.parquet").write_bytes(b"rows")
    record = {"bytes": 4, "sha256": sums.of_file(place / "flows.parquet")}
    made_of = {"summary": {"result_hash": "a"}, "scenario": {"run": {"seed": 1}}}
    manifest = {"run_id": RUN, **made_of, "files": {"flows.parquet": record}, **more}
    (place / "manifest.json").write_bytes(manifest_text(sums.sealed(manifest)))
    return place


def test_only_what_a_manifest_lists_is_copied_to_another_store(tmp_path):
    place = stored(tmp_path / "a")
    (tmp_path / "secret").write_text("secret")
    (place / "notes.txt").symlink_to(tmp_path / "secret")
    (place / "more").symlink_to(tmp_path)
    os.mkfifo(place / "pipe")
    Store(tmp_path / "b").adopt(Store(tmp_path / "a").read(RUN))
    copies = tmp_path / "b/runs" / RUN
    assert sorted(path.name for path in copies.iterdir()) == ["flows.parquet", "manifest.json"]
    assert (copies / "manifest.json").read_bytes() == (place / "manifest.json").read_bytes()


@pytest.mark.parametrize("change", ["a link", "other bytes"])
def test_a_file_that_is_not_what_the_manifest_lists_is_not_copied(tmp_path, change):
    place = stored(tmp_path / "a")
    run = Store(tmp_path / "a").read(RUN)
    (place / "flows.parquet").unlink()
    if change == "a link":
        (tmp_path / "rows").write_bytes(b"rows")
        (place / "flows.parquet").symlink_to(tmp_path / "rows")
    else:
        (place / "flows.parquet").write_bytes(b"swor")
    with pytest.raises(ResultsError, match=r"flows\.parquet: damaged"):
        Store(tmp_path / "b").adopt(run)
    assert list((tmp_path / "b/runs").iterdir()) == []


@pytest.mark.parametrize("name", ["../../secret", "/etc", "..", "", "a\0b", "a" * 400, None, 5])
def test_what_is_no_id_is_looked_up_nowhere(tmp_path, name):
    for look in (Store(tmp_path).read, Store(tmp_path).find):
        with pytest.raises(ResultsError, match="is not the id of a run"):
            look(name)


ODD = [
    {"groups": [1.5]},
    {"groups": {}},
    {"groups": [{}]},
    {"groups": [{"group": "a", "drops": []}]},
    {"capacity_bps": "/etc/passwd"},
    {"drops": {}},
    {"mine": []},
    {"drops": 10**400},
]


@pytest.mark.parametrize("odd", [*ODD, []])
def test_totals_are_numbers_texts_and_flat_groups(odd):
    with pytest.raises(ValueError, match=r"total|groups|object"):
        checked_totals(odd)


@pytest.mark.parametrize("odd", [{"summary": {"result_hash": "a", **odd}} for odd in ODD] + [{"finished": 1.5}])
def test_a_manifest_with_odd_totals_is_damaged(tmp_path, odd):
    with pytest.raises(ResultsError, match="not a manifest"):
        read_manifest(stored(tmp_path, **odd))


def test_a_measured_program_may_say_anything_that_is_no_total_of_fanin(tmp_path):
    summary = {"result_hash": "a", "mine": [{}], "drops": 1}
    assert read_manifest(stored(tmp_path, summary=summary, measured={})).summary == summary


def test_half_of_a_character_is_no_text():
    for text in (b'"\\ud800"', b'{"\\udfff": 1}', b'"\\ude00\\ud83d"'):
        with pytest.raises(ValueError, match="half of a character"):
            sums.loaded(text)
    assert sums.loaded(b'"\\ud83d\\ude00"') == "\U0001f600"


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES])
def test_another_place_is_advised_only_where_it_helps(tmp_path, number):
    def said(name: Path) -> str:
        with pytest.raises(ResultsError) as caught, writing(tmp_path / "out"):
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


def test_the_servers_end_waits_for_no_request():
    held = threading.Event()

    async def ended() -> None:
        task = asyncio.create_task(aside(held.wait))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ended())
    waiting = [each for each in threading.enumerate() if each is not threading.main_thread() and not each.daemon]
    held.set()
    assert waiting == []


def test_a_request_aside_returns_or_raises():
    assert asyncio.run(aside(lambda: 1)) == 1
    with pytest.raises(ZeroDivisionError):
        asyncio.run(aside(lambda: 1 // 0))


def test_a_reader_that_is_closed_ends_what_it_reads():
    reader = Reader()
    reader._process = subprocess.Popen(["sleep", "infinity"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    held = threading.Event()

    def read() -> None:
        with reader._lock:
            held.set()
            assert reader._process is not None
            reader._process.wait()

    threading.Thread(target=read, daemon=True).start()
    held.wait()
    reader.close()
    with pytest.raises(ResultsError, match="ended"):
        reader._started()


def test_digests_of_a_served_sweep_are_not_opened_elsewhere(tmp_path):
    from serving import Site

    place = tmp_path / "sweeps/s"
    place.mkdir(parents=True)
    (place / "sweep.json").write_text(json.dumps({"id": "s"}))
    (place / "SHA256SUMS").symlink_to(os.devnull)
    (said,) = Site(tmp_path).get("/api/sweeps").json["damaged"]
    assert "SHA256SUMS: not opened" in said["why"]

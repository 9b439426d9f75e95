"""The cache is never wrong, and nothing fails because of it."""

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fanin.results import cache
from fanin.results.cache import Cache


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setenv("FANIN_CACHE", str(tmp_path / "own/cache"))
    return tmp_path / "own/cache"


class Maker:
    """Makes a new number each time, from some files."""

    def __init__(self, *files):
        self.files = files
        self.made = 0

    def __call__(self):
        self.made += 1
        return {"number": self.made}, {str(each): cache._fingerprint(str(each)) for each in self.files}


def look(make, given=(), name="a"):
    kept = Cache("test")
    value = kept.value(name, list(given), make)
    kept.write()
    return value["number"]


def test_a_value_is_kept_until_what_it_was_made_from_changes(place, tmp_path):
    file = tmp_path / "file"
    make = Maker(file)
    assert [look(make), look(make)] == [1, 1]
    file.write_text("now there")
    assert [look(make), look(make)] == [2, 2]
    os.utime(file, (0, 0))
    assert look(make) == 2
    file.write_text("not there")
    assert look(make) == 3
    assert [look(make, ["x"]), look(make, ["x"]), look(make, ["y"])] == [4, 4, 5]
    file.unlink()
    file.mkdir()
    assert [look(make, ["y"]), look(make, ["y"])] == [6, 7]  # What cannot be read may be anything.


def test_another_build_of_the_engine_keeps_nothing(place, monkeypatch):
    make = Maker()
    assert [look(make), look(make)] == [1, 1]
    size, time_ns = cache._built()
    monkeypatch.setattr(cache, "_built", lambda: [size, time_ns + 1])
    assert [look(make), look(make)] == [2, 2]


def test_what_is_not_to_be_kept_is_made_each_time(place):
    made = []
    for _ in range(2):
        kept = Cache("test")
        kept.value("a", [], lambda: (made.append(1), None))
        kept.write()
    assert len(made) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b'"number": 1', b'"number": 9'),
        lambda content: b"\xff\x00" + content,
        lambda content: b"[]",
    ],
)
def test_a_damaged_cache_is_ignored_and_mended(place, damage):
    make = Maker()
    assert look(make) == 1
    (file,) = place.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert [look(make), look(make)] == [2, 2]


def test_a_cache_that_impossible_written_is_none(place, monkeypatch):
    make = Maker()
    place.parent.mkdir()
    place.write_text("a file")
    assert [look(make), look(make)] == [1, 2]
    place.unlink()

    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache, "write_whole", full)
    assert [look(make), look(make)] == [3, 4]
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert [look(make), look(make)] == [5, 6]


def test_it_does_not_grow(place):
    look(Maker(), name="a")
    look(Maker(), name="b")
    (file,) = place.iterdir()
    assert list(json.loads(file.read_text().partition("\n")[2])["values"]) == ["b"]
    written = file.stat().st_mtime_ns
    look(Maker(), name="b")
    assert file.stat().st_mtime_ns == written
    old, young = place / "old.json", place / "young.json"
    for path, days in ((old, 31), (young, 29)):
        path.write_text("")
        os.utime(path, (time.time() - days * 86400,) * 2)
    look(Maker(), name="c")
    assert sorted(place.iterdir()) == sorted([file, young])


USER = """\
from fanin.results.cache import Cache
for turn in range(20):
    kept = Cache("test")
    value = kept.value("a", [turn], lambda: ("x" * 100_000 + str(turn), {}))
    assert value == "x" * 100_000 + str(turn)
    kept.write()
"""


def test_many_may_use_it_at_once(place):
    users = [subprocess.Popen([sys.executable, "-c", USER], stderr=subprocess.PIPE) for _ in range(3)]
    assert [user.communicate(timeout=120)[1] for user in users] == [b""] * 3
    (file,) = place.iterdir()
    assert cache._read(file, Cache("test")._made_by)["a"]["given"] == [19]


def test_it_stands_where_caches_do(monkeypatch):
    monkeypatch.setenv("HOME", "/home/one")
    monkeypatch.delenv("FANIN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert cache.folder() == Path("/home/one/.cache/fanin")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/one")
    assert cache.folder() == Path("/var/one/fanin")
    monkeypatch.setenv("FANIN_CACHE", "here")
    assert cache.folder() == Path("here")

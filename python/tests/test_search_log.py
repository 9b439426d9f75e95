"""The logs of searches: no line can be taken out, exchanged or taken from elsewhere unnoticed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fanin import _engine
from fanin.errors import ResultsError
from fanin.results import search_log, sums
from fanin.results.search_log import Log, check
from fanin.results.typed import typed


@dataclass(frozen=True)
class Number:
    """What was tried."""

    number: int | float
    words: list[str]


def opened(folder: Path, admit: Callable[[Number], None] = lambda _: None) -> Log[Number]:
    return Log(folder, Number, admit)


def numbers(log: Log[Number]) -> list[int | float]:
    return [each.number for each in log.entries]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a search that tried two batches of two."""
    found = tmp_path / "results/studies/one"
    log = opened(found)
    log.add([Number(1, []), Number(2, [])])
    log.add([Number(3, []), Number(float("inf"), ["a"])])
    return found


def lines(folder: Path) -> list[bytes]:
    return (folder / "tried.jsonl").read_bytes().splitlines(keepends=True)


def sealed_again(found: list[dict[str, Any]]) -> bytes:
    """Lines as somebody writes them who knows the format."""
    before, text = "", b""
    for each in found:
        value = sums.sealed({**each, "before": before})
        before = value[sums.OWN]
        text += json.dumps(value).encode() + b"\n"
    return text


def test_a_log_is_read_as_it_was_written_and_goes_on(folder):
    log = opened(folder)
    assert log.entries == [Number(1, []), Number(2, []), Number(3, []), Number(float("inf"), ["a"])]
    log.add([Number(5, [])])
    assert numbers(opened(folder))[-1] == 5
    assert check((folder / "tried.jsonl").read_bytes(), "one")


@pytest.mark.parametrize(
    ("order", "kept"),
    [([0, 0, 1, 2, 3], 0), ([1, 2, 3], 0), ([0, 1, 3], 2), ([0, 1, 3, 2], 2), ([0, 1, 0, 1], 2), ([3, 2, 1, 0], 0)],
)
def test_lines_that_are_repeated_missing_or_exchanged_are_damage(folder, order, kept):
    whole = lines(folder)
    content = b"".join(whole[place] for place in order)
    (folder / "tried.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match="missing, repeated or exchanged"):
        check(content, "one")
    with pytest.warns(UserWarning, match="damaged .* is tried again"):
        assert numbers(opened(folder)) == [1, 2][:kept]
    assert lines(folder) == whole[:kept]


@pytest.mark.parametrize("cut", range(5))
@pytest.mark.parametrize("more", [0, 20])
def test_a_log_that_was_cut_off_goes_on_after_the_last_whole_batch(folder, cut, more):
    whole = lines(folder)
    content = b"".join(whole[:cut]) + b"".join(whole[cut:])[:more]
    (folder / "tried.jsonl").write_bytes(content)
    assert check(content, "one")
    log = opened(folder)
    assert numbers(log) == [1, 2, 3, float("inf")][: cut // 2 * 2]
    assert lines(folder) == whole[: cut // 2 * 2]


def test_a_log_of_another_search_or_engine_is_not_continued(folder, monkeypatch):
    other = folder.with_name("two")
    other.mkdir()
    content = (folder / "tried.jsonl").read_bytes()
    (other / "tried.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match=r"line 1: it is of another search \(one, engine"):
        check(content, "two")
    with pytest.warns(UserWarning, match="of another search or engine .*begins anew"):
        assert opened(other).entries == []
    monkeypatch.setattr(_engine, "version", lambda: "0.0.0")
    assert check(content, "one")
    with pytest.warns(UserWarning, match="of another search or engine .*begins anew"):
        assert opened(folder).entries == []


def test_a_log_of_an_earlier_version_is_not_continued(folder):
    content = json.dumps(sums.sealed({"number": 1, "words": []})).encode() + b"\n"
    (folder / "tried.jsonl").write_bytes(content)
    assert not check(content, "one")
    with pytest.warns(UserWarning, match="of an earlier version; the search begins anew"):
        assert opened(folder).entries == []


def test_what_the_search_cannot_have_tried_is_damage(folder):
    def admit(each: Number) -> None:
        if each.number == 3:
            raise ValueError("it is three")

    with pytest.warns(UserWarning, match=r"damaged \(line 3: it is three\)"):
        assert numbers(opened(folder, admit)) == [1, 2]


@pytest.mark.parametrize(
    "tried",
    [
        {"number": "3", "words": []},
        {"number": None, "words": []},
        {"number": True, "words": []},
        {"number": 3, "words": {}},
        {"number": 3, "words": [1]},
        {"number": 3, "words": ["\ud800"]},
        {"number": 3},
        {"number": 3, "words": [], "more": 1},
        [3, []],
        "3",
    ],
)
def test_values_of_other_types_are_damage(folder, tried):
    found = [json.loads(line) for line in lines(folder)]
    found[2]["tried"] = tried
    (folder / "tried.jsonl").write_bytes(sealed_again(found))
    with pytest.warns(UserWarning, match=r"damaged \(line 3: "):
        assert numbers(opened(folder)) == [1, 2]


@pytest.mark.parametrize("key", ["search", "number", "left", "before", "tried"])
def test_a_line_without_its_place_is_damage(folder, key):
    found = [json.loads(line) for line in lines(folder)]
    del found[2][key]
    content = b"".join(json.dumps(sums.sealed(each)).encode() + b"\n" for each in found)
    with pytest.raises(ValueError, match="line 3: "):
        check(content, "one")


def test_a_line_that_was_exchanged_for_one_with_its_number_is_damage(folder):
    found = [json.loads(line) for line in lines(folder)]
    found[1]["tried"]["number"] = 9
    content = b"".join(json.dumps(sums.sealed(each)).encode() + b"\n" for each in found)
    with pytest.raises(ValueError, match="line 3: lines are missing, repeated or exchanged"):
        check(content, "one")


def test_a_line_with_another_number_is_damage(folder):
    found = [json.loads(line) for line in lines(folder)]
    found[1]["number"] = 1
    with pytest.raises(ValueError, match="line 2: lines are missing, repeated or exchanged"):
        check(sealed_again(found), "one")


def test_a_change_that_leaves_the_values_is_damage(folder):
    content = (folder / "tried.jsonl").read_bytes().replace(b": 3,", b":  3,")
    with pytest.raises(ValueError, match="differs from what was written"):
        check(content, "one")


def test_types_are_not_converted():
    assert typed(Number, [{"number": 1, "words": []}, {"number": 1.0, "words": []}]) == [Number(1, []), Number(1.0, [])]
    assert [type(each.number) for each in typed(Number, [{"number": 1, "words": []}])] == [int]


def test_a_file_that_is_linked_elsewhere_is_not_changed_there(folder, tmp_path):
    whole = (folder / "tried.jsonl").read_bytes()
    os.link(folder / "tried.jsonl", tmp_path / "outside")
    opened(folder).add([Number(5, [])])
    assert (tmp_path / "outside").read_bytes() == whole
    assert len(lines(folder)) == 5


def test_a_batch_that_cannot_be_written_leaves_the_log_as_it_was(folder, monkeypatch):
    whole = lines(folder)
    log = opened(folder)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(search_log, "write_whole", full)
        with pytest.raises(ResultsError, match="free some space"):
            log.add([Number(5, [])])
    assert lines(folder) == whole
    log.add([Number(6, [])])
    assert numbers(opened(folder)) == [1, 2, 3, float("inf"), 6]

"""Anything may be in a file: what reads it answers with a value or with an error that says what is wrong."""

import codecs
import io
import json
from pathlib import Path

import pytest
from conftest import SCENARIO
from hypothesis import given, settings
from hypothesis import strategies as st

import fanin
from fanin import imports
from fanin.errors import FaninError, ScenarioError
from fanin.scenario.format.values import expand_seeds, parse_values

FIXED = settings(max_examples=200, derandomize=True, deadline=None, database=None)
"""Results do not depend on what earlier runs of the tests have found, nor on how fast they are."""

WORDS = """\
0 1 -1 1e3 1e999 nan inf 0.5 100 99999999999999999999 \uff11 \u00b2 \ufeff \0 # , = -> : 0->1 0->0 1->2 Nodes
Connections Triggers start size trigger id Tier 0 Tiers Podsize Radix_Down Radix_Up Queue_Up Downlink_speed_Gbps
Downlink_Latency_ns Switch_Latency_ns Bundle 2001-01-01T00:00:00 2001-01-01T00:00:00+23:59 9999-12-31 dst src bytes
"a "b" ' Totals
""".split()

LINES = st.lists(st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=7).map(" ".join), max_size=8)
TEXTS = LINES.map("\n".join) | LINES.map(lambda lines: "\n".join(line.replace(" ", ",") for line in lines))
BYTES = TEXTS.map(lambda text: text.encode(errors="replace")) | st.binary(max_size=80)

COLUMNS = {name: name for name in ("start", "src", "dst", "bytes")}
IMPORTS = {
    "hpcc": (imports.hpcc, b"2\n0 1 3 100 1500 2.0\n1 0 3 100 1500 2.1\n"),
    "htsim": (imports.htsim, b"Nodes 4\nConnections 2\n0->1 id 1 start 0 size 9\n1->0 id 2 start 5 size 9\n"),
    "records": (
        lambda path: imports.records(path, COLUMNS, imports.Unit.S),
        b"start,src,dst,bytes\n2001-01-01T00:00:00,a,b,9\n2001-01-01T00:00:01,b,a,9\n",
    ),
    "topology": (
        imports.topology,
        b"Nodes 16\nTiers 2\nPodsize 16\n"
        b"Tier 0\nRadix_Down 4\nRadix_Up 2\nDownlink_speed_Gbps 10\nDownlink_Latency_ns 5\n"
        b"Tier 1\nRadix_Down 4\nDownlink_speed_Gbps 10\nDownlink_Latency_ns 5\n",
    ),
}


def edited(draw, whole: bytes) -> bytes:
    """A few edits of a whole file, which lead further into it than anything at random."""
    text = bytearray(whole)
    for at, cut, piece in draw:
        start = at % (len(text) + 1)
        text[start : start + cut] = piece
    return bytes(text)


EDITS = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 12), st.sampled_from(WORDS).map(str.encode) | st.binary(max_size=3)),
    max_size=4,
)


@pytest.mark.parametrize("kind", IMPORTS)
def test_any_file_is_imported_or_its_line_is_named(kind, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzzed") / "file"
    read, whole = IMPORTS[kind]
    path.write_bytes(whole)
    read(path)

    @FIXED
    @given(BYTES, EDITS, st.booleans())
    def check(anything, edits, edit):
        content = edited(edits, whole) if edit else anything
        path.write_bytes(content)
        try:
            found = read(path)
        except ScenarioError as error:
            # An empty file has none.
            assert error.line or content in (b"", codecs.BOM_UTF8)
            assert (error.line or 0) <= content.count(b"\n") + content.count(b"\r") + 1
            return
        if isinstance(found, imports.Flows):
            found.write(io.StringIO())
            assert all(size > 0 for size in found.size)
            assert min(found.start, default=found.origin) == found.origin or found.origin == 0
        else:
            assert found[0]

    check()


@FIXED
@given(
    st.text(max_size=16)
    | st.lists(st.sampled_from(["1", "..", ",", ":", "9" * 20, "pkt", "-", '"', "e9"])).map("".join)
)
def test_any_text_is_values_or_a_value_error(text):
    for read in (parse_values, lambda each: expand_seeds([each])):
        try:
            read(text)
        except ValueError:
            continue


PIECES = [
    *"""\
[ ] [[traffic]] [[claim]] [[plot]] [[column]] [[variant]] [sweep] [quick] [scheme.dctcp] = " . - { } , : # 0x nan inf
1e999 true 1979-05-27 \u00b5 name kind x y by of set where seeds "incast" 1..3 "1ms" "1/0" "%" "99999999999999999999s"
99999999999999999999 "1..99999999999" "flows.fct_s"
""".split(),
    "'''",
    "\n",
    "\0",
]

OVERRIDES = """\
run.seed network.rate network.topology traffic.bursts.senders traffic.bursts.kind traffic.bursts.file traffic scheme
scheme.dctcp.mark-threshold traffic.bursts.name control.loss transport.scheme measure.bottleneck . traffic. .rate
""".split()


def refused_or_resolved(path: Path, overrides: dict[str, str]) -> None:
    try:
        experiment = fanin.Scenario(path).set(overrides)
        experiment.check()
        json.dumps(experiment.resolved())
    except FaninError as error:
        assert str(error)


def test_any_scenario_is_refused_or_resolved(work):
    path, whole = work / "small.toml", SCENARIO.encode()
    pieces = st.sampled_from(PIECES).map(str.encode)
    changes = st.tuples(st.integers(0, len(whole)), st.integers(0, 12), pieces)

    @FIXED
    @given(st.lists(changes, max_size=4), st.lists(pieces, max_size=30).map(b"".join), st.booleans())
    def check(edits, anything, edit):
        path.write_bytes(edited(edits, whole) if edit else anything)
        refused_or_resolved(path, {})

    check()


def test_any_override_is_refused_or_resolved(work):
    path = work / "small.toml"

    @FIXED
    @given(st.sampled_from(OVERRIDES) | st.text(max_size=24), st.sampled_from(PIECES) | st.text(max_size=12))
    def check(key, value):
        refused_or_resolved(path, {key: value})

    check()


FLOWS = b"start_us,src,dst,bytes,class,deadline_us\n0,0,20,1460,small,\n0,1,20,1460,small,100\n5,2,3,150000,,\n"


def test_any_list_of_flows_is_read_or_its_line_is_named(listed):
    path = listed.with_name("list.csv")

    @FIXED
    @given(BYTES, EDITS, st.booleans())
    def check(anything, edits, edit):
        path.write_bytes(edited(edits, FLOWS) if edit else anything)
        try:
            fanin.Scenario(listed).check()
        except ScenarioError as error:
            assert "list.csv:" in str(error)

    check()

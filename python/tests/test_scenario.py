import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanin
from fanin._engine import Scenario
from fanin.errors import ScenarioError
from fanin.scenario import handle, library, remarks
from fanin.scenario.format.plot import is_of_table
from fanin.scenario.format.values import expand, parse_range, parse_values
from fanin.scenario.sections import parse


def test_ranges_include_their_ends():
    assert expand("10..30:10") == [10, 20, 30]
    assert expand(["1..3", 7, "dctcp", True]) == [1, 2, 3, 7, "dctcp", True]
    assert expand([1, "1..2"]) == [1, 2]


@given(st.integers(0, 1000), st.integers(0, 100), st.integers(1, 9))
def test_a_range_is_what_python_calls_one(first, length, step):
    assert expand(f"{first}..{first + length}:{step}") == list(range(first, first + length + 1, step))


def test_ranges_keep_their_units_and_are_exact():
    assert expand("5pkt..20pkt:5pkt") == ["5pkt", "10pkt", "15pkt", "20pkt"]
    assert expand("0.5ms..2ms:0.5ms") == ["0.5ms", "1ms", "1.5ms", "2ms"]
    assert expand("0.1..0.7:0.2") == [0.1, 0.3, 0.5, 0.7]
    assert expand("20%..60%:20%") == ["20%", "40%", "60%"]
    assert expand("0.00001ms..0.00002ms:0.00001ms") == ["0.00001ms", "0.00002ms"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5pkt..80pkt", "'5pkt..80pkt' needs a step"),
        ("0.1..0.9", "'0.1..0.9' needs a step"),
        ("500KB..2MB:500KB", "in the same unit"),
        ("5pkt..80pkt:5", "in the same unit"),
        ("9..1", "'9..1' is an empty range"),
        ("1..9:0", "'1..9:0' is an empty range"),
        ("1..9999999", "9,999,999 values"),
    ],
)
def test_a_range_that_impossible_says_why(text, message):
    with pytest.raises(ValueError, match=message):
        expand(text)


def test_a_range_without_steps_is_known_all_the_same():
    found = parse_range("1/64..1/4")
    assert (found.first, found.last, found.step, found.unit) == (1 / 64, 1 / 4, None, "")
    assert parse_range("5pkt..80pkt").shown(12) == "12pkt"
    assert parse_range("0.5ms..1ms").shown(0.75) == "0.75ms"
    assert parse_range("dctcp") is None


def test_values_of_the_command_line_are_lists_ranges_and_quoted_text():
    assert parse_values("dctcp, rcc") == ["dctcp", "rcc"]
    assert parse_values("10..30:10,64,0.5,true") == [10, 20, 30, 64, 0.5, True]
    assert parse_values('"1MB 50%, 4MB 50%",64KB') == ["1MB 50%, 4MB 50%", "64KB"]
    for empty in ("", ",", "1,"):
        with pytest.raises(ValueError, match="empty value"):
            parse_values(empty)
    for unbalanced in ('"1MB 50%, 4MB 50%,64KB', '64KB,"1MB', '"1MB"50%,64KB'):
        with pytest.raises(ValueError, match="a value in quotes ends with a quote"):
            parse_values(unbalanced)


def test_dotted_and_quoted_paths_mean_the_same():
    quoted = parse('[sweep]\n"transport.scheme" = ["dctcp"]', "x").sweep
    dotted = parse('[sweep]\ntransport.scheme = "dctcp"', "x").sweep
    assert quoted == dotted
    assert quoted.variables == {"transport.scheme": ["dctcp"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[claim]]\nid = 1", "x.toml:2: claim.0.id"),
        ('[[plot]]\nx = "a"\ny = "b"\n[[plot]]\nx = "a"', 'x.toml:4: plot.1: kind = "line" needs y'),
        (
            '[[plot]]\nx = "a"\ny = "b"\npublished = [{ label = "c" }]',
            "x.toml:4: plot.0.published.0: needs x, y or both",
        ),
        ('[[plot]]\nx = "a"\ny = "b"\ntitel = "c"', 'x.toml:4: plot.0.titel: unknown key (did you mean "title"?)'),
        ("[sweep]\na = [[1]]", "x.toml:2: sweep.a: takes values or ranges"),
        ("title = 'x", "x.toml:1: not TOML"),
        ("[netwrok]", 'x.toml:1: netwrok: unknown key (did you mean "network"?)'),
        ("title = 'x'\n[[clami]]", 'x.toml:2: clami: unknown key (did you mean "claim"?)'),
        ("[foo]", "x.toml:1: foo: unknown key"),
        ("[foo]\n[varient]", 'x.toml:1: foo: unknown key\nx.toml:2: varient: unknown key (did you mean "variant"?)'),
    ],
)
def test_errors_name_file_line_and_key(text, message):
    with pytest.raises(ScenarioError) as raised:
        parse(text, "x.toml")
    assert str(raised.value).startswith(message)


def test_lines_are_found_through_headers_and_arrays():
    text = '# top\na = 1\n[t."x.y"]\nb = 2\n[[c]]\nd = 3\n[[c]]\n  "e f" = 4\n'
    line = Scenario(text).line
    assert line(("a",)) == 2
    assert line(("t", "x.y", "b")) == 4
    assert line(("c", 0, "d")) == 6
    assert line(("c", 1, "e f")) == 8
    assert line(("c", 1, "missing")) == 7
    assert line(("nowhere",)) is None
    assert line(()) is None


HOSTILE = """\
a = 1 # like \"\"\" or ['\u2028[t]\u2028b = 9
[owned] # ' \u00a0[t]
x = [
[ "t" ],
  1, # ]
]
y = \"\"\"
[t]
z = \\\"\"\" \"\"\"\"
"e \\" [" = { k = "]" }
[t]
b = 2
c = '''
[owned]
d = \\''''
["o\\u0077ned".inner]
[t.'q"']
d = 4
"""


def test_nothing_in_a_value_or_a_comment_is_a_key_or_a_header():
    places = [("owned", "y"), ("owned", 'e " ['), ("t", "b"), ("t", "c"), ("owned", "inner"), ("t", 'q"', "d")]
    assert [Scenario(HOSTILE).line(place) for place in places] == [7, 10, 12, 13, 16, 18]
    assert Scenario(HOSTILE).line(("owned", 'e " [', "k")) == 10
    assert Scenario(HOSTILE).line(("owned", "x", 1)) == 5


def test_a_byte_order_mark_is_no_part_of_a_file(cli, work):
    text = (work / "small.toml").read_text()
    (work / "small.toml").write_text(text, encoding="utf-8-sig")
    assert cli("check", "small.toml").code == 0
    assert library.title(work / "small.toml") == "A small incast"


def test_totals_and_result_tables_of_one_name_are_told_apart() -> None:
    """``drops`` is a total of the run, ``drops.at_s`` a column of the table of drops."""
    assert not is_of_table("drops")
    assert is_of_table("drops.at_s")
    assert not is_of_table("groups.bursts.drops")


def test_values_that_do_nothing_are_named_with_the_reason() -> None:
    assert remarks.unused([]) == []
    beside = ("network.admission", "dynamic-threshold")
    schemes, network = remarks.unused([("scheme.dctcp.g", None), ("network.buffer", beside)])
    assert schemes.startswith("scheme.dctcp.g: no network or traffic group uses this scheme")
    why = 'no effect with network.admission = "dynamic-threshold"; leave it out or change network.admission'
    assert network == f"network.buffer: {why}"


def test_values_of_the_scheme_that_the_user_replaces_are_no_mistake(work):
    text = (work / "small.toml").read_text()
    plain = text[: text.index("[sweep]")].replace("20pkt", "200pkt") + "[scheme.dctcp]\ng = 0.5\n"
    (work / "plain.toml").write_text(plain.replace("[transport]", '[transport]\nscheme = "dctcp"', 1))
    experiment = fanin.Scenario("plain.toml")
    assert experiment.warnings() == []
    assert experiment.warnings({"transport.scheme": "newreno"}) == []
    # A value that no choice uses stays one.
    (remark,) = experiment.warnings({"scheme.l2dct.g": "0.5"})
    assert remark.startswith("scheme.l2dct.g: ")


def test_a_preference_that_a_stack_overrules_is_warned_of(work):
    text = (work / "small.toml").read_text().replace('initial-window = "2mss"\n', "")
    (work / "plain.toml").write_text(text[: text.index("[sweep]")])

    def found(scheme, **own):
        values = {f"transport.{key.replace('_', '-')}": value for key, value in own.items()}
        said = fanin.Scenario("plain.toml").set({"transport.scheme": scheme, **values}).warnings()
        return [each for each in said if "prefers" in each]

    assert found("dt-cwa") == found("dctcp", stack="linux-6") == found("linux") == []
    (said,) = found("dt-cwa", stack="linux-6")
    assert said.startswith(
        "transport.initial-window is 10mss (stack linux-6.12), but DT-CWA prefers 2mss; set transport."
    )
    # What the user sets is no mistake.
    for window in ("2mss", "10mss"):
        assert found("dt-cwa", stack="linux-6", initial_window=window) == []


def test_experiments_that_share_a_scenario_read_it_once(work):
    (work / "other.toml").write_text('runs-of = "small.toml"\n')
    for each in (handle.opened, handle.with_changes):
        each.cache_clear()
    first = fanin.Scenario("small.toml").resolved({"run.seed": 7})
    whole = copy.deepcopy(first)
    # Who changes what was found changes nothing for others.
    first["run"]["seed"] = 8
    assert fanin.Scenario("other.toml").resolved({"run.seed": 7}) == whole
    # Nor is a scenario with another seed another one.
    assert fanin.Scenario("small.toml").resolved({"run.seed": 9}) != whole
    assert (handle.opened.cache_info().misses, handle.with_changes.cache_info().misses) == (2, 1)


def test_values_with_a_unit_know_their_number(work):
    resolved = fanin.Scenario("small.toml").resolved()
    found = resolved["transport"]["rto-min"]
    assert (found, found.number, found.unit) == ("10ms", 0.01, "s")
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.number, again.unit) == ("10ms", 0.01, "s")
    assert (resolved["network"]["buffer"].number, resolved["network"]["buffer"].unit) == (20.0, "pkt")
    assert (resolved["transport"]["initial-window"].number, resolved["transport"]["initial-window"].unit) == (
        2.0,
        "pkt",
    )
    assert resolved["network"]["rate"].number == 1e9
    assert type(resolved["transport"]["scheme"]) is str


def test_a_scenario_is_changed_by_making_another(work):
    text = (work / "small.toml").read_text()
    scenario = Scenario(text, "small.toml")
    more = scenario.with_changes({"traffic.bursts.senders": 5, "transport.sack": True})
    assert more.changes == [("traffic.bursts.senders", "5"), ("transport.sack", "true")]
    assert [each.values()["traffic"][1]["senders"] for each in (scenario, more)] == [3, 5]
    assert more.with_changes([("traffic.bursts.senders", "7")]).check()["groups"][1]["flows"] == 7
    rows = {row["path"]: row for row in more.resolved()}
    assert rows["traffic.bursts.senders"]["set_at"] == "--set"
    assert rows["transport.rto-min"]["set_at"] == "small.toml:10"
    assert (rows["transport.rto-min"]["number"], rows["transport.rto-min"]["unit"]) == (0.01, "s")
    assert rows["transport.rto-initial"]["set_at"] is None
    same = pickle.loads(pickle.dumps(more))
    assert (same.text, same.file, same.changes) == (text, "small.toml", more.changes)
    hashes = [json.loads(each.run(seed=3).summary)["result_hash"] for each in (more, same)]
    assert hashes[0] == hashes[1] != json.loads(scenario.run(seed=3).summary)["result_hash"]
    assert more.default("transport.rto-min") == "200ms"
    assert repr(more) == "<Scenario small.toml traffic.bursts.senders=5 transport.sack=true>"


def test_a_file_may_lack_what_changes_bring(work):
    text = (work / "small.toml").read_text().replace("senders = 3\n", "")
    scenario = Scenario(text, "small.toml")
    with pytest.raises(ScenarioError, match=r"small\.toml:\d+: traffic\.bursts\.senders: is required"):
        scenario.check()
    assert scenario.with_changes({"traffic.bursts.senders": 2}).check()["hosts"] == 5
    with pytest.raises(ScenarioError, match=r"x\.toml:1: not TOML"):
        Scenario("a = ", "x.toml")
    with pytest.raises(ValueError, match="no traffic of the scenario has the scheme rcc"):
        scenario.with_changes({"traffic.bursts.senders": 2}).values("rcc")


def test_a_swept_key_stands_in_the_scenario_only_if_it_has_no_default(work):
    path = work / "small.toml"
    text = path.read_text()
    path.write_text(text.replace("[sweep]\n", '[sweep]\n"transport.rto-initial" = ["1s", "2s"]\n'))
    fanin.Scenario("small.toml").check()
    path.write_text(text.replace("senders = 3\n", ""))
    said = (
        r"small\.toml:\d+: traffic\.bursts\.senders: is required: .*, also where a sweep varies it: `fanin run` takes"
    )
    with pytest.raises(ScenarioError, match=said):
        fanin.Scenario("small.toml").check()
    path.write_text(text.replace('"traffic.bursts.senders"', '"traffic.bursts.sender"'))
    with pytest.raises(ScenarioError, match=r'unknown key .did you mean "senders"'):
        fanin.Scenario("small.toml").check()


def test_ends_of_links_and_what_they_are_is_known(work):
    network = fanin.Scenario("small.toml").network()
    kinds = {node["name"]: node["kind"] for node in network["nodes"]}
    assert kinds["switch-0"] == "switch"
    assert {link["buffer_bytes"] is None for link in network["links"] if kinds[link["from"]] == "host"} == {True}
    there, back = network["links"][:2]
    assert (there["from"], there["to"]) == (back["to"], back["from"])
    assert there["name"] == f"{there['from']}->{there['to']}"

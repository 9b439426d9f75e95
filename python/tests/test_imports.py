"""Other tools' files: what becomes of them, what is said to be assumed, and how mistakes are named."""

import io
import json
import re
import tracemalloc

import pytest

from fanin import imports
from fanin.errors import ScenarioError
from fanin.imports import Points, SizeUnit, Unit
from fanin.run.scenario import Scenario


def rows_of(flows):
    stream = io.StringIO()
    flows.write(stream)
    return stream.getvalue().splitlines()[1:]


def test_hpcc_lists_are_sorted(tmp_path):
    path = tmp_path / "traffic.txt"
    path.write_text("2 \n4 5 3 100 1500 2.000000123\n1 0 3 100 99 2.0\n", encoding="utf-8")
    assert rows_of(imports.hpcc(path)) == ["2000000000000,1,0,99", "2000000123000,4,5,1500"]


def test_of_hpcc_lists_those_flows_are_read_that_hpcc_reads(tmp_path, cli):
    path = tmp_path / "flow.txt"
    flows = "".join(f"{src} 1 3 100 {size} 2\n" for src, size in ((2, 200_000), (3, 100_000), (4, 150_000)))
    path.write_text(f"2\n{flows}\nFirst line: number of flows\nsrc dst prio port size, start\n", encoding="utf-8")
    result = cli("import", "hpcc", str(path))
    assert result.out.splitlines()[1:] == ["2000000000000,2,1,200000", "2000000000000,3,1,100000"]
    assert result.err.splitlines() == [
        "HPCC reads 2 flows, as the first line says; all from line 4 on is ignored",
        "starts are in seconds; priority and port are ignored",
        "host 0 is not used: HPCC numbers switches too. If they come before the hosts, subtract their number from src "
        "and dst",
        "flows: 2; sizes 100,000 to 200,000 B, mean 150,000 B; starts 2 to 2 s; hosts: 3, numbers 1 to 3",
    ]


def test_htsim_connections_are_in_picoseconds(tmp_path):
    path = tmp_path / "perm.cm"
    path.write_text(
        "Nodes 16\nConnections 2\n0->13 start 0 size 2000000\n13->0 id 2 start 7 size 5\n", encoding="utf-8"
    )
    assert rows_of(imports.htsim(path)) == ["0,0,13,2000000", "7,13,0,5"]


TRACE = """3 2
1 0 1 2 1 0:1.0
7 1500 3 0 1 2 2 1:3.0 2:0.5
"""


def test_each_coflow_is_a_query_and_reducers_get_as_much_from_each_mapper(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_text(TRACE, encoding="utf-8")
    found = imports.coflows(path)
    megabyte = 1 << 20
    assert rows_of(found) == [
        f"0,2,0,{megabyte},1",
        f"1500000000000,0,1,{megabyte},7",
        f"1500000000000,2,1,{megabyte},7",
        f"1500000000000,0,2,{round(megabyte / 6)},7",
        f"1500000000000,1,2,{round(megabyte / 6)},7",
    ]
    assert found.said[0].startswith("2 flows are left out")


def test_queries_of_a_list_have_their_own_rows(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_text("3 2\n1 0 2 1 2 1 0:0.1\n7 0 1 2 1 0:0.1\n", encoding="utf-8")
    with (tmp_path / "flows.csv").open("w", encoding="utf-8") as stream:
        imports.coflows(path).write(stream)
    scenario = tmp_path / "list.toml"
    scenario.write_text(
        '[network]\ntopology = "star"\nsender-hosts = 2\n[[traffic]]\nkind = "flows"\nname = "list"\n'
        'file = "flows.csv"\nfrom = "all"\nto = "all"\n',
        encoding="utf-8",
    )
    run = Scenario(str(scenario)).run()
    flows, queries = run.table("flows"), run.table("requests")
    assert queries["fan_in"].to_list() == [2, 1]
    assert queries["completion_s"][0] == flows["completion_s"][:2].max()
    assert (run.summary["queries"], run.summary["query_p99_s"]) == (2, queries["qct_s"].max())


COLUMNS = {"start": "ts", "src": "sa", "dst": "da", "bytes": "by"}


def read_records(path):
    return imports.records(path, COLUMNS, Unit.S)


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (imports.hpcc, "1\n0 1 3 100 5\n", "x:2: 5 fields"),
        (imports.coflows, "3\n1 0 1 2 1 0:1\n", "x:1: the first line has the number of ports"),
        (imports.coflows, "3 2\n1 0 1 2 1 0:1\n", "x:1: number of coflows 2, but the file has 1"),
        (imports.coflows, "3 1\n1 0 1 3 1 0:1\n", "x:2: port 3, but there are 3, numbered from 0"),
        (imports.coflows, "3 1\n1 0 2 1 2 3 0:1\n", "x:2: 1 reducers, but the line says 3"),
        (imports.coflows, "3 1\n1 0 1 2 1 0:1 1:1\n", "x:2: '1:1' comes after the last reducer"),
        (imports.coflows, "3 1\n1 0 1 2 1 0\n", "x:2: megabytes '' is not a number"),
        (imports.hpcc, "1\n0 1 3 100 -5 0\n", "x:2: bytes '-5'"),
        (imports.hpcc, "1\n0 1 3 100 5 nan\n", "x:2: start 'nan' is not a number"),
        (imports.hpcc, "1\n0 1 3 100 5 1e99999999\n", "x:2: start '1e99999999' is too large"),
        (imports.hpcc, "99999999999999999999\n", "x:1: number of flows '99999999999999999999' is too large: it has 20"),
        (imports.sizes, "0 0\n99999999999999999999999999 100\n", "x:2: size '99999999999999999999999999' is too large"),
        (imports.sizes, "0 0\n0 100\n", "x:2: '0 100' is not a point: flows have at least one byte"),
        (imports.sizes, "0 10\n5 100\n", "x:1: '0 10' is not a point: flows have at least one byte"),
        (imports.hpcc, "1\n7 7 3 100 5 0\n", "x:2: host 7 sends to itself"),
        (imports.hpcc, "3\n0 1 3 100 5 0\n", "x:1: number of flows 3, but the file has 1"),
        (
            imports.hpcc,
            "12\n0 1 3 100 5 0\n",
            "x:1: number of flows 12, but the file has 1: if these are all, the end of 12",
        ),
        (imports.hpcc, f"1\n0 {'9' * 5000} 3 100 5 0\n", "x:2: host '999"),
        (imports.htsim, "Connections 1\n0->1 trigger 3 size 5\n", "x:2: the connection starts by a trigger"),
        (imports.htsim, "Nodes 4\nfailure 1\n", "x:2: a failure, which is no flow: write it as [[fault]]"),
        (imports.htsim, "Nodes 4\ntrigger id 1 oneshot\n", "x:2: a trigger, which is no flow"),
        (imports.htsim, "Connections 2\n0->1 start 0 size 5\n", "x:1: number of connections 2, but the file has 1"),
        (imports.htsim, "Triggers 1\n0->1 start 0 size 5\n", "x:1: number of triggers 1, but the file has 0"),
        (imports.htsim, "0->1 id 1 msg start 0 size 5\n", "x:1: the connection is shared by messages (msg)"),
        (imports.htsim, "0->1 start 0 size 5 addon\n", "x:1: the connection grows by a trigger (addon)"),
        (imports.htsim, "0->1 begin 0 size 5\n", "x:1: unknown word 'begin' of a connection: expected id, start"),
        (imports.htsim, "0->1 start 0.0 size 0\n", "x:1: size 0: the connection never ends in htsim"),
        (imports.htsim, "0->1 start 0 size\n", "x:1: size '' is not a whole number"),
        (imports.htsim, "Nodes 2\n0->9 start 0 size 5\n", "x:2: host 9, but there are 2 nodes, numbered from 0"),
        (imports.htsim, "Nodes 2\n0->1 start 0 size 5\n1->1 start 0 size 5\n", "x:3: host 1 sends to itself"),
        (imports.htsim, "Nodes 2\n99999999999999999999->1 start 0 size 5\n", "x:2: host '99999999999999999999' is too"),
        (imports.htsim, "0->1 start 0 size 5\nNodes 2\n", "x:2: Nodes comes after the first connection"),
        (read_records, "ts,sa,da\n", "x:1: no column 'by'; the header has ts, sa, da"),
        (read_records, "ts,sa,da,by\nNaN,a,b,1\n", "x:2: start 'NaN' is not a number"),
        (read_records, "ts,sa,da,by\n0,a,b,1\ninf,a,b,1\n", "x:3: start 'inf' is not a number"),
        (read_records, "ts,sa,da,by\nsoon,a,b,1\n", "x:2: start 'soon' is not a number"),
        (
            read_records,
            "ts,sa,da,by\n2026-13-01 00:00:00,a,b,1\n",
            "x:2: start '2026-13-01 00:00:00' is not a valid time",
        ),
        (read_records, "ts,sa,da,by\n0,a,b,1\n2026-01-01 00:00:00,a,b,1\n", "x:3: start '2026-01-01 00:00:00' is a d"),
        (
            read_records,
            "ts,sa,da,by\n0,a,b,1\n2e6,a,b,1\n",
            "x:3: start 2e6 is more than 1000000 s from an earlier one",
        ),
        (read_records, "ts,sa,da,by\n0,a,a,1\n", "x:2: no flows; left out: 1 row of a host to itself"),
        (read_records, '{"ts":1,"sa":"a"}\n', "x:1: JSON; write a table with a header"),
        (read_records, 'ts,sa,da,by,rem\n0,a,b,5,"x\n1,c,d,6,y\n', "x:2: not a CSV file: unexpected end of data"),
        (read_records, 'ts,sa,da,by,rem\n0,a,b,5,"x\n1,c,d,6,y"\n', "x:2: not a CSV file: unexpected end of data"),
        (read_records, 'ts,sa,da,by,rem\n0,a,b,5,"x"y\n', "x:2: not a CSV file: ',' expected after '\"'"),
        (read_records, "ts,sa,da,by,ts\n0,a,b,5,1\n", "x:1: two columns are called 'ts'"),
        (read_records, "ts,sa,da,by\n0,a\0,b,5\n", "x:2: no text: it has a NUL"),
        (read_records, "ts,sa,da,by\n0,a,b\n", "x:2: 3 fields, but the header has 4"),
        (read_records, "ts,sa,da,by\n0,a,b,1.5 M\n", "x:2: bytes '1.5 M'"),
        (read_records, f'ts,sa,da,by\n0,"{"a" * 200_000}",b,1\n', "x:2: not a CSV file: field larger"),
        (imports.hpcc, "0\n", "x:1: no flows"),
        (imports.htsim, "", "x: no flows"),
        (imports.htsim, "Nodes 2\nConnections 0\n", "x:2: no flows"),
        (read_records, "ts,sa,da,by\n", "x:1: no flows"),
        (read_records, "# nothing\n", "x:1: no header"),
        (imports.sizes, "0 0\n1e15 100\n# end\n", "x:2: 1,000,000,000,000,000 B is too large for a flow"),
        (imports.sizes, "0 0\n10 50\n5 100\n", "x:3: points decrease"),
        (imports.sizes, "0 0\n10 0.5\n", "x:2: the last share is 0.5"),
        (imports.sizes, "0 0\n1 nan\n2 100\n", "x:2: share 'nan' is not a number"),
        (imports.sizes, "0 0\ninf 1\n", "x:2: size 'inf' is not a number"),
        (imports.sizes, "-1 0\n5 1\n", "x:1: '-1 0' is not a point"),
        (imports.topology, "Nodes 8\nTiers 2\nTier 0\n", "x:3: the topology must have two or three tiers"),
        (imports.topology, "Nodes 8\nTiers 2\nTier 0\nRadix_Down 0\nRadix_Up 1\nTier 1\n", "x:4: radix_down is 0"),
        (imports.topology, "66 1 65\n0\n0 1 100Gbps 0.001ms 0\n", "x:1: cables 65, but the file has 1"),
        (imports.topology, "3 1 1\n0\n0 1 100Gbps 1us 0\n", "x:1: nodes 3, but the file has 2"),
        (imports.topology, "3 2 1\n0\n0 1 100Gbps 1us 0\n", "x:1: switches 2, but the file has 1"),
        (imports.topology, "3 1 2\n0\n0 1 1Gbps 1us 0\n1 0 1Gbps 1us 0\n", "x:4: node 1 is no switch: a host has one"),
        (imports.topology, "3 1 2\n0\n1 2 1Gbps 1us 0\n", "x:3: node 1 is no switch: a host has one cable"),
        (imports.topology, "2 1 1\n0\n1 0 1Gbps\n", "x:3: a cable has two nodes, rate, delay and loss rate: 5 fields"),
    ],
)
def test_a_bad_line_of_another_tool_is_named(tmp_path, reader, text, message):
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as raised:
        reader(path)
    assert f"{path.name}:" in str(raised.value)
    assert message.removeprefix("x") in str(raised.value)


@pytest.mark.parametrize("reader", [imports.hpcc, read_records])
def test_an_empty_file_has_no_line_to_name(tmp_path, reader):
    path = tmp_path / "x"
    path.touch()
    with pytest.raises(ScenarioError) as raised:
        reader(path)
    assert str(raised.value).startswith(f"{path}: ")


def test_records_have_a_column_map_and_hosts_by_name(tmp_path, cli):
    # In order of their ends, as exporters write them: the earliest start need not be first.
    path = tmp_path / "nfdump.csv"
    text = "ts,sa,da,ibyt\n1700000000.5,10.0.0.1,10.0.0.9,1500\n1699999999.25,10.0.0.9,10.0.0.1,40\n"
    path.write_text(text, encoding="utf-8")
    out = tmp_path / "flows.csv"
    columns = "start=ts,src=sa,dst=da,bytes=ibyt"
    found = json.loads(cli("import", "records", str(path), "--columns", columns, "--out", str(out), "--json").out)
    assert found["hosts"] == {"10.0.0.1": 0, "10.0.0.9": 1}
    assert "relative to the earliest, 1699999999.25" in found["said"][0]
    assert found["said"][1:] == [
        "flows: 2; sizes 40 to 1,500 B, mean 770 B; starts 0 to 1.25 s; hosts: 2, numbers 0 to 1"
    ]
    assert out.read_text().splitlines()[1:] == ["0,1,0,40", "1250000000000,0,1,1500"]


def test_records_may_have_dates_and_end_in_totals(tmp_path):
    path = tmp_path / "nfdump.csv"
    path.write_text(
        "\ufeffts,sa,da,by\n2026-11-22 09:45:14.000000001,a,b,1500\n2026-11-22T10:45:13+01:00,b,a,40\n"
        "Summary\nflows,bytes\n2,1540\n",
        encoding="utf-8",
    )
    flows = read_records(path)
    assert rows_of(flows) == ["0,1,0,40", "1000000001000,0,1,1500"]
    assert flows.said == [
        "totals from line 4 on say 2 flows and 1540 B",
        "starts are dates, in UTC unless they have a time zone, relative to the earliest, 2026-11-22T10:45:13+01:00; "
        "hosts are numbered in order of appearance",
    ]


def test_totals_beside_other_rows_are_told(tmp_path):
    path = tmp_path / "nfdump.csv"
    path.write_text("ts,sa,da,by\n0,a,b,1500\nSummary\nflows,bytes,packets\n2,1540,3\n", encoding="utf-8")
    assert read_records(path).said[0] == (
        "totals from line 3 on say 2 flows and 1540 B, but the rows before are 1 with 1500 B"
    )


@pytest.mark.parametrize("delimiter", ",\t;|")
def test_rows_of_a_capture_that_are_no_flows_are_counted(tmp_path, delimiter):
    path = tmp_path / "records"
    rows = ["ts,sa,da,by,rem", "5,a,b,-,", "0,a,b,0,", "1,a,b,7,", "2,b,b,7,", "ts,sa,da,by,rem", "3,c,b,8,", "4,,b,9,"]
    path.write_text("\n".join([*rows, "6,a,b,0,", ""]).replace(",", delimiter), encoding="utf-8")
    flows = read_records(path)
    assert rows_of(flows) == ["0,0,1,7", "2000000000000,2,1,8"]
    assert flows.said[0] == (
        "left out: 1 row without bytes, 2 rows with 0 bytes, 1 row of a host to itself, 1 row without src"
    )


def test_records_may_be_separated_by_blanks(tmp_path):
    path = tmp_path / "records"
    path.write_text("ts  sa da  by\n0.5 a  b   7\n", encoding="utf-8")
    assert rows_of(read_records(path)) == ["0,0,1,7"]


def test_the_log_of_zeek_names_its_columns_in_a_comment(tmp_path):
    path = tmp_path / "conn.log"
    head = "#separator \\x09\n#unset_field\t-\n#fields\tts\tnote\tsa\tda\tby\n#types\ttime\tstring\taddr\taddr\tcount\n"
    log = f'{head}1767607200.1\t"x\ta\tb\t64000\n1767607200.3\t\ta\tb\t-\n#close\t2026-01-05\n'
    path.write_text(f"{log}{head}1767607200.2\t-\tc\tb\t5\n", encoding="utf-8")
    flows = read_records(path)
    assert rows_of(flows) == ["0,0,1,64000", "100000000000,2,1,5"]
    assert flows.said[0] == "left out: 1 row without bytes"


def test_a_long_list_is_never_text_as_a_whole(tmp_path, cli):
    # 32 bytes a flow, and its place in the order; the text would be 29 bytes of each, in several copies.
    count = 60_000
    path, out = tmp_path / "traffic.txt", tmp_path / "flows.csv"
    lines = (f"{i % 16} {16 + i % 16} 3 100 100000 {2 - i / count:.6f}\n" for i in range(count))
    path.write_text(f"{count}\n{''.join(lines)}", encoding="utf-8")
    out.write_text("what stood there", encoding="utf-8")
    tracemalloc.start()
    try:
        cli("import", "hpcc", str(path), "--out", str(out))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 80 * count
    written = out.read_text().splitlines()
    assert len(written) == count + 1
    starts = [int(line.split(",")[0]) for line in written[1:]]
    assert starts == sorted(starts)
    assert set(tmp_path.iterdir()) == {path, out}


def test_every_unit_of_time_has_its_picoseconds():
    assert [unit.ps for unit in Unit] == [10**12, 10**9, 10**6, 10**3, 1]


@pytest.mark.parametrize("delimiter", [",", "; ", "\t", " | "])
def test_points_may_be_separated_as_in_other_tables(tmp_path, delimiter):
    path = tmp_path / "cdf.csv"
    path.write_text("18750\n0 0\n15000 0.5\n45000 1\n".replace(" ", delimiter), encoding="utf-8")
    assert imports.sizes(path, unit=SizeUnit.BYTES, shape=None)[0] == "cdf 1B 0%, 15000B 50%, 45000B 100%"


def test_sizes_tell_per_cent_from_fractions_and_bytes_from_packets(tmp_path):
    path = tmp_path / "cdf"
    path.write_text("0 0\n10000 15\n30000 100\n", encoding="utf-8")
    assert imports.sizes(path)[0] == "cdf 1B 0%, 10000B 15%, 30000B 100%"
    path.write_text("1 1 0\n10 1 0.5\n20 1 1\n", encoding="utf-8")
    text, said = imports.sizes(path)
    assert text == "cdf 1460B 0%, 14600B 50%, 29200B 100%"
    packets = "sizes are in packets of 1460 B; points are interpolated linearly"
    assert said == ["shares are fractions", packets, "points: 3; sizes 1,460 to 29,200 B, mean 14,965.0 B"]


STEPS = "1 0\n2 0.25\n1000 0.9\n{largest} 1\n"
"""As steps their mean is 650.5 and a tenth of the largest, as lines 376.025 and a twentieth."""


@pytest.mark.parametrize(
    ("mean", "largest", "kind", "expected"),
    [
        # Homa's files in bytes: steps, which a mixture says exactly.
        ("200650.5", 2_000_000, {}, "2B 25%, 1000B 65%, 2000000B 10%"),
        ("100376.025", 2_000_000, {}, "cdf 1B 0%, 2B 25%, 1000B 90%, 2000000B 100%"),
        # The mean in bytes, the points in packets: nothing else fits.
        (f"{850.5 * 1460}", 2000, {}, "2920B 25%, 1460000B 65%, 2920000B 10%"),
        # Both in the same unit, which may be either.
        ("850.5", 2000, {"unit": SizeUnit.PACKETS}, "2920B 25%, 1460000B 65%, 2920000B 10%"),
        ("850.5", 2000, {"unit": SizeUnit.BYTES}, "2B 25%, 1000B 65%, 2000B 10%"),
    ],
)
def test_the_stated_mean_says_what_points_are(tmp_path, mean, largest, kind, expected):
    path = tmp_path / "cdf"
    path.write_text(f"{mean}\n{STEPS.format(largest=largest)}", encoding="utf-8")
    text, said = imports.sizes(path, **kind)
    assert text == expected
    assert said[1].startswith(f"the stated mean, {mean.removesuffix('.0')}")
    scenario = tmp_path / "sizes.toml"
    traffic = f'[[traffic]]\nkind = "poisson"\nload = 0.1\nbytes-each = "{text}"\n'
    scenario.write_text(f'[network]\ntopology = "star"\n{traffic}', encoding="utf-8")
    told = float(re.search(r"mean ([\d,.]+) B", said[3])[1].replace(",", ""))
    assert Scenario(scenario).offered()[0]["mean_bytes"] == pytest.approx(told, rel=1e-3)


def test_a_mean_that_fits_nothing_or_two_things_is_told(tmp_path):
    path = tmp_path / "cdf"
    path.write_text(f"12345\n{STEPS.format(largest=2000)}", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"cdf:1: .* stated mean is 12345, .* 476\.025 as lines, 850\.5 as steps"):
        imports.sizes(path)
    path.write_text(f"850.5\n{STEPS.format(largest=2000)}", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"cdf:1: .* add --size-unit bytes or --size-unit packets"):
        imports.sizes(path)
    with pytest.raises(
        ScenarioError, match=r"cdf:1: .* stated mean is 850\.5, .* is 476\.025 as lines, or 1460 times that"
    ):
        imports.sizes(path, unit=SizeUnit.PACKETS, shape=Points.LINES)


def test_sizes_of_large_packets_are_those_that_a_scenario_takes(tmp_path):
    path = tmp_path / "cdf"
    path.write_text("0 0\n2 100\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"cdf:2: 1,000,000,000,000,000 B is too large"):
        imports.sizes(path, packet=10**15 // 2, unit=SizeUnit.PACKETS)
    text, _ = imports.sizes(path, packet=10**15 // 2 - 1, unit=SizeUnit.PACKETS)
    scenario = tmp_path / "sizes.toml"
    traffic = f'[[traffic]]\nkind = "poisson"\nload = 0.1\nbytes-each = "{text}"\n'
    scenario.write_text(f'[network]\ntopology = "star"\n{traffic}', encoding="utf-8")
    Scenario(scenario).check()


@pytest.mark.parametrize("what", ["htsim", "sizes"])
def test_no_import_overwrites_what_it_reads(cli, tmp_path, what):
    path, link = tmp_path / "in", tmp_path / "link"
    text = "0->1 start 0 size 5\n" if what == "htsim" else "0 0\n2 100\n"
    path.write_text(text, encoding="utf-8")
    link.symlink_to(path)
    for out in (path, link):
        result = cli("import", what, str(path), "--out", str(out))
        assert (result.code, path.read_text(encoding="utf-8")) == (2, text)


_LINK = "Downlink_speed_Gbps 100\nDownlink_Latency_ns 1000\n"
_TIER = f"Radix_Down 4\nRadix_Up 4\nOversubscribed 1\n{_LINK}"
FAT_TREE = f"Nodes 128\nTiers 3\nPodsize 16\nTier 0\n{_TIER}Tier 1\n{_TIER}Tier 2\nRadix_Down 8\n{_LINK}"


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("Nodes 128", "Nodes 129", "x:1: Nodes 129, but the file has 128"),
        ("Tiers 3", "Tiers 2", "x:2: Tiers 2, but the file has 3"),
        ("Podsize 16", "Podsize 8", "x:3: Podsize 8, but the file has 16"),
        ("Oversubscribed 1", "Oversubscribed 2", "x:7: Oversubscribed 2, but the file has 1"),
        ("Radix_Down 8", "Radix_Down 4", "x:17: Radix_Down 4, but the file has 8"),
    ],
)
def test_what_a_topology_says_of_itself_holds(tmp_path, right, wrong, message):
    path = tmp_path / "x"
    path.write_text(FAT_TREE.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(ScenarioError) as raised:
        imports.topology(path)
    assert str(raised.value) == f"{tmp_path}/{message}"


def test_htsim_tiers_become_a_network_that_checks(tmp_path):
    path = tmp_path / "t.topo"
    path.write_text(FAT_TREE, encoding="utf-8")
    network, said = imports.topology(path)
    assert said == ["hosts: 128"]
    scenario = tmp_path / "fat.toml"
    scenario.write_text(network + '[[traffic]]\nkind = "background"\nfrom = "host-127"\nto = "host-0"\n')
    Scenario(scenario).check()
    assert "pods = 8" in network


def test_a_list_of_cables_becomes_a_custom_network(tmp_path, cli):
    path = tmp_path / "fat.txt"
    path.write_text(
        "6 2 6\n4 5\n0 4 25Gbps 1us 0\n1 4 25Gbps 1us 0\n5 2 25Gbps 1us 0\n3 5 10Gbps 0.001ms 0.1\n"
        "4 5 100Gbps 2us 0\n4 5 100Gbps 2us 0\n",
        encoding="utf-8",
    )
    network, said = imports.topology(path)
    assert network.splitlines() == [
        "[network]",
        'topology = "custom"',
        'cables = """',
        "2 hosts - switch-4 25Gbps 1us",
        "1 host - switch-5 25Gbps 1us",
        "1 host - switch-5 10Gbps 0.001ms",
        "switch-4 - switch-5 100Gbps 2us",
        "switch-4 - switch-5 100Gbps 2us",
        '"""',
    ]
    assert said == [
        "hosts: 4, in the order of their numbers, from 0 on",
        "loss rates are ignored, of so many cables: 1. Add faults of the kind loss",
    ]
    scenario = tmp_path / "scenario.toml"
    traffic = (
        '[[traffic]]\nkind = "incast"\nname = "i"\nfrom = "host-0..2"\nto = "host-3"\nsenders = 3\nbytes-each = "1KB"\n'
    )
    scenario.write_text(network + traffic, encoding="utf-8")
    assert cli("check", str(scenario)).code == 0


def test_hosts_that_are_not_numbered_by_switch_are_said(tmp_path):
    path = tmp_path / "x"
    path.write_text(
        "5 2 4\n0 1\n2 0 1Gbps 1us 0\n3 1 1Gbps 1us 0\n4 0 1Gbps 1us 0\n0 1 1Gbps 1us 0\n", encoding="utf-8"
    )
    assert imports.topology(path)[1] == ["hosts: 3, counted switch by switch and not as in the file"]


def test_queues_of_a_topology_are_said_to_be_left_out(tmp_path):
    path = tmp_path / "t.topo"
    path.write_text(FAT_TREE.replace("Tier 1\n", "Queue_Up 100\nTier 1\nQueue_Down 100\n"), encoding="utf-8")
    _, said = imports.topology(path)
    assert said[0] == "queue_up, queue_down of the tiers are ignored: set network.buffer for queues"

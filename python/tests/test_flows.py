import io
import json

import polars as pl
import pytest

from fanin import fct, imports
from fanin.errors import RunError, ScenarioError
from fanin.experiment import load

SCENARIO = """
[network]
topology = "leaf-spine"
rate = "10Gbps"
delay = "1us"
[[traffic]]
kind = "flows"
file = "list.csv"
from = "all"
to = "all"
"""

LIST = "start_us,src,dst,bytes,class,deadline_us\n0,0,20,1460,small,\n0,1,20,1460,small,100\n5,2,3,150000,,\n"


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "flows.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "list.csv").write_text(LIST, encoding="utf-8")
    return path


def test_flows_of_a_file_run_with_class_and_deadline(scenario):
    flows = load(scenario).run().table("flows")
    assert flows["bytes"].to_list() == [1460, 1460, 150000]
    assert flows["start_s"].to_list() == pytest.approx([0, 0, 5e-6])
    assert flows["class"].cast(pl.String).to_list() == ["small", "small", "flows"]
    assert flows["deadline_s"].to_list() == [None, pytest.approx(1e-4), None]


def test_a_bad_line_is_named_and_nothing_runs(scenario):
    (scenario.parent / "list.csv").write_text(LIST + "6,2,64,1,,\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"traffic\.flows\.file: list\.csv:5: dst 64, and .to. has 64 hosts"):
        load(scenario).run()
    with pytest.raises(ScenarioError, match=r"none\.csv: No such file"):
        load(scenario, {"traffic.flows.file": "none.csv"}).check()


def test_another_content_is_another_run(scenario):
    first = load(scenario).run().run_id
    assert load(scenario).run().run_id == first
    (scenario.parent / "list.csv").write_text(LIST.replace("150000", "150001"), encoding="utf-8")
    assert load(scenario).run().run_id != first


def test_a_file_that_changes_under_a_run_ends_it(scenario):
    path = scenario.parent / "list.csv"
    rows = "".join(f"{i},{i % 16},20,100000,,\n" for i in range(0, 100000, 10))
    path.write_text(LIST.splitlines()[0] + "\n" + rows, encoding="utf-8")
    done = False

    def spoil(_):
        nonlocal done
        if not done:
            with path.open("r+b") as file:
                file.truncate(100_000)
                file.seek(0, io.SEEK_END)
                file.write(b"nonsense\n")
            done = True
        return True

    with pytest.raises(RunError, match=r"list\.csv:\d+: "):
        load(scenario).run(progress=spoil)


def rows(flows):
    stream = io.StringIO()
    flows.write(stream)
    return stream.getvalue().splitlines()


def test_hpcc_lists_are_sorted(tmp_path):
    path = tmp_path / "traffic.txt"
    path.write_text("2 \n4 5 3 100 1500 2.000000123\n1 0 3 100 99 2.0\n", encoding="utf-8")
    expected = ["start_ps,src,dst,bytes", "2000000000000,1,0,99", "2000000123000,4,5,1500"]
    assert rows(imports.hpcc(path)) == expected


def test_htsim_connections_are_in_picoseconds(tmp_path):
    path = tmp_path / "perm.cm"
    path.write_text(
        "Nodes 16\nConnections 2\n0->13 start 0 size 2000000\n13->0 id 2 start 7 size 5\n", encoding="utf-8"
    )
    assert rows(imports.htsim(path))[1:] == ["0,0,13,2000000", "7,13,0,5"]


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (imports.hpcc, "1\n0 1 3 100 5\n", "x:2: 5 fields"),
        (imports.hpcc, "1\n0 1 3 100 -5 0\n", "x:2: bytes '-5'"),
        (imports.hpcc, "3\n0 1 3 100 5 0\n", "x:2: 1 flows, and the first line says 3"),
        (imports.htsim, "Connections 1\n0->1 trigger 3 size 5\n", "x:2: starts by a trigger"),
        (imports.htsim, "Nodes 4\nfailure 1\n", "x:2: 'failure' is not known"),
        (imports.sizes, "0 0\n10 50\n5 100\n", "x:3: points fall"),
        (imports.sizes, "0 0\n10 0.5\n", "x:2: the last share is 0.5"),
        (imports.topology, "Nodes 8\nTiers 2\nTier 0\n", "x:3: two or three tiers"),
    ],
)
def test_a_bad_line_of_another_tool_is_named(tmp_path, reader, text, message):
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as raised:
        reader(path)
    assert f"{path.name}:" in str(raised.value)
    assert message.removeprefix("x") in str(raised.value)


def test_records_have_a_column_map_and_hosts_by_name(tmp_path, cli):
    path = tmp_path / "nfdump.csv"
    text = "ts,sa,da,ibyt\n1700000000.5,10.0.0.1,10.0.0.9,1500\n1700000000.25,10.0.0.9,10.0.0.1,40\n"
    path.write_text(text, encoding="utf-8")
    out = tmp_path / "flows.csv"
    columns = "start=ts,src=sa,dst=da,bytes=ibyt"
    found = json.loads(cli("import", "records", str(path), "--columns", columns, "--out", str(out), "--json").out)
    assert found["hosts"] == {"10.0.0.1": 0, "10.0.0.9": 1}
    assert out.read_text().splitlines()[1:] == ["250000000000,1,0,40", "500000000000,0,1,1500"]


def test_sizes_tell_per_cent_from_fractions_and_bytes_from_packets(tmp_path):
    path = tmp_path / "cdf"
    path.write_text("0 0\n10000 15\n30000 100\n", encoding="utf-8")
    assert imports.sizes(path)[0] == "cdf 1B 0%, 10000B 15%, 30000B 100%"
    path.write_text("1 1 0\n10 1 0.5\n20 1 1\n", encoding="utf-8")
    text, said = imports.sizes(path)
    assert text == "cdf 1460B 0%, 14600B 50%, 29200B 100%"
    assert "fractions" in said[0]
    assert "packets of 1460 B" in said[1]


def test_htsim_tiers_become_a_network_that_checks(tmp_path):
    tier = "Downlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 1000\n"
    path = tmp_path / "t.topo"
    path.write_text(f"Nodes 128\nTiers 3\nPodsize 16\nTier 0\n{tier}Tier 1\n{tier}Tier 2\n{tier}", encoding="utf-8")
    network, _ = imports.topology(path)
    scenario = tmp_path / "fat.toml"
    scenario.write_text(network + '[[traffic]]\nkind = "background"\nfrom = "host-127"\nto = "host-0"\n')
    load(scenario).check()
    assert "pods = 8" in network


def test_slowdown_of_lone_flows_is_one_if_they_can_send_all_at_once(scenario):
    def lone(window):
        flows = fct.complete(load(scenario, {"transport.initial-window": window}).run().table("flows"))
        one = flows.filter(pl.col("bytes") == 150000)
        return [fct.by_size(one, fct.DEFINITIONS[each])[0]["slowdown_p50"] for each in ("homa", "hpcc")]

    homa, hpcc = lone("200mss")
    assert homa == pytest.approx(1.0, abs=1e-6)
    assert hpcc >= 1.0
    # A window that has to open is no part of either ideal, and the words say so.
    assert min(lone("2mss")) > 1.04
    assert "if all could be sent at once" in fct.DEFINITIONS["homa"].says


def test_bins_have_equally_many_flows_and_classes_add_up():
    size = list(range(1, 101))
    flows = pl.DataFrame({
        "flow": size, "group": ["a"] * 100, "class": ["x", "y"] * 50, "bytes": size,
        "fct_s": [float(each) for each in size], "ideal_s": [1.0] * 100, "ideal_hpcc_s": [50.0] * 100,
    })  # fmt: skip
    bins = fct.by_size(fct.complete(flows), fct.DEFINITIONS["hpcc"])
    assert [each["flows"] for each in bins] == [5] * 20
    assert bins[0]["slowdown_p99.9"] == 1.0
    assert bins[-1]["slowdown_p50"] == 98 / 50
    tenths = fct.by_size(fct.complete(flows), fct.DEFINITIONS["homa"])
    assert [(each["bytes_from"], each["bytes_to"]) for each in tenths][:2] == [(1, 10), (11, 20)]
    assert tenths[0]["slowdown_p95"] == 10.0
    classes = fct.by_class(fct.complete(flows), fct.DEFINITIONS["homa"])
    assert [(each["class"], each["flows"]) for each in classes] == [("x", 50), ("y", 50), ("all", 100)]
    curves = fct.cdf(fct.complete(flows), fct.DEFINITIONS["homa"])
    assert curves.filter(pl.col("class") == "y")["share"].to_list()[-1] == 1.0
    assert curves.height == 200

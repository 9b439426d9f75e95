"""``fanin deploy`` prints a shell script with the scenario's values; the page of the testbed runs as it stands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fanin._engine import Scenario

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/testbed.md"
DEPLOYED = ["linux", "linux-reno", "linux-dctcp", "linux-bbr", "l2dct", "d2tcp", "dt-cwa", "dt-dctcp", "pfdct-st"]
DEPLOYED += ["ictcp", "rcc"]
RACK = """
[network]
topology = "star"
rate = "1Gbps"
buffer = "80pkt"
[transport]
rto-min = "20ms"
[[traffic]]
name = "answers"
kind = "incast"
senders = 4
bytes-each = "20KB"
"""

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="an installed package has no pages")


@pytest.fixture
def deploy(work, cli):
    """Calls the command with the scenario above."""
    (work / "rack.toml").write_text(RACK)
    return lambda scheme, *words: cli("deploy", scheme, "rack.toml", *words)


@pytest.mark.parametrize("scheme", DEPLOYED)
def test_a_script_is_one_that_shells_read(scheme, deploy, tmp_path):
    text = deploy(scheme).out
    for shell in ["bash", "-n"], ["sh", "-n"], ["shellcheck", "-"]:
        if shutil.which(shell[0]):
            read = subprocess.run(shell, input=text, capture_output=True, text=True, check=False)
            assert read.returncode == 0, f"{shell[0]}: {read.stdout}{read.stderr}"
    (tmp_path / "it.sh").write_text(text)
    shown = subprocess.run(["sh", "it.sh"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.returncode == 2, "without a role it changes nothing"
    assert "sh FILE switch on DEV" in shown.stdout


@pytest.mark.parametrize("scheme", DEPLOYED)
def test_modules_get_what_the_guest_gives_them(scheme, deploy):
    text = deploy(scheme).out
    changes = {"transport.scheme": scheme, "transport.stack": "linux-6", "run.backend": "linux"}
    modules = Scenario(RACK, "rack.toml", changes).hosts()["modules"]
    loads = dict(re.findall(r"load (\w+) \\\n((?:.* \\\n)*.*)\n", text))
    for name, parameters in modules:
        assert (ROOT / f"linux/modules/{name}.c").is_file()
        assert loads[name].replace("\\\n", " ").split()[-len(parameters.split()) :] == parameters.split()
    assert ("\nload() {" in text) == bool(loads)
    assert set(loads) == {name for name, _ in modules} | ({"between"} if scheme.startswith("dt-") else set())


def test_values_are_those_of_the_scenario(deploy):
    text = deploy("linux-dctcp", "--set", "scheme.linux-dctcp.mark-threshold=7pkt").out
    assert "sysctl -q -w net.ipv4.tcp_congestion_control=dctcp" in text
    assert "rto_min 20ms initcwnd 10\n" in text
    assert "tbf rate 1000000000bit" in text
    assert f"min {7 * 1514} max {7 * 1514} avpkt 1514 burst 7 bandwidth 1000000000bit ecn nodrop" in text
    assert "pfifo limit 80" in text
    assert "red" not in deploy("linux-reno").out.partition("switch_on")[2]
    between = deploy("dt-dctcp", "--set", "scheme.dt-dctcp.start=5pkt").out
    assert re.search(r"load between \\\n +start=5 \\\n +stop=50 \\\n +limit=80\n", between)
    bands = deploy("pfdct-st").out
    assert "match ip dsfield 0x20 0xfc flowid 10:2" in bands
    assert "parent 10:2 handle 30: \\\n        red " in bands


def test_what_only_runs_measure_is_no_reason_to_refuse(deploy):
    text = deploy("linux", "--set", "measure.bin=1ms", "--set", "network.ties=scheduled").out
    assert "pfifo limit 80" in text
    assert "rto_min 20ms" in text


def test_what_cannot_be_deployed_says_why(deploy):
    for words, why in [
        (["sab"], "it needs a switch that counts flows and writes windows"),
        (["rcce"], "it needs a kernel module at the receivers' edge"),
        (["sdtcp"], "and a controller"),
        (["pfdct"], "deploy pfdct-st"),
        (["linux-dctcp", "--set", "scheme.linux-dctcp.mark-at=dequeue"], "set enqueue"),
        (["linux", "--set", "queue.kind=red"], "ecn-threshold"),
        (["linux", "--port", "switch-9"], "switch-0->receiver-0"),
        (["linux", "--set", "transport.loss-detection=dup-ack"], "Linux decides this itself"),
        (["linux-dctpc"], 'did you mean "linux-dctcp"'),
    ]:
        refused = deploy(*words)
        assert (refused.code, refused.out) == (3, ""), words
        assert why in " ".join(refused.err.split())


def missing() -> str | None:
    """Why no namespaces can be made here, if so."""
    if os.geteuid():
        return "needs root"
    if absent := [tool for tool in ("ip", "tc", "sysctl", "ethtool") if not shutil.which(tool)]:
        return f"needs {', '.join(absent)}"
    tried = subprocess.run(["unshare", "--net", "sh", "-c", TRIED], capture_output=True, text=True, check=False)
    return f"needs namespaces with veth and tbf: {tried.stderr.strip()}" if tried.returncode else None


TRIED = """
ip link add v0 type veth peer name v1 && tc qdisc add dev v0 root tbf rate 1mbit burst 6000 limit 9000
"""


def inside(folder: Path, commands: str) -> subprocess.CompletedProcess[str]:
    """Runs commands in a namespace of their own with the interfaces p0 and p1, whose other ends are there too."""
    if why := missing():
        pytest.skip(why)
    make = "mount -t tmpfs none /run\nmount -t sysfs none /sys\n" + "".join(
        f"ip link add {one} type veth peer name {one}-end\nip address add 10.{number}.0.1/24 dev {one}\n"
        f"ip link set {one} up\nip link set {one}-end up\nethtool -K {one} gro on\n"
        for number, one in enumerate(("p0", "p1"))
    )
    words = ["unshare", "--net", "--mount", "sh", "-euc", make + commands]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def written(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)


def test_merging_returns_with_the_last_port_that_is_taken_off(deploy, tmp_path):
    written(tmp_path, "it.sh", deploy("linux-reno").out)
    shown = "for each in p0 p1; do ethtool -k $each | grep ^generic-receive; done"
    ran = inside(
        tmp_path,
        f"sh it.sh switch on p0\nsh it.sh switch on p1\nsh it.sh switch off p0\n{shown}\necho --\n"
        f"sh it.sh switch off p1\n{shown}\nls /run",
    )
    assert ran.returncode == 0, ran.stderr
    off, on = ran.stdout.split("--\n")
    assert off.split().count("off") == 2
    assert on.split().count("on") == 2
    assert "fanin" not in on


def test_what_counts_segments_gets_single_ones(deploy):
    def on(scheme, *words):
        return deploy(scheme, *words).out.partition("receiver_on() {")[2].partition("}")[0]

    assert 'gro_off "$dev"' in on("rcc")
    assert "gro_off" not in on("ictcp")
    # All hosts do so.
    assert "gro_off" not in on("rcc", "--set", "transport.gro=0B")


def test_off_brings_back_the_queue_and_the_segments_of_before(deploy, tmp_path):
    written(tmp_path, "it.sh", deploy("linux-reno", "--set", "transport.tso=0B").out)
    ran = inside(
        tmp_path,
        "ip link set p0 gso_max_segs 100\ntc qdisc add dev p0 root pfifo limit 7\n"
        "for act in on on off; do sh it.sh switch $act p0; done\n"
        "sh it.sh sender on p1\nsh it.sh sender on p0\nsh it.sh sender off p0\n"
        "tc qdisc show dev p0 root\nip -d link show dev p0\nsh it.sh sender off p1\nls /run",
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("qdisc pfifo ")
    assert "gso_max_segs 100 " in ran.stdout
    assert re.search("set the options of pfifo again: .* limit 7p$", ran.stderr, re.M)
    assert "fanin" not in ran.stdout


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("sysctl -q -w net.ipv4.tcp_sack=0", "> net.ipv4.tcp_sack = 0"),
        ("ip route change 10.0.0.0/24 dev p0", "< 10.0.0.0/24"),
        ("ethtool -K p0 gro off", "> generic-receive-offload: off"),
        ("sh other.sh sender on p0", "another file"),
        ("sh it.sh sender off p0", "not at all"),
    ],
)
def test_check_fails_if_other_values_are_in_force(deploy, tmp_path, change, shown):
    written(tmp_path, "it.sh", deploy("linux-reno").out)
    written(tmp_path, "other.sh", deploy("linux-reno", "--set", "transport.rto-min=30ms").out)
    ran = inside(tmp_path, f"sh it.sh sender on p0\nsh it.sh sender check p0\n{change}\nsh it.sh sender check p0")
    assert ran.returncode == 1
    assert shown in ran.stderr
    assert "not active" in ran.stderr
    assert ran.stdout.count("congestion control: reno") == 1


def test_check_of_a_port_compares_its_queues(deploy, tmp_path):
    written(tmp_path, "it.sh", deploy("linux-reno").out)
    change = "tc qdisc change dev p0 parent 1:1 handle 10: pfifo limit 5"
    ran = inside(tmp_path, f"sh it.sh switch on p0\nsh it.sh switch check p0\n{change}\nsh it.sh switch check p0")
    assert ran.returncode == 1
    assert "> qdisc pfifo 10: parent 1:1 limit 5p" in ran.stderr


def test_a_module_that_is_loaded_gets_the_parameters(deploy, tmp_path):
    loads = deploy("rcc").out.partition("\nload() {")[2].partition("\n}\n")[0]
    parameters = tmp_path / "rcc" / "parameters"
    parameters.mkdir(parents=True)
    (parameters / "queue_max").write_text("40\n")
    text = "load() {" + loads.replace("/sys/module", str(tmp_path)) + "\n}\nload rcc queue_max=7 rto_r=off"
    subprocess.run(["sh", "-euc", text], check=True)
    assert {path.name: path.read_text() for path in parameters.iterdir()} == {"queue_max": "7\n", "rto_r": "off\n"}


def has_dctcp() -> bool:
    for module in "tcp_dctcp", "sch_red":
        subprocess.run(["modprobe", "-q", module], capture_output=True, check=False)
    red = "ip link add v0 type veth peer name v1 && tc qdisc add dev v0 root red limit 90000 avpkt 1500"
    tried = subprocess.run(["unshare", "--net", "sh", "-c", red], capture_output=True, check=False)
    return tried.returncode == 0 and "dctcp" in Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()


def run_page(sections: list[str], folder: Path) -> str:
    """The commands of these sections of the page, as they stand but with fewer bytes."""
    text = PAGE.read_text()
    blocks = [re.search(rf"^## \d\. {name}$.*?^```sh\n(.*?)^```$", text, re.M | re.S)[1] for name in sections]
    blocks.append("echo afterwards\nip -n fan-0 route show\n")
    commands = "\n".join(blocks).replace("1000000 5", "100000 2").replace("100000 20", "100000 3")
    paths = f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    (folder / "fanin").write_text(f'#!/bin/sh\nexec {sys.executable} -m fanin "$@"\n')
    (folder / "fanin").chmod(0o755)
    (folder / "docs").symlink_to(ROOT / "docs")
    try:
        ran = subprocess.run(
            ["bash", "-eux", "-c", commands],
            cwd=folder,
            env={**os.environ, "PATH": paths},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        remove = re.search(r"^## \d\. Remove it$.*?^```sh\n(.*?)^```$", text, re.M | re.S)[1]
        subprocess.run(["bash", "-c", remove], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def rows(printed: str) -> list[dict[str, str]]:
    found = re.findall(r"^control=.*$", printed, re.M)
    return [dict(pair.split("=") for pair in line.split()) for line in found]


def states() -> list[str]:
    return [path.name for path in Path("/run").glob("fanin-deploy.*")]


def test_the_testbed_runs_reno(tmp_path):
    if why := missing():
        pytest.skip(why)
    before = states()
    printed = run_page(["Build it", "Describe it", "Reno"], tmp_path)
    assert "congestion control: reno" in printed
    assert "rto_min lock 200ms" in printed
    for row in rows(printed):
        assert (row["control"], row["ecn"], row["marked"]) == ("reno", "0", "0")
    assert "qdisc pfifo 10: parent 1:1 limit 64p" in printed
    assert "rto_min" not in printed.partition("afterwards")[2]
    assert states() == before


def test_the_testbed_runs_dctcp(tmp_path):
    if why := missing():
        pytest.skip(why)
    if not has_dctcp():
        pytest.skip("this kernel has no tcp_dctcp or no sch_red")
    printed = run_page(["Build it", "Describe it", "DCTCP"], tmp_path)
    one, ten = rows(printed)
    assert (one["control"], one["ecn"], ten["ecn"]) == ("dctcp", "1", "10")
    assert int(ten["marked"]) > 0
    # Each packet above the threshold is marked, and none is dropped before the buffer is full.
    assert re.search(r"marked [1-9]\d* early 0 ", printed)

"""Runs in the Linux kernel, where one is built (``make linux``)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from linux_kernel import IDEAL_HOSTS, built

import fanin
from fanin import _engine
from fanin.errors import RunError, ScenarioError
from fanin.results.frames import decode

SCENARIO = (
    """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "100pkt"
[transport]
scheme = "linux"
"""
    + IDEAL_HOSTS
    + """\
[[traffic]]
name = "answers"
kind = "incast"
senders = 8
bytes-each = "20KB"
rounds = 3
gap = "1ms"
request = "100B"
connections = "persistent"
jitter = "5us"
[run]
duration = "5s"
"""
)


def totals(changes: dict[str, Any], seed: int = 1) -> dict[str, Any]:
    """The totals of a run of the scenario with these changes, and how its tables hash."""
    run = _engine.Scenario(SCENARIO, "scenario.toml", changes).run(seed)
    found: dict[str, Any] = json.loads(run.summary)
    return found


LINUX: dict[str, Any] = {"run.backend": "linux"}


@built
def test_two_runs_are_equal_to_the_bit_also_under_load() -> None:
    offloads = {"transport.gro": "65536B", "transport.tso": "65536B", "transport.interrupt-interval": "8us"}
    changes = {**LINUX, **offloads, "traffic.answers.senders": 24, "traffic.answers.bytes-each": "32KB"}
    first = totals(changes)
    assert first["drops"] > 0
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        second = totals(changes)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert second["result_hash"] == first["result_hash"]
    assert totals(changes, seed=2)["result_hash"] != first["result_hash"]


@built
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"traffic.answers.connections": "fresh"},
        {"traffic.answers.connections": "fresh", "traffic.answers.request": "0B"},
        {"network.topology": "leaf-spine"},
        {"network.topology": "two-switch", "network.rate": "1Gbps"},
        {"network.rate": "100Gbps", "traffic.answers.bytes-each": "14KB"},
        {"transport.mss": "8948B", "network.buffer": "200KB"},
    ],
    ids=["persistent", "fresh", "unasked", "leaf-spine", "two-switch", "100-gigabit", "jumbo"],
)
def test_without_loss_the_kernel_takes_as_long_as_the_simulator(changes: dict[str, Any]) -> None:
    kernel, simulated = totals({**changes, **LINUX}), totals(changes)
    assert kernel["drops"] == simulated["drops"] == 0
    assert kernel["completed"] == kernel["flows"] == 24
    for name in ["fct_p50_s", "query_mean_s"]:
        assert kernel[name] == pytest.approx(simulated[name], rel=0.03), name


@built
@pytest.mark.parametrize(("rate", "packet_ns"), [("10Gbps", 1230.4), ("100Gbps", 123.04)])
def test_a_busy_port_sends_at_its_rate(rate: str, packet_ns: float) -> None:
    changes = {**LINUX, "network.rate": rate, "traffic.answers.rounds": 1, "measure.queue-trace": "on-change"}
    run = _engine.Scenario(SCENARIO, "scenario.toml", changes).run(1)
    trace = decode(run.columns("queue-trace"))
    left = trace["time_s"].to_numpy()[1:][np.diff(trace["packets"].to_numpy().astype(int)) < 0]
    gaps = 1e9 * np.diff(left)
    full = gaps[abs(gaps - packet_ns) < 4]
    # The kernel tells whole nanoseconds.
    assert len(full) > 50
    assert full.mean() == pytest.approx(packet_ns, abs=0.1)


@built
def test_a_port_drops_and_marks_where_the_simulators_does() -> None:
    small = {"network.buffer": "30pkt", "traffic.answers.senders": 20, "traffic.answers.rounds": 1}
    # All first windows meet at once, before any sender has learnt of anything.
    kernel, simulated = totals({**small, **LINUX}), totals(small)
    assert kernel["queue_max_packets"] == simulated["queue_max_packets"] == 30
    assert kernel["retransmissions"] > 100
    marking = {"transport.scheme": "linux-dctcp", "scheme.linux-dctcp.mark-threshold": "20pkt"}
    kernel, simulated = totals({**marking, **LINUX}), totals(marking)
    assert kernel["drops"] == simulated["drops"] == 0
    assert kernel["marks"] == pytest.approx(simulated["marks"], rel=0.1)


@built
def test_a_port_never_holds_more_than_its_bytes() -> None:
    text = SCENARIO.replace("100pkt", "60KB").split("[[traffic]]")[0]
    text += '[[traffic]]\nname = "long"\nkind = "background"\nflows = 2\n[run]\nduration = "20ms"\n'
    queues = decode(_engine.Scenario(text, "scenario.toml", LINUX).run(1).columns("queues"))
    assert queues["drops"].sum() > 0
    assert 58_000 < queues["max_bytes"].max() <= 60_000  # type: ignore[operator]


@built
def test_connections_are_opened_without_waiting_for_each_other() -> None:
    changes = {**LINUX, "transport.interrupt-interval": "10us", "measure.probes": "srtt"}
    run = _engine.Scenario(SCENARIO, "scenario.toml", changes).run(1)
    first = decode(run.columns("probes")).group_by("connection").first()
    # Four times 5 us, three headers on each link, and a microsecond for rounding.
    assert first.height == 8
    assert first["value"].max() == pytest.approx(20.5e-6, abs=1e-6)


LONG = (
    SCENARIO[: SCENARIO.index("[[traffic]]")]
    + """
[queue]
kind = "red"
red-min = 10
red-max = 40
red-weight = 0.02
[[traffic]]
name = "long"
kind = "background"
flows = 4
stop = "200ms"
[measure]
warmup = "50ms"
[run]
duration = "200ms"
"""
)


@built
def test_long_transfers_with_losses_are_equal_to_the_bit_as_well() -> None:
    # What a socket holds depends on how the kernel's memory is divided.
    changes = {**LINUX, "transport.scheme": "linux-reno", "run.duration": "20ms", "measure.warmup": "1ms"}
    runs = [json.loads(_engine.Scenario(LONG, "scenario.toml", changes).run(1).summary) for _ in range(4)]
    assert runs[0]["drops"] > 100
    assert len({run["result_hash"] for run in runs}) == 1


@built
def test_windows_are_those_that_the_kernel_tells() -> None:
    probes = {**LINUX, "measure.probes": "cwnd,ssthresh,srtt,rto,in-flight", "measure.probe-flows": 2}
    run = _engine.Scenario(SCENARIO, "scenario.toml", probes).run(1)
    table = decode(run.columns("probes"))
    of = {name: table.filter(pl.col("name").cast(pl.String) == name) for name in ("cwnd", "srtt", "rto")}
    assert table["connection"].n_unique() == 2
    first = of["cwnd"].group_by("connection", maintain_order=True).first()["value"]
    assert first.to_list() == [14480.0, 14480.0]
    assert (of["cwnd"]["value"] % 1448 == 0).all()
    assert of["srtt"]["value"].drop_nans().is_between(20e-6, 1e-3).all()
    assert (of["rto"]["value"] >= 0.2).all()
    # Senders that have nothing to send are not looked at.
    assert len(table) < 300
    # Nothing is lost here, and to look changes nothing then.
    looked, plain = json.loads(run.summary), totals(LINUX)
    assert [looked[name] for name in ("fct_p50_s", "packet_hops")] == [
        plain[name] for name in ("fct_p50_s", "packet_hops")
    ]


@built
def test_counters_of_the_kernel_are_a_table() -> None:
    changes = {**LINUX, "network.buffer": "20pkt", "traffic.answers.senders": 40, "traffic.answers.bytes-each": "4KB"}
    run = _engine.Scenario(SCENARIO, "scenario.toml", changes).run(1)
    counters = dict(decode(run.columns("counters")).select(pl.col("name").cast(pl.String), "value").iter_rows())
    summary = json.loads(run.summary)
    assert summary["timeouts"] > 0
    assert counters["TCPTimeouts"] == summary["timeouts"]
    assert all(value > 0 for value in counters.values())


@built
def test_each_host_has_the_memory_of_a_host_for_tcp() -> None:
    text = SCENARIO[: SCENARIO.index("[[traffic]]")].replace("100pkt", "20MB").partition("interrupt-interval")[0]
    text += '[[traffic]]\nname = "long"\nkind = "background"\nflows = 64\n[run]\nduration = "400ms"\n'
    run = _engine.Scenario(text, "scenario.toml", LINUX).run(1)
    counters = dict(decode(run.columns("counters")).select(pl.col("name").cast(pl.String), "value").iter_rows())
    # docs/reference/linux.md, "Not as on your host"
    assert counters["TCPOrigDataSent"] > 100_000
    assert counters.get("TCPMemoryPressures", 0) == counters.get("PruneCalled", 0) == 0


@built
def test_bbr_runs_in_the_kernel() -> None:
    changes = {**LINUX, "queue.kind": "drop-tail", "run.duration": "50ms", "measure.warmup": "10ms"}
    text = LONG.replace('kind = "red"\nred-min = 10\nred-max = 40\nred-weight = 0.02\n', "")
    bbr, cubic = (
        json.loads(_engine.Scenario(text, "scenario.toml", {**changes, "transport.scheme": scheme}).run(1).summary)
        for scheme in ("linux-bbr", "linux")
    )
    # Losses do not slow it down.
    assert bbr["goodput_bps"] > 9.3e9
    assert bbr["drops"] > 3 * cubic["drops"]


def test_the_simulator_refuses_bbr_and_names_the_kernel() -> None:
    with pytest.raises(ScenarioError, match=r'no model of linux-bbr.*set\("run.backend", "linux"\)'):
        _engine.Scenario(SCENARIO, "scenario.toml", {"transport.scheme": "linux-bbr"}).check()


@built
@pytest.mark.parametrize(
    "changes",
    [
        {"transport.scheme": "linux-reno", "transport.ecn": "on"},
        {"transport.scheme": "linux-reno", "transport.ecn": "on", "queue.red-wait": True},
        {"transport.scheme": "linux-dctcp", "queue.red-gentle": True},
        {"transport.scheme": "linux-reno"},
        {"transport.scheme": "linux-reno", "transport.ecn": "on", "queue.red-max": 12, "queue.red-hard-drop": True},
    ],
    ids=["reno", "wait", "dctcp-gentle", "drops", "hard-drops"],
)
def test_random_early_detection_is_the_simulators(changes: dict[str, Any]) -> None:
    def found(backend: str) -> dict[str, Any]:
        whole = {**changes, "run.backend": backend}
        run: dict[str, Any] = json.loads(_engine.Scenario(LONG, "scenario.toml", whole).run(1).summary)
        return run

    kernel, simulated = found("linux"), found("simulator")
    # This one marks and drops: it draws for both. Each run of the kernel takes a quarter of a minute.
    if "queue.red-hard-drop" in changes:
        assert found("linux")["result_hash"] == kernel["result_hash"]
    assert kernel["queue_mean_packets"] == pytest.approx(simulated["queue_mean_packets"], rel=0.1)
    share = [(run["marks"] + run["drops_discipline"]) / run["segments_received"] for run in (kernel, simulated)]
    # The random numbers of both are not the same; what hard drops do to windows makes their effect larger.
    assert share[0] == pytest.approx(share[1], rel=0.15 if "queue.red-hard-drop" in changes else 0.1)
    assert share[0] > 0.01


@built
def test_the_least_timeout_is_that_of_the_route() -> None:
    changes = {**LINUX, "network.buffer": "20pkt", "traffic.answers.senders": 40, "traffic.answers.bytes-each": "4KB"}
    short = totals({**changes, "transport.rto-min": "10ms"})
    long = totals({**changes, "transport.rto-min": "200ms"})
    assert short["timeouts"] > 0 < long["timeouts"]
    assert short["fct_max_s"] < 0.1 < 0.2 < long["fct_max_s"]


@built
def test_hosts_have_segmentation_merging_and_interrupts() -> None:
    plain = totals(LINUX)
    offloads = {"transport.gro": "65536B", "transport.tso": "65536B", "transport.interrupt-interval": "50us"}
    hosts = totals({**LINUX, **offloads})
    # What waits for an interrupt arrives later, and one acknowledgement is enough for what is merged.
    assert hosts["fct_p50_s"] > plain["fct_p50_s"] + 20e-6
    assert hosts["segments_received"] == plain["segments_received"]
    assert hosts["packet_hops"] < 0.8 * plain["packet_hops"]


@built
def test_a_queue_that_paces_has_the_limit_of_the_host() -> None:
    changes = {**LINUX, "transport.pacing": "fq", "traffic.answers.bytes-each": "100KB"}
    found = [totals({**changes, "transport.host-queue": packets})["fct_p50_s"] for packets in (0, 1000, 1)]
    assert found[0] == found[1] != found[2]


@built
def test_endless_flows_share_the_link_and_stop() -> None:
    text = (
        SCENARIO[: SCENARIO.index("[[traffic]]")]
        + """
[[traffic]]
name = "long"
kind = "background"
flows = 2
stop = "40ms"
[measure]
warmup = "10ms"
[run]
duration = "60ms"
backend = "linux"
"""
    )
    found = json.loads(_engine.Scenario(text, "scenario.toml").run(1).summary)
    assert 4e9 < found["goodput_bps"] < 9.7e9
    assert found["flows"] == 2


@built
def test_a_stopped_run_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Others may run kernels too.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    changes = {**LINUX, "traffic.answers.rounds": 100_000, "traffic.answers.senders": 50}
    asked: list[float] = []

    def stop(share: float) -> bool:
        asked.append(share)
        return len(asked) < 5

    with pytest.raises(RunError, match="stopped"):
        _engine.Scenario(SCENARIO, "scenario.toml", changes).run(1, stop)
    assert not list(tmp_path.iterdir())
    assert not _kernels_of(os.getpid())


def test_a_long_run_is_announced_with_its_time(tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # No kernel is needed for that.
    monkeypatch.setenv("FANIN_LINUX", str(tmp_path / "none"))
    file = tmp_path / "long.toml"
    file.write_text(SCENARIO)
    said = [
        cli("run", str(file), "--backend", backend, "--no-store", "--set", f"traffic.answers.rounds={rounds}").err
        for backend, rounds in [("linux", 100_000), ("linux", 3), ("simulator", 3)]
    ]
    assert "about 6 min in the kernel" in said[0]
    assert "in the kernel" not in said[1] + said[2]


def test_a_sweep_in_the_kernel_is_announced_with_the_time_of_all_its_runs(
    tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FANIN_LINUX", str(tmp_path / "none"))
    file = tmp_path / "long.toml"
    file.write_text(SCENARIO)

    def said(*options: str) -> str:
        return str(cli("sweep", str(file), "--out", str(tmp_path / "results"), *options).err)

    # Ten runs of six minutes on two cores, or on 20, of which one needs all of them.
    many = ["--set", "traffic.answers.rounds=100000", "--seeds", "1..10"]
    assert "about 32 min in the kernel on 2 cores" in said("--backend", "linux", *many, "--jobs", "2")
    assert "about 6 min in the kernel on 20 cores" in said("--backend", "linux", *many, "--jobs", "20")
    backends = ["--set", "run.backend=simulator,linux", "--seeds", "1"]
    assert "in the kernel" not in said(*backends)


def test_a_run_whose_machine_is_too_large_is_refused(tmp_path: Path, cli: Any) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    failed = cli("run", str(file), "--backend", "linux", "--no-store", "--memory", "512MiB")
    assert failed.code == 3
    assert "the run does not fit in memory: estimated" in failed.err
    assert "--memory" in failed.err


def _killed(tmp_path: Path, by: signal.Signals) -> list[int]:
    """The kernels of a command that was killed."""
    file = tmp_path / "long.toml"
    file.write_text(SCENARIO.replace("rounds = 3", "rounds = 100000"))
    command = [sys.executable, "-m", "fanin", "run", str(file), "--backend", "linux", "--no-try", "--no-store"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kernels: list[int] = []
    while not kernels and process.poll() is None:
        kernels = _kernels_of(process.pid)
        time.sleep(0.05)
    assert kernels
    process.send_signal(by)
    process.wait()
    return kernels


@built
def test_a_stopped_command_leaves_no_kernel(tmp_path: Path) -> None:
    assert not [kernel for kernel in _killed(tmp_path, signal.SIGTERM) if _runs(kernel)]
    assert not list(tmp_path.glob("fanin-linux-*"))


@built
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="util-linux is not installed")
def test_a_killed_command_leaves_no_kernel_and_the_next_removes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = _killed(tmp_path, signal.SIGKILL)
    # Else it would run until it notices that nobody reads what it says, which takes seconds.
    until = time.monotonic() + 1
    while [kernel for kernel in kernels if _runs(kernel)]:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert list(tmp_path.glob("fanin-linux-*"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    totals(LINUX)
    assert not list(tmp_path.glob("fanin-linux-*"))


def test_a_missing_kernel_is_named_with_its_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FANIN_LINUX", str(tmp_path))
    with pytest.raises(RunError, match=r'HZ=1000 is not built .*"make linux"'):
        totals(LINUX)


def test_a_kernel_of_other_sources_is_listed_and_refused(
    tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fanin.choose import confirmation

    (tmp_path / "hz1000").mkdir()
    for name in ("built", "release", "linux", "cable.ko", "config", "sources"):
        (tmp_path / "hz1000" / name).write_text("")
    (tmp_path / "guest").write_text("")
    monkeypatch.setenv("FANIN_LINUX", str(tmp_path))
    again = r'the kernel was built from other sources: run "make linux" again'
    with pytest.raises(RunError, match=again):
        totals(LINUX)
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    with pytest.raises(RunError, match=again):
        confirmation.kernel(fanin.Scenario(file))
    assert [each["current"] for each in json.loads(cli("linux", "--json").out)["kernels"]] == [False]
    assert "built from other sources" in cli("linux").out


def test_what_linux_cannot_follow_is_refused_when_it_is_checked() -> None:
    with pytest.raises(ScenarioError, match=r"transport\.ack-delay.*Linux decides this itself"):
        _engine.Scenario(SCENARIO, "scenario.toml", {**LINUX, "transport.ack-delay": "1ms"}).check()


ICTCP: dict[str, Any] = {"transport.scheme": "ictcp", "traffic.answers.gap": "20ms"}
RCC: dict[str, Any] = {
    "transport.scheme": "rcc",
    "traffic.answers.announce-size": False,
    "traffic.answers.gap": "20ms",
    "network.buffer": "1000pkt",
}


def both(changes: dict[str, Any]) -> tuple[Any, Any]:
    """Completion times in nanoseconds of a run in the kernel, and in the simulator; nothing is lost."""
    found = []
    for backend in ({"run.backend": "linux"}, {"network.ties": "scheduled"}):
        whole = {"traffic.answers.jitter": "0s", **changes, **backend}
        run = _engine.Scenario(SCENARIO, "scenario.toml", whole).run(1)
        assert json.loads(run.summary)["drops"] == 0
        found.append(decode(run.columns("flows"))["fct_s"].to_numpy() * 1e9)
    return found[0], found[1]


@built
@pytest.mark.parametrize(("senders", "size", "within_ns"), [(1, "200KB", 100), (2, "200KB", 3_000), (32, "64KB", 100)])
def test_ictcps_receiver_is_the_simulators(senders: int, size: str, within_ns: int) -> None:
    changes = {**ICTCP, "traffic.answers.senders": senders, "traffic.answers.bytes-each": size}
    kernel, simulated = both({**changes, "traffic.answers.rounds": 1})
    assert np.abs(kernel - simulated).max() < within_ns
    assert len(kernel) == senders


@built
def test_eight_senders_under_ictcp_take_as_long_as_in_the_simulator() -> None:
    changes = {**ICTCP, "traffic.answers.senders": 8, "traffic.answers.bytes-each": "2MB"}
    kernel, simulated = both({**changes, "traffic.answers.rounds": 1, "network.buffer": "1000pkt"})
    # Which windows grow in a slot is decided by nanoseconds, but not how much all of them grow.
    assert kernel.mean() == pytest.approx(simulated.mean(), rel=0.03)
    assert kernel.max() == pytest.approx(simulated.max(), rel=0.04)


@built
def test_ictcp_keeps_slow_start_after_a_pause() -> None:
    changes = {**ICTCP, "traffic.answers.senders": 1, "traffic.answers.bytes-each": "200KB"}
    kernel, _ = both(changes)
    assert kernel.max() < 1.05 * kernel.min()


@built
def test_a_request_tells_the_window_that_has_grown_since_the_last_answer_under_ictcp() -> None:
    changes = {**ICTCP, "traffic.answers.gap": "1ms", "traffic.answers.rounds": 4, "traffic.answers.senders": 2}
    kernel, simulated = both({**changes, "traffic.answers.bytes-each": "32KB"})
    assert np.abs(kernel - simulated).max() < 100


@built
def test_ictcp_takes_no_pause_between_answers_for_a_round_trip() -> None:
    changes = {**ICTCP, "traffic.answers.gap": "1ms", "traffic.answers.rounds": 6, "traffic.answers.jitter": "20us"}
    kernel, _ = both({**changes, "traffic.answers.senders": 32, "traffic.answers.bytes-each": "32KB"})
    # Else windows grow from round to round, until they are more than the port holds.
    assert kernel[32:].max() < 1.05 * kernel[:32].max()


@built
@pytest.mark.parametrize(
    "changes",
    [
        {"traffic.answers.senders": 1},
        {"traffic.answers.senders": 2},
        {"traffic.answers.senders": 8},
        {"traffic.answers.senders": 8, "traffic.answers.connections": "fresh"},
        {"traffic.answers.senders": 8, "scheme.rcc.priority": "off", "traffic.answers.rounds": 1},
        {"traffic.answers.senders": 64, "scheme.rcc.requests": "wait", "traffic.answers.connections": "fresh"},
    ],
    ids=["one", "two", "eight", "fresh", "equal-shares", "requests-wait"],
)
def test_rccs_receiver_is_the_simulators(changes: dict[str, Any]) -> None:
    kernel, simulated = both({**RCC, "traffic.answers.bytes-each": "64KB", **changes})
    assert np.abs(kernel - simulated).max() < 1_000


@built
def test_windows_of_one_segment_wait_for_delayed_acks_unless_each_segment_is_acknowledged() -> None:
    changes = {**RCC, "traffic.answers.senders": 1, "traffic.answers.rounds": 1, "traffic.answers.bytes-each": "200KB"}
    quick, _ = both(changes)
    late, _ = both({**changes, "transport.ack-every": 2})
    assert quick.max() < 4e6 < 100e6 < late.max()


def _kernels_of(parent: int) -> list[int]:
    """The kernels that a process has started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            name = (status.parent / "comm").read_text().strip()
        except OSError:
            continue
        if int(fields[1]) == parent and name == "linux" and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


RACK = """
[network]
topology = "star"
rate = "10Gbps"
buffer = "60pkt"
[transport]
scheme = "{scheme}"
[[traffic]]
name = "servers"
kind = "incast"
senders = 24
bytes-each = "20KB"
rounds = 3
gap = "1ms"
jitter = "20us"
request = "100B"
connections = "persistent"
[run]
duration = "5s"
"""


def advised(tmp_path: Path, scheme: str, cli: Any) -> list[dict[str, Any]]:
    file = tmp_path / "rack.toml"
    file.write_text(RACK.format(scheme=scheme))
    options = ["--confirm", "--seeds", "1,2", "--capacities", "0", "--json", "--out", str(tmp_path / "results")]
    found: list[dict[str, Any]] = json.loads(cli("advise", str(file), *options).out)["confirmed"]
    return found


@built
def test_advice_is_confirmed_in_the_kernel(tmp_path: Path, cli: Any) -> None:
    own, best, *others = advised(tmp_path, "linux", cli)
    assert own["fix"] == "as it is"
    assert len(others) == 2
    assert own["refused"] is best["refused"] is None
    # What the kernel does as it is, and with the fix, are its own runs.
    again = _engine.Scenario(RACK.format(scheme="linux"), "rack.toml", LINUX)
    alone = [json.loads(again.run(seed).summary)["query_p99_s"] for seed in (1, 2)]
    assert own["measure"] == "query-p99"
    assert own["linux"] == pytest.approx(sum(alone) / 2)
    assert best["linux"] < own["linux"]
    (stored,) = (tmp_path / "results" / "advice").glob("*/advice.json")
    told = json.loads(stored.read_text())
    assert told["confirmed"] == [own, best, *others]
    assert re.fullmatch(r"Linux 6\.12\.\d+ \(HZ=1000\)", told["kernel"])
    page = (stored.parent / "advice.md").read_text()
    assert f"## Query-p99 with seeds 1 and 2, simulated and in {told['kernel']}" in page


@built
def test_what_waits_for_other_traffic_begins_in_the_kernel_when_it_did_in_the_simulator(
    tmp_path: Path, cli: Any
) -> None:
    beside = '[[traffic]]\nname = "long"\nkind = "background"\nflows = 1\n'
    file = tmp_path / "rack.toml"
    rack = RACK.format(scheme="linux-dctcp").replace('buffer = "60pkt"', 'buffer = "600pkt"')
    file.write_text(rack.replace("[run]", f'start = "steady"\n{beside}[run]'))
    options = ["--confirm", "--seeds", "1", "--capacities", "0", "--out", str(tmp_path / "results")]
    told = cli("advise", str(file), *options).out
    assert 'What starts "steady" begins in Linux when it did in the simulator\n' in told
    (stored,) = (tmp_path / "results" / "advice").glob("*/advice.json")
    own = json.loads(stored.read_text())["confirmed"][0]
    assert (own["fix"], own["refused"], own["error"]) == ("as it is", None, None)
    assert own["linux"] > 0


def test_the_kernel_that_runs_is_the_one_with_the_scenarios_ticks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fanin.choose import confirmation

    place, file = Path(), tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    monkeypatch.setattr(
        _engine, "linux_kernels", lambda: [(250, "6.12.1", place, place, True), (1000, "6.12.2", place, place, True)]
    )

    def named(tick: str) -> str:
        return confirmation.kernel(fanin.Scenario(file).set({"transport.rto-granularity": tick}))

    assert named("4ms") == "Linux 6.12.1 (HZ=250)"
    assert named("1ms") == "Linux 6.12.2 (HZ=1000)"
    with pytest.raises(RunError, match="no kernel with HZ=100 in"):
        named("10ms")


@built
def test_why_a_run_in_the_kernel_failed_is_said(tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rack.toml"
    file.write_text(RACK.format(scheme="linux"))
    broken = tmp_path / "kernels"
    shutil.copytree(_engine.linux_folder(), broken, ignore=lambda _, names: {n for n in names if n not in _NEEDED})
    (broken / "guest").write_text("")
    monkeypatch.setenv("FANIN_LINUX", str(broken))
    result = cli(
        "advise", str(file), "--confirm", "--seeds", "1", "--capacities", "0", "--out", str(tmp_path / "results")
    )
    assert "as it is" in result.out
    assert 'warning: "as it is" failed in Linux: ' in result.err


_NEEDED = {"hz1000", "linux", "cable.ko", "release", "built", "config", "guest", "sources"}


def test_what_linux_cannot_run_is_named_beside_the_advice(
    tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fanin.choose import confirmation

    monkeypatch.setattr(confirmation, "kernel", lambda _: "Linux")
    own, *_ = advised(tmp_path, "newreno", cli)
    assert (own["fix"], own["linux"], own["refused"]) == ("as it is", None, "not in Linux: transport.scheme")
    assert own["simulated"] > 0


def test_confirming_needs_a_kernel_before_anything_runs(
    tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FANIN_LINUX", str(tmp_path / "none"))
    file = tmp_path / "rack.toml"
    file.write_text(RACK.format(scheme="linux"))
    result = cli("advise", str(file), "--confirm", "--out", str(tmp_path / "results"))
    assert result.code != 0
    assert 'run "make linux"' in result.err
    assert not (tmp_path / "results").exists()


@built
def test_what_is_called_simulated_is_simulated_where_the_file_names_the_kernel(tmp_path: Path, cli: Any) -> None:
    file = tmp_path / "rack.toml"
    file.write_text(RACK.format(scheme="linux") + 'backend = "linux"\n')
    options = ["--confirm", "--seeds", "1", "--capacities", "0", "--json", "--out", str(tmp_path / "results")]
    answer = cli("advise", str(file), *options)
    assert "run.backend is linux: every fix runs in the Linux kernel" in answer.err
    own = json.loads(answer.out)["confirmed"][0]
    rack = RACK.format(scheme="linux")
    for name, backend in [("simulated", "simulator"), ("linux", "linux")]:
        alone = _engine.Scenario(rack, "rack.toml", {"run.backend": backend}).run(1)
        assert own[name] == pytest.approx(json.loads(alone.summary)["query_p99_s"]), name
    assert own["simulated"] != own["linux"]


def test_a_scheme_without_a_model_is_confirmed_in_the_kernel_alone(tmp_path: Path) -> None:
    from types import SimpleNamespace

    from fanin.choose.confirmation import IN_LINUX, IN_SIMULATOR, _why_not

    file = tmp_path / "rack.toml"
    file.write_text(RACK.format(scheme="linux-bbr"))
    of: Any = SimpleNamespace(experiment=fanin.Scenario(file))
    as_it_is: Any = SimpleNamespace(settings={})
    assert _why_not(of, as_it_is, IN_SIMULATOR, {}) == "not in the simulator: transport.scheme"
    assert _why_not(of, as_it_is, IN_LINUX, {}) is None


def test_a_run_in_the_kernel_proposes_advice_from_the_simulator() -> None:
    from fanin.choose.outcomes import Outcome
    from fanin.show.course import choose_commands

    def proposed(scheme: str, given: list[tuple[str, str]]) -> str:
        scenario = {"run": {"backend": "linux"}, "transport": {"scheme": scheme}, "traffic": [{}]}
        happened: Any = type("", (), {"scenario": scenario, "outcome": Outcome.COLLAPSE, "fan_in": None})
        return choose_commands(happened, None, "s.toml", given)[-1].command

    buffer = ("network.buffer", "1MB")
    confirmed = "fanin advise s.toml --set network.buffer=1MB --confirm"
    assert proposed("linux", [("run.backend", "linux"), buffer]) == confirmed
    assert proposed("linux", []) == "fanin advise s.toml --set run.backend=simulator --confirm"
    assert proposed("linux-bbr", [("run.backend", "linux")]) == "fanin advise s.toml --set run.backend=linux"

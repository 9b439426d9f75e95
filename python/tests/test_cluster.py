"""Sweeps on a cluster: a real scheduler and three real worker processes, all on the loopback interface."""

import json
import os
import pickle
import re
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

import fanin
from fanin import cluster, remote
from fanin.cluster import Cluster
from fanin.errors import ClusterError, RunError
from fanin.failures import Failure
from fanin.pool import Job, outcomes
from fanin.remote import Task, Versions, simulate, versions
from fanin.runs import Run

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'fanin[cluster]'")

WORKERS = 3
DEADLINE_S = 120.0
"""How long anything may take before a test gives up; nothing but failing depends on it."""


def start(*arguments: str, log: Path) -> subprocess.Popen:
    """One of Dask's programs, with this checkout's fanin."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments], stdout=file, stderr=file, env=environment, cwd=log.parent
        )


def wait_for(what, process: subprocess.Popen, log: Path):
    """What a function returns once that is something."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if found := what():
            return found
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@pytest.fixture
def dask(tmp_path_factory: pytest.TempPathFactory):
    """Address of a scheduler, and its worker processes."""
    folder = tmp_path_factory.mktemp("dask")
    logs = [folder / f"{name}.log" for name in ("scheduler", *map(str, range(WORKERS)))]
    loopback = ("--host", "127.0.0.1", "--no-dashboard")
    scheduler = start("scheduler", *loopback, "--port", "0", log=logs[0])
    processes = [scheduler]
    try:
        pattern = re.compile(r"Scheduler at:\s+(tcp://[0-9.]+:\d+)")
        found = wait_for(lambda: pattern.search(logs[0].read_text()), scheduler, logs[0])
        for log in logs[1:]:
            single = ("--no-nanny", "--nthreads", "1", "--local-directory", str(folder))
            processes.append(start("worker", found.group(1), *loopback, *single, log=log))
        for log, process in zip(logs[1:], processes[1:], strict=True):
            wait_for(lambda log=log: "Registered to" in log.read_text(), process, log)
        yield found.group(1), processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def data_set(out: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(out, "sweeps").glob("*/*")}


SWEEP = ("sweep", "small.toml", "--tables", "flows", "--columns", "goodput_bps")


def test_a_worker_that_is_killed_costs_nothing(cli, work, dask, monkeypatch):
    """One of three workers dies as soon as the first run is back: nothing is missing, and nothing is double."""
    address, workers = dask
    saved = []
    real = cluster.kept

    def kept(work, store, output):
        saved.append(work.name)
        if len(saved) == 1:
            # Six runs are out, two for each worker.
            workers[0].kill()
            workers[0].wait()
        return real(work, store, output)

    monkeypatch.setattr(cluster, "kept", kept)
    result = cli(*SWEEP, "--out", "elsewhere", "--cluster", address)
    assert result.code == 0, result.err
    assert len(saved) == len(set(saved)) == 18
    assert workers[0].poll() is not None
    assert all(worker.poll() is None for worker in workers[1:])
    cli(*SWEEP, "--out", "here")
    assert data_set("elsewhere") == data_set("here")
    assert cli(*SWEEP, "--cluster", address, "--jobs", "2").code == 2
    found = json.loads(cli("cluster", address, "--json").out)["workers"]
    assert [(each["threads"], each["fanin"], each["engine"]) for each in found] == [
        (1, fanin.__version__, fanin.engine_version())
    ] * (WORKERS - 1)


def test_failed_runs_and_other_versions_on_a_cluster(cli, work, dask, monkeypatch):
    address, _ = dask
    small = fanin.load("small.toml")
    good = Job(small, [("run.seed", "1")])
    # More hosts than a switch has ports, which is seen only when the network is built.
    bad = Job(small, [("run.seed", "1"), ("traffic.bursts.senders", "70000")])
    found = outcomes([good, bad], "results", place=Cluster(address))
    assert [type(each) for each in found] == [Run, Failure]
    other = Versions("9.9", "9.9+abc")
    monkeypatch.setattr(cluster, "versions", lambda: other)
    result = cli(*SWEEP, "--cluster", address)
    assert result.code == 3
    assert f"has {versions()}, but this machine has {other}" in result.err


def test_nobody_at_the_address(cli, work, monkeypatch):
    real = Cluster.__init__
    monkeypatch.setattr(Cluster, "__init__", lambda self, address: real(self, address, timeout=0.2))
    result = cli(*SWEEP, "--cluster", "tcp://127.0.0.1:9")
    assert result.code == 3
    assert "tcp://127.0.0.1:9: no scheduler answers there" in result.err
    assert cli(*SWEEP, "--cluster", "nonsense://x").code == 3


def test_a_worker_refuses_to_simulate_for_another_version(work):
    task = Task(*fanin.load("small.toml").engine_input([]), frozenset(), Versions("9.9", "9.9+abc"))
    with pytest.raises(
        ClusterError, match=r"a worker has fanin .*, but this machine has fanin 9.9 \(engine 9.9\+abc\)"
    ):
        simulate(task)


def test_what_is_sent_and_sent_back_survives_the_way(work):
    small = fanin.load("small.toml")
    task = Task(*small.engine_input([("run.seed", "2")]), frozenset({"flows"}), versions())
    package = pickle.loads(pickle.dumps(simulate(pickle.loads(pickle.dumps(task)))))
    assert package.table_names == ["flows"]
    package.write_parquet("flows", "flows.parquet")
    run = small.run(seed=2)
    assert json.loads(package.summary)["result_hash"] == run.summary["result_hash"]
    assert Path("flows.parquet").stat().st_size > 0
    broken = Task(task.text, task.file, [("network.rate", "0bps")], task.tables, task.versions)
    with pytest.raises(RunError):
        simulate(broken)


def test_a_run_that_kills_every_worker_is_a_failed_run(work):
    class KilledError(Exception):
        allowed_failures = 3

    place = object.__new__(Cluster)
    place._killed = KilledError
    place._address = "tcp://host:8786"
    future = Future()
    future.set_exception(KilledError())
    with pytest.raises(RunError, match="4 workers died while they simulated it"):
        place.collect(None, None, future)
    lost = Future()
    lost.cancel()
    with pytest.raises(ClusterError, match=r"lost the cluster .*run the same again"):
        place.collect(None, None, lost)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'fanin\[cluster\]'"):
        Cluster("tcp://127.0.0.1:9")


def test_versions_are_those_of_the_package_and_the_engine():
    assert versions() == Versions(fanin.__version__, fanin.engine_version())
    remote.refuse_others(versions(), versions(), "anybody")

"""Sweeps on a cluster: a real scheduler and three real worker processes, all on the loopback interface."""

import errno
import json
import logging
import os
import pickle
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from concurrent.futures import CancelledError, Future
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from patches import stored

import fanin
from fanin._engine import Scenario
from fanin.errors import ClusterError, RunError
from fanin.results.failures import BrokenOff, Failure
from fanin.results.runs import Run
from fanin.results.store import Store
from fanin.run import cluster, remote
from fanin.run.cluster import Cluster
from fanin.run.job import Job, PooledRun
from fanin.run.pool import outcomes
from fanin.run.remote import Task, VersionError, Versions, simulate, versions

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'dask[distributed]'")

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


LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard")


def start_worker(address: str, log: Path, *more: str) -> subprocess.Popen:
    """A worker with one thread."""
    single = ("--no-nanny", "--nthreads", "1", "--local-directory", str(log.parent))
    return start("worker", address, *LOOPBACK, *single, *more, log=log)


def wait_until_joined(worker: subprocess.Popen, log: Path) -> None:
    wait_for(lambda: "Registered to" in log.read_text(), worker, log)


def wait_for(what, process: subprocess.Popen, log: Path):
    """What a function returns once that is something."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if found := what():
            return found
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


HELD = """\
import threading
from pathlib import Path
from fanin.run import remote

def simulate(task):
    # In one piece, so that whoever sees it can read it.
    Path("begun.tmp").write_text(str((task.scenario.changes, task.seeds)))
    Path("begun.tmp").replace("begun")
    threading.Event().wait()

remote.simulate = simulate
"""
"""What a worker loads that never gets to the end of a run."""


@pytest.fixture
def dask(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest):
    """Address of a scheduler, and its worker processes; the first is held in its first run if that is asked for."""
    folder = tmp_path_factory.mktemp("dask")
    held = folder / "held.py"
    held.write_text(HELD)
    logs = [folder / f"{name}.log" for name in ("scheduler", *map(str, range(WORKERS)))]
    scheduler = start("scheduler", *LOOPBACK, "--port", "0", log=logs[0])
    processes = [scheduler]
    try:
        pattern = re.compile(r"Scheduler at:\s+(tcp://[0-9.]+:\d+)")
        found = wait_for(lambda: pattern.search(logs[0].read_text()), scheduler, logs[0])
        for log in logs[1:]:
            is_held = getattr(request, "param", "") == "held" and log == logs[1]
            processes.append(start_worker(found.group(1), log, *(("--preload", str(held)) if is_held else ())))
        for log, process in zip(logs[1:], processes[1:], strict=True):
            wait_until_joined(process, log)
        yield found.group(1), processes[1:], folder
    finally:
        for process in processes:
            process.kill()
            process.wait()


def data_set(out: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(out, "sweeps").glob("*/*")}


MARKED = ("--set", "scheme.dctcp.mark-threshold=10pkt")
"""A threshold below the buffer of small.toml, of which nothing warns."""

SWEEP = ("sweep", "small.toml", "--tables", "flows", "--columns", "goodput_bps")


@pytest.mark.parametrize("dask", ["held"], indirect=True)
def test_a_worker_that_is_killed_costs_nothing(cli, work, dask, monkeypatch):
    """One of three workers dies in the middle of a run: another makes it, nothing is missing, and nothing is double."""
    address, workers, folder = dask
    saved, settings = [], set()
    real = cluster.kept

    def kept(works, store, outputs):
        first = not saved
        saved.extend(work.name for work, _ in zip(works, outputs, strict=False))
        settings.add(str((works[0].job.point, [work.seed for work in works])))
        if first:
            # Six runs are out, two for each worker.
            wait_for((folder / "begun").exists, workers[0], folder / "0.log")
            workers[0].kill()
            workers[0].wait()
        return real(works, store, outputs)

    monkeypatch.setattr(cluster, "kept", kept)
    result = cli(*SWEEP, "--out", "elsewhere", "--cluster", address)
    assert result.code == 0, result.err
    assert len(saved) == len(set(saved)) == 18
    # What the dead worker had begun, and never ended, has come back: from another.
    assert (folder / "begun").read_text() in settings
    assert workers[0].poll() is not None
    assert all(worker.poll() is None for worker in workers[1:])
    cli(*SWEEP, "--out", "here")
    assert data_set("elsewhere") == data_set("here")
    assert cli(*SWEEP, "--cluster", address, "--jobs", "2").code == 2
    found = json.loads(cli("check", "small.toml", "--cluster", address, "--json").out)["workers"]
    assert [(each["threads"], each["fanin"], each["engine"]) for each in found] == [
        (1, fanin.__version__, fanin.engine_version())
    ] * (WORKERS - 1)


OTHER = """\
from fanin.run import remote

remote.versions = lambda: remote.Versions("0.0.1", "0.0.1+other")
"""
"""What a worker loads that has another version."""


def test_a_worker_of_another_version_that_joins_a_sweep_changes_nothing(cli, work, dask, monkeypatch):
    address, _, folder = dask
    other, log = folder / "other.py", folder / "other.log"
    other.write_text(OTHER)
    joined = []
    real = cluster.kept

    def kept(*arguments):
        if not joined:
            joined.append(start_worker(address, log, "--preload", str(other)))
            wait_until_joined(joined[0], log)
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(cluster, "kept", kept)
        # It is asked before the next run is sent.
        patched.setattr(cluster, "_COUNT_EVERY_S", 0.0)
        try:
            result = cli(*SWEEP, "--seeds", "1..30", "--out", "there", "--cluster", address)
        finally:
            for process in joined:
                process.kill()
                process.wait()
    assert result.code == 0, result.err
    assert result.err.count("has fanin 0.0.1 (engine 0.0.1+other)") == 1
    assert "this worker is left out" in result.err
    cli(*SWEEP, "--seeds", "1..30", "--out", "here")
    assert data_set("there") == data_set("here")


def test_failed_runs_and_other_versions_on_a_cluster(cli, work, dask, monkeypatch):
    address, _, _ = dask
    small = fanin.Scenario("small.toml")
    good = Job(small, [("run.seed", "1")])
    # More hosts than a switch has ports, which is seen only when the network is built.
    bad = Job(small, [("run.seed", "1"), ("traffic.bursts.senders", "70000")])
    with closing(Cluster(address)) as workers:
        found = outcomes([good, bad], "results", workers=workers)
        assert [type(each) for each in found] == [Run, Failure]
        monkeypatch.setattr(
            cluster, "task_of", lambda *sent: replace(remote.task_of(*sent), files={"list.csv": "0" * 64})
        )
        with pytest.raises(ClusterError, match=r"worker tcp://127\.0\.0\.1:\d+ has a different copy of /.*/list\.csv"):
            outcomes([Job(small, [("run.seed", "2")])], "results", workers=workers)
    monkeypatch.setattr(cluster, "task_of", remote.task_of)
    compared = ("compare", "small.toml", "--schemes", "newreno,dctcp", "--seeds", "1..3")
    there = cli(*compared, "--cluster", address, "--out", "there")
    assert (there.code, there.out) == (0, cli(*compared, "--out", "here").out)
    real, other = versions(), Versions("9.9", "9.9+abc")
    monkeypatch.setattr(cluster, "versions", lambda: other)
    monkeypatch.setattr(remote, "versions", lambda: other)
    result = cli(*SWEEP, "--cluster", address)
    assert result.code == 3
    assert f"has {real}, but this machine has {other}" in result.err


def test_nobody_at_the_address(cli, work, monkeypatch):
    real = Cluster.__init__
    monkeypatch.setattr(Cluster, "__init__", lambda self, address, memory: real(self, address, 0.2, memory))
    result = cli(*SWEEP, *MARKED, "--cluster", "tcp://127.0.0.1:9")
    assert result.code == 3
    assert re.match(r"error: tcp://127.0.0.1:9: no scheduler responds: .*; check the address, ", result.err)
    assert result.err.count("\n") == 1
    assert cli(*SWEEP, "--cluster", "nonsense://x").code == 3
    assert "Dask does not connect there: unknown address scheme" in cli(*SWEEP, "--cluster", "nonsense://x:1").err


def test_what_the_configuration_of_dask_forbids_is_told():
    from dask import config

    with (
        config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(ClusterError, match="Dask does not connect there: encryption required"),
    ):
        Cluster("tcp://127.0.0.1:9")


@pytest.mark.parametrize("error", [ValueError, TypeError, RuntimeError, ImportError])
def test_what_is_wrong_here_is_not_blamed_on_the_scheduler(client, monkeypatch, error):
    def refuse(*_, **__):
        raise error("versions differ")

    monkeypatch.setattr(client, "__init__", refuse)
    with pytest.raises(ClusterError, match="tcp://host:8786: Dask does not connect there: versions differ"):
        Cluster("tcp://host:8786")


def check_at(service: socket.socket, timeout: float) -> tuple[subprocess.Popen, str]:
    """``fanin check --cluster`` for the address of a service, in a process of its own, and the address."""
    address = f"tcp://127.0.0.1:{service.getsockname()[1]}"
    code = (
        "from fanin.run.cluster import Cluster\n"
        f"Cluster.__init__.__defaults__ = ({timeout}, None)\n"
        "from fanin.cli import main\n"
        f"main(['check', 'small.toml', '--cluster', '{address}'])"
    )
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment), address


def test_a_service_that_never_answers_is_no_scheduler(work):
    """The connection itself is made by the system, as at a scheduler that is stopped."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        program, address = check_at(silent, 0.5)
        try:
            _, err = program.communicate(timeout=DEADLINE_S)
        finally:
            program.kill()
    assert program.returncode == 3
    told = f"error: {address}: no scheduler responds: timed out after 0.5 s; check the address, .*\n"
    assert re.fullmatch(told, err), err


def framed(*frames: bytes) -> bytes:
    """A message as Dask sends it."""
    head = struct.pack(f"<{len(frames) + 1}Q", len(frames), *map(len, frames))
    return struct.pack("<Q", len(head) + sum(map(len, frames))) + head + b"".join(frames)


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(64), framed(), framed(b"\x91" * 100_000 + b"\xc0")],
    ids=["huge", "empty", "frameless", "deep"],
)
def test_a_service_that_answers_something_else_is_no_scheduler(work, answer):
    with socket.create_server(("127.0.0.1", 0)) as other:
        program, address = check_at(other, DEADLINE_S)
        try:
            connection, _ = other.accept()
            with connection:
                connection.sendall(answer)
                _, err = program.communicate(timeout=DEADLINE_S)
        finally:
            program.kill()
    assert program.returncode == 3
    told = f"error: {address}: no scheduler responds: something else answers there; check the address, .*\n"
    assert re.fullmatch(told, err), err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_while_it_connects(work, number, code):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        program = subprocess.Popen(
            [sys.executable, "-m", "fanin", *SWEEP, *MARKED, "--cluster", address],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
        connection, _ = silent.accept()
        with connection:
            program.send_signal(number)
            _, err = program.communicate(timeout=DEADLINE_S)
    assert program.returncode == code
    assert re.fullmatch(r"interrupted: .*\n", err)


def test_a_worker_refuses_to_simulate_for_another_version(work):
    task = Task(fanin.Scenario("small.toml").handle(), [1], frozenset(), Versions("9.9", "9.9+abc"))
    with pytest.raises(
        ClusterError, match=r"a worker on .* has fanin .*, but this machine has fanin 9.9 \(engine 9.9\+abc\)"
    ):
        simulate(task)


def test_what_is_sent_and_sent_back_survives_the_way(work):
    small = fanin.Scenario("small.toml")
    task = Task(small.handle(), [2, 3], frozenset({"flows"}), versions())
    package, other = pickle.loads(pickle.dumps(simulate(pickle.loads(pickle.dumps(task)))))
    assert package.table_names == ["flows"]
    assert json.loads(other.summary)["result_hash"] == small.run(seed=3).summary["result_hash"]
    run = small.run(seed=2)
    assert json.loads(package.summary)["result_hash"] == run.summary["result_hash"]
    assert package.columns("flows") == run.output.columns("flows")
    broken = Task(task.scenario.with_changes({"network.rate": "0bps"}), [1], task.tables, task.versions)
    with pytest.raises(RunError):
        simulate(broken)


class KilledError(Exception):
    allowed_failures = 3


class Client:
    """Dask's, with its worker in this process."""

    found: ClassVar = {"tcp://one": versions()}
    """What the workers say."""
    broken: ClassVar = []
    """What the next runs break off with, if not nothing."""
    where: ClassVar = []
    """Where each run may go."""
    connections = 0
    sent = 0

    def __init__(self, *_, **__):
        type(self).connections += 1

    def start(self, **_):
        pass

    def run(self, *_, **__):
        return self.found

    def get_executor(self, **_):
        return self

    def nthreads(self):
        return dict.fromkeys(self.found, 1)

    def submit(self, function, task, **where):
        type(self).sent += 1
        type(self).where.append(where)
        future = Future()
        try:
            if self.broken and (error := self.broken.pop(0)):
                raise error
            future.set_result(pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(task))))))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, **_):
        pass

    def close(self, **_):
        pass


@pytest.fixture
def client(monkeypatch):
    made = type("Client", (Client,), {"broken": [], "where": []})
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(KilledWorker=KilledError, Client=made))
    return made


def test_a_run_that_kills_every_worker_is_tried_again_by_the_next_command(work, client):
    small = fanin.Scenario("small.toml")
    wanted = [Job(small, [("run.seed", str(seed))]) for seed in (1, 2, 3)]
    client.broken = [None, KilledError()]
    with closing(Cluster("tcp://host:8786")) as workers:
        found = outcomes(wanted, "results", workers=workers)
    assert [type(each) for each in found] == [Run, BrokenOff, Run]
    assert found[1].error.startswith("4 workers died while simulating it")
    assert Store("results").rows("SELECT * FROM failures") == []
    with closing(Cluster("tcp://host:8786")) as workers:
        assert [type(each) for each in outcomes(wanted, "results", workers=workers)] == [Run, Run, Run]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CancelledError(), "lost the cluster .*run the same command again"),
        (OSError("closed"), r"lost the cluster \(closed\)"),
        (ModuleNotFoundError("No module named 'fanin'"), "a worker has no working fanin: .*No module named"),
    ],
)
def test_a_cluster_that_is_lost_or_not_fit_ends_the_sweep(work, client, error, message):
    client.broken = [error]
    job = Job(fanin.Scenario("small.toml"), [("run.seed", "1")])
    with closing(Cluster("tcp://host:8786")) as workers, pytest.raises(ClusterError, match=message):
        outcomes([job], "results", workers=workers)
    assert Store("results").rows("SELECT * FROM failures") == []


def test_a_connection_that_breaks_is_told_in_one_line(client, monkeypatch):
    with closing(Cluster("tcp://host:8786")):
        for name in ("distributed.core", "distributed.protocol.core", "distributed.client", "tornado.application"):
            assert not logging.getLogger(name).isEnabledFor(logging.CRITICAL)

    def gone(*_, **__):
        raise OSError("in <TCP (closed)>: Stream is closed")

    monkeypatch.setattr(client, "run", gone)
    with pytest.raises(ClusterError, match=r"tcp://host:8786: lost the cluster \(in <TCP"):
        Cluster("tcp://host:8786")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    # A signal and an unsuitable worker are told as what they are.
    monkeypatch.setattr(client, "run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Cluster("tcp://host:8786")
    monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://one": ModuleNotFoundError("no fanin")})
    with pytest.raises(ClusterError, match="worker tcp://one has no working fanin: no fanin"):
        Cluster("tcp://host:8786")


def test_a_full_disk_or_memory_of_a_worker_is_told_as_what_it_is(work, client, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    def hungry(*_):
        raise MemoryError

    job = Job(fanin.Scenario("small.toml"), [("run.seed", "1")])
    with closing(Cluster("tcp://host:8786")) as workers:
        with monkeypatch.context() as patched:
            patched.setattr(remote.tempfile, "TemporaryDirectory", full)
            with pytest.raises(ClusterError, match=r"worker on .* cannot write temporary files: No space left"):
                outcomes([job], "results", workers=workers)
        with monkeypatch.context() as patched:
            patched.setattr(Scenario, "run_seeds", hungry)
            (found,) = outcomes([job], "results", workers=workers)
        assert (type(found), "does not have enough memory" in found.error) == (BrokenOff, True)
        assert type(outcomes([job], "results", workers=workers)[0]) is Run


def test_a_worker_with_another_copy_of_a_list_of_flows_is_refused(work, client, listed, monkeypatch):
    Path("list.csv").write_text("start_us,src,dst,bytes\n0,0,20,1460\n")
    job = Job(fanin.Scenario("flows.toml"), [("run.seed", "1")])
    real = Store.find

    def find(*arguments, **named):
        found = real(*arguments, **named)
        Path("list.csv").write_text("start_us,src,dst,bytes\n0,0,20,1461\n")
        return found

    def run(*_):
        Path("list.csv").write_text("start_us,src,dst,bytes\nnonsense\n")
        raise RunError("list.csv:2: nonsense")

    other = r"has a different copy of /.*/list\.csv \(SHA-256 \w{12}\.\.\., not \w{12}\.\.\.\)"
    with closing(Cluster("tcp://host:8786")) as workers:
        # Named here with one content, and another where it runs.
        with monkeypatch.context() as patched, pytest.raises(ClusterError, match=other):
            patched.setattr(Store, "find", find)
            outcomes([job], "results", workers=workers)
        with monkeypatch.context() as patched, pytest.raises(ClusterError, match=other):
            patched.setattr(Scenario, "run_seeds", run)
            outcomes([job], "results", workers=workers)
    assert (Store("results").made_for(), Store("results").rows("SELECT * FROM failures")) == ({}, [])


def test_a_worker_that_leaves_while_it_is_asked_refuses_nothing(client):
    client.found = {"tcp://one": versions(), "tcp://gone": OSError("timed out")}
    assert Cluster("tcp://host:8786").workers() == {"tcp://one": versions()}
    client.found = {"tcp://one": versions(), "tcp://bare": ModuleNotFoundError("No module named 'fanin'")}
    with pytest.raises(ClusterError, match="worker tcp://bare has no working fanin: No module named 'fanin'"):
        Cluster("tcp://host:8786")


@pytest.mark.parametrize(
    "late", [Versions("9.9", "9.9+abc"), ModuleNotFoundError("No module named 'fanin'")], ids=["other", "bare"]
)
def test_a_worker_of_another_version_that_joins_later_is_left_out(work, client, late):
    """It had a run before anyone could ask it: another one makes that, and it gets no further one."""
    small = fanin.Scenario("small.toml")
    wanted = [Job(small, [("run.seed", str(seed))]) for seed in (1, 2, 3)]
    wrong = VersionError("worker tcp://late has fanin 9.9") if isinstance(late, Versions) else late
    client.broken = [None, wrong]
    with closing(Cluster("tcp://host:8786")) as workers:
        client.found = {"tcp://one": versions(), "tcp://late": late}
        told = "worker tcp://late has (fanin 9.9|no working fanin).* this worker is left out"
        with pytest.warns(UserWarning, match=told) as warned:
            found = outcomes(wanted, "results", workers=workers)
        assert [type(each) for each in found] == [Run, Run, Run]
        assert len(warned) == 1
        assert client.where[-1] == {"workers": ["tcp://one"], "allow_other_workers": False}
        # Where no other is left, it is an error.
        client.found = {"tcp://late": late}
        client.broken = [wrong]
        with pytest.raises(ClusterError, match="worker tcp://late has"):
            outcomes([Job(small, [("run.seed", "4")])], "results", workers=workers)


@pytest.mark.parametrize("address", ["tcp://", "x:y:z", "tcp://host", "host:", ":8786", "", "tcp://[::1]"])
def test_what_is_no_address_is_told_without_waiting(client, address):
    with pytest.raises(ClusterError, match=r"no address of a scheduler, such as tcp://host:8786"):
        Cluster(address)
    assert client.connections == 0


@pytest.mark.parametrize("address", ["tcp://host:8786", "host:8786", "tls://10.0.0.1:1", "tcp://[fe80::1%eth0]:8786"])
def test_addresses_have_several_forms(client, address):
    Cluster(address)


def test_runs_that_only_workers_may_make_that_have_left_end_the_sweep(work, client):
    small = fanin.Scenario("small.toml")
    works = [PooledRun(Job(small, [("run.seed", "1")]), "name", seed=1)]
    with closing(Cluster("tcp://host:8786")) as workers:
        client.found = {"tcp://one": versions(), "tcp://late": Versions("9.9", "9.9+abc")}
        with pytest.warns(UserWarning, match="left out"):
            workers._count()
        workers.submit(works, None)
        client.found = {"tcp://other": versions()}
        with pytest.raises(ClusterError, match=r"the workers that had runs have left.*run the same command again"):
            workers._count()


def test_memory_is_that_of_the_machine_that_runs(work, client, monkeypatch):
    job = Job(fanin.Scenario("small.toml"), [("run.seed", "1")])
    with monkeypatch.context() as patched, closing(Cluster("tcp://host:8786")) as workers:
        patched.setattr(remote, "available", lambda: 3e6)
        (found,) = outcomes([job], "results", workers=workers)
        assert isinstance(found, BrokenOff)
        assert re.search("does not fit in memory: estimated . MB, available 3 MB", found.error)
        with closing(Cluster("tcp://host:8786", memory=1e9)) as told:
            assert type(outcomes([job], "results", workers=told)[0]) is Run


def test_a_search_connects_once(cli, work, client):
    arguments = ("--over", "traffic.bursts.senders=2..16", "--keep", "timeouts=0", "--seeds", "1..3")
    result = cli("capacity", "small.toml", *arguments, "--cluster", "tcp://host:8786")
    assert (result.code, client.connections) == (0, 1)
    assert 0 < client.sent <= len(stored())


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"-m pip install 'dask\[distributed\]'"):
        Cluster("tcp://127.0.0.1:9")


def test_versions_are_those_of_the_package_and_the_engine():
    assert versions() == Versions(fanin.__version__, fanin.engine_version())
    remote.refuse_others(versions(), versions(), "anybody")

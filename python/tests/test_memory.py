"""The estimate of a run's memory, held against real peaks, and what it is for."""

import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import fanin
from fanin.claims import assessment
from fanin.errors import RunError, WorkerError
from fanin.results import free_memory
from fanin.results.failures import BrokenOff
from fanin.results.runs import Run
from fanin.results.store import Store
from fanin.run import alone, pool, threads
from fanin.run.job import Job, PooledRun
from fanin.run.memory import Estimate, estimate
from fanin.run.pool import outcomes
from fanin.run.remote import task_of
from fanin.run.threads import Threads
from fanin.scenario import library

SESSIONS = """\
[network]
topology = "leaf-spine"
rate = "10Gbps"
[transport]
scheme = "dctcp"
[[traffic]]
name = "web"
kind = "poisson"
load = 0.4
bytes-each = "20KB"
senders = 32
receivers = 32
[run]
duration = "50ms"
"""

PEAK = """\
import sys
from pathlib import Path
import fanin
from fanin.results.frames import decode, parquet_of
import polars

# What Polars takes once.
polars.read_parquet(parquet_of(decode([("a", "u64", bytes(80), bytes(10))])))

def peak():
    # Of this process alone: what getrusage has is that of its parent too.
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))

experiment = fanin.Scenario(sys.argv[1])
settings = [argument.split("=", 1) for argument in sys.argv[2:]]
before = peak()
output = experiment.simulate(settings)
for name in output.table_names:
    parquet_of(decode(output.columns(name)), name)
print(peak() - before)
"""

REAL = (
    SESSIONS.split("[[traffic]]")[0]
    + """\
[[traffic]]
name = "real"
from = "all"
to = "all"
{}
[run]
duration = "50ms"
"""
)

FILES = {
    "sessions.toml": SESSIONS,
    "closed.toml": REAL.format('kind = "sessions"\nconcurrent = 40\nbytes-each = "20KB"'),
    "requests.toml": REAL.format('kind = "requests"\nfan-in = 12\nload = 0.4\nbytes-each = "2KB"'),
    "hadoop.toml": REAL.format('kind = "poisson"\nload = 0.3\nbytes-each = "hadoop"'),
    "rpc.toml": REAL.format('kind = "poisson"\nload = 0.05\nbytes-each = "rpc"'),
    "overload.toml": REAL.format('kind = "poisson"\ninterval = "2us"\nbytes-each = "100KB"').replace("50ms", "10ms"),
    "flows.toml": REAL.format('kind = "flows"\nfile = "flows.csv"'),
}

CASES = {
    "few flows": ("small.toml", "run.duration=100ms"),
    "many flows": ("small.toml", "traffic.bursts.senders=5000", "run.duration=100ms", "network.buffer=1000pkt"),
    "many small ones": ("sessions.toml",),
    "a closed loop": ("closed.toml",),
    # As much as the uplinks carry: with faster ones few of the queries are in progress at a time.
    "queries": ("requests.toml", "network.uplink-rate=10Gbps"),
    "a workload": ("hadoop.toml",),
    "a workload of small flows": ("rpc.toml",),
    "more than the network carries": ("overload.toml",),
    "a list": ("flows.toml",),
    # A run ends with its last finite flow.
    "a trace": ("small.toml", "traffic.bursts.start=4s", "run.duration=5s", "measure.queue-trace=on-change"),
    "bins": ("small.toml", "traffic.bursts.start=4s", "run.duration=5s", "measure.bin=500us"),
    "a capture": ("small.toml", "traffic.bursts.start=4s", "run.duration=5s", "measure.capture=bottleneck"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process's memory is known on Linux")
def test_no_run_takes_much_more_or_much_less_than_estimated(work, case):
    for name, text in FILES.items():
        (work / name).write_text(text)
    rows = (f"{i},{i % 30},{30 + i % 2},1000\n" for i in range(40_000))
    (work / "flows.csv").write_text(f"start_us,src,dst,bytes\n{''.join(rows)}")
    file, *settings = case
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", PEAK, file, *settings]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    peak = int(done.stdout)
    pairs = [tuple(setting.split("=", 1)) for setting in settings]
    experiment = fanin.Scenario(file)
    expected = estimate(experiment.handle(pairs)).bytes()
    # What the allocator has to ask for depends on what was freed before.
    assert peak < 1.5 * expected + 4e6, (peak, expected)
    assert expected < 4 * peak + 8e6, (peak, expected)


def test_finite_work_bounds_what_is_recorded(work):
    fast = {"network.rate": "100Gbps", "measure.queue-trace": "on-change", "measure.probes": "cwnd"}
    text = SESSIONS.split("[[traffic]]")[0]
    Path("short.toml").write_text(f'{text}[[traffic]]\nkind = "incast"\nsenders = 24\nbytes-each = "64KB"\n')
    experiment = fanin.Scenario("short.toml")

    def needed(**more):
        given = fast | {path.replace("_", "."): value for path, value in more.items()}
        return estimate(experiment.handle(given)).bytes()

    # 24 transfers of 44 packets, although 100 Gbit/s would carry 250 million in 30 s.
    assert needed() == needed(run_duration="300s") < 20e6
    assert needed() < needed(measure_queues="all") < 40e6
    Path("endless.toml").write_text(Path("short.toml").read_text() + '[[traffic]]\nkind = "background"\nflows = 1\n')
    endless = fanin.Scenario("endless.toml")
    assert estimate(endless.handle(fast)).bytes() > 30e9


def test_every_shipped_experiment_has_an_estimate():
    for name in library.experiments():
        experiment = fanin.Scenario(name)
        if experiment.needs_network:
            assert 1e6 < estimate(experiment.handle()).bytes() < 4e9, name


def test_what_the_first_run_of_a_kind_had_tells_about_the_others():
    loose = Estimate(flows=1e6, rest=1e6, per_flow=2200.0)
    assert loose.bytes() == 1e6 + 1e6 * 2200.0
    assert loose.bytes(100) == pytest.approx(1e6 + 125 * 2200.0)
    # Never more than the scenario allows.
    assert loose.bytes(1e6) == loose.bytes()


def test_of_flows_that_are_over_a_row_remains():
    few = Estimate(flows=1e6, rest=1e6, at_once=1000, per_flow=2200.0, per_finished=450.0)
    assert few.bytes() == 1e6 + 1000 * 2200.0 + (1e6 - 1000) * 450.0


@pytest.mark.parametrize(
    ("size", "mean"),
    [
        ("64KB", 64e3),
        ("1MB 50%, 4MB 50%", 2.5e6),
        ("cdf 2KB 0%, 98KB 100%", 50e3),
        ("web-search", pytest.approx(1.48e6, rel=0.01)),
    ],
)
def test_the_engine_tells_mean_sizes(work, size, mean):
    groups = fanin.Scenario("small.toml").preview({"traffic.bursts.bytes-each": size})["groups"]
    group = next(group for group in groups if group["name"] == "bursts")
    assert group["mean_bytes"] == mean
    assert group["offered"] is None


def test_the_engine_tells_what_is_laid_out(work):
    (work / "sessions.toml").write_text(SESSIONS)
    preview = fanin.Scenario("sessions.toml").preview({"transport.rto-min": "1ms"})
    # Four leaves of 16 hosts, and two spines.
    assert (preview["hosts"], preview["switches"], preview["ports"]) == (64, 6, 64 + 2 * 8)
    # Every port has its own buffer, or shares the memory of its switch.
    assert preview["buffered"] == (64 + 2 * 8) * 130
    shared = {"network.admission": "dynamic-threshold", "network.shared-buffer": "1500KB"}
    assert fanin.Scenario("sessions.toml").preview(shared)["buffered"] == 6 * 1000
    (group,) = preview["groups"]
    # 40 % of 32 links of 10 Gbps for 50 ms, and five deviations more.
    likely = 0.4 * 32 * 10e9 * 50e-3 / 8 / 20e3
    assert group["flows"] == pytest.approx(likely + 5 * likely**0.5 + 1)
    assert group["at_once"] < group["flows"]


def work_of(size: float) -> PooledRun:
    return PooledRun(Job(None, []), "", Estimate(0, size))


def test_runs_wait_for_memory_but_one_always_goes():
    workers = Threads(4, memory=100.0)
    workers._needed = lambda work: work.memory.rest
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert workers.has_room([], work_of(1000))
        assert workers.has_room([work_of(60)], work_of(40))
        assert not workers.has_room([work_of(60)], work_of(41))
        assert not workers.has_room([work_of(1)] * 4, work_of(1))
    assert len(told) == 1
    assert "fewer runs in parallel" in str(told[0].message)
    workers.close()


def test_a_sweep_without_memory_ends_all_the_same(work, monkeypatch):
    small = fanin.Scenario("small.toml")
    wanted = [Job(small, [("run.seed", str(seed))]) for seed in range(4)]
    monkeypatch.setattr(threads, "SHARE", 1e-12)
    with pytest.warns(UserWarning, match="fewer runs in parallel"):
        found = outcomes(wanted, "results", workers=Threads(4))
    # Each in a process of its own, with the same results.
    assert [run.summary["result_hash"] for run in found] == [
        small.run(seed=seed).summary["result_hash"] for seed in range(4)
    ]
    assert not list(Path("results").glob(".tmp*"))


def test_a_run_that_does_not_fit_costs_only_itself(work, monkeypatch):
    small = fanin.Scenario("small.toml")
    fits, large = Job(small, [("run.seed", "7")]), Job(small, [("traffic.bursts.senders", "3")])
    monkeypatch.setattr(pool, "_estimate", lambda job: Estimate(0, 1e12 if job.settings == large.settings else 0))
    monkeypatch.setattr(threads, "available", lambda: 1e9)
    with pytest.warns(UserWarning, match="fewer runs in parallel"):
        found = outcomes([large, fits], "results", workers=Threads(2))
    assert isinstance(found[0], BrokenOff)
    assert "does not fit in memory: estimated 1000.0 GB, available 1.0 GB" in found[0].error
    assert found[1].summary["flows"] > 0
    # Not recorded: a machine with more memory, or this one later, runs it.
    assert Store("results").rows("SELECT * FROM failures") == []


NARROW = """
[[claim]]
id = "of-few"
says = "Something arrives from a few."
measure = "max"
x = "traffic.bursts.senders"
between = [2, 8]
y = "goodput_bps"
where = { "transport.scheme" = "dctcp" }
published = 9e8
accept = [1.0, 1e9]
why = "more than nothing, and no more than the link carries"
"""

LIMITED = """\
import resource
resource.setrlimit(resource.RLIMIT_AS, (100 << 20, 100 << 20))
"""
"""What limits the memory of every process that starts with it."""


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux")
def test_memory_that_runs_out_in_a_run_costs_only_that_run(work, monkeypatch):
    """The engine cannot go on after an allocation that failed, so the large run has a process of its own."""
    (work / "sitecustomize.py").write_text(LIMITED)
    monkeypatch.syspath_prepend(str(work))
    small = fanin.Scenario("small.toml")
    large = Job(small, [("traffic.bursts.senders", "60000"), ("run.duration", "1ms")])
    wanted = [large, Job(small, [("run.seed", "7")]), Job(small, [("run.seed", "8")])]
    # As much as the large run needs, of which the others are a small part.
    found = outcomes(wanted, "results", workers=Threads(1, memory=1e9))
    assert [type(each) for each in found] == [BrokenOff, Run, Run]
    assert found[0].error.startswith("out of memory (SIGABRT: memory allocation of ")
    assert (Store("results").failure(found[0].run_id), [*Path("results").glob(".tmp*")]) == (None, [])
    # With memory, the same command makes it.
    (work / "sitecustomize.py").unlink()
    assert type(outcomes(wanted, "results", workers=Threads(1, memory=1e9))[0]) is Run


def test_a_run_in_a_process_of_its_own_can_fail_and_be_stopped(work, monkeypatch):
    job = Job(fanin.Scenario("small.toml"), [("run.seed", "1")])
    task = task_of([PooledRun(job, "")], None)
    with pytest.raises(RunError, match="stopped"):
        alone.simulate(task, work, lambda: True)
    with pytest.raises(RunError, match="must be"):
        alone.simulate(
            replace(task, scenario=task.scenario.with_changes({"network.rate": "0bps"})), work, lambda: False
        )
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(WorkerError, match=r"the process of the run died \(exit code 1\)"):
        alone.simulate(task, work, lambda: False)


def test_a_reproduction_goes_on_without_the_runs_that_do_not_fit(cli, work, monkeypatch):
    def needed(job):
        return Estimate(0, 1e12 if ("traffic.bursts.senders", "24") in job.settings else 0)

    monkeypatch.setattr(pool, "_estimate", needed)
    text = (work / "small.toml").read_text() + NARROW
    (work / "small.toml").write_text(text)
    result = cli("reproduce", "small.toml", "--memory", "1GB", "--jobs", "1", "--json")
    assert result.code == 1
    assert (
        "small: no run with transport.scheme = dctcp, traffic.bursts.senders = 24, seed = 3: the run does" in result.err
    )
    assert result.err.endswith("error: 6 of 18 runs could not be made; the same command tries them again\n")
    said = json.loads(result.out)
    (done,) = said["experiments"]
    assert (done["runs"], len(said["missing"]), done["plots"][0]["series"] != []) == (12, 6, True)
    # A claim that needs one of them has no verdict, even if the others would be enough for a number.
    outcomes = {each["id"]: (each["outcome"], each["reason"]) for each in done["claims"]}
    assert outcomes["some-goodput"] == ("not judged", "not judged: 3 of the runs for this claim could not be made here")
    assert outcomes["of-few"][0] == "reproduced"
    assert assessment.of_results("small", work / "results")[0].state == "partial"
    with pytest.raises(WorkerError, match=r"6 of 18 runs are missing: no run with .*does not fit in memory"):
        fanin.sweep(fanin.Scenario("small.toml"), memory=1e9, jobs=1)
    # Where there is room, the same command makes them and only them.
    monkeypatch.undo()
    monkeypatch.chdir(work)
    again = cli("reproduce", "small.toml", "--jobs", "1")
    assert (again.code, "12 found in the store" in again.err, "no run with" in again.err) == (0, True, False)


def test_an_experiment_none_of_whose_runs_fits_is_left_out(cli, work):
    result = cli("reproduce", "small.toml", "--memory", "1MB", "--jobs", "1")
    assert result.code == 1
    assert "error: small: no run with transport.scheme = newreno" in result.err
    assert not Path("results/small").exists()


def test_what_runs_may_take_can_be_stated(cli, work):
    result = cli("run", "small.toml", "--memory", "3MB", "--no-store")
    assert (result.code, "available 3 MB; the estimate is an upper bound" in result.err) == (3, True)
    assert cli("run", "small.toml", "--memory", "100MB", "--no-store").code == 0
    swept = cli("sweep", "small.toml", "--bare", "--seeds", "1..2", "--memory", "3MB")
    assert (swept.code, "2 of 2 runs failed" in swept.err) == (1, True)
    for wrong in ("20", "20s", "-1GB", "many"):
        assert cli("run", "small.toml", "--memory", wrong).code == 2


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux")
def test_the_limit_of_a_process_counts():
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30));"
    show = "from fanin.results import free_memory; print(free_memory._room_of_process())"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", limit + show], capture_output=True, check=True, env=environment)
    assert 2e8 < float(done.stdout) < 2**30


def test_a_list_has_as_many_flows_as_lines(work):
    (work / "flows.toml").write_text(FILES["flows.toml"])
    for text, lines in (("start_s,src,dst,bytes\n0,0,1,5\n1,0,1,5\n", 3), ("start_s,src,dst,bytes\n0,0,1,5", 2)):
        (work / "flows.csv").write_text(text)
        experiment = fanin.Scenario("flows.toml")
        assert experiment.resolved()["traffic"][0]["file-lines"] == lines
        assert estimate(experiment.handle()).flows == lines - 1


def grouped(folder, limits):
    """Control groups with a limit, what is used of it, and what of that can be freed."""
    for path, (limit, used, freed) in limits.items():
        group = folder / path
        group.mkdir(parents=True, exist_ok=True)
        names = ("memory.max", "memory.current", "inactive_file")
        if path.split("/")[0] == "memory":
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        for name, value in zip(names[:2], (limit, used), strict=True):
            (group / name).write_text(f"{value}\n")
        (group / "memory.stat").write_text(f"anon 1\n{names[2]} {freed}\n")


@pytest.mark.parametrize(
    ("membership", "limits", "room"),
    [
        # A job of Slurm or systemd: its own limit, not the machine's; files that nobody uses do not count.
        ("0::/slice/job", {"slice/job": (1000, 900, 300), "slice": ("max", 5000, 0)}, 400),
        ("0::/slice/job", {"slice/job": (1000, 100, 0), "slice": (2000, 1900, 0)}, 100),
        ("0::/", {".": (500, 100, 0)}, 400),
        ("0::/slice/job", {"slice/job": ("max", 100, 0)}, None),
        ("4:cpu,memory:/a/b\n0::/", {"memory/a/b": (700, 200, 0), "memory": (2**63, 300, 0)}, 500),
        # Only the container's own part of the tree is mounted, at its root.
        ("4:memory:/docker/1", {"memory": (700, 200, 0)}, 500),
        ("4:memory:/a\n0::/../x", {"unified": (900, 100, 0), "memory/a": (1000, 950, 0)}, 50),
    ],
)
def test_the_limits_of_the_own_control_group_hold_and_those_around_it(tmp_path, membership, limits, room):
    (tmp_path / "cgroup").write_text(f"{membership}\n")
    grouped(tmp_path / "sys", limits)
    assert free_memory._room_of_container(tmp_path / "cgroup", tmp_path / "sys") == room


def test_a_job_has_the_memory_that_slurm_gave_it(monkeypatch):
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "100")
    assert free_memory.available() == 100 * 2**20
    # All of the machine's.
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "0")
    assert free_memory.available() > 100 * 2**20


def test_this_machine_has_memory():
    assert 1e7 < free_memory.available() < 1e15
    assert free_memory.shown(2.5e9) == "2.5 GB"
    assert free_memory.shown(12e6) == "12 MB"

"""The order of runs, and that equal ones are simulated once."""

import random
import shutil
import warnings
from contextlib import closing
from types import SimpleNamespace

import pytest
from patches import before_runs, stored

import fanin
from fanin.cli import terminal
from fanin.errors import RunError
from fanin.results import store
from fanin.results.failures import BrokenOff, Failure, NotBegun
from fanin.results.runs import Run
from fanin.run import pool, waiting
from fanin.run.job import Job, PooledRun, Progress
from fanin.run.laboratory import Laboratory
from fanin.run.pool import outcomes, run_jobs
from fanin.run.threads import Threads
from fanin.run.waiting import CHUNK_S, Waiting


def job(experiment, senders, seed):
    return Job(experiment, [("traffic.bursts.senders", str(senders)), ("run.seed", str(seed))])


def test_one_of_each_kind_goes_first_and_then_the_longest(work):
    small = fanin.Scenario("small.toml")
    jobs = [job(small, senders, seed) for senders in (1, 2, 3) for seed in (1, 2, 3)]
    queue = Waiting([PooledRun(each, str(index)) for index, each in enumerate(jobs)])
    assert queue.seconds() is None
    first = [queue.pop() for _ in range(3)]
    assert {work.job.kind for work in first} == {each.kind for each in jobs}
    for work, seconds in zip(first, (1.0, 5.0, 3.0), strict=True):
        queue.learn(work.job.kind, seconds)
    assert queue.seconds() == 18.0
    rest = [queue.pop().job.kind for _ in range(6)]
    order = sorted(zip((1.0, 5.0, 3.0), first, strict=True), key=lambda pair: -pair[0])
    assert rest == [work.job.kind for _, work in order for _ in range(2)]
    assert queue.pop() is None


def test_runs_that_are_known_to_be_short_go_together_and_a_failure_parts_them(work):
    small = fanin.Scenario("small.toml")
    queue = Waiting([PooledRun(job(small, 2, seed), str(seed), seed=seed) for seed in range(1, 9)])
    first = queue.pop()
    assert (first.seed, queue.take_along(first)) == (1, [])
    queue.learn(first.job.kind, CHUNK_S / 4)
    works = [queue.pop()]
    works += queue.take_along(works[0])
    assert [each.seed for each in works] == [2, 3, 4, 5]
    assert queue.seconds() == pytest.approx(3 * CHUNK_S / 4)
    # Those for which there was no time wait again.
    queue.give_back(works[1:])
    assert queue.seconds() == pytest.approx(6 * CHUNK_S / 4)
    works = [queue.pop()]
    works += queue.take_along(works[0])
    assert [each.seed for each in works] == [3, 4, 5, 6]
    queue.give_back(works, alone=True)
    assert [(each.seed, queue.take_along(each)) for each in (queue.pop() for _ in range(4))] == [
        (seed, []) for seed in (3, 4, 5, 6)
    ]
    long = queue.pop()
    queue.learn(long.job.kind, CHUNK_S)
    assert (long.seed, queue.take_along(long)) == (7, [])


def test_runs_of_two_experiments_or_lists_do_not_go_together(work):
    small = fanin.Scenario("small.toml")
    shutil.copy("small.toml", "other.toml")
    one, other = (PooledRun(job(each, 2, 1), "") for each in (small, fanin.Scenario("other.toml")))
    assert one.joins(PooledRun(job(small, 2, 2), ""))
    assert not one.joins(other)
    assert not one.joins(PooledRun(job(small, 3, 1), ""))
    assert not one.joins(PooledRun(job(small, 2, 2), "", files={"list.csv": "0" * 64}))
    assert not one.joins(PooledRun(job(fanin.Scenario("small.toml").set({"network.delay": "1us"}), 2, 2), ""))


def test_a_failed_run_among_short_ones_fails_alone(work, monkeypatch):
    small = fanin.Scenario("small.toml")
    wanted = [job(small, 2, seed) for seed in range(1, 9)]
    calls = []

    def look(settings):
        calls.append(dict(settings)["run.seed"])
        if ("run.seed", "5") in settings:
            raise RunError("a packet is missing")

    monkeypatch.setattr(waiting, "CHUNK_S", 1e9)
    before_runs(monkeypatch, look)
    found = outcomes(wanted, "results", jobs=1)
    assert [type(each) for each in found] == [Failure if seed == 5 else Run for seed in range(1, 9)]
    # Together as far as the one that fails, and each alone after that.
    assert calls == [*"12345", *"2345678"]


def test_runs_under_way_and_put_back_take_time_too(work):
    small = fanin.Scenario("small.toml")
    queue = Waiting([PooledRun(job(small, 2, seed), str(seed)) for seed in (1, 2, 3)])
    kind = queue.pop().job.kind
    queue.learn(kind, 10.0)
    queue.put_back(queue.pop())
    assert queue.seconds() == 20.0
    assert queue.rest(kind, 4.0) == 6.0
    # One that is overdue ends some time, but not now.
    assert queue.rest(kind, 20.0) == 5.0


def test_what_is_learned_of_thousands_of_kinds_adds_up_and_the_longest_goes_first():
    draw = random.Random(1)
    waiting = {f"kind {number}": draw.randint(1, 4) for number in range(40)}
    works = [PooledRun(SimpleNamespace(kind=(kind,)), kind) for kind, count in waiting.items() for _ in range(count)]
    queue, known = Waiting(works), {}
    while (work := queue.pop()) is not None:
        kind = work.name
        rivals = [known[other] for other, count in waiting.items() if count and other in known]
        if all(other in known for other, count in waiting.items() if count):
            assert known[kind] == max(rivals)
        waiting[kind] -= 1
        known[kind] = draw.random()
        queue.learn((kind,), known[kind])
        usual = sum(known.values()) / len(known)
        left = sum(count * known.get(kind, usual) for kind, count in waiting.items())
        assert queue.seconds() == pytest.approx(left, abs=1e-9)
    assert len(known) == 40
    assert not any(waiting.values())


def test_while_a_long_run_goes_on_its_time_is_left(work, monkeypatch):
    now, waits = [100.0], iter([True, False, False, False, True])
    real = pool.wait

    def wait(running, **_):
        # Either the run has ended, or nothing has for two seconds.
        if next(waits):
            return real(running)
        now[0] += 2.0
        return set(), set(running)

    monkeypatch.setattr(pool, "wait", wait)
    monkeypatch.setattr(pool.time, "monotonic", lambda: now[0])
    told = []
    small = fanin.Scenario("small.toml")
    run_jobs([job(small, 2, 1), job(small, 2, 2)], None, jobs=1, advance=told.append)
    waiting = [each for each in told if each.done == 1]
    assert len(waiting) == 4
    # It is overdue: the longer it takes, the longer it goes on.
    assert [each.left for each in waiting[1:]] == pytest.approx([0.5, 1.0, 1.5])


def test_batches_of_a_search_have_workers_that_remember(work, monkeypatch):
    """What the first batch told of the flows of a kind holds for the second, and a warning is not repeated."""
    small = fanin.Scenario("small.toml")
    with closing(Threads(2)) as workers:
        # So that runs wait for each other, although each of them fits into what is free.
        monkeypatch.setattr(workers, "_memory", 1.0)
        laboratory = Laboratory(small, None, workers=workers)
        with pytest.warns(UserWarning, match="estimated memory per run"):
            laboratory.cases([({"traffic.bursts.senders": 2}, (1, 2))])
        assert len(workers._needs._flows) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            laboratory.cases([({"traffic.bursts.senders": 3}, (1, 2))])
        assert len(workers._needs._flows) == 2


def test_the_rate_is_of_what_was_not_found(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    counter = terminal.Counter("runs")
    now[0] = 190.0
    counter.advance(Progress(45, 70, found=45, running=2))
    now[0] = 210.0
    counter.advance(Progress(55, 70, left=0.2, simulated=3, found=45, running=2))
    now[0] = 200.0 + 90.0
    counter.advance(Progress(70, 70, simulated=8, found=45))
    counter.advance(Progress(80, 80, simulated=8, found=45, what="round 2"))
    assert capsys.readouterr().err.splitlines() == [
        "runs: 45 of 70, 45 found in the store",
        "runs: 55 of 70, 45 found in the store, 0.5/s, about 1 s left",
        "runs: 70 of 70, 45 found in the store, 0.25/s",
        "runs: 80 done, 45 found in the store, 0.35/s, round 2",
    ]


def test_equal_jobs_are_one_run_and_are_told(work):
    small = fanin.Scenario("small.toml")
    told = []
    found = run_jobs([job(small, 2, 1)] * 3 + [job(small, 3, 1)], None, advance=told.append)
    assert found[0] is found[1] is found[2]
    assert found[3].run_id != found[0].run_id
    assert (told[-1].done, told[-1].total, told[-1].simulated) == (4, 4, 2)
    assert [each.simulated for each in told if each.simulated] == sorted({1, 2})
    assert (told[0].done, told[0].running > 0) == (0, True)


def test_a_run_that_lacks_a_table_is_made_again_with_all(work):
    small = fanin.Scenario("small.toml")
    wanted = [Job(small, [("run.seed", "1")], frozenset(tables)) for tables in (["flows"], ["links"], ["flows"])]
    found = [run_jobs([each], "results")[0] for each in wanted]
    assert [run.stored.tables for run in found] == [["flows"], ["flows", "links"], ["flows", "links"]]


def failing(monkeypatch, senders):
    """Runs of so many senders break an invariant; everything else is simulated."""

    def look(settings):
        if ("traffic.bursts.senders", str(senders)) in settings:
            raise RunError("a packet is missing")

    before_runs(monkeypatch, look)


def test_a_run_that_fails_is_recorded_and_the_others_go_on(work, monkeypatch):
    small = fanin.Scenario("small.toml")
    wanted = [job(small, senders, 1) for senders in (2, 3, 4)]
    with monkeypatch.context() as patched:
        failing(patched, 3)
        told = []
        found = outcomes(wanted, "results", advance=told.append)
        assert [type(each) for each in found] == [Run, Failure, Run]
        assert (told[-1].done, told[-1].failed) == (3, 1)
    failure = found[1]
    assert (failure.seed, failure.error) == (1, "a packet is missing")
    assert failure.scenario["traffic"][1]["senders"] == 3
    # It would fail again, so that it is tried again only when that is asked for.
    again = outcomes(wanted, "results")
    assert again[1].error == failure.error
    assert again[1].settings == wanted[1].settings
    tried = outcomes(wanted, "results", again=True)
    assert [type(each) for each in tried] == [Run, Run, Run]
    assert type(outcomes(wanted, "results")[1]) is Run


def test_a_sweep_of_a_paper_stops_at_a_run_that_fails(work, monkeypatch):
    small = fanin.Scenario("small.toml")
    failing(monkeypatch, 3)
    with pytest.raises(RunError, match=r"^small with traffic.bursts.senders=3 run.seed=1: a packet is missing"):
        run_jobs([job(small, senders, 1) for senders in (2, 3, 4)], "results")


def test_a_run_of_a_paper_that_runs_out_of_memory_costs_only_itself(work, monkeypatch):
    def hungry(*_):
        raise MemoryError

    before_runs(monkeypatch, hungry)
    (found,) = run_jobs([job(fanin.Scenario("small.toml"), 2, 1)], "results")
    assert isinstance(found, BrokenOff)
    assert "not enough memory; the next command retries it" in found.error


def test_what_is_not_the_run_s_fault_stops_everything(work, monkeypatch):
    def full(*_):
        raise fanin.ResultsError("no space is left; free some space")

    small = fanin.Scenario("small.toml")
    with monkeypatch.context() as patched:
        patched.setattr(store.Store, "_write", full)
        with pytest.raises(fanin.ResultsError, match="free some space"):
            outcomes([job(small, senders, 1) for senders in (2, 3)], "results")
    assert stored() == {}
    assert all(type(each) is Run for each in outcomes([job(small, 2, 1)], "results"))


def test_an_engine_that_breaks_off_spoils_one_run_only(work, monkeypatch):
    class PanicException(BaseException):
        """What the binding raises, under its name."""

    def look(settings):
        if ("traffic.bursts.senders", "3") in settings:
            raise PanicException("index out of bounds")

    before_runs(monkeypatch, look)
    small = fanin.Scenario("small.toml")
    found = outcomes([job(small, senders, 1) for senders in (2, 3, 4)], "results")
    assert [type(each) for each in found] == [Run, Failure, Run]
    assert found[1].error == "the engine crashed: index out of bounds"


def test_no_run_begins_where_no_time_is_left_but_the_first(work):
    small = fanin.Scenario("small.toml")
    told = []
    wanted = [job(small, senders, 1) for senders in (2, 3, 4)]
    found = outcomes(wanted, "results", jobs=1, advance=told.append, go_on=lambda: False)
    assert [type(each) for each in found] == [Run, NotBegun, NotBegun]
    # What is in the store needs no time, and what did not begin is no failure.
    again = outcomes(wanted[::-1], "results", jobs=1, go_on=lambda: False)
    assert [type(each) for each in again] == [NotBegun, NotBegun, Run]
    laboratory = Laboratory(small, "results", advance=told.append, go_on=lambda: False)
    (case,) = laboratory.cases([({"traffic.bursts.senders": 2}, [1, 2, 3])])
    assert ([row["seed"] for row in case.rows], case.failures, case.left_out) == ([1], [], 2)
    assert (told[-1].done, told[-1].total, told[-1].failed) == (1, 1, 0)


def test_a_long_reading_says_how_far_it_is(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    advance = terminal.reading("experiments read")
    for done in range(4):
        advance(done, 4)
        now[0] += 30.0 if done == 1 else 0.1
    assert capsys.readouterr().err.splitlines() == ["experiments read: 2 of 4"]


def test_cases_are_derived_once_and_anew_for_a_copy_with_other_claims(work):
    document = fanin.Scenario("small.toml").document
    assert [case.id for case in document.cases] == ["some-goodput"]
    assert document.cases is document.cases
    other = document.claim[0].model_copy(update={"id": "other"})
    assert [case.id for case in document.model_copy(update={"claim": [other]}).cases] == ["other"]
    assert document.model_copy(update={"claim": []}).cases == ()

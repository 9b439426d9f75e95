"""The order of runs, and that equal ones are simulated once."""

import fanin
from fanin.pool import Job, _Queue, _Work, run_jobs


def job(experiment, senders, seed):
    return Job(experiment, [("traffic.bursts.senders", str(senders)), ("run.seed", str(seed))])


def test_one_of_each_kind_goes_first_and_then_the_longest(work):
    small = fanin.load("small.toml")
    jobs = [job(small, senders, seed) for senders in (1, 2, 3) for seed in (1, 2, 3)]
    queue = _Queue([_Work(each, str(index)) for index, each in enumerate(jobs)])
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


def test_equal_jobs_are_one_run_and_are_told(work):
    small = fanin.load("small.toml")
    told = []
    found = run_jobs([job(small, 2, 1)] * 3 + [job(small, 3, 1)], None, advance=lambda *args: told.append(args))
    assert found[0] is found[1] is found[2]
    assert found[3].run_id != found[0].run_id
    assert [done for done, *_ in told][-1] == 4
    assert len(told) == 2


def test_a_run_that_lacks_a_table_is_made_again_with_all(work):
    small = fanin.load("small.toml")
    wanted = [Job(small, [("run.seed", "1")], frozenset(tables)) for tables in (["flows"], ["links"], ["flows"])]
    found = [run_jobs([each], "results")[0] for each in wanted]
    assert [run.stored.tables for run in found] == [["flows"], ["flows", "links"], ["flows", "links"]]

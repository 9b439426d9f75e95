"""A run that Python drives, as a simulation and as an environment of gymnasium."""

import importlib.util
import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import SCENARIO
from test_observed import racks  # noqa: F401 - a fixture

import fanin

THRESHOLD = "scheme.dctcp.mark-threshold"
FAULT = '\n[[fault]]\nname = "cut"\nkind = "link-down"\nqueued = "drop"\nat = "1s"\n'


@pytest.fixture
def small(work):
    values = {"transport.scheme": "dctcp", THRESHOLD: "8pkt", "traffic.bursts.senders": 12}
    return fanin.Scenario(SCENARIO + FAULT).set(values)


def driven(scenario, slices, seed=1):
    simulation = scenario.start(seed)
    while not simulation.done:
        simulation.step(next(slices))
        simulation.observe()
    return simulation.result()


def same(one, other):
    """Whether two runs are the same, but for the time that they took."""
    found = [{**run.summary, "wall_s": None} for run in (one, other)]
    return one.run_id == other.run_id and found[0] == found[1] and one.flows().equals(other.flows())


@pytest.mark.parametrize("slices", [["100us"], [0.0031], ["1us", "7ms", 1e-5]])
def test_in_slices_it_is_the_run(small, slices):
    whole = small.run(seed=1)
    assert same(whole, driven(small, iter(slices * 10_000)))
    assert not same(whole, small.run(seed=2))


def test_of_a_bottleneck_that_moved_the_same_is_told(racks):  # noqa: F811
    scenario = fanin.Scenario("racks.toml")
    with pytest.warns(fanin.ScenarioWarning) as of_run:
        whole = scenario.run(seed=1)
    with pytest.warns(fanin.ScenarioWarning) as of_steps:
        pieces = driven(scenario, iter([0.001] * 10_000))
    assert same(whole, pieces)
    assert {str(each.message) for each in of_steps} <= {str(each.message) for each in of_run}
    assert any("bottleneck" in str(each.message) for each in of_steps)
    assert {each.filename for each in (*of_run, *of_steps)} == {__file__}


def test_a_result_simulates_what_is_left_once(small):
    simulation = small.start(1)
    simulation.step("20ms")
    assert simulation.now == 0.02
    assert not simulation.done
    run = simulation.result()
    assert same(run, small.run(seed=1))
    assert simulation.result() is run
    assert simulation.done
    with pytest.raises(fanin.RunError, match="its result was taken"):
        simulation.step("1ms")


def test_observations_name_what_they_show(small):
    simulation = small.start(1)
    simulation.step("8ms")
    first = simulation.observe()
    assert simulation.observe() is first
    assert first.ports == tuple(link["name"] for link in small.network()["links"])
    assert first.groups == ("background", "bursts")
    assert (first.now, first.interval) == (0.008, 0.008)
    of_ports = (first.queue_packets, first.queue_bytes, first.sent_bytes, first.marks, first.drops)
    assert {each.shape for each in of_ports} == {(len(first.ports),)}
    of_flows = (first.flow, first.flow_group, first.cwnd_bytes, first.in_flight_bytes, first.srtt_s)
    assert {each.shape for each in of_flows} == {(len(first.flow),)}
    assert np.all(np.diff(first.flow) > 0)
    assert first.flow_group[0] == 0
    assert np.all(first.flow_group[1:] == 1)
    assert first.cwnd_bytes.min() >= 1460
    port = first.ports.index(simulation.bottleneck)
    assert first.queue_bytes[port] > 1000 * first.queue_packets[port] > 0
    assert first.sent_bytes[port] == pytest.approx(1e9 * 0.008 / 8, rel=0.2)
    with pytest.raises(ValueError, match="read-only"):
        first.marks[0] = 1
    simulation.step(0.001)
    second = simulation.observe()
    assert second.ports is first.ports
    assert second.interval == pytest.approx(0.001)
    assert second.sent_bytes.max() <= 1e9 * 0.001 / 8 + 1500
    assert repr(second) == f"<Observation at 0.009 s: {len(first.ports)} ports, {len(second.flow)} flows under way>"


def test_what_is_set_acts_from_then_on_and_makes_another_run(small):
    plain, runs = small.run(seed=1), []
    for at in (1e-5, 0.007, 0.007):
        simulation = small.start(1)
        simulation.step(at)
        simulation.set(THRESHOLD, "500pkt")
        runs.append(simulation.result())
    early, late, again = runs
    assert early.summary["marks"] == 0 < late.summary["marks"] < plain.summary["marks"]
    assert len({run.run_id for run in (plain, *runs)}) == 3
    assert same(late, again)
    assert late.scenario["set"] == [[0.007, THRESHOLD, "500pkt"]]


def test_a_fault_begins_and_ends_when_it_is_told_to(small):
    simulation = small.start(1)
    simulation.step("20ms")
    simulation.set("fault.cut", True)
    simulation.step("1ms")
    simulation.observe()
    simulation.step("1ms")
    port = simulation.observe().ports.index(simulation.bottleneck)
    assert simulation.observe().sent_bytes[port] == simulation.observe().queue_packets[port] == 0
    simulation.set("fault.cut", False)
    simulation.step("100ms")
    assert simulation.observe().sent_bytes[port] > 0
    with pytest.raises(fanin.ScenarioError, match="is True or False"):
        simulation.set("fault.cut", "1s")


def test_what_cannot_be_set_is_refused_with_what_can(small):
    simulation = small.start()
    for path in ("network.buffer", "scheme.dctcp.mark-treshold", "fault.other"):
        with pytest.raises(fanin.ScenarioError, match=f"{path}: cannot change .*{THRESHOLD}.*fault.cut$"):
            simulation.set(path, True)
    with pytest.raises(fanin.ScenarioError, match='"5ms" is a time'):
        simulation.set(THRESHOLD, "5ms")
    assert simulation.result().run_id == small.run().run_id, "nothing was set"


@pytest.mark.parametrize("time", ["5pkt", "soon", 0, -1e-3, float("nan")])
def test_a_step_is_a_time_above_zero(small, time):
    with pytest.raises(ValueError, match="is no time above zero"):
        small.start().step(time)


def test_only_the_simulator_runs_in_steps(work):
    kernel = fanin.Scenario(SCENARIO).set({"transport.scheme": "linux-dctcp", "run.backend": "linux"})
    with pytest.raises(fanin.ScenarioError, match="only the simulator runs in steps"):
        kernel.start()


def test_simulations_step_on_threads_as_alone(small):
    wanted = [small.run(seed=seed) for seed in range(1, 5)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: driven(small, iter([1e-4] * 10_000), seed), range(1, 5)))
    assert all(same(one, other) for one, other in zip(wanted, found, strict=True))


@pytest.fixture
def environment(small):
    pytest.importorskip("gymnasium")
    # Submodules of a package are imported by their users.
    import fanin.env

    # More rounds than there is time for.
    values = {"run.duration": "30ms", "traffic.bursts.bytes-each": "20KB", "traffic.bursts.rounds": 1000}
    short = small.set(values)

    def make(act=THRESHOLD, values=("1pkt", "60pkt"), **options):
        return fanin.env.make(short, act=act, values=values, **{"every": "1ms", **options})

    make.scenario = short
    return make


def test_an_environment_is_one_of_gymnasium(environment):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        # It recommends other bounds than a threshold and a queue have.
        warnings.filterwarnings("ignore", message=".*(Box action|Box observation)", category=UserWarning)
        check_env(environment(), skip_render_check=True)
        check_env(environment(values=["1pkt", "20pkt"]), skip_render_check=True)


def episode(env, action, **reset):
    seen, info = env.reset(**reset)
    found, over = [seen], False
    while not over:
        seen, reward, ended, cut, more = env.step(action)
        found.append((seen, reward, ended, cut, more["value"]))
        over = ended or cut
    return info["seed"], found


def test_actions_are_values_and_rewards_are_of_observations(environment):
    env = environment(reward=lambda seen: seen.now, observe=["queue_packets", "delivered_bytes", lambda seen: [1, 2]])
    assert env.names == ["queue_packets[0]", "delivered_bytes[0]", "delivered_bytes[1]", "<lambda>[0]", "<lambda>[1]"]
    seed, (first, *steps) = episode(env, np.array([7.4]), options={"seed": 5})
    assert seed == 5
    assert first.tolist() == [0, 0, 0, 1, 2]
    assert [reward for _, reward, *_ in steps] == pytest.approx([0.001 * i for i in range(1, 31)])
    assert [(ended, cut) for _, _, ended, cut, _ in steps[-2:]] == [(False, False), (False, True)]
    assert {value for *_, value in steps} == {"7pkt"}
    of_seven = driven(environment.scenario.set(THRESHOLD, "7pkt"), iter(["1ms"] * 100), 5)
    assert env.simulation.result().summary["result_hash"] == of_seven.summary["result_hash"]
    chosen = environment(values=["1pkt", "20pkt"])
    assert episode(chosen, 1, seed=1)[1][1][-1] == "20pkt"


def test_seeds_draw_the_runs(environment):
    env = environment(seeds=range(100, 103))
    drawn = [env.reset(seed=7)[1]["seed"], *(env.reset()[1]["seed"] for _ in range(20))]
    assert set(drawn) == {100, 101, 102}
    assert drawn == [env.reset(seed=7)[1]["seed"], *(env.reset()[1]["seed"] for _ in range(20))]


def test_the_usual_reward_adds_up_to_completion_times(environment):
    bursts = {"name": "bursts", "kind": "incast", "senders": 12, "bytes-each": "64KB"}
    scenario = fanin.Scenario(network={"topology": "star"}, transport={"scheme": "dctcp"}, traffic=[bursts])
    env = sys.modules["fanin.env"].make(scenario, act=THRESHOLD, values=["20pkt"], every="10us")
    _, (_, *steps) = episode(env, 0, options={"seed": 1})
    assert steps[-1][2:4] == (True, False), "all data have arrived"
    total = env.simulation.result().flows()["fct_s"].sum()
    assert -sum(reward for _, reward, *_ in steps) == pytest.approx(total, rel=0.05)


def test_what_an_environment_cannot_show_is_refused(environment):
    for options, message in (
        ({"observe": ["cwnd_bytes"]}, "'cwnd_bytes' is none of queue_packets"),
        ({"ports": ["nowhere"]}, "no port nowhere; there are "),
        ({"values": ("1pkt", "60KB")}, "have different units"),
        ({"every": "1pkt"}, "is no time above zero"),
    ):
        with pytest.raises(ValueError, match=message):
            environment(**options)


def test_environments_step_together_as_alone(environment):
    make_vector = sys.modules["fanin.env"].make_vector
    together = make_vector(environment.scenario, 3, act=THRESHOLD, values=("1pkt", "60pkt"), every="1ms", threads=2)
    alone = [environment() for _ in range(3)]
    seen, _ = together.reset(seed=4)
    assert np.array_equal(seen, [env.reset(seed=4 + i)[0] for i, env in enumerate(alone)])
    actions = np.array([[3], [20], [50]], dtype=np.float32)
    # The 31st step of each begins another run.
    for _ in range(30):
        seen, rewards, _, cut, _ = together.step(actions)
        each = [env.step(action) for env, action in zip(alone, actions, strict=True)]
        assert np.array_equal(seen, [found[0] for found in each])
        assert rewards.tolist() == [found[1] for found in each]
    assert cut.all()
    seen, *_ = together.step(actions)
    assert np.array_equal(seen, [env.reset()[0] for env in alone])
    together.close()


def test_without_gymnasium_the_error_has_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "fanin.env", raising=False)
    with pytest.raises(fanin.NotFoundError, match="-m pip install gymnasium"):
        importlib.import_module("fanin.env")


PROGRAM = Path(__file__).parents[2] / "docs" / "how-to" / "learn_threshold.py"


@pytest.mark.skipif(not PROGRAM.is_file(), reason="an installed package has no pages")
def test_the_code_of_the_page_runs(work):
    pytest.importorskip("gymnasium")
    for block in re.findall(r"(?ms)^```python\n(.*?)^```$", PROGRAM.with_name("learn.md").read_text(encoding="utf-8")):
        exec(compile(block, "learn.md", "exec"), {})


@pytest.mark.skipif(not PROGRAM.is_file(), reason="an installed package has no pages")
def test_the_program_learns_a_better_threshold():
    pytest.importorskip("gymnasium")
    spec = importlib.util.spec_from_file_location("learn_threshold", PROGRAM)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    found = program.compare(generations=2, tries=8, train=1, test=3)
    assert np.all(found["learned"] > found["default"])
    assert program.difference(found["learned"], found["default"]).startswith("+")

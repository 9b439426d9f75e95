"""Schemes written in Python."""

import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import traceback
import warnings
from typing import ClassVar

import pytest

import fanin
from fanin import _engine
from fanin.run import remote
from fanin.run.job import Job, PooledRun
from fanin.scenario import own
from fanin.scenario.toml_text import to_toml

NETWORK = {"topology": "star", "rate": "10Gbps", "delay": "5us", "buffer": "100pkt"}
READS = {"name": "reads", "kind": "incast", "senders": 12, "bytes-each": "100KB", "rounds": 4, "jitter": "20us"}


@pytest.fixture(autouse=True)
def quiet(work):
    """Scenarios of a test are odd on purpose; results go into its folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fanin.ScenarioWarning)
        yield


def scenario(scheme, **transport):
    return fanin.Scenario(network=NETWORK, transport={"scheme": scheme, "rto-min": "5ms", **transport}, traffic=[READS])


def hash_of(made):
    return made.run().summary["result_hash"]


class Mine(fanin.CongestionControl):
    """DCTCP of RFC 8257."""

    ecn = "accurate"
    queue = fanin.Threshold()
    g = fanin.param("1/16", "Weight of the latest window.")
    least = fanin.param("2mss", "Smallest window after a reduction.")

    def __init__(self):
        self.alpha, self.acked, self.marked = 1.0, 0, 0

    def on_ack(self, cx, ack):
        if ack.acked:
            self.acked += ack.acked
            self.marked += ack.acked * ack.ece
            if ack.ends_window:
                self.alpha = (1 - self.g) * self.alpha + self.g * (self.marked / self.acked)
                self.acked = self.marked = 0
            cx.grow(ack)

    def on_ecn_echo(self, cx):
        cx.cwnd = cx.ssthresh = max(self.least, cx.cwnd * (1 - self.alpha / 2))

    def probes(self):
        return {"share": self.alpha}


@pytest.mark.parametrize("stack", ["rfc", "linux-6.12"])
@pytest.mark.parametrize("threshold", ["20pkt", "300pkt"])
def test_dctcp_in_python_is_the_engines_hash_for_hash(stack, threshold):
    """Also where packets are lost, as nothing is marked below the buffer."""
    both = [scenario(each, stack=stack) for each in ("dctcp", Mine)]
    found = [each.set(f"scheme.{each.resolved()['transport']['scheme']}.mark-threshold", threshold) for each in both]
    theirs, mine = (each.run().summary for each in found)
    assert mine["result_hash"] == theirs["result_hash"]
    assert (mine["marks"] > 0, mine["drops"] > 0) == (threshold == "20pkt", True)


def test_its_parameters_are_keys_of_a_scenario_with_units():
    assert hash_of(scenario(Mine).set("scheme.mine.g", "1/2")) == hash_of(scenario("dctcp").set("scheme.dctcp.g", 0.5))
    with pytest.raises(fanin.ScenarioError, match=r'scheme.mine.leest: unknown key .did you mean "least"'):
        scenario(Mine).set("scheme.mine.leest", "1mss").check()
    with pytest.raises(fanin.ScenarioError, match=r'a number of segments or bytes needs a unit: write "3mss"'):
        scenario(Mine).set("scheme.mine.least", 3).check()


def test_each_kind_of_parameter_reaches_the_object_in_the_units_of_results():
    seen = []

    class Kinds(fanin.CongestionControl):
        a_time = fanin.param("50us")
        size = fanin.param("64KB")
        window = fanin.param("2mss")
        rate = fanin.param("1Gbps")
        share = fanin.param("30%")
        number = fanin.param(-2.5)
        whole = fanin.param(3)
        flag = fanin.param(True)
        text = fanin.param("fast")

        def on_start(self, cx):
            seen.append([self.a_time, self.size, self.window, self.rate, self.share, self.number, self.whole])
            seen[-1] += [self.flag, self.text, self.flow.mss, self.flow.bytes, self.flow.rate, cx.cwnd]

    scenario(Kinds, **{"initial-window": "4mss", "mss": "1000B"}).set("scheme.kinds.text", "slow").run()
    wanted = [50e-6, 64_000, 2_000, 1_000_000_000, 0.3, -2.5, 3, True, "slow", 1000, 100_000, 10_000_000_000, 4000.0]
    assert seen[0] == wanted
    assert len(seen) == READS["senders"] * READS["rounds"]


def test_a_sweep_that_an_exception_ends_names_the_point_and_the_seed(work):
    class Fails(fanin.CongestionControl):
        most = fanin.param("200us", "Round trip at which it fails.")

        def on_ack(self, cx, ack):
            assert (ack.rtt or 0) < self.most, "too long"

    swept = scenario(Fails).vary({"scheme.fails.most": ["1s", "0.9s", "30us"]})
    said = r"with scheme.fails.most=30us run.seed=[123]: .*Fails.on_ack .flow \d+, at .* s.: AssertionError: too long"
    for out in (None, work / "results"):
        with pytest.raises(fanin.SchemeError, match=said) as caught:
            fanin.sweep(swept, seeds=range(1, 4), out=out)
        assert isinstance(caught.value.__cause__, AssertionError)


def test_a_threshold_without_a_unit_has_a_hint():
    with pytest.raises(
        ValueError, match=r'a threshold needs a unit: write Threshold\("20pkt"\) or Threshold\("20KB"\)'
    ):
        fanin.Threshold(20)


def test_its_generator_draws_the_same_in_equal_runs_and_others_with_other_seeds_and_flows():
    drawn = {}

    class Draws(fanin.CongestionControl):
        def on_start(self, cx):
            value = self.random.random()
            drawn[self.flow.number] = value
            cx.cwnd = (1 + 9 * value) * cx.mss

    chance = scenario(Draws)
    runs = {seed: [chance.run(seed=seed).summary["result_hash"] for _ in range(2)] for seed in (1, 2)}
    assert len(set(drawn.values())) == len(drawn) == READS["senders"] * READS["rounds"]
    assert runs[1][0] == runs[1][1] != runs[2][0] == runs[2][1]
    assert chance.set("run.seed", 2).run().summary["result_hash"] == runs[2][0]
    # In whatever order, on threads, and in steps.
    for jobs in (1, 2):
        swept = fanin.sweep(chance, seeds=[2, 1], out=None, jobs=jobs)
        assert {point.seed: run.summary["result_hash"] for point, run in swept} == {1: runs[1][0], 2: runs[2][0]}
    one, two = chance.start(seed=1), chance.start(seed=2)
    while not (one.done and two.done):
        one.step("100us")
        two.step("100us")
    assert [one.result().summary["result_hash"], two.result().summary["result_hash"]] == [runs[1][0], runs[2][0]]


def test_two_classes_of_one_name_are_refused_wherever_both_would_run():
    def scheme(segments):
        class Starts(fanin.CongestionControl):
            def on_start(self, cx):
                cx.cwnd = segments * cx.mss

        return Starts

    one, two = scheme(2), scheme(20)
    both = 'two classes have the name "starts" .*Starts.*; fanin.register.CLASS, "starts-2". gives one another name'
    for ask in (
        lambda: scenario("newreno").vary({"transport.scheme": [one, two]}),
        lambda: fanin.compare(scenario("newreno"), [one, two], seeds=[1]),
        lambda: scenario("newreno").set({"transport.scheme": one, "traffic.reads.scheme": two}).run(),
    ):
        with pytest.raises(fanin.ScenarioError, match=both):
            ask()
    # Also if the other one came later. To set the scheme again is to mean the other one.
    first = scenario("newreno").set("transport.scheme", one)
    found = hash_of(first)
    second = first.set("transport.scheme", two)
    assert hash_of(second) != found
    with pytest.raises(fanin.ScenarioError, match=both):
        first.run()
    fanin.register(two, "starts-20")
    again = scenario("newreno").set("transport.scheme", one)
    assert hash_of(again) == found != hash_of(again.set("transport.scheme", two))
    assert len(fanin.sweep(again.vary({"transport.scheme": [one, two]}), seeds=[1])) == 2


def test_a_class_that_says_nothing_is_newreno():
    class Base(fanin.CongestionControl):
        pass

    class Echoes(fanin.CongestionControl):
        ecn = "classic"
        queue = fanin.Threshold("20pkt")

    assert hash_of(scenario(Base)) == hash_of(scenario("newreno"))
    assert hash_of(scenario(Base, stack="linux-6.12")) == hash_of(scenario("newreno", stack="linux-6.12"))
    marking = {"queue.kind": "ecn-threshold", "queue.threshold": "20pkt"}
    assert hash_of(scenario(Echoes)) == hash_of(scenario("newreno", ecn="on").set(marking)) != hash_of(scenario(Base))


def test_a_loss_does_to_the_window_what_the_methods_set():
    """A threshold alone is NewReno's way; a window is the scheme's own until the repair is over."""
    windows = {}

    class Halves(fanin.CongestionControl):
        def on_loss(self, cx):
            cx.ssthresh = max(cx.in_flight / 2, 2 * cx.mss)

    class Own(fanin.CongestionControl):
        def on_loss(self, cx):
            cx.cwnd = 3 * cx.mss
            windows[self.flow.number] = cx.cwnd

        def on_ack(self, cx, ack):
            if ack.in_recovery and self.flow.number in windows:
                assert cx.cwnd == cx.ssthresh == windows[self.flow.number]

    assert hash_of(scenario(Halves)) == hash_of(scenario("newreno"))
    scenario(Own, **{"initial-window": "20mss"}).run()
    assert windows


def test_it_paces_wakes_and_hears_of_delays_and_transfers():
    heard = {"delays": 0, "transfers": [], "wakes": []}

    class Paced(fanin.CongestionControl):
        def on_transfer(self, transfer):
            heard["transfers"].append((transfer.first, transfer.bytes, transfer.deadline))

        def on_start(self, cx):
            cx.pace(100e-6)
            cx.wake_at(cx.now + 1e-3)
            self.due = cx.now + 1e-3

        def on_wake(self, cx):
            heard["wakes"].append(cx.now - self.due)

        def on_delay(self, cx, delay):
            heard["delays"] += 1
            assert delay.rtt == pytest.approx(delay.fabric + delay.remote + delay.local)

    flows = scenario(Paced, **{"initial-window": "100mss"}).run().flows()
    segments = -(-100_000 // 1460)
    assert flows["fct_s"].min() > (segments - 1) * 100e-6
    assert heard["transfers"][0] == (1, 100_000, None)
    assert heard["wakes"] == pytest.approx([0.0] * READS["senders"] * READS["rounds"])
    assert heard["delays"] > 0


def test_its_own_probes_are_recorded():
    watched = scenario(Mine).set("measure.probes", ["cwnd", "share"]).run().probes()
    assert set(watched["name"].unique()) == {"cwnd", "share"}


class Broken(fanin.CongestionControl):
    """Fails at the twentieth acknowledgement of a flow."""

    def __init__(self):
        self.left = 20

    def on_ack(self, cx, ack):
        self.left -= 1
        cx.cwnd += cx.mss / self.left


def test_an_exception_ends_the_run_with_flow_time_and_its_own_traceback():
    with pytest.raises(
        fanin.SchemeError, match=r"Broken.on_ack .flow \d+, at 0.0\d+ s.: ZeroDivisionError: "
    ) as caught:
        scenario(Broken).run()
    assert isinstance(caught.value.flow, int)
    assert 0 < caught.value.at_s < 1
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert traceback.extract_tb(cause.__traceback__)[-1].line == "cx.cwnd += cx.mss / self.left"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("cx.cwnd = 0", "a window is a positive number of bytes, not 0"),
        ("cx.ssthresh = float('nan')", "a window is a positive number of bytes, not NaN"),
        ("cx.pace(-1)", "a time is a number of seconds from 0 to 1e6, not -1"),
        ("cx.now = 3", "not writable|can't set|no setter"),
        ("cx.wake_at(1e-9)", "wake_at takes a time from now on"),
    ],
)
def test_what_no_sender_may_set_is_refused_where_it_is_set(code, said):
    body = textwrap.indent(code, "    ")
    names = {}
    exec(f"def on_ack(self, cx, ack):\n{body}", names)
    wrong = type("Wrong", (fanin.CongestionControl,), {"on_ack": names["on_ack"]})
    with pytest.raises(fanin.SchemeError, match=said):
        scenario(wrong).run()


@pytest.mark.parametrize(
    ("default", "value"), [("0.5", 0.5), ("1e-3", 1e-3), ("-2.5", -2.5), ("7", 7), ("3 of 4", "3 of 4")]
)
def test_a_number_in_a_text_is_a_number(default, value):
    seen = []

    class Numbers(fanin.CongestionControl):
        given = fanin.param(default)

        def on_start(self, cx):
            seen.append(self.given)

    scenario(Numbers).run()
    assert set(seen) == {value}
    assert {type(each) for each in seen} == {type(value)}


def test_an_error_in_init_names_it():
    class Never(fanin.CongestionControl):
        def __init__(self):
            raise LookupError("no table")

    with pytest.raises(fanin.SchemeError, match=r"Never.__init__.*LookupError: no table"):
        scenario(Never).check()


@pytest.mark.parametrize("ask", [fanin.sweep, functools.partial(fanin.compare, schemes=["newreno", Broken])])
def test_a_question_raises_what_a_method_raised(ask):
    """It is no run that failed and could be recorded."""
    with pytest.raises(fanin.SchemeError) as caught:
        ask(scenario(Broken), seeds=[1, 2])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_interrupt_is_no_error_of_the_scheme():
    class Interrupted(fanin.CongestionControl):
        def on_ack(self, cx, ack):
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                pass

    with pytest.raises(KeyboardInterrupt):
        scenario(Interrupted).run()


ENDLESS = """
import fanin


class Endless(fanin.CongestionControl):
    def on_ack(self, cx, ack):
        print("in a method", flush=True)
        while True:
            pass


scenario = fanin.Scenario("endless.toml").set("transport.scheme", Endless)
"""


@pytest.mark.parametrize("ask", ["scenario.run()", "fanin.sweep(scenario, seeds=[1, 2, 3], jobs=2)"])
def test_ctrl_c_ends_a_method_that_never_ends(ask, work):
    tables = {"network": NETWORK, "transport": {"rto-min": "5ms"}, "traffic": [READS]}
    (work / "endless.toml").write_text(to_toml(tables))
    # A shell that starts tests in the background lets them ignore it.
    heed = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command = [sys.executable, "-W", "ignore", "-c", heed + ENDLESS + ask]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("in a method")
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
    assert process.returncode == -signal.SIGINT
    assert said.splitlines()[-1] == "KeyboardInterrupt"
    assert "Exception in worker" not in said


class Live(fanin.CongestionControl):
    """Notes its parameters at each acknowledgement."""

    target = fanin.param("50us")
    share = fanin.param(0.5)
    seen: ClassVar[list] = []

    def __init__(self):
        self.share += self.flow.number

    def on_ack(self, cx, ack):
        self.seen.append((cx.now, self.flow.number, self.target, self.share))
        cx.grow(ack)


def test_a_driven_run_changes_its_parameters_in_flows_under_way_and_later_ones():
    Live.seen.clear()
    simulation = scenario(Live).start(1)
    assert {"scheme.live.target", "scheme.live.share"} < set(simulation.settable)
    simulation.step("200us")
    simulation.set("scheme.live.target", "80us")
    run = simulation.result()
    assert run.scenario["set"] == [[0.0002, "scheme.live.target", "80us"]]
    assert run.run_id != scenario(Live).run(1).run_id
    before, after = ([each for each in Live.seen if (each[0] > 2e-4) == late] for late in (False, True))
    assert {target for _, _, target, _ in before} == {50e-6}
    early = {flow for _, flow, _, _ in before}
    del after[after.index(next(each for each in after if each[2] == 50e-6)) :]  # those of the second run
    assert {target for _, _, target, _ in after} == {80e-6}
    assert early & {flow for _, flow, _, _ in after}
    assert {flow for _, flow, _, _ in after} - early
    assert all(share == 0.5 + flow for _, flow, _, share in Live.seen), "what an object made of another stays"


def test_a_driven_run_refuses_what_no_parameter_may_be():
    simulation = scenario(Live).start(1)
    with pytest.raises(fanin.ScenarioError, match=r'scheme.live.target: "5pkt" is'):
        simulation.set("scheme.live.target", "5pkt")
    with pytest.raises(fanin.ScenarioError, match=r"scheme.live.code: cannot change during a run"):
        simulation.set("scheme.live.code", "other")


def test_it_is_swept_and_compared_as_any_other():
    grid = scenario("newreno").vary({"transport.scheme": ["dctcp", Mine], "traffic.reads.senders": [4, 8]})
    runs = fanin.sweep(grid, seeds=[1, 2]).frame()
    mine, theirs = (runs.filter(runs["transport.scheme"] == name) for name in ("mine", "dctcp"))
    assert mine["result_hash"].to_list() == theirs["result_hash"].to_list()
    assert set(mine["run_id"]).isdisjoint(theirs["run_id"])
    weights = scenario(Mine).vary({"scheme.mine.g": ["1/16", "1/2"]})
    assert fanin.sweep(weights, seeds=[1], out=None).frame()["result_hash"].n_unique() == 2
    ranked = fanin.compare(scenario("newreno"), ["newreno", Mine], goal="query-mean", against=Mine, seeds=[1, 2, 3])
    assert {each.scheme for each in ranked.schemes} == {"newreno", "mine"}
    assert ranked.against == "mine"


def test_runs_in_threads_are_the_same():
    wanted = {seed: scenario(Mine).run(seed).summary["result_hash"] for seed in range(1, 5)}
    runs = fanin.sweep(scenario(Mine), seeds=range(1, 5), jobs=4, out=None)
    assert {point.seed: run.summary["result_hash"] for point, run in runs} == wanted


def test_other_threads_go_on_during_a_run():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    scenario(Mine).set("traffic.reads.rounds", 40).run()
    stop.set()
    thread.join()
    assert ticks


STEP = 1.0


def test_another_class_of_a_name_has_other_runs(monkeypatch):
    """Its code decides, and so do constants and functions of its module that it uses."""

    def made(code):
        names = {"fanin": fanin, "__name__": "made"}
        exec(textwrap.dedent(code), names)
        return names["Made"]

    head = "class Made(fanin.CongestionControl):\n    def on_ack(self, cx, ack):\n        "
    ids = {
        scenario(made(code)).run().run_id
        for code in (
            f"{head}cx.grow(ack)",
            f"{head}cx.cwnd += cx.mss",
            f"{head}cx.cwnd += 2 * cx.mss",
            f"STEP = 1\n{head}cx.cwnd += STEP * cx.mss",
            f"STEP = 2\n{head}cx.cwnd += STEP * cx.mss",
            f"def step(cx):\n    return cx.mss\n{head}cx.cwnd += step(cx)",
            f"def step(cx):\n    return 2 * cx.mss\n{head}cx.cwnd += step(cx)",
            f"class Base(fanin.CongestionControl):\n    n = 2\n{head.replace('fanin.CongestionControl', 'Base')}self.n",
            f"class Base(fanin.CongestionControl):\n    n = 3\n{head.replace('fanin.CongestionControl', 'Base')}self.n",
        )
    }
    assert len(ids) == 9
    commented = made(f"# Said otherwise.\n\n{head}cx.grow(ack)  # as NewReno")
    assert scenario(commented).run().run_id in ids


def test_what_its_functions_enclose_decides_too():
    def stepping(step):
        class Enclosing(fanin.CongestionControl):
            def on_ack(self, cx, ack):
                cx.cwnd += step

        return Enclosing

    assert own.code_of(stepping(1)) == own.code_of(stepping(1)) != own.code_of(stepping(2))


def test_a_stored_run_is_found_only_by_the_class_that_made_it():
    def runs():
        counted = []
        fanin.sweep(scenario(Mine), seeds=[1], progress=lambda now: counted.append((now.simulated, now.found)))
        return counted[-1]

    assert runs() == (1, 0)
    assert runs() == (0, 1)
    Mine.floor = 2
    try:
        assert runs() == (1, 0)
    finally:
        del Mine.floor


def test_a_class_that_changes_after_it_was_named_is_refused(monkeypatch):
    class Steps(fanin.CongestionControl):
        def on_ack(self, cx, ack):
            cx.cwnd += STEP

    named = scenario(Steps)
    named.run()
    monkeypatch.setattr(sys.modules[__name__], "STEP", 2.0)
    with pytest.raises(fanin.ScenarioError, match=r"scheme.steps.code: the class has changed since it was registered"):
        named.run()
    assert fanin.register(Steps) == "steps"
    named.run()


def test_it_is_registered_under_a_name():
    class MyOwnScheme(fanin.CongestionControl):
        """Ours.

        With more words.
        """

    assert fanin.register(MyOwnScheme) == "my-own-scheme"
    assert fanin.register(MyOwnScheme, "ours") == "ours" == fanin.register(MyOwnScheme)
    assert scenario("ours").resolved()["transport"]["scheme"] == "ours"
    assert scenario("my-own-scheme").run().summary["flows"] > 0
    row = next(row for row in own.registry.scheme_rows() if row["key"] == "ours")
    assert (row["summary"], row["manual"].partition("\n")[0]) == ("ours: Ours.", "# ours")


def test_a_scheme_is_taken_back():
    named = scenario("newreno").set("transport.scheme", Mine)
    simulation = named.start()
    fanin.register(Mine, "ours")
    assert own.registered() == ["mine", "ours"]
    fanin.unregister("ours")
    with pytest.raises(fanin.ScenarioError, match="ours"):
        scenario("ours").check()
    fanin.unregister(Mine)
    assert own.registered() == []
    assert json.loads(_engine.registry())["added_schemes"] == []
    assert "mine" not in own.registry.scheme_titles()
    with pytest.raises(fanin.ScenarioError, match=r"mine: it was unregistered: fanin.register the class again"):
        named.run()
    with pytest.raises(ValueError, match="Mine'> is not registered"):
        fanin.unregister(Mine)
    simulation.step("1ms")
    fanin.register(Mine)
    assert simulation.result().summary["result_hash"] == hash_of(named)


def test_what_cannot_be_a_scheme_is_refused():
    def kind(name="Odd", **members):
        return type(name, (fanin.CongestionControl,), members)

    for wrong, error, said in (
        (int, TypeError, "does not inherit fanin.CongestionControl"),
        (kind(on_akc=lambda *_: None), TypeError, r'Odd.on_akc is called by nobody .did you mean "on_ack"'),
        (kind("DCTCP"), ValueError, "dctcp is a scheme of the engine: give another name"),
        (kind(ecn="on"), ValueError, '"off", "classic" or "accurate", not "on"'),
        (kind(size=fanin.param("20pkt")), ValueError, 'size: 20pkt counts packets, and classes bytes or "mss"'),
        (kind(code=fanin.param(1)), ValueError, "the parameter code is there twice"),
        (kind(at=fanin.param("0.1ps")), fanin.ScenarioError, "would lose precision"),
        (
            kind(transport={"ack-evry": 1}),
            fanin.ScenarioError,
            r'transport.ack-evry: unknown key .did you mean "ack-every"',
        ),
        (kind(transport={"ack-every": 0}), fanin.ScenarioError, "transport.ack-every: must be at least 1, not 0"),
        (kind(queue=fanin.Threshold()), ValueError, "Odd.queue marks packets of nobody"),
        (
            kind(ecn="classic", queue=fanin.Threshold("much")),
            fanin.ScenarioError,
            "mark-threshold: must be a number of packets",
        ),
    ):
        with pytest.raises(error, match=said):
            fanin.register(wrong)
    with pytest.raises(ValueError, match="cannot be the name of a scheme"):
        fanin.register(kind(), "Two words")


class Plain(fanin.WindowControl):
    """Leaves everything as it is."""


class Divides(fanin.WindowControl):
    """Divides some bytes among the flows that have opened."""

    share = fanin.param("60KB", "Bytes to divide.")

    def __init__(self):
        self.flows = set()

    def on_open(self, cx, flow, size, deadline):
        assert (size, deadline) == (100_000, None)
        self.flows.add(flow)
        for each in self.flows:
            cx.set_window(each, max(self.share // len(self.flows), self.host.mss))


class Delays(fanin.WindowControl):
    """Holds each acknowledgement of data."""

    def on_ack(self, cx, flow, kind):
        if kind == "data":
            cx.wake_at(cx.now + 200e-6, flow)
        return kind == "data"

    def on_timer(self, cx, token):
        cx.release(token)


class Foreign(fanin.WindowControl):
    """Acts on a flow that it does not have."""

    def on_data(self, cx, flow, arrival):
        cx.release(flow + 1000)


class Late(fanin.WindowControl):
    """Asks to be called in the past."""

    def on_data(self, cx, flow, arrival):
        cx.wake_at(1e-9)


def received(receiver):
    """A scheme of NewReno's senders with this receiver."""
    return type(f"With{receiver.__name__}", (fanin.CongestionControl,), {"receiver": receiver, "__module__": __name__})


def test_a_receiver_that_does_nothing_changes_nothing():
    assert hash_of(scenario(received(Plain))) == hash_of(scenario("newreno"))


def test_a_receiver_sets_windows_with_a_parameter_of_its_own():
    divided = scenario(received(Divides), **{"initial-window": "40mss"})
    plain = scenario("newreno", **{"initial-window": "40mss"}).run().summary
    assert divided.run().summary["drops"] < plain["drops"] / 4
    assert hash_of(divided.set("scheme.with-divides.share", "30KB")) != hash_of(divided)
    simulation = divided.start()
    simulation.set("scheme.with-divides.share", "30KB")
    assert simulation.result().summary["result_hash"] == hash_of(divided.set("scheme.with-divides.share", "30KB"))


def test_a_receiver_holds_acknowledgements_until_it_releases_them():
    alone = {"ack-every": 1, "initial-window": "10mss"}
    held, plain = (
        scenario(each, **alone)
        .set({"traffic.reads.senders": 1, "traffic.reads.bytes-each": "20KB"})
        .run()
        .flows()["fct_s"]
        .min()
        for each in (received(Delays), "newreno")
    )
    # Of 14 segments the last four wait for an acknowledgement.
    assert held == pytest.approx(plain + 200e-6, abs=10e-6)


class Counts(fanin.WindowControl):
    """Writes into acknowledgements one more than the number of segments that have arrived."""

    def __init__(self):
        self.window = 1

    def on_data(self, cx, flow, arrival):
        self.window += 1
        cx.write_acks(flow, self.window, priority=1)


class Hears(fanin.CongestionControl):
    """Sends as many segments in a window as the receiver says."""

    receiver = Counts

    def on_ack(self, cx, ack):
        cx.cwnd = cx.mss * ack.field


def test_a_receiver_writes_a_number_into_acknowledgements():
    one = {"traffic.reads.senders": 1, "traffic.reads.bytes-each": "10220B", "traffic.reads.rounds": 1}
    told, slow_start = (
        scenario(each, **{"ack-every": 1, "initial-window": "1mss"}).set(one).run().flows()["fct_s"].to_list()
        for each in (Hears, "newreno")
    )
    # One, two and four segments in three round trips.
    assert told == slow_start


def test_no_receiver_is_called_in_the_past():
    with pytest.raises(fanin.SchemeError, match=r"Late.on_data .*: ValueError: wake_at takes a time from now on"):
        scenario(received(Late)).run()


def test_a_driven_run_ends_with_what_a_method_raised():
    simulation = scenario(Broken).start()
    with pytest.raises(fanin.SchemeError):
        simulation.step(1.0)
    for ask in (lambda: simulation.step(1.0), simulation.observe, simulation.result):
        with pytest.raises(fanin.RunError, match="the simulation has ended"):
            ask()


def test_a_receiver_acts_only_on_flows_that_it_has():
    with pytest.raises(
        fanin.SchemeError, match=r"Foreign.on_data .flow \d+, at .*: ValueError: no flow 10\d\d has opened"
    ):
        scenario(received(Foreign)).run()


def test_another_receiver_has_other_runs():
    codes = {own.code_of(received(each)) for each in (Plain, Divides, Delays)}
    assert len(codes) == 3
    moved = [type("Moved", (fanin.WindowControl,), {"__module__": "elsewhere", "least": each}) for each in (1, 2)]
    assert own.code_of(received(moved[0])) != own.code_of(received(moved[1]))
    with pytest.raises(TypeError, match=r"int'> does not inherit fanin.WindowControl"):
        fanin.register(received(int))


def test_what_it_prefers_of_the_transport_is_its_default():
    each = type("Each", (fanin.CongestionControl,), {"transport": {"ack-every": 2}})
    assert (
        scenario(each).resolved()["transport"]["ack-every"]
        == 2
        != scenario("newreno").resolved()["transport"]["ack-every"]
    )
    assert scenario(each, **{"ack-every": 1}).resolved()["transport"]["ack-every"] == 1


def test_no_other_process_is_asked_to_run_it(monkeypatch):
    """Not for a large run either, which otherwise has one of its own."""
    monkeypatch.setattr("fanin.run.threads._TOGETHER", 0)
    monkeypatch.setattr("fanin.run.alone.simulate", lambda *_: pytest.fail("no other process knows the class"))
    assert len(fanin.sweep(scenario(Mine), seeds=[1])) == 1


def test_it_is_not_sent_to_a_cluster():
    work = PooledRun(Job(scenario(Mine), [("run.seed", "1")]), scenario(Mine).run().run_id, seed=1)
    with pytest.raises(fanin.ClusterError, match="runs in the process that has its class"):
        remote.task_of([work], None)


def test_other_processes_read_its_stored_runs():
    ((_, run),) = fanin.sweep(scenario(Mine), seeds=[1])
    folder = f"results/{run.run_id}"
    for command in (["export", folder], ["plot", "cdf", folder], ["describe", folder]):
        done = subprocess.run([sys.executable, "-m", "fanin", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

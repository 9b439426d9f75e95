"""Switch agents and controllers written in Python."""

import traceback
from types import SimpleNamespace
from typing import ClassVar

import pytest
from test_own import NETWORK, READS, Mine, hash_of, quiet, scenario  # noqa: F401 - a fixture

import fanin
from fanin.scenario import own

MSS = 1460


def scheme(switch=None, controller=None, name="Own", base=fanin.CongestionControl, **members):
    return type(name, (base,), {"switch": switch, "controller": controller, "__module__": __name__, **members})


def agent(**methods):
    return type("Agent", (fanin.SwitchAgent,), {"__module__": __name__, **methods})


def boss(**methods):
    return type("Boss", (fanin.Controller,), {"__module__": __name__, **methods})


class Asks(fanin.SwitchAgent):
    """Reports at once, so that the controller knows it."""

    def on_start(self, cx, ports):
        cx.report(b"ready")


class Marks(fanin.SwitchAgent):
    """Marks from a threshold on, as the ports of DCTCP do."""

    threshold = fanin.param(20, "Packets in the port from which on it marks.")
    marked: ClassVar[list] = []

    def on_packet(self, cx, packet, passage):
        if packet.ect and passage.packets >= self.threshold:
            packet.ce = True
            self.marked.append(packet.flow)


def test_an_agent_that_marks_does_to_dctcp_what_the_engines_ports_do():
    Marks.marked.clear()
    own_marks = scheme(Marks, base=Mine, queue=None)
    mine, theirs = (
        each.set("network.buffer", "1000pkt").run()
        for each in (scenario(own_marks), scenario("dctcp").set("scheme.dctcp.mark-threshold", "20pkt"))
    )
    assert mine.flows().equals(theirs.flows())
    # An agent's marks rewrite packets, and are no threshold of a port.
    differ = {name for name, value in theirs.summary.items() if mine.summary[name] != value}
    assert differ <= {"result_hash", "rewritten", "would_mark", "run_id", "scheme", "wall_s"}
    assert mine.summary["marks"] == mine.summary["rewritten"] == len(Marks.marked) > 100


def test_roles_that_do_nothing_change_nothing():
    assert hash_of(scenario(scheme(agent(), boss()))) == hash_of(scenario("newreno"))


class Writes(fanin.SwitchAgent):
    """Writes the window that the controller orders into acknowledgements."""

    def __init__(self):
        self.scales, self.window = {}, None

    def on_start(self, cx, ports):
        cx.report(b"%d" % len(ports))

    def on_message(self, cx, message):
        self.window = int(message)

    def on_packet(self, cx, packet, passage):
        if packet.is_ack and self.window:
            scale = 0 if packet.syn else self.scales[packet.flow]
            packet.window = min(packet.window, -(-self.window >> scale))
        if packet.is_ack and packet.syn:
            self.scales[packet.flow] = packet.window_scale


class Orders(fanin.Controller):
    """Orders one window."""

    window = fanin.param("1mss", "The window that it orders.")

    def on_message(self, cx, switch, message):
        cx.order(switch, b"%d" % self.window)


def regulated(**transport):
    """A loop of reports and orders, closed before the first query, with a buffer for each sender's segment."""
    found = scenario(scheme(Writes, Orders), **{"ack-every": 1, "initial-window": "20mss", **transport})
    return found.set({"traffic.reads.start": "10ms", "network.buffer": f"{READS['senders']}pkt"})


def test_windows_of_a_segment_that_a_controller_orders_lose_nothing():
    run, wide = regulated().run(), regulated().set("scheme.own.window", "40mss").run()
    assert run.summary["drops"] == 0 < wide.summary["drops"]
    assert run.summary["control_messages"] == 2
    # Each segment waits for the acknowledgement of the last one: two cables of 5 us in each direction, and on the way a
    # segment of each sender at most.
    segments, queue = -(-100_000 // MSS), (READS["senders"] + 2) * 1538 * 8 / 10e9
    assert segments * 20e-6 < run.flows()["fct_s"].min()
    assert run.flows()["fct_s"].max() < (segments + 2) * (20e-6 + queue)


def test_parameters_of_both_are_keys_and_may_change_during_a_run():
    two, one = regulated().set("scheme.own.window", "2mss"), regulated()
    assert hash_of(two) != hash_of(one)
    simulation = one.start()
    assert "scheme.own.window" in simulation.settable
    simulation.set("scheme.own.window", "2mss")
    simulation.step("11ms")
    assert simulation.observe()
    assert simulation.result().summary["result_hash"] == hash_of(two)


def test_they_are_swept_and_compared_as_any_other():
    runs = fanin.sweep(regulated().vary({"scheme.own.window": ["1mss", "40mss"]}), seeds=[1, 2], jobs=2).frame()
    assert [drops > 0 for drops in runs["drops"]] == [False, False, True, True]
    ranked = fanin.compare(regulated(), ["newreno", "own"], goal="query-mean", seeds=[1, 2, 3])
    assert {each.scheme for each in ranked.schemes} == {"newreno", "own"}


def test_a_packet_that_is_held_for_a_time_has_a_longer_way():
    class Holds(fanin.SwitchAgent):
        def __init__(self):
            self.held = []

        def on_packet(self, cx, packet, passage):
            self.held.append(packet)
            cx.wake_at(cx.now + 6e-6, 7)
            return "hold"

        def on_timer(self, cx, token):
            assert token == 7
            cx.inject(self.held.pop(0))

    alone = {"traffic.reads.senders": 1}
    held = scenario(scheme(Holds)).set(alone).run().flows()
    longer = scenario("newreno").set({**alone, "network.delay": "8us"}).run().flows()
    assert held["fct_s"].to_list() == longer["fct_s"].to_list()


@pytest.mark.parametrize("way", ["drop", "discard"])
def test_an_agent_drops_packets(way):
    class Drops(fanin.SwitchAgent):
        def __init__(self):
            self.flows, self.held = set(), []

        def on_packet(self, cx, packet, passage):
            if packet.is_ack or packet.syn or packet.flow in self.flows:
                return None
            self.flows.add(packet.flow)
            if way == "drop":
                return "drop"
            self.held.append(packet)
            cx.wake_at(cx.now)
            return "hold"

        def on_timer(self, cx, token):
            cx.discard(self.held.pop())

    few = scenario(scheme(Drops)).set({"traffic.reads.senders": 3}).run()
    assert few.summary["drops"] == few.summary["drops_agent"] == len(few.flows()) == 3 * READS["rounds"]


def test_it_sees_ports_packets_and_passages():
    seen = SimpleNamespace(ports=[], up=[], kinds=set(), links=set(), node=None)

    class Sees(fanin.SwitchAgent):
        def on_start(self, cx, ports):
            seen.node, seen.now, seen.ports = self.switch, cx.now, ports

        def on_port(self, cx, to_link, up):
            seen.up.append((to_link, up, cx.now))

        def on_packet(self, cx, packet, passage):
            flags = ("syn", "fin", "ece", "ect", "ce", "is_ack", "is_control")
            seen.kinds.add(tuple(name for name in flags if getattr(packet, name)))
            seen.links.add((passage.from_link, passage.to_link))
            assert (passage.rate, passage.buffer) == (10_000_000_000, 100 * 1500)
            assert (passage.packets == 0) == (passage.bytes == 0)
            assert 40 <= packet.size <= 1500
            assert (packet.field, packet.priority) == (5 * packet.is_ack, 0), "the receiver echoes the field"
            packet.field, packet.priority = 5, 1
            assert (packet.field, packet.priority) == (5, 1)
            packet.ce = True
            assert packet.ce
            packet.ce = False
            assert not packet.ce

    fault = {"kind": "link-down", "link": "sender-0->switch-0", "at": "100us", "for": "1ms"}
    sees = scheme(Sees, base=Mine, queue=fanin.Threshold("5pkt"))
    fanin.Scenario(network=NETWORK, transport={"scheme": sees, "rto-min": "5ms"}, traffic=[READS], fault=[fault]).run()
    assert (seen.node.mss, seen.now, len(seen.ports)) == (MSS, 0.0, READS["senders"] + 1)
    assert all(port.host and port.rate == 10_000_000_000 and port.peer != seen.node.number for port in seen.ports)
    into, out = ({getattr(port, name) for port in seen.ports} for name in ("from_link", "to_link"))
    assert {pair[0] for pair in seen.links} <= into
    assert {pair[1] for pair in seen.links} <= out
    assert [(up, at) for _, up, at in seen.up] == [(False, 1e-4), (True, 1.1e-3)]
    assert {to_link for to_link, *_ in seen.up} <= out
    handshake = {("syn", "ece"), ("syn", "ece", "is_ack")}  # RFC 3168 s6.1.1: both ask for ECN
    assert handshake | {("ect",), ("is_ack",), ("ece", "is_ack"), ("fin", "ect")} <= seen.kinds


def fails(*_):
    raise LookupError("no table")


FAILURES = {
    "__init__": (agent(__init__=fails), None, r"Agent.__init__ .switch \d+.: "),
    "on_start": (agent(on_start=fails), None, r"Agent.on_start .switch \d+, at 0 s.: "),
    "on_packet": (agent(on_packet=fails), None, r"Agent.on_packet .switch \d+, flow \d+, at 5.*e-06 s.: "),
    "on_timer": (
        agent(on_start=lambda _, cx, __: cx.wake_at(1e-6), on_timer=fails),
        None,
        r"Agent.on_timer .switch \d+, at 1e-06 s.: ",
    ),
    "on_message": (
        type("Hears", (Asks,), {"on_message": fails}),
        boss(on_message=lambda _, cx, switch, said: cx.order(switch, said)),
        r"Hears.on_message .switch \d+, at \d.*e-05 s.: ",
    ),
    "controller's __init__": (None, boss(__init__=fails), r"Boss.__init__: "),
    "controller's on_start": (None, boss(on_start=fails), r"Boss.on_start .at 0 s.: "),
    "controller's on_message": (Asks, boss(on_message=fails), r"Boss.on_message .switch \d+, at \d.*e-05 s.: "),
    "controller's on_timer": (
        None,
        boss(on_start=lambda _, cx: cx.wake_at(1e-6), on_timer=fails),
        r"Boss.on_timer .at 1e-06 s.: ",
    ),
}


@pytest.mark.parametrize("where", FAILURES)
def test_an_exception_ends_the_run_with_switch_time_and_its_own_traceback(where):
    switch, controller, said = FAILURES[where]
    with pytest.raises(fanin.SchemeError, match=f"{said}LookupError: no table") as caught:
        scenario(scheme(switch, controller)).run()
    assert traceback.extract_tb(caught.value.__cause__.__traceback__)[-1].name == "fails"
    assert (caught.value.switch is None) == ("switch" not in said)
    assert (caught.value.flow is None) == ("flow" not in said)


HELD: list = []


def twice(_, cx, packet, passage):
    """Holds the first packet, and injects it twice when the next ones come."""
    HELD.append(packet)
    if len(HELD) in {2, 3}:
        cx.inject(HELD[0])
    return None if len(HELD) > 1 else "hold"


@pytest.mark.parametrize(
    ("on_packet", "said"),
    [
        (lambda *_: "keep", """ValueError: on_packet returns None, "drop" or "hold", not 'keep'"""),
        (lambda *_: False, """ValueError: on_packet returns None, "drop" or "hold", not False"""),
        (lambda _, cx, packet, __: setattr(packet, "window", 65536), "a window field is .* to 65535, not 65536"),
        (lambda _, cx, packet, __: setattr(packet, "window", -1), "a window field is .* to 65535, not -1"),
        (lambda _, cx, packet, __: setattr(packet, "window", 1e3), "TypeError"),
        (lambda _, cx, packet, __: setattr(packet, "size", 1), "not writable|can't set|no setter"),
        (lambda _, cx, packet, __: cx.report("much"), "TypeError.*'str'"),
        (lambda _, cx, packet, __: cx.report(b"much"), "the scheme names no class as its controller"),
        (lambda _, cx, packet, __: cx.wake_at(1e-9), "wake_at takes a time from now on"),
        (lambda _, cx, packet, __: cx.inject(packet), r"switch \d+ does not hold this packet"),
        (lambda _, cx, packet, __: cx.discard(packet), r"switch \d+ does not hold this packet"),
        (twice, r"switch \d+ does not hold this packet"),
    ],
)
def test_what_no_switch_may_do_is_refused_where_it_is_done(on_packet, said):
    with pytest.raises(fanin.SchemeError, match=rf"Agent.on_packet .switch \d+, flow \d+, at .*{said}"):
        scenario(scheme(agent(on_packet=on_packet))).run()


@pytest.mark.parametrize(
    ("on_message", "said"),
    [
        (lambda _, cx, switch, __: cx.order(switch + 1, b""), r"no switch \d+ has sent a message"),
        (lambda _, cx, switch, __: cx.order(switch, 3), "TypeError.*'int'"),
        (lambda _, cx, switch, __: cx.wake_at(0.0), "wake_at takes a time from now on"),
    ],
)
def test_what_no_controller_may_do_is_refused_where_it_is_done(on_message, said):
    with pytest.raises(fanin.SchemeError, match=rf"Boss.on_message .switch \d+, at .*{said}"):
        scenario(scheme(Asks, boss(on_message=on_message))).run()


def test_a_packet_is_injected_only_where_it_is_held():
    held = []

    class Elsewhere(fanin.SwitchAgent):
        def on_packet(self, cx, packet, passage):
            if not held:
                held.append((self.switch.number, packet))
                return "hold"
            if held[-1] and held[-1][0] != self.switch.number:
                held.append(None)
                cx.inject(held[0][1])
            return None

    two = scenario(scheme(Elsewhere)).set({"network.topology": "two-switch", "traffic.reads.senders": 3})
    with pytest.raises(fanin.SchemeError, match=r"switch \d+ does not hold this packet"):
        two.run()


def test_what_cannot_be_a_role_is_refused():
    for wrong, error, said in (
        (scheme(switch=Orders), TypeError, r"Orders'> does not inherit fanin.SwitchAgent"),
        (scheme(controller=Writes), TypeError, r"Writes'> does not inherit fanin.Controller"),
        (scheme(agent(on_pakcet=fails)), TypeError, r'Agent.on_pakcet is called by nobody .did you mean "on_packet"'),
        (scheme(agent(on_ack=fails)), TypeError, "Agent.on_ack is called by nobody"),
        (scheme(Marks, threshold=fanin.param(3)), ValueError, "the parameter threshold is there twice"),
    ):
        with pytest.raises(error, match=said):
            fanin.register(wrong)


def test_another_switch_or_controller_has_other_runs_and_takes_more_to_deploy():
    rows = {}
    for switch, controller in ((None, None), (Writes, None), (Writes, Orders), (Asks, Orders)):
        key = fanin.register(scheme(switch, controller))
        rows[switch, controller] = next(row for row in own.registry.scheme_rows() if row["key"] == key)
    assert [row["effort"] for row in rows.values()] == ["kernel", "switch", "controller", "controller"]
    assert [row["reacts_to"] for row in rows.values()] == [["delay"], ["window"], ["window"], ["window"]]
    assert len({own.code_of(scheme(*roles)) for roles in rows}) == 4


def test_their_generators_draw_the_same_in_equal_runs():
    drawn = []

    class Draws(fanin.SwitchAgent):
        def on_start(self, cx, ports):
            drawn.append(self.random.random())

    class Rolls(fanin.Controller):
        def on_start(self, cx):
            drawn.append(self.random.random())

    for seed in (1, 1, 2):
        scenario(scheme(Draws, Rolls)).run(seed)
    assert drawn[:2] == drawn[2:4]
    assert len(set(drawn)) == 4

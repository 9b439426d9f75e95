"""``fanin check``: the ports that the traffic can fill, and the warnings about what does not fit there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fanin
from fanin._engine import Scenario
from fanin.registry import registry
from fanin.scenario.thresholds import USUAL_LEAST, USUAL_PER_10G, usual_threshold

INCAST = """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "150pkt"

[transport]
scheme = "dctcp"
initial-window = "1mss"

[[traffic]]
kind = "incast"
senders = 40
bytes-each = "32KB"
"""

RACKS = """
[network]
topology = "leaf-spine"
rate = "10Gbps"
uplink-rate = "10Gbps"

[[traffic]]
kind = "poisson"
bytes-each = "100KB"
load = 0.5
from = "all"
to = "all"
"""


def warnings(cli, *settings: str) -> list[str]:
    options = [part for setting in settings for part in ("--set", setting)]
    return json.loads(cli("check", "loads.toml", *options, "--json").out)["warnings"]


@pytest.fixture
def incast(work):
    (work / "loads.toml").write_text(INCAST)


@pytest.fixture
def racks(work):
    (work / "loads.toml").write_text(RACKS)


def test_nothing_is_said_of_what_fits(cli, incast):
    assert warnings(cli) == []
    assert "warning" not in cli("check", "loads.toml").err


def test_a_buffer_below_a_packet_for_each_response(cli, incast):
    assert warnings(cli, "traffic.incast.senders=150") == []
    (found,) = warnings(cli, "traffic.incast.senders=151")
    assert found.startswith("traffic.incast: 151 responses at once cross switch-0->receiver-0, which holds 150 packets")
    assert "less than one for each" in found
    # A limit on outstanding responses bounds what is sent at once.
    assert warnings(cli, "traffic.incast.senders=151", "traffic.incast.concurrent=20") == []


def test_a_buffer_below_what_waits_of_the_first_windows(cli, incast):
    # 40 x 4 packets, of which the port sends one fortieth while they arrive.
    (found,) = warnings(cli, "transport.initial-window=4mss")
    assert "Of their first windows (160 packets), 156 have to wait there" in found
    assert warnings(cli, "transport.initial-window=4mss", "network.buffer=156pkt") == []
    assert warnings(cli, "transport.initial-window=3mss") == []


def test_responses_that_begin_one_after_another_need_less_room(cli, incast):
    # The port sends 83 packets in 100 us.
    many = ("traffic.incast.senders=200", "traffic.incast.bytes-each=1460B")
    assert "less than one for each" in warnings(cli, *many, "traffic.incast.jitter=50us")[0]
    assert warnings(cli, *many, "traffic.incast.jitter=100us") == []
    assert warnings(cli, *many, "traffic.incast.exponential=100us") == []
    # One delay for all leaves them together, and servers think of requests only.
    assert len(warnings(cli, *many, "traffic.incast.jitter=100us", "traffic.incast.together=true")) == 1
    assert warnings(cli, *many, "traffic.incast.request=100B", "traffic.incast.think-jitter=100us") == []
    # 156 packets of first windows wait, less what is sent meanwhile.
    windows = ("transport.initial-window=4mss",)
    assert len(warnings(cli, *windows)) == 1
    assert warnings(cli, *windows, "traffic.incast.jitter=10us") == []


def test_groups_that_begin_together_share_the_buffer(cli, work):
    other = INCAST.partition("[[traffic]]")[2].replace("senders = 40", 'senders = 40\nname = "other"')
    (work / "loads.toml").write_text(f"{INCAST}\n[[traffic]]{other}")
    assert warnings(cli, "network.buffer=80pkt", "scheme.dctcp.mark-threshold=30pkt") == []
    window = "transport.initial-window=3mss"
    (found,) = warnings(cli, window)
    assert found.startswith("traffic.incast, traffic.other: 80 responses at once cross switch-0->receiver-0, which ")
    assert "Of their first windows (240 packets), 237 have to wait there" in found
    # The first windows of the first 40 pass in 144 us.
    assert len(warnings(cli, window, "traffic.other.start=60us")) == 1
    assert warnings(cli, window, "traffic.other.start=150us") == []
    # In the meantime some of the others' have left.
    assert warnings(cli, window, "traffic.other.start=130us") == []
    assert len(warnings(cli, window, "traffic.other.start=150us", "traffic.incast.start=140us")) == 1
    # Another receiver has a port of its own, and a group that does not fit alone is named alone.
    assert warnings(cli, window, "traffic.other.receiver=1") == []
    found = warnings(cli, "transport.initial-window=4mss")
    assert [remark.partition(":")[0] for remark in found] == ["traffic.incast", "traffic.other"]


def test_what_long_flows_keep_in_the_queue_is_no_room(cli, work):
    (work / "loads.toml").write_text(f'{INCAST}start = "9ms"\n[[traffic]]\nkind = "background"\nflows = 2\n')
    # Of 117 packets that wait, 85 fit above the marking threshold.
    window = "transport.initial-window=3mss"
    (found,) = warnings(cli, window)
    assert (
        "which holds 150 packets, 85 beside the queue of the long flows of traffic.background. Of their first "
        "windows (120 packets), 117 have to wait there"
    ) in found
    assert warnings(cli) == []
    assert warnings(cli, window, "network.buffer=182pkt") == []
    assert warnings(cli, "traffic.incast.senders=85") == []
    assert "less than one for each" in warnings(cli, "traffic.incast.senders=86")[0]
    # A threshold above the buffer leaves nothing of it.
    found = warnings(cli, "network.buffer=2000pkt", "scheme.dctcp.mark-threshold=3000pkt")
    assert "which holds 2,000 packets, 0 beside the queue" in found[0]
    # At another receiver, by a flow that its own link slows down, of an end, or not there yet.
    for none in ("receiver=1", "flows=1", "bytes-each=1MB", "bytes-each=web-search", "start=9ms"):
        assert warnings(cli, window, f"traffic.background.{none}") == [], none
    assert len(warnings(cli, window, "traffic.background.start=9ms", "traffic.incast.rounds=2")) == 1
    # Half of what is above C x RTT, 19 packets, is left after a loss.
    losses = (window, "traffic.incast.bytes-each=4380B", "transport.scheme=newreno")
    assert "150 packets, 84 beside" in warnings(cli, *losses)[0]
    assert warnings(cli, *losses, "network.buffer=220pkt") == []
    assert warnings(cli, *losses, "transport.ecn=on", "queue.kind=ecn-threshold") == []


def test_a_threshold_below_the_bandwidth_delay_product_over_seven(cli, incast):
    # 4 x 50 us and what two packets and two acknowledgements take: C x RTT / 7 is 24.0 packets.
    assert warnings(cli, "network.delay=50us", "scheme.dctcp.mark-threshold=25pkt") == []
    (found,) = warnings(cli, "network.delay=50us", "scheme.dctcp.mark-threshold=24pkt")
    assert "scheme.dctcp.mark-threshold = 24pkt: below C x RTT / 7, which takes 25 packets" in found
    (found,) = warnings(cli, "network.delay=50us", "scheme.dctcp.mark-threshold=36000B")
    assert "36000B: below C x RTT / 7" in found
    (found,) = warnings(cli, "network.delay=50us", "queue.kind=ecn-threshold", "queue.threshold=20pkt")
    assert found.startswith("queue.threshold = 20pkt: below")
    # Senders that do not cut in proportion to the marks have another rule.
    assert warnings(cli, "network.delay=50us", "transport.scheme=rcc", "scheme.rcc.mark-threshold=3000B") == []


def test_a_threshold_below_what_bursts_need(cli, incast):
    fast = ("network.rate=100Gbps", "network.delay=2us", "network.buffer=5000pkt", "transport.scheme=linux-dctcp")
    # C x RTT / 7 is 10 packets, and in the 8 us between two interrupts come 65.
    (found,) = warnings(cli, *fast, "scheme.linux-dctcp.mark-threshold=64pkt")
    assert "64pkt: below C x RTT / 7 and a burst of 65 packets, which take 75 packets, at switch-0" in found
    assert warnings(cli, *fast, "scheme.linux-dctcp.mark-threshold=75pkt") == []
    # A frame for segmentation offload is a burst too.
    offload = "transport.interrupt-interval=0s"
    (found,) = warnings(cli, *fast, offload, "scheme.linux-dctcp.mark-threshold=52pkt")
    assert "a burst of 43 packets, which take 53 packets" in found
    # Below both limits, the higher one counts.
    (found,) = warnings(cli, *fast, offload, "scheme.linux-dctcp.mark-threshold=5pkt")
    assert "which take 53 packets" in found
    assert warnings(cli, *fast, offload, "transport.tso=0B", "scheme.linux-dctcp.mark-threshold=53pkt") == []


def test_a_threshold_above_what_is_of_use(cli, incast):
    fast = ("network.rate=100Gbps", "network.buffer=5000pkt")
    assert warnings(cli, *fast, "scheme.dctcp.mark-threshold=650pkt") == []
    (found,) = warnings(cli, *fast, "scheme.dctcp.mark-threshold=2000pkt")
    assert "2000pkt: above 650 packets, which keep the link busy, at switch-0->receiver-0" in found
    assert "so long flows add 1,350 packets of queue for nothing" in found
    # A long round trip needs more.
    assert warnings(cli, *fast, "network.delay=100us", "scheme.dctcp.mark-threshold=2000pkt") == []


def test_of_larger_packets_fewer_keep_the_link_busy(cli, incast):
    jumbo = ("transport.mtu=9000B", "network.buffer=12MB", "transport.initial-window=10mss")
    assert not any("mark-threshold" in each for each in warnings(cli, *jumbo[1:]))
    (found,) = (each for each in warnings(cli, *jumbo) if "mark-threshold" in each)
    # 65 packets of 1538 B, rounded down, of the 9,000 that one has here.
    assert found.startswith(
        'set scheme.dctcp.mark-threshold = "11pkt" or less: the default, 65pkt, is above 11 packets'
    )


@pytest.mark.parametrize("rate", ["1Gbps", "10Gbps", "25Gbps", "100Gbps"])
@pytest.mark.parametrize("scheme", ["dctcp", "linux-dctcp"])
@pytest.mark.parametrize("delay", ["1us", "25us"])
def test_no_default_is_warned_of(cli, incast, rate, scheme, delay):
    text = INCAST.replace('buffer = "150pkt"\n', "")
    Path("loads.toml").write_text(text, encoding="utf-8")
    assert warnings(cli, f"network.rate={rate}", f"transport.scheme={scheme}", f"network.delay={delay}") == []


def test_a_default_threshold_that_does_not_fit_is_advised_of(cli, incast):
    default = ("network.delay=1ms", "network.buffer=130pkt")
    (found,) = warnings(cli, *default)
    assert found.startswith(
        'set scheme.dctcp.mark-threshold = "477pkt" or more, and give the buffer room for 954 packets: the default, '
        "65pkt, is below C x RTT / 7"
    )
    assert warnings(cli, default[0], "scheme.dctcp.mark-threshold=477pkt", "network.buffer=954pkt") == []
    (found,) = warnings(cli, default[0], "network.buffer=954pkt")
    assert found.startswith('set scheme.dctcp.mark-threshold = "477pkt" or more: the default, 65pkt, is below')
    (found,) = warnings(cli, "network.buffer=60pkt")
    assert found.startswith('set scheme.dctcp.mark-threshold = "30pkt" or less, or give the buffer room for 130')
    # Whoever gives the value of the default is told what is wrong with it.
    (found,) = warnings(cli, *default, "scheme.dctcp.mark-threshold=65pkt")
    assert found.startswith("scheme.dctcp.mark-threshold = 65pkt: below C x RTT / 7")


@pytest.mark.parametrize("kind", ["background", "poisson"])
def test_a_threshold_above_the_buffer_without_a_fan_in(cli, work, kind):
    own = {"background": "flows = 2", "poisson": 'senders = 4\nreceivers = 4\nload = 0.5\nbytes-each = "1MB"'}
    text = INCAST.partition("[[traffic]]")[0] + f'[[traffic]]\nkind = "{kind}"\n{own[kind]}\n'
    (work / "loads.toml").write_text(text)
    (found,) = warnings(cli, "scheme.dctcp.mark-threshold=149pkt")
    assert "149pkt: above 65 packets" in found
    (found,) = warnings(cli, "scheme.dctcp.mark-threshold=150pkt")
    assert found == (
        "scheme.dctcp.mark-threshold = 150pkt: not below the buffer, 150 packets at switch-0->receiver-0 (10 Gbit/s), "
        "so packets are lost before any is marked"
    )
    assert warnings(cli, "scheme.dctcp.mark-threshold=150pkt", "network.frame-overhead=38B") == [found]
    # Bytes of packets with all of their headers.
    assert len(warnings(cli, "scheme.dctcp.mark-threshold=66pkt", "network.buffer=100KB")) == 1
    (found,) = warnings(cli, "scheme.dctcp.mark-threshold=65pkt", "network.buffer=100KB")
    assert "65pkt: above half of the buffer, 66 packets" in found
    (found,) = warnings(cli, "scheme.dctcp.mark-threshold=65pkt", "network.buffer=100KB", "network.frame-overhead=38B")
    assert "not below the buffer, 65 packets" in found


def test_a_tier_is_judged_by_the_threshold_of_its_own_ports(cli, racks):
    text = (
        RACKS.partition("[[traffic]]")[0]
        + '[transport]\nscheme = "dctcp"\n[[traffic]]\nkind = "background"\nflows = 4\n'
    )
    Path("loads.toml").write_text(text)
    buffers = ("network.buffer=150pkt", "network.spine-buffer=300pkt")
    assert warnings(cli, *buffers) == []
    (found,) = warnings(cli, *buffers, "scheme.dctcp.uplink-mark-threshold=150pkt")
    assert found.startswith(
        "scheme.dctcp.uplink-mark-threshold = 150pkt: not below the buffer, 150 packets at leaf-0->"
    )
    assert warnings(cli, *buffers, "scheme.dctcp.uplink-mark-threshold=149pkt") == []
    # The fan-in of other racks fills the port of an uplink, too.
    Path("loads.toml").write_text(
        text.replace('"background"\nflows = 4', '"incast"\nsenders = 40\nbytes-each = "32KB"')
    )
    few = ("transport.initial-window=1mss", "network.uplink-rate=1Gbps", "network.delay=1us", "network.buffer=2000pkt")
    assert warnings(cli, *few, "scheme.dctcp.mark-threshold=65pkt", "scheme.dctcp.uplink-mark-threshold=20pkt") == []
    (found,) = warnings(cli, *few, "scheme.dctcp.mark-threshold=65pkt", "scheme.dctcp.uplink-mark-threshold=400pkt")
    assert found.startswith("scheme.dctcp.uplink-mark-threshold = 400pkt: above 20 packets, which keep the link busy")


def test_a_switchs_profile_is_judged_by_where_it_begins_to_mark(cli, incast):
    profile = ("queue.kind=wred", "queue.wred-max=400pkt")
    assert warnings(cli, *profile, "queue.wred-min=149pkt") == []
    (found,) = warnings(cli, *profile, "queue.wred-min=150pkt")
    assert found.startswith("queue.wred-min = 150pkt: not below the buffer, 150 packets")
    # It marks a few packets from there on, so that what DCTCP needs of a step does not apply.
    assert warnings(cli, *profile, "queue.wred-min=5pkt", "network.delay=50us") == []


OTHERS = {
    "background": "flows = 2",
    "poisson": 'senders = 4\nreceivers = 4\nload = 0.5\nbytes-each = "1MB"',
    "sessions": 'senders = 4\nconcurrent = 4\nbytes-each = "1MB"\ncount = 9',
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_threshold_out_of_its_range_without_a_fan_in(cli, work, kind):
    text = INCAST.partition("[[traffic]]")[0] + f'[[traffic]]\nkind = "{kind}"\n{OTHERS[kind]}\n'
    (work / "loads.toml").write_text(text)
    # As for a fan-in at the same port.
    assert warnings(cli) == warnings(cli, "network.delay=50us", "scheme.dctcp.mark-threshold=25pkt") == []
    (found,) = warnings(cli, "network.delay=50us", "scheme.dctcp.mark-threshold=24pkt")
    assert found == (
        "scheme.dctcp.mark-threshold = 24pkt: below C x RTT / 7, which takes 25 packets, at switch-0->receiver-0 "
        "(10 Gbit/s, 202 us), so a long flow leaves the link idle at times"
    )
    (found,) = warnings(cli, "network.buffer=2000pkt", "scheme.dctcp.mark-threshold=500pkt")
    assert "500pkt: above 65 packets, which keep the link busy, at switch-0->receiver-0" in found
    (found,) = warnings(cli, "network.delay=50us", "network.buffer=40pkt", "scheme.dctcp.mark-threshold=30pkt")
    assert "30pkt: above half of the buffer, 40 packets" in found
    # Half of the memory is what one port can have of it.
    shared = ("network.admission=dynamic-threshold", "network.shared-buffer=150KB", "scheme.dctcp.mark-threshold=65pkt")
    assert "65pkt: not below the buffer, 50 packets at switch-0->receiver-0" in warnings(cli, *shared)[-1]
    # Senders that do not cut in proportion to the marks have another rule.
    assert warnings(cli, "network.delay=50us", "transport.scheme=rcc", "scheme.rcc.mark-threshold=3000B") == []


def test_a_flow_that_is_alone_fills_no_port(cli, work):
    text = INCAST.partition("[[traffic]]")[0] + '[[traffic]]\nkind = "background"\n'
    (work / "loads.toml").write_text(text)
    low = ("network.delay=50us", "scheme.dctcp.mark-threshold=5pkt")
    assert warnings(cli, *low) == []
    assert len(warnings(cli, *low, "traffic.background.flows=2")) == 1


def test_a_threshold_suits_one_of_the_paths_to_a_port(cli, racks):
    # From a host of the same rack there are four cables on the way there and back, from one of another eight.
    def at(threshold):
        return warnings(cli, "network.uplink-rate=40Gbps", "network.buffer=1000pkt", "transport.scheme=dctcp",
                        f"scheme.dctcp.mark-threshold={threshold}pkt")  # fmt: skip

    assert at(13) == at(169) == []
    (found,) = at(12)
    assert "12pkt: below C x RTT / 7, which takes 13 packets, at leaf-0->host-0 (10 Gbit/s, 102 us)" in found
    (found,) = at(170)
    assert "170pkt: above 169 packets, which keep the link busy, at leaf-0->host-0 (10 Gbit/s, 203 us)" in found


def test_the_usual_threshold_is_the_default():
    (param,) = (param for row in registry()["schemes"] if row["key"] == "dctcp" for param in row["params"]
                if param["key"] == "mark-threshold")  # fmt: skip
    assert param["default"] == f"{USUAL_PER_10G}pkt per 10Gbps of the slowest links, at least {USUAL_LEAST}pkt"


@pytest.mark.parametrize("gbit", [0.1, 1, 2.5, 6.4, 10, 25, 40, 100, 125, 400])
def test_the_usual_threshold_is_that_of_the_engine(gbit):
    resolved = Scenario(INCAST, "", {"network.rate": f"{gbit}Gbps"}).values()
    assert resolved["scheme"]["dctcp"]["mark-threshold"] == f"{usual_threshold(gbit * 1e9)}pkt"


def test_receivers_that_schedule_what_is_sent_lose_nothing_of_many_at_once(cli, incast):
    many = ("traffic.incast.senders=200", "network.buffer=100pkt")
    assert "packets are lost if all begin together" in warnings(cli, *many)[0]
    assert warnings(cli, *many, "transport.scheme=rcc") == []


def test_no_threshold_is_too_low_where_nothing_marks(cli, incast):
    (found,) = warnings(cli, "queue.kind=strict-priority")
    assert found == (
        'dctcp relies on marks, but queue.kind = "strict-priority" without queue.threshold never marks; leave '
        "queue.kind out, or set queue.threshold"
    )
    assert warnings(cli, "queue.kind=strict-priority", "queue.threshold=65pkt") == []
    # Nobody reads the marks.
    assert warnings(cli, "queue.kind=strict-priority", "transport.scheme=ictcp") == []


def test_a_threshold_that_leaves_no_room(cli, incast):
    assert warnings(cli, "scheme.dctcp.mark-threshold=65pkt", "network.buffer=130pkt") == []
    (found,) = warnings(cli, "scheme.dctcp.mark-threshold=65pkt", "network.buffer=128pkt")
    assert "65pkt: above half of the buffer, 128 packets at switch-0->receiver-0" in found
    assert found.endswith("so bursts have room for 63 only")
    (found,) = warnings(cli, "scheme.dctcp.mark-threshold=150pkt")
    assert "not below the buffer, 150 packets at switch-0->receiver-0" in found


def test_a_default_rate_that_no_port_has(cli, incast):
    wide = ("network.topology=leaf-spine", "network.rate=100Gbps", "network.buffer=1300pkt")
    (found,) = warnings(cli, *wide)
    assert found.startswith("set network.uplink-rate to the rate of your ports: the default, 1000Gbps (10 times")
    assert warnings(cli, *wide, "network.uplink-rate=400Gbps") == []
    # Whoever gives the rate knows better.
    assert warnings(cli, *wide, "network.uplink-rate=1000Gbps") == []


def test_a_port_with_more_memory_than_a_switch(cli, incast):
    low = "scheme.dctcp.mark-threshold=65pkt"
    assert warnings(cli, low, "network.buffer=16MB") == []
    (found,) = warnings(cli, low, "network.buffer=17MB")
    assert found.startswith(
        "switch-0->receiver-0 has 17 MB of its own, more than all ports of a Trident II+ share (16 MB)"
    )
    assert "set network.shared-buffer to all of it" in found
    # What ports share may be more.
    text = INCAST.replace('buffer = "150pkt"\n', "")
    Path("loads.toml").write_text(text, encoding="utf-8")
    assert warnings(cli, low, "network.shared-buffer=64MB") == []


def test_a_shared_buffer_that_is_given_is_shared(cli, incast):
    shared = "network.shared-buffer=12MB"
    text = INCAST.replace('buffer = "150pkt"\n', "")
    Path("loads.toml").write_text(text, encoding="utf-8")
    assert warnings(cli, shared) == []
    (port,) = json.loads(cli("check", "loads.toml", "--set", shared, "--json").out)["fan_in"]
    assert port["buffer_bytes"] == 6_000_000
    Path("loads.toml").write_text(text.replace('delay = "5us"', 'shared-buffer = "12MB"\nadmission = "static"'))
    (found,) = warnings(cli)
    assert found.startswith('network.shared-buffer: no effect with network.admission = "static"')


def test_a_run_warns_before_it_begins(cli, incast):
    found = cli("run", "loads.toml", "--set", "network.rate=100Gbps", "--no-store")
    assert found.code == 0
    assert found.err.startswith('warning: set scheme.dctcp.mark-threshold = "75pkt" or less')
    assert "warning" not in cli("run", "loads.toml", "--no-store").err


def test_what_cannot_complete_before_the_run_ends(cli, incast):
    (found,) = warnings(cli, "traffic.incast.bytes-each=20TB")
    assert found.startswith(
        "traffic.incast: needs 640,000 s or more of the receivers' links, so it cannot complete in "
    )
    assert "run.duration = 30s" in found
    assert "50 million packet-hops" in found
    # 40 times 937 MB are 29.98 s of 10 Gbit/s.
    assert warnings(cli, "traffic.incast.bytes-each=937MB") == []
    assert len(warnings(cli, "traffic.incast.bytes-each=938MB")) == 1
    # Who sets the duration wants the run to be cut there.
    assert warnings(cli, "traffic.incast.bytes-each=938MB", "run.duration=29s") == []


class TestInPython:
    """Each way to a run says the same, once."""

    FAST = ("network.rate=100Gbps", "network.buffer=200pkt")

    @pytest.fixture
    def remark(self, incast) -> str:
        """DCTCP's default threshold at 100 Gbit/s is 650 packets, and the buffer holds 200."""
        (found,) = [
            each for each in fanin.Scenario("loads.toml").set(self.pairs()).warnings() if "mark-threshold" in each
        ]
        assert "the default, 650pkt, is not below the buffer, 200 packets" in found
        return found

    def pairs(self) -> list[tuple[str, str]]:
        return [tuple(each.split("=")) for each in self.FAST]

    def test_the_command_line_has_the_same_warnings(self, cli, remark):
        assert warnings(cli, *self.FAST) == fanin.Scenario("loads.toml").set(self.pairs()).warnings()
        options = [part for setting in self.FAST for part in ("--set", setting)]
        told = cli("run", "loads.toml", *options, "--no-store", "--no-try").err
        assert told.count(f"warning: {remark}\n") == 1

    def test_a_run_raises_them_once_for_an_experiment(self, remark):
        experiment = fanin.Scenario("loads.toml").set(self.pairs())
        with pytest.warns(fanin.ScenarioWarning) as caught:
            for seed in (1, 2):
                experiment.run(seed)
        assert [str(each.message) for each in caught].count(remark) == 1
        assert {each.filename for each in caught} == {__file__}

    def test_a_sweep_raises_those_of_its_points(self, cli, remark):
        """The file's own rate and buffer suit the threshold; a point has others."""
        axes = {"network.rate": ["10Gbps", "100Gbps"], "network.buffer": ["1000pkt", "200pkt"]}
        experiment = fanin.Scenario("loads.toml").vary(axes, [list(axes)])
        with pytest.warns(fanin.ScenarioWarning) as caught:
            fanin.sweep(experiment, seeds=[1], out=None)
        assert [str(each.message) for each in caught].count(remark) == 1
        assert {each.filename for each in caught} == {__file__}
        grid = [part for path, each in axes.items() for part in ("--set", f"{path}={','.join(each)}")]
        told = cli("sweep", "loads.toml", *grid, "--zip", ",".join(axes), "--seeds", "1").err
        assert told.count(f"warning: {remark}\n") == 1


def test_linux_hosts_with_a_congestion_control_that_nobody_chose(cli, work):
    (work / "loads.toml").write_text(INCAST.replace('scheme = "dctcp"', 'stack = "linux-6"'))
    (found,) = [each for each in warnings(cli) if "Linux" in each]
    assert found == (
        "transport.scheme is NewReno (the default) on hosts that run Linux; their own is Linux CUBIC: "
        'transport.scheme = "linux"'
    )
    assert f"warning: {found}" in cli("run", "loads.toml", "--no-store").err
    # A choice is one, also where it is that of the traffic, or of each run of a sweep; other stacks are not Linux's.
    for setting in ("transport.scheme=newreno", "traffic.incast.scheme=newreno", "transport.stack=rfc"):
        assert not [each for each in warnings(cli, setting) if "Linux" in each]
    with (work / "loads.toml").open("a") as file:
        file.write('[sweep]\n"transport.scheme" = ["linux", "newreno"]\n')
    assert not [each for each in warnings(cli) if "Linux" in each]


def test_values_without_effect_are_not_shown_as_in_effect(cli, incast):
    def shown(*settings):
        options = [part for setting in settings for part in ("--set", setting)]
        return {
            row["path"]
            for row in json.loads(cli("check", "loads.toml", "--resolved", "--json", *options).out)["values"]
        }

    shared = {"network.shared-buffer", "network.dt-alpha"}
    assert not shared & shown()
    assert "network.buffer" in shown()
    assert shared < shown("network.admission=dynamic-threshold")
    assert "network.buffer" not in shown("network.admission=dynamic-threshold")
    assert "dt-alpha" not in cli("check", "loads.toml", "--resolved").out


def test_a_load_that_a_tier_does_not_carry(cli, racks):
    # Of 64 hosts 48 of the other 63 are in other racks: 16 x 5 Gbit/s x 48 / 63 on two cables of 10 Gbit/s.
    (found,) = warnings(cli)
    assert found.startswith("the tier leaf to spine does not carry the load: ")
    assert found.endswith("is offered 305 %")
    assert warnings(cli, "network.uplink-rate=40Gbps") == []
    shown = json.loads(cli("check", "loads.toml", "--json").out)
    (tier,) = shown["tiers"]
    assert (tier["below_bps"], tier["out_bps"], tier["oversubscription"]) == (160e9, 20e9, 8)
    assert tier["load"] == pytest.approx(16 * 5 * 48 / 63 / 20)
    assert shown["fan_in"] == []
    assert "leaf to spine\t160 Gbit/s\t20 Gbit/s\t8 to 1\t305 %" in cli("check", "loads.toml", "--tsv").out


def test_responses_from_fewer_hosts_than_there_are_responses(cli, work):
    group = 'kind = "requests"\nname = "rpc"\nfan-in = 40\ninterval = "5ms"\nbytes-each = "2KB"\ncount = 1'
    (work / "loads.toml").write_text(INCAST.partition("[[traffic]]")[0] + f"[[traffic]]\n{group}\n")
    one = (
        "40 responses of traffic.rpc come from 1 host, whose link sends them one after another; "
        "set traffic.rpc.senders = 40"
    )
    assert warnings(cli) == [one]
    assert f"warning: {one}" in " ".join(cli("run", "loads.toml", "--no-store").err.split())
    (found,) = warnings(cli, "traffic.rpc.senders=39")
    assert found.startswith("40 responses of traffic.rpc come from 39 hosts, each of whose links sends them")
    assert warnings(cli, "traffic.rpc.senders=40") == []
    # Who has servers share hosts means that.
    assert warnings(cli, "traffic.rpc.placement=round-robin") == []
    # Of 64 hosts each has 63 to ask.
    every = ("network.topology=leaf-spine", "traffic.rpc.from=all", "traffic.rpc.to=all")
    assert warnings(cli, *every, "traffic.rpc.fan-in=63") == []
    (found,) = warnings(cli, *every, "traffic.rpc.fan-in=64")
    assert found.endswith("set traffic.rpc.fan-in = 63, or have more hosts")


def test_a_load_that_the_links_of_the_senders_do_not_carry(cli, work):
    group = 'kind = "requests"\nfan-in = 10\nsenders = 16\nreceivers = 4\nload = 0.5\nbytes-each = "10KB"'
    (work / "loads.toml").write_text(INCAST.partition("[[traffic]]")[0] + f"[[traffic]]\n{group}\n")
    assert warnings(cli) == []
    # All share one host, unless there are more.
    shared = "traffic.requests.placement=round-robin"
    (found,) = warnings(cli, shared)
    assert found.startswith("traffic.requests: 20 Gbit/s are offered, but 1 host sends at most 10 Gbit/s")
    assert "traffic.requests: 25 Gbit/s are offered, but 2 hosts send at most 20 Gbit/s" in warnings(
        cli, shared, "network.sender-hosts=2", "traffic.requests.load=0.625")[0]  # fmt: skip
    assert warnings(cli, shared, "network.sender-hosts=2") == []


def test_the_ports_that_a_fan_in_can_fill(cli, incast):
    table = cli("check", "loads.toml", "--tsv").out
    assert "incast\tswitch-0->receiver-0\t40\t400 Gbit/s\t10 Gbit/s\t40 packets\t150 packets, 0.225 MB" in table
    settings = ("network.topology=leaf-spine", "network.uplink-rate=40Gbps")
    options = [part for setting in settings for part in ("--set", setting)]
    ports = json.loads(cli("check", "loads.toml", *options, "--json").out)["fan_in"]
    assert [port["tier"] for port in ports] == [None, "leaf to spine"]
    # Half of the 40 cross each spine.
    assert ports[1]["responses"] == pytest.approx(20)
    assert ports[1]["arriving_bps"] == pytest.approx(120e9)


def test_a_port_that_never_marks_is_told_beside_a_milder_remark_on_another(cli, work):
    text = """[network]
topology = "leaf-spine"
leaves = 2
hosts-per-leaf = 8
rate = "10Gbps"
uplink-rate = "40Gbps"
delay = "5us"
buffer = "1MB"
spine-buffer = "100KB"
[transport]
scheme = "linux-dctcp"
[scheme.linux-dctcp]
mark-threshold = "100pkt"
[[traffic]]
kind = "incast"
senders = 7
bytes-each = "32KB"
"""
    (work / "loads.toml").write_text(text)
    told = cli("check", "loads.toml").err
    assert "packets, which keep the link busy, at leaf-0->receiver-0" in told
    assert "not below the buffer, 65 packets at spine-0->" in told
    # Once, where it is the fan-in's own port.
    (work / "loads.toml").write_text(text.replace('"1MB"', '"120KB"'))
    assert cli("check", "loads.toml").err.count("before any is marked") == 1

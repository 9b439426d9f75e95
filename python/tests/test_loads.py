"""``fanin check``: the ports that the traffic can fill, and the warnings about what does not fit there."""

from __future__ import annotations

import json

import pytest

INCAST = """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"

[transport]
scheme = "dctcp"

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
    assert warnings(cli, "traffic.incast.senders=100") == []
    (found,) = warnings(cli, "traffic.incast.senders=101")
    assert found.startswith("traffic.incast: 101 responses at once cross switch-0->receiver-0, which holds 100 packets")
    # A limit on outstanding responses bounds what is sent at once.
    assert warnings(cli, "traffic.incast.senders=101", "traffic.incast.concurrent=20") == []


def test_a_threshold_below_the_bandwidth_delay_product_over_seven(cli, incast):
    # 4 x 50 us and what two packets and two acknowledgements take: C x RTT / 7 is 24.0 packets.
    assert warnings(cli, "network.delay=50us", "scheme.dctcp.mark-threshold=25pkt") == []
    (found,) = warnings(cli, "network.delay=50us", "scheme.dctcp.mark-threshold=24pkt")
    assert "scheme.dctcp.mark-threshold = 24pkt: below C x RTT / 7, which is 24 packets" in found
    (found,) = warnings(cli, "network.delay=50us", "scheme.dctcp.mark-threshold=36000B")
    assert "36000B: below C x RTT / 7" in found
    (found,) = warnings(cli, "network.delay=50us", "queue.kind=ecn-threshold", "queue.threshold=20pkt")
    assert found.startswith("queue.threshold = 20pkt: below")
    # Senders that do not cut in proportion to the marks have another rule.
    assert warnings(cli, "network.delay=50us", "transport.scheme=rcc", "scheme.rcc.mark-threshold=3000B") == []


def test_a_threshold_that_no_queue_reaches(cli, incast):
    assert warnings(cli, "scheme.dctcp.mark-threshold=99pkt") == []
    (found,) = warnings(cli, "scheme.dctcp.mark-threshold=100pkt")
    assert "not below the buffer at switch-0->receiver-0" in found
    (found,) = warnings(cli, "network.rate=100Gbps")
    assert "scheme.dctcp.mark-threshold = 650pkt: not below the buffer" in found


def test_a_run_warns_before_it_begins(cli, incast):
    found = cli("run", "loads.toml", "--set", "network.rate=100Gbps", "--no-store")
    assert found.code == 0
    assert found.err.startswith("warning: scheme.dctcp.mark-threshold = 650pkt: not below the buffer")
    assert "warning" not in cli("run", "loads.toml", "--no-store").err


def test_what_cannot_complete_before_the_run_ends(cli, incast):
    (found,) = warnings(cli, "traffic.incast.bytes-each=20TB")
    assert found.startswith("traffic.incast: 40 transfers of 20,000,000 MB take 640,000 s or more of the receivers'")
    assert "run.duration = 30s" in found
    assert "50 million packet-hops" in found
    # 40 times 937 MB are 29.98 s of 10 Gbit/s.
    assert warnings(cli, "traffic.incast.bytes-each=937MB") == []
    assert len(warnings(cli, "traffic.incast.bytes-each=938MB")) == 1
    # Who sets the duration wants the run to be cut there.
    assert warnings(cli, "traffic.incast.bytes-each=938MB", "run.duration=29s") == []


def test_a_timer_without_a_minimum(cli, incast):
    (found,) = warnings(cli, "transport.rto-min=0ms")
    assert "transport.rto-min = 0s: timers follow the measured round trip alone" in found


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
    assert "leaf to spine\t160,000 Mbit/s\t20,000 Mbit/s\t8 to 1\t305 %" in cli("check", "loads.toml").out


def test_the_ports_that_a_fan_in_can_fill(cli, incast):
    table = cli("check", "loads.toml").out
    assert "incast\tswitch-0->receiver-0\t40\t400,000 Mbit/s\t10,000 Mbit/s\t400 packets\t100 packets" in table
    settings = ("network.topology=leaf-spine", "network.uplink-rate=10Gbps")
    options = [part for setting in settings for part in ("--set", setting)]
    ports = json.loads(cli("check", "loads.toml", *options, "--json").out)["fan_in"]
    assert [port["tier"] for port in ports] == [None, "leaf to spine"]
    # Half of the 40 cross each spine.
    assert ports[1]["responses"] == pytest.approx(20)
    assert ports[1]["arriving_bps"] == pytest.approx(200e9)

"""The marking threshold of a scenario's switch, carried to other schemes."""

from pathlib import Path

import pytest

import fanin
from fanin.choose.threshold import (
    carried_threshold,
    carried_tiers,
    given_threshold,
    given_tiers,
    marks_by_one_threshold,
)

STAR = """\
[network]
topology = "star"
rate = "10Gbps"
[transport]
scheme = "linux"
{more}
[[traffic]]
kind = "incast"
senders = 4
bytes-each = "32KB"
"""


@pytest.fixture
def star(work):
    def load(more="", **overrides):
        Path("star.toml").write_text(STAR.format(more=more))
        return fanin.Scenario("star.toml").set(overrides)

    return load


def carried(experiment, scheme):
    return carried_threshold(experiment, scheme, given_threshold(experiment))


def test_the_threshold_that_a_scenario_sets_is_that_of_every_scheme_that_marks_by_one(star):
    switch = star('[scheme.dctcp]\nmark-threshold = "40pkt"')
    assert given_threshold(switch) == ("scheme.dctcp.mark-threshold", "40pkt")
    assert carried(switch, "rcc") == {"scheme.rcc.mark-threshold": "40pkt"}
    assert carried(switch, "linux-dctcp") == {"scheme.linux-dctcp.mark-threshold": "40pkt"}
    assert carried(switch, "dctcp") == {}
    # Two thresholds, or none, are another switch.
    assert not marks_by_one_threshold("dt-dctcp")
    assert carried(switch, "dt-dctcp") == carried(switch, "linux") == {}


def test_a_scenario_without_a_threshold_of_its_own_has_none_to_carry(star):
    assert given_threshold(star()) is None
    assert carried(star(), "rcc") == {}
    # What a scheme brings by its paper is no setting of the switch.
    assert given_threshold(star(**{"transport.scheme": "rcc"})) is None


def test_of_several_thresholds_it_is_that_of_the_queue_or_of_the_scheme_that_runs(star):
    both = '[scheme.dctcp]\nmark-threshold = "40pkt"\n[scheme.rcc]\nmark-threshold = "50pkt"'
    assert carried(star(both, **{"transport.scheme": "rcc"}), "l2dct") == {"scheme.l2dct.mark-threshold": "50pkt"}
    assert carried(star(both, **{"transport.scheme": "rcc"}), "dctcp") == {}
    queue = star(both, **{"queue.kind": "ecn-threshold", "queue.threshold": "30pkt"})
    assert given_threshold(queue) == ("queue.threshold", "30pkt")
    # A switch's profile marks some packets from its minimum on, whether that was written or not.
    profile = star(**{"queue.kind": "wred", "queue.wred-max": "200pkt"})
    assert given_threshold(profile) == ("queue.wred-min", "27pkt")


def test_the_thresholds_of_tiers_are_those_of_every_step_of_the_switch(work):
    more = '[scheme.dctcp]\nuplink-mark-threshold = "90pkt"'
    Path("fabric.toml").write_text(STAR.replace('"star"', '"leaf-spine"').format(more=more))
    fabric = fanin.Scenario("fabric.toml")
    assert given_tiers(fabric) == {"uplink": "90pkt"}

    def carried_to(**values):
        return carried_tiers(
            given_tiers(fabric), fabric.resolved({key.replace("_", "."): v for key, v in values.items()})
        )

    assert carried_to(transport_scheme="rcc") == {"scheme.rcc.uplink-mark-threshold": "90pkt"}
    assert carried_to(queue_kind="ecn-threshold") == {"queue.uplink-threshold": "90pkt"}
    assert carried_to(transport_scheme="dctcp") == {}
    assert carried_to(queue_kind="wred") == carried_to(transport_scheme="dt-dctcp") == {}
    with_both = fabric.resolved({"transport.scheme": "rcc", **carried_to(transport_scheme="rcc")})
    assert with_both["scheme"]["rcc"]["uplink-mark-threshold"] == "90pkt"

"""The marking threshold of a scenario's switch, carried to other schemes."""

from pathlib import Path

import pytest

import fanin
from fanin.choose.threshold import carried_threshold, given_threshold, marks_by_one_threshold

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
        return fanin.load("star.toml", overrides)

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

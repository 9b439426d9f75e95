import math

import numpy as np
import polars as pl
import pytest

from fanin.claims.judge import Measurement, join_halves, judge
from fanin.errors import FaninError
from fanin.numbers.stats import mean_interval, t_quantile
from fanin.scenario.format.claim import Case


def runs(curves, seeds=10, noise=0.01):
    generator = np.random.default_rng(1)
    rows = [
        {"scheme": scheme, "n": n, "seed": seed, "goodput": y * (1 + noise * generator.standard_normal())}
        for scheme, curve in curves.items()
        for n, y in curve.items()
        for seed in range(1, seeds + 1)
    ]
    return pl.DataFrame(rows)


def claim(measure, accept, **more):
    fields = {
        "id": "c",
        "claim": "c",
        "says": "s",
        "measure": measure,
        "x": "n",
        "y": "goodput",
        "accept": accept,
        "why": "w",
    }
    return Case(**{**fields, **more})


COLLAPSE = {5: 900.0, 10: 920.0, 15: 300.0, 20: 200.0}
LATER = {5: 900.0, 10: 920.0, 15: 910.0, 20: 200.0}
DIP = {5: 900.0, 10: 100.0, 15: 900.0, 20: 900.0}


def test_collapse_point_is_the_first_that_stays_below_half():
    judged = judge(claim("collapse-point", (10, 20)), runs({"a": COLLAPSE}))
    assert judged.value == judged.low == judged.high == 15
    assert judged.outcome == "reproduced"


def test_a_dip_is_no_collapse():
    judged = judge(claim("collapse-point", (10, 20)), runs({"a": DIP}))
    assert math.isinf(judged.value)
    assert judged.outcome == "not reproduced"
    assert judged.reason == "no collapse up to 20 n; accepted 10 to 20 n (w)"
    assert judged.as_dict()["value"] is None
    assert judge(claim("collapse-point", (21, math.inf)), runs({"a": DIP})).outcome == "reproduced"


def test_a_dip_is_a_first_drop():
    drop = claim("first-drop", (10, 10))
    assert judge(drop, runs({"a": DIP})).outcome == "reproduced"
    assert judge(drop, runs({"a": COLLAPSE})).value == 15
    judged = judge(drop, runs({"a": dict.fromkeys(DIP, 900.0)}))
    assert (judged.shown.value, judged.reason[:20]) == ("never", "no drop up to 20 n; ")


def by_seed(**curves):
    """One point per scheme: seed -> goodput, in the order in which the runs are listed."""
    rows = [
        {"scheme": scheme, "n": 1, "seed": seed, "goodput": y}
        for scheme, of in curves.items()
        for seed, y in of.items()
    ]
    return pl.DataFrame(rows)


DIFFERENCE = {"where": {"scheme": "a"}, "minus": {"scheme": "b"}}


def test_runs_are_paired_by_seed_whatever_their_order():
    # With every seed the difference is 5, though the seeds themselves differ by 400.
    frame = by_seed(a={1: 105.0, 2: 305.0, 3: 505.0}, b={3: 500.0, 1: 100.0, 2: 300.0})
    judged = judge(claim("mean", (5, 5), **DIFFERENCE), frame)
    assert (judged.value, judged.low, judged.high) == (5, 5, 5)


def test_only_seeds_that_all_compared_runs_have_count():
    frame = by_seed(a={1: 105.0, 2: 305.0, 3: 505.0, 4: 9e9}, b={5: 9e9, 3: 500.0, 2: 300.0, 1: 100.0})
    judged = judge(claim("mean", (5, 5), **DIFFERENCE), frame)
    assert (judged.value, judged.low, judged.high) == (5, 5, 5)
    assert judge(claim("mean", (0, 1e10), where={"scheme": "b"}), frame).value == (9e9 + 900) / 4


def test_runs_without_a_common_seed_are_not_compared():
    frame = by_seed(a={1: 105.0, 2: 305.0}, b={3: 500.0, 4: 100.0})
    with pytest.raises(FaninError, match="no seed in common"):
        judge(claim("mean", (5, 5), **DIFFERENCE), frame)


def test_the_interval_shows_seeds_that_disagree():
    frame = pl.concat(
        [
            runs({"a": COLLAPSE}, seeds=5),
            runs({"a": LATER}, seeds=5).with_columns(pl.col("seed") + 5),
        ]
    )
    judged = judge(claim("collapse-point", (10, 20)), frame)
    assert (judged.low, judged.high) == (15, 20)


def test_where_and_over_choose_runs():
    frame = runs({"a": COLLAPSE, "b": LATER})
    ratio = claim("collapse-point", (1.9, 2.0), where={"scheme": "b"}, over={"scheme": "a"}, direction=(1.01, 9))
    judged = judge(ratio, frame)
    assert judged.value == pytest.approx(20 / 15)
    assert judged.outcome == "right direction, other size"


def test_a_direction_is_that_of_the_whole_interval():
    wanted = claim("mean", (2, 3), direction=(1, 3))
    told = {
        values: judge(wanted, pl.DataFrame({"n": [1] * 3, "seed": [1, 2, 3], "goodput": values})).outcome
        for values in [(1.1, 1.1, 1.1), (0.9, 1.0, 1.4), (0.9, 0.9, 0.9)]
    }
    assert list(told.values()) == ["right direction, other size", "not reproduced", "not reproduced"]


def test_a_mean_has_a_t_interval():
    judged = judge(claim("mean", (880, 930), at=[5, 10]), runs({"a": COLLAPSE}))
    assert judged.value == pytest.approx(910, rel=0.01)
    assert judged.low < judged.value < judged.high
    assert judged.high - judged.low < 30


@pytest.mark.parametrize(
    ("losses", "accept", "outcome"),
    [
        # A mean inside the range of nine runs without a loss and one with ten times the range.
        ([0.0] * 9 + [20.0], (1, 4), "not reproduced"),
        ([0.0] * 9 + [20.0], (0, 4), "reproduced"),
        # Very different runs that all have some: the t interval alone would include zero.
        ([0.5, 0.6, 0.7, 9.0], (1, 4), "reproduced"),
        ([2.0, 2.1, 2.2, 1.9], (1, 4), "reproduced"),
    ],
)
def test_a_mean_that_might_be_nothing_is_not_reproduced(losses, accept, outcome):
    frame = pl.DataFrame({"n": [1] * len(losses), "seed": range(len(losses)), "goodput": losses})
    judged = judge(claim("mean", accept), frame)
    assert (judged.outcome, judged.low >= 0) == (outcome, True)
    assert ("includes zero" in judged.reason) == (outcome == "not reproduced")


@pytest.mark.parametrize(
    ("losses", "edge"), [([0.0] * 4, False), ([0.0, 0.0, 0.0, 0.9], False), ([0.0] * 3 + [2.0], True)]
)
def test_nothing_far_below_the_range_is_not_at_the_edge(losses, edge):
    frame = pl.DataFrame({"n": [1] * 4, "seed": range(4), "goodput": losses})
    judged = judge(claim("mean", (1, 4)), frame)
    assert (judged.outcome, judged.at_edge) == ("not reproduced", edge)
    assert "includes zero" not in judged.reason


def test_a_share_of_points_may_be_none_with_other_seeds():
    frame = by_seed(a={1: 5.0, 2: 5.0, 3: 1.0}, b={1: 1.0, 2: 1.0, 3: 5.0})
    wins = claim("wins", (1, 1), where={"scheme": "a"}, rivals=[{"scheme": "b"}], better="high")
    judged = judge(wins, frame)
    # No share is above 100 %, but with other seeds this one is below.
    assert (judged.low, judged.outcome, judged.at_edge) == (0, "reproduced", True)


def test_a_ratio_that_other_seeds_might_not_have_is_at_the_edge():
    frame = by_seed(a={1: 0.0, 2: 0.0, 3: 5.0, 4: 0.0}, b={1: 0.0, 2: 0.0, 3: 8.0, 4: 0.0})
    ratio = {"where": {"scheme": "a"}, "over": {"scheme": "b"}, "direction": (0, 1)}
    held, near = (judge(claim("mean", accept, **ratio), frame) for accept in [(0, 0.9), (0, 0.5)])
    assert (held.value, held.outcome, held.at_edge) == (0.625, "reproduced", True)
    assert "no number" in held.reason
    # Nor do such runs show a direction.
    assert (near.outcome, near.at_edge) == ("not reproduced", True)


def test_first_at_least_max_and_min():
    frame = runs({"a": {1: 0.1, 2: 0.6, 3: 1.0}}, noise=0)
    assert judge(claim("first-at-least", (2, 2), level=0.5), frame).value == 2
    assert math.isinf(judge(claim("first-at-least", (2, 2), level=1.5), frame).value)
    assert judge(claim("max", (1, 1)), frame).value == 1.0
    assert judge(claim("min", (0, 1), at=[2, 3]), frame).value == pytest.approx(0.6)


def test_trend_wins_and_order():
    frame = runs({"a": COLLAPSE, "b": LATER, "c": DIP}, noise=0)
    assert judge(claim("trend", (-1, -0.5), where={"scheme": ["b"]}), frame).value == pytest.approx(-2 / 6)
    assert judge(claim("trend", (1, 1)), runs({"a": {1: 1.0, 2: 2.0, 3: 5.0}}, noise=0)).outcome == "reproduced"
    own, rivals = {"scheme": ["b"]}, [{"scheme": ["a"]}, {"scheme": ["c"]}]
    # At 5, 10 and 15 nobody is better; at 20 DIP is.
    assert judge(claim("wins", (1, 1), where=own, rivals=rivals), frame).value == 0.75
    assert judge(claim("wins", (1, 1), where=own, rivals=rivals, at=[5, 10]), frame).outcome == "reproduced"
    assert judge(claim("wins", (1, 1), where=own, rivals=rivals, between=(20, 20)), frame).value == 0
    assert judge(claim("wins", (1, 1), where=own, rivals=rivals, better="low"), frame).value == 0.5
    # Means: a 585, b 732.5, c 700.
    assert judge(claim("order", (1, 1), where=own, rivals=rivals[::-1]), frame).value == 1
    assert judge(claim("order", (1, 1), where=own, rivals=rivals), frame).value == pytest.approx(2 / 3)
    assert judge(claim("order", (1, 1), where=own, rivals=rivals, better="low"), frame).value == pytest.approx(1 / 3)


def test_the_farthest_rival_is_the_one_with_the_largest_factor():
    frame = runs({"a": {1: 10.0}, "b": {1: 8.0}, "c": {1: 12.0}, "none": {1: 0.0}}, noise=0)
    rivals = [{"scheme": ["b"]}, {"scheme": ["c"]}]
    similar = judge(claim("farthest", (0.8, 1.2), where={"scheme": ["a"]}, rivals=rivals), frame)
    # 10 / 8 is farther from 1 than 10 / 12.
    assert (similar.value, similar.outcome) == (pytest.approx(1.25), "not reproduced")
    assert similar.show(similar.value) == "1.25"
    assert (
        judge(claim("farthest", (0.8, 1.2), where={"scheme": ["a"]}, rivals=rivals[1:]), frame).outcome == "reproduced"
    )
    assert judge(claim("farthest", (0, 0), where={"scheme": ["none"]}, rivals=rivals), frame).value == 0


@pytest.mark.parametrize("group", ["", "groups.bursts."])
def test_a_system_that_never_finishes_comes_last(group):
    never = math.inf
    frame = pl.DataFrame(
        {
            "scheme": ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
            "n": [1] * 9,
            "seed": [1, 2, 3] * 3,
            f"{group}fct_mean_s": [0.1, 0.2, 0.3, 0.2, never, never, None, None, None],
            f"{group}incomplete": [0] * 3 + [0, 4, 1] + [0] * 3,
            f"{group}completed": [4] * 3 + [4, 0, 3] + [0] * 3,
        }
    )

    def judged(measure, accept, **more):
        return judge(claim(measure, accept, y=f"{group}fct_mean_s", **more), frame)

    rival = {"where": {"scheme": "a"}, "rivals": [{"scheme": "b"}], "better": "low"}
    assert judged("wins", (1, 1), **rival).value == 1
    # How many times longer it takes is not known: that is no size, whatever is accepted.
    ahead = judged("lead", (0, 0.5), **rival)
    assert (ahead.outcome, ahead.distance, ahead.shown.value) == ("not reproduced", 1, "not defined")
    over = {"where": {"scheme": "b"}, "over": {"scheme": "a"}, "published": "much more"}
    longer = judged("mean", (1.5, math.inf), **over)
    assert (longer.value, longer.outcome, longer.shown.value) == (math.inf, "not reproduced", "infinite")
    assert (longer.distance, longer.at_edge) == (1, False)
    assert longer.reason.startswith("infinite (in 2 of 6 runs 5 of 8 transfers had not ended); accepted at least 1.5")
    # Nor a direction: a transfer that has not ended decides the mean, and the ratio the other way round is not defined.
    assert judged("mean", (1.5, math.inf), direction=(0, math.inf), **over).outcome == "not reproduced"
    beyond = {"where": {"scheme": "b"}, "minus": {"scheme": "a"}}
    assert judged("mean", (0.1, math.inf), **beyond).outcome == "not reproduced"
    assert judged("mean", (0, 1), where={"scheme": "b"}).outcome == "not reproduced"
    # No completion time without an unfinished transfer is no result at all.
    with pytest.raises(FaninError, match="no run has scheme = "):
        judged("mean", (0, 1), where={"scheme": "c"})


def test_what_is_never_reached_reproduces_words_and_no_number():
    frame = runs({"a": DIP, "b": dict.fromkeys(DIP, 900.0)})

    def outcome(published, measure="collapse-point", **more):
        about = claim(measure, (1.5, math.inf), where={"scheme": "b"}, published=published, **more)
        return judge(about, frame).outcome

    assert outcome("no collapse") == outcome(None) == "reproduced"
    assert outcome(100.0) == "not reproduced"
    # A later point than another is known to be later, and not by how much.
    later = {"over": {"scheme": "a"}, "measure": "first-at-most", "level": 500}
    assert outcome("much later", **later) == "not reproduced"
    assert outcome("much later", **later, direction=(1, math.inf)) == "right direction, other size"
    about = claim("first-at-most", (1.5, math.inf), where={"scheme": "b"}, over={"scheme": "a"}, level=500)
    assert judge(about, frame).shown.value == "never"
    sooner = judge(claim("first-at-most", (0, 0.5), where={"scheme": "a"}, over={"scheme": "b"}, level=500), frame)
    assert (sooner.outcome, sooner.shown.value) == ("not reproduced", "not defined")


def test_many_over_none_reproduces_words_and_no_number():
    frame = runs({"a": {1: 0.0}, "b": {1: 5.0}})
    more = claim("mean", (1.1, math.inf), where={"scheme": "b"}, over={"scheme": "a"}, published="more")
    judged = judge(more, frame)
    assert (judged.outcome, judged.shown.value) == ("reproduced", "many to none")
    assert judge(more.model_copy(update={"published": 2.0}), frame).outcome == "not reproduced"


def test_of_two_systems_that_never_finish_none_is_ahead():
    frame = pl.DataFrame(
        {
            "scheme": ["a", "a", "b", "b"],
            "n": [1, 2] * 2,
            "seed": [1] * 4,
            "fct_mean_s": [math.inf, 0.1, math.inf, 0.3],
        }
    )

    def value(measure, **more):
        return judge(claim(measure, (0, 1), y="fct_mean_s", where={"scheme": "a"}, **more), frame).value

    rival = {"rivals": [{"scheme": "b"}], "better": "low"}
    assert value("wins", **rival) == 1
    assert value("margin", **rival) == 0
    assert value("margin", at=[2], **rival) == pytest.approx(0.2)
    # Where nothing finishes at all, nothing has been compared.
    assert math.isnan(value("wins", at=[1], **rival))
    assert math.isnan(value("margin", at=[1], **rival))
    assert value("trend") == -1
    # There is no ratio of the two, and no difference.
    assert math.isnan(value("mean", over={"scheme": "b"}))
    assert math.isnan(value("mean", minus={"scheme": "b"}))


def test_a_margin_is_the_smallest_over_x():
    frame = runs({"a": {1: 10.0, 2: 10.0}, "b": {1: 8.0, 2: 9.5}, "c": {1: 9.0, 2: 3.0}}, noise=0)
    terms = {"where": {"scheme": ["a"]}, "rivals": [{"scheme": ["b"]}, {"scheme": ["c"]}]}
    judged = judge(claim("margin", (0.1, 1), **terms), frame)
    assert (judged.value, judged.outcome) == (pytest.approx(0.5), "reproduced")
    assert judge(claim("margin", (0, 9), better="low", **terms), frame).value == pytest.approx(-7.0)


def test_a_mean_of_ratios_weighs_every_point_alike():
    frame = runs({"a": {1: 1.0, 2: 10.0, 3: 5.0}, "b": {1: 1.0, 2: 40.0}}, noise=0)
    terms = {"where": {"scheme": ["a"]}, "over": {"scheme": ["b"]}}
    judged = judge(claim("mean-ratio", (0.6, 0.65), **terms), frame)
    assert (judged.value, judged.outcome) == (pytest.approx((1 + 0.25) / 2), "reproduced")
    assert judge(claim("mean", (0, 9), **terms), frame).value == pytest.approx((16 / 3) / 20.5)


def test_a_mean_of_ratios_needs_what_divides():
    with pytest.raises(ValueError, match="mean-ratio needs over"):
        claim("mean-ratio", (0, 1), where={"scheme": ["a"]})


def test_a_lead_is_over_the_best_rival():
    frame = runs({"a": {1: 10.0}, "b": {1: 8.0}, "c": {1: 12.0}}, noise=0)
    terms = {"where": {"scheme": ["a"]}, "rivals": [{"scheme": ["b"]}, {"scheme": ["c"]}]}
    assert judge(claim("lead", (1.05, 9), **terms), frame).value == pytest.approx(10 / 12)
    assert judge(claim("lead", (0, 0.95), better="low", **terms), frame).value == pytest.approx(1.25)


def test_first_at_most_minus_and_over():
    frame = runs({"a": COLLAPSE, "b": LATER}, noise=0)
    assert judge(claim("first-at-most", (15, 15), where={"scheme": ["a"]}, level=300), frame).outcome == "reproduced"
    both = {"where": {"scheme": ["b"]}, "minus": {"scheme": ["a"]}}
    assert judge(claim("mean", (0, 1e3), at=15, **both), frame).value == pytest.approx(610)
    assert judge(claim("collapse-point", (5, 5), **both), frame).value == 5


def test_a_quick_look_without_the_claims_runs_judges_nothing():
    judged = judge(claim("mean", (0, 1), at=[7]), runs({"a": COLLAPSE}), provisional=True)
    assert (judged.outcome, judged.reason) == ("not judged", "the quick look made no run for this claim")


def test_a_papers_words_are_shown_as_they_are():
    judged = judge(claim("max", (0, 1e3), published="far more"), runs({"a": COLLAPSE}))
    assert judged.published == "far more"
    assert judge(claim("max", (0, 1e3)), runs({"a": COLLAPSE})).published == "-"


def test_one_seed_has_no_interval():
    judged = judge(claim("max", (900, 1000)), runs({"a": COLLAPSE}, seeds=1))
    assert math.isnan(judged.low)
    assert judged.as_dict()["interval"] is None


def test_two_seeds_have_no_interval():
    for measure in ("max", "mean"):
        judged = judge(claim(measure, (900, 1000), at=[5, 10]), runs({"a": COLLAPSE}, seeds=2))
        assert judged.span(judged.low, judged.high) == "-"


def test_ranges_are_said_in_words():
    point = judge(claim("collapse-point", (10, 20), x="flows"), runs({"a": DIP}).rename({"n": "flows"}))
    assert point.show(10) == "10 flows"
    assert point.span(5, 20) == "5 to 20 flows"
    assert point.span(15, 15) == "15 flows"
    assert point.span(150, math.inf) == "from 150 flows on, or never"
    assert point.span(math.inf, math.inf) == "never"
    ratio = judge(claim("max", (0, math.inf), over={}), runs({"a": DIP}))
    assert ratio.span(1.01, math.inf) == "at least 1.01"
    assert ratio.show(math.nan) == "not defined"


def test_a_reason_says_how_sure_it_is():
    noisy = runs({"a": COLLAPSE}, noise=0.3)
    inside = judge(claim("mean", (900, 1000), at=[5]), noisy)
    assert "reaches beyond the accepted range" in inside.reason
    outside = judge(claim("mean", (1, 2), at=[5], explanation="because"), noisy)
    assert outside.reason.endswith("accepted 1 to 2 (w): because")


def test_what_was_written_of_other_runs_says_so():
    about = claim("mean", (1, 2), at=[5], explanation="because", note="rank")
    found = judge(about, runs({"a": COLLAPSE}), written_for="seeds 1..10")
    assert found.reason.endswith("accepted 1 to 2 (w): written for seeds 1..10, not for these runs: because")
    assert found.note == "written for seeds 1..10, not for these runs: rank"
    assert found.reason_here.endswith("accepted 1 to 2 (w)")
    assert found.explained_elsewhere
    assert judge(about, runs({"a": COLLAPSE})).note == "rank"
    own = judge(about, runs({"a": COLLAPSE}))
    assert (own.reason_here, own.explained_elsewhere) == (own.reason, False)
    bare = judge(claim("mean", (1, 2), at=[5]), runs({"a": COLLAPSE}), written_for="seeds 1..10")
    assert "written for" not in bare.reason
    assert bare.note == ""


@pytest.mark.parametrize(
    ("value", "interval", "accept", "edge"),
    [
        (55, (53, 57), (50, math.inf), False),
        (50.17, (50.1, 50.2), (50, math.inf), True),
        (49.8, (49.7, 49.9), (50, math.inf), True),
        (55, (49, 61), (50, math.inf), True),
        (45, (39, 51), (50, math.inf), True),
        (45, (39, 49), (50, math.inf), False),
        # A range that is narrow has 1 % of its own width.
        (1, (1, 1), (0.995, 1.005), False),
        # Nothing is less than zero.
        (0, (0, 0), (0, 3), False),
        (0.001, (-0.1, 0.1), (0, 3), False),
        (0.001, (-0.1, 0.1), (-1, 0.0005), True),
        (55, (math.nan, math.nan), (50, math.inf), False),
        (math.nan, (math.nan, math.nan), (50, math.inf), False),
        (math.inf, (math.inf, math.inf), (50, math.inf), False),
    ],
)
def test_a_number_that_might_as_well_be_beyond_the_bound_is_at_the_edge(value, interval, accept, edge):
    outcome = "reproduced" if accept[0] <= value <= accept[1] else "not reproduced"
    assert Measurement(claim("mean", accept), value, *interval, outcome).at_edge == edge


@pytest.mark.parametrize(
    ("measure", "accept", "more", "edge"),
    [
        ("wins", (0.5, 1), {"rivals": [{}]}, False),
        ("trend", (0.5, 1), {}, False),
        ("mean", (0.5, 1), {}, True),
        ("mean", (0.5, 1), {"y": "timeout_ratio"}, False),
        ("mean", (0.5, 1), {"y": "timeout_ratio", "over": {}}, True),
        # The next point of the axis is far.
        ("collapse-point", (0.5, 1), {}, False),
    ],
)
def test_a_bound_that_no_number_can_pass_has_no_edge(measure, accept, more, edge):
    about = claim(measure, accept, **more)
    assert Measurement(about, 0.999, 0.999, 0.999, "reproduced").at_edge == edge


def test_judging_is_repeatable():
    frame = runs({"a": COLLAPSE}, noise=0.3)
    assert judge(claim("max", (0, 1)), frame) == judge(claim("max", (0, 1)), frame)


def test_a_claim_about_nothing_says_so():
    with pytest.raises(FaninError, match="no column"):
        judge(claim("max", (0, 1), where={"nonsense": 1}), runs({"a": COLLAPSE}))
    with pytest.raises(FaninError, match="no run has scheme = "):
        judge(claim("max", (0, 1), where={"scheme": "z"}), runs({"a": COLLAPSE}))


@pytest.mark.parametrize(("degrees", "quantile"), [(1, 12.706), (9, 2.262), (30, 2.042), (60, 2.0003), (200, 1.9719)])
def test_students_t(degrees, quantile):
    assert t_quantile(degrees) == pytest.approx(quantile, abs=5e-4)


def test_mean_interval_against_a_hand_computed_one():
    mean, half = mean_interval(np.array([1.0, 2.0, 3.0]))
    assert mean == 2.0
    assert half == pytest.approx(4.303 / math.sqrt(3))
    assert mean_interval(np.array([0.1] * 10)) == (0.1, 0.0)
    assert math.isnan(mean_interval(np.array([1.0]))[1])


def test_the_number_says_what_it_is():
    def quantity(measure, **more):
        return judge(claim(measure, (0, 1), **more), runs({"a": COLLAPSE, "b": LATER})).quantity

    own = {"scheme": "a"}
    assert quantity("max") == "largest: goodput"
    assert quantity("trend", where=own).startswith("Kendall's tau (1 always rises")
    assert quantity("mean", where=own, over={"scheme": "b"}) == "mean: goodput, over that of b"
    assert (
        quantity("mean", where={"scheme": "a", "n": 5}, over={"scheme": "a", "n": 10})
        == "mean: goodput, over that of 10 n"
    )
    assert quantity("mean", where=own, minus={"scheme": "b"}) == "mean: goodput, less that of b"
    assert quantity("wins", where=own, rivals=[{"scheme": "b"}]) == "share of points where no rival is better: goodput"
    named = judge(claim("max", (0, 1)), runs({"a": COLLAPSE}), label="Goodput of all flows")
    assert named.quantity == "largest: Goodput of all flows"


def test_shares_of_points_are_per_cent():
    judged = judge(claim("wins", (1, 1), where={"scheme": "a"}, rivals=[{"scheme": "b"}]), runs({"a": DIP, "b": LATER}))
    assert judged.show(judged.value) == "50 %"
    assert judged.reason.startswith("50 %; accepted 100 % (w)")


def test_a_range_without_a_lower_end_is_at_most():
    judged = judge(claim("mean", (-math.inf, 5)), runs({"a": COLLAPSE}))
    assert judged.span(*judged.case.accept) == "at most 5"


def half(name, outcome, *, of="", reading="", value=5.0):
    about = claim("mean", (4, 6), id=f"{name}-{reading}", claim=name, half_of=of, reading=reading)
    return Measurement(about, value, value, value, outcome)


def test_halves_of_a_sentence_are_judged_together_under_each_reading():
    first = [half("high", "reproduced", reading="a"), half("high", "reproduced", reading="b")]
    second = [
        half("low", "reproduced", of="high", reading="b"),
        half("low", "not reproduced", of="high", reading="a", value=9.0),
    ]
    judged = join_halves([*first, *second, half("other", "reproduced", reading="a")])
    assert [each.outcome for each in judged] == [
        "not reproduced",
        "reproduced",
        "reproduced",
        "not reproduced",
        "reproduced",
    ]
    failing = judged[0]
    # The half that holds is told from the one that fails, and the latter decides how far it is.
    assert "; other half, low-a, not reproduced: 9" in failing.reason
    assert failing.distance == second[1].distance > 0
    assert judged[4] == half("other", "reproduced", reading="a")


@pytest.mark.parametrize(
    ("outcomes", "whole"),
    [
        (("reproduced", "right direction, other size"), "right direction, other size"),
        (("right direction, other size", "not reproduced"), "not reproduced"),
        (("not judged", "not reproduced"), "not judged"),
    ],
)
def test_a_sentence_is_as_its_weakest_half(outcomes, whole):
    judged = join_halves([half("high", outcomes[0]), half("low", outcomes[1], of="high")])
    assert judged[0].outcome == whole
    assert judged[1].outcome == outcomes[1]


@pytest.mark.parametrize(
    ("first", "second", "edge"),
    [
        (("reproduced", 5.0), ("reproduced", 5.999), True),
        (("reproduced", 5.0), ("reproduced", 5.0), False),
        # The half that holds is at the edge, and the one that fails is not.
        (("reproduced", 5.999), ("not reproduced", 9.0), False),
        (("reproduced", 5.0), ("not reproduced", 6.001), True),
        (("not reproduced", 9.0), ("not reproduced", 6.001), False),
    ],
)
def test_a_sentence_in_halves_is_at_the_edge_if_what_decides_it_is(first, second, edge):
    judged = join_halves([half("high", first[0], value=first[1]), half("low", second[0], of="high", value=second[1])])
    assert judged[0].at_edge == edge

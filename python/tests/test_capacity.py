"""``fanin capacity``."""

import json
from pathlib import Path

import numpy as np
import pytest
from patches import before_runs, stored

import fanin
from fanin.choose import goals
from fanin.choose.capacity.find import default_bounds, fan_in_path, find, find_in
from fanin.choose.capacity.judge import judge
from fanin.choose.capacity.search import Search
from fanin.choose.cautions import waits_that_no_timeout_counts
from fanin.choose.goals import keep
from fanin.errors import NotFoundError
from fanin.numbers.stats import share_at_most
from fanin.run.laboratory import Laboratory
from fanin.scenario.format.values import parse_range

TINY = """\
[network]
topology = "star"
rate = "1Gbps"
delay = "10us"
buffer = "24pkt"

[transport]
rto-min = "10ms"
initial-window = "4mss"

[[traffic]]
name = "answers"
kind = "incast"
senders = 4
bytes-each = "12KB"
jitter = "20us"
"""


@pytest.fixture
def tiny(work: Path) -> Path:
    (work / "tiny.toml").write_text(TINY)
    return work / "tiny.toml"


def searched(respond, keep="drops=0", first=2, last=1024, precision=0.0, seeds=10, own=None) -> Search:
    """A search over a made-up response: fan-in and seed to the number of drops or a whole row."""
    bounds = [goals.keep(keep, fanin.Scenario("small.toml"))] if isinstance(keep, str) else keep
    search = Search({}, bounds, first, last, list(range(1, seeds + 1)), precision, own=own)
    while (wanted := search.next()) is not None:
        fan_in, some = wanted
        assert len(search.rows) < 100
        for seed in some:
            found = respond(fan_in, seed)
            row = found if isinstance(found, dict) else {"drops": found}
            search.rows.setdefault(fan_in, []).append({"seed": seed, **row})
    return search


@pytest.mark.parametrize("capacity", [2, 3, 7, 31, 32, 33, 100, 513, 1000, 1023])
def test_finds_the_exact_place_in_few_runs(work, capacity):
    found = searched(lambda fan_in, _: 0 if fan_in <= capacity else 5).found()
    assert (found.capacity, found.breaks_at, found.monotone) == (capacity, capacity + 1, True)
    rough = searched(lambda fan_in, _: 0 if fan_in <= capacity else 5, precision=0.05).found()
    assert rough.runs < (40 if capacity < 256 else 50)
    assert rough.capacity <= capacity < rough.breaks_at <= max(rough.capacity * 1.05, rough.capacity + 1)


def test_a_gap_below_ones_own_fan_in_limits_nothing(work):
    def gap(fan_in, _):
        return 5 if fan_in == 3 or 5 <= fan_in <= 9 or fan_in > 300 else 0

    assert searched(gap).found().capacity < 20
    found = searched(gap, own=20).found()
    assert (found.capacity, found.breaks_at) == (300, 301)
    assert min(each.fan_in for each in found.tried) == 20
    # One that breaks them itself limits it as any other.
    assert searched(lambda fan_in, _: 5 if fan_in > 12 else 0, own=20).found().capacity == 12


def test_how_much_a_search_takes_is_the_mean_over_where_it_may_end(work):
    search = Search({}, [goals.keep("drops=0", fanin.Scenario("small.toml"))], 2, 1024, [1, 2, 3, 4, 5, 6], 0.1)
    assert search.expected() == (pytest.approx(31, abs=2), pytest.approx(5494, rel=0.05))


def test_a_bound_has_no_interval_that_impossible(work):
    def half_collapse(fan_in: int, seed: int) -> dict:
        return {"goodput_bps": 9e9 if seed % 2 else 1e8, "capacity_bps": 1e10}

    search = searched(half_collapse, keep="goodput=9Gbps", first=5, last=5, seeds=4)
    ((bound,),) = [each.bounds for each in search.found().tried]
    assert (bound.as_dict()["half"], bound.as_dict()["low"], bound.as_dict()["high"]) == (None, 1e8, 9e9)
    assert "goodput 4,550 (100..9,000) Mbit/s" in bound.shown()


def test_ends_of_the_range(work):
    every = searched(lambda *_: 0).found()
    assert (every.capacity, every.breaks_at, every.monotone) == (1024, None, True)
    none = searched(lambda *_: 1).found()
    assert (none.capacity, none.breaks_at) == (None, 2)
    assert none.why == "drops 1 (at most 0)"
    assert searched(lambda *_: 0, first=5, last=5).found().capacity == 5


def test_what_is_too_much_from_the_first_on_is_not_looked_for_further_up(work):
    search = searched(lambda *_: 1)
    assert sorted(search.rows) == [2, 8, 32]
    assert search.found().remarks == ["fan-ins above 32 were not tried"]
    # Goodput comes with the fan-in.
    rising = searched(lambda fan_in, _: {"goodput_bps": 1e6 * fan_in}, keep="goodput=500Mbps")
    assert max(rising.rows) == 1024


def test_a_response_that_comes_back_is_reported(work):
    found = searched(lambda fan_in, _: 5 if 40 < fan_in < 90 else 0).found()
    assert (found.capacity, found.monotone) == (40, False)
    assert found.remarks == ["not monotone: the bounds hold again at 128"]
    low = searched(lambda fan_in, _: 5 if fan_in < 8 or fan_in > 50 else 0).found()
    assert (low.capacity, low.remarks) == (50, ["not monotone: the bounds do not hold at 2 either"])


def test_a_hole_between_the_rungs_is_looked_for(work):
    found = searched(lambda fan_in, _: 5 if 40 < fan_in < 60 or fan_in > 64 else 0).found()
    assert (found.capacity, found.monotone) == (40, False)
    # Not only in the widest gap, which is from 64 to 128 here.
    low = searched(lambda fan_in, _: 5 if 36 < fan_in < 56 or fan_in > 150 else 0, precision=0.05).found()
    assert (low.capacity, low.breaks_at, low.monotone) == (36, 37, False)


def test_all_seeds_are_run_only_where_the_answer_needs_them(work):
    # Around the edge, at 64, the seeds disagree by more than the bound is away.
    search = searched(lambda fan_in, seed: fan_in + 8 * (seed % 3 - 1), keep="drops=64", precision=0.05)
    seeds = {each.fan_in: len(each.seeds) for each in search.judged()}
    assert (seeds[2], seeds[8], seeds[32], seeds[128]) == (2, 2, 2, 2)
    found = search.found()
    assert 54 < found.capacity < 64
    assert seeds[found.capacity] == seeds[found.breaks_at] == 10
    assert f"10 seeds cannot decide about {found.breaks_at}, which counts as broken" in found.remarks
    # Where all agree that a bound is broken, half of them say so.
    clear = searched(lambda fan_in, _: 0 if fan_in <= 50 else 5)
    assert {each.fan_in: len(each.seeds) for each in clear.judged() if each.fan_in in (50, 51)} == {50: 10, 51: 5}


def test_what_two_seeds_say_is_not_the_answer(work):
    # Seeds 1 and 2, which search, stand twice as much as the others.
    found = searched(lambda fan_in, seed: 0 if fan_in <= (80 if seed < 3 else 40) else 5).found()
    assert (found.capacity, found.breaks_at, found.monotone) == (40, 41, True)
    assert [each.state for each in found.tried if each.fan_in in (40, 80)] == ["keeps", "open"]
    # The other way round: what they do not stand on the way up is kept by the mean.
    lower = searched(lambda fan_in, seed: 0 if fan_in <= 40 or seed > 2 else 5, keep="drops=3").found()
    assert (lower.capacity, len(lower.kept.breaking)) == (1024, 2)
    # Once that is known, no more glances are taken.
    assert lower.runs < 160


def rare(share: float, seeds: int, searches: int = 2000) -> tuple[float, float]:
    """Of searches at one fan-in, where so many seeds break the bound: those that say it is kept, and those that are
    wrong about the share of seeds that breaks it."""
    generator, bounds = np.random.default_rng(1), [goals.keep("timeout-ratio=1%", fanin.Scenario("small.toml"))]
    kept = wrong = 0
    for _ in range(searches):
        found = searched(
            lambda *_: {"timeout_ratio": 0.1 * (generator.random() < share)},
            keep=bounds, first=5, last=5, seeds=seeds,
        ).found()  # fmt: skip
        kept += found.kept is not None
        wrong += found.kept is not None and found.kept.share_at_most < share
    return kept / searches, wrong / searches


@pytest.mark.parametrize(("share", "seeds"), [(0.2, 10), (0.27, 10), (0.2, 14)])
def test_what_is_said_with_confidence_is_wrong_in_five_of_a_hundred_searches(work, share, seeds):
    kept, wrong = rare(share, seeds)
    assert wrong <= 0.05
    # Ten seeds cannot tell that one in five breaks the bound, and do not say that they can; fourteen can.
    assert kept == wrong or (share, seeds) == (0.2, 10)
    assert kept == pytest.approx((1 - share) ** seeds, abs=0.02)


def test_it_is_so_of_the_answer_of_a_whole_search(work):
    # Each seed breaks from a fan-in of its own on, between 11 and 60.
    generator, bounds = np.random.default_rng(1), [goals.keep("drops=0", fanin.Scenario("small.toml"))]
    wrong = 0
    for _ in range(100):
        stands = generator.integers(10, 60, size=11)
        found = searched(
            lambda fan_in, seed, stands=stands: 0 if fan_in <= stands[seed] else 9, bounds, last=64
        ).found()
        share = max(found.capacity - 9, 0) / 50
        wrong += found.kept.share_at_most < share
    assert wrong <= 5


def test_seeds_that_disagree_more_than_fan_ins_do_end_the_search(work):
    generator, bounds = np.random.default_rng(2), [goals.keep("goodput=90%", fanin.Scenario("small.toml"))]
    found = []
    for _ in range(20):
        of_seed = 1 + 0.05 * generator.standard_normal(11)

        def noisy(fan_in: int, seed: int, of_seed=of_seed) -> dict:
            falls = max(0.5, 1 - max(fan_in - 100, 0) / 400)
            return {"goodput_bps": 1e9 * falls * of_seed[seed] * (1 + 0.02 * generator.standard_normal())}

        found.append(searched(noisy, bounds, precision=0.05).found())
    assert max(each.runs for each in found) < 300
    told = [each for each in found if any("seeds differ too much" in remark for remark in each.remarks)]
    assert told
    assert all(each.breaks_at - each.capacity > 0.05 * each.capacity for each in told)


def test_what_ends_it_is_what_is_broken_and_what_seeds_leave_open_says_so(work):
    keeps = [goals.keep(text, fanin.Scenario("small.toml")) for text in ("drops=5", "timeouts=5")]

    def why(drops, timeouts):
        rows = [
            {"seed": at, "drops": each[0], "timeouts": each[1]}
            for at, each in enumerate(zip(drops, timeouts, strict=True))
        ]
        return judge(2, keeps, {2: rows}).why

    few, open_, many = (0, 1, 0), (0, 1, 9), (90, 91, 90)
    assert why(few, many).startswith("timeouts 90")
    assert "drops" not in why(open_, many)
    # Its mean, 3.3, keeps the bound.
    assert why(open_, few).startswith("drops 3.333")
    assert why(open_, few).endswith("(at most 5), undecided")
    assert why(few, few) == ""


def test_the_share_that_seeds_exclude():
    assert share_at_most(0, 10) == pytest.approx(1 - 0.05**0.1)
    # Clopper and Pearson's limits, as tables have them.
    assert share_at_most(1, 10) == pytest.approx(0.3942, abs=1e-4)
    assert share_at_most(3, 20) == pytest.approx(0.3437, abs=1e-4)
    assert share_at_most(0, 2000) == pytest.approx(1 - 0.05 ** (1 / 2000), rel=1e-5)
    assert share_at_most(4, 4) == 1.0


def test_a_share_is_of_the_best_at_smaller_fan_ins(work):
    def rises_and_falls(fan_in: int, _: int) -> dict:
        return {"goodput_bps": min(fan_in, 32) / 32 * 1e9 if fan_in <= 80 else 0.5e9}

    found = searched(rises_and_falls, keep="goodput=90%").found()
    assert (found.capacity, found.breaks_at, found.monotone) == (80, 81, True)
    assert found.why == "goodput 500 Mbit/s (at least 900 Mbit/s)"


def test_agrees_with_a_grid(tiny):
    experiment = fanin.Scenario(tiny)
    keep = [goals.keep("timeout-ratio=1%", experiment)]
    grid = {
        senders: max(
            experiment.set({"traffic.answers.senders": senders}).run(seed).summary["timeout_ratio"]
            for seed in (1, 2, 3)
        )
        for senders in range(2, 17)
    }
    breaks_at = min(senders for senders, ratio in grid.items() if ratio > 0)
    assert 3 < breaks_at < 16
    assert all(ratio > 0.02 for senders, ratio in grid.items() if senders > breaks_at)
    path = fan_in_path(experiment)
    (found,) = find(experiment, [{}], keep, over=path, last=16, seeds=[1, 2, 3], precision=0.0, out=None)
    assert (found.capacity, found.breaks_at) == (breaks_at - 1, breaks_at)


def test_an_interrupted_search_continues_and_says_the_same(cli, tiny, interrupt):
    arguments = ("capacity", "tiny.toml", "--over", "traffic.answers.senders=2..16", "--json")
    whole = json.loads(cli(*arguments, "--out", "whole").out)
    interrupt(3)
    result = cli(*arguments, "--out", "part")
    assert (result.code, "the same command continues from there" in result.err) == (130, True)
    kept = stored("part")
    assert len(kept) == 4
    again = json.loads(cli(*arguments, "--out", "part").out)
    assert again["cases"] == whole["cases"]
    assert kept.items() <= stored("part").items()
    assert whole["runs"] == len(stored("whole"))


def test_a_run_that_breaks_off_leaves_what_was_judged_and_is_tried_again(cli, tiny, monkeypatch):
    arguments = ("capacity", "tiny.toml", "--over", "traffic.answers.senders=2..16", "--keep", "drops=0", "--json")
    whole = json.loads(cli(*arguments, "--out", "whole").out)

    def look(settings):
        if {("traffic.answers.senders", "8"), ("run.seed", "2")} <= set(settings):
            raise MemoryError

    with monkeypatch.context() as patched:
        before_runs(patched, look)
        result = cli(*arguments, "--out", "part")
    assert result.code == 1
    (case,) = json.loads(result.out)["cases"]
    assert "fan-in 8, seed 2: there was not enough memory" in case["error"]
    assert (case["capacity"], [each["fan_in"] for each in case["tried"]]) == (None, [2])
    assert "before the failure, the bounds held at 2" in result.err
    again = cli(*arguments, "--out", "part")
    assert (again.code, json.loads(again.out)["cases"]) == (0, whole["cases"])


def test_a_search_without_time_to_go_on_has_no_answer(tiny):
    experiment, over = fanin.Scenario(tiny), "traffic.answers.senders"
    laboratory = Laboratory(experiment, None, go_on=lambda: False)
    given = {"over": over, "first": 2, "last": 8, "seeds": [1, 2, 3], "precision": 0.1}
    assert find_in(laboratory, [{}], [keep("drops=0", experiment)], **given) == [None]


def test_several_schemes_are_drawn_as_bars(cli, tiny):
    result = cli(
        "capacity", "tiny.toml", "--scheme", "newreno,dctcp", "--over", "traffic.answers.senders=2..16", "--tsv"
    )
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert (
        lines[0]
        == "# tiny: largest traffic.answers.senders that keeps goodput=90% of its own best and timeout-ratio=1%"
    )
    table = [line.split("\t") for line in lines[1:4]]
    assert [row[0] for row in table] == ["scheme", "NewReno", "DCTCP"]
    assert [row[2] for row in table] == ["seeds that break it", *["0 of 10: at most 26 %"] * 2]
    assert lines[4] == "95 % confidence that no larger share of all seeds breaks a bound at the capacity"
    names = sorted(Path(line).name for line in lines[5:])
    assert names == ["capacity.csv", "capacity.json", "capacity.png", "capacity.svg"]
    rows = next(Path("results/capacity").glob("*/capacity.csv")).read_text().splitlines()
    assert rows[0].split(",")[:3] == ["by", "x", "mean"]
    assert [row.split(",")[1] for row in rows[1:]] == ["newreno", "dctcp"]


def test_a_larger_buffer_has_a_larger_capacity(cli, tiny):
    found = cli(
        "capacity", "tiny.toml", "--vary", "network.buffer=12pkt..48pkt", "--points", "3", "--json",
        "--over", "traffic.answers.senders=2..32", "--keep", "timeout-ratio=1%",
    )  # fmt: skip
    cases = json.loads(found.out)["cases"]
    assert [each["case"]["network.buffer"] for each in cases] == ["12pkt", "24pkt", "48pkt"]
    capacities = [each["capacity"] for each in cases]
    assert capacities == sorted(set(capacities))
    assert "Buffer" in next(Path("results/capacity").glob("*/capacity.svg")).read_text().title()


def test_waits_that_a_bound_on_timeouts_does_not_count_are_told(work):
    experiment = fanin.Scenario("small.toml")
    rows = {"1MB": [{"loss_probes": 9, "fct_max_s": 0.202}, {"loss_probes": 0, "fct_max_s": 0.3}], "4MB": [{}]}
    timeouts, goodput = (goals.measure(name, experiment) for name in ("timeout-ratio", "goodput"))
    (told,) = waits_that_no_timeout_counts([timeouts], rows)
    assert told.startswith("timeout-ratio: waits for tail loss probes are no timeouts; --keep goodput=90% ")
    assert waits_that_no_timeout_counts([timeouts, goodput], rows) == []
    assert waits_that_no_timeout_counts([timeouts], {"4MB": [{}]}) == []


def test_a_capacity_whose_search_ended_is_drawn_with_an_open_end(cli, tiny):
    given = ("capacity", "tiny.toml", "--vary", "network.buffer=12pkt,400pkt", "--keep", "timeout-ratio=1%")
    cli(*given, "--over", "traffic.answers.senders=2..16")
    (folder,) = Path("results/capacity").iterdir()
    assert "that many or more" in (folder / "capacity.svg").read_text()
    _by, x, mean, *_, high, _ = (folder / "capacity.csv").read_text().splitlines()[-1].split(",")
    assert (x, mean, high) == ("400.0", "16.0", "inf")


def test_a_network_that_is_full_ends_the_search(cli, tiny):
    network = 'topology = "leaf-spine"\nleaves = 2\nhosts-per-leaf = 5'
    tiny.write_text(TINY.replace('topology = "star"', network))
    found = json.loads(cli("capacity", "tiny.toml", "--keep", "timeouts=1000", "--json").out)["cases"][0]
    assert (found["capacity"], found["breaks_at"]) == (9, None)


def test_wrong_arguments(cli, tiny):
    def message(*arguments: str) -> tuple[int, str]:
        result = cli("capacity", "tiny.toml", *arguments)
        return result.code, " ".join(result.err.replace("│", " ").split())

    code, text = message("--keep", "goodputs=90%")
    assert (code, 'did you mean "goodput"?' in text) == (2, True)
    assert message("--keep", "goodput=fast")[0] == 2
    assert message("--seeds", "1,2")[0] == 2
    assert message("--over", "traffic.answers.senders=2")[0] == 2
    assert message("--vary", "network.buffer")[0] == 2
    assert message("--vary", "transport.scheme=dctcp")[0] == 2
    code, text = message("--over", "traffic.answer.senders=2..4")
    assert (code, 'did you mean "answers"?' in text) == (3, True)
    code, text = message("--scheme", "dctpc")
    assert (code, 'did you mean "dctcp"?' in text) == (3, True)


def test_shares_that_the_best_does_not_reach_are_refused_before_anything_runs(cli, tiny):
    for wrong, least in (("goodput=200%", "at most 100%"), ("query-p99=50%", "at least 100%")):
        found = cli("capacity", "tiny.toml", "--keep", wrong)
        assert (found.code, found.out) == (2, "")
        assert f"so no fan-in keeps it: {least}" in " ".join(found.err.replace("│", " ").split())


def test_the_fan_in_is_found_by_itself_only_if_there_is_one(tiny):
    assert fan_in_path(fanin.Scenario(tiny)) == "traffic.answers.senders"
    tiny.write_text(TINY + TINY[TINY.index("[[traffic]]") :].replace("answers", "more"))
    with pytest.raises(NotFoundError, match=r"several fan-ins: traffic\.answers\.senders, traffic\.more\.senders"):
        fan_in_path(fanin.Scenario(tiny))


def test_ranges_without_a_step_are_divided_by_equal_ratios():
    assert parse_range("50pkt..800pkt").spaced(5) == ["50pkt", "100pkt", "200pkt", "400pkt", "800pkt"]
    assert parse_range("1/64..1/4").spaced(3) == [0.015625, 0.0625, 0.25]
    assert parse_range("2..3").spaced(5) == [2, 3]
    with pytest.raises(ValueError, match="upwards"):
        parse_range("0..3").spaced(5)


def test_quantiles_of_few_and_bounds_that_no_seed_changes_are_warned_of(cli, tiny):
    given = (
        "capacity",
        "tiny.toml",
        "--keep",
        "query-p99=50ms",
        "--over",
        "traffic.answers.senders=2..4",
        "--seeds",
        "1..3",
    )
    done = cli(*given, "--set", "traffic.answers.jitter=0s", "--json")
    few, same = json.loads(done.out)["warnings"]
    assert few.startswith("query-p99: ")
    assert same.startswith("query-p99: all seeds gave the same result")
    assert f"warning: {few}\nwarning: {same}\n" in done.err
    assert "all seeds gave the same result" not in cli(*given).err


@pytest.mark.parametrize(
    ("beside", "group", "bounds"),
    [
        ("", 'kind = "incast"\nsenders = 8', ["goodput=90%", "timeout-ratio=1%"]),
        (
            '[[traffic]]\nname = "backup"\nkind = "background"\nflows = 1',
            'kind = "incast"\nsenders = 8',
            ["groups.servers.goodput_bps=90%", "groups.servers.timeout_ratio=1%"],
        ),
        ("", 'kind = "requests"\nfan-in = 8\nload = "10%"\ncount = 20', ["groups.servers.timeout_ratio=1%"]),
    ],
)
def test_the_bounds_are_those_of_the_traffic_whose_fan_in_is_searched(tmp_path, beside, group, bounds):
    path = tmp_path / "s.toml"
    network = '[network]\ntopology = "star"\nrate = "1Gbps"\ndelay = "5us"'
    path.write_text(f'{network}\n[[traffic]]\nname = "servers"\nbytes-each = "20KB"\n{group}\n{beside}\n')
    experiment = fanin.Scenario(path)
    assert default_bounds(experiment) == default_bounds(experiment, fan_in_path(experiment)) == bounds
    assert [keep(text, experiment).text for text in bounds] == bounds


BESIDE = """
[network]
topology = "star"
rate = "10Gbps"
delay = "5us"
buffer = "512KB"
[transport]
scheme = "linux-dctcp"
[[traffic]]
name = "servers"
kind = "incast"
senders = 8
bytes-each = "32KB"
rounds = 20
[[traffic]]
name = "backup"
kind = "background"
flows = 1
"""


def test_a_backup_does_not_say_how_many_servers_a_port_carries(cli, work):
    (work / "beside.toml").write_text(BESIDE)
    found = json.loads(cli("capacity", "beside.toml", "--seeds", "1..3", "--json").out)
    assert found["cases"][0]["capacity"] > 30

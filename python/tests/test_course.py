"""What ``fanin run`` says first: whether it collapsed, and why."""

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from shapes import undocumented

import fanin
from fanin.choose.diagnosis import diagnose
from fanin.choose.notes import NOTES, as_record, find_notes
from fanin.choose.outcomes import Outcome
from fanin.choose.waits import Waits, waits
from fanin.cli.terminal import say_rows
from fanin.numbers.units import Quantity
from fanin.show.course import MAX_ROWS, choose_commands, describe_course

STAR = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "{rate}"
delay = "5us"
buffer = "{buffer}"
[transport]
scheme = "newreno"
rto-min = "200ms"
initial-window = "{window}"
[[traffic]]
name = "servers"
kind = "incast"
senders = {senders}
bytes-each = "{bytes}"
"""


def told(path, text, **overrides):
    """The diagnosis of a run."""
    path.write_text(text)
    experiment = fanin.Scenario(path)
    run = experiment.set(overrides).run(moved=None)
    found = diagnose(run, experiment.of_fan_in(overrides), experiment.handle(overrides))
    # Everything that was found has words.
    assert all(said for _, said in describe_course(found).rows)
    return found


def noted(found):
    """What is noted of a run: kind and values."""
    return {note.kind: note.values for note in find_notes(found)}


def rows_of(found):
    """What is said of a run, by label; of notes the last."""
    return dict(describe_course(found).rows)


def asked(senders, bytes_each, interval, count, arrivals="poisson"):
    """Traffic: queries at their times, which so many servers answer."""
    return f"""[[traffic]]
name = "q"
kind = "requests"
fan-in = {senders}
senders = {senders}
receivers = 1
bytes-each = "{bytes_each}"
interval = "{interval}"
arrivals = "{arrivals}"
count = {count}
"""


def star(path, *, rate="10Gbps", buffer="150KB", window="2mss", senders=60, bytes_each="32KB"):
    return told(path, STAR.format(rate=rate, buffer=buffer, window=window, senders=senders, bytes=bytes_each))


def test_a_collapse_by_lost_windows(tmp_path):
    # Each response is one segment: a loss is the loss of a whole window.
    found = star(tmp_path / "s.toml", buffer="30KB", senders=100, bytes_each="1460B")
    assert found.outcome == "collapse"
    assert set(found.timeouts) == {"full_window", "lost_retransmission"}
    assert found.idle_share > 0.9
    assert (found.buffer, found.port.reason) == (30_000, "buffer-full")
    assert found.as_dict()["timers"] == {"rto-min": 0.2}
    assert noted(found)["first-windows"] == {"at_once": 100, "each_bytes": 1460, "times": pytest.approx(146 / 30)}


@pytest.mark.parametrize(("duration", "is_busy"), [("1ps", False), ("20us", False), ("400us", True)])
def test_a_run_in_which_nothing_ended_does_not_tell_how_long_it_takes(tmp_path, duration, is_busy):
    text = STAR.format(rate="10Gbps", buffer="2MB", window="2mss", senders=8, bytes="200KB")
    found = told(tmp_path / "s.toml", text, **{"run.duration": duration})
    assert (found.outcome, found.unfinished, found.idle_share <= 0.2) == ("cut-short", 8, is_busy)
    assert "queries" not in rows_of(found)
    assert set(noted(found)) == (set() if is_busy else {"round-trips"})
    (longer,) = choose_commands(found, None, "s.toml", [("run.duration", duration)])
    assert longer.command == "fanin run s.toml --set run.duration=30s"
    # Of one that ran long, some are complete.
    found = told(tmp_path / "s.toml", text, **{"run.duration": "1s"})
    assert found.outcome not in ("cut-short", "collapse", "stalls")


def test_a_long_transfer_that_fills_its_link_is_not_cut_short(tmp_path):
    text = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="150KB", window="2mss")
    traffic = '[[traffic]]\nkind = "background"\nbytes-each = "1GB"\n[run]\nduration = "50ms"\n'
    found = told(tmp_path / "s.toml", text + traffic)
    assert found.unfinished
    assert not found.summary["completed"]
    assert found.outcome == "full"


def test_first_windows_that_are_more_than_the_buffer_holds_are_told(tmp_path):
    # 700 windows of ten packets in a buffer of 4,000.
    found = star(tmp_path / "s.toml", buffer="4000pkt", window="10mss", senders=700)
    assert found.outcome in ("collapse", "timeouts")
    assert noted(found)["first-windows"] == {"at_once": 700, "each_bytes": 15_000, "times": pytest.approx(1.75)}
    # Servers that begin one after another leave the port time to send.
    found = told(tmp_path / "s.toml", (tmp_path / "s.toml").read_text(), **{"traffic.servers.jitter": "9ms"})
    assert "first-windows" not in noted(found)


def test_a_collapse_by_a_lost_last_segment(tmp_path):
    # Two packets more than the buffer holds: the last segment of a response, after which no duplicate ACK comes.
    found = star(tmp_path / "s.toml", buffer="60pkt", senders=31, bytes_each="2920B")
    assert found.outcome == "collapse"
    assert dict(found.timeouts) == {"few_duplicates": sum(found.timeouts.values())}
    assert found.waits.timed == found.port.drops == 1
    assert (found.transfers, found.port.reason) == (31, "buffer-full")
    assert (found.buffer, found.port.last_drop_s) == (90_000, found.port.first_drop_s)


def test_a_full_link_is_no_collapse(tmp_path):
    found = star(tmp_path / "s.toml", rate="1Gbps", buffer="12MB")
    assert found.outcome == "full"
    assert found.port.name == "switch-0->receiver-0"
    # As fast as the link is all that queries can be: a faster link is no answer to a question that nobody asked.
    assert found.queries.p99_times < 1.05
    assert found.is_fast
    assert [each.command for each in choose_commands(found, None, "s.toml", [])] == [
        "fanin capacity s.toml",
        "fanin advise s.toml",
    ]


BESIDE = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
buffer = "{buffer}"
[transport]
scheme = "linux"
[run]
duration = "500ms"
[[traffic]]
name = "servers"
kind = "incast"
senders = {senders}
bytes-each = "32KB"
rounds = 200
start = "5ms"
[[traffic]]
name = "backup"
kind = "background"
flows = 2
"""


def test_queries_that_wait_for_timers_beside_traffic_that_fills_the_link_have_collapsed(tmp_path):
    found = told(tmp_path / "s.toml", BESIDE.format(buffer="1MB", senders=60))
    assert found.idle_share < 0.1
    assert (found.outcome, found.starved) == ("collapse", True)
    assert found.queries.times > 10
    assert found.queries.by_timers > 0.5
    assert (found.queries.alone_s, found.queries.unfinished) == (pytest.approx(1.63e-3, rel=3e-3), 1)
    assert (found.port.name, noted(found)["other-traffic"]["groups"]) == ("switch-0->receiver-0", ["backup"])
    assert not found.idle_tells
    # That the link sent all the time tells nothing of queries.
    assert re.fullmatch(
        r"Incast collapse: [\d.]+ % of the queries' delay was waits for timers, while other traffic kept the link "
        r"switch-0->receiver-0 busy\.",
        describe_course(found).headline,
    )
    cured = told(tmp_path / "s.toml", BESIDE.format(buffer="1MB", senders=60), **MARKED)
    assert (cured.outcome, cured.is_fast) == ("full", True)


def test_a_link_that_hardly_lies_idle_is_not_said_to(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="150KB", window="2mss", senders=20, bytes="2MB")
    found = told(tmp_path / "s.toml", text, **{"transport.rto-min": "10ms"})
    assert found.outcome == "timeouts"
    assert 0 < found.idle_share < 0.001
    assert (found.idle_tells, "idle" in rows_of(found)) == (False, False)


MARKED = {"transport.scheme": "linux-dctcp"}


def test_queries_that_wait_for_other_traffic_without_a_timer_are_told_to(tmp_path):
    # Two answers stand in the queue of the others, and lose next to nothing.
    few = {"transport.rto-min": "1ms"}
    found = told(tmp_path / "s.toml", BESIDE.format(buffer="1MB", senders=2), **few)
    assert (found.outcome, found.is_fast) == ("crowded", False)
    assert found.port.name == "switch-0->receiver-0"
    assert noted(found)["other-traffic"]["own_share"] == pytest.approx(0.0266, rel=1e-2)
    assert found.port.largest_bytes == pytest.approx(999e3, rel=1e-3)


REQUESTS = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
[transport]
scheme = "newreno"
[[traffic]]
name = "search"
kind = "requests"
from = "all"
to = "all"
fan-in = 4
bytes-each = "20KB"
load = "20%"
count = 50
"""


def test_queries_that_come_by_a_clock_are_no_closed_loop(tmp_path):
    open_ = told(tmp_path / "r.toml", REQUESTS)
    assert not open_.is_closed_loop
    assert open_.queries.count == 50
    assert open_.queries.p99_s == pytest.approx(open_.summary["query_p99_s"], rel=0.05)
    closed = told(tmp_path / "s.toml", BESIDE.format(buffer="1MB", senders=2))
    assert closed.is_closed_loop


def test_a_query_needs_what_its_servers_wait_but_not_what_its_client_asks_in_turns(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="10MB", window="10mss", senders=8, bytes="32KB")
    spread = told(tmp_path / "s.toml", f'{text}jitter = "5ms"\n')
    assert (spread.queries.count, spread.queries.alone_s > 1e-3) == (1, True)
    assert spread.is_fast
    turns = told(tmp_path / "s.toml", f"{text}concurrent = 1\n", **{"network.delay": "500us"})
    assert turns.queries.times > 5
    assert not turns.is_fast


def test_too_little_load_is_no_collapse(tmp_path):
    found = star(tmp_path / "s.toml", senders=1, bytes_each="1KB")
    assert (found.outcome, found.waits.timed, found.port.drops) == ("idle", 0, 0)
    assert set(noted(found)) == {"round-trips"}
    trips = noted(found)["round-trips"]
    assert (trips["size_bytes"], trips["round_trips"], found.is_fresh, found.windows) == (1000, 2, True, 1)
    assert trips["sending_s"] == pytest.approx(0.8e-6)
    load = '[network]\ntopology = "star"\n[[traffic]]\nkind = "poisson"\nname = "rpc"\nfrom = "all"\nto = "all"\n'
    load += 'bytes-each = "rpc"\nload = "5%"\ncount = 100\n'
    found = told(tmp_path / "l.toml", load)
    assert found.outcome == "idle"
    assert [each["load"] for each in found.summary["offered"]] == [pytest.approx(0.05)]
    assert set(noted(found)) == {"round-trips"}
    assert found.is_fast


def test_losses_without_timers_are_named(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="150KB", window="2mss", senders=4, bytes="400KB")
    found = told(tmp_path / "s.toml", text)
    assert (found.outcome, found.waits.timed) in (("losses", 0), ("full", 0))
    assert found.as_dict()["port"]["drops"] == found.port.drops > 0
    assert rows_of(found)["lost"].startswith(f"{found.port.drops} packets at switch-0->receiver-0, ")


def test_losses_of_answers_that_begin_at_the_same_instant_are_said_to_be_of_no_real_hosts(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="600KB", window="2mss", senders=8, bytes="1MB")
    found = told(tmp_path / "s.toml", text)
    assert found.port.drops
    assert noted(found)["same-instant"] == {"jitter": "traffic.servers.jitter"}
    # One after another, and delayed by what a server thinks about.
    later = {"traffic.servers.think-jitter": "20us", "traffic.servers.request": "100B"}
    for delays in ({"traffic.servers.jitter": "20us"}, {"traffic.servers.exponential": "20us"}, later):
        found = told(tmp_path / "s.toml", text, **delays)
        assert found.port.drops
        assert "same-instant" not in noted(found)
    # Where nothing is lost, the first windows had room even together.
    found = told(tmp_path / "s.toml", text, **{"network.buffer": "30MB"})
    assert not found.port.drops
    assert "same-instant" not in noted(found)
    # Other traffic that arrives at random meets them at other times with another seed.
    beside = '[[traffic]]\nname = "others"\nkind = "poisson"\nsenders = 4\nbytes-each = "4KB"\nload = "1%"\n'
    found = told(tmp_path / "s.toml", f'{text}{beside}stop = "1ms"\n')
    assert found.port.drops
    assert "same-instant" not in noted(found)


UPLINK = """\
[network]
topology = "leaf-spine"
leaves = 2
spines = 1
hosts-per-leaf = 24
rate = "10Gbps"
uplink-rate = "10Gbps"
[transport]
scheme = "newreno"
[[traffic]]
name = "all"
kind = "poisson"
from = "all"
to = "all"
bytes-each = "64KB"
load = "80%"
count = 2000
"""


def test_an_oversubscribed_uplink_is_found(tmp_path):
    found = told(tmp_path / "u.toml", UPLINK)
    assert found.port.between_switches
    assert found.port.oversubscribed == 24
    assert "leaf-" in found.port.name
    assert "spine-0" in found.port.name
    assert noted(found)["oversubscribed"] == {"into_bps": 240e9, "out_bps": 10e9, "times": 24}


def test_only_the_time_of_a_burst_counts_where_a_long_flow_is_before_it():
    experiment = fanin.Scenario("sdtcp/fig9")
    overrides = {"transport.scheme": "sdtcp"}
    found = diagnose(experiment.set(overrides).run(), experiment.of_fan_in(overrides), experiment.handle(overrides))
    assert (found.summary["control_messages"] > 0, found.summary["control_lost"]) == (True, 0)
    assert found.under_way_s < 0.5
    assert found.idle_share < 0.5


def test_endless_flows_alone_have_a_course(tmp_path):
    text = '[network]\ntopology = "star"\n[[traffic]]\nkind = "background"\nname = "long"\nflows = 2\n'
    found = told(tmp_path / "b.toml", text, **{"run.duration": "50ms"})
    assert found.under_way_s == pytest.approx(0.05, rel=0.01)
    assert found.whom in (None, "some of the endless flows")
    assert found.goal == "goodput"


def test_pauses_between_rounds_are_not_idle(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="12MB", window="10mss", senders=20, bytes="64KB")
    found = told(tmp_path / "r.toml", f'{text}rounds = 3\ngap = "100ms"\n')
    assert found.outcome == "full"
    assert found.under_way_s < 0.1


def test_the_last_loss_is_not_guessed_when_the_table_is_full(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="150KB", window="10mss", senders=20, bytes="1MB")
    path = tmp_path / "s.toml"
    path.write_text(text)
    experiment = fanin.Scenario(path)
    run = experiment.run()
    few = run.table("drops").head(10)

    class Cut:
        summary, flows, queues, links = run.summary, run.flows, run.queues, run.links

        @staticmethod
        def table(_):
            return few

    found = diagnose(Cut, experiment.of_fan_in(), experiment.handle())
    assert (found.port.first_drop_s, found.port.last_drop_s) == (few["time_s"].min(), None)
    assert " and later" in rows_of(found)["lost"]


def test_run_begins_with_what_happened(cli, work):
    plain = cli("run", "small.toml", "--no-store", "--seed", "2").out.splitlines()
    found = json.loads(cli("run", "small.toml", "--no-store", "--seed", "2", "--json").out)["diagnosis"]
    assert plain[0] == found["headline"]
    assert plain[1].startswith("  goodput ")
    assert [f"  {each['command']}" for each in found["try"]] == [line for line in plain if line.startswith("  fanin")]
    assert all("--set run.seed=2" in each["command"] for each in found["try"])


def test_every_total_comes_on_demand(cli, work):
    short = cli("run", "small.toml", "--no-store").out
    whole = cli("run", "small.toml", "--no-store", "--all").out
    assert "Result hash" in whole
    assert "Result hash" not in short
    assert len(short.splitlines()) < 20
    assert len(whole.splitlines()) > 45
    # A buffer in packets or in bytes: the queue is given in both.
    assert " B)" in whole


def test_timers_that_expire_more_often_than_transfers_wait_are_counted_apart(tmp_path):
    found = star(tmp_path / "s.toml", senders=100)
    expired = sum(found.timeouts.values())
    assert expired > found.waits.timed
    assert f" waited for rto-min 200 ms ({expired} times: " in rows_of(found)["timers"]


STALL = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
buffer = "{buffer}"
[transport]
scheme = "{scheme}"
stack = "{stack}"
initial-window = "{window}"
ack-delay = "40ms"
{more}
[[traffic]]
name = "servers"
kind = "incast"
senders = {senders}
bytes-each = "{bytes}"
"""


def test_windows_of_one_segment_that_wait_for_delayed_acknowledgements_are_no_short_transfers(tmp_path):
    more = 'receive-buffer = "1460B"\nack-every = 2'
    text = STALL.format(buffer="1MB", scheme="newreno", stack="rfc", window="1mss", more=more, senders=4, bytes="8KB")
    found = told(tmp_path / "s.toml", text)
    assert (found.outcome, found.waits.timed) == ("stalls", 0)
    assert noted(found)["delayed-acks"] == {"ack_delay_s": 0.04}
    cured = told(tmp_path / "s.toml", text, **{"transport.ack-every": "1"})
    assert cured.outcome != "stalls"
    assert cured.under_way_s < found.under_way_s / 10


def test_a_first_window_of_a_segment_stalls(tmp_path):
    # Linux itself sends an ACK for a window that grows, and these do.
    more = 'quickack = 0\nack-policy = "count"'
    text = STALL.format(buffer="1MB", scheme="linux", stack="linux-6", window="1mss", more=more, senders=4, bytes="8KB")
    found = told(tmp_path / "s.toml", text)
    assert (found.outcome, found.summary["drops"]) == ("stalls", 0)
    cured = told(tmp_path / "s.toml", text, **{"transport.initial-window": "10mss"})
    assert cured.under_way_s < found.under_way_s / 10


def test_a_wait_for_tail_loss_probes_is_told(tmp_path):
    text = STALL.format(
        buffer="15KB", scheme="linux", stack="linux-6", window="10mss", more="", senders=6, bytes="20KB"
    )
    found = told(tmp_path / "s.toml", text)
    assert (found.outcome, found.waits.timed) == ("collapse", 0)
    assert (found.waits.timed_in_fan_in, found.waits.waiting_in_fan_in) == (0, 0)
    assert found.waits.longest_probed_s == pytest.approx(0.2, rel=0.05)
    assert (found.waits.probed, found.transfers) == (2, 6)
    # Other transfers may have had a timeout, which the second sentence then names.
    other = replace(found, waits=replace(found.waits, timed=1, timed_measured=1))
    assert other.outcome == "collapse"
    assert rows_of(other)["timers"].startswith("1 of 6 transfers waited for rto-min 200 ms ")
    cured = told(tmp_path / "s.toml", text, **{"transport.rto-min": "1ms"})
    assert cured.under_way_s < found.under_way_s / 10


BEHIND = """\
[network]
topology = "two-switch"
rate = "1Gbps"
trunk-rate = "40Gbps"
delay = "5us"
buffer = "30KB"
[transport]
scheme = "newreno"
rto-min = "200ms"
[[traffic]]
name = "servers"
kind = "incast"
senders = 30
bytes-each = "64KB"
"""


def test_the_port_that_decides_is_found_and_the_other_that_was_measured_named(tmp_path):
    found = told(tmp_path / "s.toml", BEHIND)
    assert found.port.name == found.summary["bottleneck"] == "switch-1->receiver-0"
    assert found.observed == "switch-0->switch-1"
    assert found.port.largest_bytes is None
    assert noted(found)["other-port"] == {"observed": "switch-0->switch-1", "port": "switch-1->receiver-0"}
    found = told(tmp_path / "s.toml", BEHIND, **{"measure.bottleneck": "switch-1->receiver-0"})
    assert found.observed == found.port.name
    assert found.port.largest_bytes == 30_000
    assert "other-port" not in noted(found)


def test_gaps_between_rounds_are_said_to_count(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="1MB", window="2mss", senders=4, bytes="32KB")
    found = told(tmp_path / "s.toml", f'{text}rounds = 3\ngap = "5ms"\n')
    assert found.gaps_s == pytest.approx(0.01, rel=0.05)
    assert rows_of(found)["goodput"].endswith(f", with {1e3 * found.gaps_s:.3g} ms without a transfer")
    found = told(tmp_path / "s.toml", text)
    assert "without a transfer" not in rows_of(found)["goodput"]


def test_waits_for_probes_of_many_round_trips_are_a_collapse_however_short_the_timer(tmp_path):
    # Two of 44 answers lose their last segments; the wait for a probe is of 24 round trips with a full queue.
    text = STALL.format(
        buffer="150KB", scheme="linux", stack="linux-6", window="2mss", more="", senders=44, bytes="20KB"
    )
    found = told(tmp_path / "s.toml", text, **{"transport.rto-min": "10ms", "network.delay": "5us"})
    assert (found.outcome, found.waits.timed, found.waits.probed, found.transfers) == ("collapse", 0, 2, 44)
    assert found.loaded_s < found.waits.longest_probed_s / 15
    assert (found.waits.timed_in_fan_in, found.waits.waiting_in_fan_in) == (0, 0)
    assert found.waits.longest_probed_s == pytest.approx(3.74e-3, rel=2e-3)
    # Where the path is longer than such a wait, a probe costs few round trips, and decides nothing.
    far = told(tmp_path / "s.toml", text, **{"transport.rto-min": "1ms", "network.delay": "200us"})
    assert far.waits.probed == 0


def test_a_wait_for_the_initial_timer_is_not_blamed_on_the_minimum(tmp_path):
    # Connections that are open before the run have measured no round trip when their first answers are lost.
    text = STAR.format(rate="10Gbps", buffer="30KB", window="2mss", senders=100, bytes="1460B")
    kept = f'{text}connections = "persistent"\n'
    found = told(tmp_path / "s.toml", kept)
    assert found.waits.initially > 0
    assert found.under_way_s > 1
    assert found.as_dict()["timers"]["rto-initial"] == 1.0
    cured = told(tmp_path / "s.toml", kept, **{"transport.rto-initial": "10ms"})
    assert cured.under_way_s < 0.5 * found.under_way_s
    # With a handshake there is a round trip, and its timer has the minimum.
    found = told(tmp_path / "s.toml", text)
    assert (found.waits.initially, found.waits.timed_measured > 0) == (0, True)
    assert "rto-initial" not in found.timers


def test_a_timer_of_measured_round_trips_that_doubles_is_not_taken_for_the_initial_one():
    second, least = Quantity("1s", 1.0, "s"), Quantity("200ms", 0.2, "s")
    transport = {"rto-initial": second, "rto-min": least, "syn-timeout": second}
    base = {"group": "a", "bytes": 1000, "start_s": 0.0, "ideal_s": 0.0, "timeouts_syn": 0, "loss_probes": 0}
    base |= {"waiting_s": None, "delivered_bytes": 1000, "timer_wait_s": 0.0, "probe_wait_s": 0.0}

    def of(timeouts: int, timer_wait_s: float = 0.0, **other: float) -> Waits:
        fct_s = {"fct_s": 0.001 + timer_wait_s + other.get("probe_wait_s", 0.0)}
        rows = [{**base, "fct_s": 0.001, "timeouts": 0}]
        rows.append({**base, **fct_s, "timeouts": timeouts, "timer_wait_s": timer_wait_s, **other})
        return waits(pl.DataFrame(rows), transport, ["a"], 1e-3, 9.0, 1e-4)

    assert (of(1, 0.2).timed_measured, of(1, 0.2).timed_initially) == (1, 0)
    assert of(3, 1.4).timed_measured == 1
    assert of(1, 1.0).timed_initially == 1
    assert of(2, 3.0).timed_initially == 1
    assert (of(1, 1.0, timeouts_syn=1).timed, of(1, 1.0, timeouts_syn=1).least) == (1, 0)
    # A second of it was the SYN's.
    assert (of(2, 1.2, timeouts_syn=1).timed_measured, of(2, 1.2, timeouts_syn=1).timed_initially) == (1, 0)
    assert of(2, 2.0, timeouts_syn=1).timed_initially == 1
    probed = of(0, loss_probes=1, probe_wait_s=0.01)
    assert (of(0, loss_probes=1, probe_wait_s=0.004).probed, probed.probed, probed.probed_is_slowest) == (0, 1, True)
    assert of(0, loss_probes=1, probe_wait_s=1.0).probed_initially == 1
    # Two round trips and a margin are no minimum of a timer.
    assert (probed.least, of(0, loss_probes=1, probe_wait_s=0.2).least) == (0, 1)
    # A probe of 10 ms, or a timer of 200 ms, does not make a transfer slow that takes a second for other reasons.
    slow = of(0, loss_probes=1, probe_wait_s=0.01, fct_s=1.0)
    assert (slow.probed, slow.probed_is_slowest, slow.slowest_waited) == (1, False, False)
    assert (of(1, 0.2, fct_s=1.0).slowest_waited, of(1, 0.2).slowest_waited) == (False, True)


def test_a_link_that_was_down_is_no_collapse_by_a_probe(tmp_path):
    network = 'topology = "leaf-spine"\nleaves = 4\nhosts-per-leaf = 8\nbuffer = "400KB"'
    text = CLOSED.format(topology=network, senders=20, bytes="32KB")
    fault = '[[fault]]\nkind = "link-down"\nlink = "leaf-1->spine-0"\nat = "200us"\nfor = "50ms"\n'
    found = told(tmp_path / "s.toml", text + fault, **{"transport.scheme": "linux-dctcp"})
    assert (found.summary["drops"], found.summary["loss_probes"] > 0) == (0, True)
    # It was sent some milliseconds after the link went down, and waited for that with the rest.
    assert found.waits.longest_probed_s < 0.005 < 0.04 < found.waits.longest_s
    assert found.outcome == "held-up"


def test_a_probe_that_was_sent_is_not_what_a_transfer_waits_for_at_the_end(tmp_path):
    text = CLOSED.format(topology='topology = "star"\nbuffer = "128KB"', senders=100, bytes="10KB")
    found = told(tmp_path / "s.toml", text, **{"traffic.servers.rounds": 1, "run.duration": "50ms"})
    flows = found.waits
    assert flows.waiting > 10
    assert flows.longest_probed_s < 0.01 < 0.04 < flows.longest_waiting_s < 0.05
    # Since a probe has left.
    assert 0.045 <= flows.longest_waiting_s < 0.05


CLOSED = """\
[network]
{topology}
rate = "10Gbps"
delay = "5us"
[transport]
scheme = "linux"
stack = "linux-6"
[[traffic]]
name = "servers"
kind = "incast"
senders = {senders}
bytes-each = "{bytes}"
rounds = 20
"""


ON_A_STAR = CLOSED.replace("{topology}", 'topology = "star"\nframe-overhead = "0B"')

BAD_CABLE = ON_A_STAR.replace('stack = "linux-6"\n', "") + '[[fault]]\nkind = "loss"\nrate = "1%"\n'


def test_the_timer_that_was_waited_for_longest_is_the_one_that_is_named(tmp_path):
    text = BAD_CABLE.format(senders=20, bytes="2KB") + "[run]\nseed = 3\n"
    found = told(tmp_path / "f.toml", text)
    assert (found.waits.least, found.timers) == (2, ["syn-timeout", "rto-min"])
    assert found.as_dict()["timers"] == {"syn-timeout": 1, "rto-min": 0.2}
    cured = told(tmp_path / "f.toml", text, **{"transport.syn-timeout": "10ms"})
    assert (cured.timers[0], cured.as_dict()["timers"]["rto-min"]) == ("rto-min", 0.2)


def test_tail_loss_probes_are_among_the_totals(cli, work):
    (work / "f.toml").write_text(BAD_CABLE.format(senders=4, bytes="20KB"))
    assert "\tTail loss probes\t1\n" in cli("run", "f.toml", "--no-store", "--seed", "2", "--all", "--tsv").out


def test_links_that_lose_at_random_are_named_where_another_one_is_the_bottleneck(tmp_path):
    text = BAD_CABLE.format(senders=8, bytes="32KB") + 'link = "sender-0->switch-0"\ndirection = "one"\n'
    found = told(tmp_path / "f.toml", text, **{"run.seed": "3"})
    assert (found.port.name, found.port.drops) == ("switch-0->receiver-0", 0)
    lost = found.summary["drops"]
    assert lost > 1
    faults = {"lost": lost, "drops": lost, "waited_for_faults": False, "link": "sender-0->switch-0"}
    assert noted(found)["lost-to-faults"] == faults
    here = told(tmp_path / "f.toml", BAD_CABLE.format(senders=8, bytes="32KB"))
    assert here.port.reason == "random-loss"
    assert here.port.first_drop_s < here.port.last_drop_s


def test_few_losses_to_faults_beside_those_of_a_queue_are_told(tmp_path):
    text = BAD_CABLE.format(senders=60, bytes="32KB") + 'link = "sender-0->switch-0"\n'
    found = told(tmp_path / "f.toml", text, **{"network.buffer": "100pkt"})
    lost, drops = found.lost_to_faults, found.summary["drops"]
    assert 0 < lost < drops / 2
    assert not found.faulty
    assert (noted(found)["lost-to-faults"]["lost"], noted(found)["lost-to-faults"]["drops"]) == (lost, drops)
    assert rows_of(found)["lost"].endswith(f"; {drops:,} at all ports")


def test_a_link_that_was_down_is_named_beside_the_waits(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="1MB", window="10mss", senders=8, bytes="64KB")
    down = '[[fault]]\nkind = "link-down"\nlink = "sender-3->switch-0"\nat = "{at}"\nfor = "20ms"\n'
    found = told(tmp_path / "f.toml", text + down.format(at="100us"))
    fault = {"kind": "link-down", "link": "sender-3->switch-0", "at_s": 1e-4, "for_s": 0.02}
    assert noted(found)["faults"] == {"faults": [fault]}
    # It had ended by then.
    found = told(tmp_path / "f.toml", text + down.format(at="1s"))
    assert not {"faults", "lost-to-faults"} & set(noted(found))


def test_a_syn_and_probes_that_did_not_wait_for_it_are_no_matter_of_the_minimum(tmp_path):
    found = told(tmp_path / "f.toml", BAD_CABLE.format(senders=4, bytes="200KB"), **{"run.seed": "68"})
    assert (found.waits.probed, found.waits.longest_probed_s) == (1, pytest.approx(3.5e-3, rel=0.1))
    assert found.timers == ["syn-timeout"]


def test_the_round_trip_is_that_of_the_topology(tmp_path):
    one = star(tmp_path / "s.toml")
    assert one.round_trip_s == pytest.approx(4 * 5e-6, rel=0.2)
    text = STAR.format(rate="10Gbps", buffer="1MB", window="10mss", senders=20, bytes="8KB")
    far = told(tmp_path / "s.toml", text.replace('"star"', '"leaf-spine"'), **{"network.delay": "20us"})
    # Four links each way, between leaves.
    assert far.round_trip_s == pytest.approx(8 * 20e-6, rel=0.1)
    assert far.outcome == "idle"
    trips = noted(far)["round-trips"]
    assert (trips["round_trips"], trips["round_trip_s"]) == (2, far.round_trip_s)


def test_a_link_that_is_idle_beside_losses_without_a_timer_has_its_reason(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="60KB", window="10mss", senders=8, bytes="64KB")
    found = told(tmp_path / "s.toml", text, **{"network.delay": "1ms", "transport.scheme": "linux"})
    assert (found.outcome, found.waits.timed) == ("losses", 0)
    assert found.idle_share > 0.5
    trips = noted(found)["round-trips"]
    assert (trips["size_bytes"], trips["round_trips"], found.interrupts_s) == (64_000, 4, 16e-6)
    assert trips["round_trip_s"] == pytest.approx(4e-3, rel=0.01)


LINUX = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "{rate}"
delay = "{delay}"
buffer = "{buffer}"
[transport]
stack = "linux-6"
scheme = "linux"
receive-buffer = "{window}"
[[traffic]]
name = "servers"
kind = "incast"
senders = {senders}
bytes-each = "{bytes}"
"""


def test_a_run_that_ends_while_transfers_wait_for_a_timer_has_collapsed_as_a_longer_one_has(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="64KB", window="10mss", senders=16, bytes="64KB")
    short = told(tmp_path / "s.toml", text, **{"run.duration": "150ms"})
    longer = told(tmp_path / "s.toml", text)
    assert (short.outcome, short.waits.timed, longer.outcome) == ("collapse", 0, "collapse")
    assert short.waits.waiting == short.unfinished == longer.waits.timed > 0
    assert short.transfers == 16
    assert short.queries.by_timers > 0.9
    # Those whose losses are of the last round trips may repair them without one.
    early = told(tmp_path / "s.toml", text, **{"run.duration": "1.2ms"})
    assert (early.waits.waiting, early.port.drops > 0) == (0, True)


def test_a_timer_that_runs_at_the_end_is_no_stall(tmp_path):
    text = LINUX.format(rate="1Gbps", delay="20us", buffer="64KB", window="1MB", senders=16, bytes="64KB")
    found = told(tmp_path / "s.toml", text, **{"run.duration": "150ms"})
    assert (found.outcome, found.waits.timed, found.waits.waiting) == ("collapse", 0, found.unfinished)
    assert "delayed-acks" not in noted(found)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"window": "64KB"}, "idle"),
        # First windows of ten segments that are lost in part, and round trips of 10 ms.
        ({"rate": "1Gbps", "delay": "2500us", "buffer": "256KB", "senders": 30, "bytes": "500KB"}, "losses"),
    ],
)
def test_transfers_of_long_round_trips_do_not_wait_for_delayed_acknowledgements(tmp_path, changes, outcome):
    far = {"rate": "10Gbps", "delay": "500us", "buffer": "4MB", "window": "1MB", "senders": 4, "bytes": "20MB"}
    found = told(tmp_path / "s.toml", LINUX.format(**far | changes))
    assert (found.outcome, found.waits.timed) == (outcome, 0)
    assert found.idle_share > 0.5
    assert found.waits.longest_s > 0.04
    assert "delayed-acks" not in noted(found)


BY_A_CLOCK = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
buffer = "{buffer}"
[transport]
stack = "linux-6"
scheme = "linux"
[run]
duration = "500ms"
[[traffic]]
name = "search"
kind = "requests"
fan-in = {senders}
senders = 24
receivers = 4
load = "5%"
stop = "100ms"
bytes-each = "20KB"
"""


def test_queries_by_a_clock_collapse_only_if_their_median_waits_for_timers(tmp_path):
    # Hardly one of a hundred queries waits, and at that load the link is idle in any case.
    found = told(tmp_path / "s.toml", BY_A_CLOCK.format(buffer="300KB", senders=12))
    assert found.waits.timed_in_fan_in > 0
    assert found.idle_share > 0.5
    assert found.queries.median_s < 1.5 * found.queries.alone_s
    assert found.outcome == "timeouts"
    assert (found.whom, found.summary["fct_max_s"]) == ("the slowest transfers", pytest.approx(0.205, abs=0.005))
    assert rows_of(found)["transfers"].endswith(" ms slowest")
    # Where most wait, it is one, however seldom they come.
    found = told(tmp_path / "s.toml", BY_A_CLOCK.format(buffer="30KB", senders=24))
    assert found.queries.median_s > 10 * found.queries.alone_s
    assert (found.outcome, found.is_incast, found.starved) == ("collapse", True, False)
    assert found.waits.timed_in_fan_in > 0


FILE = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
buffer = "100KB"
[transport]
stack = "linux-6"
scheme = "linux"
[[traffic]]
name = "step"
kind = "flows"
file = "flows.csv"
senders = 60
receivers = 2
"""


def flows_file(path, rows, size=32_000, **overrides):
    lines = [f"{start},{src},{dst},{size}" for start, src, dst in rows]
    (path / "flows.csv").write_text("\n".join(["start,src,dst,bytes", *lines, ""]))
    return told(path / "s.toml", FILE, **overrides)


def test_many_senders_to_one_receiver_in_a_file_are_a_fan_in(tmp_path):
    found = flows_file(tmp_path, [(0, src, 0) for src in range(60)])
    assert (found.outcome, found.is_incast, found.fan_in, found.bursts.count) == ("collapse", True, None, 1)
    # Of many bursts, it is the median that counts.
    small = [(f"{begin / 1000:g}", src, 1) for begin in range(5, 25) for src in range(5)]
    found = flows_file(tmp_path, [*((0, src, 0) for src in range(60)), *small])
    assert (found.outcome, found.bursts.count) == ("timeouts", 21)
    # One after the other, they are none.
    found = flows_file(tmp_path, [(f"{src / 1000:g}", src, 0) for src in range(60)])
    assert (found.outcome, found.bursts) == ("idle", None)


def all_to_all(path, **overrides):
    """Twelve hosts that send to each other, and begin together."""
    rows = [(0, src, dst) for src in range(12) for dst in range(12) if src != dst]
    hosts = {"traffic.step.from": "all", "traffic.step.to": "all", "network.sender-hosts": 12}
    return flows_file(path, rows, size=100_000, **hosts, **overrides)


def test_of_transfers_that_begin_together_the_slowest_decides(tmp_path):
    # One of 132 waits for a timer, and the links are idle until it ends.
    found = all_to_all(tmp_path, **{"network.buffer": "135KB"})
    assert (found.outcome, found.waits.timed, found.goal) == ("collapse", 1, "fct_max_s")
    assert found.is_incast
    assert found.summary["fct_max_s"] > 100 * found.summary["fct_p50_s"]
    assert (found.summary["goodput_bps"], found.under_way_s) == (
        pytest.approx(507e6, rel=2e-3),
        pytest.approx(0.208, rel=3e-3),
    )
    # Whatever most timers were for, that of the slowest was for a loss.
    others = replace(found, summary=found.summary | {"timeouts_spurious": 5})
    assert (others.is_spurious, others.outcome) == (True, "collapse")
    found = all_to_all(tmp_path, **{"network.buffer": "410KB"})
    assert found.outcome == "losses"


def test_timers_that_leave_the_link_busy_are_no_collapse_of_what_begins_together(tmp_path):
    rows = [(0, src, 0) for src in range(60)]
    found = flows_file(tmp_path, rows, size=2_000_000, **{"transport.rto-min": "5ms"})
    assert (found.is_barrier, found.outcome) == (True, "timeouts")
    assert found.idle_share < 0.5


TWO_GROUPS = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
buffer = "1MB"
[transport]
scheme = "newreno"
[[traffic]]
name = "small"
kind = "incast"
senders = 20
bytes-each = "8KB"
rounds = 20
gap = "200us"
[[traffic]]
name = "archive"
kind = "incast"
senders = 2
bytes-each = "4MB"
"""


def test_of_several_fan_ins_the_queries_are_those_that_took_longest_for_what_they_need(tmp_path):
    found = told(tmp_path / "s.toml", TWO_GROUPS)
    assert (found.queries.groups, found.queries.count) == (["archive"], 1)
    assert 0.2 <= found.queries.p99_s < 0.21
    assert rows_of(found)["queries"].endswith(" (traffic.archive)")
    few = told(tmp_path / "s.toml", TWO_GROUPS, **{"network.buffer": "12MB", "traffic.small.gap": "0s"})
    assert (few.queries.groups, few.queries.count > 1) == (["small"], True)


def test_how_many_times_longer_queries_took_is_said_of_a_time_only_if_that_is_so(tmp_path):
    text = TWO_GROUPS.partition("[[traffic]]")[0] + asked(10, "web-search", "3ms", 40)
    found = told(tmp_path / "s.toml", text, **{"network.buffer": "60KB"})
    assert found.queries.p99_s != pytest.approx(found.queries.p99_times * found.queries.alone_s, rel=0.1)
    times = f"{found.queries.p99_times:.3g} times what each takes alone at the 99th percentile"
    assert rows_of(found)["queries"].endswith(f", {times}")
    one = told(tmp_path / "s.toml", TWO_GROUPS.rpartition("[[traffic]]")[0], **{"network.buffer": "30KB"})
    assert one.queries.p99_s == pytest.approx(one.queries.p99_times * one.queries.alone_s)
    assert rows_of(one)["queries"].endswith(f" times alone ({one.queries.alone_s * 1e6:.0f} us)")


def test_links_that_each_carry_one_transfer_are_not_shared(tmp_path):
    ring = [(0, worker, (worker + 1) % 16) for worker in range(16)]
    sizes = {"traffic.step.receivers": "16", "traffic.step.senders": "16", "network.rate": "25Gbps"}
    found = flows_file(tmp_path, ring, 1_000_000, **sizes)
    assert (found.outcome, set(noted(found))) == ("idle", {"round-trips"})


FAR = LINUX.format(rate="10Gbps", delay="500us", buffer="4MB", window="64KB", senders=4, bytes="20MB")


def test_windows_of_receivers_that_leave_the_link_idle_are_named(tmp_path):
    found = told(tmp_path / "s.toml", FAR)
    # 64 KB in each round trip, after two of the first windows, and no more than four times that from all.
    whole = 44 * 1448  # of 64 KB
    assert found.windows == pytest.approx(20e6 / whole, abs=3)
    assert found.limited_bps == pytest.approx(4 * 8 * whole / 2.016e-3, rel=0.01)
    limited = noted(found)["receive-windows"]
    assert (limited["window_bytes"], limited["transfers"]) == (whole, 4)
    assert limited["most_bps"] == pytest.approx(1.02e9, rel=5e-3)
    assert (limited["least_bps"], found.round_trip_s) == (found.limited_bps, pytest.approx(2e-3, rel=3e-3))
    assert 1 - found.idle_share == pytest.approx(0.1014, abs=1e-3)
    assert found.receive_window == whole
    # They need that much alone, too, which is nothing to leave as it is.
    assert found.queries.p99_times < 1.1
    assert not found.is_fast
    cured = told(tmp_path / "s.toml", FAR, **{"transport.receive-buffer": f"{found.filling_window}KB"})
    assert cured.limited_bps is None
    assert cured.under_way_s < found.under_way_s / 2
    assert "receive-windows" not in noted(cured)


def test_transfers_whose_windows_do_not_double_are_not_called_short(tmp_path):
    few = FAR.replace("20MB", "5MB")
    found = told(tmp_path / "s.toml", few, **{"transport.receive-buffer": "16MB"})
    assert (found.outcome, found.port.name) == ("idle", "switch-0->receiver-0")
    assert set(noted(found)) == {"round-trips"}


def test_timers_that_the_slowest_transfer_did_not_wait_for_decide_nothing(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="150KB", window="2mss", senders=48, bytes="20KB").replace("200ms", "10ms")
    others = 'kind = "poisson"\nfrom = "all"\nto = "all"\nbytes-each = "web-search"\nload = "40%"\ncount = 2000\n'
    found = told(
        tmp_path / "s.toml",
        text.replace("newreno", "dctcp") + f"[[traffic]]\n{others}[scheme.dctcp]\nmark-threshold = '20pkt'\n",
    )
    assert (found.outcome, found.waits.slowest_waited) == ("timeouts", False)
    assert found.whom == "some transfers, not the slowest"


RACK = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "{delay}"
buffer = "{buffer}"
[transport]
stack = "linux-6"
scheme = "linux-dctcp"
"""


def test_endless_flows_that_marks_keep_from_the_link_are_not_short_transfers(tmp_path):
    text = f"""{RACK.format(delay="25us", buffer="500KB")}
[[traffic]]
name = "long"
kind = "background"
flows = 2
"""
    low = {"scheme.linux-dctcp.mark-threshold": "2pkt", "run.duration": "50ms"}
    found = told(tmp_path / "s.toml", text, **low)
    assert found.idle_share > 0.2
    assert noted(found)["unfilled"] == {"groups": ["traffic.long"], "marks": found.summary["marks"]}
    assert (found.goal, found.is_fast) == ("goodput", False)
    # Queries beside them are fast, and the link is idle all the same.
    queries = '[[traffic]]\nname = "q"\nkind = "incast"\nsenders = 8\nbytes-each = "20KB"\nrounds = 5\ngap = "5ms"\n'
    found = told(tmp_path / "s.toml", text + queries, **low)
    assert found.busy_s < 0.8 * found.under_way_s
    assert found.idle_share == pytest.approx(1 - 8 * found.port.sent_bytes / 1e10 / found.under_way_s, abs=0.02)
    assert not found.is_fast
    # Where packets are lost besides, too.
    lost = told(
        tmp_path / "s.toml", text + queries, **low, **{"network.buffer": "100KB", "traffic.q.bytes-each": "40KB"}
    )
    assert lost.outcome == "losses"
    assert noted(lost)["unfilled"]["groups"] == ["traffic.long"]
    good = told(tmp_path / "s.toml", text + queries, **{"run.duration": "50ms"})
    assert good.idle_share < 0.1
    # Of known size, they may be over.
    sized = told(tmp_path / "s.toml", text, **low, **{"traffic.long.bytes-each": "1MB"})
    assert sized.endless == []


def test_a_link_whose_rate_a_fault_lowers_sent_for_as_long_as_it_did(tmp_path):
    fault = '[[fault]]\nkind = "rate"\nlink = "switch-0->receiver-0"\nrate = "1Gbps"\nat = "0s"\n'
    queries = '[[traffic]]\nname = "q"\nkind = "incast"\nsenders = 30\nbytes-each = "100KB"\n'
    text = RACK.format(delay="5us", buffer="1MB")
    found = told(tmp_path / "s.toml", text + queries + fault)
    assert (found.port.rate_bps, found.outcome) == (pytest.approx(1e9), "full")
    assert found.idle_share < 0.05
    # For half of the time it is half of the change.
    half = told(tmp_path / "s.toml", text + queries + f'{fault}for = "{found.under_way_s / 2}s"\n')
    assert 1e9 < half.port.rate_bps < 1e10


def test_a_query_alone_takes_what_a_query_needs_alone(tmp_path):
    for request, more in (("0B", 1.0), ("1600B", 1.0)):
        text = f"""{RACK.format(delay="25us", buffer="1MB")}interrupt-interval = "0s"
[[traffic]]
name = "q"
kind = "requests"
fan-in = 1
bytes-each = "2KB"
interval = "5ms"
arrivals = "periodic"
count = 10
request = "{request}"
"""
        found = told(tmp_path / "s.toml", text)
        assert found.queries.p99_times == pytest.approx(more, abs=0.06)
        assert noted(found)["round-trips"]["round_trips"] == 2
    many = text.replace("fan-in = 1", "fan-in = 40\nsenders = 40").replace("1600B", "0B")
    found = told(tmp_path / "s.toml", many)
    assert found.queries.p99_times == pytest.approx(1.05, abs=0.06)


def test_queries_by_a_clock_whose_median_waited_for_no_timer_are_no_collapse(tmp_path):
    # A buffer that loses the answers of some queries, which come one on top of the other.
    text = f"""{RACK.format(delay="25us", buffer="100KB").replace("linux-dctcp", "linux")}
[[traffic]]
name = "q"
kind = "requests"
fan-in = 40
senders = 40
bytes-each = "2KB"
interval = "5ms"
count = 400
"""
    found = told(tmp_path / "s.toml", text)
    assert found.waits.timed > 0
    assert found.queries.waited < 0.2
    assert (found.outcome, found.whom) == ("timeouts", "the slowest transfers")


def test_a_query_that_has_not_ended_has_taken_no_time_yet(tmp_path):
    text = RACK.format(delay="5us", buffer="128KB").replace("linux-dctcp", "linux")
    group = '[[traffic]]\nname = "q"\nkind = "incast"\nsenders = 100\nbytes-each = "10KB"\n'
    found = told(tmp_path / "s.toml", text + group, **{"run.duration": "50ms"})
    assert found.queries.unfinished == 1
    assert (found.queries.count, found.queries.p99_s) == (1, pytest.approx(0.05, rel=3e-3))
    assert found.queries.p99_times > 1
    ended = told(tmp_path / "s.toml", text + group)
    assert ended.queries.unfinished == 0
    # After less than it needs, it is not late yet.
    found = told(tmp_path / "s.toml", text + group.replace("10KB", "100MB"), **{"run.duration": "50ms"})
    assert (found.queries.p99_times < 1, found.queries.p99_s) == (True, pytest.approx(0.05, rel=3e-3))
    assert 8 <= found.queries.alone_s < 9


def test_memory_that_other_ports_filled_is_not_said_to_be_the_ports_own(tmp_path):
    text = """[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
shared-buffer = "1MB"
[transport]
stack = "linux-6"
scheme = "linux"
""" + "".join(
        f'[[traffic]]\nname = "q{i}"\nkind = "incast"\nsenders = 30\nbytes-each = "64KB"\nreceiver = {i}\n'
        for i in range(8)
    )
    found = told(tmp_path / "s.toml", text, **{"measure.queues": "all"})
    assert found.port.reason == "shared-buffer-full"
    assert found.port.largest_bytes < 0.9 * found.buffer
    shared = noted(found)["shared-memory"]
    assert shared == {"largest_bytes": found.port.largest_bytes, "limit_bytes": 500_000}
    # How long a queue was that nobody measured, is not known.
    found = told(tmp_path / "s.toml", text, **{"measure.bottleneck": "switch-0->receiver-7"})
    found = replace(found, port=replace(found.port, largest_bytes=None))
    assert noted(found)["shared-memory"] == {"largest_bytes": None, "limit_bytes": 500_000}


def test_answers_that_begin_late_or_apart_are_not_blamed_on_round_trips(tmp_path):
    text = RACK.format(delay="5us", buffer="1MB")
    group = '[[traffic]]\nname = "q"\nkind = "incast"\nsenders = 20\nbytes-each = "32KB"\nrounds = 3\n'
    found = told(tmp_path / "s.toml", f'{text}{group}jitter = "5ms"\n')
    assert set(noted(found)) == {"apart"}
    assert noted(found)["apart"]["settings"] == {"traffic.q.jitter": 5e-3}
    found = told(tmp_path / "s.toml", f'{text}{group}request = "500B"\nthink = "2ms"\n')
    assert set(noted(found)) == {"apart"}
    assert noted(found)["apart"]["settings"] == {"traffic.q.think": 2e-3}
    # From half of what a query takes on, and not from a tenth.
    found = told(tmp_path / "s.toml", f'{text}{group}request = "500B"\nthink = "200us"\n')
    assert 0.1 * found.queries.median_s < 2e-4 < 0.5 * found.queries.median_s
    assert "apart" not in noted(found)
    found = told(tmp_path / "s.toml", f'{text}{group}jitter = "20us"\n')
    assert "apart" not in noted(found)
    # Nor is what a fault held up.
    fault = '[[fault]]\nkind = "link-down"\nlink = "switch-0->receiver-0"\nat = "200us"\nfor = "20ms"\n'
    found = told(tmp_path / "s.toml", f"{text.replace('1MB', '8MB')}{group}{fault}", **{"traffic.q.senders": 2})
    assert "round-trips" not in noted(found)


def test_a_link_that_is_down_and_not_a_timer_holds_transfers_up(tmp_path):
    network = 'topology = "leaf-spine"\nleaves = 4\nhosts-per-leaf = 16\nbuffer = "4MB"'
    fault = '[[fault]]\nkind = "link-down"\nlink = "leaf-1->spine-0"\nat = "200us"\nfor = "50ms"\n'
    text = CLOSED.format(topology=network, senders=48, bytes="32KB").replace("linux-6", "rfc") + fault
    values = {"traffic.servers.rounds": 1, "transport.rto-min": "10ms", "transport.scheme": "dctcp"}
    found = told(tmp_path / "s.toml", text, **values)
    # The timers are those of packets that wait.
    assert (found.held_up, set(found.timeouts)) == (True, {"spurious"})
    assert (found.outcome, found.faulty_s) == ("held-up", pytest.approx(0.05))
    assert 0.05 <= found.under_way_s < 0.051
    # For good, and with losses beside: neither a collapse.
    text = ON_A_STAR.format(senders=8, bytes="1MB") + '[[fault]]\nkind = "link-down"\nat = "1ms"\n'
    values = {"traffic.servers.rounds": 1, "run.duration": "500ms", "network.buffer": "300KB"}
    found = told(tmp_path / "s.toml", text, **values)
    assert (found.held_up, found.outcome) == (True, "held-up")
    assert "same-instant" not in noted(found)
    # A short interruption that a timer repairs late is not what the time went into.
    short = text.replace('at = "1ms"', 'at = "1ms"\nfor = "1ms"\nqueued = "drop"')
    assert not told(tmp_path / "s.toml", short, **values).held_up


def test_waits_for_what_a_fault_took_are_no_collapse(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="150KB", window="2mss", senders=8, bytes="64KB")
    down = '[[fault]]\nkind = "link-down"\nat = "10ms"\nfor = "300ms"\n'
    # SYNs that were lost, and transfers that were under way: few of the packets, but most of those who waited.
    for delay in ("50us", "5us"):
        found = told(tmp_path / "s.toml", f'{text}rounds = 10\njitter = "20us"\n{down}', **{"network.delay": delay})
        assert found.lost_to_faults < found.summary["drops"] / 10
        assert found.waited_for_faults
        assert (found.outcome, found.whom) == ("timeouts", "the slowest transfers")
        assert noted(found)["lost-to-faults"]["waited_for_faults"]
    # Those who wait all the time are not told by what a fault did to one query.
    text = STAR.format(rate="10Gbps", buffer="30KB", window="2mss", senders=60, bytes="32KB") + "rounds = 20\n"
    found = told(tmp_path / "s.toml", text + down.replace("300ms", "1ms"))
    assert not found.waited_for_faults
    assert found.outcome == "collapse"


def test_timers_without_a_loss_are_no_collapse():
    experiment = fanin.Scenario("dtcwa/section2")
    found = diagnose(experiment.run(), experiment.of_fan_in(), experiment.handle())
    assert (found.summary["drops"], found.is_spurious) == (0, True)
    assert (found.outcome, found.whom) == ("timeouts", "most queries")


def test_the_aggregators_of_a_relay_tree_have_ports_of_their_own(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="64KB", window="10mss", senders=60, bytes="20KB")
    found = told(tmp_path / "s.toml", text.replace('"incast"', '"relay-tree"\nedge-count = 4\nrounds = 5'))
    assert found.port.name.startswith("switch-0->sender-")
    assert found.port.drops >= found.summary["drops"] / 5


def test_a_link_is_idle_only_while_transfers_are_under_way(tmp_path):
    text = STAR.partition("[[traffic]]")[0].format(rate="1Gbps", buffer="12MB", window="10mss")
    long = '[[traffic]]\nkind = "background"\nflows = 1\nstop = "100ms"\n[run]\nduration = "150ms"\n'
    found = told(tmp_path / "s.toml", text + long)
    assert (found.gaps_s, found.idle_share) == (pytest.approx(0.045, abs=0.01), pytest.approx(0, abs=0.03))
    assert "unfilled" not in noted(found)


def test_whom_timers_decide_is_said(tmp_path):
    clocked = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="150KB", window="10mss")
    load = 'kind = "requests"\nfan-in = 40\nsenders = 40\nreceivers = 1\nbytes-each = "20KB"\nload = "150%"\n'
    values = {"run.duration": "200ms", "transport.scheme": "dctcp", "transport.rto-min": "10ms"}
    found = told(tmp_path / "s.toml", f"{clocked}[[traffic]]\n{load}", **values)
    assert found.outcome == "timeouts"
    assert found.queries.waited > 0.5
    assert found.whom == "most queries"
    # There is more to send than the link carries, and it lies idle.
    assert found.idle_tells
    assert rows_of(found)["idle"].startswith(f"{1e3 * found.idle_s:.3g} ms of ")


def test_nothing_is_said_of_one_instant_where_packets_are_delayed_at_random_or_it_is_asked_for(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="60KB", window="10mss", senders=20, bytes="32KB")
    assert told(tmp_path / "s.toml", text).jitter_to_set
    assert not told(tmp_path / "s.toml", text, **{"network.host-jitter": "10us"}).jitter_to_set
    assert not told(tmp_path / "s.toml", text, **{"traffic.servers.together": "true"}).jitter_to_set


def test_the_port_of_any_client_of_requests_may_be_the_one(tmp_path):
    text = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="60KB", window="10mss")
    load = 'kind = "requests"\nfan-in = 40\nsenders = 40\nreceivers = 2\nbytes-each = "20KB"\ncount = 5\nload = "20%"\n'
    for seed in range(1, 4):
        found = told(tmp_path / "s.toml", f"{text}[[traffic]]\n{load}", **{"run.seed": seed})
        assert found.port.name == found.summary["bottleneck"]


def test_a_run_that_hangs_has_no_slowest_time(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="64KB", window="10mss", senders=16, bytes="64KB")
    found = told(tmp_path / "s.toml", f'{text}rounds = 20\njitter = "20us"\n', **{"run.duration": "700ms"})
    other = replace(found, waits=replace(found.waits, timed=1, waiting=0, timed_in_fan_in=0, waiting_in_fan_in=0))
    assert other.unfinished
    assert (other.outcome, other.whom) == ("timeouts", "most queries")
    assert "median" not in rows_of(other)["transfers"]


def test_a_fault_without_a_link_is_told(tmp_path):
    outage = '[[fault]]\nkind = "controller-outage"\nat = "1ms"\n'
    found = told(tmp_path / "s.toml", ON_A_STAR.format(senders=4, bytes="320KB") + outage, **{
        "transport.stack": "rfc", "transport.scheme": "sdtcp", "traffic.servers.rounds": 1})  # fmt: skip
    (fault,) = noted(found)["faults"]["faults"]
    assert fault == {"kind": "controller-outage", "link": None, "at_s": 1e-3, "for_s": None}


def test_the_link_that_a_fault_makes_slow_is_the_busiest(tmp_path):
    slow = '[[fault]]\nkind = "rate"\nlink = "sender-2->switch-0"\nrate = "100Mbps"\n'
    found = told(tmp_path / "s.toml", ON_A_STAR.format(senders=8, bytes="64KB") + slow, **{"network.buffer": "300KB"})
    assert found.port.name == "sender-2->switch-0"
    assert found.idle_share < 0.05
    # With fewer senders, it is not there.
    near = told(
        tmp_path / "s.toml", (tmp_path / "s.toml").read_text(), **{"fault.rate.rate": "8Gbps", "network.buffer": "12MB"}
    )
    assert near.is_fast
    assert "fanin capacity" not in str(choose_commands(near, None, "s.toml", []))


def test_a_lost_syn_that_is_waited_for_at_the_end_is_told(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="100pkt", window="10mss", senders=40, bytes="32KB")
    long = '[[traffic]]\nname = "long"\nkind = "background"\nflows = 3\n'
    values = {"run.duration": "500ms", "traffic.servers.start": "50ms"}
    found = told(tmp_path / "s.toml", text + long, **values)
    lost = found.waits.waiting_syn
    assert lost > 0
    assert (found.timers[0], found.as_dict()["timers"]["syn-timeout"]) == ("syn-timeout", 1)
    assert 0.4 <= found.waits.longest_waiting_s < 0.5
    cured = told(tmp_path / "s.toml", text + long, **values, **{"transport.syn-timeout": "10ms"})
    assert cured.waits.waiting_syn == 0


def test_random_early_drops_are_named(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="500KB", window="10mss", senders=20, bytes="64KB")
    found = told(tmp_path / "s.toml", text, **{"queue.kind": "red"})
    assert found.port.reason == "discipline"


def test_the_client_of_a_relay_tree_gets_the_answers_of_its_relays(tmp_path):
    tree = 'topology = "tree"\nedge-switches = 4\nhosts-per-edge = 13\nbuffer = "150KB"'
    text = CLOSED.format(topology=tree, senders=30, bytes="32KB").replace('"incast"', '"relay-tree"\nedge-count = 3')
    found = told(tmp_path / "s.toml", text.replace("rounds = 20\n", ""), **{"transport.stack": "rfc"})
    assert found.first_windows[0] == 3


def test_receivers_windows_that_limit_endless_flows_are_named(tmp_path):
    text = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="150KB", window="2mss")
    long = '[[traffic]]\nname = "long"\nkind = "background"\nflows = 2\n[run]\nduration = "100ms"\n'
    far = {"network.delay": "100us", "transport.receive-buffer": "64KB"}
    found = told(tmp_path / "s.toml", text + long, **far)
    assert found.limited_bps == pytest.approx(2 * 8 * 43 * 1460 / 400e-6, rel=0.01)
    assert noted(found)["receive-windows"]["window_bytes"] == 62_780
    # Interrupts make a round trip longer, and with these windows are slower than the link.
    text = ON_A_STAR.format(senders=4, bytes="5MB")
    near = told(tmp_path / "s.toml", text, **{"transport.receive-buffer": "8KB", "traffic.servers.rounds": 1})
    assert near.limited_bps < 0.8e10 < 4 * 8 * 8e3 / near.round_trip_s
    limited = noted(near)["receive-windows"]
    assert limited["least_bps"] == near.limited_bps < limited["most_bps"]
    assert (near.interrupts_s, limited["transfers"]) == (pytest.approx(16e-6), 4)


def test_how_much_of_what_queries_need_is_jitter_is_said(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="4MB", window="10mss", senders=16, bytes="64KB")
    found = told(tmp_path / "s.toml", text, **{"traffic.servers.jitter": "20us"})
    assert found.apart == {}
    found = told(tmp_path / "s.toml", text, **{"traffic.servers.jitter": "4ms"})
    # The link sends 0.9 ms of answers meanwhile, all but the last.
    assert found.queries.begun_s == pytest.approx(4e-3, rel=0.2)
    assert found.queries.apart_s == pytest.approx(found.queries.begun_s - 15 / 16 * 0.87e-3, rel=0.1)
    assert found.queries.p99_times == pytest.approx(1, abs=0.05)
    assert found.as_dict()["apart"] == {"traffic.servers.jitter": 4e-3}
    assert rows_of(found)["queries"].endswith(" ms of it as they begin apart (traffic.servers.jitter)")
    # An exponential part has no end, and what it was is known.
    found = told(
        tmp_path / "s.toml", text, **{"traffic.servers.exponential": "1ms", "traffic.servers.bytes-each": "8KB"}
    )
    assert set(noted(found)) == {"apart"}
    assert noted(found)["apart"]["settings"] == {"traffic.servers.exponential": 1e-3}


def test_traffic_that_sent_nothing_needed_nothing(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="300KB", window="10mss", senders=10, bytes="32KB")
    late = '[[traffic]]\nname = "late"\nkind = "background"\nflows = 2\nstart = "500ms"\n[run]\nduration = "1s"\n'
    found = told(tmp_path / "s.toml", text + late)
    assert found.outcome == "full"
    assert "other-traffic" not in noted(found)


def test_the_time_of_a_warm_up_is_named(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="30KB", window="2mss", senders=40, bytes="32KB")
    warm = {"traffic.servers.rounds": 5, "measure.warmup": "300ms"}
    found = told(tmp_path / "s.toml", text, **warm)
    assert found.as_dict()["warmup_s"] == 0.3
    assert " after the warm-up of 300 ms that the transfers took." in describe_course(found).headline
    found = told(tmp_path / "s.toml", text, **warm | {"measure.warmup": "0s"})
    assert found.as_dict()["warmup_s"] == 0
    assert "warm-up" not in describe_course(found).headline


def test_the_idle_time_of_a_link_that_is_not_asked_for_more_is_not_that_of_timers(tmp_path):
    poisson = 'kind = "poisson"\nfrom = "all"\nto = "all"\nbytes-each = "20KB"\nload = "40%"\ncount = 2000\n'
    text = STAR.format(rate="10Gbps", buffer="60KB", window="10mss", senders=1, bytes="1KB").replace("200ms", "1ms")
    found = told(tmp_path / "s.toml", f'{text.partition("[[traffic]]")[0]}[[traffic]]\n{poisson}',
                        **{"network.sender-hosts": 32})  # fmt: skip
    assert found.outcome == "timeouts"
    assert found.idle_share > 0.5
    assert (found.idle_tells, "idle" in rows_of(found)) == (False, False)


def test_endless_flows_have_no_slowest_transfer(tmp_path):
    text = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="300KB", window="10mss")
    long = '[[traffic]]\nname = "long"\nkind = "background"\nflows = 20\n[run]\nduration = "500ms"\n'
    found = told(tmp_path / "s.toml", text + long)
    assert found.outcome == "timeouts"
    assert found.whom == "some of the endless flows"


def test_faults_that_overlap_are_not_added_up(tmp_path):
    text = ON_A_STAR.format(senders=6, bytes="1MB").replace("rounds = 20", "rounds = 2")
    slow = '[[fault]]\nname = "{0}"\nkind = "rate"\nat = "{1}ms"\nfor = "60ms"\nrate = "{2}Gbps"\n'
    found = told(tmp_path / "s.toml", text + slow.format("a", 1, 1) + slow.format("b", 30, 2),
                        **{"network.buffer": "200KB"})  # fmt: skip
    # The last in the file holds: 1 Gbit/s until 30 ms, and 2 until 90.
    assert 1e9 < found.port.rate_bps < 10e9
    assert 0 <= found.idle_share < 0.5
    assert found.port.is_slowed
    assert " -" not in " ".join([describe_course(found).headline, *rows_of(found).values()])


def test_a_timer_that_has_doubled_and_runs_at_the_end_is_a_wait(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="64KB", window="10mss", senders=40, bytes="32KB")
    long = '[[traffic]]\nname = "long"\nkind = "background"\nflows = 4\n'
    values = {"run.duration": "600ms", "traffic.servers.start": "50ms", "transport.syn-timeout": "10ms"}
    found = told(tmp_path / "s.toml", text + long, **values)
    assert found.unfinished
    assert (found.queries.by_timers > 0.9, found.waits.slowest_waited) == (True, True)
    assert (found.outcome, found.starved) == ("collapse", True)


def test_windows_are_of_whole_segments(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="150KB", window="10mss", senders=4, bytes="200KB")
    found = told(tmp_path / "s.toml", text, **{"network.delay": "50us", "transport.receive-buffer": "4KB"})
    assert (found.receive_window, found.windows) == (2920, 69)
    assert found.queries.p99_times == pytest.approx(1, abs=0.02)


def test_losses_of_another_kind_are_counted_apart(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="300KB", window="10mss", senders=10, bytes="1MB")
    down = '[[fault]]\nkind = "link-down"\nat = "300us"\nfor = "100ms"\nqueued = "drop"\n'
    found = told(tmp_path / "s.toml", text + down)
    assert found.port.reason == "link-down"
    assert 0 < found.port.for_other_reasons < found.port.drops
    assert found.timeouts["spurious"] > 0


def test_lost_syns_are_no_first_windows(tmp_path):
    text = STAR.format(rate="1Gbps", buffer="8pkt", window="10mss", senders=60, bytes="2KB")
    found = told(tmp_path / "s.toml", text)
    assert found.waits_for_syn > 50
    assert "first-windows" not in noted(found)


def test_a_query_needs_what_all_paths_carry_together(tmp_path):
    network = (
        'topology = "leaf-spine"\nleaves = 3\nspines = 4\nhosts-per-leaf = 8\nuplink-rate = "2.5Gbps"\nbuffer = "100KB"'
    )
    found = told(tmp_path / "s.toml", CLOSED.format(topology=network, senders=16, bytes="64KB"))
    assert found.port.name.endswith("->leaf-0")
    # Four of 2.5 Gbit/s carry as much together: a query does not need what one of them would take for all of it.
    assert found.queries.alone_s < 16 * 8 * 64e3 / 2.5e9 / 3


def test_jitter_of_thinking_is_part_of_what_a_query_needs(tmp_path):
    text = ON_A_STAR.format(senders=30, bytes="10KB") + 'request = "100B"\nthink-jitter = "5ms"\n'
    found = told(tmp_path / "s.toml", text)
    assert found.queries.p99_times == pytest.approx(1, abs=0.1)
    assert found.apart == {"traffic.servers.think-jitter": 5e-3}
    long = '[[traffic]]\nname = "long"\nkind = "background"\nflows = 2\n'
    found = told(tmp_path / "s.toml", text + long, **{"transport.scheme": "linux-dctcp", "network.buffer": "1MB"})
    assert found.outcome != "crowded"
    assert "other-traffic" not in noted(found)


def test_queries_by_a_clock_begin_at_the_same_instant_too(tmp_path):
    requests = asked(20, "10KB", "20ms", 20, "periodic")
    text = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="100KB", window="10mss")
    found = told(tmp_path / "s.toml", text + requests)
    assert noted(found)["same-instant"] == {"jitter": "traffic.q.jitter"}
    found = told(tmp_path / "s.toml", text + requests.replace("periodic", "poisson"))
    assert "same-instant" not in noted(found)


def test_a_fan_in_without_senders_and_one_that_never_began_have_no_queries(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="100KB", window="10mss", senders=0, bytes="10KB")
    long = '[[traffic]]\nname = "long"\nkind = "background"\nflows = 2\n[run]\nduration = "20ms"\n'
    found = told(tmp_path / "s.toml", text + long)
    assert (found.queries, found.first_windows[0]) == (None, 0)
    text = STAR.format(rate="10Gbps", buffer="100KB", window="10mss", senders=3, bytes="10KB")
    found = told(tmp_path / "s.toml", text, **{"traffic.servers.start": "2s", "run.duration": "1s"})
    assert (found.queries, found.outcome, found.idle_share) == (None, "cut-short", 1)


MIXED = """\
[network]
topology = "star"
frame-overhead = "0B"
rate = "10Gbps"
delay = "5us"
buffer = "300KB"
[transport]
scheme = "dctcp"
[[traffic]]
name = "long"
kind = "background"
flows = 2
[[traffic]]
name = "q"
kind = "incast"
senders = 20
bytes-each = "20KB"
rounds = 5
scheme = "linux"
[run]
duration = "50ms"
"""


def test_schemes_on_different_stacks_are_told_by_that_of_the_fan_in(cli, work):
    (work / "mixed.toml").write_text(MIXED)
    experiment = fanin.Scenario("mixed.toml")
    # A key in which they differ is in no [transport] that both have.
    assert "receive-buffer" not in experiment.resolved()["transport"]
    whole = experiment.of_fan_in()
    assert (whole["transport"]["receive-buffer"], whole["transport"]["ack-every"]) == ("3145728B", 2)
    given = [row["path"] for row in experiment.resolved_table() if not row["is_default"]]
    assert [path for path in given if path.endswith(".scheme")] == ["transport.scheme", "traffic.q.scheme"]
    for command in (["run", "--no-store"], ["advise", "--capacities", "0", "--seeds", "1..3"], ["check"]):
        assert cli(command[0], "mixed.toml", *command[1:]).code == 0, command
    assert cli("compare", "mixed.toml", "--schemes", "linux,dctcp", "--seeds", "1,2").code == 0


def test_a_group_with_a_scheme_of_its_own_is_said_to_keep_it(cli, work):
    alone = STAR.format(rate="10Gbps", buffer="150KB", window="1mss", senders=60, bytes="32KB")
    (work / "own.toml").write_text(f'{alone}scheme = "newreno"\n')
    said = cli("compare", "own.toml", "--schemes", "newreno,dctcp", "--seeds", "1,2").err
    assert "traffic.servers: a scheme of its own, which stays the same in every row" in said
    (work / "own.toml").write_text(alone)
    assert (
        "of its own, which stays" not in cli("compare", "own.toml", "--schemes", "newreno,dctcp", "--seeds", "1,2").err
    )


def test_a_port_of_another_tier_has_the_buffer_of_that(tmp_path):
    network = (
        'topology = "leaf-spine"\nleaves = 3\nspines = 2\nhosts-per-leaf = 8\nuplink-rate = "5Gbps"\nbuffer = "2MB"'
    )
    text = CLOSED.format(topology=network, senders=16, bytes="64KB")
    found = told(tmp_path / "s.toml", text, **{"network.spine-buffer": "50KB", "transport.stack": "rfc"})
    assert (found.port.name.partition("-")[0], found.buffer) == ("spine", 50_000)
    assert found.port.reason == "buffer-full"


def test_more_load_than_fits_is_named(tmp_path):
    group = 'kind = "poisson"\nfrom = "all"\nto = "all"\nbytes-each = "20KB"\ncount = 3000\n'
    both = f'[[traffic]]\nname = "a"\n{group}load = "90%"\n[[traffic]]\nname = "b"\n{group}load = "30%"\n'
    text = STAR.partition("[[traffic]]")[0].format(rate="10Gbps", buffer="150KB", window="10mss") + both
    found = told(tmp_path / "s.toml", text, **{"network.sender-hosts": 8})
    assert next(iter(noted(found))) == "overload"
    assert noted(found)["overload"] == {"load_share": pytest.approx(1.2, rel=1e-3), "of": "receivers"}
    (warning,) = [
        each
        for each in fanin.Scenario(tmp_path / "s.toml").set("network.sender-hosts", 8).warnings()
        if "offer" in each
    ]
    assert warning == "traffic.a, traffic.b: offer 120 % of what their receivers can carry"


def test_a_busier_port_of_other_receivers_is_not_that_of_the_queries(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="60KB", window="10mss", senders=30, bytes="20KB")
    backup = '[[traffic]]\nname = "backup"\nkind = "background"\nflows = 4\nreceiver = 1\n[run]\nduration = "300ms"\n'
    found = told(tmp_path / "s.toml", text + backup)
    assert found.summary["bottleneck"] == "switch-0->receiver-1"
    assert (found.port.name, found.outcome) == ("switch-0->receiver-0", "collapse")
    assert "other-traffic" not in noted(found)


def test_queries_beside_a_load_are_not_said_to_be_asked_for_no_more(tmp_path):
    text = STAR.format(rate="10Gbps", buffer="2MB", window="10mss", senders=10, bytes="64KB")
    rest = '[[traffic]]\nname = "rest"\nkind = "poisson"\nbytes-each = "100KB"\nload = "20%"\nstop = "20ms"\n'
    found = told(tmp_path / "s.toml", text.replace("200ms", "10ms") + 'rounds = 20\ngap = "1ms"\n' + rest)
    assert found.outcome in ("idle", "full", "losses")
    assert (found.is_closed_loop, found.summary["offered"][0]["group"]) == (True, "rest")


def test_the_time_that_a_fault_takes_is_not_what_data_need(tmp_path):
    text = ON_A_STAR.format(senders=6, bytes="256KB") + '[[fault]]\nkind = "link-down"\nat = "5ms"\nfor = "5ms"\n'
    found = told(tmp_path / "s.toml", text, **{"network.buffer": "4MB"})
    assert (found.outcome, found.idle_share > 0.05) == ("full", True)
    assert "round-trips" not in noted(found)


SCENARIOS = {
    Outcome.COLLAPSE: (STAR.format(rate="10Gbps", buffer="150KB", window="2mss", senders=48, bytes="20KB"), {}),
    Outcome.STALLS: (
        STALL.format(
            buffer="1MB",
            scheme="linux",
            stack="linux-6",
            window="1mss",
            more='quickack = 0\nack-policy = "count"',
            senders=4,
            bytes="8KB",
        ),
        {},
    ),
    Outcome.TIMEOUTS: (STAR.format(rate="1Gbps", buffer="150KB", window="2mss", senders=20, bytes="2MB"), {}),
    Outcome.HELD_UP: (
        ON_A_STAR.format(senders=8, bytes="1MB") + '[[fault]]\nkind = "link-down"\nat = "1ms"\n',
        {"traffic.servers.rounds": 1, "run.duration": "500ms", "network.buffer": "300KB"},
    ),
    Outcome.CROWDED: (BESIDE.format(buffer="1MB", senders=2), {"transport.rto-min": "1ms"}),
    Outcome.LOSSES: (
        STAR.format(rate="10Gbps", buffer="60KB", window="10mss", senders=8, bytes="64KB"),
        {"network.delay": "1ms", "transport.scheme": "linux"},
    ),
    Outcome.FULL: (STAR.format(rate="1Gbps", buffer="12MB", window="2mss", senders=60, bytes="32KB"), {}),
    Outcome.IDLE: (FAR, {}),
    Outcome.CUT_SHORT: (
        STAR.format(rate="10Gbps", buffer="2MB", window="2mss", senders=8, bytes="200KB"),
        {"run.duration": "20us"},
    ),
}

SNAPSHOTS = Path(__file__).with_name("courses.txt")
"""The words of each outcome."""


def test_the_words_of_each_outcome_are_as_stored(tmp_path):
    said = []
    for outcome, (text, overrides) in SCENARIOS.items():
        found = told(tmp_path / "s.toml", text, **overrides)
        assert found.outcome == outcome
        words = describe_course(found)
        said += [f"[{outcome}]", words.headline, *(f"{label:<10}{row}" for label, row in words.rows), ""]
    text = "\n".join(said)
    (tmp_path / SNAPSHOTS.name).write_text(text)
    assert SNAPSHOTS.read_text() == text, f"if that is meant, copy {tmp_path / SNAPSHOTS.name}"
    assert set(SCENARIOS) == set(Outcome)


def test_every_key_of_a_diagnosis_is_documented(tmp_path):
    record = as_record(star(tmp_path / "s.toml"))
    ends = {f"{kind}{end}" for kind in ("timed", "probed", "waiting") for end in ENDS}
    assert undocumented(record, "The diagnosis of a run") - ends == {*record["timers"]}


ENDS = ("_in_fan_in", "_initially", "_measured", "_least", "_syn")
"""What the page explains for all kinds of waits at once."""


def test_every_kind_of_note_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "output.md").read_text()
    assert all(f"\n| `{kind}` | " in page for kind in NOTES)


def test_rows_beyond_a_number_of_lines_are_left_out(capsys):
    rows = [("note", str(at)) for at in range(12)]
    assert (say_rows(rows, lines=MAX_ROWS), say_rows(rows)) == (5, 0)
    assert len(capsys.readouterr().out.splitlines()) == 7 + 12

//! Every table of a run small enough to follow by hand.
//!
//! Two servers on open connections send two full segments each at once, at 1 Gbps (12 us a segment) over cables of
//! 25 us. Both first segments reach the switch at 37 us, both second ones at 49 us, where the port to the receiver
//! has just passed on the first: one segment leaves every 12 us, at 49, 61, 73 and 85 us, and arrives 25 us later.
//! So the port holds 2, 3, 2 and 1 packets for 12 us each, and the run ends at 110 us.

use crate::outcome::{numbers, ps, run, words};
use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, Outcome};
use std::collections::BTreeSet;

const US: u64 = 1_000_000;

/// The second server begins a picosecond late, so that no two events tie and their order is not left to the seed.
fn two_by_two(network: &str, measure: &str) -> Outcome {
    let server = "kind = \"incast\"\nsenders = 1\nbytes-each = \"2920B\"\nconnections = \"persistent\"\n";
    run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"25us\"\n{network}\n[[traffic]]\nname = \"first\"\n{server}[[traffic]]\n\
         name = \"second\"\nstart = \"1ps\"\n{server}[measure]\n{measure}\n"
    ))
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-7 * expected.abs(), "{found}, not {expected}");
}

fn all_ps(outcome: &Outcome, table: &str, column: &str) -> Vec<u64> {
    numbers(outcome, table, column).into_iter().map(ps).collect()
}

#[test]
fn flows() {
    let outcome = two_by_two("", "");
    assert_eq!(all_ps(&outcome, "flows", "fct_s"), [98 * US, 110 * US - 1]);
    assert_eq!(all_ps(&outcome, "flows", "completion_s"), [98 * US, 110 * US]);
    assert_eq!(all_ps(&outcome, "flows", "ideal_s"), [86 * US; 2]);
    assert_eq!(numbers(&outcome, "flows", "delivered_bytes"), [2920.0; 2]);
    near(numbers(&outcome, "flows", "slowdown")[0], 98.0 / 86.0);
    near(numbers(&outcome, "flows", "goodput_bps")[1], 2920.0 * 8.0 / 110e-6);
    near(outcome.number("goodput_bps"), 5840.0 * 8.0 / 110e-6);
    near(outcome.number("goodput_finite_bps"), 5840.0 * 8.0 / 110e-6);
    let (x, y) = (1.0 / 98.0, 1.0 / 110.0);
    near(outcome.number("jain"), (x + y) * (x + y) / (2.0 * (x * x + y * y)));
    near(outcome.number("fct_mean_s"), 104e-6);
    near(outcome.number("fct_p50_s"), 98e-6);
    near(outcome.number("fct_p99_s"), 110e-6);
    assert_eq!(outcome.number("timeout_ratio"), 0.0);
    // Two segments of each flow over two links, and three acknowledgements: the first has crossed the switch at
    // 99.32 us, the second has reached it at 111.32 us, after the end.
    assert_eq!(outcome.number("packet_hops"), 8.0 + 1.0);
}

#[test]
fn queues_with_three_means() {
    let outcome = two_by_two("", "");
    let only = |column: &str| numbers(&outcome, "queues", column)[0];
    near(only("mean_packets"), 96.0 / 110.0);
    near(only("mean_busy_packets"), 2.0);
    // After each change: 1 2, 1, 2 3, 2, 1, 0.
    near(only("mean_changes_packets"), 12.0 / 8.0);
    near(only("mean_bytes"), 96.0 * 1500.0 / 110.0);
    assert_eq!((only("max_packets"), only("max_bytes")), (3.0, 4500.0));
    // 62 us empty, then 12, 24 and 12 us at one, two and three packets.
    assert_eq!(["p5_packets", "p50_packets", "p95_packets", "p99_packets"].map(only), [0.0, 0.0, 3.0, 3.0]);
    near(outcome.number("queue_mean_busy_packets"), 2.0);
    assert_eq!(words(&outcome, "queues", "port"), ["switch-0->receiver-0"]);
}

/// The first server's second segment has 140 B on the wire, so the port holds packets of two sizes: 1500 and 0 (the
/// first leaves at once), 1500, 1640 at 38.12 us, 140 and 1640 at 49 us, 1500 at 61 us and 0 bytes wait, where it is
/// 1, 0, 1, 2, 1, 2, 1 and 0 packets.
#[test]
fn what_waits_in_bytes_and_in_packets() {
    for queue in ["", "[queue]\nkind = \"strict-priority\"\n"] {
        let server = "kind = \"incast\"\nsenders = 1\nconnections = \"persistent\"\n";
        let outcome = run(&format!(
            "[network]\ntopology = \"star\"\ndelay = \"25us\"\n{queue}[[traffic]]\nname = \"first\"\nbytes-each = \
             \"1560B\"\n{server}[[traffic]]\nname = \"second\"\nstart = \"1ps\"\nbytes-each = \"2920B\"\n{server}"
        ));
        near(outcome.number("queue_waiting_mean_changes_packets"), 8.0 / 8.0);
        near(outcome.number("queue_waiting_mean_changes_bytes"), 7920.0 / 8.0);
    }
}

#[test]
fn queue_traces() {
    let changes = two_by_two("", "queue-trace = \"on-change\"");
    let at = all_ps(&changes, "queue-trace", "time_s");
    let found: Vec<(u64, f64)> = at.iter().map(|at| at / US).zip(numbers(&changes, "queue-trace", "packets")).collect();
    let expected = [(37, 1.0), (37, 2.0), (49, 1.0), (49, 2.0), (49, 3.0), (61, 2.0), (73, 1.0), (85, 0.0)];
    assert_eq!(found, expected);
    let samples = two_by_two("", "queue-trace = \"sampled\"\nqueue-sample = \"12us\"");
    let at = all_ps(&samples, "queue-trace", "time_s");
    assert_eq!(at, (1..=9).map(|i| 12 * i * US).collect::<Vec<_>>());
    assert_eq!(numbers(&samples, "queue-trace", "packets"), [0.0, 0.0, 0.0, 2.0, 3.0, 2.0, 1.0, 0.0, 0.0]);
    assert_eq!(numbers(&samples, "queue-trace", "bytes")[4], 4500.0);
}

#[test]
fn links() {
    let outcome = two_by_two("", "");
    let names = words(&outcome, "links", "link");
    let of = |name: &str, column: &str| {
        let row = names.iter().position(|link| link == name).expect(name);
        numbers(&outcome, "links", column)[row]
    };
    assert_eq!(of("switch-0->receiver-0", "bytes"), 6000.0);
    near(of("switch-0->receiver-0", "utilisation"), 6000.0 * 8e-9 / 110e-6);
    assert_eq!((of("sender-0->switch-0", "bytes"), of("sender-1->switch-0", "bytes")), (3000.0, 3000.0));
    // Of four acknowledgements the receiver has sent three by the end; the fourth is about to leave.
    assert_eq!(of("receiver-0->switch-0", "bytes"), 120.0);
}

#[test]
fn requests_and_delays() {
    let outcome = two_by_two("", "");
    assert_eq!(numbers(&outcome, "requests", "fan_in"), [1.0; 2]);
    assert_eq!(numbers(&outcome, "requests", "bytes"), [2920.0; 2]);
    assert_eq!(all_ps(&outcome, "requests", "qct_s"), [98 * US, 110 * US - 1]);
    assert_eq!(numbers(&outcome, "requests", "slowest_flow"), [0.0, 1.0]);
    // Sent at once, received at 74 and 98, and at 86 and 110 us. A packet's stamp counts in 1.024 ns.
    let close = |column: &str, expected: [f64; 2]| {
        for (found, expected) in numbers(&outcome, "delays", column).into_iter().zip(expected) {
            assert!((found * 1e6 - expected).abs() < 0.0021, "{column}: {found} s, not {expected} us");
        }
    };
    assert_eq!(numbers(&outcome, "delays", "packets"), [2.0; 2]);
    close("mean_s", [86.0, 98.0]);
    close("max_s", [98.0, 110.0]);
    close("std_s", [12.0; 2]);
    close("jitter_s", [24.0; 2]);
    for (found, expected) in numbers(&outcome, "delays", "p50_s").into_iter().zip([74.0, 86.0]) {
        assert!((expected - 0.01..expected * 65.0 / 64.0 + 0.01).contains(&(found * 1e6)), "{found}");
    }
}

/// Seconds in a queue, as in the lowest of strict bands, are no less than what they are.
#[test]
fn delays_of_many_seconds() {
    let outcome =
        run("[network]\ntopology = \"star\"\ndelay = \"25us\"\n[[traffic]]\nkind = \"incast\"\nsenders = 1\n\
         bytes-each = \"2920B\"\nconnections = \"persistent\"\n[[fault]]\nkind = \"link-down\"\n\
         link = \"switch-0->receiver-0\"\nat = \"10us\"\nfor = \"60s\"\n[run]\nduration = \"70s\"\n");
    // Both segments were sent at once; the second follows the first by 12 us when the port opens.
    let found = numbers(&outcome, "delays", "max_s")[0];
    assert!((found - (60.0 + 10e-6 + 2.0 * 12e-6 + 25e-6)).abs() < 2e-9, "{found}");
}

#[test]
fn bins() {
    let outcome = two_by_two("", "bin = \"50us\"");
    let column = |name: &str| numbers(&outcome, "bins", name);
    assert_eq!(words(&outcome, "bins", "group"), ["first", "second"].repeat(3));
    assert_eq!(column("delivered_bytes"), [0.0, 0.0, 2920.0, 1460.0, 0.0, 1460.0]);
    assert_eq!(column("completions"), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    // The queue is that of all groups together, on the rows of each.
    let queue = [27.0 / 50.0, 69.0 / 50.0, 0.0];
    for (row, found) in column("queue_mean_packets").into_iter().enumerate() {
        near(found, queue[row / 2]);
    }
    near(column("goodput_bps")[5], 1460.0 * 8.0 / 10e-6);
    near(column("fct_mean_s")[2], 98e-6);
    // Of the first group's lone transfer all is its own; where nothing arrived there is nothing to share.
    assert_eq!(column("jain")[2..4], [1.0, 1.0]);
    assert!(column("jain")[0].is_nan());
    // Its segments arrive 74 us and 98 us after they were sent, to the grain of a stamp.
    let about = |found: f64, expected: f64| assert!((found - expected).abs() < 2e-9, "{found}");
    about(column("delay_p50_s")[2], 74e-6);
    about(column("delay_p95_s")[2], 98e-6);
    about(column("delay_p99_s")[2], 98e-6);
}

#[test]
fn links_per_bin() {
    let outcome = two_by_two("", "bin = \"50us\"");
    assert_eq!(words(&outcome, "link-bins", "link"), ["switch-0->receiver-0"; 3]);
    // Four segments leave from 37 us to 85 us.
    for (row, busy) in [13.0 / 50.0, 35.0 / 50.0, 0.0].into_iter().enumerate() {
        near(numbers(&outcome, "link-bins", "utilisation")[row], busy);
        near(numbers(&outcome, "link-bins", "throughput_bps")[row], busy * 1e9);
    }
    let all = two_by_two("", "bin = \"50us\"\nqueues = \"all\"");
    assert_eq!(
        words(&all, "link-bins", "link")[..3],
        ["switch-0->receiver-0", "switch-0->sender-0", "switch-0->sender-1"]
    );
}

#[test]
fn totals_of_each_group() {
    let outcome = two_by_two("buffer = \"2pkt\"\n[transport]\nrto-min = \"10ms\"", "");
    let groups = outcome.summary["groups"].as_array().expect("an array");
    let names: Vec<_> = groups.iter().map(|group| group["group"].as_str().expect("a name")).collect();
    assert_eq!(names, ["first", "second"]);
    let of = |key: &str| groups.iter().map(|group| group[key].as_f64().unwrap_or(f64::NAN)).collect::<Vec<_>>();
    assert_eq!(of("drops"), [0.0, 1.0]);
    assert_eq!(of("timeouts"), [0.0, 1.0]);
    assert_eq!(of("timeout_ratio"), [0.0, 1.0]);
    assert_eq!((of("flows"), of("completed"), of("incomplete")), (vec![1.0; 2], vec![1.0; 2], vec![0.0; 2]));
    assert_eq!(of("jain"), [1.0; 2]);
    near(of("fct_mean_s")[0], numbers(&outcome, "flows", "fct_s")[0]);
    near(of("fct_p99_s")[1], numbers(&outcome, "flows", "fct_s")[1]);
    for total in ["drops", "marks", "timeouts", "retransmissions", "flows", "completed"] {
        assert_eq!(of(total).iter().sum::<f64>(), outcome.number(total), "{total}");
    }
    near(of("goodput_bps").iter().sum(), outcome.number("goodput_bps"));
}

#[test]
fn a_queue_that_stays_counts_to_the_end_in_the_bins() {
    let text = "[network]\ntopology = \"star\"\nbuffer = \"1000pkt\"\n[transport]\ninitial-window = \"500mss\"\n[[traffic]]\n\
                kind = \"incast\"\nsenders = 2\nbytes-each = \"730KB\"\nconnections = \"persistent\"\n[measure]\nbin = \"1ms\"\n\
                [run]\nduration = \"1ms\"\n";
    let outcome = run(text);
    let (bins, table) = (numbers(&outcome, "bins", "queue_mean_packets"), numbers(&outcome, "queues", "mean_packets"));
    near(bins[0], table[0]);
}

#[test]
fn drops_and_the_timeout_that_follows() {
    let outcome = two_by_two("buffer = \"2pkt\"", "");
    // At 49 us one packet has left, the first sender's second segment takes its place, the other's is lost.
    assert_eq!(all_ps(&outcome, "drops", "time_s"), [49 * US + 1]);
    assert_eq!(words(&outcome, "drops", "port"), ["switch-0->receiver-0"]);
    assert_eq!(words(&outcome, "drops", "reason"), ["buffer-full"]);
    assert_eq!(numbers(&outcome, "drops", "connection"), [1.0]);
    assert_eq!(numbers(&outcome, "drops", "seq"), [1461.0]);
    assert_eq!(
        (numbers(&outcome, "drops", "ack"), numbers(&outcome, "drops", "retransmitted")),
        (vec![0.0], vec![0.0])
    );
    assert_eq!((outcome.number("drops"), outcome.number("drops_buffer_full")), (1.0, 1.0));
    // The first segment arrives at 86 us, its acknowledgement 50.64 us later; the timer then runs 200 ms.
    assert_eq!(all_ps(&outcome, "flows", "fct_s")[1], 86 * US + 50_640_000 + 200_000 * US + 74 * US - 1);
    assert_eq!(numbers(&outcome, "flows", "timeouts"), [0.0, 1.0]);
    assert_eq!(outcome.number("timeouts_few_duplicates"), 1.0, "the other half of the window arrived");
    assert_eq!(outcome.number("timeout_ratio"), 0.5);
    assert_eq!(numbers(&outcome, "flows", "retransmissions"), [0.0, 1.0]);
}

#[test]
fn probes() {
    let outcome = run(
        "[network]\ntopology = \"star\"\ndelay = \"25us\"\n[transport]\ninitial-window = \"2mss\"\n[[traffic]]\n\
         kind = \"incast\"\nsenders = 1\nbytes-each = \"5840B\"\nconnections = \"persistent\"\n[measure]\nprobes = \"cwnd, in-flight\"\n",
    );
    let rows: Vec<(u64, String, f64)> = all_ps(&outcome, "probes", "time_s")
        .into_iter()
        .zip(words(&outcome, "probes", "name"))
        .zip(numbers(&outcome, "probes", "value"))
        .map(|((at, name), value)| (at / 10_000, name, value))
        .collect();
    let cwnd: Vec<(u64, f64)> = rows.iter().filter(|row| row.1 == "cwnd").map(|row| (row.0, row.2)).collect();
    // The first acknowledgement is back at 74 + 50.64 us, the second 12 us later.
    assert_eq!(cwnd, [(0, 2920.0), (12_464, 4380.0), (13_664, 5840.0)]);
    let flight: Vec<(u64, f64)> = rows.iter().filter(|row| row.1 == "in-flight").map(|row| (row.0, row.2)).collect();
    // Each acknowledgement takes one off and, in slow start, lets two out; the last finds nothing left to send.
    assert_eq!(flight, [(0, 2920.0), (12_464, 4380.0), (13_664, 2920.0)]);
}

#[test]
fn the_window_of_goodput() {
    let text = |more: &str| {
        format!(
            "[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"background\"\n[[traffic]]\nkind = \"incast\"\nsenders = 2\n\
             bytes-each = \"200KB\"\nstart = \"10ms\"\n{more}"
        )
    };
    let outcome = run(&text(""));
    assert_eq!(ps(outcome.number("window_start_s")), 10_000 * US);
    let last = numbers(&outcome, "flows", "completion_s")[1..].iter().copied().fold(0.0, f64::max);
    assert_eq!(ps(outcome.number("simulated_s")), ps(last));
    let window = ps(last) - 10_000 * US;
    near(outcome.number("goodput_finite_bps"), 400_000.0 * 8.0 / (window as f64 * 1e-12));
    assert!(outcome.number("goodput_bps") > outcome.number("goodput_finite_bps"), "the long flow counts as well");
    assert!(outcome.number("goodput_bps") <= 1e9 * 1460.0 / 1500.0 * 1.001);
}

#[test]
fn a_warm_up_takes_off_what_came_before() {
    let outcome = run(
        "[network]\ntopology = \"star\"\nbuffer = \"2000pkt\"\n[[traffic]]\nkind = \"incast\"\nsenders = 2\nbytes-each = \"20MB\"\n\
         [measure]\nwarmup = \"10ms\"\n[run]\nduration = \"50ms\"\n",
    );
    // The receiver's link is busy throughout: 40 ms are 3333.3 segments.
    let segments = outcome.number("goodput_finite_bps") * 40e-3 / (8.0 * 1460.0);
    assert!((segments - 3333.3).abs() <= 1.0, "{segments}");
    near(outcome.number("goodput_bps"), outcome.number("goodput_finite_bps"));
    assert!(numbers(&outcome, "queues", "p5_packets")[0] > 0.0, "the empty queue of the start is forgotten");
}

#[test]
fn timeouts_of_requests_count() {
    // The client's SYNs come faster than the trunk passes them on, and one packet fits.
    let outcome = run(
        "[network]\ntopology = \"two-switch\"\ntrunk-rate = \"100Mbps\"\nbuffer = \"1pkt\"\n[transport]\nsyn-timeout = \"1ms\"\nrto-min = \"1ms\"\nrto-initial = \"1ms\"\n\
         rto-after-syn-timeout = \"1ms\"\n[[traffic]]\nkind = \"incast\"\nsenders = 20\nbytes-each = \"1000B\"\nrequest = \"100B\"\n",
    );
    let syn = numbers(&outcome, "flows", "timeouts_syn").iter().sum::<f64>();
    assert!(syn > 0.0, "the requests' SYNs collide");
    assert_eq!(syn, outcome.number("timeouts_syn"));
    // In step as they are, some give up; none is left open.
    let completed = outcome.number("completed");
    assert_eq!(completed + outcome.number("failed"), 20.0);
    assert_eq!(numbers(&outcome, "delays", "packets")[0], completed, "requests are not data");
}

/// A burst ten times as fast as the trunk: once the port is full it takes every tenth packet, and loses those between.
#[test]
fn the_longest_run_of_losses_is_that_of_the_table_of_drops() {
    for senders in [1, 7] {
        let outcome = run(&format!(
            "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\nbuffer = \"15pkt\"\n\
             [transport]\ninitial-window = \"60mss\"\nmss = \"1000B\"\n[[traffic]]\nkind = \"incast\"\n\
             senders = {senders}\nbytes-each = \"200KB\"\n[run]\nduration = \"60s\"\n"
        ));
        let (flows, numbers) = (numbers(&outcome, "drops", "connection"), numbers(&outcome, "drops", "seq"));
        let (mut last, mut longest) = (vec![(f64::NAN, 0_u32); senders], 0);
        for (flow, seq) in flows.iter().zip(numbers) {
            let (before, run) = last[*flow as usize];
            let run = if seq == before + 1000.0 { run + 1 } else { 1 };
            last[*flow as usize] = (seq, run);
            longest = longest.max(run);
        }
        assert!(senders > 1 || (8..=9).contains(&longest), "{longest}");
        assert_eq!(outcome.number("loss_run_longest"), f64::from(longest));
    }
}

/// Thirty segments reach one port at the same instant, and nothing else happens.
fn lost_of_thirty(network: &str) -> f64 {
    let outcome = run(&format!(
        "[network]\ntopology = \"star\"\n{network}\n[[traffic]]\nkind = \"incast\"\nsenders = 30\n\
         bytes-each = \"1460B\"\nconnections = \"persistent\"\n[run]\nduration = \"1ms\"\n"
    ));
    outcome.number("drops")
}

#[test]
fn a_buffer_counts_the_packet_in_transmission_or_not_and_is_full_when_reached_or_before() {
    assert_eq!(lost_of_thirty("buffer = \"10pkt\""), 20.0);
    assert_eq!(lost_of_thirty("buffer = \"10pkt\"\nbuffer-counts = \"waiting\""), 19.0);
    assert_eq!(lost_of_thirty("buffer = \"14999B\""), 21.0, "nine fit");
    assert_eq!(lost_of_thirty("buffer = \"14999B\"\nbuffer-full = \"reached\""), 20.0, "the tenth finds it not full");
    assert_eq!(lost_of_thirty("buffer = \"15000B\"\nbuffer-full = \"reached\""), 20.0, "the eleventh finds it full");
    let both = "buffer = \"14999B\"\nbuffer-full = \"reached\"\nbuffer-counts = \"waiting\"";
    assert_eq!(lost_of_thirty(both), 19.0);
}

#[test]
fn a_discipline_sees_the_packet_in_transmission_or_not() {
    let marked = |network: &str| {
        let outcome = run(&format!(
            "[network]\ntopology = \"star\"\n{network}\n[queue]\nkind = \"ecn-threshold\"\nthreshold = \"10pkt\"\n\
             requires-ect = false\n[[traffic]]\nkind = \"incast\"\nsenders = 30\nbytes-each = \"1460B\"\n\
             connections = \"persistent\"\n"
        ));
        outcome.number("marks")
    };
    assert_eq!((marked(""), marked("buffer-counts = \"waiting\"")), (20.0, 19.0));
    assert_eq!(marked("device-queue = \"5pkt\""), 14.0, "five more are below the discipline");
}

#[test]
fn a_device_queue_holds_its_packets_below_the_buffer() {
    // Thirty arrive at once: one is sent, the device takes its share, and the buffer has the rest.
    assert_eq!(lost_of_thirty("buffer = \"10pkt\"\ndevice-queue = \"1pkt\""), 18.0);
    assert_eq!(lost_of_thirty("buffer = \"10pkt\"\ndevice-queue = \"15pkt\""), 4.0);
    assert_eq!(lost_of_thirty("buffer = \"15000B\"\ndevice-queue = \"15pkt\""), 4.0);
    assert_eq!(lost_of_thirty("buffer = \"10pkt\"\ndevice-queue = \"15pkt\"\nbuffer-counts = \"waiting\""), 4.0);
    assert_eq!(lost_of_thirty("buffer = \"10pkt\"\ndevice-queue = \"100pkt\""), 0.0);
}

/// Twenty answers over a fast cable between two switches, where incast is expected, to a slow receiver.
fn behind_a_fast_trunk(network: &str, measure: &str) -> String {
    format!(
        "[network]\ntopology = \"two-switch\"\nrate = \"1Gbps\"\ntrunk-rate = \"100Gbps\"\n{network}\n[[traffic]]\n\
         kind = \"incast\"\nsenders = 20\nbytes-each = \"64KB\"\n[measure]\n{measure}\n"
    )
}

#[test]
fn the_bottleneck_is_the_port_that_lost_most_or_else_held_most() {
    for buffer in ["10pkt", "100KB", "10MB"] {
        for queue in ["", "[queue]\nkind = \"strict-priority\"\n"] {
            let outcome = run(&behind_a_fast_trunk(&format!("buffer = \"{buffer}\"\n{queue}"), ""));
            assert_eq!(outcome.number("drops") > 0.0, buffer != "10MB");
            assert_eq!(outcome.number("queries"), 1.0);
            assert_eq!(outcome.number("queries_with_timeout") > 0.0, outcome.number("timeouts") > 0.0);
            assert_eq!(outcome.summary["bottleneck"], "switch-1->receiver-0", "{buffer}");
            assert_eq!(words(&outcome, "queues", "port"), ["switch-0->switch-1"]);
        }
    }
    assert_eq!(two_by_two("", "").summary["bottleneck"], "switch-0->receiver-0");
}

#[test]
fn packets_that_a_fault_takes_make_no_bottleneck() {
    let fault = "[[fault]]\nkind = \"loss\"\nrate = 0.2\nlink = \"sender-0->switch-0\"\n";
    let outcome = run(&(behind_a_fast_trunk("buffer = \"10MB\"", "") + fault));
    assert!(outcome.number("drops") > 0.0);
    assert_eq!(outcome.summary["bottleneck"], "switch-1->receiver-0");
}

#[test]
fn the_port_that_is_observed_can_be_named() {
    let port = "switch-1->receiver-0";
    let measure = format!("bottleneck = \"{port}\"\nqueue-trace = \"on-change\"\nbin = \"1ms\"");
    let [usual, named] = ["", &measure].map(|measure| run(&behind_a_fast_trunk("buffer = \"100pkt\"", measure)));
    assert_eq!(words(&named, "queues", "port"), [port]);
    // One packet of each sender at the most.
    assert!(usual.number("queue_max_packets") <= 20.0);
    assert_eq!(named.number("queue_max_packets"), 100.0);
    assert_eq!(numbers(&named, "queue-trace", "packets").into_iter().fold(0.0, f64::max), 100.0);
    assert_eq!(named.number("fct_mean_s"), usual.number("fct_mean_s"), "to observe it changes nothing else");
    let wrong = behind_a_fast_trunk("", "bottleneck = \"switch-1->receiver-O\"");
    let scenario = Scenario::parse(&wrong, "test.toml", &[]).expect("a name is checked with the network");
    let error = sim::check(&scenario).expect_err("no such port").to_string();
    assert!(error.contains("no such port in this network") && error.contains(port), "{error}");
}

#[test]
fn after_a_run_any_port_on_the_way_to_the_client_can_be_observed() {
    let scenario = |measure: &str| {
        let text = behind_a_fast_trunk("buffer = \"100pkt\"", measure);
        Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let more = |measure: &str| sim::run(&scenario(measure).with_queues_on_the_way(), None).expect("it runs");
    let plain = |measure: &str| sim::run(&scenario(measure), None).expect("it runs");
    let mut outcome = more("");
    assert_eq!(outcome.hash(), plain("").hash(), "to measure more changes no result");
    for port in ["switch-1->receiver-0", "switch-0->switch-1"] {
        assert!(outcome.observe(port).expect("rows in memory"));
        let named = plain(&format!("bottleneck = \"{port}\""));
        assert_eq!((outcome.hash(), &outcome.summary), (named.hash(), &named.summary), "{port}");
        assert_eq!(words(&outcome, "queues", "port"), [port]);
    }
    assert!(!outcome.observe("sender-3->switch-0").expect("rows in memory"), "it is a host's");
    for measure in ["bin = \"1ms\"", "queue-trace = \"on-change\"", "capture = \"bottleneck\"", "queues = \"none\""] {
        let mut recorded = more(measure);
        assert!(!recorded.observe("switch-1->receiver-0").expect("rows in memory"), "{measure}");
        assert_eq!(recorded.hash(), plain(measure).hash(), "{measure}");
    }
}

#[test]
fn the_capacity_is_that_of_the_links_into_the_hosts_at_which_transfers_end() {
    assert_eq!(run(&behind_a_fast_trunk("", "")).number("capacity_bps"), 1e9);
    let outcome = run(
        "[network]\ntopology = \"leaf-spine\"\nrate = \"1Gbps\"\n[[traffic]]\nkind = \"poisson\"\nload = \"40%\"\n\
         bytes-each = \"64KB\"\nfrom = \"rack-0\"\nto = \"rack-1\"\n[run]\nduration = \"20ms\"\n",
    );
    let ends: BTreeSet<u64> = numbers(&outcome, "flows", "dst").into_iter().map(|host| host as u64).collect();
    assert!(ends.len() > 1);
    assert_eq!(outcome.number("capacity_bps"), ends.len() as f64 * 1e9);
}

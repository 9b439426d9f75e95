//! Traffic that begins once what runs before it is steady.

use crate::outcome::{numbers, run, words};
use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, Outcome};

/// Two long flows and a group of queries that begins at `start`, with other keys of these flows' hosts and queue.
fn beside_two(start: &str, more: &str) -> String {
    format!(
        "[network]\ntopology = \"star\"\nrate = \"1Gbps\"\ndelay = \"10us\"\nbuffer = \"100pkt\"\n\
         [[traffic]]\nkind = \"background\"\nname = \"long\"\nflows = 2\n\
         [[traffic]]\nkind = \"incast\"\nname = \"queries\"\nsenders = 4\nbytes-each = \"20KB\"\nrounds = 5\n\
         jitter = \"20us\"\nstart = \"{start}\"\n{more}\n"
    )
}

/// When the queries begin.
fn begin(outcome: &Outcome) -> f64 {
    let starts = numbers(outcome, "flows", "start_s").into_iter().zip(words(outcome, "flows", "group"));
    starts.filter(|(_, group)| group == "queries").map(|(start, _)| start).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_run_is_that_of_the_time_at_which_it_was_steady() {
    let dctcp = "[transport]\nscheme = \"dctcp\"\n[run]\nseed = 3\n";
    let found = run(&beside_two("steady", dctcp));
    let steady = found.number("steady_s");
    assert!(steady > 0.1 && steady < 1.0, "{steady}");
    let fixed = run(&beside_two(&format!("{steady:.12}s"), dctcp));
    assert_eq!(found.hash(), fixed.hash());
    assert_eq!(found.number("long_flows_rising").to_bits(), 0.0_f64.to_bits());
}

#[test]
fn both_event_cores_agree() {
    for more in ["[transport]\nscheme = \"dctcp\"\n", "[transport]\nscheme = \"newreno\"\n"] {
        let scenario = Scenario::parse(&beside_two("steady", more), "test.toml", &[]).expect("sound");
        let outcomes = [sim::run(&scenario, None), sim::run_reference(&scenario)].map(|outcome| outcome.expect("runs"));
        assert_eq!(outcomes[0].number("steady_s").to_bits(), outcomes[1].number("steady_s").to_bits());
        assert_eq!(outcomes[0].hash(), outcomes[1].hash());
    }
}

#[test]
fn a_sawtooth_is_steady_after_some_of_its_periods() {
    // Windows grow by a segment a round trip, of up to 1.2 ms for each 100 packets, and are halved by a loss.
    let found =
        run(&beside_two("steady", "[transport]\nscheme = \"newreno\"\n[measure]\nqueue-trace = \"on-change\"\n"));
    let (times, packets) = (numbers(&found, "queue-trace", "time_s"), numbers(&found, "queue-trace", "packets"));
    let steady = found.number("steady_s");
    let before: Vec<f64> = times.iter().zip(packets).filter(|(at, _)| **at < steady).map(|(_, queue)| queue).collect();
    let half = before.len() / 2;
    assert!(before[half..].iter().any(|queue| *queue >= 100.0), "the queue was full again");
    assert!(steady > 0.15, "{steady}");
}

#[test]
fn slow_growth_is_not_steady() {
    // Without losses until the window of the receiver is full, which is beyond the limit.
    let slow = "[transport]\nscheme = \"newreno\"\ninitial-ssthresh = \"4mss\"\n[run]\nsteady-limit = \"300ms\"\n";
    let text = beside_two("steady", slow).replace("100pkt", "4000pkt");
    let found = run(&text);
    assert!(found.summary["steady_s"].is_null());
    assert_eq!(found.number("long_flows_rising").to_bits(), 2.0_f64.to_bits());
    assert!((begin(&found) - 0.3).abs() < 1e-3, "{}", begin(&found));
}

#[test]
fn flows_that_still_grow_when_others_begin_are_counted() {
    let rising = |start: &str| run(&beside_two(start, "[transport]\nscheme = \"dctcp\"\n")).number("long_flows_rising");
    assert_eq!([rising("0s"), rising("100ms")].map(f64::to_bits), [2.0, 0.0].map(f64::to_bits));
    let alone = beside_two("0s", "").replace("flows = 2", "flows = 2\nstart = \"1s\"");
    assert!(run(&alone).summary["long_flows_rising"].is_null(), "these begin later");
}

#[test]
fn a_full_receive_window_is_a_limit() {
    let small = "[transport]\nscheme = \"newreno\"\nreceive-buffer = \"32KiB\"\n";
    let found = run(&beside_two("steady", small));
    assert!(found.number("steady_s") < 0.25, "{}", found.number("steady_s"));
    assert_eq!(found.number("drops").to_bits(), 0.0_f64.to_bits());
}

/// The group of long flows is `first` instead, beside which another one may begin.
fn beside(first: &str, seed: u32) -> Outcome {
    let text = beside_two("steady", &format!("[transport]\nscheme = \"dctcp\"\n[run]\nseed = {seed}\n"));
    run(&text.replace("kind = \"background\"\nname = \"long\"\nflows = 2\n", first))
}

#[test]
fn what_runs_before_has_begun() {
    let others = [
        "kind = \"poisson\"\nname = \"load\"\nfrom = \"all\"\nto = \"all\"\nbytes-each = \"20KB\"\nload = \"30%\"\n\
         start = \"1s\"\ncount = 2000\n",
        "kind = \"incast\"\nname = \"other\"\nsenders = 4\nbytes-each = \"2MB\"\nrounds = 50\nstart = \"1s\"\n",
        "kind = \"background\"\nname = \"long\"\nflows = 2\n[[traffic]]\nkind = \"incast\"\nname = \"other\"\nsenders = 4\n\
         bytes-each = \"20KB\"\nrounds = 100\ngap = \"30ms\"\nstart = \"1s\"\n",
    ];
    for other in others {
        for seed in 1..=3 {
            let steady = beside(other, seed).number("steady_s");
            assert!(steady > 1.05, "{steady} s beside {other}");
        }
    }
}

#[test]
fn pauses_are_not_taken_for_a_steady_state() {
    let bursts =
        "kind = \"incast\"\nname = \"other\"\nsenders = 4\nbytes-each = \"20KB\"\nrounds = 20\ngap = \"300ms\"\n";
    let steady = beside(bursts, 1).number("steady_s");
    assert!(steady > 0.9, "three spans have a burst each: {steady}");
}

#[test]
fn what_has_ended_is_waited_for_no_longer() {
    let short = "kind = \"incast\"\nname = \"other\"\nsenders = 4\nbytes-each = \"20KB\"\n";
    let steady = beside(short, 1).number("steady_s");
    assert!((0.1..1.0).contains(&steady), "{steady}");
}

#[test]
fn the_limit_holds_for_the_random_moment_after_the_last_span_as_well() {
    let steady = |limit: &str, seed: u32| {
        let more = format!("[transport]\nscheme = \"newreno\"\n[run]\nsteady-limit = \"{limit}\"\nseed = {seed}\n");
        run(&beside_two("steady", &more)).number("steady_s")
    };
    let free: Vec<f64> = (1..=4).map(|seed| steady("60s", seed)).collect();
    let (seed, latest) = (1..).zip(free).max_by(|one, other| one.1.total_cmp(&other.1)).expect("four seeds");
    let limit = format!("{}us", (latest * 1e6) as u64 - 1);
    assert_eq!(steady(&limit, seed).to_bits(), (f64::floor(latest * 1e6 - 1.0) / 1e6).to_bits());
}

#[test]
fn times_count_from_when_waiting_traffic_begins() {
    let more = "stop = \"20ms\"\nconnections = \"opened\"\n[transport]\nscheme = \"dctcp\"\n[measure]\nwarmup = \"12ms\"\n\
                [run]\nduration = \"40ms\"\n[[fault]]\nname = \"cut\"\nkind = \"link-down\"\nlink = \"bottleneck\"\n\
                at = \"30ms\"\n";
    let found = run(&beside_two("steady", &more.replace("rounds = 5", "")).replace("rounds = 5", "rounds = 100000"));
    let steady = found.number("steady_s");
    assert!((begin(&found) - steady - 0.01).abs() < 1e-4, "connections are opened in the first 10 ms");
    assert!((found.number("window_start_s") - steady - 0.012).abs() < 1e-9);
    assert!(found.number("simulated_s") <= steady + 0.04 + 1e-9);
    let last = numbers(&found, "flows", "start_s").into_iter().fold(0.0, f64::max);
    assert!(last < steady + 0.021, "no round begins later");
}

#[test]
fn what_waits_for_nothing_begins_at_once() {
    let found =
        run("[network]\ntopology = \"star\"\n[[traffic]]\nkind = \"incast\"\nsenders = 4\nbytes-each = \"20KB\"\n\
                     start = \"steady\"\n");
    assert_eq!((found.number("steady_s").to_bits(), begin_all(&found).to_bits()), (0, 0));
}

fn begin_all(outcome: &Outcome) -> f64 {
    numbers(outcome, "flows", "start_s").into_iter().fold(f64::INFINITY, f64::min)
}

//! PFDCT in the simulator.

use crate::outcome::{numbers, run, words};
use fanin_engine::param::Kind;
use fanin_engine::schemes::REGISTRY;
use fanin_engine::sim::Outcome;

/// Four endless flows into a port of 100 packets at 1 Gbps, four hops of 10 us there and back; the first 20 ms do not
/// count.
fn long_flows(scheme: &str, options: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"10us\"\nbuffer = \"100pkt\"\n[transport]\nscheme = \"{scheme}\"\n\
         rto-min = \"200us\"\n[scheme.{scheme}]\n{options}\n[[traffic]]\nkind = \"background\"\nflows = 4\n\
         [measure]\nwarmup = \"20ms\"\n[run]\nduration = \"120ms\"\n"
    ))
}

/// The same, and `senders` short flows at once, ten times.
fn mixed(senders: u32, bytes: &str, options: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"10us\"\nbuffer = \"100pkt\"\n[transport]\nscheme = \"pfdct\"\n\
         rto-min = \"1ms\"\nrto-initial = \"10ms\"\nsyn-timeout = \"10ms\"\n[scheme.pfdct]\n{options}\n[[traffic]]\n\
         name = \"long\"\nkind = \"background\"\nflows = 4\n[[traffic]]\nname = \"short\"\nkind = \"incast\"\n\
         senders = {senders}\nbytes-each = \"{bytes}\"\nstart = \"20ms\"\nrounds = 10\njitter = \"100us\"\n\
         [measure]\nwarmup = \"10ms\"\nprobes = \"long\"\nprobe-flows = 30\n[run]\nduration = \"200ms\"\n"
    ))
}

/// The most that a link of 1 Gbps carries in segments of 1460 bytes.
const FULL: f64 = 1e9 * 1460.0 / 1500.0;

#[test]
fn a_lone_long_flow_fills_95_percent_of_the_link() {
    // The trunk is slower than the sender's link, so that the queue is at the switch.
    for delay in [2, 10, 25, 100] {
        let outcome = run(&format!(
            "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"{delay}us\"\n\
             buffer = \"100pkt\"\n[transport]\nscheme = \"pfdct\"\n[[traffic]]\nkind = \"background\"\n\
             [measure]\nwarmup = \"50ms\"\n[run]\nduration = \"250ms\"\n"
        ));
        let share = outcome.number("goodput_bps") / FULL;
        assert!(share >= 0.95, "{delay} us: {share}");
        assert!(outcome.number("marks") > 0.0, "{delay} us: it met its threshold");
    }
}

#[test]
fn the_threshold_goes_down_in_a_queue_as_in_eq_5_or_up_as_in_the_text() {
    let queue = |options: &str| long_flows("pfdct", options).number("queue_mean_packets");
    let (down, up, as_printed) = (queue(""), queue("kt-dir = \"text\""), queue("kt-dir = \"noop\""));
    assert!(down < 0.7 * as_printed, "{down} and {as_printed}");
    assert!(up > 1.2 * as_printed, "{up} and {as_printed}");
}

#[test]
fn frozen_it_is_pfdct_st_and_its_queue_is_that_of_dctcp() {
    let (moving, frozen) = (long_flows("pfdct", ""), long_flows("pfdct-st", ""));
    let dctcp = long_flows("dctcp", "");
    assert_eq!(long_flows("pfdct", "kt-dir = \"frozen\"").hash(), frozen.hash());
    let queue = |outcome: &Outcome| outcome.number("queue_mean_packets");
    // Section 4, Fig. 5: half of the delay with the moving threshold.
    assert!(queue(&moving) < 0.5 * queue(&frozen), "{} and {}", queue(&moving), queue(&frozen));
    assert!((queue(&frozen) / queue(&dctcp) - 1.0).abs() < 0.15, "{} and {}", queue(&frozen), queue(&dctcp));
    for outcome in [moving, frozen] {
        assert!(outcome.number("goodput_bps") > 0.99 * FULL);
    }
}

#[test]
fn ablation_the_dynamic_threshold_keeps_the_queue_short_beside_bursts() {
    let queue = |options: &str| mixed(3, "12KB", options).number("queue_mean_packets");
    assert!(queue("") < 0.7 * queue("kt-dir = \"frozen\""));
}

#[test]
fn ablation_bands_let_short_flows_pass() {
    let fct = |options: &str| mixed(3, "12KB", options).number("fct_mean_s");
    let (three, one) = (fct(""), fct("bands = 1"));
    assert!(three < 0.7 * one, "{three} s with bands, {one} s without");
}

/// Three bands with parts of one buffer.
const SPLIT: &str = "bands = 3\nband-buf = \"split\"";

#[test]
fn ablation_the_table_saves_retransmissions_from_being_lost_again() {
    let lost = |options: &str| mixed(20, "20KB", &format!("{SPLIT}\n{options}")).number("timeouts_lost_retransmission");
    let (with, without) = (lost(""), lost("pit = \"off\""));
    assert!(with < 0.8 * without, "{with} timeouts with the table, {without} without");
}

#[test]
fn ablation_short_flows_are_slower_if_ecn_is_not_for_long_ones_only() {
    let fct = |options: &str| mixed(3, "12KB", options).number("fct_mean_s");
    let (long_only, all) = (fct(""), fct("ecn-for = \"all\""));
    assert!(long_only < 0.7 * all, "{long_only} s and {all} s");
    // By code point they stay in their band, and their marks slow them down.
    let marked = |options: &str| fct(&format!("classify = \"dscp\"\n{options}"));
    assert!(marked("") < marked("ecn-for = \"all\""));
}

#[test]
fn no_mark_falls_on_a_short_flow() {
    let only_short =
        run("[network]\ntopology = \"star\"\nbuffer = \"60pkt\"\n[transport]\nscheme = \"pfdct\"\nrto-min = \"1ms\"\n\
         [scheme.pfdct]\nkt-init = 1\n[[traffic]]\nkind = \"incast\"\nsenders = 30\nbytes-each = \"100KB\"\n");
    assert!(only_short.number("drops") > 0.0);
    assert_eq!((only_short.number("marks"), only_short.number("would_mark")), (0.0, 0.0));
}

#[test]
fn large_flows_are_long_once_their_window_is_large() {
    let outcome = mixed(3, "12KB", "");
    let (flow, value) = (numbers(&outcome, "probes", "connection"), numbers(&outcome, "probes", "value"));
    assert!(words(&outcome, "probes", "name").iter().all(|name| name == "long"));
    let ever = |wanted: fn(f64) -> bool| flow.iter().zip(&value).any(|(flow, value)| wanted(*flow) && *value == 1.0);
    assert!(ever(|flow| flow < 4.0));
    assert!(!ever(|flow| flow >= 4.0));
}

#[test]
fn a_small_table_forgets_and_takes_retransmissions_for_new() {
    // Twenty-four flows and their receivers need 48 entries.
    let lost = |options: &str| mixed(20, "20KB", &format!("{SPLIT}\n{options}")).number("timeouts_lost_retransmission");
    assert!(lost("table-entries = 4") > lost(""));
}

#[test]
fn more_flows_share_the_thresholds_and_the_link() {
    let outcome =
        run("[network]\ntopology = \"star\"\ndelay = \"10us\"\nbuffer = \"100pkt\"\n[transport]\nscheme = \"pfdct\"\n\
         rto-min = \"1ms\"\n[scheme.pfdct]\nclass = \"size-only\"\n[[traffic]]\nkind = \"background\"\nflows = 10\n\
         [measure]\nwarmup = \"50ms\"\n[run]\nduration = \"250ms\"\n");
    assert!(outcome.number("goodput_bps") > 0.98 * FULL);
    assert!(outcome.number("jain") > 0.97, "{}", outcome.number("jain"));
    assert!(outcome.number("queue_mean_packets") < 30.0, "{}", outcome.number("queue_mean_packets"));
}

/// Six endless flows that begin `interval` apart: times and sums of the thresholds that they tell, and whether the sum
/// stood for the millisecond within which all senders hear of one flow more: a round trip and the queue.
fn joining(interval: &str, options: &str) -> Vec<(f64, f64, bool)> {
    let outcome = run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"10us\"\nbuffer = \"300pkt\"\n[transport]\nscheme = \"pfdct\"\n\
         rto-min = \"1ms\"\n[scheme.pfdct]\nclass = \"size-only\"\n{options}\n[[traffic]]\nkind = \"background\"\n\
         flows = 6\ninterval = \"{interval}\"\n[measure]\nprobes = \"k-t-told\"\nprobe-flows = 6\n\
         [run]\nduration = \"60ms\"\n"
    ));
    let (flow, value) = (numbers(&outcome, "probes", "connection"), numbers(&outcome, "probes", "value"));
    let time = numbers(&outcome, "probes", "time_s");
    let mut told = std::collections::BTreeMap::new();
    let sum = |i: usize| {
        told.insert(flow[i] as u64, value[i]);
        let stood = time.get(i + 1).is_none_or(|next| next - time[i] > 1e-3);
        (time[i], told.values().sum(), stood)
    };
    let sums = (0..time.len()).map(sum).collect();
    assert_eq!(told.len(), 6);
    sums
}

/// Each newcomer takes its part of the initial threshold and the others give it up, as soon as they hear of it: news
/// travels with their own packets, through the queue, so the sum is above 20 for a while. Without giving up it would go
/// to 20 (1 + 1/2 + ... + 1/6) = 49.
#[test]
fn p20_flows_that_join_share_the_initial_threshold() {
    for interval in ["200us", "5ms"] {
        let largest = |options: &str| {
            let sums = joining(interval, options).into_iter().filter(|(_, _, stood)| *stood);
            sums.map(|(_, sum, _)| sum).fold(0.0, f64::max)
        };
        let (shared, kept) = (largest("kt-step = 0"), largest("kt-step = 0\nkt-join = \"keep\""));
        assert!(shared < 0.75 * kept, "{interval}: {shared} against {kept}");
        assert!(kept > 45.0, "{interval}: {kept}");
        let last = joining(interval, "kt-step = 0").last().map_or(0.0, |(_, sum, _)| *sum);
        assert!(last < 21.0, "{interval}: {last} in the end");
    }
}

#[test]
fn the_total_of_evictions_tells_whether_the_table_is_large_enough() {
    let evicted = |options: &str| mixed(20, "20KB", options).number("table_evictions");
    assert_eq!(evicted(""), 0.0);
    assert!(evicted("table-entries = 4") > 100.0);
    assert_eq!(evicted("pit = \"off\""), 0.0);
}

/// Four endless flows whose own links are ten times as fast as the bottleneck: their ideal threshold is above every
/// estimate of the queue, and the threshold is at its upper limit. The first 50 ms do not count.
fn at_the_upper_limit(options: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"20us\"\n\
         buffer = \"100pkt\"\n[transport]\nscheme = \"pfdct\"\nrto-min = \"1ms\"\n[scheme.pfdct]\nclass = \"size-only\"\n\
         {options}\n[[traffic]]\nkind = \"background\"\nflows = 4\n[measure]\nprobes = \"k-t-told\"\nprobe-flows = 4\n\
         warmup = \"50ms\"\n[run]\nduration = \"150ms\"\n"
    ))
}

#[test]
fn p7_p13_at_its_upper_limit_the_long_band_still_marks_and_with_the_ports_buffer_a_part_of_it_only_drops() {
    let count = |options: &str| {
        let outcome = at_the_upper_limit(&format!("{SPLIT}\n{options}"));
        (outcome.number("marks"), outcome.number("drops"), outcome.number("goodput_bps") / FULL)
    };
    let (band, port) = (count("kt-high = \"band\""), count(""));
    assert!(band.0 > 10.0 * port.0, "{band:?} and {port:?}");
    assert!(band.1 < port.1, "{band:?} and {port:?}");
    assert!(band.2 > 0.95 && port.2 < 0.93, "{band:?} and {port:?}");
}

/// Section 5.1: "the maximum marking threshold of the switch queue is 60, and the minimum marking threshold is 20".
#[test]
fn p7_the_largest_threshold_of_60_packets_is_reached_and_the_least_of_20_held() {
    let sums = |options: &str| {
        let outcome = at_the_upper_limit(&format!("clip-low = 20\nclip-high = 60\n{options}"));
        let (flow, value) = (numbers(&outcome, "probes", "connection"), numbers(&outcome, "probes", "value"));
        let mut told = [0.0; 4];
        for (flow, value) in flow.iter().zip(&value) {
            told[*flow as usize] = *value;
        }
        told.iter().sum::<f64>()
    };
    // An ideal threshold that no queue exceeds, and one that every queue does.
    let (high, low) = (sums("ki = 90"), sums("ki = 0"));
    assert!((58.0..=60.0).contains(&high), "{high}");
    assert!((19.0..=21.0).contains(&low), "{low}");
}

/// The DCTCP that PFDCT extends reacts one round trip sooner (RFC 8257 section 3.3).
#[test]
fn p18_a_cut_at_the_first_echo_keeps_the_queue_shorter() {
    let queue = |options: &str| {
        let options = format!("kt-dir = \"frozen\"\nslow-start = \"until-mark\"\n{options}");
        long_flows("pfdct", &options).number("queue_max_packets")
    };
    let (end, first) = (queue(""), queue("cut = \"first-echo\""));
    assert!(first < end, "{first} and {end}");
}

/// Where a key is tried.
#[derive(Clone, Copy)]
enum Scene {
    /// Four endless flows.
    Long,
    /// The same, and 20 short flows of 20 KB, ten times.
    Bursts,
    /// Ten flows of 3 MB.
    Finite,
    /// Four endless flows whose own links are ten times as fast as the bottleneck.
    Fast,
    /// The first 5 ms of an endless flow with such a link.
    Start,
    /// A hundred flows of 30 KB at once.
    Incast,
    /// Eight endless flows that begin one after the other.
    Joining,
}

impl Scene {
    fn run(self, options: &str) -> Outcome {
        match self {
            Self::Long => long_flows("pfdct", options),
            Self::Bursts => mixed(20, "20KB", options),
            Self::Fast => at_the_upper_limit(options),
            Self::Finite => run(&format!(
                "[network]\ntopology = \"star\"\ndelay = \"10us\"\nbuffer = \"100pkt\"\n[transport]\n\
                 scheme = \"pfdct\"\nrto-min = \"1ms\"\n[scheme.pfdct]\n{options}\n[[traffic]]\nkind = \"incast\"\n\
                 senders = 10\nbytes-each = \"3MB\"\njitter = \"1ms\"\n"
            )),
            Self::Start => run(&format!(
                "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"20us\"\n\
                 buffer = \"300pkt\"\n[transport]\nscheme = \"pfdct\"\n[scheme.pfdct]\nclass = \"size-only\"\n{options}\n\
                 [[traffic]]\nkind = \"background\"\n[run]\nduration = \"5ms\"\n"
            )),
            Self::Joining => run(&format!(
                "[network]\ntopology = \"star\"\ndelay = \"10us\"\nbuffer = \"100pkt\"\n[transport]\n\
                 scheme = \"pfdct\"\nrto-min = \"1ms\"\n[scheme.pfdct]\n{options}\n[[traffic]]\n\
                 kind = \"background\"\nflows = 8\ninterval = \"1ms\"\n[measure]\nwarmup = \"100ms\"\n[run]\n\
                 duration = \"300ms\"\n"
            )),
            Self::Incast => run(&format!(
                "[network]\ntopology = \"star\"\ndelay = \"10us\"\nbuffer = \"100pkt\"\n[transport]\n\
                 scheme = \"pfdct\"\nrto-min = \"1ms\"\nsyn-timeout = \"10ms\"\nrto-initial = \"10ms\"\n\
                 [scheme.pfdct]\n{options}\n[[traffic]]\nkind = \"incast\"\nsenders = 100\nbytes-each = \"30KB\"\n\
                 jitter = \"1ms\"\n"
            )),
        }
    }
}

/// What another value does to a measure: the least factor upwards, or downwards.
enum Effect {
    Raises(f64),
    Lowers(f64),
}
use Effect::{Lowers, Raises};

/// Keys that act where a buffer in parts overflows in slow start, and what is set beside them.
macro_rules! split {
    ($beside:literal) => {
        concat!("bands = 3\nband-buf = \"split\"\nkt-high = \"band\"\nslow-start = \"until-mark\"\n", $beside)
    };
}

/// Each key that is a number, with another value than its default: key and value, what is set beside it, where, the
/// measure, and what happens to that.
const NUMBERS: &[(&str, &str, Scene, &str, Effect)] = &[
    ("kt-step = 0", "", Scene::Long, "queue_mean_packets", Raises(1.5)),
    ("kt-init = 60", "kt-dir = \"frozen\"", Scene::Long, "queue_mean_packets", Raises(1.3)),
    ("kt-low = 15", "", Scene::Long, "queue_mean_packets", Raises(1.5)),
    ("clip-low = 20", "", Scene::Long, "queue_mean_packets", Raises(1.5)),
    ("clip-high = 5", "kt-dir = \"frozen\"", Scene::Long, "queue_mean_packets", Lowers(0.6)),
    ("ki = 5", "", Scene::Long, "queue_mean_packets", Raises(1.5)),
    ("ki = 0", "ki = 5", Scene::Long, "queue_mean_packets", Lowers(0.6)),
    ("h = 1", split!(""), Scene::Fast, "marks", Raises(1.2)),
    ("g = 1", split!(""), Scene::Finite, "marks", Lowers(0.95)),
    ("alpha0 = 0", split!(""), Scene::Start, "queue_mean_packets", Raises(1.1)),
    ("n-const = 8", split!("n-source = \"const\""), Scene::Fast, "queue_mean_packets", Lowers(0.8)),
    ("flow-timeout = \"50us\"", split!(""), Scene::Fast, "drops", Lowers(0.5)),
    ("long-size = \"5MB\"", "", Scene::Finite, "marks", Lowers(0.01)),
    ("long-window = 60", split!(""), Scene::Long, "marks", Lowers(0.01)),
    ("short-bytes = \"1MB\"", split!("class = \"alg2\""), Scene::Finite, "marks", Lowers(0.7)),
    ("bands = 1", "", Scene::Finite, "drops", Lowers(0.5)),
    ("retransmission-share = 0.02", "bands = 3\nband-buf = \"split\"", Scene::Bursts, "fct_mean_s", Raises(1.5)),
    ("short-share = 0.1", "band-buf = \"split\"", Scene::Finite, "fct_mean_s", Raises(1.5)),
    ("red-min = 5", split!("aqm = \"red\""), Scene::Long, "drops", Lowers(0.7)),
    ("red-max = 25", split!("aqm = \"red\""), Scene::Long, "drops", Lowers(0.7)),
    ("red-weight = 0.2", "aqm = \"red\"", Scene::Long, "marks", Raises(1.1)),
    ("red-max-p = 1", split!("aqm = \"red\""), Scene::Long, "drops", Lowers(0.8)),
    ("table-entries = 4", "", Scene::Bursts, "table_evictions", Raises(1.0)),
    ("min-window = \"10mss\"", "", Scene::Bursts, "marks", Raises(1.1)),
];

/// Words and switches that no ablation above has.
const WORDS: &[(&str, &str, Scene, &str, Effect)] = &[
    // Flows that begin in a queue take it for the way, see no queue, and raise the threshold.
    ("rtt-min = \"oracle\"", "", Scene::Joining, "queue_mean_packets", Lowers(0.9)),
    ("slow-start = \"until-mark\"", "", Scene::Finite, "drops", Raises(1.5)),
    ("short-aqm = \"red\"", "red-weight = 1", Scene::Incast, "drops_discipline", Raises(1.0)),
    ("red-gentle = true", "aqm = \"red\"\nred-max = 25", Scene::Long, "marks", Lowers(0.95)),
    ("red-wait = true", "aqm = \"red\"\nred-weight = 1", Scene::Long, "marks", Lowers(0.9)),
];

#[test]
fn every_number_and_these_words_do_something() {
    let row = REGISTRY.iter().find(|row| row.key == "pfdct").expect("it is registered");
    for param in row.params.iter().filter(|param| !matches!(param.kind, Kind::Choice(_) | Kind::Bool)) {
        let tried = NUMBERS.iter().any(|(setting, ..)| setting.split(' ').next() == Some(param.key));
        assert!(tried, "{} is not tried", param.key);
    }
    let mut wrong = Vec::new();
    for (setting, beside, scene, measure, effect) in NUMBERS.iter().chain(WORDS) {
        // A key that is set beside itself has that value first.
        let key = setting.split(' ').next().expect("a key");
        let with = if beside.starts_with(key) { (*setting).to_owned() } else { format!("{beside}\n{setting}") };
        let (before, after) = (scene.run(beside).number(measure), scene.run(&with).number(measure));
        let acts = match effect {
            Raises(factor) => after > factor * before,
            Lowers(factor) => after < factor * before,
        };
        if !acts {
            wrong.push(format!("{setting} beside {beside:?}: {measure} is {after} instead of {before}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

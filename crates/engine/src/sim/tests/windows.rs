//! Windows of one node at a time against the order of time: nothing in the results tells which of them it was.

use super::bench::{difference, scenario};
use crate::outcome::totals::collect;
use crate::sim::build::{Substitutes, build};
use crate::sim::{Outcome, laws, run_reference_with};
use fanin_event::core::Core;
use fanin_world::World;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

/// The world of a scenario that tries windows after every `first_look` events.
fn eager(text: &str, first_look: u32) -> World<Core> {
    let mut world: World<Core> = build(&scenario(text), Substitutes::default()).expect("makes sense");
    world.windows.first_look = Some(first_look);
    // Whatever can be let go is, at once.
    world.hosts.finished.look(Some(0));
    world
}

/// Runs a scenario in windows and in the order of time, which must agree. Returns the number of windows, too.
fn both(text: &str, first_look: u32) -> Result<(Outcome, u64), String> {
    let mut world = eager(text, first_look);
    let ended = world.run(None).and_then(|()| laws::check(&mut world));
    let windows = world.windows.count;
    let in_windows = ended.and_then(|()| collect(world)).map_err(|error| format!("{error}\n{text}"))?;
    let in_order = run_reference_with(&scenario(text), Substitutes::default());
    let in_order = in_order.map_err(|error| format!("{error}\n{text}"))?;
    match difference(&in_windows, &in_order) {
        None => Ok((in_windows, windows)),
        Some(difference) => Err(format!("{difference} (windows first)\n{text}")),
    }
}

/// A fat-tree of sixteen hosts whose buffers are too small.
struct Case<'a> {
    network: &'a str,
    transport: &'a str,
    traffic: &'a str,
    more: &'a str,
}

const POISSON: &str =
    "kind = \"poisson\"\nfrom = \"all\"\nto = \"all\"\nload = 0.9\ncount = 250\nbytes-each = \"2KB 50%, 60KB 50%\"";

impl Default for Case<'_> {
    fn default() -> Self {
        Self { network: "", transport: "scheme = \"dctcp\"", traffic: POISSON, more: "" }
    }
}

impl Case<'_> {
    fn text(&self) -> String {
        let Self { network, transport, traffic, more } = self;
        let delay = if network.starts_with("delay") { "" } else { "delay = \"20us\"\n" };
        format!(
            "[network]\ntopology = \"fat-tree\"\nbuffer = \"12pkt\"\n{delay}{network}\n[transport]\nrto-min = \"1ms\"\n\
             rto-initial = \"3ms\"\nsyn-timeout = \"2ms\"\nrto-after-syn-timeout = \"3ms\"\n{transport}\n[scheme.dctcp]\n\
             mark-threshold = \"5pkt\"\n[[traffic]]\n{traffic}\n{more}\n[run]\nduration = \"1s\"\nseed = 3\n"
        )
    }

    /// Whether the run has windows.
    #[track_caller]
    fn has_windows(&self) -> bool {
        both(&self.text(), 1).unwrap_or_else(|difference| panic!("{difference}")).1 > 0
    }
}

#[test]
fn windows_change_nothing_where_packets_are_lost_and_marked() {
    for first_look in [1, 1000] {
        let (outcome, windows) = both(&Case::default().text(), first_look).unwrap_or_else(|why| panic!("{why}"));
        for total in ["drops", "marks", "timeouts", "retransmissions", "completed"] {
            assert!(outcome.number(total) > 20.0, "{total}: {}", outcome.number(total));
        }
        assert!(windows > 50, "{windows} windows");
    }
}

#[test]
fn every_scheme_of_senders_alone_has_windows() {
    for scheme in ["newreno", "dctcp", "d2tcp", "l2dct", "dt-dctcp", "dt-cwa", "linux", "linux-reno", "linux-dctcp"] {
        let ideal = "interrupt-interval = \"0s\"\ngro = \"0B\"\ntso = \"0B\"\nsmall-queue = \"0B\"\nhost-queue = 0\n\
                     pacing = \"off\"\nloss-detection = \"dup-ack\"\ntail-loss-probe = false\n";
        let transport = format!("{}scheme = \"{scheme}\"", if scheme.starts_with("linux") { ideal } else { "" });
        assert!(Case { transport: &transport, ..Case::default() }.has_windows(), "{scheme}");
    }
}

#[test]
fn what_joins_nodes_without_a_delay_has_none() {
    let plain = Case::default;
    let transport = |transport| Case { transport, ..plain() };
    let more = |more| Case { more, ..plain() };
    let joined = [
        transport("scheme = \"sab\""),
        transport("scheme = \"ictcp\""),
        transport("scheme = \"pfdct\""),
        transport("scheme = \"rcc\""),
        transport("scheme = \"sdtcp\""),
        transport("sack = true\nloss-detection = \"linux\""),
        transport("interrupt-interval = \"10us\""),
        transport("host-queue = 50"),
        Case { network: "path-selector = \"spray\"", ..plain() },
        Case { network: "path-selector = \"flowlets\"", ..plain() },
        Case { network: "delay = \"0s\"\nuplink-delay = \"10us\"", ..plain() },
        // Timers are shorter than a window would be.
        Case { network: "delay = \"2ms\"", ..plain() },
        Case {
            traffic: "kind = \"sessions\"\nfrom = \"all\"\nto = \"all\"\nconcurrent = 9\ncount = 40\nbytes-each = \"20KB\"",
            ..plain()
        },
        Case { traffic: "kind = \"incast\"\nsenders = 9\nbytes-each = \"20KB\"", ..plain() },
        more("[queue]\nkind = \"ecn-threshold\"\nthreshold = \"5pkt\"\nmark-at = \"dequeue\""),
        more("[measure]\nbin = \"1ms\""),
        more("[measure]\nprobes = \"cwnd\""),
        more("[measure]\nqueue-trace = \"sampled\"\nqueue-sample = \"1ms\"\nqueues = \"all\""),
        more("[measure]\ncapture = \"all\""),
        more(
            "[[fault]]\nname = \"f\"\nkind = \"loss\"\nrate = \"1%\"\nlink = \"bottleneck\"\nat = \"1ms\"\nfor = \"9ms\"",
        ),
    ];
    for case in joined {
        assert!(!case.has_windows(), "{}", case.text());
    }
    let request = format!("{POISSON}\nrequest = \"300B\"");
    assert!(!Case { traffic: &request, ..plain() }.has_windows(), "a response starts when its request arrives");
}

#[test]
fn few_links_have_none_unless_they_are_told_to() {
    let mut world: World<Core> =
        build(&scenario(&Case::default().text()), Substitutes::default()).expect("makes sense");
    world.run(None).expect("it runs");
    assert_eq!(world.windows.count, 0);
}

#[test]
fn the_clock_stands_where_the_run_was_stopped() {
    for first_look in [1, 2, 3] {
        let text = Case::default().text().replace("duration = \"1s\"", "duration = \"3ms\"");
        let (outcome, windows) = both(&text, first_look).unwrap_or_else(|difference| panic!("{difference}"));
        assert_eq!(outcome.number("simulated_s"), 3e-3);
        assert!(outcome.number("incomplete") > 0.0 && windows > 0);
    }
}

fn network() -> impl Strategy<Value = String> {
    let topology = prop_oneof![
        3 => Just("topology = \"fat-tree\"\n"),
        1 => Just("topology = \"fat-tree\"\npods = 6\nuplink-rate = \"500Mbps\"\n"),
        1 => Just("topology = \"leaf-spine\"\n"),
        1 => Just("topology = \"star\"\nsender-hosts = 12\n"),
    ];
    let buffer = prop_oneof![
        3 => (2_u32..40).prop_map(|packets| format!("buffer = \"{packets}pkt\"\n")),
        1 => (3_000_u32..60_000).prop_map(|bytes| format!("buffer = \"{bytes}B\"\n")),
        1 => (9_000_u32..90_000).prop_map(|memory| format!(
            "admission = \"dynamic-threshold\"\nshared-buffer = \"{memory}B\"\n"
        )),
    ];
    let delay = select(vec!["1us", "12us", "100us"]);
    let uplink = select(vec!["", "uplink-delay = \"3us\"\n", "uplink-delay = \"70us\"\n"]);
    let ties = select(vec!["", "host-jitter = \"900ns\"\n", "ties = \"waiting-first\"\n", "ties = \"fresh-first\"\n"]);
    (topology, buffer, delay, uplink, ties).prop_map(|(topology, buffer, delay, uplink, ties)| {
        let uplink = if topology.contains("star") { "" } else { uplink };
        format!("[network]\n{topology}{buffer}delay = \"{delay}\"\n{uplink}{ties}")
    })
}

fn transport() -> impl Strategy<Value = String> {
    let scheme = select(vec!["newreno", "dctcp", "d2tcp", "l2dct", "dt-dctcp", "dt-cwa"]);
    let acks = (1_u32..4, select(vec!["3us", "50us", "400us"]));
    (scheme, any::<bool>(), any::<bool>(), acks, 1_u32..12, 0_u32..3).prop_map(
        |(scheme, sack, limited, (every, delay), window, retries)| {
            format!(
                "[transport]\nscheme = \"{scheme}\"\nsack = {sack}\nlimited-transmit = {limited}\nack-every = {every}\n\
                 ack-delay = \"{delay}\"\ninitial-window = \"{window}mss\"\nrto-min = \"500us\"\nrto-initial = \"1ms\"\n\
                 syn-timeout = \"1ms\"\nsyn-retries = {retries}\nrto-after-syn-timeout = \"1ms\"\n"
            )
        },
    )
}

fn traffic() -> impl Strategy<Value = String> {
    let ends = "from = \"all\"\nto = \"all\"\n";
    let flows = (20_u32..200, 1_u32..30, select(vec!["900B", "20KB", "1KB 70%, 150KB 30%"]));
    let flows = flows.prop_map(move |(count, load, bytes)| {
        format!(
            "[[traffic]]\nkind = \"poisson\"\n{ends}load = {}\ncount = {count}\nbytes-each = \"{bytes}\"\n",
            f64::from(load) / 10.0
        )
    });
    let queries = (2_u32..9, 1_u32..9, any::<bool>()).prop_map(move |(fan_in, count, periodic)| {
        format!(
            "[[traffic]]\nkind = \"requests\"\n{ends}fan-in = {fan_in}\ncount = {count}\ninterval = \"300us\"\n\
             arrivals = \"{}\"\nbytes-each = \"15KB\"\njitter = \"30us\"\ndeadline = \"2ms\"\n",
            if periodic { "periodic" } else { "poisson" }
        )
    });
    let file =
        Just("[[traffic]]\nkind = \"flows\"\nfile = \"flows.csv\"\nfrom = \"host-3\"\nto = \"host-4\"\n".to_owned());
    let second = prop_oneof![2 => Just(String::new()), 2 => queries, 1 => file];
    (flows, second).prop_map(|(flows, second)| flows + &second)
}

fn agree(text: &str, first_look: u32) -> TestCaseResult {
    both(text, first_look).map_err(TestCaseError::fail).map(drop)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_result_tells_windows_from_the_order_of_time(
        network in network(),
        transport in transport(),
        traffic in traffic(),
        measure in select(vec!["queues = \"none\"", "queues = \"all\"\nqueue-trace = \"on-change\"", "warmup = \"300us\""]),
        seed in 0_u64..1000,
        duration in prop_oneof![3 => Just("1s"), 1 => Just("2ms")],
        first_look in select(vec![1_u32, 20, 700]),
    ) {
        let run = format!("[measure]\n{measure}\n[run]\nduration = \"{duration}\"\nseed = {seed}\n");
        agree(&format!("{network}{transport}{traffic}{run}"), first_look)?;
    }
}

#[test]
fn looks_between_departures_of_one_instant_find_the_order_of_time() {
    // Two senders begin at once, so their packets leave the switch for two others at once.
    let pair = |n| {
        format!(
            "[[traffic]]\nname = \"of-{n}\"\nkind = \"background\"\nflows = 1\nfrom = \"sender-{n}\"\nto = \"sender-{}\"\n",
            n + 2
        )
    };
    let network = "[network]\npfc = \"on\"\ntopology = \"star\"\nsender-hosts = 4\n";
    let text = format!("{network}{}{}[run]\nduration = \"10ms\"\n", pair(0), pair(1));
    let mut world = eager(&text, 1);
    world.run(None).unwrap_or_else(|error| panic!("{error}"));
}

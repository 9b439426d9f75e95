//! Random small scenarios: both event cores agree, and what must hold in every run does.

use super::bench::{both, network as built, reals, scenario};
use crate::sim::Outcome;
use crate::sim::build::Substitutes;
use fanin_core::ids::NodeId;
use fanin_core::units::{Rate, Time};
use fanin_measure::table::Data;
use fanin_measure::timeouts::TimeoutCause;
use fanin_network::queue;
use fanin_schemes::{self as schemes, NodeFacts};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

const RATES: [&str; 3] = ["100Mbps", "1Gbps", "10Gbps"];
const DELAYS: [&str; 4] = ["0s", "1us", "33us", "1ms"];

fn network() -> impl Strategy<Value = (String, bool)> {
    let limit = prop_oneof![
        (1_u32..50).prop_map(|packets| format!("buffer = \"{packets}pkt\"")),
        (1_600_u32..60_000).prop_map(|bytes| format!("buffer = \"{bytes}B\"")),
        (3_000_u32..90_000, 0.1_f64..4.0).prop_map(|(memory, alpha)| format!(
            "admission = \"dynamic-threshold\"\nshared-buffer = \"{memory}B\"\ndt-alpha = {alpha:.3}"
        )),
    ];
    let kind = (any::<bool>(), 0_usize..3).prop_map(|(star, trunk)| {
        if star { "\"star\"".to_owned() } else { format!("\"two-switch\"\ntrunk-rate = \"{}\"", RATES[trunk]) }
    });
    let jitter = prop_oneof![Just(""), Just("host-jitter = \"500ns\"\n"), Just("host-jitter = \"20us\"\n")];
    (kind, 0_usize..3, 0_usize..4, limit, jitter).prop_map(|(kind, rate, delay, limit, jitter)| {
        let (rate, delay) = (RATES[rate], DELAYS[delay]);
        let text = format!("topology = {kind}\nrate = \"{rate}\"\ndelay = \"{delay}\"\n{jitter}{limit}\n");
        (text, limit.contains("pkt"))
    })
}

pub(super) fn queue() -> impl Strategy<Value = String> {
    let mark_at = prop_oneof![Just("enqueue"), Just("dequeue")];
    let threshold =
        prop_oneof![(1_u32..30).prop_map(|n| format!("{n}pkt")), (1_u32..30).prop_map(|n| format!("{n}KB"))];
    let kind = prop_oneof![
        3 => Just("auto"),
        5 => select(queue::REGISTRY.iter().map(|row| row.key).collect::<Vec<_>>()),
    ];
    (kind, threshold, mark_at, any::<bool>()).prop_map(|(kind, threshold, mark_at, band)| match kind {
        "double-threshold" => format!("kind = \"{kind}\"\nstart = \"9pkt\"\nstop = \"{threshold}\"\n"),
        "ecn-threshold" => format!("kind = \"{kind}\"\nthreshold = \"{threshold}\"\nmark-at = \"{mark_at}\"\n"),
        "strict-priority" => format!(
            "kind = \"{kind}\"\nthreshold = \"{threshold}\"\nmark-at = \"{mark_at}\"\nscope = \"{}\"\n",
            if band { "band" } else { "port" }
        ),
        kind => format!("kind = \"{kind}\"\n"),
    })
}

/// What lies between TCP and the wire of a host.
fn host() -> impl Strategy<Value = String> {
    let receives = (select(vec!["0s", "3us", "50us", "1ms"]), select(vec!["0B", "4KB", "64KiB"]));
    let sends = (select(vec!["0B", "9KB", "64KiB"]), any::<bool>(), select(vec!["0B", "3KB", "60KB"]), 0_u32..30);
    let modelled = (receives, sends).prop_map(|((interval, gro), (tso, paced, queue, limit))| {
        format!(
            "interrupt-interval = \"{interval}\"\ngro = \"{gro}\"\ntso = \"{tso}\"\npacing = \"{}\"\n\
             small-queue = \"{queue}\"\nhost-queue = {limit}\n",
            if paced { "fq" } else { "off" }
        )
    });
    let ideal = "interrupt-interval = \"0s\"\ngro = \"0B\"\ntso = \"0B\"\nsmall-queue = \"0B\"\nhost-queue = 0\n";
    prop_oneof![Just(ideal.to_owned()), modelled]
}

pub(super) fn transport() -> impl Strategy<Value = String> {
    let scheme = select(schemes::REGISTRY.iter().map(|row| row.key).collect::<Vec<_>>());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let linux = (any::<bool>(), any::<bool>(), 0_u32..20);
    let sizes = (1_u32..12, 1_u32..4, prop_oneof![Just(536_u32), Just(1460), Just(997)], 1_u32..200);
    (scheme, flags, linux, sizes, host()).prop_map(|(scheme, (sack, limited, ecn), linux, sizes, host)| {
        let (window, every, mss, buffer) = sizes;
        let (as_linux, probe, quick) = linux;
        let recovery = format!(
            "loss-detection = \"{}\"\ntail-loss-probe = {probe}\nquickack = {quick}\nrto-backoff-reset = \"sample\"\n",
            if sack && as_linux { "linux" } else { "dup-ack" },
        );
        recovery
            + &host
            + &format!(
                "scheme = \"{scheme}\"\nsack = {sack}\nlimited-transmit = {limited}\necn = \"{}\"\ninitial-window = \
             \"{window}mss\"\nack-every = {every}\nack-delay = \"300us\"\nmss = \"{mss}B\"\nreceive-buffer = \"{}B\"\n\
             rto-min = \"1ms\"\nrto-initial = \"5ms\"\nsyn-timeout = \"3ms\"\nrto-after-syn-timeout = \"5ms\"\n",
                if ecn { "on" } else { "auto" },
                u64::from(mss) * u64::from(buffer),
            )
    })
}

fn traffic() -> impl Strategy<Value = String> {
    let incast = (1_u32..9, 1_u64..100_000, 0_u32..3, any::<bool>(), 1_u32..3, 0_u32..2, any::<bool>());
    let incast = incast.prop_map(|(senders, bytes, jitter, persistent, rounds, request, shared)| {
        format!(
            "[[traffic]]\nkind = \"incast\"\nsenders = {senders}\nbytes-each = \"{bytes}B\"\njitter = \"{}us\"\n\
             connections = \"{}\"\nconcurrent = {}\nrounds = {rounds}\nrequest = \"{}B\"\nplacement = \"{}\"\n",
            jitter * 50,
            if persistent { "persistent" } else { "fresh" },
            senders * u32::from(shared) / 2,
            request * 300,
            if shared { "round-robin" } else { "own-host" },
        )
    });
    let background = prop_oneof![
        2 => Just(String::new()),
        1 => (1_u32..3, 0_u32..2).prop_map(|(flows, receiver)| format!(
            "[[traffic]]\nkind = \"background\"\nflows = {flows}\nstop = \"{flows}ms\"\ninterval = \"700us\"\nreceiver = {receiver}\n"
        )),
        1 => (1_u32..3, 0_u64..50_000, 0_u32..2).prop_map(|(flows, bytes, receiver)| format!(
            "[[traffic]]\nkind = \"background\"\nflows = {flows}\nbytes-each = \"{bytes}B\"\nreceiver = {receiver}\n\
             scheme = \"dctcp\"\n"
        )),
    ];
    let sessions = prop_oneof![
        2 => Just(String::new()),
        1 => (1_u32..5, 1_u64..40_000, any::<bool>()).prop_map(|(number, bytes, closed)| format!(
            "[[traffic]]\nkind = \"{}\"\nbytes-each = \"{bytes}B 50%, 3KB 50%\"\nfrom = \"all\"\nto = \"all\"\n\
             stop = \"9ms\"\ncount = 25\n{}\n",
            if closed { "sessions" } else { "poisson" },
            if closed { format!("concurrent = {number}") } else { format!("interval = \"{number}00us\"") },
        )),
    ];
    (incast, background, sessions).prop_map(|(incast, background, sessions)| incast + &background + &sessions)
}

/// Faults of the bottleneck or of one sender's link, of any kind, that may overlap.
fn faults() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        Just("kind = \"link-down\"".to_owned()),
        Just("kind = \"link-down\"\nqueued = \"drop\"".to_owned()),
        Just("kind = \"rate\"\nrate = \"50Mbps\"".to_owned()),
        (0_u32..20).prop_map(|percent| format!("kind = \"loss\"\nrate = \"{percent}%\"")),
    ];
    let link = prop_oneof![Just("bottleneck"), Just("sender-0->switch-0")];
    let one = (kind, link, any::<bool>(), 0_u32..3000, 1_u32..4000);
    proptest::collection::vec(one, 0..4).prop_map(|faults| {
        let text = |(i, (kind, link, both, at, lasts)): (usize, (String, &str, bool, u32, u32))| {
            let direction = if both { "both" } else { "one" };
            format!(
                "[[fault]]\nname = \"f{i}\"\n{kind}\nlink = \"{link}\"\ndirection = \"{direction}\"\nat = \"{at}us\"\n\
                 for = \"{lasts}us\"\n"
            )
        };
        faults.into_iter().enumerate().map(text).collect()
    })
}

fn names(outcome: &Outcome, table: &str, column: &str) -> Vec<String> {
    match &outcome.table(table).expect(table).column(column).expect(column).data {
        Data::Text(names) => names.clone(),
        other => panic!("{table}.{column} is {other:?}"),
    }
}

/// How many buffers of the configured size a switch port has: the scheme's own queue may have one for each band.
fn buffers(text: &str) -> f64 {
    let scenario = scenario(text);
    let row = schemes::REGISTRY.iter().find(|row| row.key == scenario.scheme_key()).expect("a registered scheme");
    let facts = NodeFacts {
        node: NodeId::new(0),
        rate: Rate::from_bps(1_000_000_000),
        base_rtt: Time::from_us(100),
        mss: 1460,
        packet: 1500,
    };
    let own = (row.build)(scenario.scheme(row.key)).queue(&facts).filter(|_| scenario.queue.kind == "auto");
    own.map_or(1.0, |queue| f64::from(queue.buffers()))
}

/// What each link may carry, as a multiple of its rate without faults.
fn capacities(text: &str) -> Vec<f64> {
    let net = built(text).expect("it has run");
    // A packet that begins a picosecond before the one ahead of it has left takes so much less time; the shortest of all,
    // an acknowledgement of 40 bytes at 10 Gbps, takes 32 ns.
    let early = if may_begin_early(text) { 1e-12 / 32e-9 } else { 0.0 };
    let mut capacities = vec![1.0 + early; net.rates.len()];
    for (_, links, rate) in net.faults.rates() {
        for link in links {
            let share = (rate.bps() as f64 / net.rates[link.index()].bps() as f64) * (1.0 + early);
            capacities[link.index()] = capacities[link.index()].max(share);
        }
    }
    capacities
}

fn may_begin_early(text: &str) -> bool {
    let network = scenario(text).network.values;
    network.is("ties", "waiting-first") || network.is("ties", "scheduled")
}

pub(super) fn check(text: &str, outcome: &Outcome, packets: Option<f64>) -> TestCaseResult {
    let sum = |table, column| reals(outcome, table, column).iter().sum::<f64>();
    if let Some(limit) = packets {
        let most = reals(outcome, "queues", "max_packets").into_iter().fold(0.0, f64::max);
        prop_assert!(most <= limit, "{} packets in a port for {}\n{}", most, limit, text);
    }
    let capacities = capacities(text);
    for (share, capacity) in reals(outcome, "links", "utilisation").into_iter().zip(&capacities) {
        prop_assert!((0.0..=*capacity).contains(&share), "{} of a link\n{}", share, text);
    }
    // The ideal time is that of the network without faults.
    let fastest = capacities.iter().copied().fold(1.0, f64::max);
    let flows = ["slowdown", "bytes", "delivered_bytes", "fct_s"].map(|column| reals(outcome, "flows", column));
    for row in 0..outcome.number("flows") as usize {
        let [slowdown, bytes, delivered, fct] = flows.each_ref().map(|column| column[row]);
        prop_assert!(slowdown.is_nan() || slowdown >= 1.0 / fastest, "slowdown {} in row {}\n{}", slowdown, row, text);
        prop_assert!(bytes.is_nan() || delivered <= bytes, "row {}\n{}", row, text);
        prop_assert!(fct.is_nan() || (delivered - bytes).abs() < 0.5, "row {}\n{}", row, text);
    }
    prop_assert_eq!(outcome.number("drops"), sum("links", "drops"));
    let reasons = outcome.summary.iter().filter(|(name, _)| name.starts_with("drops_"));
    prop_assert_eq!(outcome.number("drops"), reasons.filter_map(|(_, n)| n.as_f64()).sum::<f64>());
    let by_reason = outcome.table("drops").map_or(0, fanin_measure::table::Table::rows);
    prop_assert_eq!(outcome.number("drops") as usize, by_reason);
    prop_assert!(outcome.number("would_mark") >= outcome.number("marks"));
    prop_assert_eq!(sum("bins", "drops"), outcome.number("drops"));
    prop_assert_eq!(sum("bins", "marks"), outcome.number("marks"));
    prop_assert_eq!(sum("bins", "delivered_bytes"), sum("flows", "delivered_bytes"));
    check_bins(text, outcome, &capacities)?;
    if text.matches("[[traffic]]").count() == 1 {
        // All data of the first group, and perhaps of the second, passes the first receiver's link.
        prop_assert!(sum("flows", "delivered_bytes") <= sum("links", "bytes"));
    }
    Ok(())
}

/// Bins add up to the totals, and so do groups.
fn check_bins(text: &str, outcome: &Outcome, capacities: &[f64]) -> TestCaseResult {
    let column = |table, name| reals(outcome, table, name);
    // Totals leave out what a connection repeats between its transfers.
    let causes = TimeoutCause::ALL.map(|cause| column("bins", cause.column()));
    for (row, timeouts) in column("bins", "timeouts").into_iter().enumerate() {
        prop_assert_eq!(causes.iter().map(|cause| cause[row]).sum::<f64>(), timeouts);
    }
    for jain in column("bins", "jain") {
        prop_assert!(jain.is_nan() || (0.0..=1.0 + 1e-12).contains(&jain), "Jain's index {}\n{}", jain, text);
    }
    // What a port sent in its bins is what its link carried.
    let (watched, links) = (names(outcome, "queues", "port"), names(outcome, "links", "link"));
    for (row, share) in column("link-bins", "utilisation").into_iter().enumerate() {
        let port = links.iter().position(|name| *name == watched[row % watched.len()]).expect("a port feeds a link");
        prop_assert!((0.0..=capacities[port] + 1e-9).contains(&share), "{} of a link in a bin\n{}", share, text);
    }
    let (starts, end) = (column("link-bins", "time_s"), outcome.number("simulated_s"));
    let rates = column("link-bins", "throughput_bps");
    let sent = |port: usize| -> f64 {
        let rows = (port..rates.len()).step_by(watched.len());
        rows.map(|row| (end - starts[row]).min(1e-3) * rates[row] / 8.0).sum()
    };
    for (link, carried) in links.into_iter().zip(column("links", "bytes")) {
        if let Some(port) = watched.iter().position(|name| *name == link) {
            let sent = sent(port);
            prop_assert!((sent - carried).abs() <= 0.5, "{} of {} on {}\n{}", sent, carried, link, text);
        }
    }
    let groups = outcome.summary["groups"].as_array().expect("an array");
    for total in ["drops", "marks", "timeouts", "retransmissions", "flows", "completed", "incomplete"] {
        let sum: f64 = groups.iter().filter_map(|group| group[total].as_f64()).sum();
        prop_assert_eq!(sum, outcome.number(total), "{}\n{}", total, text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_small_scenario(
        (network, in_packets) in network(),
        queue in queue(),
        transport in transport(),
        traffic in traffic(),
        faults in prop_oneof![1 => Just(String::new()), 1 => faults()],
        seed in 0_u64..1000,
        cut in prop_oneof![3 => Just("3s"), 1 => Just("1ms")],
        trace in prop_oneof![Just("off"), Just("on-change"), Just("sampled")],
    ) {
        let cut = if traffic.contains("bytes-each = \"0B\"") && cut == "3s" { "40ms" } else { cut };
        let text = format!(
            "[network]\n{network}[queue]\n{queue}[transport]\n{transport}{traffic}{faults}[measure]\nqueues = \"all\"\n\
             queue-trace = \"{trace}\"\nbin = \"1ms\"\n[run]\nduration = \"{cut}\"\nseed = {seed}\n"
        );
        let outcome = both(&text, &Substitutes::default).map_err(TestCaseError::fail)?;
        let buffer = network.lines().find_map(|line| line.strip_prefix("buffer = \"")?.strip_suffix("pkt\""));
        let limit = buffer.filter(|_| in_packets).and_then(|packets| packets.parse::<f64>().ok());
        let limit = limit.map(|packets| packets * buffers(&text));
        check(&text, &outcome, limit)?;
    }
}

//! Tests of the pattern on the hosts of a network. Transfers complete when a test says so.

use super::*;
use crate::traffic::tests::Bench;

/// Racks of four hosts.
const NETWORK: &str = "[network]\ntopology = \"fat-tree\"\nhosts-per-edge = 4\n";

fn try_bench(keys: &str) -> Result<Bench, SpecError> {
    try_bench_of("100KB", keys)
}

/// Keys with a load or an interval select Poisson arrivals.
fn try_bench_of(sizes: &str, keys: &str) -> Result<Bench, SpecError> {
    let kind = if keys.contains("load") || keys.contains("interval") { "poisson" } else { "sessions" };
    Bench::new(&format!("{NETWORK}[[traffic]]\nkind = \"{kind}\"\nbytes-each = \"{sizes}\"\n{keys}"))
}

fn bench(keys: &str) -> Bench {
    try_bench(keys).unwrap_or_else(|error| panic!("{error}"))
}

fn rack(bench: &Bench, host: NodeId) -> NodeId {
    bench.topology.rack_of(host)
}

const ALL: &str = "from = \"all\"\nto = \"all\"\n";

#[test]
fn a_closed_loop_keeps_its_number_under_way() {
    let mut bench = bench(&format!("{ALL}concurrent = 7\ngap = \"2us\""));
    assert_eq!(bench.planned.len(), 7);
    for session in 0..500 {
        let now = Time::from_us(10 * session as u64);
        assert_eq!(bench.complete(session, now), 1, "a successor for each");
        assert_eq!(bench.planned[7 + session].start, now + Time::from_us(2));
    }
    assert_eq!(bench.complete(3, Time::from_ms(9)), 0, "that one had its successor");
}

#[test]
fn count_and_stop_end_a_closed_loop() {
    let mut bench = bench(&format!("{ALL}concurrent = 4\ncount = 6\nstop = \"5ms\""));
    assert_eq!((bench.complete(0, Time::from_ms(1)), bench.complete(1, Time::from_ms(2))), (1, 1));
    assert_eq!(bench.complete(2, Time::from_ms(3)), 0, "six have begun");
    let mut bench = self::bench(&format!("{ALL}concurrent = 4\nstart = \"1ms\"\nstop = \"5ms\""));
    assert!(bench.planned.iter().all(|session| session.start == Time::from_ms(1)));
    assert_eq!((bench.complete(0, Time::from_us(4999)), bench.complete(1, Time::from_ms(5))), (1, 0));
    assert_eq!(self::bench(&format!("{ALL}concurrent = 9\ncount = 3")).planned.len(), 3);
}

#[test]
fn nobody_sends_to_itself_and_every_pair_occurs() {
    let mut bench = bench("from = \"host-0..3\"\nto = \"host-2..5\"\nconcurrent = 20000");
    let mut pairs = BTreeMap::new();
    bench.planned.drain(..).for_each(|session| *pairs.entry((session.from, session.to)).or_insert(0_u32) += 1);
    assert!(pairs.keys().all(|(from, to)| from != to));
    assert_eq!(pairs.len(), 4 * 4 - 2);
    // A receiver is drawn from four hosts, then a sender from four hosts or, if the receiver is among them, from the
    // other three.
    for ((_, to), count) in pairs {
        let of = if bench.senders.contains(&to) { 3 } else { 4 };
        assert!((f64::from(count) / 20_000.0 * 4.0 * f64::from(of) - 1.0).abs() < 0.1, "{count}");
    }
}

#[test]
fn blocks_lie_in_the_clients_rack() {
    let bench = bench(&format!("{ALL}in-rack = \"100%\"\nconcurrent = 2000"));
    for session in &bench.planned {
        assert!(session.from != session.to && rack(&bench, session.from) == rack(&bench, session.to));
    }
    let mut clients: Vec<_> = bench.planned.iter().map(|session| session.to).collect();
    clients.sort_unstable();
    clients.dedup();
    assert_eq!(clients.len(), 32, "any host is a client");
}

#[test]
fn a_client_without_neighbours_reads_from_any_host() {
    // No other host in the client's rack sends.
    let bench = bench("from = \"rack-1..2\"\nto = \"host-0\"\nin-rack = \"100%\"\nconcurrent = 500");
    let racks: std::collections::BTreeSet<_> = bench.planned.iter().map(|session| rack(&bench, session.from)).collect();
    assert_eq!(racks.len(), 2);
}

#[test]
fn a_share_of_the_sessions_is_in_rack() {
    let bench = bench(&format!("{ALL}in-rack = \"40%\"\nconcurrent = 20000"));
    let near = bench.planned.iter().filter(|session| rack(&bench, session.from) == rack(&bench, session.to)).count();
    // In the other sessions, 3 of 31 hosts are in the rack by chance.
    let expected = 0.4 + 0.6 * 3.0 / 31.0;
    assert!((near as f64 / 20_000.0 / expected - 1.0).abs() < 0.03, "{near}");
}

#[test]
fn pairs_in_turn_stay_with_their_successors() {
    let mut bench = bench("from = \"host-0..2\"\nto = \"host-2..4\"\npairs = \"in-turn\"\nconcurrent = 4");
    let pair = |session: &TransferSpec| [session.from, session.to];
    let hosts: Vec<NodeId> = bench.senders.iter().chain(&bench.receivers[1..]).copied().collect();
    let expected = [[0, 2], [1, 3], [2, 4], [0, 2]].map(|pair| pair.map(|host| hosts[host]));
    assert_eq!(bench.planned.iter().map(pair).collect::<Vec<_>>(), expected);
    bench.complete(2, Time::from_ms(1));
    assert_eq!(pair(&bench.planned[4]), expected[2]);
    // If both lists have the same host at a turn, the next one sends.
    let same = self::bench("from = \"host-0..2\"\nto = \"host-0..2\"\npairs = \"in-turn\"\nconcurrent = 3");
    assert!(same.planned.iter().all(|session| session.from != session.to));
}

#[test]
fn arrivals_at_a_load_are_poisson() {
    // Two receivers at 1 Gbps: at 80 %, sessions of 100 KB arrive every 500 us.
    let keys = "from = \"pod-2..3\"\nto = \"host-0..1\"\nload = \"80%\"\nstart = \"3ms\"";
    let mut bench = bench(keys);
    assert!(bench.planned.is_empty() && bench.wakes.len() == 1, "one at a time");
    bench.wake(50_000, 1);
    let starts: Vec<f64> = bench.planned.iter().map(|session| session.start.secs() - 3e-3).collect();
    let mean = starts[starts.len() - 1] / starts.len() as f64;
    assert!((mean / 500e-6 - 1.0).abs() < 0.02, "{mean}");
    // Exponential: the standard deviation is the mean, and 1/e of the gaps are longer.
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let long = gaps.iter().filter(|gap| **gap > 500e-6).count() as f64 / gaps.len() as f64;
    assert!((long - (-1.0_f64).exp()).abs() < 0.01, "{long}");
    let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((square.sqrt() / mean - 1.0).abs() < 0.03, "{square}");
}

#[test]
fn the_load_of_a_mixture_is_that_of_its_mean() {
    let keys = format!("{ALL}load-of = \"bisection\"\nload = \"50%\"");
    let mut bench = try_bench_of("20KB 50%, 180KB 50%", &keys).expect("sound");
    // 16 uplinks of 1 Gbps carry 8 Gbps from one half to the other; at 4 Gbps, sessions of 800 kbit arrive every 200
    // us.
    bench.wake(20_000, 1);
    let mean = bench.planned[19_999].start.secs() / 20_000.0;
    assert!((mean / 200e-6 - 1.0).abs() < 0.03, "{mean}");
    let offered = bench.traffic.offered().expect("a load");
    assert_eq!((offered.mean, offered.interval, offered.of), (100e3, Time::from_us(200), "bisection"));
    assert_eq!((offered.capacity, offered.load()), (Some(8e9), Some(0.5)));
}

#[test]
fn a_workload_goes_by_its_name() {
    let mut bench = try_bench_of("web-search", &format!("{ALL}load = \"40%\"")).expect("sound");
    bench.wake(20_000, 1);
    // 40 % of 32 Gbps, the links of 32 hosts, are 12.8 Gbps.
    let offered = bench.traffic.offered().expect("a load");
    assert!((offered.mean - 1_478_656.0).abs() < 1.0 && offered.capacity == Some(32e9), "{offered:?}");
    assert!((offered.interval.secs() / (1_478_656.0 * 8.0 / 12.8e9) - 1.0).abs() < 1e-6, "{offered:?}");
    let small = bench.planned.iter().filter(|flow| flow.bytes <= Some(70_000)).count();
    assert!((small as f64 / 20_000.0 - 0.49).abs() < 0.01, "{small}");
}

#[test]
fn arrivals_end_at_their_count_and_their_stop() {
    let mut bench = bench(&format!("{ALL}interval = \"1ms\"\ncount = 10"));
    bench.wake(100, 1);
    assert_eq!((bench.planned.len(), bench.wakes.len()), (10, 10));
    let mut bench = self::bench(&format!("{ALL}interval = \"1ms\"\nstop = \"50ms\""));
    bench.wake(1000, 1);
    assert!((30..70).contains(&bench.planned.len()), "{}", bench.planned.len());
    assert!(bench.planned.iter().all(|session| session.start < Time::from_ms(50)));
    assert_eq!(bench.complete(0, Time::from_ms(1)), 0, "arrivals do not wait for completions");
}

#[test]
fn mistakes_are_told() {
    let says = |keys: &str| try_bench(&format!("{ALL}{keys}")).err().expect("refused").to_string();
    for (keys, message) in [
        ("interval = \"0s\"", "load: give load or interval"),
        ("load = 1\ninterval = \"1s\"", "interval: give load or interval, not both"),
        ("interval = \"1s\"\nstart = \"1s\"\nstop = \"1s\"", "stop: "),
        ("pairs = \"in-turn\"\nin-rack = 1", "in-rack: has an effect with pairs = \"random\" only"),
    ] {
        assert!(says(keys).contains(message), "{} for {keys}", says(keys));
    }
    assert!(says("load = 1\nload-off = 1").starts_with("test.toml:10: traffic.poisson.load-off: "));
    let both = try_bench("concurrent = 4\nload = 0.5").err().expect("refused").to_string();
    assert!(both.contains("is a key of \"incast\", \"sessions\" only"), "{both}");
}

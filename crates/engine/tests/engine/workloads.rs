//! Sessions and named hosts, in the networks of the papers: who sends to whom, how many at once, and how much.

use crate::outcome::{numbers, ps, run, words};
use fanin_engine::sim::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// PFDCT's network of section 5.3 with a fifth of its hosts: the reading P21.
const PODS: &str = "[network]\ntopology = \"fat-tree\"\npods = 4\naggregations-per-pod = 2\nedges-per-pod = 4\n\
                    hosts-per-edge = 2\ncores = 8\ncore-rate = \"10Gbps\"\ncore-buffer = \"250pkt\"\ndelay = \"25us\"\n\
                    [transport]\nscheme = \"dctcp\"\nrto-min = \"1ms\"\n";

fn group<'a>(outcome: &'a Outcome, name: &str) -> &'a serde_json::Value {
    let groups = outcome.summary["groups"].as_array().expect("a list");
    groups.iter().find(|group| group["group"] == name).expect(name)
}

/// Sender and receiver of each session of a group.
fn pairs(outcome: &Outcome, name: &str) -> Vec<[u64; 2]> {
    let [from, to] = ["src", "dst"].map(|column| numbers(outcome, "flows", column));
    let groups = words(outcome, "flows", "group");
    let rows = (0..groups.len()).filter(|row| groups[*row] == name);
    rows.map(|row| [from[row] as u64, to[row] as u64]).collect()
}

/// Three matrices at once, as in PFDCT's section 5.3: between pods and inside one.
fn three_matrices(more: &str) -> Outcome {
    run(&format!(
        "{PODS}[[traffic]]\nname = \"one\"\nkind = \"sessions\"\nfrom = \"pod-0\"\nto = \"pod-3\"\nconcurrent = 12\n\
         bytes-each = \"100KB\"\n[[traffic]]\nname = \"one-long\"\nkind = \"sessions\"\nfrom = \"pod-0\"\nto = \"pod-3\"\n\
         concurrent = 2\nbytes-each = \"400KB\"\n[[traffic]]\nname = \"three\"\nkind = \"sessions\"\nfrom = \"pod-2\"\n\
         to = \"pod-2\"\nconcurrent = 9\nbytes-each = \"300KB\"\n{more}[measure]\nqueues = \"all\"\n[run]\nduration = \"60ms\"\n"
    ))
}

#[test]
fn a_closed_loop_has_exactly_its_number_under_way_until_the_end() {
    let outcome = three_matrices("");
    let [start, end] = ["start_s", "completion_s"].map(|column| numbers(&outcome, "flows", column));
    let names = words(&outcome, "flows", "group");
    for (name, concurrent) in [("one", 12), ("one-long", 2), ("three", 9)] {
        let rows: Vec<usize> = (0..names.len()).filter(|row| names[*row] == name).collect();
        let mut changes: BTreeMap<u64, i32> = BTreeMap::new();
        for row in &rows {
            *changes.entry(ps(start[*row])).or_default() += 1;
            if !end[*row].is_nan() {
                *changes.entry(ps(end[*row])).or_default() -= 1;
            }
        }
        let mut under_way = 0;
        for (at, change) in changes {
            under_way += change;
            assert_eq!(under_way, concurrent, "{name} at {at} ps");
        }
        assert!(rows.len() > 2 * concurrent as usize, "{name} repeats: {}", rows.len());
        let total = group(&outcome, name);
        assert_eq!((&total["flows"], &total["incomplete"]), (&rows.len().into(), &concurrent.into()), "{name}");
    }
    assert_eq!(outcome.number("incomplete"), 23.0);
    let goodput: f64 =
        ["one", "one-long", "three"].map(|name| group(&outcome, name)["goodput_bps"].as_f64().unwrap()).iter().sum();
    assert!((goodput / outcome.number("goodput_bps") - 1.0).abs() < 1e-12);
}

#[test]
fn pods_and_racks_are_where_the_sessions_are() {
    let outcome = three_matrices("");
    let racks = |name: &str, end: usize| pairs(&outcome, name).iter().map(|pair| pair[end]).collect::<BTreeSet<_>>();
    // Nodes are numbered rack by rack, a switch before its two hosts: 12 nodes to a pod.
    let pod = |node: &u64| node / 12;
    assert!(racks("one", 0).iter().all(|node| pod(node) == 0) && racks("one", 1).iter().all(|node| pod(node) == 3));
    assert_eq!((racks("one", 0).len(), racks("one", 1).len()), (8, 8), "every host takes part");
    assert!(pairs(&outcome, "three").iter().all(|[from, to]| from != to && pod(from) == 2 && pod(to) == 2));
    // Nobody has a part by the network's choice, so hosts have numbers, and the first group's port is the bottleneck.
    let ports = words(&outcome, "queues", "port").into_iter().zip(numbers(&outcome, "queues", "bottleneck"));
    let bottleneck: Vec<String> = ports.filter(|(_, is)| *is > 0.0).map(|(port, _)| port).collect();
    assert_eq!(bottleneck, ["edge-12->host-24"]);
}

#[test]
fn a_group_draws_from_a_stream_of_its_own() {
    let alone = three_matrices("");
    let more =
        "[[traffic]]\nname = \"more\"\nkind = \"sessions\"\nfrom = \"all\"\nto = \"all\"\nbytes-each = \"5KB\"\n";
    let beside = three_matrices(more);
    for name in ["one", "one-long", "three"] {
        let [first, second] = [&alone, &beside].map(|outcome| pairs(outcome, name));
        let both = first.len().min(second.len());
        assert_eq!(first[..both], second[..both], "{name}");
    }
    assert_eq!(three_matrices(more).hash(), beside.hash());
}

#[test]
fn block_reads_stay_in_their_racks_and_all_complete() {
    let outcome = run(
        "[network]\ntopology = \"fat-tree\"\npods = 4\nhosts-per-edge = 3\ndelay = \"10us\"\n[transport]\nscheme = \"dctcp\"\n\
         rto-min = \"1ms\"\n[[traffic]]\nname = \"reads\"\nkind = \"sessions\"\nfrom = \"all\"\nto = \"all\"\nin-rack = \"100%\"\n\
         bytes-each = \"20KB 50%, 80KB 50%\"\ncount = 400\nconcurrent = 30\nrequest = \"200B\"\n",
    );
    assert_eq!((outcome.number("flows"), outcome.number("completed")), (400.0, 400.0));
    // A switch and its three hosts are neighbours in the list of nodes.
    let pairs = pairs(&outcome, "reads");
    assert!(pairs.iter().all(|[from, to]| from != to && from / 4 == to / 4));
    let clients: BTreeSet<u64> = pairs.iter().map(|[_, to]| *to).collect();
    assert_eq!(clients.len(), 24, "every host is a client");
    let large = numbers(&outcome, "flows", "bytes").iter().filter(|bytes| **bytes > 50e3).count();
    assert!((160..240).contains(&large), "{large}");
}

#[test]
fn a_load_is_offered_and_carried() {
    for load in ["20%", "50%", "80%"] {
        let outcome = run(&format!(
            "[network]\ntopology = \"star\"\ndelay = \"10us\"\n[transport]\nscheme = \"dctcp\"\nrto-min = \"1ms\"\n\
             [[traffic]]\nname = \"sessions\"\nkind = \"poisson\"\nsenders = 30\nload = \"{load}\"\nbytes-each = \"15KB\"\n\
             stop = \"400ms\"\n"
        ));
        assert_eq!(outcome.number("incomplete"), 0.0);
        let bytes: f64 = numbers(&outcome, "flows", "bytes").iter().sum();
        let (offered, wanted) = (bytes * 8.0 / 0.4 / 1e9, load[..2].parse::<f64>().unwrap() / 100.0);
        assert!((offered / wanted - 1.0).abs() < 0.06, "{offered} offered of {wanted}");
        let carried = outcome.number("goodput_bps") / 1e9;
        assert!((carried / offered - 1.0).abs() < 0.03, "{carried} carried of {offered}");
        let senders: BTreeSet<u64> = pairs(&outcome, "sessions").iter().map(|[from, _]| *from).collect();
        assert_eq!(senders.len(), 30);
    }
}

/// RCC's two bottlenecks: to one host from its own rack and from the other one, beside pairs across.
#[test]
fn groups_of_named_hosts_cross_each_other() {
    let outcome = run(
        "[network]\ntopology = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts-per-leaf = 9\nuplink-rate = \"10Gbps\"\n\
         delay = \"40us\"\n[transport]\nrto-min = \"10ms\"\n\
         [[traffic]]\nname = \"far\"\nkind = \"incast\"\nsenders = 4\nbytes-each = \"100KB\"\nfrom = \"host-0..3\"\nto = \"host-9\"\n\
         [[traffic]]\nname = \"near\"\nkind = \"incast\"\nsenders = 4\nbytes-each = \"100KB\"\nfrom = \"rack-1\"\nto = \"host-9\"\n\
         [[traffic]]\nname = \"across\"\nkind = \"background\"\nflows = 4\nbytes-each = \"100KB\"\nfrom = \"host-4..7\"\n\
         to = \"host-14..17\"\n[measure]\nqueues = \"all\"\n",
    );
    assert_eq!(outcome.number("incomplete"), 0.0);
    // Two switches stand before the hosts of the second rack in the list of nodes.
    assert_eq!(pairs(&outcome, "far"), [[1, 11], [2, 11], [3, 11], [4, 11]]);
    assert_eq!(
        pairs(&outcome, "near"),
        [[12, 11], [13, 11], [14, 11], [15, 11]],
        "the client does not respond to itself"
    );
    assert_eq!(pairs(&outcome, "across"), [[5, 16], [6, 17], [7, 18], [8, 19]]);
}

/// SDTCP's Fig. 15: one flow stays, four begin and stop one after the other.
#[test]
fn flows_start_and_stop_in_order() {
    let text = "[network]\ntopology = \"star\"\ndelay = \"33us\"\n[transport]\nscheme = \"dctcp\"\nrto-min = \"10ms\"\n\
                [[traffic]]\nname = \"stays\"\nkind = \"background\"\n\
                [[traffic]]\nname = \"stop\"\nkind = \"background\"\nflows = 4\nstart = \"20ms\"\ninterval = \"20ms\"\n\
                stop = \"150ms\"\n[measure]\nbin = \"10ms\"\n[run]\nduration = \"300ms\"\n";
    let outcome = run(text);
    let column = |name| numbers(&outcome, "flows", name);
    let (start, end, fct, rate) = (column("start_s"), column("completion_s"), column("fct_s"), column("goodput_bps"));
    let delivered = column("delivered_bytes");
    assert!(end[0].is_nan(), "nobody stops the first");
    for i in 0..4_u8 {
        let (flow, after) = (usize::from(i) + 1, 0.02 * f64::from(i));
        assert!((start[flow] - 0.02 - after).abs() < 1e-12);
        // What was on its way still arrives, within some round trips.
        assert!((0.15 + after..0.152 + after).contains(&end[flow]), "{} of flow {flow}", end[flow]);
        let mean = delivered[flow] * 8.0 / (end[flow] - start[flow]);
        assert!(fct[flow].is_nan() && (rate[flow] / mean - 1.0).abs() < 1e-9, "{} of flow {flow}", rate[flow]);
    }
    assert_eq!((outcome.number("completed"), outcome.number("incomplete")), (0.0, 0.0));
    // From 210 ms on the link is the first flow's alone.
    let bins = ["time_s", "goodput_bps"].map(|name| numbers(&outcome, "bins", name));
    let groups = words(&outcome, "bins", "group");
    let alone = (0..groups.len()).filter(|row| groups[*row] == "stays" && bins[0][*row] > 0.22 && bins[0][*row] < 0.28);
    let rates: Vec<f64> = alone.map(|row| bins[1][row]).collect();
    assert!(!rates.is_empty() && rates.iter().all(|rate| *rate > 0.93e9), "{rates:?}");
    // A stop to come does not hold up a run whose finite transfers are over.
    let short = text.replace(
        "duration = \"300ms\"",
        "duration = \"300ms\"\n[[traffic]]\nkind = \"incast\"\nsenders = 1\nbytes-each = \"20KB\"",
    );
    assert!(run(&short).number("simulated_s") < 0.1);
}

const STAR: &str =
    "[network]\ntopology = \"star\"\ndelay = \"10us\"\n[transport]\nscheme = \"dctcp\"\nrto-min = \"1ms\"\n";

#[test]
fn a_round_begins_together_or_not() {
    let starts = |more: &str| {
        let incast =
            "[[traffic]]\nkind = \"incast\"\nsenders = 8\nbytes-each = \"2KB\"\nrounds = 200\nexponential = \"1ms\"\n";
        let outcome = run(&format!("{STAR}{incast}{more}"));
        let (starts, queries) = (numbers(&outcome, "flows", "start_s"), numbers(&outcome, "flows", "query"));
        let mut rounds: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        starts.iter().zip(queries).for_each(|(start, query)| {
            rounds.entry(query as u64).or_default().insert(ps(*start));
        });
        rounds.into_values().map(|starts| starts.len()).collect::<Vec<_>>()
    };
    assert_eq!(starts("together = true\n"), vec![1; 200]);
    assert_eq!(starts(""), vec![8; 200]);
}

#[test]
fn exponential_starts_have_their_mean() {
    let text = format!(
        "{STAR}[[traffic]]\nkind = \"background\"\nflows = 4000\nbytes-each = \"100B\"\nstart = \"2ms\"\n\
         exponential = \"50ms\"\nplacement = \"round-robin\"\n"
    );
    let starts = numbers(&run(&text), "flows", "start_s");
    let mean = starts.iter().map(|start| start - 2e-3).sum::<f64>() / 4000.0;
    assert!((mean / 50e-3 - 1.0).abs() < 0.05, "{mean}");
    assert!((0.33..0.41).contains(&(starts.iter().filter(|start| **start > 52e-3).count() as f64 / 4000.0)));
}

#[test]
fn every_round_asks_other_hosts() {
    let text = format!(
        "{STAR}[[traffic]]\nkind = \"incast\"\nsenders = 5\nbytes-each = \"cdf 2KB 0%, 8KB 100%\"\nrounds = 300\n\
         placement = \"random\"\n"
    )
    .replace("topology = \"star\"", "topology = \"star\"\nsender-hosts = 20");
    let outcome = run(&text);
    let hosts: Vec<u64> = pairs(&outcome, "incast").iter().map(|[from, _]| *from).collect();
    let rounds: Vec<BTreeSet<u64>> = hosts.chunks(5).map(|round| round.iter().copied().collect()).collect();
    assert!(rounds.iter().all(|round| round.len() == 5), "no host twice in a round");
    let counts = hosts.iter().fold(BTreeMap::new(), |mut counts: BTreeMap<u64, u32>, host| {
        *counts.entry(*host).or_default() += 1;
        counts
    });
    // Each of 20 hosts in a quarter of 300 rounds.
    assert!(counts.len() == 20 && counts.values().all(|count| (50..100).contains(count)), "{counts:?}");
    let bytes = numbers(&outcome, "flows", "bytes");
    assert!(bytes.iter().all(|bytes| (2e3..8e3).contains(bytes)));
    let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
    assert!((mean / 5e3 - 1.0).abs() < 0.03, "{mean}");
}

#[test]
fn rounds_end_at_their_stop() {
    let rounds = |more: &str| {
        let text = format!(
            "{STAR}[[traffic]]\nkind = \"incast\"\nsenders = 2\nbytes-each = \"10KB\"\nrounds = 50\ngap = \"1ms\"\n{more}"
        );
        let outcome = run(&text);
        assert_eq!(outcome.number("incomplete"), 0.0);
        (outcome.number("flows") / 2.0, numbers(&outcome, "flows", "start_s").into_iter().fold(0.0, f64::max))
    };
    assert_eq!(rounds("").0, 50.0);
    let (stopped, last) = rounds("stop = \"10ms\"\n");
    assert!((5.0..10.0).contains(&stopped) && last < 10e-3, "{stopped} rounds, the last at {last}");
}

/// RCC's experiment under load shuffles hosts over the racks.
#[test]
fn parts_at_random_hosts() {
    let placed = |seed: u32| {
        let outcome = run(&format!(
            "[network]\ntopology = \"leaf-spine\"\nleaves = 5\nhosts-per-leaf = 8\nreceiver-placement = \"random\"\n\
             sender-placement = \"random\"\n[[traffic]]\nkind = \"incast\"\nsenders = 37\nreceiver = 2\nbytes-each = \"1KB\"\n\
             [run]\nseed = {seed}\n"
        ));
        let hosts = pairs(&outcome, "incast");
        let mut all: BTreeSet<u64> = hosts.iter().map(|[from, _]| *from).collect();
        all.extend(hosts.iter().map(|[_, to]| *to));
        assert_eq!(all.len(), 38, "37 senders and a client, all different");
        hosts
    };
    assert_eq!(placed(1), placed(1));
    let clients: BTreeSet<u64> = (1..8).map(|seed| placed(seed)[0][1] / 9).collect();
    assert!(clients.len() > 2, "clients in racks {clients:?}");
    let rising = placed(1).windows(2).all(|pair| pair[0][0] < pair[1][0]);
    assert!(!rising, "senders are not in the order of their racks");
}

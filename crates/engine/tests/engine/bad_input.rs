//! What makes no sense once it is laid out: an error with file, line and key, never a panic.

use fanin_engine::scenario::Scenario;
use fanin_engine::sim;

/// Eleven lines that each test changes; the network begins in line 1.
const PLAIN: &str = "[network]
topology = \"star\"
buffer = \"100pkt\"
[transport]
mss = \"1460B\"
[[traffic]]
kind = \"incast\"
senders = 3
bytes-each = \"10KB\"
[measure]
bin = \"0s\"
[run]
duration = \"1s\"
";

/// The message that a changed scenario ends with, be it when it is read or when it is laid out.
#[track_caller]
fn error(changes: &[(&str, &str)]) -> String {
    let mut text = PLAIN.to_owned();
    for (old, new) in changes {
        assert!(text.contains(old), "no line {old}");
        text = text.replacen(old, new, 1);
    }
    let scenario = match Scenario::parse(&text, "s.toml", &[]) {
        Ok(scenario) => scenario,
        Err(error) => return error.to_string(),
    };
    match (sim::check(&scenario), sim::run(&scenario, None)) {
        (Err(check), Err(run)) => {
            assert_eq!(check.to_string(), run.to_string());
            check.to_string()
        }
        (check, run) => {
            panic!("check: {:?}, run: {:?} for\n{text}", check.is_ok(), run.map(|_| "ran").map_err(|e| e.to_string()))
        }
    }
}

#[track_caller]
fn refused(changes: &[(&str, &str)], place: &str, says: &str) {
    let message = error(changes);
    assert!(message.starts_with(&format!("s.toml:{place}: ")), "{message:?} does not begin with {place}");
    assert!(message.contains(says), "{message:?} does not say {says:?}");
}

#[test]
fn hosts_that_are_not_there() {
    let from = |hosts: &str| [("bytes-each = \"10KB\"", format!("bytes-each = \"10KB\"\nfrom = \"{hosts}\""))];
    for (hosts, says) in [
        ("pdo-0", "\"pdo-0\" names no hosts (did you mean \"pod\"?)"),
        ("all-3", "\"all-3\" names no hosts"),
        ("rack", "which rack? Write \"rack-0\", or \"rack-0..3\" for several"),
        ("host-x", "\"host-x\" is no range: write \"host-0\" or \"host-0..3\""),
        ("host-3..1", "the range \"host-3..1\" runs backwards"),
        ("pod-1", "the network has no pod-1, only pod-0 to pod-0"),
        ("all, rack-1", "the network has no rack-1, only rack-0 to rack-0"),
        ("host-1", "names 1 hosts beside the client, and the group needs 3, each of its own"),
    ] {
        let changes = from(hosts);
        let star = ("topology = \"star\"", "topology = \"star\"\nsender-hosts = 3");
        refused(&[star, (changes[0].0, &changes[0].1)], "11: traffic.incast.from", says);
    }
    refused(
        &[("senders = 3", "senders = 3\nreceiver = 1\nto = \"host-0\"")],
        "10: traffic.incast.to",
        "names 1 hosts, and the group needs 2 for its receiver",
    );
    let sessions = [("kind = \"incast\"", "kind = \"sessions\"\nfrom = \"host-0\"\nto = \"host-0\"")];
    refused(&sessions, "9: traffic.sessions.to", "names the only host that sends among those that receive");
}

#[test]
fn stops_and_placements_that_contradict() {
    let background = |text: &'static str| [("kind = \"incast\"\nsenders = 3\nbytes-each = \"10KB\"", text)];
    let finite = background("kind = \"background\"\nbytes-each = \"1KB\"\nstop = \"1s\"");
    refused(&finite, "9: traffic.background.stop", "endless data only");
    let early = background("kind = \"background\"\nstart = \"2s\"\nstop = \"1s\"");
    refused(&early, "9: traffic.background.stop", "must be later than start, which is 2s");
    refused(
        &[("senders = 3", "senders = 3\nstart = \"2s\"\nstop = \"2s\"")],
        "10: traffic.incast.stop",
        "must be later",
    );
    let open = "senders = 3\nconnections = \"persistent\"\nplacement = \"random\"";
    refused(&[("senders = 3", open)], "10: traffic.incast.placement", "open connections stay with their hosts");
}

#[test]
fn sizes_that_do_not_add_up() {
    let sizes = |text: &'static str| [("kind = \"incast\"\nsenders = 3\nbytes-each = \"10KB\"", text)];
    refused(
        &sizes("kind = \"sessions\"\nsenders = 3\nbytes-each = \"10KB 50%, 20KB 40%\""),
        "9: traffic.sessions.bytes-each",
        "the shares add up to 90%, not to 100%",
    );
    refused(
        &sizes("kind = \"sessions\"\nsenders = 3\nbytes-each = \"10KBB 50%, 20KB 50%\""),
        "9: traffic.sessions.bytes-each",
        "unknown unit \"KBB\"",
    );
    refused(
        &sizes("kind = \"sessions\"\nbytes-each = \"0B 50%, 20KB 50%\""),
        "8: traffic.sessions.bytes-each",
        "must be at least 1B",
    );
    refused(&sizes("kind = \"sessions\"\nbytes-each = 10"), "8: traffic.sessions.bytes-each", "needs a unit");
    refused(&[("10KB", "10KB 50%, 0B 50%")], "9: traffic.incast.bytes-each", "a response has at least 1B");
    let several = sizes("kind = \"background\"\nbytes-each = \"0B 50%, 20KB 50%\"");
    refused(&several, "8: traffic.background.bytes-each", "0B is endless data");
    refused(&[("10KB", "web-serach")], "9: traffic.incast.bytes-each", "unknown workload \"web-serach\"");
    let halves = "kind = \"poisson\"\nbytes-each = \"1KB\"\nload = 1\nload-of = \"bisection\"";
    refused(&sizes(halves), "10: traffic.poisson.load-of", "this network has no two halves");
}

#[test]
fn too_many_hosts() {
    refused(&[("senders = 3", "senders = 1000000")], "8: traffic.incast.senders", "do not fit on a switch");
    let few = [("topology = \"star\"", "topology = \"star\"\nsender-hosts = 2"), ("senders = 3", "senders = 1000000")];
    refused(&few, "3: network.sender-hosts", "needs 1000000 sending hosts");
    refused(&[("senders = 3", "senders = 65535")], "8: traffic.incast.senders", "65535 sending hosts and 1 receiving");
    refused(&[("senders = 3", "senders = 3\nreceiver = 65534")], "9: traffic.incast.receiver", "do not fit");
    let many = [("topology = \"star\"", "topology = \"star\"\nsender-hosts = 65535")];
    refused(&many, "3: network.sender-hosts", "65535 sending hosts and 1 receiving");
    refused(&[("senders = 3", "senders = 99999999999")], "8: traffic.incast.senders", "at most");
}

#[test]
fn buffers_that_hold_nothing() {
    refused(&[("100pkt", "1499B")], "3: network.buffer", "less than one packet of 1500 bytes");
    refused(&[("100pkt", "0pkt")], "3: network.buffer", "at least");
    let shared = "buffer = \"1pkt\"\nadmission = \"dynamic-threshold\"\nshared-buffer = \"1000B\"";
    refused(&[("buffer = \"100pkt\"", shared)], "5: network.shared-buffer", "less than one packet");
    let alpha = "admission = \"dynamic-threshold\"\ndt-alpha = 0.0";
    refused(&[("buffer = \"100pkt\"", alpha)], "4: network.dt-alpha", "positive");
    refused(&[("buffer = \"100pkt\"", &alpha.replace("0.0", "-1.0"))], "4: network.dt-alpha", "");
    refused(&[("buffer = \"100pkt\"", &alpha.replace("0.0", "nan"))], "4: network.dt-alpha", "");
}

#[test]
fn sizes_that_contradict() {
    refused(&[("10KB", "0B")], "9: traffic.incast.bytes-each", "give bytes-each or bytes-total");
    let both = "bytes-each = \"10KB\"\nbytes-total = \"10KB\"";
    refused(&[("bytes-each = \"10KB\"", both)], "10: traffic.incast.bytes-total", "not both");
    let little = "bytes-total = \"2B\"";
    refused(&[("bytes-each = \"10KB\"", little)], "9: traffic.incast.bytes-total", "2 bytes cannot be split over 3");
    refused(&[("mss = \"1460B\"", "mss = \"0B\"")], "5: transport.mss", "at least");
    refused(
        &[("mss = \"1460B\"", "receive-buffer = \"1459B\"")],
        "5: transport.receive-buffer",
        "less than one segment",
    );
}

#[test]
fn numbers_beyond_all_measure() {
    refused(&[("10KB", "99999999999999999999B")], "9: traffic.incast.bytes-each", "");
    refused(&[("10KB", "1e30B")], "9: traffic.incast.bytes-each", "");
    refused(&[("\"1s\"", "\"1000000000000s\"")], "13: run.duration", "");
    refused(&[("bin = \"0s\"", "bin = \"1ps\"")], "11: measure.bin", "rows");
    let sampled = "queue-trace = \"sampled\"\nqueue-sample = \"1ps\"";
    refused(&[("bin = \"0s\"", sampled)], "12: measure.queue-sample", "rows");
    let long = "kind = \"background\"\nflows = 1000000\ninterval = \"1000000s\"\nplacement = \"round-robin\"";
    let interval = [("kind = \"incast\"\nsenders = 3\nbytes-each = \"10KB\"", long)];
    refused(&interval, "9: traffic.background.interval", "after the first");
    refused(&[("buffer = \"100pkt\"", "rate = \"0bps\"")], "3: network.rate", "");
    refused(&[("buffer = \"100pkt\"", "rate = \"3bps\"")], "3: network.rate", "");
}

#[test]
fn large_numbers_that_make_sense_are_taken() {
    let runs = [
        [("100pkt", "500000000000pkt")],
        [("100pkt", "9000TB")],
        [("bytes-each = \"10KB\"", "bytes-each = \"8000TB\"")],
        [("buffer = \"100pkt\"", "buffer = \"100pkt\"\ndelay = \"400ms\"")],
        [(
            "buffer = \"100pkt\"",
            "admission = \"dynamic-threshold\"\nshared-buffer = \"500000000000pkt\"\ndt-alpha = 1e300",
        )],
        [("mss = \"1460B\"", "initial-window = \"500000000000mss\"\nreceive-buffer = \"9000TB\"")],
    ];
    for changes in runs {
        let text = changes.iter().fold(PLAIN.to_owned(), |text, (old, new)| text.replacen(old, new, 1));
        let text = text.replace("\"1s\"", "\"1ms\"");
        let scenario = Scenario::parse(&text, "s.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        sim::run(&scenario, None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

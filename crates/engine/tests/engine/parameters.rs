//! Every parameter is set somewhere; those of hosts, transport, captures and schemes that no published experiment sets
//! change a run in which they can.
//!
//! `knobs.rs` has more of them, of the same kind.

use crate::outcome::run;
use fanin_engine::sim::Outcome;
use fanin_engine::spec::{Param, common};
use fanin_engine::{fault, queue, schemes, tcp, topology, traffic};
use std::path::Path;

/// An incast of forty servers over a star with this buffer, with further keys of `[transport]` and of the scheme, and
/// further tables.
fn incast(network: &str, transport: &str, scheme: &str, params: &str, more: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"25us\"\n{network}\n[transport]\nscheme = \"{scheme}\"\nrto-min = \"10ms\"\n\
         {transport}\n[scheme.{scheme}]\n{params}\n[[traffic]]\nname = \"bursts\"\nkind = \"incast\"\nsenders = 40\n\
         bytes-each = \"64KB\"\nstart = \"20ms\"\njitter = \"100us\"\n{more}\n[run]\nduration = \"2s\"\n"
    ))
}

const SHALLOW: &str = "buffer = \"30pkt\"";

/// Long flows that began before the bursts.
fn long(flows: u32) -> String {
    format!(
        "[[traffic]]\nname = \"long\"\nkind = \"background\"\nflows = {flows}\nbytes-each = \"8MB\"\nreceiver = 0\n"
    )
}

#[track_caller]
fn differ(name: &str, one: &Outcome, other: &Outcome) {
    assert_ne!(one.hash(), other.hash(), "{name} changes nothing");
}

#[test]
fn parameters_of_schemes() {
    for (buffer, flows, scheme, param) in [
        (SHALLOW, 1, "linux", "growth = \"per-ack\""),
        (SHALLOW, 1, "sab", "rtt0 = \"900us\""),
        (SHALLOW, 1, "rcc", "release = \"at-most\""),
        (SHALLOW, 1, "pfdct", "sticky = false"),
        ("buffer = \"200pkt\"", 4, "pfdct", "rtt-min = \"oracle\""),
    ] {
        let more = long(flows);
        differ(param, &incast(buffer, "", scheme, param, &more), &incast(buffer, "", scheme, "", &more));
    }
}

#[test]
fn parameters_of_the_transport() {
    let rounds = "rounds = 2\nconnections = \"persistent\"\ngap = \"50ms\"\n";
    for (buffer, param, more) in [
        (SHALLOW, "rto-granularity = \"20ms\"", ""),
        (SHALLOW, "rto-backoff-limit = 0", ""),
        (SHALLOW, "rto-backoff-reset = \"new-ack\"", ""),
        // Windows that have grown beyond the initial one.
        ("buffer = \"5000pkt\"", "idle-restart = false", rounds),
    ] {
        let newreno = |keys: &str| incast(buffer, keys, "newreno", "", more);
        differ(param, &newreno(param), &newreno(""));
    }
}

#[test]
fn parameters_of_hosts_and_servers() {
    let newreno = |network: &str, more: &str| incast(&format!("{SHALLOW}\n{network}"), "", "newreno", "", more);
    let jitter = "host-jitter = \"5us\"";
    differ(jitter, &newreno(jitter, ""), &newreno("", ""));
    let asked = "request = \"200B\"\nthink = \"20us\"\n";
    let jitter = "think-jitter = \"50us\"";
    differ(jitter, &newreno("", &format!("{asked}{jitter}")), &newreno("", asked));
}

#[test]
fn parameters_of_captures() {
    let captured = |param: &str| {
        let measure = format!("[measure]\ncapture = \"bottleneck\"\n{param}\n");
        incast("", "", "newreno", "", &measure).capture.expect("it was asked for")
    };
    let (whole, limited) = (captured(""), captured("capture-limit = 5"));
    // A small header block and one of the link, then five of packets of 1500 bytes at most.
    assert!((100..8_000).contains(&limited.len()), "{} bytes of {}", limited.len(), whole.len());
    assert!(whole.len() > 100 * limited.len(), "{} bytes of {}", limited.len(), whole.len());
    assert_ne!(captured("capture-time = \"ps\""), whole);
}

/// Everything that a scenario can set.
fn declared() -> Vec<&'static Param> {
    let mut tables = vec![
        common::NETWORK,
        common::TRAFFIC_OPTIONAL,
        common::TRAFFIC_COMMON,
        common::CONTROL,
        common::MEASURE,
        common::RUN,
        tcp::PARAMS,
        fault::COMMON,
    ];
    tables.extend(topology::REGISTRY.iter().map(|row| row.params));
    tables.extend(queue::REGISTRY.iter().map(|row| row.params));
    tables.extend(traffic::REGISTRY.iter().map(|row| row.params));
    tables.extend(fault::REGISTRY.iter().map(|row| row.params));
    tables.extend(schemes::REGISTRY.iter().map(|row| row.params));
    tables.into_iter().flatten().collect()
}

/// The text of all files below `folder` whose names end in `ending`.
fn texts(folder: &Path, ending: &str, read: &mut dyn FnMut(&Path, String)) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            texts(&path, ending, read);
        } else if path.to_string_lossy().ends_with(ending) {
            read(&path, std::fs::read_to_string(&path).expect("text"));
        }
    }
}

/// Whether `text` gives `key` a value: `key = ...`, or as a pair of strings.
fn sets(text: &str, key: &str) -> bool {
    text.match_indices(key).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + key.len()..].trim_start_matches('"').trim_start();
        let whole = !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-');
        whole && (after.starts_with('=') || after.starts_with(", \"") || after.starts_with(", format"))
    })
}

/// A parameter that nobody ever sets may do nothing at all.
#[test]
fn every_parameter_is_set_by_a_test_or_an_experiment() {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = String::new();
    texts(&engine.join("tests"), ".rs", &mut |_, text| all += &text);
    texts(&engine.join("src"), ".rs", &mut |path, text| {
        let of_tests = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        all +=
            if of_tests { &text } else { text.split_once("#[cfg(test)]\nmod tests {").map_or("", |(_, tests)| tests) };
    });
    texts(&engine.join("../../python/fanin/experiments"), ".toml", &mut |_, text| all += &text);
    // In a string, a line may end by an escape.
    let all = all.replace("\\n", "\n");
    let unset: Vec<&str> = declared().iter().map(|param| param.key).filter(|key| !sets(&all, key)).collect();
    assert!(unset.is_empty(), "no test and no experiment sets {}", unset.join(", "));
}

//! Keys of hosts, transport, captures and schemes that no published experiment sets: each changes a run in which it can.
//!
//! `knobs.rs` has more of them, of the same kind.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

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

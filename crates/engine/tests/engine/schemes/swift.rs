//! Swift: delay instead of losses, and windows below one segment.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

/// An incast into a port of 130 packets of a rack of 10 Gbit/s.
fn incast(scheme: &str, incast: &str, transport: &str, params: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\nrate = \"10Gbps\"\ndelay = \"2us\"\nbuffer = \"130pkt\"\n[transport]\n\
         scheme = \"{scheme}\"\nrto-min = \"5ms\"\ninitial-window = \"1mss\"\n{transport}\n[scheme.{scheme}]\n{params}\n\
         [[traffic]]\nkind = \"incast\"\nconnections = \"persistent\"\n{incast}\n[run]\nduration = \"2s\"\n"
    ))
}

/// Two segments of each of 128 senders do not fit the port: TCP loses 639 packets and has 3.8 Gbit/s, and Swift 35 and 9.7.
#[test]
fn windows_below_one_segment_carry_more_senders_than_the_port_holds_packets() {
    let crowd = "senders = 128\nbytes-each = \"100KB\"";
    let (swift, tcp) = (incast("swift", crowd, "", ""), incast("newreno", crowd, "", ""));
    assert!(10.0 * swift.number("drops") < tcp.number("drops"), "{} drops", swift.number("drops"));
    assert!(swift.number("goodput_bps") > 2.0 * tcp.number("goodput_bps"));
    let whole = incast("swift", crowd, "", "min-window = 1");
    let [paced, whole] = [swift, whole].map(|outcome| outcome.number("queue_mean_packets"));
    assert!(whole > 1.3 * paced, "{whole} and {paced} packets");
}

/// Interrupts make the hosts take up to 120 us of a round trip; the fabric's target is lower, and does not notice.
#[test]
fn a_slow_host_slows_senders_down_by_its_own_target_only() {
    let goodput = |target: &str| {
        let (few, slow) = ("senders = 4\nbytes-each = \"4MB\"", "interrupt-interval = \"60us\"");
        incast("swift", few, slow, &format!("host-target = \"{target}\"")).number("goodput_bps")
    };
    let (patient, hasty) = (goodput("1ms"), goodput("20us"));
    assert!(patient > 8e9, "{patient} bit/s");
    assert!(hasty < 0.2 * patient, "{hasty} and {patient} bit/s");
}

//! DCQCN over lossless switches: full links, fair rates, and few pauses for those who share none of the congestion.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

/// A network of 40 Gbit/s with flow control, as in the paper.
fn network(topology: &str) -> String {
    format!("[network]\n{topology}\nrate = \"40Gbps\"\ndelay = \"1us\"\nbuffer = \"500KB\"\npfc = \"on\"\n")
}

fn long(flows: u32, params: &str) -> Outcome {
    let text = format!(
        "{}[transport]\nscheme = \"dcqcn\"\n[scheme.dcqcn]\n{params}\n[[traffic]]\nkind = \"background\"\nflows = {flows}\n\
         [measure]\nwarmup = \"20ms\"\n[run]\nduration = \"40ms\"\n",
        network("topology = \"star\"")
    );
    run(&text)
}

#[test]
fn two_long_flows_share_a_link_by_marks_without_a_pause_or_a_loss() {
    let outcome = long(2, "");
    let used = outcome.number("goodput_bps") / 40e9 * 1500.0 / 1460.0;
    assert!(used > 0.9, "{used}");
    assert!(outcome.number("jain") > 0.95, "{}", outcome.number("jain"));
    assert!(outcome.number("marks") > 0.0);
    assert_eq!(outcome.number("drops"), 0.0);
    // Two ports of 40 Gbit/s fill one for 50 us until the first notification: 250 KB, half of what a port has.
    assert_eq!(outcome.number("pauses"), 0.0);
    assert!(outcome.number("queue_mean_packets") < 200.0, "{}", outcome.number("queue_mean_packets"));
}

#[test]
fn without_marks_only_pauses_share_the_link() {
    let [with, without] = ["", "k-min = \"100MB\"\nk-max = \"100MB\""].map(|params| long(2, params));
    assert_eq!(without.number("marks"), 0.0);
    assert!(without.number("queue_mean_packets") > 2.0 * with.number("queue_mean_packets"));
}

/// The victim of section 2: its path shares a trunk with an incast, whose port it does not use. Pauses of the first millisecond
/// mark it, too; a target that rises faster than the paper's lets it recover within the run.
fn victim(scheme: &str) -> Outcome {
    let topology = "topology = \"two-switch\"\ntrunk-rate = \"400Gbps\"\nsender-hosts = 9\nreceiver-hosts = 2";
    let text = format!(
        "{}[transport]\nscheme = \"dcqcn\"\n[scheme.dcqcn]\nincrease = \"400Mbps\"\n{scheme}\n[[traffic]]\nkind = \"background\"\nname = \"many\"\nflows = 8\nreceiver = 0\n\
         [[traffic]]\nkind = \"background\"\nname = \"victim\"\nflows = 1\nfrom = \"sender-8\"\nto = \"receiver-1\"\n\
         [measure]\nwarmup = \"8ms\"\n[run]\nduration = \"12ms\"\n",
        network(topology)
    );
    run(&text)
}

#[test]
fn a_victim_of_pauses_gets_its_own_link_with_dcqcn() {
    let [with, without] = ["", "k-min = \"100MB\"\nk-max = \"100MB\""].map(victim);
    let of = |outcome: &Outcome| outcome.summary["groups"][1]["goodput_bps"].as_f64().unwrap() / 1e9;
    assert!(of(&with) > 30.0, "{} Gbit/s with DCQCN", of(&with));
    assert!(of(&without) < 15.0, "{} Gbit/s without", of(&without));
    assert!(without.number("pauses") > 10.0 * with.number("pauses"));
    assert_eq!(with.number("drops") + without.number("drops"), 0.0);
}

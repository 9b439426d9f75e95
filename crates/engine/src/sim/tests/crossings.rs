//! The record of packets that cross links.

use super::bench::{both, reals, star};
use crate::sim::build::Substitutes;
use crate::sim::{Outcome, network, run};
use fanin_measure::table::Data;
use fanin_scenario::Scenario;

/// Ten senders that overflow a small buffer.
fn incast(measure: &str) -> String {
    star(10, "100KB", &format!("[measure]\n{measure}"))
}

/// Its outcome, which is the same on both event cores.
fn agreed(text: &str) -> Outcome {
    both(text, &Substitutes::default).expect("both agree")
}

fn links(outcome: &Outcome) -> Vec<u32> {
    let Some(Data::Label { codes, .. }) =
        outcome.table("crossings").and_then(|it| it.column("link")).map(|it| &it.data)
    else {
        panic!("links are labels")
    };
    codes.clone()
}

#[test]
fn every_packet_hop_is_recorded_in_order_of_time() {
    let outcome = agreed(&incast("crossings = \"all\""));
    let at = reals(&outcome, "crossings", "time_s");
    assert_eq!(at.len() as f64, outcome.number("packet_hops"));
    assert!(at.is_sorted());
    // What a port has sent is what has crossed its link, but for the last acknowledgement, which ends the run.
    let bytes = reals(&outcome, "links", "bytes");
    let sizes = reals(&outcome, "crossings", "size_bytes");
    for (link, sent) in bytes.iter().enumerate() {
        let crossed: f64 =
            links(&outcome).iter().zip(&sizes).filter(|(on, _)| **on == link as u32).map(|(_, size)| size).sum();
        assert!((0.0..=40.0).contains(&(sent - crossed)), "link {link}: {sent} {crossed}");
    }
}

#[test]
fn a_packet_arrives_its_transmission_and_the_cable_after_it_left() {
    let text = star(1, "2920B", "[measure]\ncrossings = \"all\"");
    let scenario = Scenario::parse(&text, "test.toml", &[]).expect("a valid scenario");
    let (outcome, map) = (run(&scenario, None).expect("it runs"), network(&scenario).expect("it stands"));
    let (at, sizes) = (reals(&outcome, "crossings", "time_s"), reals(&outcome, "crossings", "size_bytes"));
    let links = links(&outcome);
    let full: Vec<usize> = (0..at.len()).filter(|row| sizes[*row] == 1500.0).collect();
    // Two segments on two links each, without a queue: the second hop of the first is one such time after the first.
    let hop = &map.links[links[full[0]] as usize];
    let alone = 1500.0 * 8.0 / hop.rate.bps() as f64 + hop.delay.secs();
    let (first, second) =
        (full[0], full.iter().copied().find(|row| links[*row] != links[full[0]]).expect("a next hop"));
    assert!((at[second] - at[first] - alone).abs() < 1e-12, "{} {}", at[first], at[second]);
    assert_eq!(full.len(), 4);
}

#[test]
fn the_record_ends_at_its_limit_and_can_be_of_some_links() {
    let outcome = agreed(&incast("crossings = \"all\"\ncapture-limit = 50"));
    assert_eq!(reals(&outcome, "crossings", "time_s").len(), 50);
    let outcome = agreed(&incast("crossings = \"bottleneck\""));
    let marked = links(&outcome);
    assert!(!marked.is_empty() && marked.iter().all(|link| *link == marked[0]));
    let without = agreed(&incast("queues = \"all\""));
    assert!(without.table("crossings").is_none());
}

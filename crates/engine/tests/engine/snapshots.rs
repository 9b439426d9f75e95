//! One small incast under every scheme, as a table of its flows and totals that people read when it changes.
//!
//! A change is accepted with `INSTA_UPDATE=always cargo test -p fanin-engine --test engine snapshots`, and belongs in
//! the changelog under Results.

use crate::outcome::{numbers, run};
use fanin_engine::schemes;
use fanin_engine::sim::Outcome;
use std::fmt::Write as _;

/// Twelve servers respond at once through a port of 64 packets.
fn incast(scheme: &str) -> String {
    format!(
        "[network]\ntopology = \"star\"\nrate = \"1Gbps\"\ndelay = \"25us\"\nbuffer = \"64pkt\"\n[transport]\n\
         scheme = \"{scheme}\"\nrto-min = \"10ms\"\n[[traffic]]\nkind = \"incast\"\nsenders = 12\nbytes-each = \"64KB\"\n\
         [run]\nduration = \"2s\"\nseed = 1\n"
    )
}

const TOTALS: [&str; 14] = [
    "goodput_bps",
    "fct_mean_s",
    "fct_p99_s",
    "jain",
    "completed",
    "retransmissions",
    "timeouts",
    "timeouts_full_window",
    "drops",
    "marks",
    "queue_mean_packets",
    "queue_max_packets",
    "control_messages",
    "packet_hops",
];

/// Milliseconds and counts: no hash, so that a change shows what has moved.
fn readable(outcome: &Outcome) -> String {
    let column = |name| numbers(outcome, "flows", name);
    let (start, fct) = (column("start_s"), column("fct_s"));
    let counts = ["retransmissions", "timeouts", "drops", "marks"].map(column);
    let mut text = "flow  start ms    fct ms  retransmitted  timeouts  drops  marks\n".to_owned();
    for flow in 0..fct.len() {
        let [again, timeouts, drops, marks] = counts.each_ref().map(|count| count[flow]);
        let (start, fct) = (start[flow] * 1e3, fct[flow] * 1e3);
        writeln!(text, "{flow:>4}  {start:>8.3}  {fct:>8.3}  {again:>13}  {timeouts:>8}  {drops:>5}  {marks:>5}")
            .expect("a string takes all");
    }
    text.push('\n');
    for total in TOTALS {
        writeln!(text, "{total:<20}  {:>14.6}", outcome.number(total)).expect("a string takes all");
    }
    text
}

#[test]
fn every_scheme_does_what_it_did() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for row in schemes::REGISTRY {
            insta::assert_snapshot!(row.key, readable(&run(&incast(row.key))));
        }
        // Roles that RCCE's defaults leave out.
        for (name, rules) in [
            ("rcce-trees", "st-enable = \"on\"\nqueue-max = 8"),
            ("rcce-tor-proxy", "edge-mode = \"tor-proxy\"\nmark-threshold = \"20pkt\""),
        ] {
            let clos = "\"clos\"\nspines = 2\nleaves = 3\nhosts-per-leaf = 8";
            let text = incast("rcce").replace("\"star\"", clos);
            insta::assert_snapshot!(name, readable(&run(&format!("[scheme.rcce]\n{rules}\n{text}"))));
        }
    });
}

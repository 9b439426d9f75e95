//! NDP: incasts that take what the link takes, over ports whose ninth waiting segment loses its payload.

use crate::outcome::{run, words};
use fanin_engine::sim::Outcome;

/// An incast of so many segments from each sender at 10 Gbit/s; ports have a data queue of eight packets, and room for headers.
fn incast(senders: u32, segments: u32, buffer: &str, params: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\nrate = \"10Gbps\"\ndelay = \"1us\"\nbuffer = \"{buffer}\"\n[transport]\n\
         scheme = \"ndp\"\nmtu = \"9000B\"\n[scheme.ndp]\n{params}\n[[traffic]]\nkind = \"incast\"\nsenders = {senders}\n\
         bytes-each = \"{}B\"\n[measure]\ncrossings = \"all\"\n[run]\nduration = \"2s\"\n",
        8960 * segments
    ))
}

/// How much more the last transfer takes than all packets on the receiver's link.
fn excess(outcome: &Outcome, senders: u32, segments: u32) -> f64 {
    outcome.number("fct_max_s") / (f64::from(senders * segments) * 9000.0 * 8.0 / 10e9) - 1.0
}

/// Two links send a first window each into one: half of the packets leave meanwhile, and half wait.
#[test]
fn a_port_trims_what_does_not_fit_into_eight_packets() {
    let trimmed = |window: u32| {
        let outcome = incast(2, window, "144KB", &format!("first-window = {window}"));
        assert_eq!((outcome.number("drops"), outcome.number("incomplete")), (0.0, 0.0));
        words(&outcome, "crossings", "kind").iter().filter(|kind| *kind == "trimmed").count()
    };
    assert_eq!([7, 8, 9].map(trimmed), [0, 0, 1]);
}

#[test]
fn the_last_answer_of_an_incast_is_there_when_the_link_has_carried_all() {
    for senders in [8, 32, 96] {
        let outcome = incast(senders, 30, "144KB", "");
        let over = excess(&outcome, senders, 30);
        assert!((0.0..0.03).contains(&over), "{senders} senders take {over} more than the link");
        assert_eq!((outcome.number("drops"), outcome.number("timeouts")), (0.0, 0.0), "{senders} senders");
    }
}

/// With one packet in flight each waits for a round trip of two packet times, their headers and four cables.
#[test]
fn a_first_window_of_one_packet_keeps_the_link_idle() {
    let [one, many] = ["first-window = 1", ""].map(|params| excess(&incast(1, 30, "144KB", params), 1, 30));
    assert!(one > 1.5 && many < 0.1, "{one} and {many}");
}

/// Few headers fit beside the data, so first windows of many senders lose theirs. Timers and the pulls behind them bring all.
#[test]
fn what_loses_its_header_too_comes_by_timers_and_pulls() {
    let outcome = incast(300, 30, "90KB", "");
    assert!(outcome.number("drops") > 1000.0);
    assert_eq!(outcome.number("incomplete"), 0.0);
    let over = excess(&outcome, 300, 30);
    // Without those pulls, or with pulls before the acknowledgement of what brings them, it is 0.6.
    assert!(over < 0.25, "{over} more than the link");
}

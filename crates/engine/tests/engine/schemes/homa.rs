//! Homa: short messages before long ones, full links, and incasts that a client keeps small.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

/// What a link of 10 Gbit/s carries of a message in full packets.
const PAYLOAD: f64 = 10e9 * 1460.0 / 1500.0;

/// Traffic at one switch of 10 Gbit/s with cables of 1 us, where a packet and its grant take less than 8 us.
fn star(buffer: &str, params: &str, traffic: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\nrate = \"10Gbps\"\ndelay = \"1us\"\nbuffer = \"{buffer}\"\n[transport]\nscheme = \"homa\"\n\
         [scheme.homa]\n{params}\n{traffic}\n[run]\nduration = \"1s\"\n"
    ))
}

fn incast(senders: u32, bytes: &str, keys: &str) -> String {
    format!(
        "[[traffic]]\nkind = \"incast\"\nsenders = {senders}\nbytes-each = \"{bytes}\"\nconnections = \"persistent\"\n{keys}\n"
    )
}

#[test]
fn rtt_bytes_of_a_round_trip_fill_a_link_and_half_of_them_leave_it_idle() {
    let lone = |bytes: &str| {
        let outcome = star("300KB", &format!("rtt-bytes = \"{bytes}\""), &incast(1, "10MB", ""));
        outcome.number("goodput_bps") / PAYLOAD
    };
    // Two cables and two packets one way, and a GRANT back: 4 us of cables, 2.5 us of packets, or 8 KB.
    assert!(lone("10KB") > 0.99, "{}", lone("10KB"));
    assert!((0.4..0.8).contains(&lone("4KB")), "{}", lone("4KB"));
}

/// A share for each would complete all at nearly the same time, and one after the other half of the last one's on average.
#[test]
fn receivers_complete_few_messages_at_once_over_a_full_link() {
    let outcome = star("1MB", "", &incast(32, "200KB", ""));
    assert_eq!(outcome.number("drops"), 0.0);
    assert!(outcome.number("goodput_bps") / PAYLOAD > 0.98);
    let part = outcome.number("fct_mean_s") / outcome.number("fct_max_s");
    assert!((0.5..0.75).contains(&part), "{part}");
    // Unscheduled bytes of all at once, and then RTTbytes of seven.
    assert!(outcome.number("queue_max_packets") < 32.0 * 7.0 + 7.0 * 7.0);
}

/// The short message's packets pass those of long ones in the port.
#[test]
fn a_short_message_takes_hardly_longer_beside_long_ones() {
    let long = incast(8, "5MB", "");
    let short = "[[traffic]]\nname = \"short\"\nkind = \"incast\"\nsenders = 1\nbytes-each = \"30KB\"\nstart = \"5ms\"\n\
                 connections = \"persistent\"\n";
    let of = |outcome: &Outcome| {
        outcome.summary["groups"].as_array().unwrap().last().unwrap()["fct_mean_s"].as_f64().unwrap()
    };
    let [alone, beside] = [short.to_owned(), format!("{long}{short}")].map(|traffic| of(&star("1MB", "", &traffic)));
    // The link of the short message's host is its own or of a long one; a packet of 1.2 us is on the wire.
    assert!(beside < alone + 30e-6, "{beside} s beside long ones, {alone} s alone");
    let shared = of(&star("1MB", "priorities = 2\novercommitment = 8", &format!("{long}{short}")));
    assert!(shared > beside, "{shared} s without priorities between them");
}

#[test]
fn what_is_lost_comes_after_the_interval_and_no_sender_times_out() {
    let outcome = star("300KB", "", &incast(64, "20KB", ""));
    assert!(outcome.number("drops") > 100.0);
    assert_eq!(outcome.number("timeouts"), 0.0);
    assert!((0.005..0.03).contains(&outcome.number("fct_max_s")), "{}", outcome.number("fct_max_s"));
}

#[test]
fn a_client_keeps_an_incast_small_that_would_overflow_its_port() {
    let asked = |threshold: u32| {
        let traffic = incast(200, "10KB", "request = \"100B\"\nrounds = 3");
        star("600KB", &format!("incast-threshold = {threshold}"), &traffic)
    };
    let (with, without) = (asked(20), asked(0));
    assert_eq!(with.number("drops"), 0.0);
    assert!(with.number("goodput_bps") / PAYLOAD > 0.95, "{}", with.number("goodput_bps"));
    assert!(without.number("drops") > 1000.0);
    assert!(without.number("goodput_bps") < 0.3 * with.number("goodput_bps"));
}

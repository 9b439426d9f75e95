//! Losses told by time in constructed runs, and what each part of it is worth.

use super::*;

const MSS: u64 = 1460;

/// Losses told by time, as Linux does.
const LINUX: [(&str, &str); 2] = [("transport.sack", "true"), ("transport.loss-detection", "linux")];

fn trial(plan: Plan, segments: u64, more: &[(&str, &str)]) -> Trial {
    Trial::new(plan, segments * MSS, 10, &[&LINUX, more].concat())
}

fn fct(trial: &Trial) -> f64 {
    trial.seconds("fct_s").expect("it completes")
}

#[test]
fn a_probe_recovers_a_lost_tail_in_some_round_trips_instead_of_a_timeout() {
    // Segment 2 is the first data: of four the last two are lost.
    let with = trial(lose([4, 5]), 4, &[]);
    let without = trial(lose([4, 5]), 4, &[("transport.tail-loss-probe", "false")]);
    assert_eq!((with.causes(), with.count("loss_probes")), ([0; 5], 1), "{}", with.trace());
    assert_eq!((without.count("timeouts"), without.count("loss_probes")), (1, 0));
    // A round trip takes 0.1 ms and the least timeout is 10 ms. Handshake, data, two round trips and 2 ms for the probe, which
    // are three ticks and the end of a fourth, its answer and what that shows to be lost.
    assert!(fct(&with) < 0.004 + 0.0005, "{}", fct(&with));
    assert!(fct(&without) > 0.010, "{}", fct(&without));
    let probe_wait = with.seconds("probe_wait_s").unwrap();
    assert!((0.003..0.004).contains(&probe_wait), "{probe_wait}");
    assert_eq!(with.seconds("timer_wait_s"), Some(0.0));
    let timer_wait = without.seconds("timer_wait_s").unwrap();
    assert!((0.011..0.012).contains(&timer_wait), "11 ticks and the end of a twelfth: {timer_wait}");
    assert_eq!((without.seconds("probe_wait_s"), with.seconds("waiting_s")), (Some(0.0), None));
}

#[test]
fn a_wait_for_one_segment_lasts_longer_by_the_largest_delay_of_an_acknowledgement() {
    let lone = trial(lose([2]), 1, &[("transport.ack-delay", "2ms"), ("transport.ack-every", "2")]);
    let (probe_wait, fct) = (lone.seconds("probe_wait_s").unwrap(), fct(&lone));
    assert!(probe_wait > 0.002 && probe_wait < fct && fct - probe_wait < 0.0005, "{probe_wait} of {fct}");
}

#[test]
fn a_lost_retransmission_is_told_by_time() {
    // The first of ten is lost, and so is its retransmission; new data follows.
    let rack = trial(lose([2, 12]), 20, &[]);
    let dup_ack = trial(lose([2, 12]), 20, &[("transport.loss-detection", "dup-ack")]);
    assert_eq!(rack.causes(), [0; 5], "{}", rack.trace());
    assert_eq!(dup_ack.causes(), [0, 0, 0, 1, 0], "{}", dup_ack.trace());
    assert!(fct(&rack) < 0.003 && fct(&dup_ack) > 0.010, "{} {}", fct(&rack), fct(&dup_ack));
}

#[test]
fn one_later_segment_is_enough() {
    let rack = trial(lose([2]), 2, &[]);
    let dup_ack = trial(lose([2]), 2, &[("transport.loss-detection", "dup-ack")]);
    assert_eq!((rack.causes(), dup_ack.causes()), ([0; 5], [0, 0, 1, 0, 0]));
}

#[test]
fn a_segment_overtaken_for_less_than_the_window_is_not_sent_again() {
    // The round trip takes about 0.125 ms: 20 us are less than a quarter of it, and two segments overtake in it.
    let plan = || Plan::from([(Nth::Segment(2), Fate::Late(Time::from_us(20)))]);
    let rack = trial(plan(), 10, &[]);
    assert_eq!((rack.count("retransmissions"), rack.count("timeouts")), (0, 0), "{}", rack.trace());
    let longer = Plan::from([(Nth::Segment(2), Fate::Late(Time::from_us(70)))]);
    assert_eq!(trial(longer, 10, &[]).count("retransmissions"), 1, "three reports end the wait");
}

#[test]
fn a_timeout_keeps_the_reports() {
    // Eight of ten are lost, and the first retransmission; the reports of two stand after the timeout.
    let plan = || lose([2, 3, 4, 5, 7, 8, 9, 10].into_iter().chain(12..17));
    let rack = trial(plan(), 10, &[("transport.tail-loss-probe", "false")]);
    assert!(rack.count("timeouts") >= 1, "{}", rack.trace());
    let reported = ["5841:7301", "13141:14601F"];
    for segment in reported {
        assert_eq!(rack.trace.iter().filter(|sent| sent.ends_with(segment)).count(), 1, "{}", rack.trace());
    }
}

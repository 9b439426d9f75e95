//! The five causes of timeouts, each constructed.

use super::*;

const MSS: u64 = 1460;

#[test]
fn without_losses_there_is_no_timeout() {
    let trial = Trial::new(Plan::new(), 4 * MSS, 4, &[]);
    assert_eq!(trial.causes(), [0; 5]);
    assert_eq!(trial.count("retransmissions"), 0);
}

#[test]
fn a_lost_syn() {
    let trial = Trial::new(lose([0]), 3 * MSS, 4, &[]);
    assert_eq!(trial.causes(), [1, 0, 0, 0, 0]);
    let trace = "x0:0S 0:0S a1S 1:1 1:1461 a1461 1461:2921 2921:4381F";
    assert!(trial.trace().starts_with(trace), "one segment at first (RFC 5681 section 3.1): {}", trial.trace());
}

#[test]
fn a_lost_syn_ack() {
    let trial = Trial::new(Plan::from([(Nth::Ack(0), Fate::Lost)]), 3 * MSS, 4, &[]);
    assert_eq!(trial.causes(), [1, 0, 0, 0, 0]);
    let trace = "0:0S xa1S 0:0S a1S 1:1 1:1461 a1461 1461:2921 2921:4381F";
    assert!(trial.trace().starts_with(trace), "{}", trial.trace());
}

#[test]
fn a_lost_window() {
    for bytes in [4 * MSS, 4 * MSS - 1, 3 * MSS + 1] {
        let trial = Trial::new(lose(2..=5), bytes, 4, &[]);
        assert_eq!(trial.causes(), [0, 1, 0, 0, 0], "{bytes} bytes");
    }
    let trial = Trial::new(lose([2]), 1, 4, &[]);
    assert_eq!(trial.causes(), [0, 1, 0, 0, 0], "a window of one segment");
}

#[test]
fn three_duplicates_prevent_a_timeout_and_two_do_not() {
    let trial = Trial::new(lose([2]), 4 * MSS, 4, &[]);
    assert_eq!((trial.causes(), trial.count("retransmissions")), ([0; 5], 1));
    let trial = Trial::new(lose([3]), 4 * MSS, 4, &[]);
    assert_eq!(trial.causes(), [0, 0, 1, 0, 0]);
    let trial = Trial::new(lose([3, 4]), 4 * MSS, 4, &[]);
    assert_eq!(trial.causes(), [0, 0, 1, 0, 0], "one of three arrived");
}

#[test]
fn a_lost_tail() {
    let trial = Trial::new(lose([5]), 4 * MSS, 4, &[]);
    assert_eq!(trial.causes(), [0, 0, 1, 0, 0], "the rest of the window arrived");
}

#[test]
fn a_lost_retransmission() {
    let trial = Trial::new(lose([2, 12]), 10 * MSS, 10, &[]);
    assert_eq!(trial.causes(), [0, 0, 0, 1, 0]);
    assert!(trial.trace().contains("x1:1461 a1"), "{}", trial.trace());
    let trial = Trial::new(lose([2, 3]), MSS, 10, &[]);
    assert_eq!(trial.causes(), [0, 1, 0, 1, 0], "sent again after a timeout");
}

#[test]
fn a_late_segment() {
    let plan = Plan::from([(Nth::Segment(2), Fate::Late(Time::from_ms(15)))]);
    let trial = Trial::new(plan.clone(), MSS, 4, &[]);
    assert_eq!(trial.causes(), [0, 0, 0, 0, 1]);
    let plan = plan.into_iter().chain(lose([1])).collect();
    let trial = Trial::new(plan, MSS, 4, &[]);
    assert_eq!(trial.causes(), [0, 0, 0, 0, 1], "the handshake's last packet has the same number and carries nothing");
}

#[test]
fn a_lost_acknowledgement() {
    let trial = Trial::new(Plan::from([(Nth::Ack(1), Fate::Lost)]), 3 * MSS, 1, &[]);
    assert_eq!(trial.causes(), [0, 0, 0, 0, 1]);
    let plan = [(Nth::Ack(1), Fate::Lost), (Nth::Segment(3), Fate::Lost)].into();
    let trial = Trial::new(plan, 3 * MSS, 1, &[]);
    assert_eq!(trial.causes(), [0, 0, 0, 0, 2], "what is lost of the retransmission had arrived before");
}

#[test]
fn the_backoff_ends_with_a_sample_or_with_any_new_acknowledgement() {
    // The window of one segment is lost twice; then the second segment is lost, with the timer at 40 ms or 10 ms.
    let time = |keys: &[(&str, &str)]| {
        let trial = Trial::new(lose([2, 3, 5, 6]), 3 * MSS, 1, keys);
        assert_eq!(trial.count("timeouts"), 3, "{}", trial.trace());
        match &trial.outcome.table("flows").unwrap().column("fct_s").unwrap().data {
            Data::OptF64(values) => values[0].expect("it completes"),
            other => panic!("{other:?}"),
        }
    };
    let sample = time(&[("transport.rto-backoff-reset", "sample")]);
    assert!((sample - 0.070).abs() < 0.001, "10 + 20 + 40 ms: {sample}");
    // RFC 7323 section 4.1: hosts use time stamps, so the ACK of a retransmission is a sample.
    let by_default = time(&[]);
    assert!((by_default - 0.040).abs() < 0.001, "10 + 20 + 10 ms: {by_default}");
}

#[test]
fn waits_are_those_of_the_timers_that_expired_and_of_the_one_that_runs_at_the_end() {
    // The SYN is lost twice: 20 and 40 ms.
    assert_eq!(Trial::new(lose([0, 1]), 10 * MSS, 10, &[]).seconds("timer_wait_s"), Some(0.06));
    // The only segment is lost, and so are its retransmissions after 10 and 30 ms: the third timer runs for 40 ms.
    let lost = || lose([2, 3, 4]);
    let whole = Trial::new(lost(), MSS, 10, &[]);
    assert_eq!((whole.seconds("timer_wait_s"), whole.seconds("waiting_s")), (Some(0.07), None));
    let cut = Trial::new(lost(), MSS, 10, &[("run.duration", "50ms")]);
    assert_eq!(cut.seconds("timer_wait_s"), Some(0.03));
    let waiting = cut.seconds("waiting_s").unwrap();
    assert!((0.0195..0.02).contains(&waiting), "{waiting}");
}

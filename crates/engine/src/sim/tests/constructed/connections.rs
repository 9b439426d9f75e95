//! How connections end, and streams longer than the sequence space.

use super::*;

const MSS: u64 = 1460;

#[test]
fn both_ends_close() {
    let trial = Trial::new(Plan::new(), 2 * MSS, 4, &[]);
    assert_eq!(trial.trace(), "0:0S a1S 1:1 1:1461 1461:2921F a1461 a2922F 2922:2922");
}

#[test]
fn a_lost_fin_is_sent_again_with_its_data() {
    let trial = Trial::new(lose([3]), 2 * MSS, 4, &[]);
    assert_eq!(trial.trace(), "0:0S a1S 1:1 1:1461 x1461:2921F a1461 1461:2921F a2922F 2922:2922");
    assert_eq!(trial.count("timeouts"), 1);
}

#[test]
fn a_lost_fin_is_recovered_by_duplicates_of_what_was_sent_with_it() {
    let trial = Trial::new(lose([5]), 7 * MSS, 7, &[]);
    assert_eq!(trial.count("timeouts"), 0);
    assert!(trial.trace().ends_with("4381:5841 a10222F 10222:10222"), "{}", trial.trace());
}

#[test]
fn a_lost_acknowledgement_of_the_fin_is_asked_for_again() {
    let trial = Trial::new(Plan::from([(Nth::Ack(2), Fate::Lost)]), 2 * MSS, 4, &[]);
    assert_eq!(trial.trace(), "0:0S a1S 1:1 1:1461 1461:2921F a1461 xa2922F 1461:2921F a2922F 2922:2922");
    assert_eq!(trial.outcome.number("timeouts"), 0.0, "the transfer was complete by then");
}

#[test]
fn a_connection_may_be_closed_by_its_last_packet_getting_lost() {
    let trial = Trial::new(lose([4]), 2 * MSS, 4, &[]);
    assert!(trial.trace().ends_with("a2922F x2922:2922"), "{}", trial.trace());
}

#[test]
fn streams_run_across_the_wrap_of_wire_numbers_and_recover_there() {
    let network = [("network.rate", "100Gbps"), ("transport.mss", "8960B"), ("network.buffer", "1000pkt")];
    // Segment 2 begins at 1, so this one is a little beyond 2^32.
    let beyond = (1_usize << 32) / 8960 + 4;
    let trial = Trial::new(lose([beyond, beyond + 20]), (1 << 32) + 3_000_000, 7, &network);
    assert_eq!((trial.count("timeouts"), trial.count("retransmissions")), (0, 2));
    let flows = trial.outcome.table("flows").expect("a table of flows");
    let Data::Bool(failed) = &flows.column("failed").expect("a column").data else { panic!("a flag") };
    assert_eq!((failed.as_slice(), trial.outcome.number("completed")), ([false; 2].as_slice(), 2.0));
}

//! Linux 3.16: tail loss probes, early retransmit and forward acknowledgement beside RFC 6675.

use super::*;
use crate::sender::BeforeRack;

const PROBING: SenderConfig = SenderConfig {
    before_rack: Some(BeforeRack { tail_loss_probe: true }),
    rto: RtoConfig { bounds_variation: true, ..CFG.rto },
    ..SACK
};

/// The last segments of ten are outstanding, after 10 ms and a round trip of 10 ms. The timer has 210 ms.
fn tail(left: u64, cfg: &SenderConfig) -> Bench {
    let mut bench = Bench::closed(cfg.clone(), Some(1000), false);
    bench.adopt();
    bench.rtt = Some(ms(10));
    bench.wait(ms(10));
    bench.ack(1001 - 100 * left);
    bench.sent();
    bench
}

#[test]
fn a_probe_sends_the_last_segment_again_after_two_round_trips() {
    let mut bench = tail(3, &PROBING);
    assert_eq!((bench.expire_timer(), bench.now), (TimerOutcome::LossProbe, ms(30)));
    bench.expect("901:1001R");
    assert_eq!((bench.expire_timer(), bench.now), (TimerOutcome::Timeout, ms(240)), "once, and the timer starts anew");
    bench.expect("701:801R");
    let off = SenderConfig { before_rack: Some(BeforeRack { tail_loss_probe: false }), ..PROBING };
    let mut bench = tail(3, &off);
    assert_eq!((bench.expire_timer(), bench.now), (TimerOutcome::Timeout, ms(220)));
}

#[test]
fn a_probe_waits_for_ten_milliseconds_at_least() {
    let mut bench = Bench::closed(PROBING, Some(1000), false);
    bench.adopt();
    bench.rtt = Some(ms(1));
    bench.wait(ms(1));
    bench.ack(701);
    assert_eq!((bench.expire_timer(), bench.now), (TimerOutcome::LossProbe, ms(11)));
}

#[test]
fn the_probe_of_a_lone_segment_takes_the_place_of_the_timeout() {
    let mut bench = tail(1, &PROBING);
    assert_eq!((bench.expire_timer(), bench.now), (TimerOutcome::LossProbe, ms(220)), "215 ms are more than 210");
    bench.expect("901:1001R");
}

#[test]
fn a_probe_is_new_data_if_the_congestion_window_limits_and_none_if_the_receiver_does() {
    let mut bench = Bench::open(PROBING);
    bench.rtt = Some(ms(10));
    bench.wait(ms(10));
    bench.ack(101);
    bench.expect("1001:1101 1101:1201");
    assert_eq!((bench.expire_timer(), bench.now), (TimerOutcome::LossProbe, ms(30)));
    bench.expect("1201:1301");
    let mut bench = Bench::open(PROBING);
    (bench.rtt, bench.window) = (Some(ms(10)), 500);
    bench.wait(ms(10));
    bench.ack(601); // 400 bytes are left, for which 1100 of the congestion window and 500 of the receiver's are enough
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
}

#[test]
fn there_is_no_probe_where_the_receiver_has_reported() {
    let mut bench = tail(4, &PROBING);
    bench.sack(&[(701, 801)]);
    assert_eq!((bench.expire_timer(), bench.now), (TimerOutcome::Timeout, ms(220)));
}

#[test]
fn the_window_pays_for_a_loss_that_a_probe_has_repaired() {
    for (needless, threshold) in [(false, 200.0), (true, 1_000_000.0)] {
        let mut bench = tail(3, &PROBING);
        bench.expire_timer();
        bench.ack(1001);
        if needless {
            bench.ack(1001); // The probe's own: nothing was lost.
        }
        bench.sender.push_data(Some(300), false);
        bench.sender.on_data_ready(&mut Env { now: bench.now, cfg: &bench.cfg, io: &mut bench.wire });
        bench.ack(1101);
        bench.expect_ssthresh(threshold);
    }
}

#[test]
fn an_early_retransmit_waits_for_a_quarter_of_a_round_trip() {
    let mut bench = tail(3, &PROBING);
    bench.sack(&[(801, 901)]);
    bench.expect_nothing();
    assert_eq!((bench.expire_timer(), bench.now), (TimerOutcome::Reordering, ms(12) + Time::from_us(500)));
    bench.expect("701:801R");
    assert!(bench.sender.in_recovery());
    let mut bench = tail(3, &SenderConfig { before_rack: None, ..PROBING });
    bench.sack(&[(801, 901)]);
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout, "not by the RFCs");
}

#[test]
fn an_early_retransmit_with_an_echo_waits_for_nothing_and_an_acknowledgement_ends_the_wait() {
    let mut bench = tail(3, &PROBING);
    bench.receive(701, Flags::ECE, &[(801, 901)]);
    bench.expect("701:801R");
    let mut bench = tail(3, &PROBING);
    bench.sack(&[(801, 901)]);
    bench.ack(901);
    assert_eq!(bench.expire_timer(), TimerOutcome::LossProbe);
    bench.expect("901:1001R");
}

#[test]
fn by_forward_acknowledgement_the_answer_to_a_probe_starts_recovery() {
    let mut bench = tail(9, &PROBING);
    bench.expire_timer();
    bench.sent();
    bench.sack(&[(901, 1001)]);
    bench.expect("101:201R 201:301R");
    let mut bench = tail(9, &SenderConfig { before_rack: None, ..PROBING });
    bench.sack(&[(901, 1001)]);
    bench.expect_nothing();
}

#[test]
fn a_recovery_rescues_no_tail() {
    for (before_rack, sent) in [(PROBING.before_rack, "301:401R"), (None, "301:401R 901:1001R")] {
        let mut bench = tail(7, &SenderConfig { before_rack, ..PROBING });
        bench.sack(&[(401, 901)]);
        bench.expect(sent);
    }
}

#[test]
fn after_a_timeout_what_was_reported_before_is_neither_sent_again_nor_in_flight() {
    for (before_rack, sent) in [(PROBING.before_rack, "601:701R 801:901R"), (None, "601:701R 701:801R")] {
        let mut bench = tail(5, &SenderConfig { before_rack, ..PROBING });
        bench.sack(&[(701, 801)]);
        assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
        bench.expect("501:601R");
        bench.ack(601);
        bench.expect(sent);
    }
}

#[test]
fn a_reduction_is_undone_once_all_that_was_sent_again_is_reported_as_needless() {
    let reduced = || {
        let mut bench = Bench::open(PROBING);
        bench.sack(&[(301, 601)]);
        bench.sack(&[(301, 801)]);
        bench.expect("1:101R 101:201R 201:301R");
        bench.ack(1001);
        bench.sent();
        bench.duplicate((1, 101), &[]);
        bench.duplicate((101, 201), &[]);
        bench.expect_ssthresh(500.0);
        bench
    };
    let mut bench = reduced();
    bench.duplicate((201, 301), &[]);
    bench.expect_ssthresh(1_000_000.0);
    assert!(bench.sender.window().cwnd >= 1000.0);
    let mut bench = reduced();
    bench.receive(1001, Flags::ECE, &[]);
    bench.duplicate((201, 301), &[]);
    bench.expect_ssthresh(500.0);
    let mut bench = reduced();
    bench.duplicate((2001, 2101), &[]);
    bench.expect_ssthresh(500.0);
}

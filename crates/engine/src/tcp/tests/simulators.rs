//! Where the TCP of ns-3, or that of RCC's authors in ns-3.18, departs from the RFCs: each rule behind its own switch.

use super::*;

const SACK: SenderConfig = SenderConfig { sack: true, ..CFG };

/// Ten segments in flight, the first lost and sent again; `recover` is 1001.
fn recovering(cfg: &SenderConfig) -> Bench {
    let mut bench = Bench::flying(10, cfg);
    bench.dup_acks(3);
    bench.expect("1:101R");
    bench
}

#[test]
fn rfc6582_s3_2_option_2_leaves_the_threshold_after_recovery_and_ns3_grows_it() {
    let mut bench = recovering(&SenderConfig { full_ack: FullAck::Threshold, ..CFG });
    bench.ack(901); // one segment is left, which bounds the window by option 1
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench.expect_cwnd(500.0 + 100.0 * 100.0 / 500.0);
}

#[test]
fn ns3_grows_the_window_when_recovery_with_sack_ends() {
    for (full_ack, cwnd) in [(FullAck::FlightBefore, 500.0), (FullAck::Threshold, 520.0)] {
        let mut bench = Bench::flying(10, &SenderConfig { full_ack, ..SACK });
        bench.sack(&[(101, 401)]);
        bench.ack(1001);
        assert!(!bench.sender.in_recovery());
        bench.expect_cwnd(cwnd);
    }
}

/// What three duplicates of `ack` send again after a timeout with ten segments in flight.
fn after_timeout(recover_check: RecoverCheck, ack: u64) -> String {
    let mut bench = Bench::flying(10, &SenderConfig { recover_check, ..CFG });
    bench.expire_timer();
    bench.ack(ack);
    bench.sent();
    bench.dup_acks(3);
    bench.sent()
}

#[test]
fn three_duplicates_after_a_timeout_count_beyond_recover_or_at_it_or_always() {
    use RecoverCheck::{Beyond, Off, Reached};
    for (check, below, at) in [(Beyond, false, false), (Reached, false, true), (Off, true, true)] {
        assert_eq!(after_timeout(check, 101).starts_with("101:201R"), below, "{check:?}");
        assert_eq!(after_timeout(check, 1001).starts_with("1001:1101R"), at, "{check:?}");
    }
}

#[test]
fn ns3_halves_what_it_thinks_is_in_the_network() {
    for (loss_flight, ssthresh) in [(LossFlight::Sent, 500.0), (LossFlight::Pipe, 450.0)] {
        let bench = recovering(&SenderConfig { loss_flight, ..CFG });
        bench.expect_ssthresh(ssthresh); // one segment has caused the third duplicate
    }
    for (loss_flight, ssthresh) in [(LossFlight::Sent, 500.0), (LossFlight::Pipe, 250.0)] {
        let mut bench = Bench::flying(10, &SenderConfig { loss_flight, ..SACK });
        bench.sack(&[(201, 501)]);
        bench.expect_ssthresh(ssthresh); // two segments are deemed lost and three have arrived
    }
}

#[test]
fn limited_transmit_counts_what_its_duplicates_say_has_left() {
    let cfg = SenderConfig { limited_transmit: true, loss_flight: LossFlight::Pipe, ..CFG };
    let mut bench = Bench::flying(10, &cfg);
    bench.dup_acks(3);
    bench.expect("1001:1101 1101:1201 1:101R");
    bench.expect_ssthresh(450.0); // twelve are out, three have left
}

#[test]
fn ns3_halves_at_a_timeout_what_recovery_has_left_in_the_network() {
    for (loss_flight, ssthresh) in [(LossFlight::Sent, 500.0), (LossFlight::Pipe, 300.0)] {
        let mut bench = recovering(&SenderConfig { loss_flight, initial_window: 1000, ..CFG });
        bench.window = 1000; // nothing new may leave; the first is an update of the window
        bench.dup_acks(4);
        bench.expire_timer();
        bench.expect_ssthresh(ssthresh); // four of ten are known to have arrived
    }
}

#[test]
fn a_further_timeout_holds_the_threshold_or_halves_what_was_sent_or_the_highest() {
    let threshold = |loss_flight, halves_every_timeout| {
        let mut bench = Bench::flying(10, &SenderConfig { loss_flight, halves_every_timeout, ..CFG });
        bench.expire_timer();
        bench.expire_timer();
        bench.sender.window().ssthresh
    };
    assert_eq!(threshold(LossFlight::Sent, false), 500.0, "RFC 5681 s3.1");
    assert_eq!(threshold(LossFlight::Sent, true), 200.0, "one segment was sent since");
    assert_eq!(threshold(LossFlight::Highest, true), 500.0, "ten were sent before");
}

#[test]
fn reports_kept_over_a_timeout_are_not_sent_again() {
    for (keeps_reports, next) in [(false, "301:401R 401:501R"), (true, "501:601R 601:701R")] {
        let mut bench = Bench::flying(10, &SenderConfig { keeps_reports, ..SACK });
        bench.sack(&[(301, 401)]);
        bench.sack(&[(301, 501)]);
        bench.expire_timer();
        bench.ack(101);
        bench.expect("1:101R 101:201R 201:301R");
        bench.ack(201);
        bench.expect(next);
        assert!(!bench.sender.in_recovery());
    }
}

#[test]
fn with_reports_kept_new_data_follow_what_is_missing() {
    let mut bench = Bench::flying(4, &SenderConfig { keeps_reports: true, ..SACK });
    bench.sack(&[(301, 401)]);
    bench.expire_timer();
    bench.expect("1:101R");
    bench.ack(201);
    bench.expect("201:301R 401:501"); // what is reported is not in flight
}

/// When the timer expires after recovery with SACK began at 100 ms and moved on at 200 and 300 ms.
fn sack_timer(sack_impatient: bool) -> Time {
    let mut bench = Bench::flying(10, &SenderConfig { sack_impatient, ..SACK });
    bench.wait(ms(100));
    bench.sack(&[(401, 701)]);
    for ack in [101, 201] {
        bench.wait(ms(100));
        bench.ack(ack);
    }
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.now
}

#[test]
fn in_recovery_with_sack_every_acknowledgement_restarts_the_timer_or_the_first() {
    assert_eq!(sack_timer(false), ms(1300));
    assert_eq!(sack_timer(true), ms(1200));
}

#[test]
fn ns3_begins_recovery_with_sack_on_the_timer_that_runs() {
    for (sack_impatient, expiry) in [(false, 1100), (true, 1000)] {
        let mut bench = Bench::flying(10, &SenderConfig { sack_impatient, ..SACK });
        bench.wait(ms(100));
        bench.sack(&[(401, 701)]);
        bench.expire_timer();
        assert_eq!(bench.now, ms(expiry));
    }
}

#[test]
fn a_window_of_32_bits_wraps_below_zero_and_back() {
    let mut bench = recovering(&SenderConfig { window_wraps: true, ..CFG });
    bench.window = 3000;
    bench.ack(951); // 800 - 950 + 100
    bench.expect_cwnd(4_294_967_296.0 - 50.0);
    assert!(bench.sent().ends_with("3801:3901"), "only the peer's window limits the sender");
    bench.dup_acks(1);
    bench.expect_cwnd(50.0);
}

#[test]
fn a_window_that_wraps_may_be_zero_until_the_next_duplicate() {
    let mut bench = recovering(&SenderConfig { window_wraps: true, ..CFG });
    bench.window = 3000;
    bench.ack(901); // 800 - 900 + 100
    bench.expect_cwnd(0.0);
    assert!(bench.sent().ends_with('R'), "nothing but the next hole is sent");
    bench.dup_acks(1);
    bench.expect_cwnd(100.0);
}

#[test]
fn windows_of_whole_bytes_lose_what_is_left_of_one() {
    for (whole_bytes, cwnd) in [(false, 300.0 + 100.0 * 100.0 / 300.0), (true, 333.0)] {
        let cfg = SenderConfig { initial_window: 300, initial_ssthresh: 300, whole_bytes, ..CFG };
        let mut bench = Bench::open(cfg);
        bench.ack(101); // congestion avoidance: 33.3 bytes
        bench.expect_cwnd(cwnd);
    }
}

#[test]
fn an_acknowledgement_may_time_another_segment_than_the_one_that_caused_it() {
    let rtt = |rtt_of| {
        let mut bench = Bench::open(SenderConfig { initial_window: 100, rtt_of, ..CFG });
        bench.wait(ms(10));
        bench.ack(101); // leaves 101:201 and 201:301
        bench.wait(ms(10));
        bench.rtt = Some(ms(3));
        bench.ack(301);
        bench.sender.srtt()
    };
    assert_eq!(rtt(RttOf::Cause), Some(ms(3)));
    assert_eq!(rtt(RttOf::Oldest), Some(ms(10)));
}

#[test]
fn ns3_times_whole_milliseconds_and_waits_the_initial_timeout_until_there_is_one() {
    let timeout = |clock, rtt_us| {
        let rto = RtoConfig { minimum: Time::from_us(200), clock, ..CFG.rto };
        let mut bench = Bench::open(SenderConfig { rto, ..CFG });
        bench.wait(Time::from_us(10_900));
        bench.rtt = Some(Time::from_us(rtt_us));
        bench.ack(101);
        (bench.sender.srtt(), bench.sender.rto(&SenderConfig { rto, ..CFG }))
    };
    assert_eq!(timeout(Time::ZERO, 800), (Some(Time::from_us(800)), Time::from_us(2400)));
    assert_eq!(timeout(ms(1), 800), (None, CFG.rto.initial), "from 10.1 to 10.9 ms no tick falls");
    assert_eq!(timeout(ms(1), 1000), (Some(ms(1)), ms(3)), "the tick at 10 ms");
}

#[test]
fn karn_by_segment_times_nothing_that_was_ever_sent_again() {
    for (rtt_of, first) in [(RttOf::Oldest, None), (RttOf::NewestClean, None), (RttOf::Cause, Some(ms(5)))] {
        let mut bench = Bench::flying(10, &SenderConfig { rtt_of, ..CFG });
        bench.expire_timer();
        bench.rtt = Some(ms(5)); // of the first transmission, which arrives after all
        bench.ack(101);
        assert_eq!(bench.sender.srtt(), first, "{rtt_of:?}");
    }
}

#[test]
fn recovery_starts_with_the_retransmission_alone_or_with_what_the_window_allows() {
    for (quiet_start, sent) in [(false, "1:101R 401:501"), (true, "1:101R")] {
        let mut bench = Bench::flying(4, &SenderConfig { quiet_start, ..CFG });
        bench.dup_acks(3); // the window is 200 + 300
        bench.expect(sent);
    }
    let mut bench = Bench::flying(4, &SenderConfig { quiet_start: true, ..CFG });
    bench.dup_acks(4);
    bench.expect("1:101R 401:501 501:601");
}

/// Ten segments in flight, the first lost and sent again, and a threshold of four and a half segments: ns-3 counts one of the
/// three duplicates, as none of them has let a segment out.
fn guessing(emulates_sack: bool) -> Bench {
    recovering(&SenderConfig {
        emulates_sack,
        full_ack: FullAck::Threshold,
        recover_check: RecoverCheck::Reached,
        loss_flight: LossFlight::Pipe,
        ..CFG
    })
}

#[test]
fn duplicates_inflate_the_window_by_no_more_than_what_is_outstanding() {
    let mut bench = guessing(true);
    bench.expect_cwnd(450.0 + 100.0);
    bench.window = 1000; // nothing new may leave
    bench.dup_acks(20);
    bench.expect_cwnd(450.0 + 900.0); // all but the first
}

/// Recovery has ended, with duplicates left over: the eleventh segment is missing, and the three after it have arrived.
fn after_guesses(emulates_sack: bool) -> Bench {
    let mut bench = guessing(emulates_sack);
    bench.dup_acks(9);
    bench.sent();
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench
}

#[test]
fn left_over_duplicates_tell_after_recovery_that_the_first_segment_is_lost() {
    assert!(!after_guesses(false).sent().contains('R'));
    after_guesses(true).expect("1001:1101R 1401:1501");
}

#[test]
fn what_left_over_duplicates_stand_for_is_not_in_flight() {
    let bench = after_guesses(true);
    assert_eq!(bench.sender.in_flight(), 500, "the window of 472 bytes, and one segment that has left");
}

#[test]
fn the_next_duplicate_then_starts_recovery() {
    for (emulates_sack, starts) in [(false, false), (true, true)] {
        let mut bench = after_guesses(emulates_sack);
        bench.sent();
        bench.dup_acks(1);
        assert_eq!(bench.sender.in_recovery(), starts);
        assert_eq!(bench.sent().starts_with("1001:1101R"), starts);
    }
}

#[test]
fn limited_transmit_by_guesses_sends_one_segment_for_each_of_two_duplicates() {
    let cfg = SenderConfig { limited_transmit: true, emulates_sack: true, loss_flight: LossFlight::Pipe, ..CFG };
    let mut bench = Bench::flying(10, &cfg);
    bench.dup_acks(3);
    bench.expect("1001:1101 1101:1201 1:101R");
    bench.expect_cwnd(450.0 + 300.0);
}

/// As [`SACK`], but with ns-3's marks.
const MARKS: SenderConfig = SenderConfig { marks: true, ..SACK };

#[test]
fn a_segment_sent_again_and_reported_since_counts_until_it_is_acknowledged() {
    for (cfg, sent) in [(&SACK, "1201:1301 1301:1401"), (&MARKS, "1201:1301")] {
        let mut bench = Bench::flying(12, cfg);
        bench.window = 1200; // nothing new before recovery
        bench.sack(&[(101, 201)]);
        bench.sack(&[(101, 201), (301, 501)]); // 1 and 201 are lost; the window is 600
        bench.sack(&[(101, 201), (301, 801)]);
        bench.expect("1:101R 201:301R");
        bench.window = WIDE;
        bench.sack(&[(101, 801)]); // 201 has arrived
        bench.sack(&[(101, 901)]);
        bench.expect(sent);
    }
}

#[test]
fn with_marks_what_is_reported_makes_room_outside_recovery_too() {
    for (cfg, sent) in [(&SACK, ""), (&MARKS, "1001:1101 1101:1201")] {
        let mut bench = Bench::flying(10, cfg);
        bench.sack(&[(201, 301)]);
        bench.sack(&[(201, 401)]);
        assert!(!bench.sender.in_recovery());
        bench.expect(sent);
    }
}

#[test]
fn with_marks_what_was_lost_of_new_data_is_sent_again_after_recovery() {
    let mut bench = Bench::flying(6, &MARKS);
    bench.sack(&[(101, 401)]);
    bench.sack(&[(101, 601)]);
    bench.sent();
    bench.receive(101, Flags::NONE, &[(101, 601), (701, 1001)]);
    let sent = bench.sent();
    bench.receive(601, Flags::NONE, &[(701, 1001)]);
    assert!(!bench.sender.in_recovery());
    assert!((sent + &bench.sent()).contains("601:701R"), "lost when three above it were reported");
}

#[test]
fn with_marks_new_data_go_before_what_is_lost_above_the_highest_report() {
    let mut bench = Bench::flying(6, &SenderConfig { keeps_reports: true, ..MARKS });
    bench.window = 600;
    bench.sack(&[(201, 301)]);
    bench.expire_timer();
    bench.window = WIDE;
    bench.ack(101);
    bench.expect("1:101R 101:201R 601:701"); // 301 to 600 are lost as well
    bench.ack(301);
    assert!(bench.sent().starts_with("301:401R 401:501R"), "nothing is reported above now");
}

#[test]
fn the_end_of_a_timeout_s_repair_grows_the_window_or_does_not() {
    for (growth_after_repair, ack, cwnd) in [(true, 1001, 300.0), (false, 1001, 200.0), (false, 1101, 300.0)] {
        let mut bench = Bench::flying(10, &SenderConfig { growth_after_repair, ..CFG });
        bench.expire_timer();
        bench.ack(901);
        bench.expect_cwnd(200.0);
        bench.ack(ack);
        bench.expect_cwnd(cwnd);
        bench.ack(1201);
        bench.expect_cwnd(cwnd + 100.0);
    }
}

#[test]
fn a_partial_acknowledgement_with_sack_sends_what_the_pipe_allows_or_one_more() {
    for (one_more, sent) in [(false, ""), (true, "101:201R")] {
        let mut bench = Bench::flying(20, &SenderConfig { one_more, ..SACK });
        bench.sack(&[(201, 501)]);
        bench.expect("1:101R"); // sixteen are in flight, the window is ten
        bench.ack(101);
        bench.expect(sent);
    }
}

/// Ten segments in flight with ECN and SACK, of which the first is lost and sent again.
fn recovering_with_ecn(echo_replaces: bool) -> Bench {
    let cfg = SenderConfig { echo_replaces, growth_after_echo: false, initial_ssthresh: 1000, ..MARKS };
    let mut bench = Bench::with(cfg, Box::new(NewReno), EcnMode::Classic, None, false);
    bench.adopt();
    bench.sack(&[(201, 501)]);
    bench.sent();
    bench
}

#[test]
fn an_echo_in_recovery_is_ignored_or_takes_its_place() {
    let mut bench = recovering_with_ecn(false);
    let threshold = bench.sender.window().ssthresh;
    bench.receive(101, Flags::ECE, &[(201, 501)]);
    assert!(bench.sender.in_recovery());
    bench.expect_ssthresh(threshold);

    let mut bench = recovering_with_ecn(true);
    bench.receive(101, Flags::ECE, &[(201, 501)]);
    assert!(!bench.sender.in_recovery());
    assert!(bench.sender.window().ssthresh < threshold);
    let cwnd = bench.sender.window().cwnd;
    let sent = bench.sender.max_sent();
    bench.receive(101, Flags::NONE, &[(201, sent)]);
    assert!(!bench.sender.in_recovery(), "reports start no recovery before the end of what was sent");
    bench.receive(sent, Flags::NONE, &[]);
    bench.expect_cwnd(cwnd);
    bench.receive(bench.sender.max_sent(), Flags::NONE, &[]);
    assert!(bench.sender.window().cwnd > cwnd);
}

#[test]
fn an_echo_while_a_timeout_is_repaired_is_ignored_or_answered() {
    for (echo_replaces, cwnd) in [(false, 100.0), (true, 200.0)] {
        let cfg = SenderConfig { echo_replaces, initial_ssthresh: 1000, ..CFG };
        let mut bench =
            Bench::with(cfg, Box::new(crate::schemes::Dctcp::new(0.0, 0.0, 200.0)), EcnMode::Accurate, None, false);
        bench.adopt();
        bench.expire_timer();
        bench.receive(101, Flags::ECE, &[]);
        bench.expect_cwnd(cwnd); // DCTCP's least window
    }
}

//! Where the TCP of ns-3 departs from the RFCs, without SACK.

use super::*;

const NS3: SenderConfig = SenderConfig { quirks: Quirks::NS3_44, ..CFG };
const NS3_36: SenderConfig = SenderConfig { quirks: Quirks::NS3_36, ..CFG };
const NS3_31: SenderConfig = SenderConfig { quirks: Quirks::NS3_31, ..CFG };

#[test]
fn rfc6582_s3_2_option_2_leaves_the_threshold_after_recovery_and_ns3_grows_it() {
    // 450 + 100 * 100 / 450; option 1 would leave 400
    for (cfg, cwnd) in [(&NS3, 472.0), (&NS3_36, 472.0), (&NS3_31, 450.0)] {
        let mut bench = recovering(cfg);
        bench.ack(901); // lets three new segments out
        bench.ack(1001);
        assert!(!bench.sender.in_recovery());
        bench.expect_cwnd(cwnd);
    }
}

#[test]
fn three_duplicates_after_a_timeout_count_beyond_recover_or_at_it() {
    for (cfg, at) in [(&CFG, false), (&NS3, true)] {
        assert!(!sent_after_timeout(cfg, 101).starts_with("101:201R"));
        assert_eq!(sent_after_timeout(cfg, 1001).starts_with("1001:1101R"), at);
    }
}

#[test]
fn a_loss_halves_what_is_thought_to_be_in_the_network() {
    for (cfg, ssthresh) in [(&CFG, 500.0), (&NS3, 450.0)] {
        recovering(cfg).expect_ssthresh(ssthresh); // one segment has caused the third duplicate
    }
}

#[test]
fn limited_transmit_sends_one_segment_for_each_of_two_duplicates_and_counts_what_has_left() {
    let mut bench = Bench::flying(10, &SenderConfig { limited_transmit: true, ..NS3 });
    bench.dup_acks(3);
    bench.expect("1001:1101 1101:1201 1:101R");
    bench.expect_ssthresh(450.0); // twelve are out, three have left
    bench.expect_cwnd(450.0 + 300.0);
}

#[test]
fn a_timeout_halves_what_recovery_has_left_in_the_network() {
    for (cfg, ssthresh) in [(&CFG, 500.0), (&NS3, 300.0)] {
        let mut bench = recovering(cfg);
        bench.window = 1000; // nothing new may leave; the first is an update of the window
        bench.dup_acks(4);
        bench.expire_timer();
        bench.expect_ssthresh(ssthresh); // four of ten are known to have arrived
    }
}

#[test]
fn a_further_timeout_halves_what_was_sent_since() {
    assert_eq!(threshold_after_two_timeouts(&NS3), 200.0, "one segment");
}

#[test]
fn an_acknowledgement_times_the_oldest_segment_that_it_covers() {
    assert_eq!(rtt_of_two(&CFG), Some(ms(3)));
    for cfg in [&NS3, &NS3_36, &NS3_31] {
        assert_eq!(rtt_of_two(cfg), Some(ms(10)));
        assert_eq!(rtt_after_timeout(cfg), None, "nothing that was ever sent again");
    }
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
fn with_time_stamps_a_retransmission_is_timed_from_3_44_on() {
    for (cfg, timed) in [(&NS3, Some(ms(5))), (&NS3_36, None), (&NS3_31, None)] {
        let rto = RtoConfig { clock: ms(1), ..CFG.rto };
        let mut bench = recovering(&SenderConfig { rto, ..cfg.clone() });
        bench.wait(ms(5));
        bench.rtt = Some(ms(5));
        bench.ack(901);
        assert_eq!(bench.sender.srtt(), timed);
    }
}

#[test]
fn duplicates_inflate_the_window_by_no_more_than_what_is_outstanding() {
    let mut bench = recovering(&NS3);
    // One of the three counts, as none of them has let a segment out.
    bench.expect_cwnd(450.0 + 100.0);
    bench.window = 1000; // nothing new may leave
    bench.dup_acks(20);
    bench.expect_cwnd(450.0 + 900.0); // all but the first
}

/// Recovery has ended, with duplicates left over: the eleventh segment is missing, and the three after it have arrived.
fn after_guesses(cfg: &SenderConfig) -> Bench {
    let mut bench = recovering(cfg);
    bench.dup_acks(9);
    bench.sent();
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench
}

#[test]
fn left_over_duplicates_tell_after_recovery_that_the_first_segment_is_lost() {
    assert!(!after_guesses(&CFG).sent().contains('R'));
    after_guesses(&NS3).expect("1001:1101R 1401:1501");
}

#[test]
fn what_left_over_duplicates_stand_for_is_not_in_flight() {
    let bench = after_guesses(&NS3);
    assert_eq!(bench.sender.in_flight(), 500, "the window of 472 bytes, and one segment that has left");
}

#[test]
fn the_next_duplicate_then_starts_recovery() {
    for (cfg, starts) in [(&CFG, false), (&NS3, true)] {
        let mut bench = after_guesses(cfg);
        bench.sent();
        bench.dup_acks(1);
        assert_eq!(bench.sender.in_recovery(), starts);
        assert_eq!(bench.sent().starts_with("1001:1101R"), starts);
    }
}

#[test]
fn the_end_of_a_timeout_s_repair_grows_the_window_by_a_segment_more_only() {
    let releases = [&NS3, &NS3_36, &NS3_31].map(|cfg| [(cfg, 1001, 200.0), (cfg, 1101, 300.0)]);
    for (cfg, ack, cwnd) in releases.into_iter().flatten().chain([(&CFG, 1001, 300.0)]) {
        let mut bench = Bench::flying(10, cfg);
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
fn a_window_below_a_segment_is_silent_until_the_timer_from_3_33_on() {
    for (cfg, sends) in [(&NS3, false), (&NS3_36, false), (&NS3_31, true), (&CFG, true)] {
        let cfg = SenderConfig { initial_window: 100, ..cfg.clone() };
        let halves = Box::new(fanin_schemes::Dctcp::new(0.0, 1.0, 0.0));
        let mut bench = Bench::with(cfg, halves, EcnMode::Accurate, None, false);
        bench.adopt();
        bench.sent();
        bench.receive(101, Flags::ECE, &[]);
        bench.expect_cwnd(50.0);
        assert_eq!(!bench.sent().is_empty(), sends);
        if !sends {
            bench.expire_timer();
            bench.expect_cwnd(100.0);
            assert!(bench.sent().starts_with("101:201"));
        }
    }
}

#[test]
fn an_echo_in_recovery_ends_it_from_3_33_on() {
    for (cfg, ends) in [(&NS3, true), (&NS3_36, true), (&NS3_31, false), (&CFG, false)] {
        let cc = Box::new(fanin_schemes::Dctcp::new(0.0, 0.0, 200.0));
        let mut bench = Bench::with(cfg.clone(), cc, EcnMode::Accurate, None, false);
        bench.adopt();
        bench.dup_acks(3);
        assert!(bench.sender.in_recovery());
        bench.receive(101, Flags::ECE, &[]);
        assert_eq!(!bench.sender.in_recovery(), ends);
    }
}

#[test]
fn an_echo_while_a_timeout_is_repaired_is_answered() {
    for (cfg, cwnd) in [(&CFG, 100.0), (&NS3, 200.0), (&NS3_31, 200.0)] {
        let cfg = SenderConfig { initial_ssthresh: 1000, ..cfg.clone() };
        let mut bench =
            Bench::with(cfg, Box::new(fanin_schemes::Dctcp::new(0.0, 0.0, 200.0)), EcnMode::Accurate, None, false);
        bench.adopt();
        bench.expire_timer();
        bench.receive(101, Flags::ECE, &[]);
        bench.expect_cwnd(cwnd); // DCTCP's least window
    }
}

//! Where the TCP of ns-3 departs from the RFCs, with SACK.

use super::*;

const NS3: SenderConfig = SenderConfig { quirks: Quirks::NS3_44, ..SACK };

#[test]
fn the_window_grows_when_recovery_ends() {
    let mut bench = Bench::flying(10, &NS3);
    bench.sack(&[(101, 401)]);
    bench.expect_ssthresh(300.0); // one is lost and three have arrived
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    bench.expect_cwnd(333.0); // 300 + 100 * 100 / 300
}

#[test]
fn a_loss_halves_what_is_thought_to_be_in_the_network() {
    for (cfg, ssthresh) in [(&SACK, 500.0), (&NS3, 250.0)] {
        let mut bench = Bench::flying(10, cfg);
        bench.sack(&[(201, 501)]);
        bench.expect_ssthresh(ssthresh); // two segments are deemed lost and three have arrived
    }
}

#[test]
fn reports_kept_over_a_timeout_are_not_sent_again() {
    for (cfg, next) in [(&SACK, "301:401R 401:501R"), (&NS3, "1001:1101 1101:1201")] {
        let mut bench = Bench::flying(10, cfg);
        bench.window = 1000; // nothing new before the timeout
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
fn after_a_timeout_what_is_lost_above_the_reports_goes_before_new_data_up_to_3_37() {
    for quirks in [Quirks::NS3_36, Quirks::NS3_31] {
        let mut bench = Bench::flying(10, &SenderConfig { quirks, ..SACK });
        bench.window = 1000;
        bench.sack(&[(301, 401)]);
        bench.sack(&[(301, 501)]);
        bench.expire_timer();
        bench.ack(101);
        bench.expect("1:101R 101:201R 201:301R");
        bench.ack(201);
        bench.expect("501:601R 601:701R");
    }
}

#[test]
fn the_next_number_follows_a_retransmission() {
    let mut bench = Bench::flying(10, &NS3);
    assert_eq!(bench.sender.next_number(), 1001);
    bench.expire_timer();
    assert_eq!(bench.sender.next_number(), 101);
    bench.ack(101);
    assert_eq!(bench.sender.next_number(), 301, "the window has room for two");
}

#[test]
fn with_reports_kept_new_data_follow_what_is_missing() {
    let mut bench = Bench::flying(4, &NS3);
    bench.window = 400;
    bench.sack(&[(301, 401)]);
    bench.expire_timer();
    bench.expect("1:101R");
    bench.window = WIDE;
    bench.ack(201);
    bench.expect("201:301R 401:501"); // what is reported is not in flight
}

#[test]
fn only_the_first_acknowledgement_in_recovery_restarts_the_timer() {
    for (cfg, expiry) in [(&SACK, 1300), (&NS3, 1200)] {
        let mut bench = Bench::flying(10, cfg);
        bench.wait(ms(100));
        bench.sack(&[(401, 701)]);
        assert_eq!(bench.timeout_after_acks([101, 201]), ms(expiry));
    }
}

#[test]
fn recovery_begins_on_the_timer_that_runs() {
    for (cfg, expiry) in [(&SACK, 1100), (&NS3, 1000)] {
        let mut bench = Bench::flying(10, cfg);
        bench.wait(ms(100));
        bench.sack(&[(401, 701)]);
        bench.expire_timer();
        assert_eq!(bench.now, ms(expiry));
    }
}

#[test]
fn a_segment_sent_again_and_reported_since_counts_until_it_is_acknowledged() {
    let mut bench = Bench::flying(12, &NS3);
    bench.window = 1200; // nothing new before recovery
    bench.sack(&[(101, 201)]);
    bench.sack(&[(101, 201), (301, 501)]); // 1 is lost; the window is 400
    bench.sack(&[(101, 201), (301, 1001)]); // and so is 201
    bench.expect("1:101R 201:301R");
    bench.window = WIDE;
    bench.sack(&[(101, 1001)]); // 201 has arrived
    bench.expect_nothing(); // 1 and 201 count, 1001 and 1101
    bench.sack(&[(101, 1101)]);
    bench.expect("1201:1301");
}

#[test]
fn what_is_reported_makes_room_outside_recovery_too() {
    for (cfg, sent) in [(&SACK, ""), (&NS3, "1001:1101 1101:1201")] {
        let mut bench = Bench::flying(10, cfg);
        bench.sack(&[(201, 301)]);
        bench.sack(&[(201, 401)]);
        assert!(!bench.sender.in_recovery());
        bench.expect(sent);
    }
}

#[test]
fn what_was_lost_of_new_data_is_sent_again_after_recovery() {
    let mut bench = Bench::flying(6, &NS3);
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
fn new_data_go_before_what_is_lost_above_the_highest_report() {
    let mut bench = Bench::flying(6, &NS3);
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
fn a_partial_acknowledgement_sends_what_the_pipe_allows_or_one_more() {
    for (cfg, sent) in [(&SACK, ""), (&NS3, "101:201R")] {
        let mut bench = Bench::flying(20, cfg);
        bench.sack(&[(201, 501)]);
        bench.expect("1:101R"); // sixteen are in flight, which is more than the window
        bench.ack(101);
        bench.expect(sent);
    }
}

/// Ten segments in flight with ECN and SACK, of which the first is lost and sent again.
fn recovering_with_ecn(cfg: &SenderConfig) -> Bench {
    let cfg = SenderConfig { growth_after_echo: false, initial_ssthresh: 1000, ..cfg.clone() };
    let mut bench = Bench::with(cfg, Box::new(NewReno), EcnMode::Classic, None, false);
    bench.adopt();
    bench.sack(&[(201, 501)]);
    bench.sent();
    bench
}

#[test]
fn an_echo_in_recovery_takes_its_place() {
    let mut bench = recovering_with_ecn(&SACK);
    let threshold = bench.sender.window().ssthresh;
    bench.receive(101, Flags::ECE, &[(201, 501)]);
    assert!(bench.sender.in_recovery());
    bench.expect_ssthresh(threshold);

    let mut bench = recovering_with_ecn(&NS3);
    bench.expect_ssthresh(250.0);
    bench.receive(101, Flags::ECE, &[(201, 701)]); // one is lost, five have arrived, three are in the network
    assert!(!bench.sender.in_recovery());
    bench.expect_ssthresh(200.0); // two segments at least
    let cwnd = bench.sender.window().cwnd;
    let sent = bench.sender.max_sent();
    bench.receive(101, Flags::NONE, &[(201, sent)]);
    assert!(!bench.sender.in_recovery(), "reports start no recovery before the end of what was sent");
    bench.receive(sent, Flags::NONE, &[]);
    bench.expect_cwnd(cwnd);
    bench.receive(bench.sender.max_sent(), Flags::NONE, &[]);
    assert!(bench.sender.window().cwnd > cwnd);
}

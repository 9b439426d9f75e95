//! RFC 3168 section 6.1, and RFC 8257 on top of it.

use super::*;
use fanin_schemes::Dctcp;

/// Ten segments in flight in a window as large, in congestion avoidance, with classic ECN.
fn flying(cfg: &SenderConfig) -> Bench {
    let cfg = SenderConfig { initial_ssthresh: 1000, ..cfg.clone() };
    let mut bench = Bench::with(cfg, Box::new(NewReno), EcnMode::Classic, None, false);
    bench.adopt();
    bench.sent();
    bench
}

impl Bench {
    /// An acknowledgement with an echo.
    fn echo(&mut self, ack: u64) {
        self.receive(ack, Flags::ECE, &[]);
    }
    /// The flags of the SYN.
    fn syn_flags(&mut self) -> Flags {
        self.connect();
        self.wire.sent[0].flags
    }
}

#[test]
fn rfc3168_s6_1_1_the_syn_offers_ecn_and_is_not_ecn_capable() {
    let mut bench = Bench::with(CFG, Box::new(NewReno), EcnMode::Classic, None, false);
    assert_eq!(bench.syn_flags(), Flags::SYN.with(Flags::ECE).with(Flags::CWR));
    let mut bench = Bench::closed(CFG, None, false);
    assert_eq!(bench.syn_flags(), Flags::SYN, "without ECN there is no offer");
}

#[test]
fn rfc5562_the_syn_may_be_ecn_capable() {
    let cfg = SenderConfig { ecn_syn: true, ..CFG };
    let mut bench = Bench::with(cfg.clone(), Box::new(NewReno), EcnMode::Classic, None, false);
    assert!(bench.syn_flags().has(Flags::ECT));
    assert!(!Bench::closed(cfg, None, false).syn_flags().has(Flags::ECT));
}

#[test]
fn rfc3168_s6_1_1_data_is_ecn_capable_once_the_peer_agrees() {
    let mut bench = Bench::with(CFG, Box::new(NewReno), EcnMode::Classic, Some(200), true);
    bench.connect();
    bench.syn_ack(Flags::ECE);
    bench.ack(202);
    bench.expect("0:0SC 1:1 1:101E 101:201FE 202:202");
}

#[test]
fn rfc3168_s6_1_1_a_refusal_switches_ecn_off() {
    let mut bench = Bench::with(CFG, Box::new(NewReno), EcnMode::Classic, None, false);
    bench.connect();
    bench.syn_ack(Flags::NONE);
    assert!(bench.sent().starts_with("0:0SC 1:1 1:101 101:201 "));
    bench.echo(101);
    bench.expect_cwnd(1100.0);
    bench.expect("1001:1101 1101:1201");
}

#[test]
fn rfc3168_s6_1_2_an_echo_halves_the_window_and_the_next_new_segment_says_so() {
    let mut bench = flying(&CFG);
    bench.echo(101);
    bench.expect_ssthresh(450.0);
    bench.expect_cwnd(450.0);
    for segment in 2..=5 {
        bench.ack(1 + 100 * segment);
    }
    bench.expect_nothing();
    bench.ack(601);
    bench.ack(701);
    bench.expect("1001:1101EC 1101:1201E");
}

#[test]
fn rfc3168_s6_1_2_echoes_of_one_round_trip_count_once() {
    let mut bench = flying(&CFG);
    (1..=9).for_each(|segment| bench.echo(1 + 100 * segment));
    bench.expect_ssthresh(450.0);
    // Echoes say that there is congestion: they must not grow the window either.
    bench.expect_cwnd(450.0);
    // The receiver sent this before it can have seen the CWR.
    bench.echo(1001);
    bench.expect_ssthresh(450.0);
    let sent = bench.sender.in_flight();
    bench.echo(1101);
    bench.expect_ssthresh((sent as f64 - 100.0).max(400.0) / 2.0);
}

#[test]
fn a_window_in_state_cwr_grows_when_what_was_outstanding_is_acknowledged_or_after_a_timeout() {
    let frozen = SenderConfig { growth_after_echo: false, ..CFG };
    let at_the_end = |cfg: &SenderConfig| {
        let mut bench = flying(cfg);
        bench.echo(101);
        (2..=10).for_each(|segment| bench.ack(1 + 100 * segment));
        bench
    };
    assert!(at_the_end(&CFG).sender.window().cwnd > 450.0);
    let mut bench = at_the_end(&frozen);
    bench.expect_cwnd(450.0);
    bench.sent();
    bench.ack(1101);
    assert!(bench.sender.window().cwnd > 450.0);

    let mut bench = flying(&frozen);
    bench.echo(101);
    bench.expire_timer();
    bench.expect_cwnd(100.0);
    bench.ack(201);
    assert!(bench.sender.window().cwnd > 100.0, "slow start after a timeout");
}

#[test]
fn rfc3168_s6_1_2_an_echo_on_the_first_duplicate_counts() {
    let mut bench = flying(&CFG);
    bench.echo(1);
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc3168_s6_1_2_an_echo_on_a_window_update_counts() {
    let mut bench = flying(&CFG);
    bench.window += 100;
    bench.echo(1);
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc3168_s6_1_2_an_echo_never_opens_the_window() {
    let mut bench = flying(&SenderConfig { initial_window: 100, ..CFG });
    bench.echo(1);
    bench.expect_cwnd(100.0);
    bench.expect_ssthresh(200.0);
}

#[test]
fn rfc3168_s6_1_2_a_window_reduced_for_a_loss_is_not_reduced_for_echoes_of_the_same_round_trip() {
    let mut bench = flying(&CFG);
    bench.dup_acks(3);
    bench.expect_ssthresh(500.0);
    bench.echo(501);
    bench.echo(1001);
    bench.expect_ssthresh(500.0);
    bench.sent();
    bench.echo(1101);
    bench.expect_ssthresh(200.0);
}

#[test]
fn rfc3168_s6_1_2_cwr_follows_a_reduction_for_a_loss() {
    let mut bench = flying(&CFG);
    bench.dup_acks(3);
    bench.expect("1:101R");
    bench.ack(1001);
    bench.expect("1001:1101EC 1101:1201E");
}

#[test]
fn rfc3168_s6_1_2_cwr_follows_a_timeout() {
    let mut bench = flying(&CFG);
    bench.expire_timer();
    bench.ack(1001);
    bench.expect("1:101R 1001:1101EC 1101:1201E");
}

#[test]
fn rfc3168_s6_1_2_a_timeout_stands_for_echoes_of_the_same_round_trip() {
    let mut bench = flying(&CFG);
    bench.expire_timer();
    bench.echo(501);
    // Neither a second reduction nor growth.
    bench.expect_cwnd(100.0);
    bench.expect_ssthresh(500.0);
}

#[test]
fn rfc3168_s6_1_5_retransmissions_are_not_ecn_capable_unless_told() {
    for (ecn_retransmit, trace) in [(false, "1:101R"), (true, "1:101ER")] {
        let mut bench = flying(&SenderConfig { ecn_retransmit, ..CFG });
        bench.dup_acks(3);
        bench.expect(trace);
        let mut bench = flying(&SenderConfig { ecn_retransmit, ..CFG });
        bench.expire_timer();
        bench.expect(trace);
    }
}

#[test]
fn rfc3168_s6_1_6_window_probes_are_not_ecn_capable_and_carry_no_cwr() {
    let mut bench = flying(&CFG);
    bench.echo(101);
    bench.window = 0;
    bench.ack(1001);
    bench.expire_timer();
    bench.expect("1001:1002");
    bench.ack(1002);
    bench.window = WIDE;
    bench.ack(1002);
    assert!(bench.sent().starts_with("1002:1102EC "));
}

fn dctcp(alpha: f64, initial_window: u64) -> Bench {
    let cc = Box::new(Dctcp::new(1.0 / 16.0, alpha, 200.0));
    let cfg = SenderConfig { initial_window, initial_ssthresh: 1000, ..CFG };
    let mut bench = Bench::with(cfg, cc, EcnMode::Accurate, None, false);
    bench.adopt();
    bench.sent();
    bench
}

#[test]
fn rfc8257_s3_3_the_window_is_cut_once_per_window_in_proportion_to_alpha() {
    let mut bench = dctcp(0.0, 1000);
    bench.ack(101); // ends the empty first observation window; alpha stays 0
    bench.ack(201);
    let window = bench.sender.window().cwnd;
    (3..=10).for_each(|segment| bench.echo(1 + 100 * segment));
    bench.expect_cwnd(window); // cut by alpha = 0, and not grown by echoes
    let mut bench = dctcp(1.0, 1000);
    bench.echo(101);
    bench.expect_cwnd(500.0);
    (2..=10).for_each(|segment| bench.echo(1 + 100 * segment));
    bench.expect_cwnd(500.0);
    bench.echo(1101);
    bench.expect_cwnd(250.0);
}

#[test]
fn rfc8257_s3_3_an_echo_on_a_duplicate_cuts_the_window() {
    let mut bench = dctcp(1.0, 1000);
    bench.echo(1);
    bench.expect_cwnd(500.0);
    bench.echo(1);
    bench.expect_cwnd(500.0);
}

#[test]
fn rfc8257_s3_4_the_floor_of_a_cut_lifts_a_window_of_one_segment() {
    let mut bench = dctcp(1.0, 100);
    bench.echo(1);
    bench.expect_cwnd(200.0);
    bench.expect_ssthresh(200.0);
}

#[test]
fn rfc8257_s3_5_a_loss_halves() {
    let mut bench = dctcp(0.1, 1000);
    bench.dup_acks(3);
    bench.expect_ssthresh(500.0);
    bench.expect("1:101R");
}

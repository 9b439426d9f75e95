//! What ns-3.36 does otherwise than ns-3.44, and the state CWR of both, with SACK.

use super::*;
use fanin_core::roles::{AckEvent, SenderCx};

const NS3: SenderConfig = SenderConfig { quirks: Quirks::NS3_44, ..SACK };
const NS3_36: SenderConfig = SenderConfig { quirks: Quirks::NS3_36, ..SACK };
const NS3_31: SenderConfig = SenderConfig { quirks: Quirks::NS3_31, ..SACK };

/// Never grows a window, halves it upon an echo, and shows for how much the last acknowledgement counts.
struct Spy(u64, bool);

impl CongestionControl for Spy {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_ack(&mut self, _: &mut SenderCx<'_>, ack: &AckEvent) {
        (self.0, self.1) = (ack.acked, ack.in_recovery);
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        cx.window.cwnd /= 2.0;
        cx.window.ssthresh = cx.window.cwnd;
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("acked", self.0 as f64);
        show("in recovery", f64::from(u8::from(self.1)));
    }
}

/// Ten segments in flight of a sender that is spied on.
fn spied(cfg: &SenderConfig) -> Bench {
    let mut bench = Bench::with(cfg.clone(), Box::new(Spy(0, false)), EcnMode::Accurate, None, false);
    bench.adopt();
    bench.sent();
    bench
}

fn shown(bench: &Bench, wanted: &str) -> f64 {
    let mut value = f64::NAN;
    bench.sender.congestion_control().probes(&mut |name, shown| {
        if name == wanted {
            value = shown;
        }
    });
    value
}

#[test]
fn up_to_3_40_less_than_three_duplicates_start_recovery_if_the_second_segment_is_lost() {
    for (cfg, first) in [(&NS3, true), (&NS3_36, false), (&NS3_31, false)] {
        for (range, enters) in [((101, 401), first), ((201, 501), true)] {
            let mut bench = Bench::flying(10, cfg);
            bench.sack(&[range]);
            assert_eq!(bench.sender.in_recovery(), enters, "{range:?}");
        }
    }
}

#[test]
fn in_recovery_the_window_follows_what_is_delivered() {
    for (cfg, windows) in [(&NS3_36, [600.0, 500.0, 400.0, 300.0, 250.0, 200.0]), (&NS3, [250.0; 6])] {
        let mut bench = Bench::flying(10, cfg);
        bench.window = 1000; // nothing new
        bench.sack(&[(201, 301)]);
        bench.sack(&[(201, 401)]);
        for (end, cwnd) in (501..).step_by(100).zip(windows) {
            bench.sack(&[(201, end)]); // 1 and 101 are lost, and what is between 100 * end and the last is in flight
            bench.expect_cwnd(cwnd);
        }
        bench.expect_ssthresh(250.0);
        bench.expect("1:101R 101:201R");
    }
}

#[test]
fn what_is_sent_again_and_acknowledged_makes_good_what_was_not_sent() {
    for (resent, cwnd) in [(true, 250.0), (false, 200.0)] {
        let mut bench = Bench::flying(10, &NS3_36);
        bench.window = 1000;
        bench.sack(&[(201, 301)]);
        bench.sack(&[(201, 401)]);
        (501..=1001).step_by(100).for_each(|end| bench.sack(&[(201, end)]));
        if resent {
            bench.ack(101); // in flight: what was sent again of 101
        }
        bench.expect_cwnd(cwnd);
    }
}

#[test]
fn in_state_cwr_the_window_follows_what_is_delivered_and_is_the_threshold_in_the_end() {
    for (cfg, [at_echo, then]) in [(&NS3_36, [1012.0, 967.0]), (&NS3, [500.0, 500.0])] {
        let mut bench = spied(cfg);
        bench.receive(101, Flags::ECE, &[]); // of 900 bytes; counts twice
        bench.expect_cwnd(at_echo);
        bench.expect_ssthresh(500.0);
        bench.ack(201);
        bench.expect_cwnd(then);
        (301..=1001).step_by(100).for_each(|ack| bench.ack(ack));
        bench.ack(1101);
        bench.expect_cwnd(500.0);
    }
}

#[test]
fn in_state_cwr_no_duplicates_start_recovery() {
    for (cfg, enters) in [(&NS3, false), (&NS3_36, false), (&NS3_31, true), (&SACK, true)] {
        let mut bench = spied(cfg);
        bench.window = 1000;
        bench.receive(101, Flags::ECE, &[]);
        (401..=701).step_by(100).for_each(|end| bench.sack(&[(301, end)]));
        assert_eq!(bench.sender.in_recovery(), enters);
    }
}

#[test]
fn in_3_44_what_was_reported_before_does_not_count_again() {
    for (cfg, acked) in [(&NS3, 300.0), (&NS3_36, 400.0)] {
        let mut bench = spied(cfg);
        bench.window = 1000;
        bench.sack(&[(301, 401)]);
        bench.expire_timer();
        bench.ack(401);
        assert!((shown(&bench, "acked") - acked).abs() < 1e-9, "{}", shown(&bench, "acked"));
    }
}

#[test]
fn what_ends_the_repair_of_a_timeout_counts_for_what_it_covers_besides() {
    for cfg in [&NS3, &NS3_36, &NS3_31] {
        let mut bench = spied(cfg);
        bench.expire_timer();
        bench.ack(1001);
        bench.ack(1101);
        assert!((shown(&bench, "acked") - 100.0).abs() < 1e-9);
        let mut bench = spied(cfg);
        bench.expire_timer();
        bench.ack(1001);
        assert!(shown(&bench, "acked") < 100.0, "no segment");
    }
}

#[test]
fn an_acknowledgement_that_reports_news_grows_no_window_unless_a_timeout_is_repaired() {
    for timeout in [false, true] {
        let mut bench = spied(&NS3);
        bench.window = 1000;
        if timeout {
            bench.expire_timer();
        }
        bench.receive(101, Flags::NONE, &[(301, 401)]);
        assert_eq!(shown(&bench, "in recovery") > 0.0, !timeout);
    }
}

#[test]
fn a_window_of_which_nothing_is_left_is_a_byte() {
    for cfg in [&NS3, &NS3_36] {
        let mut bench = spied(&SenderConfig { initial_window: 100, ..cfg.clone() });
        for ack in 1..=12 {
            bench.receive(1 + 100 * ack, Flags::ECE, &[]);
            bench.expire_timer();
            bench.sender.forge_window(1.0);
        }
        bench.receive(1 + 100 * 13, Flags::ECE, &[]);
        assert!(bench.sender.window().cwnd >= 1.0 && bench.sender.window().ssthresh >= 1.0);
    }
}

//! The sender of Linux: losses told by time, what the sender does about them, and when it takes that back.
//!
//! Round trips take 10 ms, a tick takes one, and a timer fires at the end of its slot of the wheel. Segments of one burst leave
//! at one instant.

use super::*;
use crate::sender::LinuxConfig;

const LINUX: SenderConfig = SenderConfig {
    sack: true,
    linux: Some(LinuxConfig { tail_loss_probe: false, ticks_apart: false }),
    rto: RtoConfig { granularity: ms(1), ..CFG.rto },
    ..CFG
};
const PROBING: SenderConfig =
    SenderConfig { linux: Some(LinuxConfig { tail_loss_probe: true, ticks_apart: false }), ..LINUX };

/// The millisecond that a timer of the wheel came in: those of one tick come within two microseconds.
fn slot(at: Time) -> Time {
    ms(at.ps() / ms(1).ps())
}

/// `segments` in flight of a window as large, sent at 0 ms; it is 10 ms now. Nothing was ever acknowledged.
fn flying_by(segments: u64, cfg: &SenderConfig) -> Bench {
    let mut bench = Bench::flying(segments, cfg);
    bench.wait(ms(10));
    bench.echo = Some(Time::ZERO);
    bench
}

fn flying(segments: u64) -> Bench {
    flying_by(segments, &LINUX)
}

/// Segments of a transfer that ends with them, acknowledged up to the last `left` after 10 ms.
fn tail(left: u64) -> Bench {
    let mut bench = Bench::closed(PROBING, Some(1000), false);
    bench.adopt();
    bench.wait(ms(10));
    bench.ack(1001 - 100 * left);
    bench.sent();
    bench
}

/// A timeout of ten segments, whose first is sent again.
fn timed_out() -> Bench {
    let mut bench = flying(10);
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.expect("1:101R");
    bench
}

fn count(sent: &str) -> usize {
    sent.split_whitespace().count()
}

#[test]
fn tcp_rack_mark_lost_waits_for_a_quarter_of_the_least_round_trip_and_two_milliseconds() {
    let mut bench = flying(10);
    bench.sack(&[(101, 201)]);
    bench.expect("1001:1101"); // what is reported has left the pipe
    assert!(!bench.sender.in_recovery(), "it may be out of order");
    assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
    // 2.5 + 2 ms are 5 ticks, and one more.
    assert_eq!(slot(bench.now), ms(16));
    bench.expect("1:101R");
    assert!(bench.sender.in_recovery());
    bench.expect_ssthresh(500.0);
}

#[test]
fn tcp_rack_reo_wnd_three_reported_segments_end_the_wait() {
    let mut bench = flying(10);
    bench.sack(&[(101, 301)]);
    assert!(!bench.sender.in_recovery());
    bench.sack(&[(101, 401)]);
    assert!(bench.sender.in_recovery());
    assert!(bench.sent().contains("1:101R"));
}

#[test]
fn tcp_rack_reo_wnd_is_nothing_in_recovery() {
    let mut bench = flying(10);
    bench.sack(&[(201, 501)]);
    assert!(bench.sent().contains("1:101R"));
    bench.wait(ms(1));
    bench.sack(&[(601, 701), (201, 501)]);
    bench.sack(&[(601, 801), (201, 501)]);
    bench.sack(&[(601, 1001), (201, 501)]);
    assert!(bench.sent().contains("501:601R"), "at the first report above it");
}

#[test]
fn tcp_check_sack_reordering_keeps_the_wait_up() {
    let mut bench = flying(10);
    bench.sack(&[(101, 201)]);
    bench.ack(201); // the first was only late
    bench.sent();
    bench.sack(&[(301, 701)]);
    assert!(!bench.sender.in_recovery(), "four reports do not end the wait where order was broken");
    assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
    assert!(bench.sender.in_recovery());
}

#[test]
fn tcp_rack_detect_loss_spares_what_was_sent_after_the_newest_delivery() {
    let mut bench = flying(10);
    bench.ack(101); // 1001:1101 and 1101:1201 leave at 10 ms
    bench.sent();
    bench.wait(ms(2));
    bench.sack(&[(401, 1001)]);
    let sent = bench.sent();
    assert!(sent.contains("101:201R") && !sent.contains("1001"), "{sent}");
}

#[test]
fn tcp_rack_detect_loss_takes_a_retransmission_for_lost_like_any_segment() {
    let mut bench = flying(10);
    bench.sack(&[(101, 401)]);
    bench.sack(&[(101, 901)]);
    assert!(bench.sent().starts_with("1:101R"));
    bench.wait(ms(10));
    bench.sack(&[(101, 1101)]); // 1001:1101 left at the same instant, with a higher number
    assert!(bench.sent().starts_with("1:101R"));
    bench.expect_ssthresh(500.0);
}

#[test]
fn tcp_rack_advance_learns_nothing_from_a_retransmission_that_is_acknowledged_too_early() {
    let mut bench = flying(10);
    bench.sack(&[(101, 401)]);
    bench.sent(); // 1:101R at 10 ms
    bench.wait(ms(1));
    // A round trip of 1 ms where 10 was the least. Were it the retransmission, 401:1001, sent before it, would be lost.
    bench.echo = Some(ms(10));
    bench.ack(401);
    assert!(!bench.sent().contains('R'));
}

#[test]
fn tcp_skb_spurious_retrans_is_told_by_the_echo_of_the_original() {
    for (echo, again) in [(ms(0), false), (ms(10), true)] {
        let mut bench = flying(10);
        bench.sack(&[(101, 401)]);
        bench.sent();
        bench.wait(ms(11));
        bench.echo = Some(echo);
        bench.ack(401); // 1:101R took 11 ms, or the original took 21 ms
        assert_eq!(bench.sent().contains("401:501R"), again, "{echo}");
    }
}

#[test]
fn tcp_cwnd_reduction_sends_while_it_shrinks_and_no_bursts() {
    let mut bench = flying(20);
    bench.sack(&[(101, 401)]);
    assert_eq!(bench.sent(), "1:101R 2001:2101", "three reports at once let two go");
    let counts: Vec<usize> = (5..20)
        .map(|n| {
            bench.sack(&[(101, 100 * n + 1)]);
            count(&bench.sent())
        })
        .collect();
    assert!(counts[..8].iter().sum::<usize>() >= 3, "one for two: {counts:?}");
    assert!(counts.iter().all(|sent| *sent <= 2), "{counts:?}");
    bench.expect_ssthresh(1000.0);
}

#[test]
fn tcp_end_cwnd_reduction_leaves_the_threshold_as_window() {
    let mut bench = flying(10);
    bench.sack(&[(101, 901)]);
    bench.sent();
    bench.wait(ms(10));
    bench.echo = Some(ms(10));
    bench.ack(901);
    assert!(bench.sender.in_recovery());
    bench.ack(1001);
    assert!(!bench.sender.in_recovery());
    assert!(bench.sender.window().cwnd >= 500.0 && bench.sender.window().cwnd <= 600.0);
}

#[test]
fn tcp_enter_cwr_reduces_in_proportion_and_holds_until_something_later_is_acknowledged() {
    let mut bench = Bench::with(
        SenderConfig { initial_window: 2000, initial_ssthresh: 2000, ..LINUX },
        Box::new(NewReno),
        EcnMode::Classic,
        None,
        false,
    );
    bench.adopt();
    bench.sent();
    bench.wait(ms(10));
    let mut sent = 0;
    for n in 1..=10 {
        bench.receive(100 * n + 1, Flags::ECE, &[]);
        sent += count(&bench.sent());
    }
    bench.expect_ssthresh(950.0); // of what was in flight behind the first
    assert!((4..=6).contains(&sent), "every second acknowledgement lets one go: {sent}");
    let held = bench.sender.nxt();
    bench.ack(2001);
    bench.sent();
    bench.ack(held);
    assert!(bench.sender.window().cwnd >= 950.0, "and grows again");
}

#[test]
fn tcp_timeout_mark_lost_spares_what_was_sent_within_a_round_trip() {
    let mut bench = Bench::closed(LINUX, Some(400), false);
    bench.adopt();
    bench.wait(ms(10));
    bench.ack(101);
    bench.wait(ms(209)); // the timer expires 5 ms later
    bench.push_data(100);
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    assert_eq!(slot(bench.now), ms(224));
    bench.expect("101:201R");
    bench.expect_cwnd(200.0); // one in flight, and one more
}

#[test]
fn tcp_timeout_mark_lost_keeps_the_reports() {
    let mut bench = flying(4);
    bench.sack(&[(101, 201)]);
    bench.expire_timer(); // of the reordering window: 1:101R
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.expect("1:101R");
    bench.wait(ms(10));
    bench.echo = Some(bench.now - ms(10));
    bench.ack(201);
    assert!(bench.sent().starts_with("201:301R 301:401R"));
}

#[test]
fn tcp_enter_loss_reduces_once_for_timeouts_of_one_segment_and_doubles_the_timer() {
    let mut bench = timed_out();
    bench.expect_ssthresh(500.0);
    assert_eq!(slot(bench.now), ms(1040), "no sample yet: 1000 ticks, until a slot of 64 ends");
    bench.expire_timer();
    bench.expect("1:101R");
    bench.expect_ssthresh(500.0);
    assert_eq!(slot(bench.now), ms(3088));
}

#[test]
fn a_timeout_never_goes_back() {
    let bench = timed_out();
    assert_eq!((bench.sender.nxt(), bench.sender.in_flight()), (1001, 1000));
}

#[test]
fn tcp_try_undo_loss_takes_a_timeout_back_that_the_echo_shows_to_be_spurious() {
    let mut bench = timed_out();
    bench.expect_cwnd(100.0);
    bench.wait(ms(2));
    bench.echo = Some(Time::ZERO); // of the original
    bench.ack(101);
    assert!(bench.sender.window().cwnd >= 1000.0, "{}", bench.sender.window().cwnd);
    assert!(!bench.sent().contains('R'));
}

#[test]
fn rfc5682_s3_1_new_data_after_a_timeout_tells_whether_it_was_spurious() {
    let mut bench = timed_out();
    bench.wait(ms(10));
    bench.echo = Some(bench.now - ms(10));
    bench.ack(101);
    bench.expect("1001:1101 1101:1201"); // new data first
    bench.wait(ms(10));
    bench.echo = Some(bench.now - ms(10));
    bench.sack(&[(1001, 1101)]);
    assert!(bench.sent().contains("101:201R"), "the loss was real");

    let mut bench = timed_out();
    bench.wait(ms(10));
    bench.echo = Some(bench.now - ms(10));
    bench.ack(101);
    bench.sent();
    bench.ack(301); // an original, which came late
    assert!(!bench.sent().contains('R'));
    assert!(bench.sender.window().cwnd >= 1000.0, "taken back");
}

#[test]
fn tcp_try_undo_dsack_takes_a_recovery_back_once_all_retransmissions_were_needless() {
    let mut bench = flying(10);
    bench.sack(&[(101, 401)]);
    bench.sent();
    bench.wait(ms(1));
    bench.echo = Some(ms(10));
    bench.ack(401);
    bench.sent();
    bench.expect_ssthresh(500.0);
    bench.duplicate((1, 101), &[]);
    assert!(bench.sender.window().ssthresh >= 1000.0, "{}", bench.sender.window().ssthresh);
}

#[test]
fn tcp_rack_update_reo_wnd_widens_the_wait_after_a_dsack_where_order_was_broken() {
    let wait = |needless: bool| {
        let mut bench = flying(20);
        bench.sack(&[(101, 201)]);
        bench.ack(201); // reordering was seen
        bench.sack(&[(301, 601)]);
        bench.expire_timer(); // 201:301R
        bench.wait(ms(10));
        bench.echo = Some(bench.now - ms(10));
        bench.ack(601);
        if needless {
            bench.duplicate((201, 301), &[]);
        }
        bench.ack(2001);
        bench.wait(ms(10));
        bench.sent();
        bench.sack(&[(2101, 2201)]);
        let before = bench.now;
        assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
        bench.now - before
    };
    assert!(wait(true) >= wait(false));
}

#[test]
fn tcp_schedule_loss_probe_waits_for_two_round_trips_and_two_milliseconds() {
    let mut bench = tail(3);
    assert_eq!(bench.expire_timer(), TimerOutcome::LossProbe);
    assert_eq!(slot(bench.now), ms(33), "22 ticks, and one more");
    bench.expect("901:1001R");
}

#[test]
fn tcp_schedule_loss_probe_of_one_segment_waits_for_the_least_timeout_too() {
    let mut bench = tail(1);
    assert_eq!(
        slot(bench.timer_runs()),
        ms(214),
        "220 ticks are more than the timeout of 210, whose slot of eight ends at 224"
    );
    bench.expect("901:1001R");
}

#[test]
fn a_sender_that_knows_its_open_path_probes_its_first_window() {
    let mut bench = Bench::closed(PROBING, Some(300), false);
    bench.sender.know_open_path(ms(10));
    bench.adopt();
    bench.sent();
    assert_eq!(slot(bench.timer_runs()), ms(23));
    bench.expect("201:301R");
    assert_eq!(bench.sender.least_rtt(), Some(ms(10)));
}

#[test]
fn tcp_send_loss_probe_sends_new_data_whatever_the_window() {
    let mut bench = Bench::open(PROBING);
    bench.wait(ms(10));
    bench.ack(101);
    bench.expect("1001:1101 1101:1201");
    assert_eq!(bench.expire_timer(), TimerOutcome::LossProbe);
    bench.expect("1201:1301");
}

#[test]
fn tcp_send_loss_probe_leaves_the_retransmission_timer_and_no_second_probe() {
    let mut bench = tail(3);
    bench.expire_timer();
    bench.sent();
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.expect("701:801R");
}

#[test]
fn tcp_schedule_loss_probe_has_none_where_the_receiver_has_reported() {
    let mut bench = tail(3);
    bench.sack(&[(801, 901)]);
    assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
    bench.expect("701:801R");
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout, "and none in recovery");
}

#[test]
fn the_answer_to_a_probe_shows_the_losses_before_it() {
    let mut bench = tail(3);
    bench.expire_timer();
    bench.sent();
    bench.wait(ms(10));
    bench.sack(&[(901, 1001)]); // 701:901 went 23 ms before the probe
    assert!(bench.sent().starts_with("701:801R"));
    assert!(bench.sender.in_recovery());
}

#[test]
fn tcp_process_tlp_ack_reduces_for_a_loss_that_a_probe_has_repaired() {
    let mut bench = tail(2);
    let before = bench.sender.window().cwnd;
    bench.expire_timer();
    bench.wait(ms(10));
    bench.echo = Some(bench.now - ms(10));
    bench.ack(1001);
    bench.push_data(100);
    bench.wait(ms(10));
    bench.ack(1101);
    assert!(bench.sender.window().cwnd < before, "{}", bench.sender.window().cwnd);
}

#[test]
fn tcp_process_tlp_ack_does_not_for_a_probe_whose_duplicate_is_reported() {
    let mut bench = tail(2);
    let before = bench.sender.window().cwnd;
    bench.expire_timer();
    bench.wait(ms(1));
    bench.echo = Some(Time::ZERO);
    bench.ack(1001); // the originals were late
    bench.push_data(200);
    bench.wait(ms(9));
    bench.duplicate((901, 1001), &[]);
    bench.wait(ms(1));
    bench.ack(1201);
    assert!(bench.sender.window().cwnd >= before);
}

#[test]
fn tcp_cwnd_restart_halves_the_window_for_each_timeout_without_data() {
    let cwnd_after = |idle: Time| {
        let mut bench = Bench::closed(SenderConfig { initial_window: 200, ..LINUX }, Some(100), false);
        bench.adopt();
        bench.wait(ms(10));
        bench.ack(101);
        bench.sender.forge_window(3200.0);
        bench.wait(idle);
        bench.push_data(100);
        bench.sender.window().cwnd
    };
    let all = [150, 300, 500, 5000].map(|idle| cwnd_after(ms(idle)));
    assert_eq!(
        all.map(|cwnd| cwnd as u64),
        [3200, 1600, 800, 200],
        "the timeout is 210 ticks, the least is the initial window"
    );
}

#[test]
fn tcp_event_data_sent_counts_a_probe_so_that_the_window_stays() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 200, ..PROBING }, Some(100), false);
    bench.adopt();
    bench.wait(ms(10));
    bench.ack(101);
    bench.sender.forge_window(3200.0);
    bench.push_data(100);
    assert_eq!(bench.expire_timer(), TimerOutcome::LossProbe);
    bench.wait(ms(1));
    bench.echo = Some(bench.now - ms(1));
    bench.ack(201);
    bench.push_data(100); // more than a timeout after the original, and not after the probe
    bench.expect_cwnd(3200.0);
}

#[test]
fn tcp_cong_avoid_keeps_a_window_that_is_not_used_up_while_acknowledgements_come() {
    let mut bench = Bench::closed(SenderConfig { initial_window: 200, ..LINUX }, Some(100), false);
    bench.adopt();
    bench.wait(ms(10));
    bench.ack(101);
    bench.sender.forge_window(9000.0);
    for _ in 0..50 {
        bench.push_data(100);
        bench.wait(ms(10));
        bench.ack(bench.sender.nxt());
    }
    assert!(bench.sender.window().cwnd >= 9000.0, "{}", bench.sender.window().cwnd);
}

#[test]
fn a_dsack_that_comes_when_nothing_is_outstanding_undoes_a_reduction_too() {
    let mut bench = Bench::closed(LINUX, Some(1000), false);
    bench.adopt();
    bench.wait(ms(10));
    bench.echo = Some(Time::ZERO);
    bench.sack(&[(101, 401)]);
    let reduced = bench.sender.window().ssthresh;
    bench.wait(ms(1));
    bench.echo = Some(ms(10));
    bench.ack(1001);
    bench.duplicate((1, 101), &[]);
    assert!(bench.sender.window().ssthresh > reduced, "{reduced}");
}

#[test]
fn the_peers_window_holds_in_recovery() {
    let mut bench = flying(10);
    bench.window = 1000;
    bench.sack(&[(101, 901)]);
    bench.expect("1:101R");
}

#[test]
fn the_fin_goes_again_with_its_data() {
    let mut bench = Bench::closed(LINUX, Some(500), true);
    bench.adopt();
    bench.expect("1:101 101:201 201:301 301:401 401:501F");
    bench.wait(ms(10));
    bench.ack(401);
    bench.expire_timer();
    bench.expect("401:501FR");
    bench.ack(502);
    bench.expect_state(State::Finished);
}

#[test]
fn tcp_should_autocork_what_does_not_fill_a_segment_until_the_first_one_has_left() {
    let mut bench = Bench::closed(LINUX, Some(250), false);
    bench.adopt();
    bench.expect("1:101 101:201");
    assert_eq!(bench.wire.paces, [Time::from_us(140)], "with its header");
    bench.resume();
    bench.expect("201:251");
    // One that follows alone does not wait, and what an acknowledgement finds goes with it.
    bench.ack(251);
    bench.push_data(50);
    bench.expect("251:301");
    bench.push_data(150);
    bench.expect("301:401");
    bench.ack(301);
    bench.expect("401:451");
}

#[test]
fn what_is_lost_of_a_burst_leaves_together_again_and_its_last_segment_is_pushed() {
    let interface = Some(InterfaceConfig { burst: 400, paced: false, small_queue: 0 });
    let pushed = |bench: &mut Bench| -> Vec<(u64, bool)> {
        bench.wire.sent.drain(..).map(|segment| (segment.seq, segment.flags.has(Flags::PSH))).collect()
    };
    for (from, again) in [
        (201, vec![(1, false), (101, true)]),
        (501, vec![(1, false), (101, false), (201, false), (301, true), (401, false)]),
    ] {
        let mut bench = Bench::closed(SenderConfig { initial_window: 1200, interface, ..LINUX }, Some(1200), false);
        bench.adopt();
        assert_eq!(pushed(&mut bench).into_iter().filter(|(_, pushed)| *pushed).count(), 3, "bursts of four");
        bench.wait(Time::from_us(100));
        bench.sack(&[(from, 1201)]);
        assert_eq!(pushed(&mut bench), again);
    }
}

/// A transfer of 20 segments that took 10 ms, and another one long after it: its second burst of four stays in `fq`.
fn paced_after_idle() -> Bench {
    let interface = Some(InterfaceConfig { burst: 400, paced: true, small_queue: 0 });
    let cfg = SenderConfig { initial_window: 2000, idle_restart: true, interface, ..LINUX };
    let mut bench = Bench::closed(cfg, Some(2000), false);
    bench.adopt();
    bench.wait(ms(10));
    for acked in 1..=20 {
        bench.ack(1 + 100 * acked);
    }
    bench.expect_cwnd(4000.0);
    bench.sent();
    bench.wait(ms(10_000));
    bench.push_data(2000);
    bench.expect_cwnd(2000.0);
    assert_eq!(count(&bench.sent()), 4);
    bench
}

#[test]
fn tcp_update_pacing_rate_is_of_the_last_acknowledgement() {
    let bench = paced_after_idle();
    // 400 bytes take a twentieth of 10 ms at twice the window before the pause, less by half as they are late.
    assert_eq!(bench.wire.paces, [bench.now + Time::from_us(250 + 10)]);
}

#[test]
fn skb_set_delivery_time_round_trips_begin_where_segments_depart() {
    let mut bench = paced_after_idle();
    bench.wait(ms(10));
    bench.ack(2401);
    bench.wait(Time::from_us(250));
    bench.ack(2801);
    assert_eq!(bench.sender.srtt(), Some(ms(10)));
}

#[test]
fn a_request_starts_recovery() {
    let mut bench = flying(10);
    bench.receive(1, Flags::PSH, &[]);
    bench.expect("1:101R");
    assert!(bench.sender.in_recovery());
    bench.receive(1, Flags::PSH, &[]);
    bench.expect_nothing();
}

#[test]
fn tcp_clean_rtx_queue_takes_round_trips_of_reports_too() {
    let mut bench = flying(10);
    bench.sack(&[(101, 201)]);
    assert_eq!(bench.sender.srtt(), Some(ms(10)));
}

#[test]
fn a_closed_window_is_probed_and_its_probe_comes_again_as_data() {
    let mut bench = Bench::closed(LINUX, Some(300), false);
    bench.window = 0;
    bench.adopt();
    bench.expect_nothing();
    assert_eq!(bench.expire_timer(), TimerOutcome::WindowProbe);
    bench.expect("1:2");
    bench.window = WIDE;
    bench.ack(2);
    bench.expect("2:102 102:202 202:301");
    bench.wait(ms(10));
    bench.ack(301);
    bench.expect_nothing();
}

#[test]
fn tcp_syn_linear_timeouts_come_before_the_timer_of_a_syn_doubles() {
    let mut bench = Bench::closed(SenderConfig { syn_retries: 10, syn_timeout: ms(1000), ..LINUX }, Some(100), false);
    bench.connect();
    bench.sent();
    let mut waits = Vec::new();
    for _ in 0..7 {
        let before = bench.now;
        bench.expire_timer();
        waits.push((bench.now - before).ps() / ms(1000).ps());
    }
    assert_eq!(waits, [1, 1, 1, 1, 1, 2, 4], "whole seconds, and what is left of a slot");
}

#[test]
fn tcp_init_transfer_forgives_one_lost_syn() {
    let window = |lost| {
        let mut bench = Bench::closed(SenderConfig { initial_window: 300, ..LINUX }, None, false);
        bench.connect();
        (0..lost).for_each(|_| {
            bench.expire_timer();
        });
        bench.syn_ack(Flags::NONE);
        bench.sent().split(' ').count() - 2 - lost
    };
    assert_eq!((window(1), window(2)), (3, 1));
}

#[test]
fn the_present_tick_of_a_host_may_have_begun_before_the_run() {
    let mut bench = Bench::closed(PROBING, Some(300), false);
    bench.sender.know_open_path(ms(10));
    bench.sender.begin_tick_before(Time::from_us(750));
    bench.adopt();
    assert_eq!(bench.timer_runs().ps() / ms(1).ps(), 22, "until 22.25 ms, where it would be 23");
}

//! Congestion control that decides what a loss and a timeout do to its window, and keeps it during the repair.

use super::{Bench, CFG, SACK, ms};
use crate::sender::{LinuxConfig, SenderConfig};
use fanin_core::roles::{AckEvent, CongestionControl, Cut, EcnMode, SenderCx};
use std::sync::{Arc, Mutex};

/// Keeps a window of five segments at a loss, and of three at a timeout; notes which timeout in a row it is.
#[derive(Default)]
struct Own {
    times: Arc<Mutex<Vec<u32>>>,
}

impl CongestionControl for Own {
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {}
    fn on_loss(&mut self, _cx: &mut SenderCx<'_>) -> Cut {
        Cut::window(500.0)
    }
    fn on_timeout(&mut self, _cx: &mut SenderCx<'_>, times: u32) -> Cut {
        self.times.lock().unwrap().push(times);
        Cut { ssthresh: 700.0, cwnd: Some(300.0) }
    }
}

/// Ten segments in flight.
fn own(cfg: &SenderConfig) -> (Bench, Arc<Mutex<Vec<u32>>>) {
    let times = Arc::default();
    let cc = Box::new(Own { times: Arc::clone(&times) });
    let mut bench = Bench::with(SenderConfig { initial_window: 1000, ..cfg.clone() }, cc, EcnMode::Off, None, false);
    bench.adopt();
    bench.sent();
    (bench, times)
}

fn linux() -> SenderConfig {
    SenderConfig { linux: Some(LinuxConfig { tail_loss_probe: false, ticks_apart: false }), ..SACK }
}

#[test]
fn newreno_neither_inflates_nor_deflates_it() {
    let (mut bench, _) = own(&CFG);
    bench.dup_acks(3);
    bench.expect("1:101R");
    bench.expect_cwnd(500.0);
    bench.dup_acks(4);
    bench.expect_cwnd(500.0);
    bench.ack(301); // partial
    bench.expect_cwnd(500.0);
    bench.ack(1001);
    bench.expect_cwnd(500.0);
    bench.expect_ssthresh(500.0);
}

#[test]
fn recovery_with_blocks_keeps_to_it() {
    let (mut bench, _) = own(&SACK);
    (0..3).for_each(|i| bench.sack(&[(101, 301 + 100 * i)]));
    bench.expect_cwnd(500.0);
}

#[test]
fn linux_does_not_reduce_in_proportion() {
    let (mut bench, _) = own(&linux());
    (0..5).for_each(|i| bench.sack(&[(101, 301 + 100 * i)]));
    assert!(bench.sender.in_recovery());
    bench.expect_cwnd(500.0);
    bench.ack(1001);
    bench.expect_cwnd(500.0);
}

#[test]
fn a_timeout_leaves_the_window_that_it_says_and_tells_how_many_there_were() {
    for cfg in [CFG, SACK, linux()] {
        let (mut bench, times) = own(&cfg);
        bench.expire_timer();
        bench.expect_cwnd(300.0);
        bench.expect_ssthresh(700.0);
        bench.expire_timer();
        bench.wait(ms(1));
        bench.ack(101);
        bench.expire_timer();
        assert_eq!(*times.lock().unwrap(), [1, 2, 1]);
    }
}

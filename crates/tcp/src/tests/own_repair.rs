//! Congestion control that sends by what its receiver's own packets say, and repairs losses itself.

use super::{Bench, CFG};
use crate::sender::{Env, TimerOutcome};
use fanin_core::roles::{AckEvent, Asks, CongestionControl, ControlPacket, Cut, EcnMode, SenderCx};

const AGAIN: u8 = 1;
const MORE: u8 = 2;

/// Keeps an edge, which only a packet of the kind `MORE` moves on, by its field; one of `AGAIN` names a lost segment.
struct Own {
    edge: u64,
    lost: Option<u64>,
    waits: bool,
}

impl Own {
    fn limit(&self, cx: &mut SenderCx<'_>) {
        cx.window.cwnd = ((self.edge - cx.una) as f64).max(0.5);
    }
}

impl CongestionControl for Own {
    fn asks(&self) -> Asks {
        Asks { repairs: true, waits: self.waits, ..Asks::default() }
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        self.edge = cx.una + 500;
        self.limit(cx);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, _ack: &AckEvent) {
        self.limit(cx);
    }
    fn on_control(&mut self, cx: &mut SenderCx<'_>, packet: &ControlPacket) {
        match packet.kind {
            AGAIN => self.lost = Some(packet.field),
            _ => self.edge += packet.field,
        }
        self.limit(cx);
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, times: u32) -> Cut {
        self.lost = (times > 1).then_some(cx.una);
        Cut::to(cx.window.ssthresh)
    }
    fn resends(&mut self) -> Option<u64> {
        self.lost.take()
    }
}

/// Five segments in flight.
fn own() -> Bench {
    with(false)
}

fn with(waits: bool) -> Bench {
    let cc = Box::new(Own { edge: 0, lost: None, waits });
    let mut bench = Bench::with(CFG, cc, EcnMode::Off, None, false);
    bench.adopt();
    bench.expect("1:101 101:201 201:301 301:401 401:501");
    bench
}

fn hear(bench: &mut Bench, kind: u8, field: u64) {
    let packet = ControlPacket { kind, field, ..ControlPacket::default() };
    bench.sender.on_control(&packet, &mut Env { now: bench.now, cfg: &bench.cfg, io: &mut bench.wire });
}

#[test]
fn its_packets_let_it_send_and_acknowledgements_do_not() {
    let mut bench = own();
    bench.ack(101);
    bench.expect_nothing();
    hear(&mut bench, MORE, 200);
    bench.expect("501:601 601:701");
    // All is acknowledged: a window below a segment still lets nothing through.
    bench.ack(701);
    bench.expect_nothing();
    hear(&mut bench, MORE, 100);
    bench.expect("701:801");
}

#[test]
fn duplicates_start_no_recovery_and_only_what_it_names_is_sent_again() {
    let mut bench = own();
    bench.dup_acks(10);
    bench.expect_nothing();
    assert!(!bench.sender.in_recovery());
    hear(&mut bench, AGAIN, 201);
    bench.expect("201:301R");
    bench.ack(501);
    // What is acknowledged is not sent again, nor what was never sent.
    hear(&mut bench, AGAIN, 201);
    hear(&mut bench, AGAIN, 501);
    bench.expect_nothing();
}

#[test]
fn a_timeout_does_not_go_back_and_is_one_only_if_something_is_sent() {
    let mut bench = own();
    bench.ack(101);
    assert_eq!(bench.expire_timer(), TimerOutcome::Reordering);
    bench.expect_nothing();
    assert_eq!(bench.expire_timer(), TimerOutcome::Timeout);
    bench.expect("101:201R");
    bench.expect_cwnd(400.0);
    bench.ack(201);
    bench.expect_nothing();
}

#[test]
fn it_probes_a_closed_window_unless_it_waits_for_its_receiver() {
    let mut bench = own();
    bench.ack(501);
    assert_eq!(bench.expire_timer(), TimerOutcome::WindowProbe);
    let mut bench = with(true);
    bench.ack(501);
    assert!(bench.sender.deadline().is_never());
    hear(&mut bench, MORE, 100);
    bench.expect("501:601");
}

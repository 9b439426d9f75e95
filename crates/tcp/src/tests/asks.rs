//! What congestion control asks for: the delay of every segment that an acknowledgement is the first to report.

use super::{Bench, CFG, SACK, ms};
use crate::sender::{LinuxConfig, SenderConfig};
use fanin_core::ids::NodeId;
use fanin_core::packet::Flags;
use fanin_core::roles::{AckEvent, Asks, CongestionControl, Delay, EcnMode, HostDelay, QuietAck, SenderCx};
use fanin_core::telemetry::{Hop, Telemetry};
use fanin_core::units::Time;
use std::sync::{Arc, Mutex};

type Seen = Arc<Mutex<Vec<Option<Delay>>>>;

/// Asks, and notes what it is told.
struct Asking {
    asks: Asks,
    delay: Option<Delay>,
    seen: Seen,
    quiet: Arc<Mutex<Vec<u64>>>,
}

impl CongestionControl for Asking {
    fn asks(&self) -> Asks {
        self.asks
    }
    fn on_delay(&mut self, _cx: &mut SenderCx<'_>, delay: &Delay) {
        self.delay = Some(*delay);
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {
        self.seen.lock().unwrap().push(self.delay.take());
    }
    fn on_quiet_ack(&mut self, _cx: &mut SenderCx<'_>, ack: &QuietAck) {
        self.quiet.lock().unwrap().push(ack.window);
    }
}

/// A sender with five segments in flight since the beginning.
fn asking(cfg: &SenderConfig, asks: Asks) -> (Bench, Seen) {
    let (bench, seen, _) = hearing(cfg, asks);
    (bench, seen)
}

/// The same, with the windows of acknowledgements that acknowledge nothing.
fn hearing(cfg: &SenderConfig, asks: Asks) -> (Bench, Seen, Arc<Mutex<Vec<u64>>>) {
    let (seen, quiet) = (Seen::default(), Arc::default());
    let cc = Box::new(Asking { asks, delay: None, seen: seen.clone(), quiet: Arc::clone(&quiet) });
    let mut bench = Bench::with(SenderConfig { initial_window: 500, ..cfg.clone() }, cc, EcnMode::Off, None, false);
    bench.adopt();
    (bench, seen, quiet)
}

/// The round-trip times that it was told since the last look.
fn told(seen: &Seen) -> Vec<Option<Time>> {
    seen.lock().unwrap().drain(..).map(|delay| delay.map(|delay| delay.rtt)).collect()
}

const DELAYS: Asks =
    Asks { delays: true, paces: false, quiet_acks: false, repairs: false, waits: false, telemetry: false };

/// The senders of the RFCs and of Linux, with SACK.
fn both() -> [SenderConfig; 2] {
    let linux = LinuxConfig { tail_loss_probe: false, ticks_apart: false };
    [SACK, SenderConfig { linux: Some(linux), ..SACK }]
}

#[test]
fn an_acknowledgement_with_blocks_gives_the_delay_of_what_it_acknowledges_by_its_stamp() {
    for cfg in both() {
        let (mut bench, seen) = asking(&cfg, DELAYS);
        bench.wait(ms(7));
        bench.echo = Some(ms(0));
        bench.receive(101, Flags::NONE, &[(201, 301)]);
        assert_eq!(told(&seen), [Some(ms(7))]);
    }
}

#[test]
fn blocks_alone_give_the_delay_of_the_newest_that_they_report_first() {
    for cfg in both() {
        let (mut bench, seen) = asking(&cfg, DELAYS);
        bench.wait(ms(5));
        bench.echo = Some(ms(0));
        bench.ack(101); // leaves the sixth, and more
        bench.wait(ms(6));
        bench.sack(&[(501, 601)]);
        assert_eq!(told(&seen), [Some(ms(5)), Some(ms(6))], "the echo is of the first segment");
    }
}

#[test]
fn a_retransmission_gives_its_own_delay() {
    for cfg in both() {
        let (mut bench, seen) = asking(&cfg, DELAYS);
        bench.expire_timer();
        let again = bench.now;
        bench.wait(ms(3));
        bench.echo = Some(again);
        bench.ack(101);
        assert_eq!(told(&seen), [Some(ms(3))]);
    }
}

#[test]
fn a_repeated_number_without_blocks_gives_none() {
    let (mut bench, seen) = asking(&CFG, DELAYS);
    bench.echo = Some(ms(0));
    bench.wait(ms(5));
    bench.dup_acks(1);
    assert_eq!(told(&seen), [None]);
}

#[test]
fn who_does_not_ask_is_told_nothing() {
    for cfg in both() {
        let (mut bench, seen) = asking(&cfg, Asks::default());
        bench.echo = Some(ms(0));
        bench.wait(ms(5));
        bench.ack(101);
        assert_eq!(told(&seen), [None]);
    }
}

#[test]
fn the_delay_says_how_much_of_it_the_hosts_took() {
    for cfg in both() {
        let (mut bench, seen) = asking(&cfg, DELAYS);
        bench.wait(ms(7));
        bench.echo = Some(ms(0));
        bench.hosts = HostDelay { remote: ms(3), local: ms(1) };
        bench.ack(101);
        let delay = seen.lock().unwrap()[0].unwrap();
        assert_eq!((delay.rtt, delay.hosts.remote, delay.fabric()), (ms(7), ms(3), ms(3)));
    }
}

#[test]
fn updates_of_the_window_and_acknowledgements_without_flight_are_told_to_who_asks() {
    for cfg in both() {
        let asks = Asks { quiet_acks: true, ..Asks::default() };
        let (mut bench, seen, quiet) = hearing(&cfg, asks);
        bench.window = 900;
        bench.ack(1);
        assert_eq!(*quiet.lock().unwrap(), [900], "an update");
        bench.window = 0;
        let sent = bench.sender.max_sent();
        bench.ack(sent);
        assert_eq!((bench.sender.in_flight(), seen.lock().unwrap().len()), (0, 1), "new data, of which on_ack hears");
        bench.ack(sent);
        assert_eq!(*quiet.lock().unwrap(), [900, 0], "nothing is outstanding");
        let (mut bench, _, quiet) = hearing(&cfg, Asks::default());
        bench.window = 900;
        bench.ack(1);
        assert!(quiet.lock().unwrap().is_empty());
    }
}

/// Notes how many hops it is told, and 100 for each acknowledgement.
struct Reading(Asks, Arc<Mutex<Vec<usize>>>);

impl CongestionControl for Reading {
    fn asks(&self) -> Asks {
        self.0
    }
    fn on_telemetry(&mut self, _cx: &mut SenderCx<'_>, telemetry: &Telemetry) {
        self.1.lock().unwrap().push(telemetry.hops().len());
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {
        self.1.lock().unwrap().push(100);
    }
}

#[test]
fn telemetry_is_told_before_the_acknowledgement_that_brings_it_and_segments_ask_for_it() {
    for (cfg, telemetry) in both().into_iter().flat_map(|cfg| [(cfg.clone(), true), (cfg, false)]) {
        let told = Arc::default();
        let cc = Box::new(Reading(Asks { telemetry, ..Asks::default() }, Arc::clone(&told)));
        let mut bench = Bench::with(SenderConfig { initial_window: 500, ..cfg }, cc, EcnMode::Off, None, false);
        bench.adopt();
        assert!(bench.wire.sent.iter().all(|segment| segment.flags.has(Flags::OPTION) == telemetry));
        let mut stack = Telemetry::default();
        stack.push(NodeId::new(1), Hop::default());
        bench.telemetry = telemetry.then_some(stack);
        bench.ack(101);
        bench.sack(&[(201, 301)]);
        bench.telemetry = None;
        bench.ack(201);
        let expected: &[usize] = if telemetry { &[1, 100, 1, 100, 100] } else { &[100, 100, 100] };
        assert_eq!(*told.lock().unwrap(), expected);
    }
}

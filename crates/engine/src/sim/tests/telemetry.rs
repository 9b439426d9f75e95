//! Telemetry: what ports write into packets of a scheme that asks for it, and what reaches its senders.

use super::bench::{Log, Parts, both, instead, reals, run_instead, scenario, star};
use crate::sim::Outcome;
use crate::sim::build::build;
use fanin_core::roles::{AckEvent, Asks, CongestionControl, SenderCx};
use fanin_core::telemetry::Telemetry;
use fanin_core::units::{Rate, Time};
use fanin_event::EventCore as _;
use fanin_event::core::Core;
use fanin_schemes::NewReno;

/// `NewReno` that tells what reaches it, if it asks.
struct Reading {
    asks: bool,
    told: Log<(Time, Telemetry)>,
}

impl CongestionControl for Reading {
    fn asks(&self) -> Asks {
        Asks { telemetry: self.asks, ..Asks::default() }
    }
    fn on_telemetry(&mut self, cx: &mut SenderCx<'_>, telemetry: &Telemetry) {
        self.told.push((cx.now, *telemetry));
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        NewReno.on_ack(cx, ack);
    }
}

fn reading(asks: bool, told: &Log<(Time, Telemetry)>) -> Parts {
    let told = told.clone();
    let sender = move |_: &_| Box::new(Reading { asks, told: told.clone() }) as Box<dyn CongestionControl>;
    Parts { congestion: Some(Box::new(sender)), ..Parts::default() }
}

/// What the senders of a scenario were told.
fn told(text: &str) -> (Outcome, Vec<(Time, Telemetry)>) {
    let log = Log::new();
    (run_instead(text, reading(true, &log)), log.take())
}

const EACH: &str = "[transport]\nack-every = 1\n";

#[test]
fn each_port_on_the_way_writes_when_it_sends_what_it_has_sent_what_waits_and_its_rate() {
    let network = "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"10us\"\n";
    let (_, told) = told(&format!(
        "{network}{EACH}initial-window = \"4mss\"\n[[traffic]]\nkind = \"background\"\nflows = 1\nbytes-each = \"29200B\"\n\
         [run]\nduration = \"1s\"\n"
    ));
    let stacks: Vec<Telemetry> = told.into_iter().take(3).map(|(_, stack)| stack).collect();
    let packet = Time::from_us(12);
    for (i, stack) in stacks.iter().enumerate() {
        let [near, far] = stack.hops() else { panic!("{stack:?}") };
        assert_eq!((near.rate, far.rate), (Rate::from_bps(1_000_000_000), Rate::from_bps(10_000_000_000)));
        // A SYN and the last packet of the handshake went before.
        assert_eq!((near.sent, far.sent), (80 + 1500 * i as u64, 80 + 1500 * i as u64));
        assert_eq!(near.at, stacks[0].hops()[0].at + Time::from_ps(packet.ps() * i as u64), "back to back");
        assert_eq!(far.at, near.at + packet + Time::from_us(10), "when it starts on the second link");
        assert_eq!(far.queued, 0);
    }
    // A packet of 1500 bytes arrives every 1.2 us: all that will wait behind the second are there by then.
    assert_eq!(stacks.iter().map(|stack| stack.hops()[0].queued).collect::<Vec<_>>(), [0, 3000, 1500]);
}

#[test]
fn queues_in_telemetry_are_those_of_the_port() {
    let (outcome, told) = told(&star(10, "60KB", EACH));
    let most = told.iter().map(|(_, stack)| stack.hops()[0].queued).max().unwrap();
    // The one in transmission leaves, and the next one begins.
    assert_eq!(most as f64, 1500.0 * (outcome.number("queue_max_packets") - 2.0));
    assert!(told.iter().all(|(now, stack)| *now > stack.hops()[0].at), "of the past");
}

/// With losses, and with acknowledgements that report some.
#[test]
fn both_event_cores_write_the_same() {
    for transport in
        ["sack = true", "ack-every = 2", "interrupt-interval = \"30us\"\ngro = \"64KB\"", "stack = \"linux-6\""]
    {
        let text = star(15, "60KB", &format!("[transport]\nrto-min = \"10ms\"\n{transport}\n")).replacen(
            "delay",
            "buffer = \"20pkt\"\ndelay",
            1,
        );
        let log = Log::new();
        let outcome = both(&text, &|| instead(reading(true, &log))).unwrap();
        let told = log.take();
        assert!(outcome.number("drops") > 0.0, "{transport}");
        let (fast, reference) = told.split_at(told.len() / 2);
        assert_eq!(fast, reference, "{transport}");
        assert!(!fast.is_empty());
    }
}

#[test]
fn every_acknowledgement_echoes_the_stack_of_its_own_segment_once() {
    let (_, told) = told(&star(1, "100KB", EACH));
    let sent: Vec<u64> = told.iter().map(|(_, stack)| stack.hops()[0].sent).collect();
    // The run ends with the arrival of the last segment, before the last acknowledgements.
    assert!(sent.len() > 60, "{} stacks", sent.len());
    assert!(sent.iter().enumerate().all(|(i, sent)| *sent == 80 + 1500 * i as u64), "{sent:?}");
}

#[test]
fn who_does_not_ask_is_told_nothing_and_runs_as_if_switches_wrote_nothing() {
    let text = star(10, "60KB", "[transport]\nsack = true\n");
    let (asking, silent) = (Log::new(), Log::new());
    let asks = run_instead(&text, reading(true, &asking));
    let does_not = run_instead(&text, reading(false, &silent));
    assert!(!asking.take().is_empty() && silent.take().is_empty());
    assert_eq!(reals(&asks, "flows", "fct_s"), reals(&does_not, "flows", "fct_s"));
}

#[test]
fn what_dropped_segments_carried_is_forgotten() {
    let text = star(15, "60KB", "[transport]\nrto-min = \"10ms\"\n").replacen("delay", "buffer = \"20pkt\"\ndelay", 1);
    let mut world = build::<Core>(&scenario(&text), instead(reading(true, &Log::new()))).unwrap();
    world.run(None).unwrap();
    let core = &mut world.net.core;
    let drops: u64 = core.books().drops.iter().sum();
    let stacks = (0..10_000).filter(|slot| core.stacks().peek(*slot).is_some()).count();
    // Some wait at receivers, or are on their way back.
    assert!(drops > 100 && stacks < 20, "{drops} drops, {stacks} stacks");
}

#[test]
fn only_the_scheme_of_the_network_can_ask_for_telemetry() {
    let text = star(2, "60KB", "scheme = \"newreno\"\n[transport]\nscheme = \"dctcp\"\n");
    let error = build::<Core>(&scenario(&text), instead(reading(true, &Log::new()))).err().expect("an error");
    assert!(error.to_string().contains("needs switches that write telemetry"), "{error}");
}

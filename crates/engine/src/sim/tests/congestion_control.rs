//! The sender's role: what a scheme can do there, each lever proven by its effect elsewhere.

use super::bench::{Log, Parts, Tap, reals, run_instead, star, tapped};
use fanin_core::ids::FlowId;
use fanin_core::packet::Flags;
use fanin_core::roles::{
    AckDecision, AckEvent, AckKind, Announcement, Arrival, CongestionControl, EcnMode, ReceiverCx, SenderCx,
    TransferFacts, WindowControl,
};
use fanin_core::units::Time;
use fanin_schemes::NewReno;

/// Numbers its packets in the field, alternates their priority and ECT, and tells which fields come back.
struct Numbering {
    next: u64,
    echoed: Log<u64>,
}

impl CongestionControl for Numbering {
    fn ecn(&self) -> EcnMode {
        EcnMode::Accurate
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        cx.packet.field = 1000;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        self.echoed.push(ack.field);
        self.next += 1;
        cx.packet.field = 1000 + self.next;
        cx.packet.priority = (self.next % 4) as u8;
        cx.packet.ect = self.next.is_multiple_of(2);
        // One segment at a time: each packet has the values of the acknowledgement before it.
        cx.window.cwnd = cx.mss;
    }
}

/// Tells the field of every segment that arrives.
struct Fields(Log<u64>);

impl WindowControl for Fields {
    fn on_open(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _announced: &Announcement) {}
    fn on_data(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, arrival: &Arrival) {
        self.0.push(arrival.field);
    }
    fn on_ack(&mut self, _cx: &mut ReceiverCx<'_>, _flow: FlowId, _kind: AckKind) -> AckDecision {
        AckDecision::Send
    }
}

#[test]
fn field_priority_and_ect_are_chosen_per_packet_and_reach_switch_receiver_and_sender() {
    let (seen, arrived, echoed) = (Log::new(), Log::new(), Log::new());
    let (tap, fields, echo) = (seen.clone(), arrived.clone(), echoed.clone());
    let scheme = Parts {
        congestion: Some(Box::new(move |_| Box::new(Numbering { next: 0, echoed: echo.clone() }))),
        window: Some(Box::new(move |_| Box::new(Fields(fields.clone())))),
        agent: Some(Box::new(move |_| Box::new(Tap(tap.clone())))),
        ..Parts::default()
    };
    run_instead(&star(1, "14600B", "[transport]\ninitial-window = \"1mss\""), scheme);
    let expected: Vec<u64> = (1000..1010).collect();
    assert_eq!(arrived.take(), expected, "at the receiver");
    // The run ends with the arrival of the last segment, before its acknowledgement.
    assert_eq!(echoed.take(), expected[..9], "back at the sender");
    let data: Vec<_> = seen.take().into_iter().map(|seen| seen.packet).filter(|p| !p.is_ack() && p.size > 40).collect();
    assert_eq!(data.iter().map(|packet| packet.field).collect::<Vec<_>>(), expected, "at the switch");
    for (i, packet) in data.iter().enumerate().skip(1) {
        assert_eq!(u64::from(packet.priority), i as u64 % 4);
        assert_eq!(packet.flags.has(Flags::ECT), i % 2 == 0);
    }
}

/// A fixed pause after each packet.
struct Paced(Time);

impl CongestionControl for Paced {
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        cx.packet.gap = self.0;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        NewReno.on_ack(cx, ack);
    }
}

#[test]
fn a_gap_spaces_packets() {
    let (mut scheme, log) = tapped();
    let gap = Time::from_us(50);
    scheme.congestion = Some(Box::new(move |_| Box::new(Paced(gap))));
    let outcome = run_instead(&star(1, "100KB", ""), scheme);
    let at: Vec<Time> = log.take().iter().filter(|seen| seen.packet.size > 40).map(|seen| seen.at).collect();
    assert_eq!(at.len(), 69);
    // The first follows the last packet of the handshake, and the last is short; between the others the gap at the
    // sender is the gap at the switch.
    let gaps: Vec<Time> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps[1..67].iter().all(|found| *found == gap), "{gaps:?}");
    assert_eq!(outcome.number("queue_max_packets"), 1.0);
}

/// Sets its clock three times, and once moves it before it has run down.
struct Waking {
    woken: Log<Time>,
    moved: bool,
}

impl CongestionControl for Waking {
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        *cx.wake = cx.now + Time::from_ms(1);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, _ack: &AckEvent) {
        if !self.moved {
            self.moved = true;
            *cx.wake = Time::from_us(700);
        }
    }
    fn on_wake(&mut self, cx: &mut SenderCx<'_>) {
        self.woken.push(cx.now);
        if cx.now < Time::from_ms(3) {
            *cx.wake = cx.now + Time::from_ms(1);
        }
    }
}

#[test]
fn a_wake_timer_fires_when_it_was_set_last() {
    let woken = Log::new();
    let tell = woken.clone();
    let scheme = Parts {
        congestion: Some(Box::new(move |_| Box::new(Waking { woken: tell.clone(), moved: false }))),
        ..Parts::default()
    };
    run_instead(&star(1, "1MB", ""), scheme);
    assert_eq!(woken.take(), [700, 1700, 2700, 3700].map(Time::from_us));
}

/// A window of two segments whatever happens.
struct Fixed;

impl CongestionControl for Fixed {
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        cx.window.cwnd = 2.0 * cx.mss;
    }
    fn on_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &AckEvent) {}
}

#[test]
fn the_window_bounds_what_is_in_flight() {
    let scheme = Parts { congestion: Some(Box::new(|_| Box::new(Fixed))), ..Parts::default() };
    let outcome = run_instead(&star(1, "50KB", "[measure]\nprobes = \"in-flight\""), scheme);
    let most = reals(&outcome, "probes", "value").into_iter().fold(0.0, f64::max);
    assert_eq!(most, 2920.0);
}

/// Tells what the application hands over, and before which byte later transfers begin.
struct Transfers(Log<TransferFacts>, Log<u64>);

impl CongestionControl for Transfers {
    fn on_transfer(&mut self, transfer: &TransferFacts) {
        self.0.push(*transfer);
    }
    fn on_later_transfer(&mut self, cx: &mut SenderCx<'_>) {
        self.1.push(cx.max_sent);
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        NewReno.on_ack(cx, ack);
    }
}

#[test]
fn it_hears_of_every_transfer_with_its_deadline_before_its_first_byte() {
    let (transfers, later) = (Log::new(), Log::new());
    let (tell, tell_later) = (transfers.clone(), later.clone());
    let make = move |_: &_| Box::new(Transfers(tell.clone(), tell_later.clone())) as Box<dyn CongestionControl>;
    let scheme = Parts { congestion: Some(Box::new(make)), ..Parts::default() };
    let rounds = "start = \"1ms\"\nrounds = 3\ngap = \"2ms\"\nconnections = \"persistent\"\nrequest = \"100B\"\n\
                  deadline = \"20ms\"";
    let outcome = run_instead(&star(1, "5KB", rounds), scheme);
    let (requests, responses): (Vec<_>, Vec<_>) =
        transfers.take().into_iter().partition(|told| told.bytes == Some(100));
    let firsts = |told: &[TransferFacts]| told.iter().map(|told| told.first).collect::<Vec<_>>();
    assert_eq!((firsts(&requests), firsts(&responses)), (vec![1, 101, 201], vec![1, 5001, 10_001]));
    assert_eq!(later.take(), [101, 5001, 201, 10_001]);
    assert!(requests.iter().all(|told| told.deadline.is_none()), "a request has no deadline of its own");
    assert!(responses.iter().all(|told| told.bytes == Some(5000)));
    let deadlines: Vec<f64> = responses.iter().map(|told| told.deadline.expect("a deadline").secs()).collect();
    assert_eq!(deadlines, reals(&outcome, "flows", "deadline_s"), "counted from the request");
}

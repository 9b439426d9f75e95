//! The switch's role: it sees all that passes, rewrites, drops, keeps and injects.

use super::bench::{Log, Parts, both, instead, reals, run_instead, star, tapped};
use fanin_core::ids::LinkId;
use fanin_core::packet::{Addresses, Flags, Packet};
use fanin_core::roles::{Pass, Passage, SwitchAction, SwitchAgent, SwitchCx, SwitchPort};
use fanin_core::units::Time;

#[test]
fn it_sees_syn_data_fin_and_acknowledgements_in_both_directions() {
    let (scheme, log) = tapped();
    let outcome = run_instead(&star(2, "3KB", ""), scheme);
    let log = log.take();
    for flow in 0..2 {
        let seen: Vec<_> = log.iter().filter(|seen| seen.packet.flow.index() == flow).collect();
        let kinds: Vec<(bool, Flags)> = seen
            .iter()
            .map(|seen| {
                let wanted = [Flags::SYN, Flags::FIN].into_iter().filter(|flag| seen.packet.flags.has(*flag));
                (seen.packet.is_ack(), wanted.fold(Flags::NONE, Flags::with))
            })
            .collect();
        let (syn, fin, none) = (Flags::SYN, Flags::FIN, Flags::NONE);
        // SYN, SYN-ACK, the handshake's last packet, three segments with the FIN on the last.
        let data = [(false, syn), (true, syn), (false, none), (false, none), (false, none), (false, fin)];
        let without_acks: Vec<_> = kinds.iter().filter(|kind| **kind != (true, none)).copied().collect();
        assert_eq!(without_acks, data);
        let towards: Vec<LinkId> = seen.iter().filter(|seen| !seen.packet.is_ack()).map(|s| s.passage.to).collect();
        assert!(towards.iter().all(|link| *link == LinkId::new(1)), "to the receiver");
    }
    assert!(log.iter().all(|seen| seen.switch.index() == 0));
    assert!(outcome.number("packet_hops") > 2.0 * log.len() as f64 - 20.0);
}

#[test]
fn no_link_carries_more_than_its_rate() {
    let (scheme, log) = tapped();
    let text = star(20, "60KB", "jitter = \"100us\"").replace("\"star\"", "\"two-switch\"\nrate = \"10Gbps\"");
    let outcome = run_instead(&text.replace("[run]", "[transport]\nrto-min = \"1ms\"\n[run]"), scheme);
    assert!(outcome.number("drops") > 0.0);
    // A packet is seen when its last bit arrives: at least its own transmission after the one before it.
    let rates = reals(&outcome, "links", "rate_bps");
    let mut last = vec![Time::ZERO; rates.len()];
    for seen in log.take() {
        let link = seen.passage.from.index();
        let transmission = Time::from_ps(u64::from(seen.packet.size) * 8_000_000_000_000 / rates[link] as u64);
        assert!(seen.at >= last[link] + transmission, "{seen:?}");
        last[link] = seen.at;
    }
}

/// Writes a window into every acknowledgement.
struct Rewriting(u64);

impl SwitchAgent for Rewriting {
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, _passage: &Passage) -> Pass {
        if packet.is_ack() && !packet.flags.has(Flags::SYN) {
            packet.window = packet.window.min((self.0 >> 5) as u16);
        }
        Pass::Forward
    }
}

#[test]
fn the_sender_obeys_a_rewritten_window() {
    let scheme = Parts { agent: Some(Box::new(|_| Box::new(Rewriting(6400)))), ..Parts::default() };
    let text = star(1, "200KB", "[transport]\ninitial-window = \"2mss\"\n[measure]\nprobes = \"in-flight\"");
    let outcome = run_instead(&text, scheme);
    let most = reals(&outcome, "probes", "value").into_iter().fold(0.0, f64::max);
    assert_eq!(most, 4.0 * 1460.0);
    // Every acknowledgement but the SYN's; the run ends before the last one reaches the switch.
    assert_eq!(outcome.number("rewritten"), outcome.number("segments_received") - 1.0);
}

/// Loses one segment.
struct Losing;

impl SwitchAgent for Losing {
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, _passage: &Passage) -> Pass {
        let first = packet.seq == 1 + 1460 && !packet.is_ack() && !packet.flags.has(Flags::RETRANSMITTED);
        if first { Pass::Drop } else { Pass::Forward }
    }
}

#[test]
fn what_it_drops_is_sent_again() {
    let scheme = Parts { agent: Some(Box::new(|_| Box::new(Losing))), ..Parts::default() };
    let outcome = run_instead(&star(1, "30KB", ""), scheme);
    assert_eq!((outcome.number("drops_agent"), outcome.number("retransmissions")), (1.0, 1.0));
    assert_eq!(outcome.number("timeouts"), 0.0, "three duplicates tell");
}

/// Keeps the first segments and sends them on together, much later.
struct Keeping {
    kept: Vec<(Packet, LinkId)>,
    fired: Log<(Time, u64)>,
}

impl SwitchAgent for Keeping {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if packet.size <= 40 || packet.is_ack() || cx.now > Time::from_ms(2) {
            return Pass::Forward;
        }
        if self.kept.is_empty() {
            cx.actions.push(SwitchAction::Timer { at: Time::from_ms(2), token: 77 });
        }
        self.kept.push((*packet, passage.to));
        Pass::Keep
    }
    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, token: u64) {
        self.fired.push((cx.now, token));
        for (packet, to) in self.kept.drain(..) {
            cx.actions.push(SwitchAction::Inject { packet, to });
        }
    }
}

#[test]
fn what_it_keeps_leaves_when_it_says() {
    let fired = Log::new();
    let tell = fired.clone();
    let make = move || {
        let tell = tell.clone();
        instead(Parts {
            agent: Some(Box::new(move |_| Box::new(Keeping { kept: Vec::new(), fired: tell.clone() }))),
            ..Parts::default()
        })
    };
    let outcome = both(&star(1, "14600B", ""), &make).expect("both cores agree");
    // Ten segments leave the switch back to back from 2 ms on, and arrive 10 us later.
    let segment = 1500.0 * 8e-9;
    let completion = reals(&outcome, "flows", "completion_s")[0];
    assert!((completion - (2e-3 + 10.0 * segment + 10e-6)).abs() < 1e-12, "{completion}");
    assert_eq!(fired.take(), [(Time::from_ms(2), 77); 2], "once in each core");
}

/// Keeps every segment once and loses what it keeps a millisecond later.
#[derive(Default)]
struct Discarding(Vec<(Packet, LinkId)>);

impl SwitchAgent for Discarding {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if packet.size <= 40 || packet.flags.has(Flags::RETRANSMITTED) {
            return Pass::Forward;
        }
        self.0.push((*packet, passage.to));
        cx.actions.push(SwitchAction::Timer { at: cx.now + Time::from_ms(1), token: 0 });
        Pass::Keep
    }
    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, _token: u64) {
        cx.actions.extend(self.0.drain(..).map(|(packet, to)| SwitchAction::Discard { packet, to }));
    }
}

#[test]
fn what_it_kept_and_discards_is_lost_like_a_drop() {
    let scheme = Parts { agent: Some(Box::new(|_| Box::<Discarding>::default())), ..Parts::default() };
    let outcome = run_instead(&star(1, "14600B", ""), scheme);
    assert_eq!((outcome.number("drops_agent"), outcome.number("timeouts_full_window")), (10.0, 1.0));
    assert_eq!(outcome.number("completed"), 1.0);
}

/// Tells of its ports when the run begins, and of the addresses of what passes.
struct Introducing(Log<(Vec<SwitchPort>, Vec<Addresses>)>);

impl SwitchAgent for Introducing {
    fn on_start(&mut self, _cx: &mut SwitchCx<'_>, ports: &[SwitchPort]) {
        self.0.push((ports.to_vec(), Vec::new()));
    }
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        assert!(!cx.now.is_never());
        self.0.push((
            vec![SwitchPort {
                from: passage.from,
                to: passage.to,
                rate: passage.rate,
                host: true,
                peer: fanin_core::ids::NodeId::default(),
            }],
            vec![cx.book.addresses(packet.flow)],
        ));
        Pass::Forward
    }
}

#[test]
fn it_knows_its_ports_from_the_start_and_the_addresses_of_what_passes() {
    let log = Log::new();
    let tell = log.clone();
    let scheme = Parts { agent: Some(Box::new(move |_| Box::new(Introducing(tell.clone())))), ..Parts::default() };
    run_instead(&star(2, "3KB", ""), scheme);
    let told = log.take();
    let ports = &told[0].0;
    assert_eq!(ports.len(), 3, "two senders and the receiver");
    for (passed, addresses) in &told[1..] {
        let (from, to) = (passed[0].from, passed[0].to);
        assert!(
            ports.iter().any(|port| port.from == from) && ports.iter().any(|port| port.to == to && port.from != from)
        );
        assert_eq!(addresses[0].dst_port, 5001);
        assert_ne!(addresses[0].src, addresses[0].dst);
        assert_eq!(addresses[0].reversed().reversed(), addresses[0]);
    }
}

#[test]
fn what_it_keeps_for_good_is_on_the_books() {
    struct Hoarding;
    impl SwitchAgent for Hoarding {
        fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, _passage: &Passage) -> Pass {
            if packet.size > 40 { Pass::Keep } else { Pass::Forward }
        }
    }
    let scheme = Parts { agent: Some(Box::new(|_| Box::new(Hoarding))), ..Parts::default() };
    let outcome = run_instead(&star(1, "14600B", ""), scheme);
    assert_eq!((outcome.number("incomplete"), outcome.number("drops")), (1.0, 0.0));
}

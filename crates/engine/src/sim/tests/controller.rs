//! The controller's role, and the channel to it: delay, a FIFO server, jitter, loss.

use super::bench::{Log, Parts, both, instead, run_instead, star};
use fanin_core::ids::NodeId;
use fanin_core::packet::Packet;
use fanin_core::roles::{
    Controller, ControllerAction, ControllerCx, Pass, Passage, SwitchAction, SwitchAgent, SwitchCx,
};
use fanin_core::units::Time;

/// When messages were sent, served and obeyed, by their first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Sent(u8, Time),
    Served(u8, Time),
    Obeyed(u8, Time),
}

/// Reports the first packets that it sees, twice at once each; keeps nothing.
struct Reporting {
    log: Log<Told>,
    sent: u8,
    limit: u8,
}

impl SwitchAgent for Reporting {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, _packet: &mut Packet, _passage: &Passage) -> Pass {
        while self.sent < self.limit {
            self.log.push(Told::Sent(self.sent, cx.now));
            cx.actions.push(SwitchAction::Report(vec![self.sent; 10]));
            self.sent += 1;
        }
        Pass::Forward
    }
    fn on_message(&mut self, cx: &mut SwitchCx<'_>, message: &[u8]) {
        self.log.push(Told::Obeyed(message[0], cx.now));
    }
}

/// Sends every report back.
struct Echo(Log<Told>);

impl Controller for Echo {
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, message: &[u8]) {
        self.0.push(Told::Served(message[0], cx.now));
        cx.actions.push(ControllerAction::Order { to: from, message: message.to_vec() });
    }
}

fn reporting(limit: u8) -> (Parts, Log<Told>) {
    let log = Log::new();
    let (agent, controller) = (log.clone(), log.clone());
    let scheme = Parts {
        agent: Some(Box::new(move |_| Box::new(Reporting { log: agent.clone(), sent: 0, limit }))),
        controller: Some(Box::new(move |()| Box::new(Echo(controller.clone())))),
        ..Parts::default()
    };
    (scheme, log)
}

const CONTROL: &str = "[control]\ndelay = \"60us\"\nservice-time = \"5us\"\n";

#[test]
fn reports_and_orders_take_the_delay_and_wait_for_the_server() {
    let (scheme, log) = reporting(3);
    let outcome = run_instead(&star(1, "100KB", CONTROL), scheme);
    // The SYN reaches the switch after 10 us and 40 bytes.
    let sent = Time::from_us(10) + Time::from_ns(320);
    let log = log.take();
    for n in 0..3 {
        let served = sent + Time::from_us(60) + Time::from_us(5) * (u64::from(n) + 1);
        assert!(log.contains(&Told::Sent(n, sent)));
        assert!(log.contains(&Told::Served(n, served)), "{log:?}");
        assert!(log.contains(&Told::Obeyed(n, served + Time::from_us(60))), "{log:?}");
    }
    assert_eq!((outcome.number("control_messages"), outcome.number("control_bytes")), (6.0, 60.0));
}

#[test]
fn jitter_stays_below_its_bound_and_is_seeded() {
    let arrivals = |seed: u32| {
        let (scheme, log) = reporting(40);
        let control = format!("{CONTROL}jitter = \"20us\"\n[run]\nseed = {seed}\nduration = \"5s\"");
        run_instead(
            &star(1, "100KB", "").replace("[run]\nduration = \"5s\"", &control).replace("5us\"", "0s\""),
            scheme,
        );
        let served: Vec<Time> = log
            .take()
            .iter()
            .filter_map(|told| if let Told::Served(_, at) = told { Some(*at) } else { None })
            .collect();
        served
    };
    let earliest = Time::from_us(70) + Time::from_ns(320);
    let first = arrivals(1);
    assert_eq!(first.len(), 40);
    assert!(first.iter().all(|at| *at >= earliest && *at < earliest + Time::from_us(20)));
    assert!(first.last() > first.first().map(|at| *at + Time::from_us(10)).as_ref(), "spread over the span");
    assert_eq!(first, arrivals(1));
    assert_ne!(first, arrivals(2));
}

#[test]
fn messages_are_lost_at_the_given_rate() {
    let (scheme, log) = reporting(200);
    let outcome = run_instead(&star(1, "2MB", &format!("{CONTROL}loss = \"25%\"")), scheme);
    let log = log.take();
    let served = log.iter().filter(|told| matches!(told, Told::Served(..))).count();
    let obeyed = log.iter().filter(|told| matches!(told, Told::Obeyed(..))).count();
    // Binomial: 150 of 200 +- four standard deviations, and three quarters of these.
    assert!((125..=175).contains(&served), "{served}");
    assert!(obeyed < served && obeyed > served / 2, "{obeyed} of {served}");
    assert_eq!(outcome.number("control_messages") as usize, 200 + served);
}

/// Keeps all data until the controller allows it, and asks again every millisecond.
#[derive(Default)]
struct Asking {
    allowed: bool,
    asked: bool,
    kept: Vec<SwitchAction>,
}

impl Asking {
    fn ask(cx: &mut SwitchCx<'_>) {
        cx.actions.push(SwitchAction::Report(b"may I?".to_vec()));
        cx.actions.push(SwitchAction::Timer { at: cx.now + Time::from_ms(1), token: 0 });
    }
}

impl SwitchAgent for Asking {
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        if packet.is_ack() || self.allowed {
            return Pass::Forward;
        }
        if !self.asked {
            self.asked = true;
            Self::ask(cx);
        }
        self.kept.push(SwitchAction::Inject { packet: *packet, to: passage.to });
        Pass::Keep
    }
    fn on_message(&mut self, cx: &mut SwitchCx<'_>, _message: &[u8]) {
        self.allowed = true;
        cx.actions.append(&mut self.kept);
    }
    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, _token: u64) {
        if !self.allowed {
            Self::ask(cx);
        }
    }
}

/// Responses, but only after a while, by its own timer.
#[derive(Default)]
struct Hesitating(Vec<NodeId>);

impl Controller for Hesitating {
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, _message: &[u8]) {
        self.0.push(from);
        cx.actions.push(ControllerAction::Timer { at: cx.now + Time::from_us(100), token: self.0.len() as u64 });
    }
    fn on_timer(&mut self, cx: &mut ControllerCx<'_>, token: u64) {
        let to = self.0[token as usize - 1];
        cx.actions.push(ControllerAction::Order { to, message: Vec::new() });
    }
}

#[test]
fn a_scheme_that_asks_again_survives_a_lossy_channel() {
    let make = || {
        instead(Parts {
            agent: Some(Box::new(|_| Box::<Asking>::default())),
            controller: Some(Box::new(|()| Box::<Hesitating>::default())),
            ..Parts::default()
        })
    };
    let outcome = both(&star(2, "20KB", "[control]\nloss = \"70%\"\njitter = \"30us\""), &make).expect("both agree");
    assert_eq!(outcome.number("completed"), 2.0);
    assert!(outcome.number("fct_max_s") > 1e-3, "the first question was lost");
}

#[test]
fn messages_of_one_switch_never_overtake_each_other() {
    let (scheme, log) = reporting(40);
    run_instead(&star(1, "100KB", &format!("{CONTROL}jitter = \"500us\"")), scheme);
    let log = log.take();
    let order = |wanted: fn(&Told) -> Option<u8>| log.iter().filter_map(wanted).collect::<Vec<_>>();
    let served = order(|told| if let Told::Served(n, _) = told { Some(*n) } else { None });
    let obeyed = order(|told| if let Told::Obeyed(n, _) = told { Some(*n) } else { None });
    assert_eq!((served.len(), served.is_sorted(), obeyed.is_sorted()), (40, true, true));
    // Messages that arrive at one instant keep their order as well.
    let (scheme, log) = reporting(40);
    run_instead(&star(1, "100KB", "[control]\nservice-time = \"0s\""), scheme);
    let served: Vec<u8> =
        log.take().iter().filter_map(|told| if let Told::Served(n, _) = told { Some(*n) } else { None }).collect();
    assert_eq!((served.len(), served.is_sorted()), (40, true));
}

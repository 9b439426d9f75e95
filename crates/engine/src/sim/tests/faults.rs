//! Faults: each kind does what it says, at the picosecond, and both event cores agree.

use super::bench::{Log, Parts, Seen, both, instead, reals, run_instead, scenario, star, tapped};
use crate::sim::build::Substitutes;
use crate::sim::{Outcome, check, run};
use fanin_core::ids::NodeId;
use fanin_core::roles::{
    Controller, ControllerAction, ControllerCx, Pass, Passage, SwitchAction, SwitchAgent, SwitchCx,
};
use fanin_core::units::Time;
use serde_json::Value;

/// Forty segments at once into a sender's interface of 1 Gbps, where they take 12 us each; the first leaves at 41 us.
fn burst(faults: &str) -> String {
    star(1, "300KB", &format!("{faults}\n[transport]\ninitial-window = \"40mss\"\nrto-min = \"5ms\""))
}

/// When full segments reached the switch, from the sender.
fn arrivals(log: &Log<Seen>) -> Vec<Time> {
    let full = |seen: &Seen| seen.packet.size == 1500;
    log.take().iter().filter(|seen| full(seen)).map(|seen| seen.at).collect()
}

fn watched(faults: &str) -> (Outcome, Vec<Time>) {
    let (scheme, log) = tapped();
    let outcome = run_instead(&burst(faults), scheme);
    (outcome, arrivals(&log))
}

const BREAK: &str = "[[fault]]\nkind = \"link-down\"\nlink = \"sender-0->switch-0\"\nat = \"100us\"\nfor = \"1ms\"\n";

#[test]
fn what_is_on_a_link_that_goes_down_is_lost_and_what_waits_goes_on() {
    let (before, after) = (Time::from_us(100), Time::from_us(1100));
    let (outcome, at) = watched(&format!("{BREAK}direction = \"one\""));
    let (first, rest): (Vec<Time>, Vec<Time>) = at.iter().partition(|at| **at <= before);
    assert!(first.len() >= 2, "{first:?}");
    // Service begins anew at once: 12 us of transmission and 10 us of cable.
    assert_eq!(rest[0], after + Time::from_us(22));
    assert_eq!(rest[1], rest[0] + Time::from_us(12));
    // One packet in transmission and at most one on 10 us of cable.
    let lost = outcome.number("drops_link_down");
    assert!((1.0..=2.0).contains(&lost), "{lost}");
    assert_eq!((outcome.number("drops"), outcome.number("completed")), (lost, 1.0));
}

#[test]
fn a_port_told_to_drop_keeps_nothing_and_lets_nothing_in() {
    let (outcome, at) = watched(&format!("{BREAK}direction = \"one\"\nqueued = \"drop\""));
    assert!(outcome.number("drops_link_down") > 30.0, "the whole burst: {}", outcome.number("drops_link_down"));
    // Nothing waits when the link is back; the sender's timer brings the next segment.
    assert!(at.iter().all(|at| *at <= Time::from_us(100) || *at > Time::from_us(1122)));
    assert_eq!(outcome.number("completed"), 1.0);
}

#[test]
fn both_directions_go_down_unless_one_is_asked_for() {
    let lost = |direction: &str| {
        let down = BREAK.replace("100us", "306us").replace("sender-0->switch-0", "bottleneck");
        let (outcome, _) = watched(&format!("{down}queued = \"drop\"\n{direction}"));
        let (drops, links) = (reals(&outcome, "links", "drops"), outcome.table("links").expect("links").rows());
        assert_eq!((drops.len(), links), (4, 4));
        // Links: receiver to switch, switch to receiver, sender to switch, switch to sender.
        (drops[0] > 0.0, drops[1] > 0.0)
    };
    assert_eq!(lost(""), (true, true));
    assert_eq!(lost("direction = \"one\""), (false, true));
}

#[test]
fn a_link_that_stays_down_leaves_the_flow_incomplete() {
    let text = burst("[[fault]]\nkind = \"link-down\"\nqueued = \"drop\"").replace("5s", "300s");
    let outcome = run(&scenario(&text), None).expect("an outcome");
    assert_eq!((outcome.number("completed"), outcome.number("failed")), (0.0, 1.0), "no SYN got through");
    assert_eq!(outcome.number("drops_link_down"), 7.0, "a SYN and six more");
}

#[test]
fn a_rate_changes_between_packets() {
    let slow = "[[fault]]\nkind = \"rate\"\nlink = \"sender-0->switch-0\"\nrate = \"100Mbps\"\nat = \"100us\"\nfor = \"500us\"";
    let (_, at) = watched(slow);
    let gaps: Vec<u64> = at.windows(2).map(|pair| (pair[1] - pair[0]).ps() / 1_000_000).collect();
    let first = gaps.iter().position(|gap| *gap == 120).expect("slow packets");
    // The packet in transmission at 100 us ends at the old rate; so does the one at 600 us at the slow one.
    let began = at[first] - Time::from_us(10);
    assert!(began >= Time::from_us(100) && began < Time::from_us(112), "{began}");
    let slow = gaps.iter().filter(|gap| **gap == 120).count();
    assert_eq!(slow, 5, "those that began before 600 us");
    assert!(
        gaps[..first].iter().all(|gap| *gap == 12)
            && gaps[first + slow..first + slow + 20].iter().all(|gap| *gap == 12)
    );
}

#[test]
fn time_bins_of_a_link_tell_what_it_carried() {
    let faults = "[[fault]]\nkind = \"link-down\"\ndirection = \"one\"\nat = \"1ms\"\nfor = \"1ms\"\n\
                  [[fault]]\nkind = \"rate\"\nrate = \"100Mbps\"\nat = \"1500us\"\nfor = \"1500us\"\n\
                  [measure]\nbin = \"250us\"";
    let outcome = both(&burst(faults), &Substitutes::default).unwrap_or_else(|error| panic!("{error}"));
    let column = |name| reals(&outcome, "link-bins", name);
    let (used, rates, backlogs) = (column("utilisation"), column("throughput_bps"), column("queue_mean_packets"));
    let near = |bin: usize, share: f64| {
        (used[bin] - share).abs() < 1e-9 && (rates[bin] - share * 1e9).abs() < 1.0 && backlogs[bin] > 0.0
    };
    assert!((4..8).all(|bin| near(bin, 0.0)), "down, and packets wait: {used:?}");
    assert!((8..12).all(|bin| near(bin, 0.1)), "a tenth of the rate as built: {used:?}");
    assert!(near(13, 1.0), "as built again, once the packet of 3 ms is out: {used:?}");
}

#[test]
fn of_two_rates_at_once_the_later_in_the_file_holds() {
    let entry = |name: &str, rate: &str, lasts: &str| {
        format!(
            "[[fault]]\nname = \"{name}\"\nkind = \"rate\"\nlink = \"sender-0->switch-0\"\nrate = \"{rate}\"\nfor = \"{lasts}\"\n"
        )
    };
    let (_, at) = watched(&(entry("a", "500Mbps", "0s") + &entry("b", "100Mbps", "400us")));
    let gaps: Vec<u64> = at.windows(2).map(|pair| (pair[1] - pair[0]).ps() / 1_000_000).collect();
    assert_eq!((gaps[0], gaps[10]), (120, 24));
}

#[test]
fn an_agent_sees_the_rate_of_the_moment() {
    let (scheme, log) = tapped();
    run_instead(&burst("[[fault]]\nkind = \"rate\"\nrate = \"100Mbps\"\nat = \"300us\""), scheme);
    for seen in log.take().iter().filter(|seen| seen.packet.size == 1500) {
        let expected = if seen.at < Time::from_us(300) { 1_000_000_000 } else { 100_000_000 };
        assert_eq!(seen.passage.rate.bps(), expected, "{}", seen.at);
    }
}

const LOSS: &str = "[[fault]]\nkind = \"loss\"\nlink = \"sender-0->switch-0\"\n";

#[test]
fn packets_are_lost_at_the_given_rate_and_in_the_window_only() {
    let (outcome, at) = watched(&format!("{LOSS}direction = \"one\"\nrate = \"10%\""));
    let lost = outcome.number("drops_random_loss");
    // Binomial: a tenth of what was sent, four standard deviations either way.
    let sent = at.len() as f64 + lost;
    assert!((lost - 0.1 * sent).abs() < 4.0 * (0.09 * sent).sqrt(), "{lost} of {sent}");
    assert_eq!((outcome.number("drops"), outcome.number("completed")), (lost, 1.0));
    let (outcome, _) = watched(&format!("{LOSS}rate = 1\nat = \"200us\"\nfor = \"60us\""));
    let times: Vec<f64> = reals(&outcome, "drops", "time_s");
    assert!(times.len() >= 4 && times.iter().all(|at| (200e-6..=260e-6).contains(at)), "{times:?}");
}

#[test]
fn losses_are_seeded_by_name_and_disturb_no_other_stream() {
    let fct = |faults: &str| {
        let text = burst(faults).replace("delay = \"10us\"", "delay = \"10us\"\nhost-jitter = \"1us\"");
        reals(&run(&scenario(&text), None).expect("an outcome"), "flows", "fct_s")
    };
    let lossy = |name: &str| format!("{LOSS}rate = \"3%\"\nname = \"{name}\"");
    assert_eq!(fct(&lossy("a")), fct(&lossy("a")));
    assert_ne!(fct(&lossy("a")), fct(&lossy("b")));
    assert_eq!(fct(""), fct(&format!("{LOSS}rate = 0")));
}

/// A fault that chooses packets of the sender's link.
fn chosen(kind: &str, keys: &str) -> String {
    format!("[[fault]]\nkind = \"{kind}\"\nlink = \"sender-0->switch-0\"\n{keys}\n")
}

/// The sequence numbers of the segments that were lost, and the times.
fn losses(outcome: &Outcome) -> Vec<(u64, u64)> {
    let (seq, at) = (reals(outcome, "drops", "seq"), reals(outcome, "drops", "time_s"));
    seq.iter().zip(at).map(|(seq, at)| (*seq as u64, (at * 1e6).round() as u64)).collect()
}

#[test]
fn the_listed_segments_are_lost_and_no_other() {
    let (outcome, _) = watched(&chosen("drop", "segments = \"3,5..6\""));
    let segments: Vec<u64> = losses(&outcome).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(segments, [2 * 1460 + 1, 4 * 1460 + 1, 5 * 1460 + 1]);
    let count = |name: &str| outcome.number(name);
    assert_eq!(
        [count("drops_chosen"), count("drops"), count("retransmissions"), count("completed")],
        [3.0, 3.0, 3.0, 1.0]
    );
    assert!(run(&scenario(&burst("")), None).expect("an outcome").summary.get("drops_chosen").is_none());
}

#[test]
fn a_copy_is_a_transmission_of_the_same_segment() {
    let (outcome, _) = watched(&chosen("drop", "segments = \"3\"\ncopies = \"2\""));
    assert_eq!((outcome.number("drops"), outcome.number("retransmissions")), (0.0, 0.0), "it is sent but once");
    let (outcome, _) = watched(&chosen("drop", "segments = \"3\"\ncopies = \"1..2\""));
    let seq = 2 * 1460 + 1;
    let lost = losses(&outcome);
    assert!(lost.len() == 2 && lost.iter().all(|(lost, _)| *lost == seq), "{lost:?}");
    assert_eq!(outcome.number("timeouts_lost_retransmission"), 1.0);
}

#[test]
fn segments_are_counted_from_an_offset_and_by_their_first_byte() {
    let first = |keys: &str| losses(&watched(&chosen("drop", keys)).0)[0].0;
    assert_eq!(first("offset = \"2920B\""), 2 * 1460 + 1);
    // The segment with byte 2000 is the second one.
    assert_eq!(first("offset = \"2000B\""), 1460 + 1);
}

#[test]
fn each_connection_has_its_own_segments() {
    let text = star(3, "30KB", "[[fault]]\nkind = \"drop\"\nsegments = \"2,4\"");
    let outcome = run(&scenario(&text), None).expect("an outcome");
    assert_eq!(outcome.number("drops_chosen"), 6.0);
}

#[test]
fn packets_of_handshakes_and_the_end_can_be_chosen() {
    let first = |keys: &str| {
        let text = burst(&format!("[[fault]]\nkind = \"drop\"\n{keys}"));
        let outcome = run(&scenario(&text), None).expect("an outcome");
        assert_eq!((outcome.number("drops_chosen"), outcome.number("completed")), (1.0, 1.0), "{keys}");
        losses(&outcome)[0]
    };
    // The request to open reaches the receiver after 20.6 us and the answer the sender after 41.3 us.
    assert_eq!(first("packets = \"syn\""), (0, 21));
    assert_eq!(first("packets = \"syn-ack\"\nlink = \"switch-0->sender-0\"").1, 41);
    assert!(first("packets = \"fin\"").1 > 40 * 12);
}

#[test]
fn acknowledgements_are_counted_one_by_one() {
    let lost = |copies: &str| {
        let keys = format!("packets = \"ack\"\nlink = \"switch-0->sender-0\"\ncopies = \"{copies}\"");
        let (outcome, _) = watched(&format!("[[fault]]\nkind = \"drop\"\n{keys}"));
        assert_eq!(outcome.number("retransmissions"), 0.0, "the next ones say the same and more");
        losses(&outcome)
    };
    let (all, some) = (lost("1..5"), lost("2,4"));
    assert_eq!(all.len(), 5);
    assert_eq!(some, [all[1], all[3]]);
}

#[test]
fn a_delayed_packet_is_overtaken() {
    let (_, before) = watched("");
    let (outcome, at) = watched(&chosen("delay", "segments = \"3\"\nby = \"50us\""));
    let mut expected = before.clone();
    expected[2] += Time::from_us(50);
    expected.sort_unstable();
    // What follows from it, such as a retransmission, is not compared.
    assert_eq!(at[..30], expected[..30]);
    assert_eq!((outcome.number("drops"), outcome.number("completed")), (0.0, 1.0));
    // The end comes while it is under way.
    let text = burst(&chosen("delay", "segments = \"3\"\nby = \"50ms\"")).replace("\"5s\"", "\"2ms\"");
    both(&text, &Substitutes::default).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_mark_is_for_packets_that_are_ecn_capable() {
    let marks = |scheme: &str, fault: &str| {
        let text = burst(fault).replace("[transport]", &format!("[transport]\nscheme = \"{scheme}\""));
        let outcome = run(&scenario(&text), None).expect("an outcome");
        (outcome.number("marks"), outcome.number("would_mark"))
    };
    let fault = chosen("mark", "segments = \"3..6\"");
    assert_eq!(marks("dctcp", ""), (0.0, 0.0));
    assert_eq!((marks("dctcp", &fault), marks("newreno", &fault)), ((4.0, 4.0), (0.0, 4.0)));
}

#[test]
fn chosen_packets_are_those_that_arrive_while_the_fault_lasts() {
    let (_, at) = watched("");
    // From the tenth full segment on, and until the twelfth has arrived.
    let (begin, lasts) = (at[9], at[11] - at[9]);
    let keys = format!("segments = \"1..40\"\nat = \"{}ps\"\nfor = \"{}ps\"", begin.ps(), lasts.ps());
    let (outcome, _) = watched(&chosen("drop", &keys));
    assert_eq!(outcome.number("drops_chosen"), 2.0);
}

#[test]
fn mistakes_in_lists_of_packets_are_named() {
    let error = |keys: &str| {
        let text = burst(&format!("[[fault]]\nkind = \"drop\"\n{keys}"));
        check(&scenario(&text)).expect_err("refused").to_string()
    };
    for (keys, says) in [
        (
            "segments = \"0\"",
            "test.toml:10: fault.drop.segments: \"0\" is no number from 1 on, and no range such as 4..6",
        ),
        (
            "copies = \"2..1\"",
            "test.toml:10: fault.drop.copies: \"2..1\" is no number from 1 on, and no range such as 4..6",
        ),
        (
            "segments = \"1,x\"",
            "test.toml:10: fault.drop.segments: \"x\" is no number from 1 on, and no range such as 4..6",
        ),
        ("segments = \"3..5,5\"", "test.toml:10: fault.drop.segments: \"5\" does not come after what is before it"),
        (
            "segments = \"9\"\noffset = \"5GB\"",
            "test.toml:10: fault.drop.segments: is beyond the first 4 GiB of a connection",
        ),
        (
            "packets = \"ack\"\nsegments = \"2\"",
            "test.toml:11: fault.drop.segments: is of packets = \"data\" only; copies says which of the others",
        ),
    ] {
        assert_eq!(error(keys), says);
    }
}

/// Reports every packet, and notes when an order comes.
struct Reporting(Log<(Time, bool)>);

impl SwitchAgent for Reporting {
    fn on_packet(
        &mut self,
        cx: &mut SwitchCx<'_>,
        _packet: &mut fanin_core::packet::Packet,
        _passage: &Passage,
    ) -> Pass {
        cx.actions.push(SwitchAction::Report(vec![0]));
        Pass::Forward
    }
    fn on_message(&mut self, cx: &mut SwitchCx<'_>, _message: &[u8]) {
        self.0.push((cx.now, false));
    }
}

/// Responses every report, and notes when its timer of 50 us comes.
struct Timed(Log<(Time, bool)>);

impl Controller for Timed {
    fn on_start(&mut self, cx: &mut ControllerCx<'_>) {
        cx.actions.push(ControllerAction::Timer { at: Time::from_us(50), token: 1 });
    }
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, _message: &[u8]) {
        cx.actions.push(ControllerAction::Order { to: from, message: vec![0] });
    }
    fn on_timer(&mut self, cx: &mut ControllerCx<'_>, _token: u64) {
        self.0.push((cx.now, true));
    }
}

#[test]
fn a_controller_that_is_out_hears_nothing_and_its_timers_wait() {
    let log = Log::new();
    let (agent, controller) = (log.clone(), log.clone());
    let scheme = Parts {
        agent: Some(Box::new(move |_| Box::new(Reporting(agent.clone())))),
        controller: Some(Box::new(move |()| Box::new(Timed(controller.clone())))),
        ..Parts::default()
    };
    let more = "[[fault]]\nkind = \"controller-outage\"\nat = \"20us\"\nfor = \"700us\"\n[control]\ndelay = \"60us\"\n";
    let outcome = run_instead(&star(1, "300KB", more), scheme);
    let log = log.take();
    assert!(log.contains(&(Time::from_us(720), true)), "the timer of 50 us comes when the controller is back");
    let first = log.iter().find(|(_, timer)| !timer).expect("orders").0;
    assert!(first >= Time::from_us(780), "{first}");
    assert!(outcome.number("control_lost") > 10.0);
}

#[test]
fn a_link_must_exist() {
    let error = |link: &str| {
        let text = burst(&format!("[[fault]]\nkind = \"loss\"\nlink = \"{link}\""));
        check(&scenario(&text)).expect_err("refused").to_string()
    };
    let nearest = "test.toml:10: fault.loss.link: no such link in this network (did you mean \"sender-0->switch-0\"?)";
    assert_eq!(error("sender-0-switch-0"), nearest);
    assert!(error("sender-7->core-12").contains("no such link in this network"), "{}", error("sender-7->core-12"));
    let parallel = |link: &str| {
        let text = format!("[[fault]]\nkind = \"loss\"\nlink = \"{link}\"\ndirection = \"one\"\nrate = 1");
        let text = star(8, "20KB", &text)
            .replace("\"star\"", "\"clos\"\nparallel-links = 2\nspines = 1\nleaves = 2\nhosts-per-leaf = 9");
        let outcome = run(&scenario(&text.replace("5s", "3s")), None).expect("an outcome");
        let drops = reals(&outcome, "links", "drops");
        drops.iter().filter(|drops| **drops > 0.0).count()
    };
    assert_eq!((parallel("leaf-1->spine-0"), parallel("leaf-1->spine-0/1")), (2, 1));
}

#[test]
fn a_rate_that_no_event_can_wait_for_is_refused() {
    // The more links, the fewer bits are left for the time of an arrival.
    let text = star(20_000, "1KB", "[[fault]]\nkind = \"rate\"\nrate = \"2kbps\"").replace("10us", "400ms");
    let error = check(&scenario(&text)).expect_err("refused").to_string();
    assert_eq!(error, "test.toml:10: fault.rate.rate: a packet takes too long to cross a link of 2kbps and 400ms");
}

#[test]
fn a_fault_that_never_begins_changes_nothing() {
    for queue in ["", "[queue]\nkind = \"ecn-threshold\"\nthreshold = \"9KB\"", "[queue]\nkind = \"strict-priority\""] {
        for kind in ["link-down", "rate", "loss", "delay", "mark"] {
            let text =
                |more: &str| star(15, "60KB", &format!("{more}\n{queue}\n[measure]\nqueues = \"all\"\nbin = \"1ms\""));
            let later = format!("[[fault]]\nkind = \"{kind}\"\nat = \"6s\"");
            let [with, without] = [text(&later), text("")].map(|text| run(&scenario(&text), None).expect("an outcome"));
            assert!(without.number("drops") > 0.0);
            assert_eq!(with.hash(), without.hash(), "{kind} {queue}");
        }
    }
}

#[test]
fn both_event_cores_agree_on_every_kind_of_fault() {
    let faults = [
        "[[fault]]\nkind = \"link-down\"\nat = \"200us\"\nfor = \"2ms\"\n",
        "[[fault]]\nkind = \"link-down\"\nat = \"200us\"\nfor = \"2ms\"\nqueued = \"drop\"\n",
        "[[fault]]\nkind = \"rate\"\nrate = \"200Mbps\"\nat = \"100us\"\nfor = \"3ms\"\n",
        "[[fault]]\nkind = \"loss\"\nrate = \"5%\"\n",
        "[[fault]]\nkind = \"drop\"\nsegments = \"3..5,9\"\ncopies = \"1..2\"\n[[fault]]\nkind = \"delay\"\nsegments = \"12..20\"\n\
         [[fault]]\nkind = \"mark\"\nsegments = \"22..30\"\n[[fault]]\nname = \"acks\"\nkind = \"delay\"\npackets = \"ack\"\n\
         copies = \"3..9\"\nlink = \"switch-0->sender-0\"\n",
        "[[fault]]\nname = \"a\"\nkind = \"link-down\"\nlink = \"sender-3->switch-0\"\nfor = \"1ms\"\n[[fault]]\nname = \"b\"\n\
         kind = \"rate\"\nlink = \"sender-3->switch-0\"\nrate = \"100Mbps\"\nat = \"500us\"\n[[fault]]\nkind = \"loss\"\n\
         [[fault]]\nname = \"c\"\nkind = \"link-down\"\nat = \"1ms\"\nfor = \"500us\"\nqueued = \"drop\"\n[[fault]]\nname = \"d\"\n\
         kind = \"link-down\"\nat = \"1200us\"\nfor = \"800us\"\n",
    ];
    let queues = [
        "",
        "kind = \"ecn-threshold\"\nthreshold = \"9KB\"",
        "kind = \"ecn-threshold\"\nthreshold = \"8pkt\"\nmark-at = \"dequeue\"",
        "kind = \"strict-priority\"\nthreshold = \"6pkt\"\nscope = \"band\"",
    ];
    let networks = [
        "topology = \"star\"\nbuffer = \"20pkt\"",
        "topology = \"star\"\nbuffer = \"30KB\"\nhost-jitter = \"20us\"",
        "topology = \"star\"\nbuffer = \"30KB\"\nties = \"waiting-first\"",
        "topology = \"star\"\nbuffer = \"30KB\"\nties = \"fresh-first\"",
        "topology = \"two-switch\"\nrate = \"10Gbps\"\nadmission = \"dynamic-threshold\"\nshared-buffer = \"60KB\"",
    ];
    for fault in faults {
        for queue in queues {
            for network in networks {
                let text = format!(
                    "[network]\n{network}\ndelay = \"10us\"\n[queue]\n{queue}\n[transport]\nscheme = \"dctcp\"\nrto-min = \"2ms\"\n\
                     syn-timeout = \"3ms\"\n{fault}[[traffic]]\nkind = \"incast\"\nsenders = 15\nbytes-each = \"60KB\"\n\
                     [measure]\nqueues = \"all\"\nqueue-trace = \"on-change\"\nbin = \"300us\"\n[run]\nduration = \"9s\"\nseed = 5\n"
                );
                let outcome = both(&text, &Substitutes::default).unwrap_or_else(|difference| panic!("{difference}"));
                let drops = |reason: &str| outcome.summary.get(&format!("drops_{reason}")).and_then(Value::as_f64);
                let named: f64 = ["link_down", "random_loss", "chosen"].into_iter().filter_map(drops).sum();
                assert!(named > 0.0 || fault.contains("kind = \"rate\""), "{text}");
                assert_eq!(outcome.number("completed"), 15.0, "{text}");
            }
        }
    }
}

#[test]
fn both_event_cores_agree_on_an_outage() {
    let make = || {
        let log = Log::new();
        let other = log.clone();
        instead(Parts {
            agent: Some(Box::new(move |_| Box::new(Reporting(log.clone())))),
            controller: Some(Box::new(move |()| Box::new(Timed(other.clone())))),
            ..Parts::default()
        })
    };
    let more = "[[fault]]\nkind = \"controller-outage\"\nat = \"20us\"\nfor = \"700us\"\n[control]\njitter = \"9us\"";
    let outcome = both(&star(9, "60KB", more), &make).unwrap_or_else(|difference| panic!("{difference}"));
    assert!(outcome.number("control_lost") > 0.0);
}

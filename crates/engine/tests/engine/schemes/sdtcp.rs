//! SDTCP in the simulator, in the network of its paper: two switches, 1 Gbps, 33 us per link, 100 packets per port.

use crate::outcome::{numbers, run, words};
use fanin_engine::sim::Outcome;

/// The setup of section 5.1 with these `[scheme.sdtcp]` keys and this traffic. The receive buffer is that of the
/// experiments: it keeps an endless flow from queueing in its own host without bound.
fn text(scheme: &str, rest: &str) -> String {
    format!(
        "[network]\ntopology = \"two-switch\"\ndelay = \"33us\"\nbuffer = \"100pkt\"\n[transport]\nscheme = \"sdtcp\"\n\
         mss = \"1460B\"\nrto-min = \"30ms\"\ninitial-window = \"1mss\"\nreceive-buffer = \"128KiB\"\n\
         [scheme.sdtcp]\n{scheme}\n{rest}"
    )
}

fn bursts(senders: u32, bytes: &str, start: &str) -> String {
    format!(
        "[[traffic]]\nname = \"bursts\"\nkind = \"incast\"\nsenders = {senders}\nbytes-each = \"{bytes}\"\n\
         start = \"{start}\"\njitter = \"100us\"\n"
    )
}

const BACKGROUND: &str = "[[traffic]]\nname = \"long\"\nkind = \"background\"\nflows = 1\nreceiver = 1\n";
const TRACE: &str = "[measure]\nqueue-trace = \"sampled\"\nqueue-sample = \"250us\"\n";

fn seconds(duration: &str) -> String {
    format!("[run]\nduration = \"{duration}\"\n")
}

/// Mean of the sampled queue over a span of time, and the largest of its samples.
fn queue(outcome: &Outcome, from: f64, to: f64) -> (f64, f64) {
    let times = numbers(outcome, "queue-trace", "time_s");
    let packets = numbers(outcome, "queue-trace", "packets");
    let within: Vec<f64> =
        times.iter().zip(packets).filter(|(at, _)| (from..to).contains(*at)).map(|(_, packets)| packets).collect();
    assert!(!within.is_empty());
    (within.iter().sum::<f64>() / within.len() as f64, within.iter().copied().fold(0.0, f64::max))
}

/// Fig. 12 a: with bursts only, CN-H shares out C x RTT + 85 packets, and the queue stays where it was notified.
#[test]
fn without_background_flows_the_queue_settles_near_the_high_threshold() {
    let outcome = run(&text("", &[bursts(20, "500KB", "10ms"), TRACE.to_owned()].concat()));
    let (mean, most) = queue(&outcome, 0.025, 0.085);
    // 7612 bytes of payload for each of twenty flows: five segments, or six with what the scale rounds up.
    assert!((77.0..86.0).contains(&mean) && most <= 86.0, "{mean} {most}");
    assert_eq!((outcome.number("timeouts"), outcome.number("completed")), (0.0, 20.0));
    assert!(outcome.number("rewritten") > 5_000.0);
    // READING: S11 with a = 0 the lower levels change nothing; the high one does all, and without it the port overflows.
    let same =
        run(&text("cn-low = false\ncn-modest = false", &[bursts(20, "500KB", "10ms"), TRACE.to_owned()].concat()));
    assert_eq!(numbers(&same, "flows", "fct_s"), numbers(&outcome, "flows", "fct_s"));
    let without = run(&text("cn-high = false", &bursts(20, "500KB", "10ms")));
    assert_eq!(without.number("rewritten"), 0.0);
    assert!(without.number("drops") > outcome.number("drops") + 20.0);
    assert!(without.number("queue_max_packets") >= 100.0);
}

#[test]
fn fifty_bursts_settle_at_the_same_queue() {
    let outcome = run(&text("", &[bursts(50, "500KB", "10ms"), TRACE.to_owned()].concat()));
    let (mean, _) = queue(&outcome, 0.05, 0.2);
    // Two segments for each, and a few flows that had more in flight.
    assert!((70.0..100.0).contains(&mean), "{mean}");
}

/// S16: flows of one segment each fill pipe and buffer at N = B + C x RTT / 1500 = 116. The paper's RTT is that of the
/// wires; the two other links that a packet is sent over take 12 us each, and an acknowledgement 1 us over all three:
/// 100 + 1 Gbps x (198 + 24 + 1) us / 1500 B = 118.6.
#[test]
fn one_segment_each_fits_up_to_118_flows() {
    // Long flows whose windows a rule holds at one segment, whatever their class.
    let drops = |senders: u32| {
        let scheme = "high = \"1pkt\"\nmodest = \"1pkt\"\nlow = \"1pkt\"\njump = \"highest\"\nbackground-age = \"0s\"\n\
                      background-bytes = \"0B\"\nclass = \"either\"\npoll = \"1ms\"\nreevaluate = \"periodic\"";
        let outcome = run(&text(
            scheme,
            &[
                bursts(senders, "300KB", "1ms").replace("100us", "5ms"),
                "[measure]\nqueue-trace = \"sampled\"\n".to_owned(),
                seconds("4s"),
            ]
            .concat(),
        ));
        let late = numbers(&outcome, "drops", "time_s").into_iter().filter(|at| *at > 0.06).count();
        (late, outcome)
    };
    let (none, fits) = drops(118);
    assert_eq!(none, 0, "once every window is one segment nothing is lost");
    assert_eq!(fits.number("completed"), 118.0);
    let (some, _) = drops(119);
    assert!(some > 0, "119 segments do not fit into 118 places");
}

/// Section 3.4 at work: with the background flow at one segment the bursts have the port.
fn contention(scheme: &str) -> Outcome {
    let scheme = format!("background-age = \"100ms\"\npoll = \"20ms\"\n{scheme}");
    run(&text(&scheme, &[BACKGROUND.to_owned(), bursts(30, "200KB", "300ms"), seconds("800ms")].concat()))
}

#[test]
fn a_background_flow_makes_room_for_bursts() {
    let outcome = contention("");
    let plain = run(&text("", &[BACKGROUND.to_owned(), bursts(30, "200KB", "300ms"), seconds("800ms")].concat())
        .replace("scheme = \"sdtcp\"", "scheme = \"newreno\""));
    assert_eq!(outcome.number("completed"), 30.0);
    assert!(outcome.number("timeouts") < plain.number("timeouts"));
    assert!(outcome.number("fct_p99_s") < plain.number("fct_p99_s"));
    assert!(outcome.number("drops") < plain.number("drops") / 2.0);
}

/// Four endless flows, in the background after 20 ms, at a port that goes no further than one level: what it is for.
#[test]
fn each_level_switched_off_leaves_a_longer_queue() {
    let alone = |thresholds: &str, acts: &str| {
        let scheme = format!(
            "background-age = \"20ms\"\nbackground-bytes = \"1KB\"\npoll = \"5ms\"\nreevaluate = \"periodic\"\n{thresholds}\n{acts}"
        );
        let flows = "[[traffic]]\nkind = \"background\"\nflows = 4\ninterval = \"10ms\"\n";
        let rest = [flows, "[measure]\nwarmup = \"150ms\"\n", &seconds("500ms")].concat();
        run(&text(&scheme, &rest)).number("queue_mean_packets")
    };
    let low = "modest = \"900pkt\"\nhigh = \"900pkt\"";
    let modest = "high = \"900pkt\"";
    for (thresholds, key) in [(low, "cn-low"), (modest, "cn-modest"), ("", "cn-high")] {
        let with = alone(thresholds, "");
        let without = alone(thresholds, &format!("{key} = false"));
        assert!(with < without - 20.0, "{key}: {with} {without}");
    }
}

/// S2: in state 3 nothing is sent, so who comes late keeps the receiver's window; re-evaluation regulates it.
#[test]
fn a_flow_that_joins_in_state_three_is_not_regulated() {
    let late = "[[traffic]]\nname = \"late\"\nkind = \"incast\"\nsenders = 4\nbytes-each = \"2MB\"\nstart = \"60ms\"\n";
    let most = |scheme: &str| {
        let rest = [&bursts(20, "500KB", "10ms"), late, TRACE, &seconds("400ms")].concat();
        let outcome = run(&text(scheme, &rest));
        (queue(&outcome, 0.062, 0.08).1, outcome.number("drops"))
    };
    let (stale, drops) = most("reevaluate = \"none\"");
    let (fresh, fewer) = most("");
    assert!(stale >= 99.0, "late flows fill the port: {stale}");
    assert!(fresh < stale && fewer < drops, "{fresh} {fewer} {drops}");
    let (periodic, _) = most("reevaluate = \"periodic\"\npoll = \"1ms\"");
    assert!(periodic <= stale);
}

/// Rules go when the queue has been below L for the time of recovery.
#[test]
fn after_recovery_windows_are_the_receivers_again() {
    let rewritten = |recovery: &str| {
        // A slow flow goes on after the bursts have congested the port.
        let scheme =
            format!("recovery = \"{recovery}\"\nclass = \"either\"\nbackground-bytes = \"10KB\"\npoll = \"2ms\"");
        let last =
            "[[traffic]]\nname = \"last\"\nkind = \"incast\"\nsenders = 1\nbytes-each = \"1KB\"\nstart = \"700ms\"\n";
        let measure = "[measure]\nprobes = \"in-flight, congestion-level, window-rules\"\nprobe-flows = 1\n";
        let rest = [BACKGROUND, &bursts(40, "100KB", "20ms"), last, measure, &seconds("800ms")].concat();
        let outcome = run(&text(&scheme, &rest));
        let names = words(&outcome, "switch-probes", "name");
        let states = numbers(&outcome, "switch-probes", "value");
        let state = |wanted: &str| {
            let of: Vec<f64> =
                names.iter().zip(&states).filter(|(name, _)| *name == wanted).map(|(_, value)| *value).collect();
            (of.iter().copied().fold(0.0, f64::max), of[of.len() - 1])
        };
        let recovered = recovery == "200ms";
        assert_eq!(state("congestion-level"), (3.0, if recovered { 0.0 } else { 3.0 }));
        let (most_rules, rules) = state("window-rules");
        assert!(most_rules >= 40.0 && (rules == 0.0) == recovered, "{most_rules} {rules}");
        let times = numbers(&outcome, "probes", "time_s");
        let flight = numbers(&outcome, "probes", "value");
        // A value stays until the next change.
        let at = |when: f64| {
            let last = times.iter().rposition(|at| *at <= when).expect("the flow has begun");
            flight[last]
        };
        (at(0.2), at(0.65))
    };
    let (held, free) = rewritten("200ms");
    assert!(held <= 1460.0, "one segment while the port has not recovered: {held}");
    assert!(free > 20.0 * 1460.0, "and all it can afterwards: {free}");
    let (held, still) = rewritten("2s");
    assert!(held <= 1460.0 && still <= 1460.0, "{held} {still}");
}

/// No flow waits for ever for a message that was lost, and no packet is kept for good.
#[test]
fn lost_and_late_messages_stop_no_flow() {
    let channels = ["loss = \"5%\"", "loss = \"15%\"", "jitter = \"5ms\"", "delay = \"20ms\"\nservice-time = \"1ms\""];
    for (seed, control) in channels.iter().enumerate() {
        let end = format!("\n[run]\nduration = \"3000s\"\nseed = {seed}\n");
        let rest = [&bursts(30, "60KB", "10ms"), "[control]\n", control, &end].concat();
        let outcome = run(&text("", &rest)
            .replace("[transport]", "[transport]\nsyn-retries = 30\nsyn-timeout = \"200ms\"\nrto-max = \"1s\""));
        assert_eq!((outcome.number("completed"), outcome.number("failed")), (30.0, 0.0), "{control}");
        assert_eq!(
            outcome.number("drops_agent") > 0.0,
            control.contains("loss"),
            "{control}: kept packets are lost in time"
        );
    }
}

/// The handshake and the FIN wait at both switches for the round trip to the controller, and for its server.
#[test]
fn new_connections_wait_for_the_controller() {
    let fct = |scheme: &str, senders: u32| {
        run(&text(scheme, &bursts(senders, "1KB", "1ms").replace("100us", "0s"))).number("fct_mean_s")
    };
    // SYN and SYN-ACK at two switches, and the segment with the FIN at two: six times 66 us and 5 us of service.
    let waits = fct("", 1) - fct("setup-delay = false", 1);
    assert!((waits - 6.0 * 71e-6).abs() < 3e-6, "{waits}");
    // Fifty at once queue at the server: 5 us for each message of every flow.
    let queued = fct("", 50) - fct("setup-delay = false", 50);
    assert!(queued > waits + 50.0 * 5e-6, "{queued}");
}

/// A flow of one segment carries its FIN in it, which waits for the controller: the port counts it all the same.
#[test]
fn packets_that_waited_for_the_controller_raise_the_state() {
    let most = |scheme: &str| {
        // A server fast enough for the FINs to come all at once.
        let rest = "[measure]\nprobes = \"congestion-level\"\n[control]\nservice-time = \"100ns\"\n";
        let bursts = bursts(90, "1000B", "10ms").replace("100us", "0s");
        let outcome = run(&text(scheme, &[&bursts, rest].concat()));
        assert_eq!(outcome.number("completed"), 90.0);
        let level = numbers(&outcome, "switch-probes", "value").into_iter().fold(0.0, f64::max);
        (level, outcome.number("queue_max_packets"))
    };
    // In packets of any size, as 90 short segments are no high congestion in bytes.
    let packets = "queue-counts = \"packets\"";
    let ((waited, queue), (at_once, _)) = (most(packets), most(&format!("setup-delay = false\n{packets}")));
    assert!(queue >= 60.0, "{queue}");
    assert!(waited >= 2.0 && at_once >= 2.0, "{waited} {at_once}");
}

/// S4: Algorithm 1 adds size(P). A hundred SYNs that come at once are 4 KB, and no congestion.
#[test]
fn handshakes_alone_are_no_congestion() {
    let most = |scheme: &str| {
        let rest = "[measure]\nprobes = \"congestion-level\"\n[control]\nservice-time = \"100ns\"\n";
        let bursts = bursts(100, "1000B", "10ms").replace("100us", "0s");
        let outcome = run(&text(scheme, &[&bursts, rest].concat()));
        let (times, levels) =
            (numbers(&outcome, "switch-probes", "time_s"), numbers(&outcome, "switch-probes", "value"));
        // First data come a round trip of 200 us and four times 66 us later.
        let early = times.iter().zip(levels).filter(|(at, _)| **at < 0.0103).map(|(_, level)| level);
        early.fold(0.0, f64::max)
    };
    assert_eq!(most(""), 0.0);
    assert!(most("queue-counts = \"packets\"") >= 2.0);
}

/// S24: a client that asks opens the connections, and the responses go against its SYNs.
#[test]
fn responses_to_requests_are_regulated() {
    let asked = |scheme: &str| {
        let outcome = run(&text(scheme, &[&bursts(60, "200KB", "10ms"), "request = \"100B\"\n"].concat()));
        assert_eq!(outcome.number("completed"), 60.0);
        (outcome.number("rewritten"), outcome.number("timeouts"))
    };
    let ((rewritten, timeouts), (none, more)) = (asked(""), asked("data-from = \"opener\""));
    assert!(rewritten > 1_000.0 && none == 0.0, "{rewritten} {none}");
    assert!(timeouts < more / 2.0, "{timeouts} {more}");
}

/// Connections may be opened through the controller long before their data starts, all at once.
#[test]
fn connections_opened_early_are_known_when_their_data_starts() {
    let start = |connections: &str| {
        let more = format!("connections = \"{connections}\"\n");
        let outcome = run(&text("", &[&bursts(60, "200KB", "100ms").replace("100us", "0s"), &*more].concat()));
        assert_eq!(outcome.number("completed"), 60.0);
        outcome
    };
    let (opened, unknown) = (start("opened"), start("persistent"));
    assert!(opened.number("rewritten") > 1_000.0 && unknown.number("rewritten") == 0.0);
    assert!(opened.number("timeouts") < unknown.number("timeouts") / 2.0);
    // The start is that of the data, which wait neither for a handshake nor for the controller.
    assert_eq!(numbers(&opened, "flows", "start_s"), [0.1; 60]);
    let one = |connections: &str| {
        let more = format!("connections = \"{connections}\"\n");
        run(&text("", &[&bursts(1, "1KB", "100ms").replace("100us", "0s"), &*more].concat())).number("fct_mean_s")
    };
    assert!(one("fresh") - one("opened") > 4.0 * 71e-6 + 198e-6);
    assert_eq!(one("opened"), one("persistent"));
}

/// Each switch asks for its own ports.
#[test]
fn the_far_switch_regulates_its_own_port() {
    // Behind a fast trunk the port to the receiver is congested, at the far switch.
    let far = |scheme: &str| {
        let text = text(scheme, &bursts(30, "300KB", "10ms"));
        run(&text.replace("buffer = \"100pkt\"", "buffer = \"100pkt\"\ntrunk-rate = \"10Gbps\""))
    };
    let (outcome, without) = (far(""), far("cn-high = false"));
    assert_eq!(outcome.number("completed"), 30.0);
    assert!(outcome.number("rewritten") > 1_000.0 && without.number("rewritten") == 0.0);
    assert!(outcome.number("timeouts") < without.number("timeouts") / 2.0);
}

/// What a connection without congestion costs on the channel (S19, S20): at each of two switches four packets are shown,
/// two entries made, two packets released and two entries deleted by messages of their own.
#[test]
fn a_connection_takes_twenty_messages_of_known_size() {
    // One after the other, so that only the last is cut off by the end of the run.
    let cost = |rounds: u32| {
        let flows = bursts(1, "1000B", "1ms") + &format!("rounds = {rounds}\ngap = \"10ms\"\n");
        let outcome = run(&text("", &flows));
        assert_eq!(outcome.number("completed"), f64::from(rounds));
        (outcome.number("control_messages"), outcome.number("control_bytes"))
    };
    let ((messages, bytes), (more, longer)) = (cost(2), cost(4));
    assert_eq!((more - messages) / 2.0, 2.0 * 10.0);
    // Header 8; PACKET_IN 16, its match 24 and 2, the frame's head 54, and 8 of options on a SYN. FLOW_MOD 40, match 48, and
    // the instruction 24 where it has one. PACKET_OUT 16 and its action 16.
    let (syn, fin) = (8.0 + 16.0 + 24.0 + 2.0 + 62.0, 8.0 + 16.0 + 24.0 + 2.0 + 54.0);
    let (delete, release) = (8.0 + 40.0 + 48.0, 8.0 + 16.0 + 16.0);
    let each = 2.0 * (syn + delete + 24.0) + 2.0 * (fin + release) + 2.0 * delete;
    assert_eq!((longer - bytes) / 2.0, 2.0 * each);
}

/// S17: a queue that drops what is not ECN-capable loses DCTCP's SYNs, unless they are.
#[test]
fn ecn_on_syn_packets_is_a_key_of_the_transport() {
    let syns = |more: &str| {
        let red = "[queue]\nkind = \"red\"\nred-min = 1\nred-max = 2\nred-weight = 1\nred-max-p = 1\n";
        let long = "[[traffic]]\nname = \"long\"\nkind = \"incast\"\nsenders = 4\nbytes-each = \"2MB\"\n";
        let text = text("", &[long, &bursts(40, "50KB", "5ms"), red].concat());
        run(&text.replace("scheme = \"sdtcp\"", &format!("scheme = \"dctcp\"\n{more}"))).number("timeouts_syn")
    };
    assert!(syns("") > 10.0);
    assert_eq!(syns("ecn-syn = true"), 0.0);
}

/// S18: what stopped the authors at 70 flows is not in the scheme. S23: SAB's switches rewrite every packet that passes.
#[test]
fn sab_goes_on_beyond_70_flows_and_rewrites_all_that_passes() {
    let of = |scheme: &str, senders: u32| {
        let outcome = run(&text("", &bursts(senders, "30KB", "1ms")).replace("scheme = \"sdtcp\"", scheme));
        assert_eq!(outcome.number("completed"), f64::from(senders));
        outcome.number("rewritten")
    };
    assert!(of("scheme = \"sab\"", 100) > 2_000.0);
    // Nothing is congested by five: SDTCP rewrites nothing then, and SAB whatever passes a port that shares.
    assert!(of("scheme = \"sab\"", 5) > 100.0);
    assert_eq!((of("scheme = \"sdtcp\"", 5), of("scheme = \"newreno\"", 100)), (0.0, 0.0));
}

/// S21: with a receiver of its own the background flow meets bursts between the switches only. S22: it yields to bursts that
/// come after 1 s and a poll, and not to earlier ones.
#[test]
fn only_a_flow_that_is_known_to_be_in_the_background_yields() {
    let flight = |start: &str, at: f64| {
        let measure = "[measure]\nprobes = \"in-flight\"\nprobe-flows = 1\nqueues = \"all\"\n";
        let outcome = run(&text("", &[BACKGROUND, &bursts(30, "300KB", start), measure, &seconds("1700ms")].concat()));
        let (ports, most) = (words(&outcome, "queues", "port"), numbers(&outcome, "queues", "max_packets"));
        let longest = |to: &str| {
            let queues = ports.iter().zip(&most).filter(|(port, _)| port.ends_with(to));
            queues.map(|(_, most)| *most).fold(0.0, f64::max)
        };
        assert!(longest("->receiver-0") < 20.0 && longest("->receiver-1") < 3.0, "{ports:?} {most:?}");
        let (times, values) = (numbers(&outcome, "probes", "time_s"), numbers(&outcome, "probes", "value"));
        values[times.iter().rposition(|time| *time <= at).expect("the flow has begun")]
    };
    assert!(flight("1500ms", 1.54) <= 1460.0);
    assert!(flight("500ms", 0.54) > 1460.0);
}

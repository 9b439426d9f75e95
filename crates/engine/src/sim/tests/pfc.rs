//! Priority flow control: what is paused when, that nothing is lost, and what a pause does to others.

use super::bench::{both, network, reals};
use crate::sim::Outcome;
use crate::sim::build::Substitutes;
use fanin_measure::table::Data;

/// Both event cores on a scenario with flow control.
#[track_caller]
fn agreed(network: &str, rest: &str) -> Outcome {
    let text = format!("[network]\npfc = \"on\"\n{network}\n{rest}\n[run]\nduration = \"2s\"\nseed = 3\n");
    both(&text, &Substitutes::default).unwrap_or_else(|difference| panic!("{difference}"))
}

fn incast(senders: u32, bytes: &str) -> String {
    format!("[[traffic]]\nkind = \"incast\"\nsenders = {senders}\nbytes-each = \"{bytes}\"\n")
}

/// How often, and how long, each port was paused.
fn pauses(outcome: &Outcome) -> Vec<(String, u64, f64)> {
    let table = outcome.table("pauses").expect("flow control is on");
    let Data::Text(names) = &table.column("port").unwrap().data else { panic!("names are text") };
    let counts = reals(outcome, "pauses", "pauses").into_iter().map(|count| count as u64);
    names.iter().cloned().zip(counts).zip(reals(outcome, "pauses", "paused_s")).map(|((a, b), c)| (a, b, c)).collect()
}

fn paused(outcome: &Outcome, port: &str) -> (u64, f64) {
    let row = pauses(outcome).into_iter().find(|(name, ..)| name == port).unwrap_or_else(|| panic!("{port}"));
    (row.1, row.2)
}

#[test]
fn an_incast_of_64_that_loses_packets_loses_none_with_flow_control() {
    let network = "topology = \"star\"\nrate = \"10Gbps\"\ndelay = \"2us\"\nbuffer = \"20pkt\"";
    let transport = "[transport]\ninitial-window = \"40mss\"\n";
    let rest = format!("{transport}{}", incast(64, "60KB"));
    let with = agreed(network, &rest);
    assert_eq!(with.number("drops"), 0.0);
    assert_eq!(with.number("drops_headroom_full"), 0.0);
    assert_eq!(with.number("completed"), 64.0);
    assert!(with.number("pauses") >= 64.0, "each sender is paused");
    let text = format!("[network]\n{network}\n{rest}\n[run]\nduration = \"2s\"\n");
    let without = both(&text, &Substitutes::default).unwrap();
    assert!(without.number("drops") > 1000.0);
    assert!(without.summary.get("pauses").is_none() && without.table("pauses").is_none());
}

#[test]
fn totals_are_the_sums_over_ports() {
    let outcome = agreed("buffer = \"30pkt\"\ndelay = \"1us\"\ntopology = \"star\"", &incast(16, "200KB"));
    let ports = pauses(&outcome);
    assert_eq!(ports.iter().map(|port| port.1).sum::<u64>() as f64, outcome.number("pauses"));
    assert!((ports.iter().map(|port| port.2).sum::<f64>() - outcome.number("paused_s")).abs() < 1e-12);
    assert!(outcome.number("paused_s") > 0.0);
}

/// One sender at 10 Gbps, whose packets leave the switch at 1 Gbps.
const SLOW_TRUNK: &str = "topology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"10us\"\n";

/// Arrivals of full packets at the first switch, counted from the first of them, in nanoseconds.
fn arrivals(outcome: &Outcome) -> Vec<u64> {
    let Data::Label { codes, names } = &outcome.table("crossings").unwrap().column("link").unwrap().data else {
        panic!("links are labels")
    };
    let times = reals(outcome, "crossings", "time_s").into_iter().zip(reals(outcome, "crossings", "size_bytes"));
    let here =
        times.zip(codes).filter(|((_, size), code)| *size == 1500.0 && names[**code as usize].starts_with("sender"));
    let times: Vec<f64> = here.map(|((time, _), _)| time).collect();
    times.iter().map(|time| ((time - times[0]) * 1e10).round() as u64).collect()
}

/// Packets of 1,500 bytes come every 1.2 us and leave every 12 us. The 23rd makes 21 packets in the switch, beyond XOFF. Its
/// frame takes 51.2 ns and the cable's 10 us. By then the 40th packet is on its way. 30 packets have left after 360 us, so that
/// 10 are there, which is XON. The frame takes as long, and the next packet 1.2 us and the cable.
#[test]
fn the_first_pause_and_its_end_are_those_of_the_closed_form() {
    let rest = "[transport]\ninitial-window = \"200mss\"\n[measure]\ncrossings = \"all\"\n";
    let thresholds = "pfc-xoff = \"30000B\"\npfc-xon = \"15000B\"";
    let outcome = agreed(&format!("{SLOW_TRUNK}{thresholds}"), &format!("{rest}{}", incast(1, "292000B")));
    let at = arrivals(&outcome);
    let steady: Vec<u64> = (0..40).map(|packet| 12_000 * packet).collect();
    assert_eq!(at[..40], steady, "in tenths of nanoseconds");
    let resumed = 3_600_000 + 512 + 100_000;
    assert_eq!(at[40], resumed + 12_000 + 100_000);
    let frame = 512 + 100_000;
    let paused_at = 22 * 12_000 + frame;
    // At the first switch only: the second one holds nothing.
    let (count, lasted) = paused(&outcome, "sender-0->switch-0");
    assert_eq!(paused(&outcome, "switch-0->switch-1"), (0, 0.0));
    assert!(count > 1 && lasted > (resumed - paused_at) as f64 * 1e-10, "{count} {lasted}");
}

#[test]
fn a_port_is_paused_for_as_long_as_the_closed_form_says() {
    let rest = "[transport]\ninitial-window = \"200mss\"\n";
    let thresholds = "pfc-xoff = \"30000B\"\npfc-xon = \"15000B\"";
    // 40 packets: the last one is on its way when the pause comes.
    let outcome = agreed(&format!("{SLOW_TRUNK}{thresholds}"), &format!("{rest}{}", incast(1, "58400B")));
    assert_eq!(paused(&outcome, "sender-0->switch-0").0, 1);
    let lasted = paused(&outcome, "sender-0->switch-0").1;
    assert!((lasted - (360.0 - 26.4) * 1e-6).abs() < 1e-12, "{lasted}");
}

/// As above, with data in the other direction, of which a packet takes 1.2 us of every 12 us of the way that frames take. The
/// delay decides when. XOFF and XON leave room for acknowledgements of that data, which take 320 ns each of the trunk.
#[test]
fn a_frame_waits_for_the_packet_in_transmission_and_for_no_other() {
    let back = "[[traffic]]\nkind = \"background\"\nflows = 1\nfrom = \"receiver-0\"\nto = \"sender-0\"\nbytes-each = \"2MB\"\n";
    let late = |step: u64| {
        let delay = format!("delay = \"{}ns\"", 10_000 + 250 * step);
        let network = SLOW_TRUNK.replace("delay = \"10us\"", &delay) + "pfc-xoff = \"31000B\"\npfc-xon = \"16000B\"";
        let traffic = format!("{}start = \"5ms\"\n{back}", incast(1, "58400B"));
        let outcome = agreed(&network, &format!("[transport]\ninitial-window = \"200mss\"\n{traffic}"));
        let (count, lasted) = paused(&outcome, "sender-0->switch-0");
        assert_eq!(count, 1);
        ((lasted * 1e6 - 333.6) * 1e3).round()
    };
    let late: Vec<f64> = (0..24).map(late).collect();
    assert!(late.iter().all(|ns| ns.abs() <= 1600.0), "{late:?}");
    assert!(
        late.iter().any(|ns| *ns < 0.0) && late.iter().any(|ns| *ns > 400.0),
        "the pause or its end waits: {late:?}"
    );
    assert!(late.iter().filter(|ns| (0.0..=400.0).contains(*ns)).count() > 12, "{late:?}");
}

/// An incast into one host behind a trunk, and one flow to another host that shares only the trunk with it.
fn victim(pfc: &str) -> Outcome {
    let network = format!(
        "[network]\npfc = \"{pfc}\"\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"40Gbps\"\ndelay = \"1us\"\n\
         buffer = \"60pkt\"\nsender-hosts = 9\nreceiver-hosts = 2\n"
    );
    let flows = "[transport]\ninitial-window = \"100mss\"\n[[traffic]]\nkind = \"incast\"\nsenders = 8\nbytes-each = \"2MB\"\n\
                 [[traffic]]\nkind = \"background\"\nname = \"victim\"\nflows = 1\nfrom = \"sender-8\"\nto = \"receiver-1\"\n\
                 bytes-each = \"2MB\"\nstart = \"200us\"\n";
    let text = format!("{network}{flows}[run]\nduration = \"2s\"\n");
    both(&text, &Substitutes::default).unwrap_or_else(|difference| panic!("{difference}"))
}

#[test]
fn a_paused_trunk_blocks_a_victim_whose_own_port_is_idle() {
    let (with, without) = (victim("on"), victim("off"));
    let fct = |outcome: &Outcome| outcome.summary["groups"][1]["fct_mean_s"].as_f64().unwrap();
    assert_eq!(with.number("drops"), 0.0);
    assert!(without.number("drops") > 0.0);
    // Its link alone would carry 2 MB in 1.7 ms.
    assert!(fct(&without) < 2.5e-3, "{}", fct(&without));
    assert!(fct(&with) > 2.0 * fct(&without), "{} {}", fct(&with), fct(&without));
}

#[test]
fn a_pause_propagates_upstream() {
    let outcome = victim("on");
    let trunk = paused(&outcome, "switch-0->switch-1");
    assert!(trunk.0 > 0, "the second switch pauses the first");
    let senders: Vec<u64> = (0..9).map(|i| paused(&outcome, &format!("sender-{i}->switch-0")).0).collect();
    assert!(senders.iter().all(|count| *count > 0), "the first switch pauses all hosts: {senders:?}");
    assert_eq!(paused(&outcome, "switch-1->receiver-0"), (0, 0.0), "hosts pause nobody");
}

#[test]
fn too_little_headroom_drops_and_enough_does_not() {
    let drops = |headroom: &str| {
        let network = format!("{SLOW_TRUNK}pfc-xoff = \"30000B\"\n{headroom}");
        let outcome = agreed(&network, &format!("[transport]\ninitial-window = \"200mss\"\n{}", incast(1, "292000B")));
        assert_eq!(outcome.number("drops"), outcome.number("drops_headroom_full"));
        outcome.number("drops")
    };
    assert!(drops("pfc-headroom = \"1500B\"") > 0.0);
    // 37 packets are there at most, as the closed form of the first pause has it, of which 20 are up to XOFF.
    assert_eq!(drops("pfc-headroom = \"25500B\""), 0.0);
    assert!(drops("pfc-headroom = \"25499B\"") > 0.0);
    assert_eq!(drops(""), 0.0);
}

#[test]
fn a_buffer_below_the_headroom_is_refused() {
    let why = |keys: &str| {
        let text = format!("[network]\ntopology = \"star\"\npfc = \"on\"\n{keys}\n{}", incast(4, "1MB"));
        network(&text).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let told = why("rate = \"100Gbps\"\ndelay = \"10us\"\nbuffer = \"100pkt\"");
    assert!(told.contains("a port has 150000B, and a cable of 100Gbps and 10us needs 254564B of headroom"), "{told}");
    assert!(why("pfc-xoff = \"10KB\"\npfc-xon = \"11KB\"").contains("is above XOFF, which is 10000B"));
    assert_eq!(why("shared-buffer = \"1MB\""), "");
    let shared = why("shared-buffer = \"50KB\"");
    assert!(shared.contains("a port has 10000B"), "five ports share it: {shared}");
}

/// All that packets can meet in a lossless switch.
#[test]
fn both_event_cores_pause_the_same() {
    let queues = [
        "",
        "kind = \"strict-priority\"",
        "kind = \"ecn-threshold\"\nthreshold = \"9KB\"\nmark-at = \"dequeue\"",
        "kind = \"red\"",
    ];
    let networks = [
        "topology = \"star\"\nbuffer = \"30pkt\"",
        "topology = \"two-switch\"\nreceiver-hosts = 2\nbuffer = \"45KB\"\nhost-jitter = \"2us\"",
        "topology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\nshared-buffer = \"800KB\"",
        "topology = \"star\"\nbuffer = \"30pkt\"\ndevice-queue = \"3pkt\"\nties = \"fresh-first\"",
        "topology = \"star\"\nbuffer = \"30pkt\"\npfc-headroom = \"1500B\"",
    ];
    let measure = "[measure]\nqueues = \"all\"\nqueue-trace = \"on-change\"\nbin = \"300us\"\n";
    for network in networks {
        for queue in queues {
            for scheme in ["newreno", "dctcp"] {
                let transport = format!(
                    "[queue]\n{queue}\n[transport]\nscheme = \"{scheme}\"\nrto-min = \"2ms\"\ninitial-window = \"40mss\"\n{measure}"
                );
                let rest = format!("{transport}{}", incast(15, "60KB"));
                let outcome = agreed(&format!("delay = \"10us\"\n{network}"), &rest);
                assert!(outcome.number("pauses") > 0.0 || queue.contains("red"), "{network} {queue} {scheme}");
            }
        }
    }
}

#[test]
fn both_event_cores_pause_the_same_for_schemes_with_switches_and_under_faults() {
    let faults = [
        "",
        "[[fault]]\nkind = \"link-down\"\nlink = \"switch-0->switch-1\"\nat = \"3ms\"\nfor = \"2ms\"\n",
        "[[fault]]\nkind = \"link-down\"\nlink = \"switch-0->switch-1\"\nqueued = \"drop\"\nat = \"3ms\"\nfor = \"2ms\"\n",
        "[[fault]]\nkind = \"rate\"\nlink = \"switch-0->switch-1\"\nrate = \"100Mbps\"\nat = \"3ms\"\nfor = \"2ms\"\n",
        "[[fault]]\nkind = \"loss\"\nlink = \"switch-0->switch-1\"\nrate = \"1%\"\nat = \"1ms\"\n",
    ];
    for scheme in ["newreno", "pfdct", "rcce", "sdtcp", "hpcc", "dcqcn", "ndp"] {
        for fault in faults {
            let network = "topology = \"two-switch\"\nbuffer = \"30pkt\"\ndelay = \"10us\"\nreceiver-hosts = 2";
            let rest = format!("[transport]\nscheme = \"{scheme}\"\nrto-min = \"2ms\"\n{}{fault}", incast(15, "60KB"));
            agreed(network, &rest);
        }
    }
}

//! HPCC: short queues and full links by what switches write into packets.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

const ETA: f64 = 0.95;
/// Payload and size of a full packet.
const PACKET: (f64, f64) = (1418.0, 1500.0);
const RATE: f64 = 100e9;

/// So many flows into one port of 100 Gbit/s for as long as it takes.
fn long(flows: u32, params: &str) -> Outcome {
    over("", flows, params)
}

/// The same with further keys of the network.
fn over(network: &str, flows: u32, params: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\nrate = \"100Gbps\"\ndelay = \"2us\"\nbuffer = \"4MB\"\n{network}\n[transport]\n\
         scheme = \"hpcc\"\n[scheme.hpcc]\n{params}\n[[traffic]]\nkind = \"background\"\nflows = {flows}\n\
         [measure]\nwarmup = \"2ms\"\n[run]\nduration = \"4ms\"\n"
    ))
}

/// The window of a flow is stable where U = eta + `W_AI` / W, and all windows together are U of what the path holds. U has what
/// waits besides: the link itself is used by eta, and by that little more at most. The first windows have left the queue
/// before the measurement.
#[test]
fn long_flows_use_eta_of_a_link_and_leave_its_queue_empty() {
    // T: four cables of 2 us, and a packet and an acknowledgement on two links.
    let pipe = RATE / 8.0 * (8e-6 + 2.0 * 1582.0 * 8.0 / RATE);
    for flows in [1, 4, 16] {
        let outcome = long(flows, "");
        let used = outcome.number("goodput_bps") * PACKET.1 / PACKET.0 / RATE;
        let most = ETA + f64::from(flows) * 80.0 / pipe;
        assert!((ETA - 0.002..most + 0.002).contains(&used), "{flows} flows use {used}, not {ETA} to {most}");
        // Packets of flows that pace by themselves meet; of each only the next one can wait.
        let waiting = outcome.number("queue_mean_packets") - used;
        assert!(waiting < 0.1 * f64::from(flows) + 0.5, "{waiting} packets of {flows} flows wait");
        assert!(outcome.number("queue_max_packets") <= f64::from(flows));
        assert_eq!(outcome.number("drops"), 0.0);
    }
}

/// With half of eta a link is used by half, and with other increases of N flows a queue builds up as the paper's rule says:
/// where N `W_AI` is more than 1 - eta of the path.
#[test]
fn the_increase_of_all_flows_has_to_fit_above_eta() {
    let used = |outcome: &Outcome| outcome.number("goodput_bps") * PACKET.1 / PACKET.0 / RATE;
    let half = used(&long(4, "eta = \"47.5%\""));
    assert!((half - 0.475).abs() < 0.01, "{half}");
    let [fits, exceeds] = ["300B", "3KB"].map(|increase| long(16, &format!("increase = \"{increase}\"")));
    let queues = [fits, exceeds].map(|outcome| outcome.number("queue_mean_packets"));
    assert!(queues[0] < 5.0 && queues[1] > 20.0, "{queues:?} packets");
}

/// All begin at the rate of their links. What does not fit the port is lost, and flows that lose all wait for their timers.
#[test]
fn without_pfc_first_windows_of_many_senders_are_lost() {
    let outcome = long(64, "");
    assert!(outcome.number("drops") > 1000.0 && outcome.number("jain") < 0.6);
    assert_eq!(outcome.number("marks"), 0.0);
}

/// The same 4 MB, of which each of 65 cables has its part: XOFF at 4,900 bytes, and headroom for the rest.
#[test]
fn with_pfc_first_windows_of_many_senders_wait_and_none_is_lost() {
    let outcome = over("pfc = \"on\"\npfc-xoff = \"4900B\"", 64, "");
    assert_eq!(outcome.number("drops"), 0.0);
    assert!(outcome.number("pauses") > 0.0 && outcome.number("jain") > 0.9, "{}", outcome.number("jain"));
}

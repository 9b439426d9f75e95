//! What the traffic can put on the ports, computed from the network alone.

use super::bench::scenario;
use crate::sim::{FanInPort, Loads, loads};

fn of(network: &str, traffic: &str) -> Loads {
    loads(&scenario(&format!("[network]\n{network}\n[[traffic]]\n{traffic}"))).unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found} instead of {expected}");
}

fn port<'a>(loads: &'a Loads, name: &str) -> &'a FanInPort {
    loads.fan_in.iter().find(|port| port.port == name).unwrap_or_else(|| panic!("no {name} in {loads:?}"))
}

#[test]
fn all_senders_of_an_incast_meet_at_the_receiver() {
    let found = of("topology = \"star\"", "kind = \"incast\"\nsenders = 40\nbytes-each = \"2920B\"");
    assert!(found.tiers.is_empty());
    let port = port(&found, "switch-0->receiver-0");
    assert_eq!((port.tier, port.buffer / port.packet), (None, 100));
    near(port.responses, 40.0);
    near(port.arriving, 40e9);
    near(port.first, 80.0);
    // Four links of 25 us there and back, twice a packet of 1500 bytes and twice an acknowledgement of 40.
    near(port.rtt.secs(), 4.0 * 25e-6 + 2.0 * 1540.0 * 8.0 / 1e9);
    let framed = "topology = \"star\"\nframe-overhead = \"38B\"";
    let found = of(framed, "kind = \"incast\"\nsenders = 40\nbytes-each = \"2920B\"");
    let both = 1538.0 + 78.0;
    near(self::port(&found, "switch-0->receiver-0").rtt.secs(), 4.0 * 25e-6 + 2.0 * both * 8.0 / 1e9);
}

#[test]
fn a_limit_on_responses_at_once_and_shared_hosts_bound_what_arrives() {
    let traffic = "kind = \"incast\"\nsenders = 40\nbytes-each = \"1MB\"\nconcurrent = 8";
    near(port(&of("topology = \"star\"", traffic), "switch-0->receiver-0").responses, 8.0);
    let shared = "kind = \"incast\"\nsenders = 40\nplacement = \"round-robin\"\nbytes-each = \"1MB\"";
    let found = of("topology = \"tree\"", shared);
    let last = port(&found, "root->receiver-0");
    // Nine workers share 40 responses.
    near(last.responses, 40.0);
    // The three cables to the root carry 1 Gbit/s each.
    near(last.arriving, 3e9);
    let uplink = found.fan_in.iter().find(|port| port.tier == Some(["edge", "root"])).unwrap();
    near(uplink.arriving, 3e9);
    near(uplink.responses, 40.0 / 3.0);
}

#[test]
fn what_a_slower_link_does_not_carry_fills_no_port_behind_it() {
    let trunk = "topology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"";
    let found = of(trunk, "kind = \"incast\"\nsenders = 40\nbytes-each = \"32KB\"");
    let [only] = &found.fan_in[..] else { panic!("{found:?}") };
    assert_eq!(only.port, "switch-0->switch-1");
    near(only.arriving, 400e9);
    near(only.responses, 40.0);
    let spine = "topology = \"leaf-spine\"\nrate = \"10Gbps\"\nuplink-rate = \"10Gbps\"\nleaves = 2\nspines = 1\n\
                 hosts-per-leaf = 20";
    let found = of(spine, "kind = \"incast\"\nsenders = 8\nbytes-each = \"1MB\"\nfrom = \"rack-1\"");
    let [only] = &found.fan_in[..] else { panic!("{found:?}") };
    assert_eq!(only.port, "leaf-1->spine-0");
    near(only.arriving, 80e9);
}

#[test]
fn one_response_fills_nothing() {
    assert!(of("topology = \"star\"", "kind = \"incast\"\nsenders = 1\nbytes-each = \"1MB\"").fan_in.is_empty());
}

#[test]
fn a_port_of_a_shared_memory_holds_what_the_threshold_leaves_it() {
    let network = "topology = \"star\"\nadmission = \"dynamic-threshold\"\nshared-buffer = \"3MB\"\ndt-alpha = 2";
    let found = of(network, "kind = \"incast\"\nsenders = 4\nbytes-each = \"1MB\"");
    assert_eq!(port(&found, "switch-0->receiver-0").buffer, 2_000_000);
}

#[test]
fn tiers_are_oversubscribed_by_what_their_hosts_can_send() {
    let network = "topology = \"fat-tree\"\npods = 4\nhosts-per-edge = 6\nrate = \"10Gbps\"\ncore-rate = \"20Gbps\"";
    let found = of(network, "kind = \"incast\"\nsenders = 12\nbytes-each = \"1MB\"");
    let ratios: Vec<_> = found.tiers.iter().map(|each| (each.tier.ends, each.tier.below, each.tier.out)).collect();
    let rate = |gbps: u64| fanin_core::units::Rate::from_bps(gbps * 1_000_000_000);
    assert_eq!(ratios, [(["edge", "aggregation"], rate(60), rate(20)), (["aggregation", "core"], rate(120), rate(80))]);
    assert!(found.tiers.iter().all(|each| each.offered.is_none()));
}

#[test]
fn offered_load_is_spread_over_the_paths_of_its_pairs() {
    let network = "topology = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts-per-leaf = 8\nuplink-rate = \"2Gbps\"";
    let traffic = |more: &str| {
        format!(
            "kind = \"poisson\"\nbytes-each = \"100KB\"\ninterval = \"100us\"\nsenders = 8\nreceivers = 8\n\
             from = \"rack-1\"\nto = \"rack-0\"\n{more}"
        )
    };
    let found = of(network, &traffic(""));
    // 8 Gbit/s from one rack to the other, over two cables of 2 Gbit/s each.
    near(found.tiers[0].offered.unwrap(), 2.0);
    let all = traffic("").replace("rack-1", "all").replace("rack-0", "all");
    // Of 16 hosts 8 of the other 15 are in the other rack; each rack sends half of what crosses.
    near(of(network, &all).tiers[0].offered.unwrap(), 8.0 / 15.0);
}

//! Defaults that follow from the rates of the network.

use super::{parse, parse_with};
use crate::ResolvedRow;
use crate::common::{CONTROL, MEASURE, NETWORK, RUN, TRAFFIC_COMMON};
use fanin_core::units::{Rate, Size};
use fanin_network::{queue, topology, traffic};
use fanin_param::Param;
use fanin_schemes as schemes;
use fanin_tcp as tcp;

const RACKS: &str = "[network]\ntopology = \"leaf-spine\"\n[transport]\nscheme = \"dctcp\"\n\
                     [[traffic]]\nkind = \"incast\"\nsenders = 3\n";

fn row(rows: &[ResolvedRow], path: &str) -> ResolvedRow {
    rows.iter().find(|row| row.path == path).unwrap_or_else(|| panic!("no {path}")).clone()
}

#[test]
fn uplinks_follow_the_hosts_and_the_table_names_the_rule() {
    for (rate, uplink) in [("1Gbps", "10Gbps"), ("100Gbps", "1000Gbps"), ("2.5Gbps", "25Gbps")] {
        let scenario = parse_with(RACKS, &[("network.rate", rate)]).unwrap();
        let found = row(&scenario.resolved_table(), "network.uplink-rate");
        assert_eq!((found.value.as_str(), found.is_default()), (uplink, true));
        assert!(found.source.starts_with("10 times rate: Alizadeh et al. 2010"), "{}", found.source);
    }
    let given = parse_with(RACKS, &[("network.rate", "100Gbps"), ("network.uplink-rate", "40Gbps")]).unwrap();
    assert!(!row(&given.resolved_table(), "network.uplink-rate").is_default());
    assert_eq!(given.network.values.rate("uplink-rate").bps(), 40_000_000_000);
}

#[test]
fn a_tier_above_follows_the_one_below() {
    let text = RACKS.replace("leaf-spine", "clos");
    let clos = parse_with(&text, &[("network.rate", "25Gbps"), ("network.uplink-rate", "100Gbps")]).unwrap();
    assert_eq!(clos.network.values.rate("core-rate").bps(), 100_000_000_000);
    let trunk = parse_with(&RACKS.replace("leaf-spine", "two-switch"), &[("network.rate", "40Gbps")]).unwrap();
    assert_eq!(trunk.network.values.rate("trunk-rate").bps(), 40_000_000_000);
}

#[test]
fn a_threshold_follows_the_slowest_links() {
    let threshold = |rate: &str, trunk: &str| {
        let given = [("network.topology", "two-switch"), ("network.rate", rate), ("network.trunk-rate", trunk)];
        let scenario = parse_with(RACKS, &given).unwrap();
        let queue = [&given[..], &[("queue.kind", "ecn-threshold")]].concat();
        let other = parse_with(RACKS, &queue).unwrap().queue.values.size("threshold");
        assert_eq!(scenario.scheme("dctcp").size("mark-threshold"), other);
        other
    };
    assert_eq!(threshold("100Mbps", "1Gbps"), Size::Packets(20));
    assert_eq!(threshold("1Gbps", "1Gbps"), Size::Packets(20));
    assert_eq!(threshold("10Gbps", "10Gbps"), Size::Packets(65));
    assert_eq!(threshold("25Gbps", "25Gbps"), Size::Packets(163));
    assert_eq!(threshold("100Gbps", "100Gbps"), Size::Packets(650));
    assert_eq!(threshold("10Gbps", "1Gbps"), Size::Packets(20));
}

#[test]
fn a_buffer_follows_the_slowest_links_and_leaves_room_above_the_threshold() {
    let buffer = |given: &[(&str, &str)]| {
        let scenario = parse_with(RACKS, given).unwrap();
        (scenario.network.values.size("buffer"), scenario.scheme("dctcp").size("mark-threshold"))
    };
    let packets = |buffer: u64, mark: u64| (Size::Packets(buffer), Size::Packets(mark));
    assert_eq!(buffer(&[]), packets(100, 20));
    assert_eq!(buffer(&[("network.rate", "10Gbps")]), packets(130, 65));
    // The rates of all tiers are settled first: the uplinks, of 10 Gbps if declared alone, follow the hosts.
    assert_eq!(buffer(&[("network.rate", "100Gbps")]), packets(1300, 650));
    assert_eq!(buffer(&[("network.rate", "100Gbps"), ("network.uplink-rate", "10Gbps")]), packets(130, 65));
    assert_eq!(buffer(&[("network.rate", "100Gbps"), ("network.buffer", "100pkt")]), packets(100, 650));
    let found = row(&parse_with(RACKS, &[]).unwrap().resolved_table(), "network.buffer");
    assert!(found.source.starts_with("130pkt per 10Gbps of the slowest links, at least 100pkt: "), "{}", found.source);
}

#[test]
fn a_shared_buffer_that_is_given_is_shared() {
    let admission = |given: &[(&str, &str)]| {
        let found = row(&parse_with(RACKS, given).unwrap().resolved_table(), "network.admission");
        (found.value, found.source.into_owned())
    };
    assert_eq!(admission(&[]).0, "static");
    let shared = ("network.shared-buffer", "12MB");
    assert_eq!(admission(&[shared]), ("dynamic-threshold".to_owned(), "shared-buffer is given".to_owned()));
    assert_eq!(admission(&[shared, ("network.admission", "static")]).0, "static");
    assert_eq!(admission(&[("network.dt-alpha", "2")]).0, "static");
}

#[test]
fn a_rate_that_no_link_can_have_is_an_error_at_its_key() {
    let error = parse_with(RACKS, &[("network.rate", "8Tbps")]).unwrap_err().clone();
    assert!(error.contains("network.uplink-rate: is by default 10 times rate"), "{error}");
    assert!(parse_with(RACKS, &[("network.rate", "8Tbps"), ("network.uplink-rate", "8Tbps")]).is_ok());
}

#[test]
fn the_resolved_scenario_is_the_same_when_read_again() {
    let resolved = parse_with(RACKS, &[("network.rate", "100Gbps")]).unwrap().resolved();
    assert_eq!(parse(&toml::to_string(&resolved).unwrap()).unwrap().resolved(), resolved);
}

/// Tests, and the schema's check of values, use the declared default without a network.
#[test]
fn a_declared_default_is_that_of_its_rule_at_1_gbps() {
    let fixed: [&[Param]; 6] = [NETWORK, TRAFFIC_COMMON, CONTROL, MEASURE, RUN, tcp::PARAMS];
    let rows = topology::REGISTRY.iter().map(|row| row.params).chain(queue::REGISTRY.iter().map(|row| row.params));
    let rows = rows.chain(schemes::REGISTRY.iter().map(|row| row.params));
    let rows = rows.chain(traffic::REGISTRY.iter().map(|row| row.params)).chain(fixed);
    let mut ruled = 0;
    for param in rows.flatten() {
        let Some(rule) = param.rule else { continue };
        assert_eq!(rule.at(Rate::from_bps(1_000_000_000)).as_deref(), Some(param.default), "{}", param.key);
        ruled += 1;
    }
    assert!(ruled >= 10, "{ruled}");
}

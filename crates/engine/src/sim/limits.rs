//! Limits on a simulation's size: memory, and the keys of the event queue.

use fanin_core::packet::Stamp;
use fanin_core::units::Time;
use fanin_event::links::LinkQueue;
use fanin_net::faults::Faults;
use fanin_network::topology::Topology;
use fanin_param::SpecError;
use fanin_scenario::Scenario;
use std::collections::BTreeMap;

/// Largest IPv4 packet (RFC 791 section 3.1).
pub(super) const LARGEST_PACKET: u64 = 65_535;

/// Most rows of the bins and of a sampled queue trace.
const MOST_ROWS: u64 = 100_000_000;

/// The age of a packet is known up to [`Stamp::OLDEST`]; this leaves as much for queues.
const LONGEST_PROPAGATION: Time = Time::from_secs(500);

/// Refuses scenarios that would not fit in memory or in the keys of the event queue.
pub(super) fn check_magnitudes(scenario: &Scenario, topology: &Topology, faults: &Faults) -> Result<(), SpecError> {
    let (measure, network) = (&scenario.measure, &scenario.network.values);
    let duration = scenario.longest().ps();
    let rows = |interval: Time| if interval == Time::ZERO { 0 } else { duration / interval.ps() };
    let too_many = |key: &str, rows: u64| {
        let message = format!("gives {rows} rows over run.duration, more than {MOST_ROWS}; give a longer time");
        Err(measure.fail(key, message))
    };
    let ports = if measure.is("queues", "all") { topology.links.len() } else { 1 };
    let bins = rows(measure.time("bin")).saturating_mul(scenario.traffic.len().max(ports) as u64);
    if bins > MOST_ROWS {
        return too_many("bin", bins);
    }
    if measure.is("queue-trace", "sampled") && rows(measure.time("queue-sample")) > MOST_ROWS {
        return too_many("queue-sample", rows(measure.time("queue-sample")));
    }
    if base_rtt(topology) > LONGEST_PROPAGATION {
        let message =
            format!("a round trip of propagation takes {}, more than {LONGEST_PROPAGATION}", base_rtt(topology));
        return Err(network.fail("delay", message));
    }
    let reach = LinkQueue::reach(topology.links.len());
    let jitter = network.time("host-jitter");
    for link in &topology.links {
        let transmission = LARGEST_PACKET * u64::from(link.rate.ps_per_byte().expect("the parser checks rates"));
        if link.delay + jitter + Time::from_ps(transmission) > reach {
            let (delay, rate) = (link.delay, link.rate);
            let message =
                format!("a packet takes too long to cross a link of {rate} and {delay}, with {jitter} of jitter");
            return Err(network.fail("delay", message));
        }
    }
    if let Some((fault, waits)) = faults.waits().find(|(_, waits)| *waits > Stamp::OLDEST) {
        let message = format!(
            "packets would wait for {waits}, but their age can be recorded up to {} only; let it end earlier, or queued = \"drop\"",
            Stamp::OLDEST
        );
        return Err(scenario.faults[fault].values.fail("for", message));
    }
    for (fault, links, rate) in faults.rates() {
        let transmission = LARGEST_PACKET * u64::from(rate.ps_per_byte().expect("the parser checks rates"));
        let longest = links.iter().map(|link| topology.links[link.index()].delay).max().unwrap_or(Time::ZERO);
        if longest + jitter + Time::from_ps(transmission) > reach {
            let message = format!("a packet takes too long to cross a link of {rate} and {longest}");
            return Err(scenario.faults[fault].values.fail("rate", message));
        }
    }
    Ok(())
}

/// Longest propagation delay from a sender to the first receiver and back. Senders on the same switch have the same
/// distance.
pub(crate) fn base_rtt(topology: &Topology) -> Time {
    let places = topology.senders.iter().map(|host| {
        let cable = topology.links[topology.uplink(*host).index()];
        ((cable.to, cable.delay), *host)
    });
    let places: BTreeMap<_, _> = places.collect();
    let to = topology.receivers[0];
    let paths = topology.shortest_paths(topology.rack_of(to));
    let reached = places.into_values().filter(|from| paths.count(topology.rack_of(*from)) > 0);
    reached.map(|from| topology.base_rtt(&topology.path(&paths, from, to, 0))).max().unwrap_or(Time::ZERO)
}

//! What a switch does with segments that were sent before, seen from the switch behind it.

use super::bench::{Log, Seen, Tap, reals, scenario};
use crate::sim::build::Substitutes;
use crate::sim::run_with;
use fanin_core::packet::Flags;
use fanin_core::roles::{CongestionControl, QueueDiscipline, SwitchAgent};
use fanin_scenario::Scenario;
use fanin_schemes::{FlowFacts, NodeFacts, REGISTRY, Scheme};
use std::any::Any;

/// A registered scheme whose switches tell of every packet.
struct Tapped {
    scheme: Box<dyn Scheme>,
    log: Log<Seen>,
}

impl Scheme for Tapped {
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        self.scheme.congestion_control(flow)
    }
    fn queue(&self, switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        self.scheme.queue(switch)
    }
    fn node_state(&self, switch: &NodeFacts) -> Box<dyn Any + Send> {
        self.scheme.node_state(switch)
    }
    fn switch_agent(&self, _switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        Some(Box::new(Tap(self.log.clone())))
    }
}

/// What the two switches saw, in order.
fn seen(pit: &str) -> Vec<Seen> {
    // ECN-capable, so that without the table they wait with their flow. The trunk's port holds some 40 packets of long flows, and bursts of short ones make losses.
    let text = format!(
        "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"5us\"\nbuffer = \"150pkt\"\n\
         [transport]\nscheme = \"pfdct\"\nrto-min = \"2ms\"\necn-retransmit = true\n[scheme.pfdct]\nclass = \"size-only\"\nkt-dir = \"frozen\"\n\
         bands = 3\nband-buf = \"split\"\nslow-start = \"until-mark\"\nkt-high = \"band\"\n\
         kt-init = 40\npit = \"{pit}\"\n[[traffic]]\nname = \"long\"\nkind = \"background\"\nflows = 3\n[[traffic]]\n\
         kind = \"incast\"\nsenders = 12\nbytes-each = \"15KB\"\nstart = \"5ms\"\n[run]\nduration = \"20ms\"\n"
    );
    let scenario: Scenario = scenario(&text);
    let row = REGISTRY.iter().find(|row| row.key == "pfdct").expect("registered");
    let log = Log::new();
    let scheme: Box<dyn Scheme> = Box::new(Tapped { scheme: (row.build)(scenario.scheme("pfdct")), log: log.clone() });
    let substitutes = Substitutes { schemes: [("pfdct", scheme)].into(), topology: None };
    let outcome = run_with(&scenario, substitutes, None).unwrap_or_else(|error| panic!("{error}"));
    assert!(reals(&outcome, "flows", "retransmissions").iter().sum::<f64>() > 5.0);
    log.take()
}

/// Microseconds from sender to second switch of repeated segments, and of others of the long flows.
fn transits(pit: &str) -> (Vec<f64>, Vec<f64>) {
    let seen = seen(pit);
    let second = seen.iter().map(|seen| seen.switch).max().expect("two switches");
    let transit = |again: bool| {
        let data = seen.iter().filter(|seen| seen.switch == second && seen.packet.size == 1500);
        let wanted = data.filter(|seen| {
            let long = seen.packet.flow.index() < 3;
            if again { seen.packet.flags.has(Flags::RETRANSMITTED) } else { long && seen.at.ps() > 4_000_000_000 }
        });
        wanted.map(|seen| seen.packet.stamp.until(seen.at).secs() * 1e6).collect::<Vec<f64>>()
    };
    (transit(true), transit(false))
}

#[test]
fn a_retransmission_overtakes_what_waits() {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (again, long) = transits("hiwater");
    // A long flow's segment waits behind 40 others, 480 us; one that is sent again behind its like only.
    assert!(mean(&long) > 300.0, "{}", mean(&long));
    assert!(mean(&again) < 0.5 * mean(&long), "{} of {}", mean(&again), mean(&long));
    let (without, _) = transits("off");
    assert!(mean(&without) > 1.5 * mean(&again), "{} without the table, {} with it", mean(&without), mean(&again));
}

/// Repeated segments that left the first switch before one of their own class that had come before them, and all.
fn overtakes(pit: &str) -> (usize, usize) {
    let seen = seen(pit);
    let second = seen.iter().map(|seen| seen.switch).max().expect("two switches");
    let (behind, before): (Vec<&Seen>, Vec<&Seen>) =
        seen.iter().filter(|seen| seen.packet.size == 1500).partition(|seen| seen.switch == second);
    let id = |seen: &Seen| (seen.packet.flow, seen.packet.seq, seen.packet.stamp);
    let is_long = |seen: &Seen| seen.packet.flow.index() < 3;
    // In the order of arrival at the first switch, the place in the order of departure; a lost one has none.
    let came: Vec<(&Seen, usize)> = before
        .iter()
        .filter_map(|seen| behind.iter().position(|left| id(left) == id(seen)).map(|place| (*seen, place)))
        .collect();
    let again = came.iter().enumerate().filter(|(_, (seen, _))| seen.packet.flags.has(Flags::RETRANSMITTED));
    let overtook = |i: usize, one: &Seen, place: usize| {
        came[..i].iter().any(|(other, left)| is_long(other) == is_long(one) && *left > place)
    };
    let found: Vec<bool> = again.map(|(i, (seen, place))| overtook(i, seen, *place)).collect();
    (found.iter().filter(|overtook| **overtook).count(), found.len())
}

#[test]
fn a_retransmission_departs_before_what_came_before_it() {
    let (with, all) = overtakes("hiwater");
    assert!(all > 5 && 2 * with > all, "{with} of {all}");
    let (without, all) = overtakes("off");
    assert!(all > 5);
    assert_eq!(without, 0, "a band is served in order");
}

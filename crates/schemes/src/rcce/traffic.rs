//! Checks that RCCE's edge can serve the traffic.

use fanin_param::{SpecError, Values};

use fanin_network::traffic;
use fanin_network::traffic::TrafficGroup;

/// The pattern with aggregators.
const RELAY_TREE: &str = "relay-tree";

/// An error if the edge would silently not act on some of the traffic.
pub(super) fn check(params: &Values, groups: &[&TrafficGroup]) -> Result<(), SpecError> {
    if params.is("edge-mode", "tor-proxy") {
        return groups.iter().try_for_each(|group| opened_by_sender(group));
    }
    if params.is("edge-mode", RELAY_TREE) && groups.iter().all(|group| group.kind != RELAY_TREE) {
        return Err(params.fail_with_suggestion(
            "edge-mode",
            "the aggregators are traffic of kind = \"relay-tree\", and no [[traffic]] of this scheme is of that kind",
            "add a [[traffic]] of kind = \"relay-tree\", or write edge-mode = \"none\"",
        ));
    }
    Ok(())
}

/// An error unless each connection opens with a SYN, from either end: the switch learns of it by that.
fn opened_by_sender(group: &TrafficGroup) -> Result<(), SpecError> {
    let row = traffic::REGISTRY.iter().find(|row| row.key == group.kind).expect("the parser knows the registry");
    // A client that opens the connection for its request sends a SYN too.
    let unopened = (row.unopened)(&group.values).filter(|unopened| unopened.key != "request");
    let Some(unopened) = unopened else { return Ok(()) };
    Err(group.values.fail_with_suggestion(
        unopened.key,
        "the scheduler of scheme.rcce.edge-mode = \"tor-proxy\" sees no SYN of a connection that is open from the beginning, and would not \
         schedule it",
        format!("{}, or scheme.rcce.edge-mode = \"none\", by which the receiving host schedules", unopened.instead),
    ))
}

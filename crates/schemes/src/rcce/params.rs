//! RCCE's parameters: those of RCC, some with other defaults, and those of its edge.

use crate::RCC_PARAMS;
use fanin_param::{Kind, Param};

/// All parameters of RCCE.
pub(super) const ALL: [Param; RCC_PARAMS.len() + EDGE.len()] = {
    let mut all = [EDGE[0]; RCC_PARAMS.len() + EDGE.len()];
    let mut i = 0;
    while i < RCC_PARAMS.len() {
        all[i] = changed(RCC_PARAMS[i]);
        i += 1;
    }
    while i < all.len() {
        all[i] = EDGE[i - RCC_PARAMS.len()];
        i += 1;
    }
    all
};

/// A parameter of RCC with another default here.
struct Change {
    key: &'static str,
    default: &'static str,
    source: &'static str,
}

const CHANGES: &[Change] = &[
    Change { key: "queue-max", default: "40", source: "RCCE, section VI: 40 packets" },
    Change {
        key: "mark-threshold",
        default: "60000B",
        source: "RCCE, section VI: 40 packets; in bytes, so that a burst of SYNs is no congestion",
    },
    Change { key: "assignment", default: "printed", source: "RCCE, Algorithm 1, lines 5 and 11" },
    Change {
        key: "alpha",
        default: "ratio",
        source: "RCCE, section IV.D: the share of marked packets over a round trip",
    },
    Change { key: "skip-cap", default: "formula", source: "RCCE, section IV.B: C RTO_r / 2" },
    Change { key: "release", default: "at-most", source: "RCCE, Algorithm 2, line 6" },
    Change {
        key: "mark-action",
        default: "avoidance",
        source: "RCCE, sections IV.D, which has Eq. 2 only, and V.B, where windows then grow by a segment a round trip",
    },
    Change {
        key: "requests",
        default: "wait",
        source: "RCCE, section IV.B: buffer queuing stores acknowledgements without sending them",
    },
    Change { key: "push-bonus", default: "0", source: "RCCE, section IV.B has none" },
    Change {
        key: "rto-r",
        default: "on-queue",
        source: "RCCE, section V.A: receivers request retransmissions if ACKs are held too long",
    },
    Change { key: "rto-r-min", default: "10ms", source: "RCCE, section VI" },
];

const fn changed(mut param: Param) -> Param {
    let mut i = 0;
    while i < CHANGES.len() {
        if same(param.key, CHANGES[i].key) {
            param.default = CHANGES[i].default;
            param.source = CHANGES[i].source;
        }
        i += 1;
    }
    // A switch cannot create acknowledgements, so it requests no retransmissions.
    let mut i = 0;
    while i < REQUESTS.len() {
        if same(param.key, REQUESTS[i]) {
            return param.idle_with("edge-mode", "tor-proxy");
        }
        i += 1;
    }
    param
}

/// Parameters of the receiver's retransmission requests.
const REQUESTS: [&str; 5] = ["rto-r", "rto-r-step", "rto-r-wait", "push-bonus", "push"];

/// Equality of strings in constants, where `==` is not available.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut i = 0;
    while i < one.len() {
        if one[i] != other[i] {
            return false;
        }
        i += 1;
    }
    true
}

const EDGE: [Param; 9] = [
    Param::new(
        "edge-mode",
        Kind::Choice(&["none", "relay-tree", "tor-proxy"]),
        "none",
        "Where the scheduler is: in the receiving host, in the hosts of an edge, or in the last switch. Hosts of an \
         edge are aggregators, the [[traffic]] of kind = \"relay-tree\", and their client.",
        "RCCE, section IV: implemented at the receiver side; the figures show nothing else",
    )
    .reading("E5"),
    Param::new(
        "edge-scheduler",
        Kind::Choice(&["central", "per-host"]),
        "central",
        "Whether one list, one division of queue-max and one count of connections serve all hosts at a switch, or each host \
         has its own.",
        "RCCE, section IV: the centralized scheduler at the edge",
    )
    .reading("E25")
    .idle_with("edge-mode", "none"),
    Param::new(
        "proxy-counts",
        Kind::Choice(&["departures", "arrivals"]),
        "departures",
        "Whether the last switch counts a segment as arrived when it leaves for the host, or when it arrives at the \
         switch, before the queue.",
        "our choice: a proxy before the bottleneck does not see its queue",
    )
    .reading("E5"),
    Param::new(
        "st-enable",
        Kind::Choice(&["on", "off"]),
        "off",
        "Spread flowcells over spanning trees if there are several paths.",
        "the paper's figures have one switch, and so one path",
    )
    .reading("E6"),
    Param::new(
        "st-when",
        Kind::Choice(&["crowded", "always"]),
        "crowded",
        "Which flows are spread: those to hosts with more than queue-max connections, or all. The others keep the path \
         that ECMP gives them.",
        "RCCE, section IV.A: when connections are too large",
    )
    .reading("E7"),
    Param::new("st-cell", Kind::Bytes, "64KiB", "Bytes of a flowcell.", "He et al. 2015 (Presto), section 3.1")
        .at_least(1.0)
        .reading("E6"),
    Param::new(
        "st-hold",
        Kind::Time,
        "1ms",
        "How long the receiving host holds a segment that overtook an earlier flowcell; 0: every segment is passed to \
         TCP at once.",
        "our choice: a full buffer of 80 packets at 1 Gbps takes 0.96 ms; Presto adapts it",
    )
    .reading("E6"),
    Param::new(
        "st-settle",
        Kind::Time,
        "100us",
        "How long the controller waits for other reports after a switch's report, before it computes trees.",
        "our choice: several times the service time of a report",
    )
    .reading("E6"),
    Param::new(
        "st-retry",
        Kind::Time,
        "1ms",
        "How long a switch waits for the controller's answer before it reports again, twice as long each time.",
        "our choice: several times the time of an answer",
    )
    .at_least(1.0)
    .reading("E6"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_of_a_parameter_of_rcc() {
        for change in CHANGES {
            let found = ALL.iter().find(|param| param.key == change.key).expect(change.key);
            assert_eq!((found.default, found.source), (change.default, change.source));
        }
        assert_eq!(ALL.len(), RCC_PARAMS.len() + EDGE.len());
    }
}

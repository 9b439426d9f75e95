//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "HP1",
        text: "The paper's rule for W_AI is W_init (1 - eta) / N, where N flows are the most that a link has. It depends on the \
               network and its traffic, so the default is the value of the authors' code, as bytes.",
        params: &["scheme.hpcc.increase"],
    },
    Reading {
        id: "HP2",
        text: "T is one constant of the paper's network. We take the idle round trip of each flow's own path: propagation both ways, \
               and on each link a full packet and an acknowledgement. Links count with the rate of the sender's own.",
        params: &["scheme.hpcc.base-rtt"],
    },
    Reading {
        id: "HP3",
        text: "Algorithm 1 has no rule for a loss, and its network has PFC. Where ports drop packets, those are sent again, and the window \
               stays what telemetry makes it.",
        params: &["scheme.hpcc.loss-decrease"],
    },
    Reading {
        id: "HP4",
        text: "Whether the window holds for the last byte of a segment is open in algorithm 1. The authors' code sends while less than \
               a window is in flight, and so do we. A window below a packet lets one fly, at the rate W / T.",
        params: &["scheme.hpcc.in-flight"],
    },
    Reading {
        id: "HP5",
        text: "Algorithm 1 needs a stack before the first. The first acknowledgement, and the first of a new path, only gives \
               that. U begins with 1, as in the authors' code.",
        params: &[],
    },
    Reading {
        id: "HP6",
        text: "A window is at most W_init, as the rate of the authors' code is at most that of the link. It is at least W_AI, \
               which algorithm 1 adds; the code's smallest rate is left out.",
        params: &[],
    },
    Reading {
        id: "HP7",
        text: "Every packet has 42 bytes of telemetry in both directions, whatever its path, as in the authors' code. That is room for \
               five switches, and a sixth one writes nothing. Switches write into data only, and acknowledgements take it back.",
        params: &["transport.header"],
    },
];

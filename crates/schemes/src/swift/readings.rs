//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "SW1",
        text: "The paper's targets are those of its own network. We add \
               the delay of the idle path, as its operator knows it: propagation both ways, and a full packet on each \
               link. Without it, base-target and hop-target are the whole target.",
        params: &["scheme.swift.base-target", "scheme.swift.hop-target", "scheme.swift.distance"],
    },
    Reading {
        id: "SW2",
        text: "Algorithm 1 sets the time of the last decrease whenever the window has not grown. While acknowledgements \
               above the target keep coming, the window then shrinks only once. We set it at a decrease, as htsim does.",
        params: &["scheme.swift.decrease-clock"],
    },
    Reading {
        id: "SW3",
        text: "The paper prints no target for the delay of the hosts. With the default a host reaches it whose \
               scheduler delays packets, and not one that moderates its interrupts.",
        params: &["scheme.swift.host-target"],
    },
    Reading {
        id: "SW4",
        text: "The round-trip time of algorithm 1 is the smoothed one of the connection.",
        params: &[],
    },
];

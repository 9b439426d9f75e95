//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "ND1",
        text: "The paper gives a connection one first window. Here a later transfer on an open connection has one too, as the paper's \
               connections carry one transfer each. Its size in packets fits the paper's network, not yours.",
        params: &["scheme.ndp.first-window"],
    },
    Reading {
        id: "ND2",
        text: "The paper has a timer for each packet. Here the connection's timer stands for that of the first unacknowledged \
               segment, which it sends again. Others from before the timeout that prove lost follow, one for each pull. A segment with \
               a NACK waits for its pull, and is sent again only by the third timeout in a row.",
        params: &["transport.rto-min"],
    },
    Reading {
        id: "ND3",
        text: "The paper asks for a packet with each one that arrives, and forgets the pulls of a sender whose last packet has \
               arrived. Here each packet says where its transfer ends, and no more pulls wait than packets are missing.",
        params: &[],
    },
];

//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "I1",
        text: "The code of RCC's authors, from which RCC's and RCCE's curves of ICTCP come, differs from the paper: \
               it measures in the second half of a slot and uses the quota in the next second half; it adds one \
               segment where the paper doubles, and a segment a round trip where the quota does not allow that; it \
               returns to slow start after cases 2 and 3; its capacity is 2^20 bits per Mbit; it does not change \
               windows while a round trip takes 2 ms or more; and its senders use the advertised window alone, two \
               segments from the start, rather than min(cwnd, advertised).",
        params: &["scheme.ictcp.flavour"],
    },
    Reading {
        id: "I2",
        text: "The paper does not give the weight of the smoothed throughput; RCC's authors use 0.9.",
        params: &["scheme.ictcp.beta"],
    },
    Reading {
        id: "I3",
        text: "The paper's T is the weighted mean of the measured round trips, however short, and nothing is said of the time \
               before there is one. RCC's authors have 160 us as a floor, always; we take it, with both flavours. A network \
               with shorter round trips needs a smaller one. T is measured anew after each half of a slot, so that \
               the halves of one slot may differ in length.",
        params: &["scheme.ictcp.min-slot"],
    },
    Reading {
        id: "I4",
        text: "The paper does not say after which time a flow counts as idle.",
        params: &["scheme.ictcp.idle"],
    },
    Reading {
        id: "I5",
        text: "A round trip without data lowers the smoothed throughput by the paper's formula; the code of RCC's \
               authors ignores such round trips.",
        params: &["scheme.ictcp.flavour"],
    },
    Reading {
        id: "I6",
        text: "Two more rules of the code of RCC's authors seem unintended, but shape their curves. The clock of the \
               slots is a timer of the first connection and stops forever when that closes: if increases are not \
               allowed at that moment, windows do not change any more, and if they are allowed, they use the rest of \
               one quota. And the timer that evaluates a flow is started twice, 200 us after the SYN and one round \
               trip after the handshake, unless the first has already restarted itself by then; both take the bytes \
               received since either one ran for those of a whole round trip.",
        params: &["scheme.ictcp.slot-clock", "scheme.ictcp.looks"],
    },
];

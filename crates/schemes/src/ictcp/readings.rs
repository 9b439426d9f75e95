//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "I1",
        text: "The code of RCC's authors, from which RCC's and RCCE's curves of ICTCP come, differs from the paper. \
               The code measures in the second half of a slot, and uses the quota in the next second half. The code \
               adds one segment where the paper doubles. Where the quota does not allow that segment, the code adds a \
               share of one, MSS^2 / window. After cases 2 and 3 the code returns to slow start. In the code the \
               capacity is 2^20 bits per Mbit. Windows do not change while a round trip takes 2 ms or more. Senders \
               use the advertised window alone, two segments from the start, rather than min(cwnd, advertised).",
        params: &["scheme.ictcp.flavour"],
    },
    Reading {
        id: "I2",
        text: "The paper does not give the weight of the smoothed throughput. RCC's authors use 0.9.",
        params: &["scheme.ictcp.beta"],
    },
    Reading {
        id: "I3",
        text: "The paper's T is the weighted mean of the measured round trips, however short. The paper says nothing \
               of the time before the first measured round trip. RCC's authors have 160 us as a floor, always. We take \
               that floor, with both flavours. A network with shorter round trips needs a smaller floor. T is measured \
               anew after each half of a slot, so the halves of one slot may differ in length.",
        params: &["scheme.ictcp.min-slot"],
    },
    Reading {
        id: "I4",
        text: "The paper does not say after which time a flow counts as idle.",
        params: &["scheme.ictcp.idle"],
    },
    Reading {
        id: "I5",
        text: "A round trip without data lowers the smoothed throughput by the paper's formula. The code of RCC's \
               authors ignores such round trips.",
        params: &["scheme.ictcp.flavour"],
    },
    Reading {
        id: "I6",
        text: "Two more rules of the code of RCC's authors seem unintended, but shape their curves. The clock of the \
               slots is a timer of the first connection, and stops forever when that connection closes. If increases \
               are not allowed at that moment, windows do not change any more. If increases are allowed, windows use \
               the rest of one quota. The second rule is that the timer that evaluates a flow is started twice. The \
               first start is 200 us after the SYN, the second one round trip after the handshake. There is no second \
               start if the first timer has already restarted itself by then. Each timer takes the bytes received \
               since either timer ran for the bytes of a whole round trip.",
        params: &["scheme.ictcp.slot-clock", "scheme.ictcp.looks"],
    },
];

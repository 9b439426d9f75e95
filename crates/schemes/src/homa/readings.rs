//! What the paper leaves open, what we assume, and which parameters select the other readings.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "HO1",
        text: "RTTbytes fits one network: it is the rate of a host's link times the round trip of a packet and its GRANT. Here it is a \
               parameter and not measured. It is rounded up to whole packets, as the authors' Linux module does.",
        params: &["scheme.homa.rtt-bytes"],
    },
    Reading {
        id: "HO2",
        text: "Receivers of the paper measure their traffic, and divide the priorities by it from time to time. The paper's own \
               implementation knows the workload in advance, as does this one: every receiver divides by the sizes of `workload`.",
        params: &["scheme.homa.workload"],
    },
    Reading {
        id: "HO3",
        text: "The authors' programs grant to one message of each sender at most. A receiver here does not see which flows are of one \
               host, so two messages of one sender count as two. Their Linux module limits what may be on the way, unscheduled bytes \
               included, to RTTbytes for each of the overcommitment. So does this one.",
        params: &["scheme.homa.overcommitment"],
    },
    Reading {
        id: "HO4",
        text: "A RESEND names the first range that is missing, and its segments have the highest priority, as in the authors' Linux \
               module. What of the range was never sent counts as granted, since its GRANT is lost.",
        params: &["scheme.homa.resend-interval"],
    },
    Reading {
        id: "HO5",
        text: "In an incast a response may send a few hundred bytes unasked. Here that is one packet, the least that a window lets \
               through. The request carries it as the window of the response, which a grant opens again.",
        params: &["scheme.homa.incast-threshold"],
    },
    Reading {
        id: "HO6",
        text: "Senders of the paper have no timer: the client's RESEND makes up for a message of which nothing arrived. Here that \
               holds for responses to requests. For messages without a request, the connection's timer sends the first packet again. \
               It does so too where an acknowledgement of the end is lost.",
        params: &["transport.rto-min"],
    },
];

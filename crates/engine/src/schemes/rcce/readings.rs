//! Readings: where the paper is ambiguous, what we chose, and which parameters select the alternatives.

use crate::schemes::Reading;

/// Where the paper is ambiguous.
pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "E1",
        text: "Equation 1 weighs flows by a priority that has no number, in an order from high to low that is called \
               ascending. We take RCC's: one over what remains of the flow.",
        params: &["scheme.rcce.priority"],
    },
    Reading {
        id: "E2",
        text: "Algorithm 1 as printed never advances its index, adds up the next flow's window and compares packets with \
               bytes; we take the division of windows of RCC's code, of which it is a copy.",
        params: &[],
    },
    Reading {
        id: "E3",
        text: "Algorithm 2 as printed lets acknowledgements leave while flight_wins <= queue_max, and so one segment more than \
               queue-max, though the text before it says that queue_maxsize is above the sum of flight windows. We take the \
               algorithm; below is the strict comparison, which RCC's code has.",
        params: &["scheme.rcce.release"],
    },
    Reading {
        id: "E4",
        text: "The most often an acknowledgement is put off is C RTO_r / 2 with C in packets of the receiver's link: 416 at \
               1 Gbps and 10 ms. RCC's code has fixed numbers and a bonus for requests.",
        params: &[
            "scheme.rcce.skip-cap",
            "scheme.rcce.skip-cap-deadline",
            "scheme.rcce.skip-cap-other",
            "scheme.rcce.push-bonus",
        ],
    },
    Reading {
        id: "E5",
        text: "The edge has no algorithm: neither place nor fan-in nor what it computes. Section IV puts the mechanism at \
               the receiver, section III.C makes the edge a tier of aggregators. Section VI.A has a queue of 40 KB: queue_max of \
               60 KB less what the link carries in 160 us, the whole round trip, so the scheduler of the figures is at the \
               receiver. In its last switch the loop is half as long and leaves 50 KB. The scheme \
               is the receiver's, or as a third mode its last switch's; aggregators are the traffic pattern relay-tree, with all of \
               that as parameters.",
        params: &[
            "scheme.rcce.edge-mode",
            "scheme.rcce.proxy-counts",
            "traffic.edge-count",
            "traffic.edge-fan-in",
            "traffic.edge-placement",
            "traffic.edge-compute",
            "traffic.edge-reduction",
            "traffic.cut-through",
        ],
    },
    Reading {
        id: "E6",
        text: "Of the spanning trees the paper says no more than that a controller makes them, gives switches labels, and \
               that traffic is split well. We take Presto's: disjoint trees, flowcells of 64 KiB in turn, labels for edge \
               switches, and a receiving host that puts flowcells back in order. Turns are taken in the sending host's switch, \
               from a tree of the host's own, since hosts that begin together would all take the first. A cable that fails is taken out of its tree, \
               which serves the other switches on. One switch has one path, so the paper's \
               figures cannot show any of it. Over ten seeds of 48 answers of 256 KB to each client behind four spines, \
               the median 99th percentile against ECMP is 1.00 for one client and for four, which no spine slows, and for \
               eight 0.99 where hosts must be crowded and 0.93 where all flows are spread.",
        params: &[
            "scheme.rcce.st-enable",
            "scheme.rcce.st-cell",
            "scheme.rcce.st-hold",
            "scheme.rcce.st-settle",
            "scheme.rcce.st-retry",
        ],
    },
    Reading {
        id: "E7",
        text: "Balancing is a complement for when connections are too large: we read too many, more than queue-max to one \
               host, as its edge switch counts them.",
        params: &["scheme.rcce.st-when"],
    },
    Reading {
        id: "E8",
        text: "The abstract has 50.4 % less queue than TCP, section VI.A 50.5 %; either counts as confirmed.",
        params: &[],
    },
    Reading {
        id: "E9",
        text: "Section V.A reads a queue of around 50 packets off its figure; its own Equation 3 gives 26.7 packets at \
               queue_max of 40, or 40 KB, as section VI.A says.",
        params: &["scheme.rcce.queue-max"],
    },
    Reading {
        id: "E10",
        text: "Text and captions of the figures name different numbers of senders and a queue of 10 KB; the captions' \
               senders and a buffer of 80 packets are taken, and the other numbers run too.",
        params: &["traffic.senders"],
    },
    Reading {
        id: "E11",
        text: "Equation 17 gives the smallest queue, though it is called the largest; in 21 and 22 a bracket is missing: the \
               completion time is (N L + L) / (segment C).",
        params: &[],
    },
    Reading {
        id: "E12",
        text: "Equation 11 is the square root of 1 / W, where DCTCP's analysis has 2 / W: half a round trip passes between \
               mark and reaction at the receiver. It stands for synchronised flows, without the scheduler. In the simulation \
               the swing is 2.2 to 2.5 times that of Equation 14, since marks come in two to three successive periods \
               and each cuts; the queue reaches K + N + 1 rather than Equation 16's K + N / 2, since after the mark every \
               flow grows for a whole round trip by a segment; a swing takes its growth, as Equation 15 says, and two to \
               four round trips until reductions show, 5 to 8 in all where it has 1 to 3; and K above C RTT / 7 is enough \
               for few flows only (Equation 18): the wider swing empties the queue for 20.",
        params: &["scheme.rcce.scheduler"],
    },
    Reading {
        id: "E13",
        text: "The switch queue is 128 KB in one place and 80 packets in another; 80 packets of 1500 bytes are taken, as in \
               RCC's code.",
        params: &["network.buffer"],
    },
    Reading {
        id: "E14",
        text: "Algorithm 3 doubles RTO_r; we read that as doubling the factor on the estimate, which the next new data sets \
               back.",
        params: &["scheme.rcce.rto-r-min"],
    },
    Reading {
        id: "E15",
        text: "That there are no marks needs a queue below 40 packets at any time, which holds while all windows in flight \
               are at most queue-max.",
        params: &["scheme.rcce.mark-threshold"],
    },
    Reading { id: "E16", text: "RCC is in the legend of two figures only; it runs in all.", params: &[] },
    Reading {
        id: "E17",
        text: "The round-trip time of Equation 6, which bounds the acknowledgements that may wait, is RTO_r: the sentence \
               after it speaks of the receiver's retransmissions.",
        params: &["scheme.rcce.rto-r-min"],
    },
    Reading {
        id: "E18",
        text: "Algorithm 3 sets the count of delayed acknowledgements so that the next one goes at once, and delaying is \
               disabled anyhow: a request leaves as soon as its turn comes.",
        params: &[],
    },
    Reading {
        id: "E19",
        text: "Lines 5 and 11 of Algorithm 1 act under the flag for priorities only: without priorities every flow has the \
               same whole number of segments, whatever it needs, and what is left over stays unused. RCC's code lets them \
               act always (assignment = code).",
        params: &["scheme.rcce.assignment", "scheme.rcce.priority"],
    },
    Reading {
        id: "E20",
        text: "Section V.A has ECN disabled and section V.B the scheduler: each has its switch.",
        params: &["scheme.rcce.ecn", "scheme.rcce.scheduler"],
    },
    Reading {
        id: "E21",
        text: "That the edge triages bandwidth-intensive and latency-sensitive work is read as a sort by size: small answers \
               go straight to the receiver. The sizes are known to the client, or gathered by the edge from earlier answers, as \
               section III.B says that it gathers information automatically.",
        params: &["traffic.edge-triage", "traffic.edge-triage-by"],
    },
    Reading {
        id: "E22",
        text: "Figure 5(c) is credited to load balancing, which a single switch cannot do; the scheduler alone is tested \
               against it.",
        params: &["scheme.rcce.st-enable"],
    },
    Reading {
        id: "E23",
        text: "Section IV.D has nothing but Equation 2 for what marks do to a window. If slow start went on after it, windows \
               would double again, but section V.B's analysis lets them grow by a segment a round trip: we let slow start \
               end at the reduced window. By Equation 2 alone eight endless flows keep 310 to 340 packets in a queue that marks \
               from 40, by this reading 24 to 56, by RCC's code 23 to 49. In RCC's code each marked segment halves the threshold and adds nothing (code); \
               Equation 2 alone is equation.",
        params: &["scheme.rcce.mark-action"],
    },
    Reading {
        id: "E24",
        text: "Buffer queuing stores acknowledgements without sending them. Where the client opens the connection, its \
               acknowledgement in the handshake and its request let the first segment of the answer out, so they wait in \
               the list too. How much will come is not known yet: they have the lowest priority, first come, first served. A \
               server whose SYN-ACK is not acknowledged does not repeat it here. The request is not scheduled where it arrives: \
               held at one end and counted in flight at the other, it would let hosts wait for each other.",
        params: &["scheme.rcce.requests"],
    },
    Reading {
        id: "E25",
        text: "The centralized scheduler at the edge: all hosts at a switch have one list, one division of queue-max and one \
               count of connections (central). In the hosts of an edge it acts at no distance, as a scheduler beside them \
               would; in the last switch (tor-proxy) it sees what passes. C in the limit of putting off is then what comes \
               to the switch from others. Sections IV.A and IV.B however sum the flows within the NIC of one receiver: per-host \
               gives each receiver queue-max segments of its own, so that together they can overflow the cable to their \
               rack. Where an edge has several receivers, the experiments run both.",
        params: &["scheme.rcce.edge-scheduler"],
    },
    Reading {
        id: "R6",
        text: "Section IV.D prints the marked share as the ratio of marked packets over a round trip, without an average.",
        params: &["scheme.rcce.alpha"],
    },
    Reading {
        id: "R8",
        text: "As in rcc: an acknowledgement that lets nothing new out does not wait.",
        params: &["scheme.rcce.repeats"],
    },
    Reading {
        id: "R9",
        text: "Algorithm 3 asks at once when the timer ends; RCC's code waits.",
        params: &["scheme.rcce.rto-r-wait"],
    },
    Reading {
        id: "R10",
        text: "As in rcc: only ECN-capable packets are marked, though the text says all data packets.",
        params: &["scheme.rcce.mark-requires-ect"],
    },
    Reading {
        id: "R11",
        text: "As in rcc: the mark of the segment with FIN counts.",
        params: &["scheme.rcce.marks-on-fin"],
    },
    Reading {
        id: "R12",
        text: "As in rcc: segments in flight are counted flow by flow.",
        params: &["scheme.rcce.flight"],
    },
    Reading {
        id: "R13",
        text: "As in rcc: segments out of order count for one hole only.",
        params: &["scheme.rcce.duplicates"],
    },
    Reading {
        id: "R14",
        text: "Section V.A finds that receivers ask again needlessly once more acknowledgements wait than their link \
               carries in RTO_r, so the timer must run while they wait.",
        params: &["scheme.rcce.rto-r"],
    },
    Reading {
        id: "R15",
        text: "As in rcc: the timer is not cut to milliseconds.",
        params: &["scheme.rcce.rto-r-step"],
    },
    Reading {
        id: "R16",
        text: "As in rcc: an acknowledgement with PSH acknowledges too.",
        params: &["scheme.rcce.push"],
    },
    Reading {
        id: "R17",
        text: "As in rcc: an acknowledgement that repeats the number is a duplicate whatever window it has.",
        params: &["transport.duplicate-ack-window"],
    },
];

//! Readings: where the paper is ambiguous, what we chose, and which parameters select the alternatives.

use crate::Reading;

/// Where the paper is ambiguous.
pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "E1",
        text: "Equation 1 weights flows by a priority without a number, in an order from high to low that is called \
               ascending. We take RCC's weight: one over the remaining bytes of the flow. \"Flow size is used as priority\" \
               (section VI) may mean the size itself, so that large flows have the larger windows: priority = size.",
        params: &["scheme.rcce.priority"],
    },
    Reading {
        id: "E2",
        text: "Algorithm 1 as printed never advances its index, adds the next flow's window and compares packets with \
               bytes. We take the assignment of windows in RCC's code, of which Algorithm 1 is a copy.",
        params: &[],
    },
    Reading {
        id: "E3",
        text: "Algorithm 2 as printed releases acknowledgements while flight_wins <= queue_max, which allows one \
               segment more than queue-max. But the text before Algorithm 2 says that queue_maxsize is above the sum \
               of flight windows. We take Algorithm 2. The value below is the strict comparison of RCC's code.",
        params: &["scheme.rcce.release"],
    },
    Reading {
        id: "E4",
        text: "An ACK is overtaken C RTO_r / 2 times at most, with C in packets per second of the receiver's link. \
               That is 416 at 1 Gbps and 10 ms. RCC's code has fixed numbers, and a bonus for retransmission requests.",
        params: &[
            "scheme.rcce.skip-cap",
            "scheme.rcce.skip-cap-deadline",
            "scheme.rcce.skip-cap-other",
            "scheme.rcce.push-bonus",
        ],
    },
    Reading {
        id: "E5",
        text: "The paper gives no algorithm for the edge, nor its location, fan-in or computation. Section IV has the \
               mechanism at the receiver. In section III.C the edge is a tier of aggregators. Section VI.A has a queue \
               of 40 KB. That is queue_max of 60 KB less what the link carries in the whole round trip of 160 us. So \
               the scheduler of the figures is at the receiver. In the last switch the control loop is half as long, \
               which leaves 50 KB. Here the scheme is the receiver's, or in a third mode the last switch's. \
               Aggregators are the traffic pattern relay-tree, with the open values as parameters.",
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
        text: "Of the spanning trees the paper says only that a controller computes them, assigns labels to switches, \
               and that traffic is split well. We take Presto's: disjoint trees, flowcells of 64 KiB in turn, labels \
               for edge switches, and a receiving host that puts flowcells back in order. The sending host's switch \
               takes the trees in turn. Neighbouring hosts begin with different trees, since hosts that start together \
               would otherwise all take the same. A failed cable is removed from its tree, which still serves the other \
               switches. One switch has one path, so the paper's figures cannot show any effect of the trees. We ran \
               ten seeds of 48 responses of 256 KB to each client behind four spines. The median 99th percentile \
               against ECMP is 1.00 for one client and for four, where the spines are no bottleneck. For eight clients \
               it is 0.99 if hosts must be crowded, and 0.93 if all flows are spread.",
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
        text: "Load balancing is to help when connections are too large. We read this as too many: more than \
               queue-max to one host, as counted by its edge switch.",
        params: &["scheme.rcce.st-when"],
    },
    Reading {
        id: "E8",
        text: "The abstract has 50.4 % less queue than TCP, section VI.A 50.5 %. Either number counts as reproduced.",
        params: &[],
    },
    Reading {
        id: "E9",
        text: "Section V.A reads a queue of around 50 packets off its figure. But its own Equation 3 gives 26.7 \
               packets at queue_max of 40. These packets are 40 KB, as section VI.A says.",
        params: &["scheme.rcce.queue-max"],
    },
    Reading {
        id: "E10",
        text: "The text and the captions of the figures have different numbers of senders, and the text a queue of 10 \
               KB. We take the captions' senders and a buffer of 80 packets. We run the other numbers too.",
        params: &["traffic.senders"],
    },
    Reading {
        id: "E11",
        text: "Equation 17 is the smallest queue, although it is called the largest. In Equations 21 and 22 a bracket \
               is missing: the completion time is (N L + L) / (segment C).",
        params: &[],
    },
    Reading {
        id: "E12",
        text: "Equation 11 is the square root of 1 / W, where DCTCP's analysis has 2 / W. The reason is that half a \
               round trip passes between mark and reaction at the receiver. Equation 11 holds for synchronised flows, \
               without the scheduler. We simulated 2 to 20 flows at C RTT = 13 packets and K = 40. With the ratio as \
               printed, the swing is 2.2 to 6.5 times the swing of Equation 14, and widest with few flows. With \
               DCTCP's average (alpha = every-round), the swing is 1.9 to 2.4 times the swing of Equation 14. Marks \
               come in two to three successive periods, and each period cuts the window. The 98th percentile of the \
               queue is about K + N with two and four flows, and up to K + 33 with twenty. It is not Equation 16's K + \
               N / 2, because after the mark every flow grows by a segment for a whole round trip. With the ratio, a \
               swing takes 6 to 15 round trips, where Equation 15 has 0.8 to 2.6. Two to four of these round trips \
               pass until reductions show. By Equation 18 a K above C RTT / 7 is enough. With K = 2 packets and the \
               ratio, two flows use 83 % of the link and four flows 91 %. Eight or more flows use all of the link.",
        params: &["scheme.rcce.scheduler"],
    },
    Reading {
        id: "E13",
        text: "The switch queue is 128 KB in one place and 80 packets in another. We take 80 packets of 1500 bytes, \
               as in RCC's code.",
        params: &["network.buffer"],
    },
    Reading {
        id: "E14",
        text: "Algorithm 3 doubles RTO_r. We read that as doubling a factor on the estimate, which the next new data \
               resets.",
        params: &["scheme.rcce.rto-r-min"],
    },
    Reading {
        id: "E15",
        text: "Without marks, the queue must be below 40 packets at any time. That holds while the windows in flight \
               are at most queue-max.",
        params: &["scheme.rcce.mark-threshold"],
    },
    Reading { id: "E16", text: "RCC is in the legend of two figures only. We run RCC in all.", params: &[] },
    Reading {
        id: "E17",
        text: "The round-trip time of Equation 6 limits the number of waiting acknowledgements. We take RTO_r, because \
               the sentence after Equation 6 is about the receiver's retransmission requests.",
        params: &["scheme.rcce.rto-r-min"],
    },
    Reading {
        id: "E18",
        text: "Algorithm 3 sets the count of delayed acknowledgements so that the next one is sent at once. But \
               delayed acknowledgements are off anyway. A retransmission request is sent as soon as its turn comes.",
        params: &[],
    },
    Reading {
        id: "E19",
        text: "Lines 5 and 11 of Algorithm 1 apply only if priorities are on. Without priorities every flow has the \
               same whole number of segments, whatever it needs, and the rest stays unused. RCC's code always applies \
               both lines (assignment = code).",
        params: &["scheme.rcce.assignment", "scheme.rcce.priority"],
    },
    Reading {
        id: "E20",
        text: "In section V.A ECN is disabled, in section V.B the scheduler. Each has its parameter.",
        params: &["scheme.rcce.ecn", "scheme.rcce.scheduler"],
    },
    Reading {
        id: "E21",
        text: "We read the edge's triage of bandwidth-intensive and latency-sensitive work as a division by size: \
               small responses go directly to the client. The client knows the sizes, or the edge gathers them from \
               earlier responses. Section III.B says that the edge gathers information automatically.",
        params: &["traffic.edge-triage", "traffic.edge-triage-by"],
    },
    Reading {
        id: "E22",
        text: "Figure 5(c) is attributed to load balancing, which has no effect with a single switch. The scheduler \
               alone is compared with it.",
        params: &["scheme.rcce.st-enable"],
    },
    Reading {
        id: "E23",
        text: "For the effect of marks on a window, section IV.D has only Equation 2. If slow start continued after \
               Equation 2, windows would double again. But in the analysis of section V.B windows grow by a segment \
               per round trip. So we end slow start at the reduced window. In RCC's code each marked segment halves \
               the slow-start threshold and does not increase the window (code). Equation 2 alone is equation. We \
               simulated eight endless flows with the scheduler off. The buffer has 1000 packets, and the queue marks \
               from 40. By Equation 2 alone the queue holds 315 to 340 packets (2nd to 98th percentiles). By our \
               reading the queue holds 14 to 50, and by RCC's code 8 to 47.",
        params: &["scheme.rcce.mark-action"],
    },
    Reading {
        id: "E24",
        text: "Buffer queuing stores acknowledgements without sending them. If the client opens the connection, its \
               acknowledgement in the handshake and its request allow the first segment of the response. So both wait \
               in the list too. The size of the response is not known yet, so both have the lowest priority, first \
               come, first served. A server whose SYN-ACK is not acknowledged does not retransmit it here. The request \
               is not scheduled where it arrives. If a request were held at one end and counted as in flight at the \
               other, hosts could wait for each other.",
        params: &["scheme.rcce.requests"],
    },
    Reading {
        id: "E25",
        text: "The scheduler at the edge is centralized: all hosts at a switch have one list, one division of \
               queue-max and one count of connections (central). In the hosts of an edge the scheduler acts without \
               delay, like a scheduler beside the hosts. In the last switch (tor-proxy) the scheduler sees the packets \
               that pass. C in the limit of overtaking is then the rate at which other switches can send to this one. \
               Sections IV.A and IV.B, however, sum the flows within the NIC of one receiver. So per-host gives each \
               receiver queue-max segments of its own. Together the receivers can then overflow the cable to their \
               rack. If an edge has several receivers, the experiments run both.",
        params: &["scheme.rcce.edge-scheduler"],
    },
    Reading {
        id: "R6",
        text: "Section IV.D prints the marked share as the ratio of marked packets in a round trip, without an \
               average.",
        params: &["scheme.rcce.alpha"],
    },
    Reading {
        id: "R8",
        text: "As in rcc: an ACK that permits no new data is not held.",
        params: &["scheme.rcce.repeats"],
    },
    Reading {
        id: "R9",
        text: "Algorithm 3 sends the retransmission request at once when the timer expires; RCC's code waits.",
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
    Reading { id: "R12", text: "As in rcc: segments in flight are counted per flow.", params: &["scheme.rcce.flight"] },
    Reading {
        id: "R13",
        text: "As in rcc: out-of-order segments count for one hole only.",
        params: &["scheme.rcce.duplicates"],
    },
    Reading {
        id: "R14",
        text: "Section V.A finds that receivers send needless retransmission requests once more ACKs are held than \
               their link carries in RTO_r. So the timer must run while ACKs are held.",
        params: &["scheme.rcce.rto-r"],
    },
    Reading {
        id: "R15",
        text: "As in rcc: the timer is not truncated to milliseconds.",
        params: &["scheme.rcce.rto-r-step"],
    },
    Reading {
        id: "R16",
        text: "As in rcc: an acknowledgement with PSH acknowledges too.",
        params: &["scheme.rcce.push"],
    },
    Reading {
        id: "R17",
        text: "As in rcc: an ACK that repeats the ACK number is a duplicate regardless of its window.",
        params: &["transport.duplicate-ack-window"],
    },
];

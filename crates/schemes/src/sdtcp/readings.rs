//! Readings: where the paper is ambiguous, what we chose, and which parameters select the alternatives.

use crate::Reading;

const fn reading(id: &'static str, text: &'static str, params: &'static [&'static str]) -> Reading {
    Reading { id, text, params }
}

pub(super) const READINGS: &[Reading] = &[
    reading(
        "S1",
        "Algorithm 1 goes up one state per packet, and from state 1 only while the queue is between M and H. We keep \
         that. The other reading goes to the highest state reached and sends the notification of that state alone.",
        &["scheme.sdtcp.jump"],
    ),
    reading(
        "S2",
        "Algorithm 1 sends nothing more in state 3, and does not mention flows that join then. In section 5.2.1 the \
         windows are assigned by the three notifications, \"to assign bandwidth fairly to each TCP flow\", which \
         leaves such flows unregulated. The controller knows such flows from their SYNs (section 3.3). So we let it \
         recompute the windows of a congested port whenever a flow joins or leaves, with the queue last reported. The \
         paper does not say so. The other readings recompute on notifications only, which is Algorithm 1 as printed, \
         or with every poll. The state falls by full recovery, or step by step.",
        &["scheme.sdtcp.reevaluate", "scheme.sdtcp.step-down"],
    ),
    reading(
        "S3",
        "The nesting of the test for q < L is ambiguous, and the timer is checked only when a packet arrives. We take \
         the test as part of the congested states, and a real timer. The timer runs from the time when the queue, as \
         last seen, has drained below L.",
        &[],
    ),
    reading(
        "S4",
        "The queue is the instantaneous one of the egress port, including the arriving packet. The queue grows by \
         size(P) (Algorithm 1, line 1), so it is in bytes. A threshold of 85 packets means 85 full packets: 85 SYNs do \
         not reach it. The other reading counts packets of any size.",
        &["scheme.sdtcp.queue-counts"],
    ),
    reading(
        "S5",
        "Flows that are large or old but not both have no class in the paper. We take such flows as burst flows, so \
         that young flows are protected. Statistics are polled every 100 ms; the paper gives no interval.",
        &["scheme.sdtcp.class", "scheme.sdtcp.poll"],
    ),
    reading(
        "S6",
        "N counts all flows of the GVT whose data leave by the congested port, as section 3.4 has them go \"to the same \
         destination\". Step 2 selects \"all of the background flows passing through the OF-switch\": the other reading \
         counts and limits all flows whose data pass the switch. In Fig. 8 both are the same flows, but that a new \
         connection counts in both directions until it has carried data.",
        &["scheme.sdtcp.select"],
    ),
    reading(
        "S7",
        "RTT in Eqs. 2 to 8 is the round-trip time without queueing, because Q(t) is added. A measured round-trip time \
         would count the queue twice.",
        &["scheme.sdtcp.rtt", "scheme.sdtcp.rtt-queue"],
    ),
    reading("S8", "Eq. 9 is written for background flows. CN-H limits burst flows too, so min() applies to both.", &[]),
    reading("S9", "CR deletes every rule of that port, and the receiver's own window applies again.", &[]),
    reading("S10", "If several switches limit a flow, the smallest window applies.", &[]),
    reading(
        "S11",
        "With no background flow (a = 0) CN-L and CN-M change nothing. With no burst flow Eq. 8 is not computed.",
        &[],
    ),
    reading(
        "S12",
        "A window below the data in flight stops the sender until enough is acknowledged. RFC 9293 section 3.8.6 \
         discourages such shrinking, but we let the switch do it.",
        &[],
    ),
    reading(
        "S13",
        "The window field is in units of the receiver's scale, which the switch learns from the SYN-ACK. The value is \
         rounded up to a unit. A switch that has not seen the SYN-ACK rewrites nothing.",
        &["scheme.sdtcp.window-scale"],
    ),
    reading(
        "S14",
        "Thresholds are in packets, formulas in bytes: each packet of a threshold is a full one.",
        &["scheme.sdtcp.low", "scheme.sdtcp.modest", "scheme.sdtcp.high"],
    ),
    reading(
        "S15",
        "SYN, SYN-ACK and FIN are held for the controller at every switch: 66 us for both directions, its queue, and \
         its service time. The 66 us are `control.delay` twice. A packet without a reply is dropped after \
         `buffer-timeout`. Switches keep such packets, or send them whole and get them back (`buffers`).",
        &[
            "scheme.sdtcp.setup-delay",
            "scheme.sdtcp.buffers",
            "scheme.sdtcp.buffer-timeout",
            "control.delay",
            "control.service-time",
        ],
    ),
    reading(
        "S16",
        "Flows of one segment each fill the port at N = B + C x RTT, 116 in Fig. 9. With the transmission time of a \
         packet on each of the three hops, buffer and path hold 119. The reason is that netem's limit does not count \
         the packet in transmission. Hence the loss at 120.",
        &[],
    ),
    reading(
        "S17",
        "DCTCP is run with ECN on SYN packets too, contrary to RFC 3168. That is a key of the transport, so that \
         DCTCP can be compared with and without it: `ecn-syn = true` in the paper's setting.",
        &["transport.ecn-syn"],
    ),
    reading(
        "S18",
        "SAB's curves end at 70 flows, where its authors' implementation crashed. Ours does not, so the experiments \
         continue.",
        &["traffic.senders"],
    ),
    reading(
        "S19",
        "Messages are OpenFlow 1.3. Additions are values and experimenter fields that 1.3 allows. Reasons have the \
         values 0xF0 to 0xF3, and TCP flags are the ONF's field 42. The experimenter 0x0002FA17 has the queue length \
         as a match field and the window as an action.",
        &[],
    ),
    reading(
        "S20",
        "The first FIN removes a connection, or the second with `remove-at`. A RST removes a connection at once. \
         Removal takes two messages to each switch. One is for the entry of the data. The match of the other covers \
         the entries of the acknowledgements and of their windows. A retransmitted FIN changes nothing more. The last \
         acknowledgement finds no entry and is forwarded unchanged. Entries never time out by default. If an entry of \
         data does, the switch reports it, and the connection leaves the GVT and all switches.",
        &["scheme.sdtcp.remove-at", "scheme.sdtcp.idle-timeout", "scheme.sdtcp.rule-timeout"],
    ),
    reading(
        "S21",
        "Fig. 8 has two receivers and does not say which hosts send to which. Burst flows go to the first, the \
         background flow to the second, so that the only port they share is the one between the switches.",
        &["traffic.receiver"],
    ),
    reading(
        "S22",
        "A flow is a background flow only after 1 MB, 1 s and a poll of statistics that shows both. Burst flows start \
         at 1.5 s in Fig. 9. The axis of Fig. 15 begins at the first burst flow, when the background flow is known.",
        &["traffic.start", "scheme.sdtcp.background-bytes", "scheme.sdtcp.background-age", "scheme.sdtcp.poll"],
    ),
    reading(
        "S23",
        "End hosts run unmodified NewReno, whatever group of hosts uses the scheme. The packets that switches rewrite \
         are counted for every scheme (`rewritten`), because the paper says that SAB rewrites all.",
        &[],
    ),
    reading(
        "S24",
        "Fig. 5 shows a connection that the sender of the data opens. A client that sends requests opens its \
         connections itself, and the data flow against the SYN. Each direction is a flow of its own until statistics \
         show that the other one carries data and this one acknowledgements only. A direction of acknowledgements has \
         at most 80 bytes per packet on average. The other reading counts the SYN's direction only.",
        &["scheme.sdtcp.data-from"],
    ),
];

//! Readings: where the paper is ambiguous, what we chose, and which parameters select the alternatives.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "D1",
        text: "The paper calls K1 the lower threshold, which starts marking, and K2 the upper one, which ends it. But \
               the numbers are K1 = 35 and K2 = 30. We follow the words: start at 30, stop at 35, as in DT-DCTCP, \
               where the early end is what damps the queue. The numbers as printed (start 35, stop 30) are a Schmitt \
               trigger, which lags.",
        params: &["scheme.dt-cwa.start", "scheme.dt-cwa.stop"],
    },
    Reading {
        id: "D2",
        text: "35 and 30 have no unit, and DCTCP's threshold is not given. We take packets, and for DCTCP 20 packets, \
               the guideline of DCTCP's paper for 1 Gbps. DT-CWA then marks later than DCTCP, contrary to the claim \
               that DT-CWA marks earlier. With 40 packets for DCTCP, DT-CWA does not mark later. With QualNet's \
               defaults a packet has 552 bytes, and the unit decides which system is better. 30KB for DCTCP are its 20 \
               packets of 1500 bytes. 30KB and 35KB for DT-CWA are the same numbers in the unit of the paper's \
               buffers.",
        params: &["scheme.dt-cwa.start", "scheme.dt-cwa.stop", "scheme.dctcp.mark-threshold"],
    },
    Reading {
        id: "D3",
        text: "Between the thresholds, the last crossing decides whether packets are marked. At or above both \
               thresholds every packet is marked, below both none.",
        params: &[],
    },
    Reading {
        id: "D4",
        text: "Eq. 1 as printed is mostly negative, and above the window where few packets are outstanding. We take \
               Eq. 1 as printed, but not below min-window. With eq1-may-raise = false, Eq. 1 is not above the present \
               window either. The reason is that a reaction to marks that sends more makes the queue longer; the paper \
               prints no such cap. The value sub, the mirror of Eq. 2, subtracts the range over alpha instead. Over an \
               episode without further marks, sub subtracts less than Eq. 2 adds once more than 1 / beta packets are \
               outstanding.",
        params: &["scheme.dt-cwa.eq1", "scheme.dt-cwa.eq1-may-raise"],
    },
    Reading {
        id: "D5",
        text: "Alpha in Eq. 1 is defined as the number of outstanding packets, although the section before speaks of \
               DCTCP's estimate of the same name. We take the definition, at the time of the reaction, and at least \
               one packet. The text continues that alpha is the difference, packets sent less ACKs received. The two \
               are the same only with an ACK for each packet. With delayed ACKs the difference grows for the life of a \
               connection (sent-less-acks). DCTCP's estimate contradicts both definitions, and shows what the figures \
               would require. With DCTCP's estimate, Eq. 1 is mostly above the window and, capped, does not change the \
               window.",
        params: &["scheme.dt-cwa.eq1-alpha"],
    },
    Reading {
        id: "D6",
        text: "CW_max and CW_min are the extremes before the notification. The period is not given, and we take it \
               from the start of the connection. The other readings take the time since the end of the previous \
               episode, or the last two windows of data. A window inflated by loss recovery does not count.",
        params: &["scheme.dt-cwa.cw-hist"],
    },
    Reading {
        id: "D7",
        text: "The paper does not say whether every acknowledgement with an echo reacts, or one per window. We take \
               one per episode, which ends when all data that was outstanding at the reaction is acknowledged. With \
               next-round an episode ends with the first acknowledgement of data sent after the reaction, up to a \
               round trip later. The window does not grow during an episode.",
        params: &["scheme.dt-cwa.episode-end"],
    },
    Reading {
        id: "D8",
        text: "Eq. 2 applies whenever all outstanding packets are acknowledged, as printed, although it may then \
               increase the window while the queue still marks. The other reading: if an echo arrived during the \
               episode, a new episode begins instead.",
        params: &["scheme.dt-cwa.cw-end-if-marked"],
    },
    Reading {
        id: "D9",
        text: "The paper does not say whether DCTCP's cut by its estimate remains. We take Eq. 1 in its place, \
               because the text says that the reaction is different.",
        params: &["scheme.dt-cwa.keep-dctcp-cut"],
    },
    Reading {
        id: "D10",
        text: "No smallest window is given. We take one segment, as the paper says of DCTCP that its window falls to \
               one. The paper's figures need one segment for DCTCP as well, whose default here is Linux's two \
               segments. Windows of one segment time out only where receivers delay acknowledgements for longer than \
               the minimum RTO, as in QualNet (stack qualnet).",
        params: &["scheme.dt-cwa.min-window", "scheme.dctcp.min-window", "transport.stack"],
    },
    Reading {
        id: "D11",
        text: "25 us per link make 150 us over the three links from worker to aggregator and back. But the text says \
               RTT 100 us. The experiments keep the RTT, with 16.67 us per link. The topology's default is the delay \
               of a link.",
        params: &["network.delay"],
    },
    Reading {
        id: "D12",
        text: "The tree has nine workers, but there are 10 senders for beta and up to 60 flows. Flows go round-robin \
               over the workers.",
        params: &["traffic.placement"],
    },
    Reading {
        id: "D13",
        text: "Sizes behind Figs. 6 to 8 are not given. Endless file transfers with RTO_min = 10 ms cannot fall below \
               200 Mbps at 35 flows, so synchronised blocks are implied. For Figs. 6 and 7 we take a query of 1 MB \
               split over the flows. For Fig. 8 we take messages of 50 KB beside such queries.",
        params: &["traffic.bytes-each", "traffic.bytes-total", "traffic.rounds"],
    },
    Reading {
        id: "D14",
        text: "Initial window and threshold are not given. We take two segments, as in stacks of that time, which the \
               scheme sets, and no threshold.",
        params: &["transport.initial-window", "transport.initial-ssthresh"],
    },
    Reading {
        id: "D15",
        text: "The 128 KB of switch 1 are taken as each port's own, not shared.",
        params: &["network.buffer", "network.admission"],
    },
    Reading {
        id: "D16",
        text: "\"When beta increases from 0.2 the throughput decreases\" is taken to mean that 0.2 is the best value tried.",
        params: &["scheme.dt-cwa.beta"],
    },
];

//! Readings: where the paper is ambiguous, what we chose, and which parameters select the alternatives.

use crate::Reading;

/// Where the paper and its code are ambiguous.
pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "E1",
        text: "The weight of a flow is one over its remaining bytes. The paper calls it the size as priority.",
        params: &["scheme.rcc.priority"],
    },
    Reading {
        id: "E3",
        text: "Acknowledgements are released while strictly fewer segments than queue-max are in flight, as in the \
               code. The algorithm printed for RCCE allows one segment more.",
        params: &["scheme.rcc.release"],
    },
    Reading {
        id: "E4",
        text: "An ACK may be overtaken 300 or 700 times, as in the code. RCCE's text gives C RTO_r / 2, which is 416 \
               at 1 Gbps and 10 ms.",
        params: &[
            "scheme.rcc.skip-cap",
            "scheme.rcc.skip-cap-deadline",
            "scheme.rcc.skip-cap-other",
            "scheme.rcc.push-bonus",
        ],
    },
    Reading {
        id: "E19",
        text: "In the algorithm printed for RCCE, windows are limited to what flows need, and unused segments are \
               handed out, only if priorities are on. The code always does both.",
        params: &["scheme.rcc.assignment"],
    },
    Reading {
        id: "E23",
        text: "In the code each marked segment halves the slow-start threshold and does not increase the window, \
               besides the reduction by the marked share. The pages of the paper that are freely available do not \
               say. RCCE's text has the reduction only.",
        params: &["scheme.rcc.mark-action"],
    },
    Reading {
        id: "E24",
        text: "In the code servers open the connections, and there are no requests. If a client sends requests, they \
               are sent at once. In RCCE requests are held.",
        params: &["scheme.rcc.requests"],
    },
    Reading {
        id: "R1",
        text: "Text and code differ in eight points, each with its own reading. The first four are start times (R3), \
               limits of overtaking (E4), the comparison for releases (E3) and the decay of the estimate (R6). The \
               others are requests (R16), flows of unknown size (R7), the queue (R2) and a delay after the receiver's \
               timer (R9). We take the text's rule except for E3, E4 and R6. In these three we take the code's rule, \
               from which the published curves come.",
        params: &[
            "scheme.rcc.skip-cap",
            "scheme.rcc.release",
            "scheme.rcc.alpha",
            "scheme.rcc.push",
            "scheme.rcc.rto-r-wait",
        ],
    },
    Reading {
        id: "R2",
        text: "The paper equates a queue of 128 KB with 80 packets of 1500 bytes. The code has the latter, 120000 \
               bytes.",
        params: &["network.buffer", "network.buffer-full", "network.buffer-counts"],
    },
    Reading {
        id: "R3",
        text: "\"The starting time of 80 senders\" is exponential with a mean of 15 ms. We take it as each sender's \
               start, not as the time between two starts. The authors' scripts start all senders at 10 ms. Some lines \
               of Multiple.cc, Burstiness.cc and FCT.cc are commented out. These lines draw starts in whole \
               milliseconds from an exponential distribution that is bounded at twice its mean. All are settings of \
               the traffic. One is start = 10ms, the other exponential = 15ms, with exponential-bound = 30ms and \
               exponential-step = 1ms.",
        params: &["traffic.exponential", "traffic.exponential-bound", "traffic.exponential-step", "traffic.start"],
    },
    Reading {
        id: "R4",
        text: "The abstract's 47.5 % and 51.2 % name no average. With the authors' code both are one minus the ratio \
               of RCC's mean over 10 to 100 senders to TCP's. The first is of the unweighted mean over changes of the \
               queue in bytes, our queue_waiting_mean_changes_bytes. In packets the first is 45.6 %. The second is of \
               the nearest-rank fct_p99_s. The second holds only with their simulator's order of simultaneous events, \
               ties = waiting-first. With a nanosecond of noise on every link the authors' code gives 38 to 44 %, as \
               random ties do.",
        params: &["network.ties"],
    },
    Reading {
        id: "R5",
        text: "A round trip of 160 us is that of two links of 40 us each. A script of the authors also has a core \
               switch, which no packet crosses.",
        params: &["network.delay"],
    },
    Reading {
        id: "R6",
        text: "The code's estimate of the marked share does not decay in periods without marks, but DCTCP's does. RCCE \
               prints a plain ratio. We take the code's estimate, from which the published curves come.",
        params: &["scheme.rcc.alpha"],
    },
    Reading {
        id: "R7",
        text: "In the code a flow of unknown size has a window of zero and never sends. In the text such a flow has \
               the lowest priority: one segment, and first come, first served among such flows.",
        params: &["traffic.announce-size"],
    },
    Reading {
        id: "R8",
        text: "An ACK that permits no new data is not held. Otherwise, once queue-max ACKs are lost, every repetition \
               would wait for arrivals that cannot come.",
        params: &["scheme.rcc.repeats"],
    },
    Reading {
        id: "R9",
        text: "The code waits for a pseudo-random time after the receiver's timer has expired. RCCE's algorithm does \
               not.",
        params: &["scheme.rcc.rto-r-wait"],
    },
    Reading {
        id: "R10",
        text: "The code's switch marks any packet, ours only ECN-capable ones.",
        params: &["scheme.rcc.mark-requires-ect"],
    },
    Reading {
        id: "R11",
        text: "The code ignores a mark on the segment with FIN.",
        params: &["scheme.rcc.marks-on-fin"],
    },
    Reading {
        id: "R12",
        text: "The code's count of segments in flight becomes wrong when windows are not whole segments, or when a \
               flow's last arrival is a retransmission. Our count is kept per flow.",
        params: &["scheme.rcc.flight"],
    },
    Reading {
        id: "R13",
        text: "The code's count of out-of-order segments is not reset when a hole is filled before the third one.",
        params: &["scheme.rcc.duplicates"],
    },
    Reading {
        id: "R14",
        text: "The receiver's timer starts when an acknowledgement is sent, so it never runs while one is held.",
        params: &["scheme.rcc.rto-r"],
    },
    Reading {
        id: "R15",
        text: "The code's timer has a resolution of milliseconds.",
        params: &["scheme.rcc.rto-r-step"],
    },
    Reading {
        id: "R16",
        text: "In the code an acknowledgement with PSH acknowledges nothing.",
        params: &["scheme.rcc.push"],
    },
    Reading {
        id: "R17",
        text: "Three duplicates make a sender retransmit. By RFC 5681 a duplicate ACK also repeats the window, but \
               the receiver's window changes with each out-of-order segment. As in the code, only the ACK number is \
               compared.",
        params: &["transport.duplicate-ack-window"],
    },
];

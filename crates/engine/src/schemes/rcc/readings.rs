//! Readings: where the paper is ambiguous, what we chose, and which parameters select the alternatives.

use crate::schemes::Reading;

/// Where the paper and its code are ambiguous.
pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "E1",
        text: "The weight of a flow is called its size as priority: one over what remains of it.",
        params: &["scheme.rcc.priority"],
    },
    Reading {
        id: "E3",
        text: "Acknowledgements leave while strictly fewer segments than queue-max are in flight, as in the code; the \
               algorithm printed for RCCE lets one more out.",
        params: &["scheme.rcc.release"],
    },
    Reading {
        id: "E4",
        text: "An acknowledgement may be put off 300 or 700 times, as in the code; RCCE's text gives C RTO_r / 2, 416 at \
               1 Gbps and 10 ms.",
        params: &[
            "scheme.rcc.skip-cap",
            "scheme.rcc.skip-cap-deadline",
            "scheme.rcc.skip-cap-other",
            "scheme.rcc.push-bonus",
        ],
    },
    Reading {
        id: "E19",
        text: "The algorithm printed for RCCE fits windows to what flows need, and hands out what is left over, under the \
               flag for priorities only; the code does it always.",
        params: &["scheme.rcc.assignment"],
    },
    Reading {
        id: "E23",
        text: "In the code each marked segment halves the threshold of slow start and adds nothing to the window, besides the \
               reduction by the marked share. The text that is freely available does not say; RCCE's has the reduction only.",
        params: &["scheme.rcc.mark-action"],
    },
    Reading {
        id: "E24",
        text: "In the code servers open the connections, and there are no requests. Where a client asks, its request leaves at \
               once; RCCE makes it wait.",
        params: &["scheme.rcc.requests"],
    },
    Reading {
        id: "R1",
        text: "Text and code differ in starts, limits of putting off, the comparison of the release, the estimate's decay, \
               requests, flows without a size, the queue, and a delay of the receiver's timer. Each is a reading of its \
               own (R3, E4, E3, R6, R16, R7, R2, R9); we take the clean rule except for E3, E4 and R6, from which the \
               published curves come.",
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
        text: "A queue of 128 KB is said to be 80 packets of 1500 bytes, which are 120000 bytes; the code has the latter.",
        params: &["network.buffer", "network.buffer-full", "network.buffer-counts"],
    },
    Reading {
        id: "R3",
        text: "\"The starting time of 80 senders\" is exponential with a mean of 15 ms: each start by itself rather than the \
               time between two. The authors' scripts start all at 10 ms. Both belong to the traffic: exponential = 15ms, \
               or start = 10ms.",
        params: &["traffic.exponential", "traffic.start"],
    },
    Reading {
        id: "R4",
        text: "The abstract's 47.5 % and 51.2 % name no average. With the authors' code they come out as one less the ratio \
               of RCC's mean over 10 to 100 senders to TCP's: of the unweighted mean over changes of the queue in bytes, our \
               queue_waiting_mean_changes_bytes (in packets it is 45.6 %), and of the nearest-rank fct_p99_s. The \
               second holds only in the order in which their simulator handles events of one instant, ties = \
               waiting-first: with a nanosecond of noise on every link their code gives 38 to 44 %, as drawn ties do.",
        params: &["network.ties"],
    },
    Reading {
        id: "R5",
        text: "A round trip of 160 us is that of two links of 40 us each; a script of the authors has a core switch too, which \
               nothing crosses.",
        params: &["network.delay"],
    },
    Reading {
        id: "R6",
        text: "The code's estimate of the marked share does not decay without marks, DCTCP's does, and RCCE prints a plain \
               ratio. We take the code's, from which the published curves come.",
        params: &["scheme.rcc.alpha"],
    },
    Reading {
        id: "R7",
        text: "In the code a flow of unknown size has a window of zero and stands still. The text gives it the lowest \
               priority: one segment, and first come, first served among its like.",
        params: &["traffic.announce-size"],
    },
    Reading {
        id: "R8",
        text: "An acknowledgement that lets nothing new out does not wait: otherwise, once queue-max acknowledgements are \
               lost, every repetition waits for arrivals that cannot come.",
        params: &["scheme.rcc.repeats"],
    },
    Reading {
        id: "R9",
        text: "The code waits a pseudo-random time after the receiver's timer, RCCE's algorithm none.",
        params: &["scheme.rcc.rto-r-wait"],
    },
    Reading {
        id: "R10",
        text: "The code's switch marks any packet, ours ECN-capable ones only.",
        params: &["scheme.rcc.mark-requires-ect"],
    },
    Reading {
        id: "R11",
        text: "The code does not see the mark of the segment with FIN.",
        params: &["scheme.rcc.marks-on-fin"],
    },
    Reading {
        id: "R12",
        text: "The code's count of segments in flight goes wrong with windows that are not whole segments and with a loss \
               that is repaired last; ours is kept per flow.",
        params: &["scheme.rcc.flight"],
    },
    Reading {
        id: "R13",
        text: "The code's count of segments out of order survives a hole that is filled before the third.",
        params: &["scheme.rcc.duplicates"],
    },
    Reading {
        id: "R14",
        text: "The receiver's timer starts when an acknowledgement leaves, so it never runs while one waits.",
        params: &["scheme.rcc.rto-r"],
    },
    Reading { id: "R15", text: "The code's timer knows whole milliseconds only.", params: &["scheme.rcc.rto-r-step"] },
    Reading {
        id: "R16",
        text: "In the code an acknowledgement with PSH does not acknowledge.",
        params: &["scheme.rcc.push"],
    },
    Reading {
        id: "R17",
        text: "Three duplicates make a sender repeat, but by RFC 5681 a duplicate repeats the window too, and the receiver's is \
               another with each segment out of order. As in the code, which looks at the number only, any window will do.",
        params: &["transport.duplicate-ack-window"],
    },
];

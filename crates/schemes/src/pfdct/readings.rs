//! Readings: where the paper is ambiguous, what we chose, and which parameters select the alternatives.

/// The readings of one registry row; both rows have the same keys.
macro_rules! readings {
    ($scheme:literal: $($id:literal $text:literal [$($key:literal),*] [$($path:literal),*]),* $(,)?) => {
        &[$($crate::Reading { id: $id, text: $text, params: &[$(concat!("scheme.", $scheme, ".", $key),)* $($path),*] }),*]
    };
}

/// All readings, for the scheme of this name.
macro_rules! all {
    ($scheme:literal) => {
        $crate::pfdct::readings::readings! { $scheme:
            "P1" "Algorithm 2 line 12 has the opposite sign of Eq. 1. We take Eq. 1, but never below zero, because a queue is not negative." [] [],
            "P2" "The \"current\" round-trip time is not defined. We take the mean of the samples of the window that \
                  ends. In ns-3 the current time would be a smoothed one in milliseconds." ["rtt"] [],
            "P3" "A flow that starts with a queue on its path overestimates the shortest round-trip time. We let it \
                  measure all the same, as real senders must." ["rtt-min"] [],
            "P4" "The queue estimate is that of one flow, and Eq. 7 has N K_t = Q. So thresholds are per flow. A queue \
                  marks above the sum over its long flows, but at least above one packet." ["kt-scope", "kt-join"] [],
            "P5" "K_i is a third of a packet at 40 us, negative below C RTT = 2 packets and imaginary for many flows. \
                  Negative and imaginary values are taken as zero. `ki` sets K_i to any value, including zero." ["ki"] [],
            "P6" "Eq. 5 lowers the threshold in a long queue, the prose raises it, and no step is printed. We lower \
                  the threshold, as only that keeps the delay low. The step is one packet of the queue's threshold per \
                  round trip." ["kt-dir", "kt-step"] [],
            "P7" "Limits are given as 0 and M/N, and as twice the same expression. Limits are also given as 20 and 60 \
                  packets of the switch queue. We take 0 and M/N, where M is the port's buffer. `clip-low` and \
                  `clip-high` limit the sum, at the senders and at the switch. RED's thresholds are the other meaning \
                  of 20 and 60. N K_u is a packet less than M, as the paper's inequality is strict. Where bands split \
                  the buffer, N K_u is more than the long band holds. There `kt-high = \"band\"` takes the band for M." ["kt-low", "kt-high", "clip-low", "clip-high", "red-min", "red-max"] [],
            "P8" "A sender cannot see the number of flows. The switch counts the long flows of each port and writes the number into packets." ["n-source", "n-const", "flow-timeout"] [],
            "P9" "The paper does not say how a sender's threshold reaches the switch. Each packet of a long flow carries it in sixteenths of a packet." ["kt-transport"] [],
            "P10" "The weight h is only said to be between 0 and 1. We take 1/16, like the paper's other weight." ["h"] [],
            "P11" "By section 3.2.3 a flow is long if it is large and has a large window. By Algorithm 2 a flow is \
                  long if it has a large window or has sent 10 KB. We take the text, which separates the paper's flows \
                  of 300 KB and 2 MB." ["class", "long-size", "long-window", "short-bytes"] [],
            "P12" "A flow's class may change with its window. Once long, a flow stays long, because a change back \
                  would reorder its packets." ["sticky"] [],
            "P13" "Section 3.2.2 has two sub-queues, and makes both RED. That section gives a limit to sub-queues only \
                  (\"there is no limit to the capacity of the queue disk\"). Section 3.2.3 has three priorities, and \
                  section 5.1 has 100 packets a port. We take two bands of `network.buffer` each, which is the text. \
                  Short flows have no RED, as no threshold discards their packets (3.2.1). A port then holds twice \
                  what a port holds for the schemes compared. `band-buf = \"split\"` divides the same memory." ["bands", "band-buf", "retransmission-share", "short-share", "kt-high", "short-aqm"] [],
            "P14" "RED marks by the average queue, section 3.2.4 by the instantaneous one. We take the instantaneous \
                  queue, on which the analysis rests. Between its two thresholds RED marks some packets. The paper has \
                  both of these thresholds, and one that moves. The lower threshold may be the one that moves. The \
                  upper is then as many times the lower as 60 is of 20." ["aqm"] [],
            "P15" "The paper does not say which queue is compared with the threshold. We take the long band's, because each queue has its own threshold." ["occupancy"] [],
            "P16" "The switch's \"PIT\" is a table of sequence numbers, recorded on arrival before any drop. We record \
                  the highest of each flow, which also recognises packets that were lost before the switch." ["pit", "table-entries"] [],
            "P17" "SYNs, acknowledgements and FINs without ECN are treated like short flows." ["ack-band"] [],
            "P18" "Eq. 3 reduces by alpha / 2 once per window. Line 27 of Algorithm 2 reduces by the marked share for \
                  each acknowledgement. We take Eq. 3. By section 3.2.4, F is known and the window changes once all \
                  packets of the window are acknowledged. DCTCP, which PFDCT extends, reduces the window at the first \
                  echo. Eq. 3 adds a segment a window. Lines 28 to 31 add a part of a segment with each \
                  acknowledgement, as ns-3 does. These lines lack ns-3's condition that segments are acknowledged. We \
                  take Eq. 3 for the growth too." ["cut", "growth"] [],
            "P19" "The paper's minimum timeout of 200 us is below the 1.2 ms of a full port. The timeout belongs to \
                  the experiments, where it is set for every protocol." [] ["transport.rto-min"],
            "P20" "The initial threshold is DCTCP's, but thresholds are per flow. Each flow that becomes long starts \
                  with its share of 20 packets. The share is 20 packets divided by the number of long flows, including \
                  the new one. Shares are recomputed when that number changes, so the sum stays the same." ["kt-init", "kt-join"] [],
            "P21" "250 servers behind 50 switches are five a switch, not up to 20. 160 servers in four pods have no \
                  number of edge switches. 50 us a link make 600 us over six links, not the printed 300. We take five \
                  servers a switch in the first network, and 25 us a link. In the second network each pod has four \
                  edge switches of ten servers. The other numbers are these keys of a fat tree." [] ["network.pods", "network.edges-per-pod", "network.aggregations-per-pod", "network.hosts-per-edge", "network.cores", "network.delay"],
            "P22" "A link of 1 GB is one of 1 Gbps, and throughput in MB is in MB/s. Flows are of 1.5 KB, 15 KB or 1.5 \
                  MB in different places. We read each figure as its caption says. These keys give any other size and \
                  rate." [] ["traffic.bytes-each", "network.rate"],
            "P23" "Completion times of 2 to 4 s for 15 KB at 1 Gbps are not physical. These times may count from the \
                  beginning of the simulation. No parameter chooses, as the table of flows holds both. `fct_s` counts \
                  from the flow's SYN, or from its first data on a connection that was open before. `completion_s` \
                  counts from the beginning of the simulation. The experiments compare order and ratio of `fct_s`." [] ["traffic.connections"],
            "P24" "The averages of Table 3 are not the averages of its rows. Traffic one, 10 MB in all, cannot fill \
                  seconds, so each session that ends has a successor. With `count` equal to `concurrent` every session \
                  takes place once." [] ["traffic.concurrent", "traffic.count", "traffic.gap"],
            "P25" "A link load of x percent is not defined. We take a Poisson process of flows whose payload is that share of the receivers' links. The alternatives are a mean time between arrivals, or another capacity." [] ["traffic.load", "traffic.load-of", "traffic.interval"],
            "P26" "The paper gives no minimum window. We take two segments, as in DCTCP." ["min-window"] [],
            "P27" "As printed, Algorithm 1 gives every packet the lowest priority, because its else branches are \
                  missing. The prose gives the order: recorded packets, then packets without ECN, then all others." [] [],
            "P28" "The choice of the band in lines 14 to 27 is a function of the filter's result and the packet's tag. \
                  A result beyond the queues means the first band." [] [],
            "P29" "Packets are classified by the sender's code point (section 3.2.1), or by the ECN field and the \
                  table (Algorithm 1). We take Algorithm 1. A packet that was marked upstream still belongs to a long \
                  flow." ["classify"] [],
            "P30" "The paper's seven packet types are in a figure that we do not have. Our table of these types is in \
                  the manual. With the highest sequence number only, reordered packets count as retransmissions." ["pit"] [],
            "P31" "Of RED the paper gives the thresholds only. The environment gives the other numbers, by default \
                  Floyd's. RED marks long flows and never drops their packets. From the upper threshold on RED marks \
                  all packets (3.2.2). So `red-gentle`, which ns-3 has on, must be off. Whether the band of short \
                  flows is under RED too is open, see P13." ["red-min", "red-max", "red-weight", "red-max-p", "red-gentle", "red-wait", "short-aqm"] [],
            "P32" "Line 18 of Algorithm 2 also requires an empty send buffer. Then the threshold of a bulk flow would \
                  never move. Here the threshold moves after every window." ["kt-when"] [],
            "P33" "Eq. 3 and lines 28 to 31 of Algorithm 2 have no slow start. By section 5.3 the window grows \
                  linearly at the beginning, and we take that. DCTCP's slow start until the first mark is the other \
                  reading. C is the rate of the sender's own link. The round-trip time in K_i is the minimum, because \
                  Eq. 6 treats the queue separately. If the sender's link is faster than the bottleneck, K_i is larger \
                  than any queue estimate there. The threshold then stays at its upper limit. `ki` gives the K_i of \
                  the bottleneck." ["slow-start"] [],
            "P34" "Jitter, delay, loss, fairness and completion times are plotted over time and by class. The tables \
                  of a run have these values by traffic group." [] [],
        }
    };
}

pub(super) use {all, readings};

//! Hosts that are not ideal: interrupts, merged segments, and queues of their own.

use crate::outcome::{numbers, ps, run};
use fanin_engine::sim::Outcome;

/// A byte at 1 Gbps, in picoseconds.
const BYTE: u64 = 8_000;
const CABLE: u64 = 25_000_000;
const MS: u64 = 1_000_000_000;

/// One flow of `segments` full segments over a switch.
fn flow(segments: u64, transport: &str) -> Outcome {
    flow_on(segments, transport, "")
}

/// The same, on an open connection.
fn flow_on_open(segments: u64, transport: &str) -> Outcome {
    flow_on(segments, transport, "connections = \"persistent\"")
}

fn flow_on(segments: u64, transport: &str, traffic: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"25us\"\nbuffer = \"10000pkt\"\n[transport]\n{transport}\n[[traffic]]\n\
         kind = \"incast\"\nsenders = 1\nbytes-each = \"{}B\"\n{traffic}\n",
        1460 * segments
    ))
}

fn fct(outcome: &Outcome) -> u64 {
    ps(numbers(outcome, "flows", "fct_s")[0])
}

/// A packet of headers crosses both cables.
const BARE: u64 = 2 * (CABLE + 40 * BYTE);

#[test]
fn an_interrupt_hands_over_what_has_arrived_since_the_last() {
    // The SYN interrupts the receiver at once, the SYN-ACK the sender. A window arrives before the receiver's next interrupt.
    // The first of its ten acknowledgements interrupts the sender at once, the other nine wait for a millisecond: what they
    // let out comes in a third round.
    for (segments, rounds) in [(1, 1), (10, 1), (12, 2), (20, 3)] {
        let outcome = flow(segments, "interrupt-interval = \"1ms\"");
        assert_eq!(fct(&outcome), BARE + rounds * MS, "{segments} segments");
    }
}

#[test]
fn a_packet_after_a_pause_interrupts_at_once() {
    let ideal = flow(1, "");
    // SYN, SYN-ACK and the end of the handshake are 51 us apart.
    assert_eq!(fct(&flow(1, "interrupt-interval = \"1us\"")), fct(&ideal));
}

#[test]
fn merged_segments_are_acknowledged_as_one() {
    // Besides the acknowledgements: SYN, SYN-ACK, ACK and the segments.
    let acknowledgements = |transport: &str| {
        let outcome = flow(20, &format!("interrupt-interval = \"1ms\"\n{transport}"));
        (outcome.number("packet_hops") / 2.0 - 23.0, fct(&outcome) - BARE)
    };
    // Ten, and those of the two segments that the first of them lets out.
    assert_eq!(acknowledgements(""), (12.0, 3 * MS));
    assert_eq!(acknowledgements("gro = \"64KiB\""), (1.0, 2 * MS), "its only acknowledgement does not wait");
    // Two segments and a header are 2960 bytes, three are 4420: five, and two for the three segments of the first of them.
    assert_eq!(acknowledgements("gro = \"4KB\""), (7.0, 3 * MS));
    // More than a segment is acknowledged at once.
    assert_eq!(acknowledgements("gro = \"64KiB\"\nack-every = 2\nack-delay = \"500ms\""), (1.0, 2 * MS));
    let each = flow(20, "gro = \"64KiB\"").number("packet_hops");
    assert_eq!(each, flow(20, "").number("packet_hops"), "what arrives alone is not merged");
}

#[test]
fn merged_segments_count_as_those_that_arrived() {
    let merged = flow(20, "interrupt-interval = \"1ms\"\ngro = \"64KiB\"");
    assert_eq!(merged.number("segments_received"), 20.0);
    assert_eq!(numbers(&merged, "delays", "packets"), [20.0]);
}

/// Eight servers mark what they send through a slow trunk, where it is marked from the fifth packet on.
fn marked(transport: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\nbuffer = \"200pkt\"\n[transport]\n\
         scheme = \"dctcp\"\n{transport}\n[scheme.dctcp]\nmark-threshold = \"5pkt\"\n[[traffic]]\nkind = \"incast\"\n\
         senders = 8\nbytes-each = \"200KB\"\n[measure]\nprobes = \"alpha\"\n"
    ))
}

#[test]
fn marked_and_unmarked_segments_are_not_merged() {
    // With one interrupt in a long time every flow has a merged segment of each kind at least, so that the share of echoes
    // stays what it is.
    let share = |outcome: &Outcome| {
        let alphas = numbers(outcome, "probes", "value");
        alphas.iter().sum::<f64>() / alphas.len() as f64
    };
    let (merged, alone) =
        (marked("interrupt-interval = \"100us\"\ngro = \"64KiB\""), marked("interrupt-interval = \"100us\""));
    assert!(merged.number("marks") > 50.0);
    assert!((share(&merged) / share(&alone) - 1.0).abs() < 0.3, "{} {}", share(&merged), share(&alone));
}

#[test]
fn what_exceeds_the_queue_of_a_host_is_lost_there_and_a_burst_counts_once() {
    let window = |transport: &str| flow(20, &format!("initial-window = \"20mss\"\nhost-queue = 6\n{transport}"));
    let outcome = window("");
    // The last packet of the handshake and five segments.
    assert_eq!(outcome.number("drops_host_queue_full"), 15.0);
    assert_eq!(outcome.number("drops"), 15.0);
    let reasons = crate::outcome::words(&outcome, "drops", "reason");
    assert!(reasons.iter().all(|reason| reason == "host-queue-full"), "{reasons:?}");
    assert_eq!(window("tso = \"64KiB\"").number("drops"), 0.0);
    // Six packets in each.
    assert_eq!(window("tso = \"9KB\"").number("drops"), 0.0);
    assert!(flow(20, "").summary.get("drops_host_queue_full").is_none());
}

#[test]
fn a_small_queue_keeps_a_flow_from_filling_that_of_its_host() {
    let delay = |transport: &str| {
        let outcome =
            flow_on_open(1000, &format!("initial-window = \"1000mss\"\nreceive-buffer = \"2MiB\"\n{transport}"));
        (numbers(&outcome, "delays", "max_s")[0], fct(&outcome))
    };
    let ((ideal, slow), (limited, same)) = (delay(""), delay("small-queue = \"15000B\""));
    let way = 12e-6 + 50e-6;
    assert!((ideal - (1000.0 * 12e-6 + way)).abs() < 2e-9, "{ideal}");
    // With ten segments in the queue, 14,600 bytes, one more goes.
    assert!((limited - (11.0 * 12e-6 + way)).abs() < 2e-9, "{limited}");
    assert_eq!(slow, same, "the link is as busy");
}

#[test]
fn pacing_shortens_the_queue_of_slow_start() {
    let queue = |pacing: &str| {
        run(&format!(
            "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"250us\"\n\
             buffer = \"10000pkt\"\n[transport]\npacing = \"{pacing}\"\n[[traffic]]\nkind = \"incast\"\nsenders = 1\n\
             bytes-each = \"300KB\"\n"
        ))
        .number("queue_max_packets")
    };
    let (off, fq) = (queue("off"), queue("fq"));
    assert!(fq < 0.7 * off, "{fq} {off}");
}

/// A client that asks one server for a segment over an idle path of 102 us, in Linux without probes of the tail.
fn asked(traffic: &str, faults: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"25us\"\n[transport]\nscheme = \"linux\"\nhost-queue = 0\n\
         interrupt-interval = \"0s\"\ngro = \"0B\"\ntso = \"0B\"\nsmall-queue = \"0B\"\ntail-loss-probe = false\n\
         [[traffic]]\nkind = \"incast\"\nsenders = 1\nbytes-each = \"1000B\"\nrequest = \"100B\"\n{traffic}\n{faults}"
    ))
}

/// Linux, `tcp_synack_rtt_meas`.
#[test]
fn a_server_has_measured_the_handshake_of_its_connection_before_its_first_answer() {
    let lost = "[[fault]]\nkind = \"drop\"\nlink = \"sender-0->switch-0\"\n";
    // The end of the handshake is on its way to the server, which has waited for it since its SYN-ACK.
    let late = "[[fault]]\nname = \"late\"\nkind = \"delay\"\nlink = \"switch-0->sender-0\"\npackets = \"ack\"\n\
                by = \"100ms\"\n";
    let waited = |faults: &str| {
        let outcome =
            asked("connections = \"opened\"\nstart = \"500ms\"\nopen-at = \"1ms\"", &format!("{lost}{faults}"));
        assert_eq!((outcome.number("timeouts"), outcome.number("completed")), (1.0, 1.0), "{faults}");
        fct(&outcome) / MS
    };
    // A round trip and the least variation, up to a tick. If no round trip were measured, it would be a second.
    assert!((200..=208).contains(&waited("")), "{}", waited(""));
    // 100 ms and four times half of it.
    assert!((300..=320).contains(&waited(late)), "{}", waited(late));
}

#[test]
fn an_answer_that_leaves_at_once_takes_the_acknowledgement_of_its_request_along() {
    let outcome = asked("connections = \"persistent\"\nrounds = 3\ngap = \"1us\"", "");
    // Three requests and answers. The first answer is acknowledged at once, the second by the next request, and the last
    // when its timer expires.
    assert_eq!(outcome.number("packet_hops") / 2.0, 3.0 + 3.0 + 2.0);
}

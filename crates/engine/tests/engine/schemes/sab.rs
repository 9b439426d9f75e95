//! SAB in the simulator.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

/// `senders` times 100 KB into a port of 100 packets, behind two switches of 1 Gbps with 200 us of propagation.
fn bursts(senders: u32, scheme: &str) -> Outcome {
    run(&bursts_text(senders, scheme))
}

fn bursts_text(senders: u32, scheme: &str) -> String {
    format!(
        "[network]\ntopology = \"two-switch\"\ndelay = \"33us\"\nbuffer = \"100pkt\"\n[transport]\n\
         scheme = \"sab\"\nrto-min = \"30ms\"\ninitial-window = \"1mss\"\n[scheme.sab]\n{scheme}\n[[traffic]]\nkind = \"incast\"\n\
         senders = {senders}\nbytes-each = \"100KB\"\n[run]\nduration = \"5s\"\n"
    )
}

/// Endless flows: pipe and queue hold what is allocated, half of the buffer beyond the pipe. Shares count payload, so
/// headers come on top (2.7 %); each
/// flow rounds down to whole segments; and four packets are in their senders' own links.
fn standing_queue(epsilon: f64) -> f64 {
    let outcome = run(&format!(
        "[network]\ntopology = \"two-switch\"\ndelay = \"33us\"\nbuffer = \"100pkt\"\n[transport]\n\
         scheme = \"sab\"\n[scheme.sab]\nepsilon = {epsilon}\n[[traffic]]\nkind = \"background\"\nflows = 4\n\
         [measure]\nwarmup = \"200ms\"\n[run]\nduration = \"1s\"\n"
    ));
    assert_eq!(outcome.number("drops"), 0.0);
    outcome.number("queue_mean_packets")
}

#[test]
fn the_allocated_part_of_the_buffer_is_the_standing_queue() {
    let half = standing_queue(0.5);
    assert!((44.0..54.0).contains(&half), "{half}");
    let tenth = standing_queue(0.1);
    assert!((4.0..10.0).contains(&tenth), "{tenth}");
}

#[test]
fn shares_of_more_than_a_segment_lose_nothing() {
    // 50 flows share 16 + 50 packets, so each has one.
    for senders in [10, 30, 50] {
        let outcome = bursts(senders, "");
        assert_eq!((outcome.number("drops"), outcome.number("timeouts")), (0.0, 0.0), "{senders}");
    }
}

/// 150 segments do not fit into pipe and buffer, and fewer of 150 small
/// or late ones are lost: what is lost comes before the last flows are counted. (The buffer counts packets, so small
/// ones take as much of it.)
#[test]
fn below_one_segment_shrinking_and_pacing_lose_less() {
    let late = |way: &str| {
        let text = bursts_text(150, &format!("first-share = \"syn\"\nsub-mss = \"{way}\""));
        run(&text.replace("bytes-each", "jitter = \"20ms\"\nbytes-each"))
    };
    let kept = late("min1");
    assert!(kept.number("drops") > 50.0, "{}", kept.number("drops"));
    for way in ["shrink", "pace"] {
        let outcome = late(way);
        for loss in ["drops", "timeouts"] {
            assert!(outcome.number(loss) < 0.7 * kept.number(loss), "{way}: {loss} {}", outcome.number(loss));
        }
    }
}

/// A burst that comes after another one has the pipe for itself only if the first one is forgotten.
#[test]
fn finished_flows_give_their_share_back() {
    let later = |forget: bool| {
        run(&format!(
            "[network]\ntopology = \"two-switch\"\ndelay = \"33us\"\nbuffer = \"100pkt\"\n[transport]\n\
             scheme = \"sab\"\nrto-min = \"30ms\"\ninitial-window = \"1mss\"\n[scheme.sab]\nforget = {forget}\n[[traffic]]\nkind = \"incast\"\n\
             senders = 40\nbytes-each = \"15KB\"\n[[traffic]]\nname = \"late\"\nkind = \"incast\"\nsenders = 1\n\
             bytes-each = \"5MB\"\nstart = \"100ms\"\n[run]\nduration = \"5s\"\n"
        ))
        .number("fct_p99_s")
    };
    let (fresh, stale) = (later(true), later(false));
    // One of 41 shares of 66 packets is 1.6: a lone flow then waits for each.
    assert!(stale > 3.0 * fresh, "{stale} against {fresh}");
}

/// On open connections nobody sees a SYN, and they count from their first packets: the first flows to send are given more
/// than the share that is theirs once all have, so that some is lost, but not over a thousand segments.
#[test]
fn open_connections_share_as_new_ones_do() {
    let outcome =
        run("[network]\ntopology = \"star\"\n[transport]\nscheme = \"sab\"\n[[traffic]]\nkind = \"incast\"\n\
                       senders = 40\nbytes-each = \"64KB\"\nconnections = \"persistent\"\nrounds = 3\n");
    assert_eq!(outcome.number("completed"), 120.0);
    assert!(outcome.number("drops") < 200.0, "{} drops", outcome.number("drops"));
}

//! DT-DCTCP: two thresholds in the place of one.

use crate::outcome::{queue_spread, run};

/// Mean and standard deviation of the queue in front of which endless flows share 1 Gbps with a round trip of 300 us.
fn spread(start: u32, stop: u32, flows: u32) -> (f64, f64) {
    let outcome = run(&format!(
        "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"50us\"\n\
         buffer = \"1000pkt\"\n[transport]\nscheme = \"dt-dctcp\"\n[scheme.dt-dctcp]\nstart = \"{start}pkt\"\n\
         stop = \"{stop}pkt\"\n[[traffic]]\nkind = \"background\"\nflows = {flows}\n[measure]\n\
         queue-trace = \"on-change\"\n[run]\nduration = \"1s\"\n"
    ));
    queue_spread(&outcome, 0.2)
}

#[test]
fn equal_thresholds_are_dctcp() {
    for threshold in ["15pkt", "20KB"] {
        let hash = |scheme: &str, params: &str| {
            let outcome = run(&format!(
                "[network]\ntopology = \"star\"\nbuffer = \"40pkt\"\n[transport]\nscheme = \"{scheme}\"\nrto-min = \"5ms\"\n\
                 [scheme.{scheme}]\n{params}\n[[traffic]]\nkind = \"incast\"\nsenders = 12\nbytes-each = \"500KB\"\n"
            ));
            assert!(outcome.number("marks") > 0.0 && outcome.number("drops") > 0.0);
            outcome.hash().to_owned()
        };
        let single = hash("dctcp", &format!("mark-threshold = \"{threshold}\""));
        assert_eq!(hash("dt-dctcp", &format!("start = \"{threshold}\"\nstop = \"{threshold}\"")), single);
        assert_ne!(hash("dt-dctcp", ""), single);
    }
}

/// Against one threshold of 40 packets, 30 and 50 make the queue of 5, 10 and 20 flows swing less (by 6, 5 and 13 %),
/// and 50 and 30 make it swing more (by 138, 79 and 37 %).
#[test]
fn a_lower_start_damps_the_queue_and_a_higher_one_swings_it() {
    for flows in [5, 10, 20] {
        let (single, lead, lag) = (spread(40, 40, flows).1, spread(30, 50, flows).1, spread(50, 30, flows).1);
        assert!(lead < 0.97 * single, "{flows} flows: {lead} and {single} packets");
        assert!(lag > 1.2 * single, "{flows} flows: {lag} and {single} packets");
    }
}

/// A queue that never falls below `start` never crosses it again: only the upper threshold is left.
#[test]
fn a_queue_above_the_start_hangs_at_the_stop() {
    let (lead, upper) = (spread(30, 50, 1), spread(50, 50, 1));
    assert!((lead.0 - upper.0).abs() < 0.5 && (lead.1 - upper.1).abs() < 0.5, "{lead:?} and {upper:?}");
}

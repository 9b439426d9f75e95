//! DCTCP as RCC's authors coded it, in their setting, and as ns-3 has it.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

/// `senders` servers respond with 32 KiB each, in the network of RCC's experiments: marks from half of 80 full packets,
/// ECN-capable or not.
fn rcc_star(flavour: &str, senders: u32) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\nrate = \"1Gbps\"\ndelay = \"40us\"\nbuffer = \"120000B\"\n[queue]\n\
         kind = \"ecn-threshold\"\nthreshold = \"60000B\"\nrequires-ect = false\n[transport]\nscheme = \"dctcp\"\n\
         mss = \"1446B\"\ninitial-window = \"1mss\"\nrto-min = \"10ms\"\nrto-initial = \"10ms\"\nsyn-timeout = \"10ms\"\n\
         rto-after-syn-timeout = \"10ms\"\n[scheme.dctcp]\nflavour = \"{flavour}\"\n[[traffic]]\nkind = \"incast\"\n\
         senders = {senders}\nbytes-each = \"32KiB\"\nstart = \"10ms\"\n[run]\nduration = \"5s\"\n"
    ))
}

/// The authors' program, run unchanged: 20 senders lose about 18 packets and one of them times out; 50 senders get
/// between 600 and 950 Mbit/s.
#[test]
fn rcc_code_lands_where_its_authors_program_does() {
    let few = rcc_star("rcc-code", 20);
    assert!((15.0..=21.0).contains(&few.number("drops")), "{} drops", few.number("drops"));
    assert_eq!(few.number("timeouts"), 1.0);
    let goodput = rcc_star("rcc-code", 50).number("goodput_bps");
    assert!((600e6..950e6).contains(&goodput), "{goodput} bit/s");
}

/// An estimate that starts at nothing cuts less: with 20 senders 211 marks instead of 133.
#[test]
fn rcc_code_keeps_the_queue_above_the_threshold_for_longer() {
    for senders in [10, 20] {
        let marks = |flavour| rcc_star(flavour, senders).number("marks");
        let (code, rfc) = (marks("rcc-code"), marks("rfc8257"));
        assert!(code > 1.15 * rfc, "{senders} senders: {code} and {rfc} marks");
    }
}

/// ns-3.44 itself has 1 904 marks with the starts of this run.
#[test]
fn ns3_counts_whole_segments_and_reduces_by_the_earlier_estimate() {
    let marks = |flavour: &str| {
        let outcome = run(&format!(
            "[network]\ntopology = \"star\"\nrate = \"1Gbps\"\ndelay = \"25us\"\nbuffer = \"100pkt\"\n\
             frame-overhead = \"2B\"\nties = \"fresh-first\"\n[transport]\nscheme = \"dctcp\"\ninitial-window = \"1mss\"\n\
             rto-min = \"10ms\"\nrto-initial = \"10ms\"\nlike = \"ns3.44\"\nwindow-validation = false\n\
             growth-after-echo = false\n[scheme.dctcp]\nflavour = \"{flavour}\"\n\
             [[traffic]]\nname = \"bursts\"\nkind = \"incast\"\nsenders = 10\nbytes-each = \"512KB\"\njitter = \"100us\"\n\
             connections = \"persistent\"\n[run]\nduration = \"5s\"\nseed = 1\n"
        ));
        assert_eq!(outcome.number("drops"), 0.0);
        outcome.number("marks")
    };
    assert_eq!(marks("ns-3"), 1904.0);
    assert_ne!(marks("rfc8257"), 1904.0);
}

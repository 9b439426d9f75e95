//! ICTCP in the simulator.

use crate::outcome::run;
use fanin_engine::sim::Outcome;

/// The star of RCC's experiments: 1 Gbps, 40 us per link, 80 packets of 1500 bytes.
fn star(scheme: &str, traffic: &str, duration: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"40us\"\nbuffer = \"120000B\"\nframe-overhead = \"0B\"\n[transport]\nscheme = \"ictcp\"\n\
         mss = \"1446B\"\nheader = \"54B\"\ninitial-window = \"1mss\"\nrto-min = \"10ms\"\n\
         syn-timeout = \"10ms\"\n[scheme.ictcp]\n{scheme}\n[[traffic]]\n{traffic}\n[run]\nduration = \"{duration}\"\n"
    ))
}

fn incast(scheme: &str, senders: u32) -> Outcome {
    star(scheme, &format!("kind = \"incast\"\nsenders = {senders}\nbytes-each = \"32KiB\""), "5s")
}

/// Two segments are the least that ICTCP gives a flow, so `(B + BDP) / 2`, about 46 flows, are the most that fit.
#[test]
fn nothing_is_lost_while_two_segments_of_every_flow_fit() {
    for flavour in ["paper", "rdtcp"] {
        let scheme = format!("flavour = \"{flavour}\"");
        for senders in [20, 40] {
            assert_eq!(incast(&scheme, senders).number("drops"), 0.0, "{flavour}, {senders}");
        }
        // The code of RCC's authors loses its first packets here, too.
        assert!(incast(&scheme, 50).number("drops") > 0.0, "{flavour}");
    }
}

/// A window of one segment lets more flows in without a loss.
#[test]
fn the_floor_of_two_segments_is_what_loses() {
    assert!(incast("", 60).number("drops") > 0.0);
    assert_eq!(incast("min-window = \"1mss\"", 60).number("drops"), 0.0);
}

/// A lone flow grows until nine tenths of the capacity are used, and not much further.
fn lone_flow(scheme: &str) -> f64 {
    star(scheme, "kind = \"background\"\n[measure]\nwarmup = \"300ms\"", "1s").number("goodput_bps")
}

#[test]
fn the_quota_ends_growth_at_its_share_of_the_capacity() {
    let (most, half) = (lone_flow(""), lone_flow("alpha = 0.5"));
    assert!((0.80e9..1e9).contains(&most), "{most}");
    assert!((0.40e9..0.70e9).contains(&half), "{half}");
}

/// Flows that came later catch up because those above the mean give way; without that rule they stay behind.
#[test]
fn fairness_levels_flows_that_started_apart() {
    let jain = |scheme: &str| {
        let traffic = "kind = \"background\"\nflows = 4\ninterval = \"20ms\"\n[measure]\nwarmup = \"400ms\"";
        star(scheme, traffic, "1s").number("jain")
    };
    let (level, free) = (jain(""), jain("fair-share = 0"));
    assert!(level > 0.97, "{level}");
    assert!(free < level - 0.02, "{free} against {level}");
}

/// Where the bottleneck is not the last hop, losses there leave windows unused, and case 2 takes them back: too small
/// then for three duplicate acknowledgements, which costs timeouts. The paper assumes that the last hop is the bottleneck.
#[test]
fn unused_windows_shrink() {
    let timeouts = |gamma2: f64, seed: u32| {
        run(&format!(
            "[network]\ntopology = \"two-switch\"\ntrunk-rate = \"100Mbps\"\ndelay = \"40us\"\nbuffer = \"50pkt\"\n\
             host-jitter = \"5us\"\n[transport]\nscheme = \"ictcp\"\ninitial-window = \"1mss\"\nrto-min = \"10ms\"\n\
             [scheme.ictcp]\ngamma2 = {gamma2}\nidle = \"100ms\"\n[[traffic]]\nkind = \"background\"\nflows = 4\n\
             interval = \"3ms\"\n[run]\nduration = \"3s\"\nseed = {seed}\n"
        ))
        .number("timeouts")
    };
    let [shrinking, kept] = [0.5, 1.0].map(|gamma2| (1..=6).map(|seed| timeouts(gamma2, seed)).sum::<f64>());
    assert!(shrinking > 1.5 * kept, "{shrinking} against {kept}");
}

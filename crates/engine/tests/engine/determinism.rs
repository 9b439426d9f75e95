//! The same scenario gives the same result, and one stream of random numbers leaves the others alone.

use crate::outcome::{numbers, run, words};

fn text(seed: u32, scheme: &str, more: &str) -> String {
    format!(
        "[network]\ntopology = \"star\"\nbuffer = \"30pkt\"\nhost-jitter = \"1us\"\n[transport]\nscheme = \"{scheme}\"\n\
         rto-min = \"2ms\"\n[[traffic]]\nname = \"bursts\"\nkind = \"incast\"\nsenders = 20\nbytes-each = \"50KB\"\n\
         jitter = \"1ms\"\n{more}[measure]\nqueue-trace = \"on-change\"\nbin = \"1ms\"\n[run]\nseed = {seed}\n"
    )
}

#[test]
fn the_same_scenario_twice() {
    let (one, other) = (run(&text(1, "dctcp", "")), run(&text(1, "dctcp", "")));
    assert_eq!(one.hash(), other.hash());
    assert_eq!(one.hash().len(), 32);
}

#[test]
fn another_seed_is_another_run() {
    let hashes: Vec<String> = (1..6).map(|seed| run(&text(seed, "newreno", "")).hash().to_owned()).collect();
    for (i, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..i].contains(hash), "seed {}", i + 1);
    }
}

#[test]
fn schemes_are_compared_on_the_same_starts() {
    let starts = |scheme| numbers(&run(&text(1, scheme, "")), "flows", "start_s");
    assert_eq!(starts("newreno"), starts("dctcp"));
}

#[test]
fn a_new_group_leaves_the_starts_of_others() {
    let alone = numbers(&run(&text(1, "newreno", "")), "flows", "start_s");
    let more = "[[traffic]]\nname = \"more\"\nkind = \"incast\"\nsenders = 7\nbytes-each = \"9KB\"\njitter = \"3ms\"\n";
    let outcome = run(&text(1, "newreno", more));
    let groups = words(&outcome, "flows", "group");
    let starts: Vec<f64> = numbers(&outcome, "flows", "start_s")
        .into_iter()
        .zip(&groups)
        .filter(|(_, group)| *group == "bursts")
        .map(|(start, _)| start)
        .collect();
    assert_eq!(starts, alone);
    assert_eq!(groups.len(), 27);
}

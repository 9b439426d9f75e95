//! A run asks now and then whether to go on, whatever keeps it busy.

use super::bench::scenario;
use crate::sim::build::{Substitutes, build};
use fanin_event::core::Core;
use fanin_work::error::RunError;
use fanin_world::World;

/// Two flows without an end, whose timers seldom expire: nearly all events are arrivals.
const ENDLESS: &str = "[network]\ntopology = \"star\"\n[transport]\nscheme = \"newreno\"\n[[traffic]]\nkind = \"background\"\n\
                       flows = 2\n[run]\nduration = \"1s\"\n";

/// Runs it until it was asked so often; the shares of time that it told, and how it ended.
fn asked(times: usize) -> (Vec<f64>, Result<(), RunError>, u64) {
    let mut world: World<Core> = build(&scenario(ENDLESS), Substitutes::default()).expect("makes sense");
    let mut shares = Vec::new();
    let mut go_on = |share| {
        shares.push(share);
        shares.len() < times
    };
    let end = world.run(Some(&mut go_on));
    (shares, end, world.hops)
}

#[test]
fn long_flows_are_asked_too() {
    let (shares, end, hops) = asked(usize::MAX);
    end.expect("runs");
    assert!(shares.len() as u64 >= hops >> 14, "{} times in {hops} packet-hops", shares.len());
    assert!(shares.len() > 10, "{hops}");
    assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)));
}

#[test]
fn a_no_ends_the_run_there() {
    let (shares, end, hops) = asked(3);
    assert_eq!(shares.len(), 3);
    assert!(matches!(end, Err(RunError::Stopped { .. })));
    assert!(hops <= 3 << 14, "{hops}");
}

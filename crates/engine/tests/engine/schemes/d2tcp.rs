//! D2TCP: flows in a hurry ahead of others.

use crate::outcome::{mean_fct, numbers, run};
use fanin_engine::sim::Outcome;

/// Four flows with a deadline and four that have ten times as long share a link on which all eight take 85 ms.
fn contest(scheme: &str, params: &str, deadline_ms: u32) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\ndelay = \"100us\"\nbuffer = \"300pkt\"\n[transport]\nscheme = \"{scheme}\"\n\
         [scheme.d2tcp]\n{params}\n[[traffic]]\nname = \"hurried\"\nkind = \"incast\"\nsenders = 4\n\
         bytes-each = \"1250KB\"\ndeadline = \"{deadline_ms}ms\"\njitter = \"1ms\"\n[[traffic]]\nname = \"patient\"\n\
         kind = \"incast\"\nsenders = 4\nbytes-each = \"1250KB\"\ndeadline = \"{}ms\"\njitter = \"1ms\"\n\
         [run]\nduration = \"2s\"\n",
        10 * deadline_ms
    ))
}

/// With DCTCP the four take 81 ms and miss all of their deadlines at 75 ms; with D2TCP they take 72 ms and miss none.
#[test]
fn flows_in_a_hurry_meet_deadlines_that_dctcp_misses() {
    let (plain, urgent) = (contest("dctcp", "", 75), contest("d2tcp", "", 75));
    assert_eq!(plain.number("deadlines_missed"), 4.0);
    assert_eq!(urgent.number("deadlines_missed"), 0.0);
    assert!(mean_fct(&urgent, "patient") > mean_fct(&plain, "patient"), "the others give way");
}

#[test]
fn both_bounds_of_the_urgency_do_something() {
    let plain = mean_fct(&contest("dctcp", "", 75), "hurried");
    for off in ["urgency-max = 1.0", "urgency-min = 1.0"] {
        let half = mean_fct(&contest("d2tcp", off, 75), "hurried");
        assert!(half < 0.97 * plain, "{off}: {half} s and {plain} s");
    }
    let none = "urgency-min = 1.0\nurgency-max = 1.0";
    assert_eq!(contest("d2tcp", none, 75).hash(), contest("dctcp", "", 75).hash());
}

#[test]
fn late_flows_give_way_unless_told_otherwise() {
    let late = |late: &str| mean_fct(&contest("d2tcp", &format!("late = \"{late}\""), 30), "hurried");
    let (gives_way, plain, hurries) = (late("give-way"), late("as-dctcp"), late("hurry"));
    assert!(hurries < plain && plain < gives_way, "{hurries} s, {plain} s and {gives_way} s");
}

#[test]
fn each_transfer_of_an_open_connection_has_its_own_deadline() {
    let outcome = run(
        "[network]\ntopology = \"star\"\n[transport]\nscheme = \"d2tcp\"\n[[traffic]]\nkind = \"incast\"\nsenders = 2\n\
         bytes-each = \"100KB\"\nrounds = 3\nconnections = \"persistent\"\ndeadline = \"2ms\"\n[[traffic]]\n\
         kind = \"background\"\nflows = 1\nbytes-each = \"100KB\"\n[run]\nduration = \"1s\"\n",
    );
    let (start, deadline) = (numbers(&outcome, "flows", "start_s"), numbers(&outcome, "flows", "deadline_s"));
    let completion = numbers(&outcome, "flows", "completion_s");
    let hurried: Vec<usize> = (0..start.len()).filter(|i| !deadline[*i].is_nan()).collect();
    assert_eq!((start.len(), hurried.len()), (7, 6), "the background is in no hurry");
    assert!(hurried.iter().all(|i| (deadline[*i] - start[*i] - 2e-3).abs() < 1e-12));
    let missed = hurried.iter().filter(|i| completion[**i] > deadline[**i]).count();
    assert!(missed > 0 && missed < 6, "{missed} of 6");
    assert_eq!(outcome.number("deadlines_missed"), missed as f64);
}

#[test]
fn a_deadline_is_missed_only_once_it_has_passed() {
    let missed = |deadline: &str, duration: &str| {
        let outcome = run(&format!(
            "[network]\ntopology = \"star\"\n[transport]\nscheme = \"d2tcp\"\n[[traffic]]\nkind = \"incast\"\nsenders = 3\n\
             bytes-each = \"1MB\"\n{deadline}\n[run]\nduration = \"{duration}\"\n"
        ));
        assert_eq!(outcome.number("incomplete"), 3.0);
        outcome.number("deadlines_missed")
    };
    assert_eq!(missed("deadline = \"4ms\"", "3ms"), 0.0);
    assert_eq!(missed("deadline = \"2ms\"", "3ms"), 3.0);
    assert!(missed("", "3ms").is_nan(), "no deadline, nothing to miss");
}

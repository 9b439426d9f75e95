//! What is declared of totals and columns is what runs put, and all of it.

use crate::outcome::run;
use fanin_engine::measure::table::Column;
use fanin_engine::measure::total::{Topic, Total};
use fanin_engine::outcome::declared::{tables, totals, totals_of_some};
use fanin_engine::schemes;
use fanin_engine::sim::Outcome;
use std::collections::BTreeSet;

/// A small run of a scheme, with everything recorded that it can be asked for.
fn small(scheme: &str, probe: &str) -> Outcome {
    measured(
        scheme,
        &format!("bin = \"1ms\"\ncrossings = \"bottleneck\"\nprobes = \"{probe}\"\nqueue-trace = \"on-change\""),
    )
}

/// The same run with these lines of `[measure]`.
fn measured(scheme: &str, measure: &str) -> Outcome {
    run(&format!(
        "[network]\ntopology = \"star\"\n[transport]\nscheme = \"{scheme}\"\n[[traffic]]\nname = \"a\"\nkind = \"incast\"\n\
         senders = 3\nbytes-each = \"20KB\"\n[[traffic]]\nname = \"b\"\nkind = \"background\"\nflows = 1\n[measure]\n\
         {measure}\n[run]\nduration = \"20ms\"\n"
    ))
}

fn names<'a>(totals: impl IntoIterator<Item = &'a Total>) -> BTreeSet<String> {
    totals.into_iter().map(|total| total.name.to_owned()).collect()
}

#[test]
fn a_run_puts_the_totals_that_are_declared_and_no_others() {
    let common: Vec<Total> = totals().collect();
    for row in schemes::REGISTRY {
        let own = row.totals.iter().map(|total| total.name.to_owned());
        // The stack of these has limited host queues.
        let rare = row.stack().map(|_| "drops_host_queue_full".to_owned());
        let declared: BTreeSet<String> = names(&common).into_iter().chain(own).chain(rare).collect();
        let put: BTreeSet<String> = small(row.key, "cwnd").summary.keys().cloned().collect();
        assert_eq!(put, declared, "{}", row.key);
    }
}

#[test]
fn a_run_without_queue_statistics_has_those_totals_as_null() {
    let [with, without] =
        ["bottleneck", "none"].map(|queues| measured("dctcp", &format!("queues = \"{queues}\"")).summary);
    assert_eq!(without.keys().collect::<Vec<_>>(), with.keys().collect::<Vec<_>>());
    for (name, value) in &without {
        match name.as_str() {
            "result_hash" => assert_ne!(*value, with[name]),
            queue if queue.starts_with("queue_") => {
                assert!(value.is_null() && with[name].is_number(), "{name}: {value}");
            }
            _ => assert_eq!(*value, with[name], "{name}"),
        }
    }
}

#[test]
fn a_group_has_the_totals_that_say_so() {
    let declared = names(totals().filter(|total| total.of_groups).collect::<Vec<_>>().iter());
    let outcome = small("dctcp", "cwnd");
    let groups = outcome.summary["groups"].as_array().expect("a list");
    assert_eq!(groups.len(), 2);
    for group in groups {
        let put: BTreeSet<String> = group.as_object().expect("totals").keys().cloned().collect();
        assert_eq!(put, declared.iter().cloned().chain(["group".to_owned()]).collect());
    }
}

#[test]
fn each_total_says_what_it_is_and_is_declared_once() {
    let all: Vec<Total> = totals().chain(totals_of_some()).collect();
    assert_eq!(names(&all).len(), all.len());
    let mut shown = BTreeSet::new();
    for total in &all {
        assert!(!total.label.is_empty(), "{}", total.name);
        assert!(!total.doc.is_empty() || !total.definition.is_empty(), "{}", total.name);
        assert!(["", "1", "s", "B", "pkt", "bit/s"].contains(&total.unit), "{}", total.name);
        assert!(shown.insert((total.label, total.definition)), "two totals are called {}", total.label);
    }
}

#[test]
fn totals_stand_by_topic() {
    let topics: Vec<Topic> = totals().map(|total| total.topic).collect();
    let changes = topics.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes, 5, "each of the six topics is told in one go");
}

#[test]
fn tables_have_the_columns_that_are_declared() {
    let facts = |column: &Column| (column.name, column.unit, column.description);
    let mut seen = BTreeSet::new();
    let lossless = run(
        "[network]\ntopology = \"star\"\npfc = \"on\"\n[[traffic]]\nkind = \"incast\"\nsenders = 2\nbytes-each = \"1KB\"\n",
    );
    // A probe of flows, one of switches and one of hosts.
    let probed = [small("dctcp", "cwnd"), small("sdtcp", "congestion-level"), small("rcc", "acks-waiting")];
    for outcome in probed.iter().chain([&lossless]) {
        for name in outcome.table_names() {
            let table = outcome.table(name).expect("it is there");
            let declared = tables().into_iter().find(|table| table.name == name).expect(name);
            assert_eq!(declared.rows(), 0, "{name}");
            assert_eq!(declared.description, table.description);
            let columns: Vec<_> = table.columns.iter().map(facts).collect();
            assert_eq!(declared.columns.iter().map(facts).collect::<Vec<_>>(), columns, "{name}");
            seen.insert(name);
        }
    }
    // Only a run in the kernel has its counters.
    seen.insert("counters");
    assert_eq!(seen, tables().iter().map(|table| table.name).collect());
}

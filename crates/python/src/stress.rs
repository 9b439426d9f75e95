//! A benchmark of SDTCP's controller, the only place where its own code is timed. It does not affect simulations, whose
//! control delay is a scenario value.

use std::time::Instant;

use fanin_engine::schemes::sdtcp_stress::{
    ControllerStress, Told, Traffic, endings, notification, openings, statistics,
};
use fanin_engine::units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

/// Number of flows whose messages are prepared at a time, before the clock starts.
const BATCH: usize = 1_000;
/// Round-trip time of the paper's network.
const RTT: Time = Time::from_us(200);

/// Fills a controller with so many flows, lets it decide, and empties it; returns the times and bytes as JSON.
///
/// `background` is the share of flows in the background table, `decisions` how often each decision is timed.
#[pyfunction]
#[pyo3(signature = (entries, background=0.01, decisions=20))]
pub(super) fn controller_benchmark(
    py: Python<'_>,
    entries: usize,
    background: f64,
    decisions: usize,
) -> PyResult<String> {
    if entries == 0 || entries > 1 << 24 || decisions == 0 || !(0.0..=1.0).contains(&background) {
        return Err(PyValueError::new_err("needs 1 to 2^24 entries, a share of background flows, and decisions"));
    }
    let large = (entries as f64 * background).round() as usize;
    Ok(py.detach(|| measured(entries, large, decisions)).to_string())
}

fn measured(entries: usize, background: usize, decisions: usize) -> serde_json::Value {
    let (mut stress, opening) = opened(entries);
    let mut poll = Count::default();
    poll.add_out(stress.poll());
    let asked = poll.bytes;
    poll.serve(&mut stress, &statistics(0..entries, background));
    // Both switches are asked, and both answer: the second one's statistics are as long as the first one's.
    poll.bytes = 2 * (poll.bytes - asked) + asked;
    poll.seconds *= 2.0;
    let [low, high] = [false, true].map(|high| decide(&mut stress, &notification(high), decisions));
    // Includes the background table and the limits of all flows, which exist once it has decided.
    let memory = stress.table_bytes();
    // At a port without congestion: where there is some, each flow that ends has the windows of all others set again, which
    // is timed as a decision above.
    drop(stress);
    let (mut stress, _) = opened(entries);
    let mut ending = Count::default();
    for start in (0..entries).step_by(BATCH) {
        ending.serve(&mut stress, &endings(start..entries.min(start + BATCH)));
    }
    json!({
        "entries_added_per_s": entries as f64 / opening.seconds,
        "opening_s": opening.seconds,
        "opening_bytes": opening.bytes,
        "ending_s": ending.seconds,
        "ending_bytes": ending.bytes,
        "poll_s": poll.seconds,
        "poll_bytes": poll.bytes,
        "decision_low_s": low.0,
        "decision_low_bytes": low.1,
        "decision_high_s": high.0,
        "decision_high_bytes": high.1,
        "table_bytes": memory,
    })
}

/// A controller that so many flows have been opened through, and what that took.
fn opened(entries: usize) -> (ControllerStress, Count) {
    let mut stress = ControllerStress::new(RTT);
    let mut opening = Count::default();
    for start in (0..entries).step_by(BATCH) {
        opening.serve(&mut stress, &openings(start..entries.min(start + BATCH)));
    }
    (stress, opening)
}

/// Median time of a decision, including the encoding of its messages, and its bytes on the channel.
fn decide(stress: &mut ControllerStress, notification: &[Told], decisions: usize) -> (f64, u64) {
    let counts = (0..decisions).map(|_| {
        let mut count = Count::default();
        count.serve(stress, notification);
        count
    });
    let mut counts: Vec<Count> = counts.collect();
    counts.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let median = &counts[counts.len() / 2];
    (median.seconds, median.bytes)
}

/// Working time of the controller, and bytes on its channel in both directions.
#[derive(Default)]
struct Count {
    seconds: f64,
    bytes: u64,
}

impl Count {
    fn serve(&mut self, stress: &mut ControllerStress, messages: &[Told]) {
        self.bytes += messages.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        let started = Instant::now();
        let answers = stress.tell(messages);
        self.seconds += started.elapsed().as_secs_f64();
        self.add_out(answers);
    }

    fn add_out(&mut self, answers: Traffic) {
        self.bytes += answers.bytes;
    }
}

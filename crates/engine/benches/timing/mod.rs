//! What the benchmarks share: the time of a run on its processor.

use fanin_engine::sim::Outcome;
use std::time::Instant;

/// Interleaved repetitions, of which the median counts.
pub(crate) const REPETITIONS: usize = 7;

/// Time of this thread on a processor, in nanoseconds; wall time where the kernel does not tell.
///
/// The kernel brings its count up to date when the thread gives way, else only a few times in a hundredth of a second.
fn clock(start: Instant) -> u64 {
    std::thread::yield_now();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = stat.and_then(|stat| stat.split_whitespace().next()?.parse().ok());
    ran.unwrap_or_else(|| start.elapsed().as_nanos() as u64)
}

/// Nanoseconds per packet-hop of one run.
pub(crate) fn time(run: impl FnOnce() -> Outcome) -> f64 {
    time_hops(|| run().number("packet_hops"))
}

/// Nanoseconds per packet-hop of something that returns how many there were.
pub(crate) fn time_hops(run: impl FnOnce() -> f64) -> f64 {
    let start = Instant::now();
    let before = clock(start);
    let hops = run();
    (clock(start) - before) as f64 / hops
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

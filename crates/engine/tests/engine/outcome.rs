//! Running a scenario and reading its tables.

use fanin_engine::measure::table::Data;
use fanin_engine::scenario::Scenario;
use fanin_engine::sim::{self, Outcome};

/// Runs a scenario.
#[track_caller]
pub(crate) fn run(text: &str) -> Outcome {
    let scenario = Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    sim::run(&scenario, None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A column of numbers; NaN where a row has none.
#[track_caller]
pub(crate) fn numbers(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    match &outcome.table(table).expect(table).column(column).expect(column).data {
        Data::F64(values) => values.clone(),
        Data::OptF64(values) => values.iter().map(|value| value.unwrap_or(f64::NAN)).collect(),
        Data::U64(values) => values.iter().map(|value| *value as f64).collect(),
        Data::OptU64(values) => values.iter().map(|value| value.map_or(f64::NAN, |value| value as f64)).collect(),
        Data::Bool(values) => values.iter().map(|value| f64::from(u8::from(*value))).collect(),
        other => panic!("{table}.{column} is {other:?}"),
    }
}

/// A column of words.
#[track_caller]
pub(crate) fn words(outcome: &Outcome, table: &str, column: &str) -> Vec<String> {
    match &outcome.table(table).expect(table).column(column).expect(column).data {
        Data::Text(values) => values.clone(),
        Data::Label { codes, names } => codes.iter().map(|code| names[*code as usize].clone()).collect(),
        other => panic!("{table}.{column} is {other:?}"),
    }
}

/// Whole picoseconds. A time in seconds comes from picoseconds by one rounding, which moves it by less than half a
/// picosecond as long as it is below an hour: the picoseconds can be had back exactly.
#[track_caller]
pub(crate) fn ps(seconds: f64) -> u64 {
    assert!((0.0..3600.0).contains(&seconds), "{seconds} s");
    (seconds * 1e12).round() as u64
}

/// Mean completion time of the transfers of one traffic group, in seconds.
#[track_caller]
pub(crate) fn mean_fct(outcome: &Outcome, group: &str) -> f64 {
    let fcts = numbers(outcome, "flows", "fct_s").into_iter().zip(words(outcome, "flows", "group"));
    let fcts: Vec<f64> = fcts.filter(|(_, name)| name == group).map(|(fct, _)| fct).collect();
    fcts.iter().sum::<f64>() / fcts.len() as f64
}

/// Mean and standard deviation over time of the bottleneck's queue in packets, from `from` seconds on.
#[track_caller]
pub(crate) fn queue_spread(outcome: &Outcome, from: f64) -> (f64, f64) {
    let (times, packets) = (numbers(outcome, "queue-trace", "time_s"), numbers(outcome, "queue-trace", "packets"));
    let (mut time, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (i, queue) in packets.iter().enumerate().take(packets.len() - 1).filter(|(i, _)| times[*i] > from) {
        let span = times[i + 1] - times[i];
        time += span;
        sum += span * queue;
        squares += span * queue * queue;
    }
    let mean = sum / time;
    (mean, (squares / time - mean * mean).sqrt())
}

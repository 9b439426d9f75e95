//! TCP NewReno, the baseline that every other scheme modifies. Loss recovery and timers are in `tcp::sender`.

mod sender;

pub use sender::NewReno;

use super::{Scheme, SchemeRow};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "newreno",
    summary: "TCP NewReno: slow start, congestion avoidance, fast recovery (RFC 5681, RFC 6582).",
    params: &[],
    transport: &[],
    manual: include_str!("manual.md"),
    readings: &[],
    totals: &[],
    build: |_| Box::new(Bundle),
};

struct Bundle;

impl Scheme for Bundle {}

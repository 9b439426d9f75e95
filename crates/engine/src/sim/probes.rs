//! Probes: internal state of chosen senders and of switches, recorded whenever it changes.

use crate::ids::{FlowId, NodeId};
use crate::measure::table::{Column, Data, Table};
use crate::roles::SwitchAgent;
use crate::tcp::sender::{Sender, SenderConfig};
use crate::units::Time;

/// What every sender can show; a scheme's own probes come on top.
pub(crate) const COMMON: [&str; 6] = ["cwnd", "ssthresh", "in-flight", "srtt", "rto", "duplicate-acks"];

#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// Names asked for, in the order of the scenario.
    names: Vec<String>,
    /// Senders of data that may still be chosen.
    flows: usize,
    /// Last value per flow and name.
    last: Vec<Vec<f64>>,
    rows: Vec<(Time, u32, u32, f64)>,
    /// Some of the names are those of switches.
    switches: bool,
    switch_last: Vec<Vec<f64>>,
    switch_rows: Vec<(Time, u32, u32, f64)>,
}

impl Probes {
    /// Probes with these names, of so many flows; `switches` if switches show any of the names.
    pub(crate) fn new(names: Vec<String>, flows: usize, switches: bool) -> Self {
        Self { names, flows, switches, ..Self::default() }
    }

    /// Whether switches are probed.
    #[inline(always)]
    pub(crate) fn of_switches(&self) -> bool {
        self.switches
    }

    pub(crate) fn record_switch(&mut self, switch: NodeId, now: Time, agent: &dyn SwitchAgent) {
        while self.switch_last.len() <= switch.index() {
            self.switch_last.push(vec![f64::NAN; self.names.len()]);
        }
        let (names, last, rows) = (&self.names, &mut self.switch_last[switch.index()], &mut self.switch_rows);
        agent.probes(&mut |name, value| {
            for (i, _) in names.iter().enumerate().filter(|(_, wanted)| *wanted == name) {
                if value.to_bits() != last[i].to_bits() {
                    last[i] = value;
                    rows.push((now, switch.index() as u32, i as u32, value));
                }
            }
        });
    }

    /// The table of switches, if they were probed.
    pub(crate) fn switch_table(&mut self) -> Option<Table> {
        let rows = std::mem::take(&mut self.switch_rows);
        let column = Column::new;
        self.switches.then(|| Table {
            name: "switch-probes",
            description: "State of switches, one row per change.",
            columns: vec![
                column(
                    "time_s",
                    "s",
                    "When the value was reached.",
                    Data::F64(rows.iter().map(|row| row.0.secs()).collect()),
                ),
                column(
                    "switch",
                    "",
                    "Number of the switch's node.",
                    Data::U64(rows.iter().map(|row| u64::from(row.1)).collect()),
                ),
                column(
                    "name",
                    "",
                    "What was probed.",
                    Data::Label { codes: rows.iter().map(|row| row.2).collect(), names: self.names.clone() },
                ),
                column("value", "1", "Its value.", Data::F64(rows.iter().map(|row| row.3).collect())),
            ],
        })
    }

    /// Whether to probe one more sender of data. Requests are not offered: they would use up the places.
    pub(crate) fn choose(&mut self) -> bool {
        let chosen = !self.names.is_empty() && self.flows > 0;
        self.flows -= usize::from(chosen);
        chosen
    }

    pub(crate) fn record(&mut self, flow: FlowId, now: Time, sender: &Sender, cfg: &SenderConfig) {
        while self.last.len() <= flow.index() {
            self.last.push(vec![f64::NAN; self.names.len()]);
        }
        let (names, last, rows) = (&self.names, &mut self.last[flow.index()], &mut self.rows);
        let mut show = |name: &str, value: f64| {
            for (i, _) in names.iter().enumerate().filter(|(_, wanted)| *wanted == name) {
                if value.to_bits() != last[i].to_bits() {
                    last[i] = value;
                    rows.push((now, flow.index() as u32, i as u32, value));
                }
            }
        };
        let window = sender.window();
        let common = [
            window.cwnd,
            window.ssthresh,
            sender.in_flight() as f64,
            sender.srtt().map_or(f64::NAN, Time::secs),
            sender.rto(cfg).secs(),
            f64::from(sender.duplicate_acks()),
        ];
        for (name, value) in COMMON.into_iter().zip(common) {
            show(name, value);
        }
        sender.congestion_control().probes(&mut |name, value| show(name, value));
    }

    pub(crate) fn into_table(self) -> Table {
        let column = Column::new;
        Table {
            name: "probes",
            description: "State of probed senders, one row per change. Windows in bytes, times in seconds.",
            columns: vec![
                column(
                    "time_s",
                    "s",
                    "When the value was reached.",
                    Data::F64(self.rows.iter().map(|row| row.0.secs()).collect()),
                ),
                column(
                    "connection",
                    "",
                    "Flow handle of the sender's connection, as in flows.",
                    Data::U64(self.rows.iter().map(|row| u64::from(row.1)).collect()),
                ),
                column(
                    "name",
                    "",
                    "What was probed.",
                    Data::Label { codes: self.rows.iter().map(|row| row.2).collect(), names: self.names },
                ),
                column(
                    "value",
                    "",
                    "Its value: bytes, seconds or a number.",
                    Data::F64(self.rows.iter().map(|row| row.3).collect()),
                ),
            ],
        }
    }
}

//! Probes: internal state of chosen flows, of switches and of receiving hosts, recorded whenever it changes.

use crate::table::{Column, Data, Table};
use crate::total::Heading;
use fanin_core::ids::{FlowId, NodeId};
use fanin_core::roles::WindowControl;
use fanin_core::units::Time;
use fanin_tcp::sender::{Sender, SenderConfig};

/// Probes that every sender has; a scheme may add its own.
pub const COMMON: [&str; 6] = ["cwnd", "ssthresh", "in-flight", "srtt", "rto", "duplicate-acks"];

/// Values of senders, switches or receiving hosts, one row per change.
#[derive(Debug, Default)]
pub struct Recorder {
    /// Names of the probes, in the order of the scenario.
    names: Vec<String>,
    /// The last value, by source and by name.
    last: Vec<Vec<f64>>,
    /// Time, source, name and value.
    rows: Vec<(Time, u32, u32, f64)>,
}

impl Recorder {
    /// A recorder of these probes, without rows.
    pub fn new(names: Vec<String>) -> Self {
        Self { names, ..Self::default() }
    }

    /// Records the values that source `who` shows now, where they changed.
    pub fn note(&mut self, who: usize, now: Time, shows: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        while self.last.len() <= who {
            self.last.push(vec![f64::NAN; self.names.len()]);
        }
        let (names, last, rows) = (&self.names, &mut self.last[who], &mut self.rows);
        shows(&mut |name, value| {
            for (i, _) in names.iter().enumerate().filter(|(_, wanted)| *wanted == name) {
                if value.to_bits() != last[i].to_bits() {
                    last[i] = value;
                    rows.push((now, who as u32, i as u32, value));
                }
            }
        });
    }

    /// The table of switches.
    pub fn into_switch_table(self) -> Table {
        let who = ["switch", "Number of the switch's node."];
        self.into_table("switch-probes", "State of switches, one row per change.", who)
    }

    fn into_table(self, name: &'static str, description: &'static str, who: [&'static str; 2]) -> Table {
        let (rows, column) = (&self.rows, Column::new);
        let seconds = Data::F64(rows.iter().map(|row| row.0.secs()).collect());
        let numbers = Data::U64(rows.iter().map(|row| u64::from(row.1)).collect());
        let codes = rows.iter().map(|row| row.2).collect();
        let values = Data::F64(rows.iter().map(|row| row.3).collect());
        Table {
            name,
            description,
            columns: vec![
                column("time_s", "s", "Time at which the value was reached.", seconds).headed(Heading::TIME),
                column(who[0], "", who[1], numbers),
                column("name", "", "What was probed.", Data::Label { codes, names: self.names }),
                column("value", "", "Its value, in bytes, in seconds or as a plain number.", values)
                    .headed(Heading::new("Value")),
            ],
        }
    }
}

/// The probes of end hosts: of chosen flows, and of receiving hosts.
#[derive(Debug, Default)]
pub struct HostProbes {
    /// Whether the scenario names any probe; without one, no flow need be looked at.
    pub any: bool,
    /// How many more senders of data may be chosen.
    flows: usize,
    of_flows: Recorder,
    of_hosts: Option<Recorder>,
}

impl HostProbes {
    /// Probes with these names, of at most `flows` flows; `hosts` if receiving hosts have any of them, for themselves
    /// or for a flow.
    pub fn new(names: &[String], flows: usize, hosts: bool) -> Self {
        let recorder = || Recorder::new(names.to_vec());
        Self { any: !names.is_empty(), flows, of_flows: recorder(), of_hosts: hosts.then(recorder) }
    }

    /// Whether receiving hosts are probed.
    #[inline(always)]
    pub fn of_hosts(&self) -> bool {
        self.of_hosts.is_some()
    }

    /// Records a host's values, and those of the flow that made it act, if that flow is probed.
    pub fn record_host(&mut self, host: NodeId, flow: Option<FlowId>, now: Time, window: &dyn WindowControl) {
        if let Some(recorder) = &mut self.of_hosts {
            recorder.note(host.index(), now, |show| window.probes(show));
        }
        if let Some(flow) = flow {
            self.of_flows.note(flow.index(), now, |show| window.flow_probes(flow, show));
        }
    }

    /// Whether to probe one more sender of data. Senders of requests are not asked: they would use up the number.
    pub fn choose(&mut self) -> bool {
        let chosen = self.any && self.flows > 0;
        self.flows -= usize::from(chosen);
        chosen
    }

    /// Records the state of a sender.
    pub fn record(&mut self, flow: FlowId, now: Time, sender: &Sender, cfg: &SenderConfig) {
        let window = sender.window();
        let common = [
            window.cwnd,
            window.ssthresh,
            sender.in_flight() as f64,
            sender.srtt().map_or(f64::NAN, Time::secs),
            sender.rto(cfg).secs(),
            f64::from(sender.duplicate_acks()),
        ];
        self.of_flows.note(flow.index(), now, |show| {
            for (name, value) in COMMON.into_iter().zip(common) {
                show(name, value);
            }
            sender.congestion_control().probes(show);
        });
    }

    /// Records values of a sender that is no [`Sender`].
    pub fn record_values(&mut self, flow: FlowId, now: Time, values: &[(&'static str, f64)]) {
        self.of_flows.note(flow.index(), now, |show| values.iter().for_each(|(name, value)| show(name, *value)));
    }

    /// The table of flows, which every run has, and that of hosts, if they were probed.
    pub fn into_tables(self) -> (Table, Option<Table>) {
        let flows = self.of_flows.into_table(
            "probes",
            "State of probed senders and of their flows at receiving hosts, one row per change. Windows in bytes, \
             times in seconds.",
            ["connection", "Flow handle of the sender's connection, as in flows."],
        );
        let host = ["host", "Number of the host's node, as in flows."];
        let table =
            |hosts: Recorder| hosts.into_table("host-probes", "State of receiving hosts, one row per change.", host);
        (flows, self.of_hosts.map(table))
    }
}

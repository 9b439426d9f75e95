//! Probes: internal state of chosen flows, of switches and of receiving hosts, recorded whenever it changes.

use crate::ids::{FlowId, NodeId};
use crate::measure::table::{Column, Data, Table};
use crate::measure::total::Heading;
use crate::roles::{SwitchAgent, WindowControl};
use crate::tcp::sender::{Sender, SenderConfig};
use crate::units::Time;

/// What every sender can show; a scheme's own probes come on top.
pub(crate) const COMMON: [&str; 6] = ["cwnd", "ssthresh", "in-flight", "srtt", "rto", "duplicate-acks"];

/// Values of many places of one kind.
#[derive(Debug, Default)]
struct Record {
    /// Last value by place and name.
    last: Vec<Vec<f64>>,
    /// When, where, which name, value.
    rows: Vec<(Time, u32, u32, f64)>,
}

impl Record {
    /// What one place shows now.
    fn note(
        &mut self,
        names: &[String],
        place: usize,
        now: Time,
        shows: impl FnOnce(&mut dyn FnMut(&'static str, f64)),
    ) {
        while self.last.len() <= place {
            self.last.push(vec![f64::NAN; names.len()]);
        }
        let (last, rows) = (&mut self.last[place], &mut self.rows);
        shows(&mut |name, value| {
            for (i, _) in names.iter().enumerate().filter(|(_, wanted)| *wanted == name) {
                if value.to_bits() != last[i].to_bits() {
                    last[i] = value;
                    rows.push((now, place as u32, i as u32, value));
                }
            }
        });
    }

    fn table(
        &self,
        names: &[String],
        name: &'static str,
        description: &'static str,
        place: [&'static str; 2],
    ) -> Table {
        let (rows, column) = (&self.rows, Column::new);
        let seconds = Data::F64(rows.iter().map(|row| row.0.secs()).collect());
        let places = Data::U64(rows.iter().map(|row| u64::from(row.1)).collect());
        let codes = rows.iter().map(|row| row.2).collect();
        let values = Data::F64(rows.iter().map(|row| row.3).collect());
        Table {
            name,
            description,
            columns: vec![
                column("time_s", "s", "When the value was reached.", seconds).headed(Heading::TIME),
                column(place[0], "", place[1], places),
                column("name", "", "What was probed.", Data::Label { codes, names: names.to_vec() }),
                column("value", "", "Its value: bytes, seconds or a number.", values).headed(Heading::new("Value")),
            ],
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// Names asked for, in the order of the scenario.
    names: Vec<String>,
    /// Senders of data that may still be chosen.
    flows: usize,
    /// Some of the names are those of switches, or of receiving hosts and what they know of a flow.
    switches: bool,
    hosts: bool,
    of_flows: Record,
    of_switches: Record,
    of_hosts: Record,
}

impl Probes {
    /// Probes with these names, of so many flows; `switches` and `hosts` if those show any of the names.
    pub(crate) fn new(names: Vec<String>, flows: usize, switches: bool, hosts: bool) -> Self {
        Self { names, flows, switches, hosts, ..Self::default() }
    }

    /// Whether switches are probed.
    #[inline(always)]
    pub(crate) fn of_switches(&self) -> bool {
        self.switches
    }

    /// Whether receiving hosts are probed.
    #[inline(always)]
    pub(crate) fn of_hosts(&self) -> bool {
        self.hosts
    }

    pub(crate) fn record_switch(&mut self, switch: NodeId, now: Time, agent: &dyn SwitchAgent) {
        self.of_switches.note(&self.names, switch.index(), now, |show| agent.probes(show));
    }

    /// What a host shows, and of the flow that made it act, if that is probed.
    pub(crate) fn record_host(&mut self, host: NodeId, flow: Option<FlowId>, now: Time, window: &dyn WindowControl) {
        self.of_hosts.note(&self.names, host.index(), now, |show| window.probes(show));
        if let Some(flow) = flow {
            self.of_flows.note(&self.names, flow.index(), now, |show| window.flow_probes(flow, show));
        }
    }

    /// Whether to probe one more sender of data. Requests are not offered: they would use up the places.
    pub(crate) fn choose(&mut self) -> bool {
        let chosen = !self.names.is_empty() && self.flows > 0;
        self.flows -= usize::from(chosen);
        chosen
    }

    pub(crate) fn record(&mut self, flow: FlowId, now: Time, sender: &Sender, cfg: &SenderConfig) {
        let window = sender.window();
        let common = [
            window.cwnd,
            window.ssthresh,
            sender.in_flight() as f64,
            sender.srtt().map_or(f64::NAN, Time::secs),
            sender.rto(cfg).secs(),
            f64::from(sender.duplicate_acks()),
        ];
        self.of_flows.note(&self.names, flow.index(), now, |show| {
            for (name, value) in COMMON.into_iter().zip(common) {
                show(name, value);
            }
            sender.congestion_control().probes(show);
        });
    }

    /// The table of flows, which every run has, and those of switches and of hosts, if such were probed.
    pub(crate) fn into_tables(self) -> (Table, impl Iterator<Item = Table>) {
        let flows = self.of_flows.table(
            &self.names,
            "probes",
            "State of probed senders, and what receiving hosts know of their flows, one row per change. Windows in bytes, \
             times in seconds.",
            ["connection", "Flow handle of the sender's connection, as in flows."],
        );
        let switches = self.of_switches.table(
            &self.names,
            "switch-probes",
            "State of switches, one row per change.",
            ["switch", "Number of the switch's node."],
        );
        let hosts = self.of_hosts.table(
            &self.names,
            "host-probes",
            "State of receiving hosts, one row per change.",
            ["host", "Number of the host's node, as in flows."],
        );
        (flows, [self.switches.then_some(switches), self.hosts.then_some(hosts)].into_iter().flatten())
    }
}

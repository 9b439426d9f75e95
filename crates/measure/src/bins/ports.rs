//! Backlog and throughput of observed ports in each time bin.

use crate::table::{Column, Data, Table};
use crate::total::Heading;
use fanin_core::units::Rate;

/// One port in one bin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortCell {
    /// Integral of the backlog over time, in packets times picoseconds.
    pub(super) packet_time: u128,
    /// What was sent, as its transmission time in picoseconds at the link's nominal rate.
    pub(super) sent: u64,
}

impl PortCell {
    pub(super) fn add(&mut self, other: Self) {
        self.packet_time += other.packet_time;
        self.sent += other.sent;
    }
    /// Mean backlog over `span` seconds.
    pub(super) fn mean(&self, span: f64) -> f64 {
        self.packet_time as f64 * 1e-12 / span
    }
    fn utilisation(&self, span: f64) -> f64 {
        self.sent as f64 * 1e-12 / span
    }
}

/// An observed port.
#[derive(Clone, Debug)]
pub struct BinnedPort {
    /// Name of its link.
    pub link: String,
    /// Nominal rate of its link.
    pub rate: Rate,
}

/// The table of links per bin, one row per bin and port. `starts` and `spans` are the bins' starts and lengths in
/// seconds.
pub(super) fn table(ports: &[BinnedPort], cells: &[PortCell], starts: &[f64], spans: &[f64]) -> Table {
    let per = |value: &dyn Fn(usize, &PortCell) -> f64| {
        Data::F64(cells.iter().enumerate().map(|(row, cell)| value(row, cell)).collect())
    };
    let count = ports.len();
    let codes = (0..starts.len()).flat_map(|_| 0..count as u32).collect();
    let names = ports.iter().map(|port| port.link.clone()).collect();
    let used = |row: usize, cell: &PortCell| cell.utilisation(spans[row / count]);
    let column = Column::new;
    Table {
        name: "link-bins",
        description: "Load of the link of each observed port in each time bin",
        columns: vec![
            column("time_s", "s", "Start of the bin", per(&|row, _| starts[row / count])).headed(Heading::TIME),
            column("link", "", "From and to", Data::Label { codes, names }),
            column(
                "throughput_bps",
                "bit/s",
                "Bits sent, headers included, divided by the length of the bin",
                per(&|row, cell| used(row, cell) * ports[row % count].rate.bps() as f64),
            )
            .headed(Heading::new("Throughput of the link").more()),
            column("utilisation", "1", "Throughput divided by the nominal rate of the link", per(&used))
                .headed(Heading::new("Utilisation of the link").shown_in("%").more()),
            column(
                "queue_mean_packets",
                "pkt",
                "Time-weighted mean backlog of the port over the bin, packet in transmission included",
                per(&|row, cell| cell.mean(spans[row / count])),
            )
            .headed(super::BACKLOG),
        ],
    }
}

//! Which packet crossed which link when: what an animation of a run needs.

use crate::table::{Column, Data, Table};
use crate::total::Heading;
use fanin_core::ids::LinkId;
use fanin_core::packet::{Flags, Packet};
use fanin_core::units::Time;

/// What a packet is for, as `kind` of the table names it.
const KINDS: [&str; 7] = ["data", "ack", "syn", "syn-ack", "fin", "control", "trimmed"];

/// A packet at the far end of a link.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    at: Time,
    link: LinkId,
    packet: Packet,
}

impl Crossing {
    /// Index in [`KINDS`].
    fn kind(&self) -> u32 {
        let flags = self.packet.flags;
        if self.packet.is_control() {
            return 5;
        }
        if self.packet.is_trimmed() {
            return 6;
        }
        match (flags.has(Flags::SYN), flags.has(Flags::FIN), self.packet.is_ack()) {
            (true, _, false) => 2,
            (true, _, true) => 3,
            (false, true, _) => 4,
            (false, false, true) => 1,
            (false, false, false) => 0,
        }
    }
}

/// A record in progress: a packet is recorded when its last bit has arrived at the far end of a link.
#[derive(Debug, Default)]
pub struct Crossings {
    /// Whether a link is watched.
    links: Vec<bool>,
    left: u64,
    rows: Vec<Crossing>,
}

impl Crossings {
    /// Records packets on the links that are `true`, until there are `limit` rows.
    pub fn new(links: Vec<bool>, limit: u64) -> Self {
        Self { links, left: limit, rows: Vec::new() }
    }

    /// Records a packet that has crossed a link at `at`, if the link is recorded and there is room.
    pub fn record(&mut self, link: LinkId, packet: &Packet, at: Time) {
        if self.left > 0 && self.links[link.index()] {
            self.left -= 1;
            self.rows.push(Crossing { at, link, packet: *packet });
        }
    }

    /// The table; `links` are the names of all links.
    pub fn into_table(self, links: Vec<String>) -> Table {
        let (rows, column) = (&self.rows, Column::new);
        let int = |f: &dyn Fn(&Packet) -> u64| Data::U64(rows.iter().map(|row| f(&row.packet)).collect());
        let flag = |bit: Flags| Data::Bool(rows.iter().map(|row| row.packet.flags.has(bit)).collect());
        let link = Data::Label { codes: rows.iter().map(|row| row.link.index() as u32).collect(), names: links };
        let kinds = KINDS.map(str::to_owned).to_vec();
        let kind = Data::Label { codes: rows.iter().map(Crossing::kind).collect(), names: kinds };
        let seconds = Data::F64(rows.iter().map(|row| row.at.secs()).collect());
        Table {
            name: "crossings",
            description: "Packets that crossed a link, in order of time, the first measure.capture-limit of them.",
            columns: vec![
                column("time_s", "s", "When the last bit arrived at the far end.", seconds).headed(Heading::TIME),
                column("link", "", "From and to.", link),
                column(
                    "connection",
                    "",
                    "Flow handle of the connection, as in flows.",
                    int(&|p| p.flow.index() as u64),
                ),
                column("kind", "", "What the packet is for.", kind),
                column(
                    "seq",
                    "B",
                    "Sequence or acknowledgement number, modulo 2^32; of a control packet, its kind.",
                    int(&|p| u64::from(p.seq)),
                ),
                column("size_bytes", "B", "Size, headers included.", int(&|p| u64::from(p.size)))
                    .headed(Heading::new("Size of the packet")),
                column("priority", "", "Band, 0 the highest.", int(&|p| u64::from(p.priority))),
                column("ce", "", "Whether it is marked: congestion experienced.", flag(Flags::CE)),
                column("ece", "", "Whether it echoes a mark.", flag(Flags::ECE)),
                column("retransmitted", "", "Whether it is a retransmission.", flag(Flags::RETRANSMITTED)),
            ],
        }
    }
}

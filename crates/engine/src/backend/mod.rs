//! Runs whose transfers another system carries: the same scenario, the same traffic, the same tables.
//!
//! The traffic patterns of a scenario decide which transfers start, and when. [`drive`] asks them as the simulator does, and
//! lets a [`Carrier`] open connections and move bytes. Where Linux carries them, the program that drives runs inside the
//! kernel that it drives, and writes down what happens ([`Recorder`]). Outside, the same run is driven once more from that
//! record ([`Playback`]), which gives its [`Outcome`](crate::sim::Outcome).

mod drive;
mod pfdct;
mod rcce;
mod record;
mod sab;
mod sdtcp;
mod site;
#[cfg(test)]
mod tests;

pub use drive::drive;
pub use fanin_network::fault::{Act as FaultAct, Packets};
pub use fanin_network::queue::RedConfig;
pub use fanin_port::spec::Limit;
pub use pfdct::Bands;
pub use record::{BadRecord, Playback, Recorder};
pub use sab::Shares;
pub use sdtcp::{Deed, Extension, Keeping, OpenFlow, Trigger, controller};
pub use site::{Marking, Site, SiteFault, SiteLink, Stack, congestion_control};

use crate::packet::Flags;
use crate::units::Time;
use fanin_core::ids::{GroupId, LinkId, NodeId, TransferId};

/// The port on which hosts listen for the first traffic group; those of the others follow.
pub const LISTENING: u16 = 5001;

/// The address of the node 0; those of the others follow.
pub const FIRST_ADDRESS: u32 = 0x0A00_0001;

/// A connection, numbered in the order of opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number.
    pub number: usize,
    /// Its traffic group.
    pub group: GroupId,
    /// The host that opens it.
    pub client: NodeId,
    /// The host that accepts it.
    pub server: NodeId,
    /// Whether it is closed after its first transfer.
    pub fresh: bool,
}

impl Line {
    /// The lowest port of a client; servers listen on lower ones.
    pub const FIRST_PORT: u16 = 10_000;

    /// The client's port.
    pub fn port(&self) -> u16 {
        Self::FIRST_PORT + (self.number % 50_000) as u16
    }
}

/// Something that a carrier is told to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Open a connection.
    Open(Line),
    /// The client of a connection sends a request of so many bytes.
    Ask(TransferId, usize, u64),
    /// One end of a connection sends the data of a transfer.
    Send {
        /// The transfer.
        transfer: TransferId,
        /// Its connection.
        line: usize,
        /// Its size; none for endless data.
        bytes: Option<u64>,
        /// Whether the client sends them.
        by_client: bool,
        /// When they should have arrived, if they have a deadline.
        deadline: Option<Time>,
    },
    /// Stop the sender of endless data.
    Stop(TransferId),
}

/// What is known of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Payload bytes that have arrived.
    pub delivered: u64,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u32,
    /// How long these timers ran.
    pub timer_wait: Time,
    /// Tail loss probes.
    pub loss_probes: u64,
}

/// What the sender of a connection has in its mind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Congestion window in bytes; zero if there is no connection yet, or no more.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; [`u64::MAX`] before it is set.
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Time,
    /// Retransmission timeout.
    pub rto: Time,
    /// What the window of the newest acknowledgement allows, in bytes.
    pub allowed: u64,
}

/// Something that has happened to a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happening {
    /// When. Later than everything that [`Carrier::wait`] returned before.
    pub at: Time,
    /// The transfer.
    pub transfer: TransferId,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Its request has arrived.
    Asked(State),
    /// All its data have arrived.
    Completed(State),
    /// Its connection could not be opened, or broke.
    Failed(State),
}

/// What happened to a packet at the port of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It entered the queue.
    Queued,
    /// Its last bit has left.
    Sent,
    /// There was no room.
    Dropped,
    /// The port's random early detection dropped it.
    Refused,
    /// A fault has lost it on the link.
    Lost,
    /// It was marked.
    Marked,
    /// It is the first one of its host in a connection.
    Opened,
}

/// A packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub at: Time,
    /// The link of the port.
    pub link: LinkId,
    /// What happened.
    pub fate: Fate,
    /// Bytes on the wire.
    pub size: u16,
    /// The host that sent it.
    pub from: NodeId,
    /// The host that will receive it.
    pub to: NodeId,
    /// The port from which it was sent, and the one to which.
    pub ports: [u16; 2],
    /// TCP's sequence number on the wire.
    pub seq: u32,
    /// TCP's flags.
    pub flags: Flags,
}

/// What is known at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Data segments that hosts received.
    pub segments: u64,
    /// By link, packets and bytes sent.
    pub links: Vec<(u64, u64)>,
    /// Counters of all hosts together, by name.
    pub counters: Vec<(String, u64)>,
}

/// A system that carries transfers.
pub trait Carrier {
    /// Opens connections, which are idle when the run begins at time zero. Returns when that is on the carrier's own clock,
    /// in nanoseconds.
    ///
    /// # Errors
    ///
    /// The carrier cannot go on.
    fn begin(&mut self, lines: &[Line]) -> Result<u64, String>;

    /// Does something now.
    ///
    /// # Errors
    ///
    /// The carrier cannot go on.
    fn act(&mut self, act: Act) -> Result<(), String>;

    /// Waits until something happens, or until `until`. If both are at the same time, the happening comes first.
    ///
    /// # Errors
    ///
    /// The carrier cannot go on.
    fn wait(&mut self, until: Time) -> Result<Option<Happening>, String>;

    /// What is known of these transfers now.
    ///
    /// # Errors
    ///
    /// The carrier cannot go on.
    fn states(&mut self, transfers: &[TransferId]) -> Result<Vec<State>, String>;

    /// The senders of these connections now: of the client, or else of the server.
    ///
    /// # Errors
    ///
    /// The carrier cannot go on.
    fn windows(&mut self, senders: &[(usize, bool)]) -> Result<Vec<Window>, String>;

    /// What happened to packets up to `until`, once, in order; nothing if it is only written down.
    ///
    /// # Errors
    ///
    /// The carrier cannot go on.
    fn packets(&mut self, until: Time) -> Result<Vec<Seen>, String>;

    /// What is known at the end.
    ///
    /// # Errors
    ///
    /// The carrier cannot go on.
    fn end(&mut self) -> Result<Ending, String>;
}

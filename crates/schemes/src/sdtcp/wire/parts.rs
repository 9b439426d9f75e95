//! Packets to and from the controller, statistics requests and ports (sections 7.3.5, 7.3.7 and 7.4.1).

use super::action::{Action, read_actions, write_actions};
use super::bytes::{Reader, align, pad};
use super::matching::Match;
use super::{ANY, Malformed, NO_BUFFER};

/// Number of all tables.
const ALL_TABLES: u8 = 0xFF;
/// Bytes of a port's description.
pub(super) const PORT: usize = 64;

/// Reasons for a `Packet_In`.
pub(crate) mod reason {
    /// An entry sends it to the controller (SYN, FIN).
    pub(crate) const ACTION: u8 = 1;
    /// Congestion: CR is this value; CN-L, CN-M and CN-H are 1, 2 and 3 more.
    pub(crate) const CONGESTION: u8 = 0xF0;
}

/// A `Packet_In`: a packet, or a notification of congestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PacketIn {
    /// Buffer that holds the packet, or [`NO_BUFFER`].
    pub(crate) buffer: u32,
    /// Bytes of the whole frame.
    pub(crate) total: u16,
    /// The reason: see [`reason`].
    pub(crate) reason: u8,
    /// Cookie of the entry that sent it.
    pub(crate) cookie: u64,
    /// Ports and queue.
    pub(crate) about: Match,
    /// Headers of the packet.
    pub(crate) data: Vec<u8>,
}

/// A `Packet_Out`: the decision on a waiting packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PacketOut {
    /// Buffer that holds the packet, or [`NO_BUFFER`] if the packet is in the message.
    pub(crate) buffer: u32,
    /// Its ingress port.
    pub(crate) in_port: u32,
    /// The actions on it.
    pub(crate) actions: Vec<Action>,
    /// The packet, if no buffer holds it.
    pub(crate) data: Vec<u8>,
}

/// A request for the statistics of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowStatsRequest {
    /// The cookie of the entries.
    pub(crate) cookie: u64,
}

/// The description of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortDescription {
    /// Its number.
    pub(crate) port: u32,
    /// Its rate in kbit/s.
    pub(crate) kbps: u32,
}

impl PacketIn {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.buffer.to_be_bytes());
        out.extend(self.total.to_be_bytes());
        out.extend([self.reason, 0]);
        out.extend(self.cookie.to_be_bytes());
        self.about.write(out);
        pad(out, 2);
        out.extend(&self.data);
    }
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (buffer, total, reason) = (reader.u32()?, reader.u16()?, reader.u8()?);
        reader.skip(1)?;
        let (cookie, about) = (reader.u64()?, Match::read(reader)?);
        reader.skip(2)?;
        let data = reader.rest()?;
        Ok(Self { buffer, total, reason, cookie, about, data })
    }
}

impl PacketOut {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.buffer.to_be_bytes());
        out.extend(self.in_port.to_be_bytes());
        let mut actions = Vec::new();
        write_actions(&self.actions, &mut actions);
        out.extend((actions.len() as u16).to_be_bytes());
        pad(out, 6);
        out.extend(actions);
        out.extend(&self.data);
    }
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (buffer, in_port, length) = (reader.u32()?, reader.u32()?, reader.u16()?);
        reader.skip(6)?;
        let actions = read_actions(reader.part(usize::from(length))?)?;
        // Section 7.3.7: what follows is meaningful only without a buffer.
        let data = reader.rest()?;
        if (buffer == NO_BUFFER) == data.is_empty() {
            return Err(Malformed::Length);
        }
        Ok(Self { buffer, in_port, actions, data })
    }
}

impl FlowStatsRequest {
    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.extend([ALL_TABLES, 0, 0, 0]);
        out.extend(ANY.to_be_bytes());
        out.extend(ANY.to_be_bytes());
        pad(out, 4);
        out.extend(self.cookie.to_be_bytes());
        out.extend(u64::MAX.to_be_bytes());
        Match::default().write(out);
    }
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.skip(16)?;
        let (cookie, mask) = (reader.u64()?, reader.u64()?);
        if mask != u64::MAX || Match::read(reader)? != Match::default() {
            return Err(Malformed::Value("choice of entries"));
        }
        Ok(Self { cookie })
    }
}

impl PortDescription {
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(self.port.to_be_bytes());
        pad(out, 4);
        out.extend([2, 1]); // Locally administered hardware address.
        out.extend(self.port.to_be_bytes());
        pad(out, 2);
        out.extend(format!("port{}", self.port).bytes().take(15));
        pad(out, start + PORT - 8 - out.len()); // The rest of the name, then configuration, state and features, which are zero.
        out.extend(self.kbps.to_be_bytes());
        out.extend(self.kbps.to_be_bytes());
        align(out, start);
    }
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut part = reader.part(PORT)?;
        let port = part.u32()?;
        part.skip(PORT - 4 - 8)?;
        Ok(Self { port, kbps: part.u32()? })
    }
}

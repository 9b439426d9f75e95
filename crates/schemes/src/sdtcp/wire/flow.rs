//! Flow entries: modification, counters and removal (sections 7.3.4.1, 7.3.5.2 and 7.4.2).

use super::action::{Action, read_instructions, write_instructions};
use super::bytes::{Reader, align, pad, set_length};
use super::matching::Match;
use super::{ANY, Malformed};
use fanin_core::units::Time;

/// Commands of a `Flow_Mod`.
pub(crate) mod command {
    /// Adds an entry, or replaces the one with the same match and priority.
    pub(crate) const ADD: u8 = 0;
    /// Deletes the entries that the match covers.
    pub(crate) const DELETE: u8 = 3;
    /// Deletes the entry with this match and priority.
    pub(crate) const DELETE_STRICT: u8 = 4;
}

/// Cookies of entries, by purpose.
pub(crate) mod cookie {
    /// Sends SYN, FIN and RST to the controller.
    pub(crate) const CONNECTION: u64 = 1;
    /// Forwards and counts packets in the direction of a connection's SYN: the data, if its sender opens the
    /// connection.
    pub(crate) const DATA: u64 = 2;
    /// Forwards and counts packets in the opposite direction: then the acknowledgements.
    pub(crate) const ACKS: u64 = 3;
    /// Rewrites the window of a flow's acknowledgements.
    pub(crate) const WINDOW: u64 = 4;
}

/// A change of the flow table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowMod {
    /// The purpose of the entry: see [`cookie`].
    pub(crate) cookie: u64,
    /// The command: see [`command`].
    pub(crate) command: u8,
    /// Idle timeout in seconds; 0 for none.
    pub(crate) idle: u16,
    /// Hard timeout in seconds; 0 for none.
    pub(crate) hard: u16,
    /// Of several matching entries, the one with the highest priority applies.
    pub(crate) priority: u16,
    /// Buffer whose packet is sent by the new entry, or [`super::NO_BUFFER`].
    pub(crate) buffer: u32,
    /// Whether the switch reports the removal of the entry.
    pub(crate) tell: bool,
    /// The packets that it matches.
    pub(crate) matching: Match,
    /// The actions on them.
    pub(crate) actions: Vec<Action>,
}

impl FlowMod {
    /// A modification without timeouts and buffer.
    pub(crate) fn new(command: u8, cookie: u64, priority: u16, matching: Match, actions: Vec<Action>) -> Self {
        let buffer = super::NO_BUFFER;
        Self { cookie, command, idle: 0, hard: 0, priority, buffer, tell: false, matching, actions }
    }
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.cookie.to_be_bytes());
        out.extend(0_u64.to_be_bytes()); // cookies are not compared
        out.extend([0, self.command]);
        for word in [self.idle, self.hard, self.priority] {
            out.extend(word.to_be_bytes());
        }
        for word in [self.buffer, ANY, ANY] {
            out.extend(word.to_be_bytes());
        }
        out.extend(u16::from(self.tell).to_be_bytes());
        pad(out, 2);
        self.matching.write(out);
        write_instructions(&self.actions, out);
    }
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let cookie = reader.u64()?;
        reader.skip(9)?;
        let (command, idle, hard, priority) = (reader.u8()?, reader.u16()?, reader.u16()?, reader.u16()?);
        let buffer = reader.u32()?;
        reader.skip(8)?;
        let flags = reader.u16()?;
        reader.skip(2)?;
        let (matching, actions) = (Match::read(reader)?, read_instructions(reader)?);
        Ok(Self { cookie, command, idle, hard, priority, buffer, tell: flags & 1 != 0, matching, actions })
    }
}

/// Counters of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Time since it was added.
    pub(crate) age: Time,
    /// Packets.
    pub(crate) packets: u64,
    /// Bytes of these packets.
    pub(crate) bytes: u64,
}

impl Counters {
    fn write_age(self, out: &mut Vec<u8>) {
        let nanoseconds = self.age.ps() / 1_000;
        out.extend(((nanoseconds / 1_000_000_000) as u32).to_be_bytes());
        out.extend(((nanoseconds % 1_000_000_000) as u32).to_be_bytes());
    }
    fn read_age(reader: &mut Reader<'_>) -> Result<Time, Malformed> {
        let (seconds, nanoseconds) = (reader.u32()?, reader.u32()?);
        // 2^23 seconds are longer than any run, and their picoseconds fit into 64 bits.
        if nanoseconds >= 1_000_000_000 || seconds >= 1 << 23 {
            return Err(Malformed::Value("age of an entry"));
        }
        Ok(Time::from_secs(u64::from(seconds)) + Time::from_ns(u64::from(nanoseconds)))
    }
}

/// One entry of a statistics reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowStats {
    /// The purpose of the entry.
    pub(crate) cookie: u64,
    /// Its priority.
    pub(crate) priority: u16,
    /// Its counters.
    pub(crate) counters: Counters,
    /// The packets that it matches.
    pub(crate) matching: Match,
}

impl FlowStats {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        pad(out, 4); // length, table 0
        self.counters.write_age(out);
        out.extend(self.priority.to_be_bytes());
        pad(out, 10); // Timeouts and flags: zero.
        out.extend(self.cookie.to_be_bytes());
        out.extend(self.counters.packets.to_be_bytes());
        out.extend(self.counters.bytes.to_be_bytes());
        self.matching.write(out);
        align(out, start);
        set_length(out, start, start);
    }
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let length = usize::from(reader.u16()?);
        let mut entry = reader.part(length.checked_sub(2).ok_or(Malformed::Length)?)?;
        entry.skip(2)?;
        let (age, priority) = (Counters::read_age(&mut entry)?, entry.u16()?);
        entry.skip(10)?;
        let (cookie, packets, bytes) = (entry.u64()?, entry.u64()?, entry.u64()?);
        // The entry's instructions follow, which switches may report.
        let matching = Match::read(&mut entry)?;
        Ok(Self { cookie, priority, counters: Counters { age, packets, bytes }, matching })
    }
}

/// The removal of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowRemoved {
    /// The purpose of the entry.
    pub(crate) cookie: u64,
    /// Its priority.
    pub(crate) priority: u16,
    /// Its last counters.
    pub(crate) counters: Counters,
    /// The packets that it matched.
    pub(crate) matching: Match,
}

impl FlowRemoved {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.cookie.to_be_bytes());
        out.extend(self.priority.to_be_bytes());
        pad(out, 2); // reason: idle timeout; table 0
        self.counters.write_age(out);
        pad(out, 4);
        out.extend(self.counters.packets.to_be_bytes());
        out.extend(self.counters.bytes.to_be_bytes());
        self.matching.write(out);
    }
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (cookie, priority) = (reader.u64()?, reader.u16()?);
        reader.skip(2)?;
        let age = Counters::read_age(reader)?;
        reader.skip(4)?;
        let (packets, bytes) = (reader.u64()?, reader.u64()?);
        let matching = Match::read(reader)?;
        Ok(Self { cookie, priority, counters: Counters { age, packets, bytes }, matching })
    }
}

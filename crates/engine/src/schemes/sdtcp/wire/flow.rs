//! Flow entries: what changes them, what they count, how they end (sections 7.3.4.1, 7.3.5.2 and 7.4.2).

use super::action::{Action, read_instructions, write_instructions};
use super::bytes::{Reader, align, pad, set_length};
use super::matching::Match;
use super::{ANY, Malformed};
use crate::units::Time;

/// What a `Flow_Mod` does.
pub(crate) mod command {
    /// Adds an entry, or replaces the one with the same match and priority.
    pub(crate) const ADD: u8 = 0;
    /// Deletes what the match covers.
    pub(crate) const DELETE: u8 = 3;
    /// Deletes the entry with this match and priority.
    pub(crate) const DELETE_STRICT: u8 = 4;
}

/// What the entries of a switch are for.
pub(crate) mod cookie {
    /// Sends SYN, FIN and RST to the controller.
    pub(crate) const CONNECTION: u64 = 1;
    /// Carries and counts what goes in the direction of a connection's SYN: the data, if the sender opens it.
    pub(crate) const DATA: u64 = 2;
    /// Carries and counts what goes against it: then the acknowledgements.
    pub(crate) const ACKS: u64 = 3;
    /// Rewrites the window of a flow's acknowledgements.
    pub(crate) const WINDOW: u64 = 4;
}

/// A change of the flow table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowMod {
    /// What the entry is for: see [`cookie`].
    pub(crate) cookie: u64,
    /// What to do: see [`command`].
    pub(crate) command: u8,
    /// Seconds without a packet after which the entry goes; 0 for never.
    pub(crate) idle: u16,
    /// Seconds after which it goes; 0 for never.
    pub(crate) hard: u16,
    /// Which of several matching entries counts: the highest.
    pub(crate) priority: u16,
    /// Buffer whose packet the new entry takes, or [`super::NO_BUFFER`].
    pub(crate) buffer: u32,
    /// Whether the switch tells when the entry goes.
    pub(crate) tell: bool,
    /// Which packets.
    pub(crate) matching: Match,
    /// What becomes of them.
    pub(crate) actions: Vec<Action>,
}

impl FlowMod {
    /// A change without timeouts and buffer.
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

/// What an entry has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// For how long it has been there.
    pub(crate) age: Time,
    /// Packets.
    pub(crate) packets: u64,
    /// Bytes on the wire.
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
        // 2^23 seconds are more than any run has, and fit into picoseconds.
        if nanoseconds >= 1_000_000_000 || seconds >= 1 << 23 {
            return Err(Malformed::Value("age of an entry"));
        }
        Ok(Time::from_secs(u64::from(seconds)) + Time::from_ns(u64::from(nanoseconds)))
    }
}

/// One entry of a statistics reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowStats {
    /// What the entry is for.
    pub(crate) cookie: u64,
    /// Its priority.
    pub(crate) priority: u16,
    /// What it has carried.
    pub(crate) counters: Counters,
    /// Which packets.
    pub(crate) matching: Match,
}

impl FlowStats {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        pad(out, 4); // length, table 0
        self.counters.write_age(out);
        out.extend(self.priority.to_be_bytes());
        pad(out, 10); // timeouts and flags: not asked for
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
        let matching = Match::read(&mut entry)?;
        if entry.left() > 0 {
            return Err(Malformed::Length);
        }
        Ok(Self { cookie, priority, counters: Counters { age, packets, bytes }, matching })
    }
}

/// The end of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowRemoved {
    /// What the entry was for.
    pub(crate) cookie: u64,
    /// Its priority.
    pub(crate) priority: u16,
    /// What it had carried.
    pub(crate) counters: Counters,
    /// Which packets.
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

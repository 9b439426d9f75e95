//! The flow table of a switch: two entries per flow, for data and for acknowledgements, and one that limits windows.
//!
//! Packets find their flow's entries by its handle; messages name it by addresses and ports, which are looked up.

use super::wire::{Action, Counters, FlowMod, FlowStats, Match, TcpFlags, command, cookie};
use crate::ids::FlowId;
use crate::packet::{Addresses, Flags, Packet};
use crate::units::Time;
use std::collections::BTreeMap;

/// An entry's priority. That of SYN and FIN, which the switch is configured with, is above both (section 3.5).
pub(crate) mod priority {
    pub(crate) const WINDOW: u16 = 20_000;
    pub(crate) const FLOW: u16 = 10_000;
}

/// What an entry that limits windows matches of the flags: an acknowledgement that is no SYN.
pub(crate) const ACK_NOT_SYN: TcpFlags =
    TcpFlags { value: Flags::ACK.tcp_byte() as u16, mask: Flags::ACK.with(Flags::SYN).tcp_byte() as u16 };

/// How the window that a rule sets becomes a window field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// By the shift that the receiver announced in its SYN-ACK.
    Learned,
    /// Not at all, as a switch does that knows no connections.
    Ignored,
}

/// One entry with its counters.
#[derive(Clone, Copy, Debug)]
struct Entry {
    since: Time,
    packets: u64,
    bytes: u64,
    last: Time,
    idle: Time,
}

/// What the table holds of one flow.
#[derive(Clone, Copy, Debug)]
struct Row {
    addresses: Addresses,
    data: Option<Entry>,
    acks: Option<Entry>,
    /// Window in bytes, if an entry limits it, and the number of that entry.
    limit: Option<(u32, u32)>,
    /// The same as a window field; the greatest possible if there is none.
    field: u16,
    /// Shift of the receiver's windows, once seen.
    scale: Option<u8>,
}

impl Row {
    fn new(addresses: Addresses) -> Self {
        Self { addresses, data: None, acks: None, limit: None, field: u16::MAX, scale: None }
    }

    fn has_entries(&self) -> bool {
        self.data.is_some() || self.acks.is_some() || self.limit.is_some()
    }

    /// READING: S13 the field is in units that only the handshake tells. It is rounded up: cut by a few bytes, a
    /// window of one segment would let none through.
    fn set_field(&mut self, scaling: Scaling) {
        let field = |shift: u8| self.limit.map_or(u32::MAX, |(bytes, _)| bytes.div_ceil(1 << shift));
        let field = match (scaling, self.scale) {
            (Scaling::Ignored, _) => field(0),
            (Scaling::Learned, Some(shift)) => field(shift.min(14)),
            // Who did not see the handshake cannot know what the field means.
            (Scaling::Learned, None) => u32::MAX,
        };
        self.field = u16::try_from(field).unwrap_or(u16::MAX);
    }
}

/// An entry that is to be looked at again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// A flow's data entry may have been idle for too long.
    Idle(FlowId, Time),
    /// A limit's time is over, if it still has this number.
    Hard(FlowId, u32, Time),
}

/// The flow table of one switch.
#[derive(Debug)]
pub(crate) struct FlowTable {
    scaling: Scaling,
    /// By flow.
    rows: Vec<Option<Row>>,
    handles: BTreeMap<Addresses, FlowId>,
    limits: u32,
    /// Number of the next limit.
    next: u32,
}

impl FlowTable {
    pub(crate) fn new(scaling: Scaling) -> Self {
        Self { scaling, rows: Vec::new(), handles: BTreeMap::new(), limits: 0, next: 0 }
    }

    /// Entries that limit windows.
    pub(crate) fn limits(&self) -> u32 {
        self.limits
    }

    /// Which entries a flow has: for data, for acknowledgements, for their windows.
    #[cfg(test)]
    pub(crate) fn entries(&self, flow: FlowId) -> [bool; 3] {
        let row = self.rows[flow.index()].as_ref();
        row.map_or([false; 3], |row| [row.data.is_some(), row.acks.is_some(), row.limit.is_some()])
    }

    /// Data or an acknowledgement passes. Whether its window was cut.
    #[inline]
    pub(crate) fn pass(&mut self, packet: &mut Packet, now: Time) -> bool {
        // Table miss: it goes the way of the switch's normal pipeline, uncounted.
        let Some(Some(row)) = self.rows.get_mut(packet.flow.index()) else { return false };
        let entry = if packet.is_ack() { &mut row.acks } else { &mut row.data };
        if let Some(entry) = entry {
            entry.packets += 1;
            entry.bytes += u64::from(packet.size);
            entry.last = now;
        }
        // Eq. 9: never above what the receiver says.
        // READING: S8 for burst flows too, whose windows Eq. 8 sets.
        if !packet.is_ack() || packet.window <= row.field || packet.flags.has(Flags::SYN) {
            return false;
        }
        packet.window = row.field;
        true
    }

    /// A packet of a handshake or of a connection's end comes by: the table learns the flow's name, and the scale.
    pub(crate) fn learn(&mut self, packet: &Packet, addresses: Addresses) {
        let index = packet.flow.index();
        if self.rows.len() <= index {
            self.rows.resize(index + 1, None);
        }
        // A FIN or RST opens nothing: its entries are there, or gone already.
        if !packet.flags.has(Flags::SYN) {
            return;
        }
        let row = self.rows[index].get_or_insert_with(|| Row::new(addresses));
        self.handles.insert(addresses, packet.flow);
        if packet.is_ack() {
            row.scale = Some(packet.flags.window_scale());
            row.set_field(self.scaling);
        }
    }

    /// The flow of a match, and whether that names its acknowledgements.
    fn find(&self, matching: &Match) -> Option<(FlowId, bool)> {
        let connection = matching.connection?;
        let acks = self.handles.get(&connection.reversed()).map(|flow| (*flow, true));
        self.handles.get(&connection).map(|flow| (*flow, false)).or(acks)
    }

    /// Obeys a `Flow_Mod`. Returns when to look at the new entry again, if it may expire.
    pub(crate) fn change(&mut self, change: &FlowMod, now: Time) -> Option<Expiry> {
        let (flow, acks) = self.find(&change.matching)?;
        match (change.command, change.cookie) {
            (command::ADD, cookie::WINDOW) => return self.limit(flow, change, now),
            (command::ADD, _) => return self.add(flow, acks, change, now),
            (command::DELETE_STRICT, _) => {
                // The very match and priority (section 6.4).
                if acks && change.priority == priority::WINDOW && change.matching.tcp_flags.is_some() {
                    self.unlimit(flow);
                } else if change.priority == priority::FLOW && change.matching.tcp_flags.is_none() {
                    self.remove(flow, acks);
                }
            }
            (command::DELETE, _) => {
                // Whatever the match covers, of any priority: one without flags covers those with flags.
                if acks {
                    self.unlimit(flow);
                }
                if change.matching.tcp_flags.is_none() {
                    self.remove(flow, acks);
                }
            }
            _ => {}
        }
        self.forget(flow);
        None
    }

    fn add(&mut self, flow: FlowId, acks: bool, change: &FlowMod, now: Time) -> Option<Expiry> {
        let row = self.rows[flow.index()].as_mut()?;
        let idle = Time::from_secs(u64::from(change.idle));
        // An entry with the same match and priority is replaced, and its counters begin anew (section 6.4).
        let entry = Some(Entry { since: now, packets: 0, bytes: 0, last: now, idle });
        if acks {
            row.acks = entry;
            return None;
        }
        row.data = entry;
        (idle > Time::ZERO).then_some(Expiry::Idle(flow, now + idle))
    }

    fn limit(&mut self, flow: FlowId, change: &FlowMod, now: Time) -> Option<Expiry> {
        let bytes = change.actions.iter().find_map(|action| match action {
            Action::LimitWindow(bytes) => Some(*bytes),
            Action::Output(_) => None,
        })?;
        let row = self.rows[flow.index()].as_mut()?;
        self.limits += u32::from(row.limit.is_none());
        self.next += 1;
        row.limit = Some((bytes, self.next));
        row.set_field(self.scaling);
        let hard = Time::from_secs(u64::from(change.hard));
        (hard > Time::ZERO).then_some(Expiry::Hard(flow, self.next, now + hard))
    }

    fn unlimit(&mut self, flow: FlowId) {
        if let Some(row) = &mut self.rows[flow.index()] {
            self.limits -= u32::from(row.limit.take().is_some());
            row.set_field(self.scaling);
        }
    }

    /// One of the two entries that carry a flow goes; what is still on the way passes as a table miss.
    fn remove(&mut self, flow: FlowId, acks: bool) {
        if let Some(row) = &mut self.rows[flow.index()] {
            *(if acks { &mut row.acks } else { &mut row.data }) = None;
        }
    }

    /// Forgets what the handshake has shown of a flow once it has no entry left.
    fn forget(&mut self, flow: FlowId) {
        let left = self.rows[flow.index()].as_ref().is_some_and(Row::has_entries);
        if let Some(row) = self.rows[flow.index()].take_if(|_| !left) {
            self.handles.remove(&row.addresses);
        }
    }

    /// Looks at an entry that may have expired. Returns its last counters if a data entry goes, or when to look again.
    pub(crate) fn expire(&mut self, expiry: Expiry, now: Time) -> Result<Option<FlowStats>, Expiry> {
        match expiry {
            Expiry::Hard(flow, number, _) => {
                if self.rows[flow.index()].is_some_and(|row| row.limit.is_some_and(|limit| limit.1 == number)) {
                    self.unlimit(flow);
                    self.forget(flow);
                }
                Ok(None)
            }
            Expiry::Idle(flow, _) => {
                let Some(row) = self.rows[flow.index()] else { return Ok(None) };
                let Some(entry) = row.data.filter(|entry| entry.idle > Time::ZERO) else { return Ok(None) };
                if entry.last + entry.idle > now {
                    return Err(Expiry::Idle(flow, entry.last + entry.idle));
                }
                let stats = stats(&row, &entry, now);
                self.remove(flow, false);
                self.forget(flow);
                Ok(Some(stats))
            }
        }
    }

    /// What the data entries have carried.
    pub(crate) fn stats(&self, now: Time) -> Vec<FlowStats> {
        let rows = self.rows.iter().flatten();
        rows.filter_map(|row| row.data.as_ref().map(|entry| stats(row, entry, now))).collect()
    }
}

fn stats(row: &Row, entry: &Entry, now: Time) -> FlowStats {
    FlowStats {
        cookie: cookie::DATA,
        priority: priority::FLOW,
        counters: Counters { age: now - entry.since, packets: entry.packets, bytes: entry.bytes },
        matching: Match { connection: Some(row.addresses), ..Match::default() },
    }
}

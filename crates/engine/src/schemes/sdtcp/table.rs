//! The flow table of a switch: an entry for each direction of a connection, and one for each that limits windows.
//!
//! Packets find their connection's entries by their flow's handle; messages name it by addresses and ports, which are
//! looked up.

use super::wire::{Action, Counters, FlowMod, FlowStats, Match, TcpFlags, command, cookie};
use crate::ids::FlowId;
use crate::packet::{Addresses, Flags, Packet};
use crate::roles::AddressBook;
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

/// What the table holds of one direction of a connection.
#[derive(Clone, Copy, Debug)]
struct Way {
    entry: Option<Entry>,
    /// Window in bytes to which an entry limits the acknowledgements of this direction, and the number of that entry.
    limit: Option<(u32, u32)>,
    /// The same as a window field; the greatest possible if there is none.
    field: u16,
    /// Shift of the windows that are advertised in this direction, once seen.
    scale: Option<u8>,
}

impl Way {
    const NEW: Self = Self { entry: None, limit: None, field: u16::MAX, scale: None };

    /// READING: S13 the field is in units that only the handshake tells. It is rounded up: cut by a few bytes, a
    /// window of one segment would let none through.
    fn set_field(&mut self, scaling: Scaling) {
        let field = |shift: u8| self.limit.map_or(u32::MAX, |(bytes, _)| bytes.div_ceil(1 << shift));
        let field = match (scaling, self.scale) {
            (Scaling::Ignored, _) => field(0),
            (Scaling::Learned, Some(shift)) => field(shift.min(14)),
            // A switch that did not see the handshake cannot know what the field means.
            (Scaling::Learned, None) => u32::MAX,
        };
        self.field = u16::try_from(field).unwrap_or(u16::MAX);
    }
}

/// What the table holds of one connection.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// In the direction of the SYN.
    addresses: Addresses,
    /// The SYN's direction, and that of the SYN-ACK.
    ways: [Way; 2],
}

impl Row {
    fn has_entries(&self) -> bool {
        self.ways.iter().any(|way| way.entry.is_some() || way.limit.is_some())
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
        let Some(Row { ways: [forth, back], .. }) = &self.rows[flow.index()] else { return [false; 3] };
        [forth.entry.is_some(), back.entry.is_some(), forth.limit.or(back.limit).is_some()]
    }

    /// Data or an acknowledgement passes. Whether its window was cut.
    #[inline]
    pub(crate) fn pass(&mut self, packet: &mut Packet, book: &dyn AddressBook, now: Time) -> bool {
        // Table miss: it goes the way of the switch's normal pipeline, uncounted.
        let Some(way) = self.way(packet, book) else { return false };
        if let Some(entry) = &mut way.entry {
            entry.packets += 1;
            entry.bytes += u64::from(packet.size);
            entry.last = now;
        }
        // Eq. 9: never above what the receiver says.
        // READING: S8 for burst flows too, whose windows Eq. 8 sets.
        if !packet.is_ack() || packet.window <= way.field || packet.flags.has(Flags::SYN) {
            return false;
        }
        packet.window = way.field;
        true
    }

    /// The direction of a connection in which a packet goes, if the table knows the connection.
    #[inline]
    fn way(&mut self, packet: &Packet, book: &dyn AddressBook) -> Option<&mut Way> {
        let (flow, back) = match self.rows.get(packet.flow.index()) {
            Some(Some(_)) => (packet.flow, packet.is_ack()),
            // The answer to a request uses the connection that the request has opened.
            _ => (book.asked_on(packet.flow)?, !packet.is_ack()),
        };
        let row = self.rows.get_mut(flow.index())?.as_mut()?;
        Some(&mut row.ways[usize::from(back)])
    }

    /// A packet of a handshake or of a connection's end comes by: the table learns the connection's name, and the scales.
    pub(crate) fn learn(&mut self, packet: &Packet, addresses: Addresses) {
        let index = packet.flow.index();
        if self.rows.len() <= index {
            self.rows.resize(index + 1, None);
        }
        // A FIN or RST opens nothing: its entries are there, or gone already.
        if !packet.flags.has(Flags::SYN) {
            return;
        }
        let row = self.rows[index].get_or_insert(Row { addresses, ways: [Way::NEW; 2] });
        self.handles.insert(addresses, packet.flow);
        let way = &mut row.ways[usize::from(packet.is_ack())];
        way.scale = Some(packet.flags.window_scale());
        way.set_field(self.scaling);
    }

    /// The flow whose handshake opened the connection of a match, and whether the match is of the other direction.
    fn find(&self, matching: &Match) -> Option<(FlowId, bool)> {
        let connection = matching.connection?;
        let back = self.handles.get(&connection.reversed()).map(|flow| (*flow, true));
        self.handles.get(&connection).map(|flow| (*flow, false)).or(back)
    }

    /// Obeys a `Flow_Mod`. Returns when to look at the new entry again, if it may expire.
    pub(crate) fn change(&mut self, change: &FlowMod, now: Time) -> Option<Expiry> {
        let (flow, back) = self.find(&change.matching)?;
        let way = &mut self.rows[flow.index()].as_mut()?.ways[usize::from(back)];
        let (flags, limited) = (change.matching.tcp_flags.is_some(), way.limit.is_some());
        match (change.command, change.cookie) {
            (command::ADD, cookie::WINDOW) => return self.limit((flow, back), change, now),
            (command::ADD, _) => {
                let idle = Time::from_secs(u64::from(change.idle));
                // An entry with the same match and priority is replaced, and its counters begin anew (section 6.4).
                way.entry = Some(Entry { since: now, packets: 0, bytes: 0, last: now, idle });
                return (idle > Time::ZERO).then_some(Expiry::Idle(flow, now + idle));
            }
            (command::DELETE_STRICT, _) => {
                // The very match and priority (section 6.4).
                way.limit = way.limit.filter(|_| !(change.priority == priority::WINDOW && flags));
                way.entry = way.entry.filter(|_| change.priority != priority::FLOW || flags);
            }
            (command::DELETE, _) => {
                // Whatever the match covers, of any priority: one without flags covers those with flags. What is still
                // on the way passes as a table miss.
                way.limit = None;
                way.entry = way.entry.filter(|_| flags);
            }
            _ => {}
        }
        self.limits -= u32::from(limited && way.limit.is_none());
        way.set_field(self.scaling);
        self.forget(flow);
        None
    }

    fn limit(&mut self, (flow, back): (FlowId, bool), change: &FlowMod, now: Time) -> Option<Expiry> {
        let bytes = change.actions.iter().find_map(|action| match action {
            Action::LimitWindow(bytes) => Some(*bytes),
            Action::Output(_) => None,
        })?;
        let way = &mut self.rows[flow.index()].as_mut()?.ways[usize::from(back)];
        self.limits += u32::from(way.limit.is_none());
        self.next += 1;
        way.limit = Some((bytes, self.next));
        way.set_field(self.scaling);
        let hard = Time::from_secs(u64::from(change.hard));
        (hard > Time::ZERO).then_some(Expiry::Hard(flow, self.next, now + hard))
    }

    /// Forgets what the handshake has shown of a flow once it has no entry left.
    fn forget(&mut self, flow: FlowId) {
        let left = self.rows[flow.index()].as_ref().is_some_and(Row::has_entries);
        if let Some(row) = self.rows[flow.index()].take_if(|_| !left) {
            self.handles.remove(&row.addresses);
        }
    }

    /// Looks at an entry that may have expired. Returns its last counters if it counts a flow and goes, or when to look
    /// again.
    pub(crate) fn expire(&mut self, expiry: Expiry, now: Time) -> Result<Option<FlowStats>, Expiry> {
        let (Expiry::Hard(flow, ..) | Expiry::Idle(flow, _)) = expiry;
        let Some(row) = &mut self.rows[flow.index()] else { return Ok(None) };
        let mut gone = None;
        match expiry {
            Expiry::Hard(_, number, _) => {
                for way in row.ways.iter_mut().filter(|way| way.limit.is_some_and(|limit| limit.1 == number)) {
                    way.limit = None;
                    way.set_field(self.scaling);
                    self.limits -= 1;
                }
            }
            Expiry::Idle(..) => {
                let Some(entry) = row.ways[0].entry.filter(|entry| entry.idle > Time::ZERO) else { return Ok(None) };
                if entry.last + entry.idle > now {
                    return Err(Expiry::Idle(flow, entry.last + entry.idle));
                }
                gone = stats(row, cookie::DATA, now);
                row.ways[0].entry = None;
            }
        }
        self.forget(flow);
        Ok(gone)
    }

    /// What the entries with this cookie have carried.
    pub(crate) fn stats(&self, cookie: u64, now: Time) -> Vec<FlowStats> {
        self.rows.iter().flatten().filter_map(|row| stats(row, cookie, now)).collect()
    }
}

fn stats(row: &Row, cookie: u64, now: Time) -> Option<FlowStats> {
    let (way, connection) = match cookie {
        cookie::DATA => (&row.ways[0], row.addresses),
        cookie::ACKS => (&row.ways[1], row.addresses.reversed()),
        _ => return None,
    };
    let entry = way.entry.as_ref()?;
    Some(FlowStats {
        cookie,
        priority: priority::FLOW,
        counters: Counters { age: now - entry.since, packets: entry.packets, bytes: entry.bytes },
        matching: Match { connection: Some(connection), ..Match::default() },
    })
}

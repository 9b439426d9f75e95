//! The flow table of a switch: for each direction of a connection an entry that forwards, and possibly one that limits
//! windows.
//!
//! Packets find the entries by the handle of their flow, messages by addresses and ports.

use super::wire::{Action, Counters, FlowMod, FlowStats, Match, TcpFlags, command, cookie};
use fanin_core::ids::FlowId;
use fanin_core::packet::{Addresses, Flags, Packet};
use fanin_core::roles::AddressBook;
use fanin_core::units::Time;
use std::collections::BTreeMap;

/// Priorities of entries. The preconfigured entries for SYN and FIN have a higher one (section 3.5).
pub(crate) mod priority {
    pub(crate) const WINDOW: u16 = 20_000;
    pub(crate) const FLOW: u16 = 10_000;
}

/// The flags that an entry that limits windows matches: ACK without SYN.
pub(crate) const ACK_NOT_SYN: TcpFlags =
    TcpFlags { value: Flags::ACK.tcp_byte() as u16, mask: Flags::ACK.with(Flags::SYN).tcp_byte() as u16 };

/// How a window limit is converted to a window field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// By the window scale in the receiver's SYN-ACK.
    Learned,
    /// Without a scale, as in a switch that does not track connections.
    Ignored,
}

/// An entry with its counters.
#[derive(Clone, Copy, Debug)]
struct Entry {
    since: Time,
    packets: u64,
    bytes: u64,
    last: Time,
    idle: Time,
}

/// The entries of one direction of a connection.
#[derive(Clone, Copy, Debug)]
struct Direction {
    entry: Option<Entry>,
    /// The window limit of acknowledgements in this direction in bytes, and the number of its entry.
    limit: Option<(u32, u32)>,
    /// The limit as a window field; the maximum if there is none.
    field: u16,
    /// Window scale of this direction, if its SYN or SYN-ACK was seen.
    scale: Option<u8>,
}

impl Direction {
    const NEW: Self = Self { entry: None, limit: None, field: u16::MAX, scale: None };

    /// READING: S13 only the handshake shows the unit of the field. It is rounded up, because a window slightly below a
    /// segment would admit none.
    fn set_field(&mut self, scaling: Scaling) {
        let field = |shift: u8| self.limit.map_or(u32::MAX, |(bytes, _)| bytes.div_ceil(1 << shift));
        let field = match (scaling, self.scale) {
            (Scaling::Ignored, _) => field(0),
            (Scaling::Learned, Some(shift)) => field(shift.min(14)),
            // A switch that did not see the handshake does not know the scale.
            (Scaling::Learned, None) => u32::MAX,
        };
        self.field = u16::try_from(field).unwrap_or(u16::MAX);
    }
}

/// The entries of a connection.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Addresses in the direction of the SYN.
    addresses: Addresses,
    /// The directions of the SYN and of the SYN-ACK.
    directions: [Direction; 2],
}

impl Row {
    fn has_entries(&self) -> bool {
        self.directions.iter().any(|direction| direction.entry.is_some() || direction.limit.is_some())
    }
}

/// An entry to check later for a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The idle timeout of a flow's data entry.
    Idle(FlowId, Time),
    /// The hard timeout of a window limit, if it still has this number.
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

    /// Number of entries that limit windows.
    pub(crate) fn limits(&self) -> u32 {
        self.limits
    }

    /// Whether a flow has entries for data, for acknowledgements and for window limits.
    #[cfg(test)]
    pub(crate) fn entries(&self, flow: FlowId) -> [bool; 3] {
        let Some(Row { directions: [forth, back], .. }) = &self.rows[flow.index()] else { return [false; 3] };
        [forth.entry.is_some(), back.entry.is_some(), forth.limit.or(back.limit).is_some()]
    }

    /// Data or an acknowledgement passes. Returns whether its window was reduced.
    #[inline]
    pub(crate) fn pass(&mut self, packet: &mut Packet, book: &dyn AddressBook, now: Time) -> bool {
        // A table miss: it takes the switch's normal pipeline, uncounted.
        let Some(direction) = self.direction(packet, book) else { return false };
        if let Some(entry) = &mut direction.entry {
            entry.packets += 1;
            entry.bytes += u64::from(packet.size);
            entry.last = now;
        }
        // Eq. 9: never above the receiver's own window.
        // READING: S8 also for burst flows, whose windows are those of Eq. 8.
        if !packet.is_ack() || packet.window <= direction.field || packet.flags.has(Flags::SYN) {
            return false;
        }
        packet.window = direction.field;
        true
    }

    /// The direction of a packet in its connection, if the table has the connection.
    #[inline]
    fn direction(&mut self, packet: &Packet, book: &dyn AddressBook) -> Option<&mut Direction> {
        let (flow, back) = match self.rows.get(packet.flow.index()) {
            Some(Some(_)) => (packet.flow, packet.is_ack()),
            // A response uses the connection that its request has opened.
            _ => (book.asked_on(packet.flow)?, !packet.is_ack()),
        };
        let row = self.rows.get_mut(flow.index())?.as_mut()?;
        Some(&mut row.directions[usize::from(back)])
    }

    /// A packet that opens or ends a connection passes. The table learns addresses and window scales from it.
    pub(crate) fn learn(&mut self, packet: &Packet, addresses: Addresses) {
        let index = packet.flow.index();
        if self.rows.len() <= index {
            self.rows.resize(index + 1, None);
        }
        // A FIN or RST opens nothing; its entries exist or have been removed.
        if !packet.flags.has(Flags::SYN) {
            return;
        }
        let row = self.rows[index].get_or_insert(Row { addresses, directions: [Direction::NEW; 2] });
        self.handles.insert(addresses, packet.flow);
        let direction = &mut row.directions[usize::from(packet.is_ack())];
        direction.scale = Some(packet.flags.window_scale());
        direction.set_field(self.scaling);
    }

    /// The flow whose handshake opened the connection of a match, and whether the match is for the opposite direction.
    fn find(&self, matching: &Match) -> Option<(FlowId, bool)> {
        let connection = matching.connection?;
        let back = self.handles.get(&connection.reversed()).map(|flow| (*flow, true));
        self.handles.get(&connection).map(|flow| (*flow, false)).or(back)
    }

    /// Applies a `Flow_Mod`. Returns when to check the new entry, if it has a timeout.
    pub(crate) fn change(&mut self, change: &FlowMod, now: Time) -> Option<Expiry> {
        let (flow, back) = self.find(&change.matching)?;
        let direction = &mut self.rows[flow.index()].as_mut()?.directions[usize::from(back)];
        let (flags, limited) = (change.matching.tcp_flags.is_some(), direction.limit.is_some());
        match (change.command, change.cookie) {
            (command::ADD, cookie::WINDOW) => return self.limit((flow, back), change, now),
            (command::ADD, _) => {
                let idle = Time::from_secs(u64::from(change.idle));
                // An entry with the same match and priority is replaced, and its counters begin anew (section 6.4).
                direction.entry = Some(Entry { since: now, packets: 0, bytes: 0, last: now, idle });
                return (idle > Time::ZERO).then_some(Expiry::Idle(flow, now + idle));
            }
            (command::DELETE_STRICT, _) => {
                // Exactly this match and priority (section 6.4).
                direction.limit = direction.limit.filter(|_| !(change.priority == priority::WINDOW && flags));
                direction.entry = direction.entry.filter(|_| change.priority != priority::FLOW || flags);
            }
            (command::DELETE, _) => {
                // Everything that the match covers, at any priority: a match without flags covers those with flags.
                // Later packets are table misses.
                direction.limit = None;
                direction.entry = direction.entry.filter(|_| flags);
            }
            _ => {}
        }
        self.limits -= u32::from(limited && direction.limit.is_none());
        direction.set_field(self.scaling);
        self.forget(flow);
        None
    }

    fn limit(&mut self, (flow, back): (FlowId, bool), change: &FlowMod, now: Time) -> Option<Expiry> {
        let bytes = change.actions.iter().find_map(|action| match action {
            Action::LimitWindow(bytes) => Some(*bytes),
            Action::Output(_) => None,
        })?;
        let direction = &mut self.rows[flow.index()].as_mut()?.directions[usize::from(back)];
        self.limits += u32::from(direction.limit.is_none());
        self.next += 1;
        direction.limit = Some((bytes, self.next));
        direction.set_field(self.scaling);
        let hard = Time::from_secs(u64::from(change.hard));
        (hard > Time::ZERO).then_some(Expiry::Hard(flow, self.next, now + hard))
    }

    /// Removes a flow's row once it has no entry left.
    fn forget(&mut self, flow: FlowId) {
        let left = self.rows[flow.index()].as_ref().is_some_and(Row::has_entries);
        if let Some(row) = self.rows[flow.index()].take_if(|_| !left) {
            self.handles.remove(&row.addresses);
        }
    }

    /// Checks an entry for its timeout. Returns the last counters of a removed data entry, or as an error when to check
    /// again.
    pub(crate) fn expire(&mut self, expiry: Expiry, now: Time) -> Result<Option<FlowStats>, Expiry> {
        let (Expiry::Hard(flow, ..) | Expiry::Idle(flow, _)) = expiry;
        let Some(row) = &mut self.rows[flow.index()] else { return Ok(None) };
        let mut gone = None;
        match expiry {
            Expiry::Hard(_, number, _) => {
                for direction in
                    row.directions.iter_mut().filter(|direction| direction.limit.is_some_and(|limit| limit.1 == number))
                {
                    direction.limit = None;
                    direction.set_field(self.scaling);
                    self.limits -= 1;
                }
            }
            Expiry::Idle(..) => {
                let Some(entry) = row.directions[0].entry.filter(|entry| entry.idle > Time::ZERO) else {
                    return Ok(None);
                };
                if entry.last + entry.idle > now {
                    return Err(Expiry::Idle(flow, entry.last + entry.idle));
                }
                gone = stats(row, cookie::DATA, now);
                row.directions[0].entry = None;
            }
        }
        self.forget(flow);
        Ok(gone)
    }

    /// Statistics of the entries with this cookie.
    pub(crate) fn stats(&self, cookie: u64, now: Time) -> Vec<FlowStats> {
        self.rows.iter().flatten().filter_map(|row| stats(row, cookie, now)).collect()
    }
}

fn stats(row: &Row, cookie: u64, now: Time) -> Option<FlowStats> {
    let (direction, connection) = match cookie {
        cookie::DATA => (&row.directions[0], row.addresses),
        cookie::ACKS => (&row.directions[1], row.addresses.reversed()),
        _ => return None,
    };
    let entry = direction.entry.as_ref()?;
    Some(FlowStats {
        cookie,
        priority: priority::FLOW,
        counters: Counters { age: now - entry.since, packets: entry.packets, bytes: entry.bytes },
        matching: Match { connection: Some(connection), ..Match::default() },
    })
}

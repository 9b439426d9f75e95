//! What an ordinary OpenFlow switch lacks, as a program between the switch and the controller: notifications of congestion, window
//! limits, the port by which a packet will leave, and buffers.
//!
//! It has no clock, sockets or ports of its own. Its caller carries messages in both directions, tells it what a port's trigger
//! reports, and lets something beside the switch rewrite windows.

use super::trigger::Level;
use super::wire::{
    Action, Body, Failure, FailureKind, FlowMod, Frame, Match, Message, NO_BUFFER, PacketIn, PacketOut, command,
    cookie, reason,
};
use fanin_core::packet::Addresses;
use fanin_core::units::Time;
use std::collections::BTreeMap;

/// What a switch holds for the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeping {
    /// Packets that open or end a connection wait for the controller; otherwise it gets a copy.
    pub holds: bool,
    /// They wait here, and the controller gets their headers; otherwise it gets them whole and sends them back.
    pub buffers: bool,
    /// Maximum time that a packet waits here before it is dropped.
    pub patience: Time,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Send this to the controller.
    ToController(Vec<u8>),
    /// Send this to the switch.
    ToSwitch(Vec<u8>),
    /// Packets of this connection with ACK and without SYN get at most a window of so many bytes.
    Limit(Addresses, u32),
    /// They do not any more.
    Lift(Addresses),
    /// Nothing of this direction of a connection is known any more.
    Forget(Addresses),
    /// Call [`Extension::on_timer`] then.
    Timer {
        /// When.
        at: Time,
        /// With what.
        token: u64,
    },
}

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    Buffer(u32),
    Limit(Addresses, u64),
}

/// The extension of one switch.
#[derive(Debug)]
pub struct Extension {
    keeping: Keeping,
    /// By address of a host, the ports towards it.
    routes: BTreeMap<[u8; 4], Vec<u32>>,
    /// Waiting packets, with their ingress port.
    kept: BTreeMap<u32, (u32, Vec<u8>)>,
    /// The number of each limit's entry.
    limits: BTreeMap<Addresses, u64>,
    alarms: BTreeMap<u64, Alarm>,
    next_buffer: u32,
    next_number: u64,
    next_xid: u32,
}

impl Extension {
    /// Of a switch with these ports towards hosts.
    pub fn new(keeping: Keeping, routes: BTreeMap<[u8; 4], Vec<u32>>) -> Self {
        Self {
            keeping,
            routes,
            kept: BTreeMap::new(),
            limits: BTreeMap::new(),
            alarms: BTreeMap::new(),
            next_buffer: 0,
            next_number: 0,
            next_xid: 0,
        }
    }

    /// A port's trigger reports a level from 0 on, and its queue in bytes.
    pub fn on_congestion(&mut self, port: u32, level: u8, queue: u64) -> Vec<Deed> {
        let Some(level) = Level::of(level) else { return Vec::new() };
        let buffer_len = Some(u32::try_from(queue).unwrap_or(u32::MAX));
        let about = Match { in_port: Some(port), buffer_len, ..Match::default() };
        let reason = reason::CONGESTION + level as u8;
        let body = PacketIn { buffer: NO_BUFFER, total: 0, reason, cookie: u64::MAX, about, data: Vec::new() };
        self.next_xid = self.next_xid.wrapping_add(1);
        vec![Deed::ToController(Message { xid: self.next_xid, body: Body::PacketIn(body) }.encode())]
    }

    /// A message from the switch.
    pub fn on_switch(&mut self, now: Time, message: &[u8]) -> Vec<Deed> {
        let mut deeds = Vec::new();
        match Message::decode(message) {
            Ok(Message { xid, body: Body::PacketIn(packet) }) if packet.cookie == cookie::CONNECTION => {
                let body = Body::PacketIn(self.ask(now, packet, &mut deeds));
                deeds.push(Deed::ToController(Message { xid, body }.encode()));
            }
            Ok(Message { xid, body: Body::FeaturesReply { datapath } }) if self.keeping.buffers => {
                deeds.push(Deed::ToController(Message::reply(xid, Body::FeaturesReply { datapath })));
            }
            _ => deeds.push(Deed::ToController(message.to_vec())),
        }
        deeds
    }

    /// A packet that opens or ends a connection, as the controller gets it.
    fn ask(&mut self, now: Time, packet: PacketIn, deeds: &mut Vec<Deed>) -> PacketIn {
        let Ok(frame) = Frame::read(&packet.data) else { return packet };
        let about = Match { out_port: self.port_towards(&frame.addresses), ..packet.about };
        let heads = frame.heads(packet.data.len());
        let (mut buffer, mut data) = (NO_BUFFER, packet.data);
        if self.keeping.holds && self.keeping.buffers {
            buffer = self.next_buffer;
            self.next_buffer = (buffer + 1) % NO_BUFFER;
            self.kept.insert(buffer, (about.in_port.unwrap_or(0), data.clone()));
            self.set(now + self.keeping.patience, Alarm::Buffer(buffer), deeds);
        }
        if buffer != NO_BUFFER || !self.keeping.holds {
            data.truncate(heads);
        }
        PacketIn { buffer, about, data, ..packet }
    }

    fn set(&mut self, at: Time, alarm: Alarm, deeds: &mut Vec<Deed>) {
        self.next_number += 1;
        self.alarms.insert(self.next_number, alarm);
        deeds.push(Deed::Timer { at, token: self.next_number });
    }

    /// The port by which a packet will leave: of several, always the same one for a connection.
    fn port_towards(&self, addresses: &Addresses) -> Option<u32> {
        let ports = self.routes.get(&addresses.dst)?;
        let Addresses { src, dst, src_port, dst_port } = *addresses;
        let [src_port, dst_port] = [src_port, dst_port].map(u16::to_be_bytes);
        let bytes = [&src[..], &dst, &src_port, &dst_port].concat();
        // FNV-1a.
        let hash = bytes.iter().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
        ports.get(hash as usize % ports.len().max(1)).copied()
    }

    /// A message from the controller.
    pub fn on_controller(&mut self, now: Time, message: &[u8]) -> Vec<Deed> {
        let mut deeds = Vec::new();
        match Message::decode(message) {
            Ok(Message { xid, body: Body::FlowMod(change) }) => self.change(now, xid, change, message, &mut deeds),
            Ok(Message { xid, body: Body::PacketOut(packet) }) if packet.buffer != NO_BUFFER => {
                self.release(xid, packet.buffer, packet.actions, message, &mut deeds);
            }
            _ => deeds.push(Deed::ToSwitch(message.to_vec())),
        }
        deeds
    }

    /// A change of the flow table. Entries of windows are not the switch's: its counters of a connection stay whole.
    fn change(&mut self, now: Time, xid: u32, change: FlowMod, message: &[u8], deeds: &mut Vec<Deed>) {
        let limit = change.actions.iter().find_map(|action| match action {
            Action::LimitWindow(bytes) => Some(*bytes),
            Action::Output(_) => None,
        });
        match (change.matching.connection, limit) {
            (Some(connection), Some(bytes)) if change.command == command::ADD => {
                deeds.push(Deed::Limit(connection, bytes));
                self.next_number += 1;
                self.limits.insert(connection, self.next_number);
                if change.hard > 0 {
                    let alarm = Alarm::Limit(connection, self.next_number);
                    self.set(now + Time::from_secs(u64::from(change.hard)), alarm, deeds);
                }
                return;
            }
            (Some(connection), None) if change.command == command::DELETE_STRICT && change.cookie == cookie::WINDOW => {
                self.limits.remove(&connection);
                return deeds.push(Deed::Lift(connection));
            }
            // Everything that the match covers (section 6.4).
            (Some(connection), None) if change.command == command::DELETE => {
                self.limits.remove(&connection);
                deeds.push(Deed::Forget(connection));
            }
            _ => {}
        }
        if change.buffer == NO_BUFFER {
            return deeds.push(Deed::ToSwitch(message.to_vec()));
        }
        // The packet leaves by the new entry; the switch does what it is told in order.
        let (buffer, actions) = (change.buffer, change.actions.clone());
        let body = Body::FlowMod(FlowMod { buffer: NO_BUFFER, ..change });
        deeds.push(Deed::ToSwitch(Message { xid, body }.encode()));
        self.release(xid, buffer, actions, message, deeds);
    }

    /// Sends a waiting packet by the controller's actions; without an output action it is dropped.
    fn release(&mut self, xid: u32, buffer: u32, actions: Vec<Action>, message: &[u8], deeds: &mut Vec<Deed>) {
        let Some((in_port, data)) = self.kept.remove(&buffer) else {
            let body = Body::Error(Failure::new(FailureKind::BUFFER_UNKNOWN, message));
            return deeds.push(Deed::ToController(Message::reply(xid, body)));
        };
        let body = Body::PacketOut(PacketOut { buffer: NO_BUFFER, in_port, actions, data });
        deeds.push(Deed::ToSwitch(Message { xid, body }.encode()));
    }

    /// A timer expires.
    pub fn on_timer(&mut self, token: u64) -> Vec<Deed> {
        match self.alarms.remove(&token) {
            // The reply is too late. The packet is dropped, and its sender retransmits it.
            Some(Alarm::Buffer(buffer)) => {
                self.kept.remove(&buffer);
            }
            Some(Alarm::Limit(connection, number)) if self.limits.get(&connection) == Some(&number) => {
                self.limits.remove(&connection);
                return vec![Deed::Lift(connection)];
            }
            Some(Alarm::Limit(..)) | None => {}
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdtcp::table::{ACK_NOT_SYN, priority};
    use fanin_core::packet::Flags;

    const NAME: Addresses = Addresses { src: [10, 0, 0, 5], dst: [10, 0, 0, 2], src_port: 10_003, dst_port: 5_001 };

    fn extension(change: impl FnOnce(&mut Keeping)) -> Extension {
        let mut keeping = Keeping { holds: true, buffers: true, patience: Time::from_ms(100) };
        change(&mut keeping);
        Extension::new(keeping, BTreeMap::from([([10, 0, 0, 2], vec![7]), ([10, 0, 0, 5], vec![3, 4])]))
    }

    fn frame(flags: Flags, payload: u16) -> Frame {
        let (flags, scale) = (flags.tcp_byte(), Some(7));
        Frame { addresses: NAME, flags, seq: 1, ack: 0, window: 100, payload, mss: Some(1448), scale }
    }

    /// A packet of a connection, as Open vSwitch sends it: whole, without a buffer and an output port.
    fn opening(frame: &Frame) -> Vec<u8> {
        let about = Match { in_port: Some(3), ..Match::default() };
        let data = frame.whole();
        let total = data.len() as u16;
        let body =
            PacketIn { buffer: NO_BUFFER, total, reason: reason::ACTION, cookie: cookie::CONNECTION, about, data };
        Message { xid: 0, body: Body::PacketIn(body) }.encode()
    }

    fn told(deeds: &[Deed]) -> PacketIn {
        let message = deeds.iter().find_map(|deed| match deed {
            Deed::ToController(message) => Some(Message::decode(message).unwrap().body),
            _ => None,
        });
        let Some(Body::PacketIn(packet)) = message else { panic!("{deeds:?}") };
        packet
    }

    fn obeyed(deeds: &[Deed]) -> Vec<Body> {
        let order = |deed: &Deed| match deed {
            Deed::ToSwitch(message) => Some(Message::decode(message).unwrap().body),
            _ => None,
        };
        deeds.iter().filter_map(order).collect()
    }

    fn order(body: Body) -> Vec<u8> {
        Message { xid: 9, body }.encode()
    }

    fn change(command: u8, cookie: u64, actions: Vec<Action>) -> FlowMod {
        let (tcp_flags, priority) = match cookie {
            cookie::WINDOW => (Some(ACK_NOT_SYN), priority::WINDOW),
            _ => (None, priority::FLOW),
        };
        let matching = Match { connection: Some(NAME), tcp_flags, ..Match::default() };
        FlowMod::new(command, cookie, priority, matching, actions)
    }

    #[test]
    fn the_controller_gets_headers_and_the_port_and_the_switch_gets_the_packet_back() {
        let mut extension = extension(|_| {});
        let fin = frame(Flags::FIN, 500);
        let packet = told(&extension.on_switch(Time::ZERO, &opening(&fin)));
        assert_eq!((packet.buffer, packet.about.in_port, packet.about.out_port), (0, Some(3), Some(7)));
        assert_eq!((packet.data, usize::from(packet.total)), (fin.head(), fin.length()));
        let out = PacketOut { buffer: 0, in_port: 3, actions: vec![Action::Output(7)], data: Vec::new() };
        let deeds = extension.on_controller(Time::ZERO, &order(Body::PacketOut(out.clone())));
        let whole = PacketOut { buffer: NO_BUFFER, data: fin.whole(), ..out.clone() };
        assert_eq!(obeyed(&deeds), [Body::PacketOut(whole)]);
        let deeds = extension.on_controller(Time::ZERO, &order(Body::PacketOut(out)));
        let [Deed::ToController(message)] = &deeds[..] else { panic!("{deeds:?}") };
        let Body::Error(failure) = Message::decode(message).unwrap().body else { panic!() };
        assert_eq!(failure.kind, FailureKind::BUFFER_UNKNOWN, "it is there once");
    }

    #[test]
    fn an_entry_with_a_buffer_comes_before_its_packet() {
        let mut extension = extension(|_| {});
        let syn = frame(Flags::SYN, 0);
        extension.on_switch(Time::ZERO, &opening(&syn));
        let entry = FlowMod { buffer: 0, ..change(command::ADD, cookie::DATA, vec![Action::Output(7)]) };
        let orders = obeyed(&extension.on_controller(Time::ZERO, &order(Body::FlowMod(entry.clone()))));
        let actions = vec![Action::Output(7)];
        let out = PacketOut { buffer: NO_BUFFER, in_port: 3, actions, data: syn.whole() };
        assert_eq!(orders, [Body::FlowMod(FlowMod { buffer: NO_BUFFER, ..entry }), Body::PacketOut(out)]);
    }

    #[test]
    fn a_packet_waits_no_longer_than_the_switch_is_patient() {
        let mut extension = extension(|_| {});
        let deeds = extension.on_switch(Time::from_ms(5), &opening(&frame(Flags::SYN, 0)));
        let Some(Deed::Timer { at, token }) = deeds.first().cloned() else { panic!("{deeds:?}") };
        assert_eq!(at, Time::from_ms(105));
        assert_eq!(extension.on_timer(token), []);
        let entry = FlowMod { buffer: 0, ..change(command::ADD, cookie::DATA, vec![Action::Output(7)]) };
        let deeds = extension.on_controller(at, &order(Body::FlowMod(entry)));
        assert!(matches!(obeyed(&deeds)[..], [Body::FlowMod(_)]), "the entry, and no packet");
    }

    #[test]
    fn without_buffers_the_controller_gets_the_packet_and_a_copy_is_its_headers() {
        let mut whole = extension(|keeping| keeping.buffers = false);
        let fin = frame(Flags::FIN, 500);
        let packet = told(&whole.on_switch(Time::ZERO, &opening(&fin)));
        assert_eq!((packet.buffer, packet.about.out_port, packet.data), (NO_BUFFER, Some(7), fin.whole()));
        let mut copies = extension(|keeping| keeping.holds = false);
        let packet = told(&copies.on_switch(Time::ZERO, &opening(&fin)));
        assert_eq!((packet.buffer, packet.data), (NO_BUFFER, fin.head()));
    }

    #[test]
    fn limits_are_not_the_switchs_entries() {
        let mut extension = extension(|_| {});
        let mut tell = |change: FlowMod| extension.on_controller(Time::ZERO, &order(Body::FlowMod(change)));
        let limit = vec![Action::LimitWindow(2920), Action::Output(7)];
        assert_eq!(tell(change(command::ADD, cookie::WINDOW, limit)), [Deed::Limit(NAME, 2920)]);
        assert_eq!(tell(change(command::DELETE_STRICT, cookie::WINDOW, Vec::new())), [Deed::Lift(NAME)]);
        let delete = change(command::DELETE, cookie::ACKS, Vec::new());
        let deeds = tell(delete.clone());
        assert_eq!(deeds[0], Deed::Forget(NAME), "a wider match covers the limit");
        assert_eq!(obeyed(&deeds), [Body::FlowMod(delete)], "and the switch's own entry");
    }

    #[test]
    fn a_limit_ends_after_its_hard_timeout_unless_there_is_another() {
        let mut extension = extension(|_| {});
        let entry = FlowMod { hard: 2, ..change(command::ADD, cookie::WINDOW, vec![Action::LimitWindow(2920)]) };
        let mut tokens = Vec::new();
        for at in [Time::ZERO, Time::from_secs(1)] {
            let deeds = extension.on_controller(at, &order(Body::FlowMod(entry.clone())));
            let [Deed::Limit(..), Deed::Timer { at: due, token }] = deeds[..] else { panic!("{deeds:?}") };
            assert_eq!(due, at + Time::from_secs(2));
            tokens.push(token);
        }
        assert_eq!(extension.on_timer(tokens[0]), []);
        assert_eq!(extension.on_timer(tokens[1]), [Deed::Lift(NAME)]);
    }

    #[test]
    fn a_notification_has_the_port_its_level_and_its_queue() {
        let packet = told(&extension(|_| {}).on_congestion(4, 2, 90_840));
        assert_eq!((packet.reason, packet.buffer), (0xF2, NO_BUFFER));
        assert_eq!((packet.about.in_port, packet.about.buffer_len), (Some(4), Some(90_840)));
    }

    #[test]
    fn of_equal_paths_a_connection_takes_one() {
        let extension = extension(|_| {});
        let chosen =
            |port: u16| extension.port_towards(&Addresses { src_port: 5_001, dst_port: port, ..NAME.reversed() });
        let ports: std::collections::BTreeSet<_> = (10_000..10_100).map(chosen).collect();
        assert_eq!(ports, [Some(3), Some(4)].into());
        assert_eq!(chosen(10_000), chosen(10_000));
        assert_eq!(extension.port_towards(&Addresses { dst: [10, 9, 9, 9], ..NAME }), None);
    }

    #[test]
    fn what_the_extension_does_not_know_passes() {
        let mut extension = extension(|keeping| keeping.buffers = false);
        let role = [4, 24, 0, 24, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(extension.on_controller(Time::ZERO, &role), [Deed::ToSwitch(role.to_vec())]);
        assert_eq!(extension.on_switch(Time::ZERO, &role), [Deed::ToController(role.to_vec())]);
    }
}

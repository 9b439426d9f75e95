//! The controller alone (section 5.2.5 and Fig. 16), driven by the bytes that switches would send. The caller measures
//! the time.

use super::controller::Controller;
use super::trigger::Level;
use super::wire::{
    Body, Counters, FlowStats, Frame, Match, Message, NO_BUFFER, PacketIn, PortDescription, cookie, reason,
};
use super::{Bundle, ROW, priority};
use fanin_core::ids::NodeId;
use fanin_core::packet::{Addresses, Flags};
use fanin_core::roles::{Controller as _, ControllerAction, ControllerCx};
use fanin_core::units::Time;
use fanin_param::Values;
use std::ops::Range;

/// A message from a switch to the controller.
pub type Told = (NodeId, Vec<u8>);

/// Number of messages, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages.
    pub(crate) messages: u64,
    /// Their bytes, without TCP and IP headers of the control channel.
    pub bytes: u64,
}

/// SDTCP's controller with two switches (Fig. 8) and any number of flows. Parameters have their defaults, except that
/// data flow only in the direction of the SYN (Fig. 5).
#[derive(Debug)]
pub struct ControllerStress {
    controller: Controller,
    now: Time,
    actions: Vec<ControllerAction>,
}

const PORTS: Range<u32> = 1..4;
const MSS: u16 = 1460;

impl ControllerStress {
    /// A controller that knows its two switches and no flow.
    pub fn new(rtt: Time) -> Self {
        let controller = Bundle::new(&Values::defaults(&[ROW.params])).controller;
        let cfg = super::ControllerConfig { rtt, both_ways: false, ..controller };
        let mut stress = Self { controller: Controller::new(cfg), now: Time::ZERO, actions: Vec::new() };
        for switch in [0, 1] {
            let ports = PORTS.map(|port| PortDescription { port, kbps: 1_000_000 }).collect();
            stress.tell(&[message(switch, Body::Hello), message(switch, Body::Ports { ports, more: false })]);
        }
        stress
    }

    /// The controller serves messages one by one. Returns the traffic of its replies.
    pub fn tell(&mut self, messages: &[Told]) -> Traffic {
        let mut answers = Traffic::default();
        for (from, bytes) in messages {
            self.controller.on_message(&mut ControllerCx { now: self.now, actions: &mut self.actions }, *from, bytes);
            for action in self.actions.drain(..) {
                if let ControllerAction::Order { message, .. } = action {
                    answers.messages += 1;
                    answers.bytes += message.len() as u64;
                }
            }
        }
        answers
    }

    /// A poll is due: the controller requests statistics.
    pub fn poll(&mut self) -> Traffic {
        self.controller.on_timer(&mut ControllerCx { now: self.now, actions: &mut self.actions }, 0);
        let sizes = self.actions.drain(..).filter_map(|action| match action {
            ControllerAction::Order { message, .. } => Some(message.len() as u64),
            ControllerAction::Timer { .. } => None,
        });
        sizes.fold(Traffic::default(), |sum, size| Traffic { messages: sum.messages + 1, bytes: sum.bytes + size })
    }

    /// Memory of its flow tables in bytes: keys, rows and the lists in rows, and the names of background and limited
    /// flows. Spare capacity of the trees is not counted.
    pub fn table_bytes(&self) -> usize {
        let row = size_of::<Addresses>() + size_of::<super::flows::GlobalFlow>();
        let rows: usize = self.controller.flows.values().map(|flow| row + flow.list_bytes()).sum();
        rows + self.controller.lists.bytes()
    }
}

fn message(from: usize, body: Body) -> Told {
    (NodeId::new(from), Message { xid: 1, body }.encode())
}

/// Addresses of a flow: there are 256 receivers, and a sender for every 2^16 flows of a receiver.
fn name(flow: usize) -> Addresses {
    let [_, host, high, low] = (flow as u32).to_be_bytes();
    Addresses {
        src: [10, 1, host, low],
        dst: [10, 0, 0, 2],
        src_port: u16::from_be_bytes([high, low]),
        dst_port: 5_001,
    }
}

/// The messages of both switches when flows open: a SYN and a SYN-ACK per flow and switch (Fig. 5).
pub fn openings(flows: Range<usize>) -> Vec<Told> {
    flows
        .flat_map(|flow| [(0, false), (1, false), (1, true), (0, true)].map(|at| passing(flow, at, Flags::SYN)))
        .collect()
}

/// The messages of both switches when flows end: the sender's FIN per flow and switch (Fig. 6).
pub fn endings(flows: Range<usize>) -> Vec<Told> {
    flows.flat_map(|flow| [(0, false), (1, false)].map(|at| passing(flow, at, Flags::FIN))).collect()
}

/// The `Packet_In` of a switch for a packet of a flow.
fn passing(flow: usize, (switch, acks): (usize, bool), flags: Flags) -> Told {
    let addresses = if acks { name(flow).reversed() } else { name(flow) };
    let flags = flags.with_if(Flags::ACK, acks).tcp_byte();
    let frame = Frame { addresses, flags, seq: 0, ack: 0, window: 0, payload: 0, mss: Some(MSS), scale: Some(2) };
    let (in_port, out_port) = if acks { (1, 2) } else { (2, 1) };
    let about = Match { in_port: Some(in_port), out_port: Some(out_port), ..Match::default() };
    let (data, total) = (frame.head(), frame.length() as u16);
    message(
        switch,
        Body::PacketIn(PacketIn { buffer: 1, total, reason: reason::ACTION, cookie: cookie::CONNECTION, about, data }),
    )
}

/// The replies of one switch to a poll. The first `background` of the flows are large and old.
pub fn statistics(flows: Range<usize>, background: usize) -> Vec<Told> {
    let entries = flows.map(|flow| {
        let (age, bytes) = if flow < background { (2_000, 2_000_000) } else { (50, 50_000) };
        let counters = Counters { age: Time::from_ms(age), packets: bytes / 1_500, bytes };
        let matching = Match { connection: Some(name(flow)), ..Match::default() };
        FlowStats { cookie: cookie::DATA, priority: priority::FLOW, counters, matching }
    });
    Body::of_flows(entries.collect()).into_iter().map(|body| message(0, body)).collect()
}

/// A notification of the port between the switches: low congestion at 30 packets, or high at 85.
pub fn notification(high: bool) -> Vec<Told> {
    let (level, packets) = if high { (Level::High, 85) } else { (Level::Low, 30) };
    let about = Match { in_port: Some(1), buffer_len: Some(packets * 1_500), ..Match::default() };
    let reason = reason::CONGESTION + level as u8;
    vec![message(
        0,
        Body::PacketIn(PacketIn { buffer: NO_BUFFER, total: 0, reason, cookie: u64::MAX, about, data: Vec::new() }),
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_opens_is_known_and_ends() {
        let mut stress = ControllerStress::new(Time::from_us(200));
        let answers = stress.tell(&openings(0..70_000));
        assert_eq!(stress.controller.flows.len(), 70_000);
        assert_eq!(answers.messages, 4 * 70_000);
        assert!(stress.table_bytes() > 70_000 * size_of::<Addresses>());
        stress.tell(&endings(0..70_000));
        assert_eq!(stress.controller.flows.len(), 0);
    }

    #[test]
    fn low_congestion_is_answered_for_the_background_alone_and_high_for_all() {
        let mut stress = ControllerStress::new(Time::from_us(200));
        stress.tell(&openings(0..500));
        assert_eq!(stress.poll().messages, 2);
        stress.tell(&statistics(0..500, 5));
        assert_eq!(stress.tell(&notification(false)).messages, 5);
        assert_eq!(stress.tell(&notification(true)).messages, 500);
    }
}

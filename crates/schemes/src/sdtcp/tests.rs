//! Tests of the controller and the switch, message by message.

use super::controller::Controller;
use super::fair_share::Shares;
use super::flows::{Class, GlobalFlow};
use super::switch::{Switch, SwitchConfig};
use super::table::{ACK_NOT_SYN, priority};
use super::trigger::Level;
use super::wire::{
    Action, Body, Counters, Failure, FailureKind, FlowMod, FlowStats, FlowStatsRequest, Frame, Match, Message,
    NO_BUFFER, PacketIn, PacketOut, PortDescription, TcpFlags, command, cookie, reason,
};
use super::{Bundle, ROW};
use crate::{NodeFacts, Scheme as _};
use fanin_core::ids::{FlowId, LinkId, NodeId};
use fanin_core::packet::{Addresses, Flags, Packet};
use fanin_core::roles::{
    AddressBook, Backlog, Controller as _, ControllerAction, ControllerCx, Pass, Passage, SwitchAction,
    SwitchAgent as _, SwitchCx, SwitchPort,
};
use fanin_core::units::{Rate, Time};
use fanin_param::Values;
use proptest::prelude::*;
use std::collections::BTreeSet;

const GBPS: Rate = Rate::from_bps(1_000_000_000);
const MSS: u32 = 1460;

fn name(flow: usize) -> Addresses {
    Addresses { src: [10, 0, 0, 10 + flow as u8], dst: [10, 0, 0, 2], src_port: 10_000 + flow as u16, dst_port: 5_001 }
}

struct Book;

/// The second flow is a response on the first one's connection.
impl AddressBook for Book {
    fn addresses(&self, flow: FlowId) -> Addresses {
        name(flow.index())
    }
    fn asked_on(&self, flow: FlowId) -> Option<FlowId> {
        (flow.index() == 1).then(|| FlowId::new(0))
    }
    fn opener(&self, flow: FlowId) -> Addresses {
        name(self.asked_on(flow).unwrap_or(flow).index())
    }
}

fn bundle(changes: &[(&str, &str)]) -> Bundle {
    let params = changes.iter().fold(Values::defaults(&[ROW.params]), |params, (key, value)| params.with(key, value));
    Bundle::new(&params)
}

// ---------------------------------------------------------------------------------------------------------
// Controller

struct Control {
    controller: Controller,
    now: Time,
    /// Where switches keep packets.
    buffer: u32,
}

type Orders = Vec<(usize, Body)>;

impl Control {
    /// A controller of two switches that have reported their ports.
    fn new(changes: &[(&str, &str)]) -> Self {
        let cfg = super::ControllerConfig { rtt: Time::from_us(200), ..bundle(changes).controller };
        let mut control = Self { controller: Controller::new(cfg), now: Time::ZERO, buffer: 7 };
        for switch in [0, 1] {
            let met = control.tell(switch, Body::Hello);
            assert_eq!(met, [Body::Hello, Body::FeaturesRequest, Body::PortsRequest].map(|body| (switch, body)));
            let ports = (1..4).map(|port| PortDescription { port, kbps: 1_000_000 }).collect();
            assert_eq!(control.tell(switch, Body::Ports { ports, more: false }), []);
        }
        control
    }
    fn act(&mut self, act: impl FnOnce(&mut Controller, &mut ControllerCx<'_>)) -> Orders {
        let mut actions = Vec::new();
        act(&mut self.controller, &mut ControllerCx { now: self.now, actions: &mut actions });
        let order = |action| match action {
            ControllerAction::Order { to, message } => {
                Some((to.index(), Message::decode(&message).expect("its own bytes").body))
            }
            ControllerAction::Timer { .. } => None,
        };
        actions.into_iter().filter_map(order).collect()
    }
    fn tell(&mut self, from: usize, body: Body) -> Orders {
        let bytes = Message { xid: 1, body }.encode();
        self.act(|controller, cx| controller.on_message(cx, NodeId::new(from), &bytes))
    }
    fn packet(&mut self, from: usize, flow: usize, acks: bool, flags: Flags) -> Orders {
        self.packet_by(from, flow, acks, flags, 1)
    }
    /// The same for data that leaves by a given port.
    fn packet_by(&mut self, from: usize, flow: usize, acks: bool, flags: Flags, port: u32) -> Orders {
        let addresses = if acks { name(flow).reversed() } else { name(flow) };
        let flags = flags.with_if(Flags::ACK, acks).tcp_byte();
        let frame =
            Frame { addresses, flags, seq: 0, ack: 0, window: 0, payload: 0, mss: Some(MSS as u16), scale: Some(2) };
        let (in_port, out_port) = if acks { (port, 2) } else { (2, port) };
        let about = Match { in_port: Some(in_port), out_port: Some(out_port), ..Match::default() };
        let data = frame.head();
        let body = PacketIn {
            buffer: self.buffer,
            total: 54,
            reason: reason::ACTION,
            cookie: cookie::CONNECTION,
            about,
            data,
        };
        self.tell(from, Body::PacketIn(body))
    }
    /// The same of the first switch, which keeps nothing.
    fn packet_in_no_buffer(&mut self, flow: usize, flags: Flags) -> Orders {
        let kept = std::mem::replace(&mut self.buffer, NO_BUFFER);
        let orders = self.packet(0, flow, false, flags);
        self.buffer = kept;
        orders
    }
    /// The handshake of a flow through both switches.
    fn open(&mut self, flow: usize) {
        for switch in [0, 1] {
            self.packet(switch, flow, false, Flags::SYN);
        }
        for switch in [1, 0] {
            self.packet(switch, flow, true, Flags::SYN);
        }
    }
    /// Statistics of a flow.
    fn carried(&mut self, flow: usize, bytes: u64, age: Time) {
        let matching = Match { connection: Some(name(flow)), ..Match::default() };
        let counters = Counters { age, packets: bytes / 1500, bytes };
        let stats = FlowStats { cookie: cookie::DATA, priority: 1, counters, matching };
        assert_eq!(self.tell(0, Body::FlowStats { flows: vec![stats], more: false }), []);
    }
    fn background(&mut self, flow: usize) {
        self.open(flow);
        self.carried(flow, 2_000_000, Time::from_secs(2));
    }
    fn notify(&mut self, switch: usize, level: Level, packets: u32) -> Orders {
        self.notify_at((switch, 1), level, packets)
    }
    fn notify_at(&mut self, (switch, port): (usize, u32), level: Level, packets: u32) -> Orders {
        let about = Match { in_port: Some(port), buffer_len: Some(packets * 1500), ..Match::default() };
        let reason = reason::CONGESTION + level as u8;
        let body = PacketIn { buffer: NO_BUFFER, total: 0, reason, cookie: 0, about, data: Vec::new() };
        self.tell(switch, Body::PacketIn(body))
    }
}

/// The windows that orders set for data against the direction of the SYN: switch, flow, bytes.
fn response_windows(orders: &Orders) -> Vec<(usize, usize, u32)> {
    let window = |(switch, body): &(usize, Body)| match body {
        Body::FlowMod(change) if change.cookie == cookie::WINDOW => {
            // Its acknowledgements flow in the direction of the SYN.
            let flow = usize::from(change.matching.connection?.src_port) - 10_000;
            match change.actions[..] {
                [Action::LimitWindow(bytes), Action::Output(1)] => Some((*switch, flow, bytes)),
                _ => panic!("{change:?}"),
            }
        }
        _ => None,
    };
    orders.iter().filter_map(window).collect()
}

/// The windows that orders set: switch, flow, bytes; none if a limit is removed.
fn windows(orders: &Orders) -> Vec<(usize, usize, Option<u32>)> {
    let window = |(switch, body): &(usize, Body)| match body {
        Body::FlowMod(change) if change.cookie == cookie::WINDOW => {
            let flow = usize::from(change.matching.connection?.dst_port) - 10_000;
            assert_eq!(change.matching.tcp_flags, Some(ACK_NOT_SYN));
            let bytes = change.actions.iter().find_map(|action| match action {
                Action::LimitWindow(bytes) => Some(*bytes),
                Action::Output(_) => None,
            });
            assert_eq!(bytes.is_none(), change.command == command::DELETE_STRICT);
            Some((*switch, flow, bytes))
        }
        _ => None,
    };
    orders.iter().filter_map(window).collect()
}

#[test]
fn equations_three_to_eight() {
    let shares = Shares { total: 152_500.0, flows: 5, reserved: 2.0 * 1460.0, bursts: 3 };
    let factors = [2.0 / 3.0, 0.5];
    let limit = |level, class| shares.limit(level, class, 1460.0, factors);
    assert_eq!(limit(Level::Low, Class::Background), Some(20_333), "2/3 of 152500 / 5");
    assert_eq!(limit(Level::Modest, Class::Background), Some(15_250));
    assert_eq!(limit(Level::High, Class::Background), Some(1460));
    assert_eq!(limit(Level::High, Class::Burst), Some(49_860), "(152500 - 2 x 1460) / 3");
    assert_eq!((limit(Level::Low, Class::Burst), limit(Level::Modest, Class::Burst)), (None, None));
    // No flow gets less than a segment.
    let crowded = Shares { total: 152_500.0, flows: 500, reserved: 1460.0, bursts: 499 };
    for level in [Level::Low, Level::Modest, Level::High] {
        assert_eq!(crowded.limit(level, Class::Background, 1460.0, factors), Some(1460));
    }
    assert_eq!(crowded.limit(Level::High, Class::Burst, 1460.0, factors), Some(1460));
}

#[test]
fn notifications_set_the_windows_of_their_port_and_recovery_lifts_them() {
    let mut control = Control::new(&[]);
    control.background(0);
    (1..4).for_each(|flow| control.open(flow));
    // C x RTT = 25000 bytes, N = 4.
    assert_eq!(windows(&control.notify(0, Level::Low, 30)), [(0, 0, Some(11_666))], "2/3 x 70000 / 4");
    assert_eq!(windows(&control.notify(0, Level::Modest, 60)), [(0, 0, Some(14_375))], "1/2 x 115000 / 4");
    let high = windows(&control.notify(0, Level::High, 85));
    let share = Some((25_000 + 85 * 1500 - MSS) / 3);
    assert_eq!(high, [(0, 0, Some(MSS)), (0, 1, share), (0, 2, share), (0, 3, share)]);
    let gone = windows(&control.notify(0, Level::None, 10));
    assert_eq!(gone, [(0, 0, None), (0, 1, None), (0, 2, None), (0, 3, None)]);
    assert_eq!(windows(&control.notify(0, Level::None, 10)), [], "nothing is left to lift");
}

#[test]
fn low_congestion_lifts_what_a_lost_recovery_has_left_to_burst_flows() {
    let mut control = Control::new(&[]);
    control.background(0);
    control.open(1);
    assert_eq!(windows(&control.notify(0, Level::High, 85)).len(), 2);
    assert_eq!(windows(&control.notify(0, Level::Low, 30)), [(0, 0, Some(23_333)), (0, 1, None)], "2/3 x 70000 / 2");
    assert_eq!(windows(&control.notify(0, Level::Low, 30)).len(), 1);
}

proptest! {
    /// Compares the lists with the GVT while flows open (again, over another path), are classified and limited, and
    /// end.
    #[test]
    fn the_lists_of_a_port_say_what_the_table_of_all_flows_does(
        steps in prop::collection::vec((0_usize..6, 0_usize..2, 1_u32..3, 0_u8..6), 1..80)
    ) {
        let mut control = Control::new(&[]);
        for (flow, switch, port, what) in steps {
            match what {
                0 | 1 => drop(control.packet_by(switch, flow, false, Flags::SYN, port)),
                2 => control.carried(flow, 2_000_000, Time::from_secs(2)),
                3 => drop(control.notify(switch, [Level::Low, Level::High][port as usize - 1], 85)),
                4 => drop(control.notify(switch, Level::None, 1)),
                _ => drop(control.packet(switch, flow, false, Flags::FIN)),
            }
            let Controller { flows, lists, .. } = &control.controller;
            for port in [0, 1].into_iter().flat_map(|switch| [1, 2].map(|port| (NodeId::new(switch), port))) {
                let named = |is: &dyn Fn(&GlobalFlow) -> bool| -> BTreeSet<Addresses> {
                    flows.iter().filter(|(_, flow)| is(flow)).map(|(name, _)| *name).collect()
                };
                let through = named(&|flow| flow.path.contains(&port));
                let background = named(&|flow| flow.path.contains(&port) && flow.class == Class::Background);
                let limited = named(&|flow| flow.limits.contains_key(&port));
                match lists.of(port) {
                    Some(list) => {
                        prop_assert_eq!(list.flows, through.len());
                        prop_assert_eq!(list.reserved, background.len() as u64 * u64::from(MSS));
                        prop_assert_eq!((&list.background, &list.limited), (&background, &limited));
                    }
                    None => prop_assert!(through.is_empty() && limited.is_empty()),
                }
            }
        }
    }
}

#[test]
fn levels_that_are_switched_off_set_nothing() {
    let keys = ["cn-low", "cn-modest", "cn-high"];
    for (key, level) in keys.into_iter().zip([Level::Low, Level::Modest, Level::High]) {
        for (value, count) in [("false", 0), ("true", 1)] {
            let mut control = Control::new(&[(key, value)]);
            control.background(0);
            assert_eq!(windows(&control.notify(0, level, 85)).len(), count, "{key} = {value}");
        }
    }
}

#[test]
fn without_background_flows_low_and_modest_congestion_change_nothing() {
    let mut control = Control::new(&[]);
    control.open(0);
    assert_eq!(windows(&control.notify(0, Level::Low, 30)), []);
    assert_eq!(windows(&control.notify(0, Level::Modest, 60)), []);
    assert_eq!(windows(&control.notify(0, Level::High, 85)), [(0, 0, Some(152_500))]);
}

#[test]
fn a_measured_round_trip_counts_the_queue_twice() {
    let mut control = Control::new(&[("rtt-queue", "included")]);
    control.open(0);
    assert_eq!(windows(&control.notify(0, Level::High, 85)), [(0, 0, Some(25_000 + 2 * 127_500))]);
}

#[test]
fn a_flow_is_background_when_large_and_old() {
    let class = |rule: &str, bytes: u64, age: Time| {
        let mut control = Control::new(&[("class", rule)]);
        control.open(0);
        control.carried(0, bytes, age);
        windows(&control.notify(0, Level::Low, 30)).len() == 1
    };
    let (mb, old) = (1_000_000, Time::from_secs(1));
    let later = old + Time::from_ns(1);
    for (rule, neither, large, aged, both) in [
        ("both", false, false, false, true),
        ("volume-only", false, true, false, true),
        ("either", false, true, true, true),
    ] {
        assert_eq!(class(rule, mb, old), neither, "{rule}: the limits themselves are not above them");
        assert_eq!(class(rule, mb + 1, old), large, "{rule}");
        assert_eq!(class(rule, mb, later), aged, "{rule}");
        assert_eq!(class(rule, mb + 1, later), both, "{rule}");
    }
}

#[test]
fn only_flows_through_the_port_count() {
    let mut control = Control::new(&[]);
    control.background(0);
    control.packet(0, 1, false, Flags::SYN); // The SYN has passed the first switch only.
    assert_eq!(windows(&control.notify(0, Level::Low, 30)), [(0, 0, Some(23_333))], "2/3 x 70000 / 2");
    assert_eq!(windows(&control.notify(1, Level::Low, 30)), [(1, 0, Some(46_666))]);
}

/// S24: a client sends requests to servers, and the responses leave by the port of the SYN-ACKs.
#[test]
fn responses_to_a_client_that_opens_its_connections_are_regulated() {
    let share = u32::midpoint(25_000, 85 * 1500);
    for (keys, wanted) in [(&[][..], vec![(0, 0, share), (0, 1, share)]), (&[("data-from", "opener")][..], vec![])] {
        let mut control = Control::new(keys);
        (0..2).for_each(|flow| control.open(flow));
        assert_eq!(response_windows(&control.notify_at((0, 2), Level::High, 85)), wanted, "{keys:?}");
    }
}

#[test]
fn an_end_of_either_side_takes_both_directions_from_the_tables() {
    for acks in [false, true] {
        let mut control = Control::new(&[]);
        (0..2).for_each(|flow| control.open(flow));
        control.packet(0, 0, acks, Flags::FIN);
        assert_eq!(control.controller.flows.len(), 2);
        assert_eq!(response_windows(&control.notify_at((0, 2), Level::High, 85)), [(0, 1, 25_000 + 85 * 1500)]);
        assert_eq!(windows(&control.notify(0, Level::High, 85)), [(0, 1, Some(25_000 + 85 * 1500))]);
    }
}

#[test]
fn a_direction_that_carries_acknowledgements_alone_is_no_flow_of_its_port() {
    // Mean bytes of a packet, data in the opposite direction, and how many of two flows are left.
    for (bytes, opposite, flows) in [(80, 50_000, 1), (81, 50_000, 2), (40, 0, 2)] {
        let mut control = Control::new(&[]);
        (0..2).for_each(|flow| control.open(flow));
        control.carried(0, opposite, Time::from_ms(50));
        let matching = Match { connection: Some(name(0).reversed()), ..Match::default() };
        let counters = Counters { age: Time::from_ms(100), packets: 10, bytes: 10 * bytes };
        let stats = FlowStats { cookie: cookie::ACKS, priority: 1, counters, matching };
        control.tell(0, Body::FlowStats { flows: vec![stats], more: false });
        let set = response_windows(&control.notify_at((0, 2), Level::High, 85));
        assert_eq!(set.len(), flows, "{set:?}");
        assert_eq!(set[flows - 1], (0, 1, (25_000 + 85 * 1500) / flows as u32));
    }
}

#[test]
fn a_handshake_gets_entries_and_a_fin_removes_them() {
    for (keys, first) in [(&[][..], true), (&[("remove-at", "last-fin")][..], false)] {
        let mut control = Control::new(keys);
        let orders = control.packet(0, 0, false, Flags::SYN);
        let [(0, Body::FlowMod(FlowMod { command: command::ADD, buffer: 7, cookie: cookie::DATA, .. }))] = &orders[..]
        else {
            panic!("{orders:?}")
        };
        control.open(0);
        control.background(1);
        let ended = control.packet(0, 0, false, Flags::FIN);
        // At each switch the entry of the data, and those of the acknowledgements.
        let deleted = |orders: &Orders| {
            let what = |(switch, body): &(usize, Body)| match body {
                Body::FlowMod(FlowMod { command: command::DELETE, matching, .. }) => {
                    assert_eq!(matching.tcp_flags, None);
                    Some((*switch, matching.connection == Some(name(0).reversed())))
                }
                _ => None,
            };
            orders.iter().filter_map(what).collect::<Vec<_>>()
        };
        let all = vec![(0, false), (1, false), (0, true), (1, true)];
        assert_eq!(deleted(&ended), if first { all.clone() } else { vec![] });
        assert!(matches!(ended.last(), Some((0, Body::PacketOut(_)))), "the FIN goes on");
        let second = control.packet(1, 0, true, Flags::FIN);
        assert_eq!(deleted(&second), if first { vec![] } else { all });
        assert!(matches!(second.last(), Some((1, Body::PacketOut(_)))));
        // A repeated FIN belongs to an unknown connection: it is forwarded and changes nothing.
        let again = control.packet(0, 0, false, Flags::FIN);
        assert!(matches!(&again[..], [(0, Body::PacketOut(_))]), "{again:?}");
        assert_eq!(windows(&control.notify(0, Level::Low, 30)), [(0, 1, Some(46_666))], "one flow is left");
    }
}

#[test]
fn a_reset_ends_both_directions_at_once() {
    let mut control = Control::new(&[("remove-at", "last-fin")]);
    control.open(0);
    let orders = control.packet(0, 0, false, Flags::RST);
    assert_eq!(orders.iter().filter(|(_, body)| matches!(body, Body::FlowMod(_))).count(), 4);
}

#[test]
fn a_switch_whose_rule_outlives_the_handshakes_loss_is_told_too() {
    // The SYN-ACK was not seen yet, so the congested switch itself rewrites.
    let mut control = Control::new(&[]);
    control.packet(0, 0, false, Flags::SYN);
    control.notify(0, Level::High, 85);
    let orders = control.packet(0, 0, false, Flags::RST);
    let matches = orders.iter().filter_map(|(switch, body)| match body {
        Body::FlowMod(change) => Some((*switch, change.matching.connection)),
        _ => None,
    });
    assert_eq!(matches.collect::<Vec<_>>(), [(0, Some(name(0))), (0, Some(name(0).reversed()))]);
}

#[test]
fn a_flow_that_joins_is_regulated_only_when_told_to() {
    for (way, joined) in [("none", 0), ("on-flow-change", 2)] {
        let mut control = Control::new(&[("reevaluate", way)]);
        control.open(0);
        control.notify(0, Level::High, 85);
        let orders = control.packet(0, 1, false, Flags::SYN);
        assert_eq!(windows(&orders).len(), joined, "{way}");
        let syn_ack = control.packet(0, 1, true, Flags::SYN);
        assert_eq!(windows(&syn_ack).len(), 0, "{way}: its acknowledgements join another port");
        let left = control.packet(0, 1, false, Flags::FIN);
        assert_eq!(windows(&left).len(), joined / 2, "{way}");
    }
    let mut control = Control::new(&[("reevaluate", "periodic")]);
    control.open(0);
    control.notify(0, Level::High, 85);
    control.open(1);
    let poll = control.act(|controller, cx| controller.on_timer(cx, 0));
    assert_eq!(windows(&poll).len(), 2);
}

#[test]
fn two_switches_limit_one_flow_each_for_itself() {
    let mut control = Control::new(&[]);
    control.open(0);
    assert_eq!(windows(&control.notify(0, Level::High, 85)), [(0, 0, Some(152_500))]);
    assert_eq!(windows(&control.notify(1, Level::High, 60)), [(1, 0, Some(115_000))]);
    assert_eq!(windows(&control.notify(0, Level::None, 0)), [(0, 0, None)], "the other one's stays");
}

#[test]
fn where_acknowledgements_pass_one_switch_only_it_has_the_least_window_of_all() {
    let mut control = Control::new(&[]);
    control.packet(0, 0, false, Flags::SYN);
    control.packet(1, 0, false, Flags::SYN);
    control.packet(1, 0, true, Flags::SYN); // Acknowledgements return over another path.
    assert_eq!(windows(&control.notify(1, Level::High, 60)), [(1, 0, Some(115_000))]);
    assert_eq!(windows(&control.notify(0, Level::High, 85)), [(1, 0, Some(115_000))]);
    assert_eq!(windows(&control.notify(1, Level::None, 0)), [(1, 0, Some(152_500))]);
}

#[test]
fn polls_ask_for_ports_again_if_the_answer_was_lost_and_stop_without_flows() {
    let cfg = bundle(&[]).controller;
    let mut control = Control { controller: Controller::new(cfg), now: Time::ZERO, buffer: 7 };
    control.packet(3, 0, false, Flags::SYN);
    assert_eq!(windows(&control.notify(3, Level::High, 85)), [], "a port of unknown rate");
    let poll = control.act(|controller, cx| controller.on_timer(cx, 0));
    let ask = |cookie| (3, Body::FlowStatsRequest(super::wire::FlowStatsRequest { cookie }));
    assert_eq!(poll, [(3, Body::PortsRequest), ask(cookie::DATA), ask(cookie::ACKS)]);
    control.packet(3, 0, false, Flags::FIN);
    assert_eq!(control.act(|controller, cx| controller.on_timer(cx, 0)), []);
}

/// Messages that cannot be served, with the kind of error that answers them. Section 7.4.4.
fn unserved() -> Vec<(Vec<u8>, Option<FailureKind>)> {
    let cut = |body| Message { xid: 5, body }.encode()[..9].to_vec();
    let change = |at: usize, value: u8, body| {
        let mut bytes = Message { xid: 5, body }.encode();
        bytes[at] = value;
        bytes
    };
    vec![
        (Vec::new(), None),
        (vec![4, 10, 0, 9, 0], None),
        (change(0, 1, Body::Hello), Some(FailureKind::INCOMPATIBLE)),
        (change(0, 1, Body::BarrierRequest), Some(FailureKind::BAD_VERSION)),
        (change(1, 99, Body::BarrierRequest), Some(FailureKind::BAD_TYPE)),
        (change(9, 77, Body::PortsRequest), Some(FailureKind::BAD_MULTIPART)),
        (cut(Body::FeaturesReply { datapath: 1 }), Some(FailureKind::BAD_LENGTH)),
        (change(0, 1, Body::Error(Failure::new(FailureKind::BAD_TYPE, &[]))), None),
    ]
}

#[test]
fn the_controller_answers_what_is_no_message_with_an_error() {
    for (bytes, kind) in unserved() {
        let mut control = Control::new(&[]);
        let orders = control.act(|controller, cx| controller.on_message(cx, NodeId::new(0), &bytes));
        let error = kind.map(|kind| (0, Body::Error(Failure::new(kind, &bytes))));
        assert_eq!(orders, error.into_iter().collect::<Vec<_>>(), "{bytes:?}");
    }
}

#[test]
fn both_ends_say_that_they_are_there() {
    let request = Body::EchoRequest(vec![1, 2]);
    assert_eq!(Control::new(&[]).tell(1, request.clone()), [(1, Body::EchoReply(vec![1, 2]))]);
    assert_eq!(Bench::new(&[]).order(request).said, [Body::EchoReply(vec![1, 2])]);
}

#[test]
fn a_switch_without_buffers_gets_its_packets_back_after_their_entries() {
    let mut control = Control::new(&[("buffers", "false")]);
    let orders = control.packet_in_no_buffer(0, Flags::SYN);
    let [(0, Body::FlowMod(change)), (0, Body::BarrierRequest), (0, Body::PacketOut(out))] = &orders[..] else {
        panic!("{orders:?}")
    };
    assert_eq!((change.command, change.buffer), (command::ADD, NO_BUFFER));
    assert_eq!((out.buffer, out.in_port, &out.actions[..]), (NO_BUFFER, 2, &[Action::Output(1)][..]));
    assert_eq!(Frame::read(&out.data).expect("a frame").addresses, name(0));
    // Where the switch forwards packets itself it needs the entry alone.
    let mut copies = Control::new(&[("setup-delay", "false")]);
    assert!(matches!(copies.packet_in_no_buffer(0, Flags::SYN)[..], [(0, Body::FlowMod(_))]));
    // A FIN has no entry to wait for.
    let orders = control.packet_in_no_buffer(0, Flags::FIN);
    assert!(matches!(orders.last(), Some((0, Body::PacketOut(out))) if !out.data.is_empty()));
    assert!(!orders.contains(&(0, Body::BarrierRequest)));
}

/// S6: Step 2 has "all of the background flows passing through the OF-switch".
#[test]
fn flows_by_another_port_of_the_switch_share_only_if_told_to() {
    for (select, port, wanted) in [
        ("port", 1, vec![(0, 0, Some(46_666))]),
        ("switch", 1, vec![(0, 0, Some(23_333)), (0, 1, Some(23_333))]),
        ("switch", 2, vec![(0, 0, Some(23_333)), (0, 1, Some(23_333))]),
    ] {
        let mut control = Control::new(&[("select", select), ("data-from", "opener")]);
        for (flow, port) in [(0, 1), (1, 2)] {
            control.packet_by(0, flow, false, Flags::SYN, port);
            control.carried(flow, 2_000_000, Time::from_secs(2));
        }
        assert_eq!(windows(&control.notify_at((0, port), Level::Low, 30)), wanted, "{select} {port}");
        if select == "switch" {
            let joined = windows(&control.packet_by(0, 2, false, Flags::SYN, 2));
            assert!(
                joined.contains(&(0, 0, Some(15_555))),
                "a flow that joins any port changes the shares: {joined:?}"
            );
            assert_eq!(windows(&control.notify_at((0, port), Level::High, 85)).len(), 3);
            assert_eq!(windows(&control.notify_at((0, port), Level::None, 1)).len(), 3);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------
// Switch

struct Bench {
    switch: Switch,
    now: Time,
}

#[derive(Debug, Default)]
struct Did {
    said: Vec<Body>,
    sent: Vec<(Packet, LinkId)>,
    lost: usize,
    timers: Vec<(Time, u64)>,
}

const PORTS: [SwitchPort; 2] = [
    SwitchPort { from: LinkId::new(1), to: LinkId::new(0), rate: GBPS, host: true, peer: NodeId::new(9) },
    SwitchPort { from: LinkId::new(2), to: LinkId::new(3), rate: GBPS, host: true, peer: NodeId::new(9) },
];

impl Bench {
    fn new(changes: &[(&str, &str)]) -> Self {
        let bundle = bundle(changes);
        let trigger = super::TriggerConfig {
            thresholds: bundle.thresholds,
            recovery: bundle.recovery,
            jump: bundle.jump,
            step_down: bundle.step_down,
            packet: 1500,
        };
        let (scaling, hold, buffers, patience) = (bundle.scaling, bundle.hold, bundle.buffers, bundle.patience);
        let cfg = SwitchConfig { trigger, scaling, hold, buffers, patience, mss: MSS as u16 };
        let mut bench = Self { switch: Switch::new(cfg), now: Time::ZERO };
        let did = bench.act(|switch, cx| switch.on_start(cx, &PORTS));
        assert_eq!(did.said, [Body::Hello]);
        bench
    }
    fn act(&mut self, act: impl FnOnce(&mut Switch, &mut SwitchCx<'_>)) -> Did {
        let mut actions = Vec::new();
        let mut cx =
            SwitchCx { now: self.now, switch: NodeId::new(4), node: &mut (), book: &Book, actions: &mut actions };
        act(&mut self.switch, &mut cx);
        let mut did = Did::default();
        for action in actions {
            match action {
                SwitchAction::Report(bytes) => did.said.push(Message::decode(&bytes).expect("its own bytes").body),
                SwitchAction::Inject { packet, to } => did.sent.push((packet, to)),
                SwitchAction::Discard { .. } => did.lost += 1,
                SwitchAction::Control { .. } => unreachable!("SDTCP's switches send no control packets"),
                SwitchAction::Timer { at, token } => did.timers.push((at, token)),
            }
        }
        did
    }
    /// Data leave by port 1, acknowledgements by port 2.
    fn pass(&mut self, packet: &mut Packet, queue: u32) -> (Pass, Did) {
        let (from, to) = if packet.is_ack() { (1, 3) } else { (2, 0) };
        let backlog = Backlog { packets: queue, bytes: u64::from(queue) * 1500 };
        let passage = Passage { from: LinkId::new(from), to: LinkId::new(to), backlog, buffer: 150_000, rate: GBPS };
        let mut pass = Pass::Drop;
        let did = self.act(|switch, cx| pass = switch.on_packet(cx, packet, &passage));
        (pass, did)
    }
    fn order(&mut self, body: Body) -> Did {
        let bytes = Message { xid: 5, body }.encode();
        self.act(|switch, cx| switch.on_message(cx, &bytes))
    }
    fn add(&mut self, cookie: u64, connection: Addresses, buffer: u32, actions: Vec<Action>) -> Did {
        let matching = Match { connection: Some(connection), ..Match::default() };
        let change = FlowMod::new(command::ADD, cookie, 1, matching, actions);
        self.order(Body::FlowMod(FlowMod { buffer, ..change }))
    }
    /// Deletes the entries that this match covers, or with a priority exactly this entry.
    fn delete(&mut self, connection: Addresses, tcp_flags: Option<TcpFlags>, strict: Option<u16>) -> Did {
        let matching = Match { connection: Some(connection), tcp_flags, ..Match::default() };
        let command = if strict.is_some() { command::DELETE_STRICT } else { command::DELETE };
        let change = FlowMod::new(command, 0, strict.unwrap_or(0), matching, Vec::new());
        self.order(Body::FlowMod(change))
    }
    /// Whether the switch has entries of the first flow for data, for acknowledgements and for window limits.
    fn has(&mut self) -> [bool; 3] {
        let entries = self.switch.entries(FlowId::new(0));
        assert_eq!(entries[2], self.window_after(40_000) != 40_000);
        entries
    }
    /// A flow whose handshake has passed, with this scale.
    fn open(&mut self, scale: u8) {
        for acks in [false, true] {
            let flags = Flags::SYN.with_if(Flags::ACK, acks).with_window_scale(scale);
            let (_, did) = self.pass(&mut Packet { flags, size: 40, ..Packet::default() }, 0);
            let [Body::PacketIn(packet)] = &did.said[..] else { panic!("{did:?}") };
            let (connection, port) = if acks { (name(0).reversed(), 2) } else { (name(0), 1) };
            let kind = if acks { cookie::ACKS } else { cookie::DATA };
            let did = self.add(kind, connection, packet.buffer, vec![Action::Output(port)]);
            assert_eq!(did.sent.len(), 1);
        }
    }
    fn window_after(&mut self, window: u16) -> u16 {
        let mut ack = Packet { flags: Flags::ACK, window, size: 40, ..Packet::default() };
        assert_eq!(self.pass(&mut ack, 0).0, Pass::Forward);
        ack.window
    }
}

#[test]
fn connection_packets_wait_for_the_controller_and_leave_as_it_says() {
    let mut bench = Bench::new(&[]);
    let mut syn = Packet { flags: Flags::SYN.with_window_scale(2), size: 40, window: 65_535, ..Packet::default() };
    let (pass, did) = bench.pass(&mut syn, 0);
    let [Body::PacketIn(told)] = &did.said[..] else { panic!("{did:?}") };
    assert_eq!((pass, told.reason, told.about.in_port, told.about.out_port), (Pass::Keep, 1, Some(2), Some(1)));
    let frame = Frame::read(&told.data).expect("a frame");
    assert_eq!((frame.addresses, frame.mss, frame.scale), (name(0), Some(1460), Some(2)));
    let did = bench.add(cookie::DATA, name(0), told.buffer, vec![Action::Output(1)]);
    assert_eq!(did.sent, [(syn, LinkId::new(0))]);
    assert!(bench.add(cookie::DATA, name(0), told.buffer, vec![Action::Output(1)]).sent.is_empty(), "once");
}

#[test]
fn a_packet_without_an_answer_is_lost_in_time() {
    let mut bench = Bench::new(&[]);
    let (_, did) = bench.pass(&mut Packet { flags: Flags::FIN, size: 1500, ..Packet::default() }, 0);
    let [(at, token)] = did.timers[..] else { panic!("{did:?}") };
    assert_eq!(at, Time::from_ms(100));
    let did = bench.act(|switch, cx| switch.on_timer(cx, token));
    assert_eq!((did.lost, did.sent.len()), (1, 0));
}

#[test]
fn without_setup_delay_the_controller_gets_a_copy() {
    let mut bench = Bench::new(&[("setup-delay", "false")]);
    let (pass, did) = bench.pass(&mut Packet { flags: Flags::SYN, size: 40, ..Packet::default() }, 0);
    let [Body::PacketIn(told)] = &did.said[..] else { panic!("{did:?}") };
    assert_eq!((pass, told.buffer), (Pass::Forward, NO_BUFFER));
}

#[test]
fn a_packet_that_waited_is_counted_when_it_enters_the_port() {
    let mut bench = Bench::new(&[]);
    let packet = Packet { flags: Flags::FIN, size: 1500, ..Packet::default() };
    let levels = [(29, None), (30, Some(reason::CONGESTION + 1)), (31, None), (60, Some(reason::CONGESTION + 2))];
    for (queue, wanted) in levels {
        let backlog = Backlog { packets: queue - 1, bytes: u64::from(queue - 1) * 1500 };
        let did = bench.act(|switch, cx| switch.on_inject(cx, &packet, LinkId::new(0), backlog, GBPS));
        let told = did.said.iter().map(|body| match body {
            Body::PacketIn(told) => (told.reason, told.about.in_port, told.about.buffer_len),
            other => panic!("{other:?}"),
        });
        let wanted = wanted.map(|reason| (reason, Some(1), Some(queue * 1500)));
        assert_eq!(told.collect::<Vec<_>>(), Vec::from_iter(wanted));
    }
}

#[test]
fn windows_are_cut_in_units_of_the_scale_and_never_raised() {
    for (scale, field) in [(0, 2920), (2, 730), (5, 92), (14, 1)] {
        let mut bench = Bench::new(&[]);
        bench.open(scale);
        assert_eq!(bench.window_after(40_000), 40_000, "no rule");
        bench.add(cookie::WINDOW, name(0).reversed(), NO_BUFFER, vec![Action::LimitWindow(2920)]);
        assert_eq!(bench.window_after(40_000), field, "rounded up to 2920 bytes at scale {scale}");
        assert_eq!(bench.window_after(0), 0, "Eq. 9 takes the least");
        let mut data = Packet { size: 1500, window: 40_000, ..Packet::default() };
        bench.pass(&mut data, 0);
        assert_eq!(data.window, 40_000, "data is left alone");
    }
    let mut bench = Bench::new(&[("window-scale", "ignored")]);
    bench.open(5);
    bench.add(cookie::WINDOW, name(0).reversed(), NO_BUFFER, vec![Action::LimitWindow(2920)]);
    assert_eq!(bench.window_after(40_000), 2920);
}

#[test]
fn windows_of_responses_are_those_of_the_connection_that_their_request_opened() {
    let mut bench = Bench::new(&[]);
    bench.open(2);
    let response = |flags| Packet { flow: FlowId::new(1), flags, window: 40_000, size: 40, ..Packet::default() };
    bench.add(cookie::WINDOW, name(0), NO_BUFFER, vec![Action::LimitWindow(2920)]);
    let (mut ack, mut data) = (response(Flags::ACK), Packet { size: 1500, ..response(Flags::default()) });
    bench.pass(&mut ack, 0);
    bench.pass(&mut data, 0);
    assert_eq!((ack.window, data.window), (730, 40_000), "by the scale of the client's SYN");
    assert_eq!(bench.window_after(40_000), 40_000, "acknowledgements of the request keep theirs");
    // It is counted in its own direction, and its FIN ends the connection.
    for (cookie, connection, bytes) in [(cookie::DATA, name(0), 40), (cookie::ACKS, name(0).reversed(), 1500 + 40)] {
        let did = bench.order(Body::FlowStatsRequest(super::wire::FlowStatsRequest { cookie }));
        let [Body::FlowStats { flows, .. }] = &did.said[..] else { panic!("{did:?}") };
        assert_eq!((flows[0].matching.connection, flows[0].counters.bytes), (Some(connection), bytes));
    }
    let (_, did) = bench.pass(&mut response(Flags::FIN), 0);
    let [Body::PacketIn(told)] = &did.said[..] else { panic!("{did:?}") };
    assert_eq!(Frame::read(&told.data).expect("a frame").addresses, name(0).reversed());
}

#[test]
fn who_did_not_see_the_handshake_rewrites_nothing() {
    let mut bench = Bench::new(&[]);
    bench.pass(&mut Packet { flags: Flags::SYN.with_window_scale(5), size: 40, ..Packet::default() }, 0);
    bench.add(cookie::WINDOW, name(0).reversed(), NO_BUFFER, vec![Action::LimitWindow(2920)]);
    assert_eq!(bench.window_after(40_000), 40_000);
}

#[test]
fn rules_go_by_order_with_their_flow_or_by_timeout() {
    let limit = |bench: &mut Bench| {
        bench.open(0);
        bench.add(cookie::WINDOW, name(0).reversed(), NO_BUFFER, vec![Action::LimitWindow(2920)]);
        assert_eq!(bench.window_after(40_000), 2920);
    };
    let (forth, back) = (name(0), name(0).reversed());
    // OpenFlow 1.3.5, section 6.4: DELETE removes what the match covers at any priority, DELETE_STRICT exactly one
    // entry.
    let (window, flow) = (Some(priority::WINDOW), Some(priority::FLOW));
    for (connection, flags, strict, left) in [
        (forth, None, None, [false, true, true]),
        (back, None, None, [true, false, false]),
        (back, Some(ACK_NOT_SYN), None, [true, true, false]),
        (back, Some(ACK_NOT_SYN), window, [true, true, false]),
        (back, None, window, [true, true, true]),
        (back, Some(ACK_NOT_SYN), flow, [true, true, true]),
        (back, None, flow, [true, false, true]),
        (forth, None, flow, [false, true, true]),
    ] {
        let mut bench = Bench::new(&[]);
        limit(&mut bench);
        bench.delete(connection, flags, strict);
        assert_eq!(bench.has(), left, "{connection:?} {flags:?} {strict:?}");
    }
    // Once the last entry is gone, nothing is known of the flow, and its FIN restores nothing.
    let mut bench = Bench::new(&[]);
    limit(&mut bench);
    bench.delete(forth, None, None);
    bench.delete(back, None, None);
    bench.pass(&mut Packet { flags: Flags::FIN.with(Flags::ACK), size: 40, ..Packet::default() }, 0);
    bench.add(cookie::WINDOW, back, NO_BUFFER, vec![Action::LimitWindow(2920)]);
    assert_eq!(bench.has(), [false; 3]);
    let mut bench = Bench::new(&[]);
    bench.open(0);
    let matching = Match { connection: Some(name(0).reversed()), ..Match::default() };
    let change = |hard, bytes| {
        Body::FlowMod(FlowMod {
            cookie: cookie::WINDOW,
            command: command::ADD,
            idle: 0,
            hard,
            priority: 1,
            buffer: NO_BUFFER,
            tell: false,
            matching,
            actions: vec![Action::LimitWindow(bytes)],
        })
    };
    let first = bench.order(change(3, 2920)).timers[0];
    bench.now = Time::from_secs(2);
    let second = bench.order(change(3, 1460)).timers[0];
    assert_eq!((first.0, second.0), (Time::from_secs(3), Time::from_secs(5)));
    bench.act(|switch, cx| switch.on_timer(cx, first.1));
    assert_eq!(bench.window_after(40_000), 1460, "the newer rule has its own time");
    bench.act(|switch, cx| switch.on_timer(cx, second.1));
    assert_eq!(bench.window_after(40_000), 40_000);
}

#[test]
fn idle_flows_are_forgotten_and_reported() {
    let mut bench = Bench::new(&[]);
    bench.open(0);
    let matching = Match { connection: Some(name(0)), ..Match::default() };
    let change = FlowMod {
        cookie: cookie::DATA,
        command: command::ADD,
        idle: 10,
        hard: 0,
        priority: 1,
        buffer: NO_BUFFER,
        tell: true,
        matching,
        actions: vec![Action::Output(1)],
    };
    let (at, token) = bench.order(Body::FlowMod(change)).timers[0];
    assert_eq!(at, Time::from_secs(10));
    bench.now = Time::from_secs(4);
    bench.pass(&mut Packet { size: 1500, ..Packet::default() }, 0);
    bench.now = at;
    let did = bench.act(|switch, cx| switch.on_timer(cx, token));
    let (at, token) = did.timers[0];
    assert_eq!((at, did.said.len()), (Time::from_secs(14), 0), "ten seconds after its last data");
    bench.now = at;
    let did = bench.act(|switch, cx| switch.on_timer(cx, token));
    let [Body::FlowRemoved(removed)] = &did.said[..] else { panic!("{did:?}") };
    assert_eq!((removed.counters.packets, removed.counters.bytes), (1, 1500));
    assert_eq!(removed.counters.age, Time::from_secs(14));
    assert_eq!(bench.has(), [false, true, false], "that of its acknowledgements stays until it is deleted");
}

#[test]
fn statistics_tell_what_data_entries_carried() {
    let mut bench = Bench::new(&[]);
    bench.open(0);
    for _ in 0..3 {
        bench.pass(&mut Packet { size: 1500, ..Packet::default() }, 0);
        bench.window_after(1);
    }
    bench.now = Time::from_ms(1_500);
    let did = bench.order(Body::FlowStatsRequest(super::wire::FlowStatsRequest { cookie: cookie::DATA }));
    let [Body::FlowStats { flows, more: false }] = &did.said[..] else { panic!("{did:?}") };
    let counters = Counters { age: Time::from_ms(1_500), packets: 3, bytes: 4500 };
    assert_eq!(
        flows.iter().map(|flow| (flow.matching.connection, flow.counters)).collect::<Vec<_>>(),
        [(Some(name(0)), counters)]
    );
}

#[test]
fn a_growing_queue_is_notified_with_its_port_and_length() {
    let mut bench = Bench::new(&[]);
    let mut levels = Vec::new();
    for queue in 0..100 {
        let (_, did) = bench.pass(&mut Packet { size: 1500, ..Packet::default() }, queue);
        for body in did.said {
            let Body::PacketIn(told) = body else { panic!("{body:?}") };
            assert_eq!((told.about.in_port, told.buffer, told.data.len()), (Some(1), NO_BUFFER, 0));
            levels.push((told.reason, told.about.buffer_len));
        }
    }
    assert_eq!(levels, [(0xF1, Some(45_000)), (0xF2, Some(90_000)), (0xF3, Some(127_500))]);
    let mut state = Vec::new();
    bench.switch.probes(&mut |name, value| state.push((name, value)));
    assert_eq!(state, [("congestion-level", 3.0), ("window-rules", 0.0), ("rewritten", 0.0)]);
}

#[test]
fn a_switch_greets_until_it_is_answered() {
    let mut bench = Bench::new(&[]);
    // The HELLO at the start set the first timer.
    let did = bench.act(|switch, cx| switch.on_timer(cx, 1));
    assert_eq!((&did.said[..], did.timers.len()), (&[Body::Hello][..], 1));
    bench.order(Body::Hello);
    let did = bench.act(|switch, cx| switch.on_timer(cx, 2));
    assert!(did.said.is_empty() && did.timers.is_empty());
}

#[test]
fn the_switch_answers_what_it_is_asked_and_rubbish_with_an_error() {
    let mut bench = Bench::new(&[]);
    assert_eq!(bench.order(Body::FeaturesRequest).said, [Body::FeaturesReply { datapath: 4 }]);
    let ports = (1..3).map(|port| PortDescription { port, kbps: 1_000_000 }).collect();
    assert_eq!(bench.order(Body::PortsRequest).said, [Body::Ports { ports, more: false }]);
    for (bytes, kind) in unserved() {
        let did = bench.act(|switch, cx| switch.on_message(cx, &bytes));
        let error = kind.map(|kind| Body::Error(Failure::new(kind, &bytes)));
        assert_eq!(did.said, error.into_iter().collect::<Vec<_>>(), "{bytes:?}");
        assert!(did.sent.is_empty());
    }
}

#[test]
fn answers_of_a_switch_have_the_number_of_their_request() {
    let requests = [
        Body::FeaturesRequest,
        Body::PortsRequest,
        Body::FlowStatsRequest(FlowStatsRequest { cookie: cookie::DATA }),
        Body::EchoRequest(Vec::new()),
        Body::BarrierRequest,
        Body::PacketOut(PacketOut { buffer: 3, in_port: 1, actions: Vec::new(), data: Vec::new() }),
    ];
    for body in requests {
        let mut bench = Bench::new(&[]);
        let (bytes, mut xids) = (Message { xid: 99, body }.encode(), Vec::new());
        let mut actions = Vec::new();
        let mut cx =
            SwitchCx { now: Time::ZERO, switch: NodeId::new(4), node: &mut (), book: &Book, actions: &mut actions };
        bench.switch.on_message(&mut cx, &bytes);
        for action in actions {
            let SwitchAction::Report(bytes) = action else { panic!("{action:?}") };
            xids.push(Message::decode(&bytes).expect("its own bytes").xid);
        }
        assert_eq!(xids, [99]);
    }
}

#[test]
fn a_barrier_is_answered_and_an_empty_buffer_is_an_error() {
    let mut bench = Bench::new(&[]);
    assert_eq!(bench.order(Body::BarrierRequest).said, [Body::BarrierReply]);
    let out = Body::PacketOut(PacketOut { buffer: 3, in_port: 1, actions: Vec::new(), data: Vec::new() });
    let bytes = Message { xid: 5, body: out.clone() }.encode();
    let error = Body::Error(Failure::new(FailureKind::BUFFER_UNKNOWN, &bytes));
    assert_eq!(bench.order(out).said, [error]);
}

#[test]
fn without_buffers_packets_leave_when_they_come_back() {
    let mut bench = Bench::new(&[("buffers", "false")]);
    let mut fin = Packet { flags: Flags::FIN, size: 1500, seq: 9, ..Packet::default() };
    let (pass, did) = bench.pass(&mut fin, 0);
    let [Body::PacketIn(told)] = &did.said[..] else { panic!("{did:?}") };
    assert_eq!((pass, told.buffer, usize::from(told.total)), (Pass::Keep, NO_BUFFER, told.data.len()));
    let out =
        |data| Body::PacketOut(PacketOut { buffer: NO_BUFFER, in_port: 2, actions: vec![Action::Output(1)], data });
    assert!(bench.order(out(vec![0; 54])).sent.is_empty(), "another packet");
    assert_eq!(bench.order(out(told.data.clone())).sent, [(fin, LinkId::new(0))]);
    assert!(bench.order(out(told.data.clone())).sent.is_empty(), "once");
    // What does not come back is lost, and no longer known.
    let (_, did) = bench.pass(&mut fin, 0);
    let token = did.timers[0].1;
    assert_eq!(bench.act(|switch, cx| switch.on_timer(cx, token)).lost, 1);
    assert!(bench.order(out(told.data.clone())).sent.is_empty());
}

#[test]
fn the_roles_are_those_of_the_paper() {
    let bundle = bundle(&[]);
    let node = NodeId::new(0);
    let facts = NodeFacts { node, rate: GBPS, base_rtt: Time::from_us(200), mss: 1460, packet: 1500 };
    assert!(bundle.switch_agent(&facts).is_some());
    assert!(bundle.window_control(&facts).is_none() && bundle.queue(&facts).is_none(), "end hosts are unmodified");
}

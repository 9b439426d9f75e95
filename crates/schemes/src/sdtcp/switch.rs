//! The switch: it triggers notifications, asks the controller about connections, and rewrites windows (Steps 1 and 4).

use super::table::{Expiry, FlowTable, Scaling};
use super::trigger::{Level, Trigger, TriggerConfig};
use super::wire::{
    Action, Body, Failure, FailureKind, FlowMod, FlowRemoved, FlowStats, Frame, Match, Message, NO_BUFFER, PacketIn,
    PacketOut, PortDescription, command, cookie, reason,
};
#[cfg(test)]
use fanin_core::ids::FlowId;
use fanin_core::ids::LinkId;
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{Backlog, Pass, Passage, SwitchAction, SwitchAgent, SwitchCx, SwitchPort};
use fanin_core::units::{Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// Configuration common to all switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchConfig {
    pub(crate) trigger: TriggerConfig,
    pub(crate) scaling: Scaling,
    /// SYN and FIN packets wait for the controller.
    pub(crate) hold: bool,
    /// They wait in buffers of the switch; otherwise the controller gets them whole, and sends them back.
    pub(crate) buffers: bool,
    /// Maximum time that a packet waits for the controller before it is dropped.
    pub(crate) patience: Time,
    /// Payload of a full segment.
    pub(crate) mss: u16,
}

/// Flags of packets that open or end a connection.
const CONNECTION: Flags = Flags::SYN.with(Flags::FIN).with(Flags::RST);

/// Time after which a HELLO without a reply is repeated.
const HELLO_AGAIN: Time = Time::from_secs(1);

/// A port and its trigger.
#[derive(Clone, Copy, Debug)]
struct Port {
    links: SwitchPort,
    trigger: Trigger,
}

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    Hello,
    Recovery(usize),
    Buffer(u32),
    Expiry(Expiry),
}

/// The agent of one switch.
#[derive(Debug)]
pub(crate) struct Switch {
    cfg: SwitchConfig,
    /// By port number minus one.
    ports: Vec<Port>,
    /// Index of the port by its egress link, and by its ingress link.
    egress: Vec<u32>,
    ingress: Vec<u32>,
    table: FlowTable,
    /// Waiting packets, with their original egress.
    buffers: BTreeMap<u32, (Packet, LinkId)>,
    /// Packets that the controller has, with their buffers, by their bytes: a packet here has more than its bytes say.
    away: BTreeMap<Vec<u8>, VecDeque<u32>>,
    alarms: BTreeMap<u64, Alarm>,
    next_buffer: u32,
    next_alarm: u64,
    next_xid: u32,
    /// The controller has replied to the HELLO.
    greeted: bool,
    rewritten: u64,
}

impl Switch {
    pub(crate) fn new(cfg: SwitchConfig) -> Self {
        Self {
            cfg,
            ports: Vec::new(),
            egress: Vec::new(),
            ingress: Vec::new(),
            table: FlowTable::new(cfg.scaling),
            buffers: BTreeMap::new(),
            away: BTreeMap::new(),
            alarms: BTreeMap::new(),
            next_buffer: 0,
            next_alarm: 0,
            next_xid: 0,
            greeted: false,
            rewritten: 0,
        }
    }

    fn send(&mut self, cx: &mut SwitchCx<'_>, body: Body) {
        self.next_xid = self.next_xid.wrapping_add(1);
        cx.actions.push(SwitchAction::Report(Message { xid: self.next_xid, body }.encode()));
    }

    fn answer(cx: &mut SwitchCx<'_>, xid: u32, body: Body) {
        cx.actions.push(SwitchAction::Report(Message::reply(xid, body)));
    }

    fn set(&mut self, cx: &mut SwitchCx<'_>, at: Time, alarm: Alarm) {
        self.next_alarm += 1;
        self.alarms.insert(self.next_alarm, alarm);
        cx.actions.push(SwitchAction::Timer { at, token: self.next_alarm });
    }

    /// Whether a flow has entries for data, for acknowledgements and for window limits.
    #[cfg(test)]
    pub(crate) fn entries(&self, flow: FlowId) -> [bool; 3] {
        self.table.entries(flow)
    }

    fn greet(&mut self, cx: &mut SwitchCx<'_>) {
        self.send(cx, Body::Hello);
        self.set(cx, cx.now.saturating_add(HELLO_AGAIN), Alarm::Hello);
    }

    /// Algorithm 1, for a packet that is about to enter a port.
    #[inline]
    fn trigger(&mut self, cx: &mut SwitchCx<'_>, packet: &Packet, to: LinkId, backlog: Backlog, rate: Rate) {
        let index = self.egress[to.index()] as usize;
        // READING: S4 line 1 shows the increment only; it is the instantaneous queue with the arriving packet.
        let queue = Backlog { packets: backlog.packets + 1, bytes: backlog.bytes + u64::from(packet.size) };
        let trigger = &mut self.ports[index].trigger;
        if let Some(level) = trigger.on_arrival(queue, rate, cx.now, &self.cfg.trigger) {
            self.notify(cx, index, level);
        }
    }

    /// Sends CN-L, CN-M, CN-H or CR, and keeps the recovery timer running while there is congestion.
    fn notify(&mut self, cx: &mut SwitchCx<'_>, index: usize, level: Level) {
        let queue = self.cfg.trigger.bytes(self.ports[index].trigger.queue());
        let about = Match {
            in_port: Some(index as u32 + 1),
            buffer_len: Some(u32::try_from(queue).unwrap_or(u32::MAX)),
            ..Match::default()
        };
        let reason = reason::CONGESTION + level as u8;
        let body = PacketIn { buffer: NO_BUFFER, total: 0, reason, cookie: u64::MAX, about, data: Vec::new() };
        self.send(cx, Body::PacketIn(body));
        self.watch(cx, index);
    }

    fn watch(&mut self, cx: &mut SwitchCx<'_>, index: usize) {
        if let Some(at) = self.ports[index].trigger.arm(&self.cfg.trigger) {
            self.set(cx, at, Alarm::Recovery(index));
        }
    }

    /// Sends a packet that opens or ends a connection to the controller, and holds it if it is to wait.
    fn ask(&mut self, cx: &mut SwitchCx<'_>, packet: &Packet, passage: &Passage) -> Pass {
        // The response to a request flows against the SYN of its connection.
        let opener = cx.book.opener(packet.flow);
        let responds = cx.book.asked_on(packet.flow).is_some();
        self.table.learn(packet, opener);
        let frame = Frame::of(packet, if responds { opener.reversed() } else { opener }, self.cfg.mss);
        let (mut buffer, mut data) = (NO_BUFFER, frame.head());
        if self.cfg.hold {
            let place = self.next_buffer;
            self.next_buffer = (place + 1) % NO_BUFFER;
            self.buffers.insert(place, (*packet, passage.to));
            self.set(cx, cx.now.saturating_add(self.cfg.patience), Alarm::Buffer(place));
            if self.cfg.buffers {
                buffer = place;
            } else {
                data = frame.whole();
                self.away.entry(data.clone()).or_default().push_back(place);
            }
        }
        let about = Match {
            in_port: Some(self.ingress[passage.from.index()] + 1),
            out_port: Some(self.egress[passage.to.index()] + 1),
            ..Match::default()
        };
        let total = u16::try_from(frame.length()).unwrap_or(u16::MAX);
        let body = PacketIn { buffer, total, reason: reason::ACTION, cookie: cookie::CONNECTION, about, data };
        self.send(cx, Body::PacketIn(body));
        if self.cfg.hold { Pass::Keep } else { Pass::Forward }
    }

    /// Sends a packet that the controller returns, or a waiting one. Returns whether there was one.
    fn send_out(&mut self, cx: &mut SwitchCx<'_>, packet: &PacketOut) -> bool {
        let returned = || self.away.get(&packet.data)?.front().copied();
        let place = if packet.buffer == NO_BUFFER { returned() } else { Some(packet.buffer) };
        place.is_some_and(|place| self.release(cx, place, &packet.actions))
    }

    /// Sends a waiting packet by the controller's actions. Returns whether there was one.
    fn release(&mut self, cx: &mut SwitchCx<'_>, buffer: u32, actions: &[Action]) -> bool {
        let to = actions.iter().find_map(|action| match action {
            Action::Output(port) => self.ports.get((*port as usize).checked_sub(1)?).map(|port| port.links.to),
            Action::LimitWindow(_) => None,
        });
        let Some((packet, kept_from)) = self.buffers.remove(&buffer) else { return false };
        self.away.retain(|_, places| {
            places.retain(|place| *place != buffer);
            !places.is_empty()
        });
        // Without an output action the packet is dropped (section 7.3.7).
        cx.actions.push(match to {
            Some(to) => SwitchAction::Inject { packet, to },
            None => SwitchAction::Discard { packet, to: kept_from },
        });
        true
    }

    /// Changes the flow table. Returns whether the packet that was to leave by the new entry was there.
    fn obey(&mut self, cx: &mut SwitchCx<'_>, change: &FlowMod) -> bool {
        if let Some(expiry) = self.table.change(change, cx.now) {
            let (Expiry::Idle(_, at) | Expiry::Hard(_, _, at)) = expiry;
            self.set(cx, at, Alarm::Expiry(expiry));
        }
        let releases = change.command == command::ADD && change.buffer != NO_BUFFER;
        !releases || self.release(cx, change.buffer, &change.actions)
    }

    fn expire(&mut self, cx: &mut SwitchCx<'_>, expiry: Expiry) {
        match self.table.expire(expiry, cx.now) {
            Ok(None) => {}
            Ok(Some(FlowStats { cookie, priority, counters, matching })) => {
                self.send(cx, Body::FlowRemoved(FlowRemoved { cookie, priority, counters, matching }));
            }
            Err(later) => {
                let (Expiry::Idle(_, at) | Expiry::Hard(_, _, at)) = later;
                self.set(cx, at, Alarm::Expiry(later));
            }
        }
    }
}

impl SwitchAgent for Switch {
    fn on_start(&mut self, cx: &mut SwitchCx<'_>, ports: &[SwitchPort]) {
        for (i, links) in ports.iter().enumerate() {
            for (numbers, link) in [(&mut self.egress, links.to), (&mut self.ingress, links.from)] {
                numbers.resize(numbers.len().max(link.index() + 1), u32::MAX);
                numbers[link.index()] = i as u32;
            }
        }
        self.ports = ports.iter().map(|links| Port { links: *links, trigger: Trigger::new() }).collect();
        self.greet(cx);
    }

    #[inline]
    fn on_packet(&mut self, cx: &mut SwitchCx<'_>, packet: &mut Packet, passage: &Passage) -> Pass {
        // Section 3.5: the entries for SYN and FIN have the highest priority.
        if packet.flags.has(CONNECTION) {
            let pass = self.ask(cx, packet, passage);
            if pass == Pass::Forward {
                self.trigger(cx, packet, passage.to, passage.backlog, passage.rate);
            }
            return pass;
        }
        self.rewritten += u64::from(self.table.pass(packet, cx.book, cx.now));
        self.trigger(cx, packet, passage.to, passage.backlog, passage.rate);
        Pass::Forward
    }

    /// Algorithm 1 counts every packet that enters the port, including those that waited for the controller.
    fn on_inject(&mut self, cx: &mut SwitchCx<'_>, packet: &Packet, to: LinkId, backlog: Backlog, rate: Rate) {
        self.trigger(cx, packet, to, backlog, rate);
    }

    fn on_message(&mut self, cx: &mut SwitchCx<'_>, message: &[u8]) {
        let Message { xid, body } = match Message::decode(message) {
            Ok(message) => message,
            Err(why) => {
                if let Some((xid, failure)) = Failure::of(message, why) {
                    Self::answer(cx, xid, Body::Error(failure));
                }
                return;
            }
        };
        self.greeted = true;
        let mut served = true;
        match body {
            Body::EchoRequest(data) => Self::answer(cx, xid, Body::EchoReply(data)),
            // Each message is done when the next one comes.
            Body::BarrierRequest => Self::answer(cx, xid, Body::BarrierReply),
            Body::FeaturesRequest => {
                let datapath = cx.switch.index() as u64;
                Self::answer(cx, xid, Body::FeaturesReply { datapath });
            }
            Body::PortsRequest => {
                let kbps = |port: &Port| u32::try_from(port.links.rate.bps() / 1000).unwrap_or(u32::MAX);
                let ports = self.ports.iter().zip(1..);
                let ports: Vec<_> =
                    ports.map(|(port, number)| PortDescription { port: number, kbps: kbps(port) }).collect();
                for body in Body::of_ports(&ports) {
                    Self::answer(cx, xid, body);
                }
            }
            Body::FlowStatsRequest(request) if [cookie::DATA, cookie::ACKS].contains(&request.cookie) => {
                for body in Body::of_flows(self.table.stats(request.cookie, cx.now)) {
                    Self::answer(cx, xid, body);
                }
            }
            Body::FlowMod(change) => served = self.obey(cx, &change),
            Body::PacketOut(packet) => served = self.send_out(cx, &packet),
            _ => {}
        }
        if !served {
            Self::answer(cx, xid, Body::Error(Failure::new(FailureKind::BUFFER_UNKNOWN, message)));
        }
    }

    fn on_timer(&mut self, cx: &mut SwitchCx<'_>, token: u64) {
        match self.alarms.remove(&token) {
            Some(Alarm::Hello) if !self.greeted => self.greet(cx),
            Some(Alarm::Recovery(index)) => {
                if let Some(level) = self.ports[index].trigger.on_timer(cx.now, &self.cfg.trigger) {
                    self.notify(cx, index, level);
                } else {
                    self.watch(cx, index);
                }
            }
            // The reply was lost or is too late. The packet is dropped, and its sender retransmits it.
            Some(Alarm::Buffer(buffer)) => {
                self.release(cx, buffer, &[]);
            }
            Some(Alarm::Expiry(expiry)) => self.expire(cx, expiry),
            Some(Alarm::Hello) | None => {}
        }
    }

    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let levels = self.ports.iter().map(|port| port.trigger.level() as u8);
        show("congestion-level", f64::from(levels.max().unwrap_or(0)));
        show("window-rules", f64::from(self.table.limits()));
        show("rewritten", self.rewritten as f64);
    }
}

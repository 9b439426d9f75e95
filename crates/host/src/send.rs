//! Sending hosts: senders process acknowledgements and timers, and send segments into the network.

use crate::flow::{Flow, HeldRequest, Wire};
use crate::hosts::{Endpoint, Host, Hosts};
use crate::riding::Riding;
use fanin_core::ids::FlowId;
use fanin_core::packet::{CellTag, Flags, Packet, Stamp, unwrap_seq};
use fanin_core::roles::{Announcement, ControlPacket, PacketFacts, PathAck, PathRequest};
use fanin_core::telemetry::Telemetry;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_measure::probes::HostProbes;
use fanin_measure::timeouts::TimeoutCause;
use fanin_net::network::Network;
use fanin_net::paths::{InTurn, choose};
use fanin_tcp::FIRST_DATA;
use fanin_tcp::sack::AckOption;
use fanin_tcp::sender::{Env, InAck, OutSegment, Sender, SenderIo, State, TimerOutcome};

/// A sender's access to the network.
pub(crate) struct Io<'a, C> {
    net: &'a mut Network<C>,
    wire: &'a mut Wire,
    riding: Option<&'a mut Riding>,
    hosts: &'a mut [Option<Host>],
}

impl<C: EventCore> Io<'_, C> {
    /// Bytes of a flowcell, if the flow's host sends such.
    fn cell(&self) -> Option<u64> {
        self.hosts[self.wire.from.index()].as_ref().expect("flows begin at hosts").selector.cell()
    }

    /// Chooses the path of the segment that begins at `seq`, or of its flowcell.
    #[cold]
    fn choose_path(&mut self, seq: u64) {
        let now = self.net.now();
        let (mut cell, mut idle) = (0, Time::ZERO);
        if self.wire.asks_anew() {
            idle = now.saturating_sub(std::mem::replace(&mut self.wire.sent_at, now));
        } else if let Some(bytes) = self.cell() {
            // Cells count data bytes. The handshake's sequence numbers before the first data byte belong to the first cell.
            cell = seq.saturating_sub(FIRST_DATA) / bytes;
            self.wire.cell_end = (cell + 1) * bytes + FIRST_DATA;
        }
        let request = PathRequest {
            flow: self.wire.id,
            from: self.wire.from,
            to: self.wire.to,
            paths: self.wire.cell_paths.len(),
            hash: self.net.paths.hash(self.wire.id),
            cell,
            current: self.wire.cell_paths.iter().position(|path| *path == self.wire.forward),
            seq,
            idle,
        };
        let routes = InTurn { paths: &self.net.paths, offsets: &self.wire.cell_paths };
        let host = self.hosts[self.wire.from.index()].as_mut().expect("flows begin at hosts");
        let node = self.net.core.node(host.edge);
        let (number, tag) = choose(&routes, &mut *host.selector, node, now, &request);
        (self.wire.forward, self.wire.tag) = (self.wire.cell_paths[number], tag);
    }
}

impl<C: EventCore> SenderIo for Io<'_, C> {
    const EAGER_TIMERS: bool = C::EAGER_TIMERS;

    #[inline(always)]
    fn transmit(&mut self, segment: OutSegment, facts: &PacketFacts, now: Time) {
        if segment.seq >= self.wire.cell_end {
            self.choose_path(segment.seq);
        }
        let (mut priority, mut field) = (facts.priority, facts.field | self.wire.tag);
        if segment.flags.has(Flags::RETRANSMITTED) {
            if let (Some(tag), Some(cell)) = (CellTag::of(self.wire.tag), self.cell()) {
                // It takes the path of the current cell, but carries the tag of its own.
                let cell = (segment.seq.saturating_sub(FIRST_DATA) / cell) as u32;
                field = facts.field | CellTag { cell, ..tag }.field();
            }
            priority = facts.resend_priority.unwrap_or(priority);
            let books = self.net.core.books();
            books.on_resent(self.wire.id, segment.seq as u32);
            if let Some(bins) = &mut books.bins {
                bins.add_retransmission(self.wire.group, now);
            }
        }
        let syn = segment.flags.has(Flags::SYN);
        if syn && self.wire.announcement != 0 {
            field = self.wire.announcement;
        }
        let (link, onward) = self.net.paths.begin(self.wire.forward);
        let packet = Packet {
            arrival: 0,
            field,
            flow: self.wire.id,
            seq: segment.seq as u32,
            onward,
            stamp: Stamp::of(now),
            window: if syn { u16::MAX } else { 0 },
            size: self.wire.header + segment.len as u16,
            flags: segment.flags.with_window_scale(if syn { self.wire.scale } else { 0 }),
            priority,
        };
        self.wire.sent_bytes += u64::from(packet.size);
        if let Some(riding) = &mut self.riding {
            riding.on_segment(&segment, now);
        }
        self.net.put(link, &packet, self.wire.endpoint);
    }
    fn leaves(&mut self, bytes: u64, segments: u64) -> Time {
        let (link, _) = self.net.paths.begin(self.wire.forward);
        self.net.leaves(link, bytes + segments * u64::from(self.wire.header))
    }
    // Rare, as deadlines move lazily: what calls it stays small.
    #[inline(never)]
    fn retransmission_timer(&mut self, at: Time) {
        self.net.core.schedule(at, Class::Retransmission, self.wire.id.index());
    }
    fn pacing_timer(&mut self, at: Time) {
        self.net.core.schedule(at, Class::Pacing, self.wire.id.index());
    }
    fn wake_timer(&mut self, at: Time) {
        self.net.core.schedule(at, Class::Wake, self.wire.id.index());
    }
}

/// Whether Linux keeps the last segment of what an application writes until the others have left the host, so that the
/// FIN still gets on it: `tcp_should_autocork`. It is shorter than the others, and with TSO there are no others.
fn corks(mss: u64, tso: bool, bytes: Option<u64>) -> bool {
    !tso && bytes.is_some_and(|bytes| bytes > mss && !bytes.is_multiple_of(mss))
}

/// What an acknowledgement carries besides its packet.
#[cold]
fn take_option<C: EventCore>(packet: &Packet, net: &mut Network<C>, stack: &mut Option<Box<Telemetry>>) -> AckOption {
    let mut option = net.core.options().take(packet.stamp.bits() as usize).expect("one for each handle");
    if option.stack > 0 {
        *stack = net.core.stacks().take(option.stack as usize - 1);
    }
    option.hosts.local = net.now().saturating_sub(Time::from_ps(packet.arrival));
    option
}

/// The host that chooses a flow's path hears of an acknowledgement. That of a SYN, whose ECE is no echo, is none.
#[cold]
fn tell_selector(hosts: &mut [Option<Host>], flow: &Flow, packet: &Packet, now: Time) {
    if !packet.flags.has(Flags::SYN) {
        let host = hosts[flow.wire.from.index()].as_mut().expect("flows begin at hosts");
        let next = unwrap_seq(packet.seq, flow.sender.una());
        host.selector.on_ack(&PathAck { flow: packet.flow, now, next, ece: packet.flags.has(Flags::ECE) });
    }
}

/// What a sender needs besides its flow.
struct Around<'a> {
    hosts: &'a mut [Option<Host>],
    endpoints: &'a [Endpoint],
    probes: &'a mut HostProbes,
}

impl Around<'_> {
    #[inline(always)]
    fn with_sender<C: EventCore, R>(
        self,
        flow: &mut Flow,
        net: &mut Network<C>,
        act: impl FnOnce(&mut Sender, &mut Env<'_, Io<'_, C>>) -> R,
    ) -> R {
        let Endpoint { sender: cfg, receiver, .. } = &self.endpoints[flow.wire.endpoint as usize];
        let now = net.now();
        let riding = if receiver.linux.is_some() { flow.riding.as_deref_mut() } else { None };
        let mut io = Io { net, wire: &mut flow.wire, riding, hosts: self.hosts };
        let result = act(&mut flow.sender, &mut Env { now, cfg, io: &mut io });
        if !flow.sender.window().is_open(cfg.quirks.wraps_window()) {
            let what = format!("flow {} has the window {:?}", flow.wire.id, flow.sender.window());
            net.core.books().broken(now, what);
        }
        if self.probes.any && flow.probed {
            self.probes.record(flow.wire.id, now, &flow.sender, cfg);
        }
        result
    }
}

impl Hosts {
    /// Calls a sender with access to the network.
    #[inline(always)]
    pub(super) fn with_sender<C: EventCore, R>(
        &mut self,
        flow: FlowId,
        net: &mut Network<C>,
        act: impl FnOnce(&mut Sender, &mut Env<'_, Io<'_, C>>) -> R,
    ) -> R {
        let Self { flows, by_node: hosts, endpoints, probes, .. } = self;
        let result = Around { hosts, endpoints, probes }.with_sender(&mut flows[flow], net, act);
        self.after_sending(flow, net.now());
        result
    }

    /// Opens a connection whose data follow later.
    pub fn connect<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the bare method is not general in its lifetimes"
        )]
        self.with_sender(id, net, |sender, env| sender.connect(env));
    }

    /// Gives data or a request to a flow's sender, which opens the connection if it is not `open` yet. `carried` is its
    /// announcement; without a size the data are endless.
    pub fn push_data<C: EventCore>(
        &mut self,
        id: FlowId,
        carried: Announcement,
        open: bool,
        fin: bool,
        net: &mut Network<C>,
    ) {
        let endpoint = self.endpoint(id);
        let tso = endpoint.sender.interface.is_some_and(|interface| interface.burst > 0);
        let apart = endpoint.receiver.linux.is_some() && !corks(endpoint.sender.mss, tso, carried.bytes);
        let granted = self.flows[id].dialogue.request.is_some() && self.has_scheduler(self.flows[id].wire.to);
        let flow = &mut self.flows[id];
        let peer_window = u64::from(flow.receiver.granted.scaled) << flow.wire.scale;
        let peer_window = flow.receiver.state.linux_window().map_or(peer_window, |window| window.min(peer_window));
        flow.carried = carried;
        if !open && flow.sender.congestion_control().announces() {
            flow.wire.announcement = flow.announced().field();
        }
        flow.sender.announce(carried.bytes, carried.deadline);
        flow.closing = fin && apart;
        flow.sender.push_data(carried.bytes, fin && !apart);
        flow.receiver.boundary = if carried.bytes.is_some() { flow.sender.data_end() } else { u64::MAX };
        flow.receiver.unannounced = open;
        self.with_sender(id, net, |sender, env| match sender.state() {
            State::Closed if open => sender.adopt(peer_window, env),
            State::Closed => sender.connect(env),
            _ => {
                if granted {
                    sender.hear_window(peer_window);
                }
                sender.on_data_ready(env);
            }
        });
        if self.flows[id].closing {
            self.close_after_writing(id, net);
        }
    }

    /// In Linux an application closes after it has written: if all of its data have left then, the FIN is a packet of
    /// its own.
    #[cold]
    fn close_after_writing<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) {
        let flow = &mut self.flows[id];
        if flow.sender.state() == State::Established {
            flow.closing = false;
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the bare method is not general in its lifetimes"
            )]
            self.with_sender(id, net, |sender, env| sender.close_after_writing(env));
        }
    }

    /// A request is due on an open flow, but the client's scheduler may hold it. Returns whether it does.
    pub fn hold_request<C: EventCore>(&mut self, id: FlowId, carried: Announcement, net: &mut Network<C>) -> bool {
        let Some(response) = self.flows[id].dialogue.response else { return false };
        self.turn_of(id, response, HeldRequest::Data(carried), net)
    }

    /// Sends what the client's scheduler has held of a request.
    pub(super) fn send_request<C: EventCore>(&mut self, id: FlowId, held: HeldRequest, net: &mut Network<C>) {
        match held {
            HeldRequest::Data(carried) => self.push_data(id, carried, true, false, net),
            HeldRequest::Handshake { window, flags, rtt, field } => {
                let echo = rtt.map(|rtt| net.now().saturating_sub(rtt));
                let ack = InAck { ack: FIRST_DATA, window, flags, rtt, echo, option: None, telemetry: None, field };
                self.with_sender(id, net, |sender, env| sender.on_ack(&ack, env));
            }
        }
    }

    /// Whether the client's scheduler holds the request that follows this SYN-ACK, and with it the rest of the
    /// handshake.
    fn holds_handshake<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) -> bool {
        let Some(flow) = self.flows.get_mut(packet.flow) else { return false };
        let Some(response) = flow.dialogue.response.filter(|_| flow.sender.state() == State::SynSent) else {
            return false;
        };
        if flow.dialogue.held.is_some() {
            flow.book_ack(packet);
            return true; // A second SYN-ACK adds nothing.
        }
        // RFC 6298 s3 (Karn), as for any acknowledgement.
        let rtt = (!packet.flags.has(Flags::RETRANSMITTED)).then(|| net.age(packet));
        let held =
            HeldRequest::Handshake { window: u64::from(packet.window), flags: packet.flags, rtt, field: packet.field };
        flow.sender.rest();
        let holds = self.turn_of(packet.flow, response, held, net);
        if holds {
            self.flows[packet.flow].book_ack(packet);
        }
        holds
    }

    /// Stops the sender of an endless transfer. Returns the number of bytes that it sent.
    pub fn stop_data<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) -> u64 {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the bare method is not general in its lifetimes"
        )]
        self.with_sender(id, net, |sender, env| sender.close(env));
        let flow = &mut self.flows[id];
        let end = flow.sender.data_end();
        flow.receiver.boundary = end;
        end - FIRST_DATA
    }

    /// Whether that was all of a SYN-ACK or a control packet.
    #[inline(never)]
    fn is_dealt_with<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) -> bool {
        if !packet.is_control() {
            return self.holds_handshake(packet, net);
        }
        let Some(flow) = self.flows.get_mut(packet.flow) else {
            net.stray(packet);
            return true;
        };
        flow.book_ack(packet);
        let &Packet { seq, priority, size, field, .. } = packet;
        let control = ControlPacket { kind: seq as u8, priority, size, field };
        self.with_sender(packet.flow, net, |sender, env| sender.on_control(&control, env));
        true
    }

    /// An acknowledgement or a control packet reached its sender.
    #[inline]
    pub fn on_ack<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) {
        let syn = packet.flags.has(Flags::SYN);
        if packet.flags.has(Flags::SYN.with(Flags::CONTROL)) && self.is_dealt_with(packet, net) {
            return;
        }
        let Self { flows, by_node: hosts, endpoints, probes, stack, .. } = self;
        let Some(flow) = flows.get_mut(packet.flow) else { return net.stray(packet) };
        flow.book_ack(packet);
        if flow.wire.asks_anew() {
            tell_selector(hosts, flow, packet, net.now());
        }
        let taken;
        let (age, blocks, option, telemetry) = if packet.flags.has(Flags::OPTION) {
            taken = take_option(packet, net, stack);
            let telemetry = stack.as_deref().filter(|_| taken.stack > 0);
            (taken.stamp.until(net.now()), taken.has_blocks(), Some(&taken), telemetry)
        } else {
            (net.age(packet), false, None, None)
        };
        // RFC 6298 s3 (Karn): the echo of a retransmission is ambiguous. An ACK with blocks gives no sample either.
        let rtt = (!blocks && !packet.flags.has(Flags::RETRANSMITTED)).then_some(age);
        let ack = InAck {
            ack: unwrap_seq(packet.seq, flow.sender.una()),
            window: u64::from(packet.window) << if syn { 0 } else { flow.wire.scale },
            flags: packet.flags,
            rtt,
            echo: Some(net.now().saturating_sub(age)),
            option,
            telemetry,
            field: packet.field,
        };
        let around = Around { hosts, endpoints, probes };
        around.with_sender(flow, net, |sender, env| sender.on_ack(&ack, env));
        self.after_sending(packet.flow, net.now());
        if syn && self.flows[packet.flow].closing {
            self.close_after_writing(packet.flow, net);
        }
    }

    /// A sender's pacing timer, or a timer of its congestion control.
    pub fn on_sender_timer<C: EventCore>(&mut self, flow: FlowId, class: Class, net: &mut Network<C>) {
        if self.flows.get(flow).is_some() {
            self.with_sender(flow, net, |sender, env| match class {
                Class::Pacing => sender.on_pace(env),
                _ => sender.on_wake(env),
            });
        }
    }

    /// A sender's retransmission timer. Returns whether the handshake was aborted.
    pub fn on_retransmission_timer<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) -> bool {
        let Some(Flow { sender, .. }) = self.flows.get(id) else {
            self.stale_timers += 1;
            return false;
        };
        let (una, nxt, now) = (sender.una(), sender.nxt(), net.now());
        let waited = sender.expired(&self.endpoint(id).sender);
        // The cause has to be found before the sender retransmits.
        let cause = self.timeout_cause(id, una, nxt, net);
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the bare method is not general in its lifetimes"
        )]
        let outcome = self.with_sender(id, net, |sender, env| sender.on_timer(env));
        let flow = &mut self.flows[id];
        let cause = match outcome {
            TimerOutcome::Idle => {
                self.stale_timers += 1;
                return false;
            }
            TimerOutcome::Reordering => return false,
            TimerOutcome::LossProbe => {
                flow.loss_probes += 1;
                flow.probe_wait = flow.probe_wait.saturating_add(waited);
                return false;
            }
            TimerOutcome::WindowProbe => {
                flow.window_probes += 1;
                return false;
            }
            TimerOutcome::Failed | TimerOutcome::SynTimeout => TimeoutCause::Syn,
            TimerOutcome::Timeout => cause,
        };
        flow.timeouts[cause as usize] += 1;
        flow.timer_wait = flow.timer_wait.saturating_add(waited);
        if let Some(bins) = &mut net.core.books().bins {
            bins.add_timeout(flow.wire.group, now, cause);
        }
        outcome == TimerOutcome::Failed
    }

    /// Why the first outstanding segment was not acknowledged in time, from the network's record of dropped
    /// transmissions, which no end point can read.
    fn timeout_cause<C: EventCore>(&self, id: FlowId, una: u64, nxt: u64, net: &mut Network<C>) -> TimeoutCause {
        let flow = &self.flows[id];
        let lost = &net.core.books().flows[id].lost;
        let Some(first) = lost.iter().find(|segment| segment.seq == una as u32) else {
            return TimeoutCause::Spurious;
        };
        if flow.receiver.state.next() > una {
            return TimeoutCause::Spurious;
        }
        if first.retransmitted {
            return TimeoutCause::LostRetransmission;
        }
        let mss = self.endpoint(id).sender.mss;
        // The FIN takes a sequence number, but travels with the last data.
        let data_end = nxt.min(flow.sender.data_end());
        let outstanding = data_end.saturating_sub(una).div_ceil(mss).max(1);
        let gone = lost.iter().filter(|segment| (una..nxt).contains(&unwrap_seq(segment.seq, una))).count() as u64;
        // Losing the tail of a window is not losing all of it: its first part was acknowledged, and nothing arrived
        // after the hole.
        let whole = gone >= outstanding && flow.sender.in_flight() >= flow.sender.most_in_flight();
        if whole { TimeoutCause::FullWindow } else { TimeoutCause::FewDuplicates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_should_autocork_keeps_a_short_last_segment_behind_others() {
        assert_eq!([500, 1000, 1500, 2000].map(|bytes| corks(1000, false, Some(bytes))), [false, false, true, false]);
        assert!(!corks(1000, true, Some(1500)) && !corks(1000, false, None));
    }
}

//! What hosts do with packets: senders take acknowledgements, receivers take segments and acknowledge them.
//!
//! A connection closes as in RFC 9293 with one simplification: the receiver has nothing of its own to send, so its
//! FIN rides on its acknowledgement of the sender's FIN. If that acknowledgement is lost, the sender's repeated FIN
//! brings it again; the last acknowledgement, of the receiver's FIN, is not waited for.

use crate::event::EventCore;
use crate::event::order::Class;
use crate::host::flow::{Flow, HeldAck, Io, Purpose};
use crate::ids::{FlowId, NodeId};
use crate::measure::probes::Probes;
use crate::measure::timeouts::TimeoutCause;
use crate::net::paths::Paths;
use crate::packet::{Flags, Packet, Stamp, unwrap_seq};
use crate::roles::{AckKind, AckVerdict, Announcement, Arrival, ReceiverAction, ReceiverCx, WindowControl};
use crate::sim::world::{Endpoint, Host, World};
use crate::tcp::FIRST_DATA;
use crate::tcp::receiver::{AckOut, Segment};
use crate::tcp::sack::SackBlocks;
use crate::tcp::sender::{Env, InAck, Sender, TimerOutcome};
use crate::units::{Bytes, Time};

/// Bytes that SACK blocks add to an acknowledgement: kind, length, eight per block, padded (RFC 2018 section 3).
fn sack_bytes(blocks: &SackBlocks) -> u16 {
    (2 + 8 * blocks.as_slice().len() as u16).next_multiple_of(4)
}

/// What a sender needs of the world beside its flow.
struct Around<'a> {
    hosts: &'a mut [Option<Host>],
    endpoints: &'a [Endpoint],
    paths: &'a Paths,
    probes: &'a mut Probes,
}

impl Around<'_> {
    #[inline(always)]
    fn with_sender<C: EventCore, R>(
        self,
        flow: &mut Flow,
        now: Time,
        core: &mut C,
        act: impl FnOnce(&mut Sender, &mut Env<'_, Io<'_, C>>) -> R,
    ) -> R {
        let host = self.hosts[flow.wire.from.index()].as_mut().expect("flows begin at hosts");
        let cfg = &self.endpoints[flow.wire.endpoint as usize].sender;
        let mut io = Io { core, wire: &mut flow.wire, paths: self.paths, host };
        let result = act(&mut flow.sender, &mut Env { now, cfg, io: &mut io });
        // Not a number is not above zero either.
        let real = flow.sender.window().cwnd > 0.0;
        if !real {
            let what = format!("flow {} has the window {:?}", flow.wire.id, flow.sender.window());
            core.books().broken(now, what);
        }
        if flow.probed {
            self.probes.record(flow.wire.id, now, &flow.sender, cfg);
        }
        result
    }
}

impl World {
    /// Lets a sender act, with the network at hand.
    #[inline(always)]
    pub(crate) fn with_sender<C: EventCore, R>(
        &mut self,
        flow: FlowId,
        now: Time,
        core: &mut C,
        act: impl FnOnce(&mut Sender, &mut Env<'_, Io<'_, C>>) -> R,
    ) -> R {
        let flow = &mut self.flows[flow];
        let around =
            Around { hosts: &mut self.hosts, endpoints: &self.endpoints, paths: &self.paths, probes: &mut self.probes };
        around.with_sender(flow, now, core, act)
    }

    /// An acknowledgement reached its sender.
    #[inline]
    pub(crate) fn on_ack<C: EventCore>(&mut self, packet: &Packet, now: Time, core: &mut C) {
        let Some(flow) = self.flows.get_mut(packet.flow) else { return Self::stray(packet, now, core) };
        flow.acks_arrived += 1;
        flow.ack_bytes_arrived += u64::from(packet.size);
        let blocks =
            if packet.flags.has(Flags::SACK) { core.books().sack.take(packet.stamp.bits() as usize) } else { None };
        let syn = packet.flags.has(Flags::SYN);
        // RFC 6298 s3 (Karn): the echo of a retransmission is ambiguous. An ACK with blocks carries no stamp.
        let timed = !packet.flags.has(Flags::RETRANSMITTED.with(Flags::SACK));
        let rtt = timed.then(|| age(packet, now, core));
        let ack = InAck {
            ack: unwrap_seq(packet.seq, flow.sender.una()),
            window: u64::from(packet.window) << if syn { 0 } else { flow.wire.scale },
            flags: packet.flags,
            rtt,
            sack: blocks.as_ref(),
            field: packet.field,
        };
        let around =
            Around { hosts: &mut self.hosts, endpoints: &self.endpoints, paths: &self.paths, probes: &mut self.probes };
        around.with_sender(flow, now, core, |sender, env| sender.on_ack(&ack, env));
    }

    /// A segment reached its receiver.
    #[inline]
    pub(crate) fn on_segment<C: EventCore>(&mut self, packet: &Packet, now: Time, core: &mut C) {
        if self.resequences || packet.flags.has(Flags::SYN) {
            return self.on_unusual_segment(packet, now, core);
        }
        self.accept(packet, true, now, core);
    }

    /// The first segment of a connection, or one that may have overtaken others.
    fn on_unusual_segment<C: EventCore>(&mut self, packet: &Packet, now: Time, core: &mut C) {
        let Some(flow) = self.flows.get_mut(packet.flow) else { return Self::stray(packet, now, core) };
        flow.book_arrival(packet);
        if packet.flags.has(Flags::SYN) {
            return self.on_syn(packet, now, core);
        }
        self.resequence(packet, now, core);
    }

    /// A packet of a flow that was over: somebody has made it out of nothing.
    #[cold]
    fn stray<C: EventCore>(packet: &Packet, now: Time, core: &mut C) {
        core.books().broken(now, format!("a packet of flow {}, which was over, reached a host", packet.flow));
    }

    /// A segment comes to TCP, with everything that follows from it. It `arrives` now, or has waited since it did.
    #[inline(always)]
    pub(crate) fn accept<C: EventCore>(&mut self, packet: &Packet, arrives: bool, now: Time, core: &mut C) {
        let Some(flow) = self.flows.get_mut(packet.flow) else { return Self::stray(packet, now, core) };
        if arrives {
            flow.book_arrival(packet);
        }
        let side = &mut flow.receiver;
        let payload = u64::from(packet.size - flow.wire.header);
        if payload == 0 && !packet.flags.has(Flags::FIN) {
            return; // The last packet of a handshake, or of a connection.
        }
        let segment = Segment {
            seq: side.state.unwrap(packet.seq),
            len: payload,
            fin: packet.flags.has(Flags::FIN),
            ce: packet.flags.has(Flags::CE),
            cwr: packet.flags.has(Flags::CWR),
            stamp: packet.stamp,
            retransmitted: packet.flags.has(Flags::RETRANSMITTED),
        };
        let cfg = &self.endpoints[flow.wire.endpoint as usize].receiver;
        let delivery = side.state.on_segment(&segment, now, cfg, &mut self.acks);
        let next = side.state.next();
        side.segments += 1;
        let delay = age(packet, now, core);
        let previous = side.last_delay.replace(delay);
        let (group, to) = (flow.wire.group, flow.wire.to);
        let deadline = side.state.ack_deadline();
        if !deadline.is_never() && (C::EAGER_TIMERS || deadline < side.timer_at) {
            side.timer_at = deadline;
            core.schedule(deadline, Class::DelayedAck, packet.flow.index());
        }
        let arrived = next >= side.boundary;
        // Requests are small and travel the other way: neither goodput nor delays count them.
        if flow.purpose == Purpose::Data {
            self.delays[group.index()].record(delay, previous);
            self.groups[group.index()].delivered += delivery.new_in_order;
            if let Some(bins) = &mut core.books().bins {
                bins.add_delay(group, now, delay, previous);
                bins.add_delivered(group, flow.transfer, now, Bytes::new(delivery.new_in_order));
            }
        }
        let scheduled = self.has_scheduler(to);
        if scheduled {
            let Segment { seq, ce, fin, .. } = segment;
            let arrival = Arrival { seq, payload, ce, fin, field: packet.field, delivery, next };
            self.tell_scheduler(packet.flow, to, &arrival, now, core);
        }
        for i in 0..self.acks.as_slice().len() {
            let ack = self.acks.as_slice()[i];
            if scheduled {
                self.acknowledge(packet.flow, ack, now, core);
            } else {
                self.send_ack(packet.flow, ack, false, core, now);
            }
        }
        if arrived {
            self.on_transfer_arrived(packet.flow, now, core);
        }
    }

    /// Shows a segment to the scheduler of its host, and first the transfer that it begins.
    fn tell_scheduler<C: EventCore>(&mut self, id: FlowId, to: NodeId, arrival: &Arrival, now: Time, core: &mut C) {
        if std::mem::take(&mut self.flows[id].receiver.unannounced) {
            let announced = self.announced(id);
            self.ask_host(to, id, now, core, |window, cx| window.on_open(cx, id, &announced));
        }
        self.ask_host(to, id, now, core, |window, cx| window.on_data(cx, id, arrival));
    }

    /// Whether schedulers act on the flows that end at a host.
    #[inline(always)]
    fn has_scheduler(&self, host: NodeId) -> bool {
        self.has_schedulers && self.hosts[host.index()].as_ref().is_some_and(|host| !host.windows.is_empty())
    }

    /// What the sender of a flow announces of what it carries now.
    pub(crate) fn announced(&self, id: FlowId) -> Announcement {
        let flow = &self.flows[id];
        let announces = self.groups[flow.wire.group.index()].announces_size;
        Announcement { bytes: flow.carried.bytes.filter(|_| announces), ..flow.carried }
    }

    /// Size and deadline of what a flow is given to carry. Requests are in no hurry of their own.
    pub(crate) fn carried(&self, id: FlowId) -> Announcement {
        let flow = &self.flows[id];
        let transfer = &self.transfers[flow.carries()];
        match flow.purpose {
            Purpose::Request(_) => {
                Announcement { bytes: transfer.request.map(|request| request.bytes), deadline: None }
            }
            Purpose::Data => Announcement { bytes: transfer.bytes, deadline: transfer.deadline },
        }
    }

    fn on_syn<C: EventCore>(&mut self, packet: &Packet, now: Time, core: &mut C) {
        let id = packet.flow;
        let side = &mut self.flows[id].receiver;
        side.syn_stamp = packet.stamp;
        side.syn_again = packet.flags.has(Flags::RETRANSMITTED);
        // RFC 3168 s6.1.1: a SYN with ECE and CWR offers ECN.
        side.ecn_agreed = packet.flags.has(Flags::ECE) && packet.flags.has(Flags::CWR);
        let to = self.flows[id].wire.to;
        let told = self.flows[id].wire.announcement != 0;
        let announced = if told { Announcement::of(packet.field) } else { self.announced(id) };
        self.ask_host(to, id, now, core, |window, cx| window.on_open(cx, id, &announced));
        if self.ack_verdict(to, id, AckKind::SynAck, now, core) == AckVerdict::Hold {
            // RFC 9293 s3.10.7.4: a SYN on an open connection is answered with an acknowledgement. The one of data
            // that is held will do, and echoes its marks.
            self.flows[id].receiver.held.get_or_insert(HeldAck { syn: true, ece: false });
        } else {
            self.send_syn_ack(id, now, core);
        }
        self.run_host_actions(to, self.scheme_of(id), now, core);
    }

    /// Sends an acknowledgement, or leaves it to the host's scheduler.
    fn acknowledge<C: EventCore>(&mut self, id: FlowId, ack: AckOut, now: Time, core: &mut C) {
        let to = self.flows[id].wire.to;
        if self.has_scheduler(to) {
            let kind = if ack.duplicate { AckKind::Duplicate } else { AckKind::Data };
            let verdict = self.ack_verdict(to, id, kind, now, core);
            if verdict == AckVerdict::Hold {
                let held = &mut self.flows[id].receiver.held;
                // One acknowledgement stands for all that were held, and with it the echo of their marks.
                let ece = ack.ece || held.is_some_and(|held| held.ece);
                *held = Some(HeldAck { syn: false, ece });
            } else {
                // A newer acknowledgement takes the place of one that waits.
                self.flows[id].receiver.held = None;
                self.send_ack(id, ack, false, core, now);
            }
            return self.run_host_actions(to, self.scheme_of(id), now, core);
        }
        self.send_ack(id, ack, false, core, now);
    }

    #[inline(always)]
    fn send_ack<C: EventCore>(&mut self, id: FlowId, ack: AckOut, push: bool, core: &mut C, now: Time) {
        let flow = &mut self.flows[id];
        let endpoint = &self.endpoints[flow.wire.endpoint as usize];
        let side = &mut flow.receiver;
        // A grant is rounded up to the scale's granularity: cut by a few bytes, a window of whole segments would let
        // one segment less through, or none.
        let window = side.granted.div_ceil(1 << flow.wire.scale).min(endpoint.buffer >> flow.wire.scale);
        let mut flags = Flags::ACK
            .with_if(Flags::ECE, ack.ece)
            .with_if(Flags::PSH, push)
            .with_if(Flags::RETRANSMITTED, ack.retransmitted_echo)
            .with_if(Flags::FIN, side.state.finished());
        let (mut stamp, mut size) = (ack.stamp, flow.wire.header);
        if ack.sack {
            let blocks = side.state.sack_blocks();
            flags = flags.with(Flags::SACK);
            size += sack_bytes(&blocks);
            stamp = Stamp::from_bits(core.books().sack.put(blocks) as u32);
        }
        side.acks_sent += 1;
        side.ack_bytes_sent += u64::from(size);
        let packet = Packet {
            arrival: 0,
            field: side.field,
            flow: id,
            seq: ack.ack as u32,
            hop: flow.wire.reverse + 1,
            stamp,
            window: window.min(u64::from(u16::MAX)) as u16,
            size,
            flags,
            priority: 0,
        };
        let link = self.paths.next(flow.wire.reverse).expect("a path has links");
        core.send(link, &packet, now);
    }

    fn send_syn_ack<C: EventCore>(&mut self, id: FlowId, now: Time, core: &mut C) {
        let flow = &mut self.flows[id];
        let endpoint = &self.endpoints[flow.wire.endpoint as usize];
        let side = &mut flow.receiver;
        side.acks_sent += 1;
        side.ack_bytes_sent += u64::from(flow.wire.header);
        let packet = Packet {
            arrival: 0,
            field: side.field,
            flow: id,
            seq: FIRST_DATA as u32,
            hop: flow.wire.reverse + 1,
            stamp: side.syn_stamp,
            // RFC 7323 s2.2: the window of a SYN is never scaled.
            window: side.granted.min(endpoint.buffer).min(u64::from(u16::MAX)) as u16,
            size: flow.wire.header,
            flags: Flags::SYN
                .with(Flags::ACK)
                .with_window_scale(flow.wire.scale)
                .with_if(Flags::RETRANSMITTED, side.syn_again)
                .with_if(Flags::ECE, side.ecn_agreed)
                .with_if(Flags::ECT, side.ecn_agreed && endpoint.sender.ecn_syn),
            priority: 0,
        };
        let link = self.paths.next(flow.wire.reverse).expect("a path has links");
        core.send(link, &packet, now);
    }

    pub(crate) fn on_delayed_ack<C: EventCore>(&mut self, id: FlowId, now: Time, core: &mut C) {
        let Some(flow) = self.flows.get_mut(id) else {
            self.stale_timers += 1;
            return;
        };
        let side = &mut flow.receiver;
        let cfg = &self.endpoints[flow.wire.endpoint as usize].receiver;
        let ack = side.state.on_ack_timer(now, cfg);
        if side.timer_at == now {
            side.timer_at = side.state.ack_deadline();
            if !C::EAGER_TIMERS && !side.timer_at.is_never() {
                core.schedule(side.timer_at, Class::DelayedAck, id.index());
            }
        }
        match ack {
            Some(ack) => self.acknowledge(id, ack, now, core),
            None => self.stale_timers += 1,
        }
    }

    pub(crate) fn on_retransmission_timer<C: EventCore>(&mut self, id: FlowId, now: Time, core: &mut C) {
        let Some(Flow { sender, .. }) = self.flows.get(id) else {
            self.stale_timers += 1;
            return;
        };
        let (una, nxt) = (sender.una(), sender.nxt());
        // What was lost is known before the sender sends it again.
        let cause = self.timeout_cause(id, una, nxt, core);
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the bare method is not general in its lifetimes"
        )]
        let outcome = self.with_sender(id, now, core, |sender, env| sender.on_timer(env));
        let cause = match outcome {
            TimerOutcome::Idle => {
                self.stale_timers += 1;
                return;
            }
            TimerOutcome::Reordering => return,
            TimerOutcome::LossProbe => {
                self.flows[id].loss_probes += 1;
                return;
            }
            TimerOutcome::WindowProbe => {
                self.flows[id].window_probes += 1;
                return;
            }
            TimerOutcome::Failed | TimerOutcome::SynTimeout => TimeoutCause::Syn,
            TimerOutcome::Timeout => cause,
        };
        let flow = &mut self.flows[id];
        flow.timeouts[cause as usize] += 1;
        if let Some(bins) = &mut core.books().bins {
            bins.add_timeout(flow.wire.group, now, cause);
        }
        if outcome == TimerOutcome::Failed {
            self.on_flow_failed(id, now, core);
        }
    }

    /// Why the first unacknowledged segment was not acknowledged in time. The network's books know which
    /// transmissions were dropped; no end point reads this.
    fn timeout_cause<C: EventCore>(&self, id: FlowId, una: u64, nxt: u64, core: &mut C) -> TimeoutCause {
        let flow = &self.flows[id];
        let lost = &core.books().flows[id].lost;
        let Some(first) = lost.iter().find(|segment| segment.seq == una as u32) else {
            return TimeoutCause::Spurious;
        };
        if flow.receiver.state.next() > una {
            return TimeoutCause::Spurious;
        }
        if first.retransmitted {
            return TimeoutCause::LostRetransmission;
        }
        let mss = self.endpoints[flow.wire.endpoint as usize].sender.mss;
        // The FIN takes a number, but rides on the last data.
        let data_end = nxt.min(flow.sender.data_end());
        let outstanding = data_end.saturating_sub(una).div_ceil(mss).max(1);
        let gone = lost.iter().filter(|segment| (una..nxt).contains(&unwrap_seq(segment.seq, una))).count() as u64;
        // The tail of a window is not the window: what of it arrived was acknowledged, and nothing came after the hole.
        let whole = gone >= outstanding && flow.sender.in_flight() >= flow.sender.most_in_flight();
        if whole { TimeoutCause::FullWindow } else { TimeoutCause::FewDuplicates }
    }

    // -----------------------------------------------------------------------------------------------------
    // The receiving host's scheduler

    fn ask_host<C: EventCore>(
        &mut self,
        node: NodeId,
        flow: FlowId,
        now: Time,
        core: &mut C,
        ask: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>),
    ) {
        let scheme = self.scheme_of(flow);
        self.call_host(node, scheme, Some(flow), now, |window, cx| ask(window, cx));
        self.run_host_actions(node, scheme, now, core);
    }

    /// The scheme of a flow's end points, by index.
    fn scheme_of(&self, flow: FlowId) -> usize {
        self.endpoints[self.flows[flow].wire.endpoint as usize].scheme
    }

    fn ack_verdict<C: EventCore>(
        &mut self,
        node: NodeId,
        id: FlowId,
        kind: AckKind,
        now: Time,
        _core: &mut C,
    ) -> AckVerdict {
        let scheme = self.scheme_of(id);
        let ask = |window: &mut dyn WindowControl, cx: &mut ReceiverCx<'_>| window.on_ack(cx, id, kind);
        self.call_host(node, scheme, Some(id), now, ask).unwrap_or(AckVerdict::Send)
    }

    /// Lets a host's scheduler act, because of a flow or of a timer.
    fn call_host<R>(
        &mut self,
        node: NodeId,
        scheme: usize,
        flow: Option<FlowId>,
        now: Time,
        call: impl FnOnce(&mut dyn WindowControl, &mut ReceiverCx<'_>) -> R,
    ) -> Option<R> {
        let host = self.hosts[node.index()].as_mut()?;
        let window = host.windows.get_mut(scheme)?.as_mut()?;
        // Buffer, scale and segment size are those of `[transport]`, the same for all groups.
        let endpoint = &self.endpoints[0];
        let mut cx = ReceiverCx {
            now,
            mss: endpoint.sender.mss,
            rate: self.rates[host.uplink.index()],
            most: endpoint.buffer.min(u64::from(u16::MAX) << endpoint.scale),
            actions: &mut self.receiver_actions,
        };
        let result = call(&mut **window, &mut cx);
        if self.probes.of_hosts() {
            let probed = flow.filter(|flow| self.flows[*flow].probed);
            self.probes.record_host(node, probed, now, &**window);
        }
        Some(result)
    }

    fn run_host_actions<C: EventCore>(&mut self, node: NodeId, scheme: usize, now: Time, core: &mut C) {
        if self.receiver_actions.is_empty() {
            return;
        }
        let mut actions = std::mem::take(&mut self.receiver_actions);
        for action in actions.drain(..) {
            match action {
                // To a flow that is over it makes no difference.
                ReceiverAction::Window { flow, bytes } => {
                    self.flows.get_mut(flow).into_iter().for_each(|flow| flow.receiver.granted = bytes);
                }
                ReceiverAction::Release { flow, push } => self.release(flow, push, now, core),
                ReceiverAction::Timer { at, token } => {
                    let slot = self.host_tokens.put((node, scheme, token));
                    core.schedule(at.max(now), Class::Host, slot);
                }
            }
        }
        self.receiver_actions = actions;
    }

    /// Sends the held acknowledgement of a flow, or a fresh one; number and window are those of this moment.
    fn release<C: EventCore>(&mut self, id: FlowId, push: bool, now: Time, core: &mut C) {
        let flow = &mut self.flows[id];
        let held = flow.receiver.held.take();
        if held.is_some_and(|held| held.syn) {
            return self.send_syn_ack(id, now, core);
        }
        let cfg = &self.endpoints[flow.wire.endpoint as usize].receiver;
        let mut ack = flow.receiver.state.take_ack(cfg);
        ack.ece |= held.is_some_and(|held| held.ece);
        self.send_ack(id, ack, push, core, now);
    }

    pub(crate) fn on_host_timer<C: EventCore>(&mut self, slot: usize, now: Time, core: &mut C) {
        if let Some((node, scheme, token)) = self.host_tokens.take(slot) {
            self.call_host(node, scheme, None, now, |window, cx| window.on_timer(cx, token));
            self.run_host_actions(node, scheme, now, core);
        }
    }
}

/// How old a packet is, or what it acknowledges.
#[inline]
fn age<C: EventCore>(packet: &Packet, now: Time, core: &mut C) -> Time {
    let age = packet.stamp.until(now);
    if age > Stamp::OLDEST {
        too_old(packet, now, core);
    }
    age
}

/// Breaks off the run: what it says of delays, and its timers, would be wrong from now on.
#[cold]
fn too_old<C: EventCore>(packet: &Packet, now: Time, core: &mut C) {
    let what = format!(
        "a packet of flow {}, or what it acknowledges, is {} old, and delays are measured up to {}: take a smaller buffer or \
         receive-buffer, or a higher rate",
        packet.flow.index(),
        packet.stamp.until(now),
        Stamp::OLDEST
    );
    core.books().broken(now, what);
}

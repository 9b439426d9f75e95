//! Receiving hosts: receivers process segments and acknowledge them.
//!
//! A connection closes as in RFC 9293 with one simplification: the receiver has no data to send, so its acknowledgement
//! of the sender's FIN carries its own FIN. If that acknowledgement is lost, the sender's retransmitted FIN elicits it
//! again. Nobody waits for the last acknowledgement, of the receiver's FIN.

use crate::flow::Purpose;
use crate::hosts::{Arrivals, Hosts};
use fanin_core::ids::{FlowId, GroupId, TransferId};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{Announcement, Arrival};
use fanin_core::units::{Bytes, Time};
use fanin_event::EventCore;
use fanin_event::order::Class;
use fanin_net::network::Network;
use fanin_port::spec::{drop_stack, stack_of};
use fanin_tcp::receiver::Segment;

/// The TCP segment in a packet whose `len` bytes of payload begin at `seq`.
#[inline(always)]
fn segment(packet: &Packet, seq: u64, len: u64) -> Segment {
    Segment {
        seq,
        len,
        parts: 1,
        fin: packet.flags.has(Flags::FIN),
        ect: packet.flags.has(Flags::ECT),
        ce: packet.flags.has(Flags::CE),
        cwr: packet.flags.has(Flags::CWR),
        stamp: packet.stamp,
        retransmitted: packet.flags.has(Flags::RETRANSMITTED),
        push: false,
    }
}

impl Arrivals {
    /// A segment of the group `group` arrives after `delay`; the one before it on its flow took `previous`.
    #[inline(always)]
    fn record_delay<C: EventCore>(
        &mut self,
        group: GroupId,
        delay: Time,
        previous: Option<Time>,
        net: &mut Network<C>,
    ) {
        self.delays.record(delay, previous);
        let now = net.now();
        if let Some(bins) = &mut net.core.books().bins {
            bins.add_delay(group, now, delay, previous);
        }
    }
    /// So many bytes of a transfer of the group `group` are now in order.
    #[inline(always)]
    fn record_delivered<C: EventCore>(
        &mut self,
        group: GroupId,
        transfer: TransferId,
        bytes: u64,
        net: &mut Network<C>,
    ) {
        self.delivered += bytes;
        let now = net.now();
        if let Some(bins) = &mut net.core.books().bins {
            bins.add_delivered(group, transfer, now, Bytes::new(bytes));
        }
    }
}

/// Keeps the telemetry of a segment for its acknowledgement.
fn keep_stack<C: EventCore>(kept: &mut u32, packet: &Packet, net: &mut Network<C>) {
    if packet.flags.has(Flags::OPTION) {
        drop_stack(std::mem::replace(kept, stack_of(packet)), net.core.stacks());
    }
}

impl Hosts {
    /// Passes a segment to TCP and carries out everything that follows. The segment `arrives` now, or arrived earlier
    /// and waited for its turn, or is merged of several `parts`. Returns whether it completes the transfer in progress
    /// on its flow.
    #[inline(always)]
    pub fn accept<C: EventCore>(&mut self, packet: &Packet, arrives: bool, parts: u32, net: &mut Network<C>) -> bool {
        let Some(flow) = self.flows.get_mut(packet.flow) else {
            net.stray(packet);
            return false;
        };
        if arrives {
            flow.book_arrival(packet);
        }
        let flow = if self.endpoints[flow.wire.endpoint as usize].receiver.linux.is_some() {
            self.unload(packet, net);
            &mut self.flows[packet.flow]
        } else {
            flow
        };
        let side = &mut flow.receiver;
        let payload = u64::from(packet.size - flow.wire.header);
        if payload == 0 && !packet.flags.has(Flags::FIN) {
            self.on_empty(packet, net);
            return false;
        }
        let now = net.now();
        let seq = side.state.unwrap(packet.seq);
        let push = seq + payload == side.boundary || packet.flags.has(Flags::PSH);
        let segment = Segment { parts, push, ..segment(packet, seq, payload) };
        let cfg = &self.endpoints[flow.wire.endpoint as usize].receiver;
        let delivery = side.state.on_segment(&segment, now, cfg, &mut self.acks);
        if cfg.tells_more {
            flow.arrivals.note(Time::from_ps(packet.arrival), side.state.echo());
            keep_stack(&mut flow.stack, packet, net);
        }
        let next = side.state.next();
        side.segments += u64::from(parts);
        let delay = (parts == 1).then(|| net.age(packet));
        let previous = delay.and_then(|delay| side.last_delay.replace(delay));
        let (group, to) = (flow.wire.group, flow.wire.to);
        let deadline = side.state.ack_deadline();
        if !deadline.is_never() && (C::EAGER_TIMERS || deadline < side.timer_at) {
            side.timer_at = deadline;
            net.core.schedule(deadline, Class::DelayedAck, packet.flow.index());
        }
        let arrived = next >= side.boundary;
        // Requests are small and travel in the other direction, so goodput and delays do not count them.
        if flow.purpose == Purpose::Data {
            let arrivals = &mut self.arrivals[group.index()];
            if let Some(delay) = delay {
                arrivals.record_delay(group, delay, previous, net);
            }
            arrivals.record_delivered(group, flow.transfer, delivery.new_in_order, net);
        }
        if self.has_schedulers {
            let Segment { seq, ce, fin, .. } = segment;
            let arrival = Arrival { seq, payload, ce, fin, field: packet.field, delivery, next };
            self.show_and_acknowledge(packet.flow, to, &arrival, net);
        } else if let Some(blocks) = self.acks.earlier_blocks() {
            flow.send_acks(self.acks.as_slice(), blocks, net);
        } else if let Some((last, earlier)) = self.acks.as_slice().split_last() {
            for ack in earlier {
                flow.send_earlier_ack(*ack, net);
            }
            flow.send_ack(*last, false, net);
        }
        arrived
    }

    /// A segment without data: trimmed on the way, or sent like that.
    fn on_empty<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) {
        if packet.is_trimmed() {
            self.on_trimmed(packet, net);
        } else {
            self.on_bare_ack(packet.flow, net);
        }
    }

    /// Counts the packets that arrived as parts of a merged segment.
    pub fn book_parts<C: EventCore>(&mut self, parts: &[Packet], net: &mut Network<C>) {
        for packet in parts {
            let Some(flow) = self.flows.get_mut(packet.flow) else { return net.stray(packet) };
            flow.book_arrival(packet);
            let delay = net.age(packet);
            let previous = flow.receiver.last_delay.replace(delay);
            if flow.purpose == Purpose::Data {
                let group = flow.wire.group;
                self.arrivals[group.index()].record_delay(group, delay, previous, net);
            }
        }
    }

    /// The first segment of a connection.
    pub fn on_syn<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) {
        let id = packet.flow;
        let Some(flow) = self.flows.get_mut(id) else { return net.stray(packet) };
        flow.book_arrival(packet);
        let side = &mut flow.receiver;
        side.syn_stamp = packet.stamp;
        side.syn_again = packet.flags.has(Flags::RETRANSMITTED);
        // RFC 3168 s6.1.1: a SYN with ECE and CWR offers ECN.
        side.ecn_agreed = packet.flags.has(Flags::ECE) && packet.flags.has(Flags::CWR);
        let told = flow.wire.announcement != 0;
        let announced = if told { Announcement::of(packet.field) } else { flow.announced() };
        let to = flow.wire.to;
        self.answer_syn(id, to, &announced, net);
    }

    pub fn on_delayed_ack<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) {
        let Some(flow) = self.flows.get_mut(id) else {
            self.stale_timers += 1;
            return;
        };
        let (now, side) = (net.now(), &mut flow.receiver);
        let cfg = &self.endpoints[flow.wire.endpoint as usize].receiver;
        let ack = side.state.on_ack_timer(now, cfg);
        if side.timer_at == now {
            side.timer_at = side.state.ack_deadline();
            if !C::EAGER_TIMERS && !side.timer_at.is_never() {
                net.core.schedule(side.timer_at, Class::DelayedAck, id.index());
            }
        }
        match ack {
            Some(ack) => self.acknowledge(id, ack, net),
            None => self.stale_timers += 1,
        }
    }
}

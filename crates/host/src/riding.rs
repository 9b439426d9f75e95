//! Acknowledgements that ride on data. The two directions of a connection are two flows here, but in Linux a host that
//! sends data acknowledges with it what it has received on the same connection, and what waited for a timer does not
//! wait any more.
//!
//! What a segment carries is remembered by its sender, and reaches the other flow's sender with the segment. If the
//! segment is lost, so is the acknowledgement. It has no packet of its own.

use crate::flow::Flow;
use crate::hosts::Hosts;
use fanin_core::ids::FlowId;
use fanin_core::packet::{Flags, Packet, Stamp};
use fanin_core::roles::HostDelay;
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_net::network::Network;
use fanin_tcp::FIRST_DATA;
use fanin_tcp::receiver::AckOut;
use fanin_tcp::sack::AckOption;
use fanin_tcp::sender::{InAck, OutSegment};
use std::collections::VecDeque;

/// What a segment under way carries.
#[derive(Clone, Copy, Debug)]
struct Ridden {
    seq: u32,
    stamp: Stamp,
    ack: AckOut,
    window: u16,
    /// How long its host had kept what it acknowledges.
    held: Time,
}

/// The acknowledgements that the segments of a flow carry.
#[derive(Debug)]
pub(crate) struct Riding {
    /// The flow of the other direction.
    other: FlowId,
    /// In the order of transmission.
    under_way: VecDeque<Ridden>,
    /// The last of them, which have left now and are not loaded yet.
    fresh: usize,
    /// Some of them are data, and some new.
    payload: bool,
    new: bool,
    /// The last number that was carried, and how much of the flow has to be acknowledged until that has arrived for
    /// sure.
    number: u64,
    until: u64,
}

impl Riding {
    fn with(other: FlowId) -> Self {
        Self { other, under_way: VecDeque::new(), fresh: 0, payload: false, new: false, number: FIRST_DATA, until: 0 }
    }

    /// A segment leaves.
    pub(crate) fn on_segment(&mut self, segment: &OutSegment, now: Time) {
        if segment.flags.has(Flags::SYN) || (segment.len == 0 && !segment.flags.has(Flags::FIN)) {
            return;
        }
        let (seq, stamp) = (segment.seq as u32, Stamp::of(now));
        self.under_way.push_back(Ridden { seq, stamp, ack: AckOut::default(), window: 0, held: Time::ZERO });
        self.fresh += 1;
        self.payload |= segment.len > 0;
        self.new |= !segment.flags.has(Flags::RETRANSMITTED);
    }

    /// Puts an acknowledgement on the segments that leave now. The flow is acknowledged up to `una` and sent up to
    /// `nxt`.
    fn load(&mut self, (ack, window, held): (AckOut, u16, Time), una: u64, nxt: u64) {
        let (fresh, new) = (std::mem::take(&mut self.fresh), std::mem::take(&mut self.new));
        self.payload = false;
        let first = self.under_way.len() - fresh;
        if ack.ack == self.number && una >= self.until {
            // An earlier segment has taken it there.
            return self.under_way.truncate(first);
        }
        if ack.ack != self.number || self.until == u64::MAX {
            (self.number, self.until) = (ack.ack, if new { nxt } else { u64::MAX });
        }
        self.under_way
            .range_mut(first..)
            .for_each(|ridden| (ridden.ack, ridden.window, ridden.held) = (ack, window, held));
    }

    /// What the segment carries that has arrived. What was sent before it is of no use any more.
    fn unload(&mut self, seq: u32, stamp: Stamp) -> Option<Ridden> {
        let at = self.under_way.iter().position(|ridden| (ridden.seq, ridden.stamp) == (seq, stamp))?;
        self.under_way.drain(..=at).next_back()
    }
}

impl Hosts {
    /// Whether the flows of these end points carry acknowledgements of the other direction.
    #[inline(always)]
    fn rides(&self, endpoint: u32) -> bool {
        self.endpoints[endpoint as usize].receiver.linux.is_some()
    }

    /// From now on, these two flows are the two directions of one connection; the first request has arrived.
    pub fn join<C: EventCore>(&mut self, request: FlowId, response: FlowId, net: &mut Network<C>) {
        let joined = |flow: &Flow, other| flow.riding.as_ref().is_some_and(|riding| riding.other == other);
        if !self.rides(self.flows[response].wire.endpoint) || joined(&self.flows[response], request) {
            return;
        }
        let Some(flow) = self.flows.get_mut(request) else { return };
        flow.riding = Some(Box::new(Riding::with(response)));
        let srtt = flow.sender.srtt();
        let flow = &mut self.flows[response];
        flow.riding = Some(Box::new(Riding::with(request)));
        if let Some(srtt) = srtt {
            flow.receiver.state.know_srtt(srtt);
        }
        self.show_data(response, net);
    }

    /// A segment of the other direction has arrived, and acknowledges nothing new.
    fn show_data<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) {
        if self.flows[id].sender.heeds_idle_data() {
            self.with_sender(id, net, |sender, env| sender.on_idle_data(env));
        }
    }

    /// The sender of a flow has acted: what it has sent takes the other direction's acknowledgement along.
    #[inline(always)]
    pub(super) fn after_sending(&mut self, id: FlowId, now: Time) {
        if self.rides(self.flows[id].wire.endpoint) {
            self.load(id, now);
        }
    }

    #[inline(never)]
    fn load(&mut self, id: FlowId, now: Time) {
        let flow = &self.flows[id];
        let Some(riding) = flow.riding.as_ref().filter(|riding| riding.fresh > 0) else { return };
        let (other, payload, srtt) = (riding.other, riding.payload, flow.sender.srtt());
        let carried = self.flows.get_mut(other).map(|other| {
            let cfg = &self.endpoints[other.wire.endpoint as usize].receiver;
            let side = &mut other.receiver;
            if let Some(srtt) = srtt {
                side.state.know_srtt(srtt);
            }
            let ack = side.state.ride(now, payload, cfg);
            (ack, side.window_field(other.wire.scale), other.arrivals.held(&ack, now))
        });
        let flow = &mut self.flows[id];
        let Some(riding) = &mut flow.riding else { return };
        match carried {
            Some(carried) => riding.load(carried, flow.sender.una(), flow.sender.nxt()),
            None => flow.riding = None,
        }
    }

    /// A segment has arrived: what it carries reaches the sender of the other direction.
    #[inline(never)]
    pub(super) fn unload<C: EventCore>(&mut self, packet: &Packet, net: &mut Network<C>) {
        let Some(riding) = self.flows.get_mut(packet.flow).and_then(|flow| flow.riding.as_mut()) else { return };
        let (ridden, id) = (riding.unload(packet.seq, packet.stamp), riding.other);
        let Some(other) = self.flows.get(id) else { return };
        let Some(ridden) = ridden.filter(|ridden| ridden.ack.ack > other.sender.una()) else {
            return self.show_data(id, net);
        };
        let age = ridden.ack.stamp.until(net.now());
        let local = net.now().saturating_sub(Time::from_ps(packet.arrival));
        let hosts = HostDelay { remote: ridden.held, local };
        let option = AckOption { hosts, ..AckOption::default() };
        let ack = InAck {
            ack: ridden.ack.ack,
            window: u64::from(ridden.window) << other.wire.scale,
            flags: Flags::ACK.with_if(Flags::ECE, ridden.ack.ece),
            rtt: (!ridden.ack.retransmitted_echo).then_some(age),
            echo: Some(net.now().saturating_sub(age)),
            option: Some(&option),
            telemetry: None,
            field: other.receiver.field,
        };
        self.with_sender(id, net, |sender, env| sender.on_ack(&ack, env));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_us(1);

    fn segment(seq: u64) -> OutSegment {
        OutSegment { seq, len: 100, flags: Flags::NONE }
    }

    fn ack(number: u64) -> AckOut {
        AckOut { ack: number, ..AckOut::default() }
    }

    /// The number that a segment carries which was sent at `at`.
    fn arrives(riding: &mut Riding, seq: u32, at: Time) -> Option<u64> {
        riding.unload(seq, Stamp::of(at)).map(|ridden| ridden.ack.ack)
    }

    #[test]
    fn an_acknowledgement_arrives_with_its_segment_and_is_lost_with_it() {
        let mut riding = Riding::with(FlowId::new(0));
        (0..3).for_each(|n| riding.on_segment(&segment(1 + 100 * n), NOW));
        riding.load((ack(9), 7, NOW), 1, 301);
        assert_eq!(arrives(&mut riding, 101, NOW), Some(9), "the second, where the first is lost");
        assert_eq!(arrives(&mut riding, 1, NOW), None, "late");
        assert_eq!(arrives(&mut riding, 201, NOW), Some(9));
        assert_eq!(arrives(&mut riding, 201, NOW), None);
    }

    #[test]
    fn a_retransmission_carries_what_is_current_then() {
        let mut riding = Riding::with(FlowId::new(0));
        riding.on_segment(&segment(1), NOW);
        riding.load((ack(9), 7, NOW), 1, 101);
        let later = NOW + NOW;
        riding.on_segment(&OutSegment { flags: Flags::RETRANSMITTED, ..segment(1) }, later);
        riding.load((ack(20), 7, NOW), 1, 101);
        assert_eq!(arrives(&mut riding, 1, later), Some(20));
    }

    #[test]
    fn what_has_arrived_for_sure_is_not_carried_again() {
        let mut riding = Riding::with(FlowId::new(0));
        riding.on_segment(&segment(1), NOW);
        riding.load((ack(FIRST_DATA), 7, NOW), 1, 101);
        assert!(riding.under_way.is_empty(), "nothing to acknowledge");
        riding.on_segment(&segment(101), NOW);
        riding.load((ack(9), 7, NOW), 1, 201);
        riding.on_segment(&segment(201), NOW);
        riding.load((ack(9), 7, NOW), 1, 301);
        assert_eq!(riding.under_way.len(), 2);
        riding.on_segment(&segment(301), NOW);
        riding.load((ack(9), 7, NOW), 201, 401);
        assert_eq!(riding.under_way.len(), 2, "the other end has acknowledged a segment that carried it");
    }

    #[test]
    fn only_data_and_the_end_of_a_stream_carry() {
        let mut riding = Riding::with(FlowId::new(0));
        riding.on_segment(&OutSegment { flags: Flags::SYN, len: 0, ..segment(0) }, NOW);
        riding.on_segment(&OutSegment { len: 0, ..segment(1) }, NOW);
        assert_eq!(riding.fresh, 0);
        riding.on_segment(&OutSegment { flags: Flags::FIN, len: 0, ..segment(1) }, NOW);
        assert_eq!((riding.fresh, riding.payload), (1, false));
    }
}

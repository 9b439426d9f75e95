//! What receivers send: acknowledgements, and packets of a scheme's own.

use crate::flow::Flow;
use crate::hosts::Hosts;
use fanin_core::ids::FlowId;
use fanin_core::packet::{Flags, Packet, Stamp};
use fanin_core::roles::{ControlPacket, HostDelay};
use fanin_core::units::Time;
use fanin_event::EventCore;
use fanin_net::network::Network;
use fanin_tcp::FIRST_DATA;
use fanin_tcp::receiver::{AckOut, Receiver};
use fanin_tcp::sack::{AckOption, SackBlocks};

/// Bytes that SACK blocks add to an acknowledgement: kind, length and eight per block, padded (RFC 2018 section 3).
fn sack_bytes(blocks: &SackBlocks) -> u16 {
    if blocks.all().is_empty() {
        return 0;
    }
    (2 + 8 * blocks.all().len() as u16).next_multiple_of(4)
}

/// Stores what an acknowledgement of `size` bytes carries besides. Returns its handle in place of the stamp, and the size with
/// it: the time in the host takes no bytes of its own, and telemetry has its bytes in all headers.
#[inline(never)]
fn put_option<C: EventCore>(option: AckOption, size: u16, net: &mut Network<C>) -> (Stamp, u16) {
    (Stamp::from_bits(net.core.options().put(option) as u32), size + sack_bytes(&option.blocks))
}

impl Flow {
    /// Sends an acknowledgement that another one follows, which is rare: the loop over both stays out of the way.
    #[cold]
    pub(super) fn send_earlier_ack<C: EventCore>(&mut self, ack: AckOut, net: &mut Network<C>) {
        self.send_ack(ack, false, net);
    }

    /// Sends the acknowledgements of a segment, the first of them with these blocks if it has any.
    #[cold]
    pub(super) fn send_acks<C: EventCore>(&mut self, acks: &[AckOut], first: &SackBlocks, net: &mut Network<C>) {
        for (at, ack) in acks.iter().enumerate() {
            self.send_ack_with(*ack, false, net, |state| if at == 0 { *first } else { state.sack_blocks() });
        }
    }

    #[inline(always)]
    pub(super) fn send_ack<C: EventCore>(&mut self, ack: AckOut, push: bool, net: &mut Network<C>) {
        self.send_ack_with(ack, push, net, Receiver::sack_blocks);
    }

    #[inline(always)]
    fn send_ack_with<C: EventCore>(
        &mut self,
        ack: AckOut,
        push: bool,
        net: &mut Network<C>,
        blocks: impl FnOnce(&Receiver) -> SackBlocks,
    ) {
        let Self { wire, receiver: side, arrivals, stack, .. } = self;
        let mut flags = Flags::ACK
            .with_if(Flags::ECE, ack.ece)
            .with_if(Flags::ECT, wire.ecn_ack)
            .with_if(Flags::PSH, push)
            .with_if(Flags::RETRANSMITTED, ack.retransmitted_echo)
            .with_if(Flags::FIN, side.state.finished());
        let (mut stamp, mut size) = (ack.stamp, wire.header);
        if ack.option {
            flags = flags.with(Flags::OPTION);
            let hosts = HostDelay { remote: arrivals.held(&ack, net.now()), local: Time::ZERO };
            let option =
                AckOption { blocks: blocks(&side.state), stamp: ack.stamp, hosts, stack: std::mem::take(stack) };
            (stamp, size) = put_option(option, size, net);
        }
        side.acks_sent += 1;
        side.ack_bytes_sent += u64::from(size);
        let (link, onward) = net.paths.begin(wire.reverse);
        let packet = Packet {
            arrival: 0,
            field: side.field,
            flow: wire.id,
            seq: ack.ack as u32,
            onward,
            stamp,
            window: side.window_field(wire.scale),
            size,
            flags,
            priority: side.priority,
        };
        net.put(link, &packet, wire.endpoint);
    }
}

impl Hosts {
    pub(super) fn send_ack<C: EventCore>(&mut self, id: FlowId, ack: AckOut, push: bool, net: &mut Network<C>) {
        self.flows[id].send_ack(ack, push, net);
    }

    /// Sends a packet of the scheme's own to the sender of a flow. The flow may have finished; then it has no effect.
    pub(super) fn send_control<C: EventCore>(&mut self, id: FlowId, control: ControlPacket, net: &mut Network<C>) {
        let Some(Flow { wire, receiver: side, .. }) = self.flows.get_mut(id) else { return };
        side.acks_sent += 1;
        side.ack_bytes_sent += u64::from(control.size);
        let (link, onward) = net.paths.begin(wire.reverse);
        let packet = Packet { onward, ..Packet::control(id, &control, net.now()) };
        net.put(link, &packet, wire.endpoint);
    }

    pub(super) fn send_syn_ack<C: EventCore>(&mut self, id: FlowId, net: &mut Network<C>) {
        let flow = &mut self.flows[id];
        let endpoint = &self.endpoints[flow.wire.endpoint as usize];
        let side = &mut flow.receiver;
        if flow.syn_answered.is_never() {
            flow.syn_answered = net.now();
        }
        side.acks_sent += 1;
        side.ack_bytes_sent += u64::from(flow.wire.header);
        let (link, onward) = net.paths.begin(flow.wire.reverse);
        let packet = Packet {
            arrival: 0,
            field: side.field,
            flow: id,
            seq: FIRST_DATA as u32,
            onward,
            stamp: side.syn_stamp,
            window: side.granted.unscaled,
            size: flow.wire.header,
            flags: Flags::SYN
                .with(Flags::ACK)
                .with_window_scale(flow.wire.scale)
                .with_if(Flags::RETRANSMITTED, side.syn_again)
                .with_if(Flags::ECE, side.ecn_agreed)
                .with_if(Flags::ECT, side.ecn_agreed && endpoint.sender.ecn_syn),
            priority: 0,
        };
        net.put(link, &packet, flow.wire.endpoint);
    }
}

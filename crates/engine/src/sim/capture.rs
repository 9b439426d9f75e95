//! Packet capture: what passes chosen links, as headers in a pcapng file.

use crate::ids::LinkId;
use crate::measure::pcapng::{Header, PcapNg};
use crate::packet::{Flags, Packet};
use crate::sim::event::EventCore;
use crate::sim::flow::Flow;
use crate::units::Time;

/// A capture in progress. Packets are taken at the far end of a link, when their last bit has arrived.
#[derive(Debug)]
pub(crate) struct Capture {
    file: PcapNg,
    /// Interface of each link, if it is captured.
    interfaces: Vec<Option<u32>>,
    left: u64,
    mss: u16,
    sack: bool,
}

impl Capture {
    /// Captures `links`, each under a name, until `limit` packets are taken.
    pub(crate) fn new(links: &[(LinkId, String)], count: usize, limit: u64, mss: u16, sack: bool) -> Self {
        let names: Vec<&str> = links.iter().map(|(_, name)| name.as_str()).collect();
        let mut interfaces = vec![None; count];
        for (interface, (link, _)) in links.iter().enumerate() {
            interfaces[link.index()] = Some(interface as u32);
        }
        Self { file: PcapNg::new(&names), interfaces, left: limit, mss, sack }
    }

    pub(crate) fn record<C: EventCore>(
        &mut self,
        link: LinkId,
        packet: &Packet,
        now: Time,
        flows: &[Flow],
        core: &mut C,
    ) {
        let Some(interface) = self.interfaces[link.index()] else { return };
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let wire = &flows[packet.flow.index()].wire;
        let (ack, flags) = (packet.is_ack(), packet.flags);
        let syn = flags.has(Flags::SYN);
        let handle = packet.stamp.bits() as usize;
        let blocks: Vec<(u32, u32)> = match core.ledger().sack.peek(handle).filter(|_| flags.has(Flags::SACK)) {
            Some(blocks) => blocks.as_slice().iter().map(|(start, end)| (*start as u32, *end as u32)).collect(),
            None => Vec::new(),
        };
        let of_data = wire.addresses();
        let addresses = if ack { of_data.reversed() } else { of_data };
        let last = packet.size == wire.header && packet.seq > 1 && !flags.has(Flags::FIN);
        // A receiver has no data of its own: its numbers stand still after its SYN.
        let (seq, acknowledged) = match (ack, syn) {
            (false, true) => (packet.seq, 0),
            // The last packet of a connection acknowledges the receiver's FIN.
            (false, false) => (packet.seq, if last { 2 } else { 1 }),
            (true, true) => (0, packet.seq),
            (true, false) => (1, packet.seq),
        };
        self.file.packet(
            interface,
            now,
            &Header {
                src: addresses.src,
                dst: addresses.dst,
                src_port: addresses.src_port,
                dst_port: addresses.dst_port,
                seq,
                ack: acknowledged,
                // Every segment but the first SYN acknowledges (RFC 9293 section 3.4).
                flags_byte: flags.tcp_byte() | if syn && !ack { 0 } else { Flags::ACK.tcp_byte() },
                ecn: flags.ecn_field(),
                dscp: packet.priority,
                window: if ack || syn { packet.window } else { u16::MAX },
                payload: if ack { 0 } else { packet.size - wire.header },
                syn_scale: syn.then_some(packet.scale),
                mss_option: syn.then_some(self.mss),
                sack_permitted: syn && self.sack,
                sack: &blocks,
            },
        );
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.file.take()
    }
}

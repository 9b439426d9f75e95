//! Packet capture: headers of the packets on chosen links, as a pcapng file.

use fanin_core::ids::{LinkId, NodeId};
use fanin_core::packet::{Addresses, Flags, Packet, address};
use fanin_core::pcapng::{self, Header, PcapNg, Resolution, Udp};
use fanin_core::roles::AddressBook;
use fanin_core::units::Time;
use fanin_tcp::sack::SackBlocks;

/// TCP port of OpenFlow controllers.
const OPENFLOW: u16 = 6653;
/// TCP port at the switch's end of each control connection.
const SWITCH: u16 = 40_000;
/// Address of the controller, above those of all nodes.
const CONTROLLER: [u8; 4] = [10, 255, 255, 254];
/// Largest payload of a segment on the control channel, in bytes.
const SEGMENT: usize = 1460;

/// The control channel: one TCP connection per switch, captured where packets are sent. Losses are of whole messages,
/// so there are no pure acknowledgements and no retransmissions; a message that the channel loses is captured all the
/// same.
#[derive(Debug)]
struct ControlCapture {
    interface: u32,
    /// By node, the next sequence numbers of the switch and of the controller; zero before the handshake.
    next: Vec<[u32; 2]>,
}

/// A capture in progress. Packets are captured at the far end of a link, when their last bit has arrived.
#[derive(Debug)]
pub struct Capture {
    file: PcapNg,
    /// Interface of each link, if it is captured.
    interfaces: Vec<Option<u32>>,
    control: Option<ControlCapture>,
    left: u64,
    mss: u16,
    sack: bool,
}

impl Capture {
    /// Captures `links`, each under a name, until `limit` packets are captured.
    pub fn new(
        links: &[(LinkId, String)],
        count: usize,
        resolution: Resolution,
        limit: u64,
        mss: u16,
        sack: bool,
    ) -> Self {
        let names: Vec<&str> = links.iter().map(|(_, name)| name.as_str()).collect();
        let mut interfaces = vec![None; count];
        for (interface, (link, _)) in links.iter().enumerate() {
            interfaces[link.index()] = Some(interface as u32);
        }
        Self { file: PcapNg::new(&names, resolution), interfaces, control: None, left: limit, mss, sack }
    }

    /// Captures the control channel of a network of `nodes` as well.
    pub fn with_control(mut self, nodes: usize) -> Self {
        let interface = self.file.add_whole_interface("control channel");
        self.control = Some(ControlCapture { interface, next: vec![[0; 2]; nodes] });
        self
    }

    /// Captures a message that leaves a switch (`up`) or the controller.
    pub fn record_message(&mut self, switch: NodeId, up: bool, message: &[u8], now: Time) {
        let Some(control) = &self.control else { return };
        if control.next[switch.index()] == [0; 2] {
            self.control_packet(switch, true, Flags::SYN, &[], now);
            self.control_packet(switch, false, Flags::SYN.with(Flags::ACK), &[], now);
            self.control_packet(switch, true, Flags::ACK, &[], now);
        }
        for payload in message.chunks(SEGMENT) {
            self.control_packet(switch, up, Flags::ACK.with(Flags::PSH), payload, now);
        }
    }

    fn control_packet(&mut self, switch: NodeId, up: bool, flags: Flags, payload: &[u8], now: Time) {
        let Some(control) = self.control.as_mut().filter(|_| self.left > 0) else { return };
        self.left -= 1;
        let next = &mut control.next[switch.index()];
        let side = usize::from(!up);
        let of_switch = Addresses { src: address(switch), dst: CONTROLLER, src_port: SWITCH, dst_port: OPENFLOW };
        let ends = if up { of_switch } else { of_switch.reversed() };
        let syn = flags.has(Flags::SYN);
        let header = Header {
            src: ends.src,
            dst: ends.dst,
            src_port: ends.src_port,
            dst_port: ends.dst_port,
            seq: next[side],
            ack: if flags.has(Flags::ACK) { next[1 - side] } else { 0 },
            flags_byte: flags.tcp_byte(),
            window: u16::MAX,
            syn_scale: syn.then_some(7),
            mss_option: syn.then_some(SEGMENT as u16),
            ..Header::default()
        };
        next[side] = next[side].wrapping_add(payload.len() as u32 + u32::from(syn));
        self.file.whole_packet(control.interface, now, &header, payload);
    }

    /// Captures a packet that has crossed `link`. `header` is the size of every packet's headers; `blocks` are the SACK
    /// blocks of an acknowledgement, if any.
    pub fn record(
        &mut self,
        link: LinkId,
        packet: &Packet,
        now: Time,
        header: u16,
        book: &dyn AddressBook,
        blocks: Option<&SackBlocks>,
    ) {
        let Some(interface) = self.interfaces[link.index()] else { return };
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        if packet.is_control() {
            let addresses = book.addresses(packet.flow).reversed();
            return self.record_control(interface, packet, now, header, addresses);
        }
        let (ack, flags) = (packet.is_ack(), packet.flags);
        let syn = flags.has(Flags::SYN);
        let blocks: Vec<(u32, u32)> = match blocks.filter(|_| ack && flags.has(Flags::OPTION)) {
            Some(blocks) => blocks.all().iter().map(|(start, end)| (*start as u32, *end as u32)).collect(),
            None => Vec::new(),
        };
        let of_data = book.addresses(packet.flow);
        let addresses = if ack { of_data.reversed() } else { of_data };
        let last = packet.size == header && packet.seq > 1 && !flags.has(Flags::FIN.with(Flags::TRIMMED));
        // A receiver sends no data, so its sequence number does not change after its SYN.
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
                payload: if ack { 0 } else { packet.size - header },
                syn_scale: syn.then_some(packet.flags.window_scale()),
                mss_option: syn.then_some(self.mss),
                sack_permitted: syn && self.sack,
                sack: &blocks,
            },
        );
    }

    /// Captures a control packet of the scheme: UDP with the connection's ports, the kind in the first byte of its payload and
    /// the field in the next eight.
    fn record_control(&mut self, interface: u32, packet: &Packet, now: Time, header: u16, ends: Addresses) {
        let mut content = [0; 9];
        content[0] = packet.seq as u8;
        content[1..].copy_from_slice(&packet.field.to_be_bytes());
        // What the headers of a segment have below IP, a control packet has too.
        let below = header.saturating_sub(pcapng::TCP_AND_IP);
        let udp = Udp {
            ends,
            ecn: packet.flags.ecn_field(),
            dscp: packet.priority,
            length: packet.size.saturating_sub(below),
        };
        self.file.udp_packet(interface, now, &udp, &content);
    }

    /// The whole file.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.file.take()
    }
}

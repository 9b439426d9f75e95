//! Packets as a capture file for Wireshark and other readers.
//!
//! The format is pcapng (draft-ietf-opsawg-pcapng), little-endian. Each direction of a captured link is an interface.
//! Times are in nanoseconds, or in the simulator's picoseconds, which Wireshark 4 shows wrongly from 18.4 ms of each
//! second on. The simulator has no payload, so packets are captured up to the end of their TCP header, and their
//! original length and checksums are those of a payload of zeros. Packets with real content are captured whole.

use crate::packet::Addresses;
use crate::units::Time;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// `LINKTYPE_IPV4`: packets start with their IPv4 header.
const LINK_TYPE: u16 = 228;
const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
/// TCP's data offset counts 32-bit words in four bits, which leaves 40 bytes for options.
const MAX_OPTIONS: usize = 40;
const SNAP_LENGTH: usize = IP_HEADER + TCP_HEADER + MAX_OPTIONS;
const TCP: u8 = 6;
const UDP_HEADER: usize = 8;
const UDP: u8 = 17;
/// Bytes of the IPv4 and TCP headers without options.
pub const TCP_AND_IP: u16 = (IP_HEADER + TCP_HEADER) as u16;

/// Unit of the times in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Nanoseconds, truncated.
    Nanoseconds,
    /// Picoseconds, exact.
    Picoseconds,
}

impl Resolution {
    /// The negative power of ten for `if_tsresol`, and the picoseconds per unit.
    const fn unit(self) -> (u8, u64) {
        match self {
            Self::Nanoseconds => (9, 1000),
            Self::Picoseconds => (12, 1),
        }
    }
}

/// A capture file in memory.
#[derive(Clone, Debug)]
pub struct PcapNg {
    bytes: Vec<u8>,
    interfaces: usize,
    resolution: Resolution,
}

/// The headers of a captured packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header<'a> {
    /// IPv4 address of the sending host.
    pub src: [u8; 4],
    /// IPv4 address of the receiving host.
    pub dst: [u8; 4],
    /// TCP port of the sender.
    pub src_port: u16,
    /// TCP port of the receiver.
    pub dst_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// The TCP flags, as on the wire.
    pub flags_byte: u8,
    /// The ECN field of the IP header: two bits.
    pub ecn: u8,
    /// The differentiated services code point of the IP header: six bits.
    pub dscp: u8,
    /// The window field, as on the wire.
    pub window: u16,
    /// Bytes of payload.
    pub payload: u16,
    /// Shift of the window scale option (RFC 7323 section 2.2), if it is present.
    pub syn_scale: Option<u8>,
    /// Value of the maximum segment size option (RFC 9293 section 3.7.1), if it is present.
    pub mss_option: Option<u16>,
    /// Whether the SACK-permitted option (RFC 2018 section 2) is present.
    pub sack_permitted: bool,
    /// Left and right edges of the blocks of the SACK option (RFC 2018 section 3). Blocks that exceed the option space
    /// are left out; it holds four if there is no other option.
    pub sack: &'a [(u32, u32)],
}

impl PcapNg {
    /// A capture of the named link directions. Packets refer to them by their index in this list.
    pub fn new(interfaces: &[&str], resolution: Resolution) -> Self {
        let mut capture = Self { bytes: Vec::new(), interfaces: 0, resolution };
        capture.block(SECTION_HEADER, |body| {
            body.extend(0x1A2B_3C4D_u32.to_le_bytes()); // byte-order magic
            body.extend([1, 0, 0, 0]); // version 1.0
            body.extend(u64::MAX.to_le_bytes()); // section length not given, as it is not known yet
            option(body, 4, b"fanin"); // shb_userappl
            option(body, 0, b"");
        });
        for name in interfaces {
            capture.add_interface(name, SNAP_LENGTH as u32);
        }
        capture
    }

    /// Adds an interface whose packets are captured whole; returns its number.
    pub fn add_whole_interface(&mut self, name: &str) -> u32 {
        self.add_interface(name, 0)
    }

    fn add_interface(&mut self, name: &str, snap_length: u32) -> u32 {
        let (exponent, _) = self.resolution.unit();
        self.block(INTERFACE_DESCRIPTION, |body| {
            body.extend(LINK_TYPE.to_le_bytes());
            body.extend([0, 0]);
            body.extend(snap_length.to_le_bytes());
            option(body, 2, name.as_bytes()); // if_name
            option(body, 9, &[exponent]); // if_tsresol
            option(body, 0, b"");
        });
        self.interfaces += 1;
        self.interfaces as u32 - 1
    }

    /// Appends a packet seen on link direction `interface` at time `at`.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn packet(&mut self, interface: u32, at: Time, header: &Header<'_>) {
        let mut data = [0; SNAP_LENGTH];
        let captured = header.write(&mut data, 0);
        let original = captured + header.payload_bytes(captured);
        self.enhanced_packet(interface, at, &data[..captured], original);
    }

    /// Appends a packet with `payload`, which replaces the payload length in `header`.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn whole_packet(&mut self, interface: u32, at: Time, header: &Header<'_>, payload: &[u8]) {
        let mut data = [0; SNAP_LENGTH];
        let counted = Header { payload: payload.len() as u16, ..*header };
        let length = counted.write(&mut data, ones_complement_sum(payload, 0));
        let whole = [&data[..length], payload].concat();
        self.enhanced_packet(interface, at, &whole, whole.len());
    }

    /// Appends a UDP packet whose payload begins with `content`, zeros after it.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn udp_packet(&mut self, interface: u32, at: Time, udp: &Udp, content: &[u8]) {
        let headers = [&udp.headers(content)[..], content].concat();
        self.enhanced_packet(interface, at, &headers, udp.total(content));
    }

    /// Appends a packet that was captured whole, from its IPv4 header on.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn captured(&mut self, interface: u32, at: Time, packet: &[u8]) {
        self.enhanced_packet(interface, at, packet, packet.len());
    }

    fn enhanced_packet(&mut self, interface: u32, at: Time, captured: &[u8], original: usize) {
        assert!((interface as usize) < self.interfaces, "interface {interface} of {}", self.interfaces);
        let (_, unit) = self.resolution.unit();
        let time = at.ps() / unit;
        self.block(ENHANCED_PACKET, |body| {
            body.extend(interface.to_le_bytes());
            body.extend(((time >> 32) as u32).to_le_bytes());
            body.extend((time as u32).to_le_bytes());
            body.extend((captured.len() as u32).to_le_bytes());
            body.extend((original as u32).to_le_bytes());
            body.extend(captured);
            pad_to_word(body, captured.len());
        });
    }

    /// The file so far, or what was appended since [`Self::take`].
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes the bytes written so far, for callers that write a long capture in pieces.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Appends a block: its type, and its length before and after its body.
    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend([0; 4]);
        body(&mut self.bytes);
        let length = (self.bytes.len() - start + 4) as u32;
        debug_assert!(length.is_multiple_of(4), "a block is a whole number of words");
        self.bytes[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
        self.bytes.extend(length.to_le_bytes());
    }
}

/// Appends a block option, padded to a whole word.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad_to_word(body, value.len());
}

/// Appends zeros after the last `length` bytes to fill whole words.
fn pad_to_word(body: &mut Vec<u8>, length: usize) {
    body.extend(std::iter::repeat_n(0, length.next_multiple_of(4) - length));
}

impl Header<'_> {
    /// The IPv4 and TCP headers as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut data = [0; SNAP_LENGTH];
        let length = self.write(&mut data, 0);
        data[..length].to_vec()
    }

    /// Writes the IPv4 and TCP headers of a packet whose payload adds up to `sum`; returns their length.
    fn write(&self, data: &mut [u8; SNAP_LENGTH], sum: u16) -> usize {
        let tcp = TCP_HEADER + self.write_options(&mut data[IP_HEADER + TCP_HEADER..]);
        let length = IP_HEADER + tcp;
        let payload = self.payload_bytes(length);
        self.write_tcp(&mut data[IP_HEADER..length], payload, sum);
        write_ip(&mut data[..IP_HEADER], length + payload, TCP, [self.dscp, self.ecn], [self.src, self.dst]);
        length
    }

    /// The payload, cut to what an IPv4 packet with headers of this length can hold.
    fn payload_bytes(&self, headers: usize) -> usize {
        debug_assert!(usize::from(self.payload) + headers <= 0xFFFF, "an IPv4 packet has at most 65535 bytes");
        usize::from(self.payload).min(0xFFFF - headers)
    }

    /// RFC 9293 section 3.1, with the options already written. A payload of zeros affects the checksum only by its
    /// length, which is in the pseudo-header.
    fn write_tcp(&self, tcp: &mut [u8], payload: usize, sum: u16) {
        tcp[0..2].copy_from_slice(&self.src_port.to_be_bytes());
        tcp[2..4].copy_from_slice(&self.dst_port.to_be_bytes());
        tcp[4..8].copy_from_slice(&self.seq.to_be_bytes());
        tcp[8..12].copy_from_slice(&self.ack.to_be_bytes());
        tcp[12] = (tcp.len() as u8 / 4) << 4;
        tcp[13] = self.flags_byte;
        tcp[14..16].copy_from_slice(&self.window.to_be_bytes());
        let pseudo_header = ones_complement_sum(&[self.src, self.dst].concat(), 0);
        let lengths = u32::from(TCP) + (tcp.len() + payload) as u32;
        let checksum = !ones_complement_sum(tcp, u32::from(pseudo_header) + lengths + u32::from(sum));
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Writes the TCP options, each padded in front with no-operations to a whole word; returns their length.
    fn write_options(&self, options: &mut [u8]) -> usize {
        const NOP: u8 = 1;
        let mut length = 0;
        let mut put = |bytes: &[u8]| {
            options[length..length + bytes.len()].copy_from_slice(bytes);
            length += bytes.len();
            length
        };
        if let Some(mss) = self.mss_option {
            let [high, low] = mss.to_be_bytes();
            put(&[2, 4, high, low]);
        }
        if self.sack_permitted {
            put(&[NOP, NOP, 4, 2]);
        }
        if let Some(scale) = self.syn_scale {
            put(&[NOP, 3, 3, scale]);
        }
        let room = (MAX_OPTIONS - 4 - put(&[])) / 8;
        let blocks = &self.sack[..self.sack.len().min(room)];
        if !blocks.is_empty() {
            put(&[NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
            for (left, right) in blocks {
                put(&left.to_be_bytes());
                put(&right.to_be_bytes());
            }
        }
        length
    }
}

/// RFC 791 section 3.1. "Don't fragment" is set, as hosts do, so the identification has no meaning (RFC 6864 section 4.1).
fn write_ip(ip: &mut [u8], total: usize, protocol: u8, [dscp, ecn]: [u8; 2], [src, dst]: [[u8; 4]; 2]) {
    ip[0] = 0x45;
    ip[1] = dscp << 2 | (ecn & 0b11);
    ip[2..4].copy_from_slice(&(total as u16).to_be_bytes());
    ip[6] = 0x40;
    ip[8] = 64;
    ip[9] = protocol;
    ip[12..16].copy_from_slice(&src);
    ip[16..20].copy_from_slice(&dst);
    let checksum = !ones_complement_sum(ip, 0);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// The headers of a captured UDP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Udp {
    /// Addresses and ports.
    pub ends: Addresses,
    /// The ECN field of the IP header: two bits.
    pub ecn: u8,
    /// The differentiated services code point of the IP header: six bits.
    pub dscp: u8,
    /// Bytes of the packet from its IPv4 header on; more if its content takes more.
    pub length: u16,
}

impl Udp {
    fn total(&self, content: &[u8]) -> usize {
        usize::from(self.length).max(IP_HEADER + UDP_HEADER + content.len())
    }

    /// The IPv4 and UDP headers (RFC 768), whose checksum zeros after `content` do not change.
    fn headers(&self, content: &[u8]) -> [u8; IP_HEADER + UDP_HEADER] {
        let Addresses { src, dst, src_port, dst_port } = self.ends;
        let (mut data, total) = ([0; IP_HEADER + UDP_HEADER], self.total(content));
        write_ip(&mut data[..IP_HEADER], total, UDP, [self.dscp, self.ecn], [src, dst]);
        let length = (total - IP_HEADER) as u16;
        let udp = &mut data[IP_HEADER..];
        for (at, field) in [src_port, dst_port, length].into_iter().enumerate() {
            udp[2 * at..2 * at + 2].copy_from_slice(&field.to_be_bytes());
        }
        let pseudo_header = ones_complement_sum(&[src, dst].concat(), u32::from(UDP) + u32::from(length));
        let payload = ones_complement_sum(content, u32::from(pseudo_header));
        // Zero would mean that there is none.
        let checksum = match !ones_complement_sum(udp, u32::from(payload)) {
            0 => u16::MAX,
            checksum => checksum,
        };
        udp[6..].copy_from_slice(&checksum.to_be_bytes());
        data
    }
}

/// The sum of RFC 1071 over 16-bit words, with carries folded in; an odd last byte is padded with zero.
fn ones_complement_sum(bytes: &[u8], start: u32) -> u16 {
    let word = |word: &[u8]| u32::from(word[0]) << 8 | word.get(1).map_or(0, |low| u32::from(*low));
    let words = bytes.chunks(2).map(word);
    let sum = words.fold(start, |sum, word| sum + word);
    let folded = (sum & 0xFFFF) + (sum >> 16);
    ((folded & 0xFFFF) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: Header<'static> = Header {
        src: [10, 0, 0, 1],
        dst: [10, 0, 0, 2],
        src_port: 40000,
        dst_port: 5001,
        seq: 0,
        ack: 0,
        flags_byte: 0xC2,
        ecn: 0,
        dscp: 0,
        window: 65535,
        payload: 0,
        syn_scale: Some(7),
        mss_option: Some(1460),
        sack_permitted: true,
        sack: &[],
    };

    const DATA: Header<'static> = Header {
        src: [10, 0, 0, 1],
        dst: [10, 0, 0, 2],
        src_port: 40000,
        dst_port: 5001,
        seq: 0xFFFF_FFF0,
        ack: 0x0102_0304,
        flags_byte: 0x10,
        ecn: 0b11,
        dscp: 46,
        window: 512,
        payload: 1460,
        syn_scale: None,
        mss_option: None,
        sack_permitted: false,
        sack: &[],
    };

    /// What follows the section header and one interface called `ab`.
    fn after_preamble(capture: &PcapNg) -> &[u8] {
        &capture.bytes()[44 + 40..]
    }

    fn captured(header: &Header<'_>) -> Vec<u8> {
        let mut capture = PcapNg::new(&["ab"], Resolution::Picoseconds);
        capture.packet(0, Time::ZERO, header);
        let block = after_preamble(&capture);
        let length = u32::from_le_bytes(block[20..24].try_into().unwrap()) as usize;
        block[28..28 + length].to_vec()
    }

    #[test]
    fn a_capture_starts_with_its_section_and_interfaces() {
        #[rustfmt::skip]
        let expected = [
            0x0A, 0x0D, 0x0D, 0x0A, 44, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            4, 0, 5, 0, b'f', b'a', b'n', b'i', b'n', 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
            1, 0, 0, 0, 40, 0, 0, 0, 228, 0, 0, 0, 80, 0, 0, 0,
            2, 0, 2, 0, b'a', b'b', 0, 0, 9, 0, 1, 0, 12, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0,
        ];
        assert_eq!(PcapNg::new(&["ab"], Resolution::Picoseconds).bytes(), expected);
    }

    #[test]
    fn a_syn_is_written_byte_for_byte() {
        let mut capture = PcapNg::new(&["ab"], Resolution::Picoseconds);
        capture.packet(0, Time::from_ps(0x0000_0001_0203_0405), &SYN);
        #[rustfmt::skip]
        let expected = [
            6, 0, 0, 0, 84, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 4, 3, 2, 52, 0, 0, 0, 52, 0, 0, 0,
            0x45, 0x00, 0x00, 0x34, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0x26, 0xC2,
            10, 0, 0, 1, 10, 0, 0, 2,
            0x9C, 0x40, 0x13, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0xC2, 0xFF, 0xFF, 0xAA, 0x85, 0, 0,
            2, 4, 0x05, 0xB4, 1, 1, 4, 2, 1, 3, 3, 7,
            84, 0, 0, 0,
        ];
        assert_eq!(after_preamble(&capture), expected);
    }

    #[test]
    fn a_data_packet_is_written_byte_for_byte() {
        let mut capture = PcapNg::new(&["ab"], Resolution::Picoseconds);
        capture.packet(0, Time::from_us(1), &DATA);
        #[rustfmt::skip]
        let expected = [
            6, 0, 0, 0, 72, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x42, 0x0F, 0, 40, 0, 0, 0, 0xDC, 0x05, 0, 0,
            0x45, 0xBB, 0x05, 0xDC, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0x20, 0x5F,
            10, 0, 0, 1, 10, 0, 0, 2,
            0x9C, 0x40, 0x13, 0x89, 0xFF, 0xFF, 0xFF, 0xF0, 1, 2, 3, 4, 0x50, 0x10, 0x02, 0x00,
            0xE0, 0x5D, 0, 0,
            72, 0, 0, 0,
        ];
        assert_eq!(after_preamble(&capture), expected);
    }

    /// Sums a whole packet the way a receiver does, payload included.
    #[test]
    fn receivers_accept_the_checksums() {
        let edges = [(1, 1461), (0xFFFF_0000, 0x0000_FFFF), (7, 9)];
        for (payload, sack) in [(0, &edges[..0]), (1, &edges[..1]), (1459, &edges[..2]), (9000, &edges[..])] {
            let header = Header { payload, sack, ..DATA };
            let packet = captured(&header);
            assert_eq!(ones_complement_sum(&packet[..20], 0), 0xFFFF);
            let mut segment = packet[20..].to_vec();
            let tcp_length = (segment.len() + usize::from(payload)) as u16;
            segment.resize(usize::from(tcp_length).next_multiple_of(2), 0);
            segment.extend([header.src, header.dst].concat());
            segment.extend([0, 6]);
            segment.extend(tcp_length.to_be_bytes());
            assert_eq!(ones_complement_sum(&segment, 0), 0xFFFF);
        }
    }

    #[test]
    fn a_packet_with_payload_is_captured_whole_and_its_checksum_covers_it() {
        for length in [0, 1, 2, 7, 1460] {
            let mut capture = PcapNg::new(&["ab"], Resolution::Picoseconds);
            let interface = capture.add_whole_interface("cd");
            let payload: Vec<u8> = (0..length).map(|i| (i * 37 % 251) as u8).collect();
            capture.whole_packet(interface, Time::ZERO, &DATA, &payload);
            let block = &capture.bytes()[44 + 40 + 40..];
            let whole = u32::from_le_bytes(block[20..24].try_into().unwrap()) as usize;
            assert_eq!((whole, block[24..28].to_vec()), (40 + payload.len(), block[20..24].to_vec()));
            assert_eq!(block[28 + 40..28 + whole], payload);
            let mut segment = block[28 + 20..28 + whole].to_vec();
            segment.resize(segment.len().next_multiple_of(2), 0);
            segment.extend([DATA.src, DATA.dst].concat());
            segment.extend([0, 6]);
            segment.extend((whole as u16 - 20).to_be_bytes());
            assert_eq!(ones_complement_sum(&segment, 0), 0xFFFF, "{length}");
        }
    }

    #[test]
    fn sack_blocks_fill_the_options_and_no_more() {
        let blocks = [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)];
        let packet = captured(&Header { sack: &blocks, payload: 0, ..DATA });
        assert_eq!(packet[32] >> 4, 14);
        assert_eq!(packet[40..48], [1, 1, 5, 34, 0, 0, 0, 1]);
        assert_eq!(packet[68..], [0, 0, 0, 7, 0, 0, 0, 8]);
        let crowded = captured(&Header { sack: &blocks, ..SYN });
        assert_eq!(crowded.len(), 20 + 20 + 12 + 4 + 3 * 8);
    }

    #[test]
    fn a_udp_packet_is_written_byte_for_byte() {
        let ends = Addresses { src: [10, 0, 0, 1], dst: [10, 0, 0, 2], src_port: 40_000, dst_port: 5_001 };
        let mut capture = PcapNg::new(&["ab"], Resolution::Picoseconds);
        capture.udp_packet(0, Time::ZERO, &Udp { ends, ecn: 3, dscp: 46, length: 64 }, &[7, 1, 2]);
        let block = after_preamble(&capture);
        assert_eq!(block[20..28], [31, 0, 0, 0, 64, 0, 0, 0], "captured and original length");
        #[rustfmt::skip]
        let expected = [
            0x45, 0xBB, 0, 64, 0, 0, 0x40, 0, 0x40, 17, 0x25, 0xF0, 10, 0, 0, 1, 10, 0, 0, 2,
            0x9C, 0x40, 0x13, 0x89, 0, 44, 0x32, 0xC9, 7, 1, 2,
        ];
        assert_eq!(block[28..59], expected);
        let short = Udp { ends, length: 0, ..Udp::default() };
        assert_eq!(short.total(&[7, 1, 2]), 31, "its content is never cut");
    }

    #[test]
    fn blocks_are_whole_words_that_repeat_their_length() {
        let mut capture = PcapNg::new(&["", "a", "abc", "host 1 to leaf 2"], Resolution::Picoseconds);
        capture.packet(3, Time::from_secs(5), &SYN);
        capture.packet(1, Time::from_secs(5), &Header { sack: &[(1, 2)], payload: 7, ..DATA });
        let (mut rest, mut blocks) = (capture.bytes(), 0);
        while !rest.is_empty() {
            let length = u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(rest[length - 4..length], rest[4..8]);
            (rest, blocks) = (&rest[length..], blocks + 1);
        }
        assert_eq!(blocks, 7);
    }

    #[test]
    fn pieces_join_to_the_whole() {
        let mut capture = PcapNg::new(&["ab"], Resolution::Picoseconds);
        let mut pieces = capture.take();
        capture.packet(0, Time::ZERO, &SYN);
        pieces.extend(capture.take());
        let mut whole = PcapNg::new(&["ab"], Resolution::Picoseconds);
        whole.packet(0, Time::ZERO, &SYN);
        assert_eq!(pieces, whole.bytes());
    }

    #[test]
    #[should_panic(expected = "interface 1 of 1")]
    fn unknown_interfaces_are_refused() {
        PcapNg::new(&["ab"], Resolution::Picoseconds).packet(1, Time::ZERO, &SYN);
    }
}

//! The headers of a packet in a `Packet_In`: Ethernet, IPv4 and TCP with options.

use super::Malformed;
use super::bytes::Reader;
use fanin_core::packet::{Addresses, Flags, Packet};
use fanin_core::pcapng::Header;

const ETHERNET: usize = 14;
/// Bytes of the IPv4 and TCP headers without options.
const HEADERS: u16 = 40;
const IPV4: u16 = 0x0800;
const TCP: u8 = 6;

/// The fields of a packet's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Addresses and ports.
    pub(crate) addresses: Addresses,
    /// The TCP flag byte.
    pub(crate) flags: u8,
    /// Sequence number.
    pub(crate) seq: u32,
    /// Acknowledgement number.
    pub(crate) ack: u32,
    /// Window field.
    pub(crate) window: u16,
    /// Bytes of payload, which is not in the message.
    pub(crate) payload: u16,
    /// Maximum segment size, in a SYN.
    pub(crate) mss: Option<u16>,
    /// Window scale, in a SYN.
    pub(crate) scale: Option<u8>,
}

impl Frame {
    /// The headers of a packet of the flow with these addresses.
    pub(crate) fn of(packet: &Packet, of_data: Addresses, mss: u16) -> Self {
        let (ack, syn) = (packet.is_ack(), packet.flags.has(Flags::SYN));
        // A receiver sends no data, so its sequence number stays the same after its SYN.
        let (seq, acknowledged) = match (ack, syn) {
            (false, true) => (packet.seq, 0),
            (false, false) => (packet.seq, 1),
            (true, _) => (u32::from(!syn), packet.seq),
        };
        Self {
            addresses: if ack { of_data.reversed() } else { of_data },
            // Every segment but the first SYN acknowledges (RFC 9293 section 3.4).
            flags: packet.flags.tcp_byte() | if syn && !ack { 0 } else { Flags::ACK.tcp_byte() },
            seq,
            ack: acknowledged,
            window: packet.window,
            payload: packet.size.saturating_sub(HEADERS),
            mss: syn.then_some(mss),
            scale: syn.then_some(packet.flags.window_scale()),
        }
    }

    /// Whether a TCP flag is set.
    pub(crate) fn has(&self, flag: Flags) -> bool {
        self.flags & flag.tcp_byte() != 0
    }

    /// Bytes of the headers of a frame of so many bytes, which were read.
    pub(crate) fn heads(&self, bytes: usize) -> usize {
        bytes.saturating_sub(usize::from(self.payload))
    }

    /// Bytes of the whole frame, including the payload.
    pub(crate) fn length(&self) -> usize {
        self.head().len() + usize::from(self.payload)
    }

    /// The headers as bytes.
    pub(crate) fn head(&self) -> Vec<u8> {
        // Locally administered MAC addresses of the two hosts.
        let mut out = [&[2, 0][..], &self.addresses.dst, &[2, 0], &self.addresses.src].concat();
        out.extend(IPV4.to_be_bytes());
        out.extend(
            Header {
                src: self.addresses.src,
                dst: self.addresses.dst,
                src_port: self.addresses.src_port,
                dst_port: self.addresses.dst_port,
                seq: self.seq,
                ack: self.ack,
                flags_byte: self.flags,
                window: self.window,
                payload: self.payload,
                syn_scale: self.scale,
                mss_option: self.mss,
                ..Header::default()
            }
            .to_bytes(),
        );
        out
    }

    /// The whole frame; its payload is zeros, since packets here have none.
    pub(crate) fn whole(&self) -> Vec<u8> {
        let mut out = self.head();
        out.resize(self.length(), 0);
        out
    }

    /// Reads the headers of a frame.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        reader.skip(ETHERNET - 2)?;
        if reader.u16()? != IPV4 {
            return Err(Malformed::Value("kind of packet"));
        }
        let version = reader.u8()?;
        reader.skip(1)?;
        let total = usize::from(reader.u16()?);
        reader.skip(5)?;
        let protocol = reader.u8()?;
        reader.skip(2)?;
        let (src, dst) = (reader.address()?, reader.address()?);
        let ip_options = usize::from(version & 0x0F).checked_sub(5).ok_or(Malformed::Length)? * 4;
        reader.skip(ip_options)?;
        if version >> 4 != 4 || protocol != TCP {
            return Err(Malformed::Value("protocol"));
        }
        let (src_port, dst_port, seq, ack) = (reader.u16()?, reader.u16()?, reader.u32()?, reader.u32()?);
        let words = usize::from(reader.u8()? >> 4);
        let (flags, window) = (reader.u8()?, reader.u16()?);
        reader.skip(4)?;
        let options = words.checked_sub(5).ok_or(Malformed::Length)? * 4;
        let heads = 20 + ip_options + 20 + options;
        let payload = total.checked_sub(heads).ok_or(Malformed::Length)? as u16;
        let (mss, scale) = read_options(reader.part(options)?)?;
        let addresses = Addresses { src, dst, src_port, dst_port };
        Ok(Self { addresses, flags, seq, ack, window, payload, mss, scale })
    }
}

/// Maximum segment size and window scale from TCP options (RFC 9293 section 3.2, RFC 7323 section 2.2).
fn read_options(mut options: Reader<'_>) -> Result<(Option<u16>, Option<u8>), Malformed> {
    let (mut mss, mut scale) = (None, None);
    while options.left() > 0 {
        let kind = options.u8()?;
        if kind == 0 {
            break;
        }
        if kind == 1 {
            continue;
        }
        let length = usize::from(options.u8()?).checked_sub(2).ok_or(Malformed::Length)?;
        let mut value = options.part(length)?;
        match kind {
            2 => mss = Some(value.u16()?),
            3 => scale = Some(value.u8()?),
            _ => {}
        }
    }
    Ok((mss, scale))
}

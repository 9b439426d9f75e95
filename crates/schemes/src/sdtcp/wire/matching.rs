//! The match of a flow entry, as OXM fields (section 7.2.3).

use super::bytes::{Reader, align, set_length};
use super::{EXPERIMENTER, Malformed};
use fanin_core::packet::Addresses;

/// Class of the fields that OpenFlow itself defines.
const BASIC: u16 = 0x8000;
/// Class of the fields of experimenters.
const EXPERIMENTAL: u16 = 0xFFFF;
/// The Open Networking Foundation, as an experimenter: its extensions of 1.3.
const ONF: u32 = 0x4F4E_4600;

const IN_PORT: u8 = 0;
const ETH_TYPE: u8 = 5;
const IP_PROTO: u8 = 10;
const IPV4_SRC: u8 = 11;
const IPV4_DST: u8 = 12;
const TCP_SRC: u8 = 13;
const TCP_DST: u8 = 14;
/// ONF experimenter field: EXT-109.
const TCP_FLAGS: u8 = 42;
/// ONF experimenter field: EXT-233.
const ACTSET_OUTPUT: u8 = 43;
/// Experimenter field of our own.
const BUFFER_LEN: u8 = 1;

const IPV4: u16 = 0x0800;
const TCP: u8 = 6;
/// A match of OXM fields.
const OXM: u16 = 1;

/// TCP flags to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpFlags {
    /// Required values of the flags.
    pub(crate) value: u16,
    /// Which flags are compared.
    pub(crate) mask: u16,
}

/// A match; fields that are none are not compared. In a `Packet_In` the fields describe the packet or the port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Match {
    /// Ingress port of the packet; in a congestion notification, the congested port.
    pub(crate) in_port: Option<u32>,
    /// Connection, in the direction of the packet.
    pub(crate) connection: Option<Addresses>,
    /// TCP flags.
    pub(crate) tcp_flags: Option<TcpFlags>,
    /// Egress port of the packet.
    pub(crate) out_port: Option<u32>,
    /// Queue of the port in bytes.
    pub(crate) buffer_len: Option<u32>,
}

impl Match {
    /// Appends the match and its padding.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(OXM.to_be_bytes());
        out.extend([0, 0]);
        if let Some(port) = self.in_port {
            basic(out, IN_PORT, &port.to_be_bytes());
        }
        if let Some(addresses) = &self.connection {
            // A field is valid only after its prerequisites.
            basic(out, ETH_TYPE, &IPV4.to_be_bytes());
            basic(out, IP_PROTO, &[TCP]);
            basic(out, IPV4_SRC, &addresses.src);
            basic(out, IPV4_DST, &addresses.dst);
            basic(out, TCP_SRC, &addresses.src_port.to_be_bytes());
            basic(out, TCP_DST, &addresses.dst_port.to_be_bytes());
        }
        if let Some(flags) = self.tcp_flags {
            let both = [flags.value.to_be_bytes(), flags.mask.to_be_bytes()].concat();
            experimental(out, ONF, TCP_FLAGS << 1 | 1, &both);
        }
        if let Some(port) = self.out_port {
            experimental(out, ONF, ACTSET_OUTPUT << 1, &port.to_be_bytes());
        }
        if let Some(bytes) = self.buffer_len {
            experimental(out, EXPERIMENTER, BUFFER_LEN << 1, &bytes.to_be_bytes());
        }
        set_length(out, start + 2, start);
        align(out, start);
    }

    /// Reads a match and its padding.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        if reader.u16()? != OXM {
            return Err(Malformed::Value("kind of match"));
        }
        let length = usize::from(reader.u16()?);
        let mut fields = reader.part(length.checked_sub(4).ok_or(Malformed::Length)?)?;
        reader.skip(length.next_multiple_of(8) - length)?;
        let mut read = Self::default();
        let mut addresses = Addresses::default();
        let mut parts = 0;
        while fields.left() > 0 {
            let (class, kind, length) = (fields.u16()?, fields.u8()?, fields.u8()?);
            let mut value = fields.part(usize::from(length))?;
            match class {
                BASIC => parts += read.basic(kind, &mut value, &mut addresses)?,
                EXPERIMENTAL => read.experimental(kind, &mut value)?,
                _ => return Err(Malformed::Value("class of a match field")),
            }
            if value.left() > 0 {
                return Err(Malformed::Length);
            }
        }
        match parts {
            0 => {}
            CONNECTION => read.connection = Some(addresses),
            _ => return Err(Malformed::Value("part of a connection")),
        }
        Ok(read)
    }

    /// Reads an OpenFlow field. Returns a bit for the part of the connection that it gives.
    fn basic(&mut self, kind: u8, value: &mut Reader<'_>, addresses: &mut Addresses) -> Result<u32, Malformed> {
        match kind >> 1 {
            IN_PORT => {
                self.in_port = Some(value.u32()?);
                return Ok(0);
            }
            ETH_TYPE if value.u16()? == IPV4 => {}
            IP_PROTO if value.u8()? == TCP => {}
            IPV4_SRC => addresses.src = value.address()?,
            IPV4_DST => addresses.dst = value.address()?,
            TCP_SRC => addresses.src_port = value.u16()?,
            TCP_DST => addresses.dst_port = value.u16()?,
            _ => return Err(Malformed::Value("match field")),
        }
        Ok(1 << (kind >> 1))
    }

    fn experimental(&mut self, kind: u8, value: &mut Reader<'_>) -> Result<(), Malformed> {
        match (value.u32()?, kind >> 1) {
            (ONF, TCP_FLAGS) => self.tcp_flags = Some(TcpFlags { value: value.u16()?, mask: value.u16()? }),
            (ONF, ACTSET_OUTPUT) => self.out_port = Some(value.u32()?),
            (EXPERIMENTER, BUFFER_LEN) => self.buffer_len = Some(value.u32()?),
            _ => return Err(Malformed::Value("match field of an experimenter")),
        }
        Ok(())
    }
}

/// The bits of all parts of a connection; each may occur once.
const CONNECTION: u32 = 1 << ETH_TYPE | 1 << IP_PROTO | 1 << IPV4_SRC | 1 << IPV4_DST | 1 << TCP_SRC | 1 << TCP_DST;

fn basic(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    out.extend(BASIC.to_be_bytes());
    out.extend([field << 1, value.len() as u8]);
    out.extend(value);
}

fn experimental(out: &mut Vec<u8>, experimenter: u32, kind: u8, value: &[u8]) {
    out.extend(EXPERIMENTAL.to_be_bytes());
    out.extend([kind, 4 + value.len() as u8]);
    out.extend(experimenter.to_be_bytes());
    out.extend(value);
}

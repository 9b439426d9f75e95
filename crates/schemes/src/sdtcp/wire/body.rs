//! Message bodies (sections 7.3 and 7.4 of the specification).

use super::bytes::{Reader, pad};
use super::failure::Failure;
use super::flow::{FlowMod, FlowRemoved, FlowStats};
use super::parts::{FlowStatsRequest, PORT, PacketIn, PacketOut, PortDescription};
use super::{HEADER, Malformed};

pub(super) const HELLO: u8 = 0;
pub(super) const ERROR: u8 = 1;
const ECHO_REQUEST: u8 = 2;
const ECHO_REPLY: u8 = 3;
const FEATURES_REQUEST: u8 = 5;
const FEATURES_REPLY: u8 = 6;
const PACKET_IN: u8 = 10;
const FLOW_REMOVED: u8 = 11;
pub(super) const PACKET_OUT: u8 = 13;
pub(super) const FLOW_MOD: u8 = 14;
const MULTIPART_REQUEST: u8 = 18;
const MULTIPART_REPLY: u8 = 19;
const BARRIER_REQUEST: u8 = 20;
const BARRIER_REPLY: u8 = 21;

/// Multipart: statistics of flows.
const FLOW: u16 = 1;
/// Multipart: descriptions of ports.
const PORT_DESC: u16 = 13;

/// Maximum bytes of entries in one multipart reply, because lengths have 16 bits.
const MOST_ENTRIES: usize = 60_000;

/// The body of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Either side: a greeting with its version.
    Hello,
    /// Either side: a message of the other one cannot be served.
    Error(Failure),
    /// Either side: asks whether the other one is there.
    EchoRequest(Vec<u8>),
    /// Either side: it is there. The data are those of the request.
    EchoReply(Vec<u8>),
    /// Controller: what it has sent before is to be done before what it sends next.
    BarrierRequest,
    /// Switch: it is done.
    BarrierReply,
    /// Controller: requests the identity of a switch.
    FeaturesRequest,
    /// Switch: its identity.
    FeaturesReply {
        /// Number of the switch.
        datapath: u64,
    },
    /// Switch: a packet, or a notification of congestion.
    PacketIn(PacketIn),
    /// Switch: an entry was removed.
    FlowRemoved(FlowRemoved),
    /// Controller: send a packet.
    PacketOut(PacketOut),
    /// Controller: change the flow table.
    FlowMod(FlowMod),
    /// Controller: requests the descriptions of ports.
    PortsRequest,
    /// Switch: the descriptions of its ports.
    Ports {
        /// One per port.
        ports: Vec<PortDescription>,
        /// Another message continues the reply.
        more: bool,
    },
    /// Controller: requests flow statistics.
    FlowStatsRequest(FlowStatsRequest),
    /// Switch: flow statistics.
    FlowStats {
        /// One per entry.
        flows: Vec<FlowStats>,
        /// Another message continues the reply.
        more: bool,
    },
}

impl Body {
    /// The replies to a statistics request, as many as needed.
    pub(crate) fn of_flows(flows: Vec<FlowStats>) -> Vec<Self> {
        let mut parts: Vec<Vec<FlowStats>> = vec![Vec::new()];
        let mut size = 0;
        for flow in flows {
            let mut bytes = Vec::new();
            flow.write(&mut bytes);
            if size + bytes.len() > MOST_ENTRIES {
                parts.push(Vec::new());
                size = 0;
            }
            size += bytes.len();
            parts.last_mut().expect("one at least").push(flow);
        }
        let last = parts.len() - 1;
        parts.into_iter().enumerate().map(|(i, flows)| Self::FlowStats { flows, more: i < last }).collect()
    }

    /// The replies to a request for ports, as many as needed.
    pub(crate) fn of_ports(ports: &[PortDescription]) -> Vec<Self> {
        let parts: Vec<_> = ports.chunks(MOST_ENTRIES / PORT).collect();
        let last = parts.len().saturating_sub(1);
        let part = |(i, ports): (usize, &&[PortDescription])| Self::Ports { ports: ports.to_vec(), more: i < last };
        parts.iter().enumerate().map(part).collect()
    }

    /// Type in the header.
    pub(super) fn kind(&self) -> u8 {
        match self {
            Self::Hello => HELLO,
            Self::Error(_) => ERROR,
            Self::EchoRequest(_) => ECHO_REQUEST,
            Self::EchoReply(_) => ECHO_REPLY,
            Self::BarrierRequest => BARRIER_REQUEST,
            Self::BarrierReply => BARRIER_REPLY,
            Self::FeaturesRequest => FEATURES_REQUEST,
            Self::FeaturesReply { .. } => FEATURES_REPLY,
            Self::PacketIn(_) => PACKET_IN,
            Self::FlowRemoved(_) => FLOW_REMOVED,
            Self::PacketOut(_) => PACKET_OUT,
            Self::FlowMod(_) => FLOW_MOD,
            Self::PortsRequest | Self::FlowStatsRequest(_) => MULTIPART_REQUEST,
            Self::Ports { .. } | Self::FlowStats { .. } => MULTIPART_REPLY,
        }
    }

    /// Appends what follows the header.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            // A bitmap of versions: 1.3 alone.
            Self::Hello => out.extend([0, 1, 0, 8, 0, 0, 0, 1 << super::VERSION]),
            Self::FeaturesRequest | Self::BarrierRequest | Self::BarrierReply => {}
            Self::Error(failure) => failure.write(out),
            Self::EchoRequest(data) | Self::EchoReply(data) => out.extend(data),
            Self::FeaturesReply { datapath } => {
                out.extend(datapath.to_be_bytes());
                out.extend(u32::MAX.to_be_bytes()); // buffers
                out.extend([1, 0, 0, 0]); // one table, main connection
                out.extend(1_u32.to_be_bytes()); // capable of flow statistics
                pad(out, 4);
            }
            Self::PacketIn(packet) => packet.write(out),
            Self::FlowRemoved(removed) => removed.write(out),
            Self::PacketOut(packet) => packet.write(out),
            Self::FlowMod(change) => change.write(out),
            Self::PortsRequest => multipart(out, PORT_DESC, false),
            Self::Ports { ports, more } => {
                multipart(out, PORT_DESC, *more);
                for port in ports {
                    port.write(out);
                }
            }
            Self::FlowStatsRequest(request) => {
                multipart(out, FLOW, false);
                request.write(out);
            }
            Self::FlowStats { flows, more } => {
                multipart(out, FLOW, *more);
                for flow in flows {
                    flow.write(out);
                }
            }
        }
    }

    /// Reads what follows a header of this type.
    pub(super) fn read(kind: u8, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match kind {
            HELLO => {
                // Elements of later versions are ignored (section 7.5.1).
                reader.skip(reader.left())?;
                Self::Hello
            }
            ERROR => Self::Error(Failure::read(reader)?),
            ECHO_REQUEST => Self::EchoRequest(reader.rest()?),
            ECHO_REPLY => Self::EchoReply(reader.rest()?),
            BARRIER_REQUEST => Self::BarrierRequest,
            BARRIER_REPLY => Self::BarrierReply,
            FEATURES_REQUEST => Self::FeaturesRequest,
            FEATURES_REPLY => {
                let datapath = reader.u64()?;
                reader.skip(16)?;
                Self::FeaturesReply { datapath }
            }
            PACKET_IN => Self::PacketIn(PacketIn::read(reader)?),
            FLOW_REMOVED => Self::FlowRemoved(FlowRemoved::read(reader)?),
            PACKET_OUT => Self::PacketOut(PacketOut::read(reader)?),
            FLOW_MOD => Self::FlowMod(FlowMod::read(reader)?),
            MULTIPART_REQUEST | MULTIPART_REPLY => Self::read_multipart(kind == MULTIPART_REPLY, reader)?,
            other => return Err(Malformed::Type(other)),
        })
    }

    fn read_multipart(reply: bool, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (kind, flags) = (reader.u16()?, reader.u16()?);
        reader.skip(4)?;
        Ok(match (kind, reply) {
            (PORT_DESC, false) => Self::PortsRequest,
            (FLOW, false) => Self::FlowStatsRequest(FlowStatsRequest::read(reader)?),
            (PORT_DESC, true) => {
                let mut ports = Vec::new();
                while reader.left() > 0 {
                    ports.push(PortDescription::read(reader)?);
                }
                Self::Ports { ports, more: flags & 1 != 0 }
            }
            (FLOW, true) => {
                let mut flows = Vec::new();
                while reader.left() > 0 {
                    flows.push(FlowStats::read(reader)?);
                }
                Self::FlowStats { flows, more: flags & 1 != 0 }
            }
            _ => return Err(Malformed::Value("kind of multipart message")),
        })
    }
}

fn multipart(out: &mut Vec<u8>, kind: u16, more: bool) {
    out.extend(kind.to_be_bytes());
    out.extend(u16::from(more).to_be_bytes());
    pad(out, 4);
}

const _: () = assert!(MOST_ENTRIES + HEADER + 1000 < 1 << 16);

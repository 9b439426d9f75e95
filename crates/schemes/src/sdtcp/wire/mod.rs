//! OpenFlow 1.3 messages between SDTCP's switches and their controller, as bytes.
//!
//! The framing is that of the OpenFlow Switch Specification 1.3.5, section 7. Additions for the paper use only the
//! extension points of the specification, so that any dissector of 1.3 can decode the messages:
//!
//! | addition | where |
//! |---|---|
//! | reasons CN-L, CN-M, CN-H and CR | values of the reason of `Packet_In` that 1.3 leaves free |
//! | queue length (`buffer_len`) | match field of our own experimenter |
//! | TCP flags | match field 42 of the ONF's experimenter (EXT-109), which OpenFlow 1.5 took over as `OXM_OF_TCP_FLAGS` |
//! | output port | match field 43 of the ONF's experimenter (EXT-233), in 1.5 `OXM_OF_ACTSET_OUTPUT` |
//! | window | action of our own experimenter |

mod action;
mod body;
mod bytes;
mod failure;
mod flow;
mod frame;
mod matching;
mod parts;

pub(super) use action::Action;
pub(super) use body::Body;
pub(super) use failure::{Failure, Kind as FailureKind};
pub(super) use flow::{Counters, FlowMod, FlowRemoved, FlowStats, command, cookie};
pub(super) use frame::Frame;
pub(super) use matching::{Match, TcpFlags};
pub(super) use parts::{FlowStatsRequest, PacketIn, PacketOut, PortDescription, reason};

use bytes::Reader;
use thiserror::Error;

/// Version of the protocol: 1.3.
const VERSION: u8 = 0x04;

/// Experimenter of our own additions. The high byte is zero, so the rest is an organisation's identifier. Its locally
/// administered bit is set, so it belongs to no organisation.
const EXPERIMENTER: u32 = 0x0002_FA17;

/// Buffer number of a packet that is not buffered.
pub(super) const NO_BUFFER: u32 = 0xFFFF_FFFF;

/// Number of any port, and of any group.
const ANY: u32 = 0xFFFF_FFFF;

/// Bytes of each message's header: version, type, length and transaction number.
const HEADER: usize = 8;

/// Why bytes are not a valid message.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(super) enum Malformed {
    /// Fewer bytes than a field or a length requires.
    #[error("the message ends within a field")]
    Short,
    /// A length that contradicts what it covers.
    #[error("a length contradicts what it covers")]
    Length,
    /// Another version of OpenFlow.
    #[error("version {0:#04x} instead of 0x04")]
    Version(u8),
    /// An unused message type.
    #[error("type {0} is not used here")]
    Type(u8),
    /// An unused value of a field.
    #[error("unknown {0}")]
    Value(&'static str),
}

/// A message with its transaction number, which the reply repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Number of the transaction.
    pub(super) xid: u32,
    /// The body.
    pub(super) body: Body,
}

impl Message {
    /// The bytes on the control channel.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION, self.body.kind(), 0, 0];
        out.extend(self.xid.to_be_bytes());
        self.body.write(&mut out);
        let length = u16::try_from(out.len()).expect("senders split what is longer");
        out[2..4].copy_from_slice(&length.to_be_bytes());
        out
    }

    /// The answer to a request.
    pub(super) fn reply(xid: u32, body: Body) -> Vec<u8> {
        Self { xid, body }.encode()
    }

    /// Reads a message, which must be all of `bytes`.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let (version, kind) = (reader.u8()?, reader.u8()?);
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        if usize::from(reader.u16()?) != bytes.len() {
            return Err(Malformed::Length);
        }
        let xid = reader.u32()?;
        let body = Body::read(kind, &mut reader)?;
        if reader.left() > 0 {
            return Err(Malformed::Length);
        }
        Ok(Self { xid, body })
    }
}

#[cfg(test)]
mod tests;

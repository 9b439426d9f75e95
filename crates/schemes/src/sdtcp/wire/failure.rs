//! ERROR messages (section 7.4.4 of the specification).

use super::body::{ERROR, FLOW_MOD, HELLO, PACKET_OUT};
use super::bytes::Reader;
use super::{HEADER, Malformed};

/// Most bytes of the failed message that an error repeats; the specification asks for 64 at least.
const REPEATED: usize = 64;

/// What went wrong: type and code, as section 7.4.4 numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(u16, u16);

impl Kind {
    /// No version in common.
    pub(crate) const INCOMPATIBLE: Self = Self(0, 0);
    /// The version of a message is not the agreed one.
    pub(crate) const BAD_VERSION: Self = Self(1, 0);
    /// The type of a message is not known.
    pub(crate) const BAD_TYPE: Self = Self(1, 1);
    /// The kind of a multipart message is not known.
    pub(crate) const BAD_MULTIPART: Self = Self(1, 2);
    /// A length contradicts what it covers.
    pub(crate) const BAD_LENGTH: Self = Self(1, 6);
    /// The buffer that a message names holds nothing, or nothing more.
    pub(crate) const BUFFER_UNKNOWN: Self = Self(1, 8);
    /// An action is not known.
    pub(crate) const BAD_ACTION: Self = Self(2, 0);
    /// An entry cannot be changed as wished, for no reason that has a number.
    pub(crate) const FLOW_MOD_FAILED: Self = Self(5, 0);
}

/// An error, with the beginning of the message that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What went wrong.
    pub(crate) kind: Kind,
    /// The beginning of the message.
    pub(crate) data: Vec<u8>,
}

impl Failure {
    /// The failure of a message.
    pub(crate) fn new(kind: Kind, message: &[u8]) -> Self {
        Self { kind, data: message[..message.len().min(REPEATED)].to_vec() }
    }

    /// The answer to bytes that are no valid message, and the transaction that it answers. There is none to an error,
    /// nor to what has no whole header.
    pub(crate) fn of(message: &[u8], why: Malformed) -> Option<(u32, Self)> {
        let xid = message.get(4..HEADER)?.try_into().expect("four bytes");
        let kind = match (why, message[1]) {
            (_, ERROR) => return None,
            (Malformed::Version(_), HELLO) => Kind::INCOMPATIBLE,
            (Malformed::Version(_), _) => Kind::BAD_VERSION,
            (Malformed::Type(_), _) => Kind::BAD_TYPE,
            (Malformed::Short | Malformed::Length, _) => Kind::BAD_LENGTH,
            (Malformed::Value(_), FLOW_MOD) => Kind::FLOW_MOD_FAILED,
            (Malformed::Value(_), PACKET_OUT) => Kind::BAD_ACTION,
            (Malformed::Value(_), _) => Kind::BAD_MULTIPART,
        };
        Some((u32::from_be_bytes(xid), Self::new(kind, message)))
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.kind.0.to_be_bytes());
        out.extend(self.kind.1.to_be_bytes());
        out.extend(&self.data);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let kind = Kind(reader.u16()?, reader.u16()?);
        Ok(Self { kind, data: reader.rest()? })
    }
}

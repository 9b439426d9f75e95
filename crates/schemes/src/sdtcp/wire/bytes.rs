//! Reading and padding of big-endian bytes.

use super::Malformed;

/// The unread rest of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }
    /// Number of unread bytes.
    pub(super) fn left(&self) -> usize {
        self.bytes.len()
    }
    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Malformed::Short)?;
        self.bytes = rest;
        Ok(taken)
    }
    /// All bytes that are left.
    pub(super) fn rest(&mut self) -> Result<Vec<u8>, Malformed> {
        Ok(self.take(self.left())?.to_vec())
    }
    /// A reader of the next `count` bytes only.
    pub(super) fn part(&mut self, count: usize) -> Result<Self, Malformed> {
        self.take(count).map(Self::new)
    }
    /// Skips padding or an unused field.
    pub(super) fn skip(&mut self, count: usize) -> Result<(), Malformed> {
        self.take(count).map(drop)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        Ok(self.take(N)?.try_into().expect("as many as asked for"))
    }
    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }
    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }
    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }
    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }
    pub(super) fn address(&mut self) -> Result<[u8; 4], Malformed> {
        self.array()
    }
}

/// Appends `count` zeros.
pub(super) fn pad(out: &mut Vec<u8>, count: usize) {
    out.extend(std::iter::repeat_n(0, count));
}

/// Appends zeros until what follows `start` fills whole words of eight bytes.
pub(super) fn align(out: &mut Vec<u8>, start: usize) {
    let length = out.len() - start;
    pad(out, length.next_multiple_of(8) - length);
}

/// Writes the 16-bit length of what follows `start` to the bytes at `at`.
pub(super) fn set_length(out: &mut [u8], at: usize, start: usize) {
    let length = (out.len() - start) as u16;
    out[at..at + 2].copy_from_slice(&length.to_be_bytes());
}

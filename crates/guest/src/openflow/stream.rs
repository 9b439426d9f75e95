//! Messages on a stream of bytes: each begins with a header that says how long it is.

use std::io::{self, ErrorKind, Read, Write};

/// Bytes of a header: version, type, length and transaction number.
const HEADER: usize = 8;

/// A stream that does not block.
pub(super) struct Framed<S> {
    pub(super) stream: S,
    read: Vec<u8>,
    unwritten: Vec<u8>,
}

impl<S: Read + Write> Framed<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, read: Vec::new(), unwritten: Vec::new() }
    }

    /// The messages that have arrived whole.
    pub(super) fn messages(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut piece = vec![0; 1 << 16];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(io::Error::other("the other side has closed the connection")),
                Ok(size) => self.read.extend(&piece[..size]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let mut messages = Vec::new();
        let mut at = 0;
        while let Some(length) =
            self.read[at..].get(2..4).map(|bytes| usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
        {
            if length < HEADER {
                return Err(io::Error::other(format!("a message of {length} bytes")));
            }
            let Some(message) = self.read[at..].get(..length) else { break };
            messages.push(message.to_vec());
            at += length;
        }
        self.read.drain(..at);
        Ok(messages)
    }

    /// Sends a message, now or when the stream takes it.
    pub(super) fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.unwritten.extend(message);
        self.flush()
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while !self.unwritten.is_empty() {
            match self.stream.write(&self.unwritten) {
                Ok(size) => drop(self.unwritten.drain(..size)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

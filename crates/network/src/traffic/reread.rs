//! A file that is read twice, and must be the same both times: what has changed in between is refused before it is used.

use sha2::{Digest as _, Sha256};
use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex};

const BLOCK: usize = 1 << 16;

/// What the first reading has seen.
#[derive(Default)]
pub(super) struct Seen {
    /// SHA-256 of each block.
    blocks: Vec<[u8; 32]>,
    whole: Sha256,
}

impl Seen {
    /// SHA-256 of what was read, in hexadecimal digits.
    pub(super) fn digest(&self) -> String {
        let digest: [u8; 32] = self.whole.clone().finalize().into();
        digest.chunks_exact(16).fold(String::new(), |text, half| {
            text + &format!("{:032x}", u128::from_be_bytes(half.try_into().expect("sixteen bytes")))
        })
    }
}

/// A reader that hands over a block once it has noted its hash, or has found it to be that of the first reading.
pub(super) struct Twice {
    input: Box<dyn BufRead + Send>,
    seen: Arc<Mutex<Seen>>,
    /// Number of blocks read again; none at the first reading.
    again: Option<usize>,
    block: Vec<u8>,
    used: usize,
}

impl Twice {
    /// Reads for the first time, and notes what it sees in `seen`.
    pub(super) fn first(input: Box<dyn BufRead + Send>, seen: &Arc<Mutex<Seen>>) -> Self {
        Self { input, seen: Arc::clone(seen), again: None, block: Vec::new(), used: 0 }
    }

    /// Reads what should be in `seen`.
    pub(super) fn again(input: Box<dyn BufRead + Send>, seen: &Arc<Mutex<Seen>>) -> Self {
        Self { again: Some(0), ..Self::first(input, seen) }
    }

    fn read_block(&mut self) -> io::Result<()> {
        self.block.clear();
        self.used = 0;
        self.input.by_ref().take(BLOCK as u64).read_to_end(&mut self.block)?;
        let mut seen = self.seen.lock().expect("no reader panics");
        let digest = (!self.block.is_empty()).then(|| Sha256::digest(&self.block).into());
        if let Some(number) = &mut self.again {
            if seen.blocks.get(*number).copied() != digest {
                self.block.clear();
                return Err(io::Error::other("the file has changed since it was first read"));
            }
            *number += 1;
        } else if let Some(digest) = digest {
            seen.blocks.push(digest);
            seen.whole.update(&self.block);
        }
        Ok(())
    }
}

impl Read for Twice {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Twice {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.block.len() {
            self.read_block()?;
        }
        Ok(&self.block[self.used..])
    }

    fn consume(&mut self, bytes: usize) {
        self.used += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], reader: impl FnOnce(Box<dyn BufRead + Send>) -> Twice) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        reader(Box::new(io::Cursor::new(text.to_vec()))).read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn what_differs_from_the_first_reading_is_refused_and_nothing_else() {
        let text = b"0.001,0,1,1500\n".repeat(20_000);
        let seen = Arc::default();
        assert_eq!(read(&text, |input| Twice::first(input, &seen)).expect("readable"), text);
        assert_eq!(read(&text, |input| Twice::again(input, &seen)).expect("the same"), text);
        let (mut flipped, mut longer) = (text.clone(), text.clone());
        flipped[BLOCK + 7] ^= 1;
        longer.push(b'\n');
        for changed in [&flipped, &longer, &text[..3 * BLOCK].to_vec(), &text[..3 * BLOCK - 15].to_vec(), &Vec::new()] {
            let error = read(changed, |input| Twice::again(input, &seen)).expect_err("changed");
            assert!(error.to_string().contains("has changed"), "{error}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_whole_file() {
        let seen = Arc::default();
        read(b"abc", |input| Twice::first(input, &seen)).expect("readable");
        let digest = seen.lock().expect("no panic").digest();
        // FIPS 180-2, appendix B.1.
        assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}

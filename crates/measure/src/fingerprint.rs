//! The hash of a run's results.

use sha2::{Digest as _, Sha256};

/// SHA-256 over results. Most values have eight bytes, so they are gathered before they are hashed: handing each over
/// by itself costs as much as its share of the hash.
pub struct Fingerprint {
    hash: Sha256,
    gathered: Vec<u8>,
}

/// Bytes that are gathered at least.
const BATCH: usize = 4096;

impl Fingerprint {
    /// The fingerprint of nothing.
    pub fn new() -> Self {
        Self { hash: Sha256::new(), gathered: Vec::with_capacity(2 * BATCH) }
    }

    /// Adds bytes behind those that are there.
    #[inline]
    pub fn add(&mut self, bytes: &[u8]) {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= BATCH {
            self.flush();
        }
    }

    #[inline(never)]
    fn flush(&mut self) {
        self.hash.update(&self.gathered);
        self.gathered.clear();
    }

    /// The hash of all bytes.
    pub fn finish(mut self) -> [u8; 32] {
        self.flush();
        self.hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_hash_as_the_whole() {
        let bytes: Vec<u8> = (0..3 * BATCH).map(|i| i as u8).collect();
        let mut parts = Fingerprint::new();
        bytes.chunks(7).for_each(|part| parts.add(part));
        let whole: [u8; 32] = Sha256::digest(&bytes).into();
        assert_eq!(parts.finish(), whole);
    }
}

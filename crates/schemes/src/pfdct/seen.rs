//! The switch's table of sequence numbers seen, by which it recognises retransmissions.
//!
//! The paper calls it a Pending Interest Table. It has a fixed size, as in a switch: four-way buckets chosen by a hash,
//! with replacement of the least recently used entry. An entry takes eight bytes here; a switch, which has no flow
//! handles, would also store 13 bytes of addresses and ports, or a hash of them.

/// Entries of a bucket.
const WAYS: usize = 4;

/// What an entry stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// One past the highest sequence number of a flow. Recognises packets that were lost anywhere on the path, but
    /// takes reordered packets for retransmissions.
    HighWater,
    /// The first sequence number of each packet. Exact while the entry is there, but does not recognise packets that
    /// were lost upstream.
    Set,
}

/// Flow and direction in the upper half, a sequence number in the lower; zero is a free entry.
#[derive(Clone, Copy, Debug, Default)]
struct Entry(u64);

impl Entry {
    const fn new(key: u32, number: u32) -> Self {
        Self((key as u64 + 1) << 32 | number as u64)
    }
    const fn is_of(self, key: u32) -> bool {
        self.0 >> 32 == key as u64 + 1
    }
    const fn number(self) -> u32 {
        self.0 as u32
    }
}

/// The table of one switch.
#[derive(Debug)]
pub(super) struct Seen {
    mode: Mode,
    /// Number of buckets. They are allocated with the first packet, because the tables of hosts stay empty.
    size: usize,
    /// In each bucket, the most recently used entry comes first.
    buckets: Vec<[Entry; WAYS]>,
    /// Number of entries that were replaced.
    pub(super) evicted: u64,
}

impl Seen {
    /// A table of `entries` entries, rounded up to whole buckets.
    pub(super) fn new(mode: Mode, entries: usize) -> Self {
        Self { mode, size: entries.div_ceil(WAYS).max(1), buckets: Vec::new(), evicted: 0 }
    }

    /// Records the sequence numbers from `seq` to before `end` of a flow and direction. Returns whether `seq` had been
    /// recorded.
    pub(super) fn record(&mut self, key: u32, seq: u32, end: u32) -> bool {
        if self.buckets.is_empty() {
            self.buckets = vec![[Entry::default(); WAYS]; self.size];
        }
        match self.mode {
            Mode::Set => {
                let wanted = Entry::new(key, seq);
                let bucket = self.bucket(wanted.0);
                if let Some(way) = bucket.iter().position(|entry| entry.0 == wanted.0) {
                    bucket[..=way].rotate_right(1);
                    return true;
                }
                self.insert(wanted.0, wanted);
                false
            }
            Mode::HighWater => {
                let bucket = self.bucket(u64::from(key));
                let Some(way) = bucket.iter().position(|entry| entry.is_of(key)) else {
                    self.insert(u64::from(key), Entry::new(key, end));
                    return false;
                };
                bucket[..=way].rotate_right(1);
                let highest = bucket[0].number();
                // Serial number arithmetic of 32 bits (RFC 1982).
                if (end.wrapping_sub(highest) as i32) > 0 {
                    bucket[0] = Entry::new(key, end);
                }
                (seq.wrapping_sub(highest) as i32) < 0
            }
        }
    }

    fn insert(&mut self, hashed: u64, entry: Entry) {
        let bucket = self.bucket(hashed);
        bucket.rotate_right(1);
        let lost = std::mem::replace(&mut bucket[0], entry);
        self.evicted += u64::from(lost.0 != 0);
    }

    fn bucket(&mut self, hashed: u64) -> &mut [Entry; WAYS] {
        // Fibonacci hashing (Knuth, volume 3, section 6.4), then a multiplication in place of a remainder.
        let hash = hashed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let index = (u128::from(hash) * self.buckets.len() as u128) >> 64;
        &mut self.buckets[index as usize]
    }

    /// Allocated memory in bytes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        std::mem::size_of_val(&self.buckets[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_was_recorded_is_a_retransmission() {
        for mode in [Mode::HighWater, Mode::Set] {
            let mut seen = Seen::new(mode, 64);
            assert!(!seen.record(7, 1, 1461));
            assert!(!seen.record(7, 1461, 2921));
            assert!(seen.record(7, 1, 1461));
            assert!(!seen.record(7, 2921, 4381), "the next new one is new");
            assert!(!seen.record(8, 1, 1461), "another flow has its own numbers");
        }
    }

    #[test]
    fn numbers_wrap() {
        let mut seen = Seen::new(Mode::HighWater, 4);
        assert!(!seen.record(0, u32::MAX - 9, 90));
        assert!(!seen.record(0, 90, 190));
        assert!(seen.record(0, u32::MAX - 9, 90));
    }

    #[test]
    fn what_was_lost_before_the_switch_is_recognised_by_the_highest_number_only() {
        let lost_upstream = |mode| {
            let mut seen = Seen::new(mode, 64);
            seen.record(7, 1, 1461);
            seen.record(7, 2921, 4381); // 1461 never arrived.
            seen.record(7, 1461, 2921) // sent again
        };
        assert!(lost_upstream(Mode::HighWater));
        assert!(!lost_upstream(Mode::Set));
    }

    #[test]
    fn the_highest_number_takes_reordered_flowcells_for_retransmissions() {
        // Two flowcells of three segments on two paths; the second one overtakes the first.
        let order = [3, 0, 4, 1, 5, 2];
        let retransmissions = |mode| {
            let mut seen = Seen::new(mode, 64);
            order.iter().filter(|i| seen.record(7, 1 + **i * 1460, 1 + (**i + 1) * 1460)).count()
        };
        assert_eq!(retransmissions(Mode::HighWater), 3);
        assert_eq!(retransmissions(Mode::Set), 0);
    }

    #[test]
    fn memory_is_bounded_and_the_least_recently_used_gives_way() {
        let mut seen = Seen::new(Mode::HighWater, 4);
        for flow in 0..4 {
            seen.record(flow, 1, 1461);
        }
        assert_eq!(seen.bytes(), 32, "eight bytes an entry");
        assert_eq!(seen.evicted, 0);
        assert!(seen.record(0, 1, 1461), "used again");
        seen.record(4, 1, 1461);
        assert_eq!((seen.evicted, seen.bytes()), (1, 32));
        assert!(seen.record(0, 1, 1461));
        assert!(!seen.record(1, 1, 1461), "forgotten: its retransmission looks new");
        let mut exact = Seen::new(Mode::Set, 4);
        (0..5).for_each(|i| _ = exact.record(0, i, i + 1));
        assert_eq!((exact.record(0, 0, 1), exact.record(0, 4, 5)), (false, true));
    }
}

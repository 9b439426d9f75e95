//! Deficit round robin (Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM 1995): bands take
//! turns, and in a turn a band sends what its quantum and the rest of earlier ones allow.
//!
//! The band is the packet's priority, as with strict priority. Packets may be marked at a threshold of the port or the band.

use super::strict_priority::{BANDS, SCOPE, THRESHOLD, built};
use super::{MarkAt, QueueRow, StrictPriority};
use fanin_core::packet::Packet;
use fanin_core::roles::{Admission, QueueCx, QueueDiscipline};
use fanin_param::{Kind, Param};

const QUANTUM: Param = Param::new(
    "quantum",
    Kind::Bytes,
    "1500B",
    "Bytes that a band may send in its turn.",
    "Shreedhar and Varghese 1995, section 3: a packet of the largest size at least, for a constant time a packet",
)
.at_least(1.0);

pub(super) const ROW: QueueRow = QueueRow {
    key: "drr",
    summary: "Deficit round robin among bands by the packet's priority, with an optional marking threshold.",
    params: &[BANDS, THRESHOLD, MarkAt::PARAM, SCOPE, QUANTUM],
    build: |values| Box::new(Drr::new(built(values), values.bytes("quantum").get())),
};

/// Deficit round robin.
#[derive(Debug)]
pub struct Drr {
    bands: StrictPriority,
    quantum: u64,
    /// By band, what it may still send in this turn or keeps for the next.
    deficits: Vec<u64>,
    /// Whose turn it is.
    turn: usize,
}

impl Drr {
    /// Bands and marks as with strict priority; `quantum` bytes a turn, above zero.
    pub fn new(bands: StrictPriority, quantum: u64) -> Self {
        let turn = usize::from(bands.bands()) - 1;
        Self { deficits: vec![0; turn + 1], bands, quantum, turn }
    }
}

impl QueueDiscipline for Drr {
    fn bands(&self) -> u8 {
        self.bands.bands()
    }
    fn schedules(&self) -> bool {
        true
    }
    fn serve(&mut self, heads: &[Option<u16>]) -> usize {
        loop {
            match heads[self.turn].map(u64::from) {
                Some(size) if size <= self.deficits[self.turn] => {
                    self.deficits[self.turn] -= size;
                    return self.turn;
                }
                Some(_) => {}
                // Who has nothing to send keeps nothing.
                None => self.deficits[self.turn] = 0,
            }
            self.turn = (self.turn + 1) % heads.len();
            self.deficits[self.turn] += self.quantum;
        }
    }
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        self.bands.on_enqueue(cx, packet)
    }
    fn acts_on_dequeue(&self) -> bool {
        self.bands.acts_on_dequeue()
    }
    fn marks(&self) -> bool {
        self.bands.marks()
    }
    fn idle_below(&self) -> u32 {
        self.bands.idle_below()
    }
    fn on_dequeue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) {
        self.bands.on_dequeue(cx, packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Threshold;

    /// The bands that are served, one after another, while packets of these sizes always wait.
    fn served(quantum: u64, sizes: [Option<u16>; 3], times: usize) -> Vec<usize> {
        let mut drr = Drr::new(StrictPriority::new(3, Threshold::never(), false), quantum);
        (0..times).map(|_| drr.serve(&sizes)).collect()
    }

    #[test]
    fn bands_take_turns_and_an_empty_one_is_passed_over() {
        assert_eq!(served(1500, [Some(1500); 3], 6), [0, 1, 2, 0, 1, 2]);
        assert_eq!(served(3000, [Some(1500), None, Some(1500)], 6), [0, 0, 2, 2, 0, 0]);
    }

    #[test]
    fn bands_get_the_same_bytes_whatever_their_packets_sizes() {
        let sizes = [Some(1500), Some(500), Some(64)];
        let mut bytes = [0_i64; 3];
        for band in served(700, sizes, 100_000) {
            bytes[band] += i64::from(sizes[band].expect("all wait"));
        }
        // Section 3: what a band has got differs from another's by less than a quantum and a packet of the largest size.
        assert!(bytes.iter().all(|each| (each - bytes[0]).abs() <= 700 + 1500), "{bytes:?}");
    }

    #[test]
    fn who_has_nothing_to_send_saves_nothing() {
        let mut drr = Drr::new(StrictPriority::new(2, Threshold::never(), false), 1500);
        for _ in 0..10 {
            assert_eq!(drr.serve(&[Some(1500), None]), 0);
        }
        let served: Vec<_> = (0..4).map(|_| drr.serve(&[Some(1500); 2])).collect();
        assert_eq!(served, [1, 0, 1, 0]);
    }
}

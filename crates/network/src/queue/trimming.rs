//! Trimming: a segment that finds the data queue full loses its payload, and its header goes on before all data (Handley et
//! al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017, section 3.1).
//!
//! Two bands: headers, acknowledgements and control packets in the first, data in the second. Either the arriving segment is
//! cut or the last one that waits, so that no sender is always the one. Headers may fill what the port's buffer has beside
//! the data; behind that they are dropped, and nothing returns to its sender. The first band has strict priority, where the
//! paper gives data one turn in eleven.

use fanin_core::packet::Packet;
use fanin_core::roles::{Admission, QueueCx, QueueDiscipline};
use fanin_core::units::Size;

const HEADERS: u8 = 0;
const DATA: u8 = 1;

/// The discipline of a port that trims.
#[derive(Clone, Copy, Debug)]
pub struct Trimming {
    /// Bytes of a packet without payload.
    header: u16,
    /// What may wait in the second band.
    data: Size,
    /// The chance that the last one that waits is cut.
    last: f64,
}

impl Trimming {
    /// A data queue of `data` beside the packet in transmission, for packets with headers of `header` bytes. The chance that
    /// the last segment in it is cut instead of the arriving one is `last`.
    pub fn new(header: u16, data: Size, last: f64) -> Self {
        Self { header, data, last }
    }
}

impl QueueDiscipline for Trimming {
    fn bands(&self) -> u8 {
        2
    }
    fn on_enqueue(&mut self, cx: &mut QueueCx<'_>, packet: &mut Packet) -> Admission {
        if packet.is_ack() || packet.size <= self.header {
            return Admission::Enqueue(HEADERS);
        }
        let waits = cx.bands[usize::from(DATA)];
        let full = match self.data {
            Size::Packets(most) => u64::from(waits.packets) >= most,
            Size::Bytes(most) => waits.bytes + u64::from(packet.size) > most,
        };
        if !full {
            Admission::Enqueue(DATA)
        } else if waits.packets > 0 && cx.random.unit() < self.last {
            Admission::TrimLast { of: DATA, to: HEADERS }
        } else {
            Admission::Trim(HEADERS)
        }
    }
    fn keeps_nothing(&self) -> bool {
        true
    }
}

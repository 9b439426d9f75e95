//! What nodes do in a window of time in which each goes on by itself: everything whose order among nodes shows in results.

use fanin_core::ids::{FlowId, LinkId};
use fanin_core::packet::Packet;
use fanin_core::roles::DropReason;
use fanin_core::units::Time;

/// Entries in the order in which they were made, to be carried out in the order of time.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Whether entries are made. If not, everything happens in the order of time, and is carried out at once.
    pub open: bool,
    /// The place of the current event in the order of time: its instant, and its place among simultaneous ones.
    pub now: (Time, u64),
    entries: Vec<Entry>,
}

/// One entry.
#[derive(Debug)]
pub struct Entry {
    /// The place of its event in the order of time.
    pub at: (Time, u64),
    pub what: What,
}

/// What is to be carried out.
#[derive(Debug)]
pub enum What {
    Drop(LinkId, Box<Packet>, DropReason),
    /// A packet of the flow was marked; whether it was an acknowledgement.
    Mark(FlowId, bool),
    /// The segment with this number was retransmitted.
    Resent(FlowId, u32),
    /// The data of the transfer that the flow carries have arrived.
    Arrived(FlowId),
}

impl Ledger {
    /// Makes an entry for the current event.
    pub fn note(&mut self, what: What) {
        self.entries.push(Entry { at: self.now, what });
    }

    /// Ends the entries. Returns those made so far in the order of time, which two of one event keep.
    pub fn close(&mut self) -> Vec<Entry> {
        self.open = false;
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_by_key(|entry| entry.at);
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::books::Books;
    use crate::spec::Limit;
    use fanin_core::ids::GroupId;

    #[test]
    fn entries_come_in_the_order_of_time_and_those_of_one_event_as_they_were_made() {
        let mut ledger = Ledger { open: true, ..Ledger::default() };
        for (us, place, seqs) in [(5, 1, [0, 1]), (3, 9, [2, 3]), (5, 0, [4, 5])] {
            ledger.now = (Time::from_us(us), place);
            for seq in seqs {
                ledger.note(What::Resent(FlowId::new(0), seq));
            }
        }
        let seq = |entry: Entry| if let What::Resent(_, seq) = entry.what { seq } else { u32::MAX };
        let seqs: Vec<u32> = ledger.close().into_iter().map(seq).collect();
        assert_eq!(seqs, [2, 3, 4, 5, 0, 1]);
        assert!(!ledger.open && ledger.close().is_empty());
    }

    #[test]
    fn the_book_of_a_flow_waits_for_what_is_in_the_ledger() {
        let (flow, link) = (FlowId::new(0), LinkId::new(0));
        let mut books = Books::new(std::iter::once(Limit::Unlimited), 1, None, 40);
        books.add_flow(GroupId::new(0));
        let packet = Packet { size: 1500, ..Packet::default() };
        let counted = |books: &mut Books| {
            books.on_mark(link, &packet, Time::ZERO);
            books.on_resent(flow, 0);
            books.on_drop(link, &packet, DropReason::BufferFull, Time::ZERO);
            let book = &books.flows[flow];
            (book.marks, book.retransmissions, book.drops, book.lost.len(), books.drop_log.len())
        };
        books.ledger.open = true;
        assert_eq!(counted(&mut books), (0, 0, 0, 0, 0));
        assert_eq!(books.ledger.close().len(), 3);
        assert_eq!(counted(&mut books), (1, 1, 1, 1, 1));
    }
}

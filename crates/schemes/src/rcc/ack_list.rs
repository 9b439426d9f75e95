//! The queue of acknowledgements that the receiving host's scheduler holds.

use std::collections::VecDeque;

/// A waiting acknowledgement. Its number and window are set when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The flow; each has at most one entry.
    pub(crate) flow: u32,
    /// Maximum number of later acknowledgements that may overtake it.
    pub(crate) cap: u32,
    /// Number of acknowledgements that have overtaken it.
    pub(crate) skipped: u32,
    /// It requests a retransmission.
    pub(crate) push: bool,
    /// Remaining bytes of the flow; `u64::MAX` if unknown.
    pub(crate) remaining: u64,
}

/// A host's waiting acknowledgements in sending order, at most one per flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct AckList {
    entries: VecDeque<Entry>,
}

impl AckList {
    /// Removes the acknowledgement of `flow`. Returns how often it was overtaken.
    pub(crate) fn remove(&mut self, flow: u32) -> Option<u32> {
        let at = self.entries.iter().position(|entry| entry.flow == flow)?;
        self.entries.remove(at).map(|entry| entry.skipped)
    }

    /// Inserts an acknowledgement. With `priority` it goes before the entries at the end of the list whose flows have
    /// more bytes remaining and which may still be overtaken; otherwise it goes to the end.
    pub(crate) fn insert(&mut self, entry: Entry, priority: bool) {
        let mut at = self.entries.len();
        if priority {
            for item in self.entries.iter_mut().rev() {
                if entry.remaining >= item.remaining || item.skipped >= item.cap {
                    break;
                }
                item.skipped += 1;
                at -= 1;
            }
        }
        self.entries.insert(at, entry);
    }

    /// Removes the first entry.
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        self.entries.pop_front()
    }

    /// Number of waiting acknowledgements.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(flow: u32, remaining: u64) -> Entry {
        Entry { flow, cap: 3, skipped: 0, push: false, remaining }
    }

    fn flows(list: &AckList) -> Vec<u32> {
        list.entries.iter().map(|entry| entry.flow).collect()
    }

    #[test]
    fn the_least_to_come_goes_first_and_equals_stay_in_order() {
        let mut list = AckList::default();
        for (flow, remaining) in [(0, 500), (1, 300), (2, 300), (3, 400), (4, 100)] {
            list.insert(Entry { cap: 9, ..entry(flow, remaining) }, true);
        }
        assert_eq!(flows(&list), [4, 1, 2, 3, 0]);
        assert_eq!(list.len(), 5);
    }

    #[test]
    fn without_priority_the_list_is_a_queue() {
        let mut list = AckList::default();
        for (flow, remaining) in [(0, 500), (1, 300), (2, 400)] {
            list.insert(entry(flow, remaining), false);
        }
        assert_eq!(flows(&list), [0, 1, 2]);
        assert!(list.entries.iter().all(|entry| entry.skipped == 0));
    }

    #[test]
    fn one_that_was_put_off_too_often_lets_no_other_past_nor_past_what_is_before_it() {
        let mut list = AckList::default();
        list.insert(entry(0, 900), true);
        list.insert(entry(1, 500), true);
        for flow in 2..5 {
            list.insert(entry(flow, 100), true);
        }
        // Two entries overtook both; after that the last one had been overtaken three times.
        assert_eq!(flows(&list), [2, 3, 1, 0, 4]);
        assert_eq!(list.entries.iter().map(|entry| entry.skipped).collect::<Vec<_>>(), [0, 0, 2, 3, 0]);
        list.insert(entry(5, 50), true);
        assert_eq!(flows(&list), [2, 3, 1, 0, 5, 4]);
    }

    #[test]
    fn each_flow_has_its_own_cap() {
        let mut list = AckList::default();
        list.insert(Entry { cap: 1, ..entry(0, 900) }, true);
        list.insert(entry(1, 500), true);
        list.insert(entry(2, 400), true);
        assert_eq!(flows(&list), [1, 0, 2]);
    }

    #[test]
    fn removing_tells_how_often_it_was_put_off() {
        let mut list = AckList::default();
        list.insert(entry(0, 900), true);
        list.insert(entry(1, 500), true);
        assert_eq!((list.remove(0), list.remove(0), list.len()), (Some(1), None, 1));
        assert_eq!(list.pop().map(|entry| entry.flow), Some(1));
        assert_eq!(list.pop(), None);
    }
}

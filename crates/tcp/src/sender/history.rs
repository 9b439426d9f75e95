//! When each segment was sent: for round-trip times of other segments than the one whose time stamp is echoed.

use super::quirks::RttOf;
use fanin_core::units::Time;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: u64,
    end: u64,
    at: Time,
    again: bool,
    reported: bool,
}

/// Outstanding segments, oldest first.
#[derive(Clone, Debug)]
pub(super) struct History {
    of: RttOf,
    sent: VecDeque<Sent>,
}

impl History {
    pub(super) const fn new(of: RttOf) -> Self {
        Self { of, sent: VecDeque::new() }
    }

    /// The numbers `seq..end` are sent; `again` if not for the first time.
    pub(super) fn on_send(&mut self, seq: u64, end: u64, at: Time, again: bool) {
        if !again {
            self.sent.push_back(Sent { seq, end, at, again, reported: false });
        } else if let Some(sent) = self.sent.iter_mut().find(|sent| (sent.seq..sent.end).contains(&seq)) {
            sent.again = true;
        }
    }

    /// Whether `ack` acknowledges the oldest segment.
    pub(super) fn covers_oldest(&self, ack: u64) -> bool {
        self.sent.front().is_some_and(|sent| sent.end <= ack)
    }

    /// Everything below `ack` is acknowledged: a round-trip time, if one of those segments gives it.
    pub(super) fn on_ack(&mut self, ack: u64, now: Time) -> Option<Time> {
        let clean = self.sent.iter().take_while(|sent| sent.end <= ack && !sent.again);
        let timed = match self.of {
            RttOf::NewestClean => clean.last(),
            RttOf::Oldest | RttOf::Cause => clean.take(1).last(),
        };
        let rtt = timed.map(|sent| now - sent.at);
        while self.sent.front().is_some_and(|sent| sent.end <= ack) {
            self.sent.pop_front();
        }
        rtt
    }

    /// The receiver reports `start..end`: how long ago the newest of those segments was sent that it did not report before,
    /// unless that was ever retransmitted.
    pub(super) fn on_report(&mut self, (start, end): (u64, u64), now: Time) -> Option<Time> {
        let (from, to) =
            (self.sent.partition_point(|sent| sent.seq < start), self.sent.partition_point(|sent| sent.end <= end));
        let mut newest = None;
        for sent in self.sent.range_mut(from..to.max(from)).filter(|sent| !sent.reported) {
            sent.reported = true;
            newest = Some(*sent);
        }
        newest.filter(|sent| !sent.again).map(|sent| now - sent.at)
    }

    /// The timer expired: in ns-3 nothing sent before gives a round-trip time; RCC's authors go on with it.
    pub(super) fn on_timeout(&mut self) {
        if self.of == RttOf::Oldest {
            self.sent.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    /// Three segments at 0, 1 and 2 ms, the second of which leaves again at 3 ms.
    fn history(of: RttOf) -> History {
        let mut history = History::new(of);
        (0..3).for_each(|i| history.on_send(i * 100, (i + 1) * 100, MS(i), false));
        history.on_send(100, 200, MS(3), true);
        history
    }

    #[test]
    fn the_oldest_is_timed_unless_it_was_sent_again() {
        let mut history = history(RttOf::Oldest);
        assert_eq!(history.on_ack(50, MS(9)), None, "nothing is covered");
        assert_eq!(history.on_ack(100, MS(10)), Some(MS(10)));
        assert_eq!(history.on_ack(300, MS(11)), None, "the second was retransmitted, and the third is not considered");
        assert_eq!(history.on_ack(300, MS(12)), None, "nothing is left");
    }

    #[test]
    fn the_newest_before_one_that_was_sent_again_is_timed() {
        let mut clean = history(RttOf::NewestClean);
        assert_eq!(clean.on_ack(300, MS(10)), Some(MS(10)), "the first: the second ends the row");
        let mut history = History::new(RttOf::NewestClean);
        (0..3).for_each(|i| history.on_send(i * 100, (i + 1) * 100, MS(i), false));
        assert_eq!(history.on_ack(300, MS(10)), Some(MS(8)), "the third");
    }

    #[test]
    fn of_what_is_reported_the_newest_is_timed_once() {
        let mut history = history(RttOf::Cause);
        assert_eq!(history.on_report((200, 300), MS(10)), Some(MS(8)));
        assert_eq!(history.on_report((200, 300), MS(11)), None, "again");
        assert_eq!(history.on_report((100, 300), MS(12)), None, "the second left twice");
    }

    #[test]
    fn a_timeout_empties_the_history_of_ns3() {
        for (of, rtt) in [(RttOf::Oldest, None), (RttOf::NewestClean, Some(MS(10)))] {
            let mut history = history(of);
            history.on_timeout();
            assert_eq!(history.on_ack(100, MS(10)), rtt);
        }
    }
}

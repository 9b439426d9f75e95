//! Algorithm 1: the classification of packets, and the band in which each waits.
//!
//! | packet | ECN | code point | recorded | band, of three |
//! |---|---|---|---|---|
//! | SYN | off | short | yes | short |
//! | SYN-ACK | off | short | yes | short |
//! | request, short flow's data, FIN on it | off | short | yes | short |
//! | long flow's data, FIN on it | ECT or CE | long | yes | long |
//! | data, SYN or FIN that was sent before | off | retransmission | yes | highest |
//! | pure acknowledgement | off | short | no | short |
//!
//! READING: P30. The paper's seven packet types are in a figure that we do not have; this table is ours. Pure
//! acknowledgements all repeat the same sequence number and would look like retransmissions, so they are not recorded.

use super::seen::Seen;
use fanin_core::packet::{Flags, Packet};

/// The three classes of packets, highest priority first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// A retransmission.
    Retransmission,
    /// Of a short flow.
    Short,
    /// Of a long flow.
    Long,
}

impl Tag {
    /// Priority and code point, 0 the highest.
    pub(super) const fn priority(self) -> u8 {
        match self {
            Self::Retransmission => 0,
            Self::Short => 1,
            Self::Long => 2,
        }
    }
    /// The class with this code point.
    pub(super) const fn of(priority: u8) -> Option<Self> {
        match priority {
            0 => Some(Self::Retransmission),
            1 => Some(Self::Short),
            2 => Some(Self::Long),
            _ => None,
        }
    }
}

/// Maximum number of bands.
pub(super) const BANDS: usize = 3;

/// `prioband`: maps priority to band. With fewer than three bands the highest priorities share one.
///
/// READING: P13. There are three priorities, but "two sub-queues" in section 3.2.2.
pub(super) const fn prioband(bands: u8) -> [u8; BANDS] {
    match bands {
        1 => [0, 0, 0],
        2 => [0, 0, 1],
        _ => [0, 1, 2],
    }
}

/// Algorithm 1, lines 1 to 6: whether the packet's sequence numbers were seen before. Records them.
///
/// `header` is the size of a packet without payload. The two directions of a flow are recorded separately.
pub(super) fn is_retransmitted(seen: &mut Seen, packet: &Packet, header: u16) -> bool {
    let (syn, fin) = (packet.flags.has(Flags::SYN), packet.flags.has(Flags::FIN));
    let payload = packet.size.saturating_sub(header);
    let key = (packet.flow.index() as u32) << 1 | u32::from(packet.is_ack());
    if packet.is_ack() {
        // The receiver's own sequence numbers: its SYN has 0, its FIN, which is on an acknowledgement, 1.
        return (syn || fin) && seen.record(key, u32::from(!syn), 1 + u32::from(!syn));
    }
    let numbers = u32::from(payload) + u32::from(syn) + u32::from(fin);
    numbers > 0 && seen.record(key, packet.seq, packet.seq.wrapping_add(numbers))
}

/// Algorithm 1, lines 7 to 13.
///
/// READING: P27. As printed, every path ends with the lowest priority; this order is that of the prose.
/// READING: P29. A packet that was marked upstream still belongs to a long flow: only 00 is "not enabled".
pub(super) const fn set_prio(retransmitted: bool, ecn_field: u8) -> Tag {
    if retransmitted {
        Tag::Retransmission
    } else if ecn_field == 0 {
        Tag::Short
    } else {
        Tag::Long
    }
}

/// Algorithm 1, lines 14 to 27: the band that follows from the packet filter's result and the packet's tag.
///
/// READING: P28. If the filter's result names a queue, it decides; any other result means the first band.
pub(super) const fn do_enqueue(filter: Option<u8>, tag: Option<Tag>, bands: u8) -> u8 {
    let prioband = prioband(bands);
    match (filter, tag) {
        (None, Some(tag)) => prioband[tag.priority() as usize],
        (Some(queue), _) if queue < bands => queue,
        _ => prioband[0],
    }
}

#[cfg(test)]
mod tests {
    use super::super::seen::Mode;
    use super::*;
    use fanin_core::ids::FlowId;

    const HEADER: u16 = 40;

    fn data(seq: u32) -> Packet {
        Packet { flow: FlowId::new(3), seq, size: 1500, ..Packet::default() }
    }

    fn with(flags: Flags, size: u16) -> Packet {
        Packet { flow: FlowId::new(3), flags, size, ..Packet::default() }
    }

    fn seen() -> Seen {
        Seen::new(Mode::HighWater, 64)
    }

    #[test]
    fn algorithm_1_lines_2_to_4_a_recorded_number_has_the_highest_priority() {
        let mut seen = seen();
        is_retransmitted(&mut seen, &data(1), HEADER);
        let again = is_retransmitted(&mut seen, &data(1), HEADER);
        assert_eq!(set_prio(again, 0b10), Tag::Retransmission);
        assert_eq!(set_prio(again, 0b00), Tag::Retransmission, "of a short flow or a long one");
    }

    #[test]
    fn algorithm_1_lines_5_and_6_a_fresh_number_is_none() {
        assert!(!is_retransmitted(&mut seen(), &data(1), HEADER));
    }

    #[test]
    fn algorithm_1_lines_8_to_11_a_fresh_packet_without_ecn_has_the_middle_priority() {
        assert_eq!(set_prio(false, 0b00), Tag::Short);
    }

    #[test]
    fn algorithm_1_lines_12_and_13_any_other_has_the_lowest() {
        assert_eq!(set_prio(false, 0b10), Tag::Long);
        assert_eq!(set_prio(false, 0b11), Tag::Long, "marked on the way, and still long");
    }

    #[test]
    fn algorithm_1_lines_14_and_15_each_priority_has_its_band() {
        assert_eq!([0, 1, 2].map(|priority| do_enqueue(None, Tag::of(priority), 3)), [0, 1, 2]);
        assert_eq!([0, 1, 2].map(|priority| do_enqueue(None, Tag::of(priority), 2)), [0, 0, 1]);
        assert_eq!([0, 1, 2].map(|priority| do_enqueue(None, Tag::of(priority), 1)), [0, 0, 0]);
    }

    #[test]
    fn algorithm_1_line_17_without_a_tag_it_is_the_band_of_priority_0() {
        assert_eq!(do_enqueue(None, None, 3), 0);
        assert_eq!(Tag::of(3), None, "a code point that PFDCT does not know");
    }

    #[test]
    fn algorithm_1_lines_18_to_22_no_match_leaves_the_choice_to_the_tag() {
        assert_eq!(do_enqueue(None, Some(Tag::Short), 3), 1);
    }

    #[test]
    fn algorithm_1_lines_24_and_25_a_match_within_the_queues_is_the_band() {
        assert_eq!(do_enqueue(Some(2), Some(Tag::Short), 3), 2);
        assert_eq!(do_enqueue(Some(0), Some(Tag::Long), 3), 0);
    }

    #[test]
    fn algorithm_1_lines_17_and_24_a_match_beyond_the_queues_leaves_the_first_band() {
        assert_eq!(do_enqueue(Some(3), Some(Tag::Long), 3), 0);
        assert_eq!(do_enqueue(Some(1), Some(Tag::Long), 1), 0);
    }

    #[test]
    fn only_packets_that_take_numbers_are_recorded() {
        let mut seen = seen();
        let twice = |seen: &mut Seen, packet: Packet| [0, 1].map(|_| is_retransmitted(seen, &packet, HEADER));
        assert_eq!(twice(&mut seen, with(Flags::ACK, HEADER)), [false, false], "a pure acknowledgement");
        assert_eq!(twice(&mut seen, Packet { seq: 1, ..with(Flags::NONE, HEADER) }), [false, false], "the handshake's");
        assert_eq!(twice(&mut seen, with(Flags::SYN, HEADER)), [false, true]);
        assert_eq!(twice(&mut seen, with(Flags::SYN.with(Flags::ACK), HEADER)), [false, true]);
        assert_eq!(twice(&mut seen, data(1)), [false, true]);
        let last = Packet { seq: 1461, ..with(Flags::FIN, 140) };
        assert_eq!(twice(&mut seen, last), [false, true]);
        assert_eq!(twice(&mut seen, with(Flags::ACK.with(Flags::FIN), HEADER)), [false, true]);
    }
}

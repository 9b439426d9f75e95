//! The receiver and the scoreboard, compared with models that track every byte separately.

use super::FIRST_DATA;
use super::receiver::{AckList, AckOut, Receiver, ReceiverConfig, Segment};
use super::sack::{NextSeg, Outstanding, Rule, SackBlocks, SackConfig, Scoreboard};
use fanin_core::packet::Stamp;
use fanin_core::roles::{Delivery, EcnMode};
use fanin_core::units::Time;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The receiver without ranges: the numbers that have arrived, and where each arrival beyond a hole began.
#[derive(Default)]
struct Arrived {
    numbers: BTreeSet<u64>,
    /// Latest first.
    beyond_hole: Vec<u64>,
}

impl Arrived {
    fn next(&self) -> u64 {
        self.run_end(FIRST_DATA)
    }

    fn run_end(&self, from: u64) -> u64 {
        (from..=u64::MAX).find(|number| !self.numbers.contains(number)).expect("a finite set")
    }

    fn take(&mut self, seg: &Segment, fin: u64) -> Delivery {
        let next = self.next();
        let numbers = seg.seq..seg.seq + seg.len + u64::from(seg.fin);
        let fresh: Vec<u64> = numbers.filter(|number| !self.numbers.contains(number)).collect();
        self.numbers.extend(&fresh);
        if seg.seq > next {
            self.beyond_hole.insert(0, seg.seq);
        }
        Delivery {
            new_in_order: self.next().min(fin) - next.min(fin),
            new_data: fresh.iter().filter(|&&number| number != fin).count() as u64,
            out_of_order: seg.seq > next,
            duplicate: fresh.is_empty(),
            finished: next <= fin && self.next() > fin,
        }
    }

    /// RFC 2018 section 4, word for word: first the block of the latest arrival, then repeat those reported
    /// most recently that are not part of one already listed.
    fn blocks(&self) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for &seq in self.beyond_hole.iter().filter(|&&seq| seq > self.next()) {
            let start = (0..=seq).rev().find(|number| !self.numbers.contains(number)).expect("a hole below") + 1;
            let block = (start, self.run_end(seq));
            if !blocks.contains(&block) && blocks.len() < SackBlocks::CAPACITY {
                blocks.push(block);
            }
        }
        blocks
    }
}

/// A stream of `bytes` bytes with a FIN, cut anywhere, some pieces sent twice and cut differently, in any order.
fn arrivals() -> impl Strategy<Value = (u64, Vec<Segment>)> {
    (0_u64..80, prop::collection::vec((any::<prop::sample::Index>(), 1_u64..20, any::<[bool; 2]>()), 0..60))
        .prop_flat_map(|(bytes, pieces)| {
            let fin = FIRST_DATA + bytes;
            let piece = move |(from, len, [ce, cwr]): (prop::sample::Index, u64, [bool; 2])| {
                let seq = FIRST_DATA + from.index(bytes as usize + 1) as u64;
                let len = len.min(fin - seq);
                Segment { seq, len, fin: seq + len == fin, ce, cwr, ..Segment::default() }
            };
            // Every byte in some segment of seven, so that the stream completes.
            let cover = (0..=bytes / 7).map(move |n| {
                let len = (bytes - 7 * n).min(7);
                let seq = FIRST_DATA + 7 * n;
                Segment { seq, len, fin: seq + len == fin, ..Segment::default() }
            });
            let segments: Vec<Segment> = cover.chain(pieces.into_iter().map(piece)).collect();
            (Just(fin), Just(segments).prop_shuffle())
        })
}

fn receiver_config() -> impl Strategy<Value = ReceiverConfig> {
    let ecn = prop_oneof![Just(EcnMode::Off), Just(EcnMode::Classic), Just(EcnMode::Accurate)];
    (1_u32..4, ecn).prop_map(|(ack_every, ecn)| ReceiverConfig {
        ack_every,
        ack_delay: Time::from_us(500),
        quick_acks: 0,
        sack: true,
        ecn,
        ecn_ack: false,
        late_change: false,
        tells_more: false,
        linux: None,
    })
}

fn sacked(ack: &AckOut, receiver: &Receiver) -> Vec<(u64, u64)> {
    if ack.option { receiver.sack_blocks().as_slice().to_vec() } else { Vec::new() }
}

proptest! {
    #[test]
    fn a_receiver_agrees_with_a_set_of_bytes((fin, segments) in arrivals(), cfg in receiver_config()) {
        let (mut receiver, mut model, mut out) = (Receiver::new(), Arrived::default(), AckList::new());
        let mut acked = FIRST_DATA;
        for (at, seg) in segments.iter().enumerate() {
            let seg = Segment { stamp: Stamp::from_bits(at as u32), ..*seg };
            let expected = model.take(&seg, fin);
            prop_assert_eq!(receiver.on_segment(&seg, Time::from_us(at as u64), &cfg, &mut out), expected);
            prop_assert_eq!(receiver.next(), model.next());
            prop_assert_eq!(receiver.has_hole(), !model.blocks().is_empty());
            for ack in out.as_slice() {
                prop_assert!(ack.ack >= acked, "ACK numbers never decrease");
                prop_assert_eq!(ack.duplicate, ack.ack == acked);
                acked = ack.ack;
            }
            let waits = !receiver.ack_deadline().is_never();
            prop_assert_eq!(waits, acked < receiver.next(), "what is not acknowledged waits for the timer");
            prop_assert!(out.as_slice().len() <= 1 || cfg.ecn == EcnMode::Accurate);
            if !waits {
                let last = out.as_slice().last().expect("an ACK, now or later");
                prop_assert_eq!(sacked(last, &receiver), model.blocks());
            }
        }
        prop_assert_eq!(receiver.next(), fin + 1);
        prop_assert!(receiver.finished() && !receiver.has_hole() && receiver.ack_deadline().is_never());
    }

    #[test]
    fn accurate_echo_attributes_every_byte_in_order_to_its_mark(
        marks in prop::collection::vec(any::<bool>(), 1..60),
        ack_every in 1_u32..4,
    ) {
        let cfg = ReceiverConfig {
            ack_every,
            ack_delay: Time::ZERO,
            quick_acks: 0,
            sack: false,
            ecn: EcnMode::Accurate,
            ecn_ack: false,
            late_change: false,
            tells_more: false,
            linux: None,
        };
        let (mut receiver, mut out) = (Receiver::new(), AckList::new());
        let mut echoed = Vec::new();
        for (seq, &ce) in (FIRST_DATA..).zip(&marks) {
            let seg = Segment { seq, len: 1, ce, ..Segment::default() };
            receiver.on_segment(&seg, Time::ZERO, &cfg, &mut out);
            for ack in out.as_slice() {
                echoed.resize((ack.ack - FIRST_DATA) as usize, ack.ece);
            }
        }
        let last = receiver.take_ack(&cfg);
        echoed.resize((last.ack - FIRST_DATA) as usize, last.ece);
        prop_assert_eq!(echoed, marks);
    }
}

/// The scoreboard without ranges: RFC 6675 section 4 octet by octet.
struct Octets {
    sacked: BTreeSet<u64>,
    cfg: SackConfig,
}

impl Octets {
    fn update(&mut self, ranges: &[(u64, u64)], una: u64) {
        self.sacked.extend(ranges.iter().flat_map(|&(start, end)| start..end));
        self.sacked.retain(|&octet| octet >= una);
    }

    fn is_lost(&self, seq: u64) -> bool {
        let above = self.sacked.range(seq + 1..);
        let sequences = above.clone().filter(|&&octet| !self.sacked.contains(&(octet - 1))).count();
        let octets = above.count() as u64;
        let thresh = u64::from(self.cfg.dup_thresh);
        !self.sacked.contains(&seq) && (sequences as u64 >= thresh || octets > (thresh - 1) * self.cfg.mss)
    }

    fn pipe(&self, out: &Outstanding) -> u64 {
        let unreported = (out.una..out.high_data).filter(|seq| !self.sacked.contains(seq));
        unreported.map(|seq| u64::from(!self.is_lost(seq)) + u64::from(seq < out.high_rxt)).sum()
    }

    /// First number and rule of `NextSeg()`; for the rescue the last number.
    fn next_seg(&self, out: &Outstanding) -> Option<(u64, Rule)> {
        let highest = self.sacked.last().copied().unwrap_or(0);
        let unreported = || (out.una..out.high_data).filter(|seq| !self.sacked.contains(seq));
        let hole = || unreported().filter(|&seq| seq >= out.high_rxt && seq < highest);
        let lost = hole().find(|&seq| self.is_lost(seq)).map(|seq| (seq, Rule::Lost));
        let new = (out.new_end > out.high_data).then_some((out.high_data, Rule::New));
        let rescue = unreported().next_back().filter(|_| out.rescue_rxt.is_none_or(|spent| out.una > spent));
        lost.or(new).or(hole().next().map(|seq| (seq, Rule::Hole))).or(rescue.map(|seq| (seq, Rule::Rescue)))
    }

    fn check_segment(&self, seg: &NextSeg, out: &Outstanding) -> Result<(), TestCaseError> {
        let (mss, end) = (self.cfg.mss, seg.seq + seg.len);
        prop_assert!(seg.len > 0 && end <= out.new_end.max(out.high_data));
        prop_assert!((seg.seq..end).all(|octet| !self.sacked.contains(&octet)), "nothing that is reported already");
        let fin = out.fin.filter(|&fin| fin + 1 == end);
        let data_end = fin.unwrap_or(end).max(seg.seq + 1);
        prop_assert!(data_end - seg.seq <= mss, "within one segment");
        Ok(())
    }
}

/// ACKs with their blocks, as (advance of `una`, blocks).
fn reports() -> impl Strategy<Value = Vec<(u64, Vec<(u64, u64)>)>> {
    let block = (1_u64..110, 1_u64..12).prop_map(|(start, len)| (start, (start + len).min(111)));
    prop::collection::vec((prop_oneof![4 => Just(0_u64), 1 => 0_u64..15], prop::collection::vec(block, 0..=3)), 1..12)
}

proptest! {
    #[test]
    fn a_scoreboard_agrees_with_rfc_6675_octet_by_octet(
        acks in reports(),
        mss in 1_u64..9,
        dup_thresh in 1_u32..5,
        (rxt, new, closed, spent) in (0_u64..110, 0_u64..20, any::<bool>(), prop::option::of(0_u64..111)),
    ) {
        let cfg = SackConfig { mss, dup_thresh, forward: false };
        let (mut board, mut model) = (Scoreboard::default(), Octets { sacked: BTreeSet::new(), cfg });
        let mut una = FIRST_DATA;
        for (advance, ranges) in acks {
            una = (una + advance).min(111);
            let mut blocks = SackBlocks::new();
            for &(start, end) in &ranges {
                blocks.push(start, end);
            }
            model.update(&[], una);
            let before = model.sacked.len();
            model.update(&ranges, una);
            prop_assert_eq!(board.update(Some(&blocks), una), (model.sacked.len() - before) as u64);

            let new_end = 111 + if closed { 0 } else { new };
            let fin = closed.then_some(110);
            let out = Outstanding { una, high_data: 111, high_rxt: una.max(rxt), rescue_rxt: spent, new_end, fin };
            for seq in una..111 {
                prop_assert_eq!(board.is_sacked(seq), model.sacked.contains(&seq));
                prop_assert_eq!(board.is_lost(seq, &cfg), model.is_lost(seq), "at {}", seq);
            }
            prop_assert_eq!(board.set_pipe(una, 111, out.high_rxt, &cfg), model.pipe(&out));
            let seg = board.next_seg(&out, &cfg);
            let place = |seg: NextSeg| if seg.rule == Rule::Rescue { seg.seq + seg.len - 1 } else { seg.seq };
            prop_assert_eq!(seg.map(|seg| (place(seg), seg.rule)), model.next_seg(&out));
            if let Some(seg) = seg {
                model.check_segment(&seg, &out)?;
            }
        }
    }
}

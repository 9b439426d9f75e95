//! The receiver of Linux against its functions.

use super::*;
use crate::FIRST_DATA;
use fanin_core::packet::Stamp;

const MSS: u64 = 1448;
const LINUX: LinuxReceiver = LinuxReceiver {
    ticks: crate::Ticks(Time::from_ms(1)),
    ato_min: 40,
    delack_max: 199,
    rto: 201,
    max_quickacks: 16,
    quick_route: false,
    advmss: MSS as u32,
    rmem_max: 6 << 20,
    scale: 7,
};
const CFG: ReceiverConfig = ReceiverConfig {
    ack_every: 2,
    ack_delay: Time::from_ms(40),
    quick_acks: 16,
    sack: true,
    ecn: EcnMode::Off,
    ecn_ack: false,
    late_change: false,
    tells_more: false,
    linux: Some(LINUX),
};

/// First segment, and the one after the last.
type Block = (u64, u64);

/// A receiver, and the latest answer. Segments arrive a microsecond apart.
struct Rig {
    receiver: Receiver,
    cfg: ReceiverConfig,
    now: Time,
    out: AckList,
}

impl Rig {
    fn new(cfg: ReceiverConfig) -> Self {
        Self { receiver: Receiver::of(&cfg, None, true), cfg, now: Time::from_ms(1000), out: AckList::new() }
    }
    /// A receiver of sixteen segments, all of which have been acknowledged, with no more to acknowledge quickly and a
    /// window that is as large as the buffer lets it.
    fn settled(cfg: ReceiverConfig) -> Self {
        let mut rig = Self::new(cfg);
        (0..16).for_each(|n| assert_eq!(rig.numbers(n), [n + 1]));
        let linux = rig.receiver.linux.as_mut().expect("a receiver of Linux");
        linux.quick = 0;
        linux.window.stop();
        rig
    }
    /// As `settled`, in a session that the host has made interactive.
    fn interactive(cfg: ReceiverConfig) -> Self {
        let mut rig = Self::settled(cfg);
        rig.receiver.ride(rig.now, true, &rig.cfg);
        rig
    }
    fn take(&mut self, seg: &Segment) -> &[AckOut] {
        self.now += Time::from_us(1);
        self.receiver.on_segment(seg, self.now, &self.cfg, &mut self.out);
        self.out.as_slice()
    }
    /// The ACK numbers that a segment causes, in segments.
    fn answers(&mut self, seg: &Segment) -> Vec<u64> {
        self.take(seg).iter().map(|ack| (ack.ack - FIRST_DATA) / MSS).collect()
    }
    fn numbers(&mut self, n: u64) -> Vec<u64> {
        self.answers(&segment(n))
    }
    /// The blocks that the receiver would report, in segments: the DSACK and the others.
    fn blocks(&self) -> (Option<Block>, Vec<Block>) {
        let of = |&(start, end): &(u64, u64)| ((start - FIRST_DATA) / MSS, (end - FIRST_DATA) / MSS);
        let blocks = self.receiver.sack_blocks();
        (blocks.dsack().as_ref().map(of), blocks.as_slice().iter().map(of).collect())
    }
    fn linux(&self) -> &Linux {
        self.receiver.linux.as_ref().expect("a receiver of Linux")
    }
    /// The timer comes: the number of its ACK in segments.
    fn expire(&mut self) -> Option<u64> {
        self.now = self.receiver.ack_deadline();
        self.receiver.on_ack_timer(self.now, &self.cfg).map(|ack| (ack.ack - FIRST_DATA) / MSS)
    }
}

/// Full segment `n`, counted from 0, sent a microsecond before it arrives.
fn segment(n: u64) -> Segment {
    Segment { seq: FIRST_DATA + MSS * n, len: MSS, ..Segment::default() }
}

#[test]
fn tcp_incr_quickack_acknowledges_the_first_sixteen_segments_at_once() {
    let mut rig = Rig::new(CFG);
    assert_eq!(
        (0..21).flat_map(|n| rig.numbers(n)).collect::<Vec<_>>(),
        (1..=21).collect::<Vec<_>>(),
        "16, and 5 that let \
         the window grow"
    );
    assert_eq!((rig.numbers(21), rig.numbers(22)), (vec![], vec![23]), "then more than one full segment");
    let mut rig = Rig::settled(CFG);
    assert_eq!((rig.numbers(16), rig.numbers(17)), (vec![], vec![18]));
    rig.now += Time::from_ms(202);
    assert_eq!((rig.numbers(18), rig.numbers(19)), (vec![19], vec![20]), "again after more than a timeout");
    let route = LinuxReceiver { quick_route: true, ..LINUX };
    let mut rig = Rig::interactive(ReceiverConfig { linux: Some(route), ..CFG });
    assert_eq!((rig.numbers(16), rig.numbers(17)), (vec![17], vec![18]), "always on a route with quickack");
}

#[test]
fn tcp_event_data_recv_is_quick_after_a_long_idle_time_also_beyond_a_hole() {
    let quick = |handshake: Option<Time>| {
        let mut rig = Rig::new(CFG);
        if let Some(at) = handshake {
            rig.receiver.know_handshake(Time::from_us(20), at);
        }
        // This starts the delayed acknowledgements, and its own is the only quick one.
        assert_eq!(rig.numbers(10), [0]);
        assert_eq!((rig.linux().quick, rig.linux().ato), (0, LINUX.ato_min));
        rig.take(&segment(0));
        rig.linux().quick
    };
    assert_eq!(quick(None), 16, "opened long before");
    assert_eq!(quick(Some(Time::from_ms(800))), 0, "the timeout has not passed since the handshake");
    assert_eq!(quick(Some(Time::from_ms(798))), 16);
}

#[test]
fn tcp_event_data_sent_makes_a_session_interactive_which_is_not_quick() {
    let mut rig = Rig::new(CFG);
    rig.receiver.ride(rig.now, true, &rig.cfg);
    assert_eq!(rig.numbers(0), [1], "data before any data answer none");
    rig.receiver.ride(rig.now, true, &rig.cfg);
    assert_eq!((rig.numbers(1), rig.numbers(2)), (vec![], vec![3]));
    let mut late = Rig::settled(CFG);
    late.receiver.ride(late.now + Time::from_ms(41), true, &late.cfg);
    assert!(!late.linux().is_interactive(), "no answer after the delay");
    late.receiver.ride(late.now, false, &late.cfg);
    assert!(!late.linux().is_interactive(), "a FIN is no data");
}

#[test]
fn tcp_event_ack_sent_lets_data_carry_a_delayed_acknowledgement() {
    let mut rig = Rig::interactive(CFG);
    assert_eq!(rig.numbers(16), Vec::<u64>::new());
    assert!(!rig.receiver.ack_deadline().is_never());
    let ack = rig.receiver.ride(rig.now, true, &rig.cfg);
    assert_eq!((ack.ack, ack.duplicate, ack.option), (FIRST_DATA + 17 * MSS, false, false));
    assert!(rig.receiver.ack_deadline().is_never());
}

#[test]
fn tcp_send_delayed_ack_waits_for_the_wheel_at_the_end_of_the_delay() {
    let mut rig = Rig::interactive(CFG);
    rig.numbers(16);
    let ms = |rig: &Rig| rig.receiver.ack_deadline().ps() / Time::from_ms(1).ps();
    assert_eq!(ms(&rig), 1000 + 40 + 1);
    let prompt = LinuxReceiver { delack_max: 4, ..LINUX };
    let mut rig = Rig::interactive(ReceiverConfig { linux: Some(prompt), ..CFG });
    rig.numbers(16);
    assert_eq!(ms(&rig), 1000 + 4 + 1, "below the least timeout: tcp_delack_max");
}

#[test]
fn tcp_delack_timer_handler_leaves_an_interactive_session_or_inflates_the_delay() {
    let mut rig = Rig::interactive(CFG);
    rig.numbers(16);
    assert_eq!(rig.expire(), Some(17));
    assert!(!rig.linux().is_interactive());
    assert_eq!(rig.linux().ato, 40);
    let mut rig = Rig::settled(CFG);
    rig.numbers(16);
    assert_eq!(rig.expire(), Some(17));
    assert_eq!(rig.linux().ato, 80);
    assert_eq!(rig.receiver.on_ack_timer(Time::NEVER, &CFG), None, "only once");
}

#[test]
fn tcp_event_data_recv_follows_the_time_between_arrivals() {
    let mut rig = Rig::new(CFG);
    rig.numbers(0);
    assert_eq!(rig.linux().ato, 40);
    rig.now += Time::from_ms(30);
    rig.numbers(1);
    assert_eq!(rig.linux().ato, 50, "half of it and the gap");
    rig.now += Time::from_ms(20);
    rig.numbers(2);
    assert_eq!(rig.linux().ato, 45, "half of it and half of the least one");
}

#[test]
fn tcp_cleanup_rbuf_acknowledges_the_end_of_what_was_written() {
    let small = Segment { len: 1000, push: true, ..segment(16) };
    assert_eq!(Rig::settled(CFG).take(&small).len(), 1);
    assert_eq!(
        Rig::settled(CFG).take(&Segment { push: true, ..segment(16) }).len(),
        1,
        "a full segment that is pushed"
    );
    assert!(Rig::interactive(CFG).take(&small).is_empty(), "not if an answer may carry it");
    let mut twice = Rig::interactive(CFG);
    let tiny = |n: u64| Segment { seq: FIRST_DATA + 16 * MSS + 50 * n, len: 50, push: true, ..Segment::default() };
    assert!(twice.take(&tiny(0)).is_empty());
    assert_eq!(twice.take(&tiny(1)).len(), 1, "the second small one: ICSK_ACK_PUSHED2");
}

#[test]
fn tcp_measure_rcv_mss_takes_a_size_that_repeats() {
    let mut rig = Rig::interactive(CFG);
    let at = |n: u64| Segment { seq: FIRST_DATA + 16 * MSS + 700 * n, len: 700, ..Segment::default() };
    rig.take(&at(0));
    assert_eq!(rig.linux().rcv_mss, 1448);
    rig.take(&at(1));
    assert_eq!(rig.linux().rcv_mss, 700);
    rig.take(&Segment { seq: FIRST_DATA + 16 * MSS + 1400, len: 3000, parts: 3, ..Segment::default() });
    assert_eq!(rig.linux().rcv_mss, 1448, "a merged segment is measured by its parts");
}

#[test]
fn tcp_ack_snd_check_compresses_acknowledgements_beyond_a_hole() {
    let mut rig = Rig::settled(CFG);
    rig.receiver.know_srtt(Time::from_us(400));
    rig.receiver.linux.as_mut().expect("a receiver of Linux").rcv_rtt = 8000;
    for n in 17..20 {
        assert_eq!(rig.numbers(n), [16], "the first three duplicates");
    }
    for n in 20..25 {
        assert!(rig.numbers(n).is_empty());
    }
    let first = Time::from_us(1000 * 1000 + 20);
    assert_eq!(
        rig.receiver.ack_deadline(),
        first + Time::from_us(20 + 100),
        "5 % of the lesser round trip, and the slack"
    );
    assert_eq!(rig.expire(), Some(16), "tcp_compressed_ack_kick");
    assert_eq!(rig.blocks(), (None, vec![(17, 25)]));
    assert!(rig.receiver.ack_deadline().is_never());
    (25..69).for_each(|n| assert!(rig.numbers(n).is_empty()));
    assert_eq!(rig.numbers(69), [16], "tcp_comp_sack_nr");
    rig.numbers(70);
    assert_eq!(rig.numbers(16), [71], "the hole is filled");
    assert!(rig.receiver.ack_deadline().is_never(), "which ends compression");
}

#[test]
fn tcp_ack_snd_check_counts_duplicates_anew_when_something_arrives_in_order() {
    let mut rig = Rig::settled(CFG);
    (17..20).for_each(|n| assert_eq!(rig.numbers(n).len(), 1));
    assert!(rig.numbers(22).is_empty());
    assert_eq!(rig.numbers(16), [20], "part of the holes");
    assert_eq!(rig.numbers(23), [20]);
}

#[test]
fn tcp_sack_new_ofo_skb_puts_the_latest_block_first_and_flushes_for_the_third() {
    let mut rig = Rig::settled(CFG);
    rig.numbers(18);
    rig.numbers(20);
    assert_eq!(rig.blocks(), (None, vec![(20, 21), (18, 19)]));
    rig.numbers(22);
    assert!(rig.numbers(23).is_empty());
    let flushed = rig.take(&segment(25)).to_vec();
    assert_eq!(flushed.len(), 1, "what was held back, with the blocks of then");
    let earlier = rig.out.earlier_blocks().expect("blocks of then").as_slice().len();
    assert_eq!(earlier, 3);
    assert_eq!(rig.receiver.sack_blocks().as_slice().len(), 3, "room for three of four");
    assert_eq!(rig.blocks().1[0], (25, 26));
    rig.numbers(19);
    assert_eq!(rig.blocks(), (None, vec![(18, 21), (25, 26), (22, 24)]), "merged blocks move to the front");
    rig.numbers(27);
    rig.numbers(29);
    assert_eq!(rig.blocks(), (None, vec![(29, 30), (27, 28), (18, 21)]));
    rig.numbers(16);
    rig.numbers(17);
    assert_eq!(rig.blocks(), (None, vec![(29, 30), (27, 28), (25, 26)]), "tcp_sack_remove; (22, 24) is forgotten");
}

#[test]
fn tcp_dsack_set_reports_what_arrives_once_more() {
    let mut rig = Rig::interactive(CFG);
    assert_eq!(rig.numbers(15), [16]);
    assert!(rig.out.as_slice()[0].option);
    assert_eq!(rig.blocks(), (Some((15, 16)), vec![]));
    assert!(!rig.linux().is_interactive() && rig.linux().quick > 0, "tcp_enter_quickack_mode");
    assert_eq!(rig.numbers(16), [17]);
    assert!(!rig.out.as_slice()[0].option, "once");
    rig.numbers(18);
    rig.numbers(18);
    assert_eq!(rig.blocks(), (Some((18, 19)), vec![(18, 19)]), "beyond a hole too");
    assert_eq!(rig.numbers(3), [17], "tcp_send_dupack: far below");
    assert_eq!(rig.blocks(), (Some((3, 4)), vec![(18, 19)]));
    let long = Segment { len: 3 * MSS, ..segment(16) };
    rig.take(&long);
    assert_eq!(rig.blocks(), (Some((16, 17)), vec![]), "the part that is known");
    let mut without = Rig::settled(ReceiverConfig { sack: false, ..CFG });
    without.numbers(15);
    assert_eq!(without.blocks(), (None, vec![]));
}

#[test]
fn tcp_data_queue_acknowledges_a_filled_hole_at_once() {
    let mut rig = Rig::interactive(CFG);
    rig.numbers(17);
    assert_eq!(rig.numbers(16), [18]);
    let mut rig = Rig::interactive(CFG);
    assert_eq!(rig.answers(&Segment { len: 1000, fin: true, ..segment(16) }), [16], "and a FIN");
}

#[test]
fn tcp_replace_ts_recent_echoes_what_begins_at_the_last_acknowledgement() {
    let mut rig = Rig::interactive(CFG);
    let sent = |n: u64, us| Segment { stamp: Stamp::of(Time::from_us(us)), ..segment(n) };
    rig.take(&sent(16, 900_000));
    rig.take(&sent(17, 900_100));
    assert_eq!(rig.out.as_slice()[0].stamp, Stamp::of(Time::from_us(900_000)), "the first of two");
    rig.take(&sent(19, 900_200));
    assert_eq!(rig.out.as_slice()[0].stamp, Stamp::of(Time::from_us(900_000)), "nothing beyond a hole");
    rig.take(&sent(3, 900_300));
    assert_eq!(rig.out.as_slice()[0].stamp, Stamp::of(Time::from_us(900_000)), "tcp_sequence: far below");
    rig.take(&sent(18, 900_400));
    assert_eq!(rig.out.as_slice()[0].stamp, Stamp::of(Time::from_us(900_400)), "what fills it");
}

#[test]
fn tcp_ecn_check_ce_acknowledges_marks_quickly_and_echoes_them_until_cwr() {
    let capable = |n| Segment { ect: true, ..segment(n) };
    let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Classic, ..CFG });
    (0..16).for_each(|n| _ = rig.take(&capable(n)));
    rig.receiver.linux.as_mut().expect("a receiver of Linux").quick = 0;
    rig.receiver.ride(rig.now, true, &rig.cfg);
    let marked = Segment { ce: true, ..capable(16) };
    assert!(rig.take(&marked)[0].ece);
    assert!(rig.take(&capable(17))[0].ece, "two quickly");
    assert!(rig.take(&capable(18)).is_empty(), "and no more");
    assert!(!rig.take(&Segment { cwr: true, ..capable(19) })[0].ece);
    rig.take(&segment(20));
    assert!(rig.linux().quick > 0 || !rig.out.as_slice().is_empty(), "not capable: probably a retransmission");
}

#[test]
fn dctcp_ece_ack_update_acknowledges_the_change_of_marks() {
    let capable = |n| Segment { ect: true, ..segment(n) };
    let mut rig = Rig::new(ReceiverConfig { ecn: EcnMode::Accurate, ..CFG });
    (0..16).for_each(|n| _ = rig.take(&capable(n)));
    rig.receiver.linux.as_mut().expect("a receiver of Linux").quick = 0;
    rig.receiver.ride(rig.now, true, &rig.cfg);
    let echoes = |rig: &mut Rig, seg| -> Vec<(u64, bool)> {
        rig.take(&seg).iter().map(|ack| ((ack.ack - FIRST_DATA) / MSS, ack.ece)).collect()
    };
    assert_eq!(echoes(&mut rig, capable(16)), []);
    assert_eq!(echoes(&mut rig, Segment { ce: true, ..capable(17) }), [(17, false), (18, true)]);
    assert_eq!(echoes(&mut rig, Segment { ce: true, ..capable(18) }), []);
    assert_eq!(echoes(&mut rig, capable(19)), [(19, true), (20, false)]);
}

#[test]
fn tcp_select_initial_window_offers_whole_segments_of_half_the_buffer() {
    assert_eq!(Rig::new(CFG).receiver.linux_window(), Some(64_256), "44 segments of 1460, and rounded up");
    assert_eq!(Receiver::of(&CFG, None, false).linux_window(), Some(65_160), "45 of 1448");
}

#[test]
fn tcp_grow_window_lets_two_segments_in_for_each_that_fits() {
    let mut rig = Rig::new(CFG);
    let mut window_after = |n| {
        rig.numbers(n);
        rig.receiver.linux_window()
    };
    let windows: Vec<_> = (0..6).map(&mut window_after).collect();
    // What Linux 6.12 advertises.
    assert_eq!(windows, [67_072, 69_888, 72_832, 75_776, 76_928, 76_928].map(Some));
    let mut small = Rig::new(CFG);
    small.take(&Segment { len: 100, ..segment(0) });
    assert_eq!(small.receiver.linux_window(), Some(64_256), "not for small ones, and it does not shrink");
}

#[test]
fn tcp_rcv_space_adjust_doubles_what_was_read_in_a_round_trip() {
    let mut rig = Rig::new(CFG);
    (0..44).for_each(|n| _ = rig.numbers(n));
    assert_eq!(rig.linux().rcv_rtt, 0, "a window has not arrived");
    (44..200).for_each(|n| _ = rig.numbers(n));
    assert!(rig.linux().rcv_rtt > 0);
    assert!(rig.receiver.linux_window() > Some(200_000));
    let fixed = LinuxReceiver { rmem_max: 131_072, ..LINUX };
    let mut rig = Rig::new(ReceiverConfig { linux: Some(fixed), ..CFG });
    (0..200).for_each(|n| _ = rig.numbers(n));
    assert!(rig.receiver.linux_window() < Some(80_000), "tcp_rmem");
}

use super::*;
use crate::pfdct::active::Scope;
use crate::pfdct::params::PARAMS;
use crate::pfdct::seen::Mode;
use crate::pfdct::settings::Transport;
use fanin_core::ids::FlowId;
use fanin_core::rng::Stream;
use fanin_core::roles::Backlog;
use fanin_core::units::Rate;
use std::any::Any;

const MANY: Size = Size::Packets(100);

/// The settings of a scenario with these values.
fn with(values: &[(&str, &str)]) -> QueueSettings {
    let params = fanin_param::Values::defaults(&[&PARAMS]);
    let params = values.iter().fold(params, |params, (key, value)| params.with(key, value));
    QueueSettings::from(&params, Scope::Sum, Transport::InBand)
}

/// Three bands with equal parts of the port's buffer.
fn settings() -> QueueSettings {
    with(&[("bands", "3"), ("band-buf", "split"), ("kt-high", "band")])
}

struct Bench {
    queue: Queue,
    node: Node,
    bands: [Backlog; 3],
    buffer: Size,
    backlog: u32,
    random: Stream,
    now: Time,
}

impl Bench {
    fn new(set: QueueSettings) -> Self {
        Self {
            queue: Queue::new(set, 40, 1500, None),
            node: Node { seen: Some(Seen::new(Mode::HighWater, 64)) },
            bands: [Backlog::default(); 3],
            buffer: MANY,
            backlog: 0,
            random: Stream::named(1, "test"),
            now: Time::ZERO,
        }
    }
    fn holding(mut self, packets: [u32; 3]) -> Self {
        self.bands = packets.map(|packets| Backlog { packets, bytes: u64::from(packets) * 1500 });
        self.backlog = packets.iter().sum::<u32>() + 1;
        self
    }
    fn cx<R>(&mut self, call: impl FnOnce(&mut Queue, &mut QueueCx<'_>) -> R) -> R {
        let node: &mut dyn Any = &mut self.node;
        let mut cx = QueueCx {
            now: self.now,
            backlog: Backlog { packets: self.backlog, bytes: 0 },
            bands: &self.bands,
            rate: Rate::from_bps(1_000_000_000),
            buffer: Some(self.buffer),
            random: &mut self.random,
            node,
            would_mark: false,
        };
        call(&mut self.queue, &mut cx)
    }
    /// Sends a packet. Returns the decision on it, and the packet as the queue left it.
    fn send(&mut self, mut packet: Packet) -> (Admission, Packet) {
        let admission = self.cx(|queue, cx| queue.on_enqueue(cx, &mut packet));
        (admission, packet)
    }
    fn full(&mut self, packet: &Packet) -> Option<u8> {
        self.cx(|queue, cx| queue.on_full(cx, packet))
    }
}

fn short(flow: usize, seq: u32) -> Packet {
    let field = Field::new(false, None).bits();
    Packet { flow: FlowId::new(flow), seq, size: 1500, field, priority: 1, ..Packet::default() }
}

fn long(flow: usize, seq: u32, threshold: f64) -> Packet {
    let field = Field::new(true, Some(threshold)).bits();
    Packet { flags: Flags::ECT, field, priority: 2, ..short(flow, seq) }
}

fn is_marked(sent: &(Admission, Packet)) -> bool {
    sent.1.flags.has(Flags::CE)
}

#[test]
fn new_short_long_and_repeated_packets_have_bands_of_their_own() {
    let mut bench = Bench::new(settings());
    assert_eq!(bench.send(short(0, 1)).0, Admission::Enqueue(1));
    assert_eq!(bench.send(long(1, 1, 1.0)).0, Admission::Enqueue(2));
    assert_eq!(bench.send(short(0, 1)).0, Admission::Enqueue(0));
    assert_eq!(bench.send(Packet { flags: Flags::NONE, ..long(1, 1, 1.0) }).0, Admission::Enqueue(0));
    let mut off = Bench::new(settings());
    off.node.seen = None;
    off.send(short(0, 1));
    assert_eq!(off.send(short(0, 1)).0, Admission::Enqueue(1), "without the table it is like any other");
}

#[test]
fn algorithm_1_line_26_the_packet_enters_the_queue_of_the_band_that_was_chosen() {
    for (ack_band, wanted) in [(None, 1), (Some(0), 0), (Some(2), 2), (Some(3), 0)] {
        let ack = Packet { flags: Flags::ACK, size: 40, ..Packet::default() };
        let mut bench = Bench::new(QueueSettings { ack_band, ..settings() });
        assert_eq!(bench.send(ack).0, Admission::Enqueue(wanted));
    }
}

#[test]
fn p16_a_packet_is_recorded_before_it_is_dropped() {
    let mut bench = Bench::new(settings()).holding([0, 33, 0]);
    assert_eq!(bench.send(short(0, 1)).0, Admission::Full);
    assert_eq!(bench.send(short(0, 1)).0, Admission::Enqueue(0));
    assert_eq!(bench.full(&short(0, 1461)), None, "by the port's own limit as well");
    assert_eq!(bench.send(short(0, 1461)).0, Admission::Enqueue(0));
}

#[test]
fn p29_a_packet_marked_on_the_way_is_long() {
    let ce = Flags::ECT.with(Flags::CE);
    assert_eq!(Bench::new(settings()).send(Packet { flags: ce, ..long(0, 1, 1.0) }).0, Admission::Enqueue(2));
}

#[test]
fn p29_by_code_point_the_senders_word_counts() {
    let mut bench = Bench::new(QueueSettings { by_code_point: true, ..settings() });
    for priority in [0, 1, 2] {
        assert_eq!(bench.send(Packet { priority, ..short(0, 1) }).0, Admission::Enqueue(priority));
    }
    assert_eq!(bench.send(Packet { priority: 7, ..short(0, 1) }).0, Admission::Enqueue(0), "no tag: the first band");
    let ack = Packet { flags: Flags::ACK, size: 40, priority: 0, ..Packet::default() };
    assert_eq!(bench.send(ack).0, Admission::Enqueue(1));
}

#[test]
fn p17_acknowledgements_are_like_short_flows_or_have_a_band_of_choice() {
    let ack = Packet { flags: Flags::ACK, size: 40, ..Packet::default() };
    assert_eq!(Bench::new(settings()).send(ack).0, Admission::Enqueue(1));
    assert_eq!(Bench::new(QueueSettings { ack_band: Some(0), ..settings() }).send(ack).0, Admission::Enqueue(0));
}

#[test]
fn the_long_band_is_marked_strictly_above_the_sum_of_its_flows_thresholds() {
    let marked = |waiting| {
        let mut bench = Bench::new(settings()).holding([0, 0, waiting]);
        bench.send(long(0, 1, 1.5));
        is_marked(&bench.send(long(1, 1, 2.5)))
    };
    assert!(!marked(4));
    assert!(marked(5));
}

#[test]
fn p4_a_threshold_of_zero_lets_one_packet_wait_unmarked() {
    let marked = |waiting| is_marked(&Bench::new(settings()).holding([0, 0, waiting]).send(long(0, 1, 0.0)));
    assert!(!marked(0));
    assert!(!marked(1));
    assert!(marked(2));
}

#[test]
fn p20_at_first_the_queues_threshold_is_the_initial_one_however_many_flows_there_are() {
    let marked = |waiting| {
        let mut bench = Bench::new(settings()).holding([0, 0, waiting]);
        let fresh = |flow| Packet { field: Field::new(true, None).bits(), ..long(flow, 1, 0.0) };
        (0..7).for_each(|flow| _ = bench.send(fresh(flow)));
        is_marked(&bench.send(fresh(7)))
    };
    assert!(!marked(20));
    assert!(marked(21));
}

#[test]
fn p7_the_sum_may_be_clipped() {
    let marked = |threshold, waiting| {
        let set = QueueSettings { clip: (20 * 16, 60 * 16), ..settings() };
        is_marked(
            &Bench { buffer: Size::Packets(1000), ..Bench::new(set) }
                .holding([0, 0, waiting])
                .send(long(0, 1, threshold)),
        )
    };
    assert!(!marked(0.0, 20));
    assert!(marked(0.0, 21));
    assert!(!marked(500.0, 60));
    assert!(marked(500.0, 61));
}

#[test]
fn a_short_flow_is_never_marked() {
    let mut bench = Bench::new(settings()).holding([0, 20, 33]);
    assert!(!is_marked(&bench.send(short(0, 1))));
    let capable = Packet { flags: Flags::ECT, ..short(0, 1461) };
    let mut by_code_point = Bench::new(QueueSettings { by_code_point: true, ..settings() }).holding([0, 30, 0]);
    assert!(!is_marked(&by_code_point.send(capable)), "not even where it is ECN-capable");
    let set = QueueSettings { by_code_point: true, mark_all: true, ..settings() };
    assert!(is_marked(&Bench::new(set).holding([0, 30, 0]).send(capable)), "unless all are to be marked");
}

#[test]
fn a_retransmission_is_not_marked() {
    let mut bench = Bench::new(settings()).holding([0, 0, 30]);
    bench.send(long(0, 1, 0.0));
    assert!(!is_marked(&bench.send(long(0, 1, 0.0))));
}

#[test]
fn p15_marks_look_at_the_long_band_or_at_the_port() {
    let marked = |by_port| {
        is_marked(&Bench::new(QueueSettings { by_port, ..settings() }).holding([0, 30, 1]).send(long(0, 1, 2.0)))
    };
    assert!(!marked(false));
    assert!(marked(true));
}

#[test]
fn p13_bands_have_equal_parts_of_the_buffer_and_none_takes_from_another() {
    let admitted = |held, packet| Bench::new(settings()).holding(held).send(packet).0;
    assert_eq!(admitted([0, 33, 0], short(0, 1)), Admission::Full);
    assert_eq!(admitted([0, 32, 0], short(0, 1)), Admission::Enqueue(1));
    assert_eq!(admitted([33, 33, 32], long(0, 1, 1.0)), Admission::Enqueue(2));
    assert_eq!(admitted([0, 0, 33], long(0, 1, 1.0)), Admission::Full);
    let two = QueueSettings { bands: 2, ..settings() };
    assert_eq!(Bench::new(two).holding([65, 0, 0]).send(short(0, 1)).0, Admission::Enqueue(0));
    assert_eq!(Bench::new(two).holding([66, 0, 0]).send(short(0, 1)).0, Admission::Full);
}

#[test]
fn p13_a_buffer_in_bytes_is_split_as_well() {
    let admitted = |held| {
        let mut bench = Bench::new(settings()).holding(held);
        bench.buffer = Size::Bytes(150_000);
        bench.send(short(0, 1)).0
    };
    assert_eq!(admitted([0, 32, 0]), Admission::Enqueue(1));
    assert_eq!(admitted([0, 33, 0]), Admission::Full);
}

#[test]
fn p13_each_band_may_have_a_buffer_of_its_own() {
    let set = QueueSettings { band_buffer: BandBuffer::Own, ..settings() };
    let mut bench = Bench::new(set).holding([0, 99, 100]);
    assert_eq!(bench.queue.buffers(), 3);
    assert_eq!(bench.send(short(0, 1)).0, Admission::Enqueue(1));
    assert_eq!(bench.send(long(1, 1, 1.0)).0, Admission::Full);
}

#[test]
fn section_3_2_2_two_sub_queues_with_a_limit_each_and_none_above_them() {
    let admitted = |held, packet| Bench::new(with(&[])).holding(held).send(packet).0;
    assert_eq!(Bench::new(with(&[])).queue.buffers(), 2);
    assert_eq!(admitted([99, 100, 0], short(0, 1)), Admission::Enqueue(0));
    assert_eq!(admitted([100, 0, 0], short(0, 1)), Admission::Full);
    assert_eq!(admitted([100, 99, 0], long(1, 1, 1.0)), Admission::Enqueue(1));
    assert_eq!(admitted([0, 100, 0], long(1, 1, 1.0)), Admission::Full);
    let mut again = Bench::new(with(&[]));
    again.send(long(1, 1, 1.0));
    assert_eq!(again.send(long(1, 1, 1.0)).0, Admission::Enqueue(0), "a retransmission, with the short flows");
}

#[test]
fn section_3_2_1_no_threshold_discards_short_flows_unless_their_band_is_red_too() {
    let lost = |short_aqm, flags, bands| {
        let values = [("short-aqm", short_aqm), ("red-weight", "1"), ("red-max-p", "1"), ("bands", bands)];
        let mut bench = Bench::new(with(&values)).holding(if bands == "3" { [0, 70, 0] } else { [70, 0, 0] });
        bench.send(short(99, 1)); // The first packet ends the idle time of the band.
        let sent: Vec<_> = (0..20).map(|flow| bench.send(Packet { flags, ..short(flow, 1) })).collect();
        let dropped = sent.iter().filter(|sent| sent.0 == Admission::Drop).count();
        (dropped, sent.iter().filter(|sent| is_marked(sent)).count())
    };
    for bands in ["2", "3"] {
        assert_eq!(lost("none", Flags::NONE, bands), (0, 0));
        assert_eq!(lost("red", Flags::NONE, bands), (20, 0));
    }
    assert_eq!(lost("red", Flags::NONE, "1"), (0, 0), "the only band is that of long flows");
    let by_code_point = [("short-aqm", "red"), ("red-weight", "1"), ("red-max-p", "1"), ("classify", "dscp")];
    let mut bench = Bench::new(with(&by_code_point)).holding([70, 0, 0]);
    bench.send(short(99, 1));
    let sent = bench.send(Packet { flags: Flags::ECT, ..short(0, 1) });
    assert_eq!((sent.0, is_marked(&sent)), (Admission::Enqueue(0), true), "what it can mark it does not drop");
}

#[test]
fn p31_an_idle_short_band_forgets_its_average() {
    let values = [("short-aqm", "red"), ("red-weight", "0.5"), ("red-min", "20"), ("red-max", "30")];
    let mut bench = Bench::new(with(&values)).holding([60, 0, 0]);
    (0..20).for_each(|flow| _ = bench.send(short(flow, 1)));
    assert_eq!(bench.send(short(30, 1)).0, Admission::Drop);
    let mut bench = bench.holding([0, 0, 0]);
    bench.cx(|queue, cx| queue.on_dequeue(cx, &mut short(0, 1)));
    bench.now = Time::from_ms(1);
    assert_eq!(bench.send(short(31, 1)).0, Admission::Enqueue(0));
}

#[test]
fn p31_a_drop_leaves_an_empty_short_band_idle() {
    // A weight so small that arrivals alone would not lower the average for hundreds of packets.
    let values =
        [("short-aqm", "red"), ("red-weight", "0.002"), ("red-min", "2"), ("red-max", "3"), ("red-max-p", "1")];
    let mut bench = Bench::new(with(&values)).holding([60, 0, 0]);
    (0..200).for_each(|flow| _ = bench.send(short(flow, 1)));
    let mut bench = bench.holding([0, 0, 0]);
    bench.cx(|queue, cx| queue.on_dequeue(cx, &mut short(0, 1)));
    assert_eq!(bench.send(short(300, 1)).0, Admission::Drop, "its average is still high");
    bench.now = Time::from_ms(100);
    assert_eq!(bench.send(short(301, 1)).0, Admission::Enqueue(0), "100 ms without a packet");
}

#[test]
fn p13_in_a_shared_buffer_the_lowest_band_makes_room_for_a_higher_one() {
    let set = QueueSettings { band_buffer: BandBuffer::SharedPushOut, ..settings() };
    let mut bench = Bench::new(set).holding([0, 50, 49]);
    assert_eq!(bench.full(&long(0, 1, 1.0)), None);
    assert_eq!(bench.full(&short(1, 1)), Some(2));
    assert_eq!(bench.send(short(1, 1)).0, Admission::Enqueue(1), "the same packet, not one that was sent again");
    let mut bench = Bench::new(set).holding([0, 99, 0]);
    assert_eq!(bench.full(&short(1, 1)), None, "nothing below");
    assert_eq!(bench.full(&short(1, 1)), Some(1), "sent again");
}

#[test]
fn p8_switches_tell_the_number_of_long_flows_and_the_buffer() {
    let mut bench = Bench::new(settings());
    bench.send(long(0, 1, 1.0));
    let (_, packet) = bench.send(long(1, 1, 1.0));
    let field = Field::read(packet.field).unwrap();
    assert_eq!((field.flows(), field.buffer()), (2, 32));
    let last = Packet { flags: Flags::ECT.with(Flags::FIN), ..long(0, 1461, 1.0) };
    bench.send(last);
    let (_, packet) = bench.send(short(2, 1));
    assert_eq!(Field::read(packet.field).unwrap().flows(), 1, "one has ended, and short flows do not count");
    let (_, foreign) = bench.send(Packet { field: 77, ..short(3, 1) });
    assert_eq!(foreign.field, 77, "another scheme's field");
}

#[test]
fn p7_p13_the_buffer_told_is_what_a_packet_may_find_in_the_long_band_or_in_the_port() {
    let told = |set, buffer| {
        let (_, packet) = Bench { buffer, ..Bench::new(set) }.send(long(0, 1, 1.0));
        Field::read(packet.field).unwrap().buffer()
    };
    let port = QueueSettings { told: Told::Port, ..settings() };
    for buffer in [MANY, Size::Bytes(150_000)] {
        assert_eq!(told(settings(), buffer), 32);
        assert_eq!(told(port, buffer), 98);
        assert_eq!(told(QueueSettings { band_buffer: BandBuffer::Own, ..settings() }, buffer), 98);
        assert_eq!(told(QueueSettings { band_buffer: BandBuffer::SharedPushOut, ..settings() }, buffer), 98);
        assert_eq!(told(QueueSettings { bands: 1, ..settings() }, buffer), 98);
    }
    assert_eq!(told(settings(), Size::Packets(2)), 1, "0 would mean that nobody has told");
    // The maximum threshold of 60 packets in section 5.1 can be reached however the buffer is divided.
    for band_buffer in ["own", "split", "shared-push-out"] {
        assert_eq!(told(with(&[("band-buf", band_buffer)]), MANY), 98);
    }
}

#[test]
fn p7_at_its_upper_limit_a_full_long_band_marks_before_it_drops() {
    // Flows whose thresholds sum up to their upper limit, a packet less than M.
    let (marked, dropped): (Vec<bool>, Vec<bool>) = (0..40)
        .map(|waiting| {
            let mut bench = Bench::new(settings()).holding([0, 0, waiting]);
            let (_, packet) = bench.send(long(0, 1, 1.0));
            let most = f64::from(Field::read(packet.field).unwrap().buffer()) - 1.0;
            let sent = bench.send(long(0, 1461, most));
            (is_marked(&sent), sent.0 == Admission::Full)
        })
        .unzip();
    let first = |found: &[bool]| found.iter().position(|found| *found);
    assert_eq!((first(&marked), first(&dropped)), (Some(32), Some(33)));
}

#[test]
fn p14_red_marks_by_the_average_queue() {
    let red =
        fanin_network::queue::RedConfig { min: 20.0, max: 60.0, weight: 0.5, max_p: 0.0, gentle: false, wait: false };
    let rounds = |marking, packets: u32, waiting| {
        let set = QueueSettings { marking, ..settings() };
        let mut bench = Bench { buffer: Size::Packets(1000), ..Bench::new(set) }.holding([0, 0, waiting]);
        let send = |i| is_marked(&bench.send(long(0, 1 + i * 1460, 30.0)));
        (0..packets).map(send).filter(|marked| *marked).count()
    };
    assert_eq!(rounds(Marking::Red(red), 3, 70), 0, "the average lags: 0, 35, 52");
    assert!(rounds(Marking::Red(red), 20, 70) >= 16);
    assert_eq!(rounds(Marking::Red(red), 50, 19), 0);
    assert_eq!(rounds(Marking::RedDynamic(red), 50, 29), 0);
    assert!(rounds(Marking::RedDynamic(red), 50, 40) > 40);
    let between = Marking::RedBetween(fanin_network::queue::RedConfig { max_p: 0.5, ..red });
    assert_eq!(rounds(between, 50, 29), 0, "below the flows' 30");
    assert!((1..45).contains(&rounds(between, 50, 60)), "some between 30 and 90");
    assert!(rounds(between, 50, 95) > 40);
    assert_eq!(rounds(Marking::Off, 50, 90), 0);
}

//! The sender against the clauses of its RFCs, in traces of what it sends and when its timer runs.
//!
//! Segments have 100 bytes. A segment reads `201:301`, first number and number after the last byte, with letters for
//! S(YN), F(IN), E(CT), C(WR) and R for one that was sent before. The SYN is `0:0S`.

mod asks;
mod congestion;
mod connection;
mod ecn;
mod interface;
mod led;
mod linux;
mod linux_3_16;
mod ns3_18;
mod ns3_36;
mod ns3_44;
mod ns3_44_sack;
mod own_repair;
mod own_window;
mod pacing;
mod recovery;
mod sack_recovery;
mod timer;

use super::rto::RtoConfig;
use super::sack::{AckOption, SackBlocks};
use super::sender::{
    Env, InAck, InterfaceConfig, OutSegment, Quirks, Sender, SenderConfig, SenderIo, State, TimerOutcome,
};
use fanin_core::packet::Flags;
use fanin_core::roles::{CongestionControl, EcnMode, HostDelay, PacketFacts};
use fanin_core::telemetry::Telemetry;
use fanin_core::units::Time;
use fanin_schemes::NewReno;

/// Ten segments at first, a timer of 1 s that never backs off beyond 64 s, nothing optional.
const CFG: SenderConfig = SenderConfig {
    mss: 100,
    initial_window: 1000,
    initial_ssthresh: 1_000_000,
    rto: RtoConfig { maximum: ms(64_000), ..RtoConfig::DEFAULT },
    backoff_ends_on_new_ack: false,
    syn_timeout: ms(500),
    syn_retries: 2,
    ..SenderConfig::DEFAULT
};

/// With selective acknowledgements.
const SACK: SenderConfig = SenderConfig { sack: true, ..CFG };

/// A window that never limits.
const WIDE: u64 = 1 << 20;

const fn ms(ms: u64) -> Time {
    Time::from_ms(ms)
}

/// Ten segments in flight, the first lost and sent again after three duplicates; `recover` is 1001.
fn recovering(cfg: &SenderConfig) -> Bench {
    let mut bench = Bench::flying(10, cfg);
    bench.dup_acks(3);
    bench.expect("1:101R");
    bench
}

/// What three duplicates of `ack` send again after a timeout with ten segments in flight.
fn sent_after_timeout(cfg: &SenderConfig, ack: u64) -> String {
    let mut bench = Bench::flying(10, cfg);
    bench.expire_timer();
    bench.ack(ack);
    bench.sent();
    bench.dup_acks(3);
    bench.sent()
}

/// The threshold after two timeouts of the same segment, of ten in flight.
fn threshold_after_two_timeouts(cfg: &SenderConfig) -> f64 {
    let mut bench = Bench::flying(10, cfg);
    bench.expire_timer();
    bench.expire_timer();
    bench.sender.window().ssthresh
}

/// The round-trip time of ten segments' first acknowledgement, 5 ms after a first transmission that had timed out.
fn rtt_after_timeout(cfg: &SenderConfig) -> Option<Time> {
    let mut bench = Bench::flying(10, cfg);
    bench.expire_timer();
    bench.rtt = Some(ms(5));
    bench.ack(101);
    bench.sender.srtt()
}

/// The round-trip time of an acknowledgement of two segments sent 10 ms before, which was caused 3 ms ago.
fn rtt_of_two(cfg: &SenderConfig) -> Option<Time> {
    let mut bench = Bench::open(SenderConfig { initial_window: 100, ..cfg.clone() });
    bench.wait(ms(10));
    bench.ack(101); // leaves 101:201 and 201:301
    bench.wait(ms(10));
    bench.rtt = Some(ms(3));
    bench.ack(301);
    bench.sender.srtt()
}

/// A sender with its way into the network tapped, and the clock.
struct Bench {
    sender: Sender,
    cfg: SenderConfig,
    wire: Wire,
    now: Time,
    /// Window that acknowledgements advertise.
    window: u64,
    /// Round-trip time that acknowledgements measure.
    rtt: Option<Time>,
    /// When the segment was sent whose time stamp they echo, if not the round-trip time says it.
    echo: Option<Time>,
    /// How long the hosts kept segment and acknowledgement.
    hosts: HostDelay,
    /// What acknowledgements bring of the ports on the way.
    telemetry: Option<Telemetry>,
}

#[derive(Default)]
struct Wire {
    sent: Vec<OutSegment>,
    facts: PacketFacts,
    /// Pending events.
    timers: Vec<Time>,
    paces: Vec<Time>,
    wakes: Vec<Time>,
    /// Bytes of each burst whose end a sender has asked for, and when all will have left.
    bursts: Vec<u64>,
    free_at: Time,
}

impl SenderIo for Wire {
    fn transmit(&mut self, segment: OutSegment, facts: &PacketFacts, _now: Time) {
        self.sent.push(segment);
        self.facts = *facts;
    }
    fn leaves(&mut self, bytes: u64, segments: u64) -> Time {
        self.bursts.push(bytes);
        // 40 bytes of headers, a microsecond for each byte, and never idle.
        self.free_at += Time::from_us(bytes + 40 * segments);
        self.free_at
    }
    fn retransmission_timer(&mut self, at: Time) {
        self.timers.push(at);
    }
    fn pacing_timer(&mut self, at: Time) {
        self.paces.push(at);
    }
    fn wake_timer(&mut self, at: Time) {
        self.wakes.push(at);
    }
}

/// As a trace shows it.
fn show(segment: &OutSegment) -> String {
    let letters =
        [(Flags::SYN, 'S'), (Flags::FIN, 'F'), (Flags::ECT, 'E'), (Flags::CWR, 'C'), (Flags::RETRANSMITTED, 'R')];
    let set = letters.iter().filter(|(flag, _)| segment.flags.has(*flag)).map(|(_, letter)| letter);
    format!("{}:{}{}", segment.seq, segment.seq + segment.len, set.collect::<String>())
}

impl Bench {
    /// A closed sender with NewReno and `bytes` to send, then a FIN if so.
    fn closed(cfg: SenderConfig, bytes: Option<u64>, fin: bool) -> Self {
        Self::with(cfg, Box::new(NewReno), EcnMode::Off, bytes, fin)
    }

    fn with(cfg: SenderConfig, cc: Box<dyn CongestionControl>, ecn: EcnMode, bytes: Option<u64>, fin: bool) -> Self {
        let mut sender = Sender::new(&cfg, cc, ecn);
        sender.push_data(bytes, fin);
        Self {
            sender,
            cfg,
            wire: Wire::default(),
            now: Time::ZERO,
            window: WIDE,
            rtt: None,
            echo: None,
            hosts: HostDelay::default(),
            telemetry: None,
        }
    }

    /// An endless sender on an open connection that has sent its first window and forgotten about it.
    fn open(cfg: SenderConfig) -> Self {
        let mut bench = Self::closed(cfg, None, false);
        bench.adopt();
        bench.wire.sent.clear();
        bench
    }

    /// As `open`, with `segments` in flight of a window as large, in congestion avoidance.
    fn flying(segments: u64, cfg: &SenderConfig) -> Self {
        Self::open(SenderConfig { initial_window: 100 * segments, initial_ssthresh: 100 * segments, ..cfg.clone() })
    }

    fn connect(&mut self) {
        self.sender.connect(&mut Env { now: self.now, cfg: &self.cfg, io: &mut self.wire });
    }
    fn adopt(&mut self) {
        self.sender.adopt(self.window, &mut Env { now: self.now, cfg: &self.cfg, io: &mut self.wire });
    }
    fn wait(&mut self, span: Time) {
        self.now += span;
    }
    fn push_data(&mut self, bytes: u64) {
        self.sender.push_data(Some(bytes), false);
        self.sender.on_data_ready(&mut Env { now: self.now, cfg: &self.cfg, io: &mut self.wire });
    }

    /// An acknowledgement with these flags and blocks arrives.
    fn receive(&mut self, ack: u64, flags: Flags, ranges: &[(u64, u64)]) {
        self.receive_option(ack, flags, SackBlocks::new(), ranges);
    }
    /// One that reports that `twice` has arrived once more.
    fn duplicate(&mut self, (start, end): (u64, u64), ranges: &[(u64, u64)]) {
        self.receive_option(self.sender.una(), Flags::NONE, SackBlocks::of_duplicate(start, end), ranges);
    }
    fn receive_option(&mut self, ack: u64, flags: Flags, mut blocks: SackBlocks, ranges: &[(u64, u64)]) {
        for &(start, end) in ranges {
            assert!(blocks.push(start, end));
        }
        let option = AckOption { blocks, hosts: self.hosts, ..AckOption::default() };
        let (window, rtt, telemetry) = (self.window, self.rtt, self.telemetry.as_ref());
        let echo = self.echo.or(rtt.map(|rtt| self.now.saturating_sub(rtt)));
        let ack =
            InAck { ack, window, flags: flags.with(Flags::ACK), rtt, echo, option: Some(&option), telemetry, field: 0 };
        self.sender.on_ack(&ack, &mut Env { now: self.now, cfg: &self.cfg, io: &mut self.wire });
    }
    fn syn_ack(&mut self, flags: Flags) {
        self.receive(1, flags.with(Flags::SYN), &[]);
    }
    fn ack(&mut self, ack: u64) {
        self.receive(ack, Flags::NONE, &[]);
    }
    fn dup_acks(&mut self, count: usize) {
        for _ in 0..count {
            self.ack(self.sender.una());
        }
    }
    /// A duplicate that reports these ranges.
    fn sack(&mut self, ranges: &[(u64, u64)]) {
        self.receive(self.sender.una(), Flags::NONE, ranges);
    }
    /// Moves on to the next timer event that does something.
    fn expire_timer(&mut self) -> TimerOutcome {
        loop {
            let next = self.wire.timers.iter().copied().enumerate().min_by_key(|(_, at)| *at);
            let (i, at) = next.expect("a timer is pending");
            self.wire.timers.swap_remove(i);
            self.now = self.now.max(at);
            match self.sender.on_timer(&mut Env { now: at, cfg: &self.cfg, io: &mut self.wire }) {
                TimerOutcome::Idle if !self.wire.timers.is_empty() => {}
                outcome => return outcome,
            }
        }
    }
    /// When the retransmission timer expires after acknowledgements 100 ms apart.
    fn timeout_after_acks<const N: usize>(&mut self, acks: [u64; N]) -> Time {
        for ack in acks {
            self.wait(ms(100));
            self.ack(ack);
        }
        assert_eq!(self.expire_timer(), TimerOutcome::Timeout);
        self.now
    }
    /// How long from now until the timer expires; it does.
    fn timer_runs(&mut self) -> Time {
        let before = self.now;
        assert_ne!(self.expire_timer(), TimerOutcome::Idle);
        self.now - before
    }

    /// What was sent since the last look.
    fn sent(&mut self) -> String {
        let sent: Vec<String> = self.wire.sent.drain(..).map(|segment| show(&segment)).collect();
        sent.join(" ")
    }
    #[track_caller]
    fn expect(&mut self, trace: &str) {
        assert_eq!(self.sent(), trace);
    }
    #[track_caller]
    fn expect_nothing(&mut self) {
        self.expect("");
    }
    #[track_caller]
    fn expect_cwnd(&self, bytes: f64) {
        assert!((self.sender.window().cwnd - bytes).abs() < 1e-6, "cwnd is {}", self.sender.window().cwnd);
    }
    #[track_caller]
    fn expect_ssthresh(&self, bytes: f64) {
        assert!((self.sender.window().ssthresh - bytes).abs() < 1e-6, "ssthresh is {}", self.sender.window().ssthresh);
    }
    #[track_caller]
    fn expect_state(&self, state: State) {
        assert_eq!(self.sender.state(), state);
    }
}

//! The connection around a congestion control under test: it sends whole segments, and has them acknowledged one at a
//! time with the marks and the round-trip time that a test sets.

use fanin_core::roles::{
    AckEvent, ByteCounting, CongestionControl, CongestionWindow, Cwr, Delay, PacketFacts, SenderCx,
};
use fanin_core::units::Time;

/// Bytes of a segment, where a test does not choose.
pub const MSS: f64 = 1000.0;

/// A connection around a congestion control. Sequence numbers begin at 1.
pub struct TestSender<C> {
    /// The code under test.
    pub cc: C,
    /// Bytes of a segment.
    pub mss: f64,
    /// The congestion window and slow start's threshold, in bytes.
    pub window: CongestionWindow,
    /// What its packets look like.
    pub packet: PacketFacts,
    /// The first byte that is not acknowledged.
    pub una: u64,
    /// The next byte to send.
    pub nxt: u64,
    /// The window of data ends when more than this is acknowledged.
    pub window_end: u64,
    /// The clock, which only a test sets.
    pub now: Time,
    /// The smoothed round-trip time.
    pub srtt: Option<Time>,
    /// When it wants to be called again.
    pub wake: Time,
    /// The round-trip time that the next acknowledgements bring.
    pub rtt: Option<Time>,
    /// Where that time was spent, if not in the network.
    pub delay: Option<Delay>,
    /// The echoed field of those acknowledgements.
    pub field: u64,
    /// The congestion window is what limits the sender.
    pub window_limited: bool,
    /// It repairs what it sent before a timeout.
    pub in_loss: bool,
    /// It is in recovery, and since when.
    pub cwr: Option<Cwr>,
    /// Whether its window grows by bytes or by acknowledgements.
    pub counting: ByteCounting,
}

impl<C: CongestionControl> TestSender<C> {
    /// An open connection with a window of `segments`, in congestion avoidance.
    pub fn new(cc: C, segments: f64) -> Self {
        let cwnd = segments * MSS;
        Self::open(cc, MSS, CongestionWindow { cwnd, ssthresh: cwnd })
    }
    /// An open connection with segments of `mss` bytes and this window.
    pub fn open(cc: C, mss: f64, window: CongestionWindow) -> Self {
        let mut sender = Self {
            cc,
            mss,
            window,
            packet: PacketFacts::default(),
            una: 1,
            nxt: 1,
            window_end: 1,
            now: Time::ZERO,
            srtt: None,
            wake: Time::NEVER,
            rtt: None,
            delay: None,
            field: 0,
            window_limited: true,
            in_loss: false,
            cwr: None,
            counting: ByteCounting::Off,
        };
        sender.call(C::on_start);
        sender
    }
    /// The window in segments.
    pub fn segments(&self) -> f64 {
        self.window.cwnd / self.mss
    }
    /// Calls a hook.
    pub fn call<R>(&mut self, hook: impl FnOnce(&mut C, &mut SenderCx<'_>) -> R) -> R {
        let mut cx = SenderCx {
            now: self.now,
            mss: self.mss,
            in_flight: self.nxt - self.una,
            una: self.una,
            nxt: self.nxt,
            max_sent: self.nxt,
            srtt: self.srtt,
            window: &mut self.window,
            packet: &mut self.packet,
            wake: &mut self.wake,
            counting: self.counting,
        };
        hook(&mut self.cc, &mut cx)
    }
    /// Sends segments until `segments` are outstanding.
    pub fn send(&mut self, segments: u64) {
        self.nxt = self.una + segments * self.mss as u64;
    }
    /// The first outstanding segment is acknowledged, with an echo or without.
    pub fn ack(&mut self, ece: bool) {
        self.ack_of(1, ece);
    }
    /// One acknowledgement of the first `segments` outstanding ones.
    pub fn ack_of(&mut self, segments: u64, ece: bool) {
        let acked = segments * self.mss as u64;
        self.una += acked;
        let ends_window = self.una > self.window_end;
        if ends_window {
            self.window_end = self.nxt;
        }
        let ack = AckEvent {
            acked,
            ece,
            in_recovery: self.cwr.is_some(),
            in_loss: self.in_loss,
            cwr: self.cwr,
            window_limited: self.window_limited,
            ends_window,
            rtt: self.rtt,
            field: self.field,
        };
        if let Some(delay) = self.delay.or(self.rtt.map(|rtt| Delay { rtt, ..Delay::default() })) {
            self.call(|cc, cx| cc.on_delay(cx, &delay));
        }
        self.call(|cc, cx| cc.on_ack(cx, &ack));
    }
    /// Sends `segments` and has them acknowledged one by one, the first `marked` with an echo.
    pub fn round(&mut self, segments: u64, marked: u64) {
        self.send(segments);
        (0..segments).for_each(|i| self.ack(i < marked));
    }
    /// Of a window of two segments in slow start: an echo keeps it from growing, but not after a timeout.
    pub fn expect_growth_with_echoes_in_loss_only(&mut self) {
        self.round(1, 1);
        assert_eq!(self.segments(), 2.0);
        self.in_loss = true;
        self.round(1, 1);
        assert_eq!(self.segments(), 3.0, "tcp_may_raise_cwnd");
    }
    /// An echo that is the first of its round trip.
    pub fn echo(&mut self) {
        self.call(C::on_ecn_echo);
    }
}

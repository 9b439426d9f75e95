//! Random acknowledgements, losses, timeouts and wake-ups at every scheme's sender.

use super::{MSS, field, flow_facts, for_every_scheme, skewed};
use fanin_engine::ids::NodeId;
use fanin_engine::rng::Stream;
use fanin_engine::roles::{
    AckEvent, ByteCounting, CongestionControl, CongestionWindow, ControlPacket, Cut, Delay, PacketFacts, SenderCx,
    TransferFacts,
};
use fanin_engine::telemetry::{Hop, Telemetry};
use fanin_engine::units::{Rate, Time};

/// The part of a sender that congestion control sees, without the packets.
struct Sender {
    now: Time,
    una: u64,
    nxt: u64,
    max_sent: u64,
    srtt: Option<Time>,
    window: CongestionWindow,
    packet: PacketFacts,
    wake: Time,
    in_recovery: bool,
    /// Timeouts since something was acknowledged.
    times: u32,
    /// The smallest window: one below a byte lets nothing through, of who repairs losses itself.
    least: f64,
    /// What its receiver has counted.
    counted: u64,
}

/// A stack of any hops, in no order.
fn telemetry(stream: &mut Stream) -> Telemetry {
    let mut stack = Telemetry::default();
    for switch in 0..stream.below(7) {
        let rate = Rate::from_bps(1_000_000_000 << stream.below(8));
        let at = Time::from_ps(skewed(stream, 2_000_000_000_000));
        let hop = Hop { at, sent: skewed(stream, 1 << 50), queued: skewed(stream, 1 << 40), rate };
        stack.push(NodeId::new(switch as usize), hop);
    }
    stack
}

impl Sender {
    fn new(repairs: bool) -> Self {
        Self {
            now: Time::ZERO,
            una: 1,
            nxt: 1,
            max_sent: 1,
            srtt: None,
            window: CongestionWindow { cwnd: 10.0 * MSS as f64, ssthresh: 1e9 },
            packet: PacketFacts::default(),
            wake: Time::NEVER,
            in_recovery: false,
            times: 0,
            least: if repairs { f64::MIN_POSITIVE } else { 1.0 },
            counted: 0,
        }
    }

    fn tell<R>(
        &mut self,
        cc: &mut dyn CongestionControl,
        call: impl FnOnce(&mut dyn CongestionControl, &mut SenderCx<'_>) -> R,
    ) -> R {
        let mut cx = SenderCx {
            now: self.now,
            mss: MSS as f64,
            in_flight: self.nxt - self.una,
            una: self.una,
            nxt: self.nxt,
            max_sent: self.max_sent,
            srtt: self.srtt,
            window: &mut self.window,
            packet: &mut self.packet,
            wake: &mut self.wake,
            counting: ByteCounting::Off,
        };
        let result = call(cc, &mut cx);
        self.check();
        result
    }

    fn check(&self) {
        let CongestionWindow { cwnd, ssthresh } = self.window;
        assert!(cwnd.is_finite() && cwnd >= self.least, "a window of {cwnd} bytes");
        assert!(!ssthresh.is_nan() && ssthresh >= 1.0, "a threshold of {ssthresh} bytes");
        assert!(self.packet.gap <= Time::from_secs(60), "a pause of {} between packets", self.packet.gap);
        assert!(self.packet.segment_of(MSS) >= 1, "segments without data");
    }

    /// Sends what the window allows, or less.
    fn send(&mut self, stream: &mut Stream) {
        // As the sender does: one segment always goes, and the peer's window bounds the rest.
        let edge = self.una + (self.window.cwnd.min(1e8) as u64).max(MSS);
        let room = edge.saturating_sub(self.nxt);
        self.nxt += if stream.below(4) == 0 { skewed(stream, room + 1) } else { room };
        self.max_sent = self.max_sent.max(self.nxt);
    }

    fn acknowledge(&mut self, cc: &mut dyn CongestionControl, stream: &mut Stream) {
        let acked = match stream.below(4) {
            0 => 0,
            1 => self.nxt - self.una,
            _ => skewed(stream, self.nxt - self.una + 1),
        };
        self.una += acked;
        if acked > 0 {
            self.times = 0;
        }
        self.in_recovery &= stream.below(8) > 0;
        let rtt = (stream.below(3) > 0).then(|| Time::from_ps(1 + skewed(stream, 2_000_000_000_000)));
        self.srtt = self.srtt.or(rtt);
        let event = AckEvent {
            acked,
            ece: stream.below(3) == 0,
            in_recovery: self.in_recovery,
            in_loss: false,
            cwr: None,
            window_limited: stream.below(3) > 0,
            ends_window: stream.below(8) == 0,
            rtt,
            field: field(stream),
        };
        if let Some(rtt) = rtt {
            self.tell(cc, |cc, cx| cc.on_delay(cx, &Delay { rtt, ..Delay::default() }));
        }
        let stack = telemetry(stream);
        self.tell(cc, |cc, cx| cc.on_telemetry(cx, &stack));
        self.tell(cc, |cc, cx| cc.on_ack(cx, &event));
    }

    fn time_out(&mut self, cc: &mut dyn CongestionControl) {
        self.times += 1;
        let times = self.times;
        let Cut { ssthresh, cwnd } = self.tell(cc, |cc, cx| cc.on_timeout(cx, times));
        assert!(!ssthresh.is_nan() && ssthresh >= 1.0, "a threshold of {ssthresh} bytes after a timeout");
        self.window = CongestionWindow { cwnd: cwnd.unwrap_or(MSS as f64), ssthresh };
        self.check();
        self.nxt = self.una;
        self.in_recovery = false;
    }

    /// A packet of its receiver: of any kind, with a count or with the number of a byte in flight.
    fn hear(&mut self, cc: &mut dyn CongestionControl, stream: &mut Stream) {
        self.counted += stream.below(5);
        let number = self.una + skewed(stream, self.max_sent - self.una + 1);
        let field = if stream.below(2) == 0 { self.counted } else { number };
        let packet = ControlPacket { kind: stream.below(4) as u8, field, ..ControlPacket::default() };
        self.tell(cc, |cc, cx| cc.on_control(cx, &packet));
        let again = std::iter::from_fn(|| cc.resends()).take(100_000).count();
        assert!(again < 100_000, "it sends again without end");
    }

    fn lose(&mut self, cc: &mut dyn CongestionControl) {
        let Cut { ssthresh, cwnd } = self.tell(cc, |cc, cx| cc.on_loss(cx));
        assert!(!ssthresh.is_nan() && ssthresh >= 1.0, "a threshold of {ssthresh} bytes after a loss");
        self.window = CongestionWindow { cwnd: cwnd.unwrap_or(ssthresh + 3.0 * MSS as f64), ssthresh };
        self.check();
        self.in_recovery = true;
    }
}

#[test]
fn windows_stay_finite_and_above_zero() {
    for_every_scheme("sender", 12, |scheme, stream| {
        let bytes = (stream.below(2) > 0).then(|| 1 + skewed(stream, 1 << 40));
        let mut cc = scheme.congestion_control(&flow_facts(3, bytes));
        let mut sender = Sender::new(cc.asks().repairs);
        cc.on_transfer(&TransferFacts { first: 1, bytes, deadline: None });
        sender.tell(&mut *cc, |cc, cx| cc.on_start(cx));
        if stream.below(2) > 0 {
            let field = field(stream);
            sender.tell(&mut *cc, |cc, cx| cc.on_syn_ack(cx, field));
        }
        for _ in 0..3000 {
            sender.now += Time::from_ps(skewed(stream, 1_000_000_000));
            match stream.below(40) {
                0 => sender.time_out(&mut *cc),
                1..=2 => sender.lose(&mut *cc),
                3..=5 => sender.tell(&mut *cc, |cc, cx| cc.on_ecn_echo(cx)),
                6..=15 => sender.send(stream),
                16 if !sender.wake.is_never() => {
                    sender.now = sender.now.max(std::mem::replace(&mut sender.wake, Time::NEVER));
                    sender.tell(&mut *cc, |cc, cx| cc.on_wake(cx));
                }
                17..=19 => sender.hear(&mut *cc, stream),
                _ => {
                    sender.send(stream);
                    sender.acknowledge(&mut *cc, stream);
                }
            }
        }
        cc.probes(&mut |name, value| assert!(!value.is_nan(), "{name} is no number"));
    });
}

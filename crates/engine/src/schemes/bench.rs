//! A sender's congestion control on the bench: rounds of data, acknowledged one segment at a time.

use crate::roles::{AckEvent, CongestionControl, CongestionWindow, PacketFacts, SenderCx};
use crate::units::Time;

/// Bytes of a segment here.
pub(super) const MSS: f64 = 1000.0;

pub(super) struct Bench<C> {
    pub(super) cc: C,
    pub(super) window: CongestionWindow,
    pub(super) una: u64,
    pub(super) nxt: u64,
    pub(super) now: Time,
    pub(super) srtt: Option<Time>,
    pub(super) wake: Time,
}

impl<C: CongestionControl> Bench<C> {
    /// An open connection with a window of `segments`, in congestion avoidance.
    pub(super) fn new(cc: C, segments: f64) -> Self {
        let cwnd = segments * MSS;
        let window = CongestionWindow { cwnd, ssthresh: cwnd };
        let mut bench = Self { cc, window, una: 1, nxt: 1, now: Time::ZERO, srtt: None, wake: Time::NEVER };
        bench.call(C::on_start);
        bench
    }
    /// The window in segments.
    pub(super) fn segments(&self) -> f64 {
        self.window.cwnd / MSS
    }
    /// Calls a hook.
    pub(super) fn call<R>(&mut self, hook: impl FnOnce(&mut C, &mut SenderCx<'_>) -> R) -> R {
        let mut cx = SenderCx {
            now: self.now,
            mss: MSS,
            in_flight: self.nxt - self.una,
            una: self.una,
            nxt: self.nxt,
            max_sent: self.nxt,
            srtt: self.srtt,
            window: &mut self.window,
            packet: &mut PacketFacts::default(),
            wake: &mut self.wake,
        };
        hook(&mut self.cc, &mut cx)
    }
    /// Sends segments until `segments` are outstanding.
    pub(super) fn send(&mut self, segments: u64) {
        self.nxt = self.una + segments * 1000;
    }
    /// The first outstanding segment is acknowledged, with an echo or without.
    pub(super) fn ack(&mut self, ece: bool) {
        self.una += 1000;
        let ack = AckEvent { acked: 1000, ece, in_recovery: false, window_limited: true, rtt: None, field: 0 };
        self.call(|cc, cx| cc.on_ack(cx, &ack));
    }
    /// Sends `segments` and has them acknowledged one by one, the first `marked` with an echo.
    pub(super) fn round(&mut self, segments: u64, marked: u64) {
        self.send(segments);
        (0..segments).for_each(|i| self.ack(i < marked));
    }
    /// An echo that is the first of its round trip.
    pub(super) fn echo(&mut self) {
        self.call(C::on_ecn_echo);
    }
}

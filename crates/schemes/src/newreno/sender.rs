//! The window rules of NewReno, also used by other senders.

use fanin_core::roles::{AckEvent, ByteCounting, CongestionControl, SenderCx};
use fanin_core::units::real;

/// The window rules of RFC 5681.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewReno;

impl NewReno {
    /// RFC 5681 section 3.1, equations 2 and 3: slow start, then one segment per round trip.
    #[inline]
    pub fn grow(cx: &mut SenderCx<'_>, acked: u64) {
        Self::grow_by(cx, acked, 1.0);
    }
    /// The same, but with `segments` per round trip in congestion avoidance.
    #[inline]
    pub fn grow_by(cx: &mut SenderCx<'_>, acked: u64, segments: f64) {
        let window = &mut *cx.window;
        let mut counted = if cx.counting == ByteCounting::On { real(acked) } else { cx.mss };
        if window.cwnd < window.ssthresh {
            let left = window.ssthresh - window.cwnd;
            match cx.counting {
                ByteCounting::Off => return window.cwnd += real(acked).min(cx.mss),
                ByteCounting::SlowStart => return window.cwnd += real(acked).min(left),
                ByteCounting::On => {
                    // Linux, tcp_slow_start: in whole segments. What is beyond the threshold counts for congestion avoidance.
                    let grown = real(acked).min((left / cx.mss).ceil() * cx.mss);
                    window.cwnd += grown;
                    counted -= grown;
                }
            }
        }
        if counted > 0.0 {
            window.cwnd += segments * cx.mss * counted / window.cwnd;
        }
    }
}

impl CongestionControl for NewReno {
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        // RFC 3168 s6.1.2: an acknowledgement with an echo does not grow the window.
        if ack.acked > 0 && !ack.in_recovery && ack.window_limited && !ack.ece {
            Self::grow(cx, ack.acked);
        }
    }
}

/// NewReno's sender of ns-3.44 (`tcp-congestion-ops.cc`, `TcpNewReno::IncreaseWindow`): an acknowledgement of several
/// segments with which slow start reaches the threshold counts for congestion avoidance, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ns3;

impl CongestionControl for Ns3 {
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        let below = cx.window.cwnd < cx.window.ssthresh;
        NewReno.on_ack(cx, ack);
        if below && cx.window.cwnd >= cx.window.ssthresh && real(ack.acked) >= 2.0 * cx.mss {
            NewReno.on_ack(cx, ack);
        }
    }
}

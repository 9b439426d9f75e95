//! Gentle: a window that keeps round trips near a target.

use fanin::param::{Kind, Param};
use fanin::roles::{AckEvent, CongestionControl, SenderCx};
use fanin::schemes::{Effort, FlowFacts, Scheme, SchemeRow, Signal, Wish};
use fanin::units::{Time, real};

fanin::engine!(ROW);

static ROW: SchemeRow = SchemeRow {
    key: "gentle",
    summary: "Gentle: a window that grows below a target round trip, and shrinks above it.",
    params: &[Param::new("target", Kind::Time, "200us", "Round trip that it keeps.", "an example").at_least(1.0)],
    transport: &[Wish::Prefers("ack-every", "1")],
    manual: include_str!("manual.md"),
    readings: &[],
    totals: &[],
    effort: Effort::Kernel,
    needs: "a gentle kernel module on the senders",
    reacts_to: &[Signal::Delay],
    colour: "#7B3F00",
    marker: "v",
    build: |params| Box::new(Bundle { target: params.time("target") }),
};

struct Bundle {
    target: Time,
}

impl Scheme for Bundle {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(Gentle { target: self.target, shrunk: Time::ZERO })
    }
}

struct Gentle {
    target: Time,
    /// When it last shrank, which it does once in a round trip.
    shrunk: Time,
}

impl CongestionControl for Gentle {
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        let Some(rtt) = ack.rtt.filter(|_| !ack.in_recovery) else { return };
        if rtt < self.target {
            cx.window.cwnd += cx.mss * real(ack.acked) / cx.window.cwnd;
        } else if cx.now.saturating_sub(self.shrunk) >= rtt {
            cx.window.cwnd = (0.7 * cx.window.cwnd).max(cx.mss);
            self.shrunk = cx.now;
        }
        cx.window.ssthresh = cx.window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin::schemes::test_sender::TestSender;

    /// The window after an acknowledgement with this round trip; it was ten segments.
    fn window_after(rtt: Time) -> f64 {
        let mut sender = TestSender::new(Gentle { target: Time::from_us(200), shrunk: Time::ZERO }, 10.0);
        (sender.now, sender.rtt) = (Time::from_ms(1), Some(rtt));
        sender.round(1, 0);
        sender.segments()
    }

    #[test]
    fn the_window_grows_below_the_target_and_shrinks_above() {
        assert!((window_after(Time::from_us(199)) - 10.1).abs() < 1e-9);
        assert!((window_after(Time::from_us(200)) - 7.0).abs() < 1e-9);
    }
}

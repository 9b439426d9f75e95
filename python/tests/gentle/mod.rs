//! Gentle: a window that keeps round trips near a target. `test_new_scheme.py` adds this room to the engine.

use super::{Effort, FlowFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_core::roles::{AckEvent, CongestionControl, SenderCx};
use fanin_core::units::{Time, real};
use fanin_param::{Kind, Param, Values};

pub(super) const ROW: SchemeRow = SchemeRow {
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

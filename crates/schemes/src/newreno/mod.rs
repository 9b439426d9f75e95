//! TCP NewReno, the baseline that every other scheme modifies. Loss recovery and timers are in `tcp::sender`.

mod sender;

pub use sender::NewReno;

use super::{Effort, FlowFacts, Scheme, SchemeRow};
use fanin_core::roles::CongestionControl;
use fanin_param::{Kind, Param};

pub(super) const ROW: SchemeRow = SchemeRow {
    key: "newreno",
    summary: "TCP NewReno: slow start, congestion avoidance, fast recovery (RFC 5681, RFC 6582).",
    params: &[Param::new(
        "flavour",
        Kind::Choice(&["rfc5681", "ns-3"]),
        "rfc5681",
        "The sender of the RFC, or that of ns-3. The window of ns-3 grows twice with an ACK of several segments that \
         ends slow start: by a segment, and by what congestion avoidance adds.",
        "RFC 5681, section 3.1; ns-3.44, tcp-congestion-ops.cc, TcpNewReno::IncreaseWindow",
    )],
    transport: &[],
    manual: include_str!("manual.md"),
    readings: &[],
    totals: &[],
    effort: Effort::Hosts,
    needs: "hosts without SACK (RFC 6582): no fix, for comparison",
    reacts_to: &[],
    colour: "#0072B2",
    marker: "o",
    build: |params| Box::new(Bundle { ns3: params.is("flavour", "ns-3") }),
};

struct Bundle {
    ns3: bool,
}

impl Scheme for Bundle {
    fn congestion_control(&self, _flow: &FlowFacts) -> Box<dyn CongestionControl> {
        if self.ns3 { Box::new(sender::Ns3) } else { Box::new(NewReno) }
    }
    fn shares_nothing(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::sender::Ns3;
    use crate::NewReno;
    use crate::test_sender::{MSS, TestSender};
    use fanin_core::roles::{ByteCounting, CongestionControl, CongestionWindow};

    /// The window after an acknowledgement of `segments`, from one segment with the threshold at two.
    fn after(cc: impl CongestionControl, segments: u64, ssthresh: f64) -> f64 {
        let window = CongestionWindow { cwnd: MSS, ssthresh };
        let mut bench = TestSender::open(cc, MSS, window);
        bench.send(segments);
        bench.ack_of(segments, false);
        bench.window.cwnd
    }

    #[test]
    fn an_acknowledgement_that_ends_slow_start_may_grow_the_window_twice() {
        assert_eq!(after(NewReno, 3, 2.0 * MSS), 2.0 * MSS);
        assert_eq!(after(Ns3, 3, 2.0 * MSS), 2.0 * MSS + MSS / 2.0);
        assert_eq!(after(Ns3, 1, 2.0 * MSS), 2.0 * MSS, "of one segment nothing is left");
        assert_eq!(after(Ns3, 3, 3.0 * MSS), 2.0 * MSS, "slow start goes on");
    }

    #[test]
    fn rfc_3465_with_byte_counting_a_window_grows_by_the_segments_acknowledged() {
        use ByteCounting::{Off, On, SlowStart};
        for (counting, ssthresh, segments) in [
            (Off, 100.0, 11.0),
            (SlowStart, 100.0, 14.0),
            (On, 100.0, 14.0),
            (Off, 11.0, 11.0),
            (SlowStart, 11.0, 11.0),
            // The other three count for congestion avoidance.
            (On, 11.0, 11.0 + 3.0 / 11.0),
            // In whole segments.
            (On, 10.5, 11.0 + 3.0 / 11.0),
            (SlowStart, 10.5, 10.5),
            (Off, 10.0, 10.1),
            (SlowStart, 10.0, 10.1),
            (On, 10.0, 10.4),
        ] {
            let window = CongestionWindow { cwnd: 10.0 * MSS, ssthresh: ssthresh * MSS };
            let mut bench = TestSender::open(NewReno, MSS, window);
            bench.counting = counting;
            bench.send(4);
            bench.ack_of(4, false);
            assert!((bench.segments() - segments).abs() < 1e-9, "{counting:?} from 10 of {ssthresh}");
        }
    }
}

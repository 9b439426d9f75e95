//! CUBIC against the closed forms of RFC 9438, section 5: every so many segments one is lost.

use super::bench::{Parts, reals, run_instead};
use fanin_core::packet::{Flags, Packet};
use fanin_core::roles::{Pass, Passage, SwitchAgent, SwitchCx};
use fanin_schemes::{Cubic, CubicConfig};

/// Drops every so many segments that are new.
struct Periodic {
    period: u64,
    seen: u64,
}

impl SwitchAgent for Periodic {
    fn on_packet(&mut self, _cx: &mut SwitchCx<'_>, packet: &mut Packet, _passage: &Passage) -> Pass {
        if packet.is_ack() || packet.flags.has(Flags::RETRANSMITTED) {
            return Pass::Forward;
        }
        self.seen += 1;
        if self.seen.is_multiple_of(self.period) { Pass::Drop } else { Pass::Forward }
    }
}

/// The mean window in segments of a flow with this round trip (four cables of it) and a loss every `period` segments,
/// the first after `first`, from a window of `start` on.
fn mean_window(reno_friendly: bool, cable_us: u64, (period, first): (u64, u64), start: u64, seconds: u64) -> f64 {
    let cfg = CubicConfig { c: 0.4, beta: 0.7, fast_convergence: false, reno_friendly, hystart: false, per_ack: false };
    let scheme = Parts {
        congestion: Some(Box::new(move |_| Box::new(Cubic::new(cfg)))),
        agent: Some(Box::new(move |_| Box::new(Periodic { period, seen: period - first }))),
        ..Parts::default()
    };
    let text = format!(
        "[network]\ntopology = \"star\"\nrate = \"10Gbps\"\ndelay = \"{cable_us}us\"\nbuffer = \"1000pkt\"\n[transport]\n\
         sack = true\nloss-detection = \"linux\"\ninitial-ssthresh = \"{start}mss\"\nreceive-buffer = \"4MiB\"\n\
         [[traffic]]\nkind = \"background\"\n[run]\nduration = \"{seconds}s\"\n"
    );
    let outcome = run_instead(&text, scheme);
    let segments = reals(&outcome, "flows", "delivered_bytes")[0] / 1460.0;
    segments * 4.0 * cable_us as f64 * 1e-6 / seconds as f64
}

/// RFC 9438 equation 5: (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), here at 100 ms, is where the window
/// that a cycle begins with is the one that it ends with. It is slow to get there, as the cube is flat there: when a
/// cycle ends with a relative error of y, the next one's is smaller by 0.7 y^3 only, so that after n cycles some
/// 1 / sqrt(1.4 n) is left. So the law must lie between a flow that comes from above and one that comes from below.
#[test]
fn rfc9438_s5_1_the_mean_window_follows_the_cubic_law() {
    for period in [1_000_u64, 3_000] {
        let law = (0.4 * 3.7 / 1.2_f64).powf(0.25) * (0.1 * period as f64).powf(0.75);
        let above = mean_window(false, 25_000, (period, period), law as u64, 300) / law;
        let below = mean_window(false, 25_000, (period, period / 4), (0.8 * law) as u64, 300) / law;
        assert!((1.0..1.12).contains(&above) && (0.84..1.0).contains(&below), "{below} to {above} of {law}");
    }
}

#[test]
fn rfc9438_s4_3_where_reno_would_be_faster_the_mean_window_is_renos() {
    // At 2 ms the cube does not move within a period. RFC 5681's law for one acknowledgement per segment is
    // sqrt(3/2 / p), and the decrease of 0.7 comes with an increase that keeps to it.
    let law = (1.5 * 2_000.0_f64).sqrt();
    let found = mean_window(true, 500, (2_000, 2_000), law as u64, 8);
    assert!((found / law - 1.0).abs() < 0.05, "{found} instead of {law}");
}

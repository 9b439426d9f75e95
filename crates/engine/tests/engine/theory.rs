//! What congestion control theory says about long flows.

use crate::outcome::{numbers, run};

/// Jain's index of what endless flows have delivered in 20 s over a trunk of 100 Mbps.
///
/// The senders' own links are ten times faster, so that the queue is in the switch: where a sender's link is as
/// fast as the bottleneck, a lone flow queues in its own interface, which has no limit, and meets no loss there.
fn fairness(scheme: &str, flows: u32) -> f64 {
    let outcome = run(&format!(
        "[network]\ntopology = \"two-switch\"\ntrunk-rate = \"100Mbps\"\ndelay = \"500us\"\nbuffer = \"60pkt\"\n\
         host-jitter = \"20us\"\n[transport]\nscheme = \"{scheme}\"\n[[traffic]]\nkind = \"background\"\nflows = {flows}\n\
         jitter = \"50ms\"\n[run]\nduration = \"20s\"\n"
    ));
    let delivered = numbers(&outcome, "flows", "delivered_bytes");
    let used = delivered.iter().sum::<f64>() * 8.0 / 20.0 / 100e6;
    // Headers take 2.7 %; halving a window from more than twice the pipe leaves the link busy.
    assert!(used > 0.96 && used < 1460.0 / 1500.0, "{scheme}, {flows} flows use {used} of the link");
    delivered.iter().sum::<f64>().powi(2) / (f64::from(flows) * delivered.iter().map(|x| x * x).sum::<f64>())
}

/// Additive increase and multiplicative decrease converge to equal shares (Chiu and Jain 1989). A cycle of two flows
/// takes about 35 round trips of 10 ms, so 20 s average over some 60 of them, and over 20 where ten flows do not
/// lose together. Were the shares of one cycle independent and anywhere between a half and three halves, the mean
/// of 20 would be off by 0.3 / sqrt(20) = 7 %, which is an index of 0.995; start-up takes off a little more.
#[test]
fn long_flows_share_alike() {
    for scheme in ["newreno", "dctcp"] {
        for (flows, bound) in [(2, 0.99), (10, 0.97)] {
            let jain = fairness(scheme, flows);
            assert!(jain > bound, "{scheme}, {flows} flows: {jain}");
        }
    }
}

struct Oscillation {
    top: f64,
    amplitude: f64,
    period: f64,
}

/// Peaks and troughs of a queue over time.
fn oscillation(time: &[f64], packets: &[f64], middle: f64) -> Oscillation {
    let (mut highs, mut lows, mut crossings) = (Vec::new(), Vec::new(), Vec::new());
    let (mut high, mut low, mut above) = (f64::MIN, f64::MAX, false);
    for (at, queue) in time.iter().zip(packets) {
        if !above && *queue > middle + 2.0 {
            above = true;
            crossings.push(*at);
            lows.push(low);
            high = f64::MIN;
        } else if above && *queue < middle - 2.0 {
            above = false;
            highs.push(high);
            low = f64::MAX;
        }
        high = high.max(*queue);
        low = low.min(*queue);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (top, bottom) = (mean(&highs[1..]), mean(&lows[1..]));
    let period = (crossings[crossings.len() - 1] - crossings[1]) / (crossings.len() - 2) as f64;
    Oscillation { top, amplitude: top - bottom, period }
}

/// Alizadeh et al., SIGCOMM 2010, section 3.3, for `N` flows in step at a link of rate `C` with marking threshold `K`:
/// the queue peaks at `K + N`; the window at the threshold is `W = (C RTT + K) / N`; one round trip of a period is
/// marked, so `alpha = sqrt(2 / W)` where the estimate follows the mean; the queue swings by
/// `A = sqrt(2 N (C RTT + K)) / 2`; and a period takes `T = sqrt(2 (C RTT + K) / N) / 2` round trips, which at the
/// threshold last `(C RTT + K) / C`.
///
/// The analysis is a fluid one. Ours are packets: windows are cut to whole segments, and the round after a cut does
/// not grow, so an eighth is allowed for swing and period. The regime: few flows, windows of tens of packets, an
/// estimate slower than a period (`g < 1.386 / sqrt(2 (C RTT + K))`, equation 15), never an empty queue (`K > A`).
#[test]
fn dctcp_oscillates_as_analysed() {
    for (flows, threshold, delay) in
        [(1_u32, 40.0_f64, 125.0_f64), (1, 120.0, 375.0), (2, 120.0, 375.0), (2, 250.0, 750.0)]
    {
        let outcome = run(&format!(
            "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"{delay}us\"\n\
             buffer = \"1000pkt\"\n[transport]\nscheme = \"dctcp\"\n[scheme.dctcp]\nmark-threshold = \"{threshold}pkt\"\n\
             g = 0.03125\n[[traffic]]\nkind = \"background\"\nflows = {flows}\n[measure]\nqueue-trace = \"on-change\"\n\
             [run]\nduration = \"3s\"\n"
        ));
        let trace = |column| numbers(&outcome, "queue-trace", column);
        let from = trace("time_s").iter().position(|at| *at > 1.0).expect("the flows are endless");
        let segment = 1500.0 * 8e-9;
        let (n, pipe) = (f64::from(flows), 6.0 * delay * 1e-6 / segment);
        let amplitude = 0.5 * (2.0 * n * (pipe + threshold)).sqrt();
        let period = 0.5 * (2.0 * (pipe + threshold) / n).sqrt() * (pipe + threshold) * segment;
        let found = oscillation(&trace("time_s")[from..], &trace("packets")[from..], threshold + n - amplitude / 2.0);
        let case = format!("{flows} flows, K = {threshold}, {delay} us");
        assert!((found.top - (threshold + n)).abs() <= 1.0, "{case}: peak {}", found.top);
        let (swing, length) = (found.amplitude / amplitude, found.period / period);
        assert!((0.875..1.125).contains(&swing), "{case}: swing {swing} of the analysis");
        assert!((0.875..1.125).contains(&length), "{case}: period {length} of the analysis");
    }
}

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

/// The same analysis for L2DCT's sender with one weight `w` for all: it grows by a segment per round trip, so that one
/// round trip in a period `T = W b / 2` is marked, `alpha = 1 / T`, and the cut is by `b = alpha^w`. Hence
/// `alpha = (2 / W)^(1 / (1 + w))` and the queue swings by `A = T = W alpha^w / 2`; `w = 1` is DCTCP.
///
/// An eighth is allowed as there, and the estimate must again be slower than a period.
#[test]
fn l2dct_cuts_by_the_power_that_its_weight_says() {
    for (weight, g) in [(0.5, 0.015_625), (0.7, 0.015_625), (1.0, 0.031_25), (1.5, 0.031_25)] {
        let (threshold, delay) = (120.0, 375.0);
        let outcome = run(&format!(
            "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"{delay}us\"\n\
             buffer = \"1000pkt\"\n[transport]\nscheme = \"l2dct\"\n[scheme.l2dct]\nmark-threshold = \"{threshold}pkt\"\n\
             g = {g}\nalpha0 = 0.05\nweight-max = {weight}\nweight-min = {weight}\n[[traffic]]\nkind = \"background\"\n\
             flows = 1\n[measure]\nqueue-trace = \"on-change\"\n[run]\nduration = \"5s\"\n"
        ));
        let trace = |column| numbers(&outcome, "queue-trace", column);
        let from = trace("time_s").iter().position(|at| *at > 2.0).expect("the flow is endless");
        let window = 6.0 * delay * 1e-6 / 12e-6 + threshold;
        let alpha = (2.0_f64 / window).powf(1.0 / (1.0 + weight));
        let amplitude = window * alpha.powf(weight) / 2.0;
        let found = oscillation(&trace("time_s")[from..], &trace("packets")[from..], threshold + 1.0 - amplitude / 2.0);
        let swing = found.amplitude / amplitude;
        assert!((found.top - (threshold + 1.0)).abs() <= 1.0, "w = {weight}: peak {}", found.top);
        assert!((0.875..1.125).contains(&swing), "w = {weight}: swing {swing} of the analysis");
    }
}

/// DT-CWA's lone flow saws between fixed ends. It grows to a peak of `M` segments, one more than fit into pipe and
/// threshold; the marks persist beyond the first episode, whose window of two segments is then the least, so that the
/// saw begins again at `E = 2 + beta (M - 2)` by Eq. 2. (With a beta of one half and more, the burst that opens the window
/// again is longer than the threshold, and is marked itself.)
#[test]
fn dt_cwa_begins_again_where_eq_2_says() {
    for (beta, threshold) in [(0.1, 40.0), (0.2, 40.0), (0.3, 40.0), (0.2, 80.0)] {
        let outcome = run(&format!(
            "[network]\ntopology = \"two-switch\"\nrate = \"10Gbps\"\ntrunk-rate = \"1Gbps\"\ndelay = \"100us\"\n\
             buffer = \"1000pkt\"\n[transport]\nscheme = \"dt-cwa\"\n[scheme.dt-cwa]\nmin-window = \"2mss\"\n\
             eq1-may-raise = false\ncw-end-if-marked = false\ncw-hist = \"episode\"\nstart = \"{threshold}pkt\"\n\
             stop = \"{threshold}pkt\"\nbeta = {beta}\n[[traffic]]\nkind = \"background\"\nflows = 1\n[measure]\n\
             probes = \"cwnd\"\n[run]\nduration = \"1s\"\n"
        ));
        let (time, cwnd) = (numbers(&outcome, "probes", "time_s"), numbers(&outcome, "probes", "value"));
        let from = time.iter().position(|at| *at > 0.2).expect("the flow is endless");
        let cwnd: Vec<f64> = cwnd[from..].iter().map(|bytes| bytes / 1460.0).collect();
        let (mut peaks, mut starts) = (Vec::new(), Vec::new());
        for step in cwnd.windows(2) {
            if step[1] < step[0] - 2.0 {
                peaks.push(step[0]);
            } else if step[1] > step[0] + 2.0 {
                starts.push(step[1]);
            }
        }
        assert!(peaks.len() > 5 && starts.len() > 5, "beta = {beta}: {} saws", peaks.len());
        let (peak, start) = (peaks[1], starts[starts.len() - 1]);
        let (least, most) = (600e-6 / 12e-6 + threshold, 600e-6 / 12e-6 + threshold + 4.0);
        assert!((least..most).contains(&peak), "beta = {beta}: peak {peak}");
        let again = 2.0 + beta * (peak - 2.0);
        assert!((start - again).abs() < 0.1, "beta = {beta}: {start}, not {again}");
    }
}

/// A burst of 2,025 packets of 1,000 bytes through a switch's ECN profile, 500 KB to 2,000 KB and 5 %: the accuracy test of
/// `SONiC`. The marks that are due are the sum of the probabilities over the arrivals, about 38.
fn burst_marks(queue: &str) -> (f64, f64, f64) {
    const SEEDS: u64 = 12;
    let (mut due, mut variance, mut marks) = (0.0, 0.0, 0.0);
    for seed in 1..=SEEDS {
        let outcome = run(&format!(
            "[network]\ntopology = \"star\"\nrate = \"10Gbps\"\ndelay = \"500us\"\nbuffer = \"10MB\"\n[queue]\n{queue}\n\
             [transport]\necn = \"on\"\nmss = \"960B\"\ninitial-window = \"25mss\"\n[[traffic]]\nkind = \"incast\"\n\
             senders = 81\nbytes-each = \"24000B\"\nconnections = \"persistent\"\n[measure]\nqueue-trace = \"on-change\"\n\
             [run]\nduration = \"1s\"\nseed = {seed}\n"
        ));
        let packets = numbers(&outcome, "queue-trace", "packets");
        for pair in packets.windows(2) {
            for found in pair[0] as u32..pair[1] as u32 {
                let share = 0.05 * (f64::from(found.saturating_sub(500)) / 1500.0).min(1.0);
                due += share;
                variance += share * (1.0 - share);
            }
        }
        marks += outcome.number("marks");
    }
    let runs = SEEDS as f64;
    (marks / runs, due / runs, (variance / runs / runs).sqrt())
}

#[test]
fn a_switchs_profile_marks_the_sum_of_its_probabilities() {
    let (marks, due, deviation) =
        burst_marks("kind = \"wred\"\nwred-min = \"500KB\"\nwred-max = \"2000KB\"\nwred-max-p = 0.05");
    assert!(due > 30.0, "{due}: the burst reaches beyond the lower threshold");
    assert!((marks - due).abs() < 3.0 * deviation, "{marks} marks in the mean, where {due} are due");
    // Random early detection spaces its marks evenly, which are twice as many.
    let (marks, due, _) =
        burst_marks("kind = \"red\"\nred-min = 500\nred-max = 2000\nred-weight = 1\nred-max-p = 0.05");
    assert!((1.8..2.4).contains(&(marks / due)), "{marks} marks in the mean of {due}");
}

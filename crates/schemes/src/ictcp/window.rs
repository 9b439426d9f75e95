//! One flow: its throughput, its round-trip time and its window.

use super::config::Config;
use fanin_core::ids::FlowId;
use fanin_core::roles::ReceiverAction;
use fanin_core::units::Time;
use std::collections::VecDeque;

/// Gain of the moving average of round-trip times (RCC's authors' code).
const RTT_GAIN: f64 = 0.1;
/// Round-trip times from which the code of RCC's authors leaves a window alone.
const RDTCP_SLOW: Time = Time::from_ms(2);

/// Spare bandwidth left for increases in this half of a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quota {
    /// Bytes per second.
    pub(super) left: f64,
    /// Whether this is the second half of a slot.
    pub(super) open: bool,
}

impl Quota {
    /// Takes `rate` from the quota if that much is left.
    fn take(&mut self, rate: f64) -> bool {
        let enough = self.left >= rate;
        if enough {
            self.left -= rate;
        }
        enough
    }
}

/// A flow, as its receiver sees it.
#[derive(Clone, Debug)]
pub(super) struct FlowWindow {
    /// Bytes that may be outstanding.
    pub(super) window: f64,
    /// One past the last byte ever allowed: the right edge of the window never moves back.
    edge: u64,
    /// Next byte expected.
    next: u64,
    slow_start: bool,
    /// Smoothed round-trip time in seconds, once measured.
    pub(super) rtt: Option<f64>,
    /// First bytes of segments that acknowledgements allowed last, and when.
    allowed: VecDeque<(u64, Time)>,
    /// Payload since the last adjustment.
    bytes: u64,
    last_adjusted: Time,
    /// With two timers: the round-trip time to which the bytes since the last adjustment are attributed.
    pub(super) pace: Time,
    /// With two timers: when the one that was started last expires next, once it has restarted itself.
    pub(super) restarted: Option<Time>,
    /// With two timers: an expiry that no longer counts.
    pub(super) cancelled: Option<Time>,
    /// The handshake is complete.
    pub(super) established: bool,
    /// All data have arrived, but not the last segment of the connection.
    pub(super) closing: bool,
    /// Smoothed throughput in bytes per second.
    measured: f64,
    /// Looks in a row that found much less than expected.
    low: u32,
    last_change: Time,
    last_data: Time,
    /// Nothing has arrived for long: the flow is ignored until something does.
    pub(super) idle: bool,
    /// Payload in this slot, for its weight.
    pub(super) slot_bytes: u64,
    /// Window that the host last set for advertisement, in bytes.
    advertised: Option<u64>,
}

impl FlowWindow {
    pub(super) fn new(window: f64, now: Time) -> Self {
        Self {
            window,
            edge: 0,
            next: 1,
            slow_start: true,
            rtt: None,
            allowed: VecDeque::new(),
            bytes: 0,
            last_adjusted: now,
            pace: Time::from_ms(10),
            restarted: None,
            cancelled: None,
            established: false,
            closing: false,
            measured: 0.0,
            low: 0,
            last_change: now,
            last_data: now,
            idle: false,
            slot_bytes: 0,
            advertised: None,
        }
    }

    /// A flow from which nothing has come yet on an open connection.
    pub(super) fn resting(window: f64, now: Time) -> Self {
        Self { idle: true, ..Self::new(window, now) }
    }

    /// An acknowledgement of everything before `next` leaves with the current window.
    pub(super) fn on_ack(&mut self, now: Time, mss: u64) {
        let allowed = self.granted();
        self.edge = self.edge.max(self.next + allowed);
        let last = self.next + (allowed.saturating_sub(mss) / mss) * mss;
        if self.allowed.back().is_none_or(|(seq, _)| *seq < last) {
            self.allowed.push_back((last, now));
        }
    }

    /// A request leaves. What was sent until now says nothing about the time to data that is asked for only now.
    pub(super) fn on_request(&mut self) {
        self.edge = self.edge.max(self.next + self.granted());
        self.allowed.clear();
    }

    /// A segment arrived.
    pub(super) fn on_data(&mut self, seq: u64, new: u64, next: u64, now: Time) {
        self.bytes += new;
        self.slot_bytes += new;
        self.next = next;
        self.last_data = now;
        self.time(seq, new > 0, now);
    }

    /// The SYN-ACK leaves. RCC's authors time the handshake by it.
    pub(super) fn on_syn_ack(&mut self, now: Time) {
        self.edge = self.edge.max(self.next + self.granted());
        self.allowed.push_back((self.next, now));
    }

    /// Takes a round-trip time if the segment that begins with `seq` is one that was waited for.
    pub(super) fn time(&mut self, seq: u64, new: bool, now: Time) {
        while let Some((expected, sent)) = self.allowed.front().copied().filter(|(expected, _)| *expected <= seq) {
            self.allowed.pop_front();
            if expected == seq && new {
                let sample = (now - sent).secs();
                self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt + RTT_GAIN * (sample - rtt)));
            }
        }
    }

    /// If nothing has arrived for long, the flow starts anew, except for its right edge and its round-trip time.
    pub(super) fn rest_if_idle(&mut self, now: Time, config: &Config, mss: u64) -> bool {
        if now - self.last_data > config.idle {
            let fresh = Self::new(config.min_window.bytes(mss) as f64, now);
            let (edge, next, rtt, advertised) = (self.edge, self.next, self.rtt, self.advertised);
            *self = Self { edge, next, rtt, advertised, idle: true, ..fresh };
        }
        self.idle
    }

    /// Data come again after a rest: the pause belongs to no round trip.
    pub(super) fn begin(&mut self, now: Time) {
        (self.last_adjusted, self.last_change) = (now, now);
    }

    /// Smoothed throughput in bytes per second.
    #[cfg(test)]
    pub(super) fn measured(&self) -> f64 {
        self.measured
    }

    /// When data last arrived.
    pub(super) fn last_data(&self) -> Time {
        self.last_data
    }

    /// Bytes to advertise: the window, or more if the right edge would otherwise move back.
    pub(super) fn granted(&self) -> u64 {
        (self.window as u64).max(self.edge.saturating_sub(self.next))
    }

    /// Makes the host advertise the granted window, if it does not already.
    #[inline]
    pub(super) fn advertise(&mut self, flow: FlowId, actions: &mut Vec<ReceiverAction>) {
        let bytes = self.granted();
        if self.advertised.replace(bytes) != Some(bytes) {
            actions.push(ReceiverAction::Window { flow, bytes });
        }
    }

    /// Adjusts a flow's window once per round trip: Wu et al. 2010, section 4.3.
    pub(super) fn adjust_window(&mut self, now: Time, mss: f64, config: &Config, quota: &mut Quota) {
        let since = if config.two_timers { self.pace } else { now - self.last_adjusted }.secs();
        let sample = self.bytes as f64 / since;
        self.last_adjusted = now;
        // READING: I5, a round trip without data is a sample of zero; the code of RCC's authors omits it.
        if self.bytes > 0 || !config.rdtcp {
            self.measured = sample.max(config.beta * self.measured + (1.0 - config.beta) * sample);
        }
        self.bytes = 0;
        let Some(rtt) = self.rtt.filter(|rtt| !config.rdtcp || *rtt < RDTCP_SLOW.secs()) else { return };
        let expected = self.measured.max(self.window / rtt);
        let difference = (expected - self.measured) / expected;
        if difference <= config.gamma1 || difference <= mss / self.window {
            self.low = 0;
            // At most every second round trip, and only while increases are open.
            let spaced = if config.two_timers { self.pace.secs() } else { rtt };
            if (quota.open || config.any_half) && (now - self.last_change).secs() >= config.spacing * spaced {
                self.increase(now, mss, rtt, config, quota);
            }
        } else if difference > config.gamma2 {
            self.low += 1;
            if self.low == 3 {
                self.low = 0;
                self.decrease(now, mss, config);
            }
            self.slow_start = config.rdtcp;
        } else {
            self.low = 0;
            self.slow_start = config.rdtcp;
        }
    }

    /// Case 1.
    fn increase(&mut self, now: Time, mss: f64, rtt: f64, config: &Config, quota: &mut Quota) {
        // READING: I1
        let fast = if config.rdtcp { mss } else { self.window };
        let slow = if config.rdtcp { (mss * mss / self.window).floor().max(1.0) } else { mss };
        let mut allowed = |more: f64| !config.quota || quota.take(more / rtt);
        let grown = if ((self.slow_start && config.slow_start) || config.rdtcp) && allowed(fast) {
            fast
        } else {
            self.slow_start = false;
            if allowed(slow) { slow } else { 0.0 }
        };
        if grown > 0.0 {
            self.window += grown;
            self.last_change = now;
        }
    }

    /// Case 2, and fairness: one segment fewer.
    pub(super) fn decrease(&mut self, now: Time, mss: f64, config: &Config) {
        self.window = (self.window - mss).max(config.min_window.bytes(mss as u64) as f64);
        self.last_change = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_param::Window;

    const MSS: f64 = 1000.0;
    const RTT: Time = Time::from_us(200);

    fn config(rdtcp: bool) -> Config {
        Config {
            rdtcp,
            mortal_clock: false,
            two_timers: false,
            alpha: 0.9,
            quota: true,
            any_half: false,
            spacing: 2.0,
            slow_start: true,
            beta: 0.9,
            gamma1: 0.1,
            gamma2: 0.5,
            fair_share: 0.2,
            min_window: Window::Segments(2),
            min_slot: Time::from_us(160),
            idle: Time::from_ms(10),
        }
    }

    /// A flow of 10 segments per round trip of 200 us, whose window has not changed for long.
    fn flow() -> FlowWindow {
        let start = Time::from_secs(1) - RTT;
        let rtt = Some(RTT.secs());
        FlowWindow { rtt, last_change: Time::ZERO, ..FlowWindow::new(10.0 * MSS, start) }
    }

    /// Looks at it after `share` of what its window allows has come in.
    fn adjust(flow: &mut FlowWindow, share: f64, rdtcp: bool, quota: &mut Quota) {
        let now = flow.last_adjusted + RTT;
        flow.measured = 0.0;
        flow.bytes = (share * flow.window) as u64;
        flow.adjust_window(now, MSS, &config(rdtcp), quota);
    }

    fn plenty() -> Quota {
        Quota { left: 1e9, open: true }
    }

    #[test]
    fn case_1_doubles_in_slow_start_and_takes_its_quota() {
        let (mut flow, mut quota) = (flow(), plenty());
        adjust(&mut flow, 1.0, false, &mut quota);
        assert_eq!(flow.window, 20.0 * MSS);
        assert!((1e9 - quota.left - 10.0 * MSS / RTT.secs()).abs() < 1.0);
    }

    #[test]
    fn case_1_holds_up_to_gamma1_or_one_segment() {
        for (share, grows) in [(0.91, true), (0.88, false)] {
            let mut flow = flow();
            adjust(&mut flow, share, false, &mut plenty());
            assert_eq!(flow.window > 10.0 * MSS, grows, "{share}");
        }
        // Half of a window of two segments is one segment less than expected.
        let mut small = FlowWindow { window: 2.0 * MSS, ..flow() };
        adjust(&mut small, 0.5, false, &mut plenty());
        assert_eq!(small.window, 4.0 * MSS);
    }

    #[test]
    fn without_quota_for_doubling_congestion_avoidance_adds_one_segment() {
        let mut quota = Quota { left: 1.5 * MSS / RTT.secs(), open: true };
        let mut flow = flow();
        adjust(&mut flow, 1.0, false, &mut quota);
        assert_eq!((flow.window, flow.slow_start), (11.0 * MSS, false));
        flow.last_change = Time::ZERO;
        adjust(&mut flow, 1.0, false, &mut quota);
        assert_eq!(flow.window, 11.0 * MSS, "the quota is used up");
        flow.last_change = Time::ZERO;
        adjust(&mut flow, 1.0, false, &mut plenty());
        assert_eq!(flow.window, 12.0 * MSS, "one segment, now that slow start is over");
    }

    #[test]
    fn increases_wait_for_the_second_half_and_for_two_round_trips() {
        let mut flow = flow();
        adjust(&mut flow, 1.0, false, &mut Quota { left: 1e9, open: false });
        assert_eq!(flow.window, 10.0 * MSS);
        adjust(&mut flow, 1.0, false, &mut plenty());
        assert_eq!(flow.window, 20.0 * MSS);
        adjust(&mut flow, 1.0, false, &mut plenty());
        assert_eq!(flow.window, 20.0 * MSS, "changed one round trip ago");
        adjust(&mut flow, 1.0, false, &mut plenty());
        assert_eq!(flow.window, 40.0 * MSS);
    }

    #[test]
    fn each_limit_of_an_increase_can_be_lifted() {
        let base = config(false);
        let (spent, shut) = (Quota { left: 0.0, open: true }, Quota { left: 1e9, open: false });
        // What is set, quota, round trips since the last change, and the windows with the rule and without it.
        for (lifted, quota, since, with, without) in [
            (Config { quota: false, ..base }, spent, 9, 10.0, 20.0),
            (Config { any_half: true, ..base }, shut, 9, 10.0, 20.0),
            (Config { spacing: 0.0, ..base }, plenty(), 1, 10.0, 20.0),
            (Config { slow_start: false, ..base }, plenty(), 9, 20.0, 11.0),
            (Config { gamma1: 1.0, ..base }, plenty(), 9, 20.0, 20.0),
        ] {
            for (config, window) in [(base, with), (lifted, without)] {
                let mut flow = flow();
                let now = flow.last_adjusted + RTT;
                flow.last_change = now - Time::from_ps(RTT.ps() * since);
                flow.bytes = flow.window as u64;
                flow.adjust_window(now, MSS, &config, &mut quota.clone());
                assert_eq!(flow.window, window * MSS, "{config:?}");
            }
        }
    }

    #[test]
    fn without_smoothing_one_silent_round_trip_is_a_sample_of_nothing() {
        for (beta, measured) in [(0.9, 0.9), (0.0, 0.0)] {
            let mut flow = FlowWindow { measured: 1.0, ..flow() };
            flow.adjust_window(flow.last_adjusted + RTT, MSS, &Config { beta, ..config(false) }, &mut plenty());
            assert!((flow.measured - measured).abs() < 1e-9);
        }
    }

    #[test]
    fn case_2_takes_one_segment_after_three_round_trips_in_a_row_and_keeps_two() {
        let mut flow = flow();
        for window in [10.0, 10.0, 9.0, 9.0, 9.0, 8.0] {
            adjust(&mut flow, 0.4, false, &mut plenty());
            assert_eq!(flow.window, window * MSS);
        }
        assert!(!flow.slow_start);
        let mut broken = flow.clone();
        adjust(&mut broken, 0.4, false, &mut plenty());
        adjust(&mut broken, 0.4, false, &mut plenty());
        adjust(&mut broken, 0.8, false, &mut plenty());
        adjust(&mut broken, 0.4, false, &mut plenty());
        assert_eq!(broken.window, 8.0 * MSS, "not in a row");
        for _ in 0..40 {
            adjust(&mut flow, 0.2, false, &mut plenty());
        }
        assert_eq!(flow.window, 2.0 * MSS);
    }

    #[test]
    fn case_3_keeps_the_window_and_ends_slow_start() {
        let mut flow = flow();
        adjust(&mut flow, 0.7, false, &mut plenty());
        assert_eq!((flow.window, flow.slow_start), (10.0 * MSS, false));
    }

    #[test]
    fn the_code_of_rccs_authors_adds_a_segment_or_a_share_of_one() {
        let mut rich = flow();
        adjust(&mut rich, 1.0, true, &mut plenty());
        assert_eq!(rich.window, 11.0 * MSS);
        let mut poor = flow();
        adjust(&mut poor, 1.0, true, &mut Quota { left: 0.5 * MSS / RTT.secs(), open: true });
        assert_eq!(poor.window, 10.1 * MSS);
        adjust(&mut poor, 0.7, true, &mut plenty());
        assert!(poor.slow_start, "cases 2 and 3 return to slow start");
        let mut slow = FlowWindow { rtt: Some(0.002), ..flow() };
        adjust(&mut slow, 1.0, true, &mut plenty());
        assert_eq!(slow.window, 10.0 * MSS, "left alone from 2 ms");
    }

    #[test]
    fn throughput_is_smoothed_but_follows_a_rise_at_once() {
        let mut flow = flow();
        flow.measured = 1e6;
        flow.bytes = 2000; // 1e7 bytes per second
        flow.adjust_window(flow.last_adjusted + RTT, MSS, &config(false), &mut plenty());
        assert!((flow.measured - 1e7).abs() < 1.0);
        flow.bytes = 200;
        flow.adjust_window(flow.last_adjusted + RTT, MSS, &config(false), &mut plenty());
        assert!((flow.measured - (0.9 * 1e7 + 0.1 * 1e6)).abs() < 1.0);
    }

    #[test]
    fn a_silent_flow_gives_its_window_back_by_the_paper_and_keeps_it_by_the_code() {
        for (rdtcp, window) in [(false, 9.0 * MSS), (true, 10.0 * MSS)] {
            let mut flow = flow();
            flow.measured = 10.0 * MSS / RTT.secs();
            for _ in 0..9 {
                flow.adjust_window(flow.last_adjusted + RTT, MSS, &config(rdtcp), &mut Quota { left: 0.0, open: true });
            }
            // 0.9^7 is below a half: the seventh adjustment and the two after it find too little.
            assert_eq!(flow.window, window, "{rdtcp}");
        }
    }

    #[test]
    fn the_right_edge_does_not_move_back() {
        let mut flow = flow();
        flow.on_ack(Time::from_secs(1), 1000); // allows bytes 1 to 10,000
        flow.window = 4.0 * MSS;
        assert_eq!(flow.granted(), 10_000);
        flow.on_data(1, 3000, 3001, Time::from_secs(1));
        assert_eq!(flow.granted(), 7000);
        flow.on_data(3001, 5000, 8001, Time::from_secs(1));
        assert_eq!(flow.granted(), 4000);
    }

    #[test]
    fn a_round_trip_is_from_an_acknowledgement_to_the_last_segment_that_it_allows() {
        let mut flow = FlowWindow::new(3.0 * MSS, Time::ZERO);
        flow.on_ack(Time::from_us(100), 1000); // the last segment begins at 2001
        flow.on_data(1, 1000, 1001, Time::from_us(250));
        assert_eq!(flow.rtt, None);
        flow.on_data(2001, 1000, 1001, Time::from_us(400));
        assert!((flow.rtt.expect("measured") - 300e-6).abs() < 1e-9);
    }

    #[test]
    fn a_flow_that_was_idle_for_long_begins_with_the_smallest_window() {
        let mut flow = FlowWindow { slow_start: false, ..flow() };
        let last = flow.last_data;
        assert!(!flow.rest_if_idle(last + Time::from_ms(10), &config(false), 1000));
        assert!(flow.rest_if_idle(last + Time::from_ms(11), &config(false), 1000));
        assert_eq!((flow.window, flow.slow_start), (2.0 * MSS, true));
    }
}

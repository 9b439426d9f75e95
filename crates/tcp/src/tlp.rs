//! Tail loss probes (RFC 8985 section 7): a segment that elicits an acknowledgement when none has arrived for two round
//! trips, so that the loss of a tail need not wait for a retransmission timeout.

use fanin_core::units::Time;

/// Constants of the probe timer, shared by the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeConfig {
    /// `TLP.max_ack_delay`: how much longer to wait for the acknowledgement of a single segment.
    pub max_ack_delay: Time,
    /// How much longer to wait if there are several.
    pub(crate) margin: Time,
    /// The wait is rounded up to multiples of this; zero for an exact clock.
    pub(crate) tick: Time,
}

/// The variables of RFC 8985 section 7.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Probe {
    /// `TLP.end_seq` and `TLP.is_retrans` of the probe in flight.
    sent: Option<(u64, bool)>,
    /// No round-trip time was measured since the last probe.
    stale: bool,
}

impl Probe {
    /// RFC 8985 section 7.2: how long to wait for an acknowledgement, if the retransmission timer waits longer.
    pub(super) fn timeout(cfg: &ProbeConfig, srtt: Option<Time>, segments: usize) -> Time {
        let Some(srtt) = srtt else { return Time::from_secs(1) };
        let more = if segments == 1 { cfg.max_ack_delay } else { cfg.margin };
        srtt.saturating_add(srtt).saturating_add(more).up_to_ticks(cfg.tick)
    }

    /// RFC 8985 section 7.3: one probe at a time, and a measurement between two.
    pub(super) const fn may_send(&self) -> bool {
        self.sent.is_none() && !self.stale
    }
    /// A probe leaves; `end` is after the highest number sent, `again` that it was a retransmission.
    pub(super) const fn on_sent(&mut self, end: u64, again: bool) {
        self.sent = Some((end, again));
        self.stale = true;
    }
    /// A round-trip time was measured.
    pub(super) const fn on_sample(&mut self) {
        self.stale = false;
    }
    /// Loss recovery has begun, so the probe is no longer needed.
    pub(super) const fn forget(&mut self) {
        self.sent = None;
    }

    /// RFC 8985 section 7.4.2: whether this acknowledgement shows that a probe has repaired a loss, which nothing
    /// else would tell. `bare` says that it repeats the last one and reports nothing. Without DSACKs only that tells
    /// that both original and probe have arrived.
    pub(super) fn on_ack(&mut self, una: u64, bare: bool) -> bool {
        let Some((end, again)) = self.sent.filter(|(end, _)| una >= *end) else { return false };
        let repaired = again && una > end;
        if !again || repaired || bare {
            self.sent = None;
        }
        repaired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CFG: ProbeConfig = ProbeConfig { max_ack_delay: Time::from_ms(25), margin: Time::ZERO, tick: Time::ZERO };
    const RTT: Option<Time> = Some(Time::from_ms(4));

    #[test]
    fn rfc8985_s7_2_a_probe_waits_for_two_round_trips() {
        assert_eq!(Probe::timeout(&CFG, RTT, 2), Time::from_ms(8));
        let cautious = ProbeConfig { margin: Time::from_ms(2), ..CFG };
        assert_eq!(Probe::timeout(&cautious, RTT, 9), Time::from_ms(10));
        assert_eq!(Probe::timeout(&cautious, RTT, 1), Time::from_ms(33), "the wait for a single one has no margin");
    }

    #[test]
    fn tcp_schedule_loss_probe_rounds_up_to_ticks() {
        let coarse = ProbeConfig { tick: Time::from_ms(5), ..CFG };
        assert_eq!(Probe::timeout(&coarse, RTT, 2), Time::from_ms(10));
    }

    #[test]
    fn rfc8985_s7_2_a_single_segment_may_be_acknowledged_late() {
        assert_eq!(Probe::timeout(&CFG, RTT, 1), Time::from_ms(33));
    }

    #[test]
    fn rfc8985_s7_2_without_a_round_trip_time_a_probe_waits_for_a_second() {
        assert_eq!(Probe::timeout(&CFG, None, 1), Time::from_secs(1));
    }

    #[test]
    fn rfc8985_s7_3_one_probe_at_a_time_and_a_measurement_between_two() {
        let mut probe = Probe::default();
        assert!(probe.may_send());
        probe.on_sent(500, false);
        assert!(!probe.may_send());
        probe.on_ack(500, false);
        assert!(!probe.may_send(), "without a measurement");
        probe.on_sample();
        assert!(probe.may_send());
    }

    #[test]
    fn rfc8985_s7_4_2_a_probe_of_new_data_tells_of_no_loss() {
        let mut probe = Probe::default();
        probe.on_sent(500, false);
        assert!(!probe.on_ack(600, false));
        assert_eq!(probe.sent, None);
    }

    #[test]
    fn rfc8985_s7_4_2_an_acknowledgement_beyond_a_repeated_segment_tells_of_a_repaired_loss() {
        let mut probe = Probe::default();
        probe.on_sent(500, true);
        assert!(!probe.on_ack(400, false), "not there yet");
        assert!(!probe.on_ack(500, false), "of the original or of the probe");
        assert!(probe.on_ack(600, false));
        assert!(!probe.on_ack(700, false), "once");
    }

    #[test]
    fn rfc8985_s7_4_2_a_bare_duplicate_tells_that_both_have_arrived() {
        let mut probe = Probe::default();
        probe.on_sent(500, true);
        assert!(!probe.on_ack(500, true));
        assert!(!probe.on_ack(600, false));
    }
}

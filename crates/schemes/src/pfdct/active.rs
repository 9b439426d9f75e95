//! The long flows that are active at a port, with the threshold that each sender announces.

use super::field::UNIT;
use super::oracle::Oracle;
use fanin_core::ids::FlowId;
use fanin_core::units::Time;

/// How the threshold of a queue follows from those that its flows announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The sum over the port's flows.
    Sum,
    /// That of the packet's own flow.
    PerFlow,
    /// The maximum over the port's flows.
    Max,
    /// The value that any flow changed last, as if it were an attribute of the queue.
    Global,
}

impl Scope {
    /// Whether a flow's threshold is a share of the queue's, so that the paper's values for the queue are divided among
    /// flows.
    pub(super) const fn is_shared(self) -> bool {
        matches!(self, Self::Sum)
    }
}

/// A long flow at a port.
#[derive(Clone, Copy, Debug)]
struct Flow {
    id: FlowId,
    /// In sixteenths of a packet; none until its sender announces one.
    threshold: Option<u32>,
    last: Time,
}

/// Maximum number of flows counted at a port: the field has 16 bits for it.
const MOST: usize = u16::MAX as usize;

/// The active long flows of one port.
#[derive(Debug)]
pub(super) struct Active {
    scope: Scope,
    /// A flow that has sent nothing for this long is removed.
    timeout: Time,
    /// Initial threshold of the whole queue in sixteenths of a packet.
    initial: u32,
    /// Senders divide the queue's threshold anew when the number of flows changes.
    rescale: bool,
    /// Sorted by flow.
    flows: Vec<Flow>,
    /// No flow times out before this time.
    check_at: Time,
    /// Sum of the announced thresholds.
    sum: u64,
    /// Number of flows that have not announced one.
    untold: u32,
    /// The announced threshold that changed last.
    latest: Option<u32>,
}

impl Active {
    pub(super) fn new(scope: Scope, timeout: Time, initial: u32, rescale: bool) -> Self {
        let (flows, check_at) = (Vec::new(), Time::NEVER);
        Self { scope, timeout, initial, rescale, flows, check_at, sum: 0, untold: 0, latest: None }
    }

    /// A packet of a long flow arrives.
    pub(super) fn on_packet(&mut self, now: Time, id: FlowId, threshold: Option<u32>) {
        let at = match self.flows.binary_search_by_key(&id, |flow| flow.id) {
            Ok(at) => {
                let before = self.flows[at].threshold;
                self.subtract(before);
                if threshold != before {
                    self.latest = threshold.or(self.latest);
                }
                self.flows[at] = Flow { id, threshold: threshold.or(before), last: now };
                at
            }
            Err(_) if self.flows.len() == MOST => return,
            Err(at) => {
                self.latest = threshold.or(self.latest);
                self.flows.insert(at, Flow { id, threshold, last: now });
                self.check_at = self.check_at.min(now.saturating_add(self.timeout));
                at
            }
        };
        match self.flows[at].threshold {
            Some(threshold) => self.sum += u64::from(threshold),
            None => self.untold += 1,
        }
    }

    /// A flow has sent its last packet.
    pub(super) fn on_end(&mut self, id: FlowId) {
        if let Ok(at) = self.flows.binary_search_by_key(&id, |flow| flow.id) {
            self.subtract(self.flows[at].threshold);
            self.flows.remove(at);
        }
    }

    /// Removes the flows that have timed out.
    pub(super) fn expire(&mut self, now: Time) {
        if now < self.check_at {
            return;
        }
        let (mut sum, mut untold, mut oldest) = (0, 0, Time::NEVER);
        self.flows.retain(|flow| {
            let stays = flow.last.saturating_add(self.timeout) > now;
            if stays {
                oldest = oldest.min(flow.last);
                sum += u64::from(flow.threshold.unwrap_or(0));
                untold += u32::from(flow.threshold.is_none());
            }
            stays
        });
        (self.sum, self.untold, self.check_at) = (sum, untold, oldest.saturating_add(self.timeout));
    }

    fn subtract(&mut self, threshold: Option<u32>) {
        match threshold {
            Some(threshold) => self.sum -= u64::from(threshold),
            None => self.untold -= 1,
        }
    }

    /// `N`, the number of long flows.
    pub(super) fn count(&self) -> u16 {
        self.flows.len() as u16
    }

    /// The threshold of the queue for a packet of a flow that announces `own`, in sixteenths of a packet.
    pub(super) fn threshold(&self, own: Option<u32>) -> u64 {
        let initial = u64::from(self.initial);
        match self.scope {
            // READING: P4, P20. A flow that has announced no threshold yet counts with its share of the initial one.
            // The others do not know of it for a round trip, so until then their thresholds still add up to the whole.
            Scope::Sum => {
                let (all, untold) = ((self.flows.len() as u64).max(1), u64::from(self.untold));
                let told = if self.rescale { self.sum * (all - untold) / all } else { self.sum };
                told + initial * untold / all
            }
            Scope::PerFlow => own.map_or(initial, u64::from),
            Scope::Max => {
                let told = self.flows.iter().map(|flow| flow.threshold.map_or(initial, u64::from));
                told.max().unwrap_or(initial)
            }
            Scope::Global => self.latest.map_or(initial, u64::from),
        }
    }

    /// As [`Self::threshold`], with the senders' current values instead of those in packets.
    pub(super) fn true_threshold(&mut self, flow: FlowId, oracle: &Oracle) -> u64 {
        self.sum = 0;
        self.untold = 0;
        for flow in &mut self.flows {
            flow.threshold = oracle.threshold(flow.id);
            self.sum += u64::from(flow.threshold.unwrap_or(0));
            self.untold += u32::from(flow.threshold.is_none());
        }
        self.latest = oracle.latest();
        self.threshold(oracle.threshold(flow))
    }
}

/// Whether a queue of `queue` packets is above a threshold in sixteenths of a packet.
pub(super) fn above(queue: u32, threshold: u64) -> bool {
    u64::from(queue) * UNIT as u64 > threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(scope: Scope, told: &[Option<u32>]) -> Active {
        let mut active = Active::new(scope, Time::from_ms(2), 320, true);
        for (i, threshold) in told.iter().enumerate() {
            active.on_packet(Time::ZERO, FlowId::new(i), *threshold);
        }
        active
    }

    #[test]
    fn the_threshold_is_the_sum_of_the_flows_or_what_the_scope_says() {
        let told = [Some(16), Some(48), Some(32)];
        assert_eq!(with(Scope::Sum, &told).threshold(Some(16)), 96);
        assert_eq!(with(Scope::PerFlow, &told).threshold(Some(16)), 16);
        assert_eq!(with(Scope::Max, &told).threshold(Some(16)), 48);
        let mut global = with(Scope::Global, &told);
        assert_eq!(global.threshold(Some(16)), 32);
        global.on_packet(Time::ZERO, FlowId::new(0), Some(16));
        assert_eq!(global.threshold(Some(16)), 32, "the same value again is no change");
        global.on_packet(Time::ZERO, FlowId::new(0), Some(24));
        assert_eq!(global.threshold(Some(48)), 24);
    }

    #[test]
    fn flows_without_a_threshold_share_the_initial_one() {
        assert_eq!(with(Scope::Sum, &[None; 8]).threshold(None), 320);
        let mut joined = with(Scope::Sum, &[None, Some(320)]);
        assert_eq!(joined.threshold(None), 320, "the other one does not know of it yet");
        joined.rescale = false;
        assert_eq!(joined.threshold(None), 160 + 320);
        assert_eq!(with(Scope::PerFlow, &[None; 8]).threshold(None), 320);
    }

    #[test]
    fn a_new_value_replaces_the_old_one_and_an_end_takes_it_off() {
        let mut active = with(Scope::Sum, &[None, Some(16)]);
        active.on_packet(Time::ZERO, FlowId::new(0), Some(8));
        active.on_packet(Time::ZERO, FlowId::new(1), Some(24));
        assert_eq!((active.count(), active.threshold(None)), (2, 32));
        active.on_end(FlowId::new(1));
        active.on_end(FlowId::new(9));
        assert_eq!((active.count(), active.threshold(None)), (1, 8));
    }

    #[test]
    fn a_silent_flow_is_forgotten_after_the_timeout_and_not_before() {
        let mut active = with(Scope::Sum, &[Some(16), Some(32)]);
        active.on_packet(Time::from_ms(1), FlowId::new(1), Some(32));
        active.expire(Time::from_us(1999));
        assert_eq!(active.count(), 2);
        active.expire(Time::from_ms(2));
        assert_eq!((active.count(), active.threshold(None)), (1, 32));
        active.expire(Time::from_ms(3));
        assert_eq!((active.count(), active.threshold(None)), (0, 0));
    }

    #[test]
    fn a_queue_is_above_a_threshold_only_strictly() {
        assert!(!above(1, 16));
        assert!(above(2, 16));
        assert!(above(1, 15));
    }
}

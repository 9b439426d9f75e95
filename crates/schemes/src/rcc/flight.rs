//! Counts the segments that a receiving host has granted and not yet received.

/// The grants to one flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    /// One past the last granted byte that has been counted.
    edge: u64,
    /// Granted segments of the flow that have not arrived.
    outstanding: u64,
}

impl Grant {
    /// Nothing granted; data begins at `from`.
    pub(crate) fn new(from: u64) -> Self {
        Self { edge: from, outstanding: 0 }
    }
    /// Whether an acknowledgement up to `edge` grants more than has been counted.
    pub(crate) fn is_below(&self, edge: u64) -> bool {
        edge > self.edge
    }
}

/// A host's counter of granted segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    segments: u64,
    mss: u64,
    /// Count per flow. Otherwise as in the authors' code: fractions of segments are lost, and a flow's last byte
    /// subtracts everything up to the granted edge, even what arrived before.
    exact: bool,
}

impl Flight {
    /// Nothing in flight.
    pub(crate) fn new(mss: u64, exact: bool) -> Self {
        Self { segments: 0, mss, exact }
    }
    /// Number of segments in flight.
    pub(crate) fn segments(&self) -> u64 {
        self.segments
    }

    /// An acknowledgement that grants data up to `edge` is sent. A shrinking window revokes nothing.
    pub(crate) fn on_granted(&mut self, grant: &mut Grant, edge: u64) {
        let segments = edge.saturating_sub(grant.edge) / self.mss;
        self.segments += segments;
        if self.exact {
            grant.outstanding += segments;
            grant.edge += segments * self.mss;
        } else {
            grant.edge = grant.edge.max(edge);
        }
    }

    /// New data of a flow arrived: `payload` bytes at `seq`. With the `last` data, the part of the grant that the flow
    /// will not use is returned.
    pub(crate) fn on_arrived(&mut self, grant: &mut Grant, seq: u64, payload: u64, last: bool) {
        if !self.exact {
            let gone = if last { grant.edge.saturating_sub(seq) / self.mss } else { payload.div_ceil(self.mss) };
            self.segments = self.segments.saturating_sub(gone);
            return;
        }
        let gone = if last { grant.outstanding } else { payload.div_ceil(self.mss).min(grant.outstanding) };
        grant.outstanding -= gone;
        self.segments -= gone;
        // Data that was never granted, such as a window probe, does not count against a later grant.
        grant.edge = grant.edge.max(seq + payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn both(test: impl Fn(&mut Flight, &mut Grant)) -> [u64; 2] {
        [true, false].map(|exact| {
            let (mut flight, mut grant) = (Flight::new(MSS, exact), Grant::new(1));
            test(&mut flight, &mut grant);
            flight.segments()
        })
    }

    #[test]
    fn what_an_acknowledgement_adds_counts_once() {
        let counted = both(|flight, grant| {
            flight.on_granted(grant, 3001);
            flight.on_granted(grant, 3001);
            flight.on_granted(grant, 2001);
            flight.on_granted(grant, 4001);
        });
        assert_eq!(counted, [4, 4], "a window that shrinks takes nothing back");
    }

    #[test]
    fn arrivals_count_off_whole_segments() {
        let counted = both(|flight, grant| {
            flight.on_granted(grant, 5001);
            flight.on_arrived(grant, 1, 1000, false);
            flight.on_arrived(grant, 1001, 300, false);
        });
        assert_eq!(counted, [3, 3]);
    }

    #[test]
    fn the_last_arrival_gives_back_what_is_not_needed() {
        let counted = both(|flight, grant| {
            flight.on_granted(grant, 5001);
            flight.on_arrived(grant, 1, 1000, false);
            flight.on_arrived(grant, 1001, 500, true);
        });
        assert_eq!(counted, [0, 0]);
    }

    #[test]
    fn parts_of_segments_add_up_or_are_forgotten() {
        let counted = both(|flight, grant| {
            (0..4).for_each(|i| flight.on_granted(grant, 1501 + 1500 * i));
        });
        assert_eq!(counted, [6, 4]);
    }

    #[test]
    fn a_hole_filled_last_takes_off_its_own_flow_only_or_more() {
        let counted = both(|flight, grant| {
            let mut other = Grant::new(1);
            flight.on_granted(&mut other, 10_001);
            flight.on_granted(grant, 3001);
            flight.on_arrived(grant, 1001, 1000, false);
            flight.on_arrived(grant, 2001, 1000, false);
            flight.on_arrived(grant, 1, 1000, true);
        });
        assert_eq!(counted, [10, 8]);
    }

    #[test]
    fn the_counter_does_not_fall_below_zero() {
        let counted = both(|flight, grant| {
            flight.on_arrived(grant, 1, 1000, false);
            flight.on_granted(grant, 2001);
        });
        assert_eq!(counted, [1, 2], "what came without a grant is not granted afterwards");
    }
}

//! Estimates, before a run, how many transfers a pattern will start.

use crate::units::Time;

/// The transfers expected of a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// How its transfers follow each other.
    pub pace: Pace,
    /// Mean bytes of one; 0 for endless data.
    pub mean: f64,
    /// Hosts that its data goes to, at most.
    pub receivers: usize,
    /// When the first may begin.
    pub start: Time,
    /// When the last has begun; [`Time::NEVER`] for the end of the run.
    pub stop: Time,
}

/// How transfers follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// A fixed number of transfers.
    Listed(u64),
    /// Rounds: the next one starts when the one before is complete.
    Rounds {
        /// Transfers of a round.
        each: u64,
        /// Rounds in all.
        rounds: u64,
    },
    /// A constant number of concurrent transfers, until the total is reached.
    Closed {
        /// At once.
        concurrent: u64,
        /// Pause between one and its successor.
        gap: Time,
        /// In all.
        count: u64,
    },
    /// Open loop: arrivals do not depend on completions.
    Open {
        /// Transfers of an arrival.
        each: u64,
        /// Mean time between arrivals.
        interval: Time,
        /// Arrivals in all.
        count: u64,
    },
}

/// Limits set by the network and the run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Length of the run.
    pub duration: Time,
    /// Rate of a receiver's link in bit/s.
    pub rate: f64,
    /// Least time from the start of a transfer to its end, beside that of its bytes.
    pub least: Time,
    /// Least retransmission timeout.
    pub rto: Time,
    /// Groups that share the receivers' links.
    pub groups: usize,
}

/// How many transfers of a group there will be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// In all, at most.
    pub flows: f64,
    /// Under way together, at most.
    pub at_once: f64,
}

/// Share of its receivers' links up to which a network keeps up with arrivals.
const KEPT_UP: f64 = 0.8;
/// How much longer than alone a transfer takes in such a network.
const SLOWDOWN: f64 = 10.0;
/// Transfers that are over are let go when they have doubled, and are more than these.
const FEW: f64 = 64.0;

impl Outlook {
    /// As many as the pattern asks for, and where that is endless as many as the network can carry.
    pub fn forecast(&self, within: &Bounds) -> Forecast {
        let until = self.stop.min(within.duration);
        let seconds = until.saturating_sub(self.start).secs();
        let capacity = self.receivers as f64 * within.rate / 8.0;
        // Those that cannot be carried have begun all the same, one per sender at least.
        let carried = |least: f64| match self.mean {
            0.0 => f64::INFINITY,
            mean => least + capacity / within.groups as f64 * seconds / mean,
        };
        let alone = self.mean * 8.0 / within.rate + within.least.secs();
        let (flows, together) = match self.pace {
            Pace::Listed(flows) => (flows as f64, f64::INFINITY),
            Pace::Rounds { each, rounds } => {
                let each = each as f64;
                ((each * rounds as f64).min(carried(each.max(1.0))), each)
            }
            Pace::Closed { concurrent, gap, count } => {
                let (concurrent, turn) = (concurrent as f64, (alone + gap.secs()).max(1e-9));
                let asked = (count as f64).min(concurrent * (1.0 + seconds / turn));
                (asked.min(carried(concurrent)), concurrent)
            }
            Pace::Open { each, interval, count } => {
                let likely = seconds / interval.secs();
                // Chance adds some: as good as never more than five deviations.
                let most = likely + 5.0 * likely.sqrt() + 1.0;
                let flows = each as f64 * most.min(count as f64);
                let per_second = flows / within.duration.secs();
                let kept_up = per_second * self.mean < KEPT_UP * capacity;
                // One that has lost something waits for its timer.
                let together = per_second * (SLOWDOWN * alone + within.rto.secs());
                (flows, if kept_up { together } else { f64::INFINITY })
            }
        };
        Forecast { flows, at_once: flows.min(2.0 * together + FEW) }
    }
}

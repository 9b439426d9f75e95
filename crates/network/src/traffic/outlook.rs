//! Estimates before a run how many transfers a pattern will start.

use fanin_core::units::Time;

/// The expected transfers of a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// How its transfers follow one another.
    pub(crate) pace: Pace,
    /// Mean size in bytes; 0 for endless data.
    pub mean: f64,
    /// Maximum number of hosts that receive its data.
    pub(crate) receivers: usize,
    /// The earliest start of a transfer.
    pub(crate) start: Time,
    /// No transfer starts after this time; [`Time::NEVER`] for the end of the run.
    pub(crate) stop: Time,
}

/// How transfers follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// A fixed number of transfers.
    Listed(u64),
    /// Rounds: each starts when the previous one is complete.
    Rounds {
        /// Transfers per round.
        each: u64,
        /// Number of rounds.
        rounds: u64,
    },
    /// A constant number of concurrent transfers, until the total is reached.
    Closed {
        /// Number of concurrent transfers.
        concurrent: u64,
        /// Pause between a transfer and its successor.
        gap: Time,
        /// Total number of transfers.
        count: u64,
    },
    /// Open loop: arrivals do not depend on completions.
    Open {
        /// Transfers per arrival.
        each: u64,
        /// Mean time between arrivals.
        interval: Time,
        /// Total number of arrivals.
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
    /// Minimum duration of a transfer, without the transmission of its data.
    pub least: Time,
    /// Minimum retransmission timeout.
    pub rto: Time,
    /// Number of groups that share the receivers' links.
    pub groups: usize,
}

/// The expected number of transfers of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Maximum number in the whole run.
    pub flows: f64,
    /// Maximum number of concurrent transfers.
    pub at_once: f64,
}

/// Load of the receivers' links up to which a network is assumed to keep up with arrivals.
const KEPT_UP: f64 = 0.8;
/// Assumed slowdown of transfers at that load.
const SLOWDOWN: f64 = 10.0;
/// Finished transfers are removed once their number has doubled and exceeds this.
const FEW: f64 = 64.0;

impl Outlook {
    /// The pattern's own number of transfers, or if it is unlimited as many as the network can carry.
    pub fn forecast(&self, within: &Bounds) -> Forecast {
        let until = self.stop.min(within.duration);
        let seconds = until.saturating_sub(self.start).secs();
        let capacity = self.receivers as f64 * within.rate / 8.0;
        // Transfers that the network cannot carry start nevertheless, at least one per sender.
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
                // A Poisson number exceeds its mean by five standard deviations almost never.
                let most = likely + 5.0 * likely.sqrt() + 1.0;
                let flows = each as f64 * most.min(count as f64);
                let per_second = flows / within.duration.secs();
                let kept_up = per_second * self.mean < KEPT_UP * capacity;
                // A transfer with losses waits for its timer.
                let together = per_second * (SLOWDOWN * alone + within.rto.secs());
                (flows, if kept_up { together } else { f64::INFINITY })
            }
        };
        Forecast { flows, at_once: flows.min(2.0 * together + FEW) }
    }
}

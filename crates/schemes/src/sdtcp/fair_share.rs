//! The fair share of a flow at a congested port, and from it the window to which the port limits the flow (Eqs. 2 to 8).

use super::flows::Class;
use super::trigger::Level;

/// A port's congestion as known to the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Congestion {
    pub(super) level: Level,
    /// Queue of the last notification, in bytes.
    pub(super) queue: f64,
}

/// The capacity that the flows of a port share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// `C x RTT + Q`, Eq. 2, in bytes.
    pub(crate) total: f64,
    /// N, the number of flows.
    pub(crate) flows: usize,
    /// `a x MSS`: a segment for each background flow, in bytes.
    pub(crate) reserved: f64,
    /// b, the number of burst flows.
    pub(crate) bursts: usize,
}

impl Shares {
    /// The window of a flow, in bytes, if its class is limited at this level.
    ///
    /// READING: S11 it is not called for a class without flows.
    pub(crate) fn limit(&self, level: Level, class: Class, mss: f64, factors: [f64; 2]) -> Option<u32> {
        let fair = self.total / self.flows as f64; // Eq. 3
        let bytes = match (level, class) {
            (Level::Low, Class::Background) => factors[0] * fair, // Eqs. 4, 5
            (Level::Modest, Class::Background) => factors[1] * fair, // Eqs. 4, 6
            (Level::High, Class::Background) => mss,              // Eq. 7
            (Level::High, Class::Burst) => (self.total - self.reserved) / self.bursts as f64, // Eq. 8
            (Level::Low | Level::Modest, Class::Burst) | (Level::None, _) => return None,
        };
        Some(bytes.max(mss) as u32)
    }
}

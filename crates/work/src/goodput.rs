//! The goodput window, over which goodput is measured; queue statistics start with it.

use fanin_core::units::Time;

/// When the window opened, what had arrived by then, and the last completion.
#[derive(Debug, Default)]
pub struct GoodputWindow {
    /// The window opens at this time; if it is zero, when the first finite transfer starts.
    pub warmup: Time,
    /// When it opened.
    pub start: Option<Time>,
    /// Payload of finite transfers that had arrived by then.
    pub finite_before: u64,
    /// The last completion of a finite transfer.
    pub last_completion: Option<Time>,
}

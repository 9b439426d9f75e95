//! The timers of a flow, and the tokens of their callbacks.

use fanin_core::roles::{ReceiverAction, ReceiverCx};
use fanin_core::units::Time;

/// The receiver's retransmission timer. A token is the flow's index times [`TIMERS`] plus the timer.
pub(super) const ALARM: u64 = 0;
/// The end of a period with marks.
pub(super) const PERIOD: u64 = 1;
/// The delayed request for a retransmission.
pub(super) const ASK: u64 = 2;
/// Number of timers of a flow.
pub(super) const TIMERS: u64 = 3;

/// Schedules the callback of a flow's timer.
pub(super) fn call(cx: &mut ReceiverCx<'_>, slot: u32, timer: u64, at: Time) {
    cx.actions.push(ReceiverAction::Timer { at, token: u64::from(slot) * TIMERS + timer });
}

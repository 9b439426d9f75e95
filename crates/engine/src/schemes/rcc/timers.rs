//! The timers of a flow, and the tokens by which its host is called back for them.

use crate::roles::{ReceiverAction, ReceiverCx};
use crate::units::Time;

/// Which of a flow's timers, in the low bits of a token.
pub(super) const ALARM: u64 = 0;
/// See [`ALARM`].
pub(super) const PERIOD: u64 = 1;
/// See [`ALARM`].
pub(super) const ASK: u64 = 2;
/// How many there are.
pub(super) const TIMERS: u64 = 3;

/// Asks to be called back for a flow's timer.
pub(super) fn call(cx: &mut ReceiverCx<'_>, slot: u32, timer: u64, at: Time) {
    cx.actions.push(ReceiverAction::Timer { at, token: u64::from(slot) * TIMERS + timer });
}

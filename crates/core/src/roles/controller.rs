//! Controller: the messages that it receives from switches, and the orders that it may send.

use crate::ids::NodeId;
use crate::units::Time;

/// An action of the controller.
#[derive(Clone, Debug)]
pub enum ControllerAction {
    /// Send a message to a switch.
    Order {
        /// The switch.
        to: NodeId,
        /// The message.
        message: Vec<u8>,
    },
    /// Call back at `at` with `token`.
    Timer {
        /// When.
        at: Time,
        /// Passed back to the callback.
        token: u64,
    },
}

/// What the controller knows, and where it puts its actions.
#[derive(Debug)]
pub struct ControllerCx<'a> {
    /// The clock.
    pub now: Time,
    /// The actions, in order.
    pub actions: &'a mut Vec<ControllerAction>,
}

/// Controller: one instance per network, behind a channel with delay, jitter and loss, and a FIFO server.
pub trait Controller: Send {
    /// The run begins.
    fn on_start(&mut self, _cx: &mut ControllerCx<'_>) {}
    /// A message from switch `from` is processed.
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: NodeId, message: &[u8]);
    /// A timer set earlier expired.
    fn on_timer(&mut self, _cx: &mut ControllerCx<'_>, _token: u64) {}
}

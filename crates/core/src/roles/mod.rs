//! The six roles of an incast fix: the places in the network where a published system may act.
//!
//! A role is a small object-safe trait. Its methods take an input struct and a context, through which alone they act.
//! Contexts hold facts and a list of actions, never the network, so the same code can be driven by the simulator, by a
//! test, or by real packets and a real clock.
//!
//! | role | one instance per | may |
//! |---|---|---|
//! | [`CongestionControl`] | flow, at the sender | set window, pacing, ECT, priority and in-band field |
//! | [`WindowControl`] | receiving host | set advertised windows, hold and release ACKs, ask for retransmission, write into ACKs, send control packets |
//! | [`QueueDiscipline`] | egress port | order, mark, drop |
//! | [`SwitchAgent`] | switch | see and rewrite packets, send control packets, report to a controller, obey its orders |
//! | [`Controller`] | network | keep a global view, answer reports with orders |
//! | [`PathSelector`] | host | choose among equal-cost paths, per flow, flowcell or segment |

mod controller;
mod path;
mod queue;
mod receiver;
mod sender;
mod switch;

pub use controller::{Controller, ControllerAction, ControllerCx};
pub use path::{Ecmp, Flowlets, PathAck, PathCx, PathRequest, PathSelector, Routes, Spray};
pub use queue::{Admission, Backlog, DropReason, Markable, QueueCx, QueueDiscipline, Step};
pub use receiver::{
    AckDecision, AckKind, Announcement, Arrival, ControlPacket, Delivery, ReceiverAction, ReceiverCx, WindowControl,
};
pub use sender::{
    AckEvent, Asks, ByteCounting, CongestionControl, CongestionWindow, Cut, Cwr, Delay, EcnMode, HostDelay,
    PacketFacts, QuietAck, SenderCx, TransferFacts, half_flight,
};
pub use switch::{AddressBook, Pass, Passage, SwitchAction, SwitchAgent, SwitchCx, SwitchPort};

//! The inputs and outputs of a sender.

use super::config::SenderConfig;
use crate::sack::{AckOption, SackBlocks};
use fanin_core::packet::Flags;
use fanin_core::roles::PacketFacts;
use fanin_core::telemetry::Telemetry;
use fanin_core::units::Time;

/// A segment that leaves the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutSegment {
    /// First sequence number.
    pub seq: u64,
    /// Payload in bytes.
    pub len: u64,
    /// SYN, FIN, PSH, CWR, ECT and the retransmission mark.
    pub flags: Flags,
}

/// The services that a sender needs from its environment.
pub trait SenderIo {
    /// Every new deadline becomes a timer event, and those of earlier ones come too. The simple way, for the tests;
    /// otherwise there is one event for the earliest, which moves on when it comes.
    const EAGER_TIMERS: bool = false;
    /// Put a segment into the host's network interface at `now`; `facts` go into the packet.
    fn transmit(&mut self, segment: OutSegment, facts: &PacketFacts, now: Time);
    /// When a burst of so many bytes of payload in so many segments that is sent now will have left the host.
    fn leaves(&mut self, bytes: u64, segments: u64) -> Time;
    /// Call [`Sender::on_timer`](super::Sender::on_timer) at `at`.
    fn retransmission_timer(&mut self, at: Time);
    /// Call [`Sender::on_pace`](super::Sender::on_pace) at `at`.
    fn pacing_timer(&mut self, at: Time);
    /// Call [`Sender::on_wake`](super::Sender::on_wake) at `at`.
    fn wake_timer(&mut self, at: Time);
}

/// The environment of a sender, passed with each of its events.
pub struct Env<'a, I> {
    /// The time of the event.
    pub now: Time,
    /// The common configuration of its group.
    pub cfg: &'a SenderConfig,
    /// Its output.
    pub io: &'a mut I,
}

/// An acknowledgement as it comes from the wire, unwrapped and unscaled.
#[derive(Clone, Copy, Debug)]
pub struct InAck<'a> {
    /// Acknowledgement number.
    pub ack: u64,
    /// Advertised window in bytes.
    pub window: u64,
    /// SYN (of the SYN-ACK), ECE and PSH.
    pub flags: Flags,
    /// Round-trip time of the segment that caused it, unless that was a retransmission.
    pub rtt: Option<Time>,
    /// When the segment was sent whose time stamp it echoes (`TSecr` of RFC 7323), a retransmission too.
    pub echo: Option<Time>,
    /// SACK blocks, and how long the hosts kept it and the segment whose stamp it echoes, if it carries such.
    pub option: Option<&'a AckOption>,
    /// What switches wrote into the segment that caused it, if congestion control asks for that.
    pub telemetry: Option<&'a Telemetry>,
    /// Echoed in-band field.
    pub field: u64,
}

impl<'a> InAck<'a> {
    /// SACK blocks, if any; the first one may be a DSACK.
    #[inline(always)]
    pub fn sack(&self) -> Option<&'a SackBlocks> {
        self.option.map(|option| &option.blocks)
    }
}

/// The effect of an expired timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerOutcome {
    /// It had been moved or stopped; nothing happened.
    Idle,
    /// The SYN was retransmitted.
    SynTimeout,
    /// The handshake was aborted.
    Failed,
    /// A retransmission timeout.
    Timeout,
    /// The peer's window was closed; a probe was sent (RFC 9293 section 3.8.6.1).
    WindowProbe,
    /// No acknowledgement came for two round trips; a probe was sent (RFC 8985 section 7.3).
    LossProbe,
    /// Segments that may only have been reordered were checked again (`tcp_rack_reo_timeout` of Linux), or its timer had nothing to do.
    Reordering,
}

//! Sender: what congestion control knows of its flow, and what it may set.

use super::ControlPacket;
use crate::telemetry::Telemetry;
use crate::units::Time;

/// How the two ends of a flow use ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Not at all: packets are not ECN-capable, and marks are ignored.
    #[default]
    Off,
    /// RFC 3168 section 6.1: the receiver echoes ECE from the first mark until the sender confirms with CWR.
    Classic,
    /// RFC 8257 section 3.2: the receiver's two-state machine echoes which bytes were marked.
    Accurate,
}

/// The two variables of RFC 5681 section 2, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionWindow {
    /// Bytes that may be outstanding.
    pub cwnd: f64,
    /// Window at which slow start ends.
    pub ssthresh: f64,
}

impl CongestionWindow {
    /// Whether the congestion window is positive. One that `wraps` can also be zero within a recovery. NaN is neither.
    #[inline(always)]
    pub fn is_open(&self, wraps: bool) -> bool {
        self.cwnd > 0.0 || (wraps && self.cwnd == 0.0)
    }
}

/// Settings of each packet that the sender sends from now on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketFacts {
    /// In-band field for switches and the receiver.
    pub field: u64,
    /// Pacing interval after each packet; zero sends without pacing. See [`Asks::paces`].
    pub gap: Time,
    /// Largest payload of a segment in bytes, if it is to be smaller than the usual one; zero for the usual one.
    pub segment: u32,
    /// Send data as ECN-capable. Without effect on a flow whose [`CongestionControl::ecn`] is off.
    pub ect: bool,
    /// Priority, 0 the highest.
    pub priority: u8,
    /// Priority of retransmitted segments; none gives them the priority of other segments.
    pub resend_priority: Option<u8>,
}

impl PacketFacts {
    /// Payload of a full segment, given the usual one, `mss`.
    #[inline(always)]
    pub fn segment_of(&self, mss: u64) -> u64 {
        if self.segment == 0 { mss } else { mss.min(u64::from(self.segment)) }
    }
}

/// What a sender knows and may set.
#[derive(Debug)]
pub struct SenderCx<'a> {
    /// The clock.
    pub now: Time,
    /// Payload of a full segment in bytes.
    pub mss: f64,
    /// Bytes sent and not yet acknowledged, `nxt - una`.
    pub in_flight: u64,
    /// First unacknowledged sequence number.
    pub una: u64,
    /// Next sequence number to send.
    pub nxt: u64,
    /// One past the highest sequence number ever sent.
    pub max_sent: u64,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Time>,
    /// The window.
    pub window: &'a mut CongestionWindow,
    /// Settings of the next packets.
    pub packet: &'a mut PacketFacts,
    /// Set to be called back at this time.
    pub wake: &'a mut Time,
    /// What acknowledgements count for the growth of the window (`transport.byte-counting`).
    pub counting: ByteCounting,
}

/// Whether windows grow by the bytes that are acknowledged, and not with each acknowledgement (RFC 3465).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteCounting {
    /// By a segment at most with each acknowledgement (RFC 5681).
    #[default]
    Off,
    /// By all bytes in slow start, and with each acknowledgement after it.
    SlowStart,
    /// By all bytes.
    On,
}

/// An acknowledgement, as congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Bytes newly acknowledged; zero on a duplicate.
    pub acked: u64,
    /// ECN echo was set.
    pub ece: bool,
    /// The flow is in loss recovery: the window must not grow.
    pub in_recovery: bool,
    /// Linux's state Loss: what was sent before a timeout is not all acknowledged. There echoes reduce nothing, and do not
    /// keep the window from growing either (`tcp_may_raise_cwnd`).
    pub in_loss: bool,
    /// Linux's state CWR, in which the window is on its way to the threshold of an ECN echo; `in_recovery` is set too.
    pub cwr: Option<Cwr>,
    /// The window may grow: it limited the sender, not the peer's window or a lack of data. A window that is not used
    /// says nothing about the path (RFC 7661 section 4.3); this does not count if `transport.window-validation` is off.
    /// Never set before the end of a reduced window of data if `transport.growth-after-echo` is off.
    pub window_limited: bool,
    /// A window of data is acknowledged, so one round trip has passed: this acknowledgement covers a byte beyond all
    /// those sent when the last window ended or the connection opened (`DCTCP.WindowEnd` of RFC 8257 section 3.3).
    pub ends_window: bool,
    /// A round-trip time, if this acknowledgement gives an unambiguous one (RFC 6298 section 3).
    pub rtt: Option<Time>,
    /// In-band field that the receiver echoed.
    pub field: u64,
}

/// What became of the time from a segment's departure to its acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// All of it.
    pub rtt: Time,
    /// The part that the hosts took.
    pub hosts: HostDelay,
}

impl Delay {
    /// The part that the network took, the sending host's queue included.
    pub fn fabric(&self) -> Time {
        self.rtt.saturating_sub(self.hosts.total())
    }
}

/// How long the hosts kept a segment and its acknowledgement, by the time stamps of their interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostDelay {
    /// From the arrival of the segment at the remote interface until its acknowledgement left, which says so.
    pub remote: Time,
    /// From the arrival of the acknowledgement at the own interface until TCP saw it.
    pub local: Time,
}

impl HostDelay {
    /// Both.
    pub fn total(&self) -> Time {
        self.remote.saturating_add(self.local)
    }
}

/// What congestion control wants beyond what every sender reports. Who asks for nothing costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// [`CongestionControl::on_delay`].
    pub delays: bool,
    /// [`PacketFacts::gap`] holds for retransmissions too, and a shorter one at once; else only for new data, and from the
    /// next packet on.
    pub paces: bool,
    /// [`CongestionControl::on_quiet_ack`].
    pub quiet_acks: bool,
    /// [`CongestionControl::resends`]. It repairs losses itself: duplicates start no recovery, and a timeout neither goes back
    /// nor changes windows by itself. A window below a segment lets nothing through. Linux's stack does not have it.
    pub repairs: bool,
    /// It waits for its receiver while its window lets nothing through: there are no window probes.
    pub waits: bool,
    /// [`CongestionControl::on_telemetry`]. Only the scheme of the network can ask for it, whose switches write it.
    pub telemetry: bool,
}

impl Asks {
    /// Whether acknowledgements have to carry more than blocks.
    pub const fn needs_option(self) -> bool {
        self.delays || self.telemetry
    }
}

/// An acknowledgement that acknowledges nothing new and does not count as a duplicate: it updates the peer's window, or
/// arrives while nothing is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietAck {
    /// The peer's window in bytes.
    pub window: u64,
    /// ECN echo was set.
    pub ece: bool,
    /// In-band field that the receiver echoed.
    pub field: u64,
}

/// What a loss or a timeout does to the windows, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The new slow-start threshold.
    pub ssthresh: f64,
    /// The new window, which is congestion control's own until the repair is over: the sender neither inflates nor deflates
    /// it, nor lets it approach the threshold. None leaves it to the sender, which takes the threshold and what duplicates
    /// stand for at a loss, and a segment at a timeout (RFC 5681), or does what Linux does.
    pub cwnd: Option<f64>,
}

impl Cut {
    /// Only a threshold.
    pub const fn to(ssthresh: f64) -> Self {
        Self { ssthresh, cwnd: None }
    }
    /// A window, and the threshold there.
    pub const fn window(cwnd: f64) -> Self {
        Self { ssthresh: cwnd, cwnd: Some(cwnd) }
    }
}

/// How far Linux's reduction for an ECN echo has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cwr {
    /// This acknowledgement begins it: [`CongestionControl::on_ecn_echo`] follows, which sets its threshold.
    Begins,
    /// The window approaches the threshold.
    Continues,
}

/// A transfer that the application passes to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferFacts {
    /// Sequence number of its first byte.
    pub first: u64,
    /// Its size in bytes; none if it is endless.
    pub bytes: Option<u64>,
    /// When its data should have arrived, if it has a deadline.
    pub deadline: Option<Time>,
}

/// Sender side: one instance per flow.
pub trait CongestionControl: Send {
    /// Which ECN signalling both ends of the flow use.
    fn ecn(&self) -> EcnMode {
        EcnMode::Off
    }
    /// The application passes a transfer to the sender: the first of a connection before
    /// [`CongestionControl::on_start`], later ones on the open connection, one after another.
    fn on_transfer(&mut self, _transfer: &TransferFacts) {}
    /// Data of a later transfer on the open connection are about to leave.
    fn on_later_transfer(&mut self, _cx: &mut SenderCx<'_>) {}
    /// Only the peer's advertised window limits the sender; its own congestion window is maintained but not obeyed.
    /// Duplicate acknowledgements and the retransmission timer still cause retransmissions.
    fn obeys_peer(&self) -> bool {
        false
    }
    /// SYNs carry the sender's announcement of its transfer in their in-band field, where switches can read it too: see
    /// [`Announcement::field`](super::Announcement::field).
    fn announces(&self) -> bool {
        false
    }
    /// An acknowledgement with PSH is only a request to retransmit: it acknowledges nothing.
    fn push_is_only_a_request(&self) -> bool {
        false
    }
    /// What it asks for; always the same.
    fn asks(&self) -> Asks {
        Asks::default()
    }
    /// The connection is open and the window has its initial value.
    fn on_start(&mut self, _cx: &mut SenderCx<'_>) {}
    /// The in-band field of the SYN-ACK, after `on_start`; not called for a later transfer on an open connection.
    fn on_syn_ack(&mut self, _cx: &mut SenderCx<'_>, _field: u64) {}
    /// The delay of a segment that an acknowledgement is the first to report, with SACK blocks and of a retransmission too;
    /// `on_ack` follows. Reported to who [asks](Asks::delays).
    fn on_delay(&mut self, _cx: &mut SenderCx<'_>, _delay: &Delay) {}
    /// What the ports on the way of a segment wrote into it; `on_ack` for its acknowledgement follows. Reported to who
    /// [asks](Asks::telemetry).
    fn on_telemetry(&mut self, _cx: &mut SenderCx<'_>, _telemetry: &Telemetry) {}
    /// An acceptable acknowledgement arrived; `acked` is zero on a duplicate.
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent);
    /// An acceptable acknowledgement arrived of which `on_ack` does not hear. Reported to who [asks](Asks::quiet_acks).
    fn on_quiet_ack(&mut self, _cx: &mut SenderCx<'_>, _ack: &QuietAck) {}
    /// A packet of the scheme's own arrived, from the receiver ([`ReceiverAction::Control`](super::ReceiverAction::Control))
    /// or a switch ([`SwitchAction::Control`](super::SwitchAction::Control)), on an open connection. What the window then
    /// allows is sent.
    fn on_control(&mut self, _cx: &mut SenderCx<'_>, _packet: &ControlPacket) {}
    /// Data of the connection's other direction arrived while nothing was outstanding. Only Linux's stack reports it, and
    /// only to schemes with [`EcnMode::Accurate`].
    fn on_idle_data(&mut self, _cx: &mut SenderCx<'_>) {}
    /// An ECN echo arrived and the window was not yet reduced in this round trip (RFC 3168 section 6.1.2).
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        let halved = half_flight(cx);
        cx.window.ssthresh = halved;
        // The lower bound of the threshold must not enlarge a window of one segment.
        cx.window.cwnd = cx.window.cwnd.min(halved);
    }
    /// A loss was detected by duplicate acknowledgements.
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        Cut::to(half_flight(cx))
    }
    /// The retransmission timer expired, `_times` in a row: 1 for the first time. The threshold of a further time counts only
    /// with a window (RFC 5681 section 3.1).
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, _times: u32) -> Cut {
        Cut::to(half_flight(cx))
    }
    /// The first number of a segment that is to be sent again now, whatever the window. Asked after `on_control`, `on_wake` and
    /// `on_timeout`, until there is none, of who [repairs](Asks::repairs).
    fn resends(&mut self) -> Option<u64> {
        None
    }
    /// A loss in a round trip in which an echo has reduced the window reduces it again, as `dctcp_state` of Linux does.
    fn cuts_again_for_loss(&self) -> bool {
        false
    }
    /// The time set through [`SenderCx::wake`] has come.
    fn on_wake(&mut self, _cx: &mut SenderCx<'_>) {}
    /// Names and values of internal state, for probes.
    fn probes(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

/// RFC 5681 equation 4: half of the bytes in flight, at least two segments.
pub fn half_flight(cx: &SenderCx<'_>) -> f64 {
    (cx.in_flight as f64 / 2.0).max(2.0 * cx.mss)
}

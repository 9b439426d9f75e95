//! What a sender in Python sees: the context, acknowledgements, delays, transfers and its flow; and nodes. Comments on what
//! Python sees are its docstrings.
#![expect(clippy::doc_markdown, reason = "comments on what Python sees are its docstrings")]

use fanin_engine::roles::{
    self, ByteCounting, CongestionControl, CongestionWindow, Cwr, PacketFacts, TransferFacts, half_flight,
};
use fanin_engine::schemes::{FlowFacts, NewReno, NodeFacts};
use fanin_engine::units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Context;

/// What a sender knows and may set. Times are in seconds, sizes in bytes.
///
/// It is one object in all calls of a flow, with the values of the latest. What is set after a call has no effect.
#[pyclass(module = "fanin._engine")]
pub(crate) struct SenderCx {
    now: Time,
    mss: f64,
    in_flight: u64,
    una: u64,
    nxt: u64,
    max_sent: u64,
    srtt: Option<Time>,
    counting: ByteCounting,
    left: Left,
}

/// What a method has left in the context.
#[derive(Clone, Copy)]
pub(super) struct Left {
    pub(super) window: CongestionWindow,
    pub(super) packet: PacketFacts,
    pub(super) wake: Time,
    /// Whether the window was set, and the threshold.
    pub(super) has_window: bool,
    pub(super) has_threshold: bool,
}

impl Default for SenderCx {
    fn default() -> Self {
        let window = CongestionWindow { cwnd: 0.0, ssthresh: 0.0 };
        let (packet, wake) = (PacketFacts::default(), Time::NEVER);
        Self {
            now: Time::ZERO,
            mss: 0.0,
            in_flight: 0,
            una: 0,
            nxt: 0,
            max_sent: 0,
            srtt: None,
            counting: ByteCounting::Off,
            left: Left { window, packet, wake, has_window: false, has_threshold: false },
        }
    }
}

impl Context for SenderCx {
    type Of<'a> = roles::SenderCx<'a>;
    #[inline]
    fn enter(&mut self, cx: &roles::SenderCx<'_>) {
        *self = Self {
            now: cx.now,
            mss: cx.mss,
            in_flight: cx.in_flight,
            una: cx.una,
            nxt: cx.nxt,
            max_sent: cx.max_sent,
            srtt: cx.srtt,
            counting: cx.counting,
            left: Left {
                window: *cx.window,
                packet: *cx.packet,
                wake: *cx.wake,
                has_window: false,
                has_threshold: false,
            },
        };
    }
    #[inline]
    fn leave(&mut self, cx: &mut roles::SenderCx<'_>) {
        (*cx.packet, *cx.wake) = (self.left.packet, self.left.wake);
    }
}

impl SenderCx {
    pub(super) fn left(&self) -> Left {
        self.left
    }

    /// Lets a sender of the engine act on the same facts.
    fn with<R>(&mut self, act: impl FnOnce(&mut roles::SenderCx<'_>) -> R) -> R {
        act(&mut roles::SenderCx {
            now: self.now,
            mss: self.mss,
            in_flight: self.in_flight,
            una: self.una,
            nxt: self.nxt,
            max_sent: self.max_sent,
            srtt: self.srtt,
            window: &mut self.left.window,
            packet: &mut self.left.packet,
            wake: &mut self.left.wake,
            counting: self.counting,
        })
    }
}

/// A window that a sender may have.
fn window(bytes: f64) -> PyResult<f64> {
    if bytes > 0.0 && bytes.is_finite() {
        return Ok(bytes);
    }
    Err(PyValueError::new_err(format!("a window is a positive number of bytes, not {bytes}")))
}

/// A time in seconds, to the nearest picosecond.
fn time(seconds: f64) -> PyResult<Time> {
    if (0.0..=1e6).contains(&seconds) {
        return Ok(Time::from_ps((seconds * 1e12).round() as u64));
    }
    Err(PyValueError::new_err(format!("a time is a number of seconds from 0 to 1e6, not {seconds}")))
}

/// A time at which a method can be called again.
pub(super) fn later(at: f64, now: Time) -> PyResult<Time> {
    let asked = time(at)?;
    if asked >= now {
        return Ok(asked);
    }
    Err(PyValueError::new_err(format!("wake_at takes a time from now on, {} s, not {at}", now.secs())))
}

#[pymethods]
impl SenderCx {
    /// The simulated time, in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.now.secs()
    }
    /// Payload of a full segment, in bytes.
    #[getter]
    fn mss(&self) -> u64 {
        self.mss as u64
    }
    /// Bytes sent and not yet acknowledged, `nxt - una`.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.in_flight
    }
    /// First unacknowledged sequence number, in bytes.
    #[getter]
    fn una(&self) -> u64 {
        self.una
    }
    /// Next sequence number to send, in bytes.
    #[getter]
    fn nxt(&self) -> u64 {
        self.nxt
    }
    /// One past the highest sequence number ever sent, in bytes.
    #[getter]
    fn max_sent(&self) -> u64 {
        self.max_sent
    }
    /// Smoothed round-trip time in seconds; None before it is measured.
    #[getter]
    fn srtt(&self) -> Option<f64> {
        self.srtt.map(Time::secs)
    }
    /// Congestion window in bytes, with fractions. Set it. ValueError: it is not above zero.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.left.window.cwnd
    }
    #[setter]
    fn set_cwnd(&mut self, bytes: f64) -> PyResult<()> {
        (self.left.window.cwnd, self.left.has_window) = (window(bytes)?, true);
        Ok(())
    }
    /// Window at which slow start ends, in bytes. Set it. ValueError: it is not above zero.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.left.window.ssthresh
    }
    #[setter]
    fn set_ssthresh(&mut self, bytes: f64) -> PyResult<()> {
        (self.left.window.ssthresh, self.left.has_threshold) = (window(bytes)?, true);
        Ok(())
    }
    /// Half of the bytes in flight, at least two segments (RFC 5681, equation 4).
    #[getter]
    fn half_flight(&mut self) -> f64 {
        self.with(|cx| half_flight(cx))
    }
    /// Grows the window as NewReno does: not in recovery, on an echo, or if something else limits the sender.
    fn grow(&mut self, ack: &AckEvent) {
        self.with(|cx| NewReno.on_ack(cx, &ack.0));
    }
    /// Reduces the window and its threshold as NewReno does on an echo: to half of the bytes in flight.
    fn halve(&mut self) {
        self.with(|cx| NewReno.on_ecn_echo(cx));
    }
    /// Spaces packets from now on: so many seconds after each, or none with 0. ValueError: it is negative.
    fn pace(&mut self, gap: f64) -> PyResult<()> {
        self.left.packet.gap = time(gap)?;
        Ok(())
    }
    /// Has on_wake called at that time, in seconds as now has it; a new time replaces the last one. ValueError: it is past.
    fn wake_at(&mut self, at: f64) -> PyResult<()> {
        self.left.wake = later(at, self.now)?;
        Ok(())
    }
    /// In-band field of the next packets for switches and the receiver, a whole number of 64 bits. Set it.
    #[getter]
    fn field(&self) -> u64 {
        self.left.packet.field
    }
    #[setter]
    fn set_field(&mut self, field: u64) {
        self.left.packet.field = field;
    }
    /// Largest payload of the next segments in bytes; 0 for a full one. Set it.
    #[getter]
    fn segment(&self) -> u32 {
        self.left.packet.segment
    }
    #[setter]
    fn set_segment(&mut self, bytes: u32) {
        self.left.packet.segment = bytes;
    }
    /// Whether the next data is ECN-capable, if the scheme uses ECN. Set it.
    #[getter]
    fn ect(&self) -> bool {
        self.left.packet.ect
    }
    #[setter]
    fn set_ect(&mut self, ect: bool) {
        self.left.packet.ect = ect;
    }
    /// Priority of the next packets, 0 the highest. Set it.
    #[getter]
    fn priority(&self) -> u8 {
        self.left.packet.priority
    }
    #[setter]
    fn set_priority(&mut self, priority: u8) {
        self.left.packet.priority = priority;
    }
    /// Priority of retransmissions; None for that of other segments. Set it.
    #[getter]
    fn resend_priority(&self) -> Option<u8> {
        self.left.packet.resend_priority
    }
    #[setter]
    fn set_resend_priority(&mut self, priority: Option<u8>) {
        self.left.packet.resend_priority = priority;
    }
}

/// An acknowledgement. Each is an object of its own that can be kept.
#[pyclass(frozen, module = "fanin._engine")]
pub(crate) struct AckEvent(pub(super) roles::AckEvent);

#[pymethods]
impl AckEvent {
    /// Bytes newly acknowledged; 0 on a duplicate.
    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked
    }
    /// Whether it has an ECN echo.
    #[getter]
    fn ece(&self) -> bool {
        self.0.ece
    }
    /// Whether the flow is in loss recovery, in which the window must not grow.
    #[getter]
    fn in_recovery(&self) -> bool {
        self.0.in_recovery
    }
    /// Whether what was sent before a timeout is not all acknowledged (Linux's state Loss).
    #[getter]
    fn in_loss(&self) -> bool {
        self.0.in_loss
    }
    /// How far Linux's reduction for an echo is: "begins", "continues", or None.
    #[getter]
    fn cwr(&self) -> Option<&'static str> {
        self.0.cwr.map(|cwr| match cwr {
            Cwr::Begins => "begins",
            Cwr::Continues => "continues",
        })
    }
    /// Whether the congestion window limited the sender, so that it may grow.
    #[getter]
    fn window_limited(&self) -> bool {
        self.0.window_limited
    }
    /// Whether a window of data is acknowledged, so that one round trip has passed.
    #[getter]
    fn ends_window(&self) -> bool {
        self.0.ends_window
    }
    /// A round-trip time in seconds, if this acknowledgement gives one; else None.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.0.rtt.map(Time::secs)
    }
    /// The in-band field that the receiver echoed.
    #[getter]
    fn field(&self) -> u64 {
        self.0.field
    }
}

/// What became of the time from a segment's departure to its acknowledgement, in seconds.
#[pyclass(frozen, module = "fanin._engine")]
pub(crate) struct Delay(pub(super) roles::Delay);

#[pymethods]
impl Delay {
    /// All of it.
    #[getter]
    fn rtt(&self) -> f64 {
        self.0.rtt.secs()
    }
    /// The part that the network took, the queue of the sending host included.
    #[getter]
    fn fabric(&self) -> f64 {
        self.0.fabric().secs()
    }
    /// The part that the receiving host took.
    #[getter]
    fn remote(&self) -> f64 {
        self.0.hosts.remote.secs()
    }
    /// The part that the sending host took after the acknowledgement arrived.
    #[getter]
    fn local(&self) -> f64 {
        self.0.hosts.local.secs()
    }
}

/// A transfer that the application passes to its sender.
#[pyclass(frozen, get_all, module = "fanin._engine")]
pub(crate) struct Transfer {
    /// Sequence number of its first byte.
    first: u64,
    /// Its size in bytes; None if it is endless.
    bytes: Option<u64>,
    /// When its data should have arrived, in seconds; None without a deadline.
    deadline: Option<f64>,
}

impl Transfer {
    pub(super) fn of(facts: &TransferFacts) -> Self {
        Self { first: facts.first, bytes: facts.bytes, deadline: facts.deadline.map(Time::secs) }
    }
}

/// What is known of a flow when it begins.
#[pyclass(frozen, get_all, module = "fanin._engine")]
pub(crate) struct Flow {
    /// Its number, as in the table of flows.
    number: usize,
    /// Bytes that it will carry; None if that is unknown.
    bytes: Option<u64>,
    /// Payload of a full segment, in bytes.
    mss: u64,
    /// Rate of the sender's link, in bit/s.
    rate: u64,
    /// Switches on its way.
    hops: u32,
    /// Round-trip propagation delay of its path, in seconds.
    base_rtt: f64,
}

impl Flow {
    pub(super) fn of(facts: &FlowFacts) -> Self {
        Self {
            number: facts.flow.index(),
            bytes: facts.bytes,
            mss: facts.mss,
            rate: facts.rate.bps(),
            hops: facts.hops,
            base_rtt: facts.base_rtt.secs(),
        }
    }
}

/// What is known of a receiving host or a switch.
#[pyclass(frozen, get_all, module = "fanin._engine")]
pub(crate) struct Node {
    /// Its number. Hosts and switches are counted together.
    number: usize,
    /// Payload of a full segment, in bytes.
    mss: u64,
    /// Rate of its link, in bit/s; of a switch, that of the first one.
    rate: u64,
    /// Round-trip propagation delay between the farthest hosts, in seconds.
    base_rtt: f64,
}

impl Node {
    pub(super) fn of(facts: &NodeFacts) -> Self {
        Self { number: facts.node.index(), mss: facts.mss, rate: facts.rate.bps(), base_rtt: facts.base_rtt.secs() }
    }
}

//! The switch, whose agent is an object of Python.
#![expect(clippy::doc_markdown, reason = "comments on what Python sees are its docstrings")]

use fanin_engine::ids::{LinkId, NodeId};
use fanin_engine::packet::{Flags, Packet as Passing};
use fanin_engine::roles::{Pass, Passage as Passes, SwitchAction, SwitchAgent, SwitchCx as Cx, SwitchPort};
use fanin_engine::units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{Borrowed, intern};

use super::views::later;
use super::{Context, Object, Place};

fn place(cx: &Cx<'_>) -> Place {
    Place::at(cx.now).switch(cx.switch)
}

impl SwitchAgent for Object<SwitchCx> {
    fn on_start(&mut self, cx: &mut Cx<'_>, ports: &[SwitchPort]) {
        self.call(place(cx), cx, "on_start", |object, own| {
            let ports: Vec<_> = ports.iter().map(Port::of).collect();
            object.call_method1("on_start", (own, ports)).map(drop)
        });
    }
    fn on_packet(&mut self, cx: &mut Cx<'_>, packet: &mut Passing, passage: &Passes) -> Pass {
        let (here, to) = (cx.switch, passage.to);
        self.call(place(cx).flow(packet.flow), cx, "on_packet", |object, own| {
            let view = Bound::new(object.py(), Packet { packet: *packet, held: None })?;
            let given = (own, &view, Passage::of(passage));
            let answer = object.call_method1(intern!(object.py(), "on_packet"), given)?;
            let mut view = view.borrow_mut();
            let pass = pass(answer.as_borrowed())?;
            view.held = (pass == Pass::Keep).then_some((here, to));
            *packet = view.packet;
            Ok(pass)
        })
    }
    fn on_port(&mut self, cx: &mut Cx<'_>, to: LinkId, up: bool) {
        self.call(place(cx), cx, "on_port", |object, own| {
            object.call_method1("on_port", (own, to.index(), up)).map(drop)
        });
    }
    fn on_message(&mut self, cx: &mut Cx<'_>, message: &[u8]) {
        self.call(place(cx), cx, "on_message", |object, own| {
            object.call_method1("on_message", (own, PyBytes::new(object.py(), message))).map(drop)
        });
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, token: u64) {
        self.call(place(cx), cx, "on_timer", |object, own| object.call_method1("on_timer", (own, token)).map(drop));
    }
}

/// What `on_packet` says of a packet.
#[inline]
fn pass(answer: Borrowed<'_, '_, PyAny>) -> PyResult<Pass> {
    if answer.is_none() {
        return Ok(Pass::Forward);
    }
    match answer.extract::<&str>() {
        Ok("drop") => Ok(Pass::Drop),
        Ok("hold") => Ok(Pass::Keep),
        _ => Err(PyValueError::new_err(format!(r#"on_packet returns None, "drop" or "hold", not {}"#, answer.repr()?))),
    }
}

/// What the agent of a switch may do. It is one object in all calls of a switch.
#[pyclass(module = "fanin._engine")]
#[derive(Default)]
pub(crate) struct SwitchCx {
    now: Time,
    switch: NodeId,
    /// Whether there is a controller.
    pub(super) controlled: bool,
    actions: Vec<SwitchAction>,
}

impl Context for SwitchCx {
    type Of<'a> = Cx<'a>;
    #[inline]
    fn enter(&mut self, cx: &Cx<'_>) {
        (self.now, self.switch) = (cx.now, cx.switch);
    }
    #[inline]
    fn leave(&mut self, cx: &mut Cx<'_>) {
        cx.actions.append(&mut self.actions);
    }
}

impl SwitchCx {
    /// A held packet, which is held no longer, and the egress for which it was.
    fn take(&self, packet: &mut Packet) -> PyResult<(Passing, LinkId)> {
        let held = packet.held.take_if(|(switch, _)| *switch == self.switch);
        let gone = || PyValueError::new_err(format!("switch {} does not hold this packet", self.switch.index()));
        held.map(|(_, to)| (packet.packet, to)).ok_or_else(gone)
    }
}

#[pymethods]
impl SwitchCx {
    /// The simulated time, in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.now.secs()
    }
    /// Sends a message to the controller: bytes. ValueError: the scheme names no controller.
    fn report(&mut self, message: &[u8]) -> PyResult<()> {
        if !self.controlled {
            return Err(PyValueError::new_err("the scheme names no class as its controller, to whom switches report"));
        }
        self.actions.push(SwitchAction::Report(message.to_vec()));
        Ok(())
    }
    /// Sends a packet that on_packet has held to the port for which it came. ValueError: this switch does not hold it.
    fn inject(&mut self, packet: &mut Packet) -> PyResult<()> {
        let (packet, to) = self.take(packet)?;
        self.actions.push(SwitchAction::Inject { packet, to });
        Ok(())
    }
    /// Drops a packet that on_packet has held. ValueError: this switch does not hold it.
    fn discard(&mut self, packet: &mut Packet) -> PyResult<()> {
        let (packet, to) = self.take(packet)?;
        self.actions.push(SwitchAction::Discard { packet, to });
        Ok(())
    }
    /// Has on_timer called at that time, in seconds as now has it, with a whole number. ValueError: it is past.
    #[pyo3(signature = (at, token=0))]
    fn wake_at(&mut self, at: f64, token: u64) -> PyResult<()> {
        self.actions.push(SwitchAction::Timer { at: later(at, self.now)?, token });
        Ok(())
    }
}

/// A packet that passes a switch. What is set after on_packet counts only for a packet that it holds, and is in no total.
#[pyclass(module = "fanin._engine")]
pub(crate) struct Packet {
    packet: Passing,
    /// The switch that holds it, and the egress for which.
    held: Option<(NodeId, LinkId)>,
}

#[pymethods]
impl Packet {
    /// Number of its flow, as in the table of flows.
    #[getter]
    fn flow(&self) -> usize {
        self.packet.flow.index()
    }
    /// Sequence number of its first byte, or its acknowledgement number, as on the wire: modulo 2^32.
    #[getter]
    fn seq(&self) -> u32 {
        self.packet.seq
    }
    /// Bytes on the wire, headers included.
    #[getter]
    fn size(&self) -> u16 {
        self.packet.size
    }
    /// Whether it travels from the receiver of the data: an acknowledgement, a SYN-ACK or a control packet.
    #[getter]
    fn is_ack(&self) -> bool {
        self.packet.is_ack()
    }
    /// Whether it is a control packet of a scheme. For such a packet is_ack holds too.
    #[getter]
    fn is_control(&self) -> bool {
        self.packet.is_control()
    }
    /// Whether it opens a connection: a SYN or a SYN-ACK.
    #[getter]
    fn syn(&self) -> bool {
        self.packet.flags.has(Flags::SYN)
    }
    /// Whether it ends a flow.
    #[getter]
    fn fin(&self) -> bool {
        self.packet.flags.has(Flags::FIN)
    }
    /// Whether its flag ECE is set: an ECN echo, or in a handshake the wish for ECN.
    #[getter]
    fn ece(&self) -> bool {
        self.packet.flags.has(Flags::ECE)
    }
    /// Whether it is ECN-capable.
    #[getter]
    fn ect(&self) -> bool {
        self.packet.flags.has(Flags::ECT)
    }
    /// Whether it is marked (congestion experienced). Set it.
    #[getter]
    fn ce(&self) -> bool {
        self.packet.flags.has(Flags::CE)
    }
    #[setter]
    fn set_ce(&mut self, ce: bool) {
        self.packet.flags = self.packet.flags.without(Flags::CE).with_if(Flags::CE, ce);
    }
    /// The window field of 16 bits: bytes in a SYN-ACK, else bytes shifted right by the receiver's window_scale. Set it.
    /// ValueError: it is negative or above 65535.
    #[getter]
    fn window(&self) -> u16 {
        self.packet.window
    }
    #[setter]
    fn set_window(&mut self, window: i64) -> PyResult<()> {
        let wrong = |_| PyValueError::new_err(format!("a window field is a number from 0 to 65535, not {window}"));
        self.packet.window = u16::try_from(window).map_err(wrong)?;
        Ok(())
    }
    /// The window scale that a SYN or SYN-ACK announces; 0 elsewhere.
    #[getter]
    fn window_scale(&self) -> u8 {
        self.packet.flags.window_scale()
    }
    /// Priority, 0 the highest. Set it.
    #[getter]
    fn priority(&self) -> u8 {
        self.packet.priority
    }
    #[setter]
    fn set_priority(&mut self, priority: u8) {
        self.packet.priority = priority;
    }
    /// In-band field, a whole number of 64 bits. Set it.
    #[getter]
    fn field(&self) -> u64 {
        self.packet.field
    }
    #[setter]
    fn set_field(&mut self, field: u64) {
        self.packet.field = field;
    }
}

/// The way of a packet through a switch, and the port that it is about to enter. Links are numbers.
#[pyclass(frozen, get_all, module = "fanin._engine")]
pub(crate) struct Passage {
    /// The link on which it came.
    from_link: usize,
    /// The link on which it is about to leave.
    to_link: usize,
    /// Packets in the port, the one in transmission included.
    packets: u32,
    /// Bytes in the port.
    bytes: u64,
    /// Bytes that the port may hold: its own buffer, or all of the shared memory.
    buffer: u64,
    /// Rate of the port, in bit/s.
    rate: u64,
}

impl Passage {
    fn of(passage: &Passes) -> Self {
        let Passes { from, to, backlog, buffer, rate } = *passage;
        Self {
            from_link: from.index(),
            to_link: to.index(),
            packets: backlog.packets,
            bytes: backlog.bytes,
            buffer,
            rate: rate.bps(),
        }
    }
}

/// A port of a switch: both directions of a cable. Links and nodes are numbers.
#[pyclass(frozen, get_all, module = "fanin._engine")]
pub(crate) struct Port {
    /// The link on which packets come in.
    from_link: usize,
    /// The link on which they leave.
    to_link: usize,
    /// Rate of to_link, in bit/s.
    rate: u64,
    /// Whether a host is at the other end.
    host: bool,
    /// The node at the other end.
    peer: usize,
}

impl Port {
    fn of(port: &SwitchPort) -> Self {
        let SwitchPort { from, to, rate, host, peer } = *port;
        Self { from_link: from.index(), to_link: to.index(), rate: rate.bps(), host, peer: peer.index() }
    }
}

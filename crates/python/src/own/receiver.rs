//! The receiving host, whose control of windows and acknowledgements is an object of Python.
#![expect(clippy::doc_markdown, reason = "comments on what Python sees are its docstrings")]

use std::collections::BTreeSet;

use fanin_engine::ids::FlowId;
use fanin_engine::roles::{
    AckDecision, AckKind, Announcement, Arrival as Arrived, ReceiverAction, ReceiverCx as Cx, WindowControl,
};
use fanin_engine::units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::views::later;
use super::{Context, Object, Place};

impl WindowControl for Object<ReceiverCx> {
    fn on_open(&mut self, cx: &mut Cx<'_>, flow: FlowId, announced: &Announcement) {
        self.call(Place::at(cx.now).flow(flow), cx, "on_open", |object, own| {
            own.borrow_mut().flows.insert(flow);
            let given = (own, flow.index(), announced.bytes, announced.deadline.map(Time::secs));
            object.call_method1("on_open", given).map(drop)
        });
    }
    fn on_data(&mut self, cx: &mut Cx<'_>, flow: FlowId, arrival: &Arrived) {
        self.call(Place::at(cx.now).flow(flow), cx, "on_data", |object, own| {
            object.call_method1("on_data", (own, flow.index(), Arrival::of(arrival))).map(drop)
        });
    }
    fn on_ack(&mut self, cx: &mut Cx<'_>, flow: FlowId, kind: AckKind) -> AckDecision {
        let kind = match kind {
            AckKind::SynAck => "syn-ack",
            AckKind::Data => "data",
            AckKind::Duplicate => "duplicate",
        };
        let holds = self.call(Place::at(cx.now).flow(flow), cx, "on_ack", |object, own| {
            object.call_method1("on_ack", (own, flow.index(), kind))?.is_truthy()
        });
        if holds { AckDecision::Hold } else { AckDecision::Send }
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, token: u64) {
        self.call(Place::at(cx.now), cx, "on_timer", |object, own| {
            object.call_method1("on_timer", (own, token)).map(drop)
        });
    }
}

/// What a receiving host knows and may do. It is one object in all calls of a host.
#[pyclass(module = "fanin._engine")]
#[derive(Default)]
pub(crate) struct ReceiverCx {
    now: Time,
    most: u64,
    /// The flows that have opened here.
    flows: BTreeSet<FlowId>,
    actions: Vec<ReceiverAction>,
}

impl Context for ReceiverCx {
    type Of<'a> = Cx<'a>;
    fn enter(&mut self, cx: &Cx<'_>) {
        (self.now, self.most) = (cx.now, cx.most);
    }
    fn leave(&mut self, cx: &mut Cx<'_>) {
        cx.actions.append(&mut self.actions);
    }
}

impl ReceiverCx {
    fn flow(&self, number: usize) -> PyResult<FlowId> {
        let flow = FlowId::new(number);
        if self.flows.contains(&flow) {
            return Ok(flow);
        }
        Err(PyValueError::new_err(format!("no flow {number} has opened at this host")))
    }
}

#[pymethods]
impl ReceiverCx {
    /// The simulated time, in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.now.secs()
    }
    /// The largest window that an acknowledgement can carry, in bytes.
    #[getter]
    fn most(&self) -> u64 {
        self.most
    }
    /// Advertises at most so many bytes to the sender of a flow from now on. ValueError: it has not opened here.
    fn set_window(&mut self, flow: usize, bytes: u64) -> PyResult<()> {
        let flow = self.flow(flow)?;
        self.actions.push(ReceiverAction::Window { flow, bytes });
        Ok(())
    }
    /// Sends the held acknowledgement of a flow, or a new one. ValueError: it has not opened here.
    fn release(&mut self, flow: usize) -> PyResult<()> {
        let flow = self.flow(flow)?;
        self.actions.push(ReceiverAction::Release { flow, push: false });
        Ok(())
    }
    /// Writes a number into the acknowledgements of a flow, in place of the last segment's in-band field, until the next segment
    /// arrives. AckEvent.field has it at the sender. Their priority holds from now on, 0 the highest. ValueError: it has not
    /// opened here.
    #[pyo3(signature = (flow, field, priority=0))]
    fn write_acks(&mut self, flow: usize, field: u64, priority: u8) -> PyResult<()> {
        let flow = self.flow(flow)?;
        self.actions.push(ReceiverAction::Acks { flow, field, priority });
        Ok(())
    }
    /// Has on_timer called at that time, in seconds as now has it, with a whole number. ValueError: it is past.
    #[pyo3(signature = (at, token=0))]
    fn wake_at(&mut self, at: f64, token: u64) -> PyResult<()> {
        self.actions.push(ReceiverAction::Timer { at: later(at, self.now)?, token });
        Ok(())
    }
}

/// A data segment that a receiving host accepted. Sizes and sequence numbers are in bytes.
#[pyclass(frozen, get_all, module = "fanin._engine")]
pub(crate) struct Arrival {
    /// First sequence number.
    seq: u64,
    /// Payload.
    payload: u64,
    /// Whether it is marked (congestion experienced).
    ce: bool,
    /// Whether it ends the flow.
    fin: bool,
    /// In-band field as it arrived.
    field: u64,
    /// Next sequence number expected, after this segment.
    next: u64,
    /// Payload that is now in order: of this segment, and of earlier ones behind the hole that it filled.
    new_in_order: u64,
    /// Payload of this segment that had not arrived before.
    new_data: u64,
    /// Whether it began beyond the next number expected.
    out_of_order: bool,
}

impl Arrival {
    fn of(arrival: &Arrived) -> Self {
        let Arrived { seq, payload, ce, fin, field, ref delivery, next } = *arrival;
        Self {
            seq,
            payload,
            ce,
            fin,
            field,
            next,
            new_in_order: delivery.new_in_order,
            new_data: delivery.new_data,
            out_of_order: delivery.out_of_order,
        }
    }
}

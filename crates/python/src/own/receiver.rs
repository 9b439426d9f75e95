//! The receiving host, whose control of windows and acknowledgements is an object of Python.
#![expect(clippy::doc_markdown, reason = "comments on what Python sees are its docstrings")]

use std::collections::BTreeSet;
use std::sync::Arc;

use fanin_engine::ids::FlowId;
use fanin_engine::roles::{
    AckDecision, AckKind, Announcement, Arrival as Arrived, ReceiverAction, ReceiverCx as Cx, WindowControl,
};
use fanin_engine::schemes::NodeFacts;
use fanin_engine::units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::views::later;
use super::{Object, Role, Run, raise};

pub(super) struct Receiver {
    object: Object,
    cx: Py<ReceiverCx>,
}

impl Receiver {
    pub(super) fn new(py: Python<'_>, run: &Arc<Run>, role: &Role, host: &NodeFacts) -> PyResult<Self> {
        let facts =
            Host { number: host.node.index(), mss: host.mss, rate: host.rate.bps(), base_rtt: host.base_rtt.secs() };
        let object = Object::new(py, (run, role), host.mss, ("host", facts))?;
        Ok(Self { object, cx: Py::new(py, ReceiverCx::default())? })
    }

    /// Calls a method with the context and what follows it, takes over its actions, and returns whether it returned a truth.
    fn call(
        &self,
        cx: &mut Cx<'_>,
        method: &'static str,
        flow: Option<FlowId>,
        rest: impl FnOnce(Python<'_>) -> PyResult<Vec<Py<PyAny>>>,
    ) -> bool {
        let answer = Python::attach(|py| {
            let own = self.cx.bind(py);
            own.borrow_mut().enter(cx, flow.filter(|_| method == "on_open"));
            let mut given = vec![self.cx.clone_ref(py).into_any()];
            if let Some(flow) = flow {
                given.push(flow.index().into_pyobject(py)?.into_any().unbind());
            }
            given.extend(rest(py)?);
            let answer = self.object.get(py)?.call_method1(method, PyTuple::new(py, given)?)?.is_truthy()?;
            cx.actions.append(&mut own.borrow_mut().actions);
            PyResult::Ok(answer)
        });
        answer.unwrap_or_else(|error| {
            let name = self.object.run.class.receiver.as_ref().map_or("", |role| &role.name);
            raise(error, format!("{name}.{method}"), Some((flow, cx.now)))
        })
    }
}

impl WindowControl for Receiver {
    fn on_open(&mut self, cx: &mut Cx<'_>, flow: FlowId, announced: &Announcement) {
        let (bytes, deadline) = (announced.bytes, announced.deadline.map(Time::secs));
        self.call(cx, "on_open", Some(flow), |py| {
            Ok(vec![bytes.into_pyobject(py)?.unbind(), deadline.into_pyobject(py)?.unbind()])
        });
    }
    fn on_data(&mut self, cx: &mut Cx<'_>, flow: FlowId, arrival: &Arrived) {
        self.call(cx, "on_data", Some(flow), |py| Ok(vec![Py::new(py, Arrival::of(arrival))?.into_any()]));
    }
    fn on_ack(&mut self, cx: &mut Cx<'_>, flow: FlowId, kind: AckKind) -> AckDecision {
        let kind = match kind {
            AckKind::SynAck => "syn-ack",
            AckKind::Data => "data",
            AckKind::Duplicate => "duplicate",
        };
        let holds = self.call(cx, "on_ack", Some(flow), |py| Ok(vec![kind.into_pyobject(py)?.into_any().unbind()]));
        if holds { AckDecision::Hold } else { AckDecision::Send }
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, token: u64) {
        self.call(cx, "on_timer", None, |py| Ok(vec![token.into_pyobject(py)?.into_any().unbind()]));
    }
}

/// What is known of a receiving host.
#[pyclass(frozen, get_all, module = "fanin._engine")]
pub(crate) struct Host {
    /// Its number, as in the table of links.
    number: usize,
    /// Payload of a full segment, in bytes.
    mss: u64,
    /// Rate of its link, in bit/s.
    rate: u64,
    /// Round-trip propagation delay between the farthest hosts, in seconds.
    base_rtt: f64,
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

impl ReceiverCx {
    /// Takes over the facts of a call, which may open a flow.
    fn enter(&mut self, cx: &Cx<'_>, opened: Option<FlowId>) {
        (self.now, self.most) = (cx.now, cx.most);
        self.flows.extend(opened);
    }

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

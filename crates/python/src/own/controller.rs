//! The controller of the network, an object of Python.
#![expect(clippy::doc_markdown, reason = "comments on what Python sees are its docstrings")]

use std::collections::BTreeSet;

use fanin_engine::ids::NodeId;
use fanin_engine::roles::{Controller, ControllerAction, ControllerCx as Cx};
use fanin_engine::units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::views::later;
use super::{Context, Object, Place};

impl Controller for Object<ControllerCx> {
    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.call(Place::at(cx.now), cx, "on_start", |object, own| object.call_method1("on_start", (own,)).map(drop));
    }
    fn on_message(&mut self, cx: &mut Cx<'_>, from: NodeId, message: &[u8]) {
        self.call(Place::at(cx.now).switch(from), cx, "on_message", |object, own| {
            own.borrow_mut().heard.insert(from);
            let given = (own, from.index(), PyBytes::new(object.py(), message));
            object.call_method1("on_message", given).map(drop)
        });
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, token: u64) {
        self.call(Place::at(cx.now), cx, "on_timer", |object, own| {
            object.call_method1("on_timer", (own, token)).map(drop)
        });
    }
}

/// What the controller may do. It is one object in all calls of a run.
#[pyclass(module = "fanin._engine")]
#[derive(Default)]
pub(crate) struct ControllerCx {
    now: Time,
    /// The switches that have sent a message.
    heard: BTreeSet<NodeId>,
    actions: Vec<ControllerAction>,
}

impl Context for ControllerCx {
    type Of<'a> = Cx<'a>;
    fn enter(&mut self, cx: &Cx<'_>) {
        self.now = cx.now;
    }
    fn leave(&mut self, cx: &mut Cx<'_>) {
        cx.actions.append(&mut self.actions);
    }
}

#[pymethods]
impl ControllerCx {
    /// The simulated time, in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.now.secs()
    }
    /// Sends a message, bytes, to a switch. ValueError: it has not sent one.
    fn order(&mut self, switch: usize, message: &[u8]) -> PyResult<()> {
        let to = NodeId::new(switch);
        if !self.heard.contains(&to) {
            return Err(PyValueError::new_err(format!("no switch {switch} has sent a message")));
        }
        self.actions.push(ControllerAction::Order { to, message: message.to_vec() });
        Ok(())
    }
    /// Has on_timer called at that time, in seconds as now has it, with a whole number. ValueError: it is past.
    #[pyo3(signature = (at, token=0))]
    fn wake_at(&mut self, at: f64, token: u64) -> PyResult<()> {
        self.actions.push(ControllerAction::Timer { at: later(at, self.now)?, token });
        Ok(())
    }
}

//! The sender of one flow, whose congestion control is an object of Python.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use fanin_engine::ids::FlowId;
use fanin_engine::roles::{
    AckEvent, Asks, CongestionControl, CongestionWindow, Cut, Delay, EcnMode, SenderCx, TransferFacts,
};
use fanin_engine::schemes::{FlowFacts, NewReno};
use fanin_engine::units::Time;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Class, made, raise, views};

pub(super) struct Sender {
    class: Arc<Class>,
    flow: FlowId,
    object: Py<PyAny>,
    /// Its method, if it is not NewReno's.
    on_ack: Option<Py<PyAny>>,
    /// The context of every call, which has the facts of the latest one.
    cx: Py<views::SenderCx>,
}

impl Sender {
    /// Makes the object, with its parameters as attributes before its `__init__` is called.
    pub(super) fn new(
        py: Python<'_>,
        class: Arc<Class>,
        flow: &FlowFacts,
        attributes: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let object = made(class.sender.class.bind(py), attributes, "flow", views::Flow::of(flow))?;
        let on_ack = class.has("on_ack").then(|| object.getattr(intern!(py, "on_ack"))).transpose()?.map(Bound::unbind);
        let cx = Py::new(py, views::SenderCx::default())?;
        Ok(Self { flow: flow.flow, object: object.unbind(), on_ack, cx, class })
    }

    fn raise(&self, error: PyErr, method: &str, now: Time) -> ! {
        raise(error, format!("{}.{method}", self.class.sender.name), Some((Some(self.flow), now)))
    }

    /// Calls a method with the context, and sets what it has set there but the window, which is returned.
    #[inline]
    fn call(
        &self,
        cx: &mut SenderCx<'_>,
        method: &'static str,
        call: impl FnOnce(Python<'_>, &Bound<'_, views::SenderCx>) -> PyResult<Py<PyAny>>,
    ) -> views::Left {
        let left = Python::attach(|py| {
            let own = self.cx.bind(py);
            own.borrow_mut().enter(cx);
            call(py, own)?;
            PyResult::Ok(own.borrow().left())
        });
        let left = left.unwrap_or_else(|error| self.raise(error, method, cx.now));
        (*cx.packet, *cx.wake) = (left.packet, left.wake);
        left
    }

    /// The same for a method without further arguments.
    fn tell(&self, cx: &mut SenderCx<'_>, method: &'static str) -> views::Left {
        self.call(cx, method, |py, own| self.object.call_method1(py, method, (own,)))
    }
}

/// What is set in `on_loss` and `on_timeout`. A threshold that is not set is the window.
fn cut(left: &views::Left) -> Cut {
    let CongestionWindow { cwnd, ssthresh } = left.window;
    Cut { ssthresh: if left.has_threshold { ssthresh } else { cwnd }, cwnd: left.has_window.then_some(cwnd) }
}

impl CongestionControl for Sender {
    fn ecn(&self) -> EcnMode {
        self.class.ecn
    }
    fn asks(&self) -> Asks {
        Asks { paces: true, delays: self.class.has("on_delay"), ..Asks::default() }
    }
    fn on_transfer(&mut self, transfer: &TransferFacts) {
        if self.class.has("on_transfer") {
            let told = Python::attach(|py| {
                self.object.call_method1(py, intern!(py, "on_transfer"), (views::Transfer::of(transfer),))
            });
            told.map_or_else(|error| self.raise(error, "on_transfer", Time::ZERO), drop);
        }
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        *cx.window = self.tell(cx, "on_start").window;
    }
    fn on_delay(&mut self, cx: &mut SenderCx<'_>, delay: &Delay) {
        let call = |py: Python<'_>, own: &Bound<'_, views::SenderCx>| {
            self.object.call_method1(py, intern!(py, "on_delay"), (own, views::Delay(*delay)))
        };
        *cx.window = self.call(cx, "on_delay", call).window;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        let Some(on_ack) = &self.on_ack else { return NewReno.on_ack(cx, ack) };
        let call = |py: Python<'_>, own: &Bound<'_, views::SenderCx>| on_ack.call1(py, (own, views::AckEvent(*ack)));
        *cx.window = self.call(cx, "on_ack", call).window;
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        *cx.window = self.tell(cx, "on_ecn_echo").window;
    }
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        cut(&self.tell(cx, "on_loss"))
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, times: u32) -> Cut {
        let call = |py: Python<'_>, own: &Bound<'_, views::SenderCx>| {
            self.object.call_method1(py, intern!(py, "on_timeout"), (own, times))
        };
        cut(&self.call(cx, "on_timeout", call))
    }
    fn on_wake(&mut self, cx: &mut SenderCx<'_>) {
        *cx.window = self.tell(cx, "on_wake").window;
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if !self.class.has("probes") {
            return;
        }
        let told: PyResult<Vec<(String, f64)>> = Python::attach(|py| {
            let told = self.object.bind(py).call_method0(intern!(py, "probes"))?;
            told.call_method0(intern!(py, "items"))?.try_iter()?.map(|each| each?.extract()).collect()
        });
        let told = told.unwrap_or_else(|error| self.raise(error, "probes", Time::ZERO));
        for (name, value) in told {
            show(kept(name), value);
        }
    }
}

/// The name of a probe for as long as the program; each is kept once.
fn kept(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let new: &'static str = name.leak();
    names.insert(new);
    new
}

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

use super::{Class, Object, Run, raise, views};

pub(super) struct Sender {
    flow: FlowId,
    object: Object,
    /// Its method, if it is not NewReno's.
    on_ack: Option<Py<PyAny>>,
    /// The context of every call, which has the facts of the latest one.
    cx: Py<views::SenderCx>,
}

impl Sender {
    pub(super) fn new(py: Python<'_>, run: &Arc<Run>, flow: &FlowFacts) -> PyResult<Self> {
        let class = &run.class;
        let object = Object::new(py, (run, &class.sender), flow.mss, ("flow", views::Flow::of(flow)))?;
        let on_ack = || object.get(py)?.getattr(intern!(py, "on_ack"));
        let on_ack = class.has("on_ack").then(on_ack).transpose()?.map(Bound::unbind);
        Ok(Self { flow: flow.flow, on_ack, object, cx: Py::new(py, views::SenderCx::default())? })
    }

    fn class(&self) -> &Class {
        &self.object.run.class
    }

    fn raise(&self, error: PyErr, method: &str, now: Time) -> ! {
        raise(error, format!("{}.{method}", self.class().sender.name), Some((Some(self.flow), now)))
    }

    /// Calls a method with the context, and sets what it has set there but the window, which is returned.
    #[inline]
    fn call(
        &self,
        cx: &mut SenderCx<'_>,
        method: &'static str,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, views::SenderCx>) -> PyResult<()>,
    ) -> views::Left {
        let left = Python::attach(|py| {
            let own = self.cx.bind(py);
            own.borrow_mut().enter(cx);
            call(self.object.get(py)?, own)?;
            PyResult::Ok(own.borrow().left())
        });
        let left = left.unwrap_or_else(|error| self.raise(error, method, cx.now));
        (*cx.packet, *cx.wake) = (left.packet, left.wake);
        left
    }

    /// The same for a method without further arguments.
    fn tell(&self, cx: &mut SenderCx<'_>, method: &'static str) -> views::Left {
        self.call(cx, method, |object, own| object.call_method1(method, (own,)).map(drop))
    }
}

/// What is set in `on_loss` and `on_timeout`. A threshold that is not set is the window.
fn cut(left: &views::Left) -> Cut {
    let CongestionWindow { cwnd, ssthresh } = left.window;
    Cut { ssthresh: if left.has_threshold { ssthresh } else { cwnd }, cwnd: left.has_window.then_some(cwnd) }
}

impl CongestionControl for Sender {
    fn ecn(&self) -> EcnMode {
        self.class().ecn
    }
    fn asks(&self) -> Asks {
        Asks { paces: true, delays: self.class().has("on_delay"), ..Asks::default() }
    }
    fn on_transfer(&mut self, transfer: &TransferFacts) {
        if self.class().has("on_transfer") {
            let told = Python::attach(|py| {
                let object = self.object.get(py)?;
                object.call_method1(intern!(py, "on_transfer"), (views::Transfer::of(transfer),)).map(drop)
            });
            told.unwrap_or_else(|error| self.raise(error, "on_transfer", Time::ZERO));
        }
    }
    fn on_start(&mut self, cx: &mut SenderCx<'_>) {
        *cx.window = self.tell(cx, "on_start").window;
    }
    fn on_delay(&mut self, cx: &mut SenderCx<'_>, delay: &Delay) {
        let call = |object: &Bound<'_, PyAny>, own: &Bound<'_, views::SenderCx>| {
            object.call_method1(intern!(object.py(), "on_delay"), (own, views::Delay(*delay))).map(drop)
        };
        *cx.window = self.call(cx, "on_delay", call).window;
    }
    fn on_ack(&mut self, cx: &mut SenderCx<'_>, ack: &AckEvent) {
        let Some(on_ack) = &self.on_ack else { return NewReno.on_ack(cx, ack) };
        let call = |object: &Bound<'_, PyAny>, own: &Bound<'_, views::SenderCx>| {
            on_ack.call1(object.py(), (own, views::AckEvent(*ack))).map(drop)
        };
        *cx.window = self.call(cx, "on_ack", call).window;
    }
    fn on_ecn_echo(&mut self, cx: &mut SenderCx<'_>) {
        *cx.window = self.tell(cx, "on_ecn_echo").window;
    }
    fn on_loss(&mut self, cx: &mut SenderCx<'_>) -> Cut {
        cut(&self.tell(cx, "on_loss"))
    }
    fn on_timeout(&mut self, cx: &mut SenderCx<'_>, times: u32) -> Cut {
        let call = |object: &Bound<'_, PyAny>, own: &Bound<'_, views::SenderCx>| {
            object.call_method1(intern!(object.py(), "on_timeout"), (own, times)).map(drop)
        };
        cut(&self.call(cx, "on_timeout", call))
    }
    fn on_wake(&mut self, cx: &mut SenderCx<'_>) {
        *cx.window = self.tell(cx, "on_wake").window;
    }
    fn probes(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if !self.class().has("probes") {
            return;
        }
        let told: PyResult<Vec<(String, f64)>> = Python::attach(|py| {
            let told = self.object.get(py)?.call_method0(intern!(py, "probes"))?;
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

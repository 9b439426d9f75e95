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

use super::{Class, Object, Place, Run, views};

pub(super) struct Sender {
    flow: FlowId,
    object: Object<views::SenderCx>,
    /// Its method, if it is not NewReno's.
    on_ack: Option<Py<PyAny>>,
}

impl Sender {
    pub(super) fn new(run: &Arc<Run>, flow: &FlowFacts) -> Self {
        let place = Place::at(Time::ZERO).flow(flow.flow);
        let object = Object::new(run, &run.class.sender, flow.mss, ("flow", views::Flow::of(flow)), place);
        let on_ack = run.class.has("on_ack").then(|| {
            object.ask(place, "on_ack", |object| Ok(object.getattr(intern!(object.py(), "on_ack"))?.unbind()))
        });
        Self { flow: flow.flow, object, on_ack }
    }

    fn class(&self) -> &Class {
        &self.object.run.class
    }

    /// Calls a method with the context, and sets what it has set there but the window, which is returned.
    #[inline]
    fn call(
        &self,
        cx: &mut SenderCx<'_>,
        method: &'static str,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, views::SenderCx>) -> PyResult<()>,
    ) -> views::Left {
        self.object.call(Place::at(cx.now).flow(self.flow), cx, method, |object, own| {
            call(object, own)?;
            Ok(own.borrow().left())
        })
    }

    /// The same for a method without further arguments.
    fn tell(&self, cx: &mut SenderCx<'_>, method: &'static str) -> views::Left {
        self.call(cx, method, |object, own| object.call_method1(method, (own,)).map(drop))
    }

    /// Asks something without a context.
    fn ask<R>(&self, method: &str, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> R {
        self.object.ask(Place::at(Time::ZERO).flow(self.flow), method, ask)
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
            self.ask("on_transfer", |object| {
                let told = (views::Transfer::of(transfer),);
                object.call_method1(intern!(object.py(), "on_transfer"), told).map(drop)
            });
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
        let told: Vec<(String, f64)> = self.ask("probes", |object| {
            let told = object.call_method0(intern!(object.py(), "probes"))?;
            told.call_method0(intern!(object.py(), "items"))?.try_iter()?.map(|each| each?.extract()).collect()
        });
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

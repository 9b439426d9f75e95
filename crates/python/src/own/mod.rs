//! Schemes written in Python.
//!
//! [`register_scheme`] adds a row to the engine's registry. The row's schemes make senders that hold an object of the class
//! each ([`sender`]). Hosts, switches and the network have one of the class that it names for them ([`receiver`], [`switch`],
//! [`controller`]). They take the interpreter for each call of a method. What a method raises unwinds the run up to
//! [`catch`].

mod controller;
mod receiver;
mod sender;
mod switch;
mod views;

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fanin_engine::ids::{FlowId, NodeId};
use fanin_engine::param::error::Origin;
use fanin_engine::param::values::quantity::{quantity, read_text};
use fanin_engine::param::{Kind, Param, SpecError, Value, Values};
use fanin_engine::queue::{MarkAt, Threshold};
use fanin_engine::roles::{CongestionControl, Controller, EcnMode, QueueDiscipline, SwitchAgent, WindowControl};
use fanin_engine::scenario::transport_param;
use fanin_engine::schemes::{self, Effort, FlowFacts, NetworkFacts, NodeFacts, Scheme, SchemeRow, Signal, Wish};
use fanin_engine::traffic::TrafficGroup;
use fanin_engine::units::Time;
use pyo3::PyClass;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;
use pyo3::types::{PyBool, PyFloat, PyInt, PyType};

use crate::errors::scenario_error;

pub(crate) use controller::ControllerCx;
pub(crate) use receiver::{Arrival, ReceiverCx};
pub(crate) use switch::{Packet, Passage, Port, SwitchCx};
pub(crate) use views::{AckEvent, Delay, Flow, Node, SenderCx, Transfer};

/// The parameter that has the hash of a class, so that all that identifies a run by its values does so by the class as well.
const CODE: &str = "code";

/// A class of Python as it was registered.
struct Class {
    sender: Arc<Role>,
    receiver: Option<Arc<Role>>,
    switch: Option<Arc<Role>>,
    controller: Option<Arc<Role>>,
    ecn: EcnMode,
    /// Which of the methods that cost something it has.
    has: Vec<String>,
}

/// The class of a role.
struct Role {
    class: Py<PyType>,
    name: String,
}

impl Role {
    fn of(class: &Bound<'_, PyType>) -> PyResult<Arc<Self>> {
        Ok(Arc::new(Self { class: class.clone().unbind(), name: class.name()?.to_string() }))
    }
}

impl Class {
    fn has(&self, method: &str) -> bool {
        self.has.iter().any(|has| has == method)
    }
}

/// Every class that was ever registered, by its hash: a scenario that was read keeps the one with which it was.
static CLASSES: Mutex<BTreeMap<String, Arc<Class>>> = Mutex::new(BTreeMap::new());

/// What a registered class says of itself.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Declared<'py> {
    key: String,
    summary: String,
    manual: String,
    /// Key, default and meaning of each parameter.
    params: Vec<(String, Bound<'py, PyAny>, String)>,
    ecn: String,
    /// Whether its ports mark, and from where on if that is not the usual default.
    marks: bool,
    threshold: Option<String>,
    /// What it prefers of `[transport]`.
    transport: Vec<(String, String)>,
    has: Vec<String>,
    /// The classes of its receivers, of its switches, and of its controller.
    receiver: Option<Bound<'py, PyType>>,
    switch: Option<Bound<'py, PyType>>,
    controller: Option<Bound<'py, PyType>>,
    code: String,
}

/// Adds a class of Python to the schemes that scenarios can name, or replaces the one that was added under its key.
///
/// `declared` is a dictionary: see `fanin.scenario.own.register`.
#[pyfunction]
pub(crate) fn register_scheme(class: &Bound<'_, PyType>, declared: Declared<'_>) -> PyResult<()> {
    let py = class.py();
    if schemes::is_built_in(&declared.key) {
        return Err(PyValueError::new_err(format!("{} is a scheme of the engine: give another name", declared.key)));
    }
    let ecn = match declared.ecn.as_str() {
        "off" => EcnMode::Off,
        "classic" => EcnMode::Classic,
        "accurate" => EcnMode::Accurate,
        other => {
            return Err(PyValueError::new_err(format!("ecn is \"off\", \"classic\" or \"accurate\", not {other:?}")));
        }
    };
    let params = params(py, &declared)?;
    let wishes = declared.transport.iter().map(|(key, value)| wish(py, &declared.key, key, value));
    let wishes = wishes.collect::<PyResult<Vec<_>>>()?;
    let role = |class: &Option<Bound<'_, PyType>>| class.as_ref().map(Role::of).transpose();
    let (receiver, switch, controller) =
        (role(&declared.receiver)?, role(&declared.switch)?, role(&declared.controller)?);
    let (effort, needs) = match (&switch, &controller) {
        (_, Some(_)) => (Effort::Controller, "its code in hosts, switches and a controller"),
        (Some(_), None) => (Effort::Switch, "its code in hosts and switches"),
        (None, None) => (Effort::Kernel, "its code in the kernels of the hosts"),
    };
    let sets_windows = receiver.is_some() || switch.is_some();
    let known = Class { sender: Role::of(class)?, receiver, switch, controller, ecn, has: declared.has };
    let known = Arc::new(known);
    CLASSES.lock().unwrap_or_else(PoisonError::into_inner).insert(declared.code, known);
    schemes::add(Box::leak(Box::new(SchemeRow {
        key: leaked(declared.key),
        summary: leaked(declared.summary),
        params: params.leak(),
        transport: wishes.leak(),
        manual: leaked(declared.manual),
        readings: &[],
        totals: &[],
        effort,
        needs,
        reacts_to: match (ecn, sets_windows) {
            (EcnMode::Off, false) => &[Signal::Delay],
            (EcnMode::Off, true) => &[Signal::Window],
            (_, false) => &[Signal::Marks],
            (_, true) => &[Signal::Marks, Signal::Window],
        },
        colour: "",
        marker: "",
        build,
    })));
    Ok(())
}

/// Takes a class back from the schemes that scenarios can name.
#[pyfunction]
pub(crate) fn unregister_scheme(key: &str) {
    schemes::remove(key);
}

/// Rows of a registry stay as long as the program.
fn leaked(text: String) -> &'static str {
    text.leak()
}

/// What a scheme prefers of `[transport]`.
fn wish(py: Python<'_>, scheme: &str, key: &str, value: &str) -> PyResult<Wish> {
    let wished = transport_param(key, "unknown key").and_then(|param| {
        read_text(param, value)?;
        Ok(Wish::Prefers(param.key, leaked(value.to_owned())))
    });
    wished.map_err(|fault| scenario_error(py, &Origin::file(scheme).error(format!("transport.{key}"), fault)))
}

/// The declarations of a class's parameters.
fn params(py: Python<'_>, declared: &Declared<'_>) -> PyResult<Vec<Param>> {
    let source = "the class in Python";
    let mut found = Vec::new();
    if declared.marks {
        found.push(match &declared.threshold {
            None => schemes::MARK_THRESHOLD,
            Some(text) => Param { default: leaked(text.clone()), rule: None, source, ..schemes::MARK_THRESHOLD },
        });
        found.push(MarkAt::PARAM);
    }
    for (key, default, doc) in &declared.params {
        let (kind, text) = kind_of(key, default)?;
        let param = Param::new(leaked(key.clone()), kind, leaked(text), leaked(doc.clone()), source);
        found.push(if kind == Kind::Number { param.at_least(f64::NEG_INFINITY) } else { param });
    }
    let code: &'static str = leaked(declared.code.clone());
    let doc = "Hash of the class and of what its module has for it: another class makes other runs.";
    found.push(Param::new(CODE, Kind::Choice(vec![code].leak()), code, doc, source));
    for (i, param) in found.iter().enumerate() {
        if found[..i].iter().any(|other| other.key == param.key) {
            return Err(PyValueError::new_err(format!("the parameter {} is there twice", param.key)));
        }
        let wrong = |fault| Origin::file(&declared.key).error(param.key, fault);
        read_text(param, param.default).map_err(|fault| scenario_error(py, &wrong(fault)))?;
    }
    Ok(found)
}

/// The kind of a parameter with this default, and the default as a scenario has it.
fn kind_of(key: &str, default: &Bound<'_, PyAny>) -> PyResult<(Kind, String)> {
    let text = default.str()?.to_string();
    if let Ok(flag) = default.cast::<PyBool>() {
        return Ok((Kind::Bool, flag.is_true().to_string()));
    }
    let kind = if default.is_instance_of::<PyInt>() {
        Kind::Integer
    } else if default.is_instance_of::<PyFloat>() {
        Kind::Number
    } else {
        match quantity(&text) {
            _ if text.ends_with("mss") => Kind::Window,
            Some((_, "s")) => Kind::Time,
            Some((_, "B")) => Kind::Bytes,
            Some((_, "bit/s")) => Kind::Rate,
            Some((_, "1")) => Kind::Fraction,
            Some((_, "pkt")) => {
                return Err(PyValueError::new_err(format!(
                    "{key}: {text} counts packets, and classes bytes or \"mss\""
                )));
            }
            _ if text.parse::<i64>().is_ok() => Kind::Integer,
            _ if text.parse::<f64>().is_ok_and(f64::is_finite) => Kind::Number,
            _ => Kind::Text,
        }
    };
    Ok((kind, text))
}

/// The scheme with these values, of the class whose hash is among them.
fn build(values: &Values) -> Box<dyn Scheme> {
    let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    let class = classes[values.choice(CODE)].clone();
    let marking = values.has("mark-threshold").then(|| schemes::marking(values));
    let live = Mutex::new(Live { values: values.clone(), changes: Vec::new() });
    Box::new(Bundle { marking, run: Arc::new(Run { class, live, changed: AtomicUsize::new(0) }) })
}

struct Bundle {
    marking: Option<Threshold>,
    run: Arc<Run>,
}

/// What all objects of a run share.
struct Run {
    class: Arc<Class>,
    live: Mutex<Live>,
    /// How many changes there have been.
    changed: AtomicUsize,
}

/// Values that may change during a run.
struct Live {
    values: Values,
    /// What has changed since the beginning.
    changes: Vec<(&'static str, Value)>,
}

impl Run {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scheme for Bundle {
    fn check(&self, values: &Values, _groups: &[&TrafficGroup]) -> Result<(), SpecError> {
        let sender = &self.run.class.sender;
        let code = Python::attach(|py| {
            let own = py.import("fanin.scenario.own")?;
            own.call_method1("code_of", (sender.class.bind(py),))?.extract::<String>()
        });
        match code.unwrap_or_else(|error| raise(error, format!("{} cannot be hashed", sender.name), Place::default())) {
            code if code == values.choice(CODE) => Ok(()),
            _ => Err(values.fail(CODE, "the class has changed since it was registered: fanin.register it again")),
        }
    }
    fn settable(&self) -> Vec<&'static str> {
        own(&self.run.live().values).map(|(key, _)| key).collect()
    }
    fn set(&self, values: &Values) {
        let mut live = self.run.live();
        let new: Vec<_> = own(values).map(|(key, value)| (key, value.clone())).collect();
        let differ =
            |(key, value): &(&'static str, Value)| own(&live.values).any(|old| old.0 == *key && old.1 != value);
        let changes: Vec<_> = new.into_iter().filter(differ).collect();
        live.changes.extend(changes);
        live.values = values.clone();
        self.run.changed.store(live.changes.len(), Ordering::Relaxed);
    }
    fn congestion_control(&self, flow: &FlowFacts) -> Box<dyn CongestionControl> {
        Box::new(sender::Sender::new(&self.run, flow))
    }
    fn window_control(&self, host: &NodeFacts) -> Option<Box<dyn WindowControl>> {
        let role = self.run.class.receiver.as_ref()?;
        let facts = ("host", Node::of(host));
        Some(Box::new(Object::<ReceiverCx>::new(&self.run, role, host.mss, facts, Place::default())))
    }
    fn switch_agent(&self, switch: &NodeFacts) -> Option<Box<dyn SwitchAgent>> {
        let role = self.run.class.switch.as_ref()?;
        let (facts, place) = (("switch", Node::of(switch)), Place::default().switch(switch.node));
        let agent = Object::<SwitchCx>::new(&self.run, role, switch.mss, facts, place);
        Python::attach(|py| agent.cx.borrow_mut(py).controlled = self.run.class.controller.is_some());
        Some(Box::new(agent))
    }
    fn controller(&self, network: &NetworkFacts) -> Option<Box<dyn Controller>> {
        let role = self.run.class.controller.as_ref()?;
        let facts = ("base_rtt", network.base_rtt.secs());
        Some(Box::new(Object::<ControllerCx>::new(&self.run, role, network.mss, facts, Place::default())))
    }
    fn queue(&self, _switch: &NodeFacts) -> Option<Box<dyn QueueDiscipline>> {
        Some(Box::new(self.marking?))
    }
}

/// The parameters of the class itself. The others are of its ports, and its hash.
fn own(values: &Values) -> impl Iterator<Item = (&'static str, &Value)> {
    let found = values.iter().filter(|(_, param, ..)| !matches!(param.kind, Kind::Size | Kind::Choice(_)));
    found.map(|(_, param, value, _)| (param.key, value))
}

/// The context of a role as its methods see it.
trait Context: PyClass<Frozen = False> + Default + Into<PyClassInitializer<Self>> {
    /// The engine's.
    type Of<'a>;
    /// Takes over the facts of a call.
    fn enter(&mut self, cx: &Self::Of<'_>);
    /// Hands over what the method has left.
    fn leave(&mut self, cx: &mut Self::Of<'_>);
}

/// An object of a class, whose attributes are its facts and the parameters, and the context of all its calls.
struct Object<C> {
    held: Py<PyAny>,
    cx: Py<C>,
    role: Arc<Role>,
    run: Arc<Run>,
    mss: u64,
    /// How many changes of parameters it has seen.
    seen: Cell<usize>,
}

impl<C: Context> Object<C> {
    /// `facts` are the name and the value of the attribute that it has besides its parameters.
    fn new<T>(run: &Arc<Run>, role: &Arc<Role>, mss: u64, facts: (&str, T), place: Place) -> Self
    where
        T: for<'py> IntoPyObject<'py>,
    {
        Python::attach(|py| Self::made(py, (run, role), mss, facts))
            .unwrap_or_else(|error| raise(error, format!("{}.__init__", role.name), place))
    }

    /// Sets the attributes before `__init__` is called.
    fn made<'py>(
        py: Python<'py>,
        (run, role): (&Arc<Run>, &Arc<Role>),
        mss: u64,
        (name, facts): (&str, impl IntoPyObject<'py>),
    ) -> PyResult<Self> {
        let class = role.class.bind(py);
        let object = class.call_method1("__new__", (class,))?;
        object.setattr(name, facts)?;
        let values = run.live().values.clone();
        for (key, value) in own(&values) {
            object.setattr(key.replace('-', "_"), python(py, value, mss)?)?;
        }
        let seen = Cell::new(run.changed.load(Ordering::Relaxed));
        object.call_method0("__init__")?;
        let cx = Py::new(py, C::default())?;
        Ok(Self { held: object.unbind(), cx, role: role.clone(), run: run.clone(), mss, seen })
    }

    /// Calls methods; what they raise ends the run.
    #[inline]
    fn ask<R>(&self, place: Place, method: &str, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> R {
        Python::attach(|py| ask(self.get(py)?))
            .unwrap_or_else(|error| raise(error, format!("{}.{method}", self.role.name), place))
    }

    /// Calls a method with the context, and hands over what it has left there.
    #[inline]
    fn call<R>(
        &self,
        place: Place,
        cx: &mut C::Of<'_>,
        method: &str,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, C>) -> PyResult<R>,
    ) -> R {
        self.ask(place, method, |object| {
            let own = self.cx.bind(object.py());
            own.borrow_mut().enter(cx);
            let answer = call(object, own)?;
            own.borrow_mut().leave(cx);
            Ok(answer)
        })
    }

    /// The object, with the values of now.
    #[inline]
    fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        if self.seen.get() != self.run.changed.load(Ordering::Relaxed) {
            self.catch_up(py)?;
        }
        Ok(self.held.bind(py))
    }

    #[cold]
    fn catch_up(&self, py: Python<'_>) -> PyResult<()> {
        let changes = self.run.live().changes.clone();
        for (key, value) in &changes[self.seen.replace(changes.len())..] {
            self.held.setattr(py, key.replace('-', "_"), python(py, value, self.mss)?)?;
        }
        Ok(())
    }
}

/// A value as objects see it: seconds, bytes, bit/s, or as it is.
fn python<'py>(py: Python<'py>, value: &Value, mss: u64) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Time(time) => time.secs().into_pyobject(py)?.into_any(),
        Value::Bytes(bytes) => bytes.get().into_pyobject(py)?.into_any(),
        Value::Window(window) => window.bytes(mss).into_pyobject(py)?.into_any(),
        Value::Rate(rate) => rate.bps().into_pyobject(py)?.into_any(),
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        other => other.to_string().into_pyobject(py)?.into_any(),
    })
}

/// When a method was called, and about what.
#[derive(Clone, Copy, Default)]
struct Place {
    now: Option<Time>,
    flow: Option<FlowId>,
    switch: Option<NodeId>,
}

impl Place {
    fn at(now: Time) -> Self {
        Self { now: Some(now), ..Self::default() }
    }
    fn flow(self, flow: FlowId) -> Self {
        Self { flow: Some(flow), ..self }
    }
    fn switch(self, switch: NodeId) -> Self {
        Self { switch: Some(switch), ..self }
    }
}

/// What a method raised, on its way out of a run.
struct Raised {
    error: PyErr,
    what: String,
    place: Place,
}

/// Ends the run with what a method raised; `what` is the method.
#[cold]
fn raise(error: PyErr, what: String, place: Place) -> ! {
    resume_unwind(Box::new(Raised { error, what, place }))
}

/// Does something that may call methods of Python; what they raise is the cause of the error.
///
/// # Errors
///
/// `fanin.SchemeError`; an interrupt as it is.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload: Box<dyn Any + Send>| match payload.downcast::<Raised>() {
        Ok(raised) => Python::attach(|py| raised.into_error(py)),
        Err(other) => resume_unwind(other),
    })
}

impl Raised {
    fn into_error(self, py: Python<'_>) -> PyErr {
        if !self.error.is_instance_of::<PyException>(py) {
            return self.error;
        }
        let Place { now, flow, switch } = self.place;
        let (flow, switch, now) = (flow.map(FlowId::index), switch.map(NodeId::index), now.map(Time::secs));
        let made = (|| {
            let class = py.import("fanin.errors")?.getattr("SchemeError")?;
            class.call1((self.what, self.error.value(py), flow, switch, now))
        })();
        let error = made.map_or_else(|error| error, PyErr::from_value);
        error.set_cause(py, Some(self.error));
        error
    }
}

"""Schemes written in Python: the class that they inherit, their parameters, and their registration with the engine."""

from __future__ import annotations

import difflib
import random
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

from fanin import _engine, registry
from fanin._engine import (
    AckEvent,
    Arrival,
    ControllerCx,
    Delay,
    Flow,
    Node,
    Packet,
    Passage,
    Port,
    ReceiverCx,
    SenderCx,
    SwitchCx,
    Transfer,
)
from fanin.digests import digest
from fanin.errors import ScenarioError
from fanin.scenario import handle


@dataclass(frozen=True)
class Param:
    """A parameter of a scheme as it is declared."""

    default: str | float
    doc: str = ""


@dataclass(frozen=True)
class Threshold:
    """Ports that mark ECN-capable packets once their queue has reached a threshold.

    The scheme gets the parameters ``mark-threshold`` and ``mark-at`` of ``dctcp``.
    """

    at: str | None = None
    """The default of ``mark-threshold``, such as ``"20pkt"`` or ``"30KB"``; ``None`` for that of ``dctcp``."""

    def __post_init__(self) -> None:
        """Refuses a number.

        Raises:
            ValueError: it has no unit.

        """
        if not isinstance(self.at, str | None):
            raise ValueError(f'a threshold needs a unit: write Threshold("{self.at}pkt") or Threshold("{self.at}KB")')


def param(default: str | float, doc: str = "") -> Any:  # noqa: ANN401 - what the attribute holds in an object
    """Declares a parameter of a scheme, as an attribute of its class.

    A scenario sets it as ``scheme.NAME.KEY``, where hyphens stand for underscores. In an object the attribute is the
    value. Times are in seconds, sizes in bytes, and rates in bit/s.

    Args:
        default: Its default, which decides its kind: ``"50us"``, ``"64KB"``, ``"2mss"``, ``"1Gbps"``, ``"30%"``,
            ``"1/16"``, a number, a truth value, or any other text.
        doc: What it means.

    >>> target = fanin.param("50us", "round trip that it keeps")

    """
    return Param(default, doc)


_current = threading.local()
"""The seed of the run that a thread simulates."""

_simulating: set[int] = set()
"""The threads whose methods may be called."""

_lock = threading.Lock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Methods that this thread calls meanwhile belong to a run with this seed."""
    before, thread = getattr(_current, "seed", 0), threading.get_ident()
    _current.seed = seed
    _simulating.add(thread)
    try:
        yield
    finally:
        _current.seed = before
        with _lock:
            _simulating.discard(thread)
            if is_used():
                _raise_later(thread, None)


def interrupt(threads: Iterable[int | None]) -> None:
    """Ends the methods that these threads call, which may be endless, with a KeyboardInterrupt."""
    with _lock:
        for each in threads:
            if each in _simulating and is_used():
                _raise_later(each, KeyboardInterrupt)


def _raise_later(thread: int, error: type[BaseException] | None) -> None:
    """Raises an error in a thread as soon as it does something in Python; ``None`` takes it back."""
    import ctypes

    raised = ctypes.py_object() if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


def _generator(of: str) -> random.Random:
    return random.Random(f"{getattr(_current, 'seed', 0)} {of}")


class WindowControl:
    """The control of windows and acknowledgements of a receiving host, by one object for all flows that end there.

    A scheme names such a class as its ``receiver``. Parameters (:func:`fanin.param`) and ``host`` are set before
    ``__init__``. All times are in seconds, all sizes in bytes. A flow is its number, as in the table of flows.
    """

    host: Node
    """What is known of the host."""

    @cached_property
    def random(self) -> random.Random:
        """A generator of random numbers of its own: equal runs draw the same ones."""
        return _generator(f"host {self.host.number}")

    def on_open(self, cx: ReceiverCx, flow: int, size: int | None, deadline: float | None) -> None:
        """A SYN arrived, or the first data of a transfer on an open connection; size and deadline may be unknown."""

    def on_data(self, cx: ReceiverCx, flow: int, arrival: Arrival) -> None:
        """A data segment was accepted."""

    def on_ack(self, cx: ReceiverCx, flow: int, kind: str) -> bool:
        """An acknowledgement is due: ``"syn-ack"``, ``"data"`` or ``"duplicate"``. Return whether to hold it.

        At most one is held for each flow, until ``cx.release``; a newer one replaces it.
        """
        return False

    def on_timer(self, cx: ReceiverCx, token: int) -> None:
        """The time of ``cx.wake_at`` has come."""


class SwitchAgent:
    """What a switch does with passing packets, by one object for each switch of the network.

    A scheme names such a class as its ``switch``. Parameters (:func:`fanin.param`) and ``switch`` are set before
    ``__init__``. All times are in seconds, all sizes in bytes. Flows, nodes and links are numbers.
    """

    switch: Node
    """What is known of the switch."""

    @cached_property
    def random(self) -> random.Random:
        """A generator of random numbers of its own: equal runs draw the same ones."""
        return _generator(f"switch {self.switch.number}")

    def on_start(self, cx: SwitchCx, ports: list[Port]) -> None:
        """The run begins, on a switch with these ports."""

    def on_packet(self, cx: SwitchCx, packet: Packet, passage: Passage) -> str | None:
        """A packet is about to enter a port, in either direction. Set what it is to carry.

        Return ``None`` to forward it, ``"drop"`` to drop it, or ``"hold"`` to keep it until ``cx.inject``.
        """

    def on_port(self, cx: SwitchCx, to_link: int, up: bool) -> None:
        """A port went down or came up again: its cable failed or was repaired."""

    def on_message(self, cx: SwitchCx, message: bytes) -> None:
        """A message from the controller arrived."""

    def on_timer(self, cx: SwitchCx, token: int) -> None:
        """The time of ``cx.wake_at`` has come."""


class Controller:
    """The controller of the network, one object for each run. ``[control]`` has the delay and the loss of messages.

    A scheme names such a class as its ``controller``. Parameters (:func:`fanin.param`) and ``base_rtt`` are set before
    ``__init__``. It learns of switches and flows from the messages of its switches alone.
    """

    base_rtt: float
    """Round-trip propagation delay between the farthest hosts, in seconds."""

    @cached_property
    def random(self) -> random.Random:
        """A generator of random numbers of its own: equal runs draw the same ones."""
        return _generator("controller")

    def on_start(self, cx: ControllerCx) -> None:
        """The run begins. The switches have begun."""

    def on_message(self, cx: ControllerCx, switch: int, message: bytes) -> None:
        """A message of a switch is processed."""

    def on_timer(self, cx: ControllerCx, token: int) -> None:
        """The time of ``cx.wake_at`` has come."""


class CongestionControl:
    """The congestion control of a flow, whose sender calls the methods of one object. A class of this kind is a scheme.

    Pass the class wherever a scenario takes the name of a scheme, or name it after :func:`fanin.register`. Every method
    has a default, which is NewReno's. Parameters (:func:`fanin.param`) and ``flow`` are set before ``__init__``, which
    takes no arguments. A driven run may change parameters later (:meth:`fanin.Simulation.set`). All times are in
    seconds, all sizes in bytes.

    An exception in a method ends the run with :class:`fanin.SchemeError`, whose cause it is.
    """

    ecn: ClassVar[str] = "off"
    """``"off"``, ``"classic"`` (RFC 3168), or ``"accurate"``: echoes say which bytes were marked, as for DCTCP."""
    queue: ClassVar[Threshold | None] = None
    """How ports of switches mark; ``None`` for ports that do not."""
    transport: ClassVar[Mapping[str, str | float]] = {}
    """What it prefers of ``[transport]``, such as ``{"ack-every": 1}``; a stack or a scenario that says more wins."""
    receiver: ClassVar[type[WindowControl] | None] = None
    """The class of its receiving hosts; ``None`` for plain receivers."""
    switch: ClassVar[type[SwitchAgent] | None] = None
    """The class of its switches; ``None`` for plain switches. It acts where ``transport.scheme`` names the scheme."""
    controller: ClassVar[type[Controller] | None] = None
    """The class of its controller; ``None`` for none."""
    flow: Flow
    """What is known of the flow."""

    @cached_property
    def random(self) -> random.Random:
        """A generator of random numbers of its own, seeded by the run's seed and the flow: equal runs draw the same."""
        return _generator(f"flow {self.flow.number}")

    def on_transfer(self, transfer: Transfer) -> None:
        """The application passes a transfer to the sender: the first one before ``on_start``."""

    def on_start(self, cx: SenderCx) -> None:
        """The connection is open, and the window has its initial value."""

    def on_delay(self, cx: SenderCx, delay: Delay) -> None:
        """An acknowledgement is the first to tell the delay of a segment, in recovery too; ``on_ack`` follows."""

    def on_ack(self, cx: SenderCx, ack: AckEvent) -> None:
        """An acknowledgement arrived, perhaps a duplicate. By default the window grows as NewReno's."""
        cx.grow(ack)

    def on_ecn_echo(self, cx: SenderCx) -> None:
        """An echo arrived, the first of a round trip. By default the window is halved as NewReno's."""
        cx.halve()

    def on_loss(self, cx: SenderCx) -> None:
        """Duplicates tell of a loss: set ``cx.ssthresh``, by default to half of the bytes in flight.

        A threshold that you do not set is the window. During the repair the window is the sender's, and after it the
        threshold. Set ``cx.cwnd`` to keep it your own.
        """
        cx.ssthresh = cx.half_flight

    def on_timeout(self, cx: SenderCx, times: int) -> None:
        """The retransmission timer expired, so many times in a row: set ``cx.ssthresh`` as in ``on_loss``.

        The window is a segment unless you set ``cx.cwnd``. The threshold of a further time counts only with a window.
        """
        cx.ssthresh = cx.half_flight

    def on_wake(self, cx: SenderCx) -> None:
        """The time of ``cx.wake_at`` has come."""

    def probes(self) -> Mapping[str, float]:
        """Names and values of its state, which ``measure.probes`` of its scenarios can record.

        It is called before ``on_start`` too, so ``__init__`` sets what it shows.
        """
        return {}


_ROLES = {"receiver": WindowControl, "switch": SwitchAgent, "controller": Controller}
"""Attributes of a scheme that name the class of another role, and what such a class inherits."""

_IF_OWN = ("on_transfer", "on_delay", "on_ack", "probes")
"""Methods that are called only if a class has its own."""

_CODE = "code"
"""The parameter that every scheme in Python has, and no other."""

_names: dict[type, str] = {}
"""The names under which classes were registered."""

_classes: dict[str, type] = {}
"""The class of each name."""


class Named(str):
    """The name of a scheme in Python, with the class that it was given for."""

    __slots__ = ("scheme",)
    scheme: type[CongestionControl]


def named(scheme: type[CongestionControl]) -> Named:
    """The name of a class, which it is registered under."""
    found = Named(register(scheme))
    found.scheme = scheme
    return found


def refuse_replaced(values: Iterable[object]) -> None:
    """Refuses names that were unregistered since they were given, or of which another class has taken the place.

    Raises:
        ScenarioError: one is such a name.

    """
    for each in values:
        if isinstance(each, Named) and (now := _classes.get(each)) is not each.scheme:
            if now is None:
                raise ScenarioError("scheme", None, each, "it was unregistered: fanin.register the class again")
            first, other = (f"{scheme.__module__}.{scheme.__qualname__}" for scheme in (each.scheme, now))
            both = first if first == other else f"{first} and {other}"
            message = f'two classes have the name "{each}" ({both}), and the later one took its place'
            hint = f'fanin.register(CLASS, "{each}-2") gives one another name'
            raise ScenarioError("scheme", None, each, f"{message}; {hint}")


def register(scheme: type[CongestionControl], name: str = "") -> str:
    """Makes a class in Python a scheme that scenarios, sweeps and comparisons can name, in this process.

    Where a scenario is given the class itself, this happens by itself. A class takes the place of the last one of its
    name; scenarios that were given that one then refuse to run. Its parameter ``code`` is a hash of the class, and of
    the functions, classes and constants of its module that it uses. The hash is part of the id of a run, so that
    another class does not find the stored runs of this one.

    Args:
        scheme: The class.
        name: The name; by default that of the class in lower case, with hyphens: ``MyScheme`` is ``my-scheme``.

    Returns:
        The name.

    Raises:
        TypeError: it is no class of that kind, or has a method ``on_...`` that nobody calls.
        ValueError: the engine has a scheme of that name, or a parameter cannot be one.
        ScenarioError: a default is not valid.

    """
    _refuse_unknown(scheme, CongestionControl)
    roles = _roles(scheme)
    for role, kind in roles.items():
        _refuse_unknown(kind, _ROLES[role])
    given = name or _names.get(scheme, "")
    key = given or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", scheme.__name__).replace("_", "-").lower()
    if not re.fullmatch(r"[a-z][a-z0-9-]*", key):
        raise ValueError(f"{key!r} cannot be the name of a scheme: use lower-case letters, digits and hyphens")
    if scheme.queue is not None and scheme.ecn == "off":
        raise ValueError(f'{scheme.__name__}.queue marks packets of nobody, as its ecn is "off"')
    title, said = given or scheme.__name__, (scheme.__doc__ or "a scheme in Python.").strip()
    declared = [
        (each, value)
        for kind in (scheme, *roles.values())
        for each in dir(kind)
        if isinstance(value := getattr(kind, each), Param)
    ]
    row = {
        "key": key,
        "summary": f"{title}: {said.partition(chr(10))[0]}",
        "manual": f"# {title}\n\n{said}\n",
        "params": [(each.replace("_", "-"), value.default, value.doc) for each, value in declared],
        "ecn": scheme.ecn,
        "marks": scheme.queue is not None,
        "threshold": scheme.queue and scheme.queue.at,
        "transport": [(key, str(value).lower()) for key, value in scheme.transport.items()],
        "has": [each for each in _IF_OWN if getattr(scheme, each) is not getattr(CongestionControl, each)],
        **{role: roles.get(role) for role in _ROLES},
        _CODE: code_of(scheme),
    }
    _engine.register_scheme(scheme, row)
    _names[scheme], _classes[key] = key, scheme
    _forget_names()
    return key


def unregister(scheme: type[CongestionControl] | str) -> None:
    """Takes back :func:`register`: scenarios, comparisons of all schemes and lists no longer have it.

    Scenarios that were given the class refuse to run until it is registered again.

    Args:
        scheme: The class, with all of its names, or one name.

    Raises:
        ValueError: it is not registered.

    """
    keys = [key for key, each in _classes.items() if scheme in (key, each)]
    if not keys:
        raise ValueError(f"{scheme} is not registered")
    for key in keys:
        _engine.unregister_scheme(key)
        _names.pop(_classes.pop(key), None)
    _forget_names()


def registered() -> list[str]:
    """The names of all schemes in Python."""
    return [*_classes]


def _forget_names() -> None:
    """Has what was read with other schemes read again."""
    for cache in (handle.opened, handle.with_changes, registry.registry, registry.scheme_titles):
        cache.cache_clear()


def _refuse_unknown(scheme: type, base: type) -> None:
    """Refuses a class of another kind, and a method that looks like one that the engine calls."""
    if not (isinstance(scheme, type) and issubclass(scheme, base)):
        raise TypeError(f"{scheme!r} does not inherit fanin.{base.__name__}")
    known = [name for name in dir(base) if name.startswith("on_")]
    for name in dir(scheme):
        if name.startswith("on_") and name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else f"; there are {', '.join(known)}"
            raise TypeError(f"{scheme.__name__}.{name} is called by nobody{hint}")


def is_used() -> bool:
    """Whether this process has any scheme in Python."""
    return bool(_classes)


def is_own(resolved: Mapping[str, Any]) -> bool:
    """Whether a resolved scenario has a scheme in Python, which only this process knows."""
    return any(_CODE in values for values in resolved["scheme"].values())


def _roles(scheme: type[CongestionControl]) -> dict[str, type]:
    """The classes that a scheme names for its other roles."""
    return {role: kind for role in _ROLES if (kind := getattr(scheme, role)) is not None}


def code_of(scheme: type[CongestionControl]) -> str:
    """A hash of a class: of its code and constants, and of those of its modules that it uses.

    Not of what it imports, nor of objects that are no plain values.
    """
    return digest(_Content(scheme, *_roles(scheme).values()).of(scheme))


class _Content:
    """What decides what a class does, as JSON."""

    def __init__(self, *roles: type) -> None:
        bases = [base for role in roles for base in role.__mro__ if base is not object]
        self._modules = {base.__module__ for base in bases} - {CongestionControl.__module__}
        self._seen: list[object] = []

    def of(self, value: object) -> object:
        """A value; of code and classes of other modules, their names."""
        match value:
            case None | bool() | int() | float() | str() | bytes() | Param() | Threshold():
                return repr(value)
            case tuple():
                return [self.of(each) for each in value]
            case frozenset():
                return sorted(map(repr, value))
            case staticmethod() | classmethod():
                return self.of(value.__func__)
            case property():
                return [self.of(each) for each in (value.fget, value.fset)]
            case ModuleType():
                return value.__name__
            case CodeType():
                return self._code(value)
            case FunctionType() | type() if value.__module__ in self._modules:
                return self._once(value)
            case FunctionType() | type():
                return f"{value.__module__}.{value.__qualname__}"
        return f"{type(value).__module__}.{type(value).__qualname__}"

    def _once(self, value: FunctionType | type) -> object:
        if any(value is each for each in self._seen):
            return value.__qualname__
        self._seen.append(value)
        return self._function(value) if isinstance(value, FunctionType) else self._class(value)

    def _class(self, value: type) -> object:
        own = [(name, each) for name, each in vars(value).items() if isinstance(each, FunctionType) or name[:2] != "__"]
        return [[self.of(base) for base in value.__bases__], [[name, self.of(each)] for name, each in own]]

    def _function(self, value: FunctionType) -> object:
        names = [name for name in _named(value.__code__) if name in value.__globals__]
        cells = [self.of(cell.cell_contents) for cell in value.__closure__ or () if _is_full(cell)]
        defaults = [self.of(each) for each in (value.__defaults__, *(value.__kwdefaults__ or {}).values())]
        return [self.of(value.__code__), defaults, cells, [[name, self.of(value.__globals__[name])] for name in names]]

    def _code(self, code: CodeType) -> object:
        own = [code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable.hex()]
        return [*own, [self.of(each) for each in code.co_consts]]


def _named(code: CodeType) -> list[str]:
    """The names that code uses, and those of the functions in it."""
    inside: Iterable[CodeType] = (each for each in code.co_consts if isinstance(each, CodeType))
    return list(dict.fromkeys([*code.co_names, *(name for each in inside for name in _named(each))]))


def _is_full(cell: Any) -> bool:  # noqa: ANN401 - no name is exported for it in Python 3.11's stubs
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False

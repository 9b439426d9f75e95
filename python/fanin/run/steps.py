"""A run that Python drives: it goes on step by step, is looked at in between, and some of its values change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fanin import _engine
from fanin.errors import ScenarioError
from fanin.later import np
from fanin.results.runs import Run
from fanin.scenario import own
from fanin.scenario.settings import Value, override

if TYPE_CHECKING:
    from numpy.typing import NDArray

Change = tuple[float, str, str]
"""When something was set in seconds, its path and its value."""

_FAULT = "fault."


@dataclass(frozen=True, eq=False, repr=False)
class Observation:
    """What a simulation shows at one instant, and what happened since the observation before.

    Arrays cannot be written to. Those of ports have one value for each of :attr:`ports`, in the same order at every
    observation, and those of groups for each of :attr:`groups`. Those of flows have one for each flow under way, in the
    order of their numbers: flows come and go. The first observation counts from the beginning.
    """

    now: float
    """The time of the simulation, in seconds."""
    interval: float
    """Seconds since the observation before."""
    ports: tuple[str, ...]
    """Names of all ports, as in the result table ``links``."""
    queue_packets: NDArray[np.float64]
    """Of each port, the packets in it, the one in transmission included."""
    queue_bytes: NDArray[np.float64]
    """The same in bytes."""
    sent_bytes: NDArray[np.float64]
    """Of each port, the bytes that it sent in the interval."""
    marks: NDArray[np.float64]
    """Of each port, the packets that it marked in the interval."""
    drops: NDArray[np.float64]
    """Of each port, the packets that it or its link lost in the interval."""
    flow: NDArray[np.int64]
    """Of each flow under way, its number, as in the result table ``flows``."""
    flow_group: NDArray[np.int64]
    """Of each flow, the index of its group."""
    cwnd_bytes: NDArray[np.float64]
    """Of each flow, the congestion window of its sender, in bytes."""
    in_flight_bytes: NDArray[np.float64]
    """Of each flow, the bytes that were sent and not acknowledged."""
    srtt_s: NDArray[np.float64]
    """Of each flow, the smoothed round-trip time in seconds; NaN before the first sample."""
    flow_delivered_bytes: NDArray[np.float64]
    """Of each flow, the payload that arrived in order in the interval."""
    groups: tuple[str, ...]
    """Names of the traffic groups."""
    delivered_bytes: NDArray[np.float64]
    """Of each group, the payload that arrived in order in the interval, that of flows that ended included."""

    def __repr__(self) -> str:
        return f"<Observation at {self.now:g} s: {len(self.ports)} ports, {len(self.flow)} flows under way>"


class Simulation:
    """A run that goes on when it is told to; :meth:`fanin.Scenario.start` begins one.

    The engine releases Python's lock while it simulates, so several simulations can step on threads. One simulation
    belongs to one thread at a time.

    >>> simulation = fanin.Scenario("tour/rack").set("transport.scheme", "dctcp").start(seed=1)
    >>> while not simulation.done:
    ...     simulation.step("100us")
    ...     if simulation.observe().queue_packets.max() > 50:
    ...         simulation.set("scheme.dctcp.mark-threshold", "10pkt")
    >>> simulation.result().summary["query_p99_s"]

    """

    def __init__(
        self,
        engine: _engine.Simulation,
        changed: Callable[[dict[str, str]], _engine.Scenario],
        finish: Callable[[_engine.RunOutput, list[Change]], Run],
        seed: int,
    ) -> None:
        """For :meth:`fanin.Scenario.start`.

        Args:
            engine: The run in the engine.
            changed: Makes the scenario with other values.
            finish: Makes a run of its output and of what was set.
            seed: Its seed.

        """
        self._engine = engine
        self._changed = changed
        self._finish = finish
        self._seed = seed
        self._ports, self._groups = tuple(engine.ports), tuple(engine.groups)
        self._values: dict[str, str] = {}
        self._changes: list[Change] = []
        self._seen: Observation | None = None
        self._result: Run | None = None

    @property
    def now(self) -> float:
        """The time of the simulation, in seconds."""
        return self._engine.now

    @property
    def done(self) -> bool:
        """Whether nothing more will happen: all finite flows are complete, or the duration has passed."""
        return self._result is not None or self._engine.done

    @property
    def finished(self) -> bool:
        """Whether all finite flows are complete, and no more will start."""
        return self._engine.finished

    @property
    def bottleneck(self) -> str:
        """The port where incast is expected, or the one that ``measure.bottleneck`` names."""
        return self._ports[self._engine.bottleneck]

    @property
    def settable(self) -> list[str]:
        """The paths that :meth:`set` takes here."""
        return self._engine.settable

    def step(self, time: str | float) -> None:
        """Simulates so much time, or what is left if that is less.

        Args:
            time: A text such as ``"100us"``, or seconds.

        Raises:
            ValueError: it is no time, or not above zero.
            RunError: an invariant was violated.

        """
        with own.seeded(self._seed):
            self._engine.step(round(seconds(time) * 1e12))
        self._seen = None

    def observe(self) -> Observation:
        """What there is to see now; the same object until the next step.

        Raises:
            RunError: :meth:`result` was called.

        """
        if self._seen is None:
            now, before, columns = self._engine.observe()
            kinds = {name: "<i8" if name in ("flow", "flow_group") else "<f8" for name in columns}
            arrays = {name: np.frombuffer(data, dtype=kinds[name]) for name, data in columns.items()}
            self._seen = Observation(now, now - before, self._ports, groups=self._groups, **arrays)
        return self._seen

    def set(self, path: str, value: Value) -> None:
        """Changes a value from now on.

        Args:
            path: One of :attr:`settable`. Thresholds of marking act on the next packet. ``transport.rto-min`` acts on
                the next timers and ``transport.initial-window`` on connections that open. ``fault.NAME`` is a fault of
                the scenario. A parameter of a scheme in Python, ``scheme.NAME.KEY``, changes the attribute of all its
                objects before their next call.
            value: The value, as a file has it; of a fault, whether it is on.

        Raises:
            ScenarioError: the value is invalid, or cannot change during a run; the message lists what can.

        """
        if isinstance(value, bool) and path.startswith(_FAULT):
            self._engine.switch_fault(path, value)
        elif path in self.settable and path.startswith(_FAULT):
            raise ScenarioError("--set", None, path, "is True or False: whether the fault is on")
        else:
            # A path that nothing has is refused with what can change, and not with the names of a file's keys.
            values = self._values | {path: override(value)} if path in self.settable else {}
            self._engine.set(path, self._changed(values))
            self._values = values
        self._changes.append((self.now, path, override(value)))

    def result(self) -> Run:
        """Simulates what is left, and returns the result.

        Without :meth:`set` it is that of :meth:`fanin.Scenario.run` with the same seed. Otherwise what was set, and
        when, is part of the run's scenario and of its id.

        Raises:
            RunError: an invariant was violated.

        """
        if self._result is None:
            with own.seeded(self._seed):
                output = self._engine.result()
            self._result = self._finish(output, self._changes)
        return self._result


def seconds(time: str | float) -> float:
    """A time in seconds.

    Raises:
        ValueError: it is no time, or not above zero.

    """
    number, unit = (_engine.quantity(time) or (0.0, "")) if isinstance(time, str) else (float(time), "s")
    if unit != "s" or not number > 0:
        raise ValueError(f"{time!r} is no time above zero, such as '100us' or 1e-4")
    return number

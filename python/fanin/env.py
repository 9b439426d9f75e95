"""A simulation as an environment of gymnasium, to learn what to set during a run.

``fanin.env`` needs gymnasium: the extra ``rl``. What an observation has, a reward computes from: both see a
:class:`fanin.Observation`.

>>> import fanin, fanin.env
>>> rack = fanin.Scenario("tour/rack").set("transport.scheme", "dctcp")
>>> env = fanin.env.make(rack, act="scheme.dctcp.mark-threshold", values=("1pkt", "60pkt"), every="200us")
>>> seen, info = env.reset(seed=1)
>>> seen, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from fanin import _engine
from fanin.extras import needed
from fanin.run.scenario import Scenario
from fanin.run.steps import Observation, Simulation, seconds
from fanin.scenario.settings import Value

if TYPE_CHECKING:
    import gymnasium
    from gymnasium.vector import SyncVectorEnv
    from numpy.typing import NDArray
else:
    gymnasium = needed("gymnasium", "an environment needs gymnasium", "rl")
    SyncVectorEnv = needed("gymnasium.vector", "an environment needs gymnasium", "rl").SyncVectorEnv

__all__ = ["Env", "Feature", "Reward", "VectorEnv", "make", "make_vector", "waiting"]

Feature = str | Callable[[Observation], Any]
"""What an environment shows: a field of :class:`fanin.Observation` that ports or groups have, or a function of it."""

Reward = Callable[[Observation], float]

_OF_PORTS = ("queue_packets", "queue_bytes", "sent_bytes", "marks", "drops")
_OF_GROUPS = ("delivered_bytes",)


def waiting(seen: Observation) -> float:
    """The usual reward: minus the flows under way, for as long as the interval was, in seconds.

    Added up over a run without long flows it is about minus the sum of all completion times.
    """
    return -len(seen.flow) * seen.interval


class Env(gymnasium.Env["NDArray[np.float32]", Any]):
    """One simulation at a time: :func:`make` makes it."""

    def __init__(
        self,
        scenario: Scenario,
        act: str,
        values: tuple[str, str] | list[Value],
        observe: Sequence[Feature],
        every: str | float,
        reward: Reward,
        seeds: Sequence[int] | None,
        ports: Sequence[str] | None,
    ) -> None:
        """The arguments of :func:`make`."""
        self.simulation: Simulation = scenario.start()
        """The simulation of this episode, whose ``result()`` can be asked for when the episode is over."""
        self._scenario, self._act, self._values = scenario, act, values
        self._every, self._reward, self._seeds = seconds(every), reward, seeds
        self._features = list(observe)
        seen = self.simulation.observe()
        known = {port: i for i, port in enumerate(seen.ports)}
        if unknown := [port for port in ports or [] if port not in known]:
            raise ValueError(f"no port {', '.join(unknown)}; there are {', '.join(known)}")
        self._ports = [known[port] for port in ports or [self.simulation.bottleneck]]
        self.names = [f"{_name(each)}[{i}]" for each in self._features for i in range(len(self._feature(each, seen)))]
        """What each number of an observation is."""
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (len(self.names),), np.float32)
        self.action_space: gymnasium.Space[Any] = gymnasium.spaces.Discrete(len(values))
        if isinstance(values, tuple):
            (low, self._unit), (high, unit) = (_number(each) for each in values)
            if unit != self._unit:
                raise ValueError(f"{values[0]!r} and {values[1]!r} have different units")
            self.action_space = gymnasium.spaces.Box(low, high, (1,), np.float32)
        self._advanced = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins another run.

        Args:
            seed: Seed of the draw of runs' seeds; the same gives the same runs.
            options: ``{"seed": the seed of the run}``, if it is not drawn.

        Returns:
            An observation, and ``{"seed": the seed of the run}``.

        """
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31 if self._seeds is None else len(self._seeds)))
        run = (options or {}).get("seed", drawn if self._seeds is None else self._seeds[drawn])
        self.simulation, self._advanced = self._scenario.start(run), False
        return self._vector(), {"seed": run}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Sets the value, and simulates until the next decision.

        Returns:
            An observation, the reward, whether all finite flows are complete, whether the duration passed before, and
            ``{"value": what was set}``.

        """
        self.advance(action)
        self._advanced = False
        simulation = self.simulation
        ends, reward = simulation.finished, float(self._reward(simulation.observe()))
        return self._vector(), reward, ends, simulation.done and not ends, {"value": self.value(action)}

    def advance(self, action: Any) -> None:  # noqa: ANN401 - of the action space
        """The part of :meth:`step` that simulates: it can be done before, on another thread."""
        if not self._advanced:
            self.simulation.set(self._act, self.value(action))
            self.simulation.step(self._every)
            self._advanced = True

    def value(self, action: Any) -> Value:  # noqa: ANN401 - of the action space
        """The value that an action stands for."""
        if isinstance(self._values, list):
            return self._values[int(action)]
        space = self.action_space
        assert isinstance(space, gymnasium.spaces.Box)
        (number,) = np.clip(action, space.low, space.high).tolist()
        return f"{number:.9f}s" if self._unit == "s" else f"{round(number)}{self._unit}"

    def _vector(self) -> NDArray[np.float32]:
        seen = self.simulation.observe()
        return np.concatenate([self._feature(each, seen) for each in self._features]).astype(np.float32)

    def _feature(self, feature: Feature, seen: Observation) -> NDArray[np.float64]:
        if not isinstance(feature, str):
            return np.atleast_1d(np.asarray(feature(seen), dtype=np.float64)).ravel()
        if feature in _OF_PORTS:
            return np.asarray(getattr(seen, feature)[self._ports])
        if feature in _OF_GROUPS:
            return np.asarray(getattr(seen, feature))
        raise ValueError(f"{feature!r} is none of {', '.join([*_OF_PORTS, *_OF_GROUPS])}; a function can show others")


class VectorEnv(SyncVectorEnv):
    """Several environments that simulate at the same time, on threads: the engine releases Python's lock.

    What is observed is the same as without threads, and so is what happens when an episode ends.
    """

    def __init__(self, makers: Sequence[Callable[[], Env]], threads: int | None) -> None:
        """As :func:`make_vector`."""
        super().__init__(makers)
        self._threads = ThreadPoolExecutor(threads)

    def step(self, actions: Any) -> Any:  # noqa: ANN401 - as gymnasium has it
        """One step of each."""
        envs: Any = self.envs
        # Where an episode is over, the next one begins in its place.
        going = [(env, action) for env, action in zip(envs, actions, strict=True) if not env.simulation.done]
        list(self._threads.map(lambda each: each[0].advance(each[1]), going))
        return super().step(actions)

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401 - as gymnasium has it
        """Ends the threads."""
        self._threads.shutdown()


def make(
    scenario: Scenario,
    *,
    act: str,
    values: tuple[str, str] | list[Value],
    observe: Sequence[Feature] = ("queue_packets", "sent_bytes", "marks", "drops"),
    every: str | float = "100us",
    reward: Reward = waiting,
    seeds: Sequence[int] | None = None,
    ports: Sequence[str] | None = None,
) -> Env:
    """An environment: an episode is a run of a scenario, and an action sets one value of it.

    Args:
        scenario: The scenario.
        act: The path that actions set, one of :attr:`fanin.Simulation.settable`.
        values: What it can be. A pair of texts is a range: an action is a number from the one to the other, as an array
            of one. In a list it is the index of a value.
        observe: What an observation has, one after the other: names of fields of :class:`fanin.Observation`, or
            functions of it that return a number or as many numbers each time.
        every: Simulated time between two actions.
        reward: Function of the observation after each of them; by default :func:`waiting`.
        seeds: Seeds of runs; each reset draws one. By default any.
        ports: Ports whose fields are observed; by default that where incast is expected.

    Returns:
        The environment. Observations are vectors in float32; ``names`` says what each number is.

    Raises:
        NotFoundError: gymnasium is not installed.
        ScenarioError: the scenario is not valid.
        ValueError: there is no such field or port, or the range is none.

    """
    return Env(scenario, act, values, observe, every, reward, seeds, ports)


def make_vector(scenario: Scenario, count: int, *, threads: int | None = None, **options: Any) -> VectorEnv:  # noqa: ANN401
    """Several environments that step together.

    Args:
        scenario: The scenario.
        count: How many.
        threads: Threads; by default as Python chooses.
        options: As for :func:`make`.

    """
    return VectorEnv([lambda: make(scenario, **options)] * count, threads)


def _name(feature: Feature) -> str:
    return feature if isinstance(feature, str) else getattr(feature, "__name__", "feature")


def _number(text: str) -> tuple[float, str]:
    """A value and its unit, of which the engine takes the number and the unit together."""
    number, unit = _engine.quantity(text) or (float(text), "")
    return number, unit

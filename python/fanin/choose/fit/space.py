"""The search space: parameters that papers leave open, each with one value for all systems and experiments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fanin.errors import FaninError
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar

Values = dict[str, Scalar]
"""Path of an open parameter -> chosen value."""


@dataclass(frozen=True)
class Open:
    """A parameter that the paper leaves open."""

    path: str
    values: tuple[Scalar, ...]
    """The values to search, all of them admissible."""
    why: tuple[str, ...]
    """Why the text allows each of them."""
    of: tuple[str, ...]
    """The experiments that declare it; the others print a value, or have no such parameter."""


class NotAdmissibleError(FaninError):
    """A parameter or a value that the experiments do not declare as open."""


class Space:
    """The open parameters of several experiments."""

    def __init__(self, parameters: Sequence[Open]) -> None:
        self.parameters = list(parameters)

    @property
    def size(self) -> int:
        """The number of settings."""
        return math.prod(len(each.values) for each in self.parameters)

    def grid(self) -> Iterator[Values]:
        """All settings; the last parameter changes fastest."""
        paths = [each.path for each in self.parameters]
        for values in itertools.product(*(each.values for each in self.parameters)):
            yield dict(zip(paths, values, strict=True))

    def neighbours(self, setting: Values) -> list[tuple[str, Values]]:
        """The settings that differ in one parameter, with its path."""
        return [
            (each.path, {**setting, each.path: value})
            for each in self.parameters
            for value in each.values
            if key({each.path: value}) != key({each.path: setting[each.path]})
        ]

    def restrict(self, experiment: str, setting: Values) -> Values:
        """The part of a setting that applies to an experiment: without open parameters that it does not declare."""
        others = {each.path for each in self.parameters if experiment not in each.of}
        return {path: value for path, value in setting.items() if path not in others}


def key(setting: Values) -> str:
    """A setting as a text that identifies it."""
    return repr(sorted((path, type(value).__name__, value) for path, value in setting.items()))


def words(setting: Values) -> str:
    """A setting as text."""
    return ", ".join(f"{path} = {shown(value)}" for path, value in setting.items())


def shown(value: Scalar) -> str:
    """A value as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def space(experiments: Sequence[Scenario], only: dict[str, list[Scalar]] | None = None) -> Space:
    """The parameters that the experiments leave open.

    A parameter of several experiments takes the values that all of them allow.

    Args:
        experiments: The experiments whose ``[open]`` sections are read.
        only: Parameters to search and, unless the list is empty, the values to search; all if left out.

    Raises:
        NotAdmissibleError: there is nothing to search, or ``only`` asks for what is not declared.

    """
    found: dict[str, Open] = {}
    for experiment in experiments:
        for choice in experiment.open:
            values = {key({"": each.value}): each for each in choice.values}
            before = found.get(choice.path)
            if before is not None:
                common = {key({"": value}) for value in before.values} & values.keys()
                values = {each: values[each] for each in values if each in common}
                if not values:
                    raise NotAdmissibleError(f"{choice.path}: no value is admissible in all of the experiments")
            found[choice.path] = Open(
                choice.path,
                tuple(each.value for each in values.values()),
                tuple(each.why for each in values.values()),
                (*(() if before is None else before.of), experiment.name),
            )
    if not found:
        raise NotAdmissibleError("none of these experiments declares what its paper leaves open: add [open]")
    return Space(list(found.values()) if not only else [_restricted(found, path, only[path]) for path in only])


def _restricted(found: dict[str, Open], path: str, wanted: list[Scalar]) -> Open:
    if path not in found:
        raise NotAdmissibleError(f"{path} is not declared as open; {', '.join(found)} are")
    known = found[path]
    if not wanted:
        return known
    # A value on the command line may be of another type than the same text in a file.
    places = {shown(value): place for place, value in enumerate(known.values)}
    for value in wanted:
        if shown(value) not in places:
            listed = ", ".join(places)
            raise NotAdmissibleError(
                f"{path} = {shown(value)} is not admissible; {listed} are. --sensitivity shows what it would do"
            )
    chosen = sorted({places[shown(value)] for value in wanted})
    return Open(path, tuple(known.values[at] for at in chosen), tuple(known.why[at] for at in chosen), known.of)

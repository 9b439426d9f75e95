"""The search space of a study: ranges and lists of scenario values, converted to and from Optuna's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from fanin.command import worded
from fanin.errors import ScenarioError
from fanin.run.scenario import Scenario
from fanin.scenario import catalogue
from fanin.scenario.format.values import COUNTED, Range, Scalar, parse_range, parse_values

_LOGARITHMIC_FROM_RATIO = 8
"""A range whose last value is so many times its first is searched on a logarithmic scale."""

Values = dict[str, Scalar]

Drawn = dict[str, int | float]
"""Path of a parameter -> number that was drawn, as :meth:`Param.distribution` has it."""


@dataclass(frozen=True)
class Param:
    """A parameter to tune: a range, or a list of values."""

    path: str
    span: Range | None
    choices: tuple[Scalar, ...] = ()
    whole: bool = False
    text: str = ""
    """As the user wrote it."""

    def distribution(self, optuna: ModuleType) -> object:
        """The distribution for Optuna: numbers, or indices into a list of values."""
        if self.span is None:
            return optuna.distributions.IntDistribution(0, len(self.choices) - 1)
        first, last = self.span.first, self.span.last
        log = first > 0 and last >= _LOGARITHMIC_FROM_RATIO * first
        if self.whole:
            return optuna.distributions.IntDistribution(int(first), int(last), log=log)
        return optuna.distributions.FloatDistribution(float(first), float(last), log=log)

    def value(self, drawn: float) -> Scalar:
        """A drawn number as it is written in a scenario file, to three digits."""
        if self.span is None:
            return self.choices[int(drawn)]
        if self.whole:
            return self.span.shown(int(drawn))
        rounded = float(f"{drawn:.3g}")
        return self.span.shown(min(max(rounded, float(self.span.first)), float(self.span.last)))

    def drawn(self, value: str) -> float | None:
        """The number for a value of the scenario; ``None`` if it is not in the range or list."""
        if self.span is None:
            shown = [str(each) for each in self.choices]
            return shown.index(value) if value in shown else None
        point = parse_range(f"{value}..{value}")
        if point is None or point.unit != self.span.unit or not self.span.first <= point.first <= self.span.last:
            return None
        return int(point.first) if self.whole else float(point.first)

    @property
    def every(self) -> list[float] | None:
        """All numbers that can be drawn, if they are finitely many."""
        if self.span is None:
            return [float(place) for place in range(len(self.choices))]
        return [float(each) for each in range(int(self.span.first), int(self.span.last) + 1)] if self.whole else None


def param(text: str, experiment: Scenario) -> Param:
    """The parameter that a text such as ``scheme.dctcp.mark-threshold=5pkt..80pkt`` means.

    Raises:
        ValueError: the text is not a parameter.
        ScenarioError: the scenario has no such value; the message names the closest.

    """
    path, equals, values = text.partition("=")
    path = path.strip()
    if not equals or not path or not values.strip():
        raise ValueError(f"{text!r} is not PATH=FIRST..LAST, such as scheme.dctcp.g=1/64..1/4")
    span = parse_range(values)
    if span is None or span.step is not None:
        choices = parse_values(values)
        if len(choices) < 2:
            raise ValueError(worded(f"{path} has only one value; --set {path}={choices[0]} sets it"))
        found = Param(path, None, tuple(choices), text=text)
    elif span.first >= span.last:
        raise ValueError(f"{path}: {span} is an empty range: the first value must be below the last")
    else:
        counted = span.unit in COUNTED or (not span.unit and _is_whole(path, experiment))
        found = Param(path, span, whole=span.is_whole and counted, text=text)
    for value in (span.shown(span.first), span.shown(span.last)) if found.span and span else found.choices:
        _check(path, str(value), experiment)
    return found


def _check(path: str, value: str, experiment: Scenario) -> None:
    """Checks a value that is to be tried; an error names the option that has it."""
    try:
        experiment.check_settings([(path, value)])
    except ScenarioError as error:
        given = "--param" if error.file == "--set" else error.file
        raise ScenarioError(given, error.line, error.key, error.message, error.suggestion) from None


def _is_whole(path: str, experiment: Scenario) -> bool:
    section, _, rest = path.partition(".")
    name, _, key = rest.partition(".")
    kinds = {group["name"]: group["kind"] for group in experiment.resolved()["traffic"]}
    known = f"traffic.{kinds[name]}.{key}" if section == "traffic" and name in kinds else path
    return catalogue.parameters().get(known, {}).get("takes") == "whole number"


def unused(params: Sequence[Param], experiment: Scenario) -> str | None:
    """The scheme whose parameters would be tuned although nothing in the scenario uses it."""
    resolved = experiment.resolved()
    used = {resolved["transport"]["scheme"], *(group["scheme"] for group in resolved["traffic"])}
    tuned = [each.path.split(".")[1] for each in params if each.path.startswith("scheme.")]
    return next((scheme for scheme in tuned if scheme not in used), None)

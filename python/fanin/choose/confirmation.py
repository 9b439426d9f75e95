"""The best fixes in the Linux kernel: what advice says, beside what Linux does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fanin import _engine
from fanin.choose.advice import Advice, Advised
from fanin.choose.fixes import AS_IT_IS, Fix
from fanin.choose.goals import Measure
from fanin.errors import RunError, ScenarioError
from fanin.numbers.stats import Spread, finite
from fanin.numbers.units import number
from fanin.run.experiment import Experiment
from fanin.run.laboratory import Laboratory, Outcome
from fanin.scenario.format.values import Scalar

MAX_CONFIRMED = 3
"""So many of the best fixes run in the kernel, beside the scenario as it is."""

MAX_SEEDS = 3
"""A run in the kernel takes hundreds of times as long as a simulated one."""

IN_LINUX: dict[str, Scalar] = {"run.backend": "linux"}

IN_SIMULATOR: dict[str, Scalar] = {"run.backend": "simulator"}
"""Said each time: the file may name the kernel."""


@dataclass(frozen=True)
class Confirmed:
    """A fix in the simulator and in the kernel, with the same seeds."""

    fix: Fix
    measure: Measure
    simulated: Spread | None
    """``None`` if the simulator cannot run it, or no run ended."""
    linux: Spread | None
    """``None`` if Linux cannot run it, or no run ended."""
    why_not: str | None
    """Why Linux cannot run it."""
    error: str | None
    """Why a run in Linux failed."""
    no_model: str | None = None
    """Why the simulator cannot run it."""

    def row(self) -> list[str]:
        """The fix, and both values or why there is none."""
        return [self.fix.name, self.no_model or self._word(self.simulated), self.why_not or self._word(self.linux)]

    def _word(self, found: Spread | None) -> str:
        if found is None:
            return "failed"
        said = self.measure.shown(found.without_zero_width)
        return said if math.isinf(found.mean) else f"{said} {self.measure.unit}".rstrip()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "fix": self.fix.name,
            "measure": self.measure.name,
            "simulated": None if self.simulated is None else finite(self.simulated.mean),
            "linux": None if self.linux is None else finite(self.linux.mean),
            "refused": self.why_not,
            "no_model": self.no_model,
            "error": self.error,
        }


def confirm(found: Advice, laboratory: Laboratory) -> list[Confirmed]:
    """Runs the scenario as it is and the best fixes with the first seeds, in the simulator and in the kernel.

    Args:
        found: The advice.
        laboratory: Runs its scenario; simulated runs of the advice are found in its store.

    """
    measure = found.goal.measures[0]
    seeds = found.seeds[:MAX_SEEDS]
    chosen = [found.own, *_best(found)]

    def run(settings: list[dict[str, Scalar]], what: str) -> list[Outcome]:
        return laboratory.cases([(each, seeds) for each in settings], what)

    def spread(outcome: Outcome) -> Spread | None:
        return measure.spread(outcome.rows) if outcome.rows else None

    def run_where(backend: dict[str, Scalar], what: str) -> list[tuple[Outcome, str | None]]:
        refused = [_why_not(laboratory, each.fix, backend) for each in chosen]
        runnable = [each for each, why_not in zip(chosen, refused, strict=True) if why_not is None]
        outcomes = iter(run([each.fix.settings | backend for each in runnable], what))
        return [(next(outcomes) if why_not is None else Outcome([], []), why_not) for why_not in refused]

    simulated = run_where(IN_SIMULATOR, "what the kernel runs too")
    linux = run_where(IN_LINUX, "in the kernel")
    found_in_both = []
    for each, (of_simulator, no_model), (of_linux, why_not) in zip(chosen, simulated, linux, strict=True):
        error = next((failure.error for failure in of_linux.failures), None)
        found_in_both.append(
            Confirmed(each.fix, measure, spread(of_simulator), spread(of_linux), why_not, error, no_model)
        )
    return found_in_both


def _best(found: Advice) -> list[Advised]:
    """The recommended fix first, then the best others that can be deployed."""
    others = [each for each in found.every if each.fix.effort.is_deployable and each.fix.name != AS_IT_IS]
    first = [each for each in [found.best] if each is not None]
    return [*first, *(each for each in others if each is not found.best and not each.is_same)][:MAX_CONFIRMED]


def _why_not(laboratory: Laboratory, fix: Fix, backend: dict[str, Scalar]) -> str | None:
    try:
        laboratory.experiment.handle(dict(fix.settings) | backend).check()
    except ScenarioError as error:
        return f"not in {'Linux' if backend == IN_LINUX else 'the simulator'}: {error.key}"
    return None


def kernel(experiment: Experiment) -> str:
    """The name of the kernel that runs a scenario, such as ``Linux 6.12.117 (HZ=1000)``.

    Raises:
        RunError: it is not built, or from other sources.

    """
    tick_s = number(experiment.resolved()["transport"]["rto-granularity"])
    # Hosts of other tools have no tick; fixes may set Linux's own.
    hz = round(1 / tick_s) if tick_s else 1000
    for of, release, *_, current in _engine.linux_kernels():
        if of == hz and not current:
            raise RunError(
                'the kernel was built from other sources: run "make linux" again, in the checkout that this fanin is '
                f"from (HZ={hz} in {_engine.linux_folder()})"
            )
        if of == hz:
            return f"Linux {release} (HZ={hz})"
    raise RunError(
        f'there is no kernel with HZ={hz} in {_engine.linux_folder()}: run "make linux" in a checkout of fanin'
    )

"""The best fixes in the Linux kernel: what advice says, beside what Linux does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fanin import _engine
from fanin.choose.advice import Advice, Advised
from fanin.choose.fixes import AS_IT_IS, Fix
from fanin.choose.goals import Measure
from fanin.errors import RunError, ScenarioError
from fanin.numbers.stats import Spread, finite
from fanin.numbers.units import number
from fanin.results.dataset import Row
from fanin.run.laboratory import Laboratory, Outcome
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.traffic import without_waiting

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
    waited: bool = False
    """Whether traffic begins in Linux when it did in the simulator: it waits there until other traffic is steady."""

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

    def run_where(backend: dict[str, Scalar], what: str, own: list[_OfSeeds]) -> list[tuple[Outcome, str | None]]:
        refused = [_why_not(laboratory, each.fix, backend, of) for each, of in zip(chosen, own, strict=True)]
        settings = [each.fix.settings | backend for each in chosen]
        asked = [
            [(given | more, [seed]) for seed, more in of.items()] if why_not is None else []
            for given, of, why_not in zip(settings, own, refused, strict=True)
        ]
        outcomes = iter(laboratory.cases(list(itertools.chain(*asked)), what))
        joined = [_joined(itertools.islice(outcomes, len(each))) for each in asked]
        return list(zip(joined, refused, strict=True))

    def spread(outcome: Outcome) -> Spread | None:
        return measure.spread(outcome.rows) if outcome.rows else None

    plain: _OfSeeds = {seed: {} for seed in seeds}
    simulated = run_where(IN_SIMULATOR, "what the kernel runs too", [plain] * len(chosen))
    begun = [_begun(laboratory, each.fix, of.rows) or plain for each, (of, _) in zip(chosen, simulated, strict=True)]
    linux = run_where(IN_LINUX, "in the kernel", begun)
    found_in_both = []
    for each, (of_simulator, no_model), (of_linux, why_not), own in zip(chosen, simulated, linux, begun, strict=True):
        error = next((failure.error for failure in of_linux.failures), None)
        both = spread(of_simulator), spread(of_linux)
        found_in_both.append(Confirmed(each.fix, measure, *both, why_not, error, no_model, waited=own is not plain))
    return found_in_both


_OfSeeds = dict[int, dict[str, Scalar]]
"""Seed -> settings of its run alone."""


def _joined(outcomes: Iterable[Outcome]) -> Outcome:
    """The runs of a case, of which each seed has settings of its own."""
    found = list(outcomes)
    return Outcome([row for each in found for row in each.rows], [each for of in found for each in of.failures])


def _begun(laboratory: Laboratory, fix: Fix, rows: list[Row]) -> _OfSeeds:
    """When traffic that waited began in the simulated runs of a fix, as settings; empty if none waits."""
    resolved = laboratory.experiment.resolved(fix.settings)
    return {row["seed"]: {**settings} for row in rows if (settings := without_waiting(resolved, row))}


def _best(found: Advice) -> list[Advised]:
    """The recommended fix first, then the best others that can be deployed."""
    others = [each for each in found.every if each.fix.effort.is_deployable and each.fix.name != AS_IT_IS]
    first = [each for each in [found.best] if each is not None]
    return [*first, *(each for each in others if each is not found.best and not each.is_same)][:MAX_CONFIRMED]


def _why_not(laboratory: Laboratory, fix: Fix, backend: dict[str, Scalar], own: _OfSeeds) -> str | None:
    settings = dict(fix.settings) | backend | next(iter(own.values()), {})
    try:
        laboratory.experiment.handle(settings).check()
    except ScenarioError as error:
        return f"not in {'Linux' if backend == IN_LINUX else 'the simulator'}: {error.key}"
    return None


def kernel(experiment: Scenario) -> str:
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

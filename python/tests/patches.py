"""What tests put between the pool and the engine, and what they find in the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fanin import Scenario
from fanin.results.store import Store, StoredRun


def before_runs(patch: pytest.MonkeyPatch, look: Callable[[list[tuple[str, str]]], None]) -> None:
    """Calls a function with the settings of each run of a pool, its seed among them, before it is simulated."""
    real = Scenario.simulate_seeds

    def simulate_seeds(self, overrides, seeds, *others):
        for seed in seeds:
            look([*overrides, ("run.seed", str(seed))])
        return real(self, overrides, seeds, *others)

    patch.setattr(Scenario, "simulate_seeds", simulate_seeds)


def stored(out: Path | str = "results") -> dict[str, StoredRun]:
    """All runs of a results folder."""
    store = Store(out)
    return {name: store.read(name) for name in sorted(store.made_for())}


def altered(out: Path | str, sql: str, *values: object) -> None:
    """Changes what is in a store, past fanin."""
    with Store(out).database.transaction() as connection:
        assert connection.execute(sql, values).rowcount > 0

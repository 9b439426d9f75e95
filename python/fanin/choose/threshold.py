"""The marking threshold of the scenario's switch, which is the same whichever scheme the hosts run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fanin.choose.comparison import SCHEME
from fanin.registry import scheme_row, scheme_rows
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.thresholds import MARK_THRESHOLD, THRESHOLD_OF_THE_QUEUE, marking_of, threshold_path, tiers_of


def marks_by_one_threshold(scheme: str) -> bool:
    """Whether the switch of a scheme marks from one threshold on."""
    return any(param["key"] == MARK_THRESHOLD for param in scheme_row(scheme)["params"])


def given_threshold(experiment: Scenario) -> tuple[str, str] | None:
    """The path and the value of the threshold that a scenario sets; ``None`` if it sets none.

    If it sets several, it is that of its queue, or else of its own scheme.
    """
    resolved = experiment.resolved()
    if resolved["queue"]["kind"] == "wred" and (profile := marking_of(resolved)) is not None:
        return profile.path, profile.threshold
    for scheme, path in _list_settable(experiment):
        value = _find_given(experiment, scheme, path)
        if value is not None:
            return path, value
    return None


def given_tiers(experiment: Scenario) -> dict[str, str]:
    """The thresholds that a scenario sets for the ports of single tiers of its network."""
    for scheme, path in _list_settable(experiment):
        table = path.rpartition(".")[0]
        values = {tier: _find_given(experiment, scheme, f"{table}.{key}") for key, tier in tiers_of(path).items()}
        if found := {tier: value for tier, value in values.items() if value is not None}:
            return found
    return {}


def carried_tiers(given: dict[str, str], scenario: dict[str, Any]) -> dict[str, Scalar]:
    """The settings by which a scenario with other schemes or queues has the thresholds of tiers that are given.

    Args:
        given: What :func:`given_tiers` says of the scenario that sets them.
        scenario: The other one, with every default filled in.

    """
    marking = marking_of(scenario)
    if marking is None or marking.path.rpartition(".")[2] not in _ONE_THRESHOLD:
        return {}
    return {marking.path_at(tier): value for tier, value in given.items() if tier not in dict(marking.tiers)}


_ONE_THRESHOLD = (MARK_THRESHOLD, THRESHOLD_OF_THE_QUEUE.partition(".")[2])
"""The keys of thresholds at which a step begins, so that one can have the value of the other."""


def _list_settable(experiment: Scenario) -> list[tuple[str, str]]:
    """Where a scenario can set the threshold of its switch, each with a scheme with which it has an effect."""
    own = str(experiment.resolved()["transport"]["scheme"])
    schemes = [row["key"] for row in scheme_rows() if marks_by_one_threshold(row["key"])]
    return [
        (own, THRESHOLD_OF_THE_QUEUE),
        *((each, threshold_path(each)) for each in sorted(schemes, key=lambda key: key != own)),
    ]


def carried_threshold(experiment: Scenario, scheme: str, given: tuple[str, str] | None) -> dict[str, Scalar]:
    """The setting by which another scheme has the threshold that a scenario sets for its switch.

    It is empty if the scenario sets none, or one for this scheme, or if the scheme does not mark by one threshold.

    Args:
        experiment: The scenario.
        scheme: The other scheme.
        given: What :func:`given_threshold` says of the scenario.

    """
    path = threshold_path(scheme)
    if given is None or not marks_by_one_threshold(scheme) or _find_given(experiment, scheme, path) is not None:
        return {}
    return {path: given[1]}


def value_with(
    experiment: Scenario, scheme: str, path: str, beside: Mapping[str, Scalar] | None = None
) -> tuple[str, bool] | None:
    """A value with a scheme, and whether it is the default; ``None`` if it has no effect with the scheme.

    Args:
        experiment: The scenario.
        scheme: The scheme.
        path: The value's path.
        beside: Further values that come with the scheme.

    """
    rows = experiment.resolved_table({**(beside or {}), SCHEME: scheme})
    return next(((row["value"], row["is_default"]) for row in rows if row["path"] == path), None)


def _find_given(experiment: Scenario, scheme: str, path: str) -> str | None:
    """A value that the scenario sets and that has an effect with a scheme; ``None`` if it has its default."""
    found = value_with(experiment, scheme, path)
    return None if found is None or found[1] else found[0]

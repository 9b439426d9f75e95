"""The marking threshold of the scenario's switch, which is the same whichever scheme the hosts run."""

from __future__ import annotations

from fanin.choose.comparison import SCHEME
from fanin.registry import registry
from fanin.run.experiment import Experiment
from fanin.scenario.format.values import Scalar
from fanin.scenario.thresholds import MARK_THRESHOLD, THRESHOLD_OF_THE_QUEUE, threshold_path


def marks_by_one_threshold(scheme: str) -> bool:
    """Whether the switch of a scheme marks from one threshold on."""
    params = next(row["params"] for row in registry()["schemes"] if row["key"] == scheme)
    return any(param["key"] == MARK_THRESHOLD for param in params)


def given_threshold(experiment: Experiment) -> tuple[str, str] | None:
    """The path and the value of the threshold that a scenario sets; ``None`` if it sets none.

    If it sets several, it is that of its queue, or else of its own scheme.
    """
    own = str(experiment.resolved()["transport"]["scheme"])
    schemes = [row["key"] for row in registry()["schemes"] if marks_by_one_threshold(row["key"])]
    asked = [
        (own, THRESHOLD_OF_THE_QUEUE),
        *((each, threshold_path(each)) for each in sorted(schemes, key=lambda key: key != own)),
    ]
    for scheme, path in asked:
        value = _given(experiment, scheme, path)
        if value is not None:
            return path, value
    return None


def carried_threshold(experiment: Experiment, scheme: str, given: tuple[str, str] | None) -> dict[str, Scalar]:
    """The setting by which another scheme has the threshold that a scenario sets for its switch.

    It is empty if the scenario sets none, or one for this scheme, or if the scheme does not mark by one threshold.

    Args:
        experiment: The scenario.
        scheme: The other scheme.
        given: What :func:`given_threshold` says of the scenario.

    """
    path = threshold_path(scheme)
    if given is None or not marks_by_one_threshold(scheme) or _given(experiment, scheme, path) is not None:
        return {}
    return {path: given[1]}


def value_with(experiment: Experiment, scheme: str, path: str) -> tuple[str, bool] | None:
    """A value with a scheme, and whether it is the default; ``None`` if it has no effect with the scheme."""
    rows = experiment.resolved_table({SCHEME: scheme})
    return next(((row["value"], row["is_default"]) for row in rows if row["path"] == path), None)


def _given(experiment: Experiment, scheme: str, path: str) -> str | None:
    """A value that the scenario sets and that has an effect with a scheme; ``None`` if it has its default."""
    found = value_with(experiment, scheme, path)
    return None if found is None or found[1] else found[0]

"""What a reader should know before trusting a comparison: idle seeds, switches apart, merging."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from fanin.choose.comparison import SCHEME, beside_scheme, some_of, unequal
from fanin.choose.goals import Measure, few_samples, times_among
from fanin.choose.threshold import value_with
from fanin.numbers.stats import FEWEST
from fanin.numbers.summary import BACKGROUND
from fanin.numbers.units import number
from fanin.registry import is_scheduled, scheme_title
from fanin.results.dataset import DataSet, Row, window_s
from fanin.run.observed import unmeasured
from fanin.run.scenario import Scenario
from fanin.scenario.format.values import Scalar
from fanin.scenario.library import is_shipped
from fanin.scenario.loads import SOME_JITTER, without_jitter
from fanin.scenario.points import points
from fanin.scenario.remarks import incomplete, unsteady
from fanin.scenario.settings import Overrides, Settings, settings
from fanin.scenario.thresholds import threshold_path

_COUNT_TIMEOUTS = ("timeouts", "timeout_ratio")
"""Totals that are about retransmission timers alone."""

_LONGER_QUERIES_FACTOR = 1.1
"""Queries that take longer by this factor give the background other traffic beside it."""


def cautions(
    experiment: Scenario,
    measures: Sequence[Measure],
    runs: Sequence[tuple[Settings, Row]],
    cases: Mapping[str, Sequence[Row]],
    shown: Sequence[str] = (),
) -> list[str]:
    """All warnings about what was measured in the runs of a comparison or a search.

    Args:
        experiment: The scenario.
        measures: The measures that decide.
        runs: The settings of each run, and its row of a table of runs.
        cases: Name -> the runs of what is compared.
        shown: Columns that are shown besides.

    """
    measures = list(dict.fromkeys(measures))  # A bound may be on the goal.
    decisive = [*shown, *(name for each in measures for name in each.columns)]
    return [
        *unmeasured(experiment, runs, decisive),
        *filter(None, [unsteady([row for _, row in runs], experiment.resolved())]),
        *few_samples(measures, [row for _, row in runs]),
        *same_with_all_seeds(measures, cases, experiment),
        *over_other_times(measures, cases),
        *waits_that_no_timeout_counts(measures, cases),
    ]


def waits_that_no_timeout_counts(measures: Iterable[Measure], cases: Mapping[str, Sequence[Row]]) -> list[str]:
    """A warning if only timeouts are asked for where transfers waited for tail loss probes, which are none."""
    asked = {each.name: each.column.rpartition(".")[2] in _COUNT_TIMEOUTS for each in measures}
    has_waits = any(row.get("loss_probes") for rows in cases.values() for row in rows)
    if not asked or not all(asked.values()) or not has_waits:
        return []
    return [f"{some_of(list(asked))}: waits for tail loss probes are no timeouts; --keep goodput=90% counts them, too"]


def over_other_times(measures: Iterable[Measure], cases: Mapping[str, Sequence[Row]]) -> list[str]:
    """A warning if the goodput of background traffic is that of runs which end at other times, with their queries.

    Where a system's queries take longer, its background has more time beside few of them.
    """
    lasting = [fmean(map(window_s, rows)) for rows in cases.values() if rows]
    is_asked = any(each.name == BACKGROUND for each in measures)
    if not is_asked or not lasting or max(lasting) < _LONGER_QUERIES_FACTOR * min(lasting):
        return []
    return ["background: it sends longer where queries are slower; 'fanin advise' compares equal times"]


def same_with_all_seeds(
    measures: Iterable[Measure], cases: Mapping[str, Sequence[Row]], experiment: Scenario
) -> list[str]:
    """Warnings of measures that no seed changes: their intervals have no width, which says nothing about certainty.

    Seeds of traffic that starts at once decide only the order of packets that arrive at the same instant. Where any
    starts at random, systems that do not mind have shown that. Zero is no such value: counts of what never occurs are
    the same with all seeds for good reason.

    Args:
        measures: The measures that decide.
        cases: Name -> its runs.
        experiment: The scenario.

    """
    still = without_jitter(experiment.resolved())
    if not still:
        return []
    found = []
    for each in measures:
        of = {name: each.spread(rows) for name, rows in cases.items() if len(rows) >= FEWEST}
        same = [name for name, spread in of.items() if spread.has_no_width and spread.mean != 0]
        if same:
            whose = "" if len(same) == len(cases) else f" ({some_of(same)})"
            found.append(
                f"{each.name}: all seeds gave the same result{whose}, because nothing random changes it; set "
                f"{some_of(still)}, such as {SOME_JITTER}, to see how much it varies"
            )
    return found


def between(experiment: Scenario, cases: Mapping[str, Mapping[str, Scalar]]) -> list[str]:
    """What is to be known of schemes that are compared before anything runs, besides where else the cases differ.

    Args:
        experiment: The scenario.
        cases: Name -> scenario values, the scheme among them.

    """
    schemes = {str(experiment.resolved(values)["transport"]["scheme"]): values for values in cases.values()}
    return [
        *other_switches(experiment, [*schemes], schemes),
        *merging(experiment, schemes),
        *with_schemes_of_their_own(experiment),
    ]


def of_sweep(experiment: Scenario, overrides: Overrides | None = None) -> list[str]:
    """What a comparison warns of, for the schemes that are variants of one axis or values of a variable.

    Papers' files choose the hosts of their systems on purpose, as do variants with a reason.

    Args:
        experiment: The scenario with its sweep.
        overrides: Scenario values to replace.

    """
    if not experiment.needs_network:
        return []
    shipped, given = is_shipped(experiment.path), experiment.given or frozenset()
    why = {(each.axis, each.label) for each in experiment.variants if each.why}
    first: dict[str, dict[str, dict[str, Scalar]]] = {}
    for point in points(experiment, experiment.seeds[:1]):
        own = {} if shipped else {f"variant.{axis}": label for axis, label in point.labels.items()}
        if SCHEME in experiment.sweep.variables and (SCHEME in given or not shipped):
            own[SCHEME] = scheme_title(str(point.values[SCHEME]))
        for axis, label in own.items():
            if (axis.removeprefix("variant."), label) not in why:
                values = {**dict(settings(overrides)), **point.values}
                first.setdefault(axis, {}).setdefault(label, values)
    found = []
    for axis, cases in first.items():
        schemes = {str(experiment.resolved(values)["transport"]["scheme"]) for values in cases.values()}
        if len(schemes) > 1:
            said = [*unequal(beside_scheme(experiment, cases), ""), *between(experiment, cases)]
            found += [f"{axis}: {each}" for each in said]
    return found


def of_data(experiment: Scenario, data: DataSet, given: Iterable[Settings], shown: Sequence[str]) -> list[str]:
    """All warnings about what was measured in the runs of a sweep.

    Args:
        experiment: The scenario with its sweep.
        data: Its runs.
        given: The settings of each run.
        shown: The columns that are shown.

    """
    keys = data.varying()
    cases: dict[str, list[Row]] = {}
    for row in data.rows:
        cases.setdefault(", ".join(str(row[key]) for key in keys), []).append(row)
    runs = list(zip(given, data.rows, strict=True))
    said = cautions(experiment, times_among(shown, experiment), runs, cases, shown)
    return [*filter(None, [incomplete(data.rows, keys)]), *said]


def other_switches(
    experiment: Scenario, schemes: Sequence[str], beside: Mapping[str, Mapping[str, Scalar]] | None = None
) -> list[str]:
    """A warning if the marking threshold that the user's switch has for one scheme is not that of the others.

    If nobody gave one, it is that another may rank the schemes otherwise.

    Args:
        experiment: The scenario.
        schemes: The schemes that are compared.
        beside: Scheme -> further values that come with it.

    """
    beside = beside or {}
    own = str(experiment.resolved()["transport"]["scheme"])
    given: dict[str, str] = {}
    usual: dict[str, str] = {}
    for scheme in dict.fromkeys([own, *schemes]):
        if (found := value_with(experiment, scheme, threshold_path(scheme), beside.get(scheme))) is not None:
            value, is_default = found
            (usual if is_default else given)[scheme] = value
    first, value = next(iter(given.items()), ("", ""))
    apart = {scheme: own for scheme, own in usual.items() if scheme in schemes and own != value}
    if not apart:
        return []
    told = ", ".join(f"{scheme_title(scheme)} {own}" for scheme, own in apart.items())
    if not given:
        paths = some_of([threshold_path(scheme) for scheme in apart])
        return [
            f"marking thresholds are the defaults ({told}), which decide the ranks; set {paths} as your switch has it"
        ]
    how = " ".join(f"--set {threshold_path(scheme)}={value}" for scheme in apart)
    return [
        f"{scheme_title(first)} marks from {value} on, other schemes by their defaults ({told}); for one switch: {how}"
    ]


def merged_before(scenario: Mapping[str, Any]) -> str:
    """Why a resolved scenario says nothing of its scheme: hosts merge what it schedules; nothing if that is not so."""
    transport = scenario["transport"]
    # What no interrupt hands over together is not merged.
    merges = number(transport.get("gro", 0)) > 0 and transport["interrupt-interval"].number > 0
    if not is_scheduled(transport["scheme"]) or not merges:
        return ""
    return (
        f"the receivers schedule segments, which these hosts merge before (transport.gro = {transport['gro']}), so its "
        "effect is not known; see --set transport.gro=0B"
    )


def with_schemes_of_their_own(experiment: Scenario) -> list[str]:
    """A warning of traffic that keeps its scheme whatever system is compared."""
    given = [row["path"] for row in experiment.resolved_table() if not row["is_default"]]
    keys = [path for path in given if path.startswith("traffic.") and path.endswith(".scheme")]
    if not keys:
        return []
    own, named = [path.removesuffix(".scheme") for path in keys], ", ".join(keys)
    return [f"{some_of(own)}: a scheme of its own, which stays the same in every row; leave {named} out to compare it"]


def merging(experiment: Scenario, schemes: Mapping[str, Mapping[str, Scalar]]) -> list[str]:
    """A warning of the schemes of a comparison, each with its values, of which such hosts leave nothing to tell."""
    said = [(scheme_title(scheme), merged_before(experiment.resolved(values))) for scheme, values in schemes.items()]
    return by_what_is_said([(scheme, why) for scheme, why in said if why])


def by_what_is_said(said: Iterable[tuple[str, str]]) -> list[str]:
    """What is said of schemes or fixes, each time with all of which it is."""
    found: dict[str, list[str]] = {}
    for name, what in said:
        found.setdefault(what, []).append(name)
    all_names = (" and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) for names in found.values())
    return [f"{names}: {what}" for names, what in zip(all_names, found, strict=True)]

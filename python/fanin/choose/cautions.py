"""What a reader should know before trusting a comparison: quantiles of few, idle seeds, switches apart, merging."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import fmean
from typing import Any

from fanin.choose.comparison import SCHEME, some_of
from fanin.choose.goals import Measure
from fanin.choose.threshold import value_with
from fanin.numbers.stats import FEWEST, fewest_for
from fanin.numbers.summary import BACKGROUND, format_value
from fanin.numbers.units import number
from fanin.registry import is_scheduled, reacts_to_marks, scheme_title
from fanin.results.dataset import Row, window_s
from fanin.run.experiment import Experiment
from fanin.run.observed import unmeasured
from fanin.scenario.format.column import Column
from fanin.scenario.loads import SOME_JITTER, without_jitter
from fanin.scenario.remarks import unsteady
from fanin.scenario.settings import Settings
from fanin.scenario.thresholds import threshold_path

_COUNT_TIMEOUTS = ("timeouts", "timeout_ratio")
"""Totals that are about retransmission timers alone."""

_LONGER_QUERIES_FACTOR = 1.1
"""Queries that take longer by this factor give the background other traffic beside it."""

_MEDIANS = {"query_p": "query_p50_s", "fct_p": "fct_p50_s"}
"""Beginning of a quantile's name -> the median of the same completion times."""

_QUERY_MEDIAN = Column(
    id="query_p50_s",
    label="Query completion time, median: nearest rank over the queries of a run",
    of="requests.qct_s",
    take="p50",
)
"""The only one of the medians that is no total."""


def cautions(
    experiment: Experiment,
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
        *too_early(experiment, [row for _, row in runs]),
        *few_samples(measures, [row for _, row in runs]),
        *same_with_all_seeds(measures, cases, experiment),
        *over_other_times(measures, cases),
        *waits_that_no_timeout_counts(measures, cases),
    ]


def too_early(experiment: Experiment, rows: Iterable[Row]) -> list[str]:
    """A warning of traffic that began before the long flows beside it were steady."""
    remark = unsteady(rows, experiment.resolved())
    return [] if remark is None else [remark]


def waits_that_no_timeout_counts(measures: Iterable[Measure], cases: Mapping[str, Sequence[Row]]) -> list[str]:
    """A warning if only timeouts are asked for where transfers waited for tail loss probes, which are none.

    A sender with one segment in flight waits as long for its probe as for its timer.
    """
    asked = {each.name: each.column.rpartition(".")[2] in _COUNT_TIMEOUTS for each in measures}
    waited = {name: rows for name, rows in cases.items() if any(row.get("loss_probes") for row in rows)}
    if not asked or not all(asked.values()) or not waited:
        return []
    rows = [row for of in waited.values() for row in of if row.get("loss_probes")]
    longest = [row["fct_max_s"] for row in rows if row.get("fct_max_s") is not None]
    took = f", and one took {format_value('fct_max_s', max(longest))}" if longest else ""
    most = max(row["loss_probes"] for row in rows)
    return [
        f"{some_of(list(asked))}: a wait for a tail loss probe is no timeout, and takes as long where one segment is "
        f"in flight: {some_of(list(waited))} had up to {most:,} in a run{took}. A bound on goodput or query-p99 counts "
        "these waits as well (--keep goodput=90%)"
    ]


def over_other_times(measures: Iterable[Measure], cases: Mapping[str, Sequence[Row]]) -> list[str]:
    """A warning if the goodput of background traffic is that of runs which end at other times, with their queries.

    Where a system's queries take longer, its background has more time beside few of them.
    """
    if not any(each.name == BACKGROUND for each in measures):
        return []
    lasting = {name: fmean(map(window_s, rows)) for name, rows in cases.items() if rows}
    if not lasting:
        return []
    first, last = min(lasting, key=lasting.__getitem__), max(lasting, key=lasting.__getitem__)
    if lasting[last] < _LONGER_QUERIES_FACTOR * lasting[first]:
        return []
    ends = [f"{format_value('simulated_s', lasting[each])} ({each})" for each in (first, last)]
    return [
        f"background: its goodput is over the time that the queries of each run take, from {' to '.join(ends)}. The "
        "longer they take, the more it has. 'fanin advise' compares it over equal times"
    ]


def few_samples(measures: Iterable[Measure], rows: Iterable[Row]) -> list[str]:
    """Warnings of goals and bounds that are quantiles of few completion times of each run.

    More seeds do not help: a mean of the slowest of each run is still one of the slowest.
    """
    rows = list(rows)
    found = []
    for each in measures:
        counts = [count for row in rows if each.quantile and (count := each.quantile.number(row))]
        if each.quantile is None or not counts or min(counts) >= (needed := fewest_for(each.quantile.percent)):
            continue
        few, what = min(counts), each.quantile.counted
        beside = ", and look at the median as well, which 'fanin compare' shows beside" if _medians([each]) else ""
        place = few - math.ceil(Fraction(str(each.quantile.percent)) * few / 100)
        which = f"number {place + 1} from the slowest" if place else "the slowest"
        found.append(
            f"{each.name} takes {needed:,} {what} in a run to be a {each.quantile.percent:g} % quantile, and here is "
            + (f"{which} of {few:,}, often one of the first, whose windows still grow" if few > 1 else "that of one")
            + f". Run more rounds (traffic.NAME.rounds or count){beside * (few > 1)}; "
            "measure.warmup leaves none of them out"
        )
    return found


def with_medians(experiment: Experiment, measures: Iterable[Measure]) -> Experiment:
    """The experiment with the column that :func:`medians` of these measures takes, if it is no total."""
    known = {each.id for each in experiment.columns}
    if _QUERY_MEDIAN.id in known or all(each.column != _QUERY_MEDIAN.id for each in _medians(measures)):
        return experiment
    extended = copy.copy(experiment)
    extended.columns = [*experiment.columns, _QUERY_MEDIAN]
    return extended


def medians(measures: Iterable[Measure], rows: Sequence[Row]) -> list[Measure]:
    """The medians to show beside those measures that are quantiles of few; groups and own columns have none.

    Of one completion time, the median is the same.
    """
    few = [each for each in measures if few_samples([each], rows)]
    return _medians(each for each in few if each.quantile and any((each.quantile.number(row) or 0) > 1 for row in rows))


def _medians(measures: Iterable[Measure]) -> list[Measure]:
    return [
        Measure("median" if name == _QUERY_MEDIAN.id else "median FCT", name, more=False, is_time=True)
        for each in measures
        if each.quantile is not None
        for start, name in _MEDIANS.items()
        if each.column.startswith(start)
    ]


def same_with_all_seeds(
    measures: Iterable[Measure], cases: Mapping[str, Sequence[Row]], experiment: Experiment
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
                f"{each.name}: all seeds gave the same result{whose}, as nothing random in the scenario changes it, "
                f"which is no certainty; set {some_of(still)}, such as {SOME_JITTER}, to see how much it varies"
            )
    return found


def other_switches(experiment: Experiment, schemes: Sequence[str]) -> list[str]:
    """A warning if the marking threshold that the user's switch has for one scheme is not that of the others.

    If nobody gave one, it is that another may rank the schemes otherwise.

    Args:
        experiment: The scenario.
        schemes: The schemes that are compared.

    """
    own = str(experiment.resolved()["transport"]["scheme"])
    given: dict[str, str] = {}
    usual: dict[str, str] = {}
    for scheme in dict.fromkeys([own, *schemes]):
        if (found := value_with(experiment, scheme, threshold_path(scheme))) is not None:
            value, is_default = found
            (usual if is_default else given)[scheme] = value
    told = ", ".join(f"{scheme_title(scheme)} {own}" for scheme, own in usual.items() if scheme in schemes)
    if not given:
        path = threshold_path(next((scheme for scheme in usual if scheme in schemes), own))
        remark = f"marking thresholds are the defaults ({told}), and others may rank otherwise: --set {path}=..."
        return [remark] if told else []
    first, value = next(iter(given.items()))
    apart = {scheme: own for scheme, own in usual.items() if scheme in schemes and own != value}
    if not apart:
        return []
    told = ", ".join(f"{scheme_title(scheme)} {own}" for scheme, own in apart.items())
    how = " ".join(f"--set {threshold_path(scheme)}={value}" for scheme in apart)
    kinds = [scheme_title(each) for each in schemes if reacts_to_marks(each) and each not in usual | given]
    others = f"; {', '.join(kinds)} have thresholds of another kind" if kinds else ""
    return [
        f"{threshold_path(first)} = {value} is the switch of {scheme_title(first)} alone. Others mark by their "
        f"own: {told}{others}. To give them that of {scheme_title(first)}: {how}"
    ]


def merged_before(scenario: Mapping[str, Any]) -> str:
    """Why a resolved scenario says nothing of its scheme: hosts merge what it schedules; nothing if that is not so."""
    transport = scenario["transport"]
    # What no interrupt hands over together is not merged.
    merges = number(transport.get("gro", 0)) > 0 and transport["interrupt-interval"].number > 0
    if not is_scheduled(transport["scheme"]) or not merges:
        return ""
    return (
        f"the receivers schedule segments, which these hosts merge before (transport.gro = {transport['gro']}), so "
        "what that does here is not known"
    )


def with_schemes_of_their_own(experiment: Experiment) -> list[str]:
    """A warning of traffic that keeps its scheme whatever system is compared."""
    given = [row["path"] for row in experiment.resolved_table() if not row["is_default"]]
    keys = [path for path in given if path.startswith("traffic.") and path.endswith(".scheme")]
    if not keys:
        return []
    own, named = [path.removesuffix(".scheme") for path in keys], ", ".join(keys)
    return [f"{some_of(own)}: a scheme of its own, which stays the same in every row; leave {named} out to compare it"]


def merging(experiment: Experiment, schemes: Sequence[str]) -> list[str]:
    """A warning of the schemes of a comparison of which such hosts leave nothing to tell."""
    said = [(scheme_title(scheme), merged_before(experiment.resolved({SCHEME: scheme}))) for scheme in schemes]
    return by_what_is_said([(scheme, why) for scheme, why in said if why])


def by_what_is_said(said: Iterable[tuple[str, str]]) -> list[str]:
    """What is said of schemes or remedies, each time with all of which it is."""
    found: dict[str, list[str]] = {}
    for name, what in said:
        found.setdefault(what, []).append(name)
    all_names = (" and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) for names in found.values())
    return [f"{names}: {what}" for names, what in zip(all_names, found, strict=True)]

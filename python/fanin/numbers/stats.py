"""Percentiles of a run; means and their 95 % confidence intervals over seeds, and shares of seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from fanin.later import np

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"

# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom.
# fmt: off
_T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)
# fmt: on


FEWEST = 3
"""Below this many seeds there is no interval: with two it would be thirteen standard errors wide."""

_SHARE_NOT_SHOWN = 5e-5
"""Share of a value that is no more than half of the last of its four digits, whatever they are."""

_MIN_MODE_DISTANCE = 0.5
"""Two modes are apart by more than so much of the largest value: by a factor of two, if none is negative."""

_MIN_MODE_GAP = 0.75
"""No value lies in so much of the range between two modes."""

QUANTILES = (
    "(..): 2.5th to 97.5th percentile of the seeds, where that interval has impossible values or the seeds fall into "
    "two groups"
)
"""What ends stand for in tables of means over seeds, below the line that says what ± is."""

NO_SPREAD = "no ±: the same with all seeds, to the digits shown"
"""What a mean without an interval stands for, if others have one."""

QUANTILES_OF_DIFFERENCES = (
    "(..) of a difference: 2.5th to 97.5th percentile of the seeds' differences, which fall into two groups. It counts "
    "by the interval of its mean, or if all seeds differ with one sign and six or more of them enough to count. Three "
    "seeds are enough if all differ by a factor of 3"
)
"""The same for differences between runs with the same seeds."""

CONFIDENCE = 0.95
"""Confidence of statements about shares."""


def t_quantile(degrees: int) -> float:
    """Two-sided 95 % quantile of Student's t; beyond 30 degrees of freedom by the expansion in 1/degrees."""
    if degrees <= len(_T_95):
        return _T_95[degrees - 1]
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def mean_interval(values: Floats) -> tuple[float, float]:
    """Mean and half of its 95 % interval; not a number for fewer than three values or infinite ones."""
    mean = float(values.mean())
    if len(values) < FEWEST or not math.isfinite(mean):
        return mean, math.nan
    if (values == values[0]).all():
        return float(values[0]), 0.0
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean, t_quantile(len(values) - 1) * error


@dataclass(frozen=True)
class Spread:
    """A mean over seeds, and what is drawn around it."""

    mean: float
    half: float
    """Half of the mean's 95 % interval; not a number if there is none, or if it cannot be."""
    low: float
    high: float
    quantiles: bool = False
    """Whether the ends are quantiles of the seeds, as no interval of the mean would be right."""

    @property
    def has_no_width(self) -> bool:
        """Whether all seeds gave the same value, to the four digits that are shown."""
        return self.half <= _SHARE_NOT_SHOWN * abs(self.mean)

    @property
    def without_zero_width(self) -> Spread:
        """The same, but without an interval of no width, which would look like certainty."""
        return replace(self, half=math.nan) if self.has_no_width else self

    def as_dict(self) -> dict[str, float | None]:
        """For JSON: the ends are there also where they are quantiles, and ``half`` is null."""
        return {name: finite(getattr(self, name)) for name in ("mean", "half", "low", "high")}


def has_two_modes(values: Floats) -> bool:
    """Whether the values fall into two groups far apart, as of seeds of which some wait for a timer and others do not.

    Student's interval takes values for normal. The mean of two groups is a value that does not occur, and few seeds say
    little about how often each of them does.
    """
    ordered = np.sort(values)
    if len(ordered) < FEWEST or not np.isfinite(ordered).all():
        return False
    gap = float(np.diff(ordered).max())
    return gap > _MIN_MODE_DISTANCE * float(np.abs(ordered).max()) and gap >= _MIN_MODE_GAP * float(
        ordered[-1] - ordered[0]
    )


def spread(values: Floats, most: float = math.inf) -> Spread:
    """A mean with its interval, or with quantiles of the seeds where that interval would mislead.

    Student's interval is symmetric: of few seeds, of which some collapse and others do not, it reaches below zero, or
    above the rate of the link, or it surrounds a mean near which no seed is. The quantiles (2.5 and 97.5 %, nearest
    rank) are values that occurred.

    Args:
        values: One of each seed; if none is negative, none can be.
        most: What no value can be above.

    """
    mean, half = mean_interval(values)
    low, high = mean - half, mean + half
    can_be = (low >= 0 or values.min() < 0) and (high <= most or values.max() > most)
    if math.isnan(half) or (can_be and not has_two_modes(values)):
        return Spread(mean, half, low, high)
    return Spread(mean, math.nan, percentile(values, 2.5), percentile(values, 97.5), quantiles=True)


def fewest_for(percent: float) -> int:
    """Number of values of which the largest is above a percentile with 95 % confidence (Wilks 1941): 299 for 99 %.

    Of fewer, the nearest rank is not known to be near the percentile: it is the largest value, or one of the largest.
    """
    return math.ceil(math.log(1 - CONFIDENCE) / math.log(percent / 100))


def share_at_most(events: int, of: int, confidence: float = CONFIDENCE) -> float:
    """Upper limit of a probability, given the number of events in independent trials.

    Clopper and Pearson's one-sided limit: with any larger probability, so few events have a probability of less than
    ``1 - confidence``. It is exact for any kind of event, also if there was none: 26 % after ten trials.
    """
    if events >= of:
        return 1.0

    def few(share: float) -> float:
        """Probability of at most so many events."""
        logs = (
            math.lgamma(of + 1) - math.lgamma(each + 1) - math.lgamma(of - each + 1)
            + each * math.log(share) + (of - each) * math.log1p(-share)
            for each in range(events + 1)
        )  # fmt: skip
        return math.fsum(map(math.exp, logs))

    low, high = events / of, 1.0
    while high - low > 1e-9:
        share = (low + high) / 2
        low, high = (share, high) if few(share) > 1 - confidence else (low, share)
    return high


def share_interval(events: int, of: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Clopper and Pearson's two-sided interval of a probability, of the number of events in independent trials.

    It holds at least that confidence for any number of events, none included (Clopper and Pearson 1934, Biometrika 26).
    """
    tail = 1 - (1 - confidence) / 2
    return 1 - share_at_most(of - events, of, tail), share_at_most(events, of, tail)


def finite(value: float | None) -> float | None:
    """A number for JSON, which knows neither NaN nor infinity."""
    return value if value is not None and math.isfinite(value) else None


def percentile(values: Floats, percent: float) -> float:
    """Nearest rank: the smallest value that this percentage of the values does not exceed."""
    # Exact: 99.9 % of 1000 values are 999, but 999.0000000000001 in floating point.
    rank = max(math.ceil(Fraction(str(percent)) * len(values) / 100), 1)
    return float(np.sort(values)[rank - 1])


def ends(low: float | None, high: float | None) -> list[float | None] | None:
    """An interval for ``--json``: ``None`` if there is none; infinite ends are ``None`` as well."""
    found = [finite(low), finite(high)]
    return None if found == [None, None] else found

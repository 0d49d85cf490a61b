"""Off-policy estimators on arrays: each turns the rows of a log into terms whose mean is a policy's value."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from druthers.errors import needs
from druthers.types import Floats

# Intervals hold what they say down to about so many rows that carry the estimate (measured: docs/logs.md).
LEAST_EFFECTIVE = 10.0


class Evidence(NamedTuple):
    """What an estimator may use, one entry for each row (n,)."""

    # Chance of the logged choice under the policy that is evaluated, over its propensity. For replay, 1 where the
    # policy chose the same and 0 elsewhere.
    weights: Floats
    outcomes: Floats  # what came of the logged choice
    expected: Floats  # what a model expects of the choices of the policy that is evaluated
    predicted: Floats  # what the model expects of the logged choice
    # What the square of the weight was to be on average, the sum of (chance under the policy)² / propensity over the
    # offered arms; None where the propensities of those not chosen are not known.
    squares: Floats | None = None


class Terms(NamedTuple):
    """An estimator's share of each row, base + weight * rest; the value is their mean."""

    base: Floats
    rest: Floats


class Interval(NamedTuple):
    """A mean, its standard error and its confidence interval."""

    value: float
    error: float
    low: float
    high: float


class Estimate(NamedTuple):
    """The value of a policy, and how much it is above that of the logged choices on the same rows."""

    value: Interval  # mean outcome were the policy to choose
    gain: Interval  # the same minus the mean logged outcome; its interval is that of paired differences
    effective: float  # sample size: as many rows chosen by the policy itself would tell as much
    rows: int  # that were used


def ips(evidence: Evidence) -> Terms:
    """Inverse propensity scoring, w r: unbiased where propensities are right and every choice had a chance."""
    return Terms(np.zeros_like(evidence.outcomes), evidence.outcomes)


def snips(evidence: Evidence) -> Terms:
    """Self-normalized IPS, sum(w r) / sum(w): slightly biased, with less variance; follows a shift of r exactly.

    The terms are those of the ratio's linearization.
    """
    weights, outcomes = evidence.weights / evidence.weights.mean(), evidence.outcomes
    value = float((weights * outcomes).mean())
    return Terms(np.full_like(outcomes, value), (outcomes - value) / evidence.weights.mean())


def direct(evidence: Evidence) -> Terms:
    """Direct method: what the model expects. As good as the model; the interval knows nothing of its errors."""
    return Terms(evidence.expected, np.zeros_like(evidence.outcomes))


def doubly_robust(evidence: Evidence) -> Terms:
    """Direct method corrected by IPS of what the model got wrong: unbiased as IPS is, with less variance."""
    return Terms(evidence.expected, evidence.outcomes - evidence.predicted)


ESTIMATORS: dict[str, Callable[[Evidence], Terms]] = {
    "dr": doubly_robust,
    "snips": snips,
    "ips": ips,
    "replay": snips,  # the mean over the rows on which both chose the same
    "dm": direct,
}


def effective_size(evidence: Evidence) -> float:
    """Return (sum w)² / sum w²; or n over what w² was to be on average, where that is known and says less."""
    weights = evidence.weights
    seen = float(weights.sum()) ** 2 / max(float((weights * weights).sum()), 1e-300)
    return seen if evidence.squares is None else min(seen, len(weights) / float(evidence.squares.mean()))


def estimate(name: str, evidence: Evidence, level: float = 0.95) -> Estimate:
    """Return what an estimator of `ESTIMATORS` makes of the evidence, with confidence intervals.

    The terms of rows are independent or, where the logging policy learned on the way, differ from their means given
    the past by martingale differences: their mean is normal in the limit. In a log of few rows the rare, heavy weights
    may not have been drawn, and the terms vary too little to show it; where it is known how heavy they were to be, what
    is missing is added to the variance. The quantile is that of Student's t with one degree of freedom less than the
    effective sample size.

    Examples
    --------
    >>> import numpy as np
    >>> weights, outcomes, nothing = np.array([2.0, 0.0, 1.0]), np.array([3.0, 5.0, 6.0]), np.zeros(3)
    >>> [estimate(name, Evidence(weights, outcomes, nothing, nothing)).value.value for name in ("ips", "snips")]
    [4.0, 4.0]
    """
    base, rest = ESTIMATORS[name](evidence)
    weights = evidence.weights
    terms = base + weights * rest
    effective = float(len(terms)) if name == "dm" else effective_size(evidence)
    missing = 0.0
    if evidence.squares is not None:
        due = float(evidence.squares.mean() - (weights * weights).mean())
        missing = max(due, 0.0) * float((weights * rest * rest).sum() / weights.sum())
    return Estimate(
        value=interval(terms, effective, level, missing),
        gain=interval(terms - evidence.outcomes, effective, level, missing),
        effective=effective,
        rows=len(terms),
    )


def interval(terms: Floats, effective: float, level: float, missing: float = 0.0) -> Interval:
    """Return the mean of some terms with its confidence interval; `missing` is variance that they do not show."""
    value = float(terms.mean())
    if len(terms) < 2:
        return Interval(value, math.nan, -math.inf, math.inf)
    error = math.sqrt((float(terms.var(ddof=1)) + missing) / len(terms))
    freedom = max(effective - 1.0, 1.0)
    reach = error * float(needs("scipy.special", "lab").stdtrit(freedom, 0.5 + level / 2.0))
    return Interval(value, error, value - reach, value + reach)

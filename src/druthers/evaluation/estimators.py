"""Off-policy estimators on arrays: each turns the rows of a log into terms whose mean is a policy's value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from druthers.errors import needs
from druthers.types import Floats

# Intervals hold what they say down to about so many rows that carry the estimate (measured: docs/logs.md).
LEAST_EFFECTIVE = 10.0


class Evidence(NamedTuple):
    """What an estimator may use, one entry for each row (n,).

    Attributes
    ----------
    weights
        Chance of the logged choice under the policy that is evaluated, over its propensity. For replay, 1 where the
        policy chose the same and 0 elsewhere.
    outcomes
        What came of the logged choice.
    expected
        What a model expects of the choices of the policy that is evaluated.
    predicted
        What the model expects of the logged choice.
    """

    weights: Floats
    outcomes: Floats
    expected: Floats
    predicted: Floats


class Interval(NamedTuple):
    """A mean, its standard error and its confidence interval."""

    value: float
    error: float
    low: float
    high: float


class Estimate(NamedTuple):
    """The value of a policy, and how much it is above that of the logged choices on the same rows.

    Attributes
    ----------
    value
        Mean outcome were the policy to choose.
    gain
        The same minus the mean logged outcome; its interval is that of paired differences.
    effective
        Effective sample size: as many rows chosen by the policy itself would tell as much.
    rows
        Rows that were used.
    """

    value: Interval
    gain: Interval
    effective: float
    rows: int


def ips(evidence: Evidence) -> Floats:
    """Return w r, inverse propensity scoring: unbiased where propensities are right and every choice had a chance.

    Examples
    --------
    >>> import numpy as np
    >>> chosen, other = np.array([2.0, 0.0]), np.zeros(2)
    >>> float(ips(Evidence(chosen, np.array([3.0, 5.0]), other, other)).mean())
    3.0
    """
    return evidence.weights * evidence.outcomes


def snips(evidence: Evidence) -> Floats:
    """Return the terms of self-normalized IPS, sum(w r) / sum(w): slightly biased, with less variance.

    Unlike IPS it follows a shift of all outcomes exactly.
    """
    weights = evidence.weights / evidence.weights.mean()
    value = float((weights * evidence.outcomes).mean())
    terms: Floats = value + weights * (evidence.outcomes - value)
    return terms


def direct(evidence: Evidence) -> Floats:
    """Return what the model expects: as good as the model is, and the interval knows nothing of its errors."""
    return evidence.expected


def doubly_robust(evidence: Evidence) -> Floats:
    """Return what the model expects, corrected by IPS of its errors: unbiased as IPS is, with less variance."""
    return evidence.expected + evidence.weights * (evidence.outcomes - evidence.predicted)


ESTIMATORS: dict[str, Callable[[Evidence], Floats]] = {
    "dr": doubly_robust,
    "snips": snips,
    "ips": ips,
    "replay": snips,  # the mean over the rows on which both chose the same
    "dm": direct,
}


def effective_size(weights: Floats) -> float:
    """Return (sum w)² / sum w², at most the number of rows."""
    squares = float((weights * weights).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0.0 else 0.0


def estimate(name: str, evidence: Evidence, level: float = 0.95) -> Estimate:
    """Return what an estimator of `ESTIMATORS` makes of the evidence, with confidence intervals.

    The terms of rows are independent or, where the logging policy learned on the way, differ from their means given
    the past by martingale differences: their mean is normal in the limit. The quantile is that of Student's t with one
    degree of freedom less than the effective sample size, which widens the interval where few rows decide.
    """
    terms = ESTIMATORS[name](evidence)
    effective = float(len(terms)) if name == "dm" else effective_size(evidence.weights)
    return Estimate(
        value=interval(terms, effective, level),
        gain=interval(terms - evidence.outcomes, effective, level),
        effective=effective,
        rows=len(terms),
    )


def interval(terms: Floats, effective: float, level: float) -> Interval:
    """Return the mean of some terms with its confidence interval."""
    value = float(terms.mean())
    if len(terms) < 2:
        return Interval(value, math.nan, -math.inf, math.inf)
    error = float(terms.std(ddof=1)) / math.sqrt(len(terms))
    freedom = max(effective - 1.0, 1.0)
    reach = error * float(needs("scipy.special", "lab").stdtrit(freedom, 0.5 + level / 2.0))
    return Interval(value, error, value - reach, value + reach)

"""What to expect of arms: per objective a linear function of their features, and each arm's own deviation from it.

The mean reward of arm a is m + W'x_a + d_a with d_a ~ N(0, spread), and a reward has noise of its own. Objectives that
were observed equally often share one regression. How steep it is, and whether features tell anything at all, is
weighed by the evidence, half of the prior being on "nothing"; the spread is fitted by expectation maximization. Where
there are squares of the features beside them, x has both, and evidence of its own says whether they tell anything.
"""

from typing import Any, NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import copy_vector
from druthers.policies.evidence import weigh_features
from druthers.policies.regression import (
    ROUNDING,
    TINY,
    Weighed,
    add_leverage,
    find_leads,
    prior_of_nothing,
    project_means,
    standard,
    standardize,
    weigh,
    weigh_ridges,
)
from druthers.types import Floats, Integers

# Places in `RewardModel.counts`: arms seen, the count of rewards at which to fit next, and the arms behind the fit.
SEEN, NEXT, FITTED = 0, 1, 2
# A fit takes two sweeps of center, expectation and maximization, and comes when there are 5 % more rewards.
SWEEPS = 2
OFTEN = 1.05
# Fewest arms seen for features to be looked at.
LEAST_ARMS = 3
# Prior spread of arms seen is taken twice as large: a best arm lies in its tail, and must not be shrunk for good.
CAUTION = 2.0
# Correlations between objectives are shrunk as if so many arms had shown none.
UNCORRELATED = 5.0
# Chance that features are believed at any time though they tell nothing.
ERROR = 0.05


class RewardModel(NamedTuple):
    """What is common to all arms.

    Features are standardized by `origin` and `scales` (p,), the latter one over a standard deviation. They are q = p
    columns, and with their squares q = 2p. For objective d, `center[d]` is what to expect of an arm whose columns are
    0, `slopes[:, d]` how it changes with them, and `share[d]` how likely it is that they tell anything. The variance of
    that expectation, in units of the spread, is `level[d]` and what `tilt[d]` (q,) gives to the squares of columns
    along `axes[d]` (q, q), from `middle[d]` (q,).
    `lead[d]` is the first objective that was observed as often in each arm: it has middle and axes. Where there are
    features, `plain` (D + 2, D) has center, level and spread as they are without: what counts unless they are believed.
    """

    counts: Floats
    center: Floats
    spread: Floats
    share: Floats
    level: Floats
    lead: Floats
    origin: Floats
    scales: Floats
    middle: Floats
    slopes: Floats
    tilt: Floats
    axes: Floats
    plain: Floats


class FeaturedArms(NamedTuple):
    """What is known of each arm: as `Arms`, with its features, NaN where unknown, and what follows from them.

    `expected` and `leverage` (K, D) are the prior mean of each arm's reward and the root of its variance in units of
    the spread; `believed` (K, D) and `doubt` (K, D (D + 1)/2) are mean and covariance of arms seen. The last four have
    no columns as long as there are no features.
    """

    pulls: Floats
    means: Floats
    features: Floats
    expected: Floats
    leverage: Floats
    believed: Floats
    doubt: Floats


def fresh_model(n_objectives: int, n_features: int, n_columns: int | None = None) -> RewardModel:
    """Return a model that was never fitted; with twice as many columns as features for their squares."""
    d, p, q = n_objectives, n_features, n_features if n_columns is None else n_columns
    return RewardModel(
        counts=np.zeros(3),
        center=np.zeros(d),
        spread=np.zeros((d, d)),
        share=np.zeros(d),
        level=np.zeros(d),
        lead=np.zeros(d),
        origin=np.zeros(p),
        scales=np.zeros(p),
        middle=np.zeros((d, q)),
        slopes=np.zeros((q, d)),
        tilt=np.zeros((d, q)),
        axes=np.zeros((d, q, q)),
        plain=np.zeros((d + 2 if p else 0, d)),
    )


def fresh_arms(n_arms: int, n_objectives: int, n_features: int) -> FeaturedArms:
    """Return rows for arms of which nothing is known."""
    wide = n_objectives if n_features else 0
    return FeaturedArms(
        pulls=np.zeros((n_arms, n_objectives)),
        means=np.zeros((n_arms, n_objectives)),
        features=np.full((n_arms, n_features), np.nan),
        expected=np.zeros((n_arms, wide)),
        leverage=np.zeros((n_arms, wide)),
        believed=np.zeros((n_arms, wide)),
        doubt=np.zeros((n_arms, wide * (wide + 1) // 2)),
    )


@kernel
def believes(share: Floats) -> bool:
    """Tell whether features surely tell something about some objective.

    Under "nothing" the odds are a martingale in each objective, and so is their mean over all of them, however they
    depend on each other: with a chance of `ERROR` at most it ever exceeds one over that (Ville's inequality).
    """
    odds = 0.0
    for k in range(share.shape[0]):
        odds += share[k] / max(1.0 - share[k], 1e-300)
    return bool(odds * ERROR > share.shape[0])


@kernel
def fit_rewards(model: RewardModel, arms: Any, within: Floats, overall: Floats, few: bool) -> None:
    """Fit the model to all arms seen; `within` (D,) is the variance of a reward, `overall` that of all rewards.

    Of `few` arms the spread is unsure: a fit then starts from what is likely over a grid of spreads, and the odds that
    features tell anything are the mean of those over the grid and those of the fit.
    """
    standardize(arms.features, model.origin, model.scales)
    rows, pulls, means = find_seen(arms)
    x = np.empty((rows.shape[0], model.slopes.shape[0]))
    for i in range(rows.shape[0]):
        standard(arms.features[rows[i]], model.origin, model.scales, x[i])
    if model.counts[FITTED] == 0.0:
        for k in range(overall.shape[0]):
            model.spread[k, k] = overall[k]
    find_leads(pulls, model.lead)
    p, grid = model.origin.shape[0], np.zeros(overall.shape[0])
    if few and p > 0:
        grid = weigh_features(model, x, pulls, means, within, overall)
    sweep(model, x, pulls, means, within, overall)
    if few and p > 0:
        for k in range(overall.shape[0]):
            odds = 0.5 * (grid[k] / max(1.0 - grid[k], 1e-300) + model.share[k] / max(1.0 - model.share[k], 1e-300))
            model.share[k] = odds / (1.0 + odds)
    model.counts[SEEN] = rows.shape[0]
    model.counts[FITTED] = rows.shape[0]
    if p > 0:
        for arm in range(1, arms.pulls.shape[0]):
            expect_arm(model, arms, arm)
        for arm in rows:
            recall_arm(model.spread, arms, arm, within)


@kernel
def sweep(model: RewardModel, x: Floats, pulls: Floats, means: Floats, within: Floats, overall: Floats) -> None:
    """Fit the model to standardized features, counts and means of the arms seen."""
    expected = np.empty(pulls.shape)
    for _ in range(SWEEPS):
        regress(model, x, pulls, means, within)
        for i in range(pulls.shape[0]):
            expect(x[i], model.center, model.slopes, expected[i])
        spread_out(model.spread, pulls, means, expected, within, overall)


@kernel
def find_seen(arms: Any) -> tuple[Integers, Floats, Floats]:
    """Return the rows of arms that were seen, and their counts and means."""
    size = arms.pulls.shape[1]
    rows = np.empty(arms.pulls.shape[0], dtype=np.int64)
    count = 0
    for arm in range(arms.pulls.shape[0]):
        total = 0.0
        for k in range(size):
            total += arms.pulls[arm, k]
        if total > 0.0:
            rows[count] = arm
            count += 1
    pulls, means = np.empty((count, size)), np.empty((count, size))
    for i in range(count):
        copy_vector(arms.pulls[rows[i]], pulls[i])
        copy_vector(arms.means[rows[i]], means[i])
    return rows[:count], pulls, means


@kernel
def regress(model: RewardModel, x: Floats, pulls: Floats, means: Floats, within: Floats) -> None:
    """Fit center, slopes and their uncertainty, of all objectives that were observed alike together.

    An arm counts by how much of what it shows is its own mean and not noise, on average over these objectives.
    """
    for first in range(pulls.shape[1]):
        if model.lead[first] == first:
            weighed = weigh(x, model.origin.shape[0], pulls, model.spread, within, model.lead, first)
            model.middle[first] = weighed.middle
            model.axes[first] = weighed.axes
            for k in range(first, pulls.shape[1]):
                if model.lead[k] == first:
                    regress_objective(model, weighed, means[:, k], k)


@kernel
def regress_objective(model: RewardModel, weighed: Weighed, y: Floats, k: int) -> None:
    """Fit center and slopes of the k-th objective to arms' means y of it."""
    p, size, tilt, values = weighed.p, weighed.x.shape[1], model.tilt[k], weighed.values
    products = np.empty(size)
    center, around, count = project_means(weighed, y, products)
    known = (max(model.spread[k, k], ROUNDING), around, count, prior_of_nothing(weighed.squared))
    model.level[k] = weighed.share
    model.share[k] = weigh_ridges(values[:p], products[:p], *known, tilt[:p])
    tilt[p:] = 0.0
    if weighed.squared:
        bent = weigh_ridges(values[p:], products[p:], *known, tilt[p:])
        model.share[k] = 1.0 - (1.0 - model.share[k]) * (1.0 - bent)
    for i in range(size):
        slope = 0.0
        for j in range(size):
            slope += weighed.axes[i, j] * tilt[j] * products[j]
        model.slopes[i, k] = slope
        center -= slope * weighed.middle[i]
    model.center[k] = center


@kernel
def expect(x: Floats, center: Floats, slopes: Floats, out: Floats) -> None:
    """Write what to expect of an arm with these standardized features, per objective."""
    for k in range(out.shape[0]):
        out[k] = center[k]
    for i in range(x.shape[0]):
        for k in range(out.shape[0]):
            out[k] += x[i] * slopes[i, k]


@kernel
def expect_arm(model: RewardModel, arms: Any, arm: int) -> None:
    """Write what to expect of an arm and how unsure that is: the regression, and features that are unknown."""
    features, leverage = arms.features[arm], arms.leverage[arm]
    x = np.empty(model.slopes.shape[0])
    standard(features, model.origin, model.scales, x)
    expect(x, model.center, model.slopes, arms.expected[arm])
    for k in range(leverage.shape[0]):
        leverage[k] = model.level[k]
    for first in range(leverage.shape[0]):
        if model.lead[first] == first:
            add_leverage(x, model.middle[first], model.axes[first], model.tilt, model.lead, first, leverage)
    for k in range(leverage.shape[0]):
        unknown = 0.0
        for i in range(x.shape[0]):
            if np.isnan(features[i % features.shape[0]]):
                unknown += model.slopes[i, k] * model.slopes[i, k]
        leverage[k] = np.sqrt(leverage[k] + unknown / (model.spread[k, k] + TINY))


@kernel
def widen(spread: Floats, leverage: Floats, caution: float, prior: Floats) -> None:
    """Write the prior covariance of an arm: the spread, and how unsure it is what to expect, taken so much wider."""
    for k in range(spread.shape[0]):
        for j in range(spread.shape[0]):
            prior[k, j] = caution * spread[k, j] * (1.0 + leverage[k] * leverage[j])


@kernel
def recall_arm(spread: Floats, arms: Any, arm: int, within: Floats) -> None:
    """Write what is believed of an arm that was seen: its prior, taken wider, and its own rewards."""
    size = spread.shape[0]
    prior = np.empty((size, size))
    doubt = np.empty((size, size))
    widen(spread, arms.leverage[arm], CAUTION, prior)
    update(prior, arms.expected[arm], arms.pulls[arm], arms.means[arm], within, arms.believed[arm], doubt)
    place = 0
    for k in range(size):
        for j in range(k + 1):
            arms.doubt[arm, place] = doubt[k, j]
            place += 1


@kernel
def predict_arms(model: RewardModel, arms: Any, within: Floats, means: Floats, variances: Floats) -> None:
    """Write mean and variance (n, D) of the rewards of all arms, whether they were seen or not."""
    size = model.center.shape[0]
    prior = np.empty((size, size))
    covariance = np.empty((size, size))
    for arm in range(means.shape[0]):
        expect_arm(model, arms, arm)
        widen(model.spread, arms.leverage[arm], 1.0, prior)
        update(prior, arms.expected[arm], arms.pulls[arm], arms.means[arm], within, means[arm], covariance)
        for k in range(size):
            variances[arm, k] = max(covariance[k, k], 0.0)


@kernel
def update(
    prior: Floats, expected: Floats, pulls: Floats, means: Floats, within: Floats, mean: Floats, covariance: Floats
) -> None:
    """Write mean and covariance of an arm's rewards given their prior and its means over so many observations.

    Kalman's form: with O what was observed, G = prior_OO + within/pulls = LL' and Y = L^-1 prior_O., it is
    expected + Y'L^-1 (means - expected)_O and prior - Y'Y: safe without noise, and where nothing was observed.
    """
    size = expected.shape[0]
    places = np.empty(size, dtype=np.int64)
    root = np.empty((size, size))
    rows = np.empty((size, size + 1))
    count = 0
    for k in range(size):
        if pulls[k] > 0.0:
            places[count] = k
            count += 1
    for i in range(count):
        at = places[i]
        for j in range(i + 1):
            value = prior[at, places[j]]
            if i == j:
                value += within[at] / pulls[at] + 1e-12 * prior[at, at] + TINY
            for k in range(j):
                value -= root[i, k] * root[j, k]
            root[i, j] = value / root[j, j] if i > j else np.sqrt(max(value, TINY))
        for k in range(size + 1):
            value = prior[at, k] if k < size else means[at] - expected[at]
            for j in range(i):
                value -= root[i, j] * rows[j, k]
            rows[i, k] = value / root[i, i]
    for k in range(size):
        mean[k] = expected[k]
        for i in range(count):
            mean[k] += rows[i, k] * rows[i, size]
        for j in range(k + 1):
            value = prior[k, j]
            for i in range(count):
                value -= rows[i, k] * rows[i, j]
            covariance[k, j] = covariance[j, k] = value


@kernel
def spread_out(spread: Floats, pulls: Floats, means: Floats, expected: Floats, within: Floats, overall: Floats) -> None:
    """Fit the spread of arms around what is expected of them, one step of expectation maximization.

    With parameter expansion: `stretch` says how much further apart arms are than the spread so far believes; without
    it, many arms seen once would take hundreds of steps. The variance of all rewards counts as one more arm.
    """
    count, size = pulls.shape
    mean = np.empty(size)
    covariance = np.empty((size, size))
    total = np.zeros((size, size))
    stretch = np.zeros((2, size))
    for i in range(count):
        update(spread, expected[i], pulls[i], means[i], within, mean, covariance)
        for k in range(size):
            off = mean[k] - expected[i, k]
            stretch[0, k] += pulls[i, k] * (means[i, k] - expected[i, k]) * off
            stretch[1, k] += pulls[i, k] * (off * off + covariance[k, k])
            for j in range(k + 1):
                total[k, j] += covariance[k, j] + off * (mean[j] - expected[i, j])
    for k in range(size):
        ratio = stretch[0, k] / stretch[1, k] if stretch[1, k] > 0.0 else 1.0
        stretch[0, k] = min(max(ratio, 0.5), 2.0)
    for k in range(size):
        for j in range(k + 1):
            value = stretch[0, k] * stretch[0, j] * total[k, j]
            if k == j:
                value = (value + overall[k]) / (count + 1.0)
            else:
                value *= count / (count + UNCORRELATED) / (count + 1.0)
            spread[k, j] = spread[j, k] = value

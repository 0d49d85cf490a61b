"""Ridge regression of arms' means on their features, with the evidence of several ridges and of none."""

from typing import NamedTuple

import numpy as np

from druthers._eigen import eigen
from druthers._jit import kernel
from druthers._matrices import softmax
from druthers.types import Floats

# Ridges that are tried, per feature: from 33 times the spread of arms explained down to almost nothing.
RIDGES = 12
FIRST_RIDGE = 0.03
RIDGE_STEP = 2.5
TINY = 1e-300
# Variance below which arms are taken to be all the same: what is left of it is rounding, and no evidence of anything.
ROUNDING = 1e-12
# Fewest arms seen for squares of features to be looked at.
LEAST_SQUARED = 64
# A square says no more than this many standard deviations do.
FARTHEST = 4.0


class Weighed(NamedTuple):
    """The columns (n, q) of arms of which each counts so much: around their mean, along the axes of their moments.

    The first `p` columns are features; the others are squares, which count where they are `squared`.
    """

    x: Floats
    p: int
    squared: bool
    weights: Floats
    share: float  # one over the sum of weights
    middle: Floats
    values: Floats  # the sums of squares along the axes
    axes: Floats


@kernel
def standardize(features: Floats, origin: Floats, scales: Floats) -> None:
    """Write mean and one over standard deviation of each feature, where it is known; 0 for one that never differs."""
    for i in range(origin.shape[0]):
        count = mean = deviations = 0.0
        for arm in range(features.shape[0]):
            value = features[arm, i]
            if not np.isnan(value):
                count += 1.0
                step = value - mean
                mean += step / count
                deviations += step * (value - mean)
        origin[i] = mean
        spread = np.sqrt(deviations / max(count, 1.0))
        scales[i] = 1.0 / spread if spread > 1e-9 * abs(mean) and spread > 0.0 else 0.0


@kernel
def standard(features: Floats, origin: Floats, scales: Floats, out: Floats) -> None:
    """Write standardized features, and their squares, of the same scale, if there is room; what is unknown is 0."""
    p = features.shape[0]
    for i in range(p):
        value = features[i]
        out[i] = 0.0 if np.isnan(value) else (value - origin[i]) * scales[i]
    for i in range(out.shape[0] - p):
        far = min(abs(out[i]), FARTHEST)
        out[p + i] = 0.0 if np.isnan(features[i]) else (far * far - 1.0) / np.sqrt(2.0)


@kernel
def find_leads(pulls: Floats, lead: Floats) -> None:
    """Write for each objective the first one that was observed as often in each arm."""
    for k in range(lead.shape[0]):
        lead[k] = k
        for j in range(k):
            apart = 0.0
            for i in range(pulls.shape[0]):
                apart += abs(pulls[i, j] - pulls[i, k])
            if apart == 0.0:
                lead[k] = j
                break


@kernel
def weigh_arms(pulls: Floats, spread: Floats, within: Floats, lead: Floats, first: int, weights: Floats) -> float:
    """Write by how much each arm counts for the objectives that `first` leads; return the sum."""
    total = members = 0.0
    for k in range(pulls.shape[1]):
        members += 1.0 if lead[k] == first else 0.0
    for i in range(pulls.shape[0]):
        weights[i] = 0.0
        for k in range(pulls.shape[1]):
            if lead[k] == first and pulls[i, k] > 0.0:
                own = spread[k, k] + TINY
                weights[i] += own / (own + within[k] / pulls[i, k]) / members
        total += weights[i]
    return total


@kernel
def weigh(x: Floats, p: int, pulls: Floats, spread: Floats, within: Floats, lead: Floats, first: int) -> Weighed:
    """Return the columns of arms as they count for the objectives that `first` leads."""
    size = x.shape[1]
    weights, middle = np.empty(x.shape[0]), np.zeros(size)
    total = weigh_arms(pulls, spread, within, lead, first, weights)
    share = 1.0 / total if total > 0.0 else 0.0
    moments, values, axes = np.empty((size, size)), np.empty(size), np.zeros((size, size))
    for j in range(size):
        for i in range(x.shape[0]):
            middle[j] += share * weights[i] * x[i, j]
    for j in range(size):
        for h in range(j + 1):
            moment = 0.0
            for i in range(x.shape[0]):
                moment += weights[i] * (x[i, j] - middle[j]) * (x[i, h] - middle[h])
            moments[j, h] = moments[h, j] = moment
    squared = size > p and x.shape[0] >= LEAST_SQUARED
    find_axes(moments, p, squared, values, axes)
    return Weighed(x, p, squared, weights, share, middle, values, axes)


@kernel
def find_axes(moments: Floats, p: int, squared: bool, values: Floats, axes: Floats) -> None:
    """Write axes along which rows are uncorrelated, and the sums of squares there: of p features, then of the rest.

    The rest, which are squares, is taken as what the features leave of it, so that each of both has evidence of its
    own; or not at all, its axes being 0.
    """
    size = moments.shape[0]
    line, turned = moments[:p, :p].copy(), np.empty((p, p))
    eigen(line, values[:p], turned)
    axes[:p, :p] = turned
    if not squared:
        return
    told = np.zeros((size - p, p))  # along the axes of the features
    for i in range(size - p):
        for j in range(p):
            for h in range(p):
                told[i, j] += moments[p + i, h] * turned[h, j]
    left = moments[p:, p:].copy()
    most = np.max(values[:p])
    for i in range(size - p):
        for j in range(p):
            if values[j] > 1e-9 * most:
                for h in range(size - p):
                    left[i, h] -= told[i, j] * told[h, j] / values[j]
    bent = np.empty((size - p, size - p))
    eigen(left, values[p:], bent)
    axes[p:, p:] = bent
    for k in range(size - p):
        values[p + k] = max(values[p + k], 0.0)
        for j in range(p):
            if values[j] > 1e-9 * most:
                along = 0.0
                for i in range(size - p):
                    along += told[i, j] * bent[i, k]
                for h in range(p):
                    axes[h, p + k] -= turned[h, j] * along / values[j]


@kernel
def project_means(weighed: Weighed, y: Floats, out: Floats) -> tuple[float, float, float]:
    """Write the weighted sum of rows, around their middle and along the axes, times y around its center.

    Return that center, the weighted squares around it, and how many arms count.
    """
    x, weights = weighed.x, weighed.weights
    center = around = count = 0.0
    for i in range(x.shape[0]):
        center += weighed.share * weights[i] * y[i]
    raw = np.zeros(out.shape[0])
    for i in range(x.shape[0]):
        weight = weights[i] * (y[i] - center)
        if weights[i] > 0.0:
            count += 1.0
            around += weights[i] * (y[i] - center) ** 2 + ROUNDING
        for j in range(out.shape[0]):
            raw[j] += weight * (x[i, j] - weighed.middle[j])
    for j in range(out.shape[0]):
        out[j] = 0.0
        for h in range(out.shape[0]):
            out[j] += weighed.axes[h, j] * raw[h]
    return center, max(around, ROUNDING), count


@kernel
def ridge_of(place: int, p: int) -> float:
    """Return one of the ridges that are tried with p features."""
    return float(FIRST_RIDGE * p * RIDGE_STEP**place)


@kernel
def explain(values: Floats, along: Floats, ridge: float) -> tuple[float, float]:
    """Return how much of the squares a ridge explains, and how freely: sums over the axes."""
    told = free = 0.0
    for j in range(values.shape[0]):
        told += along[j] * along[j] / (values[j] + ridge)
        free += np.log(1.0 + values[j] / ridge)
    return told, free


@kernel
def prior_of_nothing(squared: bool) -> float:
    """Return the log-odds of no features before anything is seen, against one ridge.

    Half of the prior is on nothing at all: where there are squares, that neither of two tells anything.
    """
    return float(np.log(RIDGES * (1.0 / (np.sqrt(2.0) - 1.0) if squared else 1.0)))


@kernel
def weigh_ridges(
    values: Floats, along: Floats, spread: float, around: float, count: float, nothing: float, tilt: Floats
) -> float:
    """Write the mean of 1/(value + ridge) over ridges, by their evidence; return the chance that features tell.

    Against no features at all, the log-evidence of a ridge is half the sum of along^2/(spread (value + ridge))
    - ln(1 + value/ridge) over the axes; `nothing` are the log-odds of that before anything is seen. The chance does
    not take the spread for known, which is estimated too small where features fit by luck: in place of along^2/spread,
    added up, it has -(count - 1) ln(1 - along^2/around), with the squares `around` the center of so many arms.
    """
    p = values.shape[0]
    evidence = np.empty(RIDGES + 1)  # the last is that of no features at all
    chances = np.empty(RIDGES + 1)
    evidence[RIDGES] = chances[RIDGES] = nothing
    for g in range(RIDGES):
        told, free = explain(values, along, ridge_of(g, p))
        evidence[g] = 0.5 * (told / spread - free)
        chances[g] = -0.5 * ((count - 1.0) * np.log(max(1.0 - told / around, 1e-12)) + free)
    softmax(evidence)
    softmax(chances)
    for j in range(p):
        tilt[j] = 0.0
    for g in range(RIDGES):
        for j in range(p):
            tilt[j] += evidence[g] / (values[j] + ridge_of(g, p))
    return float(1.0 - chances[RIDGES])


@kernel
def add_leverage(x: Floats, middle: Floats, axes: Floats, tilt: Floats, lead: Floats, first: int, out: Floats) -> None:
    """Add the variance of a regression at x, for the objectives that `first` leads."""
    for j in range(x.shape[0]):
        along = 0.0
        for i in range(x.shape[0]):
            along += axes[i, j] * (x[i] - middle[i])
        for k in range(out.shape[0]):
            if lead[k] == first:
                out[k] += along * along * tilt[k, j]

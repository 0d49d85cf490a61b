"""Ridge regression of arms' means on their features, with the evidence of several ridges and of none."""

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
# A square says no more than this many standard deviations do.
FARTHEST = 4.0


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
def average(x: Floats, weights: Floats, share: float, out: Floats) -> None:
    """Write the weighted mean of rows; `share` is one over the sum of weights."""
    for j in range(out.shape[0]):
        out[j] = 0.0
        for i in range(x.shape[0]):
            out[j] += share * weights[i] * x[i, j]


@kernel
def add_squares(x: Floats, weights: Floats, middle: Floats, out: Floats) -> None:
    """Write the weighted sum of squares of rows around their middle."""
    for j in range(out.shape[0]):
        for h in range(j + 1):
            total = 0.0
            for i in range(x.shape[0]):
                total += weights[i] * (x[i, j] - middle[j]) * (x[i, h] - middle[h])
            out[j, h] = out[h, j] = total


@kernel
def find_axes(moments: Floats, p: int, squared: bool, values: Floats, axes: Floats) -> None:
    """Write axes along which rows are uncorrelated, and the sums of squares there: of p features, then of the rest.

    The rest, which are squares, is taken as what the features leave of it, so that each of both has evidence of its
    own; or not at all, its axes being 0.
    """
    size = moments.shape[0]
    line, turned = moments[:p, :p].copy(), np.empty((p, p))
    eigen(line, values[:p], turned)
    axes[:] = 0.0
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
def add_products(
    x: Floats, weights: Floats, middle: Floats, y: Floats, center: float, axes: Floats, out: Floats
) -> None:
    """Write the weighted sum of rows, around their middle and along the axes, times y around its center."""
    raw = np.zeros(out.shape[0])
    for i in range(x.shape[0]):
        weight = weights[i] * (y[i] - center)
        for j in range(out.shape[0]):
            raw[j] += weight * (x[i, j] - middle[j])
    for j in range(out.shape[0]):
        out[j] = 0.0
        for h in range(out.shape[0]):
            out[j] += axes[h, j] * raw[h]


@kernel
def weigh_ridges(
    values: Floats, along: Floats, spread: float, around: float, count: float, against: float, tilt: Floats
) -> float:
    """Write the mean of 1/(value + ridge) over ridges, by their evidence; return the chance that features tell.

    Against no features at all, the log-evidence of a ridge is half the sum of along^2/(spread (value + ridge))
    - ln(1 + value/ridge) over the axes; `against` are the odds of that before anything is seen. The chance does not
    take the spread for known, which is estimated too small where features fit by luck: in place of along^2/spread,
    added up, it has -(count - 1) ln(1 - along^2/around), with the squares `around` the center of so many arms.
    """
    p = values.shape[0]
    evidence = np.empty(RIDGES + 1)  # the last is that of no features at all
    chances = np.empty(RIDGES + 1)
    evidence[RIDGES] = chances[RIDGES] = np.log(float(RIDGES) * against)
    for g in range(RIDGES):
        ridge = FIRST_RIDGE * p * RIDGE_STEP**g
        told = free = 0.0
        for j in range(p):
            told += along[j] * along[j] / (values[j] + ridge)
            free += np.log(1.0 + values[j] / ridge)
        evidence[g] = 0.5 * (told / spread - free)
        chances[g] = -0.5 * ((count - 1.0) * np.log(max(1.0 - told / around, 1e-12)) + free)
    softmax(evidence)
    softmax(chances)
    for j in range(p):
        tilt[j] = 0.0
    for g in range(RIDGES):
        ridge = FIRST_RIDGE * p * RIDGE_STEP**g
        for j in range(p):
            tilt[j] += evidence[g] / (values[j] + ridge)
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

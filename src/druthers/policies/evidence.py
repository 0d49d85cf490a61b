"""Whether features tell anything of a few arms, and how far these are apart: by evidence, whatever the other may be."""

from typing import Any, NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers.policies.regression import (
    FIRST_RIDGE,
    RIDGE_STEP,
    RIDGES,
    add_products,
    add_squares,
    average,
    find_axes,
    weigh_arms,
)
from druthers.types import Floats

# Spreads that are tried, of the variance of all rewards: 1, 1/4, ... 1/1024.
SPREADS = 6
SPREAD_STEP = 0.25
# Spread below which arms are taken to be all the same: what is left of it is rounding, and no evidence of anything.
ROUNDING = 1e-12
NEVER = -1e300


class Weighed(NamedTuple):
    """Features of arms of which each counts so much: around their mean, along the axes of their moments."""

    x: Floats
    weights: Floats
    middle: Floats
    values: Floats
    axes: Floats


@kernel
def weigh_features(
    model: Any, x: Floats, pulls: Floats, means: Floats, within: Floats, overall: Floats, squared: bool
) -> Floats:
    """Return the chance that features tell anything of each objective, and stretch the spread to what is likely.

    A fit goes from one spread to the next that suits the slopes it has, and these suit the spread: where both are
    small, or both large, it stays. So every spread of a grid is tried with every ridge, and with no features at all.
    Half of the prior is on nothing, and the same spreads are there for it: weights that suit features would not do.
    """
    size, p, lead, spread = overall.shape[0], model.origin.shape[0], model.lead, model.spread
    share, logs = np.empty(size), np.empty((size, SPREADS, 2 * RIDGES + 1))
    trial = np.zeros((size, size))
    weights, middle, values = np.empty(x.shape[0]), np.empty(x.shape[1]), np.empty(x.shape[1])
    moments, axes = np.empty((x.shape[1], x.shape[1])), np.empty((x.shape[1], x.shape[1]))
    weighed = Weighed(x, weights, middle, values, axes)
    for h in range(SPREADS):
        for k in range(size):
            trial[k, k] = max(overall[k] * SPREAD_STEP**h, ROUNDING)
        for first in range(size):
            if lead[first] == first:
                total = weigh_arms(pulls, trial, within, lead, first, weights)
                average(x, weights, 1.0 / total if total > 0.0 else 0.0, middle)
                add_squares(x, weights, middle, moments)
                find_axes(moments, p, squared, values, axes)
                for k in range(first, size):
                    if lead[k] == first:
                        weigh_spread(weighed, p, squared, means[:, k], trial[k, k], logs[k, h])
    # Half of the prior is on nothing at all: that neither of two tells anything.
    against = 1.0 / (np.sqrt(2.0) - 1.0) if squared else 1.0
    for k in range(size):
        chance, level = conclude(logs[k], against * RIDGES)
        share[k] = chance
        own = max(overall[k], ROUNDING) * SPREAD_STEP**level
        stretch = np.sqrt(own / max(spread[k, k], ROUNDING))
        for j in range(size):
            spread[k, j] *= stretch
            spread[j, k] *= stretch
        spread[k, k] = own
    return share


@kernel
def weigh_spread(weighed: Weighed, p: int, squared: bool, y: Floats, spread: float, logs: Floats) -> None:
    """Write the log-evidence of a spread with each ridge for the features, each for their squares, and with nothing.

    The restricted likelihood of arms' means y, whose variances are the spread over the weights, the level being flat.
    """
    x, weights, values = weighed.x, weighed.weights, weighed.values
    total = center = around = fixed = 0.0
    for i in range(x.shape[0]):
        if weights[i] > 0.0:
            total += weights[i]
            center += weights[i] * y[i]
            fixed += np.log(spread / weights[i])
    center /= max(total, ROUNDING)
    for i in range(x.shape[0]):
        around += weights[i] * (y[i] - center) ** 2
    fixed += np.log(max(total, ROUNDING) / spread) + around / spread
    products = np.empty(x.shape[1])
    add_products(x, weights, weighed.middle, y, center, weighed.axes, products)
    logs[:] = NEVER
    logs[2 * RIDGES] = -0.5 * fixed
    for part in range(2 if squared else 1):
        for g in range(RIDGES):
            ridge = FIRST_RIDGE * p * RIDGE_STEP**g
            told = free = 0.0
            for j in range(part * p, part * p + p):
                told += products[j] * products[j] / (values[j] + ridge)
                free += np.log(1.0 + values[j] / ridge)
            logs[part * RIDGES + g] = -0.5 * (fixed + free - told / spread)


@kernel
def conclude(logs: Floats, against: float) -> tuple[float, float]:
    """Return the chance that features or squares tell anything, and the mean place of the spread in the grid."""
    most = np.max(logs)
    line = bent = nothing = place = 0.0
    for h in range(SPREADS):
        none = against * np.exp(logs[h, 2 * RIDGES] - most)
        straight = 0.0
        for g in range(RIDGES):
            straight += np.exp(logs[h, g] - most)
            bent += np.exp(logs[h, RIDGES + g] - most)
        line += straight
        nothing += none
        place += h * (none + straight)
    neither = nothing / (nothing + line) * (nothing / (nothing + bent)) if nothing > 0.0 else 0.0
    return 1.0 - neither, place / max(nothing + line, 1e-300)

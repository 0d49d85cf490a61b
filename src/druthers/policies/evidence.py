"""Whether features tell anything of a few arms, and how far these are apart: by evidence, whatever the other may be."""

from typing import Any

import numpy as np

from druthers._jit import kernel
from druthers.policies.regression import (
    RIDGES,
    ROUNDING,
    TINY,
    Weighed,
    explain,
    prior_of_nothing,
    project_means,
    ridge_of,
    weigh,
)
from druthers.types import Floats

# Spreads that are tried, of the variance of all rewards: 1, 1/4, ... 1/1024.
SPREADS = 6
SPREAD_STEP = 0.25
NEVER = -1e300


@kernel
def weigh_features(model: Any, x: Floats, pulls: Floats, means: Floats, within: Floats, overall: Floats) -> Floats:
    """Return the chance that features tell anything of each objective, and stretch the spread to what is likely.

    A fit goes from one spread to the next that suits the slopes it has, and these suit the spread: where both are
    small, or both large, it stays. So every spread of a grid is tried with every ridge, and with no features at all.
    Half of the prior is on nothing, and the same spreads are there for it: weights that suit features would not do.
    """
    size, lead, spread = overall.shape[0], model.lead, model.spread
    share, logs = np.empty(size), np.empty((size, SPREADS, 2 * RIDGES + 1))
    trial = np.zeros((size, size))
    for h in range(SPREADS):
        for k in range(size):
            trial[k, k] = max(overall[k] * SPREAD_STEP**h, ROUNDING)
        for first in range(size):
            if lead[first] == first:
                weighed = weigh(x, model.origin.shape[0], pulls, trial, within, lead, first)
                for k in range(first, size):
                    if lead[k] == first:
                        weigh_spread(weighed, means[:, k], trial[k, k], logs[k, h])
    for k in range(size):
        chance, level = conclude(logs[k])
        share[k] = chance
        own = max(overall[k], ROUNDING) * SPREAD_STEP**level
        stretch = np.sqrt(own / max(spread[k, k], ROUNDING))
        for j in range(size):
            spread[k, j] *= stretch
            spread[j, k] *= stretch
        spread[k, k] = own
    return share


@kernel
def weigh_spread(weighed: Weighed, y: Floats, spread: float, logs: Floats) -> None:
    """Write the log-evidence of a spread with each ridge for the features, each for their squares, and with nothing.

    The restricted likelihood of arms' means y, whose variances are the spread over the weights, the level being flat.
    """
    p, products = weighed.p, np.empty(weighed.x.shape[1])
    fixed = project_means(weighed, y, products)[1] / spread - np.log(max(weighed.share * spread, TINY))
    for weight in weighed.weights:
        if weight > 0.0:
            fixed += np.log(spread / weight)
    logs[:] = NEVER
    logs[2 * RIDGES] = prior_of_nothing(weighed.squared) - 0.5 * fixed
    for part in range(2 if weighed.squared else 1):
        some = slice(part * p, part * p + p)
        for g in range(RIDGES):
            told, free = explain(weighed.values[some], products[some], ridge_of(g, p))
            logs[part * RIDGES + g] = -0.5 * (fixed + free - told / spread)


@kernel
def conclude(logs: Floats) -> tuple[float, float]:
    """Return the chance that features or squares tell anything, and the mean place of the spread in the grid."""
    most = np.max(logs)
    line = bent = nothing = place = 0.0
    for h in range(SPREADS):
        none = np.exp(logs[h, 2 * RIDGES] - most)
        straight = 0.0
        for g in range(RIDGES):
            straight += np.exp(logs[h, g] - most)
            bent += np.exp(logs[h, RIDGES + g] - most)
        line += straight
        nothing += none
        place += h * (none + straight)
    neither = nothing / (nothing + line) * (nothing / (nothing + bent)) if nothing > 0.0 else 0.0
    return 1.0 - neither, place / max(nothing + line, 1e-300)

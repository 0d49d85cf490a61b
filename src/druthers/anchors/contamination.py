"""The contamination model that the robust anchors share: a ranking is Plackett-Luce or, with some chance, uniform.

A preference permuted uniformly at random gives an exactly uniform ranking, so (1 - eps) PL(c) + eps Uniform *is* the
fresh-permutation model of section 6.1, and a good model of the others.
"""

from __future__ import annotations

import numpy as np

from druthers._jit import kernel
from druthers.types import Floats


@kernel
def uniform_loss(length: int, n_objectives: int) -> float:
    """Return minus the log-probability of any one ranking of this length when all are equally likely."""
    total = 0.0
    for place in range(length):
        total += np.log(n_objectives - place)
    return total


@kernel
def honesty(loss: float, uniform: float, corruption: float) -> float:
    """Return the chance that a ranking with this Plackett-Luce loss came from the preference and not from nowhere."""
    if corruption <= 0.0:
        return 1.0
    if corruption >= 1.0:
        return 0.0
    return float(1.0 / (1.0 + corruption / (1.0 - corruption) * np.exp(min(loss - uniform, 700.0))))


@kernel
def mixture_log_likelihood(losses: Floats, uniforms: Floats, corruption: float) -> float:
    """Return the log-probability of the rankings under the mixture, given their Plackett-Luce and uniform losses."""
    total = 0.0
    for j in range(losses.shape[0]):
        low = min(losses[j], uniforms[j])
        total += (
            np.log((1.0 - corruption) * np.exp(low - losses[j]) + corruption * np.exp(low - uniforms[j]) + 1e-300) - low
        )
    return total


@kernel
def likely_corruption(losses: Floats, uniforms: Floats) -> float:
    """Return the corruption in [0, 1] that maximizes the mixture likelihood (concave in it; bisection on its slope)."""
    low = 0.0
    high = 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        slope = 0.0
        for j in range(losses.shape[0]):
            odds = np.exp(min(uniforms[j] - losses[j], 700.0))
            slope += (1.0 - odds) / (odds + middle * (1.0 - odds))
        if slope > 0.0:
            low = middle
        else:
            high = middle
    return low if high < 1.0 else high

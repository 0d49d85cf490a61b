"""When to ask: what a ranking of the objectives would be worth to the next decision, against acting now."""

import numpy as np

from druthers.beliefs.points import POINTS
from druthers.rankings import hessian
from druthers.types import Floats, Preference

# Half of the draws of what will be believed after the answer, mirror images being the others.
DRAWS = 64
# The information of a ranking is averaged over so many that may be given.
RANKINGS = 6
# Of more arms than these, decisions are taken to be between so many, in so many offers.
OFFERED, OFFERS = 10, 12


def ranking_value(preference: Preference, unit: float, rewards: Floats, length: int) -> float:
    """Return how much better the next decision is expected to be after a ranking of the user's first objectives.

    A ranking with information I, averaged over rankings by what is believed now, takes the covariance of the weights
    from V to V' = (V^-1 + I/unit^2)^-1, so that the estimate will move from w to a draw w' of N(w, V - V'). The value
    is E[max <w', r>] - max <w, r>, in units of utility, as a mean over offers of arms with estimated rewards r: nothing
    where no answer would change what is chosen.

    Parameters
    ----------
    preference
        What is believed of the user's weights.
    unit
        How many units of utility one of the Plackett-Luce model is worth.
    rewards
        Estimated rewards (n, D) of the arms that are known.
    length
        How many objectives would be ranked.
    """
    if len(rewards) < 2:
        return 0.0
    mean, size = preference.weights, len(preference.weights)
    rng = np.random.default_rng(0)
    information = np.zeros((size, size))
    for _ in range(RANKINGS):
        order = np.argsort(-(mean / unit + rng.gumbel(size=size)))[:length]
        information -= hessian(order, mean / unit) / (RANKINGS * unit * unit)
    # With V = RR' and R'(I/unit^2)R = U e U', V - V' is RU e/(1 + e) U'R'. The level of the weights, of which rankings
    # tell nothing, may have a variance of any size: the difference of V and V' themselves would drown in its rounding.
    variances, axes = np.linalg.eigh(np.asarray(preference.covariance))
    root = axes * np.sqrt(np.maximum(variances, 0.0))
    told, turned = np.linalg.eigh(root.T @ information @ root)
    told = np.maximum(told, 0.0)
    half = POINTS[:DRAWS, np.arange(size) % POINTS.shape[1]]
    moves = (np.vstack([half, -half]) * np.sqrt(told / (1.0 + told))) @ (root @ turned).T
    now = rewards @ mean
    then = now + moves @ rewards.T
    offers = [np.arange(len(rewards))]
    if len(rewards) > OFFERED:
        offers = [rng.choice(len(rewards), OFFERED, replace=False) for _ in range(OFFERS)]
    return float(np.mean([then[:, offer].max(axis=1).mean() - now[offer].max() for offer in offers]))

"""Estimating a preference: the constants, errors and radii of the paper, as printed and as their proofs give them."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from druthers.rankings import hessian
from druthers.sampling import sample_rankings
from druthers.types import Floats

# Up to so many objectives, all sets that may have been ranked are listed.
MOST_SETS = 10


class QueryError(NamedTuple):
    """A bound on |anchor - centered preference|, and whether its condition on the number of rounds is met."""

    error: float
    holds: bool


class RadiusParts(NamedTuple):
    """A radius and its three parts: the anchor's error, the shift, the noise of utilities."""

    anchor: float
    shift: float
    noise: float

    @property
    def total(self) -> float:
        """The radius."""
        return self.anchor + self.shift + self.noise


class PenaltyBound(NamedTuple):
    """Bounds on the gradient of one ranking, as printed (Lemma 12) and sharp; penalties of Lemma 4 and the authors."""

    printed: float
    sharp: float
    lemma_4: float
    authors: float


def round_constant(n_objectives: int, bound: float) -> float:
    """Return C_0 = 2 D (16 e^(2B) + 8)^2 of Lemma 1: its bound holds from C_0 ln(T/rho) rounds on.

    The proof needs m t >= 128 D (2 e^(2B) + 1)^2 ln(t/rho), which is the same number: the print stands.

    Examples
    --------
    >>> round(round_constant(20, 1.0))
    637309
    """
    return 2.0 * n_objectives * (16.0 * math.exp(2.0 * bound) + 8.0) ** 2


def first_round(n_objectives: int, bound: float, horizon: float, risk: float, *, appendix: bool = False) -> float:
    """Return the round from which Lemma 1 is claimed: C_0 ln(T/rho).

    The appendix has 8 (2 e^(2B) + 1) sqrt(2 D T ln(T/rho)), more than the proof needs: the former stands.
    """
    logs = math.log(horizon / risk)
    if appendix:
        return 8.0 * (2.0 * math.exp(2.0 * bound) + 1.0) * math.sqrt(2.0 * n_objectives * horizon * logs)
    return round_constant(n_objectives, bound) * logs


def curvature(n_objectives: int, bound: float) -> float:
    """Return 1/(D (4 e^(4B) + 2 e^(2B))) of Lemma 6: the least information of a ranked place, for weights within B."""
    return 1.0 / (n_objectives * (4.0 * math.exp(4.0 * bound) + 2.0 * math.exp(2.0 * bound)))


def query_constant(n_objectives: int, bound: float) -> float:
    """Return D (32 e^(4B) + 16 e^(2B)), the constant C_1 D of Lemma 1."""
    return n_objectives * (32.0 * math.exp(4.0 * bound) + 16.0 * math.exp(2.0 * bound))


def query_error(rounds: float, *, n_objectives: int, bound: float, risk: float, mean_length: float) -> QueryError:
    """Return Lemma 1: D (32 e^(4B) + 16 e^(2B)) sqrt(ln(t/rho)/(m t)), m the mean length of the rankings.

    It is twice the gradient, 4 sqrt(m t ln(t/rho)) by Lemma 7, over the curvature, m t `curvature` by Lemma 6.
    """
    logs = math.log(rounds / risk)
    error = query_constant(n_objectives, bound) * math.sqrt(logs / (mean_length * rounds))
    return QueryError(error, mean_length * rounds >= round_constant(n_objectives, bound) * logs)


def hessian_error(
    information: ArrayLike, total_length: float, rounds: float, risk: float, *, spread: float = 0.0
) -> float:
    """Return Lemma 1 with the information that there is instead of the least there could be.

    2 e^spread 2 sqrt(2) sqrt(L ln(t/rho))/xi_2(H), where L is the number of places ranked, xi_2 the smallest eigenvalue
    but that of the constant, 2 sqrt(2) the constant of Lemma 7 that its proof gives (increments of at most sqrt(2)),
    and `spread` how far apart (max - min) the estimate is from where H was computed: by self-concordance
    H(c + u) >= e^(-spread) H(c).
    """
    values = np.linalg.eigvalsh(np.asarray(information, dtype=float))
    gradient = 2.0 * math.sqrt(2.0) * math.sqrt(total_length * math.log(rounds / risk))
    return float(2.0 * math.exp(spread) * gradient / values[1])


def ranking_information(preference: ArrayLike, length: int, *, draws: int = 4_000, seed: int = 0) -> Floats:
    """Return the Fisher information (D, D) of one top-m ranking; above 10 objectives the mean over draws.

    It is the sum over places of the expected covariance of a choice among what is left, by the chances of all sets
    that may have been ranked before. For c = 0 that is k (I - 11'/D), k = sum over places j of (D - j)/((D - j + 1)
    (D - 1)), at any D. Its pseudo-inverse over the number of rankings is the Cramer-Rao limit of the centered
    preference's covariance.

    Examples
    --------
    >>> ranking_information([0.0, 0.0, 0.0], 1).round(4).tolist()
    [[0.2222, -0.1111, -0.1111], [-0.1111, 0.2222, -0.1111], [-0.1111, -0.1111, 0.2222]]
    """
    weights = np.asarray(preference, dtype=float)
    size = len(weights)
    if np.ptp(weights) == 0.0:
        scale = sum((size - j) / ((size - j + 1) * (size - 1)) for j in range(1, length + 1)) if size > 1 else 0.0
        return scale * (np.eye(size) - 1.0 / size)
    if size <= MOST_SETS:
        return _information_by_sets(np.exp(weights - weights.max()), length)
    sample = sample_rankings(weights, length=length, rounds=draws, rng=np.random.default_rng(seed))
    information: Floats = -np.mean([hessian(ranking, weights) for ranking in sample.rankings()], axis=0)
    return information


def _information_by_sets(odds: Floats, length: int) -> Floats:
    """Return the information place by place: a set is as likely as all ways to rank one of its members last."""
    size = len(odds)
    information = np.zeros((size, size))
    chances = {0: 1.0}  # sets as bits
    for _ in range(length):
        after: dict[int, float] = {}
        for taken, chance in chances.items():
            left = np.array([0.0 if taken >> k & 1 else odds[k] for k in range(size)])
            left /= left.sum()
            information += chance * (np.diag(left) - np.outer(left, left))
            for k in np.flatnonzero(left):
                reached = taken | 1 << int(k)
                after[reached] = after.get(reached, 0.0) + chance * float(left[k])
        chances = after
    return information


def repaired_radius(
    rounds: float,
    *,
    n_objectives: int,
    feedback_weight: float,
    ridge: float,
    bound: float,
    risk: float,
    mean_length: float,
) -> RadiusParts:
    """Return the radius of Lemma 2 as its proof gives it, part by part; `hybrid_radius` is the print.

    D (32 e^(4B) + 16 e^(2B)) sqrt((1 + lambda)(1 - alpha) ln(t/rho)/(m t)), B sqrt((1 - alpha) lambda D), and
    sqrt(alpha) B D/2 sqrt(D ln(1 + alpha (t - 1)/((1 - alpha)(1 + lambda))) + ln((1 + lambda)/lambda) + 2 ln(1/rho)).
    The print has alpha for the last sqrt(alpha), which is too small as alpha falls, and B sqrt(2 (1 - alpha) lambda),
    too small for D > 2. This one stands.
    """
    left = 1.0 - feedback_weight
    logs = math.log(rounds / risk) / (mean_length * rounds)
    growth = n_objectives * math.log1p(feedback_weight * (rounds - 1.0) / (left * (1.0 + ridge)))
    start = math.log((1.0 + ridge) / ridge) - 2.0 * math.log(risk)
    return RadiusParts(
        anchor=query_constant(n_objectives, bound) * math.sqrt((1.0 + ridge) * left * logs),
        shift=bound * math.sqrt(left * ridge * n_objectives),
        noise=math.sqrt(feedback_weight) * bound * n_objectives / 2.0 * math.sqrt(growth + start),
    )


def reward_width(rounds: float, pulls: float, risk: float) -> float:
    """Return gamma = sqrt(ln(t/rho)/max(1, N)) of Lemma 3, for rewards between 0 and 1."""
    return math.sqrt(math.log(rounds / risk) / max(1.0, pulls))


def gradient_bound(n_objectives: int, length: int) -> PenaltyBound:
    """Return bounds on the gradient of one top-m ranking, and the penalties that are set by them.

    Printed (Lemma 12): sqrt(m + m^2 (D - m)), wrong for m = D. Sharp: sqrt(k (k + 1)), k = min(m, D - 1); it stands.
    Lemma 4 asks for a penalty of D^3/3, the authors take D^3/27. A penalty at or above the sharp bound makes every
    deviation of Eq. 9 zero, so the "robust" estimate is the plain one.

    Examples
    --------
    >>> gradient_bound(6, 6).sharp < gradient_bound(6, 6).authors < gradient_bound(6, 6).lemma_4
    True
    """
    most = min(length, n_objectives - 1)
    return PenaltyBound(
        printed=math.sqrt(length + length**2 * (n_objectives - length)),
        sharp=math.sqrt(most * (most + 1.0)),
        lemma_4=n_objectives**3 / 3.0,
        authors=n_objectives**3 / 27.0,
    )

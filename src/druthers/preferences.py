"""What rankings and utilities say together: the hybrid estimate of Eq. 5 and its radii."""

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import kernel
from druthers._matrices import add_rank_one, factor, solve
from druthers.errors import InvalidSetting
from druthers.types import Floats


@kernel
def learn_utility(root: Floats, response: Floats, reward: Floats, utility: float, weight: float) -> None:
    """Add weight (<c, reward> - utility)^2 to a quadratic with matrix R'R and right-hand side `response`, in O(D^2)."""
    scale = np.sqrt(weight)
    vector = np.empty(reward.shape[0])
    for k in range(reward.shape[0]):
        vector[k] = scale * reward[k]
        response[k] += weight * utility * reward[k]
    add_rank_one(root, vector)


@kernel
def anchored_estimate(root: Floats, response: Floats, anchor: Floats, pull: float) -> Floats:
    """Return V^-1 (response + pull anchor), V = R'R (Eq. 5; U anchor = anchor: `pull` is (1 - alpha)(1 + lambda))."""
    estimate = np.empty(response.shape[0])
    for k in range(response.shape[0]):
        estimate[k] = response[k] + pull * anchor[k]
    solve(root, estimate)
    return estimate


def anchor_matrix(n_objectives: int, weight: float, floor: float) -> Floats:
    """Return weight (I - 11'/D) + floor I, the matrix in which an anchor pulls; nearly nothing along the constant."""
    return (weight + floor) * np.eye(n_objectives) - weight / n_objectives


def upper_root(matrix: ArrayLike) -> Floats:
    """Return the upper factor R of a positive definite matrix, M = R'R."""
    array = np.ascontiguousarray(matrix, dtype=np.float64)
    root = np.zeros_like(array)
    if not factor(array, root):
        raise InvalidSetting("a regularizing matrix must be positive definite; raise the ridge")
    return root


def hybrid_radius(
    rounds: float,
    *,
    n_objectives: int,
    feedback_weight: float,
    ridge: float,
    bound: float,
    risk: float,
    mean_length: float,
) -> float:
    """Return the confidence radius beta of the hybrid estimate with every constant as printed (Eq. c_ucb_size).

    Its first term carries 32 exp(4B) + 16 exp(2B): at B = 5 that is 1.6e10, so no policy can use it as it stands.
    It multiplies the noise by alpha where its own proof gives sqrt(alpha); see docs/paper-notes.md.
    """
    queries = (1.0 - feedback_weight) * np.log(rounds / risk) / (mean_length * rounds)
    anchor = n_objectives * (32.0 * np.exp(4.0 * bound) + 16.0 * np.exp(2.0 * bound)) * np.sqrt(queries)
    return float(
        anchor
        + bound * np.sqrt(2.0 * (1.0 - feedback_weight) * ridge)
        + _noise_radius(rounds, n_objectives, feedback_weight, ridge, bound, risk)
    )


def corrupted_radius(
    rounds: float,
    *,
    n_objectives: int,
    feedback_weight: float,
    ridge: float,
    bound: float,
    risk: float,
    min_length: float,
    corruption: float,
    penalty: float,
) -> float:
    """Return the confidence radius under corrupted queries with every constant as printed (Lemma 5, detailed)."""
    share = corruption + 2.0 * np.sqrt(corruption * np.log(rounds / risk) / rounds)
    inner = penalty**2 * share + 4.0 * n_objectives * np.log(rounds / risk) / rounds
    constant = n_objectives * (8.0 * np.exp(4.0 * bound) + 4.0 * np.exp(2.0 * bound))
    anchor = constant * np.sqrt(inner / min_length) + bound * np.sqrt(2.0 * ridge)
    return float(
        np.sqrt(1.0 - feedback_weight) * anchor
        + _noise_radius(rounds, n_objectives, feedback_weight, ridge, bound, risk)
    )


def _noise_radius(
    rounds: float, n_objectives: int, feedback_weight: float, ridge: float, bound: float, risk: float
) -> float:
    growth = np.log((1.0 + feedback_weight * n_objectives * (rounds - 1.0) * (ridge + 1.0)) / risk)
    start = np.log((1.0 + ridge) / (ridge * risk))
    return float(feedback_weight * bound * n_objectives / 2.0 * np.sqrt(n_objectives * growth + start))


@kernel
def compact_radius(
    rounds: float, total_length: float, shortest: float, n_objectives: int, feedback_weight: float, corruption: float
) -> float:
    """Return beta of Lemma 3 (no corruption) or Lemma 5 (compact) without its unnamed constant.

    alpha sqrt(D^3 log(alpha D t)) + D sqrt((1 - alpha) log t / (mean length t)), where the second square root holds
    (1 - alpha)/m (corruption + D log t / t) under corruption. Logarithms below zero count as zero, and a user
    without queries as one with a single query of length one.
    """
    noise = feedback_weight * np.sqrt(n_objectives**3 * max(np.log(feedback_weight * n_objectives * rounds), 0.0))
    left = 1.0 - feedback_weight
    if corruption > 0.0:
        told = left / max(shortest, 1.0) * (corruption + n_objectives * np.log(rounds) / rounds)
    else:
        told = left * np.log(rounds) / max(total_length, 1.0)
    return float(noise + n_objectives * np.sqrt(told))

"""What rankings and utilities say together: the hybrid estimator of Eq. 5 and the information-weighted one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import kernel
from druthers._matrices import add_rank_one, factor, inverse, solve
from druthers.errors import InvalidFeedback, InvalidSetting, require
from druthers.types import Floats, Preference


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
def anchored_estimate(root: Floats, response: Floats, anchor: Floats, pull: float, out: Floats) -> None:
    """Write V^-1 (response + pull anchor), V = R'R (Eq. 5; U anchor = anchor, so `pull` is (1 - alpha)(1 + lambda))."""
    for k in range(out.shape[0]):
        out[k] = response[k] + pull * anchor[k]
    solve(root, out)


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


class HybridEstimator:
    """A user's preference from utilities, regularized toward an anchor (Eq. 5).

    The estimate minimizes alpha sum (<c, r> - g)^2 + (1 - alpha) |c - anchor|^2 in the norm of U + lambda I, where
    U = I - 11'/D leaves the constant, which rankings cannot tell, to the utilities. Each utility costs O(D^2); the
    factor of V is rotated, not its inverse updated, so it stays exact over millions of rounds.

    Parameters
    ----------
    n_objectives
        Number of objectives D.
    feedback_weight
        Weight alpha in (0, 1) of utilities against the anchor.
    ridge
        Pull lambda > 0 along the constant.

    Examples
    --------
    >>> estimator = HybridEstimator(n_objectives=2, feedback_weight=0.5, ridge=0.1)
    >>> for _ in range(1000):
    ...     estimator.learn([1.0, 0.0], 3.0)
    ...     estimator.learn([0.0, 1.0], 1.0)
    >>> estimator.estimate(anchor=[1.0, -1.0]).round(2).tolist()
    [3.0, 1.0]
    """

    def __init__(self, *, n_objectives: int, feedback_weight: float, ridge: float) -> None:
        require(n_objectives >= 1, "n_objectives must be at least 1", n_objectives)
        require(0.0 < feedback_weight < 1.0, "feedback_weight must lie between 0 and 1", feedback_weight)
        require(ridge > 0.0, "ridge must be positive", ridge)
        self.n_objectives = n_objectives
        self.feedback_weight = feedback_weight
        self.ridge = ridge
        self._anchor_matrix = (1.0 - feedback_weight) * anchor_matrix(n_objectives, 1.0, ridge)
        self._root = upper_root(self._anchor_matrix)
        self._response = np.zeros(n_objectives)

    @property
    def gram(self) -> Floats:
        """The matrix V of Eq. 5 (D, D)."""
        gram: Floats = self._root.T @ self._root
        return gram

    def learn(self, reward: ArrayLike, utility: float) -> None:
        """Take in the utility of one observed reward."""
        vector = _finite(reward, (self.n_objectives,), "a reward")
        value = float(_finite(utility, (), "a utility"))
        learn_utility(self._root, self._response, vector, value, self.feedback_weight)

    def estimate(self, anchor: ArrayLike) -> Floats:
        """Return the estimate of Eq. 5 for this anchor."""
        out = np.empty(self.n_objectives)
        pulled = self._anchor_matrix @ _finite(anchor, (self.n_objectives,), "an anchor")
        anchored_estimate(self._root, self._response, pulled, 1.0, out)
        return out


def information_weighted(
    gram: ArrayLike, response: ArrayLike, anchor: ArrayLike, information: ArrayLike, *, ridge: float = 1e-6
) -> Preference:
    """Combine utilities and an anchor, each by the information it really carries.

    Parameters
    ----------
    gram, response
        Sums of r r'/s^2 and g r/s^2 over the utilities, s^2 the noise variance of each (for the noisy preferences of
        the paper, s^2 = s_p^2 |r|^2).
    anchor, information
        Estimate and information of an anchor; the information grows with every query, so no weight is to be tuned.
    ridge
        Precision of a normal prior around zero.

    Returns
    -------
    Preference
        The posterior mean M^-1 (response + information anchor) and covariance M^-1, M = gram + information + ridge I.

    Examples
    --------
    >>> told = information_weighted(np.eye(2), [3.0, 1.0], [1.0, -1.0], np.zeros((2, 2)))
    >>> told.weights.round(3).tolist()
    [3.0, 1.0]
    """
    told = _finite(response, None, "a response")
    if told.ndim != 1 or not len(told):
        raise InvalidFeedback(f"a response must hold one number per objective, but got {response!r}")
    size = len(told)
    weight = _finite(information, (size, size), "an information")
    mean = told + weight @ _finite(anchor, (size,), "an anchor")
    root = upper_root(_finite(gram, (size, size), "a gram matrix") + weight + ridge * np.eye(size))
    solve(root, mean)
    covariance = np.empty_like(root)
    inverse(root, covariance)
    return Preference(weights=mean, covariance=covariance)


def _finite(values: Any, shape: tuple[int, ...] | None, what: str) -> Floats:
    """Return finite numbers of this shape, or say that `what` must be such."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InvalidFeedback(f"{what} must hold finite numbers, but got {values!r}") from problem
    if (shape is not None and array.shape != shape) or not np.all(np.isfinite(array)):
        count = " x ".join(map(str, shape or ())) + " " if shape else ""
        raise InvalidFeedback(f"{what} must hold {count}finite numbers, but got {values!r}")
    return np.require(array, requirements="C")

"""What to ask: how much the answer to a question tells about what is best of what will be offered."""

import numpy as np

from druthers.beliefs.points import POINTS
from druthers.types import Floats

# Half of the draws of a person's weights, mirror images being the others.
DRAWS = 128


def question_values(mean: Floats, covariance: Floats, questions: Floats, goals: Floats) -> Floats:
    """Return what each question "which of these?" tells about the best option of each goal, in nats, summed (n,).

    That is sum_j I(answer; best option of goal j): the entropy that the answer takes from what is best, on average over
    N(mean, covariance). What is learned about weights that decide nothing counts as nothing.

    Parameters
    ----------
    mean, covariance
        What is believed of a person's weights.
    questions
        Slates (n, K, D), of which one option would be picked by a conditional logit.
    goals
        Slates (g, B, D) from which something will be offered.

    Examples
    --------
    >>> price_or_noise = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    >>> known = np.diag([1.0, 1e-6])
    >>> questions = np.array([[[1.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0], [0.0, -1.0]]])
    >>> values = question_values(np.zeros(2), known, questions, price_or_noise)
    >>> bool(values[0] > 100 * values[1])
    True
    """
    size = len(mean)
    half = POINTS[:DRAWS, np.arange(size) % POINTS.shape[1]]
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(size) * (1.0 + covariance.trace() / size))
    weights = mean + np.vstack([half, -half]) @ root.T
    best = (np.einsum("gbd,qd->gqb", goals, weights)).argmax(axis=2)
    is_best = (best[..., None] == np.arange(goals.shape[1])).astype(np.float64)
    worth = np.einsum("nkd,qd->nqk", questions, weights)
    shares = np.exp(worth - worth.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    joint = np.einsum("nqk,gqb->ngkb", shares, is_best, optimize=True) / len(weights)
    apart = joint.sum(axis=3, keepdims=True) * joint.sum(axis=2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.where(joint > 0.0, joint * np.log(joint / apart), 0.0)
    values: Floats = told.sum(axis=(1, 2, 3))
    return values


def next_question(mean: Floats, covariance: Floats, questions: Floats, goals: Floats) -> int:
    """Return the question whose answer tells most about what is best of what will be offered."""
    return int(question_values(mean, covariance, questions, goals).argmax())

"""What people have in common: the normal law of their weights, learned from what is known of each.

Nothing is kept but rows, one for each person: the information A_i and the pull b_i of all that this person said, chose
and felt. The law is made anew from the rows each time, so that whoever is forgotten is gone.
"""

import math
from typing import NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import (
    add_matrix,
    factor,
    inverse,
    invert,
    multiply,
    sandwich,
    solve,
    solve_transposed,
    square_of,
)
from druthers.types import Floats

# The law before anyone is known: weights N(0, S0), S0 = 8/D I, worth this many people for mean and covariance.
FIRST_VARIANCE = 8.0
MEAN_WORTH = 1.0
SPREAD_WORTH = 2.0
# At most so many steps of expectation maximization from that law on, fewer once a step moves the mean by less than this
# share of a deviation and no variance by more than this share of itself. People who tell little take many steps: after
# 24 on the electricity study, the mean was still a quarter of a deviation off.
STEPS = 80
STILL = 1e-3
# Nobody counts as further from the mean than so many times the root of the number of weights, in deviations.
FARTHEST = 2.0
# People are looked at again when there are this many times as many.
GROWTH = 1.125


class Law(NamedTuple):
    """The law of people's weights: mean (D,), covariance (D, D), and that of a newcomer, whose mean is not known."""

    mean: Floats
    covariance: Floats
    newcomer: Floats


def first_law(size: int) -> Law:
    """Return the law before anyone is known.

    Examples
    --------
    >>> first_law(4).covariance.diagonal()
    array([2., 2., 2., 2.])
    """
    covariance = FIRST_VARIANCE / size * np.eye(size)
    return Law(np.zeros(size), covariance, covariance.copy())


def learn_law(informations: Floats, pulls: Floats) -> Law:
    """Return the law of people from what is known of each: informations (N, D, D) and pulls (N, D).

    One more person moves the mean by at most 2 sqrt(D)/(N + 1) deviations of the population at each step, and
    the covariance by at most (1 + 4 D)/(N + 2) of itself, however extreme that person is.

    Examples
    --------
    >>> known = np.array([[1.0, 0.0], [1.0, 0.2], [0.8, -0.2]])
    >>> law = learn_law(np.repeat(100.0 * np.eye(2)[None], 3, axis=0), 100.0 * known)
    >>> law.mean.round(2).tolist()
    [0.7, 0.0]
    """
    law = first_law(pulls.shape[1])
    if len(pulls):
        fit_law(informations, pulls, law.mean, law.covariance, law.newcomer)
    return law


@kernel
def fit_law(informations: Floats, pulls: Floats, mean: Floats, covariance: Floats, newcomer: Floats) -> bool:
    """Move a first law to that of all these people, and write a newcomer's covariance; False where that failed.

    Expectation maximization: given N(m, S) a person is N(w_i, V_i), V_i = (A_i + S^-1)^-1, w_i = V_i(b_i + S^-1 m);
    given these, m is the mean of the w_i and S that of V_i + (w_i - m)(w_i - m)', each with the first law beside it.
    """
    n_people, size = pulls.shape
    first = covariance.copy()
    root, precision = np.empty((size, size)), np.empty((size, size))
    told, drawn = np.empty((n_people, size)), np.empty(size)
    spread, sums, before = np.empty((size, size)), np.empty((size, size)), np.empty(size)
    for _ in range(STEPS):
        if not factor(covariance, root):
            return False
        inverse(root, precision)
        multiply(precision, mean, drawn)
        if not expect(informations, pulls, precision, drawn, told, sums):
            return False
        curb(told, mean, root)
        for k in range(size):
            before[k] = mean[k]
            mean[k] = 0.0
            for i in range(n_people):
                mean[k] += told[i, k]
            mean[k] /= n_people + MEAN_WORTH
        for k in range(size):
            for j in range(size):
                value = SPREAD_WORTH * first[k, j] + MEAN_WORTH * mean[k] * mean[j] + sums[k, j]
                for i in range(n_people):
                    value += (told[i, k] - mean[k]) * (told[i, j] - mean[j])
                spread[k, j] = value / (n_people + SPREAD_WORTH)
        still = True
        for k in range(size):
            still = still and abs(spread[k, k] - covariance[k, k]) < STILL * covariance[k, k]
            before[k] -= mean[k]
            for j in range(size):
                covariance[k, j] = 0.5 * (spread[k, j] + spread[j, k])
        solve_transposed(root, before)
        if still and square_of(before) < STILL * STILL:
            break
    return add_doubt(informations, first, covariance, newcomer)


@kernel
def expect(informations: Floats, pulls: Floats, precision: Floats, drawn: Floats, told: Floats, sums: Floats) -> bool:
    """Write each person's mean under a law into `told` and the sum of their covariances into `sums`."""
    n_people, size = pulls.shape
    root, covariance = np.empty((size, size)), np.empty((size, size))
    for k in range(size):
        for j in range(size):
            sums[k, j] = 0.0
    for i in range(n_people):
        for k in range(size):
            told[i, k] = pulls[i, k] + drawn[k]
            for j in range(size):
                root[k, j] = informations[i, k, j] + precision[k, j]
        if not factor(root, root):
            return False
        solve(root, told[i])
        inverse(root, covariance)
        add_matrix(covariance, sums)
    return True


@kernel
def curb(told: Floats, mean: Floats, root: Floats) -> None:
    """Bring whoever is too far from the mean, in deviations of the population, back to the farthest that counts."""
    n_people, size = told.shape
    off = np.empty(size)
    for i in range(n_people):
        for k in range(size):
            off[k] = told[i, k] - mean[k]
        solve_transposed(root, off)
        square = square_of(off)
        farthest = FARTHEST * FARTHEST * size
        if square > farthest:
            for k in range(size):
                told[i, k] = mean[k] + math.sqrt(farthest / square) * (told[i, k] - mean[k])


@kernel
def add_doubt(informations: Floats, first: Floats, covariance: Floats, newcomer: Floats) -> bool:
    """Write a newcomer's covariance: S and that of the mean, [sum_i (S + A_i^-1)^-1 + S0^-1]^-1."""
    n_people, size, _ = informations.shape
    total, precision, half = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    if not (invert(first, total) and invert(covariance, precision)):
        return False
    # (S + A^-1)^-1 = S^-1 - S^-1 (A + S^-1)^-1 S^-1
    nothing, told = np.zeros((n_people, size)), np.empty((n_people, size))
    if not expect(informations, nothing, precision, np.zeros(size), told, half):
        return False
    sandwich(precision, half, newcomer)
    for k in range(size):
        for j in range(size):
            newcomer[k, j] = MEAN_WORTH * total[k, j] + n_people * precision[k, j] - newcomer[k, j]
    if not invert(newcomer, newcomer):
        return False
    add_matrix(covariance, newcomer)
    return True


def next_look(n_people: int) -> int:
    """Return at how many people the law is to be learned again, after it was at so many.

    Examples
    --------
    >>> [next_look(n) for n in (0, 1, 8, 80)]
    [1, 2, 9, 90]
    """
    return max(n_people + 1, math.ceil(GROWTH * n_people))

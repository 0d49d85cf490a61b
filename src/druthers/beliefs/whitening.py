"""A belief about weights seen along the differences of options: as few independent, standard normal numbers as do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import factor, solve_transposed
from druthers.types import Floats


class Leads(NamedTuple):
    """By how much one option leads the others: s = mean + By with y standard normal, and y = T(c - mean of c).

    `mean` (J,), `axes` B (J, r) and `back` T (r, D), r the smaller of J and D; `lawful` unless the covariance is none.
    """

    mean: Floats
    axes: Floats
    back: Floats
    lawful: bool


@kernel
def leads_of(mean: Floats, covariance: Floats, offer: Floats, against: int) -> Leads:
    """Return the leads of an option over all others where c is N(mean, covariance); -1 is nothing at all, worth 0."""
    rows = differences(offer, against)
    n_rows, size = rows.shape
    rank = min(n_rows, size)
    lead, axes, back = np.zeros(n_rows), np.empty((n_rows, rank)), np.empty((rank, size))
    for j in range(n_rows):
        for d in range(size):
            lead[j] += rows[j, d] * mean[d]
    return Leads(lead, axes, back, whiten(rows, covariance, axes, back))


@kernel
def differences(offer: Floats, against: int) -> Floats:
    """Return the rows x_a - x_k (J, D) for all other options k; for a = -1 those of nothing at all, which is 0."""
    n_offered, size = offer.shape
    rows = np.empty((n_offered if against < 0 else n_offered - 1, size))
    j = 0
    for k in range(n_offered):
        if k == against:
            continue
        for d in range(size):
            rows[j, d] = (offer[against, d] if against >= 0 else 0.0) - offer[k, d]
        j += 1
    return rows


@kernel
def whiten(rows: Floats, covariance: Floats, axes: Floats, back: Floats) -> bool:
    """Write what standard normal numbers y are to the values of `rows` (J, D): s = mean + By, and y = T(c - mean).

    B is `axes` (J, r), T is `back` (r, D), r the smaller of J and D. Returns False where the covariance is none.
    """
    n_rows, size = rows.shape
    root = np.empty((size, size))
    if n_rows >= size:  # y is c itself, whitened: V = R'R, c - mean = R'y
        if not factor(covariance, root):
            return False
        for k in range(size):
            for d in range(size):
                back[k, d] = 0.0
            back[k, k] = 1.0
            for j in range(n_rows):
                value = 0.0
                for d in range(k, size):
                    value += root[k, d] * rows[j, d]
                axes[j, k] = value
        for d in range(size):  # T = R'^-1, column by column
            column = back[:, d].copy()
            solve_transposed(root, column)
            for k in range(size):
                back[k, d] = column[k]
        return True
    spread = np.zeros((n_rows, size))
    matrix = np.empty((n_rows, n_rows))
    for j in range(n_rows):
        for d in range(size):
            for e in range(size):
                spread[j, d] += rows[j, e] * covariance[e, d]
    for j in range(n_rows):
        for i in range(n_rows):
            value = 0.0
            for d in range(size):
                value += spread[j, d] * rows[i, d]
            matrix[j, i] = value
    for j in range(n_rows):
        matrix[j, j] += 1e-9 * (1.0 + matrix[j, j])
    if not factor(matrix, matrix):  # C = R'R, s = mean + R'y
        return False
    for d in range(size):
        column = rows[:, d].copy()
        solve_transposed(matrix, column)
        for k in range(n_rows):
            back[k, d] = column[k]
    for j in range(n_rows):
        for k in range(n_rows):
            axes[j, k] = matrix[k, j] if k <= j else 0.0
    return True

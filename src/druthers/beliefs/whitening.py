"""A belief about weights seen along the differences of options: as few independent, standard normal numbers as do."""

from typing import NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import copy_matrix, factor, multiply, sandwich, solve_transposed_columns
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
    lead, axes, back = np.empty(n_rows), np.empty((n_rows, rank)), np.empty((rank, size))
    multiply(rows, mean, lead)
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
        solve_transposed_columns(root, back)  # T = R'^-1
        return True
    matrix = np.empty((n_rows, n_rows))
    sandwich(rows.T, covariance, matrix)
    for j in range(n_rows):
        matrix[j, j] += 1e-9 * (1.0 + matrix[j, j])
    if not factor(matrix, matrix):  # C = R'R, s = mean + R'y
        return False
    copy_matrix(rows, back)
    solve_transposed_columns(matrix, back)
    for j in range(n_rows):
        for k in range(n_rows):
            axes[j, k] = matrix[k, j] if k <= j else 0.0
    return True

"""Small dense linear algebra as kernels: a symmetric positive matrix is held as its upper factor R, M = R'R.

All inner loops run along rows and add multiples of one row to another, so they vectorize without changing the
order of any sum; at the sizes of this package (D up to about 64) that is faster than calling LAPACK.
"""

from __future__ import annotations

import numpy as np

from druthers._jit import kernel
from druthers.types import Floats


@kernel
def factor(matrix: Floats, out: Floats) -> bool:
    """Write the upper factor R of a positive definite matrix (its upper triangle is read), M = R'R, into `out`.

    Returns False, leaving `out` unfinished, where a pivot is not positive. `out` may be `matrix` itself.
    """
    size = matrix.shape[0]
    for j in range(size):
        for i in range(j, size):
            out[j, i] = matrix[j, i]
        for k in range(j):
            scale = out[k, j]
            for i in range(j, size):
                out[j, i] -= scale * out[k, i]
        pivot = out[j, j]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / np.sqrt(pivot)
        for i in range(j, size):
            out[j, i] *= inverse
    return True


@kernel
def solve_transposed(root: Floats, x: Floats) -> None:
    """Replace x by the solution y of R'y = x."""
    size = x.shape[0]
    for k in range(size):
        value = x[k] / root[k, k]
        x[k] = value
        for i in range(k + 1, size):
            x[i] -= value * root[k, i]


@kernel
def solve_upper(root: Floats, x: Floats) -> None:
    """Replace x by the solution y of Ry = x."""
    for i in range(x.shape[0] - 1, -1, -1):
        value = x[i]
        for k in range(i + 1, x.shape[0]):
            value -= root[i, k] * x[k]
        x[i] = value / root[i, i]


@kernel
def solve(root: Floats, x: Floats) -> None:
    """Replace x by the solution y of My = x, M = R'R."""
    solve_transposed(root, x)
    solve_upper(root, x)


@kernel
def add_rank_one(root: Floats, vector: Floats) -> None:
    """Turn the factor of M into that of M + vv'; `vector` is used up.

    Givens rotations: backward stable, so a million updates lose no more than rounding (tested).
    """
    size = vector.shape[0]
    for k in range(size):
        old = root[k, k]
        new = np.sqrt(old * old + vector[k] * vector[k])
        cosine = old / new
        sine = vector[k] / new
        root[k, k] = new
        for i in range(k + 1, size):
            above = root[k, i]
            below = vector[i]
            root[k, i] = cosine * above + sine * below
            vector[i] = cosine * below - sine * above


@kernel
def norms(root: Floats, columns: Floats, out: Floats) -> None:
    """Write |x|_{M^-1} for each column x of `columns` (D, n), M = R'R, into `out`; `columns` is used up."""
    size, n_columns = columns.shape
    for j in range(n_columns):
        out[j] = 0.0
    for k in range(size):
        inverse = 1.0 / root[k, k]
        for j in range(n_columns):
            columns[k, j] *= inverse
            out[j] += columns[k, j] * columns[k, j]
        for i in range(k + 1, size):
            scale = root[k, i]
            for j in range(n_columns):
                columns[i, j] -= scale * columns[k, j]
    for j in range(n_columns):
        out[j] = np.sqrt(out[j])


@kernel
def inverse(root: Floats, out: Floats) -> None:
    """Write M^-1, M = R'R, into `out` (symmetric)."""
    size = root.shape[0]
    for j in range(size):
        for i in range(size):
            out[j, i] = 0.0
        out[j, j] = 1.0
        solve(root, out[j])


@kernel
def center(x: Floats) -> None:
    """Subtract the mean of x from it."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    total /= x.shape[0]
    for i in range(x.shape[0]):
        x[i] -= total


@kernel
def max_abs(x: Floats) -> float:
    """Return the largest absolute entry."""
    size = 0.0
    for i in range(x.shape[0]):
        size = max(size, abs(x[i]))
    return size


@kernel
def sum_of(x: Floats) -> float:
    """Return the sum."""
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i]
    return result


@kernel
def copy_vector(x: Floats, out: Floats) -> None:
    """Copy x into `out`; a slice assignment would take Numba seconds to compile."""
    for i in range(x.shape[0]):
        out[i] = x[i]


@kernel
def copy_matrix(x: Floats, out: Floats) -> None:
    """Copy x into `out`."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j]


@kernel
def clear(vector: Floats, matrix: Floats) -> None:
    """Set a vector (n,) and a matrix (n, n) to zero."""
    for i in range(vector.shape[0]):
        vector[i] = 0.0
        for j in range(vector.shape[0]):
            matrix[i, j] = 0.0
